/* declare.c: creates arrays and their elements from declarations and data. */
#include <limits.h>

#include "model/lang/lang.h"

/* ---- elements ------------------------------------------------------------------- */

static int grow(void *p, size_t size, size_t n)
{
    void *q = realloc(*(void **)p, size * n);
    if (!q) return -1;
    *(void **)p = q;
    return 0;
}

/* Gives an array whose dimensions are known its elements. */
int add_elements(struct model *m, int array, struct place at)
{
    struct array *a = &m->ir.arrays.a[array];
    double n = 1, large = 1;
    for (int d = 0; d < a->ndim; d++) {
        n *= a->dim[d];
        large *= a->dim[d] ? a->dim[d] : 1; /* so that no product of sizes overflows */
    }
    if (m->ir.num_elements + large > m->ir.limit) {
        diag_error(&m->source.diags, at, NULL,
                   "%s would have %.10g elements: the model can have %d in all", a->name, large,
                   m->ir.limit);
        a->ndim = -1;
        return 0;
    }
    a->n = (int)n;
    a->ready = 1;
    a->first = m->ir.num_elements;
    int need = m->ir.num_elements + a->n;
    if (need > m->ir.element_capacity) {
        size_t cap = (size_t)need + (size_t)m->ir.element_capacity + 64;
        if (grow(&m->ir.array_of, sizeof(int), cap) || grow(&m->ir.defined_by, sizeof(int), cap) ||
            grow(&m->ir.state, 1, cap) || grow(&m->ir.observed, 1, cap) ||
            grow(&m->ir.value, sizeof(double), cap))
            return NAMI_ENOMEM;
        m->ir.element_capacity = (int)cap;
    }
    for (int e = a->first; e < need; e++) {
        m->ir.array_of[e] = array;
        m->ir.defined_by[e] = -1;
        m->ir.state[e] = E_NONE;
        m->ir.observed[e] = 0;
        m->ir.value[e] = value_missing();
    }
    m->ir.num_elements = need;
    if (a->data)
        for (int i = 0; i < a->n; i++)
            if (!value_is_missing(a->data->x[i])) {
                m->ir.state[a->first + i] = E_CONST;
                m->ir.value[a->first + i] = a->data->x[i];
            }
    return 0;
}

void elem_name(const struct model *m, int e, struct str *out)
{
    const struct array *a = &m->ir.arrays.a[m->ir.array_of[e]];
    int at[MAX_DIM], k = e - a->first;
    str_put(out, a->name);
    for (int d = a->ndim - 1; d >= 0; d--) at[d] = k % a->dim[d] + 1, k /= a->dim[d];
    for (int d = 0; d < a->ndim; d++) str_printf(out, "%c%d", d ? ',' : '[', at[d]);
    if (a->ndim) str_put(out, "]");
}

void inst_name(const struct model *m, int k, struct str *out)
{
    int first = m->ir.defined[m->ir.first_defined[k]],
        last = m->ir.defined[m->ir.first_defined[k + 1] - 1];
    const struct array *a = &m->ir.arrays.a[m->ir.array_of[first]];
    int lo[MAX_DIM], hi[MAX_DIM], x = first - a->first, y = last - a->first;
    if (m->ir.first_defined[k + 1] - m->ir.first_defined[k] == a->n && a->n > 1) {
        str_put(out, a->name); /* all of it */
        return;
    }
    str_put(out, a->name);
    for (int d = a->ndim - 1; d >= 0; d--) {
        lo[d] = x % a->dim[d] + 1, x /= a->dim[d];
        hi[d] = y % a->dim[d] + 1, y /= a->dim[d];
    }
    for (int d = 0; d < a->ndim; d++) {
        str_printf(out, "%c%d", d ? ',' : '[', lo[d]);
        if (hi[d] > lo[d]) str_printf(out, ":%d", hi[d]);
    }
    if (a->ndim) str_put(out, "]");
}

/* ---- declarations ---------------------------------------------------------------- */

int eval_sizes(struct model *m, struct expr *const *x, int n, int *dim)
{
    int oom = 0;
    for (int i = 0; i < n; i++) {
        double v = 0;
        struct term *t;
        if (x[i]->kind == X_EMPTY) {
            diag_error(&m->source.diags, x[i]->all, NULL, "a size is missing");
            return IS_WRONG;
        }
        t = resolve_alone(m, x[i], NULL, &oom);
        if (!t) return oom ? NAMI_ENOMEM : IS_WRONG;
        int rc = eval_scalar(m, t, NULL, &v);
        if (rc == NOT_CONST) return say_not_const(m, t, NULL, "a size", NULL);
        if (rc) return rc;
        if (isnan(v)) return say_missing(m, t, NULL);
        if (!(v >= 0 && v < INT_MAX) || v != floor(v)) {
            diag_error(&m->source.diags, x[i]->all, NULL,
                       "a size must be a whole number, not %.10g", v);
            return IS_WRONG;
        }
        dim[i] = (int)v;
    }
    return 0;
}

static void put_dims(struct str *t, const int *dim, int ndim)
{
    if (!ndim) str_put(t, "is a single number");
    for (int d = 0; d < ndim; d++)
        str_printf(t, d ? " x %d" : ndim > 1 ? "is %d" : "has %d element", dim[d]);
    if (ndim == 1 && dim[0] != 1) str_put(t, "s");
}

const char *nesting_advice(struct model *m, const struct array *a, int ndim)
{
    if (!a->data || ndim < 1 || a->ndim < 1) return NULL;
    if (ndim == 1)
        return diag_text(&m->source.diags,
                         "give %s as one list of %d numbers, not as a list of lists", a->name,
                         a->n);
    return a->ndim == 1 && ndim == 2
               ? diag_text(&m->source.diags, "give %s as a list of lists, one for each row",
                           a->name)
               : NULL;
}

/* Does an array of the data have the declared shape?  One number and an array of one element are not told apart,
   for R writes them alike: the declaration decides. */
static int same_dims(struct model *m, struct place at, struct array *a, const int *dim, int ndim)
{
    double size = 1;
    for (int d = 0; d < ndim; d++) size *= dim[d];
    if (a->n == 1 && size == 1) {
        a->ndim = ndim;
        memcpy(a->dim, dim, sizeof a->dim);
    }
    if (a->ndim == ndim && (!ndim || memcmp(a->dim, dim, sizeof(int) * (size_t)ndim) == 0))
        return 1;
    struct str t = {0};
    put_dims(&t, dim, ndim);
    str_put(&t, " here, but ");
    put_dims(&t, a->dim, a->ndim);
    const char *advice = size == a->n ? nesting_advice(m, a, ndim) : NULL;
    diag_error(&m->source.diags, at, advice, "%s %s in the data", a->name, t.s ? t.s : "");
    str_free(&t);
    return 0;
}

const char *setting(const struct model_options *opt, const char *name)
{
    size_t n = strlen(name);
    for (int i = 0; opt && i < opt->nset; i++)
        if (strncmp(opt->set[i], name, n) == 0 && opt->set[i][n] == '=') return opt->set[i] + n + 1;
    return NULL;
}

int const_in_text(const struct array *a, const struct model_options *opt)
{
    if (!a->is_const || !a->decl) return 0;
    return setting(opt, a->name) || (a->decl->value && !a->data);
}

/* The value of a constant: from a setting, else from the data, else from the file. */
static int const_value(struct model *m, struct array *a, const struct decl *d,
                       const struct model_options *opt, struct cval *v)
{
    const char *text = setting(opt, a->name);
    const struct expr *x = d->value;
    int oom = 0;
    if (text) {
        struct diags none = {0};
        struct syntax alone = {0};
        double value = 0;
        struct expr *e = syntax_parse_expr(&alone, text, strlen(text), &none);
        char *end;
        value = strtod(text, &end);
        int ok = e && end != text && !*end;
        syntax_free(&alone);
        diags_free(&none);
        if (!ok) {
            diag_error(&m->source.diags, d->at, NULL, "%s is set to %s; give a number", a->name, text);
            return IS_WRONG;
        }
        v->x = raw_array(double, 1);
        if (!v->x) return NAMI_ENOMEM;
        v->x[0] = value;
        v->n = v->cap = 1;
        return IS_CONST;
    }
    struct term *t = resolve_alone(m, x, NULL, &oom);
    if (!t) return oom ? NAMI_ENOMEM : IS_WRONG;
    int rc = eval_term(m, t, NULL, v);
    return rc == NOT_CONST ? say_not_const(m, t, NULL, "the value of a const", NULL) : rc;
}

static int declare_const(struct model *m, const struct decl *d, const struct model_options *opt)
{
    int k = model_array(m, d->ref->name, d->ref->at), dim[MAX_DIM] = {0}, rc;
    if (k < 0) return NAMI_ENOMEM;
    struct array *a = &m->ir.arrays.a[k];
    if (a->is_const) {
        diag_error(&m->source.diags, d->ref->at, NULL, "const %s is declared twice", a->name);
        return 0;
    }
    a->is_const = 1;
    a->decl = d;
    if (a->defined) {
        diag_error(&m->source.diags, d->ref->at, "drop one of them",
                   "const %s is also defined by a relation", a->name);
        return 0;
    }
    if (d->ref->narg > MAX_DIM) return 0;
    if ((rc = eval_sizes(m, d->ref->arg, d->ref->narg, dim))) return rc < 0 ? rc : 0;
    a = &m->ir.arrays.a[k];
    if (a->data && !setting(opt, a->name)) {
        same_dims(m, d->ref->all, a, dim, d->ref->narg);
        return 0; /* its elements are there */
    }
    struct cval v = {0};
    if (d->value || setting(opt, a->name)) {
        rc = const_value(m, a, d, opt, &v);
        if (rc) {
            cval_free(&v);
            return rc < 0 ? rc : 0;
        }
    }
    a = &m->ir.arrays.a[k];
    a->data = NULL;
    a->ndim = d->ref->narg;
    memcpy(a->dim, dim, sizeof dim);
    if (!d->ref->narg && v.n > 1) { /* const v = c(1, 2, 3) */
        a->ndim = v.ndim;
        memcpy(a->dim, v.dim, sizeof v.dim);
    }
    rc = add_elements(m, k, d->ref->at);
    a = &m->ir.arrays.a[k];
    if (!rc && v.n && v.n != a->n && v.n != 1)
        diag_error(&m->source.diags, d->value->all, NULL, "%s has %d elements, but this has %d",
                   a->name, a->n, v.n);
    else if (!rc)
        for (int i = 0; i < a->n; i++) {
            m->ir.state[a->first + i] = E_CONST;
            if (v.n) m->ir.value[a->first + i] = v.x[v.n == 1 ? 0 : i];
        }
    cval_free(&v);
    return rc;
}

static int declare_var(struct model *m, const struct decl *d)
{
    int k = model_array(m, d->ref->name, d->ref->at), dim[MAX_DIM] = {0}, rc;
    if (k < 0) return NAMI_ENOMEM;
    if (d->ref->narg > MAX_DIM) return 0;
    if ((rc = eval_sizes(m, d->ref->arg, d->ref->narg, dim))) return rc < 0 ? rc : 0;
    struct array *a = &m->ir.arrays.a[k];
    a->decl = d;
    if (a->data) {
        same_dims(m, d->ref->all, a, dim, d->ref->narg);
        return 0;
    }
    a->ndim = d->ref->narg;
    memcpy(a->dim, dim, sizeof dim);
    return add_elements(m, k, d->ref->at);
}

static int use_data(struct model *m)
{
    const struct dataset *set = m->source.data.set.n ? &m->source.data.set.a[0] : NULL;
    for (size_t i = 0; set && i < set->value.n; i++) { /* those in loop bounds are new */
        int k =
            dict_find(&m->source.syntax.names, set->value.a[i].name, strlen(set->value.a[i].name));
        if (k >= 0 && model_array(m, k, (struct place){0, 0, 0}) < 0) return NAMI_ENOMEM;
    }
    for (size_t i = 0; set && i < m->ir.arrays.n; i++) {
        struct array *a = &m->ir.arrays.a[i];
        a->data = dataset_find(set, a->name, strlen(a->name));
        if (!a->data) continue;
        a->ndim = a->data->ndim;
        memcpy(a->dim, a->data->dim, sizeof a->dim);
        if (add_elements(m, (int)i, a->at)) return NAMI_ENOMEM;
    }
    return 0;
}

/* name=value: is there such a constant? */
static int has_const(const struct model *m, const char *set)
{
    const char *eq = strchr(set, '=');
    int k = eq ? dict_find(&m->source.syntax.names, set, (size_t)(eq - set)) : -1;
    for (size_t i = 0; k >= 0 && i < m->source.syntax.decl.n; i++) {
        const struct decl *d = &m->source.syntax.decl.a[i];
        if (d->kind == D_CONST && d->ref->name == k) return 1;
    }
    return 0;
}

/* Marks a constant of the file or the data to differentiate by. */
static void free_constant(struct model *m, const char *name)
{
    for (size_t i = 0; i < m->ir.arrays.n; i++) {
        struct array *a = &m->ir.arrays.a[i];
        if (strcmp(a->name, name) != 0 || !a->ready || a->defined) continue;
        a->free = 1;
        return;
    }
    diag_error(&m->source.diags, (struct place){0, 0, 0}, "declare it: const name = value",
               "the model has no constant called %s", name);
}

int model_declare(struct model *m, const struct model_options *opt)
{
    int rc = 0;
    /* names that only declarations use */
    for (size_t i = 0; i < m->source.syntax.decl.n; i++) {
        const struct decl *d = &m->source.syntax.decl.a[i];
        if ((d->kind == D_CONST || d->kind == D_VAR) &&
            model_array(m, d->ref->name, d->ref->at) < 0)
            return NAMI_ENOMEM;
    }
    for (int i = 0; opt && i < opt->nset; i++)
        if (!has_const(m, opt->set[i]))
            diag_error(&m->source.diags, (struct place){0, 0, 0}, "declare it: const name = value",
                       "%s is set, but the model has no such constant", opt->set[i]);
    if (use_data(m)) return NAMI_ENOMEM;
    for (size_t i = 0; i < m->source.syntax.decl.n && !rc; i++) {
        const struct decl *d = &m->source.syntax.decl.a[i];
        if (d->kind == D_CONST) rc = declare_const(m, d, opt);
        if (d->kind == D_VAR) rc = declare_var(m, d);
        if (d->kind == D_SIMULATOR) m->source.simulator = d->text;
        if (d->kind == D_NETWORK) rc = declare_network(m, d);
    }
    for (int i = 0; opt && i < opt->nfree && !rc; i++) free_constant(m, opt->free[i]);
    return rc;
}
