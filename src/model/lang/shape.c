/* shape.c: the sizes of expressions, for one turn of the loops. */
#include "model/lang/lang.h"

static void put_shape(struct str *t, const int *s)
{
    if (!s[0]) str_put(t, "a single number");
    for (int i = 0; i < s[0]; i++)
        str_printf(t, i ? " x %d" : s[0] == 1 ? "%d elements" : "%d", s[i + 1]);
}

/* shape becomes that of an element-wise operation with one more argument. */
int shapes_merge(struct model *m, const struct term *t, int *shape, const int *s)
{
    if (!s[0]) return 0;
    int n = 1, k = 1;
    for (int i = 0; i < s[0]; i++) n *= s[i + 1];
    for (int i = 0; i < shape[0]; i++) k *= shape[i + 1];
    if (!shape[0] || (k == 1 && n != 1)) {
        memcpy(shape, s, sizeof(int[4]));
        return 0;
    }
    if (n == 1) return 0;
    if (shape[0] == s[0] && memcmp(shape + 1, s + 1, sizeof(int) * (size_t)s[0]) == 0) return 0;
    struct str text = {0};
    put_shape(&text, shape);
    str_put(&text, " and ");
    put_shape(&text, s);
    diag_error(&m->diags, t->all, NULL, "the sides of %s do not fit: %s", t->op ? t->op->name : "this",
               text.s ? text.s : "");
    str_free(&text);
    return -1;
}

int shape_op(struct model *m, const struct term *t, const int (*shape)[4], int *out, int *dim,
             const char **why)
{
    if (!t->op->shape(t->narg, shape, out, dim, why)) return 0;
    diag_error(&m->diags, t->all, NULL, "%s does not fit: %s", t->op->name, *why);
    return -1;
}

static int ref_shape(struct model *m, const struct term *t, const int *counter, int *out)
{
    const struct array *a = &m->array.a[t->array];
    int rc = check_ndim(m, t);
    if (rc) return rc;
    out[0] = 0;
    for (int d = 0; d < a->ndim; d++) {
        int lo = 1, hi = a->dim[d];
        int whole = t->narg <= d || !t->arg[d] || t->narg != a->ndim;
        if (!whole && t->arg[d]->kind != T_RANGE) continue; /* a single one, random or not */
        if (!whole && (rc = eval_subscript(m, t, d, counter, &lo, &hi))) return rc;
        if (hi == lo && !whole) continue;
        if (out[0] == 3) {
            diag_error(&m->diags, t->all, NULL, "more than 3 dimensions in an expression");
            return IS_WRONG;
        }
        out[++out[0]] = hi - lo + 1;
    }
    return IS_CONST;
}

static int block_shape(struct model *m, const struct term *t, const int *counter, int *out)
{
    int (*shape)[4] = new_array(dims, t->narg + 1);
    int dim[INSTR_DIMS] = {0}, rc = shape ? IS_CONST : NAMI_ENOMEM;
    const char *why = "";
    for (int i = 0; i < t->narg && !rc; i++) rc = term_shape(m, t->arg[i], counter, shape[i]);
    if (!rc && shape_op(m, t, (const int (*)[4])shape, out, dim, &why)) rc = IS_WRONG;
    free(shape);
    return rc;
}

int term_shape(struct model *m, const struct term *t, const int *counter, int *out)
{
    struct cval v = {0};
    int rc;
    out[0] = 0;
    switch (t->kind) {
    case T_NUMBER:
    case T_COUNTER: return IS_CONST;
    case T_REF: return ref_shape(m, t, counter, out);
    case T_NET:
        out[0] = 1;
        out[1] = m->net.a[t->net].out;
        return IS_CONST;
    case T_REP: {
        int times, n = 1;
        if ((rc = eval_times(m, t, counter, &times)) || (rc = term_shape(m, t->arg[0], counter, out)))
            return rc;
        for (int i = 0; i < out[0]; i++) n *= out[i + 1];
        out[0] = 1;
        out[1] = n * times;
        return IS_CONST;
    }
    case T_OP:
        if (!t->op->map) return block_shape(m, t, counter, out);
        for (int i = 0; i < t->narg; i++) {
            int s[4];
            if ((rc = term_shape(m, t->arg[i], counter, s))) return rc;
            if (shapes_merge(m, t, out, s)) return IS_WRONG;
        }
        return IS_CONST;
    default: break;
    }
    rc = eval_term(m, t, counter, &v); /* ranges, lengths */
    if (!rc) shape_of_cval(&v, out);
    cval_free(&v);
    return rc;
}
