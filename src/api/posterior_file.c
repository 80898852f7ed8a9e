/* posterior_file.c: nami_posterior_write: draws to files as they are made. */
#include <math.h>
#include <string.h>

#include "api/posterior.h"
#include "base/err.h"
#include "base/file.h"

int is_picture(const char *path) { return str_ends(path, strlen(path), ".png"); }

void sinks_spec(nami_posterior *p)
{
    const struct layout *l = &p->layout, *seen = &p->seen;
    int weighted = p->method->weighted;
    p->note[0] = (struct posterior_note){"model", model_file_name(p->net->net.model), 0};
    p->note[1] = (struct posterior_note){"seed", NULL, (double)p->opt.seed};
    p->note[2] = (struct posterior_note){"method", p->method->name, 0};
    p->spec = (struct posterior_spec){.nset = p->q.nset,
                                      .log_weight = weighted,
                                      .log_p = weighted,
                                      .log_q = 1,
                                      .note = p->note,
                                      .nnote = 3};
    p->spec.part[POSTERIOR] = (struct posterior_group){p->q.per, l->nvar, l->var};
    if (p->opt.predict && seen->nvar)
        p->spec.part[PREDICTIVE] = (struct posterior_group){p->q.per, seen->nvar, seen->var};
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

int sinks_put(nami_posterior *p, nami_err *err)
{
    const struct answer *a = &p->answer;
    struct posterior_block b = {
        .n = a->n, .x = a->z, .log_weight = a->logw, .log_p = a->logp, .log_q = a->logq};
    struct posterior_block predicted = {.n = a->n, .x = a->pred};
    for (size_t i = 0; i < a->n && p->picture.var; i++)
        gallery_put(&p->picture, (a->first + i) / p->q.per, a->logw ? exp(a->logw[i]) : 1, a->n,
                    a->pred, i);
    for (size_t i = 0; i < p->sinks.n && a->n; i++) {
        struct posterior *file = p->sinks.a[i].file;
        nami_err why = {0};
        if (!file) continue;
        int rc = posterior_put(file, POSTERIOR, &b, &why);
        if (!rc && a->pred && p->spec.part[PREDICTIVE].ndraw)
            rc = posterior_put(file, PREDICTIVE, &predicted, &why);
        if (rc) return err_in_file(err, p->sinks.a[i].path, &why);
    }
    return 0;
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
