/* test_train.c: training gives the same numbers for any number of threads, correct gradients
   and Adam updates; handles losses that are not finite; follows the learning-rate schedule;
   writes logs. */
#include <jansson.h>
#include <unistd.h>

#include "base/file.h"
#include "net_at.h"
#include "train/log.h"
#include "train/schedule.h"

static const char zoo[] =
    "model { m ~ normal(1, 2)\n g ~ gamma(2, 1.5)\n b ~ beta(2, 3)\n p[1:3] ~ dirichlet(c(1, 2, "
    "3))\n"
    "v[1:2] ~ multi_normal(c(m, 0.5), diag(c(1.5, 0.5)))\n k ~ categorical(p)\n c ~ poisson(g)\n"
    "y1 ~ normal(v[1] + v[2], g)\n y2 ~ poisson(g * k)\n y3 ~ binomial(10, b)\n"
    "y4 ~ poisson(c + 0.5)\n for (i in 1:5) { s[i] ~ normal(m, b) } }\n"
    "observe y1, y2, y3, y4, s\n embed s { conv(2, 2, tanh); dense(3) }";
static const char pair[] = "model { z ~ normal(1, 2)\n y ~ normal(z, 1) }\n observe y";

static const struct net_options small = {
    .nhidden = 2, .hidden = {24, 16}, .act = ACT_TANH, .skip = -1, .seed = 5};

static void trainer_at(struct trainer *t, struct net_at *n, int batch, int threads)
{
    nami_err err = {0};
    if (trainer_make(t, &n->q, NULL, NULL, batch, threads, &err)) fail_msg("%s", err.msg);
}

/* ---- threads ------------------------------------------------------------------------ */

static void same(const char *what, const float *a, const float *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (memcmp(&a[i], &b[i], sizeof *a) != 0)
            fail_msg("%s: number %zu is %.9g, not %.9g", what, i, (double)b[i], (double)a[i]);
}

static void check_threads(struct net_at *n, int batch, int points)
{
    static const int threads[] = {1, 2, 3, 5};
    enum { STEPS = 30, DRAWS = 256 };
    struct trainer t[4];
    double *x = draw(&n->m, DRAWS, 1);
    for (int i = 0; i < 4; i++) {
        char what[100];
        snprintf(what, sizeof what, "batch %d, %d threads", batch, threads[i]);
        trainer_at(&t[i], n, batch, threads[i]);
        for (int s = 0; s < STEPS; s++) {
            struct batch b = {.seed = 11, .first = (uint64_t)s * trainer_stride(&t[i])};
            if (points)
                b = (struct batch){
                    .x = x, .n = DRAWS, .first = (uint64_t)(s % (DRAWS - batch + 1))};
            trainer_gradient(&t[i], &b);
            trainer_apply(&t[i], 1e-2, 5);
        }
        if (!isfinite(t[i].total)) fail_msg("%s: the loss is %g", what, t[i].total);
        if (!i) continue;
        same(what, t[0].param, t[i].param, t[0].nparam);
        same(what, t[0].m, t[i].m, t[0].nparam);
        same(what, t[0].v, t[i].v, t[0].nparam);
        assert_memory_equal(t[0].loss, t[i].loss, sizeof *t->loss * (size_t)n->q.num_loss_terms);
        assert_true(t[0].total == t[i].total && t[0].norm == t[i].norm);
    }
    for (int i = 0; i < 4; i++) trainer_free(&t[i]);
    free(x);
}

static void test_threads(void **state)
{
    (void)state;
    static const int batch[] = {8, 37, 250};
    for (int kind = 0; net_archs[kind]; kind++) {
        struct net_options o = small;
        struct net_at n;
        o.arch = net_archs[kind];
        char room[1000];
        net_at(&n, text_for(o.arch, zoo, room, sizeof room), NULL, NULL, &o);
        for (int i = 0; i < 3; i++) check_threads(&n, batch[i], (i + kind + 1) % 2);
        net_drop(&n);
    }
}

/* Large enough that a layer's weights are cut into several tasks. */
static void test_large(void **state)
{
    (void)state;
    struct net_options o = small;
    struct net_at n;
    o.arch = &arch_mlp;
    o.hidden[0] = o.hidden[1] = 300;
    net_at(&n, pair, NULL, NULL, &o);
    check_threads(&n, 37, 0);
    net_drop(&n);
}

/* ---- gradients ---------------------------------------------------------------------- */

static void check_gradient(struct net_at *n, int batch)
{
    size_t np = n->q.prog.nparam, stride = ((size_t)batch + 7) / 8 * 8;
    struct trainer t;
    struct exec e;
    nami_err err = {0};
    double *w = random_weights(&n->q, 2), *g = calloc(np, sizeof *g), num = 0, den = 0, loss = 0;
    double *x = calloc((size_t)n->m.ir.num_rows * stride, sizeof *x),
           *weight = calloc(stride, sizeof *x);
    float *kept = calloc(np, sizeof *kept);
    assert_true(g && x && weight && kept);
    trainer_at(&t, n, batch, 2);
    for (size_t i = 0; i < np; i++) w[i] = t.param[i] = (float)w[i];
    if (model_simulate(&n->m, 9, 80, stride, 1, x, &err)) fail_msg("%s", err.msg);
    if (exec_init(&e, &n->q.prog, batch, n->q.num_loss_terms, EXEC_GRAD, &err))
        fail_msg("%s", err.msg);
    e.lanes = batch;
    e.param = w;
    e.weight[0] = weight;
    for (int b = 0; b < batch; b++) weight[b] = -1.0 / batch;
    for (int r = 0; r < n->m.ir.num_rows; r++)
        memcpy(e.row + (size_t)r * (size_t)e.cap, x + (size_t)r * stride,
               sizeof *x * (size_t)batch);
    exec_run(&e);
    gradient_at(&e, &n->q, g);
    for (int b = 0; b < batch; b++) loss -= e.total[b] / batch;
    trainer_gradient(&t, &(struct batch){.seed = 9, .first = 80});
    if (!(fabs(t.total - loss) < 1e-4 * fmax(1, fabs(loss))))
        fail_msg("batch %d: the loss is %.9g, in double %.9g", batch, t.total, loss);
    for (size_t i = 0; i < np; i++) {
        num += (t.grad[i] - g[i]) * (t.grad[i] - g[i]);
        den += g[i] * g[i];
    }
    if (!(sqrt(num) < 1e-4 * sqrt(den)))
        fail_msg("batch %d: the gradient differs by %g of its norm", batch, sqrt(num / den));
    assert_true(fabs(t.norm - sqrt(den)) < 1e-4 * sqrt(den));
    /* the parts' losses */
    for (int k = 0; k < n->q.num_loss_terms; k++) {
        double sum = 0;
        for (int b = 0; b < batch; b++) sum -= e.by_tag[k * e.cap + b] / batch;
        assert_true(fabs(t.loss[k] - sum) < 1e-4 * fmax(1, fabs(sum)));
    }
    /* the same draws as points, from the middle of others; the loss alone */
    double total = t.total, norm = t.norm;
    memcpy(kept, t.grad, sizeof *kept * np);
    trainer_gradient(&t, &(struct batch){.x = x, .n = stride});
    same("as points", kept, t.grad, np);
    assert_true(t.total == total && t.norm == norm);
    trainer_loss(&t, &(struct batch){.seed = 9, .first = 80});
    assert_true(t.total == total);
    same("after the loss alone", kept, t.grad, np);
    trainer_free(&t);
    exec_fini(&e);
    free(w);
    free(g);
    free(x);
    free(weight);
    free(kept);
}

static void test_gradient(void **state)
{
    (void)state;
    static const int batch[] = {1, 8, 37, 101};
    for (int kind = -1; kind < 0 || net_archs[kind]; kind++) {
        struct net_options o = small;
        struct net_at n;
        o.arch = kind < 0 ? NULL : net_archs[kind];
        char room[1000];
        net_at(&n, text_for(o.arch, zoo, room, sizeof room), NULL, NULL, &o);
        for (int i = 0; i < 4; i++) check_gradient(&n, batch[i]);
        net_drop(&n);
    }
}

/* A batch of 12 is worked on as 16: what the last four are has no influence. */
static void test_fill(void **state)
{
    (void)state;
    enum { DRAWS = 40000 };
    struct net_options o = small;
    struct net_at n;
    int found = 0;
    net_at(&n, "model { z ~ gamma(0.01, 1)\n y ~ normal(z, 1) }\n observe y", NULL, NULL, &o);
    double *x = draw(&n.m, DRAWS, 1), *z = x + (size_t)row_of(&n.m, "z", 0) * DRAWS;
    for (int i = 0; i < DRAWS; i++) {
        struct trainer t;
        int first = i / 8 * 8, before = 0;
        if (z[i] > 0 || i % 8 == 0) continue;
        for (int k = first; k < i; k++) before += z[k] == 0;
        if (before) continue;
        trainer_at(&t, &n, i % 8, 1);
        trainer_gradient(&t, &(struct batch){.seed = 7, .first = (uint64_t)first});
        if (!isfinite(t.total) || !isfinite(t.norm))
            fail_msg("draw %d is 0: the batch before has loss %g, norm %g", i, t.total, t.norm);
        trainer_free(&t);
        if (++found == 3) break;
    }
    assert_true(found > 0);
    free(x);
    net_drop(&n);
}

/* Points are what they were, also where float would not hold them: near the end of a support, far
   from 0, very small. */
static void test_exact_points(void **state)
{
    (void)state;
    enum { POINTS = 40, BATCH = 10 };
    struct net_at n;
    struct trainer t;
    struct source *s;
    struct batch b;
    nami_err err = {0};
    net_at(&n,
           "model { b ~ beta(0.3, 0.3)\n g ~ gamma(0.3, 1)\n z ~ normal(0, 1)\n"
           "y ~ normal(1000000 + 0.01 * (z + b + g), 0.01) }\n observe y",
           NULL, NULL, &small);
    double *x = draw(&n.m, POINTS, 1), *mine = draw(&n.m, POINTS, 1), at[64];
    x[row_of(&n.m, "b", 0) * POINTS + 3] = 1 - 1e-12;
    x[row_of(&n.m, "g", 0) * POINTS + 4] = 1e-60;
    memcpy(mine, x, sizeof *x * (size_t)n.m.ir.num_rows * POINTS);
    if (source_points(&n.m, 5, BATCH, BATCH, POINTS, x, &s, &err)) fail_msg("%s", err.msg);
    trainer_at(&t, &n, BATCH, 1);
    assert_true(n.m.ir.num_rows * BATCH <= 64);
    for (uint64_t step = 0; step < 3; step++) {
        if (source_batch(s, step, &b, &err)) fail_msg("%s", err.msg);
        for (int r = 0; r < n.m.ir.num_rows; r++)
            for (int i = 0; i < BATCH; i++) at[r * BATCH + i] = mine[r * POINTS + b.index[i]];
        trainer_gradient(&t, &b);
        double total = t.total, norm = t.norm;
        trainer_gradient(&t, &(struct batch){.x = at, .n = BATCH});
        assert_true(isfinite(t.total));
        if (t.total != total || t.norm != norm)
            fail_msg("the loss is %.9g from the source, %.9g of its points", total, t.total);
    }
    trainer_free(&t);
    source_free(s);
    free(mine);
    net_drop(&n);
}

/* Fewer points than a batch, of points and of draws: as a batch of that size. */
static void test_count(void **state)
{
    (void)state;
    static const int count[] = {1, 7, 8, 33, 70};
    enum { BATCH = 71, STRIDE = 72 };
    struct net_at n;
    struct trainer all, some;
    net_at(&n, zoo, NULL, NULL, &small);
    double *x = draw(&n.m, STRIDE, 1);
    trainer_at(&all, &n, BATCH, 2);
    for (int i = 0; i < 10; i++) {
        int c = count[i / 2];
        double num = 0, den = 0;
        struct batch b = {.seed = 7, .count = c}, whole = {.seed = 7};
        if (i % 2) b.x = whole.x = x, b.n = whole.n = STRIDE;
        trainer_at(&some, &n, c, 1);
        trainer_gradient(&all, &(struct batch){.seed = 1}); /* something to forget */
        trainer_gradient(&all, &b);
        trainer_gradient(&some, &whole);
        for (size_t k = 0; k < all.nparam; k++) {
            double d = (double)all.grad[k] - (double)some.grad[k];
            num += d * d, den += (double)some.grad[k] * (double)some.grad[k];
        }
        if (!(num < 1e-8 * den && fabs(all.total - some.total) < 1e-5 * fabs(some.total)))
            fail_msg("%d points of %d: loss %g, not %g; gradients differ by %g", c, BATCH,
                     all.total, some.total, sqrt(num / den));
        trainer_free(&some);
    }
    trainer_free(&all);
    free(x);
    net_drop(&n);
}

/* ---- Adam --------------------------------------------------------------------------- */

static void test_adam(void **state)
{
    (void)state;
    enum { STEPS = 25 };
    struct net_at n;
    struct trainer t;
    const double clip[] = {0, 0.5};
    net_at(&n, zoo, NULL, NULL, &small);
    size_t np = n.q.prog.nparam;
    double *m = calloc(np, sizeof *m), *v = calloc(np, sizeof *v), *p = calloc(np, sizeof *p);
    assert_true(m && v && p);
    for (int c = 0; c < 2; c++) {
        double cut = 0;
        trainer_at(&t, &n, 20, 2);
        for (size_t i = 0; i < np; i++) m[i] = v[i] = 0, p[i] = t.param[i];
        for (int s = 1; s <= STEPS; s++) {
            double rate = 0.01 / s, norm = 0;
            trainer_gradient(&t, &(struct batch){.seed = 3, .first = (uint64_t)s * 24});
            for (size_t i = 0; i < np; i++) norm += (double)t.grad[i] * (double)t.grad[i];
            assert_true(fabs(sqrt(norm) - t.norm) < 1e-6 * t.norm);
            double scale = clip[c] > 0 && t.norm > clip[c] ? clip[c] / t.norm : 1;
            cut += scale < 1;
            for (size_t i = 0; i < np; i++) {
                double g = scale * t.grad[i];
                m[i] = 0.9 * m[i] + 0.1 * g;
                v[i] = 0.999 * v[i] + 0.001 * g * g;
                p[i] -=
                    rate * (m[i] / (1 - pow(0.9, s))) / (sqrt(v[i] / (1 - pow(0.999, s))) + 1e-8);
            }
            trainer_apply(&t, rate, clip[c]);
        }
        assert_int_equal(t.step, STEPS);
        assert_true(clip[c] > 0 ? cut > STEPS / 2 : cut == 0);
        for (size_t i = 0; i < np; i++)
            if (!(fabs(p[i] - t.param[i]) < 2e-5))
                fail_msg("weight %zu of %zu is %g, not %g", i, np, (double)t.param[i], p[i]);
        trainer_free(&t);
    }
    free(m);
    free(v);
    free(p);
    net_drop(&n);
}

/* ---- the loop ----------------------------------------------------------------------- */

static const struct train_options quick = {.steps = 40,
                                           .batch = 16,
                                           .rate = 0.01,
                                           .clip = 10,
                                           .check = 8,
                                           .valid = 64,
                                           .patience = 3,
                                           .seed = 6};

static void train_at(struct train *x, struct net_at *n, const struct train_options *o)
{
    struct source *s;
    nami_err err = {0};
    if (source_model(&n->m, o->seed, o->batch, o->valid, &s, &err) ||
        train_make(x, &n->q, NULL, s, o, 1, &err))
        fail_msg("%s", err.msg);
}

static void train_points(struct train *x, struct net_at *n, const struct train_options *o,
                         size_t npoint, double *at)
{
    struct source *s;
    nami_err err = {0};
    if (source_points(&n->m, o->seed, o->batch, o->valid, npoint, at, &s, &err) ||
        train_make(x, &n->q, NULL, s, o, 1, &err))
        fail_msg("%s", err.msg);
}

static void run(struct train *x)
{
    nami_err err = {0};
    int checked;
    while (!x->done)
        if (train_step(x, &checked, &err)) fail_msg("%s", err.msg);
}

/* It learns; all its steps are those of the trainer, with the rate that was asked for. */
static void test_loop(void **state)
{
    (void)state;
    struct net_at n;
    struct train x;
    struct trainer t;
    struct train_options o = quick;
    o.steps = 400, o.cooldown = 0.5, o.check = 50, o.patience = 100;
    net_at(&n, pair, NULL, NULL, &small);
    train_at(&x, &n, &o);
    trainer_at(&t, &n, o.batch, 1);
    run(&x);
    for (int s = 0; s < o.steps; s++) {
        trainer_gradient(&t, &(struct batch){.seed = o.seed, .first = (uint64_t)s * 16});
        trainer_apply(&t, o.rate * (s > 200 ? (400 - s) / 200.0 : 1), o.clip);
    }
    same("by hand", t.param, x.t.param, t.nparam);
    assert_int_equal(x.done, TRAIN_STEPS);
    assert_int_equal(x.step, 400);
    assert_int_equal(x.history.n, 8 * (size_t)x.width);
    const double *first = x.history.a, *last = train_last(&x);
    assert_true(first[HIST_STEP] == 50 && last[HIST_STEP] == 400);
    /* the entropy of z given y: variance 1 / (1 + 1/4) */
    double entropy = 0.5 * log(2 * 3.14159265358979 * 2.718281828459045 * 0.8);
    if (!(x.best > entropy - 0.2 && x.best < entropy + 0.15 && x.best <= first[HIST_VALID]))
        fail_msg("the best loss is %g, the entropy %g", x.best, entropy);
    double best = INFINITY;
    for (size_t i = 0; i < x.history.n; i += (size_t)x.width)
        best = fmin(best, x.history.a[i + HIST_VALID]);
    assert_true(best == x.best);
    train_free(&x);
    trainer_free(&t);
    net_drop(&n);
}

/* With a rate that moves nothing, no validation is better than the first. */
static void test_plateau(void **state)
{
    (void)state;
    struct net_at n;
    struct train x;
    struct train_options o = quick;
    o.rate = 1e-30, o.steps = 1000, o.check = 2, o.valid = 16;
    net_at(&n, pair, NULL, NULL, &small);
    train_at(&x, &n, &o);
    run(&x);
    assert_int_equal(x.done, TRAIN_STALLED);
    int rows = (int)(x.history.n / (size_t)x.width);
    assert_int_equal(rows, 1 + 3 * 6); /* 0.3^6 < 1e-3 */
    for (int i = 0; i < rows; i++) {
        double want = o.rate * pow(0.3, i ? (i - 1) / 3 : 0);
        double got = x.history.a[i * x.width + HIST_RATE];
        if (!(fabs(got / want - 1) < 1e-9))
            fail_msg("the rate is %g, not %g, at validation %d", got, want, i);
    }
    train_free(&x);
    net_drop(&n);
}

/* The log has the rates that steps were made with. */
static void test_cooldown(void **state)
{
    (void)state;
    struct net_at n;
    struct train x;
    struct train_options o = quick;
    o.steps = 100, o.check = 10, o.valid = 16, o.patience = 100, o.cooldown = 0.5;
    net_at(&n, pair, NULL, NULL, &small);
    train_at(&x, &n, &o);
    run(&x);
    for (int i = 1; i <= 10; i++) {
        double want = i > 5 ? o.rate * (101 - 10 * i) / 50 : o.rate; /* of step 10 i, the last */
        double got = x.history.a[(i - 1) * x.width + HIST_RATE];
        if (!(fabs(got / want - 1) < 1e-9))
            fail_msg("the rate is %g, not %g, at validation %d", got, want, i);
    }
    train_free(&x);
    net_drop(&n);
}

/* Parts of the best validation are those of the best loss, not of the last. */
static void test_best(void **state)
{
    (void)state;
    struct net_at n;
    struct train x;
    struct train_options o = quick;
    double sum = 0;
    o.steps = 60, o.check = 3, o.valid = 16, o.patience = 100, o.cooldown = 0, o.rate = 1;
    net_at(&n, pair, NULL, NULL, &small);
    train_at(&x, &n, &o);
    assert_null(train_best(&x));
    run(&x);
    const double *best = train_best(&x);
    assert_non_null(best);
    assert_true(best != train_last(&x)); /* with such a rate */
    for (int k = HIST_PARTS; k < x.width; k++) sum += best[k];
    assert_true(fabs(sum - x.best) < 1e-9 * (1 + fabs(x.best)));
    train_free(&x);
    net_drop(&n);
}

/* ---- an end by itself ------------------------------------------------------------------ */

/* 0.5 log(2 pi e 0.8): of z given y */
static const double pair_entropy = 1.30736676;

/* Training ends when the loss has converged, long before the last step, after the rate has decayed. */
static void test_converged(void **state)
{
    (void)state;
    struct net_at n;
    struct train x;
    struct train_options o = quick;
    o.converge = 1, o.steps = 1000000, o.check = 50, o.valid = 2000, o.batch = 50, o.cooldown = 0.3;
    net_at(&n, pair, NULL, NULL, &small);
    train_at(&x, &n, &o);
    run(&x);
    assert_int_equal(x.done, TRAIN_CONVERGED);
    assert_true(x.step == x.cool_to && x.step >= 10 * 50 && x.step < 20000);
    assert_true(fabs((double)x.cool_from / (double)x.step - 0.7) < 0.01);
    double last = train_last(&x)[HIST_RATE];
    if (!(last > 0 && last < 0.02 * o.rate)) fail_msg("the last rate is %g", last);
    if (!(fabs(x.best - pair_entropy) < 0.1)) fail_msg("the best loss is %g", x.best);
    train_free(&x);
    net_drop(&n);
}

/* Few draws are soon learnt by heart: training ends then. */
static void test_few_draws(void **state)
{
    (void)state;
    enum { POINTS = 400 };
    struct net_at n;
    struct train x;
    struct train_options o = quick;
    o.converge = 1, o.steps = 1000000, o.check = 500, o.cooldown = 0.3, o.valid = 1000;
    net_at(&n, pair, NULL, NULL, &small);
    train_points(&x, &n, &o, POINTS, draw(&n.m, POINTS, 1));
    run(&x);
    assert_true(x.done == TRAIN_CONVERGED || x.done == TRAIN_STALLED);
    assert_int_equal(x.history.a[HIST_STEP], (POINTS - 32) / 16); /* an epoch, not 500 steps */
    assert_true(x.step < 20000);
    train_free(&x);
    net_drop(&n);
}

/* The rate decays by the clock, and training ends when the time is over. */
static void test_time(void **state)
{
    (void)state;
    struct net_at n;
    struct train x;
    struct train_options o = quick;
    o.converge = 1, o.steps = 1 << 30, o.check = 1 << 20, o.cooldown = 0.5, o.seconds = 0.05;
    net_at(&n, pair, NULL, NULL, &small);
    train_at(&x, &n, &o);
    run(&x);
    assert_int_equal(x.done, TRAIN_TIME);
    assert_true(x.elapsed >= 0.05 && x.history.n == (size_t)x.width && isfinite(x.best));
    assert_true(schedule_rate(&x, x.step) == 0 && schedule_total(&x) == (double)x.step);
    x.elapsed = 0.0375;
    assert_true(fabs(schedule_rate(&x, x.step) / o.rate - 0.5) < 1e-9);
    train_free(&x);
    net_drop(&n);
}

/* ---- what is not finite ------------------------------------------------------------- */

static int all_finite(const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(x[i])) return 0;
    return 1;
}

/* Every batch has a draw of exactly 0, where the density is infinite. */
static void test_never_finite(void **state)
{
    (void)state;
    struct net_at n;
    struct train x;
    nami_err err = {0};
    struct train_options o = quick;
    int rc = 0, checked, steps = 0;
    o.batch = 2400, o.steps = 1000, o.check = 7, o.patience = 100;
    net_at(&n,
           "model { w ~ normal(0, 1)\n nearly_0 ~ gamma(0.0075, 1)\n y ~ normal(w + nearly_0, 1) "
           "}\n observe y",
           NULL, NULL, &(struct net_options){.nhidden = 1, .hidden = {8}, .skip = -1});
    train_at(&x, &n, &o);
    while (!rc && steps < 200) {
        rc = train_step(&x, &checked, &err);
        steps++;
    }
    assert_int_equal(rc, NAMI_EINPUT);
    if (!strstr(err.msg, "nearly_0") || !strstr(err.msg, "not finite")) fail_msg("%s", err.msg);
    assert_int_equal(steps, 50);
    assert_int_equal(x.skipped, 50);
    assert_true(all_finite(x.t.param, x.t.nparam) && all_finite(x.best_param, x.t.nparam));
    assert_true(fabs(x.rate / (0.01 * pow(0.3, 4)) - 1) < 1e-9);
    train_free(&x);
    net_drop(&n);
}

/* Some batches cannot be used, of those for validation too: the others are. */
static void test_sometimes_finite(void **state)
{
    (void)state;
    enum { POINTS = 400, BATCH = 8 };
    struct net_at n;
    struct train x;
    struct train_options o = quick;
    o.batch = BATCH, o.steps = 220, o.check = 20, o.valid = 40, o.rate = 0.02;
    net_at(&n, "model { z ~ gamma(0.5, 1)\n y ~ normal(3 * z, 0.1) }\n observe y", NULL, NULL,
           &small);
    double *at = draw(&n.m, POINTS, 1), *z = at + (size_t)row_of(&n.m, "z", 0) * POINTS;
    z[17] = 0;         /* log q is infinite */
    z[130] = -1;       /* log q is -infinite */
    z[POINTS - 3] = 0; /* two of validation */
    z[POINTS - 20] = -2;
    train_points(&x, &n, &o, POINTS, at);
    run(&x);
    assert_int_equal(x.done, TRAIN_STEPS);
    assert_true(x.skipped >= 5 && x.skipped <= 10 && x.falls == 0);
    assert_true(all_finite(x.t.param, x.t.nparam));
    const double *first = x.history.a, *last = train_last(&x);
    for (size_t i = 0; i < x.history.n; i++) assert_true(isfinite(x.history.a[i]));
    if (!(isfinite(x.best) && last[HIST_VALID] < first[HIST_VALID] - 0.2 &&
          x.best < first[HIST_VALID]))
        fail_msg("the loss goes from %g to %g, the best is %g", first[HIST_VALID], last[HIST_VALID],
                 x.best);
    train_free(&x);
    net_drop(&n);
}

/* Draws that leave their support too often are refused before. */
static void test_bad_prior(void **state)
{
    (void)state;
    struct net_at n = {0};
    nami_err err = {0};
    build(&n.m, "model { nearly_0 ~ gamma(0.003, 1)\n y ~ normal(nearly_0, 1) }\n observe y", NULL);
    assert_int_equal(net_try(&n, NULL, &small, &err), NAMI_EINPUT);
    assert_non_null(strstr(err.msg, "nearly_0"));
    net_drop(&n);
}

/* ---- logs --------------------------------------------------------------------------- */

static void test_log(void **state)
{
    (void)state;
    struct net_at n;
    struct train x;
    struct str csv = {0}, json = {0}, file = {0};
    char path[] = "/tmp/nami_log_XXXXXX.json";
    nami_err err = {0};
    net_at(&n,
           "model { for (i in 1:2) { for (j in 1:2) { z[i,j] ~ normal(0, 1) } }\n"
           "y ~ normal(z[1,1] + z[2,2], 1) }\n observe y",
           NULL, NULL, &small);
    train_at(&x, &n, &quick);
    train_log_csv(&x, &csv);
    train_log_json(&x, &json);
    json_t *none = json_loads(json.s, 0, NULL); /* nothing yet */
    assert_true(json_is_array(none) && json_array_size(none) == 0);
    json_decref(none);
    csv.n = json.n = 0;
    run(&x);
    x.history.a[x.width + HIST_TRAIN] = NAN;
    train_log_csv(&x, &csv);
    train_log_json(&x, &json);
    char *line = csv.s;
    assert_int_equal(strncmp(line, "step,rate,train_loss,valid_loss,gradient_norm,\"z[", 49), 0);
    size_t at = 0;
    while ((line = strchr(line, '\n')) && line[1]) {
        char *end = line;
        for (int k = 0; k < x.width; k++, at++) {
            double v = strtod(end + 1, &end), want = x.history.a[at];
            assert_true(isnan(want) ? isnan(v) : v == want);
            assert_int_equal(*end, k < x.width - 1 ? ',' : '\n');
        }
        line = end;
    }
    assert_int_equal(at, x.history.n);
    int fd = mkstemps(path, 5);
    assert_true(fd >= 0);
    close(fd);
    if (train_log(&x, path, &err) || file_read(path, &file, &err)) fail_msg("%s", err.msg);
    assert_string_equal(file.s, json.s);
    json_t *list = json_loads(json.s, 0, NULL);
    assert_int_equal(json_array_size(list), x.history.n / (size_t)x.width);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *row = json_array_get(list, i), *parts = json_object_get(row, "parts");
        const double *want = x.history.a + i * (size_t)x.width;
        assert_true(json_number_value(json_object_get(row, "step")) == want[HIST_STEP]);
        assert_true(json_number_value(json_object_get(row, "valid_loss")) == want[HIST_VALID]);
        assert_int_equal(json_is_null(json_object_get(row, "train_loss")), i == 1);
        assert_int_equal(json_object_size(parts), n.q.num_loss_terms);
        for (int k = 0; k < n.q.num_loss_terms; k++)
            assert_true(json_number_value(json_object_get(parts, n.q.loss_term[k].name)) ==
                        want[HIST_PARTS + k]);
    }
    json_decref(list);
    remove(path);
    str_free(&csv);
    str_free(&json);
    str_free(&file);
    train_free(&x);
    net_drop(&n);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_cooldown),
    cmocka_unit_test(test_best),
    cmocka_unit_test(test_threads),
    cmocka_unit_test(test_large),
    cmocka_unit_test(test_gradient),
    cmocka_unit_test(test_fill),
    cmocka_unit_test(test_exact_points),
    cmocka_unit_test(test_count),
    cmocka_unit_test(test_adam),
    cmocka_unit_test(test_loop),
    cmocka_unit_test(test_plateau),
    cmocka_unit_test(test_converged),
    cmocka_unit_test(test_few_draws),
    cmocka_unit_test(test_time),
    cmocka_unit_test(test_never_finite),
    cmocka_unit_test(test_sometimes_finite),
    cmocka_unit_test(test_bad_prior),
    cmocka_unit_test(test_log),
};
RUN(tests)
