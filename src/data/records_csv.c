/* records_csv.c: a table with a header, as draws_csv.c writes them: a line for each observation, a
   column for each number.  RFC 4180, but nothing that has a line's end or a quote inside. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "data/data_impl.h"
#include "data/records_impl.h"

/* ---- fields ------------------------------------------------------------------------------ */

struct csv {
    const char *s, *end, *line0;
    int line, col; /* of the field */
    const char *t; /* the field, without blanks and quotes around it */
    size_t n;
    int last; /* of its line */
};

static void begin(struct csv *c, const char *text, size_t len)
{
    *c = (struct csv){.s = text, .end = text + len, .line = 1};
    if (len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) c->s += 3;
    c->line0 = c->s;
}

static int is_blank(char ch) { return ch == ' ' || ch == '\t' || ch == '\r'; }

/* Over lines that have nothing.  Returns 0 at the end. */
static int next_line(struct csv *c)
{
    for (const char *p = c->s; p < c->end; p++) {
        if (*p == '\n') {
            c->line++;
            c->s = c->line0 = p + 1;
        } else if (!is_blank(*p)) {
            return 1;
        }
    }
    return 0;
}

static int field(struct csv *c, nami_err *err)
{
    const char *p = c->s, *stop;
    while (p < c->end && is_blank(*p)) p++;
    int quoted = p < c->end && *p == '"';
    c->col = p - c->line0 < INT_MAX ? (int)(p - c->line0) + 1 : INT_MAX;
    c->t = p += quoted;
    while (p < c->end && *p != '\n' && (quoted ? *p != '"' : *p != ',')) p++;
    stop = p;
    if (quoted && p < c->end && *p == '"')
        for (p++; p < c->end && is_blank(*p);) p++;
    else if (quoted)
        return err_at(err, NAMI_EINPUT, c->line, c->col, "this has no closing quote on its line");
    else
        while (stop > c->t && is_blank(stop[-1])) stop--;
    if (p < c->end && *p != ',' && *p != '\n')
        return err_at(err, NAMI_EINPUT, c->line, c->col, "expected a comma behind the quotes");
    c->n = (size_t)(stop - c->t);
    c->last = p == c->end || *p == '\n';
    c->s = p + (p < c->end && *p == ',');
    return 0;
}

/* ---- the header --------------------------------------------------------------------------------
 */

/* Columns of one array. */
struct heading {
    int ndim, dim[MAX_DIM], any;
    size_t ncol;
    vec(int) sub;      /* MAX_DIM for each of its columns */
    vec(size_t) which; /* these columns */
    size_t *to;        /* the element that each of them is */
};

/* The subscripts of name[2,3]: their number; -1 if it is another column. */
static int subscripts(const struct csv *c, const char *name, int sub[MAX_DIM])
{
    size_t n = strlen(name), i = n;
    int k = 0;
    if (c->n < n || memcmp(c->t, name, n) != 0) return -1;
    if (c->n == n) return 0;
    do {
        long x = 0;
        if (k == MAX_DIM || c->t[i++] != (k ? ',' : '[')) return -1;
        while (i < c->n && c->t[i] == ' ') i++;
        size_t from = i;
        while (i < c->n && c->t[i] >= '0' && c->t[i] <= '9' && x < 100000000)
            x = x * 10 + (c->t[i++] - '0');
        if (i == from || i == c->n || x < 1) return -1;
        sub[k++] = (int)x;
    } while (c->t[i] != ']');
    return i + 1 == c->n ? k : -1;
}

static int add_column(struct heading *h, const struct csv *c, const char *name, nami_err *err)
{
    int sub[MAX_DIM] = {0}, k = subscripts(c, name, sub);
    if (k < 0) return 0;
    if (h->any && k != h->ndim)
        return err_at(err, NAMI_EINPUT, c->line, c->col,
                      "'%.60s' has %d subscripts here, but %d before", name, k, h->ndim);
    h->any = 1;
    h->ndim = k;
    for (int i = 0; i < MAX_DIM; i++)
        if (vec_push(&h->sub, sub[i])) return err_nomem(err);
    for (int i = 0; i < k; i++)
        if (sub[i] > h->dim[i]) h->dim[i] = sub[i];
    return vec_push(&h->which, h->ncol) ? err_nomem(err) : 0;
}

/* From 1 to the largest, each once. */
static int place_columns(struct heading *h, const char *name, nami_err *err)
{
    char path[PATH_MAX_LEN];
    size_t n = h->which.n, all = 1, at, where[MAX_DIM];
    for (int k = 0; k < h->ndim; k++) /* more than there are is enough to know */
        all = all > n ? all : all * (size_t)h->dim[k];
    unsigned char *seen = new_array(unsigned char, n);
    h->to = raw_array(size_t, n);
    int rc = seen && h->to ? 0 : err_nomem(err);
    for (size_t i = 0; i < n && !rc; i++) {
        const int *sub = h->sub.a + i * MAX_DIM;
        at = 0;
        for (int k = 0; k < h->ndim && at < n; k++)
            at = at * (size_t)h->dim[k] + (size_t)sub[k] - 1;
        h->to[i] = at;
        for (int k = 0; k < h->ndim; k++) where[k] = (size_t)sub[k] - 1;
        if (at < n && seen[at]++)
            rc = err_at(err, NAMI_EINPUT, 1, 1, "the column '%s' comes twice",
                        element_path(path, name, h->ndim, where));
    }
    if (!rc && all != n) { /* then one of the first n is missing */
        for (at = 0; at < n && seen[at];) at++;
        for (int k = h->ndim - 1; k >= 0; k--) {
            where[k] = at % (size_t)h->dim[k];
            at /= (size_t)h->dim[k];
        }
        rc = err_at(err, NAMI_EINPUT, 1, 1, "there is no column '%s', but others of '%.60s'",
                    element_path(path, name, h->ndim, where), name);
    }
    free(seen);
    return rc;
}

static int read_header(struct heading *h, struct csv *c, const char *name, nami_err *err)
{
    int rc = next_line(c) ? 0 : err_set(err, NAMI_EINPUT, "the file is empty");
    do {
        if (rc || (rc = field(c, err)) || (rc = add_column(h, c, name, err))) return rc;
        h->ncol++;
    } while (!c->last);
    if (!h->any)
        return err_at(err, NAMI_EINPUT, c->line, 1,
                      "the header names no column '%.60s' or '%.60s[1]'", name, name);
    return place_columns(h, name, err);
}

/* ---- numbers ----------------------------------------------------------------------------------
 */

static int is_word(const struct csv *c, const char *words)
{
    for (size_t k; *words; words += k + (words[k] == ' ')) {
        k = strcspn(words, " ");
        if (c->n == k && memcmp(c->t, words, k) == 0) return 1;
    }
    return 0;
}

static int number(const struct csv *c, double *x, nami_err *err)
{
    char buf[64], *stop = buf;
    *x = 0;
    if (c->n && c->n <= 3) { /* most are bytes */
        size_t i = 0;
        while (i < c->n && c->t[i] >= '0' && c->t[i] <= '9') *x = *x * 10 + (c->t[i++] - '0');
        if (i == c->n) return 0;
    }
    if (!c->n || is_word(c, "NA NaN nan null")) {
        *x = value_missing();
    } else if (is_word(c, "Inf inf +Inf")) {
        *x = INFINITY;
    } else if (is_word(c, "-Inf -inf")) {
        *x = -INFINITY;
    } else {
        size_t n = c->n < sizeof buf ? c->n : 0;
        memcpy(buf, c->t, n);
        buf[n] = 0;
        if (n && strspn(buf, "0123456789+-.eE") == n) *x = strtod(buf, &stop);
        if (!n || stop != buf + n || !isfinite(*x))
            return err_at(err, NAMI_EINPUT, c->line, c->col,
                          "'%.*s' is no number; leave out, or write NA, what is missing",
                          c->n < 40 ? (int)c->n : 40, c->t);
    }
    return 0;
}

static int read_line(struct records *r, const struct heading *h, struct csv *c, size_t i,
                     nami_err *err)
{
    size_t col = 0, next = 0;
    do {
        double x;
        int rc = field(c, err);
        if (rc) return rc;
        if (next < h->which.n && h->which.a[next] == col) {
            if ((rc = number(c, &x, err))) return rc;
            if (records_put(r, i * r->k + h->to[next++], x)) return err_nomem(err);
        }
        col++;
    } while (!c->last);
    if (col == h->ncol) return 0;
    return err_at(err, NAMI_EINPUT, c->line, 1, "this line has %zu fields, but the header %zu", col,
                  h->ncol);
}

static size_t count_lines(struct csv c)
{
    size_t n = 0;
    while (next_line(&c)) {
        const char *stop = memchr(c.s, '\n', (size_t)(c.end - c.s));
        c.s = stop ? stop : c.end;
        n++;
    }
    return n;
}

/* ---- all ---------------------------------------------------------------------------------- */

static int looks(const char *text, size_t len)
{
    for (size_t i = 0; i < len && i < 512; i++)
        if ((unsigned char)text[i] < 32 && text[i] != '\t' && text[i] != '\r' && text[i] != '\n')
            return 0;
    return len > 0;
}

static int parse(struct records *r, const char *text, size_t len, const char *name, nami_err *err)
{
    struct csv c;
    struct heading h = {0};
    begin(&c, text, len);
    int rc = read_header(&h, &c, name, err);
    if (!rc) {
        /* Lines have a byte for each field: if there are more lines, one of the first is short. */
        size_t n = count_lines(c), most = len / h.ncol + 1;
        rc = records_make(r, n < most ? n : most, h.ndim, h.dim, name, err);
    }
    for (size_t i = 0; i < r->n && !rc; i++) {
        next_line(&c);
        rc = read_line(r, &h, &c, i, err);
    }
    vec_free(&h.sub);
    vec_free(&h.which);
    free(h.to);
    return rc;
}

const struct records_format records_csv = {
    .name = "csv",
    .ending = ".csv",
    .what = "a line for each observation, with a header: y, x[1], \"m[2,3]\"",
    .named = 1,
    .looks = looks,
    .parse = parse,
};
