/* collapse_models.h: random small models in the model language whose latents can be integrated out,
   or cannot, and which kind of integral is expected: for tests of exact elimination. */
#ifndef TESTS_COLLAPSE_MODELS_H
#define TESTS_COLLAPSE_MODELS_H

#include <stdarg.h>
#include <stdlib.h>

#include "base/rng.h"
#include "base/str.h"

enum { LINES = 64, EXPECTED = 24 };

/* Of the array: the kind of its latents, as far as nothing that must go first stays ("-": they stay
   in any mode; "": in reverse mode; "?": anything). */
struct expected {
    char name[24];
    const char *kind;
};

struct generator {
    struct rng rng;
    char prefix; /* of all names */
    int num_lines, num_expected;
    struct str line[LINES];
    struct expected expected[EXPECTED];
    struct str observe, text;
};

/* ---- chance ---------------------------------------------------------------------------------- */

static inline int between(struct generator *g, int a, int b)
{
    return a + (int)rng_below(&g->rng, (uint32_t)(b - a + 1));
}

static inline int coin(struct generator *g) { return (int)rng_below(&g->rng, 2); }

static inline double within(struct generator *g, double a, double b)
{
    return a + (b - a) * rng_unit(&g->rng);
}

/* ---- text ------------------------------------------------------------------------------------ */

/* A statement; in formats, @ is the prefix of names. */
__attribute__((format(printf, 2, 3))) static inline void say(struct generator *g,
                                                             const char *format, ...)
{
    char text[4000];
    va_list ap;
    if (g->num_lines == LINES) abort();
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    for (const char *s = text; *s; s++)
        if (*s == '@')
            str_printf(&g->line[g->num_lines], "%c", g->prefix);
        else
            str_putn(&g->line[g->num_lines], s, 1);
    g->num_lines++;
}

static inline void observe(struct generator *g, const char *name)
{
    str_printf(&g->observe, "%s%c%s", g->observe.n ? ", " : "", g->prefix, name);
}

static inline void expect(struct generator *g, const char *name, const char *kind)
{
    if (g->num_expected == EXPECTED) abort();
    struct expected *e = &g->expected[g->num_expected++];
    snprintf(e->name, sizeof e->name, "%c%s", g->prefix, name);
    e->kind = kind;
}

/* c(0.2, 0.5, 0.3) */
static inline const char *weights(struct generator *g, int n, char *out)
{
    double p[16], sum = 0;
    char *s = out + sprintf(out, "c(");
    for (int k = 0; k < n; k++) sum += p[k] = within(g, 0.1, 1);
    double left = 1;
    for (int k = 0; k < n; k++) {
        double x = k + 1 < n ? (int)(1000 * p[k] / sum) / 1000.0 : left;
        left -= x;
        s += sprintf(s, "%s%.3f", k ? ", " : "", x);
    }
    sprintf(s, ")");
    return out;
}

static inline const char *numbers(struct generator *g, int n, double a, double b, char *out)
{
    char *s = out + sprintf(out, "c(");
    for (int k = 0; k < n; k++) s += sprintf(s, "%s%.2f", k ? ", " : "", within(g, a, b));
    sprintf(s, ")");
    return out;
}

/* A positive latent that stays, or a constant: its name, or a number. */
static inline const char *positive(struct generator *g, const char *name, char *out)
{
    static const char *const priors[] = {"half_normal(1.5)", "gamma(3, 2.5)", "lognormal(0, 0.5)",
                                         "uniform(0.3, 2)"};
    if (between(g, 0, 2) == 0) return sprintf(out, "%.2f", within(g, 0.4, 1.6)), out;
    sprintf(out, "@%s", name);
    say(g, "@%s ~ %s", name, priors[between(g, 0, 3)]);
    expect(g, name, "");
    return out;
}

/* The model, with its statements in any order. */
static inline void finish(struct generator *g)
{
    int order[LINES];
    for (int k = 0; k < g->num_lines; k++) order[k] = k;
    rng_shuffle(&g->rng, order, g->num_lines);
    str_put(&g->text, "model {\n");
    for (int k = 0; k < g->num_lines; k++) str_printf(&g->text, "  %s\n", g->line[order[k]].s);
    str_printf(&g->text, "}\nobserve %s\n", g->observe.s);
}

static inline void generator_free(struct generator *g)
{
    for (int k = 0; k < g->num_lines; k++) str_free(&g->line[k]);
    str_free(&g->observe);
    str_free(&g->text);
}

/* ---- discrete ----------------------------------------------------------------------------------
 */

/* y, given a state of K: what is unknown about it, and its distribution as a text. */
static inline void emission(struct generator *g, int K, const char *state, char *out)
{
    char t[400];
    switch (between(g, 0, 3)) {
    case 0:
        say(g, "for (k in 1:%d) { @mu[k] ~ normal(0, %.2f) }", K, within(g, 1, 3));
        expect(g, "mu", "?");
        sprintf(out, "normal(@mu[%s], %s)", state, positive(g, "sd", t));
        break;
    case 1:
        say(g, "@rate[1:%d] <- %s", K, numbers(g, K, 0.5, 6, t));
        sprintf(out, "poisson(@rate[%s])", state);
        break;
    case 2:
        for (int k = 1; k <= K; k++) say(g, "@table[%d, 1:3] <- %s", k, weights(g, 3, t));
        sprintf(out, "categorical(@table[%s, 1:3])", state);
        break;
    default:
        say(g, "@scale[1:%d] <- %s", K, numbers(g, K, 0.5, 3, t));
        say(g, "@c ~ normal(0, 1)");
        expect(g, "c", "?");
        sprintf(out, "normal(@c * %s, @scale[%s])", state, state);
        break;
    }
}

static inline void hidden_markov(struct generator *g)
{
    int K = between(g, 2, 3), T = between(g, K + 1, K == 2 ? 8 : 6);
    char t[400], y[400];
    say(g, "@z[1] ~ categorical(%s)", weights(g, K, t));
    if (coin(g)) {
        for (int k = 1; k <= K; k++) say(g, "@A[%d, 1:%d] <- %s", k, K, weights(g, K, t));
    } else {
        say(g, "for (k in 1:%d) { @A[k, 1:%d] ~ dirichlet(%s) }", K, K, numbers(g, K, 1, 3, t));
        expect(g, "A", "");
    }
    say(g, "for (t in 2:%d) { @z[t] ~ categorical(@A[@z[t-1], 1:%d]) }", T, K);
    emission(g, K, "@z[t]", y);
    say(g, "for (t in 1:%d) { @y[t] ~ %s }", T, y);
    expect(g, "z", "enumerated");
    observe(g, "y");
}

static inline void mixture_of_means(struct generator *g)
{
    int K = between(g, 2, 3), N = between(g, K + 1, K == 2 ? 6 : 4);
    char t[400], y[400];
    if (coin(g)) {
        say(g, "@w[1:%d] <- %s", K, weights(g, K, t));
    } else {
        say(g, "@w[1:%d] ~ dirichlet(%s)", K, numbers(g, K, 1, 3, t));
        expect(g, "w", "");
    }
    emission(g, K, "@z[i]", y);
    say(g, "for (i in 1:%d) { @z[i] ~ categorical(@w[1:%d])\n @y[i] ~ %s }", N, K, y);
    expect(g, "z", "enumerated");
    observe(g, "y");
}

static inline void noisy_or(struct generator *g)
{
    int causes = between(g, 2, 5), effects = between(g, 1, 4);
    char t[2000], *s;
    for (int j = 1; j <= causes; j++) {
        say(g, "@d[%d] ~ bernoulli(%.2f)", j, within(g, 0.1, 0.7));
    }
    int latent = coin(g);
    if (latent) {
        say(g, "@q ~ beta(%.1f, %.1f)", within(g, 1, 3), within(g, 1, 3));
        expect(g, "q", "");
    }
    for (int i = 1; i <= effects; i++) {
        s = t + sprintf(t, "%.2f", within(g, 0.8, 0.98));
        for (int j = 1; j <= causes; j++)
            if (j == 1 || i == 1 || coin(g)) {
                if (latent && j == 1)
                    s += sprintf(s, " * (1 - @q * @d[1])");
                else
                    s += sprintf(s, " * (1 - %.2f * @d[%d])", within(g, 0.2, 0.95), j);
            }
        say(g, "@y[%d] ~ bernoulli(1 - %s)", i, t);
    }
    expect(g, "d", "enumerated");
    observe(g, "y");
}

/* A random tree; leaves are observed, and some others.  States are 1 .. K, or 0 .. K - 1. */
static inline void discrete_tree(struct generator *g)
{
    int n = between(g, 3, 9), K = between(g, 2, 3), parent[10], children[10] = {0},
        low[10] = {0, 1};
    char t[400], name[8];
    for (int j = 2; j <= n; j++) children[parent[j] = between(g, j > 4 ? j - 3 : 1, j - 1)]++;
    for (int k = 1; k <= K; k++) say(g, "@P[%d, 1:%d] <- %s", k, K, weights(g, K, t));
    say(g, "@h1 ~ categorical(%s)", weights(g, K, t));
    for (int j = 2; j <= n; j++) {
        int up = 1 - low[parent[j]];
        if ((low[j] = coin(g)))
            say(g, "@h%d ~ categorical(@P[@h%d + %d, 1:%d])", j, parent[j], up, K);
        else
            say(g, "@h%d ~ binomial(%d, (@h%d + %d) / %d)", j, K - 1, parent[j], up, K + 1);
    }
    for (int j = 1; j <= n; j++) {
        snprintf(name, sizeof name, "h%d", j % 10);
        if (!children[j] || between(g, 0, 5) == 0)
            observe(g, name);
        else
            expect(g, name, "enumerated");
    }
}

static inline void change_point(struct generator *g)
{
    int T = between(g, 3, 7);
    char t[400];
    say(g, "@k ~ categorical(%s)", weights(g, T, t));
    if (coin(g)) {
        say(g, "@a ~ gamma(%.1f, 1)", within(g, 1, 4));
        say(g, "@b ~ gamma(%.1f, 1)", within(g, 1, 4));
        say(g, "for (t in 1:%d) { @y[t] ~ poisson(ifelse(t <= @k, @a, @b)) }", T);
    } else {
        say(g, "@a ~ normal(0, 2)");
        say(g, "@b ~ normal(0, 2)");
        say(g, "for (t in 1:%d) { @y[t] ~ normal(@a + @b * step(t - @k), %s) }", T,
            positive(g, "sd", t));
    }
    expect(g, "k", "?");
    expect(g, "a", "?");
    expect(g, "b", "?");
    observe(g, "y");
}

/* ---- normal -------------------------------------------------------------------------------------
 */

static inline void hierarchy(struct generator *g)
{
    int J = between(g, 2, 5), N = between(g, 1, 3);
    char t[100], s[100], m[100];
    if (coin(g))
        sprintf(m, "%.2f", within(g, -1, 1));
    else {
        say(g, "@mu ~ normal(%.2f, %.2f)", within(g, -2, 2), within(g, 0.5, 3));
        sprintf(m, "@mu");
        expect(g, "mu", "normal");
    }
    positive(g, "tau", t);
    positive(g, "s", s);
    if (coin(g))
        say(g,
            "for (j in 1:%d) { @theta[j] ~ normal(%s, %s)\n for (i in 1:%d) { @y[j, i] ~ "
            "normal(@theta[j], %s) } }",
            J, m, t, N, s);
    else
        say(g,
            "for (j in 1:%d) { @theta[j] ~ normal(0, 1)\n for (i in 1:%d) { @y[j, i] ~ "
            "normal(%s + %s * @theta[j], %s) } }",
            J, N, m, t, s);
    expect(g, "theta", "normal");
    observe(g, "y");
}

static inline void state_space(struct generator *g)
{
    int T = between(g, 2, 9);
    char a[100], q[100], r[100];
    if (coin(g))
        sprintf(a, "%.2f", within(g, -1, 1));
    else {
        say(g, "@a ~ uniform(-1, 1)");
        sprintf(a, "@a");
        expect(g, "a", "");
    }
    positive(g, "q", q);
    positive(g, "r", r);
    say(g, "@x[1] ~ normal(%.2f, %s)", within(g, -1, 1), coin(g) ? q : "1.5");
    say(g, "for (t in 2:%d) { @x[t] ~ normal(%s * @x[t-1], %s) }", T, a, q);
    say(g, "for (t in 1:%d) { @y[t] ~ normal(%.2f * @x[t] + %.2f, %s) }", T, within(g, 0.5, 2),
        within(g, -1, 1), r);
    expect(g, "x", "normal");
    observe(g, "y");
}

static inline void regression(struct generator *g)
{
    int N = between(g, 2, 6), p = between(g, 1, 3);
    char s[100], t[400];
    for (int i = 1; i <= N; i++) say(g, "@X[%d, 1:%d] <- %s", i, p, numbers(g, p, -2, 2, t));
    positive(g, "s", s);
    if (coin(g))
        say(g, "for (k in 1:%d) { @beta[k] ~ normal(0, %.2f) }", p, within(g, 0.5, 3));
    else
        say(g, "@beta[1:%d] ~ multi_normal(rep(%.2f, %d), %.2f * diag(rep(1, %d)) + 0.3)", p,
            within(g, -1, 1), p, within(g, 0.5, 2), p);
    if (coin(g))
        say(g, "for (i in 1:%d) { @y[i] ~ normal(inprod(@X[i, 1:%d], @beta[1:%d]), %s) }", N, p, p,
            s);
    else
        say(g,
            "for (i in 1:%d) { @eta[i] <- sum(@X[i, 1:%d] * @beta[1:%d]) / 2\n @y[i] ~ "
            "normal(@eta[i] - 1, %s * (1 + i / 3)) }",
            N, p, p, s);
    expect(g, "beta", "normal");
    observe(g, "y");
}

/* Loadings are constants, or latents: then the larger of the two arrays is integrated out. */
static inline void factor_model(struct generator *g)
{
    int N = between(g, 2, 4), K = between(g, 1, 2), D = between(g, 1, 3);
    char s[100], t[400];
    positive(g, "s", s);
    if (coin(g)) {
        for (int j = 1; j <= D; j++) say(g, "@L[%d, 1:%d] <- %s", j, K, numbers(g, K, -2, 2, t));
        expect(g, "f", "normal");
    } else {
        say(g, "for (j in 1:%d) { for (k in 1:%d) { @L[j, k] ~ normal(0, 1) } }", D, K);
        expect(g, "L", D < N ? "" : D > N ? "normal" : "?");
        expect(g, "f", D < N ? "normal" : D > N ? "" : "?");
    }
    say(g,
        "for (i in 1:%d) { for (k in 1:%d) { @f[i, k] ~ normal(0, 1) }\n for (j in 1:%d) { @y[i, "
        "j] "
        "~ normal(inprod(@L[j, 1:%d], @f[i, 1:%d]), %s) } }",
        N, K, D, K, K, s);
    observe(g, "y");
}

static inline void vectors(struct generator *g)
{
    int N = between(g, 1, 3), K = between(g, 2, 3);
    char s[100], t[400];
    positive(g, "s", s);
    say(g, "@S[1:%d, 1:%d] <- diag(%s) + %.2f", K, K, numbers(g, K, 0.5, 2, t), within(g, 0, 0.5));
    say(g, "@m[1:%d] ~ multi_normal(%s, @S[1:%d, 1:%d])", K, numbers(g, K, -1, 1, t), K, K);
    if (coin(g))
        say(g, "for (i in 1:%d) { @b[i, 1:%d] ~ multi_normal(@m[1:%d], %s^2 * @S[1:%d, 1:%d]) }", N,
            K, K, s, K, K);
    else
        say(g, "for (i in 1:%d) { @b[i, 1:%d] ~ multi_normal_prec(@m[1:%d], @S[1:%d, 1:%d] / %s) }",
            N, K, K, K, K, s);
    if (coin(g))
        say(g, "for (i in 1:%d) { @y[i, 1:%d] ~ multi_normal(2 * @b[i, 1:%d], diag(rep(%s, %d))) }",
            N, K, K, s, K);
    else
        say(g, "for (i in 1:%d) { for (k in 1:%d) { @y[i, k] ~ normal(@b[i, k], %s) } }", N, K, s);
    expect(g, "m", "normal");
    expect(g, "b", "normal");
    observe(g, "y");
}

/* Observed at some times; later ones are barren. */
static inline void walk_in_part(struct generator *g)
{
    int T = between(g, 3, 9), seen = 0;
    char q[100], name[16];
    positive(g, "q", q);
    say(g, "@x[1] ~ normal(%.2f, 1)", within(g, -2, 2));
    say(g, "for (t in 2:%d) { @x[t] ~ normal(@x[t-1], %s) }", T, q);
    for (int t = 1; t <= T; t++)
        if (coin(g) || (t == T && !seen)) {
            seen = 1;
            say(g, "@y%d ~ normal(@x[%d], %.2f)", t, t, within(g, 0.3, 1.5));
            snprintf(name, sizeof name, "y%d", t);
            observe(g, name);
        }
    expect(g, "x", "normal");
}

/* ---- conjugate
 * ------------------------------------------------------------------------------------ */

static inline void poisson_gamma(struct generator *g)
{
    int N = between(g, 2, 5);
    char a[100], b[100];
    positive(g, "a", a);
    positive(g, "b", b);
    say(g,
        "for (i in 1:%d) { @lambda[i] ~ gamma(%s + 0.7, %s + 0.2)\n @y[i] ~ poisson(%.2f * "
        "@lambda[i]) }",
        N, a, b, within(g, 0.5, 4));
    expect(g, "lambda", "gamma");
    observe(g, "y");
}

static inline void waiting_times(struct generator *g)
{
    int N = between(g, 1, 5), groups = between(g, 1, 3);
    char b[100];
    positive(g, "b", b);
    say(g, "for (j in 1:%d) { @rate[j] ~ gamma(%.2f, %s)\n for (i in 1:%d) { @y[j, i] ~ %s } }",
        groups, within(g, 0.7, 4), b, N,
        coin(g) ? "exponential(@rate[j])" : "gamma(1.7, 2 * @rate[j])");
    expect(g, "rate", "gamma");
    observe(g, "y");
}

static inline void precision(struct generator *g)
{
    int N = between(g, 1, 6), how = between(g, 0, 2);
    char b[100];
    positive(g, "b", b);
    if (how == 2)
        say(g, "@tau ~ inv_gamma(%.2f, %s)", within(g, 2.6, 6), b);
    else
        say(g, "@tau ~ gamma(%.2f, %s)", within(g, 0.8, 4), b);
    say(g, "for (i in 1:%d) { @y[i] ~ %s }", N,
        how == 0   ? "dnorm(0.3 * i, @tau)"
        : how == 1 ? "normal(1, 1 / sqrt(@tau))"
                   : "normal(-0.5, sqrt(@tau))");
    expect(g, "tau", how == 2 ? "inv_gamma" : "gamma");
    observe(g, "y");
}

static inline void betas(struct generator *g)
{
    static const char *const data[] = {"bernoulli(@p[j])", "binomial(5, @p[j])", "geometric(@p[j])",
                                       "bernoulli(1 - @p[j])"};
    int J = between(g, 1, 4), N = between(g, 1, 4);
    char a[100], b[100];
    positive(g, "a", a);
    positive(g, "b", b);
    say(g, "for (j in 1:%d) { @p[j] ~ beta(1 + %s, %s + 1.2)\n for (i in 1:%d) { @y[j, i] ~ %s } }",
        J, a, b, N, data[between(g, 0, 3)]);
    expect(g, "p", "beta");
    observe(g, "y");
}

static inline void dirichlets(struct generator *g)
{
    int J = between(g, 1, 2), K = between(g, 2, 4), N = between(g, 1, 4), many = coin(g);
    char t[400], a[100];
    positive(g, "a", a);
    say(g, "for (j in 1:%d) { @p[j, 1:%d] ~ dirichlet(%s * %s + 0.9) }", J, K, a,
        numbers(g, K, 0.5, 3, t));
    if (many)
        say(g, "for (j in 1:%d) { @y[j, 1:%d] ~ multinomial(@p[j, 1:%d], %d) }", J, K, K, N + 1);
    else
        say(g, "for (j in 1:%d) { for (i in 1:%d) { @y[j, i] ~ categorical(@p[j, 1:%d]) } }", J, N,
            K);
    expect(g, "p", "dirichlet");
    observe(g, "y");
}

static inline void normal_inverse_gamma(struct generator *g)
{
    int N = between(g, 1, 5), how = coin(g), J = between(g, 1, 2);
    char k[100];
    sprintf(k, "%.2f", within(g, 0.3, 3));
    if (how)
        say(g, "@v ~ inv_gamma(%.2f, %.2f)", within(g, 2.6, 6), within(g, 0.5, 3));
    else
        say(g, "@v ~ gamma(%.2f, %.2f)", within(g, 1, 4), within(g, 0.5, 3));
    if (how)
        say(g, "for (j in 1:%d) { @m[j] ~ normal(%.2f, sqrt(@v / %s)) }", J, within(g, -1, 1), k);
    else
        say(g, "for (j in 1:%d) { @m[j] ~ dnorm(%.2f, %s * @v) }", J, within(g, -1, 1), k);
    if (how)
        say(g, "for (j in 1:%d) { for (i in 1:%d) { @y[j, i] ~ normal(@m[j], sqrt(@v)) } }", J, N);
    else
        say(g, "for (j in 1:%d) { for (i in 1:%d) { @y[j, i] ~ normal(@m[j], 1 / sqrt(@v)) } }", J,
            N);
    expect(g, "m", "normal");
    expect(g, "v", how ? "inv_gamma" : "gamma");
    observe(g, "y");
}

/* ---- quadrature
 * ------------------------------------------------------------------------------------ */

static inline void effects(struct generator *g)
{
    int N = between(g, 2, 5), how = between(g, 0, 3);
    char s[100], m[100];
    positive(g, "s", s);
    if (coin(g))
        sprintf(m, "%.2f", within(g, -0.5, 1.5));
    else {
        say(g, "@m ~ normal(%.2f, 0.7)", within(g, -0.5, 1));
        sprintf(m, "@m");
        expect(g, "m", "");
    }
    if (how == 0)
        say(g, "for (i in 1:%d) { @u[i] ~ normal(0, %s)\n @y[i] ~ poisson(exp(%s + @u[i])) }", N, s,
            m);
    else if (how == 1)
        say(g, "for (i in 1:%d) { @u[i] ~ normal(%s, %s)\n @y[i] ~ binomial(6, ilogit(@u[i])) }", N,
            m, s);
    else if (how == 2)
        say(g, "for (i in 1:%d) { @u[i] ~ lognormal(%s, %s)\n @y[i] ~ poisson(1.3 * @u[i]) }", N, m,
            s);
    else
        say(g,
            "for (i in 1:%d) { @u[i] ~ normal(%s, %s)\n @y[i] ~ bernoulli(phi(@u[i]))\n @x[i] ~ "
            "normal(@u[i], 1) }",
            N, m, s);
    expect(g, "u", "quadrature");
    observe(g, "y");
    if (how == 3) observe(g, "x");
}

static inline void nested_effects(struct generator *g)
{
    int R = 2, J = between(g, 1, 3), how = coin(g);
    char s[100], t[100];
    positive(g, "s", s);
    positive(g, "t", t);
    if (how)
        say(g,
            "for (r in 1:%d) { @v[r] ~ normal(0.3, %s)\n for (j in 1:%d) { @u[r, j] ~ normal(0, "
            "%s)\n @y[r, j] ~ poisson(exp(@v[r] + @u[r, j])) } }",
            R, s, J, t);
    else
        say(g,
            "for (r in 1:%d) { @v[r] ~ normal(0, %s)\n for (j in 1:%d) { @u[r, j] ~ normal(@v[r], "
            "%s)\n @y[r, j] ~ binomial(4, ilogit(@u[r, j])) } }",
            R, s, J, t);
    expect(g, "u", "quadrature");
    expect(g, "v", "quadrature");
    observe(g, "y");
}

/* ---- mixtures of kinds
 * ------------------------------------------------------------------------------- */

static inline void switching_means(struct generator *g)
{
    int K = between(g, 2, 3), N = between(g, 1, 4);
    char t[400], s[100];
    positive(g, "s", s);
    say(g, "@c[1:%d] <- %s", K, numbers(g, K, -3, 3, t));
    if (coin(g)) {
        say(g,
            "for (i in 1:%d) { @k[i] ~ categorical(%s)\n @m[i] ~ normal(@c[@k[i]], %s)\n @y[i] ~ "
            "normal(@m[i], 0.8) }",
            N, weights(g, K, t), s);
    } else {
        say(g, "@k ~ categorical(%s)", weights(g, K, t));
        say(g, "for (i in 1:%d) { @m[i] ~ normal(@c[@k], %s)\n @y[i] ~ normal(2 * @m[i], 0.8) }", N,
            s);
    }
    expect(g, "m", "normal");
    expect(g, "k", "enumerated");
    observe(g, "y");
}

static inline void gamma_mixture(struct generator *g)
{
    int K = between(g, 2, 3), N = between(g, 1, 5);
    char t[400], b[100];
    positive(g, "b", b);
    say(g, "@a[1:%d] <- %s", K, numbers(g, K, 0.8, 6, t));
    say(g,
        "for (i in 1:%d) { @k[i] ~ categorical(%s)\n @l[i] ~ gamma(@a[@k[i]], %s)\n @y[i] ~ "
        "poisson(@l[i]) }",
        N, weights(g, K, t), b);
    expect(g, "l", "gamma");
    expect(g, "k", "enumerated");
    observe(g, "y");
}

/* A hidden Markov model whose state switches the mean of an effect that is normal. */
static inline void switching_effects(struct generator *g)
{
    int T = between(g, 2, 5);
    char t[400], s[100];
    positive(g, "s", s);
    say(g, "@c[1:2] <- %s", numbers(g, 2, -2, 2, t));
    for (int k = 1; k <= 2; k++) say(g, "@A[%d, 1:2] <- %s", k, weights(g, 2, t));
    say(g, "@z[1] ~ categorical(%s)", weights(g, 2, t));
    say(g, "for (t in 2:%d) { @z[t] ~ categorical(@A[@z[t-1], 1:2]) }", T);
    say(g, "for (t in 1:%d) { @e[t] ~ normal(@c[@z[t]], %s)\n @y[t] ~ normal(@e[t], 0.7) }", T, s);
    expect(g, "e", "normal");
    expect(g, "z", "enumerated");
    observe(g, "y");
}

/* A spike and a slab, given whether there is an effect; a beta probability of that. */
static inline void spike_and_slab(struct generator *g)
{
    int N = between(g, 1, 4);
    char s[100];
    positive(g, "s", s);
    say(g, "@w ~ beta(%.1f, %.1f)", within(g, 1, 3), within(g, 1, 3));
    say(g,
        "for (i in 1:%d) { @on[i] ~ bernoulli(@w)\n @b[i] ~ normal(0, 2)\n @y[i] ~ normal(@on[i] * "
        "@b[i], %s) }",
        N, s);
    expect(g, "b", "?");
    expect(g, "on", "?");
    expect(g, "w", "?");
    observe(g, "y");
}

/* ---- what has no closed form
 * ---------------------------------------------------------------------- */

/* A smooth density of v that is not in any family; s: a name or a number.  1: with two modes. */
static inline int smooth(struct generator *g, const char *s)
{
    int which = between(g, 0, 6);
    switch (which) {
    case 0:
        say(g, "@v ~ normal(0, 1)");
        say(g, "for (i in 1:3) { @y[i] ~ poisson(exp(%s * @v)) }", s);
        break;
    case 1:
        say(g, "@v ~ normal(0, 1)");
        say(g, "@y ~ normal(@v * @v, %s)", s);
        break;
    case 2:
        say(g, "@v ~ normal(0.5, 1) T(0, )");
        say(g, "@y ~ normal(@v, %s)", s);
        break;
    case 3:
        say(g, "@v ~ normal(0.5, 1)");
        say(g, "@y ~ normal(@v, sqrt(1 + %s + @v * @v))", s);
        break;
    case 4:
        say(g, "@v ~ normal(0, 1)");
        say(g, "@y ~ normal(@v, %s) T(-1, )", s);
        break;
    case 5:
        say(g, "@v ~ student_t(4, 0, 1)");
        say(g, "@y ~ normal(@v, %s)", s);
        break;
    default: say(g, "@v ~ gamma(2, 1)"); say(g, "@y ~ normal(@v, %s)", s);
    }
    observe(g, "y");
    return which == 1;
}

static inline void intractable(struct generator *g)
{
    char s[100];
    if (between(g, 0, 3)) {
        smooth(g, positive(g, "s", s));
    } else {
        static const char *const mean[] = {"2 * step(@v)", "ifelse(@v > 0.3, 1, @v)", "abs(@v)"};
        say(g, "@v ~ normal(0, 1)");
        say(g, "@y ~ normal(%s, %.2f)", mean[between(g, 0, 2)], within(g, 0.5, 2));
        observe(g, "y");
    }
    expect(g, "v", "-");
}

/* The same, if costly integrals are welcome: this can be done if there is one mode, or if the others
   are found, */
static inline void single_effect(struct generator *g)
{
    char s[100];
    sprintf(s, "%.2f", within(g, 0.4, 2));
    expect(g, "v", smooth(g, s) ? "?" : "quadrature");
}

/* and this cannot: it jumps. */
static inline void broken(struct generator *g)
{
    static const char *const mean[] = {"2 * step(@v[i])", "ifelse(@v[i] > 0.3, 1, @v[i])",
                                       "abs(@v[i]) + step(@v[i] - 0.2)"};
    int N = between(g, 1, 3);
    say(g, "for (i in 1:%d) { @v[i] ~ normal(0, 1)\n @y[i] ~ normal(%s, %.2f) }", N,
        mean[between(g, 0, 2)], within(g, 0.3, 1));
    expect(g, "v", "-");
    observe(g, "y");
}

/* One of the two is integrated out, not both. */
static inline void product_of_two(struct generator *g)
{
    char s[100];
    positive(g, "s", s);
    say(g, "@v ~ normal(0, 1)");
    say(g, "@w ~ normal(1, 1)");
    say(g, "for (i in 1:%d) { @y[i] ~ normal(@v * @w, %s) }", between(g, 1, 3), s);
    expect(g, "v", "?");
    expect(g, "w", "?");
    observe(g, "y");
}

#endif
