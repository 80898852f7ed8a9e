/* lint.c: what is legal but probably not meant. */
#include "model/lang/lang.h"

/* dnorm(0, 1.0E-6): BUGS counts in precisions. */
static void tiny_precision(struct model *m, const struct stmt *s)
{
    for (int i = 0; i < s->ngiven; i++) {
        double tau;
        if (strcmp(s->formal[i].name, "tau") != 0 || !s->dist || s->given[i]->kind != T_NUMBER) continue;
        tau = s->given[i]->value;
        if (strcmp(s->dist->name, "normal") != 0 || !(tau > 0) || tau >= 1e-3) continue;
        diag_warning(&m->diags, s->rel->rhs->all,
                     "dnorm(mean, precision); a prior as wide as this makes draws that no data look like",
                     "%s(..., %g) is a normal with sd = %g", s->name, tau, 1 / sqrt(tau));
    }
}

void model_lint(struct model *m)
{
    for (size_t i = 0; i < m->stmt.n; i++)
        if (m->stmt.a[i].rel->stochastic && m->stmt.a[i].n) tiny_precision(m, &m->stmt.a[i]);
}
