#include <string.h>

#include "cmd.h"
#include "graph/invert.h"
#include "io/format.h"
#include "report/table.h"

/* ---- what can be listed --------------------------------------------------- */

enum { CELLS = 4 };

struct topic {
    const char *name, *what;
    const char *cell[CELLS]; /* names of the columns */
    int (*row)(int i, const char **cell); /* fills the i-th row; 0 behind the last */
};

static int format_row(int i, const char **cell)
{
    const struct format *f = formats[i];
    if (!f) return 0;
    cell[0] = f->name;
    cell[1] = f->write ? "read, write" : "read";
    cell[2] = f->ends;
    cell[3] = f->what;
    return 1;
}

static int method_row(int i, const char **cell)
{
    if (!methods[i]) return 0;
    cell[0] = methods[i]->name;
    cell[1] = methods[i]->what;
    return 1;
}

static int mode_row(int i, const char **cell)
{
    if (!mode_names[i]) return 0;
    cell[0] = mode_names[i];
    cell[1] = mode_whats[i];
    return 1;
}

static int criterion_row(int i, const char **cell)
{
    if (!criteria[i].name) return 0;
    cell[0] = criteria[i].name;
    cell[1] = criteria[i].what;
    return 1;
}

static const struct topic topics[] = {
    {"formats", "file formats of structures", {"name", "access", "endings", "what"}, format_row},
    {"methods", "ways to invert", {"name", "what"}, method_row},
    {"modes", "orders of elimination", {"name", "what"}, mode_row},
    {"criteria", "what elimination minimises", {"name", "what"}, criterion_row},
    {NULL, NULL, {NULL}, NULL},
};

static const char *topic_words(int i)
{
    return topics[i].name;
}

static int topic_row(int i, const char **cell)
{
    if (!topics[i].name) return 0;
    cell[0] = topics[i].name;
    cell[1] = topics[i].what;
    return 1;
}

static const struct topic all_topics = {"lists", "what can be listed", {"name", "what"}, topic_row};

/* ---- the command ---------------------------------------------------------- */

struct options {
    struct opt_common common;
    int json;
};

static const struct opt options[] = {
    {"json", 0, OPT_FLAG, offsetof(struct options, json), NULL, NULL, NULL,
     "print a list of objects", 0},
    {NULL, 0, 0, 0, NULL, NULL, NULL, NULL, 0},
};

static void put_text(const struct topic *t, struct str *out)
{
    static const char align[] = "llll";
    const char *cell[CELLS];
    int n = 0;
    while (n < CELLS && t->cell[n]) n++;
    struct table table = {.align = align + CELLS - n};
    for (int i = 0; t->row(i, cell); i++)
        for (int k = 0; k < n; k++) table_cell(&table, cell[k]);
    table_put(&table, 0, out);
}

static void put_json(const struct topic *t, struct str *out)
{
    const char *cell[CELLS];
    str_put(out, "[");
    for (int i = 0; t->row(i, cell); i++) {
        str_put(out, i ? ",\n" : "");
        for (int k = 0; k < CELLS && t->cell[k]; k++) {
            str_printf(out, "%s\"%s\":", k ? "," : "{", t->cell[k]);
            str_quote(out, cell[k]);
        }
        str_put(out, "}");
    }
    str_put(out, "]\n");
}

static int run(const void *options_, int narg, char **arg)
{
    const struct options *o = options_;
    const struct topic *t = topics;
    struct str out = {0};
    nami_err err;
    while (narg && t->name && strcmp(t->name, arg[0]) != 0) t++;
    if (!t->name) {
        opt_unknown("list", arg[0], topic_words, &err);
        return fail(RUNNING, NULL, &err);
    }
    if (!narg) t = &all_topics;
    (o->json ? put_json : put_text)(t, &out);
    return finish(&out, EXIT_YES);
}

static const struct example examples[] = {
    {"nami list formats", "the file formats, with their endings"},
    {NULL, NULL},
};

const struct cmd cmd_list = {
    .name = "list",
    .summary = "show the formats, methods, modes and criteria there are",
    .usage = "[OPTION]... [formats|methods|modes|criteria]",
    .about = "Prints one table of what NaMI knows, a row for each; without an argument, which "
             "tables there are.",
    .opt = options,
    .example = examples,
    .max_arg = 1,
    .arg_words = topic_words,
    .size = sizeof(struct options),
    .run = run,
};
