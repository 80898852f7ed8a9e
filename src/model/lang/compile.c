/* compile.c: compiles statements to programs, level by level, one instruction per plate. */
#include <limits.h>

#include "model/lang/compile.h"

/* ---- one group ---------------------------------------------------------------------- */

/* The rows that the left sides define. */
static int compile_lhs(struct compiler *c, struct operand *out)
{
    const struct model *m = c->m;
    int w = m->ir.first_defined[c->inst[0] + 1] - m->ir.first_defined[c->inst[0]];
    int *idx = raw_array(int, (size_t)c->n *(size_t)w);
    if (!idx) return NAMI_ENOMEM;
    for (int i = 0; i < c->n; i++)
        for (int j = 0; j < w; j++)
            idx[(size_t)i * (size_t)w + (size_t)j] =
                m->ir.row[m->ir.defined[m->ir.first_defined[c->inst[i]] + j]];
    int rc = operand_of(c, idx, c->n, w, out);
    free(idx);
    return rc;
}

static int is_consecutive(const struct operand *o, int n)
{
    return !o->idx && (o->m == 1 || o->sj == 1) && (n == 1 || o->si == o->m);
}

static int compile_assignment(struct compiler *c)
{
    struct model *m = c->m;
    const struct stmt *s = c->s;
    struct operand lhs;
    struct val v;
    size_t before = c->p->code.n;
    int rc = compile_lhs(c, &lhs);
    if (!rc) rc = compile_term(c, s->rhs, &v);
    if (rc) return rc;
    if (v.o.m != lhs.m && v.o.m != 1) {
        struct str name = {0};
        inst_name(m, c->inst[0], &name);
        diag_error(&m->source.diags, s->rhs->all, NULL, "%s has %d element%s, but this has %d",
                   name.s ? name.s : "it", lhs.m, lhs.m == 1 ? "" : "s", v.o.m);
        str_free(&name);
        return IS_WRONG;
    }
    struct instr *last = c->p->code.n > before ? &c->p->code.a[c->p->code.n - 1] : NULL;
    if (last && last->out >= 0 && !v.o.is_const && v.o.base == last->out && v.o.m == lhs.m &&
        is_consecutive(&v.o, c->n) && is_consecutive(&lhs, c->n)) {
        c->temp = last->out; /* the last instruction writes it directly */
        last->out = lhs.base;
        return 0;
    }
    struct operand from, to;
    if (operand_flat(c, &v.o, lhs.m, &from) || operand_flat(c, &lhs, lhs.m, &to))
        return NAMI_ENOMEM;
    return prog_emit_copy(c->p, c->n * lhs.m, from, to) ? 0 : NAMI_ENOMEM;
}

static int compile_bound(struct compiler *c, const struct term *t, double open, struct val *v)
{
    if (t) return compile_term(c, t, v);
    int k = shared_const(c, open);
    if (k < 0) return NAMI_ENOMEM;
    *v = (struct val){.o = {.is_const = 1, .m = 1, .base = k}};
    return 0;
}

static int compile_args(struct compiler *c, struct val *arg, int *narg, int *factored)
{
    const struct stmt *s = c->s;
    int rc = 0, wanted = *factored && s->dist->factored;
    *narg = s->narg;
    *factored = 0;
    for (int i = 0; i < s->narg && !rc; i++) {
        if (wanted && i == s->dist->factor_arg) rc = compile_factored(c, &arg[i], factored);
        if (!rc && !(*factored && i == s->dist->factor_arg))
            rc = compile_term(c, s->arg[i], &arg[i]);
    }
    if (!rc && s->rel->trunc) {
        if (!(rc = compile_bound(c, s->lower, -INFINITY, &arg[*narg])))
            rc = compile_bound(c, s->upper, INFINITY, &arg[*narg + 1]);
        *narg += 2;
    }
    return rc;
}

static int compile_density(struct compiler *c, const struct operand *lhs, const struct val *arg,
                           int narg)
{
    const struct dist *d = c->s->dist;
    int truncated = c->s->rel->trunc != 0;
    struct instr *x = emit(c, d->logp ? I_MAP : I_BLOCK, c->n, 1);
    if (!x) return NAMI_ENOMEM;
    x->narg = narg + 1;
    x->arg[0] = *lhs;
    x->dim[0] = lhs->m;
    for (int i = 0; i < narg; i++) x->arg[i + 1] = arg[i].o, x->dim[i + 1] = arg[i].o.m;
    x->self = d;
    x->map = truncated ? truncated_logp : d->logp;
    x->map_grad = truncated ? truncated_grad : d->grad;
    x->map_both = truncated ? NULL : d->both;
    x->map_float = truncated ? NULL : d->both_float;
    x->block = d->blogp;
    x->block_grad = d->bgrad;
    x->nwork = d->work ? d->work(x->dim) : 0;
    x->sum = 1;
    x->out = new_rows(c, (size_t)c->n);
    return 0;
}

static int compile_draw(struct compiler *c, const struct dist *d, const struct operand *lhs,
                        const struct val *arg, int narg)
{
    struct instr *x = emit(c, d->sample ? I_DRAW : I_BDRAW, c->n, lhs->m);
    if (!x) return NAMI_ENOMEM;
    x->narg = narg;
    x->outs = *lhs;
    x->dim[0] = lhs->m;
    for (int i = 0; i < narg; i++) x->arg[i] = arg[i].o, x->dim[i + 1] = arg[i].o.m;
    x->self = d;
    x->draw = c->s->rel->trunc ? truncated_sample : d->sample;
    x->bdraw = d->bsample;
    x->nwork = d->work ? d->work(x->dim) : 0;
    return 0;
}

int compile_group(struct compiler *c, int by_density)
{
    struct val arg[DIST_ARGS + 2];
    struct operand lhs;
    int narg, rc, factored = !by_density;
    if (c->s->rhs) return compile_assignment(c);
    if (!c->s->dist || (!by_density && c->m->source.simulator))
        return 0; /* a simulator draws all or nothing */
    if ((rc = compile_lhs(c, &lhs)) || (rc = compile_args(c, arg, &narg, &factored))) return rc;
    if (by_density) return compile_density(c, &lhs, arg, narg);
    return compile_draw(c, factored ? c->s->dist->factored : c->s->dist, &lhs, arg, narg);
}

/* ---- all groups ---------------------------------------------------------------------- */

struct key {
    int level, stmt, inst;
    uint64_t form; /* hash of the forms of its references: equal ones are grouped */
};

static uint64_t mix_shape(uint64_t h, const int *shape)
{
    for (int d = 0; d <= shape[0]; d++) h = (h ^ (uint64_t)(unsigned)shape[d]) * 1099511628211u;
    return h;
}

/* rep() and ranges, whose sizes may differ between iterations */
static uint64_t mix_sizes(struct model *m, const struct term *t, const int *counter, uint64_t h)
{
    int shape[SHAPE];
    if (t->kind == T_REF) return h; /* see foot.shape */
    if ((t->kind == T_REP || t->kind == T_RANGE) && term_shape(m, t, counter, shape) == IS_CONST)
        h = mix_shape(h, shape);
    for (int i = 0; i < t->narg; i++) h = mix_sizes(m, t->arg[i], counter, h);
    return h;
}

static uint64_t form_of(struct model *m, const struct stmt *s, int i)
{
    const int *counter = s->counter + (size_t)i * (size_t)s->depth;
    uint64_t h = 1469598103934665603u;
    for (int r = 0; r < s->nref; r++) {
        const struct foot *f = &s->foot[r];
        h = (h ^ f->random[i]) * 1099511628211u;
        h = (h ^ (uint64_t)f->pick[i]) * 1099511628211u;
        h = mix_shape((h ^ f->low[i]) * 1099511628211u, f->shape[i]);
    }
    if (s->rhs) return mix_sizes(m, s->rhs, counter, h);
    for (int k = 0; k < s->narg; k++) h = mix_sizes(m, s->arg[k], counter, h);
    return h;
}

static int compare(const void *a_, const void *b_)
{
    const struct key *a = a_, *b = b_;
    if (a->level != b->level) return a->level < b->level ? -1 : 1;
    if (a->stmt != b->stmt) return a->stmt < b->stmt ? -1 : 1;
    if (a->form != b->form) return a->form < b->form ? -1 : 1;
    return (a->inst > b->inst) - (a->inst < b->inst);
}

static int collect(struct model *m, int by_density, const unsigned char *only, struct key *key)
{
    int n = 0, sorted = 1;
    for (int k = 0; k < m->ir.num_instances; k++) {
        const struct stmt *s = instance_stmt(m, k);
        int level = by_density ? m->ir.density_level[k] : m->ir.level[k];
        int w = m->ir.first_defined[k + 1] - m->ir.first_defined[k];
        if (level < 0) continue;
        if (only && (s->rel->stochastic ? !only[k] : only[k] == COMPILE_NOT)) continue;
        uint64_t form = form_of(m, s, k - s->first) + (uint64_t)w;
        if (by_density && s->rel->stochastic) { /* all at the end; data and latents apart */
            level = INT_MAX;
            form = 2 * form + m->ir.observed[m->ir.defined[m->ir.first_defined[k]]];
        }
        key[n] = (struct key){level, m->ir.statement_of[k], k, form};
        if (n) sorted &= compare(&key[n - 1], &key[n]) < 0;
        n++;
    }
    if (!sorted) qsort(key, (size_t)n, sizeof *key, compare);
    return n;
}

/* First fills the rows of constants: those that are read together with random elements and, in
   sampling programs, the free ones. */
static int copy_constants(struct compiler *c, int free_too)
{
    const struct model *m = c->m;
    vec(int) rows = {0};
    size_t first = c->p->constant.n;
    int rc = 0;
    for (int e = 0; e < m->ir.num_elements && !rc; e++) {
        int is_free = free_too && m->ir.arrays.a[m->ir.array_of[e]].free;
        if (m->ir.row[e] < m->ir.num_rows && !is_free) continue;
        if (vec_push(&rows, m->ir.row[e]) || vec_push(&c->p->constant, m->ir.value[e]))
            rc = NAMI_ENOMEM;
    }
    struct operand from = {.is_const = 1, .m = 1, .base = (int)first, .si = 1}, to;
    if (rows.n && !rc) rc = operand_of(c, rows.a, (int)rows.n, 1, &to);
    if (rows.n && !rc && !prog_emit_copy(c->p, (int)rows.n, from, to)) rc = NAMI_ENOMEM;
    vec_free(&rows);
    return rc;
}

int model_compile(struct model *m, struct prog *p, int by_density, const unsigned char *only)
{
    struct compiler c = {.m = m, .p = p, .s = m->ir.statements.a};
    struct key *key = raw_array(struct key, m->ir.num_instances);
    int *inst = raw_array(int, m->ir.num_instances), rc = 0;
    if (!key || !inst) rc = NAMI_ENOMEM;
    int n = rc ? 0 : collect(m, by_density, only, key);
    p->nnode = m->ir.num_rows;
    p->nrow = c.base = c.temp = m->ir.num_rows + m->ir.num_constant_rows;
    if (!rc && m->ir.statements.n) rc = copy_constants(&c, !by_density);
    for (int i = 0, j; i < n && !rc; i = j) {
        for (j = i; j < n && key[j].level == key[i].level && key[j].stmt == key[i].stmt &&
                    key[j].form == key[i].form;
             j++)
            inst[j - i] = key[j].inst;
        c.s = &m->ir.statements.a[key[i].stmt];
        c.inst = inst;
        c.n = j - i;
        if (!by_density) c.temp = c.base; /* derivatives need all of them */
        rc = compile_group(&c, by_density);
        if (rc == IS_WRONG) rc = 0; /* reported; continue with the next group */
    }
    free(key);
    free(inst);
    free(c.seen);
    return rc;
}
