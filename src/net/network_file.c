/* network_file.c: the file of a network: version, digest, texts and weights. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/sha256.h"
#include "data/data.h"
#include "net/network.h"
#include "net/saved.h"

int network_broken(const char *what, nami_err *err)
{
    return err_set(err, NAMI_EINPUT,
                   "the file has no usable '%s'; it is not a network of NaMI, or damaged", what);
}

/* ---- the digest --------------------------------------------------------------------------- */

/* SHA-256 of all bytes of the file, the digest's own digits taken as zeros.  Its text is the first
   of the header, so that it stands near the beginning. */
static const char DIGEST[] = "sha256";
static const char ZEROS[] = "0000000000000000000000000000000000000000000000000000000000000000";

static void digest_of(const char *bytes, size_t n, const char *hole, char hex[SHA256_HEX + 1])
{
    size_t before = (size_t)(hole - bytes), behind = before + SHA256_HEX;
    struct sha256 s;
    sha256_init(&s);
    sha256_put(&s, bytes, before);
    sha256_put(&s, ZEROS, SHA256_HEX);
    sha256_put(&s, bytes + behind, n - behind);
    sha256_end(&s, hex);
}

/* Where the digits stand in the header; NULL: nowhere. */
static char *find_digits(char *bytes, size_t n, const char *digits)
{
    enum { NEAR = 512 };
    size_t most = n < NEAR ? n : NEAR;
    for (size_t i = 0; i + SHA256_HEX <= most; i++)
        if (memcmp(bytes + i, digits, SHA256_HEX) == 0) return bytes + i;
    return NULL;
}

static int check_digest(const struct network *n, nami_err *err)
{
    const char *digits = st_get(&n->file, DIGEST);
    char hex[SHA256_HEX + 1];
    char *hole =
        digits && strlen(digits) == SHA256_HEX ? find_digits(n->bytes.s, n->bytes.n, digits) : NULL;
    if (hole) digest_of(n->bytes.s, n->bytes.n, hole, hex);
    if (hole && memcmp(hole, hex, SHA256_HEX) == 0) return 0;
    return err_set(err, NAMI_EINPUT,
                   "the network is damaged: its bytes do not match their checksum; take the file "
                   "from where it came, or train it again");
}

int network_print(struct st *file, struct str *out, nami_err *err)
{
    char hex[SHA256_HEX + 1];
    int rc = st_print(file, out, err);
    if (rc) return rc;
    char *hole = find_digits(out->s, out->n, ZEROS);
    if (!hole) return err_set(err, NAMI_EBUG, "the digest has no place in the header");
    digest_of(out->s, out->n, hole, hex);
    memcpy(hole, hex, SHA256_HEX);
    return 0;
}

/* ---- the version -------------------------------------------------------------------------- */

static int check_version(const char *format, nami_err *err)
{
    if (!format)
        return err_set(err, NAMI_EINPUT, "this is a safetensors file, but not a network of NaMI");
    if (strcmp(format, NETWORK_FORMAT) == 0) return 0;
    if (strcmp(format, "1") == 0)
        return err_set(err, NAMI_EINPUT,
                       "this network was written by an earlier version of NaMI (format 1), which "
                       "did not store all that is needed; train it again: nami train MODEL -o NET");
    return err_set(err, NAMI_EINPUT,
                   "this network has format %.20s, and this version of NaMI (%s) reads format %s; "
                   "a newer version may read it",
                   format, NAMI_VERSION, NETWORK_FORMAT);
}

int network_open(struct network *n, nami_err *err)
{
    int rc = st_parse(&n->file, n->bytes.s ? n->bytes.s : "", n->bytes.n, err);
    if (!rc) rc = check_version(st_get(&n->file, "nami"), err);
    if (!rc) rc = check_digest(n, err);
    if (!rc && !st_get(&n->file, "settings")) rc = network_broken("settings", err);
    return rc;
}

/* ---- texts ---------------------------------------------------------------------------------- */

void network_observed(const struct network *n, struct str *out)
{
    const struct bn *bn = model_bn(n->model);
    if (!strchr(n->plan.observe, '@')) {
        str_put(out, n->plan.observe);
        return;
    }
    for (int v = 0; v < bn_n(bn); v++)
        if (bn->node.a[v].observed) str_printf(out, "%s%s", out->n ? "," : "", bn_name(bn, v));
    if (!out->n) str_put(out, "none");
}

/* The name of the model's file.  A simulator runs in its folder: then with the whole path, so that
   the network may be asked from anywhere. */
static char *name_of_file(const struct model *m)
{
    const char *name = model_file_name(m) ? model_file_name(m) : "model.nami";
    char *whole = model_simulator_command(m) ? realpath(name, NULL) : NULL;
    return whole ? whole : strdup(name);
}

int network_texts(const struct network *n, struct st *file, const char *inverse, nami_err *err)
{
    const struct model *m = n->model;
    char *name = name_of_file(m);
    struct str data = {0}, plan = {0}, saved = {0}, observe = {0};
    if (model_first_data(m)) /* the one that gave the constants */
        dataset_print(model_first_data(m), &data);
    else
        str_put(&data, "{}");
    if (n->kinds)
        kinds_print(n->kinds, &saved);
    else
        saved_print(&n->q, &saved);
    if (n->plan.observe) network_observed(n, &observe);
    int rc = plan_print(&n->plan, observe.s, &plan) || data.oom || saved.oom || observe.oom || !name
                 ? err_nomem(err)
                 : 0;
    const char *const text[][2] = {{DIGEST, ZEROS},
                                   {"nami", NETWORK_FORMAT},
                                   {"version", NAMI_VERSION},
                                   {"kernel", product_best(1)->name},
                                   {"model", model_text(m)},
                                   {"file", name},
                                   {"dialect", model_dialect(m) == BUGS ? "bugs" : "native"},
                                   {"data", data.s},
                                   {"settings", plan.s},
                                   {"inverse", inverse},
                                   {n->kinds ? "kinds" : "network", saved.s}};
    for (size_t i = 0; i < sizeof text / sizeof *text && !rc; i++)
        rc = st_set(file, text[i][0], text[i][1], err);
    str_free(&data);
    str_free(&plan);
    str_free(&saved);
    str_free(&observe);
    free(name);
    return rc;
}

/* ---- weights -------------------------------------------------------------------------------- */

int block_each_weight(const struct block *b, size_t at,
                      int (*each)(void *arg, const char *name, int num_dims, const size_t *dim,
                                  size_t at, nami_err *err),
                      void *arg, nami_err *err)
{
    size_t dim[2] = {(size_t)b->layer->out, (size_t)b->layer->in};
    struct str name = {0};
    str_printf(&name, "%s.weight", b->name);
    int rc = name.oom ? err_nomem(err) : each(arg, name.s, 2, dim, at, err);
    name.n = 0;
    str_printf(&name, "%s.bias", b->name);
    if (!rc) rc = name.oom ? err_nomem(err) : each(arg, name.s, 1, dim, at + dim[0] * dim[1], err);
    str_free(&name);
    return rc;
}

int network_each_weight(const struct network *n,
                        int (*each)(void *arg, const char *name, int num_dims, const size_t *dim,
                                    size_t at, nami_err *err),
                        void *arg, nami_err *err)
{
    const struct block *b;
    int rc = 0;
    for (size_t i = 0; !rc && (b = network_layer(n, i)); i++)
        rc = block_each_weight(b, b->layer->w, each, arg, err);
    return rc;
}

/* Numbers of a tensor that no network has. */
static int is_damaged(const struct st_tensor *t, float most, nami_err *err)
{
    for (size_t i = 0; i < t->n; i++) {
        char text[32] = "NaN";
        float x;
        memcpy(&x, (const char *)t->x + i * sizeof x, sizeof x);
        if (fabsf(x) <= most) continue;
        if (!isnan(x)) snprintf(text, sizeof text, "%g", x);
        return err_set(
            err, NAMI_EINPUT,
            "the network is damaged: number %zu of %s is %s; train it again, or take the "
            "file from where it came",
            i + 1, t->name, text);
    }
    return 0;
}

int network_take(const struct network *n, const char *name, int num_dims, const size_t *dim,
                 float most, float *out, nami_err *err)
{
    const struct st_tensor *t = st_find(&n->file, name);
    int fits = t && t->type == ST_F32 && t->ndim == num_dims;
    for (int k = 0; k < num_dims && fits; k++) fits = t->dim[k] == dim[k];
    if (!fits) return network_broken(name, err);
    if (t->n) memcpy(out, t->x, t->n * sizeof *out);
    return is_damaged(t, most, err);
}

int network_take_weight(void *arg, const char *name, int num_dims, const size_t *dim, size_t at,
                        nami_err *err)
{
    const struct weights_from *w = arg;
    return network_take(w->file, name, num_dims, dim, NETWORK_LARGEST, w->param + at, err);
}

int network_take_weights(const struct network *n, float *param, nami_err *err)
{
    struct weights_from w = {n, param};
    return network_each_weight(n, network_take_weight, &w, err);
}
