/* bijector.c: exp, shifted and scaled logistic, stick breaking, Cholesky, partial correlations. */
#include "dist/bijector.h"

#include <string.h>

#include "dist/block.h"

int unconstrained_size(enum domain d, int n)
{
    if (domains[d].discrete) return -1;
    if (d == SIMPLEX) return n - 1;
    int k = domains[d].rank == 2 ? matrix_order(n) : 0;
    if (d == CORR || d == CHOL_CORR) return k * (k - 1) / 2;
    return d == SPD ? k * (k + 1) / 2 : n;
}

/* ---- scalars, and vectors element by element ---------------------------------- */

/* One number between lo and hi: x, log dx/du and, for the gradient, both derivatives by u. */
struct scalar {
    double x, logj, dx, dlogj;
};

static struct scalar scalar(double lo, double hi, double u)
{
    double s = sigmoid(u), e = exp(u), w = hi - lo;
    if (isinf(lo) && isinf(hi)) return (struct scalar){u, 0, 1, 0};
    if (isinf(hi)) return (struct scalar){lo + e, u, e, 1};
    if (isinf(lo)) return (struct scalar){hi - e, u, -e, 1};
    /* from the nearer end, so that neither loses digits, and never the end itself: a density may be
       0 or infinite there */
    double x = u < 0 ? lo + w * s : hi - w * sigmoid(-u);
    if (x <= lo) x = nextafter(lo, hi);
    if (x >= hi) x = nextafter(hi, lo);
    /* dx/du of x as it was rounded: then what is singular at an end, as d log(hi - x)/dx, cancels
     */
    return (struct scalar){x, log(w) - softplus(u) - softplus(-u), (x - lo) / w * (hi - x),
                           1 - 2 * s};
}

static double unscalar(double lo, double hi, double x)
{
    if (isinf(lo) && isinf(hi)) return x;
    if (isinf(hi)) return log(x - lo);
    return isinf(lo) ? log(hi - x) : log(x - lo) - log(hi - x);
}

static double unscalar_slope(double lo, double hi, double x)
{
    if (isinf(lo) && isinf(hi)) return 1;
    if (isinf(hi)) return 1 / (x - lo);
    return isinf(lo) ? -1 / (hi - x) : 1 / (x - lo) + 1 / (hi - x);
}

static void narrow(enum domain d, double *lo, double *hi)
{
    if (domains[d].lo > *lo) *lo = domains[d].lo;
    if (domains[d].hi < *hi) *hi = domains[d].hi;
}

/* ---- simplex: x_k = r_k z_k,  r_{k+1} = r_k (1 - z_k),  r_0 = 1,
        z_k = sigmoid(u_k - log(n - 1 - k)), so that u = 0 is the centre --------------- */

static double simplex(int n, const double *u, double *x)
{
    double logr = 0, logj = 0;
    for (int k = 0; k < n - 1; k++) {
        double t = u[k] - log(n - 1 - k), logz = -softplus(-t), log1z = -softplus(t);
        x[k] = exp(logr + logz);
        logj += logr + logz + log1z;
        logr += log1z;
    }
    x[n - 1] = exp(logr);
    return logj;
}

static void unsimplex(int n, const double *x, double *u)
{
    double after = x[n - 1]; /* r_{k+1} = x_{k+1} + ... */
    for (int k = n - 1; k-- > 0; after += x[k]) u[k] = log(x[k]) - log(after) + log(n - 1 - k);
}

/* Backwards through the recursion; rbar is df/dr_{k+1}.
   d logJ / du_k = 1 - 2 z_k - (n - 2 - k) z_k. */
static void simplex_grad(int n, const double *u, const double *dx, double jac, double *du,
                         double *r)
{
    r[0] = 1;
    for (int k = 0; k < n - 1; k++) r[k + 1] = r[k] * sigmoid(log(n - 1 - k) - u[k]);
    double rbar = dx ? dx[n - 1] : 0;
    for (int k = n - 2; k >= 0; k--) {
        double t = u[k] - log(n - 1 - k), z = sigmoid(t), q = sigmoid(-t);
        double xbar = dx ? dx[k] : 0;
        du[k] += (xbar - rbar) * r[k] * z * q + jac * (1 - (n - k) * z);
        rbar = xbar * z + rbar * q;
    }
}

/* ---- SPD: X = L L', u is the lower triangle of L row by row, its diagonal in logs -- */

static void lower_of(int k, const double *u, double *L)
{
    memset(L, 0, sizeof(double) * (size_t)(k * k));
    for (int i = 0; i < k; i++)
        for (int j = 0; j <= i; j++, u++) L[i * k + j] = i == j ? exp(*u) : *u;
}

/* log|dX/dL| = k log 2 + sum_i (k - i) log L_ii, and log dL_ii/du = log L_ii = u */
static double spd(int k, const double *u, double *x)
{
    double logj = k * LOG_2;
    const double *ui = u, *uj;
    for (int i = 0; i < k; i++, ui += i) { /* row i of L begins at ui and has i + 1 elements */
        logj += (k - i + 1) * ui[i];
        uj = u;
        for (int j = 0; j <= i; j++, uj += j) {
            double s = 0;
            for (int m = 0; m <= j; m++)
                s += (m == i ? exp(ui[m]) : ui[m]) * (m == j ? exp(uj[m]) : uj[m]);
            x[i * k + j] = x[j * k + i] = s;
        }
    }
    return logj;
}

static void unspd(int k, const double *x, double *u)
{
    double *ui = u, *uj;
    for (int i = 0; i < k; i++, ui += i) {
        uj = u;
        for (int j = 0; j <= i; j++, uj += j) {
            double s = x[i * k + j];
            for (int m = 0; m < j; m++) s -= ui[m] * uj[m];
            ui[j] = i == j ? 0.5 * log(s) : s / exp(uj[j]);
        }
    }
}

/* df/dL = (D + D') L for the lower triangle; D = df/dX as in block gradients */
static void spd_grad(int k, const double *u, const double *dx, double jac, double *du, double *L)
{
    lower_of(k, u, L);
    for (int i = 0; i < k; i++)
        for (int j = 0; j <= i; j++, du++) {
            double s = 0;
            for (int m = j; m < k && dx; m++) s += (dx[i * k + m] + dx[m * k + i]) * L[m * k + j];
            if (i == j && dx) s *= L[i * k + i];
            *du += i == j ? s + jac * (k - i + 1) : s;
        }
}

/* ---- correlations R = L L' by canonical partial correlations tanh u, row by row:
        L_ij = tanh(u_ij) w_ij,  w_i,j+1 = w_ij / cosh(u_ij),  w_i0 = 1,  L_ii = w_ii ------ */

static double log_sech(double u) { return LOG_2 - fabs(u) - log1p(exp(-2 * fabs(u))); }

static double chol_corr(int k, const double *u, double *L)
{
    double logj = 0;
    memset(L, 0, sizeof(double) * (size_t)(k * k));
    for (int i = 0; i < k; i++) {
        double logw = 0;
        for (int j = 0; j < i; j++, u++) {
            L[i * k + j] = tanh(*u) * exp(logw);
            logj += 2 * log_sech(*u) + logw;
            logw += log_sech(*u);
        }
        L[i * k + i] = exp(logw);
    }
    return logj;
}

static void unchol_corr(int k, const double *L, double *u)
{
    for (int i = 0; i < k; i++, u += i - 1) {
        double after = L[i * k + i] * L[i * k + i]; /* w_i,j+1 squared */
        for (int j = i; j-- > 0; after += L[i * k + j] * L[i * k + j])
            u[j] = asinh(L[i * k + j] / sqrt(after));
    }
}

/* log|dR/dL| = sum_j (k - 1 - j) log L_jj; R_ij goes to the free triangle of L first */
static double corr(int k, const double *u, double *x)
{
    double logj = chol_corr(k, u, x);
    for (int i = 0; i < k; i++) {
        double logw = 0;
        for (int j = 0; j < i; j++, u++) logw += log_sech(*u);
        logj += (k - 1 - i) * logw;
    }
    for (int i = 1; i < k; i++)
        for (int j = 0; j < i; j++) {
            double s = 0;
            for (int m = 0; m <= j; m++) s += x[i * k + m] * x[j * k + m];
            x[j * k + i] = s;
        }
    for (int i = 0; i < k; i++) {
        for (int j = 0; j < i; j++) x[i * k + j] = x[j * k + i];
        x[i * k + i] = 1;
    }
    return logj;
}

/* The factor first, its elements below the diagonal in place of u: L_ii^2 is what they leave of 1
 */
static void uncorr(int k, const double *x, double *u)
{
    double *ui = u, *uj;
    for (int i = 0; i < k; i++, ui += i - 1) {
        uj = u;
        for (int j = 0; j < i; j++, uj += j - 1) {
            double s = x[i * k + j], left = 1;
            for (int m = 0; m < j; m++) s -= ui[m] * uj[m], left -= uj[m] * uj[m];
            ui[j] = s / sqrt(left);
        }
    }
    ui = u;
    for (int i = 0; i < k; i++, ui += i - 1) {
        double after = 1;
        for (int j = 0; j < i; j++) after -= ui[j] * ui[j];
        for (int j = i; j-- > 0;) {
            double l = ui[j];
            ui[j] = asinh(l / sqrt(after));
            after += l * l;
        }
    }
}

/* df/dL: for R as in spd_grad() */
static double by_factor(int k, int i, int j, const double *L, const double *dx, int of_corr)
{
    double s = 0;
    if (!dx) return 0;
    if (!of_corr) return dx[i * k + j];
    for (int m = j; m < k; m++) s += (dx[i * k + m] + dx[m * k + i]) * L[m * k + j];
    return s;
}

/* Backwards through a row: `back` is df/d log w_ij */
static void corr_grad(int k, const double *u, const double *dx, double jac, int of_corr, double *du,
                      double *work)
{
    double *L = work, *w = work + k * k;
    chol_corr(k, u, L);
    for (int i = 0; i < k; i++, u += i - 1, du += i - 1) {
        double logw = 0;
        for (int j = 0; j < i; j++, logw += log_sech(u[j - 1])) w[j] = exp(logw);
        double back = by_factor(k, i, i, L, dx, of_corr) * L[i * k + i];
        if (of_corr) back += jac * (k - 1 - i);
        for (int j = i; j-- > 0;) {
            double d = by_factor(k, i, j, L, dx, of_corr), t = tanh(u[j]);
            du[j] += d * w[j] * exp(2 * log_sech(u[j])) - t * (back + 2 * jac);
            back += d * t * w[j] + jac;
        }
    }
}

/* -------------------------------------------------------------------------------- */

double constrain(enum domain d, double lo, double hi, int n, const double *u, double *x)
{
    double logj = 0;
    if (d == SIMPLEX) return simplex(n, u, x);
    if (d == SPD) return spd(matrix_order(n), u, x);
    if (d == CORR) return corr(matrix_order(n), u, x);
    if (d == CHOL_CORR) return chol_corr(matrix_order(n), u, x);
    narrow(d, &lo, &hi);
    for (int i = 0; i < n; i++) {
        struct scalar s = scalar(lo, hi, u[i]);
        x[i] = s.x;
        logj += s.logj;
    }
    return logj;
}

void unconstrain(enum domain d, double lo, double hi, int n, const double *x, double *u)
{
    if (d == SIMPLEX) {
        unsimplex(n, x, u);
    } else if (d == SPD) {
        unspd(matrix_order(n), x, u);
    } else if (d == CORR) {
        uncorr(matrix_order(n), x, u);
    } else if (d == CHOL_CORR) {
        unchol_corr(matrix_order(n), x, u);
    } else {
        narrow(d, &lo, &hi);
        for (int i = 0; i < n; i++) u[i] = unscalar(lo, hi, x[i]);
    }
}

void constrain_grad(enum domain d, double lo, double hi, int n, const double *u, const double *x,
                    const double *dx, double jac, double *du, double *work)
{
    (void)x;
    if (d == SIMPLEX) {
        simplex_grad(n, u, dx, jac, du, work);
    } else if (d == SPD) {
        spd_grad(matrix_order(n), u, dx, jac, du, work);
    } else if (d == CORR || d == CHOL_CORR) {
        corr_grad(matrix_order(n), u, dx, jac, d == CORR, du, work);
    } else {
        narrow(d, &lo, &hi);
        for (int i = 0; i < n; i++) {
            struct scalar s = scalar(lo, hi, u[i]);
            du[i] += (dx ? dx[i] * s.dx : 0) + jac * s.dlogj;
        }
    }
}

double unconstrain_slope(enum domain d, double lo, double hi, double x)
{
    narrow(d, &lo, &hi);
    return unscalar_slope(lo, hi, x);
}
