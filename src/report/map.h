/* map.h: maximum a posteriori estimates of data sets, as text and as JSON. */
#ifndef REPORT_MAP_H
#define REPORT_MAP_H

#include "base/str.h"
#include "exact/collapse.h"
#include "infer/map.h"

struct maxima {
    const struct model *model;
    const struct collapse *collapse; /* latents that are integrated out: their means; or NULL */
    size_t num_sets;
    int searches;          /* of each data set */
    int all;               /* computed variables, too */
    struct map_mode *mode; /* of each data set */
    double *value, *sd;    /* [row * num_sets + set]; sd may be NULL */
};

const char *map_state_name(enum lbfgs_state state); /* "maximum", "edge", "unbounded", "none" */
/* Why there is no maximum; NULL if there is one. */
const char *map_state_reason(enum lbfgs_state state);

/* Is an element of the model part of the answer for a data set? */
int map_has(const struct maxima *x, int element, size_t set);

void map_text(const struct maxima *x, struct str *out);
void map_json(const struct maxima *x, struct str *out);

#endif
