/* model.h: elaboration of a model: from the syntax tree of a file and its data to variables,
   instances of statements, a graph and two programs.

       syntax --resolve--> statements --expand--> instances --footprints--> graph
                                                                  |--compile--> programs

   A statement is a relation of the file with its names resolved; an instance is one iteration of
   the enclosing loops. An element is one scalar of a named array. */
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
    int ref;   /* T_REF: number of the reference in the statement */
    const struct op *op;
    int narg;
    struct term **arg;
};

struct stmt {
    const struct rel *rel;
    struct term *lhs;        /* T_REF */
    struct term *rhs;        /* of <-; NULL for ~ */
    const struct dist *dist; /* for ~; NULL if the density is unknown (simulated) */
    const char *name;        /* name of the distribution, as written */
    struct term *arg[DIST_ARGS], *lower, *upper;
    int narg;
    struct term **given; /* the arguments as written, and their domains */
    struct dist_arg *formal;
    int ngiven;
    int depth, *loop; /* the enclosing loops, outermost first */
    int nref;
    struct term **ref;
    struct foot *foot; /* the elements that each reference reads, by instance */
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
    int first;               /* number of the first element */
    struct place at;         /* position of its first occurrence */
    const struct decl *decl; /* const or var declaration, or NULL */
    const struct value *data;
    int is_const; /* declared const */
    int defined;  /* is defined by a relation */
    int computed; /* is defined in the data block: each data set has its own values */
    int raw;      /* read only by the data block: may differ between data sets */
    int source;   /* the same, and observations are computed from it: specific to each data set */
    int free;     /* a constant to differentiate by: has a row instead of being folded */
    int used;
    int ready; /* its elements have been created */
};

enum {            /* elem.state */
       E_NONE,    /* not defined */
       E_CONST,   /* constant: see value[] */
       E_UNKNOWN, /* defined by a deterministic relation; not yet known whether constant */
       E_BUSY,    /* being evaluated: reaching it again means a cycle */
       E_RANDOM   /* a row of the programs */
};

/* The elements that a reference reads. For instance i of its statement: elem[off[i] .. off[i+1]),
   in the order of the elements of the result. A random subscript makes it a choice: pick[i] is then
   the number of candidates, whose elements are stored one after another. */
struct foot {
    int *off, *elem;
    unsigned char *random; /* does it read anything that is not constant? */
    int *pick;             /* 0: no choice */
    uint64_t *low;         /* a hash of the ranges of the choices */
    int (*shape)[SHAPE];       /* {ndim, d0, d1, ...} of the result */
};

/* The input of a model: its text, data and settings, and the messages about them. */
struct model_source {
    struct str text; /* text of the file, for messages */
    const char *file;
    const char *reading; /* model_read: the model or data file that was read last */
    struct syntax syntax;
    struct diags diags;
    struct data data;
    const char **settings; /* "d=6": values of constants that replace those of the file */
    int num_settings;
    int observe_declared;  /* the file declares what is observed; otherwise the data determine it */
    const char *simulator; /* command, or NULL */
    int simulator_locked;  /* may not run without the user's consent: it came with a network file */
    /* Its train statements, as a model that defines only these variables; NULL: there are none. */
    struct model *training;
};

/* The training distribution of an instance: train_prior.c. */
struct train_prior {
    uint64_t kind;       /* hash of distributions and shapes; 0: it is drawn from its prior */
    int num_parameters;
    double *parameter;   /* all of them, one after another */
};

/* The result of elaboration. */
struct model_ir {
    vec(struct array) arrays;
    int *array_of_name; /* array by name, or -1 */
    vec(struct stmt) statements;
    vec(struct net) networks;
    vec(struct embed) embeddings;
    struct density_op *density_ops; /* those used in terms: density_op.c */
    int limit;                      /* maximum number of elements, and of instances */

    /* elements, by number */
    int num_elements, element_capacity;
    int *array_of;
    int *defined_by; /* the defining instance, or -1 */
    unsigned char *state, *observed;
    double *value;                   /* of constants and of elements in the first data set */
    int *row;                        /* of random elements and free constants; otherwise -1 */
    int num_rows, num_constant_rows; /* number of rows; those of constants come last */
    struct elem_range *range;        /* computed on demand: range.c */
    int expanded;                    /* all arrays have their elements */
    int owned;                       /* and the defining instances of all elements are known */

    /* instances, by number; instance k defines defined[first_defined[k]] .. [first_defined[k + 1])
     */
    int num_instances, instance_capacity, offset_capacity, defined_capacity;
    int *statement_of;
    int *first_defined, *defined;
    int *level;         /* in the order of sampling */
    int *density_level; /* the same if all stochastic nodes are given */
    int *node;          /* node of a stochastic instance in bn, or -1 */
    struct train_prior *train_prior; /* NULL: the model has no train statements */
    int improper; /* it has improper priors: only its training distribution can be drawn from */

    struct bn *bn;
};

/* Compiled programs. */
struct model_programs {
    struct prog sample, density;
    struct prog training; /* like sample, but with the training distributions; empty: no such */
    vec(double) weights; /* of all networks */
};

struct model {
    struct arena mem;
    struct model_source source;
    struct model_ir ir;
    struct model_programs programs;
    struct {
        int depth, deferred;
    } evaluation; /* state of an evaluation in progress: see constant.c */
};

/* The statement of an instance, and its loop counters. */
static inline struct stmt *instance_stmt(const struct model *m, int instance)
{
    return &m->ir.statements.a[m->ir.statement_of[instance]];
}

static inline int *instance_counter(const struct model *m, int instance)
{
    const struct stmt *s = instance_stmt(m, instance);
    return s->counter + (size_t)(instance - s->first) * (size_t)s->depth;
}

/* A model in storage of the caller, initialized with {0}. */
void model_fini(struct model *m);
/* Computes the data block of `of` from the data in b; b becomes `of` up to its data block. Call
   model_fini(b) also after an error. */
int model_block(struct model *b, const struct model *of, nami_err *err);

/* A model is immutable after reading and may be used by several threads. Code that evaluates terms
   again, or adds messages, uses a copy of the struct with its own memory and diags; all elements
   and ranges have been computed, so that nothing behind its pointers is written. */
struct model working_copy(const struct model *m);
void working_copy_fini(struct model *copy);

/* ---- the steps; each returns 0 or NAMI_ENOMEM and reports other errors in the diags of m ---- */

int model_resolve(struct model *m);
int model_expand(struct model *m, const struct model_options *opt);
int model_footprints(struct model *m);
int model_schedule(struct model *m);
int model_graph(struct model *m, nami_err *err);
/* train_prior.c: checks the names in train statements; after source.training was elaborated, relates
   it to m and compiles programs.training. */
int train_names(struct model *m);
int train_link(struct model *m);
/* by_density: all stochastic nodes are given, and their log densities are summed. Otherwise they
   are drawn; if `only` is not NULL, only the instances marked in it, given the others: view.h. */
int model_compile(struct model *m, struct prog *p, int by_density, const unsigned char *only);

/* ---- constants: constant.c ---- */

enum { IS_CONST = 0, NOT_CONST = 1, IS_WRONG = 2 }; /* IS_WRONG: reported in diags */

/* The value of an array expression. */
struct cval {
    int ndim, dim[SHAPE - 1], n, cap;
    double *x;
};
/* Evaluates a scalar term / any term for these loop counters; returns one of the three above or
   NAMI_ENOMEM. */
int eval_scalar(struct model *m, const struct term *t, const int *counter, double *out);
int eval_term(struct model *m, const struct term *t, const int *counter, struct cval *out);
void cval_free(struct cval *v);
int elem_is_const(struct model *m, int e); /* one of the three, or NAMI_ENOMEM */

#endif
