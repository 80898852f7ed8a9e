/* api_at.h: for tests of nami.h: data from a file, or none. */
#ifndef TESTS_API_AT_H
#define TESTS_API_AT_H

#include "nami.h"

/* NULL for NULL; fails the test if the file cannot be read. */
static inline nami_data *data_at(const char *path)
{
    nami_data *data = NULL;
    nami_err err;
    if (!path) return NULL;
    if (nami_data_new(&data, &err) || nami_data_read(data, path, &err))
        fail_msg("%s: %s", path, err.msg);
    return data;
}

#endif
