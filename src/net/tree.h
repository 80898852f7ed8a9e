/* tree.h: the elimination tree of an inverse, along which learnt messages go.

   Step i eliminates the latent h->perm[i].  The terms of log p(x, z) that contain it, and no latent
   that was eliminated before, belong to the step; its separator are the latents that share a term
   or a message with it; its message goes to the step of that latent of the separator which is
   eliminated next.  So the messages that step i has received depend on exactly those observed
   variables which are parents of its factor in the inverse.

   Steps are of one kind, and share networks, if their latents are defined by one statement and read
   at the same places of the same statements, and if their separators are of the same arrays.  Terms
   are of one kind if they are instances of one statement that read alike.  Kinds depend on the text
   of the model, not on its sizes.

   Crossed effects: the latents of an array that share terms with the same latents of another, none
   of which tells them apart, are all in each other's separators.  Their number depends on the
   sizes; so those of a crossed array have no roles in a separator, and do not make its kind; nor do
   the places where they are read make their own.  Such
   steps follow each other in the tree, but each of them sends its own message to the first step
   after them that is not of their array; `chain` is the step among them that follows. */
#ifndef NET_TREE_H
#define NET_TREE_H

#include "model/reads.h"
#include "net/encoding.h"

struct tree_term {
    int inst, step;
    uint64_t kind;
    int first_node, num_nodes;         /* observed variables that it contains: tree.node */
    int first_constant, num_constants; /* tree.constant */
    int first_latent, num_latents;     /* steps of the latents that it contains: tree.latent */
};

struct tree_step {
    uint64_t kind;
    uint64_t role;                      /* what the step that gets its message knows of it */
    int parent;                         /* this step, or -1 */
    int level;                          /* that of its highest child + 1; 0 without children */
    int first_separator, num_separator; /* latents in the order of their roles: tree.separator */
    int num_crossed;                    /* those of crossed arrays follow them */
    int chain;                          /* see above; or -1 */
};

/* A term of step `base` contains the latent of `step`. */
struct tree_link {
    int step, base;
};

struct tree {
    int num_steps, num_terms;
    struct tree_step *step;
    struct tree_term *term; /* those that contain observed variables or constants; by step */
    vec(int) node, separator, latent;
    struct numbers constant;
    unsigned char *crossed;     /* by array */
    vec(struct tree_link) link; /* in order, without repetitions */
};

/* crossed[array]: is it crossed?  NULL: as tree_find_crossed says.  NAMI_EINPUT: messages do not
   suit this model. */
int tree_make(struct tree *tree, const struct model *model, const struct inverse *inverse,
              const struct encoding *encoding, const unsigned char *crossed, nami_err *err);
/* Sets crossed[array] of the arrays that are crossed in this inverse: at least CROSSED_LEAST
   latents that are read at the same places, one of which has half of the array in its separator.
   (In a chain of order p it has p; coefficients are read at places of their own.) */
enum { CROSSED_LEAST = 3 };
int tree_find_crossed(const struct model *model, const struct inverse *inverse,
                      unsigned char *crossed, nami_err *err);
void tree_free(struct tree *tree);

#endif
