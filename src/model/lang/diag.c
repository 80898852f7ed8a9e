/* diag.c: diagnostics of a model file: collected in order, printed with the source line, a caret
   and advice. */
#include "model/lang/diag.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ERRORS_MAX = 20, COLUMNS = 100, BEFORE = 60 }; /* of a long line, and before its caret */

static const char *vtext(struct diags *d, const char *fmt, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    char *s = n < 0 ? NULL : arena_alloc(&d->mem, (size_t)n + 1);
    if (!s)
        d->oom = 1;
    else
        vsnprintf(s, (size_t)n + 1, fmt, ap);
    for (char *c = s; c && *c; c++) /* what was quoted may hold anything */
        if ((unsigned char)*c < 32 || *c == 127) *c = '?';
    return s;
}

const char *diag_text(struct diags *d, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    const char *s = vtext(d, fmt, ap);
    va_end(ap);
    return s;
}

/* Messages without a position come last. */
static int before(struct place a, struct place b)
{
    if (!a.line || !b.line) return a.line && !b.line;
    return a.line != b.line ? a.line < b.line : a.col < b.col;
}

static int is_known(const struct diags *d, enum level level, struct place at)
{
    for (size_t i = 0; i < d->list.n && at.line; i++) {
        const struct diag *g = &d->list.a[i];
        if (g->at.line == at.line && g->at.col == at.col && g->level <= level) return 1;
    }
    return 0;
}

void diag_add(struct diags *d, enum level level, struct place at, const char *advice,
              const char *fmt, ...)
{
    va_list ap;
    size_t nerror = 0, i;
    for (i = 0; i < d->list.n; i++) nerror += d->list.a[i].level == DIAG_ERROR;
    d->nerror += level == DIAG_ERROR;
    if (is_known(d, level, at) || (level == DIAG_ERROR ? nerror : d->list.n - nerror) >= ERRORS_MAX)
        return;
    va_start(ap, fmt);
    struct diag g = {.level = level, .at = at, .msg = vtext(d, fmt, ap), .advice = advice};
    va_end(ap);
    if (!g.msg || vec_push(&d->list, g)) {
        d->oom = 1;
        return;
    }
    for (i = d->list.n - 1; i > 0 && before(at, d->list.a[i - 1].at); i--)
        d->list.a[i] = d->list.a[i - 1];
    d->list.a[i] = g;
}

int diags_copy(struct diags *to, const struct diags *from)
{
    *to = (struct diags){.nerror = from->nerror, .oom = from->oom};
    if (vec_reserve(&to->list, from->list.n + 1)) return -1;
    for (size_t i = 0; i < from->list.n; i++) to->list.a[i] = from->list.a[i];
    to->list.n = from->list.n;
    return 0;
}

void diags_free(struct diags *d)
{
    arena_free(&d->mem);
    vec_free(&d->list);
    d->nerror = d->oom = 0;
}

/* ---- printing ------------------------------------------------------------- */

struct line {
    const char *s;
    size_t n;
};

/* A line ends with \n, \r\n or \r. */
static size_t line_length(const char *s, size_t n)
{
    size_t k = 0;
    while (k < n && s[k] != '\n' && s[k] != '\r') k++;
    return k;
}

static struct line find_line(const char *text, size_t len, int number)
{
    size_t at = len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0; /* byte-order mark */
    for (int k = 1;; k++) {
        size_t n = line_length(text + at, len - at);
        if (k == number) return (struct line){text + at, n};
        at += n;
        if (at == len) return (struct line){text + at, 0};
        at += text[at] == '\r' && at + 1 < len && text[at + 1] == '\n' ? 2 : 1;
    }
}

static int width(struct line l)
{
    int n = 0;
    for (size_t i = 0; i < l.n; i += str_char(l.s + i, l.n - i)) n++;
    return n;
}

/* Control characters and invalid bytes are shown as '?', to protect terminals. */
static void put_char(struct str *out, const char *s, size_t n)
{
    unsigned char c = (unsigned char)*s;
    if (n == 1 && (c >= 0x7F || (c < 32 && c != '\t')))
        str_put(out, "?");
    else
        str_putn(out, s, n);
}

/* The line, and ^~~ below; a long line is cut around its caret. */
static void put_source(const struct diag *g, struct line l, struct str *out)
{
    int n = width(l), col = g->at.col - 1, from = 0, to = n, len = g->at.len;
    struct str mark = {0};
    if (n > COLUMNS) {
        from = col > BEFORE ? col - BEFORE : 0;
        if (from > n - COLUMNS) from = n - COLUMNS;
        to = from + COLUMNS;
    }
    str_put(out, from ? "    ..." : "    ");
    str_put(&mark, from ? "       " : "    ");
    int k = 0;
    for (size_t i = 0, b; i < l.n && k < to; i += b, k++) {
        b = str_char(l.s + i, l.n - i);
        if (k < from) continue;
        put_char(out, l.s + i, b);
        if (k < col) str_put(&mark, l.s[i] == '\t' ? "\t" : " ");
    }
    str_put(out, to < n ? "...\n" : "\n");
    for (; k < col && k < n + 1; k++) str_put(&mark, " ");
    str_put(&mark, "^");
    for (k = 1; k < len && col + k < to; k++) str_put(&mark, "~");
    if (g->advice) str_printf(&mark, " %s", g->advice);
    str_put(&mark, "\n");
    if (mark.oom)
        out->oom = 1;
    else
        str_put(out, mark.s);
    str_free(&mark);
}

void diags_print(const struct diags *d, const char *file, const char *text, size_t len,
                 struct str *out)
{
    int shown = 0;
    if (d->oom) out->oom = 1;
    for (size_t i = 0; i < d->list.n; i++) {
        const struct diag *g = &d->list.a[i];
        const char *level = g->level == DIAG_ERROR ? "error" : "warning";
        shown += g->level == DIAG_ERROR;
        if (g->at.line) {
            str_printf(out, "%s:%d:%d: %s: %s\n", file, g->at.line, g->at.col, level, g->msg);
            put_source(g, find_line(text, len, g->at.line), out);
        } else {
            str_printf(out, "%s: %s: %s\n", file, level, g->msg);
            if (g->advice) str_printf(out, "    %s\n", g->advice);
        }
    }
    if (shown == ERRORS_MAX && d->nerror > shown)
        str_printf(out, "%s: %d more errors are not shown\n", file, d->nerror - shown);
}
