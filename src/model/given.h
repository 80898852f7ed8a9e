/* given.h: what a data set says of a model: the values of its elements, those that a data block
   computes among them; and whether its constants are those that the model was read with. */
#ifndef MODEL_GIVEN_H
#define MODEL_GIVEN_H

#include "model/model.h"

struct given {
    const struct model *m;
    const struct dataset *data;
    struct model block; /* the model up to its data block, with these data; empty without a block */
};

/* NAMI_EINPUT if an array has another shape than in the model, or if the data block cannot be
   computed from these data.  m and data must outlive it; given_close() in any case. */
int given_open(struct given *g, const struct model *m, const struct dataset *data, nami_err *err);
void given_close(struct given *g);

/* The value of an element of the model, or value_missing(). */
double given_value(const struct given *g, int e);

/* The first constant of the model that has another value in these data: its element, or -1.
   Constants that only the data block reads may differ: they are data. */
int given_other(const struct given *g, double *value);
/* The same as an error: "x[3] is 2.5 in THERE and 25 in these data; ADVICE" */
int given_refuse(const struct given *g, const char *there, const char *advice, nami_err *err);

/* Which names of the syntax tree are read in the data block (1), outside of it (2)? */
enum { NAME_IN_BLOCK = 1, NAME_OUTSIDE = 2 };
void block_names(const struct syntax *s, unsigned char *where);

#endif
