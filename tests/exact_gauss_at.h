/* exact_gauss_at.h: linear Gaussian models and numbers that must agree, for tests. */
#ifndef TESTS_EXACT_GAUSS_AT_H
#define TESTS_EXACT_GAUSS_AT_H

#include "exact_at.h"
#include "infer/exact.h"
#include "model/model.h"
#include "model_at.h"

static double worst; /* the largest difference of a case */

static inline void close_to(double got, real want)
{
    double d = (double)fabsl((real)got - want) / fmax(1, fabs((double)want));
    if (d > worst) worst = d;
    if (!(d <= 1e-10)) fail_msg("%.17g is not %.17Lg", got, want);
}

static inline void say(const char *what)
{
    print_message("%s: largest difference %.1e\n", what, worst);
    worst = 0;
}

static inline void read_file(struct model *m, const char *model, const char *data,
                             const struct model_options *opt)
{
    nami_err err = {0};
    *m = (struct model){0};
    if (model_read(m, model, &data, data != NULL, opt, &err)) fail_msg("%s: %s", model, err.msg);
}

static inline double *evidence(const struct gnet *g, const struct model *m)
{
    double *x = calloc((size_t)g->n, sizeof *x);
    nami_err err = {0};
    if (gnet_evidence(g, m, m->source.data.set.n ? m->source.data.set.a : NULL, x, &err))
        fail_msg("%s", err.msg);
    return x;
}

static inline void read_net(struct model *m, struct gnet *g)
{
    nami_err err = {0};
    if (gnet_read(m, g, &err)) fail_msg("%d: %s", err.line, err.msg);
}

/* The posterior of g given x, when the joint has these moments. */
static inline void posterior_is(const struct gnet *g, const double *x, const real *mean,
                                const real *cov)
{
    int n = g->n, *z = calloc((size_t)n, sizeof *z), *o = calloc((size_t)n, sizeof *o), nz = 0,
        no = 0;
    size_t N = (size_t)n;
    double *gmean = calloc(N, sizeof *gmean), *gcov = calloc(N * N, sizeof *gcov);
    double *variance = calloc(N + 1, sizeof *variance);
    real *coef = reals(N * N), *cond = reals(N * N), h = 0;
    struct gpost p;
    nami_err err = {0};
    gnet_moments(g, gmean, gcov);
    for (int i = 0; i < n; i++) {
        close_to(gmean[i], mean[i]);
        for (int j = 0; j < n; j++) close_to(gcov[i * n + j], cov[i * n + j]);
        if (isnan(x[i]))
            z[nz++] = i;
        else
            o[no++] = i;
    }
    regress(n, cov, z, nz, o, no, coef, cond);
    if (gpost_new(g, x, &p, &err)) fail_msg("%s", err.msg);
    assert_int_equal(p.nz, nz);
    if (gpost_cov(&p, gcov, &err) || gpost_variances(&p, variance, &err)) fail_msg("%s", err.msg);
    for (int i = 0; i < nz; i++) {
        real m = mean[z[i]];
        for (int k = 0; k < no; k++) m += coef[i * no + k] * (x[o[k]] - mean[o[k]]);
        close_to(p.x[z[i]], m);
        close_to(variance[i], cond[i * nz + i]);
        for (int j = 0; j < nz; j++) close_to(gcov[i * nz + j], cond[i * nz + j]);
    }
    for (int k = 0; k < no; k++) assert_true(p.x[o[k]] == x[o[k]]);
    close_to(p.log_evidence, log_normal(n, mean, cov, o, no, x));
    real *none = reals(N);
    h = solve(nz, 0, cond, none);
    close_to(p.entropy, 0.5L * (nz * (1 + logl(2 * 3.14159265358979323846264338L)) + h));
    gpost_free(&p);
    free(none);
    free(z);
    free(o);
    free(gmean);
    free(gcov);
    free(variance);
    free(coef);
    free(cond);
}

#endif
