/* read.h: models from files and texts. */
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
    const char *observe;     /* instead of what the file says; or NULL */
    const char *const *free; /* constants to differentiate by */
    int nfree;
    int limit; /* refuse models with more elements or instances; 0: 20 million */
    int block; /* only up to the data block */
};

/* An empty model, to be read into; NULL: no memory.  Once it is read, a model does not change, but
   for the weights of its networks (view.h): threads may share it. */
struct model *model_new(void);
void model_free(struct model *model); /* NULL is fine */

/* Reads a model (NATIVE or BUGS by its ending, .bug .txt .jags; else native) and its data files.
   Returns 0, or NAMI_EINPUT when its diags have errors (err then has the first), or another code.
   The model must be freed in any case. */
int model_read(struct model *model, const char *path, const char *const *data, int ndata,
               const struct model_options *opt, nami_err *err);
int model_parse(struct model *model, const char *file, const char *text, size_t len,
                enum dialect dialect, const struct model_options *opt, nami_err *err);
/* Before model_parse: data sets in JSON, or copies of these; and that its simulator must not run
   until somebody who trusts its file allows it. */
int model_give_data(struct model *model, const char *json, size_t len, nami_err *err);
int model_copy_data(struct model *model, const struct data *data, nami_err *err);
void model_lock_simulator(struct model *model);
void model_allow_simulator(struct model *model);

/* Errors and warnings with their lines, as of a file of this name. */
void model_messages(const struct model *model, const char *name, struct str *out);

/* Only the graph of a model without data files, for readers of structures: `out` is new, and
   bn_finish is left to the caller. */
int model_structure(const char *text, size_t len, enum dialect dialect, struct bn *out,
                    nami_err *err);

/* Endings of model files, by dialect; is this one (and not a structure)? */
#define NATIVE_ENDS ".nami"
#define BUGS_ENDS   ".bug .bugs .jags"
int model_file(const char *path);
enum dialect path_dialect(const char *path); /* of a model file, by its ending */

#endif
