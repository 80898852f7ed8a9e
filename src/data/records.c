/* records.c: observations, independent of the file format. */
#include "data/records.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "data/data_impl.h"
#include "data/gunzip.h"
#include "data/records_impl.h"

/* ---- numbers, as small as they can be ------------------------------------------------ */

static const size_t size_of[] = {1, sizeof(float), sizeof(double)};

static int fits(enum records_type type, double x)
{
    if (type == RECORDS_BYTE) return x >= 0 && x <= 255 && x == (unsigned char)x && !signbit(x);
    return type == RECORDS_DOUBLE || isnan(x) || (double)(float)x == x;
}

static void meanings(struct records *r)
{
    for (int b = 0; b < 256; b++) r->byte[b] = b;
}

int records_make(struct records *r, size_t n, int ndim, const int *dim, const char *name,
                 nami_err *err)
{
    *r = (struct records){.ndim = ndim, .n = n, .k = 1};
    for (int k = 0; k < ndim; k++) {
        r->dim[k] = dim[k];
        if (dim[k] && r->k > SIZE_MAX / 16 / (size_t)dim[k])
            return err_set(err, NAMI_ELIMIT, "an observation of '%.60s' is too large", name);
        r->k *= (size_t)dim[k];
    }
    if (!n || !r->k) return err_set(err, NAMI_EINPUT, "'%.60s' has no observations", name);
    if (n > INT_MAX || n > SIZE_MAX / 16 / r->k)
        return err_set(err, NAMI_ELIMIT, "'%.60s' has %zu observations of %zu numbers: too many",
                       name, n, r->k);
    meanings(r);
    r->x = new_array(unsigned char, n * r->k);
    return r->x ? 0 : err_nomem(err);
}

static int widen(struct records *r, enum records_type to)
{
    size_t n = r->n * r->k;
    struct records w = *r;
    w.type = to;
    w.x = mem_raw(n, size_of[to]);
    if (!w.x) return -1;
    for (size_t at = 0; at < n; at++) {
        if (to == RECORDS_FLOAT)
            ((float *)w.x)[at] = (float)records_at(r, 0, at);
        else
            ((double *)w.x)[at] = records_at(r, 0, at);
    }
    free(r->x);
    *r = w;
    return 0;
}

int records_put(struct records *r, size_t at, double x)
{
    enum records_type type = r->type;
    while (!fits(type, x)) type++;
    if (type != r->type && widen(r, type)) return -1;
    switch (type) {
    case RECORDS_BYTE: ((unsigned char *)r->x)[at] = (unsigned char)x; break;
    case RECORDS_FLOAT: ((float *)r->x)[at] = (float)x; break;
    case RECORDS_DOUBLE: ((double *)r->x)[at] = x; break;
    }
    return 0;
}

double records_at(const struct records *r, size_t i, size_t j)
{
    size_t at = i * r->k + j;
    switch (r->type) {
    case RECORDS_BYTE: return r->byte[((const unsigned char *)r->x)[at]];
    case RECORDS_FLOAT: return ((const float *)r->x)[at];
    default: return ((const double *)r->x)[at];
    }
}

void records_column(const struct records *r, size_t j, int n, const int *i, double *to)
{
    const unsigned char *byte = r->x;
    if (r->type == RECORDS_BYTE)
        for (int b = 0; b < n; b++) to[b] = r->byte[byte[(size_t)i[b] * r->k + j]];
    else
        for (int b = 0; b < n; b++) to[b] = records_at(r, (size_t)i[b], j);
}

void records_free(struct records *r)
{
    free(r->x);
    r->x = NULL;
}

#define EACH_TO(T, value)                                                                          \
    for (size_t j = 0, at = i * r->k; j < r->k; j++, at++)                                         \
        if (!where || where[j] >= 0) to[(where ? (size_t)where[j] : j) * stride] = (T)(value)
#define ROW(T)                                                                                     \
    const unsigned char *byte = r->x;                                                              \
    const float *single = r->x;                                                                    \
    const double *number = r->x;                                                                   \
    switch (r->type) {                                                                             \
    case RECORDS_BYTE: EACH_TO(T, r->byte[byte[at]]); break;                                       \
    case RECORDS_FLOAT: EACH_TO(T, single[at]); break;                                             \
    case RECORDS_DOUBLE: EACH_TO(T, number[at]); break;                                            \
    }

void records_row(const struct records *r, size_t i, const int *where, double *to, size_t stride)
{
    ROW(double)
}

void records_row_float(const struct records *r, size_t i, const int *where, float *to,
                       size_t stride)
{
    ROW(float)
}

/* ---- arrays ------------------------------------------------------------------------------ */

/* In Fortran order, observations vary fastest and the other dimensions are reversed. */
int records_array(struct records *r, const struct npy *a, const char *name, records_next *next,
                  void *from, nami_err *err)
{
    enum { PART = 1 << 12 };
    double buf[PART];
    size_t *column = NULL; /* in the file's order */
    struct column_walk w;
    if (!a->ndim)
        return err_set(err, NAMI_EINPUT,
                       "'%.60s' is a single number; its first axis must be observations", name);
    int rc = records_make(r, (size_t)a->dim[0], a->ndim - 1, a->dim + 1, name, err);
    if (!rc && a->fortran && !(column = raw_array(size_t, r->k))) rc = err_nomem(err);
    column_walk_init(&w, r->ndim, r->dim);
    for (size_t j = 0; column && j < r->k; j++, column_walk_next(&w)) column[w.at] = j;
    for (size_t at = 0, count; at < a->n && !rc; at += count) {
        count = a->n - at < PART ? a->n - at : PART;
        if ((rc = next(from, count, buf, err))) break;
        for (size_t j = 0; j < count && !rc; j++) {
            size_t to = column ? (at + j) % r->n * r->k + column[(at + j) / r->n] : at + j;
            if (records_put(r, to, buf[j])) rc = err_nomem(err);
        }
    }
    free(column);
    return rc;
}

struct whole {
    struct npy a;
    const char *at;
};

static int next_of_text(void *from, size_t n, double *x, nami_err *err)
{
    struct whole *w = from;
    (void)err;
    w->a.n = n;
    npy_numbers(&w->a, w->at, x);
    w->at += n * (size_t)w->a.size;
    return 0;
}

int records_whole(struct records *r, const struct npy *a, const char *text, size_t len,
                  const char *name, nami_err *err)
{
    struct whole w = {*a, text + a->header};
    size_t want = a->n * (size_t)a->size;
    if (len - a->header != want)
        return err_set(err, NAMI_EINPUT,
                       "there are %zu bytes behind the header, which says %zu: the file is cut off "
                       "or damaged",
                       len - a->header, want);
    w.a.fortran = 0; /* elements as they come */
    return records_array(r, a, name, next_of_text, &w, err);
}

/* ---- formats ------------------------------------------------------------------------- */

const struct records_format *const records_formats[] = {
#define RECORDS(id) &records_##id,
#include "data/records.def"
#undef RECORDS
    NULL};

static const struct records_format *format_of(const char *path, size_t n)
{
    if (str_ends(path, n, ".gz")) n -= 3;
    for (int i = 0; records_formats[i]; i++)
        if (str_ends(path, n, records_formats[i]->ending)) return records_formats[i];
    return NULL;
}

const struct records_format *records_format_of(const char *path)
{
    return format_of(path, strlen(path));
}

int records_parse(struct records *r, const struct records_format *f, const char *text, size_t len,
                  const char *name, nami_err *err)
{
    struct str plain = {0};
    int rc = 0;
    *r = (struct records){0};
    err_clear(err);
    if (is_gzip(text, len)) {
        rc = gunzip(text, len, &plain, err);
        text = plain.s;
        len = plain.n;
    }
    for (int i = 0; !f && records_formats[i] && !rc; i++)
        if (records_formats[i]->looks(text, len)) f = records_formats[i];
    if (!rc && !f)
        rc = err_set(err, NAMI_EINPUT,
                     "this is no file of observations: IDX, NPY, NPZ, JSON or CSV with a header");
    if (!rc) rc = f->parse(r, text, len, name, err);
    if (rc) records_free(r);
    str_free(&plain);
    return rc;
}

/* FILE.npz:NAME, cut to FILE.npz; or NULL. */
static const char *name_behind(struct str *path)
{
    char *colon = path->s ? strrchr(path->s, ':') : NULL;
    const struct records_format *f = colon ? format_of(path->s, (size_t)(colon - path->s)) : NULL;
    if (!f || !f->named || !colon[1]) return NULL;
    *colon = 0;
    return colon + 1;
}

int records_read(struct records *r, const char *path, const char *name, nami_err *err)
{
    struct str file = {0}, text = {0};
    *r = (struct records){0};
    str_put(&file, path);
    const char *other = name_behind(&file);
    int rc = file.oom ? err_nomem(err) : file_read(file.s, &text, err);
    if (!rc)
        rc = records_parse(r, records_format_of(file.s), text.s, text.n, other ? other : name, err);
    str_free(&file);
    str_free(&text);
    return rc;
}
