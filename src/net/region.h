/* region.h: the part of a model that determines p(v | parents).

   The region of a factor is all that can be reached from its variable v without passing through
   its parents S: the variables C inside, v among them, and those of S next to them.  Let F be the
   instances in C, and those that read one in C.  Then

       p(v | S)  is proportional to  the sum over C without v of the product of p(k | reads of k),
                                     k in F,

   and no other part of the model matters. */
#ifndef NET_REGION_H
#define NET_REGION_H

#include "model/reads.h"

enum { GIVEN = 1, INSIDE = 2, FACTOR = 4, LISTED = 8, TARGET = 16 }; /* in S, C, F; C or S; v */

/* A region and its coloring. */
struct region {
    const struct reads *g;
    const int *given; /* S, as instances */
    int64_t ngiven;
    unsigned char *tag; /* by instance */
    int n, *inst;       /* those of the region, v first */
    uint64_t *colour;   /* by instance: equal for those that look alike from v */
    uint64_t *next, *sum, *sorted;
};

int region_init(struct region *r, const struct reads *g); /* or -1: no memory */
void region_fini(struct region *r);
/* Finds and colours the region of v; 1, or 0 if that takes more than *work steps, which are taken
   away.  region_clear before the next one. */
int region_find(struct region *r, int v, const int *given, int64_t ngiven, int64_t *work);
void region_clear(struct region *r);
uint64_t region_hash(const struct region *r);

/* The isomorphism between two regions. */
struct match {
    struct region a, b;
    int *image, *back; /* of instances of a in b, and back; -1 */
    int *todo, ntodo;
    struct key *x, *y;
};

int match_init(struct match *m, const struct reads *g, int64_t width); /* the largest S; or -1 */
void match_fini(struct match *m);
/* 1 if they are, as far as was tried; writes the image of a's given ones, in order, to role. */
int match_find(struct match *m, int *role, int64_t *work);

#endif
