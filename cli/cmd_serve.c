/* cmd_serve.c: `nami serve`: answers queries of trained networks over HTTP (serve/). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#ifdef NAMI_SERVE
#include "serve.h"
#endif

struct options {
    struct opt_common common;
    const char *address, *token, *token_file, *methods;
    int port, threads, batch, queue, per_client, connections, quiet;
    double max_body, max_draws, max_values, timeout, idle, grace;
};

#define AT(field) offsetof(struct options, field)
static const struct opt options[] = {
    {"port", 'p', OPT_COUNT, AT(port), "N", "8080", NULL,
     "port; 0: any free port, which is printed", 0},
    {"address", 0, OPT_TEXT, AT(address), "HOST", "127.0.0.1", NULL,
     "address to listen on; any but loopback needs a token", 0},
    {"token", 0, OPT_TEXT, AT(token), "TEXT", NULL, NULL,
     "bearer token that clients must send; others on this machine can see it in the list of "
     "processes: prefer "
     "--token-file or the environment variable NAMI_TOKEN",
     0},
    {"token-file", 0, OPT_TEXT, AT(token_file), "FILE", NULL, NULL,
     "file whose first line is the token", 0},
    {"methods", 0, OPT_TEXT, AT(methods), "LIST", "adaptive,is,direct,smc", NULL,
     "inference methods that requests may choose; the first that a network supports is its "
     "default. mcmc and auto can "
     "take long, and are not interrupted by --timeout",
     0},
    {"threads", 0, OPT_COUNT, AT(threads), "N", "0", NULL,
     "threads that answer queries; 0: one per processor", 0},
    {"batch", 0, OPT_COUNT, AT(batch), "N", "64", NULL,
     "queries that are evaluated together, at most; 1: no batching", 0},
    {"queue", 0, OPT_COUNT, AT(queue), "N", "512", NULL,
     "queries that wait, at most; beyond it, status 503", 0},
    {"per-client", 0, OPT_COUNT, AT(per_client), "N", "0", NULL,
     "queries of one client address at a time, beyond it status 429; 0: no limit", 0},
    {"max-connections", 0, OPT_COUNT, AT(connections), "N", "4096", NULL,
     "open connections, at most", 0},
    {"max-body", 0, OPT_REAL, AT(max_body), "BYTES", "4e6", NULL,
     "size of a request's body, at most", 0},
    {"max-draws", 0, OPT_REAL, AT(max_draws), "N", "1e6", NULL,
     "draws of a query, at most, all data sets together", 0},
    {"max-values", 0, OPT_REAL, AT(max_values), "N", "2e7", NULL, "numbers in an answer, at most",
     0},
    {"timeout", 0, OPT_REAL, AT(timeout), "S", "30", NULL,
     "seconds to send a request, and seconds to have it answered, at most", 0},
    {"idle", 0, OPT_REAL, AT(idle), "S", "60", NULL,
     "seconds after which a silent connection is closed", 0},
    {"grace", 0, OPT_REAL, AT(grace), "S", "10", NULL,
     "seconds to answer what was accepted, when SIGTERM or SIGINT ends the service", 0},
    {"quiet", 'q', OPT_FLAG, AT(quiet), NULL, NULL, NULL, "no log of requests", 0},
    {NULL, 0, 0, 0, NULL, NULL, NULL, NULL, 0},
};

#ifdef NAMI_SERVE
enum { MOST_NETWORKS = 256, MOST_METHODS = 16, TOKEN_LENGTH = 1024 };

/* From the option, the file or the environment.  EXIT_YES, also without one. */
static int find_token(const struct options *o, char *text, const char **token)
{
    *token = o->token ? o->token : getenv("NAMI_TOKEN");
    if (o->token_file) {
        FILE *f = fopen(o->token_file, "r");
        if (!f) return bad_usage("%s: cannot read the token: %s", o->token_file, strerror(errno));
        if (!fgets(text, TOKEN_LENGTH, f)) text[0] = 0;
        fclose(f);
        text[strcspn(text, "\r\n")] = 0;
        *token = text;
    }
    if (*token && !**token) return bad_usage("the token is empty");
    for (const char *s = *token; s && *s; s++)
        if ((unsigned char)*s <= 32 || (unsigned char)*s >= 127)
            return bad_usage("a token consists of printable ASCII characters without spaces");
    return EXIT_YES;
}

/* Words of a comma list, in place. */
static int split_methods(char *list, const char **methods)
{
    int n = 0, known;
    for (char *s = strtok(list, ","); s; s = strtok(NULL, ",")) {
        if (n == MOST_METHODS) return bad_usage("too many --methods");
        known = 0;
        for (int i = 0; nami_word("samplers", i); i++)
            known |= strcmp(nami_word("samplers", i), s) == 0;
        if (!known)
            return bad_usage(
                "no inference method is called '%.40s'; 'nami list samplers' lists them", s);
        methods[n++] = s;
    }
    return n ? EXIT_YES : bad_usage("--methods needs at least one method");
}

static int serve(const struct options *o, int narg, char **arg)
{
    char token_text[TOKEN_LENGTH], list[512];
    const char *methods[MOST_METHODS + 1] = {NULL}, *token;
    nami_err err;
    int rc = find_token(o, token_text, &token);
    if (rc) return rc;
    if (strlen(o->methods) >= sizeof list) return bad_usage("--methods is too long");
    strcpy(list, o->methods);
    if ((rc = split_methods(list, methods))) return rc;
    if (o->port > 65535) return bad_usage("--port must be at most 65535");
    struct serve_options s = {.networks = (const char *const *)arg,
                              .num_networks = narg,
                              .address = o->address,
                              .port = o->port,
                              .token = token,
                              .methods = methods,
                              .threads = o->threads,
                              .batch = o->batch < 1      ? 1
                                       : o->batch > 1024 ? 1024
                                                         : o->batch,
                              .queue = o->queue,
                              .per_client = o->per_client,
                              .connections = o->connections < 1 ? 1 : o->connections,
                              .max_body = (size_t)(o->max_body < 1e12 ? o->max_body : 1e12),
                              .max_draws = o->max_draws,
                              .max_values = o->max_values,
                              .timeout = o->timeout,
                              .idle = o->idle,
                              .grace = o->grace,
                              .quiet = o->quiet};
    if (serve_run(&s, &err))
        return fail(err.code == NAMI_EINPUT || err.code == NAMI_EFILE ? READING : RUNNING, NULL,
                    &err);
    return EXIT_YES;
}
#else
enum { MOST_NETWORKS = 256 };
static int serve(const struct options *o, int narg, char **arg)
{
    (void)o, (void)narg, (void)arg;
    return bad_usage(
        "this program was built without the service: install libmicrohttpd-dev and build it again");
}
#endif

static int run(const void *o, int narg, char **arg) { return serve(o, narg, arg); }

static const struct example examples[] = {
    {"nami serve schools.safetensors", "at http://127.0.0.1:8080/, for this machine only"},
    {"nami serve a=1.safetensors b=2.safetensors --port 9000",
     "two networks, under names of their own"},
    {NULL, NULL},
};

const struct cmd cmd_serve = {
    .name = "serve",
    .summary = "answer queries of trained networks over HTTP",
    .usage = "[NAME=]NET... [options]",
    .about = "Serves posterior summaries, draws, log q and evidence of data sets that are sent by "
             "POST, as JSON, CSV, "
             "netCDF or NPZ; pages in which data can be changed and the posterior follows; an "
             "OpenAPI description, "
             "health checks and metrics. docs/serve.md describes it.\n\nA network file that is "
             "replaced is read "
             "again, without losing a request. SIGTERM ends the service after it has answered what "
             "it has accepted. "
             "No simulator is ever run.",
    .opt = options,
    .example = examples,
    .min_arg = 1,
    .max_arg = MOST_NETWORKS,
    .size = sizeof(struct options),
    .run = run,
};
