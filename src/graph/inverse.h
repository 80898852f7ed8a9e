/* inverse.h: an inverse, stored small.

   The inverse of a chain of length T has about T^2/2 edges, nearly all of them
   to observations that were gathered one by one.  So a parent set is not a list
   but a few runs of one permutation of the variables,

       perm = [ latents in the order of elimination | observed variables ],

   the observed ones arranged so that those which elimination cannot tell apart
   stand together.  A chain, a tree or a plate needs O(1) runs for each factor. */
#ifndef GRAPH_INVERSE_H
#define GRAPH_INVERSE_H

#include "base/vec.h"
#include "graph/dag.h"

struct run {
    int start, count; /* perm[start] .. perm[start + count - 1] */
};

enum property { FAITHFUL, MINIMAL, NATURAL, NPROPERTY };

/* Why a property fails, for the factor of `node`.
   FAITHFUL: `node` and `other` are dependent given the parents; trail[] is an
   active trail of the model from node to other.
   MINIMAL: the edge other -> node can go.
   NATURAL: the edge other -> node runs against the order of the rest. */
struct witness {
    int node, other;
    int ntrail, *trail;
};

struct certificate {
    signed char is[NPROPERTY]; /* 1 yes, 0 no, -1 not checked */
    int64_t checked;           /* factors that were checked */
    int64_t total;             /* factors that there are */
    struct witness why[NPROPERTY];
};

struct inverse {
    int n;         /* variables of the model */
    int nlatent;   /* network factors: of perm[0] .. perm[nlatent-1] */
    int nobserved; /* perm[nlatent] .. */
    int *perm;     /* nlatent + nobserved entries */
    int *pos;      /* pos[perm[i]] = i; -1 for barren and nuisance variables */
    int64_t *ptr;  /* the parents of perm[i] are run[ptr[i]] .. run[ptr[i+1]-1] */
    vec(struct run) run;
    int nmodel, *model;       /* barren latents, sampled last to first: q = p(v | pa(v)) */
    int nnuisance, *nuisance; /* latents without a factor */
    int64_t edges, width;     /* edges into network factors; largest parent set */
    const char *method, *mode;
    struct certificate cert;
    uint64_t *bits; /* work space: a set of positions, empty between calls */
};

/* An inverse with this order and these observed variables, and no parents yet.
   Both lists are copied. */
struct inverse *inverse_new(int n, const int *latent, int nlatent, const int *observed,
                            int nobserved);
void inverse_free(struct inverse *h);

/* Parents are given factor by factor, in order: add runs in any order, close. */
int inverse_add(struct inverse *h, int start, int count);
int inverse_add_vars(struct inverse *h, const int *var, int n); /* without repeats */
void inverse_close(struct inverse *h, int i);

/* Enumerates the parents of the i-th factor:
       for (struct inverse_it it = inverse_it(h, i); inverse_next(&it);) use(it.node); */
struct inverse_it {
    const struct inverse *h;
    int64_t run, end;
    int k, node;
};
struct inverse_it inverse_it(const struct inverse *h, int i);
int inverse_next(struct inverse_it *it);
int64_t inverse_count(const struct inverse *h, int i);

/* All nodes in one elimination order, barren ones first: written to out, whose
   room is n; returns how many (nuisances have no factor and are left out). */
int inverse_full_order(const struct inverse *h, int *out);

#endif
