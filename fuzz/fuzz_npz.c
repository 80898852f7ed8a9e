/* fuzz_npz.c: fuzzes the reader of .npz archives, asked for arrays x, y and k. */
#include <stdlib.h>
#include <string.h>

#include "data/npz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check(int rc, const nami_err *err)
{
    if (rc && (err->code != rc || !err->msg[0])) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    enum { PART = 1000, MOST = 100000 };
    static const char *const name[] = {"x", "y", "k"};
    double x[PART];
    struct npz *z;
    struct npy a;
    nami_err err = {0};
    char *text = malloc(len + !len); /* not a byte more */
    if (!text) abort();
    if (len) memcpy(text, data, len);
    int rc = npz_parse(text, len, &z, &err);
    check(rc, &err);
    for (int i = 0; z && i < 3; i++) {
        check(rc = npz_find(z, name[i], &a, &err), &err);
        if (rc || !a.header) continue;
        if (a.ndim > MAX_DIM + 1 || a.size < 1 || a.size > 8) abort();
        for (size_t left = a.n < MOST ? a.n : MOST, n; left && !rc; left -= n) {
            n = left < PART ? left : PART;
            check(rc = npz_next(z, n, x, &err), &err);
        }
        if (!rc) check(npz_end(z, &err), &err);
    }
    npz_close(z);
    free(text);
    return 0;
}
