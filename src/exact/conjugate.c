/* conjugate.c: integrals of exponential families: the search for the fit, its derivatives, draws
   and moments, and the check that the integrand is in the family. */
#include "exact/conjugate.h"

#include <math.h>
#include <string.h>

#include "base/err.h"
#include "base/simd.h"
#include "dist/block.h"

enum {
    ROUNDS = 6,    /* of the search: two, as a rule */
    CLOSE_ROWS = 3 /* state, value, size */
};
static const double tolerance = 1e-9; /* of the fit, relative to the sizes of terms */
static const double negligible = 100; /* what is so far below log f at the center may be lost */

struct plan {
    const struct family *family;
    int most_vars, most_params, most_args;
    size_t *start; /* (num_comps + 1) rows of each component in v->extra */
};

/* Copies of the lanes, for several probes at once. */
static int copies_of(const struct integral *g, int n)
{
    const struct plan *p = g->own;
    int most = n % 8 ? 1 : g->lanes / n; /* values of 8 lanes are set at once */
    return most < 1 ? 1 : most < p->most_params + 1 ? most : p->most_params + 1;
}

/* Coefficients, each with a probe. */
static int params_of(const struct family *family, int num_vars)
{
    int n = family->shape == SHAPE_MATRIX ? matrix_order(num_vars) : 0;
    return n ? 1 + n * (n + 1) / 2 : family->shape == SHAPE_NUMBER ? 2 : num_vars;
}

/* Arguments of the distribution: rows for what follows from coefficients. */
static int args_of(const struct family *family, int num_vars)
{
    return family->shape == SHAPE_MATRIX ? 1 + num_vars : params_of(family, num_vars);
}

/* Rows that `run` leaves for `back`: where the search is costly. */
static int keeps(const struct family *family) { return family->shape == SHAPE_MATRIX; }

static int kept_of(const struct family *family, int num_vars)
{
    return keeps(family) ? num_vars + 1 + params_of(family, num_vars) : 0;
}

/* ---- planning -------------------------------------------------------------------------------- */

/* Bounds of a model may be the number next to an open end. */
static int is_end(double x, double end) { return x == end || fabs(x - end) < 1e-15; }

static int check_shape(const struct family *family, int n, nami_err *err)
{
    int order = matrix_order(n);
    if (family->shape == SHAPE_NUMBER && n > 1)
        return err_set(err, NAMI_EINPUT, "shares a factor with another latent");
    if (family->shape == SHAPE_SIMPLEX && n < 2)
        return err_set(err, NAMI_EINPUT, "is not a probability vector");
    if (family->shape == SHAPE_MATRIX && order < 2)
        return err_set(err, NAMI_EINPUT, "is not a matrix");
    if (family->shape == SHAPE_MATRIX && order > MATRIX_ORDER)
        return err_set(err, NAMI_ELIMIT, "has %d rows (at most %d)", order, MATRIX_ORDER);
    return n > MOST_GAMMAS ? err_set(err, NAMI_ELIMIT, "has %d elements", n) : 0;
}

static int check(const struct integral *g, int c, const struct family *family, nami_err *err)
{
    int from = g->var_start[c], n = g->var_start[c + 1] - from, rc = check_shape(family, n, err);
    int step = family->shape == SHAPE_MATRIX ? matrix_order(n) + 1 : 1;
    for (int v = from; v < from + n && !rc; v++) {
        const struct variable *x = &g->var[v];
        if (x->states) return err_set(err, NAMI_EINPUT, "is discrete");
        if ((v - from) % step && isinf(x->low)) continue;
        if (!is_end(x->low, family->low) || !is_end(x->high, family->high))
            return err_set(err, NAMI_EINPUT, "is not between %g and %g, as in a %s density",
                           family->low, family->high, g->kind->name);
    }
    return rc;
}

int conjugate_plan(struct integral *g, const struct family *family, nami_err *err)
{
    struct plan *p = arena_array(&g->body.mem, struct plan, 1);
    size_t *start = arena_array(&g->body.mem, size_t, g->num_comps + 1);
    if (!p || !start) return err_nomem(err);
    *p = (struct plan){.family = family, .start = start};
    for (int c = 0; c < g->num_comps; c++) {
        int rc = check(g, c, family, err), n = g->var_start[c + 1] - g->var_start[c];
        if (rc) return rc;
        int args = args_of(family, n);
        start[c + 1] = start[c] + (size_t)(n + CLOSE_ROWS + 2 * args);
        g->kept += kept_of(family, n);
        if (n <= p->most_vars) continue;
        p->most_vars = n;
        p->most_args = args;
        p->most_params = params_of(family, n);
    }
    g->own = p;
    g->extra = (start[g->num_comps] + FIT_WORK) * (size_t)g->lanes + (size_t)g->num_comps +
               6 * (size_t)p->most_vars + 3 * (size_t)p->most_args;
    if (family->dist->work) g->extra += (size_t)family->dist->work(&p->most_vars);
    g->runs = 2 * (1 + p->most_params);
    return 0;
}

/* ---- workspace ---------------------------------------------------------------------------------
 */

static const struct plan *plan_of(const struct visit *v) { return v->g->own; }

static struct fit fit_of(const struct visit *v, int c)
{
    const struct plan *p = plan_of(v);
    const struct integral *g = v->g;
    struct fit f = {.family = p->family,
                    .num_vars = g->var_start[c + 1] - g->var_start[c],
                    .live = v->draws,
                    .lanes = v->x.cap > 1 ? (v->draws + 7) / 8 * 8 : 1,
                    .stride = v->x.cap};
    f.num_params = params_of(p->family, f.num_vars);
    f.num_args = args_of(p->family, f.num_vars);
    f.center = v->extra + p->start[c] * (size_t)f.stride;
    f.state = fit_row(&f, f.center, f.num_vars);
    f.value = fit_row(&f, f.state, 1);
    f.size = fit_row(&f, f.value, 1);
    f.param = fit_row(&f, f.size, 1);
    f.weight = fit_row(&f, f.param, f.num_args);
    f.work = v->extra + p->start[g->num_comps] * (size_t)f.stride;
    f.one = fit_row(&f, f.work, FIT_WORK);
    f.element = (struct lanes *)(void *)(f.one + 3 * p->most_args);
    f.pointer = (double **)(void *)(f.element + 2 * p->most_vars);
    f.scratch = (double *)(void *)(f.pointer + 2 * p->most_vars);
    return f;
}

static double *variables(const struct visit *v, int c) { return visit_var(v, v->g->var_start[c]); }

/* ---- log f --------------------------------------------------------------------------------------
 */

WIDE static void add_terms(int n, const double *restrict x, double *restrict sum,
                           double *restrict size)
{
    EACH(b, n)
    {
        sum[b] += x[b];
        size[b] += fabs(x[b]);
    }
}

/* Of copy j */
static void integrand(const struct visit *v, int c, int j, double *sum, double *size)
{
    int n = fit_of(v, c).lanes;
    memset(sum, 0, sizeof *sum * (size_t)n);
    memset(size, 0, sizeof *size * (size_t)n);
    for (int t = v->g->term_start[c]; t < v->g->term_start[c + 1]; t++)
        add_terms(n, visit_term(v, t) + j * v->draws, sum, size);
}

/* Sets the variables of all components, those of copy j at point + j; components with fewer points
   stay at their centers. */
static void place(const struct visit *v, int point, int checks)
{
    for (int c = 0; c < v->g->num_comps; c++)
        for (int j = 0; j < v->copies; j++) {
            struct fit f = fit_of(v, c);
            int k = point + j, at = checks ? f.num_params + k : k <= f.num_params ? k : 0;
            f.family->values(&f, at, variables(v, c) + j * v->draws);
        }
}

/* ---- the search
 * ----------------------------------------------------------------------------------- */

static void probe(struct visit *v, int point)
{
    place(v, point, 0);
    visit_run(v);
    for (int c = 0; c < v->g->num_comps; c++)
        for (int j = 0, k = point; j < v->copies; j++, k++) {
            struct fit f = fit_of(v, c);
            if (k == 0)
                integrand(v, c, j, f.value, f.size);
            else if (k <= f.num_params)
                integrand(v, c, j, fit_row(&f, f.param, k - 1), f.work);
        }
}

/* Differences of log f; lanes in which it is not finite do not move. */
static void subtract_center(const struct fit *f)
{
    for (int b = 0; b < f->live; b++) {
        double x = f->value[b], bad = 0;
        for (int k = 0; k < f->num_params; k++) {
            double *d = &fit_row(f, f->param, k)[b];
            *d -= x;
            bad += *d * 0; /* 0, or NaN */
        }
        if (x == -INFINITY)
            f->state[b] = FIT_IMPOSSIBLE;
        else if (bad != 0)
            f->state[b] = FIT_NOT_FINITE;
    }
}

/* Fits all components in all lanes. A lane that has been found stays where it is while others move:
   its result does not depend on them. */
static void search(struct visit *v)
{
    int moving = 1;
    for (int c = 0; c < v->g->num_comps; c++) {
        struct fit f = fit_of(v, c);
        for (int b = 0; b < f.live; b++) f.state[b] = FIT_MOVING;
        f.family->start(&f);
    }
    for (int round = 0; round < ROUNDS && moving; round++) {
        moving = 0;
        for (int k = 0; k <= plan_of(v)->most_params; k += v->copies) probe(v, k);
        for (int c = 0; c < v->g->num_comps; c++) {
            struct fit f = fit_of(v, c);
            subtract_center(&f);
            f.family->solve(&f);
            f.family->move(&f);
            for (int b = 0; b < f.live; b++) moving |= f.state[b] == FIT_MOVING;
        }
    }
    for (int c = 0; c < v->g->num_comps; c++) { /* no result: NaN */
        struct fit f = fit_of(v, c);
        for (int b = 0; b < f.live; b++)
            for (int k = 0; k < f.num_params && f.state[b] != FIT_FOUND; k++)
                fit_row(&f, f.param, k)[b] = NAN;
    }
}

/* The next slab of lanes, from `from`: returns their number. */
static int load_slab(struct visit *v, const struct lanes *in, int from, int L)
{
    int n = L - from < v->g->lanes ? L - from : v->g->lanes;
    visit_copies(v, in, from, n, copies_of(v->g, n));
    return n;
}

static int fit_slab(struct visit *v, const struct lanes *in, int from, int L)
{
    int n = load_slab(v, in, from, L);
    search(v);
    return n;
}

/* ---- what `run` leaves for `back`: center, state, coefficients
 * ------------------------------------
 */

/* Row k of them */
static double *kept_row(const struct fit *f, int k)
{
    return k < f->num_vars    ? fit_row(f, f->center, k)
           : k == f->num_vars ? f->state
                              : fit_row(f, f->param, k - f->num_vars - 1);
}

static void keep(const struct visit *v, int from, int n, double *const *out)
{
    out += v->g->num_comps;
    for (int c = 0; c < v->g->num_comps; c++) {
        struct fit f = fit_of(v, c);
        for (int k = 0; k < kept_of(f.family, f.num_vars); k++)
            memcpy(*out++ + from, kept_row(&f, k), sizeof **out * (size_t)n);
    }
}

/* fit_slab, from what was kept. */
static int recall(struct visit *v, const struct lanes *in, int from, int L,
                  const double *const *out)
{
    int n = load_slab(v, in, from, L);
    out += v->g->num_comps;
    for (int c = 0; c < v->g->num_comps; c++) {
        struct fit f = fit_of(v, c);
        for (int k = 0; k < kept_of(f.family, f.num_vars); k++, out++) {
            double *row = kept_row(&f, k);
            for (int b = 0; b < f.lanes; b++) row[b] = (*out)[from + (b < n ? b : n - 1)];
        }
    }
    return n;
}

/* ---- kernels ------------------------------------------------------------------------------------
 */

void conjugate_run(const void *self, const int *dim, int L, double *const *out,
                   const struct lanes *in, double *work)
{
    (void)dim;
    struct visit v;
    visit_begin(&v, self, 0, work);
    for (int from = 0, n; from < L; from += n) {
        n = fit_slab(&v, in, from, L);
        for (int c = 0; c < v.g->num_comps; c++) {
            struct fit f = fit_of(&v, c);
            double *lp = fit_row(&f, f.work, FIT_WORK - 1);
            f.family->density(&f, lp, NULL);
            for (int b = 0; b < n; b++)
                out[c][from + b] = f.state[b] == FIT_IMPOSSIBLE ? -INFINITY : f.value[b] - lp[b];
        }
        keep(&v, from, n, out);
    }
}

/* d log Z / d log f at a point, times what is known of log Z; to the rows of the terms. */
static void seed(const struct visit *v, int c, int point, int j, int from, const double *dout)
{
    struct fit f = fit_of(v, c);
    double *w = f.work;
    if (point > f.num_params) return;
    for (int b = 0; b < v->draws; b++) {
        w[b] = point ? fit_row(&f, f.weight, point - 1)[b] : 1;
        for (int k = 0; k < f.num_params && !point; k++) w[b] -= fit_row(&f, f.weight, k)[b];
        w[b] = dout[from + b] == 0 || f.state[b] == FIT_IMPOSSIBLE ? 0 : w[b] * dout[from + b];
    }
    for (int t = v->g->term_start[c]; t < v->g->term_start[c + 1]; t++) {
        double *adj = visit_adj(v, v->g->term[t]) + j * v->draws;
        for (int b = 0; b < v->draws; b++) adj[b] += w[b];
    }
}

/* Centers and probes are constants here: log Z does not depend on them. */
void conjugate_back(const void *self, const int *dim, int L, const double *const *out,
                    const double *const *dout, const struct lanes *in, double *const *din,
                    double *work)
{
    (void)dim;
    struct visit v;
    visit_begin(&v, self, 1, work);
    int known = out && keeps(plan_of(&v)->family);
    for (int from = 0, n; from < L; from += n) {
        n = known ? recall(&v, in, from, L, out) : fit_slab(&v, in, from, L);
        for (int c = 0; c < v.g->num_comps; c++) {
            struct fit f = fit_of(&v, c);
            f.family->density(&f, fit_row(&f, f.work, FIT_WORK - 1), f.weight);
            f.family->weigh(&f);
        }
        for (int point = 0; point <= plan_of(&v)->most_params; point += v.copies) {
            place(&v, point, 0);
            visit_run(&v);
            visit_back_begin(&v);
            for (int c = 0; c < v.g->num_comps; c++)
                for (int j = 0; j < v.copies; j++) seed(&v, c, point + j, j, from, dout[c]);
            visit_back(&v, din, from);
        }
    }
}

/* The arguments of the distribution; weights are not in use. */
static double *arguments(const struct fit *f)
{
    if (!f->family->arguments) return f->param;
    f->family->arguments(f, f->weight);
    return f->weight;
}

static void draw_vector(const struct fit *f, const struct stream *s, int from, int n,
                        double *const *out)
{
    int dim[3] = {f->num_vars, 1, f->num_vars};
    double *arg = arguments(f);
    for (int k = 0; k < f->num_args; k++) f->element[k] = (struct lanes){fit_row(f, arg, k), 1};
    for (int k = 0; k < f->num_vars; k++) f->pointer[k] = out[k] + from;
    f->family->dist->bsample(f->family->dist, s, dim, n, f->pointer, f->element, f->scratch);
}

void conjugate_draw(const void *self, const struct stream *s, const int *dim, int L,
                    double *const *out, const struct lanes *in, double *work)
{
    (void)dim;
    struct visit v;
    visit_begin(&v, self, 0, work);
    for (int from = 0, n; from < L; from += n) {
        n = fit_slab(&v, in, from, L);
        for (int c = 0; c < v.g->num_comps; c++) {
            struct fit f = fit_of(&v, c);
            int first = v.g->var_start[c];
            struct stream own = {s->seed, (uint32_t)v.g->var[first].row, s->first + (uint64_t)from};
            const double *param[2] = {f.param, fit_row(&f, f.param, 1)};
            if (f.family->shape != SHAPE_NUMBER)
                draw_vector(&f, &own, from, n, out + first);
            else
                f.family->dist->sample(f.family->dist, &own, n, out[first] + from, param);
        }
    }
}

/* NaN where they do not exist. */
static void lane_moments(const struct fit *f, const double *arg, int b, double *const *mean,
                         double *const *var, int to)
{
    double *p = f->one, *m = p + f->num_args, *s = m + f->num_args;
    int matrix[2] = {1, f->num_vars}, *size = matrix;
    if (f->family->shape != SHAPE_MATRIX) *size = f->num_args;
    for (int k = 0; k < f->num_args; k++) p[k] = fit_row(f, (double *)arg, k)[b];
    int none = f->family->dist->moments(size, p, m, s);
    for (int k = 0; k < f->num_vars; k++) {
        mean[k][to] = none ? NAN : m[k];
        var[k][to] = none ? NAN : s[k];
    }
}

void conjugate_moments(const void *self, const int *dim, int L, double *const *out,
                       const struct lanes *in, double *work)
{
    (void)dim;
    struct visit v;
    visit_begin(&v, self, 0, work);
    for (int from = 0, n; from < L; from += n) {
        n = fit_slab(&v, in, from, L);
        for (int c = 0; c < v.g->num_comps; c++) {
            struct fit f = fit_of(&v, c);
            double *const *mean = out + v.g->var_start[c], *arg = arguments(&f);
            for (int b = 0; b < n; b++)
                lane_moments(&f, arg, b, mean, mean + v.g->num_vars, from + b);
        }
    }
}

/* ---- is the integrand in the family? ----------------------------------------------------------
 */

/* log f at the variables' values as the fit has it, relative to that at the center. */
static void predict(const struct fit *f, const double *var, double *center, double *out)
{
    double *t = fit_row(f, f->work, 4), *zero = fit_row(f, f->work, 5);
    memset(out, 0, sizeof *out * (size_t)f->lanes);
    for (int k = 0; k < f->num_params; k++) {
        const double *arg = fit_row(f, f->param, k);
        double shift = f->family->shift[f->family->shape == SHAPE_SIMPLEX ? 0 : k];
        f->family->statistic(f, k, var, t);
        f->family->statistic(f, k, center, zero);
        for (int b = 0; b < f->lanes; b++) out[b] += (arg[b] - shift) * (t[b] - zero[b]);
    }
}

/* Does the fit agree with the integrand at this point, in the lanes that were found? */
static int agrees(const struct visit *v, int c, int n)
{
    struct fit f = fit_of(v, c);
    double *sum = fit_row(&f, f.work, 6), *size = fit_row(&f, f.work, 7);
    double *want = fit_row(&f, f.work, 8);
    f.family->values(&f, 0, f.weight); /* not in use: has space for num_params rows */
    if (f.family->predict)
        f.family->predict(&f, variables(v, c), want);
    else
        predict(&f, variables(v, c), f.weight, want);
    integrand(v, c, 0, sum, size);
    for (int b = 0; b < n; b++) {
        if (f.state[b] != FIT_FOUND) continue;
        double far = fabs(sum[b] - f.value[b] - want[b]);
        if (!isfinite(sum[b]) ? want[b] > -negligible
                              : !(far <= tolerance * (1 + size[b] + f.size[b])))
            return 0;
    }
    return 1;
}

static int all_agree(struct visit *v, int n)
{
    for (int point = 1; point <= CONJUGATE_CHECKS; point++) {
        place(v, point, 1);
        visit_run(v);
        for (int c = 0; c < v->g->num_comps; c++)
            if (!agrees(v, c, n)) return 0;
    }
    return 1;
}

/* The density of a probability vector is 0 where elements do not sum to 1. */
static int all_tied(struct visit *v, int n)
{
    place(v, 0, 0);
    for (int c = 0; c < v->g->num_comps; c++) {
        double *x = variables(v, c);
        for (int b = 0; b < visit_width(v); b++) x[b] *= 0.5;
    }
    visit_run(v);
    for (int c = 0; c < v->g->num_comps; c++) {
        struct fit f = fit_of(v, c);
        integrand(v, c, 0, f.work, fit_row(&f, f.work, 1));
        for (int b = 0; b < n; b++)
            if (f.state[b] == FIT_FOUND && isfinite(f.work[b])) return 0;
    }
    return 1;
}

/* Counts the lanes that were found; 0 if one is finite and has no fit: the integral diverges. */
static int count(const struct visit *v, int n, double *found)
{
    for (int c = 0; c < v->g->num_comps; c++) {
        struct fit f = fit_of(v, c);
        for (int b = 0; b < n; b++) {
            if (f.state[b] == FIT_MOVING) return 0;
            found[c] += f.state[b] == FIT_FOUND;
        }
    }
    return 1;
}

int conjugate_fits(const struct integral *g, int L, const struct lanes *in, double *work)
{
    struct visit v;
    visit_begin(&v, g, 0, work);
    double *found = v.extra + g->extra - g->num_comps;
    for (int c = 0; c < g->num_comps; c++) found[c] = 0;
    for (int from = 0, n; from < L; from += n) {
        n = fit_slab(&v, in, from, L);
        if (!count(&v, n, found)) return 0;
        visit_inputs(&v, in, from, n); /* one copy */
        if (!all_agree(&v, n)) return 0;
        if (plan_of(&v)->family->shape == SHAPE_SIMPLEX && !all_tied(&v, n)) return 0;
    }
    for (int c = 0; c < g->num_comps; c++)
        if (found[c] < 0.25 * L) return 0;
    return 1;
}
