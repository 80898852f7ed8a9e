/* api_model.c: the models of nami.h, thinly over model.h and eval.h. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/parallel.h"
#include "model/api_model.h"
#include "model/eval.h"
#include "model/model.h"

/* The names and nodes of all rows. */
static int describe(nami_model *w)
{
    struct model *m = w->m;
    struct str name = {0};
    int rc = 0;
    w->name = arena_array(&w->mem, const char *, m->ir.num_rows + 1);
    w->node = arena_array(&w->mem, int, m->ir.num_rows + 1);
    if (!w->name || !w->node) return NAMI_ENOMEM;
    for (int e = 0; e < m->ir.num_elements && !rc; e++) {
        int row = m->ir.row[e];
        if (row < 0 || row >= m->ir.num_rows) continue;
        name.n = 0;
        elem_name(m, e, &name);
        w->name[row] = name.oom ? NULL : arena_strndup(&w->mem, name.s, name.n);
        w->node[row] = m->ir.defined_by[e] >= 0 ? m->ir.node[m->ir.defined_by[e]] : -1;
        if (!w->name[row]) rc = NAMI_ENOMEM;
    }
    str_free(&name);
    return rc;
}

static const char *keep(nami_model *w, const char *s)
{
    return arena_strndup(&w->mem, s, strlen(s));
}

/* The options, for files that a model is to be read from again; and the model's name, which is the
   caller's. */
static int keep_options(nami_model *w, const nami_model_options *opt)
{
    const char **set = arena_array(&w->mem, const char *, opt->nset + 1);
    int bad = !set;
    for (int i = 0; i < opt->nset && !bad; i++) bad = !(set[i] = keep(w, opt->set[i]));
    if (w->m->source.file) bad |= !(w->m->source.file = keep(w, w->m->source.file));
    w->set = set;
    w->nset = opt->nset;
    if (opt->observe) bad |= !(w->observe = keep(w, opt->observe));
    return bad ? NAMI_ENOMEM : 0;
}

/* Which of its files an error without a place in the model is about. */
static void name_file(const struct model *m, nami_err *err)
{
    nami_err e;
    if (!err || m->source.diags.nerror || err->code == NAMI_ENOMEM) return;
    e = *err;
    err_at(err, e.code, e.line, e.col, "%.200s: %.300s", m->source.reading, e.msg);
}

int nami_model_read(const char *path, const nami_model_options *opt, nami_model **out,
                    nami_err *err)
{
    static const nami_model_options none = {0};
    if (!opt) opt = &none;
    struct model_options mo = {.set = opt->set, .nset = opt->nset, .observe = opt->observe};
    nami_model *w = *out = new_array(nami_model, 1);
    if (w && !(w->m = model_new())) {
        free(w);
        w = *out = NULL;
    }
    if (!w) return err_nomem(err);
    int rc = model_read(w->m, path, opt->data, opt->ndata, &mo, err);
    if (rc) name_file(w->m, err);
    diags_print(&w->m->source.diags, path, w->m->source.text.s ? w->m->source.text.s : "",
                w->m->source.text.n, &w->messages);
    if (!rc && (describe(w) || keep_options(w, opt))) rc = err_nomem(err);
    if (w->messages.oom) rc = err_nomem(err);
    w->good = !rc;
    if (rc == NAMI_ENOMEM) {
        nami_model_free(w);
        *out = NULL;
    }
    return rc;
}

void nami_model_free(nami_model *w)
{
    if (!w) return;
    model_free(w->m);
    str_free(&w->messages);
    arena_free(&w->mem);
    free(w);
}

const char *nami_model_messages(const nami_model *w) { return w->messages.s ? w->messages.s : ""; }

const nami_bn *nami_model_structure(const nami_model *w) { return w->good ? w->m->ir.bn : NULL; }

const char *nami_model_simulator(const nami_model *w)
{
    return w->good ? w->m->source.simulator : NULL;
}

int nami_model_size(const nami_model *w) { return w->good ? w->m->ir.num_rows : 0; }

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
                   : err_set(err, NAMI_EUSAGE, "this model was not read; see nami_model_messages");
}

int nami_model_simulate(const nami_model *w, uint64_t seed, size_t n, int threads, double *x,
                        nami_err *err)
{
    int rc = needs_model(w, err);
    return rc ? rc : model_simulate(w->m, seed, 0, n, parallel_threads(threads), x, err);
}

int nami_model_logp(nami_model *w, size_t n, const double *x, int threads, double *logp,
                    double *grad, nami_err *err)
{
    struct density d = {.logp = logp, .grad = grad};
    int rc = needs_model(w, err);
    return rc ? rc : model_logp(w->m, n, x, parallel_threads(threads), &d, err);
}

int nami_model_set_point(const nami_model *w, const char *path, size_t n, size_t i, double *x,
                         nami_err *err)
{
    const struct model *m = w->m;
    struct data d = {0};
    double *p = NULL;
    int rc = needs_model(w, err), given = 0;
    if (!rc) rc = data_read(&d, path, err);
    if (!rc && !d.set.n) rc = err_set(err, NAMI_EINPUT, "%s holds no data set", path);
    if (!rc && !(p = raw_array(double, m->ir.num_rows + 1))) rc = err_nomem(err);
    for (int r = 0; r < m->ir.num_rows && !rc; r++) p[r] = value_missing();
    if (!rc) rc = model_point(m, &d.set.a[0], 1, 0, 1, p, err);
    for (int r = 0; r < m->ir.num_rows && !rc; r++)
        if (!value_is_missing(p[r])) {
            x[(size_t)r * n + i] = p[r];
            given++;
        }
    free(p);
    data_free(&d);
    return rc ? rc : given;
}
