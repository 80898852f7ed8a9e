/* shown.h: what of a model is shown beside its latents: derived quantities and constants. */
#ifndef MODEL_SHOWN_H
#define MODEL_SHOWN_H

#include "data/draws.h"
#include "model/view.h"

/* Marks (by 1, of all arrays) those with elements that are computed from latents and on which no
   stochastic variable depends: they are in the model to be reported. */
int model_derived(const struct model *m, unsigned char *derived, nami_err *err);

/* The arrays that data gave values to and that are constant, as one draw.  All is allocated in mem.
 */
int model_constants(const struct model *m, struct arena *mem, struct draws *out, nami_err *err);

#endif
