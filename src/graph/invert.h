/* invert.h: inverts a graph, given its observed variables.

   Methods, modes and criteria are tables: a new one is a file and a row. */
#ifndef GRAPH_INVERT_H
#define GRAPH_INVERT_H

#include "graph/inverse.h"

enum mode { MODE_FORWARD, MODE_REVERSE, MODE_BEST, MODE_FREE };

/* The score of a candidate for elimination: the fill that it would cause or the weight of its
   clique, and the weight of a node in it. */
struct criterion {
    const char *name, *what;
    int64_t (*weight)(int size); /* at least 1, since pairs of weight 0 would be missed; NULL: 1 */
    int by_fill;
};

struct problem {
    const struct dag *g;
    const unsigned char *observed; /* n */
    const unsigned char *nuisance; /* n, or NULL: none */
    const unsigned char *exact;    /* n, or NULL: none; latents that are integrated out exactly */
    const int *stage;              /* n, or NULL: one stage */
    const int *size;               /* n, or NULL: all 1 */
    const struct criterion *criterion;
    enum mode mode; /* MODE_BEST is resolved by invert() */
    int keep_barren;
    const int *rank;   /* ties are broken by the smaller rank; NULL: by the smaller number */
    int64_t max_edges; /* stop beyond this many edges (NAMI_ELIMIT); 0: no limit */
};

struct method {
    const char *name, *what;
    /* Does the elimination order depend on mode and criterion?  If not, there are no exact
       factors. */
    int uses_mode;
    int (*invert)(const struct problem *p, struct inverse **out, nami_err *err);
};

#define METHOD(id) extern const struct method method_##id;
#include "graph/method.def"
#undef METHOD

extern const struct method *const methods[]; /* NULL at the end */
extern const struct criterion criteria[];    /* name NULL at the end */
extern const char *const mode_names[];       /* by enum mode; NULL at the end */
extern const char *const mode_whats[];

const struct method *method_by_name(const char *name);
const struct criterion *criterion_by_name(const char *name);
int mode_by_name(const char *name); /* or -1 */

/* One method, one mode (MODE_BEST runs both and keeps the one with fewer edges,
   then the smaller width), with restarts. */
int invert(const struct problem *p, const struct method *m, int restarts, uint64_t seed,
           struct inverse **out, nami_err *err);

/* ---- shared by the methods ---------------------------------------------- */

enum role {
    ROLE_OBSERVED,
    ROLE_WANTED,   /* has a network factor, or an exact one */
    ROLE_NUISANCE, /* eliminated first, no factor */
    ROLE_MODEL,    /* barren: uses the conditional distribution of the model */
    ROLE_DROPPED   /* a barren nuisance: removed */
};

/* Assigns a role to every node. *inexact is set if a retained latent has no observed descendant:
   elimination in the moral graph is then faithful but not minimal. */
int roles(const struct problem *p, unsigned char *role, int *inexact, nami_err *err);

/* An inverse with the given order (exact latents first), model factors and nuisances, but no
   parents yet. The observed variables are in the given order (NULL: by number). */
int inverse_start(const struct problem *p, const unsigned char *role, const int *latent,
                  int nlatent, const int *observed, struct inverse **out, nami_err *err);

struct elim;
/* Algorithm 1: eliminates the nuisances, then the exact latents, then the others, stage by
   stage. direct: wait only for latent neighbors upstream, as in the paper. */
int eliminate(const struct problem *p, const unsigned char *role, int direct, struct elim **out,
              nami_err *err);
/* Writes the elimination order of the wanted latents to order[n]; returns their number. */
int elim_order(const struct elim *e, const unsigned char *role, int *order);
/* One factor for each wanted latent; its parents are its neighbors when it was eliminated. */
int inverse_from_elim(const struct problem *p, const unsigned char *role, const struct elim *e,
                      struct inverse **out, nami_err *err);
/* Only the elimination order of method nami, written to order[n]. */
int natural_order(const struct problem *p, const unsigned char *role, int *order, int *norder,
                  nami_err *err);

#endif
