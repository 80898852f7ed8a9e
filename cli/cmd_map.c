/* cmd_map.c: `nami map`: maximum a posteriori (MAP) estimates of the latents, with Laplace
   standard deviations. */
#include "with_network.h"

struct options {
    struct opt_common common;
    nami_modes_options how;
    struct opt_many data;
    int json, quiet;
};

#define AT(field) offsetof(struct options, field)
static const struct opt options[] = {
    NETWORK_DATA(struct options, data),
    {"json", 0, OPT_FLAG, AT(json), NULL, NULL, NULL, "print JSON", 0},
    {"quiet", 'q', OPT_FLAG, AT(quiet), NULL, NULL, NULL, "no table and no notes", 0},
    {NULL, 0, 0, 0, NULL, NULL, NULL, NULL, 0},
};

/* Not every density has a maximum: reports the data sets without one, and the reason. */
static int judge(const nami_modes *modes, int unconstrained)
{
    size_t bad = 0, last = 0, n = nami_modes_sets(modes);
    const char *reason = NULL;
    nami_mode mode;
    for (size_t s = 0; s < n; s++)
        if (!nami_modes_get(modes, s, &mode, NULL) && mode.reason)
            bad++, last = s, reason = mode.reason;
    if (!bad) return EXIT_YES;
    if (n > 1) note("%zu of %zu data sets have no maximum; of set %zu:", bad, n, last + 1);
    note("%s%s", reason,
         unconstrained ? "" : "; try --unconstrained, where some densities have one inside");
    return EXIT_NO;
}

static int print(const nami_modes *modes, const struct options *o)
{
    int yes = judge(modes, o->how.unconstrained);
    char *text;
    nami_err err;
    if (o->quiet && !o->json) return yes;
    if (nami_modes_describe(modes, o->json ? "json" : "text", &text, &err))
        return fail(RUNNING, NULL, &err);
    return finish_text(text, yes);
}

static int run(const void *options_, int narg, char **arg)
{
    const struct options *o = options_;
    nami_modes_options how = o->how;
    nami_modes *modes = NULL;
    struct with_network w;
    nami_err err;
    (void)narg;
    int rc = with_network_open(&w, arg[0], how.threads, 0, o->quiet);
    if (!rc) rc = with_network_data(&w, &o->data);
    how.watch = &w.watch.library;
    if (!rc && nami_modes_new(w.net, w.data, &how, &modes, &err)) rc = with_network_fail(&w, &err);
    watch_end(&w.watch);
    if (!rc) rc = print(modes, o);
    nami_modes_free(modes);
    with_network_close(&w);
    return rc;
}

static const struct example examples[] = {
    {"nami map pumps.safetensors --data pumps.json --sd", "the mode, with standard deviations"},
    {"nami map pumps.safetensors --data pumps.json --unconstrained",
     "the mode of the density of the logarithms"},
    {NULL, NULL},
};

const struct cmd cmd_map = {
    .name = "map",
    .summary = "compute maximum a posteriori (MAP) estimates",
    .usage = "[OPTION]... NET",
    .about =
        "Maximum a posteriori (MAP) estimates of continuous latents: several optimizations by "
        "L-BFGS start from draws of the network, and the best one is kept. The density is that of "
        "the variables themselves (as in Stan's optimize, jacobian = 0), unless --unconstrained is "
        "given. Latents that no data depend on are left out; those that are integrated out exactly "
        "are at their mean, given the mode of the others. Exit code 1: there is no maximum, or "
        "none was found.\n\n"
        "A mode is not a summary of a posterior: in many dimensions, nearly all of its mass is far "
        "from the mode. For discrete latents, 'nami exact --mpe' has the most probable states.",
    .opt = options,
    .groups = {{"modes", AT(how), NULL}},
    .example = examples,
    .min_arg = 1,
    .max_arg = 1,
    .size = sizeof(struct options),
    .run = run,
};
