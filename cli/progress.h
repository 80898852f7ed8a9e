/* progress.h: a line that says how far something is.  It is only built here; who prints it asks
   progress_due when.

       [##############................]  46%  loss 13.912  rate 0.001  812 steps/s  02:13 left

   Times are seconds since any moment. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stddef.h>
#include <stdint.h>

struct progress {
    double start;
    int64_t first, total; /* steps done before the start, and in all; total 0: not known */
    int live;             /* the line is overwritten, not one among others */
    double next, pause;   /* when to show it again, and how long to wait after that */
};

void progress_begin(struct progress *p, int64_t first, int64_t total, int live, double now);
/* Is it time for a line?  Live: ten times a second.  Else after 1, 2, 4, ..., 60, 60, ... seconds.
   To be asked once for each line: a yes counts as shown. */
int progress_due(struct progress *p, double now);
/* Puts the line into out, without its end, of at most `width` columns and `size` bytes.  What does
   not fit is left out: the bar first, then the speed, then items of the text from its end
   ("loss 1.5 rate 0.1" has two, with two blanks between; may be NULL), then the time. */
void progress_line(const struct progress *p, int64_t done, const char *text, double now, int width,
                   char *out, size_t size);

#endif
