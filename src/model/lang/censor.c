/* censor.c: censored data in the notation of JAGS, k ~ dinterval(t, cuts) and t ~ d(...).

   If k is observed and t is not, the factorization p(t) p(k | t) is unsuitable for inference:
   hardly any t drawn by an inference network lies in interval k. The equivalent reverse
   factorization has no such problem (dist/interval.c):

       k ~ interval(d(...), cuts)      t ~ d(...) truncated to interval k

   Then t is a prediction given k, drawn exactly, and only the parameters of d are to be inferred.
   Such pairs of instances are moved to new statements; others are unchanged. */
#include "model/lang/lang.h"

struct pair {
    int number, value; /* instances: of k and of t */
};

enum { TAKEN = -1 };

struct censor {
    struct model *m;
    vec(struct pair) pair; /* of one pair of statements after the other */
    vec(struct term *) refs;
    int *to; /* the new statement of an instance */
};

/* ---- which pairs ---------------------------------------------------------------------- */

static const struct stmt *stmt_of(const struct model *m, int k) { return instance_stmt(m, k); }

static int is_observed(const struct model *m, int k)
{
    return m->ir.observed[m->ir.defined[m->ir.first_defined[k]]];
}

/* The element t of instance k, -1 if it is not one. */
static int element_of(struct model *m, const struct stmt *s, int k, int *rc)
{
    struct box b;
    *rc = 0;
    if (s->arg[0]->kind != T_REF) return -1;
    int found = box_of(m, s->arg[0], instance_counter(m, k), BOX_CONST, &b);
    if (found < 0) *rc = found;
    return found == IS_CONST && b.n == 1 ? b.elem : -1;
}

/* Checks for contradictory data: t outside of interval k. */
static int check_data(struct model *m, const struct stmt *s, int k, int e)
{
    struct cval cuts = {0};
    double number = m->ir.value[m->ir.defined[m->ir.first_defined[k]]], below = 0;
    int rc = eval_term(m, s->arg[1], instance_counter(m, k), &cuts);
    for (int i = 0; !rc && i < cuts.n; i++) below += cuts.x[i] < m->ir.value[e];
    if (!rc && !isnan(number) && !isnan(m->ir.value[e]) && below != number) {
        struct str t = {0}, by = {0};
        elem_name(m, e, &t);
        inst_name(m, k, &by);
        diag_error(
            &m->source.diags, s->lhs->all, "correct one of the two in the data",
            "%s is %.10g in the data, but %s is %.10g, with %.10g of its cut points below it",
            by.s ? by.s : "it", number, t.s ? t.s : "its variable", m->ir.value[e], below);
        str_free(&t);
        str_free(&by);
    }
    cval_free(&cuts);
    return rc < 0 ? rc : 0;
}

/* Can its distribution be truncated? */
static int can_be_cut(const struct model *m, int k)
{
    const struct stmt *s = stmt_of(m, k);
    return s->dist && s->dist->logp && s->dist->cdf && s->dist->quantile && !s->rel->trunc &&
           s->narg + 2 <= DIST_ARGS && m->ir.first_defined[k + 1] - m->ir.first_defined[k] == 1;
}

static int find_pairs(struct censor *c, int number)
{
    struct model *m = c->m;
    const struct stmt *s = &m->ir.statements.a[number];
    for (int k = s->first; k < s->first + s->n; k++) {
        int rc, e = element_of(m, s, k, &rc);
        if (rc) return rc;
        if (e < 0 || !is_observed(m, k) || m->ir.defined_by[e] < 0) continue;
        int value = m->ir.defined_by[e];
        if (!stmt_of(m, value)->rel->stochastic) continue;
        if (m->ir.observed[e])
            rc = check_data(m, s, k, e);
        else if (can_be_cut(m, value) && c->to[value] == m->ir.statement_of[value]) {
            c->to[value] = TAKEN; /* once, should there be several k of it */
            rc = vec_push(&c->pair, ((struct pair){k, value})) ? NAMI_ENOMEM : 0;
        }
        if (rc) return rc;
    }
    return 0;
}

/* ---- the new statements ----------------------------------------------------------------- */

/* A copy with counters shifted by `shift` and new references. */
static struct term *copied(struct censor *c, const struct term *t, int shift)
{
    struct term *to = term_like(&c->m->mem, t);
    if (!to) return NULL;
    if (t->kind == T_COUNTER) to->depth += shift;
    for (int i = 0; i < t->narg; i++)
        if (t->arg[i] && !(to->arg[i] = copied(c, t->arg[i], shift))) return NULL;
    if (t->kind != T_REF) return to;
    to->ref = (int)c->refs.n;
    return vec_push(&c->refs, to) ? NULL : to;
}

/* Do both instances of each pair have the same counters, of the same loops? */
static int same_turns(const struct model *m, const struct pair *p, size_t n)
{
    const struct stmt *a = stmt_of(m, p->number), *b = stmt_of(m, p->value);
    if (a->rel->loop != b->rel->loop) return 0;
    for (size_t i = 0; a->depth && i < n; i++)
        if (memcmp(instance_counter(m, p[i].number), instance_counter(m, p[i].value),
                   sizeof(int) * (size_t)a->depth) != 0)
            return 0;
    return 1;
}

/* Adds a statement with the loops of t, followed by those of k unless they are the same. */
static int new_stmt(struct censor *c, const struct pair *p, size_t n, const struct dist *dist,
                    int is_number)
{
    struct model *m = c->m;
    const struct stmt *number = stmt_of(m, p->number), *value = stmt_of(m, p->value);
    int same = same_turns(m, p, n), shift = same ? 0 : value->depth;
    struct stmt s = *(is_number ? number : value);
    s.dist = dist;
    s.depth = same ? value->depth : value->depth + number->depth;
    s.n = 0;
    s.loop = arena_array(&m->mem, int, s.depth + 1);
    s.counter = arena_array(&m->mem, int, (size_t)s.depth *n + 1);
    if (!s.loop || !s.counter) return NAMI_ENOMEM;
    memcpy(s.loop, value->loop, sizeof(int) * (size_t)value->depth);
    if (!same) memcpy(s.loop + value->depth, number->loop, sizeof(int) * (size_t)number->depth);

    /* its arguments: those of d; where t is meant, k; the cut points */
    c->refs.n = 0;
    s.narg = 0;
    s.lhs = copied(c, s.lhs, is_number ? shift : 0);
    c->refs.n = 0;
    if (!s.lhs) return NAMI_ENOMEM;
    for (int i = 0; i < value->narg; i++)
        if (!(s.arg[s.narg++] = copied(c, value->arg[i], 0))) return NAMI_ENOMEM;
    if (!is_number && !(s.arg[s.narg++] = copied(c, number->lhs, shift))) return NAMI_ENOMEM;
    if (!(s.arg[s.narg++] = copied(c, number->arg[1], shift))) return NAMI_ENOMEM;
    s.ngiven = s.narg;
    s.given = arena_array(&m->mem, struct term *, s.narg);
    s.formal = arena_array(&m->mem, struct dist_arg, s.narg);
    s.nref = (int)c->refs.n;
    s.ref = arena_array(&m->mem, struct term *, s.nref + 1);
    if (!s.given || !s.formal || !s.ref) return NAMI_ENOMEM;
    memcpy(s.given, s.arg, sizeof *s.arg * (size_t)s.narg);
    memcpy(s.formal, dist->arg, sizeof *dist->arg * (size_t)s.narg);
    if (s.nref) memcpy(s.ref, c->refs.a, sizeof *s.ref * (size_t)s.nref);

    for (size_t i = 0; i < n; i++)
        c->to[is_number ? p[i].number : p[i].value] = (int)m->ir.statements.n;
    return vec_push(&m->ir.statements, s) ? NAMI_ENOMEM : 0;
}

/* The counters of the last statement. */
static void put_counters(struct model *m, const struct pair *p, size_t n)
{
    const struct stmt *s = &m->ir.statements.a[m->ir.statements.n - 1];
    int *to = s->counter, nvalue = stmt_of(m, p->value)->depth;
    for (size_t i = 0; i < n; i++, to += s->depth) {
        if (nvalue) memcpy(to, instance_counter(m, p[i].value), sizeof(int) * (size_t)nvalue);
        if (s->depth > nvalue)
            memcpy(to + nvalue, instance_counter(m, p[i].number),
                   sizeof(int) * (size_t)(s->depth - nvalue));
    }
}

static int by_value(const void *a_, const void *b_)
{
    const struct pair *a = a_, *b = b_;
    return (a->value > b->value) - (a->value < b->value);
}

static int split(struct censor *c, struct pair *p, size_t n)
{
    struct model *m = c->m;
    const struct dist *d = stmt_of(m, p->value)->dist;
    struct dist *made = arena_array(&m->mem, struct dist, 2);
    if (!made) return NAMI_ENOMEM;
    if (dist_make(dist_form_find("interval", 8), &d, &made[0]) ||
        dist_make(&form_within, &d, &made[1]))
        return 0;
    /* in the order of their instances: see regroup */
    if (new_stmt(c, p, n, &made[0], 1)) return NAMI_ENOMEM;
    put_counters(m, p, n);
    qsort(p, n, sizeof *p, by_value);
    if (new_stmt(c, p, n, &made[1], 0)) return NAMI_ENOMEM;
    put_counters(m, p, n);
    return 0;
}

/* ---- instances by statement again ---------------------------------------------------------- */

static int regroup(struct censor *c)
{
    struct model *m = c->m;
    int *stmt = raw_array(int, m->ir.num_instances + 1),
        *off = raw_array(int, m->ir.num_instances + 2);
    int *lhs = raw_array(int, m->ir.first_defined[m->ir.num_instances] + 1);
    int k = 0, at = 0, rc = stmt && off && lhs ? 0 : NAMI_ENOMEM;
    for (size_t i = 0; i < m->ir.statements.n && !rc; i++) {
        struct stmt *s = &m->ir.statements.a[i];
        int first = k, is_new = !s->n;
        for (int old = 0; old < m->ir.num_instances; old++) {
            if (c->to[old] != (int)i) continue;
            if (!is_new && s->depth)
                memmove(s->counter + (size_t)(k - first) * (size_t)s->depth,
                        s->counter + (size_t)(old - s->first) * (size_t)s->depth,
                        sizeof(int) * (size_t)s->depth);
            stmt[k] = (int)i;
            off[k] = at;
            for (int j = m->ir.first_defined[old]; j < m->ir.first_defined[old + 1]; j++) {
                m->ir.defined_by[m->ir.defined[j]] = k;
                lhs[at++] = m->ir.defined[j];
            }
            k++;
        }
        s->first = first;
        s->n = k - first;
    }
    if (!rc) {
        off[k] = at;
        memcpy(m->ir.statement_of, stmt, sizeof(int) * (size_t)m->ir.num_instances);
        memcpy(m->ir.first_defined, off, sizeof(int) * (size_t)(m->ir.num_instances + 1));
        memcpy(m->ir.defined, lhs, sizeof(int) * (size_t)at);
    }
    free(stmt);
    free(off);
    free(lhs);
    return rc;
}

int model_censor(struct model *m)
{
    struct censor c = {.m = m};
    size_t before = m->ir.statements.n;
    int rc = 0, some = 0;
    for (size_t i = 0; i < before; i++) some |= m->ir.statements.a[i].dist == &dist_interval;
    if (!some) return 0;
    c.to = raw_array(int, m->ir.num_instances + 1);
    if (!c.to) return NAMI_ENOMEM;
    for (int k = 0; k < m->ir.num_instances; k++) c.to[k] = m->ir.statement_of[k];
    for (size_t i = 0; i < before && !rc; i++) {
        if (m->ir.statements.a[i].dist != &dist_interval) continue;
        c.pair.n = 0;
        rc = find_pairs(&c, (int)i);
        for (size_t j = 0, n; j < c.pair.n && !rc; j += n) { /* those with one distribution of t */
            int of = m->ir.statement_of[c.pair.a[j].value];
            for (n = 1; j + n < c.pair.n && m->ir.statement_of[c.pair.a[j + n].value] == of;) n++;
            rc = split(&c, c.pair.a + j, n);
        }
    }
    if (!rc && m->ir.statements.n > before) rc = regroup(&c);
    vec_free(&c.pair);
    vec_free(&c.refs);
    free(c.to);
    return rc;
}
