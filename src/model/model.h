/* model.h: a model, elaborated: from the tree of a file and its data to
   variables, instances of statements, a graph and two programs.

       syntax --resolve--> statements --expand--> instances --footprints--> graph
                                                                  |--compile--> programs

   A statement is a relation of the file with its names looked up; an instance is
   one turn of the loops around it.  An element is one scalar of a named array. */
#ifndef MODEL_MODEL_H
#define MODEL_MODEL_H

#include "model/lang/functions.h"
#include "model/lang/syntax.h"
#include "model/read.h"
#include "model/view.h"

/* ---- terms and statements: resolve.c ------------------------------------- */

struct term {
    enum term_kind kind;
    struct place at, all;
    double value;
    int depth, net;
    int array; /* of T_REF; the name of T_COUNTER */
    int ref;   /* T_REF: its number in the statement */
    const struct op *op;
    int narg;
    struct term **arg;
};

struct stmt {
    const struct rel *rel;
    struct term *lhs;        /* T_REF */
    struct term *rhs;        /* of <-; NULL for ~ */
    const struct dist *dist; /* of ~; NULL if its density is unknown (simulated) */
    const char *name;        /* of the distribution, as written */
    struct term *arg[DIST_ARGS], *lower, *upper;
    int narg;
    struct term **given; /* the arguments as written, which must lie in ... */
    struct dist_arg *formal;
    int ngiven;
    int depth, *loop; /* the loops around it, from outside */
    int nref;
    struct term **ref;
    struct foot *foot; /* what each ref reads, instance by instance */
    int first, n;      /* its instances */
    int *counter;      /* n * depth */
};

/* ---- arrays and elements: expand.c --------------------------------------- */

_Static_assert(SHAPE == 1 + (int)MAX_DIM, "values have the dimensions of arrays");

struct array {
    const char *name;
    int id;   /* of syntax.names */
    int ndim; /* -1: not known yet */
    int dim[MAX_DIM], n;
    int first;               /* its first element */
    struct place at;         /* where it first appears */
    const struct decl *decl; /* const or var, or NULL */
    const struct value *data;
    int is_const; /* declared const */
    int defined;  /* has a relation */
    int computed; /* has one in the data block: its values come with each data set */
    int raw;      /* only the data block reads it: it is not compared with other data sets' */
    int source;   /* the same, and observations are computed from it: each data set has its own */
    int free;     /* a constant that derivatives are wanted for: a row, not folded */
    int used;
    int ready; /* has its elements */
};

enum {            /* elem.state */
       E_NONE,    /* nothing defines it */
       E_CONST,   /* value[] is it */
       E_UNKNOWN, /* a deterministic relation defines it: constant or not is not known yet */
       E_BUSY,    /* being evaluated: meeting it again is a cycle */
       E_RANDOM   /* a row of the programs */
};

/* What a reference reads.  For instance i of its statement: elem[off[i] .. off[i+1]),
   in the order of the result's elements.  A random subscript makes it a choice: pick[i]
   is then the number of choices; their elements follow each other. */
struct foot {
    int *off, *elem;
    unsigned char *random; /* does it read anything that is not constant? */
    int *pick;             /* 0: no choice */
    uint64_t *low;         /* a hash of the ranges of the choices */
    int (*shape)[SHAPE];       /* {ndim, d0, d1, ...} of the result */
};

/* Where a model comes from: its text, its data and settings, and what is to be said of them. */
struct model_source {
    struct str text; /* of the file, for messages */
    const char *file;
    const char *reading; /* model_read: the file, of model or data, that is read or was last */
    struct syntax syntax;
    struct diags diags;
    struct data data;
    const char **settings; /* "d=6": constants that were set, instead of the file's */
    int num_settings;
    int observe_declared;  /* the file says what is observed; else the data do */
    const char *simulator; /* command, or NULL */
    int simulator_locked;  /* nobody has allowed it yet: it came with a file from elsewhere */
};

/* What elaboration makes of it. */
struct model_ir {
    vec(struct array) arrays;
    int *array_of_name; /* by name number; -1 */
    vec(struct stmt) statements;
    vec(struct net) networks;
    vec(struct embed) embeddings;
    struct density_op *density_ops; /* a list of those that terms use: density_op.c */
    int limit;                      /* the largest number of elements, and of instances */

    /* elements, by number */
    int num_elements, element_capacity;
    int *array_of;
    int *defined_by; /* the instance that defines it; -1 */
    unsigned char *state, *observed;
    double *value; /* of constants and of what the first data set gives */
    int *row;      /* of random elements, and of constants that stand among them; -1 */
    int num_rows, num_constant_rows; /* how many of each; those of constants come last */
    struct elem_range *range;        /* as far as asked for: range.c */
    int expanded;                    /* all arrays have their elements */
    int owned;                       /* and all elements the instances that define them */

    /* instances, by number; instance k defines defined[first_defined[k]] .. [first_defined[k + 1])
     */
    int num_instances, instance_capacity, offset_capacity, defined_capacity;
    int *statement_of;
    int *first_defined, *defined;
    int *level;         /* in the order of sampling */
    int *density_level; /* the same when all stochastic nodes are given */
    int *node;          /* of a stochastic instance in bn; -1 */

    struct bn *bn;
};

/* What runs. */
struct model_programs {
    struct prog sample, density;
    vec(double) weights; /* of all networks */
};

struct model {
    struct arena mem;
    struct model_source source;
    struct model_ir ir;
    struct model_programs programs;
    struct {
        int depth, deferred;
    } evaluation; /* under way: see constant.c */
};

/* The statement of an instance, and the loop counters of this turn. */
static inline struct stmt *instance_stmt(const struct model *m, int instance)
{
    return &m->ir.statements.a[m->ir.statement_of[instance]];
}

static inline int *instance_counter(const struct model *m, int instance)
{
    const struct stmt *s = instance_stmt(m, instance);
    return s->counter + (size_t)(instance - s->first) * (size_t)s->depth;
}

/* A model in the caller's storage, empty at first: {0}. */
void model_fini(struct model *m);
/* Computes the data block of `of` from the data that b has: b is `of` up to that, and is to be
   finished in any case. */
int model_block(struct model *b, const struct model *of, nami_err *err);

/* A model that was read does not change, and others may ask it at the same time.  What evaluates
   its terms again, or has messages, does so on a copy of the struct with memory and diags of its
   own; all elements and ranges are settled, so that nothing behind its pointers is written. */
struct model working_copy(const struct model *m);
void working_copy_fini(struct model *copy);

/* ---- the steps; each returns 0 or NAMI_ENOMEM, and says the rest in the diags of m ---- */

int model_resolve(struct model *m);
int model_expand(struct model *m, const struct model_options *opt);
int model_footprints(struct model *m);
int model_schedule(struct model *m);
int model_graph(struct model *m, nami_err *err);
/* by_density: all stochastic nodes are given, and their log densities are summed.  Else they are
   drawn; if `only` is not NULL, just the instances marked in it, from what is given: view.h. */
int model_compile(struct model *m, struct prog *p, int by_density, const unsigned char *only);

/* ---- constants: constant.c ---- */

enum { IS_CONST = 0, NOT_CONST = 1, IS_WRONG = 2 }; /* wrong: said in diags */

/* The value of an array expression. */
struct cval {
    int ndim, dim[SHAPE - 1], n, cap;
    double *x;
};
/* The value of a scalar term / of any term, with these loop counters; the result is
   one of the three above, or NAMI_ENOMEM. */
int eval_scalar(struct model *m, const struct term *t, const int *counter, double *out);
int eval_term(struct model *m, const struct term *t, const int *counter, struct cval *out);
void cval_free(struct cval *v);
int elem_is_const(struct model *m, int e); /* one of the three, or NAMI_ENOMEM */

#endif
