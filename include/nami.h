/* nami.h: the public interface of NaMI.

   A structure is read (nami_bn_read), inverted (nami_invert), and asked
   (nami_inverse_*).  A model is read (nami_model_read), drawn from, and
   evaluated; its structure can be inverted too.  Every call that can fail returns 0 or a negative code and
   fills `err` (which may be NULL).  Objects come from _read/_new calls and go
   back through _free, which accepts NULL.  No call prints, exits or keeps
   global state; one object must not be used by two threads at once. */

#ifndef NAMI_H
#define NAMI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NAMI_VERSION "0.1.0"

/* ---- errors ------------------------------------------------------------ */

#define NAMI_ERRORS(X)                                                       \
    X(NAMI_ENOMEM, -1, "out of memory")                                      \
    X(NAMI_EINPUT, -2, "bad input")                                          \
    X(NAMI_EFILE, -3, "cannot read or write a file")                         \
    X(NAMI_EUSAGE, -4, "bad option or argument")                             \
    X(NAMI_ELIMIT, -5, "too large for this operation")                       \
    X(NAMI_EBUG, -6, "internal error")

#define NAMI_X(name, code, text) name = code,
enum { NAMI_ERRORS(NAMI_X) NAMI_OK = 0 };
#undef NAMI_X

typedef struct {
    int code;      /* 0 or one of the codes above */
    int line, col; /* place in the input, from 1; 0 if there is none */
    char msg[512]; /* one sentence: what is wrong, then what to do */
} nami_err;

const char *nami_strerror(int code);
const char *nami_version(void);

/* ---- structures --------------------------------------------------------- */

/* A Bayesian-network structure: named nodes, edges, which nodes are observed,
   and the probability tables where the file had them. */
typedef struct bn nami_bn;

/* Reads `path` ("-": standard input).  `format` is a name of `nami list
   formats`, or NULL to choose by the file's ending and content. */
int nami_bn_read(const char *path, const char *format, nami_bn **out, nami_err *err);
int nami_bn_parse(const char *text, size_t len, const char *format, nami_bn **out, nami_err *err);
int nami_bn_write(const nami_bn *bn, const char *path, const char *format, nami_err *err);
void nami_bn_free(nami_bn *bn);

int nami_bn_size(const nami_bn *bn);
const char *nami_bn_name(const nami_bn *bn, int node);
int nami_bn_find(const nami_bn *bn, const char *name); /* a node, or -1 */
int nami_bn_parents(const nami_bn *bn, int node, const int **parents);
int nami_bn_observed(const nami_bn *bn, int node);
/* `what` is "a,b[1:3]", "@FILE" with one name a line, "sinks", or "none". */
int nami_bn_observe(nami_bn *bn, const char *what, nami_err *err);
/* Latents that are wanted; the others become nuisances: summed out, no factor. */
int nami_bn_infer(nami_bn *bn, const char *what, nami_err *err);
/* "z1,z2;y": all of z1, z2 are eliminated before any of y. */
int nami_bn_stages(nami_bn *bn, const char *what, nami_err *err);
/* 1 if a and b encode the same independencies, 0 if not (why: a sentence). */
int nami_bn_equivalent(const nami_bn *a, const nami_bn *b, char *why, size_t len, nami_err *err);

/* ---- inversion ---------------------------------------------------------- */

typedef struct {
    const char *method;    /* NULL: "nami"; see `nami list methods` */
    const char *mode;      /* NULL: "best"; forward, reverse, best, free */
    const char *criterion; /* NULL: "min-fill"; see `nami list criteria` */
    const char *verify;    /* NULL: "auto"; full, sample, none */
    int keep_barren;       /* treat barren latents as ordinary ones */
    int restarts;          /* extra runs with ties broken at random */
    uint64_t seed;
} nami_options; /* all zero is a good default */

typedef struct inverse nami_inverse;

int nami_invert(const nami_bn *bn, const nami_options *opt, nami_inverse **out, nami_err *err);
void nami_inverse_free(nami_inverse *inv);

const char *nami_inverse_mode(const nami_inverse *inv);
int64_t nami_inverse_edges(const nami_inverse *inv); /* into network factors */
int64_t nami_inverse_width(const nami_inverse *inv); /* largest parent set */
/* The order of elimination: the factors to sample are its reverse. */
int nami_inverse_order(const nami_inverse *inv, const int **nodes);
/* Parents of a latent: how many; writes at most `cap` of them to out. */
int64_t nami_inverse_parents(const nami_inverse *inv, int node, int *out, int64_t cap);
/* 1 if the node's factor is the model's own conditional, 0 for a network, -1 for none. */
int nami_inverse_is_model(const nami_inverse *inv, int node);
/* What was proved: 1 yes, 0 no, -1 not checked. */
int nami_inverse_faithful(const nami_inverse *inv);
int nami_inverse_minimal(const nami_inverse *inv);
int nami_inverse_natural(const nami_inverse *inv);

/* ---- models -------------------------------------------------------------- */

/* A model in the model language (docs/language.md), with its data. */
typedef struct nami_model nami_model;

typedef struct {
    const char *const *data; /* data files: JSON or R dump; the first data set counts */
    int ndata;
    const char *const *set; /* "name=number": constants, instead of the file's values */
    int nset;
    const char *observe; /* as of nami_bn_observe, instead of what the file says; or NULL */
} nami_model_options; /* all zero: the model alone */

/* Reads a model file (.bug .bugs .jags .txt: as JAGS; else NaMI's own).  `opt` may be NULL.
   *out is set even if the file is wrong (NAMI_EINPUT), so that nami_model_messages can tell
   all there is to say; such a model knows nothing else: the calls below then give 0, -1, NULL
   or NAMI_EUSAGE.  Free it in any case; *out is NULL only if memory ran out.  err holds the
   first of the errors; if it is not in the model's text (a file that is not there, broken data),
   there are no messages, and err->msg begins with the file's name. */
int nami_model_read(const char *path, const nami_model_options *opt, nami_model **out,
                    nami_err *err);
void nami_model_free(nami_model *model);

/* All errors and warnings as text for people, with places and advice; "" if there is none.
   The text is the model's. */
const char *nami_model_messages(const nami_model *model);

/* The graph over the random variables, for nami_invert and the nami_bn_* questions. It is
   the model's: do not free it. */
const nami_bn *nami_model_structure(const nami_model *model);

/* Scalars: every element of every variable that is not constant, random (~) or computed from
   random ones (<-).  They are numbered 0 ... size - 1: variables in a fixed order, each with
   its elements in row-major order (the last subscript runs fastest). */
int nami_model_size(const nami_model *model);
const char *nami_model_scalar_name(const nami_model *model, int scalar); /* "mu", "y[2,3]" */
int nami_model_scalar_find(const nami_model *model, const char *name);   /* or -1 */
/* The node of the structure that a scalar belongs to; -1 if it is computed. */
int nami_model_scalar_node(const nami_model *model, int scalar);

/* Points.  n points are an array double x[size * n] with scalar s of point i at
   x[s * n + i]: all points of one scalar lie side by side. */

/* Draws points 0 ... n - 1 from the joint distribution of all random variables; observed ones
   are drawn too.  Point i depends on (seed, i) alone, for any n and any number of threads (if
   the model has a simulator: as far as the simulator keeps to that).
   threads 0: as many as there are processors. */
int nami_model_simulate(const nami_model *model, uint64_t seed, size_t n, int threads, double *x,
                        nami_err *err);

/* logp[i] = log p(point i), with all normalising constants: -INFINITY outside the support,
   NaN where a distribution's parameters are outside of theirs.  Computed scalars are not read.
   grad, if not NULL: derivatives, in the layout of x; 0 for computed and discrete scalars.
   Not for one model in two threads at once. */
int nami_model_logp(nami_model *model, size_t n, const double *x, int threads, double *logp,
                    double *grad, nami_err *err);

/* Puts what the first data set of a file gives for random variables into point i of n, and
   leaves the other scalars as they are.  Returns how many scalars it has set, or an error. */
int nami_model_set_point(const nami_model *model, const char *path, size_t n, size_t i, double *x,
                         nami_err *err);

#ifdef __cplusplus
}
#endif
#endif
