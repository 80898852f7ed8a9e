/* vec.c: growth of arrays, allocation with overflow checks, and sorting of numbers. */
#include "base/vec.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

/* Arrays for millions of nodes are touched once and page by page: large pages
   save most of the page faults. A hint; nothing depends on it.  It is for whole mappings, with the
   page of malloc's header: of a mapping with two kinds of pages, realloc() has to make a copy. */
static void *advise(void *p, size_t bytes)
{
#ifdef MADV_HUGEPAGE
    if (p && bytes >= (size_t)4 << 20) {
        uintptr_t a = (uintptr_t)p & ~(uintptr_t)4095;
        uintptr_t end = ((uintptr_t)p + bytes + 4095) & ~(uintptr_t)4095;
        (void)madvise((void *)a, end - a, MADV_HUGEPAGE);
    }
#else
    (void)bytes;
#endif
    return p;
}

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
    *a = advise(p, c * size);
    *cap = c;
    return 0;
}

void *mem_zero(size_t n, size_t size)
{
    if (n == 0) n = 1;
    return advise(calloc(n, size), n * size);
}

void *mem_raw(size_t n, size_t size)
{
    if (n == 0) n = 1;
    return n > SIZE_MAX / size ? NULL : advise(malloc(n * size), n * size);
}

void *mem_lines(size_t n, size_t size, void **to_free)
{
    if (n > (SIZE_MAX - 64) / size) return NULL;
    *to_free = mem_raw(n * size + 64, 1);
    return *to_free ? (void *)(((uintptr_t)*to_free + 63) & ~(uintptr_t)63) : NULL;
}

static int by_int(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

void sort_ints(int *a, size_t n)
{
    if (n > 32) {
        qsort(a, n, sizeof *a, by_int);
        return;
    }
    for (size_t i = 1; i < n; i++) {
        int x = a[i];
        size_t k = i;
        for (; k > 0 && a[k - 1] > x; k--) a[k] = a[k - 1];
        a[k] = x;
    }
}

static int by_double(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void sort_doubles(double *a, size_t n) { qsort(a, n, sizeof *a, by_double); }
