/* invert.h: from a graph and what is observed to an inverse.

   Methods, modes and criteria are tables: a new one is a file and a row. */
#ifndef GRAPH_INVERT_H
#define GRAPH_INVERT_H

#include "graph/inverse.h"

enum mode { MODE_FORWARD, MODE_REVERSE, MODE_BEST, MODE_FREE };

/* What scores a candidate for elimination: the fill it would cause, or the
   weight of its clique; with what weight of a node. */
struct criterion {
    const char *name, *what;
    int64_t (*weight)(int size); /* at least 1: pairs of weight 0 would be overlooked; NULL: 1 */
    int by_fill;
};

struct problem {
    const struct dag *g;
    const unsigned char *observed; /* n */
    const unsigned char *nuisance; /* n, or NULL: none */
    const int *stage;              /* n, or NULL: one stage */
    const int *size;               /* n, or NULL: all 1 */
    const struct criterion *criterion;
    enum mode mode; /* not MODE_BEST below nami_invert */
    int keep_barren;
    const int *rank;   /* ties go to the smaller rank; NULL: to the smaller number */
    int64_t max_edges; /* give up beyond this many (NAMI_ELIMIT); 0: no bound */
};

struct method {
    const char *name, *what;
    int uses_mode; /* does its order depend on mode and criterion? */
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
    ROLE_WANTED,   /* gets a network factor */
    ROLE_NUISANCE, /* is eliminated first, gets no factor */
    ROLE_MODEL,    /* barren: keeps the model's own conditional */
    ROLE_DROPPED   /* a nuisance that nothing depends on */
};

/* What becomes of every node. *inexact is set if a kept latent has no observed
   descendant: then eliminating in the moral graph is faithful but not minimal. */
int roles(const struct problem *p, unsigned char *role, int *inexact, nami_err *err);

/* An inverse with an order, its model factors and nuisances filled in. The
   observed variables stand in the order given (NULL: by number). */
int inverse_start(const struct problem *p, const unsigned char *role, const int *latent,
                  int nlatent, const int *observed, struct inverse **out, nami_err *err);

struct elim;
/* Algorithm 1: eliminates the nuisances, then the wanted latents, stage by
   stage. direct: wait for latent neighbours upstream only, as the paper does. */
int eliminate(const struct problem *p, const unsigned char *role, int direct, struct elim **out,
              nami_err *err);
/* The order in which the wanted ones went, to order[n]; returns how many. */
int elim_order(const struct elim *e, const unsigned char *role, int *order);
/* A factor for each wanted latent: its neighbours when it was eliminated. */
int inverse_from_elim(const struct problem *p, const unsigned char *role, const struct elim *e,
                      struct inverse **out, nami_err *err);
/* Just the order that method nami would take (order has room for n). */
int natural_order(const struct problem *p, const unsigned char *role, int *order, int *norder,
                  nami_err *err);

#endif
