/* pool.c: thread pool. A round of tasks is represented by the number of tasks not yet taken. A
   thread takes one by decrementing it, and the caller waits only for tasks that were taken: a
   thread that arrives late, because another program occupies its processor, finds none left or
   helps with a later round. The caller writes task, arg and ntask while no task is taken; a thread
   reads them only between taking a task and reporting its completion. */
#include "base/pool.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/parallel.h"
#include "base/vec.h"

static const double SPIN = 50e-6; /* seconds; waking a thread takes about as long */

/* A number of its own pair of cache lines (processors fetch two). */
struct counter {
    atomic_int n;
    char rest[128 - sizeof(atomic_int)];
};

/* A condition variable and its number of sleeping threads. */
struct bed {
    atomic_int n; /* how many do */
    pthread_cond_t cond;
};

struct pool {
    int n;    /* threads, with the caller's */
    int spin; /* enough processors for all threads? */
    pthread_t *thread;
    void (*task)(void *arg, int i);
    void *arg;
    int ntask;
    atomic_int quit;
    pthread_mutex_t lock;
    struct bed idle, caller;
    struct counter before;
    struct counter left;   /* tasks to be taken; not above 0 when there are none */
    struct counter undone; /* tasks that are not reported */
};

/* ---- waiting -------------------------------------------------------------------- */

static int has_work(struct pool *p) { return atomic_load(&p->left.n) > 0 || atomic_load(&p->quit); }

static int is_done(struct pool *p) { return atomic_load(&p->undone.n) == 0; }

static void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static int spin(struct pool *p, int (*ready)(struct pool *))
{
    double end = 0;
    for (unsigned i = 1; p->spin; i++) {
        if (ready(p)) return 1;
        relax();
        if (i % 64) continue;
        double now = clock_now();
        if (end == 0) end = now + SPIN;
        if (now >= end) break;
    }
    return 0;
}

/* Who goes to bed says so, then looks again; who makes something ready looks for sleepers after
   that.  In the one order of these four steps, one of the two sees the other. */
static void await(struct pool *p, int (*ready)(struct pool *), struct bed *b)
{
    if (spin(p, ready)) return;
    pthread_mutex_lock(&p->lock);
    atomic_fetch_add(&b->n, 1);
    while (!ready(p)) pthread_cond_wait(&b->cond, &p->lock);
    atomic_fetch_sub(&b->n, 1);
    pthread_mutex_unlock(&p->lock);
}

/* Wakes up to so many threads. */
static void wake(struct pool *p, struct bed *b, int most)
{
    int n = atomic_load(&b->n);
    if (n == 0 || most == 0) return;
    pthread_mutex_lock(&p->lock); /* who has said so, sleeps */
    pthread_mutex_unlock(&p->lock);
    if (most >= n)
        pthread_cond_broadcast(&b->cond);
    else
        for (int i = 0; i < most; i++) pthread_cond_signal(&b->cond);
}

/* ---- working -------------------------------------------------------------------- */

/* Runs available tasks; returns their number. */
static int work(struct pool *p)
{
    int left, n = 0;
    while ((left = atomic_fetch_sub(&p->left.n, 1)) > 0) {
        p->task(p->arg, p->ntask - left);
        n++;
    }
    return n;
}

static void *begin(void *pool)
{
    struct pool *p = pool;
    for (;;) {
        await(p, has_work, &p->idle);
        if (atomic_load(&p->quit)) return NULL;
        int n = work(p);
        if (n && atomic_fetch_sub(&p->undone.n, n) == n) wake(p, &p->caller, 1);
    }
}

void pool_run(struct pool *p, int ntask, void (*task)(void *arg, int i), void *arg)
{
    if (p->n == 1 || ntask <= 1) {
        for (int i = 0; i < ntask; i++) task(arg, i);
        return;
    }
    p->task = task;
    p->arg = arg;
    p->ntask = ntask;
    atomic_store(&p->undone.n, ntask);
    atomic_store(&p->left.n, ntask);
    wake(p, &p->idle, ntask - 1);
    int n = work(p);
    if (atomic_fetch_sub(&p->undone.n, n) != n) await(p, is_done, &p->caller);
}

/* ---- making and freeing ------------------------------------------------------------ */

/* Blocks signals in the new threads: they are handled by the thread that created the pool. */
static void start(struct pool *p, int n)
{
    static const int ask[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGCHLD};
    sigset_t set, old;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof ask / sizeof *ask; i++) sigaddset(&set, ask[i]);
    pthread_sigmask(SIG_BLOCK, &set, &old);
    while (p->n < n && pthread_create(&p->thread[p->n - 1], NULL, begin, p) == 0) p->n++;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

int pool_new(int n, struct pool **out, nami_err *err)
{
    struct pool *p = *out = new_array(struct pool, 1);
    if (!p) return err_nomem(err);
    p->n = 1;
    p->spin = n <= parallel_threads(0);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->idle.cond, NULL);
    pthread_cond_init(&p->caller.cond, NULL);
    if (n > 1) {
        p->thread = new_array(pthread_t, n - 1);
        if (!p->thread) {
            pool_free(p);
            *out = NULL;
            return err_nomem(err);
        }
        start(p, n);
    }
    return 0;
}

void pool_free(struct pool *p)
{
    if (!p) return;
    atomic_store(&p->quit, 1);
    wake(p, &p->idle, p->n);
    for (int i = 0; i < p->n - 1; i++) pthread_join(p->thread[i], NULL);
    pthread_cond_destroy(&p->caller.cond);
    pthread_cond_destroy(&p->idle.cond);
    pthread_mutex_destroy(&p->lock);
    free(p->thread);
    free(p);
}

int pool_size(const struct pool *p) { return p->n; }
