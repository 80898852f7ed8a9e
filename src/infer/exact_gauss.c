/* exact_gauss.c: linear Gaussian networks: moments, posteriors, draws. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/simd.h"
#include "base/workers.h"
#include "infer/dense.h"
#include "infer/exact.h"

static const double log_2pi = 1.83787706640934548356;

/* ---- before anything is observed ---------------------------------------------------- */

/* Factor by factor: cov(v, u) = b cov(par, u) for all u so far, cov(v, v) = b cov(par, v) + noise.
   Scalars without a factor so far have covariance 0 with all others. */
static void add_factor(int n, const struct gfactor *f, double *mean, double *cov)
{
    size_t N = (size_t)n;
    for (int i = 0; i < f->nvar; i++) {
        const double *b = f->b + (size_t)i * (size_t)f->npar;
        double *to = cov + (size_t)f->var[i] * N;
        mean[f->var[i]] = f->a[i];
        for (int k = 0; k < f->npar; k++) {
            const double *from = cov + (size_t)f->par[k] * N;
            mean[f->var[i]] += b[k] * mean[f->par[k]];
            EACH(u, n) to[u] += b[k] * from[u];
        }
    }
    for (int i = 0; i < f->nvar; i++)
        for (int u = 0; u < n; u++)
            cov[(size_t)u * N + (size_t)f->var[i]] = cov[(size_t)f->var[i] * N + (size_t)u];
    for (int i = 0; i < f->nvar; i++) /* the parents' rows now have the columns of var */
        for (int j = 0; j < f->nvar; j++) {
            double s = f->cov[i * f->nvar + j];
            for (int k = 0; k < f->npar; k++)
                s += f->b[(size_t)i * (size_t)f->npar + (size_t)k] *
                     cov[(size_t)f->par[k] * N + (size_t)f->var[j]];
            cov[(size_t)f->var[i] * N + (size_t)f->var[j]] = s;
        }
}

void gnet_moments(const struct gnet *g, double *mean, double *cov)
{
    memset(mean, 0, sizeof *mean * (size_t)g->n);
    memset(cov, 0, sizeof *cov * (size_t)g->n * (size_t)g->n);
    for (int k = 0; k < g->nfactor; k++) add_factor(g->n, &g->f[k], mean, cov);
}

/* ---- the posterior ------------------------------------------------------------------ */

/* A factor is normal in its residual r = C u - a, u = (x[var], x[par]), C = (I, -b).  It adds C' P
   C to the precision of the latents in u, P = cov^-1, and -C' P r to the gradient of log p. */
struct usage {
    int factor, at; /* the scalar is u[at] of this factor */
};

struct local {
    size_t *noise;  /* by factor: position of its L, L L' = cov ... */
    double *L;      /* ... in this array */
    double *r, *v;  /* (the largest nvar) */
    int *pos;       /* by scalar: its index among the latents, or -1 */
    int64_t *first; /* latent k has the uses first[k] .. first[k + 1] - 1 */
    struct usage *use;
    double *h, *z, *work; /* (n) the gradient; (nz) */
};

static void local_fini(struct local *w)
{
    free(w->noise);
    free(w->L);
    free(w->r);
    free(w->v);
    free(w->pos);
    free(w->first);
    free(w->use);
    free(w->h);
    free(w->z);
    free(w->work);
}

static int scalar_of(const struct gfactor *f, int k)
{
    return k < f->nvar ? f->var[k] : f->par[k - f->nvar];
}

static int local_init(struct local *w, const struct gnet *g, const struct gpost *p)
{
    size_t most = 1, total = 0;
    for (int k = 0; k < g->nfactor; k++) {
        size_t n = (size_t)g->f[k].nvar;
        total += n * n;
        if (n > most) most = n;
    }
    w->noise = raw_array(size_t, g->nfactor);
    w->L = raw_array(double, total);
    w->r = raw_array(double, most);
    w->v = raw_array(double, most);
    w->pos = raw_array(int, g->n);
    w->first = new_array(int64_t, p->nz + 2);
    w->h = raw_array(double, g->n);
    w->z = raw_array(double, p->nz);
    w->work = raw_array(double, p->nz);
    if (!w->noise || !w->L || !w->r || !w->v || !w->pos || !w->first || !w->h || !w->z || !w->work)
        return -1;
    for (int i = 0; i < g->n; i++) w->pos[i] = -1;
    for (int k = 0; k < p->nz; k++) w->pos[p->z[k]] = k;
    return 0;
}

/* Lists the factors of each latent scalar. */
static int find_uses(struct local *w, const struct gnet *g, int nz)
{
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < g->nfactor; i++)
            for (int at = 0; at < g->f[i].nvar + g->f[i].npar; at++) {
                int k = w->pos[scalar_of(&g->f[i], at)];
                if (k < 0) continue;
                if (!pass)
                    w->first[k + 2]++;
                else
                    w->use[w->first[k + 1]++] = (struct usage){i, at};
            }
        for (int k = 0; k < nz && !pass; k++) w->first[k + 2] += w->first[k + 1];
        if (!pass && !(w->use = raw_array(struct usage, w->first[nz + 1]))) return -1;
    }
    return 0;
}

static int find_noise(struct local *w, const struct gnet *g)
{
    size_t at = 0;
    for (int k = 0; k < g->nfactor; k++) {
        size_t n = (size_t)g->f[k].nvar;
        w->noise[k] = at;
        memcpy(w->L + at, g->f[k].cov, sizeof *w->L * n * n);
        if (dense_chol(g->f[k].nvar, w->L + at)) return -1;
        at += n * n;
    }
    return 0;
}

/* Entry k of C' v. */
static double transposed(const struct gfactor *f, int k, const double *v)
{
    if (k < f->nvar) return v[k];
    double s = 0;
    const double *b = f->b + (k - f->nvar);
    for (int i = 0; i < f->nvar; i++) s -= b[(size_t)i * (size_t)f->npar] * v[i];
    return s;
}

/* Column j of the precision, lower triangle: the sum of C' P c over the factors of latent j, c its
   column of C. slot[i]: position of row i if it has an entry in this column. */
static int add_column(const struct gnet *g, struct local *w, int j, int64_t *slot, struct sparse *a)
{
    int64_t from = a->start[j];
    for (int64_t t = w->first[j]; t < w->first[j + 1]; t++) {
        struct usage use = w->use[t];
        const struct gfactor *f = &g->f[use.factor];
        const double *L = w->L + w->noise[use.factor];
        for (int i = 0; i < f->nvar; i++)
            w->v[i] = use.at < f->nvar
                          ? i == use.at
                          : -f->b[(size_t)i * (size_t)f->npar + (size_t)(use.at - f->nvar)];
        dense_lower(f->nvar, L, w->v);
        dense_upper(f->nvar, L, w->v);
        for (int k = 0; k < f->nvar + f->npar; k++) {
            int i = w->pos[scalar_of(f, k)];
            if (i < j) continue;
            if (slot[i] < from) {
                slot[i] = (int64_t)a->row.n;
                if (vec_push(&a->row, i) || vec_push(&a->value, 0)) return -1;
            }
            a->value.a[slot[i]] += transposed(f, k, w->v);
        }
    }
    a->start[j + 1] = (int64_t)a->row.n;
    return 0;
}

static int find_precision(const struct gnet *g, struct local *w, int nz, struct sparse *a)
{
    int64_t *slot = raw_array(int64_t, nz);
    *a = (struct sparse){.n = nz, .start = new_array(int64_t, nz + 1)};
    int bad = !slot || !a->start;
    for (int k = 0; k < nz && !bad; k++) slot[k] = -1;
    for (int j = 0; j < nz && !bad; j++) bad = add_column(g, w, j, slot, a);
    free(slot);
    return bad ? -1 : 0;
}

static void residual(const struct gfactor *f, const double *x, double *r)
{
    for (int i = 0; i < f->nvar; i++) {
        r[i] = x[f->var[i]] - f->a[i];
        for (int k = 0; k < f->npar; k++)
            r[i] -= f->b[(size_t)i * (size_t)f->npar + (size_t)k] * x[f->par[k]];
    }
}

/* Returns log N(x[var]; a + b x[par], cov); adds its gradient with respect to all scalars to h. */
static double log_density(const struct gfactor *f, const double *x, const double *L, double *r,
                          double *h)
{
    int n = f->nvar;
    residual(f, x, r);
    dense_lower(n, L, r);
    double logp = -0.5 * (n * log_2pi + dense_logdet(n, L) + dense_dot((size_t)n, r, r));
    dense_upper(n, L, r);
    for (int i = 0; i < n; i++) {
        h[f->var[i]] -= r[i];
        for (int k = 0; k < f->npar; k++)
            h[f->par[k]] += f->b[(size_t)i * (size_t)f->npar + (size_t)k] * r[i];
    }
    return logp;
}

/* log p(x, z), and its gradient. */
static double log_joint(const struct gnet *g, const double *x, struct local *w)
{
    struct exact_sum s = {0};
    memset(w->h, 0, sizeof *w->h * (size_t)g->n);
    for (int k = 0; k < g->nfactor; k++)
        sum_add(&s, log_density(&g->f[k], x, w->L + w->noise[k], w->r, w->h));
    return sum_total(&s);
}

/* Newton's method from the prior mean given observed ancestors: the first step is exact up to
   rounding, which the second removes. */
static void find_mean(const struct gnet *g, struct gpost *p, struct local *w)
{
    for (int k = 0; k < g->nfactor; k++)
        for (int i = 0; i < g->f[k].nvar; i++) {
            const struct gfactor *f = &g->f[k];
            double *x = &p->x[f->var[i]];
            if (!isnan(*x)) continue;
            *x = f->a[i];
            for (int j = 0; j < f->npar; j++)
                *x += f->b[(size_t)i * (size_t)f->npar + (size_t)j] * p->x[f->par[j]];
        }
    for (int step = 0; step < 2; step++) {
        log_joint(g, p->x, w);
        for (int k = 0; k < p->nz; k++) w->z[k] = w->h[p->z[k]];
        chol_solve(&p->precision, 1, w->z, w->work);
        for (int k = 0; k < p->nz; k++) p->x[p->z[k]] += w->z[k];
    }
}

static int factorise(const struct gnet *g, struct local *w, struct gpost *p, nami_err *err)
{
    struct sparse a = {0};
    int rc = find_uses(w, g, p->nz) ? err_nomem(err) : find_noise(w, g) ? NAMI_EINPUT : 0;
    if (!rc && find_precision(g, w, p->nz, &a)) rc = err_nomem(err);
    if (!rc) rc = chol_new(&a, GPOST_MOST, &p->precision, err);
    if (rc == NAMI_EINPUT)
        rc = err_set(err, NAMI_EINPUT,
                     "the posterior's precision is not positive definite: the scales of the "
                     "variables are too far apart for double precision; training with 'exact' "
                     "set to all has no such limit");
    sparse_free(&a);
    return rc;
}

int gpost_new(const struct gnet *g, const double *x, struct gpost *out, nami_err *err)
{
    struct local w = {0};
    int rc = 0;
    *out = (struct gpost){.n = g->n, .z = raw_array(int, g->n), .x = raw_array(double, g->n)};
    if (!out->z || !out->x) rc = err_nomem(err);
    for (int i = 0; i < g->n && !rc; i++) {
        if (isnan(x[i])) out->z[out->nz++] = i;
        out->x[i] = x[i];
    }
    if (!rc && local_init(&w, g, out)) rc = err_nomem(err);
    if (!rc) rc = factorise(g, &w, out, err);
    if (!rc) {
        double logdet = chol_logdet(&out->precision);
        find_mean(g, out, &w);
        out->entropy = 0.5 * (out->nz * (1 + log_2pi) - logdet);
        out->log_evidence = /* p(x) = p(x, z) / p(z | x), at the mean */
            log_joint(g, out->x, &w) + 0.5 * (out->nz * log_2pi - logdet);
    }
    local_fini(&w);
    if (rc) gpost_free(out);
    return rc;
}

void gpost_free(struct gpost *p)
{
    free(p->z);
    free(p->x);
    chol_free(&p->precision);
    *p = (struct gpost){0};
}

int gpost_variances(const struct gpost *p, double *variance, nami_err *err)
{
    return chol_variances(&p->precision, variance, err);
}

int gpost_cov(const struct gpost *p, double *cov, nami_err *err)
{
    enum { COLUMNS = 16 }; /* at once */
    size_t n = (size_t)p->nz;
    double *x = raw_array(double, n *COLUMNS), *work = raw_array(double, n *COLUMNS);
    int rc = x && work ? 0 : err_nomem(err);
    for (size_t first = 0; first < n && !rc; first += COLUMNS) {
        size_t num = first + COLUMNS < n ? COLUMNS : n - first;
        memset(x, 0, sizeof *x * n * COLUMNS);
        for (size_t b = 0; b < num; b++) x[(first + b) * COLUMNS + b] = 1;
        chol_solve(&p->precision, COLUMNS, x, work);
        for (size_t b = 0; b < num; b++)
            for (size_t i = 0; i < n; i++) cov[(first + b) * n + i] = x[i * COLUMNS + b];
    }
    free(x);
    free(work);
    return rc;
}

/* ---- draws: mean + L'^-1 e ---------------------------------------------------------- */

enum {
    CHUNK = 64,
    FEW = 8,
    LARGE = 1 << 14, /* latents from which chunks have FEW draws, to limit workspaces */
    STREAM = 1 << 30 /* random streams distinct from those of the model */
};

struct job {
    const struct gpost *p;
    uint64_t seed, first;
    size_t n;
    int lanes; /* draws of a chunk */
    double *x;
};

/* workspace: (nz, lanes), by the order of elimination */
static int draw(void *job, void *workspace, size_t i, size_t n, nami_err *err)
{
    const struct job *j = job;
    const struct gpost *p = j->p;
    const int *order = p->precision.order;
    size_t lanes = (size_t)j->lanes;
    double *y = workspace;
    (void)err;
    for (int k = 0; k < p->nz; k++) {
        struct stream s = {j->seed, STREAM + (uint32_t)p->z[order[k]], j->first + i};
        stream_normal(&s, j->lanes, y + (size_t)k * lanes);
    }
    chol_upper(&p->precision, j->lanes, y);
    for (int v = 0; v < p->n; v++)
        for (size_t b = 0; b < n; b++) j->x[(size_t)v * j->n + i + b] = p->x[v];
    for (int k = 0; k < p->nz; k++)
        for (size_t b = 0; b < n; b++)
            j->x[(size_t)p->z[order[k]] * j->n + i + b] += y[(size_t)k * lanes + b];
    return 0;
}

int gpost_draw(const struct gpost *p, uint64_t seed, uint64_t first, size_t n, int threads,
               double *x, nami_err *err)
{
    int lanes = p->nz > LARGE ? FEW : CHUNK;
    struct job j = {.p = p, .seed = seed, .first = first, .n = n, .lanes = lanes, .x = x};
    struct workers w = {.job = &j, .size = sizeof(double) * (size_t)lanes * (size_t)p->nz};
    return workers_once(&w, threads, n, (size_t)lanes, draw, err);
}
