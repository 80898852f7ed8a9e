/* openapi.h: the service described for programs. */
#ifndef SERVE_OPENAPI_H
#define SERVE_OPENAPI_H

#include "text.h"

void openapi_put(struct text *out); /* OpenAPI 3.1, JSON */

#endif
