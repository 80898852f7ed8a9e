/* data_json.c: data as JSON in CmdStan's convention.

   {"N": 8, "y": [28, 8, null], "m": [[1, 2], [3, 4]]}

   Lists are row-major; null is missing; true is 1; "NaN", "Inf" and "-Inf" are numbers.  A
   list of such objects, or one after another (JSON Lines), are several data sets.  Jansson
   reads; the places it does not keep are found by a walk over the text, known to be valid. */
#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/json.h"
#include "data/data_impl.h"
#include "data/draws.h"
#include "data/json_value.h"

/* ---- places ---------------------------------------------------------------- */

struct walk {
    const char *s, *end, *line0;
    int line;
};

static void step(struct walk *w)
{
    if (w->s < w->end && *w->s++ == '\n') {
        w->line++;
        w->line0 = w->s;
    }
}

static void blanks(struct walk *w)
{
    while (w->s < w->end && (*w->s == ' ' || *w->s == '\t' || *w->s == '\r' || *w->s == '\n'))
        step(w);
}

static int column(const struct walk *w)
{
    return w->s - w->line0 < INT_MAX ? (int)(w->s - w->line0) + 1 : INT_MAX;
}

static void skip_string(struct walk *w)
{
    for (w->s++; w->s < w->end && *w->s != '"'; w->s++)
        if (*w->s == '\\') w->s++;
    w->s++;
}

/* Over a value, and the comma or colon behind it. */
static void skip(struct walk *w)
{
    int depth = 0;
    do {
        char c = '}';
        if (w->s < w->end) c = *w->s;
        if (c == '"') {
            skip_string(w);
        } else {
            if (c == '[' || c == '{') depth++;
            if (c == ']' || c == '}') depth--;
            if (c != '[' && c != '{' && c != ']' && c != '}') /* a word or a number */
                while (w->s + 1 < w->end && !strchr(",:]} \t\r\n", w->s[1])) w->s++;
            step(w);
        }
        blanks(w);
        if (w->s < w->end && (*w->s == ',' || *w->s == ':')) {
            step(w);
            blanks(w);
        }
    } while (depth > 0 && w->s < w->end);
}

/* From a list to the element at *to. */
static void descend(struct walk *w, const struct json_path *to)
{
    for (int k = 0; k < to->n; k++) {
        step(w);
        blanks(w);
        for (size_t i = 0; i < to->sub[k]; i++) skip(w);
    }
}

/* ---- reading ---------------------------------------------------------------- */

static int syntax(const struct json_why *e, const struct walk *w, nami_err *err)
{
    int line = w->line + (e->line > 1 ? e->line - 1 : 0);
    int col = e->line > 1 ? e->column : column(w) + e->column - 1;
    const char *near = strstr(e->text, " near ");
    switch (e->code) {
    case json_error_out_of_memory: return err_nomem(err);
    case json_error_stack_overflow:
        return err_at(err, NAMI_EINPUT, line, col,
                      "brackets are nested more than 2000 deep; data have at most %d dimensions",
                      MAX_DIM);
    case json_error_premature_end_of_input:
        return err_at(err, NAMI_EINPUT, line, col, "the JSON text ends too early; is it cut off?");
    case json_error_invalid_utf8:
        return err_at(err, NAMI_EINPUT, line, col, "not UTF-8 (%s); save the file as UTF-8",
                      e->text);
    case json_error_duplicate_key:
        return err_at(err, NAMI_EINPUT, line, col,
                      "this name is given twice%s; keep one of the two values", near ? near : "");
    case json_error_numeric_overflow:
        return err_at(err, NAMI_EINPUT, line, col,
                      "this number is too large for a double%s; write \"Inf\" if that is meant",
                      near ? near : "");
    default:
        return err_at(
            err, NAMI_EINPUT, line, col,
            "not valid JSON: %s (infinite and missing values are written \"Inf\", \"NaN\" "
            "and null)",
            e->text);
    }
}

static int read_value(struct data *d, const char *name, const json_t *j, const struct walk *at,
                      struct value *v, nami_err *err)
{
    struct json_path path;
    v->name = arena_strndup(&d->mem, name, strlen(name));
    if (!v->name) return err_nomem(err);
    int rc = json_shape(j, v, &path, err);
    if (rc && err) {
        struct walk w = *at;
        descend(&w, &path);
        err->line = w.line;
        err->col = column(&w);
    }
    if (rc) return rc;
    v->x = arena_array(&d->mem, double, v->n);
    if (!v->x) return err_nomem(err);
    json_numbers(j, v->x);
    return 0;
}

/* w is at the object's {, and afterwards behind its }. */
static int read_set(struct data *d, json_t *set, struct walk *w, nami_err *err)
{
    const char *name;
    json_t *j;
    int rc;
    if (!json_is_object(set))
        return err_at(
            err, NAMI_EINPUT, w->line, column(w),
            "a list of data sets must hold objects, such as {\"N\": 3, \"y\": [1, 2, 3]}");
    if (vec_push(&d->set, (struct dataset){0})) return err_nomem(err);
    struct dataset *s = &d->set.a[d->set.n - 1];
    step(w);
    blanks(w);
    json_object_foreach(set, name, j)
    {
        struct value v = {.line = w->line};
        if (!*name)
            return err_at(err, NAMI_EINPUT, w->line, column(w), "a name is empty; name the value");
        skip(w);
        if ((rc = read_value(d, name, j, w, &v, err))) return rc;
        if (vec_push(&s->value, v)) return err_nomem(err);
        skip(w);
    }
    step(w);
    return 0;
}

static int read_list(struct data *d, const json_t *list, struct walk *w, nami_err *err)
{
    json_t *set;
    size_t i;
    int rc = 0;
    step(w);
    blanks(w);
    json_array_foreach(list, i, set)
    {
        if ((rc = read_set(d, set, w, err))) return rc;
        blanks(w);
        if (i + 1 < json_array_size(list)) step(w); /* the comma */
        blanks(w);
    }
    step(w);
    return 0;
}

int data_json(struct data *d, const char *text, size_t len, nami_err *err)
{
    struct walk w = {.s = text, .end = text + len, .line0 = text, .line = 1};
    size_t before = d->set.n;
    struct json_why e;
    int rc = 0;
    if (memchr(text, 0, len))
        return err_set(err, NAMI_EINPUT, "there is a zero byte in JSON; is this a text file?");
    if (len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) w.s = w.line0 = text + 3;
    for (blanks(&w); w.s < w.end && !rc; blanks(&w)) {
        if (*w.s != '{' && *w.s != '[')
            return err_at(err, NAMI_EINPUT, w.line, column(&w),
                          "expected '{', found '%c'; JSON data are objects, such as "
                          "{\"N\": 3, \"y\": [1, 2, 3]}",
                          *w.s);
        json_t *root = json_read(
            w.s, (size_t)(w.end - w.s),
            JSON_REJECT_DUPLICATES | JSON_DISABLE_EOF_CHECK | JSON_DECODE_INT_AS_REAL, &e);
        if (!root) return syntax(&e, &w, err);
        rc = json_is_array(root) ? read_list(d, root, &w, err) : read_set(d, root, &w, err);
        json_decref(root);
    }
    if (!rc && d->set.n == before)
        rc = err_at(err, NAMI_EINPUT, 1, 1, "there is no data set in this list; give at least one");
    return rc;
}

void dataset_print(const struct dataset *d, struct str *out)
{
    str_put(out, "{");
    for (size_t i = 0; i < d->value.n; i++) {
        const struct value *v = &d->value.a[i];
        struct draws_var as = {.name = v->name, .ndim = v->ndim};
        memcpy(as.dim, v->dim, sizeof as.dim);
        if (i) str_put(out, ",");
        str_quote(out, v->name);
        str_put(out, ":");
        json_elements(out, &as, 0, v->x);
    }
    str_put(out, "}");
}
