/* dsep.c: a ball bounces along active trails (Koller and Friedman, Algorithm
   3.1).  It enters a node from a child (UP) or from a parent (DOWN):

     UP,   node not given:                on to its parents and its children
     DOWN, node not given:                on to its children
     DOWN, node or a descendant given:    back to its parents (a collider)

   For y in the conditioning set Z, "the ball enters y" says that x and y are
   dependent given Z \ {y}: the inner nodes of the trail are the same, except
   that a collider may have been active only thanks to y; but then y is its
   descendant, and going down to y is a trail that does not need it.  So one walk
   tells for every parent of a factor whether it can go. */

#include "graph/dsep.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

enum { UP, DOWN };

struct dsep {
    const struct dag *g;
    unsigned char *given, *above; /* in Z; in Z or an ancestor of it */
    int *list_given, *list_above, ngiven, nabove;
    int *from;           /* by state 2 * node + direction: the state before, or -1 */
    unsigned char *seen; /* by node: bit 1 << direction */
    int *queue, nqueue;  /* states in the order of visits */
    int *reached, nreached, start;
};

struct dsep *dsep_new(const struct dag *g)
{
    size_t n = (size_t)g->n;
    struct dsep *d = new_array(struct dsep, 1);
    if (!d) return NULL;
    d->g = g;
    d->given = new_array(unsigned char, n);
    d->above = new_array(unsigned char, n);
    d->seen = new_array(unsigned char, n);
    d->list_given = raw_array(int, n);
    d->list_above = raw_array(int, n);
    d->from = raw_array(int, 2 * n);
    d->queue = raw_array(int, 2 * n);
    d->reached = raw_array(int, n);
    d->start = -1;
    if (!d->given || !d->above || !d->seen || !d->list_given || !d->list_above || !d->from ||
        !d->queue || !d->reached) {
        dsep_free(d);
        return NULL;
    }
    return d;
}

void dsep_free(struct dsep *d)
{
    if (!d) return;
    free(d->given);
    free(d->above);
    free(d->seen);
    free(d->list_given);
    free(d->list_above);
    free(d->from);
    free(d->queue);
    free(d->reached);
    free(d);
}

void dsep_given(struct dsep *d, const int *z, int nz)
{
    for (int i = 0; i < d->ngiven; i++) d->given[d->list_given[i]] = 0;
    for (int i = 0; i < d->nabove; i++) d->above[d->list_above[i]] = 0;
    d->ngiven = d->nabove = 0;
    for (int i = 0; i < nz; i++) {
        if (d->given[z[i]]) continue;
        d->given[z[i]] = 1;
        d->list_given[d->ngiven++] = z[i];
        if (d->above[z[i]]) continue;
        d->above[z[i]] = 1;
        d->list_above[d->nabove++] = z[i];
    }
    for (int i = 0; i < d->nabove; i++) /* the list grows as it is read */
        for_parents (d->g, d->list_above[i], u) {
            if (d->above[u]) continue;
            d->above[u] = 1;
            d->list_above[d->nabove++] = u;
        }
}

static void enter(struct dsep *d, int v, int direction, int from)
{
    if (d->seen[v] >> direction & 1) return;
    if (!d->seen[v] && v != d->start) d->reached[d->nreached++] = v;
    d->seen[v] |= (unsigned char)(1 << direction);
    d->from[2 * v + direction] = from;
    d->queue[d->nqueue++] = 2 * v + direction;
}

void dsep_from(struct dsep *d, int x)
{
    for (int i = 0; i < d->nqueue; i++) d->seen[d->queue[i] / 2] = 0;
    d->nqueue = d->nreached = 0;
    d->start = x;
    enter(d, x, UP, -1);
    for (int i = 0; i < d->nqueue; i++) { /* breadth first: shortest trails */
        int s = d->queue[i], v = s / 2, direction = s % 2;
        int passes = !d->given[v] || v == x, collides = direction == DOWN && d->above[v];
        if ((passes && direction == UP) || collides)
            for_parents (d->g, v, u) enter(d, u, UP, s);
        if (passes)
            for_children (d->g, v, u) enter(d, u, DOWN, s);
    }
}

int dsep_reaches(const struct dsep *d, int y) { return y != d->start && d->seen[y]; }

int dsep_reached(const struct dsep *d, const int **nodes)
{
    *nodes = d->reached;
    return d->nreached;
}

int dsep_trail(const struct dsep *d, int y, int *out, int cap)
{
    if (!dsep_reaches(d, y)) return 0;
    int len = 0;
    /* the state in which y was entered first */
    int s = -1;
    for (int i = 0; i < d->nqueue && s < 0; i++)
        if (d->queue[i] / 2 == y) s = d->queue[i];
    for (; s >= 0; s = d->from[s]) {
        if (len == cap) return 0;
        out[len++] = s / 2;
    }
    for (int i = 0; i < len / 2; i++) {
        int t = out[i];
        out[i] = out[len - 1 - i];
        out[len - 1 - i] = t;
    }
    return len;
}

int dsep(const struct dag *g, int x, int y, const int *z, int nz)
{
    struct dsep *d = dsep_new(g);
    if (!d) return -1;
    dsep_given(d, z, nz);
    dsep_from(d, x);
    int sep = !dsep_reaches(d, y);
    dsep_free(d);
    return sep;
}
