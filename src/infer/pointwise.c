/* pointwise.c: log densities of observed variables one by one: the program of the model's density,
   restricted to them, whose rows are read out instead of summed. */
#include "infer/pointwise.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/workers.h"

struct at {
    int elem, row;
};

static int by_element(const void *a, const void *b)
{
    return ((const struct at *)a)->elem - ((const struct at *)b)->elem;
}

/* The rows that hold the densities, with the elements whose rows are their first argument. */
static int find_rows(struct pointwise *p, const int *element_of_row, nami_err *err)
{
    vec(struct at) at = {0};
    int rc = 0;
    for (size_t c = 0; c < p->prog.code.n && !rc; c++) {
        const struct instr *x = &p->prog.code.a[c];
        for (int i = 0; x->sum && i < x->n && !rc; i++) {
            struct at found = {element_of_row[operand_at(&x->arg[0], i, 0)], x->out + i};
            rc = vec_push(&at, found) ? err_nomem(err) : 0;
        }
    }
    p->n = (int)at.n;
    p->elem = raw_array(int, at.n + 1);
    p->row = raw_array(int, at.n + 1);
    if (!rc && (!p->elem || !p->row)) rc = err_nomem(err);
    if (!rc && at.n) qsort(at.a, at.n, sizeof *at.a, by_element);
    for (size_t i = 0; i < at.n && !rc; i++) p->elem[i] = at.a[i].elem, p->row[i] = at.a[i].row;
    vec_free(&at);
    return rc;
}

static int find_variables(struct pointwise *p, nami_err *err)
{
    const struct model *m = p->model;
    struct layout_of {
        int array, n;
    } last = {-1, 0};
    if (!(p->var = new_array(struct draws_var, model_num_arrays(m) + 1))) return err_nomem(err);
    for (int i = 0; i < p->n; i += last.n) {
        struct draws_var *v = &p->var[p->nvar++];
        last = (struct layout_of){element_array(m, p->elem[i]), 0};
        while (i + last.n < p->n && element_array(m, p->elem[i + last.n]) == last.array) last.n++;
        *v = (struct draws_var){
            .name = array_name(m, last.array), .ndim = 1, .dim = {last.n}, .base = (size_t)i};
        if (last.n == array_size(m, last.array)) v->ndim = array_shape(m, last.array, v->dim);
    }
    return 0;
}

/* Observed instances, with the rows of their elements. */
static int mark(const struct model *m, unsigned char *only, int *element_of_row, nami_err *err)
{
    for (int e = 0; e < model_num_elements(m); e++) {
        int k = element_instance(m, e);
        if (element_row(m, e) >= 0) element_of_row[element_row(m, e)] = e;
        if (k < 0 || element_node(m, e) < 0 || !element_is_observed(m, e)) continue;
        only[k] = 1;
        if (!element_dist(m, e)) {
            struct str name = {0};
            elem_name(m, e, &name);
            int rc = err_set(err, NAMI_EINPUT,
                             "%s is simulated: it has no density, and no log likelihood",
                             name.s ? name.s : "a variable");
            str_free(&name);
            return rc;
        }
    }
    return 0;
}

int pointwise_make(struct pointwise *p, const struct model *m, nami_err *err)
{
    unsigned char *only = new_array(unsigned char, model_num_instances(m) + 1);
    int *element_of_row = new_array(int, model_num_rows(m) + model_num_elements(m) + 1);
    *p = (struct pointwise){.model = m};
    int rc = only && element_of_row ? mark(m, only, element_of_row, err) : err_nomem(err);
    if (!rc && model_program(m, &p->prog, 1, only)) rc = err_nomem(err);
    if (!rc) rc = find_rows(p, element_of_row, err);
    if (!rc) rc = find_variables(p, err);
    free(only);
    free(element_of_row);
    return rc;
}

void pointwise_free(struct pointwise *p)
{
    prog_free(&p->prog);
    free(p->elem);
    free(p->row);
    free(p->var);
    *p = (struct pointwise){0};
}

/* ---- values --------------------------------------------------------------------------------- */

struct job {
    const struct pointwise *p;
    size_t n;
    const double *x;
    double *out;
};

static int run_chunk(void *job, void *workspace, size_t i, size_t n, nami_err *err)
{
    const struct job *j = job;
    struct exec *e = workspace;
    (void)err;
    e->lanes = (int)n;
    for (int r = 0; r < j->p->prog.nnode; r++)
        memcpy(e->row + (size_t)r * (size_t)e->cap, j->x + (size_t)r * j->n + i, n * sizeof *j->x);
    exec_run(e);
    for (int k = 0; k < j->p->n; k++)
        memcpy(j->out + (size_t)k * j->n + i, e->row + (size_t)j->p->row[k] * (size_t)e->cap,
               n * sizeof *j->out);
    return 0;
}

static int init(void *job, void *workspace, nami_err *err)
{
    const struct job *j = job;
    struct exec *e = workspace;
    int rc = exec_init(e, &j->p->prog, exec_lanes(&j->p->prog), 0, 0, err);
    e->param = model_weights(j->p->model);
    return rc;
}

static void fini(void *workspace) { exec_fini(workspace); }

int pointwise_logp(const struct pointwise *p, size_t n, const double *x, int threads, double *out,
                   nami_err *err)
{
    struct job j = {p, n, x, out};
    struct workers w = {.job = &j, .size = sizeof(struct exec), .init = init, .fini = fini};
    return workers_once(&w, threads, n, (size_t)exec_lanes(&p->prog), run_chunk, err);
}
