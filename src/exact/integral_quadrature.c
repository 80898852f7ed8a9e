/* integral_quadrature.c: integrals over one continuous scalar for each component, with any smooth
   integrand, by the trapezoidal rule.

   On the unconstrained scale, with nodes u = mode + scale * stretch(t) at equidistant t, its error
   decreases exponentially with the number of nodes if the integrand is analytic.  stretch(t) =
   sinh(0.3 t) / 0.3 is nearly t within a few standard deviations, and reaches far into exponential
   and polynomial tails.  Nodes are added outward until their weights are negligible on either side,
   also those of the next few, beyond which there may be another mode; then the step is halved until
   log Z changes by less than `enough`: its error is about the square of that.  A normal density
   takes 25 nodes, skewed ones up to 50.  Where there are signs of another mode, the nodes must be
   much denser, and log Z must change even less.

   Draws: for a shift of the grid that is uniform within one step, the sum of the weights is the
   same up to the error of the rule.  So the node of the shifted grid that is chosen with a
   probability proportional to its weight has the distribution of the integrand, up to this error
   (1e-4 in its distribution function at most, about 1e-8 as a rule). */
#include <math.h>
#include <string.h>

#include "base/err.h"
#include "base/simd.h"
#include "exact/quadrature.h"

static const double STEP = 0.9;            /* between nodes, before it is halved */
static const double BEND = 0.3;            /* of stretch */
static const double NEGLIGIBLE = 1e-10;    /* weight, relative to that at the mode */
static const double ENOUGH = 3e-5;         /* log Z converges if it changes less */
static const double ENOUGH_OF_MANY = 1e-6; /* of several modes, which takes longer to show */
static const double SLOPES = 1e-7;         /* the same by the nodes for derivatives */
static const double WRONG = 1e-3;          /* NaN if the error may be larger */
static const double BUMP = 0.5; /* so much more convex than concave: there may be another mode */
static const double SCAN_FAR = 12, SCAN_STEP = 0.1; /* 60 standard deviations */
enum { MOST_OUTWARD = 120, MOST_NODES = 1280, VALLEY = 10, FINE_LEVEL = 3, MOST_COPIES = 16 };
enum { KEPT = 8 }; /* rows that derivatives begin from */

/* ---- workspace ---------------------------------------------------------------------------- */

static int plan(struct integral *g, nami_err *err)
{
    for (int c = 0; c < g->num_comps; c++) {
        if (g->var_start[c + 1] - g->var_start[c] > 1)
            return err_set(err, NAMI_EINPUT, "shares a factor with another latent");
        if (g->var[c].states) return err_set(err, NAMI_EINPUT, "is discrete");
    }
    g->extra = (size_t)g->num_comps * LINE_ROWS * line_size(g) + (size_t)g->num_comps;
    g->kept = g->num_comps * KEPT;
    if (!(g->own = arena_array(&g->body.mem, unsigned char, g->num_comps + 1)))
        return err_nomem(err);
    g->runs =
        10 * 3 + 70; /* with derivatives to find the mode; nodes, of the most difficult lane */
    return find_concave(g, g->own, err);
}

/* ---- the unconstrained scale ---------------------------------------------------------------- */

WIDE static void place_real(int n, const double *restrict u, double *restrict v,
                            double *restrict jacobian, double *restrict slope,
                            double *restrict by_u)
{
    EACH(b, n)
    {
        v[b] = u[b];
        jacobian[b] = by_u[b] = 0;
        slope[b] = 1;
    }
}

/* v = end + sign exp(u) */
WIDE static void place_half(int n, double end, double sign, const double *restrict u,
                            double *restrict v, double *restrict jacobian, double *restrict slope,
                            double *restrict by_u)
{
    EACH(b, n)
    {
        slope[b] = sign * exp(u[b]);
        v[b] = end + slope[b];
        jacobian[b] = u[b];
        by_u[b] = 1;
    }
}

/* From the nearer end, which loses no digits of the distance. */
WIDE static void place_interval(int n, double low, double high, const double *restrict u,
                                double *restrict v, double *restrict jacobian,
                                double *restrict slope, double *restrict by_u)
{
    double width = high - low, log_width = log(width);
    EACH(b, n)
    {
        double e = exp(-fabs(u[b])), p = e / (1 + e);
        double from_low = low + width * p, from_high = high - width * p;
        v[b] = u[b] < 0 ? from_low : from_high;
        jacobian[b] = log_width - fabs(u[b]) - 2 * log1p(e);
        slope[b] = width * p * (1 - p);
        by_u[b] = u[b] < 0 ? 1 - 2 * p : 2 * p - 1;
    }
}

void line_place(const struct line *l)
{
    int has_low = isfinite(l->low), has_high = isfinite(l->high);
    if (has_low && has_high)
        place_interval(l->lanes, l->low, l->high, l->u, l->var, l->jacobian, l->slope, l->by_u);
    else if (has_low || has_high)
        place_half(l->lanes, has_low ? l->low : l->high, has_low ? 1 : -1, l->u, l->var,
                   l->jacobian, l->slope, l->by_u);
    else
        place_real(l->lanes, l->u, l->var, l->jacobian, l->slope, l->by_u);
}

WIDE static void add(int n, const double *restrict x, double *restrict sum)
{
    EACH(b, n) sum[b] += x[b];
}

void line_value(const struct visit *v, int c)
{
    struct line l = line_of(v, c);
    memcpy(l.h, l.jacobian, sizeof *l.h * (size_t)l.lanes);
    for (int t = v->g->term_start[c]; t < v->g->term_start[c + 1]; t++)
        add(l.lanes, visit_term(v, t), l.h);
}

/* ---- the rule -----------------------------------------------------------------------------------
 */

WIDE static void stretch(int n, const double *restrict t, const double *restrict mode,
                         const double *restrict scale, const double *restrict open,
                         double *restrict u)
{
    EACH(b, n) u[b] = mode[b] + open[b] * scale[b] * sinh(BEND * t[b]) / BEND;
}

/* h becomes the weight exp(h - peak) stretch'(t), 0 where it is NaN. */
WIDE static void weigh(int n, const double *restrict t, const double *restrict peak,
                       const double *restrict open, double *restrict h)
{
    EACH(b, n)
    {
        double w = exp(h[b] - peak[b]) * cosh(BEND * t[b]);
        h[b] = ((w >= 0) & (open[b] > 0)) ? w : 0;
    }
}

/* Copy j gets node k + j of the pass; lanes that complete a group get none. Has any copy a node? */
static int choose(const struct line *l, int copies, int k)
{
    int n = l->live, any = 0;
    for (int j = 0; j < copies; j++)
        for (int b = 0; b < n; b++) {
            int open = k + j < l->nodes[b];
            l->open[j * n + b] = open;
            l->t[j * n + b] = open ? l->first[b] + (k + j) * l->pitch[b] : 0;
            any |= open;
        }
    for (int b = n * copies; b < l->lanes; b++) l->open[b] = l->t[b] = 0;
    return any;
}

/* Runs the body at nodes k, k + 1, ... of the pass, one for each copy, in the draws that have them;
   their weights are in h then.  0: no draw has one. */
static int visit_nodes(struct visit *v, int k)
{
    int any = 0;
    for (int c = 0; c < v->g->num_comps; c++) {
        struct line l = line_of(v, c);
        any |= choose(&l, v->copies, k);
        stretch(l.lanes, l.t, l.at_mode, l.at_scale, l.open, l.u);
        line_place(&l);
    }
    if (!any) return 0;
    visit_run(v);
    for (int c = 0; c < v->g->num_comps; c++) {
        struct line l = line_of(v, c);
        line_value(v, c);
        weigh(l.lanes, l.t, l.at_peak, l.open, l.h);
    }
    return 1;
}

/* All nodes of a pass: adds up their weights. */
static void sum_nodes(struct visit *v)
{
    for (int k = 0; visit_nodes(v, k); k += v->copies)
        for (int c = 0; c < v->g->num_comps; c++)
            for (int j = 0; j < v->copies; j++) {
                struct line l = line_copy(v, c, j);
                for (int b = 0; b < l.live; b++) {
                    l.sum[b] += l.h[b];
                    l.lean[b] += l.h[b] * l.t[b];
                }
            }
}

/* After visit_packed: modes, scales and peaks of the copies. */
static void widen(const struct visit *v)
{
    for (int c = 0; c < v->g->num_comps; c++) {
        struct line l = line_of(v, c);
        for (int i = 0, b = 0; i < l.lanes; i++, b = b + 1 < l.live ? b + 1 : 0) {
            l.at_mode[i] = l.mode[b];
            l.at_scale[i] = l.scale[b];
            l.at_peak[i] = l.peak[b];
        }
    }
}

static void set(const struct line *l, double *row, double x)
{
    for (int b = 0; b < l->lanes; b++) row[b] = x;
}

static double *count_of(const struct line *l, int side) { return side < 0 ? l->before : l->after; }

/* A narrow mode between two nodes raises both: outward, log weights then fall less than between the
   nodes before.  Is it so at this node?  Of nodes with less weight, such a mode has little, too. */
static int is_bump(const struct line *l, int b)
{
    double at = l->h[b] > 0 ? log(l->h[b]) : -800, rise = at - l->last[b];
    int bump = l->h[b] > 0.01 * NEGLIGIBLE && rise > l->rise[b] + BUMP;
    l->last[b] = at;
    l->rise[b] = rise;
    return bump;
}

/* After node k of one side: ends after VALLEY nodes that are negligible (one, where there cannot be
   another mode), of which the first one is counted. */
static void close_lanes(const struct line *l, int side, int k)
{
    int valley = l->concave ? 1 : VALLEY;
    for (int b = 0; b < l->live; b++) {
        if (k >= l->nodes[b]) continue;
        int small = l->h[b] < NEGLIGIBLE;
        l->sum[b] += l->h[b];
        l->lean[b] += l->h[b] * l->t[b];
        if (k % 2) {
            l->total[b] += l->h[b];
            l->lean_total[b] += l->h[b] * l->t[b];
        }
        if (!small || !l->quiet[b]) count_of(l, side)[b] = k / 2 + 1;
        if (!l->concave && is_bump(l, b)) {
            l->bumpy[b] = 1;
            count_of(l, side)[b] = k / 2 + 2;
        }
        l->quiet[b] = small ? l->quiet[b] + 1 : 0;
        if (l->quiet[b] == valley)
            l->nodes[b] = 0;
        else if (!small && k + 1 == MOST_OUTWARD)
            l->tail[b] += 10 * l->h[b] / l->sum[b];
    }
}

/* Nodes of levels 0 and 1 outward on one side, until their weights are negligible. */
static void outward(struct visit *v, int side)
{
    for (int c = 0; c < v->g->num_comps; c++) {
        struct line l = line_of(v, c);
        set(&l, count_of(&l, side), 0);
        set(&l, l.first, side * STEP / 2);
        set(&l, l.pitch, side * STEP / 2);
        set(&l, l.quiet, 0);
        set(&l, l.last, 0);
        set(&l, l.rise, INFINITY);
        for (int b = 0; b < l.lanes; b++) l.nodes[b] = l.state[b] == LINE_FOUND ? MOST_OUTWARD : 0;
    }
    for (int k = 0; visit_nodes(v, k); k += v->copies)
        for (int c = 0; c < v->g->num_comps; c++)
            for (int j = 0; j < v->copies; j++) {
                struct line l = line_copy(v, c, j);
                close_lanes(&l, side, k + j);
            }
}

/* Nodes on one side of the mode. */
static double nodes_of(const struct line *l, int b, int side)
{
    return ldexp(count_of(l, side)[b], (int)l->level[b]);
}

static double step_of(const struct line *l, int b) { return ldexp(STEP, -(int)l->level[b]); }

/* Is the step of a lane at this level to be halved? */
static int is_rough(const struct line *l, int b, int level)
{
    if (l->state[b] != LINE_FOUND || l->level[b] != level) return 0;
    double nodes = nodes_of(l, b, -1) + nodes_of(l, b, 1);
    int fine =
        l->bumpy[b] ? l->error[b] <= ENOUGH_OF_MANY && level >= FINE_LEVEL : l->error[b] <= ENOUGH;
    return level == 0 || (!fine && nodes <= MOST_NODES);
}

/* The nodes in the middle between those of this level, in lanes that are rough. */
static void halve(struct visit *v, int level)
{
    for (int c = 0; c < v->g->num_comps; c++) {
        struct line l = line_of(v, c);
        for (int b = 0; b < l.lanes; b++) {
            double left = nodes_of(&l, b, -1), right = nodes_of(&l, b, 1);
            l.pitch[b] = step_of(&l, b);
            l.first[b] = (0.5 - left) * l.pitch[b];
            l.nodes[b] = is_rough(&l, b, level) ? left + right : 0;
        }
    }
    sum_nodes(v);
}

/* Is the level before enough for derivatives?  Its error oscillates as the grid moves, and log Z is
   right where it passes 0: then the mean of t is not. */
static int is_fine(const struct line *l, int b)
{
    double lean = l->lean[b] / l->sum[b] - l->lean_total[b] / l->total[b];
    return l->error[b] <= SLOPES && fabs(lean) <= SLOPES && !l->bumpy[b];
}

/* After that: how much log Z has changed. Are there lanes that are still rough? */
static int compare(const struct visit *v, int level)
{
    int any = 0;
    for (int c = 0; c < v->g->num_comps; c++) {
        struct line l = line_of(v, c);
        for (int b = 0; b < l.live; b++) {
            if (!is_rough(&l, b, level)) continue;
            l.error[b] = l.tail[b] + fabs(log(l.sum[b] / 2 / l.total[b]));
            int fine = is_fine(&l, b);
            l.coarse[b] = fine ? level : level + 1;
            l.coarse_total[b] = fine ? l.total[b] : l.sum[b];
            l.total[b] = l.sum[b];
            l.lean_total[b] = l.lean[b];
            l.level[b] = level + 1;
            any |= is_rough(&l, b, level + 1);
        }
    }
    return any;
}

static int is_good(const struct line *l, int b)
{
    return l->state[b] == LINE_FOUND && l->error[b] <= WRONG;
}

/* Have all of these lanes the same inputs?  Draws given nothing but data do. */
static int is_one(const struct visit *v, const struct lanes *in, int from, int n)
{
    for (int k = 0; k < v->g->num_inputs; k++)
        for (int b = 1; b < n && in[k].step; b++)
            if (!(in[k].p[(from + b) * in[k].step] == in[k].p[from * in[k].step])) return 0;
    return 1;
}

/* Copies of n draws, so that several nodes are evaluated at once. */
static int copies_of(const struct integral *g, int n)
{
    int copies = g->lanes / n;
    return copies < MOST_COPIES ? copies : MOST_COPIES;
}

/* What was found for the first draw, for all. */
static void spread(const struct visit *v)
{
    for (int c = 0; c < v->g->num_comps; c++) {
        struct line l = line_of(v, c);
        double *const rows[] = {l.state, l.mode,  l.scale, l.peak,   l.before,      l.after,
                                l.level, l.total, l.error, l.coarse, l.coarse_total};
        for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) set(&l, rows[k], rows[k][0]);
    }
}

/* Integrates all components for n draws. */
static void integrate_draws(struct visit *v, const struct lanes *in, int from, int n)
{
    int rough = 1;
    visit_packed(v, in, from, n, 1);
    find_modes(v);
    visit_packed(v, in, from, n, copies_of(v->g, n));
    widen(v);
    for (int c = 0; c < v->g->num_comps; c++) {
        struct line l = line_of(v, c);
        set(&l, l.sum, 1); /* the weight of the mode */
        set(&l, l.total, 1);
        set(&l, l.lean, 0);
        set(&l, l.lean_total, 0);
        set(&l, l.tail, 0);
        set(&l, l.level, 0);
        set(&l, l.bumpy, 0);
    }
    for (int side = -1; side <= 1; side += 2) outward(v, side);
    for (int level = 0; rough; level++) {
        if (level) halve(v, level);
        rough = compare(v, level);
    }
}

/* The number of draws of the slab that begins at `from`. */
static int slab_of(const struct visit *v, int from, int L)
{
    return L - from < v->g->lanes ? L - from : v->g->lanes;
}

/* Integrates all components in the next slab: returns its number of draws. */
static int integrate(struct visit *v, const struct lanes *in, int from, int L)
{
    int n = slab_of(v, from, L), one = is_one(v, in, from, n);
    integrate_draws(v, in, from, one ? 1 : n);
    if (one && n > 1) {
        visit_packed(v, in, from, n, copies_of(v->g, n));
        spread(v);
        widen(v);
    }
    return n;
}

/* ---- what `run` leaves for `back` ------------------------------------------------------------ */

/* The rows that nodes and their weights follow from: for derivatives, of fewer nodes. */
static void kept_rows(const struct line *l, double **row)
{
    double *const rows[KEPT] = {l->state,  l->mode,  l->scale,  l->peak,
                                l->before, l->after, l->coarse, l->coarse_total};
    memcpy(row, rows, sizeof rows);
}

static void keep(const struct visit *v, int from, int n, double *const *out)
{
    for (int c = 0; c < v->g->num_comps; c++) {
        struct line l = line_of(v, c);
        double *row[KEPT], *const *to = out + v->g->num_comps + c * KEPT;
        kept_rows(&l, row);
        for (int k = 0; k < KEPT; k++) memcpy(to[k] + from, row[k], sizeof **row * (size_t)n);
        for (int b = 0; b < n; b++)
            if (l.state[b] == LINE_FOUND && !is_good(&l, b)) to[0][from + b] = LINE_FAILED;
    }
}

/* The same as integrate, from what was kept. */
static int recall(struct visit *v, const struct lanes *in, int from, int L,
                  const double *const *out)
{
    int n = slab_of(v, from, L);
    visit_packed(v, in, from, n, copies_of(v->g, n));
    for (int c = 0; c < v->g->num_comps; c++) {
        struct line l = line_of(v, c);
        const double *const *of = out + v->g->num_comps + c * KEPT;
        double *row[KEPT];
        kept_rows(&l, row);
        for (int k = 0; k < KEPT; k++) memcpy(row[k], of[k] + from, sizeof **row * (size_t)n);
        memcpy(l.level, l.coarse, sizeof *l.level * (size_t)n);
        memcpy(l.total, l.coarse_total, sizeof *l.total * (size_t)n);
        set(&l, l.error, 0);
    }
    widen(v);
    return n;
}

/* Begins a pass over all nodes, from the left. */
static void again(const struct visit *v)
{
    for (int c = 0; c < v->g->num_comps; c++) {
        struct line l = line_of(v, c);
        set(&l, l.sum, 0);
        for (int b = 0; b < l.lanes; b++) {
            double left = nodes_of(&l, b, -1), right = nodes_of(&l, b, 1);
            l.pitch[b] = step_of(&l, b);
            l.first[b] = -left * l.pitch[b];
            l.nodes[b] = l.state[b] == LINE_FOUND ? left + right + 1 : 0;
        }
    }
}

/* ---- kernels ------------------------------------------------------------------------------------
 */

static void run(const void *self, const int *dim, int L, double *const *out, const struct lanes *in,
                double *work)
{
    (void)dim;
    struct visit v;
    visit_begin(&v, self, 1, work);
    for (int from = 0, n; from < L; from += n) {
        n = integrate(&v, in, from, L);
        for (int c = 0; c < v.g->num_comps; c++) {
            struct line l = line_of(&v, c);
            for (int b = 0; b < n; b++) {
                double z = l.peak[b] + log(l.total[b] * l.scale[b] * step_of(&l, b));
                double none = l.state[b] == LINE_IMPOSSIBLE ? -INFINITY : NAN;
                out[c][from + b] = is_good(&l, b) ? z : none;
            }
        }
        keep(&v, from, n, out);
    }
}

/* The normalized weights of the nodes times d / d log Z, to the rows of the terms. */
static void seed(const struct visit *v, int c, int k, int from, const double *dout)
{
    struct line l = line_of(v, c);
    for (int j = 0; j < v->copies; j++) {
        double *w = l.h + j * l.live;
        for (int b = 0; b < l.live; b++) {
            double d = dout[from + b];
            if (l.state[b] == LINE_IMPOSSIBLE || d == 0)
                w[b] = 0;
            else
                w[b] = is_good(&l, b) ? w[b] / l.total[b] * d : k + j ? 0 : NAN;
        }
    }
    for (int t = v->g->term_start[c]; t < v->g->term_start[c + 1]; t++)
        add(l.live * v->copies, l.h, visit_adj(v, v->g->term[t]));
}

/* Nodes are constants here: log Z does not depend on them. */
static void back(const void *self, const int *dim, int L, const double *const *out,
                 const double *const *dout, const struct lanes *in, double *const *din,
                 double *work)
{
    (void)dim;
    struct visit v;
    visit_begin(&v, self, 1, work);
    for (int from = 0, n; from < L; from += n) {
        n = out ? recall(&v, in, from, L, out) : integrate(&v, in, from, L);
        again(&v);
        for (int k = 0; visit_nodes(&v, k); k += v.copies) {
            visit_back_begin(&v);
            for (int c = 0; c < v.g->num_comps; c++) seed(&v, c, k, from, dout[c]);
            visit_back(&v, din, from);
        }
    }
}

/* The moments of component c, about `target`, of the nodes that were visited. */
static void add_moments(const struct visit *v, int c, double *mean, double *square)
{
    for (int j = 0; j < v->copies; j++) {
        struct line l = line_copy(v, c, j);
        for (int b = 0; b < l.live; b++) {
            double d = l.var[b] - l.target[b], w = l.h[b] > 0 ? l.h[b] / l.total[b] : 0;
            mean[b] += w > 0 ? w * d : 0;
            square[b] += w > 0 ? w * d * d : 0;
        }
    }
}

static void moments(const void *self, const int *dim, int L, double *const *out,
                    const struct lanes *in, double *work)
{
    (void)dim;
    struct visit v;
    visit_begin(&v, self, 1, work);
    for (int from = 0, n; from < L; from += n) {
        n = integrate(&v, in, from, L);
        again(&v);
        for (int c = 0; c < v.g->num_comps; c++) { /* the mode, from which moments are computed */
            struct line l = line_of(&v, c);
            memcpy(l.u, l.at_mode, sizeof *l.u * (size_t)l.lanes);
            line_place(&l);
            memcpy(l.target, l.var, sizeof *l.var * (size_t)n);
            for (int b = 0; b < n; b++)
                out[c][from + b] = out[v.g->num_comps + c][from + b] = is_good(&l, b) ? 0 : NAN;
        }
        for (int k = 0; visit_nodes(&v, k); k += v.copies)
            for (int c = 0; c < v.g->num_comps; c++)
                add_moments(&v, c, out[c] + from, out[v.g->num_comps + c] + from);
        for (int c = 0; c < v.g->num_comps; c++) {
            struct line l = line_of(&v, c);
            double *mean = out[c] + from, *var = out[v.g->num_comps + c] + from;
            for (int b = 0; b < n; b++) {
                var[b] -= mean[b] * mean[b];
                mean[b] += l.target[b];
            }
        }
    }
}

/* Of the nodes that were visited, the one at which the sum passes the target. */
static void pick(const struct visit *v, int c, double *out)
{
    for (int j = 0; j < v->copies; j++) {
        struct line l = line_copy(v, c, j);
        for (int b = 0; b < l.live; b++) {
            if (l.h[b] > 0 && l.sum[b] < l.target[b] && is_good(&l, b)) out[b] = l.var[b];
            l.sum[b] += l.h[b];
        }
    }
}

static void draw(const void *self, const struct stream *s, const int *dim, int L,
                 double *const *out, const struct lanes *in, double *work)
{
    (void)dim;
    struct visit v;
    visit_begin(&v, self, 1, work);
    for (int from = 0, n; from < L; from += n) {
        n = integrate(&v, in, from, L);
        again(&v);
        for (int c = 0; c < v.g->num_comps; c++) {
            struct line l = line_of(&v, c);
            struct stream own = {s->seed, (uint32_t)v.g->var[c].row, s->first + (uint64_t)from};
            stream_uniform_part(&own, 0, n, l.t); /* the shift of the grid */
            stream_uniform_part(&own, 1, n, l.target);
            for (int b = 0; b < n; b++) {
                l.first[b] += (l.t[b] - 0.5) * l.pitch[b];
                l.target[b] *= l.total[b];
                out[c][from + b] = NAN;
            }
        }
        for (int k = 0; visit_nodes(&v, k); k += v.copies)
            for (int c = 0; c < v.g->num_comps; c++) pick(&v, c, out[c] + from);
    }
}

/* The nodes of a rule that looks far and close, whatever was found so far. */
static void scan(struct visit *v)
{
    for (int c = 0; c < v->g->num_comps; c++) {
        struct line l = line_of(v, c);
        set(&l, l.sum, 0);
        set(&l, l.first, -SCAN_FAR);
        set(&l, l.pitch, SCAN_STEP);
        set(&l, l.nodes, 2 * SCAN_FAR / SCAN_STEP + 1);
    }
    sum_nodes(v);
}

/* Has it found more than the rule, which should have been enough?  Where that has many nodes, it
   knows better. */
static int has_missed(const struct line *l, int b)
{
    double scanned = l->sum[b] * SCAN_STEP, known = l->total[b] * step_of(l, b);
    return is_good(l, b) && step_of(l, b) >= SCAN_STEP && log(scanned / known) > WRONG;
}

/* In each component, log Z must converge in three quarters of the lanes, and be right in all of
   these. */
static int fits(const struct integral *g, int L, const struct lanes *in, double *work)
{
    struct visit v;
    visit_begin(&v, g, 1, work);
    double *good = v.extra + g->extra - g->num_comps;
    for (int c = 0; c < g->num_comps; c++) good[c] = 0;
    for (int from = 0, n; from < L; from += n) {
        n = integrate(&v, in, from, L);
        scan(&v);
        for (int c = 0; c < g->num_comps; c++) {
            struct line l = line_of(&v, c);
            for (int b = 0; b < n; b++) {
                if (has_missed(&l, b)) return 0;
                good[c] += l.state[b] == LINE_FOUND && l.error[b] <= ENOUGH;
            }
        }
    }
    for (int c = 0; c < g->num_comps; c++)
        if (good[c] <= 0.75 * L) return 0;
    return 1;
}

const struct integral_kind integral_quadrature = {
    .name = "quadrature",
    .what = "one-dimensional integrals, by an adaptive trapezoidal rule",
    .plan = plan,
    .run = run,
    .back = back,
    .draw = draw,
    .moments = moments,
    .fits = fits,
    .misfit = "has tails, jumps or modes that a rule of few nodes misses",
    .plates = 1,
    .probed = 1};
