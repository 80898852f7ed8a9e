/* mintree.h: a priority queue for n keys that change frequently; ties are broken by the smaller
   index. A tree of minima with eight children per node: a change that does not affect a minimum
   costs one comparison, and neighboring indices share cache lines. */
#ifndef GRAPH_MINTREE_H
#define GRAPH_MINTREE_H

#include <stdint.h>

#define MINTREE_NONE INT64_MAX /* the key of an index that is not in the queue */

enum { MINTREE_LEVELS = 11 }; /* 8^11 > 2^31 */

struct mintree {
    int top;                          /* key[top] has one block of eight */
    int64_t *key[MINTREE_LEVELS + 1]; /* key[0]: the keys; key[l+1][i]: min of block i of key[l] */
    void *mem[MINTREE_LEVELS + 1];
    int64_t last; /* the last minimum that was returned; */
    int from;     /* no index below this one has a key as small */
};

int mintree_init(struct mintree *t, int n); /* all keys MINTREE_NONE; -1: out of memory */
void mintree_fini(struct mintree *t);
void mintree_set(struct mintree *t, int i, int64_t key);
int mintree_min(struct mintree *t); /* the index, or -1 if the queue is empty */

#endif
