/* gallery.c: draws, data and predictions of image-shaped variables as a grid of gray images. */
#include "report/gallery.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/vec.h"
#include "report/image.h"

int gallery_shape(const struct draws_var *v, int *height, int *width)
{
    int side = v->ndim == 1 ? (int)lround(sqrt(v->dim[0])) : 0;
    *height = v->ndim == 2 ? v->dim[0] : side;
    *width = v->ndim == 2 ? v->dim[1] : side;
    return *height > 1 && *width > 1 && draws_var_size(v) == (size_t)*height * (size_t)*width;
}

int gallery_find(int nvar, const struct draws_var *var, const struct draws_var **out, nami_err *err)
{
    int height, width;
    for (int v = 0; v < nvar; v++)
        if (gallery_shape(&var[v], &height, &width)) {
            *out = &var[v];
            return 0;
        }
    return err_set(
        err, NAMI_EUSAGE,
        "there is no image to draw: an array with two dimensions, or as long as a square "
        "(784 = 28 x 28)");
}

/* ---- shades --------------------------------------------------------------------------------- */

/* What is not finite is no number of an image. */
static void scale(size_t n, float *x)
{
    float low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        if (isfinite(x[i]) && x[i] < low) low = x[i];
        if (isfinite(x[i]) && x[i] > high) high = x[i];
    }
    if (low >= 0 && high <= 1) return;
    for (size_t i = 0; i < n; i++)
        if (isfinite(x[i])) x[i] = high > low ? (x[i] - low) / (high - low) : 0.5f;
}

static int save(const struct draws_var *v, size_t n, int ncol, float *x, const char *path,
                nami_err *err)
{
    struct image_grid g = {.x = x, .ncol = ncol, .margin = 1};
    gallery_shape(v, &g.height, &g.width);
    if (n > INT_MAX) return err_set(err, NAMI_ELIMIT, "%zu images are too many for a picture", n);
    g.n = (int)n;
    while ((g.zoom + 1) * (g.height > g.width ? g.height : g.width) <= 56) g.zoom++;
    scale(n * draws_var_size(v), x);
    return image_save(&g, path, err);
}

/* ---- draws ---------------------------------------------------------------------------------- */

int gallery_draws(const struct draws_var *v, size_t n, const double *x, const char *path,
                  nami_err *err)
{
    size_t k = draws_var_size(v);
    float *to = raw_array(float, n *k + 1);
    if (!to) return err_nomem(err);
    for (size_t i = 0; i < n; i++)
        for (size_t e = 0; e < k; e++) to[i * k + e] = (float)x[(v->base + e) * n + i];
    int rc = save(v, n, 0, to, path, err);
    free(to);
    return rc;
}

/* ---- data and predictions ------------------------------------------------------------------- */

int gallery_begin(struct gallery *g, const struct draws_var *v, size_t nset, nami_err *err)
{
    *g = (struct gallery){v, nset < GALLERY_SETS ? nset : GALLERY_SETS, draws_var_size(v), NULL,
                          NULL};
    g->sum = new_array(double, g->nset * g->k + 1);
    g->weight = new_array(double, g->nset + 1);
    return g->sum && g->weight ? 0 : err_nomem(err);
}

void gallery_put(struct gallery *g, size_t set, double weight, size_t n, const double *x, size_t i)
{
    if (set >= g->nset || !(weight > 0)) return;
    g->weight[set] += weight;
    for (size_t e = 0; e < g->k; e++)
        g->sum[set * g->k + e] += weight * x[(g->var->base + e) * n + i];
}

int gallery_save(const struct gallery *g, const double *x, size_t nset, const char *path,
                 nami_err *err)
{
    size_t k = g->k, ncol = g->nset < GALLERY_COLUMNS ? g->nset : GALLERY_COLUMNS;
    size_t n = (g->nset + ncol - 1) / ncol * ncol * 2;
    float *to = raw_array(float, n *k + 1);
    if (!to) return err_nomem(err);
    for (size_t i = 0; i < n * k; i++) to[i] = INFINITY; /* white, where there is none */
    for (size_t s = 0; s < g->nset; s++) {
        float *data = to + (s / ncol * 2 * ncol + s % ncol) * k, *mean = data + ncol * k;
        for (size_t e = 0; e < k; e++) {
            data[e] = (float)x[(g->var->base + e) * nset + s];
            mean[e] = (float)(g->sum[s * k + e] / g->weight[s]);
        }
    }
    int rc = save(g->var, n, (int)ncol, to, path, err);
    free(to);
    return rc;
}

void gallery_free(struct gallery *g)
{
    free(g->sum);
    free(g->weight);
}
