/* net_at.h: inference networks from texts of models, their weights, values and gradients, for
   tests. */
#ifndef TESTS_NET_AT_H
#define TESTS_NET_AT_H

#include "base/rng.h"
#include "model/model.h"
#include "model/problem.h"
#include "model_at.h"
#include "net/qnet.h"

struct net_at {
    struct model m;
    struct inversion v;
    struct inverse *h;
    struct qnet q;
};

/* From n->m, which is built. */
static inline int net_try(struct net_at *n, const nami_options *invert,
                          const struct net_options *opt, nami_err *err)
{
    int rc = inversion_init(&n->v, n->m.ir.bn, invert, err);
    if (!rc) rc = inversion_run(&n->v, &n->h, err);
    return rc ? rc : qnet_make(&n->q, &n->m, n->h, opt, NULL, 1, err);
}

static inline void net_drop(struct net_at *n)
{
    qnet_free(&n->q);
    inverse_free(n->h);
    inversion_fini(&n->v);
    model_fini(&n->m);
}

/* The text of a model for an architecture: without its embedding, which stands last, for messages. */
static inline const char *text_for(const struct arch *arch, const char *text, char *room, size_t n)
{
    const char *end = strstr(text, "embed");
    if (arch != &arch_messages || !end) return text;
    assert_true((size_t)(end - text) < n);
    memcpy(room, text, (size_t)(end - text));
    room[end - text] = 0;
    return room;
}

/* 0, and nothing is left, if messages do not suit the model. */
static inline int net_suits(struct net_at *n, const char *text, const char *data,
                            const nami_options *invert, const struct net_options *opt)
{
    nami_err err = {0};
    *n = (struct net_at){0};
    build(&n->m, text, data);
    if (!net_try(n, invert, opt, &err)) return 1;
    if (opt->arch != &arch_messages || !strstr(err.msg, "messages do not suit this model"))
        fail_msg("%s\n%s", text, err.msg);
    net_drop(n);
    return 0;
}

static inline void net_at(struct net_at *n, const char *text, const char *data,
                          const nami_options *invert, const struct net_options *opt)
{
    if (!net_suits(n, text, data, invert, opt)) fail_msg("%s\nmessages do not suit it", text);
}

static inline double gauss(struct rng *r)
{
    double u = 1 - rng_unit(r), v = rng_unit(r);
    return sqrt(-2 * log(u)) * cos(2 * 3.14159265358979323846 * v);
}

/* Weights so large that hidden units are curved and outputs matter. */
static inline double *random_weights(const struct qnet *q, uint64_t seed)
{
    double *w = calloc(q->prog.nparam + 1, sizeof *w);
    struct rng r;
    assert_non_null(w);
    rng_init(&r, seed, 5);
    for (size_t i = 0; i < q->block.n; i++) {
        const struct dense *d = q->block.a[i].layer;
        size_t nw = (size_t)d->in * (size_t)d->out;
        double s = (d->act == ACT_LINEAR ? 0.6 : 1.2) / sqrt(d->in > 0 ? d->in : 1);
        for (size_t k = 0; k < nw; k++) w[d->w + k] = s * gauss(&r);
        for (int k = 0; k < d->out; k++) w[d->w + nw + (size_t)k] = 0.4 * gauss(&r);
    }
    return w;
}

/* A workspace with draws of the model in its first rows. */
static inline void exec_at(struct exec *x, const struct qnet *q, int lanes, unsigned flags,
                           const void *param)
{
    nami_err err = {0};
    double *at = draw(q->model, (size_t)lanes, 1);
    if (exec_init(x, &q->prog, lanes, q->num_loss_terms, flags, &err)) fail_msg("%s", err.msg);
    x->lanes = lanes;
    x->param = param;
    for (int r = 0; r < q->model->ir.num_rows; r++)
        memcpy(x->row + (size_t)r * (size_t)x->cap, at + (size_t)r * (size_t)lanes,
               sizeof *at * (size_t)lanes);
    free(at);
}

/* After exec_run: derivatives of sum of weight * total, as the program's numbers are. */
static inline void gradient_at(struct exec *x, const struct qnet *q, void *grad)
{
    exec_back(x);
    for (size_t i = 0; i < q->block.n; i++) {
        const struct dense *d = q->block.a[i].layer;
        x->product->weights(d, &x->units, 1, 0, d->out, grad);
    }
}

#endif
