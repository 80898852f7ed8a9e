/* job_train.c: trains a network with a progress line, checkpoints, and saving on Ctrl-C. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "jobs.h"
#include "watch.h"

static volatile sig_atomic_t interrupted, save_now;
static void interrupt(int signal)
{
    if (signal == SIGUSR1)
        save_now = 1;
    else
        interrupted = 1;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int save_all(nami_trainer *t, const struct train_job *j)
{
    nami_err err;
    if (!is_first()) return EXIT_YES;
    if (j->out && nami_trainer_save(t, j->out, &err)) return fail(WRITING, j->out, &err);
    if (j->log && nami_trainer_log(t, j->log, &err)) return fail(WRITING, j->log, &err);
    return EXIT_YES;
}

/* Trains until the end or an interruption, which completes the step and saves the network. SIGUSR1
   saves it, too, and training goes on. */
static int make_steps(nami_trainer *t, const struct train_job *j, struct watch *w)
{
    double saved = now();
    nami_progress p;
    nami_err err;
    int rc = EXIT_YES, more = 1, stop = 0;
    while (more && !rc && !stop) {
        more = nami_trainer_step(t, &err);
        stop = more > 0 && team.agree ? team.agree(interrupted, t, &err) : interrupted;
        if (more < 0 || stop < 0) {
            watch_end(w);
            return fail(RUNNING, NULL, &err);
        }
        nami_trainer_progress(t, &p);
        w->library.progress(&p, w->library.user);
        if (now() - saved > j->save || save_now || !more || stop) {
            save_now = 0;
            rc = save_all(t, j);
            saved = now();
        }
    }
    w->keep = p.done > 0;
    watch_end(w);
    team.stopped = stop;
    if (!stop || rc) return rc;
    note("stopped after %.0f steps; --resume continues", p.done);
    return EXIT_FAILED;
}

/* Handles signals during training; before and after, they terminate the program. */
static int loop(nami_trainer *t, const struct train_job *j, struct watch *w)
{
    struct sigaction old_int, old_term, old_usr;
    catch_signal(SIGINT, interrupt, &old_int);
    catch_signal(SIGTERM, interrupt, &old_term);
    catch_signal(SIGUSR1, interrupt, &old_usr);
    int rc = make_steps(t, j, w);
    sigaction(SIGINT, &old_int, NULL);
    sigaction(SIGTERM, &old_term, NULL);
    sigaction(SIGUSR1, &old_usr, NULL);
    return rc;
}

static int print_result(const nami_trainer *t, const struct train_job *j)
{
    nami_err err;
    char *text;
    if (j->silent || (j->quiet && !j->json)) return EXIT_YES;
    if (nami_trainer_describe(t, j->json ? "json" : "text", &text, &err))
        return fail(RUNNING, NULL, &err);
    fputs(text, stdout);
    nami_free(text);
    if (j->out && !j->json) printf("network      %s\n", j->out);
    return finish_output(EXIT_YES);
}

/* Checks that files can be written before hours of training. */
static int check_files(const struct train_job *j)
{
    const char *const path[] = {j->out, j->log};
    nami_err err;
    const char *dot = j->log ? strrchr(j->log, '.') : NULL;
    if (j->log && (!dot || (strcmp(dot, ".csv") != 0 && strcmp(dot, ".json") != 0)))
        return bad_usage("a log is a .csv or a .json file, not '%.200s'", j->log);
    for (int i = 0; i < 2; i++)
        if (path[i] && nami_file_check(path[i], &err)) return fail(WRITING, path[i], &err);
    return EXIT_YES;
}

/* ---- one training at a time writes a file ------------------------------------------- */

static struct {
    char path[4096];
    int fd; /* -1: none */
    struct sigaction old_int, old_term;
} lock = {.fd = -1};

/* A signal before or after the steps of the training terminates the program, as without a lock. */
static void die(int number)
{
    unlink(lock.path);
    signal(number, SIG_DFL);
    raise(number); /* comes when this returns */
}

/* Locks NET.lock, which is removed at the end; if the program is killed, the lock is released and
   only the empty file stays. Where files cannot be locked, training goes on without. */
static int take_lock(const char *out)
{
    struct stat mine, there;
    lock.fd = -1;
    if (!out || (stat(out, &there) == 0 && !S_ISREG(there.st_mode))) return EXIT_YES;
    if (snprintf(lock.path, sizeof lock.path, "%s.lock", out) >= (int)sizeof lock.path)
        return EXIT_YES;
    for (;;) {
        lock.fd = open(lock.path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (lock.fd < 0) return EXIT_YES;
        if (flock(lock.fd, LOCK_EX | LOCK_NB)) break;
        /* did its last owner remove it between open() and flock()? */
        if (fstat(lock.fd, &mine) == 0 && stat(lock.path, &there) == 0 &&
            mine.st_ino == there.st_ino && mine.st_dev == there.st_dev) {
            catch_signal(SIGINT, die, &lock.old_int);
            catch_signal(SIGTERM, die, &lock.old_term);
            return EXIT_YES;
        }
        close(lock.fd);
    }
    int why = errno;
    close(lock.fd);
    lock.fd = -1;
    if (why != EWOULDBLOCK) return EXIT_YES;
    nami_err err;
    usage_error(&err,
                "another training is writing this network (it holds %.300s); wait until it "
                "has ended, or give another -o NET",
                lock.path);
    err.code = NAMI_EFILE;
    return fail(WRITING, out, &err);
}

static void release_lock(void)
{
    if (lock.fd < 0) return;
    sigaction(SIGINT, &lock.old_int, NULL);
    sigaction(SIGTERM, &lock.old_term, NULL);
    unlink(lock.path);
    close(lock.fd);
    lock.fd = -1;
}

/* Appends the option to use to a message of the library. */
static void advise(nami_err *err, const char *what)
{
    size_t n = strlen(err->msg);
    snprintf(err->msg + n, sizeof err->msg - n, "%s", what);
}

static int open_trainer(nami_trainer **t, const nami_model *model, const char *file,
                        const struct train_job *j, const nami_train_options *opt)
{
    nami_err err;
    if (!j->resume) {
        if (!nami_trainer_new(model, &j->invert, opt, t, &err)) return EXIT_YES;
        if (j->optional && err.code == NAMI_EINPUT && !err.line) {
            if (!j->quiet) note("%s; no network is trained", err.msg);
            return EXIT_YES;
        }
        if (strstr(err.msg, "or a batch size of")) advise(&err, " (--batch)");
        return fail(err.line || err.code == NAMI_EFILE ? READING : RUNNING,
                    err.line ? file_name(file) : NULL, &err);
    }
    if (!nami_trainer_resume(j->out, model, opt, t, &err)) return EXIT_YES;
    if (strstr(err.msg, "the network was trained"))
        advise(&err, "; give another -o NET, or train a new network: 'nami train' without "
                     "--resume, 'nami run' with --again");
    else if (strstr(err.msg, "draws of a file"))
        advise(&err, " (--samples FILE)");
    return fail(READING, j->out, &err);
}

/* Maximizing a bound requires data sets. */
static int check_data(const nami_trainer *t, const nami_data *data, const struct train_job *j)
{
    if (data || j->train.samples || strcmp(nami_trainer_objective(t), "elbo") != 0) return EXIT_YES;
    return bad_usage("what should it learn from? give --data x=FILE");
}

int train_model(const nami_model *model, const nami_data *data, const char *file,
                const struct train_job *j, nami_network **net)
{
    nami_train_options opt = j->train;
    nami_trainer *t = NULL;
    nami_err err;
    struct watch w;
    int rc = is_first() ? check_files(j) : EXIT_YES;
    watch_begin(&w, j->quiet);
    opt.watch = &w.library;
    opt.data = data;
    opt.exchange = team.exchange;
    if (!rc && is_first()) rc = take_lock(j->out);
    if (!rc) rc = open_trainer(&t, model, file, j, &opt);
    if (!rc && !t) return watch_end(&w), EXIT_YES;
    if (!rc) rc = check_data(t, data, j);
    if (!rc) rc = loop(t, j, &w);
    if (!rc) rc = print_result(t, j);
    if (!rc && net && nami_trainer_network(t, net, &err)) rc = fail(RUNNING, NULL, &err);
    nami_trainer_free(t);
    release_lock();
    return rc;
}
