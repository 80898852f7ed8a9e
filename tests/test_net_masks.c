/* test_net_masks.c: a factor's network sees its parents in the inverse and nothing else: by
   the lists of units, and by how its outputs respond to its inputs; for many random inverses.
   */
#include "model/model.h"
#include "net/saved.h"
#include "net/tree.h"
#include "net_at.h"

/* ---- random models ------------------------------------------------------------------ */

enum { NODES = 40, UNITS = 256, WORDS = UNITS / 64 };
enum sort { PLAIN, VECTOR2, BINARY1, STATES3, NSORT };

struct random_model {
    struct str text;
    int n, observed; /* nodes */
};

/* a number that depends on node u */
static void put_value(struct str *s, const enum sort *sort, int u)
{
    if (sort[u] == VECTOR2)
        str_printf(s, " + 0.3 * v%d[1] - 0.4 * v%d[2]", u, u);
    else
        str_printf(s, " + 0.5 * v%d", u);
}

static void random_model(struct random_model *m, struct rng *r)
{
    enum sort sort[NODES];
    struct str at = {0};
    int n = m->n = 2 + (int)rng_below(r, NODES - 1), mixed = rng_below(r, 2) == 0;
    double p = fmin(0.5, (0.5 + 2.5 * rng_unit(r)) / n);
    m->text.n = 0;
    m->observed = 0;
    str_put(&m->text, "model {\n");
    for (int v = 0; v < n; v++) {
        sort[v] = mixed ? (enum sort)rng_below(r, NSORT) : PLAIN;
        at.n = 0;
        str_put(&at, "0");
        for (int u = 0; u < v; u++)
            if (rng_unit(r) < p) put_value(&at, sort, u);
        if (sort[v] == PLAIN)
            str_printf(&m->text, "v%d ~ normal(%s, 1)\n", v, at.s);
        else if (sort[v] == VECTOR2)
            str_printf(&m->text, "v%d[1:2] ~ multi_normal(c(%s, 1), diag(c(1, 2)))\n", v, at.s);
        else if (sort[v] == BINARY1)
            str_printf(&m->text, "v%d ~ bernoulli(ilogit(%s))\n", v, at.s);
        else
            str_printf(&m->text, "v%d ~ categorical_logit(c(0.2, %s, -0.1))\n", v, at.s);
    }
    str_put(&m->text, "}\nobserve ");
    for (int v = 0; v < n; v++)
        if (v == n - 1 ? !m->observed : rng_unit(r) < 0.35)
            str_printf(&m->text, "%sv%d", m->observed++ ? ", " : "", v);
    str_put(&m->text, "\n");
    str_free(&at);
}

/* ---- what may be seen --------------------------------------------------------------- */

struct bits {
    uint64_t w[WORDS];
};

static void set_bit(struct bits *b, int i)
{
    assert_true(i >= 0 && i < UNITS);
    b->w[i / 64] |= (uint64_t)1 << i % 64;
}

/* The features of the parents of a factor, and of the coordinates before it. */
static struct bits allowed(const struct qnet *q, const struct factor *f)
{
    struct bits b = {0};
    for (struct inverse_it it = inverse_it(q->inverse, f->pos); inverse_next(&it);) {
        const struct encoding *c = &q->encoding[it.node];
        for (int k = 0; k < c->nfeature; k++) set_bit(&b, c->feature + k);
    }
    for (int k = 0; k < f->coordinate; k++) set_bit(&b, q->encoding[f->node].feature + k);
    return b;
}

static int is_parent(const struct inverse *h, int i, int node)
{
    for (struct inverse_it it = inverse_it(h, i); inverse_next(&it);)
        if (it.node == node) return 1;
    return 0;
}

/* ---- by the lists of units ---------------------------------------------------------- */

static void join_pooled(struct bits *of, const struct pooling *p)
{
    int out = pooling_outputs(p);
    for (int i = 0; i < p->n; i++)
        for (int k = p->off[i]; k < p->off[i + 1]; k++)
            for (int u = 0; u < (out - 1) * p->width; u++)
                for (int w = 0; w < WORDS; w++)
                    of[p->to + i * out + u % (out - 1)].w[w] |= of[p->from[k] + u / (out - 1)].w[w];
}

static void join_times(struct bits *of, const struct times *t)
{
    for (int i = 0; i < t->n; i++)
        for (int w = 0; w < WORDS; w++) of[t->to + i].w[w] |= of[t->a[i]].w[w] | of[t->b[i]].w[w];
}

/* The features that each unit is made of. */
static struct bits *reach(const struct qnet *q)
{
    struct bits *of = calloc((size_t)q->prog.nunit + 1, sizeof *of);
    int nrows = 0, first = -1;
    assert_non_null(of);
    for (size_t k = 0; k < q->prog.code.n; k++) {
        const struct instr *x = &q->prog.code.a[k];
        if (x->kind == I_UNITS && x->arg[0].is_const) continue; /* of the design, not of the data */
        if (x->kind == I_POOL) join_pooled(of, x->self);
        if (x->kind == I_TIMES) join_times(of, x->self);
        if (x->kind == I_UNITS) {
            assert_int_equal(first, -1);
            first = x->dim[0];
            assert_int_equal(x->n, q->nfeature);
            assert_true(x->dim[1]); /* data have no derivatives */
            for (int i = 0; i < x->n; i++) set_bit(&of[first + i], first + i);
        }
        if (x->kind == I_ROWS) nrows += x->n;
        const struct dense *d = prog_layer(&q->prog, k);
        if (!d) continue;
        for (int i = 0; i < d->n; i++)
            for (int o = 0; o < d->out; o++)
                for (int j = 0; j < d->in; j++) {
                    int from = d->from[i * d->in + j];
                    if (!q->num_early) assert_true(from < d->to); /* made before */
                    if (q->num_early == 0) assert_int_equal(j < d->back, from >= q->nfeature);
                    for (int w = 0; w < WORDS; w++)
                        of[d->to + i * d->out + o].w[w] |= of[from].w[w];
                }
    }
    assert_int_equal(nrows > 0, q->inverse->nlatent > 0);
    return of;
}

/* The unit behind a row of outputs. */
static int unit_of_row(const struct qnet *q, int row)
{
    for (size_t k = 0; k < q->prog.code.n; k++) {
        const struct instr *x = &q->prog.code.a[k];
        if (x->kind == I_ROWS && row >= x->out && row < x->out + x->n)
            return x->dim[0] + row - x->out;
    }
    return -1;
}

/* Exactly the parents: no more, no fewer.  Returns how many pairs were looked at. */
static void check_lists(const char *what, const struct qnet *q)
{
    struct bits *of = reach(q);
    for (int f = 0; f < q->nfactor; f++) {
        const struct factor *x = &q->factor[f];
        struct bits want = allowed(q, x);
        for (int k = 0; k < q->group[x->group].nout; k++) {
            int u = unit_of_row(q, x->out + k);
            assert_true(u >= q->nfeature);
            for (int w = 0; w < WORDS; w++) {
                if (of[u].w[w] & ~want.w[w])
                    fail_msg("%s: factor %s sees what is no parent", what,
                             bn_name(q->model->ir.bn, x->node));
                if (want.w[w] & ~of[u].w[w])
                    fail_msg("%s: factor %s is blind for a parent", what,
                             bn_name(q->model->ir.bn, x->node));
            }
        }
    }
    free(of);
}

/* ---- by numbers --------------------------------------------------------------------- */

struct change {
    int node, coord; /* the first coordinate that changes */
};

/* Lane 0 is a draw; the others are the same but for one element of a variable that has a role. */
static int change_lanes(struct exec *x, const struct qnet *q, struct change *to)
{
    int n = 1;
    for (int r = 0; r < q->model->ir.num_rows; r++)
        for (int b = 1; b < x->lanes; b++) x->row[r * x->cap + b] = x->row[r * x->cap];
    for (int v = 0; v < bn_n(q->model->ir.bn); v++) {
        const struct encoding *c = &q->encoding[v];
        for (int j = 0; j < c->num_elements; j++, n++) {
            double *at = &x->row[c->row[j] * x->cap + n];
            assert_true(n < x->cap);
            to[n] = (struct change){v, j};
            if (c->kind == ENCODING_REAL)
                *at += n % 2 ? 2.5 : -40;
            else
                *at = c->low + (int)(*at - c->low + 1) % c->states;
        }
    }
    return n;
}

struct tally {
    long pairs, seen;
};

static void check_numbers(const char *what, const struct qnet *q, int is_float, struct tally *t)
{
    enum { LANES = 2 * NODES + 8 };
    double *w = random_weights(q, 21);
    float *wf = calloc(q->prog.nparam + 1, sizeof *wf);
    struct change to[LANES];
    struct exec x;
    assert_non_null(wf);
    for (size_t i = 0; i < q->prog.nparam; i++) wf[i] = (float)w[i];
    exec_at(&x, q, LANES, is_float ? EXEC_FLOAT : 0, is_float ? (const void *)wf : w);
    int n = change_lanes(&x, q, to);
    exec_run(&x);
    for (int f = 0; f < q->nfactor; f++) {
        const struct factor *y = &q->factor[f];
        for (int b = 1; b < n; b++, t->pairs++) {
            int changed = 0, parent = is_parent(q->inverse, y->pos, to[b].node);
            int own = to[b].node == y->node;
            for (int k = 0; k < q->group[y->group].nout; k++) {
                const double *row = x.row + (size_t)(y->out + k) * (size_t)x.cap;
                assert_true(isfinite(row[b]));
                changed += memcmp(row, row + b, sizeof *row) != 0;
            }
            int may = parent || (own && to[b].coord < y->coordinate);
            t->seen += changed > 0;
            if (changed && !may)
                fail_msg("%s: the outputs of %s change with %s, which is no parent", what,
                         bn_name(q->model->ir.bn, y->node), bn_name(q->model->ir.bn, to[b].node));
            if (!changed && may)
                fail_msg("%s: the outputs of %s do not change with %s, a parent", what,
                         bn_name(q->model->ir.bn, y->node), bn_name(q->model->ir.bn, to[b].node));
        }
    }
    exec_fini(&x);
    free(w);
    free(wf);
}

/* ---- many --------------------------------------------------------------------------- */

static const char *const method[] = {"nami", "stuhlmuller", "full", "mean-field"};

/* mlp with draws of its own, made with the scales that it has saved. */
static void check_both(const char *text, struct net_at *n, const char *by, int turn,
                       struct tally *t)
{
    static const int acts[] = {ACT_TANH, ACT_SOFTPLUS, ACT_SIGMOID};
    struct net_options o = {.family = turn % 2 ? &family_mixture : NULL,
                            .size = turn % 2,
                            .arch = &arch_mlp,
                            .nhidden = 1 + turn % 3,
                            .hidden = {9, 8, 7},
                            .act = acts[turn % 3],
                            .skip = turn / 2 % 2,
                            .no_share = 1};
    nami_err err = {0};
    struct str what = {0};
    str_printf(&what, "%s\nby %s, mlp", text, by);
    if (net_try(n, &(nami_options){.method = by}, &o, &err)) fail_msg("%s: %s", what.s, err.msg);
    check_lists(what.s, &n->q);
    check_numbers(what.s, &n->q, turn / 4 % 2, t);
    struct str first = {0}, again = {0};
    struct saved saved;
    saved_print(&n->q, &first);
    assert_int_equal(saved_open(&saved, first.s, &err), 0);
    qnet_free(&n->q);
    o.arch = &arch_made;
    o.nhidden = turn % 3 == 0 ? 0 : turn % 3;
    o.hidden[0] = 400, o.hidden[1] = 350;
    str_put(&what, " and made");
    if (qnet_make(&n->q, &n->m, n->h, &o, &saved, 1, &err)) fail_msg("%s: %s", what.s, err.msg);
    saved_close(&saved);
    saved_print(&n->q, &again);
    assert_string_equal(first.s, again.s);
    check_lists(what.s, &n->q);
    check_numbers(what.s, &n->q, turn / 4 % 2, t);
    qnet_free(&n->q);
    str_free(&first);
    str_free(&again);
    str_free(&what);
}

/* Messages along the tree: a factor depends on all its parents, and on nothing else, though no list
   of units names them. */
static void check_messages(const char *text, struct net_at *n, int turn, struct tally *t)
{
    static const int acts[] = {ACT_TANH, ACT_SOFTPLUS, ACT_SIGMOID};
    struct net_options o = {.family = turn % 2 ? &family_mixture : NULL,
                            .size = turn % 2,
                            .arch = &arch_messages,
                            .message = 3 + turn % 4,
                            .nhidden = 1,
                            .hidden = {9},
                            .act = acts[turn % 3],
                            .skip = turn / 2 % 2,
                            .whiten = turn / 2 % 2};
    nami_err err = {0};
    struct str what = {0};
    str_printf(&what, "%s\nmessages", text);
    if (net_try(n, NULL, &o, &err)) fail_msg("%s: %s", what.s, err.msg);
    check_lists(what.s, &n->q);
    check_numbers(what.s, &n->q, 0, t);
    str_free(&what);
}

static void test_messages(void **state)
{
    (void)state;
    struct random_model r = {0};
    struct rng rng;
    struct tally t = {0};
    rng_init(&rng, 77, 0);
    for (int turn = 0; turn < 400; turn++) {
        struct net_at n = {0};
        random_model(&r, &rng);
        build(&n.m, r.text.s, NULL);
        check_messages(r.text.s, &n, turn, &t);
        net_drop(&n);
    }
    print_message("%ld pairs of output and input, %ld with an edge\n", t.pairs, t.seen);
    assert_true(t.seen > 1000 && t.pairs > 3 * t.seen);
    str_free(&r.text);
}

/* Plates, chains and trees with constants, pooled, shared and in roles. */
static void test_message_models(void **state)
{
    (void)state;
    static const char *const text[] = {
        "const s[3] = c(1, 2, 3)\n model { m ~ normal(0, 1)\n for (i in 1:3) { z[i] ~ normal(m, "
        "1)\n"
        " y[i] ~ normal(z[i], s[i]) } }\nobserve y", /* raw inputs that are no features */
        "model { m ~ normal(0, 1)\n t ~ gamma(2, 1)\n for (i in 1:4) { z[i] ~ normal(m, t)\n"
        " for (j in 1:3) { y[i,j] ~ normal(z[i] + 0.1 * j, 1) } } }\nobserve y",
        "model { a ~ normal(0, 1)\n z[1] ~ normal(0, 1)\n for (t in 2:6) { z[t] ~ normal(a * "
        "z[t-1], 1) }\n for (t in 1:6) { x[t] ~ normal(z[t], 1) } }\nobserve x",
        "model { z[1] ~ normal(0, 1)\n for (i in 1:7) { z[2*i] ~ normal(z[i], 1)\n z[2*i+1] ~ "
        "normal(0.5 * z[i], 1) } }\nobserve z[8:15]",
        "model { phi ~ normal(0, 1)\n y[1] ~ normal(0, 1)\n for (t in 2:8) { y[t] ~ normal(phi * "
        "y[t-1], 1) } }\nobserve y",
        "const w[2] = c(2, 2)\n model { g ~ normal(w[1], w[2])\n for (i in 1:3) { a[i] ~ normal(g, "
        "w[1]) "
        "y[i] ~ normal(a[i], 1) } }\nobserve y",
        /* crossed: all pairs; some pairs, with constants; both sides with scales; two of one side
         */
        "model { for (i in 1:6) { a[i] ~ normal(0, 1) }\n for (j in 1:5) { b[j] ~ normal(0, 1) }\n "
        "for (i in 1:6) { for (j in 1:5) { y[i,j] ~ normal(a[i] + b[j], 1) } } }\nobserve y",
        "const p[9] = c(1,1,2,2,3,3,4,4,5)\n const q[9] = c(1,2,2,3,3,4,4,5,5)\n"
        "const w[9] = c(1,4,2,8,5,7,1,2,3)\n model { s ~ gamma(2, 1)\n t ~ gamma(2, 1)\n"
        "for (i in 1:5) { a[i] ~ normal(0, s)\n b[i] ~ normal(0, t) }\n"
        "for (i in 1:9) { y[i] ~ normal(a[p[i]] + w[i] * b[q[i]], 1) } }\nobserve y",
        "model { m ~ normal(0, 1)\n s ~ gamma(2, 1)\n t ~ gamma(2, 1)\n for (i in 1:5) { a[i] ~ "
        "normal(m, s) }\n for (j in 1:5) { b[j] ~ normal(0, t) }\n for (i in 1:5) { for (j in 1:5) "
        "{ y[i,j] ~ normal(a[i] + b[j], 1) } } }\nobserve y",
        /* nested in regions, crossed with years */
        "const r[6] = c(1,1,2,2,3,3)\n model { m ~ normal(0, 1)\n s ~ gamma(2, 1)\n for (i in 1:3) "
        "{ "
        "a[i] ~ normal(m, s) }\n for (i in 1:6) { c[i] ~ normal(a[r[i]], 1) }\n for (t in 1:5) { "
        "b[t] ~ "
        "normal(0, 1) }\n for (i in 1:6) { for (t in 1:5) { y[i,t] ~ normal(c[i] + b[t], 1) } } }\n"
        "observe y",
        "model { s ~ gamma(2, 1)\n for (j in 1:6) { v[j] ~ normal(0, s) }\n for (i in 1:2) { u[i] "
        "~ "
        "normal(0, 1)\n for (j in 1:5) { for (k in (j+1):6) { y[i,j,k] ~ normal(u[i] + v[j] + "
        "v[k], "
        "1) } } } }\nobserve y[1,1,2:6], y[1,2,3:6], y[1,3,4:6], y[2,4,5:6], y[2,5,6]",
        "model { for (i in 1:3) { a[i] ~ normal(0, 1) }\n for (j in 1:2) { b[j] ~ normal(0, 1) }\n "
        "for (i in 1:3) { for (j in 1:2) { y[i,j] ~ normal(a[i] + b[j], 1) } } }\nobserve y"};
    struct tally t = {0};
    for (size_t i = 0; i < sizeof text / sizeof *text; i++)
        for (int turn = 0; turn < 4; turn++) {
            struct net_at n = {0};
            build(&n.m, text[i], NULL);
            check_messages(text[i], &n, turn, &t);
            net_drop(&n);
        }
}

/* The stages of a first design, and its inverse in their order. */
static int order_first(struct net_at *n, struct kinds *table, nami_err *err)
{
    unsigned char *crossed = new_array(unsigned char, model_num_arrays(&n->m) + 1);
    int rc = crossed ? tree_find_crossed(&n->m, n->h, crossed, err) : NAMI_ENOMEM;
    if (!rc) rc = kinds_add_stages(table, &n->m, n->h, crossed);
    free(crossed);
    if (rc) return rc;
    kinds_take_stages(table, &n->m, n->v.stage);
    n->v.p.stage = n->v.stage;
    inverse_free(n->h);
    n->h = NULL;
    return inversion_run(&n->v, &n->h, err);
}

/* Sparse crossed effects: images, each seen by a few of eight annotators, whose order of
   elimination takes turns with that of other latents, unless they are kept together by the stages.
 */
static void test_stages(void **state)
{
    (void)state;
    struct str text = {0}, data = {0};
    str_put(&text, "const image[60]\nconst who[60]\nmodel { mu ~ normal(0, 1)\n s ~ gamma(2, 1)\n "
                   "t ~ gamma(2, 1)\n for (j in 1:20) { u[j] ~ normal(mu, t) }\n for (k in 1:8) { "
                   "v[k] ~ normal(0, s) }\n for (n in 1:60) { y[n] ~ normal(u[image[n]] + "
                   "v[who[n]], 1) } }\nobserve y");
    str_put(&data, "{\"image\": [");
    for (int i = 0; i < 60; i++) str_printf(&data, "%s%d", i ? "," : "", i / 3 + 1);
    str_put(&data, "], \"who\": [");
    for (int i = 0; i < 60; i++)
        str_printf(&data, "%s%d", i ? "," : "", (i / 3 * 5 + i % 3 * (1 + i / 3 % 3)) % 8 + 1);
    str_put(&data, "]}");
    struct net_at n = {0};
    struct kinds table = {0};
    nami_err err = {0};
    nami_options reverse = {.mode = "reverse"};
    build(&n.m, text.s, data.s);
    if (inversion_init(&n.v, n.m.ir.bn, &reverse, &err) || inversion_run(&n.v, &n.h, &err))
        fail_msg("%s", err.msg);
    for (int turn = 0; turn < 2; turn++) {
        int first = n.h->nlatent, last = -1, singles = n.h->nlatent;
        for (int v = 0; v < bn_n(n.m.ir.bn); v++) {
            const char *name = bn_name(n.m.ir.bn, v);
            int pos = n.h->pos[v];
            if (name[0] == 'v' && pos < first) first = pos;
            if (name[0] == 'v' && pos > last) last = pos;
            if (strlen(name) <= 2 && pos < singles) singles = pos;
        }
        if (turn) {
            assert_int_equal(last - first, 7);
            assert_true(singles > last);
        } else {
            assert_true(last - first > 7 || singles < last);
            if (order_first(&n, &table, &err)) fail_msg("%s", err.msg);
        }
    }
    kinds_free(&table);
    net_drop(&n);
    str_free(&text);
    str_free(&data);
}

/* Open networks (kinds.h): designs of other sizes and with missing observations share a table of
   kinds; in each of them, also in those that the table was not gathered from, a factor depends on
   exactly its parents.  The table is the same after its way through a file. */
static void test_open_designs(void **state)
{
    (void)state;
    static const char *const form[] = {
        "model { m ~ normal(0, 1)\n t ~ gamma(2, 1)\n for (i in 1:%d) { z[i] ~ normal(m, t)\n"
        " for (j in 1:3) { y[i,j] ~ normal(z[i] + 0.1 * j, 1) } } }\nobserve %s",
        "model { a ~ normal(0, 1)\n z[1] ~ normal(0, 1)\n for (t in 2:%d) { z[t] ~ normal(a * "
        "z[t-1], 1) }\n for (t in 1:3) { y[t,1] ~ normal(z[t], 1)\n y[t,2] ~ normal(-z[t], 1) } "
        "}\nobserve %s",
        "const N = %d\n model { s ~ gamma(2, 1)\n for (i in 1:(N+3)) { a[i] ~ normal(0, 1) }\n for "
        "(j in "
        "1:(N+1)) { b[j] ~ normal(0, s) }\n for (i in 1:(N+3)) { for (j in 1:(N+1)) { y[i,j] ~ "
        "normal(a[i] + b[j], 1) } } }\nobserve %s"};
    static const struct {
        int size;
        const char *observe;
    } design[] = {{3, "y"}, {4, "y"}, {6, "y[1,1:2],y[2:3,2]"}, {5, "y[2,1:2],y[3,1]"}};
    nami_options reverse = {.mode = "reverse"}; /* factors read as many latents in all designs */
    enum { DESIGNS = sizeof design / sizeof *design, GATHERED = 3 };
    struct tally t = {0};
    for (size_t i = 0; i < sizeof form / sizeof *form; i++) {
        struct kinds table = {.gaps = 1}, again;
        struct str text = {0}, first = {0}, second = {0};
        nami_err err = {0};
        struct net_options o = {.arch = &arch_messages,
                                .message = 4,
                                .nhidden = 1,
                                .hidden = {9},
                                .act = ACT_TANH,
                                .skip = 1,
                                .kinds = &table};
        for (int turn = 0; turn < GATHERED + DESIGNS; turn++) {
            int d = turn < GATHERED ? turn : turn - GATHERED;
            struct net_at n = {0};
            text.n = 0;
            str_printf(&text, form[i], design[d].size, design[d].observe);
            if (turn == GATHERED) {
                assert_int_equal(table.crossed.n, i == 2);
                kinds_fix(&table);
                kinds_print(&table, &first);
                if (kinds_parse(&again, first.s, &err)) fail_msg("%s", err.msg);
                kinds_print(&again, &second);
                assert_string_equal(first.s, second.s);
                o.kinds = &again;
            }
            build(&n.m, text.s, NULL);
            if (inversion_init(&n.v, n.m.ir.bn, &reverse, &err)) fail_msg("%s", err.msg);
            if (turn) {
                kinds_take_stages(o.kinds, &n.m, n.v.stage);
                n.v.p.stage = n.v.stage;
            }
            if (inversion_run(&n.v, &n.h, &err) || (!turn && order_first(&n, &table, &err)) ||
                (!turn && kinds_add_crossed(&table, &n.m, n.h, &err)) ||
                qnet_make(&n.q, &n.m, n.h, &o, NULL, 1, &err))
                fail_msg("%s: %s", text.s, err.msg);
            if (turn >= GATHERED) {
                check_lists(text.s, &n.q);
                check_numbers(text.s, &n.q, 0, &t);
            }
            net_drop(&n);
        }
        kinds_free(&table);
        kinds_free(&again);
        str_free(&text);
        str_free(&first);
        str_free(&second);
    }
    print_message("%ld pairs of output and input, %ld with an edge\n", t.pairs, t.seen);
    assert_true(t.seen > 20 && t.pairs > t.seen);
}

static void test_random(void **state)
{
    (void)state;
    struct random_model r = {0};
    struct rng rng;
    struct tally t = {0};
    int inverses = 0, turn = 0;
    rng_init(&rng, 2024, 0);
    while (inverses < 300) {
        struct net_at n = {0};
        random_model(&r, &rng);
        build(&n.m, r.text.s, NULL);
        for (int i = 0; i < 4; i++, turn++) {
            inversion_fini(&n.v);
            inverse_free(n.h);
            n.v = (struct inversion){0}, n.h = NULL;
            check_both(r.text.s, &n, method[i], turn, &t);
            inverses += n.h->nlatent > 0;
        }
        n.q = (struct qnet){0};
        net_drop(&n);
    }
    print_message("%d inverses, %ld pairs of output and input, %ld with an edge\n", inverses,
                  t.pairs, t.seen);
    assert_true(t.seen > 1000 && t.pairs > 3 * t.seen);
    str_free(&r.text);
}

/* Also where there are fewer units than labels, or fewer in one layer than in another. */
static void test_few_units(void **state)
{
    (void)state;
    static const int hidden[][3] = {{1, 0, 0}, {8, 8, 0}, {40, 7, 0}, {400, 60, 300}, {60, 400, 9}};
    struct random_model r = {0};
    struct rng rng;
    rng_init(&rng, 7, 0);
    for (int turn = 0; turn < 30; turn++) {
        struct net_at n = {0};
        struct net_options o = {
            .family = &family_mixture, .size = 1, .arch = &arch_made, .act = ACT_TANH, .skip = 0};
        nami_err err = {0};
        for (o.nhidden = 0; o.nhidden < 3 && hidden[turn % 5][o.nhidden]; o.nhidden++)
            o.hidden[o.nhidden] = hidden[turn % 5][o.nhidden];
        random_model(&r, &rng);
        build(&n.m, r.text.s, NULL);
        if (net_try(&n, NULL, &o, &err)) fail_msg("%s: %s", r.text.s, err.msg);
        check_lists(r.text.s, &n.q);
        net_drop(&n);
    }
    str_free(&r.text);
}

/* Networks that several factors share: each sees its own parents, in their roles. */
static void test_shared(void **state)
{
    (void)state;
    static const char *const text[] = {
        "model { for (j in 1:4) { z[j] ~ normal(1, 2)\n k[j] ~ categorical(c(0.2, 0.3, 0.5))\n"
        "v[j, 1:2] ~ multi_normal(c(z[j], 1), diag(c(1, 2)))\n x[j] ~ normal(v[j, 1] + k[j], 1)\n"
        "for (i in 1:2) { y[j, i] ~ normal(v[j, 2] * i, 1) } } }\n observe x, y",
        "model { mu ~ normal(0, 3)\n for (j in 1:5) { t[j] ~ normal(mu, 1)\n"
        "for (i in 1:3) { u[j, i] ~ normal(t[j], 1)\n y[j, i] ~ normal(u[j, i], 1) } } }\n observe "
        "y",
        "model { s[1] ~ normal(0, 1)\n for (i in 2:9) { s[i] ~ normal(0.9 * s[i - 1], 1) }\n"
        "for (i in 1:9) { b[i] ~ bernoulli(ilogit(s[i]))\n y[i] ~ normal(s[i] + b[i], 1) } }\n "
        "observe y",
    };
    int shared = 0;
    for (int turn = 0; turn < 48; turn++) {
        struct net_at n;
        struct tally t = {0};
        struct str what = {0};
        net_at(&n, text[turn % 3], NULL, &(nami_options){.method = method[turn / 3 % 4]},
               &(struct net_options){.arch = turn / 12 % 2 ? NULL : &arch_mlp,
                                     .nhidden = 2,
                                     .hidden = {60, 50},
                                     .act = ACT_TANH,
                                     .skip = turn / 24});
        str_printf(&what, "%s\nby %s", text[turn % 3], method[turn / 3 % 4]);
        for (int g = 0; g < n.q.ngroup; g++) shared += n.q.group[g].num_factors > 1;
        check_lists(what.s, &n.q);
        check_numbers(what.s, &n.q, turn % 2, &t);
        str_free(&what);
        net_drop(&n);
    }
    print_message("%d networks are shared\n", shared);
    assert_true(shared > 30);
}

/* ---- the masked network of Germain et al. 2015 -------------------------------------- */

/* Of a fully connected inverse: each unit has a number, observed inputs 1, latents 2, 3, ... as
   they are sampled, and reads all units of the layer before with no larger number, and no others.
 */
static void check_made(const struct qnet *q, int depth, int skip)
{
    const struct inverse *h = q->inverse;
    int *degree = calloc((size_t)q->prog.nunit, sizeof *degree),
        *layer = calloc((size_t)q->prog.nunit, sizeof *layer);
    int count[NODES] = {0}, outputs = 0;
    assert_true(degree && layer);
    for (int v = 0; v < h->n; v++)
        if (q->encoding[v].feature >= 0)
            degree[q->encoding[v].feature] =
                h->pos[v] < h->nlatent ? h->nlatent - h->pos[v] + 1 : 1;
    for (int u = 0; u < q->nfeature; u++) assert_true(degree[u] > 0);
    for (size_t i = 0; i < q->block.n; i++) {
        const struct dense *d = q->block.a[i].layer;
        int last = d->act == ACT_LINEAR, most = 0, at = 0, want = 0;
        for (int k = 0; k < d->in; k++) {
            int u = d->from[k];
            if (layer[u] > at) at = layer[u];
            if (degree[u] > most) most = degree[u];
        }
        if (last) assert_int_equal(at, depth);
        for (int u = 0; u < d->to; u++) {
            int reads = layer[u] == at || (last && skip && layer[u] == 0), found = 0;
            if (layer[u] < 0) continue; /* an output */
            for (int k = 0; k < d->in; k++) found += d->from[k] == u;
            assert_int_equal(found, reads && degree[u] <= most);
            want += found;
        }
        assert_int_equal(want, d->in);
        for (int o = 0; o < d->out; o++) {
            degree[d->to + o] = most;
            layer[d->to + o] = last ? -1 : at + 1;
        }
        if (last) count[most]++, outputs++;
    }
    assert_int_equal(outputs, h->nlatent);
    for (int i = 0; i < h->nlatent; i++) assert_int_equal(count[1 + i], 1); /* all sets are there */
    free(degree);
    free(layer);
}

static void test_nested(void **state)
{
    (void)state;
    for (int turn = 0; turn < 8; turn++) {
        int depth = 1 + turn / 2 % 3;
        struct net_at n;
        net_at(&n,
               "model { z[1] ~ normal(0, 1)\n for (i in 2:7) { z[i] ~ normal(z[i - 1], 1) }\n"
               "for (i in 1:3) { y[i] ~ normal(z[2 * i], 1) } }\n observe y",
               NULL, &(nami_options){.method = "full", .barren = "keep"},
               &(struct net_options){.arch = &arch_made,
                                     .nhidden = depth,
                                     .hidden = {60, 72, 64},
                                     .act = ACT_RELU,
                                     .skip = turn % 2});
        assert_int_equal(n.h->nlatent, 7);
        assert_int_equal(n.q.nlabel, 7);
        check_made(&n.q, depth, turn % 2);
        net_drop(&n);
    }
}

/* ---- embeddings --------------------------------------------------------------------- */

/* a and b see all of y through the embedding; those who see a part see the elements. */
static void test_embedded(void **state)
{
    (void)state;
    static const char text[] =
        "model { a ~ normal(0, 1)\n b ~ gamma(2, 1)\n"
        "for (i in 1:6) { z[i] ~ normal(a, 1)\n y[i] ~ normal(z[i], b) }\n x ~ normal(a, 1) }\n"
        "observe y, x\n embed y { conv(3, 3, tanh); dense(4, tanh) }";
    static const char *const by[] = {"nami", "full", "mean-field", "stuhlmuller"};
    int whole = 0, part = 0;
    for (int turn = 0; turn < 16; turn++) {
        struct net_at n;
        struct tally t = {0};
        net_at(&n, text, NULL, &(nami_options){.method = by[turn % 4]},
               &(struct net_options){.arch = turn / 4 % 2 ? &arch_made : &arch_mlp,
                                     .act = ACT_TANH,
                                     .skip = turn / 8});
        check_lists(text, &n.q);
        check_numbers(text, &n.q, turn % 2, &t);
        for (int f = 0; f < n.q.nfactor; f++) {
            const struct factor *x = &n.q.factor[f];
            int seen = 0;
            for (struct inverse_it it = inverse_it(n.h, x->pos); inverse_next(&it);)
                seen += bn_name(n.m.ir.bn, it.node)[0] == 'y';
            assert_int_equal(x->nback, seen == 6 ? 4 : 0);
            whole += seen == 6;
            part += seen > 0 && seen < 6;
        }
        net_drop(&n);
    }
    assert_true(whole > 0 && part > 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_random),       cmocka_unit_test(test_messages),
    cmocka_unit_test(test_open_designs), cmocka_unit_test(test_message_models),
    cmocka_unit_test(test_few_units),    cmocka_unit_test(test_nested),
    cmocka_unit_test(test_stages),       cmocka_unit_test(test_shared),
    cmocka_unit_test(test_embedded),
};
RUN(tests)
