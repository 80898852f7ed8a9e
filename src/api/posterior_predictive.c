/* posterior_predictive.c: nami_posterior_predictive: posterior predictive checks of observed
 * arrays.
 */
#include <math.h>
#include <stdlib.h>

#include "api/posterior.h"
#include "base/err.h"

/* The rows of the observed elements of a variable, in order. */
static int observed_rows(const nami_posterior *p, const struct draws_var *v, int *row)
{
    const struct model *m = p->net->net.model;
    int n = 0;
    for (size_t e = 0; e < draws_var_size(v); e++) {
        int element = variable_element(p, v, e);
        if (element >= 0 && element_is_observed(m, element)) row[n++] = element_row(m, element);
    }
    return n;
}

int predictive_begin(nami_posterior *p, nami_err *err)
{
    struct predictive *c = &p->predictive;
    size_t most = 1;
    if (!p->opt.ppc) return 0;
    if (!p->seen.nvar)
        return err_set(err, NAMI_EINPUT, "the model observes nothing: there is nothing to check");
    for (int v = 0; v < p->seen.nvar; v++)
        most = draws_var_size(&p->seen.var[v]) > most ? draws_var_size(&p->seen.var[v]) : most;
    c->row = raw_array(int, most + 1);
    c->y = raw_array(double, most + 1);
    c->of = new_array(struct ppc, (size_t)p->seen.nvar * NPPC * p->q.nset);
    if (!c->row || !c->y || !c->of) return err_nomem(err);
    for (size_t s = 0; s < p->q.nset; s++)
        for (int v = 0; v < p->seen.nvar; v++) {
            const struct draws_var *var = &p->seen.var[v];
            int n = observed_rows(p, var, c->row);
            for (int i = 0; i < n; i++) c->y[i] = p->asked.x[(size_t)c->row[i] * p->q.nset + s];
            for (int k = 0; k < NPPC; k++)
                c->of[(s * (size_t)p->seen.nvar + (size_t)v) * NPPC + (size_t)k].observed =
                    k == PPC_LAG && (var->ndim != 1 || (size_t)n < draws_var_size(var))
                        ? NAN
                        : ppc_statistic(k, (size_t)n, c->y, 1);
        }
    return 0;
}

void predictive_put(nami_posterior *p)
{
    struct predictive *c = &p->predictive;
    const struct shown *s = &p->shown;
    if (!p->opt.ppc || !s->pred) return;
    for (int v = 0; v < p->seen.nvar; v++) {
        int n = observed_rows(p, &p->seen.var[v], c->row);
        for (size_t i = 0; i < s->n; i++) {
            size_t set = (s->first + i) / p->q.per;
            struct ppc *of = c->of + (set * (size_t)p->seen.nvar + (size_t)v) * NPPC;
            double w = s->logw ? exp(s->logw[i]) : 1;
            for (int e = 0; e < n; e++) c->y[e] = s->pred[(size_t)c->row[e] * s->n + i];
            for (int k = 0; k < NPPC && w > 0; k++)
                if (!isnan(of[k].observed))
                    ppc_put(&of[k], ppc_statistic(k, (size_t)n, c->y, 1), w);
        }
    }
}

void predictive_free(struct predictive *c)
{
    free(c->row);
    free(c->y);
    free(c->of);
}

int nami_posterior_predictive(const nami_posterior *p, size_t set, size_t i, nami_predictive *out,
                              nami_err *err)
{
    const struct predictive *c = &p->predictive;
    size_t all = (size_t)p->seen.nvar * NPPC, at = 0;
    err_clear(err);
    int rc = is_answered(p, set, err);
    if (!rc && !p->opt.ppc)
        rc = err_set(err, NAMI_EUSAGE,
                     "no predictive checks were made; ask for them by the option 'check'");
    if (rc) return rc;
    for (size_t k = 0; k < all; k++) {
        const struct ppc *of = &c->of[set * all + k];
        if (isnan(of->observed) || at++ < i) continue;
        *out = (nami_predictive){p->seen.var[k / NPPC].name, ppc_name[k % NPPC], of->observed,
                                 of->weight > 0 ? of->predicted : NAN, ppc_p(of)};
        return 0;
    }
    return err_set(err, NAMI_EUSAGE, "there is no check %zu: there are %zu", i + 1, at);
}
