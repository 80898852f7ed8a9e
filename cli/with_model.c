#include "with_model.h"

#include <stdio.h>
#include <string.h>

int is_model_file(const char *path)
{
    static const char *const ends[] = {".nami", ".bug", ".bugs", ".jags"};
    size_t n = strlen(path);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        size_t k = strlen(ends[i]);
        if (n > k && strcmp(path + n - k, ends[i]) == 0) return 1;
    }
    return 0;
}

void show_messages(const struct model *m, int quiet)
{
    struct str out = {0};
    if (quiet && !m->diags.nerror) return;
    diags_print(&m->diags, m->file ? file_name(m->file) : "model", m->text.s ? m->text.s : "", m->text.n, &out);
    if (out.s) fputs(out.s, stderr);
    str_free(&out);
}

int open_model(struct model *m, const char *path, const struct model_opts *o)
{
    nami_err err = {0};
    struct model_options opt = {.set = o->set.a, .nset = o->set.n, .observe = o->observe,
                                .free = o->free.a, .nfree = o->free.n};
    int rc = model_read(m, path, o->data.a, o->data.n, &opt, &err);
    if (rc == NAMI_EINPUT && m->diags.nerror) {
        show_messages(m, 0);
        return EXIT_BAD;
    }
    if (rc) return fail(READING, file_name(m->reading), &err);
    show_messages(m, o->quiet);
    return EXIT_YES;
}
