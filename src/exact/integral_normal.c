/* integral_normal.c: integrals over linear Gaussian variables: Kalman filters, hierarchical normal
   models, regression coefficients.  The variables v are integrated out of a product of normal
   densities of residuals r + C v.

   Coefficients: residuals are computed at v = 0, which gives r, and with all variables of one color
   at 2^300, which gives C: constants vanish beside a number this large, and r + C 2^300 has no
   other rounding error than that of C itself; a coefficient that is 0 is 0 exactly.

   With residuals divided by their scales, orthogonal transformations of them (lane_qr.h) give a
   triangular system R v + h and residuals e without variables.  The log integral is

       sum of log normal(0; 0, scale) - |e|^2 / 2 - log|R| + n / 2 log(2 pi)

   for any ratio of the scales: nothing that is large is subtracted. */
#include <string.h>

#include "exact/integral_normal_pass.h"

static void run(const void *self, const int *dim, int L, double *const *out, const struct lanes *in,
                double *work)
{
    const struct integral *g = self;
    struct pass p;
    (void)dim;
    pass_begin(&p, g, 0, work);
    for (int from = 0; from < L; from += g->lanes) {
        pass_probe(&p, in, from, L - from < g->lanes ? L - from : g->lanes);
        while (pass_next(&p)) {
            size_t lanes = (size_t)p.lanes;
            pass_eliminate(&p);
            pass_add_scales(&p);
            for (int f = 0; f < p.n->qr.num_fronts; f++)
                front_log(&p.matrix, f, p.total + (size_t)p.n->front_comp[f] * lanes);
            for (int c = 0; c < g->num_comps; c++)
                memcpy(out[c] + from + p.first, p.total + (size_t)c * lanes,
                       sizeof(double) * (size_t)pass_live(&p));
        }
    }
}

/* Copies what is in p->point to out[0] ... */
static void put(const struct pass *p, double *const *out, int from)
{
    for (int v = 0; v < p->g->num_vars; v++)
        memcpy(out[v] + from + p->first, p->point + (size_t)p->n->qr.place[v] * (size_t)p->lanes,
               sizeof(double) * (size_t)pass_live(p));
}

/* Standard normal numbers of variable v for lanes first ... of the stream. */
static void put_noise(const struct pass *p, const struct stream *s, int v, int first, int n,
                      double *to)
{
    struct stream of_v = {s->seed, (uint32_t)p->g->var[v].row, s->first + (uint64_t)first};
    stream_normal(&of_v, n, to);
}

static int all_lanes_same(const struct integral *g, int L, const struct lanes *in)
{
    for (int k = 0; k < g->num_inputs; k++)
        for (int b = 1; b < L && in[k].step; b++)
            if (in[k].p[b * in[k].step] != in[k].p[0]) return 0;
    return 1;
}

/* All draws are from one integral, which is eliminated once. */
static void draw_same(struct pass *p, const struct stream *s, int L, double *const *out,
                      const struct lanes *in)
{
    pass_probe(p, in, 0, L < 8 ? L : 8);
    pass_next(p);
    pass_eliminate(p);
    for (int v = 0; v < p->g->num_vars; v++) put_noise(p, s, v, 0, L, out[v]);
    for (int f = p->n->qr.num_fronts; f-- > 0;) front_solve_same(&p->matrix, f, L, out);
}

static void draw(const void *self, const struct stream *s, const int *dim, int L,
                 double *const *out, const struct lanes *in, double *work)
{
    const struct integral *g = self;
    struct pass p;
    (void)dim;
    pass_begin(&p, g, 0, work);
    if (all_lanes_same(g, L, in)) {
        draw_same(&p, s, L, out, in);
        return;
    }
    for (int from = 0; from < L; from += g->lanes) {
        pass_probe(&p, in, from, L - from < g->lanes ? L - from : g->lanes);
        while (pass_next(&p)) {
            pass_eliminate(&p);
            for (int v = 0; v < g->num_vars; v++)
                put_noise(&p, s, v, from + p.first, p.lanes,
                          p.point + (size_t)p.n->qr.place[v] * (size_t)p.lanes);
            pass_solve(&p);
            put(&p, out, from);
        }
    }
}

static void moments(const void *self, const int *dim, int L, double *const *out,
                    const struct lanes *in, double *work)
{
    const struct integral *g = self;
    struct pass p;
    (void)dim;
    pass_begin(&p, g, 0, work);
    for (int from = 0; from < L; from += g->lanes) {
        pass_probe(&p, in, from, L - from < g->lanes ? L - from : g->lanes);
        while (pass_next(&p)) {
            pass_eliminate(&p);
            memset(p.point, 0, sizeof(double) * (size_t)g->num_vars * (size_t)p.lanes);
            pass_solve(&p);
            put(&p, out, from);
            for (int f = p.n->qr.num_fronts; f-- > 0;) front_variances(&p.matrix, f, p.point);
            put(&p, out + g->num_vars, from);
        }
    }
}

const struct integral_kind integral_normal = {
    .name = "normal",
    .what = "linear Gaussian variables: sparse elimination",
    .plan = normal_plan,
    .run = run,
    .back = normal_back,
    .draw = draw,
    .moments = moments,
    .normal_terms = 1,
    .vectors = 1,
};
