/* view.h: an inverse and all it came from: what every report is given. */
#ifndef REPORT_VIEW_H
#define REPORT_VIEW_H

#include "model/problem.h"

struct view {
    const char *file; /* what to call the structure */
    const struct bn *bn;
    const struct inversion *v;
    const struct inverse *h; /* to draw(), v and h may be NULL: the model alone */
    int width;               /* columns of text */
};

extern const char *const property_names[NPROPERTY];

#endif
