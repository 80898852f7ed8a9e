/* network.c: an inference network with its model and inverse: made, or read from a file without
   inverting the model again. */
#include "net/network.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/file.h"
#include "model/inverse_read.h"
#include "model/read.h"
#include "net/saved.h"

/* ---- making one ------------------------------------------------------------------------- */

int network_invert(struct network *n, nami_err *err)
{
    int rc = n->plan.elbo ? joint_density(n->model, "", err) : 0;
    if (!rc && !n->inverse)
        rc = inversion_init(&n->inversion, model_bn(n->model), &n->plan.invert, err);
    if (!rc && !n->inverse && n->kinds && n->kinds->stage.n) { /* in the order that was settled */
        kinds_take_stages(n->kinds, n->model, n->inversion.stage);
        n->inversion.p.stage = n->inversion.stage;
    }
    if (!rc && !n->inverse)
        rc = exact_invert(n->model, &n->inversion, n->plan.invert.exact, &n->collapse, &n->inverse,
                          err);
    if (!rc && n->inverse->nexact && !(n->rest = inverse_rest(n->inverse))) rc = err_nomem(err);
    if (!rc && n->inverse->nlatent == 0) /* NOLINT: it is there */
        rc = err_set(err, NAMI_EINPUT,
                     "there is nothing to learn: no latent variable has observed descendants");
    return rc;
}

int network_invert_again(struct network *n, const char *mode, nami_err *err)
{
    inverse_free(n->rest);
    inverse_free(n->inverse);
    collapse_free(&n->collapse);
    inversion_fini(&n->inversion);
    n->rest = n->inverse = NULL;
    n->collapse = (struct collapse){0};
    n->plan.invert.mode = mode;
    return network_invert(n, err);
}

static int make(struct network *n, const struct saved *saved, size_t num_draws, const double *x,
                int threads, nami_err *err)
{
    const struct inverse *h = n->rest ? n->rest : n->inverse;
    const double nothing = 0;
    n->plan.net.kinds = n->kinds;
    if (n->untrained) num_draws = 0, x = &nothing;
    int rc = x ? qnet_make_on(&n->q, n->model, h, &n->plan.net, num_draws, x, err)
               : qnet_make(&n->q, n->model, h, &n->plan.net, saved, threads, err);
    if (n->collapse.step.n) n->q.collapse = &n->collapse;
    if (n->q.opt.arch == &arch_messages) { /* as if asked for: files say what was chosen */
        n->plan.net.arch = n->q.opt.arch;
        n->plan.options.net = n->q.opt.arch->name;
    }
    if (!rc && n->plan.elbo && n->q.late.n)
        rc = err_set(err, NAMI_EINPUT,
                     "messages do not suit this model: it is learned, and has crossed effects");
    if (!rc && n->plan.elbo) rc = elbo_make(&n->elbo, &n->q, err);
    return rc;
}

int network_make(struct network *n, size_t num_draws, const double *x, int threads, nami_err *err)
{
    return make(n, NULL, num_draws, x, threads, err);
}

void network_free(struct network *n)
{
    elbo_free(&n->elbo);
    qnet_free(&n->q);
    inverse_free(n->rest);
    inverse_free(n->inverse);
    collapse_free(&n->collapse);
    inversion_fini(&n->inversion);
    model_free(n->own_model);
    kinds_free(&n->own_kinds);
    if (!n->base) st_free(&n->file);
    str_free(&n->bytes);
    arena_free(&n->mem);
}

/* ---- instances of open networks ----------------------------------------------------------- */

/* Is the constant of "name=value" one of the data set? */
static int is_given(const struct dataset *data, const char *set)
{
    return dataset_find(data, set, strcspn(set, "=")) != NULL;
}

static int read_design(struct network *n, const struct dataset *data, nami_err *err)
{
    const struct model *m = n->base->model;
    const char **set = arena_array(&n->mem, const char *, n->plan.nset + 1);
    struct data one = {0};
    int num = 0;
    if (!(n->model = n->own_model = model_new()) || !set || vec_push(&one.set, *data))
        return err_nomem(err);
    for (int i = 0; i < n->plan.nset; i++)
        if (!is_given(data, n->plan.set[i])) set[num++] = n->plan.set[i];
    struct model_options opt = {.set = set, .nset = num, .observe = n->plan.observe};
    int rc = model_copy_data(n->model, &one, err);
    free(one.set.a); /* the values are another's */
    const char *text = model_text(m);
    return rc ? rc
              : model_parse(n->model, model_file_name(m), text, strlen(text), model_dialect(m),
                            &opt, err);
}

int network_instance(struct network *n, const struct network *base, const struct dataset *data,
                     const char *observe, nami_err *err)
{
    *n = (struct network){
        .plan = base->plan, .base = base, .kinds = base->kinds, .file = base->file};
    if (observe && !(n->plan.observe = arena_strndup(&n->mem, observe, strlen(observe))))
        return err_nomem(err);
    int rc = read_design(n, data, err);
    return rc ? rc : network_invert(n, err);
}

/* ---- layers and weights ------------------------------------------------------------------- */

/* A layer that is used again has been seen. */
static int is_again(const struct block *b, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (b[k].layer->w == b[i].layer->w) return 1;
    return 0;
}

const struct block *network_layer(const struct network *n, size_t i)
{
    const struct block *b = n->plan.elbo ? n->elbo.block.a : n->q.block.a;
    size_t all = n->plan.elbo ? n->elbo.block.n : n->q.block.n;
    if (i < n->q.block.n) return &b[i];
    i -= n->q.block.n;
    for (size_t k = n->q.block.n; k < all; k++)
        if (!is_again(b, k) && !i--) return &b[k];
    return NULL;
}

size_t network_nparam(const struct network *n)
{
    return n->plan.elbo ? n->elbo.prog.nparam : n->q.prog.nparam;
}

int network_weights(struct network *n, float *param, nami_err *err)
{
    if (n->plan.elbo) elbo_start(&n->elbo, 0, param); /* what is not learnt */
    int rc = network_take_weights(n, param, err);
    if (!rc && n->plan.elbo) elbo_model(&n->elbo, param);
    return rc;
}

/* ---- reading one -------------------------------------------------------------------------- */

static int read_model(struct network *n, nami_err *err)
{
    const char *model = st_get(&n->file, "model"), *name = st_get(&n->file, "file"),
               *data = st_get(&n->file, "data"), *dialect = st_get(&n->file, "dialect");
    if (!model) return network_broken("model", err);
    if (!name) return network_broken("file", err);
    if (!data) return network_broken("data", err);
    if (!dialect || (strcmp(dialect, "bugs") != 0 && strcmp(dialect, "native") != 0))
        return network_broken("dialect", err);
    struct model_options opt = {
        .set = n->plan.set, .nset = n->plan.nset, .observe = n->plan.observe};
    if (!(n->model = n->own_model = model_new())) return err_nomem(err);
    int rc = strcmp(data, "{}") == 0 ? 0 : model_give_data(n->model, data, strlen(data), err);
    if (rc) return rc;
    model_lock_simulator(n->model);
    return model_parse(n->model, name, model, strlen(model),
                       strcmp(dialect, "bugs") == 0 ? BUGS : NATIVE, &opt, err);
}

/* The inverse is the one that the file has: how ties are broken may change between versions. */
static int read_inverse(struct network *n, nami_err *err)
{
    const char *text = st_get(&n->file, "inverse");
    if (!text) return network_broken("inverse", err);
    int rc = inversion_init(&n->inversion, model_bn(n->model), &n->plan.invert, err);
    return rc ? rc : inverse_read(model_bn(n->model), text, &n->inverse, err);
}

static int read_exact(struct network *n, nami_err *err)
{
    return exact_again(n->model, &n->inversion, n->inverse, &n->collapse, err);
}

static int parse(struct network *n, struct saved *saved, int threads, nami_err *err)
{
    int rc = network_open(n, err);
    if (!rc) rc = plan_parse(&n->plan, st_get(&n->file, "settings"), &n->mem, err);
    if (!rc) rc = read_model(n, err);
    if (!rc) rc = plan_derive(&n->plan, model_learns(n->model), err);
    if (!rc) rc = read_inverse(n, err);
    if (!rc) rc = read_exact(n, err);
    if (!rc) rc = network_invert(n, err);
    const char *kinds = st_get(&n->file, "kinds");
    if (!rc && kinds) {
        n->kinds = &n->own_kinds;
        rc = kinds_parse(n->kinds, kinds, err);
    } else if (!rc) {
        rc = saved_open(saved, st_get(&n->file, "network"), err);
    }
    return rc ? rc : make(n, kinds ? NULL : saved, 0, NULL, threads, err);
}

/* ---- for another model --------------------------------------------------------------------- */

/* Latents and observations must be the same. */
static int check_variables(const struct network *base, const struct model *model, nami_err *err)
{
    static const char *const what[] = {"latent", "observed"};
    const struct bn *a = model_bn(base->model), *b = model_bn(model);
    for (int v = 0; v < bn_n(a); v++) {
        const char *name = bn_name(a, v);
        int u = bn_find(b, name, strlen(name)), seen = a->node.a[v].observed;
        if (u >= 0 && b->node.a[u].observed != seen)
            return err_set(err, NAMI_EINPUT,
                           "%.60s is %s for the network, and %s in the changed model", name,
                           what[seen], what[!seen]);
        if (u >= 0) continue;
        return err_set(err, NAMI_EINPUT, "%.60s, %s for the network, is not in the changed model",
                       name, what[seen]);
    }
    for (int u = 0; u < bn_n(b); u++) {
        const char *name = bn_name(b, u);
        if (bn_find(a, name, strlen(name)) < 0)
            return err_set(err, NAMI_EINPUT,
                           "%.60s, %s in the changed model, is not in the network", name,
                           what[b->node.a[u].observed]);
    }
    return 0;
}

int network_for_model(struct network *n, const struct network *base, struct model *model,
                      int threads, nami_err *err)
{
    struct saved saved = {0};
    *n = (struct network){.plan = base->plan, .base = base, .file = base->file, .model = model};
    n->plan.net.like = &base->q;
    if (base->kinds || base->plan.elbo)
        return err_set(err, NAMI_EUSAGE,
                       "an open network, or one of a learned model, cannot be asked with another "
                       "model");
    int rc = check_variables(base, model, err);
    if (!rc && (rc = read_inverse(n, err)) == NAMI_EINPUT)
        err_set(err, NAMI_EINPUT,
                "in the changed model, data depend on latents that they did not depend on before, "
                "for which the network has no factors; train a network for this model");
    if (!rc && (rc = read_exact(n, err)) == NAMI_EINPUT)
        err_set(err, NAMI_EINPUT,
                "latents that the network integrates out exactly cannot be in the changed model; "
                "a network for all latents ('exact' set to none in training) can be asked with it");
    if (!rc) rc = network_invert(n, err);
    if (!rc) rc = saved_open(&saved, st_get(&n->file, "network"), err);
    if (!rc) rc = make(n, &saved, 0, NULL, threads, err);
    saved_close(&saved);
    return rc;
}

int network_parse(struct network *n, int threads, nami_err *err)
{
    struct saved saved = {0};
    int rc = parse(n, &saved, threads, err);
    saved_close(&saved);
    if (rc != NAMI_EUSAGE) return rc;
    if (err) err->code = NAMI_EINPUT; /* the options are the file's, not the caller's */
    return NAMI_EINPUT;
}

int network_read(struct network *n, const char *path, int threads, nami_err *err)
{
    int rc = file_read(path, &n->bytes, err);
    return rc ? rc : network_parse(n, threads, err);
}

/* The length of a header in JSON, in 8 bytes of which the last are 0: no text begins like that. */
int network_is(const char *path)
{
    char head[9] = "";
    struct stat st;
    if (stat(path, &st) || !S_ISREG(st.st_mode)) return 0; /* what is read of a pipe is gone */
    FILE *f = fopen(path, "rb");
    size_t n = f ? fread(head, 1, sizeof head, f) : 0;
    if (f) fclose(f);
    return n == sizeof head && !head[6] && !head[7] && head[8] == '{';
}
