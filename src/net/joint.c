/* joint.c: builds log p(x, z) as a program of the latents' unconstrained coordinates, for HMC and
   MAP search. */
#include "net/joint.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "exact/reach.h"

int joint_density(const struct model *m, const char *advice, nami_err *err)
{
    if (model_simulated(m) < 0) return 0;
    return err_set(err, NAMI_EINPUT,
                   "the model has a simulator, and no density: p(x, z) is not known%s", advice);
}

int joint_of_all(const struct model *m, const char *advice, nami_err *err)
{
    int n = 0, rc = joint_density(m, advice, err);
    for (size_t v = 0; v < model_bn(m)->node.n; v++)
        n += !model_bn(m)->node.a[v].observed && model_bn(m)->node.a[v].nuisance;
    if (!rc && n) /* they would have to be summed out */
        rc = err_set(err, NAMI_EINPUT,
                     "the network has no factors for %d latent%s (not in 'infer'), so that p(x, z) "
                     "is not known%s",
                     n, n == 1 ? "" : "s", advice);
    return rc;
}

int joint_known(const struct qnet *q, const char *advice, nami_err *err)
{
    return joint_of_all(q->model, advice, err);
}

/* ---- terms -------------------------------------------------------------------------- */

static int all_given(const struct operand *o, int n, const unsigned char *given, int rows)
{
    if (o->is_const) return 0;
    for (int i = 0; i < (operand_fixed(o) ? 1 : n); i++)
        for (int k = 0; k < o->m; k++) {
            int r = operand_at(o, i, k);
            if (r >= rows || !given[r]) return 0;
        }
    return 1;
}

/* A term is one of the data if its variable is; nothing is differentiated by data.  Nobody asks for
   single terms, and their derivatives do not need them (the densities of dist/). */
static void sort_terms(const struct model *m, struct prog *p, const unsigned char *given,
                       const int tag[2])
{
    for (size_t k = 0; k < p->code.n; k++) {
        struct instr *c = &p->code.a[k];
        for (int a = 0; a < c->narg; a++)
            c->arg[a].data |= all_given(&c->arg[a], c->n, given, model_num_rows(m));
        if (!c->sum) continue;
        c->out = -1;
        c->blind = 1;
        c->gradient_group = c->arg[0].data || instr_integral(c) ? GRADIENT_DATA : GRADIENT_LATENT;
        c->tag = tag[c->gradient_group];
    }
}

int *joint_logits(const struct model *m)
{
    int *logit = raw_array(int, model_num_rows(m) + 1);
    for (int r = 0; logit && r < model_num_rows(m); r++) logit[r] = -1;
    return logit;
}

/* A term of which all numbers have a logit reads that. */
static int by_logit(struct prog *p, struct instr *c, const int *logit, int rows)
{
    const struct dist *d = c->self;
    const struct operand *o = &c->arg[0];
    if (!c->sum || !c->map || c->map != d->logp || !d->logit || o->is_const) return 0;
    int *idx = arena_array(&p->mem, int, c->n);
    if (!idx) return NAMI_ENOMEM;
    for (int i = 0; i < c->n; i++) {
        int r = operand_at(o, i, 0);
        if (r >= rows || logit[r] < 0) return 0;
        idx[i] = logit[r];
    }
    c->arg[0] = (struct operand){.m = 1, .idx = idx};
    c->map = d->logit;
    c->map_grad = d->logit_grad;
    return 0;
}

/* The program of log p of all but barren latents. */
static int all_terms(const struct qnet *q, struct prog *terms)
{
    struct model *m = q->model;
    unsigned char *only = new_array(unsigned char, model_num_instances(m) + 1);
    if (!only) return NAMI_ENOMEM;
    for (int k = 0; k < model_num_instances(m); k++) only[k] = instance_node(m, k) >= 0;
    for (int i = 0; i < q->inverse->nmodel; i++) only[q->encoding[q->inverse->model[i]].inst] = 0;
    int rc = model_program(m, terms, 1, only);
    free(only);
    return rc;
}

/* The same, or collapsed: then it borrows from q->collapse. */
static int make_terms(const struct qnet *q, struct prog *terms)
{
    if (!q->collapse) return all_terms(q, terms);
    const struct prog *from = collapse_density(q->collapse);
    terms->nnode = terms->nrow = from->nnode;
    return prog_append(terms, from);
}

int joint_terms(struct qnet *q, struct prog *p, const int tag[2], const int *logit)
{
    struct model *m = q->model;
    struct prog terms = {0};
    unsigned char *given = new_array(unsigned char, model_num_rows(m) + 1);
    int rc = given ? 0 : NAMI_ENOMEM;
    for (int e = 0; e < model_num_elements(m) && !rc; e++)
        if (element_row(m, e) >= 0 && element_row(m, e) < model_num_rows(m))
            given[element_row(m, e)] = element_is_observed(m, e);
    if (!rc && !(rc = make_terms(q, &terms))) {
        sort_terms(m, &terms, given, tag);
        size_t first = p->code.n;
        rc = prog_append(p, &terms);
        for (size_t k = first; k < p->code.n && !rc; k++)
            rc = by_logit(p, &p->code.a[k], logit, model_num_rows(m));
    }
    prog_free(&terms);
    free(given);
    return rc;
}

/* ---- coordinates -------------------------------------------------------------------- */

static int decode(struct joint *j, const unsigned char *noncentered, int *logit)
{
    const struct decoding how = {1, GRADIENT_JACOBIAN, GRADIENT_JACOBIAN, logit};
    const struct inverse *h = j->q->inverse;
    int n = 0;
    const struct encoding **c = raw_array(const struct encoding *, h->nlatent);
    for (int i = 0; i < h->nlatent && c; i++)
        if (!noncentered || !noncentered[h->perm[i]]) c[n++] = &j->encoding[h->perm[i]];
    int rc = c ? encodings_decode(c, n, &j->prog, &how) : NAMI_ENOMEM;
    free(c);
    return rc;
}

int joint_compile(struct joint *j, const unsigned char *noncentered)
{
    struct qnet *q = j->q;
    struct prog *p = &j->prog;
    int nodes = bn_n(model_bn(q->model)), rc = 0, tag[2] = {GRADIENT_DATA, GRADIENT_LATENT};
    j->encoding = arena_array(&p->mem, struct encoding, nodes + 1);
    if (!j->encoding) return NAMI_ENOMEM;
    memcpy(j->encoding, q->encoding, sizeof *j->encoding * (size_t)nodes);
    for (int v = 0; v < nodes; v++) j->encoding[v].coord = -1;
    p->nnode = model_num_rows(q->model);
    p->nrow = j->coord = model_num_rows(q->model);
    for (int i = 0; i < q->inverse->nlatent; i++) {
        struct encoding *c = &j->encoding[q->inverse->perm[i]];
        c->coord = j->coord + j->num_coordinates;
        j->num_coordinates += c->ncoord;
    }
    p->nrow += j->num_coordinates;
    int *logit = joint_logits(q->model);
    if (!logit) rc = NAMI_ENOMEM;
    if (!rc) rc = decode(j, noncentered, logit);
    if (!rc) rc = joint_terms(q, p, tag, logit);
    free(logit);
    return rc;
}

static int make(struct joint *j)
{
    int rc = joint_compile(j, NULL);
    if (!rc) rc = prog_finish(&j->prog);
    return rc ? rc : prog_trim(&j->prog);
}

int joint_make(struct joint *j, struct qnet *q, nami_err *err)
{
    *j = (struct joint){.q = q};
    int rc = joint_known(q, "", err);
    for (int i = 0; i < q->inverse->nlatent && !rc; i++)
        if (q->encoding[q->inverse->perm[i]].kind != ENCODING_REAL)
            rc = err_set(err, NAMI_EINPUT, "%s is discrete, and has no gradient",
                         bn_name(model_bn(q->model), q->inverse->perm[i]));
    return rc ? rc : make(j) ? err_nomem(err) : 0;
}

void joint_free(struct joint *j) { prog_free(&j->prog); }

int joint_coordinates(const struct joint *j, size_t n, const double *z, double *u)
{
    const struct qnet *q = j->q;
    double *work =
        raw_array(double, 2 * (size_t)model_num_rows(q->model) + (size_t)j->num_coordinates);
    if (!work) return NAMI_ENOMEM;
    for (int i = 0; i < q->inverse->nlatent; i++) {
        const struct encoding *c = &j->encoding[q->inverse->perm[i]];
        encoding_coordinates(c, n, z, u + (size_t)(c->coord - j->coord) * n, work);
    }
    free(work);
    return 0;
}
