/* split.c: cuts a program of log densities in two: the instances of instructions that depend on the
   variables go to the body of an integral, the others to the rest. */
#include "exact/split.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/unite.h"
#include "dist/dist.h"
#include "exact/reach.h"

struct split {
    const struct prog *p;
    const struct variable *var; /* as given */
    struct integral *g;
    struct prog *rest;
    struct reach reach;
    int *comp;                /* by variable, as given: its component */
    int *place;               /* by variable: its number in the integral */
    int *in_body, *in_rest;   /* by row of p: its row there, or -1 */
    vec(int) input;           /* rows of p */
    vec(int) term, term_comp; /* rows of the body (normal: 0); their components, */
    vec(int) term_row;        /* and rows of p */
    vec(struct normal_term) normal;
    vec(int) list; /* workspace */
};

static int depends(const struct split *s, int row) { return s->reach.count[row] > 0; }

/* ---- operands ---------------------------------------------------------------------------- */

/* Rows as an operand: arithmetic where possible, so that kernels can use them in place. */
static int pack(struct prog *p, int n, int m, const int *row, struct operand *out)
{
    int si = n > 1 ? row[m] - row[0] : 0, sj = m > 1 ? row[1] - row[0] : 0, regular = 1;
    for (int i = 0; i < n && regular; i++)
        for (int j = 0; j < m && regular; j++) regular = row[i * m + j] == row[0] + i * si + j * sj;
    out->m = m;
    out->base = n > 0 && m > 0 ? row[0] : 0;
    out->si = si;
    out->sj = sj;
    out->shared = 0;
    out->idx = NULL;
    if (regular) return 0;
    int *idx = arena_array(&p->mem, int, (size_t)n *(size_t)m);
    if (!idx) return NAMI_ENOMEM;
    memcpy(idx, row, sizeof *row * (size_t)n * (size_t)m);
    out->idx = idx;
    return 0;
}

/* Operand o of the instances inst[0 .. n-1], in the numbers of another program: rows by `map`. */
static int move(struct split *s, struct prog *to, const int *map, const struct operand *o, int n,
                const int *inst, struct operand *out)
{
    s->list.n = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < o->m; j++) {
            int r = operand_at(o, inst[i], j);
            if (vec_push(&s->list, o->is_const || o->unit ? r : map[r])) return NAMI_ENOMEM;
        }
    *out = *o;
    return pack(to, n, o->m, s->list.a, out);
}

/* ---- the body ----------------------------------------------------------------------------- */

/* Rows that are not computed in the body are its inputs. */
static int need(struct split *s, const struct operand *o, int n, const int *inst)
{
    for (int i = 0; i < n && !o->is_const; i++)
        for (int j = 0; j < o->m; j++) {
            int r = operand_at(o, inst[i], j);
            if (depends(s, r) || s->in_body[r] >= 0) continue;
            s->in_body[r] = (int)s->input.n;
            if (vec_push(&s->input, r)) return NAMI_ENOMEM;
        }
    return 0;
}

/* Does instance i have a result that depends on the variables? */
static int is_inside(const struct split *s, const struct instr *c, int i)
{
    if (!c->map && !c->block && !instr_copies(c)) return 0;
    if (instr_copies(c)) return depends(s, operand_at(&c->outs, i, 0));
    int inside = 0;
    for (int k = 0; k < c->width && c->out >= 0; k++)
        inside |= depends(s, c->out + i * c->width + k);
    return inside;
}

static int *instances(const struct split *s, const struct instr *c, int inside, int *n)
{
    int *list = raw_array(int, c->n + 1);
    *n = 0;
    for (int i = 0; list && i < c->n; i++)
        if (is_inside(s, c, i) == inside) list[(*n)++] = i;
    return list;
}

static int find_inputs(struct split *s)
{
    int rc = 0;
    for (size_t k = 0; k < s->p->code.n && !rc; k++) {
        const struct instr *c = &s->p->code.a[k];
        int n, *list = instances(s, c, 1, &n);
        if (!list) rc = NAMI_ENOMEM;
        for (int a = 0; a < c->narg && !rc && n; a++) rc = need(s, &c->arg[a], n, list);
        free(list);
    }
    return rc;
}

static int comp_of(const struct split *s, int row)
{
    return depends(s, row) ? s->comp[s->reach.pool.a[s->reach.start[row]]] : 0;
}

/* Results of a sum are terms. A result that does not depend on the variables, of an integral of
   which others do, is a constant factor of the first component. */
static int add_terms(struct split *s, const struct instr *c, int n, const int *inst, int out)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < c->width; k++) {
            int row = c->out + inst[i] * c->width + k;
            if (vec_push(&s->term, out + i * c->width + k) ||
                vec_push(&s->term_comp, comp_of(s, row)) || vec_push(&s->term_row, row))
                return NAMI_ENOMEM;
        }
    return 0;
}

static int emit_inside(struct split *s, const struct instr *c, int n, const int *inst)
{
    struct prog *body = &s->g->body;
    struct instr x = *c;
    int rc = 0, out = body->nrow;
    x.n = n;
    x.out = out;
    x.sum = 0;
    x.blind = 0;
    for (int a = 0; a < c->narg && !rc; a++)
        rc = move(s, body, s->in_body, &c->arg[a], n, inst, &x.arg[a]);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < c->width; k++)
            s->in_body[c->out + inst[i] * c->width + k] = out + i * c->width + k;
    body->nrow += n * c->width;
    x.kept = body->nrow;
    body->nrow += c->nkept;
    if (!rc && vec_push(&body->code, x)) rc = NAMI_ENOMEM;
    return rc || !c->sum ? rc : add_terms(s, c, n, inst, out);
}

/* Copies need no instruction. */
static void skip_copy(struct split *s, const struct instr *c, int n, const int *inst)
{
    for (int i = 0; i < n; i++)
        s->in_body[operand_at(&c->outs, inst[i], 0)] =
            s->in_body[operand_at(&c->arg[0], inst[i], 0)];
}

/* ---- normal terms ----------------------------------------------------------------------- */

/* Truncated and censored densities have the record of the distribution, but other kernels. */
static int scale_kind(const struct instr *c)
{
    return c->map && c->map == dist_normal.logp                   ? SCALE_SD
           : c->block && c->block == dist_multi_normal.blogp      ? SCALE_COVARIANCE
           : c->block && c->block == dist_multi_normal_prec.blogp ? SCALE_PRECISION
                                                                  : -1;
}

static int refuse(nami_err *err, const char *what, const char *name)
{
    return err_set(err, NAMI_EINPUT, what, name);
}

static int arg_degree(const struct split *s, const struct operand *o, int i, const char **why)
{
    int most = CONSTANT;
    for (int j = 0; j < o->m && !o->is_const; j++) {
        int r = operand_at(o, i, j);
        if (s->reach.degree[r] == OTHER) *why = s->reach.why[r];
        if (s->reach.degree[r] > most) most = s->reach.degree[r];
    }
    return most;
}

/* Is this density normal, its mean affine in the variables, its scale without them? */
static int check_normal(const struct split *s, const struct instr *c, int n, const int *inst,
                        nami_err *err)
{
    const char *why = "";
    if (instr_integral(c)) return refuse(err, "is read by an integral that is not normal%s", "");
    if (scale_kind(c) < 0) {
        const struct dist *d = c->self;
        int own = !c->arg[0].is_const && operand_at(&c->arg[0], inst[0], 0) < s->p->nnode &&
                  depends(s, operand_at(&c->arg[0], inst[0], 0)),
            cut = c->map && c->map != d->logp;
        return err_set(err, NAMI_EINPUT, "%s a density that is not normal (%s%s)",
                       own ? "has" : "is read by", cut ? "truncated " : "", d->name);
    }
    for (int i = 0; i < n; i++) {
        if (arg_degree(s, &c->arg[2], inst[i], &why) != CONSTANT)
            return refuse(err, "is read by %s",
                          scale_kind(c) == SCALE_SD ? "a standard deviation" : "a covariance");
        if (arg_degree(s, &c->arg[0], inst[i], &why) == OTHER ||
            arg_degree(s, &c->arg[1], inst[i], &why) == OTHER)
            return refuse(err, "enters a mean by '%s', which is not linear", why);
    }
    return 0;
}

/* Rows of the residuals, value - mean: instance i has `size` of them. */
static int emit_residuals(struct split *s, const struct instr *c, int n, const int *inst)
{
    struct prog *body = &s->g->body;
    int size = c->arg[0].m, rc = 0;
    struct instr x = {.kind = I_MAP,
                      .n = n * size,
                      .width = 1,
                      .tag = -1,
                      .out = body->nrow,
                      .narg = 2,
                      .self = &op_sub,
                      .map = op_sub.map,
                      .map_grad = op_sub.map_grad};
    for (int a = 0; a < 2 && !rc; a++) {
        const struct operand *o = &c->arg[a];
        s->list.n = 0;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < size; j++) {
                int r = operand_at(o, inst[i], o->m == 1 ? 0 : j);
                if (vec_push(&s->list, o->is_const ? r : s->in_body[r])) return NAMI_ENOMEM;
            }
        x.arg[a] = (struct operand){.is_const = o->is_const};
        rc = pack(body, n * size, 1, s->list.a, &x.arg[a]);
    }
    body->nrow += n * size;
    return !rc && vec_push(&body->code, x) ? NAMI_ENOMEM : rc;
}

static int add_normal(struct split *s, const struct instr *c, int n, const int *inst)
{
    struct prog *body = &s->g->body;
    int first = body->nrow, size = c->arg[0].m, rc = emit_residuals(s, c, n, inst);
    int kind = scale_kind(c), m = kind == SCALE_SD ? 1 : size * size;
    for (int i = 0; i < n && !rc; i++) {
        struct normal_term t = {size, first + i * size, (enum scale)kind, NULL};
        int row = c->out + inst[i];
        if (!(t.scale = arena_array(&body->mem, int, m))) return NAMI_ENOMEM;
        for (int k = 0; k < m; k++) {
            int r = operand_at(&c->arg[2], inst[i], k);
            t.scale[k] = c->arg[2].is_const ? ~r : s->in_body[r];
        }
        if (vec_push(&s->normal, t) || vec_push(&s->term, 0) ||
            vec_push(&s->term_comp, comp_of(s, row)) || vec_push(&s->term_row, row))
            rc = NAMI_ENOMEM;
    }
    return rc;
}

static int make_body(struct split *s, nami_err *err)
{
    struct prog *body = &s->g->body;
    int rc = 0, normal = s->g->kind->normal_terms;
    for (size_t i = 0; i < s->p->constant.n && !rc; i++)
        if (vec_push(&body->constant, s->p->constant.a[i])) rc = err_nomem(err);
    for (size_t k = 0; k < s->p->code.n && !rc; k++) {
        const struct instr *c = &s->p->code.a[k];
        int n, *list = instances(s, c, 1, &n);
        if (!list) return err_nomem(err);
        if (n && normal && c->sum) rc = check_normal(s, c, n, list, err);
        if (n && instr_copies(c))
            skip_copy(s, c, n, list);
        else if (n && !rc &&
                 (normal && c->sum ? add_normal(s, c, n, list) : emit_inside(s, c, n, list)))
            rc = err_nomem(err);
        free(list);
    }
    return rc;
}

/* ---- components ---------------------------------------------------------------------------- */

static void unite_terms(const struct split *s, const struct instr *c, int *up)
{
    for (int i = 0; i < c->n; i++)
        for (int k = 0; k < c->width; k++) {
            int row = c->out + i * c->width + k, n = s->reach.count[row];
            const int *v = n ? s->reach.pool.a + s->reach.start[row] : NULL;
            for (int j = 1; j < n; j++) set_unite(up, v[j], v[0]);
        }
}

/* Variables of one node (same `group`) are in one component. Components are numbered by their first
   variables. */
static int find_components(struct split *s)
{
    struct integral *g = s->g;
    int n = g->num_vars, *up = raw_array(int, n + 1), *number = raw_array(int, n + 1);
    int *next = NULL;
    if (!up || !number) goto out;
    for (int v = 0; v < n; v++) up[v] = v;
    for (size_t k = 0; k < s->p->code.n; k++)
        if (s->p->code.a[k].sum && s->p->code.a[k].out >= 0) unite_terms(s, &s->p->code.a[k], up);
    for (int v = 0; v < n; v++) number[v] = -1;
    for (int v = 0; v < n; v++) {
        int root = set_root(up, v);
        if (number[root] < 0) number[root] = g->num_comps++;
        s->comp[v] = number[root];
    }
    g->var_start = arena_array(&g->body.mem, int, g->num_comps + 1);
    g->var = arena_array(&g->body.mem, struct variable, n + 1);
    if (!g->var_start || !g->var || !(next = new_array(int, g->num_comps + 1))) goto out;
    for (int v = 0; v < n; v++) g->var_start[s->comp[v] + 1]++;
    for (int c = 0; c < g->num_comps; c++) next[c + 1] = g->var_start[c + 1] += g->var_start[c];
    next[0] = 0;
    for (int v = 0; v < n; v++) {
        s->place[v] = next[s->comp[v]]++;
        g->var[s->place[v]] = s->var[v];
    }
    free(up), free(number), free(next);
    return 0;
out:
    free(up), free(number), free(next);
    return NAMI_ENOMEM;
}

/* ---- terms by component, with their scopes ------------------------------------------------- */

static int sort_terms(struct split *s)
{
    struct integral *g = s->g;
    struct arena *mem = &g->body.mem;
    int n = g->num_terms = (int)s->term.n, rc = 0, *next = new_array(int, g->num_comps + 1),
        *order = raw_array(int, n + 1);
    size_t total = 0;
    g->term_start = arena_array(mem, int, g->num_comps + 1);
    g->scope_start = arena_array(mem, size_t, n + 1);
    if (s->normal.n)
        g->normal = arena_array(mem, struct normal_term, n);
    else
        g->term = arena_array(mem, int, n + 1);
    if (!next || !order || !g->term_start || !g->scope_start || (!g->normal && !g->term)) {
        rc = NAMI_ENOMEM;
        goto out;
    }
    for (int t = 0; t < n; t++) {
        g->term_start[s->term_comp.a[t] + 1]++;
        total += (size_t)s->reach.count[s->term_row.a[t]];
    }
    for (int c = 0; c < g->num_comps; c++) next[c + 1] = g->term_start[c + 1] += g->term_start[c];
    next[0] = 0;
    for (int t = 0; t < n; t++) order[next[s->term_comp.a[t]]++] = t;
    if (!(g->scope = arena_array(mem, int, total + 1))) {
        rc = NAMI_ENOMEM;
        goto out;
    }
    total = 0;
    for (int k = 0; k < n; k++) {
        int t = order[k], row = s->term_row.a[t], m = s->reach.count[row];
        if (g->normal)
            g->normal[k] = s->normal.a[t];
        else
            g->term[k] = s->term.a[t];
        for (int j = 0; j < m; j++)
            g->scope[total + (size_t)j] =
                s->place[s->reach.pool.a[s->reach.start[row] + (size_t)j]];
        sort_ints(g->scope + total, (size_t)m);
        g->scope_start[k + 1] = total += (size_t)m;
    }
out:
    free(next);
    free(order);
    return rc;
}

/* ---- the rest ------------------------------------------------------------------------------- */

/* Instances from .. to - 1 of an instruction, in the rows of the rest. */
static int emit_outside(struct split *s, const struct instr *c, int from, int to)
{
    struct prog *rest = s->rest;
    struct instr x = *c;
    int rc = 0, n = to - from, *inst = raw_array(int, n + 1);
    if (!inst) return NAMI_ENOMEM;
    for (int i = 0; i < n; i++) inst[i] = from + i;
    x.n = n;
    for (int a = 0; a < c->narg && !rc; a++)
        rc = move(s, rest, s->in_rest, &c->arg[a], n, inst, &x.arg[a]);
    if (instr_copies(c)) {
        for (int i = 0; i < n; i++) { /* to temporaries, where an array is gathered */
            int *to_row = &s->in_rest[operand_at(&c->outs, inst[i], 0)];
            if (*to_row < 0) *to_row = rest->nrow++;
        }
        if (!rc) rc = move(s, rest, s->in_rest, &c->outs, n, inst, &x.outs);
    } else if (c->out >= 0) {
        int first = c->out + from * c->width;
        if (first >= s->p->nnode) {
            for (int k = 0; k < n * c->width; k++) s->in_rest[first + k] = rest->nrow + k;
            rest->nrow += n * c->width;
        }
        x.out = s->in_rest[first];
    }
    x.kept = rest->nrow;
    rest->nrow += c->nkept;
    free(inst);
    return !rc && vec_push(&rest->code, x) ? NAMI_ENOMEM : rc;
}

static int make_rest(struct split *s)
{
    struct prog *rest = s->rest;
    int rc = 0;
    rest->nnode = rest->nrow = s->p->nnode;
    rest->nunit = s->p->nunit;
    rest->nparam = s->p->nparam;
    for (int r = 0; r < s->p->nrow; r++) s->in_rest[r] = r < s->p->nnode ? r : -1;
    for (size_t i = 0; i < s->p->constant.n && !rc; i++)
        rc = vec_push(&rest->constant, s->p->constant.a[i]);
    for (size_t k = 0; k < s->p->code.n && !rc; k++) {
        const struct instr *c = &s->p->code.a[k];
        for (int i = 0, to; i < c->n && !rc; i = to + 1) {
            for (to = i; to < c->n && !is_inside(s, c, to);) to++;
            if (to > i) rc = emit_outside(s, c, i, to);
        }
    }
    return rc ? NAMI_ENOMEM : 0;
}

static int inputs_as_operand(struct split *s, const int *map, struct prog *p, struct operand *out)
{
    s->list.n = 0;
    for (size_t k = 0; k < s->input.n; k++)
        if (vec_push(&s->list, map[s->input.a[k]])) return NAMI_ENOMEM;
    *out = (struct operand){0};
    return pack(p, 1, (int)s->input.n, s->list.a, out);
}

static int emit_integral(struct split *s)
{
    struct integral *g = s->g;
    struct instr *x = prog_emit(s->rest, I_BLOCK, 1, g->num_comps);
    if (!x) return NAMI_ENOMEM;
    x->narg = 1;
    x->self = g;
    x->block = g->kind->run;
    x->block_grad = g->kind->back;
    x->nwork = integral_work(g);
    x->sum = 1;
    x->out = s->rest->nrow;
    x->nkept = g->kept;
    x->kept = x->out + g->num_comps;
    s->rest->nrow += g->num_comps + x->nkept;
    return inputs_as_operand(s, s->in_rest, s->rest, &x->arg[0]);
}

/* ---- all ---------------------------------------------------------------------------------------
 */

static int start(struct split *s, int num_vars, const struct variable *var, nami_err *err)
{
    int *row = raw_array(int, num_vars + 1), rc = 0;
    s->comp = raw_array(int, num_vars + 1);
    s->place = raw_array(int, num_vars + 1);
    s->in_body = raw_array(int, s->p->nrow + 1);
    s->in_rest = raw_array(int, s->p->nrow + 1);
    if (!row || !s->comp || !s->place || !s->in_body || !s->in_rest) rc = err_nomem(err);
    for (int v = 0; v < num_vars && !rc; v++) row[v] = var[v].row;
    for (int r = 0; r < s->p->nrow && !rc; r++) s->in_body[r] = -1;
    if (!rc) rc = reach_make(&s->reach, s->p, num_vars, row, err);
    if (!rc && s->reach.read_by_network >= 0)
        rc = err_set(err, NAMI_EINPUT, "is read by a network of the model");
    free(row);
    return rc;
}

static int run(struct split *s, nami_err *err)
{
    struct integral *g = s->g;
    if (find_components(s) || find_inputs(s)) return err_nomem(err);
    g->num_inputs = (int)s->input.n;
    g->body.nnode = g->body.nrow = g->num_inputs + g->num_vars;
    for (int v = 0; v < g->num_vars; v++) s->in_body[s->var[v].row] = g->num_inputs + s->place[v];
    int rc = make_body(s, err);
    if (!rc && (sort_terms(s) || prog_finish(&g->body))) rc = err_nomem(err);
    if (!rc) rc = integral_plan(g, err);
    if (rc) return rc;
    if (make_rest(s) || !(g->input = arena_array(&g->body.mem, int, g->num_inputs + 1)))
        return err_nomem(err);
    for (int k = 0; k < g->num_inputs; k++) g->input[k] = s->in_rest[s->input.a[k]];
    return emit_integral(s) || prog_finish(s->rest) ? err_nomem(err) : 0;
}

int split_integral(const struct prog *p, int num_vars, const struct variable *var,
                   const struct integral_kind *kind, struct integral *g, struct prog *rest,
                   nami_err *err)
{
    struct split s = {.p = p, .var = var, .g = g, .rest = rest};
    *g = (struct integral){.kind = kind, .num_vars = num_vars};
    *rest = (struct prog){0};
    int rc = start(&s, num_vars, var, err);
    if (!rc) rc = run(&s, err);
    reach_free(&s.reach);
    free(s.comp), free(s.place), free(s.in_body), free(s.in_rest);
    vec_free(&s.input), vec_free(&s.term), vec_free(&s.term_comp), vec_free(&s.normal);
    vec_free(&s.term_row), vec_free(&s.list);
    return rc;
}

void integral_free(struct integral *g)
{
    prog_free(&g->body);
    *g = (struct integral){0};
}

/* Appends what the inputs of g need of rest to p; in: these rows of p. */
static int append_inputs(const struct prog *rest, const struct integral *g, struct prog *p,
                         struct operand *in)
{
    struct prog part = {
        .nnode = rest->nnode, .nrow = rest->nrow, .nunit = rest->nunit, .nparam = rest->nparam};
    int rc = 0, shift = p->nrow - rest->nnode, *row = raw_array(int, g->num_inputs + 1);
    for (size_t i = 0; i < rest->constant.n && !rc; i++)
        rc = vec_push(&part.constant, rest->constant.a[i]);
    for (size_t k = 0; k < rest->code.n && !rc; k++)
        if (!rest->code.a[k].sum) rc = vec_push(&part.code, rest->code.a[k]);
    if (!rc) rc = prog_append(p, &part);
    if (!row) rc = NAMI_ENOMEM;
    for (int k = 0; k < g->num_inputs && !rc; k++)
        row[k] = g->input[k] < rest->nnode ? g->input[k] : g->input[k] + shift;
    *in = (struct operand){0};
    if (!rc) rc = pack(p, 1, g->num_inputs, row, in);
    prog_free(&part);
    free(row);
    return rc ? NAMI_ENOMEM : 0;
}

/* The rows of the variables in the model. */
static int variable_rows(const struct integral *g, struct prog *p, int n, int m,
                         struct operand *out)
{
    int *row = raw_array(int, g->num_vars + 1), rc = row ? 0 : NAMI_ENOMEM;
    for (int v = 0; v < g->num_vars && !rc; v++) row[v] = g->var[v].row;
    *out = (struct operand){0};
    if (!rc) rc = pack(p, n, m, row, out);
    free(row);
    return rc;
}

static struct instr *emit_on(struct prog *p, enum instr_kind kind, int width,
                             const struct integral *g, const struct operand *in)
{
    struct instr *x = prog_emit(p, kind, 1, width);
    if (!x) return NULL;
    x->narg = 1;
    x->arg[0] = *in;
    x->self = g;
    x->nwork = integral_work(g);
    return x;
}

int split_draw(const struct prog *rest, const struct integral *g, struct prog *p)
{
    struct operand in;
    if (append_inputs(rest, g, p, &in)) return NAMI_ENOMEM;
    struct instr *x = emit_on(p, I_BDRAW, g->num_vars, g, &in);
    if (!x) return NAMI_ENOMEM;
    x->bdraw = g->kind->draw;
    return variable_rows(g, p, 1, g->num_vars, &x->outs);
}

int split_moments(const struct prog *rest, const struct integral *g, struct prog *p, int *first)
{
    struct operand in;
    if (append_inputs(rest, g, p, &in)) return NAMI_ENOMEM;
    struct instr *x = emit_on(p, I_BLOCK, 2 * g->num_vars, g, &in);
    if (!x) return NAMI_ENOMEM;
    x->block = g->kind->moments;
    x->out = *first = p->nrow;
    p->nrow += 2 * g->num_vars;
    return 0;
}

int split_means(const struct prog *rest, const struct integral *g, struct prog *p)
{
    struct operand out, means = {.m = 1, .si = 1};
    if (split_moments(rest, g, p, &means.base)) return NAMI_ENOMEM;
    if (variable_rows(g, p, g->num_vars, 1, &out)) return NAMI_ENOMEM;
    return prog_emit_copy(p, g->num_vars, means, out) ? 0 : NAMI_ENOMEM;
}
