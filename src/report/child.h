/* child.h: runs a function in a process of its own, because a library that it calls may crash, exit
   or loop, mostly when memory runs out, or has global state. */
#ifndef REPORT_CHILD_H
#define REPORT_CHILD_H

#include "base/str.h"
#include "nami.h"

/* Appends to *out; 0, or an error. */
typedef int child_work(const void *input, struct str *out, nami_err *err);

/* Appends what `work` appends in the child, which may take this processor time.  The child may
   neither print nor leave a core file.  library: whose crash it is, in messages (NAMI_ELIMIT). */
int child_run(child_work *work, const void *input, unsigned seconds, const char *library,
              struct str *out, nami_err *err);

#endif
