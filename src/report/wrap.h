/* wrap.h: wraps text into lines with a hanging indent. */
#ifndef REPORT_WRAP_H
#define REPORT_WRAP_H

#include "base/str.h"

struct wrap {
    struct str *out;
    int width;  /* width of a line, in columns */
    int indent; /* indent of the lines after the first */
    int col;    /* columns used so far; set to indent if the caller wrote a heading that wide */
};

void wrap_word(struct wrap *w, const char *word);
void wrap_text(struct wrap *w, const char *text); /* word by word */
void wrap_end(struct wrap *w);                    /* ends the line */

/* Writes a heading of a block of text, `indent` columns wide, and starts a wrap after it. */
struct wrap wrap_head(struct str *out, const char *head, int indent, int width);

#endif
