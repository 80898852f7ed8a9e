/* read.h: reads models from files and strings. */
#ifndef MODEL_READ_H
#define MODEL_READ_H

#include "model/bn.h"
#include "model/lang/dialect.h"

struct data;
struct model;
struct str;

struct model_options {
    const char *const *set; /* "d=6" */
    int nset;
    const char *observe;     /* overrides the file; or NULL */
    const char *const *free; /* constants to differentiate by */
    int nfree;
    int limit; /* maximum number of elements and of instances; 0: 20 million */
    int block; /* only up to the data block */
    /* Training distributions in addition to those of the text, "mu ~ normal(0, 10); ...", which
       become part of it; or NULL. */
    const char *train_priors;
};

/* An empty model; NULL: out of memory. Once it has been read, a model does not change except for
   the weights of its networks (view.h): threads may share it. */
struct model *model_new(void);
void model_free(struct model *model); /* accepts NULL */

/* Reads a model (BUGS if the extension is .bug, .txt or .jags; otherwise native) and its data
   files. Returns 0, or NAMI_EINPUT if its diags contain errors (the first is copied to err), or
   another code. The model must be freed also after an error. */
int model_read(struct model *model, const char *path, const char *const *data, int ndata,
               const struct model_options *opt, nami_err *err);
int model_parse(struct model *model, const char *file, const char *text, size_t len,
                enum dialect dialect, const struct model_options *opt, nami_err *err);
/* To be called before model_parse: sets the data, from JSON or copied; locks the simulator, which
   then does not run without the consent of the user. */
int model_give_data(struct model *model, const char *json, size_t len, nami_err *err);
int model_copy_data(struct model *model, const struct data *data, nami_err *err);
void model_lock_simulator(struct model *model);
void model_allow_simulator(struct model *model);

/* Errors and warnings with source lines, for a file of this name. */
void model_messages(const struct model *model, const char *name, struct str *out);

/* Only the graph of a model without data files, for readers of structures: `out` is new, and the
   caller calls bn_finish. */
int model_structure(const char *text, size_t len, enum dialect dialect, struct bn *out,
                    nami_err *err);

/* Extensions of model files, by dialect; is this a model file (and not a structure)? */
#define NATIVE_ENDS ".nami"
#define BUGS_ENDS   ".bug .bugs .jags"
int model_file(const char *path);
enum dialect path_dialect(const char *path); /* of a model file, by its extension */

#endif
