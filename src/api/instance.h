/* instance.h: open networks in queries. */
#ifndef API_INSTANCE_H
#define API_INSTANCE_H

#include "api/api.h"

/* If *net is open and the first data set has another design, *net becomes an instance for it, which
 *own is to be freed with; else *own is NULL. */
int network_for_query(const nami_network **net, const nami_data *data, const nami_watch *watch,
                      nami_network **own, nami_err *err);

/* Weights, sampler and the rest of a network that was made. */
int network_ready(nami_network *net, nami_err *err);

#endif
