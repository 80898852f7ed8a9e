/* http.c: connections: reads requests, sends answers.  A query suspends its connection until a
   thread of the queue has its reply. */
#include "http.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log.h"
#include "metrics.h"
#include "openapi.h"
#include "pages.h"

struct http {
    const struct serve_options *opt;
    struct hosted *networks;
    int num_networks;
    struct MHD_Daemon *daemon;
    struct queue *queue;
    atomic_int active; /* requests under way */
    atomic_int stopping;
};

/* A request and its answer. */
struct exchange {
    struct job job;
    struct http *server;
    char *target; /* as it came */
    char method[16];
    int begun;
    int asked;     /* waits for its answer */
    int too_large; /* body bytes beyond the limit were thrown away */
    size_t sent;
};

/* ---- sending ----------------------------------------------------------------------------------
 */

static void add_header(struct MHD_Response *r, const char *name, const char *value)
{
    MHD_add_response_header(r, name, value); /* out of memory: without it */
}

static const char *policy_of(const struct exchange *x)
{
    if (x->job.request.route == ROUTE_report) /* a page of one file */
        return "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src "
               "data:";
    return "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src "
           "data:; "
           "form-action 'none'; base-uri 'none'; frame-ancestors 'none'";
}

static enum MHD_Result send_response(struct exchange *x, struct MHD_Connection *c, int status,
                                     const char *type, struct MHD_Response *r)
{
    const struct reply *reply = &x->job.reply;
    char number[16];
    if (!r) return MHD_NO;
    if (type) add_header(r, "Content-Type", type);
    add_header(r, "Cache-Control", "no-store");
    add_header(r, "X-Content-Type-Options", "nosniff");
    if (type && strncmp(type, "text/html", 9) == 0)
        add_header(r, "Content-Security-Policy", policy_of(x));
    if (reply->verdict) add_header(r, "X-Nami-Verdict", reply->verdict);
    if (reply->retry) {
        snprintf(number, sizeof number, "%d", reply->retry);
        add_header(r, "Retry-After", number);
    }
    if (status == 401) add_header(r, "WWW-Authenticate", "Bearer realm=\"nami\"");
    if (status == 405 && x->job.request.route < NUM_ROUTES)
        add_header(r, "Allow",
                   routes[x->job.request.route].method[0] == 'P' ? "POST" : "GET, HEAD");
    if (status == 408 || status == 413 || atomic_load(&x->server->stopping))
        add_header(r, "Connection", "close");
    x->job.reply.status = status;
    enum MHD_Result done = MHD_queue_response(c, (unsigned)status, r);
    MHD_destroy_response(r);
    return done;
}

/* Sends the reply of the job, whose text goes to the response. */
static enum MHD_Result send_reply(struct exchange *x, struct MHD_Connection *c)
{
    struct reply *reply = &x->job.reply;
    if (reply->body.failed) reply_simple(reply, 503, "out of memory");
    struct MHD_Response *r =
        reply->body.bytes ? MHD_create_response_from_buffer(reply->body.size, reply->body.bytes,
                                                            MHD_RESPMEM_MUST_FREE)
                          : MHD_create_response_from_buffer(0, (void *)"", MHD_RESPMEM_PERSISTENT);
    if (!r) return MHD_NO;
    x->sent = reply->body.size;
    reply->body = (struct text){0};
    return send_response(x, c, reply->status, reply->type, r);
}

static enum MHD_Result send_page(struct exchange *x, struct MHD_Connection *c, const char *page,
                                 size_t size)
{
    x->sent = size;
    return send_response(
        x, c, 200, forms[x->job.request.form].type,
        MHD_create_response_from_buffer(size, (void *)(uintptr_t)page, MHD_RESPMEM_PERSISTENT));
}

/* ---- what needs no evaluation -------------------------------------------------------------------
 */

static struct hosted *find_network(struct http *s, const char *name)
{
    for (int i = 0; i < s->num_networks; i++)
        if (strcmp(s->networks[i].name, name) == 0) return &s->networks[i];
    return NULL;
}

static void put_networks(struct http *s, struct text *out)
{
    const struct serve_options *o = s->opt;
    text_put(out, "{\"networks\":[");
    for (int i = 0; i < s->num_networks; i++) {
        struct version *v = hosted_take(&s->networks[i]);
        text_put(out, i ? ",\n{\"name\":" : "\n{\"name\":");
        text_quoted(out, s->networks[i].name);
        text_printf(out, ",\"version\":%d,\"loaded\":%.0f,\"scalars\":%d,\"method\":\"%s\"}",
                    v->number, v->loaded, nami_model_size(nami_network_model(v->network)),
                    v->method ? v->method : "direct");
        version_drop(v);
    }
    text_printf(out,
                "],\n\"limits\":{\"body_bytes\":%zu,\"draws\":%.0f,\"values\":%.0f,\"seconds\":%g},"
                "\"version\":\"%s\"}\n",
                o->max_body, o->max_draws, o->max_values, o->timeout, nami_version());
}

static void put_reloads(struct http *s, struct text *out)
{
    text_put(
        out,
        "# HELP nami_reloads_total network files read anew\n# TYPE nami_reloads_total counter\n");
    for (int i = 0; i < s->num_networks; i++) {
        struct hosted *h = &s->networks[i];
        pthread_mutex_lock(&h->lock);
        text_printf(out,
                    "nami_reloads_total{network=\"%s\",result=\"ok\"} %d\n"
                    "nami_reloads_total{network=\"%s\",result=\"failed\"} %d\n",
                    h->name, h->reloads, h->name, h->failed_reloads);
        pthread_mutex_unlock(&h->lock);
    }
}

static double num_connections(struct http *s)
{
    const union MHD_DaemonInfo *i =
        MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS);
    return i ? i->num_connections : 0;
}

/* The report of a network is a page beside its file: x.safetensors and x.html. */
static enum MHD_Result send_report(struct exchange *x, struct MHD_Connection *c,
                                   const struct hosted *h)
{
    struct text path = {0};
    struct stat st;
    hosted_report(h, &path);
    int fd = path.failed ? -1 : open(path.bytes, O_RDONLY | O_CLOEXEC);
    text_free(&path);
    if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode)) {
        x->sent = (size_t)st.st_size;
        return send_response(x, c, 200, forms[FORM_html].type,
                             MHD_create_response_from_fd((size_t)st.st_size, fd));
    }
    if (fd >= 0) close(fd);
    reply_simple(&x->job.reply, 404,
                 "there is no report of '%s': a page of its name, ending in .html, beside "
                 "the file of the network is shown here",
                 h->name);
    return send_reply(x, c);
}

static enum MHD_Result answer_get(struct exchange *x, struct MHD_Connection *c)
{
    struct http *s = x->server;
    struct reply *reply = &x->job.reply;
    struct hosted *h = find_network(s, x->job.request.name);
    struct version *v;
    reply->status = 200;
    reply->type = forms[x->job.request.form].type;
    switch (x->job.request.route) {
    case ROUTE_index: return send_page(x, c, file_index_html, file_index_html_size);
    case ROUTE_style: return send_page(x, c, file_style_css, file_style_css_size);
    case ROUTE_script: return send_page(x, c, file_page_js, file_page_js_size);
    case ROUTE_report: return send_report(x, c, h);
    case ROUTE_network:
        if (x->job.request.form == FORM_html)
            return send_page(x, c, file_network_html, file_network_html_size);
        v = hosted_take(h);
        text_put(&reply->body, v->about);
        version_drop(v);
        break;
    case ROUTE_networks: put_networks(s, &reply->body); break;
    case ROUTE_openapi: openapi_put(&reply->body); break;
    case ROUTE_healthz: text_put(&reply->body, "ok\n"); break;
    case ROUTE_readyz:
        if (atomic_load(&s->stopping)) reply->status = 503;
        text_put(&reply->body, reply->status == 200 ? "ready\n" : "stopping\n");
        break;
    case ROUTE_metrics:
        metrics_set(METRIC_queue, queue_length(s->queue));
        metrics_set(METRIC_active, atomic_load(&s->active));
        metrics_set(METRIC_connections, num_connections(s));
        metrics_put(&reply->body);
        put_reloads(s, &reply->body);
        break;
    default: reply_simple(reply, 500, "internal error");
    }
    return send_reply(x, c);
}

/* ---- requests -----------------------------------------------------------------------------------
 */

static const char *header(struct MHD_Connection *c, const char *name)
{
    return MHD_lookup_connection_value(c, MHD_HEADER_KIND, name);
}

static void set_client(struct exchange *x, struct MHD_Connection *c)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(c, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    const struct sockaddr *a = info ? info->client_addr : NULL;
    if (a && a->sa_family == AF_INET)
        memcpy(x->job.client, &((const struct sockaddr_in *)(const void *)a)->sin_addr, 4);
    if (a && a->sa_family == AF_INET6)
        memcpy(x->job.client, &((const struct sockaddr_in6 *)(const void *)a)->sin6_addr, 16);
}

/* Pages hold no data: they ask for it with the token that the user gives them. */
static int is_open(const struct request *r)
{
    return routes[r->route].access == OPEN || (r->route == ROUTE_network && r->form == FORM_html);
}

static int check_head(struct exchange *x, struct MHD_Connection *c, struct refusal *why)
{
    const struct serve_options *o = x->server->opt;
    struct request *r = &x->job.request;
    struct request_head head = {x->method, x->target, header(c, "Accept"),
                                header(c, "Content-Encoding")};
    int status = request_parse(&head, r, why);
    if (r->route < NUM_ROUTES && !o->token && !request_host_is_local(header(c, "Host")))
        return refuse(why, 403,
                      "without a token, this service answers to localhost and 127.0.0.1 only");
    if (r->route < NUM_ROUTES && o->token && !is_open(r) &&
        !request_token_ok(header(c, "Authorization"), o->token))
        return refuse(why, 401, "send the token of this service: 'Authorization: Bearer TOKEN'");
    if (status) return status;
    if (r->name[0] && !find_network(x->server, r->name))
        return refuse(why, 404, "no network is called '%s'; /networks lists them", r->name);
    const char *length = header(c, "Content-Length");
    if (request_is_query(r->route) && length && strtod(length, NULL) > (double)o->max_body)
        return refuse(why, 413, "the body has more than %zu bytes", o->max_body);
    return 0;
}

/* The first call: the head is known.  A refusal is sent when the body was read, so that the
   connection can be used again, unless the body is too large for that. */
static enum MHD_Result begin(struct exchange *x, struct MHD_Connection *c)
{
    struct refusal why;
    x->begun = 1;
    atomic_fetch_add(&x->server->active, 1);
    x->job.arrived = clock_seconds();
    x->job.deadline = x->job.arrived + x->server->opt->timeout;
    x->job.connection = c;
    set_client(x, c);
    if (check_head(x, c, &why)) reply_refusal(&x->job.reply, &why);
    if (x->job.reply.status != 413) return MHD_YES;
    return send_reply(x, c);
}

static enum MHD_Result take_body(struct exchange *x, const char *bytes, size_t *n)
{
    size_t most = x->server->opt->max_body;
    struct text *body = &x->job.body;
    if (clock_seconds() > x->job.deadline) { /* drop by drop */
        reply_simple(&x->job.reply, 408, "the body came too slowly");
        x->too_large++;
    } else if (body->size + *n > most) {
        reply_simple(&x->job.reply, 413, "the body has more than %zu bytes", most);
        x->too_large++;
    } else if (!x->job.reply.status)
        text_bytes(body, bytes, *n);
    *n = 0;
    /* it does not end: no answer can be sent before it does, so cut it off */
    int endless = clock_seconds() > x->job.deadline + x->server->opt->timeout || x->too_large > 64;
    return endless ? MHD_NO : MHD_YES;
}

static void ask(struct exchange *x, struct MHD_Connection *c)
{
    x->asked = 1;
    x->job.version = hosted_take(find_network(x->server, x->job.request.name));
    x->job.deadline = clock_seconds() + x->server->opt->timeout;
    MHD_suspend_connection(c);
    if (queue_put(x->server->queue, &x->job)) {
        metrics_add(METRIC_refused, 1);
        MHD_resume_connection(c);
    }
}

static enum MHD_Result handle(void *server, struct MHD_Connection *c, const char *url,
                              const char *method, const char *version, const char *bytes, size_t *n,
                              void **state)
{
    struct exchange *x = *state;
    (void)server, (void)url, (void)version;
    if (!x) return MHD_NO;
    if (!x->begun) {
        snprintf(x->method, sizeof x->method, "%s", method);
        return begin(x, c);
    }
    if (*n) return take_body(x, bytes, n);
    if (x->job.reply.status) return send_reply(x, c);
    if (!request_is_query(x->job.request.route)) return answer_get(x, c);
    if (x->job.body.failed)
        reply_simple(&x->job.reply, 503, "out of memory");
    else if (!x->asked) {
        ask(x, c);
        return MHD_YES;
    }
    return send_reply(x, c);
}

static void resume(struct job *job)
{
    metrics_add(METRIC_draws, job->reply.status == 200 ? job->draws : 0);
    metrics_add(METRIC_evaluations, job->batch > 0 ? 1.0 / job->batch : 0);
    MHD_resume_connection(job->connection);
}

/* ---- the life of a request ----------------------------------------------------------------------
 */

static void *begin_request(void *server, const char *uri, struct MHD_Connection *c)
{
    struct exchange *x = calloc(1, sizeof *x);
    (void)c;
    if (!x) return NULL;
    x->server = server;
    x->job.request.route = NUM_ROUTES;
    x->target = strdup(uri);
    if (x->target) return x;
    free(x);
    return NULL;
}

/* The path without parameters. */
static void log_request(const struct exchange *x, double took, int cut)
{
    struct text line;
    char client[INET6_ADDRSTRLEN] = "", path[128];
    static const unsigned char none[12] = {0};
    int v4 = memcmp(x->job.client + 4, none, 12) == 0;
    inet_ntop(v4 ? AF_INET : AF_INET6, x->job.client, client, sizeof client);
    snprintf(path, sizeof path, "%.*s", (int)strcspn(x->target, "?"), x->target);
    log_begin(&line, x->job.reply.status >= 500 ? "error" : "info", "request");
    log_text(&line, "client", client);
    log_text(&line, "method", x->method);
    log_text(&line, "path", path);
    log_number(&line, "status", x->job.reply.status);
    log_number(&line, "bytes", (double)x->sent);
    log_number(&line, "ms", 1e3 * took);
    if (x->job.batch) {
        log_number(&line, "queued_ms", 1e3 * x->job.queued);
        log_number(&line, "batch", x->job.batch);
        log_number(&line, "draws", x->job.draws);
    }
    if (cut) text_put(&line, ",\"cut\":true");
    log_end(&line);
}

static void end_request(void *server, struct MHD_Connection *c, void **state,
                        enum MHD_RequestTerminationCode how)
{
    struct exchange *x = *state;
    struct http *s = server;
    (void)c;
    if (!x) return;
    *state = NULL;
    if (x->begun) {
        double took = clock_seconds() - x->job.arrived;
        metrics_request(x->job.request.route, x->job.reply.status, took, x->job.batch);
        if (!s->opt->quiet) log_request(x, took, how != MHD_REQUEST_TERMINATED_COMPLETED_OK);
        atomic_fetch_sub(&s->active, 1);
    }
    version_drop(x->job.version);
    text_free(&x->job.body);
    text_free(&x->job.reply.body);
    free(x->target);
    free(x);
}

/* ---- all
 * ----------------------------------------------------------------------------------------- */

int http_start(const struct serve_options *opt, struct hosted *networks, int num_networks,
               int socket, struct http **out, nami_err *err)
{
    struct http *s = *out = calloc(1, sizeof *s);
    *err = (nami_err){.code = NAMI_ENOMEM, .msg = "out of memory, or out of threads"};
    if (!s) goto failed;
    s->opt = opt;
    s->networks = networks;
    s->num_networks = num_networks;
    atomic_init(&s->active, 0);
    atomic_init(&s->stopping, 0);
    if (!(s->queue = queue_new(opt, resume))) goto failed;
    /* poll, not epoll: with the latter, libmicrohttpd 0.9.75 now and then sleeps although
       connections were resumed, until another event comes */
    s->daemon = MHD_start_daemon(
        MHD_USE_POLL | MHD_USE_INTERNAL_POLLING_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC, 0,
        NULL, NULL, handle, s, MHD_OPTION_LISTEN_SOCKET, socket, MHD_OPTION_URI_LOG_CALLBACK,
        begin_request, s, MHD_OPTION_NOTIFY_COMPLETED, end_request, s, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)opt->connections, MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)(opt->idle < 1 ? 1 : opt->idle), MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)32768, MHD_OPTION_END);
    if (s->daemon) return 0;
failed:
    if (s) queue_free(s->queue);
    free(s);
    close(socket);
    *out = NULL;
    return err->code;
}

int http_stop(struct http *s, double grace)
{
    double end = clock_seconds() + grace;
    atomic_store(&s->stopping, 1);
    int socket = MHD_quiesce_daemon(s->daemon), calm = 0;
    /* an answer that is being sent, and a request that is about to be read, show up within moments
     */
    while (clock_seconds() < end && calm < 5) {
        calm = atomic_load(&s->active) ? 0 : calm + 1;
        usleep(10000);
    }
    int left = atomic_load(&s->active);
    queue_free(s->queue); /* resumes all that it has */
    MHD_stop_daemon(s->daemon);
    if (socket >= 0) close(socket);
    free(s);
    return left;
}
