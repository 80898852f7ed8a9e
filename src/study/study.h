/* study.h: experiments: variants of an inference network, trained and evaluated in several runs,
   and reports of the results. A job is one variant in one run. Its result depends only on the
   settings and the seed of the run, and is stored in a separate file when the job is done. Jobs run
   in parallel, each on one thread; completed jobs are not repeated, interrupted ones are restarted.
   All variants of a run use the same model and the same draws, so that they can be compared
   pairwise. */
#ifndef STUDY_STUDY_H
#define STUDY_STUDY_H

#include "net/qnet.h"

/* A measured quantity. */
struct measure {
    const char *name, *what;
};

/* Size of an experiment: full settings are those of the paper, quick ones are smaller. */
struct settings {
    int epochs, steps, batch; /* steps: per epoch */
    double rate;
    int cut;      /* epochs after which the learning rate is divided by ten, repeatedly; 0: never */
    int size;     /* size of the model: levels of a tree, points of a mixture */
    int sets;     /* held-out data sets */
    int draws;    /* draws of q for each of them, after each epoch */
    int judge;    /* draws for the final measurements */
    int temps;    /* temperatures of annealed importance sampling */
    int chains;   /* its chains for each data set */
    int leapfrog; /* leapfrog steps of its moves */
    int params;   /* approximate number of parameters of networks that are sized to match */
    int percent;  /* percentage of the sizes of variants: vae */
};

struct variant {
    const char *name, *what, *method, *mode;
    struct net_options net;
    double at;   /* position on the horizontal axis: the size of the network */
    int ours;    /* not in the paper */
    int added;   /* edges beyond the inverse: skip */
    int encoder; /* factors share an encoder of the image, of two layers: vae */
    int fit;     /* hidden layers are sized to match settings.params; 0: only if that is set */
    int cost;    /* relative cost of an epoch; 0 is 1 */
};

/* A claim of the paper, or of ours, and how it is tested over runs. Names of variants may end in *:
   pairs then have equal suffixes. */
enum claim_kind {
    CLAIM_LESS,   /* `measure` is smaller for `a` than for `b` */
    CLAIM_SPREAD, /* its distance from the median over runs is smaller */
    CLAIM_FALLS,  /* it decreases along the variants of `a`, in their order */
    CLAIM_RISES
};
struct claim {
    const char *text;
    enum claim_kind kind;
    const char *measure, *a, *b; /* measure: a final one */
};

/* Means over runs, with bands of standard deviations or standard errors. */
struct study_figure {
    const char *file, *title, *measure;
    double band;
    int by_error, log;
    const char *against; /* NULL: over epochs; otherwise final measures against this one */
};

struct job;

struct experiment {
    const char *name, *what;
    const struct measure *epoch,
        *end; /* measures after each epoch; final ones. Terminated by name NULL */
    const struct variant *variant;
    struct settings quick, full;
    int (*run)(struct job *j, nami_err *err);
    const struct claim *claim;
    const struct study_figure *figure;
    const char *remarks; /* differences from the paper: Markdown */
};

#define STUDY(id) extern const struct experiment study_##id;
#include "study/study.def"
#undef STUDY
extern const struct experiment *const experiments[]; /* NULL at the end */
const struct experiment *experiment_by_name(const char *name);

struct study_options {
    int quick, runs, threads;
    const char *const *set; /* "epochs=100": overrides a setting */
    int nset;
    const char *only; /* comma-separated list of variants; NULL: all */
    uint64_t seed;
    const char *dir, *data; /* directory of results; training data, if any */
    double save;            /* seconds between checkpoints of long jobs */
};

/* One variant in one run. */
struct job {
    const struct experiment *x;
    const struct variant *v;
    const struct settings *s;
    const char *data;
    const char *path, *part_path; /* file of its result, and of its checkpoint */
    int run;                      /* from 1 */
    uint64_t seed;                /* seed of the run */
    struct study *in;
    int done;          /* its result exists */
    int left_out;      /* excluded by `only` */
    int elsewhere;     /* done by another process */
    double part;       /* completed fraction of an unfinished job */
    vec(double) epoch; /* (epochs, measures) */
    double *end;       /* final measures */
};

enum { STUDY_STOPPED = 1 }; /* no error */

/* For experiments: stores the measures after an epoch. 0; STUDY_STOPPED: return immediately; or an
   error. */
int job_epoch(struct job *j, const double *value, nami_err *err);
/* The same without measures: reports the completed fraction. */
int job_part(struct job *j, double part);
/* Sets a final measure. */
void job_end(struct job *j, const char *name, double value);

struct study {
    const struct experiment *x;
    struct study_options opt;
    struct settings s;
    struct arena mem;
    int nvariant, nepoch, nend; /* numbers of variants and measures */
    int njob;
    struct job *job; /* (run, variant) */
    struct study_work *work;
};

/* Reads the existing results in opt->dir, which is created if necessary. NAMI_EUSAGE if they were
   computed with different settings. */
int study_new(const struct experiment *x, const struct study_options *opt, struct study **out,
              nami_err *err);
void study_free(struct study *s); /* stops it first */

/* Runs the remaining jobs in the background, until study_wait returns 0 or an error. study_stop:
   jobs terminate within seconds, unfinished. */
int study_start(struct study *s, nami_err *err);
int study_wait(struct study *s, double seconds, nami_err *err); /* 1: still running */
void study_stop(struct study *s);
/* Divides the jobs that are not done, of which done[] tells, among processes: those of others are
   elsewhere.  study_gather: reads the results of these. */
int study_divide(struct study *s, const unsigned char *done, int rank, int num_ranks,
                 nami_err *err);
int study_gather(struct study *s, nami_err *err);
/* Completed and total work; numbers of completed jobs and of all jobs. */
void study_progress(struct study *s, int64_t *done, int64_t *total, int *jobs, int *left);

/* Writes CSV, figures and the summary of all completed jobs. */
int study_report(const struct study *s, nami_err *err);

/* ---- inside ---------------------------------------------------------------------------- */

int study_count(const struct measure *m);
int measure_find(const struct measure *m, const char *name); /* or -1 */
/* epoch (rows, measures) of job j by number */
static inline size_t job_epochs(const struct study *s, const struct job *j)
{
    return s->nepoch ? j->epoch.n / (size_t)s->nepoch : 0;
}
int job_save(const struct study *s, const struct job *j, nami_err *err);
/* 0: loaded; 1: missing or incomplete. */
int job_load(const struct study *s, struct job *j, nami_err *err);
int study_csv(const struct study *s, struct str *epochs, struct str *ends);
int study_summary(const struct study *s, struct str *out, nami_err *err);
int study_figure(const struct study *s, const struct study_figure *f, struct str *out, nami_err *err);

#endif
