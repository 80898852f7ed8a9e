/* family.c: the table of variational families, and what their kernels share. */
#include "net/family.h"

#include <string.h>

#include "net/family_impl.h"

const struct family *const net_families[] = {
#define FAMILY(id) &family_##id,
#include "net/family.def"
#undef FAMILY
    NULL};

const struct family *family_find(const char *name, size_t len)
{
    for (int i = 0; net_families[i]; i++)
        if (strlen(net_families[i]->name) == len && memcmp(net_families[i]->name, name, len) == 0)
            return net_families[i];
    return NULL;
}

WIDE void exp_sum(int n, int m, double *restrict x, double *restrict top, double *restrict sum)
{
    EACH(b, m) top[b] = x[b];
    for (int j = 1; j < n; j++) {
        const double *restrict y = x + j * SLAB;
        EACH(b, m) top[b] = y[b] > top[b] ? y[b] : top[b];
    }
    EACH(b, m) sum[b] = 0;
    for (int j = 0; j < n; j++) {
        double *restrict y = x + j * SLAB;
        EACH(b, m)
        {
            y[b] = exp(y[b] - top[b]);
            sum[b] += y[b];
        }
    }
}

WIDE void flow_in(const struct lanes *value, const struct lanes *o, struct slab s,
                  double *restrict t, double *restrict logj)
{
    double xbuf[SLAB], obuf[SLAB], rbuf[SLAB];
    const double *restrict x = lanes_at(value, s, xbuf);
    const double *restrict shift = lanes_at(&o[SHIFT], s, obuf);
    const double *restrict r = lanes_at(&o[SCALE], s, rbuf);
    EACH(b, s.m)
    {
        double slope;
        logj[b] = log_sd(r[b], &slope);
        t[b] = (x[b] - shift[b]) * exp(-logj[b]);
    }
}

WIDE void flow_out(const struct lanes *o, struct slab s, const double *restrict t,
                   double *restrict x)
{
    double obuf[SLAB], rbuf[SLAB];
    const double *restrict shift = lanes_at(&o[SHIFT], s, obuf);
    const double *restrict r = lanes_at(&o[SCALE], s, rbuf);
    EACH(b, s.m)
    {
        double slope;
        x[b] = shift[b] + t[b] * exp(log_sd(r[b], &slope));
    }
}

WIDE void flow_grad(const struct lanes *a, struct slab s, const double *restrict t,
                    const double *restrict g, const double *restrict by_t, double *const *da)
{
    double rbuf[SLAB], dx[SLAB], dm[SLAB], dr[SLAB];
    const double *restrict r = lanes_at(&a[1 + SCALE], s, rbuf);
    EACH(b, s.m)
    {
        double slope, inv = exp(-log_sd(r[b], &slope));
        dx[b] = by_t[b] * inv;
        dm[b] = -dx[b];
        dr[b] = -(by_t[b] * t[b] + g[b]) * slope;
    }
    add(s, dx, da[0]);
    add(s, dm, da[1 + SHIFT]);
    add(s, dr, da[1 + SCALE]);
}

WIDE void flow_path(const struct lanes *o, struct slab s, const double *restrict t,
                    const double *restrict g, double *const *da)
{
    double rbuf[SLAB], dr[SLAB];
    const double *restrict r = lanes_at(&o[SCALE], s, rbuf);
    EACH(b, s.m)
    {
        double slope, sd = exp(log_sd(r[b], &slope));
        dr[b] = g[b] * t[b] * sd * slope;
    }
    add(s, g, da[SHIFT]);
    add(s, dr, da[SCALE]);
}
