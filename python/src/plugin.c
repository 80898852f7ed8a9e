/* plugin.c: a simulator plug-in (include/nami_plugin.h) that calls a function of Python, for models
   of the Python package.  Each simulator has its own copy of this file, and so its own pointer. */
#include <stdio.h>

#include "nami_plugin.h"

typedef int simulate_fn(uint64_t seed, uint64_t first, size_t n, const nami_plugin_var *var,
                        int nvar, double *const *out, char *err, size_t errlen);

extern simulate_fn *nami_python_simulate; /* set by Python */
simulate_fn *nami_python_simulate;

int nami_plugin_abi(void) { return NAMI_PLUGIN_ABI; }

int nami_plugin_simulate(uint64_t seed, uint64_t first, size_t n, const nami_plugin_var *var,
                         int nvar, double *const *out, char *err, size_t errlen)
{
    if (nami_python_simulate)
        return nami_python_simulate(seed, first, n, var, nvar, out, err, errlen);
    snprintf(err, errlen, "this simulator belongs to a Python program that has ended");
    return 1;
}
