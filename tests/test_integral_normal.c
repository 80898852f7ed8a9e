/* test_integral_normal.c: integrals over linear Gaussian variables agree with dense algebra in long
   double (value, derivatives, moments, draws) for any number of lanes; models of the language with
   their own densities; what is too large, out of memory. */
#include "malloc_fail.h"
#include "model_at.h"
#include "normal_spec.h"

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

/* Draws of equal lanes, which are eliminated once, have the bits of those beside another lane. */
static void same_lanes(const struct spec *s, const struct integral *g, struct call *all,
                       struct call *some)
{
    size_t L = (size_t)all->lanes;
    for (int k = 0; k < s->num_inputs; k++) {
        double *x = all->in + (size_t)k * L;
        for (size_t b = 1; b < L; b++) x[b] = x[0];
        for (int b = 0; b < 7; b++) some->in[k * 8 + b] = x[0];
    }
    call_draw(all, 11, 40);
    for (size_t first = 0; first < L / 8 * 8; first += 8) {
        call_draw(some, 11, 40 + first);
        for (int v = 0; v < g->num_vars; v++)
            assert_memory_equal(some->outs[v], all->outs[v] + first, sizeof *some->out * 7);
    }
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
        same_lanes(s, &g, &c, &one);
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
    cmocka_unit_test(agrees_with_dense_algebra), cmocka_unit_test(large_fronts),
    cmocka_unit_test(lanes_are_independent),     cmocka_unit_test(draws_have_the_right_moments),
    cmocka_unit_test(models_are_integrated),     cmocka_unit_test(out_of_memory),
    cmocka_unit_test(too_dense_is_refused),
};
RUN(tests)
