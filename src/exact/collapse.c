/* collapse.c: integrates latents out of the density of a model, step by step. */
#include "exact/collapse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/stream.h"
#include "exact/reach.h"
#include "model/eval.h"

enum { MANY = 64, FEW = 16 }; /* draws of the prior that a kind is tried with */
/* Operations for each draw: so many, or so many times those of the density. */
static const double BUDGET = 4e6, TIMES = 200;
/* More than this is not tried for a single latent: it saves the network little. */
static const double TRIAL = 1e5;

const struct prog *collapse_density(const struct collapse *c)
{
    return c->step.n ? &c->step.a[c->step.n - 1]->rest : &c->start;
}

double prog_cost(const struct prog *p)
{
    double cost = 0;
    for (size_t k = 0; k < p->code.n; k++) {
        const struct instr *c = &p->code.a[k];
        const struct integral *g = c->bdraw ? c->self : instr_integral(c);
        double elements = c->width;
        for (int a = 0; a < c->narg && c->block; a++) elements += c->arg[a].m;
        cost += g ? g->runs * prog_cost(&g->body) + (double)g->extra / g->lanes : c->n * elements;
    }
    return cost;
}

int collapse_start(struct collapse *c, const struct model *m, const unsigned char *role,
                   nami_err *err)
{
    int n = bn_n(model_bn(m)), rc = 0;
    unsigned char *only = new_array(unsigned char, model_num_instances(m) + 1);
    *c = (struct collapse){.model = m};
    c->kind = arena_array(&c->mem, const char *, n);
    c->why = arena_array(&c->mem, const char *, n);
    if (!only || !c->kind || !c->why) rc = err_nomem(err);
    for (int k = 0; k < model_num_instances(m) && !rc; k++) {
        int v = instance_node(m, k);
        only[k] = v >= 0 && role[v] != ROLE_MODEL && role[v] != ROLE_DROPPED;
        if (v >= 0 && role[v] == ROLE_WANTED) c->num_left += instance_size(m, k);
    }
    if (!rc && model_program(m, &c->start, 1, only)) rc = err_nomem(err);
    free(only);
    return rc;
}

/* ---- variables ------------------------------------------------------------------------- */

enum { STATES = 1 << 20 };

static struct variable variable_of(const struct model *m, int e)
{
    struct variable v = {.row = element_row(m, e)};
    const struct dist *d = element_dist(m, e);
    model_support(m, e, &v.low, &v.high);
    if (d && domains[d->domain].discrete) {
        v.low = ceil(v.low);
        v.high = floor(v.high);
        v.states = v.high - v.low < STATES ? (int)(v.high - v.low) + 1 : -1;
    }
    return v;
}

/* The variables of some nodes, in the order of the nodes. */
static struct variable *variables(const struct model *m, int n, const int *node, int *count)
{
    int nodes = bn_n(model_bn(m)), *inst = raw_array(int, nodes);
    struct variable *var = NULL;
    *count = 0;
    if (!inst) return NULL;
    for (int k = 0; k < model_num_instances(m); k++)
        if (instance_node(m, k) >= 0) inst[instance_node(m, k)] = k;
    for (int i = 0; i < n; i++) *count += instance_size(m, inst[node[i]]);
    if ((var = raw_array(struct variable, *count)))
        for (int i = 0, k = 0; i < n; i++)
            for (int j = 0; j < instance_size(m, inst[node[i]]); j++)
                var[k++] = variable_of(m, instance_elements(m, inst[node[i]])[j]);
    free(inst);
    return var;
}

/* ---- is it of this kind? ------------------------------------------------------------------ */

/* Priors can be so vague that where they lead some terms are always 0, and a kind seems to fit.  So
   in every other draw, scalars and elements of vectors that are far from 1 are moved to the middle
   of the range of numbers that people write, and then data are drawn again. */
static int tame(const struct model *m, size_t n, double *x, nami_err *err)
{
    const double near = 1e-2, far = 1e2;
    struct rng r;
    rng_init(&r, 0x74616d65, 0);
    for (int e = 0; e < model_num_elements(m); e++) {
        const struct dist *d = element_dist(m, e);
        double lo, hi, *row = element_row(m, e) < 0 ? NULL : x + (size_t)element_row(m, e) * n;
        if (!row || !d || domains[d->domain].tied || domains[d->domain].discrete) continue;
        model_support(m, e, &lo, &hi);
        for (size_t i = 1; i < n; i += 2) {
            double to = copysign(exp(rng_normal(&r)), row[i]);
            int is_far = !(fabs(row[i]) >= near && fabs(row[i]) <= far);
            if (is_far && to > lo && to < hi) row[i] = to;
        }
    }
    return model_predict(m, 0x6669747, 0, n, 1, x, err);
}

/* By draws of the prior: the integral's inputs are computed from these. */
static int fits(const struct collapse *c, const struct exact_step *s, nami_err *err)
{
    const struct integral *g = &s->integral;
    size_t rows = (size_t)model_num_rows(c->model), tries = prog_cost(&s->rest) < 1e4 ? MANY : FEW;
    double *x = raw_array(double, rows *tries), *work = raw_array(double, integral_work(g));
    struct lanes *in = raw_array(struct lanes, g->num_inputs + 1);
    struct exec e = {0};
    int rc = x && work && in ? 0 : err_nomem(err);
    if (!rc) rc = model_simulate_training(c->model, 0x6669747, 0, tries, 1, x, err);
    if (!rc) rc = tame(c->model, tries, x, err);
    if (!rc) rc = exec_init(&e, &s->rest, (int)tries, 0, 0, err);
    if (!rc) {
        e.param = model_weights(c->model);
        for (size_t r = 0; r < rows; r++)
            memcpy(e.row + r * tries, x + r * tries, sizeof *x * tries);
        exec_part(&e, 0, s->rest.code.n - 1); /* the last one is the integral */
        for (int k = 0; k < g->num_inputs; k++)
            in[k] = (struct lanes){e.row + (size_t)g->input[k] * tries, 1};
        if (!g->kind->fits(g, (int)tries, in, work))
            rc = err_set(err, NAMI_EINPUT, "%s (%s)", g->kind->misfit, g->kind->name);
    }
    exec_fini(&e);
    free(x);
    free(work);
    free(in);
    return rc;
}

static int affordable(const struct collapse *c, const struct exact_step *s, nami_err *err)
{
    double cost = prog_cost(&s->rest), most = fmax(BUDGET, TIMES * prog_cost(&c->start));
    if (s->kind->fits && s->integral.num_comps < 2 && !c->by_name && cost > TRIAL)
        return err_set(err, NAMI_ELIMIT, "is too costly to be tried: %.0e operations for each draw",
                       cost);
    return cost <= most
               ? 0
               : err_set(err, NAMI_ELIMIT,
                         "would take %.0e operations for each draw (at most %.0e)", cost, most);
}

void exact_step_free(struct exact_step *s)
{
    if (!s) return;
    prog_free(&s->rest);
    integral_free(&s->integral);
    vec_free(&s->node);
    free(s);
}

int collapse_step(struct collapse *c, int n, const int *node, const struct integral_kind *kind,
                  nami_err *err)
{
    int count, rc = 0;
    struct variable *var = variables(c->model, n, node, &count);
    struct exact_step *s = new_array(struct exact_step, 1);
    if (!var || !s) rc = err_nomem(err);
    for (int i = 0; i < n && !rc; i++)
        if (vec_push(&s->node, node[i])) rc = err_nomem(err);
    if (!rc) {
        s->kind = kind;
        rc = split_integral(collapse_density(c), count, var, kind, &s->integral, &s->rest, err);
    }
    if (!rc) rc = affordable(c, s, err);
    if (!rc && kind->fits) rc = fits(c, s, err);
    if (!rc && vec_push(&c->step, s)) rc = err_nomem(err);
    free(var);
    if (rc) return exact_step_free(s), rc;
    for (int i = 0; i < n; i++) c->kind[node[i]] = kind->name;
    c->num_left -= count;
    return 0;
}

/* The last step, which is not freed. */
static struct exact_step *take_back(struct collapse *c)
{
    struct exact_step *s = c->step.a[--c->step.n];
    for (size_t i = 0; i < s->node.n; i++) c->kind[s->node.a[i]] = NULL;
    c->num_left += s->integral.num_vars;
    return s;
}

void collapse_pop(struct collapse *c) { exact_step_free(take_back(c)); }

void collapse_cut(struct collapse *c, size_t first, struct exact_step **out)
{
    while (c->step.n > first) {
        struct exact_step *s = take_back(c);
        out[c->step.n - first] = s;
    }
}

void collapse_put_back(struct collapse *c, size_t first, size_t n, struct exact_step **step)
{
    while (c->step.n > first) collapse_pop(c);
    for (size_t k = 0; k < n; k++) { /* there is space for them: they were there */
        struct exact_step *s = c->step.a[c->step.n++] = step[k];
        for (size_t i = 0; i < s->node.n; i++) c->kind[s->node.a[i]] = s->kind->name;
        c->num_left -= s->integral.num_vars;
    }
}

void collapse_free(struct collapse *c)
{
    while (c->step.n) collapse_pop(c);
    vec_free(&c->step);
    prog_free(&c->start);
    prog_free(&c->draw);
    prog_free(&c->mean);
    prog_free(&c->moments);
    vec_free(&c->moment);
    arena_free(&c->mem);
}
