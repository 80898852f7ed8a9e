/* method_paper.c: the paper's Algorithm 1 as printed: faithful, but not always minimal or
   natural. */
#include <stdlib.h>

#include "base/err.h"
#include "graph/elim.h"
#include "graph/invert.h"

/* To the letter: barren latents are ordinary, latents wait for latent parents
   (children in reverse mode) only. */
static int run(const struct problem *p, struct inverse **out, nami_err *err)
{
    int rc;
    unsigned char *role = raw_array(unsigned char, p->g->n);
    struct elim *e = NULL;
    if (!role) return err_nomem(err);
    for (int v = 0; v < p->g->n; v++)
        role[v] = p->observed[v]                  ? ROLE_OBSERVED
                  : p->nuisance && p->nuisance[v] ? ROLE_NUISANCE
                                                  : ROLE_WANTED;
    rc = eliminate(p, role, 1, &e, err);
    if (!rc) rc = inverse_from_elim(p, role, e, out, err);
    elim_free(e);
    free(role);
    return rc;
}

const struct method method_paper = {
    "paper", "Algorithm 1 to the letter: faithful, but not always minimal or natural", 1, run};
