/* dist.c: the tables of dist.def as arrays. */
#include "dist/dist.h"

#include <string.h>

const struct dist *const dists[] = {
#define DIST(id) &dist_##id,
#include "dist/dist.def"
    NULL};

const struct dist_alias dist_aliases[] = {
#define JAGS(name, args, meaning) {name, args, meaning, "JAGS"},
#define STAN(name, args, meaning) {name, args, meaning, "Stan"},
#define NAMI(name, args, meaning) {name, args, meaning, "NaMI"},
#include "dist/dist.def"
    {NULL, NULL, NULL, NULL}};

const struct dist_export dist_exports[] = {
#define EXPORT(name, meaning, advice) {name, meaning, advice},
#include "dist/dist.def"
    {NULL, NULL, NULL}};

const struct dist *dist_find(const char *name, size_t len)
{
    for (int i = 0; dists[i]; i++)
        if (strlen(dists[i]->name) == len && memcmp(dists[i]->name, name, len) == 0)
            return dists[i];
    return NULL;
}
