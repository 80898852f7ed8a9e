/* support.c: do the arguments of a distribution fit it, and its value the left side? */
#include "model/lang/lang.h"

static const struct {
    enum domain d;
    const char *advice;
} cures[] = {
    {POSITIVE, "give %s a positive prior, such as %s ~ gamma(2, 1)"},
    {NONNEGATIVE, "give %s a positive prior, such as %s ~ gamma(2, 1)"},
    {UNIT, "give %s a prior on [0, 1], such as %s ~ beta(2, 2), or use ilogit()"},
    {OPEN_UNIT, "give %s a prior on (0, 1), such as %s ~ beta(2, 2), or use ilogit()"},
};

static const char *cure(struct model *m, enum domain d, const char *name)
{
    for (size_t i = 0; i < sizeof cures / sizeof *cures; i++)
        if (cures[i].d == d)
            return strchr(cures[i].advice, '%') ? diag_text(&m->diags, cures[i].advice, name, name) : NULL;
    return NULL;
}

/* ---- ranks and sizes -------------------------------------------------------------- */

static const char *const rank_names[] = {"a single number", "a vector", "a square matrix"};

static int check_rank(struct model *m, const struct stmt *s, int i, const int *shape)
{
    const struct term *t = s->given[i];
    int rank = domains[s->formal[i].domain].rank, n = 1, ok;
    for (int k = 0; k < shape[0]; k++) n *= shape[k + 1];
    if (rank == 0) ok = n == 1;
    else if (rank == 1) ok = shape[0] <= 1 || n == shape[1] || n == shape[shape[0]];
    else ok = n == 1 || (shape[0] == 2 && shape[1] == shape[2]);
    if (ok) return 1;
    struct str is = {0};
    for (int k = 0; k < shape[0]; k++) str_printf(&is, k ? " x %d" : "%d", shape[k + 1]);
    diag_error(&m->diags, t->all, NULL, "%s of %s() must be %s, but this has %s elements",
               s->formal[i].name, s->name, rank_names[rank], is.s ? is.s : "");
    str_free(&is);
    return 0;
}

static int check_size(struct model *m, const struct stmt *s, int k)
{
    int shape[DIST_ARGS][4], n, have = m->lhs_off[k + 1] - m->lhs_off[k];
    const int *counter = inst_counter(m, k);
    for (int i = 0; i < s->ngiven; i++) {
        int one[4], rc = term_shape(m, s->given[i], counter, one);
        if (rc) return rc;
        if (!check_rank(m, s, i, one)) return IS_WRONG;
    }
    int rc = dist_size(m, s, counter, shape, &n);
    if (rc || n == have) return rc;
    struct str name = {0};
    inst_name(m, k, &name);
    if (n == 1)
        diag_error(&m->diags, s->lhs->all, "use a loop: for (i in 1:n) { x[i] ~ ... }",
                   "%s() gives a single number, but %s has %d elements", s->name,
                   name.s ? name.s : "this", have);
    else
        diag_error(&m->diags, s->lhs->all, NULL, "%s() gives %d elements, but %s has %d", s->name, n,
                   name.s ? name.s : "this", have);
    str_free(&name);
    return IS_WRONG;
}

/* ---- supports ---------------------------------------------------------------------- */

static int outside_word(const struct domain_info *d, struct range r, const char **word)
{
    if (r.lo < d->lo) {
        *word = d->lo == 0 ? "negative" : d->lo == 1 ? "less than 1" : "too small";
        return 1;
    }
    if (d->lo_open && r.lo == d->lo && r.hi == d->lo) {
        *word = "zero";
        return 1;
    }
    if (r.hi > d->hi) {
        *word = d->hi == 1 ? "greater than 1" : "too large";
        return 1;
    }
    return 0;
}

static int check_constant(struct model *m, const struct stmt *s, int i, const struct cval *v)
{
    enum domain d = s->formal[i].domain;
    for (int k = 0; k < v->n; k++)
        if (value_is_missing(v->x[k])) return 1; /* structure only */
    if (domain_holds(d, v->x, v->n)) return 1;
    if (v->n == 1)
        diag_error(&m->diags, s->given[i]->all, NULL, "%s of %s() must be %s, but it is %g",
                   s->formal[i].name, s->name, domains[d].name, v->x[0]);
    else
        diag_error(&m->diags, s->given[i]->all, NULL, "%s of %s() must be %s", s->formal[i].name, s->name,
                   domains[d].name);
    return 0;
}

/* A bare random variable, whose support is known: x of normal(mu, x). */
static int check_variable(struct model *m, const struct stmt *s, int i, const int *counter)
{
    const struct term *t = s->given[i];
    enum domain d = s->formal[i].domain;
    const char *word;
    struct range r = term_range(m, t, counter);
    if (!outside_word(&domains[d], r, &word)) return 1;
    int certain = r.hi < domains[d].lo || r.lo > domains[d].hi;
    if (t->kind != T_REF && !certain) return 1; /* nami check will see */
    const char *name = t->kind == T_REF ? m->array.a[t->array].name : "this";
    if (t->kind == T_REF && !certain) { /* only what has a prior of its own */
        const struct array *a = &m->array.a[t->array];
        int e = a->first;
        if (m->owner[e] < 0 || !m->stmt.a[m->inst_stmt[m->owner[e]]].rel->stochastic) return 1;
    }
    diag_error(&m->diags, t->all, t->kind == T_REF ? cure(m, d, name) : NULL,
               "%s of %s() must be %s, but %s %s %s", s->formal[i].name, s->name, domains[d].name, name,
               certain ? "is" : "can be", word);
    return 0;
}

static int check_args(struct model *m, const struct stmt *s, int k)
{
    const int *counter = inst_counter(m, k);
    for (int i = 0; i < s->ngiven; i++) {
        struct cval v = {0};
        int ok = 1, rc = eval_term(m, s->given[i], counter, &v);
        if (rc == IS_CONST) ok = check_constant(m, s, i, &v);
        if (rc == NOT_CONST && domains[s->formal[i].domain].rank == 0)
            ok = check_variable(m, s, i, counter);
        cval_free(&v);
        if (rc < 0) return rc;
        if (!ok || rc == IS_WRONG) return IS_WRONG;
    }
    return 0;
}

/* T and I: only where the distribution function is known, and I only if it means T. */
static int check_trunc(struct model *m, const struct stmt *s, int k)
{
    struct diags *d = &m->diags;
    double lo, hi;
    if (!s->rel->trunc) return 0;
    if (!s->dist->cdf || !s->dist->quantile || !s->dist->logp) {
        diag_error(d, s->rel->trunc_at, NULL, "%s() cannot be truncated", s->name);
        return IS_WRONG;
    }
    if (s->rel->trunc == 'I')
        for (int i = 0; i < s->ngiven; i++)
            if (eval_scalar(m, s->given[i], inst_counter(m, k), &lo) == NOT_CONST) {
                diag_error(d, s->rel->trunc_at,
                           "write T(,) for a truncated distribution; model censored data by their own "
                           "indicator",
                           "I(,) with unknown parameters is neither truncation nor censoring");
                return IS_WRONG;
            }
    if (s->lower && s->upper && eval_scalar(m, s->lower, inst_counter(m, k), &lo) == IS_CONST &&
        eval_scalar(m, s->upper, inst_counter(m, k), &hi) == IS_CONST && !(lo < hi)) {
        diag_error(d, s->rel->trunc_at, NULL, "the bounds %g and %g leave nothing", lo, hi);
        return IS_WRONG;
    }
    return 0;
}

static int check_observed(struct model *m, const struct stmt *s, int k)
{
    int n = 0, have = m->lhs_off[k + 1] - m->lhs_off[k];
    for (int j = m->lhs_off[k]; j < m->lhs_off[k + 1]; j++) n += m->observed[m->lhs[j]];
    if (n == 0 || n == have) return 0;
    struct str name = {0};
    inst_name(m, k, &name);
    diag_error(&m->diags, s->lhs->all, "give all of its elements or none",
               "%s is observed in part: %d of %d elements", name.s ? name.s : "this", n, have);
    str_free(&name);
    return IS_WRONG;
}

int model_supports(struct model *m)
{
    for (size_t i = 0; i < m->stmt.n; i++) {
        const struct stmt *s = &m->stmt.a[i];
        int rc = 0;
        if (!s->rel->stochastic) continue;
        for (int k = s->first; k < s->first + s->n && !rc; k++) {
            rc = check_observed(m, s, k);
            if (!rc && s->dist) {
                rc = check_size(m, s, k);
                if (!rc) rc = check_args(m, s, k);
                if (!rc) rc = check_trunc(m, s, k);
            }
        }
        if (rc < 0) return rc;
    }
    return 0;
}
