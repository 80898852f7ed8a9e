/* simulator.h: draws from a program that is not NaMI's.

   A command, run by /bin/sh, reads {"n": N, "seed": S} and a newline, and writes N rows: JSON
   Lines, each an object with every variable; or, for each variable in order, a .npy array of
   shape (k, dims...), and so on until N rows have come.  Or a plug-in: the path of a shared
   object, which ends in .so (include/nami_plugin.h). */
#ifndef DATA_SIMULATOR_H
#define DATA_SIMULATOR_H

#include <stdint.h>

#include "base/str.h"
#include "data/draws.h"

struct simulator {
    const char *command;
    const char *dir; /* where it runs, and where its path begins; NULL: here */
    int nvar;
    const struct draws_var *var; /* name, ndim, dim, base */
};

/* n rows into x, as struct draws has them: x[(base + e) * n + i].  Waits for the program to
   end, and leaves no process, signal handler or open file behind.  Threads may run one
   simulator at the same time. */
int simulator_run(const struct simulator *s, size_t n, uint64_t seed, double *x, nami_err *err);

/* What would run, for people: "'python3 x.py' (/usr/bin/python3, in /home/me)", or
   "'./x.so' (/home/me/x.so)". */
void simulator_describe(const struct simulator *s, struct str *out);

#endif
