/* box.c: the elements that x[2, i:j, ] reads: an iterator over a box of its array. */
#include <limits.h>

#include "model/lang/lang.h"

/* ---- one subscript ------------------------------------------------------------------ */

int is_whole(double x, int *out)
{
    if (!(fabs(x - round(x)) < 1e-9) || fabs(x) > INT_MAX / 2) return 0;
    *out = (int)round(x);
    return 1;
}

/* " for i = 3, j = 1": the loop counters in a term. */
static void put_turn(const struct model *m, const struct term *t, const int *counter,
                     struct str *out)
{
    if (t->kind == T_COUNTER && counter) {
        struct str one = {0};
        str_printf(&one, "%s = %d", syntax_name(&m->source.syntax, t->array), counter[t->depth]);
        if (one.s && !(out->s && strstr(out->s, one.s)))
            str_printf(out, "%s%s", out->n ? ", " : " for ", one.s);
        str_free(&one);
    }
    for (int i = 0; i < t->narg; i++)
        if (t->arg[i]) put_turn(m, t->arg[i], counter, out);
}

int bad_subscript(struct model *m, const struct term *t, int dim, const int *counter, double x)
{
    const struct array *a = &m->ir.arrays.a[t->array];
    const struct term *sub = t->arg[dim];
    struct str turn = {0};
    int k;
    if (isnan(x)) return say_missing(m, sub, counter);
    put_turn(m, sub, counter, &turn);
    const char *when = turn.s ? turn.s : "";
    if (!is_whole(x, &k) && fabs(x) < INT_MAX / 2)
        diag_error(&m->source.diags, sub->all, NULL, "subscript %g of %s is not a whole number%s",
                   x, a->name, when);
    else if (x < 0.5)
        diag_error(&m->source.diags, sub->all, "subscripts begin at 1", "subscript %.10g of %s%s",
                   x, a->name, when);
    else if (!a->ndim)
        diag_error(&m->source.diags, sub->all, NULL,
                   "subscript %.10g of %s, which is a single number%s", x, a->name, when);
    else
        diag_error(&m->source.diags, sub->all, NULL,
                   "subscript %.10g of %s is out of range%s: it has 1 to %d", x, a->name, when,
                   a->dim[dim]);
    str_free(&turn);
    return IS_WRONG;
}

int empty_range(struct model *m, const struct term *t, int dim, double x, double y)
{
    diag_error(&m->source.diags, t->arg[dim]->all, NULL, "the range %.10g:%.10g of %s is empty", x,
               y, m->ir.arrays.a[t->array].name);
    return IS_WRONG;
}

/* The bounds of a constant subscript: x..y. */
int eval_ends(struct model *m, const struct term *sub, const int *counter, double *x, double *y)
{
    int rc;
    if (sub->kind == T_RANGE) {
        if ((rc = eval_scalar(m, sub->arg[0], counter, x))) return rc;
        return eval_scalar(m, sub->arg[1], counter, y);
    }
    rc = eval_scalar(m, sub, counter, x);
    *y = *x;
    return rc;
}

int may_be_vector(const struct model *m, const struct term *t)
{
    switch (t->kind) {
    case T_NUMBER:
    case T_COUNTER:
    case T_ELEMENT:
    case T_LENGTH: return 0;
    case T_REF:
        if (!t->narg) return m->ir.arrays.a[t->array].ndim != 0;
        for (int i = 0; i < t->narg; i++)
            if (!t->arg[i] || may_be_vector(m, t->arg[i])) return 1;
        return 0;
    case T_OP:
        if (!t->op->map) return 1;
        for (int i = 0; i < t->narg; i++)
            if (may_be_vector(m, t->arg[i])) return 1;
        return 0;
    default: return 1;
    }
}

/* A vector as subscript: x[c(1, 3)], x[group]. */
static int eval_list(struct model *m, const struct term *t, int dim, const int *counter,
                     struct extent *e)
{
    const struct array *a = &m->ir.arrays.a[t->array];
    struct cval v = {0};
    int size = a->ndim ? a->dim[dim] : 1, *list = NULL, rc = eval_term(m, t->arg[dim], counter, &v);
    if (!rc && v.n < 1) rc = empty_range(m, t, dim, 1, 0);
    if (!rc && !(list = arena_array(&m->mem, int, v.n))) rc = NAMI_ENOMEM;
    for (int i = 0; !rc && i < v.n; i++)
        if (!is_whole(v.x[i], &list[i]) || list[i] < 1 || list[i] > size)
            rc = bad_subscript(m, t, dim, counter, v.x[i]);
    if (!rc) *e = (struct extent){1, v.n, 0, v.n > 1, list};
    cval_free(&v);
    return rc;
}

static int eval_subscript(struct model *m, const struct term *t, int dim, const int *counter,
                          struct extent *e)
{
    const struct array *a = &m->ir.arrays.a[t->array];
    const struct term *sub = t->arg[dim];
    int size = a->ndim ? a->dim[dim] : 1; /* a single number may be called x[1] */
    double x = 0, y = 0;
    if (sub->kind != T_RANGE && may_be_vector(m, sub)) {
        int shape[SHAPE], known = term_shape(m, sub, counter, shape);
        if (known) return known;
        if (shape_size(shape) > 1) return eval_list(m, t, dim, counter, e);
    }
    int rc = eval_ends(m, sub, counter, &x, &y);
    if (rc) return rc;
    if (y < x) return empty_range(m, t, dim, x, y);
    if (!is_whole(x, &e->lo) || e->lo < 1 || e->lo > size)
        return bad_subscript(m, t, dim, counter, x);
    if (!is_whole(y, &e->hi) || e->hi < 1 || e->hi > size)
        return bad_subscript(m, t, dim, counter, y);
    e->keep = sub->kind == T_RANGE && e->hi > e->lo;
    return IS_CONST;
}

/* Is it a continuous variable? */
static int is_real(struct model *m, const struct term *sub, const int *counter)
{
    struct box b;
    if (sub->kind != T_REF || box_of(m, sub, counter, BOX_CHOICES, &b) || !b.n) return 0;
    if (m->ir.defined_by[b.elem] < 0 || m->ir.state[b.elem] != E_RANDOM) return 0;
    const struct stmt *s = instance_stmt(m, m->ir.defined_by[b.elem]);
    return s->dist && !domains[s->dist->domain].discrete;
}

/* A random subscript: a choice among all its possible values. */
static int choice(struct model *m, const struct term *t, int dim, const int *counter,
                  struct extent *e)
{
    const struct array *a = &m->ir.arrays.a[t->array];
    const struct term *sub = t->arg[dim];
    int size = a->ndim ? a->dim[dim] : 1;
    int shape[SHAPE] = {0};
    if (sub->kind == T_RANGE ||
        (may_be_vector(m, sub) && !term_shape(m, sub, counter, shape) && shape_size(shape) > 1)) {
        diag_error(&m->source.diags, sub->all, "use a single random subscript, or ifelse()",
                   sub->kind == T_RANGE ? "a range of subscripts cannot be random"
                                        : "a vector of subscripts cannot be random");
        return IS_WRONG;
    }
    if (is_real(m, sub, counter)) {
        diag_error(&m->source.diags, sub->all, "use a discrete variable, or round() or trunc()",
                   "a subscript must be a whole number, but %s has a continuous distribution",
                   m->ir.arrays.a[sub->array].name);
        return IS_WRONG;
    }
    struct range r = term_range(m, sub, counter);
    *e = (struct extent){(int)fmin(size + 1.0, fmax(1, ceil(r.lo))),
                         (int)fmax(0, fmin(size, floor(r.hi))), 1, 0, NULL};
    if (e->lo <= e->hi && sub->kind == T_REF && (r.hi > size || r.lo < 1))
        diag_warning(&m->source.diags, sub->all,
                     "beyond its ends there is nothing to read: such draws fail",
                     "%s can be %g, but %s has 1 to %d", m->ir.arrays.a[sub->array].name,
                     r.hi > size ? r.hi : r.lo, a->name, size);
    if (e->lo <= e->hi) return IS_CONST;
    diag_error(&m->source.diags, sub->all, NULL,
               "this subscript of %s lies between %g and %g, but %s has 1 to %d", a->name, r.lo,
               r.hi, a->name, size);
    return IS_WRONG;
}

/* ---- all of them --------------------------------------------------------------------- */

static int wrong_count(struct model *m, const struct term *t)
{
    const struct array *a = &m->ir.arrays.a[t->array];
    if (!a->ndim)
        diag_error(&m->source.diags, t->all, NULL,
                   "%s is a single number, but has %d subscripts here", a->name, t->narg);
    else
        diag_error(&m->source.diags, t->all, NULL, "%s has %d dimension%s, but %d subscript%s here",
                   a->name, a->ndim, a->ndim == 1 ? "" : "s", t->narg, t->narg == 1 ? "" : "s");
    return IS_WRONG;
}

static int ref_is_ready(struct model *m, const struct term *t)
{
    const struct array *a = &m->ir.arrays.a[t->array];
    if (!a->ready) {
        if (a->defined && !m->ir.expanded) return NOT_CONST;
        return undefined_name(m, t);
    }
    int all = t->narg == 1 && !t->arg[0]; /* x[] is all of x */
    if (t->narg && !all && t->narg != a->ndim && !(a->ndim == 0 && t->narg == 1))
        return wrong_count(m, t);
    return IS_CONST;
}

static const struct term *subscript_of(const struct model *m, const struct term *t, int dim)
{
    const struct array *a = &m->ir.arrays.a[t->array];
    return t->narg == a->ndim || (!a->ndim && t->narg == 1) ? t->arg[dim] : NULL;
}

static int subscript(const struct extent *x, int at) { return x->list ? x->list[at - 1] : at; }

void box_start(struct box *b, const struct array *a)
{
    int step = 1;
    b->ndim = a->ndim;
    b->n = 1;
    b->elem = a->first;
    for (int d = a->ndim - 1; d >= 0; d--) {
        b->step[d] = step;
        step *= a->dim[d];
        b->n *= b->x[d].hi - b->x[d].lo + 1;
        b->elem += (subscript(&b->x[d], b->x[d].lo) - 1) * b->step[d];
        b->at[d] = b->x[d].lo;
    }
    int k = 0;
    for (int pick = 1; pick >= 0; pick--)
        for (int d = 0; d < a->ndim; d++)
            if (b->x[d].pick == pick) b->order[k++] = d;
}

int box_next(struct box *b)
{
    for (int q = b->ndim - 1; q >= 0; q--) {
        int d = b->order[q], was = subscript(&b->x[d], b->at[d]), wrapped = b->at[d] == b->x[d].hi;
        b->at[d] = wrapped ? b->x[d].lo : b->at[d] + 1;
        b->elem += b->step[d] * (subscript(&b->x[d], b->at[d]) - was);
        if (!wrapped) return 1;
    }
    return 0;
}

int box_of(struct model *m, const struct term *t, const int *counter, enum box_for mode,
           struct box *b)
{
    int rc = ref_is_ready(m, t);
    *b = (struct box){0};
    if (rc) return rc;
    int ndim = m->ir.arrays.a[t->array].ndim, single = !ndim && t->narg == 1;
    for (int d = 0; d < ndim || (single && !d); d++) {
        const struct term *sub = subscript_of(m, t, d);
        b->x[d] = (struct extent){1, ndim ? m->ir.arrays.a[t->array].dim[d] : 1, 0, ndim > 0, NULL};
        if (!sub) continue;
        if (mode == BOX_SHAPE && sub->kind != T_RANGE) {
            int shape[SHAPE] = {0};
            if (may_be_vector(m, sub) && (rc = term_shape(m, sub, counter, shape))) return rc;
            int n = shape_size(shape);
            b->x[d] = (struct extent){1, 1, 0, n > 1, NULL};
            if (n > 1) b->x[d].hi = n; /* only the number matters */
            continue;
        }
        rc = eval_subscript(m, t, d, counter, &b->x[d]);
        if (rc == NOT_CONST && mode == BOX_CHOICES) rc = choice(m, t, d, counter, &b->x[d]);
        if (rc) return rc;
    }
    box_start(b, &m->ir.arrays.a[t->array]);
    return IS_CONST;
}

void box_shape(const struct box *b, int *shape)
{
    shape[0] = 0;
    for (int d = 0; d < b->ndim; d++)
        if (b->x[d].keep) shape[++shape[0]] = b->x[d].hi - b->x[d].lo + 1;
}
