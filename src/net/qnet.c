/* qnet.c: builds an inference network from a model and an inverse: factors, groups with shared
   weights, output distributions, layers, initial weights. */
#include "net/qnet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/rng.h"
#include "base/unite.h"
#include "model/eval.h"
#include "net/embed.h"
#include "net/messages.h"
#include "net/saved.h"

/* Draws of the prior, from which scales come: fewer for models of many rows, whose numbers would
   fill the memory, but enough to fit a distribution to. */
enum { PRIOR_DRAWS = 4096, PRIOR_LEAST = 512, PRIOR_NUMBERS = 1 << 23 };

static size_t prior_draws(const struct model *m)
{
    int most = PRIOR_NUMBERS / (model_num_rows(m) + 1);
    return (size_t)(most > PRIOR_DRAWS ? PRIOR_DRAWS : most < PRIOR_LEAST ? PRIOR_LEAST : most);
}

void qnet_free(struct qnet *q)
{
    prog_free(&q->prog);
    vec_free(&q->block);
    vec_free(&q->late);
    arena_free(&q->mem);
}

/* ---- factors ------------------------------------------------------------------------ */

/* What the features of nodes are needed for: see encodings_compile. */
static void wants(const struct qnet *q, unsigned char *want)
{
    const struct model *m = q->model;
    const struct inverse *h = q->inverse;
    if (q->messages) {
        messages_want(q->messages, q, want);
        return;
    }
    for (int i = 0; i < q->nembed; i++) {
        int array = q->embed[i].array, first = array_first(m, array);
        for (int e = first; e < first + array_size(m, array); e++) want[element_node(m, e)] |= 2;
    }
    for (int i = 0; i < h->nlatent; i++) {
        int v = h->perm[i];
        want[v] |= q->encoding[v].ncoord > 1 ? 3 : 1; /* a chain reads itself */
        for (struct inverse_it it = inverse_it(h, i); inverse_next(&it);) want[it.node] |= 2;
    }
}

/* Which embeddings a factor sees: those all of whose array are its parents; of whitened arrays,
   only if it is alone.  seen[] counts. */
static void embeddings(const struct qnet *q, const struct share *s, const struct factor *f,
                       const int *of, int *seen)
{
    memset(seen, 0, sizeof *seen * (size_t)q->nembed);
    for (int64_t j = s->off[f->pos]; j < s->off[f->pos + 1]; j++)
        if (of[s->parent[j]] >= 0) seen[of[s->parent[j]]]++;
    for (int e = 0; e < q->nembed; e++) {
        int declared = e < model_num_embeddings(q->model);
        seen[e] = seen[e] == q->embedding[e].nnode && (declared || is_alone(q, s, f->pos));
    }
}

/* A factor's inputs: embeddings, or the message of its step; the coordinates before it; the
   features of its other parents in their roles, latents first.  (A plate's roles are latent if they
   are for the first of it.) */
static int inputs(struct qnet *q, const struct share *s, struct factor *f, const int *of, int *seen)
{
    const struct encoding *own = &q->encoding[f->node];
    int n = f->coordinate;
    if (q->nembed) embeddings(q, s, f, of, seen);
    int message = q->messages ? messages_unit(q->messages, q, f->pos) : -1;
    if (message >= 0) n += q->opt.message;
    int context = q->messages ? messages_context(q->messages, q, f->pos, NULL) : 0;
    n += context;
#define IS_EMBEDDED(v) (of[v] >= 0 && seen[of[v]])
    for (int e = 0; e < q->nembed; e++) n += seen[e] ? q->embedding[e].num_units : 0;
    for (int64_t j = s->off[f->pos]; j < s->off[f->pos + 1]; j++)
        if (!IS_EMBEDDED(s->parent[j])) n += q->encoding[s->parent[j]].nfeature;
    int *in = arena_array(&q->mem, int, n + 1);
    if (!in) return NAMI_ENOMEM;
    f->in = in;
    f->nin = n;
    for (int e = 0; e < q->nembed; e++)
        for (int k = 0; seen[e] && k < q->embedding[e].num_units; k++)
            *in++ = q->embedding[e].unit + k;
    for (int k = 0; message >= 0 && k < q->opt.message; k++) *in++ = message + k;
    if (context) in += messages_context(q->messages, q, f->pos, in);
    f->nback = (int)(in - f->in);
    for (int k = 0; k < f->coordinate; k++) *in++ = own->feature + k;
    const int *parent = s->parent + s->off[f->pos], *role = s->parent + s->off[s->rep[f->pos]];
    for (int seen_too = 0; seen_too < 2; seen_too++)
        for (int64_t j = 0; j < s->off[f->pos + 1] - s->off[f->pos]; j++) {
            const struct encoding *c = &q->encoding[parent[j]];
            if (model_bn(q->model)->node.a[role[j]].observed != seen_too || IS_EMBEDDED(parent[j]))
                continue;
            for (int k = 0; k < c->nfeature; k++) *in++ = c->feature + k;
        }
    return 0;
}

static int make_factors(struct qnet *q, const struct share *s, const int *of)
{
    int *seen = new_array(int, q->nembed + 1);
    const struct inverse *h = q->inverse;
    int n = 0, rc = 0;
    for (int i = 0; i < h->nlatent; i++) n += q->encoding[h->perm[i]].ncoord;
    q->factor = arena_array(&q->mem, struct factor, n + 1);
    if (!q->factor || !seen) rc = NAMI_ENOMEM;
    for (int i = 0; i < h->nlatent && !rc; i++)
        for (int k = 0; k < q->encoding[h->perm[i]].ncoord && !rc; k++) {
            struct factor *f = &q->factor[q->nfactor++];
            *f = (struct factor){.pos = i, .node = h->perm[i], .coordinate = k};
            rc = inputs(q, s, f, of, seen);
        }
    free(seen);
    return rc;
}

/* ---- scales ------------------------------------------------------------------------- */

static int same_encoding(const struct encoding *a, const struct encoding *b)
{
    return a->kind == b->kind && a->domain == b->domain && a->num_elements == b->num_elements &&
           a->lo == b->lo && a->hi == b->hi && a->ncoord == b->ncoord;
}

/* Can factor i use the network of its rep: do all roles have the same encodings? */
static int fits_rep(const struct qnet *q, const struct share *s, int i)
{
    int r = s->rep[i];
    const int *a = s->parent + s->off[i], *b = s->parent + s->off[r];
    if (!same_encoding(&q->encoding[q->inverse->perm[i]], &q->encoding[q->inverse->perm[r]]))
        return 0;
    for (int64_t k = 0; k < s->off[i + 1] - s->off[i]; k++)
        if (!same_encoding(&q->encoding[a[k]], &q->encoding[b[k]])) return 0;
    return 1;
}

/* A network that many factors share sees each role on one scale: that of the first node in it. */
static int same_scales(struct qnet *q, struct share *s)
{
    int nodes = bn_n(model_bn(q->model)), *up = raw_array(int, nodes);
    if (!up) return NAMI_ENOMEM;
    for (int v = 0; v < nodes; v++) up[v] = v;
    for (int i = 0; i < q->inverse->nlatent; i++) {
        if (s->rep[i] != i && !fits_rep(q, s, i)) s->rep[i] = i;
        const int *a = s->parent + s->off[i], *b = s->parent + s->off[s->rep[i]];
        set_unite(up, q->inverse->perm[i], q->inverse->perm[s->rep[i]]);
        for (int64_t k = 0; k < s->off[i + 1] - s->off[i]; k++) set_unite(up, a[k], b[k]);
    }
    for (int v = 0; v < nodes; v++) {
        struct encoding *c = &q->encoding[v], *from = &q->encoding[set_root(up, v)];
        if (c == from) continue;
        memcpy(c->mean, from->mean, sizeof *c->mean * (size_t)c->ncoord);
        memcpy(c->sd, from->sd, sizeof *c->sd * (size_t)c->ncoord);
    }
    free(up);
    return 0;
}

/* ---- groups and loss terms ---------------------------------------------------------- */

/* "z[i]" if it is all of a plate, else "z[2]" or, of several, "z[2]+3". */
static int name_loss_term(struct qnet *q, struct loss_term *p, int v)
{
    const struct bn *bn = model_bn(q->model);
    const struct kind *kind =
        q->messages ? messages_kind(q->messages, q, q->inverse->pos[v]) : NULL;
    int all = 0;
    if (kind) {
        p->name = arena_strndup(&q->mem, kind->name, strlen(kind->name));
        return p->name ? 0 : NAMI_ENOMEM;
    }
    for (int i = 0; i < q->inverse->nlatent && p->num_latents > 1; i++)
        all += bn->node.a[q->inverse->perm[i]].cls == bn->node.a[v].cls;
    p->name = p->num_latents > 1 && all == p->num_latents ? bn->cls.a[bn->node.a[v].cls].name
                                                          : bn_name(bn, v);
    if (p->num_latents == 1 || all == p->num_latents) return 0;
    struct str s = {0};
    str_printf(&s, "%s+%d", p->name, p->num_latents - 1);
    p->name = s.oom ? NULL : arena_strndup(&q->mem, s.s, s.n);
    str_free(&s);
    return p->name ? 0 : NAMI_ENOMEM;
}

/* Factors by (rep of their latent, coordinate), in the order of the first of each. */
static int make_groups(struct qnet *q, const struct share *s)
{
    const struct inverse *h = q->inverse;
    int n = q->nfactor, *first = new_array(int, h->nlatent + 1), *count = new_array(int, n + 1);
    int *term = new_array(int, h->nlatent + 1);
    q->group = arena_array(&q->mem, struct group, n + 1);
    q->member = arena_array(&q->mem, int, n + 1);
    q->loss_term = arena_array(&q->mem, struct loss_term, h->nlatent + 1);
    int rc =
        !first || !count || !term || !q->group || !q->member || !q->loss_term ? NAMI_ENOMEM : 0;
    for (int f = 0; f < n && !rc; f++) { /* a latent's factors follow each other */
        struct factor *x = &q->factor[f];
        int rep = s->rep[x->pos];
        if (rep == x->pos) {
            if (x->coordinate == 0) first[rep] = q->ngroup, term[rep] = q->num_loss_terms++;
            x->group = q->ngroup++;
            q->group[x->group].tag = term[rep];
        } else {
            x->group = first[rep] + x->coordinate;
        }
        if (x->coordinate == 0) q->loss_term[term[rep]].num_latents++;
        q->group[x->group].num_factors++;
    }
    for (int g = 0, at = 0; g < q->ngroup && !rc; at += q->group[g++].num_factors)
        q->group[g].first = at;
    for (int f = 0; f < n && !rc; f++) {
        int g = q->factor[f].group;
        q->member[q->group[g].first + count[g]++] = f;
    }
    for (int i = 0; i < h->nlatent && !rc; i++) {
        if (s->rep[i] != i) continue;
        rc = name_loss_term(q, &q->loss_term[term[i]], h->perm[i]);
    }
    free(first);
    free(count);
    free(term);
    return rc;
}

/* ---- output distributions ----------------------------------------------------------- */

static int no_family(const struct qnet *q, const struct encoding *c, nami_err *err)
{
    return err_set(
        err, NAMI_EINPUT,
        "%s is discrete with no small upper bound, and no family fits it; observe it, or "
        "leave it out of 'infer'",
        bn_name(model_bn(q->model), c->node));
}

/* Matched on the logit scale: (0, 1) rounds to its ends. */
static int is_logistic(const struct encoding *c) { return c->dist == &dist_relaxed_bernoulli; }

/* The size of what stands in for match: mixtures of one for vectors, splines for numbers. */
static int stand_in(const struct qnet *q, const struct family *f)
{
    return q->opt.size ? q->opt.size : f == &family_mixture ? 1 : f->size;
}

static int choose_output(struct qnet *q, struct group *g, size_t n, const double *x, nami_err *err)
{
    const struct factor *f = &q->factor[q->member[g->first]];
    const struct encoding *c = &q->encoding[f->node];
    const struct family *want = q->opt.family ? q->opt.family : &family_match;
    g->output =
        (struct output_dist){.family = want, .size = q->opt.size ? q->opt.size : want->size};
    if (c->atoms)
        return err_set(err, NAMI_EINPUT,
                       "%s has probability at single values besides a density, so no family fits "
                       "it; observe it, or infer what it is made from",
                       bn_name(model_bn(q->model), c->node));
    if (c->kind == ENCODING_STATES) {
        g->output = (struct output_dist){.family = &family_categorical, .size = c->states};
    } else if (want == &family_match && is_logistic(c)) {
        g->output = (struct output_dist){.family = &family_logistic};
    } else if (c->kind == ENCODING_COUNTS || want == &family_match) {
        const double *draw = x + (size_t)c->row[0] * n;
        g->output =
            (struct output_dist){.family = &family_match, .fixed = isfinite(c->hi) ? c->hi : 0};
        if (c->num_elements > 1 || !c->dist || match_fit(&g->output, c->dist, (int)n, draw) ||
            (c->kind == ENCODING_REAL &&
             family_match.outputs(&g->output) < 2)) { /* cannot be narrow */
            if (c->kind == ENCODING_COUNTS) return no_family(q, c, err);
            const struct family *other = c->num_elements == 1 ? &family_spline : &family_mixture;
            g->output = (struct output_dist){.family = other, .size = stand_in(q, other)};
        }
    }
    g->nout = g->output.family->outputs(&g->output);
    return 0;
}

void qnet_factor_name(const struct qnet *q, const struct factor *f, struct str *out)
{
    str_put(out, q->loss_term[q->group[f->group].tag].name);
    if (q->encoding[f->node].ncoord > 1) str_printf(out, ".%d", f->coordinate + 1);
}

int qnet_value(const struct qnet *q, const struct factor *f)
{
    const struct encoding *c = &q->encoding[f->node];
    return q->group[f->group].output.family->own_scale ? c->row[f->coordinate]
                                                       : c->coord + f->coordinate;
}

struct instr qnet_log_density(const struct group *g, int n, const int *value, const int *out)
{
    const struct family *fam = g->output.family;
    struct instr x = {.kind = I_BLOCK, .n = n, .width = 1, .out = -1, .sum = 1, .tag = g->tag};
    x.self = &g->output;
    x.block = fam->logq;
    x.block_grad = fam->grad;
    x.dim[0] = 1, x.dim[1] = g->nout;
    x.nwork = fam->work ? fam->work(x.dim) : 0;
    x.narg = 2;
    x.arg[0] = (struct operand){.m = 1, .idx = value, .data = 1};
    x.arg[1] = (struct operand){.m = g->nout, .idx = out};
    x.blind = 1;
    return x;
}

static int emit_output(struct qnet *q, const struct group *g)
{
    size_t n = (size_t)g->num_factors * (size_t)g->nout;
    int *value = arena_array(&q->prog.mem, int, g->num_factors),
        *out = arena_array(&q->prog.mem, int, n);
    if (!value || !out) return NAMI_ENOMEM;
    for (int i = 0; i < g->num_factors; i++) {
        const struct factor *f = &q->factor[q->member[g->first + i]];
        value[i] = qnet_value(q, f);
        for (int k = 0; k < g->nout; k++) out[i * g->nout + k] = f->out + k;
    }
    struct instr x = qnet_log_density(g, g->num_factors, value, out);
    return vec_push(&q->prog.code, x) ? NAMI_ENOMEM : 0;
}

int net_outputs(struct qnet *q, int g)
{
    struct prog *p = &q->prog;
    const struct group *x = &q->group[g];
    int unit = q->factor[q->member[x->first]].unit, n = x->num_factors * x->nout;
    if (!prog_emit_rows(p, n, unit, p->nrow)) return NAMI_ENOMEM;
    for (int i = 0; i < x->num_factors; i++)
        q->factor[q->member[x->first + i]].out = p->nrow + i * x->nout;
    p->nrow += n;
    return emit_output(q, x);
}

/* The log-Jacobians of the scales of the coordinates. */
static int emit_jacobians(struct qnet *q)
{
    int rc = 0;
    for (int f = 0; f < q->nfactor && !rc; f++) {
        const struct group *g = &q->group[q->factor[f].group];
        if (q->factor[f].coordinate == 0 && q->encoding[q->factor[f].node].kind == ENCODING_REAL &&
            !g->output.family->own_scale &&
            !(rc = encoding_jacobian(&q->encoding[q->factor[f].node], &q->prog, g->tag)))
            q->prog.code.a[q->prog.code.n - 1].arg[0].data = 1;
    }
    return rc;
}

/* ---- layers ------------------------------------------------------------------------- */

struct dense *net_weights(struct qnet *q, int n, int in, int back, int out, int act,
                          const char *name)
{
    struct prog *p = &q->prog;
    struct dense *d = arena_array(&p->mem, struct dense, 1);
    int *from = arena_array(&p->mem, int, (size_t)n *(size_t)in + 1);
    char *text = arena_strndup(&q->mem, name, strlen(name));
    if (!d || !from || !text) return NULL;
    *d = (struct dense){.n = n,
                        .in = in,
                        .out = out,
                        .act = act,
                        .back = back,
                        .from = from,
                        .to = p->nunit,
                        .w = p->nparam};
    if (vec_push(&q->block, ((struct block){.name = text, .layer = d}))) return NULL;
    p->nunit += n * out;
    p->nparam += ((size_t)in + 1) * (size_t)out;
    return d;
}

int net_part(struct qnet *q, const struct dense *d, int first, int end)
{
    struct dense *part = arena_array(&q->prog.mem, struct dense, 1);
    if (!part) return NAMI_ENOMEM;
    *part = *d;
    part->n = end - first;
    part->from = d->from + (size_t)first * (size_t)d->in;
    part->to = d->to + first * d->out;
    return prog_emit_layer(&q->prog, part) ? 0 : NAMI_ENOMEM;
}

int net_layer(struct qnet *q, int n, int in, int back, const int *from, int out, int act,
              const char *name)
{
    struct dense *d = net_weights(q, n, in, back, out, act, name);
    if (!d || !prog_emit_layer(&q->prog, d)) return -1;
    if (in) memcpy((int *)d->from, from, sizeof(int) * (size_t)n * (size_t)in);
    return d->to;
}

double qnet_products(const struct qnet *q)
{
    double sum = 0;
    for (size_t i = 0; i < q->block.n; i++) {
        const struct dense *d = q->block.a[i].layer;
        sum += (double)d->n * d->in * d->out;
    }
    return sum;
}

/* Uniform in +-1/sqrt(inputs), biases too, as PyTorch's: with the kinks of all units at 0, a
   network of few inputs learns slowly.  Messages pass many linear layers, and must not shrink. */
void qnet_start(const struct qnet *q, uint64_t seed, float *param)
{
    for (size_t i = 0; i < q->block.n; i++) {
        const struct dense *d = q->block.a[i].layer;
        double a = 1 / sqrt(d->in > 0 ? d->in : 1);
        if (d->act == ACT_LINEAR && !q->block.a[i].keeps)
            a /= 4; /* outputs: q starts near the prior */
        size_t n = ((size_t)d->in + 1) * (size_t)d->out;
        if (q->block.a[i].start) {
            memcpy(param + d->w, q->block.a[i].start, sizeof(float) * n);
            continue;
        }
        struct rng r;
        rng_init(&r, seed, 0x716e6574 + i);
        for (size_t k = 0; k < n; k++) param[d->w + k] = (float)(a * (2 * rng_unit(&r) - 1));
    }
}

/* ---- output distributions of a file ---------------------------------------------------- */

/* Could choose_output have chosen this? */
static int output_fits(const struct qnet *q, const struct encoding *c, const struct output_dist *h)
{
    const struct family *want = q->opt.family ? q->opt.family : &family_match;
    int matched = h->family == &family_match;
    if (h->fixed != (matched && isfinite(c->hi) ? c->hi : 0)) return 0;
    for (int k = 0; k < RECORD_ARGS; k++)
        if (!isfinite(h->shift[k]) || !isfinite(h->scale[k])) return 0;
    if (c->kind == ENCODING_STATES) return h->family == &family_categorical && h->size == c->states;
    if (want == &family_match && is_logistic(c)) return h->family == &family_logistic && !h->size;
    if (matched)
        return (c->kind == ENCODING_COUNTS || want == h->family) && h->size == 0 &&
               c->num_elements == 1 && c->dist && c->dist->logp;
    if (c->kind == ENCODING_COUNTS) return 0;
    if (want == &family_match) /* files from before have Gaussians, and splines of one size */
        return (h->family == &family_spline && h->size == family_spline.size) ||
               ((h->family == &family_spline || h->family == &family_mixture) &&
                h->size == stand_in(q, h->family));
    return h->family == want && h->size == (q->opt.size ? q->opt.size : want->size);
}

static int read_output(struct qnet *q, int g, const struct saved *saved, nami_err *err)
{
    struct group *x = &q->group[g];
    const struct encoding *c = &q->encoding[q->factor[q->member[x->first]].node];
    int rc = saved_output(saved, g, &x->output, err);
    if (rc) return rc;
    if (x->output.family->own_scale) x->output.dist = c->dist;
    if (!output_fits(q, c, &x->output))
        return err_set(err, NAMI_EINPUT, "the output distribution of %s does not fit it",
                       bn_name(model_bn(q->model), c->node));
    x->nout = x->output.family->outputs(&x->output);
    return 0;
}

/* ---- all ---------------------------------------------------------------------------- */

struct origin { /* draws x[row * n + i], or what a file says */
    size_t n;
    const double *x;
    const struct saved *saved;
};

/* The encodings of another model's network, whose support must hold that of this model: where its
   draws cannot be, weights would miss what is there. */
static int take_encodings(struct qnet *q, const struct qnet *of, nami_err *err)
{
    const struct bn *bn = model_bn(q->model), *other = model_bn(of->model);
    for (int v = 0; v < bn_n(bn); v++) {
        const char *name = bn_name(bn, v);
        struct encoding *c = &q->encoding[v];
        int u = bn_find(other, name, strlen(name));
        const struct encoding *b = u < 0 ? NULL : &of->encoding[u];
        const struct domain_info *mine = &domains[c->domain], *its = b ? &domains[b->domain] : mine;
        if (!b || c->num_elements != b->num_elements || mine->rank != its->rank ||
            mine->discrete != its->discrete || (mine->rank && c->domain != b->domain))
            return err_set(err, NAMI_EINPUT,
                           "%.60s has another shape, or is of another kind, than in the model that "
                           "the network was trained for",
                           name);
        if (c->lo < b->lo || c->hi > b->hi)
            return err_set(err, NAMI_EINPUT,
                           "%.60s is between %g and %g in the model that the network was trained "
                           "for, and may now be between %g and %g, where it has no draws; train a "
                           "network for this model",
                           name, b->lo, b->hi, c->lo, c->hi);
        struct encoding own = *c;
        *c = *b;
        c->node = own.node, c->inst = own.inst, c->row = own.row;
        c->coord = c->feature = -1;
    }
    return 0;
}

static int make_encodings(struct qnet *q, const struct origin *o, nami_err *err)
{
    int rc = encodings_make(q->model, o->n, o->x, &q->mem, q->encoding, err);
    if (rc) return rc;
    if (q->opt.like) return take_encodings(q, q->opt.like, err);
    if (q->opt.kinds && q->opt.kinds->fixed)
        return kinds_take_scales(q->opt.kinds, q->model, q->encoding, err);
    return o->saved ? saved_encodings(o->saved, q, err) : 0;
}

/* The output distribution of a group of an open network. */
static int open_output(struct qnet *q, int g, nami_err *err)
{
    struct group *x = &q->group[g];
    const struct factor *f = &q->factor[q->member[x->first]];
    const struct encoding *c = &q->encoding[f->node];
    const struct kind *k = messages_kind(q->messages, q, f->pos);
    if (f->coordinate < k->num_outputs && k->output[f->coordinate].family) {
        x->output = k->output[f->coordinate];
        if (x->output.family->own_scale) {
            x->output.dist = c->dist;
            x->output.fixed = isfinite(c->hi) ? c->hi : 0;
        }
        x->nout = x->output.family->outputs(&x->output);
        if (output_fits(q, c, &x->output)) return 0;
    }
    return err_set(err, NAMI_EINPUT,
                   "the network has no output distribution that fits %s in these data",
                   bn_name(model_bn(q->model), c->node));
}

/* What this design is like, for the table. */
static int gather(struct qnet *q, nami_err *err)
{
    int rc = messages_gather(q->messages, q, q->opt.kinds) ? err_nomem(err) : 0;
    for (int g = 0; g < q->ngroup && !rc; g++)
        if (messages_gather_output(q->messages, q, q->opt.kinds,
                                   &q->factor[q->member[q->group[g].first]], &q->group[g].output))
            rc = err_nomem(err);
    return rc;
}

static int make_outputs(struct qnet *q, const struct origin *o, nami_err *err)
{
    int rc = 0;
    if (q->opt.kinds && q->opt.kinds->fixed) {
        for (int g = 0; g < q->ngroup && !rc; g++) rc = open_output(q, g, err);
        return rc;
    }
    if (o->saved && json_array_size(o->saved->outputs) != (size_t)q->ngroup)
        return err_set(err, NAMI_EINPUT, "the file has %zu output distributions, not %d",
                       json_array_size(o->saved->outputs), q->ngroup);
    for (int g = 0; g < q->ngroup && !rc; g++)
        rc = o->saved ? read_output(q, g, o->saved, err)
                      : choose_output(q, &q->group[g], o->n, o->x, err);
    return rc;
}

static int mark_given(struct qnet *q)
{
    q->given = arena_array(&q->mem, unsigned char, q->nfeature + 1);
    for (int v = 0; q->given && v < bn_n(model_bn(q->model)); v++)
        if (model_bn(q->model)->node.a[v].observed && q->encoding[v].feature >= 0)
            memset(q->given + q->encoding[v].feature, 1, (size_t)q->encoding[v].nfeature);
    return q->given ? 0 : NAMI_ENOMEM;
}

static void drop_messages(struct qnet *q, struct share *s)
{
    if (q->messages) messages_free(q->messages);
    q->messages = NULL;
    share_free(s);
}

/* Messages instead of explicit inputs: for factors of many parents, if there is much to share. */
enum { MESSAGES_PARENTS = 4096, MESSAGES_ALIKE = 8 };

/* Does `auto` choose messages?  Then they are made. */
static int tries_messages(const struct qnet *q)
{
    return q->ndraw && !q->opt.arch && !q->opt.no_share && q->inverse->width > MESSAGES_PARENTS &&
           !model_num_embeddings(q->model);
}

static int make_messages(struct qnet *q, struct share *s, nami_err *err)
{
    if (model_num_embeddings(q->model))
        return err_set(err, NAMI_EINPUT,
                       "messages do not suit this model: it declares an embedding");
    if (!(q->messages = arena_array(&q->mem, struct messages, 1))) return err_nomem(err);
    return messages_make(q->messages, q, s, err);
}

/* Who shares networks, and on what scales they see their inputs. */
static int find_sharing(struct qnet *q, struct share *s, nami_err *err)
{
    int shares = !q->opt.no_share && (!q->opt.arch || q->opt.arch->shares), rc = 0;
    if (tries_messages(q)) {
        rc = make_messages(q, s, err);
        if (!rc && messages_alike(q->messages) >= MESSAGES_ALIKE)
            q->opt.arch = &arch_messages;
        else
            drop_messages(q, s);
        if (rc && rc != NAMI_EINPUT) return rc;
    } else if (q->opt.arch == &arch_messages) {
        rc = make_messages(q, s, err);
        if (rc) return rc;
    }
    if (q->opt.kinds) return 0; /* scales are the table's */
    if (q->messages) return q->ndraw && messages_scales(q->messages, q) ? err_nomem(err) : 0;
    rc = share_find(q->model, q->inverse, shares, s, err);
    if (!rc && (same_scales(q, s) || net_embeds(q, s))) rc = err_nomem(err);
    return rc;
}

/* Units that the factors read: features of variables, embeddings, messages. */
static int compile_inputs(struct qnet *q, int *of, nami_err *err)
{
    int nodes = bn_n(model_bn(q->model)), rc = 0;
    unsigned char *want = new_array(unsigned char, nodes);
    if (!want) return err_nomem(err);
    wants(q, want);
    if (encodings_compile(q->encoding, nodes, want, &q->prog)) rc = err_nomem(err);
    free(want);
    q->nfeature = q->prog.nunit;
    if (!rc && mark_given(q)) rc = err_nomem(err);
    if (!rc && q->messages && messages_compile(q->messages, q)) rc = err_nomem(err);
    q->num_early = q->block.n;
    q->nencode = q->prog.code.n;
    if (!rc && q->messages && messages_compile_context(q->messages, q)) rc = err_nomem(err);
    return rc ? rc : net_embed(q, of, err);
}

static int finish(struct qnet *q, nami_err *err)
{
    archs_choose(q);
    int rc = emit_jacobians(q) ? err_nomem(err) : archs_build(q, err);
    return !rc && prog_finish(&q->prog) ? err_nomem(err) : rc;
}

static int build(struct qnet *q, const struct origin *o, nami_err *err)
{
    struct share s = {0};
    int nodes = bn_n(model_bn(q->model)), rc = 0;
    int *of = new_array(int, nodes);
    q->encoding = arena_array(&q->mem, struct encoding, nodes + 1);
    q->draw = o->x;
    q->ndraw = o->n;
    if (!of || !q->encoding) rc = err_nomem(err);
    if (!rc) rc = make_encodings(q, o, err);
    if (!rc) rc = find_sharing(q, &s, err);
    int gathers = q->opt.kinds && !q->opt.kinds->fixed;
    if (!rc && !gathers) rc = compile_inputs(q, of, err);
    if (!rc && (make_factors(q, &s, of) || make_groups(q, &s))) rc = err_nomem(err);
    if (!rc) rc = make_outputs(q, o, err);
    if (!rc) rc = gathers ? gather(q, err) : finish(q, err);
    drop_messages(q, &s);
    q->draw = NULL;
    q->ndraw = 0;
    free(of);
    return rc;
}

/* Options that go by others are settled here. */
static void begin(struct qnet *q, struct model *m, const struct inverse *h,
                  const struct net_options *opt)
{
    *q = (struct qnet){.model = m, .inverse = h, .opt = *opt};
    q->whole = h->whole ? h->whole : h;
    if (!q->opt.message) q->opt.message = MESSAGE_WIDTH;
    q->prog.nrow = q->prog.nnode = model_num_rows(m);
    if (opt->kinds)
        q->opt.whiten = 0; /* correlations are of one design */
    else if (opt->whiten < 0)
        q->opt.whiten = !opt->arch || opt->arch == &arch_messages;
}

/* The first of them. */
int qnet_make_on(struct qnet *q, struct model *m, const struct inverse *h,
                 const struct net_options *opt, size_t n, const double *x, nami_err *err)
{
    struct origin o = {.n = n < prior_draws(m) ? n : prior_draws(m)};
    double *y = raw_array(double, (size_t)model_num_rows(m) * o.n);
    begin(q, m, h, opt);
    if (!y) return err_nomem(err);
    for (size_t r = 0; r < (size_t)model_num_rows(m); r++)
        memcpy(y + r * o.n, x + r * n, sizeof(double) * o.n);
    o.x = y;
    int rc = build(q, &o, err);
    free(y);
    return rc;
}

int qnet_make(struct qnet *q, struct model *m, const struct inverse *h,
              const struct net_options *opt, const struct saved *saved, int threads, nami_err *err)
{
    int known = saved || (opt->kinds && opt->kinds->fixed); /* no draws are needed */
    size_t n = known ? 0 : prior_draws(m);
    double *x = known ? NULL : raw_array(double, (size_t)model_num_rows(m) * n);
    struct origin o = {n, x, saved};
    begin(q, m, h, opt);
    int rc = x || known ? 0 : err_nomem(err);
    if (!rc && !known)
        rc = model_simulate_training(m, opt->seed ^ 0x7072696f72, 0, n, threads, x, err);
    if (!rc) rc = build(q, &o, err);
    free(x);
    return rc;
}
