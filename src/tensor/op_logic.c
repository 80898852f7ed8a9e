/* op_logic.c: comparisons, logical operators, step, ifelse and rounding. */
#include "tensor/op.h"

/* Results are 1 or 0; any nonzero value is true. Only ifelse has a derivative. */
UNARY_MAP(step, x >= 0 ? 1.0 : 0.0)
UNARY_MAP(not, x == 0 ? 1.0 : 0.0)
BINARY_MAP(eq, x == y ? 1.0 : 0.0)
BINARY_MAP(ne, x != y ? 1.0 : 0.0)
BINARY_MAP(lt, x < y ? 1.0 : 0.0)
BINARY_MAP(le, x <= y ? 1.0 : 0.0)
BINARY_MAP(gt, x > y ? 1.0 : 0.0)
BINARY_MAP(ge, x >= y ? 1.0 : 0.0)
BINARY_MAP(and, ((x != 0) & (y != 0)) ? 1.0 : 0.0)
BINARY_MAP(or, ((x != 0) | (y != 0)) ? 1.0 : 0.0)
UNARY_MAP(trunc, trunc(x))
UNARY_MAP(round, rint(x)) /* halves to even, as R and JAGS do */
UNARY_MAP(floor, floor(x))
UNARY_MAP(ceil, ceil(x))

WIDE static void ifelse_map(const void *self, int n, double *out, const double *const *a)
{
    (void)self;
    const double *c = a[0], *x = a[1], *y = a[2];
    EACH(i, n)
    {
        double xi = x[i], yi = y[i];
        out[i] = c[i] != 0 ? xi : yi;
    }
}

WIDE static void ifelse_grad(const void *self, int n, const double *out, const double *dout,
                             const double *const *a, double *const *da)
{
    (void)self, (void)out;
    const double *c = a[0];
    double *dc = da[0], *dx = da[1], *dy = da[2];
    if (dc) EACH(i, n) dc[i] = 0;
    if (dx) EACH(i, n) dx[i] = c[i] != 0 ? dout[i] : 0;
    if (dy) EACH(i, n) dy[i] = c[i] != 0 ? 0 : dout[i];
}

static void ifelse_range(int narg, const double *lo, const double *hi, double *out)
{
    range_hull(narg - 1, lo + 1, hi + 1, out);
}

#define ROUNDED(id)                                                                                \
    static void id##_range(int narg, const double *lo, const double *hi, double *out)              \
    {                                                                                              \
        (void)narg;                                                                                \
        range_set(out, id(lo[0]), id(hi[0]));                                                      \
    }
ROUNDED(trunc)
ROUNDED(rint)
ROUNDED(floor)
ROUNDED(ceil)

#define TRUTH(id, sign, say)                                                                       \
    const struct op op_##id = {BINARY_OP(id, sign, say), .range = range_bool, .integer = 1,        \
                               .try_at = {{1, 2}, {2, 2}, {3, 2}, {0, 2}}}
#define ROUNDING(id, say, bounds, ...)                                                             \
    const struct op op_##id = {UNARY_OP(id, #id, say), .range = bounds, .integer = 1,              \
                               .try_at = {{1.37}, {-1.4}, {2.83}, {-2.5}}, __VA_ARGS__}

static void range_step(int narg, const double *lo, const double *hi, double *out)
{
    (void)narg;
    out[0] = lo[0] >= 0;
    out[1] = hi[0] >= 0;
}

const struct op op_step = {UNARY_OP(step, "step", "1 if x >= 0, else 0"), .range = range_step,
                           .integer = 1, .try_at = {{0.3}, {-0.3}}};
const struct op op_not = {UNARY_OP(not, "!", "not: 1 if x is 0, else 0"), .range = range_bool,
                          .integer = 1, .try_at = {{1}, {-2}}};
const struct op op_equals = {BINARY_OP(eq, "equals", "1 if x = y, else 0"), .range = range_bool,
                             .integer = 1, .try_at = {{1, 2}, {2, 2}}};
TRUTH(eq, "==", "1 if x = y, else 0");
TRUTH(ne, "!=", "1 if x and y differ, else 0");
TRUTH(lt, "<", "1 if x < y, else 0");
TRUTH(le, "<=", "1 if x <= y, else 0");
TRUTH(gt, ">", "1 if x > y, else 0");
TRUTH(ge, ">=", "1 if x >= y, else 0");
TRUTH(and, "&&", "1 if neither is 0, else 0");
TRUTH(or, "||", "0 if both are 0, else 1");
const struct op op_ifelse = {.name = "ifelse",
                             .args = "test, x, y",
                             .what = "x where test is not 0, else y",
                             .min_arg = 3,
                             .max_arg = 3,
                             .map = ifelse_map,
                             .map_grad = ifelse_grad,
                             .range = ifelse_range,
                             .integer = 2,
                             .try_at = {{1, 1.37, -0.4}, {0, 2.1, 3.3}}};
ROUNDING(trunc, "rounded towards 0", trunc_range, .jags = NULL);
ROUNDING(round, "rounded to the nearest integer, halves to even", rint_range, .jags = NULL);
ROUNDING(floor, "rounded down", floor_range, .jags = "trunc(x) - (x < trunc(x))");
ROUNDING(ceil, "rounded up", ceil_range, .jags = "trunc(x) + (x > trunc(x))");
