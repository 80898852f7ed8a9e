/* bench_product: the layers of networks on one thread, GFLOP/s of forward / back / weights for
   each set of kernels and for OpenBLAS (products alone: no bias, no ReLU, no gathering), and what
   the machine could do: fused multiply-adds in registers.  The best of many short, interleaved
   rounds (others may use the machine).

       bench_product [float|double] [PART OF A SHAPE'S NAME] */
#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "bench.h"
#include "peak.h"
#include "tensor/product_tile.h"
#ifdef HAVE_CBLAS
#include <cblas.h>
void openblas_set_num_threads(int n);
#endif

enum { ROUNDS = 40, SETS = 4, JOBS = 3, MOST_CHUNKS = 4 };
static const double LEAST = 2e-4; /* seconds in a round */
static const char *const sets[SETS] = {"any", "avx2", "avx512", "OpenBLAS"};

struct shape {
    const char *name;
    int nets, n, in, out, L[MOST_CHUNKS];
};

static const struct shape shapes[] = {
    {"250: 2-100", 1, 1, 2, 100, {64, 64, 64, 64}},
    {"250: 16-100", 1, 1, 16, 100, {64, 64, 64, 64}},
    {"250: 100-100", 1, 1, 100, 100, {64, 64, 64, 64}},
    {"250: 100-100 x 15", 15, 1, 100, 100, {64, 64, 64, 64}},
    {"250: 100-3", 1, 1, 100, 3, {64, 64, 64, 64}},
    {"250: 34-34", 1, 1, 34, 34, {64, 64, 64, 64}},
    {"250: 501-501", 1, 1, 501, 501, {64, 64, 64, 64}},
    {"250: 501-31", 1, 1, 501, 31, {64, 64, 64, 64}},
    {"250: 1210-8", 1, 1, 1210, 8, {64, 64, 64, 64}},
    {"250: 1210-34", 1, 1, 1210, 34, {64, 64, 64, 64}},
    {"250: conv 60 x 25-16", 1, 60, 25, 16, {64, 64, 64, 64}},
    {"250: conv 600 x 25-16", 1, 600, 25, 16, {64, 64, 64, 64}},
    {"100: 784-200", 1, 1, 784, 200, {32, 24, 24, 24}},
    {"100: 200-200", 1, 1, 200, 200, {32, 24, 24, 24}},
    {"100: 200-784", 1, 1, 200, 784, {32, 24, 24, 24}},
};

/* The layers of a shape, and their numbers. */
struct work {
    const struct shape *s;
    int lanes;
    size_t width; /* of a number */
    struct dense *d;
    struct chunk c[MOST_CHUNKS];
    void *param, *grad, *x, *y; /* x, y: for OpenBLAS, all chunks beside each other */
};

static void *numbers(struct rng *r, size_t n, size_t width)
{
    void *p = aligned_alloc(64, (n * width + 63) / 64 * 64);
    if (!p) abort();
    for (size_t i = 0; i < n; i++) {
        double v = rng_unit(r) - 0.5;
        if (width == sizeof(float))
            ((float *)p)[i] = (float)v;
        else
            ((double *)p)[i] = v;
    }
    return p;
}

static void work_new(struct work *k, const struct shape *s, size_t width)
{
    struct rng r;
    rng_init(&r, 1, 0);
    *k = (struct work){.s = s, .width = width, .d = calloc((size_t)s->nets, sizeof *k->d)};
    int order[256];
    for (int i = 0; i < 256; i++) order[i] = i;
    int read = s->n > 1 ? 784 : s->in, units = read + s->n * s->out, cap = s->L[0];
    for (int i = 0; i < MOST_CHUNKS; i++) k->lanes += s->L[i];
    for (int t = 0; t < s->nets; t++) {
        int *from = malloc(sizeof *from * (size_t)s->n * (size_t)s->in);
        if (!from || !k->d) abort();
        rng_shuffle(&r, order, s->in / 8);
        for (int i = 0; i < s->n * s->in; i++) { /* runs of eight units; or 5 x 5 of 28 x 28 */
            int j = i % s->in, eight = i / 8 < s->in / 8 ? order[i / 8] : i / 8;
            from[i] = t * units + (s->n > 1 ? i / s->in + j / 5 * 28 + j % 5 : eight * 8 + i % 8);
        }
        size_t w = (size_t)t * (size_t)s->out * (size_t)(s->in + 1);
        k->d[t] = (struct dense){.n = s->n,
                                 .in = s->in,
                                 .out = s->out,
                                 .act = ACT_RELU,
                                 .back = s->in,
                                 .from = from,
                                 .to = t * units + read,
                                 .w = w};
    }
    size_t nparam = (size_t)s->nets * (size_t)s->out * (size_t)(s->in + 1);
    k->param = numbers(&r, nparam, width);
    k->grad = numbers(&r, nparam, width);
    for (int i = 0; i < MOST_CHUNKS; i++) {
        size_t n = (size_t)s->nets * (size_t)units * (size_t)cap;
        k->c[i] = (struct chunk){
            .unit = numbers(&r, n, width), .adj = numbers(&r, n, width), .cap = cap, .L = s->L[i]};
    }
    size_t beside = (size_t)s->nets * (size_t)s->n * (size_t)k->lanes;
    k->x = numbers(&r, beside * (size_t)s->in, width);
    k->y = numbers(&r, beside * (size_t)s->out, width);
}

static void work_free(struct work *k)
{
    for (int t = 0; t < k->s->nets; t++) free((void *)k->d[t].from);
    for (int i = 0; i < MOST_CHUNKS; i++) free(k->c[i].unit), free(k->c[i].adj);
    free(k->d), free(k->param), free(k->grad), free(k->x), free(k->y);
}

static void own(const struct product *f, int job, struct work *k)
{
    for (int i = 0; i < MOST_CHUNKS && job < 2; i++)
        for (int t = 0; t < k->s->nets; t++)
            (job ? f->back : f->forward)(&k->d[t], k->param, &k->c[i]);
    for (int t = 0; t < k->s->nets && job == 2; t++)
        f->weights(&k->d[t], k->c, MOST_CHUNKS, 0, k->s->out, k->grad);
}

#ifdef HAVE_CBLAS
/* Rows are units, columns all lanes. */
#define BLAS(name, gemm, real)                                                                     \
    static void name(int job, struct work *k)                                                      \
    {                                                                                              \
        int in = k->s->in, out = k->s->out, B = k->s->n * k->lanes;                                \
        for (int t = 0; t < k->s->nets; t++) {                                                     \
            real *w = (real *)(job == 2 ? k->grad : k->param) + k->d[t].w;                         \
            real *x = (real *)k->x + (size_t)t * (size_t)in * (size_t)B;                           \
            real *y = (real *)k->y + (size_t)t * (size_t)out * (size_t)B;                          \
            if (job == 0) /* y = w x */                                                            \
                gemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, out, B, in, 1, w, in, x, B, 0, y,  \
                     B);                                                                           \
            if (job == 1) /* x += w^T y */                                                         \
                gemm(CblasRowMajor, CblasTrans, CblasNoTrans, in, B, out, 1, w, in, y, B, 1, x,    \
                     B);                                                                           \
            if (job == 2) /* w = y x^T */                                                          \
                gemm(CblasRowMajor, CblasNoTrans, CblasTrans, out, in, B, 1, y, B, x, B, 0, w,     \
                     in);                                                                          \
        }                                                                                          \
    }
BLAS(blas_float, cblas_sgemm, float)
BLAS(blas_double, cblas_dgemm, double)
#endif

static void run(int set, int job, struct work *k)
{
    const struct product *f = product_find(sets[set], k->width == sizeof(float));
    if (f) own(f, job, k);
#ifdef HAVE_CBLAS
    if (set == SETS - 1) (k->width == sizeof(float) ? blas_float : blas_double)(job, k);
#endif
}

static int there(int set, int is_float)
{
#ifdef HAVE_CBLAS
    if (set == SETS - 1) return 1;
#endif
    return product_find(sets[set], is_float) != NULL;
}

/* ---------------------------------------------------------------------------------------- */

/* Seconds of one run() */
static double once(int set, int job, struct work *k, int times)
{
    double t = now(CLOCK_MONOTONIC);
    for (int i = 0; i < times; i++) run(set, job, k);
    return (now(CLOCK_MONOTONIC) - t) / times;
}

static void measure(const struct shape *s, int is_float)
{
    struct work k;
    work_new(&k, s, is_float ? sizeof(float) : sizeof(double));
    double flop = 2.0 * s->nets * s->n * s->in * s->out * k.lanes, machine = 0;
    double rate[SETS][JOBS] = {{0}};
    int times[SETS][JOBS];
    for (int i = 0; i < SETS * JOBS; i++) {
        if (!there(i / JOBS, is_float)) continue;
        once(i / JOBS, i % JOBS, &k, 1);
        times[i / JOBS][i % JOBS] = 1 + (int)(LEAST / once(i / JOBS, i % JOBS, &k, 1));
    }
    for (int r = 0; r < ROUNDS; r++) {
        double t = now(CLOCK_MONOTONIC), done = peak(is_float);
        done /= now(CLOCK_MONOTONIC) - t;
        if (done > machine) machine = done;
        for (int i = 0; i < SETS * JOBS; i++) {
            int set = i / JOBS, job = i % JOBS;
            if (!there(set, is_float)) continue;
            double g = flop / once(set, job, &k, times[set][job]);
            if (g > rate[set][job]) rate[set][job] = g;
        }
    }
    printf("%-22s %6.0f", s->name, machine / 1e9);
    for (int set = 0; set < SETS; set++) {
        printf("  |");
        for (int job = 0; job < JOBS; job++) printf(" %4.0f", rate[set][job] / 1e9);
    }
    const double *best = rate[strcmp(product_best(is_float)->name, "avx512") ? 1 : 2];
    printf("  |");
    for (int job = 0; job < JOBS; job++) printf(" %3.0f", 100 * best[job] / machine);
    printf("\n");
    fflush(stdout);
    work_free(&k);
}

int main(int argc, char **argv)
{
    int is_float = argc < 2 || strcmp(argv[1], "double");
#ifdef HAVE_CBLAS
    openblas_set_num_threads(1);
#endif
    printf("GFLOP/s, %s; forward back weights\n%-22s %6s", is_float ? "float" : "double",
           "lanes: in-out", "peak");
    for (int set = 0; set < SETS; set++) printf("  | %-14s", sets[set]);
    printf("  | %% of peak\n");
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (argc < 3 || strstr(shapes[i].name, argv[2])) measure(&shapes[i], is_float);
    return 0;
}
