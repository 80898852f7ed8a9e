/* network.c: trained networks of nami.h. */
#include <stdlib.h>
#include <string.h>

#include "api/instance.h"
#include "base/err.h"
#include "base/file.h"
#include "base/parallel.h"
#include "model/eval.h"
#include "model/read.h"
#include "net/export.h"
#include "report/collapse.h"
#include "report/network.h"

static int make_ood(nami_network *w, nami_err *err)
{
    struct network_ood *o = new_array(struct network_ood, 1);
    if (!o || pthread_mutex_init(&o->lock, NULL)) return free(o), err_nomem(err);
    w->ood = o;
    return 0;
}

static void free_ood(nami_network *w)
{
    if (!w->ood) return;
    ood_model_free(&w->ood->fit);
    pthread_mutex_destroy(&w->ood->lock);
    free(w->ood);
}

int network_ready(nami_network *w, nami_err *err)
{
    struct network *n = &w->net;
    w->inverse =
        (struct nami_inverse){.bn = model_bn(n->model), .h = n->inverse, .collapse = &n->collapse};
    w->inverse.problem = n->inversion;
    w->data.sets = *model_data(n->model);
    if (!(w->param = raw_array(float, network_nparam(n) + 1))) return err_nomem(err);
    int rc = network_weights(n, w->param, err);
    if (!rc) rc = model_of_network(n, &w->model, err);
    if (!rc) rc = make_ood(w, err);
    return rc ? rc : infer_init(&w->infer, &n->q, w->param, err);
}

static int prepare(nami_network *w, int threads, int allow_simulator, nami_err *err)
{
    int rc = network_parse(&w->net, threads, err);
    if (!rc && allow_simulator) model_allow_simulator(w->net.model);
    return rc ? rc : network_ready(w, err);
}

/* The bytes of its file: an instance of an open network has those of that network. */
static const struct str *bytes_of(const nami_network *net)
{
    return net->net.base ? &net->net.base->bytes : &net->net.bytes;
}

int network_take_bytes(struct str *bytes, int threads, int allow_simulator, nami_network **out,
                       nami_err *err)
{
    nami_network *w = new_array(nami_network, 1);
    *out = NULL;
    if (!w) return str_free(bytes), err_nomem(err);
    w->net.bytes = *bytes;
    *bytes = (struct str){0};
    int rc = prepare(w, parallel_threads(threads), allow_simulator, err);
    if (rc)
        nami_network_free(w);
    else
        *out = w;
    return rc;
}

int nami_network_with_model(const nami_network *net, const nami_model *model, nami_network **out,
                            nami_err *err)
{
    err_clear(err);
    *out = NULL;
    int rc = needs_model(model, err);
    if (!rc) rc = model_needs_values(model->m, err);
    nami_network *w = rc ? NULL : new_array(nami_network, 1);
    if (rc) return rc;
    if (!w) return err_nomem(err);
    rc = network_for_model(&w->net, &net->net, model->m, 1, err);
    if (!rc) rc = network_ready(w, err);
    if (rc)
        nami_network_free(w);
    else
        *out = w;
    return rc;
}

/* What was made for another model has no file of its own. */
static int has_file(const nami_network *net, nami_err *err)
{
    if (!net->net.base || net->net.kinds) return 0;
    return err_set(err, NAMI_EUSAGE,
                   "a network that is asked with another model cannot be written; write the one "
                   "that was trained");
}

void nami_network_free(nami_network *net)
{
    if (!net) return;
    if (net->infer.q) infer_fini(&net->infer);
    free_ood(net);
    nami_model_free(net->model);
    free(net->param);
    network_free(&net->net);
    free(net);
}

static const nami_network_options none;

int nami_network_read(const char *path, const nami_network_options *opt, nami_network **out,
                      nami_err *err)
{
    struct str bytes = {0};
    if (!opt) opt = &none;
    err_clear(err);
    *out = NULL;
    int rc = file_read(path, &bytes, err);
    if (rc) return str_free(&bytes), rc;
    rc = network_take_bytes(&bytes, opt->threads, opt->allow_simulator, out, err);
    if (rc == NAMI_EINPUT && !network_is(path))
        err_set(err, NAMI_EINPUT,
                "this is not a trained network; nami train MODEL -o NET makes one");
    return rc;
}

int nami_network_parse(const void *bytes, size_t len, const nami_network_options *opt,
                       nami_network **out, nami_err *err)
{
    struct str copy = {0};
    if (!opt) opt = &none;
    err_clear(err);
    *out = NULL;
    str_putn(&copy, bytes, len);
    if (copy.oom) return str_free(&copy), err_nomem(err);
    return network_take_bytes(&copy, opt->threads, opt->allow_simulator, out, err);
}

int nami_network_write(const nami_network *net, const char *path, nami_err *err)
{
    err_clear(err);
    int rc = has_file(net, err);
    return rc ? rc : file_save(path, bytes_of(net)->s, bytes_of(net)->n, err);
}

int nami_network_print(const nami_network *net, char **bytes, size_t *len, nami_err *err)
{
    struct str out = {0};
    err_clear(err);
    *bytes = NULL;
    int rc = has_file(net, err);
    if (rc) return rc;
    str_putn(&out, bytes_of(net)->s, bytes_of(net)->n);
    return give_text(&out, bytes, len, err);
}

int nami_network_is(const char *path) { return network_is(path); }

const nami_model *nami_network_model(const nami_network *net) { return net->model; }

const nami_inverse *nami_network_inverse(const nami_network *net) { return &net->inverse; }

const nami_data *nami_network_data(const nami_network *net) { return &net->data; }

int network_text(const struct network *n, struct str *out, nami_err *err)
{
    struct view w = {.bn = model_bn(n->model), .h = n->inverse, .c = &n->collapse};
    if (n->q.nfactor) network_show(&n->q, out);
    if (n->collapse.step.n && n->q.nfactor) str_put(out, "\n");
    return n->collapse.step.n ? show_exact(&w, out, err) : 0;
}

int nami_network_describe(const nami_network *net, const char *as, char **text, nami_err *err)
{
    struct str out = {0};
    int rc = 0;
    err_clear(err);
    *text = NULL;
    if (strcmp(as, "text") == 0)
        rc = network_text(&net->net, &out, err);
    else if (strcmp(as, "json") == 0)
        network_json(&net->net.q, &out);
    else if (strcmp(as, "settings") == 0)
        str_put(&out, st_get(&net->net.file, "settings"));
    else
        rc = no_such_form(as, "text, json, settings", err);
    if (!rc) return give_text(&out, text, NULL, err);
    str_free(&out);
    return rc;
}

/* Barren latents have the model's own factors, exact ones those of the posterior. */
static int add_others(const nami_network *net, size_t n, const double *x, int threads,
                      double *log_q, nami_err *err)
{
    if (!infer_has_others(&net->infer)) return 0;
    double *own = raw_array(double, n + 1);
    int rc = own ? infer_others(&net->infer, n, x, NULL, threads, own, err) : err_nomem(err);
    for (size_t i = 0; i < n && !rc; i++) log_q[i] += own[i];
    free(own);
    return rc;
}

int nami_network_log_q(const nami_network *net, size_t n, const double *x, int threads,
                       double *log_q, nami_err *err)
{
    err_clear(err);
    threads = parallel_threads(threads);
    int rc = infer_logq(&net->infer, n, x, threads, log_q, err);
    return rc ? rc : add_others(net, n, x, threads, log_q, err);
}

int nami_network_export(const nami_network *net, const char *as, const char *name,
                        const nami_watch *watch, char **bytes, size_t *len, nami_err *err)
{
    struct str out = {0}, note = {0};
    err_clear(err);
    *bytes = NULL;
    int rc =
        network_export(&net->net.q, &net->infer.s.prog, net->param, as, name, &out, &note, err);
    if (!rc && note.n)
        tell(watch, NAMI_WARNING,
             "latents that are not in the file: %s; with --exact none in training, the network has "
             "factors of those that are integrated out",
             note.s);
    str_free(&note);
    if (!rc) return give_text(&out, bytes, len, err);
    str_free(&out);
    return rc;
}
