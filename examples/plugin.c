/* plugin.c: a simulator as a shared object (include/nami_plugin.h): the g-and-k distribution,
   which has no density but is drawn in one line.

       cc -O2 -shared -fPIC -Iinclude -o gk.so examples/plugin.c -lm

   Variables: a, b, g, k ~ uniform(0, 10), and y[n]:
   y = a + b (1 + 0.8 tanh(g z / 2)) (1 + z^2)^k z,  z ~ normal(0, 1)  (Rayner and MacGillivray
   2002). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "nami_plugin.h"

/* splitmix64: each row has its own, seeded by its number; nothing is kept between calls. */
static double uniform(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
    z = (z ^ z >> 27) * 0x94D049BB133111EB;
    return ((double)((z ^ z >> 31) >> 11) + 0.5) * 0x1p-53;
}

static double normal(uint64_t *state)
{
    double u = uniform(state), v = uniform(state);
    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

static int find(const char *name, const nami_plugin_var *var, int nvar)
{
    for (int v = 0; v < nvar; v++)
        if (strcmp(var[v].name, name) == 0) return v;
    return -1;
}

int nami_plugin_abi(void) { return NAMI_PLUGIN_ABI; }

int nami_plugin_simulate(uint64_t seed, uint64_t first, size_t n, const nami_plugin_var *var,
                         int nvar, double *const *out, char *err, size_t errlen)
{
    static const char *const name[] = {"a", "b", "g", "k", "y"};
    int at[5];
    for (int j = 0; j < 5; j++) {
        at[j] = find(name[j], var, nvar);
        if (at[j] < 0 || nvar != 5 || (j < 4 && var[at[j]].ndim != 0)) {
            snprintf(err, errlen, "the variables must be numbers a, b, g, k and a vector y");
            return 1;
        }
    }
    for (size_t i = 0; i < n; i++) {
        uint64_t p = seed ^ (first + i) * 0xD1B54A32D192ED03;
        double v[4], *y = out[at[4]] + i * var[at[4]].size;
        for (int j = 0; j < 4; j++) v[j] = out[at[j]][i] = 10 * uniform(&p);
        for (size_t e = 0; e < var[at[4]].size; e++) {
            double z = normal(&p);
            y[e] = v[0] + v[1] * (1 + 0.8 * tanh(v[2] * z / 2)) * pow(1 + z * z, v[3]) * z;
        }
    }
    return 0;
}
