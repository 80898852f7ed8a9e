/* joint.h: log p(x, z) of a model as a function of its latents on the unconstrained scale, the
   target of HMC chains and of searches for a mode.

   The program's first rows are the model's; observed ones are given.  Then come the coordinates of
   all latents that have a factor, also given; the latents are computed from them.  The total is
   log p(x, z) plus the log-Jacobian log |dz / d coordinates|.  Its terms are in three gradient
   groups (enum gradient_group), which are also their tags (see exec.weight, exec.by_tag):
   log p(x | z), log p(z) and the log-Jacobian.  Barren latents are left out: they integrate to
   1. */
#ifndef NET_JOINT_H
#define NET_JOINT_H

#include "net/qnet.h"

/* GRADIENT_SCORE: see elbo.h */
enum gradient_group {
    GRADIENT_DATA,
    GRADIENT_LATENT,
    GRADIENT_SCORE,
    GRADIENT_JACOBIAN = GRADIENT_SCORE
};

/* A row of a program, or a constant of it. */
struct row_or_constant {
    int is_const, at;
};

/* An unbounded scalar latent with the density of a location-scale family whose scale is not
   constant: its row = mean + unit * its coordinate (numbered from 0), and where its location and
   scale are. */
struct scaled_latent {
    int node, row, coordinate;
    double mean, unit;
    struct row_or_constant location, scale;
};

/* The program of log p(x, z), and where its coordinates are. */
struct joint {
    struct qnet *q;
    struct prog prog;           /* its weights are the model's */
    int coord, num_coordinates; /* the first row of the coordinates, how many */
    struct encoding *encoding;  /* of nodes; coord is -1 where there is none */
    int num_scaled;             /* joint_noncenter: latents with noncentered coordinates */
    struct scaled_latent *scaled;
};

/* NAMI_EINPUT if the model has no density: variables come from a simulator.  Advice ends the
   message. */
int joint_density(const struct model *m, const char *advice, nami_err *err);

/* q must outlive it.  NAMI_EINPUT if the model has no density, or a latent is discrete or has no
   factor. */
int joint_make(struct joint *j, struct qnet *q, nami_err *err);
void joint_free(struct joint *j);
/* The same density with noncentered coordinates of the latents in j->scaled, which it finds:
   latent = location + scale * coordinate.  All other coordinates are those of j.  j->num_scaled =
   0: there are none, and nothing is made.  0 or NAMI_ENOMEM; noncentered.c. */
int joint_noncenter(struct joint *noncentered, struct joint *j);
/* The coordinates u[k * n + i] of the latents in points z[row * n + i]; 0 or NAMI_ENOMEM. */
int joint_coordinates(const struct joint *j, size_t n, const double *z, double *u);
/* The same, or if latents are not to be inferred: a network has no factors for them. */
int joint_of_all(const struct model *m, const char *advice, nami_err *err);
int joint_known(const struct qnet *q, const char *advice, nami_err *err);

/* ---- inside net/ ---- */

/* Everything but prog_finish and prog_trim.  noncentered: nodes whose elements are not computed
   from their coordinates yet; NULL: none. */
int joint_compile(struct joint *j, const unsigned char *noncentered);

/* The terms of log p(x, z) but those of barren latents behind p, in their gradient groups.  Terms
   of the data get the first tag, others the second. */
int joint_terms(struct qnet *q, struct prog *p, const int tag[2], const int *logit);
/* A row of p with logit(x) for each row x of the model, or -1: none yet; free() it.  Terms read it
   where there is one. */
int *joint_logits(const struct model *m);

#endif
