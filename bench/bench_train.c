/* bench_train: steps of training a second, for the five networks of PERF.md, on the d = 5 tree:

       bench_train NET THREADS STEPS      NET: a b c d e, or peak

     a  heuristic inverse, 15 networks 2 x 100        c  fully connected, masked, 2 x 501
     b  forward inverse, 15 networks 2 x 97           d  reverse inverse, masked, 2 x 1210
     e  relaxed-Bernoulli VAE, 784-200-200-30 and back, mean field, batch 100

   All are what `nami train` runs.  Prints one line of key=value, as torch_baseline.py does. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "bench.h"
#include "model/model.h"
#include "peak.h"
#include "train/training.h"

static const char tree[] = "const n = 31\n"
                           "const w[n]\n"
                           "model {\n"
                           "  x[1] ~ normal(0, 1)\n"
                           "  for (i in 2:n) { x[i] ~ normal(w[i] * x[i %/% 2], 1) }\n"
                           "}\n"
                           "observe x[16:31]\n";

static const char vae[] =
    "network dec : real[30] -> real[784] { dense(200, tanh); dense(200, tanh); dense(784) }\n"
    "model {\n"
    "  for (l in 1:30) { h[l] ~ relaxed_bernoulli(2/3, 0.5) }\n"
    "  a[1:784] <- dec(h[1:30])\n"
    "  for (p in 1:784) { x[p] ~ bernoulli_logit(a[p]) }\n"
    "}\n"
    "observe x\n"
    "learn dec\n";
enum { IMAGES = 10000, PIXELS = 784, IMAGE_BATCH = 100 };

static const struct peer {
    char name;
    const char *method, *mode;
    const struct arch *arch;
    int hidden;
} nets[] = {
    {'a', "stuhlmuller", NULL, &arch_mlp, 100},
    {'b', "nami", "forward", &arch_mlp, 97},
    {'c', "full", NULL, &arch_made, 501},
    {'d', "nami", "reverse", &arch_made, 1210},
};

static void die(const nami_err *err)
{
    fprintf(stderr, "bench_train: %s\n", err->msg);
    exit(1);
}

static void make_tree(struct training *r, const struct peer *n)
{
    nami_err err = {0};
    struct str data = {0};
    str_put(&data, "{\"w\":[");
    for (int i = 0; i < 31; i++) str_printf(&data, "%s%.17g", i ? "," : "", 0.5 + i / 31.0);
    str_put(&data, "]}");
    r->net.model = r->net.own_model = model_new();
    r->net.plan = (struct plan){.invert = {.method = n->method, .mode = n->mode, .verify = "none"},
                            .net = {.arch = n->arch,
                                    .nhidden = 2,
                                    .hidden = {n->hidden, n->hidden},
                                    .act = ACT_RELU,
                                    .skip = -1}};
    if (data_parse(&r->net.model->source.data, data.s, data.n, &err) ||
        model_parse(r->net.model, "tree", tree, strlen(tree), NATIVE, NULL, &err) ||
        training_prepare(r, 1, &err))
        die(&err);
    str_free(&data);
}

static void make_vae(struct training *r)
{
    nami_err err = {0};
    r->net.model = r->net.own_model = model_new();
    r->net.plan = (struct plan){
        .invert = {.method = "mean-field", .verify = "none"},
        .net = {.arch = &arch_made, .nhidden = 2, .hidden = {200, 200}, .act = ACT_TANH},
        .elbo = 1};
    if (model_parse(r->net.model, "vae", vae, strlen(vae), NATIVE, NULL, &err) ||
        training_prepare(r, 1, &err))
        die(&err);
}

/* Ten thousand images, a fifth of their pixels on; a hundred of them at random. */
struct images {
    struct feeds feeds;
    int index[IMAGE_BATCH];
};

static void make_images(struct images *s, const struct model *m)
{
    struct feed x = {.r = {.ndim = 1, .dim = {PIXELS}, .n = IMAGES, .k = PIXELS}};
    unsigned char *pixel = malloc((size_t)IMAGES * PIXELS);
    struct rng r;
    int n = 0;
    x.row = malloc(sizeof *x.row * PIXELS);
    if (!pixel || !x.row) abort();
    rng_init(&r, 3, 0);
    for (int i = 0; i < IMAGES * PIXELS; i++) pixel[i] = rng_unit(&r) < 0.2;
    for (int i = 0; i < 256; i++) x.r.byte[i] = i;
    x.r.x = pixel;
    for (int e = 0; e < m->ir.num_elements; e++)
        if (m->ir.observed[e]) x.row[n++] = m->ir.row[e];
    s->feeds = (struct feeds){.n = IMAGES};
    if (vec_push(&s->feeds.feed, x)) abort();
}

static struct batch some_images(struct images *s, int step)
{
    struct rng r;
    rng_init(&r, 4, (uint64_t)step);
    for (int i = 0; i < IMAGE_BATCH; i++) s->index[i] = (int)(rng_unit(&r) * IMAGES);
    return (struct batch){
        .feeds = &s->feeds, .index = s->index, .seed = 5, .first = (uint64_t)step * 104};
}

/* Steps of the trainer; the loss is the mean of the last tenth. */
static void measure(struct trainer *t, char name, int threads, int steps, struct images *images)
{
    enum { WARM = 30 };
    double *time = malloc(sizeof *time * (size_t)steps), loss = 0, flops = 0;
    int tail = steps / 10 > 0 ? steps / 10 : 1;
    if (!time) abort();
    for (int i = -WARM; i < steps; i++) {
        struct batch b = {.seed = 7, .first = (uint64_t)(i + WARM) * trainer_stride(t)};
        if (images) b = some_images(images, i + WARM);
        double start = now(CLOCK_MONOTONIC);
        trainer_gradient(t, &b);
        trainer_apply(t, 1e-3, 0);
        if (i >= 0) time[i] = now(CLOCK_MONOTONIC) - start;
        if (i >= steps - tail) loss += t->total / tail;
    }
    for (size_t i = 0; i < t->prog->code.n; i++) { /* forward, by inputs, by weights */
        if (t->prog->code.a[i].kind != I_DENSE) continue;
        const struct dense *d = t->prog->code.a[i].self;
        flops += 2.0 * t->batch * d->n * d->out * (2.0 * d->in + d->back);
    }
    double p50 = 1 / median(time, steps), most = fma_peak() * 1e9 * threads;
    double p5 = 1 / time[steps / 20]; /* sorted by now */
    printf("p50_steps_per_s=%.2f p5_steps_per_s=%.2f net=%c threads=%d batch=%d gemm_mflop=%.1f "
           "gflops=%.1f peak=%.1f "
           "share=%.3f params=%zu loss=%.4f\n",
           p50, p5, name, threads, t->batch, flops / 1e6, flops * p50 / 1e9, most / 1e9,
           flops * p50 / most, t->nparam, loss);
    free(time);
}

int main(int argc, char **argv)
{
    nami_err err = {0};
    struct training r = {0};
    struct trainer t;
    if (argc == 2 && strcmp(argv[1], "peak") == 0) return printf("%.1f GFLOP/s\n", fma_peak()) < 0;
    if (argc != 4 || !argv[1][0] || argv[1][1] || !strchr("abcde", argv[1][0])) {
        fprintf(stderr, "usage: bench_train a|b|c|d|e THREADS STEPS\n");
        return 2;
    }
    int threads = atoi(argv[2]), steps = atoi(argv[3]);
    if (argv[1][0] == 'e') {
        struct bound_options once = {1, 1, 0};
        struct images images;
        make_vae(&r);
        make_images(&images, r.net.model);
        if (trainer_make(&t, &r.net.q, &r.net.elbo, &once, IMAGE_BATCH, threads, &err)) die(&err);
        measure(&t, 'e', threads, steps, &images);
        feeds_free(&images.feeds);
    } else {
        make_tree(&r, &nets[argv[1][0] - 'a']);
        if (trainer_make(&t, &r.net.q, NULL, NULL, 250, threads, &err)) die(&err);
        measure(&t, argv[1][0], threads, steps, NULL);
    }
    trainer_free(&t);
    training_free(&r);
    return 0;
}
