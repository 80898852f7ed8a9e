/* expand.c: loops to instances, left sides to the elements they define. */
#include <limits.h>

#include "model/lang/lang.h"

enum { MAX_INSTANCES = 50 * 1000 * 1000 };

/* ---- loops ------------------------------------------------------------------------ */

struct turns {
    struct model *m;
    struct stmt *s;
    struct term **range; /* of each loop */
    int counter[32];
    vec(int) all; /* counters of every instance */
    int n, wrong, oom;
};

/* The values of a loop's range: first..last, or a vector. */
static int loop_values(struct turns *t, int depth, struct cval *v)
{
    struct model *m = t->m;
    const struct term *r = t->range[depth];
    const struct loop *l = &m->syntax.loop.a[t->s->loop[depth]];
    int rc = eval_term(m, r, t->counter, v);
    if (rc == NOT_CONST)
        diag_error(&m->diags, l->range->all,
                   "a loop needs fixed bounds: use a constant, and ifelse() or step() inside",
                   "the bounds of this loop depend on a random variable");
    if (rc == NOT_CONST) return IS_WRONG;
    for (int i = 0; !rc && i < v->n; i++)
        if (v->x[i] != floor(v->x[i]) || fabs(v->x[i]) > INT_MAX / 4) {
            diag_error(&m->diags, l->range->all, NULL, "the bounds of this loop are not whole numbers");
            rc = IS_WRONG;
        }
    return rc;
}

static void turn(struct turns *t, int depth)
{
    struct cval v = {0};
    if (depth == t->s->depth) {
        for (int d = 0; d < depth; d++)
            if (vec_push(&t->all, t->counter[d])) t->oom = 1;
        if (++t->n > MAX_INSTANCES - t->m->ninst) {
            diag_error(&t->m->diags, t->s->rel->at, NULL, "the model has more than %d relations",
                       MAX_INSTANCES);
            t->wrong = 1;
        }
        return;
    }
    int rc = loop_values(t, depth, &v);
    if (rc < 0) t->oom = 1;
    if (rc > 0) t->wrong = 1;
    for (int i = 0; !rc && i < v.n && !t->wrong && !t->oom; i++) {
        t->counter[depth] = (int)v.x[i];
        turn(t, depth + 1);
    }
    cval_free(&v);
}

/* Fills counters and number of instances of a statement. */
static int expand_loops(struct model *m, struct stmt *s)
{
    struct turns t = {.m = m, .s = s};
    struct term *range[32];
    int oom = 0, *depth_of;
    if (s->depth > 32) {
        diag_error(&m->diags, s->rel->at, NULL, "more than 32 loops inside each other");
        return 0;
    }
    depth_of = raw_array(int, m->syntax.names.name.n + 1);
    if (!depth_of) return NAMI_ENOMEM;
    for (size_t i = 0; i < m->syntax.names.name.n; i++) depth_of[i] = -1;
    t.range = range;
    for (int d = 0; d < s->depth; d++) {
        const struct loop *l = &m->syntax.loop.a[s->loop[d]];
        range[d] = resolve_alone(m, l->range, depth_of, &oom);
        if (!range[d]) {
            free(depth_of);
            return oom ? NAMI_ENOMEM : 0;
        }
        depth_of[l->var] = d;
    }
    free(depth_of);
    turn(&t, 0);
    if (!t.wrong && !t.oom) {
        s->n = t.n;
        s->counter = arena_array(&m->mem, int, t.all.n + 1);
        if (!s->counter)
            t.oom = 1;
        else if (t.all.n)
            memcpy(s->counter, t.all.a, sizeof(int) * t.all.n);
    }
    vec_free(&t.all);
    return t.oom ? NAMI_ENOMEM : 0;
}

/* ---- left sides -------------------------------------------------------------------- */

/* lo and hi of each subscript of each instance: bound[(i * narg + d) * 2]; the largest
   subscripts are the array's size if nothing else gives it. */
static int lhs_bounds(struct model *m, struct stmt *s, int *bound)
{
    const struct term *l = s->lhs;
    struct array *a = &m->array.a[l->array];
    int known = a->ndim >= 0 && (a->n || a->data || a->decl);
    if (a->ndim < 0) a->ndim = l->narg, memset(a->dim, 0, sizeof a->dim);
    if (l->narg != a->ndim && !(l->narg == 1 && !l->arg[0])) {
        diag_error(&m->diags, l->all, NULL, "%s has %d dimension%s elsewhere, not %d", a->name, a->ndim,
                   a->ndim == 1 ? "" : "s", l->narg);
        return IS_WRONG;
    }
    for (int i = 0; i < s->n; i++)
        for (int d = 0; d < l->narg; d++) {
            const struct term *sub = l->arg[d];
            const int *counter = s->counter + (size_t)i * (size_t)s->depth;
            double x[2];
            int rc = 0;
            a = &m->array.a[l->array];
            if (!sub) {
                if (!known) {
                    diag_error(&m->diags, l->all, diag_text(&m->diags, "write %s[1:n]", a->name),
                               "the size of %s is not known here", a->name);
                    return IS_WRONG;
                }
                x[0] = 1, x[1] = a->dim[d];
            } else if (sub->kind == T_RANGE) {
                if (!(rc = eval_scalar(m, sub->arg[0], counter, &x[0])))
                    rc = eval_scalar(m, sub->arg[1], counter, &x[1]);
            } else {
                rc = eval_scalar(m, sub, counter, &x[0]);
                x[1] = x[0];
            }
            if (rc == NOT_CONST)
                diag_error(&m->diags, sub->all, NULL,
                           "subscripts on the left must be constants and loop counters");
            if (rc) return rc < 0 ? rc : IS_WRONG;
            for (int k = 0; k < 2; k++)
                if (!(x[k] >= 1 && x[k] < INT_MAX / 2) || x[k] != floor(x[k])) {
                    diag_error(&m->diags, sub ? sub->all : l->all,
                               x[k] == floor(x[k]) ? "subscripts begin at 1" : NULL,
                               "subscript %g of %s", x[k], a->name);
                    return IS_WRONG;
                }
            if (x[1] < x[0]) {
                diag_error(&m->diags, sub->all, NULL, "the range %g:%g is empty", x[0], x[1]);
                return IS_WRONG;
            }
            int *b = bound + ((size_t)i * (size_t)l->narg + (size_t)d) * 2;
            b[0] = (int)x[0], b[1] = (int)x[1];
            if (b[1] > a->dim[d]) {
                if (known) {
                    diag_error(&m->diags, sub->all, NULL, "subscript %d of %s is out of range: it has 1 to %d",
                               b[1], a->name, a->dim[d]);
                    return IS_WRONG;
                }
                a->dim[d] = b[1];
            }
        }
    return 0;
}

static int bad_twice(struct model *m, const struct stmt *s, int e)
{
    struct str name = {0};
    elem_name(m, e, &name);
    int k = m->owner[e];
    if (k >= 0 && &m->stmt.a[m->inst_stmt[k]] == s)
        diag_error(&m->diags, s->lhs->all, "its subscripts must differ in each turn of the loop",
                   "%s is defined twice, by this line in different turns of the loop",
                   name.s ? name.s : "a variable");
    else if (k >= 0)
        diag_error(&m->diags, s->lhs->all, "each variable is defined once; rename one of them",
                   "%s is defined twice: here and in line %d", name.s ? name.s : "a variable",
                   m->stmt.a[m->inst_stmt[k]].lhs->at.line);
    else
        diag_error(&m->diags, s->lhs->all, "drop the relation, or its values in the data",
                   "%s is defined by <-, but the data give it a value too",
                   name.s ? name.s : "a variable");
    str_free(&name);
    return IS_WRONG;
}

static int grow_ints(int **p, int *cap, int need)
{
    if (need <= *cap) return 0;
    int n = need + *cap + 64;
    int *q = realloc(*p, sizeof(int) * (size_t)n);
    if (!q) return NAMI_ENOMEM;
    *p = q;
    *cap = n;
    return 0;
}

/* Makes instance k the owner of e. */
static int own(struct model *m, const struct stmt *s, int k, int e)
{
    int made = m->owner[e] >= 0 ? m->inst_stmt[m->owner[e]] : -1;
    int given = made >= 0 && m->stmt.a[made].rel->in_data && !s->rel->in_data;
    if (made >= 0 && !given) return bad_twice(m, s, e); /* what a data block makes is data */
    if (m->array.a[m->elem_array[e]].is_const) return bad_twice(m, s, e);
    if (!s->rel->stochastic) {
        if (m->state[e] == E_CONST) return bad_twice(m, s, e);
        m->state[e] = E_UNKNOWN;
    } else {
        m->observed[e] = m->state[e] == E_CONST && !m->observe_declared;
        m->state[e] = E_RANDOM;
    }
    m->owner[e] = k;
    return 0;
}

static int own_all(struct model *m, struct stmt *s, const int *bound, int *at)
{
    const struct term *l = s->lhs;
    const struct array *a = &m->array.a[l->array];
    for (int i = 0; i < s->n; i++) {
        int k = s->first + i, lo[MAX_DIM], hi[MAX_DIM], x[MAX_DIM], n = 1;
        int whole = l->narg != a->ndim || !l->narg;
        for (int d = 0; d < a->ndim; d++) {
            const int *b = bound + ((size_t)i * (size_t)l->narg + (size_t)d) * 2;
            x[d] = lo[d] = whole ? 1 : b[0];
            hi[d] = whole ? a->dim[d] : b[1];
            n *= hi[d] - lo[d] + 1;
        }
        m->inst_stmt[k] = (int)(s - m->stmt.a);
        m->lhs_off[k] = *at;
        if (grow_ints(&m->lhs, &m->lhs_cap, *at + n)) return NAMI_ENOMEM;
        for (int j = 0; j < n; j++) {
            int e = 0;
            for (int d = 0; d < a->ndim; d++) e = e * a->dim[d] + x[d] - 1;
            e += a->first;
            m->lhs[(*at)++] = e;
            if (own(m, s, k, e)) return IS_WRONG;
            for (int d = a->ndim - 1; d >= 0 && ++x[d] > hi[d]; d--) x[d] = lo[d];
        }
    }
    m->lhs_off[s->first + s->n] = *at;
    return 0;
}

/* ---- left sides without subscripts: as large as what stands right -------------------- */

static int arrays_known(const struct model *m, const struct stmt *s)
{
    for (int i = 0; i < s->nref; i++)
        if (m->array.a[s->ref[i]->array].ndim < 0) return 0;
    return 1;
}

/* How many elements the distribution's value has, for the instance with these counters. */
int dist_size(struct model *m, const struct stmt *s, const int *counter, int (*shape)[4], int *out)
{
    int n[DIST_ARGS] = {0}, rc;
    const char *why = "";
    *out = 1;
    for (int i = 0; i < s->narg; i++) {
        if ((rc = term_shape(m, s->arg[i], counter, shape[i]))) return rc;
        n[i] = 1;
        for (int k = 0; k < shape[i][0]; k++) n[i] *= shape[i][k + 1];
    }
    if (!s->dist->size) return 0;
    *out = s->dist->size(n, &why);
    if (*out >= 0) return 0;
    diag_error(&m->diags, s->rel->rhs->all, NULL, "the arguments of %s() do not fit: %s", s->name, why);
    return IS_WRONG;
}

static int bare_shape(struct model *m, const struct stmt *s, int *shape)
{
    int arg[DIST_ARGS][4], n, rc;
    shape[0] = 0;
    if (s->rhs) return term_shape(m, s->rhs, s->counter, shape);
    if (!s->dist || (!s->dist->size && domains[s->dist->domain].rank == 0)) return 0;
    if ((rc = dist_size(m, s, s->counter, arg, &n))) return rc;
    int rank = domains[s->dist->domain].rank, k = (int)lround(sqrt(n));
    shape[0] = rank;
    shape[1] = rank == 2 ? k : n;
    shape[2] = k;
    return 0;
}

/* In any order: as long as one more can be told. */
static int bare_sides(struct model *m, int in_data)
{
    for (int again = 1, last = 0; again || !last;) {
        if (!again) last = 1; /* now say what is not known */
        again = 0;
        for (size_t i = 0; i < m->stmt.n; i++) {
            struct stmt *s = &m->stmt.a[i];
            struct array *a = &m->array.a[s->lhs->array];
            int shape[4], rc;
            if (s->rel->in_data != in_data || s->lhs->narg || a->ndim >= 0 || !s->n) continue;
            if (!last && !arrays_known(m, s)) continue;
            rc = bare_shape(m, s, shape);
            if (rc < 0) return rc;
            if (rc) shape[0] = 0;
            a->ndim = shape[0];
            memcpy(a->dim, shape + 1, sizeof(int[3]));
            if (add_elements(m, s->lhs->array, s->lhs->at)) return NAMI_ENOMEM;
            again = 1;
        }
    }
    return 0;
}

/* ---- all of it ------------------------------------------------------------------------ */

static int expand_block(struct model *m, int in_data, int **bound, int *at)
{
    int rc = 0, first = m->ninst;
    for (size_t i = 0; i < m->stmt.n && !rc; i++) {
        struct stmt *s = &m->stmt.a[i];
        if (s->rel->in_data != in_data) continue;
        if (in_data && s->rel->stochastic) {
            diag_error(&m->diags, s->rel->at, "give the values themselves",
                       "a data block cannot draw random numbers");
            continue;
        }
        rc = expand_loops(m, s);
        s->first = m->ninst;
        m->ninst += s->n;
    }
    if (rc) return rc;
    if (grow_ints(&m->inst_stmt, &m->inst_cap, m->ninst + 1) ||
        grow_ints(&m->lhs_off, &m->off_cap, m->ninst + 2))
        return NAMI_ENOMEM;
    for (size_t i = 0; i < m->stmt.n; i++) {
        struct stmt *s = &m->stmt.a[i];
        if (s->rel->in_data != in_data || !s->n || !s->lhs->narg) continue;
        bound[i] = raw_array(int, (size_t)s->n * (size_t)s->lhs->narg * 2);
        if (!bound[i]) return NAMI_ENOMEM;
        rc = lhs_bounds(m, s, bound[i]);
        if (rc < 0) return rc;
        if (rc) m->array.a[s->lhs->array].ndim = -2; /* said */
    }
    for (size_t i = 0; i < m->stmt.n; i++) {
        struct stmt *s = &m->stmt.a[i];
        struct array *a = &m->array.a[s->lhs->array];
        if (s->rel->in_data != in_data || !s->n || a->first || a->n || a->ndim < 1) continue;
        if (!a->data && !a->decl && add_elements(m, s->lhs->array, s->lhs->at)) return NAMI_ENOMEM;
    }
    if (m->diags.nerror) return 0;
    if ((rc = bare_sides(m, in_data))) return rc;
    if (m->diags.nerror) return 0;
    m->lhs_off[first] = *at;
    for (size_t i = 0; i < m->stmt.n; i++) {
        struct stmt *s = &m->stmt.a[i];
        if (s->rel->in_data != in_data || !s->n) continue;
        rc = own_all(m, s, bound[i], at);
        if (rc) return rc < 0 ? rc : 0;
    }
    return 0;
}

/* Which deterministic elements are constants?  In order, so that chains do not recurse. */
static int settle(struct model *m, int first)
{
    for (int k = first; k < m->ninst; k++)
        for (int j = m->lhs_off[k]; j < m->lhs_off[k + 1]; j++) {
            int rc = elem_is_const(m, m->lhs[j]);
            if (rc < 0) return rc;
        }
    return 0;
}

int model_expand(struct model *m, const struct model_options *opt)
{
    int at = 0, rc = model_declare(m, opt);
    int **bound = new_array(int *, m->stmt.n);
    if (!bound) return NAMI_ENOMEM;
    for (int in_data = 1; in_data >= 0 && !rc && !m->diags.nerror; in_data--) {
        int first = m->ninst;
        rc = expand_block(m, in_data, bound, &at);
        if (!rc && !m->diags.nerror) rc = settle(m, first);
    }
    for (size_t i = 0; i < m->stmt.n; i++) free(bound[i]);
    free(bound);
    return rc;
}
