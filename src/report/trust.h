/* trust.h: how far the weighted draws of one data set can be trusted, as lines of text. */
#ifndef REPORT_TRUST_H
#define REPORT_TRUST_H

#include "infer/verdict.h"

/* "weights ..." and "evidence ...".  islands: of methods that have them, else 0. */
void show_weights(const struct diagnostics *found, size_t draws, size_t islands, struct str *out);
const char *verdict_word(enum verdict verdict); /* "trusted", "with care", "not trusted" */
/* "verdict ..." and, if there is some, "advice ...". */
void show_verdict(const struct infer *infer, const struct infer_method *method,
                  const struct diagnostics *found, size_t draws, size_t islands, struct str *out);

#endif
