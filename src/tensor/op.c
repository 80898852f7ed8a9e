/* op.c: the table of functions of the model language and their aliases; ranges and shapes shared by
   several functions. */
#include "tensor/op.h"

#include <string.h>

const struct op *const ops[] = {
#define OP(id) &op_##id,
#include "tensor/op.def"
#undef OP
    NULL};

/* Aliases: names in Stan, R, older versions of JAGS. */
const struct op_alias op_aliases[] = {{"pow", "^"},
                                      {"inv_logit", "ilogit"},
                                      {"Phi", "phi"},
                                      {"inv_Phi", "probit"},
                                      {"lgamma", "loggam"},
                                      {"inv_cloglog", "icloglog"},
                                      {"fabs", "abs"},
                                      {"acos", "arccos"},
                                      {"acosh", "arccosh"},
                                      {"asin", "arcsin"},
                                      {"asinh", "arcsinh"},
                                      {"atan", "arctan"},
                                      {"atanh", "arctanh"},
                                      {"log_determinant", "logdet"},
                                      {"dot_product", "inprod"},
                                      {"interp_lin", "interp.lin"},
                                      {NULL, NULL}};

static int same(const char *a, const char *name, size_t len)
{
    return strlen(a) == len && memcmp(a, name, len) == 0;
}

const struct op *op_find(const char *name, size_t len)
{
    for (int i = 0; ops[i]; i++)
        if (same(ops[i]->name, name, len)) return ops[i];
    for (int i = 0; op_aliases[i].alias; i++)
        if (same(op_aliases[i].alias, name, len))
            return op_find(op_aliases[i].name, strlen(op_aliases[i].name));
    return NULL;
}

/* ---- ranges and shapes that several functions share --------------------------------- */

void range_bool(int narg, const double *lo, const double *hi, double *out)
{
    (void)narg, (void)lo, (void)hi;
    range_set(out, 0, 1);
}

void range_positive(int narg, const double *lo, const double *hi, double *out)
{
    (void)narg, (void)lo, (void)hi;
    range_set(out, ABOVE_0, INFINITY);
}

void range_unit(int narg, const double *lo, const double *hi, double *out)
{
    (void)narg, (void)lo, (void)hi;
    range_set(out, ABOVE_0, BELOW_1);
}

void range_all(int narg, const double *lo, const double *hi, double *out)
{
    (void)narg, (void)lo, (void)hi;
    range_set(out, -INFINITY, INFINITY);
}

/* One of the arguments. */
void range_hull(int narg, const double *lo, const double *hi, double *out)
{
    range_set(out, lo[0], hi[0]);
    for (int k = 1; k < narg; k++) range_set(out, less(out[0], lo[k]), more(out[1], hi[k]));
}

/* 0 times anything is 0 here: bounds are limits. */
static double times(double x, double y) { return x == 0 || y == 0 ? 0 : x * y; }

void range_times(int narg, const double *lo, const double *hi, double *out)
{
    (void)narg;
    double p[] = {times(lo[0], lo[1]), times(lo[0], hi[1]), times(hi[0], lo[1]),
                  times(hi[0], hi[1])};
    range_set(out, less(less(p[0], p[1]), less(p[2], p[3])),
              more(more(p[0], p[1]), more(p[2], p[3])));
    if (out[0] == 0 && lo[0] > 0 && lo[1] > 0) out[0] = ABOVE_0;
}

int shape_fail(const char **why, const char *sentence)
{
    *why = sentence;
    return -1;
}

/* Reduces all elements of all arguments to one number. dim = {number of elements} */
int shape_reduce(int narg, const int (*shape)[SHAPE], int *out, int *dim, const char **why)
{
    dim[0] = 0;
    for (int k = 0; k < narg; k++) dim[0] += shape_size(shape[k]);
    out[0] = 0;
    return dim[0] ? 0 : shape_fail(why, "it has no elements");
}

/* The shape of the argument. dim = {number of elements} */
int shape_same(int narg, const int (*shape)[SHAPE], int *out, int *dim, const char **why)
{
    (void)narg, (void)why;
    for (int k = 0; k < 4; k++) out[k] = shape[0][k];
    dim[0] = shape_size(shape[0]);
    return 0;
}
