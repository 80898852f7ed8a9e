/* integral_normal_back.c: derivatives of linear Gaussian integrals.

   Given the data, variables v and residuals u = (r + C v) / scale are jointly normal.  With m the
   means of v, e those of u, and V = e e' + cov(u), derivatives are expectations:

       by r / scale: -e;   by C / scale: -(e m' + cov(u, v));   by the scale: from V - I.

   Covariances with residuals come from the rotations of the elimination (lane_qr.h), not from those
   of the variables, whose differences cancel where scales are small. */
#include <string.h>

#include "base/simd.h"
#include "exact/integral_normal_pass.h"

/* ---- one residual ----------------------------------------------------------------- */

/* Entries of residual k of a bundle, and its derivatives: a row of `num_vars` + 1. */
static double *entry_of(const struct pass *p, const struct normal_bundle *b, int a, int k)
{
    return of(p, b->data + (size_t)a * (size_t)b->num_residuals + (size_t)k);
}

/* to = -dout weight (e m + covariance); of a constant: -dout weight e */
WIDE static void set_gradient(int lanes, const double *restrict dout, const double *restrict weight,
                              const double *restrict mean, const double *restrict point,
                              const double *restrict with, double *restrict to)
{
    if (!point)
        EACH(b, lanes) to[b] = -dout[b] * mean[b];
    else
        EACH(b, lanes) to[b] = -dout[b] * (mean[b] * point[b] + with[b]);
    if (weight) EACH(b, lanes) to[b] *= weight[b];
}

/* d / d sd, but for a factor: += dout (V - 1) */
WIDE static void add_sd_gradient(int lanes, const double *restrict dout,
                                 const double *restrict mean, const double *restrict variance,
                                 double *restrict to)
{
    EACH(b, lanes) to[b] += dout[b] * (mean[b] * mean[b] - 1 + variance[b]);
}

/* The derivatives of a matrix: += dout (I - V) */
WIDE static void add_matrix_gradient(int lanes, double one, const double *restrict dout,
                                     const double *restrict x, const double *restrict y,
                                     const double *restrict covariance, double *restrict to)
{
    EACH(b, lanes) to[b] += dout[b] * (one - x[b] * y[b] - covariance[b]);
}

/* ---- bundles ---------------------------------------------------------------------- */

/* Memory of residual k; without matrices, all have the same. */
static struct lane_residual residual_of(const struct pass *p, const struct normal_bundle *b, int k)
{
    int rows = front_last(&p->n->qr.front[b->front]), i = b->matrix < 0 ? 0 : k;
    size_t lanes = (size_t)p->lanes;
    double *to = at(p, p->n->residual + 1 + (size_t)i * (3 * (size_t)rows + 1));
    return (struct lane_residual){p->n->at[b->first_var], to, to + lanes,
                                  to + ((size_t)rows + 1) * lanes,
                                  to + (2 * (size_t)rows + 1) * lanes};
}

static void set_gradients(const struct pass *p, const struct normal_bundle *b, int k,
                          const double *mean, const double *with)
{
    const double *dout = at(p, p->n->incoming + (size_t)b->comp), *weight = pass_weight(p, b, k);
    size_t lanes = (size_t)p->lanes;
    for (int a = 0; a < b->num_vars; a++) {
        size_t var = b->first_var + (size_t)a;
        set_gradient(p->lanes, dout, weight, mean, p->point + (size_t)p->n->pivot[var] * lanes,
                     with + (size_t)p->n->at[var] * lanes, entry_of(p, b, a, k));
    }
    set_gradient(p->lanes, dout, weight, mean, NULL, NULL, entry_of(p, b, b->num_vars, k));
}

/* Of residuals with a matrix, given all of them. */
static void matrix_back(const struct pass *p, const struct normal_bundle *b)
{
    const struct front *f = &p->n->qr.front[b->front];
    const double *dout = at(p, p->n->incoming + (size_t)b->comp);
    double *product = at(p, p->n->residual);
    size_t gradient = p->n->matrix[b->matrix].gradient;
    int size = b->num_residuals;
    for (int i = 0; i < size; i++)
        for (int j = 0; j < size; j++) {
            struct lane_residual x = residual_of(p, b, i), y = residual_of(p, b, j);
            residual_product(f, p->lanes, &x, &y, product);
            add_matrix_gradient(p->lanes, i == j, dout, x.mean, y.mean, product,
                                of(p, gradient + (size_t)(i * size + j)));
        }
    pass_whiten_back(p, b);
}

static void bundle_back(const struct pass *p, const struct normal_bundle *b)
{
    const struct front *f = &p->n->qr.front[b->front];
    const double *dout = at(p, p->n->incoming + (size_t)b->comp);
    double *variance = at(p, p->n->residual);
    int start = p->n->at[b->first_var];
    size_t size = record_size(start, b->end);
    for (int k = b->num_residuals - 1; k >= 0; k--) {
        struct lane_residual x = residual_of(p, b, k);
        front_leave(&p->matrix, b->front, start, b->end, at(p, b->record + (size_t)k * size), &x);
        set_gradients(p, b, k, x.mean, x.with);
        if (b->matrix >= 0) continue;
        residual_product(f, p->lanes, &x, &x, variance);
        int sd = p->n->sd_of[b->first_residual + (size_t)k];
        add_sd_gradient(p->lanes, dout, x.mean, variance, of(p, p->n->sd_gradient + (size_t)sd));
    }
    if (b->matrix >= 0) matrix_back(p, b);
}

/* Residuals without variables. */
static void constants_back(const struct pass *p, const struct normal_bundle *b)
{
    const double *dout = at(p, p->n->incoming + (size_t)b->comp);
    double *zero = at(p, p->n->residual), *mean = at(p, p->n->residual + 1);
    int size = b->num_residuals;
    memset(zero, 0, sizeof *zero * (size_t)p->lanes);
    for (int i = 0; i < size && b->matrix >= 0; i++)
        for (int j = 0; j < size; j++)
            add_matrix_gradient(p->lanes, i == j, dout, entry_of(p, b, 0, i), entry_of(p, b, 0, j),
                                zero,
                                of(p, p->n->matrix[b->matrix].gradient + (size_t)(i * size + j)));
    for (int k = 0; k < size; k++) {
        const double *weight = pass_weight(p, b, k), *r = entry_of(p, b, 0, k);
        for (int i = 0; i < p->lanes; i++) mean[i] = weight ? r[i] * weight[i] : r[i];
        set_gradients(p, b, k, mean, NULL);
        if (b->matrix >= 0) continue;
        int sd = p->n->sd_of[b->first_residual + (size_t)k];
        add_sd_gradient(p->lanes, dout, mean, zero, of(p, p->n->sd_gradient + (size_t)sd));
    }
    if (b->matrix >= 0) pass_whiten_back(p, b);
}

/* ---- all -------------------------------------------------------------------------- */

/* Derivatives with respect to all that was read from the body, in its place. */
static void chunk_back(struct pass *p, const double *const *dout, int from)
{
    const struct normal *n = p->n;
    size_t bytes = (size_t)p->lanes * sizeof(double);
    for (int c = 0; c < p->g->num_comps; c++) {
        double *to = at(p, n->incoming + (size_t)c);
        for (int b = 0; b < p->lanes; b++)
            to[b] = b < pass_live(p) ? dout[c][from + p->first + b] : 0;
    }
    memset(of(p, n->sd_gradient), 0, (n->num_slab - n->sd_gradient) * bytes);
    memset(p->point, 0, (size_t)p->g->num_vars * bytes);
    pass_eliminate(p);
    pass_solve(p);
    for (int f = n->qr.num_fronts; f-- > 0;) {
        front_back(&p->matrix, f);
        for (int k = n->bundle_start[f + 1]; k-- > n->bundle_start[f];)
            bundle_back(p, &n->bundle[k]);
        front_send(&p->matrix, f);
    }
    for (int k = n->bundle_start[n->qr.num_fronts]; k < n->num_bundles; k++)
        constants_back(p, &n->bundle[k]);
    pass_finish_scales(p);
}

void normal_back(const void *self, const int *dim, int L, const double *const *out,
                 const double *const *dout, const struct lanes *in, double *const *din,
                 double *work)
{
    const struct integral *g = self;
    struct pass p;
    (void)dim, (void)out;
    pass_begin(&p, g, 1, work);
    for (int from = 0; from < L; from += g->lanes) {
        pass_probe(&p, in, from, L - from < g->lanes ? L - from : g->lanes);
        while (pass_next(&p)) chunk_back(&p, dout, from);
        pass_probe_back(&p, din, from);
    }
}
