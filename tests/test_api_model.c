/* test_api_model.c: the model functions of nami.h work for a program that includes only this
   header. */

#include "run.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "api_at.h"
#include "malloc_fail.h"
#include "nami.h"

#define MODELS SOURCE_DIR "/examples/models/"

static nami_model *read_model(const char *path, const char *data)
{
    nami_data *values = data_at(data);
    nami_model_options opt = {.data = values};
    nami_model *m;
    nami_err err;
    if (nami_model_read(path, &opt, &m, &err)) fail_msg("%s: %s", path, err.msg);
    nami_data_free(values);
    return m;
}

static double *draw(const nami_model *m, uint64_t seed, size_t n, int threads)
{
    nami_err err;
    double *x = malloc(sizeof(double) * (size_t)nami_model_size(m) * n);
    assert_non_null(x);
    if (nami_model_simulate(m, seed, n, threads, x, &err)) fail_msg("%s", err.msg);
    return x;
}

/* A file that goes when the test ends. */
static char path[] = "/tmp/nami_api_XXXXXX.nami";

static const char *write_model(const char *text)
{
    strcpy(path, "/tmp/nami_api_XXXXXX.nami");
    int fd = mkstemps(path, 5);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    return path;
}

/* ---- cases -------------------------------------------------------------------------- */

static void names_and_nodes(void **state)
{
    (void)state;
    nami_model *m = read_model(MODELS "surgical.nami", MODELS "surgical.json");
    const nami_bn *bn = nami_model_structure(m);
    int n = nami_model_size(m), computed = 0, observed = 0;
    assert_int_equal(nami_bn_size(bn), 26);
    assert_int_equal(n, 26 + 12); /* p[i] is computed */
    for (int s = 0; s < n; s++) {
        const char *name = nami_model_scalar_name(m, s);
        int node = nami_model_scalar_node(m, s);
        assert_int_equal(nami_model_scalar_find(m, name), s);
        computed += node < 0;
        observed += node >= 0 && nami_bn_observed(bn, node);
        if (node < 0)
            assert_int_equal(name[0], 'p');
        else
            assert_string_equal(name, nami_bn_name(bn, node));
    }
    assert_int_equal(computed, 12);
    assert_int_equal(observed, 12);
    assert_int_equal(nami_model_scalar_find(m, "q"), -1);
    assert_null(nami_model_scalar_name(m, n));
    assert_null(nami_model_scalar_name(m, -1));
    nami_model_free(m);
}

static void structure_is_inverted(void **state)
{
    (void)state;
    nami_model *m = read_model(MODELS "schools.nami", MODELS "schools.json");
    nami_inverse *inv;
    nami_err err;
    assert_int_equal(nami_invert(nami_model_structure(m), NULL, &inv, &err), 0);
    assert_int_equal(nami_inverse_edges(inv), 41);
    nami_inverse_free(inv);
    nami_model_free(m);
}

/* Draws do not depend on how many there are, nor on threads: computed variables, too. */
static void same_draws(const char *model, const char *data)
{
    enum { N = 1000, FEW = 21 };
    nami_model *m = read_model(model, data);
    size_t size = (size_t)nami_model_size(m);
    double *a = draw(m, 7, N, 1), *b = draw(m, 7, N, 3), *c = draw(m, 7, FEW, 1),
           *d = draw(m, 8, N, 1);
    int other = 0;
    for (size_t s = 0; s < size; s++)
        for (size_t i = 0; i < N; i++) {
            assert_true(a[s * N + i] == b[s * N + i]);
            if (i < FEW) assert_true(a[s * N + i] == c[s * FEW + i]);
            other += a[s * N + i] != d[s * N + i];
        }
    assert_true(other > 0);
    free(a), free(b), free(c), free(d);
    nami_model_free(m);
}

static void draws_are_the_same(void **state)
{
    (void)state;
    same_draws(MODELS "hmm.nami", NULL);
    same_draws(MODELS "surgical.nami", MODELS "surgical.json");
    same_draws(MODELS "epil.nami", MODELS "epil.json");
    same_draws(MODELS "vae.nami", NULL);
}

static double normal(double x, double mu, double sd)
{
    double z = (x - mu) / sd;
    return -0.5 * z * z - log(sd) - 0.91893853320467274178;
}

/* Against the formula, and derivatives against differences. */
static void density(void **state)
{
    (void)state;
    static const double se[] = {15, 10, 16, 11, 9, 11, 10, 18};
    enum { N = 3 };
    nami_model *m = read_model(MODELS "schools.nami", MODELS "schools.json");
    int size = nami_model_size(m);
    double *x = draw(m, 1, N, 1), *g = malloc(sizeof(double) * (size_t)size * N), logp[N], up[N],
           down[N];
    nami_err err;
    assert_int_equal(nami_model_logp(m, N, x, 2, logp, g, &err), 0);
#define AT(name, i) x[(size_t)nami_model_scalar_find(m, name) * N + (i)]
    for (size_t i = 0; i < N; i++) {
        double want = normal(AT("mu", i), 0, 10) + log(2) + normal(AT("tau", i), 0, 10);
        for (int j = 0; j < 8; j++) {
            char theta[16], y[16];
            snprintf(theta, sizeof theta, "theta[%d]", j + 1),
                snprintf(y, sizeof y, "y[%d]", j + 1);
            want += normal(AT(theta, i), AT("mu", i), AT("tau", i)) +
                    normal(AT(y, i), AT(theta, i), se[j]);
        }
        assert_true(fabs(logp[i] - want) < 1e-9 * fabs(want));
    }
    for (int s = 0; s < size; s++)
        for (size_t i = 0; i < N; i++) {
            double *at = &x[(size_t)s * N + i], was = *at, h = 1e-5 * fmax(1e-3, fabs(was));
            *at = was + h, nami_model_logp(m, N, x, 1, up, NULL, &err);
            *at = was - h, nami_model_logp(m, N, x, 1, down, NULL, &err);
            *at = was;
            double want = (up[i] - down[i]) / (2 * h), got = g[(size_t)s * N + i];
            assert_true(fabs(got - want) < 1e-4 * (1 + fabs(want)));
        }
    free(x), free(g);
    nami_model_free(m);
}

static void computed_is_not_read(void **state)
{
    (void)state;
    nami_model *m = read_model(MODELS "surgical.nami", MODELS "surgical.json");
    double *x = draw(m, 1, 1, 1), a, b;
    assert_int_equal(nami_model_logp(m, 1, x, 1, &a, NULL, NULL), 0);
    for (int s = 0; s < nami_model_size(m); s++)
        if (nami_model_scalar_node(m, s) < 0) x[s] = NAN;
    assert_int_equal(nami_model_logp(m, 1, x, 1, &b, NULL, NULL), 0);
    assert_true(a == b);
    free(x);
    nami_model_free(m);
}

static void points_from_data(void **state)
{
    (void)state;
    nami_model *m = read_model(MODELS "schools.nami", MODELS "schools.json");
    double *x = draw(m, 1, 4, 1), *was = draw(m, 1, 4, 1);
    nami_err err;
    nami_data *schools = data_at(MODELS "schools.json"), *pumps = data_at(MODELS "pumps.json");
    assert_int_equal(nami_model_set_point(m, schools, 0, 4, 2, x, &err), 8);
    for (int s = 0; s < nami_model_size(m); s++)
        for (int i = 0; i < 4; i++)
            if (i != 2 || nami_model_scalar_name(m, s)[0] != 'y')
                assert_true(x[s * 4 + i] == was[s * 4 + i]);
    assert_true(x[nami_model_scalar_find(m, "y[3]") * 4 + 2] == -3);
    assert_int_equal(nami_model_set_point(m, pumps, 0, 4, 2, x, &err), 0);
    assert_int_equal(nami_model_set_point(m, pumps, 1, 4, 2, x, &err), NAMI_EUSAGE);
    nami_data_free(schools), nami_data_free(pumps);
    free(x), free(was);
    nami_model_free(m);
}

static void options(void **state)
{
    (void)state;
    const char *set[] = {"T=5", "K=2"};
    nami_model_options opt = {.set = set, .num_set = 2, .observe = "z[1:5]"};
    nami_model *m;
    nami_err err;
    assert_int_equal(nami_model_read(MODELS "hmm.nami", &opt, &m, &err), 0);
    const nami_bn *bn = nami_model_structure(m);
    assert_int_equal(nami_model_scalar_find(m, "z[6]"), -1);
    assert_true(nami_bn_observed(bn, nami_bn_find(bn, "z[5]")));
    assert_false(nami_bn_observed(bn, nami_bn_find(bn, "y[5]")));
    nami_model_free(m);
}

/* A model that is wrong says all of it, and nothing else. */
static void messages(void **state)
{
    (void)state;
    nami_model *m;
    nami_err err;
    double x = 0;
    write_model("model {\n  a ~ nromal(0, 1)\n  b ~ gamma(1)\n}\n");
    assert_int_equal(nami_model_read(path, NULL, &m, &err), NAMI_EINPUT);
    assert_int_equal(err.line, 2);
    assert_non_null(m);
    assert_non_null(strstr(nami_model_messages(m), "did you mean normal()?"));
    assert_non_null(strstr(nami_model_messages(m), ":3:7: error: "));
    assert_int_equal(nami_model_size(m), 0);
    assert_null(nami_model_structure(m));
    assert_null(nami_model_scalar_name(m, 0));
    assert_int_equal(nami_model_scalar_find(m, "a"), -1);
    assert_int_equal(nami_model_simulate(m, 0, 1, 1, &x, &err), NAMI_EUSAGE);
    assert_int_equal(nami_model_logp(m, 1, &x, 1, &x, NULL, NULL), NAMI_EUSAGE);
    nami_data *pumps = data_at(MODELS "pumps.json");
    assert_int_equal(nami_model_set_point(m, pumps, 0, 1, 0, &x, &err), NAMI_EUSAGE);
    nami_model_free(m);
    unlink(path);

    assert_int_equal(nami_model_read(MODELS "none.nami", NULL, &m, NULL), NAMI_EFILE);
    assert_string_equal(nami_model_messages(m), "");
    nami_model_free(m);
    assert_int_equal(nami_data_read(pumps, MODELS "pumps.nami", &err), NAMI_EINPUT);
    assert_int_equal(nami_data_read(pumps, MODELS "none.json", &err), NAMI_EFILE);
    assert_int_equal(nami_data_read(pumps, MODELS "pumps.json", &err), 0); /* another data set */
    assert_int_equal(nami_data_size(pumps), 2);
    nami_model_options opt = {.data = pumps};
    assert_int_equal(nami_model_read(MODELS "pumps.nami", &opt, &m, &err), NAMI_EINPUT);
    assert_non_null(strstr(err.msg, "two data files give"));
    nami_model_free(m);
    nami_data_free(pumps);

    write_model("model {\n  a ~ dnorm(0, 1.0E-6)\n}\n");
    assert_int_equal(nami_model_read(path, NULL, &m, &err), 0);
    assert_non_null(
        strstr(nami_model_messages(m), "warning: dnorm(0, 1.0E-6) is a normal with sd = 1000"));
    nami_model_free(m);
    unlink(path);
    nami_model_free(NULL);
}

/* A simulator draws all random variables; without one, simulated() cannot be drawn. */
static void simulators(void **state)
{
    (void)state;
    nami_model *m;
    nami_err err;
    write_model(
        "simulator \"echo '{\\\"a\\\": 40, \\\"y\\\": [41, 42]}'\"\n"
        "model {\n  a ~ normal(0, 1)\n  y[1:2] ~ simulated(a)\n  s <- y[1] + y[2]\n}\nobserve y\n");
    m = read_model(path, NULL);
    double *x = draw(m, 0, 1, 1), logp;
    assert_true(x[nami_model_scalar_find(m, "a")] == 40);
    assert_true(x[nami_model_scalar_find(m, "y[2]")] == 42);
    assert_true(x[nami_model_scalar_find(m, "s")] == 83);
    assert_int_equal(nami_model_logp(m, 1, x, 1, &logp, NULL, &err), NAMI_EINPUT);
    assert_non_null(strstr(err.msg, "its density is not known"));
    assert_int_equal(nami_bn_size(nami_model_structure(m)), 2);
    nami_model_free(m);
    unlink(path);

    write_model("model {\n  a ~ normal(0, 1)\n  y ~ simulated(a)\n}\n");
    m = read_model(path, NULL);
    assert_int_equal(nami_model_simulate(m, 0, 1, 1, x, &err), NAMI_EINPUT);
    assert_non_null(strstr(err.msg, "no simulator"));
    nami_model_free(m);
    unlink(path);
    free(x);
}

static int read_and_free(void *ctx)
{
    nami_model_options opt = {0};
    nami_data *data = NULL;
    nami_model *m = NULL;
    nami_err err;
    int rc = nami_data_new(&data, &err);
    if (!rc) rc = nami_data_read(data, MODELS "schools.json", &err);
    opt.data = data;
    if (!rc) rc = nami_model_read(ctx, &opt, &m, &err);
    double x[18], logp;
    if (!rc) rc = nami_model_simulate(m, 0, 1, 1, x, &err);
    if (!rc) rc = nami_model_logp(m, 1, x, 1, &logp, NULL, &err);
    if (!rc && (rc = nami_model_set_point(m, data, 0, 1, 0, x, &err)) > 0) rc = 0;
    nami_model_free(m);
    nami_data_free(data);
    return rc;
}

static void memory(void **state)
{
    (void)state;
    const char *why;
    char model[] = MODELS "schools.nami";
    assert_int_equal(read_and_free(model), 0);
    long n = nomem_each(read_and_free, model, &why);
    if (n < 0) fail_msg("%s", why);
    assert_true(n > 50);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(names_and_nodes),
    cmocka_unit_test(structure_is_inverted),
    cmocka_unit_test(draws_are_the_same),
    cmocka_unit_test(density),
    cmocka_unit_test(computed_is_not_read),
    cmocka_unit_test(points_from_data),
    cmocka_unit_test(options),
    cmocka_unit_test(messages),
    cmocka_unit_test(simulators),
    cmocka_unit_test(memory),
};

RUN(tests)
