/* tally.h: probabilities of the states of discrete variables, from draws. */
#ifndef INFER_TALLY_H
#define INFER_TALLY_H

#include <stddef.h>

enum { TALLY_STATES = 12 }; /* variables with more have no tally */

struct state {
    double value, share;
};

/* One scalar; {0} before its first draw. */
struct tally {
    int n; /* states, in increasing order; -1: too many, or a value is missing */
    struct state state[TALLY_STATES];
};

/* Adds n of `per` draws: weights exp(logw), or copies / per, or 1 / per if both are NULL. */
void tally_put(struct tally *t, size_t per, size_t n, const double *x, const double *logw,
               const unsigned *copies);

#endif
