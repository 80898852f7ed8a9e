/* test_sum.c: sums over the parts of a batch do not depend on the number of processes, which are
   threads here that exchange messages in memory. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "run.h"
#include "train/sum.h"

enum { MOST = 9, MESSAGES = 20000 };

/* ---- messages in memory ------------------------------------------------------------------------
 */

struct message {
    int from, to, tag, taken;
    size_t size;
    char *bytes;
};

static struct post {
    pthread_mutex_t lock;
    pthread_cond_t come;
    struct message message[MESSAGES];
    int n;
    double bytes;
} post = {.lock = PTHREAD_MUTEX_INITIALIZER, .come = PTHREAD_COND_INITIALIZER};

static int send(int to, int tag, const void *bytes, size_t size, void *user)
{
    const nami_exchange *x = user;
    pthread_mutex_lock(&post.lock);
    int room = post.n < MESSAGES;
    if (room) {
        struct message *m = &post.message[post.n++];
        *m = (struct message){x->rank, to, tag, 0, size, malloc(size)};
        memcpy(m->bytes, bytes, size);
        post.bytes += (double)size;
    }
    pthread_cond_broadcast(&post.come);
    pthread_mutex_unlock(&post.lock);
    return !room;
}

static int receive(int from, int tag, void *bytes, size_t size, void *user)
{
    const nami_exchange *x = user;
    int rc = 0;
    pthread_mutex_lock(&post.lock);
    for (int i = 0;; i++) {
        struct message *m = &post.message[i];
        if (i == post.n) {
            pthread_cond_wait(&post.come, &post.lock);
            i = -1;
        } else if (m->from == from && m->to == x->rank && m->tag == tag && !m->taken) {
            rc = m->size != size;
            if (!rc) memcpy(bytes, m->bytes, size);
            m->taken = 1;
            break;
        }
    }
    pthread_mutex_unlock(&post.lock);
    return rc;
}

static int wait_all(void *user)
{
    (void)user;
    return 0;
}

static int refuse(int to, int tag, const void *bytes, size_t size, void *user)
{
    (void)to, (void)tag, (void)bytes, (void)size, (void)user;
    return 1;
}

/* ---- one process -------------------------------------------------------------------------------
 */

struct process {
    nami_exchange with;
    pthread_t thread;
    int parts, rc, computed;
    size_t floats, doubles;
    float *grad;
    double *loss;
};

/* Numbers whose sum depends on the order. */
static void leaf(void *arg, int part, float *floats, double *doubles)
{
    struct process *p = arg;
    struct rng r;
    rng_init(&r, 7, (uint64_t)part);
    p->computed++;
    for (size_t i = 0; i < p->floats; i++) floats[i] = (float)(rng_unit(&r) - 0.3);
    for (size_t i = 0; i < p->doubles; i++) doubles[i] = rng_unit(&r) - 0.3;
}

static void *work(void *arg)
{
    struct process *p = arg;
    struct sum s;
    nami_err err;
    p->rc = sum_init(&s, p->parts, p->with.num_ranks > 1 ? &p->with : NULL, &err);
    for (int twice = 0; twice < 2 && !p->rc; twice++) /* the second time in used memory */
        p->rc = sum_run(&s, p->floats, p->doubles, leaf, p, p->grad, p->loss);
    sum_free(&s);
    return NULL;
}

static void run(struct process *p, int ranks, int parts, size_t floats, size_t doubles)
{
    for (int k = 0; k < ranks; k++) {
        p[k] = (struct process){.parts = parts, .floats = floats, .doubles = doubles};
        p[k].with = (nami_exchange){k, ranks, send, receive, wait_all, &p[k].with};
        p[k].grad = malloc(sizeof(float) * (floats + 1));
        p[k].loss = malloc(sizeof(double) * (doubles + 1));
    }
    for (int k = 1; k < ranks; k++)
        assert_int_equal(pthread_create(&p[k].thread, NULL, work, &p[k]), 0);
    work(&p[0]);
    for (int k = 1; k < ranks; k++) pthread_join(p[k].thread, NULL);
    for (int i = 0; i < post.n; i++) {
        assert_true(post.message[i].taken);
        free(post.message[i].bytes);
    }
    post.n = 0;
}

static void forget(struct process *p, int ranks)
{
    for (int k = 0; k < ranks; k++) free(p[k].grad), free(p[k].loss);
}

/* ---- cases
 * --------------------------------------------------------------------------------------- */

static void any_number_of_processes(void **state)
{
    static const int parts[] = {1, 2, 5, 8, 19};
    static const size_t floats[] = {0, 1, 1000, 70001};
    (void)state;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        for (size_t f = 0; f < sizeof floats / sizeof *floats; f++) {
            struct process one[1], many[MOST];
            run(one, 1, parts[i], floats[f], 3);
            assert_int_equal(one->rc, 0);
            for (int ranks = 2; ranks <= MOST && ranks <= parts[i]; ranks++) {
                int computed = 0;
                run(many, ranks, parts[i], floats[f], 3);
                for (int k = 0; k < ranks; k++) {
                    assert_int_equal(many[k].rc, 0);
                    assert_memory_equal(many[k].loss, one->loss, sizeof(double) * 3);
                    if (floats[f])
                        assert_memory_equal(many[k].grad, one->grad, sizeof(float) * floats[f]);
                    computed += many[k].computed;
                }
                assert_int_equal(computed, 2 * parts[i]); /* each part once */
                forget(many, ranks);
            }
            forget(one, 1);
        }
}

/* Each process sends about 2 (1 - 1 / ranks) vectors. */
static void traffic_is_spread(void **state)
{
    struct process p[8];
    size_t floats = 1 << 20;
    (void)state;
    post.bytes = 0;
    run(p, 8, 8, floats, 1);
    double vectors = post.bytes / (4. * (double)floats) / 2 / 8;
    assert_true(vectors > 1.7 && vectors < 1.8);
    forget(p, 8);
}

static void parts_cover_a_batch(void **state)
{
    (void)state;
    for (int n = 1; n < 300; n++)
        for (int parts = 1; parts < 20; parts++)
            for (int k = 0, end = 0, from, to; k < parts; k++, end = to) {
                sum_part(parts, n, k, &from, &to);
                assert_true(from == end && to >= from);
                assert_true(from % 8 == 0 || from == n);
                if (k == parts - 1) assert_int_equal(to, n);
            }
}

static void errors_are_told(void **state)
{
    nami_exchange with = {0, 3, refuse, receive, wait_all, NULL};
    struct process p = {.floats = 10, .doubles = 1};
    float grad[10];
    double loss;
    struct sum s;
    nami_err err;
    (void)state;
    assert_int_equal(sum_init(&s, 2, &with, &err), NAMI_EUSAGE);
    assert_non_null(strstr(err.msg, "3 processes are too many for a batch of 2 parts"));
    with.rank = 2;
    assert_int_equal(sum_init(&s, 3, &with, &err), 0);
    assert_int_equal(sum_run(&s, 10, 1, leaf, &p, grad, &loss), NAMI_EFILE);
    sum_free(&s);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(any_number_of_processes), cmocka_unit_test(traffic_is_spread),
    cmocka_unit_test(parts_cover_a_batch), cmocka_unit_test(errors_are_told)};
RUN(tests)
