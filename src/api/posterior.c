/* posterior.c: nami_posterior_*: posterior draws of data sets, block by block, and what they say.
 */
#include "api/posterior.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "api/instance.h"
#include "base/err.h"
#include "base/exchange.h"
#include "base/file.h"
#include "base/near.h"
#include "base/parallel.h"
#include "infer/smc.h"
#include "model/shown.h"

/* ---- variables ------------------------------------------------------------------------------ */

int variable_element(const nami_posterior *p, const struct draws_var *v, size_t e)
{
    const struct model *m = p->net->net.model;
    int array = model_find_array(m, v->name, strlen(v->name));
    return array < 0 ? -1 : array_first(m, array) + (int)e;
}

int variable_is_asked(const nami_posterior *p, const struct draws_var *v, size_t e)
{
    int element = variable_element(p, v, e);
    return element >= 0 && element_is_random(p->net->net.model, element) && !p->given[v->base + e];
}

/* The data sets, where arrays are observed in part: what is not is missing. */
static int observed_part(nami_posterior *p, nami_err *err)
{
    const struct model *m = p->net->net.model;
    size_t sets = p->asked.num_sets, n = (size_t)model_num_rows(m) * sets;
    if (!(p->observed = raw_array(double, p->seen.nrow *sets))) return err_nomem(err);
    memcpy(p->observed, p->asked.x, sizeof *p->observed * n);
    for (int e = 0; e < model_num_elements(m); e++)
        for (size_t s = 0; element_is_random(m, e) && !element_is_observed(m, e) && s < sets; s++)
            p->observed[(size_t)element_row(m, e) * sets + s] = value_missing();
    layout_fill(m, &p->seen, sets, p->observed);
    return 0;
}

static int observed_variables(nami_posterior *p, nami_err *err)
{
    const struct model *m = p->net->net.model;
    struct str names = {0};
    int part = 0, rc = 0;
    for (int a = 0; a < model_num_arrays(m); a++) {
        int n = 0, first = array_first(m, a), size = array_size(m, a);
        for (int e = first; e < first + size; e++) n += element_is_observed(m, e) != 0;
        if (n) str_printf(&names, "%s%s", names.n ? "," : "", array_name(m, a));
        part |= n && n < size;
    }
    if (names.oom) rc = err_nomem(err);
    if (!rc && names.n) rc = model_layout(m, names.s, 0, &p->mem, &p->seen, err);
    str_free(&names);
    return rc || !part ? rc : observed_part(p, err);
}

/* Latents and derived quantities; with `all`, all computed variables. */
static int shown_names(const struct model *m, int all, struct str *out, nami_err *err)
{
    unsigned char *derived = new_array(unsigned char, model_num_arrays(m) + 1);
    int rc = derived ? model_derived(m, derived, err) : err_nomem(err);
    for (int a = 0; a < model_num_arrays(m) && !rc; a++)
        if (derived[a] || array_is_latent(m, a, all))
            str_printf(out, "%s%s", out->n ? "," : "", array_name(m, a));
    free(derived);
    return rc ? rc : out->oom ? err_nomem(err) : 0;
}

static int variables(nami_posterior *p, nami_err *err)
{
    const struct model *m = p->net->net.model;
    struct str names = {0};
    int rc = 0;
    if (p->opt.only)
        str_put(&names, p->opt.only);
    else
        rc = shown_names(m, p->opt.all, &names, err);
    if (!rc && names.oom) rc = err_nomem(err);
    if (!rc) rc = model_layout(m, names.s ? names.s : "", p->opt.all, &p->mem, &p->layout, err);
    str_free(&names);
    if (rc) return rc;
    for (int v = 0; v < p->layout.nvar; v++) {
        size_t size = draws_var_size(&p->layout.var[v]), end = p->layout.var[v].base + size;
        if (end > p->stride) p->stride = end;
        p->num_rows += size;
    }
    if (!(p->row = arena_array(&p->mem, size_t, p->num_rows + 1))) return err_nomem(err);
    for (size_t v = 0, k = 0; v < (size_t)p->layout.nvar; v++)
        for (size_t e = 0; e < draws_var_size(&p->layout.var[v]); e++)
            p->row[k++] = p->layout.var[v].base + e;
    return observed_variables(p, err);
}

/* Rows that are not latent: observed elements, and constants. */
static int mark_given(nami_posterior *p, nami_err *err)
{
    const struct model *m = p->net->net.model;
    size_t rows = (size_t)model_num_rows(m);
    p->given = arena_array(&p->mem, unsigned char, rows + p->stride + 1);
    if (!p->given) return err_nomem(err);
    for (int e = 0; e < model_num_elements(m); e++)
        if (element_row(m, e) >= 0 && element_is_observed(m, e)) p->given[element_row(m, e)] = 1;
    for (size_t r = rows; r < p->layout.nrow; r++) {
        int e = p->layout.elem[r - rows];
        p->given[r] = element_is_observed(m, e) || !element_is_random(m, e);
    }
    return 0;
}

/* Names of elements, by which summaries are asked for. */
static int name_elements(nami_posterior *p, nami_err *err)
{
    const struct model *m = p->net->net.model;
    struct str name = {0};
    int rc = 0;
    for (int v = 0; v < p->layout.nvar && !rc; v++)
        for (size_t e = 0; e < draws_var_size(&p->layout.var[v]) && !rc; e++) {
            int element = variable_element(p, &p->layout.var[v], e), fresh;
            name.n = 0;
            str_put(&name, "");
            if (element >= 0) elem_name(m, element, &name);
            rc = name.oom || dict_add(&p->names, name.s, name.n, &fresh) < 0 ? err_nomem(err) : 0;
        }
    str_free(&name);
    return rc;
}

/* ---- a query ----------------------------------------------------------------------------------
 */

static int choose_method(nami_posterior *p, nami_err *err)
{
    const struct model *m = p->net->net.model;
    p->method = p->opt.method ? infer_method_find(p->opt.method)
                : p->net->net.untrained && !infer_is_exact(&p->net->infer)
                    ? &infer_mcmc
                    : infer_method_default(&p->net->net.q, (size_t)p->opt.draws);
    p->equal = p->method->weighted && !p->opt.weighted;
    if (p->method->islands) p->islands = smc_islands(&p->net->infer, (size_t)p->opt.draws);
    return infer_method_can(p->method, m, err);
}

static int copy_seeds(nami_posterior *p, nami_err *err)
{
    size_t sets = p->asked.num_sets;
    if (p->opt.num_seeds != sets)
        return err_set(err, NAMI_EUSAGE, "there are %zu data sets and %zu seeds: each needs one",
                       sets, p->opt.num_seeds);
    uint64_t *seeds = arena_array(&p->mem, uint64_t, sets);
    if (!seeds) return err_nomem(err);
    memcpy(seeds, p->opt.seeds, sizeof *seeds * sets);
    p->opt.seeds = seeds;
    if (sets == 1) p->opt.seed = seeds[0]; /* what files note */
    return 0;
}

/* What is done, in data sets if there are many. */
static int report(const nami_posterior *p, nami_err *err)
{
    double share = (double)p->blocks.done / (double)p->blocks.work,
           total = (double)(p->q.nset > 1 ? p->q.nset : p->q.per);
    nami_progress now = {.phase = p->q.nset > 1 ? "data sets" : "draws",
                         .done = share * total,
                         .total = total,
                         .loss = NAN,
                         .valid = NAN,
                         .rate = NAN};
    if (!p->watch.progress || !p->watch.progress(&now, p->watch.user)) return 0;
    return err_set(err, NAMI_ECANCEL, "canceled after %.0f of %.0f %s", now.done, now.total,
                   now.phase);
}

static int is_canceled(void *post)
{
    nami_err err;
    return report(post, &err) != 0;
}

static int prepare(nami_posterior *p, const nami_data *data, nami_err *err)
{
    int rc = choose_method(p, err);
    if (!rc && exchange_rank(p->with))
        rc = asked_uncompared(&p->asked, p->net, data, p->opt.sets, NULL, err);
    else if (!rc)
        rc = asked_init(&p->asked, p->net, data, p->opt.sets, p->threads, &p->watch, err);
    if (!rc) rc = variables(p, err);
    if (!rc) rc = mark_given(p, err);
    if (!rc) rc = name_elements(p, err);
    if (rc) return rc;
    if (p->opt.seeds && (rc = copy_seeds(p, err))) return rc;
    p->q = (struct query){.x = p->asked.x,
                          .nset = p->asked.num_sets,
                          .per = (size_t)p->opt.draws,
                          .seed = p->opt.seed,
                          .seeds = p->opt.seeds,
                          .cancel = p->with ? NULL : is_canceled,
                          .user = p};
    p->summary = new_array(struct summary, p->stride * p->q.nset + 1);
    p->found = new_array(struct posterior_found, p->q.nset);
    p->blamed = new_array(struct blamed, p->q.nset);
    if (!p->summary || !p->found || !p->blamed) return err_nomem(err);
    rc = states_begin(p, err);
    if (!rc) rc = likelihood_begin(p, err);
    if (!rc) rc = predictive_begin(p, err);
    if (!rc) rc = model_constants(p->net->net.model, &p->mem, &p->constant, err);
    sinks_spec(p);
    return rc;
}

int nami_posterior_new(const nami_network *net, const nami_data *data, const nami_query *query,
                       nami_posterior **out, nami_err *err)
{
    *out = NULL;
    err_clear(err);
    nami_posterior *p = new_array(nami_posterior, 1);
    if (!p) return err_nomem(err);
    p->net = net;
    int rc = options_complete("query", query, sizeof p->opt, &p->opt, err);
    if (!rc && p->opt.watch) p->watch = *p->opt.watch;
    if (!rc) rc = exchange_check(p->opt.exchange, err);
    if (!rc && p->opt.exchange) {
        p->exchange = *p->opt.exchange;
        p->with = &p->exchange;
    }
    p->threads = parallel_threads(p->opt.threads);
    if (!rc) rc = network_for_query(&p->net, data, &p->watch, &p->own_net, err);
    if (!rc) rc = prepare(p, data, err);
    if (rc)
        nami_posterior_free(p);
    else
        *out = p;
    return rc;
}

/* Can draws be written to this place, in this format, with these names? */
static int check_file(const struct model *m, const nami_query *o, const char *path, nami_err *err)
{
    struct arena mem = {0};
    struct layout l = {0};
    struct str names = {0};
    struct posterior *file = NULL;
    struct stat st;
    int rc = shown_names(m, o->all, &names, err);
    if (!rc) rc = file_check(path, err);
    if (!rc && names.n) rc = model_layout(m, o->only ? o->only : names.s, o->all, &mem, &l, err);
    if (!rc && names.n && (stat(path, &st) || S_ISREG(st.st_mode))) {
        struct posterior_spec spec = {.nset = 1, .part[POSTERIOR] = {1, l.nvar, l.var}};
        rc = posterior_open(path, &spec, &file, err);
        posterior_drop(file);
    }
    str_free(&names);
    arena_free(&mem);
    return rc;
}

/* Is an image observed as a whole? */
static int check_picture(const struct model *m, const char *path, nami_err *err)
{
    struct arena mem = {0};
    struct layout l = {0};
    struct str names = {0};
    const struct draws_var *v;
    for (int a = 0; a < model_num_arrays(m); a++) {
        int n = 0, first = array_first(m, a), size = array_size(m, a);
        for (int e = first; e < first + size; e++) n += element_is_observed(m, e) != 0;
        if (n && n == size) str_printf(&names, "%s%s", names.n ? "," : "", array_name(m, a));
    }
    int rc = names.oom ? err_nomem(err) : file_check(path, err);
    if (!rc && names.n) rc = model_layout(m, names.s, 0, &mem, &l, err);
    if (!rc) rc = gallery_find(l.nvar, l.var, &v, err);
    str_free(&names);
    arena_free(&mem);
    return rc;
}

int nami_posterior_check(const nami_model *model, const nami_data *data, const nami_query *query,
                         const char *path, nami_err *err)
{
    nami_query o;
    err_clear(err);
    int rc = needs_model(model, err);
    if (!rc) rc = options_complete("query", query, sizeof o, &o, err);
    int picture = path && is_picture(path);
    if (!rc && path && !picture) rc = posterior_format_check(path, err);
    if (!rc) rc = model_needs_values(model->m, err);
    if (!rc && o.method) rc = infer_method_can(infer_method_find(o.method), model->m, err);
    double *x = rc ? NULL : raw_array(double, model_num_rows(model->m) + 1);
    if (!rc && !x) rc = err_nomem(err);
    const struct data *sets = rc || data ? NULL : model_data(model->m);
    if (!rc && data && !data->records.n) sets = &data->sets;
    for (size_t s = 0; sets && s < sets->set.n && (data || !s) && !rc; s++)
        rc = infer_data(model->m, &sets->set.a[s], 1, 0, x, err);
    free(x);
    if (rc || !path) return rc;
    return picture ? check_picture(model->m, path, err) : check_file(model->m, &o, path, err);
}

void nami_posterior_free(nami_posterior *p)
{
    if (!p) return;
    sinks_drop(p);
    shown_free(&p->shown);
    vec_free(&p->copies);
    likelihood_free(&p->likelihood);
    predictive_free(&p->predictive);
    vec_free(&p->states);
    free(p->first_state);
    free(p->tally);
    keep_free(p);
    answer_free(&p->answer);
    blocks_fini(&p->blocks);
    digest_fini(&p->digest);
    free(p->refined);
    dict_free(&p->names);
    asked_free(&p->asked);
    nami_network_free(p->own_net);
    free(p->observed);
    free(p->summary);
    free(p->found);
    free(p->blamed);
    arena_free(&p->mem);
    free(p);
}

size_t nami_posterior_sets(const nami_posterior *p) { return p->q.nset; }
size_t nami_posterior_draws(const nami_posterior *p) { return p->q.per; }
const char *nami_posterior_method(const nami_posterior *p) { return p->method->name; }
int nami_posterior_variables(const nami_posterior *p) { return p->layout.nvar; }

_Static_assert(sizeof((nami_variable){0}).dim == sizeof((struct draws_var){0}).dim,
               "as many dimensions outside as inside");

static int give_variable(const struct layout *l, int i, nami_variable *out)
{
    if (i < 0 || i >= l->nvar) return NAMI_EUSAGE;
    const struct draws_var *v = &l->var[i];
    *out = (nami_variable){.name = v->name,
                           .num_dims = v->ndim,
                           .first_row = v->base,
                           .num_elements = draws_var_size(v)};
    memcpy(out->dim, v->dim, sizeof out->dim);
    return 0;
}

int nami_posterior_variable(const nami_posterior *p, int i, nami_variable *out)
{
    return give_variable(&p->layout, i, out);
}

int nami_posterior_observed(const nami_posterior *p, int i, nami_variable *out)
{
    return give_variable(&p->seen, i, out);
}

/* ---- draws ---------------------------------------------------------------------------------- */

static int begin(nami_posterior *p, nami_err *err)
{
    int predict = p->opt.predict || p->opt.ppc || p->picture.var;
    p->begun = 1;
    int rc = blocks_init(&p->blocks, &p->net->infer, &p->q, p->method, predict, p->threads,
                         BLOCK_NUMBERS, err);
    if (!rc) rc = keep_begin(p, err);
    if (rc) return rc;
    blocks_share(&p->blocks, p->with);
    rc = digest_init(&p->digest, p->num_rows, p->row, p->q.per, digest_room(p->num_rows), err);
    if (!rc) rc = find_moments(p, err);
    return rc ? rc : sinks_begin(p, err);
}

/* Rows for arrays of which only some elements are random, behind those of the model. */
int add_rows(const struct model *m, const struct layout *l, size_t n, double **x, nami_err *err)
{
    if (!*x || !n || l->nrow <= (size_t)model_num_rows(m)) return 0;
    double *y = realloc(*x, sizeof *y * l->nrow * n);
    if (!y) return err_nomem(err);
    *x = y;
    layout_fill(m, l, n, y);
    return 0;
}

static int next_block(nami_posterior *p, nami_err *err)
{
    const struct model *m = p->net->net.model;
    shown_free(&p->shown);
    answer_free(&p->answer);
    int rc = blocks_next(&p->blocks, &p->answer, err);
    if (!rc && exchange_rank(p->with)) /* all blocks go to process 0 */
        return p->answer.n ? blocks_send(&p->blocks, &p->answer, err) : 0;
    if (!rc) rc = add_rows(m, &p->layout, p->answer.n, &p->answer.z, err);
    if (!rc) rc = add_rows(m, &p->seen, p->answer.n, &p->answer.pred, err);
    if (!rc) rc = shown_make(p, err);
    if (!rc) rc = summarise_block(p, err);
    if (!rc) rc = likelihood_put(p, err);
    if (!rc) predictive_put(p);
    if (!rc) rc = sinks_put(p, err);
    if (!rc) keep_block(p);
    return rc ? rc : report(p, err);
}

/* 1: there is a block; 0: there are no more. */
static int advance(nami_posterior *p, nami_err *err)
{
    int rc = p->begun ? 0 : begin(p, err);
    do {
        if (!rc && !blocks_more(&p->blocks)) {
            shown_free(&p->shown);
            answer_free(&p->answer);
            if (exchange_rank(p->with)) return blocks_sent(&p->blocks, err);
            p->done = 1;
            return sinks_close(p, err);
        }
        if (!rc) rc = next_block(p, err);
    } while (!rc && !p->answer.n); /* weights come before the draws of large data sets */
    return rc ? rc : 1;
}

/* What has failed is incomplete, and cannot go on: the error stays. */
int nami_posterior_next(nami_posterior *p, nami_block *out, nami_err *err)
{
    int rc = p->failed.code;
    err_clear(err);
    if (!rc && !p->done) rc = advance(p, &p->failed);
    if (rc < 0 && err) *err = p->failed;
    if (rc <= 0) return rc;
    const struct answer *a = &p->answer;
    *out = (nami_block){.first = a->first,
                        .num_draws = a->n,
                        .values = a->z,
                        .predicted = a->pred,
                        .log_q = a->logq,
                        .log_p = a->logp,
                        .log_weight = a->logw};
    return 1;
}

int nami_posterior_run(nami_posterior *p, nami_err *err)
{
    nami_block block;
    int rc;
    if (!p->begun && !p->sinks.n) p->q.weights_only = 1; /* nobody sees log p and log q */
    while ((rc = nami_posterior_next(p, &block, err)) > 0) continue;
    return rc;
}

/* ---- what they say ----------------------------------------------------------------------------
 */

int is_done(const nami_posterior *p, nami_err *err)
{
    if (exchange_rank(p->with))
        return err_set(err, NAMI_EUSAGE, "the results of this query are with process 0");
    return p->done
               ? 0
               : err_set(err, NAMI_EUSAGE,
                         "the draws of this query are not all made yet: run it to its end first");
}

int is_answered(const nami_posterior *p, size_t set, nami_err *err)
{
    int rc = is_done(p, err);
    return rc || set < p->q.nset ? rc : no_such_set(set, p->q.nset, err);
}

int no_such_scalar(const nami_posterior *p, const char *name, nami_err *err)
{
    struct near best = NEAR_NONE;
    for (size_t i = 0; i < p->names.name.n; i++)
        near_try(&best, name, strlen(name), p->names.name.a[i], (int)i);
    return err_set(err, NAMI_EUSAGE, "'%.60s' is no scalar of this query%s%.60s%s", name,
                   best.word ? "; did you mean '" : "", best.word ? best.word : "",
                   best.word ? "'?" : "");
}

int nami_posterior_summary(const nami_posterior *p, size_t set, const char *name, nami_summary *out,
                           nami_err *err)
{
    err_clear(err);
    int rc = is_answered(p, set, err), k = rc ? -1 : dict_find(&p->names, name, strlen(name));
    if (rc) return rc;
    if (k < 0) return no_such_scalar(p, name, err);
    const struct summary *s = &p->summary[set * p->stride + p->row[k]];
    *out = (nami_summary){s->mean, s->sd,   s->q[0], s->q[1], s->q[2],
                          s->q[3], s->q[4], s->mcse, s->ess,
                          s->has_exact ? s->exact_mean : NAN, s->has_exact ? s->exact_sd : NAN,
                          s->has_exact ? s->exact_mcse : NAN};
    return 0;
}

int nami_posterior_verdict(const nami_posterior *p, size_t set, nami_verdict *out, nami_err *err)
{
    err_clear(err);
    int rc = is_answered(p, set, err);
    if (rc) return rc;
    return give_verdict(p->method, &p->found[set].diagnostics, p->q.per, p->islands,
                        p->found[set].ood_p, out, err);
}
