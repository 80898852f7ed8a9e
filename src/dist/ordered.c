/* ordered.c: states by cutpoints, for any distribution of the noise (see ordered.h). */
#include "dist/ordered.h"

/* a: eta and the cutpoints */
static bool ok(const struct lanes *a, int cuts, int b)
{
    bool good = is_real(lane(a, b));
    for (int j = 1; j <= cuts; j++) {
        double c = lane(&a[j], b);
        good &= is_real(c) & (j == 1 || c > lane(&a[j - 1], b));
    }
    return good;
}

/* log p(k), and its derivatives by the arguments of F */
static double state_lp(link_fn *link, const struct lanes *a, int cuts, int k, int b, double *by_a,
                       double *by_b)
{
    double eta = lane(a, b), low = k > 1 ? lane(&a[k - 1], b) : -INFINITY;
    double high = k <= cuts ? lane(&a[k], b) : INFINITY;
    return link(eta - low, eta - high, high - low, by_a, by_b);
}

void ordered_logp(link_fn *link, const int *dim, int L, double *out, const struct lanes *a)
{
    int cuts = dim[2];
    for (int b = 0; b < L; b++) {
        double x = lane(a, b), da, db;
        bool in = is_count(x) & (x >= 1) & (x <= cuts + 1);
        double v = in ? state_lp(link, a + 1, cuts, (int)x, b, &da, &db) : 0;
        out[b] = density(ok(a + 1, cuts, b), in, x, v);
    }
}

void ordered_grad(link_fn *link, const int *dim, int L, const double *dout, const struct lanes *a,
                  double *const *da)
{
    int cuts = dim[2];
    for (int b = 0; b < L; b++) {
        double x = lane(a, b), by_a, by_b;
        if (!(x >= 1 && x <= cuts + 1)) continue;
        int k = (int)x;
        state_lp(link, a + 1, cuts, k, b, &by_a, &by_b);
        if (da[1]) da[1][b] += dout[b] * (by_a + by_b);
        if (k > 1 && da[k]) da[k][b] -= dout[b] * by_a; /* cutpoint k - 1 is argument k */
        if (k <= cuts && da[k + 1]) da[k + 1][b] -= dout[b] * by_b;
    }
}

void ordered_draw(const int *dim, int L, double *out, const struct lanes *a)
{
    int cuts = dim[2];
    for (int b = 0; b < L; b++) {
        double y = lane(a, b) + out[b], k = 1;
        for (int j = 1; j <= cuts; j++) k += lane(&a[j], b) < y;
        out[b] = if_ok(ok(a, cuts, b), k);
    }
}

int ordered_size(const int *n, const char **why)
{
    (void)n, (void)why;
    return 1;
}

int ordered_states(const int *n) { return n[1] + 1; }
