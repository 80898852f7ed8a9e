/* watch.h: prints the messages and the progress of library calls on standard error.

       struct watch w;
       watch_begin(&w, quiet);
       opt.watch = &w.library;
       ... a call of the library ...
       watch_end(&w); */
#ifndef CLI_WATCH_H
#define CLI_WATCH_H

#include <signal.h>

#include "meter.h"
#include "nami.h"

struct watch {
    nami_watch library;                /* for the options of a call */
    int quiet;                         /* no notes and no progress; warnings are always printed */
    int keep;                          /* keep the last line of the progress */
    const volatile sig_atomic_t *stop; /* nonzero cancels the call; or NULL */
    struct meter meter;
    nami_progress last; /* phase NULL: none yet */
};

void watch_begin(struct watch *w, int quiet);
/* To be called before anything else is printed. */
void watch_end(struct watch *w);

#endif
