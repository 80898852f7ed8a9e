/* map.c: maximum a posteriori estimates by L-BFGS from several draws of the network, and Laplace
   standard deviations from the curvature. */
#include "infer/map.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/workers.h"
#include "infer/dense.h"
#include "infer/exact.h"
#include "net/joint.h"

enum { LANES = 64, NUMBERS = 1 << 22 };

/* The workspace of one thread. */
struct worker {
    struct exec x;
    double *none; /* (cap): zeros, the weight of the Jacobian in the density of z */
    double *g;    /* (n) */
    struct lbfgs b[LANES];
    double *H, *J, *row; /* for standard deviations: (n, n), (latent rows, n), (n) */
};

struct job {
    const struct query *q;
    const struct map_options *opt;
    struct joint joint;
    int *row, nrow; /* of the latents */
    double *u;      /* [coordinate * nset * starts + set * starts + start]: begins and ends */
    double *best;   /* [coordinate * nset + set] */
    struct map_mode *each, *out;
    size_t first; /* of the current searches */
    double *z, *sd;
};

/* ---- log p ------------------------------------------------------------------------------ */

static void set_lane(const struct job *j, struct exec *x, int b, size_t set, const double *u)
{
    const struct query *q = j->q;
    size_t cap = (size_t)x->cap;
    for (size_t r = 0; r < (size_t)model_num_rows(j->joint.q->model); r++)
        x->row[r * cap + (size_t)b] = q->x[r * q->nset + set];
    for (size_t k = 0; k < (size_t)j->joint.num_coordinates; k++)
        x->row[((size_t)j->joint.coord + k) * cap + (size_t)b] = u[k];
}

static double value(const struct job *j, const struct exec *x, int b)
{
    return x->total[b] - (j->opt->unconstrained ? 0 : x->by_tag[GRADIENT_JACOBIAN * x->cap + b]);
}

static double slope(const struct job *j, const struct exec *x, int b, int k)
{
    return x->adj[((size_t)j->joint.coord + (size_t)k) * (size_t)x->cap + (size_t)b];
}

static int init(void *job, void *workspace, nami_err *err)
{
    const struct job *j = job;
    struct worker *w = workspace;
    size_t n = (size_t)j->joint.num_coordinates;
    int rc = exec_init(&w->x, &j->joint.prog, LANES, GRADIENT_GROUPS, EXEC_GRAD, err);
    if (rc) return rc;
    w->x.param = model_weights(j->joint.q->model);
    w->none = new_array(double, w->x.cap);
    w->g = raw_array(double, n);
    if (!w->none || !w->g) return err_nomem(err);
    if (!j->opt->unconstrained) w->x.weight[GRADIENT_JACOBIAN] = w->none;
    for (int i = 0; i < LANES; i++)
        if (lbfgs_init(&w->b[i], j->joint.num_coordinates)) return err_nomem(err);
    if (!j->sd) return 0;
    w->H = raw_array(double, n *n);
    w->J = raw_array(double, (size_t)j->nrow *n);
    w->row = raw_array(double, n);
    return w->H && w->J && w->row ? 0 : err_nomem(err);
}

static void fini(void *workspace)
{
    struct worker *w = workspace;
    exec_fini(&w->x);
    for (int i = 0; i < LANES; i++) lbfgs_fini(&w->b[i]);
    free(w->none);
    free(w->g);
    free(w->H);
    free(w->J);
    free(w->row);
}

/* ---- searches --------------------------------------------------------------------------- */

/* Runs num searches of the job from first + i on until all have finished. */
static int search(void *job, void *workspace, size_t i, size_t num, nami_err *err)
{
    const struct job *j = job;
    struct worker *w = workspace;
    size_t all = j->q->nset * j->q->per, d = (size_t)j->joint.num_coordinates;
    struct exec *x = &w->x;
    int n = (int)num, open = n;
    (void)err;
    i += j->first;
    x->lanes = n;
    for (int b = 0; b < n; b++) {
        for (size_t k = 0; k < d; k++) w->g[k] = j->u[k * all + i + (size_t)b];
        lbfgs_start(&w->b[b], w->g);
    }
    while (open) {
        for (int b = 0; b < n; b++) set_lane(j, x, b, (i + (size_t)b) / j->q->per, w->b[b].to);
        exec_both(x);
        open = 0;
        for (int b = 0; b < n; b++) {
            struct lbfgs *s = &w->b[b];
            if (s->state != LBFGS_ASKS) continue;
            for (int k = 0; k < (int)d; k++) w->g[k] = -slope(j, x, b, k);
            lbfgs_tell(s, -value(j, x, b), w->g);
            open += s->state == LBFGS_ASKS;
        }
    }
    for (int b = 0; b < n; b++) {
        const struct lbfgs *s = &w->b[b];
        j->each[i + (size_t)b] =
            (struct map_mode){.state = s->state, .logp = -s->f, .grad = s->size, .steps = s->steps};
        for (size_t k = 0; k < d; k++) j->u[k * all + i + (size_t)b] = s->x[k];
    }
    return 0;
}

/* Runs all searches in blocks, to report progress. */
static int search_all(struct job *j, struct workers *w, nami_err *err)
{
    size_t all = j->q->nset * j->q->per, most = (size_t)j->opt->threads * 8 * LANES;
    int rc = 0;
    for (size_t n; j->first < all && !rc; j->first += n) {
        n = all - j->first < most ? all - j->first : most;
        rc = workers_run(w, n, LANES, search, err);
        if (!rc && j->opt->progress) rc = j->opt->progress(j->first + n, all, j->opt->user);
    }
    return rc;
}

/* Selects the best search of each set. */
static void choose(struct job *j)
{
    size_t starts = j->q->per, nset = j->q->nset, all = nset * starts;
    for (size_t s = 0; s < nset; s++) {
        const struct map_mode *m = j->each + s * starts;
        size_t best = 0;
        for (size_t i = 1; i < starts; i++)
            if (m[i].logp > m[best].logp || isnan(m[best].logp)) best = i;
        j->out[s] = m[best];
        for (size_t i = 0; i < starts; i++)
            j->out[s].agree += fabs(m[i].logp - m[best].logp) <= 1e-6 * fmax(1, fabs(m[best].logp));
        for (size_t k = 0; k < (size_t)j->joint.num_coordinates; k++)
            j->best[k * nset + s] = j->u[k * all + s * starts + best];
    }
}

static void copy_best(const struct job *j, size_t set, double *u)
{
    for (size_t k = 0; k < (size_t)j->joint.num_coordinates; k++)
        u[k] = j->best[k * j->q->nset + set];
}

/* Sets i .. i+num-1: computes z and log p(x, z). */
static int decode(void *job, void *workspace, size_t i, size_t num, nami_err *err)
{
    const struct job *j = job;
    struct worker *w = workspace;
    struct exec *x = &w->x;
    const double *by_group = x->by_tag;
    int n = (int)num;
    (void)err;
    x->lanes = n;
    for (int b = 0; b < n; b++) {
        copy_best(j, i + (size_t)b, w->g);
        set_lane(j, x, b, i + (size_t)b, w->g);
    }
    exec_run(x);
    for (int b = 0; b < n; b++) {
        size_t s = i + (size_t)b;
        j->out[s].logp =
            by_group[GRADIENT_DATA * x->cap + b] + by_group[GRADIENT_LATENT * x->cap + b];
        for (int k = 0; k < j->nrow; k++)
            j->z[(size_t)j->row[k] * j->q->nset + s] =
                x->row[(size_t)j->row[k] * (size_t)x->cap + (size_t)b];
    }
    return 0;
}

/* ---- standard deviations ------------------------------------------------------------------ */

/* H = -d2 log p / du2 and J = dz / du at a set's mode, by central differences. */
static void differences(const struct job *j, struct worker *w, size_t set)
{
    const double h = 1e-4;
    struct exec *x = &w->x;
    int n = j->joint.num_coordinates, cap = x->cap;
    for (int k0 = 0; k0 < n; k0 += LANES / 2) {
        int m = n - k0 < LANES / 2 ? n - k0 : LANES / 2;
        x->lanes = 2 * m;
        for (int b = 0; b < 2 * m; b++) {
            copy_best(j, set, w->g);
            w->g[k0 + b / 2] += b % 2 ? -h : h;
            set_lane(j, x, b, set, w->g);
        }
        exec_both(x);
        for (int i = 0; i < m; i++) {
            size_t k = (size_t)k0 + (size_t)i;
            for (int l = 0; l < n; l++)
                w->H[k * (size_t)n + (size_t)l] =
                    (slope(j, x, 2 * i + 1, l) - slope(j, x, 2 * i, l)) / (2 * h);
            for (int r = 0; r < j->nrow; r++) {
                const double *z = x->row + (size_t)j->row[r] * (size_t)cap + 2 * (size_t)i;
                w->J[(size_t)r * (size_t)n + k] = (z[0] - z[1]) / (2 * h);
            }
        }
    }
}

/* sd of z = sqrt diag J H^-1 J'; on the scale of z, where d log p / dz = 0, that is Laplace's */
static void deviations(const struct job *j, struct worker *w, size_t set)
{
    size_t n = (size_t)j->joint.num_coordinates, nset = j->q->nset;
    differences(j, w, set);
    for (size_t k = 0; k < n; k++)
        for (size_t l = 0; l < k; l++)
            w->H[k * n + l] = w->H[l * n + k] = (w->H[k * n + l] + w->H[l * n + k]) / 2;
    int bad = j->out[set].state != LBFGS_FOUND || dense_chol((int)n, w->H);
    for (int r = 0; r < j->nrow; r++) {
        memcpy(w->row, w->J + (size_t)r * n, sizeof *w->row * n);
        if (!bad) dense_lower((int)n, w->H, w->row);
        j->sd[(size_t)j->row[r] * nset + set] = bad ? NAN : sqrt(dense_dot(n, w->row, w->row));
    }
}

/* ---- all of it ------------------------------------------------------------------------- */

static int set_deviations(void *job, void *workspace, size_t first, size_t n, nami_err *err)
{
    (void)err;
    for (size_t set = first; set < first + n; set++) deviations(job, workspace, set);
    return 0;
}

/* Initial points: coordinates of draws of the network, for a block of sets at a time. */
static int begin(struct job *j, const struct infer *a, int threads, nami_err *err)
{
    size_t rows = (size_t)model_num_rows(j->joint.q->model), n = (size_t)j->joint.num_coordinates;
    size_t all = j->q->nset * j->q->per, most = NUMBERS / rows / 8 * 8 + 8;
    if (most > all) most = all;
    double *z = raw_array(double, rows *most), *u = raw_array(double, n *most);
    int rc = z && u ? 0 : err_nomem(err);
    for (size_t i = 0, m; i < all && !rc; i += m) {
        m = all - i < most ? all - i : most;
        rc = infer_draws(a, j->q, i, m, threads, z, NULL, NULL, err);
        if (!rc && joint_coordinates(&j->joint, m, z, u)) rc = err_nomem(err);
        for (size_t k = 0; k < n && !rc; k++) memcpy(j->u + k * all + i, u + k * m, sizeof *u * m);
    }
    free(z);
    free(u);
    return rc;
}

static int make(struct job *j, struct qnet *q, nami_err *err)
{
    size_t nset = j->q->nset, all = nset * j->q->per;
    int rc = joint_make(&j->joint, q, err);
    if (rc) return rc;
    j->row = raw_array(int, model_num_rows(q->model));
    j->u = raw_array(double, (size_t)j->joint.num_coordinates *all);
    j->best = raw_array(double, (size_t)j->joint.num_coordinates *nset);
    j->each = new_array(struct map_mode, all);
    if (!j->row || !j->u || !j->best || !j->each) return err_nomem(err);
    for (int i = 0; i < q->inverse->nlatent; i++) {
        const struct encoding *c = &q->encoding[q->inverse->perm[i]];
        for (int k = 0; k < c->num_elements; k++) j->row[j->nrow++] = c->row[k];
    }
    return 0;
}

static int run(struct job *j, const struct infer *a, nami_err *err)
{
    const struct model *m = a->q->model;
    size_t nset = j->q->nset, size = (size_t)model_num_rows(m) * nset;
    size_t all = nset * j->q->per, chunks = (all + LANES - 1) / LANES;
    struct workers w = {.job = j, .size = sizeof(struct worker), .init = init, .fini = fini};
    int threads = j->opt->threads, rc = begin(j, a, threads, err);
    if (j->sd && chunks < nset) chunks = nset;
    if (!rc) rc = workers_start(&w, threads, chunks, err);
    if (!rc) {
        memcpy(j->z, j->q->x, sizeof *j->z * size);
        for (size_t i = 0; i < size && j->sd; i++) j->sd[i] = NAN;
        for (int i = 0; i < a->q->inverse->nmodel; i++) {
            const struct encoding *c = &a->q->encoding[a->q->inverse->model[i]];
            for (int k = 0; k < c->num_elements; k++)
                for (size_t s = 0; s < nset; s++) j->z[(size_t)c->row[k] * nset + s] = NAN;
        }
        rc = search_all(j, &w, err);
    }
    if (!rc) {
        choose(j);
        rc = workers_run(&w, nset, LANES, decode, err);
    }
    if (!rc && j->sd) rc = workers_run(&w, nset, 1, set_deviations, err);
    if (!rc && a->q->collapse) rc = exact_means(a->q->collapse, nset, j->z, err);
    if (!rc) rc = exact_complete(m, nset, j->z, err);
    workers_stop(&w);
    return rc;
}

int map_sets(const struct infer *a, const struct query *q, const struct map_options *opt,
             struct map_mode *out, double *z, double *sd, nami_err *err)
{
    struct job j = {.q = q, .opt = opt, .out = out, .z = z, .sd = sd};
    int rc = make(&j, a->q, err);
    if (!rc) rc = run(&j, a, err);
    joint_free(&j.joint);
    free(j.row);
    free(j.u);
    free(j.best);
    free(j.each);
    return rc;
}
