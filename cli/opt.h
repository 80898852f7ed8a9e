/* opt.h: options as tables.  One table is what is parsed, what --help and the
   manual say, and what the shells complete. */
#ifndef CLI_OPT_H
#define CLI_OPT_H

#include <stddef.h>
#include <stdint.h>

#include "nami.h"

enum opt_kind {
    OPT_FLAG,  /* int */
    OPT_TEXT,  /* const char *; words are only suggested */
    OPT_WORD,  /* const char *, one of the words */
    OPT_WORDS, /* unsigned, a bit for each word of a comma list */
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

/* Every command's struct begins with these. */
struct opt_common {
    int help, version;
};

/* The i-th option of a command, the common ones last; NULL behind the end. */
const struct opt *opt_at(const struct opt *own, int i);
int opt_takes_value(const struct opt *o);

/* Sets the defaults, then what argv says; moves the arguments that are not
   options to the front of argv and counts them.  Stops at --help or --version. */
int opt_parse(const struct opt *own, void *into, int argc, char **argv, int *narg, nami_err *err);

/* The word nearest to s, or NULL if none is near. */
const char *opt_nearest(const char *s, opt_words *words);
/* "no X is called 's'; did you mean 't'?", or all the words if none is near */
int opt_unknown(const char *what, const char *s, opt_words *words, nami_err *err);

#endif
