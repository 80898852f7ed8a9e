/* test_api_train.c: the training functions of nami.h work for a program that includes only
   this header. */

#include "run.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "api_at.h"
#include "malloc_fail.h"
#include "nami.h"

#define MODELS SOURCE_DIR "/examples/models/"

static nami_model *read_model(const char *name)
{
    char path[200], data[200];
    nami_model_options opt = {0};
    nami_model *m;
    nami_err err;
    snprintf(path, sizeof path, MODELS "%s.nami", name);
    snprintf(data, sizeof data, MODELS "%s.json", name);
    nami_data *values = data_at(data);
    opt.data = values;
    if (nami_model_read(path, &opt, &m, &err)) fail_msg("%s: %s", path, err.msg);
    nami_data_free(values);
    return m;
}

static const nami_options all_learned = {.exact = "none"};

static nami_trainer *new_trainer(nami_model *m, const nami_train_options *opt)
{
    nami_trainer *t;
    nami_err err;
    if (nami_trainer_new(m, &all_learned, opt, &t, &err)) fail_msg("%s", err.msg);
    return t;
}

static double *draw(const nami_model *m, uint64_t seed, size_t n)
{
    double *x = malloc(sizeof(double) * (size_t)nami_model_size(m) * n);
    assert_non_null(x);
    assert_int_equal(nami_model_simulate(m, seed, n, 1, x, NULL), 0);
    return x;
}

/* Points i0 ... of n, so many. */
static double *some(const nami_model *m, size_t n, const double *x, size_t i0, size_t count)
{
    size_t size = (size_t)nami_model_size(m);
    double *y = malloc(sizeof(double) * size * count);
    assert_non_null(y);
    for (size_t s = 0; s < size; s++) memcpy(y + s * count, x + s * n + i0, sizeof(double) * count);
    return y;
}

static double gradient(nami_trainer *t, size_t n, const double *x)
{
    double loss;
    nami_err err;
    if (nami_trainer_gradient(t, n, x, &loss, &err)) fail_msg("%s", err.msg);
    return loss;
}

static double loss_of(nami_trainer *t, size_t n, const double *x)
{
    double loss;
    nami_err err;
    if (nami_trainer_loss(t, n, x, &loss, &err)) fail_msg("%s", err.msg);
    return loss;
}

static void assert_same(const float *a, const float *b, size_t n)
{
    assert_memory_equal(a, b, n * sizeof *a);
}

static double size_of(size_t n, const float *x)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += (double)x[i] * (double)x[i];
    return sqrt(sum);
}

/* |a - b| / |b| */
static double apart(size_t n, const float *a, const float *b)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += pow((double)a[i] - (double)b[i], 2);
    return sqrt(sum) / size_of(n, b);
}

static void refused(nami_model *m, const nami_options *invert, nami_train_options opt, int code,
                    const char *say)
{
    nami_trainer *t = (nami_trainer *)m;
    nami_err err;
    assert_int_equal(nami_trainer_new(m, invert, &opt, &t, &err), code);
    assert_null(t);
    if (!strstr(err.msg, say)) fail_msg("no '%s' in: %s", say, err.msg);
    assert_int_equal(nami_trainer_new(m, invert, &opt, &t, NULL), code);
}

/* ---- cases -------------------------------------------------------------------------- */

/* With a loop of its own: by Adam, and by plain gradient descent on given points. */
static void loss_falls(void **state)
{
    (void)state;
    enum { N = 256 };
    nami_model *m = read_model("tree");
    nami_train_options opt = {.hidden = "32", .batch = 64, .valid = 1024, .seed = 3};
    nami_trainer *t = new_trainer(m, &opt);
    double first = loss_of(t, 0, NULL);
    for (int i = 0; i < 300; i++) {
        gradient(t, 0, NULL);
        assert_int_equal(nami_trainer_apply(t, 2e-3, NULL), 0);
    }
    assert_true(loss_of(t, 0, NULL) < first - 5);
    assert_int_equal(nami_trainer_steps(t), 300);
    nami_trainer_free(t);

    opt.batch = N;
    t = new_trainer(m, &opt);
    double *x = draw(m, 7, N), was = loss_of(t, N, x);
    assert_true(fabs(was - gradient(t, N, x)) < 1e-6 * was);
    for (int i = 0; i < 100; i++) {
        float *p = nami_trainer_params(t);
        const float *g = nami_trainer_grads(t);
        gradient(t, N, x);
        for (size_t k = 0; k < nami_trainer_size(t); k++) p[k] -= 0.02f * g[k];
    }
    assert_true(loss_of(t, N, x) < was - 2);
    assert_int_equal(nami_trainer_steps(t), 0); /* no draws were used */
    nami_trainer_free(t);
    nami_model_free(m);
    free(x);
}

/* Of each layer some weights and biases; in float, so loosely. */
static void check_gradient(const char *name, const nami_train_options *opt)
{
    enum { N = 40 };
    nami_model *m = read_model(name);
    nami_trainer *t = new_trainer(m, opt);
    size_t size = nami_trainer_size(t), first, out, in, next = 0;
    float *p = nami_trainer_params(t), *g = malloc(size * sizeof *g);
    double *x = draw(m, 5, N);
    const char *layer;
    assert_non_null(g);
    for (size_t k = 0; k < size; k++) p[k] += 0.1f * (float)(k * 7 % 11) / 11 - 0.05f;
    gradient(t, N, x);
    memcpy(g, nami_trainer_grads(t), size * sizeof *g);
    double typical = size_of(size, g) / sqrt((double)size);
    for (int l = 0; (layer = nami_trainer_layer(t, l, &first, &out, &in)); l++) {
        assert_int_equal(first, next);
        next = first + out * (in + 1);
        for (size_t k = first; k < next; k += out * (in + 1) / 5 + 1) {
            float was = p[k];
            double h = 4e-3;
            p[k] = was + (float)h;
            double up = loss_of(t, N, x), to = p[k];
            p[k] = was - (float)h;
            double want = (up - loss_of(t, N, x)) / (to - p[k]);
            p[k] = was;
            if (fabs(want - g[k]) > 0.03 * (fabs(want) + typical))
                fail_msg("%s: %s, %zu: %g by differences, %g", name, layer, k - first, want, g[k]);
        }
    }
    assert_int_equal(next, size);
    assert_null(nami_trainer_layer(t, -1, &first, &out, &in));
    free(g), free(x);
    nami_trainer_free(t);
    nami_model_free(m);
}

static void gradient_by_differences(void **state)
{
    (void)state;
    check_gradient("tree", &(nami_train_options){.hidden = "16,8", .activation = "tanh"});
    check_gradient("pumps", &(nami_train_options){.hidden = "8",
                                                  .net = "mlp",
                                                  .skip = "yes",
                                                  .family = "mixture",
                                                  .activation = "softplus"});
    check_gradient("hmm",
                   &(nami_train_options){
                       .hidden = "30", .net = "made", .no_share = 1, .activation = "sigmoid"});
}

/* Averaged gradients of parts are the gradient of the whole; losses of any number of points. */
static void half_batches(void **state)
{
    (void)state;
    enum { N = 100, HALF = 50 };
    nami_model *m = read_model("surgical");
    nami_trainer *t = new_trainer(m, &(nami_train_options){.batch = N, .threads = 2});
    size_t size = nami_trainer_size(t);
    float *g = nami_trainer_grads(t), *sum = calloc(size, sizeof *sum);
    double *x = draw(m, 1, N), mean = 0;
    assert_non_null(sum);
    for (size_t k = 0; k < 2; k++) {
        double *y = some(m, N, x, k * HALF, HALF);
        mean += gradient(t, HALF, y) / 2;
        for (size_t i = 0; i < size; i++) sum[i] += g[i] / 2;
        free(y);
    }
    for (int s = 0; s < nami_model_size(m); s++) /* computed scalars are not read */
        if (nami_model_scalar_node(m, s) < 0) x[s * N] = NAN;
    double all = gradient(t, N, x);
    assert_true(fabs(all - mean) < 1e-9 * fabs(all));
    assert_true(apart(size, sum, g) < 1e-5);

    nami_trainer *small = new_trainer(m, &(nami_train_options){.batch = 33});
    assert_true(fabs(loss_of(small, N, x) - all) < 1e-9 * fabs(all)); /* 33 + 33 + 33 + 1 */
    all = 0;
    for (int k = 0; k < nami_trainer_parts(small); k++) all += nami_trainer_part_loss(small, k);
    assert_true(fabs(all - mean) < 1e-9 * fabs(all));
    nami_trainer_free(small);
    nami_trainer_free(t);
    nami_model_free(m);
    free(x), free(sum);
}

/* A loop of one's own by gradient and apply is the built-in one, bit for bit, with any number of
   threads; and Adam is Adam. */
static void same_steps(void **state)
{
    (void)state;
    enum { STEPS = 40 };
    nami_model *m = read_model("tree");
    nami_train_options opt = {.hidden = "24", .batch = 50, .seed = 9, .rate = 0.01, .clip = 5};
    opt.cooldown = -1, opt.steps = STEPS, opt.check = 15, opt.valid = 100, opt.threads = 3;
    nami_trainer *a = new_trainer(m, &opt), *b;
    opt.threads = 1;
    b = new_trainer(m, &opt);
    size_t n = nami_trainer_size(a);
    float *p = malloc(n * sizeof *p), *mo = calloc(2 * n, sizeof *mo), *v = mo + n;
    assert_true(p && mo);
    memcpy(p, nami_trainer_params(b), n * sizeof *p);
    assert_same(nami_trainer_params(a), p, n);
    assert_true(isnan(nami_trainer_valid(a)));
    for (int i = 1; i <= STEPS; i++) {
        const float *g = nami_trainer_grads(b);
        assert_int_equal(nami_trainer_step(a, NULL), i < STEPS);
        gradient(b, 0, NULL);
        double norm = size_of(n, g), scale = norm > 5 ? 5 / norm : 1;
        for (size_t k = 0; k < n; k++) {
            float d = g[k] * (float)scale;
            mo[k] = 0.9f * mo[k] + 0.1f * d;
            v[k] = 0.999f * v[k] + 0.001f * d * d;
            p[k] -= (float)(0.01 * mo[k] / (1 - pow(0.9, i)) /
                            (sqrt(v[k] / (1 - pow(0.999, i))) + 1e-8));
        }
        assert_int_equal(nami_trainer_apply(b, 0.01, NULL), 0);
        assert_same(nami_trainer_params(a), nami_trainer_params(b), n);
        assert_true(apart(n, p, nami_trainer_params(b)) < 1e-4);
    }
    assert_int_equal(nami_trainer_step(a, NULL), 0); /* it is over */
    assert_true(isfinite(nami_trainer_valid(a)));
    assert_int_equal(nami_trainer_steps(a), STEPS);
    free(p), free(mo);
    nami_trainer_free(a);
    nami_trainer_free(b);
    nami_model_free(m);
}

/* Machines: the same weights, other draws. */
/* A batch in parts has the same gradient but for rounding; its last parts may be short, or empty. */
static void parts(void **state)
{
    enum { BATCH = 101 };
    nami_model *m = read_model("schools");
    nami_train_options opt = {.batch = BATCH, .hidden = "8", .threads = 1};
    nami_trainer *whole = new_trainer(m, &opt);
    opt.parts = 5;
    nami_trainer *divided = new_trainer(m, &opt);
    double *x = draw(m, 4, BATCH), loss[2];
    (void)state;
    for (size_t n = BATCH; n > 0; n = n > 9 ? 9 : 0) {
        assert_int_equal(nami_trainer_gradient(whole, n, x, &loss[0], NULL), 0);
        assert_int_equal(nami_trainer_gradient(divided, n, x, &loss[1], NULL), 0);
        assert_true(apart(nami_trainer_size(whole), nami_trainer_grads(divided),
                             nami_trainer_grads(whole)) < 1e-5);
        assert_true(fabs(loss[0] - loss[1]) < 1e-9 * fabs(loss[0]));
    }
    nami_trainer_free(whole);
    nami_trainer_free(divided);
    opt.parts = 5000;
    refused(m, NULL, opt, NAMI_ELIMIT, "a batch has at most 4096 parts");
    nami_exchange nothing = {.rank = 0, .num_ranks = 2};
    opt.exchange = &nothing;
    refused(m, NULL, opt, NAMI_EUSAGE, "the exchange is incomplete");
    free(x);
    nami_model_free(m);
}

static void streams(void **state)
{
    (void)state;
    nami_model *m = read_model("schools");
    nami_trainer *a = new_trainer(m, &(nami_train_options){.batch = 20, .stream = 0});
    nami_trainer *b = new_trainer(m, &(nami_train_options){.batch = 20, .stream = 1});
    assert_same(nami_trainer_params(a), nami_trainer_params(b), nami_trainer_size(a));
    assert_true(gradient(a, 0, NULL) != gradient(b, 0, NULL));
    nami_trainer_free(a);
    nami_trainer_free(b);
    nami_model_free(m);
}

static void questions(void **state)
{
    (void)state;
    nami_model *m = read_model("tree");
    nami_trainer *t = new_trainer(m, NULL);
    double loss = loss_of(t, 0, NULL), sum = 0;
    int n = nami_trainer_parts(t);
    assert_int_equal(n, 15);
    assert_int_equal(nami_trainer_batch(t), 250);
    for (int k = 0; k < n; k++) {
        sum += nami_trainer_part_loss(t, k);
        assert_int_equal(nami_trainer_part_name(t, k)[0], 'x');
    }
    assert_true(fabs(sum - loss) < 1e-9 * loss);
    assert_null(nami_trainer_part_name(t, n));
    assert_null(nami_trainer_part_name(t, -1));
    assert_true(isnan(nami_trainer_part_loss(t, n)));
    assert_int_equal(nami_trainer_gradient(t, 0, NULL, NULL, NULL), 0);
    nami_trainer_free(t);
    nami_trainer_free(NULL);
    nami_model_free(m);
}

/* ---- files -------------------------------------------------------------------------- */

static char path[] = "/tmp/nami_train_XXXXXX";

static void new_path(void)
{
    strcpy(path, "/tmp/nami_train_XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
}

static nami_trainer *read_trainer(const nami_train_options *opt)
{
    nami_trainer *t;
    nami_err err;
    if (nami_trainer_read(path, opt, &t, &err)) fail_msg("%s", err.msg);
    return t;
}

static void write_file(const char *name, const char *text)
{
    FILE *f = fopen(name, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

/* What a network's file names does not run before someone allows it. */
static void simulator_needs_consent(void **state)
{
    (void)state;
    char dir[] = "/tmp/nami_consent_XXXXXX", file[64], program[64], ran[64];
    nami_train_options opt = {.batch = 4, .valid = 4, .steps = 9, .hidden = "4", .check = 1};
    nami_model *m;
    nami_trainer *t;
    nami_err err;
    assert_non_null(mkdtemp(dir));
    snprintf(file, sizeof file, "%s/m.nami", dir);
    snprintf(program, sizeof program, "%s/draw.sh", dir);
    snprintf(ran, sizeof ran, "%s/ran", dir);
    write_file(file, "simulator \"sh draw.sh\"\nmodel { a ~ normal(0, 1)\n y ~ normal(a, 1) }\n"
                     "observe y");
    write_file(program, "touch ran; awk -F'[:,]' '{ for (i = 0; i < $2; i++) "
                        "print \"{\\\"a\\\":\" i % 3 \",\\\"y\\\":\" i % 5 \"}\" }'");
    new_path();
    if (nami_model_read(file, NULL, &m, &err)) fail_msg("%s", err.msg);
    assert_non_null(strstr(nami_model_simulator(m), "'sh draw.sh' (/"));
    if (nami_trainer_new(m, NULL, &opt, &t, &err)) fail_msg("%s", err.msg);
    assert_int_equal(nami_trainer_save(t, path, &err), 0);
    nami_trainer_free(t);
    nami_model_free(m);
    for (int allow = 0; allow < 2; allow++) {
        unlink(ran);
        t = read_trainer(&(nami_train_options){.allow_simulator = allow});
        assert_int_equal(access(ran, F_OK), -1); /* reading runs nothing */
        int rc = nami_trainer_gradient(t, 0, NULL, NULL, &err);
        assert_int_equal(rc, allow ? 0 : NAMI_EUSAGE);
        assert_int_equal(access(ran, F_OK), allow ? 0 : -1);
        if (!allow) assert_non_null(strstr(err.msg, "'sh draw.sh' ("));
        if (!allow) assert_non_null(strstr(err.msg, dir));
        nami_trainer_free(t);
    }
    m = read_model("schools");
    assert_null(nami_model_simulator(m));
    nami_model_free(m);
    unlink(file), unlink(program), unlink(ran), unlink(path);
    rmdir(dir);
}

/* A run that stops and goes on is the run that did not, in both loops. */
static void files(void **state)
{
    (void)state;
    nami_model *m = read_model("schools");
    nami_train_options opt = {.batch = 30, .steps = 40, .check = 8, .valid = 60, .seed = 4};
    nami_options invert = {.mode = "reverse", .exact = "none"};
    nami_trainer *a, *b;
    nami_err err;
    new_path();
    for (int own = 0; own < 2; own++) {
        assert_int_equal(nami_trainer_new(m, &invert, &opt, &a, &err), 0);
        for (int i = 0; i < 40; i++) {
            if (i == 20 && nami_trainer_save(a, path, &err)) fail_msg("%s", err.msg);
            if (own)
                gradient(a, 0, NULL), nami_trainer_apply(a, 1e-3, NULL);
            else
                nami_trainer_step(a, NULL);
        }
        b = read_trainer(&(nami_train_options){.threads = 1});
        assert_int_equal(nami_trainer_steps(b), 20);
        for (int i = 20; i < 40; i++) {
            if (own)
                gradient(b, 0, NULL), nami_trainer_apply(b, 1e-3, NULL);
            else
                nami_trainer_step(b, NULL);
        }
        assert_same(nami_trainer_params(a), nami_trainer_params(b), nami_trainer_size(a));
        assert_true(loss_of(a, 0, NULL) == loss_of(b, 0, NULL));
        assert_true(own || nami_trainer_valid(a) == nami_trainer_valid(b));
        nami_trainer_free(b);
        if (!own) {
            assert_int_equal(nami_trainer_save(a, path, &err), 0);
            b = read_trainer(NULL);
            assert_int_equal(nami_trainer_step(b, NULL), 0); /* it was over */
            nami_trainer_free(b);
            b = read_trainer(&(nami_train_options){.steps = 41});
            assert_int_equal(nami_trainer_step(b, &err), 0);
            assert_int_equal(nami_trainer_steps(b), 41);
            nami_trainer_free(b);
        }
        nami_trainer_free(a);
    }
    nami_model_free(m);
    unlink(path);
}

/* Draws of a file, in both loops; a run that goes on wants them again. */
static void samples(void **state)
{
    (void)state;
    char draws[] = "/tmp/nami_draws_XXXXXX.json";
    nami_model *m = read_model("student");
    int fd = mkstemps(draws, 5), size = nami_model_size(m);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
    double *x = draw(m, 2, 40);
    nami_err err;
    assert_non_null(f);
    for (int i = 0; i < 40; i++) { /* all of them are single numbers */
        for (int s = 0; s < size; s++)
            fprintf(f, "%c\"%s\": %.17g", s ? ',' : '{', nami_model_scalar_name(m, s),
                    x[s * 40 + i]);
        fprintf(f, "}\n");
    }
    fclose(f);
    char name[sizeof draws];
    strcpy(name, draws);
    nami_train_options opt = {.batch = 10, .steps = 7, .check = 3, .samples = name, .seed = 6};
    nami_trainer *t = new_trainer(m, &opt), *u;
    name[0] = '?';        /* it was copied */
    gradient(t, 0, NULL); /* an epoch has three batches; the fourth ten validate */
    double *y = some(m, 40, x, 30, 10);
    assert_true(fabs(loss_of(t, 0, NULL) - loss_of(t, 10, y)) < 1e-9);
    assert_int_equal(nami_trainer_step(t, &err), 1);
    new_path();
    assert_int_equal(nami_trainer_save(t, path, &err), 0);
    assert_int_equal(nami_trainer_read(path, NULL, &u, &err), NAMI_EUSAGE);
    assert_non_null(strstr(err.msg, "trained on 40 draws of a file"));
    u = read_trainer(&(nami_train_options){.samples = draws});
    while (nami_trainer_step(u, &err) > 0) assert_int_equal(nami_trainer_step(t, NULL), 1);
    assert_int_equal(nami_trainer_step(t, NULL), 0);
    assert_same(nami_trainer_params(t), nami_trainer_params(u), nami_trainer_size(t));
    nami_trainer_free(t);
    nami_trainer_free(u);
    refused(m, NULL, (nami_train_options){.samples = draws}, NAMI_EINPUT, "40 points are too few");
    unlink(draws), unlink(path);
    refused(m, NULL, (nami_train_options){.samples = draws}, NAMI_EFILE, draws);
    nami_model_free(m);
    free(x), free(y);
}

/* The options that the model was read with go along. */
static void files_with_options(void **state)
{
    (void)state;
    char set0[] = "T=6", set1[] = "K=2", observe[] = "y[1:5]", mode[] = "forward";
    const char *set[] = {set0, set1};
    nami_model_options mo = {.set = set, .num_set = 2, .observe = observe};
    nami_options invert = {.mode = mode, .exact = "none"};
    nami_model *m;
    nami_trainer *t;
    nami_err err;
    assert_int_equal(nami_model_read(MODELS "hmm.nami", &mo, &m, &err), 0);
    set0[2] = '9', observe[2] = '9'; /* they are not the model's */
    if (nami_trainer_new(m, &invert, &(nami_train_options){.batch = 8}, &t, &err))
        fail_msg("%s", err.msg);
    mode[0] = '?';
    size_t size = nami_trainer_size(t);
    new_path();
    assert_int_equal(nami_trainer_save(t, path, &err), 0);
    nami_trainer_free(t);
    nami_model_free(m);
    t = read_trainer(NULL);
    assert_int_equal(nami_trainer_size(t), size);
    nami_trainer_free(t);
    unlink(path);
    assert_int_equal(nami_trainer_read(path, NULL, &t, &err), NAMI_EFILE);
    assert_null(t);
    assert_int_equal(nami_trainer_read(MODELS "hmm.nami", NULL, &t, NULL), NAMI_EINPUT);
}

/* ---- what is wrong ------------------------------------------------------------------ */

static void messages(void **state)
{
    (void)state;
    nami_model *m = read_model("tree");
    nami_options invert = {.mode = "sideways"};
    double *x = draw(m, 0, 10), loss = 1;
    nami_err err;
    refused(m, &invert, (nami_train_options){0}, NAMI_EUSAGE, "no mode is called 'sideways'");
#define REFUSED(say, ...) refused(m, NULL, (nami_train_options){__VA_ARGS__}, NAMI_EUSAGE, say)
    REFUSED("no family is called 'gauss'; choose from match", .family = "gauss");
    REFUSED("no net is called 'cnn'; choose from auto, mlp, made", .net = "cnn");
    REFUSED("no activation is called 'gelu'; did you mean 'relu'?", .activation = "gelu");
    REFUSED("choose from auto, yes, no", .skip = "maybe");
    REFUSED("from 1 to 1048576 each", .hidden = "8,-3");
    REFUSED("components", .components = -1);
    REFUSED("must not be negative", .batch = -1);
    REFUSED("must not be negative", .steps = -1);
    REFUSED("rate", .rate = -1);
    REFUSED("rate", .rate = NAN);
    REFUSED("cooldown", .cooldown = 2);

    nami_trainer *t = new_trainer(m, &(nami_train_options){.batch = 8});
    float *g = nami_trainer_grads(t), *p = nami_trainer_params(t), was = p[0];
    assert_int_equal(nami_trainer_gradient(t, 9, x, &loss, &err), NAMI_EUSAGE);
    assert_non_null(strstr(err.msg, "1 to 8 points"));
    assert_int_equal(nami_trainer_gradient(t, 0, x, &loss, NULL), NAMI_EUSAGE);
    assert_int_equal(nami_trainer_loss(t, 0, x, &loss, NULL), NAMI_EUSAGE);
    assert_true(loss == 1);
    x[0] = NAN; /* a leaf or not: the loss says it, and no step is made */
    assert_true(isnan(gradient(t, 8, x)));
    assert_int_equal(nami_trainer_apply(t, 0.1, &err), NAMI_EINPUT);
    assert_true(p[0] == was);
    gradient(t, 0, NULL);
    g[0] = INFINITY;
    assert_int_equal(nami_trainer_apply(t, 0.1, NULL), NAMI_EINPUT);
    g[0] = 0;
    assert_int_equal(nami_trainer_apply(t, NAN, &err), NAMI_EUSAGE);
    assert_int_equal(nami_trainer_apply(t, 0.1, &err), 0);
    assert_int_equal(nami_trainer_save(t, "/nowhere/x.net", &err), NAMI_EFILE);
    nami_trainer_free(t);
    nami_model_free(m);
    free(x);

    nami_model_options all = {.observe = "none"};
    assert_int_equal(nami_model_read(MODELS "student.nami", &all, &m, &err), 0);
    refused(m, NULL, (nami_train_options){0}, NAMI_EINPUT, "nothing to learn");
    nami_model_free(m);
    assert_int_equal(nami_model_read(MODELS "none.nami", NULL, &m, NULL), NAMI_EFILE);
    refused(m, NULL, (nami_train_options){0}, NAMI_EUSAGE, "this model has errors");
    nami_model_free(m);
    assert_int_equal(nami_model_read(MODELS "tree.nami", NULL, &m, NULL), 0);
    refused(m, NULL, (nami_train_options){0}, NAMI_EINPUT, "w has no value");
    nami_model_free(m);
}

static int train_and_free(void *m)
{
    nami_train_options opt = {.batch = 8, .hidden = "4", .threads = 1, .valid = 8};
    nami_trainer *t;
    nami_err err;
    int rc = nami_trainer_new(m, &all_learned, &opt, &t, &err);
    if (!rc) rc = nami_trainer_gradient(t, 0, NULL, NULL, &err);
    if (!rc) rc = nami_trainer_apply(t, 0.1, &err);
    if (!rc && (rc = nami_trainer_step(t, &err)) > 0) rc = 0;
    nami_trainer_free(t);
    return rc;
}

/* A few allocations may fail without harm. */
static void memory(void **state)
{
    (void)state, (void)nomem_each;
    const char *why;
    nami_model *m = read_model("student");
    long k = 0;
    int more = 1;
    assert_int_equal(train_and_free(m), 0);
    while (more > 0) {
        more = nomem_at(train_and_free, m, ++k, &why);
        if (more < 0 && strcmp(why, "a failed allocation without an error") == 0) more = 1;
    }
    if (more < 0) fail_msg("allocation %ld: %s", k, why);
    assert_true(k > 50);
    nami_model_free(m);
}

/* A model that is learnt: a bound of points of one's own. */
static void bound(void **state)
{
    (void)state;
    enum { N = 64 };
    static const char text[] = "network dec : real[2] -> real[3] { dense(3) }\n"
                               "model { for (k in 1:2) { z[k] ~ normal(0, 1) }\n"
                               "a[1:3] <- dec(z[1:2])\n"
                               "for (p in 1:3) { x[p] ~ normal(a[p], 0.5) } }\n"
                               "observe x\nlearn dec\n";
    char file[] = "/tmp/nami_bound_XXXXXX";
    int fd = mkstemp(file);
    nami_model *m;
    nami_err err;
    assert_true(fd >= 0 && write(fd, text, sizeof text - 1) == sizeof text - 1);
    close(fd);
    if (nami_model_read(file, NULL, &m, &err)) fail_msg("%s", err.msg);
    for (int particles = 1; particles < 4; particles += 2) {
        nami_train_options opt = {
            .objective = "elbo", .particles = particles, .hidden = "16", .batch = N, .seed = 3};
        nami_trainer *t = new_trainer(m, &opt), *again;
        double *x = draw(m, 7, N), first = loss_of(t, N, x), loss, sum = 0;
        size_t at, out, in, nparam = nami_trainer_size(t);
        const char *name = NULL, *last = NULL;
        for (int i = 0; (name = nami_trainer_layer(t, i, &at, &out, &in)); i++) last = name;
        assert_string_equal(last, "model/dec/0");
        assert_true(out == 3 && in == 2 && at + 9 == nparam);
        float was[9], *param = nami_trainer_params(t);
        memcpy(was, param + at, sizeof was);
        for (int i = 0; i < 400; i++) {
            loss = gradient(t, N, x);
            assert_int_equal(nami_trainer_apply(t, 5e-3, &err), 0);
        }
        assert_int_equal(nami_trainer_steps(t), 400);
        assert_true(loss_of(t, N, x) < first - 1 && apart(9, param + at, was) > 0.1);
        int np = nami_trainer_parts(t);
        assert_true(np > 2);
        assert_string_equal(nami_trainer_part_name(t, np - 2), "prior");
        assert_string_equal(nami_trainer_part_name(t, np - 1), "data");
        loss = gradient(t, N, x);
        for (int k = 0; k < np; k++) sum += nami_trainer_part_loss(t, k);
        if (particles == 1) assert_true(fabs(sum - loss) < 1e-6 * fabs(loss));
        assert_true(loss != gradient(t, N, x)); /* latents are drawn anew, */
        loss = loss_of(t, N, x);
        assert_true(loss == loss_of(t, N, x)); /* but for a loss they are the same, */
        char net[sizeof file + 4];
        snprintf(net, sizeof net, "%s.net", file);
        assert_int_equal(nami_trainer_save(t, net, &err), 0);
        if (nami_trainer_read(net, NULL, &again, &err)) fail_msg("%s", err.msg);
        assert_same(nami_trainer_params(again), param, nparam); /* and after reading */
        assert_true(loss == loss_of(again, N, x));
        assert_int_equal(nami_trainer_gradient(again, 0, NULL, NULL, &err), NAMI_EUSAGE);
        assert_int_equal(nami_trainer_step(again, &err), NAMI_EUSAGE);
        if (!strstr(err.msg, "given")) fail_msg("%s", err.msg);
        unlink(net);
        nami_trainer_free(again);
        nami_trainer_free(t);
        free(x);
    }
    refused(m, NULL, (nami_train_options){.objective = "elb"}, NAMI_EUSAGE, "did you mean 'elbo'?");
    refused(m, NULL, (nami_train_options){.objective = "elbo", .particles = -1}, NAMI_EUSAGE,
            "particles");
    nami_model_free(m);
    unlink(file);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(loss_falls),
    cmocka_unit_test(gradient_by_differences),
    cmocka_unit_test(half_batches),
    cmocka_unit_test(same_steps),
    cmocka_unit_test(parts),
    cmocka_unit_test(streams),
    cmocka_unit_test(questions),
    cmocka_unit_test(simulator_needs_consent),
    cmocka_unit_test(files),
    cmocka_unit_test(files_with_options),
    cmocka_unit_test(samples),
    cmocka_unit_test(bound),
    cmocka_unit_test(messages),
    cmocka_unit_test(memory),
};

RUN(tests)
