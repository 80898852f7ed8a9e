/* draw.h: draws a model and its inverse side by side, or only the model, with Graphviz. */
#ifndef REPORT_DRAW_H
#define REPORT_DRAW_H

#include "base/str.h"
#include "report/view.h"

/* format: "dot", "svg" or "png".  NAMI_ELIMIT if the graph is too large for a readable picture.
   Graphviz runs in a child process: its crashes are errors (NAMI_ELIMIT). */
int draw(const struct view *w, const char *format, struct str *out, nami_err *err);
/* The same in this process, for tests. Graphviz has global state: one thread at a time. */
int draw_here(const struct view *w, const char *format, struct str *out, nami_err *err);

#endif
