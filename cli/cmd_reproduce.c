/* cmd_reproduce.c: `nami reproduce`: runs the experiments of the paper; an interrupted run can be
   resumed. */
#include <signal.h>
#include <stdio.h>

#include "cmd.h"
#include "meter.h"

struct options {
    struct opt_common common;
    nami_study_options how;
    const char *out;
    int full, quiet;
    struct opt_many set;
};

#define AT(field) offsetof(struct options, field)
static const struct opt options[] = {
    {"output", 'o', OPT_TEXT, AT(out), "DIR", NULL, NULL,
     "directory for the results; continues an interrupted run in it", 0},
    {"full", 0, OPT_FLAG, AT(full), NULL, NULL, NULL, "the paper's settings, the default", 0},
    {"set", 0, OPT_MANY, AT(set), "NAME=N", NULL, NULL,
     "number of epochs, steps, ... instead of that of the settings; may be repeated", 0},
    {"quiet", 'q', OPT_FLAG, AT(quiet), NULL, NULL, NULL, "no progress, no summary", 0},
    {NULL, 0, 0, 0, NULL, NULL, NULL, NULL, 0},
};

static const char *study_words(int i) { return nami_word("studies", i); }

/* Ctrl-C: completed results are kept. */
static volatile sig_atomic_t interrupted;
static void interrupt(int signal)
{
    (void)signal;
    interrupted = 1;
}

struct work {
    nami_study *study;
    int quiet, begun;
    struct meter meter;
};

static int on_progress(const nami_progress *p, void *user)
{
    struct work *w = user;
    char text[80];
    int done, all;
    if (!w->begun++) meter_begin(&w->meter, (int64_t)p->done, (int64_t)p->total, w->quiet);
    if (meter_due(&w->meter)) {
        nami_study_jobs(w->study, &done, &all);
        snprintf(text, sizeof text, "%d of %d done", done, all);
        meter_show(&w->meter, (int64_t)p->done, text);
    }
    return interrupted;
}

static int train(struct work *w)
{
    nami_err err;
    int done, all;
    catch_signal(SIGINT, interrupt, NULL);
    catch_signal(SIGTERM, interrupt, NULL);
    int rc = nami_study_run(w->study, &err);
    meter_hide(&w->meter);
    if (rc != NAMI_ECANCEL) return rc ? fail(RUNNING, NULL, &err) : EXIT_YES;
    nami_study_jobs(w->study, &done, &all);
    team.stopped = 1;
    note("stopped with %d of %d done; the same command goes on", done, all);
    return EXIT_FAILED;
}

static int print(const nami_study *study)
{
    char *text;
    nami_err err;
    if (nami_study_describe(study, "text", &text, &err)) return fail(RUNNING, NULL, &err);
    return finish_text(text, EXIT_YES);
}

static int run(const void *options_, int narg, char **arg)
{
    const struct options *o = options_;
    struct work w = {.quiet = o->quiet || !is_first()};
    nami_watch watch = {.progress = on_progress, .user = &w};
    nami_study_options how = o->how;
    nami_err err;
    (void)narg;
    if (!o->out) return bad_usage("where should results go? give -o DIR");
    if (how.quick && o->full) return bad_usage("--quick or --full, not both");
    how.set = o->set.a;
    how.num_set = o->set.n;
    how.watch = &watch;
    how.exchange = team.exchange;
    if (nami_study_new(arg[0], o->out, &how, &w.study, &err))
        return fail(err.code == NAMI_EFILE ? WRITING : READING, NULL, &err);
    int rc = train(&w);
    if (is_first() && nami_study_write(w.study, &err)) rc = fail(WRITING, o->out, &err);
    if (!rc && !w.quiet) rc = print(w.study);
    nami_study_free(w.study);
    return rc;
}

static const struct example examples[] = {
    {"nami reproduce tree --quick --runs 3 -o tree", "the first figure of the paper, roughly"},
    {"nami reproduce tree -o tree-full",
     "with the paper's settings; after Ctrl-C, the same command continues"},
    {NULL, NULL},
};

const struct cmd cmd_reproduce = {
    .name = "reproduce",
    .summary = "run the experiments of the paper",
    .usage = "[OPTION]... tree|skip|gmm|vae -o DIR",
    .about =
        "Trains all variants of an experiment in several runs, in parallel, and writes to DIR: "
        "summary.md, a table of the variants and a test of each claim; epochs.csv, a row for each "
        "run, variant and epoch; ends.csv, a row for each run and variant; figures as SVG; "
        "settings.json; and in runs/ a file for each run of a variant, written when it is complete."
        "\n\nThe same command continues an interrupted run. Results do not depend on the number of "
        "threads.",
    .opt = options,
    .groups = {{"study", AT(how), NULL}},
    .example = examples,
    .min_arg = 1,
    .max_arg = 1,
    .arg_words = study_words,
    .size = sizeof(struct options),
    .run = run,
};
