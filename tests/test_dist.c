/* test_dist.c: one set of tests for all rows of dist.def, at each record's own points.
   Seeds are fixed.  Statistical bounds: 6.5 standard errors (1e-10 each), Kolmogorov-Smirnov
   at 3.3/sqrt(n) (7e-10), chi-square at 60 (below 1e-9): about 600 of them, so a correct
   program would fail for fewer than one seed in a million. */
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_sf.h>
#include <stdlib.h>

#include "dist/math.h"
#include "dist_at.h"
#include "run.h"

enum { N = 20000 };
static double draw[MOST * N];

#define check(it, ok, ...)                                                                         \
    do {                                                                                           \
        if (!(ok)) {                                                                               \
            fprintf(stderr, "%s(%g, %g, %g): ", (it)->d->name, (it)->p[0], (it)->p[1],             \
                    (it)->p[2]);                                                                   \
            fail_msg(__VA_ARGS__);                                                                 \
        }                                                                                          \
    } while (0)

static int near(double a, double b, double tol)
{
    return a == b || fabs(a - b) <= tol * (1 + fabs(a) + fabs(b)) || (isnan(a) && isnan(b));
}

/* ---- the table ---------------------------------------------------------------- */

static void table(void **state)
{
    (void)state;
    int n = 0;
    for (int i = 0; dists[i]; i++, n++) {
        const struct dist *d = dists[i];
        assert_ptr_equal(dist_find(d->name, strlen(d->name)), d); /* so names are unique */
        assert_true(d->what && *d->what && d->narg >= 1 && d->narg <= DIST_ARGS);
        assert_true(d->try_at[1].n[0] > 0);
        assert_true(!d->logp == !d->grad && !d->logp == !d->sample && !d->logp != !d->blogp);
        assert_true(!d->cdf == !d->quantile && !d->ccdf == !d->cquantile);
        assert_true(d->logp || (d->bgrad && d->bsample));
        assert_true(d->size || domains[d->domain].rank == 0);
    }
    assert_true(n >= 32);
    assert_null(dist_find("norm", 4));
    assert_null(dist_find("", 0));
    for_each_try(it) for (int k = 0; k < it.d->narg; k++)
        check(&it, domain_holds(it.d->arg[k].domain, it.p + at_first(&it, k), it.dim[1 + k]),
              "%s is outside its domain", it.d->arg[k].name);
}

static void aliases(void **state)
{
    (void)state;
    for (const struct dist_alias *a = dist_aliases; a->name; a++) {
        const struct dist *d = dist_find(a->meaning, strcspn(a->meaning, "("));
        assert_non_null(d);
        int args = 0;
        for (const char *s = a->args; *s; args++) {
            size_t name = strcspn(s, ":");
            assert_true(name > 0 && s[name] == ':');
            size_t len = strcspn(s + name + 1, ",");
            assert_true(domain_find(s + name + 1, len) >= 0);
            s += name + 1 + len;
            s += *s ? strspn(s, ", ") : 0;
        }
        assert_true(args >= 1 && args <= DIST_ARGS);
    }
}

static void domain(void **state)
{
    (void)state;
    double half = 0.5, two = 2, neg = -1, zero = 0, nan = NAN, inf = INFINITY;
    assert_true(domain_holds(REAL, &neg, 1) && !domain_holds(REAL, &inf, 1));
    assert_true(domain_holds(POSITIVE, &half, 1) && !domain_holds(POSITIVE, &zero, 1));
    assert_true(domain_holds(NONNEGATIVE, &zero, 1) && !domain_holds(NONNEGATIVE, &neg, 1));
    assert_true(domain_holds(UNIT, &zero, 1) && !domain_holds(OPEN_UNIT, &zero, 1));
    assert_true(domain_holds(COUNT, &two, 1) && !domain_holds(COUNT, &half, 1));
    assert_true(domain_holds(BINARY, &zero, 1) && !domain_holds(BINARY, &two, 1));
    assert_true(domain_holds(INDEX, &two, 1) && !domain_holds(INDEX, &zero, 1));
    for (enum domain d = 0; d < NDOMAIN; d++) assert_false(domain_holds(d, &nan, 1));
    double w[] = {0.2, 0.3, 0.5}, far[] = {0.2, 0.3, 0.6}, none[] = {0, 0, 0};
    assert_true(domain_holds(SIMPLEX, w, 3) && !domain_holds(SIMPLEX, far, 3));
    assert_true(domain_holds(WEIGHTS, far, 3) && !domain_holds(WEIGHTS, none, 3));
    double spd[] = {2, 1, 1, 2}, not [] = {1, 2, 2, 1}, skew[] = {2, 1, 0.5, 2};
    double three[] = {1, 0.9, -0.9, 0.9, 1, 0.9, -0.9, 0.9, 1}; /* minors fine, determinant < 0 */
    assert_true(domain_holds(SPD, spd, 4));
    assert_false(domain_holds(SPD, not, 4) || domain_holds(SPD, skew, 4) ||
                 domain_holds(SPD, three, 9) || domain_holds(SPD, spd, 3));
}

/* ---- numbers from elsewhere ----------------------------------------------------- */

static double logp3(const char *name, double x, double a, double b, double c)
{
    const struct dist *d = dist_find(name, strlen(name));
    struct at it = {.d = d, .nx = 1, .np = d->narg, .dim = {1, 1, 1, 1}, .p = {a, b, c}};
    return at_logp(&it, &x);
}

#define same(name, x, a, b, c, pdf) assert_true(near(logp3(name, x, a, b, c), log(pdf), 1e-12))

/* GSL's densities share no code with ours. */
static void oracle(void **state)
{
    (void)state;
    const double xs[] = {0.137, 0.62, 2.385, 7.1};
    for (int i = 0; i < 4; i++) {
        double x = xs[i], k = floor(2 * x);
        same("normal", x, 0.3, 1.7, 0, gsl_ran_gaussian_pdf(x - 0.3, 1.7));
        same("student_t", x, 3.7, 0.3, 1.7, gsl_ran_tdist_pdf((x - 0.3) / 1.7, 3.7) / 1.7);
        same("cauchy", x, 0.3, 1.7, 0, gsl_ran_cauchy_pdf(x - 0.3, 1.7));
        same("double_exponential", x, 0.3, 1.7, 0, gsl_ran_laplace_pdf(x - 0.3, 1.7));
        same("logistic", x, 0.3, 1.7, 0, gsl_ran_logistic_pdf(x - 0.3, 1.7));
        same("lognormal", x, 0.3, 1.7, 0, gsl_ran_lognormal_pdf(x, 0.3, 1.7));
        same("exponential", x, 1.7, 0, 0, gsl_ran_exponential_pdf(x, 1 / 1.7));
        same("gamma", x, 2.3, 1.7, 0, gsl_ran_gamma_pdf(x, 2.3, 1 / 1.7));
        same("gamma", x, 0.3, 0.7, 0, gsl_ran_gamma_pdf(x, 0.3, 1 / 0.7));
        same("inv_gamma", x, 2.3, 1.7, 0, gsl_ran_gamma_pdf(1 / x, 2.3, 1 / 1.7) / (x * x));
        same("weibull", x, 2.3, 1.7, 0, gsl_ran_weibull_pdf(x, 1.7, 2.3));
        same("chi_square", x, 3.3, 0, 0, gsl_ran_chisq_pdf(x, 3.3));
        same("pareto", x, 0.1, 1.7, 0, gsl_ran_pareto_pdf(x, 1.7, 0.1));
        same("half_normal", x, 1.7, 0, 0, 2 * gsl_ran_gaussian_pdf(x, 1.7));
        same("half_cauchy", x, 1.7, 0, 0, 2 * gsl_ran_cauchy_pdf(x, 1.7));
        same("uniform", x, -1.5, 8, 0, gsl_ran_flat_pdf(x, -1.5, 8));
        same("beta", x / 8, 2.3, 0.7, 0, gsl_ran_beta_pdf(x / 8, 2.3, 0.7));
        same("bernoulli", i % 2, 0.3, 0, 0, gsl_ran_bernoulli_pdf((unsigned)i % 2, 0.3));
        same("binomial", k, 17, 0.3, 0, gsl_ran_binomial_pdf((unsigned)k, 0.3, 17));
        same("poisson", k, 3.7, 0, 0, gsl_ran_poisson_pdf((unsigned)k, 3.7));
        same("f_dist", x, 2.3, 5.1, 0, gsl_ran_fdist_pdf(x, 2.3, 5.1));
        same("gen_gamma", x, 1, 1 / 1.7, 2.3, gsl_ran_weibull_pdf(x, 1.7, 2.3));
        same("gen_gamma", x, 2.3, 1.7, 1, gsl_ran_gamma_pdf(x, 2.3, 1 / 1.7));
        same("beta_binomial", k, 17, 1, 1, 1. / 18);
        same("neg_binomial", k, 3.7, 0.7, 0,
             gsl_ran_negative_binomial_pdf((unsigned)k, 0.7 / 1.7, 3.7));
    }
    for (double x = 3; x < 8; x++) { /* psi = 1: the plain hypergeometric */
        struct at h = {&dist_noncentral_hypergeometric, {1, 1, 1, 1, 1}, 1, 4, {11, 7, 9, 1}};
        double v = log(gsl_ran_hypergeometric_pdf((unsigned)x, 11, 7, 9));
        assert_true(near(at_logp(&h, &x), v, 1e-12));
    }
    /* a large count: 10^9 choose half of it, by Stirling's series to 1e-9 */
    assert_true(fabs(logp3("binomial", 5e8, 1e9, 0.5, 0) + 0.5 * log(M_PI * 5e8) + 2.5e-10) < 1e-9);
    assert_true(fabs(logp3("poisson", 1e9, 1e9, 0, 0) + 0.5 * log(2 * M_PI * 1e9)) < 1e-9);
}

/* Vectors: GSL again, and formulas by hand. */
static void oracle_vectors(void **state)
{
    (void)state;
    double al[] = {2.3, 0.7, 1.4}, th[] = {0.2, 0.3, 0.5};
    unsigned k[] = {2, 1, 4};
    struct at it = {&dist_dirichlet, {3, 3}, 3, 3, {2.3, 0.7, 1.4}};
    assert_true(near(at_logp(&it, th), gsl_ran_dirichlet_lnpdf(3, al, th), 1e-12));
    struct at mu = {&dist_multinomial, {3, 3, 1}, 3, 4, {0.4, 0.6, 1, 7}}; /* weights: sum 2 */
    double x[] = {2, 1, 4}, y[] = {0.3, -0.7}, c = 2 * 1.5 - 0.6 * 0.6;
    assert_true(near(at_logp(&mu, x), gsl_ran_multinomial_lnpdf(3, th, k), 1e-12));
    struct at ca = {&dist_categorical, {1, 3}, 1, 3, {0.4, 0.6, 1}};
    assert_true(near(at_logp(&ca, x), log(0.3), 1e-14)); /* x = 2 */
    struct at mn = {&dist_multi_normal, {2, 2, 4}, 2, 6, {0, 0, 2, 0.6, 0.6, 1.5}};
    double q = (1.5 * 0.09 + 2 * 0.49 - 2 * 0.6 * 0.3 * -0.7) / c;
    double v = -log(2 * M_PI) - 0.5 * log(c) - 0.5 * q;
    assert_true(near(at_logp(&mn, y), v, 1e-13));
    struct at pr = {
        &dist_multi_normal_prec, {2, 2, 4}, 2, 6, {0, 0, 1.5 / c, -0.6 / c, -0.6 / c, 2 / c}};
    assert_true(near(at_logp(&pr, y), v, 1e-13));
    /* a 1 x 1 Wishart(nu, s) is gamma(nu/2, 1/(2 s)); its inverse is inv_gamma(nu/2, s/2) */
    double z = 1.37;
    struct at w = {&dist_wishart, {1, 1, 1}, 1, 2, {3.1, 0.8}};
    assert_true(near(at_logp(&w, &z), logp3("gamma", z, 1.55, 0.625, 0), 1e-13));
    w.d = &dist_inv_wishart;
    assert_true(near(at_logp(&w, &z), logp3("inv_gamma", z, 1.55, 0.4, 0), 1e-13));
    /* two classes relaxed are a relaxed Bernoulli */
    struct at ro = {&dist_relaxed_onehot, {2, 1, 2}, 2, 3, {0.7, 0.9, 2.1}};
    double s[] = {0.23, 0.77};
    assert_true(near(at_logp(&ro, s), logp3("relaxed_bernoulli", 0.23, 0.7, 0.3, 0), 1e-13));
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
    double c = (u1 + u3) / 2, s = (u3 - u1) / 2, h = 0.01; /* t = 0 at double_exponential's kink */
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

/* ---- draws ------------------------------------------------------------------------- */

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
        s.node++;
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
        s.node++;
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
        s.node++;
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

/* ---- gradients ----------------------------------------------------------------------- */

/* The element of v that element e of an argument or value moves with, so that it stays in
   its domain: the mirror of a matrix, the last of a simplex; -1: none. */
static int partner(enum domain d, int e, int n, double *sign)
{
    int k = 1;
    while (d == SPD && k * k < n) k++;
    *sign = d == SIMPLEX ? -1 : 1;
    if (d == SIMPLEX) return n - 1;
    return d == SPD && e / k != e % k ? e % k * k + e / k : -1;
}

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
            if (it->d == &dist_double_exponential && fabs(x[0] - it->p[0]) < 2 * h)
                continue; /* kink */
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
        s.node++;
        at_draw(&it, &s, 20, all);
        for (int i = 0; i < 20; i++) {
            for (int j = 0; j < it.nx; j++) x[j] = all[j * 20 + i];
            at_grad(&it, x, g);
            gradient_at(&it, x, at_logp, g, 1e-6);
        }
    }
}

/* ---- supports and bad parameters ------------------------------------------------------ */

static void outside(void **state)
{
    (void)state;
    const double bad[] = {NAN, INFINITY, -INFINITY, -1.5, 0, 0.5, 1.5, 1e6};
    struct stream s = {.seed = 24, .node = 1};
    for_each_try(it)
    {
        double x[MOST], y[MOST], lo, hi;
        at_bounds(&it, &lo, &hi);
        at_draw(&it, &s, 1, x);
        check(&it, isfinite(at_logp(&it, x)), "own draw has no density");
        for (int j = 0; j < it.nx; j++)
            for (int b = 0; b < 8; b++) {
                memcpy(y, x, sizeof y);
                double sign;
                int other = partner(it.d->domain == SPD ? SPD : REAL, j, it.nx, &sign);
                y[j] = bad[b];
                if (other >= 0) y[other] = bad[b];
                int in = domain_holds(it.d->domain, y, it.nx) && y[0] >= lo && y[0] <= hi;
                if (in || (domains[it.d->domain].rank && isinf(bad[b]))) continue;
                if (bad[b] == 0 && it.d->domain == POSITIVE) continue; /* the boundary: either */
                double v = at_logp(&it, y);
                check(&it, isnan(bad[b]) ? isnan(v) : v == -INFINITY, "density %g at x[%d] = %g", v,
                      j, bad[b]);
            }
    }
}

static void invalid(void **state)
{
    (void)state;
    const double bad[] = {NAN, INFINITY, -INFINITY, -1.5, 0, 0.5, 1.5};
    struct stream s = {.seed = 25, .node = 1};
    for_each_try(it)
    {
        double x[MOST], y[MOST];
        at_draw(&it, &s, 1, x);
        for (int k = 0; k < it.d->narg; k++) {
            int first = at_first(&it, k), n = it.dim[1 + k];
            enum domain d = it.d->arg[k].domain;
            for (int e = 0; e < n * 7; e++) {
                struct at bent = it;
                double sign;
                int other = partner(d == SPD ? SPD : REAL, e / 7, n, &sign);
                bent.p[first + e / 7] = bad[e % 7];
                if (other >= 0) bent.p[first + other] = bad[e % 7];
                if (domain_holds(d == SIMPLEX ? WEIGHTS : d, bent.p + first, n)) continue;
                at_draw(&bent, &s, 1, y);
                check(&it, isnan(at_logp(&bent, x)), "no NaN for %s = %g", it.d->arg[k].name,
                      bad[e % 7]);
                int some = 0;
                for (int j = 0; j < it.nx; j++) some |= isnan(y[j]);
                check(&it, some, "draw %g for %s = %g", y[0], it.d->arg[k].name, bad[e % 7]);
            }
        }
    }
    assert_true(isnan(logp3("uniform", 1, 2, 1, 0)) && isnan(logp3("uniform", 1, 1, 1, 0)));
    struct at w = {&dist_wishart, {4, 1, 4}, 4, 5, {0.9, 1, 0, 0, 1}};
    double eye[] = {1, 0, 0, 1};
    assert_true(isnan(at_logp(&w, eye)));
}

/* All returns; the sanitizers watch. */
static void extremes(void **state)
{
    (void)state;
    const double odd[] = {NAN,    INFINITY, -INFINITY, 0, -0.0, 1e-300, 5e-324, 1e300,
                          -1e300, DBL_MAX,  1,         3, 1e-8, 1e10,   1e17,   0.5};
    enum { ODD = sizeof odd / sizeof *odd };
    struct stream s = {.seed = 26, .node = 1};
    for_each_try(it)
    {
        double x[MOST], y[MOST * 4], g[2 * MOST];
        for (int k = 0; k < ODD * ODD * ODD; k++) {
            struct at bent = it;
            unsigned r = (unsigned)k;
            for (int j = 0; j < it.np; j++, r = r / ODD + r * 7)
                if (j < 2 || k % 3) bent.p[j] = odd[r % ODD];
            for (int j = 0; j < it.nx; j++) x[j] = odd[(k / ODD + 5 * j + k * j) % ODD];
            if (it.np > 1 && k >= 1024) break; /* enough of them */
            s.first = (uint64_t)k * 4;
            at_draw(&bent, &s, 4, y);
            double v = at_logp(&bent, x);
            at_grad(&bent, x, g);
            check(&bent, !(v == INFINITY), "density is infinite at %g", x[0]);
            if (!it.d->cdf || k % 4) continue;
            double u = it.d->cdf(x[0], bent.p), q = it.d->quantile(0.3, bent.p);
            check(&bent, !(u < 0) && !(u > 1.0001), "cdf(%g) is %g", x[0], u);
            (void)q;
        }
    }
}

/* ---- distribution functions -------------------------------------------------------------- */

static void cdfs(void **state)
{
    (void)state;
    const double us[] = {1e-12, 1e-5, 0.013, 0.2385, 0.5, 0.77, 0.9991, 1 - 1e-9};
    for_each_try(it)
    {
        const struct dist *d = it.d;
        if (!d->cdf) continue;
        for (int i = 0; i < 8; i++) {
            double u = us[i], x = d->quantile(u, it.p), F = d->cdf(x, it.p), y, h;
            if (at_discrete(&it)) {
                check(&it, F >= u * (1 - 1e-12) && (d->cdf(x - 1, it.p) < u), "quantile(%g) is %g",
                      u, x);
                h = F - d->cdf(x - 1, it.p);
                check(&it, near(h, exp(at_logp(&it, &x)), 1e-11), "step of cdf at %g", x);
            } else {
                check(&it, fabs(F - u) < 1e-9 * u + 1e-14 + 1e-16 * fabs(x) * exp(at_logp(&it, &x)),
                      "cdf(quantile(%g)) is %.17g, x = %.17g", u, F, x);
                if (i < 1 || i > 6) continue;
                double a = d->quantile(u - 1e-5 * u * (1 - u), it.p);
                double b = d->quantile(u + 1e-5 * u * (1 - u), it.p);
                h = (d->cdf(b, it.p) - d->cdf(a, it.p)) / (b - a) / exp(at_logp(&it, &x));
                check(&it, fabs(h - 1) < 1e-5, "slope of cdf at %g is off by %g", x, h - 1);
            }
            if (!d->ccdf) continue;
            check(&it, fabs(F + d->ccdf(x, it.p) - 1) < 1e-12, "cdf + ccdf is not 1 at %g", x);
            y = d->cquantile(u, it.p);
            F = d->ccdf(y, it.p);
            if (at_discrete(&it))
                check(&it, F <= u * (1 + 1e-12) && d->ccdf(y - 1, it.p) > u, "cquantile(%g) is %g",
                      u, y);
            else
                check(&it, fabs(F - u) < 1e-9 * u + 1e-14 + 1e-16 * fabs(y) * exp(at_logp(&it, &y)),
                      "ccdf(cquantile(%g)) is %.17g", u, F);
        }
    }
}

/* Incomplete gamma and beta against GSL. */
static void special(void **state)
{
    (void)state;
    const double as[] = {0.03, 0.7, 2.385, 31.7, 1234.5, 4e5},
                 zs[] = {0.01, 0.5, 0.93, 1, 1.1, 2.5};
    gsl_error_handler_t *old = gsl_set_error_handler_off();
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++) {
            double a = as[i], x = a * zs[j];
            assert_true(fabs(gamma_p(a, x) - gsl_sf_gamma_inc_P(a, x)) <
                        1e-10 * gamma_p(a, x) + 1e-300);
            assert_true(fabs(gamma_q(a, x) - gsl_sf_gamma_inc_Q(a, x)) <
                        1e-9 * gamma_q(a, x) + 1e-15);
            assert_true(near(lgam(a), gsl_sf_lngamma(a), 1e-14));
            assert_true(near(digamma(a), gsl_sf_psi(a), 1e-14));
            double b = as[j], y = a / (a + b);
            if (fabs(beta_i(a, b, y, 1 - y) - gsl_sf_beta_inc(a, b, y)) > 1e-8)
                fail_msg("beta_i(%g, %g, %g) is %.15g, not %.15g", a, b, y, beta_i(a, b, y, 1 - y),
                         gsl_sf_beta_inc(a, b, y));
        }
    /* Temme's expansion meets the series where they change over */
    assert_true(fabs(gamma_p(0.9999999e7, 1e7 - 3e3) / gamma_p(1.0000001e7, 1e7 - 3e3 + 2) - 1) <
                1e-6);
    gsl_set_error_handler(old);
}

/* ---- truncation ----------------------------------------------------------------------------- */

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
    enum { M = 1000 };
    static double full[2 + DIST_ARGS][M];
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
    double x = 3, v;
    z.p[2] = 4, z.p[3] = 2; /* empty */
    assert_true(isnan(logp_cut(&z, &x)));
    const double *a[] = {&z.p[0], &z.p[1], &z.p[2], &z.p[3]};
    truncated_sample(&dist_normal, &s, 1, &v, a);
    assert_true(isnan(v));
}

/* ---- lanes and chunks ---------------------------------------------------------------------- */

static void chunks(void **state)
{
    (void)state;
    enum { M = 64 };
    for_each_try(it)
    {
        static double all[MOST * M], part[MOST * M];
        struct stream s = {.seed = 28, .node = 5, .first = 40};
        at_draw(&it, &s, M, all);
        for (int cut = 4; cut <= 24; cut += 20)
            for (int b = 0; b < M; b += cut, s.first = 40 + (uint64_t)b) {
                int n = M - b < cut ? M - b : cut;
                s.first = 40 + (uint64_t)b;
                at_draw(&it, &s, n, part);
                for (int j = 0; j < it.nx; j++)
                    check(&it,
                          memcmp(part + j * n, all + j * M + b, sizeof(double) * (size_t)n) == 0,
                          "draws %d... depend on the chunk", b);
            }
        s.first = 40 + 7; /* a single draw too */
        at_draw(&it, &s, 1, part);
        for (int j = 0; j < it.nx; j++)
            check(&it, part[j] == all[j * M + 7], "a single draw differs: %.17g, %.17g", part[j],
                  all[j * M + 7]);
    }
}

/* Lanes that differ, are constant, or stand apart: as one by one. */
static void lanes(void **state)
{
    (void)state;
    enum { M = 45, APART = 3 };
    static double x[MOST * M], wide[2 * MOST][M * APART], out[M], dout[M], g[2 * MOST][M];
    struct stream s = {.seed = 29, .node = 5};
    for_each_try(it)
    {
        struct lanes a[2 * MOST];
        double *o = out, *da[2 * MOST], one[MOST], g1[2 * MOST];
        const double *co = out, *cd = dout;
        if (!it.d->blogp) continue;
        at_draw(&it, &s, M, x);
        for (int form = 0; form < 3; form++) { /* arguments constant, in a row, apart */
            int step = form == 0 ? 0 : form == 1 ? 1 : APART;
            for (int j = 0; j < it.nx + it.np; j++) {
                for (int i = 0; i < M * APART; i++) wide[j][i] = j < it.nx ? 0 : it.p[j - it.nx];
                for (int i = 0; i < M && j < it.nx; i++)
                    wide[j][i * (step ? step : 1)] = x[j * M + i];
                a[j] = (struct lanes){wide[j], j < it.nx && !step ? 1 : step};
                da[j] = g[j];
                for (int i = 0; i < M; i++) g[j][i] = 1; /* kernels add */
            }
            for (int i = 0; i < M; i++) dout[i] = 1 + i % 3;
            it.d->blogp(it.d, it.dim, M, &o, a, at_work);
            it.d->bgrad(it.d, it.dim, M, &co, &cd, a, da, at_work);
            for (int i = 0; i < M; i++) {
                for (int j = 0; j < it.nx; j++) one[j] = x[j * M + i];
                check(&it, near(out[i], at_logp(&it, one), 1e-14), "lane %d: %g", i, out[i]);
                at_grad(&it, one, g1);
                for (int j = 0; j < it.nx + it.np; j++)
                    if (!domains[it.d->domain].discrete || j >= it.nx)
                        check(&it, near(g[j][i], 1 + dout[i] * g1[j], 1e-12),
                              "lane %d, derivative %d: %g, not %g", i, j, g[j][i],
                              1 + dout[i] * g1[j]);
            }
        }
    }
}

/* ---- bijectors --------------------------------------------------------------------------------
 */

struct map {
    enum domain d;
    int n;
    double lo, hi;
};
static const struct map maps[] = {{REAL, 1, -INFINITY, INFINITY},
                                  {REAL, 1, -1.5, 2.385},
                                  {REAL, 1, 3, INFINITY},
                                  {REAL, 1, -INFINITY, 3},
                                  {POSITIVE, 1, -INFINITY, INFINITY},
                                  {POSITIVE, 1, 2, INFINITY},
                                  {POSITIVE, 1, -INFINITY, 2},
                                  {NONNEGATIVE, 1, -INFINITY, INFINITY},
                                  {UNIT, 1, -INFINITY, INFINITY},
                                  {OPEN_UNIT, 1, 0.25, INFINITY},
                                  {VECTOR, 3, -INFINITY, INFINITY},
                                  {POSITIVES, 3, -INFINITY, INFINITY},
                                  {SIMPLEX, 2, -INFINITY, INFINITY},
                                  {SIMPLEX, 5, -INFINITY, INFINITY},
                                  {SPD, 1, -INFINITY, INFINITY},
                                  {SPD, 4, -INFINITY, INFINITY},
                                  {SPD, 16, -INFINITY, INFINITY}};
enum { MAPS = sizeof maps / sizeof *maps };

/* log |det| of a k x k matrix by elimination with pivots */
static double log_det(int k, double *A)
{
    double v = 0;
    for (int j = 0; j < k; j++) {
        int best = j;
        for (int i = j; i < k; i++)
            if (fabs(A[i * k + j]) > fabs(A[best * k + j])) best = i;
        for (int m = 0; m < k; m++) {
            double t = A[j * k + m];
            A[j * k + m] = A[best * k + m];
            A[best * k + m] = t;
        }
        v += log(fabs(A[j * k + j]));
        for (int i = j + 1; i < k; i++)
            for (int m = k; m-- > j;) A[i * k + m] -= A[i * k + j] / A[j * k + j] * A[j * k + m];
    }
    return v;
}

/* The free elements of x: the first n - 1 of a simplex, the lower triangle of a matrix. */
static void free_part(const struct map *m, const double *x, double *f)
{
    int k = 1;
    while (m->d == SPD && k * k < m->n) k++;
    for (int i = 0; i < m->n; i++)
        if (m->d != SPD || i % k <= i / k) *f++ = x[i];
}

static void bijectors(void **state)
{
    (void)state;
    for (int i = 0; i < MAPS * 4; i++) {
        const struct map *m = &maps[i / 4];
        int n = m->n, k = unconstrained_size(m->d, n);
        double u[MOST], v[MOST], x[MOST], dx[MOST], du[MOST] = {0}, J[100], f[MOST], work[2 * MOST];
        for (int j = 0; j < k; j++) u[j] = sin(i * 7 + j * 3) * (i % 4 + 0.5);
        for (int j = 0; j < n; j++) dx[j] = cos(i + 2 * j);
        double lj = constrain(m->d, m->lo, m->hi, n, u, x);
        assert_true(domain_holds(m->d, x, n) && (n > 1 || (x[0] > m->lo && x[0] < m->hi)));
        unconstrain(m->d, m->lo, m->hi, n, x, v);
        for (int j = 0; j < k; j++) assert_true(near(u[j], v[j], 1e-9));
        constrain_grad(m->d, m->lo, m->hi, n, u, x, dx, 0.7, du, work);
        for (int j = 0; j < k; j++) {
            double d[2][MOST], flow[2] = {0}, ljs[2], h = 1e-5;
            for (int s = 0; s < 2; s++) {
                memcpy(v, u, sizeof v);
                v[j] += s ? h : -h;
                ljs[s] = constrain(m->d, m->lo, m->hi, n, v, x);
                for (int e = 0; e < n; e++) flow[s] += dx[e] * x[e];
                free_part(m, x, d[s]);
            }
            for (int e = 0; e < k; e++) J[e * k + j] = (d[1][e] - d[0][e]) / (2 * h);
            double want = (flow[1] - flow[0] + 0.7 * (ljs[1] - ljs[0])) / (2 * h);
            assert_true(near(du[j], want, 1e-7));
        }
        (void)f;
        assert_true(near(log_det(k, J), lj, 1e-6));
    }
    assert_int_equal(unconstrained_size(COUNT, 1), -1);
    assert_int_equal(unconstrained_size(SPD, 9), 6);
}

/* Far out: the domain is kept and nothing is NaN. */
static void bijectors_far(void **state)
{
    (void)state;
    const double far[] = {-800, -40, 40, 700, 800, -1e300, 1e300};
    for (int i = 0; i < MAPS * 7; i++) {
        const struct map *m = &maps[i / 7];
        double u[MOST], x[MOST], dx[MOST], du[MOST] = {0}, work[2 * MOST];
        int k = unconstrained_size(m->d, m->n);
        for (int j = 0; j < MOST; j++) dx[j] = 0, u[j] = j % 2 ? 0 : far[i % 7];
        double lj = constrain(m->d, m->lo, m->hi, m->n, u, x);
        constrain_grad(m->d, m->lo, m->hi, m->n, u, x, dx, 1, du, work);
        if (m->d == SPD || fabs(far[i % 7]) > 750) continue; /* exp(800) is infinite */
        assert_false(isnan(lj));
        for (int j = 0; j < m->n; j++)
            assert_true(x[j] >= domains[m->d].lo && x[j] <= domains[m->d].hi &&
                        x[j] >= (m->n > 1 ? -INFINITY : m->lo) &&
                        x[j] <= (m->n > 1 ? INFINITY : m->hi));
        for (int j = 0; j < k; j++) assert_false(isnan(du[j]));
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(table),          cmocka_unit_test(aliases),
    cmocka_unit_test(domain),         cmocka_unit_test(oracle),
    cmocka_unit_test(oracle_vectors), cmocka_unit_test(special),
    cmocka_unit_test(integrals),      cmocka_unit_test(integrals_vectors),
    cmocka_unit_test(sums),           cmocka_unit_test(cdfs),
    cmocka_unit_test(draws),          cmocka_unit_test(moments),
    cmocka_unit_test(scores),         cmocka_unit_test(gradients),
    cmocka_unit_test(outside),        cmocka_unit_test(invalid),
    cmocka_unit_test(extremes),       cmocka_unit_test(truncation),
    cmocka_unit_test(chunks),         cmocka_unit_test(lanes),
    cmocka_unit_test(bijectors),      cmocka_unit_test(bijectors_far),
};
RUN(tests)
