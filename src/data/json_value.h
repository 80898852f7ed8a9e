/* json_value.h: JSON values as arrays of numbers, in CmdStan's convention. */
#ifndef DATA_JSON_VALUE_H
#define DATA_JSON_VALUE_H

#include <jansson.h>

#include "data/data.h"

/* The place of an element: subscripts from 0. */
struct json_path {
    int n;
    size_t sub[MAX_DIM + 1];
};

/* The shape of j (a number or nested lists) into v->ndim, dim and n, after a look at every
   element: no ragged lists, no text.  On an error *at is the element. */
int json_shape(const json_t *j, struct value *v, struct json_path *at, nami_err *err);
/* The numbers of j, which json_shape liked. */
void json_numbers(const json_t *j, double *x);

#endif
