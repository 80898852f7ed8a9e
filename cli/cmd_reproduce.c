/* cmd_reproduce.c: `nami reproduce`: runs the experiments of the paper; an interrupted run can be
   resumed. */
#include <signal.h>
#include <stdio.h>

#include "base/err.h"
#include "base/file.h"
#include "base/parallel.h"
#include "bridge.h"
#include "meter.h"
#include "study/study.h"

struct options {
    struct opt_common common;
    const char *out, *data, *only;
    int runs, quick, full, threads, quiet;
    struct opt_many set;
    uint64_t seed;
};

#define AT(field) offsetof(struct options, field)
static const struct opt options[] = {
    {"output", 'o', OPT_TEXT, AT(out), "DIR", NULL, NULL,
     "a folder for results: goes on with what is in it", 0},
    {"runs", 0, OPT_COUNT, AT(runs), "N", "10", NULL, "each with its own seed and model", 0},
    {"full", 0, OPT_FLAG, AT(full), NULL, NULL, NULL, "the paper's settings, the default", 0},
    {"quick", 0, OPT_FLAG, AT(quick), NULL, NULL, NULL, "fewer epochs, smaller models: minutes", 0},
    {"set", 0, OPT_MANY, AT(set), "NAME=N", NULL, NULL,
     "another number of epochs, steps, ... than settings.json would have; may be repeated", 0},
    {"only", 0, OPT_TEXT, AT(only), "NAMES", NULL, NULL,
     "only these variants, a comma list; others can follow", 0},
    {"data", 'd', OPT_TEXT, AT(data), "FILE", NULL, NULL,
     "vae: a folder with MNIST's files, or a .npz file with binary images 'train' and 'test'", 0},
    {"seed", 0, OPT_SEED, AT(seed), "N", "0", NULL, "of all that is random", 0},
    {"threads", 0, OPT_COUNT, AT(threads), "N", "0", NULL,
     "jobs side by side, a thread each; 0: as many as there are processors", 0},
    {"quiet", 'q', OPT_FLAG, AT(quiet), NULL, NULL, NULL, "no progress, no summary", 0},
    {NULL, 0, 0, 0, NULL, NULL, NULL, NULL, 0},
};

enum { SAVE = 300 }; /* seconds */

static const char *experiment_words(int i) { return experiments[i] ? experiments[i]->name : NULL; }

/* Ctrl-C: what is done is kept. */
static volatile sig_atomic_t interrupted;
static void interrupt(int signal)
{
    (void)signal;
    interrupted = 1;
}

static int loop(struct study *s, int quiet)
{
    struct meter m;
    nami_err err;
    int64_t done, total;
    int jobs, left, rc, stopping = 0;
    char text[80];
    study_progress(s, &done, &total, &jobs, &left);
    meter_begin(&m, done, total, quiet);
    catch_signal(SIGINT, interrupt, NULL);
    catch_signal(SIGTERM, interrupt, NULL);
    if (study_start(s, &err)) return fail(RUNNING, NULL, &err);
    while ((rc = study_wait(s, 0.1, &err)) > 0) {
        if (interrupted && !stopping++) study_stop(s);
        if (!meter_due(&m)) continue;
        study_progress(s, &done, &total, &jobs, &left);
        snprintf(text, sizeof text, "%d of %d done", jobs, jobs + left);
        meter_show(&m, done, text);
    }
    meter_hide(&m);
    if (rc < 0) return fail(RUNNING, NULL, &err);
    study_progress(s, &done, &total, &jobs, &left);
    if (!left) return EXIT_YES;
    note("stopped with %d of %d done; the same command goes on", jobs, jobs + left);
    return EXIT_FAILED;
}

static int work(struct study *s, const struct options *o)
{
    struct str out = {0};
    nami_err err;
    int rc = loop(s, o->quiet);
    if (study_report(s, &err)) return fail(WRITING, o->out, &err);
    if (rc || o->quiet) return rc;
    if (study_summary(s, &out, &err)) return fail(RUNNING, NULL, &err);
    return finish(&out, EXIT_YES);
}

static int run(const void *options_, int narg, char **arg)
{
    const struct options *o = options_;
    const struct experiment *x = experiment_by_name(arg[0]);
    struct study *s = NULL;
    nami_err err;
    int rc = 0;
    (void)narg;
    if (!x)
        rc = opt_unknown("experiment", arg[0], experiment_words, &err);
    else if (!o->out)
        rc = err_set(&err, NAMI_EUSAGE, "where should results go? give -o DIR");
    else if (o->quick && o->full)
        rc = err_set(&err, NAMI_EUSAGE, "--quick or --full, not both");
    else if (o->runs < 1 || o->runs > 99)
        rc = err_set(&err, NAMI_EUSAGE, "--runs wants 1 to 99");
    if (rc) return fail(RUNNING, NULL, &err);
    struct study_options opt = {.quick = o->quick,
                                .runs = o->runs,
                                .threads = parallel_threads(o->threads),
                                .set = o->set.a,
                                .nset = o->set.n,
                                .only = o->only,
                                .seed = o->seed,
                                .dir = o->out,
                                .data = o->data,
                                .save = SAVE};
    rc = study_new(x, &opt, &s, &err) ? fail(err.code == NAMI_EFILE ? WRITING : READING, NULL, &err)
                                      : work(s, o);
    study_free(s);
    return rc;
}

static const struct example examples[] = {
    {"nami reproduce tree --quick --runs 3 -o tree", "the first figure of the paper, roughly"},
    {"nami reproduce tree -o tree-full", "as the paper has it; Ctrl-C, and the same line goes on"},
    {NULL, NULL},
};

const struct cmd cmd_reproduce = {
    .name = "reproduce",
    .summary = "the experiments of the paper",
    .usage = "[OPTION]... tree|skip|gmm|vae -o DIR",
    .about =
        "Trains all variants of an experiment in several runs, side by side, and writes to DIR: "
        "summary.md, a table of the variants and a test of each claim; epochs.csv, a row for each "
        "run, variant and epoch; ends.csv, a row for each run and variant; figures as SVG; "
        "settings.json; and in runs/ a file for each run of a variant, written when it is complete."
        "\n\nThe same command goes on where it was stopped. Results do not depend on the number of "
        "threads.",
    .opt = options,
    .example = examples,
    .min_arg = 1,
    .max_arg = 1,
    .arg_words = experiment_words,
    .size = sizeof(struct options),
    .run = run,
};
