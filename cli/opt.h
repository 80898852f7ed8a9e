/* opt.h: options as tables.  The rows of a command and the library's groups that it has are what is
   parsed, what --help and the manual say, and what the shells complete. */
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

/* The i-th of some words, NULL behind the last. */
typedef const char *opt_words(int i);

/* A row of a command's own table. */
struct opt {
    const char *name; /* without the dashes */
    char key;         /* of the short form, or 0 */
    enum opt_kind kind;
    size_t at;        /* where the value goes in the command's struct */
    const char *arg;  /* what help calls the value */
    const char *def;  /* the value if it is not given, as a user would write it, or NULL */
    opt_words *words; /* or NULL */
    const char *what;
    int hidden; /* not in help, manual or completion */
};

/* A group of the library's options (nami_option_at) that a command has.  What is not given stays
   zero, which is the library's default. */
struct opt_group {
    const char *name;
    size_t at;           /* of the group's struct in that of the command */
    const char *without; /* names of options that are left out, a comma list; or NULL */
};

/* Every command's struct begins with these. */
struct opt_common {
    int help, version;
};

/* An option of a command, from either table. */
struct option {
    char name[48]; /* as it is typed: hidden-shared */
    char key;
    enum opt_kind kind;
    size_t at;
    const char *arg, *def, *what; /* arg and def may be NULL */
    int hidden;
    opt_words *words;           /* of a row, or NULL */
    const nami_option *library; /* the library's row, or NULL */
};

struct cmd;

/* The i-th option of a command: its own rows, groups, and the common ones.  0 behind the last. */
int opt_at(const struct cmd *c, int i, struct option *out);
int opt_takes_value(const struct option *o);
/* Word number i of an option, NULL behind the last. */
const char *opt_word(const struct option *o, int i);

/* Sets the defaults, then what argv says; moves the arguments that are not
   options to the front of argv and counts them.  Stops at --help or --version. */
int opt_parse(const struct cmd *c, void *into, int argc, char **argv, int *narg, nami_err *err);

/* "no X is called 's'; did you mean 't'?", or all the words if none is near: NAMI_EUSAGE */
int opt_unknown(const char *what, const char *s, opt_words *words, nami_err *err);

#endif
