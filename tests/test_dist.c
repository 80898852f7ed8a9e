/* test_dist.c: all rows of dist.def, at each record's own points: the table, densities and
   distribution functions against numbers from elsewhere, bad parameters, lanes.  What is
   random is in test_dist_draws.c. */
#include <stdlib.h>
#ifdef HAVE_GSL
#include <gsl/gsl_errno.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_sf.h>
#endif

#include "dist/math.h"
#include "dist_at.h"

/* ---- the table ---------------------------------------------------------------------- */

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
        assert_true(args <= DIST_ARGS);
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

/* ---- numbers from elsewhere --------------------------------------------------------- */

static double logp3(const char *name, double x, double a, double b, double c)
{
    const struct dist *d = dist_find(name, strlen(name));
    struct at it = {.d = d, .nx = 1, .np = d->narg, .dim = {1, 1, 1, 1}, .p = {a, b, c}};
    return at_logp(&it, &x);
}

/* Formulas by hand. */
static void oracle(void **state)
{
    (void)state;
    for (double k = 0; k < 15; k += 2)
        assert_true(near(logp3("beta_binomial", k, 17, 1, 1), -log(18), 1e-12));
    /* a large count: 10^9 choose half of it, by Stirling's series to 1e-9 */
    assert_true(fabs(logp3("binomial", 5e8, 1e9, 0.5, 0) + 0.5 * log(M_PI * 5e8) + 2.5e-10) < 1e-9);
    assert_true(fabs(logp3("poisson", 1e9, 1e9, 0, 0) + 0.5 * log(2 * M_PI * 1e9)) < 1e-9);
}

/* The same for vectors. */
static void oracle_vectors(void **state)
{
    (void)state;
    double th[] = {0.2, 0.3, 0.5};
    /* alpha_2 = 0: the Dirichlet of the others, and x_2 is 0 */
    struct at zero = {&dist_dirichlet, {3, 3}, 3, 3, {2.3, 0, 1.4}};
    double pair[] = {0.2, 0.8}, hole[] = {0.2, 0, 0.8}, z3[3], gz[6];
    struct stream zs = {.seed = 3, .node = 1};
    struct at two = {&dist_dirichlet, {2, 2}, 2, 2, {2.3, 1.4}};
    assert_true(near(at_logp(&two, pair), logp3("beta", 0.2, 2.3, 1.4, 0), 1e-12));
    assert_true(near(at_logp(&zero, hole), at_logp(&two, pair), 1e-12));
    assert_true(at_logp(&zero, th) == -INFINITY);
    at_draw(&zero, &zs, 1, z3);
    assert_true(z3[1] == 0 && z3[0] > 0 && fabs(z3[0] + z3[2] - 1) < 1e-15);
    at_grad(&zero, hole, gz);
    assert_true(gz[1] == 0 && gz[4] == 0 && near(gz[0], 1.3 / 0.2, 1e-14));
    struct at mu = {&dist_multinomial, {3, 3, 1}, 3, 4, {0.4, 0.6, 1, 7}}; /* weights: sum 2 */
    double x[] = {2, 1, 4}, y[] = {0.3, -0.7}, c = 2 * 1.5 - 0.6 * 0.6;
    double ways = 105; /* 7! / (2! 1! 4!) */
    assert_true(near(at_logp(&mu, x), log(ways * 0.2 * 0.2 * 0.3 * pow(0.5, 4)), 1e-12));
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

/* ---- supports and bad parameters ---------------------------------------------------- */

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
                int other = partner(it.d->domain == SPD || it.d->domain == CORR ? SPD : REAL, j,
                                    it.nx, &sign);
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
                bool zeros = d == SIMPLEX || it.d == &dist_dirichlet; /* as JAGS has them */
                if (domain_holds(zeros ? WEIGHTS : d, bent.p + first, n)) continue;
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

/* ---- distribution functions --------------------------------------------------------- */

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

/* Temme's expansion meets the series where they change over. */
static void temme(void **state)
{
    (void)state;
    assert_true(fabs(gamma_p(0.9999999e7, 1e7 - 3e3) / gamma_p(1.0000001e7, 1e7 - 3e3 + 2) - 1) <
                1e-6);
}

/* ---- numbers from GSL, where it is installed ------------------------------------------- */

#ifdef HAVE_GSL
#define same(name, x, a, b, c, pdf) assert_true(near(logp3(name, x, a, b, c), log(pdf), 1e-12))

/* GSL's densities share no code with ours. */
static void gsl_densities(void **state)
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
        same("neg_binomial", k, 3.7, 0.7, 0,
             gsl_ran_negative_binomial_pdf((unsigned)k, 0.7 / 1.7, 3.7));
    }
    for (double x = 3; x < 8; x++) { /* psi = 1: the plain hypergeometric */
        struct at h = {&dist_noncentral_hypergeometric, {1, 1, 1, 1, 1}, 1, 4, {11, 7, 9, 1}};
        double v = log(gsl_ran_hypergeometric_pdf((unsigned)x, 11, 7, 9));
        assert_true(near(at_logp(&h, &x), v, 1e-12));
    }
    double al[] = {2.3, 0.7, 1.4}, th[] = {0.2, 0.3, 0.5}, count[] = {2, 1, 4};
    struct at di = {&dist_dirichlet, {3, 3}, 3, 3, {2.3, 0.7, 1.4}};
    assert_true(near(at_logp(&di, th), gsl_ran_dirichlet_lnpdf(3, al, th), 1e-12));
    struct at mu = {&dist_multinomial, {3, 3, 1}, 3, 4, {0.4, 0.6, 1, 7}}; /* weights: sum 2 */
    double v = gsl_ran_multinomial_lnpdf(3, th, (unsigned[]){2, 1, 4});
    assert_true(near(at_logp(&mu, count), v, 1e-12));
}

/* Incomplete gamma and beta against GSL. */
static void gsl_special(void **state)
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
    gsl_set_error_handler(old);
}
#else
static void gsl_densities(void **state)
{
    (void)state;
    print_message("without GSL, densities are not compared with it\n");
    skip();
}

static void gsl_special(void **state)
{
    (void)state;
    print_message("without GSL, special functions are not compared with it\n");
    skip();
}
#endif

/* ---- lanes and chunks --------------------------------------------------------------- */

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

/* Densities with their derivatives, in double and in single precision, against those apart. */
static int alike(double got, double want, double tol)
{
    return isnan(want) ? isnan(got) : got == want || fabs(got - want) <= tol * fmax(1, fabs(want));
}

static void both(void **state)
{
    enum { N = 2400 };
    static double arg[DIST_ARGS + 1][N], out[N], d[N], want[N], slope[N], one[N];
    static float u[N], outf[N], df[N];
    const double *a[DIST_ARGS + 1];
    int found = 0;
    (void)state;
    for (int k = 0; k <= DIST_ARGS; k++) a[k] = arg[k];
    for (int i = 0; i < N; i++) one[i] = 1;
    for (int t = 0; dists[t]; t++) {
        const struct dist *f = dists[t];
        if (!f->both) continue;
        found++;
        for (int i = 0; i < N; i++) {
            u[i] = (float)((i - N / 2) * 0.1);
            if (i % 101 == 7) u[i] = i % 2 ? NAN : INFINITY;
            arg[0][i] = i % 97 == 0 ? NAN : i % 89 == 0 ? 2.5 : i % 3 == 0;
            for (int k = 1; k <= f->narg; k++) arg[k][i] = k == 1 ? u[i] : 1 + 0.01 * (i % 7);
        }
        f->logp(f, N, want, a);
        for (int k = 0; k <= f->narg; k++) {
            double *da[DIST_ARGS + 1] = {0};
            da[k] = slope;
            f->grad(f, N, want, one, a, da);
            f->both(f, N, out, a, k, d);
            for (int i = 0; i < N; i++)
                if (!alike(out[i], want[i], 1e-14) || !alike(d[i], slope[i], 1e-14))
                    fail_msg("%s, %d: %g and %g, not %g and %g", f->name, i, out[i], d[i], want[i],
                             slope[i]);
            if (k != 1 || !f->both_float) continue;
            f->both_float(f, N, outf, a, u, df);
            for (int i = 0; i < N; i++)
                if (!alike((double)outf[i], want[i], 4e-7) ||
                    (isfinite(want[i]) && !alike((double)df[i], slope[i], 3e-7)))
                    fail_msg("%s in float, %d: %g and %g, not %g and %g", f->name, i,
                             (double)outf[i], (double)df[i], want[i], slope[i]);
        }
    }
    assert_true(found > 0);
}

/* log p(x) from logit(x): the same where x is not rounded, and finite beyond. */
static void logits(void **state)
{
    enum { N = 160 };
    static double l[N], x[N], arg[DIST_ARGS][N], want[N], got[N], slope[N], one[N], up[N], down[N];
    int found = 0;
    (void)state;
    for_each_try(it)
    {
        const struct dist *d = it.d;
        const double *a[DIST_ARGS + 1] = {l}, *b[DIST_ARGS + 1] = {x};
        double *da[DIST_ARGS + 1] = {slope}, h = 1e-5;
        if (!d->logit) continue;
        found++;
        for (int i = 0; i < N; i++) {
            l[i] = (i - N / 2) * (i % 8 ? 0.25 : 10), x[i] = 1 / (1 + exp(-l[i])), one[i] = 1;
            for (int k = 0; k < d->narg; k++) arg[k][i] = it.p[k];
        }
        for (int k = 0; k < d->narg; k++) a[k + 1] = b[k + 1] = arg[k];
        d->logit(d, N, got, a);
        d->logp(d, N, want, b);
        d->logit_grad(d, N, got, one, a, da);
        for (int i = 0; i < N; i++) l[i] += h;
        d->logit(d, N, up, a);
        for (int i = 0; i < N; i++) l[i] -= 2 * h;
        d->logit(d, N, down, a);
        for (int i = 0; i < N; i++) {
            double dif = (up[i] - down[i]) / (2 * h);
            check(&it, isfinite(got[i]) && isfinite(slope[i]), "at %g: %g", l[i], got[i]);
            check(&it, fabs(slope[i] - dif) < 1e-6 * fmax(1, fabs(dif)), "slope at %g: %g, not %g",
                  l[i], slope[i], dif);
            if (fabs(l[i]) < 10)
                check(&it, alike(got[i], want[i], 1e-10), "at %g: %g, not %g", l[i], got[i],
                      want[i]);
        }
    }
    assert_true(found > 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(table),       cmocka_unit_test(aliases), cmocka_unit_test(domain),
    cmocka_unit_test(oracle),      cmocka_unit_test(temme),   cmocka_unit_test(gsl_densities),
    cmocka_unit_test(gsl_special), cmocka_unit_test(cdfs),    cmocka_unit_test(oracle_vectors),
    cmocka_unit_test(outside),     cmocka_unit_test(invalid), cmocka_unit_test(extremes),
    cmocka_unit_test(chunks),      cmocka_unit_test(lanes),   cmocka_unit_test(both),
    cmocka_unit_test(logits),
};
RUN(tests)
