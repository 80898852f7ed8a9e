/* inverse.h: an inverse factorization in compact storage.

   The inverse of a chain of length T has about T^2/2 edges, nearly all of them from observations
   that were accumulated one by one.  A parent set is therefore not stored as a list but as a small
   number of runs of one permutation of the variables,

       perm = [ latents in elimination order | observed variables ],

   with observed variables that are indistinguishable during elimination next to each other.
   Chains, trees and plates need O(1) runs per factor. */
#ifndef GRAPH_INVERSE_H
#define GRAPH_INVERSE_H

#include "base/vec.h"
#include "graph/dag.h"

struct run {
    int start, count; /* perm[start] .. perm[start + count - 1] */
};

enum property { FAITHFUL, MINIMAL, NATURAL, NPROPERTY };

/* Counterexample to a property, for the factor of `node`.
   FAITHFUL: `node` and `other` are dependent given the parents; trail[] is an
   active trail of the model from node to other.
   MINIMAL: the edge other -> node can be removed.
   NATURAL: the edge other -> node is inconsistent with the order of the other edges. */
struct witness {
    int node, other;
    int ntrail, *trail;
};

struct certificate {
    signed char is[NPROPERTY]; /* 1 yes, 0 no, -1 not verified */
    int64_t checked;           /* number of factors verified */
    int64_t total;             /* number of factors in total */
    struct witness why[NPROPERTY];
};

enum {
    EXACT_KINDS = 16, /* different names of kinds of exact factors, at most ... */
    EXACT_NAME = 20   /* ... and characters of each */
};

struct inverse {
    int n;         /* number of variables of the model */
    int nlatent;   /* number of latents with a factor: perm[0] .. perm[nlatent-1] */
    int nexact;    /* those of perm[0] .. perm[nexact-1] are exact, the others networks */
    int nobserved; /* perm[nlatent] .. */
    int *perm;     /* nlatent + nobserved entries */
    int *pos;      /* pos[perm[i]] = i; -1 for barren and nuisance variables */
    int64_t *ptr;  /* the parents of perm[i] are run[ptr[i]] .. run[ptr[i+1]-1] */
    vec(struct run) run;
    int nmodel, *model;       /* barren latents, q = p(v | pa(v)); sampled from last to first */
    int nnuisance, *nuisance; /* latents without a factor */
    int64_t edges, width;     /* edges into network and exact factors; largest parent set */
    const char *method, *mode;
    const char **exact; /* nexact entries: "normal", ...; NULL until named; they point to: */
    int nkind;
    char kind[EXACT_KINDS][EXACT_NAME + 1];
    struct certificate cert;
    const struct inverse *whole; /* inverse_rest: the one it is a part of; or NULL */
    uint64_t *bits; /* workspace: a set of positions, empty between calls */
};

/* An inverse with this order and these observed variables, and no parents yet.
   Both lists are copied. */
struct inverse *inverse_new(int n, const int *latent, int nlatent, const int *observed,
                            int nobserved);
void inverse_free(struct inverse *h);

/* The factors of perm[0] .. perm[nexact-1] are exact.  Once, before they are named. */
int inverse_set_exact(struct inverse *h, int nexact);
/* Names the kind of the i-th factor, which is exact; the name is copied.  -1 if it is not a word of
   letters, digits and underscores, or too long, or if there are too many different ones. */
int inverse_name_exact(struct inverse *h, int i, const char *name);

/* Parents are added factor by factor, in order: for each, add runs in any order, then close. */
int inverse_add(struct inverse *h, int start, int count);
int inverse_add_vars(struct inverse *h, const int *var, int n); /* without duplicates */
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

/* The part of the networks: the same factors without the exact ones, whose latents become nuisances
   (marginalized; no other factor reads them).  Barren latents stay: those that depend on an exact
   latent can be drawn once it has been.  It has no certificate, and h must
   outlive it.  NULL: out of memory. */
struct inverse *inverse_rest(const struct inverse *h);

/* Writes all nodes in one elimination order, barren ones first, to out[n]; returns their number
   (nuisances have no factor and are omitted). */
int inverse_full_order(const struct inverse *h, int *out);

#endif
