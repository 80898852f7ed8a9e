/* functions.h: functions of the model language that are not operations of tensor/. */
#ifndef MODEL_LANG_FUNCTIONS_H
#define MODEL_LANG_FUNCTIONS_H

enum term_kind {
    T_NUMBER,  /* value */
    T_COUNTER, /* counter of loop number `depth`, outermost first */
    T_REF,     /* array[arg, ...]; arg NULL: the whole extent */
    T_OP,      /* op(arg, ...) */
    T_RANGE,   /* arg[0] : arg[1] */
    T_NET,     /* a declared network */
    T_REP,     /* rep(arg[0], arg[1]) */
    T_LENGTH,  /* length(arg[0]) and dim(arg[0]): constants */
    T_DIM,
    T_ELEMENT /* the element of arg[0] at constant subscripts arg[1], ...: vectorize.c */
};

/* Functions that are evaluated when a model is read. Ends with name == NULL. */
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
    const char *before, *behind;    /* prefix and suffix of the name of the distribution */
    enum density_kind kind;
    int jags;     /* the name is a JAGS name without its d */
    int discrete; /* 0: for continuous distributions; 1: for discrete ones; -1: for all */
} density_forms[];

#endif
