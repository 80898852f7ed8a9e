/* test_op.c: the functions of the model language agree with their records: derivatives with
   finite differences, ranges with values, shapes; and layers of networks. */
#include "run.h"

#include <math.h>
#include <stdlib.h>

#include "base/rng.h"
#include "tensor/tensor.h"

enum { LANES = 5 };

static double uniform(struct rng *r, double lo, double hi) { return lo + (hi - lo) * rng_unit(r); }

static void assert_near(double a, double b, double tol, const char *what)
{
    if (!(fabs(a - b) <= tol * (1 + fabs(a) + fabs(b))))
        fail_msg("%s: %.12g, not %.12g", what, a, b);
}

static double call(const struct op *op, const double *x)
{
    const double *a[] = {&x[0], &x[1], &x[2]};
    double out;
    op->map(op, 1, &out, a);
    return out;
}

static int given(const double *x) { return x[0] != 0 || x[1] != 0 || x[2] != 0; }

static void records(void **state)
{
    (void)state;
    for (int k = 0; ops[k]; k++) {
        const struct op *op = ops[k];
        assert_true(op->name && *op->name && op->args && *op->args && op->what && *op->what);
        assert_true(op->min_arg >= 1 && (op->max_arg == -1 || op->max_arg >= op->min_arg));
        assert_true(!op->map != !op->block);
        assert_true(!op->block || op->shape);
        assert_true(!op->map || given(op->try_at[0]));
        if (op != &op_neg) assert_ptr_equal(op_find(op->name, strlen(op->name)), op);
    }
    assert_ptr_equal(op_find("pow", 3), &op_pow);
    assert_ptr_equal(op_find("inv_logit(", 9), &op_ilogit);
    assert_ptr_equal(op_find("lgamma", 6), &op_loggam);
    assert_null(op_find("expo", 4));
    assert_null(op_find("", 0));
}

static void map_gradients(void **state)
{
    (void)state;
    for (int k = 0; ops[k]; k++) {
        const struct op *op = ops[k];
        if (!op->map || !op->map_grad) continue;
        for (int t = 0; t < OP_TRIES && given(op->try_at[t]); t++) {
            const double *x = op->try_at[t], one = 1, *a[] = {&x[0], &x[1], &x[2]};
            double d[3] = {0}, *da[] = {&d[0], &d[1], &d[2]}, out = call(op, x);
            op->map_grad(op, 1, &out, &one, a, da);
            for (int j = op == &op_ifelse; j < op->min_arg; j++) {
                double h = 1e-6 * fmax(1, fabs(x[j])), up[] = {x[0], x[1], x[2]},
                       down[] = {x[0], x[1], x[2]}, *none[3] = {0};
                up[j] += h, down[j] -= h;
                assert_near(d[j], (call(op, up) - call(op, down)) / (2 * h), 1e-7, op->name);
                op->map_grad(op, 1, &out, &one, a, none); /* nothing wanted: nothing written */
            }
        }
    }
}

/* f of points in a box lies in the range of the box. */
static void ranges(void **state)
{
    (void)state;
    struct rng r;
    rng_init(&r, 3, 0);
    for (int k = 0; ops[k]; k++) {
        const struct op *op = ops[k];
        if (!op->map || !op->range) continue;
        for (int t = 0; t < 2000; t++) {
            const double *at = op->try_at[rng_below(&r, OP_TRIES)];
            double lo[3], hi[3], x[3], out[2];
            if (!given(at)) continue;
            for (int j = 0; j < 3; j++) {
                double w = pow(10, uniform(&r, -3, 1));
                lo[j] = at[j] - w * rng_unit(&r), hi[j] = at[j] + w * rng_unit(&r);
                if (rng_below(&r, 9) == 0) lo[j] = -INFINITY;
                if (rng_below(&r, 9) == 0) hi[j] = INFINITY;
                x[j] = uniform(&r, fmax(lo[j], at[j] - 20), fmin(hi[j], at[j] + 20));
            }
            op->range(op->min_arg, lo, hi, out);
            double y = call(op, x);
            if (isnan(y)) continue;
            if (!(y >= out[0] - 1e-12 * fabs(y) && y <= out[1] + 1e-12 * fabs(y)))
                fail_msg("%s(%g, %g, %g) = %g is outside [%g, %g]", op->name, x[0], x[1], x[2], y,
                         out[0], out[1]);
        }
    }
}

static void check_range(const struct op *op, double l0, double h0, double l1, double h1,
                        double least, double greatest)
{
    double lo[] = {l0, l1}, hi[] = {h0, h1}, out[2];
    op->range(op->max_arg == 1 ? 1 : 2, lo, hi, out);
    if (out[0] != least || out[1] != greatest)
        fail_msg("%s: [%g, %g], not [%g, %g]", op->name, out[0], out[1], least, greatest);
}

/* What the check "sigma must be positive" relies on. */
static void positive(void **state)
{
    (void)state;
    const double inf = INFINITY, tiny = 0x1p-1074;
    check_range(&op_exp, -inf, inf, 0, 0, tiny, inf);
    check_range(&op_mul, tiny, inf, tiny, inf, tiny, inf);
    check_range(&op_div, 1, 1, tiny, inf, tiny, inf);
    check_range(&op_div, 1, 1, 0, inf, tiny, inf);
    check_range(&op_div, 1, 1, -1, 1, -inf, inf);
    check_range(&op_sqrt, tiny, inf, 0, 0, sqrt(tiny), inf);
    check_range(&op_add, 0, inf, tiny, inf, tiny, inf);
    check_range(&op_sub, 0, inf, 0, inf, -inf, inf);
    check_range(&op_pow, tiny, inf, -0.5, -0.5, tiny, 1 / sqrt(tiny));
    check_range(&op_ilogit, -inf, inf, 0, 0, tiny, 1 - 0x1p-53);
    check_range(&op_abs, -3, 2, 0, 0, 0, 3);
    check_range(&op_max, -inf, inf, 0.1, 0.1, 0.1, inf);
    check_range(&op_sum, tiny, inf, tiny, inf, tiny, inf);
    check_range(&op_mean, 0, 1, 0, 1, 0, 1);
}

/* ---- block functions ---------------------------------------------------------------- */

struct shapes {
    const char *name;
    int narg, in[4][SHAPE];
    const char *out; /* the result's shape, or what the sentence must contain */
    int bad;
};

static const struct shapes cases[] = {
    {"sum", 1, {{1, 5}}, "", 0},
    {"sum", 3, {{1, 5}, {0}, {2, 2, 3}}, "", 0},
    {"mean", 1, {{2, 2, 3}}, "", 0},
    {"prod", 1, {{1, 5}}, "", 0},
    {"prod", 2, {{0}, {0}}, "", 0},
    {"sd", 1, {{1, 5}}, "", 0},
    {"sd", 1, {{0}}, "at least two", 1},
    {"max", 3, {{0}, {1, 4}, {0}}, "", 0},
    {"min", 2, {{0}, {0}}, "", 0},
    {"inprod", 2, {{1, 4}, {1, 4}}, "", 0},
    {"inprod", 2, {{1, 4}, {1, 3}}, "length", 1},
    {"%*%", 2, {{2, 2, 3}, {2, 3, 4}}, "2 4", 0},
    {"%*%", 2, {{2, 2, 3}, {1, 3}}, "2", 0},
    {"%*%", 2, {{1, 2}, {2, 2, 3}}, "3", 0},
    {"%*%", 2, {{1, 3}, {1, 3}}, "", 0},
    {"%*%", 2, {{1, 3}, {2, 1, 2}}, "3 2", 0},
    {"%*%", 2, {{2, 3, 1}, {1, 2}}, "3 2", 0},
    {"%*%", 2, {{2, 2, 3}, {2, 2, 3}}, "rows", 1},
    {"%*%", 2, {{3, 2, 3, 1}, {1, 1}}, "vectors and matrices", 1},
    {"c", 3, {{0}, {1, 3}, {2, 2, 2}}, "8", 0},
    {"rep", 2, {{1, 3}, {SHAPE_VALUE, 2}}, "6", 0},
    {"rep", 2, {{0}, {SHAPE_VALUE, 4}}, "4", 0},
    {"rep", 2, {{1, 3}, {0}}, "constant", 1},
    {"rep", 2, {{1, 3}, {SHAPE_VALUE, 0}}, "1 or more", 1},
    {"t", 1, {{2, 2, 3}}, "3 2", 0},
    {"t", 1, {{1, 3}}, "1 3", 0},
    {"t", 1, {{3, 2, 2, 2}}, "transposed", 1},
    {"diag", 1, {{1, 3}}, "3 3", 0},
    {"diag", 2, {{0}, {0}}, "2 2", 0},
    {"diag", 1, {{2, 3, 3}}, "3", 0},
    {"diag", 1, {{2, 3, 2}}, "square", 1},
    {"diag", 2, {{1, 3}, {0}}, "one vector", 1},
    {"inverse", 1, {{2, 3, 3}}, "3 3", 0},
    {"inverse", 1, {{2, 1, 1}}, "1 1", 0},
    {"inverse", 1, {{2, 3, 2}}, "square", 1},
    {"logdet", 1, {{2, 4, 4}}, "", 0},
    {"logdet", 1, {{1, 4}}, "square", 1},
    {"sort", 1, {{1, 7}}, "7", 0},
    {"sort", 1, {{2, 2, 2}}, "one vector", 1},
    {"rank", 1, {{1, 7}}, "7", 0},
    {"order", 1, {{1, 7}}, "7", 0},
    {"interp.lin", 3, {{0}, {1, 4}, {1, 4}}, "", 0},
    {"interp.lin", 3, {{0}, {1, 4}, {1, 3}}, "length", 1},
    {"interp.lin", 3, {{0}, {1, 1}, {1, 1}}, "two points", 1},
    {"interp.lin", 3, {{1, 2}, {1, 4}, {1, 4}}, "number", 1},
};

enum { MOST = 32 };

struct block_call {
    const struct op *op;
    const void *self;
    int dim[INSTR_DIMS], nin, nout;
    double in[MOST][LANES], out[MOST][LANES];
    int step[MOST];
};

static int size_of(const int *s)
{
    return s[0] == 0 ? 1 : s[0] == 1 ? s[1] : s[0] == 2 ? s[1] * s[2] : s[1] * s[2] * s[3];
}

static void run_block(struct block_call *c)
{
    struct lanes a[MOST];
    double *out[MOST], work[1024];
    for (int j = 0; j < c->nin; j++) a[j] = (struct lanes){c->in[j], c->step[j]};
    for (int j = 0; j < c->nout; j++) out[j] = c->out[j];
    assert_true(!c->op->work || c->op->work(c->dim) <= 1024);
    c->op->block(c->self, c->dim, LANES, out, a, work);
}

static void back_block(struct block_call *c, double (*dout)[LANES], double (*da)[LANES], int skip)
{
    struct lanes a[MOST];
    const double *out[MOST], *pdout[MOST];
    double *pda[MOST], work[1024];
    for (int j = 0; j < c->nin; j++) a[j] = (struct lanes){c->in[j], c->step[j]};
    for (int j = 0; j < c->nin; j++) pda[j] = j == skip ? NULL : da[j];
    for (int j = 0; j < c->nout; j++) out[j] = c->out[j], pdout[j] = dout[j];
    c->op->block_grad(c->self, c->dim, LANES, out, pdout, a, pda, work);
}

/* sum of dout * out in a lane, with one input's lane moved */
static double moved(struct block_call *c, int j, int b, double h, double (*dout)[LANES])
{
    double old[LANES], sum = 0;
    memcpy(old, c->in[j], sizeof old);
    c->in[j][c->step[j] ? b : 0] += h;
    run_block(c);
    memcpy(c->in[j], old, sizeof old);
    for (int k = 0; k < c->nout; k++) sum += dout[k][b] * c->out[k][b];
    return sum;
}

static void check_gradient(struct block_call *c, struct rng *r)
{
    double dout[MOST][LANES], da[MOST][LANES];
    for (int k = 0; k < MOST; k++)
        for (int b = 0; b < LANES; b++) dout[k][b] = uniform(r, -1, 1), da[k][b] = 0.5;
    run_block(c);
    int skip = (int)rng_below(r, (uint32_t)c->nin);
    back_block(c, dout, da, skip);
    for (int j = 0; j < c->nin; j++)
        for (int b = 0; b < LANES; b++) {
            double h = 1e-6, d = (moved(c, j, b, h, dout) - moved(c, j, b, -h, dout)) / (2 * h);
            assert_near(da[j][b] - 0.5, j == skip ? 0 : d, 1e-7, c->op->name);
        }
}

static void random_block(struct block_call *c, struct rng *r)
{
    for (int j = 0; j < c->nin; j++) {
        c->step[j] = rng_below(r, 3) > 0;
        for (int b = 0; b < LANES; b++) c->in[j][b] = uniform(r, -1, 1);
    }
    if (c->op == &op_inverse || c->op == &op_logdet) /* well conditioned, determinant > 0 */
        for (int j = 0; j < c->dim[0]; j++)
            for (int b = 0; b < LANES; b++) c->in[j * (c->dim[0] + 1)][b] += 4;
    if (c->op == &op_interp) /* e in the middle, x increases */
        for (int j = 0; j < c->dim[0]; j++)
            for (int b = 0; b < LANES; b++) c->in[1 + j][b] = c->in[1 + j][b] / 5 + j - 1.5;
}

static void block_functions(void **state)
{
    (void)state;
    struct rng r;
    rng_init(&r, 4, 0);
    for (int k = 0; ops[k]; k++) {
        int found = !ops[k]->block;
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
            found |= strcmp(cases[i].name, ops[k]->name) == 0;
        if (!found) fail_msg("no case for %s", ops[k]->name);
    }
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct shapes *s = &cases[i];
        struct block_call c = {.op = op_find(s->name, strlen(s->name))};
        int out[SHAPE] = {0};
        const char *why = NULL;
        char text[40] = "";
        int rc = c.op->shape(s->narg, s->in, out, c.dim, &why);
        assert_int_equal(rc, s->bad ? -1 : 0);
        if (s->bad) {
            if (!strstr(why, s->out)) fail_msg("%s: '%s' does not say '%s'", s->name, why, s->out);
            continue;
        }
        for (int d = 1; d <= out[0]; d++)
            sprintf(text + strlen(text), "%s%d", d > 1 ? " " : "", out[d]);
        assert_string_equal(text, s->out);
        for (int k = 0; k < s->narg; k++)
            if (s->in[k][0] != SHAPE_VALUE) c.nin += size_of(s->in[k]);
        c.nout = size_of(out);
        c.self = c.op;
        for (int t = 0; t < 20; t++) {
            random_block(&c, &r);
            run_block(&c);
            if (c.op->block_grad) check_gradient(&c, &r);
        }
    }
}

/* out = f(in), all lanes the same */
static void check_values(const char *name, int narg, const int (*shape)[SHAPE], const double *in,
                         const double *want)
{
    struct block_call c = {.op = op_find(name, strlen(name))};
    int out[SHAPE];
    const char *why;
    assert_int_equal(c.op->shape(narg, shape, out, c.dim, &why), 0);
    for (int k = 0; k < narg; k++)
        if (shape[k][0] != SHAPE_VALUE) c.nin += size_of(shape[k]);
    c.nout = size_of(out);
    for (int j = 0; j < c.nin; j++) c.in[j][0] = in[j];
    run_block(&c);
    for (int j = 0; j < c.nout; j++)
        for (int b = 0; b < LANES; b++) assert_near(c.out[j][b], want[j], 1e-12, name);
}

#define V(...)      ((const double[]){__VA_ARGS__})
#define SHAPES(...) ((const int[][SHAPE]){__VA_ARGS__})

static void known_values(void **state)
{
    (void)state;
    check_values("max", 2, SHAPES({1, 3}, {0}), V(1, 7, 3, 5), V(7));
    check_values("min", 1, SHAPES({1, 3}), V(1, 7, -3), V(-3));
    check_values("prod", 1, SHAPES({1, 3}), V(2, 7, -3), V(-42));
    check_values("mean", 1, SHAPES({1, 3}), V(2, 7, -3), V(2));
    check_values("sd", 1, SHAPES({1, 4}), V(2, 4, 4, 6), V(sqrt(8. / 3)));
    check_values("%*%", 2, SHAPES({2, 2, 2}, {1, 2}), V(1, 2, 3, 4, 5, 6), V(17, 39));
    check_values("t", 1, SHAPES({2, 2, 3}), V(1, 2, 3, 4, 5, 6), V(1, 4, 2, 5, 3, 6));
    check_values("rep", 2, SHAPES({1, 2}, {SHAPE_VALUE, 2}), V(1, 2), V(1, 2, 1, 2));
    check_values("diag", 2, SHAPES({0}, {0}), V(3, 4), V(3, 0, 0, 4));
    check_values("diag", 1, SHAPES({2, 2, 2}), V(1, 2, 3, 4), V(1, 4));
    check_values("inverse", 1, SHAPES({2, 2, 2}), V(0, 2, 4, 0), V(0, 0.25, 0.5, 0));
    check_values("logdet", 1, SHAPES({2, 2, 2}), V(4, 1, 1, 4), V(log(15)));
    check_values("sort", 1, SHAPES({1, 4}), V(3, 1, 2, 1), V(1, 1, 2, 3));
    check_values("rank", 1, SHAPES({1, 4}), V(3, 1, 2, 1), V(4, 1, 3, 2));
    check_values("order", 1, SHAPES({1, 4}), V(3, 1, 2, 1), V(2, 4, 3, 1));
    check_values("interp.lin", 3, SHAPES({0}, {1, 3}, {1, 3}), V(1.5, 0, 1, 3, 5, 6, 8), V(6.5));
    check_values("interp.lin", 3, SHAPES({0}, {1, 3}, {1, 3}), V(9, 0, 1, 3, 5, 6, 8), V(8));
    static const struct {
        const struct op *op;
        double x[3], y;
    } maps[] = {{&op_idiv, {-7, 2}, -4},
                {&op_mod, {-7, 2}, 1},
                {&op_mod, {7.5, 2}, 1.5},
                {&op_round, {2.5}, 2},
                {&op_round, {-1.7}, -2},
                {&op_trunc, {-1.7}, -1},
                {&op_step, {0}, 1},
                {&op_equals, {2, 2}, 1},
                {&op_and, {2, 0}, 0},
                {&op_or, {2, 0}, 1},
                {&op_not, {2}, 0},
                {&op_logfact, {5}, 4.787491742782046},
                {&op_loggam, {0.5}, 0.5723649429247001},
                {&op_phi, {1.96}, 0.9750021048517795},
                {&op_probit, {0.975}, 1.959963984540054},
                {&op_cloglog, {0.5}, -0.36651292058166435},
                {&op_ilogit, {800}, 1},
                {&op_ilogit, {-800}, 0},
                {&op_pow, {-2, 3}, -8},
                {&op_pow, {0, 0}, 1},
                {&op_ifelse, {0, 1, NAN}, NAN}};
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        if (!isnan(maps[i].y))
            assert_near(call(maps[i].op, maps[i].x), maps[i].y, 1e-14, maps[i].op->name);
}

static void select_and_dense(void **state)
{
    (void)state;
    struct rng r;
    rng_init(&r, 5, 0);
    for (int t = 0; t < 60; t++) {
        int m = 1 + t % 12, w = 1 + t % 2;
        struct block_call c = {.op = &op_select, .dim = {m, w}, .nin = m * w + 1, .nout = w};
        random_block(&c, &r);
        for (int b = 0; b < LANES; b++)
            c.in[m * w][b] = 1 + rng_below(&r, (uint32_t)m) + uniform(&r, -0.4, 0.4);
        check_gradient(&c, &r);
        c.in[m * w][0] = t % 2 ? 0 : m + 1;
        run_block(&c);
        assert_true(isnan(c.out[0][0]));
    }
    assert_int_equal(act_find("relu", 4), ACT_RELU);
    assert_int_equal(act_find("rel", 3), -1);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(records),         cmocka_unit_test(map_gradients),
    cmocka_unit_test(ranges),          cmocka_unit_test(positive),
    cmocka_unit_test(block_functions), cmocka_unit_test(known_values),
    cmocka_unit_test(select_and_dense)};
RUN(tests)
