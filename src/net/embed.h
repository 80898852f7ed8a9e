/* embed.h: embeddings: summary networks through which factors see an observed array. */
#ifndef NET_EMBED_H
#define NET_EMBED_H

#include "net/qnet.h"
#include "net/share.h"

/* q->embed: what the model declares and, if q whitens, a layer for each observed array that a
   factor with a network of its own sees as a whole.  (In a network that factors share, every
   element has its role: whose it is would be lost.) */
int net_embeds(struct qnet *q, const struct share *s);

/* Has the latent at position i a network of its own? */
int is_alone(const struct qnet *q, const struct share *s, int i);

/* Layers of all embeddings of the model, behind the features.  of[node] is the number of the
   embedding that its array has, or -1. */
int net_embed(struct qnet *q, int *of, nami_err *err);

#endif
