/* bench_exact [MOST]: the exact posterior of a linear Gaussian chain, the model of
   examples/models/lgssm.nami, with 10^3, 10^4, ... up to MOST (10^6) time points, on one thread:
   CPU seconds of each step, and the exponent of their growth over the last factor of ten. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "base/str.h"
#include "base/stream.h"
#include "bench.h"
#include "infer/exact.h"
#include "model/model.h"

enum { READ, AFFINE, POSTERIOR, VARIANCES, DRAWS, TOTAL, STEPS };
static const char *const step_names[] = {"model",     "coefficients", "posterior",
                                         "variances", "8 draws",      "total"};
enum { FIRST = 1000, NUM_DRAWS = 8 };

static nami_err err;

static void check(int rc)
{
    if (!rc) return;
    fprintf(stderr, "bench_exact: %s\n", err.msg);
    exit(1);
}

/* Data drawn from the model, as JSON. */
static void make_data(int num_times, struct str *out)
{
    struct rng r;
    double x = 0;
    rng_init(&r, 1, 0);
    str_printf(out, "{\"T\": %d, \"y\": [", num_times);
    for (int t = 0; t < num_times; t++) {
        x = 0.9 * x + 0.5 * rng_normal(&r);
        str_printf(out, "%s%.17g", t ? "," : "", x + rng_normal(&r));
    }
    str_put(out, "]}");
}

static const char text[] = "const T, a = 0.9, q = 0.5, r = 1\n"
                           "model {\n"
                           "  x[1] ~ normal(0, q / sqrt(1 - a^2))\n"
                           "  for (t in 2:T) { x[t] ~ normal(a * x[t-1], q) }\n"
                           "  for (t in 1:T) { y[t] ~ normal(x[t], r) }\n"
                           "}\nobserve y\n";

static void run(int num_times, double *seconds)
{
    struct str data = {0};
    struct model *m = model_new();
    struct gnet g;
    struct gpost p;
    double at[STEPS];
    make_data(num_times, &data);
    at[READ] = now(CLOCK_THREAD_CPUTIME_ID);
    check(m && !data.oom ? 0 : NAMI_ENOMEM);
    check(model_give_data(m, data.s, data.n, &err));
    check(model_parse(m, "lgssm.nami", text, strlen(text), NATIVE, NULL, &err));
    at[AFFINE] = now(CLOCK_THREAD_CPUTIME_ID);
    check(gnet_read(m, &g, &err));
    at[POSTERIOR] = now(CLOCK_THREAD_CPUTIME_ID);
    double *x = calloc((size_t)g.n, sizeof *x), *variance = calloc((size_t)g.n, sizeof *x);
    double *draws = calloc((size_t)g.n * NUM_DRAWS, sizeof *draws);
    check(x && variance && draws ? 0 : NAMI_ENOMEM);
    check(gnet_evidence(&g, m, m->source.data.set.a, x, &err));
    check(gpost_new(&g, x, &p, &err));
    at[VARIANCES] = now(CLOCK_THREAD_CPUTIME_ID);
    check(gpost_variances(&p, variance, &err));
    at[DRAWS] = now(CLOCK_THREAD_CPUTIME_ID);
    check(gpost_draw(&p, 1, 0, NUM_DRAWS, 1, draws, &err));
    at[TOTAL] = now(CLOCK_THREAD_CPUTIME_ID);
    for (int k = 0; k < TOTAL; k++) seconds[k] = at[k + 1] - at[k];
    seconds[TOTAL] = at[TOTAL] - at[READ];
    printf("T=%-8d", num_times);
    for (int k = 0; k < STEPS; k++) printf(" %s=%.4fs", step_names[k], seconds[k]);
    printf(" numbers_of_L=%lld log_p=%.10g\n", (long long)p.precision.num_entries, p.log_evidence);
    gpost_free(&p);
    gnet_free(&g);
    free(x), free(variance), free(draws);
    model_free(m);
    str_free(&data);
}

int main(int argc, char **argv)
{
    int most = argc > 1 ? atoi(argv[1]) : 1000000;
    double seconds[2][STEPS];
    int n = 0;
    for (int T = FIRST; T <= most; T *= 10, n++) run(T, seconds[n % 2]);
    if (n < 2) return 0;
    printf("exponent  ");
    for (int k = 0; k < STEPS; k++)
        printf(" %s=%.2f", step_names[k], log10(seconds[(n - 1) % 2][k] / seconds[n % 2][k]));
    printf("\n");
    return 0;
}
