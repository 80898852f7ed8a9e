/* cmd_run.c: `nami run`: check, invert, train and sample in one command. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/file.h"
#include "data/posterior.h"
#include "model/eval.h"
#include "with_net.h"

/* The whole job is the other commands in a row: what they print is what is printed. */

struct options {
    struct opt_common common;
    struct opt_many data, set;
    const char *observe, *out, *family, *steps, *draws, *seed, *threads, *method;
    int again, quiet;
};

#define AT(field) offsetof(struct options, field)
static const struct opt options[] = {
    {"data", 'd', OPT_MANY, AT(data), "FILE", NULL, NULL,
     "constants of the model, and what was observed: JSON or R dump; may be repeated", 0},
    {"set", 0, OPT_MANY, AT(set), "NAME=VALUE", NULL, NULL,
     "the value of a constant, instead of the file's; may be repeated", 0},
    {"observe", 0, OPT_TEXT, AT(observe), "LIST", NULL, NULL,
     "what is observed, instead of what the model says", 0},
    {"output", 'o', OPT_TEXT, AT(out), "FILE", NULL, NULL,
     "where draws go: .nc, .npz or .csv; MODEL.nc if not given. The network goes beside it, .net",
     0},
    {"family", 0, OPT_TEXT, AT(family), "NAME", NULL, NULL, "as of 'nami train'", 0},
    {"steps", 0, OPT_TEXT, AT(steps), "N", NULL, NULL, "as of 'nami train'", 0},
    {"draws", 'n', OPT_TEXT, AT(draws), "N", NULL, NULL, "as of 'nami sample'", 0},
    {"method", 0, OPT_TEXT, AT(method), "HOW", NULL, NULL, "as of 'nami sample'", 0},
    {"again", 0, OPT_FLAG, AT(again), NULL, NULL, NULL,
     "train anew, even if the network is there already", 0},
    {"seed", 0, OPT_TEXT, AT(seed), "N", NULL, NULL, "of all that is random", 0},
    {"threads", 0, OPT_TEXT, AT(threads), "N", NULL, NULL, "threads to use", 0},
    {"quiet", 'q', OPT_FLAG, AT(quiet), NULL, NULL, NULL, "no progress and no notes", 0},
    {NULL, 0, 0, 0, NULL, NULL, NULL, NULL, 0},
};

/* ---- commands within the command ---------------------------------------------------- */

enum { WORDS = 96 };
struct line {
    const char *word[WORDS];
    int n;
};

static void add(struct line *l, const char *word)
{
    if (l->n < WORDS) l->word[l->n++] = word;
}

static void add_option(struct line *l, const char *name, const char *value)
{
    if (!value) return;
    add(l, name);
    add(l, value);
}

static void add_model(struct line *l, const struct options *o, const char *file)
{
    add(l, file);
    for (int i = 0; i < o->data.n; i++) add_option(l, "--data", o->data.a[i]);
    for (int i = 0; i < o->set.n; i++) add_option(l, "--set", o->set.a[i]);
    add_option(l, "--observe", o->observe);
}

static void add_common(struct line *l, const struct options *o)
{
    add_option(l, "--seed", o->seed);
    add_option(l, "--threads", o->threads);
    if (o->quiet) add(l, "--quiet");
}

static int call(const struct cmd *c, struct line *l, int quiet)
{
    nami_err err;
    int narg, rc;
    void *into = calloc(1, c->size);
    if (c != &cmd_check && !quiet) puts(""), fflush(stdout); /* an empty line between */
    if (!into) return err_nomem(&err), fail(RUNNING, NULL, &err);
    if (opt_parse(c, into, l->n, (char **)l->word, &narg, &err))
        rc = fail(RUNNING, NULL, &err);
    else
        rc = c->run(into, narg, (char **)l->word);
    free(into);
    return rc;
}

/* ---- the job ------------------------------------------------------------------------ */

/* a/b.nami -> b, in the folder one is in; a/b.nc -> a/b; and this ending */
static void put_path(struct str *out, const char *path, int keep_folder, const char *ending)
{
    const char *slash = strrchr(path, '/'), *from = slash && !keep_folder ? slash + 1 : path;
    const char *dot = strrchr(slash ? slash : from, '.');
    str_putn(out, from, dot && dot > from ? (size_t)(dot - from) : strlen(from));
    str_put(out, ending);
}

/* Is there a network of this model already?  It says so itself: --resume goes on, or has nothing to
 * do. */
static void train_line(struct line *l, const struct options *o, const char *file, const char *net)
{
    add_model(l, o, file);
    add_option(l, "-o", net);
    add_option(l, "--family", o->family);
    add_option(l, "--steps", o->steps);
    if (!o->again) add(l, "--resume");
    add_common(l, o);
}

static void sample_line(struct line *l, const struct options *o, const char *net, const char *draws)
{
    add(l, net);
    for (int i = 0; i < o->data.n; i++) add_option(l, "--data", o->data.a[i]);
    add_option(l, "-n", o->draws);
    add_option(l, "--method", o->method);
    add_option(l, "-o", draws);
    add_common(l, o);
}

/* ---- before the first step ------------------------------------------------------------------ */

/* Are these options of that command? */
static int check_line(const struct cmd *c, struct line l)
{
    nami_err err = {0};
    int narg;
    void *into = calloc(1, c->size);
    if (!into)
        err_nomem(&err);
    else
        opt_parse(c, into, l.n, (char **)l.word, &narg, &err);
    free(into);
    return err.code ? fail(RUNNING, NULL, &err) : EXIT_YES;
}

static int check_options(const struct options *o, const char *file, const char *net,
                         const char *draws)
{
    struct line train = {0}, sample = {0};
    nami_err err;
    train_line(&train, o, file, net);
    sample_line(&sample, o, net, draws);
    int rc = check_line(&cmd_train, train);
    if (!rc) rc = check_line(&cmd_sample, sample);
    if (rc || !o->draws || strtol(o->draws, NULL, 10) > 0) return rc;
    err_set(&err, NAMI_EUSAGE, "--draws must be at least 1");
    return fail(RUNNING, NULL, &err);
}

/* Would the data be a query of the network? */
static int check_query(const struct options *o, const struct model *m)
{
    const char *file = o->data.n == 1 ? file_name(o->data.a[0]) : NULL;
    nami_err err = {0};
    int rc = EXIT_YES;
    double *x = raw_array(double, m->ir.num_rows + 1);
    if (!x) return err_nomem(&err), fail(RUNNING, NULL, &err);
    if (!m->source.data.set.n) {
        err_set(&err, NAMI_EUSAGE, "what was observed? give --data FILE");
        rc = fail(RUNNING, NULL, &err);
    }
    for (size_t s = 0; s < m->source.data.set.n && !rc; s++)
        if (infer_data(m, &m->source.data.set.a[s], 1, 0, x, &err)) rc = fail(READING, file, &err);
    free(x);
    return rc;
}

/* Can the draws be written: to this place, in this format, with these names? */
static int check_output(struct model *m, const char *path, nami_err *err)
{
    struct str names = {0};
    struct arena mem = {0};
    struct layout l = {0};
    struct stat st;
    int rc = file_check(path, err);
    int latents = !latent_names(m, 0, &names); /* without any, training says why it cannot be */
    if (!rc && names.oom) rc = err_nomem(err);
    if (!rc && latents) rc = model_layout(m, names.s, 0, &mem, &l, err);
    if (!rc && latents && (stat(path, &st) || S_ISREG(st.st_mode))) {
        struct posterior_spec spec = {.nset = 1, .part[POSTERIOR] = {1, l.nvar, l.var}};
        struct posterior *p = NULL;
        rc = posterior_open(path, &spec, &p, err);
        posterior_drop(p);
    }
    arena_free(&mem);
    str_free(&names);
    return rc;
}

/* What is wrong is said before the network is trained, not after. */
static int ready(const struct options *o, const char *file, const char *net, const char *draws)
{
    struct model_opts mo = {.data = o->data, .set = o->set, .observe = o->observe, .quiet = 1};
    struct model m = {0};
    nami_err err = {0};
    int rc = check_options(o, file, net, draws);
    if (!rc) rc = open_model(&m, file, &mo);
    if (!rc && model_needs_values(&m, &err)) rc = fail(READING, file_name(file), &err);
    if (!rc) rc = check_query(o, &m);
    if (!rc && o->method && infer_method_can(infer_method_find(o->method), &m, &err))
        rc = fail(RUNNING, NULL, &err);
    if (!rc && check_output(&m, draws, &err))
        rc = fail(err.code == NAMI_EUSAGE ? RUNNING : WRITING, draws, &err);
    model_fini(&m);
    return rc;
}

static int work(const struct options *o, const char *file, const char *net, const char *draws)
{
    struct line check = {0}, train = {0}, sample = {0};
    int rc = ready(o, file, net, draws);
    if (rc) return rc;
    add_model(&check, o, file);
    add_common(&check, o);
    if ((rc = call(&cmd_check, &check, o->quiet)) == EXIT_NO) {
        if (!o->quiet) note("the check found problems; the answer may be poor");
        rc = EXIT_YES;
    }
    train_line(&train, o, file, net);
    sample_line(&sample, o, net, draws);
    if (!rc) rc = call(&cmd_train, &train, o->quiet);
    return rc ? rc : call(&cmd_sample, &sample, o->quiet);
}

static int run(const void *options_, int narg, char **arg)
{
    const struct options *o = options_;
    struct str net = {0}, draws = {0};
    nami_err err;
    int rc;
    (void)narg;
    put_path(&net, o->out ? o->out : arg[0], o->out != NULL, ".net");
    if (o->out)
        str_put(&draws, o->out);
    else
        put_path(&draws, arg[0], 0, ".nc");
    if (net.oom || draws.oom) {
        err_nomem(&err);
        rc = fail(RUNNING, NULL, &err);
    } else if (posterior_format_check(draws.s, &err)) {
        rc = fail(RUNNING, NULL, &err);
    } else {
        rc = work(o, arg[0], net.s, draws.s);
    }
    str_free(&net);
    str_free(&draws);
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
    .summary = "check, invert, train, sample: the whole job in one line",
    .usage = "[OPTION]... FILE --data DATA",
    .about =
        "Checks the model by draws from its prior predictive, inverts it, trains an inference "
        "network "
        "(MODEL.net, or beside the output), draws from the posterior of the data, and ends with a "
        "table and the paths of what was written.\n\n"
        "A network that is there already is used, or trained further if it was interrupted: "
        "another "
        "data set is then answered at once. --again trains anew.",
    .opt = options,
    .example = examples,
    .min_arg = 1,
    .max_arg = 1,
    .size = sizeof(struct options),
    .run = run,
};
