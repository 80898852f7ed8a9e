/* expand.c: expands loops to instances, and left sides to the elements that they define. */
#include <limits.h>

#include "model/lang/lang.h"

enum { LIMIT = 20 * 1000 * 1000, LOOPS_MAX = 32 };

/* ---- loops ------------------------------------------------------------------------ */

struct turns {
    struct model *m;
    struct stmt *s;
    struct term **range; /* of each loop */
    int counter[LOOPS_MAX];
    vec(int) all; /* counters of every instance */
    int n, wrong, oom;
};

/* The values of a loop's range: first..last, or a vector. */
static int loop_values(struct turns *t, int depth, struct cval *v)
{
    struct model *m = t->m;
    const struct term *r = t->range[depth];
    const struct loop *l = &m->source.syntax.loop.a[t->s->loop[depth]];
    int rc = eval_term(m, r, t->counter, v);
    if (rc == NOT_CONST)
        return say_not_const(m, r, t->counter, "the range of a loop",
                             "use a constant, and ifelse() or step() inside");
    for (int i = 0; !rc && i < v->n; i++) {
        if (isnan(v->x[i])) return say_missing(m, r, t->counter);
        if (v->x[i] == floor(v->x[i]) && fabs(v->x[i]) < INT_MAX / 4) continue;
        diag_error(&m->source.diags, l->range->all, NULL,
                   "the counter %s of this loop would be %.10g%s",
                   syntax_name(&m->source.syntax, l->var), v->x[i],
                   v->x[i] == floor(v->x[i]) ? "" : ", which is not a whole number");
        return IS_WRONG;
    }
    return rc;
}

static void turn(struct turns *t, int depth)
{
    struct cval v = {0};
    if (depth == t->s->depth) {
        for (int d = 0; d < depth; d++)
            if (vec_push(&t->all, t->counter[d])) t->oom = 1;
        if (++t->n > t->m->ir.limit - t->m->ir.num_instances) {
            diag_error(&t->m->source.diags, t->s->rel->at, NULL,
                       "the loops make more than %d relations: too many", t->m->ir.limit);
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
    struct term *range[LOOPS_MAX] = {0};
    int oom = 0, *depth_of;
    if (s->depth > LOOPS_MAX) {
        diag_error(&m->source.diags, s->rel->at, NULL, "more than %d loops inside each other",
                   LOOPS_MAX);
        return 0;
    }
    depth_of = raw_array(int, m->source.syntax.names.name.n + 1);
    if (!depth_of) return NAMI_ENOMEM;
    for (size_t i = 0; i < m->source.syntax.names.name.n; i++) depth_of[i] = -1;
    t.range = range;
    for (int d = 0; d < s->depth; d++) {
        const struct loop *l = &m->source.syntax.loop.a[s->loop[d]];
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

/* One subscript of one instance: lo and hi. */
static int lhs_bound(struct model *m, const struct term *l, int d, const int *counter, int known,
                     int *b)
{
    struct array *a = &m->ir.arrays.a[l->array];
    const struct term *sub = l->arg[d];
    double x = 0, y = 0;
    if (!sub && !known) {
        diag_error(&m->source.diags, l->all, diag_text(&m->source.diags, "write %s[1:n]", a->name),
                   "the size of %s is not known here", a->name);
        return IS_WRONG;
    }
    if (!sub) {
        b[0] = 1, b[1] = a->ndim ? a->dim[d] : 1;
        return 0;
    }
    int rc = eval_ends(m, sub, counter, &x, &y);
    if (rc == NOT_CONST) return say_not_const(m, sub, counter, "a subscript on the left", NULL);
    if (rc) return rc;
    if (y < x) return empty_range(m, l, d, x, y);
    int size = known ? a->ndim ? a->dim[d] : 1 : INT_MAX;
    if (!is_whole(x, &b[0]) || b[0] < 1 || b[0] > size) return bad_subscript(m, l, d, counter, x);
    if (!is_whole(y, &b[1]) || b[1] < 1 || b[1] > size) return bad_subscript(m, l, d, counter, y);
    return 0;
}

/* "y has 2 dimensions (1 x 20) in the data, but 1 subscript here" */
static int wrong_dims(struct model *m, const struct term *l)
{
    const struct array *a = &m->ir.arrays.a[l->array];
    const char *where = a->data ? "in the data" : a->decl ? "where it is declared" : "elsewhere";
    struct str shape = {0};
    for (int d = 0; d < a->ndim && a->ndim > 1; d++)
        str_printf(&shape, "%s%d", d ? " x " : " (", a->dim[d]);
    if (shape.n) str_put(&shape, ")");
    if (a->ndim)
        diag_error(&m->source.diags, l->all, nesting_advice(m, a, l->narg),
                   "%s has %d dimension%s%s %s, but %d subscript%s here", a->name, a->ndim,
                   a->ndim == 1 ? "" : "s", shape.s ? shape.s : "", where, l->narg,
                   l->narg == 1 ? "" : "s");
    else
        diag_error(&m->source.diags, l->all, NULL,
                   "%s is a single number %s, but has %d subscript%s here", a->name, where, l->narg,
                   l->narg == 1 ? "" : "s");
    str_free(&shape);
    return IS_WRONG;
}

/* lo and hi of each subscript of each instance: bound[(i * narg + d) * 2]; the largest
   subscripts are the array's size if nothing else gives it. */
static int lhs_bounds(struct model *m, struct stmt *s, int *bound)
{
    const struct term *l = s->lhs;
    struct array *a = &m->ir.arrays.a[l->array];
    int known = a->ready;
    if (a->ndim < 0) a->ndim = l->narg, memset(a->dim, 0, sizeof a->dim);
    if (l->narg != a->ndim && !(known && l->narg == 1 && (!l->arg[0] || !a->ndim)))
        return wrong_dims(m, l);
    for (int i = 0; i < s->n; i++)
        for (int d = 0; d < l->narg; d++) {
            int *b = bound + ((size_t)i * (size_t)l->narg + (size_t)d) * 2;
            int rc = lhs_bound(m, l, d, s->counter + (size_t)i * (size_t)s->depth, known, b);
            if (rc) return rc;
            a = &m->ir.arrays.a[l->array];
            if (b[1] > a->dim[d] && !known) a->dim[d] = b[1];
        }
    return 0;
}

static int bad_twice(struct model *m, const struct stmt *s, int e)
{
    struct str name = {0};
    elem_name(m, e, &name);
    int k = m->ir.defined_by[e];
    if (k >= 0 && instance_stmt(m, k) == s && !s->rel->lhs->narg)
        diag_error(
            &m->source.diags, s->lhs->all,
            diag_text(&m->source.diags, "give each turn of the loop its own: %s[%s]",
                      m->ir.arrays.a[s->lhs->array].name,
                      syntax_name(&m->source.syntax, m->source.syntax.loop.a[s->rel->loop].var)),
            "%s is defined in every turn of the loop", m->ir.arrays.a[s->lhs->array].name);
    else if (k >= 0 && instance_stmt(m, k) == s)
        diag_error(&m->source.diags, s->lhs->all,
                   "its subscripts must differ in each turn of the loop",
                   "%s is defined twice, by this line in different turns of the loop",
                   name.s ? name.s : "a variable");
    else if (k >= 0)
        diag_error(&m->source.diags, s->lhs->all,
                   "each variable is defined once; rename one of them",
                   "%s is defined twice: here and in line %d", name.s ? name.s : "a variable",
                   instance_stmt(m, k)->lhs->at.line);
    else
        diag_error(&m->source.diags, s->lhs->all, "drop the relation, or its values in the data",
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
    int made = m->ir.defined_by[e] >= 0 ? m->ir.statement_of[m->ir.defined_by[e]] : -1;
    int given = made >= 0 && m->ir.statements.a[made].rel->in_data && !s->rel->in_data;
    if (made >= 0 && !given) return bad_twice(m, s, e); /* results of a data block are data */
    if (m->ir.arrays.a[m->ir.array_of[e]].is_const) return bad_twice(m, s, e);
    if (!s->rel->stochastic) {
        if (m->ir.state[e] == E_CONST) return bad_twice(m, s, e);
        m->ir.state[e] = E_UNKNOWN;
    } else {
        m->ir.observed[e] = m->ir.state[e] == E_CONST && !m->source.observe_declared;
        m->ir.state[e] = E_RANDOM;
    }
    m->ir.defined_by[e] = k;
    return 0;
}

static int own_all(struct model *m, struct stmt *s, const int *bound, int *at)
{
    const struct term *l = s->lhs;
    const struct array *a = &m->ir.arrays.a[l->array];
    int whole = l->narg != a->ndim || !l->narg;
    for (int i = 0; i < s->n; i++) {
        int k = s->first + i;
        struct box x;
        for (int d = 0; d < a->ndim; d++) {
            const int *b = whole ? NULL : bound + ((size_t)i * (size_t)l->narg + (size_t)d) * 2;
            x.x[d] = (struct extent){b ? b[0] : 1, b ? b[1] : a->dim[d], 0, 1, NULL};
        }
        box_start(&x, a);
        m->ir.statement_of[k] = (int)(s - m->ir.statements.a);
        m->ir.first_defined[k] = *at;
        if (x.n > 5 * m->ir.limit - *at) {
            diag_error(&m->source.diags, l->all, NULL,
                       "the model defines more than %d elements: too many", 5 * m->ir.limit);
            return IS_WRONG;
        }
        if (grow_ints(&m->ir.defined, &m->ir.defined_capacity, *at + x.n)) return NAMI_ENOMEM;
        for (int j = 0; j < x.n; j++, box_next(&x)) {
            m->ir.defined[(*at)++] = x.elem;
            if (own(m, s, k, x.elem)) return IS_WRONG;
        }
    }
    m->ir.first_defined[s->first + s->n] = *at;
    return 0;
}

/* ---- left sides without subscripts: shape of the right side -------------------- */

static int arrays_known(const struct model *m, const struct stmt *s)
{
    for (int i = 0; i < s->nref; i++)
        if (!m->ir.arrays.a[s->ref[i]->array].ready) return 0;
    return 1;
}

/* n[i] <- the value of argument i, which must be constant */
static int constant_size(struct model *m, const struct stmt *s, int i, const int *counter, int *n)
{
    double v = 0;
    int rc = eval_scalar(m, s->arg[i], counter, &v);
    if (rc == NOT_CONST)
        return say_not_const(m, s->arg[i], counter, "the size of a random matrix", NULL);
    if (rc != IS_CONST) return rc;
    if (isnan(v)) return say_missing(m, s->arg[i], counter);
    n[i] = v >= 0 && v <= 10000 ? (int)v : 0; /* size() says what is too large */
    return 0;
}

/* The number of elements of a draw from the distribution, for the instance with these counters. */
int dist_size(struct model *m, const struct stmt *s, const int *counter, int (*shape)[SHAPE],
              int *out)
{
    int n[DIST_ARGS] = {0}, rc;
    const char *why = "";
    *out = 1;
    for (int i = 0; i < s->narg; i++) {
        if ((rc = term_shape(m, s->arg[i], counter, shape[i]))) return rc;
        n[i] = shape_size(shape[i]);
    }
    if (!s->dist->size) return 0;
    if (s->dist->size_arg && (rc = constant_size(m, s, s->dist->size_arg - 1, counter, n)))
        return rc;
    *out = s->dist->size(n, &why);
    if (*out >= 0) return 0;
    diag_error(&m->source.diags, s->rel->rhs->all, NULL, "the arguments of %s() do not fit: %s",
               s->name, why);
    return IS_WRONG;
}

static int bare_shape(struct model *m, const struct stmt *s, int *shape)
{
    int arg[DIST_ARGS][SHAPE], n, rc;
    shape[0] = 0;
    if (s->rhs) return term_shape(m, s->rhs, s->counter, shape);
    if (!s->dist) return 0;
    if (!s->dist->size && domains[s->dist->domain].rank == 0) { /* as the largest argument */
        if (!arrays_known(m, s)) return 0;
        for (int i = 0; i < s->ngiven; i++) {
            if ((rc = term_shape(m, s->given[i], s->counter, arg[0]))) return rc;
            if (domains[s->formal[i].domain].rank == 0 && shape_size(arg[0]) > 1)
                memcpy(shape, arg[0], sizeof arg[0]);
        }
        return 0;
    }
    if ((rc = dist_size(m, s, s->counter, arg, &n))) return rc;
    int rank = domains[s->dist->domain].rank, k = (int)lround(sqrt(n));
    shape[0] = rank;
    shape[1] = rank == 2 ? k : n;
    shape[2] = k;
    return 0;
}

/* In any order: repeats as long as another size can be determined. */
static int bare_sides(struct model *m, int in_data)
{
    for (int again = 1, last = 0; again || !last;) {
        if (!again) last = 1; /* report the remaining unknown sizes */
        again = 0;
        for (size_t i = 0; i < m->ir.statements.n; i++) {
            struct stmt *s = &m->ir.statements.a[i];
            struct array *a = &m->ir.arrays.a[s->lhs->array];
            int shape[SHAPE], rc;
            if (s->rel->in_data != in_data || s->lhs->narg || a->ndim >= 0 || !s->n) continue;
            if (!last && !arrays_known(m, s)) continue;
            rc = bare_shape(m, s, shape);
            if (rc < 0) return rc;
            if (rc) shape[0] = 0; /* an error, or a cycle, which schedule.c reports */
            a->ndim = shape[0];
            memcpy(a->dim, shape + 1, sizeof(int) * (size_t)shape[0]);
            if (add_elements(m, s->lhs->array, s->lhs->at)) return NAMI_ENOMEM;
            again = 1;
        }
    }
    return 0;
}

/* ---- all of it ------------------------------------------------------------------------ */

/* A block: data { }, or the model. */
struct block {
    struct model *m;
    int in_data, first; /* instance */
    int **bound;        /* of each statement */
    int *at;            /* the next of lhs[] */
};

static int is_in(const struct block *b, const struct stmt *s)
{
    return s->rel->in_data == b->in_data;
}

static int make_instances(struct block *b)
{
    struct model *m = b->m;
    int rc = 0;
    for (size_t i = 0; i < m->ir.statements.n && !rc; i++) {
        struct stmt *s = &m->ir.statements.a[i];
        if (!is_in(b, s)) continue;
        if (b->in_data && s->rel->stochastic) {
            diag_error(&m->source.diags, s->rel->at, "give the values themselves",
                       "a data block cannot draw random numbers");
            continue;
        }
        rc = expand_loops(m, s);
        s->first = m->ir.num_instances;
        m->ir.num_instances += s->n;
    }
    if (rc) return rc;
    if (grow_ints(&m->ir.statement_of, &m->ir.instance_capacity, m->ir.num_instances + 1) ||
        grow_ints(&m->ir.first_defined, &m->ir.offset_capacity, m->ir.num_instances + 2))
        return NAMI_ENOMEM;
    return 0;
}

/* Determines the sizes of the arrays on left sides. */
static int make_elements(struct block *b)
{
    struct model *m = b->m;
    for (size_t i = 0; i < m->ir.statements.n; i++) {
        struct stmt *s = &m->ir.statements.a[i];
        if (!is_in(b, s) || !s->n || !s->lhs->narg) continue;
        b->bound[i] = raw_array(int, (size_t)s->n *(size_t)s->lhs->narg * 2);
        if (!b->bound[i]) return NAMI_ENOMEM;
        int rc = lhs_bounds(m, s, b->bound[i]);
        if (rc < 0) return rc;
    }
    if (m->source.diags.nerror) return 0;
    for (size_t i = 0; i < m->ir.statements.n; i++) {
        struct stmt *s = &m->ir.statements.a[i];
        struct array *a = &m->ir.arrays.a[s->lhs->array];
        if (!is_in(b, s) || !s->n || a->ready || a->ndim < 1) continue;
        if (!s->lhs->narg)
            diag_error(&m->source.diags, s->lhs->all, "write its subscripts",
                       "%s has no subscripts here, but %d elsewhere", a->name, a->ndim);
        else if (add_elements(m, s->lhs->array, s->lhs->at))
            return NAMI_ENOMEM;
    }
    return m->source.diags.nerror ? 0 : bare_sides(m, b->in_data);
}

/* Relations over whole arrays become one for each element, and instances are counted again. */
static int make_loops(struct block *b)
{
    struct model *m = b->m;
    m->ir.num_instances = b->first;
    for (size_t i = 0; i < m->ir.statements.n; i++) {
        struct stmt *s = &m->ir.statements.a[i];
        const struct term *lhs = s->lhs;
        if (!is_in(b, s)) continue;
        int rc = vectorize(m, s);
        if (rc) return rc;
        s->first = m->ir.num_instances;
        m->ir.num_instances += s->n;
        if (s->lhs == lhs || m->source.diags.nerror) continue;
        free(b->bound[i]);
        b->bound[i] = raw_array(int, (size_t)s->n *(size_t)s->lhs->narg * 2);
        if (!b->bound[i]) return NAMI_ENOMEM;
        if ((rc = lhs_bounds(m, s, b->bound[i])) < 0) return rc;
    }
    if (grow_ints(&m->ir.statement_of, &m->ir.instance_capacity, m->ir.num_instances + 1) ||
        grow_ints(&m->ir.first_defined, &m->ir.offset_capacity, m->ir.num_instances + 2))
        return NAMI_ENOMEM;
    return 0;
}

static int own_elements(struct block *b)
{
    struct model *m = b->m;
    m->ir.first_defined[b->first] = *b->at;
    for (size_t i = 0; i < m->ir.statements.n; i++) {
        struct stmt *s = &m->ir.statements.a[i];
        if (!is_in(b, s) || !s->n) continue;
        int rc = own_all(m, s, b->bound[i], b->at);
        if (rc) return rc < 0 ? rc : 0;
    }
    return 0;
}

/* Which deterministic elements are constants? */
static int settle(struct block *b)
{
    struct model *m = b->m;
    for (int k = b->first; k < m->ir.num_instances; k++)
        for (int j = m->ir.first_defined[k]; j < m->ir.first_defined[k + 1]; j++) {
            int rc = elem_is_const(m, m->ir.defined[j]);
            const struct stmt *s = instance_stmt(m, k);
            if (rc < 0) return rc;
            if (rc && b->in_data && !m->source.diags.nerror)
                say_not_const(m, s->rhs, instance_counter(m, k), "what a data block computes",
                              "a data block knows only the data");
        }
    return 0;
}

int model_expand(struct model *m, const struct model_options *opt)
{
    int at = 0;
    m->ir.limit = opt && opt->limit ? opt->limit : LIMIT;
    int rc = model_declare(m, opt);
    int **bound = new_array(int *, m->ir.statements.n);
    if (!bound) return NAMI_ENOMEM;
    int last = opt && opt->block ? 1 : 0; /* the data block alone, or the model too */
    for (int in_data = 1; in_data >= last && !rc && !m->source.diags.nerror; in_data--) {
        struct block b = {m, in_data, m->ir.num_instances, bound, &at};
        rc = make_instances(&b);
        if (!rc && !m->source.diags.nerror) rc = make_elements(&b);
        m->ir.expanded = !in_data;
        if (!rc && !m->source.diags.nerror) rc = make_loops(&b);
        if (!rc && !m->source.diags.nerror) rc = own_elements(&b);
        m->ir.owned = !in_data;
        if (!rc && !m->source.diags.nerror) rc = settle(&b);
    }
    for (size_t i = 0; i < m->ir.statements.n; i++) free(bound[i]);
    free(bound);
    return rc;
}
