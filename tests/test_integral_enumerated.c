/* test_integral_enumerated.c: sums over discrete variables agree with enumeration (value,
   derivatives, moments, draws) for any number of lanes; hidden Markov models with a
   forward-backward pass; models of the language with their own densities; what is refused. */
#include "exact/tables.h"

#include "base/clock.h"
#include "base/rng.h"
#include "exact/split.h"
#include "integral_call.h"
#include "malloc_fail.h"
#include "model_at.h"

typedef long double real;

enum { MAX_VARS = 40, MAX_TERMS = 400, MAX_SCOPE = 13, MAX_STATES = 5 };

/* Terms are tables, whose entries are inputs; a table of term t begins at input first[t]. */
struct factors {
    int num_comps, var_start[MAX_VARS + 1], term_start[MAX_VARS + 1];
    int num_vars, states[MAX_VARS];
    int num_terms, num_scope[MAX_TERMS], scope[MAX_TERMS][MAX_SCOPE], first[MAX_TERMS + 1];
};

static double low_of(int var) { return var % 3 - 1; } /* -1, 0, 1 */

static int entry_of(const struct factors *f, int t, const int *x)
{
    int e = 0;
    for (int k = 0; k < f->num_scope[t]; k++) e = e * f->states[f->scope[t][k]] + x[f->scope[t][k]];
    return f->first[t] + e;
}

static void add_term(struct factors *f, int num, const int *scope)
{
    int t = f->num_terms++, size = 1;
    assert_true(t < MAX_TERMS && num <= MAX_SCOPE);
    f->num_scope[t] = num;
    for (int k = 0; k < num; k++) f->scope[t][k] = scope[k], size *= f->states[scope[k]];
    f->first[t + 1] = f->first[t] + size;
}

/* ---- the integral, by hand ------------------------------------------------------------- */

/* n rows: element number `at` (from 1) of m */
static int select_of(struct prog *p, int n, int m, struct operand from, struct operand at)
{
    struct instr *c = prog_emit(p, I_BLOCK, n, 1);
    assert_non_null(c);
    c->self = &op_select;
    c->block = op_select.block;
    c->block_grad = op_select.block_grad;
    c->dim[0] = m;
    c->narg = 2;
    c->arg[0] = from;
    c->arg[1] = at;
    c->out = p->nrow;
    p->nrow += n;
    return c->out;
}

static void arrays(struct integral *g, size_t scopes)
{
    struct arena *mem = &g->body.mem;
    g->kind = &integral_enumerated;
    g->var = arena_array(mem, struct variable, g->num_vars);
    g->var_start = arena_array(mem, int, g->num_comps + 1);
    g->term_start = arena_array(mem, int, g->num_comps + 1);
    g->term = arena_array(mem, int, g->num_terms);
    g->scope_start = arena_array(mem, size_t, g->num_terms + 1);
    g->scope = arena_array(mem, int, scopes);
    assert_true(g->var && g->var_start && g->term_start && g->term && g->scope_start && g->scope);
    g->body.nnode = g->body.nrow = g->num_inputs + g->num_vars;
}

static int emit_term(const struct factors *f, int t, struct prog *p)
{
    int num = f->num_scope[t], at = -1;
    if (num == 0) return f->first[t];
    for (int k = 0, v; k < num; k++) { /* at = at * states + value - low, from 1 */
        v = f->scope[t][k];
        int own = map_of(p, &op_sub, 1, rows(f->first[f->num_terms] + v, 0, 1),
                         constant(p, low_of(v) - (k == num - 1)));
        if (k > 0) {
            at = map_of(p, &op_mul, 1, rows(at, 0, 1), constant(p, f->states[v]));
            own = map_of(p, &op_add, 1, rows(at, 0, 1), rows(own, 0, 1));
        }
        at = own;
    }
    int size = f->first[t + 1] - f->first[t];
    return select_of(p, 1, size, rows(f->first[t], 0, size), rows(at, 0, 1));
}

static void make(const struct factors *f, struct integral *g)
{
    *g = (struct integral){.num_inputs = f->first[f->num_terms],
                           .num_vars = f->num_vars,
                           .num_comps = f->num_comps,
                           .num_terms = f->num_terms};
    arrays(g, (size_t)f->num_terms * MAX_SCOPE);
    memcpy(g->var_start, f->var_start, sizeof *g->var_start * (size_t)(f->num_comps + 1));
    memcpy(g->term_start, f->term_start, sizeof *g->term_start * (size_t)(f->num_comps + 1));
    for (int v = 0; v < f->num_vars; v++)
        g->var[v] =
            (struct variable){.row = 1000 + 7 * v, .states = f->states[v], .low = low_of(v)};
    size_t n = 0;
    for (int t = 0; t < f->num_terms; t++) {
        for (int k = 0; k < f->num_scope[t]; k++) g->scope[n++] = f->scope[t][k];
        g->scope_start[t + 1] = n;
        g->term[t] = emit_term(f, t, &g->body);
    }
    assert_int_equal(prog_finish(&g->body), 0);
}

static void planned(const struct factors *f, struct integral *g)
{
    nami_err err = {0};
    make(f, g);
    if (integral_plan(g, &err)) fail_msg("%s", err.msg);
}

/* ---- enumeration -------------------------------------------------------------------------- */

struct sums {
    real logz[MAX_VARS]; /* by component */
    real mean[MAX_VARS], var[MAX_VARS];
    real *entry; /* probabilities of the entries of all terms */
};

static int next_state(const struct factors *f, int c, int *x)
{
    for (int v = f->var_start[c + 1]; v-- > f->var_start[c];) {
        if (++x[v] < f->states[v]) return 1;
        x[v] = 0;
    }
    return 0;
}

static real log_weight(const struct factors *f, int c, const int *x, const double *in, int lanes)
{
    real s = 0;
    for (int t = f->term_start[c]; t < f->term_start[c + 1]; t++)
        s += (real)in[(size_t)entry_of(f, t, x) * (size_t)lanes];
    return s;
}

static void enumerate(const struct factors *f, const double *in, int lanes, struct sums *s)
{
    memset(s->entry, 0, sizeof *s->entry * (size_t)f->first[f->num_terms]);
    for (int c = 0; c < f->num_comps; c++) {
        int x[MAX_VARS] = {0};
        real most = -INFINITY, total = 0;
        do most = fmaxl(most, log_weight(f, c, x, in, lanes));
        while (next_state(f, c, x));
        if (!isfinite(most)) most = 0;
        for (int v = f->var_start[c]; v < f->var_start[c + 1]; v++) s->mean[v] = s->var[v] = 0;
        do {
            real p = expl(log_weight(f, c, x, in, lanes) - most);
            total += p;
            for (int t = f->term_start[c]; t < f->term_start[c + 1]; t++)
                s->entry[entry_of(f, t, x)] += p;
            for (int v = f->var_start[c]; v < f->var_start[c + 1]; v++)
                s->mean[v] += p * x[v], s->var[v] += p * x[v] * x[v];
        } while (next_state(f, c, x));
        s->logz[c] = logl(total) + most;
        for (int e = f->first[f->term_start[c]]; e < f->first[f->term_start[c + 1]]; e++)
            s->entry[e] /= total;
        for (int v = f->var_start[c]; v < f->var_start[c + 1]; v++) {
            s->mean[v] /= total;
            s->var[v] = s->var[v] / total - s->mean[v] * s->mean[v];
            s->mean[v] += low_of(v);
        }
    }
}

static double worst;

static void same(double got, real want)
{
    if (isnan(want) || isinf(want)) {
        if (!(isnan(want) ? isnan(got) : got == want)) fail_msg("%g is not %Lg", got, want);
        return;
    }
    double d = fabs(got - (double)want) / fmax(1, fabs((double)want));
    if (d > worst) worst = d;
    if (!(d <= 1e-12)) fail_msg("%.17g is not %.17Lg", got, want);
}

static void compare(const struct factors *f, struct integral *g, int lanes, struct rng *r,
                    double impossible, double undefined)
{
    struct call c = call_new(g, lanes);
    size_t L = (size_t)lanes, num = (size_t)g->num_inputs;
    struct sums *all = calloc(L, sizeof *all);
    for (size_t k = 0; k < num * L; k++) {
        double u = rng_unit(r);
        c.in[k] = u < impossible               ? -INFINITY
                  : u < impossible + undefined ? NAN
                                               : 30 * (rng_unit(r) - 0.5);
    }
    for (size_t k = 0; k < (size_t)g->num_comps * L; k++) c.dout[k] = rng_unit(r) - 0.5;
    for (size_t b = 0; b < L; b++) {
        all[b].entry = calloc(num + 1, sizeof(real));
        enumerate(f, c.in + b, lanes, &all[b]);
    }
    call_run(&c);
    for (int k = 0; k < g->num_comps; k++)
        for (size_t b = 0; b < L; b++) same(c.outs[k][b], all[b].logz[k]);
    call_back(&c);
    for (int k = 0; k < g->num_comps; k++)
        for (int e = f->first[f->term_start[k]]; e < f->first[f->term_start[k + 1]]; e++)
            for (size_t b = 0; b < L; b++)
                same(c.dins[e][b], isfinite(all[b].logz[k])
                                       ? all[b].entry[e] * (real)c.dout[(size_t)k * L + b]
                                       : 0);
    call_moments(&c);
    for (int k = 0; k < g->num_comps; k++)
        for (int v = f->var_start[k]; v < f->var_start[k + 1]; v++)
            for (size_t b = 0; b < L; b++) {
                int ok = isfinite(all[b].logz[k]);
                same(c.outs[v][b], ok ? all[b].mean[v] : (real)NAN);
                same(c.outs[g->num_vars + v][b], ok ? all[b].var[v] : (real)NAN);
            }
    for (size_t b = 0; b < L; b++) free(all[b].entry);
    free(all);
    call_free(&c);
}

/* ---- random graphs -------------------------------------------------------------------------- */

static const char *const shapes[] = {"chain", "tree", "loop", "clique", "triples", "none"};

static int below(struct rng *r, int n) { return (int)rng_below(r, (uint32_t)n); }

static void random_component(struct factors *f, struct rng *r, int shape, int num)
{
    int v0 = f->num_vars, c = f->num_comps++;
    for (int k = 0; k < num; k++) {
        f->states[v0 + k] = 1 + below(r, num > 4 ? 3 : MAX_STATES);
        if (below(r, 4) && f->states[v0 + k] == 1) f->states[v0 + k] = 2;
    }
    f->num_vars += num;
    for (int k = 1; k < num; k++) {
        int up = shape == 1 ? below(r, k) : k - 1;
        if (shape < 3) add_term(f, 2, (int[]){v0 + up, v0 + k});
        for (int j = 0; j < k && shape == 3; j++) add_term(f, 2, (int[]){v0 + j, v0 + k});
        if (shape == 4 && k > 1) add_term(f, 3, (int[]){v0 + below(r, k - 1), v0 + k - 1, v0 + k});
    }
    if (shape == 2 && num > 2) add_term(f, 2, (int[]){v0, v0 + num - 1});
    for (int k = 0; k < num && shape < 5; k++)
        if (below(r, 2)) add_term(f, 1, (int[]){v0 + k});
    for (int k = below(r, 3); k > 0; k--) add_term(f, 0, NULL);
    f->var_start[c + 1] = f->num_vars;
    f->term_start[c + 1] = f->num_terms;
}

static void random_factors(struct factors *f, struct rng *r, int shape, int comps)
{
    *f = (struct factors){0};
    for (int c = 0; c < comps; c++)
        random_component(f, r, c ? below(r, 6) : shape, 1 + below(r, c ? 4 : 6));
}

/* Different numbers of lanes; slabs of 8 lanes, of 1, and what fits. */
static void agrees_with_enumeration(void **state)
{
    (void)state;
    static const int lanes[] = {1, 7, 64, 100};
    struct rng r;
    rng_init(&r, 11, 0);
    for (int shape = 0; shape < 6; shape++) {
        int most = 0;
        for (int i = 0; i < 100; i++) {
            struct factors f;
            struct integral g;
            random_factors(&f, &r, shape, 1 + below(&r, 3));
            planned(&f, &g);
            if (g.runs > most) most = (int)g.runs;
            if (i % 3) g.lanes = i % 3 == 1 ? 8 : 1;
            compare(&f, &g, lanes[i % 4], &r, i % 2 ? 0 : 0.2, i % 5 ? 0 : 0.02);
            integral_free(&g);
        }
        print_message("100 of shape %s and others: largest difference %.1e, at most %d runs\n",
                      shapes[shape], worst, most);
        worst = 0;
    }
}

/* ---- draws ------------------------------------------------------------------------------------
 */

/* A count of n draws with probability p differs from np by more than this with a probability below
   2e-12 (Bernstein). */
static double far_off(double n, double p)
{
    double a = 27.6 / 3; /* t^2 = 2 * 27.6 (n p (1 - p) + t / 3) */
    return a + sqrt(a * a + 2 * 27.6 * n * p * (1 - p));
}

/* All joint states of a component as often as they are probable: fewer than 10^5 counts, error rate
   below 2e-7. */
static void draws_have_their_probabilities(void **state)
{
    (void)state;
    enum { N = 20000 };
    struct rng r;
    rng_init(&r, 12, 0);
    for (int i = 0; i < 60; i++) {
        struct factors f;
        struct integral g;
        random_factors(&f, &r, i % 6, 2);
        planned(&f, &g);
        struct call c = call_new(&g, N);
        struct sums s = {.entry = calloc((size_t)g.num_inputs + 1, sizeof *s.entry)};
        for (int k = 0; k < g.num_inputs; k++) {
            c.in[k] = below(&r, 8) ? 4 * rng_unit(&r) : -INFINITY;
            c.ins[k] = (struct lanes){c.in + k, 0};
        }
        enumerate(&f, c.in, 1, &s);
        call_draw(&c, 31 + (uint64_t)i, 0);
        for (int k = 0; k < f.num_comps; k++) {
            int x[MAX_VARS] = {0}, ok = isfinite(s.logz[k]);
            double total = 0;
            for (int b = 0; b < N && !ok; b++)
                for (int v = f.var_start[k]; v < f.var_start[k + 1]; v++)
                    assert_true(isnan(c.outs[v][b]));
            if (!ok) continue;
            do {
                double p = (double)expl(log_weight(&f, k, x, c.in, 1) - s.logz[k]), count = 0;
                for (int b = 0; b < N; b++) {
                    int equal = 1;
                    for (int v = f.var_start[k]; v < f.var_start[k + 1]; v++)
                        equal &= c.outs[v][b] == low_of(v) + x[v];
                    count += equal;
                }
                total += count;
                if (p == 0 ? count > 0 : fabs(count - N * p) > far_off(N, p))
                    fail_msg("%g draws of a state, not %g", count, N * p);
            } while (next_state(&f, k, x));
            assert_true(total == N);
        }
        free(s.entry);
        call_free(&c);
        integral_free(&g);
    }
}

/* Results and draws of a lane are the same bits for all slabs, and for parts of the lanes. */
static void results_do_not_depend_on_slabs(void **state)
{
    (void)state;
    enum { L = 100, FIRST = 36 };
    struct rng r;
    rng_init(&r, 13, 0);
    for (int i = 0; i < 60; i++) {
        struct factors f;
        struct integral g;
        random_factors(&f, &r, i % 6, 2);
        planned(&f, &g);
        struct call all = call_new(&g, L), few = call_new(&g, L - FIRST);
        for (int k = 0; k < g.num_inputs * L; k++)
            all.in[k] = below(&r, 8) ? 4 * rng_unit(&r) : -INFINITY;
        for (int k = 0; k < g.num_inputs; k++)
            few.ins[k] = (struct lanes){all.in + k * L + FIRST, 1};
        double *z = doubles((size_t)g.num_comps * L);
        call_run(&all);
        memcpy(z, all.out, sizeof *z * (size_t)g.num_comps * L);
        call_draw(&all, 5, 400);
        g.lanes = 8 * (1 + i % 4);
        call_draw(&few, 5, 400 + FIRST);
        for (int v = 0; v < g.num_vars; v++)
            assert_memory_equal(few.outs[v], all.outs[v] + FIRST, sizeof(double) * (L - FIRST));
        call_run(&few);
        for (int k = 0; k < g.num_comps; k++)
            assert_memory_equal(few.outs[k], z + k * L + FIRST, sizeof(double) * (L - FIRST));
        free(z);
        call_free(&all);
        call_free(&few);
        integral_free(&g);
    }
}

/* ---- hidden Markov models -----------------------------------------------------------------------
 */

enum { K = 3 };

/* Inputs: log transition probabilities (K, K), log likelihoods (length, K). */
static void chain(struct integral *g, int length)
{
    struct prog *p = &g->body;
    *g = (struct integral){.num_inputs = K * K + length * K,
                           .num_vars = length,
                           .num_comps = 1,
                           .num_terms = 2 * length - 1};
    arrays(g, 3 * (size_t)length);
    int z = g->num_inputs, n = length - 1;
    int before = map_of(p, &op_mul, n, rows(z, 1, 1), constant(p, K));
    int pair = map_of(p, &op_add, n, rows(before, 1, 1), rows(z + 1, 1, 1));
    int index = map_of(p, &op_sub, n, rows(pair, 1, 1), constant(p, K));
    int move = select_of(p, n, K * K, rows(0, 0, K * K), rows(index, 1, 1));
    int seen = select_of(p, length, K, rows(K * K, K, K), rows(z, 1, 1));
    g->var_start[1] = length;
    g->term_start[1] = g->num_terms;
    for (int t = 0; t < length; t++) g->var[t] = (struct variable){.row = t, .states = K, .low = 1};
    size_t end = 0;
    for (int t = 0; t < g->num_terms; t++) {
        g->term[t] = t < n ? move + t : seen + t - n;
        g->scope[end++] = t < n ? t : t - n;
        if (t < n) g->scope[end++] = t + 1;
        g->scope_start[t + 1] = end;
    }
    assert_int_equal(prog_finish(p), 0);
    nami_err err = {0};
    if (integral_plan(g, &err)) fail_msg("%s", err.msg);
}

/* log p, and expected numbers of transitions and probabilities of states at place of `in`. */
static real forward_backward(int length, const double *in, int lanes, real *expected)
{
    real *a = calloc((size_t)length * K, sizeof *a), *b = calloc((size_t)length * K, sizeof *b);
    real logp = 0, A[K][K];
    const double *seen = in + (size_t)(K * K) * (size_t)lanes;
    for (int i = 0; i < K * K; i++) A[i / K][i % K] = expl(in[(size_t)i * (size_t)lanes]);
    for (int t = 0; t < length; t++) {
        real sum = 0;
        for (int j = 0; j < K; j++) {
            real p = t ? 0 : 1;
            for (int i = 0; i < K && t; i++) p += a[(t - 1) * K + i] * A[i][j];
            sum += a[t * K + j] = p * expl(seen[(size_t)(t * K + j) * (size_t)lanes]);
        }
        for (int j = 0; j < K; j++) a[t * K + j] /= sum;
        logp += logl(sum);
    }
    for (int i = 0; i < K * K; i++) expected[i] = 0;
    for (int t = length - 1; t >= 0; t--) {
        real sum = 0, pair[K][K];
        for (int i = 0; i < K; i++) {
            real p = t == length - 1;
            for (int j = 0; j < K && t < length - 1; j++) p += b[t * K + K + j] * A[i][j];
            b[t * K + i] = p; /* of what follows, given state i */
            sum += a[t * K + i] * p;
        }
        for (int i = 0; i < K; i++) expected[K * K + t * K + i] = a[t * K + i] * b[t * K + i] / sum;
        sum = 0;
        for (int i = 0; i < K && t < length - 1; i++)
            for (int j = 0; j < K; j++)
                sum += pair[i][j] = a[t * K + i] * A[i][j] * b[t * K + K + j];
        for (int i = 0; i < K * K && t < length - 1; i++) expected[i] += pair[i / K][i % K] / sum;
        sum = 0;
        for (int i = 0; i < K; i++) {
            b[t * K + i] *= expl(seen[(size_t)(t * K + i) * (size_t)lanes]);
            sum += b[t * K + i];
        }
        for (int i = 0; i < K; i++) b[t * K + i] /= sum;
    }
    free(a);
    free(b);
    return logp;
}

static void random_inputs(struct call *c, struct rng *r)
{
    for (size_t k = 0; k < (size_t)c->g->num_inputs * (size_t)c->lanes; k++)
        c->in[k] = log(rng_unit(r) + 1e-3);
}

static void agrees_with_forward_backward(void **state)
{
    (void)state;
    enum { T = 1000, L = 20 };
    struct integral g;
    struct rng r;
    rng_init(&r, 14, 0);
    chain(&g, T);
    assert_true(g.runs == K * K);
    struct call c = call_new(&g, L);
    real *expected = calloc((size_t)g.num_inputs, sizeof *expected), worst_of = 0;
    random_inputs(&c, &r);
    for (int b = 0; b < L; b++) c.dout[b] = 1;
    call_run(&c);
    call_back(&c);
    for (int b = 0; b < L; b++) {
        real logp = forward_backward(T, c.in + b, L, expected);
        worst_of = fmaxl(worst_of, fabsl((c.outs[0][b] - logp) / logp));
        for (int k = 0; k < g.num_inputs; k++) {
            real d = fabsl(c.dins[k][b] - expected[k]) / fmaxl(1, expected[k]);
            worst_of = fmaxl(worst_of, d);
        }
    }
    print_message("length %d: largest difference %.1Le\n", T, worst_of);
    assert_true(worst_of < 1e-12L);
    free(expected);
    call_free(&c);
    integral_free(&g);
}

/* Printed, not tested: times vary with the machine's load. */
static void cost_is_linear(void **state)
{
    (void)state;
    for (int length = 100; length <= 100000; length *= 10) {
        struct integral g;
        struct rng r;
        rng_init(&r, 15, 0);
        double begin = clock_now();
        chain(&g, length);
        double plan = clock_now() - begin;
        struct call c = call_new(&g, length < 1000 ? 64 : 8);
        random_inputs(&c, &r);
        for (int b = 0; b < c.lanes; b++) c.dout[b] = 1;
        begin = clock_now();
        call_run(&c);
        double run = clock_now() - begin;
        begin = clock_now();
        call_back(&c);
        double back = clock_now() - begin;
        begin = clock_now();
        call_draw(&c, 1, 0);
        double draw = clock_now() - begin, scale = 1e9 / c.lanes / length;
        print_message("length %6d, %2d lanes, %.1f MB: plan %6.0f ns, run %5.1f, back %5.1f, draw "
                      "%5.1f ns for each variable (and draw)\n",
                      length, g.lanes, integral_work(&g) * 8e-6, plan * 1e9 / length, run * scale,
                      back * scale, draw * scale);
        call_free(&c);
        integral_free(&g);
    }
}

/* ---- plans
 * ---------------------------------------------------------------------------------------- */

static void one_component(struct factors *f)
{
    f->num_comps = 1;
    f->var_start[1] = f->num_vars;
    f->term_start[1] = f->num_terms;
}

static void is_refused(const struct factors *f, int code, const char *why)
{
    struct integral g;
    nami_err err = {0};
    make(f, &g);
    assert_int_equal(integral_plan(&g, &err), code);
    assert_string_equal(err.msg, why);
    integral_free(&g);
}

static void refuses(void **state)
{
    (void)state;
    struct factors f = {.num_vars = 13};
    int all[MAX_SCOPE];
    for (int v = 0; v < 13; v++) f.states[v] = 2, all[v] = v;
    add_term(&f, 13, all);
    one_component(&f);
    is_refused(&f, NAMI_ELIMIT, "needs 8192 runs of its terms for each draw (limit 4096)");

    f = (struct factors){.num_vars = 1, .states = {0}};
    one_component(&f);
    is_refused(&f, NAMI_EINPUT, "is continuous");
    f.states[0] = -1;
    is_refused(&f, NAMI_EINPUT, "has too many values");

    f = (struct factors){.num_vars = 26};
    for (int v = 0; v < 26; v++) f.states[v] = 2;
    for (int v = 0; v < 26; v++)
        for (int u = 0; u < v; u++) add_term(&f, 2, (int[]){u, v});
    one_component(&f);
    is_refused(&f, NAMI_ELIMIT,
               "needs tables of at least 6.711e+07 entries for each draw (limit 16777216)");

    f = (struct factors){.num_vars = 3, .states = {50, 50, 50}};
    add_term(&f, 2, (int[]){0, 1});
    add_term(&f, 2, (int[]){1, 2});
    add_term(&f, 2, (int[]){0, 2});
    one_component(&f);
    is_refused(&f, NAMI_ELIMIT,
               "needs more than 4096 runs of its terms for each draw (limit 4096)");
}

/* Grids have few colors, though their tables have many variables; pairs need fewer runs than all
   joint states of the colors. */
static void few_runs(void **state)
{
    (void)state;
    enum { SIDE = 6 };
    struct factors f = {.num_vars = SIDE * SIDE};
    for (int v = 0; v < f.num_vars; v++) f.states[v] = 2;
    for (int v = 0; v < f.num_vars; v++) {
        if (v % SIDE) add_term(&f, 2, (int[]){v - 1, v});
        if (v >= SIDE) add_term(&f, 2, (int[]){v - SIDE, v});
    }
    one_component(&f);
    struct integral g;
    planned(&f, &g);
    const struct tables *t = g.own;
    print_message("grid: %d colors, %d runs, %zu entries\n", t->num_colors, t->num_runs,
                  t->entries);
    assert_true(t->num_runs <= 12 && t->entries < 10000);
    integral_free(&g);

    f = (struct factors){.num_vars = 8};
    for (int v = 0; v < 8; v++) f.states[v] = 3;
    for (int v = 0; v < 8; v++)
        for (int u = 0; u < v; u++) add_term(&f, 2, (int[]){u, v});
    one_component(&f);
    planned(&f, &g);
    t = g.own;
    print_message("pairs of 8: %d colors, %d runs\n", t->num_colors, t->num_runs);
    assert_true(t->num_runs < 100); /* of 6561 */
    struct rng r;
    rng_init(&r, 16, 0);
    compare(&f, &g, 8, &r, 0.1, 0);
    integral_free(&g);
}

/* Plans g with an arena of its own. */
static int plan_again(void *ctx)
{
    struct integral g = *(struct integral *)ctx;
    nami_err err = {0};
    g.body.mem = (struct arena){0};
    int rc = integral_plan(&g, &err);
    arena_free(&g.body.mem);
    return rc;
}

static void out_of_memory(void **state)
{
    (void)state;
    struct factors f;
    struct integral g;
    struct rng r;
    const char *why;
    rng_init(&r, 17, 0);
    random_factors(&f, &r, 4, 3);
    planned(&f, &g);
    long n = nomem_each(plan_again, &g, &why);
    if (n < 0) fail_msg("%s", why);
    print_message("%ld allocations failed\n", n);
    assert_true(n > 10);
    integral_free(&g);
}

/* ---- models of the language
 * ------------------------------------------------------------------------ */

/* The density program with a row for each result: what is split. */
static void with_rows(const struct prog *of, struct prog *p)
{
    *p = (struct prog){.nrow = of->nrow, .nnode = of->nnode};
    for (size_t k = 0; k < of->constant.n; k++)
        assert_int_equal(vec_push(&p->constant, of->constant.a[k]), 0);
    for (size_t k = 0; k < of->code.n; k++) {
        struct instr c = of->code.a[k];
        if (c.sum && c.out < 0) {
            c.out = p->nrow;
            p->nrow += c.n * c.width;
        }
        assert_int_equal(vec_push(&p->code, c), 0);
    }
}

static double log_sum(const double *x, size_t n)
{
    real most = -INFINITY, sum = 0;
    for (size_t k = 0; k < n; k++) most = fmaxl(most, x[k]);
    for (size_t k = 0; k < n; k++) sum += expl(x[k] - most);
    return (double)(logl(sum) + most);
}

/* log p with z summed out equals the sum of the densities of all its states; its derivatives equal
   the expected ones.  In one draw of three, element 0 of `zero` is 0. */
static void is_summed_out(const char *text, int num, int states, const char *zero)
{
    enum { L = 12 };
    struct model m;
    struct prog p, rest;
    struct integral g;
    struct variable var[16];
    nami_err err = {0};
    size_t all = 1;
    build(&m, text, NULL);
    for (int k = 0; k < num; k++) {
        var[k] = (struct variable){.row = row_of(&m, "z", k), .states = states, .low = 1};
        all *= (size_t)states;
    }
    with_rows(&m.programs.density, &p);
    if (split_integral(&p, num, var, &integral_enumerated, &g, &rest, &err))
        fail_msg("%s", err.msg);
    size_t rows_of = (size_t)m.ir.num_rows;
    double *x = draw(&m, L, 1), *y = doubles(rows_of * all), *want = doubles(all),
           *grad = doubles(rows_of * all);
    for (size_t b = 0; b < L && zero; b += 3) x[(size_t)row_of(&m, zero, 0) * L + b] = 0;
    struct exec e;
    if (exec_init(&e, &rest, L, 0, EXEC_GRAD, &err)) fail_msg("%s", err.msg);
    for (size_t r = 0; r < rows_of; r++)
        memcpy(e.row + r * (size_t)e.cap, x + r * L, sizeof *x * L);
    e.lanes = L;
    exec_run(&e);
    exec_back(&e);
    for (size_t b = 0; b < L; b++) {
        for (size_t i = 0; i < all; i++) {
            size_t at = i;
            for (size_t r = 0; r < rows_of; r++) y[r * all + i] = x[r * L + b];
            for (int k = 0; k < num; k++, at /= (size_t)states)
                y[(size_t)var[k].row * all + i] = 1 + (double)(at % (size_t)states);
        }
        logp(&m, all, y, 1, (struct density){.logp = want, .grad = grad});
        double total = log_sum(want, all);
        same(e.total[b], total);
        for (size_t r = 0; r < rows_of; r++) {
            real d = 0;
            int summed = 0;
            for (int k = 0; k < num; k++) summed |= var[k].row == (int)r;
            for (size_t i = 0; i < all && !summed; i++)
                if (want[i] > -INFINITY) d += expl(want[i] - (real)total) * (real)grad[r * all + i];
            if (!summed && !(fabs(e.adj[r * (size_t)e.cap + b] - (double)d) <=
                             1e-10 * fmax(1, fabs((double)d))))
                fail_msg("derivative %g is not %Lg", e.adj[r * (size_t)e.cap + b], d);
        }
    }
    print_message("%d variables of %d states: %g runs, largest difference %.1e\n", num, states,
                  g.runs, worst);
    worst = 0;
    exec_fini(&e);
    free(x), free(y), free(want), free(grad);
    integral_free(&g);
    prog_free(&p);
    prog_free(&rest);
    model_fini(&m);
}

static void mixture(void **state)
{
    (void)state;
    is_summed_out("model { phi[1:3] ~ dirichlet(c(2, 2, 2))  s ~ gamma(4, 4)\n"
                  "for (k in 1:3) { mu[k] ~ normal(0, 3) }\n"
                  "for (i in 1:6) { z[i] ~ categorical(phi[1:3])  y[i] ~ normal(mu[z[i]], s) } }\n"
                  "observe y",
                  6, 3, NULL);
}

/* A state of probability 0 has an infinite derivative, which is not NaN times 0. */
static void impossible_states(void **state)
{
    (void)state;
    is_summed_out("model { for (k in 1:3) { w[k] ~ uniform(0, 1)  mu[k] ~ normal(0, 3) }\n"
                  "for (i in 1:5) { z[i] ~ categorical(w[1:3])  y[i] ~ normal(mu[z[i]], 1) } }\n"
                  "observe y",
                  5, 3, "w");
}

static void hidden_markov(void **state)
{
    (void)state;
    is_summed_out(
        "model { for (k in 1:3) { A[k, 1:3] ~ dirichlet(c(2, 2, 2)) mu[k] ~ normal(0, 3) }\n"
        "s ~ gamma(4, 4)\n z[1] ~ categorical(c(0.2, 0.5, 0.3))\n"
        "for (t in 2:7) { z[t] ~ categorical(A[z[t-1], 1:3]) }\n"
        "for (t in 1:7) { y[t] ~ normal(mu[z[t]], s) } }\nobserve y",
        7, 3, NULL);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(agrees_with_enumeration),
    cmocka_unit_test(draws_have_their_probabilities),
    cmocka_unit_test(results_do_not_depend_on_slabs),
    cmocka_unit_test(agrees_with_forward_backward),
    cmocka_unit_test(cost_is_linear),
    cmocka_unit_test(refuses),
    cmocka_unit_test(few_runs),
    cmocka_unit_test(out_of_memory),
    cmocka_unit_test(mixture),
    cmocka_unit_test(impossible_states),
    cmocka_unit_test(hidden_markov),
};

RUN(tests)
