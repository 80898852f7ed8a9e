/* exact_states.h: a discrete network against the enumeration of all its states, for tests. */
#ifndef TESTS_EXACT_STATES_H
#define TESTS_EXACT_STATES_H

#include "infer/exact.h"
#include "model_at.h"

static double worst;

static inline void close_to(double got, double want)
{
    double d = got == want ? 0 : fabs(got - want) / fmax(1, fabs(want));
    if (d > worst) worst = d;
    if (!(d <= 1e-10)) fail_msg("%.17g is not %.17g", got, want);
}

static inline void say(const char *what)
{
    print_message("%s: largest difference %.1e\n", what, worst);
    worst = 0;
}

static inline void tree_of(const struct dnet *d, const int *state, size_t most, struct ctree *t)
{
    nami_err err = {0};
    if (ctree_new(d, state, most, t, &err)) fail_msg("%s", err.msg);
}

static inline void calibrate(struct ctree *t)
{
    nami_err err = {0};
    if (ctree_calibrate(t, &err)) fail_msg("%s", err.msg);
}

/* ---- all states --------------------------------------------------------------------- */

static inline double log_p(const struct dnet *d, const int *x)
{
    double s = 0;
    for (int v = 0; v < d->n; v++) {
        size_t at = 0;
        for (int k = 0; k < d->t[v].n; k++)
            at = at * (size_t)d->card[d->t[v].var[k]] + (size_t)x[d->t[v].var[k]];
        s += d->t[v].logp[at];
    }
    return s;
}

/* The next states of what is latent; 0 behind the last. */
static inline int next(const struct dnet *d, const int *state, int *x)
{
    int v = d->n - 1;
    for (; v >= 0; v--) {
        if (state[v] >= 0) continue;
        if (++x[v] < d->card[v]) return 1;
        x[v] = 0;
    }
    return 0;
}

struct sums { /* of exp(log p - shift) over all states */
    double total, entropy, best;
    double *one, *pair; /* (variable, state); (variables, states) */
};

enum { CARD = 4 };

static inline double sum_up(const struct dnet *d, const int *state, struct sums *s)
{
    int n = d->n, *x = calloc((size_t)n, sizeof *x);
    s->one = calloc((size_t)(n * CARD), sizeof(double));
    s->pair = calloc((size_t)(n * n * CARD * CARD), sizeof(double));
    s->total = s->entropy = 0;
    s->best = -INFINITY;
    for (int v = 0; v < n; v++) x[v] = state[v] < 0 ? 0 : state[v];
    do {
        double lp = log_p(d, x), p = exp(lp);
        s->total += p;
        if (p > 0) s->entropy -= p * lp;
        s->best = fmax(s->best, lp);
        for (int u = 0; u < n; u++) {
            s->one[u * CARD + x[u]] += p;
            for (int v = 0; v < n; v++) s->pair[((u * n + v) * CARD + x[u]) * CARD + x[v]] += p;
        }
    } while (next(d, state, x));
    for (int i = 0; i < n * CARD && s->total > 0; i++) s->one[i] /= s->total;
    for (int i = 0; i < n * n * CARD * CARD && s->total > 0; i++) s->pair[i] /= s->total;
    s->entropy = s->entropy / s->total + log(s->total);
    free(x);
    return s->total;
}

static inline void joints_are(const struct ctree *t, const struct sums *s, int pairs)
{
    const struct dnet *d = t->net;
    nami_err err = {0};
    for (int u = 0; u < d->n; u++)
        for (int v = 0; v < d->n && pairs; v++) {
            double p[CARD * CARD];
            if (u == v) continue;
            if (ctree_joint(t, (int[]){u, v}, 2, p, &err)) fail_msg("%s", err.msg);
            for (int i = 0; i < d->card[u]; i++)
                for (int j = 0; j < d->card[v]; j++)
                    close_to(p[i * d->card[v] + j],
                             s->pair[((u * d->n + v) * CARD + i) * CARD + j]);
        }
}

/* Families agree with the marginals of all their members. */
static inline void families_agree(const struct ctree *t)
{
    const struct dnet *d = t->net;
    nami_err err = {0};
    for (int v = 0; v < d->n; v++) {
        const struct dtable *f = &d->t[v];
        if (f->size > 100000) continue;
        double *p = calloc(f->size, sizeof *p);
        if (ctree_joint(t, f->var, f->n, p, &err)) fail_msg("%s", err.msg);
        size_t step = 1;
        for (int k = f->n - 1; k >= 0; k--) {
            int card = d->card[f->var[k]];
            double *own = calloc((size_t)card, sizeof *own),
                   *sum = calloc((size_t)card, sizeof *sum);
            ctree_marginal(t, f->var[k], own);
            for (size_t i = 0; i < f->size; i++) sum[i / step % (size_t)card] += p[i];
            for (int i = 0; i < card; i++) close_to(sum[i], own[i]);
            step *= (size_t)card;
            free(own);
            free(sum);
        }
        free(p);
    }
}

static inline void is_exact(const struct dnet *d, const int *state, int pairs)
{
    struct ctree t;
    struct sums s;
    nami_err err = {0};
    double logp;
    int *best = calloc((size_t)d->n, sizeof *best);
    tree_of(d, state, CTREE_MOST, &t);
    if (sum_up(d, state, &s) > 0) {
        if (ctree_mpe(&t, best, &logp, &err)) fail_msg("%s", err.msg);
        close_to(logp, s.best);
        close_to(log_p(d, best), s.best);
        for (int v = 0; v < d->n; v++) assert_true(state[v] < 0 || best[v] == state[v]);
        calibrate(&t);
        close_to(t.log_evidence, log(s.total));
        for (int v = 0; v < d->n; v++) {
            double p[CARD];
            ctree_marginal(&t, v, p);
            for (int i = 0; i < d->card[v]; i++) close_to(p[i], s.one[v * CARD + i]);
        }
        joints_are(&t, &s, pairs);
        families_agree(&t);
        close_to(ctree_entropy(&t), s.entropy);
    } else {
        assert_int_equal(ctree_calibrate(&t, &err), NAMI_EINPUT);
        assert_int_equal(ctree_mpe(&t, best, &logp, &err), NAMI_EINPUT);
    }
    free(best);
    free(s.one);
    free(s.pair);
    ctree_free(&t);
}

#endif
