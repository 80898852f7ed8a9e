/* domain.c: where values and arguments live, and whether numbers are inside. */
#include <math.h>
#include <string.h>

#include "dist/block.h"
#include "dist/dist.h"

#define INF INFINITY
const struct domain_info domains[NDOMAIN] = {
    [REAL] = {"real", "a number", 0, 0, -INF, INF, 1, 1, 0},
    [POSITIVE] = {"positive", "positive", 0, 0, 0, INF, 1, 1, 0},
    [NONNEGATIVE] = {"nonnegative", "0 or more", 0, 0, 0, INF, 0, 1, 0},
    [UNIT] = {"unit", "between 0 and 1", 0, 0, 0, 1, 0, 0, 0},
    [OPEN_UNIT] = {"open_unit", "between 0 and 1, both excluded", 0, 0, 0, 1, 1, 1, 0},
    [BINARY] = {"binary", "0 or 1", 0, 1, 0, 1, 0, 0, 0},
    [COUNT] = {"count", "one of 0, 1, 2, ...", 0, 1, 0, INF, 0, 1, 0},
    [INDEX] = {"index", "one of 1, 2, 3, ...", 0, 1, 1, INF, 0, 1, 0},
    [VECTOR] = {"vector", "a vector of numbers", 1, 0, -INF, INF, 1, 1, 0},
    [POSITIVES] = {"positives", "a vector of positive numbers", 1, 0, 0, INF, 1, 1, 0},
    [WEIGHTS] = {"weights", "a vector of numbers >= 0, not all 0", 1, 0, 0, INF, 0, 1, 0},
    [SIMPLEX] = {"simplex", "a vector of numbers >= 0 that sum to 1", 1, 0, 0, 1, 0, 0, 1},
    [COUNTS] = {"counts", "a vector of 0, 1, 2, ...", 1, 1, 0, INF, 0, 1, 0},
    [SPD] = {"spd", "a symmetric positive definite matrix", 2, 0, 0, INF, 1, 1, 1},
    [ORDERED] = {"ordered", "a vector of increasing numbers", 1, 0, -INF, INF, 1, 1, 1},
    [CHOLESKY] = {"cholesky", "a lower triangular matrix with a positive diagonal", 2, 0, -INF, INF,
                  1, 1, 1},
    [CORR] = {"corr", "a correlation matrix", 2, 0, -1, 1, 0, 0, 1},
    [CHOL_CORR] = {"chol_corr", "the Cholesky factor of a correlation matrix", 2, 0, -1, 1, 0, 0,
                   1},
};

int domain_find(const char *name, size_t len)
{
    for (int d = 0; d < NDOMAIN; d++)
        if (strlen(domains[d].name) == len && memcmp(domains[d].name, name, len) == 0) return d;
    return -1;
}

/* Is the matrix symmetric, and all pivots positive?  Of matrices too large for the stack only
   symmetry, diagonal and 2 x 2 minors are looked at; their densities are NaN if need be. */
static int spd_holds(const double *x, int size)
{
    enum { MOST = 64 };
    double A[MOST * MOST];
    int n = matrix_order(size);
    if (n < 0) return 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double scale = sqrt(x[i * n + i]) * sqrt(x[j * n + j]);
            if (!is_positive(x[i * n + i]) || !is_real(x[i * n + j])) return 0;
            if (!(fabs(x[i * n + j] - x[j * n + i]) <= 1e-8 * scale)) return 0;
            if (i != j && !(fabs(x[i * n + j]) < scale)) return 0;
        }
    if (n > MOST) return 1;
    memcpy(A, x, sizeof(double) * (size_t)size);
    for (int j = 0; j < n; j++) { /* A = L D L', D on the diagonal */
        if (!(A[j * n + j] > 0)) return 0;
        for (int i = j + 1; i < n; i++)
            for (int k = j + 1; k <= i; k++)
                A[i * n + k] -= A[i * n + j] / A[j * n + j] * A[k * n + j];
    }
    return 1;
}

/* Lower triangular with a positive diagonal; all rows of length 1 if `unit` */
static int factor_holds(const double *x, int size, int unit)
{
    int n = matrix_order(size);
    if (n < 0) return 0;
    for (int i = 0; i < n; i++) {
        double norm = 0;
        for (int j = 0; j < n; j++) {
            double y = x[i * n + j];
            if (!is_real(y) || (j > i && y != 0) || (j == i && !(y > 0))) return 0;
            norm += y * y;
        }
        if (unit && !(fabs(norm - 1) <= 1e-8)) return 0;
    }
    return 1;
}

static int corr_holds(const double *x, int size)
{
    int n = matrix_order(size);
    for (int i = 0; i < n; i++)
        if (!(fabs(x[i * n + i] - 1) <= 1e-8)) return 0;
    return spd_holds(x, size);
}

int domain_holds(enum domain d, const double *x, int n)
{
    const struct domain_info *i = &domains[d];
    double sum = 0;
    if (d == SPD) return spd_holds(x, n);
    if (d == CORR) return corr_holds(x, n);
    if (d == CHOLESKY || d == CHOL_CORR) return factor_holds(x, n, d == CHOL_CORR);
    for (int k = 0; k < n; k++) {
        if (!is_real(x[k]) || !(i->lo_open ? x[k] > i->lo : x[k] >= i->lo)) return 0;
        if (!(i->hi_open ? x[k] < i->hi : x[k] <= i->hi)) return 0;
        if (i->discrete && floor(x[k]) != x[k]) return 0;
        if (d == ORDERED && k && !(x[k] > x[k - 1])) return 0;
        sum += x[k];
    }
    if (d == SIMPLEX) return fabs(sum - 1) <= 1e-6;
    return d == WEIGHTS ? is_positive(sum) : 1;
}
