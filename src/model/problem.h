/* problem.h: converts a structure and the options of the user to an inversion problem of graph/. */
#ifndef MODEL_PROBLEM_H
#define MODEL_PROBLEM_H

#include "graph/certify.h"
#include "graph/invert.h"
#include "model/bn.h"

struct inversion {
    struct problem p;
    const struct method *method;
    enum verify verify;
    int restarts;
    uint64_t seed;
    /* owned */
    unsigned char *observed, *nuisance;
    int *stage, *size;
    /* NULL, or by node: latents that are integrated out exactly, and the kinds of their integrals
       ("normal").  inversion_init leaves them NULL; the arrays are owned, the names are not.  They
       are for one natural mode: in p.mode, nothing that an exact latent waits for may be left. */
    unsigned char *exact;
    const char **exact_kind;
};

/* Checks the options and fills `out`; `bn` must outlive it. */
int inversion_init(struct inversion *out, const struct bn *bn, const nami_options *opt,
                   nami_err *err);
void inversion_fini(struct inversion *v);
/* Inverts and certifies. */
int inversion_run(const struct inversion *v, struct inverse **out, nami_err *err);

#endif
