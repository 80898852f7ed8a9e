/* child.c: a process of its own for libraries that may crash. */
#define _GNU_SOURCE /* SOCK_CLOEXEC */
#include "base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"

/* In the child: its end by a signal must be quiet, and is not for the handlers of the caller.  What
   interrupts a program by the keyboard is for its parent, whose end it notices. */
static void settle(void)
{
    static const int crashes[] = {SIGSEGV, SIGABRT, SIGTRAP, SIGBUS, SIGFPE, SIGILL, SIGALRM},
                     others[] = {SIGPIPE, SIGXFSZ, SIGINT, SIGTERM, SIGQUIT, SIGHUP};
    int null = open("/dev/null", O_RDWR);
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++) signal(crashes[i], SIG_DFL);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) signal(others[i], SIG_IGN);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    for (int i = 0; i <= 2 && null >= 0; i++) dup2(null, i);
}

int child_start(struct child *c, void (*run)(void *, int), void *self, nami_err *err)
{
    int fd[2];
    *c = (struct child){.fd = -1};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd))
        return err_set(err, NAMI_ELIMIT, "no connection to another process: %s", strerror(errno));
    pid_t pid = fork();
    if (pid == 0) {
        close(fd[0]);
        settle();
        run(self, fd[1]);
        _exit(0);
    }
    int why = errno;
    close(fd[1]);
    if (pid < 0) {
        close(fd[0]);
        return err_set(err, NAMI_ELIMIT, "cannot start another process: %s", strerror(why));
    }
    *c = (struct child){pid, fd[0]};
    return 0;
}

int child_put(int fd, const void *data, size_t n)
{
    for (const char *at = data; n > 0;) {
        ssize_t k = send(fd, at, n, MSG_NOSIGNAL);
        if (k < 0 && errno != EINTR) return -1;
        if (k > 0) at += k, n -= (size_t)k;
    }
    return 0;
}

int child_get(int fd, void *data, size_t n)
{
    for (char *at = data; n > 0;) {
        ssize_t k = recv(fd, at, n, 0);
        if (k == 0 || (k < 0 && errno != EINTR)) return -1;
        if (k > 0) at += k, n -= (size_t)k;
    }
    return 0;
}

void child_end(struct child *c)
{
    char next;
    if (!c->pid) return;
    if (recv(c->fd, &next, 1, MSG_PEEK | MSG_DONTWAIT) != 0) kill(c->pid, SIGKILL);
    close(c->fd);
    while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR) continue;
    *c = (struct child){.fd = -1};
}

/* ---- work that makes a text --------------------------------------------------------------------
 */

struct task {
    child_work *work;
    const void *input;
    unsigned seconds;
};

/* What the process sends before the n bytes of its output. */
struct answer {
    int rc;
    nami_err err;
    size_t n;
};

static void work_there(void *self, int fd)
{
    const struct task *task = self;
    struct answer answer = {0};
    struct str out = {0};
    setrlimit(RLIMIT_CPU, &(struct rlimit){task->seconds, task->seconds});
    for (int i = 0; i < 2; i++) signal(i ? SIGTERM : SIGINT, SIG_DFL); /* nobody waits then */
    answer.rc = task->work(task->input, &out, &answer.err);
    answer.n = answer.rc ? 0 : out.n;
    if (child_put(fd, &answer, sizeof answer) == 0) child_put(fd, out.s, answer.n);
}

int child_run(child_work *work, const void *input, unsigned seconds, const char *library,
              struct str *out, nami_err *err)
{
    struct task task = {work, input, seconds};
    struct answer answer;
    struct child child;
    int rc = child_start(&child, work_there, &task, err);
    if (rc) return rc;
    int lost = child_get(child.fd, &answer, sizeof answer);
    if (!lost && answer.rc) {
        rc = err_set(err, answer.rc, "%s", answer.err.msg);
    } else if (!lost) {
        str_reserve(out, answer.n);
        if (out->oom)
            rc = err_nomem(err);
        else if (!(lost = child_get(child.fd, out->s + out->n, answer.n)))
            out->s[out->n += answer.n] = 0;
    }
    child_end(&child);
    if (!lost) return rc;
    return err_set(err, NAMI_ELIMIT, "%s crashed; there may be too little memory", library);
}
