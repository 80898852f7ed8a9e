/* sha256.h: the SHA-256 digest (FIPS 180-4). */
#ifndef BASE_SHA256_H
#define BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { SHA256_HEX = 64 };

struct sha256 {
    uint32_t state[8];
    unsigned char block[64];
    uint64_t size; /* bytes so far */
    void (*blocks)(uint32_t *state, const unsigned char *block, size_t nblock);
};

void sha256_init(struct sha256 *s);
void sha256_put(struct sha256 *s, const void *bytes, size_t n);
void sha256_end(struct sha256 *s, char hex[SHA256_HEX + 1]);

#endif
