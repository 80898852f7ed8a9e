/* test_dist_draws.c: all rows of dist.def, at each record's own points: densities integrate to
   one, draws follow them, gradients are their slopes; the same when truncated.
   Seeds are fixed.  Statistical bounds: 6.5 standard errors (1e-10 each), Kolmogorov-Smirnov
   at 3.3/sqrt(n) (7e-10), chi-square at 60 (below 1e-9): about 600 of them, so a correct
   program would fail for fewer than one seed in a million. */
#include <stdlib.h>

#include "dist/math.h"
#include "dist_at.h"

enum { N = 20000 };
static double draw[MOST * N];

/* Is its distribution function a sum or an integral? */
static bool is_slow(const struct dist *d)
{
    return d == &dist_noncentral_t || d == &dist_noncentral_chi_square || d == &dist_von_mises ||
           d == &dist_skew_normal;
}

/* ---- densities integrate to one, and to the moments --------------------------------- */

/* Integrals of p, x p and x^2 p over [lo, hi] cut with the domain: by the trapezoidal rule
   in t, x = constrain(c + s sinh t), with c and s from the quartiles. */
static void integrate(const struct at *it, double (*logp)(const struct at *, const double *),
                      double lo, double hi, double m[3])
{
    double q1 = it->d->quantile(0.25, it->p), q3 = it->d->quantile(0.75, it->p), u1, u3;
    if (q1 <= lo || q3 >= hi)
        u1 = -1, u3 = 1;
    else {
        unconstrain(it->d->domain, lo, hi, 1, &q1, &u1);
        unconstrain(it->d->domain, lo, hi, 1, &q3, &u3);
    }
    double c = (u1 + u3) / 2, s = fabs(u3 - u1) / 2; /* t = 0 at double_exponential's kink */
    double h = is_slow(it->d) ? 0.05 : 0.01;
    m[0] = m[1] = m[2] = 0;
    for (double t = -60; t <= 60; t += h) {
        double u = c + s * sinh(t), x, lj = constrain(it->d->domain, lo, hi, 1, &u, &x);
        double f = exp(logp(it, &x) + lj) * s * cosh(t) * h;
        if (!(f > 0)) continue;
        m[0] += f;
        m[1] += f * x;
        m[2] += f * x * x;
    }
}

static void integrals(void **state)
{
    (void)state;
    for_each_try(it)
    {
        double m[3] = {0}, lo, hi, mean, var;
        if (!it.d->logp) continue;
        at_bounds(&it, &lo, &hi);
        int known = it.d->moments && it.d->moments(it.dim + 1, it.p, &mean, &var) == 0;
        if (at_discrete(&it))
            for (double x = 0; x < 3000; x++) {
                double f = exp(at_logp(&it, &x));
                m[0] += f, m[1] += f * x, m[2] += f * x * x;
            }
        else
            integrate(&it, at_logp, lo, hi, m);
        check(&it, fabs(m[0] - 1) < 2e-5, "integrates to %.12g", m[0]);
        if (!known) continue;
        check(&it, fabs(m[1] - mean) < 2e-5 * (sqrt(var) + fabs(mean)), "mean %g, not %g", m[1],
              mean);
        double v = m[2] - m[1] * m[1];
        check(&it, fabs(v - var) < 1e-4 * (var + mean * mean), "variance %g, not %g", v, var);
    }
}

/* Several dimensions: the trapezoidal rule on the unconstrained scale, where a smooth
   density that falls off on all sides is integrated with a handful of points per side. */
static void integrals_vectors(void **state)
{
    (void)state;
    struct stream s = {.seed = 7, .node = 3};
    for_each_try(it)
    {
        int k = unconstrained_size(it.d->domain, it.nx), G = 81, n = 2000;
        if (it.d->cdf || k < 1 || k > 3) continue;
        if (it.d == &dist_scaled_wishart && k > 1) continue; /* heavy tails; test_jags.py has it */
        double lo[3], hi[3], x[MOST], u[MOST], sum = 0, cell = 1;
        at_draw(&it, &s, n, draw);
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < it.nx; j++) x[j] = draw[j * n + i];
            unconstrain(it.d->domain, -INFINITY, INFINITY, it.nx, x, u);
            for (int j = 0; j < k; j++) {
                lo[j] = i ? fmin(lo[j], u[j]) : u[j];
                hi[j] = i ? fmax(hi[j], u[j]) : u[j];
            }
        }
        for (int j = 0; j < k; j++) {
            double mid = (lo[j] + hi[j]) / 2, half = hi[j] - lo[j]; /* twice as wide */
            lo[j] = mid - half;
            cell *= 2 * half / (G - 1);
            hi[j] = mid + half;
        }
        for (long g = 0, last = lround(pow(G, k)); g < last; g++) {
            long r = g;
            for (int j = 0; j < k; j++, r /= G)
                u[j] = lo[j] + (hi[j] - lo[j]) * (double)(r % G) / (G - 1);
            double lj = constrain(it.d->domain, -INFINITY, INFINITY, it.nx, u, x);
            double f = exp(at_logp(&it, x) + lj);
            if (f > 0) sum += f * cell;
        }
        check(&it, fabs(sum - 1) < 2e-3, "integrates to %.9g", sum);
    }
}

/* Categories and tables of counts: all values, one by one. */
static double sum_counts(const struct at *it, int j, double left, double *x)
{
    double sum = 0;
    if (j == it->nx - 1) {
        x[j] = left;
        return exp(at_logp(it, x));
    }
    for (x[j] = 0; x[j] <= left; x[j]++) {
        double here = x[j];
        sum += sum_counts(it, j + 1, left - here, x);
        x[j] = here;
    }
    return sum;
}

static void sums(void **state)
{
    (void)state;
    for_each_try(it)
    {
        double x[MOST], sum = 0;
        if (it.d->domain == INDEX)
            for (x[0] = 1; x[0] <= it.np; x[0]++) sum += exp(at_logp(&it, x));
        else if (it.d->domain == COUNTS && it.p[it.np - 1] < 20)
            sum = sum_counts(&it, 0, it.p[it.np - 1], x);
        else
            continue;
        check(&it, fabs(sum - 1) < 1e-12, "sums to %.15g", sum);
    }
}

/* ---- draws -------------------------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* sup |F_n - F| sqrt(n); for counts it is smaller still. */
static double distance(double *x, int n, double (*F)(const void *, double), const void *arg)
{
    double sup = 0;
    qsort(x, (size_t)n, sizeof *x, ascending);
    for (int i = 0; i < n;) {
        int j = i;
        while (j < n && x[j] == x[i]) j++; /* i draws below, j up to here */
        sup = fmax(sup, fabs(F(arg, x[i]) - (double)j / n));
        sup = fmax(sup, fabs(F(arg, nextafter(x[i], -INFINITY)) - (double)i / n));
        i = j;
    }
    return sup * sqrt(n);
}

static double own_cdf(const void *arg, double x)
{
    const struct at *it = arg;
    return it->d->cdf(x, it->p);
}

/* For counts without a cdf. */
static double summed_cdf(const void *arg, double x)
{
    double sum = 0;
    for (double k = 0; k <= x; k++) sum += exp(at_logp(arg, &k));
    return sum;
}

static void draws(void **state)
{
    (void)state;
    struct stream s = {.seed = 20, .node = 1};
    for_each_try(it)
    {
        s.node = at_node(&it, t_);
        at_draw(&it, &s, N, draw);
        for (int i = 0; i < N * it.nx; i++) check(&it, isfinite(draw[i]), "draw %g", draw[i]);
        if (it.d->logp) {
            double D = distance(draw, N, it.d->cdf ? own_cdf : summed_cdf, &it);
            check(&it, D < 3.3, "draws are %g from the cdf", D);
        } else if (it.d->domain == INDEX) {
            double chi2 = 0, count[MOST] = {0};
            for (int i = 0; i < N; i++) count[(int)draw[i]]++;
            for (int j = 1; j <= it.np; j++) {
                double x = j, e = N * exp(at_logp(&it, &x));
                chi2 += e > 0 ? (count[j] - e) * (count[j] - e) / e : count[j] > 0 ? INFINITY : 0;
            }
            check(&it, chi2 < 60, "chi-square %g", chi2);
        }
    }
}

/* Means and variances of vectors' elements. */
static void moments(void **state)
{
    (void)state;
    struct stream s = {.seed = 21, .node = 1};
    for_each_try(it)
    {
        double mean[MOST], var[MOST];
        if (it.d->logp || !it.d->moments || it.d->moments(it.dim + 1, it.p, mean, var)) continue;
        s.node = at_node(&it, t_);
        at_draw(&it, &s, N, draw);
        for (int j = 0; j < it.nx; j++) {
            double m1 = 0, m2 = 0, m4 = 0, *x = draw + j * N;
            for (int i = 0; i < N; i++) {
                double e = x[i] - mean[j];
                m1 += e / N, m2 += e * e / N, m4 += e * e * e * e / N;
            }
            check(&it, fabs(m1) < 6.5 * sqrt(var[j] / N) + 1e-12, "element %d: mean off by %g", j,
                  m1);
            check(&it, fabs(m2 - var[j]) < 6.5 * sqrt((m4 - m2 * m2) / N) + 1e-12,
                  "element %d: variance %g, not %g", j, m2, var[j]);
        }
    }
}

/* E d log p / d(argument) = 0 and, on the unconstrained scale, E d log p / du = 0: samplers,
   densities, gradients and bijectors agree.  Not where the support moves. */
static void scores(void **state)
{
    (void)state;
    struct stream s = {.seed = 22, .node = 1};
    for_each_try(it)
    {
        double m1[2 * MOST] = {0}, m2[2 * MOST] = {0}, g[2 * MOST], x[MOST], u[MOST], du[MOST];
        int nu = unconstrained_size(it.d->domain, it.nx), n = 5000;
        s.node = at_node(&it, t_);
        if (it.d->bounds && !at_discrete(&it)) continue;
        at_draw(&it, &s, n, draw);
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < it.nx; j++) x[j] = draw[j * n + i];
            if (at_logp(&it, x) == -INFINITY) continue; /* beta(0.3, 0.4) rounds to 1 */
            at_grad(&it, x, g);
            if (nu > 0) {
                double work[2 * MOST];
                memset(du, 0, sizeof du);
                unconstrain(it.d->domain, -INFINITY, INFINITY, it.nx, x, u);
                constrain_grad(it.d->domain, -INFINITY, INFINITY, it.nx, u, x, g, 1, du, work);
            }
            for (int j = 0; j < (nu > 0 ? nu : 0); j++) g[j] = du[j];
            for (int j = nu > 0 ? nu : 0; j < it.nx; j++) g[j] = 0;
            for (int j = 0; j < it.nx + it.np; j++) m1[j] += g[j] / n, m2[j] += g[j] * g[j] / n;
        }
        for (int j = 0; j < it.nx + it.np; j++)
            check(&it,
                  (j >= it.nx && it.p[j - it.nx] == 0 && it.d->domain == INDEX) ||
                      /* at the edge */ fabs(m1[j]) <= 6.5 * sqrt(m2[j] / n) + 1e-9,
                  "mean score %d is %g +- %g", j, m1[j], sqrt(m2[j] / n));
    }
}

/* ---- gradients ---------------------------------------------------------------------- */

/* d f / d v[e] with Richardson's extrapolation. */
static double slope(double (*f)(const struct at *, const double *), struct at *it, double *x,
                    double *v, int e, int other, double sign, double h)
{
    double a = v[e], b = other >= 0 ? v[other] : 0, s[2];
    for (int i = 0; i < 2; i++, h /= 2) {
        double up, down;
        v[e] = a + h;
        if (other >= 0 && other != e) v[other] = b + sign * h;
        up = f(it, x);
        v[e] = a - h;
        if (other >= 0 && other != e) v[other] = b - sign * h;
        down = f(it, x);
        s[i] = (up - down) / (2 * h);
        v[e] = a;
        if (other >= 0) v[other] = b;
    }
    return (4 * s[1] - s[0]) / 3;
}

static void gradient_at(struct at *it, double *x, double (*f)(const struct at *, const double *),
                        const double *g, double tol)
{
    double base = f(it, x), sign, edge[] = {0, 0, it->p[it->np], it->p[it->np + 1]};
    at_bounds(it, &edge[0], &edge[1]);
    for (int k = -1; k < it->d->narg; k++) { /* the value is argument -1 */
        enum domain d = k < 0 ? it->d->domain : it->d->arg[k].domain;
        int first = k < 0 ? 0 : at_first(it, k), n = it->dim[1 + k];
        double *v = k < 0 ? x : it->p + first;
        const double *gv = k < 0 ? g : g + it->nx + first;
        for (int e = 0; e < n; e++) {
            if (domains[d].discrete) {
                check(it, gv[e] == 0, "derivative by a discrete number");
                continue;
            }
            /* kernels normalise weights, so these are free */
            int other = partner(k >= 0 && d == SIMPLEX ? WEIGHTS : d, e, n, &sign);
            double h = 1e-4 * fabs(v[e]), want = gv[e] + (other >= 0 ? sign * gv[other] : 0);
            if (d == UNIT || d == OPEN_UNIT || d == SIMPLEX) h = fmin(h, 1e-4 * (1 - v[e]));
            if (other >= 0 && d == SIMPLEX) h = fmin(h, 1e-4 * v[other]);
            for (int i = 0; i < 4 && it->nx == 1; i++) /* no step over a bound */
                if (isfinite(edge[i])) h = fmin(h, 0.2 * fabs(x[0] - edge[i]));
            if (other == e || v[e] == 0 || h == 0) continue;
            bool kink = it->d == &dist_double_exponential || it->d == &dist_skew_double_exponential;
            if (kink && fabs(x[0] - it->p[0]) < 2 * h) continue;
            double fd = slope(f, it, x, v, e, other, sign, h);
            double noise = 4e-15 * (1 + fabs(base)) / h;
            check(it, fabs(fd - want) < tol * (1 + fabs(want)) + noise,
                  "x = %g: d/d%s[%d] is %.12g, not %.12g", x[0], k < 0 ? "x" : it->d->arg[k].name,
                  e, want, fd);
        }
    }
}

static void gradients(void **state)
{
    (void)state;
    struct stream s = {.seed = 23, .node = 1};
    for_each_try(it)
    {
        double all[MOST * 20], x[MOST], g[2 * MOST];
        s.node = at_node(&it, t_);
        at_draw(&it, &s, 20, all);
        for (int i = 0; i < 20; i++) {
            for (int j = 0; j < it.nx; j++) x[j] = all[j * 20 + i];
            at_grad(&it, x, g);
            gradient_at(&it, x, at_logp, g, 1e-6);
        }
    }
}

/* ---- truncation --------------------------------------------------------------------- */

/* As a distribution whose last two arguments are the bounds. */
static double logp_cut(const struct at *it, const double *x)
{
    const double *a[3 + DIST_ARGS] = {x};
    double v;
    for (int k = 0; k < it->np + 2; k++) a[1 + k] = &it->p[k];
    truncated_logp(it->d, 1, &v, a);
    return v;
}

static double cdf_cut(const void *arg, double x)
{
    const struct at *it = arg;
    double lo = it->p[it->np], hi = it->p[it->np + 1];
    int counts = at_discrete(it);
    double a = it->d->ccdf(counts ? ceil(lo) - 1 : lo, it->p), b = it->d->ccdf(hi, it->p);
    return x < lo ? 0 : x >= hi ? 1 : (a - it->d->ccdf(x, it->p)) / (a - b);
}

static void cut_once(struct at *it, double lo, double hi, struct stream *s)
{
    double m[3] = {0}, slo, shi, g[3 + DIST_ARGS], one = 1, *da[3 + DIST_ARGS];
    const double *a[3 + DIST_ARGS];
    enum { MANY = 1000, FEW = 200 };
    static double full[2 + DIST_ARGS][MANY];
    int M = is_slow(it->d) ? FEW : MANY;
    it->p[it->np] = lo;
    it->p[it->np + 1] = hi;
    at_bounds(it, &slo, &shi);
    if (at_discrete(it))
        for (double x = 0; x < 3000; x++) m[0] += exp(logp_cut(it, &x));
    else
        integrate(it, logp_cut, fmax(lo, slo), fmin(hi, shi), m);
    check(it, fabs(m[0] - 1) < 2e-5, "T(%g, %g) integrates to %.9g", lo, hi, m[0]);
    for (int k = 0; k < it->np + 2; k++) {
        for (int i = 0; i < M; i++) full[k][i] = it->p[k];
        a[k] = full[k];
    }
    s->node++;
    truncated_sample(it->d, s, M, draw, a);
    for (int i = 0; i < M; i++) check(it, draw[i] >= lo && draw[i] <= hi, "draw %g", draw[i]);
    double x = draw[17], v = logp_cut(it, &x), D = distance(draw, M, cdf_cut, it);
    check(it, D < 3.3, "T(%g, %g): draws are %g from the cdf", lo, hi, D);
    a[0] = &x;
    for (int k = 0; k < it->np + 3; k++) {
        if (k) a[k] = &it->p[k - 1];
        da[k] = &g[k];
    }
    truncated_grad(it->d, 1, &v, &one, a, da);
    if (x > lo && x < hi) gradient_at(it, &x, logp_cut, g, 1e-5);
    for (int k = 0; k < 2; k++) { /* by the bounds */
        double *b = &it->p[it->np + k], h = 1e-4 * fabs(x - *b), got = g[1 + it->np + k];
        if (at_discrete(it) || isinf(*b) || *b == slo || *b == shi) continue;
        double want = slope(logp_cut, it, &x, b, 0, -1, 1, h);
        check(it, fabs(got - want) < 1e-5 * (1 + fabs(want)) + 4e-15 * (1 + fabs(v)) / h,
              "T(%g, %g): by bound %d %g, not %g", lo, hi, k, got, want);
    }
}

/* A normal where both tails are 0: log densities by mpmath; E[X | X > 39] is 39.0256074 */
static void far_out(struct at *z, struct stream *s)
{
    enum { M = 2000 };
    static const double at[][4] = {/* lower, upper, x, log p */
                                   {39, INFINITY, 39, 3.6642180311728717},
                                   {39, INFINITY, 39.25, -6.1170319688271283},
                                   {-INFINITY, -100, -100.0625, -1.6466829639995841},
                                   {1000, 1000.001, 1000.0005, 6.8664304264297347}};
    static double full[4][M];
    const double *a[] = {full[0], full[1], full[2], full[3]};
    for (int i = 0; i < 4; i++) {
        double x = at[i][2], mean = 0;
        z->p[2] = at[i][0], z->p[3] = at[i][1];
        check(z, near(logp_cut(z, &x), at[i][3], 1e-11), "T(%g, %g) at %g: %.17g", at[i][0],
              at[i][1], x, logp_cut(z, &x));
        for (int k = 0; k < 4; k++)
            for (int j = 0; j < M; j++) full[k][j] = z->p[k];
        s->node++;
        truncated_sample(z->d, s, M, draw, a);
        for (int j = 0; j < M; j++) {
            check(z, draw[j] >= at[i][0] && draw[j] <= at[i][1], "draw %g", draw[j]);
            mean += draw[j] / M;
        }
        if (at[i][0] == 39)
            check(z, fabs(mean - 39.0256074) < 6.5 * 0.0256 / sqrt(M), "mean %g", mean);
    }
}

static void truncation(void **state)
{
    (void)state;
    struct stream s = {.seed = 27, .node = 1};
    for_each_try(it)
    {
        if (!it.d->cdf) continue;
        const double *p = it.p;
        double q[] = {it.d->quantile(0.2, p), it.d->quantile(0.7, p), it.d->quantile(0.93, p)};
        cut_once(&it, q[0], q[1], &s);
        cut_once(&it, q[2], INFINITY, &s);
        cut_once(&it, -INFINITY, q[0], &s);
        cut_once(&it, -INFINITY, INFINITY, &s);
    }
    struct at z = {&dist_normal, {1, 1, 1}, 1, 2, {0, 1}};
    cut_once(&z, 8, INFINITY, &s);
    cut_once(&z, -INFINITY, -20, &s);
    cut_once(&z, 30, 30.5, &s);
    far_out(&z, &s);
    double x = 3, v;
    z.p[2] = 4, z.p[3] = 2; /* empty */
    assert_true(isnan(logp_cut(&z, &x)));
    const double *a[] = {&z.p[0], &z.p[1], &z.p[2], &z.p[3]};
    truncated_sample(&dist_normal, &s, 1, &v, a);
    assert_true(isnan(v));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(integrals), cmocka_unit_test(integrals_vectors), cmocka_unit_test(sums),
    cmocka_unit_test(draws),     cmocka_unit_test(moments),           cmocka_unit_test(scores),
    cmocka_unit_test(gradients), cmocka_unit_test(truncation),
};
RUN(tests)
