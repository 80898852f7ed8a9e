/* integral_normal.c: integrals over linear Gaussian variables: Kalman filters, hierarchical normal
   models, regression coefficients.  The variables v are integrated out of a product of normal
   densities of residuals r + C v.

   Coefficients: residuals are computed at v = 0, which gives r, and with all variables of one color
   at 2^300, which gives C: constants vanish beside a number this large, and r + C 2^300 has no
   other rounding error than that of C itself; a coefficient that is 0 is 0 exactly.

   With whitened residuals (scale 1; all below are), Q = C'C, h = C'r, m = -Q^-1 h, S = Q^-1 and
   e = r + C m, the log integral is

       sum of log normal(e; 0, scale) - log|Q| / 2 + n / 2 log(2 pi):

   a sum of squares at the posterior mean, which does not suffer from cancellation if priors are
   vague.  Its derivatives, with V = e e' + C S C', the second moments of the residuals:

       by r: -e;   by C: -(e m' + C S);   by the scale: from V - I.

   Lanes are processed in slabs (runs of the body) and these in chunks. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/simd.h"
#include "exact/integral_normal.h"

#define STEP 0x1p300

struct pass {
    const struct integral *g;
    const struct normal *n;
    struct visit v;
    double *slab, *scratch;
    int first, lanes; /* of the chunk in the slab */
    double *data;     /* the chunk's entries of the slab */
    struct lane_matrix matrix;
    double *point; /* variables by pivot */
    double *total; /* by component */
};

static double *at(const struct pass *p, size_t entry)
{
    return p->scratch + entry * (size_t)p->lanes;
}

static double *of(const struct pass *p, size_t entry) { return p->data + entry * (size_t)p->lanes; }

static void begin(struct pass *p, const struct integral *g, int with_back, double *work)
{
    p->g = g;
    p->n = g->own;
    visit_begin(&p->v, g, with_back, work);
    p->slab = (double *)(((uintptr_t)p->v.extra + 63) / 64 * 64);
    p->scratch = p->slab + p->n->num_slab * (size_t)g->lanes;
}

/* The next chunk of the slab; 0 at the end.  lanes is 0 at the start. */
static int next_chunk(struct pass *p)
{
    int width = visit_width(&p->v), first = p->first + p->lanes;
    if (first >= width) return 0;
    p->first = first;
    p->lanes = width - first < p->n->chunk ? width - first : p->n->chunk;
    p->data = p->slab + p->n->num_slab * (size_t)first;
    p->matrix =
        (struct lane_matrix){&p->n->chol, p->lanes, at(p, p->n->value), at(p, p->n->update)};
    p->point = at(p, p->n->point);
    p->total = at(p, p->n->total);
    return 1;
}

static void rewind_chunks(struct pass *p) { p->first = p->lanes = 0; }

/* Lanes of the chunk that are wanted. */
static int live(const struct pass *p)
{
    int left = p->v.x.lanes - p->first;
    return left < p->lanes ? left : p->lanes;
}

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

/* All coefficients of lanes from .. from + num - 1. */
static void probe(struct pass *p, const struct lanes *in, int from, int num)
{
    visit_inputs(&p->v, in, from, num);
    for (int run = 0; run <= p->n->num_colors; run++) {
        set_run(p, run, run - 1);
        visit_run(&p->v);
        for (rewind_chunks(p); next_chunk(p);) {
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
            weight[b] = (s > 0) & (s <= DBL_MAX) ? 1 / s : NAN;
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

/* Rows of a bundle times the weights of its residuals. */
WIDE static void weigh(const struct pass *p, const struct normal_bundle *b, int num_rows)
{
    int lanes = p->lanes, num = b->num_residuals;
    double *x = of(p, b->data);
    for (int a = 0; a < num_rows; a++)
        for (int k = 0; k < num; k++, x += lanes) {
            size_t sd = (size_t)p->n->sd_of[b->first_residual + (size_t)k];
            const double *restrict weight = at(p, p->n->weight + sd);
            double *restrict y = x;
            EACH(i, lanes) y[i] *= weight[i];
        }
}

static void whiten(const struct pass *p, const struct normal_bundle *b)
{
    int rows = b->num_vars + 1, size = b->num_residuals;
    const struct normal_matrix *x = b->matrix < 0 ? NULL : &p->n->matrix[b->matrix];
    if (!x)
        weigh(p, b, rows);
    else if (x->kind == SCALE_COVARIANCE)
        triangle_solve(size, p->lanes, at(p, x->factor), rows, of(p, b->data));
    else
        triangle_times(size, p->lanes, at(p, x->factor), rows, of(p, b->data));
}

/* Derivatives with respect to what was whitened. */
static void whiten_back(const struct pass *p, const struct normal_bundle *b)
{
    int rows = b->num_vars + 1, size = b->num_residuals;
    const struct normal_matrix *x = b->matrix < 0 ? NULL : &p->n->matrix[b->matrix];
    if (!x)
        weigh(p, b, rows);
    else if (x->kind == SCALE_COVARIANCE)
        triangle_solve_back(size, p->lanes, at(p, x->factor), rows, of(p, b->data));
    else
        triangle_times_back(size, p->lanes, at(p, x->factor), rows, of(p, b->data));
}

/* ---- the log integral ------------------------------------------------------------- */

WIDE static void add_scaled(int lanes, double factor, const double *restrict x, double *restrict to)
{
    EACH(b, lanes) to[b] += factor * x[b];
}

/* total = constants and determinants of the scales */
static void add_scales(struct pass *p)
{
    const struct normal *n = p->n;
    size_t lanes = (size_t)p->lanes;
    for (int c = 0; c < p->g->num_comps; c++)
        for (size_t b = 0; b < lanes; b++) p->total[(size_t)c * lanes + b] = n->constant[c];
    for (int k = 0; k < n->num_uses; k++) {
        const struct normal_use *x = &n->use[k];
        add_scaled(p->lanes, x->count, at(p, n->log_weight + (size_t)x->sd),
                   p->total + (size_t)x->comp * lanes);
    }
    for (int k = 0; k < n->num_bundles; k++) {
        const struct normal_bundle *b = &n->bundle[k];
        if (b->matrix >= 0)
            add_scaled(p->lanes, 1, at(p, n->log_factor + (size_t)b->matrix),
                       p->total + (size_t)b->comp * lanes);
    }
}

/* Whitened bundles, and the factor of Q. */
static void factorize(struct pass *p)
{
    const struct normal *n = p->n;
    find_weights(p);
    find_factors(p);
    for (int f = 0; f < n->chol.num_fronts; f++) {
        front_begin(&p->matrix, f);
        for (int k = n->bundle_start[f]; k < n->bundle_start[f + 1]; k++) {
            const struct normal_bundle *b = &n->bundle[k];
            whiten(p, b);
            front_add(&p->matrix, f, b->num_vars + 1, n->at + b->first_var, b->num_residuals,
                      of(p, b->data));
        }
        front_eliminate(&p->matrix, f);
    }
    for (int k = n->bundle_start[n->chol.num_fronts]; k < n->num_bundles; k++)
        whiten(p, &n->bundle[k]);
}

static void add_determinant(struct pass *p, int f)
{
    const struct front *x = &p->n->chol.front[f];
    double *total = p->total + (size_t)p->n->front_comp[f] * (size_t)p->lanes;
    for (int j = 0; j < x->width; j++)
        subtract_log(p->lanes, front_entry(&p->matrix, x, j, j), total);
}

/* e = r + C m, instead of r; total -= |e|^2 / 2 */
WIDE static void add_squares(struct pass *p, const struct normal_bundle *b)
{
    int lanes = p->lanes, num = b->num_residuals;
    size_t row = (size_t)num * (size_t)lanes;
    double *restrict total = p->total + (size_t)b->comp * (size_t)lanes;
    for (int k = 0; k < num; k++) {
        const double *c = of(p, b->data) + (size_t)k * (size_t)lanes;
        double *restrict e = of(p, b->data) + (size_t)b->num_vars * row + (size_t)k * (size_t)lanes;
        for (int a = 0; a < b->num_vars; a++, c += row) {
            size_t pivot = (size_t)p->n->pivot[b->first_var + (size_t)a];
            const double *restrict m = p->point + pivot * (size_t)lanes, *restrict x = c;
            EACH(i, lanes) e[i] += x[i] * m[i];
        }
        EACH(i, lanes) total[i] -= 0.5 * e[i] * e[i];
    }
}

static void run(const void *self, const int *dim, int L, double *const *out, const struct lanes *in,
                double *work)
{
    const struct integral *g = self;
    struct pass p;
    (void)dim;
    begin(&p, g, 0, work);
    for (int from = 0; from < L; from += g->lanes) {
        probe(&p, in, from, L - from < g->lanes ? L - from : g->lanes);
        while (next_chunk(&p)) {
            factorize(&p);
            add_scales(&p);
            memset(p.point, 0, sizeof(double) * (size_t)g->num_vars * (size_t)p.lanes);
            for (int f = p.n->chol.num_fronts; f-- > 0;) {
                add_determinant(&p, f);
                front_solve(&p.matrix, f, p.point);
                for (int k = p.n->bundle_start[f]; k < p.n->bundle_start[f + 1]; k++)
                    add_squares(&p, &p.n->bundle[k]);
            }
            for (int k = p.n->bundle_start[p.n->chol.num_fronts]; k < p.n->num_bundles; k++)
                add_squares(&p, &p.n->bundle[k]);
            for (int c = 0; c < g->num_comps; c++)
                memcpy(out[c] + from + p.first, p.total + (size_t)c * (size_t)p.lanes,
                       sizeof(double) * (size_t)live(&p));
        }
    }
}

/* ---- derivatives ------------------------------------------------------------------ */

/* The posterior covariances of the variables of a bundle, (num_vars, num_vars). */
static void fetch_moments(const struct pass *p, const struct normal_bundle *b, double *to)
{
    const struct front *f = &p->n->chol.front[b->front];
    const int *row = p->n->at + b->first_var;
    size_t lanes = (size_t)p->lanes, num = (size_t)b->num_vars;
    for (size_t i = 0; i < num; i++)
        for (size_t j = 0; j <= i; j++) {
            const double *from = front_entry(&p->matrix, f, row[i], row[j]);
            memcpy(to + (i * num + j) * lanes, from, sizeof *to * lanes);
            if (j < i) memcpy(to + (j * num + i) * lanes, from, sizeof *to * lanes);
        }
}

/* d / d sd, but for a factor: += dout (V - 1).  Columns first .. first + num - 1; product: S C'. */
WIDE static void add_sd_gradient(const struct pass *p, const struct normal_bundle *b, int first,
                                 int num, const double *product)
{
    int lanes = p->lanes;
    size_t row = (size_t)b->num_residuals * (size_t)lanes;
    const double *restrict g = at(p, p->n->incoming + (size_t)b->comp);
    for (int k = 0; k < num; k++) {
        const double *c = of(p, b->data) + (size_t)(first + k) * (size_t)lanes;
        const double *restrict e = c + (size_t)b->num_vars * row;
        int sd = p->n->sd_of[b->first_residual + (size_t)(first + k)];
        double *restrict to = of(p, p->n->sd_gradient + (size_t)sd);
        EACH(i, lanes) to[i] += g[i] * (e[i] * e[i] - 1);
        for (int a = 0; a < b->num_vars; a++, c += row) {
            const double *restrict t =
                product + ((size_t)a * (size_t)num + (size_t)k) * (size_t)lanes;
            const double *restrict x = c;
            EACH(i, lanes) to[i] += g[i] * x[i] * t[i];
        }
    }
}

/* The same of a matrix: += dout (I - V); second: C S C' */
WIDE static void add_matrix_gradient(const struct pass *p, const struct normal_bundle *b,
                                     const double *second)
{
    int lanes = p->lanes, size = b->num_residuals;
    const double *restrict g = at(p, p->n->incoming + (size_t)b->comp);
    const double *e = of(p, b->data) + (size_t)b->num_vars * (size_t)size * (size_t)lanes;
    double *to = of(p, p->n->matrix[b->matrix].gradient);
    for (int i = 0; i < size; i++)
        for (int j = 0; j < size; j++, to += lanes, second += lanes) {
            const double *restrict x = e + (size_t)i * (size_t)lanes;
            const double *restrict y = e + (size_t)j * (size_t)lanes;
            const double *restrict s = second;
            double *restrict d = to, one = i == j;
            EACH(k, lanes) d[k] += g[k] * (one - x[k] * y[k] - s[k]);
        }
}

/* Columns first .. first + num - 1 of the bundle: -dout (e m' + C S) instead of C, -dout e instead
   of r. */
WIDE static void replace(const struct pass *p, const struct normal_bundle *b, int first, int num,
                         const double *product)
{
    int lanes = p->lanes;
    size_t row = (size_t)b->num_residuals * (size_t)lanes;
    const double *restrict g = at(p, p->n->incoming + (size_t)b->comp);
    for (int k = 0; k < num; k++) {
        double *c = of(p, b->data) + (size_t)(first + k) * (size_t)lanes;
        double *restrict e = c + (size_t)b->num_vars * row;
        for (int a = 0; a < b->num_vars; a++, c += row) {
            size_t pivot = (size_t)p->n->pivot[b->first_var + (size_t)a];
            const double *restrict m = p->point + pivot * (size_t)lanes;
            const double *restrict t =
                product + ((size_t)a * (size_t)num + (size_t)k) * (size_t)lanes;
            double *restrict x = c;
            EACH(i, lanes) x[i] = -g[i] * (e[i] * m[i] + t[i]);
        }
        EACH(i, lanes) e[i] *= -g[i];
    }
}

/* Derivatives of a bundle, given m, S and e. */
static void bundle_back(struct pass *p, const struct normal_bundle *b)
{
    double *moment = at(p, p->n->moment), *product = at(p, p->n->product);
    int size = b->num_residuals, most = b->matrix < 0 ? NORMAL_BLOCK : size;
    if (b->num_vars) fetch_moments(p, b, moment);
    for (int first = 0, num; first < size; first += num) {
        num = size - first < most ? size - first : most;
        lane_cross(b->num_vars, p->lanes, b->num_vars, moment, num, size,
                   of(p, b->data + (size_t)first), product);
        if (b->matrix < 0) {
            add_sd_gradient(p, b, first, num, product);
        } else {
            lane_cross(b->num_vars, p->lanes, size, of(p, b->data), size, size, product, moment);
            add_matrix_gradient(p, b, moment);
        }
        replace(p, b, first, num, product);
    }
    whiten_back(p, b);
}

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

/* Derivatives with respect to all that was read from the body, in its place. */
static void chunk_back(struct pass *p, const double *const *dout, int from)
{
    const struct normal *n = p->n;
    size_t lanes = (size_t)p->lanes, bytes = lanes * sizeof(double);
    for (int c = 0; c < p->g->num_comps; c++) {
        double *to = at(p, n->incoming + (size_t)c);
        for (int b = 0; b < p->lanes; b++) to[b] = b < live(p) ? dout[c][from + p->first + b] : 0;
    }
    memset(of(p, n->sd_gradient), 0, (n->num_slab - n->sd_gradient) * bytes);
    memset(p->total, 0, (size_t)p->g->num_comps * bytes);
    memset(p->point, 0, (size_t)p->g->num_vars * bytes);
    factorize(p);
    for (int f = n->chol.num_fronts; f-- > 0;) {
        front_solve(&p->matrix, f, p->point);
        front_invert(&p->matrix, f, at(p, n->work));
        for (int k = n->bundle_start[f]; k < n->bundle_start[f + 1]; k++) {
            add_squares(p, &n->bundle[k]);
            bundle_back(p, &n->bundle[k]);
        }
    }
    for (int k = n->bundle_start[n->chol.num_fronts]; k < n->num_bundles; k++)
        bundle_back(p, &n->bundle[k]);
    finish_sds(p);
    for (int k = 0; k < n->num_matrices; k++) finish_matrix(p, &n->matrix[k]);
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

/* All runs again, backward; the last one has just been made. */
static void probe_back(struct pass *p, double *const *din, int from)
{
    const struct normal *n = p->n;
    for (int run = n->num_colors; run >= 0; run--) {
        if (run < n->num_colors) {
            set_run(p, run, run + 1);
            visit_run(&p->v);
        }
        visit_back_begin(&p->v);
        for (rewind_chunks(p); next_chunk(p);) {
            for (size_t k = n->probe_start[run]; k < n->probe_start[run + 1]; k++)
                seed(p, n->probe[k].row, (size_t)n->probe[k].entry, run ? 1 / STEP : 1);
            if (run == 0) seed_scales(p);
        }
        visit_back(&p->v, din, from);
    }
}

static void back(const void *self, const int *dim, int L, const double *const *out,
                 const double *const *dout, const struct lanes *in, double *const *din,
                 double *work)
{
    const struct integral *g = self;
    struct pass p;
    (void)dim, (void)out;
    begin(&p, g, 1, work);
    for (int from = 0; from < L; from += g->lanes) {
        probe(&p, in, from, L - from < g->lanes ? L - from : g->lanes);
        while (next_chunk(&p)) chunk_back(&p, dout, from);
        probe_back(&p, din, from);
    }
}

/* ---- draws and moments
 * ------------------------------------------------------------------------------ */

static void draw(const void *self, const struct stream *s, const int *dim, int L,
                 double *const *out, const struct lanes *in, double *work)
{
    const struct integral *g = self;
    struct pass p;
    (void)dim;
    begin(&p, g, 0, work);
    const int *place = p.n->chol.place;
    for (int from = 0; from < L; from += g->lanes) {
        probe(&p, in, from, L - from < g->lanes ? L - from : g->lanes);
        while (next_chunk(&p)) {
            factorize(&p);
            for (int v = 0; v < g->num_vars; v++) {
                struct stream of_v = {s->seed, (uint32_t)g->var[v].row,
                                      s->first + (uint64_t)(from + p.first)};
                stream_normal(&of_v, p.lanes, p.point + (size_t)place[v] * (size_t)p.lanes);
            }
            for (int f = p.n->chol.num_fronts; f-- > 0;) front_solve(&p.matrix, f, p.point);
            for (int v = 0; v < g->num_vars; v++)
                memcpy(out[v] + from + p.first, p.point + (size_t)place[v] * (size_t)p.lanes,
                       sizeof(double) * (size_t)live(&p));
        }
    }
}

static void moments(const void *self, const int *dim, int L, double *const *out,
                    const struct lanes *in, double *work)
{
    const struct integral *g = self;
    struct pass p;
    (void)dim;
    begin(&p, g, 0, work);
    const struct lane_chol *c = &p.n->chol;
    for (int from = 0; from < L; from += g->lanes) {
        probe(&p, in, from, L - from < g->lanes ? L - from : g->lanes);
        while (next_chunk(&p)) {
            factorize(&p);
            memset(p.point, 0, sizeof(double) * (size_t)g->num_vars * (size_t)p.lanes);
            for (int f = c->num_fronts; f-- > 0;) {
                front_solve(&p.matrix, f, p.point);
                front_invert(&p.matrix, f, at(&p, p.n->work));
            }
            for (int v = 0; v < g->num_vars; v++) {
                int k = c->place[v];
                const struct front *f = &c->front[c->front_of[k]];
                size_t bytes = sizeof(double) * (size_t)live(&p);
                memcpy(out[v] + from + p.first, p.point + (size_t)k * (size_t)p.lanes, bytes);
                memcpy(out[g->num_vars + v] + from + p.first,
                       front_entry(&p.matrix, f, k - f->first, k - f->first), bytes);
            }
        }
    }
}

const struct integral_kind integral_normal = {
    .name = "normal",
    .what = "linear Gaussian variables: sparse elimination",
    .plan = normal_plan,
    .run = run,
    .back = back,
    .draw = draw,
    .moments = moments,
    .normal_terms = 1,
    .vectors = 1,
};
