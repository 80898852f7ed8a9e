/* safetensors_read.c: bytes that may be anything, to tensors. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/json.h"
#include "data/safetensors_impl.h"

#define DAMAGED "; the file is damaged: copy it or write it again"

struct span {
    size_t begin, end;
    const char *name;
};

struct reader {
    struct st *s;
    const char *data; /* the numbers */
    size_t len;
    vec(struct span) span;
};

static int whole(const json_t *j, size_t *x)
{
    if (!json_is_integer(j) || json_integer_value(j) < 0) return 0;
    *x = (size_t)json_integer_value(j);
    return 1;
}

static int read_type(const char *name, const json_t *j, enum st_type *type, nami_err *err)
{
    const char *text = json_string_value(j);
    if (!text) return err_set(err, NAMI_EINPUT, "the tensor '%s' has no dtype" DAMAGED, name);
    for (int k = 0; k < NST; k++)
        if (strcmp(text, st_kinds[k].name) == 0) {
            *type = (enum st_type)k;
            return 0;
        }
    return err_set(err, NAMI_EINPUT,
                   "the tensor '%s' has the type '%s'; NaMI reads F32, F64, I64 and U8: convert it",
                   name, text);
}

static int read_shape(const char *name, const json_t *j, int *ndim, size_t dim[], nami_err *err)
{
    size_t n = json_array_size(j);
    if (!json_is_array(j))
        return err_set(err, NAMI_EINPUT, "the tensor '%s' has no shape" DAMAGED, name);
    if (n > ST_DIM)
        return err_set(err, NAMI_EINPUT,
                       "the tensor '%s' has %zu dimensions; NaMI reads up to %d: reshape it", name,
                       n, ST_DIM);
    for (size_t k = 0; k < n; k++)
        if (!whole(json_array_get(j, k), &dim[k]))
            return err_set(err, NAMI_EINPUT,
                           "the shape of the tensor '%s' holds something that is no size" DAMAGED,
                           name);
    *ndim = (int)n;
    return 0;
}

static int read_span(const struct reader *r, const json_t *j, struct span *span, nami_err *err)
{
    if (json_array_size(j) != 2 || !whole(json_array_get(j, 0), &span->begin) ||
        !whole(json_array_get(j, 1), &span->end) || span->begin > span->end)
        return err_set(err, NAMI_EINPUT,
                       "the data_offsets of the tensor '%s' are not [begin, end]" DAMAGED,
                       span->name);
    if (span->end > r->len)
        return err_set(err, NAMI_EINPUT,
                       "the tensor '%s' ends %zu bytes behind the end of the file; the file is cut "
                       "off: copy it or write it again",
                       span->name, span->end - r->len);
    return 0;
}

static int read_tensor(struct reader *r, const char *name, const json_t *j, nami_err *err)
{
    struct span span = {.name = name};
    size_t dim[ST_DIM];
    enum st_type type;
    int ndim, rc;
    if (!json_is_object(j) || json_object_size(j) != 3)
        return err_set(err, NAMI_EINPUT,
                       "the entry of '%s' is not {dtype, shape, data_offsets}" DAMAGED, name);
    if ((rc = read_type(name, json_object_get(j, "dtype"), &type, err)) ||
        (rc = read_shape(name, json_object_get(j, "shape"), &ndim, dim, err)) ||
        (rc = read_span(r, json_object_get(j, "data_offsets"), &span, err)) ||
        (rc = st_add(r->s, name, type, ndim, dim, r->data + span.begin, err)))
        return rc;
    struct st_tensor *t = &r->s->tensor.a[r->s->tensor.n - 1];
    if (st_bytes(t) != span.end - span.begin)
        return err_set(err, NAMI_EINPUT,
                       "the tensor '%s' has %zu bytes, and its shape says %zu" DAMAGED, name,
                       span.end - span.begin, st_bytes(t));
    if ((uintptr_t)t->x % st_kinds[type].size) {
        void *copy = arena_alloc(&r->s->mem, st_bytes(t));
        if (!copy) return err_nomem(err);
        t->x = memcpy(copy, t->x, st_bytes(t));
    }
    return vec_push(&r->span, span) ? err_nomem(err) : 0;
}

static int read_text(struct st *s, json_t *meta, nami_err *err)
{
    const char *name;
    json_t *j;
    int rc;
    if (!json_is_object(meta))
        return err_set(err, NAMI_EINPUT, "__metadata__ of the header is no list of texts" DAMAGED);
    json_object_foreach(meta, name, j)
    {
        if (!json_is_string(j))
            return err_set(err, NAMI_EINPUT,
                           "'%s' in __metadata__ is no text; write numbers there in quotes", name);
        if ((rc = st_set(s, name, json_string_value(j), err))) return rc;
    }
    return 0;
}

static int by_place(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
    return (x->end > y->end) - (x->end < y->end);
}

/* No byte of two tensors, none of no tensor. */
static int check_spans(struct reader *r, nami_err *err)
{
    size_t at = 0;
    const char *before = "";
    if (r->span.n) qsort(r->span.a, r->span.n, sizeof *r->span.a, by_place);
    for (size_t i = 0; i < r->span.n; i++) {
        const struct span *s = &r->span.a[i];
        if (s->begin < at)
            return err_set(err, NAMI_EINPUT, "the tensors '%s' and '%s' overlap" DAMAGED, before,
                           s->name);
        if (s->begin > at)
            return err_set(err, NAMI_EINPUT,
                           "%zu bytes before the tensor '%s' belong to none" DAMAGED, s->begin - at,
                           s->name);
        at = s->end;
        before = s->name;
    }
    if (at < r->len)
        return err_set(err, NAMI_EINPUT, "%zu bytes at the end belong to no tensor" DAMAGED,
                       r->len - at);
    return 0;
}

static int read_header(struct reader *r, json_t *root, nami_err *err)
{
    const char *name;
    json_t *j;
    int rc;
    json_object_foreach(root, name, j)
    {
        rc = strcmp(name, ST_META) == 0 ? read_text(r->s, j, err) : read_tensor(r, name, j, err);
        if (rc) return rc;
    }
    return check_spans(r, err);
}

static int syntax(const struct json_why *e, nami_err *err)
{
    if (e->code == json_error_out_of_memory) return err_nomem(err);
    return err_set(err, NAMI_EINPUT, "the header is not valid JSON (byte %zu: %s)" DAMAGED,
                   e->position, e->text);
}

int st_parse(struct st *s, const char *text, size_t len, nami_err *err)
{
    struct reader r = {.s = s};
    struct json_why e = {0};
    uint64_t n;
    if (len < 8)
        return err_set(err, NAMI_EINPUT,
                       "a safetensors file has at least 8 bytes, and this has %zu; is it cut off?",
                       len);
    memcpy(&n, text, 8);
    if (n > ST_HEADER || (len > 8 && text[8] != '{'))
        return err_set(
            err, NAMI_EINPUT,
            "this is no safetensors file: it would begin with the length of a header, at "
            "most %d, and the '{' of the header",
            ST_HEADER);
    if (n > len - 8)
        return err_set(err, NAMI_EINPUT,
                       "the header has %zu bytes, and only %zu are in the file; the file is cut "
                       "off: copy it or write it again",
                       (size_t)n, len - 8);
    json_t *root = json_read(text + 8, (size_t)n, JSON_REJECT_DUPLICATES, &e);
    if (!root) return syntax(&e, err);
    r.data = text + 8 + n;
    r.len = len - 8 - (size_t)n;
    int rc = read_header(&r, root, err);
    vec_free(&r.span);
    json_decref(root);
    if (rc) st_free(s);
    return rc;
}
