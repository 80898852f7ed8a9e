/* progress.h: formats a progress line.  The caller prints it when progress_due says so.

       [##############................]  46%  loss 13.912  rate 0.001  812 steps/s  02:13 left

   Times are seconds since any moment. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stddef.h>
#include <stdint.h>

struct progress {
    double start;
    int64_t first, total; /* steps done before the start, and in total; total 0: unknown */
    int live;             /* the line is overwritten in place (terminal) */
    double next, pause;   /* time of the next update, and the interval after that */
};

void progress_begin(struct progress *p, int64_t first, int64_t total, int live, double now);
/* Is an update due?  Live: ten times per second.  Otherwise after 1, 2, 4, ..., 60, 60, ...
   seconds. If it returns 1, the line counts as shown. */
int progress_due(struct progress *p, double now);
/* Formats the line, without a line break, with at most `width` columns and `size` bytes. If it does
   not fit, parts are omitted: first the bar, then the speed, then items of the text from its end
   ("loss 1.5  rate 0.1" has two, separated by two blanks; may be NULL), then the time. */
void progress_line(const struct progress *p, int64_t done, const char *text, double now, int width,
                   char *out, size_t size);

#endif
