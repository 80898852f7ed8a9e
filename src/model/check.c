/* check.c: the prior predictive check: compares draws with the range of numbers and with the data,
   and names the prior to change. */
#include "model/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "model/eval.h"
#include "model/lang/lang.h"
#include "model/model.h"
#include "model/scale.h"

/* Fractions of draws beyond which a problem is reported. */
static const double RARE = 0.002, MOST = 0.95, MANY = 0.01;
static const double HUGE_VALUE = 1e12; /* implausibly large, if there are no data to compare with */
/* A prior this many times as wide as the data suggest is reported; propose.c is less generous. */
static const double TOO_WIDE = 20;
static const double TOO_WIDE_DATA = 1000; /* the same for observations that no prior explains */
static const double TOO_FAR =
    5; /* maximum distance of data from the draws, in widths of the draws */
static const double Z95 = 1.645; /* 95 % quantile of a standard normal */

struct checker {
    struct model *m;
    size_t n;
    double *x;                 /* draws: (rows, n) */
    unsigned char *dead;       /* by draw: an earlier statement was NaN */
    unsigned char *blamed;     /* by statement: already reported */
    struct prior_scale *scale; /* by statement: its plausible scale given the data */
    int *row;                  /* by statement: its row in out; -1 */
    struct check *out;
};

#define row_of(c, e) ((c)->x + (size_t)(c)->m->ir.row[e] * (c)->n)

/* ---- vague priors ------------------------------------------------------------------ */

struct moments {
    double mean, sd,
        small; /* small: fraction of values that underflowed to the boundary of the support */
    size_t n;
};

/* Moments of finite values, scaled by the largest one to prevent overflow of squares. */
static struct moments moments_of(const struct checker *c, const struct stmt *s)
{
    struct moments r = {0};
    double sum = 0, sum2 = 0, unit = 0;
    size_t at_edge = 0, all = 0;
    int first = c->m->ir.first_defined[s->first], end = c->m->ir.first_defined[s->first + s->n];
    for (int j = first; j < end; j++)
        for (size_t i = 0; i < c->n; i++) {
            double x = fabs(row_of(c, c->m->ir.defined[j])[i]);
            if (isfinite(x) && x > unit) unit = x;
        }
    if (unit < 1e100) unit = 1;
    for (int j = first; j < end; j++) {
        const double *x = row_of(c, c->m->ir.defined[j]);
        for (size_t i = 0; i < c->n; i++) {
            all++;
            if (!isfinite(x[i])) continue;
            sum += x[i] / unit, sum2 += x[i] / unit * (x[i] / unit);
            r.n++;
            at_edge += s->dist && domains[s->dist->domain].lo_open && fabs(x[i]) < 1e-300;
        }
    }
    double n = (double)(r.n ? r.n : 1);
    r.mean = unit * (sum / n);
    r.sd = unit * sqrt(fmax(0, sum2 / n - sum / n * (sum / n)));
    if (all) r.small = (double)at_edge / (double)all;
    return r;
}

static const struct prior_scale *scale_of(const struct checker *c, const struct stmt *s)
{
    return &c->scale[s - c->m->ir.statements.a];
}

/* Ratio of the prior width to that suggested by the data; 0: unknown. */
static double times_too_wide(const struct checker *c, const struct stmt *s)
{
    int i = (int)(s - c->m->ir.statements.a);
    const struct prior_scale *p = &c->scale[i];
    if (c->row[i] < 0 || p->role == PRIOR_OTHER || !(p->size > 0)) return 0;
    const struct check_row *r = &c->out->row[c->row[i]];
    double wide = (r->q95 - r->q05) / 2;
    if (p->role == PRIOR_SD) wide = r->q95;
    if (p->role == PRIOR_VARIANCE) wide = sqrt(r->q95);
    if (p->role == PRIOR_PRECISION) wide = 1 / sqrt(r->q05);
    if (p->role == PRIOR_INVERSE) wide = 1 / r->q05;
    return fmin(wide / Z95 / p->size, 1e300);
}

/* The width of a prior relative to a plausible one, as a measure of vagueness. */
static double vagueness(const struct checker *c, const struct stmt *s)
{
    double times = times_too_wide(c, s);
    if (times > 0) return times;
    struct moments r = moments_of(c, s);
    double v = r.sd / (1 + fmin(fabs(r.mean), 20));
    if (s->dist && domains[s->dist->domain].lo == 0 && isinf(domains[s->dist->domain].hi))
        v = r.small > 0.01 || r.sd > 10 * fabs(r.mean) + 1 ? 1000 * (1 + r.small) : v;
    return v;
}

struct search {
    unsigned char *seen; /* by instance */
    vec(int) stack;
};

/* Pushes the unvisited random variables that instance k reads. Does it read any? */
static int push_read(struct model *m, struct search *q, int k)
{
    const struct stmt *s = instance_stmt(m, k);
    int i = k - s->first, some = 0;
    for (int r = 0; r < s->nref; r++)
        for (int j = s->foot[r].off[i]; j < s->foot[r].off[i + 1]; j++) {
            int e = s->foot[r].elem[j], v = m->ir.defined_by[e];
            if (m->ir.state[e] != E_RANDOM) continue;
            some = 1;
            if (q->seen[v]) continue;
            q->seen[v] = 1;
            if (vec_push(&q->stack, v)) m->source.diags.oom = 1;
        }
    return some;
}

/* The vaguest of the priors that instance k depends on, or NULL. */
static const struct stmt *vaguest(const struct checker *c, int k)
{
    struct model *m = c->m;
    struct search q = {.seen = new_array(unsigned char, m->ir.num_instances)};
    const struct stmt *best = NULL;
    double most = 10;
    if (!q.seen) m->source.diags.oom = 1;
    if (q.seen && push_read(m, &q, k))
        while (q.stack.n) {
            int v = q.stack.a[--q.stack.n];
            const struct stmt *s = instance_stmt(m, v);
            if (push_read(m, &q, v) || !s->rel->stochastic || s == best) continue;
            double w = vagueness(c, s);
            if (w > most) most = w, best = s;
        }
    free(q.seen);
    vec_free(&q.stack);
    return best;
}

/* Was a prior reported on which instance k depends? */
static int is_explained(const struct checker *c, int k)
{
    struct model *m = c->m;
    struct search q = {.seen = new_array(unsigned char, m->ir.num_instances)};
    int said = 0;
    if (!q.seen) m->source.diags.oom = 1;
    if (q.seen && push_read(m, &q, k))
        while (q.stack.n && !said) {
            int v = q.stack.a[--q.stack.n];
            said = c->blamed[m->ir.statement_of[v]];
            push_read(m, &q, v);
        }
    free(q.seen);
    vec_free(&q.stack);
    return said;
}

/* Removes the message of lint.c about a prior: that of the check is more informative. */
static void forget_lint(struct model *m, const struct stmt *s)
{
    size_t kept = 0;
    for (size_t i = 0; i < m->source.diags.list.n; i++) {
        const struct diag *d = &m->source.diags.list.a[i];
        int same = d->level == DIAG_WARNING && d->at.line == s->rel->rhs->all.line &&
                   d->at.col == s->rel->rhs->all.col;
        if (!same) m->source.diags.list.a[kept++] = *d;
    }
    m->source.diags.list.n = kept;
}

/* The sd of a constant precision; 0: none. */
static double sd_of_precision(const struct stmt *s)
{
    for (int i = 0; s->rel->stochastic && i < s->ngiven; i++)
        if (s->dist && strcmp(s->dist->name, "normal") == 0 &&
            strcmp(s->formal[i].name, "tau") == 0 && s->given[i]->kind == T_NUMBER)
            return 1 / sqrt(s->given[i]->value);
    return 0;
}

/* "mu ~ dnorm(0, 0.01) (sd 10)"; 0: already reported. */
static int begin_blame(struct checker *c, const struct stmt *at, const char **text)
{
    struct model *m = c->m;
    if (c->blamed[at - m->ir.statements.a]) return 0;
    c->blamed[at - m->ir.statements.a] = 1;
    c->out->nproblem++;
    forget_lint(m, at);
    const char *lhs = source_text(m, at->rel->lhs->all), *rhs = source_text(m, at->rel->rhs->all);
    if (!lhs || !rhs) return 0;
    const char *arrow = at->rel->stochastic ? "~" : "<-";
    double sd = sd_of_precision(at);
    *text =
        sd > 0 ? diag_text(&m->source.diags, "%s %s %s (sd %s)", lhs, arrow, rhs, two_digits(m, sd))
               : diag_text(&m->source.diags, "%s %s %s", lhs, arrow, rhs);
    return *text != NULL;
}

/* A warning at the prior to change; once for each prior. */
static void blame(struct checker *c, int k, const struct stmt *prior, const char *what,
                  double share)
{
    struct model *m = c->m;
    const struct stmt *s = instance_stmt(m, k), *at = prior ? prior : s;
    const char *text, *advice = NULL;
    if (!begin_blame(c, at, &text)) return;
    if (at != s || !at->nref)
        advice = propose(c->m, at, scale_of(c, at), 1);
    else if (at->rel->stochastic)
        advice = "keep its arguments inside, by exp() or ilogit(), or by other priors";
    char often[32]; /* "48%", "0.3%" */
    snprintf(often, sizeof often, share < 0.01 ? "%.1f%%" : "%.0f%%", 100 * share);
    if (at == s)
        diag_warning(&m->source.diags, at->rel->lhs->all, advice, "%s %s in %s of its draws", text,
                     what, often);
    else
        diag_warning(&m->source.diags, at->rel->lhs->all, advice,
                     "%s is so wide that %s %s in %s of its draws", text,
                     source_text(m, s->rel->lhs->all), what, often);
}

/* ---- draws against data -------------------------------------------------------------- */

static void check_prior(struct checker *c, const struct stmt *s)
{
    struct model *m = c->m;
    const struct prior_scale *p = &c->scale[s - m->ir.statements.a];
    double times = times_too_wide(c, s);
    const char *text, *why, *often;
    if (times > 0 && times <= TOO_WIDE) forget_lint(m, s); /* wide, but not for these data */
    if (!(times > TOO_WIDE) || !begin_blame(c, s, &text)) return;
    if (!(why = scale_reason(m, p)) || !(often = two_digits(m, times))) return;
    diag_warning(&m->source.diags, s->rel->lhs->all, propose(c->m, s, scale_of(c, s), 0),
                 "%s %s %s times %s than %s (%s)", text,
                 p->role == PRIOR_LOCATION ? "is" : "allows sds", often,
                 p->role == PRIOR_LOCATION ? "wider" : "larger",
                 p->link ? "its link suggests" : "your data suggest", why);
}

/* Reports draws of an observed statement that are far wider than the data or far from them; without
   data, or for a latent, implausibly large draws. */
static void check_reach(struct checker *c, const struct stmt *s)
{
    struct model *m = c->m;
    const struct check_row *r = &c->out->row[c->row[s - m->ir.statements.a]];
    double width = (r->q95 - r->q05) / 2 / Z95;
    const char *text, *lhs = source_text(m, s->rel->lhs->all);
    const struct stmt *at = s;
    if (r->num_data && s->dist && !domains[s->dist->domain].rank) {
        double times = width / r->data_sd;
        double off = fmax(r->data_mean - r->q95, r->q05 - r->data_mean);
        if (times > TOO_WIDE_DATA && !is_explained(c, s->first)) {
            const struct stmt *prior = vaguest(c, s->first + s->n - 1);
            at = prior ? prior : s;
            if (begin_blame(c, at, &text))
                diag_warning(&m->source.diags, at->rel->lhs->all,
                             at == s ? "narrow what it depends on"
                                     : propose(c->m, at, scale_of(c, at), 1),
                             "%s: draws of %s are %s times as wide as your data (sd %.2g)", text,
                             lhs ? lhs : "it", two_digits(m, times), r->data_sd);
        } else if (off > TOO_FAR * width && off > TOO_FAR * r->data_sd &&
                   !is_explained(c, s->first) && begin_blame(c, at, &text)) {
            diag_warning(&m->source.diags, s->rel->lhs->all,
                         "check units and constants, and widen or move the priors above it",
                         "your data (mean %.3g, sd %.2g) are far from all draws of %s (%.3g to "
                         "%.3g)",
                         r->data_mean, r->data_sd, lhs ? lhs : "it", r->q05, r->q95);
        }
    } else if (r->huge > MANY && !is_explained(c, s->first)) {
        blame(c, s->first + s->n - 1, s->nref ? vaguest(c, s->first + s->n - 1) : NULL,
              "is beyond 1e12", r->huge);
    }
}

/* ---- values that are no numbers ------------------------------------------------------ */

/* To be called in sampling order; a draw that failed is ignored for all later statements. */
static void check_values(struct checker *c, int k)
{
    const struct model *m = c->m;
    const struct stmt *s = instance_stmt(m, k);
    size_t nan = 0, inf = 0, small = 0, alive = 0;
    int lo_open = s->dist && domains[s->dist->domain].lo_open && domains[s->dist->domain].lo == 0 &&
                  domains[s->dist->domain].rank == 0;
    for (size_t i = 0; i < c->n; i++) {
        int is_nan = 0, is_inf = 0, is_small = 0;
        if (c->dead[i]) continue;
        alive++;
        for (int j = m->ir.first_defined[k]; j < m->ir.first_defined[k + 1]; j++) {
            double x = row_of(c, m->ir.defined[j])[i];
            is_nan |= isnan(x) != 0;
            is_inf |= fabs(x) > 1e300;
            is_small |= lo_open && x < 1e-300;
        }
        nan += (size_t)is_nan, inf += (size_t)is_inf, small += (size_t)is_small;
        c->dead[i] = (unsigned char)(is_nan | is_inf | is_small);
    }
    if (!alive) return;
    double n = (double)alive;
    const struct stmt *prior = NULL;
    if ((double)(nan + inf) > RARE * n) prior = vaguest(c, k);
    if ((double)small > RARE * n)
        blame(c, k, NULL, "underflows to 0", (double)small / n);
    else if ((double)nan > RARE * n)
        blame(c, k, prior,
              s->rel->stochastic ? "gets parameters outside of their support" : "is not a number",
              (double)nan / n);
    else if ((double)inf > RARE * n)
        blame(c, k, prior, "overflows", (double)inf / n);
}

/* ---- observations that say nothing ----------------------------------------------------- */

/* The number of trials of an instance; infinite if not applicable or not constant. */
static double trials(struct model *m, const struct stmt *s, int k)
{
    double n = INFINITY;
    if (strcmp(s->dist->name, "binomial") != 0 ||
        eval_scalar(m, s->arg[0], instance_counter(m, k), &n) != IS_CONST)
        return INFINITY;
    return n;
}

/* Are the data also at 0 or at their maximum? */
static int saturated_data(struct model *m, const struct stmt *s)
{
    int n = 0, at_edge = 0;
    for (int k = s->first; k < s->first + s->n; k++) {
        int e = m->ir.defined[m->ir.first_defined[k]];
        if (!m->ir.observed[e] || value_is_missing(m->ir.value[e])) continue;
        n++;
        at_edge += m->ir.value[e] <= 0 || m->ir.value[e] >= trials(m, s, k);
    }
    return n && at_edge > 0.8 * n;
}

/* Counts that are nearly all at 0 or at n; binary plates that are all equal: a binomial of one
   trial is binary, too. */
static void check_saturation(struct checker *c, const struct stmt *s)
{
    struct model *m = c->m;
    size_t at_edge = 0, all = 0;
    int binary = s->dist && s->dist->domain == BINARY, observed = 0;
    if (!s->dist || domains[s->dist->domain].rank || !domains[s->dist->domain].discrete) return;
    if (s->dist->domain == INDEX) return;
    double most = 0, *limit = new_array(double, s->n);
    if (!limit) {
        m->source.diags.oom = 1;
        return;
    }
    for (int k = s->first; k < s->first + s->n; k++) {
        observed += m->ir.observed[m->ir.defined[m->ir.first_defined[k]]];
        limit[k - s->first] = trials(m, s, k);
        most = fmax(most, limit[k - s->first]);
    }
    binary |= most <= 1;
    if (!observed || (binary ? s->n < 8 : saturated_data(m, s))) {
        free(limit);
        return;
    }
    for (size_t i = 0; i < c->n; i++) {
        double sum = 0;
        if (c->dead[i]) continue;
        for (int k = s->first; k < s->first + s->n; k++) {
            double x = row_of(c, m->ir.defined[m->ir.first_defined[k]])[i];
            sum += x;
            if (binary || limit[k - s->first] <= 1) continue;
            at_edge += x <= 0 || x >= limit[k - s->first];
            all++;
        }
        if (binary) at_edge += sum == 0 || sum == s->n, all++;
    }
    free(limit);
    if (!all || (double)at_edge <= MOST * (double)all) return;
    const struct stmt *prior = vaguest(c, s->first);
    blame(c, s->first, prior, binary ? "is all 0 or all 1" : "is at 0 or at its maximum",
          (double)at_edge / (double)all);
}

/* ---- what is never used, or never informed ----------------------------------------------- */

static void check_constants(struct checker *c)
{
    struct model *m = c->m;
    for (size_t i = 0; i < m->ir.arrays.n; i++) {
        const struct array *a = &m->ir.arrays.a[i];
        if (!a->is_const || a->used || a->defined) continue;
        c->out->nproblem++;
        diag_warning(&m->source.diags, a->decl->ref->all,
                     "drop it, or check the spelling where it should be used",
                     "const %s is never used", a->name);
    }
}

/* A latent is informed if it or an ancestor of it has an observed descendant. */
static void check_informed(struct checker *c, unsigned char *mark)
{
    struct model *m = c->m;
    const struct dag *g = &m->ir.bn->dag;
    int *order = raw_array(int, g->n), any = 0;
    if (!order || dag_toposort(g, order) != g->n) { /* the graph has no cycles: no memory */
        m->source.diags.oom = 1;
        free(order);
        return;
    }
    for (int i = g->n - 1; i >= 0; i--) {
        int v = order[i];
        if (m->ir.bn->node.a[v].observed) mark[v] = 1, any = 1;
        if (mark[v])
            for_parents (g, v, u) mark[u] = 1;
    }
    for (int i = 0; i < g->n; i++)
        for_parents (g, order[i], u) mark[order[i]] |= mark[u];
    free(order);
    for (size_t i = 0; i < m->ir.statements.n && any; i++) {
        const struct stmt *s = &m->ir.statements.a[i];
        struct str name = {0};
        int k = s->first;
        if (!s->rel->stochastic) continue;
        while (k < s->first + s->n && mark[m->ir.node[k]]) k++;
        if (k == s->first + s->n) continue;
        inst_name(m, k, &name);
        c->out->nproblem++;
        diag_warning(
            &m->source.diags, s->lhs->all, "drop it, or observe something that depends on it",
            "no observation informs %s: its posterior is its prior", name.s ? name.s : "this");
        m->source.diags.oom |= name.oom;
        str_free(&name);
    }
}

/* ---- all of it ------------------------------------------------------------------------- */

/* Summarizes the draws of a statement; quantiles from at most 20,000 values. */
static int describe(struct checker *c, const struct stmt *s, struct check_row *r)
{
    const struct model *m = c->m;
    struct moments mo = moments_of(c, s);
    int a = m->ir.first_defined[s->first], n = m->ir.first_defined[s->first + s->n] - a;
    size_t all = (size_t)n * c->n, step = all / 20000 + 1, k = 0, bad[2] = {0}, huge = 0;
    double *v = raw_array(double, all / step + 1);
    if (!v) return NAMI_ENOMEM;
    for (size_t i = 0; i < all; i += step) {
        double x = row_of(c, m->ir.defined[a + (int)(i / c->n)])[i % c->n];
        if (isfinite(x))
            v[k++] = x;
        else
            bad[isinf(x) != 0]++;
        huge += fabs(x) > HUGE_VALUE;
    }
    sort_doubles(v, k);
    *r = (struct check_row){.stmt = (int)(s - m->ir.statements.a), .mean = mo.mean, .sd = mo.sd};
    if (k) r->q05 = v[k / 20], r->q50 = v[k / 2], r->q95 = v[k - 1 - k / 20];
    double looked = (double)(k + bad[0] + bad[1]);
    r->nan = (double)bad[0] / looked;
    r->inf = (double)bad[1] / looked;
    r->huge = (double)huge / looked;
    r->num_data = response_data(m, s, &r->data_mean, &r->data_sd);
    free(v);
    return 0;
}

/* Instances in sampling order (by level). */
static int *sampling_order(const struct model *m)
{
    int deepest = 0, *order = raw_array(int, m->ir.num_instances), *count;
    for (int k = 0; k < m->ir.num_instances; k++)
        deepest = m->ir.level[k] > deepest ? m->ir.level[k] : deepest;
    count = new_array(int, deepest + 3);
    if (order && count) {
        for (int k = 0; k < m->ir.num_instances; k++) count[m->ir.level[k] + 2]++;
        for (int l = 0; l <= deepest + 1; l++) count[l + 1] += count[l];
        for (int k = 0; k < m->ir.num_instances; k++) order[count[m->ir.level[k] + 1]++] = k;
    } else {
        free(order);
        order = NULL;
    }
    free(count);
    return order;
}

/* Computes rows and sizes first: messages refer to them. */
static int measure(struct checker *c)
{
    struct model *m = c->m;
    int rc = 0;
    for (size_t i = 0; i < m->ir.statements.n && !rc; i++) {
        c->row[i] = -1;
        if (!m->ir.statements.a[i].rel->stochastic || !m->ir.statements.a[i].n) continue;
        c->row[i] = c->out->nrow++;
        rc = describe(c, &m->ir.statements.a[i], &c->out->row[c->row[i]]);
    }
    return rc ? rc : model_prior_scales(m, c->scale);
}

static int look(struct checker *c)
{
    struct model *m = c->m;
    int *order = sampling_order(m), rc = measure(c);
    unsigned char *mark = new_array(unsigned char, bn_n(m->ir.bn));
    if (!order || !mark) rc = NAMI_ENOMEM;
    for (int i = 0; i < m->ir.num_instances && !rc; i++)
        if (m->ir.level[order[i]] >= 0) check_values(c, order[i]);
    for (size_t i = 0; i < m->ir.statements.n && !rc; i++)
        if (c->row[i] >= 0) check_saturation(c, &m->ir.statements.a[i]);
    for (size_t i = 0; i < m->ir.statements.n && !rc; i++)
        if (c->row[i] >= 0) check_prior(c, &m->ir.statements.a[i]);
    for (size_t i = 0; i < m->ir.statements.n && !rc; i++)
        if (c->row[i] >= 0) check_reach(c, &m->ir.statements.a[i]);
    if (!rc) check_constants(c), check_informed(c, mark);
    c->out->without_data = 1;
    for (int i = 0; i < c->out->nrow; i++)
        if (c->out->row[i].num_data) c->out->without_data = 0;
    free(order);
    free(mark);
    return rc;
}

int model_check(const struct model *m, size_t n, uint64_t seed, int training, int threads,
                struct check *out, nami_err *err)
{
    struct model copy = working_copy(m);
    struct checker c = {.m = &copy, .n = n, .out = out};
    *out = (struct check){.n = n, .row = new_array(struct check_row, m->ir.statements.n + 1)};
    training |= m->ir.improper;
    out->training = training && model_has_train_priors(m);
    c.x = raw_array(double, (size_t)m->ir.num_rows *n);
    c.dead = new_array(unsigned char, n);
    c.blamed = new_array(unsigned char, m->ir.statements.n);
    c.scale = new_array(struct prior_scale, m->ir.statements.n);
    c.row = new_array(int, m->ir.statements.n);
    int rc = !c.x || !c.dead || !c.blamed || !c.scale || !c.row || !out->row ? err_nomem(err) : 0;
    if (!rc)
        rc = training ? model_simulate_training(m, seed, 0, n, threads, c.x, err)
                      : model_simulate(m, seed, 0, n, threads, c.x, err);
    if (!rc &&
        (diags_copy(&copy.source.diags, &m->source.diags) || look(&c) || copy.source.diags.oom))
        rc = err_nomem(err);
    out->diags = copy.source.diags;
    copy.source.diags = (struct diags){0};
    working_copy_fini(&copy);
    free(c.x);
    free(c.dead);
    free(c.blamed);
    free(c.scale);
    free(c.row);
    return rc;
}

void check_fini(struct check *c)
{
    free(c->row);
    diags_free(&c->diags);
    *c = (struct check){0};
}
