/* dict.c: an open-addressing hash table from names to consecutive numbers. */
#include "base/dict.h"

#include <stdlib.h>
#include <string.h>

static uint64_t hash(const char *s, size_t n)
{
    uint64_t h = 0x9E3779B97F4A7C15u ^ n, w = 0;
    for (; n >= 8; s += 8, n -= 8) {
        memcpy(&w, s, 8);
        h = (h ^ w) * 0xFF51AFD7ED558CCDu;
        h ^= h >> 32;
    }
    w = 0;
    memcpy(&w, s, n);
    h = (h ^ w) * 0xC4CEB9FE1A85EC53u;
    return h ^ h >> 29;
}

/* The slot where s is, or the empty one where it belongs. */
static size_t probe(const struct dict *d, const char *s, size_t n)
{
    size_t mask = d->nslot - 1, i = hash(s, n) & mask;
    for (;; i = (i + 1) & mask) {
        int32_t k = d->slot[i];
        if (k < 0 || (d->len.a[k] == n && memcmp(d->name.a[k], s, n) == 0)) return i;
    }
}

int dict_find(const struct dict *d, const char *s, size_t n)
{
    return d->nslot ? d->slot[probe(d, s, n)] : -1;
}

static int rehash(struct dict *d)
{
    size_t nslot = d->nslot ? d->nslot * 2 : 64;
    int32_t *slot = raw_array(int32_t, nslot), *old = d->slot;
    if (!slot) return -1;
    memset(slot, 0xFF, nslot * sizeof *slot);
    d->slot = slot;
    d->nslot = nslot;
    for (size_t k = 0; k < d->name.n; k++) slot[probe(d, d->name.a[k], d->len.a[k])] = (int32_t)k;
    free(old);
    return 0;
}

int dict_add(struct dict *d, const char *s, size_t n, int *fresh)
{
    if (fresh) *fresh = 0;
    if (n > UINT32_MAX || d->name.n >= INT32_MAX - 1) return -1;
    if (d->name.n * 2 >= d->nslot && rehash(d)) return -1;
    size_t i = probe(d, s, n);
    if (d->slot[i] >= 0) return d->slot[i];
    if (vec_reserve(&d->name, d->name.n + 1) || vec_reserve(&d->len, d->len.n + 1)) return -1;
    char *copy = arena_strndup(&d->text, s, n);
    if (!copy) return -1;
    d->slot[i] = (int32_t)d->name.n;
    d->name.a[d->name.n++] = copy;
    d->len.a[d->len.n++] = (uint32_t)n;
    if (fresh) *fresh = 1;
    return d->slot[i];
}

void dict_free(struct dict *d)
{
    arena_free(&d->text);
    vec_free(&d->name);
    vec_free(&d->len);
    free(d->slot);
    d->slot = NULL;
    d->nslot = 0;
}
