/* records_idx.c: http://yann.lecun.com/exdb/mnist, "the IDX file format": two bytes 0, the type,
   the number of dimensions; 32 bits for each; the numbers.  All big-endian. */
#include <stdint.h>

#include "base/err.h"
#include "data/records_impl.h"

static const struct {
    unsigned char code;
    char kind;
    int size;
} types[] = {{0x08, 'u', 1}, {0x09, 'i', 1}, {0x0B, 'i', 2},
             {0x0C, 'i', 4}, {0x0D, 'f', 4}, {0x0E, 'f', 8}};

static int looks(const char *text, size_t len)
{
    return len >= 4 && !text[0] && !text[1] && text[2] >= 0x08 && text[2] <= 0x0E && text[3] > 0;
}

static int header(struct npy *a, const unsigned char *u, size_t len, nami_err *err)
{
    *a = (struct npy){.big = 1, .n = 1};
    if (!looks((const char *)u, len))
        return err_set(
            err, NAMI_EINPUT,
            "expected an IDX file, which begins with the bytes 0 0, a type (8 to 14) and "
            "the number of dimensions");
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].code == u[2]) a->kind = types[i].kind, a->size = types[i].size;
    if (!a->kind) return err_set(err, NAMI_EINPUT, "an IDX file has no numbers of type %d", u[2]);
    a->ndim = u[3];
    if (a->ndim > MAX_DIM + 1)
        return err_set(err, NAMI_EINPUT, "an IDX file has %d dimensions; NaMI reads up to %d",
                       a->ndim, MAX_DIM + 1);
    a->header = 4 + 4 * (size_t)a->ndim;
    if (len < a->header) return err_set(err, NAMI_EINPUT, "the header of an IDX file is cut off");
    for (int k = 0; k < a->ndim; k++) {
        const unsigned char *p = u + 4 + 4 * (size_t)k;
        uint32_t d = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
        if (d > INT32_MAX || (d && a->n > SIZE_MAX / 16 / d))
            return err_set(err, NAMI_ELIMIT, "an IDX file is too large");
        a->dim[k] = (int)d;
        a->n *= d;
    }
    return 0;
}

static int parse(struct records *r, const char *text, size_t len, const char *name, nami_err *err)
{
    struct npy a;
    int rc = header(&a, (const unsigned char *)text, len, err);
    return rc ? rc : records_whole(r, &a, text, len, name, err);
}

const struct records_format records_idx = {
    .name = "idx",
    .ending = ".idx -ubyte",
    .what = "MNIST's files: train-images-idx3-ubyte",
    .looks = looks,
    .parse = parse,
};
