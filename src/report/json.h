/* json.h: an inverse as JSON (docs/formats.md). */
#ifndef REPORT_JSON_H
#define REPORT_JSON_H

#include "base/str.h"
#include "report/view.h"

enum {
    INVERSE_RUNS = 1, /* parents as runs of one permutation: small for long chains */
    INVERSE_TRACE = 2 /* the steps too */
};

/* NAMI_ELIMIT if all parents in full would be too many to write. */
int inverse_json(const struct view *w, int flags, struct str *out, nami_err *err);

#endif
