/* json_value.h: JSON values as arrays of numbers, in CmdStan's convention. */
#ifndef DATA_JSON_VALUE_H
#define DATA_JSON_VALUE_H

#include <jansson.h>
#include <string.h>

#include "data/data.h"

/* Did Jansson fail for lack of memory?  It is that where it has no message, and where a complete
   string is an "invalid token". */
static inline int json_no_memory(const json_error_t *e)
{
    static const char token[] = "invalid token near '\"";
    size_t n = strlen(e->text);
    return n == 0 || json_error_code(e) == json_error_out_of_memory ||
           (strncmp(e->text, token, sizeof token - 1) == 0 && n > sizeof token &&
            strcmp(e->text + n - 2, "\"'") == 0);
}

/* The position of an element: subscripts starting at 0. */
struct json_path {
    int n;
    size_t sub[MAX_DIM + 1];
};

/* Stores the shape of j (a number or nested lists) in v->ndim, dim and n, after validating every
   element: ragged lists and strings are errors.  On an error *at is the position of the element. */
int json_shape(const json_t *j, struct value *v, struct json_path *at, nami_err *err);
/* The numbers of j, which json_shape has validated. */
void json_numbers(const json_t *j, double *x);

#endif
