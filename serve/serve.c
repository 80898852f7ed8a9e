/* serve.c: the service: its networks, its socket, signals, and files that are replaced. */
#include "serve.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "http.h"
#include "log.h"

static int fail(nami_err *err, int code, const char *fmt, const char *a, const char *b)
{
    *err = (nami_err){.code = code};
    snprintf(err->msg, sizeof err->msg, fmt, a, b);
    return code;
}

/* ---- the socket ---------------------------------------------------------------------------------
 */

static int is_loopback(const struct sockaddr *a)
{
    if (a->sa_family == AF_INET)
        return ntohl(((const struct sockaddr_in *)(const void *)a)->sin_addr.s_addr) >> 24 == 127;
    return a->sa_family == AF_INET6 &&
           IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)(const void *)a)->sin6_addr);
}

static int listen_on(const struct addrinfo *a, nami_err *err)
{
    int yes = 1, fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0) setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (fd >= 0 && !bind(fd, a->ai_addr, a->ai_addrlen) && !listen(fd, 1024)) return fd;
    fail(err, NAMI_EUSAGE, "cannot listen there: %s%s", strerror(errno),
         errno == EADDRINUSE ? "; another program has this port: choose another one" : "");
    if (fd >= 0) close(fd);
    return -1;
}

/* A listening socket, or -1. */
static int open_socket(const struct serve_options *o, nami_err *err)
{
    struct addrinfo want = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV},
                    *found;
    char port[16];
    snprintf(port, sizeof port, "%d", o->port);
    int rc = getaddrinfo(o->address ? o->address : "127.0.0.1", port, &want, &found), fd = -1;
    if (rc) {
        if (rc == EAI_MEMORY)
            fail(err, NAMI_ENOMEM, "%s%s", "out of memory", "");
        else
            fail(err, NAMI_EUSAGE, "'%s' is no address of this machine: %s",
                 o->address ? o->address : "127.0.0.1", gai_strerror(rc));
        return -1;
    }
    if (!o->token && !is_loopback(found->ai_addr))
        fail(err, NAMI_EUSAGE, "%s%s",
             "other machines can reach this address: give a token that clients must send, "
             "or leave the address out",
             "");
    else
        fd = listen_on(found, err);
    freeaddrinfo(found);
    return fd;
}

static int port_of(int fd)
{
    struct sockaddr_storage a;
    socklen_t n = sizeof a;
    if (getsockname(fd, (struct sockaddr *)&a, &n)) return 0;
    return ntohs(a.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&a)->sin6_port
                                         : ((struct sockaddr_in *)&a)->sin_port);
}

/* ---- networks -----------------------------------------------------------------------------------
 */

static int load(struct hosted *networks, int *loaded, const struct serve_options *o,
                const struct hosting *how, nami_err *err)
{
    for (int i = 0; i < o->num_networks; i++) {
        nami_err why;
        int rc = hosted_init(&networks[i], o->networks[i], how, &why);
        *loaded = i + 1;
        if (rc) return fail(err, rc, "%.150s: %.350s", o->networks[i], why.msg);
        for (int k = 0; k < i; k++)
            if (strcmp(networks[k].name, networks[i].name) == 0)
                return fail(err, NAMI_EUSAGE,
                            "two networks are called '%s'; give one another name: OTHER=%s",
                            networks[i].name, networks[i].path);
    }
    return 0;
}

static void refresh(struct hosted *networks, int n, const struct hosting *how)
{
    for (int i = 0; i < n; i++) {
        nami_err err;
        struct text line;
        int rc = hosted_refresh(&networks[i], how, &err);
        if (!rc) continue;
        log_begin(&line, rc > 0 ? "info" : "error", "reload");
        log_text(&line, "network", networks[i].name);
        log_text(&line, "result",
                 rc > 0 ? "ok" : "the new file does not read, the old network stays");
        if (rc < 0) log_text(&line, "message", err.msg);
        log_end(&line);
    }
}

/* ---- all
 * ----------------------------------------------------------------------------------------- */

static void say(const char *event, const char *name, double value)
{
    struct text line;
    log_begin(&line, "info", event);
    if (value > 0) log_number(&line, name, value);
    log_end(&line);
}

static void more_files(int connections)
{
    struct rlimit r;
    rlim_t want = (rlim_t)connections + 128;
    if (getrlimit(RLIMIT_NOFILE, &r) || r.rlim_cur >= want) return;
    r.rlim_cur = r.rlim_max < want ? r.rlim_max : want;
    setrlimit(RLIMIT_NOFILE, &r);
}

/* Until SIGTERM or SIGINT; files are looked at twice a second, and at SIGHUP. */
static void wait_for_end(const sigset_t *signals, struct hosted *networks, int n,
                         const struct hosting *how)
{
    const struct timespec half = {0, 500000000};
    for (;;) {
        int number = sigtimedwait(signals, NULL, &half);
        if (number == SIGTERM || number == SIGINT) return;
        refresh(networks, n, how);
    }
}

int serve_run(const struct serve_options *o, nami_err *err)
{
    struct hosting how = {o->methods};
    struct hosted *networks = calloc((size_t)o->num_networks + 1, sizeof *networks);
    struct http *server;
    sigset_t signals;
    int loaded = 0, rc;
    if (!networks) return fail(err, NAMI_ENOMEM, "%s%s", "out of memory", "");
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a file that is too large is an error of one answer */
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM), sigaddset(&signals, SIGINT), sigaddset(&signals, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    more_files(o->connections);
    int fd = open_socket(o, err);
    rc = fd < 0 ? err->code : load(networks, &loaded, o, &how, err);
    int port = fd < 0 ? 0 : port_of(fd);
    if (rc && fd >= 0) close(fd);
    if (!rc) rc = http_start(o, networks, o->num_networks, fd, &server, err);
    if (!rc) {
        const char *address = o->address ? o->address : "127.0.0.1";
        int brackets = strchr(address, ':') != NULL;
        printf("http://%s%s%s:%d/\n", brackets ? "[" : "", address, brackets ? "]" : "", port);
        fflush(stdout);
        if (!o->quiet) say("start", "port", port);
        wait_for_end(&signals, networks, o->num_networks, &how);
        if (!o->quiet) say("stop", "", 0);
        int left = http_stop(server, o->grace);
        if (left || !o->quiet) say("end", "unanswered", left);
    }
    for (int i = 0; i < loaded; i++) hosted_fini(&networks[i]);
    free(networks);
    return rc;
}
