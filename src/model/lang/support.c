/* support.c: checks arguments and values against the domains and supports of distributions. */
#include "model/lang/lang.h"

static const struct {
    enum domain d;
    const char *advice;
} cures[] = {
    {POSITIVE, "give %s a positive prior, such as %s ~ gamma(2, 1)"},
    {NONNEGATIVE, "give %s a positive prior, such as %s ~ gamma(2, 1)"},
    {UNIT, "give %s a prior on [0, 1], such as %s ~ beta(2, 2), or use ilogit()"},
    {POSITIVES, "give %s a positive prior, such as %s ~ gamma(2, 1)"},
    {WEIGHTS, "give %s a positive prior, such as %s ~ gamma(2, 1)"},
    {OPEN_UNIT, "give %s a prior on (0, 1), such as %s ~ beta(2, 2), or use ilogit()"},
};

static const char *cure(struct model *m, enum domain d, const char *name)
{
    for (size_t i = 0; i < sizeof cures / sizeof *cures; i++)
        if (cures[i].d == d)
            return strchr(cures[i].advice, '%')
                       ? diag_text(&m->source.diags, cures[i].advice, name, name)
                       : NULL;
    return NULL;
}

/* ---- ranks and sizes -------------------------------------------------------------- */

static const char *const rank_names[] = {"a single number", "a vector", "a square matrix"};

static int check_rank(struct model *m, const struct stmt *s, int i, const int *shape)
{
    const struct term *t = s->given[i];
    int rank = domains[s->formal[i].domain].rank, n = 1, ok;
    for (int k = 0; k < shape[0]; k++) n *= shape[k + 1];
    if (rank == 0)
        ok = n == 1;
    else if (rank == 1)
        ok = shape[0] <= 1 || n == shape[1] || n == shape[shape[0]];
    else
        ok = n == 1 || (shape[0] == 2 && shape[1] == shape[2]);
    if (ok) return 1;
    struct str is = {0};
    for (int k = 0; k < shape[0]; k++) str_printf(&is, k ? " x %d" : "%d", shape[k + 1]);
    diag_error(&m->source.diags, t->all, NULL, "%s of %s() must be %s, but this has %s elements",
               s->formal[i].name, s->name, rank_names[rank], is.s ? is.s : "");
    str_free(&is);
    return 0;
}

static int check_size(struct model *m, const struct stmt *s, int k)
{
    int shape[DIST_ARGS][SHAPE], n, have = m->ir.first_defined[k + 1] - m->ir.first_defined[k];
    const int *counter = instance_counter(m, k);
    for (int i = 0; i < s->ngiven; i++) {
        int one[SHAPE], rc = term_shape(m, s->given[i], counter, one);
        if (rc) return rc;
        if (!check_rank(m, s, i, one)) return IS_WRONG;
    }
    int rc = dist_size(m, s, counter, shape, &n);
    if (rc || n == have) return rc;
    struct str name = {0};
    inst_name(m, k, &name);
    if (n == 1)
        diag_error(&m->source.diags, s->lhs->all, "use a loop: for (i in 1:n) { x[i] ~ ... }",
                   "%s() gives a single number, but %s has %d elements", s->name,
                   name.s ? name.s : "this", have);
    else
        diag_error(&m->source.diags, s->lhs->all, NULL, "%s() gives %d elements, but %s has %d",
                   s->name, n, name.s ? name.s : "this", have);
    str_free(&name);
    return IS_WRONG;
}

/* ---- supports ---------------------------------------------------------------------- */

/* Describes how a range violates a domain: *certain if it does so entirely. NULL: it does not. */
static const char *outside(const struct domain_info *d, struct range r, int *certain)
{
    *certain = 1;
    if (r.hi < d->lo || (d->lo_open && r.hi <= d->lo))
        return d->lo != 0 ? "too small" : r.lo == 0 ? "zero" : "negative";
    if (r.lo > d->hi || (d->hi_open && r.lo >= d->hi && isfinite(d->hi)))
        return d->hi == 1 ? "greater than 1" : "too large";
    *certain = 0;
    if (r.lo < d->lo) return d->lo == 0 ? "negative" : d->lo == 1 ? "less than 1" : "too small";
    if (r.hi > d->hi) return d->hi == 1 ? "greater than 1" : "too large";
    return NULL;
}

static int check_constant(struct model *m, const struct stmt *s, int i, const struct cval *v)
{
    enum domain d = s->formal[i].domain;
    for (int k = 0; k < v->n; k++)
        if (value_is_missing(v->x[k])) return 1; /* structure only */
    if (domain_holds(d, v->x, v->n)) return 1;
    if (v->n == 1)
        diag_error(&m->source.diags, s->given[i]->all, NULL, "%s of %s() must be %s, but it is %g",
                   s->formal[i].name, s->name, domains[d].what, v->x[0]);
    else
        diag_error(&m->source.diags, s->given[i]->all,
                   d == SIMPLEX ? "divide by its sum: x / sum(x)" : NULL, "%s of %s() must be %s",
                   s->formal[i].name, s->name, domains[d].what);
    return 0;
}

/* The element itself, or the one that it copies: s <- x. */
static int original(const struct model *m, int e)
{
    for (;;) {
        int k = m->ir.defined_by[e];
        if (m->ir.state[e] != E_RANDOM || k < 0) return e;
        const struct stmt *s = instance_stmt(m, k);
        if (s->rel->stochastic || s->rhs->kind != T_REF) return e;
        const struct foot *f = &s->foot[s->rhs->ref];
        int i = k - s->first;
        if (f->off[i + 1] - f->off[i] != 1 || f->pick[i]) return e;
        e = f->elem[f->off[i]];
    }
}

/* The element that argument i refers to, if its prior allows values outside of the domain;
   otherwise -1. */
static int offender(struct model *m, const struct stmt *s, int i, int k, const char **word)
{
    const struct term *t = s->given[i];
    int certain;
    if (t->kind != T_REF) return -1;
    const struct foot *f = &s->foot[t->ref];
    for (int j = f->off[k - s->first]; j < f->off[k - s->first + 1]; j++) {
        int e = original(m, f->elem[j]);
        if (m->ir.state[e] != E_RANDOM || m->ir.defined_by[e] < 0) continue;
        if (!instance_stmt(m, m->ir.defined_by[e])->rel->stochastic) continue;
        if ((*word = outside(&domains[s->formal[i].domain], elem_range(m, e), &certain))) return e;
    }
    return -1;
}

/* A random argument: x of normal(mu, x), whose support is known; or 1 + exp(x), if it is always
   invalid. Possible violations according to interval arithmetic are left to the prior predictive
   check. */
static int check_variable(struct model *m, const struct stmt *s, int i, int k)
{
    const struct term *t = s->given[i];
    enum domain d = s->formal[i].domain;
    const char *word;
    int certain, e = offender(m, s, i, k, &word);
    if (e >= 0) {
        const struct stmt *by = instance_stmt(m, m->ir.defined_by[e]);
        struct str name = {0};
        syntax_put_expr(&m->source.syntax, by->rel->lhs, &name); /* as in its prior */
        const char *text = name.s ? name.s : "it";
        diag_error(&m->source.diags, t->all, cure(m, d, text),
                   "%s of %s() must be %s, but %s can be %s", s->formal[i].name, s->name,
                   domains[d].what, text, word);
        str_free(&name);
        return 0;
    }
    word = outside(&domains[d], term_range(m, t, instance_counter(m, k)), &certain);
    if (!word || !certain) return 1;
    diag_error(&m->source.diags, t->all, NULL, "%s of %s() must be %s, but this is %s",
               s->formal[i].name, s->name, domains[d].what, word);
    return 0;
}

static int check_args(struct model *m, const struct stmt *s, int k)
{
    const int *counter = instance_counter(m, k);
    for (int i = 0; i < s->ngiven; i++) {
        struct cval v = {0};
        int ok = 1, rc = eval_term(m, s->given[i], counter, &v);
        if (rc == IS_CONST) ok = check_constant(m, s, i, &v);
        if (rc == NOT_CONST && domains[s->formal[i].domain].rank < 2)
            ok = check_variable(m, s, i, k);
        cval_free(&v);
        if (rc < 0) return rc;
        if (!ok || rc == IS_WRONG) return IS_WRONG;
    }
    return 0;
}

/* T and I: only where the distribution function is known, and I only if it means T. */
static int check_trunc(struct model *m, const struct stmt *s, int k)
{
    struct diags *d = &m->source.diags;
    double lo;
    if (!s->rel->trunc) return 0;
    if (!s->dist->cdf || !s->dist->quantile || !s->dist->logp) {
        diag_error(d, s->rel->trunc_at, NULL, "%s() cannot be truncated", s->name);
        return IS_WRONG;
    }
    if (s->rel->trunc != 'T')
        for (int i = 0; i < s->ngiven; i++)
            if (s->rel->trunc == 'C' ||
                eval_scalar(m, s->given[i], instance_counter(m, k), &lo) == NOT_CONST) {
                diag_error(d, s->rel->trunc_at,
                           "observe the interval: k ~ dinterval(x, c(lower, upper)); or write T(,) for "
                           "a truncated distribution",
                           "%c( , ) means censoring here, which is not known for %s()", s->rel->trunc,
                           s->name);
                return IS_WRONG;
            }
    struct range r = elem_range(m, m->ir.defined[m->ir.first_defined[k]]);
    if (r.lo > r.hi || (r.lo == r.hi && !domains[s->dist->domain].discrete)) {
        diag_error(d, s->rel->trunc_at, NULL, "nothing of %s() lies between these bounds", s->name);
        return IS_WRONG;
    }
    return 0;
}

static int check_observed(struct model *m, const struct stmt *s, int k)
{
    int n = 0, have = m->ir.first_defined[k + 1] - m->ir.first_defined[k];
    for (int j = m->ir.first_defined[k]; j < m->ir.first_defined[k + 1]; j++)
        n += m->ir.observed[m->ir.defined[j]];
    if (n == 0 || n == have) return 0;
    struct str name = {0};
    inst_name(m, k, &name);
    diag_error(&m->source.diags, s->lhs->all, "give all of its elements or none",
               "%s is observed in part: %d of %d elements", name.s ? name.s : "this", n, have);
    str_free(&name);
    return IS_WRONG;
}

static int wrong_value(struct model *m, const struct stmt *s, int k, double x,
                       const struct range *r)
{
    static const char *const advice = "correct the data, or choose another distribution";
    const char *what = domains[s->dist->domain].what;
    struct str name = {0};
    inst_name(m, k, &name);
    const char *text = name.s ? name.s : "it";
    if (r)
        diag_error(&m->source.diags, s->lhs->all, advice,
                   "%s is %.10g in the data, but must lie between %.10g and %.10g", text, x, r->lo,
                   r->hi);
    else if (m->ir.first_defined[k + 1] - m->ir.first_defined[k] == 1)
        diag_error(&m->source.diags, s->lhs->all, advice,
                   "%s is %.10g in the data, but %s() gives %s", text, x, s->name, what);
    else
        diag_error(&m->source.diags, s->lhs->all, advice, "%s in the data is not %s", text, what);
    str_free(&name);
    return IS_WRONG;
}

/* Checks the values in the data against the distribution. */
static int check_values(struct model *m, const struct stmt *s, int k)
{
    int first = m->ir.first_defined[k], n = m->ir.first_defined[k + 1] - first, rc = 0;
    for (int j = 0; j < n; j++)
        if (!m->ir.observed[m->ir.defined[first + j]] ||
            value_is_missing(m->ir.value[m->ir.defined[first + j]]))
            return 0;
    double one = 0, *x = n == 1 ? &one : raw_array(double, n);
    if (!x) return NAMI_ENOMEM;
    for (int j = 0; j < n; j++) x[j] = m->ir.value[m->ir.defined[first + j]];
    if (!domain_holds(s->dist->domain, x, n)) rc = wrong_value(m, s, k, x[0], NULL);
    if (x != &one) free(x);
    if (rc || n != 1) return rc;
    struct range r = elem_range(m, m->ir.defined[first]);
    return one < r.lo || one > r.hi ? wrong_value(m, s, k, one, &r) : 0;
}

int model_supports(struct model *m)
{
    for (size_t i = 0; i < m->ir.statements.n; i++) {
        const struct stmt *s = &m->ir.statements.a[i];
        int rc = 0;
        if (!s->rel->stochastic) continue;
        for (int k = s->first; k < s->first + s->n && !rc; k++) {
            rc = check_observed(m, s, k);
            if (!rc && s->dist) {
                rc = check_size(m, s, k);
                if (!rc) rc = check_args(m, s, k);
                if (!rc) rc = check_trunc(m, s, k);
                if (!rc) rc = check_values(m, s, k);
            }
        }
        if (rc < 0) return rc;
    }
    return 0;
}
