/* dist.h: the distributions, one row and one file each.

   A row of dist.def is DIST(id); src/dist/<id>.c ends with its record `const struct
   dist dist_<id>`.  Names without a d are Stan's, with Stan's arguments.  JAGS's
   names are rows JAGS(...): one line of the model language that says which of the
   records they mean (`dnorm(mu, tau)` is `normal(mu, 1 / sqrt(tau))`); STAN(...) and
   NAMI(...) are the same for names of Stan and our own. */
#ifndef DIST_DIST_H
#define DIST_DIST_H

#include <stddef.h>

#include "base/kernel.h"

/* Where a number, a vector or a matrix lives; domain.c has the table. */
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
    WEIGHTS,     /* vector of numbers >= 0, not all 0: probabilities up to a factor */
    SIMPLEX,     /* vector of numbers >= 0 that sum to 1 */
    COUNTS,      /* vector of 0, 1, 2, ... */
    SPD,         /* symmetric positive definite matrix */
    ORDERED,     /* vector of increasing numbers: arguments alone, no value is one */
    CHOLESKY,    /* lower triangular matrix with a positive diagonal: arguments alone */
    CORR,        /* correlation matrix */
    CHOL_CORR,   /* Cholesky factor of a correlation matrix */
    NDOMAIN
};

struct domain_info {
    const char *name; /* one word: "positive", "unit" */
    const char *what; /* as messages say it: "theta must be between 0 and 1" */
    int rank;         /* 0 scalar, 1 vector, 2 square matrix */
    int discrete;
    double lo, hi;        /* bounds of each element (of the diagonal, for SPD) */
    int lo_open, hi_open; /* is the bound itself outside? */
    int tied;             /* elements depend on each other, and are unconstrained together */
};
extern const struct domain_info domains[NDOMAIN];
int domain_find(const char *name, size_t len); /* or -1 */
/* Is x[n] (n = k*k for a k x k matrix, row-major) inside?  Sums within 1e-6. NaN is not. */
int domain_holds(enum domain d, const double *x, int n);

/* RECORD_ARGS: arguments of a record; DIST_ARGS: also of a distribution that is made of others. */
enum { RECORD_ARGS = 4, DIST_ARGS = 9, DIST_PARTS = 2, DIST_TRIES = 6 };

struct dist_arg {
    const char *name;
    enum domain domain;
};

/* Parameters to test at: all arguments' elements in a row; n[k] is the number of
   elements of argument k (0 for those not used). */
struct dist_try {
    int n[DIST_ARGS];
    double p[24];
};

struct dist {
    const char *name, *what;
    int narg;
    struct dist_arg arg[DIST_ARGS];
    enum domain domain; /* of the value */

    /* A scalar distribution with scalar arguments has these element-wise kernels;
       a[0] is the value, a[1...] the arguments.  logp is -INFINITY outside the support and NaN
       where an argument is outside its domain (never a trap, never an endless loop). grad gives
       derivatives by value (0 if discrete) and arguments (0 by discrete ones); only defined where
       logp is finite. */
    map_fn *logp;
    map_grad_fn *grad;
    map_both_fn *both; /* or NULL */
    map_float_fn *both_float;
    map_fn *logit; /* or NULL; of numbers in (0, 1): log p(x) from logit(x) in place of x, */
    map_grad_fn *logit_grad; /* which loses nothing where x is rounded to 1 */
    /* out[i] given a[0][i], ... the arguments alone; NaN where they are invalid. */
    void (*sample)(const void *self, const struct stream *s, int n, double *out,
                   const double *const *a);
    /* A draw's derivatives by the arguments: out = draws, a = the arguments alone.  Those of the
       quantile at a fixed probability, however the draw was made; 0 where a draw has been rounded
       to the edge of its domain.  NULL: discrete. */
    map_grad_fn *path;

    /* All others have block kernels: a holds the elements of the value, then those
       of the arguments; out[0] is the log density.  dim[0] is the number of elements
       of the value, dim[1...] of the arguments.  For sample, out is the value and a holds the
       arguments' elements alone. */
    block_fn *blogp;
    block_grad_fn *bgrad;
    void (*bsample)(const void *self, const struct stream *s, const int *dim, int L,
                    double *const *out, const struct lanes *a, double *work);
    int (*work)(const int *dim); /* doubles of scratch for any of the three; NULL: none */
    /* The number of elements of the value, from those of the arguments (n[k]), or -1 if
       they do not fit each other, with *why a sentence.  NULL: a scalar. */
    int (*size)(const int *n, const char **why);
    /* 1 + the argument whose value size() gets in place of its number of elements: a matrix that
       nothing but a constant tells the order of.  0: none */
    int size_arg;
    /* The largest value, where that depends on numbers of elements; NULL: of an INDEX, that of the
       first argument's */
    int (*largest)(const int *n);

    /* Where known, for scalar values: P(X <= x) and its inverse (smallest x with P >= u), used by
     * T(,). */
    double (*cdf)(double x, const double *p);
    double (*quantile)(double u, const double *p);
    /* The same for the upper tail, where 1 - cdf would lose its digits: P(X > x), and the
       smallest x with P(X > x) <= u.  Both or neither, and only with those above. */
    double (*ccdf)(double x, const double *p);
    double (*cquantile)(double u, const double *p);
    /* g[k] = d cdf(x) / d p[k] at finite x, where it is easy; otherwise T(,) uses differences. */
    void (*dcdf)(double x, const double *p, double *g);
    /* The support where it depends on the parameters (uniform, pareto, binomial); NULL:
       the domain says it all. For messages, check and bijectors. */
    void (*bounds)(const double *p, double *lo, double *hi);
    /* Mean and variance of each element of the value (p: all arguments' elements in a
       row, n as above); 0 if they exist and are written, -1 if not. */
    int (*moments)(const int *n, const double *p, double *mean, double *var);

    int location, scale; /* 1 + the argument that moves or stretches the value; 0: none */
    int own;             /* the name is not one of Stan's */
    /* An argument that draws need worked on (a matrix, its Cholesky factor): where many
       draws share one, the work is done once.  factor: dim[0] is the number of elements, in and
       out.  factored->bsample takes the result in place of argument factor_arg; NULL: none. */
    const struct dist *factored;
    int factor_arg;
    block_fn *factor;

    const struct dist *part[DIST_PARTS]; /* what it is made of; NULL: a record of dist.def */
    int atoms; /* single values of a continuous distribution have a probability of their own */

    /* A prior to propose instead of a vague one of this family, in our names and in JAGS's; NULL:
     * none. */
    const char *mild, *mild_jags;
    struct dist_try try_at[DIST_TRIES]; /* ends with n[0] == 0 */
};

#define DIST(id) extern const struct dist dist_##id;
#include "dist/dist.def"

/* All records in the order of dist.def, NULL at the end. */
extern const struct dist *const dists[];
const struct dist *dist_find(const char *name, size_t len); /* or NULL */

/* A name for another record in other terms: args is "mu:real, tau:positive", meaning is an
   expression in the model language over them.  A name may have several rows with other argument
   names. */
struct dist_alias {
    const char *name, *args, *meaning;
    const char *whose; /* "JAGS", "Stan" or "NaMI" */
};
extern const struct dist_alias dist_aliases[]; /* ends with name == NULL */

/* A record as JAGS would write it: an expression over the record's arguments, " T(0,)" behind it if
   only its positive half is meant; or NULL and what to do instead. */
struct dist_export {
    const char *name, *meaning, *advice;
};
extern const struct dist_export
    dist_exports[]; /* one for each of dists[]; ends with name == NULL */

/* A way to make a distribution of others, with its file and its row FORM(id).  The arguments of a
   part take its place: mixture(w, d, d) of normals has w, mu, sigma, mu, sigma.  A `lower` or
   `upper` that is left out is infinite. */
#define A_DIST NDOMAIN /* in place of the domain: the argument is a distribution */
struct dist_form {
    const char *name, *what, *value; /* value: where it lies, in a word or two */
    int narg;
    struct dist_arg arg[DIST_PARTS + 2];
    int point;          /* may a number stand for a part: all its mass is there? */
    const char *advice; /* JAGS has none of them: what to do instead */
    /* Completes `out`, which has name, parts and arguments; NULL or why it cannot be. */
    const char *(*make)(struct dist *out);
};
extern const struct dist_form *const dist_forms[];                    /* NULL at the end */
const struct dist_form *dist_form_find(const char *name, size_t len); /* or NULL */
extern const struct dist dist_point; /* the part that a number stands for; its argument is x */
extern const struct dist_form form_within; /* of censored data: interval.c */
/* The distribution that a form makes of these parts; NULL or why it cannot be. */
const char *dist_make(const struct dist_form *f, const struct dist *const *part, struct dist *out);

/* log P(lower <= X <= upper); -INFINITY if that is 0, NaN where an argument is wrong. */
double log_between(const struct dist *d, const double *p, double lower, double upper);
/* Its derivatives by the arguments, g[narg], and by both bounds, where it is finite. */
void log_between_grad(const struct dist *d, const double *p, double lower, double upper, double *g,
                      double *ends);

/* log P(X <= x), or log P(X > x) if `upper`, of a dist with a cdf: to full accuracy in both tails,
   also where the probability itself underflows. */
double dist_log_tail(const struct dist *d, double x, const double *p, int upper);

/* T(lower, upper) of any dist with cdf and quantile, as kernels of the same kind:
   self is the struct dist; a = value, arguments, lower, upper (-INFINITY/INFINITY if open). */
map_fn truncated_logp;
map_grad_fn truncated_grad;
void truncated_sample(const void *self, const struct stream *s, int n, double *out,
                      const double *const *a); /* a = arguments, lower, upper */

#endif
