/* cmd_check.c: `nami check`: the prior predictive check, as a table or JSON. */
#include <stdio.h>

#include "jobs.h"
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

int check_model(const nami_model *model, const char *file, const nami_check_options *options_,
                int json, int quiet)
{
    nami_check_options opt = *options_;
    nami_check *c = NULL;
    struct watch w;
    nami_err err;
    watch_begin(&w, quiet);
    opt.watch = &w.library;
    int rc = nami_check_new(model, &opt, &c, &err) ? fail_model(file, &err) : EXIT_YES;
    watch_end(&w);
    if (!rc) rc = show(c, json, quiet);
    nami_check_free(c);
    return rc;
}

static int run(const void *options_, int narg, char **arg)
{
    const struct options *o = options_;
    struct source s;
    int rc =
        source_open_model(&s, arg[0], &o->input, 1); /* messages come with those of the check */
    (void)narg;
    if (!rc) rc = check_model(s.model, arg[0], &o->check, o->json, o->input.quiet);
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
             "that are far from the data, constants that are never used, latents that no "
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
