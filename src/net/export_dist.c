/* export_dist.c: formulas of distributions: log densities, and draws from the same random numbers
   as the kernels in dist/ take.  One row for each distribution at the end. */
#include <math.h>

#include "dist/math.h"
#include "net/export_impl.h"

int formula_sigmoid(struct tape *t, int x) { return DIV(N(1), ADD(N(1), EXP(NEG(x)))); }

/* log Gamma(x), x > 0: see lgam() in dist/math.h */
static int log_gamma(struct tape *t, int x)
{
    static const double c[] = {1. / 156,  691. / 360360, 1. / 1188, 1. / 1680,
                               1. / 1260, 1. / 360,      1. / 12};
    int big = AT_MOST(N(8), x), y = IF(big, x, ADD(x, N(8))), p = x;
    for (int k = 1; k < 8; k++) p = MUL(p, ADD(x, N(k)));
    int r = DIV(N(1), y), q = MUL(r, r), s = N(c[0]);
    for (size_t k = 1; k < sizeof c / sizeof *c; k++) s = SUB(N(c[k]), MUL(q, s));
    int v = ADD(SUB(MUL(SUB(y, N(0.5)), LOG(y)), y), ADD(N(HALF_LOG_2PI), MUL(r, s)));
    return SUB(v, LOG(IF(big, N(1), p)));
}

static int log_1p_square(struct tape *t, int z) { return LOG1P(MUL(z, z)); }

static int standard(struct tape *t, int x, const int *a) { return DIV(SUB(x, a[0]), a[1]); }

static int scaled(struct tape *t, int z, const int *a) { return ADD(a[0], MUL(a[1], z)); }

static int uniform(struct tape *t) { return tape_noise(t, NOISE_UNIFORM, 0, -1); }

static int inside(struct tape *t, int x, int v) { return IF(LESS(N(0), x), v, N(-INFINITY)); }

/* ---- logarithm of a gamma variate of rate 1, as dist/gammas.c and dist/draw.c do: Marsaglia and
        Tsang's first try, and on rejection RETRIES more from another generator; each accepts at
        least 95 of 100.  If all fail, the value at z = 0 -------------------------------------- */

enum { RETRIES = 6, PER_TRY = 3 };

struct trial {
    int accepted, value; /* log of the variate */
};

static struct trial try_gamma(struct tape *t, int d, int z, int u)
{
    int root = ADD(N(1), DIV(z, SQRT(MUL(N(9), d)))), v = MUL(MUL(root, root), root);
    int log_v = LOG(v), limit = ADD(SUB(N(1), v), log_v);
    int yes = SUB(SUB(LOG(u), MUL(N(0.5), MUL(z, z))), MUL(d, limit));
    return (struct trial){BOTH(LESS(N(0), v), LESS(yes, N(0))), ADD(LOG(d), log_v)};
}

static int draw_log_gamma(struct tape *t, int shape, int use)
{
    int small = LESS(shape, N(1)), d = SUB(IF(small, ADD(shape, N(1)), shape), N(1. / 3));
    int s[1 + PER_TRY * RETRIES], accepted[RETRIES], value[RETRIES];
    int z = tape_noise(t, NOISE_NORMAL, 3 * use, -1);
    int u = tape_noise(t, NOISE_UNIFORM, 3 * use + 1, -1);
    int w = tape_noise(t, NOISE_UNIFORM, 3 * use + 2, -1);
    for (int k = 0; k < 1 + PER_TRY * RETRIES; k++) s[k] = tape_noise(t, NOISE_UNIFORM, k, use);
    for (int r = 0; r < RETRIES;
         r++) { /* for small shapes, the first number takes the place of w */
        int one[PER_TRY];
        for (int k = 0; k < PER_TRY; k++)
            one[k] = IF(small, s[PER_TRY * r + k + 1], s[PER_TRY * r + k]);
        int angle = MUL(SUB(one[1], N(0.5)), N(2 * M_PI));
        int normal = MUL(SQRT(MUL(N(-2), LOG(one[0]))), COS(angle));
        struct trial x = try_gamma(t, d, normal, one[2]);
        accepted[r] = x.accepted;
        value[r] = x.value;
    }
    int later = LOG(d);
    for (int r = RETRIES; r-- > 0;) later = IF(accepted[r], value[r], later);
    later = ADD(later, IF(small, DIV(LOG(s[0]), shape), N(0)));
    struct trial first = try_gamma(t, d, z, u);
    int now = ADD(first.value, IF(small, DIV(LOG(w), shape), N(0)));
    return IF(first.accepted, now, later);
}

/* ---- location and scale ---- */

static int normal_lp(struct tape *t, int x, const int *a)
{
    int z = standard(t, x, a);
    return SUB(MUL(N(-0.5), MUL(z, z)), ADD(LOG(a[1]), N(HALF_LOG_2PI)));
}

static int normal_draw(struct tape *t, const int *a)
{
    return scaled(t, tape_noise(t, NOISE_NORMAL, 0, -1), a);
}

static int lognormal_lp(struct tape *t, int x, const int *a)
{
    int l = LOG(x);
    return inside(t, x, SUB(normal_lp(t, l, a), l));
}

static int lognormal_draw(struct tape *t, const int *a) { return EXP(normal_draw(t, a)); }

static int cauchy_lp(struct tape *t, int x, const int *a)
{
    return SUB(N(-LOG_PI), ADD(LOG(a[1]), log_1p_square(t, standard(t, x, a))));
}

static int cauchy_draw(struct tape *t, const int *a)
{
    int v = MUL(N(M_PI), SUB(uniform(t), N(0.5)));
    return scaled(t, DIV(SIN(v), COS(v)), a);
}

static int logistic_lp(struct tape *t, int x, const int *a)
{
    int z = ABS(standard(t, x, a));
    return SUB(NEG(z), ADD(LOG(a[1]), MUL(N(2), LOG1P(EXP(NEG(z))))));
}

static int logistic_draw(struct tape *t, const int *a)
{
    int u = uniform(t);
    return scaled(t, LOG(DIV(u, SUB(N(1), u))), a);
}

static int laplace_lp(struct tape *t, int x, const int *a)
{
    return SUB(N(-LOG_2), ADD(LOG(a[1]), ABS(standard(t, x, a))));
}

static int laplace_draw(struct tape *t, const int *a)
{
    int u = uniform(t), left = LESS(u, N(0.5));
    int e = LOG(MUL(N(2), IF(left, u, SUB(N(1), u))));
    return scaled(t, IF(left, e, NEG(e)), a);
}

static int gumbel_lp(struct tape *t, int x, const int *a)
{
    int z = standard(t, x, a);
    return NEG(ADD(LOG(a[1]), ADD(z, EXP(NEG(z)))));
}

static int gumbel_draw(struct tape *t, const int *a)
{
    return scaled(t, NEG(LOG(NEG(LOG(uniform(t))))), a);
}

static int student_t_lp(struct tape *t, int x, const int *a)
{
    int nu = a[0], half = MUL(N(0.5), nu), z = standard(t, x, a + 1);
    int c = SUB(log_gamma(t, ADD(half, N(0.5))), log_gamma(t, half));
    int scale = ADD(MUL(N(0.5), ADD(LOG(nu), N(LOG_PI))), LOG(a[2]));
    int tail = MUL(MUL(N(0.5), ADD(nu, N(1))), log_1p_square(t, DIV(z, SQRT(nu))));
    return SUB(SUB(c, scale), tail);
}

static int student_t_draw(struct tape *t, const int *a)
{
    int z = tape_noise(t, NOISE_NORMAL, 3, -1), half = MUL(N(0.5), a[0]);
    int g = draw_log_gamma(t, half, 0);
    return scaled(t, MUL(z, EXP(MUL(N(0.5), SUB(LOG(half), g)))), a + 1);
}

/* ---- of positive numbers, and of (0, 1) ---- */

static int weibull_lp(struct tape *t, int x, const int *a)
{
    int s = LOG(a[1]), l = SUB(LOG(x), s);
    int v = ADD(SUB(LOG(a[0]), s), SUB(MUL(SUB(a[0], N(1)), l), EXP(MUL(a[0], l))));
    return inside(t, x, v);
}

static int weibull_draw(struct tape *t, const int *a)
{
    return MUL(a[1], EXP(DIV(LOG(NEG(LOG(uniform(t)))), a[0])));
}

static int gamma_density(struct tape *t, int x, const int *a)
{
    int v = SUB(MUL(a[0], LOG(a[1])), log_gamma(t, a[0]));
    return inside(t, x, ADD(v, SUB(MUL(SUB(a[0], N(1)), LOG(x)), MUL(a[1], x))));
}

static int gamma_draw(struct tape *t, const int *a)
{
    return DIV(EXP(draw_log_gamma(t, a[0], 0)), a[1]);
}

static int inv_gamma_lp(struct tape *t, int x, const int *a)
{
    int v = SUB(MUL(a[0], LOG(a[1])), log_gamma(t, a[0]));
    return inside(t, x, SUB(v, ADD(MUL(ADD(a[0], N(1)), LOG(x)), DIV(a[1], x))));
}

static int inv_gamma_draw(struct tape *t, const int *a)
{
    return EXP(SUB(LOG(a[1]), draw_log_gamma(t, a[0], 0)));
}

static int beta_lp(struct tape *t, int x, const int *a)
{
    int log_b = SUB(ADD(log_gamma(t, a[0]), log_gamma(t, a[1])), log_gamma(t, ADD(a[0], a[1])));
    int v = ADD(MUL(SUB(a[0], N(1)), LOG(x)), MUL(SUB(a[1], N(1)), LOG1P(NEG(x))));
    return IF(BOTH(LESS(N(0), x), LESS(x, N(1))), SUB(v, log_b), N(-INFINITY));
}

static int beta_draw(struct tape *t, const int *a)
{
    int x = draw_log_gamma(t, a[0], 0), y = draw_log_gamma(t, a[1], 1);
    return formula_sigmoid(t, SUB(x, y));
}

/* ---------------------------------------------------------------------------------------- */

static const struct rule {
    const struct dist *dist;
    int (*log_p)(struct tape *t, int x, const int *a);
    int (*draw)(struct tape *t, const int *a);
} rules[] = {
    {&dist_normal, normal_lp, normal_draw},
    {&dist_lognormal, lognormal_lp, lognormal_draw},
    {&dist_cauchy, cauchy_lp, cauchy_draw},
    {&dist_logistic, logistic_lp, logistic_draw},
    {&dist_double_exponential, laplace_lp, laplace_draw},
    {&dist_gumbel, gumbel_lp, gumbel_draw},
    {&dist_student_t, student_t_lp, student_t_draw},
    {&dist_weibull, weibull_lp, weibull_draw},
    {&dist_gamma, gamma_density, gamma_draw},
    {&dist_inv_gamma, inv_gamma_lp, inv_gamma_draw},
    {&dist_beta, beta_lp, beta_draw},
    {NULL, NULL, NULL},
};

static const struct rule *rule_of(const struct dist *d)
{
    const struct rule *r = rules;
    while (r->dist && r->dist != d) r++;
    return r->dist ? r : NULL;
}

int formula_dist_log_p(struct tape *t, const struct dist *d, int x, const int *a)
{
    const struct rule *r = rule_of(d);
    return r ? r->log_p(t, x, a) : -1;
}

int formula_dist_draw(struct tape *t, const struct dist *d, const int *a)
{
    const struct rule *r = rule_of(d);
    return r ? r->draw(t, a) : -1;
}
