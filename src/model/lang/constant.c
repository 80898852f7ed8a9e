/* constant.c: the values of expressions that do not depend on random variables. */
#include "model/lang/lang.h"

#include <limits.h>

void cval_free(struct cval *v)
{
    free(v->x);
    *v = (struct cval){0};
}

static int cval_size(struct cval *v, int n)
{
    if (n <= v->cap) return v->n = n, 0;
    double *x = realloc(v->x, sizeof *x * (size_t)n);
    if (!x) return NAMI_ENOMEM;
    v->x = x;
    v->n = v->cap = n;
    return 0;
}

/* ---- elements ----------------------------------------------------------------- */

/* The constant values that a deterministic instance gives its elements. */
static int eval_instance(struct model *m, int k)
{
    const struct stmt *s = &m->stmt.a[m->inst_stmt[k]];
    int a = m->lhs_off[k], n = m->lhs_off[k + 1] - a;
    struct cval v = {0};
    for (int i = 0; i < n; i++) m->state[m->lhs[a + i]] = E_BUSY;
    int rc = eval_term(m, s->rhs, inst_counter(m, k), &v);
    if (rc == IS_CONST && v.n != n && v.n != 1) {
        struct str name = {0};
        inst_name(m, k, &name);
        diag_error(&m->diags, s->rhs->all, NULL, "%s has %d element%s, but this has %d",
                   name.s ? name.s : "it", n, n == 1 ? "" : "s", v.n);
        str_free(&name);
        rc = IS_WRONG;
    }
    for (int i = 0; i < n; i++) {
        int e = m->lhs[a + i];
        m->state[e] = rc == IS_CONST ? E_CONST : E_RANDOM;
        if (rc == IS_CONST) m->value[e] = v.x[v.n == 1 ? 0 : i];
    }
    cval_free(&v);
    return rc;
}

int elem_is_const(struct model *m, int e)
{
    int rc;
    switch (m->state[e]) {
    case E_CONST: return IS_CONST;
    case E_RANDOM: return NOT_CONST;
    case E_BUSY: return NOT_CONST; /* a cycle: the schedule finds and tells it */
    case E_UNKNOWN:
        rc = eval_instance(m, m->owner[e]);
        return rc == IS_WRONG ? NOT_CONST : rc;
    default: return IS_WRONG;
    }
}

/* An element that nothing defines: said once, at the reference. */
static int undefined(struct model *m, const struct term *t, int e)
{
    struct str name = {0};
    const struct array *a = &m->array.a[t->array];
    elem_name(m, e, &name);
    if (a->is_const || a->data)
        diag_error(&m->diags, t->all, "give it a value in the data",
                   "%s has no value: it is missing in the data", name.s ? name.s : a->name);
    else
        diag_error(&m->diags, t->all,
                   diag_text(&m->diags, "define it with ~ or <-, or give %s in the data", a->name),
                   "%s is not defined", name.s ? name.s : a->name);
    str_free(&name);
    return IS_WRONG;
}

/* ---- references ---------------------------------------------------------------- */

static int integral(double x, int *out)
{
    if (!(fabs(x - round(x)) < 1e-9) || fabs(x) > INT_MAX / 2) return 0;
    *out = (int)round(x);
    return 1;
}

static int out_of_range(struct model *m, const struct term *t, int dim, double x)
{
    const struct array *a = &m->array.a[t->array];
    const struct term *sub = t->arg[dim];
    int k;
    if (!integral(x, &k))
        diag_error(&m->diags, sub->all, NULL, "subscript %g of %s is not a whole number", x, a->name);
    else if (k == 0)
        diag_error(&m->diags, sub->all, "subscripts begin at 1", "subscript 0 of %s", a->name);
    else
        diag_error(&m->diags, sub->all, NULL, "subscript %d of %s is out of range: it has 1 to %d", k,
                   a->name, a->dim[dim]);
    return IS_WRONG;
}

/* lo..hi of a subscript that is a constant number, range or empty.  A vector that is
   no range (x[c(1,3)]) is NOT handled: IS_WRONG. */
int eval_subscript(struct model *m, const struct term *t, int dim, const int *counter, int *lo, int *hi)
{
    const struct array *a = &m->array.a[t->array];
    const struct term *sub = t->arg[dim];
    double x, y;
    int rc;
    if (!sub) {
        *lo = 1, *hi = a->dim[dim];
        return IS_CONST;
    }
    if (sub->kind == T_RANGE) {
        if ((rc = eval_scalar(m, sub->arg[0], counter, &x)) ||
            (rc = eval_scalar(m, sub->arg[1], counter, &y)))
            return rc;
    } else {
        if ((rc = eval_scalar(m, sub, counter, &x))) return rc;
        y = x;
    }
    if (!integral(x, lo) || *lo < 1 || *lo > a->dim[dim]) return out_of_range(m, t, dim, x);
    if (!integral(y, hi) || *hi < 1 || *hi > a->dim[dim]) return out_of_range(m, t, dim, y);
    if (*hi < *lo) {
        diag_error(&m->diags, sub->all, NULL, "the range %d:%d of %s is empty", *lo, *hi, a->name);
        return IS_WRONG;
    }
    return IS_CONST;
}

int check_ndim(struct model *m, const struct term *t)
{
    const struct array *a = &m->array.a[t->array];
    if (a->ndim < 0) {
        diag_error(&m->diags, t->at, diag_text(&m->diags, "define it with ~ or <-, or give %s in the data", a->name),
                   "%s is not defined", a->name);
        return IS_WRONG;
    }
    int given = t->narg == 1 && !t->arg[0] ? a->ndim : t->narg; /* x[] is all of x */
    if (t->narg && given != a->ndim && !(a->ndim == 0 && t->narg == 1)) {
        diag_error(&m->diags, t->all, NULL, "%s has %d dimension%s, not %d", a->name, a->ndim,
                   a->ndim == 1 ? "" : "s", t->narg);
        return IS_WRONG;
    }
    return IS_CONST;
}

/* The place of a scalar reference among the elements. */
static int eval_place(struct model *m, const struct term *t, const int *counter, int *out)
{
    const struct array *a = &m->array.a[t->array];
    int at = 0, rc = check_ndim(m, t);
    if (rc) return rc;
    for (int d = 0; d < t->narg && a->ndim; d++) {
        const struct term *sub = t->arg[d];
        double x;
        int k;
        if (!sub || sub->kind == T_RANGE) {
            int hi;
            if ((rc = eval_subscript(m, t, d, counter, &k, &hi))) return rc;
            if (hi != k) return -1;
        } else {
            if ((rc = eval_scalar(m, sub, counter, &x))) return rc;
            if (!integral(x, &k) || k < 1 || k > a->dim[d]) return out_of_range(m, t, d, x);
        }
        at = at * a->dim[d] + k - 1;
    }
    if (!t->narg && a->n != 1) return -1;
    *out = a->first + at;
    return IS_CONST;
}

/* ---- expressions ---------------------------------------------------------------- */

static int not_scalar(struct model *m, const struct term *t, int n)
{
    diag_error(&m->diags, t->all, NULL, "a single number is needed here, not %d", n);
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

int eval_scalar(struct model *m, const struct term *t, const int *counter, double *out)
{
    double x[3];
    const double *a[3] = {x, x + 1, x + 2};
    int e = 0, rc;
    switch (t->kind) {
    case T_NUMBER: *out = t->value; return IS_CONST;
    case T_COUNTER: *out = counter[t->depth]; return IS_CONST;
    case T_REF:
        rc = eval_place(m, t, counter, &e);
        if (rc == -1) break;
        if (rc) return rc;
        m->array.a[t->array].used = 1;
        rc = elem_is_const(m, e);
        if (rc == IS_WRONG) return undefined(m, t, e);
        if (rc == IS_CONST) *out = m->value[e];
        return rc;
    case T_OP:
        if (!t->op->map || t->narg > 3) break;
        for (int i = 0; i < t->narg; i++)
            if ((rc = eval_scalar(m, t->arg[i], counter, &x[i]))) return rc;
        t->op->map(t->op, 1, out, a);
        return IS_CONST;
    default: break;
    }
    return scalar_of_term(m, t, counter, out);
}

static int eval_ref(struct model *m, const struct term *t, const int *counter, struct cval *out)
{
    const struct array *a = &m->array.a[t->array];
    int lo[MAX_DIM], hi[MAX_DIM], at[MAX_DIM], n = 1, rc = check_ndim(m, t);
    if (rc) return rc;
    m->array.a[t->array].used = 1;
    out->ndim = 0;
    for (int d = 0; d < a->ndim; d++) {
        int whole = t->narg <= d || !t->arg[d] || t->narg != a->ndim;
        if (whole)
            lo[d] = 1, hi[d] = a->dim[d];
        else if ((rc = eval_subscript(m, t, d, counter, &lo[d], &hi[d])))
            return rc;
        at[d] = lo[d];
        n *= hi[d] - lo[d] + 1;
        if (hi[d] > lo[d] || whole) {
            if (out->ndim == 4) {
                diag_error(&m->diags, t->all, NULL, "more than 4 dimensions in an expression");
                return IS_WRONG;
            }
            out->dim[out->ndim++] = hi[d] - lo[d] + 1;
        }
    }
    if (cval_size(out, n)) return NAMI_ENOMEM;
    for (int i = 0; i < n; i++) {
        int e = 0;
        for (int d = 0; d < a->ndim; d++) e = e * a->dim[d] + at[d] - 1;
        e += a->first;
        rc = elem_is_const(m, e);
        if (rc == IS_WRONG) return undefined(m, t, e);
        if (rc) return rc;
        out->x[i] = m->value[e];
        for (int d = a->ndim - 1; d >= 0 && ++at[d] > hi[d]; d--) at[d] = lo[d];
    }
    return IS_CONST;
}

static int eval_range(struct model *m, const struct term *t, const int *counter, struct cval *out)
{
    double x, y;
    int rc;
    if ((rc = eval_scalar(m, t->arg[0], counter, &x)) || (rc = eval_scalar(m, t->arg[1], counter, &y)))
        return rc;
    if (!(fabs(x) < 1e9) || !(fabs(y) < 1e9)) {
        int missing = value_is_missing(x) || value_is_missing(y);
        diag_error(&m->diags, t->all,
                   missing ? "give it in a data file (--data FILE), or by --set NAME=VALUE" : NULL,
                   missing ? "a bound of this range has no value" : "a bound of this range is not a number below 1e9");
        return IS_WRONG;
    }
    int n = y < x ? 0 : (int)floor(y - x + 1e-9) + 1; /* empty, as in JAGS: not 3:1 = 3 2 1 */
    if (cval_size(out, n ? n : 1)) return NAMI_ENOMEM;
    out->n = n;
    out->ndim = 1;
    out->dim[0] = n;
    for (int i = 0; i < n; i++) out->x[i] = x + i;
    return IS_CONST;
}

void shape_of_cval(const struct cval *v, int *shape)
{
    shape[0] = v->ndim;
    for (int i = 0; i < v->ndim && i < 3; i++) shape[i + 1] = v->dim[i];
}

/* Element-wise over arrays: scalars are recycled; other shapes must be equal. */
static int eval_map(struct model *m, const struct term *t, const struct cval *v, struct cval *out)
{
    int shape[4] = {0};
    for (int i = 0; i < t->narg; i++) {
        int s[4] = {0};
        shape_of_cval(&v[i], s);
        if (shapes_merge(m, t, shape, s)) return IS_WRONG;
    }
    out->ndim = shape[0];
    int n = 1;
    for (int i = 0; i < shape[0]; i++) n *= out->dim[i] = shape[i + 1];
    if (cval_size(out, n ? n : 1)) return NAMI_ENOMEM;
    out->n = n;
    for (int i = 0; i < n; i++) {
        const double *a[3];
        for (int k = 0; k < t->narg && k < 3; k++) a[k] = &v[k].x[v[k].n == 1 ? 0 : i];
        t->op->map(t->op, 1, &out->x[i], a);
    }
    return IS_CONST;
}

static int eval_block(struct model *m, const struct term *t, const struct cval *v, struct cval *out)
{
    int (*shape)[4] = new_array(dims, t->narg + 1);
    int dim[INSTR_DIMS] = {0}, result[4] = {0}, total = 0, n = 1, rc = NAMI_ENOMEM;
    const char *why = "";
    for (int i = 0; i < t->narg; i++) total += v[i].n;
    struct lanes *a = new_array(struct lanes, total + 1);
    double **o = NULL, *work = NULL;
    if (!shape || !a) goto out;
    for (int i = 0; i < t->narg; i++) shape_of_cval(&v[i], shape[i]);
    if (shape_op(m, t, (const int (*)[4])shape, result, dim, &why)) {
        rc = IS_WRONG;
        goto out;
    }
    out->ndim = result[0];
    for (int i = 0; i < result[0]; i++) n *= out->dim[i] = result[i + 1];
    o = new_array(double *, n);
    work = new_array(double, t->op->work ? t->op->work(dim) : 0);
    if (!o || !work || cval_size(out, n ? n : 1)) goto out;
    out->n = n;
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

/* rep(x, times): x over and over. */
int eval_times(struct model *m, const struct term *t, const int *counter, int *out)
{
    double x;
    int rc = eval_scalar(m, t->arg[1], counter, &x);
    if (rc == NOT_CONST)
        diag_error(&m->diags, t->arg[1]->all, NULL, "how often rep() repeats must be a constant");
    if (rc) return rc < 0 ? rc : IS_WRONG;
    if (integral(x, out) && *out >= 0 && *out < INT_MAX / 64) return IS_CONST;
    diag_error(&m->diags, t->arg[1]->all, NULL, "rep() cannot repeat %g times", x);
    return IS_WRONG;
}

static int eval_rep(struct model *m, const struct term *t, const int *counter, struct cval *out)
{
    struct cval v = {0};
    int times = 0, rc = eval_times(m, t, counter, &times);
    if (!rc) rc = eval_term(m, t->arg[0], counter, &v);
    if (!rc && (double)times * v.n > 1e8) rc = not_scalar(m, t, times);
    if (!rc && cval_size(out, times > 0 ? times * v.n : 1)) rc = NAMI_ENOMEM;
    if (!rc) {
        out->ndim = 1;
        out->n = out->dim[0] = times * v.n;
        for (int i = 0; i < out->n; i++) out->x[i] = v.x[i % v.n];
    }
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
    case T_LENGTH:
    case T_DIM: break;
    }
    int shape[4] = {0}, n = 1;
    if ((rc = term_shape(m, t->arg[0], counter, shape))) return rc;
    for (int i = 0; i < shape[0]; i++) n *= shape[i + 1];
    if (cval_size(out, t->kind == T_DIM && shape[0] > 1 ? shape[0] : 1)) return NAMI_ENOMEM;
    out->ndim = t->kind == T_DIM;
    out->dim[0] = out->n;
    out->x[0] = n;
    if (t->kind == T_DIM)
        for (int i = 0; i < shape[0]; i++) out->x[i] = shape[i + 1];
    return IS_CONST;
}
