/* flat.c: the improper uniform distribution on the real line: density 1, no draws.  It has no row
   in dist.def: only latents with a training distribution can have it as their prior. */
#include <math.h>

#include "dist/dist.h"

static void logp(const void *self, int n, double *out, const double *const *a)
{
    (void)self;
    for (int i = 0; i < n; i++) out[i] = isfinite(a[0][i]) ? 0 : NAN;
}

static void grad(const void *self, int n, const double *out, const double *dout,
                 const double *const *a, double *const *da)
{
    (void)self, (void)out, (void)dout, (void)a;
    for (int i = 0; da[0] && i < n; i++) da[0][i] = 0;
}

static void sample(const void *self, const struct stream *s, int n, double *out,
                   const double *const *a)
{
    (void)self, (void)s, (void)a;
    for (int i = 0; i < n; i++) out[i] = NAN;
}

const struct dist dist_flat = {"flat",       "improper uniform", 0, {{0}}, REAL, .logp = logp,
                               .grad = grad, .sample = sample};
