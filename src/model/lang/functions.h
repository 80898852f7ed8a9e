/* functions.h: what the model language calls by name that is no operation of tensor/. */
#ifndef MODEL_LANG_FUNCTIONS_H
#define MODEL_LANG_FUNCTIONS_H

enum term_kind {
    T_NUMBER,  /* value */
    T_COUNTER, /* a loop's: number `depth` from outside */
    T_REF,     /* array[arg, ...]; arg NULL: the whole extent */
    T_OP,      /* op(arg, ...) */
    T_RANGE,   /* arg[0] : arg[1] */
    T_NET,     /* a declared network */
    T_REP,     /* rep(arg[0], arg[1]) */
    T_LENGTH,  /* length(arg[0]) and dim(arg[0]): constants */
    T_DIM,
    T_ELEMENT /* the element of arg[0] that arg[1], ... point to: constants; see vectorize.c */
};

/* Functions that are no operations of tensor/: what they give is known when a model is read.
   Ends with name == NULL. */
extern const struct builtin {
    const char *name, *args, *what;
    enum term_kind kind;
    int narg;
} builtins[];

/* Densities, distribution functions and quantiles are functions too: one row for each pattern of
   names, such as pNAME for pnorm(x, mu, tau).  density_name.c; ends with name == NULL. */
enum density_kind {
    FUN_LOG_DENSITY,
    FUN_DENSITY,
    FUN_CDF,
    FUN_LOG_CDF,
    FUN_LOG_CCDF,
    FUN_QUANTILE
};
extern const struct density_form {
    const char *name, *args, *what; /* for `nami list functions` */
    const char *before, *behind;    /* what stands around the name of the distribution */
    enum density_kind kind;
    int jags;     /* the distribution has a name of JAGS, of which the d is left out */
    int discrete; /* 0, 1: only for distributions that are not, or are, discrete; -1: for all */
} density_forms[];

#endif
