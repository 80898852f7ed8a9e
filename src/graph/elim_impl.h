/* elim_impl.h: private to elim.c, elim_setup.c, fill.c and core.c. */
#ifndef GRAPH_ELIM_IMPL_H
#define GRAPH_ELIM_IMPL_H

#include "graph/elim.h"
#include "graph/mintree.h"

struct vertex {
    int64_t def;    /* fill: weight of the missing pairs of neighbors */
    int64_t wdeg;   /* weight of the neighbors */
    int64_t wgiven; /* weight of the neighbors that are GIVEN */
    int64_t w;      /* weight of the members of this merged vertex */
    uint64_t hash;  /* sum of ids over the closed neighborhood; if GIVEN, over the neighbors only */
    int64_t adj;    /* position of the neighbors in pool; eliminated ones are removed lazily */
    int len, cap;
    int best;  /* the enabled member of smallest rank, or -1 */
    int count; /* number of members */
};

struct core;

struct pair {
    int a, b;
};

struct tag {
    uint32_t stamp;
    int index;
};

#define TAG_DEAD UINT32_MAX

/* An edge between two fixed (observed) vertices is not an edge of the inverse; it only counts in
   the fill of others, as in the paper.  A plate of 10^5 observations would have 10^10 of them.  If
   there are too many, the fixed vertices therefore become GIVEN: from then on they are considered
   adjacent (they are conditioned on together), and edges between them are not stored. */
enum { FIXED = 1, GIVEN = 2 };

enum {
    CLASSES = 32,
    POOL_MAX = INT32_MAX /* adjacency entries: eight gigabytes */
};

struct elim {
    int n;
    struct vertex *v; /* each on a separate cache line */
    void *v_mem;
    unsigned char *live, *fixed; /* fixed: 0, FIXED, or FIXED | GIVEN */
    uint64_t *id;                /* sum of the ids of the members */
    int strict, together;        /* strict: never make fixed vertices GIVEN; together: they are */
    int64_t spent;               /* number of edges between fixed vertices so far */
    const struct criterion *criterion;
    int64_t *weight;      /* weight of each member; NULL: all 1 */
    int *rank, *at_rank;  /* NULL: the identity */
    struct mintree queue; /* by rank: the score of the merged vertex whose `best` has this rank */

    /* linked lists of members: those of v are first[v], next[..], ... */
    int *first, *last, *next, *rep;
    unsigned char *enabled; /* for each member */
    int *when;              /* the step in which a member was eliminated, or INT_MAX */
    int nstep;

    vec(int) pool;               /* adjacency */
    vec(int64_t) spare[CLASSES]; /* free blocks of pool with 2^k entries */

    /* v is marked if mark[v] is the current stamp */
    uint32_t stamp, *mark;
    struct tag *tag; /* stamp == near: v is in N, at this index; TAG_DEAD: eliminated */
    uint32_t near;
    unsigned char *seen; /* is v in touched? */

    /* workspace of one step */
    vec(int) nb;           /* N: the neighbors of y ... */
    vec(int64_t) wb, wbg;  /* ... and for each: w(B), and the weight of the GIVEN ones in B */
    vec(struct pair) fill; /* the new edges */
    vec(int) touched;      /* vertices outside N whose fill changed */
    vec(uint64_t) outer;   /* fill.c: for each of these, the mask of its neighbors in N */
    vec(int) heap, b, table;
    int *alike; /* hash table of GIVEN vertices, to find those that can be merged */
    uint64_t alike_mask;

    struct core *core; /* the dense core, or NULL (core.h); once it exists, lists are unused */
    int *slot;         /* index of a vertex in the core */
    int nlive;         /* vertices left */
    int64_t regret;    /* recently read list entries that a core would have saved */

    vec(int) log; /* the record: see elim_step */
    int64_t nfill, edges;
    int failure; /* why a step failed, if not out of memory: NAMI_ELIMIT or NAMI_EBUG */
};

/* A pseudorandom 64-bit number for each vertex (splitmix64). Sums of them serve as hashes of sets:
   two different sets collide with probability 2^-64. */
static inline uint64_t elim_id(int v)
{
    uint64_t z = ((uint64_t)v + 1) * 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

static inline int *adj(struct elim *e, int v) { return e->pool.a + e->v[v].adj; }

/* Removes eliminated neighbors from the list of v; returns the number of those left. */
static inline int clean(struct elim *e, int v)
{
    int *a = adj(e, v), k = 0;
    for (int i = 0; i < e->v[v].len; i++)
        if (e->live[a[i]]) a[k++] = a[i];
    return e->v[v].len = k;
}

static inline int both_given(const struct elim *e, int a, int b)
{
    return e->fixed[a] & e->fixed[b] & GIVEN;
}

int elim_count(struct elim *e); /* elim_setup.c: degrees, hashes and fill of the current graph */

/* Records the new edge between nb[i] and nb[j] in fill, wb and wbg. */
static inline int note_edge(struct elim *e, int i, int j)
{
    int a = e->nb.a[i], b = e->nb.a[j];
    e->wb.a[i] += e->v[b].w;
    e->wb.a[j] += e->v[a].w;
    if (e->fixed[b] & GIVEN) e->wbg.a[i] += e->v[b].w;
    if (e->fixed[a] & GIVEN) e->wbg.a[j] += e->v[a].w;
    return vec_push(&e->fill, ((struct pair){a, b}));
}

/* Finds all missing pairs of N = nb (nb[i] has index i in tag), calls note_edge for each, and
   updates the fill counts of other vertices accordingly. The graph itself does not change. -1:
   failure. */
int find_fill(struct elim *e, int vy); /* fill.c */

#endif
