/* api.h: the objects of nami.h, as its implementation sees them. */
#ifndef API_API_H
#define API_API_H

#include "base/arena.h"
#include "base/options.h"
#include "base/str.h"
#include "data/data.h"
#include "infer/infer.h"
#include "model/problem.h"
#include "model/view.h"
#include "net/network.h"

struct nami_data {
    struct data sets;
    vec(const char *) records; /* "x=FILE" and the like: read when a model is known */
    const char *repeated;      /* a name that two files give: they are different data sets; or NULL */
};

struct nami_inverse {
    const nami_bn *bn;
    struct inversion problem;
    struct inverse *own; /* freed with it; or NULL */
    const struct inverse *h;
};

struct nami_model {
    struct arena mem; /* of what follows but the model */
    struct model *m;
    int of_network; /* the model is a network's, and not freed with this */
    int good; /* it was read without an error */
    struct str messages;
    const char **name; /* of each scalar */
    int *node;
    const char *const *set; /* the options it was read with */
    int num_set;
    const char *observe;
};

int needs_model(const nami_model *w, nami_err *err); /* an error if it is not good */

/* A network, whose weights and sampler are ready to be asked. */
struct nami_network {
    struct network net;
    struct nami_model *model; /* of net.model, which it does not own */
    struct nami_inverse inverse;
    struct nami_data data; /* what the model was read with; its sets are the model's */
    float *param;
    struct infer infer;
};

/* From bytes of a file, which it takes over, also after an error. */
int network_take_bytes(struct str *bytes, int threads, int allow_simulator, nami_network **out,
                       nami_err *err);
/* A nami_model of a model that another object owns, and which must outlive it. */
int model_of_network(struct network *n, nami_model **out, nami_err *err);

/* A text to the caller, who frees it; t is empty afterwards.  0 or NAMI_ENOMEM. */
int give_text(struct str *t, char **text, size_t *len, nami_err *err);
/* NAMI_EUSAGE: the description cannot be had in this form; `forms` says in which. */
int no_such_form(const char *as, const char *forms, nami_err *err);
/* To the caller's watch, which may be NULL. */
void tell(const nami_watch *watch, int level, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Tells which names of data sets the model does not know, and which are of latents, which `who` (the
   model, the network) infers. */
void tell_unused(const struct model *m, const struct data *d, const char *who,
                 const nami_watch *watch);

#endif
