/* resolve_dist.c: resolves distributions: records, aliases of JAGS and Stan, distributions composed
   of others, and the functions of a distribution. */
#include <string.h>

#include "base/near.h"
#include "model/lang/resolve.h"

enum { GIVEN_MOST = 16 }; /* arguments of a distribution, as written */

static const char *nearest_dist(const char *s)
{
    struct near b = NEAR_NONE;
    for (int i = 0; dists[i]; i++) near_try(&b, s, strlen(s), dists[i]->name, i);
    for (int i = 0; dist_aliases[i].name; i++) near_try(&b, s, strlen(s), dist_aliases[i].name, i);
    for (int i = 0; dist_forms[i]; i++) near_try(&b, s, strlen(s), dist_forms[i]->name, i);
    return b.word;
}

const struct dist_alias *alias_find(const char *name)
{
    for (const struct dist_alias *a = dist_aliases; a->name; a++)
        if (strcmp(a->name, name) == 0) return a;
    return NULL;
}

int alias_formals(struct arena *mem, const char *args, struct dist_arg *formal)
{
    int n = 0;
    while (*args) {
        size_t k = strcspn(args, ":");
        char *name = arena_strndup(mem, args, k);
        if (!name || n == DIST_ARGS) return -1;
        args += k + 1;
        k = strcspn(args, ",");
        formal[n].name = name;
        for (int d = 0; d < NDOMAIN; d++)
            if (strlen(domains[d].name) == k && memcmp(domains[d].name, args, k) == 0)
                formal[n].domain = (enum domain)d;
        n++;
        args += k;
        args += strspn(args, ", ");
    }
    return n;
}

int match_names(const struct syntax *s, const struct expr *x, const struct dist_arg *formal, int n,
                const struct expr **out)
{
    return x->narg == n ? match_names_open(s, x, formal, n, out) : -1;
}

int match_names_open(const struct syntax *s, const struct expr *x, const struct dist_arg *formal,
                     int n, const struct expr **out)
{
    for (int i = 0; i < n; i++) out[i] = NULL;
    if (x->narg > n) return -1;
    for (int i = 0; i < x->narg; i++) {
        int at = i;
        if (x->argname && x->argname[i] >= 0) {
            for (at = 0; at < n; at++)
                if (strcmp(formal[at].name, syntax_name(s, x->argname[i])) == 0) break;
            if (at == n) return -1;
        }
        if (out[at]) return -1;
        out[at] = x->arg[i];
    }
    return 0;
}

/* value: the first argument of a function of the distribution, or NULL */
static void put_formals(struct str *t, const char *name, const char *value,
                        const struct dist_arg *f, int n)
{
    str_printf(t, "%s(%s", name, value ? value : "");
    for (int i = 0; i < n; i++) str_printf(t, "%s%s", i || value ? ", " : "", f[i].name);
    str_put(t, ")");
}

/* x: without the value, if there is one */
static void wrong_arguments(struct scope *c, const struct expr *x, const char *name,
                            const char *value, const struct dist_arg *f, int n)
{
    struct diags *d = &c->m->source.diags;
    struct str t = {0};
    put_formals(&t, name, value, f, n);
    if (value && x->narg == n - 1 && alias_find(name)) {
        str_put(&t, ", or use ~ for a random variable: y ~ ");
        put_formals(&t, name, NULL, f, n);
    } else if (value && c->m->ir.array_of_name[x->name] >= 0) {
        str_printf(&t, ", or %s[...] for the variable", name);
    }
    const char *advice = diag_text(d, "write %s", t.s ? t.s : name);
    str_free(&t);
    for (int i = 0; x->argname && i < x->narg; i++) {
        int k = 0;
        if (x->argname[i] < 0) continue;
        while (k < n && strcmp(f[k].name, syntax_name(c->syntax, x->argname[i])) != 0) k++;
        if (k < n) continue;
        diag_error(d, x->arg[i]->all, advice, "%s() has no argument called %s", name,
                   syntax_name(c->syntax, x->argname[i]));
        return;
    }
    int more = value != NULL;
    if (x->narg != n)
        diag_error(d, x->all, advice, "%s() takes %d argument%s, not %d", name, n + more,
                   n + more == 1 ? "" : "s", x->narg + more);
    else
        diag_error(d, x->all, advice, "an argument of %s() is given twice", name);
}

static const struct {
    const char *name, *why, *advice;
} refused[] = {
    {"dflat", "dflat() is improper: it cannot be sampled, so there is nothing to learn from",
     "use a wide proper prior, such as dnorm(0, 0.01), or add a distribution to train with: train mu "
     "~ dnorm(0, 0.01)"},
    {"flat", "flat() is improper: it cannot be sampled, so there is nothing to learn from",
     "use a wide proper prior, such as normal(0, 10), or add a distribution to train with: train mu "
     "~ normal(0, 10)"},
    {"dloglik", "dloglik() adds to the density without a distribution to sample from",
     "write the distribution itself"},
    {"dnormmix", "dnormmix() is not known here",
     "use mixture(w, normal(m1, s1), normal(m2, s2)), or a latent index: z ~ dcat(p)"},
    {"dsum", "dsum() is not known here: it observes a sum of variables exactly",
     "write the distribution of the sum, if it has one"},
    {"dround", "dround() is not known here", "observe the interval: k ~ dinterval(x, cuts)"},
    {"dsample", "dsample() is not known here", "use categorical indices, z ~ dcat(p)"},
};

static void unknown_dist(struct scope *c, const struct expr *x, const char *name)
{
    struct diags *d = &c->m->source.diags;
    const char *near = nearest_dist(name);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (strcmp(refused[i].name, name) == 0) {
            diag_error(d, x->at, refused[i].advice, "%s", refused[i].why);
            return;
        }
    if (op_find(name, strlen(name)))
        diag_error(d, x->at, "use <- for a value: y <- f(x)",
                   "%s() is a function, not a distribution", name);
    else
        diag_error(d, x->at,
                   near ? diag_text(d, "did you mean %s()?", near)
                        : "`nami list dists` shows them all",
                   "no distribution is called %s", name);
}

/* A resolved call of a distribution. */
struct call {
    const struct dist *dist;
    const char *name;
    int narg, ngiven;
    struct term *arg[DIST_ARGS];
    struct term *given[GIVEN_MOST]; /* the arguments as written, and their domains */
    struct dist_arg formal[GIVEN_MOST];
};

static int give(struct scope *c, struct call *k, const struct expr *x, const struct dist_arg *f)
{
    if (x->kind == X_EMPTY) {
        diag_error(&c->m->source.diags, c->s->rel->rhs->all, NULL, "an argument of %s() is missing",
                   k->name);
        return -1;
    }
    k->formal[k->ngiven] = *f;
    return (k->given[k->ngiven++] = resolve(c, x)) ? 0 : -1;
}

static int give_all(struct scope *c, struct call *k, const struct expr *const *x,
                    const struct dist_arg *f, int n)
{
    int bad = 0;
    for (int i = 0; i < n; i++) bad |= give(c, k, x[i], &f[i]);
    return bad ? -1 : 0;
}

/* A call of a JAGS name: finds the row with matching arguments; stores its formal arguments and the
   actual ones in their order. Returns their number, or reports an error and returns -1. value: as
   above */
static int alias_row(struct scope *c, const struct expr *x, const char *name, const char *value,
                     const struct dist_alias **row, struct dist_arg *formal,
                     const struct expr **order)
{
    struct dist_arg first[DIST_ARGS];
    const struct dist_alias *a = *row;
    const char *alias = a->name;
    int nfirst = -1;
    for (; a->name; a++) {
        if (strcmp(a->name, alias) != 0) continue;
        int n = alias_formals(&c->m->mem, a->args, formal);
        if (n < 0) return c->oom = 1, -1;
        if (nfirst < 0) memcpy(first, formal, sizeof first), nfirst = n;
        *row = a;
        if (match_names(c->syntax, x, formal, n, order) == 0) return n;
    }
    wrong_arguments(c, x, name, value, first, nfirst);
    return -1;
}

/* dnorm(mu, tau) is normal(mu, 1 / sqrt(tau)): its definition, with formal arguments replaced.  The
   number of arguments of *dist, or -1. */
static int alias_meaning(struct scope *c, const struct expr *x, const struct dist_alias *row,
                         const struct dist_arg *formal, struct term *const *actual, int n,
                         const struct dist **dist, struct term **arg)
{
    struct syntax meaning = {0};
    struct diags none = {0};
    struct expr *call = syntax_parse_expr(&meaning, row->meaning, strlen(row->meaning), &none);
    int rc = -1;
    if (!call) {
        c->oom = 1; /* our own tables parse */
    } else {
        struct scope inner = {.m = c->m,
                              .s = c->s,
                              .syntax = &meaning,
                              .formal = formal,
                              .actual = actual,
                              .nformal = n,
                              .instead = x};
        const char *base = syntax_name(&meaning, call->name);
        *dist = dist_find(base, strlen(base));
        rc = call->narg;
        for (int i = 0; i < call->narg; i++)
            if (!(arg[i] = resolve(&inner, call->arg[i]))) {
                c->oom = 1, rc = -1;
                break;
            }
        vec_free(&inner.refs);
    }
    diags_free(&none);
    syntax_free(&meaning);
    return rc;
}

static int resolve_alias(struct scope *c, const struct expr *x, const struct dist_alias *row,
                         struct call *k)
{
    const struct expr *order[DIST_ARGS];
    struct dist_arg formal[DIST_ARGS];
    int n = alias_row(c, x, row->name, NULL, &row, formal, order);
    if (n < 0 || give_all(c, k, order, formal, n)) return -1;
    k->narg = alias_meaning(c, x, row, formal, k->given, n, &k->dist, k->arg);
    return k->narg < 0 ? -1 : 0;
}

static int resolve_simulated(struct scope *c, const struct expr *x, struct call *k)
{
    static const struct dist_arg any = {"parent", VECTOR};
    if (x->narg > GIVEN_MOST) {
        diag_error(&c->m->source.diags, x->all, "give a vector", "more than %d parents",
                   GIVEN_MOST);
        return -1;
    }
    int bad = 0;
    for (int i = 0; i < x->narg; i++) bad |= give(c, k, x->arg[i], &any);
    return bad ? -1 : 0;
}

static int is_dist_call(const struct scope *c, const struct expr *x)
{
    if (x->kind != X_CALL) return 0;
    const char *name = syntax_name(c->syntax, x->name);
    return dist_find(name, strlen(name)) || alias_find(name) || dist_form_find(name, strlen(name));
}

static int resolve_dist(struct scope *c, const struct expr *x, struct call *k);

/* A component of a composed distribution: its arguments become arguments of the whole. */
static int resolve_part(struct scope *c, const struct expr *x, const struct dist_form *f,
                        struct call *k, const struct dist **out)
{
    struct call p = {0};
    if (!is_dist_call(c, x) && f->point) {
        p.dist = &dist_point;
        p.ngiven = p.narg = 1;
        p.formal[0] = dist_point.arg[0];
        if (!(p.given[0] = p.arg[0] = resolve(c, x))) return -1;
    } else if (x->kind != X_CALL) {
        diag_error(&c->m->source.diags, x->all, NULL,
                   "%s() needs a distribution here, such as normal(0, 1)", f->name);
        return -1;
    } else if (resolve_dist(c, x, &p)) {
        return -1;
    }
    if (!p.dist || k->narg + p.narg > DIST_ARGS || k->ngiven + p.ngiven > GIVEN_MOST) {
        diag_error(&c->m->source.diags, x->all, NULL, "%s() has too many parameters in all",
                   f->name);
        return -1;
    }
    memcpy(k->arg + k->narg, p.arg, sizeof *p.arg * (size_t)p.narg);
    memcpy(k->given + k->ngiven, p.given, sizeof *p.given * (size_t)p.ngiven);
    memcpy(k->formal + k->ngiven, p.formal, sizeof *p.formal * (size_t)p.ngiven);
    k->narg += p.narg;
    k->ngiven += p.ngiven;
    *out = p.dist;
    return 0;
}

/* An omitted bound. */
static struct term *no_bound(struct scope *c, const struct expr *x, const struct dist_arg *f)
{
    struct term *t = new_term(c, T_NUMBER, x, 0);
    if (t) t->value = strcmp(f->name, "lower") == 0 ? -INFINITY : INFINITY;
    return t;
}

/* mixture(w, normal(0, 1), normal(0, 10)) */
static int resolve_form(struct scope *c, const struct expr *x, const struct dist_form *f,
                        struct call *k)
{
    const struct dist *part[DIST_PARTS] = {NULL};
    const struct expr *order[DIST_PARTS + 2];
    struct dist *made = arena_alloc(&c->m->mem, sizeof *made);
    int nparts = 0;
    if (!made) return c->oom = 1, -1;
    if (match_names_open(c->syntax, x, f->arg, f->narg, order)) {
        wrong_arguments(c, x, f->name, NULL, f->arg, f->narg);
        return -1;
    }
    for (int i = 0; i < f->narg; i++) {
        const struct dist_arg *formal = &f->arg[i];
        int bound = !strcmp(formal->name, "lower") || !strcmp(formal->name, "upper");
        if (formal->domain == A_DIST && order[i] && order[i]->kind != X_EMPTY) {
            if (resolve_part(c, order[i], f, k, &part[nparts++])) return -1;
        } else if (order[i] && order[i]->kind != X_EMPTY) {
            if (k->narg == DIST_ARGS || give(c, k, order[i], formal)) return -1;
            k->arg[k->narg++] = k->given[k->ngiven - 1];
        } else if (bound && k->narg < DIST_ARGS) {
            if (!(k->arg[k->narg++] = no_bound(c, x, formal))) return -1;
        } else {
            wrong_arguments(c, x, f->name, NULL, f->arg, f->narg);
            return -1;
        }
    }
    const char *why = dist_make(f, part, made);
    if (why) {
        diag_error(&c->m->source.diags, x->all, NULL, "%s() cannot be made of these: %s", f->name,
                   why);
        return -1;
    }
    k->dist = made;
    return 0;
}

static int resolve_dist(struct scope *c, const struct expr *x, struct call *k)
{
    const struct expr *order[DIST_ARGS];
    k->name = syntax_name(c->syntax, x->name);
    const struct dist_form *form = dist_form_find(k->name, strlen(k->name));
    if (strcmp(k->name, "simulated") == 0) return resolve_simulated(c, x, k);
    const struct dist_alias *alias = alias_find(k->name);
    if (alias) return resolve_alias(c, x, alias, k);
    k->dist = dist_find(k->name, strlen(k->name));
    if (form && (!k->dist || (x->narg && is_dist_call(c, x->arg[0]))))
        return resolve_form(c, x, form, k);
    if (!k->dist) {
        unknown_dist(c, x, k->name);
        return -1;
    }
    if (match_names(c->syntax, x, k->dist->arg, k->dist->narg, order)) {
        wrong_arguments(c, x, k->name, NULL, k->dist->arg, k->dist->narg);
        return -1;
    }
    if (give_all(c, k, order, k->dist->arg, k->dist->narg)) return -1;
    k->narg = k->ngiven;
    memcpy(k->arg, k->given, sizeof *k->arg * (size_t)k->narg);
    return 0;
}

/* An improper prior, which only training distributions make usable: train_prior.c. */
static int is_flat(const struct scope *c, const struct expr *x)
{
    const struct syntax *s = &c->m->source.syntax;
    const char *name = syntax_name(c->syntax, x->name);
    if ((strcmp(name, "flat") != 0 && strcmp(name, "dflat") != 0) || x->narg) return 0;
    for (size_t i = 0; i < s->train.n; i++)
        if (s->train.a[i].lhs->name == c->s->rel->lhs->name) return 1;
    return 0;
}

/* The distribution of a relation. */
int resolve_stochastic(struct scope *c, const struct expr *x)
{
    struct stmt *s = c->s;
    struct call k = {0};
    if (is_flat(c, x))
        k = (struct call){.dist = &dist_flat, .name = syntax_name(c->syntax, x->name)};
    else if (resolve_dist(c, x, &k))
        return -1;
    s->dist = k.dist;
    s->name = k.name;
    s->narg = k.narg;
    s->ngiven = k.ngiven;
    memcpy(s->arg, k.arg, sizeof k.arg);
    s->given = arena_array(&c->m->mem, struct term *, k.ngiven + 1);
    s->formal = arena_array(&c->m->mem, struct dist_arg, k.ngiven + 1);
    if (!s->given || !s->formal) return c->oom = 1, -1;
    memcpy(s->given, k.given, sizeof *k.given * (size_t)k.ngiven);
    memcpy(s->formal, k.formal, sizeof *k.formal * (size_t)k.ngiven);
    return 0;
}

/* ---- densities, distribution functions and quantiles as functions ------------- */

/* The arguments after the value; arg[] are those of *dist. Their number, or -1. */
static int density_args(struct scope *c, const struct expr *x, const struct density_name *f,
                        const struct dist **dist, struct term **arg)
{
    const char *name = syntax_name(c->syntax, x->name),
               *value = f->form->kind == FUN_QUANTILE ? "p" : "x";
    const struct expr *order[DIST_ARGS];
    struct dist_arg formal[DIST_ARGS];
    struct term *actual[DIST_ARGS];
    const struct dist_alias *row = f->alias;
    struct expr rest = *x;
    int n = f->dist->narg, skip = x->narg ? 1 : 0;
    rest.narg -= 1; /* -1: there is not even a value */
    rest.arg += skip;
    if (rest.argname) rest.argname += skip;
    if (row) {
        n = alias_row(c, &rest, name, value, &row, formal, order);
    } else if (match_names(c->syntax, &rest, f->dist->arg, n, order)) {
        wrong_arguments(c, &rest, name, value, f->dist->arg, n);
        n = -1;
    }
    int bad = n < 0;
    for (int i = 0; i < n; i++) bad |= !(actual[i] = resolve(c, order[i]));
    if (bad) return -1;
    if (row) return alias_meaning(c, x, row, formal, actual, n, dist, arg);
    memcpy(arg, actual, sizeof(struct term *) * (size_t)n);
    return n;
}

struct term *resolve_density(struct scope *c, const struct expr *x, const struct density_name *f)
{
    struct diags *d = &c->m->source.diags;
    const char *name = syntax_name(c->syntax, x->name);
    struct term *arg[1 + DIST_ARGS];
    struct density_name of = *f;
    if (density_refuse(d, x->at, f)) return NULL;
    if (x->narg && x->argname && x->argname[0] >= 0) {
        diag_error(d, x->arg[0]->all, "write it without a name",
                   "the first argument of %s() has no name", name);
        return NULL;
    }
    arg[0] = x->narg ? resolve(c, x->arg[0]) : NULL;
    int n = density_args(c, x, f, &of.dist, arg + 1);
    struct term *t = n < 0 || !arg[0] ? NULL : new_term(c, T_OP, x, 1 + n);
    if (!t) return NULL;
    memcpy(t->arg, arg, sizeof(struct term *) * (size_t)(1 + n));
    if (!(t->op = density_op(c->m, &of, name))) return c->oom = 1, NULL;
    return t;
}
