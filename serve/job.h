/* job.h: a query from its arrival to its answer. */
#ifndef SERVE_JOB_H
#define SERVE_JOB_H

#include "hosted.h"
#include "serve.h"

struct reply {
    int status; /* 0: none yet */
    struct text body;
    const char *type;    /* media type */
    const char *verdict; /* of all data sets: the worst; or NULL */
    int retry;           /* seconds: Retry-After; 0: not said */
};

struct job {
    struct job *next, *prev;
    struct request request;
    struct version *version;
    struct text body;
    struct reply reply;
    double arrived, deadline, queued; /* seconds; queued: how long it waited */
    int batch;                        /* how many were evaluated together */
    double draws;
    unsigned char client[16]; /* address */
    nami_data *data;          /* the body, read */
    void *connection;
};

double clock_seconds(void); /* since some moment */

void reply_refusal(struct reply *reply, const struct refusal *why);
void reply_error(struct reply *reply, const nami_err *err);
void reply_simple(struct reply *reply, int status, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- evaluation: batch.c ----------------------------------------------------------------------
 */

/* May these be answered by one evaluation? */
int jobs_agree(const struct job *a, const struct job *b);
/* Fills the replies of num_jobs queries, which agree.  Answers do not depend on the company. */
void jobs_answer(struct job **jobs, int num_jobs, const struct serve_options *opt);

/* ---- text of answers: answer.c ----------------------------------------------------------------
 */

/* All draws of an evaluation, where they are asked for. */
struct kept {
    size_t num_draws;                   /* of all sets */
    double *values;                     /* [scalar * num_draws + i] */
    size_t num_kept; /* so far */
    double *log_q, *log_p; /* log_p: NULL without a density */
};

/* Data sets first .. end-1 of an evaluation are those of the job. */
int answer_write(struct job *job, const nami_posterior *post, const struct view *view,
                 const struct kept *kept, size_t first, size_t end, nami_err *err);
void answer_log_q(struct job *job, const double *log_q, size_t num_points);

/* ---- waiting and working: queue.c -------------------------------------------------------------
 */

struct queue;
struct queue *queue_new(const struct serve_options *opt, void (*done)(struct job *job));
/* 0; or the status of a refusal, which is in the reply: too many wait. */
int queue_put(struct queue *q, struct job *job);
int queue_length(struct queue *q);
/* Answers all that wait, and ends the workers. */
void queue_free(struct queue *q);

#endif
