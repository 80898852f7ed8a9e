/* op_arith.c: arithmetic operators: + - * / ^, negation, square, integer division and
   remainder. */
#include "tensor/op.h"

BINARY(add, x + y, 1, 1)
BINARY(sub, x - y, 1, -1)
BINARY(mul, x *y, y, x)
BINARY(div, x / y, 1 / y, -z / y)
BINARY(pow, pow(x, y), y *pow(x, y - 1), x > 0 ? z * log(x) : 0)
UNARY(neg, -x, -1)
UNARY(square, x *x, 2 * x)
BINARY_MAP(idiv, floor(x / y))
BINARY(mod, x - y * floor(x / y), 1, -floor(x / y))

static void add_range(int narg, const double *lo, const double *hi, double *out)
{
    (void)narg;
    range_set(out, lo[0] + lo[1], hi[0] + hi[1]);
}

static void sub_range(int narg, const double *lo, const double *hi, double *out)
{
    (void)narg;
    range_set(out, lo[0] - hi[1], hi[0] - lo[1]);
}

static void neg_range(int narg, const double *lo, const double *hi, double *out)
{
    (void)narg;
    range_set(out, -hi[0], -lo[0]);
}

/* x / y = x * (1 / y) where y keeps its sign. */
static void div_range(int narg, const double *lo, const double *hi, double *out)
{
    if (lo[1] < 0 && hi[1] > 0) {
        range_set(out, -INFINITY, INFINITY);
        return;
    }
    double l[2] = {lo[0], hi[1] == 0 ? -INFINITY : 1 / hi[1]};
    double h[2] = {hi[0], lo[1] == 0 ? INFINITY : 1 / lo[1]};
    range_times(narg, l, h, out);
    if (out[0] == 0 && lo[0] > 0 && lo[1] >= 0) out[0] = ABOVE_0;
}

static void square_range(int narg, const double *lo, const double *hi, double *out)
{
    (void)narg;
    double a = fabs(lo[0]), b = fabs(hi[0]);
    int across = lo[0] <= 0 && hi[0] >= 0;
    range_set(out, across ? 0 : more(less(a, b) * less(a, b), ABOVE_0), more(a, b) * more(a, b));
}

/* For a base >= 0, the extremes are at the corners. For a known even power, same as for the
   square. */
static void pow_range(int narg, const double *lo, const double *hi, double *out)
{
    (void)narg;
    if (lo[0] >= 0) {
        double p[] = {pow(lo[0], lo[1]), pow(lo[0], hi[1]), pow(hi[0], lo[1]), pow(hi[0], hi[1])};
        range_set(out, less(less(p[0], p[1]), less(p[2], p[3])),
                  more(more(p[0], p[1]), more(p[2], p[3])));
        if (lo[0] > 0 && out[0] == 0) out[0] = ABOVE_0;
    } else if (lo[1] == hi[1] && fmod(lo[1], 2) == 0) {
        range_set(out, 0, INFINITY);
    } else {
        range_set(out, -INFINITY, INFINITY);
    }
}

static void mod_range(int narg, const double *lo, const double *hi, double *out)
{
    (void)narg;
    range_set(out, less(lo[1], 0), more(hi[1], 0));
}

static void idiv_range(int narg, const double *lo, const double *hi, double *out)
{
    div_range(narg, lo, hi, out);
    range_set(out, floor(out[0]), floor(out[1]));
}

#define POINTS                                                                                     \
    {                                                                                              \
        {1.37, 0.61, 0}, {-2.4, 1.83, 0}, { 0.72, -3.1, 0 }                                        \
    }

const struct op op_add = {BINARY_OP(add, "+", "sum of two"), .map_grad = add_grad,
                          .range = add_range, .integer = 2, .try_at = POINTS};
const struct op op_sub = {BINARY_OP(sub, "-", "difference"), .map_grad = sub_grad,
                          .range = sub_range, .integer = 2, .try_at = POINTS};
const struct op op_mul = {BINARY_OP(mul, "*", "product of two"), .map_grad = mul_grad,
                          .range = range_times, .integer = 2, .try_at = POINTS};
const struct op op_div = {BINARY_OP(div, "/", "quotient"), .map_grad = div_grad, .range = div_range,
                          .try_at = POINTS};
const struct op op_pow = {BINARY_OP(pow, "^", "x to the power y"), .map_grad = pow_grad,
                          .range = pow_range,
                          .try_at = {{1.37, 0.61, 0}, {0.4, -1.83, 0}, {2.72, 3.1, 0}}};
const struct op op_neg = {UNARY_OP(neg, "-", "minus x"), .map_grad = neg_grad, .range = neg_range,
                          .integer = 2, .try_at = POINTS};
const struct op op_square = {UNARY_OP(square, "square", "x * x"),
                             .map_grad = square_grad,
                             .range = square_range,
                             .integer = 2,
                             .jags = "pow(x, 2)",
                             .try_at = POINTS};
const struct op op_idiv = {BINARY_OP(idiv, "%/%", "quotient, rounded down"), .range = idiv_range,
                           .integer = 1, .jags = "trunc(x / y) - (x / y < trunc(x / y))",
                           .try_at = POINTS};
const struct op op_mod = {BINARY_OP(mod, "%%", "remainder, with the sign of y"),
                          .map_grad = mod_grad,
                          .range = mod_range,
                          .integer = 2,
                          .jags = "x - y * (trunc(x / y) - (x / y < trunc(x / y)))",
                          .try_at = POINTS};
