/* structure.h: reading structures, models and data files in commands. */
#ifndef CLI_STRUCTURE_H
#define CLI_STRUCTURE_H

#include "cmd.h"

/* EXIT_YES if path is not a trained network; otherwise reports which commands read networks and
   returns the exit code. */
int refuse_net(const char *path);
/* Reads a structure (nami_bn_read). EXIT_YES, or reports an error and returns the exit code. */
int open_structure(nami_bn **bn, const char *path, const char *format);
/* Reads data sets, including records of observations; NULL if there are no files. EXIT_YES, or
   reports an error and returns the exit code. Free them in any case. */
int read_all_data(nami_data **out, const struct opt_many *files);
/* The same for models: tables and arrays, which are for training, are rejected. */
int read_data(nami_data **out, const struct opt_many *files);
/* Reads a model, with these data files and other options (opt->data is ignored). EXIT_YES, or
   reports an error and returns the exit code; also prints warnings, unless quiet. Free it in any
   case. */
int read_model(nami_model **model, const char *path, const struct opt_many *data,
               const nami_model_options *opt, int quiet);
/* The same with data in memory, opt->data. */
int read_model_from(nami_model **model, const char *path, const nami_model_options *opt, int quiet);

/* Without consent: EXIT_YES if the model of a network file names no simulator; otherwise names it
   and returns the exit code. */
int refuse_simulator(const nami_model *model, const char *path);

#endif
