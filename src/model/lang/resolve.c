/* resolve.c: resolves names: arrays, loop counters, functions, distributions. */
#include <limits.h>
#include <string.h>

#include "model/lang/resolve.h"

const struct builtin builtins[] = {
    {":", "m, n", "the integers from m to n", T_RANGE, 2},
    {"length", "x", "number of elements, a constant", T_LENGTH, 1},
    {"dim", "x", "extent of each dimension, constants", T_DIM, 1},
    {NULL, NULL, NULL, T_NUMBER, 0},
};

static const struct builtin *builtin_find(const char *name)
{
    for (const struct builtin *b = builtins; b->name; b++)
        if (strcmp(b->name, name) == 0) return b;
    return NULL;
}

/* ---- did you mean ...? ------------------------------------------------------ */

static const char *nearest_function(struct model *m, const char *s)
{
    struct near b = NEAR_NONE;
    for (int i = 0; ops[i]; i++) near_try(&b, s, strlen(s), ops[i]->name, i);
    for (size_t i = 0; i < m->ir.networks.n; i++)
        near_try(&b, s, strlen(s), m->ir.networks.a[i].name, (int)i);
    for (int i = 0; builtins[i].name; i++) near_try(&b, s, strlen(s), builtins[i].name, i);
    density_near(&m->source.diags, s, &b);
    return b.word;
}

struct term *term_new(struct arena *mem, enum term_kind kind, struct place at, struct place all,
                      int narg)
{
    struct term *t = arena_alloc(mem, sizeof *t);
    if (t && narg) t->arg = arena_array(mem, struct term *, narg);
    if (!t || (narg && !t->arg)) return NULL;
    t->kind = kind;
    t->at = at;
    t->all = all;
    t->narg = narg;
    return t;
}

struct term *term_like(struct arena *mem, const struct term *t)
{
    struct term *to = term_new(mem, t->kind, t->at, t->all, t->narg);
    if (!to) return NULL;
    struct term **arg = to->arg;
    *to = *t;
    to->arg = arg;
    return to;
}

struct term *new_term(struct scope *c, enum term_kind kind, const struct expr *x, int narg)
{
    const struct expr *by = c->instead;
    struct term *t = term_new(&c->m->mem, kind, by ? by->all : x->at, by ? by->all : x->all, narg);
    if (!t) c->oom = 1;
    return t;
}

int model_array(struct model *m, int name, struct place at)
{
    if (m->ir.array_of_name[name] >= 0) return m->ir.array_of_name[name];
    struct array a = {
        .name = syntax_name(&m->source.syntax, name), .id = name, .ndim = -1, .at = at};
    if (vec_push(&m->ir.arrays, a)) return -1;
    return m->ir.array_of_name[name] = (int)m->ir.arrays.n - 1;
}

static struct term *resolve_args(struct scope *c, struct term *t, const struct expr *x)
{
    int bad = !t;
    for (int i = 0; t && i < x->narg; i++)
        if (x->arg[i]->kind != X_EMPTY) {
            t->arg[i] = resolve(c, x->arg[i]);
            bad |= !t->arg[i];
        }
    return bad ? NULL : t;
}

static struct term *resolve_ref(struct scope *c, const struct expr *x)
{
    struct model *m = c->m;
    const char *name = syntax_name(c->syntax, x->name);
    for (int i = 0; i < c->nformal; i++)
        if (!x->narg && strcmp(c->formal[i].name, name) == 0) return c->actual[i];
    if (c->depth_of && c->depth_of[x->name] >= 0) {
        struct term *t = new_term(c, T_COUNTER, x, 0);
        if (x->narg) {
            diag_error(&m->source.diags, x->at, "rename the loop's counter or the variable",
                       "%s is the counter of a loop here, so it has no subscripts", name);
            return NULL;
        }
        if (t) t->depth = c->depth_of[x->name], t->array = x->name;
        return t;
    }
    if (x->narg > MAX_DIM) {
        diag_error(&m->source.diags, x->at, NULL, "%s has more than %d subscripts", name, MAX_DIM);
        return NULL;
    }
    struct term *t = new_term(c, T_REF, x, x->narg);
    if (!t) return NULL;
    t->array = model_array(m, x->name, x->at);
    t->ref = (int)c->refs.n;
    if (t->array < 0 || vec_push(&c->refs, t)) {
        c->oom = 1;
        return NULL;
    }
    return resolve_args(c, t, x);
}

static void unknown_function(struct scope *c, const struct expr *x, const char *name)
{
    struct diags *d = &c->m->source.diags;
    const char *near = nearest_function(c->m, name);
    const struct dist *dist = dist_find(name, strlen(name));
    if (dist)
        diag_error(d, x->at,
                   diag_text(d,
                             "use ~ for a random variable, y ~ %s(...), or %s_%s() for its log "
                             "density",
                             name, name, domains[dist->domain].discrete ? "lpmf" : "lpdf"),
                   "%s() is a distribution, not a function", name);
    else if (c->m->ir.array_of_name[x->name] >= 0)
        diag_error(d, x->at, diag_text(d, "subscripts have square brackets: %s[...]", name),
                   "%s is a variable, not a function", name);
    else
        diag_error(d, x->at,
                   near ? diag_text(d, "did you mean %s()?", near)
                        : "`nami list functions` shows them all",
                   "no function is called %s", name);
}

static int net_find(const struct model *m, const char *name)
{
    for (size_t i = 0; i < m->ir.networks.n; i++)
        if (strcmp(m->ir.networks.a[i].name, name) == 0) return (int)i;
    return -1;
}

static int right_count(struct scope *c, const struct expr *x, const char *name, int min, int max)
{
    if (x->narg >= min && (max < 0 || x->narg <= max)) return 1;
    struct diags *d = &c->m->source.diags;
    if (min == max)
        diag_error(d, x->all, NULL, "%s takes %d argument%s, not %d", name, min,
                   min == 1 ? "" : "s", x->narg);
    else
        diag_error(d, x->all, NULL, "%s takes at %s %d argument%s, not %d", name,
                   x->narg < min ? "least" : "most", x->narg < min ? min : max,
                   (x->narg < min ? min : max) == 1 ? "" : "s", x->narg);
    return 0;
}

static struct term *resolve_call(struct scope *c, const struct expr *x)
{
    struct model *m = c->m;
    const char *name = syntax_name(c->syntax, x->name);
    const struct op *op = NULL;
    enum term_kind kind = T_OP;
    int net = -1;
    struct density_name density = {NULL, NULL, NULL};
    if (!op_find(name, strlen(name)) && !builtin_find(name) && net_find(m, name) < 0)
        density = density_find(name);
    if (density.form) return resolve_density(c, x, &density);
    if (x->argname)
        for (int i = 0; i < x->narg; i++)
            if (x->argname[i] >= 0) {
                diag_error(
                    &m->source.diags, x->arg[i]->all, "only distributions have named arguments",
                    "%s() has no argument called %s", name, syntax_name(c->syntax, x->argname[i]));
                return NULL;
            }
    const struct builtin *own = builtin_find(name);
    if (own) {
        kind = own->kind;
        if (!right_count(c, x, name, own->narg, own->narg)) return NULL;
    } else if ((net = net_find(m, name)) >= 0) {
        kind = T_NET;
        if (!right_count(c, x, name, 1, 1)) return NULL;
    } else if (strcmp(name, "-") == 0 && x->narg == 1) {
        op = &op_neg;
    } else {
        op = op_find(name, strlen(name));
        if (!op) {
            unknown_function(c, x, name);
            return NULL;
        }
        if (!right_count(c, x, name, op->min_arg, op->max_arg)) return NULL;
        if (op == &op_rep) kind = T_REP, op = NULL; /* rows read again, not copied */
    }
    for (int i = 0; i < x->narg; i++)
        if (x->arg[i]->kind == X_EMPTY) {
            diag_error(&m->source.diags, x->all, NULL, "an argument of %s is missing", name);
            return NULL;
        }
    struct term *t = new_term(c, kind, x, x->narg);
    if (!t) return NULL;
    t->op = op;
    t->net = net;
    return resolve_args(c, t, x);
}

struct term *resolve(struct scope *c, const struct expr *x)
{
    struct term *t = NULL;
    switch (x->kind) {
    case X_NUMBER:
        if ((t = new_term(c, T_NUMBER, x, 0))) t->value = x->value;
        return t;
    case X_REF: return resolve_ref(c, x);
    case X_CALL: return resolve_call(c, x);
    case X_EMPTY: break;
    }
    return NULL;
}

/* ---- statements --------------------------------------------------------------- */

/* logit(p) <- x is p <- ilogit(x) */
static struct term *unlink_term(struct scope *c, struct term *x)
{
    const struct rel *r = c->s->rel;
    const char *inverse = link_inverse(syntax_name(c->syntax, r->link));
    struct term *t = x ? new_term(c, T_OP, r->rhs, 1) : NULL;
    if (!t) return NULL;
    t->op = op_find(inverse, strlen(inverse));
    t->arg[0] = x;
    return t;
}

static int set_loops(struct scope *c, int *depth_of)
{
    struct model *m = c->m;
    struct stmt *s = c->s;
    for (int l = s->rel->loop; l >= 0; l = m->source.syntax.loop.a[l].outer) s->depth++;
    s->loop = arena_array(&m->mem, int, s->depth + 1);
    if (!s->loop) return -1;
    int k = s->depth;
    for (int l = s->rel->loop; l >= 0; l = m->source.syntax.loop.a[l].outer) s->loop[--k] = l;
    for (k = 0; k < s->depth; k++) {
        const struct loop *l = &m->source.syntax.loop.a[s->loop[k]];
        int outer = depth_of[l->var];
        if (outer >= 0)
            diag_error(&m->source.diags, l->at, "give it another name",
                       "%s is already the counter of the loop in line %d",
                       syntax_name(&m->source.syntax, l->var),
                       m->source.syntax.loop.a[s->loop[outer]].at.line);
        depth_of[l->var] = k;
    }
    return 0;
}

static int resolve_rel(struct scope *c)
{
    struct stmt *s = c->s;
    const struct rel *r = s->rel;
    int bad = 0;
    if (c->depth_of[r->lhs->name] >= 0) {
        diag_error(&c->m->source.diags, r->lhs->at, "rename one of them",
                   "%s is the counter of a loop, so it cannot be defined",
                   syntax_name(c->syntax, r->lhs->name));
        return -1;
    }
    s->lhs = resolve(c, r->lhs);
    c->refs.n = 0; /* the left side is not read */
    if (!s->lhs) return -1;
    if (r->stochastic) {
        bad = resolve_stochastic(c, r->rhs);
        if (r->lower && !(s->lower = resolve(c, r->lower))) bad = 1;
        if (r->upper && !(s->upper = resolve(c, r->upper))) bad = 1;
    } else {
        s->rhs = resolve(c, r->rhs);
        if (r->link >= 0) s->rhs = unlink_term(c, s->rhs);
        bad = !s->rhs;
    }
    if (bad) return -1;
    s->nref = (int)c->refs.n;
    s->ref = arena_array(&c->m->mem, struct term *, s->nref + 1);
    if (!s->ref) return c->oom = 1, -1;
    for (int i = 0; i < s->nref; i++) s->ref[i] = c->refs.a[i];
    c->m->ir.arrays.a[s->lhs->array].defined = 1;
    return 0;
}

struct term *resolve_alone(struct model *m, const struct expr *x, const int *depth_of, int *oom)
{
    struct scope c = {.m = m, .syntax = &m->source.syntax, .depth_of = depth_of};
    struct term *t = resolve(&c, x);
    vec_free(&c.refs);
    *oom |= c.oom;
    return t;
}

int model_resolve(struct model *m)
{
    size_t nname = m->source.syntax.names.name.n;
    int *depth_of = raw_array(int, nname + 1);
    struct scope c = {.m = m, .syntax = &m->source.syntax, .depth_of = depth_of};
    if (!depth_of) return NAMI_ENOMEM;
    for (size_t i = 0; i <= nname; i++) depth_of[i] = -1;
    /* data blocks first: the rest may use what they define */
    for (int in_data = 1; in_data >= 0 && !c.oom; in_data--)
        for (size_t i = 0; i < m->source.syntax.rel.n && !c.oom; i++) {
            struct stmt s = {.rel = &m->source.syntax.rel.a[i]};
            if (s.rel->in_data != in_data) continue;
            c.s = &s;
            c.refs.n = 0;
            if (set_loops(&c, depth_of)) {
                c.oom = 1;
                break;
            }
            if (!resolve_rel(&c) && vec_push(&m->ir.statements, s)) c.oom = 1;
            for (int k = 0; k < s.depth; k++) depth_of[m->source.syntax.loop.a[s.loop[k]].var] = -1;
        }
    vec_free(&c.refs);
    free(depth_of);
    return c.oom || m->source.diags.oom ? NAMI_ENOMEM : 0;
}
