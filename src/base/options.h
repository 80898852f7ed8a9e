/* options.h: checks option structs, fills in defaults, and converts them to and from JSON. */
#ifndef BASE_OPTIONS_H
#define BASE_OPTIONS_H

#include <jansson.h>

#include "base/arena.h"
#include "nami.h"

/* Copies the options of a caller (NULL: none) to *out, a struct of `size` bytes: 0 and NULL are
   replaced by defaults, disabled limits by 0, and words are checked. */
int options_complete(const char *group, const void *given, size_t size, void *out, nami_err *err);

/* The options of a completed struct as members of a JSON object: 0 or NAMI_ENOMEM. */
int options_to_json(const char *group, const void *options, json_t *object);
/* The reverse. Options that the object lacks are not changed; unknown names are rejected. Texts are
   allocated in mem. */
int options_from_json(const char *group, const json_t *object, void *options, struct arena *mem,
                      nami_err *err);

#endif
