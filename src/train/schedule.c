/* schedule.c: the learning rate of each step, and when training ends.

   The rate is constant, and decays to 0 at the end (the share `cooldown` of the whole run).  The
   end is a number of steps, a time, or follows from the loss (`converge`): the decay begins when
   the loss at the constant rate has converged.  The test compares the mean validation loss of the
   last quarter of the run with that of the quarter before.  Losses fall like powers of the number
   of steps, so that the gain over a part of the run tells that over a run which is longer by as
   much, whether this is short or long. */
#include "train/schedule.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"

enum { LEAST = 10 }; /* validations before the test */
static const double
    CUT = 0.3,
    SMALLEST = 1e-3, /* factor of a reduction of the rate; smallest rate relative to the first */
    LOST = 0.1,      /* nats: above the best loss, the rate is too high */
    GAIN = 0.01;     /* nats: a gain below this over a quarter of the run is not worth its time */

/* ---- the rate ------------------------------------------------------------------------------- */

/* 1, and falling to 0 over the last part of a whole. */
static double falling(double left, double part)
{
    return left <= 0 ? 0 : left < part ? left / part : 1;
}

double schedule_rate(const struct train *x, uint64_t step)
{
    const struct train_options *o = &x->opt;
    double share = falling(o->steps - (double)step, o->cooldown * o->steps);
    if (x->cool_to) {
        double part = (double)(x->cool_to - x->cool_from);
        share = fmin(share, falling((double)x->cool_to - (double)step, part));
    }
    if (o->seconds > 0)
        share = fmin(share, falling(o->seconds - x->elapsed, o->cooldown * o->seconds));
    return x->rate * share;
}

void schedule_cut(struct train *x)
{
    struct trainer *t = &x->t;
    x->rate *= CUT;
    memcpy(t->param, x->best_param, sizeof(float) * t->nparam);
    memset(t->m, 0, sizeof(float) * t->nparam);
    memset(t->v, 0, sizeof(float) * t->nparam);
    t->step = 0;
}

/* ---- convergence ---------------------------------------------------------------------------- */

/* How much the mean loss of the last quarter of n validations, of which `last` is the last row, is
   below that of the quarter before. */
static double gain_at(const double *last, size_t n, size_t width)
{
    double sum[2] = {0, 0};
    for (size_t i = 0; i < n / 4 * 2; i++) sum[i / (n / 4)] += *(last - i * width + HIST_VALID);
    return (sum[1] - sum[0]) / (double)(n / 4);
}

/* The largest gain at the validations of the last quarter, since a single one may be noise; NAN:
   there are too few since the rate was cut. */
static double gain(const struct train *x)
{
    size_t width = (size_t)x->width, n = 0, rows = x->history.n / width;
    const double *last = x->history.a + x->history.n - width;
    double most = -INFINITY;
    while (n < rows && *(last - n * width + HIST_RATE) == last[HIST_RATE]) n++;
    if (n < LEAST) return NAN;
    for (size_t k = 0; k < n / 4; k++) {
        double g = gain_at(last - k * width, n - k, width);
        if (!(g <= most)) most = g;
    }
    return most;
}

/* The rate decays from now on, until it is 0. */
static void cool(struct train *x, double so_far)
{
    double part = x->opt.cooldown, steps = part < 1 ? so_far * part / (1 - part) : x->opt.steps;
    x->since = 0;
    x->cool_from = x->step;
    x->cool_to = x->step + (uint64_t)fmin(steps, x->opt.steps);
    if (x->cool_to == x->step) x->done = TRAIN_CONVERGED;
}

/* The loss rises.  On draws of a file the network has learnt these by heart: the decay begins at
   the best weights.  On fresh draws the rate is too high. */
static void turn_back(struct train *x)
{
    const double *best = train_best(x);
    x->since = 0;
    schedule_cut(x);
    if (best && source_epoch(x->source)) cool(x, best[HIST_STEP]);
}

/* Before there are enough validations for the test: has the loss risen for good? */
static int is_lost(const struct train *x)
{
    return x->since >= x->opt.patience && !(train_last(x)[HIST_VALID] < x->best + LOST);
}

static void converge(struct train *x)
{
    double g = gain(x);
    if (isnan(g) ? is_lost(x) : g < -GAIN)
        turn_back(x);
    else if (g < GAIN)
        cool(x, (double)x->step);
    if (x->rate < SMALLEST * x->opt.rate) x->done = TRAIN_STALLED;
}

void schedule_validated(struct train *x, int better)
{
    const struct train_options *o = &x->opt;
    int decays = x->cool_to || schedule_rate(x, x->step) < x->rate;
    x->since = better ? 0 : x->since + 1;
    if (o->converge && !decays && !x->done) converge(x);
    if (x->since < o->patience) return;
    if (o->converge) { /* few draws: the decay does not help, either */
        if (decays && !x->done && source_epoch(x->source)) x->done = TRAIN_STALLED;
        return;
    }
    x->since = 0;
    schedule_cut(x);
    if (x->rate < SMALLEST * o->rate) x->done = TRAIN_STALLED;
}

/* An epoch of few draws is less than the usual number of steps: they are learnt by heart soon. */
int schedule_check(const struct train *x)
{
    enum { SHORTEST = 10 };
    int epoch = x->opt.converge ? source_epoch(x->source) : 0;
    if (!epoch || epoch > x->opt.check) return x->opt.check;
    return epoch > SHORTEST ? epoch : SHORTEST;
}

/* ---- the end -------------------------------------------------------------------------------- */

void schedule_step(struct train *x)
{
    if (x->opt.seconds > 0) { /* the clock decides nothing else */
        double now = clock_now();
        if (x->clock) x->elapsed += now - x->clock;
        x->clock = now;
    }
    if (x->done) return;
    if (x->step >= (uint64_t)x->opt.steps)
        x->done = TRAIN_STEPS;
    else if (x->cool_to && x->step >= x->cool_to)
        x->done = TRAIN_CONVERGED;
    else if (x->opt.seconds > 0 && x->elapsed >= x->opt.seconds)
        x->done = TRAIN_TIME;
}

double schedule_total(const struct train *x)
{
    double total = x->opt.converge ? 0 : x->opt.steps;
    if (x->cool_to) total = fmin((double)x->cool_to, x->opt.steps);
    if (x->opt.seconds > 0 && x->elapsed > 0) {
        double by_time = (double)x->step * fmax(1, x->opt.seconds / x->elapsed);
        total = total > 0 ? fmin(total, by_time) : by_time;
    }
    return total;
}

void schedule_resume(struct train *x)
{
    struct train_options *o = &x->opt;
    if (o->more_seconds > 0) {
        o->seconds = x->elapsed + o->more_seconds;
        if (x->done == TRAIN_CONVERGED || x->done == TRAIN_TIME) x->done = 0;
        x->cool_to = x->cool_from = 0;
    }
    if (x->done == TRAIN_STALLED || x->done == TRAIN_NOTHING) return;
    if (x->done == TRAIN_CONVERGED && o->converge) return;
    x->done = x->step >= (uint64_t)o->steps                ? TRAIN_STEPS
              : o->seconds > 0 && x->elapsed >= o->seconds ? TRAIN_TIME
                                                           : 0;
    if (!o->converge) x->cool_to = x->cool_from = 0;
}
