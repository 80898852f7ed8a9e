/* sha256_x86.c: SHA-256 by the SHA instructions of x86, several times faster than in plain C. */
#include "base/sha256_impl.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>
#include <immintrin.h>

int sha256_has_x86(void)
{
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_SSSE3) || !(c & bit_SSE4_1)) return 0;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && b & 1U << 29; /* SHA */
}

/* The instructions want the words of the state as (A, B, E, F) and (C, D, G, H), the first of them
   highest, and make two rounds at a time with the two lower sums of W and K. */
#define FOUR_ROUNDS(w, k)                                                                          \
    do {                                                                                           \
        __m128i sum = _mm_add_epi32(w, _mm_loadu_si128((const __m128i *)(sha256_k + (k))));        \
        cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);                                             \
        abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0e));                    \
    } while (0)

/* W[t] of four rounds from those of the 16 before, a ... d. */
__attribute__((target("sha,ssse3,sse4.1"))) static __m128i next(__m128i a, __m128i b, __m128i c,
                                                                __m128i d)
{
    __m128i sum = _mm_add_epi32(_mm_sha256msg1_epu32(a, b), _mm_alignr_epi8(d, c, 4));
    return _mm_sha256msg2_epu32(sum, d);
}

__attribute__((target("sha,ssse3,sse4.1"))) void
sha256_blocks_x86(uint32_t *H, const unsigned char *M, size_t nblock)
{
    const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    __m128i dcba = _mm_loadu_si128((const __m128i *)H),
            hgfe = _mm_loadu_si128((const __m128i *)(H + 4));
    __m128i cdab = _mm_shuffle_epi32(dcba, 0xb1), efgh = _mm_shuffle_epi32(hgfe, 0x1b);
    __m128i abef = _mm_alignr_epi8(cdab, efgh, 8), cdgh = _mm_blend_epi16(efgh, cdab, 0xf0);
    for (; nblock > 0; nblock--, M += 64) {
        __m128i first_abef = abef, first_cdgh = cdgh, w[4];
        for (int i = 0; i < 4; i++) {
            w[i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(M + 16 * i)), swap);
            FOUR_ROUNDS(w[i], 4 * i);
        }
        for (int t = 16; t < 64; t += 16)
            for (int i = 0; i < 4; i++) {
                w[i] = next(w[i], w[(i + 1) % 4], w[(i + 2) % 4], w[(i + 3) % 4]);
                FOUR_ROUNDS(w[i], t + 4 * i);
            }
        abef = _mm_add_epi32(abef, first_abef);
        cdgh = _mm_add_epi32(cdgh, first_cdgh);
    }
    __m128i feba = _mm_shuffle_epi32(abef, 0x1b), dchg = _mm_shuffle_epi32(cdgh, 0xb1);
    _mm_storeu_si128((__m128i *)H, _mm_blend_epi16(feba, dchg, 0xf0));
    _mm_storeu_si128((__m128i *)(H + 4), _mm_alignr_epi8(dchg, feba, 8));
}
#else
int sha256_has_x86(void) { return 0; }

void sha256_blocks_x86(uint32_t *H, const unsigned char *M, size_t nblock)
{
    sha256_blocks(H, M, nblock);
}
#endif
