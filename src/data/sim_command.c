/* sim_command.c: runs an external program as a simulator. The request is short, so it is written to
   the pipe before the program starts: no SIGPIPE if the program does not read it. Output and
   messages are read as they arrive, so that no pipe stays full. */
#define _GNU_SOURCE // NOLINT: pipe2, addchdir_np
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "data/simulator_impl.h"

enum { TAIL = 2048, WAIT_MS = 50 };

struct child {
    pid_t pid;
    int out, err; /* our ends; -1: closed */
    int status, ended;
    char tail[2 * TAIL]; /* the last of its messages */
    size_t ntail;
};

static void shut(int *fd)
{
    if (*fd >= 0) close(*fd);
    *fd = -1;
}

/* A pipe that no other program inherits, off the standard files. */
static int open_pipe(int fd[2])
{
    if (pipe2(fd, O_CLOEXEC)) {
        fd[0] = fd[1] = -1;
        return -1;
    }
    for (int i = 0; i < 2; i++) {
        if (fd[i] > 2) continue;
        int high = fcntl(fd[i], F_DUPFD_CLOEXEC, 3);
        if (high < 0) return -1;
        close(fd[i]);
        fd[i] = high;
    }
    return 0;
}

static int spawn(struct sim *m, struct child *c, int in, int out, int err)
{
    posix_spawn_file_actions_t fa;
    posix_spawnattr_t attr;
    sigset_t pipes, none;
    char sh[] = "sh", opt[] = "-c";
    char *argv[] = {sh, opt, (char *)m->s->command, NULL};
    sigemptyset(&none);
    sigemptyset(&pipes);
    sigaddset(&pipes, SIGPIPE);
    int rc = posix_spawn_file_actions_init(&fa);
    if (rc) return rc;
    if ((rc = posix_spawnattr_init(&attr))) {
        posix_spawn_file_actions_destroy(&fa);
        return rc;
    }
    if (m->s->dir) rc = posix_spawn_file_actions_addchdir_np(&fa, m->s->dir);
    if (!rc) rc = posix_spawn_file_actions_adddup2(&fa, in, 0);
    if (!rc) rc = posix_spawn_file_actions_adddup2(&fa, out, 1);
    if (!rc) rc = posix_spawn_file_actions_adddup2(&fa, err, 2);
    if (!rc) rc = posix_spawnattr_setsigdefault(&attr, &pipes);
    if (!rc) rc = posix_spawnattr_setsigmask(&attr, &none);
    if (!rc) rc = posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    if (!rc) rc = posix_spawn(&c->pid, "/bin/sh", &fa, &attr, argv, environ);
    posix_spawn_file_actions_destroy(&fa);
    posix_spawnattr_destroy(&attr);
    return rc;
}

static int start(struct sim *m, struct child *c)
{
    char request[80];
    int in[2] = {-1, -1}, out[2] = {-1, -1}, err[2] = {-1, -1}, why = 0;
    int n = snprintf(request, sizeof request, "{\"n\":%zu,\"seed\":%" PRIu64 "}\n", m->n, m->seed);
    if (open_pipe(in) || open_pipe(out) || open_pipe(err) || write(in[1], request, (size_t)n) != n)
        why = errno;
    shut(&in[1]);
    if (!why) why = spawn(m, c, in[0], out[1], err[1]);
    shut(&in[0]);
    shut(&out[1]);
    shut(&err[1]);
    c->out = out[0];
    c->err = err[0];
    if (!why) return 0;
    shut(&c->out);
    shut(&c->err);
    if (m->s->dir && access(m->s->dir, X_OK))
        return err_set(m->err, NAMI_EFILE,
                       SIM_NAME "runs in the directory of its model, %s, which is not there: %s",
                       m->s->command, m->s->dir, strerror(errno));
    return err_set(m->err, NAMI_EFILE, SIM_NAME "cannot be started: %s", m->s->command,
                   strerror(why));
}

static void note(struct child *c, const char *s, size_t n)
{
    if (n > TAIL) {
        s += n - TAIL;
        n = TAIL;
    }
    if (c->ntail + n > sizeof c->tail) {
        memmove(c->tail, c->tail + c->ntail - TAIL, TAIL);
        c->ntail = TAIL;
    }
    memcpy(c->tail + c->ntail, s, n);
    c->ntail += n;
}

/* The last line of its messages that is not empty, in c->tail. */
static const char *last_line(struct child *c)
{
    size_t n = c->ntail < sizeof c->tail ? c->ntail : sizeof c->tail - 1;
    while (n && strchr(" \t\r\n", c->tail[n - 1])) n--;
    c->tail[n] = 0;
    while (n && c->tail[n - 1] != '\n') n--;
    return c->tail + n;
}

/* Reads what there is; shuts *fd at its end. */
static int take(struct sim *m, struct child *c, int *fd)
{
    char buf[1 << 16];
    ssize_t n = read(*fd, buf, sizeof buf);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) return 0;
    if (n <= 0) {
        shut(fd);
        return 0;
    }
    if (fd == &c->out) return sim_feed(m, buf, (size_t)n);
    note(c, buf, (size_t)n);
    return 0;
}

static void wait_for(struct child *c, int options)
{
    pid_t p;
    do p = waitpid(c->pid, &c->status, options);
    while (p < 0 && errno == EINTR);
    if (p < 0) c->status = 0; /* a parent that ignores SIGCHLD never learns it */
    if (p != 0) c->ended = 1;
}

/* Until both pipes are closed, or the program has terminated and its remaining output is read: its
   own children may keep the pipes open. */
static int pump(struct sim *m, struct child *c)
{
    int rc = 0;
    while (!rc && (c->out >= 0 || c->err >= 0)) {
        struct pollfd p[2] = {{c->out, POLLIN, 0}, {c->err, POLLIN, 0}};
        int k = poll(p, 2, c->ended ? 0 : WAIT_MS);
        if (k < 0 && errno != EINTR && errno != EAGAIN)
            return err_set(m->err, NAMI_EFILE, SIM_NAME "cannot be read: %s", m->s->command,
                           strerror(errno));
        if (k == 0 && c->ended) break;
        if (k == 0) wait_for(c, WNOHANG);
        if (k > 0 && p[1].revents) rc = take(m, c, &c->err);
        if (k > 0 && p[0].revents && !rc) rc = take(m, c, &c->out);
    }
    return rc;
}

static int failed(struct sim *m, struct child *c)
{
    const char *why = last_line(c);
    const char *sep = *why ? ": " : "";
    if (WIFSIGNALED(c->status))
        return sim_bad(m, "was ended by signal %d (%s) after %zu rows%s%.200s", m->s->command,
                       WTERMSIG(c->status), strsignal(WTERMSIG(c->status)), m->row, sep, why);
    int code = WEXITSTATUS(c->status);
    if (code == 126 || code == 127)
        return sim_bad(m, "%s%s%.200s; give the path of a program that runs in this directory",
                       m->s->command, code == 127 ? "was not found" : "cannot be run", sep, why);
    return sim_bad(m, "ended with status %d after %zu rows%s%.200s", m->s->command, code, m->row,
                   sep, why);
}

int sim_command(struct sim *m)
{
    struct child c = {.out = -1, .err = -1};
    int rc = start(m, &c);
    if (rc) return rc;
    rc = pump(m, &c);
    shut(&c.out);
    shut(&c.err);
    if (rc && !c.ended) kill(c.pid, SIGKILL);
    if (!c.ended) wait_for(&c, 0);
    if (rc) return rc;
    return c.status ? failed(m, &c) : sim_end(m);
}
