/* cmd_compare.c: `nami compare`: do two structures encode the same conditional independencies?
   Which of several trained networks has the model that fits the data best? */
#include <stdio.h>

#include "with_network.h"

enum { MOST = 16 }; /* networks */

struct options {
    struct opt_common common;
    const char *format;
    nami_query query;
    struct opt_many data;
    int json, quiet;
};

static const struct opt options[] = {
    NETWORK_DATA(struct options, data),
    {"format", 0, OPT_WORD, offsetof(struct options, format), "NAME", NULL, format_words,
     "format of both files, if not determined by extension or content: 'nami list formats'", 0},
    {"json", 0, OPT_FLAG, offsetof(struct options, json), NULL, NULL, NULL,
     "print JSON; of structures: {\"equivalent\": ..., \"why\": ...}", 0},
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

/* ---- networks ---------------------------------------------------------------------------------
 */

static int ask(struct with_network *w, const struct options *o, const char *file,
               nami_posterior **out)
{
    nami_query query = o->query;
    nami_err err;
    int rc = with_network_open(w, file, query.threads, 0, o->quiet);
    if (!rc) rc = with_network_data(w, &o->data);
    if (rc) return rc;
    query.loo = 1;
    query.watch = &w->watch.library;
    if (nami_posterior_new(w->net, w->data, &query, out, &err) || nami_posterior_run(*out, &err))
        rc = with_network_fail(w, &err);
    watch_end(&w->watch);
    return rc;
}

/* EXIT_NO if a posterior is not trusted. */
static int put_comparison(const struct options *o, int n, const nami_posterior *const *post,
                          char **arg)
{
    nami_comparison *c = NULL;
    nami_compared m;
    nami_err err;
    char *text = NULL;
    int code = EXIT_YES;
    int rc = nami_comparison_new(n, post, (const char *const *)arg, &c, &err);
    if (!rc) rc = nami_comparison_describe(c, o->json ? "json" : "text", &text, &err);
    for (int i = 0; i < n && !rc; i++)
        if (!nami_comparison_model(c, i, &m, NULL) && m.verdict == NAMI_NOT_TRUSTED) code = EXIT_NO;
    if (!rc && (!o->quiet || o->json)) fputs(text, stdout);
    nami_free(text);
    nami_comparison_free(c);
    return rc ? fail(err.code == NAMI_EINPUT ? READING : RUNNING, NULL, &err) : finish_output(code);
}

static int compare_networks(const struct options *o, int n, char **arg)
{
    struct with_network w[MOST] = {0};
    nami_posterior *post[MOST] = {0};
    int rc = 0;
    for (int i = 0; i < n && !rc; i++) rc = ask(&w[i], o, arg[i], &post[i]);
    if (!rc) rc = put_comparison(o, n, (const nami_posterior *const *)post, arg);
    for (int i = 0; i < n; i++) {
        nami_posterior_free(post[i]);
        with_network_close(&w[i]);
    }
    return rc;
}

/* ---- structures -------------------------------------------------------------------------------
 */

static int run(const void *options_, int narg, char **arg)
{
    const struct options *o = options_;
    int networks = 0;
    for (int i = 0; i < narg; i++) networks += nami_network_is(arg[i]);
    if (networks == narg) return compare_networks(o, narg, arg);
    if (narg > 2)
        return bad_usage("structures are compared two at a time; %d files are given", narg);
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
    {"nami compare line.safetensors curve.safetensors --data y.json", "which model fits the data?"},
    {NULL, NULL},
};

const struct cmd cmd_compare = {
    .name = "compare",
    .summary = "compare models of the same data, or two structures",
    .usage = "[OPTION]... FILE FILE...",
    .about =
        "Two structures on the same names are Markov equivalent if they have the same "
        "skeleton (edges without directions) and the same v-structures (two parents of one "
        "child that are not adjacent). If they are not, one difference is named and the exit "
        "code is 1.\n\n"
        "Trained networks are compared by how well their models explain and predict the data: the "
        "evidence log p(x) and, if all models are equally probable a priori, their posterior "
        "probabilities; the expected log predictive density by leave-one-out cross-validation "
        "(PSIS-LOO), with its difference to the best; and stacking weights, those of the mixture "
        "of all models that predicts best. The exit code is 1 if a posterior is not trusted.",
    .opt = options,
    .groups = {{"query", offsetof(struct options, query),
                "predict,only,all,weighted,prior,loo,check"}},
    .example = examples,
    .min_arg = 2,
    .max_arg = MOST,
    .size = sizeof(struct options),
    .run = run,
};
