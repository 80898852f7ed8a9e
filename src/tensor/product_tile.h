/* product_tile.h: compiler-specific macros and tuning constants of product.inc. */
#ifndef TENSOR_PRODUCT_TILE_H
#define TENSOR_PRODUCT_TILE_H

#include <string.h>

#include "base/simd.h"
#include "tensor/product_impl.h"

/* Loops over tiles are unrolled, except under sanitizers, where compilation would take minutes. */
#ifdef __has_feature
#define SANITIZED __has_feature(address_sanitizer)
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif
#if SANITIZED
#define UNROLL
#undef INLINE
#define INLINE static
#elif defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

enum {
    SUMMING = 29, /* product_weights.inc; both measured on Zen 4 */
    TRANSPOSING = 5,
    CACHE = 1 << 18, /* bytes of the second-level cache */
    CACHED_LANES = 256
};

/* Keeps x in a register: gcc would reload it for each use. */
#ifdef __AVX512F__
#define KEEP(x) __asm__("" : "+v"(x))
#elif defined(__x86_64__)
#define KEEP(x) __asm__("" : "+x"(x))
#else
#define KEEP(x) (void)0
#endif

#endif
