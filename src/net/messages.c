/* messages.c: the kinds of terms and steps of an elimination tree: who shares networks and scales.
 */
#include "net/messages.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/unite.h"
#include "net/messages_impl.h"

void messages_free(struct messages *x)
{
    tree_free(&x->tree);
    for (int k = 0; k < x->num_kinds && x->kind; k++) vec_free(&x->kind[k].slot);
    readings_free(x);
    free(x->kind);
    free(x->term_kind);
    free(x->step_kind);
    free(x->term_at);
    free(x->step_at);
    free(x->order);
    free(x->unit);
}

/* ---- roles -------------------------------------------------------------------------- */

enum { ROLES_MOST = 8 };

/* Terms of one kind at steps of one kind, step by step. */
struct place {
    uint64_t step_kind, kind;
    int step, term;
};

static int by_place(const void *x, const void *y)
{
    const struct place *a = x, *b = y;
    if (a->step_kind != b->step_kind) return a->step_kind < b->step_kind ? -1 : 1;
    if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
    if (a->step != b->step) return a->step < b->step ? -1 : 1;
    return (a->term > b->term) - (a->term < b->term);
}

static int same_constants(const struct tree *t, int i, int j)
{
    const struct tree_term *a = &t->term[i], *b = &t->term[j];
    for (int k = 0; k < a->num_constants; k++)
        if (t->constant.a[a->first_constant + k] != t->constant.a[b->first_constant + k]) return 0;
    return 1;
}

/* Does every step have the same few terms, told apart by their constants: measurements at the same
   times, say?  Returns how many each has; or 0. */
static int count_roles(const struct tree *t, const struct place *p, int n)
{
    int each = 1, differ = 0;
    while (each < n && p[each].step == p[0].step) each++;
    if (each == n || each < 2 || each > ROLES_MOST || n % each) return 0;
    for (int i = 1; i < each; i++) differ |= !same_constants(t, p[0].term, p[i].term);
    for (int i = each; i < n && differ; i++)
        differ = p[i].step == p[i - i % each].step && (i % each || p[i].step != p[i - 1].step) &&
                 same_constants(t, p[i].term, p[i % each].term);
    return differ ? each : 0;
}

/* Such terms become kinds of their own: a step then reads them one by one, not pooled. */
static int split_roles(struct tree *t)
{
    int n = t->num_terms;
    struct place *p = raw_array(struct place, n + 1);
    if (!p) return NAMI_ENOMEM;
    for (int i = 0; i < n; i++)
        p[i] = (struct place){t->step[t->term[i].step].kind, t->term[i].kind, t->term[i].step, i};
    qsort(p, (size_t)n, sizeof *p, by_place);
    for (int i = 0, j; i < n; i = j) {
        for (j = i + 1; j < n && p[j].step_kind == p[i].step_kind && p[j].kind == p[i].kind;) j++;
        int each = count_roles(t, p + i, j - i);
        for (int k = i; k < j && each; k++)
            t->term[p[k].term].kind = mix(p[k].kind, 1 + (uint64_t)((k - i) % each));
    }
    free(p);
    return 0;
}

/* ---- kinds -------------------------------------------------------------------------- */

struct keyed {
    uint64_t key;
    int i;
};

static int by_key(const void *x, const void *y)
{
    const struct keyed *a = x, *b = y;
    if (a->key != b->key) return a->key < b->key ? -1 : 1;
    return (a->i > b->i) - (a->i < b->i);
}

static int by_first(const void *x, const void *y)
{
    return ((const struct keyed *)x)->i - ((const struct keyed *)y)->i;
}

/* Numbers equal keys from `first` on, in the order of their first occurrence; returns the next
   number, or -1. */
static int number(struct keyed *a, int n, int first, int *kind)
{
    struct keyed *lead = raw_array(struct keyed, n + 1);
    int *rank = raw_array(int, n + 1), num = 0;
    if (lead && rank) {
        qsort(a, (size_t)n, sizeof *a, by_key);
        for (int k = 0; k < n; k++)
            if (!k || a[k].key != a[k - 1].key) lead[num++] = (struct keyed){0, a[k].i};
        for (int k = 0; k < num; k++) lead[k].key = (uint64_t)k;
        qsort(lead, (size_t)num, sizeof *lead, by_first);
        for (int k = 0; k < num; k++) rank[lead[k].key] = first + k;
        for (int k = 0, at = -1; k < n; k++) {
            if (!k || a[k].key != a[k - 1].key) at++;
            kind[a[k].i] = rank[at];
        }
    }
    int ok = lead && rank;
    free(lead);
    free(rank);
    return ok ? first + num : -1;
}

static int number_all(struct messages *x)
{
    const struct tree *t = &x->tree;
    int most = t->num_terms > t->num_steps ? t->num_terms : t->num_steps;
    struct keyed *a = raw_array(struct keyed, most + 1);
    x->term_kind = raw_array(int, t->num_terms + 1);
    x->step_kind = raw_array(int, t->num_steps + 1);
    x->term_at = raw_array(int, t->num_terms + 1);
    x->step_at = raw_array(int, t->num_steps + 1);
    x->unit = new_array(int, t->num_steps + 1);
    if (!a || !x->term_kind || !x->step_kind || !x->term_at || !x->step_at || !x->unit) {
        free(a);
        return NAMI_ENOMEM;
    }
    for (int i = 0; i < t->num_terms; i++) a[i] = (struct keyed){t->term[i].kind, i};
    x->num_term_kinds = number(a, t->num_terms, 0, x->term_kind);
    for (int i = 0; i < t->num_steps; i++) a[i] = (struct keyed){t->step[i].kind, i};
    x->num_kinds =
        x->num_term_kinds < 0 ? -1 : number(a, t->num_steps, x->num_term_kinds, x->step_kind);
    free(a);
    if (x->num_kinds < 0) return x->num_kinds = 0, NAMI_ENOMEM;
    x->kind = new_array(struct message_kind, x->num_kinds + 1);
    return x->kind ? 0 : NAMI_ENOMEM;
}

/* ---- what a step pools -------------------------------------------------------------- */

static struct slot *message_slot_find(const struct message_kind *k, uint64_t key)
{
    struct slot *s = k->slot.a;
    while (s < k->slot.a + k->slot.n && s->key != key) s++;
    return s < k->slot.a + k->slot.n ? s : NULL;
}

struct slot *message_slot(struct message_kind *k, uint64_t key)
{
    struct slot *s = message_slot_find(k, key);
    if (s) return s;
    return vec_push(&k->slot, ((struct slot){.key = key})) ? NULL : &k->slot.a[k->slot.n - 1];
}

int message_count(struct messages *x, int i, uint64_t key, int kind)
{
    struct slot *s = message_slot(&x->kind[x->step_kind[i]], key);
    if (!s) return NAMI_ENOMEM;
    s->now = s->step == i + 1 ? s->now + 1 : 1;
    s->total++;
    s->kind = kind;
    s->terms = kind >= 0;
    s->step = i + 1;
    if (s->now > s->most) s->most = s->now;
    return 0;
}

/* Terms are in the order of steps: those of a step follow each other. */
static int find_slots(struct messages *x)
{
    const struct tree *t = &x->tree;
    int rc = 0;
    for (int i = 0; i < t->num_terms && !rc; i++)
        if (message_informs(x, &x->kind[x->term_kind[i]]))
            rc = message_count(x, t->term[i].step, t->term[i].kind, x->term_kind[i]);
    return rc;
}

int message_informs(const struct messages *x, const struct message_kind *k)
{
    int n = k->num_nodes;
    if (x->gathers) return n + k->num_constants > 0; /* they may differ between designs */
    for (int j = 0; j < k->num_constants; j++) n += k->sd[j] > 0;
    return n > 0;
}

static void number_terms(struct messages *x)
{
    for (int i = 0; i < x->tree.num_terms; i++) {
        struct message_kind *k = &x->kind[x->term_kind[i]];
        x->term_at[i] = k->n++;
        k->num_nodes = x->tree.term[i].num_nodes;
        k->num_constants = x->tree.term[i].num_constants;
        k->first = k->n == 1 ? i : k->first;
    }
}

/* Steps by level, and in each level in order. */
static int sort_steps(struct messages *x)
{
    const struct tree *t = &x->tree;
    x->order = raw_array(int, t->num_steps + 1);
    int *at = new_array(int, t->num_steps + 2);
    if (x->order && at) {
        for (int i = 0; i < t->num_steps; i++) at[t->step[i].level + 1]++;
        for (int l = 0; l < t->num_steps; l++) at[l + 1] += at[l];
        for (int i = 0; i < t->num_steps; i++) x->order[at[t->step[i].level]++] = i;
    }
    int ok = x->order && at;
    for (int j = 0; j < t->num_steps && ok; j++) {
        int i = x->order[j];
        struct message_kind *k = &x->kind[x->step_kind[i]];
        x->step_at[i] = k->n++;
        k->first = k->n == 1 ? i : k->first;
    }
    free(at);
    return ok ? 0 : NAMI_ENOMEM;
}

/* Kinds of steps that have a message: something was observed below some of them. */
static void find_speaking(struct messages *x)
{
    const struct tree *t = &x->tree;
    for (int k = x->num_term_kinds; k < x->num_kinds; k++)
        x->kind[k].speaks = x->kind[k].slot.n > 0;
    for (int changed = 1; changed;) {
        changed = 0;
        for (int i = 0; i < t->num_steps; i++) {
            int up = t->step[i].parent;
            if (up < 0 || !x->kind[x->step_kind[i]].speaks || x->kind[x->step_kind[up]].speaks)
                continue;
            x->kind[x->step_kind[up]].speaks = changed = 1;
        }
    }
}

/* Children are counted at their parents, whose numbers do not come in order. */
static int find_child_slots(struct messages *x)
{
    const struct tree *t = &x->tree;
    int rc = 0, *head = raw_array(int, t->num_steps + 1), *next = raw_array(int, t->num_steps + 1);
    if (!head || !next) rc = NAMI_ENOMEM;
    for (int i = 0; i < t->num_steps && !rc; i++) head[i] = -1;
    for (int i = t->num_steps - 1; i >= 0 && !rc; i--)
        if (t->step[i].parent >= 0 && x->kind[x->step_kind[i]].speaks) {
            next[i] = head[t->step[i].parent];
            head[t->step[i].parent] = i;
        }
    for (int i = 0; i < t->num_steps && !rc; i++)
        for (int c = head[i]; c >= 0 && !rc; c = next[c])
            rc = message_count(x, i, t->step[c].role, -1);
    free(head);
    free(next);
    return rc;
}

/* Sets of one member need no pool; terms that are alone everywhere no encoder. */
static void find_direct(struct messages *x)
{
    for (int k = 0; k < x->num_term_kinds; k++) x->kind[k].raw = 1;
    for (int k = x->num_term_kinds; k < x->num_kinds; k++)
        for (size_t i = 0; i < x->kind[k].slot.n; i++) {
            struct slot *s = &x->kind[k].slot.a[i];
            s->direct = s->most == 1 && s->total == x->kind[k].n;
            s->spread = s->most > 1;
            if (s->kind >= 0 && !s->direct) x->kind[s->kind].raw = 0;
        }
}

/* ---- scales of constants and of roles ----------------------------------------------- */

static int scale_constants(struct messages *x, struct arena *mem)
{
    const struct tree *t = &x->tree;
    for (int k = 0; k < x->num_term_kinds; k++) {
        struct message_kind *y = &x->kind[k];
        y->mean = arena_array(mem, double, y->num_constants + 1);
        y->sd = arena_array(mem, double, y->num_constants + 1);
        if (!y->mean || !y->sd) return NAMI_ENOMEM;
        memset(y->mean, 0, sizeof(double) * (size_t)y->num_constants);
        memset(y->sd, 0, sizeof(double) * (size_t)y->num_constants);
    }
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < t->num_terms; i++) {
            struct message_kind *y = &x->kind[x->term_kind[i]];
            const double *c = t->constant.a + t->term[i].first_constant;
            for (int j = 0; j < y->num_constants; j++)
                if (pass)
                    y->sd[j] += (c[j] - y->mean[j]) * (c[j] - y->mean[j]) / y->n;
                else
                    y->mean[j] += c[j] / y->n;
        }
    for (int k = 0; k < x->num_term_kinds; k++)
        for (int j = 0; j < x->kind[k].num_constants; j++) {
            double *sd = &x->kind[k].sd[j];
            *sd = *sd > 1e-20 * (1 + x->kind[k].mean[j] * x->kind[k].mean[j]) ? sqrt(*sd) : 0;
        }
    return 0;
}

static void unite(int *up, const struct encoding *c, int a, int b)
{
    if (c[a].kind == c[b].kind && c[a].ncoord == c[b].ncoord) set_unite(up, a, b);
}

/* Variables in one role: of a latent of a kind of steps, of its separator, of a kind of terms. */
static void unite_roles(const struct messages *x, const struct qnet *q, int *up)
{
    const struct tree *t = &x->tree;
    const struct inverse *h = q->whole;
    for (int i = 0; i < t->num_steps; i++) {
        const struct tree_step *a = &t->step[i], *b = &t->step[x->kind[x->step_kind[i]].first];
        unite(up, q->encoding, h->perm[i], h->perm[x->kind[x->step_kind[i]].first]);
        for (int j = 0; j < a->num_separator; j++)
            unite(up, q->encoding, t->separator.a[a->first_separator + j],
                  t->separator.a[b->first_separator + j]);
    }
    for (int i = 0; i < t->num_terms; i++) {
        const struct tree_term *a = &t->term[i], *b = &t->term[x->kind[x->term_kind[i]].first];
        for (int j = 0; j < a->num_nodes; j++)
            unite(up, q->encoding, t->node.a[a->first_node + j], t->node.a[b->first_node + j]);
    }
    readings_unite(x, q, unite, up);
}

/* All of one role get the mean of their means, and a standard deviation that covers them. */
int messages_scales(const struct messages *x, struct qnet *q)
{
    int nodes = bn_n(model_bn(q->model)), *up = raw_array(int, nodes + 1),
        *n = new_array(int, nodes + 1), most = 1;
    for (int v = 0; v < nodes; v++)
        if (q->encoding[v].ncoord > most) most = q->encoding[v].ncoord;
    double *sum = new_array(double, (size_t)most * 2 * (size_t)nodes + 1);
    int rc = up && n && sum ? 0 : NAMI_ENOMEM;
    for (int v = 0; v < nodes && !rc; v++) up[v] = v;
    if (!rc) unite_roles(x, q, up);
    for (int pass = 0; pass < 2 && !rc; pass++)
        for (int v = 0; v < nodes; v++) {
            const struct encoding *c = &q->encoding[v];
            int r = set_root(up, v);
            double *to = sum + (size_t)r * 2 * (size_t)most;
            n[r] += !pass;
            for (int j = 0; j < c->ncoord; j++)
                if (pass)
                    to[most + j] += c->sd[j] * c->sd[j] +
                                    (c->mean[j] - to[j] / n[r]) * (c->mean[j] - to[j] / n[r]);
                else
                    to[j] += c->mean[j];
        }
    for (int v = 0; v < nodes && !rc; v++) {
        struct encoding *c = &q->encoding[v];
        int r = set_root(up, v);
        const double *from = sum + (size_t)r * 2 * (size_t)most;
        for (int j = 0; j < c->ncoord && n[r] > 1; j++) {
            c->mean[j] = from[j] / n[r];
            c->sd[j] = sqrt(from[most + j] / n[r]);
        }
    }
    free(up);
    free(n);
    free(sum);
    return rc;
}

/* ---- open networks (kinds.h) -------------------------------------------------------- */

static uint64_t key_of(const struct messages *x, int k)
{
    int first = x->kind[k].first;
    return k < x->num_term_kinds ? x->tree.term[first].kind : x->tree.step[first].kind;
}

static int inst_of(const struct messages *x, const struct qnet *q, int k)
{
    int first = x->kind[k].first;
    return k < x->num_term_kinds ? x->tree.term[first].inst
                                 : q->encoding[q->whole->perm[first]].inst;
}

/* Sums of the constants of a kind of terms, and of their squares. */
static int gather_terms(const struct messages *x, struct kinds *table, struct kind *to, int k)
{
    const struct tree *t = &x->tree;
    if (!to->count) {
        to->num_nodes = x->kind[k].num_nodes;
        to->num_constants = x->kind[k].num_constants;
        to->mean = arena_array(&table->mem, double, to->num_constants + 1);
        to->sd = arena_array(&table->mem, double, to->num_constants + 1);
        if (!to->mean || !to->sd) return NAMI_ENOMEM;
    }
    to->count += x->kind[k].n;
    for (int i = 0; i < t->num_terms; i++)
        for (int j = 0; x->term_kind[i] == k && j < to->num_constants; j++) {
            double c = t->constant.a[t->term[i].first_constant + j];
            to->mean[j] += c;
            to->sd[j] += c * c;
        }
    return 0;
}

static struct kind_set *find_set(struct kind *k, uint64_t key)
{
    for (size_t i = 0; i < k->set.n; i++)
        if (k->set.a[i].key == key) return &k->set.a[i];
    return NULL;
}

/* A set that is not there in one design is pooled in all. */
static int gather_sets(const struct message_kind *k, struct kind *to, int sure)
{
    for (size_t i = 0; i < to->set.n; i++)
        if (!message_slot_find(k, to->set.a[i].key)) to->set.a[i].direct = 0;
    for (const struct slot *s = k->slot.a; s < k->slot.a + k->slot.n; s++) {
        struct kind_set *old = find_set(to, s->key);
        struct kind_set new = {.key = s->key, .terms = s->kind >= 0, .direct = sure};
        if (!old && vec_push(&to->set, new)) return NAMI_ENOMEM;
        if (!old) old = &to->set.a[to->set.n - 1];
        old->direct = old->direct && s->direct;
        old->spread = old->spread || s->spread;
    }
    to->speaks = to->speaks || k->speaks;
    return 0;
}

int messages_gather(const struct messages *x, const struct qnet *q, struct kinds *table)
{
    for (int k = 0; k < x->num_kinds; k++) {
        int is_step = k >= x->num_term_kinds, fresh;
        struct kind *to =
            kinds_add(table, key_of(x, k), is_step, q->model, inst_of(x, q, k), &fresh);
        if (!to) return NAMI_ENOMEM;
        if (is_step
                ? gather_sets(&x->kind[k], to, fresh && !table->gaps) || readings_gather(x, to, k)
                : gather_terms(x, table, to, k))
            return NAMI_ENOMEM;
    }
    return kinds_add_scales(table, q->model, q->encoding);
}

/* The table knows no such kind, or knows it otherwise. */
static int unknown(const struct messages *x, const struct qnet *q, int k, nami_err *err)
{
    struct str name = {0};
    inst_name(q->model, inst_of(x, q, k), &name);
    int rc = name.oom ? err_nomem(err)
                      : err_set(err, NAMI_EINPUT,
                                "%.60s stands in these data as in none of the designs that the "
                                "network was trained for: train it for such sizes and patterns",
                                name.s);
    str_free(&name);
    return rc;
}

/* What the table says of the kinds of this design. */
static int take_kinds(struct messages *x, const struct qnet *q, nami_err *err)
{
    const struct kinds *table = q->opt.kinds;
    for (int k = 0; k < x->num_kinds; k++) {
        struct message_kind *to = &x->kind[k];
        int is_step = k >= x->num_term_kinds;
        const struct kind *from = to->open = kinds_find(table, key_of(x, k), is_step);
        if (!from || (!is_step && (from->num_nodes != to->num_nodes ||
                                   from->num_constants != to->num_constants)))
            return unknown(x, q, k, err);
        to->mean = from->mean;
        to->sd = from->sd;
        to->speaks = from->speaks;
        for (size_t i = 0; i < from->set.n; i++) {
            const struct kind_set *s = &from->set.a[i];
            if (vec_push(&to->slot, ((struct slot){.key = s->key,
                                                   .kind = -1,
                                                   .terms = s->terms,
                                                   .direct = s->direct,
                                                   .spread = s->spread})))
                return err_nomem(err);
        }
    }
    return 0;
}

/* Sets that the table does not know, or that are not single as it says. */
static int check_sets(const struct messages *x, const struct qnet *q, nami_err *err)
{
    for (int k = x->num_term_kinds; k < x->num_kinds; k++) {
        const struct message_kind *y = &x->kind[k];
        if (y->slot.n != y->open->set.n) return unknown(x, q, k, err);
        for (const struct slot *s = y->slot.a; s < y->slot.a + y->slot.n; s++)
            if (s->direct && (s->most != 1 || s->total != y->n)) return unknown(x, q, k, err);
    }
    return 0;
}

const struct kind *messages_kind(const struct messages *x, const struct qnet *q, int pos)
{
    return x->kind[x->step_kind[x->tree.num_steps - q->inverse->nlatent + pos]].open;
}

static uint64_t factor_key(const struct messages *x, const struct qnet *q, int pos)
{
    return key_of(x, x->step_kind[x->tree.num_steps - q->inverse->nlatent + pos]);
}

int messages_gather_output(const struct messages *x, const struct qnet *q, struct kinds *table,
                           const struct factor *f, const struct output_dist *output)
{
    struct kind *k = kinds_find(table, factor_key(x, q, f->pos), 1);
    int n = q->encoding[f->node].ncoord;
    if (!k->output) {
        k->num_outputs = n;
        if (!(k->output = arena_array(&table->mem, struct output_dist, n + 1))) return NAMI_ENOMEM;
    }
    if (!k->output[f->coordinate].family) k->output[f->coordinate] = *output;
    return 0;
}

/* ---- factors ------------------------------------------------------------------------ */

/* Those of one kind share; parents are latents alone. */
static int share_kinds(const struct messages *x, const struct qnet *q, struct share *s)
{
    const struct tree *t = &x->tree;
    int n = q->inverse->nlatent, first = t->num_steps - n;
    int *rep = raw_array(int, x->num_kinds + 1);
    *s = (struct share){raw_array(int, n + 1), new_array(int64_t, n + 1),
                        raw_array(int, t->separator.n + 1)};
    int rc = rep && s->rep && s->off && s->parent ? 0 : NAMI_ENOMEM;
    for (int k = 0; k < x->num_kinds && !rc; k++) rep[k] = -1;
    for (int i = 0; i < n && !rc; i++) {
        const struct tree_step *y = &t->step[first + i];
        int k = x->step_kind[first + i];
        if (rep[k] < 0) rep[k] = i;
        s->rep[i] = rep[k];
        if (y->num_separator)
            memcpy(s->parent + s->off[i], t->separator.a + y->first_separator,
                   sizeof(int) * (size_t)y->num_separator);
        s->off[i + 1] = s->off[i] + y->num_separator;
    }
    free(rep);
    return rc;
}

int messages_make(struct messages *x, struct qnet *q, struct share *s, nami_err *err)
{
    int open = q->opt.kinds != NULL, fixed = open && q->opt.kinds->fixed;
    *x = (struct messages){.gathers = open && !fixed};
    unsigned char *crossed = open ? new_array(unsigned char, model_num_arrays(q->model) + 1) : NULL;
    if (open && !crossed) return err_nomem(err);
    if (open) kinds_take_crossed(q->opt.kinds, q->model, crossed);
    int rc = tree_make(&x->tree, q->model, q->whole, q->encoding, crossed, err), unread = -1;
    free(crossed);
    if (rc) return rc;
    if ((!open && split_roles(&x->tree)) || number_all(x) || sort_steps(x)) return err_nomem(err);
    number_terms(x);
    if (fixed && (rc = take_kinds(x, q, err))) return rc;
    if ((!fixed && scale_constants(x, &q->mem)) || find_slots(x)) return err_nomem(err);
    rc = readings_find(x, q, &unread);
    if (rc) return rc == NAMI_EINPUT ? unknown(x, q, unread, err) : err_nomem(err);
    if (!fixed) find_speaking(x);
    if (find_child_slots(x) || share_kinds(x, q, s)) return err_nomem(err);
    if (fixed) return check_sets(x, q, err);
    find_direct(x);
    return 0;
}

double messages_alike(const struct messages *x)
{
    return (double)(x->tree.num_terms + x->tree.num_steps) / (x->num_kinds ? x->num_kinds : 1);
}

void messages_want(const struct messages *x, const struct qnet *q, unsigned char *want)
{
    const struct tree *t = &x->tree;
    for (size_t i = 0; i < t->node.n; i++) want[t->node.a[i]] |= 2;
    for (int i = t->num_steps - q->inverse->nlatent; i < t->num_steps; i++) {
        int v = q->whole->perm[i];
        want[v] |= q->encoding[v].ncoord > 1 ? 3 : 1; /* a chain reads itself */
        for (int j = 0; j < t->step[i].num_separator + t->step[i].num_crossed; j++)
            want[t->separator.a[t->step[i].first_separator + j]] |= 2;
    }
}

int messages_unit(const struct messages *x, const struct qnet *q, int pos)
{
    return x->unit[x->tree.num_steps - q->inverse->nlatent + pos];
}
