/* cmd_compare.c: `nami compare`: do two structures encode the same conditional independencies? */
#include "with_model.h"

struct options {
    struct opt_common common;
    const char *format;
    int json, quiet;
};

static const struct opt options[] = {
    {"format", 0, OPT_WORD, offsetof(struct options, format), "NAME", NULL, format_words,
     "the format of both files, if their endings and contents do not tell", 0},
    {"json", 0, OPT_FLAG, offsetof(struct options, json), NULL, NULL, NULL,
     "print {\"equivalent\": ..., \"why\": ...}", 0},
    {"quiet", 'q', OPT_FLAG, offsetof(struct options, quiet), NULL, NULL, NULL,
     "print nothing: the exit code is the answer", 0},
    {NULL, 0, 0, 0, NULL, NULL, NULL, NULL, 0},
};

static void put_answer(const struct options *o, int yes, const char *why, struct str *out)
{
    if (o->json) {
        str_printf(out, "{\"equivalent\":%s,\"why\":", yes ? "true" : "false");
        if (yes)
            str_put(out, "null");
        else
            str_quote(out, why);
        str_put(out, "}\n");
    } else if (!o->quiet) {
        str_printf(out, yes ? "yes: the same independencies%s\n" : "no: %s\n", yes ? "" : why);
    }
}

static int run(const void *options_, int narg, char **arg)
{
    const struct options *o = options_;
    nami_bn *bn[2] = {NULL, NULL};
    struct str out = {0};
    nami_err err;
    char why[512] = "";
    int rc = 0, yes = 0;
    for (int i = 0; i < narg && !rc; i++) rc = open_structure(&bn[i], arg[i], o->format);
    if (!rc && (yes = nami_bn_equivalent(bn[0], bn[1], why, sizeof why, &err)) < 0)
        rc = fail(RUNNING, NULL, &err);
    if (!rc) {
        put_answer(o, yes, why, &out);
        rc = finish(&out, yes ? EXIT_YES : EXIT_NO);
    }
    nami_bn_free(bn[0]);
    nami_bn_free(bn[1]);
    return rc;
}

static const struct example examples[] = {
    {"nami compare a.bif b.dot", "do both say the same about the same variables?"},
    {NULL, NULL},
};

const struct cmd cmd_compare = {
    .name = "compare",
    .summary = "do two structures encode the same independencies?",
    .usage = "[OPTION]... FILE FILE",
    .about = "Two structures on the same names are equivalent if they have the same edges, "
             "whatever their direction, and the same immoralities (two parents of one child that "
             "are not joined). If they are not, one difference is named and the exit code is 1.",
    .opt = options,
    .example = examples,
    .min_arg = 2,
    .max_arg = 2,
    .size = sizeof(struct options),
    .run = run,
};
