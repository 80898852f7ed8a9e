/* dist.c: the tables of distributions, and distributions that are made of others. */
#include "dist/dist.h"

#include <string.h>

const struct dist *const dists[] = {
#define DIST(id) &dist_##id,
#include "dist/dist.def"
    NULL};

#define FORM(id) extern const struct dist_form form_##id;
#include "dist/dist.def"
const struct dist_form *const dist_forms[] = {
#define FORM(id) &form_##id,
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

const struct dist_form *dist_form_find(const char *name, size_t len)
{
    for (int i = 0; dist_forms[i]; i++)
        if (strlen(dist_forms[i]->name) == len && memcmp(dist_forms[i]->name, name, len) == 0)
            return dist_forms[i];
    return NULL;
}

const char *dist_make(const struct dist_form *f, const struct dist *const *part, struct dist *out)
{
    int nparts = 0;
    *out = (struct dist){.name = f->name, .what = f->what};
    for (int i = 0; i < f->narg; i++) {
        const struct dist *d = NULL;
        const struct dist_arg *arg = &f->arg[i];
        int n = 1;
        if (arg->domain == A_DIST) {
            d = out->part[nparts] = part[nparts];
            nparts++;
            if (!d->logp || domains[d->domain].rank)
                return "it takes distributions of single numbers with numbers as parameters";
            arg = d->arg;
            n = d->narg;
        }
        if (out->narg + n > DIST_ARGS) return "together, they have too many parameters";
        memcpy(out->arg + out->narg, arg, sizeof *arg * (size_t)n);
        out->narg += n;
    }
    return f->make(out);
}
