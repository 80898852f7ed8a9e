/* export.h: a model for others to read. */
#ifndef MODEL_EXPORT_H
#define MODEL_EXPORT_H

#include "base/str.h"
#include "model/lang/diag.h"
#include "model/read.h"

/* In JAGS's language.  Stan's distributions and all functions are rewritten (dist.def, op.jags);
   constants that the file or --set gives a value go to data { }.  What JAGS cannot say is an
   error in `diags` behind the model's messages, with its place: NAMI_EINPUT.  The model must
   outlive diags, which is to be freed in any case.  opt: what the model was read with. */
int model_jags(const struct model *m, const struct model_options *opt, struct str *out,
               struct diags *diags, nami_err *err);
/* Its data, for JAGS and R: the constants that the text does not hold, and the observations of the
   first data set; NA where an element of them is not observed. */
int model_rdump(const struct model *m, const struct model_options *opt, struct str *out,
                nami_err *err);
/* All that elaboration found: nodes, edges, statements.  It can be read as a structure. */
int model_json(const struct model *m, struct str *out, nami_err *err);

#endif
