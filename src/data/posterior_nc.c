/* posterior_nc.c: draws as netCDF-4 in ArviZ's schema, https://python.arviz.org: a group for each
   part, its arrays by (set,) chain, draw, x_dim_0, ..., each dimension with its coordinates.

   Contiguous, not compressed: draws are noise.  No date is in it: the same draws give the same
   bytes.  Integers are int64; a missing one is -2^63, and its variable has missing_value then.
   The netCDF library serves one thread at a time. */
#define _GNU_SOURCE /* fallocate, memfd_create */
#include "data/posterior_impl.h"

#ifdef NAMI_NETCDF

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <netcdf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"

struct var {
    int id, integer, missing;
    size_t size; /* elements a draw */
    const char *name;
};

struct group {
    int id, set, chain, draw; /* netCDF's numbers of the group and its dimensions; set: or -1 */
    size_t chains;
    vec(struct var) var;
};

struct coordinates {
    int group, var;
    size_t n;
};

struct nc {
    int id; /* -1: closed */
    struct group part[NPART], stats, observed, constant;
    vec(struct coordinates) coordinates; /* to be written */
    vec(double) rows;                    /* a buffer */
};

/* The error message of netCDF, or of the system if errno is set. */
static int failed(int rc, const char *name, nami_err *err)
{
    if (rc == NC_ENOMEM) return err_nomem(err);
    if (rc == NC_ENAMEINUSE)
        return err_set(err, NAMI_EINPUT,
                       "a netCDF file has a '%s' of its own; rename the variable, or write .npz",
                       name);
    if (rc == NC_EBADNAME || rc == NC_EMAXNAME)
        return err_set(err, NAMI_EINPUT,
                       "'%s' cannot be a name in a netCDF file; rename it, or write .npz", name);
    if (errno == ENOSPC || errno == EFBIG || errno == EDQUOT || errno == EIO)
        return err_set(err, NAMI_EFILE, "cannot write: %s", strerror(errno));
    return err_set(err, NAMI_EFILE, "cannot write '%s': %s", name, nc_strerror(rc));
}

/* ---- definitions -------------------------------------------------------------------------- */

/* A dimension with coordinates 0 .. n-1.  Without elements it is netCDF's unlimited one. */
static int dimension(struct nc *c, int group, const char *name, size_t n, int *id, nami_err *err)
{
    struct coordinates x = {.group = group, .n = n};
    int rc = nc_def_dim(group, name, n, id); /* NC_UNLIMITED is 0 */
    if (!rc) rc = nc_def_var(group, name, NC_INT64, 1, id, &x.var);
    if (rc) return failed(rc, name, err);
    return vec_push(&c->coordinates, x) ? err_nomem(err) : 0;
}

/* A variable by the group's dimensions and its own. */
static int variable(struct nc *c, struct group *g, const struct draws_var *v, nami_err *err)
{
    int dim[MAX_DIM + 3], n = 0, rc = 0;
    struct var x = {.integer = v->integer, .size = draws_var_size(v), .name = v->name};
    if (g->set >= 0) dim[n++] = g->set;
    if (g->draw >= 0) dim[n++] = g->chain, dim[n++] = g->draw;
    for (int k = 0; k < v->ndim && !rc; k++) {
        struct str name = {0};
        str_printf(&name, "%s_dim_%d", v->name, k);
        rc = name.oom ? err_nomem(err)
                      : dimension(c, g->id, name.s, (size_t)v->dim[k], &dim[n++], err);
        str_free(&name);
    }
    if (rc) return rc;
    rc = nc_def_var(g->id, v->name, v->integer ? NC_INT64 : NC_DOUBLE, n, dim, &x.id);
    if (!rc) rc = nc_def_var_fill(g->id, x.id, NC_NOFILL, NULL);
    if (!rc && x.size && n) rc = nc_def_var_chunking(g->id, x.id, NC_CONTIGUOUS, NULL);
    if (rc) return failed(rc, v->name, err);
    return vec_push(&g->var, x) ? err_nomem(err) : 0;
}

static int text(int id, const char *name, const char *value, nami_err *err)
{
    int rc = nc_put_att_text(id, NC_GLOBAL, name, strlen(value), value);
    return rc ? failed(rc, name, err) : 0;
}

static int attributes(int id, const struct posterior_spec *s, nami_err *err)
{
    int rc = text(id, "inference_library", "nami", err);
    if (!rc) rc = text(id, "inference_library_version", NAMI_VERSION, err);
    for (int k = 0; k < s->nnote && !rc; k++) {
        const struct posterior_note *n = &s->note[k];
        if (n->text)
            rc = text(id, n->name, n->text, err);
        else if ((rc = nc_put_att_double(id, NC_GLOBAL, n->name, NC_DOUBLE, 1, &n->number)))
            rc = failed(rc, n->name, err);
    }
    return rc;
}

/* ndraw: 0 for a group without draws. */
static int group(struct nc *c, const struct posterior_spec *s, const char *name, size_t nset,
                 size_t chains, size_t ndraw, struct group *g, nami_err *err)
{
    int rc = nc_def_grp(c->id, name, &g->id);
    g->set = g->chain = g->draw = -1;
    g->chains = chains > 1 ? chains : 1;
    if (rc) return failed(rc, name, err);
    rc = attributes(g->id, s, err);
    if (!rc && nset > 1) rc = dimension(c, g->id, "set", nset, &g->set, err);
    if (!rc && ndraw) rc = dimension(c, g->id, "chain", g->chains, &g->chain, err);
    if (!rc && ndraw) rc = dimension(c, g->id, "draw", ndraw / g->chains, &g->draw, err);
    return rc;
}

static int define_part(struct nc *c, const struct posterior_spec *s, int part, nami_err *err)
{
    const struct posterior_group *p = &s->part[part];
    struct group *g = &c->part[part];
    if (!p->ndraw) return 0;
    int is_prior = part == PRIOR || part == PRIOR_PREDICTIVE;
    int rc = group(c, s, part_name[part], part_sets(s, (enum posterior_part)part),
                   is_prior ? 1 : s->chains, p->ndraw, g, err);
    for (int v = 0; v < p->nvar && !rc; v++) rc = variable(c, g, &p->var[v], err);
    if (!rc && part == POSTERIOR && s->log_weight)
        rc = text(g->id, "comment", "the draws have weights: sample_stats, log_weight", err);
    return rc;
}

/* What was given: arrays without draws. */
static int define_given(struct nc *c, const struct posterior_spec *s, const char *name, size_t nset,
                        const struct draws *d, struct group *g, nami_err *err)
{
    int rc = d->nvar ? group(c, s, name, nset, 1, 0, g, err) : 0;
    for (int v = 0; v < d->nvar && !rc; v++) rc = variable(c, g, &d->var[v], err);
    return rc;
}

static int define(struct nc *c, const struct posterior_spec *s, nami_err *err)
{
    int rc = attributes(c->id, s, err);
    for (int part = 0; part < NPART && !rc; part++) rc = define_part(c, s, part, err);
    if (!rc)
        rc = group(c, s, "sample_stats", s->nset, s->chains, s->part[POSTERIOR].ndraw, &c->stats,
                   err);
    for (int k = 0; k < NSTAT && !rc; k++)
        if (stat_is(s, k))
            rc = variable(c, &c->stats, &(struct draws_var){.name = stat_name[k].nc}, err);
    if (!rc) rc = define_given(c, s, "observed_data", s->nset, &s->observed, &c->observed, err);
    return rc ? rc : define_given(c, s, "constant_data", 1, &s->constant, &c->constant, err);
}

/* ---- numbers --------------------------------------------------------------------------------- */

static int write_coordinates(const struct coordinates *x, nami_err *err)
{
    enum { N = 4096 };
    long long i[N];
    for (size_t at = 0; at < x->n; at += N) {
        size_t n = x->n - at < N ? x->n - at : N;
        for (size_t k = 0; k < n; k++) i[k] = (long long)(at + k);
        int rc = nc_put_vara_longlong(x->group, x->var, &at, &n, i);
        if (rc) return failed(rc, "coordinates", err);
    }
    return 0;
}

/* In place. */
static int to_int64(struct var *v, size_t n, double *x, nami_err *err)
{
    for (size_t i = 0; i < n; i++) {
        long long k = INT64_MIN;
        if (isnan(x[i]))
            v->missing = 1;
        else if (fits_int64(x[i]))
            k = (long long)x[i];
        else
            return err_set(err, NAMI_EINPUT,
                           "'%s' is %g, which is no 64-bit integer; write .npz or .csv", v->name,
                           x[i]);
        memcpy(&x[i], &k, sizeof k);
    }
    return 0;
}

/* `count` draws of all data sets, from `at` on: in one chain, whole chains of one data set, or
   whole data sets. */
static int write_rows(const struct group *g, struct var *v, size_t ndraw, size_t at, size_t count,
                      double *x, nami_err *err)
{
    size_t start[MAX_DIM + 3] = {0}, n[MAX_DIM + 3], k = 0, length;
    int dim[MAX_DIM + 3], ndim, rc = nc_inq_var(g->id, v->id, NULL, NULL, &ndim, dim, NULL);
    for (size_t d = 0; !rc && d < (size_t)ndim; d++) {
        rc = nc_inq_dimlen(g->id, dim[d], &length);
        n[d] = length;
    }
    if (rc) return failed(rc, v->name, err);
    if (g->set >= 0) {
        start[k] = at / ndraw;
        n[k++] = count > ndraw ? count / ndraw : 1;
    }
    if (g->draw >= 0) {
        size_t each = ndraw / g->chains;
        start[k] = at % ndraw / each;
        n[k] = count > each && g->chains > 1 ? count / each : 1;
        start[k + 1] = at % each;
        n[k + 1] = count > each ? each : count;
        if (count > ndraw) n[k] = g->chains;
    }
    errno = 0;
    if (v->integer) {
        if ((rc = to_int64(v, count * v->size, x, err))) return rc;
        rc = nc_put_vara_longlong(g->id, v->id, start, n, (const long long *)(const void *)x);
    } else {
        rc = nc_put_vara_double(g->id, v->id, start, n, x);
    }
    return rc ? failed(rc, v->name, err) : 0;
}

/* n draws of a variable, whose first element is x[0 .. n-1]. */
static int put_variable(struct nc *c, const struct group *g, struct var *v, size_t ndraw,
                        size_t first, size_t n, const double *x, nami_err *err)
{
    size_t most = rows_a_time(v->size), count;
    int rc = 0;
    if (!v->size) return 0;
    if (vec_reserve(&c->rows, most * v->size)) return err_nomem(err);
    for (size_t i = 0; i < n && !rc; i += count) {
        size_t at = first + i, each = ndraw / g->chains;
        size_t here = each - at % each, left = ndraw - at % ndraw; /* in this chain, data set */
        count = n - i < most ? n - i : most;
        if (left == ndraw && count >= ndraw)
            count = count / ndraw * ndraw;
        else if (here == each && count >= each)
            count = (count < left ? count : left) / each * each;
        else if (here < count)
            count = here;
        block_rows(x, n, v->size, i, count, c->rows.a);
        rc = write_rows(g, v, ndraw, first + i, count, c->rows.a, err);
    }
    return rc;
}

/* ---- room --------------------------------------------------------------------------------------
 */

/* Bytes of the variables of n draws and their definitions, which take less than this. */
static size_t room_of(int nvar, const struct draws_var *var, size_t n)
{
    size_t bytes = 0;
    for (int v = 0; v < nvar; v++) {
        bytes += draws_var_size(&var[v]) * n * 8 + 16384;
        for (int k = 0; k < var[v].ndim; k++) bytes += (size_t)var[v].dim[k] * 8 + 16384;
    }
    return bytes;
}

static size_t room(const struct posterior_spec *s)
{
    struct draws_var number = {.name = ""};
    size_t draws = part_draws(s, POSTERIOR), sets = s->nset * 8 + 16384;
    size_t bytes = (1 << 20) + room_of(s->observed.nvar, s->observed.var, s->nset) + sets;
    bytes += room_of(s->constant.nvar, s->constant.var, 1);
    bytes += NSTAT * room_of(1, &number, draws) + NFOUND * room_of(1, &number, s->nset);
    bytes += s->part[POSTERIOR].ndraw * 8 + sets; /* coordinates of sample_stats */
    for (int k = 0; k < NPART; k++) {
        size_t n = part_draws(s, (enum posterior_part)k);
        bytes += room_of(s->part[k].nvar, s->part[k].var, n) + s->part[k].ndraw * 8 + sets;
    }
    for (int k = 0; k < s->nnote; k++) /* an attribute of up to 9 groups */
        bytes += 9 * (1024 + (s->note[k].text ? strlen(s->note[k].text) : 0));
    return bytes;
}

/* Where the file system cannot, it is as it is. */
static int reserve(int fd, int mode, size_t bytes, nami_err *err)
{
    int rc;
    do rc = fallocate(fd, mode, 0, (off_t)bytes);
    while (rc && errno == EINTR);
    if (!rc || errno == EOPNOTSUPP || errno == ENOSYS) return 0;
    return err_set(err, NAMI_EFILE, "cannot write: %s", strerror(errno));
}

/* Gives back what was too much. */
static void trim(int fd)
{
    struct stat st;
    if (fstat(fd, &st) == 0 && ftruncate(fd, st.st_size)) return; /* it is large, but right */
}

/* HDF5's own descriptor of the file becomes one of a file in memory, where closing succeeds. */
static void divert(int fd)
{
    enum { MOST = 4096 };
    struct stat it, other;
    int memory = memfd_create("nami", MFD_CLOEXEC);
    if (memory < 0 || fstat(fd, &it)) return;
    for (int i = 0; i < MOST; i++)
        if (i != fd && fstat(i, &other) == 0 && other.st_ino == it.st_ino &&
            other.st_dev == it.st_dev)
            dup2(memory, i);
    close(memory);
}

static int put_given(struct nc *c, const struct group *g, const struct draws *d, size_t nset,
                     nami_err *err)
{
    int rc = 0;
    for (int v = 0; v < d->nvar && !rc; v++)
        rc = put_variable(c, g, &g->var.a[v], 1, 0, nset, d->x + d->var[v].base * nset, err);
    return rc;
}

static int open_nc(struct posterior *p, nami_err *err)
{
    const struct posterior_spec *s = p->spec;
    struct nc *c = new_array(struct nc, 1);
    if (!c) return err_nomem(err);
    p->state = c;
    c->id = -1;
    size_t most = room(s);
    int rc = reserve(p->file.fd, 0, most, err); /* may it be so long? */
    if (!rc) rc = file_give_name(&p->file, err);
    if (rc) return rc;
    errno = 0;
    if ((rc = nc_create(p->file.tmp.s, NC_NETCDF4 | NC_CLOBBER, &c->id))) { /* empties it */
        c->id = -1;
        return failed(rc, p->file.path, err);
    }
    rc = reserve(p->file.fd, FALLOC_FL_KEEP_SIZE, most, err);
    if (rc || (rc = define(c, s, err))) return rc;
    errno = 0;
    if ((rc = nc_enddef(c->id))) return failed(rc, p->file.path, err); /* cuts it */
    rc = reserve(p->file.fd, FALLOC_FL_KEEP_SIZE, most, err);
    for (size_t i = 0; i < c->coordinates.n && !rc; i++)
        rc = write_coordinates(&c->coordinates.a[i], err);
    if (!rc) rc = put_given(c, &c->observed, &s->observed, s->nset, err);
    return rc ? rc : put_given(c, &c->constant, &s->constant, 1, err);
}

static int put(struct posterior *p, enum posterior_part part, const struct posterior_block *b,
               nami_err *err)
{
    struct nc *c = p->state;
    const struct posterior_group *g = &p->spec->part[part];
    int rc = 0;
    for (int v = 0; v < g->nvar && !rc; v++)
        rc = put_variable(c, &c->part[part], &c->part[part].var.a[v], g->ndraw, p->done[part], b->n,
                          b->x + g->var[v].base * b->n, err);
    for (int k = 0, v = 0; k < NSTAT && !rc && part == POSTERIOR; k++)
        if (stat_is(p->spec, k))
            rc = put_variable(c, &c->stats, &c->stats.var.a[v++], g->ndraw, p->done[part], b->n,
                              stat_of(b, k), err);
    return rc;
}

/* ---- the end ------------------------------------------------------------------------------------
 */

/* khat, ...: a number for each data set, in sample_stats. */
static int write_found(struct nc *c, const struct posterior_found *f, size_t nset, nami_err *err)
{
    const struct group *g = &c->stats;
    if (vec_reserve(&c->rows, nset)) return err_nomem(err);
    for (int k = 0; k < NFOUND; k++) {
        int id, known = 0, rc;
        for (size_t s = 0; s < nset; s++) known |= !isnan(c->rows.a[s] = found_of(&f[s], k));
        if (!known) continue;
        rc = nc_def_var(g->id, found_name[k], NC_DOUBLE, nset > 1, &g->set, &id);
        if (!rc) rc = nc_put_var_double(g->id, id, c->rows.a);
        if (rc) return failed(rc, found_name[k], err);
    }
    return 0;
}

static int write_missing(const struct group *g, nami_err *err)
{
    const long long none = INT64_MIN;
    for (size_t v = 0; v < g->var.n; v++) {
        if (!g->var.a[v].missing) continue;
        int rc = nc_put_att_longlong(g->id, g->var.a[v].id, "missing_value", NC_INT64, 1, &none);
        if (rc) return failed(rc, g->var.a[v].name, err);
    }
    return 0;
}

static int close_nc(struct posterior *p, const struct posterior_found *found, nami_err *err)
{
    struct nc *c = p->state;
    int rc = found ? write_found(c, found, p->spec->nset, err) : 0;
    for (int part = 0; part < NPART && !rc; part++) rc = write_missing(&c->part[part], err);
    if (!rc) rc = write_missing(&c->observed, err);
    if (!rc) rc = write_missing(&c->constant, err);
    if (rc) return rc;
    errno = 0;
    if ((rc = nc_sync(c->id))) return failed(rc, p->file.path, err);
    rc = nc_close(c->id); /* has nothing left to write */
    c->id = -1;
    trim(p->file.fd);
    return rc ? failed(rc, p->file.path, err) : 0;
}

static void free_nc(struct posterior *p)
{
    struct nc *c = p->state;
    if (!c) return;
    if (c->id >= 0) {
        divert(p->file.fd);
        nc_abort(c->id);
    }
    for (int part = 0; part < NPART; part++) vec_free(&c->part[part].var);
    vec_free(&c->stats.var);
    vec_free(&c->observed.var);
    vec_free(&c->constant.var);
    vec_free(&c->coordinates);
    vec_free(&c->rows);
    free(c);
}

#endif

const struct posterior_format posterior_nc = {
    .name = "nc",
    .ending = ".nc",
    .what = "netCDF for ArviZ and xarray: groups posterior, sample_stats, observed_data, ...",
    .parts = ALL_PARTS,
#ifdef NAMI_NETCDF
    .open = open_nc,
    .put = put,
    .close = close_nc,
    .free = free_nc,
#else
    .lacks = "the netCDF library (Debian: libnetcdf-dev)",
#endif
};
