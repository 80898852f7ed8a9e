/* test_density.c: densities, distribution functions and quantiles as functions of the model
   language: all distributions at their own points, derivatives against differences, log tails
   against numbers of mpmath.  tests/test_jags.py compares values with those of JAGS. */
#include <float.h>

#include "run.h"

#include "dist_at.h"
#include "malloc_fail.h"
#include "model/eval.h"
#include "model/lang/lang.h"

/* ---- names --------------------------------------------------------------------------- */

static struct density_name find(const char *name)
{
    struct density_name f = density_find(name);
    if (!f.form) fail_msg("%s is not found", name);
    return f;
}

static void names(void **state)
{
    (void)state;
    static const char *const none[] = {"d",
                                       "p",
                                       "dnor",
                                       "norm",
                                       "normal",
                                       "_lpdf",
                                       "norm_cdf",
                                       "normal_",
                                       "dnorm_cdf",
                                       "pow",
                                       "dim",
                                       "probit",
                                       "logdensity.normal",
                                       "lpdf",
                                       "pnormal",
                                       ""};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        if (density_find(none[i]).form) fail_msg("%s is a function", none[i]);
    assert_ptr_equal(find("pgen.gamma").dist, &dist_gen_gamma);
    assert_ptr_equal(find("logdensity.mnorm.vcov").dist, &dist_multi_normal);
    assert_ptr_equal(find("half_normal_lccdf").dist, &dist_half_normal);
    assert_int_equal(find("df").form->kind, FUN_DENSITY);
    assert_int_equal(find("qt").form->kind, FUN_QUANTILE);
    /* no name of a function or of a distribution without a d has a second meaning */
    for (int i = 0; ops[i]; i++) assert_null(density_find(ops[i]->name).form);
    for (int i = 0; op_aliases[i].alias; i++) assert_null(density_find(op_aliases[i].alias).form);
    for (int i = 0; builtins[i].name; i++) assert_null(density_find(builtins[i].name).form);
    for (int i = 0; dists[i]; i++) assert_null(density_find(dists[i]->name).form);
}

/* ---- all distributions --------------------------------------------------------------- */

/* The operation of a form, or NULL if the distribution does not have it. */
static const struct op *op_of(struct model *m, const struct density_form *form,
                              const struct dist *dist)
{
    struct density_name f = {form, dist, NULL};
    struct str name = {0};
    if (form->jags || density_refuse(&m->source.diags, (struct place){0}, &f)) return NULL;
    str_printf(&name, "%s%s", dist->name, form->behind);
    f = find(name.s);
    assert_ptr_equal(f.dist, dist);
    assert_ptr_equal(f.form, form);
    const struct op *op = density_op(m, &f, name.s);
    assert_ptr_equal(density_op(m, &f, name.s), op); /* one for each name */
    str_free(&name);
    return op;
}

/* v: the value, then the arguments */
static double call(const struct op *op, const double *v)
{
    const double *a[1 + DIST_ARGS];
    double out;
    for (int k = 0; k <= DIST_ARGS; k++) a[k] = &v[k];
    op->map(op, 1, &out, a);
    return out;
}

static void derivatives(const struct op *op, const double *v, double *g)
{
    const double *a[1 + DIST_ARGS], one = 1;
    double *da[1 + DIST_ARGS], out = call(op, v);
    for (int k = 0; k <= DIST_ARGS; k++) a[k] = &v[k], da[k] = &g[k];
    op->map_grad(op, 1, &out, &one, a, da);
}

/* By argument k: central differences with steps h and h/2, extrapolated. */
static double difference(const struct op *op, const double *v, int k, double h)
{
    double w[1 + DIST_ARGS], s[2];
    memcpy(w, v, sizeof w);
    for (int i = 0; i < 2; i++, h /= 2) {
        w[k] = v[k] + h;
        s[i] = call(op, w);
        w[k] = v[k] - h;
        s[i] = (s[i] - call(op, w)) / (2 * h);
    }
    return (4 * s[1] - s[0]) / 3;
}

static void gradients(void **state)
{
    (void)state;
    static const double us[] = {1e-4, 0.013, 0.317, 0.47, 0.87, 0.9993};
    struct model m = {0};
    int tried = 0;
    for_each_try(it) for (const struct density_form *form = density_forms; form->name; form++)
    {
        const struct op *op = op_of(&m, form, it.d);
        if (!op || !op->map || !op->map_grad || !it.d->quantile) continue;
        for (size_t i = 0; i < sizeof us / sizeof *us; i++) {
            double v[1 + DIST_ARGS] = {0}, g[1 + DIST_ARGS] = {0};
            double x = it.d->quantile(us[i], it.p);
            v[0] = form->kind == FUN_QUANTILE ? us[i] : x;
            memcpy(v + 1, it.p, sizeof(double) * (size_t)it.d->narg);
            derivatives(op, v, g);
            double f = exp(at_logp(&it, &x)),
                   scale = at_discrete(&it) ? 1 : us[i] * (1 - us[i]) / f;
            for (int k = 0; k <= it.d->narg; k++, tried++) {
                enum domain of = k ? it.d->arg[k - 1].domain : it.d->domain;
                if (domains[of].discrete || isinf(call(op, v))) {
                    check(&it, g[k] == 0, "%s: %g by argument %d", op->name, g[k], k);
                    continue;
                }
                /* a step that changes the probability by about a thousandth of itself */
                double h = k                            ? 1e-3 * fabs(v[k])
                           : form->kind == FUN_QUANTILE ? 1e-3 * fmin(v[0], 1 - v[0])
                                                        : 1e-3 * scale;
                if (k && of == REAL) h = 1e-3 * scale;
                if (of == UNIT) h = fmin(h, 1e-3 * (1 - v[k]));
                if (k && it.d->bounds) h = fmin(h, 1e-3 * fabs(x - v[k])); /* uniform, pareto */
                double want = difference(op, v, k, h), size = fabs(call(op, v) / h) * 1e-3;
                check(&it, fabs(g[k] - want) <= 2e-6 * (fabs(want) + size) + 1e-12,
                      "%s at %g: %.10g by argument %d, not %.10g", op->name, v[0], g[k], k, want);
            }
        }
    }
    assert_true(tried > 5000);
    diags_free(&m.source.diags);
    arena_free(&m.mem);
}

/* ---- values ---------------------------------------------------------------------------- */

/* By mpmath, with 420 digits: incomplete gamma and beta functions, erfc, sums of probabilities. */
static const struct {
    const char *name;
    int n;
    double v[1 + DIST_ARGS], want;
} tails[] = {
    {"normal_lcdf", 3, {-60, 0.3, 1.2}, -1267.3675947186101},
    {"normal_lcdf", 3, {-38.7, 0.3, 1.2}, -532.52612313768042},
    {"normal_lccdf", 3, {-38.7, 0.3, 1.2}, -5.3314243596781863e-232},
    {"normal_lcdf", 3, {-3.1, 0.3, 1.2}, -6.073427106115733},
    {"normal_lccdf", 3, {-3.1, 0.3, 1.2}, -0.0023059227291504817},
    {"normal_lcdf", 3, {0.4, 0.3, 1.2}, -0.62884602786836797},
    {"normal_lccdf", 3, {0.4, 0.3, 1.2}, -0.76186884279735524},
    {"normal_lcdf", 3, {7.7, 0.3, 1.2}, -3.4872282105361104e-10},
    {"normal_lccdf", 3, {7.7, 0.3, 1.2}, -21.77674371846699},
    {"normal_lccdf", 3, {90, 0.3, 1.2}, -2799.0145166343869},
    {"lognormal_lcdf", 3, {1e-30, 0.3, 1.2}, -1676.2420456515251},
    {"lognormal_lcdf", 3, {0.4, 0.3, 1.2}, -1.8618001372255883},
    {"lognormal_lccdf", 3, {0.4, 0.3, 1.2}, -0.16888343458776267},
    {"lognormal_lccdf", 3, {1e+30, 0.3, 1.2}, -1647.4510512795898},
    {"gamma_lcdf", 3, {1e-200, 2.3, 1.1}, -1059.9570279416057},
    {"gamma_lcdf", 3, {2.1, 2.3, 1.1}, -0.52726400879745535},
    {"gamma_lccdf", 3, {2.1, 2.3, 1.1}, -0.89212897419276138},
    {"gamma_lccdf", 3, {1500, 2.3, 1.1}, -1640.5223120063452},
    {"inv_gamma_lcdf", 3, {0.0002, 2.3, 1.7}, -8488.3918686448583},
    {"inv_gamma_lcdf", 3, {2.1, 2.3, 1.7}, -0.14222660329578453},
    {"inv_gamma_lccdf", 3, {2.1, 2.3, 1.7}, -2.0206042888587194},
    {"inv_gamma_lcdf", 3, {1000000000, 2.3, 1.7}, -2.5196548459798225e-21},
    {"inv_gamma_lccdf", 3, {1000000000, 2.3, 1.7}, -47.430165026613333},
    {"chi_square_lcdf", 2, {0.01, 3.3}, -9.1408806172956612},
    {"chi_square_lccdf", 2, {0.01, 3.3}, -0.00010719863759012435},
    {"chi_square_lccdf", 2, {2000, 3.3}, -995.4040787786936},
    {"exponential_lcdf", 2, {1e-09, 0.7}, -21.079940781235144},
    {"exponential_lccdf", 2, {1e-09, 0.7}, -7.0e-10},
    {"exponential_lccdf", 2, {5000, 0.7}, -3499.9999999999998},
    {"weibull_lcdf", 3, {1e-09, 2.3, 1.7}, -48.883956402419734},
    {"weibull_lccdf", 3, {1e-09, 2.3, 1.7}, -5.8879956547912394e-22},
    {"weibull_lccdf", 3, {90, 2.3, 1.7}, -9219.8796591876733},
    {"logistic_lcdf", 3, {-2000, 0.3, 1.2}, -1666.9166666666667},
    {"logistic_lcdf", 3, {0.4, 0.3, 1.2}, -0.65234831839157444},
    {"logistic_lccdf", 3, {0.4, 0.3, 1.2}, -0.73568165172490781},
    {"logistic_lccdf", 3, {2000, 0.3, 1.2}, -1666.4166666666667},
    {"double_exponential_lcdf", 3, {-2000, 0.3, 1.2}, -1667.6098138472267},
    {"double_exponential_lccdf", 3, {2000, 0.3, 1.2}, -1667.1098138472267},
    {"student_t_lcdf", 4, {-1e+40, 3.7, 0.3, 1.2}, -339.32749854108564},
    {"student_t_lccdf", 4, {-1e+40, 3.7, 0.3, 1.2}, -4.2848914622533978e-148},
    {"student_t_lcdf", 4, {-0.7, 3.7, 0.3, 1.2}, -1.4804737474028663},
    {"student_t_lccdf", 4, {-0.7, 3.7, 0.3, 1.2}, -0.2581619391277433},
    {"student_t_lcdf", 4, {1e+40, 3.7, 0.3, 1.2}, -4.2848914622533978e-148},
    {"student_t_lccdf", 4, {1e+40, 3.7, 0.3, 1.2}, -339.32749854108564},
    {"beta_lcdf", 3, {1e-150, 3.3, 2.1}, -1138.2083717846151},
    {"beta_lcdf", 3, {0.4, 3.3, 2.1}, -1.8552694908717428},
    {"beta_lccdf", 3, {0.4, 3.3, 2.1}, -0.17008961580273047},
    {"beta_lcdf", 3, {0.999, 3.3, 2.1}, -3.7844562705311151e-6},
    {"beta_lccdf", 3, {0.999, 3.3, 2.1}, -12.48461022737823},
    {"f_dist_lcdf", 3, {0.01, 2.3, 5.1}, -5.1834596019706462},
    {"f_dist_lccdf", 3, {0.01, 2.3, 5.1}, -0.0056243564755090093},
    {"f_dist_lcdf", 3, {30, 2.3, 5.1}, -0.0013735684276539633},
    {"f_dist_lccdf", 3, {30, 2.3, 5.1}, -6.5910299393561343},
    {"gen_gamma_lcdf", 4, {0.1, 2.3, 1.1, 1.7}, -9.6338823524624646},
    {"gen_gamma_lccdf", 4, {0.1, 2.3, 1.1, 1.7}, -6.5474512356167494e-5},
    {"gen_gamma_lcdf", 4, {40, 2.3, 1.1, 1.7}, -2.4297451733481364e-267},
    {"gen_gamma_lccdf", 4, {40, 2.3, 1.1, 1.7}, -613.90243344449159},
    {"half_normal_lcdf", 2, {0.001, 1.7}, -7.6641749403591604},
    {"half_normal_lccdf", 2, {0.001, 1.7}, -0.00046945400852016747},
    {"half_normal_lccdf", 2, {80, 1.7}, -1111.3440767762759},
    {"half_cauchy_lcdf", 2, {0.001, 1.7}, -7.8899663506739987},
    {"half_cauchy_lccdf", 2, {0.001, 1.7}, -0.00037455231180722661},
    {"half_cauchy_lcdf", 2, {1e+30, 1.7}, -1.0822536130248882e-30},
    {"half_cauchy_lccdf", 2, {1e+30, 1.7}, -68.998507244048655},
    {"cauchy_lcdf", 3, {-1e+30, 0.3, 1.2}, -70.039961118876816},
    {"cauchy_lccdf", 3, {-1e+30, 0.3, 1.2}, -3.8197186342054878e-31},
    {"cauchy_lcdf", 3, {0.4, 0.3, 1.2}, -0.64157104166345369},
    {"cauchy_lccdf", 3, {0.4, 0.3, 1.2}, -0.74752876736368877},
    {"pareto_lcdf", 3, {1.3, 1.2, 3.3}, -1.4604375269965421},
    {"pareto_lccdf", 3, {1.3, 1.2, 3.3}, -0.26414093532267043},
    {"pareto_lcdf", 3, {1e+40, 1.2, 3.3}, -1.8251481054630675e-132},
    {"pareto_lccdf", 3, {1e+40, 1.2, 3.3}, -303.33957113779396},
    {"kumaraswamy_lcdf", 3, {1e-100, 2.3, 1.7}, -529.0639431375683},
    {"kumaraswamy_lccdf", 3, {1e-100, 2.3, 1.7}, -1.7000000000000696e-230},
    {"kumaraswamy_lcdf", 3, {0.9, 2.3, 1.7}, -0.076259461747071717},
    {"kumaraswamy_lccdf", 3, {0.9, 2.3, 1.7}, -2.611501212592898},
    {"uniform_lcdf", 3, {-0.5, -1, 3}, -2.0794415416798359},
    {"uniform_lccdf", 3, {-0.5, -1, 3}, -0.13353139262452262},
    {"uniform_lcdf", 3, {2.25, -1, 3}, -0.2076393647782445},
    {"uniform_lccdf", 3, {2.25, -1, 3}, -1.6739764335716715},
    {"relaxed_bernoulli_lcdf", 3, {0.01, 0.7, 0.3}, -2.4587130261775866},
    {"relaxed_bernoulli_lccdf", 3, {0.01, 0.7, 0.3}, -0.089426991470577575},
    {"relaxed_bernoulli_lcdf", 3, {0.7, 0.7, 0.3}, -0.2125528671939493},
    {"relaxed_bernoulli_lccdf", 3, {0.7, 0.7, 0.3}, -1.6529592298521953},
    {"poisson_lcdf", 2, {0, 2.4}, -2.3999999999999999},
    {"poisson_lccdf", 2, {0, 2.4}, -0.095099950522402754},
    {"poisson_lcdf", 2, {7, 2.4}, -0.0033442025664177664},
    {"poisson_lccdf", 2, {7, 2.4}, -5.7021986448086061},
    {"poisson_lccdf", 2, {4000, 900}, -2872.9226699932517},
    {"poisson_lcdf", 2, {2, 900}, -887.08613543351505},
    {"binomial_lcdf", 3, {1, 13, 0.3}, -2.7540430237697391},
    {"binomial_lccdf", 3, {1, 13, 0.3}, -0.065787216299213321},
    {"binomial_lcdf", 3, {9, 13, 0.3}, -0.00065217262734412831},
    {"binomial_lccdf", 3, {9, 13, 0.3}, -7.3355273338083146},
    {"binomial_lcdf", 3, {10, 5000, 0.5}, -3395.6753839512706},
    {"neg_binomial_lcdf", 3, {1, 3.7, 0.7}, -2.1272511189952822},
    {"neg_binomial_lccdf", 3, {1, 3.7, 0.7}, -0.12688429115611517},
    {"neg_binomial_lcdf", 3, {9, 3.7, 0.7}, -0.13002726602390212},
    {"neg_binomial_lccdf", 3, {9, 3.7, 0.7}, -2.1043203820323471},
    {"neg_binomial_lccdf", 3, {700000, 3.7, 0.001}, -683.39021668617216},
    {"beta_binomial_lcdf", 4, {0, 13, 2.3, 0.7}, -5.6923462767779783},
    {"beta_binomial_lccdf", 4, {0, 13, 2.3, 0.7}, -0.0033773697016934956},
    {"beta_binomial_lcdf", 4, {5, 13, 2.3, 0.7}, -2.2365991043480636},
    {"beta_binomial_lccdf", 4, {5, 13, 2.3, 0.7}, -0.11296846619013221},
    {"beta_binomial_lcdf", 4, {12, 13, 2.3, 0.7}, -0.29532586571570066},
    {"beta_binomial_lccdf", 4, {12, 13, 2.3, 0.7}, -1.3637074162763934},
    {"noncentral_hypergeometric_lcdf", 5, {3, 13, 8, 10, 2.3}, -8.1250914331164254},
    {"noncentral_hypergeometric_lccdf", 5, {3, 13, 8, 10, 2.3}, -0.00029606148487866735},
    {"noncentral_hypergeometric_lcdf", 5, {7, 13, 8, 10, 2.3}, -0.53796551154319559},
    {"noncentral_hypergeometric_lccdf", 5, {7, 13, 8, 10, 2.3}, -0.8769139102916},
    {"noncentral_hypergeometric_lcdf", 5, {9, 13, 8, 10, 2.3}, -0.012492299971820412},
    {"noncentral_hypergeometric_lccdf", 5, {9, 13, 8, 10, 2.3}, -4.3888824743316812},
    {"bernoulli_lcdf", 2, {0, 0.3}, -0.35667494393873236},
    {"bernoulli_lccdf", 2, {0, 0.3}, -1.203972804325936},
    {"bernoulli_logit_lcdf", 2, {0, 0.3}, -0.85435524446852711},
    {"bernoulli_logit_lccdf", 2, {0, 0.3}, -0.55435524446852712},
};

static void log_tails(void **state)
{
    (void)state;
    struct model m = {0};
    for (size_t i = 0; i < sizeof tails / sizeof *tails; i++) {
        struct density_name f = find(tails[i].name);
        const struct op *op = density_op(&m, &f, tails[i].name);
        assert_int_equal(1 + f.dist->narg, tails[i].n);
        double got = call(op, tails[i].v), want = tails[i].want;
        if (!(fabs(got - want) <= 1e-9 * fabs(want)))
            fail_msg("%s(%g): %.17g, not %.17g", tails[i].name, tails[i].v[0], got, want);
        double g[1 + DIST_ARGS] = {0};
        derivatives(op, tails[i].v, g);
        for (int k = 0; k < tails[i].n; k++) {
            if (domains[k ? f.dist->arg[k - 1].domain : f.dist->domain].discrete) continue;
            double h = 1e-5 * fabs(tails[i].v[k]), d = difference(op, tails[i].v, k, h);
            if (!(fabs(g[k] - d) <= 1e-6 * fabs(d) + 1e-10 * fabs(want) / h))
                fail_msg("%s(%g): %.10g by argument %d, not %.10g", tails[i].name, tails[i].v[0],
                         g[k], k, d);
        }
    }
    arena_free(&m.mem);
}

/* The four ways to a probability agree with each other, and with quantiles. */
static void forms_agree(void **state)
{
    (void)state;
    struct model m = {0};
    for_each_try(it)
    {
        if (!it.d->cdf) continue;
        for (double u = 0.05; u < 1; u += 0.1) {
            double v[1 + DIST_ARGS] = {u}, y[6] = {0};
            memcpy(v + 1, it.p, sizeof(double) * (size_t)it.d->narg);
            v[0] = it.d->quantile(u, it.p);
            for (const struct density_form *form = density_forms; form->name; form++) {
                const struct op *op = op_of(&m, form, it.d);
                if (op && form->kind != FUN_QUANTILE) y[form->kind] = call(op, v);
                if (op && form->kind == FUN_QUANTILE) {
                    double w[1 + DIST_ARGS];
                    memcpy(w, v, sizeof w);
                    w[0] = u;
                    check(&it, call(op, w) == v[0], "%s(%g)", op->name, u);
                }
            }
            check(&it, y[FUN_LOG_DENSITY] == at_logp(&it, v), "log density %g", y[FUN_LOG_DENSITY]);
            check(&it, near(exp(y[FUN_LOG_CDF]), y[FUN_CDF], 1e-14), "log cdf %g", y[FUN_LOG_CDF]);
            check(&it, near(exp(y[FUN_LOG_CCDF]), 1 - y[FUN_CDF], 1e-13), "log ccdf %g",
                  y[FUN_LOG_CCDF]);
        }
    }
    diags_free(&m.source.diags);
    arena_free(&m.mem);
}

static const struct op *named(struct model *m, const char *name)
{
    struct density_name f = find(name);
    return density_op(m, &f, name);
}

/* Outside of the support nothing is NaN, and no derivative is; NaN stays NaN. */
static void outside(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double v[1 + DIST_ARGS], want;
    } cases[] = {
        {"dgamma", {-1, 2, 3}, 0},
        {"logdensity.gamma", {-1, 2, 3}, -INFINITY},
        {"pgamma", {-1, 2, 3}, 0},
        {"gamma_lcdf", {-1, 2, 3}, -INFINITY},
        {"gamma_lccdf", {-1, 2, 3}, 0},
        {"dunif", {4, 0, 3}, 0},
        {"punif", {4, 0, 3}, 1},
        {"uniform_lccdf", {4, 0, 3}, -INFINITY},
        {"pbeta", {1.5, 2, 3}, 1},
        {"beta_lccdf", {1.5, 2, 3}, -INFINITY},
        {"pnorm", {INFINITY, 0, 1}, 1},
        {"normal_lcdf", {-INFINITY, 0, 1}, -INFINITY},
        {"dpois", {1.5, 2}, 0},
        {"ppois", {-1, 2}, 0},
        {"ppois", {1.5, 2}, 0.40600584970983811},
        {"poisson_lcdf", {-1, 2}, -INFINITY},
        {"pbin", {7, 5, 0.3}, 1},
        {"binomial_lccdf", {7, 5, 0.3}, -INFINITY},
        {"pbetabin", {-1, 5, 2, 3}, 0},
        {"phyper", {9, 4, 5, 6, 2}, 1},
        {"dt", {1e200, 3, 0, 1}, 0},
    };
    struct model m = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct op *op = named(&m, cases[i].name);
        double g[1 + DIST_ARGS] = {0}, v[1 + DIST_ARGS];
        double got = call(op, cases[i].v);
        if (!near(got, cases[i].want, 1e-15)) fail_msg("%s: %.17g", op->name, got);
        derivatives(op, cases[i].v, g);
        for (int k = 0; k < op->max_arg; k++)
            if (got != floor(got) ? isnan(g[k]) : g[k] != 0)
                fail_msg("%s: %g by %d", op->name, g[k], k);
        memcpy(v, cases[i].v, sizeof v);
        v[0] = NAN;
        assert_true(isnan(call(op, v)));
        for (int k = 1; k < op->max_arg; k++) {
            memcpy(v, cases[i].v, sizeof v);
            v[k] = NAN;
            if (!isnan(call(op, v))) fail_msg("%s: NaN as argument %d", op->name, k);
        }
    }
    double q[] = {1.5, 0, 1, 0, 0};
    assert_true(isnan(call(named(&m, "qnorm"), q)));
    arena_free(&m.mem);
}

/* All returns, and probabilities are between 0 and 1; the sanitizers watch. */
static void extremes(void **state)
{
    (void)state;
    static const double odd[] = {NAN,    INFINITY, -INFINITY, 0,    -0.0, 1e-300, 5e-324,
                                 -1e300, DBL_MAX,  1,         1e-8, 1e10, 1e17,   0.5};
    enum { ODD = sizeof odd / sizeof *odd };
    struct model m = {0};
    for (int i = 0; dists[i]; i++)
        for (const struct density_form *form = density_forms; form->name; form++) {
            const struct op *op = op_of(&m, form, dists[i]);
            if (!op || !op->map) continue;
            for (int k = 0; k < ODD * ODD * dists[i]->narg; k++) {
                double v[1 + DIST_ARGS] = {odd[k % ODD]}, g[1 + DIST_ARGS], y;
                memcpy(v + 1, dists[i]->try_at[0].p, sizeof(double) * (size_t)dists[i]->narg);
                v[1 + k / (ODD * ODD)] = odd[k / ODD % ODD];
                /* a million terms each: once is enough */
                int sums =
                    dists[i] == &dist_beta_binomial || dists[i] == &dist_noncentral_hypergeometric;
                if (sums && v[1] > 1e6 && (form->kind != FUN_CDF || k % ODD)) continue;
                y = call(op, v);
                if (op->map_grad && !(sums && v[1] > 1e6)) derivatives(op, v, g);
                if (form->kind == FUN_CDF && !(isnan(y) || (y >= 0 && y <= 1)))
                    fail_msg("%s(%g): %g", op->name, v[0], y);
                if ((form->kind == FUN_LOG_CDF || form->kind == FUN_LOG_CCDF) && y > 0)
                    fail_msg("%s(%g): %g", op->name, v[0], y);
            }
        }
    diags_free(&m.source.diags);
    arena_free(&m.mem);
}

/* Arrays of any length, of which some derivatives are wanted. */
static void many(void **state)
{
    (void)state;
    enum { N = 150 };
    static const char *const some[] = {"dgamma", "pgamma", "gamma_lccdf", "qgamma",
                                       "logdensity.gamma"};
    static double x[3][N], out[N], dout[N], d[3][N];
    const double *a[] = {x[0], x[1], x[2]};
    struct model m = {0};
    for (int i = 0; i < N; i++) {
        x[0][i] = (i + 1) / (N + 2.), x[1][i] = 1 + i % 7, x[2][i] = 1 + i % 5;
        dout[i] = i % 3 - 1.5;
    }
    for (size_t s = 0; s < sizeof some / sizeof *some; s++)
        for (int skip = 0; skip < 4; skip++) {
            const struct op *op = named(&m, some[s]);
            double *da[3];
            for (int k = 0; k < 3; k++) da[k] = k == skip ? NULL : d[k];
            op->map(op, N, out, a);
            op->map_grad(op, N, out, dout, a, da);
            for (int i = 0; i < N; i++) {
                double v[1 + DIST_ARGS] = {x[0][i], x[1][i], x[2][i]}, g[1 + DIST_ARGS];
                if (!near(call(op, v), out[i], 1e-14)) fail_msg("%s: element %d", op->name, i);
                derivatives(op, v, g);
                for (int k = 0; k < 3; k++)
                    if (k != skip && !near(d[k][i], dout[i] * g[k], 1e-12))
                        fail_msg("%s: element %d by %d: %g, not %g", op->name, i, k, d[k][i],
                                 dout[i] * g[k]);
            }
        }
    arena_free(&m.mem);
}

static void ranges(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double lo, hi;
        int integer;
    } cases[] = {
        {"dnorm", 0, INFINITY, 0},
        {"dpois", 0, 1, 0},
        {"pnorm", 0, 1, 0},
        {"normal_lcdf", -INFINITY, 0, 0},
        {"poisson_lpmf", -INFINITY, 0, 0},
        {"qgamma", 0, INFINITY, 0},
        {"qbeta", 0, 1, 0},
        {"qpois", 0, INFINITY, 1},
        {"multinomial_lpmf", -INFINITY, 0, 0},
    };
    struct model m = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct op *op = named(&m, cases[i].name);
        double lo[5] = {0}, hi[5] = {0}, out[2];
        op->range(op->max_arg, lo, hi, out);
        if (out[0] != cases[i].lo || out[1] != cases[i].hi || op->integer != cases[i].integer)
            fail_msg("%s: [%g, %g]", op->name, out[0], out[1]);
    }
    assert_null(named(&m, "qnorm")->range);
    assert_null(named(&m, "normal_lpdf")->range);
    arena_free(&m.mem);
}

/* ---- in models --------------------------------------------------------------------------- */

static void build(struct model *m, enum dialect dialect, const char *text)
{
    nami_err err = {0};
    *m = (struct model){0};
    if (model_parse(m, "test", text, strlen(text), dialect, NULL, &err))
        fail_msg("%s: %s", text, err.msg);
}

static double constant(const struct model *m, const char *name, int k)
{
    int id = dict_find(&m->source.syntax.names, name, strlen(name));
    assert_true(id >= 0 && m->ir.array_of_name[id] >= 0);
    int e = m->ir.arrays.a[m->ir.array_of_name[id]].first + k;
    assert_int_equal(m->ir.state[e], E_CONST);
    return m->ir.value[e];
}

static void constants(void **state)
{
    (void)state;
    struct model m;
    build(&m, NATIVE,
          "const a = normal_cdf(1.959963984540054 | 0, 1)\n"
          "const b[3] = dbin(c(0, 1, 2), n = 2, p = 0.5)\n" /* element-wise, named, recycled */
          "const c0 = qhyper(0.5, 13, 8, 10, 2.3)\n"        /* five arguments */
          "const e[2] = dnorm(c(1, 2), c(0, 1), sd = 2)\n"
          "const S[2, 2] = diag(2, 3)\n"
          "const f = logdensity.mnorm.vcov(c(1, 2), c(0, 0), S)\n"
          "model { x ~ normal(a + b[1] + e[1], c0 + dnorm) \n dnorm ~ gamma(qexp(a, 2), 1)\n"
          "  q <- multinomial_lpmf(c(1, 3), c(0.3, 0.7), 4) }\n");
    assert_true(near(constant(&m, "a", 0), 0.975, 1e-15));
    for (int k = 0; k < 3; k++) assert_true(near(constant(&m, "b", k), k == 1 ? 0.5 : 0.25, 1e-14));
    assert_true(near(constant(&m, "c0", 0), 7, 0));
    for (int k = 0; k < 2; k++)
        assert_true(near(constant(&m, "e", k), exp(-0.125) / sqrt(8 * M_PI), 1e-14));
    assert_true(near(constant(&m, "f", 0), -log(2 * M_PI) - 0.5 * log(6) - 0.25 - 4. / 6, 1e-14));
    assert_true(near(constant(&m, "q", 0), log(4 * 0.3 * 0.343), 1e-14));
    model_fini(&m);
}

/* In programs, of numbers and vectors: log p of the whole model, against differences. */
static void programs(void **state)
{
    (void)state;
    struct model m;
    build(&m, NATIVE,
          "const O[3, 3] = inverse(diag(1, 2, 3))\n"
          "model {\n"
          "  a ~ normal(0, 1)\n  b ~ gamma(2, 1)\n"
          "  for (i in 1:3) { v[i] ~ normal(a, b) }\n"
          "  k ~ categorical(c(0.2, 0.8))\n"
          "  e[1] <- logdensity.mnorm(v, c(a, a, b), O)\n"
          "  e[2] <- dirichlet_lpdf(c(0.2, 0.3, 0.5) | c(b, 1, 2))\n"
          "  e[3] <- categorical_lpmf(k, c(b, 1) / (1 + b))\n"
          "  e[4] <- sum(pgamma(exp(v), b, 1))\n"
          "  e[5] <- qnorm(pbeta(0.3, b, 2), a, b)\n"
          "  e[6] <- dt(a, 0, b, 3) + pbin(3, ilogit(a), 7) + poisson_lccdf(k | b)\n"
          "  e[7] <- sum(normal_lpdf(v | a, b)) + logdensity.wish(O, O, 3 + b)\n"
          "  for (i in 1:3) { w[i] <- beta_quantile(normal_cdf(v[i], a, b), b, 1.5) }\n"
          "  y ~ normal(sum(e) + sum(w), 1)\n"
          "}\n");
    double x[64] = {0}, g[64] = {0}, v, up, down;
    nami_err err;
    assert_true(m.ir.num_rows <= 64);
    assert_int_equal(model_simulate(&m, 5, 0, 1, 1, x, &err), 0);
    struct density out = {.logp = &v, .grad = g};
    assert_int_equal(model_logp(&m, 1, x, 1, &out, &err), 0);
    assert_true(isfinite(v));
    for (int r = 0, k; r < m.ir.num_rows; r++) {
        double keep = x[r], h = 1e-5;
        for (k = 0; k < m.ir.num_elements && m.ir.row[k] != r; k++) continue;
        const struct stmt *s = instance_stmt(&m, m.ir.defined_by[k]);
        if (!s->dist || s->dist == &dist_categorical) continue;
        x[r] = keep + h;
        out = (struct density){.logp = &up};
        model_logp(&m, 1, x, 1, &out, &err);
        x[r] = keep - h;
        out.logp = &down;
        model_logp(&m, 1, x, 1, &out, &err);
        x[r] = keep;
        if (!near(g[r], (up - down) / (2 * h), 1e-6))
            fail_msg("row %d: %.10g, not %.10g", r, g[r], (up - down) / (2 * h));
    }
    model_fini(&m);
}

static int read_model(void *ctx)
{
    static const char text[] =
        "model { a ~ dnorm(0, 1)\n for (i in 1:2) { y[i] ~ dnorm(a, 1)\n"
        "  l[i] <- logdensity.norm(y[i], a, 1) + normal_lcdf(y[i] | a, 1) + pnorm(a, 0, sd = 2) }\n"
        "  p <- multi_normal_lpdf(y, c(a, a), S)\n q <- qgamma(0.3, 2, 1)\n"
        "  S <- diag(1, 2)\n z ~ dnorm(p + q, dexp(abs(a), 1)) }\n";
    struct model m = {0};
    nami_err err;
    (void)ctx;
    int rc = model_parse(&m, "test", text, strlen(text), NATIVE, NULL, &err);
    model_fini(&m);
    return rc;
}

static int read_wrong(void *ctx)
{
    static const char text[] =
        "model { x <- nromal_lpdf(1, 0, 1) + dmnorm(1, 0, 1) + pnorm(1) +\n"
        "  normal_lpmf(1, 0, 1) + pcat(1, 1) + wishart_cdf(1, 2, 3) + normal(1) }\n";
    struct model m = {0};
    nami_err err;
    (void)ctx;
    int rc = model_parse(&m, "test", text, strlen(text), NATIVE, NULL, &err);
    model_fini(&m);
    return rc == NAMI_EINPUT && !*nomem.failed ? 0 : -1; /* advice may be left out */
}

static void no_memory(void **state)
{
    const char *why = "nothing was allocated";
    (void)state;
    if (nomem_each(read_model, NULL, &why) <= 0) fail_msg("%s", why);
    if (nomem_each(read_wrong, NULL, &why) <= 0) fail_msg("wrong: %s", why);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(names),       cmocka_unit_test(gradients), cmocka_unit_test(log_tails),
    cmocka_unit_test(forms_agree), cmocka_unit_test(outside),   cmocka_unit_test(extremes),
    cmocka_unit_test(many),        cmocka_unit_test(ranges),    cmocka_unit_test(constants),
    cmocka_unit_test(programs),    cmocka_unit_test(no_memory),
};

RUN(tests)
