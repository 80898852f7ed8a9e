/* hosted.h: the networks of a service.  A file that is replaced becomes a new version; requests
   keep the version that they came with. */
#ifndef SERVE_HOSTED_H
#define SERVE_HOSTED_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>

#include "request.h"
#include "text.h"

/* The latent scalars of an answer. */
struct view {
    size_t num_scalars;
    char **name;
    size_t *row; /* of nami_block */
};

struct version {
    atomic_int users;
    nami_network *network;
    struct view view;   /* without `only` and `all`; empty: not known before the first query */
    const char *method; /* the default one */
    char *about;        /* JSON: what the page and GET /networks/NAME show */
    int number;         /* 1, 2, ... */
    double loaded;      /* seconds since 1970 */
};

struct hosted {
    char name[NETWORK_NAME + 1];
    char *path;
    pthread_mutex_t lock; /* of what follows */
    struct version *current;
    struct stat seen; /* the file when it was last read */
    int reloads, failed_reloads;
};

/* Methods that requests may ask for, in the order in which defaults are tried; NULL at the end. */
struct hosting {
    const char *const *methods;
};

/* `what` is a file, or NAME=FILE.  NAMI_EINPUT, NAMI_EFILE: the file does not read. */
int hosted_init(struct hosted *h, const char *what, const struct hosting *how, nami_err *err);
void hosted_fini(struct hosted *h);
/* Reads the file anew if it has changed: 1; 0: it has not; or an error, and the old version stays.
 */
int hosted_refresh(struct hosted *h, const struct hosting *how, nami_err *err);

/* The file of its report, beside that of the network: x.safetensors and x.html. */
void hosted_report(const struct hosted *h, struct text *path);

struct version *hosted_take(struct hosted *h);
void version_drop(struct version *v); /* or NULL */

int view_init(struct view *view, const nami_model *model, const nami_posterior *post);
void view_fini(struct view *view);

/* ---- what a network is like: about.c --------------------------------------------------------- */

/* Values of the observed scalars to begin with, [scalar]: those that it was trained with, else a
   draw from its model; 0 where neither is to be had. */
int about_example(const nami_network *network, double *point);
/* The observed variables of a point as a data set. */
void about_data(const nami_model *model, const double *point, struct text *out);
/* All as JSON. */
void about_put(const struct hosted *h, const struct version *v, const double *point,
               const struct hosting *how, struct text *out);

#endif
