/* with_net.h: what commands that ask a trained network share. */
#ifndef CLI_WITH_NET_H
#define CLI_WITH_NET_H

#include "cmd.h"
#include "infer/answer.h"
#include "train/training.h"
#include "with_model.h"

struct trained {
    struct training r;
    float *param;
    struct infer a;
    struct data data; /* data sets of files */
    double *x;        /* their observed rows: of a query */
    size_t nset;
};

/* The rows of an option table for a struct with the members seed, threads and quiet. */
#define NET_OPTIONS(type)                                                                          \
    {"seed", 0, OPT_SEED, offsetof(type, seed), "N", "0", NULL, "of all that is random", 0},       \
        {"threads", 0,   OPT_COUNT, offsetof(type, threads),                                       \
         "N",       "0", NULL,      "threads to use; 0: as many as there are processors",          \
         0},                                                                                       \
    {                                                                                              \
        "quiet", 'q', OPT_FLAG, offsetof(type, quiet), NULL, NULL, NULL, "no table and no notes",  \
            0                                                                                      \
    }

/* The rows for data sets, of a struct with the members data and sets. */
#define NET_DATA(type)                                                                             \
    {"data",                                                                                       \
     'd',                                                                                          \
     OPT_MANY,                                                                                     \
     offsetof(type, data),                                                                         \
     "FILE",                                                                                       \
     NULL,                                                                                         \
     NULL,                                                                                         \
     "what was observed, as JSON or R dump: one data set or many; or x=FILE with an observation "  \
     "of x for each data set (IDX, NPY, NPZ, CSV, JSON); may be repeated: files that repeat no "   \
     "name go together. Without it, the data that the network was trained with",                   \
     0},                                                                                           \
    {                                                                                              \
        "sets", 0, OPT_COUNT, offsetof(type, sets), "N", "0", NULL,                                \
            "only the first N data sets; 0: all", 0                                                \
    }

/* The row of an option table for what calls allow_simulator(). */
#define ALLOW_SIMULATOR(at)                                                                        \
    {                                                                                              \
        "allow-simulator", 0, OPT_FLAG, at, NULL, NULL, NULL,                                      \
            "run the simulator, a command or plug-in, that a network's file names", 0              \
    }

/* Reads the file of a network; says what is wrong. */
int read_net(struct training *r, const char *path, int threads);
/* Before a network's model is drawn from: a program that its file names needs the user's consent.
   EXIT_YES, or the exit code, having said which program it is. */
int allow_simulator(struct training *r, const char *path, int allowed, int quiet);
/* Reads a network.  EXIT_YES, or the exit code, having said why.  Free it in any case. */
int open_net(struct trained *n, const char *path, int threads);
/* Adds the data sets of these files, the first `most` (0: all); without any, the one that is in the
   network's file.  Files that repeat no name go together.  Says what is not used of them: notes,
   unless quiet. */
int open_data(struct trained *n, const struct opt_many *file, int most, int quiet);
void close_net(struct trained *n);
/* Warns if data sets are unlike those that the model draws, which the network was trained on.
   p, of each data set (infer/ood.h): NaN where it cannot tell; a note says why, unless quiet. */
int warn_unlike(const struct trained *n, int threads, int quiet, double *p);

/* The names of what is asked for: all latents; with `all`, computed variables, too. */
int old_latent_names(const struct model *m, int all, struct str *out);
/* ,"name":x with null for what is not finite */
void old_put_json_number(struct str *out, const char *name, double x);

/* Can means by these weights be trusted?  `islands`: of SMC, else 0. */
int trusted(const struct diagnostics *d, size_t draws, size_t islands);
/* How far: lines of text, the evidence among them. */
void put_trust(const struct trained *n, const struct diagnostics *d, size_t draws, size_t islands,
               struct str *out);

#endif
