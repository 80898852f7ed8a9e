/* meter.h: how far something is, on standard error.  On a terminal a line that is overwritten;
   elsewhere a line now and then; nothing if quiet.

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

/* first: steps that were done before; total: in all, 0 if that is not known. */
void meter_begin(struct meter *m, int64_t first, int64_t total, int quiet);
int meter_due(struct meter *m); /* asked before the text is made */
void meter_show(struct meter *m, int64_t done, const char *text);
/* Takes the line away, before something else is printed. */
void meter_hide(struct meter *m);
/* The last line stays. */
void meter_end(struct meter *m, int64_t done, const char *text);

#endif
