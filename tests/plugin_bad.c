/* plugin_bad.c: simulator plug-ins with one fault each, for test_simulator.c; BAD is the
   number of the fault. */
#include <stdio.h>

#include "nami_plugin.h"

#if BAD != 1
int nami_plugin_abi(void) { return BAD == 2 ? NAMI_PLUGIN_ABI + 1 : NAMI_PLUGIN_ABI; }
#endif

#if BAD != 3
int nami_plugin_simulate(uint64_t seed, uint64_t first, size_t n, const nami_plugin_var *var,
                         int nvar, double *const *out, char *err, size_t errlen)
{
    (void)seed;
    if (BAD == 4) snprintf(err, errlen, "there is no data file");
    if (BAD == 4 || BAD == 5) return 7;
    for (int v = 0; v < nvar; v++)
        for (size_t i = 0; i < n * var[v].size; i++)
            if (BAD != 6 || v + 1 < nvar || first * var[v].size + i != 2 * var[v].size + 1)
                out[v][i] = 1;
    return 0;
}
#endif
