/* mcmc.c: adapts the chains of mcmc.h to the posterior, and runs them until they agree. */
#include "infer/mcmc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/vec.h"
#include "infer/chains.h"
#include "infer/dense.h"

enum {
    WARM = 400,    /* moves of the first adaptation */
    AGAIN = 60,    /* of step size and length, when the mass matrix has changed */
    ROUNDS = 6,    /* of draws */
    LONGEST = 256, /* leapfrog steps of a move */
    DENSE = 100    /* coordinates of a full mass matrix */
};
static const double BUDGET = 4e10; /* rows of the program times leapfrog steps times chains */

int mcmc_can(const struct qnet *q)
{
    for (int i = 0; i < q->inverse->nlatent; i++)
        if (q->encoding[q->inverse->perm[i]].kind != ENCODING_REAL) return 0;
    return q->inverse->nlatent > 0 && !joint_known(q, "", NULL);
}

/* ---- adaptation of step size and trajectory length ------------------------------------------ */

struct tuning {
    double accept;                   /* target of the mean acceptance probability */
    double origin, bar, error;       /* dual averaging of log step */
    double length, log_mean, square; /* of trajectories, in units of time; Adam's second moment */
    int n;
};

static void tuning_start(struct tuning *t, double step)
{
    t->origin = log(10 * step);
    t->bar = log(step);
    t->error = 0;
    t->square = 0;
    t->log_mean = log(t->length);
    t->n = 0;
}

/* h in (0, 1]: van der Corput's sequence */
static double spread(uint64_t i)
{
    double h = 0, digit = 0.5;
    for (i++; i; i >>= 1, digit /= 2) h += (double)(i & 1) * digit;
    return h;
}

static void aim(struct mcmc *s, const struct tuning *t)
{
    double leaps = ceil(spread(s->move) * t->length / s->step);
    s->leapfrogs = leaps < 1 ? 1 : leaps > LONGEST ? LONGEST : (int)leaps;
}

/* x = L^-1 (ends - their mean) of chain c */
static void whiten(const struct mcmc *s, const double *ends, const double *mean, int c, double *x)
{
    for (int k = 0; k < s->dim; k++) x[k] = ends[k * MCMC_CHAINS + c] - mean[k];
    if (s->dense) {
        dense_lower(s->dim, s->L, x);
        return;
    }
    for (int k = 0; k < s->dim; k++) x[k] /= s->L[k];
}

static void means(const struct mcmc *s, const double *ends, double *mean)
{
    for (int k = 0; k < s->dim; k++) {
        double sum = 0, n = 0;
        for (int c = 0; c < MCMC_CHAINS; c++) {
            if (s->share[c] <= 0) continue; /* may be infinite */
            sum += ends[k * MCMC_CHAINS + c];
            n++;
        }
        mean[k] = n > 0 ? sum / n : 0;
    }
}

/* d ChEES / d log length, with respect to which it is maximized; work: (4 dim) */
static double chees(const struct mcmc *s, double *work)
{
    size_t d = (size_t)s->dim;
    double *m0 = work, *m1 = m0 + d, *x0 = m1 + d, *x1 = x0 + d, sum = 0, weight = 0;
    means(s, s->from, m0);
    means(s, s->to, m1);
    for (int c = 0; c < MCMC_CHAINS; c++) {
        if (!(s->share[c] > 0)) continue;
        double along = 0;
        whiten(s, s->from, m0, c, x0);
        whiten(s, s->to, m1, c, x1);
        for (size_t k = 0; k < d; k++) along += x1[k] * s->p[k * MCMC_CHAINS + (size_t)c];
        sum += s->share[c] * (dense_dot(d, x1, x1) - dense_dot(d, x0, x0)) * along;
        weight += s->share[c];
    }
    return weight > 0 ? sum / weight * s->step * s->leapfrogs : 0;
}

static void tune(struct mcmc *s, struct tuning *t, double *work)
{
    double mean = 0, n = ++t->n, g = chees(s, work);
    for (int c = 0; c < MCMC_CHAINS; c++) mean += s->share[c] / MCMC_CHAINS;
    t->error += (t->accept - mean - t->error) / (n + 10);
    double now = t->origin - sqrt(n) / 0.05 * t->error, keep = pow(n, -0.75);
    t->bar += keep * (now - t->bar);
    s->step = exp(now);
    if (isfinite(g)) {
        t->square += (1 - 0.95) * (g * g - t->square);
        double size = sqrt(t->square / (1 - pow(0.95, n))) + 1e-12;
        double to = log(t->length) + fmax(-0.35, fmin(0.35, 0.05 * g / size));
        t->length = exp(fmax(log(s->step), fmin(to, log(s->step * LONGEST))));
    }
    t->log_mean += keep * (log(t->length) - t->log_mean);
    mcmc_tune_shifts(s);
}

static void tuning_end(struct mcmc *s, struct tuning *t)
{
    s->step = exp(t->bar);
    t->length = exp(t->log_mean);
}

/* ---- the mass matrix --------------------------------------------------------------------------
 */

/* Positions of all chains, n of them, u[k * stride + i]. */
struct positions {
    size_t n, stride;
    const double *u;
};

static double covariance(const struct positions *x, const double *mean, size_t k, size_t l)
{
    double sum = 0;
    for (size_t i = 0; i < x->n; i++)
        sum += (x->u[k * x->stride + i] - mean[k]) * (x->u[l * x->stride + i] - mean[l]);
    return sum / (double)x->n;
}

/* L L' = the covariance of positions, correlations reduced if there are few; work: (dim). */
static void set_mass(struct mcmc *s, const struct positions *x, double *mean)
{
    size_t d = (size_t)s->dim;
    double trust = (double)x->n / ((double)x->n + 10 * (double)d);
    for (size_t k = 0; k < d; k++) {
        mean[k] = 0;
        for (size_t i = 0; i < x->n; i++) mean[k] += x->u[k * x->stride + i] / (double)x->n;
    }
    for (size_t k = 0; k < d; k++) {
        double var = covariance(x, mean, k, k);
        if (!(var > 1e-20)) var = 1e-20;
        if (!s->dense) {
            s->L[k] = sqrt(var);
            continue;
        }
        s->L[k * d + k] = var;
        for (size_t l = 0; l < k; l++) s->L[k * d + l] = trust * covariance(x, mean, k, l);
    }
    if (!s->dense || !dense_chol(s->dim, s->L)) return;
    for (size_t k = 0; k < d; k++) /* singular: the diagonal alone */
        for (size_t l = 0; l <= k; l++)
            s->L[k * d + l] = l < k ? 0 : sqrt(fmax(covariance(x, mean, k, k), 1e-20));
}

/* ---- runs ---------------------------------------------------------------------------------- */

struct session {
    struct mcmc s;
    struct tuning t;
    size_t each;  /* draws that are kept of each chain */
    double *kept; /* (dim + 1, MCMC_CHAINS * each): chain by chain; the last row: log density */
    double *work; /* (4 dim) */
    double spent;
    int rescued;            /* chains that were stuck */
    size_t moves, diverged; /* of the last round */
};

static size_t kept_stride(const struct session *r) { return MCMC_CHAINS * r->each; }

static void keep(struct session *r, size_t i)
{
    size_t stride = kept_stride(r), d = (size_t)r->s.dim;
    for (size_t c = 0; c < MCMC_CHAINS; c++) {
        for (size_t k = 0; k < d; k++)
            r->kept[k * stride + c * r->each + i] = r->s.u[k * MCMC_CHAINS + c];
        r->kept[d * stride + c * r->each + i] = r->s.value[c];
    }
}

static int step(struct session *r, nami_err *err)
{
    aim(&r->s, &r->t);
    int rc = mcmc_move(&r->s, err);
    r->spent += (double)r->s.leapfrogs * MCMC_CHAINS * r->s.joint.prog.nrow;
    return rc;
}

static int adapt_steps(struct session *r, int moves, nami_err *err)
{
    int rc = 0;
    tuning_start(&r->t, r->s.step);
    for (int i = 0; i < moves && !rc; i++) {
        rc = step(r, err);
        tune(&r->s, &r->t, r->work);
    }
    tuning_end(&r->s, &r->t);
    return rc;
}

/* Windows of moves, each twice as long as the one before; after each the mass matrix is that of its
   positions. */
static int warm_up(struct session *r, nami_err *err)
{
    struct mcmc *s = &r->s;
    size_t d = (size_t)s->dim, most = (WARM / 2) * MCMC_CHAINS;
    double *seen = raw_array(double, (d + 1) * most);
    int rc = seen ? 0 : err_nomem(err);
    for (int n = WARM / 16, done = 0; done < WARM && !rc; n *= 2) {
        if (n > WARM - done) n = WARM - done;
        tuning_start(&r->t, s->step);
        for (int i = 0; i < n && !rc; i++) {
            rc = step(r, err);
            tune(s, &r->t, r->work);
            for (size_t k = 0; k <= d && i < WARM / 2; k++)
                memcpy(seen + k * most + (size_t)i * MCMC_CHAINS,
                       k < d ? s->u + k * MCMC_CHAINS : s->value, sizeof *seen * MCMC_CHAINS);
        }
        tuning_end(s, &r->t);
        size_t num = (size_t)n * MCMC_CHAINS < most ? (size_t)n * MCMC_CHAINS : most;
        if (!rc) { /* by the second half of the window */
            size_t half = num / MCMC_CHAINS / 2;
            int moved = mcmc_rescue(s, half, most, MCMC_CHAINS, 1, seen + num - half * MCMC_CHAINS);
            if (moved > r->rescued) r->rescued = moved;
        }
        if (!rc) set_mass(s, &(struct positions){num, most, seen}, r->work);
        done += n;
    }
    free(seen);
    return rc ? rc : adapt_steps(r, AGAIN, err);
}

/* `each` draws of every chain, one of `thin` moves. */
static int draw(struct session *r, size_t thin, nami_err *err)
{
    int rc = 0;
    r->moves = r->diverged = 0;
    for (size_t i = 0; i < r->each && !rc; i++) {
        for (size_t t = 0; t < thin && !rc; t++) {
            rc = step(r, err);
            r->moves += MCMC_CHAINS;
            for (int c = 0; c < MCMC_CHAINS; c++) r->diverged += (size_t)r->s.diverged[c];
        }
        keep(r, i);
    }
    return rc;
}

/* The worst of all coordinates, and of the log density. */
static int look(const struct session *r, struct diagnostics *found, nami_err *err)
{
    size_t stride = kept_stride(r);
    *found = (struct diagnostics){.khat = NAN,
                                  .ess = (double)stride,
                                  .log_z = NAN,
                                  .log_se = NAN,
                                  .rhat = 1,
                                  .diverged = (double)r->diverged / (double)r->moves,
                                  .rescued = r->rescued};
    for (size_t k = 0; k <= (size_t)r->s.dim; k++) {
        struct chain_stats c;
        int rc = chain_stats(stride, r->kept + k * stride, 1, MCMC_CHAINS, &c, err);
        if (rc) return rc;
        found->rhat = fmax(found->rhat, c.rhat);
        found->ess = fmin(found->ess, fmin(c.bulk, c.tail));
    }
    return 0;
}

static int enough(const struct diagnostics *d) { return chains_agree(d) && d->diverged < 1e-3; }

/* Rounds, until the chains agree or the budget is spent: longer ones if they do not agree.  Between
   them the mass matrix is that of the last round's draws, and steps are shorter if trajectories
   have diverged. */
static int run_rounds(struct session *r, struct diagnostics *found, nami_err *err)
{
    int rc = warm_up(r, err);
    size_t thin = 1;
    for (int k = 0; k < ROUNDS && !rc; k++) {
        rc = draw(r, thin, err);
        if (!rc) rc = look(r, found, err);
        if (rc || enough(found) || 3 * r->spent > BUDGET) break;
        if (k + 1 == ROUNDS) break;
        size_t all = kept_stride(r);
        int moved = mcmc_rescue(&r->s, r->each, all, 1, r->each, r->kept);
        if (moved > r->rescued) r->rescued = moved;
        if (found->diverged >= 1e-3) r->t.accept = 1 - (1 - r->t.accept) / 2;
        if (!chains_agree(found)) thin *= 2;
        set_mass(&r->s, &(struct positions){kept_stride(r), kept_stride(r), r->kept}, r->work);
        rc = adapt_steps(r, AGAIN, err);
    }
    return rc;
}

/* ---- one data set ------------------------------------------------------------------------------
 */

static int make(struct session *r, size_t n, const double *z, const double *start, nami_err *err)
{
    struct mcmc *s = &r->s;
    size_t d = (size_t)s->dim, size = d * MCMC_CHAINS;
    size_t rows = (size_t)model_num_rows(s->a->q->model);
    int scattered[MCMC_CHAINS];
    r->each = n / MCMC_CHAINS > 50 ? n / MCMC_CHAINS : 50;
    s->dense = s->dim <= DENSE;
    s->data = raw_array(double, rows + 1);
    s->u = raw_array(double, 5 * size);
    s->L = new_array(double, s->dense ? d *d : d);
    r->kept = raw_array(double, (d + 1) * kept_stride(r));
    r->work = raw_array(double, 4 * d);
    if (!s->data || !s->u || !s->L || !r->kept || !r->work) return err_nomem(err);
    s->grad = s->u + size, s->from = s->grad + size, s->to = s->from + size, s->p = s->to + size;
    for (size_t i = 0; i < rows; i++) s->data[i] = z[i * n];
    for (int c = 0; c < MCMC_CHAINS; c++) scattered[c] = !start || c % 4 == 3;
    if (start) memcpy(s->u, start, sizeof *s->u * size);
    mcmc_scatter(s, scattered);
    for (size_t k = 0; k < d; k++) s->L[s->dense ? k * d + k : k] = 1;
    s->step = 0.1;
    r->t = (struct tuning){.accept = 0.8, .length = 1};
    int rc = mcmc_shifts(s, err);
    return rc ? rc : mcmc_open(s, err);
}

/* n points of the draws that were kept: of each chain, evenly spread. */
static int take(struct session *r, size_t n, double *z, nami_err *err)
{
    size_t d = (size_t)r->s.dim, share = n / MCMC_CHAINS, stride = kept_stride(r);
    double *u = raw_array(double, d *n);
    if (!u) return err_nomem(err);
    for (size_t i = 0; i < n; i++) {
        size_t c = share ? i / share : MCMC_CHAINS, k = share ? i % share : 0;
        if (c >= MCMC_CHAINS) c = i % MCMC_CHAINS, k = 0; /* the remainder */
        size_t at = c * r->each + (share ? k * r->each / share : r->each - 1);
        for (size_t j = 0; j < d; j++) u[j * n + i] = r->kept[j * stride + at];
    }
    int rc = mcmc_decode(&r->s, n, u, z, err);
    free(u);
    return rc;
}

int mcmc_set(const struct infer *a, uint64_t seed, size_t number, size_t n, int threads,
             const double *start, double *z, double *pred, struct diagnostics *found, nami_err *err)
{
    struct session r = {
        .s = {.a = a, .threads = threads, .seed = seed + number * 0x9e3779b97f4a7c15u}};
    int rc = joint_make(&r.s.joint, a->q, err);
    r.s.dim = r.s.joint.num_coordinates;
    if (!rc) rc = make(&r, n, z, start, err);
    if (!rc) rc = mcmc_climb(&r.s, err);
    if (!rc) rc = run_rounds(&r, found, err);
    if (!rc) rc = take(&r, n, z, err);
    mcmc_close(&r.s);
    mcmc_shifts_free(&r.s);
    joint_free(&r.s.joint);
    free(r.s.data), free(r.s.u), free(r.s.L), free(r.kept), free(r.work);
    uint64_t first = (n + 7) / 8 * 8 * number;
    return rc ? rc : infer_finish(a, n, z, seed ^ 0x6d636d63, first, threads, pred, err);
}
