/* jobs.h: the jobs of 'nami check', 'nami train' and 'nami sample', of which 'nami run' is made.  Each
   prints what its command prints, and returns an exit code. */
#ifndef CLI_JOBS_H
#define CLI_JOBS_H

#include "with_network.h"

/* EXIT_NO if the check finds a problem.  file: the model's, for messages. */
int check_model(const nami_model *model, const char *file, const nami_check_options *opt, int json,
                int quiet);

struct train_job {
    nami_options invert;
    nami_train_options train;
    const char *out, *log; /* of the network, of the losses; or NULL */
    int save;              /* seconds between two writings of them */
    int resume;            /* goes on with what is in `out` */
    int json, quiet;
    int silent; /* prints nothing to standard output, even if not quiet */
};
/* net, if not NULL, gets the trained network. */
int train_model(const nami_model *model, const nami_data *data, const char *file,
                const struct train_job *job, nami_network **net);

struct sample_job {
    nami_query query;
    struct opt_many out; /* files for draws */
    struct opt_many data; /* the data's, for messages */
    int json, quiet;
};
/* data NULL: those that the network was trained with.  EXIT_NO if an answer is not trusted. */
int sample_network(const nami_network *net, const nami_data *data, const struct sample_job *job);

#endif
