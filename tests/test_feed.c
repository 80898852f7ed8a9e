/* test_feed.c: observations of data sets into the rows of a model, and batches of them: as from
   points, to the last bit. */
#include <unistd.h>

#include "base/file.h"
#include "malloc_fail.h"
#include "model/feed.h"
#include "model/model.h"
#include "net_at.h"
#include "train/train.h"

static nami_err err;
static char dir[64];

/* A file in a folder that goes away; the path stays until the next but three. */
static const char *put(const char *name, const char *text, size_t n)
{
    static char path[4][128];
    static int k;
    char *p = path[k++ % 4];
    snprintf(p, sizeof *path, "%s/%s", dir, name);
    if (file_write(p, text, n, &err)) fail_msg("%s", err.msg);
    return p;
}
#define put_text(name, text) put(name, text, strlen(text))

/* "x=PATH"; the last eight stay. */
static const char *given(const char *name, const char *path)
{
    static char arg[8][160];
    static int k;
    char *a = arg[k++ % 8];
    snprintf(a, sizeof *arg, "%s=%s", name, path);
    return a;
}

static int read_all(struct feeds *f, const struct model *m, const char *a, const char *b)
{
    const char *const file[] = {a, b};
    return feeds_read(f, m, file, b ? 2 : 1, &err);
}

/* ---- rows ------------------------------------------------------------------------------ */

static const char small[] =
    "model {\n z ~ normal(0, 1)\n y[1] <- 3\n for (i in 2:3) { y[i] ~ normal(z, 1) }\n"
    " for (i in 1:2) { for (j in 1:2) { x[i,j] ~ bernoulli(0.5) } }\n s <- z + y[2]\n}\n"
    "observe x, y[2:3]";

static void rows(void **state)
{
    (void)state;
    enum { STRIDE = 3 };
    struct model m;
    struct feeds f;
    build(&m, small, NULL);
    const char *path =
        put_text("a.csv", "y[1],y[2],y[3],\"x[1,1]\",\"x[1,2]\",\"x[2,1]\",\"x[2,2]\"\n"
                          "9,1.5,2.5,0,1,0,1\n9,,3.5,1,1,1,0\n");
    if (read_all(&f, &m, path, NULL)) fail_msg("%s", err.msg);
    assert_true(f.n == 2 && f.feed.n == 2);
    assert_int_equal(feeds_check(&f, &m, &err), 0);
    assert_null(feeds_find(&f, "z"));
    struct feed *x = feeds_find(&f, "x"), *y = feeds_find(&f, "y");
    assert_true(x && y && feed_is_data(&m, x) && feed_is_data(&m, y)); /* y[1] is constant */
    assert_true(!feed_misses(&m, x, 1) && !feed_misses(&m, y, 0) && feed_misses(&m, y, 1));
    double *to = calloc((size_t)m.ir.num_rows * STRIDE, sizeof *to);
    assert_non_null(to);
    for (int i = 0; i < m.ir.num_rows * STRIDE; i++) to[i] = -7;
    feeds_copy(&f, 1, to + 1, STRIDE);
    for (int i = 0; i < m.ir.num_rows * STRIDE; i++) {
        int r = i / STRIDE;
        double want = -7; /* left as it was */
        if (i % STRIDE == 1 && r == row_of(&m, "y", 1)) want = NAN;
        if (i % STRIDE == 1 && r == row_of(&m, "y", 2)) want = 3.5;
        for (int k = 0; k < 4; k++)
            if (i % STRIDE == 1 && r == row_of(&m, "x", k)) want = k < 3;
        if (isnan(want) ? !isnan(to[i]) : to[i] != want)
            fail_msg("row %d: %g, not %g", r, to[i], want);
    }
    free(to);
    feeds_free(&f);
    feeds_free(&f); /* once more does no harm */
    model_fini(&m);
}

#define IDX_3D(n, h, w) "\0\0\x08\3\0\0\0" n "\0\0\0" h "\0\0\0" w

static void files(void **state)
{
    (void)state;
    static const char x22[] = IDX_3D("\2", "\2", "\2") "\0\1\0\1\1\1\1\0";
    struct model m;
    struct feeds f;
    build(&m, small, NULL);
    const char *x = put("x", x22, sizeof x22 - 1);
    const char *y = put_text("y.csv", "y[1],y[2],y[3]\n1,2,3\n4,5,6\n");
    if (read_all(&f, &m, given("x", x), given("y", y))) fail_msg("%s", err.msg);
    assert_true(f.n == 2 && records_at(&feeds_find(&f, "x")->r, 1, 3) == 0);
    assert_true(records_at(&feeds_find(&f, "y")->r, 1, 2) == 6);
    feeds_free(&f);
    if (read_all(&f, &m, given("x", x), NULL)) fail_msg("%s", err.msg); /* others are not needed */
    feeds_free(&f);
    const struct {
        const char *a, *b, *say;
    } bad[] = {
        {x, NULL, "does not say whether these are 'y' or 'x'; give its name: x="},
        {given("q", x), NULL, "the model has no 'q'"},
        {given("x", x), given("x", x), "'x' has observations already"},
        {given("y", x), NULL, "an observation of 'y' has the shape 2 x 2, but the model's has 3"},
        {y, NULL, "y.csv:1:1: the header names no column 'x'"},
        {given("x", "/none.npy"), NULL, "x=/none.npy: cannot open"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (read_all(&f, &m, bad[i].a, bad[i].b) >= 0) fail_msg("not refused: %s", bad[i].say);
        if (!strstr(err.msg, bad[i].say)) fail_msg("no '%s' in: %s", bad[i].say, err.msg);
        feeds_free(&f);
    }
    y = put_text("y.csv", "y[1],y[2],y[3]\n1,2,3\n");
    assert_int_equal(read_all(&f, &m, given("x", x), given("y", y)), NAMI_EINPUT);
    assert_non_null(strstr(err.msg, "'y' has 1 observations, but 'x' has 2"));
    feeds_free(&f);
    model_fini(&m);
    /* shapes: flat or not, one is as good as the other */
    build(&m, "model { for (i in 1:4) { x[i] ~ bernoulli(0.5) } }\nobserve x", NULL);
    if (read_all(&f, &m, x, NULL)) fail_msg("%s", err.msg); /* and there is just one */
    feeds_free(&f);
    model_fini(&m);
    build(&m, "model { for (i in 1:4) { for (j in 1:2) { x[i,j] ~ bernoulli(0.5) } } }\nobserve x",
          NULL);
    const char *flat =
        put_text("x.npy.csv", "x[1],x[2],x[3],x[4],x[5],x[6],x[7],x[8]\n1,1,1,1,0,0,0,0\n");
    if (read_all(&f, &m, flat, NULL)) fail_msg("%s", err.msg);
    feeds_free(&f);
    static const char x24[] = IDX_3D("\1", "\2", "\4") "\0\1\0\1\1\1\1\0";
    assert_int_equal(read_all(&f, &m, put("x24", x24, sizeof x24 - 1), NULL), NAMI_EINPUT);
    assert_non_null(strstr(err.msg, "the shape 2 x 4, but the model's has 4 x 2"));
    feeds_free(&f);
    model_fini(&m);
    build(&m, "model { x ~ bernoulli(0.5) }", NULL);
    assert_int_equal(read_all(&f, &m, x, NULL), NAMI_EINPUT);
    assert_non_null(strstr(err.msg, "the model observes nothing"));
    feeds_free(&f);
    model_fini(&m);
}

static void possible(void **state)
{
    (void)state;
    struct model m;
    struct feeds f;
    build(&m, "model { for (i in 1:2) { x[i] ~ bernoulli(0.5) } }\nobserve x", NULL);
    if (read_all(&f, &m, put_text("a.csv", "x[1],x[2]\n0,1\nNA,113\n"), NULL))
        fail_msg("%s", err.msg);
    assert_int_equal(feeds_check(&f, &m, &err), NAMI_EINPUT);
    assert_non_null(strstr(err.msg, "x[2] is 113 in observation 2; it must be"));
    assert_int_equal(records_threshold(&f.feed.a[0].r, &err), 0);
    assert_int_equal(feeds_check(&f, &m, &err), 0);
    feeds_free(&f);
    model_fini(&m);
}

struct nomem_case {
    const struct model *m;
    const char *file[2];
};

static int read_again(void *c_)
{
    const struct nomem_case *c = c_;
    struct feeds f;
    struct split s = {0};
    struct source *src = NULL;
    int rc = feeds_read(&f, c->m, c->file, 2, NULL);
    if (!rc) rc = split_make(&s, f.n, "rest,1", 1, 1, NULL);
    if (!rc) rc = source_feeds(&f, &s, 1, 1, &src, NULL);
    source_free(src);
    split_free(&s);
    feeds_free(&f);
    return rc;
}

static void nomem_feeds(void **state)
{
    (void)state;
    static const char x22[] = IDX_3D("\2", "\2", "\2") "\0\1\0\1\1\1\1\0";
    struct model m;
    const char *why;
    build(&m, small, NULL);
    struct nomem_case c = {&m,
                           {given("x", put("x", x22, sizeof x22 - 1)),
                            given("y", put_text("y.csv", "y[1],y[2],y[3]\n1,2,3\n4,5,6\n"))}};
    if (nomem_each(read_again, &c, &why) < 10) fail_msg("%s", why ? why : "nothing can fail");
    model_fini(&m);
}

/* ---- batches ------------------------------------------------------------------------------- */

/* n observations of z and y. */
static void pairs(struct feeds *f, const struct model *m, int n)
{
    struct str s = {0};
    str_put(&s, "z,y\n");
    for (int i = 0; i < n; i++) str_printf(&s, "%.17g,%.17g\n", sin(i), cos(3 * i));
    const char *path = put("pairs.csv", s.s, s.n);
    if (read_all(f, m, given("z", path), given("y", path))) fail_msg("%s", err.msg);
    str_free(&s);
}

static const char pair[] = "model { z ~ normal(0, 1)\n y ~ normal(z, 1) }\n observe y";

static void check_batches(const struct feeds *f, const char *how, int batch)
{
    struct split sp;
    struct source *s, *again;
    struct batch b, c;
    int seen[200], order[200] = {0};
    if (split_make(&sp, f->n, how, 1, 9, &err) || source_feeds(f, &sp, 4, batch, &s, &err) ||
        source_feeds(f, &sp, 4, batch, &again, &err))
        fail_msg("%s", err.msg);
    size_t nt = sp.n[SPLIT_TRAIN], nv = sp.n[SPLIT_VALID], n = (size_t)batch, per = nt / n,
           moved = 0;
    assert_int_equal(source_nvalid(s), (nv + n - 1) / n);
    memset(seen, 0, sizeof seen);
    for (int k = 0; k < source_nvalid(s); k++) {
        source_valid(s, k, &b);
        assert_true(b.feeds == f && !b.point && !b.x && b.first == (uint64_t)k * ((n + 7) / 8 * 8));
        size_t count = b.count ? (size_t)b.count : n;
        assert_true(b.count == 0 || (k + 1 == source_nvalid(s) && count < n));
        for (size_t i = 0; i < count; i++) seen[b.index[i]]++;
    }
    for (size_t i = 0; i < f->n; i++) { /* each to validate with once, no others */
        int is = 0;
        for (size_t k = 0; k < nv; k++) is += split_index(&sp, SPLIT_VALID)[k] == (int)i;
        assert_int_equal(seen[i], is);
    }
    uint64_t seed = b.seed;
    for (uint64_t epoch = 0; epoch < 4; epoch++) {
        memset(seen, 0, sizeof seen);
        for (uint64_t k = 0; k < per; k++) {
            assert_int_equal(source_batch(s, epoch * per + k, &b, &err), 0);
            assert_true(b.feeds == f && !b.count && b.first % 8 == 0 && (!nv || b.seed != seed));
            for (size_t i = 0; i < n; i++) {
                size_t at = k * n + i;
                if (epoch) moved += order[at] != b.index[i];
                order[at] = b.index[i];
                if (seen[b.index[i]]++) fail_msg("%d comes twice", b.index[i]);
            }
        }
        int all = 0;
        for (size_t k = 0; k < nt; k++) all += seen[split_index(&sp, SPLIT_TRAIN)[k]];
        assert_int_equal(all, (int)(per * n)); /* of those to train on, all that fill batches */
    }
    assert_true(moved > nt);
    for (int k = 0; k < 7; k++) { /* in any order */
        uint64_t step = (uint64_t)(k * 5 % 7) * per / 2;
        assert_int_equal(source_batch(again, step, &c, &err), 0);
        assert_int_equal(source_batch(s, step, &b, &err), 0);
        assert_memory_equal(b.index, c.index, n * sizeof *b.index);
    }
    source_free(s), source_free(again);
    split_free(&sp);
}

static void batches(void **state)
{
    (void)state;
    struct model m;
    struct feeds f;
    struct split sp;
    struct source *s;
    build(&m, pair, NULL);
    pairs(&f, &m, 120);
    check_batches(&f, "100,20", 10);
    check_batches(&f, "97,23", 10);
    check_batches(&f, "rest,0.1,0.1", 32);
    check_batches(&f, "rest", 120);
    check_batches(&f, "50,3", 8);
    assert_int_equal(split_make(&sp, f.n, "7,100", 0, 0, &err), 0);
    assert_int_equal(source_feeds(&f, &sp, 1, 8, &s, &err), NAMI_EINPUT);
    assert_non_null(strstr(err.msg, "7 observations to train on are too few for batches of 8"));
    source_free(s);
    split_free(&sp);
    feeds_free(&f);
    model_fini(&m);
}

/* All variables fed: training is as on the same points, to the last bit. */
static void training(void **state)
{
    (void)state;
    enum { N = 150, VALID = 12, BATCH = 12 };
    static const struct net_options small_net = {
        .nhidden = 1, .hidden = {8}, .act = ACT_TANH, .skip = -1, .seed = 5};
    const struct train_options opt = {
        .steps = 40, .batch = BATCH, .rate = 1e-2, .check = 10, .valid = VALID, .patience = 5};
    struct net_at n;
    struct feeds f;
    struct split sp;
    struct source *src[2];
    struct train t[2];
    net_at(&n, pair, NULL, NULL, &small_net);
    pairs(&f, &n.m, N);
    double *x = calloc((size_t)n.m.ir.num_rows * N, sizeof *x);
    assert_non_null(x);
    for (size_t i = 0; i < N; i++) feeds_copy(&f, i, x + i, N);
    if (split_make(&sp, N, "rest,12", 0, 0, &err) ||
        source_points(&n.m, 3, BATCH, VALID, N, x, &src[0], &err) ||
        source_feeds(&f, &sp, 3, BATCH, &src[1], &err))
        fail_msg("%s", err.msg);
    for (int k = 0; k < 2; k++) {
        int checked;
        if (train_make(&t[k], &n.q, NULL, src[k], &opt, 1 + k, &err)) fail_msg("%s", err.msg);
        while (!t[k].done)
            if (train_step(&t[k], &checked, &err)) fail_msg("%s", err.msg);
    }
    assert_int_equal(t[0].history.n, t[1].history.n);
    assert_memory_equal(t[0].history.a, t[1].history.a, t[0].history.n * sizeof(double));
    assert_memory_equal(t[0].t.param, t[1].t.param, t[0].t.nparam * sizeof(float));
    train_free(&t[0]), train_free(&t[1]);
    split_free(&sp);
    feeds_free(&f);
    net_drop(&n);
}

/* The mean over all that validate, though the last batch has fewer. */
static void last_batch(void **state)
{
    (void)state;
    static const struct net_options small_net = {
        .nhidden = 1, .hidden = {8}, .act = ACT_TANH, .skip = -1, .seed = 5};
    struct train_options opt = {.steps = 1, .rate = 1e-2, .check = 1, .patience = 5};
    static const int batch[] = {8, 20};
    struct net_at n;
    struct feeds f;
    struct split sp;
    double loss[2];
    net_at(&n, pair, NULL, NULL, &small_net);
    pairs(&f, &n.m, 60);
    if (split_make(&sp, 60, "rest,20", 1, 2, &err)) fail_msg("%s", err.msg);
    for (int k = 0; k < 2; k++) { /* 8 + 8 + 4, or all 20; the first step changes nothing */
        struct train t;
        struct source *s;
        int checked;
        opt.batch = batch[k];
        opt.rate = 1e-30;
        if (source_feeds(&f, &sp, 3, batch[k], &s, &err) ||
            train_make(&t, &n.q, NULL, s, &opt, 1, &err) || train_step(&t, &checked, &err))
            fail_msg("%s", err.msg);
        assert_true(checked);
        loss[k] = train_last(&t)[HIST_VALID];
        train_free(&t);
    }
    if (fabs(loss[0] - loss[1]) > 1e-6) fail_msg("%.9g, %.9g", loss[0], loss[1]);
    split_free(&sp);
    feeds_free(&f);
    net_drop(&n);
}

static int begin(void **state)
{
    (void)state;
    strcpy(dir, "/tmp/nami_feed_XXXXXX");
    return mkdtemp(dir) ? 0 : -1;
}

static int end(void **state)
{
    static const char *const name[] = {"a.csv", "x", "y.csv", "x.npy.csv", "x24", "pairs.csv"};
    (void)state;
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        char path[128];
        snprintf(path, sizeof path, "%s/%s", dir, name[i]);
        unlink(path);
    }
    return rmdir(dir);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)
static const struct CMUnitTest tests[] = {
    CASE(rows),    CASE(files),    CASE(possible),   CASE(nomem_feeds),
    CASE(batches), CASE(training), CASE(last_batch),
};
RUN(tests)
