/* trick.c: the zeros trick and the ones trick of BUGS: data that are always 0 (or 1), with a
   "distribution" whose density is any likelihood.  Nothing can be drawn from it. */
#include "model/lang/lang.h"

static const struct {
    const char *dist, *names[2];
    double value;
} tricks[] = {
    {"poisson", {"zeros", "zero"}, 0},
    {"bernoulli", {"ones", "one"}, 1},
    {"bernoulli_logit", {"ones", "one"}, 1},
};

/* Are the data artificial, according to their name or because a data block computes them? */
static int is_made(const struct model *m, int array, const char *const *names)
{
    const char *name = m->ir.arrays.a[array].name;
    if (strcmp(name, names[0]) == 0 || strcmp(name, names[1]) == 0) return 1;
    for (size_t i = 0; i < m->ir.statements.n; i++)
        if (m->ir.statements.a[i].rel->in_data && m->ir.statements.a[i].lhs->array == array)
            return 1;
    return 0;
}

static int all_equal(const struct model *m, const struct stmt *s, double value)
{
    for (int k = s->first; k < s->first + s->n; k++) {
        int e = m->ir.defined[m->ir.first_defined[k]];
        if (!m->ir.observed[e] || m->ir.value[e] != value) return 0;
    }
    return 1;
}

/* Does an instance read data, directly or through deterministic variables? */
static int reads_data(const struct model *m, int k, int deep)
{
    const struct stmt *s = instance_stmt(m, k);
    int i = k - s->first;
    for (int r = 0; r < s->nref; r++)
        for (int j = s->foot[r].off[i]; j < s->foot[r].off[i + 1]; j++) {
            int e = s->foot[r].elem[j], by = m->ir.defined_by[e];
            const struct array *a = &m->ir.arrays.a[m->ir.array_of[e]];
            if (a->data && !a->is_const && a->n > 1) return 1;
            if (by >= 0 && deep && !instance_stmt(m, by)->rel->stochastic &&
                reads_data(m, by, deep - 1))
                return 1;
        }
    return 0;
}

int model_tricks(struct model *m)
{
    for (size_t i = 0; i < m->ir.statements.n; i++) {
        const struct stmt *s = &m->ir.statements.a[i];
        for (size_t k = 0; s->dist && s->n && k < sizeof tricks / sizeof *tricks; k++) {
            if (strcmp(s->dist->name, tricks[k].dist) != 0) continue;
            if (!is_made(m, s->lhs->array, tricks[k].names) || !all_equal(m, s, tricks[k].value))
                continue;
            if (!reads_data(m, s->first, 4)) continue;
            diag_error(
                &m->source.diags, s->lhs->all,
                "write the distribution of the data itself: y[i] ~ ...; see `nami list dists`",
                "this is the %s trick: a density without anything to draw from",
                tricks[k].names[0]);
        }
    }
    return 0;
}
