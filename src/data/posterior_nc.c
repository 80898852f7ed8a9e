/* posterior_nc.c: draws as netCDF-4 in ArviZ's schema, https://python.arviz.org: a group for each
   part, its arrays by (set,) chain, draw, x_dim_0, ..., each dimension with its coordinates.

   Contiguous, not compressed: draws are noise.  No date is in it: the same draws give the same
   bytes.  Integers are int64; a missing one is -2^63, and its variable has missing_value then.
   The netCDF library serves one thread at a time, and may crash when memory or the disk fails: a
   child process calls it, and gets the draws through a socket. */
#include "data/posterior_impl.h"

#ifdef NAMI_NETCDF

#include <errno.h>
#include <math.h>
#include <netcdf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/child.h"
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

/* The state of the child. */
struct nc {
    int id;
    struct group part[NPART], stats, observed, constant;
    vec(struct coordinates) coordinates; /* to be written */
    vec(double) rows, block;             /* buffers */
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

/* ---- in the child -----------------------------------------------------------------------------
 */

static int put_given(struct nc *c, const struct group *g, const struct draws *d, size_t nset,
                     nami_err *err)
{
    int rc = 0;
    for (int v = 0; v < d->nvar && !rc; v++)
        rc = put_variable(c, g, &g->var.a[v], 1, 0, nset, d->x + d->var[v].base * nset, err);
    return rc;
}

/* The parent was killed: nothing stays. */
static _Noreturn void give_up(const struct posterior *p)
{
    unlink(p->file.tmp.s);
    _exit(1);
}

static int begin(struct nc *c, const struct posterior *p, nami_err *err)
{
    const struct posterior_spec *s = p->spec;
    errno = 0;
    int rc = nc_create(p->file.tmp.s, NC_NETCDF4 | NC_CLOBBER, &c->id);
    if (rc) return failed(rc, p->file.path, err);
    if ((rc = define(c, s, err))) return rc;
    errno = 0;
    if ((rc = nc_enddef(c->id))) return failed(rc, p->file.path, err);
    for (size_t i = 0; i < c->coordinates.n && !rc; i++)
        rc = write_coordinates(&c->coordinates.a[i], err);
    if (!rc) rc = put_given(c, &c->observed, &s->observed, s->nset, err);
    return rc ? rc : put_given(c, &c->constant, &s->constant, 1, err);
}

/* What the parent sends: draws of a part, whose arrays follow, or the end, with results of data
   sets. */
struct message {
    ptrdiff_t part; /* or -1; as wide as n: no bytes between them */
    size_t n;
};

/* n draws of a variable. */
static int take_variable(struct nc *c, const struct group *g, struct var *v, struct posterior *p,
                         struct message m, int fd, nami_err *err)
{
    enum posterior_part part = (enum posterior_part)m.part;
    if (vec_reserve(&c->block, m.n * v->size)) return err_nomem(err);
    if (child_get(fd, c->block.a, m.n * v->size * sizeof(double))) give_up(p);
    return put_variable(c, g, v, p->spec->part[part].ndraw, p->done[part], m.n, c->block.a, err);
}

static int take_draws(struct nc *c, struct posterior *p, struct message m, int fd, nami_err *err)
{
    struct group *g = &c->part[m.part];
    int rc = 0;
    for (size_t v = 0; v < g->var.n && !rc; v++)
        rc = take_variable(c, g, &g->var.a[v], p, m, fd, err);
    for (int k = 0, v = 0; k < NSTAT && !rc && m.part == POSTERIOR; k++)
        if (stat_is(p->spec, k))
            rc = take_variable(c, &c->stats, &c->stats.var.a[v++], p, m, fd, err);
    p->done[m.part] += m.n;
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

static int finish(struct nc *c, const struct posterior *p, struct message m, int fd, nami_err *err)
{
    struct posterior_found *found = new_array(struct posterior_found, m.n + !m.n);
    if (!found) return err_nomem(err);
    if (child_get(fd, found, m.n * sizeof *found)) give_up(p);
    int rc = m.n ? write_found(c, found, m.n, err) : 0;
    for (int part = 0; part < NPART && !rc; part++) rc = write_missing(&c->part[part], err);
    if (!rc) rc = write_missing(&c->observed, err);
    if (!rc) rc = write_missing(&c->constant, err);
    free(found);
    if (rc) return rc;
    errno = 0;
    if ((rc = nc_sync(c->id)) || (rc = nc_close(c->id))) return failed(rc, p->file.path, err);
    return 0;
}

/* What the child answers: after its beginning, after its end, and when something fails, which is
   its end too. */
struct answer {
    int rc;
    nami_err err;
};

static void write_there(void *self, int fd)
{
    struct posterior *p = self;
    struct nc c = {0};
    struct answer a = {0};
    struct message m;
    a.rc = begin(&c, p, &a.err);
    while (child_put(fd, &a, sizeof a) == 0 && !a.rc) {
        do {
            if (child_get(fd, &m, sizeof m)) give_up(p);
            a.rc = m.part < 0 ? finish(&c, p, m, fd, &a.err) : take_draws(&c, p, m, fd, &a.err);
        } while (m.part >= 0 && !a.rc);
    }
}

/* ---- in the parent --------------------------------------------------------------------------- */

static int answer(struct posterior *p, nami_err *err)
{
    struct child *c = p->state;
    struct answer a;
    if (child_get(c->fd, &a, sizeof a))
        return err_set(err, NAMI_EFILE,
                       "cannot write: the netCDF library crashed; the disk may be full, or there "
                       "may be too little memory");
    return a.rc ? err_set(err, a.rc, "%s", a.err.msg) : 0;
}

static int open_nc(struct posterior *p, nami_err *err)
{
    struct child *c = new_array(struct child, 1);
    if (!c) return err_nomem(err);
    p->state = c;
    int rc = file_give_name(&p->file, err); /* the library opens it once more */
    if (!rc) rc = child_start(c, write_there, p, err);
    return rc ? rc : answer(p, err);
}

static int put(struct posterior *p, enum posterior_part part, const struct posterior_block *b,
               nami_err *err)
{
    const struct posterior_group *g = &p->spec->part[part];
    int fd = ((struct child *)p->state)->fd;
    struct message m = {.part = (ptrdiff_t)part, .n = b->n};
    int lost = child_put(fd, &m, sizeof m);
    for (int v = 0; v < g->nvar && !lost; v++)
        lost = child_put(fd, b->x + g->var[v].base * b->n,
                         draws_var_size(&g->var[v]) * b->n * sizeof(double));
    for (int k = 0; k < NSTAT && !lost && part == POSTERIOR; k++)
        if (stat_is(p->spec, k)) lost = child_put(fd, stat_of(b, k), b->n * sizeof(double));
    return lost ? answer(p, err) : 0;
}

static int close_nc(struct posterior *p, const struct posterior_found *found, nami_err *err)
{
    int fd = ((struct child *)p->state)->fd;
    struct message m = {.part = -1, .n = found ? p->spec->nset : 0};
    if (child_put(fd, &m, sizeof m) == 0) child_put(fd, found, m.n * sizeof *found);
    return answer(p, err);
}

static void free_nc(struct posterior *p)
{
    if (p->state) child_end(p->state);
    free(p->state);
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
