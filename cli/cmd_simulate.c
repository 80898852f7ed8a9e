/* cmd_simulate.c: `nami simulate`: draws from a model's joint distribution, to files or as
   images. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "base/parallel.h"
#include "model/eval.h"
#include "report/gallery.h"
#include "with_net.h"

struct options {
    struct opt_common common;
    struct model_opts model;
    int n, json, all, allow;
    const char *only;
    struct opt_many out;
};

#define AT(field) offsetof(struct options, field)
static const struct opt options[] = {
    {"draws", 'n', OPT_COUNT, AT(n), "N", "1000", NULL, "how many draws", 0},
    {"output", 'o', OPT_MANY, AT(out), "FILE", NULL, NULL,
     "write to a file: .json (an array of data sets, which --data reads), .csv or .npz; .png: the "
     "first image that is observed, or of --only; may be repeated",
     0},
    {"json", 0, OPT_FLAG, AT(json), NULL, NULL, NULL, "print JSON instead of CSV", 0},
    {"only", 0, OPT_TEXT, AT(only), "NAMES", NULL, NULL, "only these variables, a comma list", 0},
    {"all", 0, OPT_FLAG, AT(all), NULL, NULL, NULL, "deterministic variables too", 0},
    ALLOW_SIMULATOR(AT(allow)),
    MODEL_OPTIONS(struct options, model),
    {NULL, 0, 0, 0, NULL, NULL, NULL, NULL, 0},
};

/* ---- pictures ----------------------------------------------------------------------- */

static int is_picture(const char *path) { return str_ends(path, strlen(path), ".png"); }

static int is_observed(const struct model *m, const char *name)
{
    for (size_t i = 0; i < m->ir.arrays.n; i++)
        if (strcmp(m->ir.arrays.a[i].name, name) == 0)
            return m->ir.observed[m->ir.arrays.a[i].first];
    return 0;
}

/* An image of --only, or else one that is observed, comes first. */
static int find_image(const struct model *m, const struct draws *d, const char *only,
                      const struct draws_var **out, nami_err *err)
{
    int height, width;
    for (int v = 0; v < d->nvar && !only; v++)
        if (is_observed(m, d->var[v].name) && gallery_shape(&d->var[v], &height, &width)) {
            *out = &d->var[v];
            return 0;
        }
    return gallery_find(d->nvar, d->var, out, err);
}

/* Data are shown by the mean of so many draws given the same latents, where a network knows how to
   draw them again. */
enum { AGAIN = 64 };

static int average(struct training *r, const struct options *o, const double *x, double *mean,
                   nami_err *err)
{
    size_t n = (size_t)o->n, size = (size_t)r->net.model->ir.num_rows * n, stride = (n + 7) / 8 * 8;
    double *pred = raw_array(double, size + 1);
    float *param = new_array(float, network_nparam(&r->net) + 1); /* q itself is not asked */
    struct infer a = {0};
    int rc = pred && param ? infer_init(&a, &r->net.q, param, err) : err_nomem(err);
    for (size_t i = 0; i < size && !rc; i++) mean[i] = 0;
    for (uint64_t k = 0; k < AGAIN && !rc; k++) {
        rc = infer_predict(&a, n, x, o->model.seed, (k + 1) * stride,
                           parallel_threads(o->model.threads), pred, err);
        for (size_t i = 0; i < size && !rc; i++) mean[i] += pred[i] / AGAIN;
    }
    if (a.q) infer_fini(&a);
    free(param);
    free(pred);
    return rc;
}

static int write_picture(struct training *r, const struct options *o, const struct draws *d,
                         const char *path)
{
    const struct draws_var *v;
    double *mean = NULL;
    nami_err err;
    int rc = find_image(r->net.model, d, o->only, &v, &err), again = 0;
    if (!rc) /* rows of the model: not those of an array with constants among its elements */
        again = r->net.q.m && is_observed(r->net.model, v->name) && v->base < (size_t)r->net.model->ir.num_rows;
    if (!rc && again) {
        mean = raw_array(double, (size_t)r->net.model->ir.num_rows * d->n + 1);
        rc = mean ? average(r, o, d->x, mean, &err) : err_nomem(&err);
    }
    if (!rc) rc = gallery_draws(v, d->n, again ? mean : d->x, path, &err);
    free(mean);
    return rc ? fail(err.code == NAMI_EUSAGE ? RUNNING : WRITING, path, &err) : EXIT_YES;
}

/* ---- files -------------------------------------------------------------------------- */

static int check_outputs(const struct options *o)
{
    nami_err err;
    for (int i = 0; i < o->out.n; i++)
        if (!is_picture(o->out.a[i]) && draws_format_check(o->out.a[i], &err))
            return fail(RUNNING, NULL, &err);
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

static int put(struct training *r, const struct options *o, const double *x, struct arena *mem)
{
    struct draws d;
    struct str out = {0};
    nami_err err;
    int rc = EXIT_YES;
    if (model_draws(r->net.model, (size_t)o->n, x, o->only, o->all, mem, &d, &err))
        return fail(RUNNING, NULL, &err);
    for (int i = 0; i < o->out.n && !rc; i++)
        rc = is_picture(o->out.a[i]) ? write_picture(r, o, &d, o->out.a[i])
                                     : write_file(&d, o->out.a[i]);
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
    struct training r = {0};
    struct arena mem = {0};
    double *x = NULL;
    nami_err err;
    int rc = check_outputs(o);
    (void)narg;
    if (!rc) rc = open_model_or_net(&r, arg[0], &o->model);
    if (!rc) rc = allow_simulator(&r, arg[0], o->allow, o->model.quiet);
    if (!rc && !(x = raw_array(double, (size_t)r.net.model->ir.num_rows *(size_t)o->n))) {
        err_nomem(&err);
        rc = fail(RUNNING, NULL, &err);
    }
    if (!rc) {
        if (model_simulate(r.net.model, o->model.seed, 0, (size_t)o->n, parallel_threads(o->model.threads),
                           x, &err))
            rc = fail(err.line ? READING : RUNNING, err.line ? file_name(arg[0]) : NULL, &err);
        else
            rc = put(&r, o, x, &mem);
    }
    free(x);
    arena_free(&mem);
    training_free(&r);
    return rc;
}

static const struct example examples[] = {
    {"nami simulate schools.nami -n 5", "five draws of all random variables, as CSV"},
    {"nami simulate tree.nami --data w.json -n 100000 -o draws.npz", "to a file for NumPy"},
    {"nami simulate gmm.nami --only y -n 50 -o sets.json", "fifty data sets, for --data"},
    {"nami simulate vae.net -n 64 -o prior.png", "images of a model that was learnt"},
    {NULL, NULL},
};

const struct cmd cmd_simulate = {
    .name = "simulate",
    .summary = "draws from a model",
    .usage = "[OPTION]... FILE",
    .about =
        "Draws all random variables of a model from their joint distribution: the prior and, given "
        "it, the data. Observations are drawn like everything else; nothing is conditioned on.\n\n"
        "FILE is a model, or a network of 'nami train': its model, with its data and the weights "
        "that were learnt. Of a network, pictures show the mean of 64 draws of the image given the "
        "same latents; of a model, the draws.\n\n"
        "The same seed gives the same draws for any number of threads; draw i is the same for any "
        "-n.",
    .opt = options,
    .example = examples,
    .min_arg = 1,
    .max_arg = 1,
    .size = sizeof(struct options),
    .run = run,
};
