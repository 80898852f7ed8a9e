#include "with_model.h"

#include <stdio.h>
#include <string.h>

#include "data/records.h"

void show_messages(const struct model *m, int quiet)
{
    struct str out = {0};
    if (quiet && !m->diags.nerror) return;
    diags_print(&m->diags, m->file ? file_name(m->file) : "model", m->text.s ? m->text.s : "",
                m->text.n, &out);
    if (out.s) fputs(out.s, stderr);
    str_free(&out);
}

int open_model(struct model *m, const char *path, const struct model_opts *o)
{
    nami_err err = {0};
    struct model_options opt = {.set = o->set.a,
                                .nset = o->set.n,
                                .observe = o->observe,
                                .free = o->free.a,
                                .nfree = o->free.n};
    int rc = model_read(m, path, o->data.a, o->data.n, &opt, &err);
    if (rc == NAMI_EINPUT && m->diags.nerror) {
        show_messages(m, 0);
        return EXIT_BAD;
    }
    if (rc) return fail(READING, file_name(m->reading), &err);
    show_messages(m, o->quiet);
    return EXIT_YES;
}

int is_records(const char *file)
{
    const struct records_format *f = records_format_of(file);
    return file[strcspn(file, "=/.")] == '=' || (f && strcmp(f->name, "json") != 0);
}
