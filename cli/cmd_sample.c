/* cmd_sample.c: `nami sample`: posterior draws from a trained network, their summary and
   diagnostics. */
#include "jobs.h"
#include "with_network.h"

struct options {
    struct opt_common common;
    nami_query query;
    struct opt_many data, out;
    const char *model;
    int json, quiet;
};

#define AT(field) offsetof(struct options, field)
static const struct opt options[] = {
    NETWORK_DATA(struct options, data),
    CHANGED_MODEL(struct options, model),
    {"output", 'o', OPT_MANY, AT(out), "FILE", NULL, NULL,
     "write draws: .nc (ArviZ), .npz (NumPy), .csv (R's posterior); the summary: .json; or a "
     "picture, if an image is observed: .png, each of the first 40 above the mean of its posterior "
     "prediction; may be repeated",
     0},
    {"json", 0, OPT_FLAG, AT(json), NULL, NULL, NULL, "print the summary as JSON", 0},
    {"quiet", 'q', OPT_FLAG, AT(quiet), NULL, NULL, NULL,
     "no table and no notes; warnings and answers that are not trusted are still reported", 0},
    {NULL, 0, 0, 0, NULL, NULL, NULL, NULL, 0},
};

static int run(const void *options_, int narg, char **arg)
{
    const struct options *o = options_;
    struct sample_job job = {
        .query = o->query, .out = o->out, .data = o->data, .json = o->json, .quiet = o->quiet};
    struct with_network w;
    (void)narg;
    int rc = with_network_open(&w, arg[0], o->query.threads, 0, o->quiet);
    if (!rc) rc = with_network_data(&w, &o->data);
    if (!rc) rc = with_network_model(&w, o->model, o->quiet);
    if (!rc) rc = sample_network(w.net, w.data, &job);
    with_network_close(&w);
    return rc;
}

static const struct example examples[] = {
    {"nami sample tree.safetensors --data x.json", "the posterior, as a table"},
    {"nami sample tree.safetensors --data x.json -n 10000 -o draws.nc", "for ArviZ"},
    {"nami sample tree.safetensors --data many.json -n 100 -o draws.npz",
     "thousands of data sets at once"},
    {"nami sample vae.safetensors --data images --sets 40 -n 100 -o x.png",
     "images and their posterior predictions"},
    {"nami sample chain.safetensors --data x.json --method smc",
     "where importance weights are too unequal"},
    {"nami sample pumps.safetensors --data x.json --model other-prior.nami",
     "the posterior under another prior, without training"},
    {NULL, NULL},
};

const struct cmd cmd_sample = {
    .name = "sample",
    .summary = "posterior draws from a trained network",
    .usage = "[OPTION]... NET",
    .about =
        "Draws from q(z|x) for one data set or many. Importance weights p(x,z)/q(z|x) correct the "
        "network's approximation error, and diagnostics say how far to trust the result: k-hat is "
        "the shape of the weights' tail (Pareto-smoothed importance sampling), the effective "
        "sample size is what is left after weighting, and the mean weight estimates the evidence "
        "p(x). If the weights are too uneven, a better proposal is fitted to the weighted draws "
        "(adaptive). Sequential Monte Carlo (smc) resamples partial particles after each factor: for "
        "long chains, and for networks that are not good enough for k-hat.\n\n"
        "Each data set gets a verdict (trusted, with care, not trusted); the exit code is 1 if one "
        "is not trusted. A warning is given for data that are unlike simulations of the model: the "
        "network "
        "was not trained for them.\n\n"
        "The same seed gives the same draws for any number of threads. Draws are not kept in "
        "memory: there may be as many as fit on the disk.",
    .opt = options,
    .groups = {{"query", offsetof(struct options, query), NULL}},
    .example = examples,
    .min_arg = 1,
    .max_arg = 1,
    .size = sizeof(struct options),
    .run = run,
};
