/* json_value.h: JSON values as arrays of numbers, in CmdStan's convention. */
#ifndef DATA_JSON_VALUE_H
#define DATA_JSON_VALUE_H

#include <jansson.h>

#include "data/data.h"

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
