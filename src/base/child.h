/* child.h: a process of its own for work with libraries that crash, exit or loop when memory or the
   disk fails, or have global state (Graphviz, librsvg, netCDF, libzip): a copy of this one that talks to it
   through a socket. */
#ifndef BASE_CHILD_H
#define BASE_CHILD_H

#include <stddef.h>
#include <sys/types.h>

#include "base/str.h"
#include "nami.h"

struct child {
    pid_t pid; /* 0: none */
    int fd;
};

/* Runs run(self, fd) in a new process, which ends when run returns.  It must not return to the
   code of the caller, nor use its locks: other threads may have held them.  Interrupts by the
   keyboard are ignored there: the parent knows what they mean. */
int child_start(struct child *c, void (*run)(void *self, int fd), void *self, nami_err *err);
/* Sends or receives exactly n bytes, on both sides; -1 if the other side has ended. */
int child_put(int fd, const void *data, size_t n);
int child_get(int fd, void *data, size_t n);
/* Ends the process, if it has not ended by itself. */
void child_end(struct child *c);

/* Work that makes a text or bytes: appends to *out; 0, or an error. */
typedef int child_work(const void *input, struct str *out, nami_err *err);
/* Appends what `work` appends in a child, which may take this processor time.  library: whose crash
   it is, in messages (NAMI_ELIMIT). */
int child_run(child_work *work, const void *input, unsigned seconds, const char *library,
              struct str *out, nami_err *err);

#endif
