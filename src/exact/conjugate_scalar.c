/* conjugate_scalar.c: families of one scalar with two coefficients: probes, the fit, and its
   derivatives. */
#include <string.h>

#include "base/simd.h"
#include "exact/conjugate.h"

/* Points relative to the center: itself, the two probes, checks of the fit near and far. */
static const double factors[3 + CONJUGATE_CHECKS] = {1,   0.5, 2,    0.9, 1.15, 0.3, 3.7,
                                                     0.1, 11,  1e-3, 1e3, 1e-6, 1e6};

static void each(int n, double *to, double x)
{
    for (int b = 0; b < n; b++) to[b] = x;
}

void scalar_start(const struct fit *f) { each(f->lanes, f->center, 1); }

WIDE static void multiply(int n, const double *x, double by, double most, double *out)
{
    EACH(b, n)
    {
        double y = x[b] * by;
        out[b] = y < most ? y : most;
    }
}

void scalar_values(const struct fit *f, int point, double *var)
{
    multiply(f->lanes, f->center, factors[point], f->family->most, var);
    f->family->value(f->lanes, var, var);
}

/* T_k at the probes minus T_k at the center: difference(j, k) is the row of probe j + 1. */
static double *difference(const struct fit *f, int j, int k)
{
    return fit_row(f, f->work, 1 + 2 * j + k);
}

WIDE static void subtract(int n, double *x, const double *y) { EACH(b, n) x[b] -= y[b]; }

static void differences(const struct fit *f)
{
    double *var = f->work, *zero[2] = {difference(f, 2, 0), difference(f, 2, 1)};
    for (int j = 0; j < 3; j++) {
        scalar_values(f, (j + 1) % 3, var);
        for (int k = 0; k < 2; k++) f->family->statistic(f, k, var, difference(f, j, k));
    }
    for (int j = 0; j < 2; j++)
        for (int k = 0; k < 2; k++) subtract(f->lanes, difference(f, j, k), zero[k]);
}

/* D theta = param, with D the differences of the statistics; or the transpose of D */
WIDE static void solve_two(int n, const double *restrict d00, const double *restrict d01,
                           const double *restrict d10, const double *restrict d11,
                           double *restrict x, double *restrict y)
{
    EACH(b, n)
    {
        double det = d00[b] * d11[b] - d01[b] * d10[b];
        double first = (x[b] * d11[b] - y[b] * d01[b]) / det;
        y[b] = (y[b] * d00[b] - x[b] * d10[b]) / det;
        x[b] = first;
    }
}

WIDE static void add_to(int n, double *x, double by) { EACH(b, n) x[b] += by; }

void scalar_solve(const struct fit *f)
{
    differences(f);
    solve_two(f->lanes, difference(f, 0, 0), difference(f, 0, 1), difference(f, 1, 0),
              difference(f, 1, 1), f->param, fit_row(f, f->param, 1));
    for (int k = 0; k < 2; k++) add_to(f->lanes, fit_row(f, f->param, k), f->family->shift[k]);
}

/* log Z = log f(center) - log p(center; theta): derivatives by theta become, by the differences,
   derivatives by log f at the probes. */
void scalar_weigh(const struct fit *f)
{
    double *x = f->weight, *y = fit_row(f, f->weight, 1);
    differences(f);
    solve_two(f->lanes, difference(f, 0, 0), difference(f, 1, 0), difference(f, 0, 1),
              difference(f, 1, 1), x, y);
    for (int b = 0; b < f->lanes; b++) x[b] = -x[b], y[b] = -y[b];
}

/* The center goes to alpha / beta.  Where an argument is negative, if only by rounding, it goes a
   large step in the direction of positive ones. */
void scalar_move(const struct fit *f)
{
    enum { STEP = 100000000 };
    const double *alpha = f->param, *beta = fit_row(f, f->param, 1);
    for (int b = 0; b < f->live; b++) {
        if (f->state[b] != FIT_MOVING) continue;
        double x = f->center[b], up = alpha[b], down = beta[b] * x;
        double ratio = up > 0 ? (down > 0 ? up / down : INFINITY) : down > 0 ? 0 : 1;
        double to = ratio >= 1. / STEP ? ratio <= STEP ? x * ratio : x * STEP : x / STEP;
        if (to > f->family->most / 2) to = f->family->most / 2; /* the probes are beyond it */
        if (up > 0 && down > 0 && ((ratio >= 0.5 && ratio <= 2) || to == x))
            f->state[b] = FIT_FOUND;
        else
            f->center[b] = to;
    }
}

void scalar_density(const struct fit *f, const struct dist *dist, const double *x, double *out,
                    double *by_param)
{
    const double *a[3] = {x, f->param, fit_row(f, f->param, 1)};
    dist->logp(dist, f->lanes, out, a);
    if (!by_param) return;
    double *da[3] = {NULL, by_param, fit_row(f, by_param, 1)}, *one = fit_row(f, f->work, 1);
    each(f->lanes, one, 1);
    dist->grad(dist, f->lanes, out, one, a, da);
}
