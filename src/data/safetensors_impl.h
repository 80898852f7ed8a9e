/* safetensors_impl.h: the format of https://github.com/huggingface/safetensors.

       8 bytes   N, the length of the header, little-endian
       N bytes   {"__metadata__": {"name": "text"},
                  "w": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}} and spaces
       the rest  the numbers, row-major; offsets count from here

   Each byte of the rest belongs to exactly one tensor. */
#ifndef DATA_SAFETENSORS_IMPL_H
#define DATA_SAFETENSORS_IMPL_H

#include <stdint.h>

#include "data/safetensors.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "numbers are written as they are in memory, and the format is little-endian"
#endif

enum {
    ST_ALIGN = 64,        /* alignment of the numbers */
    ST_HEADER = 100000000 /* maximum length of the header, as in the reference library */
};

#define ST_META "__metadata__"

extern const struct st_kind {
    const char *name;
    size_t size;
} st_kinds[NST];

size_t st_bytes(const struct st_tensor *t);

#endif
