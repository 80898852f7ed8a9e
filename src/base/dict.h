/* dict.h: hash table from names to consecutive numbers 0, 1, 2, ... in order of insertion. */
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
/* The number of s, which is inserted if it is new (*fresh is then 1; may be NULL). -1: out of
   memory. */
int dict_add(struct dict *d, const char *s, size_t n, int *fresh);
void dict_free(struct dict *d);

#endif
