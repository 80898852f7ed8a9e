/* cmd.h: the table of commands, messages and exit codes. */
#ifndef CLI_CMD_H
#define CLI_CMD_H

#include <signal.h>

#include "opt.h"
#include "team.h"

enum { MAX_GROUPS = 3 };

struct cmd {
    const char *name, *summary;
    const char *usage;                       /* after "nami NAME" */
    const char *about;                       /* paragraphs, separated by empty lines */
    const struct opt *opt;                   /* name NULL at the end; or NULL */
    struct opt_group groups[MAX_GROUPS + 1]; /* library options; name NULL at the end */
    const struct example {
        const char *line, *what;
    } * example; /* line NULL at the end */
    int min_arg, max_arg;
    opt_words *arg_words; /* completions of its arguments; NULL: files */
    size_t size;          /* size of its option struct, which begins with opt_common */
    int (*run)(const void *options, int narg, char **arg);
};

#define CMD(id) extern const struct cmd cmd_##id;
#include "cmd.def"
#undef CMD

extern const struct cmd *const cmds[]; /* NULL at the end */
const struct cmd *cmd_by_name(const char *name);
const char *cmd_words(int i);
/* Runs the command line of 'nami', and returns its exit code. */
int run_command(int argc, char **argv);

enum { EXIT_YES = 0, EXIT_NO = 1, EXIT_BAD = 2, EXIT_FAILED = 3 };
extern const struct exit_code {
    int code;
    const char *what;
} exit_codes[]; /* what NULL at the end */

/* ---- messages (say.c) --------------------------------------------------------------- */

/* The exit code depends on the error and the phase: a file that cannot be read is bad input, one
   that cannot be written is a failure. */
enum phase { READING, RUNNING, WRITING };

/* Prints "nami: FILE:LINE:COL: error: message" and returns the exit code.  Parts that are NULL or 0
   are omitted. */
int fail(enum phase phase, const char *file, const nami_err *err);
/* Stores a message in err, for fail: NAMI_EUSAGE. */
int usage_error(nami_err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Prints "nami: error: ..." and returns EXIT_BAD; out of memory: EXIT_FAILED. */
int bad_usage(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
int no_memory(void);
/* Print a note or a warning on standard error. */
void note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* "<stdin>" for "-" */
const char *file_name(const char *path);

/* To be called after printing to standard output: returns `yes`, or reports a write error and
   returns its exit code.
 */
int finish_output(int yes);
/* Prints a text of the library and frees it. */
int finish_text(char *text, int yes);

/* ---- */

/* Handles a signal, unless it was ignored when the program started (nohup, jobs in the background
   of a script): then it remains ignored. old, if not NULL: the previous handler, for
   sigaction(). */
void catch_signal(int number, void (*handler)(int), struct sigaction *old);

const char *format_words(int i); /* file formats of structures */

#endif
