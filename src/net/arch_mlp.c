/* arch_mlp.c: fully connected networks, one for each factor or for all factors of a plate. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "net/white.h"

enum { HIDDEN = 64, DEPTH = 2 };

/* Outputs of a layer: those of factor i are the units first + i * width ... */
struct outputs {
    int first, width;
};

/* Inputs of a group's next layer: the outputs of others, then the factors' own inputs if `skip`;
   their features as they are, or as the units from `white` on.  Returns how many each has. */
static int gather(const struct qnet *q, const struct group *g, int n, const struct outputs *of,
                  int skip, int white, int *from)
{
    const struct factor *f0 = &q->factor[q->member[g->first]];
    int nin = f0->nin, nback = f0->nback, *to = from;
    for (int i = 0; i < g->num_factors; i++) {
        const struct factor *f = &q->factor[q->member[g->first + i]];
        for (int j = 0; j < n; j++)
            for (int k = 0; k < of[j].width; k++) *to++ = of[j].first + i * of[j].width + k;
        for (int k = 0; skip && k < nin; k++)
            *to++ = white >= 0 && k >= nback ? white + i * (nin - nback) + k - nback : f->in[k];
    }
    return (int)(to - from) / g->num_factors;
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

/* Units to + i = unit gate + i times unit value + i, an output of the last layer. */
static int multiply(struct qnet *q, int n, int gate, int value, int to)
{
    struct times *t = arena_array(&q->prog.mem, struct times, 1);
    int *a = arena_array(&q->prog.mem, int, n + 1), *b = arena_array(&q->prog.mem, int, n + 1);
    if (!t || !a || !b) return NAMI_ENOMEM;
    for (int i = 0; i < n; i++) {
        a[i] = gate + i;
        b[i] = value + i;
    }
    *t = (struct times){n, to, a, b};
    q->block.a[q->block.n - 1].gate = t;
    return prog_emit_times(&q->prog, t) ? 0 : NAMI_ENOMEM;
}

/* Gates of the factors of a group: linear functions of the inputs times numbers between 0 and 1,
   the logistic function of all inputs and the last hidden layer, such as the weight of the data
   against the prior, from the logarithms of two variances.  `from` is room for the inputs, of which
   num_back have derivatives.  Returns the first unit, or -1. */
static int gates(struct qnet *q, const struct group *g, const char *name, struct outputs hidden,
                 int white, int num_back, int *from)
{
    struct str text = {0};
    int gate = -1, value = -1, unit = -1, n = g->num_factors;
    int in = gather(q, g, 1, &hidden, 1, white, from), back = hidden.width + num_back;
    str_printf(&text, "%s/gate", name);
    if (!text.oom) gate = net_layer(q, n, in, back, from, NET_GATES, ACT_SIGMOID, text.s);
    in = gather(q, g, 0, NULL, 1, white, from);
    text.n = 0;
    str_printf(&text, "%s/value", name);
    if (!text.oom) value = net_layer(q, n, in, num_back, from, NET_GATES, ACT_LINEAR, text.s);
    if (value >= 0) q->block.a[q->block.n - 1].keeps = 1;
    if (gate >= 0 && value >= 0) {
        unit = q->prog.nunit;
        q->prog.nunit += n * NET_GATES;
        if (multiply(q, n * NET_GATES, gate, value, unit)) unit = -1;
    }
    str_free(&text);
    return unit;
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
    gather(q, g, 0, NULL, 1, white, from);
    for (int l = 0; l <= depth && unit >= 0; l++) {
        int last = l == depth, out = last ? g->nout : units(q, g, l);
        text.n = 0;
        str_printf(&text, "%s/%d", name, l);
        unit = text.oom ? -1
                        : net_layer(q, g->num_factors, in, back, from, out,
                                    last ? ACT_LINEAR : q->opt.act, text.s);
        if (last || unit < 0) break;
        struct outputs of[2] = {{unit, out}, {0, 0}};
        int pass = skip && l + 1 == depth;
        if (pass && q->messages) {
            of[1] = (struct outputs){gates(q, g, name, of[0], white, own_back, from), NET_GATES};
            unit = of[1].first;
            if (unit < 0) break;
        }
        in = gather(q, g, 2, of, pass, white, from);
        back = out + of[1].width + (pass ? own_back : 0);
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
    return (size_t)g->num_factors *
           ((size_t)w + NET_GATES + (size_t)q->factor[q->member[g->first]].nin);
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
