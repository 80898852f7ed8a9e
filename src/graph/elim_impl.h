/* elim_impl.h: what elim.c, elim_setup.c and core.c share, and nobody else. */
#ifndef GRAPH_ELIM_IMPL_H
#define GRAPH_ELIM_IMPL_H

#include "graph/elim.h"
#include "graph/mintree.h"

struct vertex {
    int64_t def;    /* weight of the missing pairs of neighbours */
    int64_t wdeg;   /* weight of the neighbours */
    int64_t wgiven; /* weight of those of them that are given */
    int64_t w;      /* weight of the members */
    uint64_t hash;  /* sum of ids: closed neighbourhood; if given, the neighbours alone */
    int64_t adj;    /* where the neighbours are in pool; dead ones are dropped in passing */
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

/* An edge between two fixed vertices is no edge of the inverse; it counts in the
   fill of others, as it does in the paper, and no more.  In a plate of 10^5
   observations there would be 10^10 of them.  So when they get too many, the
   fixed vertices become `given`: from then on they count as joined (they are
   given together), and edges between them are not stored. */
enum { FIXED = 1, GIVEN = 2 };

enum {
    CLASSES = 32,
    POOL_MAX = INT32_MAX /* entries of adjacency: eight gigabytes */
};

struct elim {
    int n;
    struct vertex *v; /* each on a cache line of its own */
    void *v_mem;
    unsigned char *live, *fixed; /* fixed: 0, FIXED, or FIXED | GIVEN */
    uint64_t *id;                /* sum of the ids of the members */
    int strict, together;        /* never let fixed vertices count as given; they do now */
    int64_t spent;               /* edges between fixed vertices so far */
    const struct criterion *criterion;
    int64_t *weight;      /* of each member; NULL: all 1 */
    int *rank, *at_rank;  /* NULL: the identity */
    struct mintree queue; /* by rank: the score of the merged vertex whose `best` this is */

    /* members: v's are first[v], next[..], ... */
    int *first, *last, *next, *rep;
    unsigned char *enabled; /* of a member */
    int *when;              /* the step in which a member was eliminated; INT_MAX */
    int nstep;

    vec(int) pool;               /* adjacency */
    vec(int64_t) spare[CLASSES]; /* free pieces of pool of 2^k entries */

    /* marks: v is marked if its stamp is the current one */
    uint32_t stamp, *mark;
    struct tag *tag; /* stamp `near`: v is in N, at this index; TAG_DEAD: not live */
    uint32_t near;
    unsigned char *seen; /* in touched */

    /* work space of one step */
    vec(int) nb;           /* N: the neighbours of y ... */
    vec(int64_t) wb, wbg;  /* ... and of each: w(B), and the weight of the given in B */
    vec(struct pair) fill; /* the new edges */
    vec(int) touched;      /* vertices outside N whose fill changed */
    vec(uint64_t) outer;   /* fill.c: for each of these, its neighbours in N */
    vec(int) heap, b, table;
    int *alike; /* given vertices by their hash, for want of a better one */
    uint64_t alike_mask;

    struct core *core; /* the dense rest, once there is one (core.h); then lists are dead */
    int *slot;         /* a vertex's index in it */
    int nlive;         /* vertices left */
    int64_t regret;    /* list entries read lately that a core would have saved */

    vec(int) log; /* the record: see elim_step */
    int64_t nfill, edges;
    int failure; /* why a step failed, if not for want of memory: NAMI_ELIMIT or NAMI_EBUG */
};

/* A random-looking 64-bit number for each vertex (splitmix64). Sums of them
   serve as hashes of sets: two different sets agree with probability 2^-64. */
static inline uint64_t elim_id(int v)
{
    uint64_t z = ((uint64_t)v + 1) * 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

static inline int *adj(struct elim *e, int v) { return e->pool.a + e->v[v].adj; }

/* Drops dead neighbours; returns how many are left. */
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

int elim_count(struct elim *e); /* elim_setup.c: degrees, hashes and fill of the graph as it is */

/* Notes the new edge between nb[i] and nb[j] in fill, wb and wbg. */
static inline int note_edge(struct elim *e, int i, int j)
{
    int a = e->nb.a[i], b = e->nb.a[j];
    e->wb.a[i] += e->v[b].w;
    e->wb.a[j] += e->v[a].w;
    if (e->fixed[b] & GIVEN) e->wbg.a[i] += e->v[b].w;
    if (e->fixed[a] & GIVEN) e->wbg.a[j] += e->v[a].w;
    return vec_push(&e->fill, ((struct pair){a, b}));
}

/* Finds all missing pairs of N = nb (nb[i] has index i in tag): calls note_edge
   for each, and does what new edges do to the fill counts
   of others. The graph itself is not changed. -1: it failed. */
int find_fill(struct elim *e, int vy); /* fill.c */

#endif
