/* lang.h: what the files of model/lang share. */
#ifndef MODEL_LANG_LANG_H
#define MODEL_LANG_LANG_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "model/model.h"

extern const struct op op_neg; /* unary minus */

const struct dist_alias *alias_find(const char *name); /* its first row, or NULL */
/* "mu:real, tau:positive" to formal[DIST_ARGS]; how many, or -1 if memory runs out. */
int alias_formals(struct arena *mem, const char *args, struct dist_arg *formal);
/* Puts the written arguments in the order of the formal ones: by name if named, else by
   place.  0, or -1 if a name is unknown here or used twice. */
int match_names(const struct syntax *s, const struct expr *x, const struct dist_arg *formal, int n,
                const struct expr **out);
int model_array(struct model *m, int name, struct place at); /* the array of a name; -1: no memory */
/* An expression outside of relations: loop bounds, sizes, declarations. */
struct term *resolve_alone(struct model *m, const struct expr *x, const int *depth_of, int *oom);

/* constant.c; results as of eval_scalar */
int eval_subscript(struct model *m, const struct term *t, int dim, const int *counter, int *lo,
                   int *hi);
int eval_times(struct model *m, const struct term *t, const int *counter, int *out);
int check_ndim(struct model *m, const struct term *t);
void shape_of_cval(const struct cval *v, int *shape);

/* shape.c: {ndim, d0, d1, d2} */
typedef int dims[4];
int term_shape(struct model *m, const struct term *t, const int *counter, int *out);
int shapes_merge(struct model *m, const struct term *t, int *shape, const int *s);
int shape_op(struct model *m, const struct term *t, const int (*shape)[4], int *out, int *dim,
             const char **why);

/* declare.c */
/* Of --set name=value: the value, or NULL. */
const char *setting(const struct model_options *opt, const char *name);
/* Is the value of this constant in the text of the model, or set in its place? */
int const_in_text(const struct array *a, const struct model_options *opt);
int add_elements(struct model *m, int array, struct place at);
int model_declare(struct model *m, const struct model_options *opt);
int eval_sizes(struct model *m, struct expr *const *x, int n, int *dim);
/* network.c */
int name_networks(struct model *m);
int declare_network(struct model *m, const struct decl *d);

/* expand.c: the number of elements of a distribution's value; shape: of its arguments */
int dist_size(struct model *m, const struct stmt *s, const int *counter, int (*shape)[4], int *out);

/* footprint.c: one dimension of a reference: lo..hi; is it a choice? does it stay a
   dimension? */
struct extent {
    int lo, hi, pick, keep;
};
int extent_of(struct model *m, const struct term *t, int d, const int *counter, struct extent *x);

/* range.c: between what numbers a term lies */
struct range {
    double lo, hi;
    int integer;
};
struct range term_range(struct model *m, const struct term *t, const int *counter);
int model_supports(struct model *m); /* support.c */
int model_observed(struct model *m); /* graph.c */
void model_lint(struct model *m);    /* lint.c */

#endif
