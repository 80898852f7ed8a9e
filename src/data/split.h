/* split.h: which observations to train on, to validate with, and to test with. */
#ifndef DATA_SPLIT_H
#define DATA_SPLIT_H

#include <stddef.h>
#include <stdint.h>

#include "nami.h"

enum split_part { SPLIT_TRAIN, SPLIT_VALID, SPLIT_TEST, SPLIT_PARTS };

struct split {
    int *index; /* all n observations: those to train on, to validate with, to test with, others */
    size_t n[SPLIT_PARTS];
};

/* how: "50000,10000", "0.8,0.1,0.1", "rest,5000": for each part in turn a count, a fraction of the
   n observations (below 1, with a point; rounded down) or what the others leave; parts that are not
   named are empty.  Fractions that add up to 1 leave nothing: what rounding leaves is to train on.
   In the order they have, or shuffled with a seed. */
int split_make(struct split *s, size_t n, const char *how, int shuffled, uint64_t seed,
               nami_err *err);
const int *split_index(const struct split *s, enum split_part part);
void split_free(struct split *s);

#endif
