/* cmd_plot.c: `nami plot`: a figure of a posterior, of the training or of the calibration of a
   network. */
#include <stdio.h>
#include <string.h>

#include "picture.h"
#include "with_network.h"

struct options {
    struct opt_common common;
    nami_query query;
    nami_png_options png;
    struct opt_many data;
    const char *out;
    int which, most, allow, quiet;
};

static const char *figure_words(int i) { return nami_word("figures", i); }

#define AT(field) offsetof(struct options, field)
static const struct opt options[] = {
    NETWORK_DATA(struct options, data),
    {"output", 'o', OPT_TEXT, AT(out), "FILE", NULL, NULL,
     "write the figure to this file (.svg or .png); default: standard output, as SVG", 0},
    PNG_OPTIONS(struct options, png),
    {"which", 0, OPT_COUNT, AT(which), "N", "1", NULL,
     "number of the data set, if there are several", 0},
    {"most", 0, OPT_COUNT, AT(most), "N", "0", NULL,
     "panels of the figure at most, or rows of a forest plot; 0: the usual number", 0},
    ALLOW_NETWORK_SIMULATOR(struct options, allow),
    {"quiet", 'q', OPT_FLAG, AT(quiet), NULL, NULL, NULL, "no notes and no progress", 0},
    {NULL, 0, 0, 0, NULL, NULL, NULL, NULL, 0},
};

static int of_posterior(struct with_network *w, const struct options *o, const char *figure,
                        char **svg)
{
    nami_figure_options how = {.only = o->query.only, .most = o->most};
    nami_query query = o->query;
    nami_posterior *post = NULL;
    nami_err err;
    query.watch = &w->watch.library;
    query.only = NULL; /* all are drawn, some are shown */
    query.all |= o->query.only != NULL;
    int rc = nami_posterior_new(w->net, w->data, &query, &post, &err);
    if (!rc && (size_t)o->which > nami_posterior_sets(post))
        rc = usage_error(&err, "--which %d: there are %zu data sets", o->which,
                         nami_posterior_sets(post));
    if (!rc) rc = nami_posterior_keep(post, o->which ? (size_t)o->which - 1 : 0, &err);
    if (!rc) rc = nami_posterior_run(post, &err);
    if (!rc) rc = nami_posterior_figure(post, figure, &how, svg, &err);
    nami_posterior_free(post);
    return rc ? with_network_fail(w, &err) : EXIT_YES;
}

static int of_calibration(struct with_network *w, const struct options *o, const char *file,
                          const char *figure, char **svg)
{
    nami_calibrate_options how = {.only = o->query.only,
                                  .seed = o->query.seed,
                                  .threads = o->query.threads,
                                  .watch = &w->watch.library};
    nami_calibration *c = NULL;
    nami_err err;
    int rc = o->allow ? EXIT_YES : refuse_simulator(nami_network_model(w->net), file);
    if (rc) return rc;
    if (nami_calibration_new(w->net, &how, &c, &err) ||
        nami_calibration_describe(c, figure, svg, &err))
        rc = with_network_fail(w, &err);
    nami_calibration_free(c);
    return rc;
}

static int of_network(struct with_network *w, const struct options *o, const char *figure,
                      char **svg)
{
    nami_figure_options how = {.most = o->most};
    nami_err err;
    return nami_network_figure(w->net, figure, &how, svg, &err) ? with_network_fail(w, &err)
                                                                : EXIT_YES;
}

static int check_output(const struct options *o)
{
    nami_err err;
    if (!o->out) return EXIT_YES;
    if (!ends(o->out, ".svg") && !ends(o->out, ".png"))
        return bad_usage("cannot tell what to write to '%s'; end it in .svg or .png", o->out);
    return picture_check(o->out, &o->png, &err) ? fail(WRITING, o->out, &err) : EXIT_YES;
}

static int write_figure(const struct options *o, char *svg)
{
    nami_err err;
    if (!o->out) return finish_text(svg, EXIT_YES);
    int rc = picture_write(o->out, svg, &o->png, &err) ? fail(WRITING, o->out, &err) : EXIT_YES;
    nami_free(svg);
    return rc;
}

static int run(const void *options_, int narg, char **arg)
{
    const struct options *o = options_;
    const char *of = nami_figure_of(arg[0]);
    struct with_network w = {0};
    char *svg = NULL;
    nami_err err;
    (void)narg;
    if (!of) return opt_unknown("figure", arg[0], figure_words, &err), fail(RUNNING, NULL, &err);
    int rc = check_output(o);
    if (rc) return rc;
    rc = with_network_open(&w, arg[1], o->query.threads, o->allow, o->quiet || !o->out);
    if (!rc && strcmp(of, "calibration") == 0)
        rc = of_calibration(&w, o, arg[1], arg[0], &svg);
    else if (!rc && strcmp(of, "network") == 0)
        rc = of_network(&w, o, arg[0], &svg);
    else if (!rc && !(rc = with_network_data(&w, &o->data)))
        rc = of_posterior(&w, o, arg[0], &svg);
    with_network_close(&w);
    return rc ? rc : write_figure(o, svg);
}

static const struct example examples[] = {
    {"nami plot marginals schools.safetensors -o marginals.svg",
     "posteriors and priors, of the data that the network was trained with"},
    {"nami plot pairs schools.safetensors --data x.json --only mu,tau -o pairs.svg",
     "two variables, other data"},
    {"nami plot loss schools.safetensors -o loss.svg", "the loss of each factor in training"},
    {"nami plot forest schools.safetensors --dark --zoom 3 -o forest.png",
     "a picture of pixels, for slides and documents"},
    {"nami plot ecdf schools.safetensors -o ecdf.svg",
     "simulation-based calibration ('nami calibrate' has its options)"},
    {NULL, NULL},
};

const struct cmd cmd_plot = {
    .name = "plot",
    .summary = "figures of posteriors, training and calibration",
    .usage = "[OPTION]... FIGURE NET",
    .about =
        "Draws a figure as SVG or PNG: marginal posteriors with their priors, intervals of all "
        "scalars "
        "(forest), pairs of scalars, traces and ranks of Markov chains, the data in the posterior "
        "or "
        "prior predictive distribution, the loss of training, and plots of calibration. 'nami list "
        "figures' has them all. Colors of SVG follow the light or dark setting of the reader; PNG "
        "is "
        "painted by librsvg, if that is installed.\n\n"
        "Figures of a posterior show the data set --which, drawn as by 'nami sample' with the same "
        "options. The same seed gives the same bytes.",
    .opt = options,
    .groups = {{"query", AT(query), "predict,sets,all"}},
    .example = examples,
    .min_arg = 2,
    .max_arg = 2,
    .arg_words = figure_words,
    .size = sizeof(struct options),
    .run = run,
};
