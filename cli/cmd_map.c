/* cmd_map.c: `nami map`: maximum a posteriori (MAP) estimates of the latents, with Laplace
   standard deviations. */
#include <math.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/num.h"
#include "base/parallel.h"
#include "infer/map.h"
#include "report/table.h"
#include "with_net.h"

struct options {
    struct opt_common common;
    int sets, searches, unconstrained, sd, all, json, quiet, threads;
    struct opt_many data;
    uint64_t seed;
};

#define AT(field) offsetof(struct options, field)
static const struct opt options[] = {
    NET_DATA(struct options),
    {"searches", 'n', OPT_COUNT, AT(searches), "N", "8", NULL,
     "searches for each data set, from draws of the network; the best counts", 0},
    {"unconstrained", 0, OPT_FLAG, AT(unconstrained), NULL, NULL, NULL,
     "the density on the unconstrained scale: of logarithms of what is positive, log odds of "
     "what is between 0 and 1, ...",
     0},
    {"sd", 0, OPT_FLAG, AT(sd), NULL, NULL, NULL,
     "standard deviations, too: those of the normal with the same curvature (Laplace)", 0},
    {"all", 0, OPT_FLAG, AT(all), NULL, NULL, NULL, "computed variables too", 0},
    {"json", 0, OPT_FLAG, AT(json), NULL, NULL, NULL, "print JSON", 0},
    NET_OPTIONS(struct options),
    {NULL, 0, 0, 0, NULL, NULL, NULL, NULL, 0},
};

struct found {
    const struct model *m;
    const struct options *o;
    size_t nset;
    struct map_mode *mode;
    double *z, *sd;
};

static const char *const words[] = {[LBFGS_FOUND] = "maximum",
                                    [LBFGS_FLAT] = "edge",
                                    [LBFGS_FALLS] = "unbounded",
                                    [LBFGS_STOPS] = "none"};

/* ---- what is printed ---------------------------------------------------------------- */

static int shown(const struct found *f, int e, size_t set)
{
    const struct model *m = f->m;
    if (m->ir.state[e] != E_RANDOM || m->ir.observed[e] || m->ir.row[e] < 0) return 0;
    if (m->ir.node[m->ir.defined_by[e]] < 0 && !f->o->all) return 0;
    return !isnan(f->z[(size_t)m->ir.row[e] * f->nset + set]);
}

static void put_table(const struct found *f, struct str *out)
{
    struct table t = {.align = f->o->sd ? "lrr" : "lr"};
    const struct map_mode *b = f->mode;
    table_cell(&t, "variable"), table_cell(&t, "mode");
    if (f->o->sd) table_cell(&t, "sd");
    for (int e = 0; e < f->m->ir.num_elements; e++) {
        if (!shown(f, e, 0)) continue;
        elem_name(f->m, e, &t.cells), table_end(&t);
        str_printf(&t.cells, "%.6g", f->z[f->m->ir.row[e]]), table_end(&t);
        if (!f->o->sd) continue;
        double sd = f->sd[f->m->ir.row[e]];
        isnan(sd) ? str_put(&t.cells, "-") : str_printf(&t.cells, "%.3g", sd), table_end(&t);
    }
    table_put(&t, 2, out);
    str_printf(out, "density      log p(x, z) = %.6g, largest derivative %.1e after %d steps\n",
               b->logp, b->grad, b->steps);
    str_printf(out, "searches     %d of %d ended there\n", b->agree, f->o->searches);
}

static void put_sets(const struct found *f, struct str *out)
{
    struct table t = {.align = "rrrrrl"};
    static const char *const head[] = {"set", "log p(x,z)", "derivative", "steps", "agree", ""};
    for (int i = 0; i < 6; i++) table_cell(&t, head[i]);
    for (size_t s = 0; s < f->nset; s++) {
        const struct map_mode *b = &f->mode[s];
        str_printf(&t.cells, "%zu", s + 1), table_end(&t);
        str_printf(&t.cells, "%.6g", b->logp), table_end(&t);
        str_printf(&t.cells, "%.1e", b->grad), table_end(&t);
        str_printf(&t.cells, "%d", b->steps), table_end(&t);
        str_printf(&t.cells, "%d of %d", b->agree, f->o->searches), table_end(&t);
        table_cell(&t, words[b->state]);
    }
    table_put(&t, 2, out);
}

static void put_json(const struct found *f, struct str *out)
{
    for (size_t s = 0; s < f->nset; s++) {
        const struct map_mode *b = &f->mode[s];
        int first = 1;
        str_printf(out, "%s{\"set\":%zu,\"state\":\"%s\"", s ? ",\n" : "[", s + 1, words[b->state]);
        old_put_json_number(out, "log_p", b->logp), old_put_json_number(out, "derivative", b->grad);
        str_printf(out, ",\"steps\":%d,\"agree\":%d,\"variables\":[", b->steps, b->agree);
        for (int e = 0; e < f->m->ir.num_elements; e++) {
            size_t at = (size_t)(f->m->ir.row[e] < 0 ? 0 : f->m->ir.row[e]) * f->nset + s;
            struct str name = {0};
            if (!shown(f, e, s)) continue;
            elem_name(f->m, e, &name);
            str_put(out, first ? "\n {\"name\":" : ",\n {\"name\":");
            str_quote(out, name.s ? name.s : "");
            str_free(&name);
            old_put_json_number(out, "mode", f->z[at]);
            if (f->o->sd) old_put_json_number(out, "sd", f->sd[at]);
            str_put(out, "}");
            first = 0;
        }
        str_put(out, "]}");
    }
    str_put(out, "]\n");
}

/* Not every density has a maximum: which data sets have none, and why. */
static int judge(const struct found *f)
{
    static const char *const why[] = {
        [LBFGS_FLAT] = "the density is largest at the edge of the support, or far out",
        [LBFGS_FALLS] = "the density grows without bound",
        [LBFGS_STOPS] = "no maximum was found: perhaps a scale goes to 0 with all that it scales"};
    size_t bad = 0, last = 0;
    for (size_t s = 0; s < f->nset; s++)
        if (f->mode[s].state != LBFGS_FOUND) bad++, last = s;
    if (!bad) return EXIT_YES;
    if (f->nset > 1)
        note("%zu of %zu data sets have no maximum; of set %zu:", bad, f->nset, last + 1);
    note("%s%s", why[f->mode[last].state],
         f->o->unconstrained ? "" : "; try --unconstrained, where some densities have one inside");
    return EXIT_NO;
}

/* ---- the command -------------------------------------------------------------------- */

static int answer(struct trained *net, const struct options *o, int threads)
{
    struct found f = {.m = net->r.net.model, .o = o, .nset = net->nset};
    struct query q = {net->x, net->nset, (size_t)o->searches, o->seed};
    size_t size = (size_t)f.m->ir.num_rows * f.nset + 1;
    struct str out = {0};
    nami_err err = {0};
    int rc = EXIT_YES, yes = EXIT_YES;
    f.mode = new_array(struct map_mode, f.nset);
    f.z = raw_array(double, size);
    if (o->sd) f.sd = raw_array(double, size);
    if (!f.mode || !f.z || (o->sd && !f.sd)) err_nomem(&err);
    if (err.code || map_sets(&net->a, &q, o->unconstrained, threads, f.mode, f.z, f.sd, &err))
        rc = fail(RUNNING, NULL, &err);
    if (!rc) {
        if (o->json)
            put_json(&f, &out);
        else if (!o->quiet)
            (f.nset == 1 ? put_table : put_sets)(&f, &out);
        yes = judge(&f);
    }
    free(f.mode);
    free(f.z);
    free(f.sd);
    return rc ? rc : finish(&out, yes);
}

static int run(const void *options_, int narg, char **arg)
{
    const struct options *o = options_;
    struct trained net;
    int threads = parallel_threads(o->threads), rc;
    nami_err err;
    (void)narg;
    if (o->searches < 1) {
        err_set(&err, NAMI_EUSAGE, "--searches must be at least 1");
        return fail(RUNNING, NULL, &err);
    }
    rc = open_net(&net, arg[0], threads);
    if (!rc) rc = open_data(&net, &o->data, o->sets, o->quiet);
    if (!rc) rc = answer(&net, o, threads);
    close_net(&net);
    return rc;
}

static const struct example examples[] = {
    {"nami map pumps.net --data pumps.json --sd", "the mode, and how wide it is"},
    {"nami map pumps.net --data pumps.json --unconstrained", "of the density of logarithms"},
    {NULL, NULL},
};

const struct cmd cmd_map = {
    .name = "map",
    .summary = "where the posterior is largest",
    .usage = "[OPTION]... NET",
    .about =
        "The most probable values of continuous latents given the data (MAP): several searches "
        "by L-BFGS begin at draws of the network, and the best one counts. The density is that of "
        "the variables themselves (as in Stan's optimize, jacobian = 0), unless --unconstrained is "
        "given. Latents "
        "that no data depend on are left out. Exit code 1: there is no maximum, or none was "
        "found.\n\n"
        "A mode is not a summary of a posterior: in many dimensions nearly nothing of it is near. "
        "For discrete latents, 'nami exact' has the most probable states.",
    .opt = options,
    .example = examples,
    .min_arg = 1,
    .max_arg = 1,
    .size = sizeof(struct options),
    .run = run,
};
