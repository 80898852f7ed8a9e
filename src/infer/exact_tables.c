/* exact_tables.c: discrete networks: tables from structures and from models. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "infer/exact.h"
#include "model/eval.h"

enum { LANES = 64, TABLE_MOST = 1 << 24 };

static int dnet_init(struct dnet *d, const struct bn *bn)
{
    *d = (struct dnet){.n = bn_n(bn), .g = &bn->dag};
    d->card = arena_array(&d->mem, int, d->n);
    d->t = arena_array(&d->mem, struct dtable, d->n);
    return d->card && d->t ? 0 : -1;
}

void dnet_free(struct dnet *d)
{
    arena_free(&d->mem);
    *d = (struct dnet){0};
}

static int table_new(struct dnet *d, const struct bn *bn, int v, const int *parent, int nparent,
                     nami_err *err)
{
    struct dtable *t = &d->t[v];
    double size = 1;
    t->n = nparent + 1;
    if (!(t->var = arena_array(&d->mem, int, t->n))) return err_nomem(err);
    if (nparent) memcpy(t->var, parent, sizeof *parent * (size_t)nparent);
    t->var[nparent] = v;
    for (int k = 0; k < t->n; k++) size *= d->card[t->var[k]];
    if (size > TABLE_MOST)
        return err_set(err, NAMI_ELIMIT,
                       "the table of %s has %.3g entries: more than %d are too many",
                       bn_name(bn, v), size, TABLE_MOST);
    t->size = (size_t)size;
    t->logp = arena_array(&d->mem, double, t->size);
    return t->logp ? 0 : err_nomem(err);
}

int dnet_tables(const struct bn *bn, struct dnet *out, nami_err *err)
{
    int rc = dnet_init(out, bn) ? err_nomem(err) : 0;
    for (int v = 0; v < bn_n(bn) && !rc; v++) {
        out->card[v] = bn->node.a[v].nstate;
        if (!bn->node.a[v].cpt)
            rc = err_set(err, NAMI_EINPUT, "%s has no table of probabilities", bn_name(bn, v));
    }
    for (int v = 0; v < bn_n(bn) && !rc; v++) {
        const struct cpt *c = bn->node.a[v].cpt;
        if ((rc = table_new(out, bn, v, c->parent, c->nparent, err))) break;
        for (size_t i = 0; i < c->n; i++) out->t[v].logp[i] = log(c->p[i]);
    }
    if (rc) dnet_free(out);
    return rc;
}

/* ---- from a model ------------------------------------------------------------------- */

static int refuse(const struct model *m, int statement, const char *why, nami_err *err)
{
    struct statement s = model_statement(m, statement);
    struct str lhs = {0};
    statement_name(m, statement, &lhs);
    int rc = lhs.oom ? err_nomem(err)
                     : err_at(err, NAMI_EINPUT, s.line, s.col,
                              "the model is not discrete: %s ~ %s %s", lhs.s, s.dist_name, why);
    str_free(&lhs);
    return rc;
}

static int supports(const struct model *m, struct dnet *d, nami_err *err)
{
    for (int k = 0; k < model_num_instances(m); k++) {
        double lo, hi;
        int v = instance_node(m, k), s = instance_statement(m, k), e = instance_elements(m, k)[0];
        const struct dist *dist = model_statement(m, s).dist;
        if (v < 0) continue;
        if (!dist) return refuse(m, s, "comes from a simulator", err);
        if (!domains[dist->domain].discrete) return refuse(m, s, "is continuous", err);
        if (domains[dist->domain].rank) return refuse(m, s, "is a vector", err);
        model_support(m, e, &lo, &hi);
        if (!(hi - lo < TABLE_MOST)) return refuse(m, s, "has infinitely many values", err);
        d->low[v] = ceil(lo);
        d->card[v] = (int)(floor(hi) - ceil(lo)) + 1;
        d->row[v] = element_row(m, e);
        if (d->card[v] < 1) return refuse(m, s, "has no value", err);
    }
    return 0;
}

/* Computes the tables of all variables by running the program of the density: each lane is a
   configuration of disjoint families. */
struct filling {
    const struct model *m;
    struct dnet *d;
    int *logp_row;   /* by variable: the row of its log density */
    int *batch, *in; /* by variable: the batch of its table; the last batch that contains it */
    struct exec x;
};

static void find_rows(struct filling *f, const int *node_of_row)
{
    const struct prog *p = model_density_program(f->m);
    for (size_t k = 0; k < p->code.n; k++) {
        const struct instr *c = &p->code.a[k];
        for (int i = 0; i < c->n && c->sum; i++)
            f->logp_row[node_of_row[operand_at(&c->arg[0], i, 0)]] = c->out + i;
    }
}

static double *lanes(struct filling *f, int row)
{
    return f->x.row + (size_t)row * (size_t)f->x.cap;
}

static void put_low(struct filling *f, int v)
{
    for (int b = 0; b < f->x.cap; b++) lanes(f, f->d->row[v])[b] = f->d->low[v];
}

/* Selects the tables of the next batch greedily. */
static int collect(struct filling *f, int batch, size_t *most)
{
    int some = 0;
    *most = 0;
    for (int v = 0; v < f->d->n; v++) {
        const struct dtable *t = &f->d->t[v];
        int clash = f->batch[v] != 0;
        for (int k = 0; k < t->n && !clash; k++) clash = f->in[t->var[k]] == batch;
        if (clash) continue;
        for (int k = 0; k < t->n; k++) f->in[t->var[k]] = batch;
        f->batch[v] = batch;
        if (t->size > *most) *most = t->size;
        some = 1;
    }
    return some;
}

/* Sets the lanes to entries from .. from + LANES - 1 of a table. */
static void configure(struct filling *f, const struct dtable *t, size_t from)
{
    for (int b = 0; b < LANES; b++) {
        size_t rest = (from + (size_t)b) % t->size;
        for (int k = t->n - 1; k >= 0; k--) {
            int u = t->var[k];
            size_t card = (size_t)f->d->card[u];
            lanes(f, f->d->row[u])[b] = f->d->low[u] + (double)(rest % card);
            rest /= card;
        }
    }
}

static void run_batch(struct filling *f, int batch, size_t most)
{
    for (size_t from = 0; from < most; from += LANES) {
        for (int v = 0; v < f->d->n; v++)
            if (f->batch[v] == batch && from < f->d->t[v].size) configure(f, &f->d->t[v], from);
        exec_run(&f->x);
        for (int v = 0; v < f->d->n; v++) {
            const struct dtable *t = &f->d->t[v];
            for (int b = 0; f->batch[v] == batch && b < LANES && from + (size_t)b < t->size; b++)
                t->logp[from + (size_t)b] = lanes(f, f->logp_row[v])[b];
        }
    }
    for (int v = 0; v < f->d->n; v++)
        if (f->in[v] == batch) put_low(f, v);
}

/* Rows that do not sum to one: arguments outside their domains, or values outside the support. */
static int check_table(const struct model *m, const struct dnet *d, int v, nami_err *err)
{
    const struct dtable *t = &d->t[v];
    size_t card = (size_t)d->card[v];
    for (size_t i = 0; i < t->size; i += card) {
        double s = 0;
        for (size_t k = 0; k < card; k++) s += exp(t->logp[i + k]);
        if (!(fabs(s - 1) < 1e-6))
            return err_at(err, NAMI_EINPUT, model_bn(m)->node.a[v].line, 0,
                          "the probabilities of %s sum to %g for some values of its parents",
                          bn_name(model_bn(m), v), s);
    }
    return 0;
}

static int fill(const struct model *m, struct dnet *d, nami_err *err)
{
    struct filling f = {.m = m, .d = d};
    int *node = raw_array(int, model_num_rows(m)), rc = 0;
    size_t most;
    f.logp_row = raw_array(int, d->n);
    f.batch = new_array(int, d->n);
    f.in = new_array(int, d->n);
    if (!node || !f.logp_row || !f.batch || !f.in) rc = err_nomem(err);
    for (int v = 0; v < d->n && !rc; v++) {
        node[d->row[v]] = v;
        rc =
            table_new(d, model_bn(m), v, d->g->p + d->g->pp[v], d->g->pp[v + 1] - d->g->pp[v], err);
    }
    if (!rc && !(rc = exec_init(&f.x, model_density_program(m), LANES, 0, 0, err))) {
        f.x.param = model_weights(m);
        find_rows(&f, node);
        for (int v = 0; v < d->n; v++) put_low(&f, v);
        for (int batch = 1; collect(&f, batch, &most); batch++) run_batch(&f, batch, most);
        exec_fini(&f.x);
    }
    for (int v = 0; v < d->n && !rc; v++) rc = check_table(m, d, v, err);
    free(node);
    free(f.logp_row);
    free(f.batch);
    free(f.in);
    return rc;
}

int dnet_read(const struct model *m, struct dnet *out, nami_err *err)
{
    int rc = model_needs_values(m, err);
    *out = (struct dnet){0};
    if (rc) return rc;
    if (dnet_init(out, model_bn(m))) rc = err_nomem(err);
    out->low = arena_array(&out->mem, double, out->n);
    out->row = arena_array(&out->mem, int, out->n);
    if (!rc && (!out->low || !out->row)) rc = err_nomem(err);
    if (!rc) rc = supports(m, out, err);
    if (!rc) rc = fill(m, out, err);
    if (rc) dnet_free(out);
    return rc;
}

int dnet_evidence(const struct dnet *d, const struct model *m, const struct dataset *data,
                  int *state, nami_err *err)
{
    double *point = new_array(double, model_num_rows(m));
    int rc = point ? 0 : err_nomem(err);
    if (!rc && data) rc = model_point(m, data, 1, 0, 1, point, err);
    for (int v = 0; v < d->n; v++) state[v] = -1;
    for (int k = 0; k < model_num_instances(m) && !rc && data; k++) {
        int v = instance_node(m, k);
        if (v < 0 || !element_is_observed(m, instance_elements(m, k)[0])) continue;
        if (isnan(point[d->row[v]])) continue;
        double s = point[d->row[v]] - d->low[v];
        if (s != floor(s) || s < 0 || s >= d->card[v])
            rc = err_set(err, NAMI_EINPUT, "%s is %g in the data, outside its support %g..%g",
                         bn_name(model_bn(m), v), point[d->row[v]], d->low[v],
                         d->low[v] + d->card[v] - 1);
        else
            state[v] = (int)s;
    }
    free(point);
    return rc;
}
