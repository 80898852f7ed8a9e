/* eval.c: runs the programs of a model on several threads: draws, log densities, gradients;
   external simulators; points from and to files. */
#include "model/eval.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/workers.h"
#include "data/simulator.h"
#include "model/model.h"

int model_needs_values(const struct model *m, nami_err *err)
{
    for (size_t i = 0; i < m->ir.arrays.n; i++) {
        const struct array *a = &m->ir.arrays.a[i];
        if (!a->is_const || a->data || !a->n || !value_is_missing(m->ir.value[a->first])) continue;
        return err_at(err, NAMI_EINPUT, a->at.line, a->at.col,
                      "const %s has no value; give it in the data%s%s%s", a->name,
                      a->ndim ? "" : ", or set ", a->ndim ? "" : a->name, a->ndim ? "" : "=...");
    }
    return 0;
}

/* ---- threads over chunks of lanes ---------------------------------------------------- */

struct job {
    const struct model *m;
    const struct prog *p;
    size_t n;
    int lanes, ntag;
    unsigned flags; /* of exec_init */
    uint64_t seed, first;
    double *x;
    int given; /* x contains the variables that the program does not draw */
    const double *at;
    const struct density *out;
    double *dw, *weight; /* derivatives with respect to weights, of one chunk; weights of lanes: 0
                            for padding */
};

static void chunk_in(const struct job *j, struct exec *e, size_t i, const double *x)
{
    for (int r = 0; r < j->p->nnode; r++)
        memcpy(e->row + (size_t)r * (size_t)e->cap, x + (size_t)r * j->n + i,
               sizeof(double) * (size_t)e->lanes);
}

static void chunk_out(const struct job *j, const struct exec *e, size_t i, const double *from,
                      int rows, double *x)
{
    for (int r = 0; r < rows; r++)
        memcpy(x + (size_t)r * j->n + i, from + (size_t)r * (size_t)e->cap,
               sizeof(double) * (size_t)e->lanes);
}

static int simulate(void *job, void *workspace, size_t i, size_t n, nami_err *err)
{
    const struct job *j = job;
    struct exec *e = workspace;
    (void)err;
    e->lanes = (int)n;
    e->seed = j->seed;
    e->first = j->first + i;
    e->direct = e->lanes % 8 || !j->x ? 0 : j->p->nnode; /* written in place */
    e->node = e->direct ? j->x + i : NULL;
    e->stride = j->n;
    if (!e->direct && j->given) chunk_in(j, e, i, j->x);
    exec_run(e);
    if (!e->direct && j->x) chunk_out(j, e, i, e->row, j->p->nnode, j->x);
    return 0;
}

/* Derivatives with respect to the weights of networks, summed over the lanes of a chunk. */
static void add_weights(const struct job *j, const struct exec *e)
{
    for (size_t k = 0; k < j->p->code.n; k++) {
        const struct dense *d = prog_layer(j->p, k);
        if (!d) continue;
        size_t n = ((size_t)d->in + 1) * (size_t)d->out;
        e->product->weights(d, &e->units, 1, 0, d->out, j->dw);
        for (size_t i = d->w; i < d->w + n; i++) j->out->dweights[i] += j->dw[i];
    }
}

static int densities(void *job, void *workspace, size_t i, size_t n, nami_err *err)
{
    const struct job *j = job;
    struct exec *e = workspace;
    (void)err;
    e->lanes = (int)n;
    chunk_in(j, e, i, j->at);
    for (int b = 0; j->weight && b < e->cap; b++) j->weight[b] = b < e->lanes;
    e->weight[0] = j->weight;
    exec_run(e);
    if (j->out->logp) memcpy(j->out->logp + i, e->total, sizeof(double) * n);
    if (j->out->by_stmt) chunk_out(j, e, i, e->by_tag, e->ntag, j->out->by_stmt);
    if (!e->adj) return 0;
    exec_back(e);
    if (j->out->dweights) add_weights(j, e);
    if (j->out->grad) chunk_out(j, e, i, e->adj, j->p->nnode, j->out->grad);
    return 0;
}

static int init(void *job, void *workspace, nami_err *err)
{
    const struct job *j = job;
    struct exec *e = workspace;
    int rc = exec_init(e, j->p, j->lanes, j->ntag, j->flags, err);
    e->param = j->m->programs.weights.a;
    return rc;
}

static void fini(void *workspace) { exec_fini(workspace); }

static int run_job(struct job *j, int threads, chunk_fn *run, nami_err *err)
{
    struct workers w = {.job = j, .size = sizeof(struct exec), .init = init, .fini = fini};
    j->lanes = exec_lanes(j->p);
    size_t per = (j->n + (size_t)threads - 1) /
                 (size_t)threads; /* few draws: distribute them over all threads */
    if ((size_t)j->lanes > per) j->lanes = (int)((per + 7) / 8 * 8);
    if (j->lanes < 8) j->lanes = 8;
    if (j->n == 1) j->lanes = 1;
    return workers_once(&w, threads, j->n, (size_t)j->lanes, run, err);
}

/* ---- draws --------------------------------------------------------------------------- */

/* Does any element of the array have a distribution? */
static int is_drawn(const struct model *m, const struct array *a)
{
    for (int e = a->first; e < a->first + a->n; e++)
        if (m->ir.state[e] == E_RANDOM && instance_stmt(m, m->ir.defined_by[e])->rel->stochastic)
            return 1;
    return 0;
}

static int needs_simulator(const struct model *m, nami_err *err)
{
    for (size_t i = 0; i < m->ir.statements.n && !m->source.simulator; i++) {
        const struct stmt *s = &m->ir.statements.a[i];
        if (!s->rel->stochastic || s->dist) continue;
        return err_at(
            err, NAMI_EINPUT, s->lhs->at.line, s->lhs->at.col,
            "%s is simulated, but the model names no simulator; declare simulator \"command\"",
            m->ir.arrays.a[s->lhs->array].name);
    }
    return 0;
}

/* The simulator of a model; relative paths refer to the directory of the model file. */
static struct simulator simulator_of(const struct model *m, struct str *dir)
{
    const char *slash = m->source.file ? strrchr(m->source.file, '/') : NULL;
    if (slash) str_putn(dir, m->source.file, (size_t)(slash - m->source.file) + 1);
    return (struct simulator){.command = m->source.simulator, .dir = dir->s};
}

void model_simulator(const struct model *m, struct str *out)
{
    struct str dir = {0};
    struct simulator s = simulator_of(m, &dir);
    if (m->source.simulator) simulator_describe(&s, out);
    out->oom |= dir.oom;
    str_free(&dir);
}

static int is_allowed(const struct model *m, nami_err *err)
{
    struct str what = {0};
    if (!m->source.simulator || !m->source.simulator_locked) return 0;
    model_simulator(m, &what);
    int rc = what.oom ? err_nomem(err)
                      : err_set(err, NAMI_EUSAGE,
                                "the network's file would run a program; allow it if you trust "
                                "the file: it is the simulator %s",
                                what.s);
    str_free(&what);
    return rc;
}

/* Runs the simulator for the rows of all stochastic variables, of known density or not, since they
   must come from the same joint draw. */
static int ask_simulator(const struct model *m, uint64_t seed, size_t n, double *x, nami_err *err)
{
    struct draws_var *var = new_array(struct draws_var, m->ir.arrays.n);
    int nvar = 0, rc = 0;
    size_t total = 0;
    for (size_t i = 0; var && i < m->ir.arrays.n; i++) {
        const struct array *a = &m->ir.arrays.a[i];
        if (!is_drawn(m, a)) continue;
        var[nvar].name = a->name;
        var[nvar].ndim = a->ndim;
        memcpy(var[nvar].dim, a->dim, sizeof a->dim);
        var[nvar++].base = total;
        total += (size_t)a->n;
    }
    double *y = raw_array(double, total *n);
    if (!var || !y) rc = err_nomem(err);
    struct str dir = {0};
    struct simulator s = simulator_of(m, &dir);
    s.nvar = nvar, s.var = var;
    if (dir.oom) rc = err_nomem(err);
    if (!rc) rc = simulator_run(&s, n, seed, y, err);
    str_free(&dir);
    for (int v = 0; v < nvar && !rc; v++)
        for (size_t i = 0; i < m->ir.arrays.n; i++) {
            const struct array *a = &m->ir.arrays.a[i];
            if (a->name != var[v].name) continue;
            for (int k = 0; k < a->n; k++)
                if (m->ir.row[a->first + k] >= 0)
                    memcpy(x + (size_t)m->ir.row[a->first + k] * n,
                           y + (var[v].base + (size_t)k) * n, sizeof(double) * n);
        }
    free(y);
    free(var);
    return rc;
}

static int draw(const struct model *m, const struct prog *p, uint64_t seed, uint64_t first,
                size_t n, int threads, double *x, nami_err *err)
{
    struct job j = {.m = m, .p = p, .n = n, .seed = seed, .first = first, .x = x};
    j.given = m->source.simulator != NULL;
    int rc = model_needs_values(m, err);
    if (!rc) rc = needs_simulator(m, err);
    if (!rc) rc = is_allowed(m, err);
    /* programs have only a seed: each batch gets a different one */
    if (!rc && m->source.simulator)
        rc = ask_simulator(m, seed + first * 0x9e3779b97f4a7c15u, n, x, err);
    if (rc) return rc;
    return run_job(&j, threads, simulate, err);
}

int model_simulate(const struct model *m, uint64_t seed, uint64_t first, size_t n, int threads,
                   double *x, nami_err *err)
{
    if (m->ir.improper)
        return err_set(err, NAMI_EINPUT,
                       "the model has an improper prior, which cannot be drawn from; its training "
                       "distribution can");
    return draw(m, &m->programs.sample, seed, first, n, threads, x, err);
}

int model_simulate_training(const struct model *m, uint64_t seed, uint64_t first, size_t n,
                            int threads, double *x, nami_err *err)
{
    return draw(m, model_training_program(m), seed, first, n, threads, x, err);
}

int model_predict(const struct model *m, uint64_t seed, uint64_t first, size_t n, int threads,
                  double *x, nami_err *err)
{
    struct prog p = {0};
    struct job j = {.m = m, .p = &p, .n = n, .seed = seed, .first = first, .x = x, .given = 1};
    unsigned char *only = new_array(unsigned char, m->ir.num_instances + 1);
    int rc = only ? 0 : err_nomem(err);
    for (int k = 0; k < m->ir.num_instances && !rc; k++)
        only[k] = m->ir.node[k] >= 0 && m->ir.bn->node.a[m->ir.node[k]].observed;
    if (!rc && model_program(m, &p, 0, only)) rc = err_nomem(err);
    if (!rc) rc = run_job(&j, threads, simulate, err);
    prog_free(&p);
    free(only);
    return rc;
}

/* ---- densities ------------------------------------------------------------------------ */

int model_logp(const struct model *m, size_t n, const double *x, int threads,
               const struct density *out, nami_err *err)
{
    struct job j = {.m = m, .p = &m->programs.density, .n = n, .at = x, .out = out};
    int rc = model_needs_values(m, err);
    if (out->grad || out->dweights) j.flags = EXEC_GRAD;
    if (out->by_stmt) j.ntag = (int)m->ir.statements.n;
    if (rc) return rc;
    if (model_simulated(m) >= 0) {
        const struct term *lhs = m->ir.statements.a[model_simulated(m)].lhs;
        return err_at(err, NAMI_EINPUT, lhs->at.line, lhs->at.col,
                      "%s comes from a simulator: its density is not known",
                      m->ir.arrays.a[lhs->array].name);
    }
    if (out->dweights) { /* one sum, in one thread */
        threads = 1;
        memset(out->dweights, 0, sizeof(double) * m->programs.weights.n);
        j.dw = raw_array(double, m->programs.weights.n);
        j.weight = raw_array(double, exec_lanes(&m->programs.density) + 8);
        if (!j.dw || !j.weight) rc = err_nomem(err);
    }
    if (!rc) rc = run_job(&j, threads, densities, err);
    free(j.dw);
    free(j.weight);
    return rc;
}

int program_logp(const struct model *m, const struct prog *p, size_t n, const double *x,
                 int threads, const struct density *out, nami_err *err)
{
    struct job j = {.m = m, .p = p, .n = n, .at = x, .out = out};
    if (out->grad) j.flags = EXEC_GRAD;
    return run_job(&j, threads, densities, err);
}

/* ---- in and out ------------------------------------------------------------------------ */

int point_given(const struct given *g, size_t n, size_t i, int some, double *x, nami_err *err)
{
    const struct model *m = g->m;
    for (int k = 0; k < m->ir.num_instances; k++) {
        if (!instance_stmt(m, k)->rel->stochastic) continue;
        for (int j = m->ir.first_defined[k]; j < m->ir.first_defined[k + 1]; j++) {
            int e = m->ir.defined[j];
            const struct array *a = &m->ir.arrays.a[m->ir.array_of[e]];
            double y = given_value(g, e);
            if (value_is_missing(y) && !some)
                return err_set(err, NAMI_EINPUT, "the data give no value for %s%s", a->name,
                               dataset_find(g->data, a->name, strlen(a->name))
                                   ? " in some of its elements"
                                   : "");
            x[(size_t)m->ir.row[e] * n + i] = y;
        }
    }
    for (size_t k = 0; k < m->ir.arrays.n; k++) /* the constants to differentiate by */
        for (int e = m->ir.arrays.a[k].first;
             m->ir.arrays.a[k].free && e < m->ir.arrays.a[k].first + m->ir.arrays.a[k].n; e++)
            x[(size_t)m->ir.row[e] * n + i] = m->ir.value[e];
    return 0;
}

int model_point(const struct model *m, const struct dataset *d, size_t n, size_t i, int some,
                double *x, nami_err *err)
{
    struct given g;
    int rc = given_open(&g, m, d, err);
    if (!rc) rc = given_refuse(&g, "the model", "a point cannot change a constant", err);
    if (!rc) rc = point_given(&g, n, i, some, x, err);
    given_close(&g);
    return rc;
}

static int listed(const char *names, const char *name)
{
    size_t n = strlen(name);
    for (const char *s = names; s && *s; s += strcspn(s, ","), s += *s == ',')
        if (strncmp(s, name, n) == 0 && (s[n] == ',' || !s[n])) return 1;
    return !names;
}

static int all_known(const struct model *m, const char *names, nami_err *err)
{
    for (const char *s = names; s && *s; s += *s == ',') {
        size_t n = strcspn(s, ",");
        int k = dict_find(&m->source.syntax.names, s, n), a = k < 0 ? -1 : m->ir.array_of_name[k];
        if (a < 0 || (!m->ir.arrays.a[a].defined && !m->ir.arrays.a[a].free))
            return err_set(err, NAMI_EINPUT, "the model defines no variable called '%.*s'", (int)n,
                           s);
        s += n;
    }
    return 0;
}

enum { NOT_WANTED, WANTED, MIXED };

/* Describes an array as a variable of draws; some of its elements may be constant or undefined. */
static int describe(const struct model *m, const struct array *a, const char *names, int all,
                    struct draws_var *v)
{
    int row = -1, random = a->free, whole = 1, integer = !a->free;
    for (int k = 0; k < a->n; k++) {
        int e = a->first + k;
        if (!a->free && m->ir.state[e] != E_RANDOM) {
            whole = 0;
            continue;
        }
        if (row < 0) row = m->ir.row[e];
        if (a->free) continue;
        const struct stmt *s = instance_stmt(m, m->ir.defined_by[e]);
        random |= s->rel->stochastic;
        integer &= s->dist && domains[s->dist->domain].discrete;
    }
    for (int e = a->first; e < a->first + a->n && !whole; e++)
        integer &= m->ir.state[e] != E_CONST || m->ir.value[e] == floor(m->ir.value[e]);
    if (row < 0 || (!random && !all && !names) || !listed(names, a->name)) return NOT_WANTED;
    *v = (struct draws_var){
        .name = a->name, .ndim = a->ndim, .integer = integer, .base = (size_t)row};
    memcpy(v->dim, a->dim, sizeof a->dim);
    return whole ? WANTED : MIXED;
}

int model_layout(const struct model *m, const char *names, int all, struct arena *mem,
                 struct layout *out, nami_err *err)
{
    const struct array **mixed = arena_array(mem, const struct array *, m->ir.arrays.n + 1);
    struct draws_var *var = arena_array(mem, struct draws_var, m->ir.arrays.n + 1);
    size_t at = (size_t)m->ir.num_rows;
    int rc = all_known(m, names, err);
    *out = (struct layout){.var = var, .nrow = at};
    if (rc) return rc;
    if (!var || !mixed) return err_nomem(err);
    for (size_t i = 0; i < m->ir.arrays.n; i++) {
        const struct array *a = &m->ir.arrays.a[i];
        int what = describe(m, a, names, all, &var[out->nvar]);
        if (what == NOT_WANTED) continue;
        if (what == MIXED) {
            var[out->nvar].base = out->nrow;
            mixed[out->nvar] = a;
            out->nrow += (size_t)a->n;
        }
        out->nvar++;
    }
    if (!(out->elem = arena_array(mem, int, out->nrow - at + 1))) return err_nomem(err);
    for (int v = 0; v < out->nvar; v++)
        for (int k = 0; mixed[v] && k < mixed[v]->n; k++)
            out->elem[var[v].base - at + (size_t)k] = mixed[v]->first + k;
    return 0;
}

void layout_fill(const struct model *m, const struct layout *l, size_t n, double *x)
{
    for (size_t r = (size_t)m->ir.num_rows; r < l->nrow; r++) {
        int e = l->elem[r - (size_t)m->ir.num_rows];
        double *to = x + r * n,
               value = m->ir.state[e] == E_CONST ? m->ir.value[e] : value_missing();
        if (m->ir.state[e] == E_RANDOM)
            memcpy(to, x + (size_t)m->ir.row[e] * n, sizeof *x * n);
        else
            for (size_t i = 0; i < n; i++) to[i] = value;
    }
}

int model_draws(const struct model *m, size_t n, const double *x, const char *names, int all,
                struct arena *mem, struct draws *out, nami_err *err)
{
    struct layout l;
    int rc = model_layout(m, names, all, mem, &l, err);
    *out = (struct draws){.n = n, .nvar = l.nvar, .var = l.var, .x = x};
    if (rc || l.nrow == (size_t)m->ir.num_rows) return rc;
    double *y = arena_array(mem, double, l.nrow *n);
    if (!y) return err_nomem(err);
    if (n) memcpy(y, x, sizeof *x * (size_t)m->ir.num_rows * n);
    layout_fill(m, &l, n, y);
    out->x = y;
    return 0;
}
