/* schedule.c: assigns levels: an instance is on a higher level than those that it reads. Instances
   of one statement on one level are evaluated together. */
#include "model/lang/lang.h"

/* An instance that is being visited; the next element it reads. */
struct frame {
    int inst, ref, at;
};

struct walk {
    struct model *m;
    int *level;
    int through; /* also through stochastic instances? */
    vec(struct frame) stack;
};

static int is_constant(const struct model *m, int k)
{
    return instance_stmt(m, k)->rel->in_data ||
           m->ir.first_defined[k] == m->ir.first_defined[k + 1] ||
           m->ir.state[m->ir.defined[m->ir.first_defined[k]]] == E_CONST;
}

/* The next instance that k reads, from (r, j) on, or -1. */
static int next_read(const struct model *m, int k, int *r, int *j)
{
    const struct stmt *s = instance_stmt(m, k);
    int i = k - s->first;
    for (; *r < s->nref; ++*r, *j = 0) {
        const struct foot *f = &s->foot[*r];
        int n = f->off[i + 1] - f->off[i];
        if (!f->random[i]) continue;
        while (*j < n) {
            int e = f->elem[f->off[i] + (*j)++];
            if (m->ir.state[e] == E_RANDOM) return m->ir.defined_by[e];
        }
    }
    return -1;
}

static void report_cycle(struct walk *w, int k)
{
    struct model *m = w->m;
    struct str path = {0};
    size_t at = w->stack.n;
    do at--;
    while (w->stack.a[at].inst != k && at);
    int shown = 0;
    for (size_t i = at; i < w->stack.n; i++)
        if (shown++ < 6) {
            inst_name(m, w->stack.a[i].inst, &path);
            str_put(&path, " <- ");
        }
    if (shown > 6) str_put(&path, "... <- ");
    inst_name(m, k, &path);
    diag_error(&m->source.diags, instance_stmt(m, k)->lhs->all,
               "a model is a graph without cycles: break it", "this depends on itself: %s",
               path.s ? path.s : "");
    str_free(&path);
}

enum { NEW = -1, OPEN = -2 };

static int visit(struct walk *w, int root)
{
    struct model *m = w->m;
    w->stack.n = 0;
    if (vec_push(&w->stack, ((struct frame){root, 0, 0}))) return NAMI_ENOMEM;
    w->level[root] = OPEN;
    while (w->stack.n) {
        struct frame *top = &w->stack.a[w->stack.n - 1];
        int k = top->inst, v = next_read(m, k, &top->ref, &top->at);
        if (v >= 0) {
            if (!w->through && instance_stmt(m, v)->rel->stochastic) continue;
            if (w->level[v] == OPEN) {
                report_cycle(w, v);
                return IS_WRONG;
            }
            if (w->level[v] >= 0) continue;
            w->level[v] = OPEN;
            if (vec_push(&w->stack, ((struct frame){v, 0, 0}))) return NAMI_ENOMEM;
            continue;
        }
        int r = 0, j = 0, level = 0;
        while ((v = next_read(m, k, &r, &j)) >= 0)
            if ((w->through || !instance_stmt(m, v)->rel->stochastic) && w->level[v] >= level)
                level = w->level[v] + 1;
        w->level[k] = level;
        w->stack.n--;
    }
    return 0;
}

static int levels(struct model *m, int through, int **out)
{
    struct walk w = {
        .m = m, .through = through, .level = arena_array(&m->mem, int, m->ir.num_instances + 1)};
    int rc = w.level ? 0 : NAMI_ENOMEM;
    for (int k = 0; k < m->ir.num_instances && !rc; k++) w.level[k] = NEW;
    for (int k = 0; k < m->ir.num_instances && !rc; k++)
        if (w.level[k] == NEW && !is_constant(m, k)) rc = visit(&w, k);
    vec_free(&w.stack);
    *out = w.level;
    return rc < 0 ? rc : 0;
}

/* Rows: the random elements, then free constants, then constants that are read together with
   random ones. */
static void number_rows(struct model *m)
{
    for (size_t i = 0; i < m->ir.arrays.n;
         i++) { /* in the order of the file, independent of the data */
        const struct array *a = &m->ir.arrays.a[i];
        for (int e = a->first; e < a->first + a->n; e++)
            m->ir.row[e] = m->ir.state[e] == E_RANDOM ? m->ir.num_rows++ : -1;
    }
    for (int e = 0; e < m->ir.num_elements; e++)
        if (m->ir.row[e] < 0 && m->ir.arrays.a[m->ir.array_of[e]].free)
            m->ir.row[e] = m->ir.num_rows++;
    for (size_t i = 0; i < m->ir.statements.n; i++) {
        const struct stmt *s = &m->ir.statements.a[i];
        for (int r = 0; r < s->nref && s->n; r++) {
            const struct foot *f = &s->foot[r];
            for (int k = 0; k < s->n; k++)
                for (int j = f->off[k]; f->random[k] && j < f->off[k + 1]; j++)
                    if (m->ir.row[f->elem[j]] < 0)
                        m->ir.row[f->elem[j]] = m->ir.num_rows + m->ir.num_constant_rows++;
        }
    }
}

int model_schedule(struct model *m)
{
    m->ir.row = arena_array(&m->mem, int, m->ir.num_elements + 1);
    if (!m->ir.row) return NAMI_ENOMEM;
    int rc = levels(m, 1, &m->ir.level);
    if (!rc && !m->source.diags.nerror) rc = levels(m, 0, &m->ir.density_level);
    if (!rc && !m->source.diags.nerror) number_rows(m);
    return rc;
}
