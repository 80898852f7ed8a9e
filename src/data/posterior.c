/* posterior.c: the table of formats of posterior files, and functions shared by them. */
#include "data/posterior.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/dict.h"
#include "base/err.h"
#include "data/posterior_impl.h"

const struct posterior_format *const posterior_formats[] = {
#define POSTERIOR(id) &posterior_##id,
#include "data/posterior.def"
#undef POSTERIOR
    NULL};

const struct posterior_format *posterior_format_of(const char *path)
{
    for (int i = 0; posterior_formats[i]; i++)
        if (str_ends(path, strlen(path), posterior_formats[i]->ending)) return posterior_formats[i];
    return NULL;
}

/* ---- for the formats ---------------------------------------------------------------------- */

const char *const part_name[NPART] = {"posterior", "posterior_predictive", "prior",
                                      "prior_predictive", "log_likelihood"};
const struct stat_name stat_name[NSTAT] = {
    {"log_weight", "log_weight"}, {"log_p", "lp"}, {"log_q", "log_q"}};
const char *const found_name[NFOUND] = {"khat", "ess", "log_evidence", "log_evidence_se", "ood_p"};

size_t part_sets(const struct posterior_spec *s, enum posterior_part part)
{
    return part == PRIOR || part == PRIOR_PREDICTIVE ? 1 : s->nset;
}

size_t part_draws(const struct posterior_spec *s, enum posterior_part part)
{
    return part_sets(s, part) * s->part[part].ndraw;
}

int stat_is(const struct posterior_spec *s, int k)
{
    return k == 0 ? s->log_weight : k == 1 ? s->log_p : s->log_q;
}

const double *stat_of(const struct posterior_block *b, int k)
{
    return k == 0 ? b->log_weight : k == 1 ? b->log_p : b->log_q;
}

double found_of(const struct posterior_found *f, int k)
{
    const struct diagnostics *d = &f->diagnostics;
    return k == 0 ? d->khat : k == 1 ? d->ess : k == 2 ? d->log_z : k == 3 ? d->log_se : f->ood_p;
}

void block_rows(const double *x, size_t n, size_t size, size_t first, size_t count, double *out)
{
    for (size_t e = 0; e < size; e++)
        for (size_t i = 0; i < count; i++) out[i * size + e] = x[e * n + first + i];
}

size_t rows_a_time(size_t size) { return size < 1 << 15 ? (1 << 15) / (size + 1) + 1 : 1; }

int fits_int64(double x) { return fabs(x) < 0x1p63 && x == floor(x); }

/* ---- the front ------------------------------------------------------------------------------ */

static int holds(const struct posterior_format *f, unsigned parts)
{
    return !parts || (!f->no_draws && (f->parts & parts) == parts);
}

/* "BEFORE 'WHAT'; AFTER .nc, .npz or ...": the endings of formats that hold these parts; 0: of all.
 */
static int say_endings(unsigned parts, const char *before, const char *what, const char *after,
                       nami_err *err)
{
    struct str list = {0};
    int n = 0, k = 0;
    for (int i = 0; posterior_formats[i]; i++) n += holds(posterior_formats[i], parts);
    for (int i = 0; posterior_formats[i]; i++)
        if (holds(posterior_formats[i], parts)) str_or(&list, posterior_formats[i]->ending, k++, n);
    int rc = list.oom ? err_nomem(err)
                      : err_set(err, NAMI_EUSAGE, "%s '%s'; %s %s", before, what, after, list.s);
    str_free(&list);
    return rc;
}

int posterior_format_check(const char *path, nami_err *err)
{
    const struct posterior_format *f = posterior_format_of(path);
    if (!f) return say_endings(0, "cannot tell what to write to", path, "end it in", err);
    if (!f->lacks) return 0;
    return err_set(err, NAMI_EUSAGE,
                   "this nami was built without %s, which %s files need; install it and build "
                   "nami again, or write .npz",
                   f->lacks, f->ending);
}

/* Can this be counted, in bytes? */
static int check_size(const struct posterior_spec *s, enum posterior_part part, nami_err *err)
{
    const struct posterior_group *g = &s->part[part];
    size_t elements = 1, n; /* the stats count as one */
    int over = 0;
    for (int v = 0; v < g->nvar; v++)
        over |= __builtin_add_overflow(elements, draws_var_size(&g->var[v]) + NSTAT, &elements);
    over |= __builtin_mul_overflow(part_sets(s, part), g->ndraw, &n);
    over |= __builtin_mul_overflow(n, elements, &n);
    over |= n > SIZE_MAX / 16;
    return over ? err_set(err, NAMI_ELIMIT, "too many draws for one file") : 0;
}

static int check_names(const struct posterior_group *g, nami_err *err)
{
    struct dict d = {0};
    int rc = 0;
    for (int v = 0; v < g->nvar && !rc; v++) {
        int fresh = 1;
        const char *name = g->var[v].name;
        if (dict_add(&d, name, strlen(name), &fresh) < 0)
            rc = err_nomem(err);
        else if (!fresh)
            rc = err_set(err, NAMI_EINPUT, "two variables are called '%s'", name);
    }
    dict_free(&d);
    return rc;
}

static int check(const struct posterior_format *f, const struct posterior_spec *s, nami_err *err)
{
    int rc = 0;
    if (s->nset < 1 || s->part[POSTERIOR].ndraw < 1)
        return err_set(err, NAMI_EUSAGE, "a posterior file needs at least one draw");
    for (int k = 0; k < NPART && !rc; k++) {
        if (s->part[k].ndraw == 0) continue;
        if (k == LIKELIHOOD && !(f->parts & 1U << k)) continue; /* computed in any case */
        if (!(f->parts & 1U << k))
            return say_endings(1U << k, "this format cannot hold the part", part_name[k], "write",
                               err);
        if (!(rc = check_size(s, (enum posterior_part)k, err))) rc = check_names(&s->part[k], err);
    }
    struct posterior_group observed = {0, s->observed.nvar, s->observed.var},
                           constant = {0, s->constant.nvar, s->constant.var};
    if (!rc && s->chains > 1 && s->part[POSTERIOR].ndraw % s->chains)
        rc = err_set(err, NAMI_EBUG, "chains of different lengths");
    if (!rc) rc = check_names(&observed, err);
    return rc ? rc : check_names(&constant, err);
}

int posterior_open(const char *path, const struct posterior_spec *spec, struct posterior **out,
                   nami_err *err)
{
    const struct posterior_format *f = posterior_format_of(path);
    *out = NULL;
    int rc = posterior_format_check(path, err);
    if (!rc) rc = check(f, spec, err);
    if (rc) return rc;
    struct posterior *p = new_array(struct posterior, 1);
    if (!p) return err_nomem(err);
    p->format = f;
    p->spec = spec;
    rc = file_begin(&p->file, path, err);
    if (rc) {
        free(p);
        return rc;
    }
    if (!p->file.tmp.s && !f->pipe)
        rc = err_set(err, NAMI_EUSAGE,
                     "%s files cannot be written to a pipe or a device; write a "
                     "file, or .csv",
                     f->ending);
    if (!rc) rc = f->open(p, err);
    if (rc)
        posterior_drop(p);
    else
        *out = p;
    return rc;
}

int posterior_put(struct posterior *p, enum posterior_part part, const struct posterior_block *b,
                  nami_err *err)
{
    size_t all = part_draws(p->spec, part);
    int rc = 0;
    if (b->n > all - p->done[part])
        rc = err_set(err, NAMI_EBUG, "more than %zu draws for the part '%s'", all, part_name[part]);
    for (int k = 0; k < NSTAT && part == POSTERIOR && b->n; k++)
        if (!rc && stat_is(p->spec, k) && !stat_of(b, k))
            rc = err_set(err, NAMI_EBUG, "draws without %s", stat_name[k].npz);
    if (!rc && b->n && p->format->parts & 1U << part) rc = p->format->put(p, part, b, err);
    p->done[part] += b->n;
    if (rc) p->failed = 1;
    return rc;
}

static int finish(struct posterior *p, const struct posterior_found *found, nami_err *err)
{
    if (p->failed) return err_set(err, NAMI_EBUG, "the file was given up before");
    for (int k = 0; k < NPART; k++)
        if (p->done[k] < part_draws(p->spec, (enum posterior_part)k))
            return err_set(err, NAMI_EBUG, "the part '%s' has %zu draws and should have %zu",
                           part_name[k], p->done[k], part_draws(p->spec, (enum posterior_part)k));
    return p->format->close(p, found, err);
}

int posterior_close(struct posterior *p, const struct posterior_found *found, nami_err *err)
{
    int rc = finish(p, found, err);
    if (rc) {
        posterior_drop(p);
        return rc;
    }
    p->format->free(p);
    rc = file_end(&p->file, 0, err);
    free(p);
    return rc;
}

void posterior_drop(struct posterior *p)
{
    if (!p) return;
    p->format->free(p);
    file_drop(&p->file);
    free(p);
}
