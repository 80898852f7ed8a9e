#include "train/samples.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "model/points.h"

static int check_count(const struct training *r, size_t n, nami_err *err)
{
    unsigned long long had = r->plan.samples;
    if (r->saved.tensor.n == 0 || had == n) return 0; /* it begins, or goes on as it was */
    if (!had)
        return err_set(err, NAMI_EUSAGE,
                       "this network was trained on draws of the model; it cannot go on with those "
                       "of a file");
    if (!n)
        return err_set(err, NAMI_EUSAGE,
                       "this network was trained on %llu draws of a file; give it again (--samples "
                       "FILE)",
                       had);
    return err_set(err, NAMI_EUSAGE,
                   "there are %zu draws, but the network was trained on %llu; give the same file "
                   "again",
                   n, had);
}

/* An error in the file, with its name and place. */
static void in_file(const char *path, nami_err *err)
{
    nami_err e = *err;
    char place[32] = "";
    if (e.line) snprintf(place, sizeof place, ":%d:%d", e.line, e.col);
    err_set(err, e.code, "%.150s%s: %.320s", path, place, e.msg);
}

int samples_read(struct training *r, const char *path, nami_err *err)
{
    nami_err why = {0};
    size_t n = 0;
    int rc = path ? points_read(r->m, path, &n, &r->points, &why) : 0;
    if (!rc) rc = check_count(r, n, &why);
    if (!rc) r->plan.samples = n;
    if (rc && path) in_file(path, &why);
    if (rc && err) *err = why;
    return rc;
}

int samples_source(struct training *r, uint64_t seed, struct source **out, nami_err *err)
{
    const struct train_options *t = &r->plan.train;
    double *x = r->points;
    r->points = NULL;
    int rc = x ? source_points(r->m, seed, t->batch, t->valid, r->plan.samples, x, out, err)
               : source_model(r->m, seed, t->batch, t->valid, out, err);
    if (rc) {
        source_free(*out);
        *out = NULL;
    }
    return rc;
}
