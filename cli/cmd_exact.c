/* cmd_exact.c: `nami exact`: the exact posterior of a linear Gaussian or discrete model. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "base/parallel.h"
#include "exact_show.h"
#include "model/eval.h"
#include "with_model.h"

struct options {
    struct opt_common common;
    struct model_opts model;
    struct opt_many given, out;
    const char *only, *format;
    int n, all, json, mpe, most;
};

#define AT(field) offsetof(struct options, field)
static const struct opt options[] = {
    {"given", 'g', OPT_MANY, AT(given), "NODE=VALUE", NULL, NULL,
     "one more observation: a number, or the name or number of a state; may be repeated", 0},
    {"draws", 'n', OPT_COUNT, AT(n), "N", "1000", NULL, "how many draws -o writes", 0},
    {"output", 'o', OPT_MANY, AT(out), "FILE", NULL, NULL,
     "write draws from the posterior: .csv, .json or .npz; may be repeated", 0},
    {"all", 0, OPT_FLAG, AT(all), NULL, NULL, NULL, "draws of deterministic variables too", 0},
    {"mpe", 0, OPT_FLAG, AT(mpe), NULL, NULL, NULL,
     "also the most probable states of all variables together (discrete)", 0},
    {"only", 0, OPT_TEXT, AT(only), "LIST", NULL, NULL, "only these variables in the table", 0},
    {"json", 0, OPT_FLAG, AT(json), NULL, NULL, NULL, "print JSON", 0},
    {"limit", 0, OPT_COUNT, AT(most), "N", "67108864", NULL,
     "the largest clique tree, in entries of 8 bytes (discrete)", 0},
    {"format", 0, OPT_WORD, AT(format), "NAME", NULL, format_words,
     "the format of a structure, if its ending and content do not tell", 0},
    MODEL_OPTIONS(struct options, model),
    {NULL, 0, 0, 0, NULL, NULL, NULL, NULL, 0},
};

struct work {
    const struct options *o;
    const char *file;  /* as messages name it */
    const char *wrong; /* another file that is to blame */
    struct bn *bn;
    struct model *m; /* or NULL: a structure */
    int *shown;
    struct str out;
};

/* ---- draws -------------------------------------------------------------------------- */

static int write_draws(const struct work *w, const struct draws *d)
{
    nami_err err;
    int rc = EXIT_YES;
    for (int i = 0; i < w->o->out.n && !rc; i++) {
        struct str out = {0};
        if (draws_format_of(w->o->out.a[i])->write(d, &out, &err) ||
            file_write(w->o->out.a[i], out.s, out.n, &err))
            rc = fail(WRITING, w->o->out.a[i], &err);
        str_free(&out);
    }
    return rc;
}

static int check_outputs(const struct options *o)
{
    nami_err err;
    for (int i = 0; i < o->out.n; i++)
        if (draws_format_check(o->out.a[i], &err)) return fail(RUNNING, NULL, &err);
    return EXIT_YES;
}

/* Rows of a model from those of its variables, which are row[]. */
static int model_rows(const struct work *w, int nvar, const int *row, double *x)
{
    struct arena mem = {0};
    struct draws d;
    nami_err err;
    size_t n = (size_t)w->o->n;
    double *rows = new_array(double, (size_t)w->m->ir.num_rows *n);
    int rc = EXIT_YES;
    if (!rows) {
        err_nomem(&err);
        rc = fail(RUNNING, NULL, &err);
    }
    for (int i = 0; i < nvar && !rc; i++)
        memcpy(rows + (size_t)row[i] * n, x + (size_t)i * n, sizeof *x * n);
    if (!rc && (exact_complete(w->m, n, rows, &err) ||
                model_draws(w->m, n, rows, NULL, w->o->all, &mem, &d, &err)))
        rc = fail(RUNNING, NULL, &err);
    if (!rc) rc = write_draws(w, &d);
    arena_free(&mem);
    free(rows);
    return rc;
}

/* Nodes of a structure: states from 1. */
static int structure_rows(const struct work *w, const double *x)
{
    struct draws_var *var = new_array(struct draws_var, bn_n(w->bn));
    struct draws d = {.n = (size_t)w->o->n, .nvar = bn_n(w->bn), .var = var, .x = x};
    nami_err err;
    int rc;
    for (int v = 0; var && v < bn_n(w->bn); v++)
        var[v] = (struct draws_var){.name = bn_name(w->bn, v), .integer = 1, .base = (size_t)v};
    if (var) {
        rc = write_draws(w, &d);
    } else {
        err_nomem(&err);
        rc = fail(RUNNING, NULL, &err);
    }
    free(var);
    return rc;
}

/* ---- linear Gaussian ---------------------------------------------------------------- */

static int given_numbers(const struct work *w, const struct gnet *g, double *x, nami_err *err)
{
    for (int i = 0; i < w->o->given.n; i++) {
        const char *text;
        char *end;
        int v, rc = split_given(w->bn, w->o->given.a[i], &v, &text, err);
        if (rc) return rc;
        if (g->first[v + 1] - g->first[v] != 1)
            return err_set(err, NAMI_EUSAGE, "%s is a vector; give its values in a data file",
                           bn_name(w->bn, v));
        x[g->first[v]] = strtod(text, &end);
        if (*end || !isfinite(x[g->first[v]]))
            return err_set(err, NAMI_EUSAGE, "'%.60s' is no number for %s", text,
                           bn_name(w->bn, v));
    }
    return 0;
}

/* "x[2]" of every scalar */
static const char **scalar_names(struct gnet *g, const struct model *m, nami_err *err)
{
    const char **name = arena_array(&g->mem, const char *, g->n);
    struct str s = {0};
    for (int k = 0; k < m->ir.num_instances && name; k++)
        for (int j = m->ir.first_defined[k];
             m->ir.node[k] >= 0 && j < m->ir.first_defined[k + 1] && name; j++) {
            const char **to = &name[g->first[m->ir.node[k]] + j - m->ir.first_defined[k]];
            s.n = 0;
            elem_name(m, m->ir.defined[j], &s);
            if (s.oom || !(*to = arena_strndup(&g->mem, s.s, s.n))) name = NULL;
        }
    str_free(&s);
    if (!name) err_nomem(err);
    return name;
}

static int gauss_draws(const struct work *w, const struct gnet *g, const struct gpost *p)
{
    nami_err err;
    double *x = raw_array(double, (size_t)g->n *(size_t)w->o->n);
    int rc;
    if (!x) err_nomem(&err);
    if (!x || gpost_draw(p, w->o->model.seed, 0, (size_t)w->o->n,
                         parallel_threads(w->o->model.threads), x, &err))
        rc = fail(RUNNING, NULL, &err);
    else
        rc = model_rows(w, g->n, g->row, x);
    free(x);
    return rc;
}

static int gauss(struct work *w, struct gnet *g, const struct dataset *data)
{
    struct exact_view view = {.bn = w->bn, .shown = w->shown, .json = w->o->json};
    struct gpost p = {0};
    nami_err err;
    double *x = raw_array(double, g->n), *cov = NULL;
    const char **name = scalar_names(g, w->m, &err);
    int rc = !x ? err_nomem(&err) : !name ? NAMI_ENOMEM : 0;
    if (!rc) rc = gnet_evidence(g, w->m, data, x, &err);
    if (!rc) rc = given_numbers(w, g, x, &err);
    if (!rc && w->o->mpe)
        rc = err_set(&err, NAMI_EUSAGE,
                     "--mpe is for discrete models; here the posterior means are most probable");
    if (!rc) rc = gpost_new(g, x, &p, &err);
    if (!rc && !(cov = raw_array(double, (size_t)p.nz *(size_t)p.nz))) rc = err_nomem(&err);
    if (!rc) rc = gpost_cov(&p, cov, &err);
    if (rc) {
        rc = fail(RUNNING, NULL, &err);
    } else {
        for (int k = 0; k < p.nz; k++) cov[k] = cov[(size_t)k * (size_t)p.nz + (size_t)k];
        show_gauss(&view, g, &p, name, cov, &w->out);
        if (w->o->out.n) rc = gauss_draws(w, g, &p);
    }
    gpost_free(&p);
    free(x);
    free(cov);
    return rc;
}

/* ---- discrete ----------------------------------------------------------------------- */

static int given_states(const struct work *w, const struct dnet *d, int *state, nami_err *err)
{
    int rc = 0;
    for (int i = 0; i < w->o->given.n && !rc; i++) {
        const char *text;
        int v;
        rc = split_given(w->bn, w->o->given.a[i], &v, &text, err);
        if (!rc) rc = state_of(w->bn, d, v, text, &state[v], err);
    }
    return rc;
}

static int discrete_draws(const struct work *w, const struct ctree *t)
{
    size_t n = (size_t)w->o->n, size = (size_t)t->net->n * n;
    int *s = raw_array(int, size), rc;
    double *x = raw_array(double, size);
    nami_err err;
    if (!s || !x) err_nomem(&err);
    if (!s || !x || ctree_draw(t, w->o->model.seed, 0, n, s, &err)) {
        rc = fail(RUNNING, NULL, &err);
    } else {
        for (size_t i = 0; i < size; i++) x[i] = s[i] + (t->net->low ? t->net->low[i / n] : 1);
        rc = w->m ? model_rows(w, t->net->n, t->net->row, x) : structure_rows(w, x);
    }
    free(s);
    free(x);
    return rc;
}

static int discrete(struct work *w, const struct dnet *d, const struct dataset *data)
{
    struct exact_view view = {.bn = w->bn, .shown = w->shown, .json = w->o->json};
    struct ctree t = {0};
    nami_err err;
    double logp = 0;
    int *state = raw_array(int, d->n), *best = raw_array(int, d->n);
    int rc = !state || !best ? err_nomem(&err) : 0;
    if (!rc)
        rc = w->m ? dnet_evidence(d, w->m, data, state, &err)
                  : read_states(w->bn, d, &w->o->model.data, state, &w->wrong, &err);
    if (!rc) rc = given_states(w, d, state, &err);
    if (!rc) rc = ctree_new(d, state, (size_t)w->o->most, &t, &err);
    if (!rc && w->o->mpe) rc = ctree_mpe(&t, best, &logp, &err);
    if (!rc) rc = ctree_calibrate(&t, &err);
    if (rc) {
        rc = fail(w->wrong ? READING : RUNNING, w->wrong, &err);
    } else {
        show_discrete(&view, &t, w->o->mpe ? best : NULL, logp, &w->out);
        if (w->o->out.n) rc = discrete_draws(w, &t);
    }
    ctree_free(&t);
    free(state);
    free(best);
    return rc;
}

/* ---- all of it ---------------------------------------------------------------------- */

/* Is anything continuous?  Then the model should have been linear Gaussian. */
static int is_continuous(const struct model *m)
{
    for (size_t i = 0; i < m->ir.statements.n; i++) {
        const struct stmt *s = &m->ir.statements.a[i];
        if (s->rel->stochastic && (!s->dist || !domains[s->dist->domain].discrete)) return 1;
    }
    return 0;
}

static int neither(const struct work *w, nami_err *err)
{
    size_t n = strlen(err->msg);
    if (strncmp(err->msg, "the model is not", 16) == 0)
        snprintf(err->msg + n, sizeof err->msg - n,
                 "; only linear Gaussian and discrete models have exact answers");
    return fail(err->line ? READING : RUNNING, err->line ? w->file : NULL, err);
}

/* What is declared to be observed, but is not in the data. */
static void note_missing(const struct model *m, const struct dataset *set)
{
    struct given g = {0};
    int n = 0, of = 0, known = set && !given_open(&g, m, set, NULL);
    for (int k = 0; k < m->ir.num_instances; k++)
        for (int j = m->ir.first_defined[k]; m->ir.node[k] >= 0 && j < m->ir.first_defined[k + 1];
             j++) {
            if (!m->ir.observed[m->ir.defined[j]]) continue;
            of++;
            n += !known || isnan(given_value(&g, m->ir.defined[j]));
        }
    given_close(&g);
    if (n) note("%d of %d observed variables have no value, and are latent here", n, of);
}

static int run_model(struct work *w)
{
    const struct data *data = &w->m->source.data;
    const struct dataset *set = data->set.n ? data->set.a : NULL;
    struct gnet g = {0};
    struct dnet d = {0};
    nami_err err;
    int rc;
    if (data->set.n > 1 && !w->o->model.quiet)
        note("there are %zu data sets; this is for the first", data->set.n);
    if (!w->o->model.quiet) note_missing(w->m, set);
    if (!w->o->model.quiet) say_unused(w->m, data, "the model");
    if (is_continuous(w->m)) {
        rc = gnet_read(w->m, &g, &err) ? neither(w, &err) : gauss(w, &g, set);
        gnet_free(&g);
        return rc;
    }
    rc = dnet_read(w->m, &d, &err) ? neither(w, &err) : discrete(w, &d, set);
    dnet_free(&d);
    return rc;
}

static int run_structure(struct work *w)
{
    struct dnet d = {0};
    nami_err err;
    int rc;
    if (w->o->model.set.n || w->o->model.observe) {
        err_set(&err, NAMI_EUSAGE, "--set and --observe are for models; write --given NODE=STATE");
        rc = fail(RUNNING, NULL, &err);
    } else if (dnet_tables(w->bn, &d, &err))
        rc = fail(READING, w->file, &err);
    else
        rc = discrete(w, &d, NULL);
    dnet_free(&d);
    return rc;
}

static int select_shown(struct work *w)
{
    nami_err err;
    if (!w->o->only) return EXIT_YES;
    w->shown = new_array(int, bn_n(w->bn));
    if (!w->shown) err_nomem(&err);
    if (!w->shown || bn_select(w->bn, w->o->only, w->shown, 1, &err))
        return fail(RUNNING, NULL, &err);
    return EXIT_YES;
}

static int run(const void *options_, int narg, char **arg)
{
    const struct options *o = options_;
    struct work w = {.o = o, .file = file_name(arg[0])};
    struct model m = {0};
    int rc = check_outputs(o);
    (void)narg;
    if (!rc && !o->format && model_file(arg[0])) {
        w.m = &m;
        if (!(rc = open_model(&m, arg[0], &o->model))) w.bn = m.ir.bn;
    } else if (!rc) {
        rc = open_structure(&w.bn, arg[0], o->format);
    }
    if (!rc) rc = select_shown(&w);
    if (!rc) rc = w.m ? run_model(&w) : run_structure(&w);
    if (!w.m) nami_bn_free(w.bn);
    model_fini(&m);
    free(w.shown);
    if (!rc) return finish(&w.out, EXIT_YES);
    str_free(&w.out);
    return rc;
}

static const struct example examples[] = {
    {"nami exact lgssm.nami --data lgssm.json", "the Kalman smoother's answer"},
    {"nami exact student.nami --data student.json --mpe", "a discrete model, and its best states"},
    {"nami exact asia.bif --given smoke=yes --given xray=no", "a network with tables"},
    {"nami exact tree.nami --data tree.json -n 10000 -o draws.npz", "independent draws, to a file"},
    {NULL, NULL},
};

const struct cmd cmd_exact = {
    .name = "exact",
    .summary = "the exact posterior of a linear Gaussian or discrete model",
    .usage = "[OPTION]... FILE",
    .about =
        "Prints the posterior of every latent variable given the data, log p(x), and the entropy "
        "of "
        "the posterior, E[-log p(z|x)], without approximation, for two kinds of models: those in "
        "which everything is normal with means that are affine in each other and constant "
        "variances "
        "(any graph), and those in which everything has finitely many values (by a clique tree). A "
        "structure with tables (BIF, XMLBIF, UAI, Hugin, JSON) is of the second kind.\n\n"
        "The data of a model are those of its other commands; observed values that are missing are "
        "latent. The data of a structure are a JSON object of nodes and their states, by name or "
        "by number from 1: {\"smoke\": \"yes\", \"xray\": 2}. Draws of a structure are numbers of "
        "states.\n\n"
        "The same seed gives the same draws for any number of threads.",
    .opt = options,
    .example = examples,
    .min_arg = 1,
    .max_arg = 1,
    .size = sizeof(struct options),
    .run = run,
};
