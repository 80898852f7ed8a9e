/* model_at.h: models from texts, their draws and densities, for tests. */
#ifndef TESTS_MODEL_AT_H
#define TESTS_MODEL_AT_H

#include <math.h>
#include <stdlib.h>

#include "model/eval.h"
#include "model/model.h"
#include "run.h"

static inline void messages(const struct model *m, struct str *out)
{
    diags_print(&m->source.diags, "model", m->source.text.s ? m->source.text.s : "",
                m->source.text.n, out);
    if (!out->s) str_put(out, "");
}

static inline int build_with(struct model *m, enum dialect dialect, const char *text,
                             const char *data, const struct model_options *opt)
{
    nami_err err = {0};
    if (data && data_parse(&m->source.data, data, strlen(data), &err))
        fail_msg("data: %s", err.msg);
    return model_parse(m, "model", text, strlen(text), dialect, opt, &err);
}

static inline void build_opt(struct model *m, enum dialect dialect, const char *text,
                             const char *data, const struct model_options *opt)
{
    *m = (struct model){0};
    if (build_with(m, dialect, text, data, opt) == 0) return;
    struct str out = {0};
    messages(m, &out);
    fail_msg("%s\n%s", text, out.s);
}

#define build(m, text, data) build_opt(m, NATIVE, text, data, NULL)

static inline int array_find(const struct model *m, const char *name)
{
    int k = dict_find(&m->source.syntax.names, name, strlen(name));
    assert_true(k >= 0 && m->ir.array_of_name[k] >= 0);
    return m->ir.array_of_name[k];
}

/* The element of an array, from 0, in row-major order. */
static inline int row_of(const struct model *m, const char *name, int k)
{
    const struct array *a = &m->ir.arrays.a[array_find(m, name)];
    assert_true(k < a->n);
    return m->ir.row[a->first + k];
}

/* Each node with its parents, in the order of the nodes; * is observed. */
static inline void graph_text(const struct bn *bn, struct str *out)
{
    str_put(out, "");
    for (int v = 0; v < bn_n(bn); v++) {
        str_printf(out, "%s%s%s", v ? "; " : "", bn_name(bn, v), bn->node.a[v].observed ? "*" : "");
        for_parents (&bn->dag, v, u) str_printf(out, " %s", bn_name(bn, u));
    }
}

static inline double *draw(const struct model *m, size_t n, int threads)
{
    double *x = calloc((size_t)m->ir.num_rows * n + 1, sizeof *x);
    nami_err err = {0};
    assert_non_null(x);
    if (model_simulate(m, 7, 0, n, threads, x, &err)) fail_msg("%s", err.msg);
    return x;
}

static inline void logp(const struct model *m, size_t n, const double *x, int threads,
                        struct density out)
{
    nami_err err = {0};
    if (model_logp(m, n, x, threads, &out, &err)) fail_msg("%s", err.msg);
}

static inline void near(double got, double want)
{
    if (!(fabs(got - want) <= 1e-12 * fmax(1, fabs(want))))
        fail_msg("%.17g is not %.17g", got, want);
}

#endif
