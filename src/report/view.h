/* view.h: the input of every report: an inverse, its model and how it was computed. */
#ifndef REPORT_VIEW_H
#define REPORT_VIEW_H

#include "exact/collapse.h"
#include "model/problem.h"

struct view {
    const char *file; /* name of the graph in messages */
    const struct bn *bn;
    const struct inversion *v;
    const struct inverse *h; /* for draw(), v and h may be NULL: only the model */
    const struct collapse *c; /* of a model: what is integrated out; or NULL */
    int width;               /* width of text, in columns */
};

extern const char *const property_names[NPROPERTY];

#endif
