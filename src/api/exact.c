/* exact.c: exact posteriors of nami.h: of linear Gaussian models, and of discrete models and
   structures. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "base/err.h"
#include "base/parallel.h"
#include "infer/exact_given.h"
#include "model/given.h"
#include "report/exact.h"

struct nami_exact {
    struct arena mem; /* of names and labels */
    const nami_bn *bn;
    const nami_model *w; /* or NULL: a structure */
    int discrete;
    int *shown; /* by node; or NULL: all */
    int all, draws, threads;
    uint64_t seed;
    /* linear Gaussian */
    struct gnet g;
    struct gpost p;
    struct dict names; /* of scalars */
    double *var;       /* of latent scalars */
    /* discrete */
    struct dnet d;
    struct ctree t;
    const char ***label; /* of states */
    int *best;           /* the most probable states; or NULL */
    double best_logp;
};

/* ---- linear Gaussian -------------------------------------------------------------------- */

/* "x[2]" of every scalar */
static int name_scalars(nami_exact *x, nami_err *err)
{
    const struct model *m = x->w->m;
    struct str s = {0};
    int bad = 0, *element = raw_array(int, x->g.n + 1);
    if (!element) return err_nomem(err);
    for (int k = 0; k < model_num_instances(m); k++)
        for (int j = 0, v = instance_node(m, k); v >= 0 && j < instance_size(m, k); j++)
            element[x->g.first[v] + j] = instance_elements(m, k)[j];
    for (int i = 0; i < x->g.n && !bad; i++) {
        s.n = 0;
        elem_name(m, element[i], &s);
        bad = s.oom || dict_add(&x->names, s.s, s.n, NULL) < 0;
    }
    str_free(&s);
    free(element);
    return bad ? err_nomem(err) : 0;
}

static int find_variances(nami_exact *x, nami_err *err)
{
    if (!(x->var = arena_array(&x->mem, double, x->p.nz + 1))) return err_nomem(err);
    return gpost_variances(&x->p, x->var, err);
}

static int solve_gauss(nami_exact *x, const struct dataset *set, const nami_exact_options *o,
                       nami_err *err)
{
    double *value = raw_array(double, x->g.n + 1);
    int rc = value ? name_scalars(x, err) : err_nomem(err);
    if (!rc) rc = gnet_evidence(&x->g, x->w->m, set, value, err);
    for (int i = 0; i < o->num_given && !rc; i++)
        rc = given_numbers(x->bn, &x->g, o->given[i], value, err);
    if (!rc && o->mpe)
        rc = err_set(err, NAMI_EUSAGE,
                     "the most probable joint state is one of discrete models; here the posterior "
                     "means are most probable");
    if (!rc) rc = gpost_new(&x->g, value, &x->p, err);
    if (!rc) rc = find_variances(x, err);
    free(value);
    return rc;
}

/* ---- discrete --------------------------------------------------------------------------- */

static int label_states(nami_exact *x, nami_err *err)
{
    const struct dnet *d = &x->d;
    struct str s = {0};
    int bad = !(x->label = arena_array(&x->mem, const char **, d->n + 1));
    for (int v = 0; v < d->n && !bad; v++) {
        bad = !(x->label[v] = arena_array(&x->mem, const char *, d->card[v] + 1));
        for (int k = 0; k < d->card[v] && !bad; k++) {
            s.n = 0;
            state_label(x->bn, d, v, k, &s);
            bad = s.oom || !(x->label[v][k] = arena_strndup(&x->mem, s.s, s.n));
        }
    }
    str_free(&s);
    return bad ? err_nomem(err) : 0;
}

static int solve_discrete(nami_exact *x, const struct dataset *set, const nami_exact_options *o,
                          nami_err *err)
{
    const struct dnet *d = &x->d;
    int *state = raw_array(int, d->n + 1), rc = state ? label_states(x, err) : err_nomem(err);
    for (int v = 0; v < d->n && !rc; v++) state[v] = -1;
    if (!rc && x->w) rc = dnet_evidence(d, x->w->m, set, state, err);
    for (int i = 0; i < o->num_given && !rc; i++)
        rc = given_states(x->bn, d, o->given[i], state, err);
    if (!rc) rc = ctree_new(d, state, (size_t)o->limit, &x->t, err);
    if (!rc && o->mpe && !(x->best = arena_array(&x->mem, int, d->n + 1))) rc = err_nomem(err);
    if (!rc && o->mpe) rc = ctree_mpe(&x->t, x->best, &x->best_logp, err);
    if (!rc) rc = ctree_calibrate(&x->t, err);
    free(state);
    return rc;
}

/* ---- both ------------------------------------------------------------------------------- */

static int begin(const nami_bn *bn, const nami_exact_options *opt, nami_exact_options *o,
                 nami_exact **out, nami_err *err)
{
    int rc = options_complete("exact", opt, sizeof *o, o, err);
    if (rc) return rc;
    nami_exact *x = *out = new_array(nami_exact, 1);
    if (!x) return err_nomem(err);
    x->bn = bn;
    x->best_logp = NAN;
    x->all = o->all, x->draws = o->draws, x->threads = o->threads, x->seed = o->seed;
    if (!o->only) return 0;
    if (!(x->shown = arena_array(&x->mem, int, bn_n(bn) + 1))) return err_nomem(err);
    memset(x->shown, 0, sizeof *x->shown * (size_t)bn_n(bn));
    return bn_select(bn, o->only, x->shown, 1, err);
}

static int finish(nami_exact *x, int rc, nami_exact **out)
{
    if (rc)
        nami_exact_free(x);
    else
        *out = x;
    return rc;
}

void nami_exact_free(nami_exact *x)
{
    if (!x) return;
    gpost_free(&x->p);
    gnet_free(&x->g);
    ctree_free(&x->t);
    dnet_free(&x->d);
    dict_free(&x->names);
    arena_free(&x->mem);
    free(x);
}

int nami_exact_tables(const nami_bn *bn, const nami_exact_options *opt, nami_exact **out,
                      nami_err *err)
{
    nami_exact_options o;
    nami_exact *x = NULL;
    err_clear(err);
    *out = NULL;
    int rc = begin(bn, opt, &o, &x, err);
    if (!rc) rc = dnet_tables(bn, &x->d, err);
    if (!rc) rc = solve_discrete(x, NULL, &o, err);
    if (!rc) x->discrete = 1;
    return finish(x, rc, out);
}

/* ---- of a model ------------------------------------------------------------------------- */

/* Is anything continuous?  Then the model should have been linear Gaussian. */
static int is_continuous(const struct model *m)
{
    for (int i = 0; i < model_num_statements(m); i++) {
        struct statement s = model_statement(m, i);
        if (s.stochastic && (!s.dist || !domains[s.dist->domain].discrete)) return 1;
    }
    return 0;
}

static void say_neither(nami_err *err)
{
    size_t n = err ? strlen(err->msg) : 0;
    if (err && strncmp(err->msg, "the model is not", 16) == 0)
        snprintf(err->msg + n, sizeof err->msg - n,
                 "; only linear Gaussian and discrete models have exact answers; 'nami run' "
                 "integrates out what it can, with --exact all also by quadrature");
}

/* What is declared to be observed, but is not in the data. */
static int tell_missing(const struct model *m, const struct dataset *set, const nami_watch *watch,
                        nami_err *err)
{
    struct given g = {0};
    int n = 0, of = 0, rc = set ? given_open(&g, m, set, err) : 0;
    for (int k = 0; k < model_num_instances(m); k++)
        for (int j = 0; instance_node(m, k) >= 0 && j < instance_size(m, k); j++) {
            int e = instance_elements(m, k)[j];
            if (!element_is_observed(m, e)) continue;
            of++;
            n += !set || rc || isnan(given_value(&g, e));
        }
    given_close(&g);
    if (n && !rc)
        tell(watch, NAMI_NOTE, "%d of %d observed variables have no value, and are latent here", n,
             of);
    return rc;
}

static int solve_model(nami_exact *x, const struct dataset *set, const nami_exact_options *o,
                       nami_err *err)
{
    const struct model *m = x->w->m;
    x->discrete = !is_continuous(m);
    int rc = x->discrete ? dnet_read(m, &x->d, err) : gnet_read(m, &x->g, err);
    if (rc) return say_neither(err), rc;
    return x->discrete ? solve_discrete(x, set, o, err) : solve_gauss(x, set, o, err);
}

int nami_exact_new(const nami_model *w, const nami_data *data, size_t set,
                   const nami_exact_options *opt, nami_exact **out, nami_err *err)
{
    nami_exact_options o;
    nami_exact *x = NULL;
    err_clear(err);
    *out = NULL;
    int rc = needs_model(w, err);
    if (rc) return rc;
    const struct data *sets = data ? &data->sets : model_data(w->m);
    if (set && set >= sets->set.n) return no_such_set(set, sets->set.n, err);
    const struct dataset *d = sets->set.n ? &sets->set.a[set] : NULL;
    rc = begin(nami_model_structure(w), opt, &o, &x, err);
    if (!rc) x->w = w;
    if (!rc && !data && sets->set.n > 1)
        tell(o.watch, NAMI_NOTE, "there are %zu data sets; this is for number %zu", sets->set.n,
             set + 1);
    if (!rc) rc = tell_missing(w->m, d, o.watch, err);
    if (!rc && data && tell_unknown(w->m, sets, o.watch)) rc = err_nomem(err);
    if (!rc && tell_latents(w->m, sets, "the model", o.watch)) rc = err_nomem(err);
    if (!rc) rc = solve_model(x, d, &o, err);
    return finish(x, rc, out);
}

/* ---- asked ------------------------------------------------------------------------------ */

const char *nami_exact_kind(const nami_exact *x) { return x->discrete ? "discrete" : "gaussian"; }

double nami_exact_log_evidence(const nami_exact *x)
{
    return x->discrete ? discrete_evidence(&x->t) : gauss_evidence(&x->p);
}

double nami_exact_entropy(const nami_exact *x)
{
    return x->discrete ? ctree_entropy(&x->t) : x->p.entropy;
}

double nami_exact_mpe_logp(const nami_exact *x) { return x->best_logp; }

static int discrete_node(const nami_exact *x, const char *node, int *v, nami_err *err)
{
    err_clear(err);
    if (!x->discrete)
        return err_set(err, NAMI_EUSAGE, "this model is linear Gaussian: it has no states");
    return find_node(x->bn, node, strlen(node), v, err);
}

int nami_exact_states(const nami_exact *x, const char *node, int cap, double *p, nami_err *err)
{
    int v, rc = discrete_node(x, node, &v, err);
    if (rc) return rc;
    int card = x->d.card[v];
    double *all = raw_array(double, card + 1);
    if (!all) return err_nomem(err);
    ctree_marginal(&x->t, v, all);
    for (int s = 0; s < cap && s < card; s++) p[s] = all[s];
    free(all);
    return card;
}

const char *nami_exact_state_name(const nami_exact *x, const char *node, int state)
{
    int v;
    if (discrete_node(x, node, &v, NULL) || state < 0 || state >= x->d.card[v]) return NULL;
    return x->label[v][state];
}

int nami_exact_mpe_state(const nami_exact *x, const char *node, nami_err *err)
{
    int v, rc = discrete_node(x, node, &v, err);
    if (rc) return rc;
    if (!x->best)
        return err_set(err, NAMI_EUSAGE, "the most probable states were not asked for: option mpe");
    return x->best[v];
}

static int gauss_moments(const nami_exact *x, const char *name, double *mean, double *sd,
                         nami_err *err)
{
    int i = dict_find(&x->names, name, strlen(name)), low = 0, high = x->p.nz;
    if (i < 0) return err_set(err, NAMI_EINPUT, "no scalar is called '%.100s'", name);
    while (low < high) { /* the first latent scalar at or behind i */
        int mid = low + (high - low) / 2;
        if (x->p.z[mid] < i)
            low = mid + 1;
        else
            high = mid;
    }
    *mean = x->p.x[i];
    *sd = low < x->p.nz && x->p.z[low] == i ? sqrt(x->var[low]) : 0;
    return 0;
}

int nami_exact_moments(const nami_exact *x, const char *name, double *mean, double *sd,
                       nami_err *err)
{
    double square = 0, first = 0;
    int v;
    err_clear(err);
    if (!x->discrete) return gauss_moments(x, name, mean, sd, err);
    int rc = find_node(x->bn, name, strlen(name), &v, err);
    double *p = rc ? NULL : raw_array(double, x->d.card[v] + 1);
    if (rc) return rc;
    if (!p) return err_nomem(err);
    ctree_marginal(&x->t, v, p);
    for (int s = 0; s < x->d.card[v]; s++) first += p[s] * s;
    for (int s = 0; s < x->d.card[v]; s++) square += p[s] * (s - first) * (s - first);
    free(p);
    *mean = first + (x->d.low ? x->d.low[v] : 1);
    *sd = sqrt(square);
    return 0;
}

int nami_exact_describe(const nami_exact *x, const char *as, char **text, nami_err *err)
{
    struct exact_view view = {.bn = x->bn, .shown = x->shown, .json = strcmp(as, "json") == 0};
    struct str out = {0};
    err_clear(err);
    *text = NULL;
    if (!view.json && strcmp(as, "text") != 0) return no_such_form(as, "text, json", err);
    if (x->discrete)
        show_discrete(&view, &x->t, x->best, x->best_logp, &out);
    else
        show_gauss(&view, &x->g, &x->p, x->names.name.a, x->var, &out);
    return give_text(&out, text, NULL, err);
}

/* ---- draws ------------------------------------------------------------------------------ */

/* Rows of a model from those of its random scalars, which are row[]. */
static int model_rows(const nami_exact *x, int num, const int *row, const double *value,
                      nami_draws **out, nami_err *err)
{
    nami_simulate_options how = {.draws = x->draws, .all = x->all};
    size_t n = (size_t)x->draws;
    double *rows = new_array(double, (size_t)model_num_rows(x->w->m) * n + 1);
    if (!rows) return err_nomem(err);
    for (int i = 0; i < num; i++)
        memcpy(rows + (size_t)row[i] * n, value + (size_t)i * n, sizeof *rows * n);
    int rc = exact_complete(x->w->m, n, rows, err);
    if (!rc) return draws_of_model(x->w, &how, rows, out, err);
    free(rows);
    return rc;
}

/* Nodes of a structure: states from 1. */
static int structure_rows(const nami_exact *x, const double *value, nami_draws **out, nami_err *err)
{
    int num = bn_n(x->bn);
    size_t size = (size_t)num * (size_t)x->draws;
    struct draws_var *var = new_array(struct draws_var, num + 1);
    double *rows = raw_array(double, size + 1);
    int rc = 0;
    if (var && rows) {
        for (int v = 0; v < num; v++)
            var[v] = (struct draws_var){.name = bn_name(x->bn, v), .integer = 1, .base = (size_t)v};
        memcpy(rows, value, sizeof *rows * size);
        rc = draws_of_rows(num, var, (size_t)x->draws, rows, out, err);
    } else {
        free(rows);
        rc = err_nomem(err);
    }
    free(var);
    return rc;
}

static int draw_gauss(const nami_exact *x, double *value, nami_err *err)
{
    return gpost_draw(&x->p, x->seed, 0, (size_t)x->draws, parallel_threads(x->threads), value,
                      err);
}

static int draw_discrete(const nami_exact *x, double *value, nami_err *err)
{
    size_t n = (size_t)x->draws, size = (size_t)x->d.n * n;
    int *state = raw_array(int, size + 1);
    int rc = state ? ctree_draw(&x->t, x->seed, 0, n, state, err) : err_nomem(err);
    for (size_t i = 0; i < size && !rc; i++) value[i] = state[i] + (x->d.low ? x->d.low[i / n] : 1);
    free(state);
    return rc;
}

int nami_exact_draws(const nami_exact *x, nami_draws **out, nami_err *err)
{
    int num = x->discrete ? x->d.n : x->g.n;
    double *value = raw_array(double, (size_t)num *(size_t)x->draws + 1);
    err_clear(err);
    *out = NULL;
    int rc = !value        ? err_nomem(err)
             : x->discrete ? draw_discrete(x, value, err)
                           : draw_gauss(x, value, err);
    if (!rc && x->w)
        rc = model_rows(x, num, x->discrete ? x->d.row : x->g.row, value, out, err);
    else if (!rc)
        rc = structure_rows(x, value, out, err);
    free(value);
    return rc;
}
