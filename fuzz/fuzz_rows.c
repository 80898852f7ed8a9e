/* fuzz_rows.c: fuzzes the reader of a simulator's output, in pieces whose size the first byte
   sets. */
#include <stdlib.h>
#include <string.h>

#include "data/simulator_impl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static const struct draws_var var[] = {{.name = "a", .base = 0},
                                           {.name = "y", .ndim = 2, .dim = {2, 2}, .base = 1}};
    enum { ROWS = 3 };
    struct simulator s = {.command = "x", .nvar = 2, .var = var};
    nami_err err = {0};
    double *x = malloc(sizeof *x * 5 * ROWS);
    struct sim m = {.s = &s, .n = ROWS, .x = x, .err = &err, .npy = -1};
    int rc = 0;
    if (!x) abort();
    size_t piece = len ? 1 + data[0] : 1;
    for (size_t i = 1; i < len && !rc; i += piece)
        rc = sim_feed(&m, (const char *)data + i, len - i < piece ? len - i : piece);
    if (!rc) rc = sim_end(&m);
    if (rc ? err.code != rc || !err.msg[0] || strchr(err.msg, '\n') : m.row != ROWS) abort();
    free(m.tmp);
    str_free(&m.text);
    free(x);
    return 0;
}
