/* cmd_logp.c: `nami logp`: the log joint density of a model at given points, and its gradient. */
#include "model.h"
#include "watch.h"

struct options {
    struct opt_common common;
    struct model_input input;
    struct opt_many at, by;
    int json, grad, threads;
};

#define AT(field) offsetof(struct options, field)
static const struct opt options[] = {
    {"at", 0, OPT_MANY, AT(at), "FILE", NULL, NULL,
     "points: data sets with a value for each random variable (default: --data)", 0},
    {"grad", 0, OPT_FLAG, AT(grad), NULL, NULL, NULL,
     "also the gradient with respect to continuous variables (JSON)", 0},
    {"by", 0, OPT_MANY, AT(by), "NAME", NULL, NULL,
     "with --grad: also differentiate by this constant; may be repeated", 0},
    {"json", 0, OPT_FLAG, AT(json), NULL, NULL, NULL, "print JSON", 0},
    {"threads", 0, OPT_COUNT, AT(threads), "N", "0", NULL,
     "number of threads; 0: one per processor", 0},
    MODEL_INPUT(struct options, input),
    {NULL, 0, 0, 0, NULL, NULL, NULL, NULL, 0},
};

static int evaluate(const nami_model *model, const nami_data *at, const struct options *o)
{
    nami_logp_options opt = {.gradient = o->grad, .threads = o->threads};
    struct watch w;
    nami_err err;
    char *text;
    watch_begin(&w, o->input.quiet);
    opt.watch = &w.library;
    int rc = nami_model_describe_logp(model, at, &opt, o->json || o->grad ? "json" : "text", &text,
                                      &err);
    watch_end(&w);
    return rc ? fail(RUNNING, NULL, &err) : finish_text(text, EXIT_YES);
}

static int run(const void *options_, int narg, char **arg)
{
    const struct options *o = options_;
    struct source s;
    nami_data *at = NULL;
    int rc = source_open(&s, arg[0], &o->input, &o->by, 0);
    (void)narg;
    if (!rc) rc = read_data(&at, &o->at);
    if (!rc) rc = evaluate(s.model, at, o);
    nami_data_free(at);
    source_close(&s);
    return rc;
}

static const struct example examples[] = {
    {"nami logp pumps.nami --data pumps.json --at points.json", "log p(x, z) at each point"},
    {NULL, NULL},
};

const struct cmd cmd_logp = {
    .name = "logp",
    .summary = "log joint density of a model at given points",
    .usage = "[OPTION]... FILE",
    .about = "Prints log p(x, z), with all normalizing constants, at each data set of --at: one "
             "line each, or JSON. Each random variable needs a value there.\n\n"
             "FILE is a model, or a network of 'nami train': its model, with the weights that were "
             "learned.",
    .opt = options,
    .example = examples,
    .min_arg = 1,
    .max_arg = 1,
    .size = sizeof(struct options),
    .run = run,
};
