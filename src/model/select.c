/* select.c: parses lists of names.

   a,b            names; "x,y" in quotes for names with commas or semicolons
   x[1:3]         x[1], x[2], x[3]; x[1:2,3] likewise
   x              all of x[...], if no node is called x
   @FILE          names from a file, one a line
   sinks, none    nodes without children; nothing

   A node of exactly that name takes precedence over special meanings. */
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "base/near.h"
#include "model/bn.h"

typedef vec(int) ints;

static int push(ints *hit, int v, nami_err *err) { return vec_push(hit, v) ? err_nomem(err) : 0; }

static int is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

static void trim(const char **s, const char **end)
{
    while (*s < *end && is_blank(**s)) ++*s;
    while (*s < *end && is_blank((*end)[-1])) --*end;
}

/* ---- advice ------------------------------------------------------------- */

static int unknown(const struct bn *bn, const char *s, size_t len, nami_err *err)
{
    struct near best = NEAR_NONE;
    int n = len > 100 ? 100 : (int)len;
    for (int v = 0; v < bn_n(bn); v++) near_try(&best, s, len, bn_name(bn, v), v);
    if (best.word)
        return err_set(err, NAMI_EINPUT, "no node is called '%.*s'; did you mean '%s'?", n, s,
                       best.word);
    return err_set(err, NAMI_EINPUT, "no node is called '%.*s'; see the names in the file", n, s);
}

/* ---- x[1:3,2] ----------------------------------------------------------- */

enum { DIM_MAX = 8 };

struct range {
    const char *base; /* "x" */
    size_t nbase;
    int n; /* dimensions */
    int64_t lo[DIM_MAX], hi[DIM_MAX];
};

/* Digits, at most 18 of them; NULL if there are none. */
static const char *integer(const char *s, const char *end, int64_t *out)
{
    const char *start = s;
    int64_t k = 0;
    for (; s < end && *s >= '0' && *s <= '9' && s - start < 18; s++) k = k * 10 + (*s - '0');
    *out = k;
    return s > start ? s : NULL;
}

static const char *skip(const char *s, const char *end)
{
    while (s < end && is_blank(*s)) s++;
    return s;
}

/* Is it base[i,j:k,...]?  Fills r. */
static int parse_range(const char *s, const char *end, struct range *r)
{
    const char *open = memchr(s, '[', (size_t)(end - s));
    if (!open || open == s || end[-1] != ']') return 0;
    *r = (struct range){.base = s, .nbase = (size_t)(open - s)};
    end--;
    for (s = open + 1;; s++) {
        if (r->n == DIM_MAX) return 0;
        int64_t *lo = &r->lo[r->n], *hi = &r->hi[r->n];
        if (!(s = integer(skip(s, end), end, lo))) return 0;
        *hi = *lo;
        s = skip(s, end);
        if (s < end && *s == ':') {
            if (!(s = integer(skip(s + 1, end), end, hi))) return 0;
            s = skip(s, end);
        }
        r->n++;
        if (s == end) return 1;
        if (*s != ',') return 0;
    }
}

static int inside(const struct range *r, const struct range *x)
{
    if (r->n != x->n || r->nbase != x->nbase || memcmp(r->base, x->base, r->nbase) != 0) return 0;
    for (int i = 0; i < r->n; i++)
        if (x->lo[i] != x->hi[i] || x->lo[i] < r->lo[i] || x->lo[i] > r->hi[i]) return 0;
    return 1;
}

/* Iterates over nodes rather than over the numbers of the range, which may be many. */
static int select_range(const struct bn *bn, const char *s, size_t len, const struct range *r,
                        ints *hit, nami_err *err)
{
    double all = 1;
    size_t before = hit->n;
    int rc, show = len > 100 ? 100 : (int)len;
    for (int i = 0; i < r->n; i++) {
        if (r->lo[i] > r->hi[i])
            return err_set(err, NAMI_EINPUT,
                           "the range in '%.*s' is empty; write the smaller number "
                           "first",
                           show, s);
        all *= (double)(r->hi[i] - r->lo[i]) + 1;
    }
    for (int v = 0; v < bn_n(bn); v++) {
        struct range x;
        const char *name = bn_name(bn, v);
        if (strncmp(name, r->base, r->nbase) == 0 && parse_range(name, name + strlen(name), &x) &&
            inside(r, &x) && (rc = push(hit, v, err)))
            return rc;
    }
    if (hit->n == before) return unknown(bn, s, len, err);
    if ((double)(hit->n - before) < all)
        return err_set(err, NAMI_EINPUT, "'%.*s' stands for %.0f nodes, but only %zu of them exist",
                       show, s, all, hit->n - before);
    return 0;
}

/* ---- items -------------------------------------------------------------- */

static int select_sinks(const struct bn *bn, ints *hit, nami_err *err)
{
    int rc;
    for (int v = 0; v < bn_n(bn); v++)
        if (bn->dag.cp[v] == bn->dag.cp[v + 1] && (rc = push(hit, v, err))) return rc;
    return 0;
}

/* x for all of x[...] */
static int select_array(const struct bn *bn, const char *s, size_t len, ints *hit, nami_err *err)
{
    size_t before = hit->n;
    int rc;
    for (int v = 0; v < bn_n(bn); v++) {
        const char *name = bn_name(bn, v);
        if (strncmp(name, s, len) == 0 && name[len] == '[' && name[strlen(name) - 1] == ']' &&
            (rc = push(hit, v, err)))
            return rc;
    }
    return hit->n > before ? 0 : unknown(bn, s, len, err);
}

/* A name without quotes: exact, a range, or an array. */
static int select_name(const struct bn *bn, const char *s, size_t len, ints *hit, nami_err *err)
{
    struct range r;
    int v = bn_find(bn, s, len);
    if (v >= 0) return push(hit, v, err);
    if (parse_range(s, s + len, &r)) return select_range(bn, s, len, &r, hit, err);
    return select_array(bn, s, len, hit, err);
}

/* "a \"b\"", both quotes included */
static int select_quoted(const struct bn *bn, const char *s, size_t len, ints *hit, nami_err *err)
{
    struct str name = {0};
    int rc, v;
    for (size_t i = 1; i + 1 < len; i++) {
        if (s[i] == '\\' && i + 2 < len && (s[i + 1] == '"' || s[i + 1] == '\\')) i++;
        str_putn(&name, s + i, 1);
    }
    str_putn(&name, "", 0);
    if (name.oom)
        rc = err_nomem(err);
    else if ((v = bn_find(bn, name.s, name.n)) < 0)
        rc = unknown(bn, name.s, name.n, err);
    else
        rc = push(hit, v, err);
    str_free(&name);
    return rc;
}

/* The end of the string that opens at s, behind its quote; NULL if there is none. */
static const char *string_end(const char *s, const char *end)
{
    for (s++; s < end; s++) {
        if (*s == '\\' && s + 1 < end)
            s++;
        else if (*s == '"')
            return s + 1;
    }
    return NULL;
}

/* One name a line; blank lines and comments are skipped. */
static int select_file(const struct bn *bn, const char *s, size_t len, ints *hit, nami_err *err)
{
    struct str path = {0}, text = {0};
    int rc = 0, line = 0;
    str_putn(&path, s, len);
    if (path.oom) {
        rc = err_nomem(err);
        goto out;
    }
    if ((rc = file_read(path.s, &text, err))) {
        char why[sizeof err->msg] = "";
        if (err) memcpy(why, err->msg, sizeof why);
        rc = err_set(err, rc, "'%s': %.300s", path.s, why);
        goto out;
    }
    if (memchr(text.s, 0, text.n)) {
        rc = err_set(err, NAMI_EINPUT, "a zero byte in '%s'; is this a text file?", path.s);
        goto out;
    }
    for (const char *t = text.s, *all = t + text.n, *eol; t < all && !rc; t = eol + 1) {
        eol = memchr(t, '\n', (size_t)(all - t));
        if (!eol) eol = all;
        const char *end = eol;
        trim(&t, &end);
        size_t n = (size_t)(end - t);
        line++;
        if (n == 0 || (*t == '#' && bn_find(bn, t, n) < 0)) continue;
        if (*t == '"' && bn_find(bn, t, n) < 0 && string_end(t, end) == end)
            rc = select_quoted(bn, t, n, hit, err);
        else
            rc = select_name(bn, t, n, hit, err);
        if (rc == NAMI_EINPUT && err) {
            char why[sizeof err->msg];
            memcpy(why, err->msg, sizeof why);
            err_set(err, rc, "line %d of '%s': %.400s", line, path.s, why);
        }
    }
out:
    str_free(&path);
    str_free(&text);
    return rc;
}

static int is(const char *s, size_t len, const char *word)
{
    return len == strlen(word) && memcmp(s, word, len) == 0;
}

static int select_item(const struct bn *bn, const char *s, const char *end, ints *hit,
                       nami_err *err)
{
    size_t len = (size_t)(end - s);
    if (bn_find(bn, s, len) >= 0) return select_name(bn, s, len, hit, err);
    if (*s == '"' && string_end(s, end) == end) return select_quoted(bn, s, len, hit, err);
    if (*s == '@') return select_file(bn, s + 1, len - 1, hit, err);
    if (is(s, len, "sinks")) return select_sinks(bn, hit, err);
    if (is(s, len, "none")) return 0;
    return select_name(bn, s, len, hit, err);
}

/* The end of an item: the next comma or semicolon outside quotes and brackets;
   NULL if a quote does not close. */
static const char *item_end(const char *s, const char *end)
{
    const char *close;
    s = skip(s, end);
    if (s < end && *s == '"' && !(s = string_end(s, end))) return NULL;
    while (s < end && *s != ',' && *s != ';')
        s = *s == '[' && (close = memchr(s, ']', (size_t)(end - s))) ? close : s + 1;
    return s;
}

/* Adds the nodes of "a,b" to hit and returns in *next where it stopped: at the
   end or at a semicolon. */
static int select_list(const struct bn *bn, const char *s, const char *end, const char **next,
                       ints *hit, nami_err *err)
{
    for (;; s++) {
        const char *stop = item_end(s, end), *t = s, *e = stop;
        if (!stop) return err_set(err, NAMI_EINPUT, "a quote does not close in '%.100s'", s);
        trim(&t, &e);
        if (t == e)
            return err_set(err, NAMI_EINPUT,
                           "an empty name in a list; write names with commas between, or 'none'");
        int rc = select_item(bn, t, e, hit, err);
        if (rc) return rc;
        *next = s = stop;
        if (s == end || *s == ';') return 0;
    }
}

static int select_all(const struct bn *bn, const char *what, ints *hit, nami_err *err)
{
    const char *end = what + strlen(what), *next;
    int v = bn_find(bn, what, strlen(what)); /* a name may hold commas */
    if (v >= 0) return push(hit, v, err);
    int rc = select_list(bn, what, end, &next, hit, err);
    if (!rc && next < end)
        rc = err_set(err, NAMI_EINPUT,
                     "a semicolon in a list of names; write commas, or quote a name");
    return rc;
}

int bn_select(const struct bn *bn, const char *what, int *mark, int value, nami_err *err)
{
    ints hit = {0};
    int rc = select_all(bn, what, &hit, err);
    for (size_t i = 0; i < hit.n && !rc; i++) mark[hit.a[i]] = value;
    vec_free(&hit);
    return rc;
}

/* ---- nami.h ------------------------------------------------------------- */

int nami_bn_observe(nami_bn *bn, const char *what, nami_err *err)
{
    ints hit = {0};
    err_clear(err);
    int rc = select_all(bn, what, &hit, err);
    for (int v = 0; v < bn_n(bn) && !rc; v++) bn->node.a[v].observed = 0;
    for (size_t i = 0; i < hit.n && !rc; i++) {
        struct bn_node *node = &bn->node.a[hit.a[i]];
        node->observed = 1;
        node->nuisance = 0;
        node->stage = 0;
    }
    vec_free(&hit);
    return rc;
}

static int is_latent(const struct bn *bn, int v, nami_err *err)
{
    if (!bn->node.a[v].observed) return 0;
    return err_set(err, NAMI_EINPUT, "'%s' is observed; name latent nodes only", bn_name(bn, v));
}

int nami_bn_infer(nami_bn *bn, const char *what, nami_err *err)
{
    ints hit = {0};
    err_clear(err);
    int rc = select_all(bn, what, &hit, err);
    for (size_t i = 0; i < hit.n && !rc; i++) rc = is_latent(bn, hit.a[i], err);
    for (int v = 0; v < bn_n(bn) && !rc; v++) bn->node.a[v].nuisance = !bn->node.a[v].observed;
    for (size_t i = 0; i < hit.n && !rc; i++) bn->node.a[hit.a[i]].nuisance = 0;
    vec_free(&hit);
    return rc;
}

/* Stage k for the nodes of hit; -1 means none yet. */
static int put_stage(const struct bn *bn, const ints *hit, int k, int *stage, nami_err *err)
{
    int rc;
    for (size_t i = 0; i < hit->n; i++) {
        int v = hit->a[i];
        if ((rc = is_latent(bn, v, err))) return rc;
        if (stage[v] >= 0 && stage[v] != k)
            return err_set(err, NAMI_EINPUT, "'%s' is in two stages; keep it in one",
                           bn_name(bn, v));
        stage[v] = k;
    }
    return 0;
}

int nami_bn_stages(nami_bn *bn, const char *what, nami_err *err)
{
    const char *s = what, *end = what + strlen(what);
    ints hit = {0};
    int *stage = raw_array(int, bn_n(bn)), rc = 0, k = 0;
    err_clear(err);
    if (!stage) return err_nomem(err);
    memset(stage, 0xFF, (size_t)bn_n(bn) * sizeof *stage);
    for (;; s++) {
        hit.n = 0;
        if ((rc = select_list(bn, s, end, &s, &hit, err)) ||
            (rc = put_stage(bn, &hit, k++, stage, err)))
            goto out;
        if (s == end) break;
    }
    for (int v = 0; v < bn_n(bn); v++) {
        if (stage[v] < 0) stage[v] = bn->node.a[v].observed ? 0 : k;
        bn->node.a[v].stage = stage[v];
    }
out:
    free(stage);
    vec_free(&hit);
    return rc;
}
