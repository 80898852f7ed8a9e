/* cmd_help.c: `nami help`: lists the commands, or shows the help of one. */
#include "help.h"

struct options {
    struct opt_common common;
    int man;
};

static const struct opt options[] = {
    {"man", 0, OPT_FLAG, offsetof(struct options, man), NULL, NULL, NULL, "as a manual page", 1},
    {NULL, 0, 0, 0, NULL, NULL, NULL, NULL, 0},
};

static int run(const void *options_, int narg, char **arg)
{
    const struct options *o = options_;
    const struct cmd *c = narg ? cmd_by_name(arg[0]) : NULL;
    nami_err err;
    if (narg && !c) {
        opt_unknown("command", arg[0], cmd_words, &err);
        return fail(RUNNING, NULL, &err);
    }
    (o->man ? help_man : help_text)(c, stdout);
    return finish_output(EXIT_YES);
}

const struct cmd cmd_help = {
    .name = "help",
    .summary = "show what a command does",
    .usage = "[COMMAND]",
    .about = "Shows the commands, or what one of them does and all its options with their "
             "defaults.",
    .opt = options,
    .max_arg = 1,
    .arg_words = cmd_words,
    .size = sizeof(struct options),
    .run = run,
};
