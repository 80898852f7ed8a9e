/* metrics.h: what the service counts, as text for Prometheus. */
#ifndef SERVE_METRICS_H
#define SERVE_METRICS_H

#include "request.h"
#include "text.h"

enum metric {
#define METRIC(id, kind, what) METRIC_##id,
#include "metric.def"
#undef METRIC
    NUM_METRICS
};

void metrics_add(enum metric metric, double x);
void metrics_set(enum metric metric, double x);
/* A request was answered; batch 0: no query. */
void metrics_request(enum route route, int status, double seconds, int batch);
void metrics_put(struct text *out);

#endif
