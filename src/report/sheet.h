/* sheet.h: a plot being put together; all that it shows is in its memory, and a failed allocation
   is noticed once, at the end. */
#ifndef REPORT_SHEET_H
#define REPORT_SHEET_H

#include "base/arena.h"
#include "report/plot.h"

struct sheet {
    struct arena mem;
    struct plot plot;
    struct plot_panel *panel;
    int most_layers; /* of a panel */
    int oom;
};

double *sheet_numbers(struct sheet *s, size_t n); /* NULL, and oom, if memory is out */
/* Takes the text over. */
const char *sheet_text(struct sheet *s, struct str *text);
/* Panels with room for so many layers each: 0 or -1. */
int sheet_panels(struct sheet *s, int num_panels, int most_layers);
void sheet_add(struct plot_panel *panel, struct plot_layer layer);
/* Puts the plot, unless rc or oom say that it is incomplete, and frees the sheet: 0 or NAMI_ENOMEM.
 */
int sheet_end(struct sheet *s, int rc, plot_put *put, struct str *out);

#endif
