/* mpi_latency.c: latency and bandwidth between two processes of MPI, for the model of bench/mpi.py:
   prints the seconds of a message of 8 bytes, and bytes per second of 4 MB, medians. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { SMALL = 8, LARGE = 1 << 22, ROUNDS = 21 };

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Seconds of one message: half of a round trip. */
static double message(int rank, int size, int times, char *bytes)
{
    double each[ROUNDS];
    for (int r = 0; r < ROUNDS; r++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double since = MPI_Wtime();
        for (int i = 0; i < times; i++) {
            if (rank == 0) MPI_Send(bytes, size, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
            if (rank < 2)
                MPI_Recv(bytes, size, MPI_BYTE, !rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (rank == 1) MPI_Send(bytes, size, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
        }
        each[r] = (MPI_Wtime() - since) / times / 2;
    }
    qsort(each, ROUNDS, sizeof *each, by_value);
    return each[ROUNDS / 2];
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char *bytes = calloc(1, LARGE);
    if (!bytes) MPI_Abort(MPI_COMM_WORLD, 1);
    double latency = message(rank, SMALL, 200, bytes), large = message(rank, LARGE, 4, bytes);
    if (!rank) printf("%.9f %.0f\n", latency, LARGE / large);
    free(bytes);
    MPI_Finalize();
    return 0;
}
