/* trace.h: the trace of the inversion that a view shows. */
#ifndef REPORT_TRACE_H
#define REPORT_TRACE_H

#include "graph/trace.h"
#include "report/view.h"

int trace_of(const struct view *w, struct trace *t, nami_err *err);
/* The fill of the chosen variable. */
int64_t trace_fill(const struct trace_step *s);

#endif
