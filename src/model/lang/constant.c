/* constant.c: evaluates expressions that do not depend on random variables. */
#include "model/lang/lang.h"

#include <limits.h>

enum { MAP_ARGS = 1 + DIST_ARGS }; /* the most of an element-wise operation: density_op.c */

void cval_free(struct cval *v)
{
    free(v->x);
    *v = (struct cval){0};
}

static int cval_size(struct cval *v, int n)
{
    int cap = n ? n : 1;
    if (cap > v->cap) {
        double *x = realloc(v->x, sizeof *x * (size_t)cap);
        if (!x) return NAMI_ENOMEM;
        v->x = x;
        v->cap = cap;
    }
    v->n = n;
    return 0;
}

static void cval_shape(struct cval *v, const int *shape)
{
    v->ndim = shape[0];
    for (int i = 0; i < shape[0]; i++) v->dim[i] = shape[i + 1];
}

void shape_of_cval(const struct cval *v, int *shape)
{
    shape[0] = v->ndim;
    for (int i = 0; i < v->ndim; i++) shape[i + 1] = v->dim[i];
}

int too_large(struct model *m, const struct term *t, double n)
{
    diag_error(&m->source.diags, t->all, NULL, "this has %.10g elements: more than %d are too many",
               n, m->ir.limit);
    return IS_WRONG;
}

/* ---- elements ----------------------------------------------------------------- */

/* Recursion from element to element stops at this depth with TOO_DEEP: the required instance is
   then evaluated first, and the rest again. A chain of n elements costs 2n evaluations. */
enum { TOO_DEEP = 3, DEPTH_MAX = 1600 };

static void mark(struct model *m, int k, int state)
{
    for (int j = m->ir.first_defined[k]; j < m->ir.first_defined[k + 1]; j++)
        m->ir.state[m->ir.defined[j]] = (unsigned char)state;
}

/* The constant values that a deterministic instance gives its elements. */
static int eval_instance(struct model *m, int k)
{
    const struct stmt *s = instance_stmt(m, k);
    int a = m->ir.first_defined[k], n = m->ir.first_defined[k + 1] - a,
        cost = 8 + s->rel->rhs->height;
    struct cval v = {0};
    mark(m, k, E_BUSY);
    m->evaluation.depth += cost;
    int rc = eval_term(m, s->rhs, instance_counter(m, k), &v);
    m->evaluation.depth -= cost;
    if (rc == IS_CONST && v.n != n && v.n != 1) {
        struct str name = {0};
        inst_name(m, k, &name);
        diag_error(&m->source.diags, s->rhs->all, NULL, "%s has %d element%s, but this has %d",
                   name.s ? name.s : "it", n, n == 1 ? "" : "s", v.n);
        str_free(&name);
        rc = IS_WRONG;
    }
    mark(m, k, rc == IS_CONST ? E_CONST : rc == TOO_DEEP ? E_UNKNOWN : E_RANDOM);
    for (int i = 0; i < n && rc == IS_CONST; i++)
        m->ir.value[m->ir.defined[a + i]] = v.x[v.n == 1 ? 0 : i];
    cval_free(&v);
    return rc;
}

/* Entry point: uses an explicit stack for deep recursion. Waiting instances are marked busy, so
   that cycles terminate. */
static int eval_stacked(struct model *m, int k)
{
    vec(int) todo = {0};
    int rc = vec_push(&todo, k) ? NAMI_ENOMEM : 0;
    while (rc >= 0 && todo.n) {
        k = todo.a[todo.n - 1];
        rc = eval_instance(m, k);
        if (rc != TOO_DEEP) {
            todo.n--;
            continue;
        }
        mark(m, k, E_BUSY);
        if (vec_push(&todo, m->evaluation.deferred)) rc = NAMI_ENOMEM;
    }
    vec_free(&todo);
    return rc;
}

int elem_is_const(struct model *m, int e)
{
    int rc;
    if (m->ir.arrays.a[m->ir.array_of[e]].free) return NOT_CONST;
    switch (m->ir.state[e]) {
    case E_CONST: return IS_CONST;
    case E_RANDOM: return NOT_CONST;
    case E_BUSY: return NOT_CONST; /* a cycle: reported by schedule.c */
    case E_UNKNOWN:
        if (m->evaluation.depth > DEPTH_MAX) {
            m->evaluation.deferred = m->ir.defined_by[e];
            return TOO_DEEP;
        }
        rc = m->evaluation.depth ? eval_instance(m, m->ir.defined_by[e])
                                 : eval_stacked(m, m->ir.defined_by[e]);
        return rc == IS_WRONG ? NOT_CONST : rc;
    default: /* not defined, or not yet */
        return !m->ir.owned && m->ir.arrays.a[m->ir.array_of[e]].defined ? NOT_CONST : IS_WRONG;
    }
}

/* ---- expressions ---------------------------------------------------------------- */

static int not_scalar(struct model *m, const struct term *t, int n)
{
    diag_error(&m->source.diags, t->all, NULL, "a single number is needed here, not %d", n);
    return IS_WRONG;
}

static int scalar_of_term(struct model *m, const struct term *t, const int *counter, double *out)
{
    struct cval v = {0};
    int rc = eval_term(m, t, counter, &v);
    if (rc == IS_CONST && v.n != 1) rc = not_scalar(m, t, v.n);
    if (rc == IS_CONST) *out = v.x[0];
    cval_free(&v);
    return rc;
}

/* Written once, so that evaluating a complete model does not modify it: see working_copy. */
static void use_array(struct model *m, int array)
{
    if (!m->ir.arrays.a[array].used) m->ir.arrays.a[array].used = 1;
}

static int scalar_of_ref(struct model *m, const struct term *t, const int *counter, double *out)
{
    struct box b;
    int rc = box_of(m, t, counter, BOX_CONST, &b);
    if (rc) return rc;
    if (b.n != 1) return not_scalar(m, t, b.n);
    use_array(m, t->array);
    rc = elem_is_const(m, b.elem);
    if (rc == IS_WRONG) return undefined_element(m, t, b.elem, 0);
    if (rc == IS_CONST) *out = m->ir.value[b.elem];
    return rc;
}

int eval_scalar(struct model *m, const struct term *t, const int *counter, double *out)
{
    double x[MAP_ARGS] = {0};
    const double *a[MAP_ARGS];
    int rc;
    switch (t->kind) {
    case T_NUMBER: *out = t->value; return IS_CONST;
    case T_COUNTER: *out = counter[t->depth]; return IS_CONST;
    case T_REF: return scalar_of_ref(m, t, counter, out);
    case T_OP:
        if (!t->op->map || t->narg > MAP_ARGS) break;
        for (int i = 0; i < t->narg; i++) {
            a[i] = &x[i];
            if ((rc = eval_scalar(m, t->arg[i], counter, &x[i]))) return rc;
        }
        t->op->map(t->op, 1, out, a);
        return IS_CONST;
    default: break;
    }
    return scalar_of_term(m, t, counter, out);
}

static int eval_ref(struct model *m, const struct term *t, const int *counter, struct cval *out)
{
    struct box b;
    int shape[SHAPE], rc = box_of(m, t, counter, BOX_CONST, &b);
    if (rc) return rc;
    box_shape(&b, shape);
    use_array(m, t->array);
    cval_shape(out, shape);
    if (cval_size(out, b.n)) return NAMI_ENOMEM;
    for (int i = 0; i < b.n; i++, box_next(&b)) {
        rc = elem_is_const(m, b.elem);
        if (rc == IS_WRONG) return undefined_element(m, t, b.elem, 0);
        if (rc) return rc;
        out->x[i] = m->ir.value[b.elem];
    }
    return IS_CONST;
}

static int eval_range(struct model *m, const struct term *t, const int *counter, struct cval *out)
{
    double x = 0, y = 0;
    int rc;
    if ((rc = eval_scalar(m, t->arg[0], counter, &x)) ||
        (rc = eval_scalar(m, t->arg[1], counter, &y)))
        return rc;
    if (isnan(x)) return say_missing(m, t->arg[0], counter);
    if (isnan(y)) return say_missing(m, t->arg[1], counter);
    if (y - x > m->ir.limit || fabs(x) > 1e15) return too_large(m, t, y - x + 1);
    int n = y < x ? 0 : (int)floor(y - x + 1e-9) + 1; /* empty, as in JAGS: not 3:1 = 3 2 1 */
    if (cval_size(out, n)) return NAMI_ENOMEM;
    out->ndim = 1;
    out->dim[0] = n;
    for (int i = 0; i < n; i++) out->x[i] = x + i;
    return IS_CONST;
}

/* Element-wise over arrays: scalars are recycled; other shapes must be equal. */
static int eval_map(struct model *m, const struct term *t, const struct cval *v, struct cval *out)
{
    int shape[SHAPE] = {0};
    for (int i = 0; i < t->narg; i++) {
        int s[SHAPE] = {0};
        shape_of_cval(&v[i], s);
        if (shapes_merge(m, t, shape, s)) return IS_WRONG;
    }
    out->ndim = shape[0];
    int n = 1;
    for (int i = 0; i < shape[0]; i++) n *= out->dim[i] = shape[i + 1];
    if (cval_size(out, n)) return NAMI_ENOMEM;
    for (int i = 0; i < n; i++) {
        const double *a[MAP_ARGS];
        for (int k = 0; k < t->narg && k < MAP_ARGS; k++) a[k] = &v[k].x[v[k].n == 1 ? 0 : i];
        t->op->map(t->op, 1, &out->x[i], a);
    }
    return IS_CONST;
}

static int eval_block(struct model *m, const struct term *t, const struct cval *v, struct cval *out)
{
    int(*shape)[SHAPE] = new_array(dims, t->narg + 1);
    int dim[INSTR_DIMS] = {0}, result[SHAPE] = {0}, total = 0, n = 1, rc = NAMI_ENOMEM;
    const char *why = "";
    for (int i = 0; i < t->narg; i++) total += v[i].n;
    struct lanes *a = new_array(struct lanes, total + 1);
    double **o = NULL, *work = NULL;
    if (!shape || !a) goto out;
    for (int i = 0; i < t->narg; i++) shape_of_cval(&v[i], shape[i]);
    if (shape_op(m, t, (const int(*)[SHAPE])shape, result, dim, &why)) {
        rc = IS_WRONG;
        goto out;
    }
    out->ndim = result[0];
    for (int i = 0; i < result[0]; i++) n *= out->dim[i] = result[i + 1];
    o = new_array(double *, n);
    work = new_array(double, t->op->work ? t->op->work(dim) : 0);
    if (!o || !work || cval_size(out, n)) goto out;
    for (int i = 0; i < n; i++) o[i] = &out->x[i];
    total = 0;
    for (int i = 0; i < t->narg; i++)
        for (int j = 0; j < v[i].n; j++) a[total++] = (struct lanes){&v[i].x[j], 0};
    t->op->block(t->op, dim, 1, o, a, work);
    rc = IS_CONST;
out:
    free(shape);
    free(a);
    free(o);
    free(work);
    return rc;
}

static int eval_op(struct model *m, const struct term *t, const int *counter, struct cval *out)
{
    struct cval *v = new_array(struct cval, t->narg);
    int rc = v ? IS_CONST : NAMI_ENOMEM;
    for (int i = 0; i < t->narg && !rc; i++) rc = eval_term(m, t->arg[i], counter, &v[i]);
    if (!rc) rc = t->op->map ? eval_map(m, t, v, out) : eval_block(m, t, v, out);
    for (int i = 0; v && i < t->narg; i++) cval_free(&v[i]);
    free(v);
    return rc;
}

/* rep(x, times), x of n elements: repeats x. */
int eval_times(struct model *m, const struct term *t, const int *counter, int n, int *out)
{
    double x = 0;
    int rc = eval_scalar(m, t->arg[1], counter, &x);
    if (rc == NOT_CONST)
        return say_not_const(m, t->arg[1], counter, "how often rep() repeats", NULL);
    if (rc) return rc;
    if (isnan(x)) return say_missing(m, t->arg[1], counter);
    if (x * n > m->ir.limit) return too_large(m, t, x * n);
    if (is_whole(x, out) && *out >= 0) return IS_CONST;
    diag_error(&m->source.diags, t->arg[1]->all, NULL, "rep() cannot repeat %g times", x);
    return IS_WRONG;
}

static int eval_rep(struct model *m, const struct term *t, const int *counter, struct cval *out)
{
    struct cval v = {0};
    int times = 0, rc = eval_term(m, t->arg[0], counter, &v);
    if (!rc) rc = eval_times(m, t, counter, v.n, &times);
    if (!rc && cval_size(out, times * v.n)) rc = NAMI_ENOMEM;
    if (!rc) {
        out->ndim = 1;
        out->dim[0] = out->n;
        for (int i = 0; i < out->n; i++) out->x[i] = v.x[i % v.n];
    }
    cval_free(&v);
    return rc;
}

int eval_place(struct model *m, const struct term *t, const int *counter, const int *shape,
               int *out)
{
    *out = 0;
    for (int d = 0; d < shape[0] && d + 1 < t->narg; d++) {
        double x = 0;
        int at, rc = eval_scalar(m, t->arg[1 + d], counter, &x);
        if (rc) return rc;
        if (!is_whole(x, &at) || at < 1 || at > shape[1 + d])
            return not_scalar(m, t, shape_size(shape));
        *out = *out * shape[1 + d] + at - 1;
    }
    return IS_CONST;
}

static int eval_element(struct model *m, const struct term *t, const int *counter, struct cval *out)
{
    struct cval v = {0};
    int shape[SHAPE], at = 0, rc = eval_term(m, t->arg[0], counter, &v);
    shape_of_cval(&v, shape);
    if (!rc) rc = eval_place(m, t, counter, shape, &at);
    if (!rc && cval_size(out, 1)) rc = NAMI_ENOMEM;
    out->ndim = 0;
    if (!rc) out->x[0] = v.x[at];
    cval_free(&v);
    return rc;
}

int eval_term(struct model *m, const struct term *t, const int *counter, struct cval *out)
{
    int rc;
    switch (t->kind) {
    case T_NUMBER:
    case T_COUNTER:
        if (cval_size(out, 1)) return NAMI_ENOMEM;
        out->ndim = 0;
        return eval_scalar(m, t, counter, out->x);
    case T_REF: return eval_ref(m, t, counter, out);
    case T_RANGE: return eval_range(m, t, counter, out);
    case T_OP: return eval_op(m, t, counter, out);
    case T_NET: return NOT_CONST;
    case T_REP: return eval_rep(m, t, counter, out);
    case T_ELEMENT: return eval_element(m, t, counter, out);
    case T_LENGTH:
    case T_DIM: break;
    }
    int shape[SHAPE] = {0};
    if ((rc = term_shape(m, t->arg[0], counter, shape))) return rc;
    if (cval_size(out, t->kind == T_DIM && shape[0] > 1 ? shape[0] : 1)) return NAMI_ENOMEM;
    out->ndim = t->kind == T_DIM;
    out->dim[0] = out->n;
    out->x[0] = shape_size(shape);
    if (t->kind == T_DIM)
        for (int i = 0; i < shape[0]; i++) out->x[i] = shape[i + 1];
    return IS_CONST;
}
