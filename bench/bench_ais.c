/* bench_ais: annealed importance sampling in a model with a network inside, vae.nami, on one
   thread: gradients of log p(x, z) a second, and the share of what the machine could do.

       bench_ais FILE.nami DATA.json [SETS] [TEMPS]

   The model's weights and the network's are as they start. */
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "infer/ais.h"
#include "model/model.h"
#include "model/problem.h"
#include "peak.h"

static nami_err err;

static void check(int rc)
{
    if (!rc) return;
    fprintf(stderr, "bench_ais: %s\n", err.msg);
    exit(1);
}

/* Multiplications of one lane by weights, forwards. */
static double products(const struct prog *p)
{
    double sum = 0;
    for (size_t i = 0; i < p->code.n; i++)
        if (p->code.a[i].kind == I_DENSE) {
            const struct dense *d = p->code.a[i].self;
            sum += (double)d->n * d->in * d->out;
        }
    return sum;
}

int main(int argc, char **argv)
{
    if (argc < 3) return 2;
    size_t nset = argc > 3 ? (size_t)atoi(argv[3]) : 64, chains = 5;
    struct ais_options o = {AIS_NETWORK, argc > 4 ? atoi(argv[4]) : 100, 10};
    struct net_options net = {.nhidden = 1, .hidden = {100}, .act = ACT_RELU, .skip = -1};
    const char *data = argv[2];
    struct model m = {0};
    struct inversion v;
    struct inverse *h;
    struct qnet q;
    struct infer a;
    struct ais s;
    check(model_read(&m, argv[1], &data, 1, NULL, &err));
    check(inversion_init(&v, m.ir.bn, NULL, &err) || inversion_run(&v, &h, &err));
    check(qnet_make(&q, &m, h, &net, NULL, 1, &err));
    float *param = calloc(q.prog.nparam + 1, sizeof *param);
    double *x = calloc((size_t)m.ir.num_rows * nset, sizeof *x);
    double *logw = calloc(nset * chains, sizeof *logw), *accept = calloc(nset, sizeof *accept);
    struct diagnostics *found = calloc(nset, sizeof *found);
    qnet_start(&q, 1, param);
    check(infer_init(&a, &q, param, &err));
    for (size_t i = 0; i < nset; i++) check(infer_data(&m, m.source.data.set.a, nset, i, x, &err));
    check(ais_init(&s, &a, &o, &err));
    struct query ask = {.x = x, .nset = nset, .per = chains, .seed = 1};
    struct ais_out out = {logw, found, accept};
    double most = fma_peak(), t = now(CLOCK_PROCESS_CPUTIME_ID);
    check(ais_sets(&s, &ask, 0, nset, 1, &out, &err));
    t = now(CLOCK_PROCESS_CPUTIME_ID) - t;
    /* both runs; the values at the end of moves count as the forward half */
    double pilot = o.temps > 50 ? (o.temps > 500 ? o.temps / 10 : 50) : o.temps;
    double moves = (double)nset * ((double)chains * (o.temps - 1) + AIS_TUNERS * (pilot + 9));
    double flops = moves * (4.0 * o.leapfrog + 2) * products(&s.joint.prog);
    printf("sets=%zu chains=%zu temps=%d cpu=%.2fs lane_gradients_per_s=%.0f gflops=%.1f "
           "peak=%.1f share=%.2f log_z=%.2f se=%.2f accept=%.2f\n",
           nset, chains, o.temps, t, moves * o.leapfrog / t, flops / t / 1e9, most,
           flops / t / 1e9 / most, found[0].log_z, found[0].log_se, accept[0]);
    ais_fini(&s);
    infer_fini(&a);
    qnet_free(&q);
    inverse_free(h);
    inversion_fini(&v);
    model_fini(&m);
    free(param), free(x), free(logw), free(accept), free(found);
    return 0;
}
