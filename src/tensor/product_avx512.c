/* product_avx512.c: layer kernels for AVX-512.
   32 registers of 64 bytes, or of 32 bytes where the lanes are no multiple of 16; with flags from
   CMakeLists.txt. */
#ifdef __AVX512F__
#include "tensor/product_tile.h"

#define REAL     double
#define IS_FLOAT 0
#define W        8
#define REGS     32
#define MA       3
#define MB       8
#define OUTER    1
#define FN(x)    x##_d
#include "tensor/product.inc"

#define REAL     float
#define IS_FLOAT 1
#define W        8
#define REGS     32
#define MA       3
#define MB       8
#define OUTER    1
#define FN(x)    x##_8
#include "tensor/product.inc"

#define REAL     float
#define IS_FLOAT 1
#define W        16
#define REGS     32
#define MA       3
#define MB       8
#define OUTER    1
#define FN(x)    x##_16
#include "tensor/product.inc"

static void forward_f(const struct dense *d, const void *param, const struct chunk *c)
{
    (c->L % 16 ? forward_8 : forward_16)(d, param, c);
}

static void back_f(const struct dense *d, const void *param, const struct chunk *c)
{
    (c->L % 16 ? back_8 : back_16)(d, param, c);
}

static void weights_f(const struct dense *d, const struct chunk *c, int nchunk, int o0, int o1,
                      void *grad)
{
    int rest = d->in % 16, odd = 0;
    for (int i = 0; i < nchunk; i++) odd |= c[i].L % 16;
    if (d->in < 256 && rest && rest <= 8 && many_8(d, c, nchunk)) odd = 1; /* else half empty */
    if (by_signs_16(d, c, nchunk)) odd = 0;
    (odd ? weights_8 : weights_16)(d, c, nchunk, o0, o1, grad);
}

const struct product product_sets_avx512[2] = {{"avx512", forward_d, back_d, weights_d},
                                               {"avx512", forward_f, back_f, weights_f}};
#endif
