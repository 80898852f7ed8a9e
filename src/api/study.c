/* study.c: the paper's experiments in nami.h. */
#include "study/study.h"

#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "base/err.h"
#include "base/exchange.h"
#include "base/near.h"
#include "base/parallel.h"

enum { MOST_RUNS = 99, SAVE = 300 }; /* seconds between two writings of an unfinished job */
static const double PAUSE = 0.1;     /* seconds of a step */

struct nami_study {
    struct arena mem; /* of the options */
    struct study *s;
    const nami_watch *watch;
    nami_exchange exchange, *with; /* the processes that share the jobs; NULL: one */
    int started, finished;         /* finished: it ended, with result rc */
    int rc;
    nami_err err;
};

static const char *keep(nami_study *w, const char *text, int *bad)
{
    const char *copy = text ? arena_strndup(&w->mem, text, strlen(text)) : NULL;
    *bad |= text && !copy;
    return copy;
}

static int no_such_study(const char *name, nami_err *err)
{
    struct near best = NEAR_NONE;
    for (int i = 0; experiments[i]; i++)
        near_try(&best, name, strlen(name), experiments[i]->name, i);
    return err_set(err, NAMI_EUSAGE, "no experiment is called '%.60s'%s%s%s", name,
                   best.word ? "; did you mean '" : "", best.word ? best.word : "",
                   best.word ? "'?" : "");
}

static int open_study(nami_study *w, const char *name, const char *directory,
                      const nami_study_options *o, nami_err *err)
{
    const struct experiment *x = experiment_by_name(name);
    const char **set = arena_array(&w->mem, const char *, o->num_set + 1);
    int bad = !set;
    if (!x) return no_such_study(name, err);
    if (o->runs > MOST_RUNS)
        return err_set(err, NAMI_EUSAGE, "runs must be 1 to %d, not %d", MOST_RUNS, o->runs);
    for (int i = 0; i < o->num_set && !bad; i++) set[i] = keep(w, o->set[i], &bad);
    struct study_options how = {.quick = o->quick,
                                .runs = o->runs,
                                .threads = parallel_threads(o->threads),
                                .set = set,
                                .nset = o->num_set,
                                .only = keep(w, o->only, &bad),
                                .seed = o->seed,
                                .dir = keep(w, directory, &bad),
                                .data = keep(w, o->data, &bad),
                                .save = SAVE};
    w->watch = o->watch;
    return bad ? err_nomem(err) : study_new(x, &how, &w->s, err);
}

/* ---- several processes ---------------------------------------------------------------------- */

/* Process 0 makes the directory, and tells which jobs are done, before the others look. */
static int open_shared(nami_study *w, const char *name, const char *directory,
                       const nami_study_options *o, nami_err *err)
{
    unsigned char ready = 0, *done;
    int rank = w->with->rank, rc = 0, failed = 0;
    if (rank && exchange_receive(w->with, 0, EXCHANGE_JOBS, &ready, 1)) return exchange_failed(err);
    if ((rc = open_study(w, name, directory, o, err))) return rc;
    size_t n = (size_t)w->s->njob;
    if (!(done = new_array(unsigned char, n + 1))) return err_nomem(err);
    for (size_t i = 0; i < n; i++) done[i] = w->s->job[i].done != 0;
    for (int k = 1; k < w->with->num_ranks && !rank && !failed; k++)
        failed = exchange_send(w->with, k, EXCHANGE_JOBS, &ready, 1) ||
                 exchange_send(w->with, k, EXCHANGE_JOBS, done, n);
    if (rank) failed = exchange_receive(w->with, 0, EXCHANGE_JOBS, done, n);
    if (!failed) failed = exchange_wait(w->with);
    rc = failed ? exchange_failed(err) : study_divide(w->s, done, rank, w->with->num_ranks, err);
    free(done);
    return rc;
}

/* When the jobs of this process are done: process 0 waits for the others, and reads their results.
 */
static int gather(nami_study *w, nami_err *err)
{
    unsigned char ready = 0;
    int failed = 0;
    if (!w->with) return 0;
    if (w->with->rank) failed = exchange_send(w->with, 0, EXCHANGE_JOBS, &ready, 1);
    for (int k = 1; k < w->with->num_ranks && !w->with->rank && !failed; k++)
        failed = exchange_receive(w->with, k, EXCHANGE_JOBS, &ready, 1);
    if (!failed) failed = exchange_wait(w->with);
    if (failed) return exchange_failed(err);
    return w->with->rank ? 0 : study_gather(w->s, err);
}

int nami_study_new(const char *name, const char *directory, const nami_study_options *opt,
                   nami_study **out, nami_err *err)
{
    nami_study_options o;
    err_clear(err);
    *out = NULL;
    int rc = options_complete("study", opt, sizeof o, &o, err);
    if (rc) return rc;
    nami_study *w = new_array(nami_study, 1);
    if (!w) return err_nomem(err);
    if (o.exchange) {
        w->exchange = *o.exchange;
        w->with = &w->exchange;
    }
    rc = exchange_check(w->with, err);
    if (!rc)
        rc = w->with ? open_shared(w, name, directory, &o, err)
                     : open_study(w, name, directory, &o, err);
    if (rc)
        nami_study_free(w);
    else
        *out = w;
    return rc;
}

void nami_study_free(nami_study *w)
{
    if (!w) return;
    study_free(w->s);
    arena_free(&w->mem);
    free(w);
}

/* ---- at work -------------------------------------------------------------------------------- */

static int tell_study(nami_study *w, nami_err *err)
{
    int64_t done, total;
    int jobs, left;
    study_progress(w->s, &done, &total, &jobs, &left);
    return tell_progress(w->watch, "study", (double)done, (double)total, err);
}

/* Jobs end within seconds. */
static void stop(nami_study *w)
{
    study_stop(w->s);
    while (study_wait(w->s, PAUSE, NULL) > 0) continue;
}

static int step(nami_study *w, nami_err *err)
{
    int rc = w->started ? 0 : study_start(w->s, err);
    w->started = 1;
    if (!rc) rc = study_wait(w->s, PAUSE, err);
    int canceled = rc < 0 ? 0 : tell_study(w, err);
    if (!rc) rc = gather(w, err);
    if (rc <= 0 || !canceled) return rc;
    stop(w);
    return canceled;
}

int nami_study_step(nami_study *w, nami_err *err)
{
    err_clear(err);
    if (!w->finished) {
        int rc = step(w, &w->err);
        if (rc > 0) return 1;
        w->finished = 1;
        w->rc = rc;
    }
    if (w->rc && err) *err = w->err;
    return w->rc;
}

int nami_study_run(nami_study *w, nami_err *err)
{
    int rc;
    while ((rc = nami_study_step(w, err)) > 0) continue;
    return rc;
}

void nami_study_jobs(const nami_study *w, int *done, int *all)
{
    int64_t units, total;
    int left;
    study_progress(w->s, &units, &total, done, &left);
    *all = *done + left;
}

/* ---- results ----------------------------------------------------------------------------------
 */

int nami_study_write(const nami_study *w, nami_err *err)
{
    err_clear(err);
    return study_report(w->s, err);
}

int nami_study_describe(const nami_study *w, const char *as, char **text, nami_err *err)
{
    struct str out = {0}, other = {0};
    int rc = 0;
    err_clear(err);
    *text = NULL;
    if (strcmp(as, "text") == 0)
        rc = study_summary(w->s, &out, err);
    else if (strcmp(as, "epochs") == 0)
        rc = study_csv(w->s, &out, &other) ? err_nomem(err) : 0;
    else if (strcmp(as, "ends") == 0)
        rc = study_csv(w->s, &other, &out) ? err_nomem(err) : 0;
    else
        rc = no_such_form(as, "text, epochs, ends", err);
    str_free(&other);
    if (rc) return str_free(&out), rc;
    return give_text(&out, text, NULL, err);
}
