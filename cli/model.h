/* model.h: options for models, and reading them from model files or trained networks. */
#ifndef CLI_MODEL_H
#define CLI_MODEL_H

#include "structure.h"

struct model_input {
    struct opt_many data, set;
    const char *observe, *train_prior;
    int quiet;
};

/* The rows of an option table for a struct whose member `member` is a model_input. */
#define MODEL_INPUT(type, member)                                                                  \
    {"data",                                                                                       \
     'd',                                                                                          \
     OPT_MANY,                                                                                     \
     offsetof(type, member.data),                                                                  \
     "FILE",                                                                                       \
     NULL,                                                                                         \
     NULL,                                                                                         \
     "values of constants and observations, JSON or R dump; may be repeated: files are combined",  \
     0},                                                                                           \
        {"set",                                                                                    \
         0,                                                                                        \
         OPT_MANY,                                                                                 \
         offsetof(type, member.set),                                                               \
         "NAME=VALUE",                                                                             \
         NULL,                                                                                     \
         NULL,                                                                                     \
         "value of a constant, instead of the file's; may be repeated",                            \
         0},                                                                                       \
        {"observe", 0,    OPT_TEXT, offsetof(type, member.observe),                                \
         "LIST",    NULL, NULL,     "observed variables, instead of those of the file",            \
         0},                                                                                       \
        {"train-prior",                                                                            \
         0,                                                                                        \
         OPT_TEXT,                                                                                 \
         offsetof(type, member.train_prior),                                                       \
         "TEXT",                                                                                   \
         NULL,                                                                                     \
         NULL,                                                                                     \
         "training distributions of top-level latents, 'mu ~ normal(0, 10); ...'; the answers "    \
         "are for the model's own priors",                                                         \
         0},                                                                                       \
    {                                                                                              \
        "quiet", 'q', OPT_FLAG, offsetof(type, member.quiet), NULL, NULL, NULL,                    \
            "no warnings or notes", 0                                                              \
    }

/* A model, from a model file or a network. */
struct source {
    nami_model *own;   /* or NULL */
    nami_network *net; /* or NULL */
    const nami_model *model;
};

/* Reads a model file, or the file of a network: its model, with the weights that were learned.
   `by`, or NULL: constants to differentiate by.  A program that a network's file names may run only
   with the user's consent: allow_simulator.  EXIT_YES, or reports an error and returns the exit
   code.  Close it in any case. */
int source_open(struct source *s, const char *path, const struct model_input *in,
                const struct opt_many *by, int allow_simulator);
/* The same for model files only. quiet: warnings are not printed yet. */
int source_open_model(struct source *s, const char *path, const struct model_input *in, int quiet);
/* Without consent: EXIT_YES if drawing from the model does not run a program named in a network
   file; otherwise names the program and returns the exit code. */
int source_refuse_simulator(const struct source *s, const char *path);
void source_close(struct source *s);

/* Reports an error of a library call: with the model file, if it has a position there. */
int fail_model(const char *path, const nami_err *err);

/* A model file with data in memory: see read_model_from. */
int read_model_with(nami_model **model, const char *path, const nami_data *data,
                    const struct model_input *in);
/* Prints a note on the simulator of the model, if there is one. */
void tell_simulator(const nami_model *model, int quiet);

#endif
