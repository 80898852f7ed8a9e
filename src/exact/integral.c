/* integral.c: integrals: their table, and the workspace of their kernels. */
#include "exact/integral.h"

#include <limits.h>
#include <string.h>

#include "base/err.h"

const struct integral_kind *const integral_kinds[] = {
#define INTEGRAL(id) &integral_##id,
#include "exact/integral.def"
#undef INTEGRAL
    NULL};

/* All rows of a slab take about 512 KB. */
static int slab(const struct prog *body)
{
    int lanes = exec_lanes(body);
    return lanes < 64 ? lanes : 64;
}

static size_t doubles(const struct integral *g)
{
    return exec_size(&g->body, g->lanes, EXEC_GRAD) / sizeof(double) + 1;
}

int integral_plan(struct integral *g, nami_err *err)
{
    g->lanes = slab(&g->body);
    int rc = g->kind->plan(g, err);
    if (!rc && doubles(g) + g->extra > INT_MAX)
        rc = err_set(err, NAMI_ELIMIT, "needs too much memory to be integrated");
    return rc;
}

int integral_work(const struct integral *g) { return (int)(doubles(g) + g->extra); }

void visit_begin(struct visit *v, const struct integral *g, int with_back, double *work)
{
    v->g = g;
    v->draws = v->copies = 0;
    v->extra = work + doubles(g);
    exec_place(&v->x, &g->body, g->lanes, with_back ? EXEC_GRAD : 0, work);
}

int visit_width(const struct visit *v)
{
    int n = (v->x.lanes + 7) / 8 * 8;
    return n < v->x.cap ? n : v->x.cap;
}

void visit_inputs(struct visit *v, const struct lanes *in, int from, int n)
{
    v->draws = n;
    v->copies = 1;
    v->x.lanes = n;
    int width = visit_width(v);
    for (int k = 0; k < v->g->num_inputs; k++) {
        double *to = visit_row(v, k);
        for (int b = 0; b < width; b++) to[b] = in[k].p[(from + (b < n ? b : n - 1)) * in[k].step];
    }
}

void visit_copies(struct visit *v, const struct lanes *in, int from, int n, int copies)
{
    visit_inputs(v, in, from, n);
    v->copies = copies;
    v->x.lanes = n * copies;
    for (int k = 0, width = visit_width(v); k < v->g->num_inputs; k++) {
        double *to = visit_row(v, k);
        for (int b = n; b < width; b++) to[b] = to[b - n];
    }
}

/* The body is placed anew, for so many lanes and no more. */
void visit_packed(struct visit *v, const struct lanes *in, int from, int n, int copies)
{
    const struct integral *g = v->g;
    int cap = g->lanes == 1 ? 1 : n * copies < 8 ? 8 : n * copies;
    exec_place(&v->x, &g->body, cap, v->x.adj ? EXEC_GRAD : 0, v->extra - doubles(g));
    visit_copies(v, in, from, n, copies);
}

void visit_set(struct visit *v, int k, double x)
{
    double *to = visit_var(v, k);
    for (int b = 0, n = visit_width(v); b < n; b++) to[b] = x;
}

void visit_back_begin(struct visit *v) { exec_back_clear(&v->x); }

void visit_back(struct visit *v, double *const *din, int from)
{
    exec_back_run(&v->x);
    for (int k = 0; k < v->g->num_inputs; k++) {
        const double *adj = visit_adj(v, k);
        for (int j = 0; din[k] && j < v->copies; j++, adj += v->draws)
            for (int b = 0; b < v->draws; b++) din[k][from + b] += adj[b];
    }
}
