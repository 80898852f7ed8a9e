/* json.c: NaMI's own JSON, the one format that carries everything in a struct bn.

   {"nodes": ["A", {"name": "B", "states": ["yes", "no"]}], "edges": [["A", "B"]],
    "observed": ["B"]}

   Further keys: nuisance or infer, stages, plates, tables; see read(). */
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/json.h"
#include "io/format.h"

static int sniff(const char *text, size_t len)
{
    const char *s = text, *end = text + len;
    if (len >= 3 && memcmp(s, "\xEF\xBB\xBF", 3) == 0) s += 3;
    while (s < end && strchr(" \t\r\n", *s) && *s) s++;
    if (s == end || *s++ != '{') return 0;
    while (s < end && strchr(" \t\r\n", *s) && *s) s++;
    if (s < end && *s == '}') return 60;
    if (s == end || *s++ != '"') return 0;
    while (s < end && *s != '"') s++;
    if (s < end) s++;
    while (s < end && strchr(" \t\r\n", *s) && *s) s++;
    return s < end && *s == ':' ? 90 : 0;
}

/* ---- reading ------------------------------------------------------------ */

#define bad(err, ...) err_set(err, NAMI_EINPUT, __VA_ARGS__)

static int syntax(const struct json_why *e, nami_err *err)
{
    int line = e->line > 0 ? e->line : 0, col = e->column > 0 ? e->column : 0;
    switch (e->code) {
    case json_error_out_of_memory: return err_nomem(err);
    case json_error_stack_overflow:
        return err_at(err, NAMI_EINPUT, line, col,
                      "brackets are nested more than 2000 deep; a structure needs four levels");
    case json_error_premature_end_of_input:
        return err_at(err, NAMI_EINPUT, line, col, "the JSON text ends too early; is it cut off?");
    case json_error_end_of_input_expected:
        return err_at(err, NAMI_EINPUT, line, col,
                      "there is text after the end of the JSON object; remove it");
    case json_error_invalid_utf8:
        return err_at(err, NAMI_EINPUT, line, col, "not UTF-8 (%s); save the file as UTF-8",
                      e->text);
    default: return err_at(err, NAMI_EINPUT, line, col, "not valid JSON: %s", e->text);
    }
}

/* A name at where[i] that must be a node already. */
static int node_at(const struct bn *bn, const json_t *j, const char *where, size_t i, nami_err *err)
{
    if (!json_is_string(j)) return bad(err, "%s[%zu] must be the name of a node", where, i);
    int v = bn_find(bn, json_string_value(j), json_string_length(j));
    if (v < 0)
        return bad(err, "%s[%zu] is '%s', but there is no such node; add it to \"nodes\"", where, i,
                   json_string_value(j));
    return v;
}

static int states(struct bn *bn, int v, const json_t *j, nami_err *err)
{
    struct bn_node *node = &bn->node.a[v];
    json_t *s;
    size_t i;
    if (json_is_integer(j) && json_integer_value(j) >= 1 && json_integer_value(j) <= INT_MAX) {
        node->nstate = (int)json_integer_value(j);
        return 0;
    }
    if (!json_is_array(j) || json_array_size(j) < 1 || json_array_size(j) > INT_MAX)
        return bad(err, "\"states\" of '%s' must be a list of names or a number from 1",
                   bn_name(bn, v));
    node->state = arena_array(&bn->mem, const char *, json_array_size(j));
    if (!node->state) return err_nomem(err);
    json_array_foreach(j, i, s)
    {
        if (!json_is_string(s))
            return bad(err, "states[%zu] of '%s' must be a string", i, bn_name(bn, v));
        node->state[i] = arena_strndup(&bn->mem, json_string_value(s), json_string_length(s));
        if (!node->state[i]) return err_nomem(err);
    }
    node->nstate = (int)i;
    return 0;
}

/* "A", or {"name": "A", "size": 3, "states": ..., "observed": true} */
static int read_node(struct bn *bn, const json_t *j, size_t i, nami_err *err)
{
    const json_t *name = json_is_object(j) ? json_object_get(j, "name") : j, *x;
    if (!json_is_string(name))
        return bad(err, "nodes[%zu] must be a name or an object with a \"name\"", i);
    int v = bn_declare(bn, json_string_value(name), json_string_length(name), 0, 0, err);
    if (v < 0 || name == j) return v;
    if ((x = json_object_get(j, "size"))) {
        json_int_t k = json_integer_value(x);
        if (!json_is_integer(x) || k < 1 || k > INT_MAX)
            return bad(err, "\"size\" of '%s' must be a whole number from 1", bn_name(bn, v));
        bn->node.a[v].size = (int)k;
    }
    if ((x = json_object_get(j, "observed"))) {
        if (!json_is_boolean(x))
            return bad(err, "\"observed\" of '%s' must be true or false", bn_name(bn, v));
        bn->node.a[v].observed = json_is_true(x);
    }
    return (x = json_object_get(j, "states")) ? states(bn, v, x, err) : 0;
}

/* An end of an edge: without "nodes", edges name the nodes. */
static int edge_end(struct bn *bn, const json_t *j, int closed, size_t i, nami_err *err)
{
    if (closed) return node_at(bn, j, "edges", i, err);
    if (json_string_length(j) == 0) return bad(err, "edges[%zu] has an empty name", i);
    return bn_node(bn, json_string_value(j), json_string_length(j), 0, NULL, err);
}

static int read_edge(struct bn *bn, const json_t *j, int closed, size_t i, nami_err *err)
{
    const json_t *a = json_array_get(j, 0), *b = json_array_get(j, 1);
    if (json_array_size(j) != 2 || !json_is_string(a) || !json_is_string(b))
        return bad(err, "edges[%zu] must be a pair of names, as [\"A\", \"B\"]", i);
    int from = edge_end(bn, a, closed, i, err);
    int to = from < 0 ? from : edge_end(bn, b, closed, i, err);
    return to < 0 ? to : bn_edge(bn, from, to, 0, 0, err);
}

static int read_graph(struct bn *bn, const json_t *root, nami_err *err)
{
    const json_t *nodes = json_object_get(root, "nodes"), *edges = json_object_get(root, "edges");
    json_t *x;
    size_t i;
    int rc;
    if (!nodes && !edges)
        return bad(err, "neither \"nodes\" nor \"edges\"; a structure needs one of them");
    if (nodes && !json_is_array(nodes))
        return bad(err, "\"nodes\" must be a list, as [\"A\", \"B\"]");
    if (edges && !json_is_array(edges))
        return bad(err, "\"edges\" must be a list of pairs, as [[\"A\", \"B\"]]");
    json_array_foreach(nodes, i, x) if ((rc = read_node(bn, x, i, err)) < 0) return rc;
    json_array_foreach(edges, i, x) if ((rc = read_edge(bn, x, nodes != NULL, i, err))) return rc;
    return 0;
}

static int is_list(const json_t *j, const char *where, nami_err *err)
{
    return json_is_array(j) ? 0 : bad(err, "%s must be a list of names, as [\"A\", \"B\"]", where);
}

static int read_observed(struct bn *bn, const json_t *list, nami_err *err)
{
    json_t *x;
    size_t i;
    int v;
    if (!list) return 0;
    if ((v = is_list(list, "observed", err))) return v;
    json_array_foreach(list, i, x)
    {
        if ((v = node_at(bn, x, "observed", i, err)) < 0) return v;
        bn->node.a[v].observed = 1;
    }
    return 0;
}

/* A name at where[i] that must be a latent node. */
static int latent_at(const struct bn *bn, const json_t *j, const char *where, size_t i,
                     nami_err *err)
{
    int v = node_at(bn, j, where, i, err);
    if (v >= 0 && bn->node.a[v].observed)
        return bad(err, "%s[%zu] is '%s', which is observed; name latent nodes only", where, i,
                   bn_name(bn, v));
    return v;
}

static int read_nuisance(struct bn *bn, const json_t *root, nami_err *err)
{
    const json_t *list = json_object_get(root, "nuisance"), *infer = json_object_get(root, "infer");
    const char *where = infer ? "infer" : "nuisance";
    json_t *x;
    size_t i;
    int v;
    if (list && infer) return bad(err, "both \"nuisance\" and \"infer\"; keep one of them");
    if (!list && !infer) return 0;
    if (infer) list = infer;
    if ((v = is_list(list, where, err))) return v;
    for (v = 0; v < bn_n(bn); v++) bn->node.a[v].nuisance = infer && !bn->node.a[v].observed;
    json_array_foreach(list, i, x)
    {
        if ((v = latent_at(bn, x, where, i, err)) < 0) return v;
        bn->node.a[v].nuisance = !infer;
    }
    return 0;
}

/* Latents that no stage names get a last stage of their own. */
static int read_stages(struct bn *bn, const json_t *list, nami_err *err)
{
    json_t *stage, *x;
    size_t k, i;
    char where[40];
    int v;
    if (!list) return 0;
    if (!json_is_array(list))
        return bad(err, "\"stages\" must be a list of lists of names, as [[\"A\"], [\"B\"]]");
    for (v = 0; v < bn_n(bn); v++) bn->node.a[v].stage = -1;
    json_array_foreach(list, k, stage)
    {
        snprintf(where, sizeof where, "stages[%zu]", k);
        if ((v = is_list(stage, where, err))) return v;
        json_array_foreach(stage, i, x)
        {
            if ((v = latent_at(bn, x, where, i, err)) < 0) return v;
            if (bn->node.a[v].stage >= 0)
                return bad(err, "%s[%zu] names '%s' a second time; keep it in one stage", where, i,
                           bn_name(bn, v));
            bn->node.a[v].stage = (int)k;
        }
    }
    for (v = 0; v < bn_n(bn); v++) {
        struct bn_node *node = &bn->node.a[v];
        if (node->stage < 0) node->stage = node->observed ? 0 : (int)json_array_size(list);
    }
    return 0;
}

static int read_plates(struct bn *bn, const json_t *list, nami_err *err)
{
    json_t *j, *x;
    size_t k, i;
    char where[40];
    int v;
    if (!list) return 0;
    if (!json_is_array(list)) return bad(err, "\"plates\" must be a list of objects");
    json_array_foreach(list, k, j)
    {
        const json_t *label = json_object_get(j, "label"), *nodes = json_object_get(j, "nodes");
        if (!json_is_string(label) || !json_is_array(nodes))
            return bad(err, "plates[%zu] must be {\"label\": ..., \"nodes\": [...]}", k);
        struct bn_plate p = {
            .label = arena_strndup(&bn->mem, json_string_value(label), json_string_length(label)),
            .node = arena_array(&bn->mem, int, json_array_size(nodes)),
        };
        if (!p.label || !p.node) return err_nomem(err);
        snprintf(where, sizeof where, "plates[%zu].nodes", k);
        json_array_foreach(nodes, i, x)
        {
            if ((v = node_at(bn, x, where, i, err)) < 0) return v;
            p.node[p.n++] = v;
        }
        if (vec_push(&bn->plate, p)) return err_nomem(err);
    }
    return 0;
}

/* {"parents": ["B"], "p": [...]}, p in the order of struct cpt */
static int read_table(struct bn *bn, const char *name, const json_t *j, nami_err *err)
{
    const json_t *parents = json_object_get(j, "parents"), *p = json_object_get(j, "p");
    size_t np = json_array_size(parents), i;
    char where[80];
    json_t *x;
    int rc, v = bn_find(bn, name, strlen(name));
    if (v < 0)
        return bad(err, "\"tables\" has '%s', but there is no such node; add it to \"nodes\"",
                   name);
    if (!json_is_array(p) || (parents && !json_is_array(parents)))
        return bad(err, "the table of '%s' must be {\"parents\": [...], \"p\": [...]}", name);
    if (np >= (size_t)bn_n(bn))
        return bad(err, "the table of '%s' has more parents than there are other nodes", name);
    int *parent = arena_array(&bn->mem, int, np);
    if (!parent) return err_nomem(err);
    snprintf(where, sizeof where, "parents of the table of '%.40s'", name);
    json_array_foreach(parents, i,
                       x) if ((parent[i] = node_at(bn, x, where, i, err)) < 0) return parent[i];
    if ((rc = bn_table(bn, v, parent, (int)np, 0, 0, err))) return rc;
    struct cpt *t = bn->node.a[v].cpt;
    if (json_array_size(p) != t->n)
        return bad(err, "the table of '%s' has %zu numbers; its states and parents need %zu", name,
                   json_array_size(p), t->n);
    json_array_foreach(p, i, x)
    {
        if (!json_is_number(x)) return bad(err, "p[%zu] of '%s' must be a number", i, name);
        t->p[i] = json_number_value(x);
    }
    return 0;
}

static int is_parent(const struct cpt *t, int u)
{
    for (int i = 0; i < t->nparent; i++)
        if (t->parent[i] == u) return 1;
    return 0;
}

static int read_tables(struct bn *bn, const json_t *tables, nami_err *err)
{
    const char *name;
    json_t *j;
    int rc;
    if (!tables) return 0;
    if (!json_is_object(tables))
        return bad(err, "\"tables\" must be an object with a table for each name");
    json_object_foreach((json_t *)tables, name,
                        j) if ((rc = read_table(bn, name, j, err))) return rc;
    for (size_t i = 0; i < bn->edge.n; i++) {
        struct edge e = bn->edge.a[i];
        const struct cpt *t = bn->node.a[e.to].cpt;
        if (t && !is_parent(t, e.from))
            return bad(err,
                       "there is an edge from '%s' to '%s', but it is not among the parents of "
                       "that table; add it or remove the edge",
                       bn_name(bn, e.from), bn_name(bn, e.to));
    }
    return 0;
}

static int read(struct bn *bn, const char *text, size_t len, nami_err *err)
{
    struct json_why e;
    int rc;
    if (len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) text += 3, len -= 3;
    if (memchr(text, 0, len)) return bad(err, "a zero byte in JSON; is this a text file?");
    json_t *root = json_read(text, len, JSON_REJECT_DUPLICATES, &e);
    if (!root) return syntax(&e, err);
    if (!json_is_object(root))
        rc = bad(err, "the JSON text must be an object, as {\"nodes\": [...], \"edges\": [...]}");
    else if (!(rc = read_graph(bn, root, err)) &&
             !(rc = read_observed(bn, json_object_get(root, "observed"), err)) &&
             !(rc = read_nuisance(bn, root, err)) &&
             !(rc = read_stages(bn, json_object_get(root, "stages"), err)) &&
             !(rc = read_plates(bn, json_object_get(root, "plates"), err)))
        rc = read_tables(bn, json_object_get(root, "tables"), err);
    json_decref(root);
    return rc;
}

/* ---- writing ------------------------------------------------------------ */

/* Other formats carry any bytes; JSON must be UTF-8. */
static int quote(struct str *out, const char *s, nami_err *err)
{
    if (!str_is_utf8(s)) return bad(err, "'%s' is not UTF-8, so JSON cannot hold it; rename it", s);
    str_quote(out, s);
    return 0;
}

static int write_node(const struct bn *bn, int v, struct str *out, nami_err *err)
{
    const struct bn_node *node = &bn->node.a[v];
    int rc;
    if (node->size == 1 && node->nstate == 0) return quote(out, bn_name(bn, v), err);
    str_put(out, "{\"name\": ");
    if ((rc = quote(out, bn_name(bn, v), err))) return rc;
    if (node->size != 1) str_printf(out, ", \"size\": %d", node->size);
    if (node->nstate && !node->state) str_printf(out, ", \"states\": %d", node->nstate);
    if (node->nstate && node->state) {
        for (int s = 0; s < node->nstate; s++) {
            str_put(out, s ? ", " : ", \"states\": [");
            if ((rc = quote(out, node->state[s], err))) return rc;
        }
        str_put(out, "]");
    }
    str_put(out, "}");
    return 0;
}

static void write_edges(const struct bn *bn, struct str *out)
{
    const char *sep = "\n";
    str_put(out, ",\n  \"edges\": [");
    for (int v = 0; v < bn_n(bn); v++)
        for_parents (&bn->dag, v, u) {
            str_printf(out, "%s    [", sep);
            str_quote(out, bn_name(bn, u));
            str_put(out, ", ");
            str_quote(out, bn_name(bn, v));
            str_put(out, "]");
            sep = ",\n";
        }
    str_put(out, *sep == ',' ? "\n  ]" : "]");
}

static void write_names(const struct bn *bn, const int *v, int n, struct str *out)
{
    str_put(out, "[");
    for (int i = 0; i < n; i++) {
        if (i) str_put(out, ", ");
        str_quote(out, bn_name(bn, v[i]));
    }
    str_put(out, "]");
}

/* "key": [...], if there is any such node */
static void write_marked(const struct bn *bn, const char *key, int observed, struct str *out)
{
    int any = 0;
    for (int v = 0; v < bn_n(bn); v++) {
        const struct bn_node *node = &bn->node.a[v];
        if (!(observed ? node->observed : node->nuisance && !node->observed)) continue;
        if (any++)
            str_put(out, ", ");
        else
            str_printf(out, ",\n  \"%s\": [", key);
        str_quote(out, bn_name(bn, v));
    }
    if (any) str_put(out, "]");
}

/* The latents sorted by stage, by counting. */
static int write_stages(const struct bn *bn, struct str *out, nami_err *err)
{
    int n = bn_n(bn), last = 0;
    for (int v = 0; v < n; v++)
        if (!bn->node.a[v].observed && bn->node.a[v].stage > last) last = bn->node.a[v].stage;
    if (last == 0) return 0;
    int *start = new_array(int, (size_t)last + 2), *by = raw_array(int, n);
    if (!start || !by) {
        free(start);
        free(by);
        return err_nomem(err);
    }
    for (int v = 0; v < n; v++)
        if (!bn->node.a[v].observed) start[bn->node.a[v].stage + 1]++;
    for (int k = 0; k <= last; k++) start[k + 1] += start[k];
    for (int v = 0; v < n; v++)
        if (!bn->node.a[v].observed) by[start[bn->node.a[v].stage]++] = v;
    for (int k = 0, i = 0; k <= last; i = start[k++]) {
        str_put(out, k ? ", " : ",\n  \"stages\": [");
        write_names(bn, by + i, start[k] - i, out);
    }
    str_put(out, "]");
    free(start);
    free(by);
    return 0;
}

static int write_plates(const struct bn *bn, struct str *out, nami_err *err)
{
    int rc;
    for (size_t i = 0; i < bn->plate.n; i++) {
        const struct bn_plate *p = &bn->plate.a[i];
        str_printf(out, "%s    {\"label\": ", i ? ",\n" : ",\n  \"plates\": [\n");
        if ((rc = quote(out, p->label ? p->label : "", err))) return rc;
        str_put(out, ", \"nodes\": ");
        write_names(bn, p->node, p->n, out);
        str_put(out, "}");
    }
    if (bn->plate.n) str_put(out, "\n  ]");
    return 0;
}

static void write_tables(const struct bn *bn, struct str *out)
{
    int any = 0;
    for (int v = 0; v < bn_n(bn); v++) {
        const struct cpt *t = bn->node.a[v].cpt;
        if (!t) continue;
        str_put(out, any++ ? ",\n    " : ",\n  \"tables\": {\n    ");
        str_quote(out, bn_name(bn, v));
        str_put(out, ": {\"parents\": ");
        write_names(bn, t->parent, t->nparent, out);
        str_put(out, ", \"p\": [");
        for (size_t i = 0; i < t->n; i++) str_printf(out, i ? ", %.17g" : "%.17g", t->p[i]);
        str_put(out, "]}");
    }
    if (any) str_put(out, "\n  }");
}

static int write(const struct bn *bn, struct str *out, nami_err *err)
{
    int rc;
    str_put(out, "{\n  \"nodes\": [");
    for (int v = 0; v < bn_n(bn); v++) {
        str_put(out, v ? ",\n    " : "\n    ");
        if ((rc = write_node(bn, v, out, err))) return rc;
    }
    str_put(out, "\n  ]");
    write_edges(bn, out);
    write_marked(bn, "observed", 1, out);
    write_marked(bn, "nuisance", 0, out);
    if ((rc = write_stages(bn, out, err)) || (rc = write_plates(bn, out, err))) return rc;
    write_tables(bn, out);
    str_put(out, "\n}\n");
    return 0;
}

const struct format format_json = {
    .name = "json",
    .what = "NaMI's own: nodes, edges, observed, stages, plates, tables",
    .ends = ".json",
    .sniff = sniff,
    .read = read,
    .write = write,
};
