/* npz.c: reads arrays one by one from a NumPy .npz archive (libzip), in a file or in memory. */
#include "data/npz.h"

#include <stdlib.h>
#include <string.h>
#include <zip.h>

#include "base/err.h"
#include "data/gunzip.h"

enum { PART = 1 << 13 }; /* elements at a time */

struct npz {
    zip_t *z;
    zip_file_t *f;
    struct str name; /* of f */
    struct npy a;
};

/* ---- the archive ------------------------------------------------------------------ */

static int not_opened(zip_error_t *e, nami_err *err)
{
    switch (zip_error_code_zip(e)) {
    case ZIP_ER_MEMORY: return err_nomem(err);
    case ZIP_ER_NOENT:
    case ZIP_ER_OPEN:
    case ZIP_ER_READ:
    case ZIP_ER_SEEK: return err_set(err, NAMI_EFILE, "cannot open: %s", zip_error_strerror(e));
    default:
        return err_set(err, NAMI_EINPUT, "this is no whole .npz archive: %s",
                       zip_error_strerror(e));
    }
}

static int open_source(zip_source_t *src, zip_error_t *e, struct npz **out, nami_err *err)
{
    struct npz *z = new_array(struct npz, 1);
    if (z && src) z->z = zip_open_from_source(src, ZIP_RDONLY, e);
    if (z && z->z) {
        *out = z;
        return 0;
    }
    int rc = z ? not_opened(e, err) : err_nomem(err);
    if (src) zip_source_free(src);
    free(z);
    return rc;
}

int npz_open(const char *path, struct npz **out, nami_err *err)
{
    zip_error_t e;
    *out = NULL;
    zip_error_init(&e);
    int rc = open_source(zip_source_file_create(path, 0, -1, &e), &e, out, err);
    zip_error_fini(&e);
    return rc;
}

int npz_parse(const char *text, size_t len, struct npz **out, nami_err *err)
{
    zip_error_t e;
    *out = NULL;
    if (!len) return err_set(err, NAMI_EINPUT, "this is no .npz archive: it is empty");
    zip_error_init(&e);
    int rc = open_source(zip_source_buffer_create(text, len, 0, &e), &e, out, err);
    zip_error_fini(&e);
    return rc;
}

void npz_close(struct npz *z)
{
    if (!z) return;
    if (z->f) zip_fclose(z->f);
    zip_discard(z->z);
    str_free(&z->name);
    free(z);
}

void npz_names(const struct npz *z, struct str *out)
{
    zip_int64_t n = zip_get_num_entries(z->z, 0);
    for (zip_int64_t i = 0, any = 0; i < n; i++) {
        const char *s = zip_get_name(z->z, (zip_uint64_t)i, ZIP_FL_ENC_GUESS);
        if (!s || !str_ends(s, strlen(s), ".npy")) continue;
        if (any++) str_put(out, ", ");
        str_putn(out, s, strlen(s) - 4);
    }
}

/* ---- one array ---------------------------------------------------------------------- */

static int not_read(const struct npz *z, zip_error_t *e, nami_err *err)
{
    if (zip_error_code_zip(e) == ZIP_ER_MEMORY) return err_nomem(err);
    return err_set(err, NAMI_EINPUT, "'%.60s' cannot be read: %s", z->name.s,
                   zip_error_strerror(e));
}

/* All n bytes; short of them is an error. */
static int get_bytes(struct npz *z, char *to, size_t n, nami_err *err)
{
    while (n) {
        zip_int64_t k = zip_fread(z->f, to, n);
        if (k < 0) return not_read(z, zip_file_get_error(z->f), err);
        if (k == 0) return err_set(err, NAMI_EINPUT, "'%.60s' ends too early", z->name.s);
        to += k;
        n -= (size_t)k;
    }
    return 0;
}

/* A byte at a time, so that none of the elements are taken. */
static int get_header(struct npz *z, struct npy *a, nami_err *err)
{
    struct str head = {0};
    nami_err why;
    char c;
    int rc = 0;
    *a = (struct npy){0};
    while (!rc && !a->header) {
        if ((rc = get_bytes(z, &c, 1, err))) break;
        str_putn(&head, &c, 1);
        if (head.oom) rc = err_nomem(err);
        if (!rc && (rc = npy_header(a, head.s, head.n, &why)))
            err_set(err, rc, "'%.60s': %.400s", z->name.s, why.msg);
    }
    str_free(&head);
    return rc;
}

int npz_find(struct npz *z, const char *name, struct npy *a, nami_err *err)
{
    *a = (struct npy){0};
    if (z->f) zip_fclose(z->f);
    z->f = NULL;
    z->name.n = 0;
    str_printf(&z->name, "%s.npy", name);
    if (z->name.oom) return err_nomem(err);
    zip_int64_t at = zip_name_locate(z->z, z->name.s, ZIP_FL_ENC_GUESS);
    if (at < 0) return 0;
    if (!(z->f = zip_fopen_index(z->z, (zip_uint64_t)at, 0)))
        return not_read(z, zip_get_error(z->z), err);
    zip_stat_t st;
    int rc = get_header(z, a, err);
    if (!rc && zip_stat_index(z->z, (zip_uint64_t)at, 0, &st) == 0 && st.valid & ZIP_STAT_SIZE &&
        st.size != a->header + a->n * (size_t)a->size)
        rc = err_set(err, NAMI_EINPUT, "'%.60s' has %llu bytes, but its header says %zu", z->name.s,
                     (unsigned long long)st.size, a->header + a->n * (size_t)a->size);
    if (!rc && zip_stat_index(z->z, (zip_uint64_t)at, 0, &st) == 0 &&
        st.valid & ZIP_STAT_COMP_SIZE && st.valid & ZIP_STAT_SIZE &&
        st.size > inflate_limit((size_t)st.comp_size))
        rc = inflate_refuse((size_t)st.comp_size, err);
    z->a = *a;
    z->a.fortran = 0; /* elements as they come */
    return rc;
}

int npz_next(struct npz *z, size_t n, double *x, nami_err *err)
{
    char buf[PART * 8];
    int rc = 0;
    for (struct npy a = z->a; n && !rc; n -= a.n, x += a.n) {
        a.n = n < PART ? n : PART;
        if (!(rc = get_bytes(z, buf, a.n * (size_t)a.size, err))) npy_numbers(&a, buf, x);
    }
    return rc;
}

int npz_end(struct npz *z, nami_err *err)
{
    char c;
    zip_int64_t k = zip_fread(z->f, &c, 1);
    if (k < 0) return not_read(z, zip_file_get_error(z->f), err);
    return k ? err_set(err, NAMI_EINPUT, "'%.60s' is longer than its header says", z->name.s) : 0;
}
