/* shown.c: derived quantities of a model, and its constants as arrays. */
#include "model/shown.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "model/model.h"
#include "model/reads.h"

/* Marks the deterministic instances that instance k reads, and those that these read. */
static int mark_read(const struct model *m, const struct reads *g, int k, unsigned char *read)
{
    vec(int) todo = {0};
    int rc = vec_push(&todo, k);
    while (todo.n && !rc) {
        int at = todo.a[--todo.n];
        for (size_t r = g->off[at]; r < g->off[at + 1] && !rc; r++) {
            int from = g->read[r].from;
            if (read[from] || m->ir.node[from] >= 0) continue;
            read[from] = 1;
            rc = vec_push(&todo, from);
        }
    }
    vec_free(&todo);
    return rc;
}

int model_derived(const struct model *m, unsigned char *derived, nami_err *err)
{
    struct reads g = {0};
    unsigned char *read = new_array(unsigned char, m->ir.num_instances + 1);
    int rc = read ? reads_make(m, NULL, &g, err) : err_nomem(err);
    memset(derived, 0, m->ir.arrays.n);
    for (int k = 0; k < m->ir.num_instances && !rc; k++)
        if (m->ir.node[k] >= 0 && mark_read(m, &g, k, read)) rc = err_nomem(err);
    for (int e = 0; e < m->ir.num_elements && !rc; e++) {
        int k = m->ir.defined_by[e];
        if (m->ir.state[e] == E_RANDOM && k >= 0 && m->ir.node[k] < 0 && !read[k])
            derived[m->ir.array_of[e]] = 1;
    }
    reads_free(&g);
    free(read);
    return rc;
}

/* Given by the data, and the same in all data sets. */
static int is_given(const struct model *m, const struct array *a)
{
    int constant = a->data && !a->free && !a->raw && !a->source && a->n > 0;
    for (int e = a->first; e < a->first + a->n && constant; e++)
        constant = m->ir.state[e] == E_CONST;
    return constant;
}

int model_constants(const struct model *m, struct arena *mem, struct draws *out, nami_err *err)
{
    struct draws_var *var = arena_array(mem, struct draws_var, m->ir.arrays.n + 1);
    size_t n = 0;
    *out = (struct draws){.n = 1, .var = var};
    if (!var) return err_nomem(err);
    for (size_t i = 0; i < m->ir.arrays.n; i++) {
        const struct array *a = &m->ir.arrays.a[i];
        struct draws_var *v = &var[out->nvar];
        if (!is_given(m, a)) continue;
        *v = (struct draws_var){.name = a->name, .ndim = a->ndim, .integer = 1, .base = n};
        memcpy(v->dim, a->dim, sizeof a->dim);
        for (int e = a->first; e < a->first + a->n; e++)
            v->integer &= m->ir.value[e] == floor(m->ir.value[e]) && fabs(m->ir.value[e]) < 0x1p53;
        n += (size_t)a->n;
        out->nvar++;
    }
    double *x = arena_array(mem, double, n + 1);
    if (!x) return err_nomem(err);
    out->x = x;
    for (size_t i = 0; i < m->ir.arrays.n; i++) {
        const struct array *a = &m->ir.arrays.a[i];
        for (int e = a->first; is_given(m, a) && e < a->first + a->n; e++) *x++ = m->ir.value[e];
    }
    return 0;
}
