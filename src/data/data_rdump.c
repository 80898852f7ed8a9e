/* data_rdump.c: data as R's dump() writes them and JAGS and WinBUGS read them.

   "x" <- c(1, 2, NA)
   m <- structure(c(1, 2, 3, 4, 5, 6), .Dim = c(2L, 3L))
   list(N = 3, y = structure(.Data = c(1, 2, 3, 4), .Dim = c(2, 2)))

   Values, not computations: numbers, ranges, and the functions of rcall.c.  R's
   arrays are column-major; .Data inside list() is WinBUGS's, and row-major.  All statements
   and lists of a file make one data set. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "data/data_impl.h"
#include "data/rcall.h"

enum { MAX_DEPTH = 64 };

#define bad_at(p, line, col, ...) err_at((p)->err, NAMI_EINPUT, line, col, __VA_ARGS__)

/* ---- values ----------------------------------------------------------------- */

static int constant(const struct rlex *r, double *x)
{
    static const struct {
        const char *name;
        double x;
    } table[] = {{"TRUE", 1},
                 {"FALSE", 0},
                 {"T", 1},
                 {"F", 0},
                 {"Inf", __builtin_inf()},
                 {"NaN", __builtin_nan("")}};
    static const char *const missing[] = {"NA", "NA_real_", "NA_integer_"};
    for (int i = 0; i < 3; i++)
        if (rlex_is(r, missing[i])) {
            *x = value_missing();
            return 1;
        }
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (rlex_is(r, table[i].name)) {
            *x = table[i].x;
            return 1;
        }
    return 0;
}

/* A number, NA, c(...), structure(...), (1:3) */
static int primary(struct rdump *p, struct shape *s)
{
    struct rlex at = p->r;
    double x = at.x;
    int rc, n = at.n > 40 ? 40 : (int)at.n;
    *s = (struct shape){0};
    if (at.tok == R_NUMBER || constant(&at, &x)) {
        rlex_next(&p->r);
        return vec_push(&p->x, x) ? err_nomem(p->err) : 0;
    }
    if (rlex_accept(&p->r, "(")) return (rc = rdump_expr(p, s)) ? rc : rdump_expect(p, "')'", ")");
    if (at.tok == R_STRING)
        return bad_at(
            p, at.tline, at.tcol,
            "'%.*s' is text, but data are numbers; code categories as 1, 2, ... and write "
            "NA for missing",
            n, at.t);
    if (at.tok != R_NAME) return rlex_error(&at, "a number", p->err);
    rlex_next(&p->r);
    if (rlex_is(&at, "list") && rlex_is(&p->r, "("))
        return bad_at(p, at.tline, at.tcol,
                      "a list inside a value; give each of its parts a name of its own");
    if (rlex_accept(&p->r, "(")) return rdump_call(p, at.t, at.n, at.tline, at.tcol, s);
    return bad_at(p, at.tline, at.tcol,
                  "expected a number, found '%.*s'; values cannot refer to other names", n, at.t);
}

/* -x binds closer than 1:n, as in R. */
static int signed_primary(struct rdump *p, struct shape *s)
{
    int minus = 0;
    size_t from = p->x.n;
    while (rlex_is(&p->r, "-") || rlex_is(&p->r, "+")) {
        minus ^= rlex_is(&p->r, "-");
        rlex_next(&p->r);
    }
    int rc = primary(p, s);
    for (size_t i = from; i < p->x.n && minus && !rc; i++)
        if (!value_is_missing(p->x.a[i])) p->x.a[i] = -p->x.a[i];
    return rc;
}

/* a:b, with a at p->x.a[from]; the colon is the current token. */
static int range(struct rdump *p, size_t from, struct shape *s)
{
    int line = p->r.tline, col = p->r.tcol, rc;
    rlex_next(&p->r);
    if ((rc = signed_primary(p, s))) return rc;
    double a = p->x.n == from + 2 ? p->x.a[from] : __builtin_nan("");
    double b = p->x.n == from + 2 ? p->x.a[from + 1] : a, n = floor(fabs(b - a) + 1e-10) + 1;
    if (!isfinite(a) || !isfinite(b))
        return bad_at(p, line, col, "a range needs a number on either side, as in 1:10");
    p->x.n = from;
    if ((rc = rdump_room(p, n))) return rc;
    for (size_t i = 0; i < (size_t)n; i++)
        p->x.a[p->x.n++] = a <= b ? a + (double)i : a - (double)i;
    *s = (struct shape){.ndim = 1, .dim = {(int)n}};
    return 0;
}

int rdump_expr(struct rdump *p, struct shape *s)
{
    size_t from = p->x.n;
    if (p->depth++ > MAX_DEPTH)
        return bad_at(p, p->r.tline, p->r.tcol, "brackets are nested more than %d deep", MAX_DEPTH);
    int rc = signed_primary(p, s);
    while (!rc && rlex_is(&p->r, ":")) rc = range(p, from, s);
    p->depth--;
    return rc;
}

/* ---- statements --------------------------------------------------------------- */

/* The value behind `name <-`. */
static int add(struct rdump *p, const struct rlex *name)
{
    struct value v = {.line = name->tline};
    struct shape s;
    int show = name->n > 60 ? 60 : (int)name->n;
    const struct value *twice = dataset_find(p->set, name->t, name->n);
    if (twice)
        return bad_at(p, name->tline, name->tcol,
                      "'%.*s' is given twice, first in line %d; keep one of the two values", show,
                      name->t, twice->line);
    p->x.n = 0;
    int rc = rdump_expr(p, &s);
    if (rc) return rc;
    if (p->x.n > INT_MAX)
        return err_at(p->err, NAMI_ELIMIT, name->tline, name->tcol,
                      "'%.*s' has more than %d elements", show, name->t, INT_MAX);
    v.n = p->x.n;
    v.ndim = s.ndim;
    memcpy(v.dim, s.dim, sizeof v.dim);
    v.name = arena_strndup(&p->d->mem, name->t, name->n);
    v.x = arena_array(&p->d->mem, double, v.n);
    if (!v.name || !v.x) return err_nomem(p->err);
    struct column_walk w;
    column_walk_init(&w, v.ndim, v.dim);
    for (size_t i = 0; i < v.n; i++, column_walk_next(&w)) v.x[i] = p->x.a[s.row_major ? i : w.at];
    return vec_push(&p->set->value, v) ? err_nomem(p->err) : 0;
}

/* The name of a value: x, "x", 'x', `x`. */
static int name_token(struct rdump *p, struct rlex *name, const char *expected)
{
    *name = p->r;
    if ((name->tok != R_NAME && name->tok != R_STRING)) return rlex_error(name, expected, p->err);
    if (name->n == 0 || memchr(name->t, '\\', name->n))
        return bad_at(p, name->tline, name->tcol,
                      "a name is empty or has a backslash; use letters, digits, '.' and '_'");
    rlex_next(&p->r);
    return 0;
}

/* list(a = 1, b = c(2, 3)); the current token is behind the bracket. */
static int list(struct rdump *p)
{
    struct rlex name;
    int rc;
    p->in_list = 1;
    while (!rlex_is(&p->r, ")")) {
        if ((rc = name_token(p, &name, "a name in list(name = value, ...)"))) return rc;
        if ((rc = rdump_expect(p, "'=' after a name in list()", "="))) return rc;
        if ((rc = add(p, &name))) return rc;
        if (rlex_is(&p->r, ")")) break;
        if ((rc = rdump_expect(p, "',' or ')'", ","))) return rc;
    }
    p->in_list = 0;
    rlex_next(&p->r);
    return 0;
}

static int statement(struct rdump *p)
{
    struct rlex name, at;
    int rc = name_token(p, &name, "name <- value (NaMI reads values, not computations)");
    if (rc) return rc;
    if (rlex_is(&name, "list") && rlex_accept(&p->r, "(")) return list(p);
    if (rlex_is(&p->r, "["))
        return bad_at(p, p->r.tline, p->r.tcol,
                      "tables with headings x[], y[] are not read; write list(x = c(...), ...)");
    if (p->r.tok != R_ASSIGN) return rlex_error(&p->r, "'<-' after a name", p->err);
    rlex_next(&p->r);
    at = p->r;
    if (rlex_accept(&p->r, "list")) { /* data <- list(...): its parts are what counts */
        if (rlex_accept(&p->r, "(")) return list(p);
        p->r = at;
    }
    return add(p, &name);
}

int data_rdump(struct data *d, const char *text, size_t len, nami_err *err)
{
    struct rdump p = {.d = d, .err = err};
    int rc = 0;
    if (vec_push(&d->set, (struct dataset){0})) return err_nomem(err);
    p.set = &d->set.a[d->set.n - 1];
    rlex_init(&p.r, text, len);
    while (!rc && p.r.tok != R_END)
        if (!rlex_accept(&p.r, ";")) rc = statement(&p);
    if (!rc && p.set->value.n == 0)
        rc = err_at(err, NAMI_EINPUT, 1, 1, "there are no data here; write name <- value");
    vec_free(&p.x);
    return rc;
}
