/* loops.c: the ends of arrays whose length is no multiple of the vector width: kernels see them
   padded. */
#include "dist/loops.h"

#include <string.h>

enum { MOST = 1 + DIST_ARGS };

/* The last n % LANES elements of an array, and copies of the last one. */
static const double *padded(const double *x, int n, double *buf)
{
    int whole = n / LANES * LANES;
    for (int i = 0; i < LANES; i++) buf[i] = x[whole + i < n ? whole + i : n - 1];
    return buf;
}

void map_tail(map_fn *f, const void *self, int nargs, int n, double *out, const double *const *a)
{
    double buf[MOST][LANES], o[LANES];
    const double *b[MOST];
    int whole = n / LANES * LANES;
    for (int k = 0; k < nargs; k++) b[k] = padded(a[k], n, buf[k]);
    f(self, LANES, o, b);
    memcpy(out + whole, o, sizeof(double) * (size_t)(n - whole));
}

void grad_tail(map_grad_fn *f, const void *self, int nargs, int n, const double *dout,
               const double *const *a, double *const *da)
{
    double buf[MOST][LANES], g[MOST][LANES] = {{0}}, dbuf[LANES], *db[MOST];
    const double *b[MOST];
    int whole = n / LANES * LANES;
    for (int k = 0; k < nargs; k++) {
        b[k] = padded(a[k], n, buf[k]);
        db[k] = da[k] ? g[k] : NULL;
    }
    f(self, LANES, NULL, padded(dout, n, dbuf), b, db);
    for (int k = 0; k < nargs; k++)
        if (da[k]) memcpy(da[k] + whole, g[k], sizeof(double) * (size_t)(n - whole));
}
