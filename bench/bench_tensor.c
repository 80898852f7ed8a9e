/* bench_tensor: random numbers and the evaluator, nanoseconds for each number, one
   thread: the best of many short rounds (others may use the machine). */
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "tensor/tensor.h"

enum { ROUNDS = 400 };

/* Nanoseconds for each of `count` things that f(ctx) does. */
static double best(void (*f)(void *), void *ctx, double count)
{
    double least = 1e300;
    for (int r = 0; r < ROUNDS; r++) {
        double t = now(CLOCK_MONOTONIC);
        f(ctx);
        t = now(CLOCK_MONOTONIC) - t;
        if (t < least) least = t;
    }
    return 1e9 * least / count;
}

struct numbers {
    void (*draw)(const struct stream *, int, double *);
    int n;
    double out[1024];
};

enum { CALLS = 64 };

static void numbers(void *ctx)
{
    struct numbers *c = ctx;
    for (int i = 0; i < CALLS; i++) {
        struct stream s = {42, (uint32_t)i, 0};
        c->draw(&s, c->n, c->out);
    }
}

static void run(void *x) { exec_run(x); }

static void run_and_back(void *x)
{
    exec_run(x);
    exec_back(x);
}

static struct instr map_of(const struct op *op, int n, int out)
{
    return (struct instr){.kind = I_MAP,
                          .n = n,
                          .width = 1,
                          .out = out,
                          .narg = op->min_arg,
                          .self = op,
                          .map = op->map,
                          .map_grad = op->map_grad};
}

/* rows: a (n), b (n), c (n), b * c, a + b * c, exp of it; gathered through idx if there is one */
static void evaluate(const char *what, int n, int lanes, int cap, const int *idx)
{
    struct prog p = {.nrow = 6 * n, .nnode = 3 * n};
    struct exec x;
    struct instr m[3] = {map_of(&op_mul, n, 3 * n), map_of(&op_add, n, 4 * n),
                         map_of(&op_exp, n, 5 * n)};
    m[0].arg[0] = (struct operand){.m = 1, .base = n, .si = 1, .idx = idx};
    m[0].arg[1] = (struct operand){.m = 1, .base = 2 * n, .si = 1};
    m[1].arg[0] = (struct operand){.m = 1, .base = 0, .si = 1};
    m[1].arg[1] = (struct operand){.m = 1, .base = 3 * n, .si = 1};
    m[2].arg[0] = (struct operand){.m = 1, .base = 4 * n, .si = 1};
    m[2].sum = 1;
    double ns[3];
    for (int k = 0; k < 3; k++) {
        p.code.n = 0;
        for (int j = 0; j < 2 + (k > 0); j++)
            if (vec_push(&p.code, m[j])) abort();
        if (exec_init(&x, &p, cap, 0, EXEC_GRAD, NULL)) abort();
        for (int i = 0; i < 3 * n * cap; i++) x.row[i] = 1e-3 * (i % 997);
        x.lanes = lanes;
        ns[k] = best(k < 2 ? run : run_and_back, &x, (double)n * lanes);
        exec_fini(&x);
    }
    printf("%-28s %10.2f %14.2f %20.2f\n", what, ns[0], ns[1], ns[2]);
    prog_free(&p);
}

int main(void)
{
    struct numbers c = {.n = 0};
    printf("ns per number                   n=8     n=64    n=256   n=1024\n");
    for (int k = 0; k < 2; k++) {
        c.draw = k ? stream_normal : stream_uniform;
        printf("%-28s", k ? "normal" : "uniform");
        for (int i = 0; i < 4; i++) {
            c.n = (int[]){8, 64, 256, 1024}[i];
            printf(" %8.2f", best(numbers, &c, (double)CALLS * c.n));
        }
        printf("\n");
    }
    int idx[1000];
    for (int i = 0; i < 1000; i++) idx[i] = 1000 + i * 7 % 1000;
    printf("\nns per element                a + b * c   exp(a + b * c)   with derivatives\n");
    evaluate("1000 rows, 1 lane", 1000, 1, 1, NULL);
    evaluate("1000 rows, 1 lane, gathered", 1000, 1, 1, idx);
    evaluate("1000 rows, 1 lane of 8", 1000, 1, 8, NULL);
    evaluate("1000 rows, 1 lane of 8, gath.", 1000, 1, 8, idx);
    evaluate("1000 rows, 8 lanes", 1000, 8, 8, NULL);
    evaluate("1000 rows, 8 lanes, gathered", 1000, 8, 8, idx);
    evaluate("30 rows, 64 lanes", 30, 64, 64, NULL);
    evaluate("30 rows, 100 lanes of 256", 30, 100, 256, NULL);
    evaluate("30 rows, 256 lanes", 30, 256, 256, NULL);
    return 0;
}
