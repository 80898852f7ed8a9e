/* bn.h: a Bayesian-network structure with names: what every reader makes and
   every command starts from.

   Building: bn_new, bn_node, bn_edge, ..., and bn_finish at the end, which makes
   the graph and refuses empty graphs and cycles. */
#ifndef MODEL_BN_H
#define MODEL_BN_H

#include "base/arena.h"
#include "base/dict.h"
#include "graph/dag.h"

/* p(child | parents).  The child's state runs fastest, then the last parent's:
   p[(((s0 * n1) + s1) * n2 + ...) * nchild + s_child]. */
struct cpt {
    int nparent;
    int *parent; /* in the file's order */
    size_t n;    /* number of entries: the product of all state counts */
    double *p;
};

struct bn_node {
    int size;           /* elements of a vector node; 1 */
    int nstate;         /* states of a discrete node; 0 if unknown */
    const char **state; /* their names, or NULL */
    struct cpt *cpt;    /* its table, or NULL */
    unsigned char observed, nuisance;
    int stage; /* eliminated stage by stage; 0 */
    int cls;   /* of bn.cls, if there are any */
    int line;  /* where it was declared */
};

struct bn_plate {
    const char *label; /* "i in 1:N" */
    int n, *node;
    int outer; /* with classes: the plate around it, or -1 */
};

/* What many nodes come from: a statement of a model file.  Other formats have none. */
struct bn_class {
    const char *name; /* "x[i]" */
    int plate;        /* the innermost around it, or -1 */
};

struct bn {
    struct dict names; /* number <-> name */
    vec(struct bn_node) node;
    vec(struct edge) edge; /* as read, until bn_finish */
    vec(int) edge_line;
    vec(struct bn_plate) plate;
    vec(struct bn_class) cls; /* empty, or each node has one */
    struct dag dag;           /* after bn_finish */
    struct arena mem;         /* states, tables, labels */
};

struct bn *bn_new(void);
/* A node by name; if new, it is added (*fresh tells; may be NULL).  Returns its
   number or a negative code. */
int bn_node(struct bn *bn, const char *name, size_t len, int line, int *fresh, nami_err *err);
/* The same, but a name that exists already is an error. */
int bn_declare(struct bn *bn, const char *name, size_t len, int line, int col, nami_err *err);
int bn_find(const struct bn *bn, const char *name, size_t len); /* or -1 */
/* An edge; from == to is refused here, with the place. */
int bn_edge(struct bn *bn, int from, int to, int line, int col, nami_err *err);
/* A table of n zeros for `child` with these parents (edges are added too). The
   state counts of all must be known; a table too large is refused.  Fill
   node.a[child].cpt->p afterwards.  `advice` is not needed: messages name the node. */
int bn_table(struct bn *bn, int child, const int *parent, int nparent, int line, int col,
             nami_err *err);
/* Every row of every table must sum to one within 1e-3 (files are rounded):
   called by bn_finish, which scales rounded rows. */
int bn_finish(struct bn *bn, nami_err *err);
void bn_free(struct bn *bn);
/* A copy of a finished structure; NULL when memory runs out. */
struct bn *bn_copy(const struct bn *bn);

#define bn_n(bn)       ((int)(bn)->node.n)
#define bn_name(bn, v) ((bn)->names.name.a[v])

/* Name lists as users write them: "a,b[1:3]", "@FILE", "sinks", "none". Sets
   mark[v] = value for each; unknown names are refused with advice. */
int bn_select(const struct bn *bn, const char *what, int *mark, int value, nami_err *err);

#endif
