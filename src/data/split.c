/* split.c: splits observations into training, validation and test sets by counts or fractions. */
#include "data/split.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/rng.h"
#include "base/vec.h"

static const double REST = -1;

/* "rest", a count or a fraction; moves on, to the comma behind it. */
static int read_part(const char **s, double *x, nami_err *err)
{
    size_t n = strcspn(*s, ",");
    char buf[32] = "", *stop = buf;
    if (n < sizeof buf) memcpy(buf, *s, n);
    *x = REST;
    if (strcmp(buf, "rest") == 0)
        stop += n;
    else if (n && strspn(buf, "0123456789.") == n)
        *x = strtod(buf, &stop);
    if (!n || stop != buf + n || (*x > 1 && *x != floor(*x)))
        return err_set(err, NAMI_EUSAGE,
                       "'%.*s' is no part of the observations: a count (5000), a fraction (0.1) or "
                       "'rest'",
                       n < 40 ? (int)n : 40, *s);
    *s += n;
    return 0;
}

static int read_parts(const char *how, double x[SPLIT_PARTS], nami_err *err)
{
    const char *s = how;
    double sum = 0;
    int rest = 0, rc = 0;
    for (int k = 0; k < SPLIT_PARTS && (!k || *s == ',') && !rc; k++) {
        s += k > 0;
        rc = read_part(&s, &x[k], err);
        rest += x[k] == REST;
        sum += x[k] < 1 && x[k] > 0 ? x[k] : 2;
    }
    if (rc) return rc;
    if (*s || rest > 1)
        return err_set(err, NAMI_EUSAGE,
                       "'%.60s' is no way to split: up to three parts to train, to validate and to "
                       "test, one of which may be the rest",
                       how);
    if (fabs(sum - 1) < 1e-9) x[SPLIT_TRAIN] = REST;
    return 0;
}

int split_make(struct split *s, size_t n, const char *how, int shuffled, uint64_t seed,
               nami_err *err)
{
    double part[SPLIT_PARTS] = {0}, left = (double)n;
    *s = (struct split){0};
    int rc = read_parts(how, part, err);
    if (rc) return rc;
    for (int k = 0; k < SPLIT_PARTS; k++) {
        if (part[k] == REST) continue;
        if (part[k] < 1) part[k] = floor(part[k] * (double)n);
        left -= part[k];
    }
    if (left < 0 || n > INT_MAX)
        return err_set(err, NAMI_EINPUT,
                       "'%.60s' are more than the %zu observations that there are", how, n);
    for (int k = 0; k < SPLIT_PARTS; k++) s->n[k] = (size_t)(part[k] == REST ? left : part[k]);
    if (!s->n[SPLIT_TRAIN])
        return err_set(err, NAMI_EINPUT, "'%.60s' of %zu observations leave none to train on", how,
                       n);
    s->index = raw_array(int, n);
    if (!s->index) return err_nomem(err);
    for (size_t i = 0; i < n; i++) s->index[i] = (int)i;
    struct rng r;
    rng_init(&r, seed ^ 0x73706c6974, 0);
    if (shuffled) rng_shuffle(&r, s->index, (int)n);
    return 0;
}

const int *split_index(const struct split *s, enum split_part part)
{
    const int *at = s->index;
    for (int k = 0; k < (int)part; k++) at += s->n[k];
    return at;
}

void split_free(struct split *s)
{
    free(s->index);
    *s = (struct split){0};
}
