/* graph.c: the graph over the stochastic nodes: deterministic ones are substituted away. */
#include "model/lang/lang.h"

/* ---- observe, infer, stages ---------------------------------------------------------- */

/* Marks the random elements of a declaration's reference. */
static int for_elements(struct model *m, const struct decl *d, unsigned char *mark, int value)
{
    struct box b;
    int oom = 0, some = 0, rc;
    struct term *t = resolve_alone(m, d->ref, NULL, &oom);
    if (!t) return oom ? NAMI_ENOMEM : 0;
    const struct array *a = &m->array.a[t->array];
    if (!a->ready && !a->defined) return unknown_variable(m, d->ref->at, a->name), 0;
    rc = box_of(m, t, NULL, BOX_CONST, &b);
    if (rc == NOT_CONST) rc = say_not_const(m, t, NULL, "a subscript here", NULL);
    if (rc) return rc < 0 ? rc : 0;
    for (int i = 0; i < b.n; i++, box_next(&b))
        if (m->owner[b.elem] >= 0 && m->stmt.a[m->inst_stmt[m->owner[b.elem]]].rel->stochastic) {
            mark[b.elem] = (unsigned char)value;
            some = 1;
        }
    if (!some)
        diag_error(&m->diags, d->ref->all, "only what has a distribution (~) can be listed here",
                   "%s is not a random variable", m->array.a[t->array].name);
    return 0;
}

int model_observed(struct model *m)
{
    int rc = 0;
    for (size_t i = 0; i < m->syntax.decl.n && !rc; i++)
        if (m->syntax.decl.a[i].kind == D_OBSERVE)
            rc = for_elements(m, &m->syntax.decl.a[i], m->observed, 1);
    return rc;
}

/* What infer and stages say of the nodes. */
static int wishes(struct model *m)
{
    unsigned char *mark = new_array(unsigned char, m->nelem);
    int infer = 0, stages = 0, rc = mark ? 0 : NAMI_ENOMEM;
    for (size_t i = 0; i < m->syntax.decl.n && !rc; i++)
        if (m->syntax.decl.a[i].kind == D_INFER) {
            infer = 1;
            rc = for_elements(m, &m->syntax.decl.a[i], mark, 1);
        }
    for (int k = 0; k < m->ninst && !rc && infer; k++)
        if (m->node[k] >= 0) {
            struct bn_node *v = &m->bn->node.a[m->node[k]];
            v->nuisance = !v->observed && !mark[m->lhs[m->lhs_off[k]]];
        }
    for (size_t i = 0; i < m->syntax.decl.n && !rc; i++) {
        const struct decl *d = &m->syntax.decl.a[i];
        if (d->kind != D_STAGE) continue;
        if (!stages) memset(mark, 0, (size_t)m->nelem);
        if (d->stage + 1 > stages) stages = d->stage + 1;
        rc = for_elements(m, d, mark, d->stage + 1);
    }
    for (int k = 0; k < m->ninst && !rc && stages; k++)
        if (m->node[k] >= 0) { /* what no stage names comes last */
            int s = mark[m->lhs[m->lhs_off[k]]];
            m->bn->node.a[m->node[k]].stage = s ? s - 1 : stages;
        }
    free(mark);
    return rc;
}

/* ---- nodes and edges ------------------------------------------------------------------- */

static int add_nodes(struct model *m, nami_err *err)
{
    struct str name = {0};
    int rc = 0;
    m->node = arena_array(&m->mem, int, m->ninst + 1);
    if (!m->node) return err_nomem(err);
    for (int k = 0; k < m->ninst && !rc; k++) {
        const struct stmt *s = &m->stmt.a[m->inst_stmt[k]];
        m->node[k] = -1;
        if (!s->rel->stochastic) continue;
        name.n = 0;
        inst_name(m, k, &name);
        int v = name.oom ? err_nomem(err)
                         : bn_declare(m->bn, name.s, name.n, s->lhs->at.line, s->lhs->at.col, err);
        if (v < 0) {
            rc = v;
            break;
        }
        m->node[k] = v;
        m->bn->node.a[v].size = m->lhs_off[k + 1] - m->lhs_off[k];
        m->bn->node.a[v].observed = m->observed[m->lhs[m->lhs_off[k]]];
    }
    str_free(&name);
    return rc;
}

struct parents {
    struct model *m;
    int *seen; /* by instance: the last child it was reached from */
    vec(int) stack;
};

static int read_by(struct parents *p, int k, int child)
{
    const struct model *m = p->m;
    const struct stmt *s = &m->stmt.a[m->inst_stmt[k]];
    int i = k - s->first;
    for (int r = 0; r < s->nref; r++) {
        const struct foot *f = &s->foot[r];
        for (int j = f->off[i]; f->random[i] && j < f->off[i + 1]; j++) {
            int e = f->elem[j];
            if (m->state[e] != E_RANDOM || p->seen[m->owner[e]] == child) continue;
            p->seen[m->owner[e]] = child;
            if (vec_push(&p->stack, m->owner[e])) return NAMI_ENOMEM;
        }
    }
    return 0;
}

static int add_edges(struct model *m, nami_err *err)
{
    struct parents p = {.m = m, .seen = raw_array(int, m->ninst)};
    int rc = p.seen ? 0 : err_nomem(err);
    for (int k = 0; k < m->ninst && !rc; k++) p.seen[k] = -1;
    for (int k = 0; k < m->ninst && !rc; k++) {
        if (m->node[k] < 0) continue;
        if (read_by(&p, k, k)) rc = err_nomem(err);
        while (p.stack.n && !rc) {
            int v = p.stack.a[--p.stack.n];
            if (m->node[v] >= 0)
                rc = bn_edge(m->bn, m->node[v], m->node[k], m->stmt.a[m->inst_stmt[k]].lhs->at.line, 0, err);
            else if (read_by(&p, v, k))
                rc = err_nomem(err);
        }
    }
    free(p.seen);
    vec_free(&p.stack);
    return rc;
}

/* ---- plates: one for each loop ------------------------------------------------------------ */

static int add_plate(struct model *m, int loop, nami_err *err)
{
    const struct loop *l = &m->syntax.loop.a[loop];
    struct str label = {0};
    vec(int) node = {0};
    int rc = 0;
    for (size_t i = 0; i < m->stmt.n && !rc; i++) {
        const struct stmt *s = &m->stmt.a[i];
        int in = 0;
        for (int d = 0; d < s->depth; d++) in |= s->loop[d] == loop;
        for (int k = s->first; in && s->rel->stochastic && k < s->first + s->n && !rc; k++)
            if (vec_push(&node, m->node[k])) rc = err_nomem(err);
    }
    if (!rc && node.n) {
        str_printf(&label, "%s in ", syntax_name(&m->syntax, l->var));
        syntax_put_expr(&m->syntax, l->range, &label);
        struct bn_plate p = {.label = label.oom ? NULL : arena_strndup(&m->bn->mem, label.s, label.n),
                             .n = (int)node.n,
                             .node = arena_array(&m->bn->mem, int, node.n)};
        if (!p.label || !p.node || vec_push(&m->bn->plate, p))
            rc = err_nomem(err);
        else
            memcpy(p.node, node.a, sizeof(int) * node.n);
    }
    str_free(&label);
    vec_free(&node);
    return rc;
}

int model_graph(struct model *m, nami_err *err)
{
    int rc;
    m->bn = bn_new();
    if (!m->bn) return err_nomem(err);
    if ((rc = add_nodes(m, err)) || (rc = add_edges(m, err))) return rc;
    if (!bn_n(m->bn)) {
        diag_error(&m->diags, (struct place){0, 0, 0}, "a model has at least one relation x ~ dist(...)",
                   "the model has no random variable");
        return 0;
    }
    for (size_t l = 0; l < m->syntax.loop.n && !rc; l++) rc = add_plate(m, (int)l, err);
    if (!rc && wishes(m)) rc = err_nomem(err);
    return rc;
}
