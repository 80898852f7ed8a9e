/* tables.c: plans a sum over discrete variables: order of elimination, tables, colors and runs. */
#include "exact/tables.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "graph/elim.h"

struct planner {
    struct integral *g;
    struct tables *t;
    struct arena *mem;
    nami_err *err;
    struct ugraph graph;   /* variables that share a term are neighbors */
    int *place;            /* (num_vars) the cluster that removes a variable */
    int *set;              /* (num_terms) the color set of a term */
    vec(int) color_states; /* the largest number of states of a variable of each color */
};

static int too_many_runs(nami_err *err, double least)
{
    return err_set(err, NAMI_ELIMIT, "needs %s%.4g runs of its terms for each draw (limit %d)",
                   least > TABLES_RUNS ? "" : "more than ", least, TABLES_RUNS);
}

/* Variables of a term with more than one state: only these are in tables. */
static int scope_of(const struct integral *g, int term, int *out)
{
    int num = 0;
    for (size_t i = g->scope_start[term]; i < g->scope_start[term + 1]; i++)
        if (g->var[g->scope[i]].states > 1) out[num++] = g->scope[i];
    return num;
}

/* Afterwards scopes have at most log2(TABLES_RUNS) variables with more than one state. */
static int check(const struct integral *g, nami_err *err)
{
    for (int v = 0; v < g->num_vars; v++)
        if (g->var[v].states < 1)
            return err_set(err, NAMI_EINPUT,
                           g->var[v].states ? "has too many values" : "is continuous");
    for (int t = 0; t < g->num_terms; t++) {
        double runs = 1;
        for (size_t i = g->scope_start[t]; i < g->scope_start[t + 1]; i++)
            runs *= g->var[g->scope[i]].states;
        if (runs > TABLES_RUNS) return too_many_runs(err, runs);
    }
    return 0;
}

/* ---- the order ---------------------------------------------------------------------- */

static int make_graph(struct planner *p)
{
    const struct integral *g = p->g;
    vec(struct edge) edge = {0};
    struct dag d = {0};
    struct ugraph *j = &p->graph;
    int scope[TABLES_AXES], n = g->num_vars, rc = 0;
    for (int t = 0; t < g->num_terms && !rc; t++) {
        int num = scope_of(g, t, scope);
        for (int b = 1; b < num && !rc; b++)
            for (int a = 0; a < b && !rc; a++)
                if (vec_push(&edge, ((struct edge){scope[a], scope[b]}))) rc = err_nomem(p->err);
    }
    if (!rc) rc = dag_init(&d, n, edge.a, edge.n, p->err); /* merges equal edges */
    vec_free(&edge);
    if (!rc) {
        *j = (struct ugraph){.n = n,
                             .m = d.m,
                             .ap = new_array(int64_t, n + 1),
                             .a = raw_array(int, 2 * (size_t)d.m)};
        if (!j->ap || !j->a) rc = err_nomem(p->err);
    }
    for (int v = 0; v < n && !rc; v++) {
        int64_t to = j->ap[v];
        for_parents (&d, v, u) j->a[to++] = u;
        for_children (&d, v, u) j->a[to++] = u;
        j->ap[v + 1] = to;
    }
    dag_fini(&d);
    return rc;
}

static int find_order(struct planner *p)
{
    struct tables *t = p->t;
    int n = p->g->num_vars, *size = raw_array(int, n), *order = raw_array(int, n);
    int rc = size && order ? 0 : err_nomem(p->err);
    for (int v = 0; v < n && !rc; v++) size[v] = p->g->var[v].states;
    if (!rc)
        rc = elim_all(&p->graph, criterion_by_name("min-weight"), size, TABLES_ENTRIES, order,
                      p->err);
    if (rc == NAMI_ELIMIT)
        rc = err_set(p->err, rc, "depends on too many other discrete variables at once");
    for (int i = 0; i < n && !rc; i++) {
        t->cluster[i] = (struct cluster){.var = order[i], .states = size[order[i]], .parent = -1};
        p->place[order[i]] = i;
    }
    for (int c = 0; c < p->g->num_comps && !rc; c++)
        for (int v = p->g->var_start[c]; v < p->g->var_start[c + 1]; v++)
            t->cluster[p->place[v]].component = c;
    free(size);
    free(order);
    return rc;
}

/* ---- tables ------------------------------------------------------------------------- */

/* A term is added to the table of the first variable of its scope that is removed. */
static int place_terms(struct planner *p)
{
    const struct integral *g = p->g;
    int scope[TABLES_AXES];
    for (int c = 0; c < g->num_comps; c++)
        for (int t = g->term_start[c]; t < g->term_start[c + 1]; t++) {
            int num = scope_of(g, t, scope), *own = arena_array(p->mem, int, num);
            if (!own) return err_nomem(p->err);
            for (int i = 0; i < num; i++) own[i] = p->place[scope[i]];
            sort_ints(own, (size_t)num);
            p->t->term[t] = (struct table_term){t, num ? own[0] : ~c, num, own};
        }
    return 0;
}

/* What the table of each cluster consists of: lists of terms and of clusters below it. */
struct parts {
    int *term, *next_term, *child, *next_child; /* -1 at the end */
    int *mark;                                  /* the last cluster whose separator has it */
};

static void add_scope(struct parts *a, int i, const int *scope, int num, int *sep, int *num_sep)
{
    for (int k = 0; k < num; k++)
        if (scope[k] != i && a->mark[scope[k]] != i && *num_sep < TABLES_AXES) {
            a->mark[scope[k]] = i;
            sep[(*num_sep)++] = scope[k];
        }
}

/* The separator of cluster i, whose children are known. */
static int find_separator(struct planner *p, struct parts *a, int i)
{
    struct tables *t = p->t;
    struct cluster *c = &t->cluster[i];
    int sep[TABLES_AXES], num = 0;
    for (int k = a->term[i]; k >= 0; k = a->next_term[k])
        add_scope(a, i, t->term[k].scope, t->term[k].num_scope, sep, &num);
    for (int k = a->child[i]; k >= 0; k = a->next_child[k])
        add_scope(a, i, t->cluster[k].sep, t->cluster[k].num_sep, sep, &num);
    sort_ints(sep, (size_t)num);
    double size = 1, total;
    for (int k = 0; k < num; k++) size *= t->cluster[sep[k]].states;
    if ((total = (double)t->entries + size * c->states) > TABLES_ENTRIES)
        return err_set(p->err, NAMI_ELIMIT,
                       "needs tables of at least %.4g entries for each draw (limit %d)", total,
                       TABLES_ENTRIES);
    int *own = arena_array(p->mem, int, num);
    if (!own) return err_nomem(p->err);
    memcpy(own, sep, (size_t)num * sizeof *own);
    c->sep = own;
    c->num_sep = num;
    c->sep_size = (size_t)size;
    c->first = t->entries;
    t->entries += c->sep_size * (size_t)c->states;
    if (c->sep_size > t->max_message) t->max_message = c->sep_size;
    if (num) {
        c->parent = sep[0];
        a->next_child[i] = a->child[c->parent];
        a->child[c->parent] = i;
    }
    return 0;
}

static int *filled(size_t n)
{
    int *a = raw_array(int, n);
    for (size_t i = 0; i < n && a; i++) a[i] = -1;
    return a;
}

static int make_tables(struct planner *p)
{
    size_t n = (size_t)p->t->num_clusters, terms = (size_t)p->g->num_terms;
    struct parts a = {filled(n), filled(terms), filled(n), filled(n), filled(n)};
    int rc = a.term && a.next_term && a.child && a.next_child && a.mark ? 0 : err_nomem(p->err);
    for (int k = p->g->num_terms; k-- > 0 && !rc;) {
        int i = p->t->term[k].cluster;
        if (i >= 0) a.next_term[k] = a.term[i], a.term[i] = k;
    }
    for (int i = 0; i < p->t->num_clusters && !rc; i++) rc = find_separator(p, &a, i);
    free(a.term);
    free(a.next_term);
    free(a.child);
    free(a.next_child);
    free(a.mark);
    return rc;
}

/* ---- colors ------------------------------------------------------------------------- */

/* The color that no neighbor has and that grows least; a new one if there is none. */
static int choose_color(struct planner *p, int v, int *used)
{
    int states = p->g->var[v].states, best = -1, least = 0;
    for (int64_t k = p->graph.ap[v]; k < p->graph.ap[v + 1]; k++)
        if (p->t->color[p->graph.a[k]] >= 0) used[p->t->color[p->graph.a[k]]] = v;
    for (int c = 0; c < (int)p->color_states.n; c++) {
        int grows = states > p->color_states.a[c] ? states - p->color_states.a[c] : 0;
        if (used[c] != v && (best < 0 || grows < least)) best = c, least = grows;
    }
    if (best < 0) {
        best = (int)p->color_states.n;
        if (vec_push(&p->color_states, 1)) return -1;
    }
    if (states > p->color_states.a[best]) p->color_states.a[best] = states;
    return best;
}

/* Greedy, in the reverse order of elimination: the neighbors that have a color already are in the
   separator, so that there are no more colors than variables in the largest table. */
static int find_colors(struct planner *p)
{
    struct tables *t = p->t;
    int *used = filled(TABLES_AXES + 1), rc = used ? 0 : err_nomem(p->err);
    for (int v = 0; v < p->g->num_vars; v++) t->color[v] = -1;
    for (int i = t->num_clusters; i-- > 0 && !rc;) {
        int v = t->cluster[i].var;
        if ((t->color[v] = choose_color(p, v, used)) < 0) rc = err_nomem(p->err);
    }
    t->num_colors = (int)p->color_states.n;
    free(used);
    return rc;
}

/* ---- color sets --------------------------------------------------------------------- */

/* A prefix tree of ascending lists of colors: a set is the way from the root to a node. */
struct prefix {
    int color, up, child, next; /* child: the first one; next: sibling; -1: none */
    int size;                   /* colors of the list */
    int set;                    /* its number, or -1 if no term has it */
};

struct sets {
    vec(struct prefix) node;
    vec(int) last; /* the node of each set */
};

static int step_down(struct sets *s, int from, int color)
{
    int k = s->node.a[from].child;
    while (k >= 0 && s->node.a[k].color != color) k = s->node.a[k].next;
    if (k >= 0) return k;
    struct prefix x = {color, from, -1, s->node.a[from].child, s->node.a[from].size + 1, -1};
    if (vec_push(&s->node, x)) return -1;
    return s->node.a[from].child = (int)s->node.n - 1;
}

static void colors_of(const struct planner *p, const struct table_term *x, int *color)
{
    for (int i = 0; i < x->num_scope; i++) color[i] = p->t->color[p->t->cluster[x->scope[i]].var];
    sort_ints(color, (size_t)x->num_scope);
}

static int find_sets(struct planner *p, struct sets *s)
{
    int color[TABLES_AXES];
    if (vec_push(&s->node, ((struct prefix){-1, -1, -1, -1, 0, -1}))) return err_nomem(p->err);
    for (int t = 0; t < p->g->num_terms; t++) {
        const struct table_term *x = &p->t->term[t];
        int at = 0;
        colors_of(p, x, color);
        for (int i = 0; i < x->num_scope && at >= 0; i++) at = step_down(s, at, color[i]);
        if (at < 0) return err_nomem(p->err);
        if (s->node.a[at].set < 0) {
            s->node.a[at].set = (int)s->last.n;
            if (vec_push(&s->last, at)) return err_nomem(p->err);
        }
        p->set[t] = s->node.a[at].set;
    }
    return 0;
}

static int sort_terms(struct planner *p, const struct sets *s)
{
    struct tables *t = p->t;
    int rc = 0;
    t->num_sets = (int)s->last.n;
    t->set_start = arena_array(p->mem, int, t->num_sets + 1);
    struct table_term *sorted = arena_array(p->mem, struct table_term, p->g->num_terms);
    int *to = new_array(int, t->num_sets + 1);
    if (!t->set_start || !sorted || !to) rc = err_nomem(p->err);
    for (int k = 0; k < p->g->num_terms && !rc; k++) t->set_start[p->set[k] + 1]++;
    for (int k = 0; k < t->num_sets && !rc; k++)
        to[k] = t->set_start[k], t->set_start[k + 1] += t->set_start[k];
    for (int k = 0; k < p->g->num_terms && !rc; k++) sorted[to[p->set[k]]++] = t->term[k];
    if (!rc) t->term = sorted;
    free(to);
    return rc;
}

/* ---- runs --------------------------------------------------------------------------- */

enum { MAX_JOINT = 1 << 20 }; /* joint states of the colors of a set */

struct read {
    int run, set;
};

struct runs {
    int num, num_colors;
    vec(int) state; /* (num, num_colors); -1: any state */
    vec(struct read) read;
    unsigned char *needed; /* joint states of a set: does a term read them? */
};

/* The colors of a set and the places of their states in a list of all joint states. */
struct joint {
    int num, color[TABLES_AXES], states[TABLES_AXES];
    size_t size;
};

static int joint_init(const struct planner *p, const struct sets *s, int set, struct joint *j)
{
    double size = 1;
    j->num = 0;
    for (int at = s->last.a[set]; s->node.a[at].up >= 0; at = s->node.a[at].up) {
        j->color[j->num] = s->node.a[at].color;
        j->states[j->num] = p->color_states.a[s->node.a[at].color];
        size *= j->states[j->num++];
    }
    j->size = size <= MAX_JOINT ? (size_t)size : 0;
    return size <= MAX_JOINT ? 0 : too_many_runs(p->err, size);
}

/* Marks the joint states that a term reads; returns how many were not marked before. */
static size_t mark_term(const struct planner *p, const struct joint *j, const struct table_term *x,
                        unsigned char *needed)
{
    struct walk w = {.num = x->num_scope};
    size_t fresh = 0;
    for (int i = 0; i < w.num; i++) {
        const struct cluster *c = &p->t->cluster[x->scope[i]];
        w.states[i] = c->states;
        w.step[i] = 1;
        for (int k = 0; j->color[k] != p->t->color[c->var]; k++) w.step[i] *= (size_t)j->states[k];
    }
    do {
        fresh += !needed[w.place];
        needed[w.place] = 1;
    } while (walk_next(&w));
    return fresh;
}

/* The first run that gives the colors of j these joint states, or that still can; a new one. */
static int find_run(struct runs *r, const struct joint *j, size_t place)
{
    int state[TABLES_AXES], run = 0;
    for (int k = 0; k < j->num; k++) {
        state[k] = (int)(place % (size_t)j->states[k]);
        place /= (size_t)j->states[k];
    }
    for (; run < r->num; run++) {
        const int *has = r->state.a + (size_t)run * (size_t)r->num_colors;
        int k = 0;
        while (k < j->num && (has[j->color[k]] < 0 || has[j->color[k]] == state[k])) k++;
        if (k == j->num) break;
    }
    if (run == r->num) {
        for (int c = 0; c < r->num_colors; c++)
            if (vec_push(&r->state, -1)) return -1;
        r->num++;
    }
    for (int k = 0; k < j->num; k++)
        r->state.a[(size_t)run * (size_t)r->num_colors + (size_t)j->color[k]] = state[k];
    return run;
}

static int cover_set(struct planner *p, const struct sets *s, int set, struct runs *r)
{
    struct joint j;
    size_t marked = 0;
    int rc = joint_init(p, s, set, &j);
    if (rc) return rc;
    memset(r->needed, 0, j.size);
    for (int k = p->t->set_start[set]; k < p->t->set_start[set + 1] && marked < j.size; k++)
        marked += mark_term(p, &j, &p->t->term[k], r->needed);
    for (size_t place = 0; place < j.size; place++) {
        if (!r->needed[place]) continue;
        int run = find_run(r, &j, place);
        if (run < 0 || vec_push(&r->read, ((struct read){run, set}))) return err_nomem(p->err);
        if (r->num > TABLES_RUNS) return too_many_runs(p->err, TABLES_RUNS);
    }
    return 0;
}

/* Keeps the runs, and what reads them, run by run. */
static int keep_runs(struct planner *p, const struct runs *r)
{
    struct tables *t = p->t;
    t->num_runs = r->num;
    t->state = arena_array(p->mem, int, r->state.n);
    t->read_start = arena_array(p->mem, int, r->num + 1);
    t->read = arena_array(p->mem, int, r->read.n);
    int *to = new_array(int, r->num + 1);
    int rc = t->state && t->read_start && t->read && to ? 0 : err_nomem(p->err);
    for (size_t k = 0; k < r->state.n && !rc; k++)
        t->state[k] = r->state.a[k] < 0 ? 0 : r->state.a[k];
    for (size_t k = 0; k < r->read.n && !rc; k++) t->read_start[r->read.a[k].run + 1]++;
    for (int k = 0; k < r->num && !rc; k++)
        to[k] = t->read_start[k], t->read_start[k + 1] += t->read_start[k];
    for (size_t k = 0; k < r->read.n && !rc; k++)
        t->read[to[r->read.a[k].run]++] = r->read.a[k].set;
    free(to);
    return rc;
}

/* Large sets first: the smaller ones are then read from the same runs. */
static int find_runs(struct planner *p)
{
    struct sets s = {0};
    struct runs r = {.num_colors = p->t->num_colors, .needed = raw_array(unsigned char, MAX_JOINT)};
    int rc = r.needed ? find_sets(p, &s) : err_nomem(p->err);
    if (!rc) rc = sort_terms(p, &s);
    for (int size = TABLES_AXES; size >= 0; size--)
        for (int k = 0; k < (int)s.last.n && !rc; k++)
            if (s.node.a[s.last.a[k]].size == size) rc = cover_set(p, &s, k, &r);
    if (!rc) rc = keep_runs(p, &r);
    vec_free(&s.node);
    vec_free(&s.last);
    vec_free(&r.state);
    vec_free(&r.read);
    free(r.needed);
    return rc;
}

int tables_plan(struct integral *g, struct tables **out, nami_err *err)
{
    struct arena *mem = &g->body.mem;
    struct tables *t = *out = arena_array(mem, struct tables, 1);
    struct planner p = {.g = g,
                        .t = t,
                        .mem = mem,
                        .err = err,
                        .place = raw_array(int, g->num_vars),
                        .set = raw_array(int, g->num_terms)};
    int rc = t && p.place && p.set ? check(g, err) : err_nomem(err);
    if (!rc) {
        t->num_clusters = g->num_vars;
        t->cluster = arena_array(mem, struct cluster, g->num_vars);
        t->term = arena_array(mem, struct table_term, g->num_terms);
        t->color = arena_array(mem, int, g->num_vars);
        if (!t->cluster || !t->term || !t->color) rc = err_nomem(err);
    }
    if (!rc) rc = make_graph(&p);
    if (!rc) rc = find_order(&p);
    if (!rc) rc = place_terms(&p);
    if (!rc) rc = make_tables(&p);
    if (!rc) rc = find_colors(&p);
    if (!rc) rc = find_runs(&p);
    ugraph_fini(&p.graph);
    vec_free(&p.color_states);
    free(p.place);
    free(p.set);
    return rc;
}

/* ---- walks over entries ------------------------------------------------------------- */

int walk_term(const struct tables *t, const struct table_term *term, int run, struct walk *w)
{
    const struct cluster *c = &t->cluster[term->cluster];
    const int *state = t->state + (size_t)run * (size_t)t->num_colors;
    size_t step = c->sep_size;
    w->num = 0;
    w->place = 0;
    for (int k = -1, i = 0; k < c->num_sep; k++) { /* the table's variables, those of the term */
        int axis = k < 0 ? term->cluster : c->sep[k], states = t->cluster[axis].states;
        if (k >= 0) step /= (size_t)states;
        if (i < term->num_scope && term->scope[i] == axis) {
            int is = state[t->color[t->cluster[axis].var]];
            if (is >= states) return 0;
            w->place += step * (size_t)is;
            i++;
        } else {
            w->states[w->num] = states;
            w->step[w->num] = step;
            w->at[w->num++] = 0;
        }
    }
    return 1;
}

void walk_message(const struct tables *t, int i, struct walk *w)
{
    const struct cluster *c = &t->cluster[i], *up = &t->cluster[c->parent];
    size_t step = c->sep_size;
    w->num = 0;
    w->place = 0;
    for (int k = -1, j = 0; k < up->num_sep; k++) { /* the separator is ascending as well */
        int axis = k < 0 ? c->parent : up->sep[k], states = t->cluster[axis].states;
        int shared = j < c->num_sep && c->sep[j] == axis;
        if (shared) step /= (size_t)states, j++;
        w->states[w->num] = states;
        w->step[w->num] = shared ? step : 0;
        w->at[w->num++] = 0;
    }
}
