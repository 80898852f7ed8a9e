/* structure.c: opens structures, models and data files, and reports errors. */
#include "structure.h"

#include <stdio.h>
#include <string.h>

int refuse_net(const char *path)
{
    nami_err err;
    if (!nami_network_is(path)) return EXIT_YES;
    usage_error(&err, "this is a trained network, and a model is wanted; networks are for 'nami "
                      "sample', evidence, map, calibrate, simulate and logp");
    return fail(READING, path, &err);
}

int open_structure(nami_bn **bn, const char *path, const char *format)
{
    nami_err err;
    int rc = refuse_net(path);
    if (rc || !nami_bn_read(path, format, bn, &err)) return rc;
    return fail(READING, file_name(path), &err);
}

/* Errors without a position begin with the name of the file, which fail() also prints. */
static int fail_in(const char *path, nami_err *err)
{
    size_t n = strlen(path);
    if (strncmp(err->msg, path, n) == 0 && strncmp(err->msg + n, ": ", 2) == 0)
        memmove(err->msg, err->msg + n + 2, strlen(err->msg + n + 2) + 1);
    return fail(READING, file_name(path), err);
}

int read_all_data(nami_data **out, const struct opt_many *files)
{
    nami_err err;
    *out = NULL;
    if (!files->n) return EXIT_YES;
    if (nami_data_new(out, &err)) return fail(RUNNING, NULL, &err);
    for (int i = 0; i < files->n; i++)
        if (nami_data_read(*out, files->a[i], &err))
            return fail(READING, file_name(files->a[i]), &err);
    return EXIT_YES;
}

int refuse_simulator(const nami_model *model, const char *path)
{
    const char *simulator = nami_model_simulator(model);
    nami_err err;
    if (!simulator) return EXIT_YES;
    usage_error(&err,
                "this network would run a program; if you trust the file, give --allow-simulator: "
                "it is the simulator %s",
                simulator);
    return fail(READING, path, &err);
}

int read_data(nami_data **out, const struct opt_many *files)
{
    nami_err err;
    int rc = read_all_data(out, files);
    const char *records = *out ? nami_data_records(*out, 0) : NULL;
    if (rc || !records) return rc;
    usage_error(&err, "this is a table or an array without names; data files are JSON or R dumps; "
                      "write each column or array as a list under its name: {\"x\": [1, 2]}");
    return fail(READING, records, &err);
}

int read_model_from(nami_model **model, const char *path, const nami_model_options *opt, int quiet)
{
    nami_err err;
    int rc = refuse_net(path);
    *model = NULL;
    if (!rc && nami_model_read(path, opt, model, &err)) {
        const char *messages = *model ? nami_model_messages(*model) : "";
        fputs(messages, stderr);
        rc = *messages ? EXIT_BAD : fail_in(path, &err);
    } else if (!rc && !quiet) {
        fputs(nami_model_messages(*model), stderr);
    }
    return rc;
}

int read_model(nami_model **model, const char *path, const struct opt_many *data,
               const nami_model_options *opt, int quiet)
{
    nami_model_options o = *opt;
    nami_data *values = NULL;
    int rc = refuse_net(path);
    *model = NULL;
    if (!rc) rc = read_data(&values, data);
    o.data = values;
    if (!rc) rc = read_model_from(model, path, &o, quiet);
    nami_data_free(values);
    return rc;
}
