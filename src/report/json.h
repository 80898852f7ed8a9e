/* json.h: an inverse as JSON (docs/formats.md). */
#ifndef REPORT_JSON_H
#define REPORT_JSON_H

#include "base/str.h"
#include "report/view.h"

enum {
    INVERSE_RUNS = 1, /* compact: parents as runs of one permutation */
    INVERSE_TRACE = 2 /* include the elimination steps */
};

/* NAMI_ELIMIT if there are too many parents to list them explicitly. */
int inverse_json(const struct view *w, int flags, struct str *out, nami_err *err);

#endif
