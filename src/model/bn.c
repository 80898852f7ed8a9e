/* bn.c: Bayesian-network structures: nodes, edges and probability tables by name; checks when
   complete. */
#include "model/bn.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/str.h"

struct bn *bn_new(void) { return new_array(struct bn, 1); }

void bn_free(struct bn *bn)
{
    if (!bn) return;
    dict_free(&bn->names);
    vec_free(&bn->node);
    vec_free(&bn->edge);
    vec_free(&bn->edge_line);
    vec_free(&bn->plate);
    vec_free(&bn->cls);
    dag_fini(&bn->dag);
    arena_free(&bn->mem);
    free(bn);
}

int bn_node(struct bn *bn, const char *name, size_t len, int line, int *fresh, nami_err *err)
{
    int is_new, v;
    if (memchr(name, 0, len))
        return err_at(err, NAMI_EINPUT, line, 0,
                      "a name with a zero byte in it; is this a text file?");
    if (vec_reserve(&bn->node, bn->node.n + 1)) return err_nomem(err);
    if ((v = dict_add(&bn->names, name, len, &is_new)) < 0) return err_nomem(err);
    if (is_new) bn->node.a[bn->node.n++] = (struct bn_node){.size = 1, .line = line};
    if (fresh) *fresh = is_new;
    return v;
}

int bn_declare(struct bn *bn, const char *name, size_t len, int line, int col, nami_err *err)
{
    int fresh, v;
    if (len == 0)
        return err_at(err, NAMI_EINPUT, line, col, "a node with an empty name; give it one");
    v = bn_node(bn, name, len, line, &fresh, err);
    if (v >= 0 && !fresh) {
        if (bn->node.a[v].line > 0 && line > 0)
            return err_at(err, NAMI_EINPUT, line, col,
                          "node '%s' is declared twice (first on line %d); rename one of them",
                          bn_name(bn, v), bn->node.a[v].line);
        return err_at(err, NAMI_EINPUT, line, col,
                      "node '%s' is declared twice; rename one of them", bn_name(bn, v));
    }
    return v;
}

int bn_find(const struct bn *bn, const char *name, size_t len)
{
    return dict_find(&bn->names, name, len);
}

int bn_edge(struct bn *bn, int from, int to, int line, int col, nami_err *err)
{
    if (from == to)
        return err_at(err, NAMI_EINPUT, line, col,
                      "'%s' is its own parent; a Bayesian network has no self-loops",
                      bn_name(bn, from));
    if (vec_reserve(&bn->edge_line, bn->edge_line.n + 1) ||
        vec_push(&bn->edge, ((struct edge){from, to})))
        return err_nomem(err);
    bn->edge_line.a[bn->edge_line.n++] = line;
    return 0;
}

enum { TABLE_MAX = 1 << 26 }; /* entries: half a gigabyte */

int bn_table(struct bn *bn, int child, const int *parent, int nparent, int line, int col,
             nami_err *err)
{
    struct bn_node *c = &bn->node.a[child];
    size_t n = 1;
    int rc;
    if (c->cpt)
        return err_at(err, NAMI_EINPUT, line, col, "a second table for '%s'; remove one of them",
                      bn_name(bn, child));
    for (int i = -1; i < nparent; i++) {
        int v = i < 0 ? child : parent[i], k = bn->node.a[v].nstate;
        if (k < 1)
            return err_at(err, NAMI_EINPUT, line, col,
                          "the table of '%s' needs the states of '%s', which has none",
                          bn_name(bn, child), bn_name(bn, v));
        if (n > (size_t)TABLE_MAX / (size_t)k)
            return err_at(err, NAMI_ELIMIT, line, col, "the table of '%s' has more than %d entries",
                          bn_name(bn, child), TABLE_MAX);
        n *= (size_t)k;
        for (int h = 0; h < i; h++)
            if (parent[h] == v)
                return err_at(err, NAMI_EINPUT, line, col,
                              "'%s' is named twice as a parent of '%s'", bn_name(bn, v),
                              bn_name(bn, child));
        if (i >= 0 && (rc = bn_edge(bn, v, child, line, col, err))) return rc;
    }
    struct cpt *t = arena_array(&bn->mem, struct cpt, 1);
    if (!t || !(t->parent = arena_array(&bn->mem, int, nparent)) ||
        !(t->p = arena_array(&bn->mem, double, n)))
        return err_nomem(err);
    if (nparent) memcpy(t->parent, parent, (size_t)nparent * sizeof *parent);
    t->nparent = nparent;
    t->n = n;
    c->cpt = t;
    return 0;
}

static int check_table(const struct bn *bn, int v, nami_err *err)
{
    const struct cpt *t = bn->node.a[v].cpt;
    size_t k = (size_t)bn->node.a[v].nstate;
    for (size_t r = 0; r < t->n; r += k) {
        double sum = 0;
        for (size_t s = 0; s < k; s++) {
            if (!(t->p[r + s] >= 0))
                return err_at(err, NAMI_EINPUT, bn->node.a[v].line, 0,
                              "a probability of '%s' is %g; it must be 0 or more", bn_name(bn, v),
                              t->p[r + s]);
            sum += t->p[r + s];
        }
        if (!(fabs(sum - 1) <= 1e-3))
            return err_at(err, NAMI_EINPUT, bn->node.a[v].line, 0,
                          "row %zu of the table of '%s' sums to %.6g; it must sum to 1", r / k + 1,
                          bn_name(bn, v), sum);
        if (fabs(sum - 1) > 1e-12) /* a rounded file; otherwise keep every bit */
            for (size_t s = 0; s < k; s++) t->p[r + s] /= sum;
    }
    return 0;
}

/* Refuses a cycle, and names it: "A -> B -> A". */
static int check_cycle(const struct bn *bn, nami_err *err)
{
    int *cycle = raw_array(int, bn->dag.n), rc = 0;
    int len = cycle ? dag_cycle(&bn->dag, cycle) : -1;
    if (len < 0) rc = err_nomem(err);
    if (len > 0) {
        struct str s = {0};
        int show = len > 8 ? 8 : len, line = 0;
        for (int i = 0; i < show; i++) str_printf(&s, "%s -> ", bn_name(bn, cycle[i]));
        str_printf(&s, "%s%s", len > show ? "... -> " : "", bn_name(bn, cycle[0]));
        for (size_t i = 0; i < bn->edge.n && !line; i++)
            if (bn->edge.a[i].from == cycle[len - 1] && bn->edge.a[i].to == cycle[0])
                line = bn->edge_line.a[i];
        rc = s.oom ? err_nomem(err)
                   : err_at(err, NAMI_EINPUT, line, 0,
                            "the graph has a cycle, %s; remove or turn round one of these edges",
                            s.s);
        str_free(&s);
    }
    free(cycle);
    return rc;
}

int bn_finish(struct bn *bn, nami_err *err)
{
    int rc;
    if (bn->node.n == 0)
        return err_set(err, NAMI_EINPUT, "the graph is empty; a structure needs at least one node");
    if ((rc = dag_init(&bn->dag, bn_n(bn), bn->edge.a, bn->edge.n, err)) ||
        (rc = check_cycle(bn, err)))
        return rc;
    vec_free(&bn->edge);
    vec_free(&bn->edge_line);
    for (int v = 0; v < bn_n(bn); v++)
        if (bn->node.a[v].cpt && (rc = check_table(bn, v, err))) return rc;
    return 0;
}

/* ---- copies -------------------------------------------------------------------------- */

static void *dup_array(struct arena *mem, const void *from, size_t n, size_t size)
{
    void *to = arena_alloc_array(mem, n + 1, size);
    if (to && n) memcpy(to, from, n * size);
    return to;
}

static const char *dup_text(struct arena *mem, const char *s)
{
    return arena_strndup(mem, s, strlen(s));
}

/* What the copy of a node still shares with the original. */
static int own_node(struct arena *mem, struct bn_node *x)
{
    if (x->state) {
        const char *const *names = x->state;
        if (!(x->state = arena_array(mem, const char *, x->nstate + 1))) return NAMI_ENOMEM;
        for (int i = 0; i < x->nstate; i++)
            if (!(x->state[i] = dup_text(mem, names[i]))) return NAMI_ENOMEM;
    }
    if (x->cpt) {
        struct cpt *t = dup_array(mem, x->cpt, 1, sizeof *t);
        if (!(x->cpt = t)) return NAMI_ENOMEM;
        t->parent = dup_array(mem, t->parent, (size_t)t->nparent, sizeof *t->parent);
        t->p = dup_array(mem, t->p, t->n, sizeof *t->p);
        if (!t->parent || !t->p) return NAMI_ENOMEM;
    }
    return 0;
}

static int copy_nodes(struct bn *to, const struct bn *from)
{
    for (int v = 0; v < bn_n(from); v++) {
        struct bn_node x = from->node.a[v];
        const char *name = bn_name(from, v);
        if (dict_add(&to->names, name, from->names.len.a[v], NULL) != v || own_node(&to->mem, &x) ||
            vec_push(&to->node, x))
            return NAMI_ENOMEM;
    }
    return 0;
}

static int copy_plates(struct bn *to, const struct bn *from)
{
    for (size_t i = 0; i < from->plate.n; i++) {
        struct bn_plate x = from->plate.a[i];
        x.label = dup_text(&to->mem, x.label);
        x.node = dup_array(&to->mem, x.node, (size_t)x.n, sizeof *x.node);
        if (!x.label || !x.node || vec_push(&to->plate, x)) return NAMI_ENOMEM;
    }
    for (size_t i = 0; i < from->cls.n; i++) {
        struct bn_class x = from->cls.a[i];
        x.name = dup_text(&to->mem, x.name);
        if (!x.name || vec_push(&to->cls, x)) return NAMI_ENOMEM;
    }
    return 0;
}

struct bn *bn_copy(const struct bn *from)
{
    const struct dag *g = &from->dag;
    struct edge *edge = raw_array(struct edge, g->m + 1);
    struct bn *to = bn_new();
    size_t m = 0;
    int bad = !edge || !to;
    for (int v = 0; v < g->n && !bad; v++)
        for_parents (g, v, u) edge[m++] = (struct edge){u, v};
    if (!bad) bad = copy_nodes(to, from) || copy_plates(to, from);
    if (!bad) bad = dag_init(&to->dag, g->n, edge, m, NULL) != 0;
    free(edge);
    if (!bad) return to;
    bn_free(to);
    return NULL;
}
