/* exact_factor.c: linear Gaussian factors for given parents: fitting, divergences, entropies. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "infer/dense.h"
#include "infer/exact.h"

static const double log_2pi = 1.83787706640934548356;

/* ---- one factor --------------------------------------------------------------------- */

static void submatrix(int n, const double *cov, const int *r, int nr, const int *c, int nc,
                      double *out)
{
    for (int i = 0; i < nr; i++)
        for (int j = 0; j < nc; j++)
            out[(size_t)i * (size_t)nc + (size_t)j] = cov[(size_t)r[i] * (size_t)n + (size_t)c[j]];
}

/* Sigma_pp = L L'; W = L^-1 Sigma_pv, a row for each of var; then cov = Sigma_vv - W' W and
   b = (L'^-1 W)'. */
int gfactor_fit(int n, const double *mean, const double *cov, const int *var, int nvar,
                const int *par, int npar, struct arena *mem, struct gfactor *out, nami_err *err)
{
    size_t p = (size_t)npar, v = (size_t)nvar;
    double *L = raw_array(double, p *p);
    *out = (struct gfactor){.node = -1, .nvar = nvar, .npar = npar};
    out->var = arena_array(mem, int, nvar);
    out->par = arena_array(mem, int, npar);
    out->a = arena_array(mem, double, v);
    out->b = arena_array(mem, double, v *p);
    out->cov = arena_array(mem, double, v *v);
    int rc = L && out->var && out->par && out->a && out->b && out->cov ? 0 : err_nomem(err);
    if (!rc) {
        memcpy(out->var, var, sizeof *var * v);
        if (npar) memcpy(out->par, par, sizeof *par * p);
        submatrix(n, cov, par, npar, par, npar, L);
        submatrix(n, cov, var, nvar, par, npar, out->b);
        submatrix(n, cov, var, nvar, var, nvar, out->cov);
        if (dense_chol(npar, L))
            rc = err_set(err, NAMI_EINPUT, "the parents of a factor determine each other");
    }
    for (size_t i = 0; i < v && !rc; i++) dense_lower(npar, L, out->b + i * p);
    for (size_t i = 0; i < v && !rc; i++)
        for (size_t j = 0; j < v; j++)
            out->cov[i * v + j] -= dense_dot(p, out->b + i * p, out->b + j * p);
    for (size_t i = 0; i < v && !rc; i++) {
        dense_upper(npar, L, out->b + i * p);
        out->a[i] = mean[var[i]];
        for (size_t k = 0; k < p; k++) out->a[i] -= out->b[i * p + k] * mean[par[k]];
    }
    free(L);
    return rc;
}

double gfactor_entropy(const struct gfactor *f)
{
    size_t v = (size_t)f->nvar;
    double *L = raw_array(double, v *v), h = NAN;
    if (L) memcpy(L, f->cov, sizeof *L * v * v);
    if (L && !dense_chol(f->nvar, L))
        h = 0.5 * (f->nvar * (1 + log_2pi) + dense_logdet(f->nvar, L));
    free(L);
    return h;
}

/* log det of the covariance of some */
static int logdet(int n, const double *cov, const int *v, int nv, double *out, nami_err *err)
{
    double *L = raw_array(double, (size_t)nv *(size_t)nv);
    int rc = L ? 0 : err_nomem(err);
    if (!rc) {
        submatrix(n, cov, v, nv, v, nv, L);
        if (dense_chol(nv, L))
            rc = err_set(err, NAMI_EINPUT, "a covariance is not positive definite");
        else
            *out = dense_logdet(nv, L);
    }
    free(L);
    return rc;
}

/* H(v | p) = H(v, p) - H(p) */
int gauss_entropy(int n, const double *cov, const int *var, int nvar, const int *par, int npar,
                  double *out, nami_err *err)
{
    double both = 0, given = 0;
    int *all = raw_array(int, nvar + npar), rc = all ? 0 : err_nomem(err);
    if (!rc) { /* parents first: the same numbers in both */
        if (npar) memcpy(all, par, sizeof *par * (size_t)npar);
        memcpy(all + npar, var, sizeof *var * (size_t)nvar);
        rc = logdet(n, cov, all, nvar + npar, &both, err);
    }
    if (!rc) rc = logdet(n, cov, par, npar, &given, err);
    if (!rc) *out = 0.5 * (nvar * (1 + log_2pi) + both - given);
    free(all);
    return rc;
}

/* ---- an inverse's ------------------------------------------------------------------- */

static void list(const struct gnet *g, int node, int *out, int *n)
{
    for (int i = g->first[node]; i < g->first[node + 1]; i++) out[(*n)++] = i;
}

static int fit_node(const struct gnet *g, const double *mean, const double *cov,
                    const struct inverse *h, int i, int *scratch, struct gnet *out, nami_err *err)
{
    int nvar = 0, npar = 0, v = h->perm[i], *var = scratch, *par = scratch + g->n;
    struct gfactor *f = &out->f[out->nfactor++];
    list(g, v, var, &nvar);
    for (struct inverse_it it = inverse_it(h, i); inverse_next(&it);) list(g, it.node, par, &npar);
    int rc = gfactor_fit(g->n, mean, cov, var, nvar, par, npar, &out->mem, f, err);
    f->node = v;
    return rc;
}

/* Barren latents keep the factor of the model. */
static int own_factor(const struct gnet *g, int v, struct gnet *out, nami_err *err)
{
    struct gfactor *to = &out->f[out->nfactor++];
    const struct gfactor *f = g->f;
    while (f->node != v) f++;
    size_t nv = (size_t)f->nvar, np = (size_t)f->npar;
    *to = *f;
    to->var = arena_array(&out->mem, int, nv);
    to->par = arena_array(&out->mem, int, np);
    to->a = arena_array(&out->mem, double, nv);
    to->b = arena_array(&out->mem, double, nv *np);
    to->cov = arena_array(&out->mem, double, nv *nv);
    if (!to->var || !to->par || !to->a || !to->b || !to->cov) return err_nomem(err);
    memcpy(to->var, f->var, sizeof *f->var * nv);
    memcpy(to->par, f->par, sizeof *f->par * np);
    memcpy(to->a, f->a, sizeof *f->a * nv);
    memcpy(to->b, f->b, sizeof *f->b * nv * np);
    memcpy(to->cov, f->cov, sizeof *f->cov * nv * nv);
    return 0;
}

static int check_size(const struct gnet *g, nami_err *err)
{
    if (g->n <= GNET_DENSE_MOST) return 0;
    return err_set(err, NAMI_ELIMIT,
                   "the model has %d random numbers: more than %d are too many for the covariance "
                   "matrix of all",
                   g->n, GNET_DENSE_MOST);
}

/* Reverse elimination order, followed by barren latents in the order of the list. */
int gnet_invert(const struct gnet *g, const struct inverse *h, struct gnet *out, nami_err *err)
{
    size_t n = (size_t)g->n;
    *out = (struct gnet){.n = g->n, .nnode = g->nnode};
    int rc = check_size(g, err);
    if (rc) return rc;
    double *mean = raw_array(double, n), *cov = raw_array(double, n *n);
    int *scratch = raw_array(int, 2 * n);
    out->first = arena_array(&out->mem, int, g->nnode + 1);
    out->row = arena_array(&out->mem, int, n);
    out->f = arena_array(&out->mem, struct gfactor, h->nlatent + h->nmodel);
    if (!mean || !cov || !scratch || !out->first || !out->row || !out->f) rc = err_nomem(err);
    if (!rc) {
        memcpy(out->first, g->first, sizeof *g->first * ((size_t)g->nnode + 1));
        memcpy(out->row, g->row, sizeof *g->row * n);
        gnet_moments(g, mean, cov);
    }
    for (int i = h->nlatent - 1; i >= 0 && !rc; i--)
        rc = fit_node(g, mean, cov, h, i, scratch, out, err);
    for (int i = h->nmodel - 1; i >= 0 && !rc; i--) rc = own_factor(g, h->model[i], out, err);
    free(mean);
    free(cov);
    free(scratch);
    if (rc) gnet_free(out);
    return rc;
}

/* ---- divergence --------------------------------------------------------------------- */

/* The residual r = x[var] - a - b x[par] has mean m and covariance S under p;
   E[-log N(r; 0, V)] = (d log 2 pi + log det V + tr V^-1 (S + m m')) / 2. */
static int expect(const struct gfactor *f, int n, const double *mean, const double *cov,
                  double *out, nami_err *err)
{
    size_t d = (size_t)f->nvar, u = d + (size_t)f->npar, N = (size_t)n;
    double *L = raw_array(double, d *d), *W = raw_array(double, d *u), *S = raw_array(double, d *d);
    double *M = raw_array(double, d);
    int *at = raw_array(int, u), rc = L && W && S && M && at ? 0 : err_nomem(err);
    if (rc) goto out;
    memcpy(at, f->var, sizeof *at * d);
    if (f->npar) memcpy(at + d, f->par, sizeof *at * (u - d));
#define C(i, k) ((k) < d ? (double)((i) == (k)) : -f->b[(i) * (u - d) + (k)-d])
    for (size_t i = 0; i < d; i++) { /* W = C cov */
        M[i] = -f->a[i];
        for (size_t k = 0; k < u; k++) {
            W[i * u + k] = 0;
            M[i] += C(i, k) * mean[at[k]];
            for (size_t j = 0; j < u; j++)
                W[i * u + k] += C(i, j) * cov[(size_t)at[j] * N + (size_t)at[k]];
        }
    }
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++) {
            S[i * d + j] = M[i] * M[j];
            for (size_t k = 0; k < u; k++) S[i * d + j] += W[i * u + k] * C(j, k);
        }
#undef C
    memcpy(L, f->cov, sizeof *L * d * d);
    if (dense_chol(f->nvar, L)) {
        rc = err_set(err, NAMI_EINPUT, "a factor's covariance is not positive definite");
        goto out;
    }
    *out += 0.5 * (f->nvar * log_2pi + dense_logdet(f->nvar, L));
    for (size_t i = 0; i < d; i++) { /* S is symmetric: its rows are its columns */
        dense_lower(f->nvar, L, S + i * d);
        dense_upper(f->nvar, L, S + i * d);
        *out += 0.5 * S[i * d + i];
    }
out:
    free(L);
    free(W);
    free(S);
    free(M);
    free(at);
    return rc;
}

int gnet_cross_entropy(const struct gnet *q, const double *mean, const double *cov, double *out,
                       nami_err *err)
{
    int rc = 0;
    *out = 0;
    for (int k = 0; k < q->nfactor && !rc; k++) rc = expect(&q->f[k], q->n, mean, cov, out, err);
    return rc;
}

int gnet_kl(const struct gnet *p, const struct gnet *q, const unsigned char *given, double *out,
            nami_err *err)
{
    size_t n = (size_t)p->n;
    int rc = check_size(p, err);
    if (rc) return rc;
    double *mean = raw_array(double, n), *cov = raw_array(double, n *n), cross = 0, own = 0;
    int *z = raw_array(int, n), *x = raw_array(int, n), nz = 0, nx = 0;
    rc = mean && cov && z && x ? 0 : err_nomem(err);
    for (int k = 0; k < q->nfactor && !rc; k++)
        for (int i = 0; i < q->f[k].nvar; i++) z[nz++] = q->f[k].var[i];
    for (int i = 0; i < p->n && !rc; i++)
        if (given[i]) x[nx++] = i;
    if (!rc) {
        gnet_moments(p, mean, cov);
        rc = gnet_cross_entropy(q, mean, cov, &cross, err);
    }
    if (!rc) rc = gauss_entropy(p->n, cov, z, nz, x, nx, &own, err);
    *out = cross - own;
    free(mean);
    free(cov);
    free(z);
    free(x);
    return rc;
}
