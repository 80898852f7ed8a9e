/* density_op.c: densities, distribution functions and quantiles as operations of tensor/.  The
   kernels are the same for all distributions: what they compute is in the record of dist/ that the
   operation wraps. */
#include "model/lang/lang.h"

struct density_op {
    struct op op; /* first: kernels get its address */
    const struct dist *dist;
    enum density_kind kind;
    struct density_op *next;
};

/* Derivatives need a buffer, and kernels do not allocate: processed in chunks. */
enum { CHUNK = 64 };

static int is_discrete(const struct dist *d) { return domains[d->domain].discrete; }

/* The arguments of a chunk. */
static void shift(int n, const double *const *a, double *const *da, int first, const double **b,
                  double **db)
{
    for (int k = 0; k < n; k++) {
        b[k] = a[k] + first;
        db[k] = da[k] ? da[k] + first : NULL;
    }
}

static void clear(int n, int i, double *const *da)
{
    for (int k = 0; k < n; k++)
        if (da[k]) da[k][i] = 0;
}

/* ---- densities ------------------------------------------------------------------------- */

static void log_density_map(const void *self, int n, double *out, const double *const *a)
{
    const struct dist *d = ((const struct density_op *)self)->dist;
    d->logp(d, n, out, a);
}

/* Outside of the support the density is 0, and so is its gradient. */
static void log_density_grad(const void *self, int n, const double *out, const double *dout,
                             const double *const *a, double *const *da)
{
    const struct dist *d = ((const struct density_op *)self)->dist;
    d->grad(d, n, out, dout, a, da);
    for (int i = 0; i < n; i++)
        if (out[i] == -INFINITY) clear(1 + d->narg, i, da);
}

static void density_map(const void *self, int n, double *out, const double *const *a)
{
    log_density_map(self, n, out, a);
    for (int i = 0; i < n; i++) out[i] = exp(out[i]);
}

/* df = f dlog f */
static void density_grad(const void *self, int n, const double *out, const double *dout,
                         const double *const *a, double *const *da)
{
    const struct dist *d = ((const struct density_op *)self)->dist;
    d->grad(d, n, out, dout, a, da); /* it does not read out */
    for (int i = 0; i < n; i++) {
        for (int k = 0; k <= d->narg && out[i] != 0; k++)
            if (da[k]) da[k][i] *= out[i];
        if (out[i] == 0) clear(1 + d->narg, i, da);
    }
}

static void block(const void *self, const int *dim, int L, double *const *out,
                  const struct lanes *a, double *work)
{
    const struct dist *d = ((const struct density_op *)self)->dist;
    d->blogp(d, dim, L, out, a, work);
}

static void block_grad(const void *self, const int *dim, int L, const double *const *out,
                       const double *const *dout, const struct lanes *a, double *const *da,
                       double *work)
{
    const struct dist *d = ((const struct density_op *)self)->dist;
    d->bgrad(d, dim, L, out, dout, a, da, work);
}

int density_shape(const struct op *op, int narg, const int (*shape)[SHAPE], int *out, int *dim,
                  const char **why)
{
    const struct dist *d = ((const struct density_op *)op)->dist;
    int n[DIST_ARGS] = {0};
    for (int k = 0; k < narg; k++) {
        int rank = domains[k ? d->arg[k - 1].domain : d->domain].rank;
        dim[k] = shape_size(shape[k]);
        if (k) n[k - 1] = dim[k];
        if (rank == 0 && dim[k] != 1) *why = "a single number is needed for one of the arguments";
        if (rank == 2 && dim[k] != 1 && !(shape[k][0] == 2 && shape[k][1] == shape[k][2]))
            *why = "a square matrix is needed for one of the arguments";
    }
    out[0] = 0;
    if (**why) return -1;
    int size = d->size ? d->size(n, why) : 1;
    if (size >= 0 && size != dim[0]) *why = "the value and the arguments differ in size";
    return size == dim[0] ? 0 : -1;
}

/* ---- distribution functions and quantiles ------------------------------------------------ */

static double value(const struct density_op *f, double x, const double *p)
{
    const struct dist *d = f->dist;
    if (isnan(x)) return NAN;
    switch (f->kind) {
    case FUN_CDF: return d->cdf(x, p);
    case FUN_LOG_CDF: return dist_log_tail(d, x, p, 0);
    case FUN_LOG_CCDF: return dist_log_tail(d, x, p, 1);
    default: return d->quantile(x, p);
    }
}

static void value_map(const void *self, int n, double *out, const double *const *a)
{
    const struct density_op *f = self;
    for (int i = 0; i < n; i++) {
        double p[DIST_ARGS];
        for (int k = 0; k < f->dist->narg; k++) p[k] = a[1 + k][i];
        out[i] = value(f, a[0][i], p);
    }
}

/* Continuous distributions. With f the density and x'_k the derivative of the quantile with respect
   to argument k (dist.path):
       dF/dx = f,  dF/dp_k = -f x'_k;   d log F = dF / F, d log(1 - F) = -dF / (1 - F)  */
static void cdf_grad(const void *self, int n, const double *out, const double *dout,
                     const double *const *a, double *const *da)
{
    const struct density_op *f = self;
    const struct dist *d = f->dist;
    for (int first = 0; first < n; first += CHUNK) {
        int m = n - first < CHUNK ? n - first : CHUNK;
        const double *b[1 + DIST_ARGS] = {NULL};
        double *db[1 + DIST_ARGS] = {NULL}, w[CHUNK];
        shift(1 + d->narg, a, da, first, b, db);
        d->logp(d, m, w, b);
        for (int i = 0; i < m; i++) {
            double by = f->kind == FUN_CDF ? 0 : out[first + i];
            w[i] = w[i] == -INFINITY ? 0 : exp(w[i] - by) * dout[first + i];
            if (f->kind == FUN_LOG_CCDF) w[i] = -w[i];
            if (db[0]) db[0][i] = w[i];
            w[i] = -w[i];
        }
        d->path(d, m, b[0], w, b + 1, db + 1);
        for (int i = 0; i < m; i++)
            if (w[i] == 0) clear(d->narg, i, db + 1); /* not 0 times infinity */
    }
}

/* dq/du = 1 / f(q) */
static void quantile_grad(const void *self, int n, const double *out, const double *dout,
                          const double *const *a, double *const *da)
{
    const struct dist *d = ((const struct density_op *)self)->dist;
    d->path(d, n, out, dout, a + 1, da + 1);
    for (int i = 0; da[0] && i < n; i++) {
        const double *b[1 + DIST_ARGS] = {&out[i]};
        double v;
        for (int k = 1; k <= d->narg; k++) b[k] = a[k] + i;
        d->logp(d, 1, &v, b);
        da[0][i] = dout[i] * exp(-v);
    }
}

/* d value / d p[k] of a discrete one: central differences with Richardson's extrapolation, as in
   dist/truncated.c; from one side at the end of a domain. */
static double slope(const struct density_op *f, double x, const double *p, int k)
{
    enum domain domain = f->dist->arg[k].domain;
    double q[DIST_ARGS], v[2], s[2], h = domain == REAL ? 1e-3 : 1e-3 * fabs(p[k]);
    memcpy(q, p, sizeof q);
    if (domain == UNIT || domain == OPEN_UNIT) h = 1e-3 * fmin(p[k], 1 - p[k]);
    if (h == 0) {
        h = p[k] > 0 ? -1e-5 : 1e-5;
        for (int i = 0; i < 2; i++) {
            q[k] = p[k] + (i + 1) * h;
            v[i] = value(f, x, q);
        }
        return (4 * v[0] - v[1] - 3 * value(f, x, p)) / (2 * h);
    }
    for (int i = 0; i < 2; i++) {
        for (int side = 0; side < 2; side++) {
            q[k] = side ? p[k] - h : p[k] + h;
            v[side] = value(f, x, q);
        }
        s[i] = (v[0] - v[1]) / (2 * h);
        h /= 2;
    }
    return (4 * s[1] - s[0]) / 3;
}

static void step_grad(const void *self, int n, const double *out, const double *dout,
                      const double *const *a, double *const *da)
{
    const struct density_op *f = self;
    const struct dist *d = f->dist;
    (void)out;
    for (int i = 0; i < n; i++) {
        double p[DIST_ARGS] = {0};
        for (int k = 0; k < d->narg; k++) p[k] = a[1 + k][i];
        if (da[0]) da[0][i] = 0;
        for (int k = 0; k < d->narg; k++) {
            if (!da[1 + k]) continue;
            double g = domains[d->arg[k].domain].discrete ? 0 : slope(f, a[0][i], p, k);
            da[1 + k][i] = isfinite(g) ? dout[i] * g : 0;
        }
    }
}

/* ---- ranges ------------------------------------------------------------------------------ */

#define RANGE(id, lo_, hi_)                                                                        \
    static void id(int narg, const double *lo, const double *hi, double *out)                      \
    {                                                                                              \
        (void)narg, (void)lo, (void)hi;                                                            \
        out[0] = lo_;                                                                              \
        out[1] = hi_;                                                                              \
    }
RANGE(range_nonnegative, 0, INFINITY)
RANGE(range_probability, 0, 1)
RANGE(range_log_probability, -INFINITY, 0)

static void set_range(struct op *op, const struct dist *d, enum density_kind kind)
{
    const struct domain_info *of = &domains[d->domain];
    switch (kind) {
    case FUN_LOG_DENSITY: op->range = of->discrete ? range_log_probability : NULL; break;
    case FUN_DENSITY: op->range = of->discrete ? range_probability : range_nonnegative; break;
    case FUN_CDF: op->range = range_probability; break;
    case FUN_LOG_CDF:
    case FUN_LOG_CCDF: op->range = range_log_probability; break;
    case FUN_QUANTILE:
        op->integer = of->discrete;
        op->range = of->lo < 0 ? NULL : of->hi <= 1 ? range_probability : range_nonnegative;
        break;
    }
}

/* ---- records ----------------------------------------------------------------------------- */

static void set_kernels(struct op *op, const struct dist *d, enum density_kind kind)
{
    if (kind == FUN_LOG_DENSITY || kind == FUN_DENSITY) {
        op->map = kind == FUN_DENSITY ? density_map : log_density_map;
        op->map_grad = kind == FUN_DENSITY ? density_grad : log_density_grad;
    } else {
        op->map = value_map;
        op->map_grad = is_discrete(d) ? step_grad : kind == FUN_QUANTILE ? quantile_grad : cdf_grad;
        if (is_discrete(d) && kind == FUN_QUANTILE) op->map_grad = NULL;
    }
    if (d->logp) return;
    op->map = NULL, op->map_grad = NULL;
    op->block = block;
    op->block_grad = block_grad;
    op->work = d->work;
}

const struct op *density_op(struct model *m, const struct density_name *f, const char *name)
{
    for (const struct density_op *o = m->ir.density_ops; o; o = o->next)
        if (o->dist == f->dist && strcmp(o->op.name, name) == 0) return &o->op;
    struct density_op *o = arena_alloc(&m->mem, sizeof *o);
    const char *copy = arena_strndup(&m->mem, name, strlen(name));
    if (!o || !copy) return NULL;
    o->dist = f->dist;
    o->kind = f->form->kind;
    o->op.name = copy;
    o->op.args = f->form->args;
    o->op.what = f->form->what;
    o->op.min_arg = o->op.max_arg = 1 + f->dist->narg;
    o->op.jags = "";
    set_kernels(&o->op, f->dist, f->form->kind);
    set_range(&o->op, f->dist, f->form->kind);
    o->next = m->ir.density_ops;
    m->ir.density_ops = o;
    return &o->op;
}
