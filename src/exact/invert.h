/* invert.h: inverts a model, with latents that can be integrated out exactly eliminated first. */
#ifndef EXACT_INVERT_H
#define EXACT_INVERT_H

#include "exact/collapse.h"

/* v is of the model's graph, and gets the exact latents.  which: see collapse_make.  If the mode is
   the best of both, the one that leaves fewer scalars to a network, then the one with fewer edges.
   Call collapse_free also after an error. */
int exact_invert(const struct model *m, struct inversion *v, const char *which, struct collapse *c,
                 struct inverse **out, nami_err *err);
/* What h, which was read from a file, says of m. */
int exact_again(const struct model *m, const struct inversion *v, const struct inverse *h,
                struct collapse *c, nami_err *err);

#endif
