/* posterior_states.c: nami_posterior_probability: probabilities of the states of discrete
 * variables.
 */
#include <stdlib.h>
#include <string.h>

#include "api/posterior.h"
#include "base/err.h"

int states_begin(nami_posterior *p, nami_err *err)
{
    p->tally = new_array(struct tally, p->num_rows + 1);
    p->first_state = new_array(size_t, p->num_rows * p->q.nset + 1);
    p->discrete = arena_array(&p->mem, unsigned char, p->num_rows + 1);
    if (!p->tally || !p->first_state || !p->discrete) return err_nomem(err);
    for (int v = 0, k = 0; v < p->layout.nvar; v++)
        for (size_t e = 0; e < draws_var_size(&p->layout.var[v]); e++, k++)
            p->discrete[k] = p->layout.var[v].integer && variable_is_asked(p, &p->layout.var[v], e);
    return 0;
}

void states_put(nami_posterior *p, size_t i, size_t n)
{
    const struct answer *a = &p->answer;
    for (size_t k = 0; k < p->num_rows; k++)
        if (p->discrete[k])
            tally_put(&p->tally[k], p->q.per, n, a->z + p->row[k] * a->n + i,
                      a->logw ? a->logw + i : NULL, p->equal ? p->copies.a + i : NULL);
}

int states_end(nami_posterior *p, size_t set, nami_err *err)
{
    for (size_t k = 0; k < p->num_rows; k++) {
        struct tally *t = &p->tally[k];
        for (int s = 0; s < t->n; s++)
            if (vec_push(&p->states, t->state[s])) return err_nomem(err);
        p->first_state[set * p->num_rows + k + 1] = p->states.n;
        *t = (struct tally){0};
    }
    return 0;
}

const struct state *states_of(const nami_posterior *p, size_t set, size_t k, size_t *n)
{
    const size_t *at = &p->first_state[set * p->num_rows + k];
    *n = at[1] - at[0];
    return p->states.a + at[0];
}

int nami_posterior_probability(const nami_posterior *p, size_t set, const char *name, double state,
                               double *out, nami_err *err)
{
    err_clear(err);
    int rc = is_answered(p, set, err), k = rc ? -1 : dict_find(&p->names, name, strlen(name));
    size_t n;
    if (rc) return rc;
    if (k < 0) return no_such_scalar(p, name, err);
    const struct state *s = states_of(p, set, (size_t)k, &n);
    if (!n)
        return err_set(err, NAMI_EUSAGE,
                       "'%.60s' is not a discrete latent with at most %d states in these draws",
                       name, TALLY_STATES);
    *out = 0;
    for (size_t i = 0; i < n; i++)
        if (s[i].value == state) *out = s[i].share;
    return 0;
}
