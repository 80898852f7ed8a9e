/* arch_messages.c: messages along the elimination tree, and a network for each kind of factors that
   reads the message of its step: the layers of both. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "net/messages_impl.h"
#include "net/white.h"

enum { HIDDEN = 64 };

/* Units of the hidden layer of a message's network. */
static int hidden_units(const struct qnet *q) { return q->opt.nhidden ? q->opt.hidden[0] : HIDDEN; }

void message_kind_name(const struct messages *x, const struct qnet *q, int kind, struct str *name)
{
    int first = x->kind[kind].first;
    int inst = kind < x->num_term_kinds ? x->tree.term[first].inst
                                        : q->encoding[q->whole->perm[first]].inst;
    if (x->kind[kind].open)
        str_put(name, x->kind[kind].open->name);
    else
        statement_name(q->model, instance_statement(q->model, inst), name);
    if (!x->kind[kind].open) str_printf(name, "#%d", kind);
}

/* "message/theta[j]": the name of a kind's weights; those of one statement are numbered. */
static void layers_name(const struct qnet *q, const struct message_kind *k, const char *what,
                        int inst, struct str *name)
{
    int again = 0;
    str_printf(name, "%s/", what);
    if (k->open) {
        str_put(name, k->open->name);
        return;
    }
    statement_name(q->model, instance_statement(q->model, inst), name);
    for (size_t b = 0; b < q->block.n && !name->oom; b++) {
        const char *other = q->block.a[b].name, *end = other + name->n;
        again += strncmp(other, name->s, name->n) == 0 && (*end == '#' || *end == '/') &&
                 strcmp(end + strcspn(end, "/"), "/1") != 0;
    }
    if (again) str_printf(name, "#%d", again + 1);
}

int message_layers(struct qnet *q, struct message_layers *y, int n, int in, int back,
                   struct str *name)
{
    int hidden = hidden_units(q);
    size_t length = name->n;
    str_put(name, "/0");
    if (!name->oom) y->hidden = net_weights(q, n, in, back, hidden, q->opt.act, name->s);
    name->n = length;
    str_put(name, "/1");
    if (!name->oom)
        y->output =
            net_weights(q, n, hidden + in, hidden + back, q->opt.message, ACT_LINEAR, name->s);
    if (y->output) q->block.a[q->block.n - 1].keeps = 1;
    return y->hidden && y->output ? 0 : NAMI_ENOMEM;
}

static int make_layers(struct qnet *q, struct message_kind *k, const char *what, int inst, int in,
                       int back)
{
    struct str name = {0};
    layers_name(q, k, what, inst, &name);
    int rc = message_layers(q, &k->layers, k->n, in, back, &name);
    str_free(&name);
    return rc;
}

void message_inputs(const struct message_layers *y, int i, const int *from)
{
    size_t in = (size_t)y->hidden->in, hidden = (size_t)y->hidden->out;
    int *to = (int *)y->output->from + (size_t)i * (hidden + in);
    memcpy((int *)y->hidden->from + (size_t)i * in, from, sizeof(int) * in);
    for (size_t u = 0; u < hidden; u++) to[u] = y->hidden->to + i * (int)hidden + (int)u;
    memcpy(to + hidden, from, sizeof(int) * in);
}

int message_emit(struct qnet *q, const struct message_layers *y, int first, int end)
{
    return net_part(q, y->hidden, first, end) || net_part(q, y->output, first, end) ? NAMI_ENOMEM
                                                                                    : 0;
}

/* ---- terms -------------------------------------------------------------------------- */

/* The features of a term: units at `to`; returns how many. */
static int put_features(const struct messages *x, const struct qnet *q, int i, int *to)
{
    const struct tree_term *y = &x->tree.term[i];
    int n = 0;
    for (int j = 0; j < y->num_nodes; j++) {
        const struct encoding *c = &q->encoding[x->tree.node.a[y->first_node + j]];
        for (int f = 0; f < c->nfeature; f++, n++)
            if (to) to[n] = c->feature + f;
    }
    return n;
}

/* Constant number j of term i, standardized. */
static double constant_of(const struct messages *x, int i, int j)
{
    const struct message_kind *k = &x->kind[x->term_kind[i]];
    return (x->tree.constant.a[x->tree.term[i].first_constant + j] - k->mean[j]) / k->sd[j];
}

/* Units of the constants of all terms of a kind: constants of the program. */
static int put_constants(struct messages *x, struct qnet *q, int kind, int constants)
{
    const struct message_kind *k = &x->kind[kind];
    int first = (int)q->prog.constant.n, unit = q->prog.nunit, n = k->n * constants, rc = 0;
    for (int i = 0; i < x->tree.num_terms && !rc; i++) {
        int *to = k->input + (size_t)x->term_at[i] * (size_t)k->num_inputs;
        for (int j = 0; x->term_kind[i] == kind && j < k->num_constants && !rc; j++)
            if (k->sd[j] > 0) {
                rc = prog_const(&q->prog, constant_of(x, i, j)) < 0 ? NAMI_ENOMEM : 0;
                *to++ = q->prog.nunit++;
            }
    }
    x->kind[kind].constant_unit = unit;
    x->kind[kind].num_constant_units = n;
    x->kind[kind].first_value = first;
    struct operand from = {.is_const = 1, .m = 1, .base = first, .si = 1};
    return rc || (n && !prog_emit_units(&q->prog, n, from, unit, 1)) ? NAMI_ENOMEM : 0;
}

/* Units of the products of constants and features, in which sums such as X'y are linear. */
static int put_products(struct messages *x, struct qnet *q, int kind, int constants, int features)
{
    const struct message_kind *k = &x->kind[kind];
    int n = k->n * constants * features, *from = arena_array(&q->prog.mem, int, n + 1);
    double *by = arena_array(&q->prog.mem, double, n + 1);
    struct scaled *s = arena_array(&q->prog.mem, struct scaled, 1);
    if (!from || !by || !s) return NAMI_ENOMEM;
    *s = (struct scaled){n, q->prog.nunit, from, by};
    for (int i = 0; i < x->tree.num_terms; i++) {
        int *in = k->input + (size_t)x->term_at[i] * (size_t)k->num_inputs + constants;
        int *to = in + features;
        for (int j = 0; x->term_kind[i] == kind && j < k->num_constants; j++)
            for (int f = 0; k->sd[j] > 0 && f < features; f++) {
                *from++ = in[f];
                *by++ = constant_of(x, i, j);
                *to++ = q->prog.nunit++;
            }
    }
    x->kind[kind].product = s;
    return prog_emit_scaled(&q->prog, s) ? 0 : NAMI_ENOMEM;
}

void messages_input(const struct messages *x, const struct qnet *q, int unit, int *from, double *by,
                    double *add)
{
    *from = unit, *by = 1, *add = 0;
    for (int i = 0; i < x->num_term_kinds && unit >= q->nfeature; i++) {
        const struct message_kind *k = &x->kind[i];
        int at = unit - k->constant_unit;
        if (k->num_constant_units && at >= 0 && at < k->num_constant_units) {
            *from = -1, *by = 0, *add = q->prog.constant.a[k->first_value + at];
            return;
        }
        at = k->product ? unit - k->product->to : -1;
        if (at >= 0 && at < k->product->n) {
            *from = k->product->from[at], *by = k->product->by[at];
            return;
        }
    }
}

/* The inputs of all terms of a kind: constants, features, products. */
static int make_inputs(struct messages *x, struct qnet *q, int kind)
{
    enum { PRODUCTS_MOST = 16, RAW_MOST = 16 };
    struct message_kind *k = &x->kind[kind];
    int features = put_features(x, q, k->first, NULL), constants = 0;
    for (int j = 0; j < k->num_constants; j++) constants += k->sd[j] > 0;
    int products = features * constants <= PRODUCTS_MOST ? features * constants : 0;
    k->num_inputs = constants + features + products;
    if (k->num_inputs > RAW_MOST) k->raw = 0;
    k->input = arena_array(&q->mem, int, (size_t)k->n *(size_t)k->num_inputs + 1);
    if (!k->input || put_constants(x, q, kind, constants)) return NAMI_ENOMEM;
    for (int i = 0; i < x->tree.num_terms; i++)
        if (x->term_kind[i] == kind)
            put_features(x, q, i,
                         k->input + (size_t)x->term_at[i] * (size_t)k->num_inputs + constants);
    return products ? put_products(x, q, kind, constants, features) : 0;
}

/* The encoder of a kind of terms, unless steps read these themselves. */
static int compile_terms(struct messages *x, struct qnet *q, int kind)
{
    struct message_kind *k = &x->kind[kind];
    if (!message_informs(x, k)) return 0;
    int rc = make_inputs(x, q, kind);
    if (rc || k->raw) return rc;
    rc = make_layers(q, k, "term", x->tree.term[k->first].inst, k->num_inputs, 0);
    for (int i = 0; i < k->n && !rc; i++)
        message_inputs(&k->layers, i, k->input + (size_t)i * (size_t)k->num_inputs);
    return rc ? rc : message_emit(q, &k->layers, 0, k->n);
}

/* ---- steps -------------------------------------------------------------------------- */

static int is_raw(const struct messages *x, const struct slot *s)
{
    return s->kind >= 0 && x->kind[s->kind].raw;
}

/* Room for the members of all sets, and for their pooled vectors. */
static int make_slots(const struct messages *x, struct qnet *q, struct message_kind *k)
{
    for (struct slot *s = k->slot.a; s < k->slot.a + k->slot.n; s++) {
        s->off = arena_array(&q->prog.mem, int, k->n + 1);
        s->from = arena_array(&q->prog.mem, int, s->total + 1);
        if (!s->off || !s->from) return NAMI_ENOMEM;
        memset(s->off, 0, sizeof(int) * ((size_t)k->n + 1));
        s->width = is_raw(x, s) ? x->kind[s->kind].num_inputs
                   : s->direct  ? q->opt.message
                                : q->opt.message * (1 + s->spread) + 1;
        s->unit = q->prog.nunit;
        if (!s->direct) q->prog.nunit += k->n * s->width;
    }
    return 0;
}

/* Calls use() for each member of each set, by unit; for raw terms, by number. */
static void each_term(struct messages *x, void (*use)(struct slot *s, int set, int unit))
{
    const struct tree *t = &x->tree;
    for (int i = 0; i < t->num_terms; i++) {
        const struct message_kind *k = &x->kind[x->term_kind[i]];
        int step = t->term[i].step, at = x->term_at[i];
        if (!message_informs(x, k)) continue;
        use(message_slot(&x->kind[x->step_kind[step]], t->term[i].kind), x->step_at[step],
            k->raw ? at : k->layers.output->to + at * k->layers.output->out);
    }
}

static void each_child(struct messages *x, void (*use)(struct slot *s, int set, int unit))
{
    const struct tree *t = &x->tree;
    for (int i = 0; i < t->num_steps; i++) {
        int up = t->step[i].parent;
        if (up >= 0 && x->kind[x->step_kind[i]].speaks)
            use(message_slot(&x->kind[x->step_kind[up]], t->step[i].role), x->step_at[up],
                x->unit[i]);
    }
}

static void count_member(struct slot *s, int set, int unit)
{
    (void)unit;
    s->off[set + 1]++;
}

/* off[set + 1] is where the set begins, until all its members are there. */
static void put_member(struct slot *s, int set, int unit) { s->from[s->off[set + 1]++] = unit; }

static void begin_sets(struct message_kind *k)
{
    for (struct slot *s = k->slot.a; s < k->slot.a + k->slot.n; s++)
        for (int i = k->n, end = s->total; i > 0; i--) s->off[i] = end -= s->off[i];
}

/* Raw inputs of step number i of its kind. */
static int *put_raw(const struct messages *x, const struct message_kind *k, int i, int *to)
{
    for (const struct slot *s = k->slot.a; s < k->slot.a + k->slot.n; s++) {
        if (!is_raw(x, s)) continue;
        const struct message_kind *of = &x->kind[s->kind];
        memcpy(to, of->input + (size_t)s->from[s->off[i]] * (size_t)of->num_inputs,
               sizeof(int) * (size_t)of->num_inputs);
        to += of->num_inputs;
    }
    return to;
}

/* Raw inputs without their correlations: a step may have to tell small differences of them. */
static int whiten(struct messages *x, struct qnet *q, struct message_kind *k)
{
    int n = k->num_raw, *from = raw_array(int, (size_t)k->n *(size_t)n + 1), *to = from;
    struct str name = {0};
    k->white = -1;
    if (q->opt.whiten && n > 1 && n <= WHITEN_MOST && from) {
        for (int i = 0; i < k->n; i++) to = put_raw(x, k, i, to);
        layers_name(q, k, "white", q->encoding[q->whole->perm[k->first]].inst, &name);
        k->white = name.oom ? -1 : net_white(q, k->n, n, from, name.s);
        if (k->white < 0) n = -1;
    }
    str_free(&name);
    int rc = from && n >= 0 ? 0 : NAMI_ENOMEM;
    free(from);
    return rc;
}

static int make_step_kind(struct messages *x, struct qnet *q, int kind)
{
    struct message_kind *k = &x->kind[kind];
    int in = 0, node = q->whole->perm[k->first];
    for (struct slot *s = k->slot.a; s < k->slot.a + k->slot.n; s++) {
        in += s->width;
        k->num_raw += is_raw(x, s) ? s->width : 0;
    }
    if (whiten(x, q, k)) return NAMI_ENOMEM;
    return in ? make_layers(q, k, "message", q->encoding[node].inst, in,
                            k->white >= 0 ? in : in - k->num_raw)
              : 0;
}

/* The pooled vectors of sets first .. end-1, then the layers of these steps. */
static int emit_steps(const struct messages *x, struct qnet *q, struct message_kind *k, int first,
                      int end, int *from)
{
    struct slot *last = k->slot.a + k->slot.n;
    for (struct slot *s = k->slot.a; s < last; s++) {
        struct pooling *p = arena_array(&q->prog.mem, struct pooling, 1);
        if (!p) return NAMI_ENOMEM;
        *p = (struct pooling){.n = end - first,
                              .width = q->opt.message,
                              .spread = s->spread,
                              .off = s->off + first,
                              .from = s->from,
                              .to = s->unit + first * s->width};
        if (!s->direct && !prog_emit_pool(&q->prog, p)) return NAMI_ENOMEM;
    }
    for (int i = first; i < end; i++) {
        int *to = from;
        for (const struct slot *s = k->slot.a; s < last; s++)
            for (int u = 0; !is_raw(x, s) && u < s->width; u++)
                *to++ = (s->direct ? s->from[s->off[i]] : s->unit + i * s->width) + u;
        put_raw(x, k, i, to); /* data come last */
        for (int u = 0; k->white >= 0 && u < k->num_raw; u++) to[u] = k->white + i * k->num_raw + u;
        message_inputs(&k->layers, i, from);
    }
    return message_emit(q, &k->layers, first, end);
}

/* Level by level, the steps of each kind together. */
static int emit_levels(struct messages *x, struct qnet *q)
{
    const struct tree *t = &x->tree;
    int *from = raw_array(int, q->prog.nunit + 1), rc = from ? 0 : NAMI_ENOMEM;
    for (int j = 0, next; j < t->num_steps && !rc; j = next) {
        int level = t->step[x->order[j]].level;
        for (next = j; next < t->num_steps && t->step[x->order[next]].level == level;) next++;
        for (int m = j; m < next && !rc; m++) {
            struct message_kind *k = &x->kind[x->step_kind[x->order[m]]];
            int first = x->step_at[x->order[m]], end = first;
            if (first < k->next || !k->layers.hidden) continue; /* with another of its level */
            for (int i = m; i < next; i++)
                if (&x->kind[x->step_kind[x->order[i]]] == k) end = x->step_at[x->order[i]] + 1;
            k->next = end;
            rc = emit_steps(x, q, k, first, end, from);
        }
    }
    free(from);
    return rc;
}

int messages_compile(struct messages *x, struct qnet *q)
{
    const struct tree *t = &x->tree;
    int rc = 0;
    for (int k = 0; k < x->num_term_kinds && !rc; k++) rc = compile_terms(x, q, k);
    for (int k = x->num_term_kinds; k < x->num_kinds && !rc; k++)
        rc = make_slots(x, q, &x->kind[k]);
    if (rc) return rc;
    each_term(x, count_member);
    each_child(x, count_member);
    rc = readings_compile(x, q);
    if (rc) return rc;
    readings_each(x, count_member);
    for (int k = x->num_term_kinds; k < x->num_kinds; k++) begin_sets(&x->kind[k]);
    each_term(x, put_member);
    readings_each(x, put_member);
    for (int k = x->num_term_kinds; k < x->num_kinds && !rc; k++) rc = make_step_kind(x, q, k);
    if (rc) return rc;
    for (int i = 0; i < t->num_steps; i++) {
        const struct message_kind *k = &x->kind[x->step_kind[i]];
        x->unit[i] =
            k->layers.output ? k->layers.output->to + x->step_at[i] * k->layers.output->out : -1;
    }
    each_child(x, put_member);
    return emit_levels(x, q);
}

/* ---- factors ------------------------------------------------------------------------ */

static int suits(const struct qnet *q, const struct group *g)
{
    (void)q, (void)g;
    return 0;
}

static int build(struct qnet *q, nami_err *err) { return mlp_build(q, &arch_messages, err); }

const struct arch arch_messages = {
    .name = "messages",
    .what = "learnt messages along the elimination tree; factors of one kind share a network",
    .shares = 1,
    .suits = suits,
    .build = build,
};
