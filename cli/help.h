/* help.h: what the tables of commands and options say, as text and as manual. */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include "cmd.h"

/* For one command, or for all (NULL). */
void help_text(const struct cmd *c, struct str *out);
void help_man(const struct cmd *c, struct str *out);

/* What an option does, its words and its default. */
void help_option(const struct opt *o, struct str *out);

extern const char help_about[]; /* what nami is, in paragraphs */

/* The next paragraph of *text, cut at an empty line; moves *text.  0 at the end. */
size_t help_paragraph(const char **text, const char **start);

#endif
