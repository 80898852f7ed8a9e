/* lbfgs.c: the two-loop recursion of L-BFGS, and a line search by bisection for the weak Wolfe
   conditions (Lewis, Overton 2013), which terminates for any function that is bounded below on the
   line. */
#include "infer/lbfgs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "infer/dense.h"
#include "nami.h"

enum { LINE_TRIALS = 50, IDLE = 20 }; /* points of a line; steps since f was smallest */
static const double LINE_DOWN = 1e-4, LINE_SLOPE = 0.9; /* of the weak Wolfe conditions */
static const double FAR = 1e6;                          /* an element of x that has diverged */
static const double ZERO = 1e-10,
                    ROUNDING = 1e-5; /* gradients regarded as 0; possibly 0 within rounding */
static const double STEP = 1e-3;     /* largest step at a minimum with zero gradient */

int lbfgs_init(struct lbfgs *b, int n)
{
    size_t m = (size_t)n;
    *b = (struct lbfgs){
        .n = n,
        .mem = new_array(double, (4 + 2 * (size_t)LBFGS_PAIRS) * m + 2 * (size_t)LBFGS_PAIRS)};
    if (!b->mem) return NAMI_ENOMEM;
    b->x = b->mem;
    b->g = b->x + m;
    b->to = b->g + m;
    b->d = b->to + m;
    b->s = b->d + m;
    b->y = b->s + LBFGS_PAIRS * m;
    b->rho = b->y + LBFGS_PAIRS * m;
    b->alpha = b->rho + LBFGS_PAIRS;
    return 0;
}

void lbfgs_fini(struct lbfgs *b) { free(b->mem); }

void lbfgs_start(struct lbfgs *b, const double *x)
{
    memcpy(b->to, x, sizeof *x * (size_t)b->n);
    b->state = LBFGS_ASKS;
    b->steps = -1; /* not evaluated yet */
    b->pairs = 0;
}

static double dot(const struct lbfgs *b, const double *x, const double *y)
{
    return dense_dot((size_t)b->n, x, y);
}

static double largest(const struct lbfgs *b, const double *x)
{
    double most = 0;
    for (int i = 0; i < b->n; i++) most = fmax(most, fabs(x[i]));
    return most;
}

static void add(const struct lbfgs *b, double a, const double *x, double *to)
{
    for (int i = 0; i < b->n; i++) to[i] += a * x[i];
}

/* d = -H g, H from the last pairs: H y = s for each. */
static void direction(struct lbfgs *b)
{
    size_t n = (size_t)b->n;
    double *d = b->d;
    for (size_t i = 0; i < n; i++) d[i] = -b->g[i];
    for (int k = 0; k < b->pairs; k++) { /* the newest first */
        int at = (b->last - k + LBFGS_PAIRS) % LBFGS_PAIRS;
        b->alpha[at] = b->rho[at] * dot(b, b->s + (size_t)at * n, d);
        add(b, -b->alpha[at], b->y + (size_t)at * n, d);
    }
    if (b->pairs) {
        const double *y = b->y + (size_t)b->last * n;
        double scale = 1 / (b->rho[b->last] * dot(b, y, y));
        for (size_t i = 0; i < n; i++) d[i] *= scale;
    }
    for (int k = b->pairs; k-- > 0;) {
        int at = (b->last - k + LBFGS_PAIRS) % LBFGS_PAIRS;
        double beta = b->rho[at] * dot(b, b->y + (size_t)at * n, d);
        add(b, b->alpha[at] - beta, b->s + (size_t)at * n, d);
    }
}

static void ask(struct lbfgs *b)
{
    memcpy(b->to, b->x, sizeof *b->x * (size_t)b->n);
    add(b, b->t, b->d, b->to);
}

/* Starts a new line search from x. */
static void aim(struct lbfgs *b)
{
    direction(b);
    b->slope = dot(b, b->g, b->d);
    if (!(b->slope < 0) && b->pairs) b->pairs = 0, direction(b), b->slope = dot(b, b->g, b->d);
    b->t = b->pairs ? 1 : 1 / fmax(1, sqrt(-b->slope));
    b->lo = 0, b->hi = INFINITY;
    b->trials = 0;
    ask(b);
}

static int below(const struct lbfgs *b, double limit)
{
    return b->size <= limit * fmax(1, fabs(b->f));
}

static void keep_pair(struct lbfgs *b, const double *g)
{
    size_t n = (size_t)b->n;
    int at = b->pairs ? (b->last + 1) % LBFGS_PAIRS : 0;
    double *s = b->s + (size_t)at * n, *y = b->y + (size_t)at * n;
    for (size_t i = 0; i < n; i++) s[i] = b->to[i] - b->x[i], y[i] = g[i] - b->g[i];
    double sy = dot(b, s, y);
    if (!(sy > 1e-300) || !isfinite(1 / sy)) return;
    b->rho[at] = 1 / sy;
    b->last = at;
    if (b->pairs < LBFGS_PAIRS) b->pairs++;
}

static void accept(struct lbfgs *b, double f, const double *g)
{
    if (b->steps >= 0) keep_pair(b, g);
    b->idle = b->steps < 0 || f < b->least ? 0 : b->idle + 1;
    if (!b->idle) b->least = f;
    memcpy(b->x, b->to, sizeof *b->x * (size_t)b->n);
    memcpy(b->g, g, sizeof *g * (size_t)b->n);
    b->f = f;
    b->size = largest(b, g);
    b->steps++;
    if (b->size == 0) {
        b->state = LBFGS_FOUND;
        return;
    }
    aim(b);
    if (largest(b, b->x) > FAR)
        b->state = LBFGS_FALLS;
    else if (below(b, ZERO) || (b->idle > IDLE && below(b, ROUNDING)))
        b->state = largest(b, b->d) <= STEP ? LBFGS_FOUND : LBFGS_FLAT;
    else if (b->steps >= LBFGS_STEPS)
        b->state = LBFGS_STOPS;
}

/* No better point on this line: tries steepest descent, and stops if that also fails. The remaining
   gradient may be rounding error. */
static void give_up(struct lbfgs *b)
{
    if (b->pairs) {
        b->pairs = 0;
        aim(b);
    } else {
        b->state = below(b, ROUNDING) ? LBFGS_FOUND : LBFGS_STOPS;
    }
}

void lbfgs_tell(struct lbfgs *b, double f, const double *g)
{
    int finite = isfinite(f) != 0;
    for (int i = 0; i < b->n && finite; i++) finite = isfinite(g[i]) != 0;
    if (b->steps < 0) {
        b->f = f;
        b->state = finite ? LBFGS_ASKS : f == -INFINITY ? LBFGS_FALLS : LBFGS_STOPS;
        if (finite) accept(b, f, g);
        return;
    }
    double down = b->f + LINE_DOWN * b->t * b->slope + 1e-14 * fabs(b->f); /* within rounding */
    if (!finite || !(f <= down))
        b->hi = b->t;
    else if (dot(b, g, b->d) < LINE_SLOPE * b->slope)
        b->lo = b->t;
    else {
        accept(b, f, g);
        return;
    }
    b->t = isfinite(b->hi) ? (b->lo + b->hi) / 2 : 2 * b->lo;
    if (++b->trials > LINE_TRIALS) {
        if (isfinite(b->hi))
            give_up(b);
        else
            b->state = LBFGS_FALLS;
    } else {
        ask(b);
    }
}
