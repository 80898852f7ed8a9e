/* safetensors.h: named tensors and texts in one file, in the safetensors format: eight bytes for
   the length, a JSON header, the numbers. */
#ifndef DATA_SAFETENSORS_H
#define DATA_SAFETENSORS_H

#include "base/arena.h"
#include "base/dict.h"
#include "base/str.h"
#include "base/vec.h"
#include "nami.h"

enum st_type { ST_F32, ST_F64, ST_I64, ST_U8, NST };
enum { ST_DIM = 4 };

struct st_tensor {
    const char *name;
    enum st_type type;
    int ndim;
    size_t dim[ST_DIM], n; /* n: elements; filled in by st_parse and st_add */
    const void *x;         /* little-endian, as in memory */
};

/* A named string in __metadata__ of the header. */
struct st_text {
    const char *name, *value;
};

/* Initialize with {0}. */
struct st {
    struct arena mem;
    struct dict tensors, texts; /* names of the following, in the same order */
    vec(struct st_tensor) tensor;
    vec(struct st_text) text;
};

void st_free(struct st *s);
/* Names and texts are copied; numbers are not and must outlive the struct.  The name of a tensor
   must be new; setting an existing text replaces its value.  Both are UTF-8. */
int st_add(struct st *s, const char *name, enum st_type type, int ndim, const size_t *dim,
           const void *x, nami_err *err);
int st_set(struct st *s, const char *name, const char *value, nami_err *err);

const struct st_tensor *st_find(const struct st *s, const char *name); /* or NULL */
const char *st_get(const struct st *s, const char *name);              /* or NULL */

/* Serializes to out: the header is padded with spaces so that numbers start at a multiple of 64;
   wide types come first, so that all are aligned. */
int st_print(const struct st *s, struct str *out, nami_err *err);
/* Parses bytes, which must outlive the struct; s is empty before, and after an error.  Everything
   is validated: lengths, offsets, overlaps, shapes, types.  Tensors of other types are rejected by
   name.  Numbers that are not aligned for their type are copied. */
int st_parse(struct st *s, const char *text, size_t len, nami_err *err);

#endif
