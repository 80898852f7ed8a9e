/* cmd.h: the commands, and what they share. */
#ifndef CLI_CMD_H
#define CLI_CMD_H

#include <signal.h>

#include "base/str.h"
#include "opt.h"

struct cmd {
    const char *name, *summary;
    const char *usage;     /* behind "nami NAME" */
    const char *about;     /* paragraphs, an empty line between */
    const struct opt *opt; /* name NULL at the end; or NULL */
    const struct example {
        const char *line, *what;
    } * example; /* line NULL at the end */
    int min_arg, max_arg;
    opt_words *arg_words; /* what its arguments can be; NULL: files */
    size_t size;          /* of its struct of options, which begins with opt_common */
    int (*run)(const void *options, int narg, char **arg);
};

#define CMD(id) extern const struct cmd cmd_##id;
#include "cmd.def"
#undef CMD

extern const struct cmd *const cmds[]; /* NULL at the end */
const struct cmd *cmd_by_name(const char *name);
const char *cmd_words(int i);

enum { EXIT_YES = 0, EXIT_NO = 1, EXIT_BAD = 2, EXIT_FAILED = 3 };
extern const struct exit_code {
    int code;
    const char *what;
} exit_codes[]; /* what NULL at the end */

/* What went wrong decides the exit code, and so does when: a file that cannot
   be read is bad input, one that cannot be written is a failure. */
enum phase { READING, RUNNING, WRITING };

/* Prints "nami: FILE:LINE:COL: error: message" and returns the exit code.  Parts
   that are NULL or 0 are left out. */
int fail(enum phase phase, const char *file, const nami_err *err);
/* A remark on standard error; one that must not be missed. */
void note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Handles a signal, unless it was ignored when the program started (nohup, jobs in the background
   of a script): it stays so.  old, if not NULL: what was there, for sigaction(). */
void catch_signal(int number, void (*handler)(int), struct sigaction *old);
/* "-" by its name */
const char *file_name(const char *path);

/* Writes a result to standard output, all at once, and frees it; `yes` is the
   exit code if that works. */
int finish(struct str *out, int yes);
/* The same with a text of the library, which it frees. */
int finish_text(char *text, int yes);

/* Words of tables, for options. */
const char *format_words(int i);
const char *method_words(int i);
const char *mode_words(int i);
const char *criterion_words(int i);

#endif
