/* study_gauss.h: experiments on binary trees of Gaussians, whose posterior is known exactly.

   x_1 ~ N(0, 1), x_i ~ N(w_i x_(i/2), 1); the last of s->size levels is observed.  Each run has its
   own weights, uniform on [1/2, 2]. */
#ifndef STUDY_STUDY_GAUSS_H
#define STUDY_STUDY_GAUSS_H

#include "study/study.h"

/* Edges added to a forward inverse, identified by their number (d = 4): 12: from the grandchildren
   of each latent; 16: from all its leaf descendants. */
enum { SKIP_GRANDCHILDREN = 12, SKIP_LEAVES = 16 };

extern const struct measure gauss_epoch[], gauss_end[];
/* Settings for trees with this number of levels, and networks with this number of parameters. */
#define GAUSS_SETTINGS(n, first, levels, points, all)                                              \
    {                                                                                              \
        .epochs = (n), .steps = 10, .batch = 250, .rate = 1e-3, .cut = (first), .size = (levels),  \
        .sets = 5, .draws = 200, .judge = (points), .params = (all)                                \
    }
#define GAUSS_QUICK(levels, all) GAUSS_SETTINGS(60, 40, levels, 10000, all)
#define GAUSS_FULL(levels, all)  GAUSS_SETTINGS(200, 100, levels, 50000, all)

int gauss_run(struct job *j, nami_err *err);

#endif
