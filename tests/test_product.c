/* test_product.c: every set of layer kernels agrees with the reference loops, for float and
   double; the derivatives of the reference agree with finite differences. */
#include "run.h"

#include <math.h>
#include <stdlib.h>

#include "base/rng.h"
#include "tensor/product.h"

enum { CHUNKS = 3 };
static const char *const names[] = {"any", "avx2", "avx512"};

/* A layer with random sizes, and chunks to run it on.  Numbers are made as double: `real` rounds
   them where they are stored. */
struct problem {
    int is_float, nunit, nparam, nchunk;
    struct dense d;
    struct chunk c[CHUNKS];
    int *from;
    void *param, *grad;
};

static double uniform(struct rng *r, double lo, double hi) { return lo + (hi - lo) * rng_unit(r); }
static int between(struct rng *r, int lo, int hi)
{
    return lo + (int)rng_below(r, (uint32_t)(hi - lo + 1));
}

static size_t width(const struct problem *p)
{
    return p->is_float ? sizeof(float) : sizeof(double);
}

static double get(const struct problem *p, const void *x, size_t i)
{
    return p->is_float ? (double)((const float *)x)[i] : ((const double *)x)[i];
}

static void set(const struct problem *p, void *x, size_t i, double v)
{
    if (p->is_float)
        ((float *)x)[i] = (float)v;
    else
        ((double *)x)[i] = v;
}

static void *numbers(struct problem *p, struct rng *r, int n, double size)
{
    void *x = malloc((size_t)n * width(p)); /* no more: sanitizers see what is read beyond */
    assert_non_null(x);
    for (int i = 0; i < n; i++) set(p, x, (size_t)i, uniform(r, -size, size));
    return x;
}

static void *copy(const struct problem *p, const void *x, int n)
{
    void *y = malloc((size_t)n * width(p));
    assert_non_null(y);
    return memcpy(y, x, (size_t)n * width(p));
}

/* A layer n x (in, out); chunks with room for up to most_cap lanes */
static void problem_new(struct problem *p, struct rng *r, int is_float, int act, int n, int in,
                        int out, int most_cap)
{
    struct dense *d = &p->d;
    memset(p, 0, sizeof *p);
    p->is_float = is_float;
    d->n = n, d->in = in, d->out = out, d->act = act;
    d->back = between(r, 0, 3) ? between(r, 0, d->in) : d->in;
    int before = d->in + between(r, 0, 20), after = between(r, 0, 2);
    d->to = before;
    p->nunit = before + d->n * d->out + after;
    d->w = (size_t)between(r, 0, 5);
    p->nparam = (int)d->w + d->out * (d->in + 1) + between(r, 0, 3);
    p->from = malloc((size_t)(d->n * d->in) * sizeof(int));
    int *order = malloc((size_t)before * sizeof(int));
    assert_true(p->from && order);
    for (int u = 0; u < before; u++) order[u] = u;
    for (int i = 0; i < d->n; i++) { /* each instance reads any units, in any order */
        rng_shuffle(r, order, before);
        memcpy(p->from + i * d->in, order, (size_t)d->in * sizeof(int));
    }
    free(order);
    d->from = p->from;
    p->param = numbers(p, r, p->nparam, 2 / sqrt(d->in));
    p->grad = numbers(p, r, p->nparam, 1);
    p->nchunk = between(r, 1, CHUNKS);
    for (int k = 0; k < p->nchunk; k++) {
        int cap = 8 * between(r, 1, most_cap / 8);
        p->c[k] =
            (struct chunk){.cap = cap, .L = between(r, 0, 1) ? cap : 8 * between(r, 1, cap / 8)};
        p->c[k].unit = numbers(p, r, p->nunit * cap, 2);
        p->c[k].adj = numbers(p, r, p->nunit * cap, 1);
    }
}

static struct problem problem_copy(const struct problem *p)
{
    struct problem q = *p;
    q.param = copy(p, p->param, p->nparam);
    q.grad = copy(p, p->grad, p->nparam);
    for (int k = 0; k < p->nchunk; k++) {
        q.c[k].unit = copy(p, p->c[k].unit, p->nunit * p->c[k].cap);
        q.c[k].adj = copy(p, p->c[k].adj, p->nunit * p->c[k].cap);
    }
    return q;
}

/* `from` belongs to the original. */
static void problem_free(struct problem *p, int original)
{
    if (original) free(p->from);
    free(p->param);
    free(p->grad);
    for (int k = 0; k < p->nchunk; k++) free(p->c[k].unit), free(p->c[k].adj);
}

static void run(const struct product *f, struct problem *p)
{
    for (int k = 0; k < p->nchunk; k++) f->forward(&p->d, p->param, &p->c[k]);
    for (int k = 0; k < p->nchunk; k++) f->back(&p->d, p->param, &p->c[k]);
    f->weights(&p->d, p->c, p->nchunk, 0, p->d.out, p->grad);
}

static void same(const struct problem *p, const char *name, const char *what, const void *a,
                 const void *b, int n)
{
    double tol = p->is_float ? 1e-4 : 1e-11;
    for (int i = 0; i < n; i++) {
        double x = get(p, a, (size_t)i), y = get(p, b, (size_t)i);
        if (!(fabs(x - y) <= tol * (1 + fabs(x) + fabs(y))))
            fail_msg("%s %s: %s[%d]: %.9g, not %.9g; n %d in %d out %d back %d %s", name,
                     p->is_float ? "float" : "double", what, i, x, y, p->d.n, p->d.in, p->d.out,
                     p->d.back, act_names[p->d.act]);
    }
}

/* All that was or was not to be written. */
static void same_all(const char *name, const struct problem *p, const struct problem *q)
{
    for (int k = 0; k < p->nchunk; k++) {
        same(p, name, "unit", p->c[k].unit, q->c[k].unit, p->nunit * p->c[k].cap);
        same(p, name, "adj", p->c[k].adj, q->c[k].adj, p->nunit * p->c[k].cap);
    }
    same(p, name, "grad", p->grad, q->grad, p->nparam);
}

static void check(struct problem *p)
{
    struct problem want = problem_copy(p);
    run(product_ref(p->is_float), &want);
    for (size_t s = 0; s < sizeof names / sizeof *names; s++) {
        const struct product *f = product_find(names[s], p->is_float);
        if (!f) continue;
        assert_string_equal(f->name, names[s]);
        struct problem q = problem_copy(p);
        run(f, &q);
        same_all(names[s], &q, &want);
        problem_free(&q, 0);
    }
    problem_free(&want, 0);
}

static void random_layers(void **state)
{
    (void)state;
    struct rng r;
    rng_init(&r, 11, 0);
    for (int t = 0; t < 60 * NACT; t++) {
        struct problem p;
        int n = between(&r, 1, 5), in = between(&r, 1, t % 3 ? 70 : 9);
        problem_new(&p, &r, t % 2, t % NACT, n, in, between(&r, 1, t % 4 ? 40 : 7), 72);
        check(&p);
        problem_free(&p, 1);
    }
}

/* More than is worked on at once: lanes, instances, inputs, outputs. */
static void large_layers(void **state)
{
    (void)state;
    static const int sizes[][4] = {{1, 48, 300, 320}, {1, 150, 90, 40}, {1, 300, 20, 300},
                                   {80, 9, 5, 40},    {7, 25, 64, 64},  {30, 33, 200, 8}};
    struct rng r;
    rng_init(&r, 14, 0);
    for (size_t t = 0; t < 2 * sizeof sizes / sizeof *sizes; t++) {
        const int *s = sizes[t / 2];
        struct problem p;
        problem_new(&p, &r, t % 2, ACT_TANH, s[0], s[1], s[2], s[3]);
        check(&p);
        problem_free(&p, 1);
    }
}

/* A layer that pulls from two that read it gets what plain loops of those two push. */
static void pulled_layers(void **state)
{
    (void)state;
    struct rng r;
    rng_init(&r, 15, 0);
    for (int t = 0; t < 20 * NACT; t++) {
        struct problem p;
        struct dense user[2];
        int out = between(&r, 1, 20), k = between(&r, 0, 3), *from[2];
        problem_new(&p, &r, t % 2, t / 2 % NACT, between(&r, 1, 3), 1, out, 72);
        int to = p.d.to + p.d.n * out, np = 0;
        for (int j = 0; j < 2; j++) {
            user[j] =
                (struct dense){.n = p.d.n, .in = k + out, .out = between(&r, 1, 20), .to = to};
            user[j].w = (size_t)np, user[j].back = user[j].in;
            np += user[j].out * (user[j].in + 1), to += p.d.n * user[j].out;
            user[j].from = from[j] = calloc((size_t)(p.d.n * user[j].in), sizeof(int));
            assert_non_null(from[j]);
            for (int i = 0; i < p.d.n; i++)
                for (int q = 0; q < out; q++)
                    from[j][i * user[j].in + k + q] = p.d.to + i * out + q;
        }
        free(p.param), p.param = numbers(&p, &r, p.nparam = np, 1);
        free(p.grad), p.grad = numbers(&p, &r, np, 1);
        for (int c = 0; c < p.nchunk; c++) {
            free(p.c[c].unit), p.c[c].unit = numbers(&p, &r, to * p.c[c].cap, 2);
            free(p.c[c].adj), p.c[c].adj = numbers(&p, &r, to * p.c[c].cap, 1);
        }
        p.nunit = to, p.d.back = 0;
        struct problem want = problem_copy(&p);
        const struct product *ref = product_ref(p.is_float);
        for (int c = 0; c < p.nchunk; c++) {
            struct chunk *x = &want.c[c];
            for (int i = 0; i < p.d.n * out; i++)
                for (int b = 0; b < x->L; b++)
                    set(&p, x->adj, (size_t)((p.d.to + i) * x->cap + b), 0);
            for (int j = 0; j < 2; j++) ref->back(&user[j], want.param, x);
            ref->back(&want.d, want.param, x);
        }
        const struct use use[] = {{&user[0], k}, {&user[1], k}};
        p.d.use = use, p.d.nuse = 2;
        for (size_t s = 0; s <= sizeof names / sizeof *names; s++) {
            const struct product *f = s ? product_find(names[s - 1], p.is_float) : ref;
            struct problem q = problem_copy(&p);
            for (int c = 0; f && c < p.nchunk; c++) {
                size_t at = (size_t)(p.d.to * p.c[c].cap) * width(&p);
                f->back(&q.d, q.param, &q.c[c]);
                same(&q, f->name, "pulled", (char *)q.c[c].adj + at, (char *)want.c[c].adj + at,
                     (to - p.d.to) * p.c[c].cap);
            }
            problem_free(&q, 0);
        }
        problem_free(&want, 0);
        free(from[0]), free(from[1]);
        problem_free(&p, 1);
    }
}

/* Whoever computes which outputs: the same bits. */
static void weights_in_parts(void **state)
{
    (void)state;
    struct rng r;
    rng_init(&r, 12, 0);
    for (int t = 0; t < 200; t++) {
        struct problem p;
        int n = between(&r, 1, 5), in = between(&r, 1, 40), out = between(&r, 1, 40);
        if (t % 10 == 0) n = 1, out += 100;
        problem_new(&p, &r, t / 10 % 2, ACT_LINEAR, n, in, out, 72);
        for (size_t s = 0; s <= sizeof names / sizeof *names; s++) {
            const struct product *f =
                s ? product_find(names[s - 1], p.is_float) : product_ref(p.is_float);
            if (!f) continue;
            struct problem q = problem_copy(&p), v = problem_copy(&p);
            f->weights(&q.d, q.c, q.nchunk, 0, q.d.out, q.grad);
            for (int o0 = 0, o1; o0 < v.d.out; o0 = o1) {
                o1 = between(&r, o0 + 1, v.d.out);
                f->weights(&v.d, v.c, v.nchunk, o0, o1, v.grad);
            }
            assert_memory_equal(q.grad, v.grad, (size_t)q.nparam * width(&q));
            problem_free(&q, 0);
            problem_free(&v, 0);
        }
        problem_free(&p, 1);
    }
}

/* The sum of dout * outputs, after forward() */
static double total(struct problem *p, const struct problem *dout)
{
    double sum = 0;
    for (int k = 0; k < p->nchunk; k++) {
        const struct chunk *c = &p->c[k];
        product_ref(0)->forward(&p->d, p->param, c);
        for (int u = p->d.to; u < p->d.to + p->d.n * p->d.out; u++)
            for (int b = 0; b < c->L; b++)
                sum += ((double *)c->unit)[u * c->cap + b] *
                       ((double *)dout->c[k].adj)[u * c->cap + b];
    }
    return sum;
}

/* d total / d *x */
static double difference(struct problem *p, const struct problem *dout, double *x)
{
    double h = 1e-5, old = *x, up, down;
    *x = old + h, up = total(p, dout);
    *x = old - h, down = total(p, dout);
    *x = old;
    return (up - down) / (2 * h);
}

static void near(double a, double b, const char *what)
{
    if (fabs(a - b) > 1e-6 * (1 + fabs(a) + fabs(b))) fail_msg("%s: %.9g, not %.9g", what, a, b);
}

static void derivatives(void **state)
{
    (void)state;
    struct rng r;
    rng_init(&r, 13, 0);
    for (int t = 0; t < 10 * NACT; t++) {
        struct problem p, q;
        int n = between(&r, 1, 5), in = between(&r, 1, 12);
        problem_new(&p, &r, 0, t % NACT, n, in, between(&r, 1, 6), 72);
        q = problem_copy(&p);
        run(product_ref(0), &q);
        for (int s = 0; s < 20; s++) {
            int o = between(&r, 0, p.d.out - 1), k = between(&r, 0, p.d.in);
            size_t at = p.d.w + (size_t)(k < p.d.in ? o * p.d.in + k : p.d.out * p.d.in + o);
            near(((double *)q.grad)[at], difference(&p, &p, (double *)p.param + at), "weight");

            int chunk = between(&r, 0, p.nchunk - 1), b = between(&r, 0, p.c[chunk].L - 1);
            int i = between(&r, 0, p.d.n - 1), u = p.from[i * p.d.in + between(&r, 0, p.d.in - 1)];
            int read = 0, back = 0; /* by how many instances; by how many as derivatives */
            for (int j = 0; j < p.d.n * p.d.in; j++)
                if (p.from[j] == u) read++, back += j % p.d.in < p.d.back;
            at = (size_t)(u * p.c[chunk].cap + b);
            double got = ((double *)q.c[chunk].adj)[at] - ((double *)p.c[chunk].adj)[at];
            if (back == read)
                near(got, difference(&p, &p, (double *)p.c[chunk].unit + at), "input");
            else if (!back)
                assert_true(got == 0);
        }
        problem_free(&q, 0);
        problem_free(&p, 1);
    }
}

/* Activations where they are flat, steep or beyond the range of exp(). */
static void activations(void **state)
{
    (void)state;
    static const double at[] = {0,   1e-30, -1e-30, 1e-6,     -1e-6,     0.3,   -0.3,
                                1,   -1,    3,      -3,       17.5,      -17.5, 60,
                                -60, 400,   -400,   HUGE_VAL, -HUGE_VAL, NAN};
    enum { N = (sizeof at / sizeof *at + 7) / 8 * 8 };
    for (int t = 0; t < 2 * NACT; t++)
        for (size_t s = 0; s <= sizeof names / sizeof *names; s++) {
            const struct product *f = s ? product_find(names[s - 1], t % 2) : product_ref(t % 2);
            struct problem p = {.is_float = t % 2};
            int from = 0, act = t / 2;
            double x[2 * N] = {0}, one[2 * N], param[2];
            p.d = (struct dense){.n = 1, .in = 1, .out = 1, .act = act, .from = &from, .to = 1};
            p.c[0] = (struct chunk){.unit = x, .adj = one, .cap = N, .L = N};
            if (!f) continue;
            for (int i = 0; i < 2 * N; i++) set(&p, one, (size_t)i, 1);
            for (size_t i = 0; i < sizeof at / sizeof *at; i++) set(&p, x, i, at[i]);
            set(&p, param, 0, 1), set(&p, param, 1, 0);
            f->forward(&p.d, param, p.c);
            f->back(&p.d, param, p.c);
            for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
                double v = get(&p, x, i), y = get(&p, x, N + i), dy = get(&p, one, N + i);
                double want[] = {v, tanh(v), v < 0 ? 0 : v, 1 / (1 + exp(-v)),
                                 v > 30 ? v : log1p(exp(v))};
                double c = cosh(v / 2), s1 = 1 / (4 * c * c), c2 = cosh(v);
                double slope[] = {1, 1 / (c2 * c2), v > 0, s1, 1 / (1 + exp(-v))};
                double tol = t % 2 ? 4e-7 : 1e-15, tiny = t % 2 ? 1e-37 : 1e-300;
                if (isnan(v)) {
                    assert_true(isnan(y));
                    continue;
                }
                if (!(y == want[act] || fabs(y - want[act]) <= tol * fabs(want[act]) + tiny))
                    fail_msg("%s: %s(%g) = %.17g, not %.17g", f->name, act_names[act], v, y,
                             want[act]);
                if (!(fabs(dy - slope[act]) <= tol))
                    fail_msg("%s: %s'(%g) = %.17g, not %.17g", f->name, act_names[act], v, dy,
                             slope[act]);
            }
        }
}

/* ---- inputs that are -1 or 1 -------------------------------------------------------- */

static void signs_new(struct problem *p, struct rng *r, double ones)
{
    struct dense *d = &p->d;
    d->signs = 1;
    d->back = 0;
    for (int k = 0; k < d->in; k++) p->from[k] = k;
    for (int i = 0; i < p->nchunk; i++) {
        struct chunk *c = &p->c[i];
        struct signs *s = calloc(1, sizeof *s);
        assert_non_null(s);
        *s = (struct signs){.n = d->in, .sure = 1};
        s->unit = calloc((size_t)(c->cap * d->in), sizeof *s->unit);
        s->lane = calloc((size_t)(c->cap * d->in), sizeof *s->lane);
        s->nunit = calloc((size_t)c->cap, sizeof *s->nunit);
        s->nlane = calloc((size_t)d->in, sizeof *s->nlane);
        s->work = malloc(32 * (size_t)(d->in + 3) * sizeof *s->work);
        assert_true(s->unit && s->lane && s->nunit && s->nlane && s->work);
        for (int k = 0; k < d->in; k++)
            for (int b = 0; b < c->L; b++) {
                int one = rng_unit(r) < ones;
                ((float *)c->unit)[k * c->cap + b] = one ? 1 : -1;
                if (!one) continue;
                s->lane[k * c->cap + s->nlane[k]++] = (unsigned short)b;
                s->unit[b * d->in + s->nunit[b]++] = (unsigned short)k;
            }
        c->signs = s;
    }
}

static void signs_free(struct problem *p)
{
    for (int i = 0; i < p->nchunk; i++) {
        struct signs *s = p->c[i].signs;
        free(s->unit), free(s->lane), free(s->nunit), free(s->nlane), free(s->work), free(s);
    }
}

static void sign_layers(void **state)
{
    struct rng r;
    (void)state;
    rng_init(&r, 21, 0);
    for (int t = 0; t < 40; t++) {
        struct problem p;
        problem_new(&p, &r, 1, t % NACT, 1, between(&r, 1, t % 4 ? 130 : 20),
                    between(&r, t % 5 ? 4 : 1, t % 3 ? 40 : 150), 72);
        signs_new(&p, &r, 0.1 * (t % 4));
        check(&p);
        signs_free(&p);
        problem_free(&p, 1);
    }
}

/* Lists are what is read, where there are lists: an empty one is believed. */
static void sign_lists(void **state)
{
    struct rng r;
    (void)state;
    rng_init(&r, 22, 0);
    for (size_t s = 0; s < sizeof names / sizeof *names; s++) {
        const struct product *f = product_find(names[s], 1);
        struct problem p, q;
        if (!f || strcmp(names[s], "any") == 0) continue;
        problem_new(&p, &r, 1, ACT_LINEAR, 1, 40, 20, 72);
        signs_new(&p, &r, 0.3);
        q = problem_copy(&p);
        p.c[0].signs->nunit[3] = p.c[0].signs->nlane[2] = 0;
        run(product_ref(1), &q);
        run(f, &p);
        size_t y = (size_t)(p.d.to * p.c[0].cap), w = p.d.w;
        assert_true(fabs(get(&p, p.c[0].unit, y + 3) - get(&p, q.c[0].unit, y + 3)) > 1e-3);
        assert_true(fabs(get(&p, p.c[0].unit, y + 4) - get(&p, q.c[0].unit, y + 4)) < 1e-4);
        assert_true(fabs(get(&p, p.grad, w + 2) - get(&p, q.grad, w + 2)) > 1e-3);
        assert_true(fabs(get(&p, p.grad, w + 3) - get(&p, q.grad, w + 3)) < 1e-3);
        signs_free(&p);
        problem_free(&q, 0);
        problem_free(&p, 1);
    }
}

static void choice(void **state)
{
    (void)state;
    assert_null(product_find("none", 0));
    for (int is_float = 0; is_float < 2; is_float++) {
        assert_ptr_equal(product_find("ref", is_float), product_ref(is_float));
        assert_non_null(product_find("any", is_float));
        const struct product *f = product_best(is_float);
        assert_ptr_equal(product_find(f->name, is_float), f);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(random_layers), cmocka_unit_test(large_layers),
    cmocka_unit_test(pulled_layers), cmocka_unit_test(weights_in_parts),
    cmocka_unit_test(derivatives),   cmocka_unit_test(activations),
    cmocka_unit_test(choice),        cmocka_unit_test(sign_layers),
    cmocka_unit_test(sign_lists),
};
RUN(tests)
