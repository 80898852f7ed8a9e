/* op_link.c: link functions and their inverses: logit, cloglog, probit. */
#include "base/normal.h"
#include "tensor/op.h"

#define DENSITY(x) (0.398942280401432677939946059934 * exp(-0.5 * (x) * (x))) /* of N(0, 1) */

/* e / (1 + e)^2 with e = exp(-|x|): ilogit(x) (1 - ilogit(x)) where that would round to 0 */
INLINE double logistic_density(double x)
{
    double e = exp(-fabs(x));
    return e / ((1 + e) * (1 + e));
}

UNARY(logit, log(x) - log1p(-x), 1 / (x * (1 - x)))
UNARY(ilogit, 1 / (1 + exp(-x)), logistic_density(x))
UNARY(cloglog, log(-log1p(-x)), -1 / ((1 - x) * log1p(-x)))
UNARY(icloglog, -expm1(-exp(x)), exp(x - exp(x)))
UNARY(phi, 0.5 * erfc(-x * M_SQRT1_2), DENSITY(x))
UNARY(probit, normal_quantile(x), 1 / DENSITY(z))

/* Increasing in x: the ends, kept inside (0, 1). */
#define SQUASHED(id, f)                                                                            \
    static void id##_range(int narg, const double *lo, const double *hi, double *out)              \
    {                                                                                              \
        (void)narg;                                                                                \
        double x = lo[0], least = f;                                                               \
        x = hi[0];                                                                                 \
        double greatest = f;                                                                       \
        range_set(out, more(least, ABOVE_0), less(greatest, BELOW_1));                             \
    }
SQUASHED(ilogit, 1 / (1 + exp(-x)))
SQUASHED(icloglog, -expm1(-exp(x)))
SQUASHED(phi, 0.5 * erfc(-x * M_SQRT1_2))

#define STRETCHED(id, f)                                                                           \
    static void id##_range(int narg, const double *lo, const double *hi, double *out)              \
    {                                                                                              \
        (void)narg;                                                                                \
        double x = more(lo[0], 0), least = f;                                                      \
        x = less(hi[0], 1);                                                                        \
        double greatest = f;                                                                       \
        range_set(out, least, greatest);                                                           \
    }
STRETCHED(logit, log(x) - log1p(-x))
STRETCHED(cloglog, log(-log1p(-x)))
STRETCHED(probit, normal_quantile(x))

#define ANYWHERE                                                                                   \
    {                                                                                              \
        {0.37}, {-1.4}, {2.83}, { -0.071 }                                                         \
    }
#define UNIT                                                                                       \
    {                                                                                              \
        {0.37}, {0.64}, {0.883}, { 0.071 }                                                         \
    }
#define LINK(id, say, ...)                                                                         \
    const struct op op_##id = {UNARY_OP(id, #id, say), .map_grad = id##_grad, .range = id##_range, \
                               __VA_ARGS__}

LINK(logit, "log(x / (1 - x))", .try_at = UNIT);
LINK(ilogit, "inverse of logit: 1 / (1 + exp(-x))", .try_at = ANYWHERE);
LINK(cloglog, "log(-log(1 - x))", .try_at = UNIT);
LINK(icloglog, "inverse of cloglog: 1 - exp(-exp(x))", .try_at = ANYWHERE);
LINK(phi, "distribution function of the standard normal", .try_at = ANYWHERE);
LINK(probit, "inverse of phi", .try_at = UNIT);
