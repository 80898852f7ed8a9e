/* cmd_logp.c: `nami logp`: the log joint density of a model at given points, and its gradient. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/parallel.h"
#include "model/eval.h"
#include "with_net.h"

struct options {
    struct opt_common common;
    struct model_opts model;
    struct opt_many at, by;
    int json, grad;
};

#define AT(field) offsetof(struct options, field)
static const struct opt options[] = {
    {"at", 0, OPT_MANY, AT(at), "FILE", NULL, NULL,
     "points: data sets with a value for every random variable (default: --data)", 0},
    {"grad", 0, OPT_FLAG, AT(grad), NULL, NULL, NULL,
     "also the derivatives by every continuous variable (JSON)", 0},
    {"by", 0, OPT_MANY, AT(by), "NAME", NULL, NULL,
     "with --grad: a constant to differentiate by as well; may be repeated", 0},
    {"json", 0, OPT_FLAG, AT(json), NULL, NULL, NULL, "print JSON", 0},
    MODEL_OPTIONS(struct options, model),
    {NULL, 0, 0, 0, NULL, NULL, NULL, NULL, 0},
};

static int put_gradients(const struct model *m, size_t n, const double *grad, struct str *out,
                         nami_err *err)
{
    struct arena mem = {0};
    struct layout l;
    int rc = model_layout(m, NULL, 0, &mem, &l, err);
    double *x = rc ? NULL : arena_array(&mem, double, l.nrow *n);
    if (!rc && !x) rc = err_nomem(err);
    if (!rc) {
        memcpy(x, grad, sizeof *x * (size_t)m->ir.num_rows * n);
        layout_fill(m, &l, n, x);
        for (size_t r = (size_t)m->ir.num_rows; r < l.nrow; r++) /* nothing depends on a constant */
            for (size_t i = 0; m->ir.state[l.elem[r - (size_t)m->ir.num_rows]] == E_CONST && i < n;
                 i++)
                x[r * n + i] = 0;
        struct draws g = {.n = n, .nvar = l.nvar, .var = l.var, .x = x};
        str_put(out, ",\"grad\":");
        rc = draws_format_of("x.json")->write(&g, out, err);
    }
    arena_free(&mem);
    return rc;
}

/* {"logp": [...], "grad": [{"x": [...]}, ...]} */
static int put_json(struct model *m, size_t n, const struct density *d, struct str *out,
                    nami_err *err)
{
    str_put(out, "{\"logp\":[");
    for (size_t i = 0; i < n; i++) {
        str_put(out, i ? "," : "");
        json_element(out, d->logp[i], 0);
    }
    str_put(out, "]");
    int rc = d->grad ? put_gradients(m, n, d->grad, out, err) : 0;
    str_put(out, "}\n");
    return rc;
}

static int evaluate(struct model *m, const struct options *o, const struct data *at,
                    struct str *out, nami_err *err)
{
    size_t n = at->set.n, size = (size_t)m->ir.num_rows * n;
    double *x = raw_array(double, size), *g = o->grad ? raw_array(double, size) : NULL;
    double *logp = raw_array(double, n);
    struct density d = {.logp = logp, .grad = g};
    int rc = !x || !logp || (o->grad && !g) ? err_nomem(err) : 0;
    for (size_t i = 0; i < size && !rc; i++) x[i] = 0;
    for (size_t i = 0; i < n && !rc; i++) {
        rc = model_point(m, &at->set.a[i], n, i, 0, x, err);
        if (rc) err->line = 0;
    }
    if (!rc) rc = model_logp(m, n, x, parallel_threads(o->model.threads), &d, err);
    if (!rc && (o->json || o->grad)) rc = put_json(m, n, &d, out, err);
    for (size_t i = 0; i < n && !rc && !o->json && !o->grad; i++)
        str_printf(out, "%.15g\n", isnan(logp[i]) ? NAN : logp[i]); /* never "-nan" */
    free(x);
    free(g);
    free(logp);
    return rc;
}

static int run(const void *options_, int narg, char **arg)
{
    const struct options *o = options_;
    struct training r = {0};
    struct data at = {0};
    struct str out = {0};
    nami_err err = {0};
    struct model_opts mo = o->model;
    mo.free = o->by;
    int rc = open_model_or_net(&r, arg[0], &mo);
    (void)narg;
    for (int i = 0; i < o->at.n && !rc; i++)
        if (data_read(&at, o->at.a[i], &err)) rc = fail(READING, o->at.a[i], &err);
    if (!rc) say_unknown(r.net.model, &at);
    if (!rc && evaluate(r.net.model, o, o->at.n ? &at : &r.net.model->source.data, &out, &err))
        rc = fail(RUNNING, NULL, &err);
    data_free(&at);
    training_free(&r);
    if (!rc) return finish(&out, EXIT_YES);
    str_free(&out);
    return rc;
}

static const struct example examples[] = {
    {"nami logp pumps.nami --data pumps.json --at points.json", "log p(x, z) at each point"},
    {NULL, NULL},
};

const struct cmd cmd_logp = {
    .name = "logp",
    .summary = "the log joint density of a model at given points",
    .usage = "[OPTION]... FILE",
    .about = "Prints log p(x, z), with all normalising constants, at each data set of --at: a line "
             "each, "
             "or JSON. Every random variable needs a value there.\n\n"
             "FILE is a model, or a network of 'nami train': its model, with the weights that were "
             "learnt.",
    .opt = options,
    .example = examples,
    .min_arg = 1,
    .max_arg = 1,
    .size = sizeof(struct options),
    .run = run,
};
