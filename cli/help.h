/* help.h: what the tables of commands and options say, as text and as manual. */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include <stdio.h>

#include "cmd.h"

/* For one command, or for all (NULL). */
void help_text(const struct cmd *c, FILE *out);
void help_man(const struct cmd *c, FILE *out);

/* What an option does, its words and its default: into text, cut to its size. */
void help_option(const struct option *o, char *text, size_t size);
enum { HELP_OPTION = 1024 };

extern const char help_about[]; /* what nami is, in paragraphs */

/* The next paragraph of *text, cut at an empty line; moves *text.  0 at the end. */
size_t help_paragraph(const char **text, const char **start);

#endif
