/* with_network.c: opens trained networks and data sets, and reports errors. */
#include "with_network.h"

#include "model.h"

static int open_network(nami_network **out, const char *path, int threads, int allow_simulator)
{
    nami_network_options opt = {.allow_simulator = allow_simulator, .threads = threads};
    nami_err err;
    if (!nami_network_read(path, &opt, out, &err)) return EXIT_YES;
    if (err.code == NAMI_EINPUT && !nami_network_is(path))
        usage_error(&err, "this is not a trained network; 'nami train MODEL -o NET' trains one for a "
                          "model, and 'nami run' goes from model and data to posterior draws");
    return fail(READING, path, &err);
}

int with_network_open(struct with_network *w, const char *path, int threads, int allow_simulator,
                      int quiet)
{
    *w = (struct with_network){0};
    watch_begin(&w->watch, quiet);
    return open_network(&w->net, path, threads, allow_simulator);
}

int with_network_data(struct with_network *w, const struct opt_many *files)
{
    nami_err err;
    int rc = read_all_data(&w->data, files);
    if (rc) return rc;
    if (!w->data && !nami_data_size(nami_network_data(w->net)))
        return bad_usage("what was observed? give --data FILE");
    /* if there is a single file, name it in errors about the data */
    if (files->n == 1 && nami_data_size(w->data) && nami_network_check_data(w->net, w->data, &err))
        return fail(READING, file_name(files->a[0]), &err);
    return EXIT_YES;
}

int with_network_model(struct with_network *w, const char *file, int quiet)
{
    struct model_input in = {.quiet = quiet};
    nami_err err;
    if (!file) return EXIT_YES;
    int rc = read_model_with(&w->model, file, w->data ? w->data : nami_network_data(w->net), &in);
    if (rc) return rc;
    w->original = w->net;
    w->net = NULL;
    if (!nami_network_with_model(w->original, w->model, &w->net, &err)) return EXIT_YES;
    return err.line ? fail(READING, file_name(file), &err) : fail(RUNNING, NULL, &err);
}

int with_network_fail(struct with_network *w, const nami_err *err)
{
    watch_end(&w->watch);
    return fail(READING, NULL, err);
}

void with_network_close(struct with_network *w)
{
    watch_end(&w->watch);
    nami_network_free(w->net);
    nami_network_free(w->original);
    nami_model_free(w->model);
    nami_data_free(w->data);
}
