/* range.c: bounds of expressions by interval arithmetic over the supports of the distributions;
   unknown ranges are unbounded. */
#include <float.h>

#include "model/lang/lang.h"

static const struct range anywhere = {-INFINITY, INFINITY, 0};

/* The range of each element is computed once. As in constant.c, recursion stops at some depth, and
   the required element is then computed first. */
struct elem_range {
    struct range r;
    int state;
};
enum { NEW, BUSY, DONE };
enum { DEPTH_MAX = 1600, NONE = -1 };

static struct range range_at(struct model *m, const struct term *t, const int *counter);

static struct range of_domain(const struct domain_info *d)
{
    struct range r = {d->lo, d->hi, d->discrete};
    if (d->lo_open && d->lo == 0) r.lo = DBL_TRUE_MIN;
    if (d->hi_open && d->hi == 1) r.hi = nextafter(1, 0);
    return r;
}

static struct range of_stochastic(struct model *m, const struct stmt *s, const int *counter)
{
    if (!s->dist) return anywhere;
    struct range r = of_domain(&domains[s->dist->domain]);
    double p[DIST_ARGS];
    int shape[SHAPE], n[DIST_ARGS] = {0}, known = s->dist->domain == INDEX || s->dist->largest;
    for (int i = 0; i < s->narg && known; i++) {
        int rc = term_shape(m, s->arg[i], counter, shape);
        if (rc == NAMI_ENOMEM) m->source.diags.oom = 1;
        known = !rc;
        if (known) n[i] = shape_size(shape);
    }
    if (known) r.hi = s->dist->largest ? s->dist->largest(n) : n[0];
    if (s->dist->bounds) {
        double lo = r.lo, hi = r.hi;
        for (int i = 0; i < s->narg; i++) {
            struct range a = range_at(m, s->arg[i], counter);
            p[i] = a.lo == a.hi ? a.lo : NAN; /* dependent results are unknown */
        }
        s->dist->bounds(p, &lo, &hi);
        if (!isnan(lo)) r.lo = lo;
        if (!isnan(hi)) r.hi = hi;
    }
    if (s->lower) r.lo = fmax(r.lo, range_at(m, s->lower, counter).lo);
    if (s->upper) r.hi = fmin(r.hi, range_at(m, s->upper, counter).hi);
    return r;
}

static struct range of_instance(struct model *m, int k)
{
    const struct stmt *s = instance_stmt(m, k);
    int cost = 8 + s->rel->rhs->height;
    m->evaluation.depth += cost;
    struct range r = s->rel->stochastic ? of_stochastic(m, s, instance_counter(m, k))
                                        : range_at(m, s->rhs, instance_counter(m, k));
    m->evaluation.depth -= cost;
    return r;
}

/* The elements of an instance have one range. */
static void set_range(struct model *m, int k, int state, struct range r)
{
    for (int j = m->ir.first_defined[k]; j < m->ir.first_defined[k + 1]; j++)
        m->ir.range[m->ir.defined[j]] = (struct elem_range){r, state};
}

/* The known range of an element, or its value; otherwise unbounded. */
static struct range known(const struct model *m, int e)
{
    if (m->ir.state[e] == E_CONST && !isnan(m->ir.value[e]))
        return (struct range){m->ir.value[e], m->ir.value[e],
                              m->ir.value[e] == floor(m->ir.value[e])};
    return m->ir.defined_by[e] >= 0 && m->ir.range[e].state == DONE ? m->ir.range[e].r : anywhere;
}

static struct range of_elem(struct model *m, int e)
{
    int k = m->ir.defined_by[e];
    int is_value = m->ir.state[e] == E_CONST && !isnan(m->ir.value[e]);
    if (is_value || k < 0 || m->ir.range[e].state != NEW)
        return known(m, e);                              /* cycles: reported later */
    if (m->evaluation.deferred != NONE) return anywhere; /* will be computed again */
    if (m->evaluation.depth > DEPTH_MAX) {
        m->evaluation.deferred = k;
        return anywhere;
    }
    set_range(m, k, BUSY, anywhere);
    struct range r = of_instance(m, k);
    set_range(m, k, m->evaluation.deferred == NONE ? DONE : NEW, r);
    return r;
}

/* Deep recursion, with an explicit stack; waiting instances are marked busy. */
static int settle(struct model *m, int k)
{
    vec(int) todo = {0};
    int rc = vec_push(&todo, k);
    while (!rc && todo.n) {
        k = todo.a[todo.n - 1];
        m->evaluation.deferred = NONE;
        set_range(m, k, BUSY, anywhere);
        struct range r = of_instance(m, k);
        if (m->evaluation.deferred != NONE) {
            rc = vec_push(&todo, m->evaluation.deferred);
        } else {
            set_range(m, k, DONE, r);
            todo.n--;
        }
    }
    vec_free(&todo);
    return rc;
}

static struct range unite(struct range a, struct range b)
{
    return (struct range){fmin(a.lo, b.lo), fmax(a.hi, b.hi), a.integer && b.integer};
}

static struct range of_ref(struct model *m, const struct term *t, const int *counter)
{
    struct range r = {INFINITY, -INFINITY, 1};
    struct box b;
    int rc = box_of(m, t, counter, BOX_CHOICES, &b);
    if (rc == NAMI_ENOMEM) m->source.diags.oom = 1;
    if (rc) return anywhere;
    for (int i = 0; i < b.n; i++, box_next(&b)) r = unite(r, of_elem(m, b.elem));
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

static struct range of_op(struct model *m, const struct term *t, const int *counter)
{
    enum { MOST = 8 };
    double lo[MOST], hi[MOST], out[2];
    int integer = 1;
    if (!t->op->range || t->narg > MOST) return anywhere;
    for (int i = 0; i < t->narg; i++) {
        struct range r = range_at(m, t->arg[i], counter);
        lo[i] = r.lo, hi[i] = r.hi;
        integer &= r.integer;
    }
    t->op->range(t->narg, lo, hi, out);
    if (isnan(out[0]) || isnan(out[1])) return anywhere;
    struct range r = {out[0], out[1], t->op->integer == 1 || (t->op->integer == 2 && integer)};
    if (t->op == &op_mul && same_scalar(t->arg[0], t->arg[1])) r.lo = fmax(r.lo, 0); /* a square */
    return r;
}

static struct range range_at(struct model *m, const struct term *t, const int *counter)
{
    switch (t->kind) {
    case T_NUMBER: return (struct range){t->value, t->value, t->value == floor(t->value)};
    case T_COUNTER: return (struct range){counter[t->depth], counter[t->depth], 1};
    case T_REF: return of_ref(m, t, counter);
    case T_REP:
    case T_ELEMENT: return range_at(m, t->arg[0], counter);
    case T_OP: return of_op(m, t, counter);
    default: return anywhere;
    }
}

/* Entry point: the range of a term, or of element e if it is NULL. */
static struct range ask(struct model *m, const struct term *t, const int *counter, int e)
{
    if (!m->ir.range) m->ir.range = arena_array(&m->mem, struct elem_range, m->ir.num_elements + 1);
    if (!m->ir.range) return m->source.diags.oom = 1, anywhere;
    for (;;) {
        m->evaluation.deferred = NONE;
        m->evaluation.depth++;
        struct range r = t ? range_at(m, t, counter) : of_elem(m, e);
        m->evaluation.depth--;
        if (m->evaluation.deferred == NONE) return r;
        if (settle(m, m->evaluation.deferred)) return m->source.diags.oom = 1, anywhere;
    }
}

struct range term_range(struct model *m, const struct term *t, const int *counter)
{
    if (m->evaluation.depth)
        return range_at(m, t, counter); /* a subscript, within the computation of a range */
    return ask(m, t, counter, 0);
}

struct range elem_range(struct model *m, int e) { return ask(m, NULL, NULL, e); }

/* Computes all ranges for later queries. Errors in subscripts have already been reported. */
int settle_ranges(struct model *m)
{
    struct diags said = m->source.diags;
    m->source.diags = (struct diags){0};
    for (int e = 0; e < m->ir.num_elements; e++) elem_range(m, e);
    int rc = m->source.diags.oom ? NAMI_ENOMEM : 0;
    diags_free(&m->source.diags);
    m->source.diags = said;
    return rc;
}

void model_support(const struct model *m, int e, double *lo, double *hi)
{
    struct range r = known(m, e);
    *lo = r.lo <= DBL_TRUE_MIN && r.lo > 0 ? 0 : r.lo; /* an open end: see op.range */
    *hi = r.hi == nextafter(1, 0) ? 1 : r.hi;
}
