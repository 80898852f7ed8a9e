/* family_mixture.c: mixtures of K Gaussians; K = 1 is a Gaussian.
   With outputs l (logits), o (means), r (logarithms of standard deviations), K of each:

       q(x) = sum_k softmax(l)_k N(x; o_k + c_k, sd exp(log_sd(r_k)))

   At zeros the means are equally spaced, the mixture has mean 0 and variance 1, half of it between
   the components; K = 1 is N(0, 1). */
#include "net/family_impl.h"

static int outputs(const struct output_dist *h) { return 3 * h->size; }

/* c_k = first + k * gap, and log sd */
struct spread {
    double first, gap, log_sd;
};
static struct spread spread(int K)
{
    if (K == 1) return (struct spread){0};
    double gap = sqrt(6. / ((double)K * K - 1)); /* the variance of 0, ..., K-1 is (K^2 - 1) / 12 */
    return (struct spread){-0.5 * gap * (K - 1), gap, -0.5 * LOG_2};
}

/* For each component, K * SLAB numbers: z = (x - mean) / sd, inv = 1 / sd, slope of log_sd;
   joint = softmax(l) N, up to a factor of each lane; prior = softmax(l) likewise. */
struct parts {
    double *z, *inv, *slope, *joint, *prior;
};
enum { PARTS = sizeof(struct parts) / sizeof(double *) };

static int work_size(const int *dim) { return PARTS * dim[1] / 3 * SLAB; }

static struct parts parts_in(double *work, int K)
{
    int n = K * SLAB;
    return (struct parts){work, work + n, work + 2 * n, work + 3 * n, work + 4 * n};
}

/* lq <- log q.  The sums of joint and prior are for the gradients. */
WIDE static void mixture(int K, const struct lanes *value, const struct lanes *out, struct slab s,
                         struct parts p, double *lq, double *joint_sum, double *prior_sum)
{
    struct spread c = spread(K);
    double xbuf[SLAB], lbuf[SLAB], obuf[SLAB], rbuf[SLAB], joint_top[SLAB], prior_top[SLAB];
    const double *restrict x = lanes_at(value, s, xbuf);
    for (int k = 0; k < K; k++) {
        const double *restrict l = lanes_at(&out[k], s, lbuf);
        const double *restrict o = lanes_at(&out[K + k], s, obuf);
        const double *restrict r = lanes_at(&out[2 * K + k], s, rbuf);
        double *restrict z = p.z + k * SLAB, *restrict inv = p.inv + k * SLAB;
        double *restrict slope = p.slope + k * SLAB, *restrict joint = p.joint + k * SLAB;
        double *restrict prior = p.prior + k * SLAB, mean = c.first + k * c.gap;
        EACH(b, s.m)
        {
            double t = log_sd(r[b], &slope[b]) + c.log_sd;
            inv[b] = exp(-t);
            z[b] = (x[b] - mean - o[b]) * inv[b];
            joint[b] = l[b] - 0.5 * z[b] * z[b] - t;
            prior[b] = l[b];
        }
    }
    exp_sum(K, s.m, p.joint, joint_top, joint_sum);
    exp_sum(K, s.m, p.prior, prior_top, prior_sum);
    EACH(b, s.m)
    lq[b] = joint_top[b] - prior_top[b] + log(joint_sum[b] / prior_sum[b]) - HALF_LOG_2PI;
}

/* ---- K = 1: the logit has no effect ------------------------------------------------- */

WIDE static void gauss(int L, const struct lanes *a, double *out)
{
    EACH_SLAB(s, L)
    {
        double xbuf[SLAB], obuf[SLAB], rbuf[SLAB], y[SLAB];
        const double *restrict x = lanes_at(&a[0], s, xbuf);
        const double *restrict o = lanes_at(&a[2], s, obuf);
        const double *restrict r = lanes_at(&a[3], s, rbuf);
        EACH(b, s.m)
        {
            double slope, t = log_sd(r[b], &slope), z = (x[b] - o[b]) * exp(-t);
            y[b] = -0.5 * z * z - t - HALF_LOG_2PI;
        }
        put(s, y, out);
    }
}

WIDE static void gauss_grad(int L, const double *dout, const struct lanes *a, double *const *da)
{
    EACH_SLAB(s, L)
    {
        double xbuf[SLAB], obuf[SLAB], rbuf[SLAB], gbuf[SLAB], dx[SLAB], dm[SLAB], dr[SLAB];
        const double *restrict x = lanes_at(&a[0], s, xbuf), *restrict g = lanes_of(dout, s, gbuf);
        const double *restrict o = lanes_at(&a[2], s, obuf);
        const double *restrict r = lanes_at(&a[3], s, rbuf);
        EACH(b, s.m)
        {
            double slope, t = log_sd(r[b], &slope), inv = exp(-t), z = (x[b] - o[b]) * inv;
            dm[b] = g[b] * z * inv;
            dx[b] = -dm[b];
            dr[b] = g[b] * (z * z - 1) * slope;
        }
        add(s, dx, da[0]);
        add(s, dm, da[2]);
        add(s, dr, da[3]);
    }
}

/* x = o + z exp(log_sd(r)) */
WIDE static void gauss_path(int L, const double *draw, const double *dout, const struct lanes *a,
                            double *const *da)
{
    EACH_SLAB(s, L)
    {
        double xbuf[SLAB], obuf[SLAB], rbuf[SLAB], gbuf[SLAB], dr[SLAB];
        const double *restrict x = lanes_of(draw, s, xbuf), *restrict g = lanes_of(dout, s, gbuf);
        const double *restrict o = lanes_at(&a[1], s, obuf);
        const double *restrict r = lanes_at(&a[2], s, rbuf);
        EACH(b, s.m)
        {
            double slope;
            log_sd(r[b], &slope);
            dr[b] = g[b] * (x[b] - o[b]) * slope;
        }
        add(s, g, da[1]);
        add(s, dr, da[2]);
    }
}

/* -------------------------------------------------------------------------------------- */

static void logq(const void *self, const int *dim, int L, double *const *out, const struct lanes *a,
                 double *work)
{
    (void)self;
    int K = dim[1] / 3;
    if (K == 1) {
        gauss(L, a, out[0]);
        return;
    }
    struct parts p = parts_in(work, K);
    EACH_SLAB(s, L)
    {
        double lq[SLAB], joint_sum[SLAB], prior_sum[SLAB];
        mixture(K, a, a + 1, s, p, lq, joint_sum, prior_sum);
        put(s, lq, out[0]);
    }
}

/* R_k = joint_k / sum is the probability of component k given x.
   By l_k: R_k - softmax_k;  by its mean: R_k z_k / sd_k;  by log sd_k: R_k (z_k^2 - 1) */
WIDE static void grad(const void *self, const int *dim, int L, const double *const *out,
                      const double *const *dout, const struct lanes *a, double *const *da,
                      double *work)
{
    (void)self, (void)out;
    int K = dim[1] / 3;
    if (K == 1) {
        gauss_grad(L, dout[0], a, da);
        return;
    }
    struct parts p = parts_in(work, K);
    EACH_SLAB(s, L)
    {
        double lq[SLAB], joint_sum[SLAB], prior_sum[SLAB], gbuf[SLAB];
        double dx[SLAB], dl[SLAB], dm[SLAB], dr[SLAB];
        const double *restrict g = lanes_of(dout[0], s, gbuf);
        mixture(K, a, a + 1, s, p, lq, joint_sum, prior_sum);
        fill(dx, 0);
        EACH(b, s.m)
        {
            joint_sum[b] = g[b] / joint_sum[b];
            prior_sum[b] = g[b] / prior_sum[b];
        }
        for (int k = 0; k < K; k++) {
            const double *restrict z = p.z + k * SLAB, *restrict inv = p.inv + k * SLAB;
            const double *restrict slope = p.slope + k * SLAB;
            const double *restrict joint = p.joint + k * SLAB, *restrict prior = p.prior + k * SLAB;
            EACH(b, s.m)
            {
                double R = joint[b] * joint_sum[b];
                dl[b] = R - prior[b] * prior_sum[b];
                dm[b] = R * z[b] * inv[b];
                dr[b] = R * (z[b] * z[b] - 1) * slope[b];
                dx[b] -= dm[b];
            }
            add(s, dl, da[1 + k]);
            add(s, dm, da[1 + K + k]);
            add(s, dr, da[1 + 2 * K + k]);
        }
        add(s, dx, da[0]);
    }
}

/* Phi(-z) / N(z), z >= 0 */
INLINE double mills(double z)
{
    double t = z < 25 ? z : 25, i = 1 / (z > 25 ? z : 25), q = i * i;
    double near = sqrt(M_PI / 2) * exp(0.5 * t * t) * erfc(t * M_SQRT1_2);
    double far = i * (1 - q * (1 - q * (3 - q * (15 - q * 105))));
    return z < 25 ? near : far;
}

/* F(x) = sum_k w_k Phi(z_k) does not move, w = softmax(l), so x moves by -(dF/d output) / q:
   by the mean of k: R_k;  by log sd_k: R_k z_k sd_k;  by l_k: w_k (F - Phi(z_k)) / q.
   With e_k = R_k sd_k M(z_k), M(z) = Phi(-z) / N(z) if z > 0 and -Phi(z) / N(z) if not, what is
   small in both tails stays exact: w_k (F - Phi(z_k)) / q = e_k - w_k sum_j e_j - w_k D_k / q,
   where D_k = sum of the w_j with z_j <= 0 if z_k > 0, and minus that of the others if not.  Where
   components are so far apart that q is below 1e-20 between them, 1/q is cut there: no draw will
   see it. */
WIDE static void path(const void *self, const int *dim, int L, const double *const *out,
                      const double *const *dout, const struct lanes *a, double *const *da,
                      double *work)
{
    (void)self;
    int K = dim[1] / 3;
    if (K == 1) {
        gauss_path(L, out[0], dout[0], a, da);
        return;
    }
    struct parts p = parts_in(work, K);
    struct lanes x = {out[0], 1};
    EACH_SLAB(s, L)
    {
        double lq[SLAB], joint_sum[SLAB], prior_sum[SLAB], gbuf[SLAB], above[SLAB], below[SLAB];
        double dl[SLAB], dm[SLAB], dr[SLAB], sum[SLAB];
        const double *restrict g = lanes_of(dout[0], s, gbuf);
        mixture(K, &x, a, s, p, lq, joint_sum, prior_sum);
        fill(sum, 0);
        fill(above, 0);
        fill(below, 0);
        for (int k = 0; k < K; k++) {
            const double *restrict z = p.z + k * SLAB;
            double *restrict inv = p.inv + k * SLAB, *restrict slope = p.slope + k * SLAB;
            double *restrict joint = p.joint + k * SLAB, *restrict prior = p.prior + k * SLAB;
            EACH(b, s.m)
            {
                double R = joint[b] / joint_sum[b], w = prior[b] / prior_sum[b];
                double m = mills(fabs(z[b])), sd = 1 / inv[b];
                joint[b] = R;
                prior[b] = w;
                slope[b] *= R * z[b] * sd;
                inv[b] = R * sd * (z[b] > 0 ? m : -m);
                sum[b] += inv[b];
                above[b] += z[b] > 0 ? w : 0;
                below[b] += z[b] > 0 ? 0 : w;
            }
        }
        EACH(b, s.m) lq[b] = exp(lq[b] > -46 ? -lq[b] : 46);
        for (int k = 0; k < K; k++) {
            const double *restrict z = p.z + k * SLAB, *restrict e = p.inv + k * SLAB;
            const double *restrict slope = p.slope + k * SLAB;
            const double *restrict R = p.joint + k * SLAB, *restrict w = p.prior + k * SLAB;
            EACH(b, s.m)
            {
                double D = z[b] > 0 ? below[b] : -above[b];
                dl[b] = g[b] * (e[b] - w[b] * (sum[b] + D * lq[b]));
                dm[b] = g[b] * R[b];
                dr[b] = g[b] * slope[b];
            }
            add(s, dl, da[k]);
            add(s, dm, da[K + k]);
            add(s, dr, da[2 * K + k]);
        }
    }
}

/* The component by a uniform number, its value by a normal one */
WIDE static void sample(const void *self, const struct stream *stream, const int *dim, int L,
                        double *const *out, const struct lanes *a, double *work)
{
    (void)self;
    int K = dim[1] / 3;
    struct spread c = spread(K);
    EACH_SLAB(s, L)
    {
        struct stream at = stream_at(stream, s);
        double u[SLAB], y[SLAB], top[SLAB], sum[SLAB], mean[SLAB], raw[SLAB], buf[SLAB];
        stream_normal_part(&at, 1, s.m, y);
        if (K > 1)
            stream_uniform_part(&at, 0, s.m, u);
        else
            fill(u, 0);
        for (int k = 0; k < K; k++)
            memcpy(work + k * SLAB, lanes_at(&a[k], s, buf), sizeof(double) * (size_t)s.m);
        exp_sum(K, s.m, work, top, sum);
        EACH(b, s.m) u[b] *= sum[b];
        fill(sum, 0);
        for (int k = 0; k < K; k++) { /* the last component whose partial sum begins below u */
            const double *restrict e = work + k * SLAB;
            const double *restrict o = lanes_at(&a[K + k], s, buf);
            double here = c.first + k * c.gap;
            EACH(b, s.m) mean[b] = k == 0 || sum[b] <= u[b] ? o[b] + here : mean[b];
            const double *restrict r = lanes_at(&a[2 * K + k], s, buf);
            EACH(b, s.m)
            {
                raw[b] = k == 0 || sum[b] <= u[b] ? r[b] : raw[b];
                sum[b] += e[b];
            }
        }
        EACH(b, s.m)
        {
            double slope, t = log_sd(raw[b], &slope) + c.log_sd;
            y[b] = mean[b] + y[b] * exp(t);
        }
        put(s, y, out[0]);
    }
}

const struct family family_mixture = {
    "mixture",          "a mixture of Gaussians",
    .size = 5,          .size_what = "components",
    .outputs = outputs, .logq = logq,
    .grad = grad,       .sample = sample,
    .path = path,       .work = work_size,
};
