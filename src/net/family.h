/* family.h: the variational families of q(z | parents), one row and one file each.

   An output distribution (struct output_dist) turns the numbers that a network gives for a factor
   into a density of one number, the value: a standardized coordinate on the unconstrained scale,
   about N(0, 1) under the prior.  (A family that works on the variable's own scale says so:
   `own_scale`.)  All zeros from the network must give a reasonable density: near N(0, 1). */
#ifndef NET_FAMILY_H
#define NET_FAMILY_H

#include "base/kernel.h"
#include "dist/dist.h"

struct family;

/* The output distribution of one factor; what kernels get as `self`. */
struct output_dist {
    const struct family *family;
    int size; /* components of a mixture, bins of a spline, units of a flow, states */
    const struct dist *dist; /* match: the generative family */
    /* match: argument k is constrained from shift[k] + scale[k] * its output (outputs are
       arguments in their order, without integers) */
    double shift[RECORD_ARGS], scale[RECORD_ARGS];
    double fixed; /* match: the argument that is an integer, and no output (binomial's N) */
};

/* A row of family.def: density, gradient and sampler of a variational family. */
struct family {
    const char *name, *what;
    int size;                /* the default of output_dist.size; 0: it has none */
    const char *size_what;   /* "components" */
    int own_scale, discrete; /* match: as its distribution */
    int (*outputs)(const struct output_dist *output); /* numbers that it takes from the network */
    /* a = value, outputs...; out[0] = log q(value | outputs), with all constants.  dim[0] = 1,
       dim[1] = the number of outputs.  grad adds derivatives by the value too. */
    block_fn *logq;
    block_grad_fn *grad;
    /* out[0] = a draw; a = outputs.  Continuous ones are differentiable in the outputs (a
       transformation of one uniform or normal number) as far as the family allows. */
    void (*sample)(const void *self, const struct stream *s, const int *dim, int L,
                   double *const *out, const struct lanes *a, double *work);
    /* A draw's derivatives by the outputs: out[0] = the draw, a = outputs; adds dout[0] * d draw /
       d output to da.  Where the draw is no transformation of one number, that of the quantile with
       the same probability: right in distribution.  NULL: discrete. */
    block_grad_fn *path;
    int (*work)(const int *dim); /* doubles of scratch for any of the four; NULL: none */
};

/* Do draws have derivatives by the outputs? */
static inline int output_has_path(const struct output_dist *output)
{
    return output->family->path && (!output->dist || output->dist->path);
}

#define FAMILY(id) extern const struct family family_##id;
#include "net/family.def"
#undef FAMILY
extern const struct family *const net_families[]; /* in the order of family.def, NULL at the end */
const struct family *family_find(const char *name, size_t len); /* or NULL */

/* match: sets up the output distribution of a scalar variable from draws of it: if the network
   returns zeros, the arguments are the maximum likelihood fit to the draws.  output->fixed is read
   (binomial's N: set it before), all other members are written.  Draws outside of the domain (an
   underflow to 0) do not count.  Returns 0; or 1 if the family is unsuitable as a posterior
   (uniform, pareto, ...) or fewer than two of the draws are possible: use a mixture of one instead.
 */
int match_fit(struct output_dist *output, const struct dist *dist, int num_draws,
              const double *draw);

#endif
