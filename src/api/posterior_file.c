/* posterior_file.c: nami_posterior_write: draws to files as they are made. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/posterior.h"
#include "base/err.h"
#include "base/file.h"
#include "infer/mcmc.h"

int is_picture(const char *path) { return str_ends(path, strlen(path), ".png"); }

/* Draws that chains of equal length share evenly. */
static void set_chains(nami_posterior *p)
{
    if (p->q.per % MCMC_CHAINS == 0) p->spec.chains = MCMC_CHAINS;
}

void sinks_spec(nami_posterior *p)
{
    const struct layout *l = &p->layout, *seen = &p->seen;
    int weighted = p->method->weighted;
    p->note[0] = (struct posterior_note){"model", model_file_name(p->net->net.model), 0};
    p->note[1] = (struct posterior_note){"seed", NULL, (double)p->opt.seed};
    p->note[2] = (struct posterior_note){"method", p->method->name, 0};
    p->spec = (struct posterior_spec){.nset = p->q.nset,
                                      .log_weight = weighted && !p->equal,
                                      .log_p = weighted,
                                      .log_q = 1,
                                      .note = p->note,
                                      .nnote = 3};
    p->spec.part[POSTERIOR] = (struct posterior_group){p->q.per, l->nvar, l->var};
    if (p->opt.predict && seen->nvar)
        p->spec.part[PREDICTIVE] = (struct posterior_group){p->q.per, seen->nvar, seen->var};
    if (p->opt.loo)
        p->spec.part[LIKELIHOOD] =
            (struct posterior_group){p->q.per, p->likelihood.of.nvar, p->likelihood.of.var};
    if (p->opt.prior) {
        size_t n = (size_t)p->opt.prior;
        p->spec.part[PRIOR] = (struct posterior_group){n, l->nvar, l->var};
        if (seen->nvar)
            p->spec.part[PRIOR_PREDICTIVE] = (struct posterior_group){n, seen->nvar, seen->var};
    }
    p->spec.constant = p->constant;
    if (p->method == &infer_mcmc && !infer_is_exact(&p->net->infer)) set_chains(p);
    if (seen->nvar)
        p->spec.observed = (struct draws){.n = p->q.nset,
                                          .nvar = seen->nvar,
                                          .var = seen->var,
                                          .x = p->observed ? p->observed : p->asked.x};
}

/* The first image that is observed as a whole. */
static int open_picture(nami_posterior *p, const char *path, nami_err *err)
{
    size_t rows = (size_t)model_num_rows(p->net->net.model);
    struct draws_var *whole = arena_array(&p->mem, struct draws_var, p->seen.nvar + 1);
    const struct draws_var *v;
    int n = 0, rc = whole ? 0 : err_nomem(err);
    for (int i = 0; i < p->seen.nvar && !rc; i++) {
        size_t r = p->seen.var[i].base, end = r + draws_var_size(&p->seen.var[i]);
        while (r < end && r < rows && p->given[r]) r++;
        if (r == end) whole[n++] = p->seen.var[i];
    }
    if (!rc && !p->picture.var) {
        rc = gallery_find(n, whole, &v, err);
        if (!rc) rc = gallery_begin(&p->picture, v, p->q.nset, err);
    }
    return rc ? rc : file_check(path, err); /* now, not when all is drawn */
}

int nami_posterior_write(nami_posterior *p, const char *path, nami_err *err)
{
    struct sink s = {.path = arena_strndup(&p->mem, path, strlen(path))};
    err_clear(err);
    if (p->begun)
        return err_set(err, NAMI_EUSAGE, "files must be named before the first draws are made");
    if (!s.path || vec_reserve(&p->sinks, p->sinks.n + 1)) return err_nomem(err);
    int rc = is_picture(path) ? open_picture(p, s.path, err)
                              : posterior_open(s.path, &p->spec, &s.file, err);
    if (!rc) p->sinks.a[p->sinks.n++] = s;
    return rc;
}

static int begins_anew(const struct sink *s)
{
    return s->file && !posterior_format_of(s->path)->pipe;
}

/* To all files, or to those that have begun anew. */
static int put_all(const nami_posterior *p, enum posterior_part part, int anew,
                   const struct posterior_block *b, nami_err *err)
{
    for (size_t i = 0; i < p->sinks.n && p->spec.part[part].ndraw; i++) {
        struct sink *s = &p->sinks.a[i];
        nami_err why = {0};
        int rc = s->file && (!anew || begins_anew(s)) ? posterior_put(s->file, part, b, &why) : 0;
        if (rc) return err_in_file(err, p->sinks.a[i].path, &why);
    }
    return 0;
}

/* Draws from the prior, in blocks. */
static int put_prior(nami_posterior *p, int anew, nami_err *err)
{
    enum { BLOCK = 4096 };
    const struct model *m = p->net->net.model;
    size_t all = (size_t)p->opt.prior, n;
    int rc = 0;
    for (size_t i = 0; i < all && !rc; i += n) {
        n = all - i < BLOCK ? all - i : BLOCK;
        double *x = raw_array(double, (size_t)model_num_rows(m) * n + 1), *y = NULL;
        rc = x ? model_simulate(m, p->opt.seed, i, n, p->threads, x, err) : err_nomem(err);
        if (!rc && !(y = raw_array(double, (size_t)model_num_rows(m) * n + 1))) rc = err_nomem(err);
        if (!rc) memcpy(y, x, (size_t)model_num_rows(m) * n * sizeof *x);
        if (!rc) rc = add_rows(m, &p->layout, n, &x, err);
        if (!rc) rc = add_rows(m, &p->seen, n, &y, err);
        if (!rc) rc = put_all(p, PRIOR, anew, &(struct posterior_block){.n = n, .x = x}, err);
        if (!rc)
            rc = put_all(p, PRIOR_PREDICTIVE, anew, &(struct posterior_block){.n = n, .x = y}, err);
        free(x);
        free(y);
    }
    return rc;
}

int sinks_begin(nami_posterior *p, nami_err *err) { return put_prior(p, 0, err); }

/* A single data set that Markov chains have answered, as is known now: formats that say so at the
   beginning of their files begin anew. */
static int show_chains(nami_posterior *p, nami_err *err)
{
    if (p->q.nset > 1 || p->shown.first || !p->blocks.found[0].rhat || p->spec.chains) return 0;
    set_chains(p);
    for (size_t i = 0; i < p->sinks.n && p->spec.chains; i++) {
        struct sink *s = &p->sinks.a[i];
        if (!begins_anew(s)) continue;
        posterior_drop(s->file);
        int rc = posterior_open(s->path, &p->spec, &s->file, err);
        if (rc) return rc;
    }
    return p->spec.chains ? put_prior(p, 1, err) : 0;
}

int sinks_put(nami_posterior *p, nami_err *err)
{
    const struct answer *a = &p->answer;
    const struct shown *s = &p->shown;
    struct posterior_block b = {
        .n = s->n, .x = s->z, .log_weight = s->logw, .log_p = s->logp, .log_q = s->logq};
    struct posterior_block predicted = {.n = s->n, .x = s->pred};
    for (size_t i = 0; i < a->n && p->picture.var; i++)
        gallery_put(&p->picture, (a->first + i) / p->q.per, a->logw ? exp(a->logw[i]) : 1, a->n,
                    a->pred, i);
    struct posterior_block likelihood = {.n = s->n, .x = p->likelihood.block};
    int rc = a->n ? show_chains(p, err) : 0;
    if (!rc) rc = put_all(p, POSTERIOR, 0, &b, err);
    if (!rc) rc = put_all(p, PREDICTIVE, 0, &predicted, err);
    return rc ? rc : put_all(p, LIKELIHOOD, 0, &likelihood, err);
}

int sinks_close(nami_posterior *p, nami_err *err)
{
    for (size_t i = 0; i < p->sinks.n; i++) {
        struct sink *s = &p->sinks.a[i];
        struct posterior *file = s->file;
        nami_err why = {0};
        s->file = NULL; /* closed in any case */
        int rc = file ? posterior_close(file, p->found, &why)
                      : gallery_save(&p->picture, p->asked.x, p->q.nset, s->path, &why);
        if (rc) return err_in_file(err, s->path, &why);
    }
    return 0;
}

void sinks_drop(nami_posterior *p)
{
    for (size_t i = 0; i < p->sinks.n; i++) posterior_drop(p->sinks.a[i].file);
    vec_free(&p->sinks);
    gallery_free(&p->picture);
}
