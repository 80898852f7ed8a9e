#include "net/embed.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"

/* The feature of an element, as a unit; -1 if it is not one number. */
static int unit_of(const struct qnet *q, int e)
{
    const struct model *m = q->m;
    int k = m->owner[e], v = m->node[k], j = m->lhs_off[k];
    const struct code *c = &q->code[v];
    if (c->nfeature != c->n) return -1;
    while (m->lhs[j] != e) j++;
    return c->feature + j - m->lhs_off[k];
}

/* All nodes of an array; how many. */
static int mark(const struct qnet *q, const struct embed *x, int number, int *of)
{
    const struct array *a = &q->m->array.a[x->array];
    int n = 0;
    for (int e = a->first; e < a->first + a->n; e++) {
        int v = q->m->node[q->m->owner[e]];
        n += of[v] != number;
        of[v] = number;
    }
    return n;
}

/* What a layer's output positions read: (positions, inputs of one).  in: units of what it sees,
   (height, width, channels). */
static int *fields(const struct layer *l, const int *seen, const int *in, int *n, int *each)
{
    int h = seen[0], w = seen[1], c = seen[2], conv = l->kind == LAYER_CONV;
    int sh = conv ? l->size : h, sw = conv && w > 1 ? l->size : w;
    int nh = conv ? l->dim[0] : 1, nw = conv ? l->dim[1] : 1, step = conv ? l->stride : 1;
    *n = nh * nw;
    *each = sh * sw * c;
    int *from = raw_array(int, (size_t)*n *(size_t)*each), *to = from;
    if (!from) return NULL;
    for (int y = 0; y < nh; y++)
        for (int x = 0; x < nw; x++)
            for (int i = 0; i < sh; i++)
                for (int j = 0; j < sw; j++)
                    for (int k = 0; k < c; k++)
                        *to++ = in[((y * step + i) * w + x * step + j) * c + k];
    return from;
}

static int compile(struct qnet *q, const struct embed *x, int *in, struct net_embedding *out,
                   nami_err *err)
{
    const struct model *m = q->m;
    const struct array *a = &m->array.a[x->array];
    const int *seen = x->dim;
    int data = 1, unit = -1;
    for (int k = 0; k < a->n; k++)
        if ((in[k] = unit_of(q, a->first + k)) < 0)
            return err_set(err, NAMI_EINPUT,
                           "%s cannot be embedded: its elements are not single numbers", a->name);
    for (int l = 0; l < x->nlayer; l++) {
        const struct layer *y = &x->layer[l];
        int n, each, total = y->dim[0] * y->dim[1] * y->dim[2];
        int *from = fields(y, seen, in, &n, &each);
        struct str name = {0};
        str_printf(&name, "embed/%s/%d", a->name, l);
        unit = !from || name.oom
                   ? -1
                   : net_layer(q, n, each, data ? 0 : each, from, y->out, y->act, name.s);
        free(from);
        str_free(&name);
        if (unit < 0) return err_nomem(err);
        if (!(in = arena_array(&q->mem, int, total))) return err_nomem(err);
        for (int k = 0; k < total; k++) in[k] = unit + k;
        seen = y->dim;
        data = 0;
    }
    out->unit = unit;
    out->n = x->out;
    return 0;
}

int net_embed(struct qnet *q, int *of, nami_err *err)
{
    const struct model *m = q->m;
    int rc = 0;
    for (int v = 0; v < bn_n(m->bn); v++) of[v] = -1;
    q->embedding = arena_array(&q->mem, struct net_embedding, m->embed.n + 1);
    if (!q->embedding) return err_nomem(err);
    for (size_t i = 0; i < m->embed.n && !rc; i++) {
        const struct embed *x = &m->embed.a[i];
        int *in = arena_array(&q->mem, int, m->array.a[x->array].n);
        if (!in) return err_nomem(err);
        q->embedding[i].nnode = mark(q, x, (int)i, of);
        rc = compile(q, x, in, &q->embedding[i], err);
    }
    return rc;
}
