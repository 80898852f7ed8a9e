/* concave.c: components whose integrand is log-concave, by the distributions and links of their
   terms: they have one mode, beyond which nothing needs to be looked for. */
#include <math.h>
#include <stdlib.h>

#include "base/err.h"
#include "dist/dist.h"
#include "exact/quadrature.h"
#include "exact/reach.h"

/* log p is concave in this argument, which is affine in the variable, or this function of what is
   affine. */
static const struct {
    const struct dist *dist;
    int arg;
    const struct op *link;
} table[] = {
    {&dist_normal, 0, NULL},
    {&dist_normal, 1, NULL},
    {&dist_logistic, 0, NULL},
    {&dist_logistic, 1, NULL},
    {&dist_bernoulli_logit, 1, NULL},
    {&dist_binomial_logit, 2, NULL},
    {&dist_bernoulli, 1, &op_ilogit},
    {&dist_binomial, 2, &op_ilogit},
    {&dist_bernoulli, 1, &op_phi},
    {&dist_binomial, 2, &op_phi},
    {&dist_bernoulli, 1, &op_icloglog},
    {&dist_binomial, 2, &op_icloglog},
    {&dist_poisson, 1, &op_exp},
    {&dist_exponential, 1, &op_exp},
};

struct walk {
    const struct integral *g;
    struct reach reach;
    int *writer; /* by row of the body: its instruction, or -1 */
};

static int find_writers(struct walk *w)
{
    const struct prog *p = &w->g->body;
    if (!(w->writer = raw_array(int, p->nrow + 1))) return NAMI_ENOMEM;
    for (int r = 0; r < p->nrow; r++) w->writer[r] = -1;
    for (size_t k = 0; k < p->code.n; k++)
        for (int i = 0; i < p->code.a[k].n * p->code.a[k].width && p->code.a[k].out >= 0; i++)
            w->writer[p->code.a[k].out + i] = (int)k;
    return 0;
}

/* The row that argument a of instance i of a term reads, if it depends on a variable; or -1. */
static int moving_row(const struct walk *w, const struct instr *c, int a, int i)
{
    int r = c->arg[a].is_const ? -1 : operand_at(&c->arg[a], i, 0);
    return r >= 0 && w->reach.count[r] ? r : -1;
}

static int is_affine(const struct walk *w, int row, const struct op *link)
{
    if (!link) return w->reach.degree[row] == AFFINE;
    const struct instr *c = w->writer[row] < 0 ? NULL : &w->g->body.code.a[w->writer[row]];
    if (!c || c->self != link || c->map != link->map) return 0;
    int from = moving_row(w, c, 0, row - c->out);
    return from >= 0 && w->reach.degree[from] == AFFINE;
}

static int is_concave_in(const struct walk *w, const struct instr *c, int a, int row)
{
    for (size_t k = 0; k < sizeof table / sizeof *table; k++)
        if (c->map == table[k].dist->logp && c->self == table[k].dist && a == table[k].arg &&
            is_affine(w, row, table[k].link))
            return 1;
    return 0;
}

/* Each of the arguments must be one that is concave, jointly at most those of a location family. */
static int is_concave_term(const struct walk *w, int row)
{
    const struct instr *c = w->writer[row] < 0 ? NULL : &w->g->body.code.a[w->writer[row]];
    if (!w->reach.count[row]) return 1;
    for (int a = 0; c && c->map && a < c->narg; a++) {
        int r = moving_row(w, c, a, row - c->out);
        if (r >= 0 && !is_concave_in(w, c, a, r)) return 0;
    }
    return c && c->map;
}

int find_concave(const struct integral *g, unsigned char *concave, nami_err *err)
{
    struct walk w = {.g = g};
    int rc = 0, *row = raw_array(int, g->num_vars + 1);
    if (!row) return err_nomem(err);
    for (int k = 0; k < g->num_vars; k++) row[k] = g->num_inputs + k;
    rc = reach_make(&w.reach, &g->body, g->num_vars, row, err);
    if (!rc && find_writers(&w)) rc = err_nomem(err);
    for (int c = 0; c < g->num_comps && !rc; c++) {
        concave[c] = isinf(g->var[c].low) && isinf(g->var[c].high);
        for (int t = g->term_start[c]; t < g->term_start[c + 1] && concave[c]; t++)
            concave[c] = (unsigned char)is_concave_term(&w, g->term[t]);
    }
    reach_free(&w.reach);
    free(w.writer);
    free(row);
    return rc;
}
