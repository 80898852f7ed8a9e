/* fuzz_data.c: fuzzes the readers of data files.  What is read is written as JSON and read
   again: all must be the same. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "data/draws.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void die(const char *what, const nami_err *err, const char *text)
{
    fprintf(stderr, "%s: %d:%d: %s\n%.4000s\n", what, err->line, err->col, err->msg, text);
    abort();
}

static int same(double a, double b)
{
    return value_is_missing(a) ? value_is_missing(b)
           : isnan(a)          ? isnan(b) && !value_is_missing(b)
                               : a == b;
}

static void compare(const struct value *a, const struct value *b, const char *text)
{
    nami_err none = {0};
    /* JSON does not say how long the lists of an empty list are */
    if (a->n != b->n || (a->n && (a->ndim != b->ndim ||
                                  memcmp(a->dim, b->dim, sizeof(int) * (size_t)a->ndim) != 0)))
        die("another shape", &none, text);
    for (size_t i = 0; i < a->n; i++)
        if (!same(a->x[i], b->x[i])) die("another number", &none, text);
}

static void again(const struct dataset *set)
{
    size_t n = set->value.n, elements = 0;
    struct draws_var *var = new_array(struct draws_var, n);
    struct str text = {0};
    struct data back = {0};
    nami_err err = {0};
    for (size_t i = 0; i < n; i++) elements += set->value.a[i].n;
    double *x = new_array(double, elements);
    if (!var || !x) abort();
    elements = 0;
    for (size_t i = 0; i < n; i++) {
        const struct value *v = &set->value.a[i];
        var[i] = (struct draws_var){.name = v->name, .ndim = v->ndim, .base = elements};
        memcpy(var[i].dim, v->dim, sizeof v->dim);
        if (v->n) memcpy(x + elements, v->x, v->n * sizeof *x);
        elements += v->n;
    }
    struct draws d = {.n = 1, .nvar = (int)n, .var = var, .x = x};
    if (draws_format_of("x.json")->write(&d, &text, &err) == 0) { /* names may not be UTF-8 */
        if (data_parse(&back, text.s, text.n, &err)) die("cannot read it again", &err, text.s);
        if (back.set.n != 1 || back.set.a[0].value.n != n) die("another set", &err, text.s);
        for (size_t i = 0; i < n; i++) compare(&set->value.a[i], &back.set.a[0].value.a[i], text.s);
    }
    data_free(&back);
    str_free(&text);
    free(var);
    free(x);
}

/* rep() makes large arrays of short texts, which take long to print. */
static int is_large(const struct dataset *set)
{
    size_t n = 0;
    for (size_t i = 0; i < set->value.n; i++) {
        const struct value *v = &set->value.a[i];
        n += v->n;
        for (int k = 0; k < v->ndim; k++) n += (size_t)v->dim[k];
    }
    return n > 100000;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct data d = {0};
    nami_err err;
    char *text = malloc(len + 1); /* readers may count on the NUL, not on more */
    if (!text) abort();
    if (len) memcpy(text, data, len);
    text[len] = 0;
    int rc = data_parse(&d, text, len, &err);
    if (rc && (d.set.n || err.code != rc || !err.msg[0] || strchr(err.msg, '\n')))
        die("an error without its message", &err, "");
    for (size_t i = 0; i < d.set.n; i++)
        if (!is_large(&d.set.a[i])) again(&d.set.a[i]);
    data_free(&d);
    free(text);
    return 0;
}
