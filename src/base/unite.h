/* unite.h: disjoint sets of numbers: up[v] leads to the least member of the set of v, its root. */
#ifndef BASE_UNITE_H
#define BASE_UNITE_H

static inline int set_root(int *up, int v)
{
    while (up[v] != v) v = up[v] = up[up[v]];
    return v;
}

static inline void set_unite(int *up, int a, int b)
{
    a = set_root(up, a), b = set_root(up, b);
    up[a > b ? a : b] = a > b ? b : a;
}

#endif
