/* mlp.c: a network for each factor, or for all factors of a plate. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "net/qnet.h"

enum { HIDDEN = 64, DEPTH = 2 };

/* The units of a group's layer as inputs of the next: (n, width) of them, then the factors' own
   inputs if skip. */
static int gather(const struct qnet *q, const struct group *g, int first, int width, int skip,
                  int *from)
{
    int nin = q->factor[q->member[g->first]].nin, row = width + (skip ? nin : 0);
    for (int i = 0; i < g->n; i++, from += row) {
        const struct factor *f = &q->factor[q->member[g->first + i]];
        for (int k = 0; k < width; k++) from[k] = first + i * width + k;
        if (skip && nin) memcpy(from + width, f->in, sizeof(int) * (size_t)nin);
    }
    return row;
}

static int one(struct qnet *q, const struct group *g, const char *name, int *from)
{
    const struct factor *f0 = &q->factor[q->member[g->first]];
    int depth = q->opt.nhidden ? q->opt.nhidden : DEPTH, unit = 0;
    int skip = q->opt.skip > 0, in = f0->nin, back = f0->nback;
    struct str text = {0};
    gather(q, g, 0, 0, 1, from);
    if (!f0->nin) depth = 0; /* no parents: biases alone */
    for (int l = 0; l <= depth && unit >= 0; l++) {
        int last = l == depth, out = last ? g->nout : q->opt.nhidden ? q->opt.hidden[l] : HIDDEN;
        text.n = 0;
        str_printf(&text, "%s/%d", name, l);
        unit = text.oom ? -1
                        : net_layer(q, g->n, in, back, from, out, last ? ACT_LINEAR : q->opt.act,
                                    text.s);
        if (last || unit < 0) break;
        in = gather(q, g, unit, out, skip && l + 1 == depth, from);
        back = out + (skip && l + 1 == depth ? f0->nback : 0);
    }
    for (int i = 0; i < g->n && unit >= 0; i++)
        q->factor[q->member[g->first + i]].unit = unit + i * g->nout;
    str_free(&text);
    return unit < 0 ? NAMI_ENOMEM : 0;
}

static size_t widest(const struct qnet *q, const struct group *g)
{
    int w = HIDDEN;
    for (int l = 0; l < q->opt.nhidden; l++)
        if (q->opt.hidden[l] > w) w = q->opt.hidden[l];
    return (size_t)g->n * ((size_t)w + (size_t)q->factor[q->member[g->first]].nin);
}

int net_mlp(struct qnet *q, nami_err *err)
{
    int rc = 0;
    for (int i = 0; i < q->ngroup && !rc; i++) {
        const struct group *g = &q->group[i];
        const struct factor *f = &q->factor[q->member[g->first]];
        struct str name = {0};
        if (g->made) continue;
        str_put(&name, q->part[g->tag].name);
        if (q->code[f->node].ncoord > 1) str_printf(&name, ".%d", f->k + 1);
        int *from = raw_array(int, widest(q, g) + 1);
        rc = !from || name.oom || prog_segment(&q->prog) ? NAMI_ENOMEM : one(q, g, name.s, from);
        if (!rc) rc = net_heads(q, i);
        if (rc) err_nomem(err);
        free(from);
        str_free(&name);
    }
    return rc;
}
