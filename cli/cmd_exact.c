/* cmd_exact.c: `nami exact`: the exact posterior of a linear Gaussian or discrete model. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"
#include "watch.h"

struct options {
    struct opt_common common;
    struct model_input input;
    nami_exact_options exact;
    struct opt_many given, out;
    const char *format;
    int json;
};

#define AT(field) offsetof(struct options, field)
static const struct opt options[] = {
    {"given", 'g', OPT_MANY, AT(given), "NODE=VALUE", NULL, NULL,
     "one more observation: a number, or the name or number of a state; may be repeated", 0},
    {"output", 'o', OPT_MANY, AT(out), "FILE", NULL, NULL,
     "write exact posterior draws: .csv, .json or .npz; may be repeated", 0},
    {"json", 0, OPT_FLAG, AT(json), NULL, NULL, NULL, "print JSON", 0},
    {"format", 0, OPT_WORD, AT(format), "NAME", NULL, format_words,
     "format of a structure, if not determined by extension or content", 0},
    MODEL_INPUT(struct options, input),
    {NULL, 0, 0, 0, NULL, NULL, NULL, NULL, 0},
};

/* "@FILE" for each data file, followed by the values of --given. */
struct evidence {
    const char *given[2 * OPT_MANY_MAX];
    char *file[OPT_MANY_MAX];
    int n;
};

static int add_file(struct evidence *e, int i, const char *path)
{
    size_t size = strlen(path) + 2;
    if (!(e->file[i] = malloc(size))) return no_memory();
    snprintf(e->file[i], size, "@%s", path);
    e->given[e->n++] = e->file[i];
    return EXIT_YES;
}

static int collect(struct evidence *e, const struct opt_many *files, const struct opt_many *given)
{
    int rc = EXIT_YES;
    for (int i = 0; i < files->n && !rc; i++) rc = add_file(e, i, files->a[i]);
    for (int i = 0; i < given->n && !rc; i++) e->given[e->n++] = given->a[i];
    return rc;
}

static int of_model(const nami_model *model, const char *path, const nami_exact_options *opt,
                    nami_exact **out)
{
    nami_err err;
    return nami_exact_new(model, NULL, 0, opt, out, &err) ? fail_model(path, &err) : EXIT_YES;
}

static int of_structure(const nami_bn *bn, const nami_exact_options *opt, nami_exact **out)
{
    nami_err err;
    if (!nami_exact_tables(bn, opt, out, &err)) return EXIT_YES;
    return fail(err.code == NAMI_EFILE ? READING : RUNNING, NULL,
                &err); /* while evidence is read */
}

static int put(const nami_exact *e, const struct options *o)
{
    nami_draws *d = NULL;
    nami_err err;
    char *text;
    int rc = EXIT_YES;
    if (o->out.n && nami_exact_draws(e, &d, &err)) rc = fail(RUNNING, NULL, &err);
    for (int i = 0; i < o->out.n && !rc; i++)
        if (nami_draws_write(d, o->out.a[i], &err)) rc = fail(WRITING, o->out.a[i], &err);
    nami_draws_free(d);
    if (rc) return rc;
    if (nami_exact_describe(e, o->json ? "json" : "text", &text, &err))
        return fail(RUNNING, NULL, &err);
    return finish_text(text, EXIT_YES);
}

static int solve_model(const char *path, const struct options *o, nami_exact_options *opt)
{
    struct source s;
    nami_exact *e = NULL;
    int rc = source_open_model(&s, path, &o->input, o->input.quiet);
    opt->given = o->given.a;
    opt->num_given = o->given.n;
    if (!rc) rc = of_model(s.model, path, opt, &e);
    if (!rc) rc = put(e, o);
    nami_exact_free(e);
    source_close(&s);
    return rc;
}

static int solve_structure(const char *path, const struct options *o, nami_exact_options *opt)
{
    struct evidence given = {.n = 0};
    nami_bn *bn = NULL;
    nami_exact *e = NULL;
    int rc = collect(&given, &o->input.data, &o->given);
    opt->given = given.given;
    opt->num_given = given.n;
    if (!rc && (o->input.set.n || o->input.observe))
        rc = bad_usage("--set and --observe are for models; write --given NODE=STATE");
    if (!rc) rc = open_structure(&bn, path, o->format);
    if (!rc) rc = of_structure(bn, opt, &e);
    if (!rc) rc = put(e, o);
    nami_exact_free(e);
    nami_bn_free(bn);
    for (int i = 0; i < o->input.data.n; i++) free(given.file[i]);
    return rc;
}

static int run(const void *options_, int narg, char **arg)
{
    const struct options *o = options_;
    nami_exact_options opt = o->exact;
    struct watch w;
    nami_err err;
    (void)narg;
    for (int i = 0; i < o->out.n; i++)
        if (nami_draws_check(o->out.a[i], &err)) return fail(RUNNING, NULL, &err);
    watch_begin(&w, o->input.quiet);
    opt.watch = &w.library;
    int rc = !o->format && nami_model_is(arg[0]) ? solve_model(arg[0], o, &opt)
                                                 : solve_structure(arg[0], o, &opt);
    watch_end(&w);
    return rc;
}

static const struct example examples[] = {
    {"nami exact lgssm.nami --data lgssm.json", "the same result as a Kalman smoother"},
    {"nami exact student.nami --data student.json --mpe",
     "a discrete model, and its most probable states"},
    {"nami exact asia.bif --given smoke=yes --given xray=no", "a network with tables"},
    {"nami exact tree.nami --data tree.json -n 10000 -o draws.npz", "independent draws, to a file"},
    {NULL, NULL},
};

const struct cmd cmd_exact = {
    .name = "exact",
    .summary = "exact posterior of a linear Gaussian or discrete model",
    .usage = "[OPTION]... FILE",
    .about =
        "Prints the posterior of each latent variable given the data, log p(x), and the entropy of "
        "the posterior, E[-log p(z|x)], without approximation, for two kinds of models: those in "
        "which all variables are normal with means that are affine in each other and constant "
        "variances (any graph), and those in which all variables have finitely many values (by a "
        "junction tree). A structure with tables (BIF, XMLBIF, UAI, Hugin, JSON) is of the second "
        "kind.\n\n"
        "The data of a model are those of its other commands; observed variables without a value "
        "are latent. The data of a structure are a JSON object of nodes and their states, by name "
        "or by number from 1: {\"smoke\": \"yes\", \"xray\": 2}. Draws of a structure are numbers "
        "of states.\n\n"
        "The same seed gives the same draws for any number of threads.",
    .opt = options,
    .groups = {{"exact", AT(exact), NULL}},
    .example = examples,
    .min_arg = 1,
    .max_arg = 1,
    .size = sizeof(struct options),
    .run = run,
};
