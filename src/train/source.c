/* source.c: supplies minibatches from the model, stored draws, observations, or a simulator that
   runs ahead in a background thread. */
#include "train/source.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/rng.h"
#include "model/eval.h"

enum { BLOCK = 16, VALID_SEED = 0x76616c6964 };

/* Draws of a simulator, BLOCK batches at a time (double buffering): one block is used while the
   next is simulated. */
struct ahead {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    double *x[2];
    uint64_t made[2]; /* the number of the block in each, + 1; 0: none */
    uint64_t want;    /* the next block to simulate, + 1; 0: none */
    int busy, stop, started;
    int rc;
    nami_err err;
};

struct source {
    const struct model *m;
    uint64_t seed;
    size_t batch, stride;
    int nvalid;
    double *valid; /* (row, nvalid * batch); NULL: drawn */
    /* points, or observations */
    double *point; /* (n, rows) */
    const struct feeds *feeds;
    size_t n, ntrain;
    int *train;     /* the training set; NULL: the first ones */
    int *perm;      /* permutation of the training set, followed by the validation set */
    uint64_t epoch; /* of perm, + 1 */
    struct ahead *ahead;
    int parts, first_part, end_part; /* of batches; of this process */
    double waited;
};

/* Draws `blocks` batches by a simulator, part by part (batch.blocks), from number `first` on.  A
   program gets a seed for each call, so that what it draws for a part does not depend on the
   processes. */
static int simulate(const struct source *s, uint64_t seed, uint64_t first, size_t blocks, double *x,
                    nami_err *err)
{
    size_t rows = (size_t)model_num_rows(s->m);
    int rc = 0;
    for (int p = s->first_part, from, to; p < s->end_part && !rc; p++) {
        sum_part(s->parts, (int)s->batch, p, &from, &to);
        rc = model_simulate_training(s->m, seed, first + blocks * (uint64_t)from,
                                     blocks * (size_t)(to - from), 1,
                                     x + rows * blocks * (size_t)from, err);
    }
    return rc;
}

/* ---- a simulator ahead -------------------------------------------------------------- */

static void *run_ahead(void *s_)
{
    struct source *s = s_;
    struct ahead *a = s->ahead;
    size_t n = s->batch * BLOCK;
    pthread_mutex_lock(&a->lock);
    while (!a->stop) {
        if (!a->want || a->rc) {
            pthread_cond_wait(&a->changed, &a->lock);
            continue;
        }
        uint64_t k = a->want - 1;
        nami_err err = {0};
        a->busy = 1;
        a->made[k % 2] = 0; /* no longer available */
        pthread_mutex_unlock(&a->lock);
        int rc = simulate(s, s->seed, k * ((n + 7) / 8 * 8), BLOCK, a->x[k % 2], &err);
        pthread_mutex_lock(&a->lock);
        a->busy = 0;
        a->rc = rc;
        a->err = err;
        if (!rc) a->made[k % 2] = k + 1;
        if (a->want == k + 1) a->want = 0;
        pthread_cond_broadcast(&a->changed);
    }
    pthread_mutex_unlock(&a->lock);
    return NULL;
}

static int start_ahead(struct source *s, nami_err *err)
{
    struct ahead *a = s->ahead = new_array(struct ahead, 1);
    size_t n = (size_t)model_num_rows(s->m) * s->batch * BLOCK;
    if (!a) return err_nomem(err);
    pthread_mutex_init(&a->lock, NULL);
    pthread_cond_init(&a->changed, NULL);
    a->x[0] = raw_array(double, n);
    a->x[1] = raw_array(double, n);
    if (!a->x[0] || !a->x[1]) return err_nomem(err);
    if (pthread_create(&a->thread, NULL, run_ahead, s))
        return err_set(err, NAMI_ENOMEM, "cannot start a thread for the simulator");
    a->started = 1;
    return 0;
}

static void stop_ahead(struct ahead *a)
{
    if (a->started) {
        pthread_mutex_lock(&a->lock);
        a->stop = 1;
        pthread_cond_broadcast(&a->changed);
        pthread_mutex_unlock(&a->lock);
        pthread_join(a->thread, NULL);
    }
    pthread_mutex_destroy(&a->lock);
    pthread_cond_destroy(&a->changed);
    free(a->x[0]);
    free(a->x[1]);
    free(a);
}

/* Waits for block k and requests the next one, which does not replace it. An error is reported with
   the first block that is missing. */
static int block_ahead(struct source *s, uint64_t k, nami_err *err)
{
    struct ahead *a = s->ahead;
    double since = clock_now();
    int rc;
    pthread_mutex_lock(&a->lock);
    while (a->made[k % 2] != k + 1 && !a->rc) {
        if (!a->busy && a->want != k + 1) {
            a->want = k + 1;
            pthread_cond_broadcast(&a->changed);
        }
        pthread_cond_wait(&a->changed, &a->lock);
    }
    if (!a->busy) {
        a->want = a->made[(k + 1) % 2] != k + 2 ? k + 2 : 0;
        pthread_cond_broadcast(&a->changed);
    }
    rc = a->made[k % 2] == k + 1 ? 0 : a->rc;
    if (rc && err) *err = a->err;
    pthread_mutex_unlock(&a->lock);
    s->waited += clock_now() - since;
    return rc;
}

/* ---- points ------------------------------------------------------------------------------------
 */

static void shuffle(struct source *s, uint64_t epoch)
{
    struct rng r;
    rng_init(&r, s->seed ^ 0x73687566, epoch);
    for (size_t i = 0; i < s->ntrain; i++) s->perm[i] = s->train ? s->train[i] : (int)i;
    for (size_t i = s->ntrain; i > 1; i--) {
        size_t j = (size_t)(rng_unit(&r) * (double)i);
        int t = s->perm[i - 1];
        s->perm[i - 1] = s->perm[j];
        s->perm[j] = t;
    }
    s->epoch = epoch + 1;
}

/* An incomplete last batch of an epoch is dropped; the next epoch drops different points. */
static const int *chosen(struct source *s, uint64_t step)
{
    uint64_t per = s->ntrain / s->batch, epoch = step / per;
    if (s->epoch != epoch + 1) shuffle(s, epoch);
    return s->perm + step % per * s->batch;
}

/* ---- all ---------------------------------------------------------------------------- */

int source_batch(struct source *s, uint64_t step, struct batch *b, nami_err *err)
{
    int rc = 0;
    if (s->ahead) {
        uint64_t k = step / BLOCK;
        rc = block_ahead(s, k, err);
        *b = (struct batch){.x = s->ahead->x[k % 2], .n = s->batch * BLOCK, .blocks = BLOCK};
        b->block = step % BLOCK;
        b->first = b->block * s->batch;
    } else if (s->perm) {
        *b = (struct batch){.point = s->point, .feeds = s->feeds, .seed = s->seed};
        b->index = chosen(s, step);
        b->first = step * s->stride;
    } else {
        *b = (struct batch){.seed = s->seed, .first = step * s->stride};
    }
    return rc;
}

int source_valid(struct source *s, int k, struct batch *b)
{
    size_t from = (size_t)k * s->batch;
    *b = (struct batch){.seed = s->seed ^ VALID_SEED, .first = (size_t)k * s->stride};
    if (s->point) {
        b->point = s->point;
        b->index = s->perm + s->ntrain + from;
    } else if (s->feeds) {
        b->feeds = s->feeds;
        b->index = s->perm + s->ntrain + from;
        if (s->n - s->ntrain - from < s->batch) b->count = (int)(s->n - s->ntrain - from);
    } else if (s->valid) {
        *b = (struct batch){.x = s->valid, .n = (size_t)s->nvalid * s->batch, .first = from};
        b->blocks = (size_t)s->nvalid;
        b->block = (size_t)k;
    }
    return 0;
}

int source_nvalid(const struct source *s) { return s->nvalid; }
int source_epoch(const struct source *s) { return s->perm ? (int)(s->ntrain / s->batch) : 0; }
double source_waited(const struct source *s) { return s->waited; }

static struct source *start(const struct model *m, uint64_t seed, int batch)
{
    struct source *s = new_array(struct source, 1);
    if (s) *s = (struct source){.m = m, .seed = seed, .batch = (size_t)batch};
    if (s) s->stride = ((size_t)batch + 7) / 8 * 8;
    return s;
}

int source_model(const struct model *m, uint64_t seed, int batch, int valid, struct source **out,
                 nami_err *err)
{
    struct sum whole = {.parts = 1};
    return source_model_parts(m, seed, batch, valid, &whole, out, err);
}

int source_model_parts(const struct model *m, uint64_t seed, int batch, int valid,
                       const struct sum *parts, struct source **out, nami_err *err)
{
    struct source *s = *out = start(m, seed, batch);
    if (!s) return err_nomem(err);
    s->parts = parts->parts;
    sum_own(parts, &s->first_part, &s->end_part);
    s->nvalid = valid / batch + (valid % batch > 0);
    if (!model_simulator_command(m)) return 0;
    size_t n = (size_t)s->nvalid * s->batch;
    s->valid = raw_array(double, (size_t)model_num_rows(m) * n + 1);
    if (!s->valid) return err_nomem(err);
    int rc = start_ahead(s, err);
    return rc ? rc : simulate(s, seed ^ VALID_SEED, 0, (size_t)s->nvalid, s->valid, err);
}

int source_points(const struct model *m, uint64_t seed, int batch, int valid, size_t n, double *x,
                  struct source **out, nami_err *err)
{
    struct source *s = *out = start(m, seed, batch);
    size_t rows = (size_t)model_num_rows(m);
    double *point = raw_array(double, rows *n + 1);
    for (size_t r = 0; point && r < rows; r++)
        for (size_t i = 0; i < n; i++) point[i * rows + r] = x[r * n + i];
    free(x);
    if (s) s->point = point;
    if (!s || !point) return s ? err_nomem(err) : (free(point), err_nomem(err));
    s->n = n;
    size_t most = n / 10;
    s->nvalid = (int)(((size_t)valid < most ? (size_t)valid : most) / s->batch);
    if (!s->nvalid) s->nvalid = 1;
    if (n < 2 * s->batch)
        return err_set(err, NAMI_EINPUT,
                       "%zu points are too few for batches of %d: at least two batches are needed; "
                       "give more points, or a batch size of %zu",
                       n, batch, n / 11 > 1 ? n / 11 : 1);
    s->ntrain = n - (size_t)s->nvalid * s->batch;
    s->perm = raw_array(int, n);
    if (!s->perm) return err_nomem(err);
    for (size_t i = 0; i < n; i++) s->perm[i] = (int)i;
    return 0;
}

int source_feeds(const struct feeds *f, const struct split *split, uint64_t seed, int batch,
                 struct source **out, nami_err *err)
{
    struct source *s = *out = start(NULL, seed, batch);
    if (!s) return err_nomem(err);
    size_t ntrain = s->ntrain = split->n[SPLIT_TRAIN], nvalid = split->n[SPLIT_VALID];
    s->feeds = f;
    s->n = ntrain + nvalid;
    s->nvalid = (int)((nvalid + s->batch - 1) / s->batch);
    if (ntrain < s->batch)
        return err_set(err, NAMI_EINPUT,
                       "%zu observations to train on are too few for batches of %d; give more, or "
                       "a batch size of %zu",
                       ntrain, batch, ntrain);
    s->train = raw_array(int, ntrain);
    s->perm = raw_array(int, s->n);
    if (!s->train || !s->perm) return err_nomem(err);
    memcpy(s->train, split_index(split, SPLIT_TRAIN), sizeof(int) * ntrain);
    memcpy(s->perm + ntrain, split_index(split, SPLIT_VALID), sizeof(int) * nvalid);
    return 0;
}

void source_free(struct source *s)
{
    if (!s) return;
    if (s->ahead) stop_ahead(s->ahead);
    free(s->valid);
    free(s->point);
    free(s->train);
    free(s->perm);
    free(s);
}
