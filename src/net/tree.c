/* tree.c: finds the steps, terms and kinds of an elimination tree. */
#include "net/tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"

enum { DEEPEST = 1000 };

struct maker {
    struct tree *t;
    const struct model *m;
    const struct inverse *h;
    const struct encoding *encoding;
    struct reads g;
    int *seen; /* by instance: the last term that contains it, or reads through it */
    int *inst; /* by node */
    vec(uint64_t) keys;
    /* of the term in work */
    uint64_t hash;
    int mark, depth, step, latents, which; /* `which` of its latents is eliminated first */
};

void tree_free(struct tree *t)
{
    free(t->step);
    free(t->term);
    free(t->crossed);
    vec_free(&t->node);
    vec_free(&t->separator);
    vec_free(&t->latent);
    vec_free(&t->link);
    vec_free(&t->constant);
}

static int unsuited(const struct maker *k, int inst, const char *why, nami_err *err)
{
    struct str s = {0};
    inst_name(k->m, inst, &s);
    int rc = s.oom
                 ? err_nomem(err)
                 : err_set(err, NAMI_EINPUT, "messages do not suit this model: %.60s %s", s.s, why);
    str_free(&s);
    return rc;
}

static int array_of(const struct model *m, int inst)
{
    return element_array(m, instance_elements(m, inst)[0]);
}

static void put(struct maker *k, uint64_t x) { k->hash = mix(k->hash, x); }

/* ---- terms -------------------------------------------------------------------------- */

/* A random variable of the term. */
static int put_variable(struct maker *k, int inst, nami_err *err)
{
    int v = instance_node(k->m, inst), pos = k->h->pos[v];
    const struct encoding *c = &k->encoding[v];
    if (pos < 0) return unsuited(k, inst, "has no factor of its own", err);
    put(k, (uint64_t)array_of(k->m, inst));
    put(k, pos >= k->h->nlatent ? 1 + (uint64_t)c->nfeature : 0);
    if (pos >= k->h->nlatent) return vec_push(&k->t->node, v) ? err_nomem(err) : 0;
    if (k->step < 0 || pos < k->step) k->step = pos, k->which = k->latents;
    k->latents++;
    return vec_push(&k->t->latent, pos) ? err_nomem(err) : 0;
}

/* What instance i reads: random variables, through deterministic ones; constants. */
static int put_reads(struct maker *k, int i, nami_err *err)
{
    const struct reads *g = &k->g;
    size_t before = k->t->constant.n;
    int rc = 0;
    if (k->depth++ > DEEPEST)
        return unsuited(k, i, "depends on too long a chain of deterministic relations", err);
    if (reads_constants(k->m, i, &k->t->constant)) return err_nomem(err);
    put(k, (uint64_t)instance_statement(k->m, i));
    put(k, k->t->constant.n - before);
    for (size_t r = g->off[i]; r < g->off[i + 1] && !rc; r++) {
        int from = g->read[r].from, again = k->seen[from] == k->mark;
        put(k, (uint64_t)g->read[r].elem);
        put(k, (uint64_t)again);
        k->seen[from] = k->mark;
        if (!again && instance_node(k->m, from) >= 0)
            rc = put_variable(k, from, err);
        else if (!again)
            rc = put_reads(k, from, err);
    }
    k->depth--;
    return rc;
}

/* Is the observed variable at this position a parent of step i? */
static int is_parent(const struct inverse *h, int i, int pos, int count)
{
    for (int64_t r = h->ptr[i]; r < h->ptr[i + 1]; r++) {
        const struct run *x = &h->run.a[r];
        if (pos >= x->start && pos + count <= x->start + x->count) return 1;
    }
    return 0;
}

static int put_term(struct maker *k, int inst, nami_err *err)
{
    struct tree *t = k->t;
    struct tree_term x = {.inst = inst,
                          .first_node = (int)t->node.n,
                          .first_constant = (int)t->constant.n,
                          .first_latent = (int)t->latent.n};
    k->mark = inst;
    k->seen[inst] = inst;
    k->hash = 1;
    k->step = -1;
    k->latents = k->which = k->depth = 0;
    int rc = put_variable(k, inst, err);
    if (!rc) rc = put_reads(k, inst, err);
    if (rc) return rc;
    x.step = k->step;
    x.kind = mix(k->hash, (uint64_t)k->which);
    x.num_nodes = (int)t->node.n - x.first_node;
    x.num_constants = (int)t->constant.n - x.first_constant;
    x.num_latents = k->latents;
    for (int i = 0; i < k->latents; i++)
        if (vec_push(&t->link, ((struct tree_link){t->latent.a[x.first_latent + i], x.step})))
            return err_nomem(err);
    if (x.step < 0 || (!x.num_nodes && !x.num_constants)) { /* it says nothing of any latent */
        t->node.n = (size_t)x.first_node;
        t->constant.n = (size_t)x.first_constant;
        t->latent.n = (size_t)x.first_latent;
        return 0;
    }
    for (int i = 0; i < x.num_nodes; i++)
        if (!is_parent(k->h, x.step, k->h->pos[t->node.a[x.first_node + i]], 1))
            return unsuited(k, inst, "has an inverse that no message can follow", err);
    t->term[t->num_terms++] = x;
    return 0;
}

static int by_step(const void *x, const void *y)
{
    const struct tree_term *a = x, *b = y;
    if (a->step != b->step) return a->step < b->step ? -1 : 1;
    return (a->inst > b->inst) - (a->inst < b->inst);
}

static int put_terms(struct maker *k, nami_err *err)
{
    int n = model_num_instances(k->m), rc = 0;
    k->t->term = raw_array(struct tree_term, n + 1);
    if (!k->t->term) return err_nomem(err);
    for (int i = 0; i < n && !rc; i++)
        if (instance_node(k->m, i) >= 0 && k->h->pos[instance_node(k->m, i)] >= 0)
            rc = put_term(k, i, err);
    if (!rc) qsort(k->t->term, (size_t)k->t->num_terms, sizeof *k->t->term, by_step);
    return rc;
}

/* ---- steps -------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* A hash of a set. */
static uint64_t mix_keys(struct maker *k, uint64_t hash)
{
    if (k->keys.n) qsort(k->keys.a, k->keys.n, sizeof *k->keys.a, by_value);
    for (size_t i = 0; i < k->keys.n; i++)
        if (!i || k->keys.a[i] != k->keys.a[i - 1]) hash = mix(hash, k->keys.a[i]);
    return hash;
}

/* Where a latent stands in the text: the statement that defines it, the places that read it. */
static int place_of(struct maker *k, int inst, uint64_t *out)
{
    const struct reads *g = &k->g;
    k->keys.n = 0;
    for (size_t r = g->out[inst]; r < g->out[inst + 1]; r++) {
        const struct reader *x = &g->reader[r];
        uint64_t key = mix(mix(2, (uint64_t)instance_statement(k->m, x->inst)), (uint64_t)x->slot);
        key = mix(key, (uint64_t)g->read[g->off[x->inst] + (size_t)x->slot].elem);
        if (vec_push(&k->keys, key)) return NAMI_ENOMEM;
    }
    *out = mix_keys(k, mix(mix(3, (uint64_t)instance_statement(k->m, inst)),
                           (uint64_t)instance_size(k->m, inst)));
    return 0;
}

/* Those of crossed arrays come last, the others by array; and then in the order of elimination. */
static int comes_before(const struct maker *k, int v, int w)
{
    int x = array_of(k->m, k->inst[v]), y = array_of(k->m, k->inst[w]);
    if (k->t->crossed[x] != k->t->crossed[y]) return k->t->crossed[x] < k->t->crossed[y];
    return x < y || (x == y && k->h->pos[v] < k->h->pos[w]);
}

/* Latents of the separator. */
static int put_separator(struct maker *k, int i)
{
    struct tree *t = k->t;
    const struct inverse *h = k->h;
    struct tree_step *s = &t->step[i];
    s->first_separator = (int)t->separator.n;
    s->parent = -1;
    for (int64_t r = h->ptr[i]; r < h->ptr[i + 1]; r++) {
        const struct run *x = &h->run.a[r];
        for (int p = x->start; p < x->start + x->count && p < h->nlatent; p++) {
            if (vec_push(&t->separator, h->perm[p])) return NAMI_ENOMEM;
            if (s->parent < 0 || p < s->parent) s->parent = p;
        }
    }
    s->num_separator = (int)t->separator.n - s->first_separator;
    int *a = t->separator.a + s->first_separator;
    for (int j = 1; j < s->num_separator; j++) { /* runs are few, and mostly in order */
        int v = a[j], at = j;
        for (; at > 0 && comes_before(k, v, a[at - 1]); at--) a[at] = a[at - 1];
        a[at] = v;
    }
    while (s->num_separator > 0 && t->crossed[array_of(k->m, k->inst[a[s->num_separator - 1]])])
        s->num_separator--, s->num_crossed++;
    return 0;
}

/* Are the observed parents of step i among those of step j? */
static int is_within(const struct inverse *h, int i, int j)
{
    for (int64_t r = h->ptr[i]; r < h->ptr[i + 1]; r++) {
        const struct run *x = &h->run.a[r];
        for (int p = x->start, n = x->count; n > 0;) {
            int part = n;
            if (p < h->nlatent) {
                p++, n--;
                continue;
            }
            while (part > 0 && !is_parent(h, j, p, part)) part /= 2;
            if (!part) return 0;
            p += part, n -= part;
        }
    }
    return 1;
}

static int put_step(struct maker *k, int i, nami_err *err)
{
    struct tree *t = k->t;
    struct tree_step *s = &t->step[i];
    int inst = k->inst[k->h->perm[i]];
    if (place_of(k, inst, &s->kind) || put_separator(k, i)) return err_nomem(err);
    if (t->crossed[array_of(k->m, inst)]) /* it may be read at some of the places of the others */
        s->kind = mix(mix(3, (uint64_t)instance_statement(k->m, inst)),
                      (uint64_t)instance_size(k->m, inst));
    for (int j = 0; j < s->num_separator; j++)
        s->kind =
            mix(s->kind, (uint64_t)array_of(k->m, k->inst[t->separator.a[s->first_separator + j]]));
    s->role = mix(4, (uint64_t)array_of(k->m, inst));
    if (s->parent >= 0 && !is_within(k->h, i, s->parent))
        return unsuited(k, inst, "has an inverse that no message can follow", err);
    return 0;
}

/* Who gets the messages of crossed steps. */
static void pass_chains(struct maker *k)
{
    struct tree *t = k->t;
    for (int i = t->num_steps - 1; i >= 0; i--) {
        struct tree_step *s = &t->step[i];
        int array = array_of(k->m, k->inst[k->h->perm[i]]);
        s->chain = -1;
        if (s->parent < 0 || !t->crossed[array] ||
            array_of(k->m, k->inst[k->h->perm[s->parent]]) != array)
            continue;
        s->chain = s->parent;
        s->parent = t->step[s->chain].parent;
    }
}

static int put_steps(struct maker *k, nami_err *err)
{
    struct tree *t = k->t;
    int rc = 0;
    t->num_steps = k->h->nlatent;
    t->step = new_array(struct tree_step, t->num_steps + 1);
    if (!t->step) return err_nomem(err);
    for (int i = 0; i < t->num_steps && !rc; i++) rc = put_step(k, i, err);
    if (!rc) pass_chains(k);
    for (int i = 0; i < t->num_steps && !rc; i++) { /* children come before their parents */
        int up = t->step[i].parent;
        if (up >= 0 && t->step[up].level <= t->step[i].level)
            t->step[up].level = t->step[i].level + 1;
    }
    return rc;
}

/* ---- crossed arrays ----------------------------------------------------------------- */

static int by_link(const void *x, const void *y)
{
    const struct tree_link *a = x, *b = y;
    if (a->step != b->step) return a->step < b->step ? -1 : 1;
    return (a->base > b->base) - (a->base < b->base);
}

static void sort_links(struct tree *t)
{
    size_t n = 0;
    if (t->link.n) qsort(t->link.a, t->link.n, sizeof *t->link.a, by_link);
    for (size_t i = 0; i < t->link.n; i++)
        if (t->link.a[i].step >= 0 && (!n || by_link(&t->link.a[n - 1], &t->link.a[i])))
            t->link.a[n++] = t->link.a[i];
    t->link.n = n;
}

/* Latents of their own array in the separator of step i. */
static int count_own(const struct maker *k, int i)
{
    int n = 0, array = array_of(k->m, k->inst[k->h->perm[i]]);
    for (int64_t r = k->h->ptr[i]; r < k->h->ptr[i + 1]; r++) {
        const struct run *x = &k->h->run.a[r];
        for (int p = x->start; p < x->start + x->count && p < k->h->nlatent; p++)
            n += array_of(k->m, k->inst[k->h->perm[p]]) == array;
    }
    return n;
}

/* Latents of one array and place. */
struct alike {
    int array;
    uint64_t place;
};

static int by_alike(const void *x, const void *y)
{
    const struct alike *a = x, *b = y;
    if (a->array != b->array) return a->array < b->array ? -1 : 1;
    return (a->place > b->place) - (a->place < b->place);
}

static int find_crossed(struct maker *k, unsigned char *crossed, nami_err *err)
{
    int n = k->h->nlatent, arrays = model_num_arrays(k->m);
    struct alike *a = raw_array(struct alike, n + 1);
    int *most = new_array(int, arrays + 1), *alike = new_array(int, arrays + 1),
        *size = new_array(int, arrays + 1), rc = a && most && alike && size ? 0 : err_nomem(err);
    for (int i = 0; i < n && !rc; i++) {
        int inst = k->inst[k->h->perm[i]], own = count_own(k, i);
        a[i].array = array_of(k->m, inst);
        if (place_of(k, inst, &a[i].place)) rc = err_nomem(err);
        if (own > most[a[i].array]) most[a[i].array] = own;
        size[a[i].array]++;
    }
    if (!rc) qsort(a, (size_t)n, sizeof *a, by_alike);
    for (int i = 0, j; i < n && !rc; i = j) {
        for (j = i + 1; j < n && !by_alike(&a[i], &a[j]);) j++;
        if (j - i > alike[a[i].array]) alike[a[i].array] = j - i;
    }
    for (int b = 0; b < arrays && !rc; b++)
        crossed[b] =
            alike[b] >= CROSSED_LEAST && most[b] >= CROSSED_LEAST && 2 * most[b] >= size[b];
    free(a);
    free(most);
    free(alike);
    free(size);
    return rc;
}

/* ---- all ---------------------------------------------------------------------------- */

static int start(struct maker *k, nami_err *err)
{
    int n = model_num_instances(k->m), rc = reads_make(k->m, NULL, &k->g, err);
    k->seen = raw_array(int, n + 1);
    k->inst = raw_array(int, k->h->n + 1);
    if (!rc && (!k->seen || !k->inst)) rc = err_nomem(err);
    for (int i = 0; i < n && !rc; i++) {
        k->seen[i] = -1;
        if (instance_node(k->m, i) >= 0) k->inst[instance_node(k->m, i)] = i;
    }
    return rc;
}

static void finish(struct maker *k)
{
    reads_free(&k->g);
    vec_free(&k->keys);
    free(k->seen);
    free(k->inst);
}

int tree_find_crossed(const struct model *m, const struct inverse *h, unsigned char *crossed,
                      nami_err *err)
{
    struct maker k = {.m = m, .h = h};
    int rc = start(&k, err);
    if (!rc) rc = find_crossed(&k, crossed, err);
    finish(&k);
    return rc;
}

int tree_make(struct tree *t, const struct model *m, const struct inverse *h,
              const struct encoding *encoding, const unsigned char *crossed, nami_err *err)
{
    struct maker k = {.t = t, .m = m, .h = h, .encoding = encoding};
    size_t arrays = (size_t)model_num_arrays(m);
    *t = (struct tree){.crossed = new_array(unsigned char, arrays + 1)};
    int rc = start(&k, err);
    if (!rc && !t->crossed) rc = err_nomem(err);
    if (!rc && crossed) memcpy(t->crossed, crossed, arrays);
    if (!rc && !crossed) rc = find_crossed(&k, t->crossed, err);
    if (!rc) rc = put_terms(&k, err);
    if (!rc) rc = put_steps(&k, err);
    if (!rc) sort_links(t);
    finish(&k);
    if (rc) {
        tree_free(t);
        *t = (struct tree){0};
    }
    return rc;
}
