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

#endif
