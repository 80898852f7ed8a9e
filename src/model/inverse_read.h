/* inverse_read.h: parses the inverse of a structure from JSON. */
#ifndef MODEL_INVERSE_READ_H
#define MODEL_INVERSE_READ_H

#include "graph/inverse.h"
#include "model/bn.h"

/* The text is untrusted: names, roles and runs are checked, so that *out is an inverse of bn (with
   the certificate that the text claims). */
int inverse_read(const struct bn *bn, const char *text, struct inverse **out, nami_err *err);

#endif
