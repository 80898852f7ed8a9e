/* posterior.h: writes posterior draws to files for other software, one block at a time.

       posterior_open(path, &spec, &p, err)
       posterior_put(p, POSTERIOR, &block, err) ...
       posterior_close(p, found, err)             or posterior_drop(p)

   The file is renamed to its final name in posterior_close: it is never incomplete, and an existing
   file is left unchanged if an error occurs.  Memory does not grow with the number of draws. */
#ifndef DATA_POSTERIOR_H
#define DATA_POSTERIOR_H

#include "data/draws.h"
#include "data/summary.h"

enum posterior_part { POSTERIOR, PREDICTIVE, PRIOR, PRIOR_PREDICTIVE, LIKELIHOOD, NPART };

struct posterior_group {
    size_t ndraw; /* per data set (priors: in total); 0: this group is absent */
    int nvar;
    const struct draws_var *var;
};

/* Metadata, such as the seed or the model file: a text (in .nc, below 64 KB), or, if that is NULL,
   a number. */
struct posterior_note {
    const char *name, *text;
    double number;
};

/* Everything it points to must outlive the writer. */
struct posterior_spec {
    size_t nset; /* number of data sets; if several, they are the first axis of arrays */
    struct posterior_group part[NPART]; /* POSTERIOR is required */
    size_t chains; /* draws of a data set are those of so many Markov chains, one after another, all
                      of the same length; 0, 1: of none */
    int log_weight, log_p, log_q; /* do the posterior blocks contain these? */
    struct draws observed;        /* data set s is its "draw" s; or nvar = 0 */
    struct draws constant;        /* one "draw": what is constant in all data sets; or nvar = 0 */
    const struct posterior_note *note;
    int nnote;
};

/* The next n draws: those of data set 0, then those of data set 1, ...; a block may contain draws
   of several data sets.  x[(var[v].base + e) * n + i] as in draws.h. */
struct posterior_block {
    size_t n;
    const double *x, *log_weight, *log_p, *log_q;
};

/* Results for one data set. */
struct posterior_found {
    struct diagnostics diagnostics;
    const struct summary *summary; /* element e of variable v: [var[v].base + e]; or NULL */
    double ood_p; /* p-value of the out-of-distribution test (infer/ood.h); NaN: unknown */
};

struct posterior;
int posterior_open(const char *path, const struct posterior_spec *spec, struct posterior **out,
                   nami_err *err);
/* After an error, only posterior_drop may be called. */
int posterior_put(struct posterior *p, enum posterior_part part, const struct posterior_block *b,
                  nami_err *err);
/* found: nset results, or NULL.  Frees p in any case. */
int posterior_close(struct posterior *p, const struct posterior_found *found, nami_err *err);
void posterior_drop(struct posterior *p); /* no file; accepts NULL */

/* One row in posterior.def and one file posterior_<id>.c for each format:
     nc    netCDF-4 in ArviZ's schema: groups posterior, sample_stats (log_weight, lp, log_q, and
           the results), posterior_predictive, log_likelihood, prior, prior_predictive,
           observed_data, constant_data
     npz   NumPy: x, log_weight, log_p, log_q; posterior_predictive/x, prior/x, observed_data/x, ...
           Draws are buffered in an unnamed temporary file, so it takes twice its size on disk
     csv   a table that R's posterior reads: .chain, .iteration, .draw, .set (if there are
           several), .log_weight, lp__ (log p), lp_approx__ (log q), x[1], "m[2,3]"; posterior only
     json  the results, without draws */
struct posterior_format {
    const char *name, *ending, *what;
    const char *lacks; /* the required library, if this build does not have it, or NULL */
    unsigned parts;    /* bit 1 << part: can the format store this part? */
    int pipe;          /* may the output be a pipe or a device? */
    int no_draws;      /* accepts all parts but does not write draws */
    int (*open)(struct posterior *p, nami_err *err);
    int (*put)(struct posterior *p, enum posterior_part part, const struct posterior_block *b,
               nami_err *err);
    int (*close)(struct posterior *p, const struct posterior_found *found, nami_err *err);
    void (*free)(struct posterior *p); /* frees p->state, also after a failed open or close */
};
extern const struct posterior_format *const posterior_formats[]; /* NULL at the end */
const struct posterior_format *
posterior_format_of(const char *path); /* by file extension, or NULL */
/* NAMI_EUSAGE lists the formats, or names the library that this build does not have. */
int posterior_format_check(const char *path, nami_err *err);

#endif
