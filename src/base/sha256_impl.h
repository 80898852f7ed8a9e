/* sha256_impl.h: what the two ways to compute SHA-256 share. */
#ifndef BASE_SHA256_IMPL_H
#define BASE_SHA256_IMPL_H

#include <stddef.h>
#include <stdint.h>

extern const uint32_t sha256_k[64]; /* the constants K of FIPS 180-4, section 4.2.2 */

/* Blocks of 64 bytes into the state H; the second one uses the processor's own instructions, if
   sha256_has_x86() says that it has them. */
void sha256_blocks(uint32_t *H, const unsigned char *M, size_t nblock);
int sha256_has_x86(void);
void sha256_blocks_x86(uint32_t *H, const unsigned char *M, size_t nblock);

#endif
