/* problem.c: from a structure and the user's options to an inversion problem. */
#include "model/problem.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"

/* The weight of a node is its number of states, for a vector times its size; without states, its
   size plus one, so that scalars also count. */
static int weight(const struct bn_node *x)
{
    int64_t w = x->nstate > 0 ? (int64_t)x->nstate * x->size : (int64_t)x->size + 1;
    return w > 1 << 20 ? 1 << 20 : (int)w;
}

static const char *const verify_names[] = {"none", "sample", "full", "auto", NULL};

static int choose(const char *const *names, const char *name, const char *what, int *out,
                  nami_err *err)
{
    for (*out = 0; names[*out]; ++*out)
        if (strcmp(names[*out], name) == 0) return 0;
    return err_set(err, NAMI_EUSAGE, "no %s is called '%.60s'", what, name);
}

static int check_options(struct inversion *v, const nami_options *o, nami_err *err)
{
    int mode, verify, rc;
    if ((rc = choose(mode_names, o->mode ? o->mode : "best", "mode", &mode, err)) ||
        (rc = choose(verify_names, o->verify ? o->verify : "auto", "verification", &verify, err)))
        return rc;
    v->p.mode = (enum mode)mode;
    v->verify = (enum verify)verify;
    if (!(v->method = method_by_name(o->method ? o->method : "nami")))
        return err_set(err, NAMI_EUSAGE, "no method is called '%s'; see 'nami list methods'",
                       o->method);
    if (!(v->p.criterion = criterion_by_name(o->criterion ? o->criterion : "min-fill")))
        return err_set(err, NAMI_EUSAGE, "no criterion is called '%s'; see 'nami list criteria'",
                       o->criterion);
    if (o->restarts < 0) return err_set(err, NAMI_EUSAGE, "restarts must not be negative");
    v->restarts = o->restarts;
    v->seed = o->seed;
    v->p.keep_barren = o->barren && strcmp(o->barren, "keep") == 0;
    return 0;
}

int inversion_init(struct inversion *out, const struct bn *bn, const nami_options *opt,
                   nami_err *err)
{
    static const nami_options defaults;
    int n = bn_n(bn);
    memset(out, 0, sizeof *out);
    int rc = check_options(out, opt ? opt : &defaults, err);
    if (rc) return rc;
    out->observed = raw_array(unsigned char, n);
    out->nuisance = raw_array(unsigned char, n);
    out->stage = raw_array(int, n);
    out->size = raw_array(int, n);
    if (!out->observed || !out->nuisance || !out->stage || !out->size) {
        inversion_fini(out);
        return err_nomem(err);
    }
    int any_nuisance = 0, any_stage = 0;
    for (int v = 0; v < n; v++) {
        const struct bn_node *x = &bn->node.a[v];
        out->observed[v] = x->observed;
        out->nuisance[v] = x->nuisance && !x->observed;
        out->stage[v] = x->stage;
        out->size[v] = weight(x);
        any_nuisance |= out->nuisance[v];
        any_stage |= x->stage != 0;
    }
    out->p.g = &bn->dag;
    out->p.observed = out->observed;
    out->p.nuisance = any_nuisance ? out->nuisance : NULL;
    out->p.stage = any_stage ? out->stage : NULL;
    out->p.size = out->size;
    return 0;
}

void inversion_fini(struct inversion *v)
{
    free(v->observed);
    free(v->nuisance);
    free(v->stage);
    free(v->size);
    free(v->exact);
    free(v->exact_kind);
    memset(v, 0, sizeof *v);
}

static int name_exact(const struct inversion *v, struct inverse *h, nami_err *err)
{
    for (int i = 0; i < h->nexact; i++)
        if (inverse_name_exact(h, i, v->exact_kind ? v->exact_kind[h->perm[i]] : NULL))
            return err_set(err, NAMI_EBUG, "an exact factor has no name that can be stored");
    return 0;
}

int inversion_run(const struct inversion *v, struct inverse **out, nami_err *err)
{
    struct problem p = v->p;
    p.exact = v->exact;
    int rc = invert(&p, v->method, v->restarts, v->seed, out, err);
    if (rc) return rc;
    rc = name_exact(v, *out, err);
    if (!rc) rc = certify(*out, p.g, v->verify, v->seed, err);
    if (rc) {
        inverse_free(*out);
        *out = NULL;
    }
    return rc;
}
