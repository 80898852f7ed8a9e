/* model.c: opens models, from model files or trained networks, for commands. */
#include "model.h"

#include <string.h>

static int read_own(struct source *s, const char *path, const struct model_input *in,
                    const struct opt_many *by, int quiet)
{
    nami_model_options o = {.set = in->set.a,
                            .num_set = in->set.n,
                            .observe = in->observe,
                            .train_priors = in->train_prior};
    if (by) o.free = by->a, o.num_free = by->n;
    int rc = read_model(&s->own, path, &in->data, &o, quiet);
    s->model = s->own;
    return rc;
}

static int read_net(struct source *s, const char *path, const struct model_input *in,
                    const struct opt_many *by, int allow_simulator)
{
    nami_network_options o = {.allow_simulator = allow_simulator};
    nami_err err;
    const char *option = in->data.n        ? "--data"
                         : in->set.n       ? "--set"
                         : in->observe     ? "--observe"
                         : in->train_prior ? "--train-prior"
                         : by && by->n     ? "--by"
                                           : NULL;
    if (option)
        return bad_usage("a network has its model's constants and data already: %s is for models",
                         option);
    if (nami_network_read(path, &o, &s->net, &err)) return fail(READING, path, &err);
    s->model = nami_network_model(s->net);
    return EXIT_YES;
}

int source_open(struct source *s, const char *path, const struct model_input *in,
                const struct opt_many *by, int allow_simulator)
{
    *s = (struct source){0};
    return nami_network_is(path) ? read_net(s, path, in, by, allow_simulator)
                                 : read_own(s, path, in, by, in->quiet);
}

int source_open_model(struct source *s, const char *path, const struct model_input *in, int quiet)
{
    *s = (struct source){0};
    return read_own(s, path, in, NULL, quiet);
}

int source_refuse_simulator(const struct source *s, const char *path)
{
    return s->net ? refuse_simulator(s->model, path) : EXIT_YES;
}

void source_close(struct source *s)
{
    nami_model_free(s->own);
    nami_network_free(s->net);
}

int fail_model(const char *path, const nami_err *err)
{
    return fail(err->line ? READING : RUNNING, err->line ? file_name(path) : NULL, err);
}

int read_model_with(nami_model **model, const char *path, const nami_data *data,
                    const struct model_input *in)
{
    nami_model_options o = {.data = data,
                            .set = in->set.a,
                            .num_set = in->set.n,
                            .observe = in->observe,
                            .train_priors = in->train_prior};
    return read_model_from(model, path, &o, in->quiet);
}

void tell_simulator(const nami_model *model, int quiet)
{
    const char *simulator = nami_model_simulator(model);
    if (simulator && !quiet) note("this runs the simulator %s", simulator);
}
