/* bounds.c: censoring in the notation of BUGS, y[i] ~ dweib(r, mu) I(lower, upper), or C(lower,
   upper) in OpenBUGS: where the data lack y, it is known to lie between the bounds. It is rewritten
   to an observed indicator (see censor.c):

       y[i] ~ dweib(r, mu)        y.within[i] ~ dinterval(y[i], c(lower, upper))
       data { y.within[i] <- 1 }

   I(,) of a distribution whose parameters are constants is truncation, T(,). */
#include "model/lang/lang.h"

static struct expr *new_expr(struct syntax *s, enum expr_kind kind, const char *name, int narg,
                             const struct expr *like)
{
    struct expr *x = arena_alloc(&s->mem, sizeof *x);
    if (x && narg) x->arg = arena_array(&s->mem, struct expr *, narg);
    if (!x || (narg && !x->arg)) return NULL;
    x->kind = kind;
    x->at = like->at;
    x->all = like->all;
    x->narg = narg;
    x->height = narg > 0;
    x->name = -1;
    if (name && (x->name = dict_add(&s->names, name, strlen(name), NULL)) < 0) return NULL;
    return x;
}

/* Does it read anything that the model defines? */
static int reads_model(const struct syntax *s, const struct expr *x)
{
    for (size_t i = 0; x->kind == X_REF && i < s->rel.n; i++)
        if (!s->rel.a[i].in_data && s->rel.a[i].lhs->name == x->name) return 1;
    for (int i = 0; i < x->narg; i++)
        if (reads_model(s, x->arg[i])) return 1;
    return 0;
}

static int is_continuous(const struct syntax *s, const struct expr *x)
{
    const char *name = syntax_name(s, x->name);
    const struct dist_alias *a = alias_find(name);
    size_t n = a ? strcspn(a->meaning, "(") : strlen(name);
    const struct dist *d = dist_find(a ? a->meaning : name, n);
    return d && d->cdf && d->quantile && !domains[d->domain].discrete;
}

/* "y.within" with the subscripts of y. */
static struct expr *indicator(struct syntax *s, const struct expr *y)
{
    struct str name = {0};
    str_printf(&name, "%s.within", syntax_name(s, y->name));
    struct expr *x = name.oom ? NULL : new_expr(s, X_REF, name.s, y->narg, y);
    str_free(&name);
    for (int i = 0; x && i < y->narg; i++) x->arg[i] = y->arg[i];
    return x;
}

static int rewrite(struct syntax *s, size_t k)
{
    struct rel *r = &s->rel.a[k];
    struct rel is = {.loop = r->loop, .link = -1, .at = r->at, .stochastic = 1}, value = is;
    struct expr *cuts = r->lower && r->upper ? new_expr(s, X_CALL, "c", 2, r->lower)
                                             : (r->lower ? r->lower : r->upper);
    struct expr *one = new_expr(s, X_NUMBER, NULL, 0, r->lhs);
    is.rhs = new_expr(s, X_CALL, "dinterval", 2, r->rhs);
    is.lhs = indicator(s, r->lhs);
    value.lhs = indicator(s, r->lhs);
    if (!cuts || !one || !is.rhs || !is.lhs || !value.lhs) return NAMI_ENOMEM;
    if (r->lower && r->upper) cuts->arg[0] = r->lower, cuts->arg[1] = r->upper;
    is.rhs->arg[0] = r->lhs;
    is.rhs->arg[1] = cuts;
    is.rhs->height = cuts->height + 1;
    one->value = r->lower != NULL; /* above one cut point, or below it */
    value.stochastic = 0;
    value.in_data = 1;
    value.rhs = one;
    r->trunc = 0;
    r->lower = r->upper = NULL;
    return vec_push(&s->rel, is) || vec_push(&s->rel, value) ? NAMI_ENOMEM : 0;
}

int syntax_bounds(struct syntax *s)
{
    int rc = 0;
    for (size_t i = 0, n = s->rel.n; i < n && !rc; i++) {
        const struct rel *r = &s->rel.a[i];
        if (r->trunc != 'C' && (r->trunc != 'I' || !reads_model(s, r->rhs))) continue;
        if ((r->lower || r->upper) && is_continuous(s, r->rhs)) rc = rewrite(s, i);
    }
    return rc;
}
