/* draw.h: draws a model and its inverse side by side, or only the model, with Graphviz. */
#ifndef REPORT_DRAW_H
#define REPORT_DRAW_H

#include "base/str.h"
#include "report/view.h"

/* format: "dot", "svg" or "png".  NAMI_ELIMIT if the graph is too large for a readable picture.
   Graphviz has global state: call from one thread at a time. */
int draw(const struct view *w, const char *format, struct str *out, nami_err *err);

#endif
