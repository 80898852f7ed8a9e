/* http.h: the service as a daemon of libmicrohttpd: one thread for all connections, and a queue of
   queries that other threads answer. */
#ifndef SERVE_HTTP_H
#define SERVE_HTTP_H

#include "job.h"

struct http;

/* `socket` listens, and is closed in the end.  The networks and options must outlive it. */
int http_start(const struct serve_options *opt, struct hosted *networks, int num_networks,
               int socket, struct http **out, nami_err *err);
/* Accepts no more connections, answers what was accepted, for at most so many seconds, and ends.
   Returns how many requests were left without an answer. */
int http_stop(struct http *server, double grace);

#endif
