/* family_impl.h: what the implementations of the families share; private to net/family*.c. */
#ifndef NET_FAMILY_IMPL_H
#define NET_FAMILY_IMPL_H

#include "dist/block.h"
#include "net/family.h"

/* About x near 0, and never outside (-lo, hi): t / (1 + t^4)^(1/4).  Its slope falls off like a
   power, so that a number far outside still finds back. */
INLINE double squash(double x, double lo, double hi, double *slope)
{
    double c = x < 0 ? lo : hi, t = x / c;
    t = t > 1e30 ? 1e30 : t;
    t = t < -1e30 ? -1e30 : t;
    double q = t * t, r = sqrt(1 + q * q), w = sqrt(r);
    *slope = 1 / (r * r * w);
    return c * t / w;
}

/* The logarithm of a standard deviation, of values that are about N(0, 1) */
INLINE double log_sd(double x, double *slope) { return squash(x, 12, 6, slope); }

/* family.c: in a slab, x_j <- exp(x_j - top) for j = 0 .. n-1, with top their maximum, sum their
   sum: the logarithm of a sum of exponentials is top + log(sum), the softmax is x / sum. */
void exp_sum(int n, int m, double *x, double *top, double *sum);

/* ---- flows (family.c): their first two outputs are shift and r, x = shift + t exp(log_sd(r)),
        and their first step is back to t ------------------------------------------------ */

enum { SHIFT, SCALE, FLOW };

/* t, and the logarithm of dx/dt, for a value and outputs o */
void flow_in(const struct lanes *value, const struct lanes *o, struct slab s, double *t,
             double *logj);
/* x for outputs o */
void flow_out(const struct lanes *o, struct slab s, const double *t, double *x);
/* g (log q(t) - logj): adds its derivatives by x, shift and r, given by_t = g d log q(t) / dt */
void flow_grad(const struct lanes *a, struct slab s, const double *t, const double *g,
               const double *by_t, double *const *da);
/* g x: adds its derivatives by shift and r at fixed t, for outputs o */
void flow_path(const struct lanes *o, struct slab s, const double *t, const double *g,
               double *const *da);

/* The numbers of a call that begin at slab s */
static inline struct stream stream_at(const struct stream *stream, struct slab s)
{
    struct stream part = *stream;
    part.first += (uint64_t)s.first;
    return part;
}

#endif
