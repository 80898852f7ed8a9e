/* test_path.c: derivatives of draws, of every continuous distribution of numbers and every family:
   against differences of draws from the same numbers, against those of quantiles, and as
   derivatives of expectations, against integrals. */
#include <stdlib.h>

#include "dist/math.h"
#include "family_at.h"
#include "net/encoding.h"

/* ---- distributions ------------------------------------------------------------------ */

#undef check
#define check(it, ok, ...)                                                                         \
    do {                                                                                           \
        if (!(ok)) {                                                                               \
            fprintf(stderr, "%s(%g, %g, %g): ", (it)->d->name, (it)->p[0], (it)->p[1],             \
                    (it)->p[2]);                                                                   \
            fail_msg(__VA_ARGS__);                                                                 \
        }                                                                                          \
    } while (0)

enum { N = 64 };

/* Are draws transformations of one number, as argument k goes? */
static bool transforms(const struct dist *d, int k)
{
    const char *others[] = {"gamma",          "inv_gamma",   "chi_square",
                            "beta",           "f_dist",      "gen_gamma",
                            "exp_mod_normal", "skew_normal", "noncentral_t",
                            "scaled_gamma",   "von_mises",   "noncentral_chi_square"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(d->name, others[i]) == 0) return false;
    return strcmp(d->name, "student_t") != 0 || k > 0;
}

/* g[k][i]: by argument k */
static void path_of(const struct at *it, int n, const double *x, double g[][N])
{
    double full[DIST_ARGS][N], one[N], *da[DIST_ARGS];
    const double *a[DIST_ARGS];
    for (int i = 0; i < n; i++) one[i] = 1;
    for (int k = 0; k < it->np; k++) {
        for (int i = 0; i < n; i++) full[k][i] = it->p[k];
        a[k] = full[k];
        da[k] = g[k];
    }
    it->d->path(it->d, n, x, one, a, da);
}

/* The number with the probability of x at `it`, for arguments p: by the smaller tail */
static double moved(const struct at *it, double x, const double *p)
{
    double u = it->d->cdf(x, it->p);
    return u < 0.5 ? it->d->quantile(u, p) : it->d->cquantile(it->d->ccdf(x, it->p), p);
}

/* The unit of argument k: for a location the scale, which follows it */
static double unit_of(const struct at *it, int k)
{
    if (it->d->arg[k].domain != REAL) return it->p[k];
    return k + 1 < it->np ? it->p[1 + k] : 1;
}

/* Differences of fourth order, by draws from the same numbers, or by quantiles */
static void differences(const struct at *it, const struct stream *s, int k, const double *x,
                        bool by_draws, double *d)
{
    double h = 2e-3 * unit_of(it, k), v[4][N];
    if (it->d->arg[k].domain == UNIT || it->d->arg[k].domain == OPEN_UNIT)
        h = 2e-3 * fmin(it->p[k], 1 - it->p[k]);
    if (it->d == &dist_uniform) h = 2e-3 * (it->p[1] - it->p[0]);
    for (int j = 0; j < 4; j++) {
        struct at to = *it;
        to.p[k] += (j < 2 ? 1 : 2) * (j % 2 ? h : -h);
        if (by_draws)
            at_draw(&to, s, N, v[j]);
        else
            for (int i = 0; i < N; i++) v[j][i] = moved(it, x[i], to.p);
    }
    for (int i = 0; i < N; i++) d[i] = (8 * (v[1][i] - v[0][i]) - (v[3][i] - v[2][i])) / (12 * h);
}

static void distributions(void **state)
{
    (void)state;
    for_each_try(it)
    {
        check(&it, !it.d->path == (!it.d->sample || at_discrete(&it)), "has it a path?");
        if (!it.d->path) continue;
        for (uint32_t node = 0; node < 4; node++) {
            struct stream s = {.seed = 51, .node = node};
            double x[N], g[DIST_ARGS][N], d[N];
            at_draw(&it, &s, N, x);
            path_of(&it, N, x, g);
            for (int k = 0; k < it.np; k++)
                for (int how = !it.d->cdf; how < 1 + transforms(it.d, k); how++) {
                    differences(&it, &s, k, x, how, d);
                    for (int i = 0; i < N; i++) {
                        /* what rounding does to x moves the differences by so much */
                        double noise = 1e-12 * fabs(x[i] / unit_of(&it, k));
                        check(&it, fabs(g[k][i] - d[i]) <= 1e-7 * fabs(d[i]) + noise,
                              "%g moves with %s by %.10g, not %.10g", x[i], it.d->arg[k].name,
                              g[k][i], d[i]);
                    }
                }
        }
    }
}

/* Against derivatives in 60 digits (mpmath, by series of positive terms) */
static void shapes(void **state)
{
    (void)state;
    static const double gammas[][3] = {/* a, x, d log x / da */
                                       {0.001, 1e-200, 459941.446666999},
                                       {0.001, 0.5, 923.98433437848},
                                       {0.3, 1e-06, 45.4877691932913},
                                       {0.3, 4, 1.10608596270308},
                                       {1, 1, 1.17356302722473},
                                       {1, 30, 0.133690092844089},
                                       {7.5, 2, 0.245375798267874},
                                       {7.5, 9, 0.124282243931846},
                                       {7.5, 25, 0.070284669039376},
                                       {300, 280, 0.00345156035415183},
                                       {300, 301.5, 0.00332687552619848},
                                       {300, 390, 0.0029167749247234},
                                       {9999, 9900, 0.00010051006777479},
                                       {9999, 10000, 0.000100006667266726},
                                       {10001, 9700, 0.000101527281539261},
                                       {10001, 10002, 9.99866685996991e-5},
                                       {10001, 10500, 9.7577115300536e-5},
                                       {1e6, 1003000, 9.98503159683292e-7}};
    static const double betas[][5] = {/* a, b, x, 1 - x, d logit x / da */
                                      {0.01, 0.02, 1e-30, 1, 10237.8921752571},
                                      {0.01, 0.02, 1, 1e-20, 3334.9315518625},
                                      {0.3, 0.4, 0.2, 0.8, 9.70250584623665},
                                      {0.3, 0.4, 0.75, 0.25, 6.34092127834364},
                                      {2, 3, 0.01, 0.99, 2.04608227739639},
                                      {2, 3, 0.875, 0.125, 0.388737058556918},
                                      {500, 2, 0.9921875, 0.0078125, 0.00200585220370102},
                                      {500, 2, 0.96875, 0.03125, 0.00202989956130705},
                                      {2, 500, 0.0078125, 0.9921875, 0.380958786449017},
                                      {3000, 4000, 0.4375, 0.5625, 0.000329942716356028},
                                      {3000, 4000, 0.40625, 0.59375, 0.00034236268627919}};
    static const double ts[][3] = {
        /* nu, x, dx/dnu */
        {0.2, 0.5, -1.67877521059759},   {0.2, 1e6, -73393308.2546205},
        {3, 0.1, -0.00267830372214097},  {3, 2, -0.225974791987279},
        {30, 5, -0.0294513471262804},    {900, 0.5, -1.92911846608654e-7},
        {900, 3, -9.2346883374952e-6},   {1100, 0.5, -1.29138054136228e-7},
        {1100, 3, -6.18487747103835e-6}, {1100, 3.5, -9.55157775973737e-6},
        {1e4, 4, -1.69920063622018e-7}};
    for (size_t i = 0; i < sizeof gammas / sizeof *gammas; i++) {
        const double *r = gammas[i], v = log_gamma_slope(r[0], r[1]);
        if (!(fabs(v / r[2] - 1) < (r[0] > 1e4 ? 1e-7 : 1e-11)))
            fail_msg("gamma(%g) at %g: %.15g, not %.15g", r[0], r[1], v, r[2]);
    }
    for (size_t i = 0; i < sizeof betas / sizeof *betas; i++) {
        const double *r = betas[i], v = logit_beta_slope(r[0], r[1], r[2], r[3]);
        if (!(fabs(v / r[4] - 1) < 1e-9))
            fail_msg("beta(%g, %g) at %g: %.15g, not %.15g", r[0], r[1], r[2], v, r[4]);
    }
    for (size_t i = 0; i < 2 * sizeof ts / sizeof *ts; i++) {
        const double *r = ts[i / 2], sign = i % 2 ? -1 : 1, x = sign * r[1];
        struct at it = {.d = &dist_student_t, .np = 3, .p = {r[0], 0, 1}};
        double g[DIST_ARGS][N];
        path_of(&it, 1, &x, g);
        if (!(fabs(sign * g[0][0] / r[2] - 1) < 1e-7))
            fail_msg("student_t(%g) at %g: %.15g, not %.15g", r[0], x, sign * g[0][0], r[2]);
    }
    assert_true(isnan(log_gamma_slope(-1, 1)) && isnan(logit_beta_slope(1, NAN, 0.5, 0.5)));
    for (double a = 1e5; a < 1e300; a *= 1e5) { /* the limits: the mean moves, and all with it */
        assert_true(fabs(a * log_gamma_slope(a, a) - 1) < 1e-5);
        assert_true(fabs(a * logit_beta_slope(a, a, 0.5, 0.5) - 1) < 1e-5);
        assert_true(fabs(a * logit_beta_slope(a, 0.5, 1, 1 / a) - 1) < 1e-5);
    }
}

/* ---- families ------------------------------------------------------------------------ */

#undef check
#define check(c, ok, ...)                                                                          \
    do {                                                                                           \
        if (!(ok)) {                                                                               \
            fprintf(stderr, "%s(%d) %s: ", (c)->h.family->name, (c)->h.size,                       \
                    (c)->h.dist ? (c)->h.dist->name : "");                                         \
            fail_msg(__VA_ARGS__);                                                                 \
        }                                                                                          \
    } while (0)

/* All heads: families at several sizes, and match as every distribution at zeros from the network
 */
static const int sizes[] = {1, 2, 3, 9};
#define for_each_output(c)                                                                         \
    for (int n_ = 0; n_ < all_outputs(NULL); n_++)                                                 \
        for (struct case_ c = output_at(n_); c.h.family; c.h.family = NULL)

static int all_outputs(struct output_dist *at) /* their number; at[number] <- them */
{
    int n = 0;
    for (int f = 0; net_families[f]; f++) {
        const struct family *y = net_families[f];
        assert_int_equal(!y->path, y->discrete);
        if (y->discrete || y == &family_match) continue;
        for (int s = 0; s < (y->size ? 4 : 1); s++, n++)
            if (at) at[n] = (struct output_dist){.family = y, .size = y->size ? sizes[s] : 0};
    }
    for_each_try(it)
    {
        if (!it.d->path || it.d->bounds) continue;
        struct output_dist h = {.family = &family_match, .dist = it.d};
        for (int k = 0; k < it.np; k++) {
            h.scale[k] = 1;
            unconstrain(it.d->arg[k].domain, -INFINITY, INFINITY, 1, &it.p[k], &h.shift[k]);
        }
        if (at) at[n] = h;
        n++;
    }
    return n;
}

static struct case_ output_at(int n)
{
    static struct output_dist all[200];
    assert_true(all_outputs(NULL) < 200);
    all_outputs(all);
    return case_of(&all[n]);
}

/* Is a draw a transformation of one number? */
static bool one_number(const struct case_ *c)
{
    if (c->h.dist) return transforms(c->h.dist, 0);
    return c->h.family != &family_mixture || c->h.size == 1;
}

/* Against differences of draws from the same numbers.  Where two steps give different ones (a kink)
   it is not looked at. */
static void draws(void **state)
{
    (void)state;
    struct rng r;
    rng_init(&r, 52, 1);
    for_each_output(c)
    {
        int unclear = 0, all = 0;
        if (!one_number(&c)) continue;
        for (uint32_t i = 0; i < 20; i++) {
            double o[OUTPUTS], x[N], v[N], w[OUTPUTS], g[OUTPUTS][N];
            random_outputs(&r, c.dim[1], (c.h.dist ? 0.2 : 0.7) * (i % 4), o);
            sample_at(&c, i, N, o, x);
            path_at(&c, N, x, o, g[0], N);
            for (int j = 0; j < c.dim[1]; j++) {
                double d[2][N] = {{0}};
                for (int t = 0; t < 8; t++) {
                    const double by[] = {8, -8, -1, 1}, at[] = {1, -1, 2, -2};
                    double h = t < 4 ? 1e-3 : 5e-4;
                    memcpy(w, o, sizeof w);
                    w[j] += h * at[t % 4];
                    sample_at(&c, i, N, w, v);
                    for (int b = 0; b < N; b++) d[t / 4][b] += by[t % 4] * v[b] / (12 * h);
                }
                for (int b = 0; b < N; b++, all++) {
                    double tol = 1e-6 * fabs(g[j][b]) + 1e-9 * (fabs(x[b]) + (c.h.dist ? 0 : 1));
                    if (fabs(d[0][b] - d[1][b]) > tol)
                        unclear++;
                    else
                        check(&c, fabs(g[j][b] - d[1][b]) < 2 * tol,
                              "%g moves with output %d by %.10g, not %.10g", x[b], j, g[j][b],
                              d[1][b]);
                }
            }
        }
        check(&c, unclear <= all / 50, "%d of %d differences are unclear", unclear, all);
    }
}

/* A mixture's distribution function, or its complement, as its file says */
static double mixture_tail(int K, const double *o, double x, bool upper)
{
    double gap = sqrt(6. / ((double)K * K - 1)), sum = 0, tail = 0;
    for (int k = 0; k < K; k++) {
        double mean = gap * (k - 0.5 * (K - 1)) + o[K + k], t = o[2 * K + k], c = t < 0 ? 12 : 6;
        t = c * (t / c) / pow(1 + pow(t / c, 4), 0.25);
        double z = (x - mean) / exp(t) * M_SQRT2;
        sum += exp(o[k]);
        tail += exp(o[k]) * normal_p(upper ? -z : z);
    }
    return tail / sum;
}

/* The x with the probability that x0 has at o, for outputs w: bisection, by the smaller tail */
static double mixture_moved(int K, const double *o, double x0, const double *w)
{
    bool upper = mixture_tail(K, o, x0, false) > 0.5;
    double u = mixture_tail(K, o, x0, upper), lo = x0 - 1, hi = x0 + 1;
    for (int i = 0; i < 60; i++) {
        double x = 0.5 * (lo + hi);
        if ((mixture_tail(K, w, x, upper) < u) != upper)
            lo = x;
        else
            hi = x;
    }
    return 0.5 * (lo + hi);
}

static void mixtures(void **state)
{
    (void)state;
    struct rng r;
    rng_init(&r, 53, 1);
    for (int K = 2; K <= 9; K += 1 + K / 3)
        for (uint32_t i = 0; i < 60; i++) {
            struct case_ c = case_of(&(struct output_dist){.family = &family_mixture, .size = K});
            double o[OUTPUTS], w[OUTPUTS], g[OUTPUTS], x;
            random_outputs(&r, c.dim[1], 0.35 * (i % 5), o);
            sample_at(&c, i, 1, o, &x);
            if (i % 3 == 2) x = (i % 2 ? 1 : -1) * (3 + i / 4.); /* far in the tails */
            if (!(mixture_tail(K, o, x, x > 0) > 1e-290)) continue;
            path_at(&c, 1, &x, o, g, 1);
            for (int j = 0; j < c.dim[1]; j++) {
                double v[4], h = 2e-4;
                for (int t = 0; t < 4; t++) {
                    memcpy(w, o, sizeof w);
                    w[j] += (t < 2 ? 1 : 2) * (t % 2 ? h : -h);
                    v[t] = mixture_moved(K, o, x, w);
                }
                double d = (8 * (v[1] - v[0]) - (v[3] - v[2])) / (12 * h);
                check(&c, fabs(g[j] - d) < 1e-6 * fabs(d) + 1e-10 * (1 + fabs(x)),
                      "%g moves with output %d by %.10g, not %.10g", x, j, g[j], d);
            }
        }
}

/* ---- expectations -------------------------------------------------------------------- */

static int ascending(const void *p, const void *q)
{
    double x = *(const double *)p, y = *(const double *)q;
    return (x > y) - (x < y);
}

/* The scale on which a value is looked at: unconstrained, in units of the draws' spread */
struct look {
    enum domain d;
    double mean, sd;
};

/* A bounded function of a value, and its derivative */
static double bounded(const struct look *l, double x, double *slope)
{
    double u, v, t;
    unconstrain(l->d, -INFINITY, INFINITY, 1, &x, &u);
    v = (u - l->mean) / l->sd;
    t = tanh(v - 0.5);
    *slope =
        (1 - t * t + 0.3 * cos(v) * exp(-0.05 * v * v) - 0.03 * v * sin(v) * exp(-0.05 * v * v)) *
        unconstrain_slope(l->d, -INFINITY, INFINITY, x) / l->sd;
    return t + 0.3 * sin(v) * exp(-0.05 * v * v);
}

/* Its expectation, by the trapezoidal rule over w: u = mean + sd sinh(w) */
static double expectation(const struct case_ *c, const struct look *l, const double *o)
{
    enum { NODES = 4001 };
    static double x[NODES], lq[NODES], f[NODES];
    double sum = 0, h = 20. / (NODES - 1), slope;
    for (int i = 0; i < NODES; i++) {
        double w = h * i - 10, u = l->mean + l->sd * sinh(w);
        double logj = constrain(l->d, -INFINITY, INFINITY, 1, &u, &x[i]);
        f[i] = h * l->sd * cosh(w) * exp(logj);
    }
    logq_at(c, NODES, x, o, lq);
    for (int i = 0; i < NODES; i++)
        if (domain_holds(l->d, &x[i], 1) && lq[i] > -INFINITY && f[i] <= DBL_MAX)
            sum += f[i] * exp(lq[i]) * bounded(l, x[i], &slope);
    return sum;
}

/* d E[f(x)] / d output is E[f'(x) dx / d output]: the mean over draws, whose error is known,
   against differences of the integral.  7 standard errors: the rate of false alarms is below 1e-8
   in all, as far as these means are normal. */
static void expectations(void **state)
{
    (void)state;
    enum { DRAWS = 1 << 14, PART = 256 };
    static double x[DRAWS], u[DRAWS], g[OUTPUTS][PART];
    struct rng r;
    rng_init(&r, 54, 1);
    for_each_output(c)
    {
        struct look l = {c.h.dist ? c.h.dist->domain : REAL, 0, 1};
        double o[OUTPUTS], sum[OUTPUTS] = {0}, square[OUTPUTS] = {0}, slope;
        random_outputs(&r, c.dim[1], c.h.dist ? 0.1 : 0.4, o);
        sample_at(&c, (uint32_t)n_, DRAWS, o, x);
        for (int i = 0; i < DRAWS; i++) unconstrain(l.d, -INFINITY, INFINITY, 1, &x[i], &u[i]);
        qsort(u, DRAWS, sizeof *u, ascending);
        l.mean = u[DRAWS / 2];
        l.sd = (u[5 * DRAWS / 6] - u[DRAWS / 6]) / 2;
        for (int at = 0; at < DRAWS; at += PART) {
            path_at(&c, PART, x + at, o, g[0], PART);
            for (int i = 0; i < PART; i++) {
                if (!domain_holds(l.d, &x[at + i], 1)) continue; /* rounded to the edge */
                bounded(&l, x[at + i], &slope);
                for (int j = 0; j < c.dim[1]; j++) {
                    sum[j] += slope * g[j][i] / DRAWS;
                    square[j] += pow(slope * g[j][i], 2) / DRAWS;
                }
            }
        }
        for (int j = 0; j < c.dim[1]; j++) {
            double w[OUTPUTS], v[2], h = 1e-3;
            for (int t = 0; t < 2; t++) {
                memcpy(w, o, sizeof w);
                w[j] += t ? h : -h;
                v[t] = expectation(&c, &l, w);
            }
            double want = (v[1] - v[0]) / (2 * h);
            double se = sqrt((square[j] - sum[j] * sum[j]) / DRAWS);
            check(&c, fabs(sum[j] - want) < 7 * se + 1e-5, "by output %d: %.6f, not %.6f (+-%.6f)",
                  j, sum[j], want, se);
        }
    }
}

/* ---- coordinates --------------------------------------------------------------------- */

/* What is summed: a function of each row */
static void wave(const void *self, int n, double *out, const double *const *a)
{
    (void)self;
    for (int i = 0; i < n; i++) out[i] = atan(a[0][i] + 0.3);
}

static void wave_grad(const void *self, int n, const double *out, const double *dout,
                      const double *const *a, double *const *da)
{
    (void)self, (void)out;
    for (int i = 0; i < n; i++) da[0][i] = dout[i] / (1 + pow(a[0][i] + 0.3, 2));
}

/* Adds rows first .. first + n - 1 to the total. */
static void add_waves(struct prog *p, int first, int n)
{
    struct instr *x = prog_emit(p, I_MAP, n, 1);
    assert_non_null(x);
    x->map = wave;
    x->map_grad = wave_grad;
    x->sum = 1;
    x->narg = 1;
    x->arg[0] = (struct operand){.m = 1, .base = first, .si = 1};
}

/* Coordinates (rows 0 ..) to elements, these to coordinates again, features of both, the
   log-Jacobian: derivatives of a function of all of them. */
static void codes(void **state)
{
    (void)state;
    static const struct {
        enum domain d;
        int n;
        double lo, hi;
    } at[] = {{REAL, 1, -INFINITY, INFINITY},
              {REAL, 1, -1.5, 2.4},
              {REAL, 1, 3, INFINITY},
              {REAL, 1, -INFINITY, 3},
              {POSITIVE, 1, -INFINITY, INFINITY},
              {OPEN_UNIT, 1, -INFINITY, INFINITY},
              {UNIT, 1, 0.2, INFINITY},
              {VECTOR, 3, -INFINITY, INFINITY},
              {POSITIVES, 3, -INFINITY, INFINITY},
              {SIMPLEX, 2, -INFINITY, INFINITY},
              {SIMPLEX, 5, -INFINITY, INFINITY},
              {SPD, 1, -INFINITY, INFINITY},
              {SPD, 9, -INFINITY, INFINITY},
              {CORR, 9, -INFINITY, INFINITY},
              {CHOL_CORR, 9, -INFINITY, INFINITY}};
    enum { LANES_ = 8, CODES = sizeof at / sizeof *at };
    for (int i = 0; i < CODES; i++) {
        int row[9], n = at[i].n, k = unconstrained_size(at[i].d, n), scalar = at[i].d < SIMPLEX;
        double mean[9], sd[9];
        struct encoding c = {
            .kind = ENCODING_REAL, .domain = at[i].d, .lo = at[i].lo, .hi = at[i].hi};
        c.num_elements = n, c.row = row, c.ncoord = c.nfeature = k, c.mean = mean, c.sd = sd;
        for (int j = 0; j < n; j++) row[j] = k + j, mean[j] = 0.2 * j - 0.4, sd[j] = 0.7 + 0.1 * j;
        struct encoding again = c;
        struct prog p = {.nrow = k + n, .nnode = k + n, .nunit = k};
        struct exec x;
        nami_err err;
        assert_int_equal(encoding_decode(&c, &p), 0);
        assert_int_equal(encoding_jacobian(&c, &p, 0), 0);
        again.coord = p.nrow;
        p.nrow += k;
        if (scalar) assert_int_equal(encoding_encode(&again, &p), 0);
        int first = p.nrow;
        for (int j = 0; j < k; j++)
            assert_int_equal(encoding_feature(scalar ? &again : &c, j, &p), 0);
        add_waves(&p, k, n);
        if (scalar) add_waves(&p, again.coord, k);
        add_waves(&p, first, k);
        assert_int_equal(exec_init(&x, &p, LANES_, 0, EXEC_GRAD, &err), 0);
        double g[9][LANES_], v[4][LANES_], u[9][LANES_], h = 1e-3;
        for (int j = 0; j < k; j++) /* near and far: features are other ones beyond 6 */
            for (int b = 0; b < LANES_; b++)
                u[j][b] = x.row[j * x.cap + b] = (b == 7 ? 8 : 0) * (i % 2 ? 1 : -1) * (j == 0) +
                                                 (b < 5 ? 1.2 : 0.3) * sin(i * 7 + j * 3 + b);
        exec_run(&x);
        exec_back(&x);
        for (int j = 0; j < k; j++) memcpy(g[j], x.adj + j * x.cap, sizeof g[j]);
        for (int j = 0; j < k; j++) {
            for (int t = 0; t < 4; t++) {
                for (int b = 0; b < LANES_; b++)
                    x.row[j * x.cap + b] = u[j][b] + (t < 2 ? 1 : 2) * (t % 2 ? h : -h);
                exec_run(&x);
                memcpy(v[t], x.total, sizeof v[t]);
            }
            memcpy(x.row + j * x.cap, u[j], sizeof u[j]);
            for (int b = 0; b < LANES_; b++) {
                double d = (8 * (v[1][b] - v[0][b]) - (v[3][b] - v[2][b])) / (12 * h);
                if (!near(g[j][b], d, 1e-7))
                    fail_msg("code %d, coordinate %d, lane %d: %.12g, not %.12g", i, j, b, g[j][b],
                             d);
            }
        }
        exec_fini(&x);
        prog_free(&p);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(distributions), cmocka_unit_test(shapes),       cmocka_unit_test(draws),
    cmocka_unit_test(mixtures),      cmocka_unit_test(expectations), cmocka_unit_test(codes),
};
RUN(tests)
