/* graph.c: the graph of the stochastic nodes; deterministic ones are eliminated by substitution. */
#include "model/lang/lang.h"

/* ---- observe, infer, stages ---------------------------------------------------------- */

/* Marks the random elements of a declaration's reference. */
static int for_elements(struct model *m, const struct decl *d, unsigned char *mark, int value)
{
    struct box b;
    int oom = 0, some = 0, rc;
    struct term *t = resolve_alone(m, d->ref, NULL, &oom);
    if (!t) return oom ? NAMI_ENOMEM : 0;
    const struct array *a = &m->ir.arrays.a[t->array];
    if (!a->ready && !a->defined) return unknown_variable(m, d->ref->at, a->name), 0;
    rc = box_of(m, t, NULL, BOX_CONST, &b);
    if (rc == NOT_CONST) rc = say_not_const(m, t, NULL, "a subscript here", NULL);
    if (rc) return rc < 0 ? rc : 0;
    for (int i = 0; i < b.n; i++, box_next(&b))
        if (m->ir.defined_by[b.elem] >= 0 &&
            instance_stmt(m, m->ir.defined_by[b.elem])->rel->stochastic) {
            mark[b.elem] = (unsigned char)value;
            some = 1;
        }
    if (!some)
        diag_error(&m->source.diags, d->ref->all,
                   "only what has a distribution (~) can be listed here",
                   "%s is not a random variable", m->ir.arrays.a[t->array].name);
    return 0;
}

int model_observed(struct model *m)
{
    int rc = 0;
    for (size_t i = 0; i < m->source.syntax.decl.n && !rc; i++)
        if (m->source.syntax.decl.a[i].kind == D_OBSERVE)
            rc = for_elements(m, &m->source.syntax.decl.a[i], m->ir.observed, 1);
    return rc;
}

/* Applies the infer and stages declarations to the nodes. */
static int wishes(struct model *m)
{
    unsigned char *mark = new_array(unsigned char, m->ir.num_elements);
    int infer = 0, stages = 0, rc = mark ? 0 : NAMI_ENOMEM;
    for (size_t i = 0; i < m->source.syntax.decl.n && !rc; i++)
        if (m->source.syntax.decl.a[i].kind == D_INFER) {
            infer = 1;
            rc = for_elements(m, &m->source.syntax.decl.a[i], mark, 1);
        }
    for (int k = 0; k < m->ir.num_instances && !rc && infer; k++)
        if (m->ir.node[k] >= 0) {
            struct bn_node *v = &m->ir.bn->node.a[m->ir.node[k]];
            v->nuisance = !v->observed && !mark[m->ir.defined[m->ir.first_defined[k]]];
        }
    for (size_t i = 0; i < m->source.syntax.decl.n && !rc; i++) {
        const struct decl *d = &m->source.syntax.decl.a[i];
        if (d->kind != D_STAGE) continue;
        if (!stages) memset(mark, 0, (size_t)m->ir.num_elements);
        if (d->stage + 1 > stages) stages = d->stage + 1;
        rc = for_elements(m, d, mark, d->stage + 1);
    }
    for (int k = 0; k < m->ir.num_instances && !rc && stages; k++)
        if (m->ir.node[k] >= 0) { /* nodes without a stage come last */
            int s = mark[m->ir.defined[m->ir.first_defined[k]]];
            m->ir.bn->node.a[m->ir.node[k]].stage = s ? s - 1 : stages;
        }
    free(mark);
    return rc;
}

/* ---- nodes and edges ------------------------------------------------------------------- */

static int add_nodes(struct model *m, nami_err *err)
{
    struct str name = {0};
    int rc = 0;
    m->ir.node = arena_array(&m->mem, int, m->ir.num_instances + 1);
    if (!m->ir.node) return err_nomem(err);
    for (int k = 0; k < m->ir.num_instances && !rc; k++) {
        const struct stmt *s = instance_stmt(m, k);
        m->ir.node[k] = -1;
        if (!s->rel->stochastic) continue;
        name.n = 0;
        inst_name(m, k, &name);
        int v = name.oom
                    ? err_nomem(err)
                    : bn_declare(m->ir.bn, name.s, name.n, s->lhs->at.line, s->lhs->at.col, err);
        if (v < 0) {
            rc = v;
            break;
        }
        m->ir.node[k] = v;
        m->ir.bn->node.a[v].size = m->ir.first_defined[k + 1] - m->ir.first_defined[k];
        m->ir.bn->node.a[v].observed = m->ir.observed[m->ir.defined[m->ir.first_defined[k]]];
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
    const struct stmt *s = instance_stmt(m, k);
    int i = k - s->first;
    for (int r = 0; r < s->nref; r++) {
        const struct foot *f = &s->foot[r];
        for (int j = f->off[i]; f->random[i] && j < f->off[i + 1]; j++) {
            int e = f->elem[j];
            if (m->ir.state[e] != E_RANDOM || p->seen[m->ir.defined_by[e]] == child) continue;
            p->seen[m->ir.defined_by[e]] = child;
            if (vec_push(&p->stack, m->ir.defined_by[e])) return NAMI_ENOMEM;
        }
    }
    return 0;
}

static int add_edges(struct model *m, nami_err *err)
{
    struct parents p = {.m = m, .seen = raw_array(int, m->ir.num_instances)};
    int rc = p.seen ? 0 : err_nomem(err);
    for (int k = 0; k < m->ir.num_instances && !rc; k++) p.seen[k] = -1;
    for (int k = 0; k < m->ir.num_instances && !rc; k++) {
        if (m->ir.node[k] < 0) continue;
        if (read_by(&p, k, k)) rc = err_nomem(err);
        while (p.stack.n && !rc) {
            int v = p.stack.a[--p.stack.n];
            if (m->ir.node[v] >= 0)
                rc = bn_edge(m->ir.bn, m->ir.node[v], m->ir.node[k],
                             instance_stmt(m, k)->lhs->at.line, 0, err);
            else if (read_by(&p, v, k))
                rc = err_nomem(err);
        }
    }
    free(p.seen);
    vec_free(&p.stack);
    return rc;
}

/* ---- plates and classes: one for each loop, one for each statement ----------------------- */

/* Does x read the counter of this loop, or of one around it? */
static int reads_counter(const struct syntax *s, const struct expr *x, int loop)
{
    for (int l = loop; x->kind == X_REF && l >= 0; l = s->loop.a[l].outer)
        if (s->loop.a[l].var == x->name) return 1;
    for (int i = 0; i < x->narg; i++)
        if (reads_counter(s, x->arg[i], loop)) return 1;
    return 0;
}

/* A bound of a loop: its value, or its text if it varies between iterations. */
static int put_bound(struct model *m, const struct loop *l, const struct expr *x, struct str *out)
{
    int oom = 0, rc = NOT_CONST;
    double value = 0;
    if (!reads_counter(&m->source.syntax, x, l->outer)) {
        const struct term *t = resolve_alone(m, x, NULL, &oom);
        if (oom) return NAMI_ENOMEM;
        if (t) rc = eval_scalar(m, t, NULL, &value);
    }
    int leaf = rc == IS_CONST || x->kind != X_CALL;
    if (!leaf) str_put(out, "(");
    if (rc == IS_CONST)
        str_printf(out, "%.15g", value);
    else
        syntax_put_expr(&m->source.syntax, x, out);
    if (!leaf) str_put(out, ")");
    return rc < 0 ? rc : 0;
}

static char *plate_label(struct model *m, const struct loop *l)
{
    struct str t = {0};
    const struct expr *x = l->range;
    char *label = NULL;
    int rc = 0;
    if (l->var >= 0) str_printf(&t, "%s in ", syntax_name(&m->source.syntax, l->var));
    if (l->var < 0) {
        str_printf(&t, "elements of %s",
                   syntax_name(&m->source.syntax, x->name)); /* see vectorize.c */
    } else if (x->kind == X_CALL && x->narg == 2 &&
               !strcmp(syntax_name(&m->source.syntax, x->name), ":")) {
        rc = put_bound(m, l, x->arg[0], &t);
        str_put(&t, ":");
        if (!rc) rc = put_bound(m, l, x->arg[1], &t);
    } else {
        syntax_put_expr(&m->source.syntax, x, &t);
    }
    if (!rc && !t.oom) label = arena_strndup(&m->ir.bn->mem, t.s, t.n);
    str_free(&t);
    return label;
}

/* plate[l] is the plate of loop l, -1 if it has no stochastic nodes. */
static int add_plate(struct model *m, int loop, int *plate, nami_err *err)
{
    const struct loop *l = &m->source.syntax.loop.a[loop];
    vec(int) node = {0};
    int rc = 0;
    plate[loop] = -1;
    for (size_t i = 0; i < m->ir.statements.n && !rc; i++) {
        const struct stmt *s = &m->ir.statements.a[i];
        int in = 0;
        for (int d = 0; d < s->depth; d++) in |= s->loop[d] == loop;
        for (int k = s->first; in && s->rel->stochastic && k < s->first + s->n && !rc; k++)
            if (vec_push(&node, m->ir.node[k])) rc = err_nomem(err);
    }
    if (!rc && node.n) {
        struct bn_plate p = {.label = plate_label(m, l),
                             .n = (int)node.n,
                             .node = arena_array(&m->ir.bn->mem, int, node.n),
                             .outer = l->outer < 0 ? -1 : plate[l->outer]};
        plate[loop] = (int)m->ir.bn->plate.n;
        if (!p.label || !p.node || vec_push(&m->ir.bn->plate, p))
            rc = err_nomem(err);
        else
            memcpy(p.node, node.a, sizeof(int) * node.n);
    }
    vec_free(&node);
    return rc;
}

/* "mu[k,1:2]": the left side as written, without blanks. */
static char *class_name(struct model *m, const struct stmt *s)
{
    struct str t = {0};
    char *name = NULL, *to;
    syntax_put_expr(&m->source.syntax, s->rel->lhs, &t);
    if (!t.oom && (name = to = arena_strndup(&m->ir.bn->mem, t.s, t.n))) {
        for (const char *c = name; *c; c++)
            if (*c != ' ') *to++ = *c;
        *to = 0;
    }
    str_free(&t);
    return name;
}

static int add_class(struct model *m, const struct stmt *s, const int *plate, nami_err *err)
{
    struct bn_class c = {.name = class_name(m, s),
                         .plate = s->depth ? plate[s->loop[s->depth - 1]] : -1};
    if (!c.name || vec_push(&m->ir.bn->cls, c)) return err_nomem(err);
    for (int k = s->first; k < s->first + s->n; k++)
        m->ir.bn->node.a[m->ir.node[k]].cls = (int)m->ir.bn->cls.n - 1;
    return 0;
}

static int add_plates(struct model *m, nami_err *err)
{
    int *plate = raw_array(int, m->source.syntax.loop.n);
    int rc = plate ? 0 : err_nomem(err);
    for (size_t l = 0; l < m->source.syntax.loop.n && !rc; l++)
        rc = add_plate(m, (int)l, plate, err);
    for (size_t i = 0; i < m->ir.statements.n && !rc; i++)
        if (m->ir.statements.a[i].rel->stochastic && m->ir.statements.a[i].n)
            rc = add_class(m, &m->ir.statements.a[i], plate, err);
    free(plate);
    return rc;
}

int model_graph(struct model *m, nami_err *err)
{
    int rc;
    m->ir.bn = bn_new();
    if (!m->ir.bn) return err_nomem(err);
    if ((rc = add_nodes(m, err)) || (rc = add_edges(m, err))) return rc;
    if (!bn_n(m->ir.bn)) {
        diag_error(&m->source.diags, (struct place){0, 0, 0},
                   "a model has at least one relation x ~ dist(...)",
                   "the model has no random variable");
        return 0;
    }
    if ((rc = add_plates(m, err))) return rc;
    if (wishes(m)) rc = err_nomem(err);
    return rc;
}
