/* sha256.c: the SHA-256 digest, in the letters of FIPS 180-4, section 6.2. */
#include "base/sha256.h"

#include <stdio.h>
#include <string.h>

#include "base/sha256_impl.h"

const uint32_t sha256_k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotr(uint32_t x, int n) { return x >> n | x << (32 - n); }

static void compress(uint32_t *H, const unsigned char *M)
{
    uint32_t W[64];
    for (int t = 0; t < 16; t++)
        W[t] = (uint32_t)M[4 * t] << 24 | (uint32_t)M[4 * t + 1] << 16 |
               (uint32_t)M[4 * t + 2] << 8 | M[4 * t + 3];
    for (int t = 16; t < 64; t++) {
        uint32_t x = W[t - 15], y = W[t - 2];
        W[t] = W[t - 16] + (rotr(x, 7) ^ rotr(x, 18) ^ x >> 3) + W[t - 7] +
               (rotr(y, 17) ^ rotr(y, 19) ^ y >> 10);
    }
    uint32_t a = H[0], b = H[1], c = H[2], d = H[3], e = H[4], f = H[5], g = H[6], h = H[7];
    for (int t = 0; t < 64; t++) {
        uint32_t T1 = h + (rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25)) + ((e & f) ^ (~e & g)) +
                      sha256_k[t] + W[t];
        uint32_t T2 = (rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        h = g, g = f, f = e, e = d + T1;
        d = c, c = b, b = a, a = T1 + T2;
    }
    H[0] += a, H[1] += b, H[2] += c, H[3] += d, H[4] += e, H[5] += f, H[6] += g, H[7] += h;
}

void sha256_blocks(uint32_t *H, const unsigned char *M, size_t nblock)
{
    for (; nblock > 0; nblock--, M += 64) compress(H, M);
}

void sha256_init(struct sha256 *s)
{
    static const uint32_t first[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memcpy(s->state, first, sizeof first);
    s->size = 0;
    s->blocks = sha256_has_x86() ? sha256_blocks_x86 : sha256_blocks;
}

void sha256_put(struct sha256 *s, const void *bytes, size_t n)
{
    const unsigned char *p = bytes;
    for (size_t take; n > 0; p += take, n -= take) {
        size_t at = s->size % 64;
        take = at || n < 64 ? (n < 64 - at ? n : 64 - at) : n / 64 * 64;
        s->size += take;
        if (take >= 64) { /* at is 0: no copy */
            s->blocks(s->state, p, take / 64);
            continue;
        }
        memcpy(s->block + at, p, take);
        if (at + take == 64) s->blocks(s->state, s->block, 1);
    }
}

void sha256_end(struct sha256 *s, char hex[SHA256_HEX + 1])
{
    static const unsigned char pad[64] = {0x80};
    uint64_t bits = s->size * 8;
    size_t at = s->size % 64;
    unsigned char length[8];
    for (int i = 0; i < 8; i++) length[i] = (unsigned char)(bits >> (56 - 8 * i));
    sha256_put(s, pad, at < 56 ? 56 - at : 120 - at);
    sha256_put(s, length, sizeof length);
    for (int i = 0; i < 8; i++) snprintf(hex + 8 * i, 9, "%08x", (unsigned)s->state[i]);
}
