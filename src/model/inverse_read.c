/* inverse_read.c: parses an inverse from the JSON that report/json.c writes with parents as runs:
   the stored inverse of a trained network. */
#include "model/inverse_read.h"

#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/json.h"
#include "graph/invert.h"

struct reader {
    const struct bn *bn;
    const json_t *root;
    struct inverse *h;
};

static int broken(nami_err *err, const char *what)
{
    return err_set(err, NAMI_EINPUT, "the stored inverse has no usable '%s'", what);
}

static int node_of(const struct reader *r, const json_t *name)
{
    const char *s = json_string_value(name);
    return s ? bn_find(r->bn, s, strlen(s)) : -1;
}

/* Nodes by name, in three disjoint lists. */
struct nodes {
    int *node, n;
};

static int take_nodes(const struct reader *r, const char *key, unsigned char *seen,
                      struct nodes *out, nami_err *err)
{
    const json_t *list = json_object_get(r->root, key);
    size_t size = json_array_size(list);
    if (!json_is_array(list) || size > (size_t)bn_n(r->bn)) return broken(err, key);
    if (!(out->node = raw_array(int, size + 1))) return err_nomem(err);
    for (size_t i = 0; i < size; i++) {
        int v = node_of(r, json_array_get(list, i));
        if (v < 0 || seen[v]) return broken(err, key);
        seen[v] = 1;
        out->node[out->n++] = v;
    }
    return 0;
}

/* Parents of a factor: later latents and observed variables. */
static int take_runs(struct reader *r, int i, const json_t *factor)
{
    struct inverse *h = r->h;
    const json_t *runs = json_object_get(factor, "runs");
    int size = h->nlatent + h->nobserved, last = i;
    if (node_of(r, json_object_get(factor, "node")) != h->perm[i] || !json_is_array(runs))
        return NAMI_EINPUT;
    for (size_t k = 0; k < json_array_size(runs); k++) {
        const json_t *run = json_array_get(runs, k);
        json_int_t start = json_integer_value(json_array_get(run, 0)),
                   count = json_integer_value(json_array_get(run, 1));
        if (json_array_size(run) != 2 || start <= last || count < 1 || start > size - count)
            return NAMI_EINPUT;
        if (inverse_add(h, (int)start, (int)count)) return NAMI_ENOMEM;
        last = (int)(start + count - 1);
    }
    inverse_close(h, i);
    return 0;
}

/* Exact factors come first, each with the name of its kind. */
static int take_exact(struct reader *r, const json_t *list)
{
    int n = 0;
    for (int i = 0; i < r->h->nlatent; i++) {
        const char *kind =
            json_string_value(json_object_get(json_array_get(list, (size_t)i), "kind"));
        int exact = kind && strcmp(kind, "exact") == 0;
        if (!exact && (!kind || strcmp(kind, "network") != 0)) return NAMI_EINPUT;
        if (exact && i != n++) return NAMI_EINPUT;
    }
    if (n && inverse_set_exact(r->h, n)) return NAMI_ENOMEM;
    for (int i = 0; i < n; i++) {
        const json_t *name = json_object_get(json_array_get(list, (size_t)i), "exact");
        if (inverse_name_exact(r->h, i, json_string_value(name))) return NAMI_EINPUT;
    }
    return 0;
}

static int take_factors(struct reader *r, nami_err *err)
{
    const json_t *list = json_object_get(r->root, "factors");
    int rc =
        json_is_array(list) && json_array_size(list) >= (size_t)r->h->nlatent ? 0 : NAMI_EINPUT;
    for (int i = 0; i < r->h->nlatent && !rc; i++)
        rc = take_runs(r, i, json_array_get(list, (size_t)i));
    if (!rc) rc = take_exact(r, list);
    return rc == NAMI_ENOMEM ? err_nomem(err) : rc ? broken(err, "factors") : 0;
}

/* The names of methods and modes are those of the tables: they outlive the text. */
static const char *known_mode(const char *name)
{
    for (int i = 0; name && mode_names[i]; i++)
        if (strcmp(mode_names[i], name) == 0) return mode_names[i];
    return NULL;
}

static const char *const properties[NPROPERTY] = {"faithful", "minimal", "natural"};

/* Why a property fails. */
static int take_witness(struct reader *r, enum property p, const json_t *o)
{
    struct witness *w = &r->h->cert.why[p];
    const json_t *trail = json_object_get(o, "trail");
    size_t n = json_array_size(trail);
    w->node = node_of(r, json_object_get(o, "node"));
    w->other = node_of(r, json_object_get(o, "other"));
    if (w->node < 0 || w->other < 0) return NAMI_EINPUT;
    if (!(w->trail = new_array(int, n + 1))) return NAMI_ENOMEM;
    for (size_t i = 0; i < n; i++)
        if ((w->trail[w->ntrail++] = node_of(r, json_array_get(trail, i))) < 0) return NAMI_EINPUT;
    return 0;
}

static int take_property(struct reader *r, enum property p, const json_t *cert)
{
    const json_t *is = json_object_get(cert, properties[p]),
                 *all = json_object_get(cert, "witnesses");
    r->h->cert.is[p] = json_is_true(is) ? 1 : json_is_false(is) ? 0 : -1;
    if (!json_is_false(is)) return 0;
    for (size_t i = 0; i < json_array_size(all); i++) {
        const json_t *o = json_array_get(all, i);
        const char *name = json_string_value(json_object_get(o, "property"));
        if (name && strcmp(name, properties[p]) == 0) return take_witness(r, p, o);
    }
    return NAMI_EINPUT;
}

static int take_certificate(struct reader *r, nami_err *err)
{
    const json_t *c = json_object_get(r->root, "certificate");
    int rc = 0;
    r->h->cert.checked = json_integer_value(json_object_get(c, "checked"));
    r->h->cert.total = json_integer_value(json_object_get(c, "total"));
    for (int p = 0; p < NPROPERTY && !rc; p++) rc = take_property(r, (enum property)p, c);
    return rc == NAMI_ENOMEM ? err_nomem(err) : rc ? broken(err, "certificate") : 0;
}

static int is_observed(const struct bn *bn, int v) { return bn->node.a[v].observed != 0; }

/* Observed variables are observed, latents are not. */
static int perm_fits(const struct bn *bn, const struct nodes *perm, int nlatent)
{
    for (int i = 0; i < perm->n; i++)
        if (is_observed(bn, perm->node[i]) != (i >= nlatent)) return 0;
    return 1;
}

/* A barren latent, which keeps the factor of the model, has no other descendants. */
static int barren_fits(const struct bn *bn, const struct nodes *barren, unsigned char *is)
{
    int ok = 1;
    memset(is, 0, (size_t)bn_n(bn));
    for (int i = 0; i < barren->n && ok; i++) { /* children first */
        ok = !is_observed(bn, barren->node[i]);
        for_children (&bn->dag, barren->node[i], c) ok &= is[c];
        is[barren->node[i]] = 1;
    }
    return ok;
}

static int nuisance_fits(const struct bn *bn, const struct nodes *nuisance)
{
    for (int i = 0; i < nuisance->n; i++)
        if (is_observed(bn, nuisance->node[i])) return 0;
    return 1;
}

/* Every node must have exactly one valid role. */
static int check_roles(const struct reader *r, const struct nodes *perm, const struct nodes *barren,
                       const struct nodes *nuisance, unsigned char *work, nami_err *err)
{
    const json_t *latents = json_object_get(r->root, "latents");
    json_int_t nlatent = json_integer_value(latents);
    if (!json_is_integer(latents) || nlatent < 0 || nlatent > perm->n)
        return broken(err, "latents");
    if (perm->n + barren->n + nuisance->n != bn_n(r->bn) || !perm_fits(r->bn, perm, (int)nlatent))
        return broken(err, "perm");
    if (!barren_fits(r->bn, barren, work)) return broken(err, "barren");
    return nuisance_fits(r->bn, nuisance) ? 0 : broken(err, "nuisance");
}

static int take_names(struct reader *r, nami_err *err)
{
    const char *method = json_string_value(json_object_get(r->root, "method"));
    const struct method *m = method ? method_by_name(method) : NULL;
    if (!m) return broken(err, "method");
    r->h->method = m->name;
    r->h->mode = known_mode(json_string_value(json_object_get(r->root, "mode")));
    return r->h->mode ? 0 : broken(err, "mode");
}

static int build(struct reader *r, nami_err *err)
{
    struct nodes perm = {0}, barren = {0}, nuisance = {0};
    int nlatent = (int)json_integer_value(json_object_get(r->root, "latents"));
    unsigned char *seen = new_array(unsigned char, bn_n(r->bn));
    int rc = seen ? take_nodes(r, "perm", seen, &perm, err) : err_nomem(err);
    if (!rc) rc = take_nodes(r, "barren", seen, &barren, err);
    if (!rc) rc = take_nodes(r, "nuisance", seen, &nuisance, err);
    if (!rc) rc = check_roles(r, &perm, &barren, &nuisance, seen, err);
    if (!rc && !(r->h = inverse_new(bn_n(r->bn), perm.node, nlatent, perm.node + nlatent,
                                    perm.n - nlatent)))
        rc = err_nomem(err);
    if (!rc) {
        r->h->model = barren.node, r->h->nmodel = barren.n, barren.node = NULL;
        r->h->nuisance = nuisance.node, r->h->nnuisance = nuisance.n, nuisance.node = NULL;
        rc = take_names(r, err);
    }
    if (!rc) rc = take_certificate(r, err);
    if (!rc) rc = take_factors(r, err);
    free(perm.node);
    free(barren.node);
    free(nuisance.node);
    free(seen);
    return rc;
}

int inverse_read(const struct bn *bn, const char *text, struct inverse **out, nami_err *err)
{
    struct json_why why;
    struct reader r = {.bn = bn, .root = json_read(text, strlen(text), 0, &why)};
    *out = NULL;
    if (!r.root && why.code == json_error_out_of_memory) return err_nomem(err);
    int rc = json_is_object(r.root) ? build(&r, err) : broken(err, "text");
    json_decref((json_t *)r.root);
    if (rc) inverse_free(r.h);
    *out = rc ? NULL : r.h;
    return rc;
}
