/* inline.c: inlines functions that a model file defines, function f(x, y) = x^2 + y.  A call is
   replaced by the definition, with the arguments in place of its parameters; later stages do not
   see such functions. */
#include <string.h>

#include "model/lang/parse.h"

enum {
    CALLS_MOST = 64,
    COPIES_MOST = 1000 * 1000
}; /* maximum nesting; maximum number of copied nodes */

struct inliner {
    struct syntax *s;
    struct diags *d;
    int depth, copies, oom;
    const struct decl *in; /* the function being copied; NULL: the model itself */
    struct expr *const *actual;
};

static struct expr *expand(struct inliner *p, const struct expr *x);

static int parameter(const struct inliner *p, int name)
{
    for (int i = 0; p->in && i < p->in->ref->narg; i++)
        if (p->in->ref->arg[i]->name == name) return i;
    return -1;
}

static const struct decl *function(const struct inliner *p, const struct expr *x)
{
    for (size_t i = 0; x->kind == X_CALL && i < p->s->decl.n; i++) {
        const struct decl *f = &p->s->decl.a[i];
        if (f->kind == D_FUNCTION && f->ref->name == x->name) return f;
    }
    return NULL;
}

static struct expr *copy(struct inliner *p, const struct expr *x)
{
    struct expr *to = arena_alloc(&p->s->mem, sizeof *to);
    if (to) *to = *x;
    if (to && x->narg) to->arg = arena_array(&p->s->mem, struct expr *, x->narg);
    if (!to || (x->narg && !to->arg)) return p->oom = 1, NULL;
    if (p->copies++ == COPIES_MOST)
        diag_error(p->d, x->all, NULL, "with all functions written out, the model is too large");
    if (p->copies > COPIES_MOST) return NULL;
    to->height = 0;
    for (int i = 0; i < x->narg; i++) {
        if (!(to->arg[i] = expand(p, x->arg[i]))) return NULL;
        if (to->arg[i]->height >= to->height) to->height = to->arg[i]->height + 1;
    }
    if (to->height <= HEIGHT_MAX) return to;
    diag_error(p->d, x->all, NULL, "with all functions written out, this is too deep");
    return NULL;
}

/* x[1] in a definition, where x stands for a variable: its subscripts. */
static struct expr *subscripted(struct inliner *p, const struct expr *x, const struct expr *by)
{
    if (by->kind != X_REF || by->narg) {
        diag_error(p->d, by->all, "give the name of a variable",
                   "%s() takes elements of this argument, so it must be an array",
                   syntax_name(p->s, p->in->ref->name));
        return NULL;
    }
    struct expr *to = copy(p, x);
    if (to) to->name = by->name;
    return to;
}

static struct expr *call(struct inliner *p, const struct expr *x, const struct decl *f)
{
    const char *name = syntax_name(p->s, f->ref->name);
    if (x->narg != f->ref->narg || x->argname) {
        diag_error(p->d, x->all, NULL,
                   x->argname ? "%s() has no named arguments" : "%s() takes %d argument%s, not %d",
                   name, f->ref->narg, f->ref->narg == 1 ? "" : "s", x->narg);
        return NULL;
    }
    if (p->depth == CALLS_MOST) {
        diag_error(p->d, x->all, "a function cannot call itself",
                   "the definition of %s() never ends", name);
        return NULL;
    }
    struct expr **actual = arena_array(&p->s->mem, struct expr *, x->narg + 1);
    if (!actual) return p->oom = 1, NULL;
    for (int i = 0; i < x->narg; i++)
        if (!(actual[i] = expand(p, x->arg[i]))) return NULL;
    struct inliner inner = *p;
    inner.depth++;
    inner.in = f;
    inner.actual = actual;
    struct expr *to = expand(&inner, f->value);
    p->copies = inner.copies;
    p->oom |= inner.oom;
    return to;
}

static struct expr *expand(struct inliner *p, const struct expr *x)
{
    const struct decl *f = function(p, x);
    int k = x->kind == X_REF ? parameter(p, x->name) : -1;
    if (f) return call(p, x, f);
    if (k >= 0) return x->narg ? subscripted(p, x, p->actual[k]) : p->actual[k];
    return copy(p, x);
}

static void replace(struct inliner *p, struct expr **x)
{
    struct expr *to = *x ? expand(p, *x) : NULL;
    if (to) *x = to;
}

static void check_names(struct inliner *p)
{
    for (size_t i = 0; i < p->s->decl.n; i++) {
        const struct decl *f = &p->s->decl.a[i], *first = function(p, f->ref ? f->ref : f->value);
        if (f->kind == D_FUNCTION && first != f)
            diag_error(p->d, f->at, "rename one of them", "two functions are called %s",
                       syntax_name(p->s, f->ref->name));
    }
}

int inline_functions(struct syntax *s, struct diags *d)
{
    struct inliner p = {.s = s, .d = d};
    size_t n = 0, some = 0;
    for (size_t i = 0; i < s->decl.n; i++) some += s->decl.a[i].kind == D_FUNCTION;
    if (!some || d->nerror) return 0;
    check_names(&p);
    for (size_t i = 0; i < s->rel.n + s->train.n && !d->nerror && !p.oom; i++) {
        struct rel *r = i < s->rel.n ? &s->rel.a[i] : &s->train.a[i - s->rel.n];
        replace(&p, &r->rhs);
        replace(&p, &r->lower);
        replace(&p, &r->upper);
    }
    for (size_t i = 0; i < s->loop.n && !d->nerror && !p.oom; i++) replace(&p, &s->loop.a[i].range);
    for (size_t i = 0; i < s->decl.n && !d->nerror && !p.oom; i++)
        if (s->decl.a[i].kind == D_CONST) replace(&p, &s->decl.a[i].value);
    for (size_t i = 0; i < s->decl.n; i++)
        if (s->decl.a[i].kind != D_FUNCTION) s->decl.a[n++] = s->decl.a[i];
    s->decl.n = n;
    return p.oom ? NAMI_ENOMEM : 0;
}
