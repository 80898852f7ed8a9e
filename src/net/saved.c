/* saved.c: the scales and output distributions of a network to and from the JSON in its file. */
#include "net/saved.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/err.h"
#include "base/json.h"
#include "base/num.h"

static const char *const kind_names[] = {
    [ENCODING_REAL] = "real", [ENCODING_STATES] = "states", [ENCODING_COUNTS] = "counts"};

/* ---- out -------------------------------------------------------------------------------- */

static void put_number(struct str *out, double x)
{
    char buf[NUM_MAX];
    str_putn(out, buf, (size_t)num_print(buf, x));
}

void saved_put_numbers(struct str *out, const char *name, int n, const double *x)
{
    str_printf(out, ",\"%s\":[", name);
    for (int i = 0; i < n; i++) {
        if (i) str_put(out, ",");
        put_number(out, x[i]);
    }
    str_put(out, "]");
}

void saved_put_output(struct str *out, const struct output_dist *h)
{
    str_printf(out, "{\"family\":\"%s\",\"size\":%d,\"fixed\":", h->family->name, h->size);
    put_number(out, h->fixed);
    saved_put_numbers(out, "shift", RECORD_ARGS, h->shift);
    saved_put_numbers(out, "scale", RECORD_ARGS, h->scale);
    str_put(out, "}");
}

const char *saved_kind_name(enum encoding_kind kind) { return kind_names[kind]; }

void saved_print(const struct qnet *q, struct str *out)
{
    str_put(out, "{\"encodings\":[");
    for (int v = 0; v < bn_n(model_bn(q->model)); v++) {
        const struct encoding *c = &q->encoding[v];
        str_put(out, v ? ",\n{\"node\":" : "\n{\"node\":");
        str_quote(out, bn_name(model_bn(q->model), v));
        str_printf(out, ",\"kind\":\"%s\"", kind_names[c->kind]);
        saved_put_numbers(out, "mean", c->ncoord, c->mean);
        saved_put_numbers(out, "sd", c->ncoord, c->sd);
        str_put(out, "}");
    }
    str_put(out, "],\n\"outputs\":[");
    for (int g = 0; g < q->ngroup; g++) {
        str_put(out, g ? ",\n" : "\n");
        saved_put_output(out, &q->group[g].output);
    }
    str_put(out, "]}");
}

/* ---- in --------------------------------------------------------------------------------- */

int saved_open(struct saved *s, const char *text, nami_err *err)
{
    struct json_why why;
    *s = (struct saved){.root = text ? json_read(text, strlen(text), 0, &why) : NULL};
    if (text && !s->root && why.code == json_error_out_of_memory) return err_nomem(err);
    s->encodings = json_object_get(s->root, "encodings");
    s->outputs = json_object_get(s->root, "outputs");
    if (json_is_array(s->encodings) && json_is_array(s->outputs)) return 0;
    return err_set(err, NAMI_EINPUT, "the file does not say how the network encodes its variables");
}

void saved_close(struct saved *s) { json_decref(s->root); }

int saved_take_numbers(const json_t *o, const char *name, int n, double *out)
{
    const json_t *a = json_object_get(o, name);
    if (!json_is_array(a) || json_array_size(a) != (size_t)n) return 0;
    for (int i = 0; i < n; i++) {
        const json_t *x = json_array_get(a, (size_t)i);
        out[i] = json_number_value(x);
        if (!json_is_number(x) || !isfinite(out[i])) return 0;
    }
    return 1;
}

int saved_encodings(const struct saved *s, struct qnet *q, nami_err *err)
{
    int nodes = bn_n(model_bn(q->model));
    if (json_array_size(s->encodings) != (size_t)nodes)
        return err_set(err, NAMI_EINPUT, "the file encodes %zu variables, but its model has %d",
                       json_array_size(s->encodings), nodes);
    for (int v = 0; v < nodes; v++) {
        struct encoding *c = &q->encoding[v];
        const json_t *o = json_array_get(s->encodings, (size_t)v);
        const char *node = json_string_value(json_object_get(o, "node")),
                   *kind = json_string_value(json_object_get(o, "kind"));
        int ok = node && kind && strcmp(node, bn_name(model_bn(q->model), v)) == 0 &&
                 strcmp(kind, kind_names[c->kind]) == 0 &&
                 saved_take_numbers(o, "mean", c->ncoord, c->mean) &&
                 saved_take_numbers(o, "sd", c->ncoord, c->sd);
        for (int k = 0; k < c->ncoord && ok; k++) ok = c->sd[k] > 0;
        if (!ok)
            return err_set(err, NAMI_EINPUT,
                           "the network encodes %.60s (%.20s) otherwise than this version of NaMI "
                           "does (%.60s, %s); train it again",
                           node ? node : "?", kind ? kind : "?", bn_name(model_bn(q->model), v),
                           kind_names[c->kind]);
    }
    return 0;
}

int saved_take_output(const json_t *o, struct output_dist *out)
{
    const json_t *size = json_object_get(o, "size"), *fixed = json_object_get(o, "fixed");
    const char *name = json_string_value(json_object_get(o, "family"));
    json_int_t n = json_integer_value(size);
    *out = (struct output_dist){.family = name ? family_find(name, strlen(name)) : NULL};
    if (!out->family || !json_is_integer(size) || n < 0 || n >= 1 << 20 || !json_is_number(fixed) ||
        !saved_take_numbers(o, "shift", RECORD_ARGS, out->shift) ||
        !saved_take_numbers(o, "scale", RECORD_ARGS, out->scale))
        return 0;
    out->size = (int)n;
    out->fixed = json_number_value(fixed);
    return 1;
}

int saved_output(const struct saved *s, int g, struct output_dist *out, nami_err *err)
{
    const json_t *o = json_array_get(s->outputs, (size_t)g);
    const char *name = json_string_value(json_object_get(o, "family"));
    if (saved_take_output(o, out)) return 0;
    return err_set(err, NAMI_EINPUT, "output distribution %d of the network, '%.40s', is not known",
                   g + 1, name ? name : "?");
}
