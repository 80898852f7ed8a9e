/* arch_made.c: one masked autoregressive network (MADE, Germain et al. 2015) for many factors.

   Hidden units carry labels: sets of inputs (label.h).  The units of one label are one block of
   each layer, whose inputs are the units of its subsets: weights that a mask would zero are not
   stored. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "net/label.h"
#include "net/qnet.h"

enum { DEPTH = 2, UNITS_FEWEST = 128, UNITS_MOST = 1024, UNITS_LABEL = 24, EVEN = 8 };

struct made {
    struct qnet *q;
    struct labels l;
    int n, *factor;     /* whose outputs it gives */
    int *first, *width; /* of the last layer: units of each label */
    int *next, *nwidth;
    int *from; /* room for the inputs of a block */
    int depth, units[NET_LAYERS];
};

/* The inputs of all factors as sets. */
static int parents_of(struct made *m, struct sets *s)
{
    size_t total = 0;
    int at = 0;
    for (int i = 0; i < m->n; i++) total += (size_t)m->q->factor[m->factor[i]].nin;
    s->n = m->n;
    s->off = raw_array(int, m->n + 1);
    s->member = raw_array(int, total + 1);
    if (!s->off || !s->member) return NAMI_ENOMEM;
    for (int i = 0; i < m->n; i++) {
        const struct factor *f = &m->q->factor[m->factor[i]];
        s->off[i] = at;
        if (f->nin) memcpy(s->member + at, f->in, sizeof(int) * (size_t)f->nin);
        sort_ints(s->member + at, (size_t)f->nin);
        at += f->nin;
    }
    s->off[m->n] = at;
    return 0;
}

/* The units of a list of labels; returns how many. */
static int units_of(const struct made *m, const int *label, int n)
{
    int k = 0;
    for (int i = 0; i < n; i++)
        for (int u = 0; u < m->width[label[i]]; u++) m->from[k++] = m->first[label[i]] + u;
    return k;
}

/* Inputs as a block wants them: embeddings, which have derivatives; latents; data.  Returns how
   many the first are. */
static int inputs_of(const struct made *m, const int *unit, int n, int *from)
{
    const struct qnet *q = m->q;
    int k = 0, back = 0;
    for (int kind = 0; kind < 3; kind++) {
        for (int i = 0; i < n; i++)
            if (kind == (unit[i] >= q->nfeature ? 0 : q->given[unit[i]] ? 2 : 1))
                from[k++] = unit[i];
        if (!kind) back = k;
    }
    return back;
}

/* Units for the labels; with fewer than EVEN for each, one by one: a label without units would
   leave its factors blind, or linear. */
static void spread(const struct made *m, int units)
{
    int n = m->l.set.n;
    labels_spread(&m->l, units, m->nwidth);
    if (units >= EVEN * n) return;
    for (int i = 0; i < n; i++) m->nwidth[i] = units < n ? 1 : units / n + (i >= n - units % n);
}

static int hidden_layer(struct made *m, int layer)
{
    struct qnet *q = m->q;
    const struct sets *s = &m->l.set, *sub = &m->l.sub;
    spread(m, m->units[layer]);
    for (int i = 0; i < s->n; i++) {
        char name[64];
        int in = s->off[i + 1] - s->off[i], back, unit;
        snprintf(name, sizeof name, "made/%d/%d", layer, i + 1);
        if (layer == 0)
            back = inputs_of(m, s->member + s->off[i], in, m->from);
        else
            back = in = units_of(m, sub->member + sub->off[i], sub->off[i + 1] - sub->off[i]);
        unit = net_layer(q, 1, in, back, m->from, m->nwidth[i], q->opt.act, name);
        if (unit < 0) return NAMI_ENOMEM;
        m->next[i] = unit;
    }
    memcpy(m->first, m->next, sizeof(int) * (size_t)s->n);
    memcpy(m->width, m->nwidth, sizeof(int) * (size_t)s->n);
    return 0;
}

static int same_list(const int *a, int n, const int *b, int m)
{
    return n == m && (!n || memcmp(a, b, sizeof *a * (size_t)n) == 0);
}

/* Do the outputs of factors i and j read the same? */
static int alike(const struct made *m, int i, int j)
{
    const struct sets *of = &m->l.of;
    const struct factor *f = &m->q->factor[m->factor[i]], *g = &m->q->factor[m->factor[j]];
    if (m->q->opt.skip != 0 && !same_list(f->in, f->nin, g->in, g->nin)) return 0;
    return same_list(of->member + of->off[i], of->off[i + 1] - of->off[i], of->member + of->off[j],
                     of->off[j + 1] - of->off[j]);
}

/* The outputs of factors i .. j-1, which are alike, as one layer. */
static int output(struct made *m, int i, int j)
{
    struct qnet *q = m->q;
    struct factor *f = &q->factor[m->factor[i]];
    const struct sets *of = &m->l.of;
    struct str name = {0};
    int in = units_of(m, of->member + of->off[i], of->off[i + 1] - of->off[i]), back = in, out = 0;
    if (q->opt.skip != 0) {
        back += inputs_of(m, f->in, f->nin, m->from + in);
        in += f->nin;
    }
    for (int k = i; k < j; k++) out += q->group[q->factor[m->factor[k]].group].nout;
    str_put(&name, "made/out/");
    qnet_factor_name(q, f, &name);
    if (j - i > 1) {
        str_put(&name, "-");
        qnet_factor_name(q, &q->factor[m->factor[j - 1]], &name);
    }
    int unit = name.oom ? -1 : net_layer(q, 1, in, back, m->from, out, ACT_LINEAR, name.s);
    for (int k = i; k < j; k++) {
        q->factor[m->factor[k]].unit = unit;
        unit += q->group[q->factor[m->factor[k]].group].nout;
    }
    str_free(&name);
    return f->unit < 0 ? NAMI_ENOMEM : 0;
}

/* As many as asked for; else by the number of labels. */
static void choose_units(struct made *m)
{
    const struct net_options *o = &m->q->opt;
    int n = m->l.set.n * UNITS_LABEL;
    if (n < UNITS_FEWEST) n = UNITS_FEWEST;
    if (n > UNITS_MOST) n = UNITS_MOST;
    m->depth = o->nhidden ? o->nhidden : DEPTH;
    for (int l = 0; l < m->depth; l++) m->units[l] = o->nhidden ? o->hidden[l] : n;
}

/* Labels beyond the parent sets, while each can have some units in every layer. */
static int labels_most(const struct qnet *q, int n)
{
    int units = q->opt.nhidden ? q->opt.hidden[0] : UNITS_MOST;
    for (int l = 1; l < q->opt.nhidden; l++)
        if (q->opt.hidden[l] < units) units = q->opt.hidden[l];
    int most = 4 * n < units / EVEN ? 4 * n : units / EVEN;
    return most > n ? most : n;
}

static int layers(struct made *m)
{
    int rc = 0, total = m->l.set.n;
    choose_units(m);
    for (int l = 0; l < m->depth; l++)
        if (m->units[l] > total) total = m->units[l];
    size_t n = (size_t)m->l.set.n + 1;
    m->first = new_array(int, n);
    m->width = new_array(int, n);
    m->next = new_array(int, n);
    m->nwidth = new_array(int, n);
    m->from = new_array(int, (size_t)total + (size_t)m->q->prog.nunit + 1);
    if (!m->first || !m->width || !m->next || !m->nwidth || !m->from) return NAMI_ENOMEM;
    rc = prog_segment(&m->q->prog);
    for (int l = 0; l < m->depth && !rc && m->l.set.n; l++) rc = hidden_layer(m, l);
    for (int i = 0, j; i < m->n && !rc; i = j) {
        for (j = i + 1; j < m->n && alike(m, i, j);) j++;
        rc = output(m, i, j);
    }
    for (int i = 0; i < m->n && !rc; i++) rc = net_outputs(m->q, m->q->factor[m->factor[i]].group);
    return rc;
}

/* Few inputs first: backwards, what the largest reads is written, and then only added to. */
static void sort_factors(struct made *m)
{
    for (int i = 1; i < m->n; i++) {
        int f = m->factor[i], j = i;
        for (; j > 0 && m->q->factor[m->factor[j - 1]].nin > m->q->factor[f].nin; j--)
            m->factor[j] = m->factor[j - 1];
        m->factor[j] = f;
    }
}

/* All that does not share weights, if it is more than one factor. */
static int suits(const struct qnet *q, const struct group *g)
{
    int single = 0;
    for (int i = 0; i < q->ngroup && single < 2 && g->num_factors == 1; i++)
        single += q->group[i].num_factors == 1;
    return single > 1;
}

static int build(struct qnet *q, nami_err *err)
{
    struct made m = {.q = q};
    struct sets parents = {0};
    int rc = 0;
    m.factor = raw_array(int, q->nfactor + 1);
    if (!m.factor) rc = err_nomem(err);
    for (int f = 0; f < q->nfactor && !rc; f++)
        if (q->group[q->factor[f].group].arch == &arch_made) m.factor[m.n++] = f;
    if (!rc) sort_factors(&m);
    if (!rc && parents_of(&m, &parents)) rc = err_nomem(err);
    if (!rc) rc = labels_make(q->prog.nunit, &parents, labels_most(q, m.n), &m.l, err);
    q->nlabel = rc ? 0 : m.l.set.n;
    if (!rc && layers(&m)) rc = err_nomem(err);
    labels_free(&m.l);
    free(parents.off);
    free(parents.member);
    free(m.factor);
    free(m.first);
    free(m.width);
    free(m.next);
    free(m.nwidth);
    free(m.from);
    return rc;
}

/* Every factor has its own place in the masks, so none can share weights. */
const struct arch arch_made = {
    .name = "made",
    .what = "one masked autoregressive network (MADE) for all factors",
    .suits = suits,
    .build = build,
};
