/* scale.c: plausible scales of parameters, from the data and the covariates.

   For each prior, one pass over the model in the order of sampling propagates pairs (value,
   derivative with respect to the parameter) from statement to statement, through the means of
   latents, to the means of observations.  Observed values are given, so y[t - 1] is a covariate of
   y[t].  Inverse link functions are not differentiated: the pair remains on the scale of the link
   and is marked as such.  Hence the slope of a coefficient is its covariate, and with the sd of the
   data,

       size = sd(data) / sd(covariate),   or 1 / sd(covariate) behind a link.

   A parameter that affects no mean but a scale has the size of that scale; the exponent
   distinguishes standard deviations, variances and precisions. */
#include "model/scale.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

enum { MOST_LAGS = 50 };   /* maximum lag of an autoregressive series */
enum { LARGE_ARRAY = 64 }; /* above this size, functions of whole arrays are analyzed by element */
enum { ONE_BY_ONE = 8 };   /* elements of a prior with a separate pass */
static const double WORK = 5e6;        /* maximum number of instances visited in all passes */
static const double SAME_SLOPE = 1e-6; /* relative sd below which slopes are all equal */
static const double RATE_EDGE = 0.01;  /* empirical probabilities are clamped by this */

struct dual {
    double value, slope;
    enum prior_link link;
    int bent; /* not linear on that scale: the slope holds only locally */
};

struct scaler {
    struct model *m;
    int *order, num_order; /* instances in the order of sampling */
    struct dual *elem;     /* by element */
    int target;            /* the statement whose elements have derivative 1 ... */
    int first, num;        /* ... for these instances */
    int inst;              /* the current instance */
    double base;           /* the value of the target */
    double work;
};

/* The result of a pass. */
struct found {
    int response;         /* the first observed statement whose mean it affects; -1: none */
    double n, sum, sum2;  /* of slopes */
    double value, value2; /* sums of the other terms of the means */
    enum prior_link link;
    int bent;
    int scaled;    /* the first statement whose scale it affects; -1: none */
    double power;  /* d log scale / d log parameter */
    int log_scale; /* the parameter is the logarithm of the scale */
};

/* ---- distributions: which arguments are location and scale ------------------------------- */

/* -1: none.  A real argument of a discrete distribution is on the scale of a link. */
struct location {
    int location, scale;
    enum prior_link link;
};

static struct location location_of(const struct dist *d)
{
    struct location l = {d ? d->location - 1 : -1, d ? d->scale - 1 : -1, LINK_NONE};
    if (l.location >= 0 && domains[d->domain].discrete && d->arg[l.location].domain == REAL)
        l.link = LINK_UNIT;
    return l;
}

static int is_dist(const struct stmt *s, const char *name)
{
    return s->dist && strcmp(s->dist->name, name) == 0;
}

int is_prior(const struct model *m, const struct stmt *s)
{
    if (!s->rel->stochastic || !s->n || !s->dist || domains[s->dist->domain].rank) return 0;
    for (int i = 0; i < s->n; i++) {
        if (m->ir.observed[m->ir.defined[m->ir.first_defined[s->first + i]]]) return 0;
        for (int r = 0; r < s->nref; r++)
            if (s->foot[r].random[i]) return 0;
    }
    return 1;
}

/* ---- pairs of expressions ---------------------------------------------------------------- */

static struct dual dual_of(struct scaler *p, const struct term *t, int j);

static const struct foot *foot_of(const struct scaler *p, const struct term *t)
{
    return &instance_stmt(p->m, p->inst)->foot[t->ref];
}

static int elements_of(const struct scaler *p, const struct term *t)
{
    int n = 1, i = p->inst - instance_stmt(p->m, p->inst)->first;
    if (t->kind == T_REF) {
        const struct foot *f = foot_of(p, t);
        return f->pick[i] ? (f->off[i + 1] - f->off[i]) / f->pick[i] : f->off[i + 1] - f->off[i];
    }
    if (t->kind != T_OP || (!t->op->map && strcmp(t->op->name, "sort") != 0)) return 1;
    for (int k = 0; k < t->narg; k++) {
        int some = elements_of(p, t->arg[k]);
        n = some > n ? some : n;
    }
    return n;
}

/* Element j of a reference; for several choices, the one with the largest slope. */
static struct dual dual_of_ref(const struct scaler *p, const struct term *t, int j)
{
    const struct foot *f = foot_of(p, t);
    int i = p->inst - instance_stmt(p->m, p->inst)->first, n = f->off[i + 1] - f->off[i];
    int width = f->pick[i] ? n / f->pick[i] : n;
    struct dual best = {0};
    if (!width) return best;
    j = width == 1 ? 0 : j % width;
    for (int c = 0; c * width < n; c++) {
        const struct dual *x = &p->elem[f->elem[f->off[i] + c * width + j]];
        if (c == 0 || fabs(x->slope) > fabs(best.slope)) best = *x;
    }
    return best;
}

static int is_op(const struct term *t, const char *name)
{
    return t->kind == T_OP && strcmp(t->op->name, name) == 0;
}

/* Arguments of which at least one is on the scale of a link: logarithms of products add; operations
   that are not linear on that scale are marked. */
static struct dual dual_of_linked(const struct term *t, const struct dual *x)
{
    int k = x[0].link ? 0 : t->narg > 1 && x[1].link ? 1 : 2, linear = 0;
    struct dual r = x[k], other = t->narg == 2 ? x[1 - k] : (struct dual){.value = 1};
    int times = is_op(t, "*"), over = is_op(t, "/");
    if (times && !other.link && other.value == 0) return (struct dual){0}; /* zero exposure */
    if (r.link == LINK_UNIT) {
        if (is_op(t, "logit") || is_op(t, "probit") || is_op(t, "cloglog"))
            linear = 1, r.link = LINK_NONE;
        else if (is_op(t, "-") && t->narg == 2 && k == 1 && !other.link) /* 1 - p */
            linear = 1, r.slope = -r.slope, r.value = -r.value;
        else
            linear = (times || (over && k == 0)) && !other.link;
    } else if (is_op(t, "log")) {
        linear = 1, r.link = LINK_NONE;
    } else if (is_op(t, "sqrt")) {
        linear = 1, r.slope /= 2, r.value /= 2;
    } else if (is_op(t, "^") && k == 0 && !other.link) {
        linear = 1, r.slope *= other.value, r.value *= other.value;
    } else if ((times || over) && (other.link == LINK_LOG || (!other.link && other.value > 0))) {
        double sign = over && k == 0 ? -1 : 1;
        linear = 1;
        if (over && k == 1) r.slope = -r.slope, r.value = -r.value;
        r.value += sign * (other.link ? other.value : log(other.value));
        if (other.link) r.slope += sign * other.slope;
    }
    r.bent = r.bent || other.bent || !linear;
    return r;
}

static struct dual dual_of_map(const struct term *t, const struct dual *x)
{
    double v[3] = {0}, part[3] = {0}, one = 1, out = 0;
    const double *a[3] = {v, v + 1, v + 2};
    double *da[3] = {part, part + 1, part + 2};
    struct dual r = {0};
    int some = 0;
    for (int k = 0; k < t->narg; k++) {
        if (x[k].link) return dual_of_linked(t, x);
        v[k] = x[k].value;
        some |= x[k].slope != 0;
    }
    if (some && is_op(t, "exp")) return (struct dual){v[0], x[0].slope, LINK_LOG, x[0].bent};
    if (some && (is_op(t, "ilogit") || is_op(t, "phi") || is_op(t, "icloglog")))
        return (struct dual){v[0], x[0].slope, LINK_UNIT, x[0].bent};
    t->op->map(t->op, 1, &out, a);
    r.value = out;
    if (!some || !t->op->map_grad) return r;
    t->op->map_grad(t->op, 1, &out, &one, a, da);
    for (int k = 0; k < t->narg; k++) {
        if (x[k].slope == 0 || !isfinite(part[k])) continue;
        r.slope += part[k] * x[k].slope;
        r.bent |= x[k].bent ||
                  !(is_op(t, "+") || is_op(t, "-") || is_op(t, "*") || (is_op(t, "/") && k == 0));
    }
    return r;
}

static struct dual product(struct dual a, struct dual b)
{
    return (struct dual){a.value * b.value, a.slope * b.value + a.value * b.slope,
                         a.link ? a.link : b.link, a.bent | b.bent};
}

static void add_to(struct dual *sum, struct dual x)
{
    sum->value += x.value, sum->slope += x.slope;
    if (x.link) sum->link = x.link;
    sum->bent |= x.bent;
}

/* Functions of whole arrays: sums and products exactly; for others, the largest slope of the
   elements. */
static struct dual dual_of_block(struct scaler *p, const struct term *t, int j)
{
    struct dual r = {0};
    int n = t->narg ? elements_of(p, t->arg[0]) : 0;
    if (is_op(t, "sum") || is_op(t, "mean")) {
        for (int i = 0; i < n; i++) add_to(&r, dual_of(p, t->arg[0], i));
        if (is_op(t, "mean") && n) r.value /= n, r.slope /= n;
    } else if (is_op(t, "inprod")) {
        for (int i = 0; i < n; i++)
            add_to(&r, product(dual_of(p, t->arg[0], i), dual_of(p, t->arg[1], i)));
    } else if (is_op(t, "%*%")) { /* a matrix times a vector: row j */
        int cols = elements_of(p, t->arg[1]);
        for (int i = 0; i < cols && cols <= n; i++)
            add_to(&r, product(dual_of(p, t->arg[0], j * cols + i), dual_of(p, t->arg[1], i)));
    } else if (is_op(t, "c") && j < t->narg) {
        r = dual_of(p, t->arg[j], 0);
    } else if (n > LARGE_ARRAY) {
        r = dual_of(p, t->arg[0], j);
    } else {
        for (int k = 0; k < t->narg; k++)
            for (int i = elements_of(p, t->arg[k]) - 1; i >= 0; i--) {
                struct dual x = dual_of(p, t->arg[k], i);
                if ((k == 0 && i == j) || fabs(x.slope) > fabs(r.slope)) r = x;
            }
    }
    return r;
}

static struct dual dual_of(struct scaler *p, const struct term *t, int j)
{
    struct dual x[3] = {{0}};
    switch (t->kind) {
    case T_NUMBER: return (struct dual){.value = t->value};
    case T_COUNTER: return (struct dual){.value = instance_counter(p->m, p->inst)[t->depth]};
    case T_REF: return dual_of_ref(p, t, j);
    case T_REP: return dual_of(p, t->arg[0], j);
    case T_OP: break;
    default: return x[0]; /* sizes, ranges and networks carry no slope */
    }
    if (!t->op->map || t->narg > 3) return dual_of_block(p, t, j);
    for (int k = 0; k < t->narg; k++) x[k] = dual_of(p, t->arg[k], j);
    return dual_of_map(t, x);
}

/* ---- a pass ------------------------------------------------------------------------------ */

/* A point for derivatives: inside the support, 1 if it must be positive. */
static double base_value(struct scaler *p, const struct stmt *s, int e)
{
    double lo = -INFINITY, hi = INFINITY;
    struct location l = location_of(s->dist);
    model_support(p->m, e, &lo, &hi);
    if (lo >= 0) return hi > 2 ? fmax(1, lo) : (lo + hi) / 2;
    if (l.location >= 0 && l.link == LINK_NONE && !domains[s->dist->domain].discrete)
        return dual_of(p, s->arg[l.location], 0).value;
    return isfinite(lo) && isfinite(hi) ? (lo + hi) / 2 : 0;
}

static int has_data(const struct model *m, int e)
{
    return m->ir.observed[e] && !value_is_missing(m->ir.value[e]);
}

/* Among several observed statements, the one with the most data is used. */
static void see_location(const struct model *m, struct found *f, int stmt, struct dual x)
{
    if (!isfinite(x.slope)) return;
    if (x.slope != 0 &&
        (f->response < 0 || m->ir.statements.a[stmt].n > m->ir.statements.a[f->response].n)) {
        f->response = stmt;
        f->link = x.link;
        f->bent = 0;
        f->n = f->sum = f->sum2 = f->value = f->value2 = 0;
    }
    if (f->response != stmt) return;
    f->n++, f->sum += x.slope, f->sum2 += x.slope * x.slope;
    f->bent |= x.bent;
    f->value += x.value, f->value2 += x.value * x.value;
}

static void see_scale(struct found *f, int stmt, struct dual x, double at)
{
    if (f->scaled >= 0 || x.slope == 0) return;
    f->scaled = stmt;
    f->log_scale = x.link == LINK_LOG;
    f->power = f->log_scale ? x.slope : x.slope * at / x.value;
}

static void visit_stochastic(struct scaler *p, struct found *f, const struct stmt *s)
{
    struct model *m = p->m;
    int k = p->inst, a = m->ir.first_defined[k], n = m->ir.first_defined[k + 1] - a,
        id = (int)(s - m->ir.statements.a);
    int target = id == p->target && k >= p->first && k < p->first + p->num;
    struct location l = location_of(s->dist);
    for (int j = 0; j < n; j++) {
        int e = m->ir.defined[a + j];
        struct dual x = {0};
        if (l.location >= 0) x = dual_of(p, s->arg[l.location], j);
        if (l.link && x.slope != 0) x.link = l.link;
        if (has_data(m, e) && l.location >= 0) see_location(m, f, id, x);
        if (l.scale >= 0) see_scale(f, id, dual_of(p, s->arg[l.scale], j), p->base);
        if (has_data(m, e))
            x = (struct dual){.value = m->ir.value[e]};
        else if (target)
            x = (struct dual){p->base = base_value(p, s, e), 1, LINK_NONE, 0};
        else if (domains[s->dist ? s->dist->domain : REAL].discrete || l.location < 0 || x.link ||
                 domains[s->dist->domain].lo == 0)
            x = (struct dual){.value = base_value(p, s, e)};
        p->elem[e] = x;
    }
}

static struct found pass(struct scaler *p, int target, int first, int num)
{
    struct model *m = p->m;
    struct found f = {.response = -1, .scaled = -1};
    p->target = target, p->first = first, p->num = num;
    for (int i = 0; i < p->num_order; i++) {
        int k = p->inst = p->order[i], a = m->ir.first_defined[k];
        const struct stmt *s = instance_stmt(m, k);
        if (s->rel->stochastic)
            visit_stochastic(p, &f, s);
        else
            for (int j = 0; j < m->ir.first_defined[k + 1] - a; j++)
                p->elem[m->ir.defined[a + j]] = dual_of(p, s->rhs, j);
    }
    p->work += p->num_order;
    if (f.response >= 0) { /* observations before the first affected one have slope 0 */
        const struct stmt *s = &m->ir.statements.a[f.response];
        double all = 0;
        for (int j = m->ir.first_defined[s->first]; j < m->ir.first_defined[s->first + s->n]; j++)
            all += has_data(m, m->ir.defined[j]);
        f.value *= all / f.n, f.value2 *= all / f.n;
        f.n = all;
    }
    return f;
}

/* ---- data -------------------------------------------------------------------------------- */

int response_data(const struct model *m, const struct stmt *s, double *mean, double *sd)
{
    double sum = 0, sum2 = 0, first = 0;
    int n = 0;
    for (int j = m->ir.first_defined[s->first]; j < m->ir.first_defined[s->first + s->n]; j++) {
        double x = m->ir.value[m->ir.defined[j]];
        if (!has_data(m, m->ir.defined[j])) continue;
        if (!n++) first = x;
        sum += x - first, sum2 += (x - first) * (x - first);
    }
    if (!n) return 0;
    *mean = first + sum / n;
    *sd = sqrt(fmax(0, sum2 / n - sum / n * (sum / n)));
    if (n == 1 || *sd == 0) *sd = fabs(*mean) > 0 ? fabs(*mean) : 1;
    return n;
}

/* The same on the scale of the means: logarithms, log odds. */
static void linked_data(struct scaler *p, const struct stmt *s, struct prior_scale *r)
{
    struct model *m = p->m;
    double mean = 0, sd = 1, sum = 0, sum2 = 0, trials = 0, n = 0;
    response_data(m, s, &mean, &sd);
    if (is_dist(s, "lognormal") && !r->link) {
        for (int j = m->ir.first_defined[s->first]; j < m->ir.first_defined[s->first + s->n]; j++) {
            double x = log(m->ir.value[m->ir.defined[j]]);
            if (has_data(m, m->ir.defined[j]) && isfinite(x)) n++, sum += x, sum2 += x * x;
        }
        if (n > 1) mean = sum / n, sd = sqrt(fmax(1e-12, sum2 / n - mean * mean));
    } else if (r->link == LINK_LOG) {
        mean = mean > 0 ? log(mean) : 0, sd = 1;
        if (is_dist(s, "exponential") || is_dist(s, "gamma") || is_dist(s, "neg_binomial"))
            mean = -mean;
    } else if (r->link == LINK_UNIT) {
        for (int k = s->first; is_dist(s, "binomial") && k < s->first + s->n; k++) {
            p->inst = k;
            if (!has_data(m, m->ir.defined[m->ir.first_defined[k]])) continue;
            sum += m->ir.value[m->ir.defined[m->ir.first_defined[k]]];
            trials += dual_of(p, s->arg[0], 0).value;
        }
        if (trials > 0) mean = sum / trials;
        mean = fmin(fmax(mean, RATE_EDGE), 1 - RATE_EDGE);
        mean = is_dist(s, "categorical") ? 0 : log(mean / (1 - mean)), sd = 1;
    }
    r->response_mean = mean;
    r->response_sd = sd;
}

/* Is a statement autoregressive: does y[t] depend on y[t - 1]? */
static int reads_itself(const struct model *m, const struct stmt *s)
{
    const struct dag *g = &m->ir.bn->dag;
    int end = s->first + s->n - 1, last = m->ir.node[end];
    if (last < 0) return 0;
    for (int k = end > s->first + MOST_LAGS ? end - MOST_LAGS : s->first; k < end; k++)
        for_parents (g, last, u)
            if (u == m->ir.node[k]) return 1;
    return 0;
}

/* ---- sizes ------------------------------------------------------------------------------- */

static void set_location(struct scaler *p, const struct found *f, struct prior_scale *r)
{
    double var = f->sum2 / f->n - f->sum / f->n * (f->sum / f->n);
    r->role = f->bent && !is_dist(&p->m->ir.statements.a[f->response], "categorical") &&
                      !is_dist(&p->m->ir.statements.a[f->response], "neg_binomial")
                  ? PRIOR_OTHER /* the link is part of the distribution */
                  : PRIOR_LOCATION;
    r->link = f->link;
    r->response = f->response;
    r->slope_mean = f->sum / f->n;
    r->slope_sd = sqrt(fmax(0, var));
    r->is_level = r->slope_sd <= SAME_SLOPE * fabs(r->slope_mean);
    linked_data(p, &p->m->ir.statements.a[f->response], r);
    var = f->value2 / f->n - f->value / f->n * (f->value / f->n); /* of known offsets */
    if (var > 0 && isfinite(var)) r->response_sd = fmax(r->response_sd, sqrt(var));
    r->size = r->response_sd / (r->is_level ? fabs(r->slope_mean) : r->slope_sd);
    r->center = r->is_level ? (r->response_mean - f->value / f->n) / r->slope_mean : 0;
    r->is_feedback = !r->is_level && !r->link && r->size > 0.5 && r->size < 2 &&
                     reads_itself(p->m, &p->m->ir.statements.a[f->response]);
}

/* All elements of a prior together if they form an intercept; otherwise one by one, using the
   largest size. */
static void find_location(struct scaler *p, const struct stmt *s, const struct found *all,
                          struct prior_scale *r)
{
    static const char *const no_mean[] = {"bernoulli", "binomial", "categorical", "exponential",
                                          "gamma",     "weibull",  "neg_binomial"};
    int id = (int)(s - p->m->ir.statements.a);
    double lo = -INFINITY, hi = INFINITY;
    for (size_t i = 0; i < sizeof no_mean / sizeof *no_mean && !all->link; i++)
        if (is_dist(&p->m->ir.statements.a[all->response], no_mean[i]))
            return; /* a rate, a probability */
    set_location(p, all, r);
    model_support(p->m, p->m->ir.defined[p->m->ir.first_defined[s->first]], &lo, &hi);
    if (lo >= 0 && !r->link) { /* a nonnegative mean, or a term of it */
        r->size = (fabs(r->response_mean) + r->response_sd) / sqrt(all->sum2 / all->n);
        r->is_level = 0, r->center = 0;
        return;
    }
    if (r->is_level || s->n == 1 || s->n > ONE_BY_ONE) return;
    struct prior_scale widest = *r;
    widest.size = 0;
    for (int k = s->first; k < s->first + s->n; k++) {
        struct found one = pass(p, id, k, 1);
        struct prior_scale each = *r;
        if (one.response < 0) continue;
        set_location(p, &one, &each);
        if (each.size > widest.size) widest = each;
    }
    if (widest.size > 0) *r = widest;
    r->is_level = 0, r->center = 0;
}

/* The scale of an observation has the size of the sd of the data; that of a latent, the size of the
   latent. */
static void find_scale(struct scaler *p, const struct found *f, struct prior_scale *r)
{
    const struct stmt *s = &p->m->ir.statements.a[f->scaled];
    struct prior_scale of = {.response = f->scaled};
    double power = f->power;
    if (has_data(p->m, p->m->ir.defined[p->m->ir.first_defined[s->first]])) {
        linked_data(p, s, &of);
        of.size = of.response_sd;
    } else {
        struct found latent = pass(p, f->scaled, s->first, s->n);
        if (latent.response < 0) return;
        set_location(p, &latent, &of);
        if (of.role == PRIOR_OTHER) return;
        of.size = of.response_sd / sqrt(latent.sum2 / latent.n);
    }
    *r = of;
    r->center = 0, r->is_level = 0;
    r->role = f->log_scale               ? PRIOR_OTHER
              : fabs(power - 1) < 0.01   ? PRIOR_SD
              : fabs(power - 0.5) < 0.01 ? PRIOR_VARIANCE
              : fabs(power + 0.5) < 0.01 ? PRIOR_PRECISION
              : fabs(power + 1) < 0.01   ? PRIOR_INVERSE
                                         : PRIOR_OTHER;
}

/* An intercept is the mean for covariates of 0: uncentered covariates make it larger. A single
   intercept is centered at the mean of the data; several are not. */
static void settle_levels(const struct model *m, struct prior_scale *r)
{
    for (size_t i = 0; i < m->ir.statements.n; i++) {
        int levels = 0;
        if (r[i].role != PRIOR_LOCATION || !r[i].is_level) continue;
        for (size_t j = 0; j < m->ir.statements.n; j++) {
            if (r[j].role != PRIOR_LOCATION || r[j].response != r[i].response) continue;
            levels += r[j].is_level;
            double x = r[j].slope_mean / r[j].slope_sd;
            if (!r[j].is_level && r[j].slope_sd > 0) r[i].uncentered = hypot(r[i].uncentered, x);
        }
        if (levels > 1 || r[i].uncentered > 1) {
            r[i].size = fmax(r[i].size, fabs(r[i].center)) * (1 + r[i].uncentered);
            r[i].center = 0;
        }
        if (fabs(r[i].center) < 2 * r[i].size) r[i].center = 0;
    }
}

/* Instances that are drawn or computed, by level. */
static int order_instances(struct scaler *p)
{
    const struct model *m = p->m;
    int deepest = 0, *count;
    p->order = raw_array(int, m->ir.num_instances);
    for (int k = 0; k < m->ir.num_instances; k++)
        deepest = m->ir.level[k] > deepest ? m->ir.level[k] : deepest;
    count = new_array(int, deepest + 2);
    if (!p->order || !count) {
        free(count);
        return NAMI_ENOMEM;
    }
    for (int k = 0; k < m->ir.num_instances; k++)
        if (m->ir.level[k] >= 0) count[m->ir.level[k] + 1]++, p->num_order++;
    for (int l = 0; l <= deepest; l++) count[l + 1] += count[l];
    for (int k = 0; k < m->ir.num_instances; k++)
        if (m->ir.level[k] >= 0) p->order[count[m->ir.level[k]]++] = k;
    free(count);
    return 0;
}

int model_prior_scales(struct model *m, struct prior_scale *out)
{
    struct scaler p = {.m = m, .elem = raw_array(struct dual, m->ir.num_elements)};
    int rc = !p.elem || order_instances(&p) ? NAMI_ENOMEM : 0;
    for (size_t i = 0; i < m->ir.statements.n; i++) out[i] = (struct prior_scale){.response = -1};
    for (int e = 0; e < m->ir.num_elements && !rc; e++)
        p.elem[e] = (struct dual){.value = m->ir.value[e]};
    for (size_t i = 0; i < m->ir.statements.n && !rc && p.work < WORK; i++) {
        const struct stmt *s = &m->ir.statements.a[i];
        if (!is_prior(m, s)) continue;
        struct found f = pass(&p, (int)i, s->first, s->n);
        if (f.response >= 0)
            find_location(&p, s, &f, &out[i]);
        else if (f.scaled >= 0)
            find_scale(&p, &f, &out[i]);
    }
    if (!rc) settle_levels(m, out);
    for (size_t i = 0; i < m->ir.statements.n; i++)
        if (!(out[i].size > 0) || !isfinite(out[i].size) || !isfinite(out[i].center))
            out[i].role = PRIOR_OTHER;
    free(p.order);
    free(p.elem);
    return rc;
}
