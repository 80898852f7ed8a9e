/* meter.c: the progress line on standard error: overwritten in place on a terminal, appended
   elsewhere. */
#include "meter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"

#define CLEAR "\r\x1B[K" /* to the end of the line */

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
    struct str s = {0};
    if (m->quiet) return;
    if (m->p.live) str_put(&s, CLEAR);
    progress_line(&m->p, done, text, clock_now(), width(m), &s);
    if (!m->p.live) str_put(&s, "\n");
    if (!s.oom) fwrite(s.s, 1, s.n, stderr);
    m->shown = m->p.live;
    str_free(&s);
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
