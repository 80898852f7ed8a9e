/* sims_at.h: data sets from a Gaussian model, and draws from its posterior or from a wrong one.

   theta ~ normal(0, 1), x ~ normal(theta, 1): the posterior is normal(x/2, sqrt(1/2)). */
#ifndef TESTS_SIMS_AT_H
#define TESTS_SIMS_AT_H

#include <math.h>
#include <stdlib.h>

#include "base/stream.h"
#include "base/vec.h"
#include "infer/sims.h"
#include "run.h"

struct made {
    struct sims s;
    double *theta, *z, *logq, *logq0;
    double *mean; /* (d, n): of the true posterior, whose sd is POST_SD */
};
#define POST_SD sqrt(0.5)

/* What is wrong with the draws. */
struct wrong {
    double scale, shift; /* relative to the posterior's sd */
    int bimodal;         /* the truth may be theta or theta - 4, and the draws know one only */
};
static const struct wrong RIGHT = {1, 0, 0};
static const struct {
    const char *name;
    struct wrong w;
} WRONG[] = {{"too narrow", {0.8, 0, 0}},
             {"too wide", {1.25, 0, 0}},
             {"shifted", {1, 0.3, 0}},
             {"one mode of two", {1, 0, 1}}};
enum { NWRONG = 4 };

/* n repetitions, or more for those who want to know. */
static inline int repeat(int n)
{
    const char *s = getenv("REPEAT");
    return s ? n * atoi(s) : n;
}

static inline void made_free(struct made *a)
{
    free(a->theta);
    free(a->z);
    free(a->logq);
    free(a->logq0);
    free(a->mean);
}

static inline struct made make_sims(int d, int m, int n, struct wrong w, uint64_t seed)
{
    size_t dn = (size_t)d * (size_t)n, mn = (size_t)m * (size_t)n;
    struct made a = {.theta = new_array(double, dn),
                     .z = new_array(double, dn *(size_t)m),
                     .logq = new_array(double, mn),
                     .logq0 = new_array(double, n),
                     .mean = new_array(double, dn)};
    struct rng r;
    assert_true(a.theta && a.z && a.logq && a.logq0 && a.mean);
    rng_init(&r, seed, 77);
    for (size_t k = 0; k < (size_t)d; k++)
        for (size_t i = 0; i < (size_t)n; i++) {
            double t = rng_normal(&r), mean = (t + rng_normal(&r)) / 2, sd = w.scale * POST_SD;
            if (w.bimodal && rng_unit(&r) < 0.5) t -= 4;
            a.theta[k * (size_t)n + i] = t;
            a.mean[k * (size_t)n + i] = mean;
            mean += w.shift * POST_SD;
            a.logq0[i] -= pow((t - mean) / sd, 2) / 2;
            for (size_t j = 0; j < (size_t)m; j++) {
                double e = rng_normal(&r);
                a.z[(k * (size_t)m + j) * (size_t)n + i] = mean + sd * e;
                a.logq[j * (size_t)n + i] -= e * e / 2;
            }
        }
    a.s = (struct sims){.d = d, .m = m, .n = n, .theta = a.theta, .z = a.z};
    return a;
}

/* After `alarms` in `reps` repetitions: is the rate `level`, or between share * level and level
   for a test on counts?  One of 1e-8 right programs fails. */
static inline void check_rate(const char *what, int alarms, int reps, double level, double share)
{
    double hi = level + 5.7 * sqrt(level * (1 - level) / reps), low = level * share;
    double lo = low - 5.7 * sqrt(low * (1 - low) / reps), rate = (double)alarms / reps;
    if (getenv("SHOW_RATES"))
        printf("    %-28s level %.3f rate %.4f (%d)\n", what, level, rate, reps);
    if (rate > hi + 1e-12 || rate < lo) fail_msg("%s: rate %g, not %g", what, rate, level);
}

#endif
