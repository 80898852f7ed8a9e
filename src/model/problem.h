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
};

/* Checks the options and fills `out`; `bn` must outlive it. */
int inversion_init(struct inversion *out, const struct bn *bn, const nami_options *opt,
                   nami_err *err);
void inversion_fini(struct inversion *v);
/* Inverts and certifies. */
int inversion_run(const struct inversion *v, struct inverse **out, nami_err *err);

#endif
