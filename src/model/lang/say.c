/* say.c: explains why an expression is not constant where a constant is required. */
#include <limits.h>

#include "base/near.h"
#include "model/lang/lang.h"

static int has_relation(const struct model *m, int array, int stochastic)
{
    for (size_t i = 0; i < m->ir.statements.n; i++)
        if (m->ir.statements.a[i].lhs->array == array &&
            m->ir.statements.a[i].rel->stochastic == stochastic)
            return 1;
    return 0;
}

/* The innermost reference of a term whose value is unknown or undefined. */
static const struct term *culprit(struct model *m, const struct term *t, const int *counter)
{
    const struct term *found = NULL;
    for (int i = 0; i < t->narg && !found; i++)
        if (t->arg[i]) found = culprit(m, t->arg[i], counter);
    if (found || t->kind != T_REF) return found;
    struct cval v = {0};
    int rc = eval_term(m, t, counter, &v);
    for (int i = 0; rc == IS_CONST && i < v.n; i++)
        if (isnan(v.x[i])) rc = NOT_CONST;
    cval_free(&v);
    return rc == NOT_CONST ? t : NULL;
}

/* Is only its length used? */
static int only_length(const struct term *t, const struct term *by)
{
    if ((t->kind == T_LENGTH || t->kind == T_DIM) && t->arg[0] == by) return 1;
    for (int i = 0; i < t->narg; i++)
        if (t->arg[i] && only_length(t->arg[i], by)) return 1;
    return 0;
}

int say_not_const(struct model *m, const struct term *t, const int *counter, const char *what,
                  const char *advice)
{
    const struct term *by = culprit(m, t, counter);
    struct diags *d = &m->source.diags;
    if (!by || m->ir.arrays.a[by->array].free) {
        diag_error(d, t->all, advice, "%s must be constant", what);
        return IS_WRONG;
    }
    const char *name = m->ir.arrays.a[by->array].name;
    if (only_length(t, by))
        diag_error(d, by->all, diag_text(d, "give %s in the data, or write its length", name),
                   "the length of %s is not known here", name);
    else if (has_relation(m, by->array, 1) || m->ir.expanded)
        diag_error(d, by->all, advice, "%s must be constant, but %s is random", what, name);
    else
        diag_error(d, by->all,
                   m->source.syntax.dialect == BUGS
                       ? "compute it in a data { } block"
                       : diag_text(d, "declare it instead: const %s = ...", name),
                   "%s must be constant, but %s is computed in the model", what, name);
    return IS_WRONG;
}

/* Is its value NaN? */
static int is_nan(struct model *m, const struct term *by, const int *counter)
{
    struct cval v = {0};
    int found = 0;
    if (eval_term(m, by, counter, &v) == IS_CONST)
        for (int i = 0; i < v.n; i++) found |= isnan(v.x[i]) && !value_is_missing(v.x[i]);
    cval_free(&v);
    return found;
}

int say_missing(struct model *m, const struct term *t, const int *counter)
{
    const struct term *by = culprit(m, t, counter);
    if (!by || is_nan(m, by, counter)) {
        diag_error(&m->source.diags, by ? by->all : t->all, NULL, "this is not a number, but NaN");
        return IS_WRONG;
    }
    const struct array *a = &m->ir.arrays.a[by->array];
    diag_error(&m->source.diags, by->all,
               a->is_const && !a->ndim
                   ? diag_text(&m->source.diags, "give it in the data, or set %s=...", a->name)
                   : "give it in the data",
               "%s has no value", a->name);
    return IS_WRONG;
}

/* ---- what is not there ------------------------------------------------------------------ */

static const char *nearest_array(const struct model *m, const char *name)
{
    const char *best = NULL;
    int far = INT_MAX;
    for (size_t i = 0; i < m->ir.arrays.n; i++) {
        const struct array *a = &m->ir.arrays.a[i];
        int k =
            a->defined || a->data || a->decl ? near_distance(name, strlen(name), a->name) : INT_MAX;
        if (k < far) far = k, best = a->name;
    }
    return best;
}

int unknown_variable(struct model *m, struct place at, const char *name)
{
    const char *near = nearest_array(m, name);
    diag_error(&m->source.diags, at,
               near ? diag_text(&m->source.diags, "did you mean %s?", near) : NULL,
               "no variable is called %s", name);
    return IS_WRONG;
}

int undefined_name(struct model *m, const struct term *t)
{
    const struct array *a = &m->ir.arrays.a[t->array];
    struct diags *d = &m->source.diags;
    for (size_t i = 0; i < m->source.syntax.loop.n; i++)
        if (m->source.syntax.loop.a[i].var == a->id) {
            diag_error(d, t->at, NULL,
                       "%s is the counter of the loop in line %d, and not known outside of it",
                       a->name, m->source.syntax.loop.a[i].at.line);
            return IS_WRONG;
        }
    for (size_t i = 0; i < m->source.syntax.decl.n; i++) {
        const struct decl *c = &m->source.syntax.decl.a[i];
        if ((c->kind != D_CONST && c->kind != D_VAR) || c->ref->name != a->id) continue;
        diag_error(d, t->at, diag_text(d, "move line %d up", c->at.line), "%s is declared later",
                   a->name);
        return IS_WRONG;
    }
    const char *near = nearest_array(m, a->name);
    if (a->defined) /* by a loop with no iterations */
        diag_error(d, t->at, NULL, "%s is never defined: the loops around its relations are empty",
                   a->name);
    else
        diag_error(d, t->at,
                   near ? diag_text(d, "did you mean %s?", near)
                        : diag_text(d, "define it with ~ or <-, or give %s in the data", a->name),
                   "%s is not defined", a->name);
    return IS_WRONG;
}

int undefined_element(struct model *m, const struct term *t, int e, int chosen)
{
    struct str name = {0};
    const struct array *a = &m->ir.arrays.a[t->array];
    struct diags *d = &m->source.diags;
    elem_name(m, e, &name);
    const char *what = name.s ? name.s : a->name;
    if (chosen)
        diag_error(d, t->all, "define it, or bound the subscript",
                   "%s is not defined, but the random subscript may select it", what);
    else if (a->data && !a->defined)
        diag_error(d, t->all,
                   a->is_const ? "give it a value"
                               : diag_text(d, "give it a value, or a prior: %s ~ ...", what),
                   "%s is missing in the data", what);
    else
        diag_error(d, t->all,
                   diag_text(d, "define it with ~ or <-, or give %s in the data", a->name),
                   "%s is not defined", what);
    str_free(&name);
    return IS_WRONG;
}
