/* export_onnx.c: an inference network as an ONNX model of opset 17: draws from noise and data, or
   log q of given latents.

   Rows are double and units are float, as in the engine.  A row or unit is a column of a tensor
   (lanes, columns); reading some of them is a Concat of these tensors, if there are several, and a
   Gather.  The file is written as protocol buffers by hand: messages are strings in strings. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "net/export_impl.h"

/* ---- protocol buffers -------------------------------------------------------------------- */

static void put_varint(struct str *s, uint64_t x)
{
    for (; x > 127; x >>= 7) str_putn(s, (const char[]){(char)(x | 128)}, 1);
    str_putn(s, (const char[]){(char)x}, 1);
}

static void put_int(struct str *s, int field, uint64_t x)
{
    put_varint(s, (uint64_t)field << 3);
    put_varint(s, x);
}

static void put_bytes(struct str *s, int field, const char *x, size_t n)
{
    put_varint(s, (uint64_t)field << 3 | 2);
    put_varint(s, n);
    str_putn(s, x, n);
}

static void put_text(struct str *s, int field, const char *x) { put_bytes(s, field, x, strlen(x)); }

/* A message, which is freed. */
static void put_message(struct str *s, int field, struct str *x)
{
    put_bytes(s, field, x->s ? x->s : "", x->n);
    s->oom |= x->oom;
    str_free(x);
}

static void put_word(struct str *s, uint64_t x, int bytes) /* little-endian */
{
    for (int k = 0; k < bytes; k++) str_putn(s, (const char[]){(char)(x >> 8 * k)}, 1);
}

/* ---- a graph in the making --------------------------------------------------------------- */

enum { TYPE_FLOAT = 1, TYPE_INT64 = 7, TYPE_DOUBLE = 11 };    /* TensorProto.DataType */
enum { MODEL_GRAPH = 7, GRAPH_NODE = 1, GRAPH_CONSTANT = 5 }; /* fields */
enum { GRAPH_INPUT = 11, GRAPH_OUTPUT = 12, GRAPH_VALUE = 13, MODEL_METADATA = 14 };

/* Column `column` of tensor number `tensor`. */
struct place {
    int tensor, column;
};

struct graph {
    const struct exported *e;
    const struct tape *t;
    struct str node, constant;
    vec(int) width; /* of tensors: columns */
    struct place *row, *unit;
    int *value;           /* of values of the tape: their tensors */
    unsigned char *batch; /* of values: do they depend on the lane? */
    vec(int) total;       /* tensors that add to log q */
    struct {
        size_t w;
        int weight, bias;
    } * layer; /* constants of layers so far */
    size_t nlayer;
    int zero; /* (lanes, 1) of zeros */
    int oom;
};

/* A tensor is called t<number>. */
static int new_tensor(struct graph *g, int width)
{
    if (vec_push(&g->width, width)) return g->oom = 1, 0;
    return (int)g->width.n - 1;
}

static void put_name(struct str *s, int field, int tensor)
{
    struct str name = {0};
    str_printf(&name, "t%d", tensor);
    put_message(s, field, &name);
}

struct attribute {
    const char *name; /* NULL: none */
    int64_t value;
};

static void put_attribute(struct str *node, struct attribute a)
{
    struct str s = {0};
    put_text(&s, 1, a.name);
    put_int(&s, 3, (uint64_t)a.value);
    put_int(&s, 20, 2); /* INT */
    put_message(node, 5, &s);
}

static void emit_to(struct graph *g, const char *op, int n, const int *in, const char *to,
                    struct attribute a)
{
    struct str s = {0};
    for (int k = 0; k < n; k++) put_name(&s, 1, in[k]);
    put_text(&s, 2, to);
    put_text(&s, 4, op);
    if (a.name) put_attribute(&s, a);
    put_message(&g->node, GRAPH_NODE, &s);
}

static int emit_n(struct graph *g, const char *op, int n, const int *in, int width,
                  struct attribute a)
{
    struct str name = {0};
    int to = new_tensor(g, width);
    str_printf(&name, "t%d", to);
    if (!name.oom) emit_to(g, op, n, in, name.s, a);
    g->oom |= name.oom;
    str_free(&name);
    return to;
}

static const struct attribute none;

static int emit1(struct graph *g, const char *op, int a, int width)
{
    return emit_n(g, op, 1, (int[]){a}, width, none);
}

static int emit2(struct graph *g, const char *op, int a, int b, int width)
{
    return emit_n(g, op, 2, (int[]){a, b}, width, none);
}

static int cast(struct graph *g, int x, int type)
{
    return emit_n(g, "Cast", 1, (int[]){x}, g->width.a ? g->width.a[x] : 0,
                  (struct attribute){"to", type});
}

/* Constants: data are words of their type. */
static int constant(struct graph *g, int type, int num_dims, const int *dim, struct str *data,
                    int width)
{
    struct str s = {0};
    int to = new_tensor(g, width);
    for (int k = 0; k < num_dims; k++) put_int(&s, 1, (uint64_t)dim[k]);
    put_int(&s, 2, (uint64_t)type);
    put_name(&s, 8, to);
    put_message(&s, 9, data);
    put_message(&g->constant, GRAPH_CONSTANT, &s);
    return to;
}

static void put_double(struct str *s, double x)
{
    uint64_t w;
    memcpy(&w, &x, sizeof w);
    put_word(s, w, 8);
}

static void put_float(struct str *s, float x)
{
    uint32_t w;
    memcpy(&w, &x, sizeof w);
    put_word(s, w, 4);
}

static int constant_doubles(struct graph *g, int n, const double *x)
{
    struct str s = {0};
    for (int i = 0; i < n; i++) put_double(&s, x[i]);
    return constant(g, TYPE_DOUBLE, 2, (int[]){1, n}, &s, n);
}

static int constant_ints(struct graph *g, int num_dims, const int *dim, const int *x)
{
    struct str s = {0};
    int n = 1;
    for (int k = 0; k < num_dims; k++) n *= dim[k];
    for (int i = 0; i < n; i++) put_word(&s, (uint64_t)(int64_t)x[i], 8);
    return constant(g, TYPE_INT64, num_dims, dim, &s, n);
}

static int constant_int(struct graph *g, int x) { return constant_ints(g, 1, (int[]){1}, &x); }

/* ---- columns ----------------------------------------------------------------------------- */

/* All tensors of these n places side by side; at[i] becomes the column of place i. */
static int unite(struct graph *g, int n, const struct place *from, int *at)
{
    int *first = raw_array(int, g->width.n + 1), *part = raw_array(int, g->width.n + 1);
    int nparts = 0, width = 0, to = 0;
    if (!first || !part) {
        free(first);
        free(part);
        return g->oom = 1, 0;
    }
    for (size_t k = 0; k < g->width.n; k++) first[k] = -1;
    for (int i = 0; i < n; i++) {
        int x = from[i].tensor;
        if (first[x] < 0) {
            first[x] = width;
            part[nparts++] = x;
            width += g->width.a[x];
        }
        at[i] = first[x] + from[i].column;
    }
    to = nparts == 1 ? part[0]
                     : emit_n(g, "Concat", nparts, part, width, (struct attribute){"axis", 1});
    free(first);
    free(part);
    return to;
}

/* (lanes, dims...): the columns of places at[product of dims]. */
static int gather(struct graph *g, const struct place *place, int num_dims, const int *dim,
                  const int *at)
{
    int n = 1, same = 1;
    for (int k = 0; k < num_dims; k++) n *= dim[k];
    struct place *from = raw_array(struct place, n + 1);
    int *column = raw_array(int, n + 1), x = 0;
    if (!from || !column) g->oom = 1;
    for (int i = 0; i < n && !g->oom; i++) from[i] = place[at[i]];
    if (!g->oom) x = unite(g, n, from, column);
    for (int i = 0; i < n && !g->oom; i++) same &= column[i] == i;
    if (!g->oom && !(same && num_dims == 1 && g->width.a[x] == n))
        x = emit_n(g, "Gather", 2, (int[]){x, constant_ints(g, num_dims, dim, column)}, n,
                   (struct attribute){"axis", 1});
    free(from);
    free(column);
    return x;
}

/* ---- formulas ---------------------------------------------------------------------------- */

static int number(struct graph *g, double x)
{
    struct str s = {0};
    put_double(&s, x);
    return constant(g, TYPE_DOUBLE, 2, (int[]){1, 1}, &s, 1);
}

/* w = 1 + x; x if that is 1, else log(w) x / (w - 1) */
static int log1p_of(struct graph *g, int x, int n)
{
    int one = number(g, 1), w = emit2(g, "Add", x, one, n), rest = emit2(g, "Sub", w, one, n);
    int exact = emit2(g, "Equal", rest, number(g, 0), n);
    int safe = emit_n(g, "Where", 3, (int[]){exact, one, rest}, n, none);
    int v = emit2(g, "Mul", emit1(g, "Log", w, n), emit2(g, "Div", x, safe, n), n);
    return emit_n(g, "Where", 3, (int[]){exact, x, v}, n, none);
}

static int operation(struct graph *g, const struct formula_value *v, int n)
{
    const struct formula_info *op = &formula_ops[v->op];
    int in[3];
    for (int k = 0; k < op->narg; k++) in[k] = g->value[v->arg[k]];
    if (v->op == F_LOG1P) return log1p_of(g, in[0], n);
    if (v->op == F_COS)
        return emit1(g, "Sin", emit2(g, "Add", in[0], number(g, acos(-1) / 2), n), n);
    return emit_n(g, op->onnx, op->narg, in, n, none);
}

/* (lanes, n), also of what does not depend on the lane. */
static int whole(struct graph *g, const int number_of, const int n)
{
    int ones = 0, x = g->value[number_of];
    if (g->batch[number_of] && g->width.a[x] == n) return x;
    double *zero = new_array(double, n + 1);
    if (!zero) return g->oom = 1, 0;
    ones = constant_doubles(g, n, zero);
    free(zero);
    x = emit2(g, "Add", x, ones, n);
    return emit2(g, "Add", x, g->zero, n);
}

static void store(struct graph *g, const struct formula_value *v, int n)
{
    int x = whole(g, v->arg[0], n);
    struct place *to = v->place == PLACE_UNIT ? g->unit : g->row;
    if (v->place == PLACE_UNIT && !g->oom) x = cast(g, x, TYPE_FLOAT);
    for (int i = 0; i < n && !g->oom; i++) to[v->at[i]] = (struct place){x, i};
}

static int load(struct graph *g, const struct formula_value *v, int n)
{
    int unit = v->place == PLACE_UNIT;
    int x = gather(g, unit ? g->unit : g->row, 1, &n, v->at);
    return unit && !g->oom ? cast(g, x, TYPE_DOUBLE) : x;
}

/* Tensors 0 .. are the inputs: data, uniform, normal, or data, latents. */
struct inputs {
    int data, noise[NOISE_KINDS];
};

static int take_noise(struct graph *g, const struct inputs *in, const struct formula_value *v,
                      int n)
{
    return emit_n(g, "Gather", 2, (int[]){in->noise[v->place], constant_ints(g, 1, &n, v->at)}, n,
                  (struct attribute){"axis", 1});
}

static void put_formula(struct graph *g, const struct inputs *in, const struct step *s)
{
    for (int k = s->first; k < s->end && !g->oom; k++) {
        const struct formula_value *v = &g->t->value.a[k];
        int n = s->n, x;
        if (!v->used) continue;
        g->batch[k] = v->kind == VALUE_LOAD || v->kind == VALUE_NOISE;
        for (int j = 0; v->kind == VALUE_OP && j < formula_ops[v->op].narg; j++)
            g->batch[k] |= g->batch[v->arg[j]];
        switch (v->kind) {
        case VALUE_NUMBER: g->value[k] = number(g, v->number); break;
        case VALUE_TABLE: g->value[k] = constant_doubles(g, n, v->table); break;
        case VALUE_LOAD: g->value[k] = load(g, v, n); break;
        case VALUE_NOISE: g->value[k] = take_noise(g, in, v, n); break;
        case VALUE_OP: g->value[k] = operation(g, v, n); break;
        case VALUE_STORE: store(g, v, n); break;
        case VALUE_TOTAL:
            x = whole(g, v->arg[0], n);
            if (v->sign < 0) x = emit1(g, "Neg", x, n);
            if (vec_push(&g->total, x)) g->oom = 1;
            break;
        }
    }
}

/* ---- layers and pooling ------------------------------------------------------------------ */

static void find_weights(struct graph *g, const struct dense *d, int *weight, int *bias)
{
    const float *w = g->e->param + d->w;
    struct str s = {0}, b = {0};
    for (size_t k = 0; k < g->nlayer; k++)
        if (g->layer[k].w == d->w) {
            *weight = g->layer[k].weight;
            *bias = g->layer[k].bias;
            return;
        }
    for (int k = 0; k < d->in; k++) /* transposed: (in, out) */
        for (int o = 0; o < d->out; o++) put_float(&s, w[o * d->in + k]);
    for (int o = 0; o < d->out; o++) put_float(&b, w[d->in * d->out + o]);
    *weight = constant(g, TYPE_FLOAT, 2, (int[]){d->in, d->out}, &s, d->out);
    *bias = constant(g, TYPE_FLOAT, 1, (int[]){d->out}, &b, d->out);
    g->layer[g->nlayer].w = d->w;
    g->layer[g->nlayer].weight = *weight;
    g->layer[g->nlayer++].bias = *bias;
}

static int flatten(struct graph *g, int x, int width)
{
    return emit2(g, "Reshape", x, constant_ints(g, 1, (int[]){2}, (int[]){0, width}), width);
}

static void put_layer(struct graph *g, const struct dense *d)
{
    static const char *const op[NACT] = {[ACT_TANH] = "Tanh",
                                         [ACT_RELU] = "Relu",
                                         [ACT_SIGMOID] = "Sigmoid",
                                         [ACT_SOFTPLUS] = "Softplus"};
    int weight, bias, n = d->n * d->out, x;
    find_weights(g, d, &weight, &bias);
    if (d->in) {
        x = gather(g, g->unit, 2, (int[]){d->n, d->in}, d->from);
        x = emit2(g, "Add", emit2(g, "MatMul", x, weight, n), bias, n);
    } else { /* zeros (lanes, 1) become (lanes, n, 1) */
        int zeros =
            emit2(g, "Reshape", g->zero, constant_ints(g, 1, (int[]){3}, (int[]){0, 1, 1}), 1);
        int one[2] = {d->n, 1}, *zero = new_array(int, d->n + 1);
        if (!zero) {
            g->oom = 1;
            return;
        }
        int index = constant_ints(g, 1, one, zero);
        free(zero);
        x = emit_n(g, "Gather", 2, (int[]){cast(g, zeros, TYPE_FLOAT), index}, n,
                   (struct attribute){"axis", 1});
        x = emit2(g, "Add", x, bias, n);
    }
    if (op[d->act]) x = emit1(g, op[d->act], x, n);
    x = flatten(g, x, n);
    for (int i = 0; i < n && !g->oom; i++) g->unit[d->to + i] = (struct place){x, i};
}

/* The mean over axis 1 of (lanes, members, width). */
static int mean_of(struct graph *g, int x, int width)
{
    struct str s = {0}, a = {0};
    int to = new_tensor(g, width);
    put_name(&s, 1, x);
    put_name(&s, 2, to);
    put_text(&s, 4, "ReduceMean");
    put_text(&a, 1, "axes");
    put_int(&a, 8, 1);
    put_int(&a, 20, 7); /* INTS */
    put_message(&s, 5, &a);
    put_message(&g->node, GRAPH_NODE, &s);
    return to; /* (lanes, 1, width): keepdims is 1 */
}

/* One set of vectors. */
static void put_set(struct graph *g, const struct pooling *p, int i)
{
    int first = p->off[i], n = p->off[i + 1] - first, to = p->to + i * pooling_outputs(p);
    int *at = raw_array(int, (size_t)n *(size_t)p->width + 1), mean = g->zero, var = g->zero;
    double count = 0.5 * log1p((double)n);
    if (!at) {
        g->oom = 1;
        return;
    }
    for (int k = 0; k < n; k++)
        for (int j = 0; j < p->width; j++) at[k * p->width + j] = p->from[first + k] + j;
    if (n) {
        int x = cast(g, gather(g, g->unit, 2, (int[]){n, p->width}, at), TYPE_DOUBLE);
        int m = mean_of(g, x, p->width), d = emit2(g, "Sub", x, m, n * p->width);
        int v = mean_of(g, emit2(g, "Mul", d, d, n * p->width), p->width);
        v = emit1(g, "Log", emit2(g, "Add", v, number(g, POOL_VARIANCE), p->width), p->width);
        v = emit2(g, "Add", emit2(g, "Mul", v, number(g, 0.2), p->width), number(g, 0.5), p->width);
        mean = flatten(g, m, p->width);
        var = flatten(g, v, p->width);
    }
    free(at);
    int size = cast(g, emit2(g, "Add", g->zero, number(g, count), 1), TYPE_FLOAT);
    mean = cast(g, mean, TYPE_FLOAT);
    var = cast(g, var, TYPE_FLOAT);
    for (int j = 0; j < p->width && !g->oom; j++) {
        g->unit[to + j] = (struct place){mean, n ? j : 0};
        if (p->spread) g->unit[to + p->width + j] = (struct place){var, n ? j : 0};
    }
    if (!g->oom) g->unit[to + p->width * (1 + p->spread)] = (struct place){size, 0};
}

/* ---- all --------------------------------------------------------------------------------- */

static void put_dim(struct str *shape, const char *name, int n)
{
    struct str dim = {0};
    if (name)
        put_text(&dim, 2, name);
    else
        put_int(&dim, 1, (uint64_t)n);
    put_message(shape, 1, &dim);
}

/* A tensor of doubles (lanes, width), or (lanes) if width < 0. */
static void put_port(struct str *graph, int field, const char *name, const char *lanes, int width)
{
    struct str port = {0}, type = {0}, tensor = {0}, shape = {0};
    put_dim(&shape, lanes, 0);
    if (width >= 0) put_dim(&shape, NULL, width);
    put_int(&tensor, 1, TYPE_DOUBLE);
    put_message(&tensor, 2, &shape);
    put_message(&type, 1, &tensor);
    put_text(&port, 1, name);
    put_message(&port, 2, &type);
    put_message(graph, field, &port);
}

/* An input as tensor t<n>. */
static int take_input(struct graph *g, struct str *graph, const char *name, const char *lanes,
                      int width)
{
    struct str s = {0};
    int to = new_tensor(g, width);
    put_port(graph, GRAPH_INPUT, name, lanes, width);
    put_text(&s, 1, name);
    put_name(&s, 2, to);
    put_text(&s, 4, "Identity");
    put_message(&g->node, GRAPH_NODE, &s);
    return to;
}

/* Says that a tensor has a row for each draw.  Then the shapes of all that follow are known;
   without, ONNX Runtime cannot use memory again, and the time in which it looks for some that it
   might use is quadratic in the number of nodes. */
static int one_each(struct graph *g, struct str *graph, int x)
{
    char name[16];
    snprintf(name, sizeof name, "t%d", x);
    if (!g->oom) put_port(graph, GRAPH_VALUE, name, "draws", g->width.a[x]);
    return x;
}

/* Data of one set are repeated for all lanes: (lanes, 1), the number of lanes being that of x. */
static int spread(struct graph *g, struct str *graph, int data, int x)
{
    int lanes =
        emit_n(g, "Gather", 2, (int[]){emit1(g, "Shape", x, 1), constant_int(g, 0)}, 1, none);
    int shape = emit_n(g, "Concat", 2, (int[]){lanes, constant_int(g, 1)}, 2,
                       (struct attribute){"axis", 0});
    struct str s = {0};
    put_double(&s, 0);
    g->zero = emit2(g, "Expand", constant(g, TYPE_DOUBLE, 2, (int[]){1, 1}, &s, 1), shape, 1);
    one_each(g, graph, g->zero);
    if (data < 0) return data;
    return one_each(g, graph, emit2(g, "Expand", data, shape, g->width.a ? g->width.a[data] : 0));
}

static void put_columns(struct graph *g, int tensor, int n, const int *row)
{
    for (int i = 0; i < n && !g->oom; i++) g->row[row[i]] = (struct place){tensor, i};
}

static void begin(struct graph *g, struct str *graph, struct inputs *in, int rows, int density)
{
    const struct exported *e = g->e;
    const char *const noise[] = {"uniform", "normal"};
    int leading = -1, latents = -1;
    in->data = e->num_data ? take_input(g, graph, "data", "sets", e->num_data) : -1;
    for (int k = 0; k < NOISE_KINDS && !density; k++) {
        int n = (int)g->t->noise[k].n;
        in->noise[k] = n ? take_input(g, graph, noise[k], "draws", n) : -1;
        if (n) leading = in->noise[k];
    }
    if (density) leading = latents = take_input(g, graph, "latents", "draws", e->num_latents);
    in->data = spread(g, graph, in->data, leading);
    /* the sampler encodes all variables at first, also those that it draws later */
    for (int r = 0; r < rows; r++) g->row[r] = (struct place){g->zero, 0};
    if (e->num_data) put_columns(g, in->data, e->num_data, e->data);
    if (density) put_columns(g, latents, e->num_latents, e->latent);
}

/* log q, and the latents. */
static void finish(struct graph *g, struct str *graph, int density)
{
    const struct exported *e = g->e;
    int width = 0, axis = constant_int(g, 1), all;
    if (!density) {
        int z = gather(g, g->row, 1, &e->num_latents, e->latent);
        emit_to(g, "Identity", 1, &z, "latents", none);
        put_port(graph, GRAPH_OUTPUT, "latents", "draws", e->num_latents);
    }
    for (size_t k = 0; k < g->total.n && !g->oom; k++) width += g->width.a[g->total.a[k]];
    all = emit_n(g, "Concat", (int)g->total.n, g->total.a, width, (struct attribute){"axis", 1});
    emit_to(g, "ReduceSum", 2, (int[]){all, axis}, "log_q", (struct attribute){"keepdims", 0});
    put_port(graph, GRAPH_OUTPUT, "log_q", "draws", -1);
}

static void put_metadata(struct str *model, const char *key, int n, const char *const *name)
{
    struct str s = {0}, list = {0};
    str_put(&list, "[");
    for (int i = 0; i < n; i++) {
        str_put(&list, i ? "," : "");
        str_quote(&list, name[i]);
    }
    str_put(&list, "]");
    put_text(&s, 1, key);
    put_message(&s, 2, &list);
    put_message(model, MODEL_METADATA, &s);
}

static void put_model(const struct exported *e, struct str *graph, struct str *out)
{
    struct str opset = {0}, others = {0};
    put_int(out, 1, 8); /* IR version */
    put_text(out, 2, "NaMI");
    put_message(out, MODEL_GRAPH, graph);
    put_text(&opset, 1, "");
    put_int(&opset, 2, 17);
    put_message(out, 8, &opset);
    put_metadata(out, "data", e->num_data, e->data_name);
    put_metadata(out, "latents", e->num_latents, e->latent_name);
    if (!e->others.n) return;
    put_text(&others, 1, "not_included");
    put_text(&others, 2, e->others.s);
    put_message(out, MODEL_METADATA, &others);
}

static int start(struct graph *g, const struct prog *p)
{
    size_t layers = 1;
    for (size_t k = 0; k < g->t->step.n; k++) layers += g->t->step.a[k].kind == STEP_LAYER;
    g->row = new_array(struct place, p->nrow + 1);
    g->unit = new_array(struct place, p->nunit + 1);
    g->value = new_array(int, g->t->value.n + 1);
    g->batch = new_array(unsigned char, g->t->value.n + 1);
    g->layer = mem_zero(layers, sizeof *g->layer);
    return !g->row || !g->unit || !g->value || !g->batch || !g->layer;
}

static int write_graph(const struct exported *e, const struct tape *t, const struct prog *p,
                       int density, struct str *out, nami_err *err)
{
    struct graph g = {.e = e, .t = t};
    struct inputs in = {-1, {-1, -1}};
    struct str graph = {0};
    g.oom = start(&g, p);
    if (!g.oom) begin(&g, &graph, &in, p->nrow, density);
    for (size_t k = 0; k < t->step.n && !g.oom; k++) {
        const struct step *s = &t->step.a[k];
        if (s->kind == STEP_FORMULA) put_formula(&g, &in, s);
        if (s->kind == STEP_LAYER) put_layer(&g, s->layer);
        for (int i = 0; s->kind == STEP_POOL && i < s->pool->n; i++) put_set(&g, s->pool, i);
    }
    if (!g.oom) finish(&g, &graph, density);
    put_text(&graph, 2, e->name);
    if (g.node.s) str_putn(&graph, g.node.s, g.node.n);
    if (g.constant.s) str_putn(&graph, g.constant.s, g.constant.n);
    graph.oom |= g.oom | g.node.oom | g.constant.oom;
    put_model(e, &graph, out);
    str_free(&g.node);
    str_free(&g.constant);
    vec_free(&g.width);
    vec_free(&g.total);
    free(g.row);
    free(g.unit);
    free(g.value);
    free(g.batch);
    free(g.layer);
    if (out->n >> 31)
        return err_set(err, NAMI_EINPUT,
                       "an ONNX model cannot be larger than 2 GB; write C instead");
    return 0;
}

int export_onnx(const struct exported *e, struct str *out, nami_err *err)
{
    return write_graph(e, &e->draw, e->draw_prog, 0, out, err);
}

int export_onnx_density(const struct exported *e, struct str *out, nami_err *err)
{
    return write_graph(e, &e->density, &e->q->prog, 1, out, err);
}
