/* export.h: exports models to JAGS, R and JSON. */
#ifndef MODEL_EXPORT_H
#define MODEL_EXPORT_H

#include "base/str.h"
#include "model/lang/diag.h"
#include "model/read.h"

/* As a JAGS program. Stan distributions and all functions are rewritten (dist.def, op.jags);
   constants with a value in the file or in the settings go to data { }. What JAGS cannot express is
   an error in `diags`, after the messages of the model, with its position: NAMI_EINPUT. The model
   must outlive diags, which must be freed also after an error. opt: the options that the model was
   read with. */
int model_jags(const struct model *m, const struct model_options *opt, struct str *out,
               struct diags *diags, nami_err *err);
/* Its data as an R dump, for JAGS and R: the constants that the text does not contain, and the
   observations of the first data set; NA where an element is not observed. */
int model_rdump(const struct model *m, const struct model_options *opt, struct str *out,
                nami_err *err);
/* The result of elaboration: nodes, edges, statements. The output can be read as a structure. */
int model_json(const struct model *m, struct str *out, nami_err *err);

#endif
