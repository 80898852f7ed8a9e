/* cmd_train.c: `nami train`: builds and trains an inference network for a model. */
#include <stdio.h>
#include <unistd.h>

#include "jobs.h"
#include "model.h"
#include "watch.h"

struct options {
    struct opt_common common;
    struct model_input input;
    nami_options invert;
    nami_train_options train;
    const char *out, *log;
    int save, json, dry, resume;
};

#define AT(field) offsetof(struct options, field)
static const struct opt options[] = {
    {"output", 'o', OPT_TEXT, AT(out), "NET", NULL, NULL,
     "file of the network (safetensors): written at the end, and as a checkpoint before", 0},
    {"resume", 0, OPT_FLAG, AT(resume), NULL, NULL, NULL,
     "continue from the checkpoint NET, if it exists; of the other options, only --steps counts", 0},
    {"dry-run", 0, OPT_FLAG, AT(dry), NULL, NULL, NULL,
     "print factors, layers, masks and numbers of parameters; train nothing", 0},
    {"save", 0, OPT_COUNT, AT(save), "SECONDS", "30", NULL, "time between checkpoints", 0},
    {"log", 0, OPT_TEXT, AT(log), "FILE", NULL, NULL,
     "write the losses, in total and of each factor, one row for each validation: .csv or .json", 0},
    {"json", 0, OPT_FLAG, AT(json), NULL, NULL, NULL, "print the result as JSON", 0},
    MODEL_INPUT(struct options, input),
    {NULL, 0, 0, 0, NULL, NULL, NULL, NULL, 0},
};

/* Describes the network without training it. */
static int describe(const nami_model *model, const nami_data *data, const char *file,
                    const struct options *o, const nami_options *invert)
{
    nami_train_options opt = o->train;
    nami_trainer *t;
    nami_err err;
    struct watch w;
    char *text;
    watch_begin(&w, o->input.quiet);
    opt.watch = &w.library;
    opt.data = data;
    if (nami_trainer_new(model, invert, &opt, &t, &err)) return fail_model(file, &err);
    int rc = nami_trainer_describe(t, o->json ? "network-json" : "network", &text, &err);
    nami_trainer_free(t);
    return rc ? fail(RUNNING, NULL, &err) : finish_text(text, EXIT_YES);
}

static int run(const void *options_, int narg, char **arg)
{
    const struct options *o = options_;
    struct train_job job = {.invert = o->invert,
                            .train = o->train,
                            .out = o->out,
                            .log = o->log,
                            .save = o->save,
                            .resume = o->resume && o->out && access(o->out, F_OK) == 0,
                            .json = o->json,
                            .quiet = o->input.quiet};
    nami_data *data = NULL;
    nami_model *model = NULL;
    (void)narg;
    if (!o->dry && !o->out)
        return bad_usage("where should the network go? give -o NET, or --dry-run");
    job.invert.seed = o->train.seed;
    int rc = read_all_data(&data, &o->input.data);
    if (!rc) rc = read_model_with(&model, arg[0], data, &o->input);
    if (rc && data && nami_data_records(data, 0))
        note("constants are read from JSON files or R dumps; other files hold data to learn from "
             "(--objective elbo)");
    if (!rc && !o->train.samples) tell_simulator(model, o->input.quiet);
    if (!rc)
        rc = o->dry ? describe(model, data, arg[0], o, &job.invert)
                    : train_model(model, data, arg[0], &job, NULL);
    nami_model_free(model);
    nami_data_free(data);
    return rc;
}

static const struct example examples[] = {
    {"nami train tree.nami --data w.json -o tree.safetensors", "train on simulations of the model"},
    {"nami train tree.nami --data w.json --dry-run",
     "what would be trained: layers and parameters"},
    {"nami train gmm.nami --family spline -o gmm.safetensors --log gmm.csv",
     "a flexible family; a log of the losses"},
    {"nami train tree.nami --data w.json -o tree.safetensors --samples draws.npz",
     "train on joint draws from a file"},
    {"nami train tree.nami --data w.json -o tree.safetensors --resume",
     "continue after an interruption"},
    {NULL, NULL},
};

const struct cmd cmd_train = {
    .name = "train",
    .summary = "train an inference network for a model",
    .usage = "[OPTION]... FILE -o NET",
    .about =
        "Inverts a model, builds a neural network q(z|x) with the structure of the inverse, and "
        "trains it on simulations of the model; afterwards the posterior of any data set takes "
        "milliseconds. The loss is E[-log q(z|x)], in nats; its minimum is the entropy of the "
        "posterior.\n\n"
        "Latents that can be integrated out exactly need no network, and are drawn exactly given "
        "the others; if none is left, there is nothing to train. --dry-run prints which they are; "
        "--exact none trains a network for all latents.\n\n"
        "NET contains the model, its data, the inverse, all settings, the weights and the state of "
        "the training. It is replaced atomically, so that it is complete at any moment; --resume "
        "continues from it with bit-identical results. Ctrl-C and SIGTERM save a checkpoint first; "
        "SIGUSR1 saves one, and training goes on. "
        "The same seed gives the same network for any number of threads.",
    .opt = options,
    .groups = {{"train", offsetof(struct options, train), NULL},
               {"invert", offsetof(struct options, invert), "barren,verify,seed"}},
    .example = examples,
    .min_arg = 1,
    .max_arg = 1,
    .size = sizeof(struct options),
    .run = run,
};
