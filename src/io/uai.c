/* uai.c: the format of the UAI inference competitions, Bayesian networks only.

       BAYES
       3                   variables
       2 2 3               their numbers of states
       3                   factors, one for each variable
       1 0                 a scope: how many, then which; the last is the child
       2 0 1
       2 1 2
       2 0.4 0.6           a table: how many, then the numbers, in the order of
       4 ...               struct cpt: the last variable of the scope fastest

   There are no names; the variables become x0, x1, ...  A file that ends after
   the scopes is a structure without tables. */

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "io/format.h"
#include "io/scan.h"
#include "io/table.h"

static const struct scan_rules RULES = {.word = ".+-"};

/* Of one variable: a claim that no text backs, and that other formats spell out. */
enum { STATES_MAX = 1 << 20 };

struct factor {
    int child, line, col;
    size_t first, n; /* its parents: parent.a[first] .. */
};

struct uai {
    struct scan x;
    struct bn *bn;
    vec(struct factor) factor;
    indices parent;
    int *seen;          /* the last factor with this variable in its scope, from 1 */
    unsigned char *has; /* is it the child of a factor? */
    numbers p;
    nami_err *err;
};

static int read_variables(struct uai *u)
{
    char name[16];
    int rc, n, k, v;
    if ((rc = scan_int(&u->x, 1, INT_MAX, &n, u->err))) return rc;
    for (int i = 0; i < n; i++) {
        int line = u->x.tline, col = u->x.tcol;
        if ((rc = scan_int(&u->x, 1, STATES_MAX, &k, u->err))) return rc;
        int len = snprintf(name, sizeof name, "x%d", i);
        if ((v = bn_declare(u->bn, name, (size_t)len, line, col, u->err)) < 0) return v;
        u->bn->node.a[v].nstate = k;
    }
    u->seen = new_array(int, n);
    u->has = new_array(unsigned char, n);
    return u->seen && u->has ? 0 : err_nomem(u->err);
}

static int read_scope(struct uai *u)
{
    struct scan *x = &u->x;
    struct factor f = {.line = x->tline, .col = x->tcol, .first = u->parent.n};
    int n = bn_n(u->bn), rc, k, v = 0, mark = (int)u->factor.n + 1;
    if ((rc = scan_int(x, 1, n, &k, u->err))) return rc;
    for (int i = 0; i < k; i++) {
        int line = x->tline, col = x->tcol;
        if ((rc = scan_int(x, 0, n - 1, &v, u->err))) return rc;
        if (u->seen[v] == mark)
            return err_at(u->err, NAMI_EINPUT, line, col,
                          "variable %d is twice in this scope; remove one of them", v);
        u->seen[v] = mark;
        if (i < k - 1 && vec_push(&u->parent, v)) return err_nomem(u->err);
    }
    if (u->has[v])
        return err_at(u->err, NAMI_EINPUT, f.line, f.col,
                      "a second factor with variable %d last, as its child; a Bayesian network has "
                      "one for each variable",
                      v);
    u->has[v] = 1;
    f.child = v;
    f.n = u->parent.n - f.first;
    return vec_push(&u->factor, f) ? err_nomem(u->err) : 0;
}

static indices parents(const struct uai *u, const struct factor *f)
{
    return (indices){f->n ? u->parent.a + f->first : NULL, f->n, f->n};
}

static int read_table(struct uai *u, const struct factor *f)
{
    struct scan *x = &u->x;
    indices parent = parents(u, f);
    int rc, n, line = x->tline, col = x->tcol;
    double d;
    if ((rc = scan_int(x, 1, INT_MAX, &n, u->err))) return rc;
    u->p.n = 0;
    for (int i = 0; i < n; i++) {
        if ((rc = scan_double(x, &d, u->err))) return rc;
        if (vec_push(&u->p, d)) return err_nomem(u->err);
    }
    return table_set(u->bn, f->child, &parent, &u->p, line, col, u->err);
}

static int read_all(struct uai *u)
{
    struct scan *x = &u->x;
    int rc, n;
    if (scan_is(x, "MARKOV"))
        return err_at(u->err, NAMI_EINPUT, x->tline, x->tcol,
                      "a MARKOV network has no direction; NaMI needs a Bayesian network (BAYES)");
    if ((rc = scan_expect(x, "BAYES", u->err)) || (rc = read_variables(u)) ||
        (rc = scan_int(x, 0, bn_n(u->bn), &n, u->err)))
        return rc;
    for (int i = 0; i < n; i++)
        if ((rc = read_scope(u))) return rc;
    int tables = x->tok != TOK_END;
    for (int i = 0; i < n; i++) {
        const struct factor *f = &u->factor.a[i];
        indices parent = parents(u, f);
        rc = tables ? read_table(u, f)
                    : parents_set(u->bn, f->child, &parent, f->line, f->col, u->err);
        if (rc) return rc;
    }
    return x->tok == TOK_END ? 0 : scan_error(x, "the end of the file", u->err);
}

static int uai_read(struct bn *bn, const char *text, size_t len, nami_err *err)
{
    struct uai u = {.bn = bn, .err = err};
    scan_init(&u.x, text, len, &RULES);
    int rc = read_all(&u);
    vec_free(&u.factor);
    vec_free(&u.parent);
    vec_free(&u.p);
    free(u.seen);
    free(u.has);
    return rc;
}

static int uai_sniff(const char *text, size_t len)
{
    struct scan x;
    scan_init(&x, text, len, &RULES);
    if (!scan_accept(&x, "BAYES") && !scan_accept(&x, "MARKOV")) return 0;
    return x.tok == TOK_WORD && *x.t >= '0' && *x.t <= '9' ? 95 : 0;
}

/* ---- writing ------------------------------------------------------------- */

static int check(const struct bn *bn, int *tables, nami_err *err)
{
    int with = -1, without = -1;
    for (int v = 0; v < bn_n(bn); v++) {
        if (bn->node.a[v].nstate < 1)
            return err_set(err, NAMI_EINPUT,
                           "UAI needs the number of states of every node, but '%s' has none; write "
                           "another format",
                           bn_name(bn, v));
        *(bn->node.a[v].cpt ? &with : &without) = v;
    }
    if (with >= 0 && without >= 0)
        return err_set(
            err, NAMI_EINPUT,
            "UAI needs all tables or none, but '%s' has one and '%s' has not; add it, or "
            "write another format",
            bn_name(bn, with), bn_name(bn, without));
    *tables = with >= 0;
    return 0;
}

static int uai_write(const struct bn *bn, struct str *out, nami_err *err)
{
    const int *parent;
    int tables = 0, rc = check(bn, &tables, err);
    if (rc) return rc;
    str_printf(out, "BAYES\n%d\n", bn_n(bn));
    for (int v = 0; v < bn_n(bn); v++) str_printf(out, "%s%d", v ? " " : "", bn->node.a[v].nstate);
    str_printf(out, "\n%d\n", bn_n(bn));
    for (int v = 0; v < bn_n(bn); v++) {
        int n = parents_of(bn, v, &parent);
        str_printf(out, "%d", n + 1);
        for (int i = 0; i < n; i++) str_printf(out, " %d", parent[i]);
        str_printf(out, " %d\n", v);
    }
    for (int v = 0; v < bn_n(bn) && tables; v++) {
        const struct cpt *t = bn->node.a[v].cpt;
        size_t k = (size_t)bn->node.a[v].nstate;
        str_printf(out, "\n%zu\n", t->n);
        for (size_t r = 0; r < t->n; r += k) {
            str_put(out, " ");
            put_row(out, t->p + r, (int)k, " ");
            str_put(out, "\n");
        }
    }
    return 0;
}

const struct format format_uai = {
    .name = "uai",
    .what = "UAI competition format (BAYES), with tables, without names",
    .ends = ".uai",
    .sniff = uai_sniff,
    .read = uai_read,
    .write = uai_write,
};
