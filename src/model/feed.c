/* feed.c: maps files of observations to observed arrays of a model, and fills its rows with
   minibatches. */
#include "model/feed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "data/data_impl.h"
#include "model/model.h"
#include "model/points.h"

/* ---- which array ------------------------------------------------------------------------- */

static int is_observed(const struct model *m, int array)
{
    const struct array *a = &m->ir.arrays.a[array];
    for (int e = a->first; e < a->first + a->n; e++)
        if (m->ir.observed[e] && point_row(m, e) >= 0) return 1;
    return 0;
}

/* ---- one file ---------------------------------------------------------------------------- */

static int is_flat(int ndim, const int *dim, size_t n)
{
    return ndim == 0 || (size_t)dim[ndim - 1] == n;
}

/* The numbers of elements must agree, and the shapes must be equal or one of them flat. */
static int check_shape(const struct array *a, const struct records *r, nami_err *err)
{
    char got[PATH_MAX_LEN], want[PATH_MAX_LEN];
    size_t n = (size_t)a->n;
    int same = a->ndim == r->ndim && memcmp(a->dim, r->dim, sizeof(int) * (size_t)a->ndim) == 0;
    if (r->k == n && (same || is_flat(a->ndim, a->dim, n) || is_flat(r->ndim, r->dim, n))) return 0;
    return err_set(err, NAMI_EINPUT,
                   "an observation of '%.60s' has the shape %s, but the model's has %s; along its "
                   "first axis, or line by line, the file has %zu observation%s",
                   a->name, shape_text(got, r->ndim, r->dim), shape_text(want, a->ndim, a->dim),
                   r->n, r->n == 1 ? "" : "s");
}

/* A file without an axis for observations, e.g. (20,) for y[20], is a single observation. */
static void one_observation(const struct array *a, struct records *r)
{
    int same = a->ndim == r->ndim + 1 && (size_t)a->dim[0] == r->n;
    for (int k = 0; k < r->ndim && same; k++) same = a->dim[k + 1] == r->dim[k];
    int column = r->k == 1 && r->n == (size_t)a->n;
    if (r->k == (size_t)a->n || (!same && !column)) return;
    r->k *= r->n;
    r->n = 1;
    r->ndim = a->ndim;
    memcpy(r->dim, a->dim, sizeof a->dim);
}

int feeds_add(struct feeds *f, const struct model *m, int array, struct records *r, nami_err *err)
{
    const struct array *a = &m->ir.arrays.a[array];
    struct feed x = {.array = array, .first = a->first, .name = a->name, .r = *r};
    *r = (struct records){0};
    one_observation(a, &x.r);
    int rc = check_shape(a, &x.r, err);
    if (!rc && feeds_find(f, a->name))
        rc = err_set(err, NAMI_EINPUT, "'%.60s' has observations already", a->name);
    if (!rc && f->feed.n && x.r.n != f->n)
        rc = err_set(err, NAMI_EINPUT, "'%.60s' has %zu observations, but '%.60s' has %zu", a->name,
                     x.r.n, f->feed.a[0].name, f->n);
    if (!rc && !(x.row = raw_array(int, x.r.k))) rc = err_nomem(err);
    for (size_t j = 0; j < x.r.k && !rc; j++) x.row[j] = point_row(m, a->first + (int)j);
    if (!rc && vec_push(&f->feed, x)) rc = err_nomem(err);
    if (rc) {
        records_free(&x.r);
        free(x.row);
        return rc;
    }
    f->n = x.r.n;
    return 0;
}

static int add(struct feeds *f, const struct model *m, int array, const char *path, nami_err *err)
{
    struct records r = {0};
    int rc = records_read(&r, path, array_name(m, array), err);
    return rc ? rc : feeds_add(f, m, array, &r, err);
}

/* "x=FILE": the file name and the array; otherwise the entire text, and -1. */
static int split_name(const struct model *m, const char *file, int *array, const char **path,
                      nami_err *err)
{
    size_t n = strcspn(file, "=/.");
    *array = -1;
    *path = file;
    if (file[n] != '=') return 0;
    *path = file + n + 1;
    *array = model_find_array(m, file, n);
    if (*array >= 0) return 0;
    return err_set(err, NAMI_EINPUT, "the model has no '%.*s'", n < 60 ? (int)n : 60, file);
}

/* For a file without names: the only observed array. */
static int check_alone(const struct model *m, const char *path, nami_err *err)
{
    const struct records_format *f = records_format_of(path);
    const struct array *one = NULL, *other = NULL;
    for (size_t i = 0; i < m->ir.arrays.n; i++) {
        if (!is_observed(m, (int)i)) continue;
        other = one;
        one = &m->ir.arrays.a[i];
    }
    if (!one)
        return err_set(err, NAMI_EINPUT,
                       "the model observes nothing; say whose data these are: x=%s", path);
    if (!other || (f && f->named)) return 0;
    return err_set(err, NAMI_EINPUT,
                   "this file does not say whether these are '%.60s' or '%.60s'; give its name: "
                   "%.60s=%s",
                   other->name, one->name, one->name, path);
}

static int add_file(struct feeds *f, const struct model *m, const char *file, nami_err *err)
{
    const char *path;
    int array, rc = split_name(m, file, &array, &path, err);
    if (rc) return rc;
    if (array >= 0) return add(f, m, array, path, err);
    rc = check_alone(m, path, err);
    for (int i = 0; i < model_num_arrays(m) && !rc; i++)
        if (is_observed(m, i)) rc = add(f, m, i, path, err);
    return rc;
}

/* ---- all ---------------------------------------------------------------------------------- */

int feeds_read(struct feeds *f, const struct model *m, const char *const *file, int nfile,
               nami_err *err)
{
    nami_err why = {0};
    *f = (struct feeds){0};
    for (int i = 0; i < nfile; i++)
        if (add_file(f, m, file[i], &why)) return err_in_file(err, file[i], &why);
    return 0;
}

int feeds_of_sets(struct feeds *f, const struct model *m, const struct data *d, nami_err *err)
{
    int rc = 0;
    *f = (struct feeds){0};
    for (int i = 0; i < model_num_arrays(m) && !rc; i++) {
        struct records r = {0};
        if (!is_observed(m, i)) continue;
        rc = records_of_sets(&r, d, array_name(m, i), err);
        if (rc)
            records_free(&r);
        else
            rc = feeds_add(f, m, i, &r, err);
    }
    return rc;
}

/* In each observation, or once. */
static int other_value(const struct model *m, const struct array *a, struct records *r,
                       double *value)
{
    one_observation(a, r);
    for (size_t i = 0; i < r->n && r->k == (size_t)a->n; i++)
        for (int e = a->first; e < a->first + a->n; e++) {
            *value = records_at(r, i, (size_t)(e - a->first));
            if (m->ir.state[e] == E_CONST && *value != m->ir.value[e] && !isnan(*value)) return e;
        }
    return -1;
}

int feeds_other(const struct model *m, const char *const *file, int nfile, double *value)
{
    int e = -1;
    for (int k = 0; k < nfile && e < 0; k++) {
        const struct records_format *format = records_format_of(file[k]);
        if (file[k][strcspn(file[k], "=/.")] == '=' || !format || !format->named) continue;
        for (size_t i = 0; i < m->ir.arrays.n && e < 0; i++) {
            const struct array *a = &m->ir.arrays.a[i];
            struct records r = {0};
            if (a->defined || a->raw || !a->ready || records_read(&r, file[k], a->name, NULL))
                continue;
            e = other_value(m, a, &r, value);
            records_free(&r);
        }
    }
    return e;
}

void feeds_free(struct feeds *f)
{
    for (size_t i = 0; i < f->feed.n; i++) {
        records_free(&f->feed.a[i].r);
        free(f->feed.a[i].row);
    }
    vec_free(&f->feed);
}

struct feed *feeds_find(const struct feeds *f, const char *name)
{
    for (size_t i = 0; i < f->feed.n; i++)
        if (strcmp(f->feed.a[i].name, name) == 0) return &f->feed.a[i];
    return NULL;
}

static int check_feed(const struct model *m, const struct feed *f, nami_err *err)
{
    for (size_t i = 0; i < f->r.n; i++)
        for (size_t j = 0; j < f->r.k; j++) {
            double x = records_at(&f->r, i, j);
            int e = f->first + (int)j;
            if (f->row[j] >= 0 && !isnan(x) && !point_possible(m, e, x))
                return point_refuse(m, e, x, "observation", i, err);
        }
    return 0;
}

int feeds_check(const struct feeds *f, const struct model *m, nami_err *err)
{
    int rc = 0;
    for (size_t i = 0; i < f->feed.n && !rc; i++) rc = check_feed(m, &f->feed.a[i], err);
    return rc;
}

void feeds_copy(const struct feeds *f, size_t i, double *x, size_t stride)
{
    for (size_t k = 0; k < f->feed.n; k++)
        records_row(&f->feed.a[k].r, i, f->feed.a[k].row, x, stride);
}

void feeds_copy_some(const struct feeds *f, int n, const int *i, double *x, size_t stride)
{
    for (size_t k = 0; k < f->feed.n; k++) {
        const struct feed *a = &f->feed.a[k];
        for (size_t j = 0; j < a->r.k; j++)
            if (a->row[j] >= 0) records_column(&a->r, j, n, i, x + (size_t)a->row[j] * stride);
    }
}

int feed_observed(const struct model *m, const struct feed *f, size_t j)
{
    return f->row[j] >= 0 && m->ir.observed[f->first + (int)j];
}

int feed_is_data(const struct model *m, const struct feed *f) { return is_observed(m, f->array); }

int feed_misses(const struct model *m, const struct feed *f, size_t i)
{
    if (f->r.type == RECORDS_BYTE) return 0;
    for (size_t j = 0; j < f->r.k; j++)
        if (feed_observed(m, f, j) && isnan(records_at(&f->r, i, j))) return 1;
    return 0;
}
