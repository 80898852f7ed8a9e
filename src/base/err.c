/* err.c: error records: a code, a position and a message; the text of each code. */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void err_fill(nami_err *e, int code, int line, int col, const char *fmt, ...)
{
    if (!e) return;
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(e->msg, sizeof e->msg, fmt, ap);
    va_end(ap);
    e->code = code;
    e->line = line;
    e->col = col;
    if (n >= (int)sizeof e->msg) { /* cut between characters */
        char *cut = e->msg + sizeof e->msg - 4;
        while (cut > e->msg && (*cut & 0xC0) == 0x80) cut--;
        memcpy(cut, "...", 4);
    }
    for (char *c = e->msg; *c; c++) /* names from binary files: keep it one printable line */
        if ((unsigned char)*c < 32 || *c == 127) *c = '?';
}

int err_in_file(nami_err *e, const char *path, const nami_err *why)
{
    char place[32] = "";
    if (why->line) snprintf(place, sizeof place, ":%d:%d", why->line, why->col);
    return err_set(e, why->code, "%.150s%s: %.320s", path, place, why->msg);
}

void err_clear(nami_err *e)
{
    if (e) memset(e, 0, sizeof *e);
}

const char *nami_strerror(int code)
{
    switch (code) {
#define X(name, value, text)                                                                       \
    case name: return text;
        NAMI_ERRORS(X)
#undef X
    default: return "no error";
    }
}

const char *nami_version(void) { return NAMI_VERSION; }
