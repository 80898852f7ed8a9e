#include "dist/dist.h"

#include <string.h>

const struct dist *const dists[] = {
#define DIST(id) &dist_##id,
#define JAGS(name, args, meaning)
#include "dist/dist.def"
#undef DIST
#undef JAGS
    NULL};

const struct dist_alias dist_aliases[] = {
#define DIST(id)
#define JAGS(name, args, meaning) {name, args, meaning},
#include "dist/dist.def"
#undef DIST
#undef JAGS
    {NULL, NULL, NULL}};

const struct dist *dist_find(const char *name, size_t len)
{
    for (int i = 0; dists[i]; i++)
        if (strlen(dists[i]->name) == len && memcmp(dists[i]->name, name, len) == 0)
            return dists[i];
    return NULL;
}
