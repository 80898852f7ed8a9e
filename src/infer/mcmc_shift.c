/* mcmc_shift.c: moves of a scale together with the latents that it scales.

   In a hierarchical model z_i ~ normal(l_i, s_i), with a coordinate u_k that enters the s_i (and
   possibly the l_i), trajectories explore u_k slowly where the data say little of the z_i: a
   funnel. A shift changes u_k at random and keeps e_i = (z_i - l_i) / s_i: a Metropolis step in the
   noncentered parameterization, interwoven with trajectories in the centered one (Yu, Meng 2011,
   Journal of Computational and Graphical Statistics 20).  It is found from the program of the
   density which coordinates enter which scales; the distribution may be any location-scale family.
   A step costs three evaluations of the density, without derivatives.

   The map has an inverse of the same form if no l_i or s_i of a shift depends on a z_j of the same
   shift.  Where one does, as in a random walk, every shift is rejected, and it is soon given up. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "dist/dist.h"
#include "infer/mcmc.h"

static const double PROBE = 0.1, SAME = 1e-9, ACCEPT = 0.44;
static const double USELESS = 1e-6; /* step */

/* ---- latents with a location-scale density ----------------------------------------------------
 */

static const double *lane_of(const struct exec *x, struct shift_operand o)
{
    return o.is_const ? x->p->constant.a + o.at : x->row + (size_t)o.at * (size_t)x->cap;
}

static double value_of(const struct exec *x, struct shift_operand o, int b)
{
    return lane_of(x, o)[o.is_const ? 0 : b];
}

static struct shift_operand operand_of(const struct operand *o, int i)
{
    return (struct shift_operand){o->is_const, operand_at(o, i, 0)};
}

/* unit[row] = dz / d coordinate of row z, coordinate[row]: its number; of unbounded latents. */
static void unbounded(const struct joint *j, int *coordinate, double *unit)
{
    for (int r = 0; r < j->coord; r++) coordinate[r] = -1;
    for (int i = 0; i < j->q->inverse->nlatent; i++) {
        const struct encoding *e = &j->encoding[j->q->inverse->perm[i]];
        if (!isinf(e->lo) || !isinf(e->hi) || (e->domain != REAL && e->domain != VECTOR)) continue;
        for (int k = 0; k < e->ncoord; k++) {
            coordinate[e->row[k]] = e->coord - j->coord + k;
            unit[e->row[k]] = e->sd[k];
        }
    }
}

/* `self` is a record of dist/ only if it is one of the table: forms have records of their own. */
static const struct dist *location_scale(const struct instr *c)
{
    for (int k = 0; dists[k] && c->sum && c->map; k++)
        if (c->self == dists[k])
            return c->map == dists[k]->logp && dists[k]->location && dists[k]->scale ? dists[k]
                                                                                    : NULL;
    return NULL;
}

/* All such latents to s->scaled, at most one for each coordinate; coordinate, unit: of rows. */
static void find_scaled(struct mcmc *s, int *coordinate, const double *unit)
{
    const struct prog *p = &s->joint.prog;
    for (size_t k = 0; k < p->code.n; k++) {
        const struct instr *c = &p->code.a[k];
        const struct dist *d = location_scale(c);
        for (int i = 0; d && i < c->n && !c->arg[0].is_const; i++) {
            int r = operand_at(&c->arg[0], i, 0);
            if (r >= s->joint.coord || coordinate[r] < 0 || c->arg[d->scale].is_const) continue;
            s->scaled[s->num_scaled++] = (struct scaled_latent){r, coordinate[r], unit[r],
                                                                operand_of(&c->arg[d->location], i),
                                                                operand_of(&c->arg[d->scale], i)};
            coordinate[r] = -1;
        }
    }
}

/* ---- which coordinates enter which scales ------------------------------------------------------
 */

/* Has an operand another value in lane b than in lane 0? */
static int differs(const struct exec *x, struct shift_operand o, int b)
{
    double is = value_of(x, o, b), was = value_of(x, o, 0);
    return isfinite(is) && isfinite(was) && is != was;
}

/* The shift of the coordinate that lane b has changed, if it enters any scale. */
static int add_shift(struct mcmc *s, const struct exec *x, int coordinate, int b, nami_err *err)
{
    int n = 0, scales = 0;
    for (int i = 0; i < s->num_scaled; i++) {
        int by = differs(x, s->scaled[i].scale, b);
        scales += by;
        n += by || differs(x, s->scaled[i].location, b);
    }
    if (!scales || s->num_shifts == MCMC_SHIFTS) return 0;
    struct shift *h = &s->shift[s->num_shifts];
    if (!(h->member = raw_array(int, n))) return err_nomem(err);
    *h = (struct shift){.coordinate = coordinate, .member = h->member, .step = 1};
    for (int i = 0; i < s->num_scaled; i++)
        if (differs(x, s->scaled[i].scale, b) || differs(x, s->scaled[i].location, b))
            h->member[h->n++] = i;
    s->num_shifts++;
    return 0;
}

/* From the position of the last chain in lane 0, one coordinate is changed in each of the other
   lanes. */
static int find_shifts(struct mcmc *s, struct lanes_of_chains *w, nami_err *err)
{
    size_t d = (size_t)s->dim;
    int rc = 0;
    for (size_t first = 0; first < d && !rc; first += MCMC_LANES - 1) {
        for (size_t k = 0; k < d; k++)
            for (size_t b = 0; b < MCMC_LANES; b++)
                w->u[k * MCMC_LANES + b] =
                    s->u[k * MCMC_CHAINS + MCMC_CHAINS - 1] + (b && k == first + b - 1 ? PROBE : 0);
        lanes_place(s, w);
        exec_run(&w->x);
        for (size_t b = 1; b < MCMC_LANES && first + b - 1 < d && !rc; b++)
            rc = add_shift(s, &w->x, (int)(first + b - 1), (int)b, err);
    }
    return rc;
}

int mcmc_shifts(struct mcmc *s, nami_err *err)
{
    size_t rows = (size_t)s->joint.coord + 1;
    struct lanes_of_chains w = {0};
    int *coordinate = raw_array(int, rows), rc = lanes_init(s, &w, err);
    double *unit = raw_array(double, rows);
    s->scaled = raw_array(struct scaled_latent, s->dim);
    if (!rc && (!coordinate || !unit || !s->scaled)) rc = err_nomem(err);
    if (!rc) {
        unbounded(&s->joint, coordinate, unit);
        find_scaled(s, coordinate, unit);
        lanes_data(s, &w);
        if (s->num_scaled) rc = find_shifts(s, &w, err);
        s->shift_size = (size_t)s->num_scaled * MCMC_LANES;
    }
    lanes_fini(&w);
    free(coordinate);
    free(unit);
    return rc;
}

void mcmc_shifts_free(struct mcmc *s)
{
    for (int g = 0; g < s->num_shifts; g++) free(s->shift[g].member);
    free(s->scaled);
}

/* ---- moves -------------------------------------------------------------------------------------
 */

/* Locations and scales of the members of a shift, at the last evaluation. */
static void get_members(const struct mcmc *s, const struct shift *h, const struct exec *x,
                        double *location, double *scale)
{
    for (int i = 0; i < h->n; i++)
        for (int b = 0; b < MCMC_LANES; b++) {
            location[i * MCMC_LANES + b] = value_of(x, s->scaled[h->member[i]].location, b);
            scale[i * MCMC_LANES + b] = value_of(x, s->scaled[h->member[i]].scale, b);
        }
}

/* Are those that depend on members at the end what the map took them for? */
static int holds(const struct mcmc *s, const struct shift *h, const struct exec *x, int b,
                 const double *location, const double *scale)
{
    for (int i = 0; i < h->n; i++) {
        const struct scaled_latent *z = &s->scaled[h->member[i]];
        double l = location[i * MCMC_LANES + b], t = scale[i * MCMC_LANES + b];
        if (!(fabs(value_of(x, z->location, b) - l) <= SAME * (fabs(l) + t))) return 0;
        if (!(fabs(value_of(x, z->scale, b) - t) <= SAME * t)) return 0;
    }
    return 1;
}

/* u becomes the proposal; the logarithm of the map's Jacobian is added to gain.  w->shift:
   locations and scales before, then after. */
static void propose(const struct mcmc *s, const struct shift *h, struct lanes_of_chains *w,
                    const double *normal, double *gain)
{
    double *l0 = w->shift, *s0 = l0 + s->shift_size, *l1 = s0 + s->shift_size,
           *s1 = l1 + s->shift_size, *moving = w->u + (size_t)h->coordinate * MCMC_LANES;
    get_members(s, h, &w->x, l0, s0);
    for (int b = 0; b < MCMC_LANES; b++) moving[b] += h->step * normal[b];
    lanes_place(s, w);
    exec_run(&w->x);
    get_members(s, h, &w->x, l1, s1);
    for (int i = 0; i < h->n; i++) {
        const struct scaled_latent *z = &s->scaled[h->member[i]];
        double *u = w->u + (size_t)z->coordinate * MCMC_LANES;
        for (int b = 0; b < MCMC_LANES; b++) {
            int at = i * MCMC_LANES + b;
            double from = w->x.row[(size_t)z->row * (size_t)w->x.cap + (size_t)b];
            double to = l1[at] + (from - l0[at]) * (s1[at] / s0[at]);
            u[b] += (to - from) / z->unit;
            gain[b] += log(s1[at] / s0[at]);
        }
    }
    lanes_place(s, w);
    exec_run(&w->x);
}

static void shift_lanes(struct mcmc *s, struct shift *h, struct lanes_of_chains *w, size_t first,
                        const double *normal, const double *uniform)
{
    double gain[MCMC_LANES] = {0}, before[MCMC_LANES];
    double *l1 = w->shift + 2 * s->shift_size, *s1 = l1 + s->shift_size;
    size_t size = (size_t)s->dim * MCMC_LANES;
    memcpy(w->v, w->u, sizeof *w->u * size);
    lanes_place(s, w);
    exec_run(&w->x);
    memcpy(before, w->x.total, sizeof before);
    propose(s, h, w, normal, gain);
    for (int b = 0; b < MCMC_LANES; b++) {
        double change = gain[b] + w->x.total[b] - before[b];
        int ok = isfinite(change) && holds(s, h, &w->x, b, l1, s1);
        double share = ok ? exp(fmin(0, change)) : 0;
        h->share[first + (size_t)b] = share;
        if (uniform[b] < share) continue;
        for (size_t k = 0; k < (size_t)s->dim; k++)
            w->u[k * MCMC_LANES + (size_t)b] = w->v[k * MCMC_LANES + (size_t)b];
    }
}

void mcmc_shift(struct mcmc *s, struct lanes_of_chains *w, size_t first, struct stream r, int part)
{
    for (int g = 0; g < s->num_shifts; g++) {
        double normal[MCMC_LANES], uniform[MCMC_LANES];
        stream_normal_part(&r, part, MCMC_LANES, normal);
        r.node++;
        stream_uniform_part(&r, part, MCMC_LANES, uniform);
        r.node++;
        shift_lanes(s, &s->shift[g], w, first, normal, uniform);
    }
}

void mcmc_tune_shifts(struct mcmc *s)
{
    for (int g = 0; g < s->num_shifts; g++) {
        struct shift *h = &s->shift[g];
        double mean = 0;
        for (int c = 0; c < MCMC_CHAINS; c++) mean += h->share[c] / MCMC_CHAINS;
        h->step *= exp((mean - ACCEPT) / sqrt(++h->tuned + 4));
        if (h->step > USELESS) continue;
        free(h->member);
        *h = s->shift[--s->num_shifts];
        g--;
    }
}
