/* floats.h: elementary functions in single precision, for densities of network outputs; loops over
   them are vectorized.  Accurate to a few units in the last place. */
#ifndef DIST_FLOATS_H
#define DIST_FLOATS_H

#include <stdint.h>

#include "base/simd.h"

/* exp(x) = 2^k exp(r), |r| <= ln 2 / 2, for x <= 0; below -87 it is exp(-87), about 1e-38 */
INLINE float exp_f(float x)
{
    const float per_ln2 = 0x1.715476p0f, hi = 0x1.62e4p-1f, lo = 0x1.7f7d1cp-20f;
    const float round = 0x1.8p23f; /* adding it rounds to an integer */
    union {
        float f;
        int32_t i;
    } two = {.f = 1}, at;
    x = x > -87 ? x : -87;
    at.f = x * per_ln2 + round;
    float k = at.f - round, r = x - k * hi - k * lo;
    float p = 1 + r * (1 + r * (0.5f + r * (1 / 6.f + r * (1 / 24.f + r * (1 / 120.f + r / 720)))));
    two.i += (int32_t)((uint32_t)at.i << 23);
    return two.f * p;
}

/* log(1 + e) = 2 artanh(s), from s = e / (2 + e), for 0 <= e <= 1 */
INLINE float log1p_f(float s)
{
    float t = s * s, p = 1 / 13.f;
    p = 1 / 9.f + t * (1 / 11.f + t * p);
    p = 1 + t * (1 / 3.f + t * (1 / 5.f + t * (1 / 7.f + t * p)));
    return 2 * s * p;
}

#endif
