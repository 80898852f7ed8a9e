/* certify.h: is an inverse faithful, minimal and natural?  Answered by
   d-separation in the model alone; shares no code with elimination. */
#ifndef GRAPH_CERTIFY_H
#define GRAPH_CERTIFY_H

#include "graph/inverse.h"

enum verify { VERIFY_NONE, VERIFY_SAMPLE, VERIFY_FULL, VERIFY_AUTO };

/* Fills h->cert. SAMPLE looks at 200 factors chosen by the seed; AUTO means FULL
   while that takes about a second at most, else SAMPLE. */
int certify(struct inverse *h, const struct dag *g, enum verify how, uint64_t seed, nami_err *err);

#endif
