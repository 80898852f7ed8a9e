/* sketch.h: content of a picture of a graph: one node for each variable or, for a model file with
   loops, for each statement; the style of nodes; the edges. */
#ifndef REPORT_SKETCH_H
#define REPORT_SKETCH_H

#include "report/view.h"

/* Styles of nodes and edges. */
enum look { OBSERVED, PARTLY, MODEL_FACTOR, EXACT_FACTOR, NUISANCE, ADDED, BOTH, NLOOK };
enum side { MODEL, INVERSE };

struct sketch_node {
    const char *name;
    unsigned look;                /* bits 1 << OBSERVED, ... */
    int plate;                    /* the innermost plate, or -1 */
    int in_inverse, model_factor; /* is it in the inverse? is its factor that of the model? */
    int exact_factor;             /* is it exact? */
};

struct sketch_edge {
    int from, to;
    unsigned look;
};

struct sketch_plate {
    const char *label;
    int outer; /* the enclosing plate, which comes earlier, or -1 */
};

struct sketch {
    int n, nplate;
    int by_class; /* nodes are statements, with plates on both sides */
    struct sketch_node *node;
    struct sketch_plate *plate;
    vec(struct sketch_edge) edge[2]; /* by side; from == to: between elements of one statement */
};

/* NAMI_ELIMIT if the graph is too large for a readable picture.  Time is proportional to the
   numbers of nodes, edges of the model and runs of the inverse. */
int sketch_init(struct sketch *s, const struct view *w, nami_err *err);
void sketch_fini(struct sketch *s);

#endif
