/* api_model.h: the models of nami.h, as the other parts of nami.h see them. */
#ifndef MODEL_API_MODEL_H
#define MODEL_API_MODEL_H

#include "base/arena.h"
#include "model/view.h"

struct nami_model {
    struct arena mem; /* of what follows but the model */
    struct model *m;
    int good; /* it was read without an error */
    struct str messages;
    const char **name; /* of each scalar */
    int *node;
    const char *const *set; /* the options it was read with */
    int nset;
    const char *observe;
};

int needs_model(const nami_model *w, nami_err *err); /* an error if it is not good */

#endif
