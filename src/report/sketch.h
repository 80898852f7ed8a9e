/* sketch.h: what a picture shows: a node for each variable or, if the structure comes from a
   model file with loops, for each statement; what they look like; which edges there are. */
#ifndef REPORT_SKETCH_H
#define REPORT_SKETCH_H

#include "report/view.h"

/* What a node or an edge can be. */
enum look { OBSERVED, PARTLY, MODEL_FACTOR, NUISANCE, ADDED, BOTH, NLOOK };
enum side { MODEL, INVERSE };

struct sketch_node {
    const char *name;
    unsigned look;                /* bits 1 << OBSERVED, ... */
    int plate;                    /* the innermost, or -1 */
    int in_inverse, model_factor; /* of the inverse: is it there? is its factor the model's own? */
};

struct sketch_edge {
    int from, to;
    unsigned look;
};

struct sketch_plate {
    const char *label;
    int outer; /* an earlier plate, or -1 */
};

struct sketch {
    int n, nplate;
    int by_class; /* statements, with plates on both sides */
    struct sketch_node *node;
    struct sketch_plate *plate;
    vec(struct sketch_edge) edge[2]; /* by side; from == to: between elements of one statement */
};

/* NAMI_ELIMIT when nobody could read the picture.  Takes time in proportion to the nodes, the
   model's edges and the inverse's runs. */
int sketch_init(struct sketch *s, const struct view *w, nami_err *err);
void sketch_fini(struct sketch *s);

#endif
