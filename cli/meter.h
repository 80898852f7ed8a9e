/* meter.h: progress on standard error: on a terminal, a line that is overwritten; elsewhere, a line
   at growing intervals; nothing if quiet.

       meter_begin(&m, 0, steps, quiet);
       for (i = 0; i < steps; i++) {
           ...
           if (meter_due(&m)) meter_show(&m, i + 1, text);
       }
       meter_end(&m, steps, text); */
#ifndef CLI_METER_H
#define CLI_METER_H

#include "progress.h"

struct meter {
    struct progress p;
    int quiet;
    int shown; /* there is a line to overwrite */
};

/* first: steps completed before; total: 0 if unknown. */
void meter_begin(struct meter *m, int64_t first, int64_t total, int quiet);
int meter_due(struct meter *m); /* to be checked before formatting the text */
void meter_show(struct meter *m, int64_t done, const char *text);
/* Removes the line, before something else is printed. */
void meter_hide(struct meter *m);
/* Prints the last line, which remains. */
void meter_end(struct meter *m, int64_t done, const char *text);

#endif
