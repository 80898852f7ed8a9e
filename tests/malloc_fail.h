/* malloc_fail.h: makes one allocation fail, and counts what is left alive.

   For one source file of a program linked with
   -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=free, which sends the
   program's own calls here.  Those of shared libraries do not come by. */
#ifndef TESTS_MALLOC_FAIL_H
#define TESTS_MALLOC_FAIL_H

#include <stdlib.h>
#include <sys/mman.h>

#include "nami.h"

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void __real_free(void *p);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);
void __wrap_free(void *p);

static struct {
    int on;
    long left;   /* allocations until one fails; 0: it has */
    int *failed; /* shared with child processes, which count on for themselves */
    void **live; /* what was allocated while on, and not freed since */
    size_t n, cap;
} nomem;

static int nomem_fails(void)
{
    if (!nomem.on || nomem.left == 0 || --nomem.left > 0) return 0;
    *nomem.failed = 1;
    return 1;
}

static void *nomem_add(void *p)
{
    if (!p || !nomem.on) return p;
    if (nomem.n == nomem.cap) {
        nomem.cap = nomem.cap * 2 + 64;
        nomem.live = __real_realloc(nomem.live, nomem.cap * sizeof *nomem.live);
        if (!nomem.live) abort();
    }
    return nomem.live[nomem.n++] = p;
}

/* A pointer from elsewhere is none of our business. */
static void nomem_drop(void *p)
{
    for (size_t i = nomem.n; i-- > 0;)
        if (nomem.live[i] == p) {
            nomem.live[i] = nomem.live[--nomem.n];
            return;
        }
}

void *__wrap_malloc(size_t n) { return nomem_fails() ? NULL : nomem_add(__real_malloc(n)); }

void *__wrap_calloc(size_t n, size_t size)
{
    return nomem_fails() ? NULL : nomem_add(__real_calloc(n, size));
}

void *__wrap_realloc(void *p, size_t n)
{
    if (nomem_fails()) return NULL;
    nomem_drop(p); /* before its address can be given to another */
    return nomem_add(__real_realloc(p, n));
}

void __wrap_free(void *p)
{
    if (p) nomem_drop(p);
    __real_free(p);
}

/* Calls f with its k-th allocation failing.  f frees all it makes and returns 0
   or an error.  Returns 1 if an allocation failed, 0 if there were fewer, -1 if
   something is wrong: *why. */
static int nomem_at(int (*f)(void *ctx), void *ctx, long k, const char **why)
{
    if (!nomem.failed) {
        nomem.failed = mmap(NULL, sizeof *nomem.failed, PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (nomem.failed == MAP_FAILED) abort();
    }
    nomem.on = 1;
    nomem.left = k;
    *nomem.failed = 0;
    nomem.n = 0;
    int rc = f(ctx);
    nomem.on = 0;
    *why = NULL;
    int failed = *nomem.failed;
    if (!failed && rc) *why = "an error without a failed allocation";
    if (failed && !rc) *why = "a failed allocation without an error";
    if (failed && rc == NAMI_EINPUT) *why = "a failed allocation was taken for bad input";
    if (nomem.n) *why = failed ? "a leak after a failed allocation" : "a leak";
    if (*why || !failed) {
        __real_free(nomem.live);
        nomem.live = NULL;
        nomem.n = nomem.cap = 0;
    }
    return *why ? -1 : failed;
}

/* The 1st, 2nd, ... until f has none left to fail.  Returns how many could fail,
   or -1. */
static inline long nomem_each(int (*f)(void *ctx), void *ctx, const char **why)
{
    int more;
    long k = 0;
    while ((more = nomem_at(f, ctx, ++k, why)) == 1) continue;
    return more < 0 ? -1 : k - 1;
}

#endif
