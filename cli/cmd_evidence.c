/* cmd_evidence.c: `nami evidence`: estimates the log marginal likelihood log p(x) with a trained
   network. */
#include <stdio.h>

#include "with_network.h"

struct options {
    struct opt_common common;
    nami_evidence_options how;
    struct opt_many data;
    const char *model;
    int json, quiet;
};

#define AT(field) offsetof(struct options, field)
static const struct opt options[] = {
    NETWORK_DATA(struct options, data),
    CHANGED_MODEL(struct options, model),
    {"json", 0, OPT_FLAG, AT(json), NULL, NULL, NULL, "print JSON", 0},
    {"quiet", 'q', OPT_FLAG, AT(quiet), NULL, NULL, NULL,
     "no notes; two numbers per data set: log p(x) and its standard error", 0},
    {NULL, 0, 0, 0, NULL, NULL, NULL, NULL, 0},
};

/* EXIT_NO if one of the estimates is not trusted. */
static int judge(const nami_evidence *e)
{
    nami_verdict v;
    nami_err err;
    int no = 0;
    for (size_t s = 0; s < nami_evidence_sets(e); s++) {
        if (nami_evidence_verdict(e, s, &v, &err)) return fail(RUNNING, NULL, &err);
        no |= v.verdict == NAMI_NOT_TRUSTED;
    }
    return no ? EXIT_NO : EXIT_YES;
}

/* Plain numbers, for scripts without a JSON parser. */
static int print_plain(const nami_evidence *e)
{
    nami_verdict v;
    for (size_t s = 0; s < nami_evidence_sets(e); s++)
        if (!nami_evidence_verdict(e, s, &v, NULL))
            printf("%.10g %.3g\n", v.log_evidence, v.log_evidence_se);
    return finish_output(judge(e));
}

static int print(const nami_evidence *e, const struct options *o)
{
    char *text;
    nami_err err;
    if (o->quiet && !o->json) return print_plain(e);
    if (nami_evidence_describe(e, o->json ? "json" : "text", &text, &err))
        return fail(RUNNING, NULL, &err);
    return finish_text(text, judge(e));
}

static int run(const void *options_, int narg, char **arg)
{
    const struct options *o = options_;
    nami_evidence_options how = o->how;
    nami_evidence *e = NULL;
    struct with_network w;
    nami_err err;
    (void)narg;
    int rc = with_network_open(&w, arg[0], how.threads, 0, o->quiet);
    if (!rc) rc = with_network_data(&w, &o->data);
    if (!rc) rc = with_network_model(&w, o->model, o->quiet);
    how.watch = &w.watch.library;
    if (!rc && nami_evidence_new(w.net, w.data, &how, &e, &err)) rc = with_network_fail(&w, &err);
    watch_end(&w.watch);
    if (!rc) rc = print(e, o);
    nami_evidence_free(e);
    with_network_close(&w);
    return rc;
}

static const struct example examples[] = {
    {"nami evidence schools.safetensors --data schools.json", "log p(x), by importance sampling"},
    {"nami evidence chain.safetensors --data x.json --method smc -n 20000",
     "if importance weights of whole draws are too unequal"},
    {"nami evidence vae.safetensors --data images.json --method ais --start prior --chains 5 "
     "--temps 5000",
     "for a learned model, independent of its network"},
    {"nami evidence tree.safetensors --data many.json --json",
     "thousands of data sets, for a program"},
    {NULL, NULL},
};

const struct cmd cmd_evidence = {
    .name = "evidence",
    .summary = "estimate the evidence log p(x), with its standard error, by a trained network",
    .usage = "[OPTION]... NET",
    .about =
        "Estimates the evidence (marginal likelihood) of one data set or many: log p(x), by which "
        "models of the same data are compared. Importance sampling takes the mean of the weights "
        "p(x,z)/q(z|x) of the network's draws; k-hat says whether it can be trusted. Sequential "
        "Monte Carlo resamples partial particles after each factor, and takes its standard error "
        "from islands of independent particles. Annealed importance sampling moves chains of "
        "Hamiltonian Monte Carlo from a simple distribution to p(x,z) in many small steps, for "
        "continuous latents; it takes longest, and depends least on the network. These estimates "
        "of "
        "p(x) are unbiased for any network; a good one makes the error small. The method adaptive "
        "fits a better proposal to the weighted draws first; its estimate is nearly unbiased, but "
        "misses modes that no draw is near. 'nami list evidence' lists the estimators.\n\n"
        "The same seed gives the same result for any number of threads.",
    .opt = options,
    .groups = {{"evidence", AT(how), NULL}},
    .example = examples,
    .min_arg = 1,
    .max_arg = 1,
    .size = sizeof(struct options),
    .run = run,
};
