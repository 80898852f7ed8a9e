/* train_prior.c: training distributions, train mu ~ normal(0, 10).

   A network need not be trained on draws of the user's prior: importance weights use the density,
   which train statements do not change. They are elaborated as a model of their own
   (source.training: model.c), whose variables are latents of the model with constant parameters.
   Here each is related to the latent that it replaces, and the two are compiled to one program,

       draws of the training distributions, then of all other variables given these.

   The inverse of the model is faithful to the training distribution, too, since only latents
   without parents are replaced, each by itself. */
#include <float.h>

#include "model/lang/lang.h"
#include "model/reads.h"

/* ---- names ------------------------------------------------------------------------------ */

/* Does the model define it, outside of its data block? */
static int is_defined(const struct syntax *s, int name)
{
    for (size_t i = 0; i < s->rel.n; i++)
        if (!s->rel.a[i].in_data && s->rel.a[i].lhs->name == name) return 1;
    return 0;
}

/* The parameters must be constants of the text, the data, or the data block. */
static void check_constant(struct model *m, const struct expr *x)
{
    const struct syntax *s = &m->source.syntax;
    if (x && x->kind == X_REF && is_defined(s, x->name))
        diag_error(&m->source.diags, x->all, "write numbers, or constants of the data",
                   "the parameters of a training distribution must be constants, but the model "
                   "defines %s",
                   syntax_name(s, x->name));
    for (int i = 0; x && i < x->narg; i++) check_constant(m, x->arg[i]);
}

int train_names(struct model *m)
{
    const struct syntax *s = &m->source.syntax;
    for (size_t i = 0; i < s->train.n; i++) {
        const struct rel *r = &s->train.a[i];
        int array = m->ir.array_of_name[r->lhs->name];
        if (array < 0 || !m->ir.arrays.a[array].ready)
            unknown_variable(m, r->lhs->at, syntax_name(s, r->lhs->name));
        else if (!is_defined(s, r->lhs->name))
            diag_error(&m->source.diags, r->lhs->all,
                       "training distributions are for latent variables",
                       "%s is not a random variable of the model", syntax_name(s, r->lhs->name));
        for (int k = 0; k < r->lhs->narg; k++) check_constant(m, r->lhs->arg[k]);
        check_constant(m, r->rhs);
        check_constant(m, r->lower);
        check_constant(m, r->upper);
        for (int l = r->loop; l >= 0; l = s->loop.a[l].outer)
            check_constant(m, s->loop.a[l].range);
    }
    if (m->source.simulator)
        diag_error(&m->source.diags, s->train.a[0].lhs->all,
                   "let the simulator draw from the training distribution",
                   "a model with a simulator cannot have training distributions");
    return 0;
}

/* ---- which latent ----------------------------------------------------------------------- */

struct link {
    struct model *m, *training;
    int *covered; /* by instance of m: how many of its elements have a training distribution */
};

static int element_of(const struct link *p, int e)
{
    const struct array *from = &p->training->ir.arrays.a[p->training->ir.array_of[e]];
    const struct array *a = &p->m->ir.arrays.a[p->m->ir.array_of_name[from->id]];
    return a->first + (e - from->first);
}

static int refuse(const struct link *p, const struct stmt *s, int e, const char *advice,
                  const char *why)
{
    struct str name = {0};
    elem_name(p->m, e, &name);
    diag_error(&p->m->source.diags, s->lhs->all, advice, "%s %s", name.s ? name.s : "it", why);
    str_free(&name);
    return IS_WRONG;
}

/* Is element e of m a latent without parents? */
static int check_latent(const struct link *p, const struct stmt *s, int e)
{
    const struct model *m = p->m;
    int k = m->ir.defined_by[e];
    if (k < 0 || m->ir.state[e] == E_CONST)
        return refuse(p, s, e, "training distributions are for latent variables",
                      "is not a random variable of the model");
    const struct stmt *by = instance_stmt(m, k);
    if (!by->rel->stochastic)
        return refuse(p, s, e, "training distributions are for variables defined by ~",
                      "is computed by the model");
    if (m->ir.observed[e])
        return refuse(p, s, e, "training distributions are for latent variables", "is observed");
    if (!by->dist) return refuse(p, s, e, NULL, "has no known density");
    for_parents (&m->ir.bn->dag, m->ir.node[k], parent)
        return refuse(p, s, e,
                      diag_text(&p->m->source.diags,
                                "training distributions are for top-level latents, such as %s",
                                bn_name(m->ir.bn, parent)),
                      "depends on other random variables");
    return 0;
}

/* ---- supports ---------------------------------------------------------------------------- */

/* A bound without the difference between open and closed ends: see range.c. */
static double lower_end(struct range r) { return r.lo > 0 && r.lo <= DBL_TRUE_MIN ? 0 : r.lo; }
static double upper_end(struct range r) { return r.hi == nextafter(1, 0) ? 1 : r.hi; }

static void put_range(struct str *out, struct range r)
{
    str_printf(out, "[%.10g, %.10g]", lower_end(r), upper_end(r));
}

/* T( , ) with the bounds of the prior, if that helps; or NULL. */
static const char *truncation(struct model *m, const struct stmt *s, struct range prior,
                              struct range train)
{
    double lo = lower_end(prior), hi = upper_end(prior);
    if (!s->dist->cdf || !s->dist->quantile || !s->dist->logp || s->rel->trunc) return NULL;
    if (lo < lower_end(train) || hi > upper_end(train)) return NULL;
    if (!isfinite(lo)) return diag_text(&m->source.diags, "truncate it: T( , %.10g)", hi);
    if (!isfinite(hi)) return diag_text(&m->source.diags, "truncate it: T(%.10g, )", lo);
    return diag_text(&m->source.diags, "truncate it: T(%.10g, %.10g)", lo, hi);
}

static int check_range(const struct link *p, const struct stmt *s, int e, struct range prior,
                       struct range train)
{
    struct model *m = p->m;
    double lo = lower_end(prior), hi = upper_end(prior);
    if (lo == lower_end(train) && hi == upper_end(train)) return 0;
    struct str name = {0}, is = {0}, should = {0};
    int narrow = lo < lower_end(train) || hi > upper_end(train);
    const char *advice = truncation(m, s, prior, train);
    elem_name(m, e, &name);
    put_range(&is, train);
    put_range(&should, prior);
    diag_error(&m->source.diags, s->rel->rhs->all,
               advice ? advice : "choose a distribution with the same support",
               "the training distribution of %s has support %s, but its prior has %s: %s",
               name.s ? name.s : "it", is.s ? is.s : "", should.s ? should.s : "",
               narrow ? "posterior draws could not leave it" : "draws would leave the prior");
    str_free(&name);
    str_free(&is);
    str_free(&should);
    return IS_WRONG;
}

/* Training distribution s of element `from` against the prior of element e. */
static int check_support(const struct link *p, const struct stmt *s, int from, int e)
{
    const struct stmt *prior = instance_stmt(p->m, p->m->ir.defined_by[e]);
    const struct domain_info *a = &domains[prior->dist->domain], *b = &domains[s->dist->domain];
    struct diags *d = &p->m->source.diags;
    if (a->discrete != b->discrete) {
        diag_error(d, s->rel->rhs->all,
                   a->discrete ? "choose a discrete distribution"
                               : "choose a continuous distribution",
                   "%s() is %s, but the prior %s() is %s", s->name,
                   b->discrete ? "discrete" : "continuous", prior->name,
                   a->discrete ? "discrete" : "continuous");
        return IS_WRONG;
    }
    if ((a->rank || b->rank) && prior->dist->domain != s->dist->domain &&
        !(prior->dist->domain == VECTOR && s->dist->domain == REAL)) {
        diag_error(d, s->rel->rhs->all, "choose a distribution with the same support",
                   "%s() gives %s, but the prior %s() %s", s->name, b->what, prior->name, a->what);
        return IS_WRONG;
    }
    return check_range(p, s, e, elem_range(p->m, e), elem_range(p->training, from));
}

/* ---- one instance ------------------------------------------------------------------------ */

static int push_parameters(struct link *p, const struct term *t, const int *counter,
                           struct numbers *out)
{
    struct cval v = {0};
    int rc = t ? eval_term(p->training, t, counter, &v) : 0;
    for (int i = 0; i < v.n && !rc; i++) rc = vec_push(out, v.x[i]) ? NAMI_ENOMEM : 0;
    cval_free(&v);
    return rc == NOT_CONST ? IS_WRONG : rc;
}

/* Adds training distribution k to what is known of the latent that it replaces. */
static int add_parameters(struct link *p, int k, struct train_prior *out)
{
    const struct stmt *s = instance_stmt(p->training, k);
    const int *counter = instance_counter(p->training, k);
    struct numbers all = {0};
    int rc = 0;
    for (int i = 0; i < out->num_parameters && !rc; i++) rc = vec_push(&all, out->parameter[i]);
    for (int i = 0; i < s->narg && !rc; i++) rc = push_parameters(p, s->arg[i], counter, &all);
    if (!rc) rc = push_parameters(p, s->lower, counter, &all);
    if (!rc) rc = push_parameters(p, s->upper, counter, &all);
    out->parameter = rc ? NULL : arena_array(&p->m->mem, double, all.n + 1);
    if (!rc && !out->parameter) rc = NAMI_ENOMEM;
    if (!rc && all.n) memcpy(out->parameter, all.a, sizeof(double) * all.n);
    out->num_parameters = rc ? 0 : (int)all.n;
    uint64_t h = out->kind ? out->kind : 1;
    for (const char *c = s->dist->name; *c; c++) h = mix(h, (unsigned char)*c);
    h = mix(mix(h, all.n), (uint64_t)((s->lower != NULL) + 2 * (s->upper != NULL)));
    out->kind = h ? h : 1;
    vec_free(&all);
    return rc;
}

static int link_instance(struct link *p, int k)
{
    struct model *m = p->m, *t = p->training;
    const struct stmt *s = instance_stmt(t, k);
    int first = t->ir.first_defined[k], n = t->ir.first_defined[k + 1] - first, rc = 0;
    int whole = element_of(p, t->ir.defined[first]);
    if (!s->dist) {
        diag_error(&m->source.diags, s->rel->rhs->all, NULL,
                   "a training distribution cannot be a simulator");
        return IS_WRONG;
    }
    for (int j = 0; j < n && !rc; j++) {
        int from = t->ir.defined[first + j], e = element_of(p, from);
        if ((rc = check_latent(p, s, e))) break;
        if (m->ir.defined_by[e] != m->ir.defined_by[whole])
            rc = refuse(p, s, e, "give each of them a distribution of its own",
                        "is independent of the others in the model, but not in training");
        if (!rc) rc = check_support(p, s, from, e);
        t->ir.row[from] = m->ir.row[e];
    }
    if (rc) return rc;
    int by = m->ir.defined_by[whole], size = m->ir.first_defined[by + 1] - m->ir.first_defined[by];
    if (domains[s->dist->domain].rank && n != size)
        return refuse(p, s, whole, NULL, "is one of several elements of its prior's draw");
    p->covered[by] += n;
    return add_parameters(p, k, &m->ir.train_prior[by]);
}

/* Draws of a prior must be replaced as a whole. */
static int check_covered(const struct link *p, int k)
{
    const struct model *m = p->m, *t = p->training;
    int by = m->ir.defined_by[element_of(p, t->ir.defined[t->ir.first_defined[k]])];
    if (p->covered[by] == m->ir.first_defined[by + 1] - m->ir.first_defined[by]) return 0;
    struct str name = {0};
    inst_name(m, by, &name);
    diag_error(&p->m->source.diags, instance_stmt(t, k)->lhs->all,
               "give training distributions to all of its elements",
               "%s has one prior, but only some of its elements a training distribution",
               name.s ? name.s : "it");
    str_free(&name);
    return IS_WRONG;
}

/* Improper priors cannot be drawn from: each needs a training distribution. */
static void check_improper(const struct link *p)
{
    struct model *m = p->m;
    for (int k = 0; k < m->ir.num_instances; k++) {
        const struct stmt *s = instance_stmt(m, k);
        if (s->dist != &dist_flat) continue;
        m->ir.improper = 1;
        if (m->ir.train_prior[k].kind) continue;
        struct str name = {0};
        inst_name(m, k, &name);
        diag_error(&m->source.diags, s->rel->rhs->all, "add train statements for all of them",
                   "%s() is improper, and %s has no training distribution", s->name,
                   name.s ? name.s : "it");
        str_free(&name);
    }
}

/* ---- the program ------------------------------------------------------------------------- */

static int compile_training(struct link *p)
{
    struct model *m = p->m, *t = p->training;
    struct prog *out = &m->programs.training;
    unsigned char *only = new_array(unsigned char, m->ir.num_instances + 1);
    if (!only) return NAMI_ENOMEM;
    for (int k = 0; k < m->ir.num_instances; k++) only[k] = !m->ir.train_prior[k].kind;
    t->ir.num_rows = m->ir.num_rows; /* its draws are stored in the rows of m */
    t->ir.num_constant_rows = m->ir.num_constant_rows;
    int rc = model_compile(t, out, 0, NULL), rows = out->nrow;
    if (!rc) rc = model_compile(m, out, 0, only);
    if (out->nrow < rows) out->nrow = rows;
    free(only);
    return rc;
}

int train_link(struct model *m)
{
    struct link p = {m, m->source.training, new_array(int, m->ir.num_instances + 1)};
    struct model *t = p.training;
    int rc = 0;
    m->ir.train_prior = arena_array(&m->mem, struct train_prior, m->ir.num_instances + 1);
    if (!p.covered || !m->ir.train_prior) rc = NAMI_ENOMEM;
    for (size_t i = 0; i < t->ir.statements.n && rc >= 0; i++) {
        const struct stmt *s = &t->ir.statements.a[i];
        if (!s->rel->stochastic) continue;
        rc = 0; /* one message for a statement */
        for (int k = s->first; k < s->first + s->n && !rc; k++) rc = link_instance(&p, k);
    }
    for (int k = 0; k < t->ir.num_instances && rc >= 0 && !m->source.diags.nerror; k++)
        if (instance_stmt(t, k)->rel->stochastic) check_covered(&p, k);
    if (rc >= 0 && !m->source.diags.nerror) check_improper(&p);
    if (rc >= 0 && !m->source.diags.nerror) rc = compile_training(&p);
    free(p.covered);
    return rc < 0 ? rc : 0;
}
