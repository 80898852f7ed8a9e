/* posterior.h: posterior draws, out to files that others read, a block at a time.

       posterior_open(path, &spec, &p, err)
       posterior_put(p, POSTERIOR, &block, err) ...
       posterior_close(p, found, err)             or posterior_drop(p)

   The file gets its name in posterior_close: nothing is half written, and what was there before
   stays if something fails.  Memory does not grow with the number of draws. */
#ifndef DATA_POSTERIOR_H
#define DATA_POSTERIOR_H

#include "data/draws.h"
#include "data/summary.h"

enum posterior_part { POSTERIOR, PREDICTIVE, PRIOR, NPART };

struct posterior_group {
    size_t ndraw; /* for each data set (of the prior: once); 0: there is no such part */
    int nvar;
    const struct draws_var *var;
};

/* A text (in .nc, below 64 KB), or, if that is NULL, a number: the seed, the model's file ... */
struct posterior_note {
    const char *name, *text;
    double number;
};

/* All of it must outlive the writer. */
struct posterior_spec {
    size_t nset; /* data sets; if there are several, arrays have an axis for them, the first */
    struct posterior_group part[NPART]; /* POSTERIOR must be there */
    int log_weight, log_p, log_q;       /* do the posterior's blocks have these? */
    struct draws observed;              /* data set s is its "draw" s; or nvar = 0 */
    const struct posterior_note *note;
    int nnote;
};

/* n draws, the next ones: those of data set 0, then those of data set 1, ...; a block may
   have draws of several.  x[(var[v].base + e) * n + i] as in draws.h. */
struct posterior_block {
    size_t n;
    const double *x, *log_weight, *log_p, *log_q;
};

/* What was found for one data set. */
struct posterior_found {
    struct diagnostics diagnostics;
    const struct summary *summary; /* of element e of variable v: [var[v].base + e]; or NULL */
    double ood_p; /* are the data like the model's draws? infer/ood.h; NaN: not known */
};

struct posterior;
int posterior_open(const char *path, const struct posterior_spec *spec, struct posterior **out,
                   nami_err *err);
/* After an error there is nothing left to do but posterior_drop. */
int posterior_put(struct posterior *p, enum posterior_part part, const struct posterior_block *b,
                  nami_err *err);
/* found: nset of them, or NULL.  Frees p in any case. */
int posterior_close(struct posterior *p, const struct posterior_found *found, nami_err *err);
void posterior_drop(struct posterior *p); /* no file; accepts NULL */

/* One row for each in posterior.def and one file posterior_<id>.c:
     nc    netCDF-4 in ArviZ's schema: groups posterior, sample_stats (log_weight, lp, log_q, and
           what was found), posterior_predictive, prior, observed_data
     npz   NumPy: x, log_weight, log_p, log_q; posterior_predictive/x, prior/x, observed_data/x.
           Draws go through a file without a name beside it, so it needs its room twice
     csv   a table that R's posterior reads: .chain, .iteration, .draw, .set (if there are
           several), .log_weight, lp__ (log p), lp_approx__ (log q), x[1], "m[2,3]"; posterior only
     json  what was found: no draws */
struct posterior_format {
    const char *name, *ending, *what;
    const char *lacks; /* the library that this program was built without, or NULL */
    unsigned parts;    /* bit 1 << part: can it hold this? */
    int pipe;          /* may it be a pipe or a device? */
    int no_draws;      /* takes all parts, and leaves them out */
    int (*open)(struct posterior *p, nami_err *err);
    int (*put)(struct posterior *p, enum posterior_part part, const struct posterior_block *b,
               nami_err *err);
    int (*close)(struct posterior *p, const struct posterior_found *found, nami_err *err);
    void (*free)(struct posterior *p); /* p->state, however far open and close came */
};
extern const struct posterior_format *const posterior_formats[];      /* NULL at the end */
const struct posterior_format *posterior_format_of(const char *path); /* by its ending, or NULL */
/* NAMI_EUSAGE says which there are, or what this program was built without. */
int posterior_format_check(const char *path, nami_err *err);

#endif
