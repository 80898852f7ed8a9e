/* test_share_proof.c: for factors that share a network, p(v | parents), computed numerically,
   is the same function. */
#include "base/rng.h"
#include "graph/invert.h"
#include "model/model.h"
#include "share_at.h"

enum { NODES = 8 };

/* A factor as numbers, its parents in order.  Linear and Gaussian: precision, constant and the
   coefficients of its parents; binary: p(v = 1 | parents) for each of their values. */
struct function {
    int n;
    double a[1 << NODES];
};

/* The row of each node. */
static void rows(const struct model *m, int *row)
{
    for (int k = 0; k < m->ir.num_instances; k++)
        if (m->ir.node[k] >= 0)
            row[m->ir.node[k]] = m->ir.row[m->ir.defined[m->ir.first_defined[k]]];
}

static void gaussian(const struct shared *x, int i, struct function *f)
{
    const struct model *m = &x->m;
    int n = bn_n(m->ir.bn), row[NODES], v = x->h->perm[i], keep[NODES] = {0};
    size_t points = (size_t)n + 1;
    double *at = new_array(double, (size_t)m->ir.num_rows *points), J[NODES][NODES], h[NODES];
    double *grad = new_array(double, (size_t)m->ir.num_rows *points), l[NODES + 1];
    rows(m, row);
    for (int k = 0; k < n; k++) at[(size_t)row[k] * points + (size_t)k] = 1;
    logp(m, points, at, 1, (struct density){.logp = l, .grad = grad});
    for (int a = 0; a < n; a++) { /* log p(x) = h'x - x'Jx / 2: the gradient is h - Jx */
        const double *g = grad + (size_t)row[a] * points;
        h[a] = g[n];
        for (int b = 0; b < n; b++) J[a][b] = g[n] - g[b];
    }
    keep[v] = 1;
    for (int64_t k = x->s.off[i]; k < x->s.off[i + 1]; k++) keep[x->s.parent[k]] = 1;
    for (int c = 0; c < n; c++) /* integrate c out */
        for (int a = 0; a < n && !keep[c]; a++) {
            double t = a == c ? 0 : J[a][c] / J[c][c];
            h[a] -= t * h[c];
            for (int b = 0; b < n; b++)
                if (b != c) J[a][b] -= t * J[c][b];
        }
    f->n = 0;
    f->a[f->n++] = J[v][v];
    f->a[f->n++] = h[v];
    for (int64_t k = x->s.off[i]; k < x->s.off[i + 1]; k++) f->a[f->n++] = J[v][x->s.parent[k]];
    free(at);
    free(grad);
}

static void binary(const struct shared *x, int i, struct function *f)
{
    const struct model *m = &x->m;
    int n = bn_n(m->ir.bn), row[NODES], v = x->h->perm[i],
        np = (int)(x->s.off[i + 1] - x->s.off[i]);
    size_t points = (size_t)1 << n;
    double *at = new_array(double, (size_t)m->ir.num_rows *points), *l = new_array(double, points);
    double p[1 << NODES][2] = {{0}};
    rows(m, row);
    for (int a = 0; a < n; a++)
        for (size_t c = 0; c < points; c++) at[(size_t)row[a] * points + c] = (double)(c >> a & 1);
    logp(m, points, at, 1, (struct density){.logp = l});
    for (size_t c = 0; c < points; c++) {
        int s = 0;
        for (int k = 0; k < np; k++) s |= (int)(c >> x->s.parent[x->s.off[i] + k] & 1) << k;
        p[s][c >> v & 1] += exp(l[c]);
    }
    f->n = 1 << np;
    for (int s = 0; s < f->n; s++) f->a[s] = p[s][1] / (p[s][0] + p[s][1]);
    free(at);
    free(l);
}

static int equal(const struct function *f, const struct function *g)
{
    int ok = f->n == g->n;
    for (int k = 0; k < f->n && ok; k++) ok = fabs(f->a[k] - g->a[k]) < 1e-9 * (1 + fabs(f->a[k]));
    return ok;
}

static void prove(const struct shared *x, int is_binary, int *shared, int * not )
{
    assert_true(bn_n(x->m.ir.bn) <= NODES);
    static struct function f[NODES];
    for (int i = 0; i < x->h->nlatent; i++) {
        (is_binary ? binary : gaussian)(x, i, &f[i]);
        int r = x->s.rep[i], alike = 0;
        if (!equal(&f[i], &f[r]))
            fail_msg("%s and %s share wrongly in\n%s", bn_name(x->m.ir.bn, x->h->perm[i]),
                     bn_name(x->m.ir.bn, x->h->perm[r]), x->m.source.text.s);
        for (int j = 0; j < i; j++) alike |= x->s.rep[j] == j && equal(&f[i], &f[j]);
        *shared += r < i;
        *not += r == i && alike;
    }
}

/* @a: a number up to a; #: 1 or 2 */
static const struct {
    int is_binary;
    const char *text;
} shapes[] = {
    {0, "const g[4] = c(@2, @2, @2, @2)\n const s[4] = c(#, #, #, #)\n const w[4] = c(1, 1, #, #)\n"
        "model { mu ~ normal(0, 1)\n for (k in 1:2) { a[k] ~ normal(mu, 1) }\n"
        "for (i in 1:4) { y[i] ~ normal(w[i] * a[g[i]], s[i]) } }\n observe y"},
    {0, "const p[4] = c(@4, @4, @4, @4)\n const q[4] = c(@4, @4, @4, @4)\n"
        "model { for (i in 1:4) { x[i] ~ normal(0, 1) }\n"
        "for (e in 1:4) { y[e] ~ normal(x[p[e]] - 2 * x[q[e]], 1) } }\n observe y"},
    {0,
     "const p[4] = c(@3, @3, @3, @3)\n const q[4] = c(@4, @4, @4, @4)\n"
     "model { for (i in 1:3) { x[i] ~ normal(0, 1) }\n for (e in 1:4) { d[e] <- 2 * x[p[e]] + 1 }\n"
     "for (e in 1:4) { f[e] <- d[q[e]] - 3 * d[e]\n y[e] ~ normal(f[e], 1) } }\n observe y"},
    {0, "const u[7] = c(1, @2, @3, @4, @5, @6, @7)\n model { x[1] ~ normal(0, 1)\n"
        "for (i in 2:8) { x[i] ~ normal(x[u[i - 1]], 1) } }\n observe x[5:8]"},
    {0, "const u[3] = c(@3, @3, @3)\n model { h ~ normal(0, 1)\n for (i in 1:3) { x[i] ~ normal(h, "
        "1)\n"
        "y[i] ~ normal(x[i] + x[u[i]], 1) } }\n observe y\n infer x"},
    {0,
     "const s[3] = c(#, #, #)\n const k[3] = c(@2, @2, @2)\n model { a ~ normal(0, 1)\n"
     "for (i in 1:3) { x[i] ~ normal(a, s[i])\n y[i] ~ normal(x[i] * ifelse(i > k[i], 1, 2), 1) } "
     "}\n observe y"},
    {0, "const g[6] = c(@2, @2, @2, @2, @2, @2)\n model { for (i in 1:2) { a[i] ~ normal(0, 1) }\n"
        "for (i in 1:3) { b[i] ~ normal(a[g[i]], 1)\n y[i] ~ normal(b[i] + a[g[i + 3]], 1) } }\n"
        "observe y"},
    {0,
     "const g[3] = c(@2, @2, @2)\n const s[5] = c(#, #, #, #, #)\n"
     "model { for (i in 1:2) { a[i] ~ normal(i, s[i]) }\n for (i in 1:3) { b[i] ~ normal(a[g[i]], "
     "1)\n y[i] ~ normal(b[i], s[i + 2]) } }\n observe y"},
    {0, "const w[4] = c(#, #, #, #)\n model { x[1] ~ normal(0, 1)\n"
        "for (t in 2:4) { x[t] ~ normal(w[t] * x[t - 1], 1) }\n"
        "for (t in 1:4) { y[t] ~ normal(x[t], 1) } }\n observe y"},
    {1, "const p[4] = c(@4, @4, @4, @4)\n const q[4] = c(@4, @4, @4, @4)\n"
        "model { for (i in 1:4) { x[i] ~ bernoulli(0.3) }\n for (e in 1:4) { d[e] <- x[p[e]] - 2 * "
        "x[q[e]]\n y[e] ~ bernoulli(ilogit(d[e] + 0.3)) } }\n observe y"},
    {1,
     "const u[7] = c(1, @2, @3, @4, @5, @6, @7)\n const c[2] = c(0.2, 0.7)\n"
     "model { x[1] ~ bernoulli(0.5)\n for (i in 2:8) { x[i] ~ bernoulli(c[x[u[i - 1]] + 1]) } }\n"
     "observe x[5:8]"},
    {1,
     "const w[3] = c(#, #, #)\n model { for (k in 1:2) { m[k] ~ bernoulli(0.4) }\n"
     "for (i in 1:3) { z[i] ~ bernoulli(0.3)\n y[i] ~ bernoulli(0.1 + w[i] * m[z[i] + 1] / 4) } }\n"
     "observe y"},
    {1, "const g[3] = c(@2, @2, @2)\n model { h ~ bernoulli(0.6)\n for (k in 1:2) { m[k] ~ "
        "bernoulli(0.2 + 0.5 * h) }\n for (i in 1:3) { z[i] ~ bernoulli(0.1 + 0.8 * m[g[i]]) }\n"
        "y ~ bernoulli((z[1] + z[2] + z[3] + 0.5) / 4) }\n observe y, z[1]"},
};

static char *random_text(const char *shape, struct rng *r)
{
    char *text = strdup(shape);
    assert_non_null(text);
    for (char *c = text; *c; c++)
        if (*c == '@') { /* "@4": one of " 1" .. " 4" */
            *c = ' ';
            c[1] = (char)('1' + rng_below(r, (uint32_t)(c[1] - '0')));
        } else if (*c == '#') {
            *c = (char)('1' + (rng_below(r, 4) == 0));
        }
    return text;
}

static void proofs(void **state)
{
    (void)state;
    struct rng r;
    rng_init(&r, 11, 0);
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        int shared = 0, not = 0;
        for (int turn = 0; turn < 50; turn++) {
            struct shared x;
            char *text = random_text(shapes[k].text, &r);
            build(&x.m, text, NULL);
            for (int m = 0; methods[m]; m++)
                for (int mode = 0; mode < 2; mode++) {
                    share(&x, methods[m]->name, mode_names[mode], 1);
                    prove(&x, shapes[k].is_binary, &shared, &not );
                    drop(&x);
                }
            model_fini(&x.m);
            free(text);
        }
        print_message("shape %d: %d share, %d do not and are equal\n", (int)k, shared, not );
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(proofs),
};

RUN(tests)
