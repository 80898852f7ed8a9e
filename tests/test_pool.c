/* test_pool.c: the thread pool runs every task once, for any number of threads and tasks.
   By hand, under ThreadSanitizer, from the repository's root:

       cc -std=gnu11 -g -O1 -fsanitize=thread -Isrc -Iinclude -Itests tests/test_pool.c \
           src/base/{pool,parallel,vec,err}.c -Wl,--wrap={malloc,calloc,realloc,free} \
           -lcmocka -o /tmp/test_pool && setarch -R /tmp/test_pool */
#include "run.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "malloc_fail.h"

#include "base/clock.h"
#include "base/pool.h"

enum { MOST = 300 };

/* Plain numbers: that one thread sees what another wrote is the pool's promise. */
struct job {
    int count[MOST], round, seen[MOST];
    long sum[MOST][16];
};

static void tick(void *arg, int i)
{
    struct job *j = arg;
    j->count[i]++;
    j->seen[i] = j->round;
}

static void check(const struct job *j, int ntask, int times)
{
    for (int i = 0; i < MOST; i++) {
        if (j->count[i] != (i < ntask ? times : 0))
            fail_msg("task %d of %d ran %d times, not %d", i, ntask, j->count[i], times);
        if (i < ntask && j->seen[i] != j->round) fail_msg("task %d is of another round", i);
    }
}

static struct pool *make(int n)
{
    struct pool *p;
    nami_err err;
    assert_int_equal(pool_new(n, &p, &err), 0);
    assert_true(pool_size(p) >= 1 && pool_size(p) <= n);
    return p;
}

/* ---- every task once ---------------------------------------------------------------- */

static void each_once(void **state)
{
    (void)state;
    static const int ntask[] = {0, 1, 2, 3, 5, 8, 17, MOST};
    for (int n = 1; n <= 8; n++) {
        struct pool *p = make(n);
        assert_int_equal(pool_size(p), n);
        for (size_t k = 0; k < sizeof ntask / sizeof *ntask; k++) {
            struct job j = {0};
            for (int i = 0; i < 200; i++) {
                j.round++;
                pool_run(p, ntask[k], tick, &j);
            }
            check(&j, ntask[k], 200);
        }
        pool_free(p);
    }
}

static void many_rounds(void **state)
{
    (void)state;
    static const int threads[] = {1, 2, 3, 8}, rounds[] = {100000, 100000, 20000, 10000};
    for (int t = 0; t < 4; t++) {
        struct pool *p = make(threads[t]);
        for (int ntask = 2; ntask <= 8; ntask += 6) {
            struct job j = {0};
            double from = clock_now();
            for (int i = 0; i < rounds[t]; i++) {
                j.round++;
                pool_run(p, ntask, tick, &j);
            }
            print_message("%d threads, %d tasks: %.2f us a round\n", threads[t], ntask,
                          1e6 * (clock_now() - from) / rounds[t]);
            check(&j, ntask, rounds[t]);
        }
        pool_free(p);
    }
}

/* Tasks of uneven lengths, and rounds so far apart that threads have gone to sleep. */
static void add(void *arg, int i)
{
    struct job *j = arg;
    for (int k = 0; k < i * 100; k++) j->sum[i][k % 16] += k;
    tick(arg, i);
}

static void uneven(void **state)
{
    (void)state;
    for (int n = 2; n <= 4; n++) {
        struct pool *p = make(n);
        struct job *j = calloc(1, sizeof *j);
        assert_non_null(j);
        for (int i = 0; i < 100; i++) {
            j->round++;
            pool_run(p, MOST, add, j);
            if (i % 10 == 0) usleep(1000);
            if (i % 10 == 5) usleep(50); /* as long as they spin */
        }
        check(j, MOST, 100);
        for (int i = 0; i < MOST; i++) {
            long sum = 0, m = i * 100;
            for (int k = 0; k < 16; k++) sum += j->sum[i][k];
            assert_int_equal(sum, 100 * (m * (m - 1) / 2));
        }
        free(j);
        pool_free(p);
    }
}

/* ---- threads ------------------------------------------------------------------------ */

struct meeting {
    atomic_int here;
    int together;
};

/* Two tasks that wait for each other, not forever. */
static void meet(void *arg, int i)
{
    struct meeting *m = arg;
    double end = clock_now() + 20;
    atomic_fetch_add(&m->here, 1);
    while (atomic_load(&m->here) < 2 && clock_now() < end) usleep(10);
    if (i == 0) m->together = atomic_load(&m->here) == 2;
}

static void at_once(void **state)
{
    (void)state;
    struct pool *p = make(2);
    for (int i = 0; i < 20; i++) {
        struct meeting m = {0};
        if (i % 2) usleep(1000);
        pool_run(p, 2, meet, &m);
        assert_true(m.together);
    }
    pool_free(p);
}

static void free_idle(void **state)
{
    (void)state;
    struct job j = {0};
    for (int i = 0; i < 200; i++) {
        struct pool *p = make(1 + i % 8);
        if (i % 3 == 0) usleep(200); /* asleep */
        if (i % 2) pool_run(p, 4, tick, &j);
        pool_free(p);
    }
    check(&j, 4, 100);
    pool_free(NULL);
}

/* Two pools at once, each with its own caller. */
static void *other(void *arg)
{
    struct job *j = arg;
    struct pool *p = make(2);
    for (int i = 0; i < 2000; i++) pool_run(p, 7, tick, j);
    pool_free(p);
    return NULL;
}

static void two_pools(void **state)
{
    (void)state;
    struct job a = {0}, b = {0};
    pthread_t t;
    assert_int_equal(pthread_create(&t, NULL, other, &a), 0);
    other(&b);
    pthread_join(t, NULL);
    check(&a, 7, 2000);
    check(&b, 7, 2000);
}

/* A signal that asks to stop comes to the caller's thread. */
static pthread_t caller;
static volatile sig_atomic_t came, elsewhere;

static void on_signal(int s)
{
    (void)s;
    came++;
    elsewhere |= !pthread_equal(pthread_self(), caller);
}

static void signals(void **state)
{
    (void)state;
    struct sigaction a = {.sa_handler = on_signal}, old;
    struct job j = {0};
    struct pool *p = make(4);
    caller = pthread_self();
    sigaction(SIGUSR1, &a, &old);
    for (int i = 0; i < 100; i++) {
        kill(getpid(), SIGUSR1);
        pool_run(p, 4, tick, &j);
    }
    sigaction(SIGUSR1, &old, NULL);
    assert_true(came > 0);
    assert_false(elsewhere);
    check(&j, 4, 100);
    pool_free(p);
}

static int make_and_run(void *ctx)
{
    struct pool *p;
    nami_err err = {0};
    int rc = pool_new(1, &p, &err); /* no threads: the counter of allocations knows only one */
    if (rc) return rc == NAMI_ENOMEM && !p && err.code == rc ? rc : 0;
    pool_run(p, 3, tick, ctx);
    pool_free(p);
    return 0;
}

static void no_memory(void **state)
{
    (void)state;
    struct job j = {0};
    const char *why;
    assert_int_equal(nomem_each(make_and_run, &j, &why), 1);
    check(&j, 3, 1);
    struct pool *p = NULL; /* the second allocation, of threads: before there are any */
    nomem.on = 1;
    nomem.left = 2;
    int rc = pool_new(4, &p, NULL);
    nomem.on = 0;
    assert_int_equal(rc, NAMI_ENOMEM);
    assert_null(p);
    assert_int_equal(nomem.n, 0);
    free(nomem.live);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(each_once), cmocka_unit_test(many_rounds), cmocka_unit_test(uneven),
    cmocka_unit_test(at_once),   cmocka_unit_test(free_idle),   cmocka_unit_test(two_pools),
    cmocka_unit_test(signals),   cmocka_unit_test(no_memory),
};

RUN(tests)
