/* posterior_at.h: posterior files to try, whose numbers tests/test_posterior.py knows too. */
#ifndef TESTS_POSTERIOR_AT_H
#define TESTS_POSTERIOR_AT_H

#include <math.h>
#include <stdlib.h>

#include "data/posterior.h"

static const struct draws_var at_vars[] = {
    {.name = "a", .ndim = 0, .base = 0},
    {.name = "y", .ndim = 1, .dim = {3}, .base = 1},
    {.name = "m", .ndim = 2, .dim = {2, 3}, .base = 4},
    {.name = "k", .ndim = 1, .dim = {2}, .integer = 1, .base = 10},
    {.name = "u", .ndim = 0, .integer = 1, .base = 12}, /* missing in draw 5 */
    {.name = "e", .ndim = 2, .dim = {2, 0}, .base = 13},
    {.name = "t.x", .ndim = 3, .dim = {2, 1, 2}, .base = 13},
};
enum { AT_NVAR = sizeof at_vars / sizeof *at_vars, AT_NELEM = 17 };

static const struct draws_var at_data[] = {
    {.name = "z", .ndim = 1, .dim = {4}, .base = 0},
    {.name = "n", .ndim = 0, .integer = 1, .base = 4},
    {.name = "holes", .ndim = 1, .dim = {2}, .integer = 1, .base = 5}, /* the second is missing */
};
enum { AT_NDATA = 7 };

static const struct posterior_note at_notes[] = {
    {.name = "model", .text = "eight \"schools\".nami"}, {.name = "seed", .number = 17}};

/* Element j of draw i (of all data sets): reals j + i / 8, integers 1000 j - i. */
static double at_value(int part, size_t j, size_t i)
{
    double shift = 100 * part;
    if (j == 12 && i == 5) return value_missing();
    if (j == 1 && i == 0) return INFINITY;
    if (j == 2 && i == 1) return -INFINITY;
    if (j == 3 && i == 2) return (double)NAN;
    if (j == 4 && i == 3) return value_missing();
    return j >= 10 && j < 13 ? 1000 * (double)j - (double)i + shift
                             : (double)j + (double)i / 8 + shift;
}

struct at {
    struct posterior_spec spec;
    double data[AT_NDATA * 16];
    struct posterior_found found[16];
    struct summary summary[16][AT_NELEM];
};

/* nset <= 16 data sets; extra: the other parts too. */
static struct at *at_new(size_t nset, size_t ndraw, int extra)
{
    struct at *a = calloc(1, sizeof *a);
    if (!a) abort();
    a->spec = (struct posterior_spec){
        .nset = nset,
        .part[POSTERIOR] = {ndraw, AT_NVAR, at_vars},
        .log_weight = 1,
        .log_p = 1,
        .log_q = 1,
        .observed = {.n = nset, .nvar = 3, .var = at_data, .x = a->data},
        .note = at_notes,
        .nnote = 2,
    };
    if (extra) a->spec.part[PREDICTIVE] = (struct posterior_group){ndraw, 2, at_vars + 1};
    if (extra) a->spec.part[PRIOR] = (struct posterior_group){ndraw / 2 + 1, 4, at_vars};
    for (size_t s = 0; s < nset; s++) {
        for (size_t j = 0; j < AT_NDATA; j++)
            a->data[j * nset + s] = j < 4    ? (double)j + 0.5 + (double)s
                                    : j == 6 ? value_missing()
                                             : (double)(10 * j + s);
        a->found[s] = (struct posterior_found){
            {0.25 + (double)s, 100, -3.5 - (double)s, (double)NAN, 0, 0, 0, NULL}, a->summary[s], 0.5};
        for (size_t j = 0; j < AT_NELEM; j++) {
            double m = (double)(j + 10 * s);
            a->summary[s][j] = (struct summary){
                .mean = m, .sd = 1, .q = {m - 2, m - 1, m, m + 1, m + 2}, .mcse = 0.1, .ess = 100};
        }
    }
    return a;
}

/* Draws first .. first+n-1. */
static int at_put(struct posterior *p, int part, size_t first, size_t n, nami_err *err)
{
    double *x = calloc(n * (AT_NELEM + 3) + 1, sizeof *x), *w = x + n * AT_NELEM;
    if (!x) return NAMI_ENOMEM;
    for (size_t j = 0; j < AT_NELEM; j++)
        for (size_t i = 0; i < n; i++) x[j * n + i] = at_value(part, j, first + i);
    for (size_t i = 0; i < n; i++) {
        w[i] = -(double)(first + i) / 16;
        w[n + i] = -1 - (double)(first + i);
        w[2 * n + i] = w[n + i] - w[i];
    }
    struct posterior_block b = {n, x, w, w + n, w + 2 * n};
    int rc = posterior_put(p, (enum posterior_part)part, &b, err);
    free(x);
    return rc;
}

/* All of it, in blocks of `block` draws. */
static int at_write(const char *path, struct at *a, size_t block, nami_err *err)
{
    struct posterior *p;
    int rc = posterior_open(path, &a->spec, &p, err);
    if (rc) return rc;
    for (int part = NPART - 1; part >= 0 && !rc; part--) {
        size_t n = a->spec.part[part].ndraw * (part == PRIOR ? 1 : a->spec.nset);
        for (size_t i = 0; i < n && !rc; i += block)
            rc = at_put(p, part, i, n - i < block ? n - i : block, err);
    }
    if (!rc) return posterior_close(p, a->found, err);
    posterior_drop(p);
    return rc;
}

#endif
