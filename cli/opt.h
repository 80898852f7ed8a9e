/* opt.h: tables of options. The rows of a command and its option groups of the library define what
   is parsed, printed by --help and in the manual, and completed by shells. */
#ifndef CLI_OPT_H
#define CLI_OPT_H

#include <stddef.h>
#include <stdint.h>

#include "nami.h"

enum opt_kind {
    OPT_FLAG,  /* int */
    OPT_TEXT,  /* const char *; words are only suggested */
    OPT_WORD,  /* const char *, one of the words */
    OPT_WORDS, /* const char *, a comma list of the words */
    OPT_COUNT, /* int, 0 or more */
    OPT_SEED,  /* uint64_t */
    OPT_REAL,  /* double, 0 or more */
    OPT_MANY   /* struct opt_many: may be repeated */
};

enum { OPT_MANY_MAX = 32 };
struct opt_many {
    int n;
    const char *a[OPT_MANY_MAX];
};

/* The i-th of some words, NULL after the last. */
typedef const char *opt_words(int i);

/* A row of a command's own table. */
struct opt {
    const char *name; /* without the dashes */
    char key;         /* one-letter form, or 0 */
    enum opt_kind kind;
    size_t at;        /* offset of the value in the struct of the command */
    const char *arg;  /* name of the value in help texts */
    const char *def;  /* default, as a user would write it, or NULL */
    opt_words *words; /* or NULL */
    const char *what;
    int hidden; /* not in help, manual or completion */
};

/* A group of the library's options (nami_option_at) that a command has.  Options that are not given
   remain zero, which selects the default of the library. */
struct opt_group {
    const char *name;
    size_t at;           /* offset of the group's struct in that of the command */
    const char *without; /* comma-separated names of excluded options; or NULL */
};

/* Every command's struct begins with these. */
struct opt_common {
    int help, version;
};

/* An option of a command, from either table. */
struct option {
    char name[48]; /* as typed: hidden-shared */
    char key;
    enum opt_kind kind;
    size_t at;
    const char *arg, *def, *what; /* arg and def may be NULL */
    int hidden;
    opt_words *words;           /* of a row, or NULL */
    const nami_option *library; /* the library's row, or NULL */
};

struct cmd;

/* The i-th option of a command: its own rows, groups, and the common ones.  0 after the last. */
int opt_at(const struct cmd *c, int i, struct option *out);
int opt_takes_value(const struct option *o);
/* Word number i of an option, NULL after the last. */
const char *opt_word(const struct option *o, int i);

/* Sets the defaults, then the options in argv; moves the other arguments to the front of argv and
   counts them. Stops at --help or --version. */
int opt_parse(const struct cmd *c, void *into, int argc, char **argv, int *narg, nami_err *err);

/* "no X is called 's'; did you mean 't'?", or all words if none is similar: NAMI_EUSAGE */
int opt_unknown(const char *what, const char *s, opt_words *words, nami_err *err);

#endif
