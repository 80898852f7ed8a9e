/* integral_dirichlet.c: integrands sum over k of a_k log v_k + c on the simplex: a Dirichlet
   density.  Probabilities with priors and likelihoods of categorical, multinomial, ...

   Probe j multiplies element j of the center m by r and normalizes.  With s_j = log(1 + (r - 1)
   m_j) and A = sum of a_k, the differences of log f are d_j = a_j log r - s_j A.  Summed, they give
   A = sum d_j / (log r - sum s_j), then all a_j. */
#include "base/simd.h"
#include "dist/math.h"
#include "exact/conjugate.h"

static const double factor = 2, log_factor = LOG_2;
enum { SHIFT = 1 };

static void start(const struct fit *f)
{
    for (int k = 0; k < f->num_vars; k++)
        for (int b = 0; b < f->lanes; b++) fit_row(f, f->center, k)[b] = 1. / f->num_vars;
}

/* By what element k is multiplied. */
static double multiple(const struct fit *f, int point, int k)
{
    static const double some[] = {1, 0.4, 3, 0.05, 1.5, 12, 0.8};
    int check = point - f->num_params;
    if (check > 0) return some[(k * (1 + check / 2) + check) % 7];
    return k == point - 1 ? factor : 1;
}

WIDE static void add_multiple(int n, const double *restrict x, double by, double *restrict out,
                              double *restrict sum)
{
    EACH(b, n)
    {
        out[b] = x[b] * by;
        sum[b] += out[b];
    }
}

WIDE static void divide(int n, double *restrict x, const double *restrict by)
{
    EACH(b, n) x[b] /= by[b];
}

WIDE static void logs(int n, const double *x, double *out) { EACH(b, n) out[b] = log(x[b]); }

static void zero(int n, double *x)
{
    for (int b = 0; b < n; b++) x[b] = 0;
}

static void values(const struct fit *f, int point, double *var)
{
    double *sum = f->work;
    zero(f->lanes, sum);
    for (int k = 0; k < f->num_vars; k++)
        add_multiple(f->lanes, fit_row(f, f->center, k), multiple(f, point, k), fit_row(f, var, k),
                     sum);
    for (int k = 0; k < f->num_vars; k++) divide(f->lanes, fit_row(f, var, k), sum);
}

static void statistic(const struct fit *f, int k, const double *var, double *out)
{
    logs(f->lanes, fit_row(f, (double *)var, k), out);
}

/* total += x, shift += s, more += x s */
WIDE static void add_sums(int n, const double *restrict x, const double *restrict m,
                          double *restrict total, double *restrict shift, double *restrict more)
{
    EACH(b, n)
    {
        double s = log1p((factor - 1) * m[b]);
        total[b] += x[b];
        shift[b] += s;
        more[b] += x[b] * s;
    }
}

static void sums(const struct fit *f, double *rows, double *total, double *shift, double *more)
{
    zero(f->lanes, total);
    zero(f->lanes, shift);
    zero(f->lanes, more);
    for (int k = 0; k < f->num_vars; k++)
        add_sums(f->lanes, fit_row(f, rows, k), fit_row(f, f->center, k), total, shift, more);
}

WIDE static void solve_one(int n, double *restrict x, const double *restrict m,
                           const double *restrict total, const double *restrict shift)
{
    EACH(b, n)
    {
        double all = total[b] / (log_factor - shift[b]);
        x[b] = (x[b] + all * log1p((factor - 1) * m[b])) / log_factor + SHIFT;
    }
}

static void solve(const struct fit *f)
{
    double *total = f->work, *shift = fit_row(f, f->work, 1), *more = fit_row(f, f->work, 2);
    sums(f, f->param, total, shift, more);
    for (int k = 0; k < f->num_vars; k++)
        solve_one(f->lanes, fit_row(f, f->param, k), fit_row(f, f->center, k), total, shift);
}

/* The transpose, and the sign of - log p */
WIDE static void weigh_one(int n, double *restrict x, const double *restrict shift,
                           const double *restrict more)
{
    EACH(b, n) x[b] = -(x[b] + more[b] / (log_factor - shift[b])) / log_factor;
}

static void weigh(const struct fit *f)
{
    double *total = f->work, *shift = fit_row(f, f->work, 1), *more = fit_row(f, f->work, 2);
    sums(f, f->weight, total, shift, more);
    for (int k = 0; k < f->num_vars; k++)
        weigh_one(f->lanes, fit_row(f, f->weight, k), shift, more);
}

/* The center goes to the mean. An element whose argument is negative, if only by rounding, becomes
   much smaller. */
static void move_lane(const struct fit *f, int b)
{
    double sum = 0, far = 0, rest = 0;
    int found = 1;
    for (int k = 0; k < f->num_vars; k++) {
        double alpha = fit_row(f, f->param, k)[b];
        sum += alpha > 0 ? alpha : 0;
    }
    for (int k = 0; k < f->num_vars; k++) {
        double alpha = fit_row(f, f->param, k)[b], m = fit_row(f, f->center, k)[b];
        double to = alpha / sum;
        found &= alpha > 0;
        far = fmax(far, fabs(log(to / m)));
        rest += to > m * 1e-8 ? to : m * 1e-8;
    }
    if (found && far <= LOG_2) {
        f->state[b] = FIT_FOUND;
        return;
    }
    for (int k = 0; k < f->num_vars; k++) {
        double *m = &fit_row(f, f->center, k)[b], to = fit_row(f, f->param, k)[b] / sum;
        *m = (to > *m * 1e-8 ? to : *m * 1e-8) / rest;
    }
}

static void move(const struct fit *f)
{
    for (int b = 0; b < f->live; b++)
        if (f->state[b] == FIT_MOVING) move_lane(f, b);
}

static void log_density(const struct fit *f, double *out, double *by_param)
{
    int n = f->num_vars, dim[2] = {n, n};
    for (int k = 0; k < n; k++) {
        f->element[k] = (struct lanes){fit_row(f, f->center, k), 1};
        f->element[n + k] = (struct lanes){fit_row(f, f->param, k), 1};
    }
    dist_dirichlet.blogp(&dist_dirichlet, dim, f->lanes, &out, f->element, NULL);
    if (!by_param) return;
    double *one = f->work;
    for (int b = 0; b < f->lanes; b++) one[b] = 1;
    for (int k = 0; k < n; k++) {
        f->pointer[k] = NULL;
        f->pointer[n + k] = fit_row(f, by_param, k);
        zero(f->lanes, f->pointer[n + k]);
    }
    dist_dirichlet.bgrad(&dist_dirichlet, dim, f->lanes, (const double *const *)&out,
                         (const double *const *)&one, f->element, f->pointer, NULL);
}

static const struct family family = {.dist = &dist_dirichlet,
                                     .high = 1,
                                     .shape = SHAPE_SIMPLEX,
                                     .shift = {SHIFT},
                                     .start = start,
                                     .values = values,
                                     .statistic = statistic,
                                     .solve = solve,
                                     .move = move,
                                     .density = log_density,
                                     .weigh = weigh};

static int plan(struct integral *g, nami_err *err) { return conjugate_plan(g, &family, err); }

const struct integral_kind integral_dirichlet = {.name = "dirichlet",
                                                 .what = "a Dirichlet density, in closed form",
                                                 CONJUGATE_KERNELS,
                                                 .vectors = 1};
