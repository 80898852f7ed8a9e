/* table.c: what the formats with probability tables share: names, states, tables, and how to
   write them. */
#include "io/table.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

/* "\u001f" -> 31; 0 if this is no escape of a control character. */
static int control_escape(const char *s, size_t n)
{
    if (n < 6 || memcmp(s, "\\u00", 4) != 0 || (s[4] != '0' && s[4] != '1')) return 0;
    const char *hex = "0123456789abcdef", *d = s[5] ? strchr(hex, s[5]) : NULL;
    return d ? (s[4] - '0') * 16 + (int)(d - hex) : 0;
}

/* Other backslashes stand for themselves: many tools never escape. */
static void put_unescaped(struct str *out, const char *s, size_t n)
{
    for (size_t i = 0; i < n;) {
        int c = control_escape(s + i, n - i);
        if (c) {
            char ch = (char)c;
            str_putn(out, &ch, 1);
            i += 6;
            continue;
        }
        if (s[i] == '\\' && i + 1 < n && (s[i + 1] == '"' || s[i + 1] == '\\')) i++;
        str_putn(out, s + i++, 1);
    }
}

int name_read(struct scan *x, const char *what, struct str *name, nami_err *err)
{
    if (x->tok != TOK_WORD && x->tok != TOK_STRING) return scan_error(x, what, err);
    name->n = 0;
    str_putn(name, "", 0); /* an empty name is a text, not NULL */
    if (x->tok == TOK_STRING)
        put_unescaped(name, x->t, x->n);
    else
        str_putn(name, x->t, x->n);
    if (name->oom) return err_nomem(err);
    scan_next(x);
    return 0;
}

int node_known(const struct bn *bn, const char *name, size_t n, int line, int col, nami_err *err)
{
    int v = bn_find(bn, name, n);
    if (v >= 0) return v;
    return err_at(err, NAMI_EINPUT, line, col,
                  "'%s' is used here but declared nowhere; declare it or correct the name", name);
}

int node_read(struct scan *x, const struct bn *bn, struct str *name, nami_err *err)
{
    int line = x->tline, col = x->tcol, rc = name_read(x, "the name of a variable", name, err);
    return rc ? rc : node_known(bn, name->s, name->n, line, col, err);
}

/* ---- states -------------------------------------------------------------- */

static int make_key(struct states *s, int v, const char *name, size_t n)
{
    s->key.n = 0;
    str_printf(&s->key, "%d:", v);
    str_putn(&s->key, name, n);
    return s->key.oom ? -1 : 0;
}

int states_add(struct states *s, struct bn *bn, int v, const char *name, size_t n, int line,
               int col, nami_err *err)
{
    int fresh;
    char *copy = arena_strndup(&bn->mem, name, n);
    if (!copy || make_key(s, v, name, n) || vec_reserve(&s->index, s->index.n + 1) ||
        dict_add(&s->dict, s->key.s, s->key.n, &fresh) < 0)
        return err_nomem(err);
    if (!fresh)
        return err_at(err, NAMI_EINPUT, line, col, "'%s' has two states '%s'; rename one of them",
                      bn_name(bn, v), copy);
    s->index.a[s->index.n++] = (int)s->list.n;
    return vec_push(&s->list, copy) ? err_nomem(err) : 0;
}

int states_done(struct states *s, struct bn *bn, int v, nami_err *err)
{
    struct bn_node *node = &bn->node.a[v];
    if (!s->list.n) return 0;
    if (!(node->state = arena_array(&bn->mem, const char *, s->list.n))) return err_nomem(err);
    memcpy(node->state, s->list.a, s->list.n * sizeof *s->list.a);
    node->nstate = (int)s->list.n;
    s->list.n = 0;
    return 0;
}

int states_find(struct states *s, int v, const char *name, size_t n)
{
    if (make_key(s, v, name, n)) return -2;
    int k = dict_find(&s->dict, s->key.s, s->key.n);
    return k < 0 ? -1 : s->index.a[k];
}

void states_free(struct states *s)
{
    dict_free(&s->dict);
    vec_free(&s->index);
    vec_free(&s->list);
    str_free(&s->key);
}

/* ---- tables -------------------------------------------------------------- */

size_t table_size(const struct bn *bn, int child, const int *parent, size_t nparent)
{
    size_t n = (size_t)bn->node.a[child].nstate;
    for (size_t i = 0; i < nparent; i++) {
        size_t k = (size_t)bn->node.a[parent[i]].nstate;
        if (k && n > SIZE_MAX / 16 / k) return 0;
        n *= k;
    }
    return n;
}

int table_set(struct bn *bn, int child, const indices *parent, const numbers *p, int line, int col,
              nami_err *err)
{
    /* Count first: what the file claims must not make us allocate more than it holds. */
    size_t n = table_size(bn, child, parent->a, parent->n);
    if (n && n != p->n)
        return err_at(
            err, NAMI_EINPUT, line, col,
            "the table of '%s' has %zu numbers but its states and parents need %zu; add or "
            "remove some",
            bn_name(bn, child), p->n, n);
    int rc = bn_table(bn, child, parent->a, (int)parent->n, line, col, err);
    if (!rc && n) memcpy(bn->node.a[child].cpt->p, p->a, n * sizeof *p->a);
    return rc;
}

int parents_set(struct bn *bn, int child, const indices *parent, int line, int col, nami_err *err)
{
    int rc = 0;
    for (size_t i = 0; i < parent->n && !rc; i++)
        rc = bn_edge(bn, parent->a[i], child, line, col, err);
    return rc;
}

/* ---- writing ------------------------------------------------------------- */

int parents_of(const struct bn *bn, int v, const int **parent)
{
    const struct cpt *t = bn->node.a[v].cpt;
    *parent = t ? t->parent : bn->dag.p + bn->dag.pp[v];
    return t ? t->nparent : bn->dag.pp[v + 1] - bn->dag.pp[v];
}

void put_family(struct str *out, const struct bn *bn, int v, const char *sep,
                void (*put_name)(struct str *out, const char *name))
{
    const int *parent;
    int n = parents_of(bn, v, &parent);
    put_name(out, bn_name(bn, v));
    for (int i = 0; i < n; i++) {
        str_put(out, i ? sep : " | ");
        put_name(out, bn_name(bn, parent[i]));
    }
}

const char *state_name(const struct bn *bn, int v, int s, char buf[16])
{
    if (bn->node.a[v].state) return bn->node.a[v].state[s];
    snprintf(buf, 16, "s%d", s);
    return buf;
}

void put_probability(struct str *out, double x)
{
    char buf[40];
    snprintf(buf, sizeof buf, "%.15g", x);
    if (strtod(buf, NULL) != x) snprintf(buf, sizeof buf, "%.17g", x);
    str_put(out, buf);
}

void put_row(struct str *out, const double *p, int k, const char *sep)
{
    for (int s = 0; s < k; s++) {
        if (s) str_put(out, sep);
        put_probability(out, p[s]);
    }
}
