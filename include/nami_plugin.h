/* nami_plugin.h: a simulator as a shared object.

       cc -O2 -shared -fPIC -o sim.so sim.c

   NaMI looks up the two functions below by name.  examples/plugin.c is a whole one.

   Threads: nami_plugin_simulate may be called by several threads at once, for any rows in
   any order.  It must not keep anything that changes between calls, and what it writes for
   row first + i must depend on seed and first + i alone: then results are the same for any
   number of threads.  It must not throw, exit, or print to standard output. */
#ifndef NAMI_PLUGIN_H
#define NAMI_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NAMI_PLUGIN_ABI 1

/* A variable, as the model declares it. */
typedef struct {
    const char *name;
    int ndim;       /* 0: a single number */
    const int *dim; /* ndim of them */
    size_t size;    /* their product */
} nami_plugin_var;

/* Returns NAMI_PLUGIN_ABI. */
int nami_plugin_abi(void);

/* Writes rows first, ..., first + n - 1: element e (row-major) of variable v in row first + i
   is out[v][i * var[v].size + e].  Every element must be written.  Returns 0; or else writes
   a sentence for the user to err (errlen bytes with the NUL) and returns any other value. */
int nami_plugin_simulate(uint64_t seed, uint64_t first, size_t n, const nami_plugin_var *var,
                         int nvar, double *const *out, char *err, size_t errlen);

#ifdef __cplusplus
}
#endif
#endif
