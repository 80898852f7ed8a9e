/* exact_given.h: evidence by the names of nodes: states by name or number, and values. */
#ifndef INFER_EXACT_GIVEN_H
#define INFER_EXACT_GIVEN_H

#include "base/str.h"
#include "infer/exact.h"

/* The name of a state, or its number: from 1, or a model's value. */
void state_label(const struct bn *bn, const struct dnet *d, int v, int s, struct str *out);

/* `given`: "node=value", or "@FILE", a JSON object of nodes and their values (null: none).  Values
   of a discrete network are names of states, or numbers as state_label has them.  state[v] and x
   are changed where something is given. */
int given_states(const struct bn *bn, const struct dnet *d, const char *given, int *state,
                 nami_err *err);
/* Of a linear Gaussian network, numbers of nodes that are scalars. */
int given_numbers(const struct bn *bn, const struct gnet *g, const char *given, double *x,
                  nami_err *err);

/* NAMI_EINPUT: no node has this name; which one may be meant. */
int find_node(const struct bn *bn, const char *name, size_t len, int *out, nami_err *err);

#endif
