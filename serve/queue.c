/* queue.c: queries that wait, and the threads that answer them.  A thread that becomes free takes
   the first query and all others that agree with it, up to its share: nobody waits for company. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "job.h"

struct queue {
    const struct serve_options *opt;
    void (*done)(struct job *job);
    pthread_mutex_t lock;
    pthread_cond_t more;
    struct job *first, *last;
    struct job *running; /* being answered, linked by `next`, for the limit of clients */
    int length, stopping, num_threads;
    pthread_t *threads;
};

double clock_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void unlink_job(struct job **first, struct job **last, struct job *j)
{
    *(j->prev ? &j->prev->next : first) = j->next;
    if (j->next)
        j->next->prev = j->prev;
    else if (last)
        *last = j->prev;
    j->next = j->prev = NULL;
}

static void link_running(struct queue *q, struct job *j)
{
    j->prev = NULL;
    j->next = q->running;
    if (q->running) q->running->prev = j;
    q->running = j;
}

/* The first job and those that agree, at most a thread's share of all that wait. */
static int take(struct queue *q, struct job **jobs)
{
    int share = (q->length + q->num_threads - 1) / q->num_threads, n = 0;
    int most = share < q->opt->batch ? share : q->opt->batch;
    for (struct job *j = q->first, *next; j && (n < most || !n); j = next) {
        next = j->next;
        if (n && !jobs_agree(jobs[0], j)) continue;
        unlink_job(&q->first, &q->last, j);
        q->length--;
        link_running(q, j);
        jobs[n++] = j;
    }
    return n;
}

static void *work(void *queue)
{
    struct queue *q = queue;
    struct job **jobs = calloc((size_t)q->opt->batch, sizeof(struct job *));
    struct job *one;
    pthread_mutex_lock(&q->lock);
    for (;;) {
        while (!q->first && !q->stopping) pthread_cond_wait(&q->more, &q->lock);
        if (!q->first) break;
        int n;
        struct job **taken = jobs;
        if (jobs)
            n = take(q, jobs);
        else { /* no memory: one at a time */
            taken = &one;
            one = q->first;
            unlink_job(&q->first, &q->last, one);
            q->length--;
            link_running(q, one);
            n = 1;
        }
        pthread_mutex_unlock(&q->lock);
        jobs_answer(taken, n, q->opt);
        pthread_mutex_lock(&q->lock);
        for (int i = 0; i < n; i++) unlink_job(&q->running, NULL, taken[i]);
        pthread_mutex_unlock(&q->lock);
        for (int i = 0; i < n; i++) q->done(taken[i]);
        pthread_mutex_lock(&q->lock);
    }
    pthread_mutex_unlock(&q->lock);
    free(jobs);
    return NULL;
}

struct queue *queue_new(const struct serve_options *opt, void (*done)(struct job *job))
{
    struct queue *q = calloc(1, sizeof *q);
    int n = opt->threads ? opt->threads : (int)sysconf(_SC_NPROCESSORS_ONLN);
    if (n < 1) n = 1;
    if (!q) return NULL;
    q->opt = opt;
    q->done = done;
    pthread_mutex_init(&q->lock, NULL);
    pthread_cond_init(&q->more, NULL);
    q->threads = calloc((size_t)n, sizeof *q->threads);
    pthread_mutex_lock(&q->lock);
    for (int i = 0; q->threads && i < n; i++)
        if (pthread_create(&q->threads[i], NULL, work, q) == 0)
            q->num_threads++;
        else
            break;
    pthread_mutex_unlock(&q->lock);
    if (q->num_threads) return q;
    queue_free(q);
    return NULL;
}

static int of_client(const struct job *list, const unsigned char *client)
{
    int n = 0;
    for (; list; list = list->next) n += memcmp(list->client, client, sizeof list->client) == 0;
    return n;
}

int queue_put(struct queue *q, struct job *job)
{
    int status = 0;
    pthread_mutex_lock(&q->lock);
    if (q->length >= q->opt->queue)
        status = 503;
    else if (q->opt->per_client &&
             of_client(q->first, job->client) + of_client(q->running, job->client) >=
                 q->opt->per_client)
        status = 429;
    else {
        job->next = NULL;
        job->prev = q->last;
        *(q->last ? &q->last->next : &q->first) = job;
        q->last = job;
        q->length++;
        pthread_cond_signal(&q->more);
    }
    pthread_mutex_unlock(&q->lock);
    if (status == 503)
        reply_simple(&job->reply, 503, "the service is busy: %d queries wait", q->opt->queue);
    if (status == 429)
        reply_simple(&job->reply, 429,
                     "this client has %d queries under way; wait for their answers",
                     q->opt->per_client);
    return status;
}

int queue_length(struct queue *q)
{
    pthread_mutex_lock(&q->lock);
    int n = q->length;
    pthread_mutex_unlock(&q->lock);
    return n;
}

void queue_free(struct queue *q)
{
    if (!q) return;
    pthread_mutex_lock(&q->lock);
    q->stopping = 1;
    pthread_cond_broadcast(&q->more);
    pthread_mutex_unlock(&q->lock);
    for (int i = 0; i < q->num_threads; i++) pthread_join(q->threads[i], NULL);
    pthread_cond_destroy(&q->more);
    pthread_mutex_destroy(&q->lock);
    free(q->threads);
    free(q);
}
