/* network.h: describes an inference network as text and as JSON (--dry-run). */
#ifndef REPORT_NETWORK_H
#define REPORT_NETWORK_H

#include "base/str.h"
#include "net/qnet.h"

void network_show(const struct qnet *q, struct str *out);
void network_json(const struct qnet *q, struct str *out);

#endif
