/* sparse.c: sparse Cholesky factorization: order, elimination tree, factor, solves, the selected
   inverse.

   The order is that of minimum fill (graph/elim.h).  The factor is computed row by row: row k of L
   solves L x = A[:k, k], and its entries are where the elimination tree leads from the entries of
   row k of A up to k.  Once all columns left have no zeros, the rest is dense. */
#include "infer/sparse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/simd.h"
#include "graph/elim.h"
#include "infer/dense.h"

void sparse_free(struct sparse *a)
{
    free(a->start);
    vec_free(&a->row);
    vec_free(&a->value);
    *a = (struct sparse){0};
}

void sum_add(struct exact_sum *s, double x)
{
    double t = s->sum + x;
    s->rest += fabs(s->sum) >= fabs(x) ? s->sum - t + x : x - t + s->sum;
    s->sum = t;
}

static int too_large(int64_t most, nami_err *err)
{
    return err_set(err, NAMI_ELIMIT,
                   "the Cholesky factor of the precision matrix has more than %lld numbers: the "
                   "graph of the latent variables is too dense for exact inference",
                   (long long)most);
}

/* ---- the order ---------------------------------------------------------------------- */

/* The graph of the nonzero entries of A. */
static int graph_of(const struct sparse *a, struct ugraph *j)
{
    int n = a->n;
    *j = (struct ugraph){.n = n, .ap = new_array(int64_t, n + 1)};
    j->a = raw_array(int, 2 * a->row.n);
    int64_t *to = raw_array(int64_t, n + 1);
    int bad = !j->ap || !j->a || !to;
    for (int v = 0; v < n && !bad; v++)
        for (int64_t p = a->start[v]; p < a->start[v + 1]; p++)
            if (a->row.a[p] != v) j->ap[v + 1]++, j->ap[a->row.a[p] + 1]++, j->m++;
    for (int v = 0; v < n && !bad; v++) to[v] = j->ap[v], j->ap[v + 1] += j->ap[v];
    for (int v = 0; v < n && !bad; v++)
        for (int64_t p = a->start[v]; p < a->start[v + 1]; p++) {
            int u = a->row.a[p];
            if (u != v) j->a[to[v]++] = u, j->a[to[u]++] = v;
        }
    for (int v = 0; v < n && !bad; v++)
        sort_ints(j->a + j->ap[v], (size_t)(j->ap[v + 1] - j->ap[v]));
    free(to);
    return bad ? -1 : 0;
}

/* Minimum fill; if half of the entries are nonzero, the given order: little could be gained. */
static int find_order(const struct sparse *a, int64_t most, int *order, nami_err *err)
{
    struct ugraph j;
    int64_t n = a->n;
    if ((int64_t)a->row.n >= n * (n + 1) / 4) {
        for (int k = 0; k < a->n; k++) order[k] = k;
        return 0;
    }
    int rc = graph_of(a, &j) ? err_nomem(err)
                             : elim_all(&j, &criteria[0], NULL, most, order, err);
    ugraph_fini(&j);
    return rc == NAMI_ELIMIT ? too_large(most, err) : rc;
}

/* ---- the tree ----------------------------------------------------------------------- */

/* A by the order of elimination, its lower triangle by rows, and the work of a factorization. */
struct rows {
    int n;
    int64_t *start; /* row k: start[k] .. start[k + 1] - 1 */
    int *column;    /* at most k */
    double *value;
    int *parent; /* of the elimination tree: the first row below the diagonal of each column */
    int *mark, *stack;
    int *count; /* entries of the columns of L, with the diagonal */
};

static void rows_free(struct rows *r)
{
    free(r->start);
    free(r->column);
    free(r->value);
    free(r->parent);
    free(r->mark);
    free(r->stack);
    free(r->count);
}

static int rows_new(const struct sparse *a, const int *order, struct rows *r)
{
    int n = a->n, *place = raw_array(int, n);
    int64_t *to = raw_array(int64_t, n);
    *r = (struct rows){.n = n, .start = new_array(int64_t, n + 1), .parent = raw_array(int, n)};
    r->column = raw_array(int, a->row.n);
    r->value = raw_array(double, a->row.n);
    r->mark = raw_array(int, n);
    r->stack = raw_array(int, n);
    r->count = raw_array(int, n);
    int bad = !place || !to || !r->start || !r->parent || !r->column || !r->value || !r->mark ||
              !r->stack || !r->count;
    for (int k = 0; k < n && !bad; k++) place[order[k]] = k;
    for (int j = 0; j < n && !bad; j++)
        for (int64_t p = a->start[j]; p < a->start[j + 1]; p++) {
            int i = place[a->row.a[p]];
            r->start[(i > place[j] ? i : place[j]) + 1]++;
        }
    for (int k = 0; k < n && !bad; k++) to[k] = r->start[k], r->start[k + 1] += r->start[k];
    for (int j = 0; j < n && !bad; j++)
        for (int64_t p = a->start[j]; p < a->start[j + 1]; p++) {
            int i = place[a->row.a[p]], k = place[j], row = i > k ? i : k;
            r->column[to[row]] = i > k ? k : i;
            r->value[to[row]++] = a->value.a[p];
        }
    free(place);
    free(to);
    return bad ? -1 : 0;
}

/* Liu's algorithm: k becomes the parent of the roots above the columns of row k of A. */
static void find_tree(struct rows *r)
{
    int *ancestor = r->stack;
    for (int k = 0; k < r->n; k++) {
        r->parent[k] = ancestor[k] = -1;
        for (int64_t p = r->start[k]; p < r->start[k + 1]; p++)
            for (int i = r->column[p], next; i >= 0 && i < k; i = next) {
                next = ancestor[i];
                ancestor[i] = k; /* path compression */
                if (next < 0) r->parent[i] = k;
            }
    }
}

/* The columns i < end with an entry in row k of L, descendants first: stack[top] .. stack[n - 1];
   returns top. mark[i] == k: visited. */
static int reach(struct rows *r, int k, int end)
{
    int top = r->n;
    r->mark[k] = k;
    for (int64_t p = r->start[k]; p < r->start[k + 1]; p++) {
        int depth = 0;
        for (int i = r->column[p]; i < end && r->mark[i] != k; i = r->parent[i]) {
            r->stack[depth++] = i;
            r->mark[i] = k;
        }
        while (depth) r->stack[--top] = r->stack[--depth];
    }
    return top;
}

static void clear_marks(struct rows *r)
{
    for (int k = 0; k < r->n; k++) r->mark[k] = -1;
}

/* Column counts, the first column of the dense core, the total number of entries. */
static int64_t find_sizes(struct rows *r, int *num_sparse)
{
    int n = r->n, first = n;
    int64_t num = 0;
    clear_marks(r);
    for (int k = 0; k < n; k++) r->count[k] = 1;
    for (int k = 0; k < n; k++)
        for (int t = reach(r, k, n); t < n; t++) r->count[r->stack[t]]++;
    while (first > 0 && r->count[first - 1] == n - first + 1) first--;
    for (int k = 0; k < first; k++) num += r->count[k];
    *num_sparse = first;
    return num + (int64_t)(n - first) * (n - first);
}

/* ---- the factor --------------------------------------------------------------------- */

static int room(const struct rows *r, struct chol *c)
{
    size_t core = (size_t)(c->n - c->num_sparse);
    if (!(c->start = raw_array(int64_t, c->num_sparse + 1))) return -1;
    c->start[0] = 0;
    for (int k = 0; k < c->num_sparse; k++) c->start[k + 1] = c->start[k] + r->count[k];
    c->row = raw_array(int, c->start[c->num_sparse]);
    c->value = raw_array(double, c->start[c->num_sparse]);
    c->core = new_array(double, core *core);
    return c->row && c->value && c->core ? 0 : -1;
}

/* Row k of L: x = L^-1 A[:k, k]. end[i]: end of column i so far. Returns the pivot. */
static double solve_row(struct rows *r, int k, struct chol *c, int64_t *end, double *x)
{
    int stop = k < c->num_sparse ? k : c->num_sparse;
    for (int64_t p = r->start[k]; p < r->start[k + 1]; p++) x[r->column[p]] = r->value[p];
    for (int t = reach(r, k, stop); t < r->n; t++) {
        int i = r->stack[t];
        double l = x[i] / c->value[c->start[i]];
        x[i] = 0;
        for (int64_t p = c->start[i] + 1; p < end[i]; p++) x[c->row[p]] -= c->value[p] * l;
        x[k] -= l * l;
        c->row[end[i]] = k;
        c->value[end[i]++] = l;
    }
    double d = x[k];
    x[k] = 0;
    return d;
}

/* A pivot that is so small a part of its diagonal element has lost the digits that count. */
static int is_lost(double pivot, double diagonal)
{
    return !(pivot > 1e-10 * diagonal) || isinf(pivot);
}

static double diagonal_of(const struct rows *r, int k)
{
    for (int64_t p = r->start[k]; p < r->start[k + 1]; p++)
        if (r->column[p] == k) return r->value[p];
    return 0;
}

static int factorise(struct rows *r, struct chol *c)
{
    int n = c->n, first = c->num_sparse, rc = 0;
    int64_t *end = raw_array(int64_t, first);
    double *x = new_array(double, n);
    if (!end || !x) rc = NAMI_ENOMEM;
    clear_marks(r);
    for (int k = 0; k < n && !rc; k++) {
        double d = solve_row(r, k, c, end, x);
        if (k >= first) { /* the Schur complement */
            double *to = c->core + (size_t)(k - first) * (size_t)(n - first);
            memcpy(to, x + first, sizeof *x * (size_t)(k - first));
            memset(x + first, 0, sizeof *x * (size_t)(k - first));
            to[k - first] = d;
            continue;
        }
        if (is_lost(d, diagonal_of(r, k))) rc = NAMI_EINPUT;
        c->row[c->start[k]] = k;
        c->value[c->start[k]] = sqrt(d);
        end[k] = c->start[k] + 1;
    }
    if (!rc && dense_chol(n - first, c->core)) rc = NAMI_EINPUT;
    for (int k = first; k < n && !rc; k++) {
        double l = c->core[(size_t)(k - first) * (size_t)(n - first + 1)];
        if (is_lost(l * l, diagonal_of(r, k))) rc = NAMI_EINPUT;
    }
    free(end);
    free(x);
    return rc;
}

int chol_new(const struct sparse *a, int64_t most, struct chol *out, nami_err *err)
{
    struct rows r = {0};
    *out = (struct chol){.n = a->n, .order = raw_array(int, a->n)};
    int rc = out->order ? find_order(a, most, out->order, err) : err_nomem(err);
    if (!rc && rows_new(a, out->order, &r)) rc = err_nomem(err);
    if (!rc) {
        find_tree(&r);
        out->num_entries = find_sizes(&r, &out->num_sparse);
        if (out->num_entries > most) rc = too_large(most, err);
    }
    if (!rc && room(&r, out)) rc = err_nomem(err);
    if (!rc && (rc = factorise(&r, out)) == NAMI_ENOMEM) rc = err_nomem(err);
    rows_free(&r);
    if (rc) chol_free(out);
    return rc;
}

void chol_free(struct chol *c)
{
    free(c->order);
    free(c->start);
    free(c->row);
    free(c->value);
    free(c->core);
    *c = (struct chol){0};
}

double chol_logdet(const struct chol *c)
{
    struct exact_sum s = {0};
    sum_add(&s, dense_logdet(c->n - c->num_sparse, c->core));
    for (int k = 0; k < c->num_sparse; k++) sum_add(&s, 2 * log(c->value[c->start[k]]));
    return sum_total(&s);
}

/* ---- solves ------------------------------------------------------------------------- */

WIDE static void core_lower(int n, int lanes, const double *L, double *y)
{
    for (int i = 0; i < n; i++) {
        const double *l = L + (size_t)i * (size_t)n;
        double *restrict yi = y + (size_t)i * (size_t)lanes, d = 1 / l[i];
        for (int j = 0; j < i; j++) {
            const double *yj = y + (size_t)j * (size_t)lanes;
            EACH(b, lanes) yi[b] -= l[j] * yj[b];
        }
        EACH(b, lanes) yi[b] *= d;
    }
}

WIDE static void column_lower(int64_t num, int lanes, const int *row, const double *value,
                              double *y)
{
    double *restrict from = y + (size_t)row[0] * (size_t)lanes, d = 1 / value[0];
    EACH(b, lanes) from[b] *= d;
    for (int64_t p = 1; p < num; p++) {
        double *restrict to = y + (size_t)row[p] * (size_t)lanes;
        EACH(b, lanes) to[b] -= value[p] * from[b];
    }
}

static void lower(const struct chol *c, int lanes, double *y)
{
    for (int k = 0; k < c->num_sparse; k++)
        column_lower(c->start[k + 1] - c->start[k], lanes, c->row + c->start[k],
                     c->value + c->start[k], y);
    core_lower(c->n - c->num_sparse, lanes, c->core, y + (size_t)c->num_sparse * (size_t)lanes);
}

WIDE static void core_upper(int n, int lanes, const double *L, double *y)
{
    for (int i = n - 1; i >= 0; i--) {
        const double *l = L + (size_t)i * (size_t)n;
        double *restrict yi = y + (size_t)i * (size_t)lanes, d = 1 / l[i];
        EACH(b, lanes) yi[b] *= d;
        for (int j = 0; j < i; j++) {
            double *restrict yj = y + (size_t)j * (size_t)lanes;
            EACH(b, lanes) yj[b] -= l[j] * yi[b];
        }
    }
}

WIDE static void column_upper(int64_t num, int lanes, const int *row, const double *value,
                              double *y)
{
    double *restrict to = y + (size_t)row[0] * (size_t)lanes, d = 1 / value[0];
    for (int64_t p = 1; p < num; p++) {
        const double *from = y + (size_t)row[p] * (size_t)lanes;
        EACH(b, lanes) to[b] -= value[p] * from[b];
    }
    EACH(b, lanes) to[b] *= d;
}

void chol_upper(const struct chol *c, int lanes, double *y)
{
    core_upper(c->n - c->num_sparse, lanes, c->core, y + (size_t)c->num_sparse * (size_t)lanes);
    for (int k = c->num_sparse - 1; k >= 0; k--)
        column_upper(c->start[k + 1] - c->start[k], lanes, c->row + c->start[k],
                     c->value + c->start[k], y);
}

void chol_solve(const struct chol *c, int lanes, double *x, double *y)
{
    size_t num = (size_t)lanes;
    for (int k = 0; k < c->n; k++)
        memcpy(y + (size_t)k * num, x + (size_t)c->order[k] * num, sizeof *x * num);
    lower(c, lanes, y);
    chol_upper(c, lanes, y);
    for (int k = 0; k < c->n; k++)
        memcpy(x + (size_t)c->order[k] * num, y + (size_t)k * num, sizeof *x * num);
}

/* ---- the selected inverse ----------------------------------------------------------- */

/* Z = A^-1 = L'^-1 L^-1 where L has entries.  From L' Z = L^-1, whose upper triangle is 0 but for
   the diagonal 1 / L_jj: with s the rows of column j below the diagonal and l = L_sj,

       Z_sj = -Z_ss l / L_jj,     Z_jj = (1 + l' Z_ss l) / L_jj^2,

   for j from the last to the first. s is a clique of the filled graph: Z_ss is known. */
struct inverse_work {
    double *z, *core; /* as value; the core, both triangles */
    double *sum;      /* (n) Z_ss l */
};

/* The entry at or after p with this row, which exists: galloping search. */
static int64_t seek(const int *rows, int64_t p, int64_t end, int row)
{
    int64_t step = 1;
    while (p + step < end && rows[p + step] <= row) p += step, step *= 2;
    for (; step; step /= 2)
        if (p + step < end && rows[p + step] <= row) p += step;
    return p;
}

/* sum += contribution of row b of the symmetric Z_ss: its entries a >= b, for both of each pair. */
static void add_sparse(const struct chol *c, const double *z, const int *s, const double *l, int m,
                       int b, double *sum)
{
    int64_t p = c->start[s[b]], end = c->start[s[b] + 1];
    double own = z[p] * l[b];
    for (int a = b + 1; a < m; a++) {
        p = seek(c->row, p, end, s[a]);
        sum[a] += z[p] * l[b];
        own += z[p] * l[a];
    }
    sum[b] += own;
}

static void add_core(const struct chol *c, const double *core, const int *s, const double *l, int m,
                     int b, double *sum)
{
    int first = c->num_sparse;
    const double *z = core + (size_t)(s[b] - first) * (size_t)(c->n - first);
    double own = z[s[b] - first] * l[b];
    for (int a = b + 1; a < m; a++) {
        sum[a] += z[s[a] - first] * l[b];
        own += z[s[a] - first] * l[a];
    }
    sum[b] += own;
}

static double invert_column(const struct chol *c, int j, struct inverse_work *w)
{
    int64_t at = c->start[j];
    int m = (int)(c->start[j + 1] - at - 1);
    const int *s = c->row + at + 1;
    const double *l = c->value + at + 1;
    double d = c->value[at], *z = w->z + at, quadratic = 0;
    for (int a = 0; a < m; a++) w->sum[a] = 0;
    for (int b = 0; b < m; b++)
        if (s[b] < c->num_sparse)
            add_sparse(c, w->z, s, l, m, b, w->sum);
        else
            add_core(c, w->core, s, l, m, b, w->sum);
    for (int a = 0; a < m; a++) {
        z[a + 1] = -w->sum[a] / d;
        quadratic += l[a] * w->sum[a];
    }
    return z[0] = (1 + quadratic) / d / d;
}

int chol_variances(const struct chol *c, double *variance, nami_err *err)
{
    int first = c->num_sparse, rc = 0;
    size_t core = (size_t)(c->n - first);
    double *work = raw_array(double, core *core);
    struct inverse_work w = {.z = raw_array(double, c->start[first]),
                             .core = raw_array(double, core *core),
                             .sum = raw_array(double, c->n)};
    if (!work || !w.z || !w.core || !w.sum) rc = err_nomem(err);
    if (!rc) dense_inverse(c->n - first, c->core, work, w.core);
    for (size_t k = 0; k < core && !rc; k++)
        variance[c->order[(size_t)first + k]] = w.core[k * core + k];
    for (int j = first - 1; j >= 0 && !rc; j--) variance[c->order[j]] = invert_column(c, j, &w);
    free(work);
    free(w.z);
    free(w.core);
    free(w.sum);
    return rc;
}
