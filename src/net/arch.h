/* arch.h: the architectures of inference networks, one row and one file each: which layers compute
   the parameters of the factors' output distributions from what these factors may read. */
#ifndef NET_ARCH_H
#define NET_ARCH_H

#include "nami.h"

struct group;
struct qnet;

/* A row of arch.def. */
struct arch {
    const char *name, *what;
    int shares; /* can the latents of a plate share its weights: groups of more than one factor? */
    /* Does `auto` choose it for this group?  (The last row that suits a group is chosen; mlp suits
       all.)  Called when all groups and their output distributions are known. */
    int (*suits)(const struct qnet *q, const struct group *g);
    /* Adds the layers (net_layer) and output distributions (net_outputs) of all groups whose `arch`
       it is.  Called if there are any, in the order of arch.def. */
    int (*build)(struct qnet *q, nami_err *err);
};

#define ARCH(id) extern const struct arch arch_##id;
#include "net/arch.def"
#undef ARCH
extern const struct arch *const net_archs[];    /* in the order of arch.def, NULL at the end */
const struct arch *arch_find(const char *name); /* NULL: auto, or there is none */
const char *arch_name(const struct arch *a);    /* NULL: "auto" */

/* Sets the architecture of each group: q->opt.arch, or what suits the group if that is NULL. */
void archs_choose(struct qnet *q);
/* Then the layers of all groups. */
int archs_build(struct qnet *q, nami_err *err);

/* Networks that read messages have gates: products of linear functions of the last hidden layer
   with linear functions of the inputs.  Means that are weighted by precisions are of this form,
   which layers of rectifiers approximate slowly. */
enum { NET_GATES = 16 };

/* Fully connected networks for all groups of an architecture (arch_mlp.c). */
int mlp_build(struct qnet *network, const struct arch *arch, nami_err *err);

#endif
