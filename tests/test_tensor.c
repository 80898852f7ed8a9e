/* test_tensor.c: random programs agree with an interpreter of scalars for any number of lanes,
   their derivatives with finite differences; instructions read and write what their kinds declare.
   test_op.c tests the functions. */
#include "run.h"

#include <math.h>
#include <stdlib.h>

#include "base/rng.h"
#include "tensor/instr.h"

enum { INPUTS = 12, INSTRS = 10, MAX_N = 40 };

static double uniform(struct rng *r, double lo, double hi) { return lo + (hi - lo) * rng_unit(r); }

static int near(double a, double b, double tol)
{
    if (isnan(a) || isnan(b)) return isnan(a) && isnan(b);
    return fabs(a - b) <= tol * (1 + fabs(a) + fabs(b));
}

/* ---- random programs ---------------------------------------------------------------- */

static const struct op *const maps[] = {&op_add, &op_sub,    &op_mul, &op_tanh,
                                        &op_sin, &op_ilogit, &op_neg, &op_ifelse};
static const struct op *const blocks[] = {&op_sum, &op_mean, &op_matmul, &op_select, &op_sort};

static struct operand random_operand(struct prog *p, struct rng *r, int n, int m)
{
    struct operand o = {.m = m};
    int pool = (int)p->constant.n;
    o.is_const = rng_below(r, 4) == 0;
    if (!o.is_const) pool = p->nrow;
    switch (rng_below(r, 4)) {
    case 0: /* every instance the same */
        o.base = (int)rng_below(r, (uint32_t)(pool - m + 1));
        o.sj = 1;
        break;
    case 1: /* consecutive, if there are so many */
        if (pool >= n * m) {
            o.base = (int)rng_below(r, (uint32_t)(pool - n * m + 1));
            o.si = m, o.sj = 1;
            break;
        } /* fallthrough */
    default:
        o.shared = rng_below(r, 4) == 0;
        int count = o.shared ? m : n * m, *idx = arena_array(&p->mem, int, count);
        for (int i = 0; i < count; i++) idx[i] = (int)rng_below(r, (uint32_t)pool);
        o.idx = idx;
    }
    return o;
}

static void random_instr(struct prog *p, struct rng *r)
{
    struct instr c = {.n = 1 + (int)rng_below(r, MAX_N), .width = 1, .out = p->nrow};
    int kind = (int)rng_below(r, 10), m[3] = {1, 1, 1};
    const struct op *op = NULL;
    if (kind < 6) {
        op = maps[rng_below(r, sizeof maps / sizeof *maps)];
        c.narg = op->min_arg;
    } else if (kind < 9) {
        op = blocks[rng_below(r, sizeof blocks / sizeof *blocks)];
        c.kind = I_BLOCK;
        c.narg = 1;
        c.dim[0] = m[0] = 1 + (int)rng_below(r, 6);
        if (op == &op_sort) c.width = m[0];
        if (op == &op_matmul) {
            int d[] = {1 + (int)rng_below(r, 3), 1 + (int)rng_below(r, 3),
                       1 + (int)rng_below(r, 3)};
            memcpy(c.dim, d, sizeof d);
            c.narg = 2, m[0] = d[0] * d[1], m[1] = d[1] * d[2], c.width = d[0] * d[2];
        }
        if (op == &op_select) {
            c.dim[0] = rng_below(r, 3) ? 3 : 12;
            c.dim[1] = c.width = 1 + (int)rng_below(r, 2);
            c.narg = 2, m[0] = c.dim[0] * c.width;
        }
        c.nwork = op->work ? op->work(c.dim) : 0;
    } else {
        c.kind = I_COPY;
        c.narg = 1;
        m[0] = c.width = 1 + (int)rng_below(r, 3);
        c.outs = (struct operand){.m = c.width, .base = c.out, .si = c.width, .sj = 1};
        c.out = -1;
    }
    for (int k = 0; k < c.narg; k++) c.arg[k] = random_operand(p, r, c.n, m[k]);
    if (op)
        c.self = op, c.map = op->map, c.map_grad = op->map_grad, c.block = op->block,
        c.block_grad = op->block_grad;
    c.sum = c.kind != I_COPY && rng_below(r, 2);
    c.tag = (int)rng_below(r, 2);
    if (c.sum && rng_below(r, 3) == 0)
        c.out = -1; /* only the sum */
    else
        p->nrow += c.n * c.width;
    assert_int_equal(vec_push(&p->code, c), 0);
}

static struct prog random_prog(struct rng *r)
{
    struct prog p = {.nrow = INPUTS, .nnode = INPUTS};
    for (int i = 0; i < 40; i++) assert_true(prog_const(&p, uniform(r, -2, 4)) == i);
    for (int i = 0; i < INSTRS; i++) random_instr(&p, r);
    return p;
}

/* ---- one lane, one scalar after the other ------------------------------------------- */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y ? 1 : isnan(x) - isnan(y);
}

static void scalar_op(const struct instr *c, const double *a, double *out)
{
    const struct op *op = c->self;
    const int *d = c->dim;
    if (c->kind == I_COPY) memcpy(out, a, (size_t)c->width * sizeof *out);
    if (op == &op_add) *out = a[0] + a[1];
    if (op == &op_sub) *out = a[0] - a[1];
    if (op == &op_mul) *out = a[0] * a[1];
    if (op == &op_tanh) *out = tanh(a[0]);
    if (op == &op_sin) *out = sin(a[0]);
    if (op == &op_ilogit) *out = 1 / (1 + exp(-a[0]));
    if (op == &op_neg) *out = -a[0];
    if (op == &op_ifelse) *out = a[0] != 0 ? a[1] : a[2];
    if (op == &op_sum || op == &op_mean) {
        *out = 0;
        for (int j = 0; j < d[0]; j++) *out += a[j] / (op == &op_mean ? d[0] : 1);
    }
    if (op == &op_sort) {
        memcpy(out, a, (size_t)d[0] * sizeof *out);
        qsort(out, (size_t)d[0], sizeof *out, by_value);
    }
    if (op == &op_select) {
        double k = rint(a[d[0] * d[1]]);
        for (int j = 0; j < d[1]; j++)
            out[j] = k >= 1 && k <= d[0] ? a[((int)k - 1) * d[1] + j] : NAN;
    }
    if (op == &op_matmul)
        for (int i = 0; i < d[0]; i++)
            for (int j = 0; j < d[2]; j++) {
                out[i * d[2] + j] = 0;
                for (int l = 0; l < d[1]; l++)
                    out[i * d[2] + j] += a[i * d[1] + l] * a[d[0] * d[1] + l * d[2] + j];
            }
}

/* Values of all rows from those of the inputs; returns the total. */
static double interpret(const struct prog *p, const double *constant, double *row)
{
    double total = 0, a[64], out[64];
    for (size_t k = 0; k < p->code.n; k++) {
        const struct instr *c = &p->code.a[k];
        for (int i = 0; i < c->n; i++) {
            int n = 0;
            for (int q = 0; q < c->narg; q++)
                for (int j = 0; j < c->arg[q].m; j++) {
                    const struct operand *o = &c->arg[q];
                    int at = !o->idx     ? o->base + i * o->si + j * o->sj
                             : o->shared ? o->idx[j]
                                         : o->idx[i * o->m + j];
                    a[n++] = o->is_const ? constant[at] : row[at];
                }
            scalar_op(c, a, out);
            int to = c->kind == I_COPY ? c->outs.base : c->out;
            for (int j = 0; j < c->width; j++) {
                if (to >= 0) row[to + i * c->width + j] = out[j];
                if (c->sum) total += out[j];
            }
        }
    }
    return total;
}

/* ---- tests -------------------------------------------------------------------------- */

static void fill_inputs(struct exec *x, double (*in)[INPUTS])
{
    for (int r = 0; r < INPUTS; r++)
        for (int b = 0; b < x->lanes; b++) x->row[r * x->cap + b] = in[b][r];
}

static int same_bits(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

/* All lanes against the interpreter, and bit by bit against `all`, which ran them all. */
static void check_lanes(struct exec *x, int lanes, double (*in)[INPUTS], const struct exec *all)
{
    const struct prog *p = x->p;
    double *row = calloc((size_t)p->nrow, sizeof *row);
    x->lanes = lanes;
    fill_inputs(x, in);
    exec_run(x);
    for (int b = 0; b < lanes; b++) {
        memcpy(row, in[b], sizeof in[b]);
        assert_true(near(interpret(p, p->constant.a, row), x->total[b], 1e-9));
        assert_true(near(x->by_tag[b] + x->by_tag[x->cap + b], x->total[b], 1e-9));
        for (int r = 0; r < p->nrow; r++) {
            assert_true(near(row[r], x->row[r * x->cap + b], 1e-9));
            if (all && all->cap > 1 && x->cap > 1)
                assert_true(same_bits(x->row[r * x->cap + b], all->row[r * all->cap + b]));
        }
        if (all && x->cap > 1) assert_true(same_bits(x->total[b], all->total[b]));
    }
    free(row);
}

static void random_programs(void **state)
{
    (void)state;
    static const int caps[] = {1, 8, 24, 64, 256, 640}, tries[] = {1, 3, 8, 17, 64, 100, 200, 640};
    static double in[640][INPUTS];
    struct rng r;
    rng_init(&r, 1, 0);
    for (int t = 0; t < 40; t++) {
        struct prog p = random_prog(&r);
        struct exec all, x;
        for (int b = 0; b < 640; b++)
            for (int i = 0; i < INPUTS; i++) in[b][i] = uniform(&r, -2, 4);
        assert_int_equal(exec_init(&all, &p, 640, 2, 0, NULL), 0);
        check_lanes(&all, 640, in, NULL);
        for (size_t k = 0; k < sizeof caps / sizeof *caps; k++) {
            assert_int_equal(exec_init(&x, &p, caps[k], 2, 0, NULL), 0);
            assert_int_equal(x.cap, caps[k]);
            for (size_t l = 0; l < sizeof tries / sizeof *tries; l++)
                if (tries[l] <= x.cap && tries[l] < 256) check_lanes(&x, tries[l], in, &all);
            exec_fini(&x);
        }
        exec_fini(&all);
        prog_free(&p);
    }
}

/* d total / d input and d total / d constant, by differences of the interpreter. */
static double slope(const struct prog *p, const double *in, int input, int constant)
{
    double h = 1e-5, f[2], *row = calloc((size_t)p->nrow, sizeof *row), c[64];
    for (int k = 0; k < 2; k++) {
        memcpy(row, in, INPUTS * sizeof *in);
        memcpy(c, p->constant.a, p->constant.n * sizeof *c);
        if (input >= 0) row[input] += k ? h : -h;
        if (constant >= 0) c[constant] += k ? h : -h;
        f[k] = interpret(p, c, row);
    }
    free(row);
    return (f[1] - f[0]) / (2 * h);
}

/* Totals and slopes without NaN: where select found something, far from its edges. */
static int smooth(const struct prog *p, const double *in)
{
    for (int i = 0; i < INPUTS; i++)
        if (!isfinite(slope(p, in, i, -1)) || fabs(slope(p, in, i, -1)) > 1e4) return 0;
    for (int i = 0; i < (int)p->constant.n; i++)
        if (!isfinite(slope(p, in, -1, i)) || fabs(slope(p, in, -1, i)) > 1e4) return 0;
    return 1;
}

static void gradients(void **state)
{
    (void)state;
    enum { LANES = 20 };
    static const int tries[] = {1, 3, 8, 17, 20};
    static double in[LANES][INPUTS];
    struct rng r;
    rng_init(&r, 2, 0);
    int done = 0;
    for (int t = 0; t < 60; t++) {
        struct prog p = random_prog(&r);
        int ok = 1;
        for (int b = 0; b < LANES; b++)
            for (int i = 0; i < INPUTS; i++) in[b][i] = uniform(&r, 0.6, 2.4);
        for (int b = 0; b < LANES; b++) ok &= smooth(&p, in[b]);
        for (size_t l = 0; ok && l < sizeof tries / sizeof *tries; l++) {
            struct exec x;
            int lanes = tries[l];
            assert_int_equal(
                exec_init(&x, &p, lanes == 1 ? 1 : LANES, 2, EXEC_GRAD | EXEC_CONST_GRAD, NULL), 0);
            x.lanes = lanes;
            fill_inputs(&x, in);
            exec_run(&x);
            exec_back(&x);
            for (int i = 0; i < INPUTS; i++)
                for (int b = 0; b < lanes; b++)
                    assert_true(near(x.adj[i * x.cap + b], slope(&p, in[b], i, -1), 1e-5));
            for (int i = 0; i < (int)p.constant.n; i++) {
                double sum = 0;
                for (int b = 0; b < lanes; b++) sum += slope(&p, in[b], -1, i);
                assert_true(near(x.const_adj[i], sum, 1e-5));
            }
            exec_fini(&x);
            done++;
        }
        prog_free(&p);
    }
    assert_true(done > 100);
}

static void shifted_normal(const void *self, const struct stream *s, int n, double *out,
                           const double *const *a)
{
    (void)self;
    stream_normal(s, n, out);
    for (int i = 0; i < n; i++) out[i] += a[0][i];
}

static void shifted_pair(const void *self, const struct stream *s, const int *dim, int L,
                         double *const *out, const struct lanes *a, double *work)
{
    (void)self, (void)dim, (void)work;
    for (int j = 0; j < 2; j++) {
        stream_normal_part(s, j, L, out[j]);
        for (int b = 0; b < L; b++) out[j][b] += a[j].p[b * a[j].step];
    }
}

/* Draws of a row do not depend on lanes, their cut into runs, or the program around. */
static void draws(void **state)
{
    (void)state;
    struct prog p = {.nrow = 7, .nnode = 7};
    int five = prog_const(&p, 5), idx[] = {3, 1};
    struct instr d = {.kind = I_DRAW,
                      .n = 2,
                      .width = 1,
                      .out = -1,
                      .narg = 1,
                      .draw = shifted_normal,
                      .outs = {.m = 1, .idx = idx},
                      .arg = {{.is_const = 1, .m = 1, .base = five}}};
    struct instr e = {.kind = I_BDRAW,
                      .n = 1,
                      .width = 2,
                      .out = -1,
                      .narg = 1,
                      .bdraw = shifted_pair,
                      .outs = {.m = 2, .base = 4, .sj = 1},
                      .arg = {{.m = 2, .base = 3, .sj = -2}}};
    assert_int_equal(vec_push(&p.code, d), 0);
    assert_int_equal(vec_push(&p.code, e), 0);
    struct exec x, y;
    assert_int_equal(exec_init(&x, &p, 1024, 0, 0, NULL) | exec_init(&y, &p, 8, 0, 0, NULL), 0);
    x.seed = y.seed = 77;
    exec_run(&x);
    double z[1024];
    struct stream s = {77, 3, 0};
    stream_normal(&s, 1024, z);
    for (int b = 0; b < 1024; b++) assert_true(x.row[3 * 1024 + b] == z[b] + 5);
    for (int first = 0; first < 1024; first += 4) {
        y.first = (uint64_t)first;
        y.lanes = first % 5 + 1;
        exec_run(&y);
        for (int q = 1; q < 6; q++)
            for (int b = 0; b < y.lanes && first + b < 1024; b++)
                assert_true(y.row[q * 8 + b] == x.row[q * 1024 + first + b]);
    }
    exec_fini(&x);
    exec_fini(&y);
    prog_free(&p);
}

/* ---- kinds of instructions ---------------------------------------------------------- */

static void every_kind_has_a_record(void **state)
{
    (void)state;
    for (int k = 0; k < INSTR_KINDS; k++) {
        const struct instr_type *t = instr_types[k];
        assert_non_null(t);
        assert_non_null(t->name);
        assert_non_null(t->run);
        for (int i = 0; i < k; i++) assert_string_not_equal(t->name, instr_types[i]->name);
        if (t->has_back) assert_non_null(t->back);
        if (t->draws) assert_true(t->scatters); /* the rows written name the streams */
        if (t->units || t->read_units) assert_non_null(t->shift_units);
        if (t->read_units) assert_non_null(t->note_reads); /* else layers could pull without it */
    }
}

/* A program with all kinds. */
static struct prog all_kinds(struct rng *r, double *param)
{
    static const int from[] = {0, 1, 2, 3, 4, 5};
    struct prog p = random_prog(r);
    struct dense *d = arena_array(&p.mem, struct dense, 1);
    assert_non_null(d);
    *d = (struct dense){
        .n = 2, .in = 3, .out = 2, .act = ACT_TANH, .back = 3, .from = from, .to = 6};
    struct instr *c = prog_emit(&p, I_DRAW, 2, 1);
    c->draw = shifted_normal;
    c->narg = 1;
    c->arg[0] = (struct operand){.m = 1, .base = 2, .si = 3};
    c->outs = (struct operand){.m = 1, .base = p.nrow, .si = 1};
    c = prog_emit(&p, I_BDRAW, 2, 2);
    c->bdraw = shifted_pair;
    c->narg = 1;
    c->arg[0] = (struct operand){.m = 2, .base = 1, .si = 2, .sj = 1};
    c->outs = (struct operand){.m = 2, .base = p.nrow + 2, .si = 2, .sj = 1};
    p.nrow += 6;
    struct operand in = {.m = 1, .base = 3, .si = 1};
    assert_non_null(prog_emit_units(&p, 6, in, 0, 0));
    assert_non_null(prog_emit_layer(&p, d));
    assert_non_null(prog_emit_rows(&p, 4, 6, p.nrow));
    p.nrow += 4;
    static const int off[] = {0, 2, 2, 3}, member[] = {0, 6, 4}, of[] = {8, 1};
    static const double by[] = {0.5, -2};
    struct pooling *pool = arena_array(&p.mem, struct pooling, 1);
    struct scaled *scaled = arena_array(&p.mem, struct scaled, 1);
    static const int left[] = {6, 8, 6}, right[] = {9, 8, 12};
    struct times *times = arena_array(&p.mem, struct times, 1);
    assert_true(pool && scaled && times);
    *pool = (struct pooling){.n = 3, .width = 2, .spread = 1, .off = off, .from = member, .to = 10};
    *scaled = (struct scaled){2, 25, of, by};
    assert_non_null(prog_emit_pool(&p, pool));
    *times = (struct times){3, 27, left, right};
    assert_non_null(prog_emit_scaled(&p, scaled));
    assert_non_null(prog_emit_times(&p, times));
    p.nunit = 30;
    for (int i = 0; i < 8; i++) param[i] = uniform(r, -1, 1);
    p.nparam = 8;
    assert_int_equal(prog_finish(&p), 0);
    return p;
}

struct marks {
    unsigned char *of[2]; /* rows; units */
};

static struct marks marks_of(const struct prog *p, const struct instr *c,
                             void (*ask)(const struct instr *, see_fn *, void *), see_fn *see)
{
    struct marks m = {{calloc((size_t)p->nrow, 1), calloc((size_t)p->nunit + 1, 1)}};
    assert_true(m.of[0] && m.of[1]);
    ask(c, see, &m);
    return m;
}

static void mark(void *arg, enum instr_place place, int number)
{
    ((struct marks *)arg)->of[place == PLACE_UNIT][number] = 1;
}

static double *cells_of(const struct exec *x, int unit) { return unit ? x->units.unit : x->row; }
static int count_of(const struct prog *p, int unit) { return unit ? p->nunit : p->nrow; }

/* Runs instruction k twice from workspaces that agree only in what it declares to read: what it
   declares to write is the same, all else is left alone. */
static void check_access(const struct prog *p, size_t k, const double *param, struct rng *r)
{
    enum { CAP = 8 };
    const struct instr *c = &p->code.a[k];
    struct marks reads = marks_of(p, c, instr_reads, mark);
    struct marks writes = marks_of(p, c, instr_writes, mark);
    struct exec x[3]; /* 0, 1: other numbers where it does not read; 2: other random numbers */
    double *was[3][2];
    for (int e = 0; e < 3; e++) {
        assert_int_equal(exec_init(&x[e], p, CAP, 0, 0, NULL), 0);
        x[e].param = param;
        x[e].seed = e == 2 ? 8 : 7;
        for (int u = 0; u < 2; u++) {
            size_t n = (size_t)count_of(p, u) * CAP;
            assert_non_null(was[e][u] = calloc(n, sizeof(double)));
            for (size_t i = 0; i < n; i++)
                was[e][u][i] = e && reads.of[u][i / CAP] ? was[0][u][i] : uniform(r, -2, 4);
            memcpy(cells_of(&x[e], u), was[e][u], n * sizeof(double));
        }
        exec_part(&x[e], k, k + 1);
    }
    int redrawn = 0;
    for (int u = 0; u < 2; u++)
        for (size_t i = 0; i < (size_t)count_of(p, u) * CAP; i++) {
            const double now[] = {cells_of(&x[0], u)[i], cells_of(&x[1], u)[i],
                                  cells_of(&x[2], u)[i]};
            if (writes.of[u][i / CAP]) {
                assert_true(near(now[0], now[1], 0));
                redrawn |= !near(now[0], now[2], 0);
            } else {
                assert_true(now[0] == was[0][u][i] && now[1] == was[1][u][i]);
            }
        }
    assert_int_equal(redrawn, instr_draws(c));
    for (int b = 0; b < CAP; b++) {
        assert_true(near(x[0].total[b], x[1].total[b], 0));
        if (!c->sum) assert_true(x[0].total[b] == 0);
    }
    for (int e = 0; e < 3; e++) {
        exec_fini(&x[e]);
        free(was[e][0]);
        free(was[e][1]);
    }
    for (int u = 0; u < 2; u++) free(reads.of[u]), free(writes.of[u]);
}

static void kinds_touch_what_they_declare(void **state)
{
    (void)state;
    struct rng r;
    rng_init(&r, 11, 0);
    int seen[INSTR_KINDS] = {0};
    for (int round = 0; round < 40; round++) {
        double param[8];
        struct prog p = all_kinds(&r, param);
        for (size_t k = 0; k < p.code.n; k++) {
            check_access(&p, k, param, &r);
            seen[p.code.a[k].kind]++;
        }
        prog_free(&p);
    }
    for (int k = 0; k < INSTR_KINDS; k++)
        if (!seen[k]) fail_msg("no program has an instruction '%s'", instr_types[k]->name);
}

/* Rows that lie behind each other are one instruction, others are not. */
static void rows_are_joined(void **state)
{
    (void)state;
    struct prog p = {.nrow = 20, .nunit = 20};
    prog_emit_rows(&p, 3, 5, 2);
    prog_emit_rows(&p, 2, 8, 5);
    assert_int_equal(p.code.n, 1);
    assert_int_equal(p.code.a[0].n, 5);
    prog_emit_rows(&p, 2, 11, 7);
    prog_emit_rows(&p, 2, 13, 10);
    assert_int_equal(p.code.n, 3);
    prog_free(&p);
}

static void sizes(void **state)
{
    (void)state;
    struct prog p = {.nrow = 1};
    assert_int_equal(exec_lanes(&p), 256);
    p.nrow = 1000;
    assert_int_equal(exec_lanes(&p), 128);
    p.nrow = 10000;
    assert_int_equal(exec_lanes(&p), 64);
    p.nrow = 1000000;
    assert_int_equal(exec_lanes(&p), 8);
    struct exec x;
    nami_err err;
    p.nrow = 0x7fffffff;
    assert_int_equal(exec_init(&x, &p, 0x3fffffff, 0, EXEC_GRAD, &err), NAMI_ENOMEM);
    exec_fini(&x);
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(random_programs),
                                          cmocka_unit_test(gradients),
                                          cmocka_unit_test(draws),
                                          cmocka_unit_test(every_kind_has_a_record),
                                          cmocka_unit_test(kinds_touch_what_they_declare),
                                          cmocka_unit_test(rows_are_joined),
                                          cmocka_unit_test(sizes)};
RUN(tests)
