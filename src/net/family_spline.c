/* family_spline.c: neural spline flow.
   A standard normal number through a monotone rational-quadratic spline (Durkan, Bekasov, Murray
   and Papamakarios 2019) of K bins on [-B, B], the identity outside, and an affine function:

       t = (x - shift) exp(-log_sd(r)),  u = spline(t),  log q = log N(u) + log du/dt - log_sd(r)

   Outputs: shift, r, K widths, K heights (each through a softmax, none below a minimum), K - 1
   slopes at the inner knots (logarithms, squashed).  Zeros are the identity: N(0, 1). */
#include "net/family_impl.h"

static const double B = 5;

static int outputs(const struct output_dist *h) { return 3 * h->size + 1; }
static int bins(const int *dim) { return (dim[1] - 1) / 3; }

static int work_size(const int *dim) { return 2 * bins(dim) * SLAB; }

/* ---- the bins ----------------------------------------------------------------------- */

/* A bin is at least `low` wide and high; `rest` is shared out. */
struct room {
    double low, rest;
};
static struct room room(int K)
{
    double low = 2 * B * fmin(1e-3, 0.1 / K);
    return (struct room){low, 2 * B - K * low};
}

/* Numbers proportional to the shares of widths and heights, K * SLAB of each; to be divided by
   their sums. */
struct shares {
    double *w, *h, wsum[SLAB], hsum[SLAB];
};

static void shares(int K, const struct lanes *o, struct slab s, double *work, struct shares *y)
{
    double top[SLAB], buf[SLAB];
    for (int k = 0; k < 2 * K; k++)
        memcpy(work + k * SLAB, lanes_at(&o[FLOW + k], s, buf), sizeof(double) * (size_t)s.m);
    y->w = work;
    y->h = work + K * SLAB;
    exp_sum(K, s.m, y->w, top, y->wsum);
    exp_sum(K, s.m, y->h, top, y->hsum);
}

/* The bin of each lane: its number, corner (x0, y0), width and height; the slopes d0, d1 at its
   ends and their derivatives by the outputs */
struct bin {
    double k[SLAB], x0[SLAB], y0[SLAB], w[SLAB], h[SLAB];
    double d0[SLAB], d1[SLAB], dd0[SLAB], dd1[SLAB];
};

INLINE double knot(double o, double *d)
{
    double slope, v = exp(squash(o, 7, 7, &slope));
    *d = v * slope;
    return v;
}

/* The bins where t is by width, or by height if `inverse`. */
WIDE static void find(int K, const struct lanes *o, struct slab s, const struct shares *y,
                      bool inverse, const double *restrict t, struct bin *restrict at)
{
    double x[SLAB], z[SLAB], one[SLAB], two[SLAB], none[SLAB], r0[SLAB], r1[SLAB];
    const struct room room_ = room(K);
    const double *o0 = none; /* of the knot on the left */
    fill(x, -B);
    fill(z, -B);
    fill(none, 0);
    for (int k = 0; k < K; k++) {
        const double *restrict w = y->w + k * SLAB, *restrict h = y->h + k * SLAB;
        const double *edge = inverse ? z : x;
        const double *o1 = none;
        if (k + 1 < K) o1 = lanes_at(&o[FLOW + 2 * K + k], s, k % 2 ? one : two);
        EACH(b, s.m)
        {
            bool here = k == 0 || t[b] >= edge[b];
            double wide = room_.low + room_.rest * w[b] / y->wsum[b];
            double high = room_.low + room_.rest * h[b] / y->hsum[b];
            at->k[b] = here ? k : at->k[b];
            at->x0[b] = here ? x[b] : at->x0[b];
            at->y0[b] = here ? z[b] : at->y0[b];
            at->w[b] = here ? wide : at->w[b];
            at->h[b] = here ? high : at->h[b];
            r0[b] = here ? o0[b] : r0[b];
            r1[b] = here ? o1[b] : r1[b];
            x[b] += wide;
            z[b] += high;
        }
        o0 = o1;
    }
    EACH(b, s.m)
    {
        at->d0[b] = knot(r0[b], &at->dd0[b]);
        at->d1[b] = knot(r1[b], &at->dd1[b]);
    }
}

/* ---- within a bin: with v = (t - x0) / w, p = v (1 - v), sl = h / w
            u = y0 + h A / D,  du/dt = sl^2 N / D^2
            A = sl v^2 + d0 p,  D = sl + (d0 + d1 - 2 sl) p,
            N = d1 v^2 + 2 sl p + d0 (1 - v)^2 ------------------------------------------- */

struct point {
    double v, p, sl, A, D, N;
};

INLINE bool inside(double t) { return fabs(t) < B; }

INLINE struct point point(double t, const struct bin *at, int b)
{
    double v = inside(t) ? (t - at->x0[b]) / at->w[b] : 0;
    double p = v * (1 - v), sl = at->h[b] / at->w[b];
    double d0 = at->d0[b], d1 = at->d1[b];
    return (struct point){v,
                          p,
                          sl,
                          sl * v * v + d0 * p,
                          sl + (d0 + d1 - 2 * sl) * p,
                          d1 * v * v + 2 * sl * p + d0 * (1 - v) * (1 - v)};
}

WIDE static void logq(const void *self, const int *dim, int L, double *const *out,
                      const struct lanes *a, double *work)
{
    (void)self;
    EACH_SLAB(s, L)
    {
        struct shares share;
        struct bin at;
        double t[SLAB], ls[SLAB], lq[SLAB];
        flow_in(a, a + 1, s, t, ls);
        shares(bins(dim), a + 1, s, work, &share);
        find(bins(dim), a + 1, s, &share, false, t, &at);
        EACH(b, s.m)
        {
            struct point c = point(t[b], &at, b);
            double u = at.y0[b] + at.h[b] * c.A / c.D, f = c.sl / c.D, J = f * f * c.N;
            u = inside(t[b]) ? u : t[b];
            J = inside(t[b]) ? J : 1;
            lq[b] = log(J) - 0.5 * u * u - ls[b] - HALF_LOG_2PI;
        }
        put(s, lq, out[0]);
    }
}

/* Derivatives by t, by the corner, size and slopes of the bin; of log q, */
struct back {
    double t[SLAB], x0[SLAB], y0[SLAB], w[SLAB], h[SLAB], d0[SLAB], d1[SLAB];
};

WIDE static void point_grad(int m, const double *restrict t, const double *restrict g,
                            const struct bin *restrict at, struct back *restrict d)
{
    EACH(b, m)
    {
        bool in = inside(t[b]);
        struct point c = point(t[b], at, b);
        double d0 = at->d0[b], d1 = at->d1[b], w = 1 / at->w[b], D = 1 / c.D, h = at->h[b];
        double v = c.v, p = c.p, p_v = 1 - 2 * v, s = c.sl, ratio = c.A * D;
        double u = at->y0[b] + h * ratio, g_in = in ? g[b] : 0;
        double A = -u * h * D, N = 1 / c.N, D_ = (u * h * ratio - 2) * D; /* by A, N, D */
        double by_v = A * (2 * s * v + d0 * p_v) + D_ * (d0 + d1 - 2 * s) * p_v +
                      2 * N * (d1 * v + s * p_v - d0 * (1 - v));
        double by_s = A * v * v + D_ * (1 - 2 * p) + 2 * N * p + 2 / s;
        d->t[b] = in ? g[b] * by_v * w : -g[b] * t[b];
        d->x0[b] = -g_in * by_v * w;
        d->y0[b] = -g_in * u;
        d->w[b] = -g_in * (by_v * v + by_s * s) * w;
        d->h[b] = g_in * (by_s * w - u * ratio);
        d->d0[b] = g_in * ((A + D_) * p + N * (1 - v) * (1 - v)) * at->dd0[b];
        d->d1[b] = g_in * (D_ * p + N * v * v) * at->dd1[b];
    }
}

/* and of the t with u(t) = u: minus those of u, over du/dt.  Outside of the bins it does not move.
 */
WIDE static void point_path(int m, const double *restrict t, const double *restrict g,
                            const struct bin *restrict at, struct back *restrict d)
{
    EACH(b, m)
    {
        struct point c = point(t[b], at, b);
        double v = c.v, p = c.p, s = c.sl, w = 1 / at->w[b], D = 1 / c.D, ratio = c.A * D;
        double slope = s * s * D * D * c.N, h = at->h[b], g_in = inside(t[b]) ? g[b] : 0;
        double by = -g_in / slope, by_s = h * D * (v * v - ratio * (1 - 2 * p));
        d->x0[b] = g_in;
        d->y0[b] = by;
        d->w[b] = g_in * v - by * by_s * s * w;
        d->h[b] = by * (ratio + by_s * w);
        d->d0[b] = by * h * p * D * (1 - ratio) * at->dd0[b];
        d->d1[b] = -by * h * p * D * ratio * at->dd1[b];
    }
}

/* From derivatives by a corner and by the size of bin `at` to those by outputs: with shares p_j,
   p_j (G_j - sum_i p_i G_i), G_j by the size of bin j */
WIDE static void shares_grad(int K, struct slab s, const double *restrict e,
                             const double *restrict sum, const double *restrict at,
                             const double *restrict corner, const double *restrict size,
                             double *const *da)
{
    double mean[SLAB], d[SLAB], rest = room(K).rest;
    fill(mean, 0);
    for (int pass = 0; pass < 2; pass++)
        for (int k = 0; k < K; k++) {
            const double *restrict y = e + k * SLAB;
            EACH(b, s.m)
            {
                double before = k < at[b] ? corner[b] : 0, G = k == at[b] ? size[b] : before;
                double p = y[b] / sum[b];
                d[b] = rest * p * (G - mean[b]);
                mean[b] += pass ? 0 : p * G;
            }
            if (pass) add(s, d, da[k]);
        }
}

/* All outputs behind shift and r, by derivatives of the bins */
static void bins_grad(int K, struct slab s, const struct shares *y, const struct bin *at,
                      const struct back *d, double *const *da)
{
    double dk[SLAB];
    shares_grad(K, s, y->w, y->wsum, at->k, d->x0, d->w, da);
    shares_grad(K, s, y->h, y->hsum, at->k, d->y0, d->h, da + K);
    for (int k = 0; k + 1 < K; k++) { /* the knot between bins k and k + 1 */
        EACH(b, s.m)
        {
            double right = at->k[b] == k + 1 ? d->d0[b] : 0;
            dk[b] = at->k[b] == k ? d->d1[b] : right;
        }
        add(s, dk, da[2 * K + k]);
    }
}

WIDE static void grad(const void *self, const int *dim, int L, const double *const *out,
                      const double *const *dout, const struct lanes *a, double *const *da,
                      double *work)
{
    (void)self, (void)out;
    int K = bins(dim);
    EACH_SLAB(s, L)
    {
        struct shares share;
        struct bin at;
        struct back d;
        double t[SLAB], ls[SLAB], gbuf[SLAB];
        const double *restrict g = lanes_of(dout[0], s, gbuf);
        flow_in(a, a + 1, s, t, ls);
        shares(K, a + 1, s, work, &share);
        find(K, a + 1, s, &share, false, t, &at);
        point_grad(s.m, t, g, &at, &d);
        flow_grad(a, s, t, g, d.t, da);
        bins_grad(K, s, &share, &at, &d, da + 1 + FLOW);
    }
}

WIDE static void path(const void *self, const int *dim, int L, const double *const *out,
                      const double *const *dout, const struct lanes *a, double *const *da,
                      double *work)
{
    (void)self;
    int K = bins(dim);
    struct lanes x = {out[0], 1};
    EACH_SLAB(s, L)
    {
        struct shares share;
        struct bin at;
        struct back d;
        double t[SLAB], ls[SLAB], gbuf[SLAB], by_t[SLAB];
        const double *restrict g = lanes_of(dout[0], s, gbuf);
        flow_in(&x, a, s, t, ls);
        shares(K, a, s, work, &share);
        find(K, a, s, &share, false, t, &at);
        EACH(b, s.m) by_t[b] = g[b] * exp(ls[b]);
        point_path(s.m, t, by_t, &at, &d);
        flow_path(a, s, t, g, da);
        bins_grad(K, s, &share, &at, &d, da + FLOW);
    }
}

/* u = y0 + h A / D is a quadratic equation: a2 v^2 + a1 v = a0 */
WIDE static void sample(const void *self, const struct stream *stream, const int *dim, int L,
                        double *const *out, const struct lanes *a, double *work)
{
    (void)self;
    stream_normal(stream, L, out[0]);
    EACH_SLAB(s, L)
    {
        struct shares share;
        struct bin at;
        double t[SLAB], x[SLAB], ubuf[SLAB];
        const double *restrict u = lanes_of(out[0], s, ubuf);
        shares(bins(dim), a, s, work, &share);
        find(bins(dim), a, s, &share, true, u, &at);
        EACH(b, s.m)
        {
            double h = at.h[b], sl = h / at.w[b];
            double y = inside(u[b]) ? u[b] - at.y0[b] : 0;
            double twist = y * (at.d0[b] + at.d1[b] - 2 * sl), a2 = h * (sl - at.d0[b]) + twist;
            double a1 = h * at.d0[b] - twist, a0 = sl * y, root = a1 * a1 + 4 * a2 * a0;
            double v = 2 * a0 / (a1 + sqrt(root > 0 ? root : 0));
            t[b] = inside(u[b]) ? at.x0[b] + v * at.w[b] : u[b];
        }
        flow_out(a, s, t, x);
        put(s, x, out[0]);
    }
}

const struct family family_spline = {
    "spline",           "a Gaussian through a monotone rational-quadratic spline",
    .size = 10,         .size_what = "bins",
    .outputs = outputs, .logq = logq,
    .grad = grad,       .sample = sample,
    .path = path,       .work = work_size,
};
