/* tree.h: the elimination tree of an inverse, along which learnt messages go.

   Step i eliminates the latent h->perm[i].  The terms of log p(x, z) that contain it, and no latent
   that was eliminated before, belong to the step; its separator are the latents that share a term
   or a message with it; its message goes to the step of that latent of the separator which is
   eliminated next.  So the messages that step i has received depend on exactly those observed
   variables which are parents of its factor in the inverse.

   Steps are of one kind, and share networks, if their latents are defined by one statement and read
   at the same places of the same statements, and if their separators are of the same arrays.  Terms
   are of one kind if they are instances of one statement that read alike.  Kinds depend on the text
   of the model, not on its sizes. */
#ifndef NET_TREE_H
#define NET_TREE_H

#include "model/reads.h"
#include "net/encoding.h"

struct tree_term {
    int inst, step;
    uint64_t kind;
    int first_node, num_nodes;         /* observed variables that it contains: tree.node */
    int first_constant, num_constants; /* tree.constant */
};

struct tree_step {
    uint64_t kind;
    uint64_t role;                      /* what the step that gets its message knows of it */
    int parent;                         /* this step, or -1 */
    int level;                          /* that of its highest child + 1; 0 without children */
    int first_separator, num_separator; /* latents in the order of their roles: tree.separator */
};

struct tree {
    int num_steps, num_terms;
    struct tree_step *step;
    struct tree_term *term; /* those that contain observed variables or constants; by step */
    vec(int) node, separator;
    struct numbers constant;
};

/* NAMI_EINPUT: messages do not suit this model. */
int tree_make(struct tree *tree, const struct model *model, const struct inverse *inverse,
              const struct encoding *encoding, nami_err *err);
void tree_free(struct tree *tree);

#endif
