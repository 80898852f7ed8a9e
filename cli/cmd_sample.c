/* cmd_sample.c: `nami sample`: weighted posterior draws from a trained network, their summary and
   diagnostics. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "base/parallel.h"
#include "data/posterior.h"
#include "infer/blocks.h"
#include "infer/digest.h"
#include "infer/smc.h"
#include "infer/weights.h"
#include "meter.h"
#include "model/eval.h"
#include "report/gallery.h"
#include "report/table.h"
#include "with_net.h"

struct options {
    struct opt_common common;
    int n, sets, json, all, predict, quiet, threads;
    const char *method, *only;
    struct opt_many data, out;
    uint64_t seed;
};

static const char *method_words_(int i) { return nami_word("samplers", i); }

#define AT(field) offsetof(struct options, field)
static const struct opt options[] = {
    NET_DATA(struct options),
    {"draws", 'n', OPT_COUNT, AT(n), "N", "4000", NULL, "how many draws for each data set", 0},
    {"method", 0, OPT_WORD, AT(method), "HOW", NULL, method_words_,
     "the network's draws as they are (direct), or weighted by p(x,z)/q(z|x) (is), or by "
     "sequential Monte Carlo along the network's factors (smc); is, if the model has a density "
     "and all latents are inferred",
     0},
    {"output", 'o', OPT_MANY, AT(out), "FILE", NULL, NULL,
     "write draws: .nc (ArviZ), .npz (NumPy), .csv (R's posterior); the summary: .json; or a "
     "picture, if an image is observed: .png, each of the first 40 above the mean of its posterior "
     "prediction; may be repeated",
     0},
    {"predict", 0, OPT_FLAG, AT(predict), NULL, NULL, NULL,
     "posterior predictive draws of the observed variables, too (.nc, .npz)", 0},
    {"only", 0, OPT_TEXT, AT(only), "NAMES", NULL, NULL, "only these variables, a comma list", 0},
    {"all", 0, OPT_FLAG, AT(all), NULL, NULL, NULL, "computed variables too", 0},
    {"json", 0, OPT_FLAG, AT(json), NULL, NULL, NULL, "print the summary as JSON", 0},
    NET_OPTIONS(struct options),
    {NULL, 0, 0, 0, NULL, NULL, NULL, NULL, 0},
};

/* ---- one question -------------------------------------------------------------------------------
 */

struct job {
    const struct options *o;
    struct trained net;
    const struct infer_method *method;
    struct query q;
    struct str names;
    struct draws_var *var, *seen; /* latents; observed variables */
    int nvar, nseen;
    struct posterior *file[OPT_MANY_MAX]; /* NULL for pictures */
    struct gallery picture;
    struct posterior_spec spec;
    struct posterior_note note[3];
    struct arena mem;
    struct layout layout, seen_layout; /* of the latents; of the observed variables; in mem */
    double *observed;  /* rows of seen_layout, if some arrays are observed in part; else NULL */
    size_t stride;     /* rows of draws, elements of all variables among them */
    size_t *row, nrow; /* the elements of all variables in turn */
    struct blocks blocks;
    struct digest digest;
    struct summary *summary; /* of element e of variable v: [set * stride + var[v].base + e] */
    struct posterior_found *found;
    unsigned char *given; /* of rows: not a latent's */
    double *ood;          /* p of each data set */
};

/* The data sets, where arrays are observed in part: what is not is missing. */
static int observed_part(struct job *j, nami_err *err)
{
    const struct model *m = j->net.r.net.model;
    size_t nset = j->net.nset, n = (size_t)m->ir.num_rows * nset;
    if (!(j->observed = raw_array(double, j->seen_layout.nrow *nset))) return err_nomem(err);
    memcpy(j->observed, j->net.x, sizeof *j->observed * n);
    for (int e = 0; e < m->ir.num_elements; e++)
        for (size_t s = 0; m->ir.state[e] == E_RANDOM && !m->ir.observed[e] && s < nset; s++)
            j->observed[(size_t)m->ir.row[e] * nset + s] = value_missing();
    layout_fill(m, &j->seen_layout, nset, j->observed);
    return 0;
}

static int observed_variables(struct job *j, nami_err *err)
{
    struct model *m = j->net.r.net.model;
    struct str names = {0};
    int part = 0, rc = 0;
    for (size_t i = 0; i < m->ir.arrays.n; i++) {
        const struct array *a = &m->ir.arrays.a[i];
        int n = 0;
        for (int e = a->first; e < a->first + a->n; e++) n += m->ir.observed[e];
        if (n) str_printf(&names, "%s%s", names.n ? "," : "", a->name);
        part |= n && n < a->n;
    }
    if (names.oom) rc = err_nomem(err);
    if (!rc && names.n) rc = model_layout(m, names.s, 0, &j->mem, &j->seen_layout, err);
    j->seen = j->seen_layout.var;
    j->nseen = j->seen_layout.nvar;
    str_free(&names);
    return rc || !part ? rc : observed_part(j, err);
}

/* The variables' descriptions are the model's, and do not depend on the draws. */
static int variables(struct job *j, nami_err *err)
{
    struct model *m = j->net.r.net.model;
    int rc = 0;
    if (j->o->only)
        str_put(&j->names, j->o->only);
    else
        rc = latent_names(m, j->o->all, &j->names);
    if (rc || j->names.oom) return err_nomem(err);
    if ((rc = model_layout(m, j->names.s, j->o->all, &j->mem, &j->layout, err))) return rc;
    j->var = j->layout.var;
    j->nvar = j->layout.nvar;
    for (int v = 0; v < j->nvar; v++) {
        size_t size = draws_var_size(&j->var[v]), end = j->var[v].base + size;
        if (end > j->stride) j->stride = end;
        j->nrow += size;
    }
    if (!(j->row = arena_array(&j->mem, size_t, j->nrow + 1))) return err_nomem(err);
    for (size_t v = 0, k = 0; v < (size_t)j->nvar; v++)
        for (size_t e = 0; e < draws_var_size(&j->var[v]); e++) j->row[k++] = j->var[v].base + e;
    return observed_variables(j, err);
}

static int is_picture(const char *path) { return str_ends(path, strlen(path), ".png"); }

static int pictures(const struct options *o)
{
    int n = 0;
    for (int i = 0; i < o->out.n; i++) n += is_picture(o->out.a[i]);
    return n;
}

static int open_picture(struct job *j)
{
    struct draws_var *whole = arena_array(&j->net.r.net.model->mem, struct draws_var, j->nseen + 1);
    const struct draws_var *v;
    nami_err err;
    int n = 0;
    for (int i = 0; i < j->nseen && whole; i++) { /* an image is observed as a whole */
        size_t r = j->seen[i].base, end = r + draws_var_size(&j->seen[i]);
        while (r < end && r < (size_t)j->net.r.net.model->ir.num_rows && j->given[r]) r++;
        if (r == end) whole[n++] = j->seen[i];
    }
    int rc = whole ? gallery_find(n, whole, &v, &err) : err_nomem(&err);
    if (!rc) rc = gallery_begin(&j->picture, v, j->q.nset, &err);
    if (rc) return fail(RUNNING, NULL, &err);
    for (int i = 0; i < j->o->out.n; i++) /* now, not when all is drawn */
        if (is_picture(j->o->out.a[i]) && file_check(j->o->out.a[i], &err))
            return fail(WRITING, j->o->out.a[i], &err);
    return EXIT_YES;
}

static int open_files(struct job *j)
{
    const struct options *o = j->o;
    nami_err err;
    int weighted = j->method != &infer_direct;
    j->note[0] = (struct posterior_note){"model", j->net.r.net.model->source.file, 0};
    j->note[1] = (struct posterior_note){"seed", NULL, (double)o->seed};
    j->note[2] = (struct posterior_note){"method", j->method->name, 0};
    j->spec = (struct posterior_spec){.nset = j->q.nset,
                                      .log_weight = weighted,
                                      .log_p = weighted,
                                      .log_q = 1,
                                      .note = j->note,
                                      .nnote = 3};
    j->spec.part[POSTERIOR] = (struct posterior_group){j->q.per, j->nvar, j->var};
    if (o->predict && j->nseen)
        j->spec.part[PREDICTIVE] = (struct posterior_group){j->q.per, j->nseen, j->seen};
    if (j->nseen)
        j->spec.observed = (struct draws){.n = j->q.nset,
                                          .nvar = j->nseen,
                                          .var = j->seen,
                                          .x = j->observed ? j->observed : j->net.x};
    for (int i = 0; i < o->out.n; i++)
        if (!is_picture(o->out.a[i]) && posterior_open(o->out.a[i], &j->spec, &j->file[i], &err))
            return fail(err.code == NAMI_EUSAGE ? RUNNING : WRITING, o->out.a[i], &err);
    return pictures(o) ? open_picture(j) : EXIT_YES;
}

static int put_files(struct job *j, const struct answer *a)
{
    nami_err err;
    struct posterior_block b = {
        .n = a->n, .x = a->z, .log_weight = a->logw, .log_p = a->logp, .log_q = a->logq};
    struct posterior_block p = {.n = a->n, .x = a->pred};
    for (size_t i = 0; i < a->n && j->picture.var; i++)
        gallery_put(&j->picture, (a->first + i) / j->q.per, a->logw ? exp(a->logw[i]) : 1, a->n,
                    a->pred, i);
    for (int i = 0; i < j->o->out.n; i++) {
        if (!j->file[i]) continue;
        int rc = posterior_put(j->file[i], POSTERIOR, &b, &err);
        if (!rc && a->pred && j->spec.part[PREDICTIVE].ndraw)
            rc = posterior_put(j->file[i], PREDICTIVE, &p, &err);
        if (rc) return fail(WRITING, j->o->out.a[i], &err);
    }
    return EXIT_YES;
}

/* Data set by data set: a block may have the end of one, some, or a piece. */
static int summarise_block(struct job *j, const struct answer *a, nami_err *err)
{
    size_t per = j->q.per;
    int rc = 0;
    for (size_t i = 0, n; i < a->n && !rc; i += n) {
        size_t s = (a->first + i) / per, left = (s + 1) * per - (a->first + i);
        n = left < a->n - i ? left : a->n - i;
        digest_put(&j->digest, n, a->z + i, a->n, a->logw ? a->logw + i : NULL);
        if (n < left) continue;
        rc = digest_end(&j->digest, j->summary + s * j->stride, err);
        for (size_t k = 0; k < j->nrow && a->islands && isnan(j->blocks.found[s].khat); k++)
            summarise_islands(per, a->z + j->row[k] * a->n + i, a->logw + i, a->islands,
                              &j->summary[s * j->stride + j->row[k]]);
        j->found[s] =
            (struct posterior_found){j->blocks.found[s], j->summary + s * j->stride, j->ood[s]};
    }
    return rc;
}

/* Rows for arrays of which only some elements are random, behind those of the model. */
static int add_rows(const struct model *m, const struct layout *l, size_t n, double **x,
                    nami_err *err)
{
    if (!*x || !n || l->nrow <= (size_t)m->ir.num_rows) return 0;
    double *y = realloc(*x, sizeof *y * l->nrow * n);
    if (!y) return err_nomem(err);
    *x = y;
    layout_fill(m, l, n, y);
    return 0;
}

static int complete(const struct job *j, struct answer *a, nami_err *err)
{
    int rc = add_rows(j->net.r.net.model, &j->layout, a->n, &a->z, err);
    return rc ? rc : add_rows(j->net.r.net.model, &j->seen_layout, a->n, &a->pred, err);
}

static int answer_all(struct job *j)
{
    const char *what = j->q.nset > 1 ? "data sets" : "draws";
    int64_t nset = (int64_t)j->q.nset, of = nset > 1 ? nset : (int64_t)j->q.per;
    int rc = EXIT_YES, large = j->blocks.work > j->blocks.block;
    struct meter m;
    nami_err err;
    meter_begin(&m, 0, of, j->o->quiet || !large);
    while (blocks_more(&j->blocks) && !rc) {
        struct answer a;
        if (blocks_next(&j->blocks, &a, &err) || complete(j, &a, &err) ||
            summarise_block(j, &a, &err))
            rc = fail(RUNNING, NULL, &err);
        if (!rc) rc = put_files(j, &a);
        answer_free(&a);
        double done = (double)j->blocks.done / (double)j->blocks.work;
        if (meter_due(&m)) meter_show(&m, (int64_t)(done * (double)of), what);
    }
    meter_hide(&m);
    return rc;
}

/* ---- what is printed ---------------------------------------------------------------- */

/* The model's number for element e of a variable; -1: there is none. */
static int elem_of(const struct model *m, const struct draws_var *v, size_t e)
{
    for (size_t i = 0; i < m->ir.arrays.n; i++)
        if (strcmp(m->ir.arrays.a[i].name, v->name) == 0) return m->ir.arrays.a[i].first + (int)e;
    return -1;
}

/* "x[2,3]" of element e of a variable */
static void put_label(const struct model *m, const struct draws_var *v, size_t e, struct str *out)
{
    int elem = elem_of(m, v, e);
    if (elem >= 0) elem_name(m, elem, out);
}

/* Is there anything to be told of it?  Constants among random elements are known. */
static int is_asked(const struct job *j, const struct draws_var *v, size_t e)
{
    int elem = elem_of(j->net.r.net.model, v, e);
    return elem >= 0 && j->net.r.net.model->ir.state[elem] == E_RANDOM && !j->given[v->base + e];
}

static void put_cell(struct table *t, int digits, double x)
{
    if (isnan(x)) /* printf may say "-nan" */
        str_put(&t->cells, "NaN");
    else
        str_printf(&t->cells, digits ? "%.*g" : "%.*f", digits, x);
    table_end(t);
}

static void put_table(const struct job *j, struct str *out)
{
    enum { MOST = 60 };
    static const char *const head[] = {"variable", "mean", "sd", "5%", "50%", "95%", "ess"};
    struct table t = {.align = "lrrrrrr"};
    size_t shown = 0;
    for (int i = 0; i < 7; i++) table_cell(&t, head[i]);
    for (int v = 0; v < j->nvar; v++)
        for (size_t e = 0; e < draws_var_size(&j->var[v]); e++) {
            const struct summary *s = &j->summary[j->var[v].base + e];
            if (!is_asked(j, &j->var[v], e) || shown++ >= MOST) continue;
            put_label(j->net.r.net.model, &j->var[v], e, &t.cells), table_end(&t);
            put_cell(&t, 3, s->mean), put_cell(&t, 3, s->sd);
            put_cell(&t, 3, s->q[0]), put_cell(&t, 3, s->q[NQUANTILE / 2]),
                put_cell(&t, 3, s->q[NQUANTILE - 1]);
            put_cell(&t, 0, s->ess);
        }
    if (!shown) { /* no table without rows */
        str_free(&t.cells);
        str_put(out, "variables    all of these are observed: there is nothing to infer of them\n");
        return;
    }
    table_put(&t, 2, out);
    if (shown > MOST)
        str_printf(out, "  ... +%zu: --only NAMES, or -o FILE, for the others\n", shown - MOST);
}

static size_t islands(const struct job *j)
{
    return j->method == &infer_smc ? smc_islands(&j->net.a, j->q.per) : 0;
}

/* One answer. */
static void put_one(const struct job *j, struct str *out)
{
    put_table(j, out);
    if (j->method == &infer_direct)
        str_put(
            out,
            "draws        the network's own, not weighted: 'nami calibrate' says how good it is\n");
    else
        put_trust(&j->net, &j->found[0].diagnostics, j->q.per, islands(j), out);
}

/* Many answers: how many are fine. */
static void put_sets(const struct job *j, struct str *out)
{
    size_t good = 0;
    double ess = 0;
    str_printf(out, "data sets    %zu, %zu draws each\n", j->q.nset, j->q.per);
    if (j->method == &infer_direct) return;
    for (size_t s = 0; s < j->q.nset; s++) {
        good += (size_t)trusted(&j->found[s].diagnostics, j->q.per, islands(j));
        ess += j->found[s].diagnostics.ess / (double)j->q.nset;
    }
    if (j->q.per < KHAT_DRAWS && !islands(j))
        str_printf(out,
                   "weights      k-hat needs %d draws or more, %.0f effective draws on average\n",
                   KHAT_DRAWS, ess);
    else
        str_printf(out,
                   "weights      k-hat is good (below %.2f)%s for %zu of %zu, %.0f effective draws "
                   "on average\n",
                   khat_limit(j->q.per), islands(j) ? " or islands agree" : "", good, j->q.nset,
                   ess);
}

static void put_json(const struct job *j, struct str *out)
{
#define NAME(p) "q" #p,
    static const char *const quantile[] = {QUANTILES(NAME)};
    str_put(out, "[");
    for (size_t k = 0; k < j->q.nset; k++) {
        const struct diagnostics *d = &j->found[k].diagnostics;
        str_printf(out, "%s{\"set\":%zu", k ? ",\n" : "", k + 1);
        put_json_number(out, "khat", d->khat), put_json_number(out, "ess", d->ess);
        put_json_number(out, "log_evidence", d->log_z),
            put_json_number(out, "log_evidence_se", d->log_se);
        put_json_number(out, "ood_p", j->ood[k]);
        if (j->method != &infer_direct)
            str_printf(out, ",\"trusted\":%s", trusted(d, j->q.per, islands(j)) ? "true" : "false");
        str_put(out, ",\"variables\":[");
        for (int v = 0; v < j->nvar; v++)
            for (size_t e = 0; e < draws_var_size(&j->var[v]); e++) {
                const struct summary *s = &j->summary[k * j->stride + j->var[v].base + e];
                struct str name = {0};
                put_label(j->net.r.net.model, &j->var[v], e, &name);
                str_put(out, v || e ? ",\n {\"name\":" : "\n {\"name\":");
                str_quote(out, name.s ? name.s : "");
                str_free(&name);
                put_json_number(out, "mean", s->mean), put_json_number(out, "sd", s->sd);
                for (int q = 0; q < NQUANTILE; q++) put_json_number(out, quantile[q], s->q[q]);
                put_json_number(out, "mcse", s->mcse), put_json_number(out, "ess", s->ess);
                str_put(out, "}");
            }
        str_put(out, "]}");
    }
    str_put(out, "]\n");
}

/* Rows that are no latents: observed elements, and constants. */
static void mark_given(const struct job *j, unsigned char *given)
{
    const struct model *m = j->net.r.net.model;
    for (int e = 0; e < m->ir.num_elements; e++)
        if (m->ir.row[e] >= 0 && m->ir.observed[e]) given[m->ir.row[e]] = 1;
    for (size_t r = (size_t)m->ir.num_rows; r < j->layout.nrow; r++) {
        int e = j->layout.elem[r - (size_t)m->ir.num_rows];
        given[r] = m->ir.observed[e] || m->ir.state[e] != E_RANDOM;
    }
}

/* ---- the command -------------------------------------------------------------------- */

static int ask(struct job *j, int threads)
{
    const struct options *o = j->o;
    struct str out = {0};
    nami_err err;
    int rc;
    j->method = o->method ? infer_method_find(o->method) : infer_method_default(j->net.r.net.model);
    j->q = (struct query){j->net.x, j->net.nset, (size_t)o->n, o->seed};
    if (variables(j, &err)) return fail(RUNNING, NULL, &err);
    j->summary = new_array(struct summary, j->stride * j->q.nset + 1);
    j->found = new_array(struct posterior_found, j->q.nset);
    j->given = new_array(unsigned char, (size_t)j->net.r.net.model->ir.num_rows + j->stride);
    j->ood = new_array(double, j->q.nset);
    if (!j->summary || !j->found || !j->given || !j->ood)
        return err_nomem(&err), fail(RUNNING, NULL, &err);
    mark_given(j, j->given);
    if (blocks_init(&j->blocks, &j->net.a, &j->q, j->method, o->predict || pictures(o), threads,
                    BLOCK_NUMBERS, &err) ||
        digest_init(&j->digest, j->nrow, j->row, j->q.per, digest_room(j->nrow), &err))
        return fail(RUNNING, NULL, &err);
    if ((rc = open_files(j)) || (rc = warn_unlike(&j->net, threads, o->quiet, j->ood)) ||
        (rc = answer_all(j)))
        return rc;
    for (int i = 0; i < o->out.n && !rc; i++) {
        struct posterior *p = j->file[i];
        j->file[i] = NULL;
        if (p ? posterior_close(p, j->found, &err)
              : gallery_save(&j->picture, j->net.x, j->q.nset, o->out.a[i], &err))
            rc = fail(WRITING, o->out.a[i], &err);
    }
    if (rc) return rc;
    if (o->json)
        put_json(j, &out);
    else if (!o->quiet && j->q.nset == 1)
        put_one(j, &out);
    else if (!o->quiet)
        put_sets(j, &out);
    for (int i = 0; i < o->out.n && !o->quiet && !o->json; i++)
        str_printf(&out, "%s%s\n", i ? "             " : "written      ", o->out.a[i]);
    return finish(&out, EXIT_YES);
}

static int run(const void *options_, int narg, char **arg)
{
    const struct options *o = options_;
    struct job j = {.o = o};
    int threads = parallel_threads(o->threads), rc;
    nami_err err;
    (void)narg;
    if (o->n < 1) {
        err_set(&err, NAMI_EUSAGE, "--draws must be at least 1");
        return fail(RUNNING, NULL, &err);
    }
    rc = open_net(&j.net, arg[0], threads);
    if (!rc) rc = open_data(&j.net, &o->data, o->sets, o->quiet);
    if (!rc) rc = ask(&j, threads);
    for (int i = 0; i < o->out.n; i++) posterior_drop(j.file[i]);
    gallery_free(&j.picture);
    blocks_fini(&j.blocks);
    digest_fini(&j.digest);
    free(j.summary);
    free(j.found);
    free(j.given);
    free(j.ood);
    free(j.observed);
    arena_free(&j.mem);
    str_free(&j.names);
    close_net(&j.net);
    return rc;
}

static const struct example examples[] = {
    {"nami sample tree.net --data x.json", "the posterior, as a table"},
    {"nami sample tree.net --data x.json -n 10000 -o draws.nc", "for ArviZ"},
    {"nami sample tree.net --data many.json -n 100 -o draws.npz", "thousands of data sets at once"},
    {"nami sample vae.net --data images --sets 40 -n 100 -o x.png",
     "images, and what is made of them"},
    {"nami sample chain.net --data x.json --method smc",
     "where weights of whole draws are too unequal"},
    {NULL, NULL},
};

const struct cmd cmd_sample = {
    .name = "sample",
    .summary = "posterior draws from a trained network",
    .usage = "[OPTION]... NET",
    .about = "Draws from q(z|x) for one data set or many, weighs the draws by p(x,z)/q(z|x) so "
             "that they "
             "are draws from the posterior even where the network is a little wrong, and says how "
             "far to "
             "trust them: k-hat is the shape of the weights' tail (Pareto-smoothed importance "
             "sampling), "
             "the effective number of draws is what is left after weighting, and the mean weight "
             "estimates "
             "the evidence p(x). Sequential Monte Carlo (smc) resamples draws while they grow: for "
             "long chains, and for networks that are not good enough for k-hat.\n\n"
             "Data that are unlike what the model draws are warned of: the network was not trained "
             "for them.\n\n"
             "The same seed gives the same draws for any number of threads. Draws are not held in "
             "memory: there may be as many as the disk takes.",
    .opt = options,
    .example = examples,
    .min_arg = 1,
    .max_arg = 1,
    .size = sizeof(struct options),
    .run = run,
};
