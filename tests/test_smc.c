/* test_smc.c: weighted draws of every method agree with the exact posterior of every small
   model that has one; sequential Monte Carlo is unbiased, the same for any number of threads,
   better than importance sampling where the network is poor and no worse where it is good. */
#include "malloc_fail.h"
#include "smc_at.h"

#include "infer/answer.h"
#include "infer/mcmc.h"
#include "infer/smc.h"
#include "infer/summary.h"
#include "infer/weights.h"
#include "model/eval.h"
#include "model/model.h"

static const struct evidence_options options = {.ais = {AIS_NETWORK, 300, 3}};

/* ---- all methods, all models ------------------------------------------------------------ */

/* Errors of an answer: of log p(x); the largest of a posterior mean, in sds; of an sd, relative. */
struct errors {
    double log_z, mean, sd;
};

static struct errors errors_of(const struct fixture *f, const struct answer *a)
{
    struct errors e = {fabs(a->found[0].log_z - f->t.log_z), 0, 0};
    nami_err err;
    for (int r = 0; r < f->r.net.model->ir.num_rows; r++) {
        struct summary s;
        if (isnan(f->t.mean[r])) continue;
        assert_int_equal(summarise(a->n, a->z + (size_t)r * a->n, a->logw, &s, &err), 0);
        e.mean = fmax(e.mean, fabs(s.mean - f->t.mean[r]) / f->t.sd[r]);
        e.sd = fmax(e.sd, fabs(s.sd / f->t.sd[r] - 1));
    }
    return e;
}

/* Tolerances are at least six standard deviations of the errors over seeds; direct draws have
   the network's own errors. */
static void every_method(void **state)
{
    static const struct {
        const struct known_model *m;
        const char *mode;
        int steps;
        struct errors most[3]; /* direct, is, smc: the first rows of infer.def; others: as is */
        double ais;            /* log p(x) by 256 chains; 0: it refuses discrete latents */
    } row[] = {
        {&known_tree, "forward", 300, {{0, 0.3, 0.2}, {0.03, 0.1, 0.1}, {0.03, 0.1, 0.1}}, 0.1},
        {&known_chain, "forward", 100, {{0, 2, 3}, {4, 3, 2}, {0.4, 0.5, 0.5}}, 0.4},
        {&known_chain,
         "reverse",
         1000,
         {{0, 0.4, 0.2}, {0.05, 0.15, 0.12}, {0.05, 0.15, 0.12}},
         0.06},
        {&known_hmm, "forward", 300, {{0, 0.5, 0.5}, {0.04, 0.15, 0.25}, {0.04, 0.15, 0.25}}, 0},
        {&known_mixture, "forward", 600, {{0, 0.7, 0.4}, {0.3, 0.3, 0.4}, {0.3, 0.3, 0.4}}, 0},
    };
    (void)state;
    print_message("%-8s %5s  %-7s %10s %9s %8s %8s\n", "model", "steps", "method", "log p(x)", "+-",
                  "mean", "sd");
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        struct fixture f;
        nami_err err;
        fixture_make(&f, row[k].m, row[k].mode, row[k].steps);
        struct query q = {.x = f.x, .nset = 1, .per = 4000, .seed = 3};
        for (int m = 0; infer_methods[m] && infer_methods[m]->fill; m++) {
            struct answer a;
            int rc = answer_sets(&f.a, &q, infer_methods[m], 0, 1, 0, 2, &a, &err);
            if (infer_methods[m] == &infer_mcmc && !mcmc_can(f.a.q)) {
                assert_int_equal(rc, NAMI_EINPUT); /* a latent is discrete */
                answer_free(&a);
                continue;
            }
            if (rc) fail_msg("%s", err.msg);
            struct errors e = errors_of(&f, &a), most = row[k].most[m < 3 ? m : 1]; /* others: not worse than is */
            print_message("%-8s %5d  %-7s %10.4f %9.4f %8.4f %8.4f\n", row[k].m->name, row[k].steps,
                          infer_methods[m]->name, e.log_z, a.found[0].log_se, e.mean, e.sd);
            assert_true(e.mean < most.mean && e.sd < most.sd);
            if (a.found[0].rhat) /* Markov chains say nothing of p(x) */
                assert_true(a.found[0].rhat < 1.01 && isnan(a.found[0].log_z));
            else if (infer_methods[m]->weighted)
                assert_true(e.log_z < most.log_z);
            answer_free(&a);
        }
        for (int i = 0; infer_methods[i]; i++) {
            const struct infer_method *m = infer_methods[i];
            struct diagnostics d;
            if (!m->evidence) continue;
            struct query e = {.x = f.x, .nset = 1, .per = m->chains ? 256 : q.per, .seed = q.seed};
            int rc = m->evidence(&f.a, &e, &options, 0, 1, 2, &d, &err);
            if (m->chains && row[k].ais == 0) {
                assert_int_equal(rc, NAMI_EINPUT);
                continue;
            }
            if (rc) fail_msg("%s", err.msg);
            double most = m->chains ? row[k].ais : row[k].most[i < 3 ? i : 1].log_z;
            print_message("%-8s %5d  p(x) %-3s %9.4f %9.4f\n", row[k].m->name, row[k].steps,
                          m->name, fabs(d.log_z - f.t.log_z), d.log_se);
            assert_true(fabs(d.log_z - f.t.log_z) < most && d.log_se < most / 3);
        }
        fixture_drop(&f);
    }
}

/* ---- many runs ---------------------------------------------------------------------------- */

/* Over seeds: the mean of p(x) relative to the truth and its standard error; the root mean square
   error of log p(x); the mean of what it is said to be. */
struct runs {
    double mean, se, rmse, said;
};

static struct runs runs_of(const struct fixture *f, const char *method, size_t per, int n)
{
    struct runs r = {0};
    double ss = 0;
    nami_err err;
    for (int i = 0; i < n; i++) {
        struct diagnostics d;
        struct query q = {.x = f->x, .nset = 1, .per = per, .seed = (uint64_t)i + 100};
        if (infer_method_find(method)->evidence(&f->a, &q, &options, 0, 1, 1, &d, &err))
            fail_msg("%s", err.msg);
        double e = d.log_z - f->t.log_z, z = exp(e);
        r.mean += z / n;
        ss += z * z / n;
        r.rmse += e * e / n;
        r.said += d.log_se / n;
    }
    r.se = sqrt((ss - r.mean * r.mean) / (n - 1));
    r.rmse = sqrt(r.rmse);
    return r;
}

/* The chance of an error is that of a normal variable beyond 5 standard errors: 6e-7 each. */
static void unbiased(void **state)
{
    static const struct {
        const struct known_model *m;
        const char *mode;
    } row[] = {{&known_tree, "forward"}, {&known_tree, "reverse"}, {&known_hmm, "reverse"}};
    (void)state;
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        struct fixture f;
        fixture_make(&f, row[k].m, row[k].mode, 0);
        struct runs r = runs_of(&f, "smc", 300, 1500);
        print_message("%s, %s: mean of p(x) / truth %.3f +- %.3f\n", row[k].m->name, row[k].mode,
                      r.mean, r.se);
        assert_true(fabs(r.mean - 1) < 5 * r.se && r.se < 0.05);
        fixture_drop(&f);
    }
}

/* Untrained, 24 steps: importance sampling is lost.  Trained: nothing is lost by resampling, since
   that is left where the network knows better, or where latents have no prior yet. */
static void poor_and_good(void **state)
{
    static const struct {
        const struct known_model *m;
        const char *mode;
        int steps;
    } row[] = {{&known_chain, "forward", 0},   {&known_chain, "reverse", 0},
               {&known_chain, "forward", 100}, {&known_chain, "forward", 1000},
               {&known_tree, "reverse", 1000}, {&known_hmm, "forward", 1000},
               {&known_drift, "forward", 50},  {&known_drift, "reverse", 200}};
    (void)state;
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        struct fixture f;
        fixture_make(&f, row[k].m, row[k].mode, row[k].steps);
        struct runs is = runs_of(&f, "is", 1000, 40), smc = runs_of(&f, "smc", 1000, 40);
        print_message(
            "%-5s %s, %4d steps: rms error of log p(x): is %8.4f, smc %.4f (said: %.4f)\n",
            row[k].m->name, row[k].mode, row[k].steps, is.rmse, smc.rmse, smc.said);
        int lost = smc.rmse > 5; /* both are */
        if (row[k].steps == 0) assert_true(is.rmse > 50 && smc.rmse < 1);
        if (row[k].steps == 100) assert_true(is.rmse > 3 * smc.rmse);
        assert_true(smc.rmse < 1.5 * is.rmse);
        assert_true(lost || (smc.rmse < 2 * smc.said && smc.said < 2 * smc.rmse));
        fixture_drop(&f);
    }
}

/* Standard errors of posterior means, from islands: as the means vary over seeds. */
static void standard_errors(void **state)
{
    enum { RUNS = 60 };
    struct fixture f;
    nami_err err;
    (void)state;
    fixture_make(&f, &known_chain, "forward", 0);
    int row = row_named(f.r.net.model, "z");
    double worst = 1, naive = 0;
    for (int t = 0; t < 24; t += 6) {
        double ss = 0, said = 0, plain = 0;
        for (int i = 0; i < RUNS; i++) {
            struct answer a;
            struct query q = {.x = f.x, .nset = 1, .per = 1000, .seed = (uint64_t)i + 7};
            struct summary s;
            if (answer_sets(&f.a, &q, &infer_smc, 0, 1, 0, 2, &a, &err)) fail_msg("%s", err.msg);
            const double *z = a.z + (size_t)(row + t) * a.n;
            assert_int_equal(summarise(a.n, z, a.logw, &s, &err), 0);
            plain += s.mcse * s.mcse / RUNS;
            summarise_islands(a.n, z, a.logw, a.islands, &s);
            said += s.mcse * s.mcse / RUNS;
            ss += pow(s.mean - f.t.mean[row + t], 2) / RUNS;
            answer_free(&a);
        }
        double ratio = sqrt(ss / said);
        print_message("z[%d]: rms error of the mean %.4f, said %.4f; without islands %.4f\n", t + 1,
                      sqrt(ss), sqrt(said), sqrt(plain));
        if (fabs(log(ratio)) > fabs(log(worst))) worst = ratio;
        naive = fmax(naive, sqrt(ss / plain));
    }
    assert_true(worst > 0.5 && worst < 2);
    assert_true(naive > 2); /* they are needed */
    fixture_drop(&f);
}

/* ---- what a particle is ------------------------------------------------------------------- */

static const char zoo[] = "model {\n"
                          "  m[1:2] ~ multi_normal(c(0, 0), diag(c(1, 4)))\n"
                          "  p[1:3] ~ dirichlet(c(2, 2, 2))\n"
                          "  s ~ gamma(3, 2)\n"
                          "  u ~ uniform(2, 5)\n"
                          "  b ~ bernoulli(0.3)\n"
                          "  w ~ beta(2, 3)\n"
                          "  scale <- s * 0.2\n"
                          "  for (i in 1:4) { k[i] ~ categorical(p[1:3])\n"
                          "    mean[i] <- m[1] + k[i] * u + b\n"
                          "    y[i] ~ normal(mean[i], scale) }\n"
                          "  t ~ normal(m[2] * w, 0.2)\n"
                          "  n ~ poisson(u * 2)\n"
                          "  next ~ normal(m[1], s)\n"
                          "  half <- next / 2\n"
                          "}\n"
                          "observe y, t, n\n";

enum { SETS = 3, PER = 200, N = SETS * PER };

static void zoo_make(struct fixture *f, const char *family, const struct arch *arch)
{
    nami_err err = {0};
    struct training *r = &f->r;
    struct source *s;
    int checked, rc;
    *f = (struct fixture){0};
    r->net.model = r->net.own_model = model_new();
    r->net.plan = (struct plan){
        .invert = {.exact = "none"},
        .net = {.family = family_find(family, strlen(family)),
                .arch = arch,
                .nhidden = 2,
                .hidden = {24, 24},
                .act = ACT_RELU,
                .skip = 1},
        .train = {
            .steps = 3, .batch = 50, .rate = 1e-3, .check = 500, .valid = 50, .patience = 100}};
    rc = model_parse(r->net.model, "model", zoo, strlen(zoo), NATIVE, NULL, &err);
    if (!rc) rc = training_prepare(r, 1, &err);
    if (!rc) rc = source_model(r->net.model, 1, 50, 50, &s, &err);
    if (!rc) rc = training_start(r, s, 1, &err);
    while (!rc && !r->train.done) rc = train_step(&r->train, &checked, &err);
    if (!rc) rc = infer_init(&f->a, &r->net.q, r->train.best_param, &err);
    if (rc) fail_msg("%s", err.msg);
    f->x = calloc((size_t)r->net.model->ir.num_rows * SETS, sizeof *f->x);
    assert_non_null(f->x);
    assert_int_equal(model_simulate(r->net.model, 5, 0, SETS, 1, f->x, &err), 0);
}

/* Lanes that were copied are whole: log p and log q that grew wave by wave are those of the points
   that came out, from programs that know nothing of waves; what is computed is computed. */
static void whole(void **state)
{
    static const char *const family[] = {"match", "mixture", "spline", "naf"};
    (void)state;
    for (int k = 0; k < 4; k++)
        for (int kind = 0; net_archs[kind]; kind++) {
            struct fixture f;
            nami_err err;
            zoo_make(&f, family[k], net_archs[kind]);
            struct query q = {.x = f.x, .nset = SETS, .per = PER, .seed = 9};
            size_t rows = (size_t)f.r.net.model->ir.num_rows, islands = smc_islands(&f.a, PER);
            double *z = calloc(rows * N, sizeof *z), *pred = calloc(rows * N, sizeof *z);
            double lp[N], lq[N], lw[N], p2[N], q2[N], b2[N], logz[SETS * 64];
            int resampled[SETS * 64], any = 0;
            assert_true(z && pred && islands <= 64);
            struct smc_out out = {z, pred, lq, lp, lw, logz, resampled};
            if (smc_run(&f.a, &q, 0, SETS, 2, &out, &err)) fail_msg("%s", err.msg);
            struct density d = {.logp = p2};
            assert_int_equal(model_logp(f.r.net.model, N, z, 1, &d, &err), 0);
            assert_int_equal(infer_others(&f.a, N, z, NULL, 1, b2, &err), 0);
            assert_int_equal(infer_logq(&f.a, N, z, 1, q2, &err), 0);
            int next = row_named(f.r.net.model, "next"), half = row_named(f.r.net.model, "half");
            int y = row_named(f.r.net.model, "y"), changed = 0;
            for (size_t i = 0; i < N; i++) {
                if (!(fabs(lp[i] + b2[i] - p2[i]) < 1e-8 * (1 + fabs(p2[i]))))
                    fail_msg("%s: log p %.12g, but %.12g", family[k], lp[i] + b2[i], p2[i]);
                if (!(fabs(lq[i] - q2[i]) < 2e-3 * (1 + fabs(q2[i]))))
                    fail_msg("%s: log q %g, but %g", family[k], lq[i], q2[i]);
                assert_true(z[(size_t)half * N + i] == z[(size_t)next * N + i] / 2);
                assert_true(z[(size_t)y * N + i] == f.x[(size_t)y * SETS + i / PER]);
                changed += pred[(size_t)y * N + i] != z[(size_t)y * N + i];
            }
            assert_int_equal(changed, N);
            for (size_t s = 0; s < SETS * islands; s++) {
                size_t s0 = s / islands, i = s % islands, at = smc_first(PER, islands, i);
                double se, m = weights_log_mean(smc_first(PER, islands, i + 1) - at,
                                                lw + s0 * PER + at, &se);
                assert_true(m == logz[s]);
                any += resampled[s];
            }
            print_message("%s, %s: %zu waves, %d resamplings in %zu islands\n", family[k],
                          net_archs[kind]->name, f.a.s.wave.n, any, SETS * islands);
            if (k == 0) assert_true(any > 0);
            free(z), free(pred), free(f.x);
            infer_fini(&f.a);
            training_free(&f.r);
        }
}

/* Without resampling (one wave of latents that do not see each other) it is importance sampling:
   the weights are p / q, and k-hat is there. */
static void one_wave(void **state)
{
    static const struct known_model m = {
        "flat",
        "model { for (i in 1:3) { a[i] ~ normal(0, 1)\n y[i] ~ normal(a[i], 1) } }\nobserve y\n",
        "{\"y\": [0.3, -1, 2]}", gauss_exact};
    struct fixture f;
    struct answer a;
    nami_err err;
    (void)state;
    fixture_make(&f, &m, "forward", 50);
    assert_int_equal(f.a.s.wave.n, 1);
    struct query q = {.x = f.x, .nset = 1, .per = 4000, .seed = 3};
    if (answer_sets(&f.a, &q, &infer_smc, 0, 1, 0, 2, &a, &err)) fail_msg("%s", err.msg);
    assert_true(a.found[0].khat < 0.7 && fabs(a.found[0].log_z - f.t.log_z) < 0.05);
    answer_free(&a);
    for (size_t per = 1; per < 40; per += 6) { /* few draws */
        q.per = per;
        if (answer_sets(&f.a, &q, &infer_smc, 0, 1, 0, 2, &a, &err)) fail_msg("%s", err.msg);
        assert_true(isfinite(a.found[0].log_z));
        answer_free(&a);
    }
    fixture_drop(&f);
}

/* ---- threads, pieces, sizes ----------------------------------------------------------------- */

static void same(void **state)
{
    struct fixture f;
    nami_err err;
    (void)state;
    zoo_make(&f, "match", &arch_made);
    struct query q = {.x = f.x, .nset = SETS, .per = PER, .seed = 9};
    size_t rows = (size_t)f.r.net.model->ir.num_rows;
    struct answer one, a;
    if (answer_sets(&f.a, &q, &infer_smc, 0, SETS, 1, 1, &one, &err)) fail_msg("%s", err.msg);
    int resampled = 0;
    for (int s = 0; s < SETS; s++) resampled += isnan(one.found[s].khat);
    assert_true(one.islands > 1 && resampled > 0);
    for (int threads = 2; threads <= 3; threads++) {
        if (answer_sets(&f.a, &q, &infer_smc, 0, SETS, 1, threads, &a, &err))
            fail_msg("%s", err.msg);
        assert_memory_equal(a.z, one.z, rows * N * sizeof *a.z);
        assert_memory_equal(a.pred, one.pred, rows * N * sizeof *a.z);
        assert_memory_equal(a.logw, one.logw, N * sizeof *a.z);
        assert_memory_equal(a.logq, one.logq, N * sizeof *a.z);
        assert_memory_equal(a.found, one.found, SETS * sizeof *a.found);
        answer_free(&a);
    }
    /* one data set alone */
    if (answer_sets(&f.a, &q, &infer_smc, 1, 1, 0, 2, &a, &err)) fail_msg("%s", err.msg);
    assert_memory_equal(a.logw, one.logw + PER, PER * sizeof *a.z);
    assert_memory_equal(a.z, one.z + PER, PER * sizeof *a.z);
    assert_true(a.found[0].log_z == one.found[1].log_z);
    answer_free(&a);
    /* another seed */
    q.seed = 10;
    if (answer_sets(&f.a, &q, &infer_smc, 0, SETS, 0, 2, &a, &err)) fail_msg("%s", err.msg);
    assert_true(a.found[0].log_z != one.found[0].log_z);
    answer_free(&a);
    answer_free(&one);
    for (size_t per = 1; per < 300000; per = per * 3 + 1) { /* islands are a partition */
        size_t n = smc_islands(&f.a, per);
        assert_true(n >= 1 && n <= per && smc_first(per, n, 0) == 0 && smc_first(per, n, n) == per);
        for (size_t i = 0; i < n; i++) {
            size_t size = smc_first(per, n, i + 1) - smc_first(per, n, i);
            assert_true(size >= 1 && size <= 1024);
        }
    }
    free(f.x);
    infer_fini(&f.a);
    training_free(&f.r);
}

/* ---- what cannot be weighed; memory --------------------------------------------------------- */

static void refused(void **state)
{
    static const struct known_model m = {
        "nuisance",
        "model { a ~ normal(0, 1)\n b ~ normal(a, 1)\n y ~ normal(b, 1) }\nobserve y\ninfer a\n",
        "{\"y\": 0.3}", gauss_exact};
    struct fixture f;
    struct answer a;
    nami_err err = {0};
    (void)state;
    fixture_make(&f, &m, "forward", 1);
    struct query q = {.x = f.x, .nset = 1, .per = 100, .seed = 1};
    assert_int_equal(answer_sets(&f.a, &q, &infer_smc, 0, 1, 0, 1, &a, &err), NAMI_EINPUT);
    assert_non_null(strstr(err.msg, "not in 'infer'"));
    answer_free(&a);
    fixture_drop(&f);
}

static int all_of_it(void *ctx)
{
    const struct fixture *f = ctx;
    struct query q = {.x = f->x, .nset = 1, .per = 64, .seed = 1};
    struct answer a;
    struct diagnostics d;
    nami_err err;
    int rc = answer_sets(&f->a, &q, &infer_smc, 0, 1, 1, 1, &a, &err);
    answer_free(&a);
    for (int i = 0; infer_methods[i] && !rc; i++) {
        const struct infer_method *m = infer_methods[i];
        if (m->evidence && !m->chains) rc = m->evidence(&f->a, &q, &options, 0, 1, 1, &d, &err);
    }
    return rc;
}

static int sampler_of_it(void *ctx)
{
    struct fixture *f = ctx;
    struct sampler s;
    nami_err err;
    int rc = sampler_make(&s, &f->r.net.q, &err);
    sampler_free(&s);
    return rc;
}

static void no_memory(void **state)
{
    struct fixture f;
    const char *why;
    (void)state;
    zoo_make(&f, "match", &arch_mlp);
    long n = nomem_each(all_of_it, &f, &why);
    if (n < 0) fail_msg("%s", why);
    long k = nomem_each(sampler_of_it, &f, &why);
    if (k < 0) fail_msg("%s", why);
    print_message("%ld allocations failed in turn\n", n + k);
    assert_true(n > 50 && k > 10);
    free(f.x);
    infer_fini(&f.a);
    training_free(&f.r);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_method),  cmocka_unit_test(unbiased),
    cmocka_unit_test(poor_and_good), cmocka_unit_test(standard_errors),
    cmocka_unit_test(whole),         cmocka_unit_test(one_wave),
    cmocka_unit_test(same),          cmocka_unit_test(refused),
    cmocka_unit_test(no_memory),
};
RUN(tests)
