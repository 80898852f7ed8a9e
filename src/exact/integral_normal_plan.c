/* integral_normal_plan.c: plans integrals over linear Gaussian variables: bundles of terms, the
   elimination, memory. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "exact/collapse.h"
#include "exact/integral_normal_planning.h"
#include "exact/lane_triangle.h"

/* Entries of a factor; doubles that stay in the cache. */
enum { MOST = 1 << 24, CACHE = 1 << 15 };

static void planning_free(struct normal_planning *p)
{
    free(p->key);
    free(p->first_key);
    free(p->slot);
    free(p->user_start);
    free(p->user);
    if (p->has_reach) reach_free(&p->reach);
    vec_free(&p->list);
    vec_free(&p->list_size);
    free(p->matrix_of);
}

static int too_large(const struct normal_planning *p, nami_err *err)
{
    return err_set(err, NAMI_ELIMIT,
                   "is one of %d linear Gaussian variables whose precision matrix is too dense to "
                   "be factorized",
                   p->g->num_vars);
}

/* ---- bundles ---------------------------------------------------------------------- */

static int compare_variables(const struct key *x, const struct key *y)
{
    if (x->comp != y->comp) return x->comp < y->comp ? -1 : 1;
    if (x->is_matrix != y->is_matrix) return x->is_matrix - y->is_matrix;
    if (x->num_vars != y->num_vars) return x->num_vars < y->num_vars ? -1 : 1;
    for (int k = 0; k < x->num_vars; k++)
        if (x->scope[k] != y->scope[k]) return x->scope[k] < y->scope[k] ? -1 : 1;
    return 0;
}

static int compare_keys(const void *a, const void *b)
{
    const struct key *x = a, *y = b;
    int order = compare_variables(x, y);
    return order ? order : x->term < y->term ? -1 : x->term > y->term;
}

/* Runs of terms with the same variables; each matrix is a run of its own. */
static int find_bundles(struct normal_planning *p)
{
    struct integral *g = p->g;
    int num = 0, n = g->num_terms;
    p->key = raw_array(struct key, n);
    p->first_key = raw_array(int, n + 1);
    if (!p->key || !p->first_key) return NAMI_ENOMEM;
    for (int c = 0; c < g->num_comps; c++)
        for (int t = g->term_start[c]; t < g->term_start[c + 1]; t++)
            p->key[t] = (struct key){g->scope + g->scope_start[t],
                                     (int)(g->scope_start[t + 1] - g->scope_start[t]), c,
                                     g->normal[t].kind != SCALE_SD, t};
    qsort(p->key, (size_t)n, sizeof *p->key, compare_keys);
    for (int k = 0; k < n; k++)
        if (!k || p->key[k].is_matrix || compare_variables(&p->key[k], &p->key[k - 1]))
            p->first_key[num++] = k;
    p->first_key[num] = n;
    p->n->num_bundles = num;
    return 0;
}

/* ---- the elimination -------------------------------------------------------------- */

static int list_bundles(struct normal_planning *p)
{
    int rc = 0;
    for (int k = 0; k < p->n->num_bundles && !rc; k++) {
        const struct key *x = &p->key[p->first_key[k]];
        rc = normal_add_list(p, x->scope, x->num_vars);
    }
    return rc ? rc : normal_index_lists(p);
}

/* Other variables in the lists of v, ascending, to `to`; returns their number. */
static int neighbors(const struct normal_planning *p, int v, int *mark, int *to)
{
    int num = 0;
    for (size_t e = p->user_start[v]; e < p->user_start[v + 1]; e++) {
        const int *var = p->list.a[p->user[e]];
        for (int k = 0, n = p->list_size.a[p->user[e]]; k < n; k++) {
            if (var[k] == v || mark[var[k]] == v) continue;
            mark[var[k]] = v;
            to[num++] = var[k];
        }
    }
    sort_ints(to, (size_t)num);
    return num;
}

static int make_graph(const struct normal_planning *p, struct ugraph *j)
{
    int n = p->g->num_vars, rc = 0, *mark = raw_array(int, n), *work = raw_array(int, n);
    vec(int) all = {0};
    *j = (struct ugraph){.n = n, .ap = new_array(int64_t, n + 1)};
    if (!mark || !work || !j->ap) rc = NAMI_ENOMEM;
    for (int v = 0; v < n && !rc; v++) mark[v] = -1;
    for (int v = 0; v < n && !rc; v++) {
        int num = neighbors(p, v, mark, work);
        if (all.n + (size_t)num > MOST) rc = NAMI_ELIMIT;
        for (int k = 0; k < num && !rc; k++)
            if (vec_push(&all, work[k])) rc = NAMI_ENOMEM;
        j->ap[v + 1] = (int64_t)all.n;
    }
    if (!rc && !all.a && vec_reserve(&all, 1)) rc = NAMI_ENOMEM;
    j->a = all.a;
    j->m = (int64_t)all.n / 2;
    free(mark);
    free(work);
    return rc;
}

static int factorize(struct normal_planning *p, nami_err *err)
{
    struct ugraph j = {0};
    double pairs = 0;
    for (size_t l = 0; l < p->list.n; l++) pairs += (double)p->list_size.a[l] * p->list_size.a[l];
    if (pairs > 16.0 * MOST) return NAMI_ELIMIT;
    int rc = make_graph(p, &j);
    if (!rc) rc = lane_qr_plan(&p->n->qr, p->mem, &j, MOST, err);
    ugraph_fini(&j);
    return rc;
}

/* ---- scales ----------------------------------------------------------------------- */

static int find_sds(struct normal_planning *p)
{
    struct integral *g = p->g;
    struct normal *n = p->n;
    int num = 0;
    if (!(n->sd = arena_array(p->mem, int, g->num_terms + 1))) return NAMI_ENOMEM;
    for (int t = 0; t < g->num_terms; t++)
        if (g->normal[t].kind == SCALE_SD) n->sd[num++] = g->normal[t].scale[0];
    sort_ints(n->sd, (size_t)num);
    for (int k = 0; k < num; k++)
        if (!k || n->sd[k] != n->sd[k - 1]) n->sd[n->num_sds++] = n->sd[k];
    return 0;
}

/* How often each standard deviation occurs in each component. */
static int count_uses(struct normal_planning *p)
{
    struct integral *g = p->g;
    struct normal *n = p->n;
    int rc = 0, *count = new_array(int, n->num_sds), *list = raw_array(int, g->num_terms);
    vec(struct normal_use) use = {0};
    if (!count || !list) rc = NAMI_ENOMEM;
    for (int c = 0; c < g->num_comps && !rc; c++) {
        int num = 0;
        for (int t = g->term_start[c]; t < g->term_start[c + 1]; t++) {
            if (g->normal[t].kind != SCALE_SD) continue;
            int sd = place_of(n->sd, n->num_sds, g->normal[t].scale[0]);
            if (!count[sd]) list[num++] = sd;
            count[sd] += g->normal[t].size;
        }
        for (int k = 0; k < num && !rc; k++) {
            struct normal_use x = {list[k], c, count[list[k]]};
            if (vec_push(&use, x)) rc = NAMI_ENOMEM;
            count[list[k]] = 0;
        }
    }
    n->num_uses = (int)use.n;
    n->use = arena_array(p->mem, struct normal_use, use.n + 1);
    if (!n->use) rc = NAMI_ENOMEM;
    if (!rc && use.n) memcpy(n->use, use.a, sizeof *use.a * use.n);
    vec_free(&use);
    free(count);
    free(list);
    return rc;
}

static int compare_matrices(const void *a, const void *b)
{
    const struct normal_term *x = *(const struct normal_term *const *)a;
    const struct normal_term *y = *(const struct normal_term *const *)b;
    if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
    if (x->size != y->size) return x->size < y->size ? -1 : 1;
    return memcmp(x->scale, y->scale, sizeof *x->scale * (size_t)x->size * (size_t)x->size);
}

/* Terms with the same elements share a matrix. */
static int find_matrices(struct normal_planning *p)
{
    struct integral *g = p->g;
    struct normal *n = p->n;
    int num = 0;
    const struct normal_term **list = raw_array(const struct normal_term *, g->num_terms);
    p->matrix_of = raw_array(int, g->num_terms);
    n->matrix = arena_array(p->mem, struct normal_matrix, g->num_terms + 1);
    if (!list || !p->matrix_of || !n->matrix) {
        free(list);
        return NAMI_ENOMEM;
    }
    for (int t = 0; t < g->num_terms; t++) {
        p->matrix_of[t] = -1;
        if (g->normal[t].kind != SCALE_SD) list[num++] = &g->normal[t];
    }
    qsort(list, (size_t)num, sizeof *list, compare_matrices);
    for (int k = 0; k < num; k++) {
        if (!k || compare_matrices(&list[k], &list[k - 1]))
            n->matrix[n->num_matrices++] =
                (struct normal_matrix){list[k]->size, list[k]->kind, list[k]->scale, 0, 0};
        p->matrix_of[list[k] - g->normal] = n->num_matrices - 1;
    }
    free(list);
    return 0;
}

/* ---- bundles by front ------------------------------------------------------------- */

/* The row of pivot k in a front. */
static int row_of(const struct lane_qr *c, const struct front *f, int k)
{
    if (k < f->first + f->width) return k - f->first;
    return f->width + place_of(c->row + f->rows, f->below, k);
}

static struct slot slot_of(const struct normal_planning *p, int run)
{
    const struct key *x = &p->key[p->first_key[run]];
    const struct lane_qr *c = &p->n->qr;
    int first = INT_MAX, last = -1;
    for (int k = 0; k < x->num_vars; k++) {
        int pivot = c->place[x->scope[k]];
        if (pivot < first) first = pivot;
        if (pivot > last) last = pivot;
    }
    if (!x->num_vars) return (struct slot){c->num_fronts, 0, run};
    int front = c->front_of[first];
    return (struct slot){front, row_of(c, &c->front[front], last) + 1, run};
}

static int compare_slots(const void *a, const void *b)
{
    const struct slot *x = a, *y = b;
    if (x->front != y->front) return x->front < y->front ? -1 : 1;
    if (x->end != y->end) return x->end < y->end ? -1 : 1;
    return x->run < y->run ? -1 : 1;
}

/* By front; those that reach few columns first: they fill fewer entries. */
static int sort_bundles(struct normal_planning *p)
{
    struct normal *n = p->n;
    int num = n->num_bundles, fronts = n->qr.num_fronts;
    n->bundle_start = arena_array(p->mem, int, fronts + 2);
    p->slot = raw_array(struct slot, num);
    if (!n->bundle_start || !p->slot) return NAMI_ENOMEM;
    for (int k = 0; k < num; k++) p->slot[k] = slot_of(p, k);
    qsort(p->slot, (size_t)num, sizeof *p->slot, compare_slots);
    for (int k = 0; k < num; k++) n->bundle_start[p->slot[k].front + 1]++;
    for (int f = 0; f <= fronts; f++) n->bundle_start[f + 1] += n->bundle_start[f];
    return 0;
}

/* Rows of children enter a front before: columns that they reach. */
static int child_end(const struct lane_qr *c, const struct front *f)
{
    return f[1].first_child > f->first_child ? c->front[c->child[f[1].first_child - 1]].end : 0;
}

static void fill_bundle(struct normal_planning *p, int k, size_t *vars, size_t *sds)
{
    struct normal *n = p->n;
    struct normal_bundle *b = &n->bundle[k];
    int run = p->slot[k].run, first = p->first_key[run], last = p->first_key[run + 1];
    const struct key *x = &p->key[first];
    int front = p->slot[k].front, num = 0;
    for (int i = first; i < last; i++) num += p->g->normal[p->key[i].term].size;
    *b = (struct normal_bundle){.comp = x->comp,
                                .front = x->num_vars ? front : -1,
                                .num_vars = x->num_vars,
                                .num_residuals = num,
                                .matrix = p->matrix_of[x->term],
                                .first_var = *vars,
                                .first_residual = *sds,
                                .data = n->num_slab};
    n->num_slab += (size_t)(x->num_vars + 1) * (size_t)num;
    int *pivot = n->pivot + *vars;
    for (int i = 0; i < x->num_vars; i++) pivot[i] = n->qr.place[x->scope[i]];
    sort_ints(pivot, (size_t)x->num_vars);
    if (b->front >= 0) {
        const struct front *f = &n->qr.front[front];
        for (int i = 0; i < x->num_vars; i++)
            n->at[*vars + (size_t)i] = row_of(&n->qr, f, pivot[i]);
        int earlier = child_end(&n->qr, f);
        b->end = p->slot[k].end > earlier ? p->slot[k].end : earlier;
    }
    *vars += (size_t)x->num_vars;
    for (int i = first; i < last && b->matrix < 0; i++) {
        const struct normal_term *t = &p->g->normal[p->key[i].term];
        for (int r = 0; r < t->size; r++)
            n->sd_of[(*sds)++] = place_of(n->sd, n->num_sds, t->scale[0]);
    }
}

static int make_bundles(struct normal_planning *p)
{
    struct normal *n = p->n;
    size_t vars = 0, sds = 0;
    for (int k = 0; k < n->num_bundles; k++) vars += (size_t)p->key[p->first_key[k]].num_vars;
    for (int t = 0; t < p->g->num_terms; t++) sds += (size_t)p->g->normal[t].size;
    n->bundle = arena_array(p->mem, struct normal_bundle, n->num_bundles + 1);
    n->at = arena_array(p->mem, int, vars + 1);
    n->pivot = arena_array(p->mem, int, vars + 1);
    n->sd_of = arena_array(p->mem, int, sds + 1);
    if (!n->bundle || !n->at || !n->pivot || !n->sd_of) return NAMI_ENOMEM;
    vars = sds = 0;
    for (int k = 0; k < n->num_bundles; k++) fill_bundle(p, k, &vars, &sds);
    return n->num_slab > 8 * (size_t)MOST ? NAMI_ELIMIT : 0;
}

/* ---- constants, memory, cost ------------------------------------------------------ */

static int find_constants(struct normal_planning *p)
{
    static const double half_log_2pi = 0.91893853320467274178;
    struct integral *g = p->g;
    struct normal *n = p->n;
    n->constant = arena_array(p->mem, double, g->num_comps);
    n->front_comp = arena_array(p->mem, int, n->qr.num_fronts + 1);
    int *comp = raw_array(int, g->num_vars);
    if (n->constant && n->front_comp && comp) {
        for (int c = 0; c < g->num_comps; c++) {
            int rows = 0;
            for (int t = g->term_start[c]; t < g->term_start[c + 1]; t++) rows += g->normal[t].size;
            n->constant[c] = half_log_2pi * (g->var_start[c + 1] - g->var_start[c] - rows);
            for (int v = g->var_start[c]; v < g->var_start[c + 1]; v++) comp[v] = c;
        }
        for (int f = 0; f < n->qr.num_fronts; f++)
            n->front_comp[f] = comp[n->qr.order[n->qr.front[f].first]];
    }
    free(comp);
    return n->constant && n->front_comp && comp ? 0 : NAMI_ENOMEM;
}

static size_t take(size_t *total, size_t num)
{
    size_t at = *total;
    *total += num;
    return at;
}

static void place_matrices(struct normal *n)
{
    for (int k = 0; k < n->num_matrices; k++) {
        struct normal_matrix *x = &n->matrix[k];
        x->gradient = take(&n->num_slab, (size_t)x->size * (size_t)x->size);
        x->factor = take(&n->num_scratch, triangle_size(x->size));
    }
}

/* Entries of the largest dense matrix: a front, or a bundle. */
static size_t largest(const struct normal *n)
{
    size_t most = triangle_size(n->qr.most_rows + 1);
    for (int k = 0; k < n->num_bundles; k++) {
        const struct normal_bundle *b = &n->bundle[k];
        size_t size = (size_t)(b->num_vars + 1) * (size_t)b->num_residuals;
        if (most < size) most = size;
    }
    return most;
}

/* Records of bundles follow those of fronts. */
static void place_records(struct normal *n)
{
    n->record = take(&n->num_scratch, n->qr.num_records);
    for (int k = 0; k < n->num_bundles; k++) {
        struct normal_bundle *b = &n->bundle[k];
        if (b->front < 0) continue;
        size_t size = record_size(n->at[b->first_var], b->end);
        b->record = take(&n->num_scratch, size * (size_t)b->num_residuals);
    }
}

static void place(struct normal_planning *p)
{
    struct integral *g = p->g;
    struct normal *n = p->n;
    size_t *all = &n->num_scratch, residual = 1;
    for (int k = 0; k < n->num_bundles; k++) {
        const struct normal_bundle *b = &n->bundle[k];
        size_t rows = b->front < 0 ? 0 : (size_t)front_last(&n->qr.front[b->front]);
        size_t most = (b->matrix < 0 ? 1 : (size_t)b->num_residuals) * (3 * rows + 1);
        if (residual < most) residual = most;
    }
    n->sd_gradient = take(&n->num_slab, (size_t)n->num_sds);
    place_matrices(n);
    n->weight = take(all, (size_t)n->num_sds);
    n->log_weight = take(all, (size_t)n->num_sds);
    n->log_factor = take(all, (size_t)n->num_matrices);
    n->value = take(all, n->qr.num_values);
    n->update = take(all, n->qr.num_updates);
    n->point = take(all, (size_t)g->num_vars);
    n->total = take(all, (size_t)g->num_comps);
    n->incoming = take(all, (size_t)g->num_comps);
    place_records(n);
    n->message = take(all, n->qr.num_messages);
    n->work = take(all, n->qr.num_work);
    n->residual = take(all, 1 + residual);
    size_t chunk = CACHE / largest(n) / 8 * 8;
    n->chunk = chunk < 8 ? 8 : chunk > (size_t)g->lanes ? g->lanes : (int)chunk;
    g->extra = 8 + n->num_slab * (size_t)g->lanes + n->num_scratch * (size_t)n->chunk;
}

static void find_cost(struct normal_planning *p)
{
    struct integral *g = p->g;
    struct normal *n = p->n;
    double own = n->qr.flops, body = prog_cost(&g->body);
    for (int k = 0; k < n->num_bundles; k++) {
        const struct normal_bundle *b = &n->bundle[k];
        double vars = b->num_vars, size = b->num_residuals;
        own += vars * (vars + 1) / 2 * size;
        if (b->matrix >= 0) own += vars * size * size / 2 + size * size * size / 6;
    }
    g->runs = 1 + n->num_colors + own / (body > 1 ? body : 1);
}

static int plan(struct normal_planning *p, nami_err *err)
{
    int rc = find_bundles(p);
    if (!rc) rc = list_bundles(p);
    if (!rc) rc = factorize(p, err);
    if (!rc) rc = find_sds(p);
    if (!rc) rc = count_uses(p);
    if (!rc) rc = find_matrices(p);
    if (!rc) rc = sort_bundles(p);
    if (!rc) rc = make_bundles(p);
    if (rc == NAMI_ELIMIT) return too_large(p, err);
    if (rc) return rc == NAMI_ENOMEM ? err_nomem(err) : rc;
    if ((rc = normal_find_probes(p, err))) return rc;
    if (find_constants(p)) return err_nomem(err);
    place(p);
    find_cost(p);
    return 0;
}

int normal_plan(struct integral *g, nami_err *err)
{
    struct normal_planning p = {.g = g, .mem = &g->body.mem};
    p.n = g->own = arena_alloc(p.mem, sizeof *p.n);
    int rc = p.n ? plan(&p, err) : err_nomem(err);
    planning_free(&p);
    return rc;
}
