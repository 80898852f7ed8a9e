/* export_family.c: formulas of the output distributions (family.def), one row each at the end. They
   are those of the kernels in family_*.c, which explain them. */
#include <math.h>

#include "dist/math.h"
#include "net/export_impl.h"

enum { MOST = 1 + 3 * 256 }; /* outputs of a family that can be exported */

/* What the rules get: the outputs o[nout] of the network. */
struct output {
    const struct output_dist *h;
    int nout;
    const int *o;
};

/* ---- what they share ---- */

static int squash(struct tape *t, int x, double lo, double hi)
{
    int c = lo == hi ? N(lo) : IF(LESS(x, N(0)), N(lo), N(hi));
    int v = MAX(MIN(DIV(x, c), N(1e30)), N(-1e30)), q = MUL(v, v);
    return MUL(c, DIV(v, SQRT(SQRT(ADD(N(1), MUL(q, q))))));
}

static int log_sd(struct tape *t, int r) { return squash(t, r, 12, 6); }

/* e[k] <- exp(x[k] - top); their sum */
struct sum {
    int top, sum;
};
static struct sum exp_sum(struct tape *t, int n, const int *x, int *e)
{
    struct sum s = {x[0], 0};
    for (int k = 1; k < n; k++) s.top = MAX(s.top, x[k]);
    for (int k = 0; k < n; k++) {
        e[k] = EXP(SUB(x[k], s.top));
        s.sum = k ? ADD(s.sum, e[k]) : e[k];
    }
    return s;
}

static int log_sum(struct tape *t, struct sum s) { return ADD(s.top, LOG(s.sum)); }

static int log_normal(struct tape *t, int u)
{
    return SUB(MUL(N(-0.5), MUL(u, u)), N(HALF_LOG_2PI));
}

static int flow_out(struct tape *t, const struct output *f, int v)
{
    return ADD(f->o[0], MUL(v, EXP(log_sd(t, f->o[1]))));
}

/* ---- mixture ---- */

struct component {
    int mean, log_sd;
};

/* Component k of K: its logarithm of the standard deviation from r. */
static struct component component(struct tape *t, int K, int k, int mean, int r)
{
    double gap = K > 1 ? sqrt(6. / ((double)K * K - 1)) : 0;
    int s = log_sd(t, r);
    if (K == 1) return (struct component){mean, s};
    return (struct component){ADD(mean, N(gap * (k - 0.5 * (K - 1)))), SUB(s, N(0.5 * LOG_2))};
}

static int mixture_log_q(struct tape *t, const struct output *f, int x)
{
    int K = f->h->size, joint[MOST], e[MOST];
    for (int k = 0; k < K; k++) {
        struct component c = component(t, K, k, f->o[K + k], f->o[2 * K + k]);
        int z = MUL(SUB(x, c.mean), EXP(NEG(c.log_sd)));
        joint[k] = SUB(log_normal(t, z), c.log_sd);
        if (K > 1) joint[k] = ADD(f->o[k], joint[k]);
    }
    if (K == 1) return joint[0];
    int all = log_sum(t, exp_sum(t, K, joint, e));
    return SUB(all, log_sum(t, exp_sum(t, K, f->o, e)));
}

static int mixture_draw(struct tape *t, const struct output *f)
{
    int K = f->h->size, mean = f->o[K], r = f->o[2 * K], e[MOST];
    int z = tape_noise(t, NOISE_NORMAL, 1, -1);
    double gap = K > 1 ? sqrt(6. / ((double)K * K - 1)) : 0;
    if (K > 1) { /* the last component whose partial sum begins below u */
        struct sum s = exp_sum(t, K, f->o, e);
        int u = MUL(tape_noise(t, NOISE_UNIFORM, 0, -1), s.sum), part = e[0];
        mean = ADD(mean, N(-0.5 * gap * (K - 1)));
        for (int k = 1; k < K; k++) {
            int here = AT_MOST(part, u);
            mean = IF(here, ADD(f->o[K + k], N(gap * (k - 0.5 * (K - 1)))), mean);
            r = IF(here, f->o[2 * K + k], r);
            part = ADD(part, e[k]);
        }
    }
    int s = log_sd(t, r);
    return ADD(mean, MUL(z, EXP(K > 1 ? SUB(s, N(0.5 * LOG_2)) : s)));
}

/* ---- spline ---- */

static const double B = 5;

struct bin {
    int x0, y0, w, h, d0, d1;
};

static struct bin find_bin(struct tape *t, const struct output *f, int inverse, int at)
{
    int K = f->h->size, w[MOST], h[MOST], x = N(-B), y = N(-B), none = N(0), left = none;
    const int *o = f->o + 2;
    double low = 2 * B * fmin(1e-3, 0.1 / K), rest = 2 * B - K * low;
    struct sum ws = exp_sum(t, K, o, w), hs = exp_sum(t, K, o + K, h);
    struct bin b = {0};
    for (int k = 0; k < K; k++) {
        int wide = ADD(N(low), MUL(N(rest), DIV(w[k], ws.sum)));
        int high = ADD(N(low), MUL(N(rest), DIV(h[k], hs.sum)));
        int right = k + 1 < K ? o[2 * K + k] : none;
        struct bin next = {x, y, wide, high, left, right};
        if (k) {
            int here = AT_MOST(inverse ? y : x, at);
            b = (struct bin){IF(here, next.x0, b.x0), IF(here, next.y0, b.y0),
                             IF(here, next.w, b.w),   IF(here, next.h, b.h),
                             IF(here, next.d0, b.d0), IF(here, next.d1, b.d1)};
        } else {
            b = next;
        }
        x = ADD(x, wide);
        y = ADD(y, high);
        left = right;
    }
    b.d0 = EXP(squash(t, b.d0, 7, 7));
    b.d1 = EXP(squash(t, b.d1, 7, 7));
    return b;
}

static int spline_log_q(struct tape *t, const struct output *f, int x)
{
    int ls = log_sd(t, f->o[1]), v = MUL(SUB(x, f->o[0]), EXP(NEG(ls)));
    int in = LESS(ABS(v), N(B)), two = N(2);
    struct bin b = find_bin(t, f, 0, v);
    int r = IF(in, DIV(SUB(v, b.x0), b.w), N(0)), left = SUB(N(1), r), p = MUL(r, left);
    int sl = DIV(b.h, b.w), A = ADD(MUL(sl, MUL(r, r)), MUL(b.d0, p));
    int D = ADD(sl, MUL(SUB(ADD(b.d0, b.d1), MUL(two, sl)), p));
    int M = ADD(ADD(MUL(b.d1, MUL(r, r)), MUL(two, MUL(sl, p))), MUL(b.d0, MUL(left, left)));
    int u = IF(in, ADD(b.y0, DIV(MUL(b.h, A), D)), v), ratio = DIV(sl, D);
    int J = IF(in, MUL(MUL(ratio, ratio), M), N(1));
    return SUB(ADD(LOG(J), log_normal(t, u)), ls);
}

static int spline_draw(struct tape *t, const struct output *f)
{
    int u = tape_noise(t, NOISE_NORMAL, 0, -1), in = LESS(ABS(u), N(B));
    struct bin b = find_bin(t, f, 1, u);
    int sl = DIV(b.h, b.w), y = IF(in, SUB(u, b.y0), N(0));
    int twist = MUL(y, SUB(ADD(b.d0, b.d1), MUL(N(2), sl)));
    int a2 = ADD(MUL(b.h, SUB(sl, b.d0)), twist), a1 = SUB(MUL(b.h, b.d0), twist), a0 = MUL(sl, y);
    int root = MAX(ADD(MUL(a1, a1), MUL(N(4), MUL(a2, a0))), N(0));
    int r = DIV(MUL(N(2), a0), ADD(a1, SQRT(root)));
    return flow_out(t, f, IF(in, ADD(b.x0, MUL(r, b.w)), u));
}

/* ---- neural autoregressive flow ---- */

struct units {
    int a[MOST], log_a[MOST], c[MOST], log_w;
};

static void naf_units(struct tape *t, const struct output *f, struct units *s)
{
    int H = f->h->size, e[MOST];
    double gap = H > 1 ? sqrt(6. / ((double)H * H - 1)) : 0;
    for (int j = 0; j < H; j++) {
        s->log_a[j] = ADD(N(H > 1 ? log(1.12) : 0), squash(t, f->o[2 + H + j], 6, 6));
        s->a[j] = EXP(s->log_a[j]);
        s->c[j] = ADD(f->o[2 + 2 * H + j], N(gap * (j - 0.5 * (H - 1))));
    }
    s->log_w = log_sum(t, exp_sum(t, H, f->o + 2, e));
}

/* u and log du/dt at v */
struct flow {
    int u, logj;
};
static struct flow naf_flow(struct tape *t, const struct output *f, const struct units *s, int v)
{
    int H = f->h->size, P[MOST], M[MOST], E[MOST], e[MOST];
    for (int j = 0; j < H; j++) {
        int z = MUL(s->a[j], SUB(v, s->c[j])), l = f->o[2 + j];
        int up = SUB(MIN(z, N(0)), LOG1P(EXP(NEG(ABS(z))))), down = SUB(up, z);
        P[j] = ADD(l, up);
        M[j] = ADD(l, down);
        E[j] = ADD(ADD(l, s->log_a[j]), ADD(up, down));
    }
    int p = log_sum(t, exp_sum(t, H, P, e)), m = log_sum(t, exp_sum(t, H, M, e));
    int d = log_sum(t, exp_sum(t, H, E, e));
    return (struct flow){SUB(p, m), ADD(SUB(SUB(d, p), m), s->log_w)};
}

static int naf_log_q(struct tape *t, const struct output *f, int x)
{
    struct units s;
    int ls = log_sd(t, f->o[1]), v = MUL(SUB(x, f->o[0]), EXP(NEG(ls)));
    naf_units(t, f, &s);
    struct flow y = naf_flow(t, f, &s, v);
    return SUB(ADD(y.logj, log_normal(t, y.u)), ls);
}

/* Newton steps, and bisection where they leave the bracket, as in family_naf.c, as many as single
   precision of the outputs deserves. */
static int naf_draw(struct tape *t, const struct output *f)
{
    enum { STEPS = 40 };
    struct units s;
    int u = tape_noise(t, NOISE_NORMAL, 0, -1), H = f->h->size, lo = 0, hi = 0;
    naf_units(t, f, &s);
    for (int j = 0; j < H; j++) {
        int r = ADD(s.c[j], DIV(u, s.a[j]));
        lo = j ? MIN(lo, r) : r;
        hi = j ? MAX(hi, r) : r;
    }
    int v = MUL(N(0.5), ADD(lo, hi)), step = ADD(N(1), SUB(hi, lo));
    for (int i = 0; i < STEPS && H > 1; i++) {
        struct flow y = naf_flow(t, f, &s, v);
        int d = SUB(y.u, u), by = NEG(MUL(d, EXP(NEG(y.logj)))), next = ADD(v, by);
        int below = LESS(d, N(0));
        lo = IF(below, v, lo);
        hi = IF(below, hi, v);
        int fits =
            BOTH(BOTH(AT_MOST(lo, next), AT_MOST(next, hi)), AT_MOST(ABS(by), MUL(N(0.5), step)));
        by = IF(fits, by, SUB(MUL(N(0.5), ADD(lo, hi)), v));
        v = ADD(v, by);
        step = ABS(by);
    }
    return flow_out(t, f, v);
}

/* ---- categorical, logistic ---- */

static int categorical_log_q(struct tape *t, const struct output *f, int x)
{
    int e[MOST], own = N(-INFINITY);
    struct sum s = exp_sum(t, f->nout, f->o, e);
    for (int j = 0; j < f->nout; j++) own = IF(EQUAL(x, N(j)), f->o[j], own);
    return SUB(own, log_sum(t, s));
}

static int categorical_draw(struct tape *t, const struct output *f)
{
    int e[MOST], x = N(0), part = 0;
    struct sum s = exp_sum(t, f->nout, f->o, e);
    int u = MUL(tape_noise(t, NOISE_UNIFORM, 0, -1), s.sum);
    for (int j = 0; j + 1 < f->nout; j++) {
        part = j ? ADD(part, e[j]) : e[j];
        x = ADD(x, IF(AT_MOST(part, u), N(1), N(0)));
    }
    return x;
}

static const double S = 0.599424121502862, LOG_S = -0.511785882161775; /* family_logistic.c */

static int logistic_log_q(struct tape *t, const struct output *f, int x)
{
    int ls = log_sd(t, f->o[1]), v = MUL(SUB(x, f->o[0]), EXP(NEG(ls)));
    int z = ABS(MUL(v, N(1 / S)));
    return SUB(SUB(SUB(NEG(z), MUL(N(2), LOG1P(EXP(NEG(z))))), N(LOG_S)), ls);
}

static int logistic_draw(struct tape *t, const struct output *f)
{
    int u = tape_noise(t, NOISE_UNIFORM, 0, -1);
    return flow_out(t, f, MUL(N(S), LOG(DIV(u, SUB(N(1), u)))));
}

/* ---- match ---- */

static void arguments(struct tape *t, const struct output *f, int *a)
{
    const struct output_dist *h = f->h;
    const int *o = f->o;
    for (int k = 0; k < h->dist->narg; k++) {
        const struct domain_info *in = &domains[h->dist->arg[k].domain];
        if (in->discrete) {
            a[k] = N(h->fixed);
            continue;
        }
        int u = MUL(N(h->scale[k]), *o++);
        if (!isinf(in->lo)) u = isinf(in->hi) ? squash(t, u, 16, 16) : squash(t, u, 20, 20);
        u = ADD(N(h->shift[k]), u);
        a[k] = isinf(in->lo) ? u : isinf(in->hi) ? EXP(u) : formula_sigmoid(t, u);
    }
}

static int match_log_q(struct tape *t, const struct output *f, int x)
{
    int a[RECORD_ARGS];
    arguments(t, f, a);
    return formula_dist_log_p(t, f->h->dist, x, a);
}

static int match_draw(struct tape *t, const struct output *f)
{
    int a[RECORD_ARGS];
    arguments(t, f, a);
    return formula_dist_draw(t, f->h->dist, a);
}

/* -------------------------------------------------------------------------------------- */

static const struct rule {
    const struct family *family;
    int (*log_q)(struct tape *t, const struct output *f, int x);
    int (*draw)(struct tape *t, const struct output *f);
} rules[] = {
    {&family_match, match_log_q, match_draw},
    {&family_mixture, mixture_log_q, mixture_draw},
    {&family_spline, spline_log_q, spline_draw},
    {&family_naf, naf_log_q, naf_draw},
    {&family_categorical, categorical_log_q, categorical_draw},
    {&family_logistic, logistic_log_q, logistic_draw},
    {NULL, NULL, NULL},
};

static const struct rule *rule_of(const struct output *f, const char **what)
{
    const struct rule *r = rules;
    *what = f->h->dist ? f->h->dist->name : f->h->family->name;
    while (r->family && r->family != f->h->family) r++;
    return r->family && f->nout < MOST ? r : NULL;
}

int formula_log_q(struct tape *t, const struct output_dist *h, int value, const int *o,
                  const char **what)
{
    struct output f = {h, h->family->outputs(h), o};
    const struct rule *r = rule_of(&f, what);
    return r ? r->log_q(t, &f, value) : -1;
}

int formula_draw(struct tape *t, const struct output_dist *h, const int *o, const char **what)
{
    struct output f = {h, h->family->outputs(h), o};
    const struct rule *r = rule_of(&f, what);
    return r ? r->draw(t, &f) : -1;
}
