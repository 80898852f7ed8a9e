/* mcmc_move.c: what chains do on their lanes: climbs, trajectories, and points from coordinates. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "infer/mcmc.h"

enum { LANES = MCMC_LANES, CLIMB = 100, TRIES = 50 };
static const double DIVERGED = 1000; /* loss of energy: Stan's limit */

int lanes_init(void *job, void *workspace, nami_err *err)
{
    const struct mcmc *s = job;
    struct lanes_of_chains *w = workspace;
    size_t size = (size_t)s->dim * LANES;
    int rc = exec_init(&w->x, &s->joint.prog, LANES, GRADIENT_GROUPS, EXEC_GRAD, err);
    if (rc) return rc;
    w->x.param = model_weights(s->joint.q->model);
    w->p = raw_array(double, 4 * size);
    if (!w->p) return err_nomem(err);
    w->u = w->p + size, w->g = w->u + size, w->v = w->g + size;
    for (int b = 0; b < LANES; b++)
        if (lbfgs_init(&w->search[b], s->dim)) return err_nomem(err);
    return 0;
}

void lanes_fini(void *workspace)
{
    struct lanes_of_chains *w = workspace;
    exec_fini(&w->x);
    free(w->p);
    for (int b = 0; b < LANES; b++) lbfgs_fini(&w->search[b]);
}

int mcmc_open(struct mcmc *s, nami_err *err)
{
    s->workers = (struct workers){
        .job = s, .size = sizeof(struct lanes_of_chains), .init = lanes_init, .fini = lanes_fini};
    return workers_start(&s->workers, s->threads, MCMC_CHAINS / LANES, err);
}

int mcmc_run_job(struct mcmc *s, void *job, chunk_fn *chunk, nami_err *err)
{
    s->workers.job = job;
    int rc = workers_run(&s->workers, MCMC_CHAINS, LANES, chunk, err);
    s->workers.job = s;
    return rc;
}

void mcmc_close(struct mcmc *s) { workers_stop(&s->workers); }

void lanes_data(const struct mcmc *s, struct lanes_of_chains *w)
{
    struct exec *x = &w->x;
    size_t cap = (size_t)x->cap;
    for (size_t r = 0; r < (size_t)model_num_rows(s->joint.q->model); r++)
        for (size_t b = 0; b < cap; b++) x->row[r * cap + b] = s->data[r];
    x->lanes = LANES;
}

void lanes_load(const struct mcmc *s, struct lanes_of_chains *w, const double *u, size_t first)
{
    lanes_data(s, w);
    for (size_t k = 0; k < (size_t)s->dim; k++)
        memcpy(w->u + k * LANES, u + k * MCMC_CHAINS + first, sizeof *w->u * LANES);
}

/* Lane b at u[k * stride]. */
static void set_lane(const struct mcmc *s, struct exec *x, int b, const double *u, size_t stride)
{
    for (size_t k = 0; k < (size_t)s->dim; k++)
        x->row[((size_t)s->joint.coord + k) * (size_t)x->cap + (size_t)b] = u[k * stride];
}

void lanes_place(const struct mcmc *s, struct lanes_of_chains *w)
{
    struct exec *x = &w->x;
    for (size_t k = 0; k < (size_t)s->dim; k++)
        memcpy(x->row + ((size_t)s->joint.coord + k) * (size_t)x->cap, w->u + k * LANES,
               sizeof *w->u * LANES);
}

void lanes_evaluate(const struct mcmc *s, struct lanes_of_chains *w)
{
    struct exec *x = &w->x;
    size_t cap = (size_t)x->cap;
    lanes_place(s, w);
    exec_both(x);
    for (size_t k = 0; k < (size_t)s->dim; k++)
        memcpy(w->g + k * LANES, x->adj + ((size_t)s->joint.coord + k) * cap, sizeof *w->g * LANES);
}

int lanes_inside(const struct mcmc *s, const struct lanes_of_chains *w, int b)
{
    int ok = isfinite(w->x.total[b]) != 0;
    for (int k = 0; k < s->dim && ok; k++) ok = isfinite(w->g[k * LANES + b]) != 0;
    return ok;
}

static int evaluate_lanes(void *job, void *workspace, size_t first, size_t n, nami_err *err)
{
    struct mcmc *s = job;
    struct lanes_of_chains *w = workspace;
    (void)n, (void)err;
    lanes_load(s, w, s->u, first);
    lanes_evaluate(s, w);
    for (size_t k = 0; k < (size_t)s->dim; k++)
        memcpy(s->grad + k * MCMC_CHAINS + first, w->g + k * LANES, sizeof *w->g * LANES);
    memcpy(s->value + first, w->x.total, sizeof *s->value * LANES);
    return 0;
}

int mcmc_evaluate(struct mcmc *s, nami_err *err)
{
    return workers_run(&s->workers, MCMC_CHAINS, LANES, evaluate_lanes, err);
}

/* ---- climbs -------------------------------------------------------------------------------- */

/* Points where the density is not finite move towards the origin, and are drawn anew around it. */
static void enter(const struct mcmc *s, struct lanes_of_chains *w, size_t first)
{
    int outside = 1;
    for (int t = 0; t < TRIES && outside; t++) {
        lanes_evaluate(s, w);
        outside = 0;
        for (int b = 0; b < LANES; b++) {
            if (lanes_inside(s, w, b)) continue;
            double size = 2 * pow(0.9, t), z[LANES];
            outside = 1;
            for (int k = 0; k < s->dim; k++) {
                struct stream r = {s->seed ^ 0x656e746572, (uint32_t)k, first};
                stream_uniform_part(&r, t, LANES, z);
                w->u[k * LANES + b] = size * (2 * z[b] - 1);
            }
        }
    }
}

static int climb(void *job, void *workspace, size_t first, size_t n, nami_err *err)
{
    struct mcmc *s = job;
    struct lanes_of_chains *w = workspace;
    struct exec *x = &w->x;
    size_t all = MCMC_CHAINS, d = (size_t)s->dim;
    int open = LANES;
    (void)n, (void)err;
    lanes_load(s, w, s->u, first);
    enter(s, w, first);
    for (int b = 0; b < LANES; b++) {
        for (size_t k = 0; k < d; k++) w->v[k] = w->u[k * LANES + (size_t)b];
        lbfgs_start(&w->search[b], w->v);
    }
    for (int t = 0; open && t < 20 * CLIMB; t++) {
        for (int b = 0; b < LANES; b++) set_lane(s, x, b, w->search[b].to, 1);
        exec_both(x);
        open = 0;
        for (int b = 0; b < LANES; b++) {
            struct lbfgs *f = &w->search[b];
            if (f->state != LBFGS_ASKS || f->steps >= CLIMB) continue;
            for (size_t k = 0; k < d; k++)
                w->v[k] = -x->adj[((size_t)s->joint.coord + k) * (size_t)x->cap + (size_t)b];
            lbfgs_tell(f, -x->total[b], w->v);
            open += f->state == LBFGS_ASKS && f->steps < CLIMB;
        }
    }
    for (int b = 0; b < LANES; b++)
        for (size_t k = 0; k < d; k++) w->u[k * LANES + (size_t)b] = w->search[b].x[k];
    lanes_evaluate(s, w);
    for (int b = 0; b < LANES; b++) {
        s->value[first + (size_t)b] = lanes_inside(s, w, b) ? x->total[b] : NAN;
        for (size_t k = 0; k < d; k++) {
            s->u[k * all + first + (size_t)b] = w->u[k * LANES + (size_t)b];
            s->grad[k * all + first + (size_t)b] = w->g[k * LANES + (size_t)b];
        }
    }
    return 0;
}

int mcmc_climb(struct mcmc *s, nami_err *err)
{
    int rc = workers_run(&s->workers, MCMC_CHAINS, LANES, climb, err);
    return rc ? rc : mcmc_settle(s, err);
}

int mcmc_settle(struct mcmc *s, nami_err *err)
{
    int best = -1;
    for (int c = 0; c < MCMC_CHAINS; c++)
        if (!isnan(s->value[c]) && (best < 0 || s->value[c] > s->value[best])) best = c;
    if (best < 0)
        return err_set(
            err, NAMI_EINPUT,
            "no point was found where the density of the model is finite: check that the "
            "data are possible under the model");
    for (int c = 0; c < MCMC_CHAINS; c++) {
        if (!isnan(s->value[c])) continue;
        s->value[c] = s->value[best];
        for (size_t k = 0; k < (size_t)s->dim; k++) {
            s->u[k * MCMC_CHAINS + (size_t)c] = s->u[k * MCMC_CHAINS + (size_t)best];
            s->grad[k * MCMC_CHAINS + (size_t)c] = s->grad[k * MCMC_CHAINS + (size_t)best];
        }
    }
    return 0;
}

/* ---- trajectories -------------------------------------------------------------------------- */

/* p += step L' g */
static void kick(const struct mcmc *s, const struct lanes_of_chains *w, double step)
{
    size_t d = (size_t)s->dim;
    for (size_t k = 0; k < d; k++) {
        const double *g = w->g + k * LANES;
        for (size_t l = s->dense ? 0 : k; l <= k; l++) {
            double a = step * (s->dense ? s->L[k * d + l] : s->L[k]), *p = w->p + l * LANES;
            for (int b = 0; b < LANES; b++) p[b] += a * g[b];
        }
    }
}

/* u += step L p */
static void drift(const struct mcmc *s, const struct lanes_of_chains *w, double step)
{
    size_t d = (size_t)s->dim;
    for (size_t k = 0; k < d; k++) {
        double *u = w->u + k * LANES;
        for (size_t l = s->dense ? 0 : k; l <= k; l++) {
            const double a = step * (s->dense ? s->L[k * d + l] : s->L[k]), *p = w->p + l * LANES;
            for (int b = 0; b < LANES; b++) u[b] += a * p[b];
        }
    }
}

static void add_kinetic(const struct mcmc *s, const struct lanes_of_chains *w, double *energy)
{
    for (size_t k = 0; k < (size_t)s->dim; k++)
        for (size_t b = 0; b < LANES; b++)
            energy[b] += w->p[k * LANES + b] * w->p[k * LANES + b] / 2;
}

enum { PARTS = 1 << 14 };

/* Random numbers of this move: its part move % PARTS, for any node. */
static struct stream stream_of(const struct mcmc *s, size_t first)
{
    return (struct stream){s->seed + s->move / PARTS * 0x9e3779b97f4a7c15u, 0, first};
}

/* Momenta are standard normal, on the scale of L^-1 u. */
static void random_numbers(const struct mcmc *s, struct lanes_of_chains *w, size_t first,
                           double *uniform)
{
    struct stream r = stream_of(s, first);
    int part = (int)(s->move % PARTS);
    for (; r.node < (uint32_t)s->dim; r.node++)
        stream_normal_part(&r, part, LANES, w->p + (size_t)r.node * LANES);
    stream_uniform_part(&r, part, LANES, uniform);
}

/* Copies lane b of the workspace's matrix to a chain, or back. */
static void put(const struct mcmc *s, const double *lanes, int b, double *chains, size_t c)
{
    for (size_t k = 0; k < (size_t)s->dim; k++)
        chains[k * MCMC_CHAINS + c] = lanes[k * LANES + (size_t)b];
}

static int move(void *job, void *workspace, size_t first, size_t n, nami_err *err)
{
    struct mcmc *s = job;
    struct lanes_of_chains *w = workspace;
    double uniform[LANES], before[LANES] = {0}, after[LANES] = {0};
    size_t d = (size_t)s->dim;
    (void)n, (void)err;
    lanes_data(s, w);
    random_numbers(s, w, first, uniform);
    for (size_t k = 0; k < d; k++) {
        memcpy(w->u + k * LANES, s->u + k * MCMC_CHAINS + first, sizeof *w->u * LANES);
        memcpy(w->g + k * LANES, s->grad + k * MCMC_CHAINS + first, sizeof *w->g * LANES);
    }
    add_kinetic(s, w, before);
    for (int b = 0; b < LANES; b++) put(s, w->u, b, s->from, first + (size_t)b);
    kick(s, w, s->step / 2);
    for (int l = 1; l <= s->leapfrogs; l++) {
        drift(s, w, s->step);
        lanes_evaluate(s, w);
        kick(s, w, l < s->leapfrogs ? s->step : s->step / 2);
    }
    add_kinetic(s, w, after);
    for (int b = 0; b < LANES; b++) {
        size_t c = first + (size_t)b;
        double gain = w->x.total[b] - after[b] - (s->value[c] - before[b]);
        int ok = lanes_inside(s, w, b) && !isnan(gain);
        s->share[c] = !ok ? 0 : gain < 0 ? exp(gain) : 1;
        s->diverged[c] = !isnan(s->value[c]) && (!ok || gain < -DIVERGED);
        put(s, w->u, b, s->to, c);
        put(s, w->p, b, s->p, c);
        if (uniform[b] < s->share[c]) {
            s->value[c] = w->x.total[b];
            put(s, w->u, b, s->u, c);
            put(s, w->g, b, s->grad, c);
        }
        s->energy[c] = before[b] - s->value[c];
    }
    return 0;
}

int mcmc_move(struct mcmc *s, nami_err *err)
{
    int rc = workers_run(&s->workers, MCMC_CHAINS, LANES, move, err);
    s->move++;
    return rc;
}

/* ---- points -------------------------------------------------------------------------------- */

struct decoding_job {
    const struct mcmc *s;
    size_t n;
    const double *u;
    double *z;
};

static int decode(const struct decoding_job *j, struct lanes_of_chains *w, size_t first, size_t n)
{
    struct exec *x = &w->x;
    lanes_data(j->s, w);
    for (int b = 0; b < LANES; b++)
        set_lane(j->s, x, b, j->u + first + ((size_t)b < n ? (size_t)b : 0), j->n);
    exec_run(x);
    for (size_t r = 0; r < (size_t)model_num_rows(j->s->joint.q->model); r++)
        memcpy(j->z + r * j->n + first, x->row + r * (size_t)x->cap, sizeof *j->z * n);
    return 0;
}

int mcmc_decode(struct mcmc *s, size_t n, const double *u, double *z, nami_err *err)
{
    struct decoding_job j = {s, n, u, z};
    struct lanes_of_chains w = {0};
    int rc = lanes_init(s, &w, err);
    for (size_t i = 0; i < n && !rc; i += LANES) decode(&j, &w, i, n - i < LANES ? n - i : LANES);
    lanes_fini(&w);
    return rc;
}
