/* fuzz_npy.c: fuzzes the reader of .npy arrays. */
#include <stdlib.h>
#include <string.h>

#include "data/npy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct npy a;
    nami_err err = {0};
    char *text = malloc(len + !len); /* not a byte more */
    if (!text) abort();
    if (len) memcpy(text, data, len);
    int rc = npy_header(&a, text, len, &err);
    if (rc && (err.code != rc || !err.msg[0])) abort();
    if (!rc && a.header) {
        size_t n = 1;
        if (a.header > len || a.ndim > MAX_DIM + 1 || a.size < 1 || a.size > 8) abort();
        for (int k = 0; k < a.ndim; k++) n *= (size_t)a.dim[k];
        if (n != a.n) abort();
        if (a.n <= (len - a.header) / (size_t)a.size) {
            double *x = malloc(a.n * sizeof *x + 1);
            if (!x) abort();
            npy_numbers(&a, text + a.header, x);
            free(x);
        }
    }
    free(text);
    return 0;
}
