/* diag.h: errors and warnings with their places, as many as there are. */
#ifndef MODEL_LANG_DIAG_H
#define MODEL_LANG_DIAG_H

#include "base/arena.h"
#include "base/str.h"
#include "base/vec.h"

/* From 1; len columns are underlined. line 0: no place in the model file. */
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

/* A second message at the same place and an error beyond the 20th are dropped (and
   counted in nerror). */
void diag_add(struct diags *d, enum level level, struct place at, const char *advice,
              const char *fmt, ...) __attribute__((format(printf, 5, 6)));
#define diag_error(d, at, advice, ...)   diag_add(d, DIAG_ERROR, at, advice, __VA_ARGS__)
#define diag_warning(d, at, advice, ...) diag_add(d, DIAG_WARNING, at, advice, __VA_ARGS__)
/* Text for an advice, in the memory of d. NULL (which is a fine advice) if there is none left. */
const char *diag_text(struct diags *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* In the order of places:
       eight.nami:7:16: error: sigma of normal() must be positive, but x can be negative
           y ~ normal(mu, x)
                          ^ give x a positive prior, such as x ~ gamma(2, 1)          */
void diags_print(const struct diags *d, const char *file, const char *text, size_t len,
                 struct str *out);
/* The same messages, to add others to.  Their texts stay in the memory of `from`, which must
   outlive them.  0, or -1: no memory. */
int diags_copy(struct diags *to, const struct diags *from);
void diags_free(struct diags *d);

#endif
