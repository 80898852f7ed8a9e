/* child.c: runs a function in a process of its own, which sends its output through a pipe. */
#define _GNU_SOURCE // NOLINT: pipe2
#include "report/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"

/* What the child sends before its output. */
struct answer {
    int rc;
    nami_err err;
};

static int send_all(int fd, const void *data, size_t n)
{
    for (const char *at = data; n > 0;) {
        ssize_t k = write(fd, at, n);
        if (k < 0 && errno != EINTR) return -1;
        if (k > 0) at += k, n -= (size_t)k;
    }
    return 0;
}

/* The child: its end by a signal must be quiet, and is not for the handlers of the caller. */
static _Noreturn void work_and_exit(child_work *work, const void *input, rlim_t seconds, int fd)
{
    static const int signals[] = {SIGSEGV, SIGABRT, SIGTRAP, SIGBUS,  SIGFPE,
                                  SIGILL,  SIGINT,  SIGTERM, SIGQUIT, SIGALRM};
    struct answer answer = {0};
    struct str out = {0};
    int null = open("/dev/null", O_RDWR);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) signal(signals[i], SIG_DFL);
    signal(SIGPIPE, SIG_IGN);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    setrlimit(RLIMIT_CPU, &(struct rlimit){seconds, seconds});
    for (int i = 1; i <= 2 && null >= 0; i++) dup2(null, i);
    answer.rc = work(input, &out, &answer.err);
    _exit(send_all(fd, &answer, sizeof answer) || send_all(fd, out.s, out.n));
}

/* Appends all that comes. */
static int receive(int fd, struct str *all)
{
    char buf[1 << 16];
    ssize_t n;
    while (!all->oom && (n = read(fd, buf, sizeof buf)) != 0) {
        if (n > 0) str_putn(all, buf, (size_t)n);
        if (n < 0 && errno != EINTR) return -1;
    }
    return all->oom ? -1 : 0;
}

/* The end of the child: 0 if it ended well, or if its status went to another wait(). */
static int end_of(pid_t pid)
{
    int status = 0;
    pid_t k;
    do k = waitpid(pid, &status, 0);
    while (k < 0 && errno == EINTR);
    return k < 0 ? 0 : status;
}

static int take(const struct str *all, int status, const char *library, struct str *out,
                nami_err *err)
{
    struct answer answer;
    if (status || all->n < sizeof answer)
        return err_set(err, NAMI_ELIMIT, "%s crashed while drawing; there may be too little memory",
                       library);
    memcpy(&answer, all->s, sizeof answer);
    if (answer.rc) return err_set(err, answer.rc, "%s", answer.err.msg);
    str_putn(out, all->s + sizeof answer, all->n - sizeof answer);
    return out->oom ? err_nomem(err) : 0;
}

int child_run(child_work *work, const void *input, unsigned seconds, const char *library,
              struct str *out, nami_err *err)
{
    struct str all = {0};
    int fd[2];
    if (pipe2(fd, O_CLOEXEC)) return err_set(err, NAMI_ELIMIT, "no pipe: %s", strerror(errno));
    pid_t pid = fork();
    if (pid == 0) work_and_exit(work, input, seconds, fd[1]);
    int why = errno;
    close(fd[1]);
    if (pid < 0) {
        close(fd[0]);
        return err_set(err, NAMI_ELIMIT, "cannot start a process to draw: %s", strerror(why));
    }
    int lost = receive(fd[0], &all);
    close(fd[0]); /* if it still writes, it ends */
    int status = end_of(pid);
    int rc = lost ? err_nomem(err) : take(&all, status, library, out, err);
    str_free(&all);
    return rc;
}
