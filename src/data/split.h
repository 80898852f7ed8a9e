/* split.h: splits observations into training, validation and test sets. */
#ifndef DATA_SPLIT_H
#define DATA_SPLIT_H

#include <stddef.h>
#include <stdint.h>

#include "nami.h"

enum split_part { SPLIT_TRAIN, SPLIT_VALID, SPLIT_TEST, SPLIT_PARTS };

struct split {
    int *index; /* all n observations: training, validation, test set, others */
    size_t n[SPLIT_PARTS];
};

/* how: "50000,10000", "0.8,0.1,0.1", "rest,5000": for each set in turn a count, a fraction of the n
   observations (below 1, with a decimal point; rounded down) or the remainder; sets that are not
   listed are empty.  If fractions add up to 1, the remainder from rounding goes to the training
   set. In the given order, or shuffled with a seed. */
int split_make(struct split *s, size_t n, const char *how, int shuffled, uint64_t seed,
               nami_err *err);
const int *split_index(const struct split *s, enum split_part part);
void split_free(struct split *s);

#endif
