/* say.c: messages on standard error, results on standard output, and the exit codes of both. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cmd.h"

const struct exit_code exit_codes[] = {
    {EXIT_YES, "success; the answer is yes"},
    {EXIT_NO, "the answer is no: a certificate failed, structures differ, a result is not trusted"},
    {EXIT_BAD, "bad usage or bad input"},
    {EXIT_FAILED, "failed while running: out of memory, too large, cannot write, interrupted"},
    {0, NULL},
};

static int exit_code(enum phase phase, int code)
{
    if (code == NAMI_ENOMEM || code == NAMI_EBUG || code == NAMI_ECANCEL) return EXIT_FAILED;
    if (code == NAMI_EFILE || code == NAMI_ELIMIT) return phase == READING ? EXIT_BAD : EXIT_FAILED;
    return EXIT_BAD;
}

const char *file_name(const char *path) { return strcmp(path, "-") == 0 ? "<stdin>" : path; }

int fail(enum phase phase, const char *file, const nami_err *err)
{
    FILE *to = team.errors ? team.errors : stderr;
    fputs("nami: ", to);
    if (file) fprintf(to, "%s:", file);
    if (file && err->line > 0) fprintf(to, "%d:", err->line);
    if (file && err->line > 0 && err->col > 0) fprintf(to, "%d:", err->col);
    fprintf(to, "%serror: %s\n", file ? " " : "", err->msg);
    return exit_code(phase, err->code);
}

/* Formats a message as one printable line, whatever was typed. */
static void fill(nami_err *err, const char *fmt, va_list ap)
{
    *err = (nami_err){.code = NAMI_EUSAGE};
    vsnprintf(err->msg, sizeof err->msg, fmt, ap);
    for (char *s = err->msg; *s; s++)
        if ((unsigned char)*s < 32 || *s == 127) *s = '?';
}

int usage_error(nami_err *err, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    fill(err, fmt, ap);
    va_end(ap);
    return err->code;
}

int bad_usage(const char *fmt, ...)
{
    nami_err err;
    va_list ap;
    va_start(ap, fmt);
    fill(&err, fmt, ap);
    va_end(ap);
    return fail(RUNNING, NULL, &err);
}

int no_memory(void)
{
    fputs("nami: error: out of memory\n", stderr);
    return EXIT_FAILED;
}

/* Repeated notes, e.g. from the steps of 'nami run', are printed once. */
void note(const char *fmt, ...)
{
    static char last[1024];
    char text[sizeof last];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (strcmp(text, last) == 0 || !is_first()) return;
    strcpy(last, text);
    fprintf(stderr, "nami: note: %s\n", text);
}

void warn(const char *fmt, ...)
{
    va_list ap;
    if (!is_first()) return;
    va_start(ap, fmt);
    fputs("nami: warning: ", stderr);
    vfprintf(stderr, fmt, ap);
    fputs("\n", stderr);
    va_end(ap);
}

int finish_output(int yes)
{
    if (!ferror(stdout) && !fflush(stdout)) return yes;
    fputs("nami: error: cannot write to standard output\n", stderr);
    return EXIT_FAILED;
}

int finish_text(char *text, int yes)
{
    fputs(text, stdout);
    nami_free(text);
    return finish_output(yes);
}
