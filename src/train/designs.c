/* designs.c: draws the designs of an open network, makes their networks, and lets the trainer of
   the first design take gradients of all. */
#include "train/designs.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "net/tree.h"
#include "train/design_draw.h"

/* Weights of a design's network that stand elsewhere in the first trainer. */
struct place {
    size_t from, to, n;
};

struct design {
    struct network net;
    struct data data;
    struct trainer t;
    vec(struct place) place;
    int *term; /* by loss term: the first network's, or -1 */
};

/* A layer that the first network does not have. */
struct further {
    const struct block *block;
    size_t at;
};

struct designs {
    struct network *first;
    struct open_ranges open;
    int n; /* besides the first */
    struct design *design;
    vec(struct further) further;
    size_t more; /* weights of these */
    uint64_t seed;
};

int designs_wanted(const struct plan *p)
{
    return (p->options.open && *p->options.open) || p->options.missing > 0;
}

void designs_free(struct designs *d)
{
    if (!d) return;
    for (int i = 0; d->design && i < d->n; i++) {
        struct design *x = &d->design[i];
        trainer_free(&x->t);
        network_free(&x->net);
        data_free(&x->data);
        vec_free(&x->place);
        free(x->term);
    }
    free(d->design);
    vec_free(&d->further);
    open_ranges_free(&d->open);
    free(d);
}

/* ---- networks ----------------------------------------------------------------------- */

/* Latents that a factor reads, at most. */
static int widest(const struct inverse *h)
{
    int most = 0;
    for (int i = 0; i < h->nlatent; i++) {
        int n = 0;
        for (int64_t r = h->ptr[i]; r < h->ptr[i + 1]; r++) {
            const struct run *x = &h->run.a[r]; /* observed ones may follow in it */
            int end = x->start + x->count < h->nlatent ? x->start + x->count : h->nlatent;
            if (end > x->start) n += end - x->start;
        }
        if (n > most) most = n;
    }
    return most;
}

/* In the mode `best`, the one whose factors read fewer latents in the largest design: if their
   number grows with the sizes, each size has kinds of its own. */
static int choose_mode(struct designs *d, nami_err *err)
{
    static const char *const modes[] = {"reverse", "forward"};
    struct network *first = d->first;
    const char *best = first->inverse->mode;
    struct data data = {0};
    int least = -1, rc = 0;
    if (strcmp(first->plan.invert.mode, "best") != 0 || !d->open.range.n) return 0;
    rc = design_data(&d->open, model_first_data(first->model), 2, d->seed, &data, err);
    for (int i = 0; i < 2 && !rc; i++) {
        struct network large;
        rc = network_instance(&large, first, &data.set.a[0], NULL, err);
        if (!rc) rc = network_invert_again(&large, modes[i], err);
        int n = rc ? 0 : widest(large.inverse);
        if (!rc && (least < 0 || n < least)) least = n, best = modes[i];
        network_free(&large);
    }
    data_free(&data);
    return rc || strcmp(best, first->inverse->mode) == 0 ? rc
                                                         : network_invert_again(first, best, err);
}

/* The stages of the arrays, unless the model has some; the first design follows them, too. */
static int order_arrays(struct network *n, nami_err *err)
{
    if (n->inversion.p.stage) return 0;
    unsigned char *crossed = new_array(unsigned char, model_num_arrays(n->model) + 1);
    int rc = crossed ? tree_find_crossed(n->model, n->inverse, crossed, err) : err_nomem(err);
    if (!rc && kinds_add_stages(n->kinds, n->model, n->inverse, crossed)) rc = err_nomem(err);
    int any = !rc && memchr(crossed, 1, (size_t)model_num_arrays(n->model));
    free(crossed);
    return any ? network_invert_again(n, n->plan.invert.mode, err) : rc;
}

/* The mode, the order of arrays, and the latents that are integrated out are those of the first
   design. */
static int settle(struct network *n, nami_err *err)
{
    const struct model *m = n->model;
    struct str names = {0};
    n->plan.invert.mode = n->inverse->mode;
    int rc = order_arrays(n, err);
    if (rc) return rc;
    if (strcmp(n->plan.invert.exact, "auto") != 0) return 0;
    for (int a = 0; a < model_num_arrays(m); a++) {
        int exact = 0, learnt = 0;
        for (int e = array_first(m, a); e < array_first(m, a) + array_size(m, a); e++) {
            int v = element_node(m, e), pos = v < 0 ? -1 : n->inverse->pos[v];
            exact += pos >= 0 && pos < n->inverse->nexact;
            learnt += pos >= n->inverse->nexact && pos < n->inverse->nlatent;
        }
        if (exact && learnt) return str_free(&names), 0; /* each design as it can */
        if (exact) str_printf(&names, "%s%s", names.n ? "," : "", array_name(m, a));
    }
    n->plan.invert.exact =
        names.oom ? NULL
                  : arena_strndup(&n->mem, names.n ? names.s : "none", names.n ? names.n : 4);
    str_free(&names);
    return n->plan.invert.exact ? 0 : err_nomem(err);
}

/* Which arrays are crossed is seen best in the design with the most latents. */
static int find_crossed(struct designs *d, nami_err *err)
{
    const struct network *most = d->first;
    for (int i = 0; i < d->n; i++)
        if (d->design[i].net.inverse->nlatent > most->inverse->nlatent) most = &d->design[i].net;
    return kinds_add_crossed(d->first->kinds, most->model, most->inverse, err);
}

static int draw_design(struct designs *d, int i, nami_err *err)
{
    struct design *x = &d->design[i];
    const struct dataset *data = model_first_data(d->first->model);
    double missing = d->first->plan.options.missing;
    int rc = design_data(&d->open, data, d->open.range.n ? i + 1 : 0, d->seed, &x->data, err);
    if (!rc) rc = network_instance(&x->net, d->first, &x->data.set.a[0], NULL, err);
    if (rc || !(missing > 0)) return rc;
    struct rng rng;
    struct str observe = {0};
    rng_init(&rng, d->seed ^ 0x6d697373, (uint64_t)i);
    rc = design_observe(x->net.model, missing, &rng, &observe, err);
    network_free(&x->net);
    if (!rc) rc = network_instance(&x->net, d->first, &x->data.set.a[0], observe.s, err);
    str_free(&observe);
    return rc;
}

/* What can be open: networks with messages, trained on draws of the model. */
static int check(const struct network *n, nami_err *err)
{
    const struct plan *p = &n->plan;
    const char *why = p->elbo                             ? "a model that is learned"
                      : p->options.parts > 1              ? "several processes, or parts of a batch"
                      : p->samples                        ? "samples from a file"
                      : model_simulator_command(n->model) ? "a simulator"
                      : p->net.arch && p->net.arch != &arch_messages
                          ? "this network architecture: it is for messages"
                          : NULL;
    if (why) return err_set(err, NAMI_EUSAGE, "open sizes and missing data are not for %s", why);
    if (p->options.missing >= 1)
        return err_set(err, NAMI_EUSAGE, "missing must be a fraction below 1, not %g",
                       p->options.missing);
    if (n->inverse->nlatent == n->inverse->nexact)
        return err_set(err, NAMI_EUSAGE,
                       "all latents are integrated out exactly, for data of any size: no network "
                       "is needed");
    return 0;
}

static int make_all(struct designs *d, int threads, nami_err *err)
{
    int rc = network_make(d->first, 0, NULL, threads, err);
    for (int i = 0; i < d->n && !rc; i++) {
        rc = network_make(&d->design[i].net, 0, NULL, threads, err);
        if (!d->first->kinds->fixed) { /* what was gathered is in the table */
            qnet_free(&d->design[i].net.q);
            d->design[i].net.q = (struct qnet){0};
        }
    }
    if (!d->first->kinds->fixed) {
        qnet_free(&d->first->q);
        d->first->q = (struct qnet){0};
    }
    return rc;
}

int designs_make(struct designs **out, struct network *first, int threads, nami_err *err)
{
    struct designs *d = *out = new_array(struct designs, 1);
    if (!d) return err_nomem(err);
    d->first = first;
    d->n = first->plan.options.designs - 1;
    d->seed = first->plan.train.seed;
    int rc = check(first, err), again = first->kinds != NULL;
    if (rc) return rc;
    if (!(d->design = new_array(struct design, d->n + 1))) return err_nomem(err);
    if (!again) { /* else it was read from a file, and is settled */
        first->kinds = &first->own_kinds;
        first->kinds->gaps = first->plan.options.missing > 0;
        first->plan.net.arch = &arch_messages;
        first->plan.options.net = arch_messages.name;
    }
    rc = open_ranges_make(&d->open, first->plan.options.open, model_first_data(first->model),
                          &first->plan, &first->mem, err);
    if (!rc && !again) rc = choose_mode(d, err);
    if (!rc && !again) rc = settle(first, err);
    for (int i = 0; i < d->n && !rc; i++) rc = draw_design(d, i, err);
    if (!rc && !again) rc = find_crossed(d, err);
    if (!rc && !again) {
        rc = make_all(d, threads, err);
        kinds_fix(first->kinds);
    }
    for (int i = 0; i < d->n && !rc && again; i++)
        rc = network_make(&d->design[i].net, 0, NULL, threads, err);
    return rc || again ? rc : make_all(d, threads, err);
}

/* ---- weights ------------------------------------------------------------------------ */

static const struct block *find_block(const struct qnet *q, const char *name)
{
    for (size_t i = 0; i < q->block.n; i++)
        if (!strcmp(q->block.a[i].name, name)) return &q->block.a[i];
    return NULL;
}

static size_t num_weights(const struct block *b)
{
    return ((size_t)b->layer->in + 1) * (size_t)b->layer->out;
}

/* Where the weights of a layer stand in the first trainer; those that it does not know are added.
 */
static int find_place(struct designs *d, const struct block *b, size_t *at)
{
    const struct block *old = find_block(&d->first->q, b->name);
    for (size_t i = 0; i < d->further.n && !old; i++)
        if (!strcmp(d->further.a[i].block->name, b->name)) {
            *at = d->further.a[i].at;
            return 0;
        }
    *at = old ? old->layer->w : d->first->q.prog.nparam + d->more;
    if (old) return 0;
    d->more += num_weights(b);
    return vec_push(&d->further, ((struct further){b, *at}));
}

static int find_places(struct designs *d, struct design *x)
{
    for (size_t i = 0; i < x->net.q.block.n; i++) {
        const struct block *b = &x->net.q.block.a[i];
        struct place p = {b->layer->w, 0, num_weights(b)};
        if (find_place(d, b, &p.to) || vec_push(&x->place, p)) return NAMI_ENOMEM;
    }
    x->term = raw_array(int, x->net.q.num_loss_terms + 1);
    for (int i = 0; x->term && i < x->net.q.num_loss_terms; i++) {
        x->term[i] = -1;
        for (int k = 0; k < d->first->q.num_loss_terms; k++)
            if (!strcmp(d->first->q.loss_term[k].name, x->net.q.loss_term[i].name)) x->term[i] = k;
    }
    return x->term ? 0 : NAMI_ENOMEM;
}

int designs_start(struct designs *d, struct trainer *t, int batch, int threads, nami_err *err)
{
    int rc = 0;
    for (int i = 0; i < d->n; i++)
        if (find_places(d, &d->design[i])) return err_nomem(err);
    rc = trainer_make_first(t, &d->first->q, d->more, batch, threads, err);
    for (size_t i = 0; i < d->further.n && !rc; i++)
        if (trainer_add_layer(t, d->further.a[i].at, num_weights(d->further.a[i].block)))
            rc = err_nomem(err);
    for (int i = 0; i < d->n && !rc; i++)
        rc = trainer_make_other(&d->design[i].t, &d->design[i].net.q, t, err);
    for (int i = d->n - 1; i >= 0 && !rc; i--) /* further weights start as in their first design */
        for (size_t k = 0; k < d->design[i].place.n; k++) {
            const struct place *p = &d->design[i].place.a[k];
            if (p->to >= d->first->q.prog.nparam)
                memcpy(t->param + p->to, d->design[i].t.param + p->from, sizeof(float) * p->n);
        }
    return rc;
}

int designs_each_weight(const struct designs *d,
                        int (*each)(void *arg, const char *name, int num_dims, const size_t *dim,
                                    size_t at, nami_err *err),
                        void *arg, nami_err *err)
{
    int rc = 0;
    for (size_t i = 0; i < d->further.n && !rc; i++)
        rc = block_each_weight(d->further.a[i].block, d->further.a[i].at, each, arg, err);
    return rc;
}

int designs_take_weights(const struct designs *d, const struct network *n, float *param,
                         nami_err *err)
{
    struct weights_from x = {n, param};
    return designs_each_weight(d, network_take_weight, &x, err);
}

/* ---- losses ------------------------------------------------------------------------- */

/* The design of a step, or of a validation batch: NULL is the first. */
static struct design *design_at(const struct designs *d, uint64_t step)
{
    uint64_t i = step % (uint64_t)(d->n + 1);
    return i ? &d->design[i - 1] : NULL;
}

/* Weights to a design's trainer; its losses back. */
static void give(struct design *x, const struct trainer *t)
{
    for (size_t k = 0; k < x->place.n; k++) {
        const struct place *p = &x->place.a[k];
        memcpy(x->t.param + p->from, t->param + p->to, sizeof(float) * p->n);
    }
}

static void take(const struct design *x, struct trainer *t)
{
    memset(t->loss, 0, sizeof *t->loss * (size_t)t->num_loss_terms);
    for (int i = 0; i < x->t.num_loss_terms; i++)
        if (x->term[i] >= 0) t->loss[x->term[i]] += x->t.loss[i];
    t->total = x->t.total;
}

int designs_gradient(struct designs *d, struct trainer *t, uint64_t step, const struct batch *b)
{
    /* in another order each time, so that no design always follows the same one */
    uint64_t n = (uint64_t)d->n + 1, round = step / n, at = step % n;
    struct rng rng;
    rng_init(&rng, d->seed ^ 0x726f756e64, round);
    struct design *x = design_at(d, at + rng_below(&rng, (uint32_t)n));
    memset(t->grad + d->first->q.prog.nparam, 0, sizeof(float) * d->more);
    if (!x) return trainer_gradient(t, b);
    give(x, t);
    int rc = trainer_gradient(&x->t, b);
    if (rc) return rc;
    take(x, t);
    memset(t->grad, 0, sizeof(float) * t->nparam);
    for (size_t k = 0; k < x->place.n; k++) {
        const struct place *p = &x->place.a[k];
        memcpy(t->grad + p->to, x->t.grad + p->from, sizeof(float) * p->n);
    }
    t->norm = x->t.norm;
    return 0;
}

int designs_loss(struct designs *d, struct trainer *t, int k, const struct batch *b)
{
    struct design *x = design_at(d, (uint64_t)k);
    if (!x) return trainer_loss(t, b);
    give(x, t);
    int rc = trainer_loss(&x->t, b);
    if (!rc) take(x, t);
    return rc;
}
