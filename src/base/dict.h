/* dict.h: names to numbers 0, 1, 2, ... in order of first use. */
#ifndef BASE_DICT_H
#define BASE_DICT_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/vec.h"

struct dict {
    struct arena text;
    vec(const char *) name; /* number -> name */
    vec(uint32_t) len;
    int32_t *slot; /* open addressing; -1 is empty */
    size_t nslot;
};

/* The number of s, or -1. */
int dict_find(const struct dict *d, const char *s, size_t n);
/* The number of s, which is added if it is new (*fresh tells; may be NULL).
   -1 when memory runs out. */
int dict_add(struct dict *d, const char *s, size_t n, int *fresh);
void dict_free(struct dict *d);

#endif
