#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "base/parallel.h"
#include "model/eval.h"
#include "with_model.h"

struct options {
    struct opt_common common;
    struct model_opts model;
    int n, json, all;
    const char *only;
    struct opt_many out;
};

#define AT(field) offsetof(struct options, field)
static const struct opt options[] = {
    {"draws", 'n', OPT_COUNT, AT(n), "N", "1000", NULL, "how many draws", 0},
    {"output", 'o', OPT_MANY, AT(out), "FILE", NULL, NULL,
     "write to a file: .json (an array of data sets, which --data reads), .csv or .npz; may be "
     "repeated",
     0},
    {"json", 0, OPT_FLAG, AT(json), NULL, NULL, NULL, "print JSON instead of CSV", 0},
    {"only", 0, OPT_TEXT, AT(only), "NAMES", NULL, NULL, "only these variables, a comma list", 0},
    {"all", 0, OPT_FLAG, AT(all), NULL, NULL, NULL, "deterministic variables too", 0},
    MODEL_OPTIONS(struct options, model),
    {NULL, 0, 0, 0, NULL, NULL, NULL, NULL, 0},
};

/* ---- files -------------------------------------------------------------------------- */

static int check_outputs(const struct options *o)
{
    nami_err err;
    for (int i = 0; i < o->out.n; i++)
        if (draws_format_check(o->out.a[i], &err)) return fail(RUNNING, NULL, &err);
    return EXIT_YES;
}

static int write_file(const struct draws *d, const char *path)
{
    struct str out = {0};
    nami_err err;
    int rc = EXIT_YES;
    if (draws_format_of(path)->write(d, &out, &err) || file_write(path, out.s, out.n, &err))
        rc = fail(WRITING, path, &err);
    str_free(&out);
    return rc;
}

static int put(struct model *m, const struct options *o, const double *x)
{
    struct draws d;
    struct str out = {0};
    nami_err err;
    int rc = EXIT_YES;
    if (model_draws(m, (size_t)o->n, x, o->only, o->all, &d, &err))
        return fail(RUNNING, NULL, &err);
    for (int i = 0; i < o->out.n && !rc; i++) rc = write_file(&d, o->out.a[i]);
    if (rc || (o->out.n && !o->json)) return rc;
    if (draws_format_of(o->json ? "x.json" : "x.csv")->write(&d, &out, &err)) {
        str_free(&out);
        return fail(RUNNING, NULL, &err);
    }
    return finish(&out, EXIT_YES);
}

static int run(const void *options_, int narg, char **arg)
{
    const struct options *o = options_;
    struct model m = {0};
    double *x = NULL;
    nami_err err;
    int rc = check_outputs(o);
    (void)narg;
    if (!rc) rc = open_model(&m, arg[0], &o->model);
    if (!rc && !(x = raw_array(double, (size_t)m.nrow *(size_t)o->n))) {
        err_nomem(&err);
        rc = fail(RUNNING, NULL, &err);
    }
    if (!rc) {
        if (model_simulate(&m, o->model.seed, 0, (size_t)o->n, parallel_threads(o->model.threads),
                           x, &err))
            rc = fail(err.line ? READING : RUNNING, err.line ? file_name(arg[0]) : NULL, &err);
        else
            rc = put(&m, o, x);
    }
    free(x);
    model_free(&m);
    return rc;
}

static const struct example examples[] = {
    {"nami simulate schools.nami -n 5", "five draws of all random variables, as CSV"},
    {"nami simulate tree.nami --data w.json -n 100000 -o draws.npz", "to a file for NumPy"},
    {"nami simulate gmm.nami --only y -n 50 -o sets.json", "fifty data sets, for --data"},
    {NULL, NULL},
};

const struct cmd cmd_simulate = {
    .name = "simulate",
    .summary = "draws from a model",
    .usage = "[OPTION]... FILE",
    .about =
        "Draws all random variables of a model from their joint distribution: the prior and, given "
        "it, the data. Observations are drawn like everything else; nothing is conditioned on.\n\n"
        "The same seed gives the same draws for any number of threads; draw i is the same for any "
        "-n.",
    .opt = options,
    .example = examples,
    .min_arg = 1,
    .max_arg = 1,
    .size = sizeof(struct options),
    .run = run,
};
