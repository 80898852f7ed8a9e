/* records_npy.c: observations from a NumPy .npy array; the first axis counts observations. */
#include <string.h>

#include "base/err.h"
#include "data/records_impl.h"

static int looks(const char *text, size_t len)
{
    return len >= 6 && memcmp(text, NPY_MAGIC, 6) == 0;
}

static int parse(struct records *r, const char *text, size_t len, const char *name, nami_err *err)
{
    struct npy a;
    int rc = npy_header(&a, text, len, err);
    if (!rc && !a.header) rc = err_set(err, NAMI_EINPUT, "the header of a .npy array is cut off");
    return rc ? rc : records_whole(r, &a, text, len, name, err);
}

const struct records_format records_npy = {
    .name = "npy",
    .ending = ".npy",
    .what = "one array of NumPy's, first axis = observations",
    .looks = looks,
    .parse = parse,
};
