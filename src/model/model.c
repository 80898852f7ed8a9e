/* model.c: the steps from a file to a model. */
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
    for (size_t i = 0; i < m->source.diags.list.n; i++) {
        const struct diag *d = &m->source.diags.list.a[i];
        if (d->level == DIAG_ERROR && (!first || d->at.line < first->at.line)) first = d;
    }
    if (!first) return err_set(err, NAMI_EBUG, "the model is wrong, but nothing says why");
    return err_at(err, NAMI_EINPUT, first->at.line, first->at.col, "%s%s%s", first->msg,
                  first->advice ? "; " : "", first->advice ? first->advice : "");
}

static int prepare(struct model *m)
{
    size_t n = m->source.syntax.names.name.n;
    m->ir.array_of_name = arena_array(&m->mem, int, n + 1);
    if (!m->ir.array_of_name) return NAMI_ENOMEM;
    for (size_t i = 0; i <= n; i++) m->ir.array_of_name[i] = -1;
    for (size_t i = 0; i < m->source.syntax.decl.n; i++)
        m->source.observe_declared |= m->source.syntax.decl.a[i].kind == D_OBSERVE;
    return name_networks(m);
}

/* Warns about names in the data that the model does not use. */
static void unknown_data(struct model *m)
{
    const struct place nowhere = {0, 0, 0};
    const struct dataset *set = m->source.data.set.n ? &m->source.data.set.a[0] : NULL;
    for (size_t i = 0; set && i < set->value.n; i++) {
        const char *name = set->value.a[i].name;
        int k = dict_find(&m->source.syntax.names, name, strlen(name));
        if (k < 0 || m->ir.array_of_name[k] < 0)
            diag_warning(&m->source.diags, nowhere, NULL,
                         "the data give %s, which the model does not use", name);
    }
}

/* All data sets of a file must have the same constants: they share one structure. */
static int same_constants(struct model *m, nami_err *err)
{
    const struct place nowhere = {0, 0, 0};
    int rc = 0, differs = 0;
    for (size_t i = 1; i < m->source.data.set.n && !rc && !differs; i++) {
        struct given g;
        nami_err why = {0};
        double value;
        rc = given_open(&g, m, &m->source.data.set.a[i], &why);
        int e = rc ? -1 : given_other(&g, &value);
        differs = (rc && rc != NAMI_ENOMEM) || e >= 0;
        if (e >= 0)
            diag_error(&m->source.diags, nowhere, "put them in files of their own",
                       "data sets 1 and %zu have different values of the constant %s", i + 1,
                       m->ir.arrays.a[m->ir.array_of[e]].name);
        else if (differs)
            diag_error(&m->source.diags, nowhere, NULL, "data set %zu: %s", i + 1, why.msg);
        given_close(&g);
    }
    if (rc == NAMI_ENOMEM) return err_nomem(err);
    return differs ? first_error(m, err) : 0;
}

/* For data blocks of other data sets. */
static int keep_settings(struct model *m, const struct model_options *opt)
{
    int n = opt ? opt->nset : 0;
    m->source.settings = arena_array(&m->mem, const char *, n + 1);
    for (int i = 0; i < n && m->source.settings; i++, m->source.num_settings++)
        if (!(m->source.settings[i] = arena_strndup(&m->mem, opt->set[i], strlen(opt->set[i]))))
            return NAMI_ENOMEM;
    return m->source.settings ? 0 : NAMI_ENOMEM;
}

static int observe_instead(struct model *m, const char *what, nami_err *err)
{
    int rc = nami_bn_observe(m->ir.bn, what, err);
    for (int k = 0; k < m->ir.num_instances && !rc; k++)
        for (int j = m->ir.first_defined[k]; m->ir.node[k] >= 0 && j < m->ir.first_defined[k + 1];
             j++)
            m->ir.observed[m->ir.defined[j]] = m->ir.bn->node.a[m->ir.node[k]].observed;
    return rc;
}

#define STEP_OF(model, call)                                                                       \
    if (call) return err_nomem(err);                                                               \
    if ((model)->source.diags.oom) return err_nomem(err);                                          \
    if ((model)->source.diags.nerror) return first_error(model, err)
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

static int parse(struct model *m, const char *file, const char *text, size_t len,
                 enum dialect dialect, nami_err *err)
{
    m->source.file = file;
    if (!m->source.text.n) str_putn(&m->source.text, text, len);
    if (m->source.text.oom ||
        syntax_parse(&m->source.syntax, text, len, dialect, &m->source.diags) ||
        m->source.diags.oom)
        return err_nomem(err);
    if (m->source.diags.nerror) return first_error(m, err);
    return syntax_bounds(&m->source.syntax) ? err_nomem(err) : 0;
}

/* The declarations that train statements need, and the sizes of the arrays that they define. */
static int training_declarations(struct model *t, const struct model *m)
{
    struct syntax *s = &t->source.syntax;
    size_t n = 0;
    for (size_t i = 0; i < s->decl.n; i++)
        if (s->decl.a[i].kind == D_CONST) s->decl.a[n++] = s->decl.a[i];
    s->decl.n = n;
    for (size_t i = 0; i < s->train.n; i++) {
        const struct expr *lhs = s->train.a[i].lhs;
        const struct array *a = &m->ir.arrays.a[m->ir.array_of_name[lhs->name]];
        struct expr *number = arena_array(&s->mem, struct expr, a->ndim + 1), *ref = NULL;
        int done = 0;
        for (size_t k = n; k < s->decl.n; k++) done |= s->decl.a[k].ref->name == lhs->name;
        if (done) continue;
        ref = arena_array(&s->mem, struct expr, 1);
        if (!number || !ref) return NAMI_ENOMEM;
        *ref = (struct expr){.kind = X_REF, .name = lhs->name, .at = lhs->at, .all = lhs->all};
        ref->arg = arena_array(&s->mem, struct expr *, a->ndim + 1);
        if (!ref->arg) return NAMI_ENOMEM;
        ref->narg = a->ndim;
        for (int d = 0; d < a->ndim; d++) {
            number[d] = (struct expr){.kind = X_NUMBER, .at = lhs->at, .value = a->dim[d]};
            ref->arg[d] = &number[d];
        }
        struct decl decl = {.kind = D_VAR, .at = lhs->at, .ref = ref, .name = -1};
        if (vec_push(&s->decl, decl)) return NAMI_ENOMEM;
    }
    return 0;
}

/* Its relations: those of the data block, and the train statements. */
static int training_relations(struct syntax *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->rel.n; i++)
        if (s->rel.a[i].in_data) s->rel.a[n++] = s->rel.a[i];
    s->rel.n = n;
    for (size_t i = 0; i < s->train.n; i++)
        if (vec_push(&s->rel, s->train.a[i])) return NAMI_ENOMEM;
    s->train.n = 0;
    return 0;
}

static int elaborate_training(struct model *t, const struct model *m, nami_err *err)
{
    struct model_options opt = {.set = m->source.settings,
                                .nset = m->source.num_settings,
                                .limit = m->ir.limit};
    t->source.data = m->source.data; /* borrowed: see model_fini */
    int rc = parse(t, m->source.file, m->source.text.s ? m->source.text.s : "", m->source.text.n,
                   m->source.syntax.dialect, err);
    if (rc) return rc;
    STEP_OF(t, training_declarations(t, m));
    STEP_OF(t, training_relations(&t->source.syntax));
    STEP_OF(t, prepare(t));
    STEP_OF(t, model_resolve(t));
    STEP_OF(t, model_expand(t, &opt));
    STEP_OF(t, model_footprints(t));
    STEP_OF(t, model_schedule(t));
    STEP_OF(t, model_supports(t));
    return 0;
}

/* Elaborates the train statements as a model of their own, whose draws replace those of m. */
static int build_training(struct model *m, nami_err *err)
{
    if (!m->source.syntax.train.n) return 0;
    STEP(train_names(m));
    struct model *t = m->source.training = model_new();
    if (!t) return err_nomem(err);
    int rc = elaborate_training(t, m, err);
    for (size_t i = 0; i < t->source.diags.list.n && rc == NAMI_EINPUT; i++) {
        const struct diag *d = &t->source.diags.list.a[i];
        if (d->level != DIAG_ERROR) continue;
        diag_error(&m->source.diags, d->at,
                   d->advice ? diag_text(&m->source.diags, "%s", d->advice) : NULL, "%s", d->msg);
    }
    if (rc) return rc;
    STEP(train_link(m));
    return 0;
}

static int build(struct model *m, const struct model_options *opt, nami_err *err)
{
    int rc = build_graph(m, opt, err);
    if (rc || (rc = bn_finish(m->ir.bn, err))) return rc;
    if (opt && opt->observe && (rc = observe_instead(m, opt->observe, err))) return rc;
    STEP(embeds_observed(m, opt));
    STEP(model_compile(m, &m->programs.sample, 0, NULL));
    STEP(model_compile(m, &m->programs.density, 1, NULL));
    if ((rc = build_training(m, err))) return rc;
    STEP(settle_ranges(m));
    unknown_data(m);
    if ((rc = same_constants(m, err))) return rc;
    model_lint(m);
    return m->source.diags.oom ? err_nomem(err) : 0;
}

/* The text with training distributions that are given separately, as if they stood in the file. */
static int add_train_priors(struct model *m, const char *text, size_t len, const char *priors)
{
    if (!m->source.text.n) str_putn(&m->source.text, text, len);
    if (m->source.text.n && m->source.text.s[m->source.text.n - 1] != '\n')
        str_put(&m->source.text, "\n");
    str_put(&m->source.text, "train { ");
    str_put(&m->source.text, priors);
    str_put(&m->source.text, " }\n");
    return m->source.text.oom ? NAMI_ENOMEM : 0;
}

int model_parse(struct model *m, const char *file, const char *text, size_t len,
                enum dialect dialect, const struct model_options *opt, nami_err *err)
{
    if (opt && opt->train_priors && opt->train_priors[strspn(opt->train_priors, " ;\t\n")]) {
        if (add_train_priors(m, text, len, opt->train_priors)) return err_nomem(err);
        text = m->source.text.s;
        len = m->source.text.n;
    }
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
        *out = *m.ir.bn;
        *m.ir.bn = empty;
    }
    model_fini(&m);
    return rc;
}

int model_block(struct model *b, const struct model *of, nami_err *err)
{
    struct model_options opt = {.set = of->source.settings,
                                .nset = of->source.num_settings,
                                .limit = of->ir.limit,
                                .block = 1};
    int rc = parse(b, of->source.file, of->source.text.s ? of->source.text.s : "",
                   of->source.text.n, of->source.syntax.dialect, err);
    if (rc) return rc;
    STEP_OF(b, prepare(b));
    STEP_OF(b, model_resolve(b));
    STEP_OF(b, model_expand(b, &opt));
    return 0;
}
#undef STEP
#undef STEP_OF

int model_learns(const struct model *m)
{
    for (size_t i = 0; i < m->ir.networks.n; i++)
        if (m->ir.networks.a[i].learn) return 1;
    return 0;
}

int model_file(const char *path) { return str_ends(path, strlen(path), NATIVE_ENDS " " BUGS_ENDS); }

/* .txt is a common extension of BUGS files, but also of others. */
enum dialect path_dialect(const char *path)
{
    return str_ends(path, strlen(path), BUGS_ENDS " .txt") ? BUGS : NATIVE;
}

int model_read(struct model *m, const char *path, const char *const *data, int ndata,
               const struct model_options *opt, nami_err *err)
{
    m->source.reading = path;
    int rc = file_read(path, &m->source.text, err);
    for (int i = 0; i < ndata && !rc; i++) {
        size_t before = m->source.data.set.n;
        m->source.reading = data[i];
        rc = data_read(&m->source.data, data[i], err);
        if (!rc) rc = data_join(&m->source.data, before, err);
    }
    if (rc) return rc;
    m->source.reading = path;
    return model_parse(m, path, m->source.text.s ? m->source.text.s : "", m->source.text.n,
                       path_dialect(path), opt, err);
}

struct model working_copy(const struct model *m)
{
    struct model copy = *m;
    copy.mem = (struct arena){0};
    copy.source.diags = (struct diags){0};
    return copy;
}

void working_copy_fini(struct model *copy)
{
    diags_free(&copy->source.diags);
    arena_free(&copy->mem);
}

int model_give_data(struct model *m, const char *json, size_t len, nami_err *err)
{
    return data_parse(&m->source.data, json, len, err);
}

int model_copy_data(struct model *m, const struct data *data, nami_err *err)
{
    return data_copy(&m->source.data, data, err);
}

void model_messages(const struct model *m, const char *name, struct str *out)
{
    diags_print(&m->source.diags, name, model_text(m), m->source.text.n, out);
}

void model_lock_simulator(struct model *m) { m->source.simulator_locked = 1; }

void model_allow_simulator(struct model *m) { m->source.simulator_locked = 0; }

struct model *model_new(void) { return new_array(struct model, 1); }

void model_free(struct model *m)
{
    if (!m) return;
    model_fini(m);
    free(m);
}

void model_fini(struct model *m)
{
    prog_free(&m->programs.sample);
    prog_free(&m->programs.density);
    prog_free(&m->programs.training);
    if (m->source.training) m->source.training->source.data = (struct data){0};
    model_free(m->source.training);
    bn_free(m->ir.bn);
    vec_free(&m->ir.arrays);
    vec_free(&m->ir.statements);
    vec_free(&m->ir.networks);
    vec_free(&m->programs.weights);
    vec_free(&m->ir.embeddings);
    free(m->ir.array_of);
    free(m->ir.defined_by);
    free(m->ir.state);
    free(m->ir.observed);
    free(m->ir.value);
    free(m->ir.statement_of);
    free(m->ir.first_defined);
    free(m->ir.defined);
    data_free(&m->source.data);
    diags_free(&m->source.diags);
    syntax_free(&m->source.syntax);
    str_free(&m->source.text);
    arena_free(&m->mem);
    *m = (struct model){0};
}
