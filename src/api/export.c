/* export.c: a model of nami.h for others to read: JSON, a program and data for JAGS, Graphviz. */
#include <string.h>

#include "api/api.h"
#include "base/err.h"
#include "model/export.h"
#include "report/draw.h"

static struct model_options options_of(const nami_model *w)
{
    return (struct model_options){.set = w->set, .nset = w->num_set, .observe = w->observe};
}

static int as_json(const nami_model *w, struct str *out, nami_err *err)
{
    return model_json(w->m, out, err);
}

static int as_dot(const nami_model *w, struct str *out, nami_err *err)
{
    struct view view = {.file = model_file_name(w->m), .bn = model_bn(w->m)};
    return draw(&view, "dot", out, err);
}

static int as_rdump(const nami_model *w, struct str *out, nami_err *err)
{
    struct model_options o = options_of(w);
    return model_rdump(w->m, &o, out, err);
}

static int as_jags(const nami_model *w, struct str *out, nami_err *err)
{
    struct model_options o = options_of(w);
    struct diags diags = {0};
    int rc = model_jags(w->m, &o, out, &diags, err);
    diags_free(&diags);
    return rc;
}

static int jags_messages(const nami_model *w, struct str *out, nami_err *err)
{
    struct model_options o = options_of(w);
    struct str program = {0};
    struct diags diags = {0};
    int rc = model_jags(w->m, &o, &program, &diags, err);
    if (rc == NAMI_EINPUT) {
        print_messages(w, &diags, out);
        rc = 0;
    }
    str_free(&program);
    diags_free(&diags);
    return rc;
}

static const struct form {
    const char *name;
    int (*write)(const nami_model *w, struct str *out, nami_err *err);
} forms[] = {
    {"json", as_json},
    {"dot", as_dot},
    {"jags", as_jags},
    {"rdump", as_rdump},
    {"jags-messages", jags_messages},
    {NULL, NULL},
};

int nami_model_describe(const nami_model *w, const char *as, char **text, size_t *len,
                        nami_err *err)
{
    const struct form *f = forms;
    struct str out = {0};
    err_clear(err);
    *text = NULL;
    int rc = needs_model(w, err);
    if (rc) return rc;
    while (f->name && strcmp(f->name, as) != 0) f++;
    if (!f->name) return no_such_form(as, "json, dot, jags, rdump, jags-messages", err);
    rc = f->write(w, &out, err);
    if (!rc) {
        err_clear(err);
        return give_text(&out, text, len, err);
    }
    str_free(&out);
    return rc;
}
