/* cmd_run.c: `nami run`: check, invert, train and sample in one command. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "jobs.h"
#include "model.h"

struct options {
    struct opt_common common;
    struct model_input input;
    nami_options invert;
    nami_train_options train;
    nami_query query;
    const char *out;
    int again, json;
};

#define AT(field) offsetof(struct options, field)
static const struct opt options[] = {
    {"output", 'o', OPT_TEXT, AT(out), "FILE", NULL, NULL,
     "file for the draws: .nc, .npz or .csv; default: MODEL.nc. The network is written beside it "
     "(.safetensors)",
     0},
    {"again", 0, OPT_FLAG, AT(again), NULL, NULL, NULL, "train a new network, even if one exists",
     0},
    {"json", 0, OPT_FLAG, AT(json), NULL, NULL, NULL, "print only the posterior summary, as JSON",
     0},
    MODEL_INPUT(struct options, input),
    {NULL, 0, 0, 0, NULL, NULL, NULL, NULL, 0},
};

/* a/b.nami -> b in the current directory; a/b.nc -> a/b; with this extension. To be freed; or
   NULL. */
static char *path_of(const char *path, int keep_folder, const char *ending)
{
    const char *slash = strrchr(path, '/'), *from = slash && !keep_folder ? slash + 1 : path;
    const char *dot = strrchr(slash ? slash : from, '.');
    int stem = (int)(dot && dot > from ? (size_t)(dot - from) : strlen(from));
    size_t size = (size_t)stem + strlen(ending) + 1;
    char *out = malloc(size);
    if (out) snprintf(out, size, "%.*s%s", stem, from, ending);
    return out;
}

/* Reports errors before the network is trained. */
static int ready(const struct options *o, const nami_model *model, const nami_data *data,
                 const char *file, const char *draws)
{
    nami_err err;
    if (!data) return bad_usage("what was observed? give --data FILE");
    if (!nami_posterior_check(model, data, &o->query, draws, &err)) return EXIT_YES;
    if (err.code == NAMI_EFILE) return fail(WRITING, draws, &err);
    if (err.line) return fail(READING, file_name(file), &err);
    return fail(err.code == NAMI_EUSAGE ? RUNNING : READING,
                o->input.data.n == 1 && err.code != NAMI_EUSAGE ? file_name(o->input.data.a[0])
                                                                : NULL,
                &err);
}

static int check(const struct options *o, const nami_model *model, const char *file)
{
    nami_check_options opt = {
        .seed = o->train.seed, .threads = o->train.threads, .training = 1};
    int quiet = o->input.quiet || o->json, rc = check_model(model, file, &opt, 0, quiet);
    if (rc != EXIT_NO) return rc;
    if (!o->input.quiet) note("the check found problems; the answer may be poor");
    return EXIT_YES;
}

/* Markov chains need no network. */
static int without_network(const struct options *o, const nami_model *model, nami_network **net)
{
    nami_err err;
    if (!o->input.quiet && !o->json) printf("network      none: Markov chains explore the posterior\n");
    return nami_network_untrained(model, &o->invert, net, &err) ? fail(RUNNING, NULL, &err)
                                                                : EXIT_YES;
}

static int work(const struct options *o, const char *file, const char *net_file, const char *draws)
{
    struct train_job train = {.invert = o->invert,
                              .train = o->train,
                              .out = net_file,
                              .save = 30,
                              .optional = !o->query.method,
                              .resume = !o->again && access(net_file, F_OK) == 0,
                              .quiet = o->input.quiet,
                              .silent = o->json};
    struct sample_job sample = {
        .query = o->query, .out = {1, {draws}}, .data = o->input.data, .json = o->json,
        .quiet = o->input.quiet};
    int apart = !o->input.quiet && !o->json; /* an empty line between the parts */
    nami_data *data = NULL;
    nami_model *model = NULL;
    nami_network *net = NULL;
    train.invert.seed = sample.query.seed = o->train.seed;
    sample.query.threads = o->train.threads;
    int rc = read_data(&data, &o->input.data);
    if (!rc) rc = read_model_with(&model, file, data, &o->input);
    if (!rc) tell_simulator(model, o->input.quiet);
    if (!rc) rc = ready(o, model, data, file, draws);
    if (!rc) rc = check(o, model, file);
    if (!rc && apart) puts(""), fflush(stdout);
    int chains = o->query.method && strcmp(o->query.method, "mcmc") == 0;
    if (!rc && !chains) rc = train_model(model, data, file, &train, &net);
    if (!rc && !net) rc = without_network(o, model, &net);
    if (!rc && apart) puts(""), fflush(stdout);
    if (!rc) rc = sample_network(net, data, &sample);
    nami_network_free(net);
    nami_model_free(model);
    nami_data_free(data);
    return rc;
}

static int run(const void *options_, int narg, char **arg)
{
    const struct options *o = options_;
    char *net = path_of(o->out ? o->out : arg[0], o->out != NULL, ".safetensors");
    char *draws = o->out ? NULL : path_of(arg[0], 0, ".nc");
    (void)narg;
    int rc = net && (draws || o->out) ? work(o, arg[0], net, o->out ? o->out : draws) : no_memory();
    free(net);
    free(draws);
    return rc;
}

static const struct example examples[] = {
    {"nami run schools.nami --data schools.json", "from a model and data to posterior draws"},
    {"nami run schools.nami --data schools.json -o out/schools.csv --family spline",
     "for R, with a flexible family"},
    {NULL, NULL},
};

const struct cmd cmd_run = {
    .name = "run",
    .summary = "check, invert, train and sample in one command",
    .usage = "[OPTION]... FILE --data DATA",
    .about = "Checks the model by its prior predictive distribution, inverts it, trains an "
             "inference network (MODEL.safetensors, or beside the output), draws from the "
             "posterior of the data, and ends with a table, a verdict and the paths of what was "
             "written.\n\n"
             "Latents that can be integrated out exactly are not learned; if none is left, there is "
             "no training, and the answer is exact.\n\n"
             "An existing network of this model is used, or trained further if its training was "
             "interrupted: posterior draws for the next data set then take milliseconds. --again "
             "trains a new network. The "
             "exit code is 1 if the answer is not trusted.",
    .opt = options,
    .groups = {{"query", offsetof(struct options, query), "seed,threads"},
               {"train", offsetof(struct options, train), "split,pixels,epochs,labels,warmup"},
               {"invert", offsetof(struct options, invert), "method,barren,verify,seed"}},
    .example = examples,
    .min_arg = 1,
    .max_arg = 1,
    .size = sizeof(struct options),
    .run = run,
};
