/* cmd_calibrate.c: `nami calibrate`: simulation-based calibration, coverage, TARP and parameter
   recovery of a trained network on data sets simulated from its model. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "base/parallel.h"
#include "calibrate_show.h"
#include "infer/weights.h"
#include "meter.h"
#include "model/eval.h"
#include "report/calibration.h"
#include "with_net.h"

struct options {
    struct opt_common common;
    int n, draws, json, quiet, threads, allow;
    const char *method, *only, *plot;
    double alpha;
    struct opt_many out;
    uint64_t seed;
};

static const char *method_words_(int i) { return i < 2 ? nami_word("samplers", i) : NULL; }

enum { PLOT_ECDF, PLOT_RANKS, PLOT_COVERAGE, PLOT_TARP, PLOT_RECOVERY };
static const char *plot_words(int i)
{
    static const char *const w[] = {"ecdf", "ranks", "coverage", "tarp", "recovery", NULL};
    return w[i];
}

#define AT(field) offsetof(struct options, field)
static const struct opt options[] = {
    {"sets", 'n', OPT_COUNT, AT(n), "N", "500", NULL, "how many data sets to simulate", 0},
    {"draws", 0, OPT_COUNT, AT(draws), "N", "200", NULL,
     "posterior draws for each data set, a multiple of 8", 0},
    {"method", 0, OPT_WORD, AT(method), "HOW", "direct", method_words_,
     "judge the network's draws as they are (direct), or weighted by p(x,z)/q(z|x) (is)", 0},
    {"only", 0, OPT_TEXT, AT(only), "NAMES", NULL, NULL, "only these variables, a comma list", 0},
    {"alpha", 0, OPT_REAL, AT(alpha), "X", "0.01", NULL,
     "the probability that a network without fault fails", 0},
    {"output", 'o', OPT_MANY, AT(out), "FILE", NULL, NULL,
     "write a picture: .svg; or all numbers: .json; may be repeated", 0},
    {"plot", 0, OPT_WORD, AT(plot), "WHAT", "ecdf", plot_words, "what the picture shows", 0},
    {"json", 0, OPT_FLAG, AT(json), NULL, NULL, NULL, "print JSON", 0},
    ALLOW_SIMULATOR(AT(allow)),
    NET_OPTIONS(struct options),
    {NULL, 0, 0, 0, NULL, NULL, NULL, NULL, 0},
};

/* Draws in memory at once, about; numbers of all draws that are judged; seeds that differ from
   those of training: truths, posterior draws, ranks of ties. */
enum { NUMBERS = 1 << 24, MOST_NUMBERS = 1 << 28 };
static const uint64_t SIM_SEED = 0x63616c6962736574, DRAW_SEED = 0x63616c6962647277;

struct job {
    const struct options *o;
    struct trained net;
    const struct infer_method *method;
    struct calibration c;
    int *elem; /* (d): of the model, one for each scalar */
    const char **name;
    double *x, *theta, *z, *logw, *logq, *logq0; /* x: (rows, sets); the others as in sims.h */
};

/* ---- which scalars ------------------------------------------------------------------ */

static int listed(const char *names, const char *name)
{
    size_t n = strlen(name);
    for (const char *s = names; s && *s; s += strcspn(s, ","), s += *s == ',')
        if (strncmp(s, name, n) == 0 && (s[n] == ',' || !s[n])) return 1;
    return !names;
}

/* Does the network draw it? */
static int has_factor(const struct job *j, int e)
{
    const struct model *m = j->net.r.net.model;
    if (m->ir.state[e] != E_RANDOM || m->ir.row[e] < 0) return 0;
    int v = m->ir.node[m->ir.defined_by[e]], at = v < 0 ? -1 : j->net.r.net.inverse->pos[v];
    return at >= 0 && at < j->net.r.net.inverse->nlatent;
}

/* Each of the names must have something to judge. */
static int check_names(struct job *j, nami_err *err)
{
    struct model *m = j->net.r.net.model;
    struct arena mem = {0};
    struct draws d;
    int rc = model_draws(m, 0, NULL, j->o->only, 1, &mem, &d, err);
    for (int v = 0; v < d.nvar && !rc && j->o->only; v++) {
        int found = 0;
        for (size_t i = 0; i < m->ir.arrays.n; i++)
            for (int e = m->ir.arrays.a[i].first; e < m->ir.arrays.a[i].first + m->ir.arrays.a[i].n;
                 e++)
                found |= strcmp(m->ir.arrays.a[i].name, d.var[v].name) == 0 && has_factor(j, e);
        if (!found)
            rc = err_set(err, NAMI_EINPUT, "the network does not infer %s; give latents to --only",
                         d.var[v].name);
    }
    arena_free(&mem);
    return rc;
}

static int choose(struct job *j, nami_err *err)
{
    struct model *m = j->net.r.net.model;
    int d = 0, rc = check_names(j, err);
    if (rc) return rc;
    j->elem = new_array(int, m->ir.num_elements);
    j->name = new_array(const char *, m->ir.num_elements);
    if (!j->elem || !j->name) return err_nomem(err);
    for (size_t i = 0; i < m->ir.arrays.n; i++) {
        const struct array *a = &m->ir.arrays.a[i];
        for (int e = a->first; e < a->first + a->n; e++) {
            if (!has_factor(j, e) || !listed(j->o->only, a->name)) continue;
            struct str s = {0};
            elem_name(m, e, &s);
            j->elem[d] = e;
            j->name[d++] = s.oom ? NULL : arena_strndup(&m->mem, s.s, s.n);
            str_free(&s);
            if (!j->name[d - 1]) return err_nomem(err);
        }
    }
    j->c.s.d = d;
    j->c.name = j->name;
    return d ? 0 : err_set(err, NAMI_EINPUT, "the network infers no latent");
}

/* ---- truths and draws --------------------------------------------------------------- */

static int simulate(struct job *j, int threads, nami_err *err)
{
    const struct model *m = j->net.r.net.model;
    size_t n = (size_t)j->c.s.n;
    int rc = model_simulate(m, j->o->seed ^ SIM_SEED, 0, n, threads, j->x, err);
    if (rc) return rc;
    for (int e = 0; e < m->ir.num_elements; e++) {
        const double *x = j->x + (size_t)(m->ir.row[e] < 0 ? 0 : m->ir.row[e]) * n;
        if (m->ir.state[e] != E_RANDOM || m->ir.row[e] < 0) continue;
        for (size_t i = 0; i < n; i++) {
            if (isfinite(x[i])) continue;
            struct str s = {0};
            elem_name(m, e, &s);
            err_set(err, NAMI_EINPUT,
                    "%s is %g in a data set that the model simulated; 'nami check' says what to "
                    "change",
                    s.s ? s.s : "?", x[i]);
            str_free(&s);
            return NAMI_EINPUT;
        }
    }
    for (int k = 0; k < j->c.s.d; k++)
        memcpy(j->theta + (size_t)k * n, j->x + (size_t)m->ir.row[j->elem[k]] * n,
               sizeof *j->x * n);
    return j->logq0 ? infer_logq(&j->net.a, n, j->x, threads, j->logq0, err) : 0;
}

/* The draws of sets first ... into the order of sims.h. */
static int take(struct job *j, size_t first, const struct answer *a, nami_err *err)
{
    const struct model *m = j->net.r.net.model;
    size_t n = (size_t)j->c.s.n, per = a->per;
    for (int k = 0; k < j->c.s.d; k++) {
        const double *from = a->z + (size_t)m->ir.row[j->elem[k]] * a->n;
        double *to = j->z + (size_t)k * per * n + first;
        for (size_t s = 0; s < a->nset; s++)
            for (size_t i = 0; i < per; i++) {
                double v = to[i * n + s] = from[s * per + i];
                if (!isfinite(v))
                    return err_set(err, NAMI_EINPUT,
                                   "the network draws %g for %s of data set %zu: it is not trained "
                                   "well; train longer, or with a lower --rate",
                                   v, j->name[k], first + s + 1);
            }
    }
    for (size_t s = 0; s < a->nset; s++) {
        for (size_t i = 0; i < per; i++) {
            if (j->logw) j->logw[i * n + first + s] = a->logw[s * per + i];
            if (j->logq) j->logq[i * n + first + s] = a->logq[s * per + i];
        }
        if (!j->logw) continue;
        j->c.good += a->found[s].khat < khat_limit(per);
        j->c.ess += a->found[s].ess / (double)n;
    }
    return 0;
}

static int draw(struct job *j, int threads, nami_err *err)
{
    size_t n = (size_t)j->c.s.n, per = (size_t)j->c.s.m;
    size_t each = NUMBERS / (((size_t)j->net.r.net.model->ir.num_rows + 4) * per);
    struct query q = {j->x, n, per, j->o->seed ^ DRAW_SEED};
    struct meter m;
    int rc = 0;
    if (each > n / 20) each = n / 20; /* to have something to say */
    if (each < 1) each = 1;
    meter_begin(&m, 0, (int64_t)n, j->o->quiet);
    for (size_t s = 0, k; s < n && !rc; s += k) {
        struct answer a;
        k = n - s < each ? n - s : each;
        rc = answer_sets(&j->net.a, &q, j->method, s, k, 0, threads, &a, err);
        if (!rc) rc = take(j, s, &a, err);
        answer_free(&a);
        if (!rc && meter_due(&m)) meter_show(&m, (int64_t)(s + k), "data sets");
    }
    meter_hide(&m);
    return rc;
}

static int room(struct job *j, nami_err *err)
{
    struct sims *s = &j->c.s;
    size_t d = (size_t)s->d, n = (size_t)s->n, m = (size_t)s->m;
    if ((double)d * (double)n * (double)m > MOST_NUMBERS)
        return err_set(err, NAMI_EUSAGE,
                       "%zu scalars of %zu data sets with %zu draws are too many; ask for fewer: "
                       "--only NAMES, -n or --draws",
                       d, n, m);
    j->x = raw_array(double, (size_t)j->net.r.net.model->ir.num_rows *n);
    j->theta = raw_array(double, d *n);
    j->z = raw_array(double, d *n *m);
    j->c.recovery = new_array(struct recovery, d);
    j->c.mean = raw_array(double, d *n);
    if (!j->x || !j->theta || !j->z || !j->c.recovery || !j->c.mean) return err_nomem(err);
    if (j->method == &infer_is) {
        if (!(j->logw = raw_array(double, n *m))) return err_nomem(err);
    } else if (!(j->logq = raw_array(double, n *m)) || !(j->logq0 = raw_array(double, n)))
        return err_nomem(err);
    s->theta = j->theta, s->z = j->z, s->logw = j->logw;
    return 0;
}

/* ---- what they say ------------------------------------------------------------------ */

static int judge(struct job *j, nami_err *err)
{
    struct calibration *c = &j->c;
    uint64_t seed = j->o->seed;
    double share = c->alpha / CALIBRATION_TESTS;
    int rc = sbc_run(&c->s, share, 0, seed, &c->sbc, err);
    if (!rc)
        rc =
            coverage_run(&c->s, j->logq, j->logq0, share, COVERAGE_LEVELS, seed, &c->coverage, err);
    if (!rc) rc = tarp_run(&c->s, NULL, share, seed, &c->tarp, err);
    if (!rc) rc = recovery_run(&c->s, c->recovery, c->mean, NULL, err);
    return rc;
}

static int picture(const struct job *j, struct str *out)
{
    const struct calibration *c = &j->c;
    int what = PLOT_ECDF;
    while (strcmp(plot_words(what), j->o->plot) != 0) what++;
    switch (what) {
    case PLOT_RANKS: return plot_ranks(&c->sbc, c->name, out);
    case PLOT_COVERAGE: return plot_coverage(&c->coverage, c->name, out);
    case PLOT_TARP: return plot_tarp(&c->tarp, out);
    case PLOT_RECOVERY: return plot_recovery(&c->s, c->recovery, c->mean, c->name, out);
    default: return plot_ecdf(&c->sbc, c->name, out);
    }
}

static int is_svg(const char *path) { return str_ends(path, strlen(path), ".svg"); }

static int write_files(const struct job *j)
{
    nami_err err;
    int rc = EXIT_YES;
    for (int i = 0; i < j->o->out.n && !rc; i++) {
        const char *path = j->o->out.a[i];
        struct str out = {0};
        int bad = 0;
        if (is_svg(path))
            bad = picture(j, &out);
        else
            calibration_json(&j->c, &out);
        if (bad || out.oom ? err_nomem(&err) : file_write(path, out.s, out.n, &err))
            rc = fail(WRITING, path, &err);
        str_free(&out);
    }
    return rc;
}

/* ---- the command -------------------------------------------------------------------- */

static int check_options(const struct options *o)
{
    nami_err err;
    int rc = 0;
    if (o->n < 20)
        rc = err_set(&err, NAMI_EUSAGE, "%d data sets say nothing; give -n 20 or more", o->n);
    else if (o->draws < 1 || o->draws > 1 << 24)
        rc = err_set(&err, NAMI_EUSAGE, "--draws must be at least 1, and 16777216 at most");
    else if (!(o->alpha > 0 && o->alpha < 1))
        rc = err_set(&err, NAMI_EUSAGE, "--alpha is a probability between 0 and 1, not %g",
                     o->alpha);
    for (int i = 0; i < o->out.n && !rc; i++)
        if (!is_svg(o->out.a[i]) && !str_ends(o->out.a[i], strlen(o->out.a[i]), ".json"))
            rc = err_set(&err, NAMI_EUSAGE,
                         "cannot tell what to write to '%s'; end it in .svg or .json", o->out.a[i]);
    return rc ? fail(RUNNING, NULL, &err) : EXIT_YES;
}

static int calibrate(struct job *j, int threads)
{
    const struct options *o = j->o;
    struct str out = {0};
    nami_err err;
    j->method = infer_method_find(o->method);
    j->c.method = j->method->name;
    j->c.weighted = j->method == &infer_is;
    j->c.alpha = o->alpha;
    j->c.s.n = o->n;
    j->c.s.m = (o->draws + 7) / 8 * 8; /* draws are made in groups of 8 */
    if (j->c.s.m != o->draws && !o->quiet) note("--draws %d, the next multiple of 8", j->c.s.m);
    if (choose(j, &err) || room(j, &err) || simulate(j, threads, &err) || draw(j, threads, &err) ||
        judge(j, &err))
        return fail(RUNNING, NULL, &err);
    int rc = write_files(j), yes = calibrated(&j->c) ? EXIT_YES : EXIT_NO;
    if (rc) return rc;
    if (o->json)
        calibration_json(&j->c, &out);
    else if (!o->quiet)
        calibration_text(&j->c, &out);
    for (int i = 0; i < o->out.n && !o->quiet && !o->json; i++)
        str_printf(&out, "%s%s\n", i ? "             " : "written      ", o->out.a[i]);
    return finish(&out, yes);
}

static int run(const void *options_, int narg, char **arg)
{
    const struct options *o = options_;
    struct job j = {.o = o};
    int threads = parallel_threads(o->threads), rc = check_options(o);
    (void)narg;
    if (rc) return rc;
    rc = open_net(&j.net, arg[0], threads);
    if (!rc) rc = allow_simulator(&j.net.r, arg[0], o->allow, o->quiet);
    if (!rc) rc = calibrate(&j, threads);
    sbc_free(&j.c.sbc);
    coverage_free(&j.c.coverage);
    tarp_free(&j.c.tarp);
    free(j.c.recovery);
    free(j.c.mean);
    free(j.x);
    free(j.theta);
    free(j.z);
    free(j.logw);
    free(j.logq);
    free(j.logq0);
    free(j.elem);
    free(j.name);
    close_net(&j.net);
    return rc;
}

static const struct example examples[] = {
    {"nami calibrate tree.net", "are the network's posteriors right?"},
    {"nami calibrate tree.net -n 2000 -o ranks.svg", "with more data sets, and a picture"},
    {"nami calibrate tree.net --method is", "are they, once weighted?"},
    {NULL, NULL},
};

const struct cmd cmd_calibrate = {
    .name = "calibrate",
    .summary = "is a trained network right about its uncertainty?",
    .usage = "[OPTION]... NET",
    .about =
        "Simulates data sets whose latents are known, asks the network for the posterior of each, "
        "and looks where the truth lies in it. If the posteriors are right, the rank of the truth "
        "among the draws is uniform for each scalar (simulation-based calibration), intervals of "
        "90 % hold the truth in 90 % of the data sets, and so do regions of all latents together, "
        "by density and around random points (TARP). What is not so is named: too narrow, too "
        "wide, too low, too high.\n\n"
        "The exit code is 1 if the network is not calibrated. The same seed gives the same result "
        "for any number of threads.",
    .opt = options,
    .example = examples,
    .min_arg = 1,
    .max_arg = 1,
    .size = sizeof(struct options),
    .run = run,
};
