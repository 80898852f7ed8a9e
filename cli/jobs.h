/* jobs.h: the main functions of 'nami check', 'nami train' and 'nami sample', which 'nami run'
   combines. Each prints the output of its command and returns an exit code. */
#ifndef CLI_JOBS_H
#define CLI_JOBS_H

#include "with_network.h"

/* EXIT_NO if the check finds a problem.  file: name of the model file, for messages. */
int check_model(const nami_model *model, const char *file, const nami_check_options *opt, int json,
                int quiet);

struct train_job {
    nami_options invert;
    nami_train_options train;
    const char *out, *log; /* files of the network and of the losses; or NULL */
    int save;              /* seconds between checkpoints */
    int resume;            /* resume the training in `out` */
    int json, quiet;
    int optional; /* a model that cannot be trained, since its draws are not finite, is a note, and
                     *net is NULL */
    int silent;   /* print nothing to standard output, even if not quiet */
};
/* *net, if not NULL, receives the trained network. */
int train_model(const nami_model *model, const nami_data *data, const char *file,
                const struct train_job *job, nami_network **net);

struct sample_job {
    nami_query query;
    struct opt_many out;  /* output files */
    struct opt_many data; /* names of the data files, for messages */
    const char *report;   /* file of a report on the first data set; or NULL */
    const char *command;  /* for the report */
    double train_seconds; /* the same */
    int json, quiet;
    /* If not NULL, the answers are printed only if all are trusted; otherwise they are kept here,
       to be freed, or NULL if the method cannot answer.  Files are written in any case. */
    nami_posterior **untrusted;
    size_t number; /* of the data set, if each of several is a query of its own; else 0 */
    int last;      /* ... the last of these */
};
/* data NULL: the data stored with the network. EXIT_NO if an answer is not trusted. */
int sample_network(const nami_network *net, const nami_data *data, const struct sample_job *job);
/* Prints answers that were kept. */
int print_answer(const nami_posterior *post, const struct sample_job *job);

/* "nami run a.nami ...", to be freed; or NULL. */
char *command_line(const char *command, int narg, char **arg, const struct opt_many *data);
/* a/b.nami -> b in the current directory; a/b.nc -> a/b; with this extension. To be freed; or
   NULL. */
char *path_of(const char *path, int keep_folder, const char *ending);
double seconds_now(void); /* since any moment */
/* Writes a report; EXIT_YES, or reports an error and returns the exit code. */
int write_report(const nami_network *net, const nami_report_options *opt, const char *path);

#endif
