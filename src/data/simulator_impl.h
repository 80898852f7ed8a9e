/* simulator_impl.h: private to the simulator interface: parses its output into x. */
#ifndef DATA_SIMULATOR_IMPL_H
#define DATA_SIMULATOR_IMPL_H

#include "base/err.h"
#include "data/simulator.h"

struct sim {
    const struct simulator *s;
    size_t n, row; /* number of rows requested, and received so far */
    uint64_t seed;
    double *x;
    nami_err *err;
    struct str text; /* output of a command; unparsed from `used` on */
    size_t used, looked;
    int npy; /* output format: 1 NPY, 0 JSON Lines; -1: unknown so far */
    int var; /* NPY: the next variable, and the number of rows of this batch */
    size_t batch;
    double *tmp; /* one array or row */
    size_t cap;
};

int sim_plugin(struct sim *m);
int sim_command(struct sim *m);
/* Process output of a command as it arrives, and its end. */
int sim_feed(struct sim *m, const char *s, size_t n);
int sim_end(struct sim *m);

/* Ensures that m->tmp has space for n numbers. */
int sim_room(struct sim *m, size_t n);
/* Copies k rows of v at p to x, starting at row `first`; a missing value is an error. */
int sim_scatter(struct sim *m, const struct draws_var *v, size_t first, size_t k, const double *p);

/* "the simulator 'X' ..."; in_row adds ", row 3: ..." */
#define SIM_NAME        "the simulator '%.80s' "
#define sim_bad(m, ...) err_set((m)->err, NAMI_EINPUT, SIM_NAME __VA_ARGS__)
int sim_in_row(struct sim *m, size_t row, const nami_err *e);

#endif
