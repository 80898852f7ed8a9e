/* hosted.c: reads network files, and reads them again when they are replaced. */
#include "hosted.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- scalars of an answer -------------------------------------------------------------------- */

void view_fini(struct view *view)
{
    for (size_t i = 0; i < view->num_scalars; i++) free(view->name[i]);
    free(view->name);
    free(view->row);
    *view = (struct view){0};
}

/* "x", "x[3]", "x[2,3]": element e, in row-major order. */
static void name_element(const nami_variable *v, size_t e, struct text *out)
{
    size_t stride = v->num_elements;
    text_put(out, v->name);
    for (int k = 0; k < v->num_dims; k++) {
        stride /= (size_t)v->dim[k];
        text_printf(out, "%s%zu", k ? "," : "[", e / stride + 1);
        e %= stride;
    }
    if (v->num_dims) text_put(out, "]");
}

/* Elements that are observed or constant are not part of an answer. */
static int is_latent(const nami_model *model, const char *name)
{
    int scalar = nami_model_scalar_find(model, name);
    int node = scalar < 0 ? -1 : nami_model_scalar_node(model, scalar);
    return scalar >= 0 && (node < 0 || !nami_bn_observed(nami_model_structure(model), node));
}

int view_init(struct view *view, const nami_model *model, const nami_posterior *post)
{
    nami_variable v;
    size_t most = 0;
    *view = (struct view){0};
    for (int i = 0; !nami_posterior_variable(post, i, &v); i++) most += v.num_elements;
    view->name = calloc(most + 1, sizeof *view->name);
    view->row = calloc(most + 1, sizeof *view->row);
    int failed = !view->name || !view->row;
    for (int i = 0; !failed && !nami_posterior_variable(post, i, &v); i++)
        for (size_t e = 0; e < v.num_elements && !failed; e++) {
            struct text name = {0};
            name_element(&v, e, &name);
            failed = name.failed;
            if (failed || !is_latent(model, name.bytes)) {
                text_free(&name);
                continue;
            }
            view->row[view->num_scalars] = v.first_row + e;
            view->name[view->num_scalars++] = name.bytes;
        }
    if (!failed) return 0;
    view_fini(view);
    return NAMI_ENOMEM;
}

/* ---- versions ---------------------------------------------------------------------------------
 */

void version_drop(struct version *v)
{
    if (!v || atomic_fetch_sub(&v->users, 1) > 1) return;
    view_fini(&v->view);
    nami_network_free(v->network);
    free(v->about);
    free(v);
}

struct version *hosted_take(struct hosted *h)
{
    pthread_mutex_lock(&h->lock);
    struct version *v = h->current;
    atomic_fetch_add(&v->users, 1);
    pthread_mutex_unlock(&h->lock);
    return v;
}

/* The first query of a network is slow: it compares data with draws of the model.  No request waits
   for that, and what it shows of variables is kept. */
static void warm_up(struct version *v, const double *point, const struct hosting *how)
{
    const nami_model *model = nami_network_model(v->network);
    nami_data *data = NULL;
    struct text example = {0};
    about_data(model, point, &example);
    int rc = example.failed ? NAMI_ENOMEM : nami_data_new(&data, NULL);
    if (!rc) rc = nami_data_parse(data, example.bytes, example.size, NULL);
    for (int i = 0; !rc && how->methods[i]; i++) {
        nami_query query = {
            .size = sizeof query, .draws = 64, .threads = 1, .method = how->methods[i]};
        nami_posterior *post = NULL;
        int able = !nami_posterior_new(v->network, data, &query, &post, NULL) &&
                   !nami_posterior_run(post, NULL);
        if (able && !v->method) {
            v->method = how->methods[i];
            rc = view_init(&v->view, model, post);
        }
        nami_posterior_free(post);
    }
    nami_data_free(data);
    text_free(&example);
}

static int read_version(struct hosted *h, int number, const struct hosting *how,
                        struct version **out, nami_err *err)
{
    struct text about = {0};
    double *point = NULL;
    struct version *v = *out = calloc(1, sizeof *v);
    if (!v) goto no_memory;
    atomic_init(&v->users, 1);
    v->number = number;
    v->loaded = (double)time(NULL);
    nami_network_options opt = {.size = sizeof opt}; /* no simulator may run */
    int rc = nami_network_read(h->path, &opt, &v->network, err);
    if (rc) goto failed;
    int size = nami_model_size(nami_network_model(v->network));
    point = calloc((size_t)size + 1, sizeof *point);
    if (!point || about_example(v->network, point)) goto no_memory;
    warm_up(v, point, how);
    about_put(h, v, point, how, &about);
    free(point);
    v->about = about.bytes;
    if (!about.failed) return 0;
    point = NULL;
no_memory:
    rc = NAMI_ENOMEM;
    *err = (nami_err){.code = rc};
    strcpy(err->msg, nami_strerror(rc));
failed:
    free(point);
    version_drop(v);
    *out = NULL;
    return rc;
}

/* ---- files ------------------------------------------------------------------------------------
 */

static void set_name(struct hosted *h, const char *path)
{
    const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    size_t n = strlen(base), end = strlen(".safetensors");
    if (n > end && strcmp(base + n - end, ".safetensors") == 0) n -= end;
    snprintf(h->name, sizeof h->name, "%.*s", (int)n, base);
}

void hosted_report(const struct hosted *h, struct text *path)
{
    size_t n = strlen(h->path), end = strlen(".safetensors");
    if (n > end && strcmp(h->path + n - end, ".safetensors") == 0) n -= end;
    text_bytes(path, h->path, n);
    text_put(path, ".html");
}

int hosted_init(struct hosted *h, const char *what, const struct hosting *how, nami_err *err)
{
    const char *path = strchr(what, '=');
    *h = (struct hosted){0};
    pthread_mutex_init(&h->lock, NULL);
    if (path && (size_t)(path - what) <= NETWORK_NAME && !memchr(what, '/', (size_t)(path - what)))
        snprintf(h->name, sizeof h->name, "%.*s", (int)(path++ - what), what);
    else
        set_name(h, path = what);
    *err = (nami_err){.code = NAMI_EUSAGE};
    if (!request_name_ok(h->name)) {
        snprintf(err->msg, sizeof err->msg,
                 "'%s' cannot be part of an address; give the network a name of letters, digits, "
                 "'.', '_' "
                 "and '-': NAME=%.200s",
                 h->name, path);
        return err->code;
    }
    h->path = strdup(path);
    if (!h->path) {
        *err = (nami_err){.code = NAMI_ENOMEM, .msg = "out of memory"};
        return err->code;
    }
    if (stat(h->path, &h->seen)) memset(&h->seen, 0, sizeof h->seen);
    return read_version(h, 1, how, &h->current, err);
}

void hosted_fini(struct hosted *h)
{
    version_drop(h->current);
    free(h->path);
    pthread_mutex_destroy(&h->lock);
}

static int same_file(const struct stat *a, const struct stat *b)
{
    return a->st_ino == b->st_ino && a->st_dev == b->st_dev && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

int hosted_refresh(struct hosted *h, const struct hosting *how, nami_err *err)
{
    struct stat now;
    struct version *next, *old;
    if (stat(h->path, &now)) return 0; /* between two files: the next may come */
    if (same_file(&now, &h->seen)) return 0;
    h->seen = now;
    int rc = read_version(h, h->current->number + 1, how, &next, err);
    pthread_mutex_lock(&h->lock);
    old = rc ? NULL : h->current;
    if (rc)
        h->failed_reloads++;
    else
        h->reloads++, h->current = next;
    pthread_mutex_unlock(&h->lock);
    version_drop(old);
    return rc ? rc : 1;
}
