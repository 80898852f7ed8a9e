/* cmd_run.c: `nami run`: check, invert, train and sample in one command. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "jobs.h"
#include "model.h"

struct options {
    struct opt_common common;
    struct model_input input;
    nami_options invert;
    nami_train_options train;
    nami_query query;
    const char *out, *focus, *report;
    int again, json;
};

static const char *focus_words(int i)
{
    static const char *const word[] = {"auto", "none"};
    return i < 2 ? word[i] : NULL;
}

#define AT(field) offsetof(struct options, field)
static const struct opt options[] = {
    {"output", 'o', OPT_TEXT, AT(out), "FILE", NULL, NULL,
     "file for the draws: .nc, .npz or .csv; default: MODEL.nc. The network is written beside it "
     "(.safetensors)",
     0},
    {"report", 0, OPT_TEXT, AT(report), "FILE", NULL, NULL,
     "file for the report (.html); default: MODEL.html, or beside the output; none: no report", 0},
    {"again", 0, OPT_FLAG, AT(again), NULL, NULL, NULL, "train a new network, even if one exists",
     0},
    {"focus", 0, OPT_WORD, AT(focus), "HOW", "auto", focus_words,
     "auto: Markov chains try first, without a network; if their answer is not trusted, they tell "
     "where "
     "to train it in place of vague priors. none: train under the prior",
     0},
    {"json", 0, OPT_FLAG, AT(json), NULL, NULL, NULL, "print only the posterior summary, as JSON",
     0},
    MODEL_INPUT(struct options, input),
    {NULL, 0, 0, 0, NULL, NULL, NULL, NULL, 0},
};

/* Reports errors before the network is trained. */
static int ready(const struct options *o, const nami_model *model, const nami_data *data,
                 const char *file, const char *draws)
{
    nami_err err;
    if (!data) return bad_usage("what was observed? give --data FILE");
    if (!nami_posterior_check(model, data, &o->query, draws, &err)) return EXIT_YES;
    if (err.code == NAMI_EFILE) return fail(WRITING, draws, &err);
    if (err.line) return fail(READING, file_name(file), &err);
    return fail(err.code == NAMI_EUSAGE ? RUNNING : READING,
                o->input.data.n == 1 && err.code != NAMI_EUSAGE ? file_name(o->input.data.a[0])
                                                                : NULL,
                &err);
}

static int check(const struct options *o, const nami_model *model, const char *file)
{
    nami_check_options opt = {.seed = o->train.seed, .threads = o->train.threads, .training = 1};
    int quiet = o->input.quiet || o->json, rc = check_model(model, file, &opt, 0, quiet);
    if (rc != EXIT_NO) return rc;
    if (!o->input.quiet) note("the check found problems; the answer may be poor");
    return EXIT_YES;
}

/* Markov chains need no network. */
static int without_network(const struct options *o, const nami_model *model, nami_network **net)
{
    nami_err err;
    if (!o->input.quiet && !o->json)
        printf("network      none: Markov chains explore the posterior\n");
    return nami_network_untrained(model, &o->invert, net, &err) ? fail(RUNNING, NULL, &err)
                                                                : EXIT_YES;
}

/* Is a network what the user wants: is there one, or an option of its training? */
static int wants_network(const struct options *o, const char *net_file)
{
    static const nami_train_options none;
    nami_train_options given = o->train;
    given.seed = none.seed, given.threads = none.threads;
    return o->again || access(net_file, F_OK) == 0 || memcmp(&given, &none, sizeof none) != 0;
}

/* Markov chains before a network is trained. */
struct pilot {
    nami_network *net;
    nami_posterior *post; /* an answer that is not trusted, or NULL */
    char *focus;          /* training distributions, or NULL */
};

/* EXIT_YES: their answer is trusted, and printed; EXIT_NO: a network may do better. */
static int pilot(const struct options *o, const nami_model *model, const nami_data *data,
                 const struct sample_job *sample, struct pilot *p)
{
    struct sample_job job = *sample;
    nami_err err;
    job.untrusted = &p->post;
    if (nami_network_untrained(model, &o->invert, &p->net, &err)) return EXIT_NO;
    int rc = sample_network(p->net, data, &job);
    if (p->post && nami_posterior_focus(p->post, 0, &p->focus, &err))
        rc = fail(RUNNING, NULL, &err);
    return rc;
}

/* The model with training distributions, which are announced. */
static int refocus(const struct options *o, const char *file, const nami_data *data,
                   const char *focus, nami_model **model)
{
    struct model_input in = o->input;
    char *all = NULL;
    if (in.train_prior) {
        size_t size = strlen(in.train_prior) + strlen(focus) + 3;
        if (!(all = malloc(size))) return no_memory();
        snprintf(all, size, "%s; %s", in.train_prior, focus);
    }
    in.train_prior = all ? all : focus;
    nami_model_free(*model);
    *model = NULL;
    int rc = read_model_with(model, file, data, &in), most = 200;
    const char *cut = strlen(focus) > (size_t)most ? " ..." : "";
    if (!rc && !o->input.quiet)
        note("trained around your data: %.*s%s in place of vague priors; the answers are for your "
             "priors",
             most, focus, cut);
    free(all);
    return rc;
}

/* A network is trained if one is wanted, or if there are several data sets; otherwise chains try
 * first. */
static int answer(const struct options *o, const char *file, nami_model **model,
                  const nami_data *data, const char *net_file, struct sample_job *sample)
{
    struct train_job train = {.invert = o->invert,
                              .train = o->train,
                              .out = net_file,
                              .save = 30,
                              .optional = !o->query.method,
                              .resume = !o->again && access(net_file, F_OK) == 0,
                              .quiet = o->input.quiet,
                              .silent = o->json};
    int apart = !o->input.quiet && !o->json, rc = EXIT_NO; /* an empty line between the parts */
    nami_network *net = NULL;
    struct pilot p = {0};
    train.invert.seed = o->train.seed;
    if (!o->query.method && strcmp(o->focus, "auto") == 0 && nami_data_size(data) == 1 &&
        !wants_network(o, net_file))
        rc = pilot(o, *model, data, sample, &p);
    int more = rc == EXIT_NO;
    if (more) rc = p.focus ? refocus(o, file, data, p.focus, model) : EXIT_YES;
    double start = seconds_now();
    if (more && !rc && !(o->query.method && strcmp(o->query.method, "mcmc") == 0))
        rc = train_model(*model, data, file, &train, &net);
    sample->train_seconds = seconds_now() - start;
    if (more && !rc && !net && !p.post) rc = without_network(o, *model, &net);
    if (more && !rc && apart) puts(""), fflush(stdout);
    if (more && !rc) rc = net ? sample_network(net, data, sample) : print_answer(p.post, sample);
    nami_network_free(net);
    nami_posterior_free(p.post);
    nami_network_free(p.net);
    nami_free(p.focus);
    return rc;
}

static int work(const struct options *o, const char *file, const char *net_file, const char *draws,
                const char *report, const char *command)
{
    struct sample_job sample = {.query = o->query,
                                .report = report,
                                .command = command,
                                .out = {1, {draws}},
                                .data = o->input.data,
                                .json = o->json,
                                .quiet = o->input.quiet};
    nami_data *data = NULL;
    nami_model *model = NULL;
    sample.query.seed = o->train.seed;
    sample.query.threads = o->train.threads;
    int rc = read_data(&data, &o->input.data);
    if (!rc) rc = read_model_with(&model, file, data, &o->input);
    if (!rc) tell_simulator(model, o->input.quiet);
    if (!rc) rc = ready(o, model, data, file, draws);
    if (!rc) rc = check(o, model, file);
    if (!rc && !o->input.quiet && !o->json) puts(""), fflush(stdout);
    if (!rc) rc = answer(o, file, &model, data, net_file, &sample);
    nami_model_free(model);
    nami_data_free(data);
    return rc;
}

static int run(const void *options_, int narg, char **arg)
{
    const struct options *o = options_;
    char *net = path_of(o->out ? o->out : arg[0], o->out != NULL, ".safetensors");
    char *draws = o->out ? NULL : path_of(arg[0], 0, ".nc");
    char *page = o->report ? NULL : path_of(o->out ? o->out : arg[0], o->out != NULL, ".html");
    char *command = command_line("run", narg, arg, &o->input.data);
    const char *report = !o->report ? page : strcmp(o->report, "none") == 0 ? NULL : o->report;
    nami_err err;
    int rc = net && (draws || o->out) && (page || o->report) && command ? EXIT_YES : no_memory();
    if (!rc && o->report && report && nami_file_check(report, &err)) rc = fail(WRITING, report, &err);
    if (!rc) rc = work(o, arg[0], net, o->out ? o->out : draws, report, command);
    free(net);
    free(draws);
    free(page);
    free(command);
    return rc;
}

static const struct example examples[] = {
    {"nami run schools.nami --data schools.json", "from a model and data to posterior draws"},
    {"nami run schools.nami --data schools.json -o out/schools.csv --family spline",
     "for R, with a flexible family"},
    {NULL, NULL},
};

const struct cmd cmd_run = {
    .name = "run",
    .summary = "check, invert, train, sample and report in one command",
    .usage = "[OPTION]... FILE --data DATA",
    .about =
        "Checks the model by its prior predictive distribution, inverts it, draws from the "
        "posterior of the data, and ends with a table, a verdict, a report (MODEL.html) and the "
        "paths of what was written.\n\n"
        "One data set is first answered by Markov chains. If that is trusted, no network is "
        "trained. Otherwise, and for several data sets, or if an option of training or --again is "
        "given, or --focus none, an inference network is trained (MODEL.safetensors, or beside the "
        "output).\n\n"
        "Latents that can be integrated out exactly are not learned; if none is left, there is "
        "no training, and the answer is exact.\n\n"
        "An existing network of this model is used, or trained further if its training was "
        "interrupted: posterior draws for the next data set then take milliseconds. --again "
        "trains a new network. The "
        "exit code is 1 if the answer is not trusted.",
    .opt = options,
    .groups = {{"query", offsetof(struct options, query), "seed,threads"},
               {"train", offsetof(struct options, train), "split,pixels,epochs,labels,warmup"},
               {"invert", offsetof(struct options, invert), "method,barren,verify,seed"}},
    .example = examples,
    .min_arg = 1,
    .max_arg = 1,
    .size = sizeof(struct options),
    .run = run,
};
