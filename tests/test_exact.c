/* test_exact.c: exact inference in linear Gaussian networks agrees with elimination in long
   double: the tree of the paper with all factors of its inverses, and random models. */
#include "exact_gauss_at.h"
#include "model/model.h"
#include "model/problem.h"

/* ---- the tree of the paper --------------------------------------------------------- */

static struct inverse *inverse_of(const struct model *m, const char *method, const char *mode)
{
    struct inversion v;
    struct inverse *h = NULL;
    nami_options opt = {.method = method, .mode = mode};
    nami_err err = {0};
    if (inversion_init(&v, m->ir.bn, &opt, &err) || inversion_run(&v, &h, &err))
        fail_msg("%s", err.msg);
    inversion_fini(&v);
    return h;
}

/* Every factor of the inverse is the regression on its parents. */
static void factors_are(const struct gnet *g, const struct inverse *h, const real *mean,
                        const real *cov)
{
    struct gnet q;
    nami_err err = {0};
    size_t N = (size_t)g->n;
    real *coef = reals(N * N), *cond = reals(N * N);
    if (gnet_invert(g, h, &q, &err)) fail_msg("%s", err.msg);
    assert_int_equal(q.nfactor, h->nlatent + h->nmodel);
    for (int k = 0; k < q.nfactor; k++) {
        const struct gfactor *f = &q.f[k];
        regress(g->n, cov, f->var, f->nvar, f->par, f->npar, coef, cond);
        for (int i = 0; i < f->nvar; i++) {
            real a = mean[f->var[i]];
            for (int j = 0; j < f->npar; j++) {
                close_to(f->b[i * f->npar + j], coef[i * f->npar + j]);
                a -= coef[i * f->npar + j] * mean[f->par[j]];
            }
            close_to(f->a[i], a);
            for (int j = 0; j < f->nvar; j++)
                close_to(f->cov[i * f->nvar + j], cond[i * f->nvar + j]);
        }
    }
    gnet_free(&q);
    free(coef);
    free(cond);
}

static double kl(const struct gnet *g, const struct inverse *h, const double *x, double *gap)
{
    struct gnet q;
    double out = NAN;
    nami_err err = {0};
    unsigned char *given = calloc((size_t)g->n, 1);
    for (int i = 0; i < g->n; i++) given[i] = !isnan(x[i]);
    if (gnet_invert(g, h, &q, &err) || gnet_kl(g, &q, given, &out, &err)) fail_msg("%s", err.msg);
    *gap = 0;
    for (int k = 0; k < q.nfactor; k++) *gap += gfactor_entropy(&q.f[k]);
    struct gpost p;
    if (gpost_new(g, x, &p, &err)) fail_msg("%s", err.msg);
    *gap -= p.entropy;
    gpost_free(&p);
    gnet_free(&q);
    free(given);
    return out;
}

/* The tree of the paper: the joint from its weights; factors of all inverses; what the heuristic
   one loses, once by its divergence and once by entropies. */
static void test_tree(void **state)
{
    (void)state;
    struct model m;
    struct gnet g;
    read_file(&m, "examples/models/tree.nami", "examples/models/tree.json", NULL);
    read_net(&m, &g);
    int n = g.n;
    size_t N = (size_t)n;
    assert_int_equal(n, 31);
    const struct value *w = dataset_find(m.source.data.set.a, "w", 1);
    real *a = reals(N), *B = reals(N * N), *D = reals(N * N), *mean = reals(N), *cov = reals(N * N);
    for (int i = 0; i < n; i++) { /* node i of the graph is x[i + 1] */
        D[i * n + i] = 1;
        if (i) B[i * n + (i + 1) / 2 - 1] = w->x[i];
    }
    joint(n, a, B, D, mean, cov);
    double *x = evidence(&g, &m);
    for (int i = 0; i < n; i++) assert_int_equal(isnan(x[i]), i < 15);
    posterior_is(&g, x, mean, cov);
    static const char *const methods_[] = {"nami", "nami", "stuhlmuller", "mean-field", "full"};
    static const char *const modes[] = {"forward", "reverse", "forward", "forward", "forward"};
    for (int i = 0; i < 5; i++) {
        struct inverse *h = inverse_of(&m, methods_[i], modes[i]);
        double gap, d = kl(&g, h, x, &gap);
        factors_are(&g, h, mean, cov);
        print_message("tree, %s %s: KL %.12g\n", methods_[i], modes[i], d);
        assert_true(fabs(d - gap) < 1e-10);
        if (i == 2 || i == 3)
            assert_true(d > 0.01);
        else
            assert_true(fabs(d) < 1e-10);
        inverse_free(h);
    }
    say("tree");
    free(a), free(B), free(D), free(mean), free(cov), free(x);
    gnet_free(&g);
    model_fini(&m);
}

/* ---- random models ------------------------------------------------------------------ */

enum { MOST = 12, DIM = 3 };

struct random_model {
    int nnode, dim[MOST], first[MOST + 1], n;
    real a[MOST * DIM], B[MOST * DIM * MOST * DIM], D[MOST * DIM * MOST * DIM];
    struct str text, data;
};

static double coin(struct rng *r) { return (double)rng_below(r, 401) / 200 - 1; }

static void name_of(const struct random_model *r, int v, int k, struct str *out)
{
    if (r->dim[v] == 1)
        str_printf(out, "x%d", v);
    else
        str_printf(out, "x%d[%d]", v, k + 1);
}

/* The mean of element k of node v, as text and as a row of B: in several ways of writing. */
static void mean_of(struct random_model *r, struct rng *g, int v, int k)
{
    int n = r->n, row = r->first[v] + k;
    double a = coin(g) * (rng_below(g, 8) ? 1 : 50);
    r->a[row] = a;
    str_printf(&r->text, "%.17g", a);
    for (int u = 0; u < v; u++) {
        if (rng_below(g, 3) == 0) continue;
        int j = (int)rng_below(g, (uint32_t)r->dim[u]);
        double c = coin(g);
        switch (rng_below(g, 5)) {
        case 0:
            str_printf(&r->text, " + %.17g * ", c);
            name_of(r, u, j, &r->text);
            r->B[row * n + r->first[u] + j] += c;
            break;
        case 1:
            str_put(&r->text, " - ");
            name_of(r, u, j, &r->text);
            str_put(&r->text, " / 4");
            r->B[row * n + r->first[u] + j] -= 0.25L;
            break;
        case 2:
            str_printf(&r->text, " + 2 * (d%d - (-d%d)) * 0.5", u, u);
            for (int i = 0; i < r->dim[u]; i++) r->B[row * n + r->first[u] + i] += 2;
            break;
        case 3:
            if (r->dim[u] == 1) break;
            str_printf(&r->text, " + inprod(c(%.17g, 0, 1), x%d[])", c, u);
            r->B[row * n + r->first[u]] += c;
            r->B[row * n + r->first[u] + 2] += 1;
            break;
        default:
            if (r->dim[u] == 1) break;
            str_printf(&r->text, " + ifelse(1 < 2, mean(x%d[]), x%d[1])", u, u);
            for (int i = 0; i < DIM; i++) r->B[row * n + r->first[u] + i] += 1 / (real)DIM;
        }
    }
}

static void make(struct random_model *r, struct rng *g)
{
    *r = (struct random_model){.nnode = 2 + (int)rng_below(g, MOST - 2)};
    for (int v = 0; v < r->nnode; v++) {
        r->dim[v] = rng_below(g, 3) ? 1 : DIM;
        r->first[v + 1] = r->first[v] + r->dim[v];
    }
    int n = r->n = r->first[r->nnode];
    str_put(&r->text, "model {\n");
    for (int v = 0; v < r->nnode; v++) {
        if (r->dim[v] == 1) {
            double sd = 0.1 + 0.01 * rng_below(g, 300);
            int bugs = (int)rng_below(g, 2);
            str_printf(&r->text, bugs ? "x%d ~ dnorm(" : "x%d ~ normal(", v);
            mean_of(r, g, v, 0);
            str_printf(&r->text, ", %.17g)\n", bugs ? 1 / (sd * sd) : sd);
            r->D[r->first[v] * n + r->first[v]] = (real)sd * sd;
            str_printf(&r->text, "d%d <- x%d\n", v, v);
            continue;
        }
        real A[DIM * DIM] = {0}, I[DIM * DIM] = {0};
        for (int i = 0; i < DIM; i++)
            for (int j = 0; j <= i; j++)
                A[i * DIM + j] = A[j * DIM + i] = i == j ? 2 + i : 0.25L * (i + j);
        int prec = (int)rng_below(g, 2);
        for (int k = 0; k < DIM; k++) {
            str_printf(&r->text, "m%d[%d] <- ", v, k + 1);
            mean_of(r, g, v, k);
            str_put(&r->text, "\n");
        }
        str_printf(&r->text, "x%d[1:%d] ~ %s(m%d[], S)\n", v, DIM, prec ? "dmnorm" : "multi_normal",
                   v);
        str_printf(&r->text, "d%d <- sum(x%d[])\n", v, v);
        if (prec) {
            for (int i = 0; i < DIM; i++) I[i * DIM + i] = 1;
            solve(DIM, DIM, A, I);
        }
        for (int i = 0; i < DIM; i++)
            for (int j = 0; j < DIM; j++)
                r->D[(r->first[v] + i) * n + r->first[v] + j] =
                    prec ? I[i * DIM + j] : A[i * DIM + j];
    }
    str_put(&r->text, "}\nobserve ");
    str_put(&r->data, "{\"S\": [[2, 0.25, 0.5], [0.25, 3, 0.75], [0.5, 0.75, 4]]");
    int some = 0;
    for (int v = 0; v < r->nnode; v++) {
        if (v && rng_below(g, 2)) continue;
        str_printf(&r->text, "%sx%d", some++ ? ", " : "", v);
        str_printf(&r->data, r->dim[v] == 1 ? ", \"x%d\": " : ", \"x%d\": [", v);
        for (int k = 0; k < r->dim[v]; k++) {
            if (r->dim[v] > 1 && rng_below(g, 3) == 0) /* partly missing */
                str_put(&r->data, k ? ", null" : "null");
            else
                str_printf(&r->data, "%s%.17g", k ? ", " : "", coin(g));
        }
        str_put(&r->data, r->dim[v] == 1 ? "" : "]");
    }
    str_put(&r->text, "\nconst S[3, 3]\n");
    str_put(&r->data, "}");
}

static void test_random(void **state)
{
    (void)state;
    struct rng rng;
    rng_init(&rng, 3, 0);
    int scalars = 0, factors = 0;
    for (int t = 0; t < 200; t++) {
        static struct random_model r;
        struct model m;
        struct gnet g;
        make(&r, &rng);
        build(&m, r.text.s, r.data.s);
        read_net(&m, &g);
        assert_int_equal(g.n, r.n);
        for (int v = 0; v < r.nnode; v++) { /* the graph numbers nodes as they are written */
            char name[16];
            snprintf(name, sizeof name, "x%d", v);
            assert_string_equal(bn_name(m.ir.bn, v), name);
        }
        size_t N = (size_t)g.n;
        real *mean = reals(N), *cov = reals(N * N);
        joint(g.n, r.a, r.B, r.D, mean, cov);
        double *x = evidence(&g, &m);
        posterior_is(&g, x, mean, cov);
        struct inverse *h = inverse_of(&m, "nami", t % 2 ? "reverse" : "forward");
        factors_are(&g, h, mean, cov);
        scalars += g.n;
        factors += h->nlatent;
        inverse_free(h);
        free(mean), free(cov), free(x);
        gnet_free(&g);
        model_fini(&m);
        str_free(&r.text);
        str_free(&r.data);
    }
    print_message("200 models, %d scalars, %d factors of inverses\n", scalars, factors);
    say("random models");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_tree),
    cmocka_unit_test(test_random),
};

RUN(tests)
