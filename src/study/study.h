/* study.h: experiments: variants of an inference network, trained and measured in several runs, and
   what comes out of it.

   A job is one variant in one run.  Its result depends on the settings and the run's seed alone,
   and is a file of its own, written when the job is done: jobs go side by side, each on one thread;
   one that is there already is not done again, one that was cut off begins anew.  All variants of a
   run have the same model and the same draws, so that they can be compared run by run. */
#ifndef STUDY_STUDY_H
#define STUDY_STUDY_H

#include "net/qnet.h"

/* What is measured. */
struct measure {
    const char *name, *what;
};

/* How much is done: full settings are the paper, quick ones less. */
struct settings {
    int epochs, steps, batch; /* steps of an epoch */
    double rate;
    int cut;      /* epochs until the rate is cut to a tenth, again and again; 0: never */
    int size;     /* of the model: levels of a tree, points of a mixture */
    int sets;     /* held-out data sets */
    int draws;    /* of q for each of them, at each epoch */
    int judge;    /* draws for what is measured at the end */
    int temps;    /* of annealed importance sampling */
    int chains;   /* of it, for each data set */
    int leapfrog; /* steps of its moves */
    int params;   /* of networks that are made to have as many as another: about */
    int percent;  /* of the variants' sizes: vae */
};

struct variant {
    const char *name, *what, *method, *mode;
    struct net_options net;
    double at;   /* where it stands among those of its kind: the size of a network */
    int ours;    /* not in the paper */
    int added;   /* edges beyond the inverse: skip */
    int encoder; /* factors see the image through two layers that they have in common: vae */
    int fit;     /* hidden layers are made to fit settings.params; 0: only if a setting changes that */
    int cost;    /* of an epoch, beside that of others; 0 is 1 */
};

/* What the paper says, or we do, and how it is tested over runs.  Names of variants may end in *:
   then a pair has the same rest. */
enum claim_kind {
    CLAIM_LESS,   /* `measure` is less for `a` than for `b` */
    CLAIM_SPREAD, /* so is its distance to the median over runs */
    CLAIM_FALLS,  /* it falls from variant to variant of `a`, in their order */
    CLAIM_RISES
};
struct claim {
    const char *text;
    enum claim_kind kind;
    const char *measure, *a, *b; /* of the end */
};

/* Means over runs, in bands of some standard deviations, or errors of the mean. */
struct figure {
    const char *file, *title, *measure;
    double band;
    int by_error, log;
    const char *against; /* NULL: epochs; else measures of the end, over this one */
};

struct job;

struct experiment {
    const char *name, *what;
    const struct measure *epoch, *end; /* after each epoch; at the end.  name NULL at the end */
    const struct variant *variant;
    struct settings quick, full;
    int (*run)(struct job *j, nami_err *err);
    const struct claim *claim;
    const struct figure *figure;
    const char *remarks; /* how it differs from the paper: Markdown */
};

#define STUDY(id) extern const struct experiment study_##id;
#include "study/study.def"
#undef STUDY
extern const struct experiment *const experiments[]; /* NULL at the end */
const struct experiment *experiment_by_name(const char *name);

struct study_options {
    int quick, runs, threads;
    const char *const *set; /* "epochs=100": instead of what the settings say */
    int nset;
    const char *only; /* a comma list of variants; NULL: all */
    uint64_t seed;
    const char *dir, *data; /* where results go; what is learnt from, if anything is */
    double save;            /* seconds between two writings of an unfinished job that takes long */
};

/* One variant in one run. */
struct job {
    const struct experiment *x;
    const struct variant *v;
    const struct settings *s;
    const char *data;
    const char *path, *part_path; /* of its result, and of what is unfinished */
    int run;                      /* from 1 */
    uint64_t seed;                /* of the run */
    struct study *in;
    int done;          /* its result is there */
    int left_out;      /* it is not wanted now */
    double part;       /* of an unfinished one: what is done, 0 to 1 */
    vec(double) epoch; /* (epochs, measures) */
    double *end;       /* measures of the end */
};

enum { STUDY_STOPPED = 1 }; /* no error */

/* For experiments: the measures after an epoch.  0; STUDY_STOPPED: leave at once; or an error. */
int job_epoch(struct job *j, const double *value, nami_err *err);
/* The same without measures: this part is done. */
int job_part(struct job *j, double part);
/* Sets a measure of the end. */
void job_end(struct job *j, const char *name, double value);

struct study {
    const struct experiment *x;
    struct study_options opt;
    struct settings s;
    struct arena mem;
    int nvariant, nepoch, nend; /* variants and measures */
    int njob;
    struct job *job; /* (run, variant) */
    struct study_work *work;
};

/* Looks at what is in opt->dir already, which is made if it is not there.  NAMI_EUSAGE if that was
   done with other settings. */
int study_new(const struct experiment *x, const struct study_options *opt, struct study **out,
              nami_err *err);
void study_free(struct study *s); /* stops it first */

/* What is not done yet, in the background; until study_wait says 0, or an error.  study_stop: jobs
   end within seconds, unfinished. */
int study_start(struct study *s, nami_err *err);
int study_wait(struct study *s, double seconds, nami_err *err); /* 1: it goes on */
void study_stop(struct study *s);
/* How much is done and how much there is, in units of work; jobs that are done, and to be done. */
void study_progress(struct study *s, int64_t *done, int64_t *total, int *jobs, int *left);

/* Writes CSV, figures and the summary, of all jobs that are done. */
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
/* 0: it is there; 1: not, or not whole. */
int job_load(const struct study *s, struct job *j, nami_err *err);
int study_csv(const struct study *s, struct str *epochs, struct str *ends);
int study_summary(const struct study *s, struct str *out, nami_err *err);
int study_figure(const struct study *s, const struct figure *f, struct str *out, nami_err *err);

#endif
