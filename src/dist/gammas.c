/* gammas.c: Marsaglia and Tsang's method (see draw.c) for many draws: the first try of all is
   made in vector code; the few that it rejects start anew, each with its own generator. */
#include "dist/block.h"

struct tries {
    double z[SLAB], u[SLAB], w[SLAB]; /* a normal, two uniforms */
};

/* x <- d v, or -1 if rejected; for shapes below 1 that of shape + 1 */
WIDE static void first_try(int m, const double *restrict shape, const struct tries *restrict t,
                           double *restrict x)
{
    EACH(b, m)
    {
        double a = shape[b], d = (a < 1 ? a + 1 : a) - 1. / 3, z = t->z[b];
        double root = 1 + z / sqrt(9 * d), v = root * root * root;
        double yes = log(t->u[b]) - 0.5 * z * z - d * (1 - v + log(v)); /* NaN if v < 0 */
        x[b] = ((yes < 0) & is_positive(a)) ? d * v : -1;
    }
}

/* x <- log x, plus log(w)/shape for shapes below 1; -1 stays */
WIDE static void to_logs(int m, const double *restrict shape, const struct tries *restrict t,
                         double *restrict x)
{
    EACH(b, m)
    {
        double l = log(x[b]), boost = log(t->w[b]) / shape[b];
        x[b] = l + (shape[b] < 1 ? boost : 0);
    }
}

WIDE static void from_logs(int m, double *x) { EACH(b, m) x[b] = exp(x[b]); }

/* x in logs if `logs`; NaN where the first try failed (log(-1)), otherwise -1 */
static void tries(const struct stream *stream, int k, struct slab s, const double *shape, int logs,
                  double *x)
{
    struct tries t;
    struct stream here = *stream;
    double z[SLAB], u[SLAB], w[SLAB];
    bool small = logs;
    here.first += (uint64_t)s.first;
    for (int b = 0; b < s.m; b++) small |= shape[b] < 1;
    stream_normal_part(&here, 3 * k, s.live, z);
    stream_uniform_part(&here, 3 * k + 1, s.live, u);
    if (small) stream_uniform_part(&here, 3 * k + 2, s.live, w);
    for (int b = 0; b < s.m; b++) {
        int from = b < s.live ? b : 0;
        t.z[b] = z[from], t.u[b] = u[from], t.w[b] = small ? w[from] : 1;
    }
    first_try(s.m, shape, &t, x);
    if (small) to_logs(s.m, shape, &t, x);
    if (small && !logs) from_logs(s.m, x);
}

void draw_gammas(const struct stream *stream, int k, struct slab s, const double *shape, double *x)
{
    tries(stream, k, s, shape, 0, x);
    for (int b = 0; b < s.live; b++)
        if (!(x[b] >= 0)) {
            struct rng r;
            draw_rng(stream, s.first + b, k, &r);
            x[b] = draw_gamma(&r, shape[b]);
        }
}

void draw_log_gammas(const struct stream *stream, int k, struct slab s, const double *shape,
                     double *x)
{
    tries(stream, k, s, shape, 1, x);
    for (int b = 0; b < s.live; b++)
        if (isnan(x[b])) {
            struct rng r;
            draw_rng(stream, s.first + b, k, &r);
            x[b] = draw_log_gamma(&r, shape[b]);
        }
}
