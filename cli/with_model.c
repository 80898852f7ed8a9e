/* with_model.c: what commands that read a model or structure share: opening it, its messages, and
   warnings about unused data. */
#include "with_model.h"

#include <stdio.h>
#include <string.h>

#include "base/dict.h"
#include "base/err.h"
#include "data/records.h"
#include "model/eval.h"

void show_messages(const struct model *m, int quiet)
{
    struct str out = {0};
    if (quiet && !m->source.diags.nerror) return;
    diags_print(&m->source.diags, m->source.file ? file_name(m->source.file) : "model",
                m->source.text.s ? m->source.text.s : "", m->source.text.n, &out);
    if (out.s) fputs(out.s, stderr);
    str_free(&out);
}

void old_tell_simulator(const struct model *m, int quiet)
{
    static int said; /* 'nami run' is several commands */
    struct str what = {0};
    if (!m->source.simulator || quiet || said) return;
    said = 1;
    model_simulator(m, &what);
    if (what.s && !what.oom) note("this runs the simulator %s", what.s);
    str_free(&what);
}

int open_model(struct model *m, const char *path, const struct model_opts *o)
{
    nami_err err = {0};
    struct model_options opt = {.set = o->set.a,
                                .nset = o->set.n,
                                .observe = o->observe,
                                .free = o->free.a,
                                .nfree = o->free.n};
    if (refuse_net(path)) return EXIT_BAD;
    int rc = model_read(m, path, o->data.a, o->data.n, &opt, &err);
    if (rc == NAMI_EINPUT && m->source.diags.nerror) {
        show_messages(m, 0);
        return EXIT_BAD;
    }
    if (rc) return fail(READING, file_name(m->source.reading), &err);
    show_messages(m, o->quiet);
    return EXIT_YES;
}

/* Does a data set give a value for an element that is not observed, but random? */
static int gives_latent(const struct model *m, const struct array *a, const struct value *v)
{
    for (int k = 0; k < a->n && (size_t)k < v->n; k++)
        if (m->ir.state[a->first + k] == E_RANDOM && !m->ir.observed[a->first + k] &&
            !value_is_missing(v->x[k]))
            return 1;
    return 0;
}

/* The array of a name, or NULL. */
static const struct array *array_called(const struct model *m, const char *name)
{
    int k = dict_find(&m->source.syntax.names, name, strlen(name)),
        a = k < 0 ? -1 : m->ir.array_of_name[k];
    return a < 0 ? NULL : &m->ir.arrays.a[a];
}

enum { UNKNOWN, UNUSED };

/* Each name once. */
static void say_names(const struct model *m, const struct data *d, int what, const char *who)
{
    struct dict said = {0};
    for (size_t s = 0; s < d->set.n; s++)
        for (size_t i = 0; i < d->set.a[s].value.n; i++) {
            const struct value *v = &d->set.a[s].value.a[i];
            const struct array *a = array_called(m, v->name);
            int fresh = 0;
            if (what == UNKNOWN ? a != NULL : !a || !gives_latent(m, a, v)) continue;
            if (dict_add(&said, v->name, strlen(v->name), &fresh) < 0 || !fresh) continue;
            if (what == UNKNOWN)
                warn("the data give %s, which the model does not know", v->name);
            else
                note("the data give values of %s, which %s infers: they are not used", v->name,
                     who);
        }
    dict_free(&said);
}

void say_unknown(const struct model *m, const struct data *d) { say_names(m, d, UNKNOWN, NULL); }

void say_unused(const struct model *m, const struct data *d, const char *who)
{
    say_names(m, d, UNUSED, who);
}

int is_records(const char *file)
{
    const struct records_format *f = records_format_of(file);
    return file[strcspn(file, "=/.")] == '=' || (f && strcmp(f->name, "json") != 0);
}
