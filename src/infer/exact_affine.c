/* exact_affine.c: determines whether a model is linear and Gaussian, and its coefficients. Both are
   obtained from the program of its density, in which the arguments of every distribution have rows.
   The operations determine how rows depend on the random variables: not at all, affinely, or
   otherwise. Then variables are set to +-2^STEP and the others to 0. Constants vanish in
   rounding beside a step this large, so that differences give coefficients without additional
   rounding errors; and since these are known to be constant, there is no truncation error.

   Variables without a common child are set in the same run, since no mean depends on two of them: a
   coloring, as for sparse Jacobians (Curtis, Powell and Reid 1974). A chain of any length takes two
   runs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "exact/reach.h"
#include "infer/dense.h"
#include "infer/exact.h"
#include "model/eval.h"

enum { STEP = 300, LANES = 64, FEW_LANES = 8, ROOM = 1 << 25 /* numbers of a workspace */ };

struct affine {
    const struct model *m;
    struct gnet *g;
    unsigned char *degree; /* by row of the program */
    const char **why;      /* for rows that are OTHER: the operation */
    int *node;             /* by row of the model: node of the graph; -1 for deterministic ones */
    const struct instr **instr; /* by node: the instruction of its density */
    int *inst;                  /* ... and its instance there */
    int num_colors, *color;     /* by scalar: parents of a node have different colors */
    struct exec x;
};

/* ---- degrees ------------------------------------------------------------------------ */

static enum degree degree_of(const struct affine *a, const struct operand *o, int i,
                             const char **why)
{
    enum degree d = CONSTANT;
    for (int j = 0; j < o->m && !o->is_const; j++) {
        int r = operand_at(o, i, j);
        if (a->degree[r] > d) d = (enum degree)a->degree[r];
        if (a->degree[r] == OTHER) *why = a->why[r];
    }
    return d;
}

static void set(struct affine *a, int row, enum degree degree, const char *why)
{
    a->degree[row] = (unsigned char)degree;
    a->why[row] = why;
}

static void walk_op(struct affine *a, const struct instr *c)
{
    const struct op *op = c->self;
    for (int i = 0; i < c->n; i++) {
        enum degree d[INSTR_ARGS], had = CONSTANT;
        const char *why = NULL;
        for (int k = 0; k < c->narg; k++) {
            d[k] = degree_of(a, &c->arg[k], i, &why);
            if (d[k] > had) had = d[k];
        }
        enum degree to = degree_combine(op, d, c->narg);
        if (to == OTHER && had == AFFINE) why = op->name;
        for (int j = 0; j < c->width; j++) set(a, c->out + i * c->width + j, to, why);
    }
}

static void walk_copy(struct affine *a, const struct instr *c)
{
    for (int i = 0; i < c->n; i++) {
        const char *why = NULL;
        enum degree d = degree_of(a, &c->arg[0], i, &why);
        set(a, operand_at(&c->outs, i, 0), d, why);
    }
}

/* Finds the variable of each instance of a density. */
static void walk_density(struct affine *a, const struct instr *c)
{
    for (int i = 0; i < c->n; i++) {
        int v = a->node[operand_at(&c->arg[0], i, 0)];
        a->instr[v] = c;
        a->inst[v] = i;
    }
}

static void see_output(void *a, enum instr_place place, int row)
{
    if (place == PLACE_ROW) set(a, row, OTHER, "a network");
}

static void walk(struct affine *a)
{
    const struct prog *p = model_density_program(a->m);
    for (size_t k = 0; k < p->code.n; k++) {
        const struct instr *c = &p->code.a[k];
        if (c->sum)
            walk_density(a, c);
        else if (c->map || c->block)
            walk_op(a, c);
        else if (instr_copies(c))
            walk_copy(a, c);
        else
            instr_writes(c, see_output, a);
    }
}

/* ---- is it? ------------------------------------------------------------------------- */

static int refuse(const struct affine *a, int statement, const char *before, const char *behind,
                  const char *name, nami_err *err)
{
    struct statement s = model_statement(a->m, statement);
    struct str lhs = {0};
    statement_name(a->m, statement, &lhs);
    int rc = lhs.oom ? err_nomem(err)
                     : err_at(err, NAMI_EINPUT, s.line, s.col,
                              "the model is not linear Gaussian: %s%s %s %s", before, lhs.s, behind,
                              name);
    str_free(&lhs);
    return rc;
}

static int check_dists(const struct affine *a, nami_err *err)
{
    for (int i = 0; i < model_num_statements(a->m); i++) {
        struct statement s = model_statement(a->m, i);
        if (!s.stochastic || !s.num_instances) continue;
        if (s.dist != &dist_normal && s.dist != &dist_multi_normal &&
            s.dist != &dist_multi_normal_prec)
            return refuse(a, i, "", "is distributed as", s.dist_name, err);
        if (s.truncated) return refuse(a, i, "", "is a truncated", s.dist_name, err);
    }
    return 0;
}

static int check_node(const struct affine *a, int v, nami_err *err)
{
    const struct instr *c = a->instr[v];
    const struct dist *dist = model_statement(a->m, c->tag).dist;
    const char *why = NULL;
    if (degree_of(a, &c->arg[2], a->inst[v], &why) != CONSTANT)
        return refuse(a, c->tag,
                      dist == &dist_normal         ? "the sd of "
                      : dist == &dist_multi_normal ? "the covariance of "
                                                   : "the precision of ",
                      "depends on random", "variables", err);
    if (degree_of(a, &c->arg[1], a->inst[v], &why) == OTHER)
        return refuse(a, c->tag, "the mean of ",
                      "is not affine in the random variables, because of", why, err);
    return 0;
}

/* ---- coefficients ------------------------------------------------------------------- */

static double read_at(const struct affine *a, const struct operand *o, int i, int j, int lane)
{
    int r = operand_at(o, i, o->m == 1 ? 0 : j);
    return o->is_const ? model_density_program(a->m)->constant.a[r]
                       : a->x.row[(size_t)r * (size_t)a->x.cap + (size_t)lane];
}

static int covariance(const struct affine *a, int v, struct gfactor *f, nami_err *err)
{
    const struct instr *c = a->instr[v];
    int n = f->nvar;
    double *L = raw_array(double, n *n), *work = raw_array(double, n *n);
    int rc = !L || !work ? err_nomem(err) : 0;
    for (int k = 0; k < n * n && !rc; k++) /* for matrices, the lower triangle is used */
        f->cov[k] = read_at(a, &c->arg[2], a->inst[v], k % n > k / n ? k % n * n + k / n : k, 0);
    if (!rc && c->self == &dist_normal) {
        rc = f->cov[0] > 0 ? 0 : NAMI_EINPUT;
        f->cov[0] *= f->cov[0];
    } else if (!rc) {
        memcpy(L, f->cov, sizeof *L * (size_t)(n * n));
        rc = dense_chol(n, L) ? NAMI_EINPUT : 0;
        if (!rc && c->self == &dist_multi_normal_prec) dense_inverse(n, L, work, f->cov);
    }
    if (rc == NAMI_EINPUT) {
        struct statement s = model_statement(a->m, c->tag);
        rc = err_at(err, rc, s.line, s.col, "the %s of %s is not positive%s",
                    c->self == &dist_normal ? "sd" : "matrix", bn_name(model_bn(a->m), v),
                    c->self == &dist_normal ? "" : " definite");
    }
    free(L);
    free(work);
    return rc;
}

static int frame(struct affine *a, int v, struct gfactor *f, nami_err *err)
{
    struct gnet *g = a->g;
    int npar = 0;
    for_parents (&model_bn(a->m)->dag, v, u) npar += g->first[u + 1] - g->first[u];
    f->node = v;
    f->nvar = g->first[v + 1] - g->first[v];
    f->var = arena_array(&g->mem, int, f->nvar);
    f->par = arena_array(&g->mem, int, npar);
    f->a = arena_array(&g->mem, double, f->nvar);
    f->b = arena_array(&g->mem, double, f->nvar *(size_t)npar);
    f->cov = arena_array(&g->mem, double, f->nvar *(size_t)f->nvar);
    if (!f->var || !f->par || !f->a || !f->b || !f->cov) return err_nomem(err);
    for (int i = 0; i < f->nvar; i++) f->var[i] = g->first[v] + i;
    for_parents (&model_bn(a->m)->dag, v, u)
        for (int j = g->first[u]; j < g->first[u + 1]; j++) f->par[f->npar++] = j;
    for (int i = 0; i < f->nvar; i++) f->a[i] = read_at(a, &a->instr[v]->arg[1], a->inst[v], i, 0);
    return covariance(a, v, f, err);
}

/* Run 2 c sets the variables of color c to 2^STEP, run 2 c + 1 to -2^STEP. The coefficients b of
   parents whose runs are from .. to - 1: the mean in the first run, then half the difference to
   that in the second, divided by the step. */
static void columns(const struct affine *a, struct gfactor *f, int from, int to)
{
    const struct operand *o = &a->instr[f->node]->arg[1];
    for (int k = 0; k < f->npar; k++)
        for (int down = 0; down < 2; down++) {
            int run = 2 * a->color[f->par[k]] + down;
            if (run < from || run >= to) continue;
            for (int i = 0; i < f->nvar; i++) {
                double *b = &f->b[(size_t)i * (size_t)f->npar + (size_t)k];
                double mean = read_at(a, o, a->inst[f->node], i, run - from);
                *b = down ? ldexp(*b - mean, -STEP - 1) : mean;
            }
        }
}

/* Removes parents with coefficients 0: elements of a vector that are not read. */
static void drop_zeros(struct gfactor *f)
{
    int n = f->npar, to = 0;
    for (int k = 0; k < n; k++) {
        int some = 0;
        for (int i = 0; i < f->nvar; i++) some |= f->b[(size_t)i * (size_t)n + (size_t)k] != 0;
        if (!some) continue;
        f->par[to] = f->par[k];
        for (int i = 0; i < f->nvar; i++)
            f->b[(size_t)i * (size_t)n + (size_t)to] = f->b[(size_t)i * (size_t)n + (size_t)k];
        to++;
    }
    for (int i = 1; i < f->nvar; i++)
        memmove(f->b + (size_t)i * (size_t)to, f->b + (size_t)i * (size_t)n,
                sizeof *f->b * (size_t)to);
    f->npar = to;
}

static void clear_inputs(struct affine *a)
{
    const struct model *m = a->m;
    for (int r = 0; r < model_num_rows(m); r++)
        for (int b = 0; b < a->x.cap; b++) a->x.row[(size_t)r * (size_t)a->x.cap + (size_t)b] = 0;
}

static void set_inputs(struct affine *a, int from, int to)
{
    clear_inputs(a);
    for (int j = 0; j < a->g->n; j++)
        for (int down = 0; down < 2; down++) {
            int run = 2 * a->color[j] + down;
            if (run >= from && run < to)
                a->x.row[(size_t)a->g->row[j] * (size_t)a->x.cap + (size_t)(run - from)] =
                    ldexp(down ? -1 : 1, STEP);
        }
}

static int coefficients(struct affine *a, nami_err *err)
{
    struct gnet *g = a->g;
    const struct dag *dag = &model_bn(a->m)->dag;
    int rc = 0, *order = raw_array(int, dag->n), runs = 2 * a->num_colors;
    if (!order || dag_toposort(dag, order) < dag->n) rc = err_nomem(err);
    if (!rc) {
        clear_inputs(a);
        exec_run(&a->x);
    }
    for (int k = 0; k < dag->n && !rc; k++) rc = frame(a, order[k], &g->f[k], err);
    for (int from = 0; from < runs && !rc; from += a->x.cap) {
        int to = from + a->x.cap < runs ? from + a->x.cap : runs;
        set_inputs(a, from, to);
        exec_run(&a->x);
        for (int k = 0; k < dag->n; k++) columns(a, &g->f[k], from, to);
    }
    for (int k = 0; k < dag->n && !rc; k++) drop_zeros(&g->f[k]);
    free(order);
    return rc;
}

/* Greedy coloring: each scalar of a node gets the first color that no other parent of the node's
   children has. taken[c] == v + 1: color c is not available to node v. */
static int colors(struct affine *a, nami_err *err)
{
    const struct gnet *g = a->g;
    const struct dag *dag = &model_bn(a->m)->dag;
    int *taken = new_array(int, g->n);
    a->color = raw_array(int, g->n);
    for (int j = 0; a->color && j < g->n; j++) a->color[j] = -1;
    for (int v = 0; taken && a->color && v < dag->n; v++) {
        for_children (dag, v, child)
            for_parents (dag, child, u)
                for (int j = g->first[u]; j < g->first[u + 1]; j++)
                    if (a->color[j] >= 0) taken[a->color[j]] = v + 1;
        for (int j = g->first[v], c = 0; j < g->first[v + 1]; j++, c++) {
            while (taken[c] == v + 1) c++;
            a->color[j] = c;
            if (c >= a->num_colors) a->num_colors = c + 1;
        }
    }
    free(taken);
    return taken && a->color ? 0 : err_nomem(err);
}

/* The number of runs evaluated at once, limited by the memory of the workspace. */
static int lanes(const struct affine *a)
{
    int64_t rows = model_density_program(a->m)->nrow;
    int most = rows * LANES <= ROOM ? LANES : rows * FEW_LANES <= ROOM ? FEW_LANES : 1;
    return 2 * a->num_colors < most ? 2 * a->num_colors : most;
}

/* ---- all of it ---------------------------------------------------------------------- */

static int scalars(struct affine *a, nami_err *err)
{
    const struct model *m = a->m;
    struct gnet *g = a->g;
    g->nnode = g->nfactor = bn_n(model_bn(m));
    g->first = arena_array(&g->mem, int, g->nnode + 1);
    g->f = arena_array(&g->mem, struct gfactor, g->nnode);
    if (!g->first || !g->f) return err_nomem(err);
    for (int k = 0; k < model_num_instances(m); k++)
        if (instance_node(m, k) >= 0) g->first[instance_node(m, k) + 1] = instance_size(m, k);
    for (int v = 0; v < g->nnode; v++) g->first[v + 1] += g->first[v];
    g->n = g->first[g->nnode];
    if (!(g->row = arena_array(&g->mem, int, g->n))) return err_nomem(err);
    for (int r = 0; r < model_num_rows(m); r++) a->node[r] = -1;
    for (int k = 0; k < model_num_instances(m); k++)
        for (int j = 0, v = instance_node(m, k); v >= 0 && j < instance_size(m, k); j++) {
            int r = element_row(m, instance_elements(m, k)[j]);
            g->row[g->first[v] + j] = r;
            a->node[r] = v;
            a->degree[r] = AFFINE;
        }
    return 0;
}

int gnet_read(const struct model *m, struct gnet *out, nami_err *err)
{
    struct affine a = {.m = m, .g = out};
    int rc = model_needs_values(m, err);
    *out = (struct gnet){0};
    if (!rc) rc = check_dists(&a, err);
    if (rc) return rc;
    a.degree = new_array(unsigned char, model_density_program(m)->nrow);
    a.why = new_array(const char *, model_density_program(m)->nrow);
    a.node = new_array(int, model_num_rows(m));
    a.instr = new_array(const struct instr *, bn_n(model_bn(m)));
    a.inst = new_array(int, bn_n(model_bn(m)));
    if (!a.degree || !a.why || !a.node || !a.instr || !a.inst) rc = err_nomem(err);
    if (!rc) rc = scalars(&a, err);
    if (!rc) walk(&a);
    if (!rc) rc = colors(&a, err);
    for (int k = 0; k < model_num_instances(m) && !rc; k++)
        if (instance_node(m, k) >= 0) rc = check_node(&a, instance_node(m, k), err);
    if (!rc && !(rc = exec_init(&a.x, model_density_program(m), lanes(&a), 0, 0, err))) {
        a.x.param = model_weights(m);
        rc = coefficients(&a, err);
        exec_fini(&a.x);
    }
    free(a.degree);
    free(a.why);
    free(a.node);
    free(a.instr);
    free(a.inst);
    free(a.color);
    if (rc) gnet_free(out);
    return rc;
}

void gnet_free(struct gnet *g)
{
    arena_free(&g->mem);
    *g = (struct gnet){0};
}

int gnet_evidence(const struct gnet *g, const struct model *m, const struct dataset *d, double *x,
                  nami_err *err)
{
    double *point = new_array(double, model_num_rows(m));
    int rc = point ? 0 : err_nomem(err);
    if (!rc && d) rc = model_point(m, d, 1, 0, 1, point, err);
    for (int i = 0; i < g->n; i++) x[i] = NAN;
    for (int k = 0; k < model_num_instances(m) && !rc && d; k++)
        for (int j = 0, v = instance_node(m, k); v >= 0 && j < instance_size(m, k); j++) {
            int e = instance_elements(m, k)[j];
            if (element_is_observed(m, e)) x[g->first[v] + j] = point[element_row(m, e)];
        }
    free(point);
    return rc;
}
