/* base.c: memory, files, suggestions and messages of nami.h. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "base/err.h"
#include "base/file.h"
#include "base/near.h"

void nami_free(void *text) { free(text); }

int nami_file_write(const char *path, const void *bytes, size_t size, nami_err *err)
{
    err_clear(err);
    return file_write(path, bytes, size, err);
}

int nami_file_check(const char *path, nami_err *err)
{
    err_clear(err);
    return file_check(path, err);
}

const char *nami_nearest(const char *word, const char *const *words)
{
    struct near best = NEAR_NONE;
    for (int i = 0; words[i]; i++) near_try(&best, word, strlen(word), words[i], i);
    return best.word;
}

int give_text(struct str *t, char **text, size_t *len, nami_err *err)
{
    if (!t->s && !t->oom) str_put(t, "");
    int rc = t->oom ? err_nomem(err) : 0;
    *text = rc ? NULL : t->s;
    if (len) *len = rc ? 0 : t->n;
    if (rc) str_free(t);
    *t = (struct str){0};
    return rc;
}

int no_such_form(const char *as, const char *forms, nami_err *err)
{
    return err_set(err, NAMI_EUSAGE, "cannot be described as '%.40s'; choose from %s", as, forms);
}

int no_such_set(size_t set, size_t num_sets, nami_err *err)
{
    return err_set(err, NAMI_EUSAGE,
                   "there are %zu data sets, numbered from 0: none has number %zu", num_sets, set);
}

void tell(const nami_watch *watch, int level, const char *fmt, ...)
{
    char text[1024];
    va_list ap;
    if (!watch || !watch->message) return;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    watch->message(level, text, watch->user);
}

int tell_progress(const nami_watch *watch, const char *phase, double done, double total,
                  nami_err *err)
{
    nami_progress p = {.phase = phase, .done = done, .total = total};
    if (!watch || !watch->progress) return 0;
    p.loss = p.valid = p.rate = NAN;
    return watch->progress(&p, watch->user) ? err_set(err, NAMI_ECANCEL, "canceled") : 0;
}
