/* test_bijector.c: between each domain and the unconstrained scale. */
#include <stdlib.h>

#include "dist_at.h"

/* ---- bijectors --------------------------------------------------------------------------------
 */

struct map {
    enum domain d;
    int n;
    double lo, hi;
};
static const struct map maps[] = {{REAL, 1, -INFINITY, INFINITY},
                                  {REAL, 1, -1.5, 2.385},
                                  {REAL, 1, 3, INFINITY},
                                  {REAL, 1, -INFINITY, 3},
                                  {POSITIVE, 1, -INFINITY, INFINITY},
                                  {POSITIVE, 1, 2, INFINITY},
                                  {POSITIVE, 1, -INFINITY, 2},
                                  {NONNEGATIVE, 1, -INFINITY, INFINITY},
                                  {UNIT, 1, -INFINITY, INFINITY},
                                  {OPEN_UNIT, 1, 0.25, INFINITY},
                                  {VECTOR, 3, -INFINITY, INFINITY},
                                  {POSITIVES, 3, -INFINITY, INFINITY},
                                  {SIMPLEX, 2, -INFINITY, INFINITY},
                                  {SIMPLEX, 5, -INFINITY, INFINITY},
                                  {SPD, 1, -INFINITY, INFINITY},
                                  {SPD, 4, -INFINITY, INFINITY},
                                  {SPD, 16, -INFINITY, INFINITY},
                                  {CORR, 4, -INFINITY, INFINITY},
                                  {CORR, 16, -INFINITY, INFINITY},
                                  {CHOL_CORR, 4, -INFINITY, INFINITY},
                                  {CHOL_CORR, 16, -INFINITY, INFINITY}};
enum { MAPS = sizeof maps / sizeof *maps };

/* log |det| of a k x k matrix by elimination with pivots */
static double log_det(int k, double *A)
{
    double v = 0;
    for (int j = 0; j < k; j++) {
        int best = j;
        for (int i = j; i < k; i++)
            if (fabs(A[i * k + j]) > fabs(A[best * k + j])) best = i;
        for (int m = 0; m < k; m++) {
            double t = A[j * k + m];
            A[j * k + m] = A[best * k + m];
            A[best * k + m] = t;
        }
        v += log(fabs(A[j * k + j]));
        for (int i = j + 1; i < k; i++)
            for (int m = k; m-- > j;) A[i * k + m] -= A[i * k + j] / A[j * k + j] * A[j * k + m];
    }
    return v;
}

/* The free elements of x: the first n - 1 of a simplex, the lower triangle of a matrix. */
static void free_part(const struct map *m, const double *x, double *f)
{
    int k = 1;
    int matrix = domains[m->d].rank == 2, unit = m->d == CORR || m->d == CHOL_CORR;
    while (matrix && k * k < m->n) k++;
    for (int i = 0; i < m->n; i++)
        if (!matrix || i % k < i / k + !unit) *f++ = x[i];
}

static void bijectors(void **state)
{
    (void)state;
    for (int i = 0; i < MAPS * 4; i++) {
        const struct map *m = &maps[i / 4];
        int n = m->n, k = unconstrained_size(m->d, n);
        double u[MOST], v[MOST], x[MOST], dx[MOST], du[MOST] = {0}, J[100], f[MOST], work[2 * MOST];
        for (int j = 0; j < k; j++) u[j] = sin(i * 7 + j * 3) * (i % 4 + 0.5);
        for (int j = 0; j < n; j++) dx[j] = cos(i + 2 * j);
        double lj = constrain(m->d, m->lo, m->hi, n, u, x);
        assert_true(domain_holds(m->d, x, n) && (n > 1 || (x[0] > m->lo && x[0] < m->hi)));
        unconstrain(m->d, m->lo, m->hi, n, x, v);
        for (int j = 0; j < k; j++) assert_true(near(u[j], v[j], 1e-9));
        for (int j = 0; j < n && !domains[m->d].tied; j++) {
            double slope = unconstrain_slope(m->d, m->lo, m->hi, x[j]), one = 1, both = 0;
            constrain_grad(m->d, m->lo, m->hi, 1, &u[j], &x[j], &one, 0, &both, work);
            assert_true(near(slope * both, 1, 1e-12));
        }
        constrain_grad(m->d, m->lo, m->hi, n, u, x, dx, 0.7, du, work);
        for (int j = 0; j < k; j++) {
            double d[2][MOST], flow[2] = {0}, ljs[2], h = 1e-5;
            for (int s = 0; s < 2; s++) {
                memcpy(v, u, sizeof v);
                v[j] += s ? h : -h;
                ljs[s] = constrain(m->d, m->lo, m->hi, n, v, x);
                for (int e = 0; e < n; e++) flow[s] += dx[e] * x[e];
                free_part(m, x, d[s]);
            }
            for (int e = 0; e < k; e++) J[e * k + j] = (d[1][e] - d[0][e]) / (2 * h);
            double want = (flow[1] - flow[0] + 0.7 * (ljs[1] - ljs[0])) / (2 * h);
            assert_true(near(du[j], want, 1e-7));
        }
        (void)f;
        double by_jac[MOST] = {0}, by_x[MOST] = {0}; /* no dx is dx = 0 */
        constrain_grad(m->d, m->lo, m->hi, n, u, x, NULL, 0.7, by_jac, work);
        constrain_grad(m->d, m->lo, m->hi, n, u, x, dx, 0, by_x, work);
        for (int j = 0; j < k; j++) assert_true(near(by_jac[j] + by_x[j], du[j], 1e-14));
        assert_true(near(log_det(k, J), lj, 1e-6));
    }
    assert_int_equal(unconstrained_size(COUNT, 1), -1);
    assert_int_equal(unconstrained_size(SPD, 9), 6);
    assert_int_equal(unconstrained_size(CORR, 9), 3);
}

/* Far out: the domain is kept and nothing is NaN. */
static void bijectors_far(void **state)
{
    (void)state;
    const double far[] = {-800, -40, 40, 700, 800, -1e300, 1e300};
    for (int i = 0; i < MAPS * 7; i++) {
        const struct map *m = &maps[i / 7];
        double u[MOST], x[MOST], dx[MOST], du[MOST] = {0}, work[2 * MOST];
        int k = unconstrained_size(m->d, m->n);
        for (int j = 0; j < MOST; j++) dx[j] = 0, u[j] = j % 2 ? 0 : far[i % 7];
        double lj = constrain(m->d, m->lo, m->hi, m->n, u, x);
        constrain_grad(m->d, m->lo, m->hi, m->n, u, x, dx, 1, du, work);
        if (m->d == SPD || fabs(far[i % 7]) > 750) continue; /* exp(800) is infinite */
        assert_false(isnan(lj));
        for (int j = 0; j < m->n; j++)
            assert_true(x[j] >= domains[m->d].lo && x[j] <= domains[m->d].hi &&
                        x[j] >= (m->n > 1 ? -INFINITY : m->lo) &&
                        x[j] <= (m->n > 1 ? INFINITY : m->hi));
        for (int j = 0; j < k; j++) assert_false(isnan(du[j]));
        /* an interval's ends are not reached, and what is singular there has its derivative */
        if (m->n > 1 || !(x[0] <= 1e3) || !(x[0] >= -1e3)) continue;
        double lo = fmax(m->lo, domains[m->d].lo), hi = fmin(m->hi, domains[m->d].hi);
        if (isinf(lo) || isinf(hi)) continue;
        assert_true(x[0] > lo && x[0] < hi);
        dx[0] = 1 / (x[0] - lo) - 1 / (hi - x[0]); /* of log (x - lo) + log (hi - x) */
        du[0] = 0;
        constrain_grad(m->d, m->lo, m->hi, 1, u, x, dx, 0, du, work);
        assert_true(near(du[0], far[i % 7] > 0 ? -1 : 1, 1e-12));
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(bijectors),
    cmocka_unit_test(bijectors_far),
};
RUN(tests)
