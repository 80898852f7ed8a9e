/* log.h: one line of JSON for each event, on standard error. */
#ifndef SERVE_LOG_H
#define SERVE_LOG_H

#include "text.h"

/* Begins a line: time, level ("info", "warning", "error") and event. */
void log_begin(struct text *line, const char *level, const char *event);
void log_text(struct text *line, const char *name, const char *value);
void log_number(struct text *line, const char *name, double value);
/* Writes it, and frees it. */
void log_end(struct text *line);

#endif
