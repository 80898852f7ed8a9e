/* test_integral_scale.c: integrals over linear Gaussian variables whose standard deviations are
   between 1e-30 and 1e30, in all combinations: groups and chains agree with formulas in long double
   (value, moments, draws, derivatives); vague priors; a state-space model with a Kalman filter and
   smoother; what is improper in a lane. */
#include "normal_spec.h"

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

/* ---- groups
 * ------------------------------------------------------------------------------------------- */

/* mu ~ normal(0, p), theta[g] ~ normal(mu, tau), phi[g, i] ~ normal(theta[g], k), y[g, i] ~
   normal(phi[g, i], s); the last three inputs of NUM_SDS are tau, k and s. */
enum { GROUPS = 5, EACH_GROUP = 4, NUM_SDS = 4, NUM_Y = GROUPS * EACH_GROUP };
enum { NUM_GROUP_VARS = 1 + GROUPS + NUM_Y };

static void add_normal(struct spec *s, int sd, int offset, int var, int mean)
{
    assert_true(s->num_terms < MAX_TERMS);
    struct factor *t = &s->term[s->num_terms++];
    *t = (struct factor){.kind = SCALE_SD, .size = 1, .scale = {sd}};
    t->r[0].offset = offset;
    read_var(&t->r[0], var, a_constant(s, 1));
    if (mean >= 0) read_var(&t->r[0], mean, a_constant(s, -1));
}

static void make_groups(struct spec *s)
{
    *s = (struct spec){.num_vars = NUM_GROUP_VARS, .num_comps = 1};
    s->var_start[1] = NUM_GROUP_VARS;
    s->num_inputs = NUM_SDS + NUM_Y;
    int zero = a_constant(s, 0);
    add_normal(s, 0, zero, 0, -1);
    for (int g = 0; g < GROUPS; g++) {
        add_normal(s, 1, zero, 1 + g, 0);
        for (int i = g * EACH_GROUP; i < (g + 1) * EACH_GROUP; i++) {
            add_normal(s, 2, zero, 1 + GROUPS + i, 1 + g);
            add_normal(s, 3, NUM_SDS + i, 1 + GROUPS + i, -1);
        }
    }
    s->term_start[1] = s->num_terms;
}

/* log p(y), means and variances of mu, theta and phi: the variances of y given mu are sums. */
static real groups(const real *in, real *m, real *v)
{
    const real log_2pi = logl(2 * acosl(-1)), *y = in + NUM_SDS;
    real p = in[0], tau2 = in[1] * in[1], k2 = in[2] * in[2], s2 = in[3] * in[3], c2 = k2 + s2;
    real own = c2 / EACH_GROUP, w = 1 / (tau2 + own), total = 0, sum = 0, average[GROUPS];
    for (int g = 0; g < GROUPS; g++) {
        average[g] = 0;
        for (int i = 0; i < EACH_GROUP; i++) average[g] += y[g * EACH_GROUP + i] / EACH_GROUP;
        for (int i = 0; i < EACH_GROUP; i++) {
            real e = y[g * EACH_GROUP + i] - average[g];
            total -= e * e / (2 * c2);
        }
        total -= ((EACH_GROUP - 1) * (log_2pi + logl(c2)) + logl(EACH_GROUP)) / 2;
        sum += average[g];
    }
    real all = GROUPS * w + 1 / (p * p);
    m[0] = w / all * sum;
    v[0] = 1 / all;
    total -= (GROUPS * (log_2pi - logl(w)) + logl(all) + m[0] / p * (m[0] / p)) / 2 + logl(p);
    for (int g = 0; g < GROUPS; g++) {
        real e = average[g] - m[0], *mg = &m[1 + g], *vg = &v[1 + g];
        total -= w * e * e / 2;
        *mg = w * (tau2 * average[g] + own * m[0]);
        *vg = tau2 * own * w + own * w * own * w / all;
        for (int i = 0; i < EACH_GROUP; i++) {
            int at = 1 + GROUPS + g * EACH_GROUP + i;
            m[at] = (k2 * y[g * EACH_GROUP + i] + s2 * *mg) / c2;
            v[at] = k2 * s2 / c2 + s2 / c2 * (s2 / c2) * *vg;
        }
    }
    return total;
}

/* Differences of a large value have a large error. */
static void same_derivative(double got, real want, real value_there)
{
    real unit = 1 + fabsl(value_there) * 1e-6L;
    same((double)(got / unit), want / unit, 1e-8);
}

/* By the logarithm of a standard deviation, or by an observation. */
static real groups_derivative(const real *in, int k)
{
    static const real h = 1e-3L;
    real x[NUM_SDS + NUM_Y], m[NUM_GROUP_VARS], v[NUM_GROUP_VARS], f[4];
    memcpy(x, in, sizeof x);
    for (int i = 0; i < 4; i++) {
        real step = (real)(i < 2 ? i - 2 : i - 1) * h;
        x[k] = k < NUM_SDS ? in[k] * expl(step) : in[k] + step;
        f[i] = groups(x, m, v);
    }
    return (8 * (f[2] - f[1]) - (f[3] - f[0])) / (12 * h);
}

/* A number of size 1 may have an error of 1e-14, whatever its standard deviation. */
static void same_moments(real m, real v, real size, double got_m, double got_v)
{
    real sd = sqrtl(v), unit = sd + size * 1e-7L;
    same((double)((got_m - m) / unit), 0, 1e-7);
    same((double)(got_v / v), 1, 1e-7);
}

/* Standardized draws of variable v, whose number is N, have mean 0 and variance 1: 6 standard
   errors, if they are not rounded. */
static void standard_draws(const struct call *c, int v, real mean, real var)
{
    double sum = 0, squares = 0, N = c->lanes;
    if (var < 1e-20L * mean * mean) return;
    for (int b = 0; b < c->lanes; b++) {
        double z = (double)((c->outs[v][b] - mean) / sqrtl(var));
        sum += z;
        squares += z * z - 1;
    }
    assert_true(fabs(sum) < 6 * sqrt(N) && fabs(squares) < 6 * sqrt(2 * N));
}

static void check_groups(const struct spec *s, struct integral *g, const double *sds)
{
    enum { L = 1000 };
    struct call c = call_new(g, 1), many = call_new(g, L);
    real in[NUM_SDS + NUM_Y], m[NUM_GROUP_VARS], v[NUM_GROUP_VARS];
    for (int k = 0; k < s->num_inputs; k++) {
        c.in[k] = k < NUM_SDS ? sds[k] : sin(1 + 7 * k);
        in[k] = c.in[k];
        many.ins[k] = (struct lanes){&c.in[k], 0};
    }
    c.dout[0] = 1;
    real logp = groups(in, m, v);
    call_run(&c);
    same(c.out[0], logp, 1e-11);
    call_moments(&c);
    for (int k = 0; k < NUM_GROUP_VARS; k++)
        same_moments(m[k], v[k], 1, c.outs[k][0], c.outs[NUM_GROUP_VARS + k][0]);
    call_back(&c);
    for (int k = 0; k < NUM_SDS + 2; k++)
        same_derivative(c.dins[k][0] * (k < NUM_SDS ? c.in[k] : 1), groups_derivative(in, k), logp);
    call_draw(&many, 3, 0);
    for (int k = 0; k < NUM_GROUP_VARS; k++) standard_draws(&many, k, m[k], v[k]);
    call_free(&c), call_free(&many);
}

static void groups_of_any_scale(void **state)
{
    (void)state;
    static const double scale[] = {1e-30, 1e-20, 1e-8, 1, 1e8, 1e20, 1e30};
    enum { NUM = sizeof scale / sizeof *scale };
    struct spec *s = malloc(sizeof *s);
    struct integral g;
    struct rng r;
    make_groups(s);
    planned(s, &g, 0);
    for (int k = 0; k < NUM; k++) { /* each one, others as usual */
        check_groups(s, &g, (const double[]){scale[k], 0.7, 0.4, 1.3});
        check_groups(s, &g, (const double[]){10, scale[k], 0.4, 1.3});
        check_groups(s, &g, (const double[]){10, 0.7, scale[k], 1.3});
        check_groups(s, &g, (const double[]){10, 0.7, 0.4, scale[k]});
    }
    say("one scale");
    rng_init(&r, 21, 0);
    for (int t = 0; t < 200; t++) {
        double sds[NUM_SDS];
        for (int k = 0; k < NUM_SDS; k++) sds[k] = pow(10, uniform(&r, -30, 30));
        check_groups(s, &g, sds);
    }
    say("four scales");
    integral_free(&g);
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
        m[t] = (var * y[(size_t)t * step] + r * r * mean) / total;
        v[t] = var * r * r / total;
    }
    for (int t = T - 2; t >= 0; t--) {
        real gain = a * v[t] / before[t + 1], rest = q * q / before[t + 1];
        m[t] = rest * m[t] + gain * m[t + 1];
        v[t] = rest * v[t] + gain * gain * v[t + 1];
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

/* By a, and by the logarithms of q and r. */
static real kalman_derivative(int T, const double *in, int k, real *m, real *v)
{
    static const real h = 1e-3L;
    real p[3] = {in[0], in[1], in[2]}, x = p[k], f[4];
    for (int i = 0; i < 4; i++) {
        real step = (real)(i < 2 ? i - 2 : i - 1) * h;
        p[k] = k ? x * expl(step) : x + step / 10;
        f[i] = kalman(T, p[0], p[1], p[2], in + 3, 1, m, v);
    }
    return (8 * (f[2] - f[1]) - (f[3] - f[0])) / (12 * h) * (k ? 1 : 10);
}

static void chains_of_any_scale(void **state)
{
    (void)state;
    static const double scale[] = {1e-30, 1e-20, 1e-8, 1, 1e8, 1e20, 1e30};
    enum { T = 12, L = 1000, NUM = sizeof scale / sizeof *scale };
    struct integral g;
    state_space(&g, T);
    struct call c = call_new(&g, 1), many = call_new(&g, L);
    real m[T], v[T];
    for (int t = 0; t < T; t++) c.in[3 + t] = cos(t);
    for (int k = 0; k < 3 + T; k++) many.ins[k] = (struct lanes){&c.in[k], 0};
    for (int t = 0; t < NUM * NUM; t++) {
        c.in[0] = 0.83;
        c.in[1] = scale[t / NUM];
        c.in[2] = scale[t % NUM];
        c.dout[0] = 1;
        real logp = kalman(T, c.in[0], c.in[1], c.in[2], c.in + 3, 1, m, v);
        call_run(&c);
        same(c.out[0], logp, 1e-11);
        call_moments(&c);
        for (int k = 0; k < T; k++) same_moments(m[k], v[k], 1, c.outs[k][0], c.outs[T + k][0]);
        call_back(&c);
        call_draw(&many, 5, 0);
        for (int k = 0; k < T; k++) standard_draws(&many, k, m[k], v[k]);
        for (int k = 0; k < 3; k++)
            same_derivative(c.dins[k][0] * (k ? c.in[k] : 1), kalman_derivative(T, c.in, k, m, v),
                            logp);
    }
    say("chains");
    call_free(&c), call_free(&many);
    integral_free(&g);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(vague_priors_are_precise), cmocka_unit_test(improper_lanes_are_nan),
    cmocka_unit_test(groups_of_any_scale),      cmocka_unit_test(state_space_is_a_kalman_filter),
    cmocka_unit_test(chains_of_any_scale),
};
RUN(tests)
