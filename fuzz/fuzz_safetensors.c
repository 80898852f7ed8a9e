/* fuzz_safetensors.c: fuzzes the reader of safetensors files.  What is read is written and
   read again: all must be the same. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/safetensors.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void die(const char *what, const nami_err *err)
{
    fprintf(stderr, "%s: %s\n", what, err->msg);
    abort();
}

static const size_t size[NST] = {[ST_F32] = 4, [ST_F64] = 8, [ST_I64] = 8, [ST_U8] = 1};

/* Reads every number. */
static void compare(const struct st_tensor *a, const struct st_tensor *b)
{
    nami_err none = {0};
    size_t n = 1;
    for (int k = 0; k < a->ndim; k++) n *= a->dim[k];
    if (n != a->n || (uintptr_t)a->x % size[a->type]) die("a wrong tensor", &none);
    if (!b || a->type != b->type || a->ndim != b->ndim || a->n != b->n ||
        memcmp(a->dim, b->dim, sizeof a->dim) != 0 || memcmp(a->x, b->x, n * size[a->type]) != 0)
        die("another tensor", &none);
}

static void again(const struct st *s)
{
    struct st back = {0};
    struct str text = {0};
    nami_err err = {0};
    if (st_print(s, &text, &err)) die("cannot be written", &err);
    if (st_parse(&back, text.s, text.n, &err)) die("cannot be read again", &err);
    if (s->tensor.n != back.tensor.n || s->text.n != back.text.n) die("another number", &err);
    for (size_t i = 0; i < s->tensor.n; i++)
        compare(&s->tensor.a[i], st_find(&back, s->tensor.a[i].name));
    for (size_t i = 0; i < s->text.n; i++) {
        const char *value = st_get(&back, s->text.a[i].name);
        if (!value || strcmp(value, s->text.a[i].value) != 0) die("another text", &err);
    }
    st_free(&back);
    str_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct st s = {0};
    nami_err err = {0};
    char *text = malloc(len + !len); /* not a byte more */
    if (!text) abort();
    if (len) memcpy(text, data, len);
    int rc = st_parse(&s, text, len, &err);
    if (rc && (s.tensor.n || s.text.n || err.code != rc || !err.msg[0] || strchr(err.msg, '\n')))
        die("an error without its message", &err);
    if (!rc) again(&s);
    st_free(&s);
    free(text);
    return 0;
}
