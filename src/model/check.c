#include "model/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "model/eval.h"
#include "model/lang/lang.h"

/* Beyond these shares of draws something is wrong. */
static const double RARE = 0.002, MOST = 0.95;

struct checker {
    struct model *m;
    size_t n;
    double *x;             /* all rows, n draws each */
    unsigned char *dead;   /* by draw: something before was not a number */
    unsigned char *blamed; /* by statement: said already */
    struct check *out;
};

#define row_of(c, e)  ((c)->x + (size_t)(c)->m->row[e] * (c)->n)
#define stmt_of(m, k) (&(m)->stmt.a[(m)->inst_stmt[k]])

/* ---- vague priors ------------------------------------------------------------------ */

struct moments {
    double mean, sd, small; /* share of values that underflowed to the edge of the support */
    size_t n;
};

static struct moments moments_of(const struct checker *c, const struct stmt *s)
{
    struct moments r = {0};
    double sum = 0, sum2 = 0;
    size_t at_edge = 0, all = 0;
    for (int k = s->first; k < s->first + s->n; k++)
        for (int j = c->m->lhs_off[k]; j < c->m->lhs_off[k + 1]; j++) {
            const double *x = row_of(c, c->m->lhs[j]);
            for (size_t i = 0; i < c->n; i++) {
                all++;
                if (!isfinite(x[i])) continue;
                sum += x[i], sum2 += x[i] * x[i];
                r.n++;
                at_edge += s->dist && domains[s->dist->domain].lo_open && fabs(x[i]) < 1e-300;
            }
        }
    if (r.n) r.mean = sum / (double)r.n;
    if (r.n) r.sd = isfinite(sum2) ? sqrt(fmax(0, sum2 / (double)r.n - r.mean * r.mean)) : INFINITY;
    if (all) r.small = (double)at_edge / (double)all;
    return r;
}

/* A better prior of its family, in the names that its author uses; NULL: none. */
static const char *proposal(const struct stmt *s)
{
    if (!s->dist) return NULL;
    const struct dist_alias *a = alias_find(s->name);
    int jags = a && strcmp(a->whose, "JAGS") == 0;
    return jags && s->dist->mild_jags ? s->dist->mild_jags : s->dist->mild;
}

static const char *propose(struct model *m, const struct stmt *s)
{
    const char *better = proposal(s), *lhs = source_text(m, s->rel->lhs->all);
    if (!better || !lhs) return "choose a narrower prior";
    return diag_text(&m->diags, "say what you know, such as %s ~ %s", lhs, better);
}

/* Is its spread so wide that whatever depends on it is at the mercy of it? */
static double vagueness(const struct checker *c, const struct stmt *s)
{
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

static int push_read(const struct model *m, struct search *q, int k)
{
    const struct stmt *s = stmt_of(m, k);
    int i = k - s->first, some = 0;
    for (int r = 0; r < s->nref; r++)
        for (int j = s->foot[r].off[i]; j < s->foot[r].off[i + 1]; j++) {
            int e = s->foot[r].elem[j], v = m->owner[e];
            if (m->state[e] != E_RANDOM) continue;
            some = 1;
            if (q->seen[v]) continue;
            q->seen[v] = 1;
            if (vec_push(&q->stack, v)) return -1;
        }
    return some;
}

/* The vaguest of the priors that instance k depends on, or NULL. */
static const struct stmt *vaguest(const struct checker *c, int k)
{
    const struct model *m = c->m;
    struct search q = {.seen = new_array(unsigned char, m->ninst)};
    const struct stmt *best = NULL;
    double most = 10;
    if (q.seen && push_read(m, &q, k) > 0)
        while (q.stack.n) {
            int v = q.stack.a[--q.stack.n];
            const struct stmt *s = stmt_of(m, v);
            if (push_read(m, &q, v) || !s->rel->stochastic || s == best) continue;
            double w = vagueness(c, s);
            if (w > most) most = w, best = s;
        }
    free(q.seen);
    vec_free(&q.stack);
    return best;
}

/* A warning at the prior to change; once for each prior. */
static void blame(struct checker *c, int k, const struct stmt *prior, const char *what,
                  double share)
{
    struct model *m = c->m;
    const struct stmt *s = stmt_of(m, k), *at = prior ? prior : s;
    const char *lhs, *rhs;
    if (c->blamed[at - m->stmt.a]) return;
    c->blamed[at - m->stmt.a] = 1;
    c->out->nproblem++;
    lhs = source_text(m, at->rel->lhs->all);
    rhs = source_text(m, at->rel->rhs->all);
    if (!lhs || !rhs) return;
    const char *arrow = at->rel->stochastic ? "~" : "<-", *advice = NULL;
    if (at != s || !at->nref)
        advice = propose(m, at);
    else if (at->rel->stochastic)
        advice = "keep its arguments inside, by exp() or ilogit(), or by other priors";
    char often[32]; /* "48%", "0.3%" */
    snprintf(often, sizeof often, share < 0.01 ? "%.1f%%" : "%.0f%%", 100 * share);
    if (at == s)
        diag_warning(&m->diags, at->rel->lhs->all, advice, "%s %s %s %s in %s of its draws", lhs,
                     arrow, rhs, what, often);
    else
        diag_warning(&m->diags, at->rel->lhs->all, advice,
                     "%s %s %s is so wide that %s %s in %s of its draws", lhs, arrow, rhs,
                     source_text(m, s->rel->lhs->all), what, often);
}

/* ---- values that are no numbers ------------------------------------------------------ */

/* Instances in the order of sampling; a draw that failed once says nothing about the
   statements after it. */
static void check_values(struct checker *c, int k)
{
    const struct model *m = c->m;
    const struct stmt *s = stmt_of(m, k);
    size_t nan = 0, inf = 0, small = 0, alive = 0;
    int lo_open = s->dist && domains[s->dist->domain].lo_open && domains[s->dist->domain].lo == 0 &&
                  domains[s->dist->domain].rank == 0;
    for (size_t i = 0; i < c->n; i++) {
        int is_nan = 0, is_inf = 0, is_small = 0;
        if (c->dead[i]) continue;
        alive++;
        for (int j = m->lhs_off[k]; j < m->lhs_off[k + 1]; j++) {
            double x = row_of(c, m->lhs[j])[i];
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

/* Counts that are nearly all at 0 or at n; binary plates that are all equal. */
static void check_saturation(struct checker *c, const struct stmt *s)
{
    const struct model *m = c->m;
    size_t at_edge = 0, all = 0;
    int binary = s->dist && s->dist->domain == BINARY, observed = 0;
    if (!s->dist || domains[s->dist->domain].rank || !domains[s->dist->domain].discrete) return;
    if (s->dist->domain == INDEX || (binary && s->n < 8)) return;
    for (int k = s->first; k < s->first + s->n; k++) observed += m->observed[m->lhs[m->lhs_off[k]]];
    if (!observed) return;
    for (size_t i = 0; i < c->n; i++) {
        double sum = 0;
        if (c->dead[i]) continue;
        for (int k = s->first; k < s->first + s->n; k++) {
            double x = row_of(c, m->lhs[m->lhs_off[k]])[i], hi = INFINITY;
            sum += x;
            if (binary) continue;
            if (strcmp(s->dist->name, "binomial") == 0 &&
                eval_scalar(c->m, s->arg[0], inst_counter(m, k), &hi) != IS_CONST)
                hi = INFINITY;
            at_edge += x <= 0 || x >= hi;
            all++;
        }
        if (binary) at_edge += sum == 0 || sum == s->n, all++;
    }
    if (!all || (double)at_edge <= MOST * (double)all) return;
    const struct stmt *prior = vaguest(c, s->first);
    blame(c, s->first, prior, binary ? "is all 0 or all 1" : "is at 0 or at its maximum",
          (double)at_edge / (double)all);
}

/* ---- what is never used, or never informed ----------------------------------------------- */

static void check_constants(struct checker *c)
{
    struct model *m = c->m;
    for (size_t i = 0; i < m->array.n; i++) {
        const struct array *a = &m->array.a[i];
        if (!a->is_const || a->used || a->defined) continue;
        c->out->nproblem++;
        diag_warning(&m->diags, a->decl->ref->all,
                     "drop it, or check the spelling where it should be used",
                     "const %s is never used", a->name);
    }
}

/* A latent is informed if it or an ancestor of it has an observed descendant. */
static void check_informed(struct checker *c, unsigned char *mark)
{
    struct model *m = c->m;
    const struct dag *g = &m->bn->dag;
    int *order = raw_array(int, g->n), any = 0;
    if (!order || dag_toposort(g, order) != g->n) {
        free(order);
        return;
    }
    for (int i = g->n - 1; i >= 0; i--) {
        int v = order[i];
        if (m->bn->node.a[v].observed) mark[v] = 1, any = 1;
        if (mark[v])
            for_parents (g, v, u) mark[u] = 1;
    }
    for (int i = 0; i < g->n; i++)
        for_parents (g, order[i], u) mark[order[i]] |= mark[u];
    free(order);
    for (size_t i = 0; i < m->stmt.n && any; i++) {
        const struct stmt *s = &m->stmt.a[i];
        struct str name = {0};
        int k = s->first;
        if (!s->rel->stochastic) continue;
        while (k < s->first + s->n && mark[m->node[k]]) k++;
        if (k == s->first + s->n) continue;
        inst_name(m, k, &name);
        c->out->nproblem++;
        diag_warning(&m->diags, s->lhs->all, "drop it, or observe something that depends on it",
                     "no observation informs %s: its posterior is its prior",
                     name.s ? name.s : "this");
        str_free(&name);
    }
}

/* ---- all of it ------------------------------------------------------------------------- */

/* What the draws of a statement look like; at most 20,000 values are sorted. */
static int describe(struct checker *c, const struct stmt *s, struct check_row *r)
{
    const struct model *m = c->m;
    struct moments mo = moments_of(c, s);
    int a = m->lhs_off[s->first], n = m->lhs_off[s->first + s->n] - a;
    size_t all = (size_t)n * c->n, step = all / 20000 + 1, k = 0, bad[2] = {0};
    double *v = raw_array(double, all / step + 1);
    if (!v) return NAMI_ENOMEM;
    for (size_t i = 0; i < all; i += step) {
        double x = row_of(c, m->lhs[a + (int)(i / c->n)])[i % c->n];
        if (isfinite(x))
            v[k++] = x;
        else
            bad[isinf(x) != 0]++;
    }
    sort_doubles(v, k);
    *r = (struct check_row){.stmt = (int)(s - m->stmt.a), .mean = mo.mean, .sd = mo.sd};
    if (k) r->q05 = v[k / 20], r->q50 = v[k / 2], r->q95 = v[k - 1 - k / 20];
    double looked = (double)(k + bad[0] + bad[1]);
    r->nan = (double)bad[0] / looked;
    r->inf = (double)bad[1] / looked;
    free(v);
    return 0;
}

/* Instances by level: the order of sampling. */
static int *sampling_order(const struct model *m)
{
    int deepest = 0, *order = raw_array(int, m->ninst), *count;
    for (int k = 0; k < m->ninst; k++) deepest = m->level[k] > deepest ? m->level[k] : deepest;
    count = new_array(int, deepest + 3);
    if (order && count) {
        for (int k = 0; k < m->ninst; k++) count[m->level[k] + 2]++;
        for (int l = 0; l <= deepest + 1; l++) count[l + 1] += count[l];
        for (int k = 0; k < m->ninst; k++) order[count[m->level[k] + 1]++] = k;
    } else {
        free(order);
        order = NULL;
    }
    free(count);
    return order;
}

static int look(struct checker *c)
{
    struct model *m = c->m;
    int *order = sampling_order(m), rc = 0;
    unsigned char *mark = new_array(unsigned char, bn_n(m->bn));
    if (!order || !mark) rc = NAMI_ENOMEM;
    for (int i = 0; i < m->ninst && !rc; i++)
        if (m->level[order[i]] >= 0) check_values(c, order[i]);
    for (size_t i = 0; i < m->stmt.n && !rc; i++)
        if (m->stmt.a[i].rel->stochastic && m->stmt.a[i].n) check_saturation(c, &m->stmt.a[i]);
    for (size_t i = 0; i < m->stmt.n && !rc; i++)
        if (m->stmt.a[i].rel->stochastic && m->stmt.a[i].n)
            rc = describe(c, &m->stmt.a[i], &c->out->row[c->out->nrow++]);
    if (!rc) check_constants(c), check_informed(c, mark);
    free(order);
    free(mark);
    return rc;
}

int model_check(struct model *m, size_t n, uint64_t seed, int threads, struct check *out,
                nami_err *err)
{
    struct checker c = {.m = m, .n = n, .out = out};
    *out = (struct check){.n = n, .row = arena_array(&m->mem, struct check_row, m->stmt.n + 1)};
    c.x = raw_array(double, (size_t)m->nrow *n);
    c.dead = new_array(unsigned char, n);
    c.blamed = new_array(unsigned char, m->stmt.n);
    int rc = !c.x || !c.dead || !c.blamed || !out->row ? err_nomem(err) : 0;
    if (!rc) rc = model_simulate(m, seed, 0, n, threads, c.x, err);
    if (!rc && (look(&c) || m->diags.oom)) rc = err_nomem(err);
    free(c.x);
    free(c.dead);
    free(c.blamed);
    return rc;
}
