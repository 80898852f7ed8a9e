/* records_json.c: data sets, one for each observation. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "data/data_impl.h"
#include "data/records_impl.h"

static int looks(const char *text, size_t len)
{
    size_t i = 0;
    while (i < len && text[i] && strchr(" \t\r\n", text[i])) i++;
    return i < len && (text[i] == '{' || text[i] == '[');
}

/* A set that lacks the array has v == NULL. */
static int put_set(struct records *r, size_t i, const struct value *v, const char *name,
                   nami_err *err)
{
    char got[PATH_MAX_LEN], want[PATH_MAX_LEN];
    if (v && (v->ndim != r->ndim || memcmp(v->dim, r->dim, sizeof(int) * (size_t)v->ndim) != 0))
        return err_at(err, NAMI_EINPUT, v->line, 1,
                      "'%.60s' has the shape %s in data set %zu, but %s in others", name,
                      shape_text(got, v->ndim, v->dim), i + 1, shape_text(want, r->ndim, r->dim));
    for (size_t j = 0; j < r->k; j++)
        if (records_put(r, i * r->k + j, v ? v->x[j] : value_missing())) return err_nomem(err);
    return 0;
}

int records_of_sets(struct records *r, const struct data *d, const char *name, nami_err *err)
{
    const struct value *v = NULL;
    size_t n = strlen(name);
    for (size_t i = 0; i < d->set.n && !v; i++) v = dataset_find(&d->set.a[i], name, n);
    if (!v) return err_set(err, NAMI_EINPUT, "no data set has '%.60s'", name);
    int rc = records_make(r, d->set.n, v->ndim, v->dim, name, err);
    for (size_t i = 0; i < d->set.n && !rc; i++)
        rc = put_set(r, i, dataset_find(&d->set.a[i], name, n), name, err);
    return rc;
}

static int parse(struct records *r, const char *text, size_t len, const char *name, nami_err *err)
{
    struct data d = {0};
    int rc = data_parse(&d, text, len, err);
    if (!rc) rc = records_of_sets(r, &d, name, err);
    data_free(&d);
    return rc;
}

const struct records_format records_json = {
    .name = "json",
    .ending = ".json .jsonl .ndjson",
    .what = "a data set for each observation",
    .named = 1,
    .looks = looks,
    .parse = parse,
};
