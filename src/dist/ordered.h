/* ordered.h: shared by ordered_logistic and ordered_probit: k with c_{k-1} < y <= c_k, where y is
   eta plus noise of a symmetric distribution F, c_0 is -infinity and c_K is infinity. */
#ifndef DIST_ORDERED_H
#define DIST_ORDERED_H

#include "dist/block.h"

/* log(F(a) - F(b)), width = a - b > 0 with all its digits, any may be infinite; its derivatives
   with respect to a and b */
typedef double link_fn(double a, double b, double width, double *by_a, double *by_b);

void ordered_logp(link_fn *link, const int *dim, int L, double *out, const struct lanes *a);
void ordered_grad(link_fn *link, const int *dim, int L, const double *dout, const struct lanes *a,
                  double *const *da);
/* out contains the noise on entry and the states on return */
void ordered_draw(const int *dim, int L, double *out, const struct lanes *a);
int ordered_size(const int *n, const char **why);
int ordered_states(const int *n);

/* Kernels logp and grad of a record. */
#define ORDERED_DENSITY(link)                                                                      \
    static void logp(const void *self, const int *dim, int L, double *const *out,                  \
                     const struct lanes *a, double *work)                                          \
    {                                                                                              \
        (void)self, (void)work;                                                                    \
        ordered_logp(link, dim, L, out[0], a);                                                     \
    }                                                                                              \
                                                                                                   \
    static void grad(const void *self, const int *dim, int L, const double *const *out,            \
                     const double *const *dout, const struct lanes *a, double *const *da,          \
                     double *work)                                                                 \
    {                                                                                              \
        (void)self, (void)out, (void)work;                                                         \
        ordered_grad(link, dim, L, dout[0], a, da);                                                \
    }

#endif
