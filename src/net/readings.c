/* readings.c: crossed effects in networks with messages: who reads which terms again, with the
   values of latents that are known; the layers of that. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "net/messages_impl.h"

void readings_free(struct messages *x)
{
    for (size_t r = 0; r < x->reading.n; r++) {
        vec_free(&x->reading.a[r].pair);
        vec_free(&x->reading.a[r].part);
    }
    vec_free(&x->reading);
    free(x->context);
    free(x->arrays);
}

static int first_learnt(const struct messages *x, const struct qnet *q)
{
    return x->tree.num_steps - q->inverse->nlatent;
}

static int array_of_step(const struct qnet *q, int i)
{
    int inst = q->encoding[q->whole->perm[i]].inst;
    return element_array(q->model, instance_elements(q->model, inst)[0]);
}

static int pool_width(const struct qnet *q) { return 2 * q->opt.message + 1; }

/* ---- who reads what ------------------------------------------------------------------- */

static uint64_t step_key(const struct messages *x, int kind)
{
    return x->tree.step[x->kind[kind].first].kind;
}

static struct reading *find_reading(struct messages *x, int kind, uint64_t key, int late)
{
    for (size_t r = 0; r < x->reading.n; r++) {
        struct reading *y = &x->reading.a[r];
        if (y->kind == kind && y->key == key && y->late == late) return y;
    }
    return NULL;
}

static int add_reading(struct messages *x, int kind, uint64_t key, int of, int late)
{
    struct reading new = {.kind = kind, .key = key, .of = of, .late = late};
    return vec_push(&x->reading, new) ? NAMI_ENOMEM : 0;
}

static int has_terms(const struct message_kind *k)
{
    for (const struct slot *s = k->slot.a; s < k->slot.a + k->slot.n; s++)
        if (s->terms) return 1;
    return 0;
}

/* Step i reads step j: with latents, for its factor (late), or without, for its message. */
static int add_pair(struct messages *x, int i, int j, int late, int fixed)
{
    int kind = x->step_kind[i], of = x->step_kind[j];
    uint64_t key = step_key(x, of);
    struct reading *y = find_reading(x, kind, key, late);
    if (!y && late && fixed) return NAMI_EINPUT;
    if (!y && add_reading(x, kind, key, of, late)) return NAMI_ENOMEM;
    if (!y) y = &x->reading.a[x->reading.n - 1];
    y->of = of;
    if (vec_push(&y->pair, ((struct pair){i, j}))) return NAMI_ENOMEM;
    return late ? 0 : message_count(x, i, reading_slot(key), -1);
}

static int find_contexts(struct messages *x, const struct qnet *q, int fixed)
{
    const struct tree *t = &x->tree;
    for (int i = first_learnt(x, q); i < t->num_steps && !fixed; i++)
        if (t->step[i].num_crossed || t->crossed[array_of_step(q, i)])
            x->kind[x->step_kind[i]].context = 1;
    for (int a = 0; a < model_num_arrays(q->model); a++) x->num_crossed += t->crossed[a];
    if (!x->num_crossed) return 0;
    x->context = new_array(struct context, x->num_crossed);
    x->arrays = raw_array(int, x->num_crossed);
    if (!x->context || !x->arrays) return NAMI_ENOMEM;
    for (int a = 0, n = 0; a < model_num_arrays(q->model); a++)
        if (t->crossed[a]) x->arrays[n++] = a;
    return 0;
}

/* What the table of an open network has. */
static int take_readings(struct messages *x)
{
    for (int k = x->num_term_kinds; k < x->num_kinds; k++) {
        const struct kind *open = x->kind[k].open;
        x->kind[k].context = open->context;
        for (size_t r = 0; r < open->reading.n; r++) {
            int of = x->num_kinds - 1;
            while (of >= x->num_term_kinds && step_key(x, of) != open->reading.a[r]) of--;
            if (add_reading(x, k, open->reading.a[r], of >= x->num_term_kinds ? of : -1, 1))
                return NAMI_ENOMEM;
        }
    }
    return 0;
}

int readings_find(struct messages *x, const struct qnet *q, int *unknown)
{
    const struct tree *t = &x->tree;
    int fixed = q->opt.kinds && q->opt.kinds->fixed, rc = find_contexts(x, q, fixed);
    if (!rc && fixed) rc = take_readings(x);
    for (size_t l = 0; l < t->link.n && !rc && x->num_crossed; l++) {
        int i = t->link.a[l].step, j = t->link.a[l].base;
        if (!has_terms(&x->kind[x->step_kind[j]])) continue;
        if (i != j && t->crossed[array_of_step(q, i)]) rc = add_pair(x, i, j, 0, fixed);
        if (!rc && i >= first_learnt(x, q) && x->kind[x->step_kind[i]].context)
            rc = add_pair(x, i, j, 1, fixed);
        *unknown = x->step_kind[i];
    }
    return rc;
}

int readings_gather(const struct messages *x, struct kind *to, int kind)
{
    to->context = to->context || x->kind[kind].context;
    for (size_t r = 0; r < x->reading.n; r++) {
        const struct reading *y = &x->reading.a[r];
        size_t i = 0;
        if (y->kind != kind || !y->late) continue;
        while (i < to->reading.n && to->reading.a[i] != y->key) i++;
        if (i == to->reading.n && vec_push(&to->reading, y->key)) return NAMI_ENOMEM;
    }
    return 0;
}

void readings_unite(const struct messages *x, const struct qnet *q,
                    void (*unite)(int *up, const struct encoding *encoding, int a, int b), int *up)
{
    const struct tree *t = &x->tree;
    const int *perm = q->whole->perm;
    for (int c = 0; c < x->num_crossed; c++)
        for (int i = 0, first = -1; i < t->num_steps; i++) {
            if (array_of_step(q, i) != x->arrays[c]) continue;
            if (first < 0) first = i;
            unite(up, q->encoding, perm[i], perm[first]);
        }
    for (int i = 0; i < t->num_terms && x->num_crossed; i++) {
        const struct tree_term *a = &t->term[i], *b = &t->term[x->kind[x->term_kind[i]].first];
        for (int j = 0; j < a->num_latents; j++)
            unite(up, q->encoding, perm[t->latent.a[a->first_latent + j]],
                  perm[t->latent.a[b->first_latent + j]]);
    }
}

/* ---- pools ------------------------------------------------------------------------------ */

/* n sets of at most `total` members in all, whose pooled vectors are units from here on. */
static int make_sets(struct qnet *q, struct sets *s, int n, size_t total)
{
    s->n = n;
    s->off = arena_array(&q->prog.mem, int, n + 1);
    s->from = arena_array(&q->prog.mem, int, total + 1);
    s->unit = q->prog.nunit;
    q->prog.nunit += n * pool_width(q);
    if (!s->off || !s->from) return NAMI_ENOMEM;
    s->off[0] = 0;
    return 0;
}

/* Sets are filled one after the other. */
static void put_member(struct sets *s, int set, int unit) { s->from[s->off[set + 1]++] = unit; }
static void begin_set(struct sets *s, int set) { s->off[set + 1] = s->off[set]; }

static int emit_sets(struct qnet *q, const struct sets *s, int late)
{
    struct pooling *p = arena_array(&q->prog.mem, struct pooling, 1);
    if (!p) return NAMI_ENOMEM;
    *p = (struct pooling){s->n, q->opt.message, 1, s->off, s->from, s->unit};
    if (!s->n) return 0;
    if (late && vec_push(&q->late, ((struct late_pool){p, q->block.n}))) return NAMI_ENOMEM;
    return prog_emit_pool(&q->prog, p) ? 0 : NAMI_ENOMEM;
}

static int *put_pooled(const struct qnet *q, const struct sets *s, int i, int *to)
{
    for (int u = 0; u < pool_width(q); u++) *to++ = s->unit + i * pool_width(q) + u;
    return to;
}

/* ---- terms, again ----------------------------------------------------------------------- */

/* What is read of the terms of step i. */
struct work {
    struct messages *x;
    struct qnet *q;
    int *first;  /* by step: its first term */
    int *reader; /* by position: the step + 1 whose separator has this latent */
    int *from;   /* the inputs of an instance */
};

static void mark_separator(struct work *w, int i)
{
    const struct tree_step *s = &w->x->tree.step[i];
    for (int j = 0; j < s->num_separator + s->num_crossed; j++)
        w->reader[w->q->whole->pos[w->x->tree.separator.a[s->first_separator + j]]] = i + 1;
}

/* Latents of a term other than that of its step; late: their features, and whether they are
   known.  Whether it is the reader's own.  Returns how many inputs; to: or NULL. */
static int put_latents(const struct work *w, int term, int i, int late, int *to)
{
    const struct tree *t = &w->x->tree;
    const struct tree_term *y = &t->term[term];
    int n = 0, zero = w->x->zero;
    for (int j = 0; j < y->num_latents; j++) {
        int pos = t->latent.a[y->first_latent + j];
        const struct encoding *c = &w->q->encoding[w->q->whole->perm[pos]];
        int known = late && w->reader[pos] == i + 1;
        if (pos == y->step) continue;
        for (int f = 0; late && f < c->nfeature; f++, n++)
            if (to) to[n] = known ? c->feature + f : zero;
        if (late && to) to[n] = zero + known;
        n += late;
        if (to) to[n] = zero + (pos == i);
        n++;
    }
    return n;
}

static int contains(const struct tree *t, int term, int i)
{
    const struct tree_term *y = &t->term[term];
    for (int j = 0; j < y->num_latents; j++)
        if (t->latent.a[y->first_latent + j] == i) return 1;
    return 0;
}

static void name_layers(const struct work *w, const struct reading *r, int term, struct str *name)
{
    str_put(name, r->late ? "read/" : "meet/");
    message_kind_name(w->x, w->q, r->kind, name);
    str_put(name, "/");
    message_kind_name(w->x, w->q, r->of, name);
    if (term >= 0) str_put(name, "/");
    if (term >= 0) message_kind_name(w->x, w->q, term, name);
}

/* Terms of one kind at the steps that are read: an encoder, and two sets for each reading. */
static int compile_part(struct work *w, const struct reading *r, struct reading_part *part)
{
    struct messages *x = w->x;
    const struct tree *t = &x->tree;
    int n = 0, pairs = (int)r->pair.n, kind = part->kind, late = r->late, at = 0;
    for (int p = 0; p < pairs && kind >= 0; p++)
        for (int i = w->first[r->pair.a[p].base]; i < w->first[r->pair.a[p].base + 1]; i++)
            n += x->term_kind[i] == kind;
    if (make_sets(w->q, &part->own, pairs, (size_t)n) ||
        make_sets(w->q, &part->other, pairs, (size_t)n))
        return NAMI_ENOMEM;
    if (n) {
        struct str name = {0};
        int in = x->kind[kind].num_inputs + put_latents(w, x->kind[kind].first, -2, late, NULL);
        name_layers(w, r, kind, &name);
        int rc = message_layers(w->q, &part->layers, n, in, 0, &name);
        str_free(&name);
        if (rc) return rc;
    }
    for (int p = 0; p < pairs; p++) {
        int step = r->pair.a[p].step, base = r->pair.a[p].base;
        begin_set(&part->own, p);
        begin_set(&part->other, p);
        if (late) mark_separator(w, step);
        for (int i = w->first[base]; i < w->first[base + 1] && n; i++) {
            const struct message_kind *k = &x->kind[kind];
            if (x->term_kind[i] != kind) continue;
            memcpy(w->from, k->input + (size_t)x->term_at[i] * (size_t)k->num_inputs,
                   sizeof(int) * (size_t)k->num_inputs);
            put_latents(w, i, step, late, w->from + k->num_inputs);
            message_inputs(&part->layers, at, w->from);
            put_member(contains(t, i, step) ? &part->own : &part->other, p,
                       part->layers.output->to + at * part->layers.output->out);
            at++;
        }
    }
    if (n && message_emit(w->q, &part->layers, 0, n)) return NAMI_ENOMEM;
    return emit_sets(w->q, &part->own, late) || emit_sets(w->q, &part->other, late) ? NAMI_ENOMEM
                                                                                    : 0;
}

/* ---- readings --------------------------------------------------------------------------- */

static int find_parts(struct messages *x, struct reading *r)
{
    const struct message_kind *of = &x->kind[r->of];
    for (const struct slot *s = of->slot.a; s < of->slot.a + of->slot.n; s++)
        if (s->terms && vec_push(&r->part, ((struct reading_part){.kind = s->kind})))
            return NAMI_ENOMEM;
    return 0;
}

static int compile_reading(struct work *w, struct reading *r)
{
    struct messages *x = w->x;
    struct qnet *q = w->q;
    int n = (int)r->pair.n, rc = 0;
    if (r->of < 0 || !n) return 0;
    rc = find_parts(x, r);
    for (size_t p = 0; p < r->part.n && !rc; p++) rc = compile_part(w, r, &r->part.a[p]);
    if (rc) return rc;
    int speaks = r->late && x->kind[r->of].speaks;
    int in = 2 * (int)r->part.n * pool_width(q) + (speaks ? q->opt.message : 0);
    struct str name = {0};
    name_layers(w, r, -1, &name);
    int *from = raw_array(int, in + 1);
    rc = from ? message_layers(q, &r->layers, n, in, in, &name) : NAMI_ENOMEM;
    for (int p = 0; p < n && !rc; p++) {
        int *to = from;
        for (size_t k = 0; k < r->part.n; k++) {
            to = put_pooled(q, &r->part.a[k].own, p, to);
            to = put_pooled(q, &r->part.a[k].other, p, to);
        }
        for (int u = 0; speaks && u < q->opt.message; u++) *to++ = x->unit[r->pair.a[p].base] + u;
        message_inputs(&r->layers, p, from);
    }
    str_free(&name);
    free(from);
    return rc ? rc : message_emit(q, &r->layers, 0, n);
}

static int widest_term(const struct work *w)
{
    int most = 0;
    for (int k = 0; k < w->x->num_term_kinds; k++) {
        int n = w->x->kind[k].num_inputs + put_latents(w, w->x->kind[k].first, -2, 1, NULL);
        if (n > most) most = n;
    }
    return most;
}

static int compile_readings(struct messages *x, struct qnet *q, int late)
{
    const struct tree *t = &x->tree;
    struct work w = {.x = x, .q = q};
    int rc = 0;
    w.first = raw_array(int, t->num_steps + 2);
    w.reader = new_array(int, t->num_steps + 1);
    w.from = raw_array(int, widest_term(&w) + 1);
    if (!w.first || !w.reader || !w.from) rc = NAMI_ENOMEM;
    for (int s = 0, i = 0; s <= t->num_steps && !rc; s++) {
        while (i < t->num_terms && t->term[i].step < s) i++;
        w.first[s] = i;
    }
    for (size_t r = 0; r < x->reading.n && !rc; r++)
        if (x->reading.a[r].late == late) rc = compile_reading(&w, &x->reading.a[r]);
    free(w.first);
    free(w.reader);
    free(w.from);
    return rc;
}

int readings_compile(struct messages *x, struct qnet *q)
{
    if (!x->num_crossed) return 0;
    x->zero = q->prog.nunit;
    int zero = prog_const(&q->prog, 0), one = prog_const(&q->prog, 1);
    struct operand from = {.is_const = 1, .m = 1, .base = zero, .si = 1};
    q->prog.nunit += 2;
    if (zero < 0 || one < 0 || !prog_emit_units(&q->prog, 2, from, x->zero, 1)) return NAMI_ENOMEM;
    return compile_readings(x, q, 0);
}

void readings_each(struct messages *x, void (*use)(struct slot *s, int set, int unit))
{
    for (size_t r = 0; r < x->reading.n; r++) {
        const struct reading *y = &x->reading.a[r];
        for (size_t p = 0; p < y->pair.n && !y->late; p++) {
            int step = y->pair.a[p].step;
            use(message_slot(&x->kind[x->step_kind[step]], reading_slot(y->key)), x->step_at[step],
                y->layers.output->to + (int)p * y->layers.output->out);
        }
    }
}

/* ---- what factors read ------------------------------------------------------------------ */

/* Readings of the steps of a kind, step by step. */
static int pool_readings(struct messages *x, struct qnet *q, struct reading *r)
{
    int n = x->kind[r->kind].n;
    if (make_sets(q, &r->set, n, r->pair.n)) return NAMI_ENOMEM;
    for (int i = 0; i < n; i++) r->set.off[i + 1] = 0;
    for (size_t p = 0; p < r->pair.n; p++) r->set.off[x->step_at[r->pair.a[p].step] + 1]++;
    for (int i = 0; i < n; i++) r->set.off[i + 1] += r->set.off[i];
    for (size_t p = r->pair.n; p-- > 0;) { /* from the end, off[i + 1] comes down to its begin */
        int *at = &r->set.off[x->step_at[r->pair.a[p].step] + 1];
        r->set.from[--*at] = r->layers.output->to + (int)p * r->layers.output->out;
    }
    for (int i = 0; i < n; i++) r->set.off[i] = r->set.off[i + 1];
    r->set.off[n] = (int)r->pair.n;
    return emit_sets(q, &r->set, 1);
}

/* The encoder of the latents of a crossed array. */
static int encode_latents(struct messages *x, struct qnet *q, int c)
{
    const struct tree *t = &x->tree;
    int n = 0, in = 0, rc = 0, *from = NULL;
    struct context *y = &x->context[c];
    y->at = arena_array(&q->mem, int, t->num_steps + 1);
    if (!y->at) return NAMI_ENOMEM;
    for (int i = 0; i < t->num_steps; i++) {
        int is = i >= first_learnt(x, q) && array_of_step(q, i) == x->arrays[c];
        y->at[i] = is ? n++ : -1;
        if (is) in = q->encoding[q->whole->perm[i]].nfeature;
    }
    struct str name = {0};
    str_printf(&name, "separator/%s", array_name(q->model, x->arrays[c]));
    if (n) rc = message_layers(q, &y->layers, n, in, 0, &name);
    if (n && !rc && !(from = raw_array(int, in + 1))) rc = NAMI_ENOMEM;
    for (int i = 0; i < t->num_steps && !rc && n; i++) {
        if (y->at[i] < 0) continue;
        for (int f = 0; f < in; f++) from[f] = q->encoding[q->whole->perm[i]].feature + f;
        message_inputs(&y->layers, y->at[i], from);
        y->at[i] = y->layers.output->to + y->at[i] * y->layers.output->out;
    }
    free(from);
    str_free(&name);
    return rc || !n ? rc : message_emit(q, &y->layers, 0, n);
}

static int next_of_kind(const struct messages *x, int *j, int kind)
{
    while (*j < x->tree.num_steps && x->step_kind[x->order[*j]] != kind) ++*j;
    return *j < x->tree.num_steps ? x->order[(*j)++] : -1;
}

/* The latents of a crossed array in the separators of the steps of a kind. */
static int pool_separators(struct messages *x, struct qnet *q, int kind, int c)
{
    const struct tree *t = &x->tree;
    struct sets *to = &x->kind[kind].separator[c];
    size_t total = 0;
    for (int j = 0, i; (i = next_of_kind(x, &j, kind)) >= 0;)
        total += (size_t)t->step[i].num_crossed;
    if (make_sets(q, to, x->kind[kind].n, total)) return NAMI_ENOMEM;
    for (int j = 0, i, set = 0; (i = next_of_kind(x, &j, kind)) >= 0; set++) {
        const struct tree_step *s = &t->step[i];
        begin_set(to, set);
        for (int k = s->num_separator; k < s->num_separator + s->num_crossed; k++) {
            int at = q->whole->pos[t->separator.a[s->first_separator + k]];
            if (x->context[c].at[at] >= 0) put_member(to, set, x->context[c].at[at]);
        }
    }
    return emit_sets(q, to, 1);
}

/* The messages of the crossed steps that lead to those of a kind. */
static int pool_chains(struct messages *x, struct qnet *q, int kind)
{
    const struct tree *t = &x->tree;
    struct sets *to = &x->kind[kind].before;
    int n = x->kind[kind].n, total = 0;
    int *at = new_array(int, n + 2);
    for (int i = 0; i < t->num_steps && at; i++)
        for (int c = t->step[i].chain; c >= 0; c = t->step[c].chain)
            if (x->step_kind[c] == kind && x->unit[i] >= 0) at[x->step_at[c] + 1]++, total++;
    int rc = at ? make_sets(q, to, n, (size_t)total) : NAMI_ENOMEM;
    for (int i = 0; i < n && !rc; i++) to->off[i + 1] = at[i + 1] += at[i];
    for (int i = 0; i < t->num_steps && !rc; i++)
        for (int c = t->step[i].chain; c >= 0; c = t->step[c].chain)
            if (x->step_kind[c] == kind && x->unit[i] >= 0)
                to->from[at[x->step_at[c]]++] = x->unit[i];
    free(at);
    return rc ? rc : emit_sets(q, to, 1);
}

int messages_compile_context(struct messages *x, struct qnet *q)
{
    int rc = x->num_crossed ? compile_readings(x, q, 1) : 0;
    for (int c = 0; c < x->num_crossed && !rc; c++) rc = encode_latents(x, q, c);
    for (size_t r = 0; r < x->reading.n && !rc; r++)
        if (x->reading.a[r].late) rc = pool_readings(x, q, &x->reading.a[r]);
    for (int k = x->num_term_kinds; k < x->num_kinds && !rc; k++) {
        struct message_kind *y = &x->kind[k];
        if (!y->context) continue;
        if (!(y->separator = arena_array(&q->mem, struct sets, x->num_crossed + 1)))
            return NAMI_ENOMEM;
        for (int c = 0; c < x->num_crossed && !rc; c++) rc = pool_separators(x, q, k, c);
        if (!rc && x->tree.crossed[array_of_step(q, y->first)]) rc = pool_chains(x, q, k);
    }
    return rc;
}

int messages_context(const struct messages *x, const struct qnet *q, int pos, int *to)
{
    int i = first_learnt(x, q) + pos, kind = x->step_kind[i], at = x->step_at[i], n = 0;
    const struct message_kind *k = &x->kind[kind];
    if (x->gathers || !k->context) return 0;
    for (size_t r = 0; r < x->reading.n; r++)
        if (x->reading.a[r].kind == kind && x->reading.a[r].late) {
            if (to) to = put_pooled(q, &x->reading.a[r].set, at, to);
            n++;
        }
    for (int c = 0; c < x->num_crossed; c++, n++)
        if (to) to = put_pooled(q, &k->separator[c], at, to);
    if (x->tree.crossed[array_of_step(q, i)]) {
        if (to) put_pooled(q, &k->before, at, to);
        n++;
    }
    return n * pool_width(q);
}
