/* network_at.h: files of trained networks, changed so that their digest fits again, for tests. */
#ifndef TESTS_NETWORK_AT_H
#define TESTS_NETWORK_AT_H

#include <jansson.h>
#include <string.h>

#include "net/network.h"
#include "run.h"

/* A text of the file; value NULL: there is none. */
static inline void edit_text(struct st *st, const char *name, const char *value)
{
    nami_err err = {0};
    if (value) {
        if (st_set(st, name, value, &err)) fail_msg("%s", err.msg);
        return;
    }
    struct st copy = {0};
    for (size_t i = 0; i < st->text.n; i++)
        if (strcmp(st->text.a[i].name, name) != 0)
            assert_int_equal(st_set(&copy, st->text.a[i].name, st->text.a[i].value, &err), 0);
    for (size_t i = 0; i < st->tensor.n; i++) {
        const struct st_tensor *t = &st->tensor.a[i];
        assert_int_equal(st_add(&copy, t->name, t->type, t->ndim, t->dim, t->x, &err), 0);
    }
    st_free(st);
    *st = copy;
}

/* The bytes, with their digest. */
static inline void edit_print(struct st *st, struct str *out)
{
    nami_err err = {0};
    char zeros[65];
    memset(zeros, '0', 64), zeros[64] = 0;
    if (st_set(st, "sha256", zeros, &err) || network_print(st, out, &err)) fail_msg("%s", err.msg);
}

/* `text` with the first `old` replaced by `piece`. */
static inline void edit_piece(const char *text, const char *old, const char *piece, struct str *out)
{
    const char *at = strstr(text, old);
    if (!at) fail_msg("there is no %s in %s", old, text);
    str_putn(out, text, (size_t)(at - text));
    str_put(out, piece);
    str_put(out, at + strlen(old));
}

#endif
