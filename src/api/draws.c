/* draws.c: draws of variables in nami.h: simulated from a model, to files, texts and images. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "base/err.h"
#include "base/exchange.h"
#include "base/file.h"
#include "base/parallel.h"
#include "model/eval.h"
#include "report/gallery.h"

/* ---- made ------------------------------------------------------------------------------- */

void nami_draws_free(nami_draws *draws)
{
    if (!draws) return;
    arena_free(&draws->mem);
    free(draws->x);
    free(draws);
}

static int finish(nami_draws *draws, int rc, nami_draws **out)
{
    if (rc)
        nami_draws_free(draws);
    else
        *out = draws;
    return rc;
}

static nami_draws *begin(double *x, nami_err *err)
{
    nami_draws *draws = new_array(nami_draws, 1);
    if (draws)
        draws->x = x;
    else
        free(x), err_nomem(err);
    return draws;
}

int draws_of_model(const nami_model *w, const nami_simulate_options *how, double *x,
                   nami_draws **out, nami_err *err)
{
    nami_draws *draws = begin(x, err);
    if (!draws) return NAMI_ENOMEM;
    draws->w = w;
    draws->how = *how;
    int rc =
        model_draws(w->m, (size_t)how->draws, x, how->only, how->all, &draws->mem, &draws->d, err);
    draws->how.only = NULL; /* the caller's text */
    draws->chosen = how->only != NULL;
    return finish(draws, rc, out);
}

int draws_of_rows(int num_vars, const struct draws_var *var, size_t num_draws, double *x,
                  nami_draws **out, nami_err *err)
{
    nami_draws *draws = begin(x, err);
    if (!draws) return NAMI_ENOMEM;
    struct draws_var *own = arena_array(&draws->mem, struct draws_var, num_vars + 1);
    if (own) memcpy(own, var, sizeof *own * (size_t)num_vars);
    draws->d = (struct draws){.n = num_draws, .nvar = num_vars, .var = own, .x = x};
    return finish(draws, own ? 0 : err_nomem(err), out);
}

/* ---- by one process or several -------------------------------------------------------------- */

static int draw_some(const struct model *m, const nami_simulate_options *o, size_t first, size_t n,
                     double *x, nami_err *err)
{
    return (o->training ? model_simulate_training : model_simulate)(
        m, o->seed, first, n, parallel_threads(o->threads), x, err);
}

/* Draws of process `rank`: from ... to - 1.  A simulator's draws are all process 0's, since they
   may depend on how many are asked for at once. */
static void draws_of(const struct model *m, const nami_simulate_options *o, int rank, size_t *from,
                     size_t *to)
{
    size_t n = (size_t)o->draws, groups = (n + 7) / 8, all = (size_t)exchange_size(o->exchange);
    if (model_simulator_command(m)) {
        *from = rank ? n : 0;
        *to = n;
        return;
    }
    *from = groups * (size_t)rank / all * 8;
    *to = groups * ((size_t)rank + 1) / all * 8;
    if (*from > n) *from = n;
    if (*to > n) *to = n;
}

/* Those of another process are put in their place. */
static int receive_draws(const struct model *m, const nami_simulate_options *o, int rank, double *x,
                         nami_err *err)
{
    size_t rows = (size_t)model_num_rows(m), n = (size_t)o->draws, from, to;
    draws_of(m, o, rank, &from, &to);
    double *some = raw_array(double, rows *(to - from) + 1);
    if (!some) return err_nomem(err);
    int rc = exchange_receive(o->exchange, rank, EXCHANGE_DRAWS, some,
                              sizeof *some * rows * (to - from));
    for (size_t r = 0; r < rows && !rc; r++)
        memcpy(x + r * n + from, some + r * (to - from), sizeof *x * (to - from));
    free(some);
    return rc ? exchange_failed(err) : 0;
}

/* x: (rows, draws); of the other processes, the first numbers of it are their share. */
static int draw_shared(const struct model *m, const nami_simulate_options *o, double *x,
                       nami_err *err)
{
    const nami_exchange *with = o->exchange;
    size_t rows = (size_t)model_num_rows(m), n = (size_t)o->draws, from, to;
    int rc = exchange_check(with, err);
    if (rc || exchange_size(with) == 1) return rc ? rc : draw_some(m, o, 0, n, x, err);
    draws_of(m, o, with->rank, &from, &to);
    if (to > from) rc = draw_some(m, o, from, to - from, x, err);
    if (rc) return rc;
    if (with->rank)
        return exchange_send(with, 0, EXCHANGE_DRAWS, x, sizeof *x * rows * (to - from)) ||
                       exchange_wait(with)
                   ? exchange_failed(err)
                   : 0;
    for (size_t r = rows; r-- > 0;) memmove(x + r * n, x + r * to, sizeof *x * to);
    for (int k = 1; k < with->num_ranks && !rc; k++) rc = receive_draws(m, o, k, x, err);
    return rc;
}

int nami_model_draws(const nami_model *w, const nami_simulate_options *opt, nami_draws **out,
                     nami_err *err)
{
    nami_simulate_options o;
    double *x = NULL;
    err_clear(err);
    *out = NULL;
    int rc = needs_model(w, err);
    if (!rc) rc = options_complete("simulate", opt, sizeof o, &o, err);
    if (rc) return rc;
    size_t n = (size_t)o.draws;
    if (!(x = raw_array(double, (size_t)model_num_rows(w->m) * n + 1))) return err_nomem(err);
    tell_program(w, o.watch);
    rc = draw_shared(w->m, &o, x, err);
    if (!rc && !exchange_rank(o.exchange)) return draws_of_model(w, &o, x, out, err);
    free(x);
    return rc;
}

/* ---- asked ------------------------------------------------------------------------------ */

size_t nami_draws_size(const nami_draws *draws) { return draws->d.n; }

int nami_draws_variables(const nami_draws *draws) { return draws->d.nvar; }

int nami_draws_variable(const nami_draws *draws, int i, nami_variable *out)
{
    if (i < 0 || i >= draws->d.nvar) return NAMI_EUSAGE;
    const struct draws_var *v = &draws->d.var[i];
    *out = (nami_variable){.name = v->name,
                           .num_dims = v->ndim,
                           .first_row = v->base,
                           .num_elements = draws_var_size(v)};
    memcpy(out->dim, v->dim, sizeof v->dim);
    return 0;
}

const double *nami_draws_values(const nami_draws *draws) { return draws->d.x; }

/* ---- images ----------------------------------------------------------------------------- */

static int is_image(const char *path) { return str_ends(path, strlen(path), ".png"); }

static int is_observed(const nami_draws *draws, const struct draws_var *v)
{
    const struct model *m = draws->w ? draws->w->m : NULL;
    int a = m ? model_find_array(m, v->name, strlen(v->name)) : -1;
    return a >= 0 && element_is_observed(m, array_first(m, a));
}

/* Of variables that were not chosen, one that is observed comes first. */
static int find_image(const nami_draws *draws, const struct draws_var **out, nami_err *err)
{
    const struct draws *d = &draws->d;
    int height, width;
    for (int v = 0; v < d->nvar && !draws->chosen; v++)
        if (is_observed(draws, &d->var[v]) && gallery_shape(&d->var[v], &height, &width)) {
            *out = &d->var[v];
            return 0;
        }
    return gallery_find(d->nvar, d->var, out, err);
}

/* The mean of so many draws of the observed rows given the latents. */
static int average(const nami_draws *draws, double *mean, nami_err *err)
{
    const nami_simulate_options *how = &draws->how;
    size_t n = draws->d.n, size = (size_t)model_num_rows(draws->w->m) * n;
    double *x = raw_array(double, size + 1);
    int rc = x ? 0 : err_nomem(err);
    memset(mean, 0, sizeof *mean * size);
    for (int k = 0; k < how->image_mean && !rc; k++) {
        memcpy(x, draws->x, sizeof *x * size);
        rc = model_predict(draws->w->m, how->seed, ((uint64_t)k + 1) * ((n + 7) / 8 * 8), n,
                           parallel_threads(how->threads), x, err);
        for (size_t i = 0; i < size && !rc; i++) mean[i] += x[i] / how->image_mean;
    }
    free(x);
    return rc;
}

static int write_image(const nami_draws *draws, const char *path, nami_err *err)
{
    const struct draws_var *v = NULL;
    const struct draws *d = &draws->d;
    double *mean = NULL;
    int rc = find_image(draws, &v, err);
    /* rows of the model: not those of an array with constants among its elements */
    int again = !rc && draws->how.image_mean > 0 && is_observed(draws, v) &&
                v->base < (size_t)model_num_rows(draws->w->m);
    if (again) {
        mean = raw_array(double, (size_t)model_num_rows(draws->w->m) * d->n + 1);
        rc = mean ? average(draws, mean, err) : err_nomem(err);
    }
    if (!rc) rc = gallery_draws(v, d->n, again ? mean : d->x, path, err);
    free(mean);
    return rc;
}

/* ---- files and texts -------------------------------------------------------------------- */

int nami_draws_check(const char *path, nami_err *err)
{
    err_clear(err);
    return is_image(path) ? 0 : draws_format_check(path, err);
}

int nami_draws_write(const nami_draws *draws, const char *path, nami_err *err)
{
    struct str out = {0};
    int rc = nami_draws_check(path, err);
    if (rc) return rc;
    if (is_image(path)) return write_image(draws, path, err);
    rc = draws_format_of(path)->write(&draws->d, &out, err);
    if (!rc) rc = file_write(path, out.s, out.n, err);
    str_free(&out);
    return rc;
}

int nami_draws_describe(const nami_draws *draws, const char *as, char **text, size_t *len,
                        nami_err *err)
{
    const struct draws_format *const *f = draws_formats;
    struct str out = {0};
    err_clear(err);
    *text = NULL;
    while (*f && strcmp((*f)->name, as) != 0) f++;
    if (!*f) return no_such_form(as, "json, csv, npz", err);
    int rc = (*f)->write(&draws->d, &out, err);
    if (!rc) return give_text(&out, text, len, err);
    str_free(&out);
    return rc;
}
