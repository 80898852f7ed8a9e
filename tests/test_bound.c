/* test_bound.c: gradient estimates of the bounds are unbiased: the mean of the estimated gradient,
   over all that can be drawn, is the gradient of the mean bound. */
#include <math.h>
#include <string.h>

#include "run.h"
#include "train/bound.h"

enum { STATES = 3, LANES = 6 };

/* q = softmax(a), log p(x, s) = joint[s], of which log p(x | s) = data[s]. */
static const double joint[STATES] = {-1.2, -2.5, -0.7}, data[STATES] = {-0.4, -1.9, -0.1};

static void log_q(const double *a, double *lq)
{
    double sum = 0;
    for (int s = 0; s < STATES; s++) sum += exp(a[s]);
    for (int s = 0; s < STATES; s++) lq[s] = a[s] - log(sum);
}

struct lanes_of {
    double total[LANES], data[LANES], score[LANES], share[LANES], weight[GRADIENT_GROUPS][LANES];
    double *at[GRADIENT_GROUPS];
};

static double ask(struct bound b, const int *state, const double *lq, struct lanes_of *w)
{
    for (int l = 0; l < b.n * b.k; l++) {
        w->score[l] = lq[state[l]];
        w->total[l] = joint[state[l]] - lq[state[l]];
        w->data[l] = data[state[l]];
    }
    for (int k = 0; k < GRADIENT_GROUPS; k++) w->at[k] = w->weight[k];
    b.total = w->total, b.data = w->data, b.score = w->score;
    return bound_of(&b, w->at, w->share);
}

/* The mean loss over all that n * k lanes can draw, and the mean of its estimated gradient by a. */
static double mean_loss(struct bound b, const double *a, double *grad)
{
    double lq[STATES], loss = 0;
    int state[LANES] = {0}, n = b.n * b.k;
    struct lanes_of w;
    log_q(a, lq);
    if (grad) memset(grad, 0, sizeof *grad * STATES);
    for (;;) {
        double p = 0, one;
        for (int l = 0; l < n; l++) p += lq[state[l]];
        p = exp(p);
        one = ask(b, state, lq, &w);
        loss += p * one;
        for (int l = 0; grad && l < n; l++) /* the total has minus log q */
            for (int s = 0; s < STATES; s++)
                grad[s] -= p * w.weight[GRADIENT_SCORE][l] * ((s == state[l]) - exp(lq[s]));
        int l = 0;
        while (l < n && ++state[l] == STATES) state[l++] = 0;
        if (l == n) return loss;
    }
}

static void check_mean(struct bound b)
{
    double a[STATES] = {0.3, -0.5, 0.9}, grad[STATES], e = 1e-5;
    mean_loss(b, a, grad);
    for (int s = 0; s < STATES; s++) {
        double up[STATES], down[STATES];
        memcpy(up, a, sizeof a), memcpy(down, a, sizeof a);
        up[s] += e, down[s] -= e;
        double want = (mean_loss(b, up, NULL) - mean_loss(b, down, NULL)) / (2 * e);
        if (fabs(grad[s] - want) > 1e-8) fail_msg("n %d k %d: %g, not %g", b.n, b.k, grad[s], want);
    }
}

static void test_drawn(void **state)
{
    (void)state;
    for (int n = 1; n <= 3; n++) check_mean((struct bound){.n = n, .k = 1, .warm = 1});
    for (int k = 2; k <= 3; k++)
        for (int n = 1; n <= 2; n++) check_mean((struct bound){.n = n, .k = k, .warm = 1});
}

/* All configurations: no draws, and so the gradient itself. */
static double all_loss(const double *a, double warm, double *grad, double *score)
{
    struct bound b = {.n = 2, .k = STATES, .all = 1, .warm = warm};
    int state[LANES] = {0, 1, 2, 0, 1, 2};
    double lq[STATES], loss = 0;
    struct lanes_of w;
    log_q(a, lq);
    *score = ask(b, state, lq, &w);
    for (int s = 0; s < STATES; s++)
        loss -= exp(lq[s]) * (data[s] + warm * (joint[s] - lq[s] - data[s]));
    for (int s = 0; grad && s < STATES; s++) {
        grad[s] = 0;
        for (int l = 0; l < LANES; l++)
            grad[s] -= w.weight[GRADIENT_SCORE][l] * ((s == state[l]) - exp(lq[s]));
    }
    return loss;
}

static void test_all(void **state)
{
    double a[STATES] = {0.3, -0.5, 0.9}, grad[STATES], e = 1e-5, score;
    (void)state;
    for (double warm = 1; warm > 0.2; warm -= 0.5) {
        double loss = all_loss(a, warm, grad, &score);
        if (warm == 1) assert_true(fabs(loss - score) < 1e-12);
        for (int s = 0; s < STATES; s++) {
            double up[STATES], down[STATES];
            memcpy(up, a, sizeof a), memcpy(down, a, sizeof a);
            up[s] += e, down[s] -= e;
            double want =
                (all_loss(up, warm, NULL, &score) - all_loss(down, warm, NULL, &score)) / (2 * e);
            if (fabs(grad[s] - want) > 1e-8) fail_msg("warm %g: %g, not %g", warm, grad[s], want);
        }
    }
}

/* Known: the bound given the label, and log q of it with a weight. */
static void test_known(void **state)
{
    static const unsigned char known[2] = {1, 1};
    struct bound b = {.n = 2, .k = 3, .all = 1, .known = known, .warm = 1, .labels = 0.7};
    double a[STATES] = {0.3, -0.5, 0.9}, lq[STATES], want = 0;
    int label[LANES] = {1, 1, 1, 2, 2, 2};
    struct lanes_of w;
    (void)state;
    log_q(a, lq);
    double loss = ask(b, label, lq, &w);
    for (int i = 0; i < 2; i++) want -= (joint[label[3 * i]] + 0.7 * lq[label[3 * i]]) / 2;
    assert_true(fabs(loss - want) < 1e-12);
    for (int l = 0; l < LANES; l++) {
        assert_true(fabs(w.weight[GRADIENT_DATA][l] + 1. / 6) < 1e-15);
        assert_true(fabs(w.weight[GRADIENT_SCORE][l] - 0.7 / 6) < 1e-15);
    }
}

/* Several draws of continuous latents: the derivatives of log mean exp. */
static void test_particles(void **state)
{
    double total[LANES] = {-3, -1, -2.2, 0.4, -0.9, -5}, zero[LANES] = {0}, share[LANES];
    double w[GRADIENT_GROUPS][LANES], *at[GRADIENT_GROUPS] = {w[0], w[1], w[2]}, e = 1e-6;
    struct bound b = {.n = 2, .k = 3, .total = total, .data = zero, .warm = 1};
    (void)state;
    for (int l = 0; l < LANES; l++) {
        double keep = total[l];
        total[l] = keep + e;
        double up = bound_of(&b, at, share);
        total[l] = keep - e;
        double down = bound_of(&b, at, share);
        total[l] = keep;
        bound_of(&b, at, share);
        assert_true(fabs(w[GRADIENT_DATA][l] - (up - down) / (2 * e)) < 1e-8);
        assert_true(w[GRADIENT_LATENT][l] == w[GRADIENT_DATA][l]);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_drawn),
    cmocka_unit_test(test_all),
    cmocka_unit_test(test_known),
    cmocka_unit_test(test_particles),
};

RUN(tests)
