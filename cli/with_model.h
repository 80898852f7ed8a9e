/* with_model.h: what commands that read a model share: its options, and reading it. */
#ifndef CLI_WITH_MODEL_H
#define CLI_WITH_MODEL_H

#include "bridge.h"
#include "model/model.h"
#include "structure.h"

struct model_opts {
    struct opt_many data, set;
    struct opt_many free; /* constants to differentiate by; not an option of its own */
    const char *observe;
    int quiet, threads;
    uint64_t seed;
};

/* The rows of an option table for a struct whose member `member` is a model_opts. */
#define MODEL_OPTIONS(type, member)                                                                 \
    {"data",                                                                                        \
     'd',                                                                                           \
     OPT_MANY,                                                                                      \
     offsetof(type, member.data),                                                                   \
     "FILE",                                                                                        \
     NULL,                                                                                          \
     NULL,                                                                                          \
     "values of constants and observations, as JSON or R dump; may be repeated: files go "          \
     "together",                                                                                    \
     0},                                                                                            \
        {"set",                                                                                     \
         0,                                                                                         \
         OPT_MANY,                                                                                  \
         offsetof(type, member.set),                                                                \
         "NAME=VALUE",                                                                              \
         NULL,                                                                                      \
         NULL,                                                                                      \
         "the value of a constant, instead of the file's; may be repeated",                         \
         0},                                                                                        \
        {"observe", 0,    OPT_TEXT, offsetof(type, member.observe),                                 \
         "LIST",    NULL, NULL,     "what is observed, instead of what the model says",             \
         0},                                                                                        \
        {"seed", 0, OPT_SEED, offsetof(type, member.seed), "N", "0", NULL, "of all that is random", \
         0},                                                                                        \
        {"threads", 0,   OPT_COUNT, offsetof(type, member.threads),                                 \
         "N",       "0", NULL,      "threads to use; 0: as many as there are processors",           \
         0},                                                                                        \
    {                                                                                               \
        "quiet", 'q', OPT_FLAG, offsetof(type, member.quiet), NULL, NULL, NULL,                     \
            "no warnings or notes", 0                                                               \
    }

/* Reads; says on standard error what is wrong.  EXIT_YES, or the exit code.  Free m in any case. */
int open_model(struct model *m, const char *path, const struct model_opts *o);
/* Says, once, which program draws from the model, if one does. */
void old_tell_simulator(const struct model *m, int quiet);
/* Warns of names in data sets that the model does not know. */
void say_unknown(const struct model *m, const struct data *d);
/* Notes values of variables that are not observed: `who` (the model, the network) infers them. */
void say_unused(const struct model *m, const struct data *d, const char *who);
/* "x=FILE", or a file of records (records.h): not one of constants. */
int is_records(const char *file);
/* Prints what the model's messages are, warnings too unless quiet. */
void show_messages(const struct model *m, int quiet);

#endif
