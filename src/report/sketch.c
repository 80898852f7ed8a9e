/* sketch.c: prepares a picture: variables grouped by statement, edges of model and inverse,
   nested plates. */
#include "report/sketch.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"

enum { MAX_NODES = 400, MAX_EDGES = 800, SHORT_RUN = 16 };

/* Variables that one node of the picture stands for are a class; often of one. */
struct classes {
    const struct view *w;
    int n, *of; /* how many; by variable */
    int *start,
        *place; /* where class c stands in the inverse: place[start[c]] .. of perm, increasing */
    unsigned char *has[2];   /* by side: has[from * n + to] */
    unsigned char *is_model; /* by variable */
};

/* Without loops, statements and variables are the same. */
static int by_class(const struct bn *bn) { return bn->cls.n && bn->plate.n; }

static int too_large(const struct view *w, nami_err *err)
{
    int64_t edges = w->h && w->h->edges > w->bn->dag.m ? w->h->edges : w->bn->dag.m;
    return err_set(err, NAMI_ELIMIT,
                   "too large to draw: %d nodes and %lld edges; at most %d and %d can be read, "
                   "use JSON instead",
                   bn_n(w->bn), (long long)edges, MAX_NODES, MAX_EDGES);
}

/* ---- classes ------------------------------------------------------------------------ */

/* Sorts the inverse's places by class. */
static void find_places(struct classes *q)
{
    const struct inverse *h = q->w->h;
    int n = h->nlatent + h->nobserved;
    for (int i = 0; i < n; i++) q->start[q->of[h->perm[i]] + 1]++;
    for (int c = 0; c < q->n; c++) q->start[c + 1] += q->start[c];
    for (int i = n - 1; i >= 0; i--) q->place[--q->start[q->of[h->perm[i]] + 1]] = i;
    /* start[c + 1] is now where class c begins: move down */
    memmove(q->start, q->start + 1, sizeof(int) * (size_t)q->n);
    q->start[q->n] = n;
}

static int classes_init(struct classes *q, const struct view *w)
{
    const struct bn *bn = w->bn;
    int n = bn_n(bn);
    size_t pairs;
    q->w = w;
    q->n = by_class(bn) ? (int)bn->cls.n : n;
    pairs = (size_t)q->n * (size_t)q->n;
    q->of = raw_array(int, n);
    q->start = new_array(int, q->n + 1);
    q->place = raw_array(int, n);
    q->is_model = new_array(unsigned char, n);
    for (int k = 0; k < 2; k++) q->has[k] = new_array(unsigned char, pairs);
    if (!q->of || !q->start || !q->place || !q->is_model || !q->has[0] || !q->has[1]) return -1;
    for (int v = 0; v < n; v++) q->of[v] = by_class(bn) ? bn->node.a[v].cls : v;
    for (int i = 0; w->h && i < w->h->nmodel; i++) q->is_model[w->h->model[i]] = 1;
    if (w->h) find_places(q);
    return 0;
}

static void classes_fini(struct classes *q)
{
    free(q->of);
    free(q->start);
    free(q->place);
    free(q->is_model);
    for (int k = 0; k < 2; k++) free(q->has[k]);
}

/* ---- edges -------------------------------------------------------------------------- */

static void join(struct classes *q, enum side side, int from, int to)
{
    q->has[side][(size_t)q->of[from] * (size_t)q->n + (size_t)q->of[to]] = 1;
}

/* Does class c stand anywhere in this run? */
static int meets(const struct classes *q, int c, const struct run *r)
{
    int lo = q->start[c], hi = q->start[c + 1];
    while (lo < hi) {
        int mid = lo + (hi - lo) / 2;
        if (q->place[mid] < r->start)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < q->start[c + 1] && q->place[lo] - r->start < r->count;
}

/* The inverse of a chain has as many edges as the square of its length, but few runs: of a long
   run it is only asked which of the classes that are not parents yet occur in it. */
static void join_run(struct classes *q, const struct run *r, int to)
{
    const int *perm = q->w->h->perm;
    size_t n = (size_t)q->n, c = (size_t)q->of[to];
    for (int i = r->start; r->count <= SHORT_RUN && i < r->start + r->count; i++)
        join(q, INVERSE, perm[i], to);
    for (size_t k = 0; r->count > SHORT_RUN && k < n; k++)
        if (!q->has[INVERSE][k * n + c] && meets(q, (int)k, r)) q->has[INVERSE][k * n + c] = 1;
}

static void join_all(struct classes *q)
{
    const struct inverse *h = q->w->h;
    const struct dag *g = &q->w->bn->dag;
    for (int v = 0; v < g->n; v++)
        for_parents (g, v, u) {
            join(q, MODEL, u, v);
            /* a nuisance has no place in the inverse */
            if (q->is_model[v] && (h->pos[u] >= 0 || q->is_model[u])) join(q, INVERSE, u, v);
        }
    for (int i = 0; h && i < h->nlatent; i++)
        for (int64_t r = h->ptr[i]; r < h->ptr[i + 1]; r++) join_run(q, &h->run.a[r], h->perm[i]);
}

static int add_edges(struct sketch *s, const struct classes *q, enum side side)
{
    size_t n = (size_t)q->n;
    const unsigned char *has = q->has[side], *model = q->has[MODEL];
    for (size_t i = 0; i < n; i++)
        for (size_t from = 0; from < n; from++) {
            /* Backwards: then Graphviz most often keeps left and right as in the model. */
            size_t to = side == MODEL ? i : n - 1 - i;
            unsigned look = 0;
            if (!has[from * n + to]) continue;
            if (from != to && has[to * n + from]) {
                if (from < to) continue; /* drawn once, with a head at either end */
                look |= 1u << BOTH;
            }
            if (!model[from * n + to] && !model[to * n + from]) look |= 1u << ADDED;
            struct sketch_edge e = {(int)from, (int)to, look};
            if (vec_push(&s->edge[side], e)) return -1;
        }
    return 0;
}

/* ---- nodes -------------------------------------------------------------------------- */

static int add_nodes(struct sketch *s, const struct classes *q)
{
    const struct bn *bn = q->w->bn;
    const struct inverse *h = q->w->h;
    struct {
        int all, observed, nuisance, factor, model, exact;
    } *count = mem_zero((size_t)s->n, sizeof *count);
    if (!count) return -1;
    for (int v = 0; v < bn_n(bn); v++) {
        int c = q->of[v];
        count[c].all++;
        count[c].observed += bn->node.a[v].observed;
        count[c].nuisance += bn->node.a[v].nuisance && !bn->node.a[v].observed;
        count[c].factor += h && h->pos[v] >= 0;
        count[c].model += q->is_model[v];
        count[c].exact += h && h->pos[v] >= 0 && h->pos[v] < h->nexact;
        if (!s->by_class) s->node[c].name = bn_name(bn, v);
    }
    for (int c = 0; c < s->n; c++) {
        struct sketch_node *x = &s->node[c];
        int latent = count[c].all - count[c].observed;
        if (s->by_class) x->name = bn->cls.a[c].name;
        if (count[c].observed) x->look |= 1u << (latent ? PARTLY : OBSERVED);
        if (latent && count[c].nuisance == latent) x->look |= 1u << NUISANCE;
        x->in_inverse = count[c].factor || count[c].model;
        x->model_factor = latent && count[c].model == latent;
        x->exact_factor = latent && count[c].exact == latent;
        x->plate = s->by_class ? bn->cls.a[c].plate : -1;
    }
    free(count);
    return 0;
}

/* ---- plates ------------------------------------------------------------------------- */

/* Is plate a inside b (1), apart from it (0), or do they cross (-1)?  Equal
   plates count as inside each other. */
static int inside(const struct bn_plate *a, const struct bn_plate *b)
{
    int common = 0;
    for (int i = 0; i < a->n; i++)
        for (int k = 0; k < b->n; k++) common += a->node[i] == b->node[k];
    return common == a->n ? 1 : common == 0 ? 0 : -1;
}

/* Boxes can only be nested, so a plate that crosses an earlier one is left out.  Larger plates
   come first: each is put in the last one around it. */
static int nest_plates(struct sketch *s, const struct bn *bn)
{
    int n = (int)bn->plate.n;
    int *by_size = raw_array(int, n), *from = raw_array(int, n);
    for (int i = 0; by_size && from && i < n; i++) {
        int k = i;
        for (; k > 0 && bn->plate.a[by_size[k - 1]].n < bn->plate.a[i].n; k--)
            by_size[k] = by_size[k - 1];
        by_size[k] = i;
    }
    for (int i = 0; by_size && from && i < n; i++) {
        const struct bn_plate *p = &bn->plate.a[by_size[i]];
        int outer = -1, crosses = 0;
        for (int k = 0; k < s->nplate; k++) {
            int in = inside(p, &bn->plate.a[from[k]]);
            if (in > 0) outer = k;
            crosses |= in < 0;
        }
        if (crosses) continue;
        for (int k = 0; k < p->n; k++) s->node[p->node[k]].plate = s->nplate;
        from[s->nplate] = by_size[i];
        s->plate[s->nplate++] = (struct sketch_plate){p->label ? p->label : "", outer};
    }
    int rc = by_size && from ? 0 : -1;
    free(by_size);
    free(from);
    return rc;
}

static int add_plates(struct sketch *s, const struct bn *bn)
{
    if (!(s->plate = new_array(struct sketch_plate, bn->plate.n))) return -1;
    if (!s->by_class) return nest_plates(s, bn);
    for (; s->nplate < (int)bn->plate.n; s->nplate++) {
        const struct bn_plate *p = &bn->plate.a[s->nplate];
        s->plate[s->nplate] = (struct sketch_plate){p->label, p->outer};
    }
    return 0;
}

/* ------------------------------------------------------------------------------- */

int sketch_init(struct sketch *s, const struct view *w, nami_err *err)
{
    struct classes q = {0};
    int rc;
    *s = (struct sketch){.by_class = by_class(w->bn)};
    s->n = s->by_class ? (int)w->bn->cls.n : bn_n(w->bn);
    if (s->n > MAX_NODES) return too_large(w, err);
    rc = classes_init(&q, w);
    if (!rc && !(s->node = new_array(struct sketch_node, s->n))) rc = -1;
    if (!rc) join_all(&q);
    if (!rc && (add_nodes(s, &q) || add_edges(s, &q, MODEL) || add_edges(s, &q, INVERSE) ||
                add_plates(s, w->bn)))
        rc = -1;
    classes_fini(&q);
    if (rc) rc = err_nomem(err);
    if (!rc && (s->edge[MODEL].n > MAX_EDGES || s->edge[INVERSE].n > MAX_EDGES))
        rc = too_large(w, err);
    if (rc) sketch_fini(s);
    return rc;
}

void sketch_fini(struct sketch *s)
{
    free(s->node);
    free(s->plate);
    for (int k = 0; k < 2; k++) vec_free(&s->edge[k]);
    *s = (struct sketch){0};
}
