/* dist.h: the distributions, one row and one file each.

   A row of dist.def is DIST(id); src/dist/<id>.c ends with its record `const struct
   dist dist_<id>`.  Names without a d have the names and arguments of Stan.  JAGS
   names are aliases, rows JAGS(...): an expression of the model language in terms of a
   record (`dnorm(mu, tau)` is `normal(mu, 1 / sqrt(tau))`); STAN(...) and NAMI(...)
   are aliases with names of Stan and of NaMI. */
#ifndef DIST_DIST_H
#define DIST_DIST_H

#include <stddef.h>

#include "base/kernel.h"

/* Domain of a scalar, vector or matrix; the table is in domain.c. */
enum domain {
    REAL,        /* any number */
    POSITIVE,    /* > 0 */
    NONNEGATIVE, /* >= 0 */
    UNIT,        /* [0, 1] */
    OPEN_UNIT,   /* (0, 1) */
    BINARY,      /* 0 or 1 */
    COUNT,       /* 0, 1, 2, ... */
    INDEX,       /* 1, 2, 3, ... */
    VECTOR,      /* real vector */
    POSITIVES,   /* vector of numbers > 0 */
    WEIGHTS,     /* vector of numbers >= 0, not all 0: unnormalized probabilities */
    SIMPLEX,     /* vector of numbers >= 0 that sum to 1 */
    COUNTS,      /* vector of 0, 1, 2, ... */
    SPD,         /* symmetric positive definite matrix */
    ORDERED,     /* vector of increasing numbers: for arguments only */
    CHOLESKY,    /* lower triangular matrix with a positive diagonal: for arguments only */
    CORR,        /* correlation matrix */
    CHOL_CORR,   /* Cholesky factor of a correlation matrix */
    NDOMAIN
};

struct domain_info {
    const char *name; /* one word: "positive", "unit" */
    const char *what; /* phrase for messages: "theta must be between 0 and 1" */
    int rank;         /* 0 scalar, 1 vector, 2 square matrix */
    int discrete;
    double lo, hi;        /* bounds of each element (of the diagonal, for SPD) */
    int lo_open, hi_open; /* is the bound excluded? */
    int tied;             /* elements are dependent and are transformed jointly */
};
extern const struct domain_info domains[NDOMAIN];
int domain_find(const char *name, size_t len); /* or -1 */
/* Is x[n] (n = k*k for a k x k matrix, row-major) in the domain?  Sums to within 1e-6; NaN is not.
 */
int domain_holds(enum domain d, const double *x, int n);

/* Maximum numbers of arguments; RECORD_ARGS: of a record; DIST_ARGS: also of compound
   distributions. */
enum { RECORD_ARGS = 4, DIST_ARGS = 9, DIST_PARTS = 2, DIST_TRIES = 6 };

struct dist_arg {
    const char *name;
    enum domain domain;
};

/* Test point: the elements of all arguments, concatenated; n[k] is the number of elements of
   argument k (0 if unused). */
struct dist_try {
    int n[DIST_ARGS];
    double p[24];
};

struct dist {
    const char *name, *what;
    int narg;
    struct dist_arg arg[DIST_ARGS];
    enum domain domain; /* support of the value */

    /* A scalar distribution with scalar arguments has these element-wise kernels;
       a[0] is the value, a[1...] the arguments.  logp is -INFINITY outside the support and NaN
       where an argument is outside its domain (never a trap, never an endless loop). grad computes
       derivatives with respect to value and arguments (0 for discrete ones); it is defined only
       where logp is finite. */
    map_fn *logp;
    map_grad_fn *grad;
    map_both_fn *both; /* or NULL */
    map_float_fn *both_float;
    map_fn *logit;           /* or NULL; for domain (0, 1): log p(x) as a function of logit(x), */
    map_grad_fn *logit_grad; /* which is accurate even if x rounds to 1 */
    /* Draws out[i] given the arguments a[0][i], ...; NaN where they are invalid. */
    void (*sample)(const void *self, const struct stream *s, int n, double *out,
                   const double *const *a);
    /* Pathwise derivatives of a draw with respect to the arguments: out = draws, a = the arguments.
       Defined as derivatives of the quantile at a fixed probability, regardless of how the draw was
       generated; 0 where a draw was rounded to the boundary of its domain.  NULL: discrete. */
    map_grad_fn *path;

    /* All others have block kernels: a contains the elements of the value, then those
       of the arguments; out[0] is the log density.  dim[0] is the number of elements
       of the value, dim[1...] of the arguments.  For bsample, out is the value and a contains
       only the elements of the arguments. */
    block_fn *blogp;
    block_grad_fn *bgrad;
    void (*bsample)(const void *self, const struct stream *s, const int *dim, int L,
                    double *const *out, const struct lanes *a, double *work);
    int (*work)(const int *dim); /* size of the workspace for any of the three; NULL: none */
    /* The number of elements of the value, given those of the arguments (n[k]), or -1 with a
       message in *why if they are incompatible.  NULL: a scalar. */
    int (*size)(const int *n, const char **why);
    /* 1 + the argument whose value, instead of its number of elements, is passed to size(): the
       order of a random matrix that is given by a constant.  0: none */
    int size_arg;
    /* The largest value, if it depends on numbers of elements; NULL: for an INDEX, the number of
       elements of the first argument */
    int (*largest)(const int *n);

    /* For scalar values, if available: P(X <= x) and its inverse (smallest x with P >= u), used by
     * T(,). */
    double (*cdf)(double x, const double *p);
    double (*quantile)(double u, const double *p);
    /* The same for the upper tail, where 1 - cdf would suffer from cancellation: P(X > x), and the
       smallest x with P(X > x) <= u.  Both or neither, and only with the two above. */
    double (*ccdf)(double x, const double *p);
    double (*cquantile)(double u, const double *p);
    /* g[k] = d cdf(x) / d p[k] at finite x; if NULL, T(,) uses finite differences. */
    void (*dcdf)(double x, const double *p, double *g);
    /* The support if it depends on the parameters (uniform, pareto, binomial); NULL: the
       support is the domain. For messages, check and bijectors. */
    void (*bounds)(const double *p, double *lo, double *hi);
    /* Mean and variance of each element of the value (p: the elements of all arguments,
       concatenated; n as above); 0 if they exist and were written, -1 if not. */
    int (*moments)(const int *n, const double *p, double *mean, double *var);

    int location, scale; /* 1 + the index of the location or scale argument; 0: none */
    int own;             /* the name is NaMI's own, not from Stan */
    /* Preprocessing of an argument for sampling (the Cholesky factor of a matrix), done once if
       many draws share the argument.  factor: dim[0] is the number of elements, of input and
       output.  factored->bsample takes the result instead of argument factor_arg; NULL: none. */
    const struct dist *factored;
    int factor_arg;
    block_fn *factor;

    const struct dist *part[DIST_PARTS]; /* components of a compound; NULL: a record of dist.def */
    int atoms;                           /* a continuous distribution with point masses */

    /* A weakly informative prior to suggest instead of a vague one of this family, with NaMI and
     * with JAGS names; NULL: none. */
    const char *mild, *mild_jags;
    struct dist_try try_at[DIST_TRIES]; /* ends with n[0] == 0 */
};

#define DIST(id) extern const struct dist dist_##id;
#include "dist/dist.def"

/* All records in the order of dist.def, NULL at the end. */
extern const struct dist *const dists[];
const struct dist *dist_find(const char *name, size_t len); /* or NULL */

/* An alias that reparameterizes a record: args is "mu:real, tau:positive", meaning is an expression
   of the model language in these arguments.  An alias may have several rows with different argument
   names. */
struct dist_alias {
    const char *name, *args, *meaning;
    const char *whose; /* "JAGS", "Stan" or "NaMI" */
};
extern const struct dist_alias dist_aliases[]; /* ends with name == NULL */

/* A record in JAGS syntax: an expression in the arguments of the record, followed by " T(0,)" for a
   distribution restricted to the positive half-line; or NULL and advice for the user. */
struct dist_export {
    const char *name, *meaning, *advice;
};
extern const struct dist_export
    dist_exports[]; /* one for each record in dists[]; ends with name == NULL */

/* A compound distribution (mixture, censored, interval), with its file and its row FORM(id).  The
   arguments of a component take its place: mixture(w, d, d) of normals has the arguments w, mu,
   sigma, mu, sigma.  An omitted `lower` or `upper` is infinite. */
#define A_DIST NDOMAIN /* used as a domain: the argument is a distribution */
struct dist_form {
    const char *name, *what, *value; /* value: its support, in a word or two */
    int narg;
    struct dist_arg arg[DIST_PARTS + 2];
    int point;          /* may a component be a number (a point mass)? */
    const char *advice; /* what to use in JAGS, which has no compounds */
    /* Completes `out`, whose name, components and arguments are set; NULL or an error message. */
    const char *(*make)(struct dist *out);
};
extern const struct dist_form *const dist_forms[];                    /* NULL at the end */
const struct dist_form *dist_form_find(const char *name, size_t len); /* or NULL */
extern const struct dist
    dist_point; /* point mass: the component denoted by a number; its argument is x */
extern const struct dist dist_flat; /* improper uniform: flat.c */
extern const struct dist_form form_within; /* for censored data: interval.c */
/* The compound of these components; returns NULL or an error message. */
const char *dist_make(const struct dist_form *f, const struct dist *const *part, struct dist *out);

/* log P(lower <= X <= upper); -INFINITY if the probability is 0, NaN if an argument is invalid. */
double log_between(const struct dist *d, const double *p, double lower, double upper);
/* Its derivatives with respect to the arguments, g[narg], and both bounds, where it is finite. */
void log_between_grad(const struct dist *d, const double *p, double lower, double upper, double *g,
                      double *ends);

/* log P(X <= x), or log P(X > x) if `upper`, for a dist with a cdf: accurate in both tails, even
   where the probability itself underflows. */
double dist_log_tail(const struct dist *d, double x, const double *p, int upper);

/* Truncation T(lower, upper) of any dist with cdf and quantile, as kernels of the same kind:
   self is the struct dist; a = value, arguments, lower, upper (-INFINITY/INFINITY if open). */
map_fn truncated_logp;
map_grad_fn truncated_grad;
void truncated_sample(const void *self, const struct stream *s, int n, double *out,
                      const double *const *a); /* a = arguments, lower, upper */

#endif
