/* integral_at.h: integrals over latents of models that are given as text, for tests. */
#ifndef TESTS_INTEGRAL_AT_H
#define TESTS_INTEGRAL_AT_H

#include "base/stream.h"
#include "exact/split.h"
#include "model_at.h"

enum { AT_VARS = 64, AT_LANES = 128 };

struct at {
    struct model m;
    struct integral g;
    struct prog rest;
    int num_vars;
    struct variable var[AT_VARS];
    struct exec x; /* of rest, with derivatives, AT_LANES lanes */
};

/* Adds all elements of a latent array to the variables. */
static inline void at_latent(struct at *a, const char *name, double low, double high)
{
    const struct array *r = &a->m.ir.arrays.a[array_find(&a->m, name)];
    for (int k = 0; k < r->n; k++)
        a->var[a->num_vars++] =
            (struct variable){.row = row_of(&a->m, name, k), .low = low, .high = high};
}

/* Splits off the variables; slab: lanes of the body's workspace, 0: as planned. Error code. */
static inline int at_try(struct at *a, const struct integral_kind *kind, int slab, nami_err *err)
{
    int rc = split_integral(model_density_program(&a->m), a->num_vars, a->var, kind, &a->g,
                            &a->rest, err);
    if (rc) return rc;
    if (slab) a->g.lanes = slab;
    return exec_init(&a->x, &a->rest, AT_LANES, 0, EXEC_GRAD, err);
}

static inline void at_begin(struct at *a, const char *text, const char *data)
{
    *a = (struct at){0};
    build(&a->m, text, data);
}

static inline void at_split(struct at *a, const struct integral_kind *kind, int slab)
{
    nami_err err = {0};
    if (at_try(a, kind, slab, &err)) fail_msg("%s", err.msg);
}

/* Model, one latent array, split. */
static inline void at_open(struct at *a, const struct integral_kind *kind, const char *text,
                           const char *data, const char *name, double low, double high, int slab)
{
    at_begin(a, text, data);
    at_latent(a, name, low, high);
    at_split(a, kind, slab);
}

static inline void at_close(struct at *a)
{
    exec_fini(&a->x);
    prog_free(&a->rest);
    integral_free(&a->g);
    model_fini(&a->m);
}

/* A row of the model, in the exec of the rest; its derivative. */
static inline double *at_row(const struct at *a, const char *name, int k)
{
    return a->x.row + (size_t)row_of(&a->m, name, k) * (size_t)a->x.cap;
}
static inline double *at_adj(const struct at *a, const char *name, int k)
{
    return a->x.adj + (size_t)row_of(&a->m, name, k) * (size_t)a->x.cap;
}

static inline void at_set(const struct at *a, const char *name, int k, double x)
{
    for (int b = 0; b < AT_LANES; b++) at_row(a, name, k)[b] = x;
}

/* After exec_run(&a->x): log integral of component c. */
static inline const double *at_result(const struct at *a, int c)
{
    const struct instr *last = &a->rest.code.a[a->rest.code.n - 1];
    assert_true(last->self == &a->g);
    return a->x.row + (size_t)(last->out + c) * (size_t)a->x.cap;
}

/* After exec_run: the inputs of the integral; free() both. */
static inline struct lanes *at_inputs(const struct at *a)
{
    struct lanes *in = calloc((size_t)a->g.num_inputs + 1, sizeof *in);
    assert_non_null(in);
    for (int k = 0; k < a->g.num_inputs; k++)
        in[k] = (struct lanes){a->x.row + (size_t)a->g.input[k] * (size_t)a->x.cap, 1};
    return in;
}

static inline double *at_work(const struct at *a)
{
    double *work = malloc(sizeof *work * (size_t)integral_work(&a->g));
    assert_non_null(work);
    return work;
}

/* Draws of the prior to all rows. */
static inline void at_prior(struct at *a)
{
    double *x = draw(&a->m, AT_LANES, 1);
    for (int r = 0; r < a->m.ir.num_rows; r++)
        memcpy(a->x.row + (size_t)r * (size_t)a->x.cap, x + (size_t)r * AT_LANES,
               sizeof *x * AT_LANES);
    free(x);
}

static inline int at_fits(struct at *a)
{
    exec_run(&a->x);
    struct lanes *in = at_inputs(a);
    double *work = at_work(a);
    int fits = a->g.kind->fits(&a->g, AT_LANES, in, work);
    free(in);
    free(work);
    return fits;
}

/* Splits the variables off and frees what it makes: an error code. For malloc_fail.h. */
struct at_plan {
    struct at *a;
    const struct integral_kind *kind;
};
static inline int at_plan_again(void *ctx)
{
    struct at_plan *p = ctx;
    struct integral g;
    struct prog rest;
    nami_err err;
    int rc = split_integral(model_density_program(&p->a->m), p->a->num_vars, p->a->var, p->kind, &g,
                            &rest, &err);
    integral_free(&g);
    prog_free(&rest);
    return rc;
}

#ifdef TESTS_MALLOC_FAIL_H
/* Each allocation of a plan fails once: an error, and nothing is left. */
static inline void at_out_of_memory(struct at *a, const struct integral_kind *kind)
{
    struct at_plan p = {a, kind};
    const char *why = "";
    int more = 1, n = 0;
    for (; more > 0; n += more) {
        more = nomem_at(at_plan_again, &p, n + 1, &why);
        if (more < 0) fail_msg("%s", why ? why : "");
    }
    print_message("%d allocations failed\n", n);
    assert_true(n > 20);
}
#endif

/* n draws (a multiple of AT_LANES) of variable v with the inputs of lane 0. */
static inline void at_draws(struct at *a, int v, int n, double *out)
{
    exec_run(&a->x);
    struct lanes *in = at_inputs(a);
    double *work = at_work(a), *room = malloc(sizeof *room * AT_LANES * (size_t)a->g.num_vars);
    double **to = malloc(sizeof *to * (size_t)a->g.num_vars);
    assert_true(room && to);
    for (int k = 0; k < a->g.num_inputs; k++) in[k].step = 0;
    for (int k = 0; k < a->g.num_vars; k++) to[k] = room + k * AT_LANES;
    for (int i = 0; i < n; i += AT_LANES) {
        struct stream s = {5, 0, (uint64_t)i};
        a->g.kind->draw(&a->g, &s, NULL, AT_LANES, to, in, work);
        memcpy(out + i, to[v], sizeof *out * AT_LANES);
    }
    free(in), free(work), free(room), free(to);
}

static inline void at_moments(struct at *a, int v, double *mean, double *var)
{
    exec_run(&a->x);
    struct lanes *in = at_inputs(a);
    double *work = at_work(a), *room = malloc(2 * sizeof *room * (size_t)a->g.num_vars);
    double **to = malloc(2 * sizeof *to * (size_t)a->g.num_vars);
    assert_true(room && to);
    for (int k = 0; k < 2 * a->g.num_vars; k++) to[k] = room + k;
    a->g.kind->moments(&a->g, NULL, 1, to, in, work);
    *mean = to[v][0];
    *var = to[a->g.num_vars + v][0];
    free(in), free(work), free(room), free(to);
}

static inline int at_order(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

/* Fails if the Kolmogorov distance of n draws from a distribution function is one that has a
   probability below 1e-7 by chance. Sorts x. */
static inline void at_kolmogorov(int n, double *x, double (*cdf)(double, const double *),
                                 const double *p)
{
    double most = sqrt(log(2 / 1e-7) / (2. * n));
    qsort(x, (size_t)n, sizeof *x, at_order);
    for (int i = 0; i < n; i++) {
        double f = cdf(x[i], p), far = fmax(f - (double)i / n, (i + 1.) / n - f);
        if (!(far <= most)) fail_msg("%g: %g instead of %g", x[i], f, (i + 0.5) / n);
    }
}

/* d total / d row k of `name` in lanes 0 .. n - 1 against differences. */
static inline void at_check_derivative(struct at *a, const char *name, int k, int n, double error)
{
    double old[AT_LANES], by[AT_LANES], low[AT_LANES], high[AT_LANES], *x = at_row(a, name, k);
    memcpy(old, x, sizeof old);
    exec_run(&a->x);
    exec_back(&a->x);
    memcpy(by, at_adj(a, name, k), sizeof by);
    for (int b = 0; b < n; b++) x[b] = old[b] * (1 - 1e-5);
    exec_run(&a->x);
    memcpy(low, a->x.total, sizeof low);
    for (int b = 0; b < n; b++) x[b] = old[b] * (1 + 1e-5);
    exec_run(&a->x);
    memcpy(high, a->x.total, sizeof high);
    memcpy(x, old, sizeof old);
    for (int b = 0; b < n; b++) {
        double want = (high[b] - low[b]) / (2e-5 * old[b]);
        if (!(fabs(by[b] - want) <= error * (1 + fabs(want) + fabs(high[b] / old[b]))))
            fail_msg("d by %s[%d] = %g, lane %d: %.12g is not %.12g", name, k, old[b], b, by[b],
                     want);
    }
}

#endif
