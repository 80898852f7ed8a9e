/* json_value.c: nested JSON lists to arrays of numbers in row-major order, with their shape
   checked. */
#include "data/json_value.h"

#include <limits.h>
#include <string.h>

#include "base/err.h"
#include "data/data_impl.h"

static int special(const json_t *j, double *x)
{
    static const struct {
        const char *text;
        double x;
    } table[] = {{"NaN", __builtin_nan("")},     {"Inf", __builtin_inf()},
                 {"+Inf", __builtin_inf()},      {"-Inf", -__builtin_inf()},
                 {"Infinity", __builtin_inf()},  {"+Infinity", __builtin_inf()},
                 {"-Infinity", -__builtin_inf()}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(json_string_value(j), table[i].text) == 0) {
            *x = table[i].x;
            return 1;
        }
    return 0;
}

static int number(const json_t *j, double *x)
{
    switch (json_typeof(j)) {
    case JSON_REAL:
    case JSON_INTEGER: *x = json_number_value(j); return 1;
    case JSON_TRUE: *x = 1; return 1;
    case JSON_FALSE: *x = 0; return 1;
    case JSON_NULL: *x = value_missing(); return 1;
    case JSON_STRING: return special(j, x);
    default: return 0;
    }
}

static const char *kind(const json_t *j) { return json_is_array(j) ? "a list" : "a number"; }

static int not_number(const json_t *j, const char *path, nami_err *err)
{
    if (json_is_object(j))
        return err_set(err, NAMI_EINPUT,
                       "%s is an object, but data are numbers and lists of numbers; give each part "
                       "a name of its own",
                       path);
    if (strcmp(json_string_value(j), "NA") == 0)
        return err_set(err, NAMI_EINPUT, "%s is \"NA\"; a missing value is written null", path);
    return err_set(
        err, NAMI_EINPUT,
        "%s is the text \"%.40s\", but data are numbers; code categories as 1, 2, ... and "
        "write \"Inf\", \"-Inf\", \"NaN\" or null (missing)",
        path, json_string_value(j));
}

/* Is j, at *at, like the first element of its level? */
static int check(const json_t *j, const struct value *v, struct json_path *at, nami_err *err)
{
    char path[PATH_MAX_LEN], first[PATH_MAX_LEN];
    static const size_t zero[MAX_DIM + 1] = {0};
    double x;
    int depth = at->n;
    size_t i;
    json_t *e;
    if (json_is_object(j) || (!json_is_array(j) && !number(j, &x)))
        return not_number(j, element_path(path, v->name, depth, at->sub), err);
    if (json_is_array(j) != (depth < v->ndim))
        return err_set(err, NAMI_EINPUT, "%s is %s, but %s is %s; elements must be alike",
                       element_path(path, v->name, depth, at->sub), kind(j),
                       element_path(first, v->name, depth, zero),
                       depth < v->ndim ? "a list" : "a number");
    if (depth == v->ndim) return 0;
    if (json_array_size(j) != (size_t)v->dim[depth])
        return err_set(
            err, NAMI_EINPUT,
            "%s has length %zu, but %s has length %d; lists must be equally long (fill up "
            "with null)",
            element_path(path, v->name, depth, at->sub), json_array_size(j),
            element_path(first, v->name, depth, zero), v->dim[depth]);
    at->n++;
    json_array_foreach(j, i, e)
    {
        at->sub[depth] = i;
        int rc = check(e, v, at, err);
        if (rc) return rc;
    }
    at->n--;
    return 0;
}

int json_shape(const json_t *j, struct value *v, struct json_path *at, nami_err *err)
{
    *at = (struct json_path){0};
    v->ndim = 0;
    for (const json_t *e = j; json_is_array(e); e = json_array_get(e, 0)) {
        if (v->ndim == MAX_DIM)
            return err_set(err, NAMI_EINPUT, "%.60s has more than %d dimensions, NaMI's limit",
                           v->name, MAX_DIM);
        if (json_array_size(e) > INT_MAX)
            return err_set(err, NAMI_ELIMIT, "%.60s is longer than %d", v->name, INT_MAX);
        v->dim[v->ndim++] = (int)json_array_size(e);
    }
    int rc = check(j, v, at, err);
    v->n = 1;
    for (int k = 0; k < v->ndim && !rc; k++) v->n *= (size_t)v->dim[k];
    return rc;
}

static double *fill(const json_t *j, double *x)
{
    size_t i;
    json_t *e;
    if (!json_is_array(j)) {
        number(j, x);
        return x + 1;
    }
    json_array_foreach(j, i, e) x = fill(e, x);
    return x;
}

void json_numbers(const json_t *j, double *x) { fill(j, x); }
