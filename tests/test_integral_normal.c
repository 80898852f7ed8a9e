/* test_integral_normal.c: integrals over linear Gaussian variables agree with dense algebra in long
   double (value, derivatives, moments, draws) for any number of lanes; a state-space model with a
   Kalman filter and smoother; vague priors; models of the language with their own densities; what
   is improper or too large. */
#include "base/rng.h"
#include "exact/integral_normal.h"
#include "exact/split.h"
#include "integral_call.h"
#include "malloc_fail.h"
#include "model_at.h"

typedef long double real;

enum { MAX_VARS = 40, MAX_TERMS = 160, MAX_SIZE = 4, MAX_SCOPE = 12, MAX_NUMBERS = 1500 };

/* Numbers are inputs (k) or constants (~k). */
struct residual { /* number `offset` - sum of numbers coef[k] * variables var[k] */
    int offset, num, var[MAX_SCOPE], coef[MAX_SCOPE];
};

struct factor {
    enum scale kind;
    int size, scale[MAX_SIZE * MAX_SIZE];
    struct residual r[MAX_SIZE];
};

struct spec {
    int num_comps, var_start[MAX_VARS + 1], term_start[MAX_VARS + 1];
    int num_vars, num_terms;
    struct factor term[MAX_TERMS];
    int num_inputs, num_constants;
    unsigned char is_sd[MAX_NUMBERS];  /* inputs: standard deviations, */
    unsigned char matrix[MAX_NUMBERS]; /* or the first of the triangle of a matrix of this order */
    double constant[MAX_NUMBERS];
};

static double uniform(struct rng *r, double low, double high)
{
    return low + (high - low) * rng_unit(r);
}

/* ---- random integrals ------------------------------------------------------------- */

static int an_input(struct spec *s)
{
    assert_true(s->num_inputs < MAX_NUMBERS);
    return s->num_inputs++;
}

static int a_constant(struct spec *s, double x)
{
    assert_true(s->num_constants < MAX_NUMBERS);
    s->constant[s->num_constants] = x;
    return ~s->num_constants++;
}

static int a_number(struct spec *s, struct rng *r)
{
    int what = (int)rng_below(r, 6);
    return what == 0   ? a_constant(s, 0)
           : what == 1 ? a_constant(s, uniform(r, -1.5, 1.5))
                       : an_input(s);
}

static int an_sd(struct spec *s, struct rng *r)
{
    if (rng_below(r, 4) == 0) return a_constant(s, uniform(r, 0.3, 2));
    for (int k = 0; k < s->num_inputs && rng_below(r, 2); k++) /* some are shared */
        if (s->is_sd[k]) return k;
    int k = an_input(s);
    s->is_sd[k] = 1;
    return k;
}

static void a_matrix(struct spec *s, int size, int *scale, struct rng *r)
{
    int first = s->num_inputs;
    for (int k = 0; k < s->num_inputs && rng_below(r, 2); k++)
        if (s->matrix[k] == size) first = k;
    if (first == s->num_inputs) {
        for (int e = 0; e < size * (size + 1) / 2; e++) an_input(s);
        s->matrix[first] = (unsigned char)size;
    }
    for (int i = 0; i < size; i++)
        for (int j = 0; j <= i; j++)
            scale[i * size + j] = scale[j * size + i] = first + i * (i + 1) / 2 + j;
}

static void read_var(struct residual *x, int var, int coef)
{
    for (int k = 0; k < x->num; k++)
        if (x->var[k] == var) return;
    if (x->num == MAX_SCOPE) return;
    x->var[x->num] = var;
    x->coef[x->num++] = coef;
}

static struct factor *new_term(struct spec *s, struct rng *r)
{
    assert_true(s->num_terms < MAX_TERMS);
    struct factor *t = &s->term[s->num_terms++];
    *t = (struct factor){.kind = SCALE_SD, .size = 1, .scale = {an_sd(s, r)}};
    t->r[0].offset = a_number(s, r);
    return t;
}

enum shape { CHAIN, TREE, PLATE, DENSE, LOOSE, SHAPES };

/* Is u < v a parent of v? */
static int is_parent(enum shape shape, int v, int u, struct rng *r)
{
    switch (shape) {
    case CHAIN: return u == v - 1;
    case TREE: return u == (v - 1) / 2;
    case PLATE: return u < 2;
    case DENSE: return 1;
    default: return rng_below(r, 5) == 0;
    }
}

/* n variables, each with a normal distribution given its parents; observations of some of them. */
static void a_component(struct spec *s, enum shape shape, int n, int with_vectors, struct rng *r)
{
    int first = s->num_vars;
    s->num_vars += n;
    for (int v = 0; v < n; v++) {
        struct factor *t = new_term(s, r);
        read_var(&t->r[0], first + v, a_constant(s, uniform(r, 0.5, 1.5)));
        for (int u = v - 1; u >= 0; u--)
            if (is_parent(shape, v, u, r)) read_var(&t->r[0], first + u, a_number(s, r));
    }
    for (int k = 0; k < n; k++) {
        struct factor *t = new_term(s, r);
        int v = (int)rng_below(r, (uint32_t)n);
        read_var(&t->r[0], first + v, a_number(s, r));
        if (v && rng_below(r, 2)) read_var(&t->r[0], first + v - 1, a_number(s, r));
    }
    new_term(s, r); /* a constant factor */
    for (int k = 0; k < with_vectors; k++) {
        struct factor *t = new_term(s, r);
        t->size = 1 + (int)rng_below(r, MAX_SIZE);
        t->kind = rng_below(r, 2) ? SCALE_COVARIANCE : SCALE_PRECISION;
        a_matrix(s, t->size, t->scale, r);
        for (int i = 0; i < t->size; i++) {
            t->r[i].offset = a_number(s, r);
            for (int j = (int)rng_below(r, 3); j > 0; j--)
                read_var(&t->r[i], first + (int)rng_below(r, (uint32_t)n), a_number(s, r));
        }
    }
    s->var_start[++s->num_comps] = s->num_vars;
    s->term_start[s->num_comps] = s->num_terms;
}

/* Values of the inputs for one lane. */
static void fill(const struct spec *s, double *in, size_t step, struct rng *r)
{
    for (int k = 0; k < s->num_inputs; k++)
        in[(size_t)k * step] = s->is_sd[k] ? uniform(r, 0.3, 2) : uniform(r, -1.5, 1.5);
    for (int k = 0; k < s->num_inputs; k++) {
        int n = s->matrix[k];
        double b[MAX_SIZE][MAX_SIZE];
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) b[i][j] = uniform(r, -1, 1);
        for (int i = 0, e = k; i < n; i++)
            for (int j = 0; j <= i; j++, e++) {
                double *x = &in[(size_t)e * step];
                *x = i == j ? 0.5 : 0;
                for (int l = 0; l < n; l++) *x += b[i][l] * b[j][l];
            }
    }
}

/* ---- the integral by hand
 * ------------------------------------------------------------------------ */

static struct operand number(const struct spec *s, struct prog *p, int k)
{
    return k < 0 ? constant(p, s->constant[~k]) : rows(k, 0, 1);
}

static int by_number(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

static void emit_term(const struct spec *s, const struct factor *t, struct integral *g,
                      struct normal_term *to)
{
    struct prog *p = &g->body;
    int sum[MAX_SIZE], num = t->kind == SCALE_SD ? 1 : t->size * t->size;
    for (int i = 0; i < t->size; i++) {
        sum[i] = -1;
        for (int k = 0; k < t->r[i].num; k++) {
            int x = map_of(p, &op_mul, 1, number(s, p, t->r[i].coef[k]),
                           rows(s->num_inputs + t->r[i].var[k], 0, 1));
            sum[i] = sum[i] < 0 ? x : map_of(p, &op_add, 1, rows(x, 0, 1), rows(sum[i], 0, 1));
        }
    }
    *to = (struct normal_term){t->size, p->nrow, t->kind, arena_array(&p->mem, int, num)};
    for (int i = 0; i < t->size; i++)
        map_of(p, &op_sub, 1, number(s, p, t->r[i].offset),
               sum[i] < 0 ? constant(p, 0) : rows(sum[i], 0, 1));
    for (int e = 0; e < num; e++)
        to->scale[e] = t->scale[e] < 0 ? ~prog_const(p, s->constant[~t->scale[e]]) : t->scale[e];
}

static void make(const struct spec *s, struct integral *g)
{
    *g = (struct integral){.kind = &integral_normal,
                           .num_inputs = s->num_inputs,
                           .num_vars = s->num_vars,
                           .num_comps = s->num_comps,
                           .num_terms = s->num_terms};
    struct arena *mem = &g->body.mem;
    g->body.nnode = g->body.nrow = s->num_inputs + s->num_vars;
    g->var = arena_array(mem, struct variable, s->num_vars);
    g->var_start = arena_array(mem, int, s->num_comps + 1);
    g->term_start = arena_array(mem, int, s->num_comps + 1);
    g->normal = arena_array(mem, struct normal_term, s->num_terms);
    g->scope_start = arena_array(mem, size_t, s->num_terms + 1);
    g->scope = arena_array(mem, int, s->num_terms *MAX_SIZE *MAX_SCOPE);
    memcpy(g->var_start, s->var_start, sizeof *g->var_start * (size_t)(s->num_comps + 1));
    memcpy(g->term_start, s->term_start, sizeof *g->term_start * (size_t)(s->num_comps + 1));
    for (int v = 0; v < s->num_vars; v++) g->var[v].row = 100 + 3 * v;
    size_t num = 0;
    for (int t = 0; t < s->num_terms; t++) {
        size_t first = num;
        for (int i = 0; i < s->term[t].size; i++)
            for (int k = 0; k < s->term[t].r[i].num; k++) g->scope[num++] = s->term[t].r[i].var[k];
        if (num > first) qsort(g->scope + first, num - first, sizeof *g->scope, by_number);
        size_t end = first;
        for (size_t k = first; k < num; k++)
            if (k == first || g->scope[k] != g->scope[end - 1]) g->scope[end++] = g->scope[k];
        g->scope_start[t + 1] = num = end;
        emit_term(s, &s->term[t], g, &g->normal[t]);
    }
    assert_int_equal(prog_finish(&g->body), 0);
}

/* slab: lanes of the body's workspace; 0: as planned. */
static void plan_again(struct integral *g, int slab)
{
    nami_err err = {0};
    if (integral_plan(g, &err)) fail_msg("%s", err.msg);
    if (!slab) return;
    g->lanes = slab;
    if (g->kind->plan(g, &err)) fail_msg("%s", err.msg);
}

static void planned(const struct spec *s, struct integral *g, int slab)
{
    make(s, g);
    plan_again(g, slab);
}

/* ---- dense algebra ---------------------------------------------------------------- */

/* A (n, n) becomes L D L', unit lower triangle and diagonal; returns log|A|. */
static real ldl(int n, real *a)
{
    real sum = 0;
    for (int j = 0; j < n; j++) {
        for (int k = 0; k < j; k++) a[j * n + j] -= a[j * n + k] * a[j * n + k] * a[k * n + k];
        for (int i = j + 1; i < n; i++) {
            for (int k = 0; k < j; k++) a[i * n + j] -= a[i * n + k] * a[j * n + k] * a[k * n + k];
            a[i * n + j] /= a[j * n + j];
        }
        sum += logl(a[j * n + j]);
    }
    return sum;
}

static void ldl_solve(int n, const real *a, real *x)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < i; k++) x[i] -= a[i * n + k] * x[k];
    for (int i = n; i-- > 0;) {
        x[i] /= a[i * n + i];
        for (int k = i + 1; k < n; k++) x[i] -= a[k * n + i] * x[k];
    }
}

/* inverse = A^-1; returns log|A|. */
static real invert(int n, const real *a, real *inverse)
{
    real *l = malloc(sizeof *l * (size_t)(n * n) + 1), *x = malloc(sizeof *x * (size_t)n + 1);
    memcpy(l, a, sizeof *l * (size_t)(n * n));
    real sum = ldl(n, l);
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < n; i++) x[i] = i == j;
        ldl_solve(n, l, x);
        for (int i = 0; i < n; i++) inverse[i * n + j] = x[i];
    }
    free(l), free(x);
    return sum;
}

struct answer {
    real logz[MAX_VARS], mean[MAX_VARS];
    real cov[MAX_VARS * MAX_VARS]; /* of component c: (n, n) at var_start[c] * MAX_VARS */
};

static real value(const struct spec *s, const real *in, int k)
{
    return k < 0 ? (real)s->constant[~k] : in[k];
}

/* The precision of a term; log of its determinant. */
static real precision_of(const struct spec *s, const struct factor *t, const real *in, real *w)
{
    int n = t->size;
    if (t->kind == SCALE_SD) {
        real sd = value(s, in, t->scale[0]);
        *w = 1 / (sd * sd);
        return -2 * logl(sd);
    }
    real a[MAX_SIZE * MAX_SIZE], b[MAX_SIZE * MAX_SIZE];
    for (int e = 0; e < n * n; e++) a[e] = value(s, in, t->scale[e]);
    real sum = invert(n, a, b);
    memcpy(w, t->kind == SCALE_PRECISION ? a : b, sizeof *a * (size_t)(n * n));
    return t->kind == SCALE_PRECISION ? sum : -sum;
}

static real coefficient(const struct spec *s, const struct residual *r, const real *in, int var)
{
    for (int k = 0; k < r->num; k++)
        if (r->var[k] == var) return -value(s, in, r->coef[k]);
    return 0;
}

static void dense_component(const struct spec *s, const real *in, int c, struct answer *d)
{
    static const real log_2pi = 1.8378770664093454835606594728112L;
    int first = s->var_start[c], n = s->var_start[c + 1] - first;
    real q[MAX_VARS * MAX_VARS] = {0}, m[MAX_VARS] = {0}, *cov = d->cov + first * MAX_VARS;
    real w[MAX_SIZE * MAX_SIZE], total = n * log_2pi / 2;
    for (int round = 0; round < 2; round++) { /* Q and h; the terms at the mean */
        for (int t = s->term_start[c]; t < s->term_start[c + 1]; t++) {
            const struct factor *x = &s->term[t];
            real logdet = precision_of(s, x, in, w), e[MAX_SIZE];
            for (int i = 0; i < x->size; i++) {
                e[i] = value(s, in, x->r[i].offset);
                for (int v = 0; v < n && round; v++)
                    e[i] += coefficient(s, &x->r[i], in, first + v) * m[v];
            }
            for (int i = 0; i < x->size; i++)
                for (int j = 0; j < x->size; j++) {
                    if (round) total -= e[i] * w[i * x->size + j] * e[j] / 2;
                    for (int v = 0; v < n && !round; v++) {
                        real cv = coefficient(s, &x->r[i], in, first + v) * w[i * x->size + j];
                        if (cv == 0) continue;
                        m[v] -= cv * e[j];
                        for (int u = 0; u < n; u++)
                            q[v * n + u] += cv * coefficient(s, &x->r[j], in, first + u);
                    }
                }
            if (round) total += logdet / 2 - x->size * log_2pi / 2;
        }
        if (round) continue;
        total -= invert(n, q, cov) / 2;
        ldl(n, q);
        ldl_solve(n, q, m);
    }
    d->logz[c] = total;
    memcpy(d->mean + first, m, sizeof *m * (size_t)n);
}

static void dense_all(const struct spec *s, const real *in, struct answer *d)
{
    for (int c = 0; c < s->num_comps; c++) dense_component(s, in, c, d);
}

/* ---- comparisons
 * ---------------------------------------------------------------------------------- */

static double worst;

static void same(double got, real want, double tolerance)
{
    double d = fabs((double)(got - want)) / fmax(1, fabs((double)want));
    if (d > worst) worst = d;
    if (!(d <= tolerance)) fail_msg("%.17g is not %.17Lg", got, want);
}

static void say(const char *what)
{
    print_message("%s: largest difference %.1e\n", what, worst);
    worst = 0;
}

static real combined(const struct spec *s, const real *in, const double *weight, struct answer *d)
{
    real sum = 0;
    dense_all(s, in, d);
    for (int c = 0; c < s->num_comps; c++) sum += d->logz[c] * (real)weight[c];
    return sum;
}

/* The derivative of sum weight[c] log Z_c by input k: differences of fourth order. */
static real derivative(const struct spec *s, real *in, int k, const double *weight)
{
    static const real h = 1e-4L;
    struct answer d;
    real x = in[k], f[4];
    for (int i = 0; i < 4; i++) {
        in[k] = x + (real)(i < 2 ? i - 2 : i - 1) * h;
        f[i] = combined(s, in, weight, &d);
    }
    in[k] = x;
    return (8 * (f[2] - f[1]) - (f[3] - f[0])) / (12 * h);
}

static void compare(const struct spec *s, struct integral *g, int lanes, int with_derivatives,
                    struct rng *r)
{
    struct call c = call_new(g, lanes);
    size_t L = (size_t)lanes;
    struct answer *d = malloc(sizeof *d);
    real in[MAX_NUMBERS];
    for (size_t b = 0; b < L; b++) fill(s, c.in + b, L, r);
    for (size_t k = 0; k < (size_t)g->num_comps * L; k++) c.dout[k] = uniform(r, -1, 1);
    double *logz = doubles((size_t)g->num_comps * L);
    call_run(&c);
    memcpy(logz, c.out, sizeof *logz * (size_t)g->num_comps * L);
    call_moments(&c);
    call_back(&c);
    for (size_t b = 0; b < L; b++) {
        for (int k = 0; k < s->num_inputs; k++) in[k] = c.ins[k].p[b];
        dense_all(s, in, d);
        for (int k = 0; k < s->num_comps; k++) {
            same(logz[(size_t)k * L + b], d->logz[k], 1e-11);
            int first = s->var_start[k], n = s->var_start[k + 1] - first;
            for (int v = 0; v < n; v++) {
                same(c.outs[first + v][b], d->mean[first + v], 1e-11);
                same(c.outs[s->num_vars + first + v][b], d->cov[first * MAX_VARS + v * n + v],
                     1e-11);
            }
        }
        double weight[MAX_VARS];
        for (int k = 0; k < s->num_comps; k++) weight[k] = c.dout[(size_t)k * L + b];
        for (int k = 0; k < s->num_inputs && with_derivatives && (b == 0 || b == L - 1); k++)
            same(c.dins[k][b], derivative(s, in, k, weight), 1e-10);
    }
    free(logz), free(d);
    call_free(&c);
}

/* ---- cases
 * --------------------------------------------------------------------------------------- */

static void random_spec(struct spec *s, int t, int most, struct rng *r)
{
    *s = (struct spec){0};
    int comps = t % 3 == 2 ? 1 + (int)rng_below(r, 5) : 1;
    for (int c = 0; c < comps; c++)
        a_component(s, (enum shape)((t + c) % SHAPES),
                    1 + (int)rng_below(r, (uint32_t)(most / comps)),
                    t % 2 ? (int)rng_below(r, 4) : 0, r);
}

static void agrees_with_dense_algebra(void **state)
{
    (void)state;
    static const int lanes[] = {1, 7, 64, 100};
    struct spec *s = malloc(sizeof *s);
    struct rng r;
    rng_init(&r, 3, 0);
    for (int t = 0; t < 200; t++) {
        struct integral g;
        random_spec(s, t, t % 10 ? 12 : MAX_VARS / 2, &r);
        planned(s, &g, t % 4 == 1 ? 8 : t % 4 == 2 ? 24 : 0);
        compare(s, &g, lanes[t % 4], t % 5 == 0, &r);
        integral_free(&g);
    }
    say("200 integrals of several shapes");
    free(s);
}

/* Fronts with many pivots, with many rows below, and bundles with many residuals. */
static void large_fronts(void **state)
{
    (void)state;
    struct spec *s = malloc(sizeof *s);
    struct rng r;
    rng_init(&r, 4, 0);
    for (int shape = 0; shape < SHAPES; shape++) {
        struct integral g;
        *s = (struct spec){0};
        a_component(s, (enum shape)shape, MAX_VARS, 2, &r);
        while (s->num_terms < MAX_TERMS) {
            struct factor *t = new_term(s, &r);
            read_var(&t->r[0], 3, a_number(s, &r));
            read_var(&t->r[0], 5, a_number(s, &r));
        }
        s->term_start[1] = s->num_terms;
        planned(s, &g, 0);
        compare(s, &g, 9, 0, &r);
        integral_free(&g);
    }
    say("40 variables");
    free(s);
}

/* Lanes have the same bits for any number of others, any slab and any chunk. */
static void lanes_are_independent(void **state)
{
    (void)state;
    enum { L = 100 };
    struct spec *s = malloc(sizeof *s);
    struct rng r;
    rng_init(&r, 5, 0);
    for (int t = 0; t < 12; t++) {
        struct integral g, h;
        random_spec(s, t, 12, &r);
        planned(s, &g, 0);
        planned(s, &h, 16);
        struct call c = call_new(&g, L), one = call_new(&h, 8);
        for (int b = 0; b < L; b++) fill(s, c.in + b, L, &r);
        for (int what = 0; what < 3; what++) {
            int num = what == 0 ? g.num_comps : what == 1 ? 2 * g.num_vars : g.num_vars;
            if (what == 0) call_run(&c);
            if (what == 1) call_moments(&c);
            if (what == 2) call_draw(&c, 11, 40);
            for (int first = 0; first < 96; first += 8) {
                for (int k = 0; k < s->num_inputs; k++)
                    memcpy(one.in + k * 8, c.ins[k].p + first, sizeof *one.in * 8);
                if (what == 0) call_run(&one);
                if (what == 1) call_moments(&one);
                if (what == 2) call_draw(&one, 11, (uint64_t)(40 + first));
                for (int k = 0; k < num; k++)
                    assert_memory_equal(one.outs[k], c.outs[k] + first, sizeof *one.out * 8);
            }
        }
        call_free(&c), call_free(&one);
        integral_free(&g), integral_free(&h);
    }
    free(s);
}

/* Draws, standardized by the exact moments, have mean 0, variance 1 and no correlations. With
   40,000 draws, sums are normal in good approximation; 6.5 standard errors in about 1,500 numbers
   have a probability of 1.2e-7. */
static void draws_have_the_right_moments(void **state)
{
    (void)state;
    enum { L = 200, TIMES = 200, N = L * TIMES };
    struct spec *s = malloc(sizeof *s);
    struct answer *d = malloc(sizeof *d);
    struct rng r;
    double most = 0;
    int num = 0;
    rng_init(&r, 6, 0);
    for (int t = 0; t < 2 * SHAPES; t++) {
        struct integral g;
        *s = (struct spec){0};
        a_component(s, (enum shape)(t % SHAPES), 15, t / SHAPES, &r);
        planned(s, &g, 0);
        struct call c = call_new(&g, L);
        real in[MAX_NUMBERS], l[MAX_VARS * MAX_VARS], z[MAX_VARS];
        double sum[MAX_VARS] = {0}, both[MAX_VARS][MAX_VARS] = {{0}};
        int n = s->num_vars;
        fill(s, c.in, L, &r);
        for (int k = 0; k < s->num_inputs; k++) in[k] = c.in[(size_t)k * L], c.ins[k].step = 0;
        dense_all(s, in, d);
        memcpy(l, d->cov, sizeof *l * (size_t)(n * n));
        ldl(n, l);
        for (int i = 0; i < TIMES; i++) {
            call_draw(&c, 7, (uint64_t)(i * L));
            for (int b = 0; b < L; b++) {
                for (int v = 0; v < n; v++) {
                    z[v] = c.outs[v][b] - d->mean[v];
                    for (int k = 0; k < v; k++) z[v] -= l[v * n + k] * z[k];
                }
                for (int v = 0; v < n; v++) z[v] /= sqrtl(l[v * n + v]);
                for (int v = 0; v < n; v++) {
                    sum[v] += (double)z[v];
                    for (int u = 0; u <= v; u++) both[v][u] += (double)(z[v] * z[u]) - (u == v);
                }
            }
        }
        for (int v = 0; v < n; v++) {
            most = fmax(most, fabs(sum[v]) / sqrt(N));
            for (int u = 0; u <= v; u++, num++)
                most = fmax(most, fabs(both[v][u]) / sqrt((u == v ? 2 : 1) * (double)N));
        }
        call_free(&c);
        integral_free(&g);
    }
    print_message("%d numbers, at most %.2f standard errors\n", num + 30 * SHAPES, most);
    assert_true(most < 6.5);
    free(s), free(d);
}

/* An intercept and effects of groups with sds of up to 1e6, and observations with an sd of 0.01. */
static void vague_priors_are_precise(void **state)
{
    (void)state;
    static const double sds[] = {1e3, 1e6};
    struct spec *s = malloc(sizeof *s);
    struct answer *d = malloc(sizeof *d);
    struct rng r;
    rng_init(&r, 8, 0);
    for (int t = 0; t < 4; t++) {
        struct integral g;
        *s = (struct spec){.num_vars = 9, .num_comps = 1, .var_start = {0, 9}};
        for (int v = 0; v < 9; v++) {
            struct factor *x = new_term(s, &r);
            x->scale[0] = a_constant(s, v == 0 || t < 2 ? sds[t % 2] : 1);
            x->r[0].offset = a_constant(s, 0);
            read_var(&x->r[0], v, a_constant(s, 1));
            if (v && t < 2) read_var(&x->r[0], 0, a_constant(s, -1));
        }
        for (int k = 0; k < 40; k++) {
            struct factor *x = new_term(s, &r);
            x->scale[0] = a_constant(s, 0.01);
            x->r[0].offset = a_constant(s, uniform(&r, 900, 1100));
            read_var(&x->r[0], 1 + k % 8, a_constant(s, 1));
            if (t >= 2) read_var(&x->r[0], 0, a_constant(s, 1));
        }
        s->term_start[1] = s->num_terms;
        planned(s, &g, 0);
        struct call c = call_new(&g, 1);
        dense_all(s, NULL, d);
        call_run(&c);
        same(c.out[0], d->logz[0], 1e-11);
        call_moments(&c);
        for (int v = 0; v < 9; v++) {
            real sd = sqrtl(d->cov[v * 9 + v]);
            same(c.outs[v][0] / (double)sd, d->mean[v] / sd, 1e-7);
            same(sqrt(c.outs[9 + v][0]) / (double)sd, 1, 1e-7);
        }
        call_free(&c);
        integral_free(&g);
        say(t < 2 ? "vague groups" : "a vague sum");
    }
    free(s), free(d);
}

/* What is wrong in a lane makes its component NaN, and no other. */
static void improper_lanes_are_nan(void **state)
{
    (void)state;
    struct spec *s = malloc(sizeof *s);
    struct rng r;
    rng_init(&r, 9, 0);
    for (int t = 0; t < 5; t++) {
        struct integral g;
        *s = (struct spec){0};
        for (int c = 0; c < 2; c++) {
            s->num_vars++;
            struct factor *x = new_term(s, &r);
            x->scale[0] = an_input(s);
            read_var(&x->r[0], c, an_input(s));
            x = new_term(s, &r);
            x->size = 2;
            x->kind = t % 2 ? SCALE_PRECISION : SCALE_COVARIANCE;
            for (int e = 0; e < 4; e++) x->scale[e] = e == 2 ? x->scale[1] : an_input(s);
            x->r[0].offset = x->r[1].offset = a_constant(s, 0.3);
            read_var(&x->r[0], c, an_input(s));
            s->var_start[++s->num_comps] = s->num_vars;
            s->term_start[s->num_comps] = s->num_terms;
        }
        planned(s, &g, 0);
        struct call c = call_new(&g, 8);
        const struct factor *one = &s->term[2], *two = &s->term[3];
        for (int k = 0; k < s->num_inputs; k++)
            for (int b = 0; b < 8; b++) c.in[k * 8 + b] = uniform(&r, 0.5, 1);
        for (int b = 0; b < 8; b++)
            c.in[s->term[1].scale[1] * 8 + b] = c.in[two->scale[1] * 8 + b] = 0.1;
        double *sd = c.in + one->scale[0] * 8, *corner = c.in + two->scale[3] * 8;
        for (int b = 0; b < 4; b++) {
            if (t == 0) sd[b] = b ? -b : 0;
            if (t == 1) sd[b] = b % 2 ? NAN : INFINITY;
            if (t == 2 || t == 3) corner[b] = b % 2 ? -1 : 0; /* not positive definite */
            if (t == 4)                                       /* no information */
                c.in[one->r[0].coef[0] * 8 + b] = c.in[two->r[0].coef[0] * 8 + b] = 0;
        }
        for (int b = 0; b < 16; b++) c.dout[b] = 1;
        call_run(&c);
        for (int b = 0; b < 8; b++) {
            assert_true(isfinite(c.outs[0][b]));
            assert_int_equal(isnan(c.outs[1][b]), b < 4);
        }
        call_back(&c);
        for (int k = 0; k < s->num_inputs; k++)
            for (int b = 4; b < 8; b++) assert_true(isfinite(c.dins[k][b]));
        for (int b = 0; b < 8; b++) assert_int_equal(isnan(c.dins[one->scale[0]][b]), b < 4);
        call_moments(&c);
        for (int b = 0; b < 8; b++) {
            assert_true(isfinite(c.outs[0][b]) && isfinite(c.outs[2][b]));
            assert_int_equal(isnan(c.outs[1][b]), b < 4);
            assert_int_equal(isnan(c.outs[3][b]), b < 4);
        }
        call_free(&c);
        integral_free(&g);
    }
    free(s);
}

/* ---- a state-space model
 * ---------------------------------------------------------------------------- */

/* x[1] ~ normal(0, 1), x[t] ~ normal(a x[t-1], q), y[t] ~ normal(x[t], r); inputs a, q, r, y. */
static void state_space(struct integral *g, int T)
{
    *g = (struct integral){.kind = &integral_normal,
                           .num_inputs = 3 + T,
                           .num_vars = T,
                           .num_comps = 1,
                           .num_terms = 2 * T};
    struct prog *p = &g->body;
    struct arena *mem = &p->mem;
    int x = 3 + T;
    p->nnode = p->nrow = x + T;
    g->var = arena_array(mem, struct variable, T);
    g->var_start = arena_array(mem, int, 2);
    g->term_start = arena_array(mem, int, 2);
    g->normal = arena_array(mem, struct normal_term, 2 * T);
    g->scope_start = arena_array(mem, size_t, 2 * T + 1);
    g->scope = arena_array(mem, int, 3 * T);
    g->var_start[1] = T;
    g->term_start[1] = 2 * T;
    int first = map_of(p, &op_sub, 1, rows(x, 0, 1), constant(p, 0));
    int mean = map_of(p, &op_mul, T - 1, rows(0, 0, 1), rows(x, 1, 1));
    int next = map_of(p, &op_sub, T - 1, rows(x + 1, 1, 1), rows(mean, 1, 1));
    int noise = map_of(p, &op_sub, T, rows(3, 1, 1), rows(x, 1, 1));
    int *scale = arena_array(mem, int, 3);
    scale[0] = ~prog_const(p, 1), scale[1] = 1, scale[2] = 2;
    size_t num = 0;
    for (int t = 0; t < 2 * T; t++) {
        int k = t % T, is_state = t < T;
        g->normal[t] = (struct normal_term){1,
                                            !is_state ? noise + k
                                            : k       ? next + k - 1
                                                      : first,
                                            SCALE_SD,
                                            !is_state ? &scale[2]
                                            : k       ? &scale[1]
                                                      : &scale[0]};
        if (is_state && k) g->scope[num++] = k - 1;
        g->scope[num++] = k;
        g->scope_start[t + 1] = num;
        g->var[k].row = k;
    }
    assert_int_equal(prog_finish(p), 0);
    plan_again(g, 0);
}

/* log p(y), means and variances of x given all y: Kalman filter, Rauch-Tung-Striebel smoother. */
static real kalman(int T, real a, real q, real r, const double *y, size_t step, real *m, real *v)
{
    real *before = malloc(sizeof *before * (size_t)T), logp = 0;
    for (int t = 0; t < T; t++) {
        real mean = t ? a * m[t - 1] : 0, var = t ? a * a * v[t - 1] + q * q : 1;
        real total = var + r * r, e = y[(size_t)t * step] - mean;
        before[t] = var;
        logp -= (logl(2 * acosl(-1) * total) + e * e / total) / 2;
        m[t] = mean + var / total * e;
        v[t] = var - var * var / total;
    }
    for (int t = T - 2; t >= 0; t--) {
        real gain = a * v[t] / before[t + 1];
        m[t] += gain * (m[t + 1] - a * m[t]);
        v[t] += gain * gain * (v[t + 1] - before[t + 1]);
    }
    free(before);
    return logp;
}

static void state_space_is_a_kalman_filter(void **state)
{
    (void)state;
    enum { T = 1000, L = 11 };
    struct integral g;
    struct rng r;
    rng_init(&r, 10, 0);
    state_space(&g, T);
    assert_true(((struct normal *)g.own)->num_colors == 2);
    struct call c = call_new(&g, L);
    real *m = malloc(sizeof *m * T), *v = malloc(sizeof *v * T);
    for (int b = 0; b < L; b++) {
        c.in[b] = uniform(&r, -1, 1.001);
        c.in[L + b] = exp(uniform(&r, -3, 1));
        c.in[2 * L + b] = exp(uniform(&r, -3, 1));
        for (int t = 0; t < T; t++) c.in[(3 + t) * L + b] = uniform(&r, -3, 3);
        c.dout[b] = 1;
    }
    call_run(&c);
    double logz[L];
    memcpy(logz, c.out, sizeof logz);
    call_moments(&c);
    call_back(&c);
    for (int b = 0; b < L; b++) {
        real p[3] = {c.in[b], c.in[L + b], c.in[2 * L + b]}, f[4];
        for (int k = 0; k < 3; k++) {
            static const real h = 1e-5L;
            real x = p[k];
            for (int i = 0; i < 4; i++) {
                p[k] = x * (1 + (real)(i < 2 ? i - 2 : i - 1) * h);
                f[i] = kalman(T, p[0], p[1], p[2], c.in + 3 * L + b, L, m, v);
            }
            p[k] = x;
            same(c.dins[k][b], (8 * (f[2] - f[1]) - (f[3] - f[0])) / (12 * h * x), 1e-8);
        }
        same(logz[b], kalman(T, p[0], p[1], p[2], c.in + 3 * L + b, L, m, v), 1e-11);
        for (int t = 0; t < T; t++) {
            same(c.outs[t][b], m[t], 1e-11);
            same(c.outs[T + t][b], v[t], 1e-11);
        }
    }
    say("1,000 time points");
    free(m), free(v);
    call_free(&c);
    integral_free(&g);
}

/* ---- limits
 * ------------------------------------------------------------------------------------------- */

struct job {
    struct integral g;
    size_t entries; /* of the factor; 0: no plan */
};

static int plan_fails(void *ctx)
{
    nami_err err;
    struct job *j = ctx;
    struct arena mem = j->g.body.mem;
    j->g.body.mem = (struct arena){0}; /* what is planned is freed each time */
    int rc = j->g.kind->plan(&j->g, &err);
    j->entries = rc ? 0 : ((const struct normal *)j->g.own)->qr.num_values;
    arena_free(&j->g.body.mem);
    j->g.body.mem = mem;
    return rc;
}

/* A few allocations of the elimination may fail without harm: then the plan is the same. */
static void out_of_memory(void **state)
{
    (void)state;
    struct spec *s = malloc(sizeof *s);
    struct rng r;
    struct job j;
    const char *why;
    int more = 1, n = 0;
    rng_init(&r, 12, 0);
    *s = (struct spec){0};
    a_component(s, LOOSE, 12, 2, &r);
    a_component(s, PLATE, 6, 1, &r);
    planned(s, &j.g, 0);
    assert_int_equal(plan_fails(&j), 0);
    for (size_t want = j.entries; more > 0; n += more) {
        more = nomem_at(plan_fails, &j, n + 1, &why);
        if (more < 0 && strcmp(why, "a failed allocation without an error") == 0 &&
            j.entries == want)
            more = 1;
        if (more < 0) fail_msg("%s", why);
    }
    print_message("%d allocations failed\n", n);
    assert_true(n > 30);
    integral_free(&j.g);
    free(s);
}

/* A sum of 20,000 variables connects all of them. */
static void too_dense_is_refused(void **state)
{
    (void)state;
    enum { N = 20000 };
    struct integral g = {.kind = &integral_normal, .num_vars = N, .num_comps = 1, .num_terms = 1};
    struct arena *mem = &g.body.mem;
    nami_err err = {0};
    g.body.nnode = N, g.body.nrow = N + 1;
    g.var = arena_array(mem, struct variable, N);
    g.var_start = arena_array(mem, int, 2);
    g.term_start = arena_array(mem, int, 2);
    g.normal = arena_array(mem, struct normal_term, 1);
    g.scope_start = arena_array(mem, size_t, 2);
    g.scope = arena_array(mem, int, N);
    g.var_start[1] = N, g.term_start[1] = 1, g.scope_start[1] = N;
    for (int v = 0; v < N; v++) g.scope[v] = v;
    int scale = ~prog_const(&g.body, 1);
    g.normal[0] = (struct normal_term){1, N, SCALE_SD, &scale};
    assert_int_equal(integral_plan(&g, &err), NAMI_ELIMIT);
    assert_string_equal(err.msg, "is one of 20000 linear Gaussian variables whose precision matrix "
                                 "is too dense to be factorized");
    integral_free(&g);
}

/* ---- models of the language
 * ------------------------------------------------------------------------- */

enum { LANES_OF = 12 };

struct text {
    struct model m;
    struct integral g;
    struct prog rest;
    int num;
    struct variable var[MAX_VARS];
};

static void add_array(struct text *x, const char *name)
{
    const struct array *a = &x->m.ir.arrays.a[array_find(&x->m, name)];
    for (int k = 0; k < a->n; k++)
        x->var[x->num++] = (struct variable){.row = row_of(&x->m, name, k)};
}

/* The log density and its derivatives at `num` points z (num, n), other rows those of lane b. */
static void densities(const struct text *x, const double *all, int b, int num, const real *z,
                      double *value_at, double *grad)
{
    size_t rows_of = (size_t)x->m.ir.num_rows;
    double *y = doubles(rows_of * (size_t)num);
    for (size_t r = 0; r < rows_of; r++)
        for (int i = 0; i < num; i++)
            y[r * (size_t)num + (size_t)i] = all[r * LANES_OF + (size_t)b];
    for (int i = 0; i < num; i++)
        for (int v = 0; v < x->num; v++)
            y[(size_t)x->var[v].row * (size_t)num + (size_t)i] = (double)z[i * x->num + v];
    logp(&x->m, (size_t)num, y, 1, (struct density){.logp = value_at, .grad = grad});
    free(y);
}

/* The log density is a quadratic function of the variables: by its derivatives at 0 and at unit
   vectors, log of its integral; by those at 2 n points that have the mean and covariance of the
   posterior, the derivatives of the integral, which are expectations. */
static real integral_of(const struct text *x, const double *all, int b, real *mean_grad)
{
    int n = x->num, num = 2 * n + 1;
    size_t rows_of = (size_t)x->m.ir.num_rows;
    real *z = calloc((size_t)(num * n), sizeof *z), q[MAX_VARS * MAX_VARS],
         cov[MAX_VARS * MAX_VARS];
    real m[MAX_VARS], total;
    double *at = doubles((size_t)num), *grad = doubles(rows_of * (size_t)num);
    for (int v = 0; v < n; v++) z[(v + 1) * n + v] = 1;
    densities(x, all, b, num, z, at, grad);
    for (int v = 0; v < n; v++) {
        const double *g = grad + (size_t)x->var[v].row * (size_t)num;
        m[v] = g[0];
        for (int u = 0; u < n; u++) q[v * n + u] = (real)g[0] - (real)g[u + 1];
    }
    total = at[0];
    real h[MAX_VARS];
    memcpy(h, m, sizeof h);
    total += n * logl(2 * acosl(-1)) / 2 - invert(n, q, cov) / 2;
    ldl(n, q);
    ldl_solve(n, q, m);
    for (int v = 0; v < n; v++) total += h[v] * m[v] / 2;
    ldl(n, cov);
    for (int k = 0; k < n; k++)
        for (int v = 0; v < n; v++) {
            real l = v < k ? 0 : (v == k ? 1 : cov[v * n + k]) * sqrtl((real)n * cov[k * n + k]);
            z[2 * k * n + v] = m[v] + l;
            z[(2 * k + 1) * n + v] = m[v] - l;
        }
    densities(x, all, b, 2 * n, z, at, grad);
    for (size_t r = 0; r < rows_of; r++) {
        mean_grad[r] = 0;
        for (int i = 0; i < 2 * n; i++)
            mean_grad[r] += (real)grad[r * (size_t)(2 * n) + (size_t)i] / (2 * n);
    }
    free(z), free(at), free(grad);
    return total;
}

/* The latents `names` (ends with NULL) are integrated out of the density of a model. */
static void is_integrated_out(const char *text, const char *const *names, int num_comps)
{
    struct text x = {0};
    struct exec e;
    nami_err err = {0};
    build(&x.m, text, NULL);
    for (int k = 0; names[k]; k++) add_array(&x, names[k]);
    if (split_integral(&x.m.programs.density, x.num, x.var, &integral_normal, &x.g, &x.rest,
                       &err) ||
        exec_init(&e, &x.rest, LANES_OF, 0, EXEC_GRAD, &err))
        fail_msg("%s", err.msg);
    assert_int_equal(x.g.num_comps, num_comps);
    size_t rows_of = (size_t)x.m.ir.num_rows;
    double *all = draw(&x.m, LANES_OF, 1);
    real *mean_grad = malloc(sizeof *mean_grad * (rows_of + 1));
    for (size_t r = 0; r < rows_of; r++)
        memcpy(e.row + r * (size_t)e.cap, all + r * LANES_OF, sizeof *all * LANES_OF);
    e.lanes = LANES_OF;
    exec_run(&e);
    exec_back(&e);
    for (int b = 0; b < LANES_OF; b++) {
        same(e.total[b], integral_of(&x, all, b, mean_grad), 1e-8);
        for (size_t r = 0; r < rows_of; r++) {
            int is_out = 0;
            for (int v = 0; v < x.num; v++) is_out |= x.var[v].row == (int)r;
            if (!is_out) same(e.adj[r * (size_t)e.cap + (size_t)b], mean_grad[r], 1e-7);
        }
    }
    print_message("%d variables, %d components, %.1f runs of %d rows, difference %.1e\n", x.num,
                  x.g.num_comps, x.g.runs, x.g.body.nrow, worst);
    worst = 0;
    free(all), free(mean_grad);
    exec_fini(&e);
    integral_free(&x.g);
    prog_free(&x.rest);
    model_fini(&x.m);
}

static void models_are_integrated(void **state)
{
    (void)state;
    static const char schools[] = "const J = 8; const s[8] = c(15, 10, 16, 11, 9, 11, 10, 18)\n"
                                  "model {\n"
                                  "  mu ~ normal(0, 10)\n"
                                  "  tau ~ half_normal(10)\n"
                                  "  for (j in 1:J) {\n"
                                  "    theta[j] ~ normal(mu, tau)\n"
                                  "    y[j] ~ normal(theta[j], s[j])\n"
                                  "  }\n"
                                  "}\nobserve y\n";
    static const char series[] = "model {\n"
                                 "  a ~ uniform(-1, 1)\n"
                                 "  q ~ gamma(2, 2)\n"
                                 "  r ~ gamma(2, 2)\n"
                                 "  x[1] ~ normal(0, q / sqrt(1 - a^2))\n"
                                 "  for (t in 2:12) { x[t] ~ normal(a * x[t-1], q) }\n"
                                 "  for (t in 1:12) { y[t] ~ normal(2 * x[t] - 1, r) }\n"
                                 "}\nobserve y\n";
    static const char regression[] =
        "model {\n"
        "  sigma ~ gamma(2, 2)\n"
        "  alpha ~ normal(0, 100)\n"
        "  for (k in 1:3) { beta[k] ~ normal(0, 10) }\n"
        "  for (i in 1:9) {\n"
        "    y[i] ~ normal(alpha + beta[1] * i + beta[2] * sin(i) + beta[3] * i / 9, sigma)\n"
        "  }\n"
        "}\nobserve y\n";
    static const char slopes[] =
        "model {\n"
        "  rho ~ uniform(-1, 1)\n"
        "  tau ~ gamma(3, 2)\n"
        "  sigma ~ gamma(3, 2)\n"
        "  S[1, 1] <- tau^2\n  S[2, 2] <- 1\n"
        "  S[1, 2] <- rho * tau\n  S[2, 1] <- rho * tau\n"
        "  m[1:2] ~ multi_normal(c(0, 1), diag(4, 9))\n"
        "  for (i in 1:4) {\n"
        "    b[i, 1:2] ~ multi_normal(m[1:2], S[1:2, 1:2])\n"
        "    for (t in 1:3) { y[i, t] ~ normal(b[i, 1] + b[i, 2] * (t - 2), sigma) }\n"
        "  }\n"
        "}\nobserve y\n";
    is_integrated_out(schools, (const char *const[]){"theta", NULL}, 8);
    is_integrated_out(schools, (const char *const[]){"theta", "mu", NULL}, 1);
    is_integrated_out(series, (const char *const[]){"x", NULL}, 1);
    is_integrated_out(regression, (const char *const[]){"alpha", "beta", NULL}, 1);
    is_integrated_out(slopes, (const char *const[]){"b", NULL}, 4);
    is_integrated_out(slopes, (const char *const[]){"b", "m", NULL}, 1);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(agrees_with_dense_algebra),
    cmocka_unit_test(large_fronts),
    cmocka_unit_test(lanes_are_independent),
    cmocka_unit_test(draws_have_the_right_moments),
    cmocka_unit_test(vague_priors_are_precise),
    cmocka_unit_test(improper_lanes_are_nan),
    cmocka_unit_test(state_space_is_a_kalman_filter),
    cmocka_unit_test(models_are_integrated),
    cmocka_unit_test(out_of_memory),
    cmocka_unit_test(too_dense_is_refused),
};
RUN(tests)
