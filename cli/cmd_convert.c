/* cmd_convert.c: `nami convert`: reads a structure in one format and writes it in another. */
#include <string.h>

#include "base/err.h"
#include "io/format.h"
#include "with_model.h"

struct options {
    struct opt_common common;
    const char *from, *to, *observe;
};

static const struct opt options[] = {
    {"from", 0, OPT_WORD, offsetof(struct options, from), "NAME", NULL, format_words,
     "the format of IN, if its ending and content do not tell", 0},
    {"to", 0, OPT_WORD, offsetof(struct options, to), "NAME", NULL, format_words,
     "the format of OUT, if its ending does not tell", 0},
    {"observe", 0, OPT_TEXT, offsetof(struct options, observe), "LIST", NULL, NULL,
     "mark these as observed: names, @FILE, sinks or none", 0},
    {NULL, 0, 0, 0, NULL, NULL, NULL, NULL, 0},
};

static int to_stdout(const nami_bn *bn, const char *to)
{
    const struct format *f = to ? format_by_name(to) : NULL;
    struct str out = {0};
    nami_err err;
    if (!f)
        err_set(&err, NAMI_EUSAGE, "standard output has no ending: name a format with --to");
    else if (!f->write)
        err_set(&err, NAMI_EUSAGE, "NaMI cannot write %s", f->name);
    else if (!f->write(bn, &out, &err))
        return finish(&out, EXIT_YES);
    str_free(&out);
    return fail(RUNNING, NULL, &err);
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
    .summary = "read a structure in one format, write it in another",
    .usage = "[OPTION]... IN [OUT]",
    .about = "Formats are chosen by the file's ending (and, to read, by its content); 'nami list "
             "formats' shows them. '-' is standard input or output. What the new format cannot "
             "say (tables, what is observed) is left out.",
    .opt = options,
    .example = examples,
    .min_arg = 1,
    .max_arg = 2,
    .size = sizeof(struct options),
    .run = run,
};
