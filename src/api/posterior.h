/* posterior.h: a query to a network in the making: draws, block by block, their summaries and
   files. */
#ifndef API_POSTERIOR_H
#define API_POSTERIOR_H

#include "api/query.h"
#include "base/dict.h"
#include "data/posterior.h"
#include "infer/blocks.h"
#include "infer/digest.h"
#include "infer/refine.h"
#include "infer/loo.h"
#include "infer/pointwise.h"
#include "infer/ppc.h"
#include "infer/resample.h"
#include "infer/tally.h"
#include "infer/verdict.h"
#include "model/eval.h"
#include "report/gallery.h"

/* A file that draws go to. */
struct sink {
    const char *path;
    struct posterior *file; /* NULL: a picture */
};

/* Draws of a block as files have them: equally weighted, or weighted. */
struct shown {
    size_t first, n;                /* draws before these, in all; of these */
    double *z, *pred, *logq, *logp; /* as in struct answer */
    const double *logw;             /* NULL: equal weights */
    int owned;                      /* else they are the answer's */
};

/* Log likelihoods of the observations (option loo). */
struct likelihood {
    struct pointwise of;
    const char **name;  /* of the observations */
    double *block;      /* of shown draws: [observation * n + i] */
    double *set, *logw; /* of the draws of the present data set so far; [observation * per + i] */
    double *work;       /* (per) */
    struct loo_point *point; /* [set * observations + observation] */
};

/* Posterior predictive checks (option ppc). */
struct predictive {
    struct ppc *of; /* [(set * observed variables + variable) * NPPC + statistic] */
    int *row;       /* observed elements of one variable, and their values */
    double *y;
};

/* Latents that make the importance weights of a data set uneven (infer/blame.h). */
enum { BLAMED = 3 };
#define BLAMED_LEAST 0.05
struct blamed {
    int n, element[BLAMED];
    double share[BLAMED]; /* of the variance of the log weights; decreasing */
};

/* Draws of one data set, equally weighted: for figures and reports. */
struct kept {
    int wanted;
    size_t set, room, num; /* room: draws to keep; num: kept so far */
    double *z;             /* (rows of the model, room) */
    double weight;         /* of the draws so far */
    size_t chains;         /* the draws are of chains, in turn; or 0 */
};

struct nami_posterior {
    const nami_network *net;
    nami_network *own_net; /* an instance of an open network; or NULL */
    struct arena mem;
    nami_query opt; /* completed */
    nami_watch watch;
    nami_exchange exchange, *with; /* the processes that share the data sets; NULL: one */
    int threads;
    struct asked asked;
    const struct infer_method *method;
    size_t islands; /* of the method; or 0 */
    struct query q;

    struct layout layout, seen; /* of the variables asked for; of the observed ones */
    double *observed;           /* rows of `seen`, if some arrays are observed in part; else NULL */
    size_t stride;              /* rows of draws */
    size_t *row, num_rows;      /* rows of all elements asked for, in turn */
    unsigned char *given;       /* of rows: constant or observed, nothing to infer */

    struct blocks blocks;
    struct digest digest;
    size_t num_moments; /* of exact latents asked for: row moment_row[k] has collapse->moment[moment[k]] */
    size_t *moment, *moment_row;
    struct refined *refined; /* (num_moments) of the present data set */
    struct answer answer; /* the present block */
    int equal;            /* draws are resampled for files and summaries */
    struct resample resample;
    vec(unsigned) copies; /* of each draw of the answer */
    struct shown shown;
    struct likelihood likelihood;
    struct predictive predictive;
    struct tally *tally;      /* (num_rows): of the present data set */
    unsigned char *discrete;  /* (num_rows): has a tally */
    vec(struct state) states; /* of all data sets and rows; those of set s, row number k begin at */
    size_t *first_state;      /* first_state[s * num_rows + k] */
    int begun, done;
    nami_err failed; /* code 0: nothing has */

    struct summary *summary; /* of a row: [set * stride + row] */
    struct posterior_found *found;
    struct blamed *blamed; /* of data sets */
    struct dict names; /* of elements, in the order of `row` */

    struct kept kept;

    vec(struct sink) sinks;
    struct posterior_spec spec;
    struct posterior_note note[3];
    struct draws constant;
    struct gallery picture;
};

/* Element e of variable v: the model's number; is there anything to infer of it? */
int variable_element(const nami_posterior *p, const struct draws_var *v, size_t e);
int variable_is_asked(const nami_posterior *p, const struct draws_var *v, size_t e);

int is_done(const nami_posterior *p, nami_err *err); /* NAMI_EUSAGE: draws are missing */
/* NAMI_EUSAGE: the same, or there is no such data set; no such scalar. */
int is_answered(const nami_posterior *p, size_t set, nami_err *err);
int no_such_scalar(const nami_posterior *p, const char *name, nami_err *err);

/* ---- states of discrete variables: posterior_states.c ---------------------------------------- */

int states_begin(nami_posterior *p, nami_err *err);
void states_put(nami_posterior *p, size_t i, size_t n); /* draws i ... of the answer, of one set */
int states_end(nami_posterior *p, size_t set, nami_err *err);
/* Of row number k: *n states, 0 if it is not discrete, or there are too many. */
const struct state *states_of(const nami_posterior *p, size_t set, size_t k, size_t *n);

/* ---- blame: posterior_blame.c -----------------------------------------------------------------
 */

/* Of a data set whose draws are those of the answer from number i on. */
int blame_set(nami_posterior *p, size_t set, size_t i, nami_err *err);

/* ---- log likelihoods: posterior_loo.c; checks: posterior_predictive.c -------------------------
 */

int likelihood_begin(nami_posterior *p, nami_err *err);
int likelihood_put(nami_posterior *p, nami_err *err);
void likelihood_free(struct likelihood *l);
int has_loo(const nami_posterior *p, nami_err *err); /* NAMI_EUSAGE: it was not asked for */
int predictive_begin(nami_posterior *p, nami_err *err);
void predictive_put(nami_posterior *p);
void predictive_free(struct predictive *c);

/* Rows for arrays of which only some elements are random, behind the n draws of the model's rows.
 */
int add_rows(const struct model *m, const struct layout *l, size_t n, double **x, nami_err *err);

/* ---- equal weights: posterior_equal.c -------------------------------------------------------- */

int shown_make(nami_posterior *p, nami_err *err); /* of the present block */
void shown_free(struct shown *s);

/* ---- summaries: posterior_summary.c ---------------------------------------------------------- */

int find_moments(nami_posterior *p, nami_err *err);    /* which rows have conditional moments */
int summarise_block(nami_posterior *p, nami_err *err); /* the present one */

/* ---- draws that are kept: posterior_keep.c ---------------------------------------------------- */

int keep_begin(nami_posterior *p, nami_err *err);
void keep_block(nami_posterior *p); /* the present block */
void keep_free(nami_posterior *p);

/* ---- files: posterior_file.c ----------------------------------------------------------------- */

int is_picture(const char *path); /* by its ending */
void sinks_spec(nami_posterior *p);
int sinks_begin(nami_posterior *p, nami_err *err); /* draws from the prior */
int sinks_put(nami_posterior *p, nami_err *err); /* the present block */
int sinks_close(nami_posterior *p, nami_err *err);
void sinks_drop(nami_posterior *p);

#endif
