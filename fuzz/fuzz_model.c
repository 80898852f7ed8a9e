/* fuzz_model.c: fuzzes the way from text to a model, four draws and their densities, in both
   dialects.  After a line "%%%%" come the data, as JSON. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/eval.h"
#include "model/model.h" /* for its messages */
#include "model/read.h"
#include "model/view.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { DRAWS = 4, LIMIT = 20000, MOST = 3000 };

static void die(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s\n", what, why);
    abort();
}

static void run(const struct model *m)
{
    size_t n = (size_t)model_num_rows(m) * DRAWS;
    double *x = calloc(n + 1, sizeof *x), *grad = calloc(n + 1, sizeof *grad), logp[DRAWS];
    struct density out = {.logp = logp, .grad = grad};
    nami_err err = {0};
    if (!x || !grad) abort();
    int rc = model_simulate(m, 1, 0, DRAWS, 1, x, &err);
    if (!rc) rc = model_logp(m, DRAWS, x, 1, &out, &err);
    if (rc && (rc != NAMI_EINPUT || !err.msg[0])) die("no draws", err.msg);
    free(x);
    free(grad);
}

/* Every message is text, and shows a place that exists. */
static void check_messages(const struct model *m, const char *text, size_t len)
{
    struct str out = {0};
    int lines = 2;
    for (size_t i = 0; i < len; i++) lines += text[i] == '\n' || text[i] == '\r';
    const struct diags *d = &m->source.diags;
    model_messages(m, "f", &out);
    for (size_t i = 0; i < d->list.n; i++) {
        struct place at = d->list.a[i].at;
        if (at.line < 0 || at.line > lines || (at.line && (at.col < 1 || at.len < 1)))
            die("a message without a place", out.s);
    }
    str_free(&out);
}

static void try_model(const char *text, size_t len, const char *data, size_t ndata,
                      enum dialect dialect)
{
    struct model *m = model_new();
    struct model_options opt = {.limit = LIMIT};
    nami_err err = {0};
    if (!m) abort();
    if (!ndata || !model_give_data(m, data, ndata, &err)) {
        int rc = model_parse(m, "f", text, len, dialect, &opt, &err);
        const struct diags *d = &m->source.diags;
        if (rc && rc != NAMI_EINPUT) die("a code that is not expected", err.msg);
        if (rc && !err.msg[0]) die("an error without its message", "");
        if (!rc && d->nerror) die("errors, but no code", d->list.a[0].msg);
        check_messages(m, text, len);
        if (!rc && !model_simulator_command(m) && model_density_program(m)->nrow < MOST) run(m);
    }
    model_free(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t len)
{
    char *text = malloc(len + 1);
    if (!text) abort();
    if (len) memcpy(text, input, len);
    text[len] = 0;
    char *cut = strstr(text, "\n%%%%\n"), *data = cut ? cut + 6 : NULL;
    size_t n = cut ? (size_t)(cut - text) + 1 : len, ndata = cut ? len - n - 5 : 0;
    char *program = malloc(n ? n : 1); /* nothing behind its end may be read */
    if (!program) abort();
    memcpy(program, text, n);
    try_model(program, n, data, ndata, NATIVE);
    try_model(program, n, data, ndata, BUGS);
    free(program);
    free(text);
    return 0;
}
