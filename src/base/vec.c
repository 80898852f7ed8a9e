#include "base/vec.h"

#include <stdint.h>
#include <stdlib.h>

int vec_grow_(void **a, size_t *cap, size_t need, size_t size)
{
    size_t c = *cap ? *cap : 8;
    while (c < need) {
        if (c > SIZE_MAX / 2) return -1;
        c += c / 2 + 1;
    }
    if (c > SIZE_MAX / size) return -1;
    void *p = realloc(*a, c * size);
    if (!p) return -1;
    *a = p;
    *cap = c;
    return 0;
}

void *mem_zero(size_t n, size_t size)
{
    return calloc(n ? n : 1, size);
}

void *mem_raw(size_t n, size_t size)
{
    if (n == 0) n = 1;
    return n > SIZE_MAX / size ? NULL : malloc(n * size);
}
