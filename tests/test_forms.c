/* test_forms.c: mixture(), censored() and interval() are correct for every distribution that
   they take, at the points of its own record. */
#include "dist_at.h"

enum { N = 1 << 14 };

/* A form of d at its parameters, with more arguments behind (or, `before`, in front of) them. */
static struct at form_at(const struct dist_form *f, struct dist *made, const struct at *it,
                         int nmore, const double *more)
{
    const struct dist *part[DIST_PARTS] = {it->d, it->d};
    const char *why = dist_make(f, part, made);
    if (why) fail_msg("%s of %s: %s", f->name, it->d->name, why);
    struct at to = {.d = made, .nx = 1, .np = it->np + nmore};
    to.dim[0] = 1;
    for (int k = 0; k < it->np; k++) to.dim[1 + k] = 1;
    memcpy(to.p, it->p, sizeof(double) * (size_t)it->np);
    memcpy(to.p + it->np, more, sizeof(double) * (size_t)nmore);
    return to;
}

/* Derivatives by the first n arguments against central differences, and by the value if `also`. */
static void check_grad(const struct at *it, double x, int n, int also)
{
    double g[2 * MOST];
    if (!isfinite(at_logp(it, &x))) return;
    at_grad(it, &x, g);
    for (int k = also ? -1 : 0; k < n; k++) {
        struct at up = *it, down = *it;
        double xu = x, xd = x, v = k < 0 ? x : it->p[k];
        if (k >= 0 && domains[it->d->arg[k].domain].discrete) continue;
        if (k >= 0 && strcmp(it->d->arg[k].name, "x") == 0) continue; /* where a point mass is */
        if (k >= 0 && it->d->arg[k].domain == UNIT && (v <= 0 || v >= 1)) continue;
        double h = 1e-5 * fmax(fabs(v), 1e-2);
        if (k < 0)
            xu += h, xd -= h;
        else
            up.p[k] += h, down.p[k] -= h;
        double want = (at_logp(&up, &xu) - at_logp(&down, &xd)) / (2 * h);
        check(it, near(g[1 + k], want, 2e-4),
              "%s: derivative %d at %g: %.10g, by differences %.10g", it->d->part[0]->name, k, x,
              g[1 + k], want);
    }
}

static int takes(const struct at *it)
{
    return it->d->logp && it->d->cdf && it->d->quantile && it->d != &dist_uniform &&
           it->d != &dist_pareto; /* derivatives jump at their ends */
}

static void interval(void **state)
{
    (void)state;
    const struct dist_form *f = dist_form_find("interval", 8);
    struct stream s = {.seed = 61, .node = 1};
    static double x[N];
    for_each_try(it)
    {
        struct dist made, inside;
        if (!takes(&it)) continue;
        double cuts[3] = {it.d->quantile(0.2, it.p), it.d->quantile(0.55, it.p),
                          it.d->quantile(0.9, it.p)};
        if (!(cuts[0] < cuts[1] && cuts[1] < cuts[2])) continue;
        struct at k = form_at(f, &made, &it, 3, cuts);
        k.dim[1 + it.np] = 3;
        double total = 0, p[4], want[4];
        for (int j = 0; j < 4; j++) {
            double v = j, below = j ? it.d->cdf(cuts[j - 1], it.p) : 0;
            p[j] = exp(at_logp(&k, &v));
            want[j] = (j < 3 ? it.d->cdf(cuts[j], it.p) : 1) - below;
            check(&k, near(p[j], want[j], 1e-9), "%s: P(%d) = %g, not %g", it.d->name, j, p[j],
                  want[j]);
            total += p[j];
            check_grad(&k, v, it.np, 0);
        }
        check(&k, near(total, 1, 1e-9), "%s: in all %g", it.d->name, total);
        double none[] = {-1, 4, 0.5};
        for (int j = 0; j < 3; j++) check(&k, at_logp(&k, &none[j]) == -INFINITY, "outside");
        /* p(t) = p(k) p(t | k) where t lies in interval k, which draws do */
        double n[4] = {0};
        at_draw(&it, &s, 64, x);
        for (int i = 0; i < 64; i++) {
            double number = 0, more[4];
            for (int j = 0; j < 3; j++) number += cuts[j] < x[i];
            more[0] = number;
            memcpy(more + 1, cuts, sizeof cuts);
            struct at t = form_at(&form_within, &inside, &it, 4, more);
            t.dim[1 + it.np] = 1;
            t.dim[2 + it.np] = 3;
            check(&t, near(at_logp(&k, &number) + at_logp(&t, &x[i]), at_logp(&it, &x[i]), 1e-9),
                  "%s at %g: p(k) p(t|k) is not p(t)", it.d->name, x[i]);
            if (i < 4) check_grad(&t, x[i], it.np, !at_discrete(&it));
            double drawn, below = 0;
            at_draw(&t, &s, 1, &drawn);
            for (int j = 0; j < 3; j++) below += cuts[j] < drawn;
            check(&t, below == number, "%s: %g drawn for interval %g", it.d->name, drawn, number);
        }
        at_draw(&k, &s, N, x);
        for (int i = 0; i < N; i++) n[(int)x[i]]++;
        for (int j = 0; j < 4; j++) /* 6 sds: 1e-8 for all */
            check(&k, fabs(n[j] - N * p[j]) < 6 * sqrt(N * p[j] * (1 - p[j])) + 1e-9,
                  "%s: %g draws of %d, %g expected", it.d->name, n[j], j, N * p[j]);
    }
}

static void censored(void **state)
{
    (void)state;
    const struct dist_form *f = dist_form_find("censored", 8);
    struct stream s = {.seed = 62, .node = 1};
    static double x[N];
    for_each_try(it)
    {
        struct dist made;
        if (!takes(&it)) continue;
        int discrete = at_discrete(&it);
        double ends[2] = {it.d->quantile(0.25, it.p), it.d->quantile(0.8, it.p)};
        if (!(ends[1] - ends[0] > (discrete ? 2 : 0))) continue;
        struct at c = form_at(f, &made, &it, 2, ends);
        double mid = discrete ? ends[0] + 1 : it.d->quantile(0.5, it.p);
        check(&c, near(at_logp(&c, &mid), at_logp(&it, &mid), 1e-12), "density between");
        check(&c, near(exp(at_logp(&c, &ends[0])), it.d->cdf(ends[0], it.p), 1e-9), "below");
        check(&c, near(exp(at_logp(&c, &ends[1])), 1 - it.d->cdf(ends[1] - discrete, it.p), 1e-9),
              "above");
        double out[2] = {ends[0] - 1, ends[1] + 1};
        for (int j = 0; j < 2; j++) {
            check(&c, at_logp(&c, &out[j]) == -INFINITY, "beyond the bounds");
            check_grad(&c, ends[j], it.np, 0);
        }
        check_grad(&c, mid, it.np, 0);
        at_draw(&c, &s, N, x);
        double n[2] = {0};
        for (int i = 0; i < N; i++) {
            check(&c, x[i] >= ends[0] && x[i] <= ends[1], "draw %g", x[i]);
            n[0] += x[i] == ends[0];
            n[1] += x[i] == ends[1];
        }
        for (int j = 0; j < 2; j++) {
            double p = exp(at_logp(&c, &ends[j]));
            check(&c, fabs(n[j] - N * p) < 6 * sqrt(N * p * (1 - p)) + 1e-9,
                  "%s: %g draws at %g, %g expected", it.d->name, n[j], ends[j], N * p);
        }
    }
}

/* Of two parts with arguments a and b. */
static struct at mixture_at(struct dist *made, const struct dist *p, const struct dist *q, double w,
                            const double *a, const double *b)
{
    const struct dist *part[] = {p, q};
    assert_null(dist_make(dist_form_find("mixture", 7), part, made));
    struct at it = {.d = made, .nx = 1, .np = 1 + p->narg + q->narg, .p = {w}};
    for (int k = 0; k <= it.np; k++) it.dim[k] = 1;
    memcpy(it.p + 1, a, sizeof(double) * (size_t)p->narg);
    memcpy(it.p + 1 + p->narg, b, sizeof(double) * (size_t)q->narg);
    return it;
}

static double part_logp(const struct dist *d, const double *p, double x)
{
    double v;
    const double *a[1 + DIST_ARGS] = {&x};
    for (int k = 0; k < d->narg; k++) a[1 + k] = &p[k];
    d->logp(d, 1, &v, a);
    return v;
}

static void mixture(void **state)
{
    (void)state;
    static const struct {
        const struct dist *p, *q;
        double w, a[3], b[3];
    } at[] = {
        {&dist_normal, &dist_normal, 0.3, {-1.2, 0.7}, {2.4, 1.9}},
        {&dist_normal, &dist_student_t, 0.85, {0.3, 1.1}, {2.5, 0.4, 3.2}},
        {&dist_gamma, &dist_lognormal, 0.41, {2.3, 0.9}, {0.2, 0.6}},
        {&dist_poisson, &dist_neg_binomial, 0.6, {3.7}, {1.3, 0.4}},
        {&dist_point, &dist_poisson, 0.35, {0}, {2.6}},
        {&dist_binomial, &dist_point, 0.35, {9, 0.4}, {0}},
        {&dist_point, &dist_gamma, 0.25, {0}, {2.2, 1.4}},
    };
    struct stream s = {.seed = 63, .node = 1};
    static double x[N];
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        struct dist made;
        struct at it = mixture_at(&made, at[i].p, at[i].q, at[i].w, at[i].a, at[i].b);
        double mean = 0, total = 0;
        at_draw(&it, &s, N, x);
        for (int j = 0; j < 200; j++) {
            double l = part_logp(at[i].p, at[i].a, x[j]), r = part_logp(at[i].q, at[i].b, x[j]);
            if (made.atoms && x[j] == 0) r = -INFINITY; /* the mass counts, not the density */
            double want = log(at[i].w * exp(l) + (1 - at[i].w) * exp(r));
            check(&it, near(at_logp(&it, &x[j]), want, 1e-10), "case %zu at %g", i, x[j]);
            check_grad(&it, x[j], it.np, !made.atoms && !domains[made.domain].discrete);
        }
        for (int j = 0; j < N; j++) mean += x[j] / N;
        if (!domains[made.domain].discrete) continue;
        for (double k = 0; k < 200; k++) {
            double p = exp(at_logp(&it, &k)), n = 0;
            total += p;
            for (int j = 0; j < N; j++) n += x[j] == k;
            check(&it, fabs(n - N * p) < 6 * sqrt(N * p) + 3, "case %zu: %g draws of %g, not %g", i,
                  n, k, N * p);
        }
        check(&it, near(total, 1, 1e-9), "case %zu: in all %g", i, total);
    }
    /* three parts, one inside the other; a weight of 0 or 1 */
    struct dist inner, outer;
    struct at two =
        mixture_at(&inner, &dist_normal, &dist_normal, 0.5, (double[]){-3, 1}, (double[]){3, 1});
    struct at all = mixture_at(&outer, &inner, &dist_cauchy, 0.7, two.p, (double[]){0, 2});
    double at_1 = 1.3, want = 0.7 * exp(at_logp(&two, &at_1)) +
                              0.3 * exp(part_logp(&dist_cauchy, (double[]){0, 2}, 1.3));
    check(&all, near(exp(at_logp(&all, &at_1)), want, 1e-12), "nested");
    two.p[0] = 0;
    check(&two, near(at_logp(&two, &at_1), part_logp(&dist_normal, (double[]){3, 1}, 1.3), 1e-12),
          "weight 0");
    two.p[0] = 1.5;
    assert_true(isnan(at_logp(&two, &at_1)));
}

static void refused(void **state)
{
    (void)state;
    const struct dist *unlike[] = {&dist_normal, &dist_poisson};
    const struct dist *vectors[] = {&dist_dirichlet, &dist_dirichlet};
    const struct dist no_cdf = {.name = "none", .logp = dist_normal.logp}, *bare[] = {&no_cdf};
    struct dist made;
    assert_non_null(dist_make(dist_form_find("mixture", 7), unlike, &made));
    assert_non_null(dist_make(dist_form_find("mixture", 7), vectors, &made));
    assert_non_null(dist_make(dist_form_find("censored", 8), bare, &made));
    assert_non_null(dist_make(dist_form_find("interval", 8), bare, &made));
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(interval), cmocka_unit_test(censored),
                                          cmocka_unit_test(mixture), cmocka_unit_test(refused)};

RUN(tests)
