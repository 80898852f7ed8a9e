/* integral_normal_pass.c: what all kernels of linear Gaussian integrals do: coefficients from runs
   of the body, whitened residuals, their elimination; derivatives back through the body.  Lanes are
   processed in slabs (runs of the body) and these in chunks. */
#include "exact/integral_normal_pass.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/simd.h"
#include "exact/lane_triangle.h"

#define STEP 0x1p300

void pass_begin(struct pass *p, const struct integral *g, int with_back, double *work)
{
    p->g = g;
    p->n = g->own;
    p->with_back = with_back;
    visit_begin(&p->v, g, with_back, work);
    p->slab = (double *)(((uintptr_t)p->v.extra + 63) / 64 * 64);
    p->scratch = p->slab + p->n->num_slab * (size_t)g->lanes;
}

int pass_next(struct pass *p)
{
    const struct normal *n = p->n;
    int width = visit_width(&p->v), first = p->first + p->lanes;
    if (first >= width) return 0;
    p->first = first;
    p->lanes = width - first < n->chunk ? width - first : n->chunk;
    p->data = p->slab + n->num_slab * (size_t)first;
    p->matrix = (struct lane_matrix){&n->qr,
                                     p->lanes,
                                     at(p, n->value),
                                     at(p, n->update),
                                     p->with_back ? at(p, n->record) : NULL,
                                     at(p, n->message),
                                     at(p, n->work)};
    p->point = at(p, n->point);
    p->total = at(p, n->total);
    return 1;
}

static void rewind_chunks(struct pass *p) { p->first = p->lanes = 0; }

/* ---- coefficients ----------------------------------------------------------------- */

/* Sets the variables of a run, after another run. */
static void set_run(struct pass *p, int run, int previous)
{
    for (int v = 0; v < p->g->num_vars; v++) {
        int color = p->n->color[v] + 1;
        if (color == run)
            visit_set(&p->v, v, STEP);
        else if (color == previous || previous < 0)
            visit_set(&p->v, v, 0);
    }
}

WIDE static void read_run(struct pass *p, int run)
{
    const struct normal *n = p->n;
    int lanes = p->lanes;
    for (size_t k = n->probe_start[run]; k < n->probe_start[run + 1]; k++) {
        const struct normal_probe *x = &n->probe[k];
        const double *restrict from = visit_row(&p->v, x->row) + p->first;
        const double *restrict base = of(p, (size_t)x->base);
        double *restrict to = of(p, (size_t)x->entry);
        if (run == 0)
            EACH(b, lanes) to[b] = from[b];
        else
            EACH(b, lanes) to[b] = (from[b] - base[b]) * (1 / STEP);
    }
}

/* Residuals of a vector read few of its variables: the other coefficients are 0. */
static void clear_vectors(struct pass *p)
{
    for (int k = 0; k < p->n->num_bundles; k++) {
        const struct normal_bundle *b = &p->n->bundle[k];
        size_t num = (size_t)b->num_vars * (size_t)b->num_residuals * (size_t)p->lanes;
        if (b->matrix >= 0) memset(of(p, b->data), 0, sizeof(double) * num);
    }
}

void pass_probe(struct pass *p, const struct lanes *in, int from, int num)
{
    visit_inputs(&p->v, in, from, num);
    for (int run = 0; run <= p->n->num_colors; run++) {
        set_run(p, run, run - 1);
        visit_run(&p->v);
        for (rewind_chunks(p); pass_next(p);) {
            if (run == 0) clear_vectors(p);
            read_run(p, run);
        }
    }
    rewind_chunks(p);
}

/* ---- scales ----------------------------------------------------------------------- */

/* The lanes of a scale: of a row of the body, or of a constant. */
static struct lanes scale_at(const struct pass *p, int scale)
{
    if (scale < 0) return (struct lanes){p->g->body.constant.a + ~scale, 0};
    return (struct lanes){visit_row(&p->v, scale) + p->first, 1};
}

WIDE static void find_weights(struct pass *p)
{
    int lanes = p->lanes;
    for (int k = 0; k < p->n->num_sds; k++) {
        struct lanes sd = scale_at(p, p->n->sd[k]);
        double *restrict weight = at(p, p->n->weight + (size_t)k);
        double *restrict logs = at(p, p->n->log_weight + (size_t)k);
        EACH(b, lanes)
        {
            double s = sd.p[b * sd.step];
            weight[b] = ((s > 0) & (s <= DBL_MAX)) ? 1 / s : NAN;
        }
        EACH(b, lanes) logs[b] = log(weight[b]);
    }
}

/* sum += log of the diagonal of a factor, which is stored as its inverse */
WIDE static void subtract_log(int lanes, const double *restrict inverse, double *restrict sum)
{
    EACH(b, lanes) sum[b] += log(inverse[b]);
}

/* Cholesky factors; log_factor: log of the determinants of whitening. */
static void find_factors(struct pass *p)
{
    size_t lanes = (size_t)p->lanes;
    for (int k = 0; k < p->n->num_matrices; k++) {
        const struct normal_matrix *x = &p->n->matrix[k];
        double *factor = at(p, x->factor), *logs = at(p, p->n->log_factor + (size_t)k),
               *to = factor;
        for (int i = 0; i < x->size; i++)
            for (int j = 0; j <= i; j++, to += lanes) {
                struct lanes from = scale_at(p, x->scale[i * x->size + j]);
                for (int b = 0; b < p->lanes; b++) to[b] = from.p[b * from.step];
            }
        triangle_factor(x->size, p->lanes, factor);
        memset(logs, 0, sizeof *logs * lanes);
        for (int i = 0; i < x->size; i++)
            subtract_log(p->lanes, factor + (triangle_size(i) + (size_t)i) * lanes, logs);
        if (x->kind == SCALE_PRECISION)
            for (int b = 0; b < p->lanes; b++) logs[b] = -logs[b];
    }
}

const double *pass_weight(const struct pass *p, const struct normal_bundle *b, int k)
{
    if (b->matrix >= 0) return NULL;
    return at(p, p->n->weight + (size_t)p->n->sd_of[b->first_residual + (size_t)k]);
}

/* Residuals of a vector, by the factor of its covariance or precision. */
static void whiten(const struct pass *p, const struct normal_bundle *b)
{
    int rows = b->num_vars + 1, size = b->num_residuals;
    const struct normal_matrix *x = &p->n->matrix[b->matrix];
    if (x->kind == SCALE_COVARIANCE)
        triangle_solve(size, p->lanes, at(p, x->factor), rows, of(p, b->data));
    else
        triangle_times(size, p->lanes, at(p, x->factor), rows, of(p, b->data));
}

void pass_whiten_back(const struct pass *p, const struct normal_bundle *b)
{
    int rows = b->num_vars + 1, size = b->num_residuals;
    const struct normal_matrix *x = &p->n->matrix[b->matrix];
    if (x->kind == SCALE_COVARIANCE)
        triangle_solve_back(size, p->lanes, at(p, x->factor), rows, of(p, b->data));
    else
        triangle_times_back(size, p->lanes, at(p, x->factor), rows, of(p, b->data));
}

WIDE static void add_scaled(int lanes, double factor, const double *restrict x, double *restrict to)
{
    EACH(b, lanes) to[b] += factor * x[b];
}

static double *total_of(const struct pass *p, int comp)
{
    return p->total + (size_t)comp * (size_t)p->lanes;
}

void pass_add_scales(struct pass *p)
{
    const struct normal *n = p->n;
    for (int c = 0; c < p->g->num_comps; c++)
        for (int b = 0; b < p->lanes; b++) total_of(p, c)[b] += n->constant[c];
    for (int k = 0; k < n->num_uses; k++) {
        const struct normal_use *x = &n->use[k];
        add_scaled(p->lanes, x->count, at(p, n->log_weight + (size_t)x->sd), total_of(p, x->comp));
    }
    for (int k = 0; k < n->num_bundles; k++) {
        const struct normal_bundle *b = &n->bundle[k];
        if (b->matrix >= 0)
            add_scaled(p->lanes, 1, at(p, n->log_factor + (size_t)b->matrix), total_of(p, b->comp));
    }
}

/* ---- elimination ------------------------------------------------------------------ */

/* Residuals without variables. */
WIDE static void add_squares(struct pass *p, const struct normal_bundle *b)
{
    int lanes = p->lanes;
    double *restrict total = total_of(p, b->comp);
    for (int k = 0; k < b->num_residuals; k++) {
        const double *restrict r = of(p, b->data + (size_t)k);
        const double *restrict w = pass_weight(p, b, k);
        if (w)
            EACH(i, lanes) total[i] -= 0.5 * (r[i] * w[i]) * (r[i] * w[i]);
        else
            EACH(i, lanes) total[i] -= 0.5 * r[i] * r[i];
    }
}

/* Its residuals enter the front. */
static void enter(struct pass *p, const struct normal_bundle *b)
{
    const int *at_column = p->n->at + b->first_var;
    size_t lanes = (size_t)p->lanes, size = record_size(at_column[0], b->end);
    struct lane_row row = {
        b->num_vars, b->end, at_column, of(p, b->data), (size_t)b->num_residuals * lanes, NULL};
    double *record = p->with_back ? at(p, b->record) : NULL;
    for (int k = 0; k < b->num_residuals; k++, row.x += lanes) {
        row.root = pass_weight(p, b, k);
        front_enter(&p->matrix, b->front, &row, record, total_of(p, b->comp));
        if (record) record += size * lanes;
    }
}

void pass_eliminate(struct pass *p)
{
    const struct normal *n = p->n;
    int num = n->qr.num_fronts;
    memset(p->total, 0, sizeof(double) * (size_t)p->g->num_comps * (size_t)p->lanes);
    find_weights(p);
    find_factors(p);
    for (int k = 0; k < n->num_bundles; k++)
        if (n->bundle[k].matrix >= 0) whiten(p, &n->bundle[k]);
    for (int f = 0; f < num; f++) {
        front_begin(&p->matrix, f);
        for (int k = n->bundle_start[f]; k < n->bundle_start[f + 1]; k++) enter(p, &n->bundle[k]);
        front_eliminate(&p->matrix, f, total_of(p, n->front_comp[f]));
    }
    for (int k = n->bundle_start[num]; k < n->num_bundles; k++) add_squares(p, &n->bundle[k]);
}

void pass_solve(struct pass *p)
{
    for (int f = p->n->qr.num_fronts; f-- > 0;) front_solve(&p->matrix, f, p->point);
}

/* ---- derivatives of what was read from the body ----------------------------------- */

/* From dout (I - V) of whitened residuals to d / d matrix: with the factor F of the matrix,
   -1/2 F'^-1 (I - V) F^-1 for a covariance, the negative for a precision. */
static void finish_matrix(const struct pass *p, const struct normal_matrix *x)
{
    size_t lanes = (size_t)p->lanes, size = (size_t)x->size;
    double *d = of(p, x->gradient), half = x->kind == SCALE_COVARIANCE ? -0.5 : 0.5;
    triangle_solve_back(x->size, p->lanes, at(p, x->factor), x->size, d);
    for (size_t i = 0; i < size; i++)
        for (size_t j = 0; j < i; j++)
            for (size_t b = 0; b < lanes; b++) {
                double *y = d + (i * size + j) * lanes + b, *z = d + (j * size + i) * lanes + b;
                double t = *y;
                *y = *z;
                *z = t;
            }
    triangle_solve_back(x->size, p->lanes, at(p, x->factor), x->size, d);
    for (size_t i = 0; i < size * size * lanes; i++) d[i] *= half;
}

WIDE static void finish_sds(const struct pass *p)
{
    int lanes = p->lanes;
    for (int k = 0; k < p->n->num_sds; k++) {
        const double *restrict weight = at(p, p->n->weight + (size_t)k);
        double *restrict to = of(p, p->n->sd_gradient + (size_t)k);
        EACH(b, lanes) to[b] *= weight[b];
    }
}

void pass_finish_scales(const struct pass *p)
{
    finish_sds(p);
    for (int k = 0; k < p->n->num_matrices; k++) finish_matrix(p, &p->n->matrix[k]);
}

/* adj of a row of the body += factor * entry of the slab */
static void seed(struct pass *p, int row, size_t entry, double factor)
{
    if (row >= 0) add_scaled(p->lanes, factor, of(p, entry), visit_adj(&p->v, row) + p->first);
}

static void seed_scales(struct pass *p)
{
    const struct normal *n = p->n;
    for (int k = 0; k < n->num_sds; k++) seed(p, n->sd[k], n->sd_gradient + (size_t)k, 1);
    for (int k = 0; k < n->num_matrices; k++) {
        const struct normal_matrix *x = &n->matrix[k];
        for (int e = 0; e < x->size * x->size; e++)
            seed(p, x->scale[e], x->gradient + (size_t)e, 1);
    }
}

void pass_probe_back(struct pass *p, double *const *din, int from)
{
    const struct normal *n = p->n;
    for (int run = n->num_colors; run >= 0; run--) {
        if (run < n->num_colors) {
            set_run(p, run, run + 1);
            visit_run(&p->v);
        }
        visit_back_begin(&p->v);
        for (rewind_chunks(p); pass_next(p);) {
            for (size_t k = n->probe_start[run]; k < n->probe_start[run + 1]; k++)
                seed(p, n->probe[k].row, (size_t)n->probe[k].entry, run ? 1 / STEP : 1);
            if (run == 0) seed_scales(p);
        }
        visit_back(&p->v, din, from);
    }
}
