/* cmd_train.c: `nami train`: builds and trains an inference network for a model. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/file.h"
#include "base/parallel.h"
#include "meter.h"
#include "model/given.h"
#include "report/json.h"
#include "report/network.h"
#include "train/log.h"
#include "train/samples.h"
#include "with_net.h"

struct options {
    struct opt_common common;
    struct model_opts model;
    const char *out, *method, *mode, *criterion, *family, *net, *hidden, *activation, *skip,
        *whiten;
    const char *log, *samples, *objective, *pixels, *split;
    int epochs, particles, warmup;
    int size, shared, no_share, restarts, steps, batch, check, valid, patience, save, json, dry,
        resume;
    double rate, clip, cooldown, labels;
};

enum { STEPS = 20000 };

static const char *family_words(int i) { return net_families[i] ? net_families[i]->name : NULL; }
static const char *net_words(int i) { return net_kinds[i]; }
static const char *act_words(int i) { return act_names[i]; }
static const char *pixel_words(int i) { return brightness_words[i]; }
static const char *objective_words(int i)
{
    static const char *const w[] = {"ic", "elbo", NULL};
    return w[i];
}
static const char *skip_words(int i)
{
    static const char *const w[] = {"auto", "yes", "no", NULL};
    return w[i];
}

#define AT(field) offsetof(struct options, field)
static const struct opt options[] = {
    {"output", 'o', OPT_TEXT, AT(out), "NET", NULL, NULL,
     "the network's file, a safetensors file: written at the end and now and then before", 0},
    {"resume", 0, OPT_FLAG, AT(resume), NULL, NULL, NULL,
     "go on where NET stopped, if it is there; of the other options, --steps counts", 0},
    {"dry-run", 0, OPT_FLAG, AT(dry), NULL, NULL, NULL,
     "print factors, layers, masks and parameter counts; train nothing", 0},
    {"family", 0, OPT_WORD, AT(family), "NAME", "match", family_words,
     "of the factors of continuous latents: 'nami list families'", 0},
    {"components", 0, OPT_COUNT, AT(size), "N", "0", NULL,
     "components of a mixture, bins of a spline, units of a flow; with match, of what stands in "
     "where the model's distribution does not fit; 0: the family's default",
     0},
    {"net", 0, OPT_WORD, AT(net), "KIND", "auto", net_words,
     "a network for each factor (mlp), one masked network (made), or what suits the model", 0},
    {"hidden", 0, OPT_TEXT, AT(hidden), "N,N", NULL, NULL,
     "units of the hidden layers: of each factor (mlp), in all (made)", 0},
    {"hidden-shared", 0, OPT_COUNT, AT(shared), "N", "0", NULL,
     "units of each hidden layer of a network that all latents of a plate share; 0: as --hidden",
     0},
    {"activation", 0, OPT_WORD, AT(activation), "NAME", "relu", act_words, "of hidden units", 0},
    {"skip", 0, OPT_WORD, AT(skip), "WHETHER", "auto", skip_words,
     "inputs feed outputs directly, too; auto: in made, and where they are whitened", 0},
    {"no-share", 0, OPT_FLAG, AT(no_share), NULL, NULL, NULL,
     "a network of its own for each latent of a plate", 0},
    {"whiten", 0, OPT_WORD, AT(whiten), "WHETHER", "auto", skip_words,
     "take away correlations of observed arrays, and of inputs of networks for a factor; auto: "
     "with --net auto",
     0},
    {"mode", 0, OPT_WORD, AT(mode), "MODE", "best", mode_words, "of inversion", 0},
    {"method", 0, OPT_WORD, AT(method), "METHOD", "nami", method_words, "of inversion", 0},
    {"criterion", 0, OPT_WORD, AT(criterion), "NAME", "min-fill", criterion_words, "of inversion",
     0},
    {"restarts", 0, OPT_COUNT, AT(restarts), "N", "0", NULL, "of inversion", 0},
    {"steps", 'n', OPT_COUNT, AT(steps), "N", NULL, NULL,
     "of training, at most; 20000, or what a resumed run was asked for", 0},
    {"batch", 0, OPT_COUNT, AT(batch), "N", "250", NULL, "draws of a step", 0},
    {"rate", 0, OPT_REAL, AT(rate), "X", "0.001", NULL, "the learning rate", 0},
    {"cooldown", 0, OPT_REAL, AT(cooldown), "X", "0.3", NULL,
     "over this last part of the steps the rate falls to 0", 0},
    {"clip", 0, OPT_REAL, AT(clip), "X", "100", NULL,
     "the largest norm of a gradient; longer ones are shortened; 0: none are", 0},
    {"check", 0, OPT_COUNT, AT(check), "N", "500", NULL, "steps between validations", 0},
    {"valid", 0, OPT_COUNT, AT(valid), "N", "10000", NULL, "draws to validate on", 0},
    {"patience", 0, OPT_COUNT, AT(patience), "N", "6", NULL,
     "validations without a better loss until the rate is cut; when it is tiny, training stops", 0},
    {"samples", 0, OPT_TEXT, AT(samples), "FILE", NULL, NULL,
     "train on these draws of all variables, not on fresh ones: .npz or .json, as 'nami simulate' "
     "writes them",
     0},
    {"objective", 0, OPT_WORD, AT(objective), "WHAT", NULL, objective_words,
     "ic: E[-log q(z|x)] on draws of the model; elbo: a bound of log p(x) of data sets (--data "
     "x=FILE), by which the model's networks are learnt, too; elbo, if the model says 'learn'",
     0},
    {"epochs", 0, OPT_COUNT, AT(epochs), "N", "0", NULL,
     "elbo: passes through the data, instead of --steps", 0},
    {"particles", 0, OPT_COUNT, AT(particles), "K", "1", NULL,
     "elbo: draws for each data set; more than one: the importance-weighted bound", 0},
    {"warmup", 0, OPT_COUNT, AT(warmup), "N", "0", NULL,
     "elbo: over the first N steps, the weight of log p(z) - log q(z|x) grows to 1", 0},
    {"labels", 0, OPT_REAL, AT(labels), "X", "1", NULL,
     "elbo: the weight of log q of discrete latents that the data give", 0},
    {"pixels", 0, OPT_WORD, AT(pixels), "HOW", "as-is", pixel_words,
     "elbo: 0 .. 255 to [0, 1] (scale), or to 0 and 1: drawn once (binarise), or by threshold", 0},
    {"split", 0, OPT_TEXT, AT(split), "N,N", NULL, NULL,
     "elbo: how many data sets to train on and to validate with: counts, fractions or 'rest'; "
     "rest,--valid, but no more than a tenth",
     0},
    {"save", 0, OPT_COUNT, AT(save), "SECONDS", "30", NULL, "between two writings of NET", 0},
    {"log", 0, OPT_TEXT, AT(log), "FILE", NULL, NULL,
     "losses in all and of each factor, one row a validation: .csv or .json", 0},
    {"json", 0, OPT_FLAG, AT(json), NULL, NULL, NULL, "print the result as JSON", 0},
    MODEL_OPTIONS(struct options, model),
    {NULL, 0, 0, 0, NULL, NULL, NULL, NULL, 0},
};

/* ---- options to a plan -------------------------------------------------------------- */

static int make_plan(const struct options *o, struct plan *p, struct arena *mem, nami_err *err)
{
    nami_options invert = {.method = o->method,
                           .mode = o->mode,
                           .criterion = o->criterion,
                           .restarts = o->restarts,
                           .seed = o->model.seed};
    nami_train_options t = {.family = o->family,
                            .components = o->size,
                            .net = o->net,
                            .hidden = o->hidden,
                            .hidden_shared = o->shared,
                            .activation = o->activation,
                            .skip = o->skip,
                            .no_share = o->no_share,
                            .whiten = o->whiten,
                            .steps = o->steps,
                            .batch = o->batch,
                            .rate = o->rate,
                            .clip = o->clip > 0 ? o->clip : -1,
                            .check = o->check,
                            .valid = o->valid,
                            .patience = o->patience,
                            .cooldown = o->cooldown > 0 ? o->cooldown : -1,
                            .seed = o->model.seed,
                            .particles = o->particles,
                            .warmup = o->warmup,
                            .labels = o->labels > 0 ? o->labels : -1,
                            .objective = o->objective,
                            .epochs = o->epochs,
                            .pixels = o->pixels,
                            .split = o->split};
    p->set = o->model.set.a;
    p->nset = o->model.set.n;
    p->observe = o->model.observe;
    return plan_make(p, &invert, &t, 0, mem, err);
}

/* Ctrl-C: the step is finished, the network is saved. */
static volatile sig_atomic_t interrupted;
static void interrupt(int signal)
{
    (void)signal;
    interrupted = 1;
}

/* ---- the loop ---------------------------------------------------------------------------------
 */

static int save_all(const struct training *r, const struct options *o, const char *inverse)
{
    nami_err err;
    if (o->out && training_save(r, o->out, inverse, &err)) return fail(WRITING, o->out, &err);
    if (o->log && train_log(&r->train, o->log, &err)) return fail(WRITING, o->log, &err);
    return EXIT_YES;
}

/* What the progress bar says: the last losses, the rate. */
static void tell(struct meter *m, const struct train *x, int last)
{
    const double *h = train_last(x);
    char text[160];
    if (x->nsum)
        snprintf(text, sizeof text, "loss %.4f  %s%.4f  rate %.2g", x->sum / x->nsum,
                 h ? "valid " : "", h ? h[HIST_VALID] : x->sum / x->nsum, train_rate(x));
    else
        snprintf(text, sizeof text, "valid %.4f  rate %.2g", h ? h[HIST_VALID] : NAN,
                 train_rate(x));
    (last ? meter_end : meter_show)(m, (int64_t)x->step, text);
}

static int make_steps(struct training *r, const struct options *o, const char *inverse)
{
    struct train *x = &r->train;
    double saved = clock_now();
    struct meter m;
    nami_err err;
    int rc = EXIT_YES, checked;
    meter_begin(&m, (int64_t)x->step, x->opt.steps, o->model.quiet);
    while (!x->done && !rc && !interrupted) {
        if (train_step(x, &checked, &err)) {
            meter_hide(&m);
            return fail(RUNNING, NULL, &err);
        }
        if (meter_due(&m)) tell(&m, x, 0);
        if (clock_now() - saved > o->save || x->done || interrupted) {
            rc = save_all(r, o, inverse);
            saved = clock_now();
        }
    }
    if (x->step > 0) tell(&m, x, 1);
    if (interrupted && !rc) {
        note("stopped after %llu steps; --resume goes on", (unsigned long long)x->step);
        return EXIT_FAILED;
    }
    return rc;
}

/* Ctrl-C is ours while steps are made: before and after, it ends the program. */
static int loop(struct training *r, const struct options *o, const char *inverse)
{
    struct sigaction old;
    catch_signal(SIGINT, interrupt, &old);
    int rc = make_steps(r, o, inverse);
    sigaction(SIGINT, &old, NULL);
    return rc;
}

static void put_result(const struct training *r, const struct options *o, struct str *out)
{
    const struct train *x = &r->train;
    const double *h = train_best(x); /* parts of this loss, not of a later one */
    if (o->json) {
        str_printf(out, "{\"steps\":%llu", (unsigned long long)x->step);
        put_json_number(out, "loss", x->best);
        str_printf(out, ",\"parameters\":%zu,\"why\":", x->t.nparam);
        str_quote(out, train_done[x->done]);
        str_put(out, ",\"parts\":{");
        for (int k = 0; h && k < x->t.npart; k++) {
            if (k) str_put(out, ",");
            str_quote(out, x->t.part[k].name);
            str_printf(out, isfinite(h[HIST_PARTS + k]) ? ":%.10g" : ":null", h[HIST_PARTS + k]);
        }
        str_put(out, "}}\n");
        return;
    }
    if (o->model.quiet) return;
    if (r->net.plan.elbo)
        str_printf(out, "bound        %.4f nats: of log p(x) on %zu data sets, %llu steps; %s\n",
                   -x->best, r->split.n[SPLIT_VALID], (unsigned long long)x->step,
                   train_done[x->done]);
    else
        str_printf(out, "loss         %.4f nats: E[-log q(z|x)] on %d draws, %llu steps; %s\n",
                   x->best, source_nvalid(x->source) * x->opt.batch, (unsigned long long)x->step,
                   train_done[x->done]);
    if (o->out) str_printf(out, "network      %s\n", o->out);
}

/* ---- all ---------------------------------------------------------------------------- */

/* Hours may pass until something is written. */
static int check_files(const struct options *o)
{
    const char *const path[] = {o->out, o->log};
    nami_err err;
    if (o->log && !str_ends(o->log, strlen(o->log), ".csv .json")) {
        err_set(&err, NAMI_EUSAGE, "a log is a .csv or a .json file, not '%.200s'", o->log);
        return fail(RUNNING, NULL, &err);
    }
    for (int i = 0; i < 2; i++)
        if (path[i] && file_check(path[i], &err)) return fail(WRITING, path[i], &err);
    return EXIT_YES;
}

static int start(struct training *r, int resume, int threads)
{
    struct source *s;
    nami_err err;
    if (samples_source(r, r->net.plan.train.seed, &s, &err)) return fail(RUNNING, NULL, &err);
    if ((resume ? training_continue : training_start)(r, s, threads, &err)) {
        if (!r->train.source) source_free(s);
        return fail(RUNNING, NULL, &err);
    }
    return EXIT_YES;
}

static int work(struct training *r, const struct options *o, int resume)
{
    int threads = parallel_threads(o->model.threads), rc;
    struct str out = {0}, inverse = {0};
    struct view w = {
        .file = r->net.model->source.file, .bn = r->net.model->ir.bn, .v = &r->net.inversion, .h = r->net.inverse, .width = 80};
    nami_err err;
    if (o->dry) {
        (o->json ? network_json : network_show)(&r->net.q, &out);
        return finish(&out, EXIT_YES);
    }
    if (inverse_json(&w, INVERSE_RUNS, &inverse, &err)) return fail(RUNNING, NULL, &err);
    rc = start(r, resume, threads);
    if (!rc) rc = loop(r, o, inverse.s);
    if (!rc && resume && !r->train.done) rc = save_all(r, o, inverse.s);
    str_free(&inverse);
    if (rc) return rc;
    put_result(r, o, &out);
    return finish(&out, EXIT_YES);
}

/* ---- data to learn from ------------------------------------------------------------- */

static void pick(const struct opt_many *all, int records, struct opt_many *out)
{
    out->n = 0;
    for (int i = 0; i < all->n; i++)
        if (is_records(all->a[i]) == records) out->a[out->n++] = all->a[i];
}

/* ---- going on ----------------------------------------------------------------------- */

/* Constants that are given must be those that the network was trained with. */
static int same_constants(const struct model *a, const struct model *b, nami_err *err)
{
    for (size_t i = 0; i < a->ir.arrays.n; i++)
        for (size_t j = 0; j < b->ir.arrays.n; j++) {
            const struct array *x = &a->ir.arrays.a[i], *y = &b->ir.arrays.a[j];
            if (strcmp(x->name, y->name) != 0 || x->raw) continue;
            int same = x->n == y->n;
            for (int e = 0; same && e < x->n; e++) {
                double u = a->ir.value[x->first + e], v = b->ir.value[y->first + e];
                if (a->ir.state[x->first + e] == E_CONST && b->ir.state[y->first + e] == E_CONST)
                    same = u == v || value_is_missing(u) || value_is_missing(v);
            }
            if (!same)
                return err_set(err, NAMI_EUSAGE,
                               "it was trained with other values of %s; give another -o NET, or "
                               "train anew: 'nami train' without --resume, 'nami run' with --again",
                               x->name);
        }
    return 0;
}

/* A network goes on with the model that it was made for, and no other. */
static int same_model(const struct training *r, const struct options *o, const char *file)
{
    struct str text = {0};
    struct model m = {0};
    nami_err err = {0};
    int rc = EXIT_YES;
    if (file_read(file, &text, &err)) {
        rc = fail(READING, file_name(file), &err);
    } else if (text.n != r->net.model->source.text.n ||
               (text.n && memcmp(text.s, r->net.model->source.text.s, text.n) != 0)) {
        err_set(
            &err, NAMI_EUSAGE,
            "it was trained for another model than %s; give another -o NET, or train anew without "
            "--resume",
            file);
        rc = fail(READING, o->out, &err);
    } else if (o->model.data.n || o->model.set.n) {
        struct model_opts quiet = o->model;
        pick(&o->model.data, 0, &quiet.data);
        quiet.quiet = 1;
        rc = open_model(&m, file, &quiet);
        if (!rc && same_constants(r->net.model, &m, &err)) rc = fail(READING, o->out, &err);
    }
    str_free(&text);
    model_fini(&m);
    return rc;
}

/* What is maximised, and on what. */
static int read_objective(struct training *r, const struct options *o, int resume)
{
    struct opt_many file;
    nami_err err;
    if (!resume) {
        for (size_t i = 0; i < r->net.model->ir.networks.n; i++)
            r->net.plan.elbo |= r->net.model->ir.networks.a[i].learn;
        if (o->objective) r->net.plan.elbo = strcmp(o->objective, "elbo") == 0;
    }
    pick(&o->model.data, 1, &file);
    if (!r->net.plan.elbo) {
        if (file.n) {
            err_set(&err, NAMI_EUSAGE,
                    "%s: data to learn from are for --objective elbo; constants and observations "
                    "are read from JSON files or R dumps",
                    file.a[0]);
            return fail(RUNNING, NULL, &err);
        }
        return samples_read(r, o->samples, &err) ? fail(READING, NULL, &err) : EXIT_YES;
    }
    if (!file.n) file = o->model.data; /* many data sets as JSON */
    if (!file.n) {
        err_set(&err, NAMI_EUSAGE, "what should it learn from? give --data x=FILE");
        return fail(RUNNING, NULL, &err);
    }
    if (samples_feed(r, file.a, file.n, NULL, &err)) return fail(READING, NULL, &err);
    if (o->epochs) {
        size_t per = r->split.n[SPLIT_TRAIN] / (size_t)r->net.plan.train.batch;
        r->net.plan.train.steps = (int)((per ? per : 1) * (size_t)o->epochs);
    }
    return EXIT_YES;
}

/* Data that hold observations, but not all of them, can be no query of the network. */
static void note_missing(const struct model *m)
{
    struct given g = {0};
    int n = 0, of = 0, missing = -1;
    int known = m->source.data.set.n && !given_open(&g, m, &m->source.data.set.a[0], NULL);
    for (int e = 0; e < m->ir.num_elements && known; e++) {
        if (m->ir.row[e] < 0 || !m->ir.observed[e]) continue;
        of++;
        n += isnan(given_value(&g, e));
        if (missing < 0 && isnan(given_value(&g, e))) missing = e;
    }
    given_close(&g);
    if (!n || n == of) return;
    struct str name = {0};
    elem_name(m, missing, &name);
    note("%s is observed, but has no value in these data (%d of %d have none): the network will "
         "not answer them",
         name.s ? name.s : "a variable", n, of);
    str_free(&name);
}

static int run(const void *options_, int narg, char **arg)
{
    const struct options *o = options_;
    struct training r = {0};
    struct model_opts model = o->model;
    nami_err err;
    int rc = EXIT_YES, threads = parallel_threads(o->model.threads);
    int resume = o->resume && o->out && access(o->out, F_OK) == 0;
    (void)narg;
    if (make_plan(o, &r.net.plan, &r.net.mem, &err)) return fail(RUNNING, NULL, &err);
    if (!o->dry && !o->out) {
        err_set(&err, NAMI_EUSAGE, "where should the network go? give -o NET, or --dry-run");
        return fail(RUNNING, NULL, &err);
    }
    if (!o->dry && (rc = check_files(o))) return rc;
    if (resume) {
        rc = read_net(&r, o->out, threads);
        if (!rc) rc = same_model(&r, o, arg[0]);
        if (!rc && r.net.model->source.simulator) { /* the model file's, so where that is */
            r.net.model->source.file = arg[0];
            r.net.model->source.simulator_locked = 0;
        }
        if (o->steps) r.net.plan.train.steps = o->steps;
        if (!rc && !o->samples) tell_simulator(r.net.model, o->model.quiet);
        if (!rc) rc = read_objective(&r, o, 1);
    } else {
        r.net.model = r.net.own_model = model_new();
        if (!r.net.model && err_nomem(&err)) return fail(RUNNING, NULL, &err);
        pick(&o->model.data, 0, &model.data);
        rc = open_model(r.net.model, arg[0], &model);
        if (!rc && !o->samples) tell_simulator(r.net.model, o->model.quiet);
        if (rc && model.data.n < o->model.data.n)
            note("constants are read from JSON files or R dumps; other files hold data to learn "
                 "from (--objective elbo)");
        if (!rc && !o->model.quiet) note_missing(r.net.model);
        if (!rc) rc = read_objective(&r, o, 0);
        if (!rc && training_prepare(&r, threads, &err))
            rc = fail(err.line ? READING : RUNNING, err.line ? file_name(arg[0]) : NULL, &err);
    }
    if (!rc) rc = work(&r, o, resume);
    training_free(&r);
    return rc;
}

static const struct example examples[] = {
    {"nami train tree.nami --data w.json -o tree.net", "train on the model's own draws"},
    {"nami train tree.nami --data w.json --dry-run",
     "what would be trained: layers and parameters"},
    {"nami train gmm.nami --family spline -o gmm.net --log gmm.csv", "a flexible family; a log"},
    {"nami train tree.nami --data w.json -o tree.net --samples draws.npz", "on draws of a file"},
    {"nami train tree.nami --data w.json -o tree.net --resume", "go on after an interruption"},
    {NULL, NULL},
};

const struct cmd cmd_train = {
    .name = "train",
    .summary = "an inference network for a model",
    .usage = "[OPTION]... FILE -o NET",
    .about =
        "Inverts a model, gives the inverse a neural network q(z|x), and trains it on draws from "
        "the model: afterwards any data set is answered in milliseconds. The loss is E[-log "
        "q(z|x)], in nats; its smallest possible value is the entropy of the posterior.\n\n"
        "NET holds the model, its data, the inverse, all settings, the weights and the state of "
        "the training. It is replaced at once, so that it is whole at any moment; --resume goes on "
        "from it, bit for bit as if nothing had happened. The same seed gives the same network for "
        "any number of threads.",
    .opt = options,
    .example = examples,
    .min_arg = 1,
    .max_arg = 1,
    .size = sizeof(struct options),
    .run = run,
};
