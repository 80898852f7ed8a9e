/* arch_mlp.c: fully connected networks, one for each factor or for all factors of a plate. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "net/white.h"

enum { HIDDEN = 64, DEPTH = 2 };

/* The units of a group's layer as inputs of the next: (n, width) of them, then the factors' own
   inputs if skip; their features as they are, or as the units from `white` on. */
static int gather(const struct qnet *q, const struct group *g, int first, int width, int skip,
                  int white, int *from)
{
    const struct factor *f0 = &q->factor[q->member[g->first]];
    int nin = f0->nin, nback = f0->nback, row = width + (skip ? nin : 0);
    for (int i = 0; i < g->num_factors; i++, from += row) {
        const struct factor *f = &q->factor[q->member[g->first + i]];
        for (int k = 0; k < width; k++) from[k] = first + i * width + k;
        if (skip && nin) memcpy(from + width, f->in, sizeof(int) * (size_t)nin);
        for (int k = nback; skip && white >= 0 && k < nin; k++)
            from[width + k] = white + i * (nin - nback) + k - nback;
    }
    return row;
}

/* The features that factors see, without their correlations.  from: room for them */
static int whiten(struct qnet *q, const struct group *g, const char *name, int *from)
{
    const struct factor *f0 = &q->factor[q->member[g->first]];
    int n = f0->nin - f0->nback;
    for (int i = 0; i < g->num_factors; i++)
        memcpy(from + i * n, q->factor[q->member[g->first + i]].in + f0->nback,
               sizeof(int) * (size_t)n);
    return net_white(q, g->num_factors, n, from, name);
}

/* Units of a hidden layer. */
static int units(const struct qnet *q, const struct group *g, int l)
{
    if (g->num_factors > 1 && q->opt.shared) return q->opt.shared;
    return q->opt.nhidden ? q->opt.hidden[l] : HIDDEN;
}

static int one(struct qnet *q, const struct group *g, const char *name, int *from)
{
    const struct factor *f0 = &q->factor[q->member[g->first]];
    int depth = q->opt.nhidden ? q->opt.nhidden : DEPTH, unit = 0, white = -1;
    int in = f0->nin, back = f0->nback;
    struct str text = {0};
    if (!f0->nin) depth = 0; /* no parents: biases alone */
    int features = in - back;
    if (q->opt.whiten && features > 1 && features <= WHITEN_MOST) {
        unit = white = whiten(q, g, name, from);
        back = in;
    }
    int own_back = back, skip = q->opt.skip < 0 ? white >= 0 || q->messages : q->opt.skip;
    gather(q, g, 0, 0, 1, white, from);
    for (int l = 0; l <= depth && unit >= 0; l++) {
        int last = l == depth, out = last ? g->nout : units(q, g, l);
        text.n = 0;
        str_printf(&text, "%s/%d", name, l);
        unit = text.oom ? -1
                        : net_layer(q, g->num_factors, in, back, from, out,
                                    last ? ACT_LINEAR : q->opt.act, text.s);
        if (last || unit < 0) break;
        int pass = skip && l + 1 == depth;
        in = gather(q, g, unit, out, pass, white, from);
        back = out + (pass ? own_back : 0);
    }
    for (int i = 0; i < g->num_factors && unit >= 0; i++)
        q->factor[q->member[g->first + i]].unit = unit + i * g->nout;
    str_free(&text);
    return unit < 0 ? NAMI_ENOMEM : 0;
}

static size_t widest(const struct qnet *q, const struct group *g)
{
    int w = HIDDEN, depth = q->opt.nhidden ? q->opt.nhidden : DEPTH;
    for (int l = 0; l < depth; l++)
        if (units(q, g, l) > w) w = units(q, g, l);
    return (size_t)g->num_factors * ((size_t)w + (size_t)q->factor[q->member[g->first]].nin);
}

static int suits(const struct qnet *q, const struct group *g)
{
    (void)q, (void)g;
    return 1;
}

int mlp_build(struct qnet *q, const struct arch *arch, nami_err *err)
{
    int rc = 0;
    for (int i = 0; i < q->ngroup && !rc; i++) {
        const struct group *g = &q->group[i];
        struct str name = {0};
        if (g->arch != arch) continue;
        qnet_factor_name(q, &q->factor[q->member[g->first]], &name);
        int *from = raw_array(int, widest(q, g) + 1);
        rc = !from || name.oom || prog_segment(&q->prog) ? NAMI_ENOMEM : one(q, g, name.s, from);
        if (!rc) rc = net_outputs(q, i);
        if (rc) err_nomem(err);
        free(from);
        str_free(&name);
    }
    return rc;
}

static int build(struct qnet *q, nami_err *err) { return mlp_build(q, &arch_mlp, err); }

const struct arch arch_mlp = {
    .name = "mlp",
    .what = "a fully connected network for each factor; the latents of a plate share one",
    .shares = 1,
    .suits = suits,
    .build = build,
};
