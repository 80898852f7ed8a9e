/* design_draw.h: draws designs: data sets of other sizes than the one at hand, and patterns of
   missing observations. */
#ifndef TRAIN_DESIGN_DRAW_H
#define TRAIN_DESIGN_DRAW_H

#include "base/rng.h"
#include "net/network.h"

/* A size or an index vector, and where its values lie. */
struct open_range {
    const char *name;
    double low, high;    /* the least and the largest value */
    const char *high_is; /* high is the value of this size; or NULL */
    int is_size;         /* one number */
    int now;             /* of a size: its value in the data at hand */
};

struct open_ranges {
    vec(struct open_range) range;
};

/* "J=1:100, group=1:J", which may be NULL.  Sizes have values in `data` or among "name=value". */
int open_ranges_make(struct open_ranges *x, const char *text, const struct dataset *data,
                     const struct plan *plan, struct arena *mem, nami_err *err);
void open_ranges_free(struct open_ranges *x);

/* Design number i: 0 the data themselves, 1 the least sizes, 2 the largest, others drawn from their
   ranges.  Dimensions that equal a size in `data` follow it; what stands there is drawn from the
   values of `data`, with replacement.  The data set is out->set.a[0]. */
int design_data(const struct open_ranges *x, const struct dataset *data, int i, uint64_t seed,
                struct data *out, nami_err *err);

/* What is observed if some observations are missing, up to this fraction, as a list of names.  Only
   sinks of the graph are, and never all of them. */
int design_observe(const struct model *m, double missing, struct rng *rng, struct str *out,
                   nami_err *err);

#endif
