/* request.h: from the head of an HTTP request to what is asked for.  Knows nothing of sockets. */
#ifndef SERVE_REQUEST_H
#define SERVE_REQUEST_H

#include "nami.h"

enum route {
#define ROUTE(id, method, path, access, forms, what) ROUTE_##id,
#include "route.def"
#undef ROUTE
    NUM_ROUTES /* none of these */
};

enum form {
#define FORM(id, type) FORM_##id,
#include "form.def"
#undef FORM
    NUM_FORMS
};

enum access { OPEN, TOKEN };
struct route_row {
    const char *id, *method, *path;
    enum access access;
    const char *forms, *what;
};
extern const struct route_row routes[NUM_ROUTES];
extern const struct form_row {
    const char *id, *type;
} forms[NUM_FORMS];

/* Why a request is not answered: an HTTP status, a sentence, and a place in the body if there is
 * one. */
struct refusal {
    int status, line, col;
    char message[560];
};
int refuse(struct refusal *why, int status, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

struct request_head {
    const char *method, *target; /* as they came: "/networks/tree/draws?as=csv" */
    const char *accept;          /* header fields; NULL: not there */
    const char *encoding;        /* Content-Encoding */
};

enum { NETWORK_NAME = 64, QUERY_TEXT = 2048, DEFAULT_DRAWS = 1000 };

struct request {
    enum route route;
    enum form form;
    char name[NETWORK_NAME + 1]; /* of the network; "" if the path has none */
    nami_query query;            /* its texts are in `text` */
    char text[QUERY_TEXT];
};

/* 0, or the status of a refusal.  `out->route` is set as far as it is known, for the metrics. */
int request_parse(const struct request_head *head, struct request *out, struct refusal *why);
/* Is it a name that a network may have in a path? */
int request_name_ok(const char *name);
/* Row number i of the library's query options that a request may set; NULL behind the last. */
const nami_option *request_option(int i);
int request_is_query(enum route route); /* does it ask a network? */
/* "Bearer TOKEN": does it match?  The time taken depends on neither's content. */
int request_token_ok(const char *authorization, const char *token);
/* Is this Host header the local machine by number or name?  A page of another host whose name was
   made to point here has its own name in it. */
int request_host_is_local(const char *host);

#endif
