/* draws_npz.c: draws as NumPy's archive: NAME.npy for each variable, of shape (n, dims...).
   Stored, not compressed: draws are noise.  The archive's dates are all 1980, so that the
   same draws give the same bytes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zip.h>

#include "base/child.h"
#include "base/err.h"
#include "data/draws_impl.h"
#include "data/npy.h"

static int is_integer(const struct draws *d, const struct draws_var *v)
{
    const double *x = d->x + v->base * d->n;
    size_t n = draws_var_size(v) * d->n;
    if (!v->integer) return 0;
    for (size_t i = 0; i < n; i++)
        if (!(fabs(x[i]) < 0x1p63) || x[i] != floor(x[i])) return 0;
    return 1;
}

/* The variable as a .npy array. */
static int array(const struct draws *d, const struct draws_var *v, struct str *out)
{
    size_t size = draws_var_size(v), dim[MAX_DIM + 1] = {d->n}, bytes = size * d->n * 8;
    int integer = is_integer(d, v);
    const double *x = d->x + v->base * d->n;
    for (int k = 0; k < v->ndim; k++) dim[k + 1] = (size_t)v->dim[k];
    npy_put_header(out, integer, v->ndim + 1, dim);
    if (out->oom) return -1;
    char *all = realloc(out->s, out->n + bytes), *p;
    if (!all) return -1;
    out->s = all;
    out->cap = out->n + bytes;
    p = all + out->n;
    for (size_t from = 0; from < d->n; from += ROW_BLOCK) {
        size_t to = d->n - from < ROW_BLOCK ? d->n : from + ROW_BLOCK;
        for (size_t e = 0; e < size; e++)
            for (size_t i = from; i < to; i++)
                npy_put(p + (i * size + e) * 8, x[e * d->n + i], integer);
    }
    out->n += bytes;
    return 0;
}

static int zip_failed(zip_error_t *e, const char *name, nami_err *err)
{
    int code = zip_error_code_zip(e); /* without memory, libzip may set none */
    if (code == ZIP_ER_MEMORY || code == ZIP_ER_OK) return err_nomem(err);
    return err_set(err, NAMI_EINPUT, "cannot put '%s' into an .npz archive: %s", name,
                   zip_error_strerror(e));
}

/* *a must live until the archive is closed. */
static int add(zip_t *z, const struct draws *d, const struct draws_var *v, struct str *a,
               nami_err *err)
{
    struct str name = {0};
    zip_int64_t at = -1;
    int rc = 0;
    str_printf(&name, "%s.npy", v->name);
    if (name.oom || array(d, v, a)) {
        str_free(&name);
        return err_nomem(err);
    }
    zip_source_t *src = zip_source_buffer(z, a->s, a->n, 0);
    if (src) at = zip_file_add(z, name.s, src, ZIP_FL_ENC_UTF_8);
    if (src && at < 0) zip_source_free(src);
    if (at < 0 || zip_set_file_compression(z, (zip_uint64_t)at, ZIP_CM_STORE, 0) ||
        zip_file_set_dostime(z, (zip_uint64_t)at, 0, 1 << 5 | 1, 0))
        rc = zip_failed(zip_get_error(z), v->name, err);
    str_free(&name);
    return rc;
}

/* The finished archive. */
static int take(zip_source_t *src, struct str *out, nami_err *err)
{
    zip_stat_t st;
    char buf[1 << 15];
    zip_int64_t n = -1;
    int rc = 0;
    zip_stat_init(&st);
    if (zip_source_stat(src, &st) || zip_source_open(src))
        return zip_failed(zip_source_error(src), "the draws", err);
    while ((n = zip_source_read(src, buf, sizeof buf)) > 0) str_putn(out, buf, (size_t)n);
    if (n < 0) rc = zip_failed(zip_source_error(src), "the draws", err);
    zip_source_close(src);
    return rc ? rc : out->oom ? err_nomem(err) : 0;
}

/* Into src, which then holds the archive. */
static int archive(const struct draws *d, zip_source_t *src, nami_err *err)
{
    zip_error_t e;
    int rc = 0;
    zip_error_init(&e);
    struct str *a = new_array(struct str, d->nvar);
    if (!a) return err_nomem(err);
    zip_t *z = zip_open_from_source(src, ZIP_CREATE | ZIP_TRUNCATE, &e);
    if (z) {
        zip_source_keep(src); /* closing gives up one hold of it */
        for (int v = 0; v < d->nvar && !rc; v++) rc = add(z, d, &d->var[v], &a[v], err);
        if (!rc && zip_close(z)) rc = zip_failed(zip_get_error(z), "the draws", err);
        if (rc) zip_discard(z);
    } else {
        rc = zip_failed(&e, "the draws", err);
    }
    for (int v = 0; v < d->nvar; v++) str_free(&a[v]);
    free(a);
    zip_error_fini(&e);
    return rc;
}

static int write_archive(const void *input, struct str *out, nami_err *err)
{
    const struct draws *d = input;
    static const char empty[22] = "PK\5\6"; /* libzip makes none: the end is all it has */
    zip_error_t e;
    if (d->nvar == 0) {
        str_putn(out, empty, sizeof empty);
        return out->oom ? err_nomem(err) : 0;
    }
    zip_error_init(&e);
    zip_source_t *src = zip_source_buffer_create(NULL, 0, 0, &e);
    int rc = src ? archive(d, src, err) : zip_failed(&e, "the draws", err);
    if (!rc) rc = take(src, out, err);
    zip_source_free(src);
    zip_error_fini(&e);
    return rc;
}

/* In a process of its own: what libzip takes random numbers from may crash without memory. */
static int write(const struct draws *d, struct str *out, nami_err *err)
{
    enum { HOUR = 3600 };
    return child_run(write_archive, d, HOUR, "libzip", out, err);
}

const struct draws_format draws_npz = {
    .name = "npz",
    .ending = ".npz",
    .what = "NumPy: an array for each variable, first axis = draws",
    .write = write,
};
