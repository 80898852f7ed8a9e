/* transport.c: nami_exchange over MPI: sends are nonblocking, receives wait. */
#include "transport.h"

#include <mpi.h>
#include <stdlib.h>
#include <time.h>

enum { PIECE = 1 << 30 }; /* MPI counts in int */

struct transport {
    MPI_Comm comm;
    MPI_Request *request;
    int num_requests, room;
    double seconds, bytes;
};

static int failed(int code) { return code != MPI_SUCCESS; }

static MPI_Request *next_request(struct transport *t)
{
    if (t->num_requests == t->room) {
        int room = t->room ? 2 * t->room : 64;
        MPI_Request *more = realloc(t->request, sizeof *more * (size_t)room);
        if (!more) return NULL;
        t->request = more;
        t->room = room;
    }
    return &t->request[t->num_requests++];
}

/* Waits for a message: MPI's own waiting keeps a processor busy, which others may need for what is
   waited for. */
static int complete(MPI_Request *r)
{
    const double SPIN = 50e-6;
    double since = MPI_Wtime();
    int done = 0, rc = 0;
    while (!(rc = failed(MPI_Test(r, &done, MPI_STATUS_IGNORE))) && !done)
        if (MPI_Wtime() - since > SPIN) nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
    return rc;
}

static int send(int to, int tag, const void *bytes, size_t size, void *user)
{
    struct transport *t = user;
    double since = MPI_Wtime();
    int rc = 0;
    for (size_t at = 0; at < size && !rc; at += PIECE) {
        int n = size - at < PIECE ? (int)(size - at) : PIECE;
        MPI_Request *r = next_request(t);
        rc = !r || failed(MPI_Isend((const char *)bytes + at, n, MPI_BYTE, to, tag, t->comm, r));
    }
    t->seconds += MPI_Wtime() - since;
    t->bytes += (double)size;
    return rc;
}

static int receive(int from, int tag, void *bytes, size_t size, void *user)
{
    struct transport *t = user;
    double since = MPI_Wtime();
    int rc = 0;
    for (size_t at = 0; at < size && !rc; at += PIECE) {
        int n = size - at < PIECE ? (int)(size - at) : PIECE;
        MPI_Request r;
        rc = failed(MPI_Irecv((char *)bytes + at, n, MPI_BYTE, from, tag, t->comm, &r)) ||
             complete(&r);
    }
    t->seconds += MPI_Wtime() - since;
    return rc;
}

static int wait_all(void *user)
{
    struct transport *t = user;
    double since = MPI_Wtime();
    int rc = 0;
    for (int i = 0; i < t->num_requests; i++) rc |= complete(&t->request[i]);
    t->num_requests = 0;
    t->seconds += MPI_Wtime() - since;
    return rc;
}

struct transport *transport_new(nami_exchange *out)
{
    struct transport *t = calloc(1, sizeof *t);
    if (!t) return NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &t->comm); /* messages of its own */
    *out = (nami_exchange){.send = send, .receive = receive, .wait = wait_all, .user = t};
    MPI_Comm_rank(t->comm, &out->rank);
    MPI_Comm_size(t->comm, &out->num_ranks);
    return t;
}

void transport_free(struct transport *t)
{
    if (!t) return;
    MPI_Comm_free(&t->comm);
    free(t->request);
    free(t);
}

double transport_seconds(const struct transport *t) { return t->seconds; }
double transport_bytes(const struct transport *t) { return t->bytes; }
