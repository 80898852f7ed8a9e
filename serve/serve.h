/* serve.h: a service that answers queries of trained networks over HTTP.  A client of nami.h. */
#ifndef SERVE_SERVE_H
#define SERVE_SERVE_H

#include <stddef.h>

#include "nami.h"

struct serve_options {
    const char *const *networks; /* files, or NAME=FILE */
    int num_networks;
    const char *address;        /* NULL: 127.0.0.1 */
    int port;                   /* 0: any that is free */
    const char *token;          /* NULL: none, for loopback addresses only */
    const char *const *methods; /* that requests may choose; NULL at the end */
    int threads;                /* that answer queries; 0: one per processor */
    int batch;                  /* queries of one evaluation, at most; 1: no batching */
    int queue;                  /* queries that wait, at most; then 503 */
    int per_client;             /* queries of one address at a time; then 429.  0: no limit */
    int connections;            /* open ones, at most */
    size_t max_body;            /* bytes */
    double max_draws;           /* of one query, all data sets together */
    double max_values;          /* numbers in one answer */
    double timeout;             /* seconds: to send a request, and to have it answered */
    double idle;                /* seconds that a connection may be silent */
    double grace;               /* seconds for the last answers when the service stops */
    int quiet;                  /* no log of requests */
};

/* Runs until SIGTERM or SIGINT, and answers what it has accepted before it returns 0.  Prints its
   address on standard output, and a line of JSON for each request on standard error. */
int serve_run(const struct serve_options *opt, nami_err *err);

#endif
