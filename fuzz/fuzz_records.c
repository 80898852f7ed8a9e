/* fuzz_records.c: fuzzes the reader of observations in the format RECORDS_NAME, and their
   brightness. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/records.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check(int rc, const nami_err *err)
{
    if (rc && (err->code != rc || !err->msg[0] || strchr(err->msg, '\n'))) abort();
}

static void look(const struct records *r)
{
    size_t k = 1;
    for (int i = 0; i < r->ndim; i++) k *= (size_t)r->dim[i];
    if (!r->n || !r->k || k != r->k || r->ndim > MAX_DIM) abort();
    double *x = malloc(r->k * sizeof *x);
    if (!x) abort();
    for (size_t i = 0; i < r->n; i++) {
        records_row(r, i, NULL, x, 1);
        for (size_t j = 0; j < r->k; j++) {
            double y = records_at(r, i, j);
            if (isnan(x[j]) ? !isnan(y) : x[j] != y) abort();
        }
    }
    free(x);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct records r;
    nami_err err = {0};
    char *text = malloc(len + !len); /* not a byte more */
    if (!text) abort();
    if (len) memcpy(text, data, len);
    int rc = records_parse(&r, records_format_of("x." RECORDS_NAME), text, len, "x", &err);
    check(rc, &err);
    if (!rc) {
        look(&r);
        check(rc = records_scale(&r, &err), &err);
        if (!rc) check(rc = records_binarise(&r, 1, &err), &err);
        if (!rc) look(&r);
    }
    records_free(&r);
    free(text);
    return 0;
}
