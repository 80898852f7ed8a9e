/* lane_qr_plan.c: what all lanes have in common: the order of elimination, the elimination tree in
   postorder, fronts, and where each stores what it passes to its parent and to its children. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/vec.h"
#include "exact/lane_qr.h"
#include "exact/lane_triangle.h"
#include "graph/elim.h"

/* A block of the memory that fronts share, in use. */
struct block {
    size_t from, to;
};

struct planning {
    struct lane_qr *c;
    const struct ugraph *graph;
    int *parent;             /* by pivot: the first row below it; -1 */
    int *child, *next;       /* by pivot: lists of children */
    int *mark, *work;        /* (n) */
    int *size;               /* (n) of subtrees */
    vec(int) row;            /* rows below, column by column */
    size_t *start;           /* (n + 1) of the columns */
    vec(struct block) block; /* in use, ascending */
};

static void planning_free(struct planning *p)
{
    free(p->parent);
    free(p->child);
    free(p->next);
    free(p->mark);
    free(p->work);
    free(p->size);
    free(p->start);
    vec_free(&p->row);
    vec_free(&p->block);
}

static void find_places(struct lane_qr *c)
{
    for (int k = 0; k < c->n; k++) c->place[c->order[k]] = k;
}

/* ---- the tree --------------------------------------------------------------------- */

/* Liu's algorithm: k becomes the parent of the roots above its earlier neighbors. */
static void find_tree(struct planning *p)
{
    const struct ugraph *j = p->graph;
    int *ancestor = p->work;
    for (int k = 0; k < p->c->n; k++) {
        int v = p->c->order[k];
        p->parent[k] = ancestor[k] = -1;
        for (int64_t e = j->ap[v]; e < j->ap[v + 1]; e++)
            for (int i = p->c->place[j->a[e]], up; i >= 0 && i < k; i = up) {
                up = ancestor[i];
                ancestor[i] = k; /* path compression */
                if (up < 0) p->parent[i] = k;
            }
    }
}

/* Lists of children, the one with the largest subtree first: then few fronts wait at a time. */
static void find_children(struct planning *p)
{
    int n = p->c->n, *heavy = p->work;
    for (int k = 0; k < n; k++) p->child[k] = heavy[k] = -1, p->size[k] = 1;
    for (int k = 0; k < n; k++) {
        int up = p->parent[k];
        if (up < 0) continue;
        p->size[up] += p->size[k];
        if (heavy[up] < 0 || p->size[heavy[up]] < p->size[k]) heavy[up] = k;
    }
    for (int k = n - 1; k >= 0; k--) {
        int up = p->parent[k];
        if (up < 0 || heavy[up] == k) continue;
        p->next[k] = p->child[up];
        p->child[up] = k;
    }
    for (int k = 0; k < n; k++)
        if (heavy[k] >= 0) p->next[heavy[k]] = p->child[k], p->child[k] = heavy[k];
}

/* The variables in postorder, which has the same fill. */
static void sort_tree(struct planning *p)
{
    int n = p->c->n, *old = p->mark, done = 0;
    memcpy(old, p->c->order, sizeof *old * (size_t)n);
    for (int root = 0; root < n; root++) {
        if (p->parent[root] >= 0) continue;
        for (int k = root, k_next; k >= 0; k = k_next) {
            while (p->child[k] >= 0) { /* descend; each list is consumed once */
                int down = p->child[k];
                p->child[k] = p->next[down];
                k = down;
            }
            p->c->order[done++] = old[k];
            k_next = k == root ? -1 : p->parent[k];
        }
    }
    find_places(p->c);
}

/* ---- columns of the factor -------------------------------------------------------- */

static int add_row(struct planning *p, int column, int row)
{
    if (row <= column || p->mark[row] == column) return 0;
    p->mark[row] = column;
    return vec_push(&p->row, row) ? NAMI_ENOMEM : 0;
}

/* Rows below the diagonal: neighbors, and rows of the columns of children. */
static int find_column(struct planning *p, int k)
{
    const struct ugraph *j = p->graph;
    int v = p->c->order[k], rc = 0;
    p->start[k] = p->row.n;
    for (int64_t e = j->ap[v]; e < j->ap[v + 1] && !rc; e++)
        rc = add_row(p, k, p->c->place[j->a[e]]);
    for (int i = p->child[k]; i >= 0 && !rc; i = p->next[i])
        for (size_t e = p->start[i]; e < p->start[i + 1] && !rc; e++)
            rc = add_row(p, k, p->row.a[e]);
    p->start[k + 1] = p->row.n;
    if (p->row.n) sort_ints(p->row.a + p->start[k], p->start[k + 1] - p->start[k]);
    p->parent[k] = p->start[k + 1] > p->start[k] ? p->row.a[p->start[k]] : -1;
    if (p->parent[k] >= 0) {
        p->next[k] = p->child[p->parent[k]];
        p->child[p->parent[k]] = k;
    }
    return rc;
}

static int find_columns(struct planning *p, int64_t most)
{
    int rc = 0;
    for (int k = 0; k < p->c->n; k++) p->mark[k] = p->child[k] = -1;
    for (int k = 0; k < p->c->n && !rc; k++) {
        rc = find_column(p, k);
        if ((int64_t)p->row.n > most) rc = NAMI_ELIMIT;
    }
    return rc;
}

/* ---- fronts ----------------------------------------------------------------------- */

static size_t num_below(const struct planning *p, int k) { return p->start[k + 1] - p->start[k]; }

/* Does pivot k + 1 have the same rows as pivot k? */
static int joins(const struct planning *p, int k)
{
    return k + 1 < p->c->n && p->parent[k] == k + 1 && num_below(p, k) == num_below(p, k + 1) + 1;
}

static void add_front(struct planning *p, int first, int last, size_t *rows)
{
    struct lane_qr *c = p->c;
    struct front *f = &c->front[c->num_fronts];
    int below = (int)num_below(p, last), width = last - first + 1;
    *f = (struct front){.first = first,
                        .width = width,
                        .below = below,
                        .parent = -1,
                        .rows = *rows,
                        .value = c->num_values};
    for (int i = 0; i < below; i++)
        c->row[*rows + (size_t)i] = p->row.a[p->start[last] + (size_t)i];
    *rows += (size_t)below;
    for (int k = first; k <= last; k++) c->front_of[k] = c->num_fronts;
    c->num_fronts++;
    c->num_values += triangle_size(width) + (size_t)width * ((size_t)below + 1);
    if (c->most_rows < width + below) c->most_rows = width + below;
    for (int k = 0; k < width; k++) c->flops += ((double)width + below - k) * (width + below - k);
}

/* The numbers of the rows below in the front of the parent, which has them all. */
static void find_parent(struct lane_qr *c, int k)
{
    struct front *f = &c->front[k];
    const int *row = c->row + f->rows;
    if (!f->below) return;
    f->parent = c->front_of[row[0]];
    struct front *up = &c->front[f->parent];
    f->is_first = !up->has_child;
    up->has_child = 1;
    up[1].first_child++; /* counted, at first */
    for (int i = 0, at = 0; i < f->below; i++) {
        if (row[i] < up->first + up->width) {
            c->into[f->rows + (size_t)i] = row[i] - up->first;
            continue;
        }
        while (c->row[up->rows + (size_t)at] != row[i]) at++;
        c->into[f->rows + (size_t)i] = up->width + at;
    }
}

static int find_fronts(struct planning *p, struct arena *mem)
{
    struct lane_qr *c = p->c;
    int num = 0;
    size_t rows = 0;
    for (int k = 0; k < c->n; k++)
        if (!joins(p, k)) num++, rows += num_below(p, k);
    c->front = arena_array(mem, struct front, num + 1);
    c->row = arena_array(mem, int, rows + 1);
    c->into = arena_array(mem, int, rows + 1);
    if (!c->front || !c->row || !c->into) return NAMI_ENOMEM;
    rows = 0;
    for (int k = 0, first = 0; k < c->n; k++) {
        if (joins(p, k)) continue;
        add_front(p, first, k, &rows);
        first = k + 1;
    }
    for (int k = 0; k < c->num_fronts; k++) find_parent(c, k);
    return 0;
}

/* Lists of children; how far their rows reach in the front of the parent. */
static int find_fronts_below(struct lane_qr *c, struct arena *mem)
{
    int n = c->num_fronts, *next = raw_array(int, n + 1);
    c->child = arena_array(mem, int, n + 1);
    if (next && c->child) {
        for (int k = 0; k < n; k++) c->front[k + 1].first_child += c->front[k].first_child;
        for (int k = 0; k < n; k++) next[k] = c->front[k].first_child;
        for (int k = 0; k < n; k++) {
            struct front *f = &c->front[k];
            if (!f->below) continue;
            const int *into = c->into + f->rows;
            f->end = into[f->below - 1] + 1;
            if (!f->is_first && f->end < c->front[c->child[next[f->parent] - 1]].end)
                f->end = c->front[c->child[next[f->parent] - 1]].end;
            c->child[next[f->parent]++] = k;
            f->record = c->num_records;
            for (int i = 0; i < f->below; i++) c->num_records += record_size(into[i], f->end);
        }
    }
    free(next);
    return next && c->child ? 0 : NAMI_ENOMEM;
}

/* ---- shared memory ---------------------------------------------------------------- */

/* The first gap that is large enough. */
static int reserve(struct planning *p, struct front *f)
{
    size_t size = triangle_size(f->below + 1), at = 0, i = 0;
    if (vec_reserve(&p->block, p->block.n + 1)) return NAMI_ENOMEM;
    while (i < p->block.n && p->block.a[i].from - at < size) at = p->block.a[i++].to;
    memmove(p->block.a + i + 1, p->block.a + i, sizeof *p->block.a * (p->block.n++ - i));
    p->block.a[i] = (struct block){at, at + size};
    f->update = at;
    if (p->c->num_updates < at + size) p->c->num_updates = at + size;
    return 0;
}

static void release(struct planning *p, const struct front *f)
{
    size_t i = 0;
    while (p->block.a[i].from != f->update) i++;
    memmove(p->block.a + i, p->block.a + i + 1, sizeof *p->block.a * (--p->block.n - i));
}

/* A front needs its rows below from its first child's elimination to its own. */
static int share_memory(struct planning *p)
{
    struct lane_qr *c = p->c;
    for (int k = 0; k < c->num_fronts; k++) {
        struct front *f = &c->front[k];
        if (!f->has_child && reserve(p, f)) return NAMI_ENOMEM;
        if (f->is_first && reserve(p, &c->front[f->parent])) return NAMI_ENOMEM;
        release(p, f);
    }
    return 0;
}

/* Messages to children are a stack: those to the children of a front take the place of its own.
   Work: see lane_qr_back.c, which needs most of it. */
static void place_messages(struct lane_qr *c)
{
    for (int k = c->num_fronts; k-- > 0;) {
        const struct front *f = &c->front[k];
        size_t top = f->message, own = message_size(f), rows = (size_t)front_last(f), most = 0;
        for (int i = f->first_child; i < f[1].first_child; i++) {
            struct front *child = &c->front[c->child[i]];
            child->message = top;
            top += message_size(child);
            if (most < (size_t)child->below) most = (size_t)child->below;
        }
        if (c->num_messages < top + own) c->num_messages = top + own;
        size_t work =
            triangle_size(front_last(f) + 1) + rows + most * (2 * rows + (size_t)f->below);
        if (c->num_work < work) c->num_work = work;
    }
}

/* ---- all -------------------------------------------------------------------------- */

static int plan(struct planning *p, struct arena *mem, int64_t most, nami_err *err)
{
    struct lane_qr *c = p->c;
    int n = c->n;
    c->order = arena_array(mem, int, n);
    c->place = arena_array(mem, int, n);
    c->front_of = arena_array(mem, int, n);
    p->parent = raw_array(int, n);
    p->child = raw_array(int, n);
    p->next = raw_array(int, n);
    p->mark = raw_array(int, n);
    p->work = raw_array(int, n);
    p->size = raw_array(int, n);
    p->start = raw_array(size_t, n + 1);
    if (!c->order || !c->place || !c->front_of || !p->parent || !p->child || !p->next || !p->mark ||
        !p->work || !p->size || !p->start)
        return err_nomem(err);
    int rc = elim_all(p->graph, &criteria[0], NULL, most, c->order, err);
    if (rc) return rc;
    find_places(c);
    find_tree(p);
    find_children(p);
    sort_tree(p);
    rc = find_columns(p, most);
    if (!rc) rc = find_fronts(p, mem);
    if (!rc) rc = find_fronts_below(c, mem);
    if (!rc) rc = share_memory(p);
    if (!rc) place_messages(c);
    return rc == NAMI_ENOMEM ? err_nomem(err) : rc;
}

int lane_qr_plan(struct lane_qr *c, struct arena *mem, const struct ugraph *graph, int64_t most,
                 nami_err *err)
{
    *c = (struct lane_qr){.n = graph->n};
    struct planning p = {.c = c, .graph = graph};
    int rc = plan(&p, mem, most, err);
    planning_free(&p);
    return rc;
}
