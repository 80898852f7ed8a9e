/* cmd_compare.c: `nami compare`: do two structures encode the same conditional independencies? */
#include <stdio.h>

#include "structure.h"

struct options {
    struct opt_common common;
    const char *format;
    int json, quiet;
};

static const struct opt options[] = {
    {"format", 0, OPT_WORD, offsetof(struct options, format), "NAME", NULL, format_words,
     "format of both files, if not determined by extension or content: 'nami list formats'", 0},
    {"json", 0, OPT_FLAG, offsetof(struct options, json), NULL, NULL, NULL,
     "print JSON: {\"equivalent\": ..., \"why\": ...}", 0},
    {"quiet", 'q', OPT_FLAG, offsetof(struct options, quiet), NULL, NULL, NULL,
     "print nothing: the exit code is the answer", 0},
    {NULL, 0, 0, 0, NULL, NULL, NULL, NULL, 0},
};

static void put_json_text(const char *s)
{
    putchar('"');
    for (; *s; s++)
        if ((unsigned char)*s < 32)
            printf("\\u%04x", (unsigned char)*s);
        else
            printf(*s == '"' || *s == '\\' ? "\\%c" : "%c", *s);
    putchar('"');
}

static void put_answer(const struct options *o, int yes, const char *why)
{
    if (o->json) {
        printf("{\"equivalent\":%s,\"why\":", yes ? "true" : "false");
        if (yes)
            fputs("null", stdout);
        else
            put_json_text(why);
        puts("}");
    } else if (!o->quiet) {
        printf(yes ? "yes: the same independencies%s\n" : "no: %s\n", yes ? "" : why);
    }
}

static int run(const void *options_, int narg, char **arg)
{
    const struct options *o = options_;
    nami_bn *bn[2] = {NULL, NULL};
    nami_err err;
    char why[512] = "";
    int rc = 0, yes = 0;
    for (int i = 0; i < narg && !rc; i++) rc = open_structure(&bn[i], arg[i], o->format);
    if (!rc && (yes = nami_bn_equivalent(bn[0], bn[1], why, sizeof why, &err)) < 0)
        rc = fail(RUNNING, NULL, &err);
    if (!rc) {
        put_answer(o, yes, why);
        rc = finish_output(yes ? EXIT_YES : EXIT_NO);
    }
    nami_bn_free(bn[0]);
    nami_bn_free(bn[1]);
    return rc;
}

static const struct example examples[] = {
    {"nami compare a.bif b.dot", "do both encode the same conditional independencies?"},
    {NULL, NULL},
};

const struct cmd cmd_compare = {
    .name = "compare",
    .summary = "test whether two structures encode the same independencies",
    .usage = "[OPTION]... FILE FILE",
    .about = "Two structures on the same names are Markov equivalent if they have the same "
             "skeleton (edges without directions) and the same v-structures (two parents of one "
             "child that are not adjacent). If they are not, one difference is named and the exit "
             "code is 1.",
    .opt = options,
    .example = examples,
    .min_arg = 2,
    .max_arg = 2,
    .size = sizeof(struct options),
    .run = run,
};
