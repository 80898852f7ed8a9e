/* records_npz.c: observations from one array of a NumPy .npz archive. */
#include "data/npz.h"

#include <string.h>

#include "base/err.h"
#include "data/records_impl.h"

static int looks(const char *text, size_t len) { return len >= 4 && memcmp(text, "PK", 2) == 0; }

static int next(void *from, size_t n, double *x, nami_err *err)
{
    return npz_next(from, n, x, err);
}

static int not_there(const struct npz *z, const char *name, nami_err *err)
{
    struct str names = {0};
    npz_names(z, &names);
    int rc = err_set(err, NAMI_EINPUT, "there is no array '%.60s'; there are: %.200s", name,
                     names.oom || !names.n ? "none" : names.s);
    str_free(&names);
    return rc;
}

static int parse(struct records *r, const char *text, size_t len, const char *name, nami_err *err)
{
    struct npz *z;
    struct npy a;
    int rc = npz_parse(text, len, &z, err);
    if (!rc) rc = npz_find(z, name, &a, err);
    if (!rc && !a.header) rc = not_there(z, name, err);
    if (!rc) rc = records_array(r, &a, name, next, z, err);
    if (!rc) rc = npz_end(z, err);
    npz_close(z);
    return rc;
}

const struct records_format records_npz = {
    .name = "npz",
    .ending = ".npz",
    .what = "NumPy's arrays by name, first axis = observations",
    .named = 1,
    .looks = looks,
    .parse = parse,
};
