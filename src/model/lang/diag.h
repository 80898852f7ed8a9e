/* diag.h: lists of errors and warnings with source positions. */
#ifndef MODEL_LANG_DIAG_H
#define MODEL_LANG_DIAG_H

#include "base/arena.h"
#include "base/str.h"
#include "base/vec.h"

/* Counted from 1; len columns are underlined. line 0: no position in the model file. */
struct place {
    int line, col, len;
};

enum level { DIAG_ERROR, DIAG_WARNING };

struct diag {
    enum level level;
    struct place at;
    const char *msg, *advice; /* advice may be NULL */
};

struct diags {
    struct arena mem;
    vec(struct diag) list;
    int nerror, oom;
};

/* A second message at the same position and errors beyond the 20th are dropped (but counted in
   nerror). */
void diag_add(struct diags *d, enum level level, struct place at, const char *advice,
              const char *fmt, ...) __attribute__((format(printf, 5, 6)));
#define diag_error(d, at, advice, ...)   diag_add(d, DIAG_ERROR, at, advice, __VA_ARGS__)
#define diag_warning(d, at, advice, ...) diag_add(d, DIAG_WARNING, at, advice, __VA_ARGS__)
/* Formatted text for an advice, in the memory of d. NULL (no advice) if out of memory. */
const char *diag_text(struct diags *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Prints them in the order of positions:
       eight.nami:7:16: error: sigma of normal() must be positive, but x can be negative
           y ~ normal(mu, x)
                          ^ give x a positive prior, such as x ~ gamma(2, 1)          */
void diags_print(const struct diags *d, const char *file, const char *text, size_t len,
                 struct str *out);
/* Copies the list, so that messages can be added. Texts are borrowed from `from`, which must
   outlive the copy. 0, or -1: out of memory. */
int diags_copy(struct diags *to, const struct diags *from);
void diags_free(struct diags *d);

#endif
