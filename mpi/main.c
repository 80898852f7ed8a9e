/* main.c: the program 'nami-mpi': commands of 'nami' by all processes that mpirun or srun start.

   Each process runs the same command with the same options; the library divides the work
   (nami_exchange), and process 0 alone prints and writes.  A process that fails or dies ends all of
   them: nothing waits for it longer than a few seconds. */
#define _GNU_SOURCE /* sched_getaffinity */
#include <mpi.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cmd.h"
#include "transport.h"

/* Seconds that a process which failed waits for the others to end by themselves: those that were
   stopped by a signal may still write a checkpoint. */
enum { WAIT_FAILED = 2, WAIT_STOPPED = 30 };

static const char *const commands[] = {"train",     "sample", "calibrate", "simulate",
                                       "reproduce", "help",   NULL};

/* ---- the end --------------------------------------------------------------------------------- */

static void pause_briefly(void) { nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL); }

/* Waits until all processes have ended the command, and gets the exit code of process 0; -1: some
   go on, though this one has failed. */
static int meet(int code)
{
    int rank, first = 0, done = 0, mine;
    MPI_Request all;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    mine = rank ? 0 : code;
    MPI_Iallreduce(&mine, &first, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &all);
    double end = MPI_Wtime() + (team.stopped ? WAIT_STOPPED : WAIT_FAILED);
    do {
        MPI_Test(&all, &done, MPI_STATUS_IGNORE);
        if (!done) pause_briefly();
    } while (!done && (code <= EXIT_NO || MPI_Wtime() < end));
    return done ? first : -1;
}

/* What this process has to say, unless process 0 has failed, too, and said it. */
static void say_error(int rank, const char *text)
{
    if (text && *text) fprintf(stderr, "process %d: %s", rank, text);
}

/* ---- steps of training -------------------------------------------------------------------------
 */

/* Every so many steps, processes compare their weights: those of unlike processors may differ. */
enum { COMPARE = 200 };

static struct {
    MPI_Request request;
    int pending;
    uint64_t mine[3], most[3]; /* stop, hash, ~hash */
    uint64_t steps, hash;
} state;

/* FNV-1a over words */
static uint64_t hash_of(nami_trainer *t)
{
    const float *x = nami_trainer_params(t);
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < nami_trainer_size(t); i++) {
        uint32_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        hash = (hash ^ bits) * 0x100000001b3u;
    }
    return hash;
}

/* The answer of the step before, so that no process waits for a message. */
static int agree(int stop, nami_trainer *t, nami_err *err)
{
    int answer = 0;
    if (state.pending) {
        for (int done = 0; !done;) { /* it began a step ago */
            MPI_Test(&state.request, &done, MPI_STATUS_IGNORE);
            if (!done) sched_yield();
        }
        answer = state.most[0] != 0;
        if (state.most[1] != state.mine[1] || state.most[2] != state.mine[2])
            return usage_error(err,
                               "the processes have come to different weights; start them with the "
                               "same files, and on processors of the same kind");
    }
    if (state.steps++ % COMPARE == 0) state.hash = hash_of(t);
    state.mine[0] = stop != 0;
    state.mine[1] = state.hash;
    state.mine[2] = ~state.hash;
    state.pending = !answer;
    if (!answer)
        MPI_Iallreduce(state.mine, state.most, 3, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD,
                       &state.request);
    return answer;
}

/* ---- the beginning ------------------------------------------------------------------------------
 */

/* Threads of a process: its processors, if it is bound to some; else its share of the machine. */
static int threads_each(void)
{
    MPI_Comm here;
    cpu_set_t set;
    int num_here = 1, all = (int)sysconf(_SC_NPROCESSORS_ONLN);
    int bound = sched_getaffinity(0, sizeof set, &set) ? all : CPU_COUNT(&set);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
    MPI_Comm_size(here, &num_here);
    MPI_Comm_free(&here);
    int threads = bound < all ? bound : all / num_here;
    return threads > 0 ? threads : 1;
}

static int is_known(const char *name)
{
    for (int i = 0; commands[i]; i++)
        if (strcmp(commands[i], name) == 0) return 1;
    return name[0] == '-' || !cmd_by_name(name); /* 'nami' says what is wrong with it */
}

static int reads_input(int argc, char **argv)
{
    for (int i = 2; i < argc; i++)
        if (strcmp(argv[i], "-") == 0) return 1;
    return 0;
}

static int run(int argc, char **argv)
{
    if (argc > 1 && !is_known(argv[1]))
        return bad_usage("'%s' is a command for one process: nami %s", argv[1], argv[1]);
    if (reads_input(argc, argv))
        return bad_usage("several processes cannot read standard input; give the name of a file");
    return run_command(argc, argv);
}

int main(int argc, char **argv)
{
    nami_exchange exchange;
    char *errors = NULL;
    size_t size;
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    struct transport *t = transport_new(&exchange);
    if (!t) MPI_Abort(MPI_COMM_WORLD, no_memory());
    team = (struct team){.exchange = &exchange, .threads = threads_each(), .agree = agree};
    if (exchange.rank) {
        team.errors = open_memstream(&errors, &size);
        if (!freopen("/dev/null", "w", stdout) || !team.errors)
            MPI_Abort(MPI_COMM_WORLD, EXIT_FAILED);
    }
    double since = MPI_Wtime();
    int code = run(argc, argv);
    double seconds = MPI_Wtime() - since;
    if (team.errors) fclose(team.errors);
    if (state.pending && code <= EXIT_NO) MPI_Wait(&state.request, MPI_STATUS_IGNORE);
    int first = meet(code);
    if (first < EXIT_BAD) say_error(exchange.rank, errors);
    free(errors);
    if (first < 0) MPI_Abort(MPI_COMM_WORLD, code);
    const char *times = getenv("NAMI_MPI_TIMES"); /* for measurements */
    if (times && !exchange.rank)
        fprintf(stderr, "nami-mpi: exchange %.6f s of %.6f s, %.0f bytes\n", transport_seconds(t),
                seconds, transport_bytes(t));
    transport_free(t);
    MPI_Finalize();
    return code;
}
