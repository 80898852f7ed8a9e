/* mcmc_carry.c: chains between centered and noncentered coordinates.

   Trajectories in both, by turns, leave the posterior unchanged, and where one parameterization is
   slow, the other is fast (Yu, Meng 2011, Journal of Computational and Graphical Statistics 20). */
#include <math.h>
#include <string.h>

#include "infer/mcmc.h"

static double value_of(const struct exec *x, struct row_or_constant o, int b)
{
    return o.is_const ? x->p->constant.a[o.at] : x->row[(size_t)o.at * (size_t)x->cap + (size_t)b];
}

struct carry {
    struct mcmc *from, *to;
    const struct joint *centered;
};

/* The coordinates of the chains in lanes of `from`, as coordinates of `to`: to->from. */
static void convert(const struct carry *j, const struct exec *x, size_t first)
{
    const struct mcmc *from = j->from;
    for (size_t k = 0; k < (size_t)from->dim; k++)
        memcpy(j->to->from + k * MCMC_CHAINS + first, from->u + k * MCMC_CHAINS + first,
               sizeof *from->u * MCMC_LANES);
    for (int i = 0; i < j->centered->num_scaled; i++) {
        const struct scaled_latent *z = &j->centered->scaled[i];
        double *u = j->to->from + (size_t)z->coordinate * MCMC_CHAINS + first;
        for (int b = 0; b < MCMC_LANES; b++) {
            double latent = x->row[(size_t)z->row * (size_t)x->cap + (size_t)b];
            u[b] = &from->joint == j->centered
                       ? (latent - value_of(x, z->location, b)) / value_of(x, z->scale, b)
                       : (latent - z->mean) / z->unit;
        }
    }
}

static int leave(void *job, void *workspace, size_t first, size_t n, nami_err *err)
{
    const struct carry *j = job;
    struct lanes_of_chains *w = workspace;
    (void)n, (void)err;
    lanes_load(j->from, w, j->from->u, first);
    lanes_place(j->from, w);
    exec_run(&w->x);
    convert(j, &w->x, first);
    return 0;
}

/* A chain without a value has not moved in `from`. */
static int arrive(void *job, void *workspace, size_t first, size_t n, nami_err *err)
{
    const struct carry *j = job;
    struct mcmc *to = j->to;
    struct lanes_of_chains *w = workspace;
    (void)n, (void)err;
    lanes_load(to, w, to->from, first);
    lanes_evaluate(to, w);
    for (int b = 0; b < MCMC_LANES; b++) {
        size_t c = first + (size_t)b;
        int ok = lanes_inside(to, w, b) && !isnan(j->from->value[c]);
        if (!ok && &to->joint == j->centered) continue;
        to->value[c] = ok ? w->x.total[b] : NAN;
        for (size_t k = 0; k < (size_t)to->dim; k++) {
            to->u[k * MCMC_CHAINS + c] = w->u[k * MCMC_LANES + (size_t)b];
            to->grad[k * MCMC_CHAINS + c] = w->g[k * MCMC_LANES + (size_t)b];
        }
    }
    return 0;
}

static int carry(struct mcmc *from, struct mcmc *to, const struct joint *centered, nami_err *err)
{
    struct carry j = {from, to, centered};
    int rc = mcmc_run_job(from, &j, leave, err);
    return rc ? rc : mcmc_run_job(to, &j, arrive, err);
}

int mcmc_noncenter(struct mcmc *centered, struct mcmc *noncentered, nami_err *err)
{
    return carry(centered, noncentered, &centered->joint, err);
}

int mcmc_center(struct mcmc *noncentered, struct mcmc *centered, nami_err *err)
{
    return carry(noncentered, centered, &centered->joint, err);
}
