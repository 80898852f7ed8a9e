/* inverse.c: inverses: parent sets as runs of one permutation; building, iterating, counting. */
#include "graph/inverse.h"

#include <stdlib.h>
#include <string.h>

struct inverse *inverse_new(int n, const int *latent, int nlatent, const int *observed,
                            int nobserved)
{
    struct inverse *h = new_array(struct inverse, 1);
    if (!h) return NULL;
    h->n = n;
    h->nlatent = nlatent;
    h->nobserved = nobserved;
    h->perm = raw_array(int, nlatent + nobserved);
    h->pos = raw_array(int, n);
    h->ptr = new_array(int64_t, nlatent + 1);
    h->bits = new_array(uint64_t, (nlatent + nobserved) / 64 + 1);
    if (!h->perm || !h->pos || !h->ptr || !h->bits) {
        inverse_free(h);
        return NULL;
    }
    if (nlatent) memcpy(h->perm, latent, (size_t)nlatent * sizeof(int));
    if (nobserved) memcpy(h->perm + nlatent, observed, (size_t)nobserved * sizeof(int));
    for (int v = 0; v < n; v++) h->pos[v] = -1;
    for (int i = 0; i < nlatent + nobserved; i++) h->pos[h->perm[i]] = i;
    for (int k = 0; k < NPROPERTY; k++) h->cert.is[k] = -1;
    return h;
}

void inverse_free(struct inverse *h)
{
    if (!h) return;
    free(h->perm);
    free(h->pos);
    free(h->ptr);
    free(h->bits);
    vec_free(&h->run);
    free(h->model);
    free(h->nuisance);
    free(h->exact);
    for (int k = 0; k < NPROPERTY; k++) free(h->cert.why[k].trail);
    free(h);
}

int inverse_set_exact(struct inverse *h, int nexact)
{
    if (!(h->exact = new_array(const char *, nexact))) return -1;
    h->nexact = nexact;
    return 0;
}

static int is_word(const char *s)
{
    size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    return n && n <= EXACT_NAME && !s[n];
}

int inverse_name_exact(struct inverse *h, int i, const char *name)
{
    int k = 0;
    if (!name || !is_word(name)) return -1;
    while (k < h->nkind && strcmp(h->kind[k], name) != 0) k++;
    if (k == EXACT_KINDS) return -1;
    if (k == h->nkind) strcpy(h->kind[h->nkind++], name); /* NOLINT: is_word measured it */
    h->exact[i] = h->kind[k];
    return 0;
}

int inverse_add(struct inverse *h, int start, int count)
{
    return count > 0 ? vec_push(&h->run, ((struct run){start, count})) : 0;
}

/* Positions are sorted by putting them into a bit set and reading it back;
   a few far apart are better left to inverse_close. */
int inverse_add_vars(struct inverse *h, const int *var, int n)
{
    int lo = h->nlatent + h->nobserved, hi = 0;
    for (int k = 0; k < n; k++) {
        int p = h->pos[var[k]];
        if (p < lo) lo = p;
        if (p > hi) hi = p;
    }
    if (n <= 8 || (hi - lo) / 64 > n * 4) {
        for (int k = 0; k < n; k++)
            if (inverse_add(h, h->pos[var[k]], 1)) return -1;
        return 0;
    }
    for (int k = 0; k < n; k++) h->bits[h->pos[var[k]] / 64] |= (uint64_t)1 << h->pos[var[k]] % 64;
    int rc = 0, start = lo, end = lo; /* the run so far: start .. end-1 */
    for (int w = lo / 64; w <= hi / 64; w++) {
        for (uint64_t b = h->bits[w]; b && !rc; b &= b - 1) {
            int p = w * 64 + __builtin_ctzll(b);
            if (p != end) {
                rc = inverse_add(h, start, end - start);
                start = p;
            }
            end = p + 1;
        }
        h->bits[w] = 0;
    }
    return rc ? rc : inverse_add(h, start, end - start);
}

static int by_start(const void *a, const void *b)
{
    const struct run *x = a, *y = b;
    return (x->start > y->start) - (x->start < y->start);
}

static void sort_runs(struct run *r, size_t n)
{
    if (n > 16) {
        int sorted = 1;
        for (size_t i = 1; i < n && sorted; i++) sorted = r[i - 1].start < r[i].start;
        if (!sorted) qsort(r, n, sizeof *r, by_start);
        return;
    }
    for (size_t i = 1; i < n; i++) {
        struct run x = r[i];
        size_t k = i;
        for (; k > 0 && r[k - 1].start > x.start; k--) r[k] = r[k - 1];
        r[k] = x;
    }
}

void inverse_close(struct inverse *h, int i)
{
    struct run *r = h->run.a + h->ptr[i];
    size_t n = h->run.n - (size_t)h->ptr[i], k = 0;
    int64_t count = 0;
    sort_runs(r, n);
    for (size_t a = 0; a < n; a++) {
        count += r[a].count;
        if (k && r[k - 1].start + r[k - 1].count == r[a].start)
            r[k - 1].count += r[a].count;
        else
            r[k++] = r[a];
    }
    h->run.n = (size_t)h->ptr[i] + k;
    h->ptr[i + 1] = (int64_t)h->run.n;
    h->edges += count;
    if (count > h->width) h->width = count;
}

struct inverse_it inverse_it(const struct inverse *h, int i)
{
    return (struct inverse_it){.h = h, .run = h->ptr[i], .end = h->ptr[i + 1], .node = -1};
}

int inverse_next(struct inverse_it *it)
{
    if (it->run >= it->end) return 0;
    struct run r = it->h->run.a[it->run];
    it->node = it->h->perm[r.start + it->k];
    if (++it->k == r.count) {
        it->run++;
        it->k = 0;
    }
    return 1;
}

int64_t inverse_count(const struct inverse *h, int i)
{
    int64_t n = 0;
    for (int64_t r = h->ptr[i]; r < h->ptr[i + 1]; r++) n += h->run.a[r].count;
    return n;
}

static int *copy_list(const int *from, int n, int room)
{
    int *to = raw_array(int, room);
    if (to && n) memcpy(to, from, (size_t)n * sizeof *to);
    return to;
}

struct inverse *inverse_rest(const struct inverse *h)
{
    int k = h->nexact, rc = 0;
    struct inverse *r =
        inverse_new(h->n, h->perm + k, h->nlatent - k, h->perm + h->nlatent, h->nobserved);
    if (!r) return NULL;
    r->whole = h;
    r->method = h->method;
    r->mode = h->mode;
    r->nmodel = h->nmodel;
    r->nnuisance = h->nnuisance + k;
    r->model = copy_list(h->model, h->nmodel, h->nmodel);
    r->nuisance = copy_list(h->nuisance, h->nnuisance, r->nnuisance);
    if (!r->model || !r->nuisance) rc = -1;
    for (int i = 0; i < k && !rc; i++) r->nuisance[h->nnuisance + i] = h->perm[i];
    for (int i = k; i < h->nlatent && !rc; i++) {
        for (int64_t at = h->ptr[i]; at < h->ptr[i + 1] && !rc; at++)
            rc = inverse_add(r, h->run.a[at].start - k, h->run.a[at].count);
        inverse_close(r, i - k);
    }
    if (!rc) return r;
    inverse_free(r);
    return NULL;
}

int inverse_full_order(const struct inverse *h, int *out)
{
    int k = 0;
    for (int i = 0; i < h->nmodel; i++) out[k++] = h->model[i];
    for (int i = 0; i < h->nlatent; i++) out[k++] = h->perm[i];
    return k;
}
