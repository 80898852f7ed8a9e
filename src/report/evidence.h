/* evidence.h: estimates of the evidence log p(x) of data sets, as text and as JSON. */
#ifndef REPORT_EVIDENCE_H
#define REPORT_EVIDENCE_H

#include "infer/verdict.h"

struct evidence {
    const struct infer *infer;
    const struct infer_method *method;
    size_t num_sets;
    size_t draws;              /* of each data set; or chains */
    size_t islands;            /* of methods that resample; or chains */
    int temps;                 /* of chains */
    struct diagnostics *found; /* of each data set */
    const double *ood_p;       /* its p-value among data sets of the model; NaN: not known */
};

enum verdict evidence_verdict(const struct evidence *e, size_t set);
void evidence_text(const struct evidence *e, struct str *out);
void evidence_json(const struct evidence *e, struct str *out);

#endif
