/* study_run.c: runs jobs in separate threads. */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/err.h"
#include "study/study.h"

struct study_work {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int nthread, going; /* threads created, and running */
    pthread_t *thread;
    int next, stop;
    int rc;
    nami_err err;
};

/* The next unfinished job; NULL: none, or the study is being stopped. */
static struct job *next_job(struct study *s)
{
    struct study_work *w = s->work;
    while (w->next < s->njob &&
           (s->job[w->next].done || s->job[w->next].left_out || s->job[w->next].elsewhere))
        w->next++;
    return w->stop || w->rc || w->next >= s->njob ? NULL : &s->job[w->next++];
}

static int do_job(const struct study *s, struct job *j, nami_err *err)
{
    j->epoch.n = 0;
    if (vec_reserve(&j->epoch, (size_t)s->s.epochs * (size_t)s->nepoch + 1)) return err_nomem(err);
    int rc = s->x->run(j, err);
    return rc ? rc : job_save(s, j, err);
}

static void *work(void *s_)
{
    struct study *s = s_;
    struct study_work *w = s->work;
    struct job *j;
    pthread_mutex_lock(&w->lock);
    while ((j = next_job(s))) {
        nami_err err = {0};
        pthread_mutex_unlock(&w->lock);
        int rc = do_job(s, j, &err);
        pthread_mutex_lock(&w->lock);
        j->done = rc == 0;
        if (rc < 0 && !w->rc) {
            w->rc = rc;
            err_set(&w->err, rc, "%s, run %d: %.400s", j->v->name, j->run, err.msg);
        }
    }
    w->going--;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

int study_start(struct study *s, nami_err *err)
{
    struct study_work *w = s->work = new_array(struct study_work, 1);
    if (!w) return err_nomem(err);
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->changed, NULL);
    w->thread = new_array(pthread_t, s->opt.threads);
    if (!w->thread) return err_nomem(err);
    pthread_mutex_lock(&w->lock);
    for (int i = 0; i < s->opt.threads; i++)
        if (!pthread_create(&w->thread[w->nthread], NULL, work, s)) w->nthread++, w->going++;
    pthread_mutex_unlock(&w->lock);
    return w->nthread ? 0 : err_set(err, NAMI_ENOMEM, "cannot start a thread");
}

int study_wait(struct study *s, double seconds, nami_err *err)
{
    struct study_work *w = s->work;
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    seconds += 1e-9 * (double)t.tv_nsec;
    t.tv_sec += (time_t)floor(seconds);
    t.tv_nsec = (long)(1e9 * (seconds - floor(seconds)));
    pthread_mutex_lock(&w->lock);
    if (w->going) pthread_cond_timedwait(&w->changed, &w->lock, &t);
    int rc = w->going ? 1 : w->rc;
    if (rc < 0 && err) *err = w->err;
    pthread_mutex_unlock(&w->lock);
    return rc;
}

void study_stop(struct study *s)
{
    if (!s->work) return;
    pthread_mutex_lock(&s->work->lock);
    s->work->stop = 1;
    pthread_mutex_unlock(&s->work->lock);
}

/* ---- several processes ---------------------------------------------------------------------- */

/* Each job goes to the process with the least work so far. */
int study_divide(struct study *s, const unsigned char *done, int rank, int num_ranks, nami_err *err)
{
    double *load = new_array(double, num_ranks); /* costs */
    if (!load) return err_nomem(err);
    for (int i = 0; i < s->njob; i++) {
        struct job *j = &s->job[i];
        int to = 0;
        if (done[i] || j->left_out) continue;
        for (int k = 1; k < num_ranks; k++)
            if (load[k] < load[to]) to = k;
        load[to] += j->v->cost ? j->v->cost : 1;
        j->elsewhere = to != rank;
    }
    free(load);
    return 0;
}

int study_gather(struct study *s, nami_err *err)
{
    int rc = 0;
    for (int i = 0; i < s->njob && rc >= 0; i++) {
        struct job *j = &s->job[i];
        if (!j->elsewhere || j->left_out) continue;
        j->elsewhere = 0;
        rc = job_load(s, j, err);
        j->done = rc == 0;
    }
    return rc < 0 ? rc : 0;
}

void study_free(struct study *s)
{
    if (!s) return;
    study_stop(s);
    struct study_work *w = s->work;
    for (int i = 0; w && i < w->nthread; i++) pthread_join(w->thread[i], NULL);
    if (w) {
        pthread_mutex_destroy(&w->lock);
        pthread_cond_destroy(&w->changed);
        free(w->thread);
        free(w);
    }
    for (int i = 0; i < s->njob; i++) vec_free(&s->job[i].epoch);
    arena_free(&s->mem);
    free(s);
}

/* ---- from within a job --------------------------------------------------------------------- */

int job_part(struct job *j, double part)
{
    struct study_work *w = j->in->work;
    pthread_mutex_lock(&w->lock);
    j->part = part;
    int stop = w->stop || w->rc ? STUDY_STOPPED : 0;
    pthread_mutex_unlock(&w->lock);
    return stop;
}

int job_epoch(struct job *j, const double *value, nami_err *err)
{
    for (int k = 0; k < j->in->nepoch; k++)
        if (vec_push(&j->epoch, value[k])) return err_nomem(err);
    return job_part(j, (double)job_epochs(j->in, j) / (j->s->epochs + 1));
}

void study_progress(struct study *s, int64_t *done, int64_t *total, int *jobs, int *left)
{
    double have = 0, all = 0, unit = 1000;
    *jobs = *left = 0;
    if (s->work) pthread_mutex_lock(&s->work->lock);
    for (int i = 0; i < s->njob; i++) {
        const struct job *j = &s->job[i];
        double cost = unit * (j->v->cost ? j->v->cost : 1);
        *jobs += j->done;
        if ((j->left_out || j->elsewhere) && !j->done) continue;
        all += cost;
        have += j->done ? cost : cost * j->part;
        *left += !j->done;
    }
    if (s->work) pthread_mutex_unlock(&s->work->lock);
    *done = (int64_t)have;
    *total = (int64_t)all;
}
