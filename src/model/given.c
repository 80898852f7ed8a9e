/* given.c: the values of the elements of a model in a data set; comparison of constants. */
#include "model/given.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/num.h"
#include "data/data_impl.h"
#include "model/model.h"

/* ---- what a data block reads and computes ------------------------------------------------ */

enum { NAME_IN_BLOCK = 1, NAME_OUTSIDE = 2 }; /* where a name is used */

static void mark_names(const struct expr *x, int bit, unsigned char *where)
{
    if (!x) return;
    if (x->kind == X_REF) where[x->name] |= (unsigned char)bit;
    for (int i = 0; i < x->narg; i++) mark_names(x->arg[i], bit, where);
}

static void mark_sizes(struct expr *const *x, int n, unsigned char *where)
{
    for (int i = 0; i < n; i++) mark_names(x[i], NAME_OUTSIDE, where);
}

static void block_names(const struct syntax *s, unsigned char *where)
{
    for (size_t i = 0; i < s->rel.n; i++) {
        const struct rel *r = &s->rel.a[i];
        int bit = r->in_data ? NAME_IN_BLOCK : NAME_OUTSIDE;
        mark_names(r->lhs, bit, where);
        mark_names(r->rhs, bit, where);
        mark_names(r->lower, bit, where);
        mark_names(r->upper, bit, where);
        for (int l = r->loop; l >= 0; l = s->loop.a[l].outer)
            mark_names(s->loop.a[l].range, bit, where);
    }
    for (size_t i = 0; i < s->decl.n; i++) {
        const struct decl *d = &s->decl.a[i];
        if (d->ref) mark_sizes(d->ref->arg, d->ref->narg, where);
        mark_names(d->value, NAME_OUTSIDE, where);
        mark_sizes(d->in, d->nin, where);
        mark_sizes(d->out, d->nout, where);
        mark_sizes(d->layer, d->nlayer, where);
    }
}

static int has_random(const struct model *m, const struct array *a)
{
    for (int e = a->first; e < a->first + a->n; e++)
        if (m->ir.state[e] == E_RANDOM) return 1;
    return 0;
}

/* Marks the arrays that observations are computed from, transitively. */
static void mark_sources(struct model *m)
{
    for (int again = 1; again;) {
        again = 0;
        for (size_t i = 0; i < m->ir.statements.n; i++) {
            const struct stmt *s = &m->ir.statements.a[i];
            const struct array *a = &m->ir.arrays.a[s->lhs->array];
            if (!s->rel->in_data || (!a->source && !has_random(m, a))) continue;
            for (int r = 0; r < s->nref; r++) {
                struct array *from = &m->ir.arrays.a[s->ref[r]->array];
                if (from->source || (!from->raw && !from->computed)) continue;
                from->source = again = 1;
            }
        }
    }
}

int given_mark(struct model *m)
{
    unsigned char *where = new_array(unsigned char, m->source.syntax.names.name.n + 1);
    if (!where) return NAMI_ENOMEM;
    block_names(&m->source.syntax, where);
    for (size_t i = 0; i < m->ir.statements.n; i++)
        if (m->ir.statements.a[i].rel->in_data)
            m->ir.arrays.a[m->ir.statements.a[i].lhs->array].computed = 1;
    for (size_t i = 0; i < m->ir.arrays.n; i++)
        m->ir.arrays.a[i].raw =
            !m->ir.arrays.a[i].computed && where[m->ir.arrays.a[i].id] == NAME_IN_BLOCK;
    mark_sources(m);
    free(where);
    return 0;
}

static const struct value *value_of(const struct given *g, const struct array *a)
{
    return dataset_find(g->data, a->name, strlen(a->name));
}

/* ---- shapes ------------------------------------------------------------------------------ */

/* Removes dimensions of size 1. */
static int squeeze(int ndim, const int *dim, int *out)
{
    int n = 0;
    for (int k = 0; k < ndim; k++)
        if (dim[k] != 1) out[n++] = dim[k];
    return n;
}

/* The numbers of elements must agree, and the shapes must be equal, or the data flat
   (row-major). */
static int same_shape(const struct array *a, const struct value *v)
{
    int x[MAX_DIM], y[MAX_DIM], nx = squeeze(a->ndim, a->dim, x), ny = squeeze(v->ndim, v->dim, y);
    if ((size_t)a->n != v->n) return 0;
    return nx < 2 || ny < 2 || (nx == ny && memcmp(x, y, sizeof *x * (size_t)nx) == 0);
}

static int check_shapes(const struct given *g, nami_err *err)
{
    char got[PATH_MAX_LEN], want[PATH_MAX_LEN];
    for (size_t i = 0; i < g->m->ir.arrays.n; i++) {
        const struct array *a = &g->m->ir.arrays.a[i];
        const struct value *v = a->raw || !a->ready ? NULL : value_of(g, a);
        if (!v || same_shape(a, v)) continue;
        if (v->n != (size_t)a->n)
            return err_set(err, NAMI_EINPUT, "%s has %zu elements in the data, but %d in the model",
                           a->name, v->n, a->n);
        return err_set(err, NAMI_EINPUT, "%s has the shape %s in the data, but %s in the model",
                       a->name, shape_text(got, v->ndim, v->dim),
                       shape_text(want, a->ndim, a->dim));
    }
    return 0;
}

/* ---- constants ----------------------------------------------------------------------------- */

/* A constant overridden by a setting: the data file may still contain its own value. */
static int was_set(const struct given *g, int e, double value)
{
    const struct model *m = g->m;
    const struct array *a = &m->ir.arrays.a[m->ir.array_of[e]];
    const struct value *v = m->source.data.set.n
                                ? dataset_find(&m->source.data.set.a[0], a->name, strlen(a->name))
                                : NULL;
    return m->source.num_settings && !a->data && v && v->n == (size_t)a->n &&
           v->x[e - a->first] == value;
}

/* Does this value of a constant element differ? */
static int differs(const struct given *g, int e, double value)
{
    double mine = g->m->ir.value[e];
    return value != mine && !(isnan(value) && isnan(mine)) && !was_set(g, e, value);
}

/* ---- the data block ------------------------------------------------------------------------ */

/* Completes the data set with constants of the model that it does not contain. */
static int fill_up(const struct given *g, struct dataset *to)
{
    const struct dataset *from = g->m->source.data.set.n ? &g->m->source.data.set.a[0] : NULL;
    for (size_t i = 0; i < g->data->value.n; i++)
        if (vec_push(&to->value, g->data->value.a[i])) return NAMI_ENOMEM;
    for (size_t i = 0; i < g->m->ir.arrays.n && from; i++) {
        const struct array *a = &g->m->ir.arrays.a[i];
        const struct value *v = dataset_find(from, a->name, strlen(a->name));
        if (!v || a->source || a->defined || value_of(g, a)) continue;
        if (vec_push(&to->value, *v)) return NAMI_ENOMEM;
    }
    return 0;
}

/* The arrays that observations are computed from must be in each data set. */
static int check_sources(const struct given *g, nami_err *err)
{
    const struct dataset *first = g->m->source.data.set.n ? &g->m->source.data.set.a[0] : NULL;
    for (size_t i = 0; i < g->m->ir.arrays.n && first; i++) {
        const struct array *a = &g->m->ir.arrays.a[i];
        if (!a->source || value_of(g, a) || !dataset_find(first, a->name, strlen(a->name)))
            continue;
        return err_set(err, NAMI_EINPUT,
                       "the data give no value for %s, from which the model's data block computes",
                       a->name);
    }
    return 0;
}

static int compute_block(struct given *g, nami_err *err)
{
    nami_err why = {0};
    struct dataset all = {0};
    int rc = check_sources(g, err);
    if (rc) return rc;
    g->block = model_new();
    if (!g->block || fill_up(g, &all) || vec_push(&g->block->source.data.set, all)) {
        vec_free(&all.value);
        return err_nomem(err);
    }
    rc = model_block(g->block, g->m, &why);
    if (!rc) return 0;
    if (why.line)
        return err_set(err, rc, "the data block, in line %d of the model: %.380s", why.line,
                       why.msg);
    return err_set(err, rc, "%.400s", why.msg);
}

/* Must the data block be computed? Draws of the model contain its results, but not its inputs. */
static int needs_block(const struct given *g)
{
    int computed = 0, direct = 0, raw = 0;
    for (size_t i = 0; i < g->m->ir.arrays.n; i++) {
        const struct array *a = &g->m->ir.arrays.a[i];
        computed |= a->computed;
        direct |= a->computed && value_of(g, a);
        raw |= a->raw && value_of(g, a);
    }
    return computed && (raw || !direct);
}

/* A differing scalar, such as N: explains differing shapes. */
static int other_scalar(const struct given *g)
{
    for (size_t i = 0; i < g->m->ir.arrays.n; i++) {
        const struct array *a = &g->m->ir.arrays.a[i];
        const struct value *v = a->raw || !a->ready || a->ndim ? NULL : value_of(g, a);
        if (v && v->n == 1 && !isnan(v->x[0]) && g->m->ir.state[a->first] == E_CONST &&
            differs(g, a->first, v->x[0]))
            return 1;
    }
    return 0;
}

int given_open(struct given *g, const struct model *m, const struct dataset *data, nami_err *err)
{
    *g = (struct given){.m = m, .data = data};
    if (other_scalar(g)) return 0;
    int rc = check_shapes(g, err);
    return rc || !needs_block(g) ? rc : compute_block(g, err);
}

void given_close(struct given *g) { model_free(g->block); }

double given_value(const struct given *g, int e)
{
    const struct array *a = &g->m->ir.arrays.a[g->m->ir.array_of[e]];
    int k = e - a->first;
    if (!a->computed || !g->block) {
        const struct value *v = value_of(g, a);
        return v && v->n == (size_t)a->n ? v->x[k] : value_missing();
    }
    const struct array *b =
        &g->block->ir.arrays.a[g->block->ir.array_of_name[a->id]]; /* the same text */
    return b->ready && b->n == a->n ? g->block->ir.value[b->first + k] : value_missing();
}

int given_other(const struct given *g, double *value)
{
    const struct model *m = g->m;
    for (size_t i = 0; i < m->ir.arrays.n; i++) {
        const struct array *a = &m->ir.arrays.a[i];
        int block = a->computed && g->block;
        const struct value *v = value_of(g, a);
        if (a->raw || (!block && (!v || v->n != (size_t)a->n))) continue;
        for (int e = a->first; e < a->first + a->n; e++) {
            if (m->ir.state[e] != E_CONST) continue;
            *value = given_value(g, e);
            if (value_is_missing(*value) && !block && m->ir.defined_by[e] >= 0)
                continue; /* x[4] <- 0 */
            if (differs(g, e, *value)) return e;
        }
    }
    return -1;
}

static void put_value(struct str *out, double x)
{
    char buf[NUM_MAX];
    if (isfinite(x))
        str_putn(out, buf, (size_t)num_print(buf, x));
    else
        str_put(out, isnan(x) ? "missing" : x > 0 ? "Inf" : "-Inf");
}

int refuse_constant(const struct model *m, int e, double value, const char *there,
                    const char *advice, nami_err *err)
{
    struct str s = {0};
    elem_name(m, e, &s);
    str_put(&s, " is ");
    put_value(&s, m->ir.value[e]);
    str_printf(&s, " in %s and ", there);
    put_value(&s, value);
    str_printf(&s, " in these data; %s", advice);
    int rc = s.oom ? err_nomem(err) : err_set(err, NAMI_EINPUT, "%s", s.s);
    str_free(&s);
    return rc;
}

int given_refuse(const struct given *g, const char *there, const char *advice, nami_err *err)
{
    double value;
    int e = given_other(g, &value);
    return e < 0 ? 0 : refuse_constant(g->m, e, value, there, advice, err);
}

/* Element e of a, f of b. */
static int same_constant(const struct model *a, int e, const struct model *b, int f)
{
    double x = a->ir.value[e], y = b->ir.value[f];
    if (a->ir.state[e] != E_CONST || b->ir.state[f] != E_CONST) return 1;
    return x == y || value_is_missing(x) || value_is_missing(y);
}

int model_other_constant(const struct model *a, const struct model *b)
{
    for (size_t i = 0; i < a->ir.arrays.n; i++)
        for (size_t j = 0; j < b->ir.arrays.n; j++) {
            const struct array *x = &a->ir.arrays.a[i], *y = &b->ir.arrays.a[j];
            if (strcmp(x->name, y->name) != 0 || x->raw) continue;
            int same = x->n == y->n;
            for (int k = 0; same && k < x->n; k++)
                same = same_constant(a, x->first + k, b, y->first + k);
            if (!same) return (int)i;
        }
    return -1;
}
