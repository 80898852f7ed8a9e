/* metrics.c: counters of the process.  They are global, as a process has one service. */
#include "metrics.h"

#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "nami.h"

enum { STATUSES = 600 };
static const double second_bounds[] = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
                                       0.1,   0.25,   0.5,   1,    2.5,   10};
static const double batch_bounds[] = {1, 2, 4, 8, 16, 32, 64};
enum {
    NUM_SECONDS = sizeof second_bounds / sizeof *second_bounds,
    NUM_BATCH = sizeof batch_bounds / sizeof *batch_bounds
};

struct histogram {
    double count[16], sum;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static double values[NUM_METRICS];
static double requests[NUM_ROUTES + 1][STATUSES];
static struct histogram seconds, batches;

static void observe(struct histogram *h, const double *bound, int n, double x)
{
    int i = 0;
    while (i < n && x > bound[i]) i++;
    h->count[i]++;
    h->sum += x;
}

void metrics_add(enum metric metric, double x)
{
    pthread_mutex_lock(&lock);
    values[metric] += x;
    pthread_mutex_unlock(&lock);
}

void metrics_set(enum metric metric, double x)
{
    pthread_mutex_lock(&lock);
    values[metric] = x;
    pthread_mutex_unlock(&lock);
}

void metrics_request(enum route route, int status, double took, int batch)
{
    pthread_mutex_lock(&lock);
    requests[route][status >= 0 && status < STATUSES ? status : 0]++;
    observe(&seconds, second_bounds, NUM_SECONDS, took);
    if (batch) observe(&batches, batch_bounds, NUM_BATCH, batch);
    pthread_mutex_unlock(&lock);
}

static void put_histogram(struct text *out, const char *name, const char *what,
                          const struct histogram *h, const double *bound, int n)
{
    double total = 0;
    text_printf(out, "# HELP %s %s\n# TYPE %s histogram\n", name, what, name);
    for (int i = 0; i <= n; i++) {
        total += h->count[i];
        if (i < n)
            text_printf(out, "%s_bucket{le=\"%g\"} %.0f\n", name, bound[i], total);
        else
            text_printf(out, "%s_bucket{le=\"+Inf\"} %.0f\n", name, total);
    }
    text_printf(out, "%s_sum %.9g\n%s_count %.0f\n", name, h->sum, name, total);
}

static double resident_bytes(void)
{
    long pages = 0, all;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f && fscanf(f, "%ld %ld", &all, &pages) != 2) pages = 0;
    if (f) fclose(f);
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

void metrics_put(struct text *out)
{
    static const struct {
        const char *id, *kind, *what;
    } rows[NUM_METRICS] = {
#define METRIC(id, kind, what) {#id, #kind, what},
#include "metric.def"
#undef METRIC
    };
    pthread_mutex_lock(&lock);
    for (int i = 0; i < NUM_METRICS; i++) {
        const char *end = rows[i].kind[0] == 'c' ? "_total" : "";
        text_printf(out, "# HELP nami_%s%s %s\n# TYPE nami_%s%s %s\nnami_%s%s %.0f\n", rows[i].id,
                    end, rows[i].what, rows[i].id, end, rows[i].kind, rows[i].id, end, values[i]);
    }
    text_put(out, "# HELP nami_requests_total requests by route and status\n"
                  "# TYPE nami_requests_total counter\n");
    for (int r = 0; r <= NUM_ROUTES; r++)
        for (int s = 0; s < STATUSES; s++)
            if (requests[r][s] > 0)
                text_printf(out, "nami_requests_total{route=\"%s\",status=\"%d\"} %.0f\n",
                            r < NUM_ROUTES ? routes[r].id : "none", s, requests[r][s]);
    put_histogram(out, "nami_request_seconds",
                  "time from the head of a request to the end of its answer", &seconds,
                  second_bounds, NUM_SECONDS);
    put_histogram(out, "nami_batch_size",
                  "queries that were evaluated together, one observation for each", &batches,
                  batch_bounds, NUM_BATCH);
    pthread_mutex_unlock(&lock);
    text_printf(out,
                "# HELP process_resident_memory_bytes resident memory\n"
                "# TYPE process_resident_memory_bytes gauge\nprocess_resident_memory_bytes %.0f\n"
                "# HELP nami_build_info version of NaMI\n# TYPE nami_build_info gauge\n"
                "nami_build_info{version=\"%s\"} 1\n",
                resident_bytes(), nami_version());
}
