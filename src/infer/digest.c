/* digest.c: streaming summaries of weighted draws: running moments, and quantiles from a bounded
   number of weighted points. */
#include "infer/digest.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/vec.h"

enum { POINTS = 1 << 22, LEAST = 1 << 12, MOST = 1 << 20, PARTS = 4 };

size_t digest_room(size_t nnum)
{
    size_t room = POINTS / (nnum + !nnum);
    return room < LEAST ? LEAST : room > MOST ? MOST : room;
}

static void restart(struct digest *d)
{
    size_t each = d->per < d->room ? d->per : d->room;
    d->seen = 0;
    for (size_t k = 0; k < d->nnum; k++)
        d->of[k] = (struct digest_number){.x = d->x + k * each, .w = d->w ? d->w + k * each : NULL};
}

int digest_init(struct digest *d, size_t nnum, const size_t *row, size_t per, size_t room,
                nami_err *err)
{
    *d = (struct digest){.nnum = nnum, .row = row, .per = per, .room = room};
    d->of = new_array(struct digest_number, nnum);
    d->x = raw_array(double, nnum *(per < room ? per : room));
    if (per > room) {
        d->w = raw_array(double, nnum *room);
        d->sort = raw_array(struct weighted, 2 * room);
    } else {
        d->logw = raw_array(double, per);
        d->copies = raw_array(unsigned, per);
    }
    if (!d->of || !d->x || (per > room ? !d->w || !d->sort : !d->logw || !d->copies))
        return err_nomem(err);
    restart(d);
    return 0;
}

void digest_fini(struct digest *d)
{
    free(d->of);
    free(d->x);
    free(d->w);
    free(d->sort);
    free(d->logw);
    free(d->copies);
    *d = (struct digest){0};
}

void running_add(struct running *r, double x, double w)
{
    double from = x - r->mean;
    r->w += w;
    r->mean += w / r->w * from;
    r->square += w * from * (x - r->mean);
}

/* Merges neighbors of the sorted v up to a weight of `most`, and equal values without limit. */
static size_t join(size_t n, struct weighted *v, double most)
{
    size_t m = 0;
    for (size_t i = 0; i < n; i++) {
        struct weighted *to = &v[m - (m > 0)];
        double w = to->w + v[i].w;
        int equal = m && to->x == v[i].x;
        if (equal || (m && w <= most && isfinite(to->x) && isfinite(v[i].x))) {
            if (!equal) to->x = to->x * (to->w / w) + v[i].x * (v[i].w / w);
            to->w = w;
        } else
            v[m++] = v[i];
    }
    return m;
}

/* The points of one number, sorted; *n of them. */
static struct weighted *sorted(const struct digest *d, const struct digest_number *p, size_t *n)
{
    for (size_t i = 0; i < p->n; i++) d->sort[i] = (struct weighted){p->x[i], p->w[i]};
    struct weighted *v = weighted_sort(p->n, d->sort, d->sort + d->room);
    *n = join(p->n, v, 0);
    return v;
}

/* Afterwards at most half of the space is used, except for one point and two infinite ones: any two
   neighbors have more than PARTS / room of the total weight. */
static void make_room(const struct digest *d, struct digest_number *p)
{
    size_t n;
    struct weighted *v = sorted(d, p, &n);
    if (n > d->room / 2) n = join(n, v, p->once.w * PARTS / (double)d->room);
    for (size_t i = 0; i < n; i++) {
        p->x[i] = v[i].x;
        p->w[i] = v[i].w;
    }
    p->n = n;
}

static void put_number(const struct digest *d, struct digest_number *p, size_t n, const double *x,
                       const double *logw, const unsigned *copies)
{
    for (size_t i = 0; i < n; i++) {
        double w = logw ? exp(logw[i]) : 1 / (double)d->per;
        if (w == 0) continue; /* x may be infinite or NaN */
        p->bad |= isnan(x[i]) || isnan(w);
        if (p->bad) continue;
        running_add(&p->once, x[i], w);
        running_add(&p->twice, x[i], summary_leave_one_out(w));
        p->sum2 += w * w;
        if (copies) running_add(&p->rounded, x[i], fmax(summary_rounding(w, d->per), DBL_MIN));
        if (copies && !copies[i]) continue;
        if (copies) w = (double)copies[i] / (double)d->per, running_add(&p->copied, x[i], w);
        if (p->n == d->room) make_room(d, p);
        p->x[p->n] = x[i];
        p->w[p->n++] = w;
    }
}

void digest_put(struct digest *d, size_t n, const double *x, size_t stride, const double *logw,
                const unsigned *copies)
{
    d->weighted = logw != NULL;
    d->resampled = logw && copies;
    for (size_t k = 0; k < d->nnum; k++) {
        const double *from = x + d->row[k] * stride;
        if (d->w)
            put_number(d, &d->of[k], n, from, logw, copies);
        else
            memcpy(d->of[k].x + d->seen, from, n * sizeof *from);
    }
    if (!d->w && logw) memcpy(d->logw + d->seen, logw, n * sizeof *logw);
    if (!d->w && d->resampled) memcpy(d->copies + d->seen, copies, n * sizeof *copies);
    d->seen += n;
}

/* With the letters of summary.c: s, e and sum2 on the scale of weights that sum to 1. */
void digest_moments(const struct running *once, const struct running *twice, double sum2, size_t n,
                    struct summary *out)
{
    double apart = twice->mean - once->mean, e = twice->square + twice->w * apart * apart;
    summary_moments(n, once->mean, once->square / once->w, e, sum2 / once->w / once->w, out);
}

static void conclude(const struct digest *d, const struct digest_number *p, struct summary *out)
{
    const struct running *a = &p->once;
    size_t n;
    if (p->bad || !(a->w > 0)) {
        summary_unknown(out);
        return;
    }
    struct weighted *v = sorted(d, p, &n);
    double ess = a->w * a->w / p->sum2;
    digest_moments(a, &p->twice, p->sum2, d->seen, out);
    if (d->resampled) {
        const struct running *c = &p->copied, *r = &p->rounded;
        double apart = r->mean - c->mean;
        summary_copies(d->seen, c->mean, c->square / c->w * (double)d->seen,
                       r->square + r->w * apart * apart, out);
    }
    for (size_t i = 0; i < n; i++) v[i].w /= d->resampled ? p->copied.w : a->w;
    summary_quantiles(n, v, d->resampled ? (double)d->seen : ess, out);
}

int digest_end(struct digest *d, struct summary *out, nami_err *err)
{
    struct draw_weights w = {0};
    int rc = 0;
    if (!d->w)
        rc = draw_weights_init(&w, d->seen, d->weighted ? d->logw : NULL,
                               d->resampled ? d->copies : NULL, err);
    for (size_t k = 0; k < d->nnum && !rc; k++)
        if (d->w)
            conclude(d, &d->of[k], &out[d->row[k]]);
        else
            summarise_with(&w, d->of[k].x, &out[d->row[k]]);
    draw_weights_fini(&w);
    restart(d);
    return rc;
}
