/* range.c: between what numbers can an expression lie?  Interval arithmetic over
   the supports of the distributions; what is not known is the whole line. */
#include "model/lang/lang.h"

static const struct range anywhere = {-INFINITY, INFINITY, 0};
enum { DEEP = 24 };

static struct range range_at(struct model *m, const struct term *t, const int *counter, int deep);

static struct range of_stochastic(struct model *m, const struct stmt *s, const int *counter, int deep)
{
    if (!s->dist) return anywhere;
    const struct domain_info *d = &domains[s->dist->domain];
    struct range r = {d->lo, d->hi, d->discrete};
    double p[DIST_ARGS];
    int shape[4], known = 1, n = 1;
    if (s->dist->domain == INDEX && !term_shape(m, s->arg[0], counter, shape)) {
        for (int i = 0; i < shape[0]; i++) n *= shape[i + 1];
        r.hi = n; /* categorical */
    }
    if (s->dist->bounds) {
        for (int i = 0; i < s->narg && known; i++) {
            struct range a = range_at(m, s->arg[i], counter, deep + 1);
            p[i] = a.lo;
            known = a.lo == a.hi;
        }
        if (known) s->dist->bounds(p, &r.lo, &r.hi);
    }
    if (s->lower) r.lo = fmax(r.lo, range_at(m, s->lower, counter, deep + 1).lo);
    if (s->upper) r.hi = fmin(r.hi, range_at(m, s->upper, counter, deep + 1).hi);
    return r;
}

static struct range of_elem(struct model *m, int e, int deep)
{
    if (m->state[e] == E_CONST)
        return (struct range){m->value[e], m->value[e], m->value[e] == floor(m->value[e])};
    if (m->owner[e] < 0 || deep > DEEP) return anywhere;
    int k = m->owner[e];
    const struct stmt *s = &m->stmt.a[m->inst_stmt[k]];
    if (s->rel->stochastic) return of_stochastic(m, s, inst_counter(m, k), deep);
    return range_at(m, s->rhs, inst_counter(m, k), deep + 1);
}

static struct range unite(struct range a, struct range b)
{
    return (struct range){fmin(a.lo, b.lo), fmax(a.hi, b.hi), a.integer && b.integer};
}

/* All that a reference may read; where that is much, a sample of it says little, so
   only the first and last elements' statements are asked. */
static struct range of_ref(struct model *m, const struct term *t, const int *counter, int deep)
{
    const struct array *a = &m->array.a[t->array];
    int lo[MAX_DIM], hi[MAX_DIM], x[MAX_DIM], n = 1, before = m->diags.nerror;
    if (a->ndim < 0 || (t->narg && t->narg != a->ndim) || before) return anywhere;
    for (int d = 0; d < a->ndim; d++) {
        lo[d] = 1, hi[d] = a->dim[d];
        if (t->narg && t->arg[d]) {
            int rc = eval_subscript(m, t, d, counter, &lo[d], &hi[d]);
            if (rc == NOT_CONST)
                lo[d] = 1, hi[d] = a->dim[d];
            else if (rc)
                return anywhere;
        }
        x[d] = lo[d];
        n *= hi[d] - lo[d] + 1;
        if (n > 4096) return anywhere;
    }
    struct range r = {INFINITY, -INFINITY, 1};
    for (int i = 0; i < n; i++) {
        int e = 0;
        for (int d = 0; d < a->ndim; d++) e = e * a->dim[d] + x[d] - 1;
        r = unite(r, of_elem(m, a->first + e, deep + (n > 8 ? 12 : 4)));
        for (int d = a->ndim - 1; d >= 0 && ++x[d] > hi[d]; d--) x[d] = lo[d];
    }
    return r;
}

static int same_scalar(const struct term *a, const struct term *b)
{
    if (a->kind != b->kind || a->narg != b->narg) return 0;
    if (a->kind == T_NUMBER) return a->value == b->value;
    if (a->kind == T_COUNTER) return a->depth == b->depth;
    if (a->kind != T_REF || a->array != b->array) return 0;
    for (int i = 0; i < a->narg; i++)
        if (!a->arg[i] || !b->arg[i] || !same_scalar(a->arg[i], b->arg[i])) return 0;
    return 1;
}

static struct range range_at(struct model *m, const struct term *t, const int *counter, int deep)
{
    double lo[8], hi[8], out[2];
    int integer = 1;
    struct range r;
    if (deep > DEEP) return anywhere;
    switch (t->kind) {
    case T_NUMBER: return (struct range){t->value, t->value, t->value == floor(t->value)};
    case T_COUNTER: return (struct range){counter[t->depth], counter[t->depth], 1};
    case T_REF: return of_ref(m, t, counter, deep);
    case T_REP: return range_at(m, t->arg[0], counter, deep);
    case T_OP: break;
    default: return anywhere;
    }
    if (!t->op->range || t->narg > 8) return anywhere;
    for (int i = 0; i < t->narg; i++) {
        r = range_at(m, t->arg[i], counter, deep + 1);
        lo[i] = r.lo, hi[i] = r.hi;
        integer &= r.integer;
    }
    t->op->range(t->narg, lo, hi, out);
    r = (struct range){out[0], out[1], t->op->integer == 1 || (t->op->integer == 2 && integer)};
    if (strcmp(t->op->name, "*") == 0 && same_scalar(t->arg[0], t->arg[1])) r.lo = fmax(r.lo, 0);
    if (isnan(r.lo) || isnan(r.hi)) return anywhere;
    return r;
}

struct range term_range(struct model *m, const struct term *t, const int *counter)
{
    return range_at(m, t, counter, 0);
}
