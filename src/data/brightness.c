/* brightness.c: pixels as numbers between 0 and 1, or as 0 and 1. */
#include <math.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/rng.h"
#include "data/records_impl.h"

/* What brightness is divided by: 1 if all of it lies in [0, 1], 255 if not. */
static int white(const struct records *r, double *out, nami_err *err)
{
    *out = 1;
    for (size_t i = 0; i < r->n; i++)
        for (size_t j = 0; j < r->k; j++) {
            double x = records_at(r, i, j);
            if (x > 1) *out = 255;
            if (x < 0 || x > 255)
                return err_set(err, NAMI_EINPUT,
                               "number %zu of observation %zu is %g; brightness lies between 0 and "
                               "1, or between 0 and 255",
                               j + 1, i + 1, x);
        }
    return 0;
}

int records_scale(struct records *r, nami_err *err)
{
    double w;
    int rc = white(r, &w, err);
    if (rc || w == 1) return rc;
    if (r->type == RECORDS_BYTE)
        for (int b = 0; b < 256; b++) r->byte[b] /= w;
    else
        for (size_t at = 0; at < r->n * r->k; at++) {
            if (r->type == RECORDS_FLOAT)
                ((float *)r->x)[at] /= (float)w;
            else
                ((double *)r->x)[at] /= w;
        }
    return 0;
}

/* 1 where p(1) > a number that is uniform on [0, 1), or where it is at least one half. */
static int to_bits(struct records *r, const uint64_t *seed, nami_err *err)
{
    struct records to;
    double w;
    int rc = white(r, &w, err);
    if (rc) return rc;
    rc = records_make(&to, r->n, r->ndim, r->dim, "", err);
    for (size_t i = 0; i < r->n && !rc; i++) {
        struct rng g;
        if (seed) rng_init(&g, *seed ^ 0x70697865, i);
        for (size_t j = 0; j < r->k && !rc; j++) {
            double p = records_at(r, i, j) / w;
            int bit = seed ? rng_u32(&g) * 0x1p-32 < p : p >= 0.5;
            if (records_put(&to, i * r->k + j, isnan(p) ? p : bit)) rc = err_nomem(err);
        }
    }
    if (!rc) {
        struct records old = *r;
        *r = to;
        to = old;
    }
    records_free(&to);
    return rc;
}

int records_binarise(struct records *r, uint64_t seed, nami_err *err)
{
    return to_bits(r, &seed, err);
}

int records_threshold(struct records *r, nami_err *err) { return to_bits(r, NULL, err); }
