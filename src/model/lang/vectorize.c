/* vectorize.c: relations over whole arrays.

   y ~ normal(a + b * x, sigma), with y and x of n elements, is n relations: for (i in 1:n) { y[i] ~
   normal(a + b * x[i], sigma) }.  This file adds the loop around the statement, and the subscript
   to its arguments, through element-wise functions down to the arrays.  Thus each element is a
   separate node whose parents are the elements that it reads.  The same holds for y <- ... where
   all functions are element-wise. */
#include "model/lang/lang.h"

struct spread {
    struct model *m;
    struct stmt *s;
    int first; /* the first new counter; one for each dimension */
    int ndim;  /* number of new counters: dimensions of the left side that are not scalar subscripts
                */
    const int *now; /* counters of an instance, for shapes */
    vec(struct term *) was, is; /* copied terms and their copies: arguments may be shared */
    vec(struct term *) refs;
    int oom, wrong;
};

/* ---- a term's element ---------------------------------------------------------------- */

static struct term *indexed(struct spread *p, struct term *t, int dim);

static struct term *new_term(struct spread *p, enum term_kind kind, const struct term *like,
                             int narg)
{
    struct term *t = term_new(&p->m->mem, kind, like->at, like->all, narg);
    if (!t) p->oom = 1;
    return t;
}

static struct term *counter_term(struct spread *p, const struct term *like, int dim)
{
    struct term *t = new_term(p, T_COUNTER, like, 0);
    if (!t) return NULL;
    t->depth = p->first + dim;
    t->array = p->m->ir.arrays.a[p->s->lhs->array].id;
    return t;
}

/* lo + counter - 1 */
static struct term *from(struct spread *p, struct term *lo, int dim)
{
    struct term *sum = new_term(p, T_OP, lo, 2), *minus = new_term(p, T_OP, lo, 2);
    struct term *one = new_term(p, T_NUMBER, lo, 0), *at = counter_term(p, lo, dim);
    if (!sum || !minus || !one || !at) return NULL;
    if (lo->kind == T_NUMBER && lo->value == 1) return at;
    one->value = 1;
    minus->op = op_find("-", 1);
    minus->arg[0] = at;
    minus->arg[1] = one;
    sum->op = op_find("+", 1);
    sum->arg[0] = indexed(p, lo, dim);
    sum->arg[1] = minus;
    return sum->arg[0] ? sum : NULL;
}

/* The number of elements of a term: 1 for a scalar; 0 if unknown (which is reported). */
static int size_of(struct spread *p, const struct term *t)
{
    int shape[SHAPE], rc = term_shape(p->m, t, p->now, shape);
    if (rc < 0) p->oom = 1;
    if (rc > 0) p->wrong = 1;
    return rc ? 0 : shape_size(shape);
}

/* Selects an element of a term without subscripts: c(1, 2), sort(x). */
static struct term *element(struct spread *p, struct term *t)
{
    struct term *to = new_term(p, T_ELEMENT, t, 1 + p->ndim);
    if (!to || !(to->arg[0] = indexed(p, t, -1))) return NULL;
    for (int d = 0; d < p->ndim; d++)
        if (!(to->arg[1 + d] = counter_term(p, t, d))) return NULL;
    return to;
}

/* x[lo:hi, k, ]: each remaining dimension gets a counter. */
static struct term *indexed_ref(struct spread *p, struct term *t)
{
    const struct array *a = &p->m->ir.arrays.a[t->array];
    int whole = t->narg != a->ndim, narg = whole ? a->ndim : t->narg, dim = 0;
    int single = size_of(p, t) == 1;
    struct term *to = new_term(p, T_REF, t, narg);
    if (!to) return NULL;
    to->array = t->array;
    for (int i = 0; i < narg; i++) {
        struct term *sub = whole ? NULL : t->arg[i];
        if (!single && (!sub || sub->kind == T_RANGE || may_be_vector(p->m, sub))) {
            if (sub && sub->kind != T_RANGE && size_of(p, sub) == 1)
                to->arg[i] = indexed(p, sub, 0);
            else if (dim >= p->ndim)
                return element(p, t);
            else if (!sub)
                to->arg[i] = counter_term(p, t, dim++);
            else if (sub->kind == T_RANGE)
                to->arg[i] = from(p, sub->arg[0], dim++);
            else
                to->arg[i] = indexed(p, sub, dim++);
            if (!to->arg[i]) return NULL;
        } else if (sub) {
            to->arg[i] = indexed(p, sub, 0);
            if (!to->arg[i]) return NULL;
        }
    }
    to->ref = (int)p->refs.n;
    if (vec_push(&p->refs, to)) return p->oom = 1, NULL;
    return to;
}

/* Row i of A %*% b is inprod(A[i, ], b). */
static struct term *indexed_product(struct spread *p, struct term *t)
{
    struct term *A = t->arg[0], *row, *to;
    int shape[SHAPE];
    if (A->kind != T_REF || A->narg || p->ndim != 1) return element(p, t);
    if (term_shape(p->m, A, p->now, shape) || shape[0] != 2) return element(p, t);
    row = new_term(p, T_REF, A, 2);
    to = new_term(p, T_OP, t, 2);
    if (!row || !to) return NULL;
    row->array = A->array;
    row->arg[0] = counter_term(p, A, 0);
    row->ref = (int)p->refs.n;
    if (vec_push(&p->refs, row)) return p->oom = 1, NULL;
    to->op = op_find("inprod", 6);
    to->arg[0] = row;
    to->arg[1] = indexed(p, t->arg[1], -1);
    return to->arg[1] ? to : NULL;
}

static struct term *copied(struct spread *p, struct term *t, int dim)
{
    struct term *to = term_like(&p->m->mem, t);
    if (!to) return p->oom = 1, NULL;
    for (int i = 0; i < t->narg; i++)
        if (t->arg[i] && !(to->arg[i] = indexed(p, t->arg[i], dim))) return NULL;
    if (t->kind != T_REF) return to;
    to->ref = (int)p->refs.n;
    return vec_push(&p->refs, to) ? (p->oom = 1, NULL) : to;
}

/* The element selected by the counters from `dim` on; dim -1: the unchanged term. */
static struct term *indexed(struct spread *p, struct term *t, int dim)
{
    struct term *to;
    if (dim >= 0)
        for (size_t i = 0; i < p->was.n; i++)
            if (p->was.a[i] == t) return p->is.a[i];
    int n = dim < 0 ? 1 : t->kind == T_REF ? 2 : size_of(p, t);
    if (!n) return NULL;
    if (n == 1)
        to = copied(p, t, -1);
    else if (t->kind == T_REF)
        to = indexed_ref(p, t);
    else if (t->kind == T_RANGE)
        to = from(p, t->arg[0], dim);
    else if (t->kind == T_REP && size_of(p, t->arg[0]) == 1)
        to = copied(p, t->arg[0], -1);
    else if (t->kind == T_OP && t->op->map)
        to = copied(p, t, dim);
    else if (t->kind == T_OP && strcmp(t->op->name, "%*%") == 0)
        to = indexed_product(p, t);
    else
        to = element(p, t);
    if (to && dim >= 0 && (vec_push(&p->was, t) || vec_push(&p->is, to))) p->oom = 1;
    return to;
}

/* ---- the left side --------------------------------------------------------------------- */

static int is_kept(const struct term *l, const struct array *a, int d)
{
    int whole = l->narg != a->ndim;
    return whole || !l->arg[d] || l->arg[d]->kind == T_RANGE;
}

/* The extents of the dimensions that have counters, for one instance; elements in all. */
static int extents(struct spread *p, int *dim)
{
    const struct term *l = p->s->lhs;
    const struct array *a = &p->m->ir.arrays.a[l->array];
    int n = 1, k = 0;
    for (int d = 0; d < a->ndim; d++) {
        double x = 1, y = a->dim[d];
        if (!is_kept(l, a, d)) continue;
        if (l->narg == a->ndim && l->arg[d] && eval_ends(p->m, l->arg[d], p->now, &x, &y)) return 0;
        dim[k] = (int)(y - x + 1);
        n *= dim[k++];
    }
    return n;
}

/* Does an argument match the left side: a scalar, or equally many elements? */
static int fits_lhs(struct spread *p, const struct term *t, const int *dim)
{
    int shape[SHAPE], ok, rc = term_shape(p->m, t, p->now, shape), n = 0;
    if (rc == NOT_CONST)
        rc = say_not_const(p->m, t, p->now, "the number of elements",
                           "give its size as a constant of the data");
    if (rc < 0) p->oom = 1;
    if (rc > 0) p->wrong = 1;
    if (rc) return 0;
    if (shape_size(shape) == 1) return 1;
    ok = shape[0] == p->ndim; /* the same, or without the dimensions of one element */
    for (int d = 0; d < p->ndim; d++) ok = ok && shape[1 + d] == dim[d];
    if (ok) return 1;
    ok = 1;
    for (int d = 0; d < p->ndim; d++)
        if (dim[d] > 1) ok = ok && n < shape[0] && shape[++n] == dim[d];
    ok = ok && n == shape[0];
    if (ok) return 1;
    struct str is = {0}, want = {0};
    for (int k = 0; k < shape[0]; k++) str_printf(&is, k ? " x %d" : "%d", shape[k + 1]);
    for (int d = 0; d < p->ndim; d++) str_printf(&want, d ? " x %d" : "%d", dim[d]);
    diag_error(&p->m->source.diags, t->all, NULL, "%s has %s elements, but this has %s",
               p->m->ir.arrays.a[p->s->lhs->array].name, want.s ? want.s : "", is.s ? is.s : "");
    str_free(&is);
    str_free(&want);
    p->wrong = 1;
    return 0;
}

/* ---- which statements -------------------------------------------------------------------- */

/* Only element-wise functions of arrays, and at least one of a vector? */
static int is_elementwise(const struct model *m, const struct term *t)
{
    if (t->kind == T_REF || t->kind == T_NUMBER || t->kind == T_COUNTER || t->kind == T_LENGTH)
        return 1;
    if (t->kind != T_OP || !t->op->map) return 0;
    for (int i = 0; i < t->narg; i++)
        if (!is_elementwise(m, t->arg[i])) return 0;
    return 1;
}

static int wants(const struct model *m, const struct stmt *s)
{
    const struct array *a = &m->ir.arrays.a[s->lhs->array];
    int some = 0;
    if (!s->n || a->ndim < 1 || !a->ready) return 0;
    for (int d = 0; d < a->ndim; d++) some |= is_kept(s->lhs, a, d);
    if (!some) return 0;
    if (s->rhs) return !s->rel->in_data && is_elementwise(m, s->rhs) && may_be_vector(m, s->rhs);
    return s->dist && !s->dist->size && domains[s->dist->domain].rank == 0;
}

/* ---- the new statement ---------------------------------------------------------------------- */

/* Replicates every instance for each of its elements. */
static int spread_counters(struct spread *p)
{
    struct stmt *s = p->s;
    vec(int) all = {0};
    int n = 0, *old = s->counter;
    for (int i = 0; i < s->n && !p->oom && !p->wrong; i++) {
        int dim[MAX_DIM] = {0}, at[MAX_DIM], d;
        p->now = old + (size_t)i * (size_t)p->first;
        int count = extents(p, dim);
        for (int k = 0; s->given && k < s->ngiven; k++) fits_lhs(p, s->given[k], dim);
        if (s->rhs) fits_lhs(p, s->rhs, dim);
        if (s->lower) fits_lhs(p, s->lower, dim);
        if (s->upper) fits_lhs(p, s->upper, dim);
        for (d = 0; d < p->ndim; d++) at[d] = 1;
        if (count > p->m->ir.limit - n) p->wrong = 1, too_large(p->m, s->lhs, (double)n + count);
        for (int j = 0; j < count && !p->oom && !p->wrong; j++, n++) {
            for (d = 0; d < p->first; d++) p->oom |= vec_push(&all, p->now[d]) != 0;
            for (d = 0; d < p->ndim; d++) p->oom |= vec_push(&all, at[d]) != 0;
            for (d = p->ndim - 1; d >= 0 && ++at[d] > dim[d]; d--) at[d] = 1;
        }
    }
    if (!p->oom && !p->wrong) {
        s->n = n;
        s->counter = arena_array(&p->m->mem, int, all.n + 1);
        if (!s->counter)
            p->oom = 1;
        else if (all.n)
            memcpy(s->counter, all.a, sizeof(int) * all.n);
    }
    vec_free(&all);
    return p->oom || p->wrong;
}

/* Adds loops for pictures and messages: unnamed, 1 to n. */
static int add_loops(struct spread *p)
{
    struct stmt *s = p->s;
    struct syntax *x = &p->m->source.syntax;
    int *loop = arena_array(&p->m->mem, int, s->depth + p->ndim + 1);
    if (!loop) return NAMI_ENOMEM;
    for (int d = 0; d < s->depth; d++) loop[d] = s->loop[d];
    for (int d = 0; d < p->ndim; d++) {
        struct loop l = {.var = -1,
                         .at = s->lhs->at,
                         .range = s->rel->lhs,
                         .outer = s->depth + d > 0 ? loop[s->depth + d - 1] : -1};
        loop[s->depth + d] = (int)x->loop.n;
        if (vec_push(&x->loop, l)) return NAMI_ENOMEM;
    }
    s->loop = loop;
    s->depth += p->ndim;
    return 0;
}

static void replace(struct spread *p, struct term **t)
{
    struct term *to = *t ? indexed(p, *t, 0) : NULL;
    if (*t && !to && !p->oom) p->wrong = 1;
    *t = to;
}

int vectorize(struct model *m, struct stmt *s)
{
    struct stmt before = *s;
    int dim[MAX_DIM];
    if (!wants(m, s)) return 0;
    struct spread p = {.m = m, .s = s, .first = s->depth, .now = s->counter};
    const struct array *a = &m->ir.arrays.a[s->lhs->array];
    for (int d = 0; d < a->ndim; d++) p.ndim += is_kept(s->lhs, a, d);
    int most = 0; /* elements of an instance */
    for (int i = 0; i < s->n; i++) {
        p.now = s->counter + (size_t)i * (size_t)s->depth;
        int n = extents(&p, dim);
        if (n > most) most = n;
    }
    if (most <= 1) return 0;
    p.now = s->counter;
    if (!spread_counters(&p)) {
        p.now = before.counter;
        struct term *lhs = new_term(&p, T_REF, s->lhs, a->ndim), *given = NULL;
        int k = 0;
        for (int d = 0; lhs && d < a->ndim; d++) {
            struct term *sub = s->lhs->narg == a->ndim ? s->lhs->arg[d] : NULL;
            if (!is_kept(s->lhs, a, d))
                lhs->arg[d] = sub;
            else
                lhs->arg[d] = sub ? from(&p, sub->arg[0], k++) : counter_term(&p, s->lhs, k++);
        }
        if (lhs) lhs->array = s->lhs->array;
        p.refs.n = p.was.n = p.is.n = 0; /* what stands left is not read */
        for (int i = 0; s->given && i < s->ngiven; i++) {
            given = s->given[i];
            replace(&p, &given);
            s->given[i] = given;
        }
        for (int i = 0; i < s->narg; i++) replace(&p, &s->arg[i]);
        replace(&p, &s->rhs);
        replace(&p, &s->lower);
        replace(&p, &s->upper);
        s->nref = (int)p.refs.n;
        s->ref = arena_array(&m->mem, struct term *, p.refs.n + 1);
        if (!s->ref)
            p.oom = 1;
        else if (p.refs.n)
            memcpy(s->ref, p.refs.a, sizeof *s->ref * p.refs.n);
        s->lhs = lhs;
        if (add_loops(&p)) p.oom = 1;
    }
    vec_free(&p.was);
    vec_free(&p.is);
    vec_free(&p.refs);
    return p.oom ? NAMI_ENOMEM : 0;
}
