/* model.c: the models of nami.h, thinly over read.h, view.h and eval.h. */
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "base/err.h"
#include "base/file.h"
#include "base/parallel.h"
#include "model/eval.h"
#include "model/read.h"

static int describe_simulator(nami_model *w)
{
    struct str what = {0};
    model_simulator(w->m, &what);
    if (what.n) w->simulator = arena_strndup(&w->mem, what.s, what.n);
    int rc = what.oom || (what.n && !w->simulator) ? NAMI_ENOMEM : 0;
    str_free(&what);
    return rc;
}

/* The names and nodes of all rows; its simulator. */
static int describe(nami_model *w)
{
    const struct model *m = w->m;
    struct str name = {0};
    int rc = 0, rows = model_num_rows(m);
    w->name = arena_array(&w->mem, const char *, rows + 1);
    w->node = arena_array(&w->mem, int, rows + 1);
    if (!w->name || !w->node) return NAMI_ENOMEM;
    for (int e = 0; e < model_num_elements(m) && !rc; e++) {
        int row = element_row(m, e);
        if (row < 0 || row >= rows) continue;
        name.n = 0;
        elem_name(m, e, &name);
        w->name[row] = name.oom ? NULL : arena_strndup(&w->mem, name.s, name.n);
        w->node[row] = element_node(m, e);
        if (!w->name[row]) rc = NAMI_ENOMEM;
    }
    str_free(&name);
    return rc ? rc : describe_simulator(w);
}

static const char *keep(nami_model *w, const char *s)
{
    return arena_strndup(&w->mem, s, strlen(s));
}

/* The options, for files that a model is to be read from again. */
static int keep_options(nami_model *w, const nami_model_options *opt)
{
    const char **set = arena_array(&w->mem, const char *, opt->num_set + 1);
    int bad = !set;
    for (int i = 0; i < opt->num_set && !bad; i++) bad = !(set[i] = keep(w, opt->set[i]));
    w->set = set;
    w->num_set = opt->num_set;
    if (opt->observe) bad |= !(w->observe = keep(w, opt->observe));
    return bad ? NAMI_ENOMEM : 0;
}

static int choose_dialect(const char *name, const char *path, enum dialect *out, nami_err *err)
{
    *out = path ? path_dialect(path) : NATIVE;
    if (!name) return 0;
    if (strcmp(name, "nami") != 0 && strcmp(name, "bugs") != 0)
        return err_set(err, NAMI_EUSAGE, "no dialect is called '%.40s'; choose nami or bugs", name);
    *out = strcmp(name, "bugs") == 0 ? BUGS : NATIVE;
    return 0;
}

void print_messages(const nami_model *w, const struct diags *diags, struct str *out)
{
    const char *name = model_file_name(w->m), *text = model_text(w->m);
    diags_print(diags, name ? name : "model", text, strlen(text), out);
}

static int build(nami_model *w, const char *name, const char *text, size_t len,
                 const nami_model_options *opt, enum dialect dialect, nami_err *err)
{
    struct model_options mo = {.set = opt->set,
                               .nset = opt->num_set,
                               .observe = opt->observe,
                               .free = opt->free,
                               .nfree = opt->num_free,
                               .train_priors = opt->train_priors};
    struct model *m = w->m;
    int rc = 0;
    if (opt->data && opt->data->repeated)
        rc = err_set(err, NAMI_EINPUT,
                     "two data files give %.60s; a model is read with the values of one data set",
                     opt->data->repeated);
    if (!rc && !(name = keep(w, name))) rc = err_nomem(err); /* the model borrows it */
    if (!rc && opt->data) rc = model_copy_data(m, &opt->data->sets, err);
    if (!rc) rc = model_parse(m, name, text, len, dialect, &mo, err);
    if (name) model_messages(m, name, &w->messages);
    if (!rc && (describe(w) || keep_options(w, opt))) rc = err_nomem(err);
    return rc;
}

/* The caller's options, which may be those of an older header: shorter. */
static nami_model_options given(const nami_model_options *opt)
{
    nami_model_options o = {0};
    if (opt) memcpy(&o, opt, opt->size && opt->size < sizeof o ? opt->size : sizeof o);
    return o;
}

static nami_model *new_model(void)
{
    nami_model *w = new_array(nami_model, 1);
    if (w && (w->m = model_new())) return w;
    free(w);
    return NULL;
}

/* Models that were not read are kept for their messages, if there is the memory. */
static int finish(nami_model **out, int rc, nami_err *err)
{
    nami_model *w = *out;
    if (w->messages.oom) rc = err_nomem(err);
    w->good = !rc;
    if (rc == NAMI_ENOMEM) {
        nami_model_free(w);
        *out = NULL;
    }
    return rc;
}

int model_of_network(struct network *n, nami_model **out, nami_err *err)
{
    nami_model *w = *out = new_array(nami_model, 1);
    if (!w) return err_nomem(err);
    w->m = n->model;
    w->of_network = w->good = 1;
    w->set = n->plan.set;
    w->num_set = n->plan.nset;
    w->observe = n->plan.observe;
    return describe(w) ? err_nomem(err) : 0;
}

int nami_model_is(const char *path) { return model_file(path); }

int nami_model_read(const char *path, const nami_model_options *opt, nami_model **out,
                    nami_err *err)
{
    enum dialect dialect;
    struct str text = {0};
    nami_err why = {0};
    nami_model_options o = given(opt);
    err_clear(err);
    nami_model *w = *out = new_model();
    if (!w) return err_nomem(err);
    int rc = file_read(path, &text, &why);
    if (rc)
        err_in_file(err, path, &why);
    else
        rc = choose_dialect(o.dialect, path, &dialect, err);
    if (!rc)
        rc = build(w, strcmp(path, "-") == 0 ? "<stdin>" : path, text.s ? text.s : "", text.n, &o,
                   dialect, err);
    str_free(&text);
    return finish(out, rc, err);
}

int nami_model_parse(const char *text, size_t len, const char *name, const nami_model_options *opt,
                     nami_model **out, nami_err *err)
{
    enum dialect dialect;
    nami_model_options o = given(opt);
    err_clear(err);
    nami_model *w = *out = new_model();
    if (!w) return err_nomem(err);
    int rc = choose_dialect(o.dialect, NULL, &dialect, err);
    if (!rc) rc = build(w, name ? name : "model", text, len, &o, dialect, err);
    return finish(out, rc, err);
}

void nami_model_free(nami_model *w)
{
    if (!w) return;
    if (!w->of_network) model_free(w->m);
    str_free(&w->messages);
    arena_free(&w->mem);
    free(w);
}

const char *nami_model_messages(const nami_model *w) { return w->messages.s ? w->messages.s : ""; }

const nami_bn *nami_model_structure(const nami_model *w) { return w->good ? model_bn(w->m) : NULL; }

const char *nami_model_simulator(const nami_model *w) { return w->good ? w->simulator : NULL; }

int nami_model_size(const nami_model *w) { return w->good ? model_num_rows(w->m) : 0; }

static int is_scalar(const nami_model *w, int i) { return i >= 0 && i < nami_model_size(w); }

const char *nami_model_scalar_name(const nami_model *w, int i)
{
    return is_scalar(w, i) ? w->name[i] : NULL;
}

int nami_model_scalar_find(const nami_model *w, const char *name)
{
    for (int i = 0; i < nami_model_size(w); i++)
        if (strcmp(w->name[i], name) == 0) return i;
    return -1;
}

int nami_model_scalar_node(const nami_model *w, int i) { return is_scalar(w, i) ? w->node[i] : -1; }

int needs_model(const nami_model *w, nami_err *err)
{
    return w->good ? 0
                   : err_set(err, NAMI_EUSAGE, "this model has errors, which its messages list");
}

int nami_model_simulate(const nami_model *w, uint64_t seed, size_t n, int threads, double *x,
                        nami_err *err)
{
    int rc = needs_model(w, err);
    return rc ? rc : model_simulate(w->m, seed, 0, n, parallel_threads(threads), x, err);
}

int nami_model_logp(const nami_model *w, size_t n, const double *x, int threads, double *logp,
                    double *grad, nami_err *err)
{
    struct density d = {.logp = logp, .grad = grad};
    int rc = needs_model(w, err);
    return rc ? rc : model_logp(w->m, n, x, parallel_threads(threads), &d, err);
}

int nami_model_set_point(const nami_model *w, const nami_data *data, size_t set, size_t n, size_t i,
                         double *x, nami_err *err)
{
    const struct model *m = w->m;
    double *p = NULL;
    err_clear(err);
    int rc = needs_model(w, err), given = 0;
    if (!rc && set >= data->sets.set.n) rc = no_such_set(set, data->sets.set.n, err);
    if (!rc && !(p = raw_array(double, model_num_rows(m) + 1))) rc = err_nomem(err);
    for (int r = 0; r < model_num_rows(m) && !rc; r++) p[r] = value_missing();
    if (!rc) rc = model_point(m, &data->sets.set.a[set], 1, 0, 1, p, err);
    for (int r = 0; r < model_num_rows(m) && !rc; r++)
        if (!value_is_missing(p[r])) {
            x[(size_t)r * n + i] = p[r];
            given++;
        }
    free(p);
    return rc ? rc : given;
}
