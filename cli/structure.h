/* structure.h: what commands that read a structure or a model by nami.h share. */
#ifndef CLI_STRUCTURE_H
#define CLI_STRUCTURE_H

#include "cmd.h"

/* A trained network is no model, and no structure: EXIT_YES if path is something else, or the exit
   code, having said which commands take it. */
int refuse_net(const char *path);
/* Reads a structure (nami_bn_read).  EXIT_YES, or the exit code, having said why. */
int open_structure(nami_bn **bn, const char *path, const char *format);
/* Data sets of files, records of observations among them; NULL if there are none.  EXIT_YES, or the
   exit code, having said what is wrong.  Free them in any case. */
int read_all_data(nami_data **out, const struct opt_many *files);
/* The same for models: tables and arrays, which are for training, are refused.  EXIT_YES, or the exit code, having said what is wrong.  Free them in any case. */
int read_data(nami_data **out, const struct opt_many *files);
/* Reads a model, with these data files and other options (opt->data is not read).  EXIT_YES, or the
   exit code, having said what is wrong; warnings too, unless quiet.  Free it in any case. */
int read_model(nami_model **model, const char *path, const struct opt_many *data,
               const nami_model_options *opt, int quiet);
/* The same with data that were read; opt->data is theirs. */
int read_model_from(nami_model **model, const char *path, const nami_model_options *opt, int quiet);

/* Without consent: EXIT_YES if the model of a network's file names no simulator, or the exit code,
   having said which one it is. */
int refuse_simulator(const nami_model *model, const char *path);

#endif
