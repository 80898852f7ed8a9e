/* cmd_evidence.c: `nami evidence`: estimates the log marginal likelihood log p(x) with a trained
   network. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/parallel.h"
#include "infer/method.h"
#include "infer/smc.h"
#include "meter.h"
#include "report/table.h"
#include "with_net.h"

struct options {
    struct opt_common common;
    int n, sets, chains, temps, leapfrog, json, quiet, threads;
    const char *method, *start;
    struct opt_many data;
    uint64_t seed;
};

static const char *method_words_(int i) { return nami_word("evidence", i); }
static const char *start_words(int i) { return ais_starts[i]; }

#define AT(field) offsetof(struct options, field)
static const struct opt options[] = {
    NET_DATA(struct options),
    {"draws", 'n', OPT_COUNT, AT(n), "N", "4000", NULL, "how many draws for each data set", 0},
    {"method", 0, OPT_WORD, AT(method), "HOW", "is", method_words_,
     "importance sampling (is), sequential Monte Carlo along the network's factors (smc), or "
     "annealed importance sampling (ais)",
     0},
    {"chains", 0, OPT_COUNT, AT(chains), "N", "16", NULL,
     "ais: how many chains for each data set, instead of --draws", 0},
    {"temps", 0, OPT_COUNT, AT(temps), "N", "1000", NULL,
     "ais: temperatures between where a chain begins and p(x,z)", 0},
    {"leapfrog", 0, OPT_COUNT, AT(leapfrog), "N", "5", NULL,
     "ais: leapfrog steps at each temperature", 0},
    {"start", 0, OPT_WORD, AT(start), "WHERE", "network", start_words,
     "ais: where chains begin: near the network's draws (network), or at draws of the model "
     "(prior)",
     0},
    {"json", 0, OPT_FLAG, AT(json), NULL, NULL, NULL, "print JSON", 0},
    NET_OPTIONS(struct options),
    {NULL, 0, 0, 0, NULL, NULL, NULL, NULL, 0},
};

struct job {
    const struct options *o;
    struct trained net;
    const struct infer_method *method;
    size_t per;                /* draws or chains of a data set */
    size_t islands;            /* of methods that resample; or chains */
    struct diagnostics *found; /* of data sets */
    double *ood;               /* p of each */
};

/* Some data sets at a time, to say how far it is. */
static int estimate(struct job *j, int threads)
{
    enum { NUMBERS = 1 << 22 };
    struct query q = {j->net.x, j->net.nset, j->per, j->o->seed};
    enum ais_start start = strcmp(j->o->start, ais_starts[AIS_PRIOR]) ? AIS_NETWORK : AIS_PRIOR;
    struct evidence_options o = {.ais = {start, j->o->temps, j->o->leapfrog}};
    size_t rows = (size_t)j->net.r.net.model->ir.num_rows, each = NUMBERS / (rows * q.per) / 8 * 8;
    struct meter m;
    nami_err err;
    int rc = 0;
    if (each < 8) each = 8;
    meter_begin(&m, 0, (int64_t)q.nset, j->o->quiet || q.nset == 1);
    for (size_t s = 0, n; s < q.nset && !rc; s += n) {
        n = q.nset - s < each ? q.nset - s : each;
        rc = j->method->evidence(&j->net.a, &q, &o, s, n, threads, j->found + s, &err);
        if (!rc && meter_due(&m)) meter_show(&m, (int64_t)(s + n), "data sets");
    }
    meter_hide(&m);
    return rc ? fail(RUNNING, NULL, &err) : EXIT_YES;
}

static void put_one(const struct job *j, struct str *out)
{
    put_trust(&j->net, &j->found[0], j->per, j->islands, out);
}

static void put_chains(const struct job *j, struct str *out)
{
    const struct diagnostics *d = &j->found[0];
    str_printf(out, "chains       %zu, through %d temperatures, %.1f effective\n", j->per,
               j->o->temps, d->ess);
    str_printf(out, "evidence     log p(x) = %.3f +- %.3f\n", d->log_z, d->log_se);
    if (!trusted(d, j->per, j->islands))
        str_put(out,
                "warning      the chains disagree, or are too few: do not trust these numbers; ask "
                "for more --temps, or train longer\n");
}

/* A line for each data set, and all together: they are independent. */
static void put_sets(const struct job *j, struct str *out)
{
    static const char *const head[] = {"set", "log p(x)", "+-", "k-hat", "ess", ""};
    struct table t = {.align = "rrrrrl"};
    double sum = 0, var = 0;
    for (int i = 0; i < 6; i++) table_cell(&t, head[i]);
    for (size_t s = 0; s < j->net.nset; s++) {
        const struct diagnostics *d = &j->found[s];
        str_printf(&t.cells, "%zu", s + 1), table_end(&t);
        str_printf(&t.cells, "%.3f", d->log_z), table_end(&t);
        str_printf(&t.cells, "%.3f", d->log_se), table_end(&t);
        if (!isnan(d->khat)) str_printf(&t.cells, "%.2f", d->khat);
        table_end(&t);
        str_printf(&t.cells, "%.0f", d->ess), table_end(&t);
        table_cell(&t, trusted(d, j->per, j->islands) ? "" : "not to be trusted");
        sum += d->log_z;
        var += d->log_se * d->log_se;
    }
    table_put(&t, 2, out);
    str_printf(out, "evidence     log p of all %zu data sets = %.3f +- %.3f\n", j->net.nset, sum,
               sqrt(var));
}

/* For a program that wants no JSON. */
static void put_plain(const struct job *j, struct str *out)
{
    for (size_t s = 0; s < j->net.nset; s++)
        str_printf(out, "%.10g %.3g\n", j->found[s].log_z, j->found[s].log_se);
}

static void put_json(const struct job *j, struct str *out)
{
    str_put(out, "[");
    for (size_t s = 0; s < j->net.nset; s++) {
        const struct diagnostics *d = &j->found[s];
        str_printf(out, "%s{\"set\":%zu,\"method\":\"%s\"", s ? ",\n" : "", s + 1, j->method->name);
        old_put_json_number(out, "log_evidence", d->log_z);
        old_put_json_number(out, "log_evidence_se", d->log_se);
        old_put_json_number(out, "khat", d->khat), old_put_json_number(out, "ess", d->ess);
        old_put_json_number(out, "ood_p", j->ood[s]);
        str_printf(out, ",\"trusted\":%s}", trusted(d, j->per, j->islands) ? "true" : "false");
    }
    str_put(out, "]\n");
}

static int ask(struct job *j, int threads)
{
    struct str out = {0};
    nami_err err;
    int rc;
    j->method = infer_method_find(j->o->method);
    j->per = (size_t)(j->method->chains ? j->o->chains : j->o->n);
    if (j->method->chains)
        j->islands = j->per;
    else if (j->method->islands)
        j->islands = smc_islands(&j->net.a, j->per);
    if (joint_known(j->net.a.q, ", nor p(x)", &err)) return fail(RUNNING, NULL, &err);
    j->found = new_array(struct diagnostics, j->net.nset);
    j->ood = new_array(double, j->net.nset);
    if (!j->found || !j->ood) return err_nomem(&err), fail(RUNNING, NULL, &err);
    if ((rc = warn_unlike(&j->net, threads, j->o->quiet, j->ood)) || (rc = estimate(j, threads)))
        return rc;
    if (j->o->json)
        put_json(j, &out);
    else if (j->o->quiet)
        put_plain(j, &out);
    else if (j->net.nset == 1)
        (j->method->chains ? put_chains : put_one)(j, &out);
    else
        put_sets(j, &out);
    return finish(&out, EXIT_YES);
}

static int run(const void *options_, int narg, char **arg)
{
    const struct options *o = options_;
    struct job j = {.o = o};
    int threads = parallel_threads(o->threads), rc;
    nami_err err;
    (void)narg;
    if (o->n < 1 || o->chains < 1) {
        err_set(&err, NAMI_EUSAGE, "--draws and --chains must be at least 1");
        return fail(RUNNING, NULL, &err);
    }
    rc = open_net(&j.net, arg[0], threads);
    if (!rc) rc = open_data(&j.net, &o->data, o->sets, o->quiet);
    if (!rc) rc = ask(&j, threads);
    free(j.found);
    free(j.ood);
    close_net(&j.net);
    return rc;
}

static const struct example examples[] = {
    {"nami evidence schools.net --data schools.json", "log p(x), by importance sampling"},
    {"nami evidence chain.net --data x.json --method smc -n 20000",
     "where weights of whole draws are too unequal"},
    {"nami evidence vae.net --data images.json --method ais --start prior --chains 5 --temps 5000",
     "for a learnt model, whatever its network has learnt"},
    {"nami evidence tree.net --data many.json --json", "thousands of data sets, for a program"},
    {NULL, NULL},
};

const struct cmd cmd_evidence = {
    .name = "evidence",
    .summary = "log p(x), with its standard error, by a trained network",
    .usage = "[OPTION]... NET",
    .about =
        "Estimates the evidence (marginal likelihood) of one data set or many: log p(x), by which "
        "models of the same data are compared. Importance sampling takes the mean of the weights "
        "p(x,z)/q(z|x) of the network's draws; k-hat says whether it can be trusted. Sequential "
        "Monte Carlo resamples draws while they grow, factor by factor, and takes its standard "
        "error from islands of draws that know nothing of each other. Annealed importance sampling "
        "takes chains of Hamiltonian Monte Carlo from a simple distribution to p(x,z) in many "
        "small "
        "steps, for continuous latents; it takes longest, and asks least of the network. All "
        "estimate p(x) without "
        "bias for any network; a good one makes the error small. 'nami list evidence' lists the "
        "ways there are.\n\n"
        "With --quiet, a line for each data set: log p(x) and its standard error.\n\n"
        "The same seed gives the same result for any number of threads.",
    .opt = options,
    .example = examples,
    .min_arg = 1,
    .max_arg = 1,
    .size = sizeof(struct options),
    .run = run,
};
