/* exact_given.h: parses evidence given by names of nodes: states by name or number, and values. */
#ifndef INFER_EXACT_GIVEN_H
#define INFER_EXACT_GIVEN_H

#include "base/str.h"
#include "infer/exact.h"

/* The name of a state, or its number (from 1), or its value in a model. */
void state_label(const struct bn *bn, const struct dnet *d, int v, int s, struct str *out);

/* `given`: "node=value", or "@FILE", a JSON object of nodes and their values (null: none). Values
   of a discrete network are names of states, or numbers as printed by state_label. Changes state[v]
   and x of the given nodes only. */
int given_states(const struct bn *bn, const struct dnet *d, const char *given, int *state,
                 nami_err *err);
/* For a linear Gaussian network: numbers, for scalar nodes. */
int given_numbers(const struct bn *bn, const struct gnet *g, const char *given, double *x,
                  nami_err *err);

/* NAMI_EINPUT if no node has this name, with a suggestion. */
int find_node(const struct bn *bn, const char *name, size_t len, int *out, nami_err *err);

#endif
