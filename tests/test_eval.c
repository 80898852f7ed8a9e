/* test_eval.c: derivatives of every example, by network weights and by constants, agree with
   finite differences; results are the same for any batch and any number of threads. */
#include <glob.h>
#include <unistd.h>

#include "model/model.h"
#include "model_at.h"

/* ---- derivatives -------------------------------------------------------------------- */

/* A direction that keeps a value in its domain: element j up; on a simplex the next one down;
   in a symmetric matrix the mirrored one too.  Writes rows and signs; returns how many. */
static int direction(const struct model *m, int k, int j, int *row, double *sign)
{
    int a = m->ir.first_defined[k], n = m->ir.first_defined[k + 1] - a;
    enum domain d = instance_stmt(m, k)->dist->domain;
    row[0] = m->ir.row[m->ir.defined[a + j]];
    sign[0] = 1;
    if (d == SIMPLEX) {
        row[1] = m->ir.row[m->ir.defined[a + (j + 1) % n]];
        sign[1] = -1;
        return 2;
    }
    int order = (int)lround(sqrt(n)), r = j / order, c = j % order;
    if ((d != SPD && d != CORR) || r == c) return 1;
    row[1] = m->ir.row[m->ir.defined[a + c * order + r]];
    sign[1] = 1;
    return 2;
}

enum { STEPS = 4 };
static const double steps[STEPS] = {-2, -1, 1, 2};

static double derivative(const double *f, double h) /* at -2h, -h, h, 2h */
{
    return (8 * (f[2] - f[1]) - (f[3] - f[0])) / (12 * h);
}

static double roundoff(double logp, double h) { return 20 * 2.2e-16 * fmax(1, fabs(logp)) / h; }

static void agrees(const char *what, const char *who, double got, double f0, const double *f,
                   double h)
{
    double want = derivative(f, h);
    if (fabs(got - want) <= 1e-6 * fmax(1, fmax(fabs(got), fabs(want))) + roundoff(f0, h)) return;
    fail_msg("%s: the derivative by %s is %.12g, differences give %.12g (h = %g)", what, who, got,
             want, h);
}

static double small_step(enum domain d, const double *x, const int *row, int n)
{
    double h = 1e-3;
    for (int i = 0; i < n; i++) {
        double y = fabs(x[row[i]]);
        if (d == REAL || d == VECTOR)
            h = fmin(h, 1e-4 * fmax(y, 0.1)); /* gamma^30 is steep */
        else if (d == SPD)
            h = fmin(h, 1e-4 * fmax(y, 1e-3));
        else
            h = fmin(h, 1e-3 * fmin(y, domains[d].hi == 1 ? 1 - y : y));
    }
    return h;
}

/* At one point x: all derivatives by continuous elements. Returns their number. */
static int check_grad(const char *what, const struct model *m, const double *x)
{
    size_t nrow = (size_t)m->ir.num_rows;
    double *grad = calloc(nrow, sizeof *grad), *y = calloc(nrow * STEPS, sizeof *y), f[STEPS], f0;
    int count = 0;
    assert_true(grad && y);
    logp(m, 1, x, 1, (struct density){.logp = &f0, .grad = grad});
    if (!isfinite(f0)) fail_msg("%s: the density of a draw is %g", what, f0);
    for (int k = 0; k < m->ir.num_instances; k++) {
        const struct stmt *s = instance_stmt(m, k);
        if (!s->dist || m->ir.density_level[k] < 0 || domains[s->dist->domain].discrete) continue;
        for (int j = 0; j < m->ir.first_defined[k + 1] - m->ir.first_defined[k]; j++) {
            int row[2], n;
            double sign[2], got = 0;
            n = direction(m, k, j, row, sign);
            double h = small_step(s->dist->domain, x, row, n);
            if (!(h > 1e-9)) continue; /* too near the edge for differences */
            for (size_t r = 0; r < nrow; r++)
                for (int i = 0; i < STEPS; i++) y[r * STEPS + (size_t)i] = x[r];
            for (int q = 0; q < n; q++) {
                for (int i = 0; i < STEPS; i++)
                    y[(size_t)row[q] * STEPS + (size_t)i] += sign[q] * h * steps[i];
                got += sign[q] * grad[row[q]];
            }
            logp(m, STEPS, y, 1, (struct density){.logp = f});
            struct str name = {0};
            elem_name(m, m->ir.defined[m->ir.first_defined[k] + j], &name);
            agrees(what, name.s, got, f0, f, h);
            str_free(&name);
            count++;
        }
    }
    free(grad);
    free(y);
    return count;
}

static void open_example(const char *path, struct model *m)
{
    char data[512];
    const char *const files[] = {data};
    nami_err err = {0};
    snprintf(data, sizeof data, "%.*s.json", (int)(strlen(path) - 5), path);
    *m = (struct model){0};
    if (model_read(m, path, files, access(data, R_OK) == 0, NULL, &err))
        fail_msg("%s: %s", path, err.msg);
}

static void for_examples(void (*f)(const char *path, struct model *m))
{
    glob_t g;
    assert_int_equal(glob(SOURCE_DIR "/examples/models/*.nami", 0, NULL, &g), 0);
    assert_true(g.gl_pathc >= 10);
    for (size_t i = 0; i < g.gl_pathc; i++) {
        struct model m;
        open_example(g.gl_pathv[i], &m);
        if (!m.source.simulator) f(strrchr(g.gl_pathv[i], '/') + 1, &m);
        model_fini(&m);
    }
    globfree(&g);
}

static void example_gradients(const char *name, struct model *m)
{
    enum { POINTS = 3 };
    double *x = draw(m, POINTS, 1), *one = calloc((size_t)m->ir.num_rows, sizeof *one);
    int n = 0;
    assert_non_null(one);
    for (int i = 0; i < POINTS; i++) {
        for (int r = 0; r < m->ir.num_rows; r++) one[r] = x[(size_t)r * POINTS + (size_t)i];
        n += check_grad(name, m, one);
    }
    print_message("%s: %d derivatives\n", name, n);
    free(x);
    free(one);
}

static void test_gradients(void **state)
{
    (void)state;
    for_examples(example_gradients);
}

static void check_weights(const char *what, struct model *m, int most)
{
    enum { POINTS = 5 };
    double *x = draw(m, POINTS, 1), f[STEPS], l[POINTS];
    size_t nw = 0;
    for (size_t i = 0; i < m->ir.networks.n; i++) nw += m->ir.networks.a[i].nw;
    double *dw = calloc(nw, sizeof *dw);
    assert_true(dw && nw);
    logp(m, POINTS, x, 1, (struct density){.logp = l, .dweights = dw});
    double f0 = 0;
    for (int i = 0; i < POINTS; i++) f0 += l[i];
    size_t step = nw / (size_t)most + 1, at = 0;
    for (size_t i = 0; i < m->ir.networks.n; i++)
        for (size_t k = 0; k < m->ir.networks.a[i].nw; k++, at++) {
            double *w = &m->programs.weights.a[m->ir.networks.a[i].w + k], was = *w, h = 1e-3;
            if (at % step) continue;
            for (int s = 0; s < STEPS; s++) {
                *w = was + h * steps[s];
                logp(m, POINTS, x, 1, (struct density){.logp = l});
                f[s] = 0;
                for (int q = 0; q < POINTS; q++) f[s] += l[q];
            }
            *w = was;
            agrees(what, "a weight", dw[at], f0, f, h);
        }
    free(x);
    free(dw);
}

static void test_weights(void **state)
{
    (void)state;
    struct model m;
    build(&m,
          "network f : real[2] -> real[3] { dense(4, tanh); dense(3, softplus) }\n"
          "network g : real -> real { dense(1, sigmoid) }\n"
          "model { for (i in 1:2) { h[i] ~ normal(0, 1) }\n a <- f(h)\n b <- g(h[1])\n"
          "for (i in 1:3) { y[i] ~ normal(a[i], 0.5 + b[1]) } }",
          NULL);
    check_weights("two networks", &m, 1000);
    model_fini(&m);
    open_example(SOURCE_DIR "/examples/models/vae.nami", &m);
    check_weights("vae", &m, 40);
    model_fini(&m);
}

/* Constants as variables, also where they are hidden in computed ones. */
static void test_constants(void **state)
{
    (void)state;
    static const char *const names[] = {"w", "s", "A"};
    struct model m, plain;
    const char *text = "const w[2] = c(0.5, 2)\n const s = 1.5\n const A[2,2] = c(1, 2, 3, 4)\n"
                       "model { tau <- exp(s) / 2\n for (i in 1:2) { x[i] ~ normal(w[i], tau) }\n"
                       "z ~ bernoulli(0.5)\n y ~ normal(sum(A %*% w) + w[z + 1] * x[1], s) }";
    build(&plain, text, NULL);
    build_opt(&m, NATIVE, text, NULL, &(struct model_options){.free = names, .nfree = 3});
    double *x = draw(&m, 1, 1), *x0 = draw(&plain, 1, 1),
           *grad = calloc((size_t)m.ir.num_rows, sizeof *grad);
    double *y = calloc((size_t)m.ir.num_rows * STEPS, sizeof *y), f[STEPS], f0, f1;
    assert_true(grad && y);
    static const char *const same[] = {"x", "x", "z", "y"};
    for (int i = 0; i < 4; i++)
        x0[row_of(&plain, same[i], i == 1)] = x[row_of(&m, same[i], i == 1)];
    logp(&plain, 1, x0, 1, (struct density){.logp = &f0});
    logp(&m, 1, x, 1, (struct density){.logp = &f1, .grad = grad});
    near(f1, f0);
    int count = 0;
    for (int a = 0; a < 3; a++)
        for (int k = 0; k < m.ir.arrays.a[array_find(&m, names[a])].n; k++, count++) {
            int row = row_of(&m, names[a], k);
            assert_true(row >= 0);
            for (int r = 0; r < m.ir.num_rows; r++)
                for (int i = 0; i < STEPS; i++)
                    y[r * STEPS + i] = x[r] + (r == row ? 1e-3 * steps[i] : 0);
            logp(&m, STEPS, y, 1, (struct density){.logp = f});
            agrees("free", names[a], grad[row], f0, f, 1e-3);
        }
    assert_int_equal(count, 7);
    check_grad("free", &m, x);
    free(x);
    free(x0);
    free(y);
    free(grad);
    model_fini(&m);
    model_fini(&plain);
}

/* ---- batches and threads ----------------------------------------------------------------------
 */

enum { BATCH = 1000 };

static void same_draws(const char *name, struct model *m)
{
    double *x = draw(m, BATCH, 1);
    size_t size = sizeof *x * (size_t)m->ir.num_rows * BATCH;
    for (int threads = 2; threads <= 3; threads++) {
        double *y = draw(m, BATCH, threads);
        if (memcmp(x, y, size) != 0) fail_msg("%s: %d threads draw otherwise", name, threads);
        free(y);
    }
    double *few = draw(m, 5, 2);
    for (int r = 0; r < m->ir.num_rows; r++)
        for (int i = 0; i < 5; i++)
            if (memcmp(&x[(size_t)r * BATCH + (size_t)i], &few[r * 5 + i], sizeof *x) != 0)
                fail_msg("%s: draw %d of 5 differs from that of %d", name, i, BATCH);
    free(few);
    free(x);
}

static void same_densities(const char *name, struct model *m)
{
    static const size_t sizes[] = {1, 3, 64};
    double *x = draw(m, BATCH, 1), *l = calloc(BATCH, sizeof *l),
           *ns = calloc(m->ir.statements.n * BATCH, sizeof *ns);
    double *y = calloc((size_t)m->ir.num_rows * 64, sizeof *y), some[64], threads[BATCH];
    assert_true(l && ns && y);
    logp(m, BATCH, x, 1, (struct density){.logp = l, .by_stmt = ns});
    logp(m, BATCH, x, 3, (struct density){.logp = threads});
    for (int i = 0; i < BATCH; i++) {
        double sum = 0;
        for (size_t s = 0; s < m->ir.statements.n; s++) sum += ns[s * BATCH + (size_t)i];
        if (isfinite(l[i]) && !(fabs(sum - l[i]) <= 1e-10 * fmax(1, fabs(l[i]))))
            fail_msg("%s: the statements' shares sum to %.15g, not %.15g", name, sum, l[i]);
        if (memcmp(&threads[i], &l[i], sizeof *l) != 0)
            fail_msg("%s: threads change the density", name);
    }
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        size_t n = sizes[k];
        for (size_t r = 0; r < (size_t)m->ir.num_rows; r++)
            memcpy(y + r * n, x + r * BATCH, sizeof *y * n);
        logp(m, n, y, 1, (struct density){.logp = some});
        for (size_t i = 0; i < n; i++)
            if (isfinite(l[i]) && !(fabs(some[i] - l[i]) <= 1e-12 * fmax(1, fabs(l[i]))))
                fail_msg("%s: the density is %.17g in a batch of %zu, but %.17g", name, some[i], n,
                         l[i]);
    }
    free(x);
    free(l);
    free(ns);
    free(y);
}

static void test_threads(void **state)
{
    (void)state;
    for_examples(same_draws);
}

static void test_batches(void **state)
{
    (void)state;
    for_examples(same_densities);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_gradients), cmocka_unit_test(test_weights),
    cmocka_unit_test(test_constants), cmocka_unit_test(test_threads),
    cmocka_unit_test(test_batches),
};
RUN(tests)
