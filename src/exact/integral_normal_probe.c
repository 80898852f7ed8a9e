/* integral_normal_probe.c: plans which runs of the body give the coefficients of linear Gaussian
   variables: lists of variables that are read together, colors, what is read from each run. */
#include <stdlib.h>

#include "base/err.h"
#include "exact/integral_normal_planning.h"

/* ---- lists of variables ----------------------------------------------------------- */

int normal_add_list(struct normal_planning *p, const int *var, int num)
{
    return num && (vec_push(&p->list, var) || vec_push(&p->list_size, num)) ? NAMI_ENOMEM : 0;
}

int normal_index_lists(struct normal_planning *p)
{
    int n = p->g->num_vars;
    size_t total = 0;
    for (size_t l = 0; l < p->list.n; l++) total += (size_t)p->list_size.a[l];
    free(p->user_start);
    free(p->user);
    p->user_start = new_array(size_t, n + 2);
    p->user = raw_array(int, total);
    if (!p->user_start || !p->user) return NAMI_ENOMEM;
    size_t *to = p->user_start + 1; /* to[v]: end of those of v so far */
    for (size_t l = 0; l < p->list.n; l++)
        for (int k = 0; k < p->list_size.a[l]; k++) to[p->list.a[l][k] + 1]++;
    for (int v = 0; v < n; v++) to[v + 1] += to[v];
    for (size_t l = 0; l < p->list.n; l++)
        for (int k = 0; k < p->list_size.a[l]; k++) p->user[to[p->list.a[l][k]]++] = (int)l;
    return 0;
}

/* ---- colors, and what each run is for --------------------------------------------- */

/* What residual row of a term reads. */
static const int *reads(const struct normal_planning *p, const struct key *x, int row, int *num)
{
    if (!x->is_matrix) return *num = x->num_vars, x->scope;
    *num = p->reach.count[row];
    return *num ? p->reach.pool.a + p->reach.start[row] : NULL;
}

static int find_reach(struct normal_planning *p, nami_err *err)
{
    struct integral *g = p->g;
    if (!p->n->num_matrices) return 0;
    int *row = raw_array(int, g->num_vars);
    if (!row) return err_nomem(err);
    for (int v = 0; v < g->num_vars; v++) row[v] = g->num_inputs + v;
    p->has_reach = 1;
    int rc = reach_make(&p->reach, &g->body, g->num_vars, row, err);
    free(row);
    return rc;
}

static int list_residuals(struct normal_planning *p)
{
    int rc = 0;
    p->list.n = p->list_size.n = 0;
    for (int k = 0; k < p->n->num_bundles && !rc; k++) {
        const struct key *x = &p->key[p->first_key[k]];
        const struct normal_term *t = &p->g->normal[x->term];
        for (int r = 0; r < (x->is_matrix ? t->size : 1) && !rc; r++) {
            int num;
            const int *var = reads(p, x, t->residual + r, &num);
            rc = normal_add_list(p, var, num);
        }
    }
    return rc ? rc : normal_index_lists(p);
}

/* The first color that no variable of a common list has. */
static int find_colors(struct normal_planning *p)
{
    struct normal *n = p->n;
    int num = p->g->num_vars, *mark = raw_array(int, num + 1);
    n->color = arena_array(p->mem, int, num);
    if (!mark || !n->color || list_residuals(p)) {
        free(mark);
        return NAMI_ENOMEM;
    }
    for (int v = 0; v <= num; v++) mark[v] = -1;
    for (int v = 0; v < num; v++) {
        for (size_t e = p->user_start[v]; e < p->user_start[v + 1]; e++) {
            const int *var = p->list.a[p->user[e]];
            for (int k = 0; k < p->list_size.a[p->user[e]] && var[k] < v; k++)
                mark[n->color[var[k]]] = v;
        }
        while (mark[n->color[v]] == v) n->color[v]++;
        if (n->num_colors <= n->color[v]) n->num_colors = n->color[v] + 1;
    }
    free(mark);
    return 0;
}

/* Calls for each number that is read from a run. */
typedef void see_probe(struct normal_planning *p, int run, struct normal_probe x);

static void each_probe(struct normal_planning *p, see_probe *see)
{
    struct normal *n = p->n;
    for (int k = 0; k < n->num_bundles; k++) {
        const struct normal_bundle *b = &n->bundle[k];
        int run = p->slot[k].run, column = 0;
        for (int i = p->first_key[run]; i < p->first_key[run + 1]; i++) {
            const struct key *x = &p->key[i];
            const struct normal_term *t = &p->g->normal[x->term];
            for (int r = 0; r < t->size; r++, column++) {
                int num, base = (int)b->data + b->num_vars * b->num_residuals + column;
                const int *var = reads(p, x, t->residual + r, &num);
                see(p, 0, (struct normal_probe){t->residual + r, base, base});
                for (int v = 0; v < num; v++) {
                    int a = place_of(n->pivot + b->first_var, b->num_vars, n->qr.place[var[v]]);
                    struct normal_probe y = {t->residual + r,
                                             (int)b->data + a * b->num_residuals + column, base};
                    see(p, 1 + n->color[var[v]], y);
                }
            }
        }
    }
}

static void count_probe(struct normal_planning *p, int run, struct normal_probe x)
{
    (void)x;
    p->n->probe_start[run + 1]++;
}

/* probe_start[run] moves to the end, where that of the next run was. */
static void put_probe(struct normal_planning *p, int run, struct normal_probe x)
{
    p->n->probe[p->n->probe_start[run]++] = x;
}

static int make_probes(struct normal_planning *p)
{
    struct normal *n = p->n;
    int runs = n->num_colors + 1;
    if (!(n->probe_start = arena_array(p->mem, size_t, runs + 1))) return NAMI_ENOMEM;
    each_probe(p, count_probe);
    for (int r = 0; r < runs; r++) n->probe_start[r + 1] += n->probe_start[r];
    n->probe = arena_array(p->mem, struct normal_probe, n->probe_start[runs] + 1);
    if (!n->probe) return NAMI_ENOMEM;
    each_probe(p, put_probe);
    for (int r = runs; r > 0; r--) n->probe_start[r] = n->probe_start[r - 1];
    n->probe_start[0] = 0;
    return 0;
}

int normal_find_probes(struct normal_planning *p, nami_err *err)
{
    int rc = find_reach(p, err);
    if (rc) return rc;
    return find_colors(p) || make_probes(p) ? err_nomem(err) : 0;
}
