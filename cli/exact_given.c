/* exact_given.c: evidence for structures: states by name or number. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "base/near.h"
#include "exact_show.h"

static int find_node(const struct bn *bn, const char *name, size_t len, int *out, nami_err *err)
{
    struct near best = NEAR_NONE;
    *out = bn_find(bn, name, len);
    if (*out >= 0) return 0;
    for (int v = 0; v < bn_n(bn); v++) near_try(&best, name, len, bn_name(bn, v), v);
    return err_set(err, NAMI_EINPUT, "no node is called '%.*s'%s%s%s", (int)(len > 100 ? 100 : len),
                   name, best.word ? "; did you mean '" : "", best.word ? best.word : "",
                   best.word ? "'?" : "");
}

static int no_state(const struct bn *bn, const struct dnet *d, int v, const char *text,
                    nami_err *err)
{
    struct str list = {0};
    for (int s = 0; s < d->card[v] && s < 12; s++) {
        if (s) str_put(&list, ", ");
        state_label(bn, d, v, s, &list);
    }
    int rc = list.oom ? err_nomem(err)
                      : err_set(err, NAMI_EINPUT, "'%.60s' is no state of %s; it has %.200s%s",
                                text, bn_name(bn, v), list.s, d->card[v] > 12 ? ", ..." : "");
    str_free(&list);
    return rc;
}

int state_of(const struct bn *bn, const struct dnet *d, int v, const char *text, int *state,
             nami_err *err)
{
    const char **name = bn->node.a[v].state;
    char *end;
    for (int s = 0; name && s < d->card[v]; s++)
        if (strcmp(name[s], text) == 0) {
            *state = s;
            return 0;
        }
    double x = strtod(text, &end) - (d->low ? d->low[v] : 1);
    if (!*text || *end || x != floor(x) || x < 0 || x >= d->card[v])
        return no_state(bn, d, v, text, err);
    *state = (int)x;
    return 0;
}

int split_given(const struct bn *bn, const char *given, int *node, const char **text, nami_err *err)
{
    const char *eq = strrchr(given, '=');
    if (!eq || !eq[1])
        return err_set(err, NAMI_EUSAGE, "'%.100s' gives nothing; write --given NODE=VALUE", given);
    *text = eq + 1;
    return find_node(bn, given, (size_t)(eq - given), node, err);
}

static int one_state(const struct bn *bn, const struct dnet *d, const char *name, const json_t *j,
                     int *state, nami_err *err)
{
    char buf[64];
    int v, rc = find_node(bn, name, strlen(name), &v, err);
    if (rc || json_is_null(j)) return rc;
    if (json_is_string(j)) return state_of(bn, d, v, json_string_value(j), &state[v], err);
    if (!json_is_number(j))
        return err_set(err, NAMI_EINPUT,
                       "%s must be a state: its name, or its number, the first being 1", name);
    snprintf(buf, sizeof buf, "%.17g", json_number_value(j));
    return state_of(bn, d, v, buf, &state[v], err);
}

static int read_file(const struct bn *bn, const struct dnet *d, const char *path, int *state,
                     nami_err *err)
{
    struct str text = {0};
    json_error_t e;
    const char *name;
    json_t *j;
    int rc = file_read(path, &text, err);
    if (rc) return rc;
    json_t *root = json_loadb(text.s ? text.s : "", text.n, JSON_REJECT_DUPLICATES, &e);
    if (!root)
        rc = json_error_code(&e) == json_error_out_of_memory
                 ? err_nomem(err)
                 : err_at(err, NAMI_EINPUT, e.line, e.column, "not valid JSON: %s", e.text);
    else if (!json_is_object(root))
        rc = err_at(err, NAMI_EINPUT, 1, 1,
                    "the evidence of a structure is one object, such as {\"smoke\": \"yes\"}");
    else
        json_object_foreach(root, name, j) if (!rc) rc = one_state(bn, d, name, j, state, err);
    json_decref(root);
    str_free(&text);
    return rc;
}

int read_states(const struct bn *bn, const struct dnet *d, const struct opt_many *data, int *state,
                const char **file, nami_err *err)
{
    int rc = 0;
    for (int v = 0; v < bn_n(bn); v++) state[v] = -1;
    for (int i = 0; i < data->n && !rc; i++) {
        *file = data->a[i];
        rc = read_file(bn, d, data->a[i], state, err);
    }
    if (!rc) *file = NULL;
    return rc;
}
