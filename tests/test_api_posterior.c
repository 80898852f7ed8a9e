/* test_api_posterior.c: queries by nami.h alone: blocks of draws, summaries, verdicts, files,
   cancellation, misuse; many threads and very many queries of one network.  The model is linear and
   Gaussian, so that answers are known. */

#include "run.h"

#include <dirent.h>
#include <jansson.h>
#include <malloc.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "api_at.h"
#include "malloc_fail.h"
#include "nami.h"

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

/* next is barren: its factor is the model's own. */
static const char text[] = "model {\n"
                           "  mu ~ normal(0, 1)\n"
                           "  for (j in 1:2) {\n"
                           "    theta[j] ~ normal(mu, 1)\n"
                           "    for (i in 1:3) { y[j, i] ~ normal(theta[j], 1) }\n"
                           "  }\n"
                           "  next ~ normal(mu, 2)\n"
                           "  sum <- theta[1] + theta[2]\n"
                           "}\n"
                           "observe y\n";
static const double y[2][6] = {{1, 2, 0.6, 0.3, -0.2, 0.9}, {-0.3, 0.1, -0.7, 1.4, 2.2, 0.4}};

static nami_network *net; /* trained once, for all tests; some are repeated with exact factors */

/* ---- help ------------------------------------------------------------------------------------ */

static void must(int rc, const nami_err *err)
{
    if (rc < 0) fail_msg("%s", err->msg);
}

static void has(const char *all, const char *part)
{
    if (!strstr(all, part)) fail_msg("no '%s' in: %s", part, all);
}

static void near(double x, double want, double tol)
{
    if (!(fabs(x - want) <= tol)) fail_msg("%.17g is not %.17g", x, want);
}

static void refused(int rc, int code, const char *part, const nami_err *err)
{
    assert_int_equal(rc, code);
    assert_int_equal(err->code, code);
    has(err->msg, part);
    assert_null(strstr(err->msg, "nami_")); /* no names of C functions */
}

static nami_model *parse_model(const char *model)
{
    nami_model *m;
    nami_err err;
    must(nami_model_parse(model, strlen(model), NULL, NULL, &m, &err), &err);
    return m;
}

static const nami_options all_learned = {.exact = "none"};

/* exact: the latents that have no network. */
static nami_network *train(const char *model, const char *exact, const char *hidden, int steps)
{
    nami_options invert = {.exact = exact};
    nami_train_options opt = {.steps = steps,
                              .check = 1 + steps / 4,
                              .hidden = hidden,
                              .valid = 500,
                              .seed = 2,
                              .threads = 1};
    nami_model *m = parse_model(model);
    nami_network *out;
    nami_err err;
    must(nami_train(m, &invert, &opt, &out, &err), &err);
    nami_model_free(m);
    return out;
}

static nami_data *data_of(size_t num_sets, const double (*values)[6])
{
    nami_data *data;
    nami_err err;
    must(nami_data_new(&data, &err), &err);
    for (size_t s = 0; s < num_sets; s++)
        must(nami_data_set(data, s, "y", 2, (size_t[]){2, 3}, values[s], &err), &err);
    return data;
}

static nami_data *parse_data(const char *json)
{
    nami_data *data;
    nami_err err;
    must(nami_data_new(&data, &err), &err);
    must(nami_data_parse(data, json, strlen(json), &err), &err);
    return data;
}

static nami_posterior *ask(const nami_data *data, nami_query query)
{
    nami_posterior *post;
    nami_err err;
    must(nami_posterior_new(net, data, &query, &post, &err), &err);
    return post;
}

static nami_posterior *run(const nami_data *data, nami_query query)
{
    nami_posterior *post = ask(data, query);
    nami_err err;
    must(nami_posterior_run(post, &err), &err);
    return post;
}

/* All blocks side by side. */
struct all {
    size_t num_draws, num_blocks, num_rows;
    double *values, *predicted, *log_q, *log_p, *log_weight;
    double *copies; /* as a part of the draws of a set; 1 / draws if draws are not resampled */
};

static double *room(size_t n)
{
    double *x = calloc(n + 1, sizeof *x);
    assert_non_null(x);
    return x;
}

static void copy_rows(size_t rows, const nami_block *b, const double *from, size_t n, double *to)
{
    for (size_t r = 0; r < rows && from; r++)
        memcpy(to + r * n + b->first, from + r * b->num_draws, b->num_draws * sizeof *to);
}

static size_t rows_of(const nami_posterior *post)
{
    size_t rows = 0;
    nami_variable v;
    for (int i = 0; nami_posterior_variable(post, i, &v) == 0; i++)
        if (v.first_row + v.num_elements > rows) rows = v.first_row + v.num_elements;
    for (int i = 0; nami_posterior_observed(post, i, &v) == 0; i++)
        if (v.first_row + v.num_elements > rows) rows = v.first_row + v.num_elements;
    return rows;
}

static struct all all_of(nami_posterior *post)
{
    struct all a = {.num_rows = rows_of(post)};
    size_t n = a.num_draws = nami_posterior_sets(post) * nami_posterior_draws(post), next = 0;
    nami_block b;
    nami_err err;
    int rc;
    a.values = room(a.num_rows * n), a.predicted = room(a.num_rows * n);
    a.log_q = room(n), a.log_p = room(n), a.log_weight = room(n), a.copies = room(n);
    while ((rc = nami_posterior_next(post, &b, &err)) > 0) {
        assert_true(b.first == next && b.num_draws > 0);
        next += b.num_draws;
        a.num_blocks++;
        copy_rows(a.num_rows, &b, b.values, n, a.values);
        copy_rows(a.num_rows, &b, b.predicted, n, a.predicted);
        copy_rows(1, &b, b.log_q, n, a.log_q);
        copy_rows(1, &b, b.log_p, n, a.log_p);
        copy_rows(1, &b, b.log_weight, n, a.log_weight);
        const unsigned *copies = nami_posterior_copies(post);
        for (size_t i = 0; i < b.num_draws; i++)
            a.copies[b.first + i] =
                (copies ? (double)copies[i] : 1) / (double)nami_posterior_draws(post);
    }
    must(rc, &err);
    assert_int_equal(next, n);
    assert_int_equal(nami_posterior_next(post, &b, &err), 0); /* and remains so */
    return a;
}

static void free_all(struct all *a)
{
    free(a->values), free(a->predicted), free(a->log_q), free(a->log_p), free(a->log_weight);
    free(a->copies);
}

static size_t row_of(const nami_posterior *post, const char *name)
{
    nami_variable v;
    for (int i = 0; nami_posterior_variable(post, i, &v) == 0; i++)
        if (strcmp(v.name, name) == 0) return v.first_row;
    for (int i = 0; nami_posterior_observed(post, i, &v) == 0; i++)
        if (strcmp(v.name, name) == 0) return v.first_row;
    fail_msg("no variable %s", name);
    return 0;
}

/* A directory of this process, which is empty again when it goes. */
static char directory[64];

static const char *file_of(const char *name)
{
    static char path[2][160];
    static int turn;
    turn = !turn;
    snprintf(path[turn], sizeof path[turn], "%s/%s", directory, name);
    return path[turn];
}

static void open_directory(void)
{
    snprintf(directory, sizeof directory, "/tmp/test_posterior_XXXXXX");
    assert_non_null(mkdtemp(directory));
}

static void close_directory(void)
{
    if (rmdir(directory)) fail_msg("%s is not empty", directory);
}

static char *read_file(const char *path, size_t *len)
{
    FILE *f = fopen(path, "rb");
    if (!f) fail_msg("no file %s", path);
    char *bytes = calloc(1 << 22, 1);
    assert_non_null(bytes);
    *len = fread(bytes, 1, 1 << 22, f);
    fclose(f);
    assert_true(*len > 0 && *len < 1 << 22);
    return bytes;
}

/* What a watch was told; the call number cancel_at cancels. */
static struct {
    char text[2048];
    int calls, cancel_at;
    nami_progress last;
} heard;

static void on_message(int level, const char *said, void *user)
{
    size_t n = strlen(heard.text);
    (void)user;
    snprintf(heard.text + n, sizeof heard.text - n, "%s%s\n", level == NAMI_WARNING ? "!" : "",
             said);
}

static int on_progress(const nami_progress *p, void *user)
{
    assert_ptr_equal(user, &heard);
    heard.last = *p;
    return ++heard.calls == heard.cancel_at;
}

static const nami_watch watch = {on_progress, on_message, &heard};

static void listen(int cancel_at)
{
    memset(&heard, 0, sizeof heard);
    heard.cancel_at = cancel_at;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* Points of the model: all that a block says of draw i, and its data. */
static double *points_of(const nami_posterior *post, const struct all *a)
{
    const nami_model *m = nami_network_model(net);
    size_t n = a->num_draws, per = nami_posterior_draws(post);
    double *x = room((size_t)nami_model_size(m) * n);
    static const char *const names[] = {"mu", "theta", "theta", "next"};
    static const char *const scalars[] = {"mu", "theta[1]", "theta[2]", "next"};
    for (size_t k = 0; k < 4; k++) {
        size_t row = row_of(post, names[k]) + (k == 2);
        int scalar = nami_model_scalar_find(m, scalars[k]);
        memcpy(x + (size_t)scalar * n, a->values + row * n, n * sizeof *x);
    }
    for (size_t k = 0; k < 6; k++) {
        char name[16];
        snprintf(name, sizeof name, "y[%zu,%zu]", k / 3 + 1, k % 3 + 1);
        int scalar = nami_model_scalar_find(m, name);
        assert_true(scalar >= 0);
        for (size_t i = 0; i < n; i++) x[(size_t)scalar * n + i] = y[i / per][k];
    }
    return x;
}

static double log_mean_exp(size_t n, const double *x)
{
    double max = -INFINITY, sum = 0;
    for (size_t i = 0; i < n; i++) max = fmax(max, x[i]);
    for (size_t i = 0; i < n; i++) sum += exp(x[i] - max);
    return max + log(sum / (double)n);
}

static int increasing(const void *a, const void *b)
{
    double u = *(const double *)a, v = *(const double *)b;
    return (u > v) - (u < v);
}

/* Weights that are not among the largest, which are smoothed, are ratios up to a factor. */
static void check_weights(size_t n, const double *log_ratio, const double *log_weight)
{
    double *sorted = room(n), low = INFINITY, high = -INFINITY;
    near(log_mean_exp(n, log_weight) + log((double)n), 0, 1e-9);
    memcpy(sorted, log_ratio, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, increasing);
    for (size_t i = 0; i < n; i++)
        if (log_ratio[i] < sorted[n / 2]) {
            low = fmin(low, log_weight[i] - log_ratio[i]);
            high = fmax(high, log_weight[i] - log_ratio[i]);
        }
    assert_true(high - low < 1e-9);
    free(sorted);
}

static void blocks_agree_with_model_and_network(void **state)
{
    (void)state;
    enum { PER = 400 };
    static const char *const methods[] = {"is", "smc", "direct"};
    nami_data *data = data_of(2, y);
    nami_err err;
    for (int k = 0; k < 3; k++) {
        nami_query query = {.draws = PER, .seed = 3, .method = methods[k], .predict = 1};
        nami_posterior *post = ask(data, query);
        struct all a = all_of(post);
        size_t n = a.num_draws;
        double *x = points_of(post, &a), *log_p = room(n), *log_q = room(n), spread = 0;
        assert_string_equal(nami_posterior_method(post), methods[k]);
        must(nami_model_logp(nami_network_model(net), n, x, 2, log_p, NULL, &err), &err);
        must(nami_network_log_q(net, n, x, 2, log_q, &err), &err);
        for (size_t i = 0; i < n && k < 2; i++) {
            near(a.log_p[i], log_p[i], 1e-9 * fabs(log_p[i]));
            near(a.log_q[i], log_q[i], 1e-4 * (1 + fabs(log_q[i]))); /* networks are float */
            log_p[i] = a.log_p[i] - a.log_q[i];
        }
        for (size_t s = 0; s < 2 && k == 0; s++) {
            nami_verdict v;
            check_weights(PER, log_p + s * PER, a.log_weight + s * PER);
            must(nami_posterior_verdict(post, s, &v, &err), &err);
            near(v.log_evidence, log_mean_exp(PER, log_p + s * PER), 1e-9);
        }
        /* y given theta is normal(theta, 1) */
        const double *theta = a.values + row_of(post, "theta") * n,
                     *again = a.predicted + row_of(post, "y") * n;
        for (size_t i = 0; i < n; i++) spread += (again[i] - theta[i]) * (again[i] - theta[i]);
        near(spread / (double)n, 1, 0.3);
        free(x), free(log_p), free(log_q);
        free_all(&a);
        nami_posterior_free(post);
    }
    nami_data_free(data);
}

/* log q of points is the density of all latents: with the factor of `next`, normal(mu, 2). */
static void log_q_has_barren_latents(void **state)
{
    (void)state;
    enum { N = 5 };
    const nami_model *m = nami_network_model(net);
    size_t mu = (size_t)nami_model_scalar_find(m, "mu"),
           next = (size_t)nami_model_scalar_find(m, "next");
    double *x = room((size_t)nami_model_size(m) * N), log_q[N], other[N];
    nami_err err;
    must(nami_model_simulate(m, 1, N, 1, x, &err), &err);
    must(nami_network_log_q(net, N, x, 1, log_q, &err), &err);
    for (int i = 0; i < N; i++) {
        double z = (x[next * N + (size_t)i] - x[mu * N + (size_t)i]) / 2;
        log_q[i] += z * z / 2;
        x[next * N + (size_t)i] = x[mu * N + (size_t)i] + 0.1; /* z = 0.05 */
    }
    must(nami_network_log_q(net, N, x, 1, other, &err), &err);
    for (int i = 0; i < N; i++) near(other[i] + 0.05 * 0.05 / 2, log_q[i], 1e-9);
    free(x);
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    nami_data *data = data_of(2, y);
    static const char *const methods[] = {"is", "smc", "adaptive"};
    for (int k = 0; k < 3; k++) {
        struct all first = {0};
        for (int threads = 1; threads < 6; threads += 2) {
            nami_posterior *post = ask(data, (nami_query){.draws = 500,
                                                          .seed = 8,
                                                          .predict = 1,
                                                          .method = methods[k],
                                                          .threads = threads});
            struct all a = all_of(post);
            size_t bytes = a.num_draws * sizeof(double);
            if (threads > 1) {
                assert_memory_equal(a.values, first.values, a.num_rows * bytes);
                assert_memory_equal(a.predicted, first.predicted, a.num_rows * bytes);
                assert_memory_equal(a.log_q, first.log_q, bytes);
                assert_memory_equal(a.log_p, first.log_p, bytes);
                assert_memory_equal(a.log_weight, first.log_weight, bytes);
                free_all(&a);
            } else
                first = a;
            nami_posterior_free(post);
        }
        free_all(&first);
    }
    nami_data_free(data);
}

/* Draw by draw: set `s` of many against the only set of another query. */
static void same_set(const struct all *many, const struct all *one, size_t s)
{
    size_t n = one->num_draws;
    for (size_t r = 0; r < one->num_rows; r++) {
        assert_memory_equal(many->values + r * many->num_draws + s * n, one->values + r * n,
                            n * sizeof(double));
        if (one->predicted)
            assert_memory_equal(many->predicted + r * many->num_draws + s * n,
                                one->predicted + r * n, n * sizeof(double));
    }
    assert_memory_equal(many->log_q + s * n, one->log_q, n * sizeof(double));
    if (!one->log_p) return;
    assert_memory_equal(many->log_p + s * n, one->log_p, n * sizeof(double));
    assert_memory_equal(many->log_weight + s * n, one->log_weight, n * sizeof(double));
}

/* With seeds of their own, data sets are answered bit for bit as if each were asked alone. */
static void seeds_make_sets_independent(void **state)
{
    (void)state;
    enum { SETS = 5 };
    static const uint64_t seeds[SETS] = {8, 5, 8, 0, 1234567890123};
    static const int draws[] = {500, 100, 64, 37, 1};
    double values[SETS][6];
    nami_err err;
    for (int s = 0; s < SETS; s++)
        for (int i = 0; i < 6; i++) values[s][i] = y[s % 2][i] + 0.1 * (s / 2) * i;
    nami_data *all_sets = data_of(1, values);
    for (int s = 1; s < SETS; s++) {
        nami_data *more = data_of(1, values + s);
        must(nami_data_append(all_sets, more, &err), &err);
        nami_data_free(more);
    }
    assert_int_equal(nami_data_size(all_sets), SETS);
    nami_posterior *refused_one;
    refused(nami_posterior_new(net, all_sets, &(nami_query){.seeds = seeds, .num_seeds = 2},
                               &refused_one, &err),
            NAMI_EUSAGE, "5 data sets and 2 seeds", &err);
    const char *method;
    for (int k = 0; (method = nami_word("samplers", k)); k++)
        for (size_t i = 0; i < sizeof draws / sizeof *draws; i++) {
            if (strcmp(method, "mcmc") == 0 && (SANITIZED || i != 1)) continue; /* slow */
            nami_query query = {
                .draws = draws[i], .predict = 1, .method = method, .seeds = seeds, .num_seeds = SETS};
            nami_posterior *many = ask(all_sets, query);
            struct all a = all_of(many);
            for (size_t s = 0; s < SETS; s++) {
                nami_data *data = data_of(1, values + s);
                nami_posterior *one = ask(data, (nami_query){.draws = draws[i],
                                                             .predict = 1,
                                                             .method = method,
                                                             .seed = seeds[s],
                                                             .threads = 1});
                struct all b = all_of(one);
                nami_summary in_many, alone;
                nami_verdict of_many, of_one;
                same_set(&a, &b, s);
                must(nami_posterior_summary(many, s, "mu", &in_many, &err), &err);
                must(nami_posterior_summary(one, 0, "mu", &alone, &err), &err);
                assert_memory_equal(&in_many, &alone, sizeof alone);
                must(nami_posterior_verdict(many, s, &of_many, &err), &err);
                must(nami_posterior_verdict(one, 0, &of_one, &err), &err);
                assert_string_equal(of_many.reason, of_one.reason);
                assert_memory_equal(&of_many.log_evidence, &of_one.log_evidence, sizeof(double));
                free_all(&b);
                nami_posterior_free(one);
                nami_data_free(data);
            }
            free_all(&a);
            nami_posterior_free(many);
        }
    nami_data_free(all_sets);
}

/* A set larger than a block comes in pieces: the same draws, weights of the whole. */
static void large_sets_come_in_pieces(void **state)
{
    (void)state;
    enum { MANY = 500000, FEW = 1000 };
    if (SANITIZED) skip();
    nami_data *data = data_of(1, y);
    nami_posterior *small = ask(data, (nami_query){.draws = FEW, .seed = 5, .method = "is"}),
                   *large = ask(data, (nami_query){.draws = MANY, .seed = 5, .method = "is"});
    struct all a = all_of(small), b = all_of(large);
    size_t mu = row_of(large, "mu");
    double mean = 0;
    nami_summary summary;
    nami_err err;
    assert_int_equal(a.num_blocks, 1);
    assert_true(b.num_blocks > 1);
    assert_memory_equal(a.values + mu * FEW, b.values + mu * MANY, FEW * sizeof(double));
    assert_memory_equal(a.log_q, b.log_q, FEW * sizeof(double));
    assert_memory_equal(a.log_p, b.log_p, FEW * sizeof(double));
    near(log_mean_exp(MANY, b.log_weight) + log(MANY), 0, 1e-9);
    for (size_t i = 0; i < MANY; i++) {
        mean += b.copies[i] * b.values[mu * MANY + i];
        /* what is rounded away is not lost */
        assert_true(fabs(b.copies[i] - exp(b.log_weight[i])) < 1.0001 / MANY);
    }
    must(nami_posterior_summary(large, 0, "mu", &summary, &err), &err);
    near(summary.mean, mean, 1e-9);
    free_all(&a), free_all(&b);
    nami_posterior_free(small);
    nami_posterior_free(large);
    nami_data_free(data);
}

/* ---- variables ------------------------------------------------------------------------------- */

static void variables_and_shapes(void **state)
{
    (void)state;
    nami_data *data = data_of(2, y);
    nami_posterior *post = run(data, (nami_query){.draws = 20});
    nami_variable v;
    nami_query wrong = {.only = "theta,nu"};
    nami_summary summary;
    nami_err err;
    int found = 0;
    assert_int_equal(nami_posterior_sets(post), 2);
    assert_int_equal(nami_posterior_draws(post), 20);
    assert_int_equal(nami_posterior_variables(post), 4);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(nami_posterior_variable(post, i, &v), 0);
        if (strcmp(v.name, "theta") != 0) {
            assert_true(v.num_dims == 0 && v.num_elements == 1);
            continue;
        }
        assert_true(v.num_dims == 1 && v.dim[0] == 2 && v.num_elements == 2);
        found = 1;
    }
    assert_true(found);
    assert_int_equal(nami_posterior_variable(post, 4, &v), NAMI_EUSAGE);
    assert_int_equal(nami_posterior_variable(post, -1, &v), NAMI_EUSAGE);
    assert_int_equal(nami_posterior_observed(post, 0, &v), 0);
    assert_string_equal(v.name, "y");
    assert_true(v.num_dims == 2 && v.dim[0] == 2 && v.dim[1] == 3 && v.num_elements == 6);
    assert_int_equal(nami_posterior_observed(post, 1, &v), NAMI_EUSAGE);
    must(nami_posterior_summary(post, 0, "sum", &summary, &err), &err); /* nothing depends on it */
    refused(nami_posterior_summary(post, 0, "some", &summary, &err), NAMI_EUSAGE, "'some'", &err);
    refused(nami_posterior_summary(post, 0, "theta[3]", &summary, &err), NAMI_EUSAGE,
            "did you mean 'theta[", &err);
    refused(nami_posterior_summary(post, 2, "mu", &summary, &err), NAMI_EUSAGE, "2 data sets",
            &err);
    nami_posterior_free(post);

    post = run(data, (nami_query){.draws = 20, .only = "theta"});
    assert_int_equal(nami_posterior_variables(post), 1);
    must(nami_posterior_summary(post, 1, "theta[2]", &summary, &err), &err);
    refused(nami_posterior_summary(post, 1, "mu", &summary, &err), NAMI_EUSAGE, "'mu'", &err);
    nami_posterior_free(post);

    post = run(data, (nami_query){.draws = 20, .all = 1, .sets = 1});
    assert_int_equal(nami_posterior_sets(post), 1);
    assert_int_equal(nami_posterior_variables(post), 4);
    must(nami_posterior_summary(post, 0, "sum", &summary, &err), &err);
    nami_posterior_free(post);

    assert_true(nami_posterior_new(net, data, &wrong, &post, &err) < 0);
    assert_null(post);
    has(err.msg, "nu");
    wrong = (nami_query){.method = "iss"};
    refused(nami_posterior_new(net, data, &wrong, &post, &err), NAMI_EUSAGE, "did you mean 'is'?",
            &err);
    wrong = (nami_query){.draws = -1};
    refused(nami_posterior_new(net, data, &wrong, &post, &err), NAMI_EUSAGE, "draws", &err);
    nami_data_free(data);
    nami_posterior_free(NULL);
}

/* ---- what draws say -------------------------------------------------------------------------- */

static void summaries_are_those_of_blocks(void **state)
{
    (void)state;
    enum { PER = 600 };
    nami_data *data = data_of(2, y);
    nami_err err;
    for (int k = 0; k < 3; k++) { /* resampled, unweighted, weighted */
        nami_posterior *post = ask(data, (nami_query){.draws = PER,
                                                      .all = 1,
                                                      .method = k == 1 ? "direct" : "is",
                                                      .weighted = k == 2});
        struct all a = all_of(post);
        for (size_t s = 0; s < 2; s++) {
            const double *x = a.values + row_of(post, "sum") * a.num_draws + s * PER;
            double mean = 0, square = 0, sum2 = 0, most = 0;
            nami_summary of;
            for (size_t i = 0; i < PER; i++) {
                double w = k < 2 ? a.copies[s * PER + i] : exp(a.log_weight[s * PER + i]);
                mean += w * x[i];
                sum2 += w * w;
            }
            for (size_t i = 0; i < PER; i++) {
                double w = k < 2 ? a.copies[s * PER + i] : exp(a.log_weight[s * PER + i]);
                square += w * (x[i] - mean) * (x[i] - mean);
            }
            must(nami_posterior_summary(post, s, "sum", &of, &err), &err);
            near(of.mean, mean, 1e-12);
            near(of.sd, sqrt(square / (k == 2 ? 1 - sum2 : 1 - 1.0 / PER)), 1e-12);
            near(of.mcse, of.sd / sqrt(of.ess), 0.2 * of.mcse);
            for (size_t i = 0; i < PER && k != 1; i++) most += exp(2 * a.log_weight[s * PER + i]);
            assert_true(of.q5 < of.q25 && of.q25 < of.q50 && of.q50 < of.q75 && of.q75 < of.q95);
            assert_true(of.ess <= PER && (k == 1 || of.ess <= 1 / most + 1e-6));
        }
        free_all(&a);
        nami_posterior_free(post);
    }
    nami_data_free(data);
}

/* Many data sets in one query: means, sds and evidence of each are those of the exact posterior. */
static void many_sets_are_exact(void **state)
{
    (void)state;
    enum { SETS = 30, PER = 1000 };
    const nami_model *m = nami_network_model(net);
    static const char *const scalars[] = {"mu", "theta[1]", "theta[2]", "next"};
    double values[SETS][6];
    double *x = room((size_t)nami_model_size(m) * SETS);
    nami_err err;
    must(nami_model_simulate(m, 77, SETS, 1, x, &err), &err);
    for (size_t s = 0; s < SETS; s++)
        for (size_t k = 0; k < 6; k++)
            values[s][k] = x[((size_t)nami_model_scalar_find(m, "y[1,1]") + k) * SETS + s];
    nami_data *data = data_of(SETS, values);
    assert_int_equal(nami_data_size(data), SETS);
    nami_posterior *post = run(data, (nami_query){.draws = PER, .seed = 4});
    for (size_t s = 0; s < SETS; s++) {
        nami_exact *exact;
        nami_verdict v;
        must(nami_exact_new(m, data, s, NULL, &exact, &err), &err);
        must(nami_posterior_verdict(post, s, &v, &err), &err);
        assert_true(v.verdict == NAMI_TRUSTED && v.khat < 0.7 && v.ess > 100 && v.ess <= PER);
        assert_true(v.ood_p > 0 && v.ood_p <= 1);
        assert_true(strlen(v.reason) > 10);
        near(v.log_evidence, nami_exact_log_evidence(exact), 6 * v.log_evidence_se + 1e-3);
        for (int k = 0; k < 4; k++) {
            nami_summary of;
            double mean, sd;
            must(nami_exact_moments(exact, scalars[k], &mean, &sd, &err), &err);
            must(nami_posterior_summary(post, s, scalars[k], &of, &err), &err);
            near(of.mean, mean, 6 * of.mcse + 1e-12);
            near(of.sd, sd, 0.3 * sd);
        }
        nami_exact_free(exact);
    }
    nami_verdict v;
    refused(nami_posterior_verdict(post, SETS, &v, &err), NAMI_EUSAGE, "30 data sets", &err);
    nami_posterior_free(post);
    nami_data_free(data);
    free(x);
}

static json_t *member(const json_t *of, const char *name)
{
    json_t *x = json_object_get(of, name);
    if (!x) fail_msg("no member %s", name);
    return x;
}

static void is_number(const json_t *of, const char *name, double want)
{
    near(json_number_value(member(of, name)), want, 1e-6 * (1 + fabs(want)));
}

static void descriptions(void **state)
{
    (void)state;
    static const char *const words[] = {"trusted", "care", "no"};
    nami_data *data = data_of(2, y);
    nami_posterior *post = run(data, (nami_query){.draws = 200});
    json_error_t at;
    nami_err err;
    char *out;
    must(nami_posterior_describe(post, "json", &out, &err), &err);
    json_t *root = json_loads(out, 0, &at), *sets = root ? member(root, "sets") : NULL;
    if (!root) fail_msg("%s: %s", at.text, out);
    assert_int_equal(json_array_size(sets), 2);
    for (size_t s = 0; s < 2; s++) {
        const json_t *set = json_array_get(sets, s), *variables = member(set, "variables");
        nami_verdict v;
        nami_summary of;
        must(nami_posterior_verdict(post, s, &v, &err), &err);
        assert_string_equal(json_string_value(member(set, "verdict")), words[v.verdict]);
        assert_string_equal(json_string_value(member(set, "reason")), v.reason);
        assert_string_equal(json_string_value(member(set, "method")), nami_posterior_method(post));
        is_number(set, "khat", v.khat), is_number(set, "ess", v.ess);
        is_number(set, "log_evidence", v.log_evidence);
        is_number(set, "log_evidence_se", v.log_evidence_se);
        is_number(set, "ood_p", v.ood_p), is_number(set, "draws", 200);
        assert_int_equal(json_object_size(variables), 5);
        must(nami_posterior_summary(post, s, "theta[2]", &of, &err), &err);
        const json_t *theta = member(variables, "theta[2]");
        is_number(theta, "mean", of.mean), is_number(theta, "sd", of.sd);
        is_number(theta, "q5", of.q5), is_number(theta, "q50", of.q50);
        is_number(theta, "q95", of.q95), is_number(theta, "mcse", of.mcse);
        is_number(theta, "ess", of.ess);
    }
    json_decref(root);
    nami_free(out);
    must(nami_posterior_describe(post, "text", &out, &err), &err);
    has(out, "data sets    2, 200 draws each");
    nami_free(out);
    refused(nami_posterior_describe(post, "yaml", &out, &err), NAMI_EUSAGE, "text, json", &err);
    assert_null(out);
    nami_posterior_free(post);

    post = run(data, (nami_query){.draws = 200, .sets = 1});
    must(nami_posterior_describe(post, "text", &out, &err), &err);
    has(out, "variable"), has(out, "theta[2]"), has(out, "evidence     log p(x) = ");
    has(out, "verdict      trusted: ");
    nami_free(out);
    nami_posterior_free(post);
    nami_data_free(data);
}

static void questions_that_come_too_early(void **state)
{
    (void)state;
    nami_data *data = data_of(1, y);
    nami_posterior *post = ask(data, (nami_query){.draws = 50});
    nami_summary summary;
    nami_verdict verdict;
    nami_block block;
    nami_err err;
    char *out;
    for (int begun = 0; begun < 2; begun++) {
        refused(nami_posterior_summary(post, 0, "mu", &summary, &err), NAMI_EUSAGE, "not all made",
                &err);
        refused(nami_posterior_verdict(post, 0, &verdict, &err), NAMI_EUSAGE, "not all made", &err);
        refused(nami_posterior_describe(post, "text", &out, &err), NAMI_EUSAGE, "not all made",
                &err);
        if (!begun) assert_int_equal(nami_posterior_next(post, &block, &err), 1);
    }
    assert_int_equal(nami_posterior_next(post, &block, NULL), 0);
    assert_int_equal(nami_posterior_summary(post, 0, "mu", &summary, NULL), 0);
    nami_posterior_free(post);
    nami_data_free(data);
}

/* ---- files ----------------------------------------------------------------------------------- */

static const char *const endings[] = {"csv", "npz", "json", "nc"};

/* How many of the formats this build can write: netCDF needs a library. */
static int num_formats(void)
{
    nami_err err;
    const nami_model *m = nami_network_model(net);
    nami_data *data = data_of(1, y);
    char path[160];
    snprintf(path, sizeof path, "%s", file_of("x.nc"));
    int rc = nami_posterior_check(m, data, NULL, path, &err);
    nami_data_free(data);
    return rc ? 3 : 4;
}

static void files_are_reproducible(void **state)
{
    (void)state;
    open_directory();
    int n = num_formats();
    nami_data *data = data_of(2, y);
    nami_query query = {.draws = 50, .predict = 0, .seed = 2};
    nami_posterior *post = ask(data, query);
    nami_err err;
    char name[32], again[32];
    for (int k = 0; k < n; k++) { /* all at once, */
        snprintf(name, sizeof name, "a.%s", endings[k]);
        must(nami_posterior_write(post, file_of(name), &err), &err);
        assert_int_equal(access(file_of(name), F_OK), -1); /* not until it is complete */
    }
    must(nami_posterior_run(post, &err), &err);
    nami_posterior_free(post);
    for (int k = 0; k < n; k++) { /* then one by one */
        size_t len, other;
        snprintf(name, sizeof name, "a.%s", endings[k]);
        snprintf(again, sizeof again, "b.%s", endings[k]);
        post = ask(data, query);
        must(nami_posterior_write(post, file_of(again), &err), &err);
        must(nami_posterior_run(post, &err), &err);
        nami_posterior_free(post);
        char *a = read_file(file_of(name), &len), *b = read_file(file_of(again), &other);
        if (len != other || memcmp(a, b, len)) fail_msg("two %s files differ", endings[k]);
        free(a), free(b);
        unlink(file_of(name)), unlink(file_of(again));
    }
    nami_data_free(data);
    close_directory();
}

static void files_that_cannot_be(void **state)
{
    (void)state;
    open_directory();
    nami_data *data = data_of(1, y);
    nami_posterior *post = ask(data, (nami_query){.draws = 50});
    nami_block block;
    nami_err err;
    refused(nami_posterior_write(post, file_of("x.yaml"), &err), NAMI_EUSAGE, ".npz", &err);
    refused(nami_posterior_write(post, file_of("none/x.csv"), &err), NAMI_EFILE, "cannot create",
            &err);
    must(nami_posterior_write(post, file_of("x.csv"), &err), &err);
    must(nami_posterior_write(post, file_of("x.npz"), &err), &err);
    assert_int_equal(nami_posterior_next(post, &block, &err), 1);
    refused(nami_posterior_write(post, file_of("y.csv"), &err), NAMI_EUSAGE, "before the first",
            &err);
    nami_posterior_free(post); /* before its end: no file */
    nami_data_free(data);
    close_directory();
}

/* y is an image of 2 x 3 pixels. */
static void pictures(void **state)
{
    (void)state;
    open_directory();
    const nami_model *m = nami_network_model(net);
    nami_data *data = data_of(2, y);
    nami_posterior *post = ask(data, (nami_query){.draws = 50});
    nami_model *scalar = parse_model("model { a ~ normal(0, 1)\n b ~ normal(a, 1) }\nobserve b\n");
    nami_data *b = parse_data("{\"b\": 1}");
    nami_err err;
    must(nami_posterior_check(m, data, NULL, file_of("x.png"), &err), &err);
    must(nami_posterior_write(post, file_of("x.png"), &err), &err);
    must(nami_posterior_run(post, &err), &err);
    assert_int_equal(unlink(file_of("x.png")), 0);
    refused(nami_posterior_check(scalar, b, NULL, file_of("x.png"), &err), NAMI_EUSAGE, "image",
            &err);
    nami_posterior_free(post);
    nami_model_free(scalar);
    nami_data_free(b);
    nami_data_free(data);
    close_directory();
}

/* ---- cancellation ------------------------------------------------------------------------------
 */

static void training_is_canceled(void **state)
{
    (void)state;
    nami_train_options opt = {
        .steps = 100, .hidden = "4", .batch = 10, .valid = 20, .threads = 1, .watch = &watch};
    nami_model *m = parse_model(text);
    nami_network *out;
    nami_err err;
    listen(7);
    refused(nami_train(m, &all_learned, &opt, &out, &err), NAMI_ECANCEL, "canceled after 7 steps",
            &err);
    assert_null(out);
    assert_int_equal(heard.calls, 7);
    assert_string_equal(heard.last.phase, "train");
    listen(0);
    must(nami_train(m, &all_learned, &opt, &out, &err), &err);
    assert_int_equal(heard.calls, 100);
    assert_true(heard.last.done == 100 && heard.last.total == 100);
    nami_network_free(out);
    nami_model_free(m);
}

static void query_is_canceled(void **state)
{
    (void)state;
    open_directory();
    nami_data *data = data_of(2, y);
    nami_posterior *post = ask(data, (nami_query){.draws = 50, .watch = &watch});
    nami_block block;
    nami_verdict verdict;
    nami_err err;
    listen(1);
    must(nami_posterior_write(post, file_of("x.csv"), &err), &err);
    must(nami_posterior_write(post, file_of("x.json"), &err), &err);
    refused(nami_posterior_next(post, &block, &err), NAMI_ECANCEL,
            "canceled after 2 of 2 data sets", &err);
    refused(nami_posterior_next(post, &block, &err), NAMI_ECANCEL, "canceled", &err); /* it stays */
    assert_int_equal(nami_posterior_run(post, NULL), NAMI_ECANCEL);
    assert_int_equal(heard.calls, 1);
    refused(nami_posterior_verdict(post, 0, &verdict, &err), NAMI_EUSAGE, "not all made", &err);
    nami_posterior_free(post);
    close_directory();

    listen(1); /* within a data set: chains ask after each trajectory */
    post = ask(data, (nami_query){.draws = 160, .method = "mcmc", .watch = &watch});
    refused(nami_posterior_next(post, &block, &err), NAMI_ECANCEL,
            "canceled while Markov chains were running", &err);
    assert_int_equal(heard.calls, 1);
    nami_posterior_free(post);

    listen(0);
    post = run(data, (nami_query){.draws = 50, .watch = &watch});
    assert_true(heard.calls > 0 && heard.last.done == 2 && heard.last.total == 2);
    nami_posterior_free(post);
    nami_data_free(data);
}

/* ---- checks, data and their misuse -------------------------------------------------------------
 */

static void checks_before_training(void **state)
{
    (void)state;
    open_directory();
    nami_model *m = parse_model(text);
    nami_data *good = data_of(2, y), *bad = parse_data("{\"y\": [[1, 2], [3, 4]]}");
    nami_query query = {.method = "is"}, no_method = {.method = "iss"}, other = {.only = "nu"};
    nami_err err;
    must(nami_posterior_check(m, good, NULL, NULL, &err), &err);
    must(nami_posterior_check(m, good, &query, file_of("x.csv"), &err), &err);
    refused(nami_posterior_check(m, bad, &query, NULL, &err), NAMI_EINPUT, "y has 4 elements",
            &err);
    refused(nami_posterior_check(m, good, &no_method, NULL, &err), NAMI_EUSAGE, "'is'", &err);
    refused(nami_posterior_check(m, good, NULL, "x.yaml", &err), NAMI_EUSAGE, ".csv", &err);
    assert_true(nami_posterior_check(m, good, &other, file_of("x.csv"), &err) < 0);
    has(err.msg, "nu");
    assert_int_equal(nami_posterior_check(m, good, NULL, "/nowhere/x.csv", &err), NAMI_EFILE);
    must(nami_posterior_check(m, NULL, NULL, NULL, &err), &err); /* the model's own: none */
    must(nami_network_check_data(net, good, &err), &err);
    refused(nami_network_check_data(net, bad, &err), NAMI_EINPUT, "y has 4 elements", &err);
    nami_data_free(good);
    nami_data_free(bad);
    nami_model_free(m);
    close_directory();
}

/* A model that has its data answers for them when it is asked for no others. */
static void data_of_the_model(void **state)
{
    (void)state;
    nami_data *data = data_of(1, y);
    nami_model_options with = {.data = data};
    nami_train_options opt = {.steps = 2, .hidden = "4", .batch = 10, .valid = 20, .threads = 1};
    nami_query query = {.draws = 30};
    nami_model *m;
    nami_network *own;
    nami_posterior *a, *b;
    nami_summary of, same;
    nami_err err;
    must(nami_model_parse(text, strlen(text), NULL, &with, &m, &err), &err);
    must(nami_posterior_check(m, NULL, NULL, NULL, &err), &err);
    must(nami_train(m, &all_learned, &opt, &own, &err), &err);
    nami_model_free(m);
    assert_int_equal(nami_data_size(nami_network_data(own)), 1);
    must(nami_posterior_new(own, NULL, &query, &a, &err), &err);
    must(nami_posterior_new(own, data, &query, &b, &err), &err);
    nami_data_free(data); /* it need not outlive the query */
    must(nami_posterior_run(a, &err), &err);
    must(nami_posterior_run(b, &err), &err);
    must(nami_posterior_summary(a, 0, "mu", &of, &err), &err);
    must(nami_posterior_summary(b, 0, "mu", &same, &err), &err);
    assert_memory_equal(&of, &same, sizeof of);
    nami_posterior_free(a);
    nami_posterior_free(b);
    nami_network_free(own);
    refused(nami_posterior_new(net, NULL, &query, &a, &err), NAMI_EUSAGE, "no data", &err);
    assert_null(a);
}

static void data_misuse(void **state)
{
    (void)state;
    size_t shape[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    nami_data *data = data_of(1, y);
    nami_posterior *post;
    nami_err err;
    double more[6];
    refused(nami_data_set(data, 0, "y", 1, (size_t[]){6}, y[0], &err), NAMI_EINPUT, "already",
            &err);
    refused(nami_data_set(data, 2, "y", 1, (size_t[]){6}, y[0], &err), NAMI_EUSAGE,
            "there are 1 data sets", &err);
    refused(nami_data_set(data, 0, "a", 9, shape, y[0], &err), NAMI_EUSAGE, "9 dimensions", &err);
    refused(nami_data_set(data, 0, "a", -1, shape, y[0], &err), NAMI_EUSAGE, "-1 dimensions", &err);
    refused(nami_data_set(data, 0, "a", 2, (size_t[]){SIZE_MAX, 2}, y[0], &err), NAMI_ELIMIT,
            "too large", &err);
    refused(nami_data_set(data, 0, "a", 3, (size_t[]){1 << 30, 1 << 30, 1 << 30}, y[0], &err),
            NAMI_ELIMIT, "too large", &err);
    must(nami_data_set(data, 0, "a", 8, shape, y[0], &err), &err);
    must(nami_data_set(data, 0, "b", 0, NULL, y[0], &err), &err);
    assert_int_equal(nami_data_size(data), 1);
    memcpy(more, y[1], sizeof more);
    must(nami_data_set(data, 1, "y", 1, (size_t[]){6}, more, &err), &err); /* a row of all */
    more[0] = 1e9;                                                         /* they are copied */
    nami_posterior_free(run(data, (nami_query){.draws = 30}));
    listen(0);
    nami_posterior_free(run(data, (nami_query){.draws = 30, .watch = &watch}));
    has(heard.text, "!the data give a, which the model does not know");
    nami_data_free(data);

    struct {
        int num_dims;
        size_t dim[2];
        const char *says;
    } wrong[] = {{1, {5}, "5 elements"},
                 {2, {3, 2}, "shape"},
                 {0, {0}, "1 elements"},
                 {2, {0, 3}, "0 elements"}};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        must(nami_data_new(&data, &err), &err);
        must(nami_data_set(data, 0, "y", wrong[k].num_dims, wrong[k].dim, y[0], &err), &err);
        refused(nami_posterior_new(net, data, NULL, &post, &err), NAMI_EINPUT, wrong[k].says, &err);
        assert_null(post);
        nami_data_free(data);
    }
    memcpy(more, y[0], sizeof more);
    more[4] = NAN;
    data = data_of(1, &more);
    refused(nami_posterior_new(net, data, NULL, &post, &err), NAMI_EINPUT, "no value for y[2,2]",
            &err);
    nami_data_free(data);
    data = parse_data("{\"x\": 1}");
    refused(nami_posterior_new(net, data, NULL, &post, &err), NAMI_EINPUT, "no value for y[1,1]",
            &err);
    nami_data_free(data);
    must(nami_data_new(&data, &err), &err);
    refused(nami_posterior_new(net, data, NULL, &post, &err), NAMI_EUSAGE, "no data", &err);
    nami_data_free(data);
    nami_data_free(NULL);
}

static void unusual_data_are_told(void **state)
{
    (void)state;
    static const double far[1][6] = {{60, 61, 59, -60, -61, -59}};
    nami_data *data = data_of(1, far);
    nami_verdict v;
    nami_err err;
    for (int i = 0; i < 2; i++) { /* what is compared with is made once, and stays */
        listen(0);
        nami_posterior *post = run(data, (nami_query){.draws = 200, .method = "is", .watch = &watch});
        has(heard.text, "!these data are unlike what the model draws");
        must(nami_posterior_verdict(post, 0, &v, &err), &err);
        assert_true(v.ood_p < 0.001 && v.verdict == NAMI_NOT_TRUSTED);
        nami_posterior_free(post);
    }
    nami_data_free(data);
}

/* ---- many queries ------------------------------------------------------------------------------
 */

struct asking {
    nami_network *net;
    int first, num;
    double *mean;
};

static void *ask_many(void *arg)
{
    struct asking *a = arg;
    for (int i = 0; i < a->num; i++) {
        double values[1][6];
        nami_query query = {.draws = 100, .seed = 1, .threads = 2};
        nami_posterior *post;
        nami_data *data;
        nami_summary of;
        nami_verdict v;
        for (int k = 0; k < 6; k++) values[0][k] = 0.1 * (a->first + i) - 0.2 * k;
        a->mean[3 * i] = NAN; /* cmocka's failures are for the main thread */
        if (nami_data_new(&data, NULL)) return NULL;
        int rc = nami_data_set(data, 0, "y", 1, (size_t[]){6}, values[0], NULL);
        if (!rc) rc = nami_posterior_new(a->net, data, &query, &post, NULL);
        nami_data_free(data);
        if (rc) return NULL;
        rc = nami_posterior_run(post, NULL);
        if (!rc) rc = nami_posterior_summary(post, 0, "mu", &of, NULL);
        if (!rc) rc = nami_posterior_verdict(post, 0, &v, NULL);
        if (!rc) {
            a->mean[3 * i] = of.mean;
            a->mean[3 * i + 1] = v.log_evidence;
            a->mean[3 * i + 2] = v.ood_p;
        }
        nami_posterior_free(post);
    }
    return NULL;
}

/* Of a fresh network, so that the first queries of all threads come at once. */
static void threads_share_a_network(void **state)
{
    (void)state;
    enum { THREADS = 4, EACH = 15 };
    double mean[THREADS][3 * EACH], want[THREADS][3 * EACH];
    nami_network *both[2];
    pthread_t thread[THREADS];
    struct asking a[THREADS];
    char *bytes;
    size_t len;
    nami_err err;
    must(nami_network_print(net, &bytes, &len, &err), &err);
    for (int k = 0; k < 2; k++) must(nami_network_parse(bytes, len, NULL, &both[k], &err), &err);
    nami_free(bytes);
    for (int t = 0; t < THREADS; t++) {
        a[t] = (struct asking){both[0], t * EACH, EACH, mean[t]};
        assert_int_equal(pthread_create(&thread[t], NULL, ask_many, &a[t]), 0);
    }
    for (int t = 0; t < THREADS; t++) pthread_join(thread[t], NULL);
    for (int t = 0; t < THREADS; t++) {
        a[t] = (struct asking){both[1], t * EACH, EACH, want[t]};
        ask_many(&a[t]);
        for (int i = 0; i < EACH; i++) assert_true(isfinite(mean[t][3 * i]));
        assert_memory_equal(mean[t], want[t], sizeof want[t]);
    }
    for (int k = 0; k < 2; k++) nami_network_free(both[k]);
}

/* 10^5 queries in one process. */
static void memory_does_not_grow(void **state)
{
    (void)state;
    enum { WARM = 1000 };
    int most = SANITIZED ? 3000 : 100000;
    nami_network *tiny =
        train("model { z ~ normal(0, 1)\n  x ~ normal(z, 1) }\nobserve x\n", "none", "4", 50);
    nami_err err;
    size_t before = 0;
    for (int i = 0; i < most; i++) {
        double x = i % 100 * 0.02 - 1;
        nami_query query = {.draws = 8, .seed = (uint64_t)i, .threads = 1};
        nami_data *data;
        nami_posterior *post;
        nami_summary of;
        if (i == WARM) before = mallinfo2().uordblks + mallinfo2().hblkhd;
        must(nami_data_new(&data, &err), &err);
        must(nami_data_set(data, 0, "x", 0, NULL, &x, &err), &err);
        must(nami_posterior_new(tiny, data, &query, &post, &err), &err);
        must(nami_posterior_run(post, &err), &err);
        must(nami_posterior_summary(post, 0, "z", &of, &err), &err);
        assert_true(of.mean > -5 && of.mean < 5);
        nami_posterior_free(post);
        nami_data_free(data);
    }
    double growth = (double)(mallinfo2().uordblks + mallinfo2().hblkhd) - (double)before;
    if (growth > 256 * 1024) fail_msg("%.0f bytes after %d queries", growth, most);
    nami_network_free(tiny);
}

/* ---- out of memory ------------------------------------------------------------------------------
 */

struct bytes {
    char *bytes;
    size_t len;
};

/* A network that has fitted nothing yet (or that there is nothing to fit for), its data, and a
   query to its end. */
static int query_once(void *ctx)
{
    const struct bytes *b = ctx;
    static const nami_network_options one = {.threads = 1};
    nami_query query = {.draws = 10, .predict = 1, .all = 1, .threads = 1};
    nami_network *own = NULL;
    nami_data *data = NULL;
    nami_posterior *post = NULL;
    nami_verdict v;
    nami_err err;
    char *out = NULL;
    int rc = nami_network_parse(b->bytes, b->len, &one, &own, &err);
    if (!rc) rc = nami_data_new(&data, &err);
    for (size_t s = 0; s < 2 && !rc; s++) rc = nami_data_set(data, s, "x", 0, NULL, y[s], &err);
    if (!rc) rc = nami_posterior_new(own, data, &query, &post, &err);
    if (!rc) rc = nami_posterior_run(post, &err);
    if (!rc) rc = nami_posterior_verdict(post, 1, &v, &err);
    if (!rc) rc = nami_posterior_describe(post, "json", &out, &err);
    if (rc && err.code != rc) rc = 0; /* an error must be told */
    nami_free(out);
    nami_posterior_free(post);
    nami_data_free(data);
    nami_network_free(own);
    return rc;
}

static void out_of_memory(void **state)
{
    (void)state;
    static const char *const exact[] = {"none", "auto"};
    for (int k = 0; k < 2; k++) {
        nami_network *tiny =
            train("model { z ~ normal(0, 1)\n  x ~ normal(z, 1)\n  w ~ normal(z, 1)\n"
                  "  u <- 2 * z }\nobserve x\n",
                  exact[k], "4", 2);
        struct bytes b;
        const char *why;
        nami_err err;
        must(nami_network_print(tiny, &b.bytes, &b.len, &err), &err);
        nami_network_free(tiny);
        long n = nomem_each(query_once, &b, &why);
        if (n < 0) fail_msg("%s: %s", exact[k], why);
        assert_true(n > 50);
        nami_free(b.bytes);
    }
}

/* ---- cases
 * ---------------------------------------------------------------------------------------
 */

static nami_network *nets[3];

static int choose_net(void **state)
{
    net = *(nami_network **)*state;
    return 0;
}

static int first_net(void **state)
{
    (void)state;
    net = nets[0];
    return 0;
}

/* Again, where some latents are integrated out, and where all are. */
#define EXACT(f)                                                                                   \
    {#f ", some exact", f, choose_net, first_net, &nets[1]},                                       \
    {                                                                                              \
#f ", all exact", f, choose_net, first_net, &nets[2]                                       \
    }

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(blocks_agree_with_model_and_network),
    cmocka_unit_test(log_q_has_barren_latents),
    cmocka_unit_test(threads_do_not_matter),
    cmocka_unit_test(seeds_make_sets_independent),
    cmocka_unit_test(large_sets_come_in_pieces),
    cmocka_unit_test(variables_and_shapes),
    cmocka_unit_test(summaries_are_those_of_blocks),
    cmocka_unit_test(many_sets_are_exact),
    cmocka_unit_test(descriptions),
    cmocka_unit_test(questions_that_come_too_early),
    cmocka_unit_test(files_are_reproducible),
    cmocka_unit_test(files_that_cannot_be),
    cmocka_unit_test(pictures),
    cmocka_unit_test(training_is_canceled),
    cmocka_unit_test(query_is_canceled),
    cmocka_unit_test(checks_before_training),
    cmocka_unit_test(data_of_the_model),
    cmocka_unit_test(data_misuse),
    cmocka_unit_test(unusual_data_are_told),
    cmocka_unit_test(threads_share_a_network),
    cmocka_unit_test(memory_does_not_grow),
    cmocka_unit_test(out_of_memory),
    EXACT(blocks_agree_with_model_and_network),
    EXACT(log_q_has_barren_latents),
    EXACT(threads_do_not_matter),
    EXACT(seeds_make_sets_independent),
    EXACT(large_sets_come_in_pieces),
    EXACT(variables_and_shapes),
    EXACT(summaries_are_those_of_blocks),
    EXACT(many_sets_are_exact),
    EXACT(descriptions),
    EXACT(files_are_reproducible),
    EXACT(threads_share_a_network),
};

int main(int argc, char **argv)
{
    nets[0] = train(text, "none", "16,16", 1000);
    nets[1] = train(text, "theta", "16,16", 1000); /* mu is learned, */
    nets[2] = train(text, "auto", "16,16", 1000);  /* nothing is */
    net = nets[0];
    int rc = run_cases(tests, sizeof tests / sizeof *tests, argc, argv);
    for (int k = 0; k < 3; k++) nami_network_free(nets[k]);
    return rc;
}
