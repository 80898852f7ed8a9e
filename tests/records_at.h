/* records_at.h: observations from texts, and IDX files as texts, for tests. */
#ifndef TESTS_RECORDS_AT_H
#define TESTS_RECORDS_AT_H

#include "base/str.h"
#include "data/records.h"
#include "run.h"

static nami_err err;

static inline void parse(struct records *r, const struct str *s, const char *name)
{
    if (records_parse(r, NULL, s->s, s->n, name, &err)) fail_msg("%s", err.msg);
}

/* A number of a type that IDX and NumPy both have, as bytes. */
static inline void put_number(struct str *s, char kind, int size, int big, double x)
{
    uint64_t bits = (uint64_t)(int64_t)x;
    float f = (float)x;
    char b[8];
    if (kind == 'f') {
        uint32_t low;
        memcpy(&low, &f, 4);
        memcpy(&bits, &x, 8);
        if (size == 4) bits = low;
    }
    for (int i = 0; i < size; i++) b[big ? size - 1 - i : i] = (char)(bits >> 8 * i);
    str_putn(s, b, (size_t)size);
}

static inline void put_idx(struct str *s, int type, int ndim, const unsigned *dim)
{
    str_putn(s, (char[]){0, 0, (char)type, (char)ndim}, 4);
    for (int k = 0; k < ndim; k++) put_number(s, 'u', 4, 1, dim[k]);
}

#endif
