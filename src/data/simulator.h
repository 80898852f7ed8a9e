/* simulator.h: draws from an external simulator.

   A command, run by /bin/sh, reads {"n": N, "seed": S} and a newline, and writes N rows: JSON
   Lines, each an object with every variable; or, for each variable in order, a .npy array of
   shape (k, dims...), repeated until N rows have been written.  Alternatively a plug-in: the path
   of a shared object, which ends in .so (include/nami_plugin.h). */
#ifndef DATA_SIMULATOR_H
#define DATA_SIMULATOR_H

#include <stdint.h>

#include "base/str.h"
#include "data/draws.h"

struct simulator {
    const char *command;
    const char *dir; /* working directory, base of relative paths; NULL: the current one */
    int nvar;
    const struct draws_var *var; /* name, ndim, dim, base */
};

/* Stores n rows in x, in the layout of struct draws: x[(base + e) * n + i].  Waits for the program
   to terminate, and leaves no process, signal handler or open file behind.  Several threads may run
   the same simulator concurrently. */
int simulator_run(const struct simulator *s, size_t n, uint64_t seed, double *x, nami_err *err);

/* Description of the program for messages: "'python3 x.py' (/usr/bin/python3, in /home/me)", or
   "'./x.so' (/home/me/x.so)". */
void simulator_describe(const struct simulator *s, struct str *out);

#endif
