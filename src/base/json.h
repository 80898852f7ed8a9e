/* json.h: reads JSON, to Jansson's values, and prints them.  When memory runs out, Jansson's own
   reader drops characters of names and numbers, and then either calls the rest invalid or takes it;
   its json_dumps() drops names. */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <jansson.h>

#include "base/str.h"

struct json_why {
    enum json_error_code code; /* json_error_out_of_memory, ... */
    int line, column;          /* the last character that was read, from 1 */
    size_t position;           /* bytes that were read */
    char text[80];             /* what is wrong, near what */
};

/* The object or list that text[len] is; NULL if it is none or memory runs out, with *why.
   flags: JSON_REJECT_DUPLICATES, JSON_DISABLE_EOF_CHECK, JSON_DECODE_INT_AS_REAL. */
json_t *json_read(const char *text, size_t len, size_t flags, struct json_why *why);

/* Appends the value as text, by the flags of json_dumps(); sets out->oom if memory runs out. */
void json_print(const json_t *value, size_t flags, struct str *out);

#endif
