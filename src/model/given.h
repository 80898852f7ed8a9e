/* given.h: what a data set says of a model: the values of its elements, those that a data block
   computes among them; and whether its constants are those that the model was read with. */
#ifndef MODEL_GIVEN_H
#define MODEL_GIVEN_H

#include "model/view.h"

/* Marks arrays: which a data block computes, which it alone reads, and from which observations are
   computed.  0 or NAMI_ENOMEM. */
int given_mark(struct model *m);

struct given {
    const struct model *m;
    const struct dataset *data;
    struct model *block; /* the model up to its data block, with these data; NULL without a block */
};

/* NAMI_EINPUT if an array has another shape than in the model, or if the data block cannot be
   computed from these data; not so if a single number differs (given_other), such as a size.  m and
   data must outlive it; given_close() in any case. */
int given_open(struct given *g, const struct model *m, const struct dataset *data, nami_err *err);
void given_close(struct given *g);

/* The value of an element of the model, or value_missing(). */
double given_value(const struct given *g, int e);

/* The first constant of the model that has another value in these data: its element, or -1.
   Constants that only the data block reads may differ: they are data. */
int given_other(const struct given *g, double *value);
/* The same as an error. */
int given_refuse(const struct given *g, const char *there, const char *advice, nami_err *err);

/* "x[3] is 2.5 in THERE and 25 in these data; ADVICE": element e has this value in the data. */
int refuse_constant(const struct model *m, int e, double value, const char *there,
                    const char *advice, nami_err *err);

/* The first array of a that has another value in b, where both are constant: two models of one text.
   -1: none. */
int model_other_constant(const struct model *a, const struct model *b);

#endif
