/* watch.c: messages and progress of the library, on standard error. */
#include "watch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cmd.h"

/* "loss 13.9120  valid 13.8800  rate 0.001", of what is known; or the phase. */
static void put_text(const nami_progress *p, char *text, size_t size)
{
    char loss[48] = "", valid[48] = "", rate[48] = "";
    if (!isnan(p->loss)) snprintf(loss, sizeof loss, "loss %.4f  ", p->loss);
    if (!isnan(p->valid)) snprintf(valid, sizeof valid, "valid %.4f  ", p->valid);
    if (!isnan(p->rate)) snprintf(rate, sizeof rate, "rate %.2g  ", p->rate);
    snprintf(text, size, "%s%s%s", loss, valid, rate);
    size_t n = strlen(text);
    if (n)
        text[n - 2] = 0;
    else
        snprintf(text, size, "%s", p->phase);
}

static int on_progress(const nami_progress *p, void *user)
{
    struct watch *w = user;
    char text[160];
    if (!w->last.phase || strcmp(w->last.phase, p->phase) != 0) {
        meter_hide(&w->meter);
        meter_begin(&w->meter, (int64_t)p->done, (int64_t)p->total, w->quiet);
    }
    w->meter.p.total = (int64_t)p->total; /* it may follow from how training goes */
    w->last = *p;
    if (meter_due(&w->meter)) {
        put_text(p, text, sizeof text);
        meter_show(&w->meter, (int64_t)p->done, text);
    }
    return w->stop && *w->stop;
}

static void on_message(int level, const char *text, void *user)
{
    struct watch *w = user;
    if (level != NAMI_WARNING && w->quiet) return;
    meter_hide(&w->meter);
    (level == NAMI_WARNING ? warn : note)("%s", text);
}

void watch_begin(struct watch *w, int quiet)
{
    *w = (struct watch){.library = {.progress = on_progress, .message = on_message, .user = w},
                        .quiet = quiet || !is_first()};
}

void watch_end(struct watch *w)
{
    char text[160];
    if (w->last.phase && w->keep) {
        put_text(&w->last, text, sizeof text);
        meter_end(&w->meter, (int64_t)w->last.done, text);
    }
    meter_hide(&w->meter);
    w->last = (nami_progress){0};
}
