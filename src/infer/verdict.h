/* verdict.h: verdict on the reliability of the weighted draws of one data set, with its reason and
   advice. */
#ifndef INFER_VERDICT_H
#define INFER_VERDICT_H

#include "base/str.h"
#include "infer/method.h"

enum verdict { TRUSTED, CARE, NOT_TRUSTED };
extern const char *const verdict_names[]; /* "trusted", "care", "no" */

/* islands: their number, or 0 for methods without islands. */
enum verdict verdict_of(const struct infer_method *method, const struct diagnostics *d,
                        size_t draws, size_t islands);
/* One sentence, without a period at its end. */
void verdict_reason(const struct infer_method *method, const struct diagnostics *d, size_t draws,
                    size_t islands, struct str *out);
/* What to do about an answer that is not trusted, most promising first; nothing if it is. */
void verdict_advice(const struct infer *a, const struct infer_method *method,
                    const struct diagnostics *d, size_t draws, size_t islands, struct str *out);

#endif
