/* ais.h: annealed importance sampling (Neal 2001, Statistics and Computing 11): log p(x) from
   chains that move from a distribution that can be sampled, f_0, to f_1 = p(x, z), through
   intermediate distributions f_b, 0 < b < 1.  A chain's weight is the product of f_b'(z) / f_b(z)
   over its steps from b to b', each followed by a move that leaves f_b' invariant.  The mean
   weight is an unbiased estimate of p(x) for any number of steps; more steps reduce its variance.

   Moves are Hamiltonian Monte Carlo on the coordinates of all latents (net/joint.h). */
#ifndef INFER_AIS_H
#define INFER_AIS_H

#include "data/summary.h"
#include "infer/infer.h"
#include "net/joint.h"

enum ais_start {
    AIS_NETWORK, /* f_b = g^(1-b) p(x, z)^b, where g is normal on the coordinates, with means and
                    sds of the network's draws: near the posterior, if the network is good */
    AIS_PRIOR    /* f_b = p(z) p(x | z)^b: does not use the network */
};
extern const char *const ais_starts[]; /* NULL at the end */

struct ais_options {
    enum ais_start start;
    int temps;    /* steps from f_0 to f_1: 1 .. AIS_TEMPS */
    int leapfrog; /* leapfrog steps of a move, at least 1 */
};
enum { AIS_TEMPS = 32767 };

struct ais {
    const struct infer *a;
    struct ais_options o;
    struct joint joint;
    struct prog prior; /* draws the latents of the joint given the observations; or empty */
    float *param;      /* the model's weights, or NULL if it has none */
    double *beta;      /* (temps + 1) from 0 to 1 */
};

/* a must outlive it.  NAMI_EINPUT if p(x, z) is not known or a latent is discrete; NAMI_EUSAGE for
   options out of range.  Call ais_fini() also after an error. */
int ais_init(struct ais *s, const struct infer *a, const struct ais_options *o, nami_err *err);
void ais_fini(struct ais *s);

/* q->per chains for each of the sets first .. first+nset-1 of the query. first * q->per % 8 == 0.
   Results depend neither on the number of threads nor on how sets are divided into calls. */
struct ais_out {
    double *logw;              /* [set * per + chain]: log weights */
    struct diagnostics *found; /* for each set; khat is NaN, ess is that of the chains' weights */
    double *accept;            /* acceptance rate of each set, or NULL */
};
int ais_sets(const struct ais *s, const struct query *q, size_t first, size_t nset, int threads,
             const struct ais_out *out, nami_err *err);

/* ---- inside ---------------------------------------------------------------------------- */

/* Initial distributions and step sizes of the chains of nset sets. */
struct ais_guide {
    size_t nset;
    double *mean, *sd; /* [coordinate * nset + set]: of g; NULL for the prior */
    int temps;
    double *step; /* [set * temps + t]: leapfrog step size at temperature t / temps, t >= 1 */
};

/* Chains of the guide's sets, `per` of each; set s is set first + s of the query. */
struct ais_run {
    const struct ais *s;
    const struct query *q;
    size_t first, per;
    uint64_t seed;
    const double *beta; /* (temps + 1) */
    int temps;
    struct ais_guide *guide;
    int tune;              /* per is AIS_TUNERS, and guide->step is tuned; otherwise it is read */
    double *logw, *accept; /* [set * per + chain], or NULL */
};
enum { AIS_TUNERS = 8 };
int ais_chains(const struct ais_run *r, int threads, nami_err *err);

#endif
