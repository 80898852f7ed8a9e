/* test_collapse.c: latents that are integrated out exactly, against brute force, for random small
   models of each kind and mixtures of kinds: the collapsed density is the integral of the density,
   its derivatives match differences, means and variances of the exact latents and draws of them are
   right, the kinds that are found are those that the model has, and nothing else is claimed. */
#include "exact/collapse.h"

#include <malloc.h>

#include "collapse_brute.h"
#include "collapse_models.h"

enum { POINTS = 8, DRAWS = 16384, FEW_DRAWS = 1024, MOST_REPORTS = 3 };
static const double DRAW_COST = 2e8; /* operations: costly integrals have fewer draws */

/* Draws: all means of bounded functions are within Bernstein's bound, except with this probability
   for each; there are fewer than 10^5 of them in a run, so that the program fails by chance with a
   probability below 10^-6 (over seeds: they are fixed). */
static const double CHANCE = 1e-11;

struct job {
    struct model m;
    struct inversion inversion;
    struct collapse c;
    const char *text, *mode, *which;
    unsigned char *role, *mark; /* by node */
    double *x;                  /* POINTS points of the prior */
    int quadrature;             /* one of its integrals is not in closed form */
    int num_draws;
};

static struct {
    int models, draws, reports;
} count;

/* ---- reports ------------------------------------------------------------------------------- */

/* A failure does not end the run: others may say more. */
__attribute__((format(printf, 2, 3))) static void report(const struct job *j, const char *format,
                                                         ...)
{
    va_list ap;
    if (++count.reports > MOST_REPORTS) return;
    fprintf(stderr, "%smode %s, exact %s: ", j->text, j->mode, j->which);
    va_start(ap, format);
    vfprintf(stderr, format, ap);
    va_end(ap);
    fprintf(stderr, "\n");
    for (size_t k = 0; k < j->c.step.n; k++) {
        fprintf(stderr, "step %zu, %s:", k, j->c.step.a[k]->kind->name);
        for (size_t i = 0; i < j->c.step.a[k]->node.n; i++)
            fprintf(stderr, " %s", bn_name(model_bn(&j->m), j->c.step.a[k]->node.a[i]));
        fprintf(stderr, "\n");
    }
    fprintf(stderr, "\n");
}

static void report_point(const struct job *j, size_t i)
{
    if (count.reports > MOST_REPORTS) return;
    fprintf(stderr, "at");
    for (int e = 0; e < model_num_elements(&j->m); e++) {
        struct str name = {0};
        if (element_row(&j->m, e) < 0 || element_node(&j->m, e) < 0) continue;
        elem_name(&j->m, e, &name);
        fprintf(stderr, " %s=%.17g", name.s, j->x[(size_t)element_row(&j->m, e) * POINTS + i]);
        str_free(&name);
    }
    fprintf(stderr, "\n");
}

static double relative(double got, double want)
{
    return got == want ? 0 : fabs(got - want) / fmax(1, fabs(want));
}

/* ---- what is found --------------------------------------------------------------------------- */

static int has_kind(const char *name)
{
    for (int k = 0; integral_kinds[k]; k++)
        if (strcmp(integral_kinds[k]->name, name) == 0) return 1;
    return 0;
}

/* Is v upstream of u: is it eliminated first in a natural order? */
static int must_wait(const struct job *j, int v, const unsigned char *stays, unsigned char *seen)
{
    const struct dag *g = j->inversion.p.g;
    if (seen[v]) return 0;
    seen[v] = 1;
    if (j->inversion.p.mode == MODE_REVERSE) {
        for_children (g, v, u)
            if (stays[u] || must_wait(j, u, stays, seen)) return 1;
    } else
        for_parents (g, v, u)
            if (stays[u] || must_wait(j, u, stays, seen)) return 1;
    return 0;
}

static const char *expected_kind(const struct job *j, const struct generator *g, int v)
{
    const char *name = bn_name(model_bn(&j->m), v);
    size_t len = strcspn(name, "[");
    for (int k = 0; k < g->num_expected; k++)
        if (strlen(g->expected[k].name) == len && strncmp(g->expected[k].name, name, len) == 0)
            return g->expected[k].kind;
    fail_msg("%s\nnothing is expected of %s", j->text, name);
    return NULL;
}

/* Expectations are for reverse mode.  In forward mode, what comes first may leave something that is
   not of that kind any more, unless all are of one kind. */
static int is_known(const struct job *j, const struct generator *g)
{
    int known = 1;
    for (int k = 0; k < g->num_expected; k++)
        known &= *g->expected[k].kind && strcmp(g->expected[k].kind, g->expected[0].kind) == 0 &&
                 strcmp(g->expected[k].kind, "quadrature") != 0;
    return known || j->inversion.p.mode == MODE_REVERSE;
}

/* Latents that are expected to stay keep others from being exact. */
static void check_kinds(const struct job *j, const struct generator *g)
{
    int n = j->inversion.p.g->n;
    if (!is_known(j, g)) return;
    unsigned char *stays = calloc((size_t)n, 1), *seen = calloc((size_t)n, 1);
    assert_true(stays && seen);
    for (int v = 0; v < n; v++) {
        if (j->role[v] != ROLE_WANTED) continue;
        const char *kind = expected_kind(j, g, v);
        stays[v] = !*kind || *kind == '-' || (*kind == '?' && !j->c.kind[v]) ||
                   (*kind != '?' && !has_kind(kind));
        if (!j->c.kind[v] != !!j->c.why[v])
            report(j, "%s is exact or not, and why: %s", bn_name(model_bn(&j->m), v),
                   j->c.why[v] ? j->c.why[v] : "no reason");
    }
    for (int v = 0; v < n; v++) {
        if (j->role[v] != ROLE_WANTED) continue;
        const char *kind = expected_kind(j, g, v), *got = j->c.kind[v] ? j->c.kind[v] : "";
        memset(seen, 0, (size_t)n);
        if (*kind == '?') continue;
        if (stays[v] || must_wait(j, v, stays, seen)) kind = "";
        if (strcmp(kind, got) != 0)
            report(j, "%s: found '%s', expected '%s'; it %s", bn_name(model_bn(&j->m), v), got,
                   kind, j->c.why[v] ? j->c.why[v] : "is exact");
    }
    free(stays);
    free(seen);
}

/* ---- densities ---------------------------------------------------------------------------------
 */

static void program_values(const struct job *j, const struct prog *p, size_t n, const double *x,
                           double *logp, double *grad)
{
    nami_err err = {0};
    struct density out = {.logp = logp, .grad = grad};
    if (program_logp(&j->m, p, n, x, 1, &out, &err)) fail_msg("%s: %s", j->text, err.msg);
}

/* Latents of the first steps, and barren ones. */
static void mark_steps(struct job *j, size_t steps)
{
    for (int v = 0; v < j->inversion.p.g->n; v++) j->mark[v] = j->role[v] == ROLE_MODEL;
    for (size_t k = 0; k < steps; k++)
        for (size_t i = 0; i < j->c.step.a[k]->node.n; i++) j->mark[j->c.step.a[k]->node.a[i]] = 1;
}

static double tolerance(const struct job *j) { return j->quadrature ? 1e-6 : 1e-8; }

static void check_density(struct job *j, struct integrator *w, size_t steps, size_t i)
{
    double got[POINTS], want = integrator_value(w, NULL);
    const struct prog *p = steps ? &j->c.step.a[steps - 1]->rest : &j->c.start;
    program_values(j, p, POINTS, j->x, got, NULL);
    if (relative(got[i], want) <= tolerance(j)) return;
    report(j, "after %zu steps, log density %.15g, by brute force %.15g", steps, got[i], want);
    report_point(j, i);
}

/* ---- derivatives --------------------------------------------------------------------------------
 */

/* A step that keeps x within its support. */
static double small(const struct model *m, int e, double x)
{
    double lo, hi;
    model_support(m, e, &lo, &hi);
    return 1e-4 * fmin(fmin(1, x - lo), hi - x);
}

static void check_gradient(struct job *j, int e, size_t i, const double *grad)
{
    int row = element_row(&j->m, e), rows = model_num_rows(&j->m);
    double *x = malloc(sizeof *x * (size_t)rows * 4), f[4];
    assert_non_null(x);
    double at = j->x[(size_t)row * POINTS + i], h = small(&j->m, e, at);
    for (int r = 0; r < rows; r++)
        for (int k = 0; k < 4; k++) x[(size_t)r * 4 + k] = j->x[(size_t)r * POINTS + i];
    for (int k = 0; k < 4; k++) x[(size_t)row * 4 + k] = at + h * (k < 2 ? k - 2 : k - 1);
    program_values(j, collapse_density(&j->c), 4, x, f, NULL);
    double want = (f[0] - 8 * f[1] + 8 * f[2] - f[3]) / (12 * h),
           got = grad[(size_t)row * POINTS + i];
    double rounding = (j->quadrature ? 1e-9 : 1e-11) * fmax(1, fabs(f[0])) / h;
    if (!(fabs(got - want) <= 1e-6 * fmax(1, fabs(want)) + rounding)) {
        struct str name = {0};
        elem_name(&j->m, e, &name);
        report(j, "d/d %s is %.12g, by differences %.12g", name.s, got, want);
        report_point(j, i);
        str_free(&name);
    }
    free(x);
}

/* Of all continuous scalars that are left: latents and observations. */
static void check_gradients(struct job *j)
{
    double logp[POINTS], *grad = calloc((size_t)model_num_rows(&j->m) * POINTS + 1, sizeof *grad);
    assert_non_null(grad);
    program_values(j, collapse_density(&j->c), POINTS, j->x, logp, grad);
    for (int e = 0; e < model_num_elements(&j->m); e++) {
        int v = element_node(&j->m, e);
        if (v < 0 || element_row(&j->m, e) < 0) continue;
        if (domains[element_dist(&j->m, e)->domain].discrete) continue;
        if (domains[element_dist(&j->m, e)->domain].rank) continue; /* on a simplex */
        for (size_t i = 0; i < 2; i++) {
            int gone = j->role[v] == ROLE_MODEL || j->c.kind[v];
            if (!isfinite(logp[i])) continue;
            if (!gone) check_gradient(j, e, i, grad);
            if (gone && grad[(size_t)element_row(&j->m, e) * POINTS + i] != 0)
                report(j, "a derivative with respect to a latent that was integrated out");
        }
    }
    free(grad);
}

/* ---- means and variances
 * -------------------------------------------------------------------------- */

/* Means, then variances, of the variables of a step, given all that is left after it. */
static double *step_moments(const struct job *j, const struct exact_step *s, size_t i)
{
    enum { L = 8 };
    const struct integral *g = &s->integral;
    int n = 2 * g->num_vars;
    nami_err err = {0};
    struct exec x;
    double *got = doubles_new(n * L), *work = doubles_new(integral_work(g));
    double **out = malloc(sizeof *out * (size_t)(n + 1));
    struct lanes *in = malloc(sizeof *in * (size_t)(g->num_inputs + 1));
    assert_true(out && in);
    if (exec_init(&x, &s->rest, L, 0, 0, &err)) fail_msg("%s", err.msg);
    for (int r = 0; r < model_num_rows(&j->m); r++)
        for (int b = 0; b < L; b++) x.row[r * L + b] = j->x[(size_t)r * POINTS + i];
    exec_run(&x);
    for (int k = 0; k < g->num_inputs; k++)
        in[k] = (struct lanes){x.row + (size_t)g->input[k] * L, 1};
    for (int k = 0; k < n; k++) out[k] = got + k * L;
    g->kind->moments(g, NULL, L, out, in, work);
    for (int k = 0; k < n; k++) got[k] = out[k][0];
    exec_fini(&x);
    free(work), free(out), free(in);
    return got;
}

/* Mean and variance of a row, from those of coordinates; sticks are broken independently. */
static void row_moments(const struct integrator *w, int row, const struct means *means,
                        double *mean, double *variance)
{
    double first = 1, second = 1;
    *mean = NAN;
    for (int k = 0; k < w->n; k++) {
        const struct coord *c = &w->coord[k];
        double m = means->first[k] + w->center[k];
        double v = means->second[k][k] - means->first[k] * means->first[k];
        if (c->kind == STICK && c->first) first = second = 1;
        if (c->row == row || (c->kind == STICK && c->rest == row)) {
            int rest = c->row != row;
            double part = rest ? 1 - m : m;
            *mean = c->kind == STICK ? first * part : m;
            *variance = c->kind == STICK ? second * (v + part * part) - *mean * *mean : v;
        }
        first *= 1 - m;
        second *= v + (1 - m) * (1 - m);
    }
}

static void check_moments(struct job *j, struct integrator *w, size_t steps, size_t i,
                          const struct means *means)
{
    const struct integral *g = &j->c.step.a[steps - 1]->integral;
    double *got = step_moments(j, j->c.step.a[steps - 1], i), bound = j->quadrature ? 1e-4 : 1e-6;
    for (int v = 0; v < g->num_vars; v++) {
        double mean, variance = 0, got_mean = got[v], got_variance = got[g->num_vars + v];
        row_moments(w, g->var[v].row, means, &mean, &variance);
        if (fabs(got_mean - mean) <= bound * fmax(sqrt(fmax(variance, 0)), 1e-3) &&
            fabs(got_variance - variance) <= bound * fmax(variance, 1e-6))
            continue;
        report(j, "step %zu, row %d: mean %.12g and variance %.12g, by brute force %.12g and %.12g",
               steps - 1, g->var[v].row, got_mean, got_variance, mean, variance);
        report_point(j, i);
    }
    free(got);
}

/* ---- draws
 * ------------------------------------------------------------------------------------------ */

/* Draws of the exact latents at point i: num_draws of each row. */
static double *draws_at(struct job *j, size_t i)
{
    int rows = model_num_rows(&j->m);
    double *z = malloc(sizeof *z * (size_t)(rows * j->num_draws));
    nami_err err = {0};
    struct exec x;
    assert_non_null(z);
    if (exec_init(&x, &j->c.draw, 128, 0, 0, &err)) fail_msg("%s", err.msg);
    x.param = model_weights(&j->m);
    x.seed = 4711;
    for (int from = 0; from < j->num_draws; from += x.cap) {
        x.first = (uint64_t)from;
        for (int r = 0; r < rows; r++)
            for (int b = 0; b < x.cap; b++) x.row[r * x.cap + b] = j->x[(size_t)r * POINTS + i];
        for (int e = 0; e < model_num_elements(&j->m); e++) /* what is drawn is not read before */
            if (element_node(&j->m, e) >= 0 && j->c.kind[element_node(&j->m, e)])
                for (int b = 0; b < x.cap; b++) x.row[element_row(&j->m, e) * x.cap + b] = NAN;
        exec_run(&x);
        for (int r = 0; r < rows; r++)
            memcpy(z + (size_t)(r * j->num_draws + from), x.row + r * x.cap,
                   sizeof *z * (size_t)x.cap);
    }
    exec_fini(&x);
    return z;
}

/* How far the mean of n numbers in [-1, 1] may be from its expectation: Bernstein's inequality,
   P(|error| > t) <= 2 exp(-n t^2 / (2 variance + 4 t / 3)). */
static double bernstein(int n, double variance)
{
    double a = log(2 / CHANCE) / n;
    return 2 * a / 3 + sqrt(4 * a * a / 9 + 2 * a * variance);
}

/* The values of coordinate k in draws. */
static void squash(const struct integrator *w, int k, int n, const double *z, double *u)
{
    int first = k;
    while (w->coord[first].kind == STICK && !w->coord[first].first) first--;
    for (int i = 0; i < n; i++) {
        double left = 1, x = z[w->coord[k].row * n + i];
        for (int l = first; l < k; l++) left -= z[w->coord[l].row * n + i];
        u[i] = value_of(w, k, w->coord[k].kind == STICK ? x / left : x);
    }
}

static void check_pair(struct job *j, const struct integrator *w, int k, int l, const double *uk,
                       const double *ul, const struct means *means)
{
    double sum = 0, want = ul ? means->second[k][l] : means->first[k];
    for (int i = 0; i < j->num_draws; i++) sum += ul ? uk[i] * ul[i] : uk[i];
    double most = means->second[k][k]; /* bounds the variance */
    if (ul && means->second[l][l] < most) most = means->second[l][l];
    double got = sum / j->num_draws;
    count.draws++;
    if (fabs(got - want) <= bernstein(j->num_draws, fmax(0, most - want * want)) + 1e-6) return;
    report(j, "draws of rows %d and %d (%d): mean of a function %.6g, by brute force %.6g",
           w->coord[k].row, w->coord[l].row, w->state, got, want);
}

static void check_draws(struct job *j, struct integrator *w, size_t i)
{
    int n = j->num_draws;
    double *z = draws_at(j, i), *u = malloc(sizeof *u * (size_t)((w->n + 1) * n));
    struct means *means = calloc(1, sizeof *means);
    int skip[COORDS];
    assert_true(u && means);
    integrator_value(w, means);
    for (int k = 0; k < w->n; k++) {
        double mean = means->first[k], variance = means->second[k][k] - mean * mean;
        w->center[k] += mean;
        w->scale[k] = variance > 0 ? sqrt(variance) : 1;
        skip[k] = !j->c.kind[w->node[k]]; /* barren ones are not drawn */
    }
    w->what = SQUASHED;
    for (w->state = 0; w->state < 3; w->state++) {
        memset(means, 0, sizeof *means);
        integrator_value(w, means);
        for (int k = 0; k < w->n; k++) {
            if (skip[k]) continue;
            squash(w, k, n, z, u + k * n);
            check_pair(j, w, k, k, u + k * n, NULL, means);
            for (int l = 0; l <= k; l++)
                if (!skip[l]) check_pair(j, w, k, l, u + k * n, u + l * n, means);
        }
    }
    w->what = VALUE;
    free(z);
    free(u);
    free(means);
}

/* ---- one model
 * ----------------------------------------------------------------------------------------- */

static void job_init(struct job *j, const char *text, const char *mode, const char *which)
{
    nami_err err = {0};
    int inexact;
    *j = (struct job){.text = text, .mode = mode, .which = which};
    build(&j->m, text, NULL);
    nami_options opt = {.mode = mode};
    if (inversion_init(&j->inversion, j->m.ir.bn, &opt, &err)) fail_msg("%s", err.msg);
    int n = j->inversion.p.g->n;
    j->role = calloc((size_t)n, 1);
    j->mark = calloc((size_t)n, 1);
    j->x = malloc(sizeof *j->x * ((size_t)model_num_rows(&j->m) * POINTS + 1));
    assert_true(j->role && j->mark && j->x);
    if (roles(&j->inversion.p, j->role, &inexact, &err) ||
        collapse_make(&j->c, &j->m, &j->inversion.p, which, &err) ||
        model_simulate(&j->m, 11, 0, POINTS, 1, j->x, &err))
        fail_msg("%s\n%s", text, err.msg);
    for (size_t k = 0; k < j->c.step.n; k++)
        j->quadrature |= strcmp(j->c.step.a[k]->kind->name, "quadrature") == 0;
    j->num_draws = (int)fmin(DRAWS, fmax(FEW_DRAWS, DRAW_COST / fmax(1, j->c.cost))) / 128 * 128;
}

static void job_free(struct job *j)
{
    collapse_free(&j->c);
    inversion_fini(&j->inversion);
    model_fini(&j->m);
    free(j->role), free(j->mark), free(j->x);
}

static void check_points(struct job *j, int num_points, int with_draws)
{
    for (size_t steps = 0; steps <= j->c.step.n; steps++) {
        mark_steps(j, steps);
        for (size_t i = 0; i < (size_t)num_points; i++) {
            struct integrator w;
            struct means *means = calloc(1, sizeof *means);
            assert_non_null(means);
            integrator_init(&w, &j->m, j->mark, POINTS, j->x, i);
            check_density(j, &w, steps, i);
            for (int k = 0; k < w.n; k++) w.center[k] = natural(&w.coord[k], w.start[0][k]);
            if (steps && i < 1) {
                integrator_value(&w, means);
                check_moments(j, &w, steps, i, means);
            }
            if (with_draws && steps && steps == j->c.step.n && i == 0) check_draws(j, &w, i);
            integrator_free(&w);
            free(means);
        }
    }
}

typedef void generate_fn(struct generator *g);

static void check_model(struct generator *g, const char *mode, const char *which, int num_points,
                        int with_draws)
{
    struct job j;
    finish(g);
    job_init(&j, g->text.s, mode, which);
    check_kinds(&j, g);
    check_points(&j, num_points, with_draws);
    check_gradients(&j);
    count.models++;
    job_free(&j);
}

/* Some models of each; every eighth with draws. */
static void check_family(generate_fn *generate, int stream, int models, const char *which,
                         int num_points)
{
    for (int i = 0; i < models; i++) {
        struct generator g = {.prefix = 'a'};
        rng_init(&g.rng, 17, (uint64_t)(1000 * stream + i));
        generate(&g);
        check_model(&g, i % 4 == 3 ? "forward" : "reverse", which, num_points, i % 8 == 0);
        generator_free(&g);
    }
}

static void begin(void) { memset(&count, 0, sizeof count); }

static void end(void)
{
    assert_true(count.draws < 10000); /* see CHANCE */
    if (count.reports) fail_msg("%d failures in %d models", count.reports, count.models);
}

static void check_families(int num, generate_fn *const *generate, int models)
{
    begin();
    for (int k = 0; k < num; k++) check_family(generate[k], k, models, "auto", 3);
    end();
}

#define CHECK(models, ...)                                                                         \
    do {                                                                                           \
        generate_fn *const generate[] = {__VA_ARGS__};                                             \
        check_families((int)(sizeof generate / sizeof *generate), generate, models);               \
    } while (0)

/* ---- the tests: more than 2,000 models --------------------------------------------------------
 */

static void discrete(void **state)
{
    (void)state;
    CHECK(100, hidden_markov, mixture_of_means, noisy_or, discrete_tree, change_point);
}

static void normal(void **state)
{
    (void)state;
    CHECK(120, hierarchy, state_space, regression, factor_model, vectors, walk_in_part);
}

static void conjugate(void **state)
{
    (void)state;
    CHECK(100, poisson_gamma, waiting_times, precision, betas, dirichlets, normal_inverse_gamma);
}

static void quadrature(void **state)
{
    (void)state;
    begin();
    check_family(effects, 0, 60, "auto", 3);
    check_family(nested_effects, 1, 12, "auto", 1);
    check_family(single_effect, 2, 80, "all", 3);
    end();
}

static void mixed(void **state)
{
    (void)state;
    CHECK(60, switching_means, gamma_mixture, switching_effects, spike_and_slab);
}

/* Two models side by side. */
static void two(struct generator *g)
{
    generate_fn *const parts[] = {hidden_markov, noisy_or,       state_space, regression,
                                  vectors,       poisson_gamma,  betas,       precision,
                                  dirichlets,    switching_means};
    for (int k = 0; k < 2; k++) {
        g->prefix = "ab"[k];
        parts[rng_below(&g->rng, sizeof parts / sizeof *parts)](g);
    }
}

static void side_by_side(void **state)
{
    (void)state;
    CHECK(100, two);
}

static void not_claimed(void **state)
{
    (void)state;
    CHECK(60, intractable, product_of_two);
    begin();
    check_family(broken, 3, 40, "all", 1);
    end();
}

/* ---- the choice
 * -----------------------------------------------------------------------------------
 */

/* The kind of each latent, or why it stays. */
static void kinds_and_reasons(void **state)
{
    static const char plate[] =
        "model { a ~ normal(0, 1)\n w ~ poisson(exp(a))\n"
        " for (i in 1:4) { u[i] ~ normal(0, 1)\n y[i] ~ poisson(exp(u[i])) }"
        " }\nobserve y, w";
    static const char scale[] =
        "model { a ~ half_normal(1)\n for (i in 1:4) { u[i] ~ normal(0, a)\n"
        " y[i] ~ normal(u[i], 1) } }\nobserve y";
    static const char sides[] =
        "model { a ~ half_normal(1)\n for (i in 1:4) { u[i] ~ normal(0, 1)\n"
        " y[i] ~ normal(u[i]^2, 0.1) } }\nobserve y";
    /* most draws of t are almost 0, and the data then tell nothing of a */
    static const char vague[] =
        "model { t ~ gamma(0.001, 0.001)\n R[1, 1] <- 200\n R[1, 2] <- 0\n R[2, 1] <- 0\n"
        " R[2, 2] <- 0.2\n a[1:2, 1:2] ~ wishart(2, R)\n"
        " for (i in 1:5) { u[i, 1:2] ~ multi_normal_prec(c(0, 0), a)\n"
        " for (j in 1:3) { y[i, j] ~ dnorm(u[i, 1] + j * u[i, 2], t) } } }\nobserve y";
    static const struct {
        const char *text, *which, *a, *u;
    } tried[] = {
        /* a single number is no plate, whatever stands beside it */
        {plate, "auto", "is read by a density that is not normal (poisson)", "quadrature"},
        {plate, "all", "quadrature", "quadrature"},
        {scale, "auto", "is a single number without a closed form", "normal"},
        {scale, "all", "quadrature", "normal"},
        {scale, "u", "is not among those that --exact names", "normal"},
        {vague, "auto", "is not conjugate (wishart)", "normal"},
        {sides, "auto", NULL, "enters a mean by 'square', which is not linear"},
    };
    (void)state;
    for (size_t k = 0; k < sizeof tried / sizeof *tried; k++) {
        struct job j;
        job_init(&j, tried[k].text, "reverse", tried[k].which);
        for (int v = 0; v < bn_n(j.m.ir.bn); v++) {
            const char *name = bn_name(j.m.ir.bn, v), *got = j.c.kind[v] ? j.c.kind[v] : j.c.why[v];
            const char *want = name[0] == 'a' ? tried[k].a : name[0] == 'u' ? tried[k].u : NULL;
            if (want && strcmp(got, want) != 0)
                fail_msg("%s\n%s, %s: '%s' is not '%s'", tried[k].text, tried[k].which, name, got,
                         want);
        }
        job_free(&j);
    }
}

/* ---- long chains ------------------------------------------------------------------------------
 */

static double value_at(const struct job *j, const char *name, int k)
{
    return j->x[(size_t)row_of(&j->m, name, k) * POINTS];
}

static double log_normal_at(double x, double mean, double sd)
{
    return -0.5 * log(2 * 3.14159265358979323846) - log(sd) -
           0.5 * (x - mean) * (x - mean) / (sd * sd);
}

/* log p(x, z_N) and the moments of a chain, the only step. */
static void check_chain(struct job *j, const char *name, int T, double logp, const double *mean,
                        const double *variance)
{
    double got[POINTS];
    assert_int_equal(j->c.step.n, 1);
    program_values(j, collapse_density(&j->c), POINTS, j->x, got, NULL);
    if (relative(got[0], logp) > 1e-10) fail_msg("%s: %.15g is not %.15g", name, got[0], logp);
    const struct integral *g = &j->c.step.a[0]->integral;
    double *moments = step_moments(j, j->c.step.a[0], 0);
    assert_int_equal(g->num_vars, T);
    for (int v = 0; v < T; v++)
        for (int t = 0; t < T; t++)
            if (g->var[v].row == row_of(&j->m, name, t) &&
                (relative(moments[v], mean[t]) > 1e-9 ||
                 relative(moments[T + v], variance[t]) > 1e-9))
                fail_msg("%s[%d]: mean %.15g, variance %.15g are not %.15g, %.15g", name, t + 1,
                         moments[v], moments[T + v], mean[t], variance[t]);
    free(moments);
}

/* A hidden Markov model with unknown transition probabilities, means and sd. */
static void forward_backward(void **state)
{
    enum { T = 300, K = 3 };
    struct job j;
    static double forward[T][K], back[T][K];
    double mean[T], variance[T], sum = 0;
    (void)state;
    job_init(
        &j,
        "model {\n  for (k in 1:3) { A[k, 1:3] ~ dirichlet(c(1.5, 2, 1))\n mu[k] ~ normal(0, 3) }\n"
        "  s ~ gamma(4, 4)\n  z[1] ~ categorical(c(0.2, 0.3, 0.5))\n"
        "  for (t in 2:300) { z[t] ~ categorical(A[z[t-1], 1:3]) }\n"
        "  for (t in 1:300) { y[t] ~ normal(mu[z[t]], s) }\n}\nobserve y\n",
        "reverse", "auto");
    const double start[K] = {0.2, 0.3, 0.5};
    double prior = 0, s = value_at(&j, "s", 0);
    for (int t = 0; t < T; t++) { /* scaled to sum to 1 */
        double total = 0;
        for (int k = 0; k < K; k++) {
            double p = t ? 0 : start[k];
            for (int l = 0; l < K && t; l++) p += forward[t - 1][l] * value_at(&j, "A", l * K + k);
            total += forward[t][k] =
                p * exp(log_normal_at(value_at(&j, "y", t), value_at(&j, "mu", k), s));
        }
        for (int k = 0; k < K; k++) forward[t][k] /= total;
        sum += log(total);
    }
    for (int t = T; t-- > 0;) {
        double total = 0;
        for (int k = 0; k < K; k++) {
            back[t][k] = t + 1 == T;
            for (int l = 0; l < K && t + 1 < T; l++)
                back[t][k] +=
                    value_at(&j, "A", k * K + l) * back[t + 1][l] *
                    exp(log_normal_at(value_at(&j, "y", t + 1), value_at(&j, "mu", l), s));
            total += forward[t][k] * back[t][k];
        }
        mean[t] = variance[t] = 0;
        for (int k = 0; k < K; k++) {
            back[t][k] /= total;
            mean[t] += (k + 1) * forward[t][k] * back[t][k];
        }
        for (int k = 0; k < K; k++)
            variance[t] += (k + 1 - mean[t]) * (k + 1 - mean[t]) * forward[t][k] * back[t][k];
    }
    for (int k = 0; k < K; k++) { /* dirichlet(1.5, 2, 1) */
        prior += log_normal_at(value_at(&j, "mu", k), 0, 3) + lgamma(4.5) - lgamma(1.5) +
                 0.5 * log(value_at(&j, "A", k * K)) + log(value_at(&j, "A", k * K + 1));
    }
    prior += 4 * log(4) - lgamma(4) + 3 * log(s) - 4 * s;
    check_chain(&j, "z", T, prior + sum, mean, variance);
    job_free(&j);
}

/* A state space model with unknown coefficient and standard deviations: Kalman filter, and the
   smoother of Rauch, Tung and Striebel. */
static void kalman_smoother(void **state)
{
    enum { T = 300 };
    struct job j;
    double m[T], P[T], mean[T], variance[T], logp = 0;
    (void)state;
    job_init(&j,
             "model {\n  a ~ uniform(-1, 1)\n  q ~ half_normal(1)\n  r ~ half_normal(2)\n"
             "  x[1] ~ normal(0.5, 2)\n  for (t in 2:300) { x[t] ~ normal(a * x[t-1], q) }\n"
             "  for (t in 1:300) { y[t] ~ normal(x[t], r) }\n}\nobserve y\n",
             "reverse", "auto");
    double a = value_at(&j, "a", 0), q = value_at(&j, "q", 0), r = value_at(&j, "r", 0);
    for (int t = 0; t < T; t++) {
        double ahead = t ? a * m[t - 1] : 0.5, spread = t ? a * a * P[t - 1] + q * q : 4;
        double y = value_at(&j, "y", t), total = spread + r * r;
        logp += log_normal_at(y, ahead, sqrt(total));
        m[t] = ahead + spread / total * (y - ahead);
        P[t] = spread * r * r / total;
    }
    for (int t = T; t-- > 0;) {
        double spread = a * a * P[t] + q * q, gain = a * P[t] / spread;
        mean[t] = t + 1 == T ? m[t] : m[t] + gain * (mean[t + 1] - a * m[t]);
        variance[t] = t + 1 == T ? P[t] : P[t] + gain * gain * (variance[t + 1] - spread);
    }
    logp += log(0.5) + 2 * log(2) + log_normal_at(q, 0, 1) + log_normal_at(r, 0, 2);
    check_chain(&j, "x", T, logp, mean, variance);
    job_free(&j);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(discrete),        cmocka_unit_test(normal),
        cmocka_unit_test(conjugate),       cmocka_unit_test(quadrature),
        cmocka_unit_test(mixed),           cmocka_unit_test(side_by_side),
        cmocka_unit_test(not_claimed),     cmocka_unit_test(forward_backward),
        cmocka_unit_test(kalman_smoother), cmocka_unit_test(kinds_and_reasons),
    };
    mallopt(M_MMAP_THRESHOLD, 1 << 28); /* large arrays come and go: keep their pages */
    mallopt(M_TRIM_THRESHOLD, 1 << 28);
    return run_cases(tests, sizeof tests / sizeof *tests, argc, argv);
}
