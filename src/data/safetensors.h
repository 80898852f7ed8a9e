/* safetensors.h: named tensors and text in one file, as the library of that name writes it:
   eight bytes of length, a JSON header, the numbers. */
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

/* Text that goes with it: __metadata__ of the header, strings by name. */
struct st_text {
    const char *name, *value;
};

/* Begins as {0}. */
struct st {
    struct arena mem;
    struct dict tensors, texts; /* names of the following, in their order */
    vec(struct st_tensor) tensor;
    vec(struct st_text) text;
};

void st_free(struct st *s);
/* The names and values are copied, the numbers are not: they must outlive the struct.  A tensor's
   name is new; a text's may be old, and then gets the new value.  Both are UTF-8. */
int st_add(struct st *s, const char *name, enum st_type type, int ndim, const size_t *dim,
           const void *x, nami_err *err);
int st_set(struct st *s, const char *name, const char *value, nami_err *err);

const struct st_tensor *st_find(const struct st *s, const char *name); /* or NULL */
const char *st_get(const struct st *s, const char *name);              /* or NULL */

/* To bytes, appended to out: the header is padded with spaces so that numbers begin at a multiple
   of 64; wide types come first, so that all are aligned. */
int st_print(const struct st *s, struct str *out, nami_err *err);
/* From bytes, which must outlive the struct; s is empty before, and after an error.  Everything is
   checked: lengths, offsets, overlaps, shapes, types.  Tensors of types that are not above are
   refused by name.  Numbers that are not aligned for their type in the bytes are copied. */
int st_parse(struct st *s, const char *text, size_t len, nami_err *err);

#endif
