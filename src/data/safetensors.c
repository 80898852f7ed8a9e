/* safetensors.c: tensors in memory, and as bytes. */
#include "data/safetensors_impl.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"

const struct st_kind st_kinds[NST] = {
    [ST_F32] = {"F32", 4}, [ST_F64] = {"F64", 8}, [ST_I64] = {"I64", 8}, [ST_U8] = {"U8", 1}};

size_t st_bytes(const struct st_tensor *t) { return t->n * st_kinds[t->type].size; }

/* ---- in memory ------------------------------------------------------------------ */

void st_free(struct st *s)
{
    arena_free(&s->mem);
    dict_free(&s->tensors);
    dict_free(&s->texts);
    vec_free(&s->tensor);
    vec_free(&s->text);
}

const struct st_tensor *st_find(const struct st *s, const char *name)
{
    int i = dict_find(&s->tensors, name, strlen(name));
    return i < 0 ? NULL : &s->tensor.a[i];
}

const char *st_get(const struct st *s, const char *name)
{
    int i = dict_find(&s->texts, name, strlen(name));
    return i < 0 ? NULL : s->text.a[i].value;
}

static int check_utf8(const char *s, nami_err *err)
{
    if (str_is_utf8(s)) return 0;
    return err_set(err, NAMI_EINPUT,
                   "'%.60s' is not UTF-8, so a safetensors file cannot hold it; rename it", s);
}

/* How many elements a shape has.  What is left of it without its zeros must be a size, too. */
static int count(struct st_tensor *t)
{
    size_t most = 1;
    t->n = 1;
    for (int k = 0; k < t->ndim; k++) {
        size_t d = t->dim[k];
        if (d > 1 && most > SIZE_MAX / 2 / st_kinds[t->type].size / d) return -1;
        if (d > 1) most *= d;
        t->n *= d;
    }
    return 0;
}

int st_add(struct st *s, const char *name, enum st_type type, int ndim, const size_t *dim,
           const void *x, nami_err *err)
{
    struct st_tensor t = {.type = type, .ndim = ndim, .x = x};
    int fresh, rc = check_utf8(name, err);
    if (rc) return rc;
    if (!*name || strcmp(name, ST_META) == 0)
        return err_set(err, NAMI_EINPUT, "a tensor cannot be called '%s'; rename it", name);
    if (ndim < 0 || ndim > ST_DIM)
        return err_set(err, NAMI_EINPUT, "the tensor '%s' has %d dimensions; NaMI has up to %d",
                       name, ndim, ST_DIM);
    for (int k = 0; k < ndim; k++) t.dim[k] = dim[k];
    if (count(&t))
        return err_set(err, NAMI_ELIMIT, "the shape of the tensor '%s' is larger than any memory",
                       name);
    if (vec_reserve(&s->tensor, s->tensor.n + 1)) return err_nomem(err);
    int i = dict_add(&s->tensors, name, strlen(name), &fresh);
    if (i < 0) return err_nomem(err);
    if (!fresh)
        return err_set(err, NAMI_EINPUT, "two tensors are called '%s'; rename one of them", name);
    t.name = s->tensors.name.a[i];
    s->tensor.a[s->tensor.n++] = t;
    return 0;
}

int st_set(struct st *s, const char *name, const char *value, nami_err *err)
{
    int fresh, rc;
    if ((rc = check_utf8(name, err)) || (rc = check_utf8(value, err))) return rc;
    char *copy = arena_strndup(&s->mem, value, strlen(value));
    if (!copy || vec_reserve(&s->text, s->text.n + 1)) return err_nomem(err);
    int i = dict_add(&s->texts, name, strlen(name), &fresh);
    if (i < 0) return err_nomem(err);
    s->text.a[i] = (struct st_text){s->texts.name.a[i], copy};
    s->text.n += (size_t)fresh;
    return 0;
}

/* ---- writing -------------------------------------------------------------------- */

static void put_text(const struct st *s, struct str *out)
{
    str_quote(out, ST_META);
    str_put(out, ":{");
    for (size_t i = 0; i < s->text.n; i++) {
        if (i) str_put(out, ",");
        str_quote(out, s->text.a[i].name);
        str_put(out, ":");
        str_quote(out, s->text.a[i].value);
    }
    str_put(out, "}");
}

static void put_entry(const struct st_tensor *t, size_t at, struct str *out)
{
    str_quote(out, t->name);
    str_printf(out, ":{\"dtype\":\"%s\",\"shape\":[", st_kinds[t->type].name);
    for (int k = 0; k < t->ndim; k++) str_printf(out, "%s%zu", k ? "," : "", t->dim[k]);
    str_printf(out, "],\"data_offsets\":[%zu,%zu]}", at, at + st_bytes(t));
}

/* The next tensor of a file: wide ones first, else as they came.  Begins with *i = 0, *size = 8. */
static const struct st_tensor *next(const struct st *s, size_t *i, size_t *size)
{
    for (; *size; *size /= 2, *i = 0)
        while (*i < s->tensor.n) {
            const struct st_tensor *t = &s->tensor.a[(*i)++];
            if (st_kinds[t->type].size == *size) return t;
        }
    return NULL;
}

static void put_header(const struct st *s, struct str *out)
{
    const struct st_tensor *t;
    size_t from = out->n, at = 0, i = 0, size = 8;
    str_putn(out, "\0\0\0\0\0\0\0", 8);
    str_put(out, "{");
    if (s->text.n) put_text(s, out);
    for (int more = s->text.n > 0; (t = next(s, &i, &size)); more = 1) {
        if (more) str_put(out, ",");
        put_entry(t, at, out);
        at += st_bytes(t);
    }
    str_put(out, "}");
    while (!out->oom && (out->n - from) % ST_ALIGN) str_put(out, " ");
    if (out->oom) return;
    uint64_t n = out->n - from - 8;
    memcpy(out->s + from, &n, 8);
}

int st_print(const struct st *s, struct str *out, nami_err *err)
{
    const struct st_tensor *t;
    size_t from = out->n, i = 0, size = 8;
    put_header(s, out);
    if (out->n - from > ST_HEADER)
        return err_set(err, NAMI_ELIMIT,
                       "the header of a safetensors file would have %zu bytes, more than %d; store "
                       "less text or fewer tensors in it",
                       out->n - from, ST_HEADER);
    while ((t = next(s, &i, &size)))
        if (t->n) str_putn(out, t->x, st_bytes(t));
    return out->oom ? err_nomem(err) : 0;
}
