/* simulator_impl.h: rows on their way from a simulator into x. */
#ifndef DATA_SIMULATOR_IMPL_H
#define DATA_SIMULATOR_IMPL_H

#include "base/err.h"
#include "data/simulator.h"

struct sim {
    const struct simulator *s;
    size_t n, row; /* rows wanted, rows that came */
    uint64_t seed;
    double *x;
    nami_err *err;
    struct str text; /* output of a command, from `used` on not understood yet */
    size_t used, looked;
    int npy; /* which kind of output; -1: not known yet */
    int var; /* NPY: the next variable, and the rows of this round */
    size_t batch;
    double *tmp; /* one array or row */
    size_t cap;
};

int sim_plugin(struct sim *m);
int sim_command(struct sim *m);
/* Output of a command as it comes, and its end. */
int sim_feed(struct sim *m, const char *s, size_t n);
int sim_end(struct sim *m);

/* m->tmp with room for n numbers. */
int sim_room(struct sim *m, size_t n);
/* k rows of v at p, from row `first` on, go to x; a missing one is an error. */
int sim_scatter(struct sim *m, const struct draws_var *v, size_t first, size_t k, const double *p);

/* "the simulator 'X' ..."; in_row adds ", row 3: ..." */
#define SIM_NAME        "the simulator '%.80s' "
#define sim_bad(m, ...) err_set((m)->err, NAMI_EINPUT, SIM_NAME __VA_ARGS__)
int sim_in_row(struct sim *m, size_t row, const nami_err *e);

#endif
