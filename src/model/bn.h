/* bn.h: a Bayesian-network structure with named nodes: the result of every reader of structures.
   Construction: bn_new, bn_node, bn_edge, ..., and finally bn_finish, which builds the graph and
   rejects empty graphs and cycles. */
#ifndef MODEL_BN_H
#define MODEL_BN_H

#include "base/arena.h"
#include "base/dict.h"
#include "graph/dag.h"

/* p(child | parents).  The state of the child varies fastest, then that of the last parent: p[(((s0
 * n1) + s1) * n2 + ...) * nchild + s_child]. */
struct cpt {
    int nparent;
    int *parent; /* in the order of the file */
    size_t n;    /* number of entries: the product of all state counts */
    double *p;
};

struct bn_node {
    int size;           /* elements of a vector node; 1 */
    int nstate;         /* states of a discrete node; 0 if unknown */
    const char **state; /* their names, or NULL */
    struct cpt *cpt;    /* its table, or NULL */
    unsigned char observed, nuisance;
    int stage; /* variables are eliminated stage by stage; default 0 */
    int cls;   /* index into bn.cls, if there are classes */
    int line;  /* where it was declared */
};

struct bn_plate {
    const char *label; /* "i in 1:N" */
    int n, *node;
    int outer; /* with classes: the enclosing plate, or -1 */
};

/* A class of nodes: those of one statement of a model file. Other formats have no classes. */
struct bn_class {
    const char *name; /* "x[i]" */
    int plate;        /* the innermost enclosing plate, or -1 */
};

struct bn {
    struct dict names; /* number <-> name */
    vec(struct bn_node) node;
    vec(struct edge) edge; /* as read, until bn_finish */
    vec(int) edge_line;
    vec(struct bn_plate) plate;
    vec(struct bn_class) cls; /* empty, or one class for each node */
    struct dag dag;           /* after bn_finish */
    struct arena mem;         /* states, tables, labels */
};

struct bn *bn_new(void);
/* Finds a node by name, or adds it (then *fresh is 1; may be NULL). Returns its number or a
   negative error code. */
int bn_node(struct bn *bn, const char *name, size_t len, int line, int *fresh, nami_err *err);
/* Adds a node; a name that already exists is an error. */
int bn_declare(struct bn *bn, const char *name, size_t len, int line, int col, nami_err *err);
int bn_find(const struct bn *bn, const char *name, size_t len); /* or -1 */
/* Adds an edge; from == to is an error, reported with its position. */
int bn_edge(struct bn *bn, int from, int to, int line, int col, nami_err *err);
/* Adds a table of zeros for `child` given these parents, and the edges. The numbers of states must
   be known; tables that are too large are rejected. The caller then fills node.a[child].cpt->p. */
int bn_table(struct bn *bn, int child, const int *parent, int nparent, int line, int col,
             nami_err *err);
/* Builds the graph. Every row of every table must sum to one within 1e-3 (files contain rounded
   numbers) and is normalized. */
int bn_finish(struct bn *bn, nami_err *err);
void bn_free(struct bn *bn);
/* A copy of a finished structure; NULL: out of memory. */
struct bn *bn_copy(const struct bn *bn);

#define bn_n(bn)       ((int)(bn)->node.n)
#define bn_name(bn, v) ((bn)->names.name.a[v])

/* Name lists as users write them: "a,b[1:3]", "@FILE", "sinks", "none". Sets mark[v] = value for
   each; unknown names are rejected, with a suggestion. */
int bn_select(const struct bn *bn, const char *what, int *mark, int value, nami_err *err);

#endif
