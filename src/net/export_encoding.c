/* export_encoding.c: formulas of encodings: coordinates, features and elements of variables, as the
   kernels of encoding.c, decode.c and dist/bijector.c compute them. */
#include <float.h>
#include <math.h>

#include "base/num.h"
#include "dist/math.h"
#include "net/export_impl.h"

static int clamp(struct tape *t, int u)
{
    u = IF(LESS(u, N(ENCODING_FARTHEST)), u, N(ENCODING_FARTHEST));
    return IF(LESS(N(-ENCODING_FARTHEST), u), u, N(-ENCODING_FARTHEST));
}

static int softplus_of(struct tape *t, int x) { return ADD(MAX(x, N(0)), LOG1P(EXP(NEG(ABS(x))))); }

static int feature(struct tape *t, int u)
{
    int near = ABS(u), far = MAX(SUB(near, N(ENCODING_FAR)), N(0));
    int d = ADD(SUB(near, far), LOG1P(far));
    return IF(LESS(u, N(0)), NEG(d), d);
}

/* lo + (hi - lo) / (1 + exp(-v)) from the nearer end, and never an end itself */
static int between(struct tape *t, int lo, int hi, int v, int least, int most)
{
    int e = EXP(NEG(ABS(v))), s = DIV(MUL(SUB(hi, lo), e), ADD(N(1), e));
    return MAX(MIN(IF(LESS(v, N(0)), ADD(lo, s), SUB(hi, s)), most), least);
}

static int interval_log(struct tape *t, int v)
{
    int a = ABS(v);
    return NEG(ADD(a, MUL(N(2), LOG1P(EXP(NEG(a))))));
}

/* ---- elements x[n] from unconstrained numbers u, and back; the logarithm of the Jacobian ---- */

static int constrain_number(struct tape *t, double lo, double hi, int u, int *logj)
{
    *logj = isinf(lo) && isinf(hi) ? N(0) : u;
    if (isinf(lo) && isinf(hi)) return u;
    if (isinf(hi)) return ADD(N(lo), EXP(u));
    if (isinf(lo)) return SUB(N(hi), EXP(u));
    *logj = ADD(N(log(hi - lo)), interval_log(t, u));
    return between(t, N(lo), N(hi), u, N(nextafter(lo, hi)), N(nextafter(hi, lo)));
}

static int unconstrain_number(struct tape *t, double lo, double hi, int x)
{
    if (isinf(lo) && isinf(hi)) return x;
    if (isinf(hi)) return LOG(SUB(x, N(lo)));
    return isinf(lo) ? LOG(SUB(N(hi), x)) : SUB(LOG(SUB(x, N(lo))), LOG(SUB(N(hi), x)));
}

static int simplex(struct tape *t, int n, const int *u, int *x)
{
    int logr = N(0), logj = N(0);
    for (int k = 0; k < n - 1; k++) {
        int v = SUB(u[k], N(log(n - 1 - k)));
        int logz = NEG(softplus_of(t, NEG(v))), log1z = NEG(softplus_of(t, v));
        x[k] = EXP(ADD(logr, logz));
        logj = ADD(logj, ADD(logr, ADD(logz, log1z)));
        logr = ADD(logr, log1z);
    }
    x[n - 1] = EXP(logr);
    return logj;
}

static void unsimplex(struct tape *t, int n, const int *x, int *u)
{
    int after = x[n - 1];
    for (int k = n - 1; k-- > 0; after = ADD(after, x[k]))
        u[k] = ADD(SUB(LOG(x[k]), LOG(after)), N(log(n - 1 - k)));
}

/* x = L L', the lower triangle of L row by row in l */
static void outer(struct tape *t, int k, const int *l, int *x)
{
    const int *li = l, *lj;
    for (int i = 0; i < k; i++, li += i) {
        lj = l;
        for (int j = 0; j <= i; j++, lj += j) {
            int s = MUL(li[0], lj[0]);
            for (int m = 1; m <= j; m++) s = ADD(s, MUL(li[m], lj[m]));
            x[i * k + j] = x[j * k + i] = s;
        }
    }
}

/* The lower triangle of the Cholesky factor of x */
static void factor(struct tape *t, int k, const int *x, int *l)
{
    int *li = l, *lj;
    for (int i = 0; i < k; i++, li += i) {
        lj = l;
        for (int j = 0; j <= i; j++, lj += j) {
            int s = x[i * k + j];
            for (int m = 0; m < j; m++) s = SUB(s, MUL(li[m], lj[m]));
            li[j] = i == j ? SQRT(s) : DIV(s, lj[j]);
        }
    }
}

static int spd(struct tape *t, int k, const int *u, int *x, int *l)
{
    int logj = N(k * LOG_2), at = 0;
    for (int i = 0; i < k; i++)
        for (int j = 0; j <= i; j++, at++) {
            l[at] = i == j ? EXP(u[at]) : u[at];
            if (i == j) logj = ADD(logj, MUL(N(k - i + 1), u[at]));
        }
    outer(t, k, l, x);
    return logj;
}

static void unspd(struct tape *t, int k, const int *x, int *u, int *l)
{
    factor(t, k, x, l);
    for (int i = 0, at = 0; i < k; i++)
        for (int j = 0; j <= i; j++, at++) u[at] = i == j ? LOG(l[at]) : l[at];
}

/* log(1 / cosh u) */
static int log_sech(struct tape *t, int u)
{
    int a = ABS(u);
    return SUB(SUB(N(LOG_2), a), LOG1P(EXP(MUL(N(-2), a))));
}

/* The factor of a correlation matrix, by rows in l; of_corr: the Jacobian of the matrix itself */
static int corr_factor(struct tape *t, int k, const int *u, int *l, int of_corr)
{
    int logj = N(0);
    for (int i = 0; i < k; i++) {
        int logw = N(0);
        for (int j = 0; j < i; j++, u++) {
            int s = log_sech(t, *u);
            *l++ = MUL(TANH(*u), EXP(logw));
            logj = ADD(logj, ADD(MUL(N(2), s), logw));
            logw = ADD(logw, s);
        }
        *l++ = EXP(logw);
        if (of_corr) logj = ADD(logj, MUL(N(k - 1 - i), logw));
    }
    return logj;
}

/* asinh(y) = sign(y) log(|y| + sqrt(1 + y^2)) */
static int asinh_of(struct tape *t, int y)
{
    int a = ABS(y), v = LOG1P(ADD(a, DIV(MUL(a, a), ADD(N(1), SQRT(ADD(N(1), MUL(a, a)))))));
    return IF(LESS(y, N(0)), NEG(v), v);
}

static void uncorr_factor(struct tape *t, int k, const int *l, int *u)
{
    for (int i = 0; i < k; i++, l += i, u += i - 1) {
        int after = MUL(l[i], l[i]);
        for (int j = i; j-- > 0; after = ADD(after, MUL(l[j], l[j])))
            u[j] = asinh_of(t, DIV(l[j], SQRT(after)));
    }
}

static void lower(struct tape *t, int k, const int *l, int *x)
{
    for (int i = 0; i < k; i++)
        for (int j = 0; j < k; j++) x[i * k + j] = j <= i ? *l++ : N(0);
}

static void narrow(const struct encoding *c, double *lo, double *hi)
{
    *lo = c->lo > domains[c->domain].lo ? c->lo : domains[c->domain].lo;
    *hi = c->hi < domains[c->domain].hi ? c->hi : domains[c->domain].hi;
}

static int order_of(int n)
{
    int k = 0;
    while (k * k < n) k++;
    return k;
}

/* work: as many numbers as elements.  -1: no formula. */
static int constrain(struct tape *t, const struct encoding *c, const int *u, int *x, int *work)
{
    int n = c->num_elements, k = order_of(n), logj = N(0), one;
    double lo, hi;
    narrow(c, &lo, &hi);
    switch (c->domain) {
    case SIMPLEX: return simplex(t, n, u, x);
    case SPD: return spd(t, k, u, x, work);
    case CORR:
        logj = corr_factor(t, k, u, work, 1);
        outer(t, k, work, x);
        return logj;
    case CHOL_CORR:
        logj = corr_factor(t, k, u, work, 0);
        lower(t, k, work, x);
        return logj;
    default: break;
    }
    if (domains[c->domain].tied) return -1;
    for (int i = 0; i < n; i++) {
        x[i] = constrain_number(t, lo, hi, u[i], &one);
        logj = ADD(logj, one);
    }
    return logj;
}

static int unconstrain(struct tape *t, const struct encoding *c, const int *x, int *u, int *work)
{
    int n = c->num_elements, k = order_of(n), at = 0;
    double lo, hi;
    narrow(c, &lo, &hi);
    switch (c->domain) {
    case SIMPLEX: return unsimplex(t, n, x, u), 0;
    case SPD: return unspd(t, k, x, u, work), 0;
    case CORR: factor(t, k, x, work); return uncorr_factor(t, k, work, u), 0;
    case CHOL_CORR:
        for (int i = 0; i < k; i++)
            for (int j = 0; j <= i; j++) work[at++] = x[i * k + j];
        return uncorr_factor(t, k, work, u), 0;
    default: break;
    }
    if (domains[c->domain].tied) return -1;
    for (int i = 0; i < n; i++) u[i] = unconstrain_number(t, lo, hi, x[i]);
    return 0;
}

/* ---- instructions: the values a of their arguments to those of their results ---------------- */

static int coordinates(struct tape *t, const struct encoding *c, const int *x, int *u, int *work)
{
    int rc = 0;
    if (c->kind == ENCODING_STATES)
        u[0] = SUB(x[0], N(c->low));
    else if (c->kind == ENCODING_COUNTS)
        for (int j = 0; j < c->num_elements; j++) u[j] = LOG1P(x[j]);
    else
        rc = unconstrain(t, c, x, u, work);
    for (int k = 0; k < c->ncoord && !rc; k++)
        u[k] = clamp(t, DIV(SUB(u[k], N(c->mean[k])), N(c->sd[k])));
    return rc;
}

/* Elements x of coordinates a; log |d coordinates / dx| to *logj. */
static int elements(struct tape *t, const struct encoding *c, const int *a, int *x, int *logj,
                    int *work)
{
    double scale = 0;
    int *u = work + c->num_elements;
    for (int k = 0; k < c->ncoord; k++) {
        u[k] = ADD(N(c->mean[k]), MUL(N(c->sd[k]), a[k]));
        scale += log(c->sd[k]);
    }
    if (c->kind == ENCODING_STATES) {
        x[0] = ADD(u[0], N(c->low));
        return 0;
    }
    int v = constrain(t, c, u, x, work);
    if (v < 0) return -1;
    *logj = SUB(N(-scale), v);
    return 0;
}

static int shape_of(struct tape *t, enum encoding_kernel kernel, const int *a)
{
    int v = ADD(a[1], MUL(a[2], a[0])), lo = a[3], hi = a[4];
    switch (kernel) {
    case KERNEL_LINE: return v;
    case KERNEL_HALF: return ADD(a[3], MUL(a[4], EXP(v)));
    case KERNEL_INTERVAL: {
        int above = MAX(MUL(N(0.75 * DBL_EPSILON), ABS(lo)), N(DBL_MIN));
        int below = MAX(MUL(N(0.75 * DBL_EPSILON), ABS(hi)), N(DBL_MIN));
        return between(t, lo, hi, v, ADD(lo, above), SUB(hi, below));
    }
    case KERNEL_LINE_LOG: return LOG(a[2]);
    case KERNEL_HALF_LOG: return ADD(LOG(a[2]), v);
    default: return ADD(LOG(MUL(a[2], SUB(hi, lo))), interval_log(t, v));
    }
}

int formula_encoding(struct tape *t, enum encoding_kernel kernel, const struct encoding *c,
                     const int *a, int *out, int *work)
{
    switch (kernel) {
    case KERNEL_NONE: return -1;
    case KERNEL_STANDARD: out[0] = clamp(t, DIV(SUB(a[0], a[1]), a[2])); return 0;
    case KERNEL_FEATURE: out[0] = feature(t, a[0]); return 0;
    case KERNEL_STATE: out[0] = IF(EQUAL(a[0], a[1]), N(1), N(0)); return 0;
    case KERNEL_TWO: out[0] = SUB(MUL(N(2), a[0]), N(1)); return 0;
    case KERNEL_COORDINATES: return coordinates(t, c, a, out, work);
    case KERNEL_ELEMENTS: return elements(t, c, a, out, &work[0], work + 1);
    case KERNEL_JACOBIAN:
        return elements(t, c, a, work + 1 + 2 * c->num_elements + c->ncoord, out, work + 1);
    default: out[0] = shape_of(t, kernel, a); return 0;
    }
}
