/* exact_given.c: parses evidence by names of nodes, from texts and JSON files. */
#include "infer/exact_given.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "base/json.h"
#include "base/near.h"

int find_node(const struct bn *bn, const char *name, size_t len, int *out, nami_err *err)
{
    struct near best = NEAR_NONE;
    *out = bn_find(bn, name, len);
    if (*out >= 0) return 0;
    for (int v = 0; v < bn_n(bn); v++) near_try(&best, name, len, bn_name(bn, v), v);
    return err_set(err, NAMI_EINPUT, "no node is called '%.*s'%s%s%s", (int)(len > 100 ? 100 : len),
                   name, best.word ? "; did you mean '" : "", best.word ? best.word : "",
                   best.word ? "'?" : "");
}

/* ---- values of one node ----------------------------------------------------------------- */

void state_label(const struct bn *bn, const struct dnet *d, int v, int s, struct str *out)
{
    if (bn->node.a[v].state)
        str_put(out, bn->node.a[v].state[s]);
    else
        str_printf(out, "%g", (d->low ? d->low[v] : 1) + s);
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

/* The destination of evidence: a discrete or a linear Gaussian network. */
struct evidence {
    const struct bn *bn;
    const struct dnet *d;
    int *state;
    const struct gnet *g;
    double *x;
};

static int set_state(const struct evidence *e, int v, const char *text, nami_err *err)
{
    const struct dnet *d = e->d;
    const char **name = e->bn->node.a[v].state;
    char *end;
    for (int s = 0; name && s < d->card[v]; s++)
        if (strcmp(name[s], text) == 0) {
            e->state[v] = s;
            return 0;
        }
    double x = strtod(text, &end) - (d->low ? d->low[v] : 1);
    if (!*text || *end || x != floor(x) || x < 0 || x >= d->card[v])
        return no_state(e->bn, d, v, text, err);
    e->state[v] = (int)x;
    return 0;
}

static int set_number(const struct evidence *e, int v, const char *text, nami_err *err)
{
    const struct gnet *g = e->g;
    char *end;
    if (g->first[v + 1] - g->first[v] != 1)
        return err_set(err, NAMI_EUSAGE, "%s is a vector; give its values in a data set",
                       bn_name(e->bn, v));
    double x = strtod(text, &end);
    if (!*text || *end || !isfinite(x))
        return err_set(err, NAMI_EUSAGE, "'%.60s' is no number for %s", text, bn_name(e->bn, v));
    e->x[g->first[v]] = x;
    return 0;
}

static int set_node(const struct evidence *e, int v, const char *text, nami_err *err)
{
    return e->d ? set_state(e, v, text, err) : set_number(e, v, text, err);
}

/* ---- files ------------------------------------------------------------------------------ */

static int set_json(const struct evidence *e, const char *name, const json_t *value, nami_err *err)
{
    char text[64];
    int v, rc = find_node(e->bn, name, strlen(name), &v, err);
    if (rc || json_is_null(value)) return rc;
    if (json_is_string(value)) return set_node(e, v, json_string_value(value), err);
    if (!json_is_number(value))
        return err_set(err, NAMI_EINPUT, "%s must be %s", name,
                       e->d ? "a state: its name, or its number, the first being 1" : "a number");
    snprintf(text, sizeof text, "%.17g", json_number_value(value));
    return set_node(e, v, text, err);
}

static int parse_object(const struct evidence *e, const struct str *text, nami_err *err)
{
    struct json_why why;
    const char *name;
    json_t *value,
        *root = json_read(text->s ? text->s : "", text->n, JSON_REJECT_DUPLICATES, &why);
    int rc = 0;
    if (!root)
        rc = why.code == json_error_out_of_memory
                 ? err_nomem(err)
                 : err_at(err, NAMI_EINPUT, why.line, why.column, "not valid JSON: %s", why.text);
    else if (!json_is_object(root))
        rc = err_at(err, NAMI_EINPUT, 1, 1, "evidence is one object, such as {\"smoke\": \"yes\"}");
    else
        json_object_foreach(root, name, value) if (!rc) rc = set_json(e, name, value, err);
    json_decref(root);
    return rc;
}

static int read_object(const struct evidence *e, const char *path, nami_err *err)
{
    struct str text = {0};
    nami_err why = {0};
    int rc = file_read(path, &text, &why);
    if (!rc) rc = parse_object(e, &text, &why);
    if (rc) err_in_file(err, path, &why);
    str_free(&text);
    return rc;
}

static int take(const struct evidence *e, const char *given, nami_err *err)
{
    const char *equals = strrchr(given, '=');
    int v;
    if (*given == '@') return read_object(e, given + 1, err);
    if (!equals || !equals[1])
        return err_set(err, NAMI_EUSAGE, "'%.100s' gives nothing; write NODE=VALUE", given);
    int rc = find_node(e->bn, given, (size_t)(equals - given), &v, err);
    return rc ? rc : set_node(e, v, equals + 1, err);
}

int given_states(const struct bn *bn, const struct dnet *d, const char *given, int *state,
                 nami_err *err)
{
    struct evidence e = {.bn = bn, .d = d, .state = state};
    return take(&e, given, err);
}

int given_numbers(const struct bn *bn, const struct gnet *g, const char *given, double *x,
                  nami_err *err)
{
    struct evidence e = {.bn = bn, .g = g, .x = x};
    return take(&e, given, err);
}
