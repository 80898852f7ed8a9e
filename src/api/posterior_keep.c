/* posterior_keep.c: nami_posterior_keep: draws of one data set that stay in memory, for figures and
   reports: a systematic resample of all draws to equal weights, as they come. */
#include <math.h>
#include <stdlib.h>

#include "api/posterior.h"
#include "base/err.h"
#include "infer/mcmc.h"

enum { NUMBERS = 1 << 22, MOST = 4000, FEWEST = 50 };

int nami_posterior_keep(nami_posterior *p, size_t set, nami_err *err)
{
    err_clear(err);
    if (p->begun)
        return err_set(err, NAMI_EUSAGE, "draws must be kept before the first of them are made");
    if (set >= p->q.nset) return no_such_set(set, p->q.nset, err);
    p->kept.wanted = 1;
    p->kept.set = set;
    return 0;
}

int keep_begin(nami_posterior *p, nami_err *err)
{
    struct kept *k = &p->kept;
    size_t rows = (size_t)model_num_rows(p->net->net.model), room = NUMBERS / (rows + !rows);
    if (!k->wanted) return 0;
    if (room > MOST) room = MOST;
    if (room < FEWEST) room = FEWEST;
    if (room > p->q.per) room = p->q.per;
    if (room > MCMC_CHAINS) room -= room % MCMC_CHAINS;
    k->room = room;
    k->z = raw_array(double, rows *room + 1);
    return k->z ? 0 : err_nomem(err);
}

static void take(nami_posterior *p, size_t i)
{
    const struct answer *a = &p->answer;
    struct kept *k = &p->kept;
    size_t rows = (size_t)model_num_rows(p->net->net.model);
    for (size_t r = 0; r < rows; r++) k->z[r * k->room + k->num] = a->z[r * a->n + i];
    k->num++;
}

/* Chains come whole: as many draws of each, evenly spaced; without those that fill up the last. */
static void take_chains(nami_posterior *p, size_t first)
{
    struct kept *k = &p->kept;
    size_t usable = p->q.per - p->q.per % MCMC_CHAINS;
    while (k->num < k->room) take(p, first + k->num * usable / k->room);
    k->chains = MCMC_CHAINS;
}

void keep_block(nami_posterior *p)
{
    const struct answer *a = &p->answer;
    struct kept *k = &p->kept;
    size_t from = k->set * p->q.per, to = from + p->q.per;
    if (!k->wanted || !a->n || a->first >= to || a->first + a->n <= from) return;
    if (p->blocks.found[k->set].rhat > 0 && a->first <= from && a->first + a->n >= to &&
        k->room >= MCMC_CHAINS) {
        take_chains(p, from - a->first);
        return;
    }
    size_t begin = from > a->first ? from - a->first : 0,
           end = to - a->first < a->n ? to - a->first : a->n;
    for (size_t i = begin; i < end; i++) {
        double weight = a->logw ? exp(a->logw[i]) : 1 / (double)p->q.per;
        k->weight += isfinite(weight) ? weight : 0;
        while (k->num < k->room && ((double)k->num + 0.5) / (double)k->room <= k->weight)
            take(p, i);
    }
    if (a->first + end == to && end > begin) /* rounding, or weights that are not numbers */
        while (k->num < k->room) take(p, end - 1);
}

void keep_free(nami_posterior *p) { free(p->kept.z); }
