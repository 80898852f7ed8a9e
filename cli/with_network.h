/* with_network.h: shared by commands that use a trained network: the network, data sets, messages
   and progress. */
#ifndef CLI_WITH_NETWORK_H
#define CLI_WITH_NETWORK_H

#include "structure.h"
#include "watch.h"

/* The row of an option table for data sets: `member` is a struct opt_many. */
#define NETWORK_DATA(type, member)                                                                 \
    {                                                                                              \
        "data", 'd', OPT_MANY, offsetof(type, member), "FILE", NULL, NULL,                         \
            "observed data, JSON or R dump, with one data set or many; or x=FILE with an "         \
            "observation of x for each data set (IDX, NPY, NPZ, CSV, JSON); may be repeated: "     \
            "files that repeat no name are combined. Without it, the data that the network was "   \
            "trained with",                                                                        \
            0                                                                                      \
    }

/* The row for commands that draw from the model. */
#define ALLOW_NETWORK_SIMULATOR(type, member)                                                      \
    {                                                                                              \
        "allow-simulator", 0, OPT_FLAG, offsetof(type, member), NULL, NULL, NULL,                  \
            "run the simulator, a command or plug-in, that the network's file names", 0            \
    }

/* The row for commands that may ask the network with another model. */
#define CHANGED_MODEL(type, member)                                                                \
    {                                                                                              \
        "model", 0, OPT_TEXT, offsetof(type, member), "FILE", NULL, NULL,                          \
            "a changed model, with another prior or likelihood of the same variables: the "        \
            "network proposes, and weights use the density of FILE",                               \
            0                                                                                      \
    }

struct with_network {
    nami_network *net;
    nami_model *model;      /* a changed one, or NULL, */
    nami_network *original; /* and the network before; or NULL */
    nami_data *data;    /* NULL: those of the network */
    struct watch watch; /* &watch.library is for the options of a call */
};

/* Reads a network. EXIT_YES, or reports an error and returns the exit code. Call
   with_network_close() in any case. */
int with_network_open(struct with_network *w, const char *path, int threads, int allow_simulator,
                      int quiet);
/* Reads these data files; without any, the network must have data of its own. */
int with_network_data(struct with_network *w, const struct opt_many *files);
/* The network for a changed model (NULL: as it is), after its data: they hold the constants. */
int with_network_model(struct with_network *w, const char *file, int quiet);
/* Reports an error of a library call and returns the exit code. */
int with_network_fail(struct with_network *w, const nami_err *err);
void with_network_close(struct with_network *w);

#endif
