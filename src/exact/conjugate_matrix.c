/* conjugate_matrix.c: families of a symmetric positive definite matrix X.  With Y = X, or its
   inverse (inverse Wishart),

       log f = c + a log |Y| - tr(P Y) / 2

   The center is Y = L L', and points are L B L': with Q = L' P L, differences of log f from the
   center are d = a log |B| - tr(Q (B - I)) / 2.  The probes: B = I / 2, B with one 2 on the
   diagonal, B with one pair of 1/2 beside it.  They give

       a = -(sum of the d of the diagonal + 2 d of I / 2) / (n log 2),
       Q_ii = 2 (a log 2 - d_ii),  Q_ij = 2 (a log 0.75 - d_ij).

   As a density of Y, it is wishart(nu, P^-1), nu = 2 a + n + 1, for the inverse 2 a - n - 1.  Rows
   of parameters: nu, then the lower triangle of Q. */
#include <math.h>
#include <string.h>

#include "dist/math.h"
#include "dist/wishart.h"
#include "exact/conjugate.h"

enum { SIZE = MATRIX_ORDER * MATRIX_ORDER };

static int order(const struct fit *f) { return matrix_order(f->num_vars); }
static int is_inverse(const struct fit *f) { return f->family->inverse; }
/* The row of element (i, j), j <= i, of the lower triangle of Q; also its probe, from 1. */
static int packed(int i, int j) { return 1 + i * (i + 1) / 2 + j; }

/* ---- matrices of one lane ---------------------------------------------------------------------
 */

static void load(const struct fit *f, const double *rows, int b, double *A)
{
    for (int e = 0; e < f->num_vars; e++) A[e] = rows[(size_t)e * (size_t)f->stride + (size_t)b];
}

static void store(const struct fit *f, const double *A, double *rows, int b)
{
    for (int e = 0; e < f->num_vars; e++) rows[(size_t)e * (size_t)f->stride + (size_t)b] = A[e];
}

/* A <- its lower Cholesky factor, zeros above; 0: it is not positive definite. */
static int factor(int n, double *A)
{
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            double sum = A[i * n + j];
            if (i < j) A[i * n + j] = 0;
            if (i < j) continue;
            for (int k = 0; k < j; k++) sum -= A[i * n + k] * A[j * n + k];
            if (i == j && !(sum > 0)) return 0;
            A[i * n + j] = i == j ? sqrt(sum) : sum / A[j * n + j];
        }
    return 1;
}

/* M <- L^-1 */
static void invert(int n, const double *L, double *M)
{
    memset(M, 0, sizeof *M * (size_t)(n * n));
    for (int j = 0; j < n; j++) {
        M[j * n + j] = 1 / L[j * n + j];
        for (int i = j + 1; i < n; i++) {
            double sum = 0;
            for (int k = j; k < i; k++) sum -= L[i * n + k] * M[k * n + j];
            M[i * n + j] = sum / L[i * n + i];
        }
    }
}

static void times(int n, const double *A, const double *B, double *C)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int k = 0; k < n; k++) sum += A[i * n + k] * B[k * n + j];
            C[i * n + j] = sum;
        }
}

/* S <- A A', or A' A: exactly symmetric */
static void square(int n, const double *A, int transposed, double *S)
{
    int row = transposed ? 1 : n, step = transposed ? n : 1;
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double sum = 0;
            for (int k = 0; k < n; k++) sum += A[i * row + k * step] * A[j * row + k * step];
            S[i * n + j] = S[j * n + i] = sum;
        }
}

/* half the logarithm of the determinant of L L' */
static double log_diagonal_of(int n, const double *L)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += log(L[i * n + i]);
    return sum;
}

/* Q <- the lower Cholesky factor of Q; 0: it has none. */
static int load_factor(const struct fit *f, int b, double *Q)
{
    int n = order(f);
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++)
            Q[i * n + j] = Q[j * n + i] = fit_row(f, f->param, packed(i, j))[b];
    return factor(n, Q);
}

/* ---- points ------------------------------------------------------------------------------------
 */

void matrix_start(const struct fit *f)
{
    int n = order(f);
    for (int e = 0; e < f->num_vars; e++)
        for (int b = 0; b < f->lanes; b++) fit_row(f, f->center, e)[b] = e % (n + 1) == 0;
}

/* The Cholesky factor of B at a point. */
static void point_factor(const struct fit *f, int point, double *C)
{
    static const double some[] = {1, 0.4, 3, 0.1, 1.5, 7, 0.8};
    int n = order(f), check = point - f->num_params;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double of = check > 0 ? some[(i * (1 + check / 2) + check) % 7] : 1;
            double below = check > 0 && j < i ? some[(i + 2 * j + check) % 7] * 0.3 : 0;
            C[i * n + j] = i == j ? of : check % 2 ? below : -below;
        }
    if (check > 0 || !point) return;
    if (point == 1)
        for (int i = 0; i < n; i++) C[i * n + i] = M_SQRT1_2;
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            if (point - 1 != packed(i, j)) continue;
            C[i * n + i] = i == j ? M_SQRT2 : sqrt(0.75);
            if (i != j) C[i * n + j] = 0.5;
        }
}

void matrix_values(const struct fit *f, int point, double *var)
{
    int n = order(f);
    double C[SIZE], L[SIZE], A[SIZE], X[SIZE];
    point_factor(f, point, C);
    for (int b = 0; b < f->lanes; b++) {
        load(f, f->center, b, L);
        times(n, L, C, A);
        if (is_inverse(f)) {
            invert(n, A, L);
            square(n, L, 1, X);
        } else {
            square(n, A, 0, X);
        }
        store(f, X, var, b);
    }
}

/* ---- the fit -----------------------------------------------------------------------------------
 */

void matrix_solve(const struct fit *f)
{
    int n = order(f);
    for (int b = 0; b < f->lanes; b++) {
        double sum = 2 * f->param[b], a;
        for (int i = 0; i < n; i++) sum += fit_row(f, f->param, packed(i, i))[b];
        a = -sum / (n * LOG_2);
        f->param[b] = 2 * a + (is_inverse(f) ? -n - 1 : n + 1);
        for (int i = 0; i < n; i++)
            for (int j = 0; j <= i; j++) {
                double *q = &fit_row(f, f->param, packed(i, j))[b];
                *q = 2 * (a * (i == j ? LOG_2 : log(0.75)) - *q);
            }
    }
}

/* The transpose, and the sign of - log p */
void matrix_weigh(const struct fit *f)
{
    int n = order(f);
    for (int b = 0; b < f->lanes; b++) {
        double by_a = 2 * f->weight[b];
        for (int i = 0; i < n; i++)
            for (int j = 0; j <= i; j++)
                by_a += 2 * (i == j ? LOG_2 : log(0.75)) * fit_row(f, f->weight, packed(i, j))[b];
        f->weight[b] = 2 * by_a / (n * LOG_2);
        for (int i = 0; i < n; i++)
            for (int j = 0; j <= i; j++) {
                double *w = &fit_row(f, f->weight, packed(i, j))[b];
                *w = 2 * *w + (i == j ? by_a / (n * LOG_2) : 0);
            }
    }
}

/* Is nu Q^-1 = G G', the mean in the coordinates of the center, near I? */
static int is_near(int n, const double *G)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++)
            if (i == j ? !(G[i * n + i] > 0.6 && G[i * n + i] < 1.6) : !(fabs(G[i * n + j]) < 0.6))
                return 0;
    return 1;
}

/* The center goes to the mean of Y.  Where Q is not positive definite, if only by rounding, a part
   of its trace is added to the diagonal. */
static void move_lane(const struct fit *f, int b)
{
    enum { TRIES = 12 };
    int n = order(f), known = 0;
    double nu = f->param[b], K[SIZE], M[SIZE], G[SIZE], L[SIZE], trace = 0;
    for (int i = 0; i < n; i++) trace += fabs(fit_row(f, f->param, packed(i, i))[b]);
    for (int k = 0; k < TRIES && !known; k++) {
        for (int i = 0; i < n; i++)
            for (int j = 0; j <= i; j++)
                K[i * n + j] = K[j * n + i] = fit_row(f, f->param, packed(i, j))[b] +
                                              (i == j && k ? trace * pow(10, k - 9) : 0);
        known = factor(n, K) * (k + 1);
    }
    if (!known) return;
    double size = sqrt(nu > n ? nu : n);
    invert(n, K, M); /* Q^-1 = M' M */
    square(n, M, 1, G);
    if (!factor(n, G)) return;
    for (int e = 0; e < n * n; e++) G[e] *= size;
    if (known == 1 && nu > n - 1 && is_near(n, G)) {
        f->state[b] = FIT_FOUND;
        return;
    }
    load(f, f->center, b, L);
    times(n, L, G, K);
    store(f, K, f->center, b);
}

void matrix_move(const struct fit *f)
{
    for (int b = 0; b < f->live; b++)
        if (f->state[b] == FIT_MOVING) move_lane(f, b);
}

/* log p at the center: -+ (n + 1) log |L| - tr Q / 2 + nu / 2 log |Q| - norm(nu) */
void matrix_density(const struct fit *f, double *out, double *by_param)
{
    int n = order(f);
    double *norm = f->work, *by_norm = fit_row(f, f->work, 1);
    for (int b = 0; b < f->lanes; b += SLAB) {
        int m = f->lanes - b < SLAB ? f->lanes - b : SLAB;
        double by[SLAB];
        wishart_norm(n, m, f->param + b, norm + b);
        wishart_dnorm(n, m, f->param + b, by);
        memcpy(by_norm + b, by, sizeof *by * (size_t)m);
    }
    for (int b = 0; b < f->lanes; b++) {
        double L[SIZE], Q[SIZE], M[SIZE], P[SIZE], nu = f->param[b], trace = 0;
        int known = load_factor(f, b, Q);
        load(f, f->center, b, L);
        for (int i = 0; i < n; i++) trace += fit_row(f, f->param, packed(i, i))[b];
        double log_q = known ? 2 * log_diagonal_of(n, Q) : NAN, log_l = log_diagonal_of(n, L);
        out[b] = (is_inverse(f) ? n + 1 : -n - 1) * log_l - trace / 2 + nu / 2 * log_q - norm[b];
        if (!by_param) continue;
        invert(n, Q, M);
        square(n, M, 1, P);
        by_param[b] = log_q / 2 - by_norm[b];
        for (int i = 0; i < n; i++)
            for (int j = 0; j <= i; j++)
                fit_row(f, by_param, packed(i, j))[b] =
                    known ? (i == j ? (nu * P[i * n + i] - 1) / 2 : nu * P[i * n + j]) : NAN;
    }
}

/* ---- of the fit
 * ---------------------------------------------------------------------------------- */

void matrix_arguments(const struct fit *f, double *to)
{
    int n = order(f);
    for (int b = 0; b < f->lanes; b++) {
        double L[SIZE], Q[SIZE], M[SIZE], A[SIZE], S[SIZE];
        int known = load_factor(f, b, Q);
        load(f, f->center, b, L);
        to[b] = f->param[b];
        invert(n, is_inverse(f) ? L : Q, M);
        if (is_inverse(f)) { /* P = L^-T Q L^-1 = (K' L^-1)' (K' L^-1), Q = K K' */
            for (int i = 0; i < n; i++)
                for (int j = 0; j < n; j++) {
                    A[i * n + j] = 0;
                    for (int k = 0; k < n; k++) A[i * n + j] += Q[k * n + i] * M[k * n + j];
                }
            square(n, A, 1, S);
        } else { /* P^-1 = L Q^-1 L' = (K^-1 L')' (K^-1 L') */
            for (int i = 0; i < n; i++)
                for (int j = 0; j < n; j++) {
                    A[i * n + j] = 0;
                    for (int k = 0; k < n; k++) A[i * n + j] += M[i * n + k] * L[j * n + k];
                }
            square(n, A, 1, S);
        }
        for (int e = 0; e < n * n && !known; e++) S[e] = NAN;
        store(f, S, fit_row(f, to, 1), b);
    }
}

/* a log |B| - tr(Q (B - I)) / 2 at values of the variables */
void matrix_predict(const struct fit *f, const double *var, double *out)
{
    int n = order(f);
    for (int b = 0; b < f->lanes; b++) {
        double L[SIZE], M[SIZE], K[SIZE], A[SIZE], B[SIZE], sum = 0;
        double a = (f->param[b] + (is_inverse(f) ? n + 1 : -n - 1)) / 2;
        load(f, f->center, b, L);
        load(f, var, b, K);
        if (!factor(n, K)) {
            out[b] = NAN;
            continue;
        }
        double log_b = 2 * log_diagonal_of(n, K);
        if (is_inverse(f)) { /* Y^-1 = K K': the factor of Y is K^-T */
            invert(n, K, A);
            for (int i = 0; i < n; i++)
                for (int j = 0; j < n; j++) K[i * n + j] = A[j * n + i];
            log_b = -log_b;
        }
        invert(n, L, M);
        times(n, M, K, A);
        square(n, A, 0, B);
        for (int i = 0; i < n; i++)
            for (int j = 0; j <= i; j++)
                sum += fit_row(f, f->param, packed(i, j))[b] *
                       (i == j ? B[i * n + i] - 1 : 2 * B[i * n + j]);
        out[b] = a * (log_b - 2 * log_diagonal_of(n, L)) - sum / 2;
    }
}
