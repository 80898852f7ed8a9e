#include "train/trainer.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/simd.h"
#include "train/bound.h"

enum {
    LANES = 64,          /* of a chunk: its units stay in the second-level cache */
    ROWS_WORK = 1 << 16, /* weights of a task */
    PIECES = 24,         /* of a network, about, at most twice as many */
    BATCH_MOST = 1 << 24
};

/* Rows o0 .. o1-1 of a layer.  More of them have the same weights, if it is used again. */
struct rows {
    const struct dense *d;
    int o0, o1, again;
};

/* Segments that add to the same part of the loss. */
struct piece {
    size_t s0, s1;
    double work; /* products */
};

struct lane_work {
    int nchunk;
    struct exec *x;      /* the network, for each chunk */
    struct exec *sim;    /* the model's draws, for each chunk */
    struct chunk *units; /* of each chunk (of each thread's), for sums over the batch */
    int *lane;           /* the first lane of each chunk in the batch */
    double *weight;      /* of each lane of the batch: -1 / points, 0 for those that fill up */
    vec(struct rows) rows;
    double *norm2;        /* of the gradients of each rows */
    const struct prog *p; /* the network; if it is cut into pieces, packed */
    struct prog packed;
    vec(struct piece) piece; /* all of it; none if it cannot be cut */
    size_t *first_rows;      /* of each of its segments; at the end, their number */
    struct exec *view;       /* of chunk c in thread k: view[c * nview + k] */
    int nview;
    atomic_int next; /* the piece that comes next */
    const struct batch *b;
    float rate, scale, b1, b2; /* of the step */
    int grad;
    void *block[4];
    /* of a bound, for each lane of the batch */
    double *total, *data, *score, *share, *worth[LOTS];
    unsigned char *known;      /* of points: discrete latents are given */
    unsigned char *fed;        /* of choices: the data may give them */
    const struct feeds *feeds; /* these */
    float *more;               /* gradients of layers that are used again */
};

/* Points of the batch. */
static int count(const struct trainer *t)
{
    return t->work->b->count ? t->work->b->count : t->batch;
}

static int lanes(const struct trainer *t) { return count(t) * t->per; }

/* Are a point's lanes all configurations of its discrete latents?  Else they are draws. */
static int goes_through(const struct trainer *t) { return t->per > 1 && t->opt.particles <= 1; }

size_t trainer_stride(const struct trainer *t) { return ((size_t)t->batch + 7) / 8 * 8; }

/* ---- one chunk ---------------------------------------------------------------------- */

/* Lanes that fill up a chunk are as the last one of the batch: another draw may have no finite
   gradient, and 0 times that is not 0. */
static void fill_up(const struct trainer *t, struct exec *x, int real)
{
    for (int r = 0; r < t->q->m->nrow; r++) {
        double *row = x->row + (size_t)r * (size_t)x->cap;
        for (int i = real; i < x->lanes; i++) row[i] = row[real - 1];
    }
}

static void find_fed(struct trainer *t, const struct feeds *f)
{
    struct lane_work *w = t->work;
    w->feeds = f;
    for (size_t k = 0; k < t->e->choice.n; k++) {
        int row = t->q->code[t->e->choice.a[k].node].row[0];
        w->fed[k] = 0;
        for (size_t i = 0; f && i < f->feed.n; i++)
            for (size_t j = 0; j < f->feed.a[i].r.k; j++) w->fed[k] |= f->feed.a[i].row[j] == row;
    }
}

/* Discrete latents that the data give, or the configuration of the lane. */
static void fix_choices(const struct trainer *t, int c)
{
    const struct lane_work *w = t->work;
    const struct exec *x = &w->x[c];
    const struct elbo *e = t->e;
    int all = goes_through(t);
    for (size_t k = 0; k < e->choice.n; k++) {
        const struct choice *h = &e->choice.a[k];
        const double *given = x->row + (size_t)t->q->code[h->node].row[0] * (size_t)x->cap;
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
    const struct model *m = t->q->m;
    int n = lanes(t), first = w->lane[c] < n ? w->lane[c] : n - 1;
    int real = n - first < x->lanes ? n - first : x->lanes;
    x->seed = b->seed;
    x->first = b->first * (uint64_t)t->per + (uint64_t)w->lane[c];
    int index[LANES];
    for (int i = 0; b->index && i < real; i++) index[i] = b->index[(first + i) / t->per];
    if (b->point) {
        for (int r = 0; r < m->nrow; r++)
            for (int i = 0; i < real; i++)
                x->row[(size_t)r * (size_t)x->cap + (size_t)i] =
                    b->point[(size_t)index[i] * (size_t)m->nrow + (size_t)r];
    } else if (b->feeds) {
        feeds_copy_some(b->feeds, real, index, x->row, (size_t)x->cap);
    } else if (b->x) {
        for (int r = 0; r < m->nrow; r++) {
            const double *from = b->x + (size_t)r * b->n + b->first;
            double *row = x->row + (size_t)r * (size_t)x->cap;
            for (int i = 0; i < real; i++) row[i] = from[(first + i) / t->per];
        }
    } else {
        struct exec *s = &w->sim[c];
        s->seed = b->seed;
        s->first = first == w->lane[c] ? x->first : b->first; /* of this batch, in any case */
        s->lanes = x->lanes;
        s->node = x->row; /* written where they are wanted */
        s->stride = (size_t)x->cap;
        s->direct = m->nrow;
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
    double part[8] = {0}, sum = 0;
    size_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (int k = 0; k < 8; k++) part[k] += (double)x[i + (size_t)k] * (double)x[i + (size_t)k];
    for (; i < n; i++) sum += (double)x[i] * (double)x[i];
    for (int k = 0; k < 8; k++) sum += part[k];
    return sum;
}

static void run_norm(void *t_, int i)
{
    const struct trainer *t = t_;
    const struct rows *r = &t->work->rows.a[i];
    const struct dense *d = r->d;
    size_t in = (size_t)d->in, o0 = (size_t)r->o0, o1 = (size_t)r->o1;
    t->work->norm2[i] = square_sum((o1 - o0) * in, t->grad + d->w + o0 * in) +
                        square_sum(o1 - o0, t->grad + d->w + in * (size_t)d->out + o0);
}

/* The same weights, used by another layer. */
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

/* Pieces, as long as there are any, in one of as many places as there are threads: all chunks
   through a segment, then its weights, while its numbers are in the cache. */
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

enum { ADAM_PART = 1 << 13 };

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

static void run_adam(void *t_, int i)
{
    const struct trainer *t = t_;
    const struct lane_work *w = t->work;
    size_t at = (size_t)i * ADAM_PART, left = t->nparam - at;
    adam(left < ADAM_PART ? (int)left : ADAM_PART, w->rate, w->scale, w->b1, w->b2, t->grad + at,
         t->m + at, t->v + at, t->param + at);
}

void trainer_apply(struct trainer *t, double rate, double clip)
{
    struct lane_work *w = t->work;
    double k = (double)++t->step;
    w->rate = (float)rate;
    w->scale = clip > 0 && t->norm > clip ? (float)(clip / t->norm) : 1;
    w->b1 = (float)(1 / (1 - pow(0.9, k)));
    w->b2 = (float)(1 / (1 - pow(0.999, k)));
    pool_run(t->pool, (int)((t->nparam + ADAM_PART - 1) / ADAM_PART), run_adam, t);
}

/* ---- a batch ------------------------------------------------------------------------ */

/* Lane by lane in order, whatever the chunks. */
static void add_losses(struct trainer *t)
{
    const struct lane_work *w = t->work;
    int n = lanes(t);
    t->total = 0;
    for (int k = 0; k < t->npart; k++) {
        double sum = 0;
        for (int c = 0; c < w->nchunk; c++)
            for (int b = 0; b < w->x[c].lanes && w->lane[c] + b < n; b++)
                sum -= w->x[c].by_tag[(size_t)k * (size_t)w->x[c].cap + (size_t)b] *
                       (t->e ? w->share[w->lane[c] + b] : 1);
        t->loss[k] = t->e ? sum : sum / n;
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
            int part = t->e->choice.a[k].part;
            if (k && part == t->e->choice.a[k - 1].part) continue; /* a plate's are one part */
            for (int b = 0; b < x->lanes; b++)
                w->score[at + (size_t)b] -= x->by_tag[(size_t)part * (size_t)x->cap + (size_t)b];
        }
    }
}

static void add_bound(struct trainer *t)
{
    struct lane_work *w = t->work;
    int choices = t->e->choice.n > 0;
    struct bound b = {.n = count(t),
                      .k = t->per,
                      .all = goes_through(t),
                      .total = w->total,
                      .data = w->data,
                      .score = choices ? w->score : NULL,
                      .known = choices ? w->known : NULL,
                      .warm = t->opt.warm,
                      .labels = t->opt.labels};
    gather(t);
    double total = bound_of(&b, w->worth, w->share);
    for (int l = lanes(t); l < t->batch * t->per; l++)
        for (int k = 0; k < LOTS; k++) w->worth[k][l] = 0;
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

void trainer_loss(struct trainer *t, const struct batch *b)
{
    take(t, b);
    t->work->grad = 0;
    pool_run(t->pool, t->work->nchunk, run_chunk, t);
    if (t->e)
        add_bound(t);
    else
        add_losses(t);
}

void trainer_gradient(struct trainer *t, const struct batch *b)
{
    struct lane_work *w = t->work;
    take(t, b);
    w->grad = 1;
    for (int i = 0, n = count(t); i < t->batch; i++) w->weight[i] = i < n ? -1.0 / n : 0;
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
    add_norms(t);
}

/* ---- making ------------------------------------------------------------------------- */

/* The rows of a layer, as tasks of about equal size. */
static int cut_rows(struct lane_work *w, const struct dense *d)
{
    double each = (double)d->n * (d->in + 1);
    int step = each * d->out <= ROWS_WORK ? d->out : (int)(ROWS_WORK / each) / 12 * 12;
    if (step < 12) step = 12;
    for (int o = 0; o < d->out; o += step) {
        struct rows r = {d, o, o + step < d->out ? o + step : d->out, 0};
        if (vec_push(&w->rows, r)) return NAMI_ENOMEM;
    }
    return 0;
}

/* Those of a bound.  Layers with the same weights follow each other, row by row. */
static int cut_blocks(struct lane_work *w, const struct elbo *e)
{
    for (size_t i = 0; i < e->block.n; i++) {
        size_t first = w->rows.n, n = 0;
        for (size_t j = 0; j < e->block.n; j++) {
            if (e->block.a[j].d->w != e->block.a[i].d->w) continue;
            if (j < i) break; /* with the first */
            n++;
        }
        if (!n) continue;
        if (cut_rows(w, e->block.a[i].d)) return NAMI_ENOMEM;
        size_t parts = w->rows.n - first;
        if (n == 1) continue;
        if (vec_reserve(&w->rows, first + parts * n)) return NAMI_ENOMEM;
        for (size_t p = parts; p-- > 0;) {
            struct rows r = w->rows.a[first + p];
            size_t to = first + p * n;
            for (size_t j = i; j < e->block.n; j++)
                if (e->block.a[j].d->w == r.d->w)
                    w->rows.a[to++] = (struct rows){e->block.a[j].d, r.o0, r.o1, 1};
            w->rows.a[to - 1].again = 0;
        }
        w->rows.n = first + parts * n;
    }
    w->norm2 = new_array(double, w->rows.n + 1);
    return w->norm2 ? 0 : NAMI_ENOMEM;
}

static size_t segment_end(const struct prog *p, size_t s)
{
    return s + 1 < p->segment.n ? p->segment.a[s + 1].first : p->code.n;
}

static const struct dense *layer(const struct prog *p, size_t k)
{
    return p->code.a[k].kind == I_DENSE ? p->code.a[k].self : NULL;
}

static double products(const struct prog *p, size_t from, size_t to)
{
    const struct dense *d;
    double sum = 0;
    for (size_t k = from; k < to; k++)
        if ((d = layer(p, k))) sum += (double)d->n * d->out * (2.0 * d->in + d->back);
    return sum;
}

/* Whose loss a segment adds to. */
static int tag_of(const struct prog *p, size_t from)
{
    for (size_t k = from; k < p->code.n; k++)
        if (p->code.a[k].sum) return p->code.a[k].tag;
    return -1;
}

/* Segments to pieces, neither too many nor two with the same tag. */
static int cut_pieces(struct lane_work *w, const struct prog *p)
{
    double all = products(p, 0, p->code.n);
    int last = -1;
    for (size_t s = 0; s < p->segment.n; s++) {
        size_t from = p->segment.a[s].first;
        struct piece *to = w->piece.n ? &w->piece.a[w->piece.n - 1] : NULL;
        struct piece x = {s, s + 1, products(p, from, segment_end(p, s))};
        int tag = tag_of(p, from);
        if (to && (tag == last || to->work + x.work < all / PIECES))
            *to = (struct piece){to->s0, x.s1, to->work + x.work};
        else if (vec_push(&w->piece, x))
            return NAMI_ENOMEM;
        last = tag;
    }
    return 0;
}

/* Are pieces better than chunks?  The results are the same.  Not with embeddings, which stand
   before the segments and get derivatives of all of them; nor if one piece is most of the work. */
static int by_piece(const struct lane_work *w, const struct prog *p, int threads)
{
    double most = 0, all = 0;
    for (size_t i = 0; i < w->piece.n; i++) {
        all += w->piece.a[i].work;
        if (w->piece.a[i].work > most) most = w->piece.a[i].work;
    }
    return w->piece.n > 1 && most * threads < 1.15 * all && all == products(p, 0, p->code.n);
}

static int cut(struct lane_work *w, const struct prog *p, int threads)
{
    if (cut_pieces(w, p)) return NAMI_ENOMEM;
    if (!by_piece(w, p, threads)) w->piece.n = 0;
    if (w->piece.n && prog_pack(&w->packed, p)) return NAMI_ENOMEM;
    w->p = p = w->piece.n ? &w->packed : p;
    if (!(w->first_rows = new_array(size_t, p->segment.n + 1))) return NAMI_ENOMEM;
    for (size_t k = 0, s = 0; k < p->code.n; k++) {
        if (s < p->segment.n && k == p->segment.a[s].first) w->first_rows[s++] = w->rows.n;
        if (layer(p, k) && cut_rows(w, layer(p, k))) return NAMI_ENOMEM;
    }
    w->first_rows[p->segment.n] = w->rows.n;
    w->norm2 = new_array(double, w->rows.n + 1);
    return w->norm2 ? 0 : NAMI_ENOMEM;
}

/* Groups of eight lanes, dealt out evenly to the chunks. */
static int make_chunks(struct trainer *t, nami_err *err)
{
    struct lane_work *w = t->work;
    struct qnet *q = t->q;
    int groups = (t->batch * t->per + 7) / 8, n = (groups + LANES / 8 - 1) / (LANES / 8), rc = 0;
    w->nview = w->piece.n ? pool_size(t->pool) : 0;
    w->x = new_array(struct exec, n);
    w->sim = new_array(struct exec, n);
    w->view = new_array(struct exec, w->nview * n);
    w->units = new_array(struct chunk, (w->nview + 1) * n);
    w->lane = new_array(int, n + 1);
    w->weight = new_array(double, groups * 8);
    if (!w->x || !w->sim || !w->view || !w->units || !w->lane || !w->weight) return err_nomem(err);
    for (w->nchunk = 0; w->nchunk < n && !rc; w->nchunk++) {
        int c = w->nchunk, width = (groups / n + (c < groups % n)) * 8;
        struct exec *x = &w->x[c];
        w->lane[c + 1] = w->lane[c] + width;
        rc = exec_init(x, w->p, LANES, t->npart, EXEC_GRAD | EXEC_FLOAT, err);
        if (!rc && q->m->sample.nrow && !q->m->simulator)
            rc = exec_init(&w->sim[c], &q->m->sample, LANES, 0, 0, err);
        if (rc) continue;
        w->sim[c].param = q->m->weight.a;
        x->lanes = width;
        x->data_rows = t->e ? 0 : q->prog.nnode;
        x->param = t->param;
        for (int k = 0; k < LOTS; k++) x->weight[k] = (t->e ? w->worth[k] : w->weight) + w->lane[c];
        x->units.L = width;
        w->units[c] = x->units;
        for (int k = 0; k < w->nview && !rc; k++) {
            rc = exec_share(&w->view[c * w->nview + k], x, err);
            w->units[k * n + c] = w->view[c * w->nview + k].units;
        }
    }
    return rc;
}

static int make_lanes(struct trainer *t)
{
    struct lane_work *w = t->work;
    size_t n = (size_t)t->batch * (size_t)t->per + 64;
    w->total = new_array(double, 4 * n + LOTS * n);
    w->known = new_array(unsigned char, t->batch + 8);
    w->fed = new_array(unsigned char, t->e->choice.n + 1);
    if (!w->total || !w->known || !w->fed) return NAMI_ENOMEM;
    w->data = w->total + n, w->score = w->data + n, w->share = w->score + n;
    for (int k = 0; k < LOTS; k++) w->worth[k] = w->share + n * (size_t)(k + 1);
    return 0;
}

int trainer_make(struct trainer *t, struct qnet *q, struct elbo *e, const struct bound_options *opt,
                 int batch, int threads, nami_err *err)
{
    *t = (struct trainer){.q = q, .e = e, .batch = batch, .per = 1};
    t->prog = e ? &e->prog : &q->prog;
    t->npart = e ? e->npart : q->npart;
    t->part = e ? e->part : q->part;
    t->nparam = t->prog->nparam;
    if (e) {
        t->opt = *opt;
        t->per = opt->particles > 1 ? opt->particles : e->configs > 1 ? e->configs : 1;
    }
    if (batch < 1 || batch > BATCH_MOST)
        return err_set(err, NAMI_ELIMIT, "a batch has 1 to %d points, not %d", BATCH_MOST, batch);
    struct lane_work *w = t->work = new_array(struct lane_work, 1);
    if (!w) return err_nomem(err);
    float **at[] = {&t->param, &t->grad, &t->m, &t->v};
    int rc = 0;
    for (int i = 0; i < 4; i++) {
        *at[i] = line_array(float, t->nparam + 16, &w->block[i]);
        if (!*at[i]) return err_nomem(err);
        memset(*at[i], 0, (t->nparam + 16) * sizeof(float));
    }
    t->loss = new_array(double, t->npart + 1);
    if (!t->loss) return err_nomem(err);
    if ((rc = pool_new(threads, &t->pool, err))) return rc;
    w->p = t->prog;
    if (e ? cut_blocks(w, e) || make_lanes(t) : cut(w, t->prog, pool_size(t->pool)))
        return err_nomem(err);
    if (e && !(w->more = new_array(float, t->nparam + 16))) return err_nomem(err);
    rc = make_chunks(t, err);
    if (!rc && e)
        elbo_start(e, q->opt.seed, t->param);
    else if (!rc)
        qnet_start(q, q->opt.seed, t->param);
    return rc;
}

void trainer_free(struct trainer *t)
{
    struct lane_work *w = t->work;
    if (!w) return;
    pool_free(t->pool);
    for (int c = 0; c < w->nchunk; c++) {
        exec_fini(&w->x[c]);
        exec_fini(&w->sim[c]);
    }
    for (int i = 0; i < 4; i++) free(w->block[i]);
    free(w->x);
    free(w->sim);
    free(w->units);
    free(w->lane);
    free(w->weight);
    for (int i = 0; w->view && i < w->nview * w->nchunk; i++) exec_fini(&w->view[i]);
    free(w->view);
    free(w->first_rows);
    prog_free(&w->packed);
    vec_free(&w->piece);
    free(w->norm2);
    free(w->total);
    free(w->known);
    free(w->fed);
    free(w->more);
    vec_free(&w->rows);
    free(w);
    free(t->loss);
    *t = (struct trainer){0};
}
