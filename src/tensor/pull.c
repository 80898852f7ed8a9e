/* pull.c: completes a program: determines which layers gather the derivatives of their outputs from
   their readers, instead of each reader adding to them (product.h). */
#include <stdlib.h>

#include "tensor/instr.h"

/* If one reader adds to the derivatives of a layer, all its readers must. */
static void settle(struct layer_reads *r)
{
    for (int changed = 1; changed;) {
        changed = 0;
        for (size_t i = 0; i < r->a.n; i++) {
            struct layer_read *x = &r->a.a[i];
            int pulls = x->p->written != ADDED;
            if (pulls && (x->rows ? x->p->nuse > 1 : x->k >= x->d->pulled))
                x->p->written = ADDED, changed = 1;
            if (!pulls && x->d && x->k < x->d->pulled) x->d->pulled = x->k, changed = 1;
        }
    }
}

static int list_uses(struct prog *p, const struct layer_reads *r)
{
    for (size_t i = 0; i < r->a.n; i++) {
        const struct layer_read *x = &r->a.a[i];
        struct dense *d = x->p;
        if (d->written == ADDED || x->rows) {
            if (x->rows) x->rows->dim[1] = d->written != ADDED;
            d->nuse = 0;
        } else {
            if (!d->written && !(d->use = arena_array(&p->mem, struct use, d->nuse)))
                return NAMI_ENOMEM;
            if (!d->written) d->nuse = 0;
            ((struct use *)d->use)[d->nuse++] = (struct use){x->d, x->k};
        }
        if (d->written != ADDED) d->written = 1;
    }
    return 0;
}

int prog_finish(struct prog *p)
{
    struct layer_reads r = {.owner = new_array(struct dense *, p->nunit + 1)};
    int rc = r.owner ? 0 : NAMI_ENOMEM, first = 0;
    for (size_t k = 0, s = 0; k < p->code.n && !rc; k++) {
        struct instr *c = &p->code.a[k];
        if (s < p->segment.n && k == p->segment.a[s].first) first = p->segment.a[s++].unit;
        if (type_of(c)->note_reads) rc = type_of(c)->note_reads(&r, c, first);
    }
    if (!rc) {
        settle(&r);
        rc = list_uses(p, &r);
    }
    for (size_t k = 0; k < p->code.n; k++) {
        struct dense *d = (struct dense *)prog_layer(p, k);
        if (d && d->written == ADDED) d->written = 0;
    }
    vec_free(&r.a);
    free(r.owner);
    return rc ? NAMI_ENOMEM : 0;
}
