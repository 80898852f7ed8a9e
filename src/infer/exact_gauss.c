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
struct local {
    double *L, *P, *work; /* (nvar, nvar) */
    double *C, *PC;       /* (nvar, u) */
    double *r;            /* (nvar) */
};

static int local_init(struct local *w, const struct gnet *g)
{
    size_t v = 1, vu = 1;
    for (int k = 0; k < g->nfactor; k++) {
        size_t a = (size_t)g->f[k].nvar, b = a + (size_t)g->f[k].npar;
        if (a > v) v = a;
        if (a * b > vu) vu = a * b;
    }
    w->L = raw_array(double, v *v);
    w->P = raw_array(double, v *v);
    w->work = raw_array(double, v *v);
    w->C = raw_array(double, vu);
    w->PC = raw_array(double, vu);
    w->r = raw_array(double, v);
    return w->L && w->P && w->work && w->C && w->PC && w->r ? 0 : -1;
}

static void local_fini(struct local *w)
{
    free(w->L);
    free(w->P);
    free(w->work);
    free(w->C);
    free(w->PC);
    free(w->r);
}

static int scalar_of(const struct gfactor *f, int k)
{
    return k < f->nvar ? f->var[k] : f->par[k - f->nvar];
}

static int factorise(const struct gfactor *f, struct local *w)
{
    memcpy(w->L, f->cov, sizeof *w->L * (size_t)f->nvar * (size_t)f->nvar);
    return dense_chol(f->nvar, w->L);
}

/* Adds to the rows and columns of latents (pos >= 0), lower triangle. */
static int add_precision(const struct gfactor *f, const int *pos, int nz, struct local *w,
                         double *A)
{
    size_t n = (size_t)f->nvar, u = n + (size_t)f->npar;
    if (factorise(f, w)) return -1;
    dense_inverse(f->nvar, w->L, w->work, w->P);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < u; k++)
            w->C[i * u + k] = k < n ? i == k : -f->b[i * (u - n) + k - n];
    memset(w->PC, 0, sizeof *w->PC * n * u);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            for (size_t k = 0; k < u; k++) w->PC[i * u + k] += w->P[i * n + j] * w->C[j * u + k];
    for (size_t k = 0; k < u; k++) {
        int to = pos[scalar_of(f, (int)k)];
        for (size_t j = 0; j < u && to >= 0; j++) {
            int from = pos[scalar_of(f, (int)j)];
            if (from < 0 || from > to) continue;
            for (size_t i = 0; i < n; i++)
                A[(size_t)to * (size_t)nz + (size_t)from] += w->C[i * u + k] * w->PC[i * u + j];
        }
    }
    return 0;
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
static double log_density(const struct gfactor *f, const double *x, struct local *w, double *h)
{
    int n = f->nvar;
    if (factorise(f, w)) return NAN;
    residual(f, x, w->r);
    dense_lower(n, w->L, w->r);
    double logp = -0.5 * (n * log_2pi + dense_logdet(n, w->L) + dense_dot((size_t)n, w->r, w->r));
    dense_upper(n, w->L, w->r);
    for (int i = 0; i < n; i++) {
        h[f->var[i]] -= w->r[i];
        for (int k = 0; k < f->npar; k++)
            h[f->par[k]] += f->b[(size_t)i * (size_t)f->npar + (size_t)k] * w->r[i];
    }
    return logp;
}

/* log p(x, z), and its gradient. */
static double log_joint(const struct gnet *g, const double *x, struct local *w, double *h)
{
    double s = 0;
    memset(h, 0, sizeof *h * (size_t)g->n);
    for (int k = 0; k < g->nfactor; k++) s += log_density(&g->f[k], x, w, h);
    return s;
}

/* Newton's method from the prior mean given observed ancestors: the first step is exact up to
   rounding, which the second removes. */
static void find_mean(const struct gnet *g, struct gpost *p, struct local *w, double *h, double *z)
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
        log_joint(g, p->x, w, h);
        for (int k = 0; k < p->nz; k++) z[k] = h[p->z[k]];
        dense_lower(p->nz, p->L, z);
        dense_upper(p->nz, p->L, z);
        for (int k = 0; k < p->nz; k++) p->x[p->z[k]] += z[k];
    }
}

int gpost_new(const struct gnet *g, const double *x, struct gpost *out, nami_err *err)
{
    struct local w = {0};
    int rc = 0, bad = 0, *pos = raw_array(int, g->n);
    double *h = raw_array(double, g->n), *z = raw_array(double, g->n);
    *out = (struct gpost){.n = g->n, .z = raw_array(int, g->n), .x = raw_array(double, g->n)};
    if (!pos || !h || !z || !out->z || !out->x || local_init(&w, g)) rc = err_nomem(err);
    for (int i = 0; i < g->n && !rc; i++) {
        pos[i] = isnan(x[i]) ? out->nz : -1;
        if (isnan(x[i])) out->z[out->nz++] = i;
        out->x[i] = x[i];
    }
    out->L = rc ? NULL : new_array(double, (size_t)out->nz *(size_t)out->nz);
    if (!rc && !out->L) rc = err_nomem(err);
    for (int k = 0; k < g->nfactor && !rc && !bad; k++)
        bad = add_precision(&g->f[k], pos, out->nz, &w, out->L);
    if (!rc && (bad || dense_chol(out->nz, out->L)))
        rc = err_set(err, NAMI_EINPUT,
                     "the posterior's precision is not positive definite: the scales of the "
                     "variables are too far apart for double precision");
    if (!rc) {
        double logdet = dense_logdet(out->nz, out->L);
        find_mean(g, out, &w, h, z);
        out->entropy = 0.5 * (out->nz * (1 + log_2pi) - logdet);
        out->log_evidence = /* p(x) = p(x, z) / p(z | x), at the mean */
            log_joint(g, out->x, &w, h) + 0.5 * (out->nz * log_2pi - logdet);
    }
    free(pos);
    free(h);
    free(z);
    local_fini(&w);
    if (rc) gpost_free(out);
    return rc;
}

void gpost_free(struct gpost *p)
{
    free(p->z);
    free(p->x);
    free(p->L);
    *p = (struct gpost){0};
}

int gpost_cov(const struct gpost *p, double *cov, nami_err *err)
{
    double *work = raw_array(double, (size_t)p->nz *(size_t)p->nz);
    if (!work) return err_nomem(err);
    dense_inverse(p->nz, p->L, work, cov);
    free(work);
    return 0;
}

/* ---- draws: mean + L'^-1 e ---------------------------------------------------------- */

enum { CHUNK = 64, STREAM = 1 << 30 }; /* random streams distinct from those of the model */

struct job {
    const struct gpost *p;
    uint64_t seed, first;
    size_t n;
    double *x;
};

/* L' y = e for all draws of a chunk, from the last row up. */
WIDE static void solve_chunk(int n, const double *L, double *restrict y)
{
    for (int i = n - 1; i >= 0; i--) {
        const double *l = L + (size_t)i * (size_t)n;
        double *restrict yi = y + (size_t)i * CHUNK, d = 1 / l[i];
        EACH(b, CHUNK) yi[b] *= d;
        for (int j = 0; j < i; j++) {
            double c = l[j], *restrict yj = y + (size_t)j * CHUNK;
            if (c != 0) EACH(b, CHUNK) yj[b] -= c * yi[b];
        }
    }
}

/* workspace: (nz, CHUNK) */
static int draw(void *job, void *workspace, size_t i, size_t n, nami_err *err)
{
    const struct job *j = job;
    const struct gpost *p = j->p;
    double *y = workspace;
    (void)err;
    for (int k = 0; k < p->nz; k++) {
        struct stream s = {j->seed, STREAM + (uint32_t)p->z[k], j->first + i};
        stream_normal(&s, CHUNK, y + (size_t)k * CHUNK);
    }
    solve_chunk(p->nz, p->L, y);
    for (int v = 0; v < p->n; v++)
        for (size_t b = 0; b < n; b++) j->x[(size_t)v * j->n + i + b] = p->x[v];
    for (int k = 0; k < p->nz; k++)
        for (size_t b = 0; b < n; b++)
            j->x[(size_t)p->z[k] * j->n + i + b] += y[(size_t)k * CHUNK + b];
    return 0;
}

int gpost_draw(const struct gpost *p, uint64_t seed, uint64_t first, size_t n, int threads,
               double *x, nami_err *err)
{
    struct job j = {.p = p, .seed = seed, .first = first, .n = n, .x = x};
    struct workers w = {.job = &j, .size = sizeof(double) * CHUNK * (size_t)p->nz};
    return workers_once(&w, threads, n, CHUNK, draw, err);
}
