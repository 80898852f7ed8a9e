/* points.c: reads draws of all random variables of a model from .npz or data files, and checks
   their support. */
#include "model/points.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "data/data_impl.h"
#include "data/npz.h"
#include "model/eval.h"
#include "model/model.h"

static const struct stmt *stmt_of(const struct model *m, int e)
{
    return m->ir.state[e] == E_RANDOM ? instance_stmt(m, m->ir.defined_by[e]) : NULL;
}

int point_row(const struct model *m, int e)
{
    const struct stmt *s = stmt_of(m, e);
    return s && s->rel->stochastic ? m->ir.row[e] : -1;
}

static int is_stochastic(const struct model *m, const struct array *a)
{
    for (int e = a->first; e < a->first + a->n; e++)
        if (point_row(m, e) >= 0) return 1;
    return 0;
}

/* ---- what cannot be ----------------------------------------------------------------------- */

/* Bounds are closed: draws may underflow. Vectors and matrices are checked by element. */
int point_possible(const struct model *m, int e, double x)
{
    const struct stmt *s = stmt_of(m, e);
    if (isnan(x)) return 0;
    if (!s->dist) return 1;
    const struct domain_info *d = &domains[s->dist->domain];
    if (d->discrete && x != floor(x)) return 0;
    return d->rank == 2 || (x >= d->lo && x <= d->hi);
}

int point_refuse(const struct model *m, int e, double x, const char *of, size_t i, nami_err *err)
{
    const struct stmt *s = stmt_of(m, e);
    struct str name = {0};
    elem_name(m, e, &name);
    err_set(err, NAMI_EINPUT, "%.100s is %g in %s %zu; it must be %s", name.oom ? "?" : name.s, x,
            of, i + 1, isnan(x) || !s->dist ? "a number" : domains[s->dist->domain].what);
    str_free(&name);
    return NAMI_EINPUT;
}

static int check_points(const struct model *m, size_t n, const double *x, nami_err *err)
{
    for (int e = 0; e < m->ir.num_elements; e++) {
        int r = point_row(m, e);
        for (size_t i = 0; r >= 0 && i < n; i++)
            if (!point_possible(m, e, x[(size_t)r * n + i]))
                return point_refuse(m, e, x[(size_t)r * n + i], "draw", i, err);
    }
    return 0;
}

/* ---- NumPy ------------------------------------------------------------------------------------
 */

/* "(draws, 2, 3)" */
static const char *shape(char buf[PATH_MAX_LEN], const struct array *a)
{
    struct str s = {0};
    str_put(&s, "(draws");
    for (int k = 0; k < a->ndim; k++) str_printf(&s, ", %d", a->dim[k]);
    snprintf(buf, PATH_MAX_LEN, "%s%s", s.oom ? "(draws, ..." : s.s, a->ndim ? ")" : ",)");
    str_free(&s);
    return buf;
}

/* *n: the draws of the arrays before; 0 if there are none. */
static int check_shape(const struct array *a, const struct npy *f, size_t *n, nami_err *err)
{
    char want[PATH_MAX_LEN], got[PATH_MAX_LEN];
    if (!f->header)
        return err_set(err, NAMI_EINPUT,
                       "there is no array '%.60s'; all that has a distribution must be there: this "
                       "with the shape %s",
                       a->name, shape(want, a));
    if (f->ndim != a->ndim + 1 || memcmp(f->dim + 1, a->dim, sizeof *a->dim * (size_t)a->ndim) != 0)
        return err_set(err, NAMI_EINPUT, "'%.60s' has the shape %s, but must have %s", a->name,
                       shape_text(got, f->ndim, f->dim), shape(want, a));
    if (*n && (size_t)f->dim[0] != *n)
        return err_set(err, NAMI_EINPUT, "'%.60s' has %d draws, but others have %zu", a->name,
                       f->dim[0], *n);
    *n = (size_t)f->dim[0];
    return *n ? 0 : err_set(err, NAMI_EINPUT, "'%.60s' has no draws", a->name);
}

/* Copies the elements of an array to their rows. In C order, element k belongs to draw k / a->n; in
   Fortran order, draws vary fastest and the other dimensions are reversed. */
static int scatter(const struct model *m, struct npz *z, const struct array *a, const struct npy *f,
                   size_t n, double *x, nami_err *err)
{
    enum { PART = 1 << 13 };
    double buf[PART];
    size_t size = (size_t)a->n;
    int *row = raw_array(int, size), rc = 0; /* in the file's order */
    struct column_walk w;
    if (!row) return err_nomem(err);
    column_walk_init(&w, a->ndim, a->dim);
    for (int k = 0; k < a->n; k++, column_walk_next(&w))
        row[f->fortran ? w.at : (size_t)k] = point_row(m, a->first + k);
    for (size_t k = 0, count; k < f->n && !rc; k += count) {
        count = f->n - k < PART ? f->n - k : PART;
        if ((rc = npz_next(z, count, buf, err))) break;
        for (size_t j = 0; j < count; j++) {
            size_t i = f->fortran ? (k + j) % n : (k + j) / size;
            int r = row[f->fortran ? (k + j) / n : (k + j) % size];
            if (r >= 0) x[(size_t)r * n + i] = buf[j];
        }
    }
    free(row);
    return rc ? rc : npz_end(z, err);
}

/* Allocates n draws, all 0. */
static int make_room(const struct model *m, size_t n, double **x, nami_err *err)
{
    if (n > (size_t)INT_MAX)
        return err_set(err, NAMI_ELIMIT, "%zu draws are too many; %d are possible", n, INT_MAX);
    *x = n > SIZE_MAX / ((size_t)m->ir.num_rows + 1) ? NULL
                                                     : new_array(double, (size_t)m->ir.num_rows *n);
    return *x ? 0 : err_nomem(err);
}

static int from_npz(const struct model *m, const char *path, size_t *n, double **x, nami_err *err)
{
    struct npz *z;
    struct npy f;
    int rc = npz_open(path, &z, err);
    for (size_t i = 0; i < m->ir.arrays.n && !rc; i++) {
        const struct array *a = &m->ir.arrays.a[i];
        if (!is_stochastic(m, a)) continue;
        if (!(rc = npz_find(z, a->name, &f, err))) rc = check_shape(a, &f, n, err);
        if (!rc && !*x) rc = make_room(m, *n, x, err);
        if (!rc) rc = scatter(m, z, a, &f, *n, *x, err);
    }
    npz_close(z);
    return rc;
}

/* ---- data sets ----------------------------------------------------------------------------------
 */

static int from_data(const struct model *m, const char *path, size_t *n, double **x, nami_err *err)
{
    struct data d = {0};
    nami_err why;
    int rc = data_read(&d, path, err);
    *n = d.set.n;
    if (!rc) rc = make_room(m, *n, x, err);
    for (size_t i = 0; i < *n && !rc; i++)
        if ((rc = model_point(m, &d.set.a[i], *n, i, 0, *x, &why)))
            err_set(err, rc, "draw %zu: %.400s", i + 1, why.msg);
    data_free(&d);
    return rc;
}

/* ---- all
 * -------------------------------------------------------------------------------------------- */

int points_read(const struct model *m, const char *path, size_t *n, double **x, nami_err *err)
{
    *n = 0;
    *x = NULL;
    err_clear(err);
    int rc = str_ends(path, strlen(path), ".csv")
                 ? err_set(err, NAMI_EINPUT, "draws are read from .npz or .json, not from .csv")
             : str_ends(path, strlen(path), ".npz") ? from_npz(m, path, n, x, err)
                                                    : from_data(m, path, n, x, err);
    if (!rc && !*n) rc = err_set(err, NAMI_EINPUT, "there are no draws");
    if (!rc) rc = check_points(m, *n, *x, err);
    if (rc) {
        free(*x);
        *x = NULL;
    }
    return rc;
}
