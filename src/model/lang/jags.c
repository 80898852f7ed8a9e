/* jags.c: exports a model as a JAGS program. The text is parsed again into a separate tree, which
   is rewritten expression by expression and printed. */
#include "model/export.h"
#include "model/lang/lang.h"

struct jags {
    struct model *m;
    struct syntax s; /* names keep the numbers they have in m->syntax; new ones follow */
    int nname;       /* number of these */
    struct diags none;
    vec(struct rel) made; /* relations for data { } */
    int nmade;            /* names for it */
    int oom;
};

enum { MAX_MADE = 1024 }; /* maximum number of elements of an explicit value */

/* ---- trees --------------------------------------------------------------------- */

static struct expr *new_expr(struct jags *j, const struct expr *like, int narg)
{
    struct expr *x = arena_alloc(&j->s.mem, sizeof *x);
    struct expr **arg = arena_array(&j->s.mem, struct expr *, narg + 1);
    if (!x || !arg) {
        j->oom = 1;
        return NULL;
    }
    *x = *like;
    x->argname = NULL;
    x->narg = narg;
    x->arg = arg;
    return x;
}

static int name_of(struct jags *j, const char *name)
{
    int k = dict_add(&j->s.names, name, strlen(name), NULL);
    if (k < 0) j->oom = 1;
    return k < 0 ? 0 : k;
}

static struct expr *call(struct jags *j, const struct expr *at, const char *name, int narg)
{
    struct expr *x = new_expr(j, at, narg);
    if (!x) return NULL;
    x->kind = X_CALL;
    x->name = name_of(j, name);
    return x;
}

static struct expr *number(struct jags *j, const struct expr *at, double value)
{
    struct expr *x = new_expr(j, at, 0);
    if (!x) return NULL;
    x->kind = X_NUMBER;
    x->value = value;
    return x;
}

/* f(1, ...): of normal(0, 1) should become dnorm(0, 1), not dnorm(0, pow(1, -2)) */
static int is_one(const struct expr *x)
{
    return x->kind == X_CALL && x->narg && x->arg[0]->kind == X_NUMBER && x->arg[0]->value == 1;
}

/* A copy of t with each of the names replaced. */
static struct expr *fill(struct jags *j, const struct expr *t, int n, const char *const *name,
                         struct expr *const *by)
{
    for (int i = 0; t->kind == X_REF && !t->narg && i < n; i++)
        if (strcmp(syntax_name(&j->s, t->name), name[i]) == 0) return by[i];
    struct expr *x = new_expr(j, t, t->narg);
    for (int i = 0; x && i < t->narg; i++)
        if (!(x->arg[i] = fill(j, t->arg[i], n, name, by))) return NULL;
    if (x && is_one(x) && strcmp(syntax_name(&j->s, x->name), "pow") == 0) return x->arg[0];
    return x;
}

/* An expression of our tables, `len` bytes long, with its names replaced. */
static struct expr *meaning(struct jags *j, const char *text, size_t len, int n,
                            const char *const *name, struct expr *const *by)
{
    const struct expr *t = syntax_parse_expr(&j->s, text, len, &j->none);
    if (!t) j->oom = 1; /* they parse: tests/test_export.c */
    return t ? fill(j, t, n, name, by) : NULL;
}

static void refuse(struct jags *j, struct place at, const char *advice, const char *what,
                   const char *name)
{
    diag_error(&j->m->source.diags, at, advice, "JAGS has no %s %s()", what, name);
}

/* ---- functions ----------------------------------------------------------------- */

static int counts_from(const struct jags *j, int name)
{
    int found = 0;
    for (size_t l = 0; l < j->s.loop.n; l++) {
        const struct expr *r = j->s.loop.a[l].range;
        if (j->s.loop.a[l].var != name) continue;
        if (r->narg != 2 || r->arg[0]->kind != X_NUMBER || r->arg[0]->value < 0) return 0;
        found = 1;
    }
    return found;
}

/* Is it certainly nonnegative? Then rounding down is trunc(). */
static int nonnegative(const struct jags *j, const struct expr *x)
{
    static const struct op *const keeps[] = {&op_add, &op_mul, &op_div, &op_pow, &op_idiv, &op_mod};
    const struct model *m = j->m;
    if (x->kind == X_NUMBER) return x->value >= 0;
    if (x->kind == X_REF) {
        int k = !x->narg && x->name < j->nname ? m->ir.array_of_name[x->name] : -1;
        if (k < 0) return !x->narg && counts_from(j, x->name);
        const struct array *a = &m->ir.arrays.a[k];
        return a->n == 1 && m->ir.state[a->first] == E_CONST && m->ir.value[a->first] >= 0;
    }
    if (x->kind != X_CALL || x->narg != 2) return 0;
    const char *name = syntax_name(&j->s, x->name);
    const struct op *op = op_find(name, strlen(name));
    for (size_t i = 0; i < sizeof keeps / sizeof *keeps; i++)
        if (op == keeps[i]) return nonnegative(j, x->arg[0]) && nonnegative(j, x->arg[1]);
    return 0;
}

/* Is it a vector or a matrix? */
static int is_vector(const struct jags *j, const struct expr *x)
{
    const char *name = x->kind == X_REF || x->kind == X_CALL ? syntax_name(&j->s, x->name) : "";
    if (x->kind == X_EMPTY || strcmp(name, ":") == 0) return 1;
    if (x->kind == X_REF && !x->narg) {
        int k = x->name < j->nname ? j->m->ir.array_of_name[x->name] : -1;
        return k >= 0 && j->m->ir.arrays.a[k].ndim > 0;
    }
    if (x->kind == X_CALL) {
        static const struct op *const makes[] = {&op_c,    &op_rep,     &op_t,
                                                 &op_diag, &op_inverse, &op_matmul,
                                                 &op_sort, &op_rank,    &op_order};
        const struct op *op = op_find(name, strlen(name));
        for (size_t i = 0; i < sizeof makes / sizeof *makes; i++)
            if (op == makes[i]) return 1;
        const struct dist *d = op ? NULL : density_find(name).dist;
        if (op ? !op->map : !d || !d->logp) return 0;
    }
    for (int i = 0; i < x->narg; i++)
        if (is_vector(j, x->arg[i])) return 1;
    return 0;
}

/* The inverse links of JAGS accept only scalars; its other functions are element-wise. */
static const struct {
    const struct op *op;
    const char *text;
} of_vectors[] = {
    {&op_exp, "pow(2.718281828459045, x)"},
    {&op_ilogit, "1 / (1 + pow(2.718281828459045, -x))"},
    {&op_icloglog, "1 - pow(2.718281828459045, -pow(2.718281828459045, x))"},
};

static const char *rewritten(const struct jags *j, const struct op *op, const struct expr *x)
{
    int whole = x->narg == 2 && nonnegative(j, x->arg[0]) && nonnegative(j, x->arg[1]);
    if (op == &op_idiv && whole) return "trunc(x / y)";
    if (op == &op_mod && whole) return "x - y * trunc(x / y)";
    for (size_t i = 0; i < sizeof of_vectors / sizeof *of_vectors; i++)
        if (op == of_vectors[i].op && is_vector(j, x->arg[0])) return of_vectors[i].text;
    return op->jags && strchr(op->jags, '(') ? op->jags : NULL;
}

static int reads_counters(const struct jags *j, const struct expr *x)
{
    for (size_t l = 0; x->kind == X_REF && l < j->s.loop.n; l++)
        if (j->s.loop.a[l].var == x->name) return 1;
    for (int i = 0; i < x->narg; i++)
        if (reads_counters(j, x->arg[i])) return 1;
    return 0;
}

/* x[2,3] <- value, for each element of v */
static int write_out(struct jags *j, const struct expr *x, const struct cval *v)
{
    int at[SHAPE] = {0};
    for (int i = 0; i < v->n; i++) {
        struct rel r = {.in_data = 1, .loop = -1, .link = -1, .at = x->at};
        r.lhs = new_expr(j, x, v->ndim);
        r.rhs = number(j, x, v->x[i]);
        for (int d = 0; r.lhs && d < v->ndim; d++) r.lhs->arg[d] = number(j, x, at[d] + 1);
        if (j->oom || vec_push(&j->made, r)) return j->oom = 1, -1;
        for (int d = v->ndim - 1; d >= 0 && ++at[d] == v->dim[d]; d--) at[d] = 0;
    }
    return 0;
}

/* A constant for which JAGS has no function becomes a variable of the data block, e.g. diag.1; NULL
   if it is not constant. */
static struct expr *as_data(struct jags *j, const struct expr *x)
{
    struct cval v = {0};
    struct str name = {0};
    struct expr *y = NULL;
    if (reads_counters(j, x)) return NULL;
    const struct term *t = resolve_alone(j->m, x, NULL, &j->oom); /* names have the same numbers */
    int rc = t ? eval_term(j->m, t, NULL, &v) : IS_WRONG;
    if (rc < 0) j->oom = 1;
    if (rc == IS_CONST && v.n <= MAX_MADE && (y = new_expr(j, x, 0))) {
        do {
            name.n = 0;
            str_printf(&name, "%s.%d", syntax_name(&j->s, x->name), ++j->nmade);
        } while (!name.oom && dict_find(&j->s.names, name.s, name.n) >= 0);
        y->kind = X_REF;
        y->name = name_of(j, name.oom ? "" : name.s);
        if (name.oom || write_out(j, y, &v)) j->oom = 1, y = NULL;
    }
    str_free(&name);
    cval_free(&v);
    return y;
}

static struct expr *translate(struct jags *j, const struct expr *x);
static struct expr *translate_density(struct jags *j, const struct expr *x,
                                      const struct density_name *f);

static struct expr *translate_args(struct jags *j, const struct expr *x)
{
    struct expr *y = new_expr(j, x, x->narg);
    for (int i = 0; y && i < x->narg; i++)
        if (!(y->arg[i] = translate(j, x->arg[i]))) y = NULL;
    if (y) y->argname = x->argname;
    return y;
}

/* NULL: refused, or no memory. */
static struct expr *translate_call(struct jags *j, const struct expr *x)
{
    static const char *const xy[] = {"x", "y"};
    const char *name = syntax_name(&j->s, x->name), *text;
    const struct op *op = op_find(name, strlen(name));
    struct expr *y;
    for (size_t i = 0; i < j->m->ir.networks.n; i++)
        if (strcmp(j->m->ir.networks.a[i].name, name) == 0) {
            refuse(j, x->at, "networks are NaMI's own", "function", name);
            return NULL;
        }
    struct density_name density = density_find(name);
    if (!op && density.form) return translate_density(j, x, &density);
    if (!op || (strcmp(name, "-") == 0 && x->narg == 1)) return translate_args(j, x);
    if (op == &op_phi && is_vector(j, x->arg[0])) {
        refuse(j, x->at, "use it in a loop, element by element", "vectors in", name);
        return NULL;
    }
    if (op->jags && !*op->jags) {
        if (!(y = as_data(j, x)))
            refuse(j, x->at, "only constant values of it can be exported", "function", name);
        return y;
    }
    if (!(y = translate_args(j, x))) return NULL;
    if ((text = rewritten(j, op, x))) return meaning(j, text, strlen(text), 2, xy, y->arg);
    if (op->jags)
        y->name = name_of(j, op->jags);
    else if (strcmp(name, "pow") != 0) /* ^ is no name of a function */
        y->name = name_of(j, op->name);
    return y;
}

static struct expr *translate(struct jags *j, const struct expr *x)
{
    return x->kind == X_CALL ? translate_call(j, x) : translate_args(j, x);
}

/* ---- distributions ----------------------------------------------------------------- */

/* Suffix of a definition: truncated to positive values. */
static const char half[] = " T(0,)";

static int keep_half(struct jags *j, struct rel *r)
{
    struct expr *low = number(j, r->rhs, 0), *max;
    if (low && r->lower && r->lower->kind == X_NUMBER) {
        low->value = fmax(0, r->lower->value);
    } else if (low && r->lower) {
        if (!(max = call(j, r->rhs, "max", 2))) return -1;
        max->arg[0] = low, max->arg[1] = r->lower;
        low = max;
    }
    if (!r->trunc) r->trunc = 'T', r->trunc_at = r->rhs->at;
    r->lower = low;
    return low ? 0 : -1;
}

/* Formal arguments to actual ones: fills name[] and by[]. */
static int match(struct jags *j, const struct expr *x, const struct dist_arg *formal, int n,
                 const char **name, struct expr **by)
{
    const struct expr *order[DIST_ARGS];
    if (match_names(&j->s, x, formal, n, order)) return -1;
    for (int i = 0; i < n; i++) {
        name[i] = formal[i].name;
        for (int k = 0; k < n; k++)
            if (x->arg[k] == order[i]) by[i] = x->arg[k];
    }
    return 0;
}

/* NULL: refused. */
static const struct dist_export *export_of(struct jags *j, const struct expr *x)
{
    const char *name = syntax_name(&j->s, x->name);
    const struct dist_export *e = dist_exports;
    const struct dist_form *form = dist_form_find(name, strlen(name));
    while (e->name && strcmp(e->name, name) != 0) e++;
    if (form && (!e->name || x->arg[0]->kind == X_CALL)) {
        refuse(j, x->at, form->advice, "distribution", name);
        return NULL;
    }
    if (e->meaning) return e;
    refuse(j, x->at,
           e->name                      ? e->advice
           : strstr(name, "flat") != NULL ? "use a wide proper prior, such as dnorm(0, 0.01)"
                                        : "it is simulated from outside",
           "distribution", name);
    return NULL;
}

/* x: a call of one of dists[]. */
static int put_stan(struct jags *j, struct rel *r, const struct expr *x)
{
    const char *name = syntax_name(&j->s, x->name), *formal[DIST_ARGS];
    const struct dist *d = dist_find(name, strlen(name));
    const struct dist_export *e = export_of(j, x);
    struct expr *by[DIST_ARGS] = {NULL};
    if (!e) return 0;
    if (match(j, x, d->arg, d->narg, formal, by)) return -1;
    const char *cut = strstr(e->meaning, half);
    struct expr *y = meaning(j, e->meaning, cut ? (size_t)(cut - e->meaning) : strlen(e->meaning),
                             d->narg, formal, by);
    if (!y) return -1;
    r->rhs = y;
    return cut ? keep_half(j, r) : 0;
}

/* x: a call of an alias; the first row of a name of JAGS is JAGS's own, all others are ours. */
static int put_alias(struct jags *j, struct rel *r, const struct expr *x,
                     const struct dist_alias *first)
{
    struct dist_arg formal[DIST_ARGS];
    const char *name[DIST_ARGS];
    struct expr *by[DIST_ARGS] = {NULL};
    for (const struct dist_alias *a = first; a->name; a++) {
        if (strcmp(a->name, first->name) != 0) continue;
        int n = alias_formals(&j->s.mem, a->args, formal);
        int same = a == first && strcmp(a->whose, "JAGS") == 0;
        if (n < 0) return -1;
        if (match(j, x, formal, n, name, by)) continue;
        struct expr *y =
            same ? new_expr(j, x, n) : meaning(j, a->meaning, strlen(a->meaning), n, name, by);
        if (!y) return -1;
        if (!same) {
            y->at = x->at; /* position for error messages */
            return put_stan(j, r, y);
        }
        for (int i = 0; i < n; i++) y->arg[i] = by[i];
        r->rhs = y;
        return 0;
    }
    return -1;
}

static void translate_dist(struct jags *j, struct rel *r)
{
    const struct dist_alias *a = alias_find(syntax_name(&j->s, r->rhs->name));
    if (!a && !export_of(j, r->rhs)) return;
    const struct expr *x = translate_args(j, r->rhs);
    if (!x) return; /* refused, or j->oom */
    if (a ? put_alias(j, r, x, a) : put_stan(j, r, x)) j->oom = 1;
}

/* ---- densities, distribution functions, quantiles ----------------------------------- */

/* The name of the distribution in JAGS: of the synonyms dbin and dbinom, only the first has
   functions there. NULL: not available. */
static const char *jags_name(struct jags *j, const struct density_name *f)
{
    const struct dist_export *e = dist_exports;
    const struct dist_alias *a = dist_aliases;
    if (f->alias) {
        while (strcmp(a->meaning, f->alias->meaning) != 0) a++;
        return a->name;
    }
    while (strcmp(e->name, f->dist->name) != 0) e++;
    if (!e->meaning || strstr(e->meaning, half)) return NULL;
    char *name = arena_strndup(&j->s.mem, e->meaning, strcspn(e->meaning, "("));
    if (!name) j->oom = 1;
    return name;
}

/* The function in JAGS, as an expression in y; NULL: not available. */
static const char *jags_form(const struct density_name *f, const char *jags, const char **before)
{
    static const char *const only_log[] = {"dunif", "dbern"};
    int scalar = f->dist->logp != NULL;
    for (size_t i = 0; jags && i < sizeof only_log / sizeof *only_log; i++)
        if (strcmp(jags, only_log[i]) == 0) scalar = 0;
    *before = "logdensity.";
    if (!jags) return NULL;
    if (f->form->kind == FUN_LOG_DENSITY) return "y";
    if (f->form->kind == FUN_DENSITY && !scalar) return "exp(y)";
    if (!scalar) return NULL;
    *before = f->form->kind == FUN_DENSITY ? "d" : f->form->kind == FUN_QUANTILE ? "q" : "p";
    if (f->form->kind == FUN_LOG_CDF) return "log(y)";
    return f->form->kind == FUN_LOG_CCDF ? "log(1 - y)" : "y";
}

/* The distribution, without the value, is rewritten as one of a relation is. */
static struct expr *translate_density(struct jags *j, const struct expr *x,
                                      const struct density_name *f)
{
    static const char *const hole[] = {"y"};
    const char *name = syntax_name(&j->s, x->name), *jags = jags_name(j, f), *before;
    const char *form = jags_form(f, jags, &before);
    struct str text = {0};
    struct expr *y = NULL, *of;
    if (j->oom) return NULL;
    if (!form) {
        if (!(y = as_data(j, x)))
            refuse(j, x->at, "only constant values of it can be exported", "function", name);
        return y;
    }
    const struct expr *arg = translate_args(j, x);
    if (!arg || !(of = call(j, x, f->alias ? f->alias->name : f->dist->name, x->narg - 1)))
        return NULL;
    for (int i = 1; i < x->narg; i++) of->arg[i - 1] = arg->arg[i];
    if (x->argname) of->argname = x->argname + 1;
    struct rel r = {.rhs = of};
    if (f->alias ? put_alias(j, &r, of, f->alias) : put_stan(j, &r, of)) j->oom = 1;
    str_printf(&text, "%s%s", before, jags + 1);
    if (!j->oom && !text.oom && (y = call(j, x, text.s, 1 + r.rhs->narg))) {
        y->arg[0] = arg->arg[0];
        for (int i = 0; i < r.rhs->narg; i++) y->arg[1 + i] = r.rhs->arg[i];
        y = meaning(j, form, strlen(form), 1, hole, &y);
    }
    j->oom |= text.oom;
    str_free(&text);
    return y;
}

/* ---- relations --------------------------------------------------------------------- */

/* y ~ normal(mu, 1) over a whole array. */
static void check_loops(struct jags *j)
{
    for (size_t i = 0; i < j->m->ir.statements.n; i++) {
        const struct stmt *s = &j->m->ir.statements.a[i];
        if (s->rel->stochastic && s->depth &&
            j->m->source.syntax.loop.a[s->loop[s->depth - 1]].var < 0)
            diag_error(&j->m->source.diags, s->rel->lhs->all,
                       "write a loop: for (i in 1:n) { y[i] ~ ... }",
                       "JAGS has no relations over whole arrays");
    }
}

static void translate_rel(struct jags *j, struct rel *r)
{
    struct expr **x[] = {&r->lhs, &r->lower, &r->upper, r->stochastic ? NULL : &r->rhs};
    for (int i = 0; i < 4; i++) {
        struct expr *y = x[i] && *x[i] ? translate(j, *x[i]) : NULL;
        if (y) *x[i] = y;
    }
    if (r->stochastic) translate_dist(j, r);
}

/* const w[n] = value as the relation w[1:n] <- value of a data block. */
static int const_rel(struct jags *j, const struct decl *d, const struct model_options *opt,
                     struct rel *r)
{
    const struct array *a = &j->m->ir.arrays.a[j->m->ir.array_of_name[d->ref->name]];
    struct expr *lhs = translate_args(j, d->ref);
    *r = (struct rel){.in_data = 1, .loop = -1, .link = -1, .at = d->at, .lhs = lhs};
    for (int i = 0; lhs && i < lhs->narg; i++) {
        struct expr *range = call(j, d->ref, ":", 2);
        if (!range) return -1;
        range->arg[0] = number(j, d->ref, 1);
        range->arg[1] = lhs->arg[i];
        lhs->arg[i] = range;
    }
    r->rhs = setting(opt, a->name) ? number(j, d->ref, j->m->ir.value[a->first])
                                   : translate(j, d->value);
    return lhs && r->rhs ? 0 : -1;
}

/* Constants, then data blocks, then the model: the order required by JAGS. */
static int arrange(struct jags *j, const struct model_options *opt)
{
    struct rel r;
    vec(struct rel) all = {0};
    int oom = 0;
    for (size_t i = 0; i < j->s.decl.n && !oom; i++) {
        struct decl *d = &j->s.decl.a[i];
        if (d->kind != D_CONST) continue;
        if (const_in_text(&j->m->ir.arrays.a[j->m->ir.array_of_name[d->ref->name]], opt) &&
            !const_rel(j, d, opt, &r))
            oom = vec_push(&all, r);
    }
    for (size_t i = 0; i < j->made.n && !oom; i++) oom = vec_push(&all, j->made.a[i]);
    for (int in_data = 1; in_data >= 0; in_data--)
        for (size_t i = 0; i < j->s.rel.n && !oom; i++)
            if (j->s.rel.a[i].in_data == in_data) oom = vec_push(&all, j->s.rel.a[i]);
    vec_free(&j->made);
    vec_free(&j->s.rel);
    j->s.rel.a = all.a, j->s.rel.n = all.n, j->s.rel.cap = all.cap;
    return oom;
}

int model_jags(const struct model *m, const struct model_options *opt, struct str *out,
               struct diags *diags, nami_err *err)
{
    struct model copy = working_copy(m);
    struct jags j = {.m = &copy, .nname = (int)m->source.syntax.names.name.n};
    int rc = diags_copy(&copy.source.diags, &m->source.diags);
    if (!rc)
        rc = syntax_parse(&j.s, m->source.text.s ? m->source.text.s : "", m->source.text.n,
                          m->source.syntax.dialect, &j.none);
    if (!rc) rc = syntax_bounds(&j.s);
    if (!rc) {
        for (size_t l = 0; l < j.s.loop.n; l++) {
            struct expr *x = translate(&j, j.s.loop.a[l].range);
            if (x) j.s.loop.a[l].range = x;
        }
        check_loops(&j);
        for (size_t i = 0; i < j.s.rel.n; i++) translate_rel(&j, &j.s.rel.a[i]);
        if (arrange(&j, opt)) j.oom = 1;
        j.s.dialect = BUGS; /* nothing is left to rewrite */
        if (!j.oom && !copy.source.diags.nerror) syntax_put(&j.s, BUGS, out);
    }
    if (rc || j.oom || out->oom || copy.source.diags.oom)
        rc = err_nomem(err);
    else if (copy.source.diags.nerror)
        rc = err_set(err, NAMI_EINPUT, "JAGS cannot express this model");
    vec_free(&j.made);
    syntax_free(&j.s);
    diags_free(&j.none);
    *diags = copy.source.diags;
    copy.source.diags = (struct diags){0};
    working_copy_fini(&copy);
    return rc;
}
