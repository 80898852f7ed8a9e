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
