/* data.c: data sets of nami.h. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "base/err.h"
#include "data/records.h"

int nami_data_new(nami_data **out, nami_err *err)
{
    err_clear(err);
    *out = new_array(nami_data, 1);
    return *out ? 0 : err_nomem(err);
}

void nami_data_free(nami_data *data)
{
    if (!data) return;
    data_free(&data->sets);
    vec_free(&data->records);
    free(data);
}

size_t nami_data_size(const nami_data *data) { return data->sets.set.n; }

const char *nami_data_records(const nami_data *data, int i)
{
    return i >= 0 && (size_t)i < data->records.n ? data->records.a[i] : NULL;
}

/* Arrays of observations, which only a model gives meaning: "x=FILE", or a format without names of
   constants. */
static int is_records(const char *path)
{
    const struct records_format *f = records_format_of(path);
    return path[strcspn(path, "=/.")] == '=' || (f && strcmp(f->name, "json") != 0);
}

/* A name that data sets from `first` on repeat; or NULL.  Each file's sets have the same names. */
static const char *repeated_name(const struct data *d, size_t first)
{
    if (!first || first >= d->set.n) return NULL;
    for (size_t i = 0; i < d->set.a[0].value.n; i++) {
        const char *name = d->set.a[0].value.a[i].name;
        if (dataset_find(&d->set.a[first], name, strlen(name))) return name;
    }
    return NULL;
}

/* What was added from set `before` on: more data sets, or more of the same ones. */
static int combine(nami_data *data, size_t before, nami_err *err)
{
    const char *name = repeated_name(&data->sets, before);
    if (!name) return data_join(&data->sets, before, err);
    data->repeated = name;
    return 0;
}

int nami_data_read(nami_data *data, const char *path, nami_err *err)
{
    size_t before = data->sets.set.n;
    err_clear(err);
    if (is_records(path)) {
        const char *copy = arena_strndup(&data->sets.mem, path, strlen(path));
        return copy && !vec_push(&data->records, copy) ? 0 : err_nomem(err);
    }
    int rc = data_read(&data->sets, path, err);
    return rc ? rc : combine(data, before, err);
}

int nami_data_parse(nami_data *data, const char *text, size_t len, nami_err *err)
{
    size_t before = data->sets.set.n;
    err_clear(err);
    int rc = data_parse(&data->sets, text, len, err);
    return rc ? rc : combine(data, before, err);
}

int nami_data_append(nami_data *data, const nami_data *more, nami_err *err)
{
    err_clear(err);
    return data_copy(&data->sets, &more->sets, err);
}

int nami_data_set(nami_data *data, size_t set, const char *name, int num_dims, const size_t *dim,
                  const double *values, nami_err *err)
{
    struct data *d = &data->sets;
    struct value v = {.ndim = num_dims, .n = 1};
    err_clear(err);
    if (set > d->set.n)
        return err_set(err, NAMI_EUSAGE, "there are %zu data sets: set %zu cannot be the next",
                       d->set.n, set);
    if (num_dims < 0 || num_dims > MAX_DIM)
        return err_set(err, NAMI_EUSAGE, "%.60s has %d dimensions; 0 to %d are possible", name,
                       num_dims, MAX_DIM);
    for (int k = 0; k < num_dims; k++) {
        if (dim[k] > INT_MAX || (dim[k] && v.n > SIZE_MAX / sizeof(double) / dim[k]))
            return err_set(err, NAMI_ELIMIT, "%.60s is too large", name);
        v.dim[k] = (int)dim[k];
        v.n *= dim[k];
    }
    if (set < d->set.n && dataset_find(&d->set.a[set], name, strlen(name)))
        return err_set(err, NAMI_EINPUT, "%.60s has a value in this data set already", name);
    v.name = arena_strndup(&d->mem, name, strlen(name));
    v.x = arena_array(&d->mem, double, v.n + 1);
    if (!v.name || !v.x) return err_nomem(err);
    for (size_t i = 0; i < v.n; i++) v.x[i] = isnan(values[i]) ? value_missing() : values[i];
    if (set < d->set.n) return vec_push(&d->set.a[set].value, v) ? err_nomem(err) : 0;
    struct dataset more = {0}; /* with the value, or not at all */
    if (!vec_push(&more.value, v) && !vec_push(&d->set, more)) return 0;
    vec_free(&more.value);
    return err_nomem(err);
}

int nami_data_one(const nami_data *data, size_t set, nami_data **out, nami_err *err)
{
    err_clear(err);
    *out = NULL;
    if (set >= data->sets.set.n) return no_such_set(set, data->sets.set.n, err);
    struct data one = {.set = {data->sets.set.a + set, 1, 1}};
    int rc = nami_data_new(out, err);
    if (!rc) rc = data_copy(&(*out)->sets, &one, err);
    if (rc) nami_data_free(*out), *out = NULL;
    return rc;
}
