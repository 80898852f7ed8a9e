/* collapse_brute.h: integrals of a model's density over some of its latents, by brute force, from
   nothing but the density itself: for tests of exact elimination.

   Discrete latents are enumerated; continuous ones are integrated in coordinates on the real line
   (logarithms, logits, logits of broken sticks).  What makes this feasible is found numerically, by
   differences of the log density: coordinates that do not interact are integrated separately, sets
   in which it is quadratic in closed form; what is left goes through nested trapezoidal rules,
   which converge exponentially for such functions, with twice as many nodes until nothing changes.
 */
#ifndef TESTS_COLLAPSE_BRUTE_H
#define TESTS_COLLAPSE_BRUTE_H

#include <math.h>
#include <stdlib.h>

#include "base/rng.h"
#include "exact_at.h"
#include "model_at.h"

enum { COORDS = 24, LANES = 256, ZOOM = 33, REFERENCES = 4 };

enum coord_kind { ON_LINE, LOGARITHM, LOGIT, STICK, STATE };

struct coord {
    enum coord_kind kind;
    int row;   /* STICK: of the element that is this part of what is left of the stick; */
    int rest;  /* and, after the last part, the row of what is left; otherwise -1 */
    int first; /* STICK: it is the first part */
    double low, high;
    int states;
};

enum step_kind { PRODUCT, GAUSSIAN, NESTED, SUM };

/* How a set of coordinates is integrated. */
struct step {
    enum step_kind kind;
    int n, var[COORDS];         /* GAUSSIAN, SUM: these; NESTED: var[0] */
    struct step *child[COORDS]; /* PRODUCT: n; NESTED, SUM: the first, or NULL: nothing left */
};

/* Expectations of u(k) and u(k) u(l), for functions of a coordinate: see value(). */
struct means {
    double first[COORDS], second[COORDS][COORDS];
};
enum value_kind { VALUE, SQUASHED };

struct integrator {
    const struct model *m;
    struct exec x; /* of the model's density */
    int n;
    struct coord coord[COORDS];
    int node[COORDS];                 /* of the model */
    double start[REFERENCES][COORDS]; /* the coordinates of the point, and of others */
    unsigned char meet[COORDS][COORDS];
    struct rng rng;
    struct arena mem;
    struct step *plan;
    int inside; /* how many sums and integrals we are in */
    /* for means */
    enum value_kind what;
    int state;
    double center[COORDS], scale[COORDS];
};

/* ---- coordinates --------------------------------------------------------------------------- */

static inline double sigmoid(double t) { return 1 / (1 + exp(-t)); }

/* log s (1 - s), s = sigmoid(t) */
static inline double log_slope(double t) { return -fabs(t) - 2 * log1p(exp(-fabs(t))); }

/* The value of a coordinate as people know it; STICK: the part of what is left. */
static inline double natural(const struct coord *c, double t)
{
    return c->kind == LOGARITHM ? c->low + exp(t)
           : c->kind == LOGIT   ? c->low + (c->high - c->low) * sigmoid(t)
           : c->kind == STICK   ? sigmoid(t)
                                : t;
}

/* Writes the rows of lane b; returns log |d rows / d t|. */
static inline double place(struct integrator *w, int b, const double *t)
{
    double jacobian = 0, left = 1;
    size_t cap = (size_t)w->x.cap;
    for (int k = 0; k < w->n; k++) {
        const struct coord *c = &w->coord[k];
        double *row = w->x.row + (size_t)c->row * cap + b, x = natural(c, t[k]);
        if (c->kind == STICK) {
            if (c->first) left = 1;
            jacobian += log(left) + log_slope(t[k]);
            *row = left * x;
            left *= sigmoid(-t[k]);
            if (c->rest >= 0) w->x.row[(size_t)c->rest * cap + (size_t)b] = left;
            continue;
        }
        *row = x;
        if (c->kind == LOGARITHM) jacobian += t[k];
        if (c->kind == LOGIT) jacobian += log(c->high - c->low) + log_slope(t[k]);
    }
    return jacobian;
}

static inline void coordinates(const struct integrator *w, const double *row, size_t step,
                               double *t)
{
    double left = 1;
    for (int k = 0; k < w->n; k++) {
        const struct coord *c = &w->coord[k];
        double x = row[(size_t)c->row * step];
        if (c->kind == STICK && c->first) left = 1;
        t[k] = c->kind == LOGARITHM ? log(x - c->low)
               : c->kind == LOGIT   ? log((x - c->low) / (c->high - x))
               : c->kind == STICK   ? log(x / (left - x))
                                    : x;
        left -= x;
    }
}

/* f[i]: log density, with the Jacobian, of n points t[i * w->n ...]; -INFINITY if it is none. */
static inline void evaluate(struct integrator *w, int n, const double *t, double *f)
{
    for (int from = 0; from < n; from += LANES) {
        int lanes = n - from < LANES ? n - from : LANES;
        for (int b = 0; b < lanes; b++) f[from + b] = place(w, b, t + (size_t)(from + b) * w->n);
        w->x.lanes = lanes;
        exec_run(&w->x);
        for (int b = 0; b < lanes; b++) {
            f[from + b] += w->x.total[b];
            if (!isfinite(f[from + b])) f[from + b] = -INFINITY;
        }
    }
}

static inline double *points(const struct integrator *w, int n)
{
    double *t = malloc(sizeof *t * ((size_t)n * (size_t)w->n + 1));
    if (!t) abort();
    return t;
}

static inline double *point_at(const struct integrator *w, double *t, int i)
{
    return t + (size_t)i * (size_t)w->n;
}

static inline double *doubles_new(int n)
{
    double *x = calloc((size_t)n + 1, sizeof *x);
    if (!x) abort();
    return x;
}

/* ---- what interacts ------------------------------------------------------------------------- */

/* Reference point r: the point itself; then others, with states at random. */
static inline void reference(struct integrator *w, int r, double *t)
{
    memcpy(t, w->start[r % REFERENCES], sizeof *t * (size_t)w->n);
    for (int k = 0; k < w->n; k++)
        if (w->coord[k].kind == STATE)
            t[k] = r ? w->coord[k].low + rng_below(&w->rng, (uint32_t)w->coord[k].states)
                     : w->start[0][k];
}

/* Another value of coordinate k: another state, at random. */
static inline double differs(struct integrator *w, int k, double is, double other)
{
    const struct coord *c = &w->coord[k];
    if (c->kind != STATE || c->states == 1) return other;
    int state = (int)(is - c->low) + 1 + (int)rng_below(&w->rng, (uint32_t)(c->states - 1));
    return c->low + state % c->states;
}

/* Do k and l interact: is f(k', l') - f(k', l) - f(k, l') + f(k, l) anything but 0 somewhere? */
static inline int meets(struct integrator *w, int k, int l, int tries)
{
    int states = w->coord[k].kind == STATE || w->coord[l].kind == STATE, yes = 0;
    double *t = points(w, 5), f[4], *other = point_at(w, t, 4), most = 1;
    for (int r = 0; r < tries && !yes; r++) {
        reference(w, 3 * r, t);
        reference(w, 3 * r + 1, other);
        for (int i = 1; i < 4; i++) {
            memcpy(point_at(w, t, i), t, sizeof *t * (size_t)w->n);
            if (i & 1) point_at(w, t, i)[k] = differs(w, k, t[k], other[k]);
            if (i & 2) point_at(w, t, i)[l] = differs(w, l, t[l], other[l]);
        }
        evaluate(w, 4, t, f);
        for (int i = 0; i < 4; i++) most = fmax(most, fabs(f[i]));
        double d = f[3] - f[2] - f[1] + f[0];
        yes = isfinite(most) ? fabs(d) > 1e-10 * most : states;
        if (!isfinite(most)) most = 1;
    }
    free(t);
    return yes;
}

static inline void find_meetings(struct integrator *w)
{
    for (int k = 0; k < w->n; k++)
        for (int l = 0; l < k; l++) w->meet[k][l] = w->meet[l][k] = meets(w, k, l, 16);
}

/* Is the log density quadratic in these coordinates, given the others? Along some lines it is. */
static inline int is_quadratic(struct integrator *w, int n, const int *var)
{
    double *t = points(w, 4), f[4];
    int yes = 1;
    for (int k = 0; k < n; k++) yes &= w->coord[var[k]].kind == ON_LINE;
    for (int r = 0; r < 3 * REFERENCES && yes; r++) {
        double direction[COORDS], most = 1;
        for (int k = 0; k < n; k++) direction[k] = 2 * rng_unit(&w->rng) - 1;
        reference(w, r, t);
        for (int i = 1; i < 4; i++) {
            double *p = point_at(w, t, i);
            memcpy(p, t, sizeof *p * (size_t)w->n);
            for (int k = 0; k < n; k++) p[var[k]] += direction[k] * i;
        }
        evaluate(w, 4, t, f);
        for (int i = 0; i < 4; i++) most = fmax(most, fabs(f[i]));
        if (isfinite(most)) yes = fabs(f[3] - 3 * f[2] + 3 * f[1] - f[0]) < 1e-9 * most;
    }
    free(t);
    return yes;
}

/* ---- plans ----------------------------------------------------------------------------------- */

static inline struct step *plan_set(struct integrator *w, int n, const int *var);

static inline struct step *step_new(struct integrator *w, enum step_kind kind)
{
    struct step *s = arena_array(&w->mem, struct step, 1);
    if (!s) abort();
    s->kind = kind;
    return s;
}

static inline int degree_of(const struct integrator *w, int v, int n, const int *var)
{
    int d = 0;
    for (int k = 0; k < n; k++) d += var[k] != v && w->meet[v][var[k]];
    return d;
}

/* One connected set.  Discrete ones first, all together; then the coordinate that meets most
   others, those that are not on the real line already before others. */
static inline struct step *plan_connected(struct integrator *w, int n, const int *var)
{
    struct step *s;
    int rest[COORDS], left = 0, best = -1, score = -1;
    if (is_quadratic(w, n, var)) {
        s = step_new(w, GAUSSIAN);
        s->n = n;
        memcpy(s->var, var, sizeof *var * (size_t)n);
        return s;
    }
    s = step_new(w, SUM);
    for (int k = 0; k < n; k++)
        if (w->coord[var[k]].kind == STATE)
            s->var[s->n++] = var[k];
        else
            rest[left++] = var[k];
    if (!s->n) {
        s->kind = NESTED;
        for (int k = 0; k < n; k++) {
            int d = 2 * degree_of(w, var[k], n, var) + (w->coord[var[k]].kind != ON_LINE);
            if (d > score) score = d, best = k;
        }
        s->n = 1;
        s->var[0] = var[best];
        left = 0;
        for (int k = 0; k < n; k++)
            if (k != best) rest[left++] = var[k];
    }
    s->child[0] = left ? plan_set(w, left, rest) : NULL;
    return s;
}

static inline struct step *plan_set(struct integrator *w, int n, const int *var)
{
    struct step *s = step_new(w, PRODUCT);
    unsigned char seen[COORDS] = {0};
    for (int k = 0; k < n; k++) {
        int part[COORDS], m = 0;
        if (seen[k]) continue;
        seen[k] = 1;
        part[m++] = var[k];
        for (int i = 0; i < m; i++)
            for (int l = 0; l < n; l++)
                if (!seen[l] && w->meet[part[i]][var[l]]) seen[l] = 1, part[m++] = var[l];
        s->child[s->n++] = plan_connected(w, m, part);
    }
    return s->n == 1 ? s->child[0] : s;
}

/* ---- means -------------------------------------------------------------------------------------
 */

/* u(k): the value, less a number; or a number between -1 and 1, whose mean bounds can be given
   for: of a state, whether it is number w->state. */
static inline double value_of(const struct integrator *w, int k, double natural_value)
{
    const struct coord *c = &w->coord[k];
    if (w->what == VALUE) return natural_value - w->center[k];
    if (c->kind == STATE) return natural_value == c->low + w->state % c->states;
    return tanh(0.5 * (natural_value - w->center[k]) / w->scale[k] + 0.5 * (w->state - 1));
}

static inline void means_add(const struct integrator *w, struct means *to, const struct means *from,
                             double weight)
{
    for (int k = 0; k < w->n; k++) {
        to->first[k] += weight * from->first[k];
        for (int l = 0; l < w->n; l++) to->second[k][l] += weight * from->second[k][l];
    }
}

/* Coordinate v has this value; the means of others are known (of those not integrated yet: 0). */
static inline void means_set(const struct integrator *w, struct means *to, int v, double u)
{
    to->first[v] = u;
    for (int k = 0; k < w->n; k++) to->second[v][k] = to->second[k][v] = u * to->first[k];
    to->second[v][v] = u * u;
}

/* ---- steps
 * --------------------------------------------------------------------------------------- */

/* out[i]: log integral over the coordinates of s, the others as in t; means, if not NULL: of n. */
static inline void integrate(struct integrator *w, const struct step *s, int n, double *t,
                             double *out, struct means *means);

static inline struct means *means_new(int n, const struct means *wanted)
{
    struct means *x = wanted ? calloc((size_t)n, sizeof *x) : NULL;
    if (wanted && !x) abort();
    return x;
}

static inline void coords_of(const struct step *s, unsigned char *mark)
{
    if (!s) return;
    for (int k = 0; k < s->n && s->kind != PRODUCT; k++) mark[s->var[k]] = 1;
    for (int k = 0; k < (s->kind == PRODUCT ? s->n : 1); k++) coords_of(s->child[k], mark);
}

static inline void merge_means(const struct integrator *w, const struct step *part,
                               struct means *to, const struct means *from)
{
    unsigned char mine[COORDS] = {0};
    coords_of(part, mine);
    for (int k = 0; k < w->n; k++) {
        if (!mine[k]) continue;
        to->first[k] = from->first[k];
        for (int l = 0; l < w->n; l++)
            to->second[k][l] = to->second[l][k] =
                mine[l] ? from->second[k][l] : from->first[k] * to->first[l];
    }
}

static inline void product(struct integrator *w, const struct step *s, int n, double *t,
                           double *out, struct means *means)
{
    double *f = doubles_new(n), *part = doubles_new(n);
    struct means *own = means_new(n, means);
    evaluate(w, n, t, f);
    memcpy(out, f, sizeof *f * (size_t)n);
    for (int c = 0; c < s->n; c++) {
        if (means) memset(own, 0, sizeof *own * (size_t)n);
        integrate(w, s->child[c], n, t, part, own);
        for (int i = 0; i < n; i++) {
            out[i] = isfinite(f[i]) ? out[i] + (part[i] - f[i]) : -INFINITY;
            if (means) merge_means(w, s->child[c], &means[i], &own[i]);
        }
    }
    free(f);
    free(part);
    free(own);
}

/* All joint states, the last fastest. */
static inline void sum_states(struct integrator *w, const struct step *s, int n, double *t,
                              double *out, struct means *means)
{
    int count = 1;
    for (int k = 0; k < s->n; k++) count *= w->coord[s->var[k]].states;
    double *tt = points(w, count), *f = doubles_new(count);
    for (int i = 0; i < n; i++) {
        struct means *own = means_new(count, means);
        double most = -INFINITY;
        long double sum = 0;
        for (int c = 0; c < count; c++) {
            double *p = point_at(w, tt, c);
            memcpy(p, point_at(w, t, i), sizeof *p * (size_t)w->n);
            for (int k = s->n, at = c; k-- > 0; at /= w->coord[s->var[k]].states)
                p[s->var[k]] = w->coord[s->var[k]].low + at % w->coord[s->var[k]].states;
        }
        w->inside++;
        if (s->child[0])
            integrate(w, s->child[0], count, tt, f, own);
        else
            evaluate(w, count, tt, f);
        w->inside--;
        for (int c = 0; c < count; c++) most = fmax(most, f[c]);
        for (int c = 0; c < count; c++) sum += expl((long double)f[c] - (long double)most);
        out[i] = isfinite(most) ? (double)(most + logl(sum)) : -INFINITY;
        for (int c = 0; c < count && means; c++) {
            double p = (double)(expl((long double)f[c] - (long double)most) / sum);
            if (p == 0) continue;
            for (int k = 0; k < s->n; k++)
                means_set(w, &own[c], s->var[k],
                          value_of(w, s->var[k], point_at(w, tt, c)[s->var[k]]));
            means_add(w, &means[i], &own[c], p);
        }
        free(own);
    }
    free(tt);
    free(f);
}

/* Where a coordinate may be, at most; how much smaller the integrand is where it is left out.
   Second moments of positive variables need more. */
static inline void widest(const struct integrator *w, int v, const double *t, double *lo,
                          double *hi)
{
    enum coord_kind kind = w->coord[v].kind;
    *lo = kind == ON_LINE ? t[v] - 40 : -80;
    *hi = kind == ON_LINE ? t[v] + 40 : kind == LOGARITHM ? 40 : 60;
}

static inline double depth(const struct integrator *w, int v)
{
    return w->coord[v].kind == LOGARITHM ? 75 : 40;
}

/* f at m + 1 values of coordinate v, from lo[i] to hi[i], for each point i. */
static inline void line(struct integrator *w, const struct step *s, int n, const double *t, int m,
                        const double *lo, const double *hi, double *f, struct means *means)
{
    double *tt = points(w, n * (m + 1));
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= m; j++) {
            double *p = point_at(w, tt, i * (m + 1) + j);
            memcpy(p, t + (size_t)i * (size_t)w->n, sizeof *p * (size_t)w->n);
            p[s->var[0]] = lo[i] + (hi[i] - lo[i]) * j / m;
        }
    w->inside++;
    if (s->child[0])
        integrate(w, s->child[0], n * (m + 1), tt, f, means);
    else
        evaluate(w, n * (m + 1), tt, f);
    w->inside--;
    free(tt);
}

/* Shrinks [lo, hi] to where f is not below its maximum by more than depth(). */
static inline void zoom(struct integrator *w, const struct step *s, int n, const double *t,
                        double *lo, double *hi)
{
    double *f = doubles_new(n * (ZOOM + 1));
    int moved = 1;
    for (int round = 0; round < 20 && moved; round++) {
        moved = 0;
        line(w, s, n, t, ZOOM, lo, hi, f, NULL);
        for (int i = 0; i < n; i++) {
            const double *g = f + i * (ZOOM + 1);
            double most = -INFINITY, h = (hi[i] - lo[i]) / ZOOM;
            int from = 0, to = ZOOM;
            for (int j = 0; j <= ZOOM; j++) most = fmax(most, g[j]);
            if (!isfinite(most)) continue;
            while (g[from] < most - depth(w, s->var[0])) from++;
            while (g[to] < most - depth(w, s->var[0])) to--;
            if (from > 0) from--;
            if (to < ZOOM) to++;
            if (to - from < ZOOM / 2) moved = 1;
            hi[i] = lo[i] + h * to;
            lo[i] += h * from;
        }
    }
    free(f);
}

static inline double trapezoid(int m, const double *f, double h)
{
    double most = -INFINITY;
    long double sum = 0;
    for (int j = 0; j <= m; j++) most = fmax(most, f[j]);
    if (!isfinite(most)) return -INFINITY;
    for (int j = 0; j <= m; j++) sum += expl((long double)f[j] - (long double)most);
    return (double)(most + logl(sum * (long double)h));
}

static inline void nested_means(struct integrator *w, const struct step *s, double *t, int m,
                                double lo, double hi, double result, struct means *to)
{
    double h = (hi - lo) / m, *f = doubles_new(m + 1);
    int v = s->var[0];
    struct means *own = calloc((size_t)m + 1, sizeof *own);
    if (!own) abort();
    line(w, s, 1, t, m, &lo, &hi, f, own);
    for (int j = 0; j <= m; j++) {
        double p = exp(f[j] + log(h) - result);
        if (!(p > 0)) continue;
        means_set(w, &own[j], v, value_of(w, v, natural(&w->coord[v], lo + h * j)));
        means_add(w, to, &own[j], p);
    }
    free(own);
    free(f);
}

static inline void nested(struct integrator *w, const struct step *s, int n, double *t, double *out,
                          struct means *means)
{
    enum { FEW = 32, MOST = 1024 };
    double *lo = doubles_new(n), *hi = doubles_new(n), change = INFINITY;
    for (int i = 0; i < n; i++) widest(w, s->var[0], point_at(w, t, i), &lo[i], &hi[i]);
    zoom(w, s, n, t, lo, hi);
    for (int m = FEW; m <= MOST && change > 1e-10; m *= 2) {
        double *f = doubles_new(n * (m + 1));
        change = 0;
        line(w, s, n, t, m, lo, hi, f, NULL);
        for (int i = 0; i < n; i++) {
            double sum = trapezoid(m, f + i * (m + 1), (hi[i] - lo[i]) / m);
            if (m == FEW)
                change = INFINITY;
            else if (sum != out[i])
                change = fmax(change, fabs(sum - out[i]));
            out[i] = sum;
        }
        if (means && (change <= 1e-10 || m == MOST))
            for (int i = 0; i < n; i++)
                if (isfinite(out[i]))
                    nested_means(w, s, point_at(w, t, i), m, lo[i], hi[i], out[i], &means[i]);
        free(f);
    }
    /* inside of others, it need not where the integrand is negligible */
    if (change > 1e-7 && !w->inside) fail_msg("a trapezoidal rule did not converge: %g", change);
    free(lo);
    free(hi);
}

/* ---- quadratic log densities --------------------------------------------------------------------
 */

struct quadratic {
    int n;
    double at[COORDS], f;                       /* the maximum */
    real slope[COORDS], minus[COORDS * COORDS]; /* gradient, minus the Hessian */
    double width[COORDS];
};

/* By differences of given widths around q->at. */
static inline void differences(struct integrator *w, const struct step *s, const double *t,
                               struct quadratic *q)
{
    int n = s->n, count = 1 + 2 * n + n * (n - 1) / 2, k = 0;
    double *tt = points(w, count), *f = doubles_new(count);
    for (int c = 0; c < count; c++) {
        double *p = point_at(w, tt, c);
        memcpy(p, t, sizeof *p * (size_t)w->n);
        for (int i = 0; i < n; i++) p[s->var[i]] = q->at[i];
    }
    for (int i = 0; i < n; i++) {
        point_at(w, tt, ++k)[s->var[i]] += q->width[i];
        point_at(w, tt, ++k)[s->var[i]] -= q->width[i];
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) {
            double *p = point_at(w, tt, ++k);
            p[s->var[i]] += q->width[i];
            p[s->var[j]] += q->width[j];
        }
    evaluate(w, count, tt, f);
    q->f = f[0];
    k = 1 + 2 * n;
    for (int i = 0; i < n; i++) {
        real up = (real)f[1 + 2 * i] - f[0], down = (real)f[2 + 2 * i] - f[0], h = q->width[i];
        q->slope[i] = (up - down) / (2 * h);
        q->minus[i * n + i] = -(up + down) / (h * h);
        for (int j = 0; j < i; j++)
            q->minus[i * n + j] = q->minus[j * n + i] =
                -((real)f[k++] - f[1 + 2 * i] - f[1 + 2 * j] + f[0]) / (h * q->width[j]);
    }
    free(tt);
    free(f);
}

/* -1: it has no maximum. */
static inline int to_maximum(struct quadratic *q, real *logdet, real *gain)
{
    int n = q->n;
    real A[COORDS * COORDS], x[COORDS];
    memcpy(A, q->minus, sizeof *A * (size_t)(n * n));
    memcpy(x, q->slope, sizeof *x * (size_t)n);
    *logdet = solve(n, 1, A, x);
    *gain = 0;
    for (int i = 0; i < n; i++) {
        *gain += 0.5L * x[i] * q->slope[i];
        q->at[i] += (double)x[i];
        if (!(q->minus[i * n + i] > 0)) return -1;
    }
    return isfinite((double)*logdet) && isfinite((double)*gain) ? 0 : -1;
}

/* E u(k) u(l) of two normal variables, by a trapezoidal rule. */
static inline double squashed_pair(const struct integrator *w, int k, int l, double mk, double ml,
                                   double vk, double vl, double cov)
{
    const double h = 0.6, sk = sqrt(vk), b = cov / sk, rest = vl - b * b;
    const double sl = rest > 0 ? sqrt(rest) : 0;
    double sum = 0;
    for (double x = -6.6; x < 6.7; x += h)
        for (double y = -6.6; y < 6.7; y += h)
            sum += exp(-0.5 * (x * x + y * y)) * value_of(w, k, mk + sk * x) *
                   value_of(w, l, ml + b * x + sl * y);
    return sum * h * h / (2 * 3.14159265358979323846);
}

static inline double squashed_one(const struct integrator *w, int k, double m, double v, int power)
{
    const double h = 0.6;
    double sum = 0;
    for (double x = -8.4; x < 8.5; x += h)
        sum += exp(-0.5 * x * x) * pow(value_of(w, k, m + sqrt(v) * x), power);
    return sum * h / sqrt(2 * 3.14159265358979323846);
}

static inline void gaussian_means(const struct integrator *w, const struct step *s,
                                  const struct quadratic *q, struct means *to)
{
    int n = s->n;
    real A[COORDS * COORDS], cov[COORDS * COORDS] = {0};
    memcpy(A, q->minus, sizeof *A * (size_t)(n * n));
    for (int i = 0; i < n; i++) cov[i * n + i] = 1;
    solve(n, n, A, cov);
    for (int i = 0; i < n; i++) {
        int k = s->var[i];
        double v = (double)cov[i * n + i];
        to->first[k] =
            w->what == VALUE ? q->at[i] - w->center[k] : squashed_one(w, k, q->at[i], v, 1);
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            int k = s->var[i], l = s->var[j];
            double vi = (double)cov[i * n + i], vj = (double)cov[j * n + j];
            to->second[k][l] = to->second[l][k] =
                w->what == VALUE ? (double)cov[i * n + j] + to->first[k] * to->first[l]
                : i == j
                    ? squashed_one(w, k, q->at[i], vi, 2)
                    : squashed_pair(w, k, l, q->at[i], q->at[j], vi, vj, (double)cov[i * n + j]);
        }
}

/* Differences twice: the second time at the maximum, as wide as the density. */
static inline void gaussian(struct integrator *w, const struct step *s, int n, double *t,
                            double *out, struct means *means)
{
    for (int i = 0; i < n; i++) {
        struct quadratic q = {.n = s->n};
        real logdet, gain;
        for (int k = 0; k < s->n; k++) q.at[k] = point_at(w, t, i)[s->var[k]], q.width[k] = 1;
        int bad = 0;
        for (int pass = 0; pass < 3 && !bad; pass++) {
            differences(w, s, point_at(w, t, i), &q);
            bad = to_maximum(&q, &logdet, &gain);
            for (int k = 0; k < s->n && !bad; k++)
                q.width[k] = (double)(1 / sqrtl(q.minus[k * s->n + k]));
        }
        out[i] = bad ? -INFINITY
                     : (double)(q.f + gain - 0.5L * logdet +
                                0.5L * s->n * logl(2 * 3.14159265358979323846264338L));
        if (means && !bad) gaussian_means(w, s, &q, &means[i]);
    }
}

static inline void integrate(struct integrator *w, const struct step *s, int n, double *t,
                             double *out, struct means *means)
{
    enum { MANY = 256 };
    void (*const by_kind[])(struct integrator *, const struct step *, int, double *, double *,
                            struct means *) = {product, gaussian, nested, sum_states};
    for (int from = 0; from < n; from += MANY)
        by_kind[s->kind](w, s, n - from < MANY ? n - from : MANY, point_at(w, t, from), out + from,
                         means ? means + from : NULL);
}

/* ---- all
 * ------------------------------------------------------------------------------------------ */

static inline void add_coord(struct integrator *w, const struct model *m, int e)
{
    struct coord c = {.row = element_row(m, e), .rest = -1};
    const struct dist *d = element_dist(m, e);
    assert_true(w->n < COORDS);
    model_support(m, e, &c.low, &c.high);
    if (domains[d->domain].discrete) {
        c.kind = STATE;
        c.low = ceil(c.low);
        c.states = (int)(floor(c.high) - c.low) + 1;
    } else {
        c.kind = c.low == -INFINITY ? ON_LINE : c.high == INFINITY ? LOGARITHM : LOGIT;
        if (c.low > 0 && c.low < 1e-300) c.low = 0; /* open ends */
        if (c.high < 1 && c.high > 1 - 1e-15) c.high = 1;
    }
    w->coord[w->n++] = c;
}

static inline void add_sticks(struct integrator *w, const struct model *m, int size,
                              const int *elem)
{
    for (int k = 0; k + 1 < size; k++) {
        assert_true(w->n < COORDS);
        w->coord[w->n++] = (struct coord){.kind = STICK,
                                          .row = element_row(m, elem[k]),
                                          .rest = k + 2 == size ? element_row(m, elem[k + 1]) : -1,
                                          .first = k == 0};
    }
}

/* The latents of marked nodes are integrated out, at point i of n points x; the values of others of
   the first points are used to find out what interacts. */
static inline void integrator_init(struct integrator *w, const struct model *m,
                                   const unsigned char *mark, size_t n, const double *x, size_t i)
{
    nami_err err = {0};
    int all[COORDS];
    *w = (struct integrator){.m = m};
    rng_init(&w->rng, 99, 0);
    for (int k = 0; k < model_num_instances(m); k++) {
        int v = instance_node(m, k), size = instance_size(m, k);
        const int *elem = instance_elements(m, k);
        if (v < 0 || !mark[v]) continue;
        const struct dist *d = element_dist(m, elem[0]);
        int first = w->n;
        if (domains[d->domain].rank && d == &dist_dirichlet)
            add_sticks(w, m, size, elem);
        else
            for (int j = 0; j < size; j++) add_coord(w, m, elem[j]);
        for (int j = first; j < w->n; j++) w->node[j] = v;
    }
    if (exec_init(&w->x, model_density_program(m), LANES, 0, 0, &err)) fail_msg("%s", err.msg);
    for (int r = 0; r < model_num_rows(m); r++)
        for (int b = 0; b < LANES; b++)
            w->x.row[(size_t)r * LANES + (size_t)b] = x[(size_t)r * n + i];
    for (int r = 0; r < REFERENCES; r++) coordinates(w, x + (i + (size_t)r) % n, n, w->start[r]);
    for (int k = 0; k < w->n; k++) all[k] = k;
    find_meetings(w);
    w->plan = w->n ? plan_set(w, w->n, all) : NULL;
}

static inline void integrator_free(struct integrator *w)
{
    exec_fini(&w->x);
    arena_free(&w->mem);
}

static inline double integrator_value(struct integrator *w, struct means *means)
{
    double out;
    if (!w->plan)
        evaluate(w, 1, w->start[0], &out);
    else
        integrate(w, w->plan, 1, w->start[0], &out, means);
    return out;
}

#endif
