/* reach.c: walks a program forward, instance by instance, with the variables that each row depends
   on.  Rows that depend on the same variables share one list. */
#include "exact/reach.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"

enum { POOL = 1 << 26 };

const struct integral *instr_integral(const struct instr *c)
{
    for (int i = 0; c->block && integral_kinds[i]; i++)
        if (c->block == integral_kinds[i]->run) return c->self;
    return NULL;
}

enum degree degree_combine(const struct op *op, const enum degree *d, int num_args)
{
    static const struct op *const linear[] = {&op_add, &op_sub, &op_neg, &op_sum, &op_mean,
                                              &op_c,   &op_rep, &op_t,   &op_diag};
    static const struct op *const bilinear[] = {&op_mul, &op_inprod, &op_matmul};
    enum degree most = CONSTANT;
    int sum = 0;
    for (int k = 0; k < num_args; k++) {
        if (d[k] > most) most = d[k];
        sum += (int)d[k];
    }
    if (most != AFFINE) return most;
    for (size_t i = 0; i < sizeof linear / sizeof *linear; i++)
        if (op == linear[i]) return AFFINE;
    for (size_t i = 0; i < sizeof bilinear / sizeof *bilinear; i++)
        if (op == bilinear[i]) return sum == AFFINE ? AFFINE : OTHER;
    if (op == &op_div || op == &op_select) return d[1] == CONSTANT ? AFFINE : OTHER;
    if (op == &op_ifelse) return d[0] == CONSTANT ? AFFINE : OTHER;
    return OTHER;
}

/* ---- lists ------------------------------------------------------------------------------ */

/* The union of lists that is being collected: one list as it is, or several in `work`. */
struct joining {
    struct reach *s;
    size_t start;
    int count, many;
};

static int join_all(struct reach *s, size_t start, int count)
{
    for (int i = 0; i < count; i++)
        if (vec_push(&s->work, s->pool.a[start + (size_t)i])) return NAMI_ENOMEM;
    return 0;
}

static int join(struct joining *j, size_t start, int count)
{
    if (!count || (j->count && !j->many && j->start == start && j->count == count)) return 0;
    if (!j->count && !j->many) return j->start = start, j->count = count, 0;
    if (!j->many && join_all(j->s, j->start, j->count)) return NAMI_ENOMEM;
    j->many = 1;
    return join_all(j->s, start, count);
}

static int join_end(struct joining *j)
{
    struct reach *s = j->s;
    if (!j->many) return 0;
    sort_ints(s->work.a, s->work.n);
    j->start = s->pool.n;
    j->count = 0;
    for (size_t i = 0; i < s->work.n; i++) {
        if (i && s->work.a[i] == s->work.a[i - 1]) continue;
        if (s->pool.n >= POOL || vec_push(&s->pool, s->work.a[i])) return NAMI_ENOMEM;
        j->count++;
    }
    s->work.n = 0;
    return 0;
}

static void put(struct reach *s, int row, const struct joining *j, enum degree d, const char *why)
{
    s->start[row] = j->start;
    s->count[row] = j->count;
    s->degree[row] = (unsigned char)d;
    s->why[row] = why;
}

/* ---- instructions ----------------------------------------------------------------------- */

/* Joins what argument o of instance i depends on; its degree. */
static int join_arg(struct joining *j, const struct operand *o, int i, enum degree *d,
                    const char **why)
{
    struct reach *s = j->s;
    *d = CONSTANT;
    for (int k = 0; k < o->m && !o->is_const; k++) {
        int r = operand_at(o, i, k);
        if (s->degree[r] > *d) *d = (enum degree)s->degree[r];
        if (s->degree[r] == OTHER) *why = s->why[r];
        if (join(j, s->start[r], s->count[r])) return NAMI_ENOMEM;
    }
    return 0;
}

static int walk_kernel(struct reach *s, const struct instr *c)
{
    for (int i = 0; i < c->n; i++) {
        enum degree d[INSTR_ARGS], had = CONSTANT;
        const char *why = NULL;
        struct joining j = {.s = s};
        for (int k = 0; k < c->narg; k++) {
            if (join_arg(&j, &c->arg[k], i, &d[k], &why)) return NAMI_ENOMEM;
            if (d[k] > had) had = d[k];
        }
        if (join_end(&j)) return NAMI_ENOMEM;
        enum degree to = had == CONSTANT ? CONSTANT
                         : c->sum        ? OTHER
                                         : degree_combine(c->self, d, c->narg);
        if (to == OTHER && had == AFFINE && !c->sum) why = ((const struct op *)c->self)->name;
        for (int k = 0; k < c->width && c->out >= 0; k++)
            put(s, c->out + i * c->width + k, &j, to, why);
    }
    return 0;
}

static int walk_copy(struct reach *s, const struct instr *c)
{
    for (int i = 0; i < c->n; i++) {
        struct joining j = {.s = s};
        enum degree d;
        const char *why = NULL;
        if (join_arg(&j, &c->arg[0], i, &d, &why) || join_end(&j)) return NAMI_ENOMEM;
        put(s, operand_at(&c->outs, i, 0), &j, d, why);
    }
    return 0;
}

/* ---- integrals -------------------------------------------------------------------------- */

/* What the terms of component c read of the body. */
static int join_terms(struct joining *j, const struct integral *g, const struct reach *in, int c)
{
    for (int t = g->term_start[c]; t < g->term_start[c + 1]; t++) {
        const struct normal_term *x = g->normal ? &g->normal[t] : NULL;
        int n = x ? x->size : 1, m = !x ? 0 : x->kind == SCALE_SD ? 1 : n * n;
        for (int k = 0; k < n + m; k++) {
            int r = k >= n ? x->scale[k - n] : x ? x->residual + k : g->term[t];
            for (int i = 0; r >= 0 && i < in->count[r]; i++) {
                int from = in->pool.a[in->start[r] + (size_t)i]; /* a row of the outer program */
                if (join(j, j->s->start[from], j->s->count[from])) return NAMI_ENOMEM;
            }
        }
    }
    return join_end(j);
}

static int walk(struct reach *s, const struct prog *p);
static int start_rows(struct reach *s, int num_rows);

/* An integral: each component depends on what its own terms read. */
static int walk_integral(struct reach *s, const struct instr *c, const struct integral *g)
{
    struct reach in = {.read_by_network = -1};
    int rc = start_rows(&in, g->body.nrow);
    for (int k = 0; k < g->num_inputs && !rc; k++) {
        int from = operand_at(&c->arg[0], 0, k);
        if (c->arg[0].is_const || !s->count[from]) continue;
        in.start[k] = in.pool.n;
        in.count[k] = 1;
        in.degree[k] = OTHER;
        in.why[k] = "an integral";
        if (vec_push(&in.pool, from)) rc = NAMI_ENOMEM;
    }
    if (!rc) rc = walk(&in, &g->body);
    for (int k = 0; k < g->num_comps && !rc; k++) {
        struct joining j = {.s = s};
        if (!(rc = join_terms(&j, g, &in, k)) && c->out >= 0)
            put(s, c->out + k, &j, j.count ? OTHER : CONSTANT, "an integral");
    }
    reach_free(&in);
    return rc;
}

/* ---- all -------------------------------------------------------------------------------- */

static void see_read(void *arg, enum instr_place place, int row)
{
    struct reach *s = arg;
    if (place == PLACE_ROW && s->count[row]) s->read_by_network = s->pool.a[s->start[row]];
}

static int walk(struct reach *s, const struct prog *p)
{
    int rc = 0;
    for (size_t k = 0; k < p->code.n && !rc; k++) {
        const struct instr *c = &p->code.a[k];
        const struct integral *g = instr_integral(c);
        if (g)
            rc = walk_integral(s, c, g);
        else if (c->map || c->block)
            rc = walk_kernel(s, c);
        else if (instr_copies(c))
            rc = walk_copy(s, c);
        else
            instr_reads(c, see_read, s);
    }
    return rc;
}

static int start_rows(struct reach *s, int num_rows)
{
    s->start = new_array(size_t, num_rows + 1);
    s->count = new_array(int, num_rows + 1);
    s->degree = new_array(unsigned char, num_rows + 1);
    s->why = new_array(const char *, num_rows + 1);
    return s->start && s->count && s->degree && s->why ? 0 : NAMI_ENOMEM;
}

int reach_make(struct reach *s, const struct prog *p, int num_vars, const int *row, nami_err *err)
{
    *s = (struct reach){.read_by_network = -1};
    if (start_rows(s, p->nrow)) return err_nomem(err);
    for (int k = 0; k < num_vars; k++) {
        s->start[row[k]] = s->pool.n;
        s->count[row[k]] = 1;
        s->degree[row[k]] = AFFINE;
        if (vec_push(&s->pool, k)) return err_nomem(err);
    }
    return walk(s, p) ? err_nomem(err) : 0;
}

void reach_free(struct reach *s)
{
    free(s->start);
    free(s->count);
    free(s->degree);
    free(s->why);
    vec_free(&s->pool);
    vec_free(&s->work);
}
