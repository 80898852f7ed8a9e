/* test_workers.c: chunks of items run once each, in threads with workspaces of their own; the error
   is the first one for any number of threads. */
#include "run.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "malloc_fail.h"

#include "base/err.h"
#include "base/workers.h"

enum { MOST = 1000 };

struct job {
    size_t num_items, chunk_size, bad_from; /* items from here on fail */
    atomic_int count[MOST], made, ended;
    int init_fails_at; /* the number of the workspace, from 1; 0: none */
};

struct space {
    struct job *job;
    int chunks;
};

static int init(void *job, void *workspace, nami_err *err)
{
    struct job *j = job;
    struct space *s = workspace;
    assert_null(s->job);
    assert_int_equal(s->chunks, 0);
    s->job = j;
    return atomic_fetch_add(&j->made, 1) + 1 == j->init_fails_at
               ? err_set(err, NAMI_EINPUT, "no workspace")
               : 0;
}

static void fini(void *workspace)
{
    struct space *s = workspace;
    atomic_fetch_add(&s->job->ended, 1);
}

static int run(void *job, void *workspace, size_t first, size_t n, nami_err *err)
{
    struct job *j = job;
    struct space *s = workspace;
    s->chunks++;
    if (s->job != j || first % j->chunk_size || first + n > j->num_items ||
        (n != j->chunk_size && first + n != j->num_items))
        return err_set(err, NAMI_EBUG, "not a chunk");
    for (size_t i = first; i < first + n; i++) atomic_fetch_add(&j->count[i], 1);
    if (first + n <= j->bad_from) return 0;
    return err_set(err, NAMI_EINPUT, "chunk %zu", first / j->chunk_size);
}

static struct workers workers_of(struct job *j)
{
    return (struct workers){.job = j, .size = sizeof(struct space), .init = init, .fini = fini};
}

static const size_t sizes[][2] = {{0, 1},   {1, 1},    {1, 64},  {64, 64},
                                  {65, 64}, {MOST, 7}, {MOST, 1}};

static void each_chunk_once(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        for (int threads = 1; threads <= 8; threads++) {
            struct job j = {
                .num_items = sizes[k][0], .chunk_size = sizes[k][1], .bad_from = SIZE_MAX};
            struct workers w = workers_of(&j);
            int chunks = (int)((j.num_items + j.chunk_size - 1) / j.chunk_size);
            assert_int_equal(workers_once(&w, threads, j.num_items, j.chunk_size, run, NULL), 0);
            for (size_t i = 0; i < MOST; i++) assert_int_equal(j.count[i], i < j.num_items ? 1 : 0);
            assert_int_equal(j.made, chunks < 1 ? 1 : chunks < threads ? chunks : threads);
            assert_int_equal(j.ended, j.made);
        }
}

/* The workspaces stay from run to run. */
static void runs_share_workspaces(void **state)
{
    (void)state;
    struct job j = {.num_items = 100, .chunk_size = 10, .bad_from = SIZE_MAX};
    struct workers w = workers_of(&j);
    assert_int_equal(workers_start(&w, 3, 10, NULL), 0);
    for (int round = 1; round <= 5; round++) {
        int chunks = 0;
        assert_int_equal(workers_run(&w, j.num_items, j.chunk_size, run, NULL), 0);
        for (int i = 0; i < 3; i++) chunks += ((struct space *)w.workspace)[i].chunks;
        assert_int_equal(chunks, 10 * round);
    }
    assert_int_equal(j.ended, 0);
    workers_stop(&w);
    assert_int_equal(j.made, 3);
    assert_int_equal(j.ended, 3);
}

static void first_error_wins(void **state)
{
    (void)state;
    for (int round = 0; round < 200; round++) {
        struct job j = {.num_items = MOST, .chunk_size = 7, .bad_from = 300};
        struct workers w = workers_of(&j);
        nami_err err;
        assert_int_equal(workers_once(&w, 1 + round % 8, MOST, 7, run, &err), NAMI_EINPUT);
        assert_string_equal(err.msg, "chunk 42"); /* 294 .. 300 */
        for (int i = 0; i < 301; i++) assert_int_equal(j.count[i], 1);
        assert_int_equal(j.ended, j.made);
    }
}

static void init_may_fail(void **state)
{
    (void)state;
    struct job j = {.num_items = MOST, .chunk_size = 7, .bad_from = SIZE_MAX, .init_fails_at = 3};
    struct workers w = workers_of(&j);
    nami_err err;
    assert_int_equal(workers_once(&w, 5, MOST, 7, run, &err), NAMI_EINPUT);
    assert_string_equal(err.msg, "no workspace");
    assert_int_equal(j.made, 3);
    assert_int_equal(j.ended, 3);
    for (int i = 0; i < MOST; i++) assert_int_equal(j.count[i], 0);
}

static int once(void *job)
{
    struct workers w = workers_of(job);
    return workers_once(&w, 1, MOST, 7, run, NULL);
}

static void no_memory(void **state)
{
    (void)state;
    struct job j = {.num_items = MOST, .chunk_size = 7, .bad_from = SIZE_MAX};
    const char *why;
    assert_int_equal(nomem_each(once, &j, &why), 2);
    assert_int_equal(j.ended, j.made);
    free(nomem.live);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(each_chunk_once), cmocka_unit_test(runs_share_workspaces),
    cmocka_unit_test(first_error_wins), cmocka_unit_test(init_may_fail),
    cmocka_unit_test(no_memory)};
RUN(tests)
