/* mcmc_label.c: labels that may be exchanged, as those of the components of a mixture.

   If the density is the same when the slices k and l of some arrays change places, for all k and l,
   the posterior has a mode for each permutation of the labels, and chains stay in theirs.  Their
   draws are permuted at random instead, which leaves the posterior as it is, so that chains that
   have found one mode have found all of them.

   Symmetries are found by the values of the density: those of swaps of the first label with each
   other one, at the random points where chains start, and again where chains are after they have
   adapted.  An action tells which dimensions of which arrays are indexed by a label (the means and
   the weights of a mixture, both dimensions of a matrix of transitions); actions on fewer arrays
   are tried first. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/vec.h"
#include "infer/mcmc.h"

enum { MOST_LABELS = 8, MOST_ACTIONS = 1024 };

/* Latent arrays with dimensions of the size in question. */
struct candidate {
    int array, num_dims, dim[2]; /* the first two of them */
};

static int element_is_coordinate(const struct joint *j, int element)
{
    int v = element_node(j->q->model, element);
    return v >= 0 && j->encoding[v].coord >= 0;
}

static int find_candidates(const struct mcmc *s, int size, struct candidate *out)
{
    const struct model *m = s->joint.q->model;
    int n = 0;
    for (int a = 0; a < model_num_arrays(m) && n < MCMC_LABELED; a++) {
        struct candidate c = {.array = a};
        int dim[MAX_DIM], nd = array_shape(m, a, dim), all = 1;
        for (int d = 0; d < nd; d++)
            if (dim[d] == size && c.num_dims < 2) c.dim[c.num_dims++] = d;
        for (int k = 0; k < array_size(m, a) && c.num_dims && all; k++)
            all = element_is_coordinate(&s->joint, array_first(m, a) + k);
        if (c.num_dims && all) out[n++] = c;
    }
    return n;
}

/* The action number `code` on n candidates: 0 for an array, it stays; otherwise the set of its
   dimensions. */
static struct symmetry action(int size, int n, const struct candidate *c, int code)
{
    struct symmetry y = {.size = size};
    for (int i = 0; i < n; i++) {
        int choices = 1 << c[i].num_dims, set = code % choices;
        code /= choices;
        if (!set) continue;
        struct labeled *a = &y.of[y.num++];
        a->array = c[i].array;
        for (int d = 0; d < c[i].num_dims; d++)
            if (set >> d & 1) a->dims |= 1u << c[i].dim[d];
    }
    return y;
}

/* ---- permutations -------------------------------------------------------------------------- */

/* The element to which element e of array a goes if label k becomes to[k]. */
static int moved(const struct model *m, const struct labeled *a, const int *to, int e)
{
    int dim[MAX_DIM], nd = array_shape(m, a->array, dim), first = array_first(m, a->array);
    int at = e - first, place = 0;
    for (int d = nd - 1, step = 1; d >= 0; step *= dim[d--]) {
        int k = at % dim[d];
        at /= dim[d];
        place += step * (a->dims >> d & 1 ? to[k] : k);
    }
    return first + place;
}

/* Point i of the n points z[row * n + i].  work: (rows) */
static void permute(const struct model *m, const struct symmetry *y, const int *to, size_t n,
                    size_t i, double *z, double *work)
{
    for (int k = 0; k < y->num; k++) {
        int first = array_first(m, y->of[k].array), size = array_size(m, y->of[k].array);
        for (int e = first; e < first + size; e++)
            work[element_row(m, moved(m, &y->of[k], to, e))] = z[(size_t)element_row(m, e) * n + i];
        for (int e = first; e < first + size; e++)
            z[(size_t)element_row(m, e) * n + i] = work[element_row(m, e)];
    }
}

/* A random permutation of labels. */
static void shuffle(int size, struct stream *s, uint64_t at, int *to)
{
    double u[MOST_LABELS];
    struct stream own = {s->seed, s->node, at};
    stream_uniform(&own, MOST_LABELS, u);
    for (int k = 0; k < size; k++) to[k] = k;
    for (int k = size - 1; k > 0; k--) {
        int other = (int)(u[k] * (k + 1)), keep = to[k];
        to[k] = to[other];
        to[other] = keep;
    }
}

int mcmc_relabel(struct mcmc *s, const struct symmetries *all, size_t n, double *u, nami_err *err)
{
    const struct model *m = s->joint.q->model;
    size_t rows = (size_t)model_num_rows(m);
    double *z = raw_array(double, rows *n), *work = raw_array(double, rows);
    int rc = z && work ? mcmc_decode(s, n, u, z, err) : err_nomem(err);
    for (int k = 0; k < all->num && !rc; k++) {
        struct stream r = {s->seed ^ 0x6c6162656c, (uint32_t)k, 0};
        int to[MOST_LABELS];
        for (size_t i = 0; i < n; i++) {
            shuffle(all->item[k].size, &r, 8 * (uint64_t)i, to);
            permute(m, &all->item[k], to, n, i, z, work);
        }
    }
    if (!rc && joint_coordinates(&s->joint, n, z, u)) rc = err_nomem(err);
    free(z), free(work);
    return rc;
}

/* ---- is a density the same? ------------------------------------------------------------------ */

/* log p(x, z), without the Jacobian, at coordinates u of as many points as there are chains. */
struct densities {
    const struct mcmc *chains;
    const double *u;
    double *value;
};

static int densities_of_lanes(void *job, void *workspace, size_t first, size_t n, nami_err *err)
{
    const struct densities *j = job;
    struct lanes_of_chains *w = workspace;
    (void)n, (void)err;
    lanes_load(j->chains, w, j->u, first);
    lanes_place(j->chains, w);
    exec_run(&w->x);
    for (size_t b = 0; b < MCMC_LANES; b++)
        j->value[first + b] = w->x.by_tag[GRADIENT_DATA * (size_t)w->x.cap + b] +
                              w->x.by_tag[GRADIENT_LATENT * (size_t)w->x.cap + b];
    return 0;
}

static int densities(struct mcmc *s, const double *u, double *value, nami_err *err)
{
    struct densities j = {s, u, value};
    return mcmc_run_job(s, &j, densities_of_lanes, err);
}

/* The points of a search, and memory. */
struct search {
    struct mcmc *chains;
    double *point, *swapped, *u, *work; /* (rows, MCMC_CHAINS), twice; (dim, MCMC_CHAINS); (rows) */
    double value[MCMC_CHAINS];
};

/* -> *same: no swap of the first label with another changes the density at any point where it is
   finite, of which there are enough. */
static int is_symmetry(struct search *x, const struct symmetry *y, int *same, nami_err *err)
{
    const struct model *m = x->chains->joint.q->model;
    size_t rows = (size_t)model_num_rows(m);
    int rc = 0;
    *same = 1;
    for (int l = 1; l < y->size && *same && !rc; l++) {
        int to[MOST_LABELS], tried = 0;
        double value[MCMC_CHAINS];
        for (int k = 0; k < y->size; k++) to[k] = k == 0 ? l : k == l ? 0 : k;
        memcpy(x->swapped, x->point, sizeof *x->point * rows * MCMC_CHAINS);
        for (size_t c = 0; c < MCMC_CHAINS; c++)
            permute(m, y, to, MCMC_CHAINS, c, x->swapped, x->work);
        if (joint_coordinates(&x->chains->joint, MCMC_CHAINS, x->swapped, x->u))
            return err_nomem(err);
        rc = densities(x->chains, x->u, value, err);
        for (int c = 0; c < MCMC_CHAINS && !rc; c++) {
            if (!isfinite(x->value[c])) continue;
            *same &= fabs(value[c] - x->value[c]) <= 1e-9 * (100 + fabs(value[c]));
            tried++;
        }
        *same &= tried >= 3;
    }
    return rc;
}

static int search_start(struct search *x, nami_err *err)
{
    size_t rows = (size_t)model_num_rows(x->chains->joint.q->model), d = (size_t)x->chains->dim;
    x->point = raw_array(double, 2 * rows * MCMC_CHAINS);
    x->u = raw_array(double, d *MCMC_CHAINS);
    x->work = raw_array(double, rows);
    if (!x->point || !x->u || !x->work) return err_nomem(err);
    x->swapped = x->point + rows * MCMC_CHAINS;
    int rc = mcmc_decode(x->chains, MCMC_CHAINS, x->chains->u, x->point, err);
    return rc ? rc : densities(x->chains, x->chains->u, x->value, err);
}

static void search_end(struct search *x) { free(x->point), free(x->u), free(x->work); }

static int has_labels(const struct symmetries *all, const struct symmetry *y)
{
    for (int k = 0; k < all->num; k++)
        for (int i = 0; i < all->item[k].num; i++)
            for (int j = 0; j < y->num; j++)
                if (all->item[k].of[i].array == y->of[j].array) return 1;
    return 0;
}

static int find_of_size(struct search *x, int size, struct symmetries *out, nami_err *err)
{
    struct candidate c[MCMC_LABELED];
    int n = find_candidates(x->chains, size, c), num = 1, rc = 0;
    for (int i = 0; i < n; i++) num *= num <= MOST_ACTIONS ? 1 << c[i].num_dims : 1;
    if (num > MOST_ACTIONS) return 0;
    for (int arrays = 1; arrays <= n && !rc; arrays++)
        for (int code = 1; code < num && out->num < MCMC_SYMMETRIES && !rc; code++) {
            struct symmetry y = action(size, n, c, code);
            int same = 0;
            if (y.num != arrays || has_labels(out, &y)) continue;
            rc = is_symmetry(x, &y, &same, err);
            if (same && !rc) out->item[out->num++] = y;
        }
    return rc;
}

int mcmc_find_symmetries(struct mcmc *s, struct symmetries *out, nami_err *err)
{
    struct search x = {.chains = s};
    int rc = search_start(&x, err);
    out->num = 0;
    for (int size = 2; size <= MOST_LABELS && !rc; size++) rc = find_of_size(&x, size, out, err);
    search_end(&x);
    return rc;
}

int mcmc_check_symmetries(struct mcmc *s, struct symmetries *all, nami_err *err)
{
    struct search x = {.chains = s};
    int rc = all->num ? search_start(&x, err) : 0, n = 0;
    for (int k = 0; k < all->num && !rc; k++) {
        int same;
        rc = is_symmetry(&x, &all->item[k], &same, err);
        if (same) all->item[n++] = all->item[k];
    }
    all->num = n;
    search_end(&x);
    return rc;
}

/* ---- labels in order ------------------------------------------------------------------------- */

/* The permutation that sorts the labels of chain c by the first array, of its other indices 0. */
static void order_of(const struct model *m, const struct symmetry *y, const double *z, size_t c,
                     int *to)
{
    double x[MOST_LABELS];
    for (int k = 0; k < y->size; k++) {
        int by[MOST_LABELS] = {k}, first = array_first(m, y->of[0].array);
        int row = element_row(m, moved(m, &y->of[0], by, first));
        x[k] = z[(size_t)row * MCMC_CHAINS + c];
    }
    for (int k = 0; k < y->size; k++) {
        to[k] = 0;
        for (int l = 0; l < y->size; l++) to[k] += x[l] < x[k] || (x[l] == x[k] && l < k);
    }
}

int mcmc_sort_labels(struct mcmc *s, const struct symmetries *all, nami_err *err)
{
    const struct model *m = s->joint.q->model;
    size_t rows = (size_t)model_num_rows(m);
    if (!all->num) return 0;
    double *z = raw_array(double, rows *MCMC_CHAINS), *work = raw_array(double, rows);
    int rc = z && work ? mcmc_decode(s, MCMC_CHAINS, s->u, z, err) : err_nomem(err);
    for (int k = 0; k < all->num && !rc; k++)
        for (size_t c = 0; c < MCMC_CHAINS; c++) {
            int to[MOST_LABELS];
            order_of(m, &all->item[k], z, c, to);
            permute(m, &all->item[k], to, MCMC_CHAINS, c, z, work);
        }
    if (!rc && joint_coordinates(&s->joint, MCMC_CHAINS, z, s->u)) rc = err_nomem(err);
    free(z), free(work);
    return rc ? rc : mcmc_evaluate(s, err);
}
