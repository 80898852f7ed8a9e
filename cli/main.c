/* main.c: finds the command, parses its options, runs it. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/vec.h"
#include "cmd.h"
#include "graph/invert.h"
#include "help.h"
#include "io/format.h"

const struct cmd *const cmds[] = {
#define CMD(id) &cmd_##id,
#include "cmd.def"
#undef CMD
    NULL};

const char *cmd_words(int i) { return cmds[i] ? cmds[i]->name : NULL; }

const struct cmd *cmd_by_name(const char *name)
{
    for (int i = 0; cmds[i]; i++)
        if (strcmp(cmds[i]->name, name) == 0) return cmds[i];
    return NULL;
}

const char *format_words(int i) { return formats[i] ? formats[i]->name : NULL; }

const char *method_words(int i) { return methods[i] ? methods[i]->name : NULL; }

const char *mode_words(int i) { return mode_names[i]; }

const char *criterion_words(int i) { return criteria[i].name; }

/* What other programs call it. */
static const char *command_meant(const char *word)
{
    static const char *const meant[][2] = {
        {"fit", "train"},          {"learn", "train"},       {"infer", "sample"},
        {"posterior", "sample"},   {"predict", "sample"},    {"draw", "sample"},
        {"mode", "map"},           {"optimize", "map"},      {"sbc", "calibrate"},
        {"diagnose", "calibrate"}, {"validate", "check"},    {"prior", "check"},
        {"loglik", "logp"},        {"marginal", "evidence"}, {"version", "--version"}};
    for (size_t i = 0; i < sizeof meant / sizeof *meant; i++)
        if (strcmp(meant[i][0], word) == 0) return meant[i][1];
    return NULL;
}

/* ---- messages ----------------------------------------------------------------------- */

const struct exit_code exit_codes[] = {
    {EXIT_YES, "done; the answer is yes"},
    {EXIT_NO, "the answer is no: a certificate failed, two structures differ"},
    {EXIT_BAD, "bad usage or bad input"},
    {EXIT_FAILED, "failed while running: out of memory, too large, cannot write"},
    {0, NULL},
};

static int exit_code(enum phase phase, int code)
{
    if (code == NAMI_ENOMEM || code == NAMI_EBUG) return EXIT_FAILED;
    if (code == NAMI_EFILE || code == NAMI_ELIMIT) return phase == READING ? EXIT_BAD : EXIT_FAILED;
    return EXIT_BAD;
}

const char *file_name(const char *path) { return strcmp(path, "-") == 0 ? "<stdin>" : path; }

int fail(enum phase phase, const char *file, const nami_err *err)
{
    fputs("nami: ", stderr);
    if (file) fprintf(stderr, "%s:", file);
    if (file && err->line > 0) fprintf(stderr, "%d:", err->line);
    if (file && err->line > 0 && err->col > 0) fprintf(stderr, "%d:", err->col);
    fprintf(stderr, "%serror: %s\n", file ? " " : "", err->msg);
    return exit_code(phase, err->code);
}

static void remark(const char *kind, const char *fmt, va_list ap)
{
    fprintf(stderr, "nami: %s: ", kind);
    vfprintf(stderr, fmt, ap);
    fputs("\n", stderr);
}

void note(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    remark("note", fmt, ap);
    va_end(ap);
}

void warn(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    remark("warning", fmt, ap);
    va_end(ap);
}

int finish_text(char *text, int yes)
{
    struct str out = {0};
    str_put(&out, text);
    nami_free(text);
    return finish(&out, yes);
}

int finish(struct str *out, int yes)
{
    nami_err err;
    int rc = yes;
    if (out->oom) {
        err_nomem(&err);
        rc = fail(RUNNING, NULL, &err);
    } else if ((out->n && fwrite(out->s, 1, out->n, stdout) != out->n) || fflush(stdout)) {
        err_set(&err, NAMI_EFILE, "cannot write to standard output");
        rc = fail(WRITING, NULL, &err);
    }
    str_free(out);
    return rc;
}

void catch_signal(int number, void (*handler)(int), struct sigaction *old)
{
    struct sigaction was, now = {.sa_flags = SA_RESTART};
    now.sa_handler = handler;
    sigemptyset(&now.sa_mask);
    sigaction(number, NULL, &was);
    if (was.sa_handler != SIG_IGN) sigaction(number, &now, NULL);
    if (old) *old = was;
}

/* ---- running ------------------------------------------------------------------------ */

static int show_help(const struct cmd *c)
{
    struct str out = {0};
    help_text(c, &out);
    return finish(&out, EXIT_YES);
}

static int show_version(void)
{
    struct str out = {0};
    str_printf(&out, "nami %s\n", nami_version());
    return finish(&out, EXIT_YES);
}

static int run(const struct cmd *c, int argc, char **argv)
{
    nami_err err;
    int narg, rc;
    struct opt_common *o = mem_zero(1, c->size);
    if (!o) {
        err_nomem(&err);
        return fail(RUNNING, NULL, &err);
    }
    if (opt_parse(c->opt, o, argc, argv, &narg, &err)) {
        rc = fail(RUNNING, NULL, &err);
    } else if (o->help) {
        rc = show_help(c);
    } else if (o->version) {
        rc = show_version();
    } else if (narg < c->min_arg || narg > c->max_arg) {
        err_set(&err, NAMI_EUSAGE, "%s; usage: nami %s %s",
                narg < c->min_arg ? "an argument is missing" : "too many arguments", c->name,
                c->usage);
        rc = fail(RUNNING, NULL, &err);
    } else {
        rc = c->run(o, narg, argv);
    }
    free(o);
    return rc;
}

int main(int argc, char **argv)
{
    nami_err err;
    const char *name = argc > 1 ? argv[1] : "";
    if (argc < 2)
        err_set(&err, NAMI_EUSAGE, "which command? 'nami --help' lists them");
    else if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        return show_help(NULL);
    else if (strcmp(name, "--version") == 0)
        return show_version();
    else if (name[0] == '-')
        err_set(&err, NAMI_EUSAGE, "unknown option %s before the command; see 'nami --help'", name);
    else if (cmd_by_name(name))
        return run(cmd_by_name(name), argc - 2, argv + 2);
    else if (command_meant(name))
        err_set(&err, NAMI_EUSAGE, "no command is called '%s'; did you mean 'nami %s'?", name,
                command_meant(name));
    else
        opt_unknown("command", name, cmd_words, &err);
    return fail(RUNNING, NULL, &err);
}
