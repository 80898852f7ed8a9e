/* same_syntax.h: are two trees the same, but for their places? */
#ifndef TESTS_SAME_SYNTAX_H
#define TESTS_SAME_SYNTAX_H

#include <string.h>

#include "model/lang/syntax.h"

static int same_name(const struct syntax *s, int a, const struct syntax *t, int b)
{
    if (a < 0 || b < 0) return a < 0 && b < 0;
    return strcmp(syntax_name(s, a), syntax_name(t, b)) == 0;
}

static int same_expr(const struct syntax *s, const struct expr *a, const struct syntax *t,
                     const struct expr *b)
{
    if (!a || !b) return a == b;
    if (a->kind != b->kind || a->narg != b->narg || a->height != b->height ||
        !same_name(s, a->name, t, b->name) || a->value != b->value || !a->argname != !b->argname)
        return 0;
    for (int i = 0; i < a->narg; i++) {
        if (!same_expr(s, a->arg[i], t, b->arg[i])) return 0;
        if (a->argname && !same_name(s, a->argname[i], t, b->argname[i])) return 0;
    }
    return 1;
}

static int same_exprs(const struct syntax *s, int n, struct expr **a, const struct syntax *t, int m,
                      struct expr **b)
{
    if (n != m) return 0;
    for (int i = 0; i < n; i++)
        if (!same_expr(s, a[i], t, b[i])) return 0;
    return 1;
}

static int same_rel(const struct syntax *s, const struct rel *a, const struct syntax *t,
                    const struct rel *b)
{
    return a->stochastic == b->stochastic && a->in_data == b->in_data && a->loop == b->loop &&
           a->trunc == b->trunc && same_name(s, a->link, t, b->link) &&
           same_expr(s, a->lhs, t, b->lhs) && same_expr(s, a->rhs, t, b->rhs) &&
           same_expr(s, a->lower, t, b->lower) && same_expr(s, a->upper, t, b->upper);
}

static int same_decl(const struct syntax *s, const struct decl *a, const struct syntax *t,
                     const struct decl *b)
{
    return a->kind == b->kind && a->stage == b->stage && same_expr(s, a->ref, t, b->ref) &&
           same_expr(s, a->value, t, b->value) && same_name(s, a->name, t, b->name) &&
           !a->text == !b->text && (!a->text || strcmp(a->text, b->text) == 0) &&
           same_exprs(s, a->nin, a->in, t, b->nin, b->in) &&
           same_exprs(s, a->nout, a->out, t, b->nout, b->out) &&
           same_exprs(s, a->nlayer, a->layer, t, b->nlayer, b->layer);
}

static int same_syntax(const struct syntax *s, const struct syntax *t)
{
    if (s->rel.n != t->rel.n || s->train.n != t->train.n || s->loop.n != t->loop.n || s->decl.n != t->decl.n) return 0;
    for (size_t i = 0; i < s->train.n; i++)
        if (!same_rel(s, &s->train.a[i], t, &t->train.a[i])) return 0;
    for (size_t i = 0; i < s->rel.n; i++)
        if (!same_rel(s, &s->rel.a[i], t, &t->rel.a[i])) return 0;
    for (size_t i = 0; i < s->loop.n; i++) {
        const struct loop *a = &s->loop.a[i], *b = &t->loop.a[i];
        if (a->outer != b->outer || !same_name(s, a->var, t, b->var) ||
            !same_expr(s, a->range, t, b->range))
            return 0;
    }
    for (size_t i = 0; i < s->decl.n; i++)
        if (!same_decl(s, &s->decl.a[i], t, &t->decl.a[i])) return 0;
    return 1;
}

#endif
