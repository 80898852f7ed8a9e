/* log.c: one line of JSON for each event. */
#include "log.h"

#include <time.h>
#include <unistd.h>

void log_begin(struct text *line, const char *level, const char *event)
{
    struct timespec now;
    struct tm utc;
    char stamp[40];
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%S", &utc);
    *line = (struct text){0};
    text_printf(line, "{\"time\":\"%s.%03ldZ\",\"level\":\"%s\",\"event\":\"%s\"", stamp,
                now.tv_nsec / 1000000, level, event);
}

void log_text(struct text *line, const char *name, const char *value)
{
    text_printf(line, ",\"%s\":", name);
    text_quoted(line, value);
}

void log_number(struct text *line, const char *name, double value)
{
    text_printf(line, ",\"%s\":", name);
    text_number(line, value, "null");
}

void log_end(struct text *line)
{
    text_put(line, "}\n");
    /* one write: lines of several threads do not mix; nobody can be told if it fails */
    if (!line->failed && write(STDERR_FILENO, line->bytes, line->size) < 0) line->failed = 1;
    text_free(line);
}
