/* parallel.c: runs one function in several threads and waits for all of them. */
#include "base/parallel.h"

#include <pthread.h>
#include <unistd.h>

enum { MAX_THREADS = 256 };

int parallel_threads(int n)
{
    if (n <= 0) {
        long have = sysconf(_SC_NPROCESSORS_ONLN);
        n = have > 0 ? (int)have : 1;
    }
    return n < MAX_THREADS ? n : MAX_THREADS;
}

struct share {
    void (*work)(void *arg, int worker);
    void *arg;
    int worker;
};

static void *begin(void *share_)
{
    const struct share *s = share_;
    s->work(s->arg, s->worker);
    return NULL;
}

void parallel_run(int n, void (*work)(void *arg, int worker), void *arg)
{
    pthread_t thread[MAX_THREADS];
    struct share share[MAX_THREADS];
    int made[MAX_THREADS];
    for (int i = 1; i < n; i++) {
        share[i] = (struct share){work, arg, i};
        made[i] = pthread_create(&thread[i], NULL, begin, &share[i]) == 0;
    }
    work(arg, 0);
    for (int i = 1; i < n; i++) {
        if (made[i])
            pthread_join(thread[i], NULL);
        else
            work(arg, i);
    }
}
