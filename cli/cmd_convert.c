/* cmd_convert.c: `nami convert`: reads a structure in one format and writes it in another. */
#include <string.h>

#include "structure.h"

struct options {
    struct opt_common common;
    const char *from, *to, *observe;
};

static const struct opt options[] = {
    {"from", 0, OPT_WORD, offsetof(struct options, from), "NAME", NULL, format_words,
     "format of IN, if not determined by extension or content: 'nami list formats'", 0},
    {"to", 0, OPT_WORD, offsetof(struct options, to), "NAME", NULL, format_words,
     "format of OUT, if not determined by the extension: 'nami list formats'", 0},
    {"observe", 0, OPT_TEXT, offsetof(struct options, observe), "LIST", NULL, NULL,
     "mark these nodes as observed: names, @FILE, sinks or none", 0},
    {NULL, 0, 0, 0, NULL, NULL, NULL, NULL, 0},
};

static int to_stdout(const nami_bn *bn, const char *to)
{
    nami_err err;
    char *text;
    if (!to) return bad_usage("standard output has no ending: name a format with --to");
    if (nami_bn_print(bn, to, &text, &err)) return fail(RUNNING, NULL, &err);
    return finish_text(text, EXIT_YES);
}

static int run(const void *options_, int narg, char **arg)
{
    const struct options *o = options_;
    const char *in = arg[0], *to = narg > 1 ? arg[1] : "-";
    nami_bn *bn = NULL;
    nami_err err;
    int rc = open_structure(&bn, in, o->from);
    if (rc) return rc;
    if (o->observe && nami_bn_observe(bn, o->observe, &err))
        rc = fail(READING, file_name(in), &err);
    else if (strcmp(to, "-") == 0)
        rc = to_stdout(bn, o->to);
    else
        rc = nami_bn_write(bn, to, o->to, &err) ? fail(WRITING, to, &err) : EXIT_YES;
    nami_bn_free(bn);
    return rc;
}

static const struct example examples[] = {
    {"nami convert alarm.bif alarm.json", "the structure alone, as JSON"},
    {"nami convert model.dot --to edges", "an edge list on standard output"},
    {NULL, NULL},
};

const struct cmd cmd_convert = {
    .name = "convert",
    .summary = "convert a structure to another file format",
    .usage = "[OPTION]... IN [OUT]",
    .about = "The formats are chosen by the file names' endings (and, to read, by the content); "
             "'nami list formats' shows them. '-' is standard input or output. What the new format "
             "cannot express (tables, which nodes are observed) is left out.",
    .opt = options,
    .example = examples,
    .min_arg = 1,
    .max_arg = 2,
    .size = sizeof(struct options),
    .run = run,
};
