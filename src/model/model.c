/* model.c: from a file to a model, step by step. */
#include "model/model.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "model/given.h"
#include "model/lang/lang.h"

/* The first error, for callers that want one sentence. */
static int first_error(const struct model *m, nami_err *err)
{
    const struct diag *first = NULL;
    for (size_t i = 0; i < m->diags.list.n; i++) {
        const struct diag *d = &m->diags.list.a[i];
        if (d->level == DIAG_ERROR && (!first || d->at.line < first->at.line)) first = d;
    }
    if (!first) return err_set(err, NAMI_EBUG, "the model is wrong, but nothing says why");
    return err_at(err, NAMI_EINPUT, first->at.line, first->at.col, "%s%s%s", first->msg,
                  first->advice ? "; " : "", first->advice ? first->advice : "");
}

static int prepare(struct model *m)
{
    size_t n = m->syntax.names.name.n;
    m->array_of = arena_array(&m->mem, int, n + 1);
    if (!m->array_of) return NAMI_ENOMEM;
    for (size_t i = 0; i <= n; i++) m->array_of[i] = -1;
    for (size_t i = 0; i < m->syntax.decl.n; i++)
        m->observe_declared |= m->syntax.decl.a[i].kind == D_OBSERVE;
    return name_networks(m);
}

/* The names in the data that the model does not know are a warning. */
static void unknown_data(struct model *m)
{
    const struct place nowhere = {0, 0, 0};
    const struct dataset *set = m->data.set.n ? &m->data.set.a[0] : NULL;
    for (size_t i = 0; set && i < set->value.n; i++) {
        const char *name = set->value.a[i].name;
        int k = dict_find(&m->syntax.names, name, strlen(name));
        if (k < 0 || m->array_of[k] < 0)
            diag_warning(&m->diags, nowhere, NULL, "the data give %s, which the model does not use",
                         name);
    }
}

/* All data sets of a file share the constants: their structure is one. */
static int same_constants(struct model *m, nami_err *err)
{
    const struct place nowhere = {0, 0, 0};
    int rc = 0, differs = 0;
    for (size_t i = 1; i < m->data.set.n && !rc && !differs; i++) {
        struct given g;
        nami_err why = {0};
        double value;
        rc = given_open(&g, m, &m->data.set.a[i], &why);
        int e = rc ? -1 : given_other(&g, &value);
        differs = (rc && rc != NAMI_ENOMEM) || e >= 0;
        if (e >= 0)
            diag_error(&m->diags, nowhere, "put them in files of their own",
                       "data sets 1 and %zu have different values of the constant %s", i + 1,
                       m->array.a[m->elem_array[e]].name);
        else if (differs)
            diag_error(&m->diags, nowhere, NULL, "data set %zu: %s", i + 1, why.msg);
        given_close(&g);
    }
    if (rc == NAMI_ENOMEM) return err_nomem(err);
    return differs ? first_error(m, err) : 0;
}

/* For data blocks of other data sets. */
static int keep_settings(struct model *m, const struct model_options *opt)
{
    int n = opt ? opt->nset : 0;
    m->set = arena_array(&m->mem, const char *, n + 1);
    for (int i = 0; i < n && m->set; i++, m->nset++)
        if (!(m->set[i] = arena_strndup(&m->mem, opt->set[i], strlen(opt->set[i]))))
            return NAMI_ENOMEM;
    return m->set ? 0 : NAMI_ENOMEM;
}

static int observe_instead(struct model *m, const char *what, nami_err *err)
{
    int rc = nami_bn_observe(m->bn, what, err);
    for (int k = 0; k < m->ninst && !rc; k++)
        for (int j = m->lhs_off[k]; m->node[k] >= 0 && j < m->lhs_off[k + 1]; j++)
            m->observed[m->lhs[j]] = m->bn->node.a[m->node[k]].observed;
    return rc;
}

#define STEP_OF(model, call)                                                                       \
    if (call) return err_nomem(err);                                                               \
    if ((model)->diags.oom) return err_nomem(err);                                                 \
    if ((model)->diags.nerror) return first_error(model, err)
#define STEP(call) STEP_OF(m, call)

/* Everything up to the graph, which is not finished yet. */
static int build_graph(struct model *m, const struct model_options *opt, nami_err *err)
{
    int rc;
    STEP(prepare(m));
    STEP(model_resolve(m));
    STEP(model_expand(m, opt));
    STEP(given_mark(m));
    STEP(keep_settings(m, opt));
    STEP(model_observed(m));
    STEP(model_censor(m));
    STEP(model_footprints(m));
    STEP(model_schedule(m));
    STEP(model_supports(m));
    STEP(model_tricks(m));
    if ((rc = model_graph(m, err))) return rc;
    STEP(declare_embeds(m));
    return 0;
}

static int build(struct model *m, const struct model_options *opt, nami_err *err)
{
    int rc = build_graph(m, opt, err);
    if (rc || (rc = bn_finish(m->bn, err))) return rc;
    if (opt && opt->observe && (rc = observe_instead(m, opt->observe, err))) return rc;
    STEP(embeds_observed(m, opt));
    STEP(model_compile(m, &m->sample, 0, NULL));
    STEP(model_compile(m, &m->density, 1, NULL));
    STEP(settle_ranges(m));
    unknown_data(m);
    if ((rc = same_constants(m, err))) return rc;
    model_lint(m);
    return m->diags.oom ? err_nomem(err) : 0;
}

static int parse(struct model *m, const char *file, const char *text, size_t len,
                 enum dialect dialect, nami_err *err)
{
    m->file = file;
    if (!m->text.n) str_putn(&m->text, text, len);
    if (m->text.oom || syntax_parse(&m->syntax, text, len, dialect, &m->diags) || m->diags.oom)
        return err_nomem(err);
    if (m->diags.nerror) return first_error(m, err);
    return syntax_bounds(&m->syntax) ? err_nomem(err) : 0;
}

int model_parse(struct model *m, const char *file, const char *text, size_t len,
                enum dialect dialect, const struct model_options *opt, nami_err *err)
{
    int rc = parse(m, file, text, len, dialect, err);
    return rc ? rc : build(m, opt, err);
}

int model_structure(const char *text, size_t len, enum dialect dialect, struct bn *out,
                    nami_err *err)
{
    struct model m = {0};
    int rc = parse(&m, NULL, text, len, dialect, err);
    if (!rc) rc = build_graph(&m, NULL, err);
    if (!rc) {
        struct bn empty = *out;
        *out = *m.bn;
        *m.bn = empty;
    }
    model_fini(&m);
    return rc;
}

int model_block(struct model *b, const struct model *of, nami_err *err)
{
    struct model_options opt = {.set = of->set, .nset = of->nset, .limit = of->limit, .block = 1};
    int rc = parse(b, of->file, of->text.s ? of->text.s : "", of->text.n, of->syntax.dialect, err);
    if (rc) return rc;
    STEP_OF(b, prepare(b));
    STEP_OF(b, model_resolve(b));
    STEP_OF(b, model_expand(b, &opt));
    return 0;
}
#undef STEP
#undef STEP_OF

int model_file(const char *path) { return str_ends(path, strlen(path), NATIVE_ENDS " " BUGS_ENDS); }

/* .txt is a common ending of BUGS files, but of others too. */
static enum dialect dialect_of(const char *path)
{
    return str_ends(path, strlen(path), BUGS_ENDS " .txt") ? BUGS : NATIVE;
}

int model_read(struct model *m, const char *path, const char *const *data, int ndata,
               const struct model_options *opt, nami_err *err)
{
    m->reading = path;
    int rc = file_read(path, &m->text, err);
    for (int i = 0; i < ndata && !rc; i++) {
        size_t before = m->data.set.n;
        m->reading = data[i];
        rc = data_read(&m->data, data[i], err);
        if (!rc) rc = data_join(&m->data, before, err);
    }
    if (rc) return rc;
    m->reading = path;
    return model_parse(m, path, m->text.s ? m->text.s : "", m->text.n, dialect_of(path), opt, err);
}

struct model working_copy(const struct model *m)
{
    struct model copy = *m;
    copy.mem = (struct arena){0};
    copy.diags = (struct diags){0};
    return copy;
}

void working_copy_fini(struct model *copy)
{
    diags_free(&copy->diags);
    arena_free(&copy->mem);
}

int model_give_data(struct model *m, const char *json, size_t len, nami_err *err)
{
    return data_parse(&m->data, json, len, err);
}

void model_lock_simulator(struct model *m) { m->simulator_locked = 1; }

void model_allow_simulator(struct model *m) { m->simulator_locked = 0; }

struct model *model_new(void) { return new_array(struct model, 1); }

void model_free(struct model *m)
{
    if (!m) return;
    model_fini(m);
    free(m);
}

void model_fini(struct model *m)
{
    prog_free(&m->sample);
    prog_free(&m->density);
    bn_free(m->bn);
    vec_free(&m->array);
    vec_free(&m->stmt);
    vec_free(&m->net);
    vec_free(&m->weight);
    vec_free(&m->embed);
    free(m->elem_array);
    free(m->owner);
    free(m->state);
    free(m->observed);
    free(m->value);
    free(m->inst_stmt);
    free(m->lhs_off);
    free(m->lhs);
    data_free(&m->data);
    diags_free(&m->diags);
    syntax_free(&m->syntax);
    str_free(&m->text);
    arena_free(&m->mem);
    *m = (struct model){0};
}
