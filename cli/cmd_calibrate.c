/* cmd_calibrate.c: `nami calibrate`: simulation-based calibration, coverage, TARP and parameter
   recovery of a trained network on data sets simulated from its model. */
#include <stdio.h>
#include <string.h>

#include "picture.h"
#include "with_network.h"

struct options {
    struct opt_common common;
    nami_calibrate_options how;
    nami_png_options png;
    const char *plot;
    struct opt_many out, data;
    int json, quiet, allow;
};

static const char *plot_words(int i) { return nami_word("plots", i); }

#define AT(field) offsetof(struct options, field)
static const struct opt options[] = {
    {"output", 'o', OPT_MANY, AT(out), "FILE", NULL, NULL,
     "write a picture (.svg, .png) or all numbers (.json); may be repeated", 0},
    PNG_OPTIONS(struct options, png),
    {"plot", 0, OPT_WORD, AT(plot), "WHAT", "ecdf", plot_words, "plot in the picture", 0},
    {"data", 'd', OPT_MANY, AT(data), "FILE", NULL, NULL,
     "of an open network: calibrate it for the sizes, constants and missing values of this data "
     "set",
     0},
    {"json", 0, OPT_FLAG, AT(json), NULL, NULL, NULL, "print JSON", 0},
    ALLOW_NETWORK_SIMULATOR(struct options, allow),
    {"quiet", 'q', OPT_FLAG, AT(quiet), NULL, NULL, NULL, "no table and no notes", 0},
    {NULL, 0, 0, 0, NULL, NULL, NULL, NULL, 0},
};

/* Rejects output files that cannot be written before any work is done. */
static int check_files(const struct options *o)
{
    nami_err err;
    for (int i = 0; i < o->out.n; i++) {
        const char *path = o->out.a[i];
        if (!ends(path, ".svg") && !ends(path, ".png") && !ends(path, ".json"))
            return bad_usage("cannot tell what to write to '%s'; end it in .svg, .png or .json",
                             path);
        if (picture_check(path, &o->png, &err)) return fail(WRITING, path, &err);
    }
    return EXIT_YES;
}

static int write_files(const nami_calibration *c, const struct options *o)
{
    int rc = EXIT_YES;
    for (int i = 0; i < o->out.n && !rc; i++) {
        const char *path = o->out.a[i];
        char *text = NULL;
        nami_err err;
        if (nami_calibration_describe(c, ends(path, ".json") ? "json" : o->plot, &text, &err) ||
            picture_write(path, text, &o->png, &err))
            rc = fail(WRITING, path, &err);
        nami_free(text);
    }
    return rc;
}

static int print(const nami_calibration *c, const struct options *o)
{
    int yes = nami_calibration_verdict(c) == 1 ? EXIT_YES : EXIT_NO;
    char *text;
    nami_err err;
    if (o->quiet && !o->json) return yes;
    if (nami_calibration_describe(c, o->json ? "json" : "text", &text, &err))
        return fail(RUNNING, NULL, &err);
    fputs(text, stdout);
    nami_free(text);
    for (int i = 0; i < o->out.n && !o->json; i++)
        printf("%s%s\n", i ? "             " : "written      ", o->out.a[i]);
    return finish_output(yes);
}

static int run(const void *options_, int narg, char **arg)
{
    const struct options *o = options_;
    nami_calibrate_options how = o->how;
    nami_calibration *c = NULL;
    struct with_network w = {0};
    nami_network *at = NULL;
    nami_err err;
    (void)narg;
    int rc = is_first() ? check_files(o) : EXIT_YES;
    if (!rc) rc = with_network_open(&w, arg[0], how.threads, o->allow, o->quiet);
    if (!rc && !o->allow && !how.samples) rc = refuse_simulator(nami_network_model(w.net), arg[0]);
    how.watch = &w.watch.library;
    how.exchange = team.exchange;
    if (!rc && o->data.n) rc = with_network_data(&w, &o->data);
    if (!rc && o->data.n && nami_network_for(w.net, w.data, 0, how.watch, &at, &err))
        rc = with_network_fail(&w, &err);
    if (!rc && nami_calibration_new(at ? at : w.net, &how, &c, &err))
        rc = with_network_fail(&w, &err);
    watch_end(&w.watch);
    if (!rc && c) rc = write_files(c, o);
    if (!rc && c) rc = print(c, o);
    nami_calibration_free(c);
    nami_network_free(at);
    with_network_close(&w);
    return rc;
}

static const struct example examples[] = {
    {"nami calibrate tree.safetensors", "are the network's posteriors calibrated?"},
    {"nami calibrate tree.safetensors -n 2000 -o ranks.svg", "with more data sets, and a picture"},
    {"nami calibrate tree.safetensors --method is", "calibration of the importance-weighted draws"},
    {NULL, NULL},
};

const struct cmd cmd_calibrate = {
    .name = "calibrate",
    .summary = "test the calibration of a trained network on simulated data",
    .usage = "[OPTION]... NET",
    .about =
        "Simulates data sets whose latents are known, draws from the network for each, "
        "and compares it with the true values. If the posteriors are correct, the rank of the "
        "true value among the draws is uniform for each scalar (simulation-based calibration), "
        "90 % intervals contain the true value in 90 % of the data sets, and so do joint regions "
        "of all latents, by density and around random points (TARP). Deviations are named: too "
        "narrow, too wide, too low, too high. A network that was trained with training "
        "distributions (train statements) is judged by data sets from these.\n\n"
        "The exit code is 1 if the network is not calibrated. The same seed gives the same result "
        "for any number of threads.",
    .opt = options,
    .groups = {{"calibrate", AT(how), NULL}},
    .example = examples,
    .min_arg = 1,
    .max_arg = 1,
    .size = sizeof(struct options),
    .run = run,
};
