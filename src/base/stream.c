/* stream.c: the named random numbers of stream.h.
   Four consecutive draws are one block of Philox 4x32-10 (Salmon et al. 2011):

       counter  draw/4 (62 bits), part (15 bits), node (32 bits), a mark;   key: the seed

   and draw i takes word i mod 4.  Many blocks are computed at once, in plain loops that the
   compiler vectorizes.  All operations are exactly rounded, and fused only where fma() says so: the
   numbers are the same bits on any machine, for any n. */
#include "base/stream.h"

#include <math.h>
#include <string.h>

#include "base/simd.h"

#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) &&       \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#include <immintrin.h>
#define AVX2 1
#else
#define AVX2 0
#endif

enum { MANY = 64, ROUNDS = 10 }; /* MANY blocks at a time */

static const uint32_t M0 = 0xD2511F53u, M1 = 0xCD9E8D57u, W0 = 0x9E3779B9u, W1 = 0xBB67AE85u;

/* Domains, apart from each other and from rng_init() with small stream numbers. */
static const uint32_t BULK = 0x5eed0000u, OWN = 0x80000000u;

struct words {
    uint64_t v[4][MANY]; /* (word, block); 32 bits each, as the products want them */
};

/* The second and fourth word of a block's counter, but for what depends on its number. */
struct place_of {
    uint32_t part, node;
};

static void philox(uint64_t seed, struct place_of at, uint64_t block, struct words *w, int i)
{
    uint32_t a = (uint32_t)block, b = (uint32_t)(block >> 32 & 0xffff) | at.part << 16;
    uint32_t c = at.node, d = BULK | (uint32_t)(block >> 48);
    uint32_t k = (uint32_t)seed, l = (uint32_t)(seed >> 32);
    for (int r = 0; r < ROUNDS; r++, k += W0, l += W1) {
        uint64_t p = (uint64_t)a * M0, q = (uint64_t)c * M1;
        a = (uint32_t)(q >> 32) ^ b ^ k;
        c = (uint32_t)(p >> 32) ^ d ^ l;
        b = (uint32_t)q;
        d = (uint32_t)p;
    }
    w->v[0][i] = a, w->v[1][i] = b, w->v[2][i] = c, w->v[3][i] = d;
}

#if AVX2
/* Eight blocks at once, each word in 64 bits whose upper half means nothing. */
__attribute__((target("avx2"))) static void philox8(uint64_t seed, struct place_of at,
                                                    uint64_t block, struct words *w, int i)
{
    __m256i x[4][2], m0 = _mm256_set1_epi64x(M0), m1 = _mm256_set1_epi64x(M1);
    uint32_t k = (uint32_t)seed, l = (uint32_t)(seed >> 32);
    for (int h = 0; h < 2; h++) {
        __m256i n = _mm256_add_epi64(_mm256_set1_epi64x((long long)block + 4 * h),
                                     _mm256_set_epi64x(3, 2, 1, 0));
        __m256i high = _mm256_and_si256(_mm256_srli_epi64(n, 32), _mm256_set1_epi64x(0xffff));
        x[0][h] = n;
        x[1][h] = _mm256_or_si256(high, _mm256_set1_epi64x((long long)at.part << 16));
        x[2][h] = _mm256_set1_epi64x(at.node);
        x[3][h] = _mm256_or_si256(_mm256_srli_epi64(n, 48), _mm256_set1_epi64x(BULK));
    }
#pragma GCC unroll 10
    for (int r = 0; r < ROUNDS; r++, k += W0, l += W1)
#pragma GCC unroll 2
        for (int h = 0; h < 2; h++) {
            __m256i p = _mm256_mul_epu32(x[0][h], m0), q = _mm256_mul_epu32(x[2][h], m1);
            __m256i b = _mm256_xor_si256(x[1][h], _mm256_set1_epi64x(k));
            __m256i d = _mm256_xor_si256(x[3][h], _mm256_set1_epi64x(l));
            x[0][h] = _mm256_xor_si256(_mm256_srli_epi64(q, 32), b);
            x[2][h] = _mm256_xor_si256(_mm256_srli_epi64(p, 32), d);
            x[1][h] = q;
            x[3][h] = p;
        }
    for (int j = 0; j < 4; j++)
        for (int h = 0; h < 2; h++)
            _mm256_storeu_si256((void *)&w->v[j][i + 4 * h],
                                _mm256_and_si256(x[j][h], _mm256_set1_epi64x(0xffffffff)));
}

/* Sixteen, in two registers each: while one multiplies, the other adds. */
__attribute__((target("avx512f"))) static void philox16(uint64_t seed, struct place_of at,
                                                        uint64_t block, struct words *w, int i)
{
    __m512i x[4][2], m0 = _mm512_set1_epi64(M0), m1 = _mm512_set1_epi64(M1);
    uint32_t k = (uint32_t)seed, l = (uint32_t)(seed >> 32);
    for (int h = 0; h < 2; h++) {
        __m512i n = _mm512_add_epi64(_mm512_set1_epi64((long long)block + 8 * h),
                                     _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0));
        __m512i high = _mm512_and_si512(_mm512_srli_epi64(n, 32), _mm512_set1_epi64(0xffff));
        x[0][h] = n;
        x[1][h] = _mm512_or_si512(high, _mm512_set1_epi64((long long)at.part << 16));
        x[2][h] = _mm512_set1_epi64(at.node);
        x[3][h] = _mm512_or_si512(_mm512_srli_epi64(n, 48), _mm512_set1_epi64(BULK));
    }
#pragma GCC unroll 10
    for (int r = 0; r < ROUNDS; r++, k += W0, l += W1) {
        __m512i key0 = _mm512_set1_epi64(k), key1 = _mm512_set1_epi64(l);
#pragma GCC unroll 2
        for (int h = 0; h < 2; h++) {
            __m512i p = _mm512_mul_epu32(x[0][h], m0), q = _mm512_mul_epu32(x[2][h], m1);
            x[0][h] = _mm512_ternarylogic_epi64(_mm512_srli_epi64(q, 32), x[1][h], key0, 0x96);
            x[2][h] = _mm512_ternarylogic_epi64(_mm512_srli_epi64(p, 32), x[3][h], key1, 0x96);
            x[1][h] = q;
            x[3][h] = p;
        }
    }
    for (int j = 0; j < 4; j++)
        for (int h = 0; h < 2; h++)
            _mm512_storeu_si512(&w->v[j][i + 8 * h],
                                _mm512_and_si512(x[j][h], _mm512_set1_epi64(0xffffffff)));
}
#endif

/* n blocks from number `first`; the rest of w may change. */
static void blocks(const struct stream *s, int part, uint64_t first, int n, struct words *w)
{
    struct place_of at = {(uint32_t)part, s->node};
    int i = 0;
#if AVX2
    if (n > 1 && __builtin_cpu_supports("avx512f"))
        for (; i < n; i += 16) philox16(s->seed, at, first + (uint64_t)i, w, i);
    else if (n > 1 && __builtin_cpu_supports("avx2"))
        for (; i < n; i += 8) philox8(s->seed, at, first + (uint64_t)i, w, i);
#endif
    for (; i < n; i++) philox(s->seed, at, first + (uint64_t)i, w, i);
}

/* w + 1/2 by way of 2^52 + w, exact */
INLINE double half_past(uint64_t w, double origin)
{
    double x;
    w |= 0x4330000000000000u;
    memcpy(&x, &w, sizeof x);
    return (x - (0x1p52 + origin)) + 0.5;
}

INLINE double unit(uint64_t w) { return half_past(w, 0) * 0x1p-32; }

WIDE static void uniforms(const struct words *w, int n, double *out)
{
    EACH(i, n)
    {
        double *to = out + (size_t)i * 4;
        to[0] = unit(w->v[0][i]);
        to[1] = unit(w->v[1][i]);
        to[2] = unit(w->v[2][i]);
        to[3] = unit(w->v[3][i]);
    }
}

/* log u, u > 0, within 4e-11 (u itself is known to 1e-10): u = 2^k m with m in [sqrt(1/2),
   sqrt(2)), f = m - 1, log(1 + f) = f - f^2/2 + f^3 P(f), P by least maximum error.  No division.
 */
INLINE double log_of(double u)
{
    uint64_t bits, e, m;
    double k, f;
    memcpy(&bits, &u, sizeof bits);
    bits += 0x00095f6200000000u; /* 1 - sqrt(1/2) up */
    e = bits >> 52 | 0x4330000000000000u;
    m = (bits & 0x000fffffffffffffu) + 0x3fe6a09e00000000u;
    memcpy(&k, &e, sizeof k);
    memcpy(&f, &m, sizeof f);
    k -= 0x1p52 + 1023;
    f -= 1;
    double q = 0.058498783112785786;
    q = fma(f, q, -0.099106315179698673);
    q = fma(f, q, 0.097636435000886743);
    q = fma(f, q, -0.09894187477087972);
    q = fma(f, q, 0.11049238748170927);
    q = fma(f, q, -0.1250252099172067);
    q = fma(f, q, 0.14287933306710118);
    q = fma(f, q, -0.1666665165666962);
    q = fma(f, q, 0.19999972272700092);
    q = fma(f, q, -0.2499999999264895);
    q = fma(f, q, 0.33333333388897335);
    return fma(k, M_LN2, fma(f * f, fma(f, q, -0.5), f));
}

/* sin and cos of 2 t for |t| <= pi/2, within 1e-11: sin t = t + t^3 S(t^2), cos t = 1 + t^2 C(t^2),
   then the angle doubled: no case to tell. */
INLINE void sincos_of_2(double t, double *sine, double *cosine)
{
    double z = t * t, s = 1.5502717425758261e-10, c = 2.0044181314737841e-09;
    s = fma(z, s, -2.5036757876975568e-08);
    s = fma(z, s, 2.755712345297234e-06);
    s = fma(z, s, -0.00019841268711522108);
    s = fma(z, s, 0.0083333333309478629);
    s = fma(z, s, -0.16666666666658506);
    s = fma(t * z, s, t);
    c = fma(z, c, -2.7534364367004516e-07);
    c = fma(z, c, 2.4801294668557426e-05);
    c = fma(z, c, -0.0013888887200602862);
    c = fma(z, c, 0.041666666631026729);
    c = fma(z, c, -0.49999999999878308);
    c = fma(z, c, 1);
    *sine = 2 * s * c;
    *cosine = fma(-2 * s, s, 1);
}

/* Box and Muller: r = sqrt(-2 log u), angle 2 pi v; u and v from two words. At most 6.77. */
INLINE void box_muller(uint64_t u, uint64_t v, double *x, double *y)
{
    double r = sqrt(-2 * log_of(unit(u))), s, c;
    double turn = half_past(v ^ 0x80000000u, 0x1p31); /* the word as a signed number */
    sincos_of_2(turn * (M_PI * 0x1p-32), &s, &c);
    *x = r * c;
    *y = r * s;
}

WIDE static void normals(const struct words *w, int n, double *out)
{
    EACH(i, n)
    {
        double *to = out + (size_t)i * 4, a, b, c, d;
        box_muller(w->v[0][i], w->v[1][i], &a, &b);
        box_muller(w->v[2][i], w->v[3][i], &c, &d);
        to[0] = a;
        to[1] = b;
        to[2] = c;
        to[3] = d;
    }
}

typedef void finish_fn(const struct words *w, int n, double *out);

/* Block by block; partial blocks use a buffer. */
static void make(const struct stream *s, int part, finish_fn *finish, int n, double *out)
{
    struct words w;
    double four[4] = {0};
    uint64_t block = s->first / 4;
    int skip = (int)(s->first % 4);
    while (n > 0) {
        int whole = skip ? 0 : n / 4, m = whole < 1 ? 1 : whole > MANY ? MANY : whole;
        blocks(s, part, block, m, &w);
        finish(&w, m, whole ? out : four);
        int got = whole ? 4 * m : n < 4 - skip ? n : 4 - skip;
        if (!whole) memcpy(out, four + skip, (size_t)got * sizeof *out);
        skip = 0;
        block += (uint64_t)m;
        out += got;
        n -= got;
    }
}

void stream_uniform_part(const struct stream *s, int part, int n, double *out)
{
    make(s, part, uniforms, n, out);
}

void stream_normal_part(const struct stream *s, int part, int n, double *out)
{
    make(s, part, normals, n, out);
}

void stream_uniform(const struct stream *s, int n, double *out) { make(s, 0, uniforms, n, out); }

void stream_normal(const struct stream *s, int n, double *out) { make(s, 0, normals, n, out); }

/* ---- a generator for each draw ------------------------------------------------------ */

void stream_rng(const struct stream *s, int i, struct rng *r)
{
    uint64_t draw = s->first + (uint64_t)i;
    rng_init(r, s->seed, (uint64_t)(OWN | (uint32_t)(draw >> 32)) << 32 | s->node);
    r->ctr[1] = (uint32_t)draw;
}

double rng_open(struct rng *r)
{
    /* 52 bits: with 53, the largest would round to 1 */
    return ((double)(rng_u32(r) >> 6) * 0x1p26 + (double)(rng_u32(r) >> 6) + 0.5) * 0x1p-52;
}

double rng_normal(struct rng *r)
{
    double u = rng_open(r), v = rng_open(r), s, c;
    sincos_of_2((v - 0.5) * M_PI, &s, &c);
    return sqrt(-2 * log_of(u)) * c;
}
