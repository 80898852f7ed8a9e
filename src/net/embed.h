/* embed.h: embeddings: networks through which factors see an observed array. */
#ifndef NET_EMBED_H
#define NET_EMBED_H

#include "net/qnet.h"

/* Layers of all embeddings of the model, behind the features.  of[node] is the number of the
   embedding that its array has, or -1. */
int net_embed(struct qnet *q, int *of, nami_err *err);

#endif
