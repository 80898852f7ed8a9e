/* api.h: the objects of nami.h, as its implementation sees them. */
#ifndef API_API_H
#define API_API_H

#include <pthread.h>

#include "base/arena.h"
#include "base/options.h"
#include "base/str.h"
#include "data/draws.h"
#include "infer/infer.h"
#include "infer/ood_model.h"
#include "model/lang/diag.h"
#include "model/problem.h"
#include "model/view.h"
#include "net/network.h"

struct nami_data {
    struct data sets;
    vec(const char *) records; /* "x=FILE" and the like: read when a model is known */
    const char *repeated; /* a name that two files give: they are different data sets; or NULL */
};

struct nami_inverse {
    const nami_bn *bn;
    struct inversion problem;
    struct inverse *own; /* freed with it; or NULL */
    const struct inverse *h;
    struct collapse own_collapse;
    const struct collapse *collapse; /* NULL: of a structure */
};

struct nami_model {
    struct arena mem; /* of what follows but the model */
    struct model *m;
    int of_network; /* the model is a network's, and not freed with this */
    int good;       /* it was read without an error */
    struct str messages;
    const char **name; /* of each scalar */
    int *node;
    const char *const *set; /* the options it was read with */
    int num_set;
    const char *observe;
    const char *simulator; /* what would run, for people; or NULL */
};

int needs_model(const nami_model *w, nami_err *err); /* an error if it is not good */

/* What data sets are compared with, which takes thousands of draws: fitted by the first query of a
   network, then read by those of all threads. */
struct network_ood {
    pthread_mutex_t lock; /* of what follows, until it is known */
    int known;
    struct ood_model fit;
};

/* A network, whose weights and sampler are ready to be asked. */
struct nami_network {
    struct network net;
    struct nami_model *model; /* of net.model, which it does not own */
    struct nami_inverse inverse;
    struct nami_data data; /* what the model was read with; its sets are the model's */
    float *param;
    struct infer infer;
    struct network_ood *ood;
};

/* The network and what is integrated out, as text. */
int network_text(const struct network *n, struct str *out, nami_err *err);
/* From bytes of a file, which it takes over, also after an error. */
int network_take_bytes(struct str *bytes, int threads, int allow_simulator, nami_network **out,
                       nami_err *err);
/* A nami_model of a model that another object owns, and which must outlive it. */
int model_of_network(struct network *n, nami_model **out, nami_err *err);

/* Messages about a model, with its name and the lines of its text. */
void print_messages(const nami_model *w, const struct diags *diags, struct str *out);

/* A text to the caller, who frees it; t is empty afterwards.  0 or NAMI_ENOMEM. */
int give_text(struct str *t, char **text, size_t *len, nami_err *err);
/* NAMI_EUSAGE: the description cannot be had in this form; `forms` says in which. */
int no_such_form(const char *as, const char *forms, nami_err *err);
/* NAMI_EUSAGE: there are not so many data sets. */
int no_such_set(size_t set, size_t num_sets, nami_err *err);
/* To the caller's watch, which may be NULL. */
void tell(const nami_watch *watch, int level, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* How far it is; NAMI_ECANCEL if the caller wants no more of it. */
int tell_progress(const nami_watch *watch, const char *phase, double done, double total,
                  nami_err *err);

/* Which names of data sets the model does not know.  0 or NAMI_ENOMEM, as those below. */
int tell_unknown(const struct model *m, const struct data *d, const nami_watch *watch);
/* Which are of latents, which `who` (the model, the network) infers. */
int tell_latents(const struct model *m, const struct data *d, const char *who,
                 const nami_watch *watch);
/* Both. */
int tell_unused(const struct model *m, const struct data *d, const char *who,
                const nami_watch *watch);
/* Which program draws from the model, if one does. */
void tell_program(const nami_model *w, const nami_watch *watch);

/* ---- what was found, for reports ------------------------------------------------------- */

struct calibration;
const struct calibration *calibration_found(const nami_calibration *calibration);

/* ---- draws ------------------------------------------------------------------------------ */

struct nami_draws {
    struct arena mem; /* of the variables */
    struct draws d;
    double *x;                 /* rows of the model, or of the variables of a structure */
    const nami_model *w;       /* or NULL */
    nami_simulate_options how; /* they were made, but for `only` */
    int chosen;                /* the variables are those that the caller named */
};

/* Draws x, which they own from now on, of a model's rows: the variables of how->only and how->all.
 */
int draws_of_model(const nami_model *w, const nami_simulate_options *how, double *x,
                   nami_draws **out, nami_err *err);
/* Draws of variables whose rows are x, which they own from now on.  The variables are copied, but
   for their names. */
int draws_of_rows(int num_vars, const struct draws_var *var, size_t num_draws, double *x,
                  nami_draws **out, nami_err *err);

#endif
