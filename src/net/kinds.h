/* kinds.h: what the networks of all designs of a model share (open networks).

   A design is what data fix before inference: sizes, constants, which observations are missing.
   Networks with messages belong to kinds of terms and steps (tree.h), which do not depend on the
   design.  What a network for one design alone would choose for itself is settled here once for all
   designs: how sets are pooled, the scales of variables and constants, the output distributions.
   It is gathered from the designs of training, then fixed, and stored in the network's file. */
#ifndef NET_KINDS_H
#define NET_KINDS_H

#include <jansson.h>

#include "net/encoding.h"
#include "net/family.h"

/* A set that steps of a kind pool: terms of one kind, or children in one role. */
struct kind_set {
    uint64_t key;
    int terms;  /* it has terms, not children */
    int spread; /* it has several members in some step of some design */
    int direct; /* one in all of them */
};

struct kind {
    uint64_t key;
    const char *name; /* of its weights: "theta[j]", "theta[j]#2" */
    int is_step;
    /* of terms */
    int num_nodes, num_constants;
    double *mean, *sd; /* of constants; while they are gathered: sums of values and squares */
    double count;      /* of terms */
    /* of steps */
    vec(struct kind_set) set;
    int speaks;            /* they have messages */
    int context;           /* their factors depend on latents of crossed arrays (tree.h) */
    vec(uint64_t) reading; /* of which kinds of steps these factors read the terms again */
    int num_outputs;
    struct output_dist *output; /* of each coordinate of its latent; NULL: it has no factor */
};

/* The scales of an array's variables. */
struct kind_scale {
    const char *array;
    enum encoding_kind kind;
    int num_coords;
    double *mean, *sd; /* while they are gathered: sums of means, and of second moments */
    double count;
};

/* When the latents of an array are eliminated, so that the order does not depend on the design. */
struct kind_stage {
    const char *array;
    int stage;
};

struct kinds {
    struct arena mem;
    int fixed;
    int gaps;                     /* observations may be missing: no set is sure to have a member */
    vec(struct kind_stage) stage; /* empty: in any order */
    vec(const char *) crossed;    /* arrays (tree.h) */
    vec(struct kind) kind;
    vec(struct kind_scale) scale;
};

void kinds_free(struct kinds *kinds);

struct kind *kinds_find(const struct kinds *kinds, uint64_t key, int is_step); /* or NULL */
/* The same, added if it is not there, with a name from that of its statement; NULL: no memory. */
struct kind *kinds_add(struct kinds *kinds, uint64_t key, int is_step, const struct model *model,
                       int inst, int *fresh);

/* Arrays in the order in which an inverse eliminates them: a stage each, or one for those whose
   latents are not all eliminated before or after the others', unless they are crossed (by array).
   Then the stages of a model's nodes, stage[node].  0 or NAMI_ENOMEM. */
struct inverse;
int kinds_add_stages(struct kinds *kinds, const struct model *model, const struct inverse *inverse,
                     const unsigned char *crossed);
void kinds_take_stages(const struct kinds *kinds, const struct model *model, int *stage);

/* Adds the arrays that are crossed in a design; sets crossed[array] of those in the table. */
int kinds_add_crossed(struct kinds *kinds, const struct model *model, const struct inverse *inverse,
                      nami_err *err);
void kinds_take_crossed(const struct kinds *kinds, const struct model *model,
                        unsigned char *crossed);

/* Adds a design's encodings. */
int kinds_add_scales(struct kinds *kinds, const struct model *model,
                     const struct encoding *encoding);
/* Sets those of a design: NAMI_EINPUT if an array was never seen. */
int kinds_take_scales(const struct kinds *kinds, const struct model *model,
                      struct encoding *encoding, nami_err *err);

/* All designs were added: sums become means. */
void kinds_fix(struct kinds *kinds);

/* To and from JSON.  kinds_parse: NAMI_EINPUT if it is no such text; free it also then. */
void kinds_print(const struct kinds *kinds, struct str *out);
int kinds_parse(struct kinds *kinds, const char *text, nami_err *err);

#endif
