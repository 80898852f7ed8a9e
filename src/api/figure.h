/* figure.h: the input of figures, made from the objects of nami.h. */
#ifndef API_FIGURE_H
#define API_FIGURE_H

#include "api/posterior.h"
#include "report/figure.h"

struct figure_made {
    struct arena mem; /* of all that follows */
    struct figure_input in;
    size_t set; /* of the posterior */
};

/* post: NULL, or with draws kept.  only: names, or NULL for all.  calibration may be NULL.  Call
   figure_made_free() in any case. */
int figure_make(const nami_network *net, const nami_posterior *post,
                const nami_calibration *calibration, const char *only, struct figure_made *out,
                nami_err *err);
void figure_made_free(struct figure_made *m);

#endif
