/* draw.h: the model and its inverse side by side, drawn by Graphviz; or the model
   alone. */
#ifndef REPORT_DRAW_H
#define REPORT_DRAW_H

#include "base/str.h"
#include "report/view.h"

/* format: "dot", "svg" or "png".  NAMI_ELIMIT when nobody could read it.
   Graphviz keeps state of its own: one thread at a time. */
int draw(const struct view *w, const char *format, struct str *out, nami_err *err);

#endif
