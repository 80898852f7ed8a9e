/* trainer.c: computes minibatch losses and gradients on several threads, and applies Adam
   updates. */
#include "train/trainer.h"

#include <math.h>
#include <string.h>

#include "base/exchange.h"
#include "base/simd.h"
#include "train/bound.h"
#include "train/trainer_impl.h"

/* The number of points of the part. */
static int count(const struct trainer *t) { return t->work->b->count; }

static int lanes(const struct trainer *t) { return count(t) * t->per; }

/* Do the lanes of a point enumerate the configurations of its discrete latents? Otherwise they are
   draws. */
static int goes_through(const struct trainer *t) { return t->per > 1 && t->opt.particles <= 1; }

size_t trainer_stride(const struct trainer *t) { return ((size_t)t->batch + 7) / 8 * 8; }

/* ---- one chunk ---------------------------------------------------------------------- */

/* Padding lanes of a chunk are copies of the last lane of the batch: another draw might have a
   non-finite gradient, which a weight of 0 would not remove. */
static void fill_up(const struct trainer *t, struct exec *x, int real)
{
    for (int r = 0; r < model_num_rows(t->q->model); r++) {
        double *row = x->row + (size_t)r * (size_t)x->cap;
        for (int i = real; i < x->lanes; i++) row[i] = row[real - 1];
    }
}

static void find_fed(struct trainer *t, const struct feeds *f)
{
    struct lane_work *w = t->work;
    w->feeds = f;
    for (size_t k = 0; k < t->e->choice.n; k++) {
        int row = t->q->encoding[t->e->choice.a[k].node].row[0];
        w->fed[k] = 0;
        for (size_t i = 0; f && i < f->feed.n; i++)
            for (size_t j = 0; j < f->feed.a[i].r.k; j++) w->fed[k] |= f->feed.a[i].row[j] == row;
    }
}

/* Sets discrete latents to the values in the data, or to the configuration of the lane. */
static void fix_choices(const struct trainer *t, int c)
{
    const struct lane_work *w = t->work;
    const struct exec *x = &w->x[c];
    const struct elbo *e = t->e;
    int all = goes_through(t);
    for (size_t k = 0; k < e->choice.n; k++) {
        const struct choice *h = &e->choice.a[k];
        const double *given = x->row + (size_t)t->q->encoding[h->node].row[0] * (size_t)x->cap;
        double *fix = x->row + (size_t)h->row * (size_t)x->cap;
        for (int b = 0; b < x->lanes; b++) {
            int lane = w->lane[c] + b, given_now = w->fed[k] && !isnan(given[b]);
            if (lane % t->per == 0 && lane < lanes(t))
                w->known[lane / t->per] = given_now && (!k || w->known[lane / t->per]);
            fix[b] = all ? elbo_state(e, lane % t->per, (int)k) : NAN;
            if (given_now) fix[b] = given[b] - (h->states ? h->low : 0);
        }
    }
}

static void load(const struct trainer *t, int c)
{
    const struct lane_work *w = t->work;
    const struct batch *b = w->b;
    struct exec *x = &w->x[c];
    const struct model *m = t->q->model;
    int n = lanes(t), first = w->lane[c] < n ? w->lane[c] : n - 1;
    int real = n - first < x->lanes ? n - first : x->lanes;
    x->seed = b->seed;
    x->first = b->first * (uint64_t)t->per + (uint64_t)w->lane[c];
    int index[LANES];
    for (int i = 0; b->index && i < real; i++) index[i] = b->index[(first + i) / t->per];
    if (b->point) {
        for (int r = 0; r < model_num_rows(m); r++)
            for (int i = 0; i < real; i++)
                x->row[(size_t)r * (size_t)x->cap + (size_t)i] =
                    b->point[(size_t)index[i] * (size_t)model_num_rows(m) + (size_t)r];
    } else if (b->feeds) {
        feeds_copy_some(b->feeds, real, index, x->row, (size_t)x->cap);
    } else if (b->x) {
        for (int r = 0; r < model_num_rows(m); r++) {
            const double *from = b->x + (size_t)r * b->n + b->first;
            double *row = x->row + (size_t)r * (size_t)x->cap;
            for (int i = 0; i < real; i++) row[i] = from[(first + i) / t->per];
        }
    } else {
        struct exec *s = &w->sim[c];
        s->seed = b->seed;
        s->first = first == w->lane[c] ? x->first : b->first; /* always draws of this batch */
        s->lanes = x->lanes;
        s->node = x->row; /* written in place */
        s->stride = (size_t)x->cap;
        s->direct = model_num_rows(m);
        exec_run(s);
    }
    fill_up(t, x, real);
    if (t->e) fix_choices(t, c);
}

static void run_chunk(void *t_, int c)
{
    const struct trainer *t = t_;
    struct exec *x = &t->work->x[c];
    load(t, c);
    if (t->work->grad && !t->e)
        exec_both(x);
    else
        exec_run(x);
}

/* ---- weights ----------------------------------------------------------------------------------
 */

WIDE static double square_sum(size_t n, const float *x)
{
    enum { PARTS = 32 }; /* independent partial sums */
    double part[PARTS] = {0}, sum = 0;
    size_t i = 0;
    for (; i + PARTS <= n; i += PARTS)
        EACH(k, PARTS) part[k] += (double)x[i + (size_t)k] * (double)x[i + (size_t)k];
    for (; i < n; i++) sum += (double)x[i] * (double)x[i];
    for (int k = 0; k < PARTS; k++) sum += part[k];
    return sum;
}

static void run_norm(void *t_, int i)
{
    const struct trainer *t = t_;
    const struct rows *r = &t->work->rows.a[i];
    const struct dense *d = r->d;
    size_t in = (size_t)d->in, o0 = (size_t)r->o0, o1 = (size_t)r->o1;
    if (!t->work->norms) return;
    t->work->norm2[i] = square_sum((o1 - o0) * in, t->grad + d->w + o0 * in) +
                        square_sum(o1 - o0, t->grad + d->w + in * (size_t)d->out + o0);
}

/* Adds the gradient of another layer with the same weights. */
static void add_more(const struct trainer *t, const struct rows *r)
{
    const struct lane_work *w = t->work;
    size_t in = (size_t)r->d->in, bias = r->d->w + in * (size_t)r->d->out;
    w->x[0].product->weights(r->d, w->units, w->nchunk, r->o0, r->o1, w->more);
    for (size_t k = r->d->w + (size_t)r->o0 * in; k < r->d->w + (size_t)r->o1 * in; k++)
        t->grad[k] += w->more[k];
    for (size_t k = bias + (size_t)r->o0; k < bias + (size_t)r->o1; k++) t->grad[k] += w->more[k];
}

static void weights(struct trainer *t, const struct chunk *units, int i)
{
    const struct lane_work *w = t->work;
    const struct rows *r = &w->rows.a[i];
    if (i && r[-1].again) return; /* done with it */
    w->x[0].product->weights(r->d, units, w->nchunk, r->o0, r->o1, t->grad);
    for (; r->again; r++) add_more(t, r + 1);
    run_norm(t, i);
}

static void run_weights(void *t_, int i)
{
    struct trainer *t = t_;
    weights(t, t->work->units, i);
}

static void add_norms(struct trainer *t)
{
    double sum = 0;
    for (size_t i = 0; i < t->work->rows.n; i++)
        if (!i || !t->work->rows.a[i - 1].again) sum += t->work->norm2[i];
    t->norm = sqrt(sum);
}

void trainer_norm(struct trainer *t)
{
    t->work->norms = 1;
    pool_run(t->pool, (int)t->work->rows.n, run_norm, t);
    add_norms(t);
}

/* ---- piece by piece ----------------------------------------------------------------------------
 */

static void run_begin(void *t_, int c)
{
    const struct trainer *t = t_;
    load(t, c);
    exec_begin(&t->work->x[c]);
}

/* Processes pieces until none is left, in the workspace of thread k: all chunks through a segment,
   then its weight gradients, while its values are in the cache. */
static void run_pieces(void *t_, int k)
{
    struct trainer *t = t_;
    struct lane_work *w = t->work;
    struct exec *view = w->view + k;
    struct chunk *units = w->units + k * w->nchunk;
    for (int i, known = 0; (i = atomic_fetch_add(&w->next, 1)) < (int)w->piece.n; known = 1)
        for (size_t s = w->piece.a[i].s0; s < w->piece.a[i].s1; s++) {
            for (int c = 0; c < w->nchunk; c++) {
                if (!known) exec_begun(&view[c * w->nview], &w->x[c]);
                exec_segment(&view[c * w->nview], s);
            }
            for (size_t r = w->first_rows[s]; r < w->first_rows[s + 1]; r++)
                weights(t, units, (int)r);
        }
}

/* ---- Adam --------------------------------------------------------------------------- */

enum { ADAM_PART = 1 << 13, LAYER_CLIP = 2 };

WIDE static void adam(int n, float rate, float scale, float b1, float b2, const float *restrict g,
                      float *restrict m, float *restrict v, float *restrict p)
{
    EACH(i, n)
    {
        float d = g[i] * scale;
        m[i] = 0.9f * m[i] + 0.1f * d;
        v[i] = 0.999f * v[i] + 0.001f * d * d;
        p[i] -= rate * (m[i] * b1) / (sqrtf(v[i] * b2) + 1e-8f);
    }
}

/* A part of all weights; or, with clipping by layers, those of a layer. */
static void run_adam(void *t_, int i)
{
    const struct trainer *t = t_;
    const struct lane_work *w = t->work;
    size_t at = (size_t)i * ADAM_PART, left = t->nparam - at;
    adam(left < ADAM_PART ? (int)left : ADAM_PART, w->rate, w->scale, w->b1, w->b2, t->grad + at,
         t->m + at, t->v + at, t->param + at);
}

/* The same for a layer whose gradient is at most LAYER_CLIP times as large as Adam's second moments
   say that it usually is.  The loss of some data sets may be a thousand times that of others, and
   the factors of a plate have a thousand times the gradient of a single one: one norm of all
   weights would let the former decide how large a step the latter take. */
static void run_layer(void *t_, int i)
{
    const struct trainer *t = t_;
    const struct lane_work *w = t->work;
    size_t at = w->layer.a[i].at, n = w->layer.a[i].n;
    double square = square_sum(n, t->grad + at), usual = 0, scale = 1;
    if (square == 0)
        return; /* it is not in this design: what is usual is that of those that have it */
    for (size_t k = at; k < at + n; k++) usual += (double)t->v[k];
    usual *= (double)w->usual;
    if (usual > 0 && square > LAYER_CLIP * LAYER_CLIP * usual)
        scale = LAYER_CLIP * sqrt(usual / square);
    adam((int)n, w->rate, (float)scale, w->b1, w->b2, t->grad + at, t->m + at, t->v + at,
         t->param + at);
}

void trainer_apply(struct trainer *t, double rate, double clip)
{
    struct lane_work *w = t->work;
    double k = (double)++t->step;
    w->rate = (float)rate;
    w->scale = clip > 0 && t->norm > clip ? (float)(clip / t->norm) : 1;
    w->b1 = (float)(1 / (1 - pow(0.9, k)));
    w->b2 = (float)(1 / (1 - pow(0.999, k)));
    if (clip > 0 && w->layer.n) {
        w->usual = k > 1 ? (float)(1 / (1 - pow(0.999, k - 1))) : 0;
        pool_run(t->pool, (int)w->layer.n, run_layer, t);
        return;
    }
    pool_run(t->pool, (int)((t->nparam + ADAM_PART - 1) / ADAM_PART), run_adam, t);
}

/* ---- a batch ------------------------------------------------------------------------ */

/* Sums over lanes in order, independent of chunks. */
static void add_losses(struct trainer *t)
{
    const struct lane_work *w = t->work;
    int n = lanes(t);
    t->total = 0;
    for (int k = 0; k < t->num_loss_terms; k++) {
        double sum = 0;
        for (int c = 0; c < w->nchunk; c++)
            for (int b = 0; b < w->x[c].lanes && w->lane[c] + b < n; b++)
                sum -= w->x[c].by_tag[(size_t)k * (size_t)w->x[c].cap + (size_t)b] *
                       (t->e ? w->share[w->lane[c] + b] : 1);
        t->loss[k] = t->e ? sum : sum / w->of;
        t->total += t->loss[k];
    }
}

/* ---- a bound ------------------------------------------------------------------------ */

static void gather(const struct trainer *t)
{
    const struct lane_work *w = t->work;
    for (int c = 0; c < w->nchunk; c++) {
        const struct exec *x = &w->x[c];
        size_t at = (size_t)w->lane[c], n = sizeof(double) * (size_t)x->lanes;
        memcpy(w->total + at, x->total, n);
        memcpy(w->data + at, x->by_tag + (size_t)elbo_data(t->e) * (size_t)x->cap, n);
        memset(w->score + at, 0, n);
        for (size_t k = 0; k < t->e->choice.n; k++) {
            int term = t->e->choice.a[k].loss_term;
            if (k && term == t->e->choice.a[k - 1].loss_term)
                continue; /* those of a plate are one loss term */
            for (int b = 0; b < x->lanes; b++)
                w->score[at + (size_t)b] -= x->by_tag[(size_t)term * (size_t)x->cap + (size_t)b];
        }
    }
}

static void add_bound(struct trainer *t)
{
    struct lane_work *w = t->work;
    int choices = t->e->choice.n > 0;
    struct bound b = {.n = count(t),
                      .of = w->of,
                      .k = t->per,
                      .all = goes_through(t),
                      .total = w->total,
                      .data = w->data,
                      .score = choices ? w->score : NULL,
                      .known = choices ? w->known : NULL,
                      .warm = t->opt.warm,
                      .labels = t->opt.labels};
    gather(t);
    double total = bound_of(&b, w->group_weight, w->share);
    for (int l = lanes(t); l < t->part * t->per; l++)
        for (int k = 0; k < GRADIENT_GROUPS; k++) w->group_weight[k][l] = 0;
    add_losses(t);
    t->total = total;
}

static void run_back(void *t_, int c)
{
    const struct trainer *t = t_;
    exec_back(&t->work->x[c]);
}

static void take(struct trainer *t, const struct batch *b)
{
    t->work->b = b;
    if (t->e && b->feeds != t->work->feeds) find_fed(t, b->feeds);
}

/* ---- parts of a batch ----------------------------------------------------------------------- */

static struct batch part_of(struct trainer *t, const struct batch *b, int part)
{
    struct batch p = *b;
    int from, to;
    t->work->of = b->count ? b->count : t->batch;
    sum_part(t->sum.parts, t->work->of, part, &from, &to);
    p.count = to - from;
    p.first += (uint64_t)from;
    if (p.index) p.index += from;
    if (b->blocks) {
        p.x += (size_t)model_num_rows(t->q->model) * b->blocks * (size_t)from;
        p.n = b->blocks * (size_t)p.count;
        p.first = b->block * (size_t)p.count;
    }
    return p;
}

/* An empty part: only a batch that is not full has them. */
static int is_empty(struct trainer *t, const struct batch *part)
{
    if (part->count) return 0;
    t->total = 0;
    memset(t->loss, 0, sizeof *t->loss * (size_t)t->num_loss_terms);
    return 1;
}

void trainer_part_loss(struct trainer *t, const struct batch *b, int part)
{
    struct batch p = part_of(t, b, part);
    if (is_empty(t, &p)) return;
    take(t, &p);
    t->work->grad = 0;
    pool_run(t->pool, t->work->nchunk, run_chunk, t);
    if (t->e)
        add_bound(t);
    else
        add_losses(t);
}

static void part_gradient(struct trainer *t, const struct batch *b, int part)
{
    struct lane_work *w = t->work;
    struct batch p = part_of(t, b, part);
    if (is_empty(t, &p)) return;
    take(t, &p);
    w->grad = 1;
    for (int i = 0; i < t->part; i++) w->weight[i] = i < p.count ? -1.0 / w->of : 0;
    if (t->e) {
        pool_run(t->pool, w->nchunk, run_chunk, t);
        add_bound(t);
        pool_run(t->pool, w->nchunk, run_back, t);
        pool_run(t->pool, (int)w->rows.n, run_weights, t);
    } else if (w->piece.n) {
        pool_run(t->pool, w->nchunk, run_begin, t);
        atomic_store(&w->next, 0);
        pool_run(t->pool, w->nview, run_pieces, t);
        add_losses(t);
    } else {
        pool_run(t->pool, w->nchunk, run_chunk, t);
        add_losses(t);
        pool_run(t->pool, (int)w->rows.n, run_weights, t);
    }
}

/* A batch whose parts are summed. */
struct in_parts {
    struct trainer *t;
    const struct batch *b;
    double *loss; /* sums of the loss terms, and of the total */
};

static void give_loss(const struct trainer *t, double *loss)
{
    memcpy(loss, t->loss, sizeof *loss * (size_t)t->num_loss_terms);
    loss[t->num_loss_terms] = t->total;
}

static void leaf_loss(void *arg, int part, float *floats, double *loss)
{
    struct in_parts *x = arg;
    (void)floats;
    trainer_part_loss(x->t, x->b, part);
    give_loss(x->t, loss);
}

static void leaf_gradient(void *arg, int part, float *grad, double *loss)
{
    struct in_parts *x = arg;
    float *sum = x->t->grad;
    memset(grad, 0, sizeof *grad * x->t->nparam);
    x->t->grad = grad;
    part_gradient(x->t, x->b, part);
    x->t->grad = sum;
    give_loss(x->t, loss);
}

static int is_whole(const struct trainer *t) { return t->sum.parts == 1 && !t->sum.with; }

static int add_parts(struct trainer *t, const struct batch *b, size_t num_floats, sum_leaf *leaf)
{
    struct in_parts x = {t, b, t->loss + t->num_loss_terms + 1};
    int rc = sum_run(&t->sum, num_floats, (size_t)t->num_loss_terms + 1, leaf, &x, t->grad, x.loss);
    memcpy(t->loss, x.loss, sizeof *t->loss * (size_t)t->num_loss_terms);
    t->total = x.loss[t->num_loss_terms];
    return rc;
}

int trainer_loss(struct trainer *t, const struct batch *b)
{
    if (!is_whole(t)) return add_parts(t, b, 0, leaf_loss);
    trainer_part_loss(t, b, 0);
    return 0;
}

int trainer_gradient(struct trainer *t, const struct batch *b)
{
    t->work->norms = is_whole(t);
    if (is_whole(t)) {
        part_gradient(t, b, 0);
        add_norms(t);
        return 0;
    }
    int rc = add_parts(t, b, t->nparam, leaf_gradient);
    if (!rc) trainer_norm(t);
    return rc;
}

int trainer_failed(int rc, nami_err *err)
{
    return rc == NAMI_ENOMEM ? err_nomem(err) : exchange_failed(err);
}
