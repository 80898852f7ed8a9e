/* quadrature_mode.c: the mode of an integrand on the unconstrained scale, by a safeguarded secant
   search for the zero of its derivative, for all components and lanes at once.  A third of the
   standard deviation is near enough for the rule that is centered there. */
#include <float.h>
#include <math.h>

#include "exact/quadrature.h"

enum { SEARCHES = 80 };
static const double first_step = 1e-3; /* to a second point, for the curvature */
static const double free_step = 10;    /* steps may be as long, or 8 times the step before */
static const double near_mode = 0.3;   /* standard deviations */

static void begin(const struct line *l)
{
    for (int b = 0; b < l->lanes; b++) {
        l->state[b] = b < l->live ? LINE_MOVING : LINE_FAILED;
        l->u[b] = l->mode[b] = 0;
        l->scale[b] = 1;
        l->peak[b] = 0; /* of lanes without a mode, whose nodes have no weight */
        l->from[b] = NAN;
        l->left[b] = -INFINITY;
        l->right[b] = INFINITY;
        l->by_left[b] = INFINITY;
        l->by_right[b] = -INFINITY;
        l->best[b] = INFINITY;
    }
}

/* Values and derivatives by u. */
static void evaluate(struct visit *v)
{
    const struct integral *g = v->g;
    for (int c = 0; c < g->num_comps; c++) {
        struct line l = line_of(v, c);
        line_place(&l);
    }
    visit_run(v);
    visit_back_begin(v);
    for (int t = 0; t < g->num_terms; t++) {
        double *adj = visit_adj(v, g->term[t]);
        for (int b = 0; b < v->x.lanes; b++) adj[b] += 1;
    }
    exec_back_run(&v->x);
    for (int c = 0; c < g->num_comps; c++) {
        struct line l = line_of(v, c);
        const double *adj = visit_adj(v, g->num_inputs + c);
        line_value(v, c);
        for (int b = 0; b < l.live; b++) l.by_u[b] += adj[b] * l.slope[b];
    }
}

/* A point between those on both sides of the mode.  Derivatives may be of very different size
   (exponential links): they are compared by the logarithm of their ratio. */
static double between(const struct line *l, int b)
{
    double x = l->by_left[b], y = -l->by_right[b], ratio = x < y ? y / x : x / y;
    double near = asinh(1), far = asinh(ratio < 1e6 ? ratio : 1e6), part = near / (near + far);
    return l->left[b] + (l->right[b] - l->left[b]) * (x < y ? part : 1 - part);
}

/* The next point after one with a finite derivative; 0: this is near the mode. */
static int step(const struct line *l, int b, double *to)
{
    double u = l->u[b], g = l->by_u[b], d = u - l->from[b], c = (g - l->by_from[b]) / d;
    double most = fmax(free_step, 8 * fabs(d)), move = copysign(fmax(4 * fabs(d), 1), g);
    int known = isfinite(l->left[b]) && isfinite(l->right[b]), good = fabs(g) <= 0.5 * l->best[b];
    if (isnan(l->from[b])) {
        *to = u + copysign(first_step, g);
        return 1;
    }
    if (c < 0) {
        double sd = 1 / sqrt(-c);
        l->scale[b] = sd;
        if (fabs(g) * sd <= near_mode && fabs(d) <= 4 * sd) return 0;
        move = -g / c;
    }
    *to = u + (fabs(move) <= most ? move : copysign(most, move));
    if ((known && !good) || !(*to > l->left[b] && *to < l->right[b]))
        *to = known ? between(l, b) : u + copysign(most, g);
    return 1;
}

static void search_lane(const struct line *l, int b)
{
    double u = l->u[b], g = l->by_u[b], to;
    if (!isfinite(l->h[b]) || !isfinite(g)) {
        if (isnan(l->from[b])) { /* the first point */
            l->state[b] = l->h[b] == -INFINITY ? LINE_IMPOSSIBLE : LINE_FAILED;
            return;
        }
        if (u > l->from[b]) /* too far */
            l->right[b] = u, l->by_right[b] = -DBL_MAX;
        else
            l->left[b] = u, l->by_left[b] = DBL_MAX;
        l->u[b] =
            isfinite(l->left[b]) && isfinite(l->right[b]) ? between(l, b) : (u + l->from[b]) / 2;
        return;
    }
    if (g > 0)
        l->left[b] = u, l->by_left[b] = g;
    else if (g < 0 || !isnan(l->from[b])) /* the first point may be the minimum between two modes */
        l->right[b] = u, l->by_right[b] = g;
    if (!step(l, b, &to)) {
        l->state[b] = LINE_FOUND;
        l->mode[b] = u;
        l->peak[b] = l->h[b];
        return;
    }
    l->from[b] = u;
    l->by_from[b] = g;
    l->best[b] = fmin(l->best[b], fabs(g));
    l->u[b] = to;
    if (to == u) l->state[b] = LINE_FAILED;
}

void find_modes(struct visit *v)
{
    int moving = 1;
    for (int c = 0; c < v->g->num_comps; c++) {
        struct line l = line_of(v, c);
        begin(&l);
    }
    for (int k = 0; k < SEARCHES && moving; k++) {
        moving = 0;
        evaluate(v);
        for (int c = 0; c < v->g->num_comps; c++) {
            struct line l = line_of(v, c);
            for (int b = 0; b < l.live; b++) {
                if (l.state[b] == LINE_MOVING) search_lane(&l, b);
                moving |= l.state[b] == LINE_MOVING;
            }
        }
    }
    for (int c = 0; c < v->g->num_comps && moving; c++) {
        struct line l = line_of(v, c);
        for (int b = 0; b < l.live; b++)
            if (l.state[b] == LINE_MOVING) l.state[b] = LINE_FAILED;
    }
}
