/* transport.h: nami_exchange over MPI. */
#ifndef MPI_TRANSPORT_H
#define MPI_TRANSPORT_H

#include <stddef.h>

#include "nami.h"

/* For the processes of MPI_COMM_WORLD; MPI must be initialized. Free it before MPI_Finalize. */
struct transport *transport_new(nami_exchange *out); /* NULL: out of memory */
void transport_free(struct transport *t);

/* Seconds that calls of this process took so far, and the bytes that it sent. */
double transport_seconds(const struct transport *t);
double transport_bytes(const struct transport *t);

#endif
