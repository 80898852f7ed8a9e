/* test_modes.c: adaptive sampling finds all modes of a posterior: a mixture whose components may be
   exchanged, with a poor network, against integrals on a grid. */
#include "run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "nami.h"

enum { N = 12, SEEDS = 10, DRAWS = 2000 };
static const double y[N] = {-3.2, -2.1, -4.0, -3.3, -2.6, 2.9, 3.8, 2.2, 3.1, 4.4, 2.7, 3.3};

static void must(int rc, const nami_err *err)
{
    if (rc < 0) fail_msg("%s", err->msg);
}

/* The probability of the first component is `share`: 0.5, and the two modes are equal, or not. */
static nami_network *train(double share)
{
    char text[512];
    nami_err err;
    nami_model *m;
    nami_network *net;
    nami_train_options o = {.steps = 20, .threads = 1};
    snprintf(text, sizeof text,
             "model { for (k in 1:2) { mu[k] ~ normal(0, 5) }\n for (i in 1:%d) {\n"
             " z[i] ~ categorical(c(%g, %g))\n y[i] ~ normal(mu[z[i]], 1) } }\nobserve y\n",
             N, share, 1 - share);
    must(nami_model_parse(text, strlen(text), NULL, NULL, &m, &err), &err);
    must(nami_train(m, NULL, &o, &net, &err), &err);
    nami_model_free(m);
    return net;
}

static double log_density(double share, const double *mu)
{
    static const double log_2pi = 1.8378770664093453;
    double sum = -log_2pi - 2 * log(5) - (mu[0] * mu[0] + mu[1] * mu[1]) / 50;
    for (int i = 0; i < N; i++) {
        double a = y[i] - mu[0], b = y[i] - mu[1];
        sum += log(share * exp(-a * a / 2) + (1 - share) * exp(-b * b / 2)) - log_2pi / 2;
    }
    return sum;
}

/* log p(x) and P(mu[1] < mu[2] | x). */
static void integrate(double share, double *log_z, double *below)
{
    double total = 0, part = 0, h = 0.02;
    for (int i = -400; i < 400; i++)
        for (int j = -400; j < 400; j++) {
            double mu[] = {(i + 0.5) * h, (j + 0.5) * h}, p = exp(log_density(share, mu) + 30);
            total += p;
            if (i < j) part += p;
        }
    *log_z = log(total * h * h) - 30;
    *below = part / total;
}

/* Both modes have their share in each answer: deviations beyond 6 standard errors have an error
   rate below 1e-8 each; an answer that has one mode deviates by 0.69 and 0.5. */
static void both_modes(void **state)
{
    (void)state;
    static const double shares[] = {0.5, 0.45};
    nami_err err;
    for (int c = 0; c < 2; c++) {
        nami_network *net = train(shares[c]);
        double log_z, below;
        integrate(shares[c], &log_z, &below);
        nami_data *d;
        must(nami_data_new(&d, &err), &err);
        must(nami_data_set(d, 0, "y", 1, (size_t[]){N}, y, &err), &err);
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            nami_query q = {.draws = DRAWS, .method = "adaptive", .seed = seed, .threads = 1};
            nami_posterior *p;
            nami_verdict v;
            nami_block b;
            double got = 0, sum2 = 0;
            must(nami_posterior_new(net, d, &q, &p, &err), &err);
            size_t row = (size_t)nami_model_scalar_find(nami_network_model(net), "mu[1]");
            while (nami_posterior_next(p, &b, &err) > 0)
                for (size_t i = 0; i < b.num_draws; i++) {
                    double w = exp(b.log_weight[i]);
                    sum2 += w * w;
                    if (b.values[row * DRAWS + i] < b.values[(row + 1) * DRAWS + i]) got += w;
                }
            must(nami_posterior_verdict(p, 0, &v, &err), &err);
            assert_int_equal(v.verdict, NAMI_TRUSTED);
            if (!(fabs(v.log_evidence - log_z) < 6 * v.log_evidence_se + 1e-3))
                fail_msg("log p(x) %g +- %g is not %g", v.log_evidence, v.log_evidence_se, log_z);
            if (!(fabs(got - below) < 6 * sqrt(sum2) / 2))
                fail_msg("the first mode has %g of the mass, not %g", got, below);
            nami_posterior_free(p);
        }
        nami_data_free(d);
        nami_network_free(net);
    }
}

/* Three components in the plane with scales of their own: 12 numbers and six modes, which have the
   same mass, since the components may be exchanged.  (Without a search for modes, a fit of so many
   numbers to 2,000 draws has one mode or two.) */
static void six_modes(void **state)
{
    (void)state;
    static const char text[] =
        "model { for (k in 1:3) { for (d in 1:2) { mu[k, d] ~ normal(0, 5)\n"
        " s[k, d] ~ lognormal(0, 0.5) } }\n for (i in 1:30) {\n"
        " z[i] ~ categorical(c(1 / 3, 1 / 3, 1 / 3))\n"
        " for (d in 1:2) { y[i, d] ~ normal(mu[z[i], d], s[z[i], d]) } } }\nobserve y\n";
    static const double center[3][2] = {{-4, 0}, {3, 4}, {3, -4}};
    double points[30][2];
    nami_err err;
    nami_model *m;
    nami_network *net;
    nami_data *d;
    nami_train_options o = {.steps = 50, .threads = 1};
    for (int i = 0; i < 30; i++)
        for (int k = 0; k < 2; k++) points[i][k] = center[i % 3][k] + sin(7 * i + 3 * k);
    must(nami_model_parse(text, strlen(text), NULL, NULL, &m, &err), &err);
    must(nami_train(m, NULL, &o, &net, &err), &err);
    must(nami_data_new(&d, &err), &err);
    must(nami_data_set(d, 0, "y", 2, (size_t[]){30, 2}, points[0], &err), &err);
    size_t row = (size_t)nami_model_scalar_find(m, "mu[1,1]"), stride = 2;
    assert_int_equal(nami_model_scalar_find(m, "mu[2,1]"), (int)(row + stride));
    for (uint64_t seed = 0; seed < 2; seed++) {
        nami_query q = {.draws = 4000, .method = "adaptive", .seed = seed, .threads = 1};
        nami_posterior *p;
        nami_verdict v;
        nami_block b;
        double mass[9] = {0}, sum2 = 0;
        must(nami_posterior_new(net, d, &q, &p, &err), &err);
        while (nami_posterior_next(p, &b, &err) > 0)
            for (size_t i = 0; i < b.num_draws; i++) {
                const double *mu = b.values + row * b.num_draws + i;
                int left = 0, low = -1; /* the component to the left; the lower of the others */
                for (int k = 1; k < 3; k++)
                    if (mu[(size_t)k * stride * b.num_draws] <
                        mu[(size_t)left * stride * b.num_draws])
                        left = k;
                for (int k = 0; k < 3; k++)
                    if (k != left && (low < 0 || mu[((size_t)k * stride + 1) * b.num_draws] <
                                                     mu[((size_t)low * stride + 1) * b.num_draws]))
                        low = k;
                double w = exp(b.log_weight[i]);
                mass[3 * left + low] += w;
                sum2 += w * w;
            }
        must(nami_posterior_verdict(p, 0, &v, &err), &err);
        assert_int_equal(v.verdict, NAMI_TRUSTED);
        for (int k = 0; k < 9; k++)
            if (k % 4 && !(fabs(mass[k] - 1.0 / 6) < 6 * sqrt(sum2 * 5 / 36)))
                fail_msg("seed %d: a mode has %g of the mass, not a sixth", (int)seed, mass[k]);
        nami_posterior_free(p);
    }
    nami_data_free(d);
    nami_network_free(net);
    nami_model_free(m);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(six_modes),
    cmocka_unit_test(both_modes),
};

RUN(tests)
