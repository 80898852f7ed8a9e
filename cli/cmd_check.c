/* cmd_check.c: `nami check`: the prior predictive check, as a table or JSON. */
#include <stdio.h>

#include "model.h"
#include "watch.h"

struct options {
    struct opt_common common;
    struct model_input input;
    nami_check_options check;
    int json;
};

static const struct opt options[] = {
    {"json", 0, OPT_FLAG, offsetof(struct options, json), NULL, NULL, NULL, "print JSON", 0},
    MODEL_INPUT(struct options, input),
    {NULL, 0, 0, 0, NULL, NULL, NULL, NULL, 0},
};

static int show(const nami_check *c, int json, int quiet)
{
    int code = nami_check_problems(c) ? EXIT_NO : EXIT_YES;
    nami_err err;
    char *text;
    if (!json && quiet) return code;
    if (!json) fputs(nami_check_messages(c), stderr);
    if (nami_check_describe(c, json ? "json" : "text", &text, &err))
        return fail(RUNNING, NULL, &err);
    return finish_text(text, code);
}

static int run(const void *options_, int narg, char **arg)
{
    const struct options *o = options_;
    nami_check_options opt = o->check;
    struct source s;
    struct watch w;
    nami_check *c = NULL;
    nami_err err;
    int rc =
        source_open_model(&s, arg[0], &o->input, 1); /* messages come with those of the check */
    (void)narg;
    watch_begin(&w, o->input.quiet);
    opt.watch = &w.library;
    if (!rc && nami_check_new(s.model, &opt, &c, &err)) rc = fail_model(arg[0], &err);
    watch_end(&w);
    if (!rc) rc = show(c, o->json, o->input.quiet);
    nami_check_free(c);
    source_close(&s);
    return rc;
}

static const struct example examples[] = {
    {"nami check schools.nami --data schools.json", "prior predictive draws and problems"},
    {NULL, NULL},
};

const struct cmd cmd_check = {
    .name = "check",
    .summary = "prior predictive check: problems of a model, and better priors",
    .usage = "[OPTION]... FILE",
    .about = "Reads a model, draws from its prior predictive distribution, and reports what makes "
             "it hard or impossible to learn an inference network from such draws: parameters "
             "outside their support, overflow and underflow, observations that saturate, draws "
             "that are nothing like the data, constants that are never used, latents that no "
             "observation informs. Each message names the prior to change. With data, it proposes "
             "a weakly informative prior, scaled to the data and the covariates.\n\n"
             "The exit code is 1 if there is a problem.",
    .opt = options,
    .groups = {{"check", offsetof(struct options, check), NULL}},
    .example = examples,
    .min_arg = 1,
    .max_arg = 1,
    .size = sizeof(struct options),
    .run = run,
};
