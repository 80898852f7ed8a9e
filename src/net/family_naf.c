/* family_naf.c: neural autoregressive flow.
   A standard normal number through a layer of a neural autoregressive flow (Huang, Krueger, Lacoste
   and Courville 2018: the deep sigmoidal flow) of H units, and an affine function:

       t = (x - shift) exp(-log_sd(r)),  z_j = a_j (t - c_j)
       u = logit(sum_j w_j sigmoid(z_j)),  log q = log N(u) + log du/dt - log_sd(r)

   with w = softmax(l).  In logarithms, lse being that of a sum over j of exponentials:

       P = lse(l_j + log sigmoid(z_j)),  M = lse(l_j + log sigmoid(-z_j)),  u = P - M
       E = lse(l_j + log a_j + log sigmoid(z_j) + log sigmoid(-z_j))
       log du/dt = E - P - M + lse(l_j)

   Outputs: shift, r, H numbers l, H logarithms of a (squashed), H centres c.  At zeros the centres
   are equally spaced with variance 1/2 and a = 1.12, about the nearest to N(0, 1); H = 1 is it. */
#include "net/family_impl.h"

static int outputs(const struct output_dist *h) { return 3 * h->size + 2; }
static int units(const int *dim) { return (dim[1] - 2) / 3; }

/* H * SLAB numbers each: the units (slope: of log a by its output); and exponentials of what P, M,
   E and lse(l) are made of, up to a factor of each lane. */
struct parts {
    double *z, *a, *log_a, *slope, *c, *P, *M, *E, *W;
};
enum { PARTS = sizeof(struct parts) / sizeof(double *) };

static int work_size(const int *dim) { return PARTS * units(dim) * SLAB; }

/* The units of outputs o, all but z */
WIDE static struct parts load(int H, const struct lanes *o, struct slab s, double *work)
{
    int n = H * SLAB;
    struct parts p = {work,         work + n,     work + 2 * n, work + 3 * n, work + 4 * n,
                      work + 5 * n, work + 6 * n, work + 7 * n, work + 8 * n};
    double abuf[SLAB], cbuf[SLAB], gap = H > 1 ? sqrt(6. / ((double)H * H - 1)) : 0;
    double log_a0 = H > 1 ? log(1.12) : 0;
    for (int j = 0; j < H; j++) {
        const double *restrict oa = lanes_at(&o[FLOW + H + j], s, abuf);
        const double *restrict oc = lanes_at(&o[FLOW + 2 * H + j], s, cbuf);
        double *restrict a = p.a + j * SLAB, *restrict log_a = p.log_a + j * SLAB;
        double *restrict slope = p.slope + j * SLAB, *restrict c = p.c + j * SLAB;
        double c0 = gap * (j - 0.5 * (H - 1));
        EACH(b, s.m)
        {
            log_a[b] = log_a0 + squash(oa[b], 6, 6, &slope[b]);
            a[b] = exp(log_a[b]);
            c[b] = oc[b] + c0;
        }
    }
    return p;
}

/* u and log du/dt at t; the sums of what is in P, M, E and W */
struct flow {
    double u[SLAB], logj[SLAB], P[SLAB], M[SLAB], E[SLAB], W[SLAB];
};

WIDE static void flow(int H, const struct lanes *o, struct slab s, const double *restrict t,
                      struct parts p, struct flow *restrict f)
{
    double buf[SLAB], top[4][SLAB];
    for (int j = 0; j < H; j++) {
        const double *restrict l = lanes_at(&o[FLOW + j], s, buf);
        const double *restrict a = p.a + j * SLAB, *restrict c = p.c + j * SLAB;
        const double *restrict log_a = p.log_a + j * SLAB;
        double *restrict z = p.z + j * SLAB, *restrict P = p.P + j * SLAB;
        double *restrict M = p.M + j * SLAB, *restrict E = p.E + j * SLAB;
        double *restrict W = p.W + j * SLAB;
        EACH(b, s.m)
        {
            z[b] = a[b] * (t[b] - c[b]);
            double up = (z[b] < 0 ? z[b] : 0) - log1p(exp(-fabs(z[b]))), down = up - z[b];
            P[b] = l[b] + up;
            M[b] = l[b] + down;
            E[b] = l[b] + log_a[b] + up + down;
            W[b] = l[b];
        }
    }
    exp_sum(H, s.m, p.P, top[0], f->P);
    exp_sum(H, s.m, p.M, top[1], f->M);
    exp_sum(H, s.m, p.E, top[2], f->E);
    exp_sum(H, s.m, p.W, top[3], f->W);
    EACH(b, s.m)
    {
        f->u[b] = top[0][b] - top[1][b] + log(f->P[b] / f->M[b]);
        f->logj[b] = top[2][b] - top[0][b] - top[1][b] + top[3][b] +
                     log(f->E[b] * f->W[b] / (f->P[b] * f->M[b]));
    }
}

WIDE static void logq(const void *self, const int *dim, int L, double *const *out,
                      const struct lanes *a, double *work)
{
    (void)self;
    int H = units(dim);
    EACH_SLAB(s, L)
    {
        struct flow f;
        double t[SLAB], ls[SLAB], lq[SLAB];
        flow_in(a, a + 1, s, t, ls);
        flow(H, a + 1, s, t, load(H, a + 1, s, work), &f);
        EACH(b, s.m) lq[b] = f.logj[b] - 0.5 * f.u[b] * f.u[b] - ls[b] - HALF_LOG_2PI;
        put(s, lq, out[0]);
    }
}

/* log q = -(P - M)^2 / 2 + E - P - M + lse(l) - ..., and each lse has the softmax of its terms as
   derivatives: R, Q, e and w */
WIDE static void grad(const void *self, const int *dim, int L, const double *const *out,
                      const double *const *dout, const struct lanes *a, double *const *da,
                      double *work)
{
    (void)self, (void)out;
    int H = units(dim);
    EACH_SLAB(s, L)
    {
        struct flow f;
        double t[SLAB], ls[SLAB], gbuf[SLAB], dt[SLAB], dl[SLAB], da_[SLAB], dc[SLAB];
        const double *restrict g = lanes_of(dout[0], s, gbuf);
        flow_in(a, a + 1, s, t, ls);
        struct parts p = load(H, a + 1, s, work);
        flow(H, a + 1, s, t, p, &f);
        fill(dt, 0);
        EACH(b, s.m)
        {
            f.P[b] = -(f.u[b] + 1) / f.P[b];
            f.M[b] = (f.u[b] - 1) / f.M[b];
            f.E[b] = 1 / f.E[b];
            f.W[b] = 1 / f.W[b];
        }
        for (int j = 0; j < H; j++) {
            const double *restrict z = p.z + j * SLAB, *restrict slope = p.slope + j * SLAB;
            const double *restrict a_ = p.a + j * SLAB, *restrict P = p.P + j * SLAB;
            const double *restrict M = p.M + j * SLAB, *restrict E = p.E + j * SLAB;
            const double *restrict W = p.W + j * SLAB;
            EACH(b, s.m)
            {
                double R = P[b] * f.P[b], Q = M[b] * f.M[b], e = E[b] * f.E[b];
                double up = sigmoid(z[b]), down = sigmoid(-z[b]);
                double by_z = R * down - Q * up + e * (down - up);
                dl[b] = g[b] * (R + Q + e + W[b] * f.W[b]);
                da_[b] = g[b] * (e + by_z * z[b]) * slope[b];
                dc[b] = -g[b] * by_z * a_[b];
                dt[b] -= dc[b];
            }
            add(s, dl, da[1 + FLOW + j]);
            add(s, da_, da[1 + FLOW + H + j]);
            add(s, dc, da[1 + FLOW + 2 * H + j]);
        }
        flow_grad(a, s, t, g, dt, da);
    }
}

/* The t with u(t) = u moves by -(du/d output) / (du/dt).  With R, Q, e as above, du/dl_j = R_j -
   Q_j and du/dz_j = (1/P + 1/M) E_j / a_j, so that du/dt = (1/P + 1/M) E, and t moves with c_j by
   e_j, with log a_j by -e_j z_j / a_j.  Where u(t) is flat, 1 / (du/dt) is cut at 1e20: no draw
   will see it. */
WIDE static void path(const void *self, const int *dim, int L, const double *const *out,
                      const double *const *dout, const struct lanes *a, double *const *da,
                      double *work)
{
    (void)self;
    int H = units(dim);
    struct lanes x = {out[0], 1};
    EACH_SLAB(s, L)
    {
        struct flow f;
        double t[SLAB], ls[SLAB], gbuf[SLAB], by_t[SLAB], dl[SLAB], da_[SLAB], dc[SLAB];
        const double *restrict g = lanes_of(dout[0], s, gbuf);
        flow_in(&x, a, s, t, ls);
        struct parts p = load(H, a, s, work);
        flow(H, a, s, t, p, &f);
        EACH(b, s.m)
        {
            by_t[b] = g[b] * exp(ls[b]);
            f.logj[b] = by_t[b] * exp(f.logj[b] > -46 ? -f.logj[b] : 46);
            f.E[b] = by_t[b] / f.E[b];
        }
        for (int j = 0; j < H; j++) {
            const double *restrict z = p.z + j * SLAB, *restrict slope = p.slope + j * SLAB;
            const double *restrict a_ = p.a + j * SLAB, *restrict P = p.P + j * SLAB;
            const double *restrict M = p.M + j * SLAB, *restrict E = p.E + j * SLAB;
            EACH(b, s.m)
            {
                dl[b] = f.logj[b] * (M[b] / f.M[b] - P[b] / f.P[b]);
                dc[b] = E[b] * f.E[b];
                da_[b] = -dc[b] * z[b] / a_[b] * slope[b];
            }
            add(s, dl, da[FLOW + j]);
            add(s, da_, da[FLOW + H + j]);
            add(s, dc, da[FLOW + 2 * H + j]);
        }
        flow_path(a, s, t, g, da);
    }
}

/* The t with u(t) = u lies between the solutions of z_j = u: Newton steps from the middle, and
   bisection where they leave the bracket or are more than half of the step before.  A lane stays
   where it has arrived, so that it does not depend on the others. */
WIDE static void solve(int H, const struct lanes *o, struct slab s, const double *restrict u,
                       struct parts p, double *restrict t)
{
    enum { MOST = 200 };
    struct flow f;
    double lo[SLAB], hi[SLAB], step[SLAB], left = 1;
    fill(lo, INFINITY);
    fill(hi, -INFINITY);
    for (int j = 0; j < H; j++) {
        const double *restrict a = p.a + j * SLAB, *restrict c = p.c + j * SLAB;
        EACH(b, s.m)
        {
            double r = c[b] + u[b] / a[b];
            lo[b] = r < lo[b] ? r : lo[b];
            hi[b] = r > hi[b] ? r : hi[b];
        }
    }
    EACH(b, s.m)
    {
        t[b] = 0.5 * (lo[b] + hi[b]);
        step[b] = 1 + (hi[b] - lo[b]); /* 0: it has arrived */
    }
    for (int i = 0; i < MOST && left > 0; i++) {
        flow(H, o, s, t, p, &f);
        EACH(b, s.m)
        {
            double d = f.u[b] - u[b], by = -d * exp(-f.logj[b]), next = t[b] + by;
            lo[b] = d < 0 ? t[b] : lo[b];
            hi[b] = d < 0 ? hi[b] : t[b];
            bool newton = (next >= lo[b]) & (next <= hi[b]) & (fabs(by) <= 0.5 * step[b]);
            by = newton ? by : 0.5 * (lo[b] + hi[b]) - t[b];
            by = step[b] > 0 ? by : 0;
            t[b] += by;
            step[b] = fabs(by) > 1e-13 * (1 + fabs(t[b])) ? fabs(by) : 0;
        }
        left = 0;
        for (int b = 0; b < s.m; b++) left += step[b];
    }
}

static void sample(const void *self, const struct stream *stream, const int *dim, int L,
                   double *const *out, const struct lanes *a, double *work)
{
    (void)self;
    int H = units(dim);
    stream_normal(stream, L, out[0]);
    EACH_SLAB(s, L)
    {
        double t[SLAB], x[SLAB], ubuf[SLAB];
        solve(H, a, s, lanes_of(out[0], s, ubuf), load(H, a, s, work), t);
        flow_out(a, s, t, x);
        put(s, x, out[0]);
    }
}

const struct family family_naf = {
    "naf",
    "a Gaussian through a neural autoregressive flow",
    .size = 8,
    .size_what = "units",
    .outputs = outputs,
    .logq = logq,
    .grad = grad,
    .sample = sample,
    .path = path,
    .work = work_size,
};
