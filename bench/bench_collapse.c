/* bench_collapse [MOST [MODEL]]: the collapsed density of a hidden Markov model, of a state space
   model with unknown parameters and of a plate of Poisson counts, with 10^2, 10^3, ... up to MOST
   (10^6) latents that are integrated out, on one thread: CPU seconds to choose and plan; by
   lane of LANES, for the first evaluation with derivatives, which touches the memory of the
   workspace, and then for an evaluation, its derivatives and a draw; the largest memory of the
   process so far; the exponents of growth, fitted from 10^3 on.

   bench_collapse FILE DATA: the collapsed density of a model file at draws of its prior: lanes
   evaluated in a CPU second, without and with derivatives, for 8 lanes at once (as Markov chains
   do) and for 64 (as weights of draws do). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "bench.h"
#include "exact/collapse.h"
#include "model/eval.h"
#include "model/problem.h"
#include "model/read.h"

enum { PLAN, FRESH, VALUE, GRADIENT, DRAW, STEPS };
static const char *const step_names[] = {"plan", "first", "value", "derivatives", "draw"};
enum { FIRST = 100, LANES = 8, SIZES = 8 };

static const struct {
    const char *name, *text;
} models[] = {
    {"hmm", "const N\nmodel {\n  sigma ~ gamma(4, 4)\n  for (k in 1:3) { mu[k] ~ normal(0, 3)\n"
            "    A[k, 1:3] ~ dirichlet(rep(1, 3)) }\n"
            "  z[1] ~ categorical(rep(1 / 3, 3))\n"
            "  for (t in 2:N) { z[t] ~ categorical(A[z[t-1], 1:3]) }\n"
            "  for (t in 1:N) { y[t] ~ normal(mu[z[t]], sigma) }\n}\nobserve y\n"},
    {"ssm", "const N\nmodel {\n  a ~ uniform(0, 1)\n  q ~ gamma(2, 2)\n  r ~ gamma(2, 2)\n"
            "  x[1] ~ normal(0, q)\n  for (t in 2:N) { x[t] ~ normal(a * x[t-1], q) }\n"
            "  for (t in 1:N) { y[t] ~ normal(x[t], r) }\n}\nobserve y\n"},
    {"plate", "const N\nmodel {\n  a ~ gamma(2, 2)\n  b ~ gamma(2, 2)\n"
              "  for (i in 1:N) { theta[i] ~ gamma(a, b)\n    y[i] ~ poisson(theta[i]) }\n"
              "}\nobserve y\n"},
};

static nami_err err;

static void check(int rc)
{
    if (!rc) return;
    fprintf(stderr, "bench_collapse: %s\n", err.msg);
    exit(1);
}

static double cpu(void) { return now(CLOCK_THREAD_CPUTIME_ID); }

static void run(int which, int n, double *seconds)
{
    struct str set = {0};
    struct model *m = model_new();
    struct inversion v;
    struct collapse c;
    str_printf(&set, "N=%d", n);
    const char *const settings[] = {set.s};
    struct model_options opt = {.set = settings, .nset = 1};
    check(m && !set.oom ? 0 : NAMI_ENOMEM);
    check(model_parse(m, "bench.nami", models[which].text, strlen(models[which].text), NATIVE, &opt,
                      &err));
    nami_options o = {.mode = "reverse", .exact = "auto"};
    check(inversion_init(&v, model_bn(m), &o, &err));
    double t0 = cpu();
    check(collapse_make(&c, m, &v.p, "auto", &err));
    seconds[PLAN] = cpu() - t0;
    if (!c.step.n) check(err_set(&err, NAMI_EBUG, "%s: nothing is exact", models[which].name));
    size_t rows = (size_t)model_num_rows(m);
    double *x = malloc(sizeof *x * rows * LANES), lp[LANES];
    struct exec e;
    check(x ? 0 : NAMI_ENOMEM);
    check(model_simulate(m, 1, 0, LANES, 1, x, &err));
    check(exec_init(&e, collapse_density(&c), LANES, 0, EXEC_GRAD, &err));
    for (size_t r = 0; r < rows; r++) memcpy(e.row + r * LANES, x + r * LANES, sizeof lp);
    t0 = cpu();
    exec_run(&e);
    exec_back(&e);
    seconds[FRESH] = (cpu() - t0) / LANES;
    t0 = cpu();
    exec_run(&e);
    seconds[VALUE] = (cpu() - t0) / LANES;
    memcpy(lp, e.total, sizeof lp);
    t0 = cpu();
    exec_back(&e);
    seconds[GRADIENT] = (cpu() - t0) / LANES;
    exec_fini(&e);
    check(exec_init(&e, &c.draw, LANES, 0, 0, &err));
    for (int again = 0; again < 2; again++) {
        for (size_t r = 0; r < rows; r++) memcpy(e.row + r * LANES, x + r * LANES, sizeof lp);
        t0 = cpu();
        exec_run(&e);
        seconds[DRAW] = (cpu() - t0) / LANES;
    }
    exec_fini(&e);
    printf("%-6s N=%-8d", models[which].name, n);
    for (int k = 0; k < STEPS; k++) printf(" %s=%.3gs", step_names[k], seconds[k]);
    printf(" memory=%ldMB kind=%s log_p=%.8g\n", peak_mb(), c.step.a[0]->kind->name, lp[0]);
    fflush(stdout);
    collapse_free(&c);
    inversion_fini(&v);
    model_free(m);
    free(x);
    str_free(&set);
}

/* ---- a model file -----------------------------------------------------------------------------
 */

static const double ENOUGH = 1; /* CPU seconds */

/* Evaluations of one lane in a CPU second. */
static double rate(struct exec *e, int with_back)
{
    double t0 = cpu(), t;
    int n = 0;
    do {
        exec_run(e);
        if (with_back) exec_back(e);
        n++;
    } while ((t = cpu() - t0) < ENOUGH);
    return (double)n * e->lanes / t;
}

static void run_file(const char *path, const char *data)
{
    enum { MANY = 64 };
    struct model *m = model_new();
    struct inversion v;
    struct collapse c;
    nami_options o = {.mode = "reverse", .exact = "auto"};
    check(m ? 0 : NAMI_ENOMEM);
    check(model_read(m, path, &data, 1, NULL, &err));
    check(inversion_init(&v, model_bn(m), &o, &err));
    check(collapse_make(&c, m, &v.p, "auto", &err));
    size_t rows = (size_t)model_num_rows(m);
    double *x = malloc(sizeof *x * rows * MANY);
    check(x ? 0 : NAMI_ENOMEM);
    check(model_simulate(m, 1, 0, MANY, 1, x, &err));
    for (int lanes = LANES; lanes <= MANY; lanes *= MANY / LANES) {
        struct exec e;
        double sum = 0;
        check(exec_init(&e, collapse_density(&c), lanes, 0, EXEC_GRAD, &err));
        for (size_t r = 0; r < rows; r++)
            memcpy(e.row + r * (size_t)lanes, x + r * MANY, sizeof *x * (size_t)lanes);
        double value = rate(&e, 0), both = rate(&e, 1);
        for (int b = 0; b < LANES; b++) sum += e.total[b];
        printf("%s lanes=%d values=%.0f/s with_derivatives=%.0f/s log_p=%.17g\n", path, lanes,
               value, both, sum / LANES);
        fflush(stdout);
        exec_fini(&e);
    }
    collapse_free(&c);
    inversion_fini(&v);
    model_free(m);
    free(x);
}

/* ---- growth ------------------------------------------------------------------------------------
 */

/* The slope of log seconds by log N, from 1,000 on (least squares). */
static double exponent(int num, const double *size, double (*seconds)[STEPS], int step)
{
    double n = 0, x = 0, y = 0, xx = 0, xy = 0;
    for (int k = 0; k < num; k++) {
        if (size[k] < 1000) continue;
        double u = log(size[k]), v = log(seconds[k][step]);
        n++, x += u, y += v, xx += u * u, xy += u * v;
    }
    return (n * xy - x * y) / (n * xx - x * x);
}

int main(int argc, char **argv)
{
    int most = argc > 1 ? atoi(argv[1]) : 1000000;
    if (argc > 2 && model_file(argv[1])) return run_file(argv[1], argv[2]), 0;
    for (int w = 0; w < (int)(sizeof models / sizeof *models); w++) {
        double seconds[SIZES][STEPS], size[SIZES];
        int num = 0;
        if (argc > 2 && strcmp(argv[2], models[w].name) != 0) continue;
        for (int64_t N = FIRST; N <= most && num < SIZES; N *= 10, num++) {
            size[num] = (double)N;
            run(w, (int)N, seconds[num]);
        }
        if (num < 3) continue;
        printf("%-6s exponent", models[w].name);
        for (int k = 0; k < STEPS; k++)
            printf(" %s=%.2f", step_names[k], exponent(num, size, seconds, k));
        printf("\n");
    }
    return 0;
}
