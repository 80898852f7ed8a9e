/* arch.c: the table of network architectures, and the choice among them. */
#include "net/arch.h"

#include <string.h>

#include "net/qnet.h"

const struct arch *const net_archs[] = {
#define ARCH(id) &arch_##id,
#include "net/arch.def"
#undef ARCH
    NULL};

const struct arch *arch_find(const char *name)
{
    for (int i = 0; net_archs[i]; i++)
        if (strcmp(net_archs[i]->name, name) == 0) return net_archs[i];
    return NULL;
}

const char *arch_name(const struct arch *a) { return a ? a->name : "auto"; }

static const struct arch *suited(const struct qnet *q, const struct group *g)
{
    const struct arch *a = NULL;
    for (int i = 0; net_archs[i]; i++)
        if ((g->num_factors == 1 || net_archs[i]->shares) && net_archs[i]->suits(q, g))
            a = net_archs[i];
    return a;
}

void archs_choose(struct qnet *q)
{
    for (int g = 0; g < q->ngroup; g++)
        q->group[g].arch = q->opt.arch ? q->opt.arch : suited(q, &q->group[g]);
}

static int is_used(const struct qnet *q, const struct arch *a)
{
    for (int g = 0; g < q->ngroup; g++)
        if (q->group[g].arch == a) return 1;
    return 0;
}

int archs_build(struct qnet *q, nami_err *err)
{
    int rc = 0;
    for (int i = 0; net_archs[i] && !rc; i++)
        if (is_used(q, net_archs[i])) rc = net_archs[i]->build(q, err);
    return rc;
}
