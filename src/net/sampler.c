/* sampler.c: builds the program that samples q(z | x) in stages, each hidden unit computed as
   soon as its inputs are known. */
#include "net/sampler.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/simd.h"
#include "net/joint.h"

/* While the program is made. */
struct maker {
    struct sampler *s; /* or NULL: nobody asks for waves */
    struct qnet *q;
    struct prog *p;
    unsigned char *ready; /* of units: computed by now */
    unsigned char *done;  /* of factors: drawn by now */
    int **left;           /* of each block: instances that are not emitted yet, -1 at the end */
    int ndone;
    int *fix, *logit; /* with derivatives: see sampler_prog */
};

/* ---- layers -------------------------------------------------------------------------------------
 */

static int inputs_ready(const struct maker *k, const struct dense *d, int i)
{
    const int *from = d->from + (size_t)i * (size_t)d->in;
    for (int j = 0; j < d->in; j++)
        if (!k->ready[from[j]]) return 0;
    return 1;
}

/* Inputs that have derivatives: all but data, which come last. */
static int inputs_back(const struct qnet *q, const struct dense *d)
{
    int back = 0;
    for (int i = 0; i < d->n; i++)
        for (int k = d->in; k > back; k--) {
            int u = d->from[(size_t)i * (size_t)d->in + (size_t)k - 1];
            if (u >= q->nfeature || !q->given[u]) back = k;
        }
    return back;
}

/* Instances i0 .. i1-1 of a layer, as a layer of their own. */
static int emit_part(struct maker *k, const struct dense *d, int i0, int i1)
{
    struct dense *part = arena_array(&k->p->mem, struct dense, 1);
    if (!part) return NAMI_ENOMEM;
    *part = *d;
    part->nuse = part->pulled = part->written = 0; /* those of all instances */
    part->n = i1 - i0;
    part->from = d->from + (size_t)i0 * (size_t)d->in;
    part->to = d->to + i0 * d->out;
    if (k->fix) part->back = inputs_back(k->q, part);
    memset(k->ready + part->to, 1, (size_t)part->n * (size_t)d->out);
    return prog_emit_layer(k->p, part) ? 0 : NAMI_ENOMEM;
}

static int set_ready(const struct maker *k, const struct pooling *p, int i)
{
    for (int m = p->off[i]; m < p->off[i + 1]; m++)
        for (int u = 0; u < p->width; u++)
            if (!k->ready[p->from[m] + u]) return 0;
    return 1;
}

/* Sets first .. end-1 of a pool, as one of their own. */
static int emit_sets(struct maker *k, const struct pooling *p, int first, int end)
{
    struct pooling *part = arena_array(&k->p->mem, struct pooling, 1);
    size_t out = (size_t)pooling_outputs(p);
    if (!part) return NAMI_ENOMEM;
    *part = *p;
    part->n = end - first;
    part->off += first;
    part->to += first * (int)out;
    memset(k->ready + part->to, 1, (size_t)part->n * out);
    return prog_emit_pool(k->p, part) ? 0 : NAMI_ENOMEM;
}

/* All sets whose members are known, in runs, of the pools that come before a block. */
static int emit_pools(struct maker *k, size_t block, size_t *next)
{
    for (; *next < k->q->late.n && k->q->late.a[*next].block <= block; ++*next) {
        const struct pooling *p = k->q->late.a[*next].pool;
        int first = -1;
        for (int i = 0; i <= p->n; i++) {
            int is = i < p->n && !k->ready[p->to + i * pooling_outputs(p)] && set_ready(k, p, i);
            if (is && first < 0) first = i;
            if (is || first < 0) continue;
            if (emit_sets(k, p, first, i)) return NAMI_ENOMEM;
            first = -1;
        }
    }
    return 0;
}

/* Instances i0 .. i1-1 of a block, with its gate. */
static int emit_run(struct maker *k, const struct block *b, int i0, int i1)
{
    if (emit_part(k, b->layer, i0, i1)) return NAMI_ENOMEM;
    if (!b->gate) return 0;
    int at = i0 * b->layer->out;
    struct times *t = arena_array(&k->p->mem, struct times, 1);
    if (!t) return NAMI_ENOMEM;
    *t = (struct times){(i1 - i0) * b->layer->out, b->gate->to + at, b->gate->a + at,
                        b->gate->b + at};
    memset(k->ready + t->to, 1, (size_t)t->n);
    return prog_emit_times(k->p, t) ? 0 : NAMI_ENOMEM;
}

/* All instances of all layers whose inputs are known, in runs; layers stand in order. */
static int emit_layers(struct maker *k)
{
    size_t pool = 0;
    for (size_t b = 0; b < k->q->block.n; b++) {
        const struct block *block = &k->q->block.a[b];
        if (emit_pools(k, b, &pool)) return NAMI_ENOMEM;
        int *left = k->left[b], keep = 0, first = -1, last = -1;
        for (int j = 0; left[j] >= 0; j++) {
            int i = left[j];
            if (!inputs_ready(k, block->layer, i)) {
                left[keep++] = i;
                continue;
            }
            if (first >= 0 && i != last + 1) {
                if (emit_run(k, block, first, last + 1)) return NAMI_ENOMEM;
                first = i;
            }
            if (first < 0) first = i;
            last = i;
        }
        left[keep] = -1;
        if (first >= 0 && emit_run(k, block, first, last + 1)) return NAMI_ENOMEM;
    }
    return 0;
}

/* ---- draws -------------------------------------------------------------------------- */

static int is_ready(const struct maker *k, int f)
{
    const struct factor *x = &k->q->factor[f];
    return !k->done[f] && k->ready[x->unit]; /* the coordinates before it are among its inputs */
}

static int is_real(const struct maker *k, int f)
{
    return k->q->encoding[k->q->factor[f].node].kind == ENCODING_REAL;
}

static void subtract(struct instr *c, enum gradient_group group)
{
    c->sum = -1;
    c->gradient_group = group;
}

/* The number that is fixed, or else the one drawn. */
WIDE static void fixed_map(const void *self, int n, double *out, const double *const *a)
{
    (void)self;
    EACH(i, n) out[i] = a[0][i] == a[0][i] ? a[0][i] : a[1][i];
}

/* The values of discrete factors f from rows that were drawn, unless they are fixed. */
static int emit_fixed(struct maker *k, const int *f, int n, int drawn)
{
    for (int i = 0; i < n; i++) {
        const struct factor *x = &k->q->factor[f[i]];
        struct instr *c = prog_emit(k->p, I_MAP, 1, 1);
        if (!c) return NAMI_ENOMEM;
        c->map = fixed_map;
        c->out = qnet_value(k->q, x);
        c->narg = 2;
        c->arg[0] = (struct operand){.m = 1, .base = k->fix[x->node] = k->p->nrow++};
        c->arg[1] = (struct operand){.m = 1, .base = drawn + i};
    }
    return 0;
}

/* The output distribution of n factors of a group: outputs as rows, a draw, its log density. */
static int emit_draws(struct maker *k, const struct group *g, const int *f, int n)
{
    struct qnet *q = k->q;
    const struct family *fam = g->output.family;
    int *value = arena_array(&k->p->mem, int, n), *out = arena_array(&k->p->mem, int, n * g->nout);
    if (!value || !out) return NAMI_ENOMEM;
    for (int i = 0; i < n; i++) {
        const struct factor *x = &q->factor[f[i]];
        value[i] = qnet_value(q, x);
        for (int j = 0; j < g->nout; j++) out[i * g->nout + j] = x->out + j;
        if (!prog_emit_rows(k->p, g->nout, x->unit, x->out)) return NAMI_ENOMEM;
    }
    struct instr draw = {.kind = I_BDRAW, .n = n, .width = 1, .out = -1, .tag = -1, .narg = 1};
    draw.self = &g->output;
    draw.bdraw = fam->sample;
    draw.dim[0] = 1, draw.dim[1] = g->nout;
    draw.nwork = fam->work ? fam->work(draw.dim) : 0;
    draw.outs = (struct operand){.m = 1, .idx = value};
    draw.arg[0] = (struct operand){.m = g->nout, .idx = out};
    if (k->fix && !is_real(k, f[0])) {
        draw.outs = (struct operand){.m = 1, .base = k->p->nrow, .si = 1};
        k->p->nrow += n;
    }
    if (k->fix) draw.block_grad = fam->path;
    if (vec_push(&k->p->code, draw)) return NAMI_ENOMEM;
    if (k->fix && !is_real(k, f[0]) && emit_fixed(k, f, n, draw.outs.base)) return NAMI_ENOMEM;
    struct instr logq = qnet_log_density(g, n, value, out);
    if (k->fix) {
        logq.arg[0].data = !is_real(k, f[0]);
        subtract(&logq, is_real(k, f[0]) ? GRADIENT_LATENT : GRADIENT_SCORE);
    }
    return vec_push(&k->p->code, logq) ? NAMI_ENOMEM : 0;
}

/* A coordinate was drawn: what others see of it. */
static int emit_known(struct maker *k, int f)
{
    struct qnet *q = k->q;
    const struct factor *x = &q->factor[f];
    const struct encoding *c = &q->encoding[x->node];
    int rc = q->group[x->group].output.family->own_scale ? encoding_encode(c, k->p) : 0;
    if (!rc && c->feature >= 0) {
        rc = encoding_feature(c, x->coordinate, k->p);
        if (!rc && k->fix) k->p->code.a[k->p->code.n - 1].dim[1] = c->kind != ENCODING_REAL;
        memset(k->ready + c->feature + x->coordinate, 1,
               (size_t)(c->kind == ENCODING_STATES ? c->nfeature : 1));
    }
    k->done[f] = 1;
    k->ndone++;
    if (k->s) k->s->known[x->node] = (int)k->s->wave.n; /* its last coordinate comes last */
    return rc;
}

/* n members of a group were drawn: variables of which this was the last coordinate. */
static int emit_variables(struct maker *k, const struct group *g, const int *f, int n)
{
    struct decoding how = {-1, 0, g->tag, k->logit};
    const struct encoding **c = raw_array(const struct encoding *, n + 1);
    int m = 0;
    if (!c) return NAMI_ENOMEM;
    if (k->fix) how.sum = 1, how.gradient_group = GRADIENT_LATENT;
    for (int i = 0; i < n; i++) {
        const struct factor *x = &k->q->factor[f[i]];
        if (x->coordinate == k->q->encoding[x->node].ncoord - 1) c[m++] = &k->q->encoding[x->node];
    }
    int rc = g->output.family->own_scale ? 0 : encodings_decode(c, m, k->p, &how);
    free(c);
    return rc;
}

/* All factors that can be drawn now, group by group. */
static int emit_wave(struct maker *k)
{
    struct qnet *q = k->q;
    int before = k->ndone, rc = emit_layers(k), *now = raw_array(int, q->nfactor + 1);
    int *all = raw_array(int, q->nfactor + 1), nall = 0;
    if (!now || !all) rc = NAMI_ENOMEM;
    for (int g = 0; g < q->ngroup && !rc; g++) {
        const struct group *x = &q->group[g];
        int n = 0;
        for (int i = 0; i < x->num_factors; i++)
            if (is_ready(k, q->member[x->first + i])) now[n++] = q->member[x->first + i];
        if (n) rc = emit_draws(k, x, now, n);
        if (n && !rc) rc = emit_variables(k, x, now, n);
        memcpy(all + nall, now, sizeof *now * (size_t)n);
        nall += n;
    }
    for (int i = 0; i < nall && !rc; i++) rc = emit_known(k, all[i]);
    free(now);
    free(all);
    if (rc || k->ndone == before) return rc ? rc : NAMI_EBUG;
    return k->s && vec_push(&k->s->wave, k->p->code.n) ? NAMI_ENOMEM : 0;
}

/* ---- all ---------------------------------------------------------------------------- */

static int is_latent(const struct qnet *q, const struct encoding *c)
{
    return !model_bn(q->model)->node.a[c->node].observed;
}

/* Of the first instructions, all but the features of latents. */
static void mark_ready(void *arg, enum instr_place place, int number)
{
    struct maker *k = arg;
    if (place == PLACE_UNIT && number >= k->q->nfeature) k->ready[number] = 1;
}

static int start(struct maker *k)
{
    struct qnet *q = k->q;
    k->ready = new_array(unsigned char, q->prog.nunit + 1);
    k->done = new_array(unsigned char, q->nfactor + 1);
    k->left = new_array(int *, q->block.n + 1);
    if (!k->ready || !k->done || !k->left) return NAMI_ENOMEM;
    for (size_t b = 0; b < q->block.n; b++) {
        int n = b < q->num_early ? 0 : q->block.a[b].layer->n;
        if (!(k->left[b] = raw_array(int, n + 1))) return NAMI_ENOMEM;
        for (int i = 0; i < n; i++) k->left[b][i] = i;
        k->left[b][n] = -1;
    }
    for (int v = 0; v < bn_n(model_bn(q->model)); v++)
        if (model_bn(q->model)->node.a[v].observed && q->encoding[v].feature >= 0)
            memset(k->ready + q->encoding[v].feature, 1, (size_t)q->encoding[v].nfeature);
    for (size_t i = 0; i < q->nencode; i++) {
        struct instr c = q->prog.code.a[i]; /* of data: nothing is differentiated by them */
        if (c.block && is_latent(q, c.self)) continue;
        c.map_grad = NULL, c.block_grad = NULL;
        instr_writes(&c, mark_ready, k);
        if (prog_layer(&q->prog, i)) {
            if (emit_part(k, c.self, 0, c.n)) return NAMI_ENOMEM;
            continue;
        }
        if (vec_push(&k->p->code, c)) return NAMI_ENOMEM;
    }
    for (size_t i = 0; i < q->prog.constant.n; i++)
        if (vec_push(&k->p->constant, q->prog.constant.a[i])) return NAMI_ENOMEM;
    return 0;
}

static int make_prog(struct sampler *s, struct qnet *q, struct prog *p, int *fix, int *logit)
{
    struct maker k = {.s = s, .q = q, .p = p, .fix = fix, .logit = logit};
    p->nrow = q->prog.nrow;
    p->nnode = q->prog.nnode;
    p->nunit = q->prog.nunit;
    p->nparam = q->prog.nparam;
    int rc = start(&k);
    if (s) s->num_data = p->code.n;
    while (!rc && k.ndone < q->nfactor) rc = emit_wave(&k);
    for (size_t b = 0; k.left && b < q->block.n; b++) free(k.left[b]);
    free(k.left);
    free(k.ready);
    free(k.done);
    return rc;
}

int sampler_prog(struct qnet *q, struct prog *p, int *fix, int *logit)
{
    return make_prog(NULL, q, p, fix, logit);
}

/* The model's own draws of barren latents, and of the observed ones if again; or the density of
   the former. */
static int make_rest(struct qnet *q, struct prog *p, int again, int by_density)
{
    struct model *m = q->model;
    unsigned char *only = new_array(unsigned char, model_num_instances(m) + 1);
    if (!only) return NAMI_ENOMEM;
    for (int i = 0; i < q->inverse->nmodel; i++) only[q->encoding[q->inverse->model[i]].inst] = 1;
    for (int k = 0; k < model_num_instances(m); k++)
        if (again && instance_node(m, k) >= 0 && model_bn(m)->node.a[instance_node(m, k)].observed)
            only[k] = 1;
    int rc = model_program(m, p, by_density, only);
    free(only);
    return rc;
}

/* ---- what depends on the data alone ------------------------------------------------- */

enum { WRITTEN = 1, READ = 2 };
struct marks {
    unsigned char *unit, *row;
    unsigned char bit;
};

static void mark(void *arg, enum instr_place place, int number)
{
    struct marks *m = arg;
    (place == PLACE_UNIT ? m->unit : m->row)[number] |= m->bit;
}

static int find_live(struct sampler *s)
{
    const struct prog *p = &s->prog;
    struct marks m = {new_array(unsigned char, p->nunit + 1), new_array(unsigned char, p->nrow + 1),
                      WRITTEN};
    int rc = m.unit && m.row ? 0 : NAMI_ENOMEM;
    for (size_t k = 0; k < p->code.n && !rc; k++) {
        int early = k < s->num_data;
        m.bit = early ? WRITTEN : READ;
        (early ? instr_writes : instr_reads)(&p->code.a[k], mark, &m);
    }
    for (int u = 0; u < p->nunit && !rc; u++)
        if (m.unit[u] == (WRITTEN | READ)) rc = vec_push(&s->unit, u);
    for (int r = 0; r < p->nrow && !rc; r++)
        if (m.row[r] == (WRITTEN | READ)) rc = vec_push(&s->row, r);
    free(m.unit);
    free(m.row);
    return rc ? NAMI_ENOMEM : 0;
}

int sampler_make(struct sampler *s, struct qnet *q, nami_err *err)
{
    *s = (struct sampler){.q = q};
    int nodes = bn_n(model_bn(q->model));
    s->known = raw_array(int, nodes + 1);
    for (int v = 0; s->known && v < nodes; v++) s->known[v] = -1;
    int rc = s->known ? make_prog(s, q, &s->prog, NULL, NULL) : NAMI_ENOMEM;
    if (rc == NAMI_EBUG) return err_set(err, rc, "the factors of the inverse wait for each other");
    if (!rc) rc = find_live(s);
    if (!rc) rc = make_rest(q, &s->rest, 0, 0);
    if (!rc) rc = make_rest(q, &s->pred, 1, 0);
    if (!rc && q->inverse->nmodel) rc = make_rest(q, &s->barren, 0, 1);
    return rc ? err_nomem(err) : 0;
}

void sampler_free(struct sampler *s)
{
    prog_free(&s->prog);
    vec_free(&s->unit);
    vec_free(&s->row);
    vec_free(&s->wave);
    free(s->known);
    prog_free(&s->rest);
    prog_free(&s->pred);
    prog_free(&s->barren);
}
