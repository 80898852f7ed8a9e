/* cmd_report.c: `nami report`: one HTML page about a network and the posterior of a data set. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jobs.h"

struct options {
    struct opt_common common;
    nami_query query;
    struct opt_many data;
    const char *out, *title;
    int which, calibrate, allow, quiet;
};

#define AT(field) offsetof(struct options, field)
static const struct opt options[] = {
    NETWORK_DATA(struct options, data),
    {"output", 'o', OPT_TEXT, AT(out), "FILE", NULL, NULL,
     "the page (.html); default: NET.html in the current directory", 0},
    {"title", 0, OPT_TEXT, AT(title), "TEXT", NULL, NULL,
     "title of the page; default: the name of the model", 0},
    {"which", 0, OPT_COUNT, AT(which), "N", "1", NULL,
     "number of the data set, if there are several", 0},
    {"calibrate", 0, OPT_FLAG, AT(calibrate), NULL, NULL, NULL,
     "also test the calibration of the network, as 'nami calibrate' does: seconds to minutes", 0},
    ALLOW_NETWORK_SIMULATOR(struct options, allow),
    {"quiet", 'q', OPT_FLAG, AT(quiet), NULL, NULL, NULL, "no notes and no progress", 0},
    {NULL, 0, 0, 0, NULL, NULL, NULL, NULL, 0},
};

static int draw(struct with_network *w, const struct options *o, nami_posterior **post)
{
    nami_query query = o->query;
    nami_err err;
    query.watch = &w->watch.library;
    int rc = nami_posterior_new(w->net, w->data, &query, post, &err);
    if (!rc && (size_t)o->which > nami_posterior_sets(*post))
        rc = usage_error(&err, "--which %d: there are %zu data sets", o->which,
                         nami_posterior_sets(*post));
    if (!rc) rc = nami_posterior_keep(*post, o->which ? (size_t)o->which - 1 : 0, &err);
    if (!rc) rc = nami_posterior_run(*post, &err);
    return rc ? with_network_fail(w, &err) : EXIT_YES;
}

/* A network that cannot be judged has a report, too. */
static void test_calibration(struct with_network *w, const struct options *o, nami_calibration **c)
{
    nami_calibrate_options how = {
        .seed = o->query.seed, .threads = o->query.threads, .watch = &w->watch.library};
    nami_err err;
    if (!o->calibrate || (!o->allow && nami_model_simulator(nami_network_model(w->net)))) return;
    if (nami_calibration_new(w->net, &how, c, &err) && !o->quiet) {
        watch_end(&w->watch);
        note("the report has no calibration: %s", err.msg);
    }
}

static int judged(const nami_posterior *post, int which)
{
    nami_verdict v;
    nami_err err;
    if (!post) return EXIT_YES;
    if (nami_posterior_verdict(post, which ? (size_t)which - 1 : 0, &v, &err))
        return fail(RUNNING, NULL, &err);
    return v.verdict == NAMI_NOT_TRUSTED ? EXIT_NO : EXIT_YES;
}

static int report(const struct options *o, int narg, char **arg, const char *path)
{
    char *command = command_line("report", narg, arg, &o->data);
    nami_report_options opt = {.title = o->title, .command = command};
    nami_calibration *calibration = NULL;
    nami_posterior *post = NULL;
    struct with_network w;
    nami_err err;
    int rc = command ? EXIT_YES : no_memory();
    if (!rc && nami_file_check(path, &err)) rc = fail(WRITING, path, &err);
    if (rc) return free(command), rc;
    rc = with_network_open(&w, arg[0], o->query.threads, o->allow, o->quiet);
    int has_data = !rc && (o->data.n || nami_data_size(nami_network_data(w.net)));
    if (!rc && has_data) rc = with_network_data(&w, &o->data);
    if (!rc && has_data) rc = draw(&w, o, &post);
    if (!rc) test_calibration(&w, o, &calibration);
    watch_end(&w.watch);
    opt.posterior = post, opt.calibration = calibration;
    if (!rc) rc = write_report(w.net, &opt, path);
    if (!rc && !o->quiet) printf("report       %s\n", path);
    if (!rc) rc = finish_output(judged(post, o->which));
    nami_calibration_free(calibration);
    nami_posterior_free(post);
    with_network_close(&w);
    free(command);
    return rc;
}

static int run(const void *options_, int narg, char **arg)
{
    const struct options *o = options_;
    char *path = o->out ? NULL : path_of(arg[0], 0, ".html");
    int rc = o->out || path ? report(o, narg, arg, o->out ? o->out : path) : no_memory();
    free(path);
    return rc;
}

static const struct example examples[] = {
    {"nami report schools.safetensors",
     "schools.html, of the data that the network was trained with"},
    {"nami report schools.safetensors --data x.json -o x.html", "of other data"},
    {"nami report schools.safetensors --calibrate", "with simulation-based calibration, by factor"},
    {NULL, NULL},
};

const struct cmd cmd_report = {
    .name = "report",
    .summary = "one HTML page about a network and a posterior",
    .usage = "[OPTION]... NET",
    .about =
        "Writes a page that needs no network and no other file: the verdict, the posterior with "
        "its "
        "priors, predictive checks, the model and its inverse with the elimination step by step, "
        "the "
        "certificate, calibration by factor, training losses, and how all of it was made. A "
        "network "
        "without data has a page without a posterior.\n\n"
        "'nami run' writes such a page at its end. The exit code is 1 if the "
        "answer is not trusted.",
    .opt = options,
    .groups = {{"query", AT(query), "predict,sets,only"}},
    .example = examples,
    .min_arg = 1,
    .max_arg = 1,
    .size = sizeof(struct options),
    .run = run,
};
