/* test_integral_wishart.c: integrals over positive definite matrices: values against closed forms
   in long double and against a grid, derivatives, which models have them, draws, moments. */
#include "dist/dist.h"
#include "dist/math.h"
#include "malloc_fail.h"

#include "integral_at.h"

enum { MOST = 5, N = 4, DRAWS = 20480 };
typedef long double real;

static double between(struct rng *r, double low, double high)
{
    return low * pow(high / low, rng_unit(r));
}

/* ---- matrices, row by row
 * ------------------------------------------------------------------------ */

/* log |A|; A becomes its inverse, by Gauss-Jordan steps (A is positive definite). */
static real invert(int n, real *A)
{
    real log_det = 0;
    for (int k = 0; k < n; k++) {
        real pivot = A[k * n + k];
        log_det += logl(pivot);
        A[k * n + k] = 1;
        for (int j = 0; j < n; j++) A[k * n + j] /= pivot;
        for (int i = 0; i < n; i++) {
            real by = A[i * n + k];
            if (i == k) continue;
            A[i * n + k] = 0;
            for (int j = 0; j < n; j++) A[i * n + j] -= by * A[k * n + j];
        }
    }
    return log_det;
}

static real log_gamma_n(int n, real a)
{
    real sum = n * (n - 1) / 4.L * logl(M_PI);
    for (int i = 0; i < n; i++) sum += lgammal(a - i / 2.L);
    return sum;
}

/* ---- the models
 * ---------------------------------------------------------------------------------- */

struct matrix_model {
    struct at a;
    int n, inverse;
};

/* W ~ wishart(nu, S) or inv_wishart(nu, S), S = s R + diag(t); y[i] normal with mean m and
   precision or covariance W. */
static void open_model(struct matrix_model *w, int n, int inverse, int slab)
{
    char text[1000];
    snprintf(text, sizeof text,
             "model { nu ~ uniform(%d, 50)\n s ~ gamma(2, 2)\n t ~ gamma(2, 2)\n m ~ normal(0, 1)\n"
             "for (i in 1:%d) { mu[i] <- m * i\n for (j in 1:%d) {\n"
             "  S[i, j] <- ifelse(i == j, s + t, s * 0.3 * cos(i * j)) } }\n"
             "W[1:%d, 1:%d] ~ %s(nu, S[1:%d, 1:%d])\n"
             "for (i in 1:%d) { y[i, 1:%d] ~ %s(mu[1:%d], W[1:%d, 1:%d]) } }\nobserve y",
             n, n, n, n, n, inverse ? "inv_wishart" : "wishart", n, n, N, n,
             inverse ? "multi_normal" : "multi_normal_prec", n, n, n);
    *w = (struct matrix_model){.n = n, .inverse = inverse};
    at_begin(&w->a, text, NULL);
    at_latent(&w->a, "W", 0, INFINITY);
    for (int e = 0; e < n * n; e++)
        if (e % (n + 1)) w->a.var[e].low = -INFINITY;
    at_split(&w->a, inverse ? &integral_inv_wishart : &integral_wishart, slab);
}

static void random_inputs(struct matrix_model *w, struct rng *r, double low, double high)
{
    for (int b = 0; b < AT_LANES; b++) {
        double scale = between(r, low, high), far = w->inverse ? sqrt(scale) : 1 / sqrt(scale);
        at_row(&w->a, "nu", 0)[b] = w->n - 1 + between(r, 0.01, 50);
        at_row(&w->a, "s", 0)[b] = scale * between(r, 0.5, 2);
        at_row(&w->a, "t", 0)[b] = scale * between(r, 0.1, 2);
        at_row(&w->a, "m", 0)[b] = far * rng_normal(r);
        for (int k = 0; k < N * w->n; k++) at_row(&w->a, "y", k)[b] = far * 3 * rng_normal(r);
    }
}

/* In lane b: S^-1 (inverse Wishart: S) in P, the same with the data in Q; log |P|, log |Q|. */
static void posterior(const struct matrix_model *w, int b, real *P, real *Q, real *log_p,
                      real *log_q)
{
    int n = w->n;
    real s = at_row(&w->a, "s", 0)[b], t = at_row(&w->a, "t", 0)[b], copy[MOST * MOST];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            P[i * n + j] = i == j ? s + t : s * (real)(0.3 * cos((i + 1) * (j + 1)));
    if (!w->inverse) invert(n, P);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            Q[i * n + j] = P[i * n + j];
            for (int k = 0; k < N; k++) {
                real m = at_row(&w->a, "m", 0)[b];
                Q[i * n + j] += (at_row(&w->a, "y", k * n + i)[b] - m * (i + 1)) *
                                (at_row(&w->a, "y", k * n + j)[b] - m * (j + 1));
            }
        }
    memcpy(copy, P, sizeof copy);
    *log_p = invert(n, copy);
    memcpy(copy, Q, sizeof copy);
    *log_q = invert(n, copy);
}

static real closed_form(const struct matrix_model *w, int b)
{
    real P[MOST * MOST] = {0}, Q[MOST * MOST] = {0}, log_p, log_q;
    real nu = at_row(&w->a, "nu", 0)[b];
    int n = w->n;
    posterior(w, b, P, Q, &log_p, &log_q);
    return -N * n / 2.L * logl(M_PI) + log_gamma_n(n, (nu + N) / 2) - log_gamma_n(n, nu / 2) +
           nu / 2 * log_p - (nu + N) / 2 * log_q;
}

/* ---- tests -------------------------------------------------------------------------------------
 */

static void values_equal_closed_forms(void **state)
{
    static const int lanes[] = {1, 7, 64, 100};
    struct rng r;
    (void)state;
    rng_init(&r, 9, 1);
    for (int n = 2; n <= MOST; n++)
        for (int inverse = 0; inverse < 2; inverse++) {
            struct matrix_model w;
            open_model(&w, n, inverse, n % 2 ? 8 : 0);
            for (int round = 0; round < 8; round++) {
                random_inputs(&w, &r, 1e-8, 1e8);
                w.a.x.lanes = lanes[round % 4];
                exec_run(&w.a.x);
                for (int b = 0; b < w.a.x.lanes; b++) {
                    double got = at_result(&w.a, 0)[b], want = (double)closed_form(&w, b);
                    if (!(fabs(got - want) <= 1e-9 * (1 + fabs(want))))
                        fail_msg("%d, %d, lane %d: %.15g is not %.15g", n, inverse, b, got, want);
                }
            }
            at_close(&w.a);
        }
}

/* The integral of the model's own density, over the Cholesky factor [exp(u), 0; l, exp(v)]. */
static void values_equal_grids(void **state)
{
    enum { SIDE = 96 };
    struct rng r;
    (void)state;
    rng_init(&r, 9, 2);
    for (int inverse = 0; inverse < 2; inverse++) {
        struct matrix_model w;
        struct exec x;
        nami_err err = {0};
        open_model(&w, 2, inverse, 0);
        random_inputs(&w, &r, 0.5, 2);
        for (int b = 0; b < AT_LANES; b++) at_row(&w.a, "nu", 0)[b] = 4.5;
        w.a.x.lanes = 1;
        exec_run(&w.a.x);
        double got = w.a.x.total[0], step = 14. / SIDE, sum = 0;
        assert_int_equal(exec_init(&x, model_density_program(&w.a.m), AT_LANES, 0, 0, &err), 0);
        for (int k = 0; k < w.a.m.ir.num_rows; k++)
            for (int b = 0; b < AT_LANES; b++)
                x.row[(size_t)k * AT_LANES + (size_t)b] = w.a.x.row[(size_t)k * (size_t)w.a.x.cap];
        for (int i = 0; i < SIDE; i++)
            for (int j = 0; j < SIDE; j++) {
                double jacobian[AT_LANES];
                for (int k = 0; k < AT_LANES; k++) {
                    double u = -7 + step * i, v = -7 + step * j, at = (k - AT_LANES / 2) * 0.1;
                    double l = 0.5 * sinh(at);
                    double L[] = {exp(u), l, exp(v)};
                    double W[] = {L[0] * L[0], L[0] * L[1], L[0] * L[1], L[1] * L[1] + L[2] * L[2]};
                    for (int e = 0; e < 4; e++)
                        x.row[(size_t)row_of(&w.a.m, "W", e) * AT_LANES + (size_t)k] = W[e];
                    /* dW11 dW21 dW22 = 4 L11^2 L22 dL, dL11 = L11 du, dL22 = L22 dv */
                    jacobian[k] = log(4) + 3 * u + 2 * v + log(0.5 * 0.1 * cosh(at));
                }
                exec_run(&x);
                for (int k = 0; k < AT_LANES; k++) {
                    double h = x.total[k] + jacobian[k] - got;
                    if (h > -60) sum += exp(h) * step * step;
                }
            }
        if (!(fabs(log(sum)) < 1e-6)) fail_msg("%d: %.9g is off by %.3g", inverse, got, log(sum));
        exec_fini(&x);
        at_close(&w.a);
    }
}

static void derivatives(void **state)
{
    static const char *const names[] = {"nu", "s", "t", "m"};
    struct rng r;
    (void)state;
    rng_init(&r, 9, 3);
    for (int n = 2; n <= 3; n++)
        for (int inverse = 0; inverse < 2; inverse++) {
            struct matrix_model w;
            open_model(&w, n, inverse, 16);
            random_inputs(&w, &r, 0.01, 100);
            for (int b = 0; b < AT_LANES; b++) at_row(&w.a, "nu", 0)[b] += 1;
            for (int k = 0; k < 4; k++) at_check_derivative(&w.a, names[k], 0, 60, 1e-6);
            at_close(&w.a);
        }
}

static void lanes_are_independent(void **state)
{
    struct rng r;
    struct matrix_model w;
    double together[AT_LANES];
    (void)state;
    rng_init(&r, 9, 4);
    open_model(&w, 3, 0, 16);
    random_inputs(&w, &r, 0.01, 100);
    w.a.x.lanes = 100;
    exec_run(&w.a.x);
    memcpy(together, at_result(&w.a, 0), sizeof together);
    for (int b = 0; b < 100; b++) {
        for (int k = 0; k < w.a.m.ir.num_rows; k++) {
            double *row = w.a.x.row + (size_t)k * (size_t)w.a.x.cap;
            row[0] = row[b];
        }
        w.a.x.lanes = 1;
        exec_run(&w.a.x);
        assert_true(at_result(&w.a, 0)[0] == together[b]);
    }
    at_close(&w.a);
}

static void moments_and_draws(void **state)
{
    struct rng r;
    double *x = malloc(sizeof *x * DRAWS);
    (void)state;
    assert_non_null(x);
    rng_init(&r, 9, 5);
    for (int inverse = 0; inverse < 2; inverse++) {
        struct matrix_model w;
        real P[MOST * MOST] = {0}, Q[MOST * MOST] = {0}, log_p, log_q;
        open_model(&w, 2, inverse, 0);
        random_inputs(&w, &r, 0.5, 2);
        at_row(&w.a, "nu", 0)[0] = 7.5;
        real nu = 7.5L + N, c = nu - 3;
        posterior(&w, 0, P, Q, &log_p, &log_q);
        if (!inverse) invert(2, Q);
        for (int e = 0; e < 4; e++) {
            int i = e / 2, j = e % 2;
            real q = Q[e], ii = Q[i * 3] * Q[j * 3], mean = inverse ? q / c : nu * q;
            real var = inverse ? ((c + 2) * q * q + c * ii) / ((c + 1) * c * c * (c - 2))
                               : nu * (q * q + ii);
            double got, got_var, sum = 0, square = 0;
            at_moments(&w.a, e, &got, &got_var);
            if (!(fabs(got - (double)mean) <= 1e-9 * sqrt((double)var) &&
                  fabs(got_var - (double)var) <= 1e-8 * (double)var))
                fail_msg("%d, %d: %g, %g are not %Lg, %Lg", inverse, e, got, got_var, mean, var);
            at_draws(&w.a, e, DRAWS, x);
            for (int k = 0; k < DRAWS; k++) {
                double z = (x[k] - got) / sqrt(got_var);
                sum += z, square += z * z;
            }
            assert_true(fabs(sum) < 6 * sqrt(DRAWS));
            assert_true(fabs(square / DRAWS - 1) < 0.15);
        }
        at_close(&w.a);
    }
    free(x);
}

/* ---- which models have them --------------------------------------------------------------------
 */

static const struct {
    const char *kind, *model;
} models[] = {
    {"wishart", "W[1:2,1:2] ~ wishart(4, R)\n y[1:2] ~ multi_normal_prec(c(0, 1), W)"},
    {"wishart", "W[1:2,1:2] ~ dwish(R, 3)\n for (i in 1:3) { y[i,1:2] ~ dmnorm(c(0, i), W) }"},
    {"wishart", "W[1:2,1:2] ~ wishart(4, R)\n m ~ normal(0, 1)\n"
                "y[1:2] ~ multi_normal(c(m, 1), inverse(W))"},
    {"wishart", "k ~ gamma(2, 1)\n W[1:2,1:2] ~ wishart(4, R)\n"
                "y[1:2] ~ multi_normal_prec(c(0, 1), k * W)"},
    {"wishart", "W[1:2,1:2] ~ wishart(4, R)\n y[1:2,1:2] ~ inv_wishart(5, W)"},
    {"inv_wishart", "W[1:2,1:2] ~ inv_wishart(4, R)\n y[1:2] ~ multi_normal(c(0, 1), W)"},
    {"inv_wishart", "W[1:2,1:2] ~ inv_wishart(4, R)\n y[1:2,1:2] ~ wishart(5, W)"},
    {"", "W[1:2,1:2] ~ wishart(4, R)\n y[1:2] ~ multi_normal(c(0, 1), W)"},
    {"", "W[1:2,1:2] ~ inv_wishart(4, R)\n y[1:2] ~ multi_normal_prec(c(0, 1), W)"},
    {"", "W[1:2,1:2] ~ wishart(4, R)\n y ~ normal(0, W[1,1])"},
    {"", "W[1:2,1:2] ~ wishart(4, R)\n y ~ normal(W[1,2], 1)"},
};

static void which_kind_fits(void **state)
{
    static const struct integral_kind *const kinds[] = {&integral_wishart, &integral_inv_wishart};
    (void)state;
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        for (int k = 0; k < 2; k++) {
            struct at a;
            char text[500];
            nami_err err = {0};
            snprintf(text, sizeof text,
                     "model { R[1,1] <- 2\n R[1,2] <- 0.3\n R[2,1] <- 0.3\n R[2,2] <- 1\n %s }\n"
                     "observe y",
                     models[i].model);
            at_begin(&a, text, NULL);
            at_latent(&a, "W", 0, INFINITY);
            a.var[1].low = a.var[2].low = -INFINITY;
            assert_int_equal(at_try(&a, kinds[k], 0, &err), 0);
            at_prior(&a);
            int want = strcmp(kinds[k]->name, models[i].kind) == 0;
            if (at_fits(&a) != want) fail_msg("%s, %s", kinds[k]->name, models[i].model);
            at_close(&a);
        }
}

static void out_of_memory(void **state)
{
    (void)state;
    struct matrix_model w;
    open_model(&w, 3, 0, 0);
    at_out_of_memory(&w.a, &integral_wishart);
    at_close(&w.a);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(out_of_memory),         cmocka_unit_test(values_equal_closed_forms),
    cmocka_unit_test(values_equal_grids),    cmocka_unit_test(derivatives),
    cmocka_unit_test(lanes_are_independent), cmocka_unit_test(moments_and_draws),
    cmocka_unit_test(which_kind_fits),
};

RUN(tests)
