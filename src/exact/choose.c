/* choose.c: which latents of a model are integrated out.

   Latents are tried statement by statement.  A latent that is integrated out is eliminated before
   all that stay; so that the order stays natural, everything upstream of it (its latent
   descendants in reverse mode, its ancestors in forward mode) must be integrated out, too: a
   statement is tried together with those upstream of it that have not been integrated out yet,
   fewer of them first, then statements with more scalars.  Latents of one kind are integrated
   together where that is possible, otherwise in a step of their own, for which the integrals of
   the steps before are terms like others.

   For Markov chains ("closed"), which draw what is not integrated out, an integral must be worth
   its cost, and must not hide the location or scale of a latent that they draw. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "exact/collapse.h"
#include "exact/reach.h"
#include "model/eval.h"

/* Limits for Markov chains: times the cost of the density as it is written, and operations. */
static const double COUPLED = 1000, PROBES = 5e3;
static const char SOONER[] = "is drawn sooner by Markov chains";

struct choice {
    struct collapse *c;
    const struct problem *p;
    const char *const *stored; /* by node: its kind in a stored inverse; or NULL */
    unsigned char *role;
    unsigned char *allowed; /* by node */
    unsigned char *drawn;   /* by node: sooner, by Markov chains */
    int singles;            /* costly kinds are welcome for single numbers, too */
    int closed;             /* and for nothing */
    int discrete;           /* nothing but discrete latents */
    int *statement;         /* by node */
    int num_statements;
    int *num_latents;             /* by statement */
    unsigned char *done, *failed; /* by statement */
    unsigned char *mark;          /* by node: workspace */
    vec(int) node, stack;         /* of a trial; workspace */
};

static int is_wanted(const struct choice *x, int v) { return x->role[v] == ROLE_WANTED; }

/* ---- what is upstream ---------------------------------------------------------------- */

static int visit(struct choice *x, int v)
{
    if (x->mark[v]) return 0;
    x->mark[v] = 1;
    return vec_push(&x->stack, v);
}

/* The nodes of a statement and of all that must go with it: x->node.  -1: out of memory. */
static int gather(struct choice *x, int statement)
{
    const struct dag *g = x->p->g;
    int rc = 0;
    x->node.n = x->stack.n = 0;
    memset(x->mark, 0, (size_t)g->n);
    for (int v = 0; v < g->n && !rc; v++)
        if (is_wanted(x, v) && x->statement[v] == statement) rc = visit(x, v);
    while (x->stack.n && !rc) {
        int v = x->stack.a[--x->stack.n];
        if (is_wanted(x, v) && !x->c->kind[v]) rc = vec_push(&x->node, v);
        if (x->p->mode == MODE_FREE) continue;
        if (x->p->mode == MODE_REVERSE)
            for_children (g, v, u) rc |= visit(x, u);
        else
            for_parents (g, v, u) rc |= visit(x, u);
    }
    if (!rc) sort_ints(x->node.a, x->node.n);
    return rc;
}

/* ---- trials ---------------------------------------------------------------------------- */

/* Together with step k; the steps after it follow again.  If that is not possible, all is as
   before. */
static int try_with(struct choice *x, size_t k, nami_err *err)
{
    struct collapse *c = x->c;
    size_t n = c->step.n - k;
    struct exact_step **old = raw_array(struct exact_step *, n);
    vec(int) all = {0};
    int rc = old ? 0 : NAMI_ENOMEM;
    for (size_t i = 0; i < c->step.a[k]->node.n && !rc; i++)
        rc = vec_push(&all, c->step.a[k]->node.a[i]);
    for (size_t i = 0; i < x->node.n && !rc; i++) rc = vec_push(&all, x->node.a[i]);
    if (rc) {
        rc = err_nomem(err);
    } else {
        collapse_cut(c, k, old);
        rc = collapse_step(c, (int)all.n, all.a, old[0]->kind, err);
        for (size_t i = 1; i < n && !rc; i++)
            rc = collapse_step(c, (int)old[i]->node.n, old[i]->node.a, old[i]->kind, err);
        if (rc) collapse_put_back(c, k, n, old);
        for (size_t i = 0; i < n && !rc; i++) exact_step_free(old[i]);
    }
    free(old);
    vec_free(&all);
    return rc;
}

static int is_fatal(int rc) { return rc && rc != NAMI_EINPUT && rc != NAMI_ELIMIT; }

/* Together with a step of this kind, the last ones first. */
static int try_with_steps(struct choice *x, const struct integral_kind *kind, nami_err *err)
{
    int rc = NAMI_EINPUT;
    for (size_t k = x->c->step.n; k-- > 0 && rc && !is_fatal(rc);)
        if (x->c->step.a[k]->kind == kind) rc = try_with(x, k, err);
    return rc;
}

static int kind_is_possible(const struct choice *x, const struct integral_kind *kind)
{
    const struct model *m = x->c->model;
    for (size_t i = 0; i < x->node.n; i++) {
        int v = x->node.a[i];
        const struct dist *d = model_statement(m, x->statement[v]).dist;
        if (domains[d->domain].discrete != kind->discrete) return 0;
        if (domains[d->domain].rank > kind->vectors) return 0;
        if (x->stored && strcmp(x->stored[v], kind->name) != 0) return 0;
    }
    return 1;
}

/* Is a statement of the trial a single number, not a plate? */
static int has_single(const struct choice *x)
{
    for (size_t i = 0; i < x->node.n; i++)
        if (x->num_latents[x->statement[x->node.a[i]]] < 2) return 1;
    return 0;
}

static int try_kind(struct choice *x, const struct integral_kind *kind, nami_err *err)
{
    if (x->discrete && !kind->discrete)
        return err_set(err, NAMI_EINPUT, "makes sums over discrete latents costly");
    if (kind->probed && x->closed) return err_set(err, NAMI_EINPUT, "%s", SOONER);
    if (kind->plates && !x->singles && has_single(x))
        return err_set(err, NAMI_EINPUT, "is a single number without a closed form");
    int rc = try_with_steps(x, kind, err);
    return rc && !is_fatal(rc) ? collapse_step(x->c, (int)x->node.n, x->node.a, kind, err) : rc;
}

/* How much it tells of a latent that it is not of this kind: most if it exceeds a limit; then that
   a latent with a normal prior is not normal, or that there is no integral of any kind. */
static int telling(const struct choice *x, const struct integral_kind *kind, int rc)
{
    const struct dist *d = model_statement(x->c->model, x->statement[x->node.a[0]]).dist;
    int normal = d == &dist_normal || d == &dist_multi_normal || d == &dist_multi_normal_prec;
    if (rc == NAMI_ELIMIT) return 4;
    return kind->normal_terms ? (normal ? 3 : 0) : kind->plates ? 2 : 1;
}

/* *why: the most telling reason. */
static int try_kinds(struct choice *x, nami_err *why)
{
    int v = x->node.a[0], most = -1;
    int matrix = domains[model_statement(x->c->model, x->statement[v]).dist->domain].rank > 1;
    int rc = err_set(why, NAMI_EINPUT, "%s",
                     matrix ? "is a matrix: there is no kind of integral for it"
                            : "has no integral in closed form");
    for (int k = 0; integral_kinds[k]; k++) {
        const struct integral_kind *kind = integral_kinds[k];
        nami_err err;
        if (!kind_is_possible(x, kind)) continue;
        rc = try_kind(x, kind, &err);
        if (!rc || is_fatal(rc)) return rc;
        if (telling(x, kind, rc) <= most) continue;
        most = telling(x, kind, rc);
        *why = err;
    }
    return rc;
}

/* ---- all ------------------------------------------------------------------------------- */

/* The first statement of what must go with it that cannot, or -1. */
static int obstacle(const struct choice *x)
{
    for (size_t i = 0; i < x->node.n; i++) {
        int v = x->node.a[i];
        if (!x->allowed[v] || x->drawn[v] || x->failed[x->statement[v]]) return v;
    }
    return -1;
}

static int explain(struct choice *x, int statement, const char *why, const char *name)
{
    char *text = NULL;
    struct str s = {0};
    str_printf(&s, "%s%s", why, name);
    if (!s.oom) text = arena_strndup(&x->c->mem, s.s, strlen(s.s));
    str_free(&s);
    for (int v = 0; v < x->p->g->n && text; v++)
        if (is_wanted(x, v) && x->statement[v] == statement) x->c->why[v] = text;
    return text ? 0 : NAMI_ENOMEM;
}

/* The statement to be tried next: the fewest nodes beyond itself, then the most scalars. */
static int next(struct choice *x, int *out)
{
    size_t best_nodes = 0, best_more = 0;
    *out = -1;
    for (int s = 0; s < x->num_statements; s++) {
        if (x->done[s] || x->failed[s]) continue;
        if (gather(x, s)) return NAMI_ENOMEM;
        size_t own = 0, more = 0;
        for (size_t i = 0; i < x->node.n; i++)
            if (x->statement[x->node.a[i]] == s)
                own += (size_t)model_bn(x->c->model)->node.a[x->node.a[i]].size;
            else
                more++;
        if (*out >= 0 && (more > best_more || (more == best_more && own <= best_nodes))) continue;
        *out = s;
        best_nodes = own;
        best_more = more;
    }
    return 0;
}

static int try_statement(struct choice *x, int s, nami_err *err)
{
    nami_err why = {0};
    int rc = gather(x, s) ? NAMI_ENOMEM : 0, v = rc ? -1 : obstacle(x);
    if (v >= 0 && x->statement[v] != s) {
        x->failed[s] = 1;
        return explain(x, s, x->p->mode == MODE_REVERSE ? "is above " : "is below ",
                       bn_name(model_bn(x->c->model), v))
                   ? err_nomem(err)
                   : 0;
    }
    if (v >= 0) {
        x->failed[s] = 1;
        return explain(x, s,
                       x->drawn[v]     ? SOONER
                       : x->c->by_name ? "is not among those that --exact names"
                                       : "belongs to a later stage",
                       "")
                   ? err_nomem(err)
                   : 0;
    }
    if (!rc) rc = try_kinds(x, &why);
    if (is_fatal(rc)) return err_set(err, rc, "%s", rc == NAMI_ENOMEM ? "out of memory" : why.msg);
    for (size_t i = 0; i < x->node.n && !rc; i++) {
        x->done[x->statement[x->node.a[i]]] = 1;
        x->c->why[x->node.a[i]] = NULL; /* it did not go before */
    }
    if (!rc) return 0;
    x->failed[s] = 1;
    return explain(x, s, why.msg, "") ? err_nomem(err) : 0;
}

/* Rounds, since a step may make others possible.  Single numbers are left to costly kinds only when
   nothing else is possible for them. */
static int rounds(struct choice *x, nami_err *err)
{
    size_t had;
    int rc = 0, left;
    do {
        had = x->c->step.n;
        left = x->c->num_left;
        memset(x->failed, 0, (size_t)x->num_statements);
        for (int s = 0; !rc && s >= 0;) {
            if (next(x, &s)) rc = err_nomem(err);
            if (!rc && s >= 0) rc = try_statement(x, s, err);
        }
        if (x->c->step.n != had || x->c->num_left != left) continue;
        if (x->singles || !x->c->by_name) break;
        x->singles = 1;
    } while (!rc && x->c->num_left);
    return rc;
}

/* Statements with latents that are wanted are to be tried. */
static void start_statements(struct choice *x)
{
    memset(x->done, 1, (size_t)x->num_statements);
    for (int v = 0; v < x->p->g->n; v++)
        if (is_wanted(x, v)) x->done[x->statement[v]] = 0;
}

/* Continuous latents that were integrated out, but have a latent that stays as a child, are to be
   drawn: its location or scale would be hidden in an integral, and it could not be
   noncentered.  Nor are those whose integrals are found by probes of a long density, in which a
   chain moves sooner.  How many. */
static int give_back(struct choice *x)
{
    const struct dag *g = x->p->g;
    int n = 0;
    for (size_t k = 0; k < x->c->step.n; k++) {
        const struct exact_step *s = x->c->step.a[k];
        int costly = s->kind->fits && prog_cost(collapse_density(x->c)) > PROBES;
        for (size_t i = 0; i < s->node.n && !s->kind->discrete; i++) {
            int stays = costly;
            for_children (g, s->node.a[i], v) stays |= is_wanted(x, v) && !x->c->kind[v];
            if (stays) x->drawn[s->node.a[i]] = 1, n++;
        }
    }
    return n;
}

static int rounds_again(struct choice *x, nami_err *err)
{
    while (x->c->step.n) collapse_pop(x->c);
    start_statements(x);
    return rounds(x, err);
}

/* Integrals over parameters couple discrete latents, all states of which are then summed over
   together.  Where that is costly, Markov chains draw the parameters instead. */
static int rounds_for_chains(struct choice *x, nami_err *err)
{
    struct collapse *c = x->c;
    int rc = rounds(x, err), continuous = 0;
    while (!rc && give_back(x)) rc = rounds_again(x, err);
    for (size_t k = 0; k < c->step.n; k++) continuous |= !c->step.a[k]->kind->discrete;
    if (rc || !continuous || prog_cost(collapse_density(c)) < COUPLED * prog_cost(&c->start))
        return rc;
    x->discrete = 1;
    return rounds_again(x, err);
}

/* Stages of the user: only latents of the first one can go first. */
static int first_stage(const struct choice *x)
{
    int first = -1;
    for (int v = 0; v < x->p->g->n && x->p->stage; v++)
        if (is_wanted(x, v) && (first < 0 || x->p->stage[v] < first)) first = x->p->stage[v];
    return first;
}

static int allow(struct choice *x, const char *which, nami_err *err)
{
    const struct bn *bn = model_bn(x->c->model);
    int n = x->p->g->n, stage = first_stage(x), rc = 0;
    int all = which && strcmp(which, "all") == 0;
    x->closed = which && strcmp(which, "closed") == 0;
    x->c->by_name = which && !x->closed && strcmp(which, "auto") != 0;
    int *mark = new_array(int, n);
    if (!mark) return err_nomem(err);
    if (x->c->by_name && !all) rc = bn_select(bn, which, mark, 1, err);
    for (int v = 0; v < n && !rc; v++)
        x->allowed[v] = is_wanted(x, v) && (!x->c->by_name || all || mark[v]) &&
                        (!x->p->stage || x->p->stage[v] == stage);
    free(mark);
    return rc;
}

static int start(struct choice *x, const struct model *m, nami_err *err)
{
    int n = x->p->g->n, inexact, rc;
    x->num_statements = model_num_statements(m);
    x->role = new_array(unsigned char, n);
    x->allowed = new_array(unsigned char, n);
    x->drawn = new_array(unsigned char, n);
    x->mark = new_array(unsigned char, n);
    x->statement = raw_array(int, n);
    x->done = new_array(unsigned char, x->num_statements);
    x->failed = new_array(unsigned char, x->num_statements);
    x->num_latents = new_array(int, x->num_statements);
    if (!x->role || !x->allowed || !x->drawn || !x->mark || !x->statement || !x->num_latents ||
        !x->done || !x->failed)
        return err_nomem(err);
    if ((rc = roles(x->p, x->role, &inexact, err))) return rc;
    for (int k = 0; k < model_num_instances(m); k++) {
        int v = instance_node(m, k);
        if (v < 0) continue;
        x->statement[v] = instance_statement(m, k);
        if (is_wanted(x, v)) x->num_latents[x->statement[v]]++;
    }
    start_statements(x);
    return collapse_start(x->c, m, x->role, err);
}

/* A costly integral within another? */
static int is_nested(const struct integral *g)
{
    int inner = 0;
    for (size_t k = 0; k < g->body.code.n && g->kind->plates; k++) {
        const struct integral *in = instr_integral(&g->body.code.a[k]);
        inner |= in && in->kind->plates;
    }
    return inner;
}

static int add_moments(struct collapse *c, const struct exact_step *s)
{
    int first, num = s->integral.num_vars;
    if (is_nested(&s->integral)) return 0;
    int rc = split_moments(&s->rest, &s->integral, &c->moments, &first);
    for (int v = 0; v < num && !rc; v++) {
        struct exact_moment m = {s->integral.var[v].row, first + v, first + num + v};
        rc = vec_push(&c->moment, m);
    }
    return rc;
}

/* What was integrated out last comes first. */
static int make_programs(struct collapse *c)
{
    int rc = 0;
    c->moments.nnode = c->moments.nrow = model_num_rows(c->model);
    c->draw.nnode = c->draw.nrow = c->mean.nnode = c->mean.nrow = model_num_rows(c->model);
    for (size_t k = c->step.n; k-- > 0 && !rc;) {
        const struct exact_step *s = c->step.a[k];
        rc = split_draw(&s->rest, &s->integral, &c->draw);
        if (!rc) rc = split_means(&s->rest, &s->integral, &c->mean);
        if (!rc) rc = add_moments(c, s);
    }
    if (!rc) rc = prog_finish(&c->moments);
    if (!rc) rc = prog_finish(&c->draw);
    return rc ? rc : prog_finish(&c->mean);
}

/* kind: the exact latents of a stored inverse; or NULL: to be chosen. */
static int make(struct collapse *c, const struct model *m, const struct problem *p,
                const char *which, const char *const *kind, nami_err *err)
{
    struct choice x = {.c = c, .p = p, .stored = kind};
    int rc = start(&x, m, err), none = which && strcmp(which, "none") == 0;
    if (p->nuisance || model_simulated(m) >= 0 || model_simulator_command(m)) none = 1;
    if (!rc && model_needs_values(m, NULL)) none = 1;
    if (!rc && !none) rc = allow(&x, which, err);
    for (int v = 0; kind && v < p->g->n && !rc; v++) x.allowed[v] &= kind[v] != NULL;
    if (kind) c->by_name = 1;
    if (!rc && !none) rc = x.closed ? rounds_for_chains(&x, err) : rounds(&x, err);
    if (!rc && make_programs(c)) rc = err_nomem(err);
    for (int v = 0; kind && v < p->g->n && !rc; v++)
        if (kind[v] && (!c->kind[v] || strcmp(kind[v], c->kind[v]) != 0))
            rc = err_set(err, NAMI_EINPUT, "%s cannot be integrated out as the file says (%s)",
                         bn_name(model_bn(m), v), kind[v]);
    c->cost = rc ? 0 : prog_cost(collapse_density(c));
    free(x.role), free(x.allowed), free(x.drawn), free(x.mark), free(x.statement);
    free(x.num_latents), free(x.done), free(x.failed);
    vec_free(&x.node), vec_free(&x.stack);
    return rc;
}

int collapse_make(struct collapse *c, const struct model *m, const struct problem *p,
                  const char *which, nami_err *err)
{
    return make(c, m, p, which, NULL, err);
}

int collapse_again(struct collapse *c, const struct model *m, const struct problem *p,
                   const char *const *kind, nami_err *err)
{
    return make(c, m, p, NULL, kind, err);
}
