/* cmd_export.c: `nami export`: writes a model as a JAGS program with its data, as JSON or as a
   Graphviz graph; a trained network as C source or an ONNX model. */
#include <stdio.h>
#include <string.h>

#include "model.h"
#include "with_network.h"

struct options {
    struct opt_common common;
    struct model_input input;
    const char *to, *out, *data_out, *name;
    int density;
};

static const struct target {
    const char *name, *ends;
    int of_network; /* not of models */
} targets[] = {
    {"jags", ".bug .bugs .jags ", 0},
    {"json", ".json ", 0},
    {"dot", ".dot .gv ", 0},
    {"c", ".c ", 1},
    {"onnx", ".onnx ", 1},
    {NULL, NULL, 0},
};

static const char *target_words(int i) { return targets[i].name; }

/* By --to, or else by the extension of the output. */
static const struct target *target_of(const struct options *o)
{
    const char *dot = o->out ? strrchr(o->out, '.') : NULL;
    for (const struct target *t = targets; t->name; t++) {
        if (o->to && strcmp(o->to, t->name) == 0) return t;
        const char *found = dot && !o->to ? strstr(t->ends, dot) : NULL;
        if (found && found[strlen(dot)] == ' ') return t;
    }
    return NULL;
}

#define AT(field) offsetof(struct options, field)
static const struct opt options[] = {
    {"to", 0, OPT_WORD, AT(to), "NAME", NULL, target_words,
     "output format, if not determined by the extension of the output", 0},
    {"output", 'o', OPT_TEXT, AT(out), "FILE", NULL, NULL,
     "write a file instead of standard output", 0},
    {"data-out", 0, OPT_TEXT, AT(data_out), "FILE", NULL, NULL,
     "with --to jags: also write the constants and observations, as an R dump", 0},
    {"density", 0, OPT_FLAG, AT(density), NULL, NULL, NULL,
     "with --to onnx: from data and latents to log q, instead of from noise to draws", 0},
    {"name", 0, OPT_TEXT, AT(name), "NAME", NULL, NULL,
     "with --to c or onnx: the name of its functions or its graph, instead of the model file's", 0},
    MODEL_INPUT(struct options, input),
    {NULL, 0, 0, 0, NULL, NULL, NULL, NULL, 0},
};

static int put(const char *path, const char *text, size_t len)
{
    nami_err err;
    if (path && strcmp(path, "-") != 0)
        return nami_file_write(path, text, len, &err) ? fail(WRITING, path, &err) : EXIT_YES;
    fwrite(text, 1, len, stdout);
    return finish_output(EXIT_YES);
}

/* Prints all messages about what JAGS cannot express. */
static int cannot(const nami_model *model, const char *file, const struct target *t,
                  const nami_err *why)
{
    nami_err err;
    char *text;
    if (why->code != NAMI_EINPUT || strcmp(t->name, "jags") != 0 ||
        nami_model_describe(model, "jags-messages", &text, NULL, &err))
        return fail(RUNNING, file, why);
    fputs(text, stderr);
    nami_free(text);
    return EXIT_BAD;
}

/* Computes all output before writing, so that a failure leaves no files. */
static int export(const nami_model *model, const char *file, const struct options *o,
                  const struct target *t)
{
    char *text = NULL, *data = NULL;
    size_t len = 0, data_len = 0;
    nami_err err;
    int rc = nami_model_describe(model, t->name, &text, &len, &err);
    if (!rc && o->data_out) rc = nami_model_describe(model, "rdump", &data, &data_len, &err);
    if (rc) rc = cannot(model, file, t, &err);
    if (!rc && o->data_out) rc = put(o->data_out, data, data_len);
    if (!rc) rc = put(o->out, text, len);
    nami_free(text);
    nami_free(data);
    return rc;
}

/* Trained networks: C, ONNX; open ones for the sizes of the data. */
static int export_network(const char *path, const struct options *o, const struct target *t)
{
    struct with_network w;
    nami_network *at = NULL;
    nami_err err;
    char *bytes = NULL;
    size_t len = 0;
    if (o->input.set.n || o->input.observe || o->input.train_prior)
        return bad_usage("--to %s takes a trained network as it is: without --set, --observe and "
                         "--train-prior",
                         t->name);
    int rc = with_network_open(&w, path, 0, 0, o->input.quiet);
    if (!rc && o->input.data.n && !nami_network_is_open(w.net))
        rc = bad_usage("%s: its sizes are fixed: leave out --data (open networks are exported for "
                       "the sizes, constants and missing values of a data set)",
                       path);
    if (!rc && o->input.data.n) rc = with_network_data(&w, &o->input.data);
    if (!rc &&
        ((o->input.data.n && nami_network_for(w.net, w.data, 0, &w.watch.library, &at, &err)) ||
         nami_network_export(at ? at : w.net, o->density ? "onnx-density" : t->name, o->name,
                             &w.watch.library, &bytes, &len, &err)))
        rc = with_network_fail(&w, &err);
    nami_network_free(at);
    with_network_close(&w);
    if (!rc) rc = put(o->out, bytes, len);
    nami_free(bytes);
    return rc;
}

static int run(const void *options_, int narg, char **arg)
{
    const struct options *o = options_;
    const struct target *t = target_of(o);
    struct source s;
    (void)narg;
    if (!t) return bad_usage("as what? name it with --to jags, json, dot, c or onnx");
    if (o->data_out && strcmp(t->name, "jags") != 0)
        return bad_usage("--data-out goes with --to jags");
    if (o->density && strcmp(t->name, "onnx") != 0)
        return bad_usage("--density goes with --to onnx; C files have both directions");
    if (o->name && !t->of_network) return bad_usage("--name goes with --to c and --to onnx");
    if (t->of_network) return export_network(arg[0], o, t);
    int rc = source_open_model(&s, arg[0], &o->input, o->input.quiet);
    if (!rc) rc = export(s.model, file_name(arg[0]), o, t);
    source_close(&s);
    return rc;
}

static const struct example examples[] = {
    {"nami export rats.nami --data rats.json --to jags -o rats.bug --data-out rats-data.R",
     "to run it in JAGS"},
    {"nami export hmm.nami --to json", "nodes, edges and statements, for programs"},
    {"nami export gmm.nami -o gmm.dot", "the model with its plates, for Graphviz"},
    {"nami export schools.net -o schools.c", "a trained network for C programs"},
    {"nami export schools.net -o schools.onnx", "the same for ONNX Runtime"},
    {"nami export open.net --data other.json -o other.c",
     "an open network, for the sizes and constants of this data set"},
    {NULL, NULL},
};

const struct cmd cmd_export = {
    .name = "export",
    .summary = "write a model for JAGS, as JSON or for Graphviz; a network as C or ONNX",
    .usage = "[OPTION]... FILE",
    .about =
        "jags: the model in JAGS's language. Distributions and functions get JAGS's names and "
        "arguments; constants that have a value in the file, or by --set, go to a data block, "
        "all others to the file of --data-out. What JAGS cannot express is refused, with its "
        "place.\n\n"
        "json: the elaborated model: each node with its size, distribution and statement, and "
        "all edges. 'nami invert' reads it as a structure.\n\n"
        "dot: the model as a graph, one node per statement and one box per loop.\n\n"
        "c, of a trained network: one file of C99 with its weights, which needs only libm: draws "
        "of the latents given data, from random numbers of the caller or of its own, and log q.\n\n"
        "onnx, of a trained network: a model for ONNX Runtime (opset 17) from random numbers and "
        "data to draws and log q. Of an open network, both are for the sizes, constants and "
        "missing "
        "values of one data set: --data, or else that of the training.",
    .opt = options,
    .example = examples,
    .min_arg = 1,
    .max_arg = 1,
    .size = sizeof(struct options),
    .run = run,
};
