/* cmd_list.c: `nami list`: tables of the distributions, functions, formats, methods and families
   available. */
#include <stdio.h>
#include <string.h>

#include "cmd.h"

static const char *list_words(int i) { return nami_word("lists", i); }

struct options {
    struct opt_common common;
    int json;
};

static const struct opt options[] = {
    {"json", 0, OPT_FLAG, offsetof(struct options, json), NULL, NULL, NULL,
     "print JSON: a list of objects", 0},
    {NULL, 0, 0, 0, NULL, NULL, NULL, NULL, 0},
};

static int run(const void *options_, int narg, char **arg)
{
    const struct options *o = options_;
    nami_err err;
    char *text;
    const char *list = "lists";
    for (int i = 0; narg && (list = list_words(i)) && strcmp(list, arg[0]) != 0;) i++;
    if (!list) {
        opt_unknown("list", arg[0], list_words, &err);
        return fail(RUNNING, NULL, &err);
    }
    if (nami_list(list, o->json ? "json" : "text", &text, &err)) return fail(RUNNING, NULL, &err);
    return finish_text(text, EXIT_YES);
}

static const struct example examples[] = {
    {"nami list formats", "file formats of structures, with their endings"},
    {"nami list dists", "distributions of the model language, with their arguments"},
    {NULL, NULL},
};

const struct cmd cmd_list = {
    .name = "list",
    .summary = "list distributions, functions, formats, methods, ...",
    .usage = "[OPTION]... [LIST]",
    .about = "Prints a table of the distributions, functions, file formats, inversion methods, ... "
             "that are available; without an argument, the names of the tables.",
    .opt = options,
    .example = examples,
    .max_arg = 1,
    .arg_words = list_words,
    .size = sizeof(struct options),
    .run = run,
};
