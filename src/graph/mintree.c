/* mintree.c: the minimum of many changing keys, as a tree of minima with eight children a node
   (mintree.h). */
#include "graph/mintree.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

int mintree_init(struct mintree *t, int n)
{
    memset(t, 0, sizeof *t);
    for (int l = 0;; l++) {
        int blocks = n / 8 + 1; /* at least one entry of padding, so that n = 0 works too */
        if (!(t->key[l] = line_array(int64_t, (size_t)blocks * 8, &t->mem[l]))) {
            mintree_fini(t);
            return -1;
        }
        for (int i = 0; i < blocks * 8; i++) t->key[l][i] = MINTREE_NONE;
        t->top = l;
        if (blocks == 1) return 0;
        n = blocks;
    }
}

void mintree_fini(struct mintree *t)
{
    for (int l = 0; l <= MINTREE_LEVELS; l++) free(t->mem[l]);
    memset(t, 0, sizeof *t);
}

static int64_t block_min(const int64_t *k)
{
    int64_t m = k[0];
    for (int i = 1; i < 8; i++)
        if (k[i] < m) m = k[i];
    return m;
}

void mintree_set(struct mintree *t, int i, int64_t key)
{
    if (t->key[0][i] == key) return;
    if (key < t->last || (key == t->last && i < t->from)) {
        t->last = key;
        t->from = i;
    }
    for (int l = 0; l < t->top; l++) {
        int64_t old = t->key[l][i], *up = &t->key[l + 1][i / 8];
        t->key[l][i] = key;
        if (key < *up) {
            ; /* the new minimum of its block */
        } else if (old == *up && key > old) {
            key = block_min(t->key[l] + (i & ~7));
            if (key == *up) return;
        } else {
            return;
        }
        i /= 8;
    }
    t->key[t->top][i] = key;
}

/* Equal keys mostly go one after the other, so the search begins where the last
   one ended: to the right within a block, up while there is nothing, down to the
   first. */
int mintree_min(struct mintree *t)
{
    int64_t m = block_min(t->key[t->top]);
    if (m == MINTREE_NONE) return -1;
    int fresh = m != t->last, l = fresh ? t->top : 0, i = fresh ? 0 : t->from;
    t->last = m;
    for (;; l++) {
        int end = (i | 7) + 1;
        while (i < end && t->key[l][i] != m) i++;
        if (i < end) break;
        i /= 8; /* the next block, as seen one level up */
    }
    while (l > 0) {
        i *= 8;
        l--;
        while (t->key[l][i] != m) i++;
    }
    return t->from = i;
}
