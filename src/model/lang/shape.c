/* shape.c: shapes of expressions, for one iteration of the loops. */
#include "model/lang/lang.h"

static void put_shape(struct str *t, const int *s)
{
    if (!s[0]) str_put(t, "a single number");
    for (int i = 0; i < s[0]; i++)
        str_printf(t, i ? " x %d" : s[0] == 1 ? "%d elements" : "%d", s[i + 1]);
}

/* Updates shape, that of an element-wise operation, for one more argument. */
int shapes_merge(struct model *m, const struct term *t, int *shape, const int *s)
{
    if (!s[0]) return 0;
    int n = shape_size(s), k = shape_size(shape);
    if (!shape[0] || (k == 1 && n != 1)) {
        memcpy(shape, s, sizeof(int[SHAPE]));
        return 0;
    }
    if (n == 1) return 0;
    if (shape[0] == s[0] && memcmp(shape + 1, s + 1, sizeof(int) * (size_t)s[0]) == 0) return 0;
    struct str text = {0};
    put_shape(&text, shape);
    str_put(&text, " and ");
    put_shape(&text, s);
    diag_error(&m->source.diags, t->all, NULL, "the sides of %s do not fit: %s",
               t->op ? t->op->name : "this", text.s ? text.s : "");
    str_free(&text);
    return -1;
}

/* "3 x 2 and 2 elements" */
static void put_shapes(struct str *text, const int (*shape)[SHAPE], int n)
{
    for (int i = 0; i < n && i < 4; i++) {
        str_put(text, i ? " and " : "");
        put_shape(text, shape[i]);
    }
}

int shape_op(struct model *m, const struct term *t, const int (*shape)[SHAPE], int *out, int *dim,
             const char **why)
{
    double n = 1, total = 0;
    for (int i = 0; i < t->narg; i++) total += shape_size(shape[i]);
    if (total > m->ir.limit) return too_large(m, t, total);
    int rc = t->op->shape ? t->op->shape(t->narg, shape, out, dim, why)
                          : density_shape(t->op, t->narg, shape, out, dim, why);
    if (!rc) {
        for (int i = 0; i < out[0]; i++) n *= out[i + 1];
        return n > m->ir.limit ? too_large(m, t, n) : 0;
    }
    struct str text = {0};
    put_shapes(&text, shape, t->narg);
    diag_error(&m->source.diags, t->all, NULL, "%s does not fit: %s (%s)", t->op->name, *why,
               text.s ? text.s : "");
    str_free(&text);
    return -1;
}

static int ref_shape(struct model *m, const struct term *t, const int *counter, int *out)
{
    struct box b;
    int rc = box_of(m, t, counter, BOX_SHAPE, &b);
    if (!rc) box_shape(&b, out);
    return rc;
}

static int block_shape(struct model *m, const struct term *t, const int *counter, int *out)
{
    int(*shape)[SHAPE] = new_array(dims, t->narg + 1);
    int dim[INSTR_DIMS] = {0}, rc = shape ? IS_CONST : NAMI_ENOMEM;
    const char *why = "";
    for (int i = 0; i < t->narg && !rc; i++) rc = term_shape(m, t->arg[i], counter, shape[i]);
    if (!rc && shape_op(m, t, (const int(*)[SHAPE])shape, out, dim, &why)) rc = IS_WRONG;
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
    case T_COUNTER:
    case T_ELEMENT: return IS_CONST;
    case T_REF: return ref_shape(m, t, counter, out);
    case T_NET:
        out[0] = 1;
        out[1] = m->ir.networks.a[t->net].out;
        return IS_CONST;
    case T_REP: {
        int times, n;
        if ((rc = term_shape(m, t->arg[0], counter, out))) return rc;
        n = shape_size(out);
        if ((rc = eval_times(m, t, counter, n, &times))) return rc;
        out[0] = 1;
        out[1] = n * times;
        return IS_CONST;
    }
    case T_OP:
        if (!t->op->map) return block_shape(m, t, counter, out);
        for (int i = 0; i < t->narg; i++) {
            int s[SHAPE];
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
