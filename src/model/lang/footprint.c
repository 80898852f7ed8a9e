/* footprint.c: which elements each reference of each instance reads. */
#include "model/lang/lang.h"

struct builder {
    struct model *m;
    struct stmt *s;
    vec(int) elem;
};

static int undefined_choice(struct model *m, const struct term *t, int e, int chosen)
{
    struct str name = {0};
    const struct array *a = &m->array.a[t->array];
    elem_name(m, e, &name);
    diag_error(&m->diags, t->all,
               chosen ? "define it, or bound the subscript"
                      : diag_text(&m->diags, "define it with ~ or <-, or give %s in the data", a->name),
               chosen ? "%s is not defined, but the random subscript may select it" : "%s is not defined",
               name.s ? name.s : a->name);
    str_free(&name);
    return IS_WRONG;
}

int extent_of(struct model *m, const struct term *t, int d, const int *counter,
                     struct extent *x)
{
    const struct array *a = &m->array.a[t->array];
    const struct term *sub = t->narg == a->ndim ? t->arg[d] : NULL;
    *x = (struct extent){1, a->dim[d], 0, 1};
    if (!sub) return 0;
    int rc = eval_subscript(m, t, d, counter, &x->lo, &x->hi);
    if (rc == NOT_CONST && sub->kind == T_RANGE) {
        diag_error(&m->diags, sub->all, "use a single random subscript, or ifelse()",
                   "a range of subscripts cannot be random");
        return IS_WRONG;
    }
    if (rc == NOT_CONST) {
        struct range r = term_range(m, sub, counter);
        *x = (struct extent){(int)fmax(1, ceil(r.lo)), (int)fmin(a->dim[d], floor(r.hi)), 1, 0};
        if (x->lo > x->hi) {
            diag_error(&m->diags, sub->all, NULL, "this subscript of %s lies between %g and %g, but %s has 1 to %d",
                       a->name, r.lo, r.hi, a->name, a->dim[d]);
            return IS_WRONG;
        }
        return 0;
    }
    x->keep = sub->kind == T_RANGE && x->hi > x->lo;
    return rc;
}

/* The elements in the order: choices, then the dimensions that stay. */
static int read_elements(struct builder *b, const struct term *t, int i, const struct extent *x,
                         struct foot *f)
{
    struct model *m = b->m;
    const struct array *a = &m->array.a[t->array];
    int order[MAX_DIM], at[MAX_DIM], k = 0, n = 1;
    for (int pick = 1; pick >= 0; pick--)
        for (int d = 0; d < a->ndim; d++)
            if (x[d].pick == pick) order[k++] = d;
    for (int d = 0; d < a->ndim; d++) {
        n *= x[d].hi - x[d].lo + 1;
        at[d] = x[d].lo;
    }
    for (int j = 0; j < n; j++) {
        int e = 0;
        for (int d = 0; d < a->ndim; d++) e = e * a->dim[d] + at[d] - 1;
        e += a->first;
        int rc = elem_is_const(m, e);
        if (rc < 0) return rc;
        if (rc == IS_WRONG) return undefined_choice(m, t, e, f->pick[i]);
        if (rc == NOT_CONST || a->free) f->random[i] = 1;
        if (vec_push(&b->elem, e)) return NAMI_ENOMEM;
        for (int q = a->ndim - 1; q >= 0; q--) {
            int d = order[q];
            if (++at[d] <= x[d].hi) break;
            at[d] = x[d].lo;
        }
    }
    return 0;
}

static int read_instance(struct builder *b, const struct term *t, int i, struct foot *f)
{
    struct model *m = b->m;
    const int *counter = b->s->counter + (size_t)i * (size_t)b->s->depth;
    struct extent x[MAX_DIM] = {{0}};
    int rc = check_ndim(m, t), nd = 0;
    if (rc) return rc;
    const struct array *a = &m->array.a[t->array];
    f->shape[i][0] = 0;
    for (int d = 0; d < a->ndim; d++) {
        if ((rc = extent_of(m, t, d, counter, &x[d]))) return rc;
        a = &m->array.a[t->array];
        if (x[d].pick) {
            int k = x[d].hi - x[d].lo + 1;
            f->low[i] = f->low[i] * 31u + (unsigned)x[d].lo * 65599u + (unsigned)x[d].hi;
            f->pick[i] = f->pick[i] ? f->pick[i] * k : k;
            f->random[i] = 1;
        } else if (x[d].keep) {
            if (nd == 3) {
                diag_error(&m->diags, t->all, NULL, "more than 3 dimensions in an expression");
                return IS_WRONG;
            }
            f->shape[i][++nd] = x[d].hi - x[d].lo + 1;
        }
    }
    f->shape[i][0] = nd;
    m->array.a[t->array].used = 1;
    return read_elements(b, t, i, x, f);
}

static int read_ref(struct builder *b, int r)
{
    struct model *m = b->m;
    struct stmt *s = b->s;
    struct foot *f = &s->foot[r];
    f->off = arena_array(&m->mem, int, s->n + 1);
    f->random = arena_array(&m->mem, unsigned char, s->n);
    f->pick = arena_array(&m->mem, int, s->n);
    f->low = arena_array(&m->mem, unsigned, s->n);
    f->shape = (int (*)[4])arena_array(&m->mem, int, 4 * (size_t)s->n);
    if (!f->off || !f->random || !f->pick || !f->low || !f->shape) return NAMI_ENOMEM;
    b->elem.n = 0;
    for (int i = 0; i < s->n; i++) {
        int rc = read_instance(b, s->ref[r], i, f);
        if (rc < 0) return rc;
        if (rc) return 0; /* one message for a statement */
        f->off[i + 1] = (int)b->elem.n;
    }
    f->elem = arena_array(&m->mem, int, b->elem.n + 1);
    if (!f->elem) return NAMI_ENOMEM;
    if (b->elem.n) memcpy(f->elem, b->elem.a, sizeof(int) * b->elem.n);
    return 0;
}

int model_footprints(struct model *m)
{
    struct builder b = {.m = m};
    int rc = 0;
    for (size_t i = 0; i < m->stmt.n && !rc; i++) {
        b.s = &m->stmt.a[i];
        b.s->foot = arena_array(&m->mem, struct foot, b.s->nref + 1);
        if (!b.s->foot) rc = NAMI_ENOMEM;
        for (int r = 0; r < b.s->nref && !rc && b.s->n; r++) rc = read_ref(&b, r);
    }
    vec_free(&b.elem);
    return rc;
}
