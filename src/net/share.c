/* share.c: finds the factors that can share a network.

   Two factors share if the regions that determine their p(v | parents) are isomorphic: then both
   are the same function of their parents, each in its role. */
#include "net/share.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "net/region.h"

/* Factors whose regions look alike form at most CLASSES classes, until GIVE_UP fit none in a row.
   All may take WORK steps, and WORK_EACH for every instance: about a second; one region, a PART
   of that. */
enum { CLASSES = 4, GIVE_UP = 64, WORK = 1 << 26, WORK_EACH = 1024, PART = 32 };

struct factor {
    uint64_t hash;
    int i;
};

struct sharing {
    struct reads g;
    struct match match;
    struct factor *factor;
    int *var;          /* factor -> instance */
    int *role;         /* of the largest parent set */
    struct share *out; /* its parents are instances meanwhile */
    int in_a;          /* the factor whose region is match.a; -1 */
    int64_t work, part;
};

static int by_hash(const void *x, const void *y)
{
    const struct factor *a = x, *b = y;
    if (a->hash != b->hash) return a->hash < b->hash ? -1 : 1;
    return (a->i > b->i) - (a->i < b->i);
}

static int find(struct sharing *s, struct region *r, int i)
{
    const struct share *o = s->out;
    int64_t part = s->part < s->work ? s->part : s->work, left = part;
    int ok = region_find(r, s->var[i], o->parent + o->off[i], o->off[i + 1] - o->off[i], &left);
    s->work -= part - left;
    return ok;
}

/* Can factor j share with factor i?  Then its parents are put in order. */
static int try(struct sharing *s, int i, int j)
{
    struct share *o = s->out;
    struct match *m = &s->match;
    int64_t n = o->off[j + 1] - o->off[j];
    if (s->in_a != i) {
        region_clear(&m->a);
        s->in_a = find(s, &m->a, i) ? i : -1;
    }
    int ok = s->in_a == i && find(s, &m->b, j) && match_find(m, s->role, &s->work);
    if (ok) {
        struct region t = m->a;
        m->a = m->b;
        m->b = t;
        s->in_a = j;
        if (n) memcpy(o->parent + o->off[j], s->role, sizeof(int) * (size_t)n);
    }
    region_clear(&m->b);
    return ok;
}

/* Each is tried with the last one of each class: neighbours are matched in order. */
static void share_class(struct sharing *s, struct factor *f, int n)
{
    int last[CLASSES], nclass = 0, failed = 0;
    for (int k = 0; k < n && n > 1 && failed < GIVE_UP && s->work > 0; k++) {
        int j = f[k].i, c = 0;
        while (c < nclass && !try(s, last[c], j)) c++;
        if (c < nclass) {
            s->out->rep[j] = s->out->rep[last[c]];
            last[c] = j;
            failed = 0;
        } else {
            failed += nclass > 0;
            if (nclass < CLASSES) last[nclass++] = j;
        }
    }
    region_clear(&s->match.a);
    s->in_a = -1;
}

/* Uses those with equal hashes together, in the order of the first ones: small regions first. */
static void for_equal(struct sharing *s, struct factor *f, int n,
                      void (*use)(struct sharing *s, struct factor *f, int n))
{
    uint64_t hash = 0, first = 0;
    qsort(f, (size_t)n, sizeof *f, by_hash);
    for (int k = 0; k < n; k++) {
        if (k == 0 || f[k].hash != hash) first = (uint64_t)f[k].i;
        hash = f[k].hash;
        f[k].hash = first;
    }
    qsort(f, (size_t)n, sizeof *f, by_hash);
    for (int i = 0, j; i < n; i = j) {
        for (j = i + 1; j < n && f[j].hash == f[i].hash;) j++;
        use(s, f + i, j - i);
    }
}

/* Factors with equal variables and parents, as far as seen at once. */
static void share_group(struct sharing *s, struct factor *f, int n)
{
    int k = 0;
    for (int ok = n > 1; k < n && ok; k += ok) {
        ok = find(s, &s->match.a, f[k].i);
        if (ok) f[k].hash = region_hash(&s->match.a);
        region_clear(&s->match.a);
    }
    for_equal(s, f, k, share_class);
}

static void share_all(struct sharing *s, int n)
{
    const struct share *o = s->out;
    for (int i = 0; i < n; i++) {
        uint64_t sum = 0;
        for (int64_t k = o->off[i]; k < o->off[i + 1]; k++) sum += mix(1, s->g.kind[o->parent[k]]);
        s->factor[i] = (struct factor){mix(s->g.own[s->var[i]], sum), i};
    }
    for_equal(s, s->factor, n, share_group);
}

static int share_some(const struct model *m, const struct inverse *h, struct share *out,
                      nami_err *err)
{
    struct sharing s = {.out = out, .in_a = -1};
    int *inst = raw_array(int, h->n); /* by node */
    int rc = reads_make(m, h, &s.g, err);
    s.var = raw_array(int, h->nlatent);
    s.role = raw_array(int, h->width);
    s.factor = raw_array(struct factor, h->nlatent);
    s.work = WORK + (int64_t)WORK_EACH * model_num_instances(m);
    s.part = s.work / PART;
    if (!rc && (match_init(&s.match, &s.g, h->width) || !inst || !s.var || !s.role || !s.factor))
        rc = err_nomem(err);
    for (int k = 0; k < model_num_instances(m) && !rc; k++)
        if (instance_node(m, k) >= 0) inst[instance_node(m, k)] = k;
    for (int i = 0; i < h->nlatent && !rc; i++) s.var[i] = inst[h->perm[i]];
    for (int64_t k = 0; k < h->edges && !rc; k++) out->parent[k] = inst[out->parent[k]];
    if (!rc) share_all(&s, h->nlatent);
    for (int64_t k = 0; k < h->edges && !rc; k++) out->parent[k] = instance_node(m, out->parent[k]);
    match_fini(&s.match);
    reads_free(&s.g);
    free(inst);
    free(s.var);
    free(s.role);
    free(s.factor);
    return rc;
}

int share_find(const struct model *m, const struct inverse *h, int on, struct share *out,
               nami_err *err)
{
    int64_t k = 0;
    int rc = 0;
    *out = (struct share){raw_array(int, h->nlatent), new_array(int64_t, h->nlatent + 1),
                          raw_array(int, h->edges)};
    if (!out->rep || !out->off || !out->parent) rc = err_nomem(err);
    for (int i = 0; i < h->nlatent && !rc; i++) {
        for (struct inverse_it it = inverse_it(h, i); inverse_next(&it);)
            out->parent[k++] = it.node;
        out->off[i + 1] = k;
        out->rep[i] = i;
    }
    if (!rc && on) rc = share_some(m, h, out, err);
    if (rc) share_free(out);
    return rc;
}

void share_free(struct share *s)
{
    free(s->rep);
    free(s->off);
    free(s->parent);
    *s = (struct share){0};
}
