/* given.h: a data set applied to a model: the values of its elements, including those that a data
   block computes, and whether its constants equal those that the model was read with. */
#ifndef MODEL_GIVEN_H
#define MODEL_GIVEN_H

#include "model/view.h"

/* Marks the arrays that a data block computes, those that only the data block reads, and those that
   observations are computed from.  0 or NAMI_ENOMEM. */
int given_mark(struct model *m);

struct given {
    const struct model *m;
    const struct dataset *data;
    struct model *block; /* the model up to its data block, with these data; NULL without a block */
};

/* NAMI_EINPUT if the shape of an array differs from that in the model, or if the data block cannot
   be computed from these data; differing scalars, such as sizes, are left to given_other. m and
   data must outlive it; call given_close() also after an error. */
int given_open(struct given *g, const struct model *m, const struct dataset *data, nami_err *err);
void given_close(struct given *g);

/* The value of an element of the model, or value_missing(). */
double given_value(const struct given *g, int e);

/* The element of the first constant whose value in these data differs from that in the model, or
   -1. Constants that only the data block reads may differ: they are data. */
int given_other(const struct given *g, double *value);
/* The same, reported as an error. */
int given_refuse(const struct given *g, const char *there, const char *advice, nami_err *err);

/* "x[3] is 2.5 in THERE and 25 in these data; ADVICE": element e has this value in the data. */
int refuse_constant(const struct model *m, int e, double value, const char *there,
                    const char *advice, nami_err *err);

/* The first array whose values in a and b differ, where both are constant: two models of the same
   text. -1: none. */
int model_other_constant(const struct model *a, const struct model *b);

#endif
