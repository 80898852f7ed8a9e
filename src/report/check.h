/* check.h: the prior predictive check as a table or JSON. */
#ifndef REPORT_CHECK_H
#define REPORT_CHECK_H

#include "model/check.h"

/* Out of memory is out->oom. */
void check_text(const struct model *m, const struct check *c, struct str *out);
void check_json(const struct model *m, const struct check *c, struct str *out);

#endif
