/* meter.c: the progress line on standard error: overwritten in place on a terminal, appended
   elsewhere. */
#include "meter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define CLEAR "\r\x1B[K" /* to the end of the line */

/* Seconds of a monotonic clock. */
static double clock_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int is_terminal(void)
{
    const char *term = getenv("TERM");
    return isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
}

/* In the last column, some terminals begin a new line. */
static int width(const struct meter *m)
{
    struct winsize w;
    int n = 80;
    if (m->p.live && ioctl(STDERR_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col) n = w.ws_col;
    return n - 1;
}

void meter_begin(struct meter *m, int64_t first, int64_t total, int quiet)
{
    *m = (struct meter){.quiet = quiet};
    progress_begin(&m->p, first, total, is_terminal(), clock_now());
}

int meter_due(struct meter *m) { return !m->quiet && progress_due(&m->p, clock_now()); }

void meter_show(struct meter *m, int64_t done, const char *text)
{
    char line[1024];
    if (m->quiet) return;
    progress_line(&m->p, done, text, clock_now(), width(m), line, sizeof line);
    fprintf(stderr, m->p.live ? CLEAR "%s" : "%s\n",
            line); /* in one call: other programs may write there, too */
    m->shown = m->p.live;
}

void meter_hide(struct meter *m)
{
    if (m->shown) fputs(CLEAR, stderr);
    m->shown = 0;
}

void meter_end(struct meter *m, int64_t done, const char *text)
{
    meter_show(m, done, text);
    if (m->shown) fputs("\n", stderr);
    m->shown = 0;
}
