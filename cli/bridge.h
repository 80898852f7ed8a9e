/* bridge.h: for commands that still use src/; to be deleted with the last of them. */
#ifndef CLI_BRIDGE_H
#define CLI_BRIDGE_H

#include <stdio.h>

#include "base/str.h"
#include "cmd.h"

/* Writes a result to standard output, all at once, and frees it; `yes` is the
   exit code if that works. */
static inline int finish(struct str *out, int yes)
{
    int rc = out->oom ? no_memory() : 0;
    if (!rc && out->n) fwrite(out->s, 1, out->n, stdout);
    str_free(out);
    return rc ? rc : finish_output(yes);
}

static inline const char *method_words(int i) { return nami_word("methods", i); }
static inline const char *mode_words(int i) { return nami_word("modes", i); }
static inline const char *criterion_words(int i) { return nami_word("criteria", i); }

#endif
