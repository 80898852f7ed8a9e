/* certify.h: verifies that an inverse is faithful, minimal and natural, by d-separation in the
   model; shares no code with the elimination. */
#ifndef GRAPH_CERTIFY_H
#define GRAPH_CERTIFY_H

#include "graph/inverse.h"

enum verify { VERIFY_NONE, VERIFY_SAMPLE, VERIFY_FULL, VERIFY_AUTO };

/* Fills h->cert. SAMPLE verifies 200 random factors, chosen by the seed; AUTO is FULL if that
   takes at most about a second, and SAMPLE otherwise. */
int certify(struct inverse *h, const struct dag *g, enum verify how, uint64_t seed, nami_err *err);

#endif
