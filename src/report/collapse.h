/* collapse.h: prints which latents are integrated out exactly, and why others are not. */
#ifndef REPORT_COLLAPSE_H
#define REPORT_COLLAPSE_H

#include "base/str.h"
#include "report/view.h"

/* A section of show.h; nothing, if the view is of a structure alone. */
int show_exact(const struct view *w, struct str *out, nami_err *err);

#endif
