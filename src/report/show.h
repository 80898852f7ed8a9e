/* show.h: prints an inverse as human-readable text, section by section. */
#ifndef REPORT_SHOW_H
#define REPORT_SHOW_H

#include "base/str.h"
#include "report/view.h"

struct section {
    const char *name, *what;
    int (*put)(const struct view *w, struct str *out, nami_err *err);
};

/* In the order in which they are printed; name NULL at the end. */
extern const struct section sections[];

/* Prints the sections whose bits are set in `which`. */
int show(const struct view *w, unsigned which, struct str *out, nami_err *err);

/* ---- the sections ------------------------------------------------------------------- */

enum { SHOW_INDENT = 13 };

/* An empty line, unless there is already one. */
void show_blank(struct str *out);

int show_moral(const struct view *w, struct str *out, nami_err *err);
int show_induced(const struct view *w, struct str *out, nami_err *err);
int show_cliques(const struct view *w, struct str *out, nami_err *err);
int show_trace(const struct view *w, struct str *out, nami_err *err);
int show_modes(const struct view *w, struct str *out, nami_err *err);

#endif
