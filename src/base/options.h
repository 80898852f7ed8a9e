/* options.h: structs of options, checked and completed, and as settings of files. */
#ifndef BASE_OPTIONS_H
#define BASE_OPTIONS_H

#include <jansson.h>

#include "base/arena.h"
#include "nami.h"

/* From what a caller gave (NULL: nothing) to *out, a struct of `size` bytes: defaults where the
   caller has left 0 or NULL, limits that are switched off as 0, words checked. */
int options_complete(const char *group, const void *given, size_t size, void *out, nami_err *err);

/* The options of a completed struct as members of a JSON object: 0 or NAMI_ENOMEM. */
int options_to_json(const char *group, const void *options, json_t *object);
/* And back to a completed struct.  What the object lacks stays as it is, a name that is
   no option is refused.  Texts go to mem. */
int options_from_json(const char *group, const json_t *object, void *options, struct arena *mem,
                      nami_err *err);

#endif
