/* trainer_make.c: sets up a trainer: cuts the minibatch into chunks of lanes, the network into
   pieces and the weights into rows. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "train/trainer_impl.h"

/* The rows of a layer, as tasks of about equal size. */
static int cut_rows(struct lane_work *w, const struct dense *d)
{
    double each = (double)d->n * (d->in + 1);
    int tile = d->signs ? 64 : 12; /* multiple of the kernels' tile size */
    int step = each * d->out <= ROWS_WORK ? d->out : (int)(ROWS_WORK / each) / tile * tile;
    if (step < tile) step = tile;
    for (int o = 0; o < d->out; o += step) {
        struct rows r = {d, o, o + step < d->out ? o + step : d->out, 0};
        if (vec_push(&w->rows, r)) return NAMI_ENOMEM;
    }
    return 0;
}

/* The rows of a bound. Layers with the same weights are consecutive, row by row. */
static int cut_blocks(struct lane_work *w, const struct elbo *e)
{
    for (size_t i = 0; i < e->block.n; i++) {
        size_t first = w->rows.n, n = 0;
        for (size_t j = 0; j < e->block.n; j++) {
            if (e->block.a[j].layer->w != e->block.a[i].layer->w) continue;
            if (j < i) break; /* with the first */
            n++;
        }
        if (!n) continue;
        if (cut_rows(w, e->block.a[i].layer)) return NAMI_ENOMEM;
        size_t parts = w->rows.n - first;
        if (n == 1) continue;
        if (vec_reserve(&w->rows, first + parts * n)) return NAMI_ENOMEM;
        for (size_t p = parts; p-- > 0;) {
            struct rows r = w->rows.a[first + p];
            size_t to = first + p * n;
            for (size_t j = i; j < e->block.n; j++)
                if (e->block.a[j].layer->w == r.d->w)
                    w->rows.a[to++] = (struct rows){e->block.a[j].layer, r.o0, r.o1, 1};
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

static double products(const struct prog *p, size_t from, size_t to)
{
    const struct dense *d;
    double sum = 0;
    for (size_t k = from; k < to; k++)
        if ((d = prog_layer(p, k))) sum += (double)d->n * d->out * (2.0 * d->in + d->back);
    return sum;
}

/* The loss term that a segment contributes to. */
static int tag_of(const struct prog *p, size_t from)
{
    for (size_t k = from; k < p->code.n; k++)
        if (p->code.a[k].sum) return p->code.a[k].tag;
    return -1;
}

/* Groups segments into pieces: not too many, and no two with the same tag. */
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

/* Are pieces faster than chunks? The results are identical. Not with embeddings, which precede the
   segments and receive derivatives from all of them; nor if one piece dominates the work. */
static int by_piece(const struct lane_work *w, const struct prog *p, int threads)
{
    double most = 0, all = 0;
    for (size_t i = 0; i < w->piece.n; i++) {
        all += w->piece.a[i].work;
        if (w->piece.a[i].work > most) most = w->piece.a[i].work;
    }
    return w->piece.n > 1 && most * threads < 1.15 * all && all == products(p, 0, p->code.n);
}

/* The rows of all layers, by segment. */
static int cut_packed(struct lane_work *w)
{
    const struct prog *p = w->p;
    if (!(w->first_rows = new_array(size_t, p->segment.n + 1))) return NAMI_ENOMEM;
    for (size_t k = 0, s = 0; k < p->code.n; k++) {
        if (s < p->segment.n && k == p->segment.a[s].first) w->first_rows[s++] = w->rows.n;
        const struct dense *d = prog_layer(p, k);
        if (d && cut_rows(w, d)) return NAMI_ENOMEM;
    }
    w->first_rows[p->segment.n] = w->rows.n;
    return 0;
}

static int find_layers(struct lane_work *w, const struct qnet *q)
{
    int rc = 0;
    for (size_t i = 0; i < q->block.n && !rc; i++) {
        const struct dense *d = q->block.a[i].layer;
        rc = vec_push(&w->layer, ((struct weights_of){d->w, ((size_t)d->in + 1) * (size_t)d->out}));
    }
    return rc;
}

static int cut(struct lane_work *w, const struct qnet *q, int threads)
{
    int rc = q->opt.arch == &arch_messages ? find_layers(w, q) : 0;
    if (rc) return NAMI_ENOMEM;
    if (cut_pieces(w, &q->prog)) return NAMI_ENOMEM;
    if (!by_piece(w, &q->prog, threads)) w->piece.n = 0;
    if (w->piece.n && prog_pack(&w->packed, &q->prog)) return NAMI_ENOMEM;
    if (w->piece.n) {
        w->p = &w->packed;
        rc = cut_packed(w);
    } else { /* a layer may be emitted in parts; its weights are those of all of them */
        for (size_t i = 0; i < q->block.n && !rc; i++) rc = cut_rows(w, q->block.a[i].layer);
    }
    w->norm2 = new_array(double, w->rows.n + 1);
    return rc || !w->norm2 ? NAMI_ENOMEM : 0;
}

/* Lanes of a chunk: fewer than LANES if its units would take more than 64 MB. */
static int chunk_lanes(const struct prog *p)
{
    enum { MOST = 1 << 23, EIGHT = 8 };
    int lanes = MOST / (p->nunit + 1) / EIGHT * EIGHT;
    return lanes > LANES ? LANES : lanes < EIGHT ? EIGHT : lanes;
}

/* Distributes groups of eight lanes evenly over the chunks. */
static int make_chunks(struct trainer *t, nami_err *err)
{
    struct lane_work *w = t->work;
    struct qnet *q = t->q;
    int groups = (t->part * t->per + 7) / 8, most = chunk_lanes(w->p) / 8, rc = 0;
    int n = (groups + most - 1) / most;
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
        rc = exec_init(x, w->p, width, t->num_loss_terms, EXEC_GRAD | EXEC_FLOAT, err);
        if (!rc && model_training_program(q->model)->nrow && !model_simulator_command(q->model))
            rc = exec_init(&w->sim[c], model_training_program(q->model), width, 0, 0, err);
        if (rc) continue;
        w->sim[c].param = model_weights(q->model);
        x->lanes = width;
        x->data_rows = t->e ? 0 : q->prog.nnode;
        x->param = t->param;
        for (int k = 0; k < GRADIENT_GROUPS; k++)
            x->weight[k] = (t->e ? w->group_weight[k] : w->weight) + w->lane[c];
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
    size_t n = (size_t)t->part * (size_t)t->per + 64;
    w->total = new_array(double, 4 * n + GRADIENT_GROUPS * n);
    w->known = new_array(unsigned char, t->part + 8);
    w->fed = new_array(unsigned char, t->e->choice.n + 1);
    if (!w->total || !w->known || !w->fed) return NAMI_ENOMEM;
    w->data = w->total + n, w->score = w->data + n, w->share = w->score + n;
    for (int k = 0; k < GRADIENT_GROUPS; k++) w->group_weight[k] = w->share + n * (size_t)(k + 1);
    return 0;
}

/* Parts of a batch whose units take at most about a gigabyte: all of a part are in memory at once.
 */
static int fewest_parts(const struct prog *p, int lanes)
{
    const double most = 1 << 30, groups = (lanes + 7) / 8;
    double each = 8. * p->nunit * 2 * sizeof(float);
    return (int)fmin(fmin(groups, SUM_MOST_PARTS), ceil(groups * each / most));
}

/* Parts are as large as can be, if there are fewer points than parts. */
static int make_parts(struct trainer *t, int parts, const nami_exchange *with, nami_err *err)
{
    int groups = (t->batch + 7) / 8;
    if (parts > SUM_MOST_PARTS)
        return err_set(err, NAMI_ELIMIT, "a batch has at most %d parts, not %d", SUM_MOST_PARTS,
                       parts);
    if (parts > groups) parts = groups;
    for (int k = 0, from, to; k < parts; k++) {
        sum_part(parts, t->batch, k, &from, &to);
        if (to - from > t->part) t->part = to - from;
    }
    return sum_init(&t->sum, parts, with, err);
}

/* How a trainer runs: parts of a batch, whose processes; weights that the program does not have;
   threads of its own, or another's. */
struct running {
    int batch, parts;
    const nami_exchange *with;
    size_t more;
    int threads;
    struct pool *pool; /* or NULL */
};

static int make(struct trainer *t, struct qnet *q, struct elbo *e, const struct bound_options *opt,
                const struct running *how, nami_err *err)
{
    int batch = how->batch;
    *t = (struct trainer){.q = q, .e = e, .batch = batch, .per = 1};
    t->prog = e ? &e->prog : &q->prog;
    t->num_loss_terms = e ? e->num_loss_terms : q->num_loss_terms;
    t->loss_term = e ? e->loss_term : q->loss_term;
    t->nparam = t->prog->nparam + how->more;
    if (e) {
        t->opt = *opt;
        t->per = opt->particles > 1 ? opt->particles : e->configs > 1 ? e->configs : 1;
    }
    if (batch < 1 || batch > BATCH_MOST)
        return err_set(err, NAMI_ELIMIT, "a batch has 1 to %d points, not %d", BATCH_MOST, batch);
    int least = fewest_parts(t->prog, batch * t->per);
    int rc = make_parts(t, how->parts > least ? how->parts : least, how->with, err);
    if (rc) return rc;
    struct lane_work *w = t->work = new_array(struct lane_work, 1);
    if (!w) return err_nomem(err);
    float **at[] = {&t->param, &t->grad, &t->m, &t->v};
    for (int i = 0; i < 4; i++) {
        *at[i] = line_array(float, t->nparam + 16, &w->block[i]);
        if (!*at[i]) return err_nomem(err);
        memset(*at[i], 0, (t->nparam + 16) * sizeof(float));
    }
    t->loss = new_array(double, 2 * t->num_loss_terms + 2); /* and sums over parts */
    if (!t->loss) return err_nomem(err);
    w->own_pool = !how->pool;
    t->pool = how->pool;
    if (!t->pool && (rc = pool_new(how->threads, &t->pool, err))) return rc;
    w->p = t->prog;
    if (e ? cut_blocks(w, e) || make_lanes(t) : cut(w, q, pool_size(t->pool)))
        return err_nomem(err);
    if (e && !(w->more = new_array(float, t->nparam + 16))) return err_nomem(err);
    rc = make_chunks(t, err);
    if (!rc && e)
        elbo_start(e, q->opt.seed, t->param);
    else if (!rc)
        qnet_start(q, q->opt.seed, t->param);
    return rc;
}

int trainer_make_parts(struct trainer *t, struct qnet *q, struct elbo *e,
                       const struct bound_options *opt, int batch, int parts,
                       const nami_exchange *with, int threads, nami_err *err)
{
    struct running how = {.batch = batch, .parts = parts, .with = with, .threads = threads};
    return make(t, q, e, opt, &how, err);
}

int trainer_make(struct trainer *t, struct qnet *q, struct elbo *e, const struct bound_options *opt,
                 int batch, int threads, nami_err *err)
{
    return trainer_make_parts(t, q, e, opt, batch, 1, NULL, threads, err);
}

int trainer_make_first(struct trainer *t, struct qnet *q, size_t more, int batch, int threads,
                       nami_err *err)
{
    struct running how = {.batch = batch, .more = more, .threads = threads};
    return make(t, q, NULL, NULL, &how, err);
}

int trainer_add_layer(struct trainer *t, size_t at, size_t n)
{
    return vec_push(&t->work->layer, ((struct weights_of){at, n}));
}

int trainer_make_other(struct trainer *t, struct qnet *q, const struct trainer *first,
                       nami_err *err)
{
    struct running how = {.batch = first->batch, .pool = first->pool};
    return make(t, q, NULL, NULL, &how, err);
}

void trainer_free(struct trainer *t)
{
    struct lane_work *w = t->work;
    if (!w) return;
    if (w->own_pool) pool_free(t->pool);
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
    vec_free(&w->layer);
    free(w);
    sum_free(&t->sum);
    free(t->loss);
    *t = (struct trainer){0};
}
