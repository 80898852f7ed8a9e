/* data.c: data sets, independent of the file format. */
#include "data/data.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "data/data_impl.h"

/* R's NA: the payload 1954, and quiet, so that arithmetic keeps it. */
static const uint64_t MISSING = 0x7FF80000000007A2;

double value_missing(void)
{
    double x;
    memcpy(&x, &MISSING, sizeof x);
    return x;
}

int value_is_missing(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return isnan(x) && (uint32_t)bits == (uint32_t)MISSING;
}

const struct value *dataset_find(const struct dataset *d, const char *name, size_t len)
{
    for (size_t i = 0; i < d->value.n; i++) {
        const char *s = d->value.a[i].name;
        if (strncmp(s, name, len) == 0 && s[len] == 0) return &d->value.a[i];
    }
    return NULL;
}

static void cut(struct data *d, size_t n)
{
    for (size_t i = n; i < d->set.n; i++) vec_free(&d->set.a[i].value);
    if (n < d->set.n) d->set.n = n;
}

void data_free(struct data *d)
{
    if (!d) return;
    cut(d, 0);
    vec_free(&d->set);
    arena_free(&d->mem);
}

void column_walk_init(struct column_walk *w, int ndim, const int *dim)
{
    size_t n = 1;
    *w = (struct column_walk){.ndim = ndim, .dim = dim};
    for (int k = 0; k < ndim; k++) {
        w->step[k] = n;
        n *= (size_t)dim[k];
    }
}

void column_walk_next(struct column_walk *w)
{
    for (int k = w->ndim - 1; k >= 0; k--) {
        w->at += w->step[k];
        if (++w->sub[k] < w->dim[k]) return;
        w->at -= w->step[k] * (size_t)w->dim[k];
        w->sub[k] = 0;
    }
}

const char *element_path(char buf[PATH_MAX_LEN], const char *name, int n, const size_t *where)
{
    int len = snprintf(buf, PATH_MAX_LEN, "%.60s", name);
    for (int k = 0; k < n && len < PATH_MAX_LEN; k++)
        len +=
            snprintf(buf + len, (size_t)(PATH_MAX_LEN - len), "%s%zu", k ? "," : "[", where[k] + 1);
    if (n && len < PATH_MAX_LEN) snprintf(buf + len, (size_t)(PATH_MAX_LEN - len), "]");
    return buf;
}

const char *shape_text(char buf[PATH_MAX_LEN], int ndim, const int *dim)
{
    int len = snprintf(buf, PATH_MAX_LEN, "%s", ndim ? "" : "a single number");
    for (int k = 0; k < ndim && len < PATH_MAX_LEN; k++)
        len += snprintf(buf + len, (size_t)(PATH_MAX_LEN - len), "%s%d", k ? " x " : "", dim[k]);
    return buf;
}

/* ---- which format --------------------------------------------------------- */

typedef int reader(struct data *d, const char *text, size_t len, nami_err *err);

static reader *by_ending(const char *path)
{
    if (str_ends(path, strlen(path), ".json .jsonl .ndjson")) return data_json;
    return str_ends(path, strlen(path), ".R .r .dump") ? data_rdump : NULL;
}

/* JSON begins with a bracket, R with a name, a quote or a comment. */
static reader *by_content(const char *text, size_t len)
{
    size_t i = len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    while (i < len && strchr(" \t\r\n", text[i]) && text[i]) i++;
    if (i == len) return NULL;
    return text[i] == '{' || text[i] == '[' ? data_json : data_rdump;
}

static int parse(struct data *d, reader *read, const char *text, size_t len, nami_err *err)
{
    size_t before = d->set.n;
    reader *looks = by_content(text, len);
    if (!looks) return err_set(err, NAMI_EINPUT, "the data file is empty");
    int rc = (read ? read : looks)(d, text, len, err);
    if (rc) cut(d, before);
    return rc;
}

int data_parse(struct data *d, const char *text, size_t len, nami_err *err)
{
    err_clear(err);
    return parse(d, NULL, text, len, err);
}

/* Files of data in other formats, which would be taken for R. */
static int check_ending(const char *path, nami_err *err)
{
    static const char advice[] = "data files are JSON or R dumps; write each column or array as a "
                                 "list under its name: {\"x\": [1, 2], \"y\": [3, 4]}";
    size_t n = strlen(path);
    const char *what = str_ends(path, n, ".csv .tsv .csv.gz .CSV")   ? "a CSV table"
                       : str_ends(path, n, ".npy .npz .NPY .NPZ")    ? "a file of NumPy"
                       : str_ends(path, n, ".rds .RDS .RData .rda")  ? "a binary file of R"
                       : str_ends(path, n, ".nc .h5 .parquet .xlsx") ? "a binary file"
                                                                     : NULL;
    return what ? err_set(err, NAMI_EINPUT, "this is %s; %s", what, advice) : 0;
}

int data_read(struct data *d, const char *path, nami_err *err)
{
    struct str text = {0};
    err_clear(err);
    int rc = check_ending(path, err);
    if (!rc) rc = file_read(path, &text, err);
    if (!rc) rc = parse(d, by_ending(path), text.s, text.n, err);
    str_free(&text);
    return rc;
}

/* ---- files that go together ------------------------------------------------------ */

/* Adds the values of one data set to another; a name in both is an error. */
static int merge_set(struct dataset *to, const struct dataset *from, nami_err *err)
{
    for (size_t i = 0; i < from->value.n; i++) {
        const char *name = from->value.a[i].name;
        if (dataset_find(to, name, strlen(name)))
            return err_set(err, NAMI_EINPUT,
                           "%s is given in an earlier data file too; give it once", name);
        if (vec_push(&to->value, from->value.a[i])) return err_nomem(err);
    }
    return 0;
}

int data_join(struct data *d, size_t first, nami_err *err)
{
    size_t before = first, added = d->set.n - first;
    int rc = 0;
    if (!before || !added) return 0;
    if (before > 1 && added > 1)
        return err_set(err, NAMI_EINPUT,
                       "two data files with several data sets each; join them into one");
    size_t one = added == 1 ? before : 0,
           from = added == 1 ? 0 : 1; /* the single set, and the others */
    for (size_t i = 0; i < (added == 1 ? before : added) && !rc; i++)
        rc = merge_set(&d->set.a[from + i], &d->set.a[one], err);
    struct dataset gone = d->set.a[one];
    if (one == 0) memmove(d->set.a, d->set.a + 1, sizeof *d->set.a * (d->set.n - 1));
    d->set.n--;
    vec_free(&gone.value);
    return rc;
}

static int copy_value(struct data *to, struct value v, struct dataset *set)
{
    double *x = arena_array(&to->mem, double, v.n + 1);
    v.name = arena_strndup(&to->mem, v.name, strlen(v.name));
    if (!x || !v.name) return NAMI_ENOMEM;
    if (v.n) memcpy(x, v.x, sizeof *x * v.n);
    v.x = x;
    return vec_push(&set->value, v);
}

int data_copy(struct data *to, const struct data *from, nami_err *err)
{
    for (size_t s = 0; s < from->set.n; s++) {
        if (vec_push(&to->set, (struct dataset){0})) return err_nomem(err);
        for (size_t i = 0; i < from->set.a[s].value.n; i++)
            if (copy_value(to, from->set.a[s].value.a[i], &to->set.a[to->set.n - 1]))
                return err_nomem(err);
    }
    return 0;
}
