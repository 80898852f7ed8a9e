/* footprint.c: computes the elements that each reference of each instance reads. */
#include "model/lang/lang.h"

struct builder {
    struct model *m;
    struct stmt *s;
    vec(int) elem;
};

static uint64_t mixed(uint64_t h, const struct extent *x)
{
    h = (h ^ ((uint64_t)(unsigned)x->lo << 32 | (unsigned)x->hi)) * 0x9E3779B97F4A7C15u;
    return h ^ h >> 29;
}

/* Stores the elements in the order: choices, then remaining dimensions. */
static int read_elements(struct builder *b, const struct term *t, int i, struct box *x,
                         struct foot *f)
{
    struct model *m = b->m;
    if ((double)b->elem.n + x->n > 5.0 * m->ir.limit) {
        diag_error(&m->source.diags, t->all, NULL,
                   "all turns together read more than %.10g elements here", 5.0 * m->ir.limit);
        return IS_WRONG;
    }
    for (int j = 0; j < x->n; j++, box_next(x)) {
        int rc = elem_is_const(m, x->elem);
        if (rc < 0) return rc;
        if (rc == IS_WRONG) return undefined_element(m, t, x->elem, f->pick[i]);
        if (rc == NOT_CONST) f->random[i] = 1;
        if (vec_push(&b->elem, x->elem)) return NAMI_ENOMEM;
    }
    return 0;
}

static int read_instance(struct builder *b, const struct term *t, int i, struct foot *f)
{
    struct model *m = b->m;
    const int *counter = b->s->counter + (size_t)i * (size_t)b->s->depth;
    struct box x;
    int rc = box_of(m, t, counter, BOX_CHOICES, &x);
    if (rc) return rc;
    box_shape(&x, f->shape[i]);
    for (int d = 0; d < x.ndim; d++) {
        if (!x.x[d].pick) continue;
        f->low[i] = mixed(f->low[i] + 1, &x.x[d]);
        f->pick[i] = (f->pick[i] ? f->pick[i] : 1) * (x.x[d].hi - x.x[d].lo + 1);
        f->random[i] = 1;
    }
    m->ir.arrays.a[t->array].used = 1;
    return read_elements(b, t, i, &x, f);
}

static int read_ref(struct builder *b, int r)
{
    struct model *m = b->m;
    struct stmt *s = b->s;
    struct foot *f = &s->foot[r];
    f->off = arena_array(&m->mem, int, s->n + 1);
    f->random = arena_array(&m->mem, unsigned char, s->n);
    f->pick = arena_array(&m->mem, int, s->n);
    f->low = arena_array(&m->mem, uint64_t, s->n);
    f->shape = (int(*)[SHAPE])arena_array(&m->mem, int, SHAPE * (size_t)s->n);
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
    for (size_t i = 0; i < m->ir.statements.n && !rc; i++) {
        b.s = &m->ir.statements.a[i];
        b.s->foot = arena_array(&m->mem, struct foot, b.s->nref + 1);
        if (!b.s->foot) rc = NAMI_ENOMEM;
        for (int r = 0; r < b.s->nref && !rc && b.s->n; r++) rc = read_ref(&b, r);
    }
    vec_free(&b.elem);
    return rc;
}
