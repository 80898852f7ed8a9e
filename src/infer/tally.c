/* tally.c: probabilities of the states of discrete variables. */
#include "infer/tally.h"

#include <math.h>
#include <string.h>

/* The state of this value, which may be new; NULL if there is no room. */
static struct state *find(struct tally *t, double value)
{
    int k = 0;
    while (k < t->n && t->state[k].value < value) k++;
    if (k < t->n && t->state[k].value == value) return &t->state[k];
    if (t->n == TALLY_STATES || isnan(value)) return NULL;
    memmove(&t->state[k + 1], &t->state[k], (size_t)(t->n - k) * sizeof *t->state);
    t->n++;
    t->state[k] = (struct state){value, 0};
    return &t->state[k];
}

void tally_put(struct tally *t, size_t per, size_t n, const double *x, const double *logw,
               const unsigned *copies)
{
    for (size_t i = 0; i < n && t->n >= 0; i++) {
        double w = copies ? (double)copies[i] / (double)per : logw ? exp(logw[i]) : 1 / (double)per;
        if (w == 0) continue;
        struct state *s = find(t, x[i]);
        if (s)
            s->share += w;
        else
            t->n = -1;
    }
}
