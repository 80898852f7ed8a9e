/* sha256_impl.h: declarations shared by the two implementations of SHA-256. */
#ifndef BASE_SHA256_IMPL_H
#define BASE_SHA256_IMPL_H

#include <stddef.h>
#include <stdint.h>

extern const uint32_t sha256_k[64]; /* the constants K of FIPS 180-4, section 4.2.2 */

/* Process blocks of 64 bytes, updating the state H; the second function uses the SHA instructions
   of x86, if sha256_has_x86(). */
void sha256_blocks(uint32_t *H, const unsigned char *M, size_t nblock);
int sha256_has_x86(void);
void sha256_blocks_x86(uint32_t *H, const unsigned char *M, size_t nblock);

#endif
