/* label.c: parent sets, closed under intersection as far as wanted.

   All sets of the closure are intersections of parent sets, so it is enough to meet every set
   found with every parent set.  A set S that is part of the parents of k factors saves
   (k - 1) |S| inputs, which need not be read again for each of them. */
#include "net/label.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/dict.h"
#include "base/err.h"

/* A closure can be exponential.  Intersections are looked for, those of few parent sets first,
   as long as to meet them all takes no more than WORK steps: well below a second. */
enum { WORK = 1 << 27, MEET = 16 /* steps of a meeting, beside its words */ };

struct label {
    const uint64_t *bits;
    int words, size;
    int id, is_parent; /* its number among the sets found */
    int64_t served;    /* factors with this set among their parents */
};

struct maker {
    int words;        /* of a set */
    struct dict seen; /* the sets found, as strings of bits: parent sets first */
    int nparent;      /* distinct, not empty */
    int *times;       /* factors with parent set k */
    int *which;       /* factor -> its parent set; -1: empty */
    struct label *label;
    int nlabel;
};

static const uint64_t *set_of(const struct maker *mk, int k)
{
    return (const uint64_t *)(const void *)mk->seen.name.a[k];
}

/* The number of a set, which is new or not; -1: no memory. */
static int set_add(struct maker *mk, const uint64_t *bits)
{
    return dict_add(&mk->seen, (const char *)bits, sizeof *bits * (size_t)mk->words, NULL);
}

static int add_parents(struct maker *mk, const struct sets *p, uint64_t *tmp)
{
    for (int i = 0; i < p->n; i++) {
        mk->which[i] = -1;
        if (p->off[i] == p->off[i + 1]) continue;
        memset(tmp, 0, sizeof *tmp * (size_t)mk->words);
        for (int j = p->off[i]; j < p->off[i + 1]; j++)
            tmp[p->member[j] / 64] |= (uint64_t)1 << p->member[j] % 64;
        int k = set_add(mk, tmp);
        if (k < 0) return -1;
        mk->which[i] = k;
        mk->times[k]++;
    }
    mk->nparent = (int)mk->seen.name.n;
    return 0;
}

/* Meets set k with all parent sets: finds new sets, if there is room, and whom it serves. */
static int meet(struct maker *mk, int k, int room, uint64_t *tmp, int64_t *served)
{
    *served = 0;
    for (int g = 0; g < mk->nparent; g++) {
        const uint64_t *a = set_of(mk, k), *b = set_of(mk, g);
        uint64_t some = 0, less = 0;
        for (int w = 0; w < mk->words; w++) {
            some |= tmp[w] = a[w] & b[w];
            less |= tmp[w] ^ a[w];
        }
        if (!less) *served += mk->times[g];
        if (some && less && (int)mk->seen.name.n < room && set_add(mk, tmp) < 0) return -1;
    }
    return 0;
}

/* All sets, with what they are worth. */
static int add_meetings(struct maker *mk, int most, uint64_t *tmp)
{
    vec(int64_t) served = {0};
    int rc = 0;
    double room = (double)WORK / (mk->words + MEET) / (mk->nparent ? mk->nparent : 1);
    if (most <= mk->nparent || room < mk->nparent) room = mk->nparent; /* no intersections */
    for (size_t k = 0; k < mk->seen.name.n && !rc; k++) {
        int64_t s = 0;
        if (room > mk->nparent) rc = meet(mk, (int)k, (int)room, tmp, &s);
        if (!rc) rc = vec_push(&served, s);
    }
    mk->nlabel = (int)mk->seen.name.n;
    if (!rc && !(mk->label = new_array(struct label, mk->nlabel))) rc = -1;
    for (int k = 0; k < mk->nlabel && !rc; k++) {
        struct label *l = &mk->label[k];
        *l = (struct label){.bits = set_of(mk, k),
                            .words = mk->words,
                            .id = k,
                            .is_parent = k < mk->nparent,
                            .served = served.a[k]};
        for (int w = 0; w < mk->words; w++) l->size += __builtin_popcountll(l->bits[w]);
    }
    vec_free(&served);
    return rc;
}

/* Small ones first; then by the first variable in one and not in the other. */
static int by_size(const void *x, const void *y)
{
    const struct label *a = x, *b = y;
    if (a->size != b->size) return a->size < b->size ? -1 : 1;
    for (int w = 0; w < a->words; w++) {
        uint64_t d = a->bits[w] ^ b->bits[w];
        if (d) return (a->bits[w] & (d & -d)) ? -1 : 1;
    }
    return 0;
}

/* Parent sets, then what is worth most. */
static int by_worth(const void *x, const void *y)
{
    const struct label *a = x, *b = y;
    int64_t p = (a->served - 1) * a->size, q = (b->served - 1) * b->size;
    if (a->is_parent != b->is_parent) return a->is_parent ? -1 : 1;
    if (p != q) return p > q ? -1 : 1;
    return by_size(x, y);
}

static void choose(struct maker *mk, int most)
{
    size_t n = (size_t)mk->nlabel;
    if (n) qsort(mk->label, n, sizeof *mk->label, by_worth);
    if (mk->nlabel > most) mk->nlabel = most > mk->nparent ? most : mk->nparent;
    n = (size_t)mk->nlabel;
    if (n) qsort(mk->label, n, sizeof *mk->label, by_size);
}

/* ---- the result --------------------------------------------------------------------- */

static int is_subset(const struct label *a, const struct label *b)
{
    uint64_t out = 0;
    for (int w = 0; w < a->words && !out; w++) out = a->bits[w] & ~b->bits[w];
    return !out;
}

static int sets_room(struct sets *s, int n, int64_t total, nami_err *err)
{
    if (total > INT_MAX)
        return err_set(err, NAMI_ELIMIT, "the labels of a masked network have too many parts");
    s->n = n;
    s->off = new_array(int, n + 1);
    s->member = raw_array(int, total);
    return s->off && s->member ? 0 : err_nomem(err);
}

static int put_sets(const struct maker *mk, struct sets *out, nami_err *err)
{
    int64_t total = 0;
    int n = 0;
    for (int i = 0; i < mk->nlabel; i++) total += mk->label[i].size;
    int rc = sets_room(out, mk->nlabel, total, err);
    for (int i = 0; i < mk->nlabel && !rc; i++) {
        for (int w = 0; w < mk->words; w++)
            for (uint64_t b = mk->label[i].bits[w]; b; b &= b - 1)
                out->member[n++] = w * 64 + __builtin_ctzll(b);
        out->off[i + 1] = n;
    }
    return rc;
}

/* Subsets are smaller, and so come before. */
static int put_subsets(const struct maker *mk, struct sets *out, nami_err *err)
{
    vec(int) sub = {0};
    vec(size_t) end = {0};
    int rc = 0;
    for (int i = 0; i < mk->nlabel && !rc; i++) {
        for (int j = 0; j <= i && !rc; j++)
            if (is_subset(&mk->label[j], &mk->label[i])) rc = vec_push(&sub, j);
        if (rc || vec_push(&end, sub.n)) rc = err_nomem(err);
    }
    if (!rc) rc = sets_room(out, mk->nlabel, (int64_t)sub.n, err);
    for (int i = 0; i < mk->nlabel && !rc; i++) out->off[i + 1] = (int)end.a[i];
    if (!rc && sub.n) memcpy(out->member, sub.a, sizeof(int) * sub.n);
    vec_free(&sub);
    vec_free(&end);
    return rc;
}

/* A parent set is a label itself: the subsets of that. */
static int put_of(const struct maker *mk, int n, const struct sets *sub, struct sets *out,
                  nami_err *err)
{
    int *at = raw_array(int, mk->seen.name.n); /* set -> label */
    int64_t total = 0;
    int rc = at ? 0 : err_nomem(err);
    for (int l = 0; l < mk->nlabel && !rc; l++) at[mk->label[l].id] = l;
    for (int i = 0; i < n && !rc; i++)
        if (mk->which[i] >= 0) {
            int l = at[mk->which[i]];
            total += sub->off[l + 1] - sub->off[l];
        }
    if (!rc) rc = sets_room(out, n, total, err);
    for (int i = 0; i < n && !rc; i++) {
        out->off[i + 1] = out->off[i];
        if (mk->which[i] < 0) continue;
        int l = at[mk->which[i]], count = sub->off[l + 1] - sub->off[l];
        memcpy(out->member + out->off[i], sub->member + sub->off[l], sizeof(int) * (size_t)count);
        out->off[i + 1] += count;
    }
    free(at);
    return rc;
}

int labels_make(int nvar, const struct sets *parents, int most, struct labels *out, nami_err *err)
{
    struct maker mk = {.words = nvar > 64 ? (nvar - 1) / 64 + 1 : 1};
    uint64_t *tmp = new_array(uint64_t, mk.words);
    int rc = 0;
    *out = (struct labels){0};
    mk.times = new_array(int, parents->n);
    mk.which = raw_array(int, parents->n);
    if (!tmp || !mk.times || !mk.which || add_parents(&mk, parents, tmp) ||
        add_meetings(&mk, most, tmp)) {
        rc = err_nomem(err);
        goto out;
    }
    choose(&mk, most);
    rc = put_sets(&mk, &out->set, err);
    if (!rc) rc = put_subsets(&mk, &out->sub, err);
    if (!rc) rc = put_of(&mk, parents->n, &out->sub, &out->of, err);
out:
    dict_free(&mk.seen);
    free(tmp);
    free(mk.times);
    free(mk.which);
    free(mk.label);
    if (rc) labels_free(out);
    return rc;
}

void labels_free(struct labels *l)
{
    struct sets *s[] = {&l->set, &l->sub, &l->of};
    for (int i = 0; i < 3; i++) {
        free(s[i]->off);
        free(s[i]->member);
    }
    *l = (struct labels){0};
}

void labels_spread(const struct labels *l, int units, int *width)
{
    int n = l->set.n, eights = units / 8;
    for (int i = 0; i < n; i++) {
        width[i] = eights / n * 8;
        if (i >= n - eights % n) width[i] += 8;
    }
    if (n) width[n - 1] += units % 8;
}
