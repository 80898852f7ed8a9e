#include "train/samples.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "model/points.h"

static int is_resumed(const struct training *r) { return r->saved.tensor.n > 0; }

static int check_count(struct training *r, size_t n, nami_err *err)
{
    if (is_resumed(r) && !r->plan.samples)
        return err_set(err, NAMI_EUSAGE,
                       "this network was trained on draws of the model; it cannot go on with those "
                       "of a file");
    if (is_resumed(r) && r->plan.samples != n)
        return err_set(err, NAMI_EUSAGE,
                       "there are %zu draws, but the network was trained on %llu; give the same "
                       "file again",
                       n, (unsigned long long)r->plan.samples);
    r->plan.samples = n;
    return 0;
}

/* An error in the file, with its name and place. */
static int in_file(const char *path, nami_err *err)
{
    nami_err e = *err;
    char place[32] = "";
    if (e.line) snprintf(place, sizeof place, ":%d:%d", e.line, e.col);
    return err_set(err, e.code, "%.150s%s: %.320s", path, place, e.msg);
}

int samples_source(struct training *r, const char *path, uint64_t seed, struct source **out,
                   nami_err *err)
{
    const struct train_options *t = &r->plan.train;
    nami_err why = {0};
    size_t n;
    double *x;
    int rc = 0;
    *out = NULL;
    if (!path && is_resumed(r) && r->plan.samples)
        return err_set(err, NAMI_EUSAGE,
                       "this network was trained on %llu draws of a file; give it again (--samples "
                       "FILE)",
                       (unsigned long long)r->plan.samples);
    if (!path) {
        rc = source_model(r->m, seed, t->batch, t->valid, out, err);
    } else {
        if ((rc = points_read(r->m, path, &n, &x, &why)) == 0 &&
            (rc = check_count(r, n, &why)) == 0)
            rc = source_points(r->m, seed, t->batch, t->valid, n, x, out, &why);
        else
            free(x);
        if (rc && err) *err = why, in_file(path, err);
    }
    if (rc) {
        source_free(*out);
        *out = NULL;
    }
    return rc;
}
