/* command.c: selects the command, parses its options, runs it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "help.h"

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

const char *format_words(int i) { return nami_word("formats", i); }

/* Names of the command in other programs. */
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

void catch_signal(int number, void (*handler)(int), struct sigaction *old)
{
    struct sigaction was, now = {.sa_flags = SA_RESTART};
    now.sa_handler = handler;
    sigemptyset(&now.sa_mask);
    sigaction(number, NULL, &was);
    if (was.sa_handler != SIG_IGN) sigaction(number, &now, NULL);
    if (old) *old = was;
}

static int show_help(const struct cmd *c)
{
    help_text(c, stdout);
    return finish_output(EXIT_YES);
}

static int show_version(void)
{
    printf("nami %s\n", nami_version());
    return finish_output(EXIT_YES);
}

/* One of several processes has its share of the processors. */
static void share_threads(const struct cmd *c, void *options)
{
    const nami_option *row;
    for (const struct opt_group *g = c->groups; g->name && team.threads; g++)
        for (int i = 0; (row = nami_option_at(g->name, i)); i++) {
            int *threads = (int *)((char *)options + g->at + row->offset);
            if (strcmp(row->name, "threads") == 0 && !*threads) *threads = team.threads;
        }
}

static int run(const struct cmd *c, int argc, char **argv)
{
    nami_err err;
    int narg, rc;
    struct opt_common *o = calloc(1, c->size);
    if (!o) return no_memory();
    if (opt_parse(c, o, argc, argv, &narg, &err))
        rc = fail(RUNNING, NULL, &err);
    else if (o->help)
        rc = show_help(c);
    else if (o->version)
        rc = show_version();
    else if (narg < c->min_arg || narg > c->max_arg)
        rc = bad_usage("%s; usage: nami %s %s",
                       narg < c->min_arg ? "an argument is missing" : "too many arguments", c->name,
                       c->usage);
    else
        rc = (share_threads(c, o), c->run(o, narg, argv));
    free(o);
    return rc;
}

int run_command(int argc, char **argv)
{
    nami_err err;
    const char *name = argc > 1 ? argv[1] : "";
    signal(SIGXFSZ, SIG_IGN); /* a limit on the size of files is an error of write() */
    if (argc < 2) return bad_usage("which command? 'nami --help' lists them");
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) return show_help(NULL);
    if (strcmp(name, "--version") == 0) return show_version();
    if (name[0] == '-')
        return bad_usage("unknown option %s before the command; see 'nami --help'", name);
    if (cmd_by_name(name)) return run(cmd_by_name(name), argc - 2, argv + 2);
    if (command_meant(name))
        return bad_usage("no command is called '%s'; did you mean 'nami %s'?", name,
                         command_meant(name));
    opt_unknown("command", name, cmd_words, &err);
    return fail(RUNNING, NULL, &err);
}
