/* rcall.c: the functions of R that data files use. */
#include "data/rcall.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/err.h"
#include "data/data_impl.h"

/* What rep(), ranges and the like may make in one file: a few words must not fill the memory.
   (Fuzzing sets less.) */
#ifndef RDUMP_MAX_MADE
#define RDUMP_MAX_MADE (1 << 25)
#endif

#define bad_at(p, line, col, ...) err_at((p)->err, NAMI_EINPUT, line, col, __VA_ARGS__)

int rdump_expect(struct rdump *p, const char *what, const char *text)
{
    return rlex_accept(&p->r, text) ? 0 : rlex_error(&p->r, what, p->err);
}

static int push(struct rdump *p, double x) { return vec_push(&p->x, x) ? err_nomem(p->err) : 0; }

/* Room for n more elements that the text does not spell out. */
int rdump_room(struct rdump *p, double n)
{
    if (!(n <= (double)(RDUMP_MAX_MADE - p->made)))
        return err_at(p->err, NAMI_ELIMIT, p->r.tline, p->r.tcol,
                      "rep() and ranges may make %d elements in one file; write JSON instead",
                      RDUMP_MAX_MADE);
    p->made += (size_t)n;
    return vec_reserve(&p->x, p->x.n + (size_t)n) ? err_nomem(p->err) : 0;
}

/* ---- arguments ---------------------------------------------------------------- */

int rdump_named(struct rdump *p, const char **name, size_t *n)
{
    struct rlex save = p->r;
    *n = 0;
    if (p->r.tok != R_NAME && p->r.tok != R_STRING) return 0;
    *name = p->r.t;
    *n = p->r.n;
    rlex_next(&p->r);
    if (rlex_accept(&p->r, "=")) return 1;
    p->r = save;
    *n = 0;
    return 0;
}

static int is(const char *name, size_t n, const char *text)
{
    return strlen(text) == n && memcmp(name, text, n) == 0;
}

/* Which of `names` (space-separated) is it, from 0; or -1. */
static int which(const char *name, size_t n, const char *names)
{
    for (int i = 0; *names; i++) {
        size_t k = strcspn(names, " ");
        if (k == n && memcmp(name, names, n) == 0) return i;
        names += k + (names[k] == ' ');
    }
    return -1;
}

/* An argument nobody needs: everything to the next comma or bracket of this level. */
static int skip(struct rdump *p)
{
    for (int depth = 0;; rlex_next(&p->r)) {
        if (p->r.tok == R_END || p->r.tok == R_BAD) return rlex_error(&p->r, "')'", p->err);
        if (depth == 0 && (rlex_is(&p->r, ",") || rlex_is(&p->r, ")"))) return 0;
        if (rlex_is(&p->r, "(")) depth++;
        if (rlex_is(&p->r, ")")) depth--;
    }
}

/* A whole number from 0, as the argument `what`. */
static int count(struct rdump *p, const char *what, int *out)
{
    struct shape s;
    int line = p->r.tline, col = p->r.tcol;
    size_t from = p->x.n;
    int rc = rdump_expr(p, &s);
    if (rc) return rc;
    double x = p->x.n == from + 1 ? p->x.a[from] : -1;
    p->x.n = from;
    if (!(x >= 0 && x <= INT_MAX && x == floor(x)))
        return bad_at(p, line, col, "%s must be one whole number from 0 to %d", what, INT_MAX);
    *out = (int)x;
    return 0;
}

/* c(2, 3) as dimensions. */
static int dims(struct rdump *p, struct shape *s)
{
    struct shape ignored;
    int line = p->r.tline, col = p->r.tcol;
    size_t from = p->x.n;
    int rc = rdump_expr(p, &ignored);
    if (rc) return rc;
    size_t n = p->x.n - from;
    p->x.n = from;
    if (n < 1 || n > MAX_DIM)
        return bad_at(p, line, col, "an array has 1 to %d dimensions, not %zu", MAX_DIM, n);
    for (size_t k = 0; k < n; k++) {
        double x = p->x.a[from + k];
        if (!(x >= 0 && x <= INT_MAX && x == floor(x)))
            return bad_at(p, line, col, "dimension %zu must be a whole number from 0 to %d", k + 1,
                          INT_MAX);
        s->dim[k] = (int)x;
    }
    s->ndim = (int)n;
    return 0;
}

/* Do the elements from `from` on fill the shape? */
static int fits(struct rdump *p, size_t from, const struct shape *s, int line, int col)
{
    char buf[PATH_MAX_LEN];
    double need = 1;
    for (int k = 0; k < s->ndim; k++) need *= s->dim[k];
    if (need == (double)(p->x.n - from)) return 0;
    return bad_at(p, line, col, "an array of %s needs %.0f values, but there are %zu",
                  shape_text(buf, s->ndim, s->dim), need, p->x.n - from);
}

/* ---- functions ------------------------------------------------------------------ */

static void vector(struct rdump *p, size_t from, struct shape *s)
{
    size_t n = p->x.n - from;
    *s = (struct shape){.ndim = 1, .dim = {n > INT_MAX ? INT_MAX : (int)n}};
}

/* c(1, 2, c(3), x = 4) */
static int f_c(struct rdump *p, struct shape *s)
{
    size_t from = p->x.n, n;
    const char *name;
    struct shape part;
    int rc;
    while (!rlex_is(&p->r, ")")) {
        rdump_named(p, &name, &n);
        if ((rc = rdump_expr(p, &part))) return rc;
        if (rlex_is(&p->r, ")")) break;
        if ((rc = rdump_expect(p, "',' or ')'", ","))) return rc;
    }
    vector(p, from, s);
    return 0;
}

static int f_as_number(struct rdump *p, struct shape *s)
{
    size_t from = p->x.n;
    int rc = rdump_expr(p, s);
    int scalar = s->ndim == 0;
    if (!rc) vector(p, from, s);
    if (scalar) s->ndim = 0;
    return rc;
}

static int f_as_integer(struct rdump *p, struct shape *s)
{
    size_t from = p->x.n;
    int rc = f_as_number(p, s);
    for (size_t i = from; i < p->x.n && !rc; i++)
        if (!isnan(p->x.a[i])) p->x.a[i] = trunc(p->x.a[i]);
    return rc;
}

/* structure(c(...), .Dim = c(2, 3)) */
static int f_structure(struct rdump *p, struct shape *s)
{
    static const char *const ignored = ".Dimnames dimnames .Names names class .Label levels .Tsp "
                                       "tsp row.names comment";
    int line = p->r.tline, col = p->r.tcol, have = 0, rc;
    size_t from = p->x.n, n;
    const char *name;
    struct shape dim = {0}, data = {0};
    do {
        int nline = p->r.tline, ncol = p->r.tcol, is_named = rdump_named(p, &name, &n);
        if (!is_named || is(name, n, ".Data")) {
            if (have++) return bad_at(p, nline, ncol, "structure() has its values already");
            rc = rdump_expr(p, &data);
            data.row_major = is_named && p->in_list;
        } else if (is(name, n, ".Dim") || is(name, n, "dim")) {
            rc = dims(p, &dim);
        } else if (which(name, n, ignored) >= 0) {
            rc = skip(p);
        } else {
            rc = bad_at(p, nline, ncol,
                        "structure() has no argument '%.*s'; the dimensions are .Dim",
                        (int)(n > 40 ? 40 : n), name);
        }
        if (rc) return rc;
    } while (rlex_accept(&p->r, ","));
    if (!have)
        return bad_at(p, line, col, "structure() has no values; write structure(c(...), ...)");
    *s = data;
    if (!dim.ndim) return 0;
    dim.row_major = data.row_major;
    *s = dim;
    return fits(p, from, s, line, col);
}

/* Repeats what was appended from `from` on until there are n elements. */
static int recycle(struct rdump *p, size_t from, double n)
{
    size_t k = p->x.n - from;
    if (n <= (double)k) {
        p->x.n = from + (size_t)n;
        return 0;
    }
    if (k == 0) return bad_at(p, p->r.tline, p->r.tcol, "there is nothing to repeat");
    int rc = rdump_room(p, n - (double)k);
    if (rc) return rc;
    for (size_t i = k; i < (size_t)n; i++) p->x.a[from + i] = p->x.a[from + i - k];
    p->x.n = from + (size_t)n;
    return 0;
}

static int repeat_each(struct rdump *p, size_t from, int each)
{
    size_t k = p->x.n - from, n = k * (size_t)each;
    int rc = rdump_room(p, (double)k * each);
    if (rc) return rc;
    for (size_t i = n; i-- > 0;) p->x.a[from + i] = p->x.a[from + i / (size_t)each];
    p->x.n = from + n;
    return 0;
}

/* rep(x, times), rep(x, each = , times = , length.out = ) */
static int f_rep(struct rdump *p, struct shape *s)
{
    static const char *const names = "times length.out each";
    size_t from = p->x.n, n;
    const char *name;
    int v[3] = {1, -1, 1}, k, rc, nargs = 0;
    if (rdump_named(p, &name, &n) && !is(name, n, "x"))
        return bad_at(p, p->r.tline, p->r.tcol, "the first argument of rep() must be the values");
    if ((rc = rdump_expr(p, s))) return rc;
    while (rlex_accept(&p->r, ",")) {
        k = rdump_named(p, &name, &n) ? which(name, n, names) : nargs;
        if (k < 0 || k > 2) return rlex_error(&p->r, "times, each or length.out of rep()", p->err);
        if ((rc = count(p, "times, each and length.out of rep()", &v[k]))) return rc;
        nargs++;
    }
    if (v[2] != 1 && (rc = repeat_each(p, from, v[2]))) return rc;
    double len = (double)(p->x.n - from);
    if ((rc = recycle(p, from, v[1] >= 0 ? v[1] : len * v[0]))) return rc;
    vector(p, from, s);
    return 0;
}

/* matrix(c(...), nrow = 2, ncol = 3, byrow = TRUE) */
static int f_matrix(struct rdump *p, struct shape *s)
{
    static const char *const names = "data nrow ncol byrow dimnames";
    int line = p->r.tline, col = p->r.tcol, v[4] = {0, -1, -1, 0}, rc = 0, have = 0, nargs = 0;
    size_t from = p->x.n, n;
    const char *name;
    do {
        int k = rdump_named(p, &name, &n) ? which(name, n, names) : nargs;
        if (k < 0 || k > 4 || (k == 0 && have))
            return rlex_error(&p->r, "data, nrow, ncol or byrow of matrix()", p->err);
        if (k == 0) have = 1;
        rc = k == 0   ? rdump_expr(p, s)
             : k == 4 ? skip(p)
                      : count(p, "nrow, ncol and byrow of matrix()", &v[k]);
        if (rc) return rc;
        nargs++;
    } while (rlex_accept(&p->r, ","));
    if (!have)
        return bad_at(p, line, col, "matrix() has no values; write matrix(c(...), nrow = ...)");
    double len = (double)(p->x.n - from);
    if (v[1] < 0 && v[2] < 0) v[2] = 1;
    if (v[1] < 0) v[1] = v[2] ? (int)fmin(ceil(len / v[2]), INT_MAX) : 0;
    if (v[2] < 0) v[2] = v[1] ? (int)fmin(ceil(len / v[1]), INT_MAX) : 0;
    *s = (struct shape){.ndim = 2, .dim = {v[1], v[2]}, .row_major = v[3] != 0};
    if (len == 1 && (rc = recycle(p, from, (double)v[1] * v[2]))) return rc;
    return fits(p, from, s, line, col);
}

/* array(c(...), dim = c(2, 3)) */
static int f_array(struct rdump *p, struct shape *s)
{
    int line = p->r.tline, col = p->r.tcol, rc, nargs = 0;
    size_t from = p->x.n, n;
    const char *name;
    struct shape dim = {0};
    do {
        int k = rdump_named(p, &name, &n) ? which(name, n, "data dim dimnames") : nargs;
        if (k != nargs) return rlex_error(&p->r, "array(data, dim)", p->err);
        rc = k == 0 ? rdump_expr(p, s) : k == 1 ? dims(p, &dim) : skip(p);
        if (rc) return rc;
        nargs++;
    } while (rlex_accept(&p->r, ","));
    if (!dim.ndim) return bad_at(p, line, col, "array() needs its dim, as in dim = c(2, 3)");
    *s = dim;
    double need = 1;
    for (int k = 0; k < s->ndim; k++) need *= s->dim[k];
    if (p->x.n - from == 1 && (rc = recycle(p, from, need))) return rc;
    return fits(p, from, s, line, col);
}

/* integer(0) */
static int f_zeros(struct rdump *p, struct shape *s)
{
    size_t from = p->x.n;
    int n = 0, rc = rlex_is(&p->r, ")") ? 0 : count(p, "the length", &n);
    if (!rc) rc = push(p, 0);
    if (!rc) rc = recycle(p, from, n);
    if (!rc) vector(p, from, s);
    return rc;
}

int rdump_call(struct rdump *p, const char *name, size_t n, int line, int col, struct shape *s)
{
    static const struct {
        const char *name;
        int (*f)(struct rdump *p, struct shape *s);
    } table[] = {{"c", f_c},
                 {"structure", f_structure},
                 {"as.integer", f_as_integer},
                 {"as.numeric", f_as_number},
                 {"as.double", f_as_number},
                 {"as.vector", f_as_number},
                 {"rep", f_rep},
                 {"matrix", f_matrix},
                 {"array", f_array},
                 {"integer", f_zeros},
                 {"numeric", f_zeros}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (!is(name, n, table[i].name)) continue;
        int rc = table[i].f(p, s);
        return rc ? rc : rdump_expect(p, "',' or ')'", ")");
    }
    return bad_at(p, line, col,
                  "NaMI does not know %.*s(); data files hold values: c(), structure(), matrix(), "
                  "array(), rep(), ranges and numbers",
                  (int)(n > 40 ? 40 : n), name);
}
