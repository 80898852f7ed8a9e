/* nami.h: the public interface of NaMI.

   A structure is read (nami_bn_read), inverted (nami_invert), and asked
   (nami_inverse_*).  Every call that can fail returns 0 or a negative code and
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

#ifdef __cplusplus
}
#endif
#endif
