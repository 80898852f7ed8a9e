/* err.h: error codes with human-readable messages. */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include "nami.h"

/* Fills *e (if not NULL).  The macros also have the value of code, so that callers
   write `return err_at(e, NAMI_EINPUT, line, col, "...", ...);` */
void err_fill(nami_err *e, int code, int line, int col, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
static inline int err_value(int code)
{
    return code; /* a call, so that the result may be ignored */
}
#define err_at(e, code, line, col, ...) (err_fill(e, code, line, col, __VA_ARGS__), err_value(code))
#define err_set(e, code, ...)           err_at(e, code, 0, 0, __VA_ARGS__)
#define err_nomem(e)                    err_set(e, NAMI_ENOMEM, "out of memory")
/* Prefixes an error with the file name and position; returns the code of `why`. */
int err_in_file(nami_err *e, const char *path, const nami_err *why);
void err_clear(nami_err *e);

#endif
