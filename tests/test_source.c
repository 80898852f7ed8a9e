/* test_source.c: minibatches from the model, from given points and from a simulator that runs
   ahead are the right ones. */
#include <unistd.h>

#include "base/rng.h"
#include "model/model.h"
#include "model_at.h"
#include "train/source.h"

static void take(struct source *s, uint64_t step, struct batch *b)
{
    nami_err err = {0};
    if (source_batch(s, step, b, &err)) fail_msg("step %d: %s", (int)step, err.msg);
}

/* ---- points ------------------------------------------------------------------------- */

/* Points whose rows say which one each is. */
static double *numbered(const struct model *m, size_t n)
{
    double *x = calloc((size_t)m->ir.num_rows * n, sizeof *x);
    assert_non_null(x);
    for (int r = 0; r < m->ir.num_rows; r++)
        for (size_t i = 0; i < n; i++) x[(size_t)r * n + i] = (double)i + 0.25 * r;
    return x;
}

static size_t number_of(const struct model *m, const struct batch *b, size_t i)
{
    size_t p = (size_t)b->index[i];
    for (int r = 0; r < m->ir.num_rows; r++)
        assert_true(b->point[p * (size_t)m->ir.num_rows + (size_t)r] == (double)p + 0.25 * r);
    return p;
}

static void check_points(const struct model *m, size_t n, int batch, int valid, int nvalid)
{
    struct source *s, *again;
    struct batch b, c;
    nami_err err = {0};
    int *seen = calloc(n, sizeof *seen), *order = calloc(n, sizeof *order);
    size_t ntrain = n - (size_t)(nvalid * batch), per = ntrain / (size_t)batch, moved = 0;
    assert_true(seen && order);
    if (source_points(m, 4, batch, valid, n, numbered(m, n), &s, &err) ||
        source_points(m, 4, batch, valid, n, numbered(m, n), &again, &err))
        fail_msg("%s", err.msg);
    assert_int_equal(source_nvalid(s), nvalid);
    for (int k = 0; k < nvalid; k++) { /* the last ones, each once */
        assert_int_equal(source_valid(s, k, &b), 0);
        for (size_t i = 0; i < (size_t)batch; i++) {
            size_t p = number_of(m, &b, i);
            assert_true(p >= ntrain);
            seen[p]++;
        }
    }
    for (size_t i = ntrain; i < n; i++) assert_int_equal(seen[i], 1);
    for (uint64_t epoch = 0; epoch < 3; epoch++) {
        size_t all = 0;
        memset(seen, 0, sizeof *seen * n);
        for (uint64_t k = 0; k < per; k++) {
            take(s, epoch * per + k, &b);
            for (size_t i = 0; i < (size_t)batch; i++) {
                size_t p = number_of(m, &b, i), at = k * (size_t)batch + i;
                assert_true(p < ntrain);
                if (seen[p]++) fail_msg("point %zu comes twice in epoch %d", p, (int)epoch);
                if (epoch) moved += order[at] != (int)p;
                order[at] = (int)p;
                all++;
            }
        }
        assert_int_equal(all, per * (size_t)batch);
        if (ntrain % (size_t)batch == 0) assert_int_equal(all, ntrain);
    }
    assert_true(ntrain < 8 || moved > ntrain / 2); /* shuffled anew */
    for (int k = 0; k < 7; k++) {                  /* in any order */
        uint64_t step = (uint64_t)(k * 5 % 7) * per / 2;
        take(again, step, &c);
        take(s, step, &b);
        for (size_t i = 0; i < (size_t)batch; i++)
            assert_int_equal(number_of(m, &b, i), number_of(m, &c, i));
    }
    source_free(s);
    source_free(again);
    free(seen);
    free(order);
}

static void test_points(void **state)
{
    (void)state;
    struct model m;
    struct source *s;
    nami_err err = {0};
    build(&m, "model { z ~ normal(0, 1)\n y ~ normal(z, 1) }\n observe y", NULL);
    check_points(&m, 110, 10, 10, 1);
    check_points(&m, 107, 10, 10, 1);   /* the rest of an epoch waits for another */
    check_points(&m, 400, 16, 1000, 2); /* no more than a tenth */
    check_points(&m, 400, 8, 24, 3);
    check_points(&m, 16, 8, 100, 1); /* but one batch */
    check_points(&m, 17, 8, 1, 1);
    check_points(&m, 2, 1, 1, 1);
    int rc = source_points(&m, 4, 8, 8, 15, numbered(&m, 15), &s, &err);
    assert_int_equal(rc, NAMI_EINPUT);
    assert_non_null(strstr(err.msg, "15 points are too few for batches of 8"));
    source_free(s);
    model_fini(&m);
}

/* ---- the model ---------------------------------------------------------------------- */

static void test_model(void **state)
{
    (void)state;
    struct model m;
    struct source *s;
    struct batch b, c;
    nami_err err = {0};
    build(&m, "model { z ~ normal(0, 1)\n y ~ normal(z, 1) }\n observe y", NULL);
    if (source_model(&m, 3, 12, 30, &s, &err)) fail_msg("%s", err.msg);
    assert_int_equal(source_nvalid(s), 3);
    take(s, 0, &b);
    take(s, 5, &c);
    assert_true(!b.x && !c.x && b.seed == c.seed && b.first == 0 && c.first == 5 * 16);
    assert_int_equal(source_valid(s, 2, &b), 0);
    assert_true(!b.x && b.seed != c.seed && b.first == 2 * 16);
    source_free(s);
    model_fini(&m);
}

/* ---- a simulator -------------------------------------------------------------------- */

/* Draws that are easy to check: row i of a request with seed S has z = S mod 1e6, y = i. */
#define SIMULATOR                                                                                  \
    "simulator \"awk -F'[:,}]' '{ n = $2 + 0; s = substr($4, length($4) - 5) + 0;"                 \
    " for (i = 0; i < n; i++) print \\\"{\\\\\\\"z\\\\\\\":\\\" s \\\",\\\\\\\"y\\\\\\\":\\\" i"   \
    " \\\"}\\\" }'\"\n"
#define SIMULATED "model { z ~ normal(0, 1)\n y ~ simulated(z) }\n observe y"

static double at(const struct model *m, const struct batch *b, const char *name, size_t i)
{
    return b->x[(size_t)row_of(m, name, 0) * b->n + b->first + i];
}

static void test_simulator(void **state)
{
    (void)state;
    enum { BATCH = 5, BLOCK = 16, STEPS = 12 * BLOCK };
    static double z[STEPS][BATCH], y[STEPS][BATCH];
    struct model m;
    struct source *s;
    struct batch b;
    nami_err err = {0};
    struct rng r;
    build(&m, SIMULATOR SIMULATED, NULL);
    if (source_model(&m, 3, BATCH, 11, &s, &err)) fail_msg("%s", err.msg);
    assert_int_equal(source_nvalid(s), 3);
    for (int k = 0; k < 3; k++) {
        assert_int_equal(source_valid(s, k, &b), 0);
        for (int i = 0; i < BATCH; i++) assert_true(at(&m, &b, "y", (size_t)i) == k * BATCH + i);
    }
    double held = at(&m, &b, "z", 0);
    int changes = 0;
    for (int k = 0; k < STEPS; k++) {
        take(s, (uint64_t)k, &b);
        for (int i = 0; i < BATCH; i++) {
            z[k][i] = at(&m, &b, "z", (size_t)i);
            y[k][i] = at(&m, &b, "y", (size_t)i);
            assert_true(y[k][i] == k % BLOCK * BATCH + i); /* each row of a block once */
            assert_true(z[k][i] != held);
        }
        if (k) changes += z[k][0] != z[k - 1][0];
    }
    assert_int_equal(changes, STEPS / BLOCK - 1); /* a block, a seed */
    assert_true(source_waited(s) > 0);
    /* back to a block that was about to be replaced */
    for (int turn = 0; turn < 3; turn++) {
        static const int to[] = {0, 2 * BLOCK, BLOCK};
        for (int i = 0; i < 3; i++) {
            take(s, (uint64_t)to[i], &b);
            if (i != 1) usleep(40000);
        }
        for (int i = 0; i < BATCH; i++) assert_true(at(&m, &b, "z", (size_t)i) == z[BLOCK][i]);
    }
    /* jumps, forwards and back, near and far, in a hurry and not */
    rng_init(&r, 8, 0);
    int k = 0;
    for (int jump = 0; jump < 150; jump++) {
        k += jump % 3 ? (int)rng_below(&r, 5 * BLOCK) - 5 * BLOCK / 2 : (int)rng_below(&r, STEPS);
        k = (k % STEPS + STEPS) % STEPS;
        take(s, (uint64_t)k, &b);
        if (jump % 5 == 0) usleep(3000);
        for (int i = 0; i < BATCH; i++)
            if (at(&m, &b, "z", (size_t)i) != z[k][i] || at(&m, &b, "y", (size_t)i) != y[k][i])
                fail_msg("step %d is another after jump %d", k, jump);
    }
    source_free(s);
    if (source_model(&m, 3, BATCH, 11, &s, &err)) fail_msg("%s", err.msg);
    take(s, 100, &b); /* as after a restart */
    assert_true(at(&m, &b, "z", 2) == z[100][2] && at(&m, &b, "y", 2) == y[100][2]);
    source_free(s);
    if (source_model(&m, 3, BATCH, 11, &s, &err)) fail_msg("%s", err.msg);
    source_free(s); /* never asked */
    model_fini(&m);
}

/* The example, as it is: what it draws does not depend on when it is asked. */
static void test_ricker(void **state)
{
    (void)state;
    struct model m = {0};
    struct source *s, *late;
    struct batch b, c;
    nami_err err = {0};
    if (model_read(&m, SOURCE_DIR "/examples/models/ricker.nami", NULL, 0, NULL, &err))
        fail_msg("%s", err.msg);
    if (source_model(&m, 1, 3, 6, &s, &err) || source_model(&m, 1, 3, 6, &late, &err))
        fail_msg("%s", err.msg);
    for (uint64_t k = 0; k < 40; k++) take(s, k, &b);
    take(late, 39, &c);
    for (int r = 0; r < m.ir.num_rows; r++)
        for (int i = 0; i < 3; i++)
            assert_true(b.x[(size_t)r * b.n + b.first + (size_t)i] ==
                        c.x[(size_t)r * c.n + c.first + (size_t)i]);
    source_free(s);
    source_free(late);
    model_fini(&m);
}

/* It fails at once, or when it is asked for the third time: after validation and a block. */
static void test_fails(void **state)
{
    (void)state;
    char path[] = "/tmp/nami_calls_XXXXXX";
    struct model m;
    struct source *s;
    struct batch b;
    nami_err err = {0};
    build(&m, "simulator \"echo nothing today >&2; exit 3\"\n" SIMULATED, NULL);
    assert_int_not_equal(source_model(&m, 1, 4, 8, &s, &err), 0);
    assert_non_null(strstr(err.msg, "nothing today"));
    source_free(s);
    model_fini(&m);
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    struct str text = {0};
    str_printf(&text,
               "simulator \"echo >> %s; if [ $(wc -l < %s) -gt 2 ]; then echo no more >&2; exit 1; "
               "fi; n=$(tr -dc 0-9, | cut -d, -f1); yes '{\\\"z\\\":1,\\\"y\\\":2}' | head -n "
               "$n\"\n" SIMULATED,
               path, path);
    build(&m, text.s, NULL);
    if (source_model(&m, 1, 4, 8, &s, &err)) fail_msg("%s", err.msg);
    for (int turn = 0; turn < 3; turn++)
        for (uint64_t k = 0; k < 16; k++) { /* what it did give is there, also later */
            take(s, k, &b);
            assert_true(at(&m, &b, "y", 3) == 2);
            if (k == 2) usleep(30000);
        }
    for (int turn = 0; turn < 2; turn++) { /* and the error stays */
        err = (nami_err){0};
        assert_int_not_equal(source_batch(s, 16 + (uint64_t)turn, &b, &err), 0);
        assert_non_null(strstr(err.msg, "no more"));
        assert_int_not_equal(source_batch(s, 100, &b, NULL), 0);
    }
    source_free(s);
    model_fini(&m);
    str_free(&text);
    remove(path);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_points), cmocka_unit_test(test_model), cmocka_unit_test(test_simulator),
    cmocka_unit_test(test_ricker), cmocka_unit_test(test_fails),
};
RUN(tests)
