/* normal_spec.h: linear Gaussian integrals as lists of terms: random ones, as programs, and by
   dense algebra in long double. */
#ifndef TESTS_NORMAL_SPEC_H
#define TESTS_NORMAL_SPEC_H

#include "base/rng.h"
#include "exact/integral_normal.h"
#include "exact/split.h"
#include "integral_call.h"

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

static inline double uniform(struct rng *r, double low, double high)
{
    return low + (high - low) * rng_unit(r);
}

/* ---- random integrals ------------------------------------------------------------- */

static inline int an_input(struct spec *s)
{
    assert_true(s->num_inputs < MAX_NUMBERS);
    return s->num_inputs++;
}

static inline int a_constant(struct spec *s, double x)
{
    assert_true(s->num_constants < MAX_NUMBERS);
    s->constant[s->num_constants] = x;
    return ~s->num_constants++;
}

static inline int a_number(struct spec *s, struct rng *r)
{
    int what = (int)rng_below(r, 6);
    return what == 0   ? a_constant(s, 0)
           : what == 1 ? a_constant(s, uniform(r, -1.5, 1.5))
                       : an_input(s);
}

static inline int an_sd(struct spec *s, struct rng *r)
{
    if (rng_below(r, 4) == 0) return a_constant(s, uniform(r, 0.3, 2));
    for (int k = 0; k < s->num_inputs && rng_below(r, 2); k++) /* some are shared */
        if (s->is_sd[k]) return k;
    int k = an_input(s);
    s->is_sd[k] = 1;
    return k;
}

static inline void a_matrix(struct spec *s, int size, int *scale, struct rng *r)
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

static inline void read_var(struct residual *x, int var, int coef)
{
    for (int k = 0; k < x->num; k++)
        if (x->var[k] == var) return;
    if (x->num == MAX_SCOPE) return;
    x->var[x->num] = var;
    x->coef[x->num++] = coef;
}

static inline struct factor *new_term(struct spec *s, struct rng *r)
{
    assert_true(s->num_terms < MAX_TERMS);
    struct factor *t = &s->term[s->num_terms++];
    *t = (struct factor){.kind = SCALE_SD, .size = 1, .scale = {an_sd(s, r)}};
    t->r[0].offset = a_number(s, r);
    return t;
}

enum shape { CHAIN, TREE, PLATE, DENSE, LOOSE, SHAPES };

/* Is u < v a parent of v? */
static inline int is_parent(enum shape shape, int v, int u, struct rng *r)
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
static inline void a_component(struct spec *s, enum shape shape, int n, int with_vectors,
                               struct rng *r)
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
static inline void fill(const struct spec *s, double *in, size_t step, struct rng *r)
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

static inline struct operand number(const struct spec *s, struct prog *p, int k)
{
    return k < 0 ? constant(p, s->constant[~k]) : rows(k, 0, 1);
}

static inline int by_number(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static inline void emit_term(const struct spec *s, const struct factor *t, struct integral *g,
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

static inline void make(const struct spec *s, struct integral *g)
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
static inline void plan_again(struct integral *g, int slab)
{
    nami_err err = {0};
    if (integral_plan(g, &err)) fail_msg("%s", err.msg);
    if (!slab) return;
    g->lanes = slab;
    if (g->kind->plan(g, &err)) fail_msg("%s", err.msg);
}

static inline void planned(const struct spec *s, struct integral *g, int slab)
{
    make(s, g);
    plan_again(g, slab);
}

/* ---- dense algebra ---------------------------------------------------------------- */

/* A (n, n) becomes L D L', unit lower triangle and diagonal; returns log|A|. */
static inline real ldl(int n, real *a)
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

static inline void ldl_solve(int n, const real *a, real *x)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < i; k++) x[i] -= a[i * n + k] * x[k];
    for (int i = n; i-- > 0;) {
        x[i] /= a[i * n + i];
        for (int k = i + 1; k < n; k++) x[i] -= a[k * n + i] * x[k];
    }
}

/* inverse = A^-1; returns log|A|. */
static inline real invert(int n, const real *a, real *inverse)
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

static inline real value(const struct spec *s, const real *in, int k)
{
    return k < 0 ? (real)s->constant[~k] : in[k];
}

/* The precision of a term; log of its determinant. */
static inline real precision_of(const struct spec *s, const struct factor *t, const real *in,
                                real *w)
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

static inline real coefficient(const struct spec *s, const struct residual *r, const real *in,
                               int var)
{
    for (int k = 0; k < r->num; k++)
        if (r->var[k] == var) return -value(s, in, r->coef[k]);
    return 0;
}

static inline void dense_component(const struct spec *s, const real *in, int c, struct answer *d)
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

static inline void dense_all(const struct spec *s, const real *in, struct answer *d)
{
    for (int c = 0; c < s->num_comps; c++) dense_component(s, in, c, d);
}

/* ---- comparisons
 * ---------------------------------------------------------------------------------- */

static double worst; /* difference that `same` has seen */

static inline void same(double got, real want, double tolerance)
{
    double d = fabs((double)(got - want)) / fmax(1, fabs((double)want));
    if (d > worst) worst = d;
    if (!(d <= tolerance)) fail_msg("%.17g is not %.17Lg", got, want);
}

static inline void say(const char *what)
{
    print_message("%s: largest difference %.1e\n", what, worst);
    worst = 0;
}

#endif
