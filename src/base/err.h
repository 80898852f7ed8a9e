/* err.h: an int for the machine, a sentence for the human. */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include "nami.h"

/* Fills *e (if not NULL) and returns code, so that callers write
   `return err_at(e, NAMI_EINPUT, line, col, "...", ...);` */
int err_at(nami_err *e, int code, int line, int col, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
int err_set(nami_err *e, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
int err_nomem(nami_err *e);
void err_clear(nami_err *e);

#endif
