/* product.c: activation functions by name, and the choice of layer kernels for the CPU at run
   time. */
#include "tensor/product.h"

#include <stdlib.h>
#include <string.h>

#include "tensor/product_impl.h"

const char *const act_names[] = {"linear", "tanh", "relu", "sigmoid", "softplus", NULL};

int act_find(const char *name, size_t len)
{
    for (int k = 0; act_names[k]; k++)
        if (strlen(act_names[k]) == len && memcmp(act_names[k], name, len) == 0) return k;
    return -1;
}

static int always(void) { return 1; }

#ifdef PRODUCT_X86 /* CMakeLists.txt */
static int has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

static int has_avx512(void)
{
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
}
#endif

/* The best first. */
static const struct set {
    const struct product *of; /* [is_float] */
    int (*here)(void);
} sets[] = {
#ifdef PRODUCT_X86
    {product_sets_avx512, has_avx512},
    {product_sets_avx2, has_avx2},
#endif
    {product_sets_any, always},
    {product_sets_ref, always},
};

enum { NSET = sizeof sets / sizeof *sets };

const struct product *product_find(const char *name, int is_float)
{
    for (const struct set *s = sets; s < sets + NSET; s++)
        if (strcmp(s->of->name, name) == 0) return s->here() ? &s->of[is_float != 0] : NULL;
    return NULL;
}

const struct product *product_best(int is_float)
{
    const char *wanted = getenv("NAMI_KERNEL");
    const struct product *p = wanted ? product_find(wanted, is_float) : NULL;
    const struct set *s = sets;
    if (p) return p;
    while (!s->here()) s++;
    return &s->of[is_float != 0];
}

const struct product *product_ref(int is_float) { return &product_sets_ref[is_float != 0]; }
