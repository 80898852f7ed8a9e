/* progress.c: builds progress lines: bar, percentage, speed and remaining time, cut to the width
   available. */
#include "progress.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LEAST_BAR = 12, LONGEST_BAR = 32, GAP = 2, PART = 32 };

void progress_begin(struct progress *p, int64_t first, int64_t total, int live, double now)
{
    double pause = live ? 0.1 : 1;
    *p = (struct progress){now, first, total, live, now + pause, pause};
}

int progress_due(struct progress *p, double now)
{
    if (now < p->next) return 0;
    if (!p->live) p->pause = p->pause < 30 ? p->pause * 2 : 60;
    p->next = now + p->pause;
    return 1;
}

/* ---- parts -------------------------------------------------------------------------- */

/* "02:13", "1:02:13" */
static void put_time(double seconds, const char *before, const char *behind, char buf[PART])
{
    if (!(seconds < 1000 * 3600.0)) {
        snprintf(buf, PART, "%s>999 h%s", before, behind);
        return;
    }
    int s = seconds > 0 ? (int)seconds : 0, h = s / 3600, m = s / 60 % 60;
    if (h)
        snprintf(buf, PART, "%s%d:%02d:%02d%s", before, h, m, s % 60, behind);
    else
        snprintf(buf, PART, "%s%02d:%02d%s", before, m, s % 60, behind);
}

/* The completed fraction. */
static double share(const struct progress *p, int64_t done)
{
    if (p->total <= 0 || done <= 0) return 0;
    return done < p->total ? (double)done / (double)p->total : 1;
}

static void put_share(const struct progress *p, int64_t done, char buf[PART])
{
    int percent = (int)(100 * share(p, done)); /* not 100 before the end */
    if (p->total <= 0)
        snprintf(buf, PART, "%lld steps", (long long)done);
    else
        snprintf(buf, PART, "%3d%%", percent < 100 || done >= p->total ? percent : 99);
}

/* Steps per second; 0 if not known yet. */
static double speed(const struct progress *p, int64_t done, double now)
{
    return now > p->start && done > p->first ? (double)(done - p->first) / (now - p->start) : 0;
}

static void put_speed(double v, char buf[PART])
{
    buf[0] = 0;
    if (v <= 0) return;
    int slow = v < 0.1;
    double x = fmin(slow ? 1 / v : v, 1e9);
    int digits = (x < 10) + (x < 100);
    snprintf(buf, PART, "%.*f %s", digits, x, slow ? "s/step" : "steps/s");
}

static void put_left(const struct progress *p, int64_t done, double now, char buf[PART])
{
    double time = now - p->start;
    buf[0] = 0;
    if (p->total <= 0)
        put_time(time, "", "", buf);
    else if (done >= p->total)
        put_time(time, "in ", "", buf);
    else if (time > 0 && done > p->first)
        put_time(ceil(time * (double)(p->total - done) / (double)(done - p->first)), "", " left",
                 buf);
}

/* ---- the line ------------------------------------------------------------------------ */

static int columns(const char *s, size_t n)
{
    int w = 0;
    for (size_t i = 0; i < n; i++) w += (s[i] & 0xC0) != 0x80;
    return w;
}

/* The bytes of the text's first items that fit. */
static size_t cut(const char *text, int room)
{
    size_t n = strlen(text);
    int fits = columns(text, n) <= room;
    while (n > 0 && !fits) {
        n--;
        fits = text[n] == ' ' && text[n + 1] == ' ' && columns(text, n) <= room;
    }
    return n;
}

/* Reserves columns for a part and a gap; clears the part if there is no space. */
static void take(char *part, int *room)
{
    int w = (int)strlen(part) + GAP;
    if (w <= *room)
        *room -= part[0] ? w : 0;
    else
        part[0] = 0;
}

/* Appends a gap and a part, if both fit. */
static void put(char *out, size_t size, const char *part, size_t n)
{
    size_t at = strlen(out), gap = at && n ? GAP : 0;
    if (at + gap + n >= size) return;
    memset(out + at, ' ', gap);
    memcpy(out + at + gap, part, n);
    out[at + gap + n] = 0;
}

void progress_line(const struct progress *p, int64_t done, const char *text, double now, int width,
                   char *out, size_t size)
{
    char much[PART], fast[PART], left[PART], bar[LONGEST_BAR + 1] = {0};
    int room = width + GAP;
    size_t n = 0;
    put_share(p, done, much);
    put_speed(speed(p, done, now), fast);
    put_left(p, done, now, left);
    take(much, &room);
    take(left, &room);
    if (text) n = cut(text, room - GAP);
    if (n) room -= columns(text, n) + GAP;
    take(fast, &room);
    room--; /* a blank behind the bar */
    if (p->live && p->total > 0 && room >= LEAST_BAR) {
        int w = room < LONGEST_BAR ? room : LONGEST_BAR;
        memset(bar, '.', (size_t)w);
        memset(bar, '#', 1 + (size_t)(share(p, done) * (w - 2)));
        bar[0] = '[';
        bar[w - 1] = ']';
    }
    snprintf(out, size, "%s%s%s", bar, bar[0] ? " " : "", much);
    put(out, size, text ? text : "", n);
    put(out, size, fast, strlen(fast));
    put(out, size, left, strlen(left));
}
