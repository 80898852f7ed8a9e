/* lint.c: warnings about legal but probably unintended models. */
#include "model/lang/lang.h"

/* The text at a place, as written. */
const char *source_text(struct model *m, struct place at)
{
    const char *s = m->source.text.s, *end = s + m->source.text.n;
    for (int line = 1; s && line < at.line; line++) {
        s = memchr(s, '\n', (size_t)(end - s));
        if (!s) return "";
        s++;
    }
    if (!s || end - s < at.col - 1 + at.len) return "";
    return diag_text(&m->source.diags, "%.*s", at.len, s + at.col - 1);
}

/* dnorm(0, 1.0E-6): BUGS uses precisions. */
static void tiny_precision(struct model *m, const struct stmt *s)
{
    for (int i = 0; i < s->ngiven; i++) {
        double tau;
        if (strcmp(s->formal[i].name, "tau") != 0 || !s->dist || s->given[i]->kind != T_NUMBER)
            continue;
        tau = s->given[i]->value;
        if (strcmp(s->dist->name, "normal") != 0 || !(tau > 0) || tau >= 1e-3) continue;
        diag_warning(&m->source.diags, s->rel->rhs->all,
                     "its second argument is a precision; a prior as wide as this draws what no "
                     "data look like",
                     "%s is a normal with sd = %g", source_text(m, s->rel->rhs->all),
                     1 / sqrt(tau));
    }
}

/* Do networks learn from draws of a training distribution instead? */
static int is_trained(const struct model *m, const struct stmt *s)
{
    for (int k = s->first; k < s->first + s->n; k++)
        if (!m->ir.train_prior || !m->ir.train_prior[k].kind) return 0;
    return 1;
}

void model_lint(struct model *m)
{
    for (size_t i = 0; i < m->ir.statements.n; i++)
        if (m->ir.statements.a[i].rel->stochastic && m->ir.statements.a[i].n &&
            !is_trained(m, &m->ir.statements.a[i]))
            tiny_precision(m, &m->ir.statements.a[i]);
}
