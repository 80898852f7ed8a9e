/* lang.h: declarations shared by the files of model/lang. */
#ifndef MODEL_LANG_LANG_H
#define MODEL_LANG_LANG_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/near.h"
#include "model/model.h"

extern const struct op op_neg; /* unary minus */

const struct dist_alias *alias_find(const char *name); /* its first row, or NULL */
/* Parses "mu:real, tau:positive" to formal[DIST_ARGS]; returns their number, or -1: out of
   memory. */
int alias_formals(struct arena *mem, const char *args, struct dist_arg *formal);
/* Matches arguments to formal ones, by name or by position. 0, or -1 if a name is unknown or used
   twice. */
int match_names(const struct syntax *s, const struct expr *x, const struct dist_arg *formal, int n,
                const struct expr **out);
/* The same, but arguments may be omitted (NULL). */
int match_names_open(const struct syntax *s, const struct expr *x, const struct dist_arg *formal,
                     int n, const struct expr **out);
/* A term with space for its arguments; NULL: out of memory. */
struct term *term_new(struct arena *mem, enum term_kind kind, struct place at, struct place all,
                      int narg);
/* A copy without its arguments, which the caller fills in. */
struct term *term_like(struct arena *mem, const struct term *t);
int model_array(struct model *m, int name,
                struct place at); /* the array of a name; -1: out of memory */
/* Resolves an expression outside of relations: loop bounds, sizes, declarations. */
struct term *resolve_alone(struct model *m, const struct expr *x, const int *depth_of, int *oom);

/* density_name.c: parses the name of a density, distribution function or quantile. */
struct density_name {
    const struct density_form *form; /* NULL: not such a function */
    const struct dist *dist;
    const struct dist_alias *alias; /* first row of a JAGS name, or NULL */
};
struct density_name density_find(const char *name);
/* Reports an error and returns 1 if the distribution does not have this function. */
int density_refuse(struct diags *d, struct place at, const struct density_name *f);
/* Tries all such names; the word found is in the memory of d. */
void density_near(struct diags *d, const char *s, struct near *best);

/* density_op.c: the function as an operation, one for each name in a model; NULL: out of memory. */
const struct op *density_op(struct model *m, const struct density_name *f, const char *name);
/* op.shape for distributions of vectors and matrices, which need the distribution. */
int density_shape(const struct op *op, int narg, const int (*shape)[SHAPE], int *out, int *dim,
                  const char **why);

/* constant.c; results as for eval_scalar. rep(): number of repetitions; n: number of repeated
   elements */
int eval_times(struct model *m, const struct term *t, const int *counter, int n, int *out);
/* T_ELEMENT: index of the element in a value of this shape. */
int eval_place(struct model *m, const struct term *t, const int *counter, const int *shape,
               int *out);
void shape_of_cval(const struct cval *v, int *shape);
int too_large(struct model *m, const struct term *t, double n); /* reports an error: IS_WRONG */

/* say.c: explains why an expression is not constant, in diags; each returns IS_WRONG */
int say_not_const(struct model *m, const struct term *t, const int *counter, const char *what,
                  const char *advice);
int say_missing(struct model *m, const struct term *t, const int *counter);
int unknown_variable(struct model *m, struct place at, const char *name);
int undefined_name(struct model *m, const struct term *t);
int undefined_element(struct model *m, const struct term *t, int e, int chosen);

/* box.c: one dimension of a reference: lo..hi; pick: a random choice; keep: a dimension of the
   result. A vector as subscript is a list: list[lo - 1] to list[hi - 1], with lo = 1. */
struct extent {
    int lo, hi, pick, keep;
    const int *list;
};
/* Iterator over the elements that a reference reads. elem is the current one; box_next advances,
   choices in the outer loop and other dimensions in the inner loop, row-major; 0 at the end. */
struct box {
    int ndim, n, elem;
    struct extent x[MAX_DIM];
    int at[MAX_DIM], step[MAX_DIM], order[MAX_DIM];
};
/* A random subscript is NOT_CONST, or a choice, or is ignored (as is its range). */
enum box_for { BOX_CONST, BOX_CHOICES, BOX_SHAPE };
int box_of(struct model *m, const struct term *t, const int *counter, enum box_for mode,
           struct box *b);
void box_start(struct box *b, const struct array *a); /* with x[] given */
int box_next(struct box *b);
void box_shape(const struct box *b, int *shape);
int is_whole(double x, int *out);
int may_be_vector(const struct model *m, const struct term *t); /* 0: certainly a scalar */
int eval_ends(struct model *m, const struct term *sub, const int *counter, double *x, double *y);
int empty_range(struct model *m, const struct term *t, int dim, double x, double y);
int bad_subscript(struct model *m, const struct term *t, int dim, const int *counter, double x);

/* shape.c: {ndim, d0, d1, ...} */
typedef int dims[SHAPE];
int term_shape(struct model *m, const struct term *t, const int *counter, int *out);
int shapes_merge(struct model *m, const struct term *t, int *shape, const int *s);
int shape_op(struct model *m, const struct term *t, const int (*shape)[SHAPE], int *out, int *dim,
             const char **why);

/* declare.c */
/* The value of a constant in the settings (name=value), or NULL. */
const char *setting(const struct model_options *opt, const char *name);
/* Is the value of this constant given by the text of the model or by a setting? */
int const_in_text(const struct array *a, const struct model_options *opt);
int add_elements(struct model *m, int array, struct place at);
/* Advice on how to nest the lists of an array if its data have a different number of dimensions; or
   NULL. */
const char *nesting_advice(struct model *m, const struct array *a, int ndim);
int model_declare(struct model *m, const struct model_options *opt);
int eval_sizes(struct model *m, struct expr *const *x, int n, int *dim);
/* network.c */
int name_networks(struct model *m);
int declare_network(struct model *m, const struct decl *d);
/* layer.c; results as for eval_scalar. Reads a layer as written, except for its output shape; conv:
   convolutions are allowed */
int read_layer(struct model *m, const struct expr *x, int conv, struct layer *l);
int check_width(struct model *m, const struct expr *x, double n);
/* embed.c: to be called once there is a graph; checks that embedded arrays are observed, by the
   final roles */
int declare_embeds(struct model *m);
int embeds_observed(struct model *m, const struct model_options *opt);

/* expand.c: the number of elements of a draw from a distribution; shape: shapes of its arguments */
int dist_size(struct model *m, const struct stmt *s, const int *counter, int (*shape)[SHAPE],
              int *out);

/* vectorize.c: y[1:n] ~ normal(mu, sigma) is n relations.  If instances of s define several
   independent elements, adds loops over them.  Returns 0 or NAMI_ENOMEM. */
int vectorize(struct model *m, struct stmt *s);

/* range.c: interval arithmetic: bounds of the values of terms */
struct range {
    double lo, hi;
    int integer;
};
struct range term_range(struct model *m, const struct term *t, const int *counter);
struct range elem_range(struct model *m, int e);
int settle_ranges(struct model *m);  /* of all elements: 0 or NAMI_ENOMEM */
int model_supports(struct model *m); /* support.c */
int model_observed(struct model *m); /* graph.c */
int model_censor(struct model *m);   /* censor.c */
int syntax_bounds(struct syntax *s); /* bounds.c: 0 or NAMI_ENOMEM; before names are counted */
int model_tricks(struct model *m);   /* trick.c */
/* lint.c */
void model_lint(struct model *m);
const char *source_text(struct model *m, struct place at); /* as written; NULL: out of memory */

#endif
