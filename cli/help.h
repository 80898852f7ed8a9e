/* help.h: help texts and manual pages from the tables of commands and options. */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include <stdio.h>

#include "cmd.h"

/* For one command, or for all (NULL). */
void help_text(const struct cmd *c, FILE *out);
void help_man(const struct cmd *c, FILE *out);

/* The description of an option with its words and its default, truncated to the size of text. */
void help_option(const struct option *o, char *text, size_t size);
enum { HELP_OPTION = 1024 };

extern const char help_about[]; /* description of the program, in paragraphs */

/* The next paragraph of *text, up to an empty line; advances *text. 0 at the end. */
size_t help_paragraph(const char **text, const char **start);

#endif
