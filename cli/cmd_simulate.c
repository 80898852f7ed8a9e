/* cmd_simulate.c: `nami simulate`: draws from a model's joint distribution, to files or as
   images. */
#include <stdio.h>

#include "model.h"
#include "watch.h"

struct options {
    struct opt_common common;
    struct model_input input;
    nami_simulate_options simulate;
    int json, allow;
    struct opt_many out;
};

#define AT(field) offsetof(struct options, field)
static const struct opt options[] = {
    {"output", 'o', OPT_MANY, AT(out), "FILE", NULL, NULL,
     "write a file: .json (an array of data sets, which --data reads), .csv or .npz; .png: images "
     "of an observed variable, or of one of --only; may be repeated",
     0},
    {"json", 0, OPT_FLAG, AT(json), NULL, NULL, NULL, "print JSON instead of CSV", 0},
    {"allow-simulator", 0, OPT_FLAG, AT(allow), NULL, NULL, NULL,
     "run the simulator, a command or plug-in, that a network's file names", 0},
    MODEL_INPUT(struct options, input),
    {NULL, 0, 0, 0, NULL, NULL, NULL, NULL, 0},
};

/* Images drawn from a network are means of this many draws given the same latents. */
enum { IMAGE_MEAN = 64 };

static int draw(const struct source *s, const char *path, const struct options *o, nami_draws **d)
{
    nami_simulate_options opt = o->simulate;
    struct watch w;
    nami_err err;
    int rc = o->allow ? EXIT_YES : source_refuse_simulator(s, path);
    if (rc) return rc;
    watch_begin(&w, o->input.quiet);
    opt.watch = &w.library;
    opt.exchange = team.exchange;
    opt.image_mean = s->net ? IMAGE_MEAN : 0;
    if (nami_model_draws(s->model, &opt, d, &err)) rc = fail_model(path, &err);
    watch_end(&w);
    return rc;
}

static int put(const nami_draws *d, const struct options *o)
{
    nami_err err;
    char *text;
    for (int i = 0; i < o->out.n; i++)
        if (nami_draws_write(d, o->out.a[i], &err))
            return fail(err.code == NAMI_EUSAGE ? RUNNING : WRITING, o->out.a[i], &err);
    if (o->out.n && !o->json) return EXIT_YES;
    if (nami_draws_describe(d, o->json ? "json" : "csv", &text, NULL, &err))
        return fail(RUNNING, NULL, &err);
    return finish_text(text, EXIT_YES);
}

static int run(const void *options_, int narg, char **arg)
{
    const struct options *o = options_;
    struct source s = {0};
    nami_draws *d = NULL;
    nami_err err;
    int rc = EXIT_YES;
    (void)narg;
    for (int i = 0; i < o->out.n && !rc; i++)
        if (nami_draws_check(o->out.a[i], &err)) rc = fail(RUNNING, NULL, &err);
    if (!rc) rc = source_open(&s, arg[0], &o->input, NULL, o->allow);
    if (!rc) rc = draw(&s, arg[0], o, &d);
    if (!rc && d) rc = put(d, o);
    nami_draws_free(d);
    source_close(&s);
    return rc;
}

static const struct example examples[] = {
    {"nami simulate schools.nami -n 5", "five draws of all random variables, as CSV"},
    {"nami simulate tree.nami --data w.json -n 100000 -o draws.npz", "a file for NumPy"},
    {"nami simulate gmm.nami --only y -n 50 -o sets.json", "fifty data sets, for --data"},
    {"nami simulate vae.safetensors -n 64 -o prior.png", "images drawn from a learned model"},
    {NULL, NULL},
};

const struct cmd cmd_simulate = {
    .name = "simulate",
    .summary = "draw from a model's joint distribution",
    .usage = "[OPTION]... FILE",
    .about =
        "Draws all random variables of a model from their joint distribution: the prior and, given "
        "it, the data. Observed variables are drawn like all others; nothing is conditioned on.\n\n"
        "FILE is a model, or a network of 'nami train': its model, with its data and the weights "
        "that were learned. Images of a network show the mean of 64 draws of the image given the "
        "same latents; images of a model show the draws.\n\n"
        "The same seed gives the same draws for any number of threads; draw i is the same for any "
        "-n.",
    .opt = options,
    .groups = {{"simulate", AT(simulate), NULL}},
    .example = examples,
    .min_arg = 1,
    .max_arg = 1,
    .size = sizeof(struct options),
    .run = run,
};
