/* posterior_npz.c: draws as NumPy's archive, an array for each variable.

   An archive contains one array after another, but draws arrive with all variables at once. They
   are buffered in an unnamed temporary file, from which the archive is created at the end. Stored,
   not compressed, and dated 1980, as in draws_npz.c. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zip.h>

#include "base/child.h"
#include "base/dict.h"
#include "base/err.h"
#include "data/npy.h"
#include "data/posterior_impl.h"

struct array {
    struct str name; /* in the archive: x.npy, prior/x.npy */
    int integer;     /* so far */
    size_t rows, size;
    int ndim;
    size_t dim[MAX_DIM + 2];
    size_t at;         /* its first byte in the spool */
    struct str header; /* while the archive is made */
    size_t pos;        /* bytes of header and elements read so far */
    struct spool *spool;
};

struct spool {
    int fd;
    size_t end;
    vec(struct array) array;
    int first[NPART], stat[NSTAT]; /* the arrays of each part's variables; of sample_stats */
    vec(double) rows;              /* a buffer */
    zip_error_t error;             /* of the array that was read last */
};

static int cannot(const char *what, int why, nami_err *err)
{
    return err_set(err, NAMI_EFILE, "cannot %s: %s", what, strerror(why));
}

/* ---- the spool ------------------------------------------------------------------------------ */

/* An array of `sets` x `draws` (those that are not 0) x the variable's dimensions. */
static int add(struct spool *s, const char *group, const char *name, const struct draws_var *v,
               size_t sets, size_t draws, nami_err *err)
{
    struct array a = {.rows = 1, .size = v ? draws_var_size(v) : 1, .at = s->end};
    a.integer = v && v->integer;
    if (sets) a.rows *= a.dim[a.ndim++] = sets;
    if (draws) a.rows *= a.dim[a.ndim++] = draws;
    for (int k = 0; v && k < v->ndim; k++) a.dim[a.ndim++] = (size_t)v->dim[k];
    str_printf(&a.name, "%s%s%s.npy", group, *group ? "/" : "", name);
    if (a.name.oom || vec_push(&s->array, a)) {
        str_free(&a.name);
        return err_nomem(err);
    }
    s->end += a.rows * a.size * 8;
    return 0;
}

static int write_at(int fd, const void *data, size_t n, size_t at, nami_err *err)
{
    const char *p = data;
    while (n > 0) {
        ssize_t k = pwrite(fd, p, n, (off_t)at);
        if (k < 0 && errno != EINTR) return cannot("write", errno, err);
        if (k > 0) p += k, at += (size_t)k, n -= (size_t)k;
    }
    return 0;
}

/* The array's next n rows, from row `from` on. */
static int put_rows(struct spool *s, struct array *a, const double *x, size_t n, size_t from,
                    nami_err *err)
{
    size_t most = rows_a_time(a->size);
    int rc = 0;
    for (size_t i = 0; i < a->size * n && a->integer; i++) a->integer = fits_int64(x[i]);
    if (a->size == 1) return write_at(s->fd, x, n * 8, a->at + from * 8, err);
    if (vec_reserve(&s->rows, most * a->size)) return err_nomem(err);
    for (size_t i = 0; i < n && !rc; i += most) {
        size_t count = n - i < most ? n - i : most;
        block_rows(x, n, a->size, i, count, s->rows.a);
        rc = write_at(s->fd, s->rows.a, count * a->size * 8, a->at + (from + i) * a->size * 8, err);
    }
    return rc;
}

static int add_given(struct spool *s, const char *group, const struct draws *d, size_t nset,
                     nami_err *err)
{
    int rc = 0;
    for (int v = 0; v < d->nvar && !rc; v++) {
        rc = add(s, group, d->var[v].name, &d->var[v], nset > 1 ? nset : 0, 0, err);
        if (!rc)
            rc = put_rows(s, &s->array.a[s->array.n - 1], d->x + d->var[v].base * d->n, d->n, 0,
                          err);
    }
    return rc;
}

/* log_weight is a name of ours and may be one of the model's. */
static int check_names(const struct spool *s, nami_err *err)
{
    struct dict d = {0};
    int rc = 0, fresh = 1;
    for (size_t i = 0; i < s->array.n && !rc; i++) {
        const struct str *name = &s->array.a[i].name;
        if (dict_add(&d, name->s, name->n, &fresh) < 0) rc = err_nomem(err);
        if (!rc && !fresh)
            rc = err_set(err, NAMI_EINPUT,
                         "an .npz file has an array '%.*s' of its own; rename the variable, or "
                         "write .nc",
                         (int)name->n - 4, name->s);
    }
    dict_free(&d);
    return rc;
}

static int open_npz(struct posterior *p, nami_err *err)
{
    const struct posterior_spec *spec = p->spec;
    struct spool *s = new_array(struct spool, 1);
    if (!s) return err_nomem(err);
    p->state = s;
    s->fd = -1;
    zip_error_init(&s->error);
    int rc = file_spool(p->file.path, &s->fd, err);
    if (rc) return rc;
    for (int part = 0; part < NPART; part++) {
        const struct posterior_group *g = &spec->part[part];
        size_t sets = part_sets(spec, (enum posterior_part)part);
        s->first[part] = (int)s->array.n;
        for (int v = 0; v < g->nvar && g->ndraw && !rc; v++)
            rc = add(s, part == POSTERIOR ? "" : part_name[part], g->var[v].name, &g->var[v],
                     sets > 1 ? sets : 0, g->ndraw, err);
    }
    for (int k = 0; k < NSTAT && !rc; k++) {
        s->stat[k] = (int)s->array.n;
        if (stat_is(spec, k))
            rc = add(s, "", stat_name[k].npz, NULL, spec->nset > 1 ? spec->nset : 0,
                     spec->part[POSTERIOR].ndraw, err);
    }
    if (!rc) rc = add_given(s, "observed_data", &spec->observed, spec->nset, err);
    if (!rc) rc = add_given(s, "constant_data", &spec->constant, 1, err);
    return rc ? rc : check_names(s, err);
}

static int put(struct posterior *p, enum posterior_part part, const struct posterior_block *b,
               nami_err *err)
{
    struct spool *s = p->state;
    const struct posterior_group *g = &p->spec->part[part];
    int rc = 0;
    for (int v = 0; v < g->nvar && !rc; v++)
        rc = put_rows(s, &s->array.a[s->first[part] + v], b->x + g->var[v].base * b->n, b->n,
                      p->done[part], err);
    for (int k = 0; k < NSTAT && !rc && part == POSTERIOR; k++)
        if (stat_is(p->spec, k))
            rc = put_rows(s, &s->array.a[s->stat[k]], stat_of(b, k), b->n, p->done[part], err);
    return rc;
}

/* ---- the archive ------------------------------------------------------------------------------
 */

/* The next bytes of the array, at most n. */
static zip_int64_t give(struct array *a, char *out, size_t n)
{
    double x[2048];
    size_t head = a->header.n, bytes = a->rows * a->size * 8, at = a->pos - head, got = 0;
    if (a->pos < head) {
        got = head - a->pos < n ? head - a->pos : n;
        memcpy(out, a->header.s + a->pos, got);
    } else if (at < bytes) {
        size_t skip = at % 8,
               want = sizeof x < bytes - (at - skip) ? sizeof x : bytes - (at - skip);
        char little[sizeof x];
        ssize_t k = pread(a->spool->fd, x, want, (off_t)(a->at + at - skip));
        if (k < 8) return -1;
        for (size_t i = 0; i < (size_t)k / 8; i++) npy_put(little + i * 8, x[i], a->integer);
        got = (size_t)k / 8 * 8 - skip;
        if (got > n) got = n;
        memcpy(out, little + skip, got);
    }
    a->pos += got;
    return (zip_int64_t)got;
}

static zip_int64_t source(void *ctx, void *data, zip_uint64_t len, zip_source_cmd_t cmd)
{
    struct array *a = ctx;
    zip_error_t *error = &a->spool->error;
    zip_stat_t *st = data;
    size_t got = 0;
    zip_int64_t k = 1;
    switch (cmd) {
    case ZIP_SOURCE_OPEN: a->pos = 0; return 0;
    case ZIP_SOURCE_READ:
        while (got < len && (k = give(a, (char *)data + got, len - got)) > 0) got += (size_t)k;
        if (k >= 0) return (zip_int64_t)got;
        zip_error_set(error, ZIP_ER_READ, errno);
        return -1;
    case ZIP_SOURCE_STAT:
        zip_stat_init(st);
        st->size = st->comp_size = a->header.n + a->rows * a->size * 8;
        st->comp_method = ZIP_CM_STORE;
        st->valid = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;
        return sizeof *st;
    case ZIP_SOURCE_ERROR: return zip_error_to_data(error, data, len);
    case ZIP_SOURCE_SUPPORTS: return ZIP_SOURCE_SUPPORTS_READABLE;
    case ZIP_SOURCE_CLOSE:
    case ZIP_SOURCE_FREE: return 0;
    default: zip_error_set(error, ZIP_ER_OPNOTSUPP, 0); return -1;
    }
}

static int zip_failed(zip_error_t *e, const char *name, nami_err *err)
{
    if (zip_error_code_zip(e) == ZIP_ER_MEMORY) return err_nomem(err);
    if (zip_error_system_type(e) == ZIP_ET_SYS && zip_error_code_system(e))
        return cannot("write", zip_error_code_system(e), err);
    return err_set(err, NAMI_EFILE, "cannot write '%s' into an .npz archive: %s", name,
                   zip_error_strerror(e));
}

static int include(zip_t *z, struct array *a, nami_err *err)
{
    npy_put_header(&a->header, a->integer, a->ndim, a->dim);
    if (a->header.oom) return err_nomem(err);
    zip_source_t *src = zip_source_function(z, source, a);
    zip_int64_t i = src ? zip_file_add(z, a->name.s, src, ZIP_FL_ENC_UTF_8) : -1;
    if (src && i < 0) zip_source_free(src);
    if (i < 0 || zip_set_file_compression(z, (zip_uint64_t)i, ZIP_CM_STORE, 0) ||
        zip_file_set_dostime(z, (zip_uint64_t)i, 0, 1 << 5 | 1, 0))
        return zip_failed(zip_get_error(z), a->name.s, err);
    return 0;
}

static int write_archive(const void *input, struct str *out, nami_err *err)
{
    const struct posterior *p = input;
    struct spool *s = p->state;
    int why, rc = 0;
    (void)out;
    zip_t *z = zip_open(p->file.tmp.s, ZIP_CREATE | ZIP_TRUNCATE, &why);
    if (!z) {
        zip_error_t e;
        zip_error_init_with_code(&e, why);
        rc = zip_failed(&e, p->file.path, err);
        zip_error_fini(&e);
        return rc;
    }
    for (size_t i = 0; i < s->array.n && !rc; i++) {
        s->array.a[i].spool = s;
        rc = include(z, &s->array.a[i], err);
    }
    if (!rc && zip_close(z)) rc = zip_failed(zip_get_error(z), p->file.path, err);
    if (rc) zip_discard(z);
    return rc;
}

/* In a process of its own: what libzip takes random numbers from may crash without memory. */
static int close_npz(struct posterior *p, const struct posterior_found *found, nami_err *err)
{
    enum { HOUR = 3600 };
    struct str none = {0};
    (void)found;
    int rc = file_give_name(&p->file, err);
    if (!rc) rc = child_run(write_archive, p, HOUR, "libzip", &none, err);
    str_free(&none);
    return rc;
}

static void free_npz(struct posterior *p)
{
    struct spool *s = p->state;
    if (!s) return;
    for (size_t i = 0; i < s->array.n; i++) {
        str_free(&s->array.a[i].name);
        str_free(&s->array.a[i].header);
    }
    vec_free(&s->array);
    vec_free(&s->rows);
    zip_error_fini(&s->error);
    if (s->fd >= 0) close(s->fd);
    free(s);
}

const struct posterior_format posterior_npz = {
    .name = "npz",
    .ending = ".npz",
    .what = "NumPy: an array for each variable, first axis = draws; log_weight, log_p, log_q",
    .parts = ALL_PARTS,
    .open = open_npz,
    .put = put,
    .close = close_npz,
    .free = free_npz,
};
