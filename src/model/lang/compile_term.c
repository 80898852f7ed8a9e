/* compile_term.c: compiles expressions to vector instructions. */
#include "model/lang/compile.h"

/* ---- constants --------------------------------------------------------------------- */

/* Does t depend on anything random, in this group? */
static int is_random(const struct compiler *c, const struct term *t)
{
    if (t->kind == T_NET) return 1;
    if (t->kind == T_LENGTH || t->kind == T_DIM) return 0;
    if (t->kind == T_REF && c->s->foot[t->ref].random[c->inst[0] - c->s->first]) return 1;
    for (int i = 0; i < t->narg; i++)
        if (t->arg[i] && is_random(c, t->arg[i])) return 1;
    return 0;
}

static int is_same(double x, double y)
{
    return isnan(x) ? isnan(y) : x == y && signbit(x) == signbit(y);
}

static int compile_const(struct compiler *c, const struct term *t, struct val *out)
{
    struct cval v = {0};
    size_t first = c->p->constant.n;
    int rc = 0, m = 1, same = 1;
    for (int i = 0; i < c->n && !rc; i++) {
        rc = eval_term(c->m, t, counter_of(c, i), &v);
        if (!rc && !i && !fits(c, v.n)) rc = IS_WRONG;
        if (rc) break;
        if (!i) {
            m = v.n;
            shape_of_cval(&v, out->shape);
        } else if (v.n != m) {
            diag_error(&c->m->source.diags, t->all, NULL,
                       "this has %d elements in one turn and %d in another", m, v.n);
            rc = IS_WRONG;
            break;
        }
        for (int j = 0; j < m && !rc; j++) {
            if (i) same &= is_same(v.x[j], c->p->constant.a[first + (size_t)j]);
            if (vec_push(&c->p->constant, v.x[j])) rc = NAMI_ENOMEM;
        }
    }
    cval_free(&v);
    if (same && m == 1 && !rc) {
        double x = c->p->constant.a[first];
        c->p->constant.n = first;
        int id = shared_const(c, x);
        out->o = (struct operand){.is_const = 1, .m = 1, .base = id};
        return id < 0 ? NAMI_ENOMEM : 0;
    }
    if (same && !rc) c->p->constant.n = first + (size_t)m;
    out->o =
        (struct operand){.is_const = 1, .m = m, .base = (int)first, .si = same ? 0 : m, .sj = 1};
    return rc == NOT_CONST ? IS_WRONG : rc;
}

/* ---- references ---------------------------------------------------------------------- */

/* The elements that a reference reads as one operand; all constant: constants. */
int compile_elements(struct compiler *c, const struct term *t, int m, struct operand *out)
{
    const struct model *mo = c->m;
    const struct foot *f = &c->s->foot[t->ref];
    int *idx = raw_array(int, (size_t)c->n *(size_t)m), all_const = 1, rc = 0;
    if (!idx) return NAMI_ENOMEM;
    size_t at = 0;
    for (int i = 0; i < c->n; i++) {
        int k = c->inst[i] - c->s->first;
        for (int j = 0; j < m; j++) {
            int e = f->elem[f->off[k] + j];
            all_const &= mo->ir.state[e] == E_CONST && !mo->ir.arrays.a[mo->ir.array_of[e]].free;
            idx[at++] = e;
        }
    }
    if (all_const) {
        int first = (int)c->p->constant.n, shared = 1;
        for (size_t i = 0; i < at; i++) shared &= idx[i] == idx[i % (size_t)m];
        size_t n = shared ? (size_t)m : at;
        for (size_t i = 0; i < n && !rc; i++)
            if (vec_push(&c->p->constant, mo->ir.value[idx[i]])) rc = NAMI_ENOMEM;
        *out =
            (struct operand){.is_const = 1, .m = m, .base = first, .si = shared ? 0 : m, .sj = 1};
    } else {
        for (size_t i = 0; i < at; i++) idx[i] = mo->ir.row[idx[i]];
        rc = operand_of(c, idx, c->n, m, out);
    }
    free(idx);
    return rc;
}

/* a op b for the index arithmetic of several random subscripts, b a constant. */
static int emit_with_const(struct compiler *c, const struct op *op, const struct val *a, double b,
                           struct val *out)
{
    int k = shared_const(c, b);
    struct instr *x = emit(c, I_MAP, c->n, 1);
    if (k < 0 || !x) return NAMI_ENOMEM;
    x->out = new_rows(c, (size_t)c->n);
    x->narg = 2;
    x->arg[0] = a->o;
    x->arg[1] = (struct operand){.is_const = 1, .m = 1, .base = k};
    x->self = op;
    x->map = op->map;
    x->map_grad = op->map_grad;
    val_of_rows(out, x->out, (int[SHAPE]){0});
    return 0;
}

static int emit_map(struct compiler *c, const struct op *op, const struct val *v, int narg,
                    const int *shape, struct val *out)
{
    int m = shape_size(shape);
    struct operand arg[INSTR_ARGS];
    if (!fits(c, m)) return IS_WRONG;
    for (int i = 0; i < narg; i++)
        if (operand_flat(c, &v[i].o, m, &arg[i])) return NAMI_ENOMEM;
    struct instr *x = emit(c, I_MAP, c->n * m, 1);
    if (!x) return NAMI_ENOMEM;
    memcpy(x->arg, arg, sizeof(struct operand) * (size_t)narg);
    x->narg = narg;
    x->out = new_rows(c, (size_t)c->n * (size_t)m);
    x->self = op;
    x->map = op->map;
    x->map_grad = op->map_grad;
    val_of_rows(out, x->out, shape);
    return 0;
}

/* The number of the choice, from 1. */
int compile_choice(struct compiler *c, const struct term *t, struct val *out)
{
    static const struct op *const add = &op_add, *const mul = &op_mul, *const sub = &op_sub;
    struct model *m = c->m;
    struct box b;
    int some = 0, rc = box_of(m, t, counter_of(c, 0), BOX_CHOICES, &b);
    for (int d = 0; d < b.ndim && !rc; d++) {
        struct extent x = b.x[d];
        struct val k = {0}, sum;
        if (!x.pick) continue;
        if ((rc = compile_term(c, t->arg[d], &k))) return rc;
        if (k.o.m != 1) {
            diag_error(&m->source.diags, t->arg[d]->all, NULL,
                       "a random subscript must be a single number");
            return IS_WRONG;
        }
        if ((x.lo != 1 || some) && (rc = emit_with_const(c, sub, &k, some ? x.lo : x.lo - 1, &k)))
            return rc;
        if (some) { /* (first - 1) * size + second: here out is from 1 */
            if ((rc = emit_with_const(c, sub, out, 1, out)) ||
                (rc = emit_with_const(c, mul, out, x.hi - x.lo + 1, out)) ||
                (rc = emit_with_const(c, add, out, 1, out)))
                return rc;
            struct val both[2] = {*out, k};
            if ((rc = emit_map(c, add, both, 2, (int[SHAPE]){0}, &sum))) return rc;
            *out = sum;
        } else {
            *out = k;
        }
        some = 1;
    }
    return rc;
}

/* Selects one of `pick` candidates, which are consecutive in `from`. */
int emit_select(struct compiler *c, const struct operand *from, const struct val *index, int pick,
                const int *shape, struct val *out)
{
    int m = shape_size(shape);
    struct instr *x = emit(c, I_BLOCK, c->n, m);
    if (!x) return NAMI_ENOMEM;
    x->out = new_rows(c, (size_t)c->n * (size_t)m);
    x->narg = 2;
    x->arg[0] = *from;
    x->arg[1] = index->o;
    x->dim[0] = pick;
    x->dim[1] = m;
    x->self = &op_select;
    x->block = op_select.block;
    x->block_grad = op_select.block_grad;
    val_of_rows(out, x->out, shape);
    return 0;
}

static int compile_ref(struct compiler *c, const struct term *t, struct val *out)
{
    const struct foot *f = &c->s->foot[t->ref];
    int k = c->inst[0] - c->s->first, m = shape_size(f->shape[k]), rc;
    memcpy(out->shape, f->shape[k], sizeof out->shape);
    if (!f->pick[k]) return compile_elements(c, t, m, &out->o);
    struct val index = {0};
    struct operand from;
    if ((rc = compile_choice(c, t, &index))) return rc;
    if ((rc = compile_elements(c, t, m * f->pick[k], &from))) return rc;
    return emit_select(c, &from, &index, f->pick[k], f->shape[k], out);
}

/* ---- functions -------------------------------------------------------------------------- */

static int is_constant(const struct compiler *c, const struct val *v, double x)
{
    return v->o.is_const && v->o.m == 1 && !v->o.si && c->p->constant.a[v->o.base] == x;
}

static int compile_map(struct compiler *c, const struct term *t, struct val *v, struct val *out)
{
    int shape[SHAPE] = {0};
    for (int i = 0; i < t->narg; i++)
        if (shapes_merge(c->m, t, shape, v[i].shape)) return IS_WRONG;
    if (t->op == &op_pow && is_constant(c, &v[1], 2))
        return emit_map(c, &op_square, v, 1, shape, out);
    return emit_map(c, t->op, v, t->narg, shape, out);
}

/* All arguments one after the other, as one. */
static int concatenate(struct compiler *c, struct val *v, int n, struct operand *out)
{
    int total = 0, rc;
    for (int i = 0; i < n; i++) {
        if ((rc = operand_rows(c, &v[i]))) return rc;
        total += v[i].o.m;
    }
    if (!fits(c, total)) return IS_WRONG;
    int *idx = index_array(c, (size_t)total * (size_t)c->n), at = 0;
    if (!idx) return NAMI_ENOMEM;
    for (int k = 0; k < c->n; k++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < v[i].o.m; j++) idx[at++] = operand_at(&v[i].o, k, j);
    return operand_of(c, idx, c->n, total, out);
}

static int compile_block(struct compiler *c, const struct term *t, struct val *v, struct val *out)
{
    int(*shape)[SHAPE] = new_array(dims, t->narg + 1);
    int dim[INSTR_DIMS] = {0}, result[SHAPE] = {0}, rc = 0;
    const char *why = "";
    struct operand one;
    if (!shape) return NAMI_ENOMEM;
    for (int i = 0; i < t->narg; i++) memcpy(shape[i], v[i].shape, sizeof shape[i]);
    if (shape_op(c->m, t, (const int(*)[SHAPE])shape, result, dim, &why)) rc = IS_WRONG;
    free(shape);
    if (!rc && !fits(c, shape_size(result))) rc = IS_WRONG;
    if (!rc && t->narg > INSTR_ARGS) rc = concatenate(c, v, t->narg, &one);
    if (rc) return rc;
    struct instr *x = emit(c, I_BLOCK, c->n, shape_size(result));
    if (!x) return NAMI_ENOMEM;
    x->narg = t->narg > INSTR_ARGS ? 1 : t->narg;
    if (t->narg > INSTR_ARGS)
        x->arg[0] = one;
    else
        for (int i = 0; i < t->narg; i++) x->arg[i] = v[i].o;
    memcpy(x->dim, dim, sizeof dim);
    x->self = t->op;
    x->block = t->op->block;
    x->block_grad = t->op->block_grad;
    x->nwork = t->op->work ? t->op->work(dim) : 0;
    x->out = new_rows(c, (size_t)c->n * (size_t)x->width);
    val_of_rows(out, x->out, result);
    return 0;
}

static int compile_rep(struct compiler *c, const struct val *v, int times, struct val *out)
{
    int m = v->o.m;
    if (!fits(c, (double)m * times)) return IS_WRONG;
    int *idx = index_array(c, (size_t)c->n * (size_t)m * (size_t)times), at = 0;
    if (!idx) return NAMI_ENOMEM;
    for (int i = 0; i < c->n; i++)
        for (int j = 0; j < m * times; j++) idx[at++] = operand_at(&v->o, i, j % m);
    out->shape[0] = 1;
    out->shape[1] = m * times;
    return operand_of(c, idx, c->n, m * times, &out->o);
}

static int reads_counter(const struct term *t)
{
    if (t->kind == T_COUNTER) return 1;
    for (int i = 0; i < t->narg; i++)
        if (t->arg[i] && reads_counter(t->arg[i])) return 1;
    return 0;
}

/* A value that is the same in all iterations is computed once; each selects its element. */
static int compile_element(struct compiler *c, const struct term *t, struct val *out)
{
    int n = c->n, once = !reads_counter(t->arg[0]), at, rc;
    struct val v;
    if (once) c->n = 1;
    rc = compile_term(c, t->arg[0], &v);
    c->n = n;
    int *idx = rc ? NULL : index_array(c, (size_t)n);
    if (!rc && !idx) rc = NAMI_ENOMEM;
    for (int i = 0; i < n && !rc; i++)
        if (!(rc = eval_place(c->m, t, counter_of(c, i), v.shape, &at)))
            idx[i] = operand_at(&v.o, once ? 0 : i, at);
    if (rc) return rc;
    out->shape[0] = 0;
    return operand_of(c, idx, n, 1, &out->o);
}

/* The layers of a network, from its inputs, the last units, to its outputs, then the last. */
static int compile_layers(struct compiler *c, const struct net *net)
{
    struct prog *p = c->p;
    int in = net->in;
    size_t w = net->w;
    for (int l = 0; l < net->nlayer; l++) {
        const struct layer *y = &net->layer[l];
        struct dense *d = arena_array(&p->mem, struct dense, 1);
        int *from = index_array(c, (size_t)c->n * (size_t)in);
        if (!d || !from) return NAMI_ENOMEM;
        for (int i = 0; i < c->n * in; i++) from[i] = p->nunit - c->n * in + i;
        *d = (struct dense){.n = c->n,
                            .in = in,
                            .out = y->out,
                            .act = y->act,
                            .back = in,
                            .from = from,
                            .to = p->nunit,
                            .w = w};
        if (!fits(c, y->out)) return IS_WRONG;
        if (!prog_emit_layer(p, d)) return NAMI_ENOMEM;
        p->nunit += c->n * y->out;
        w += ((size_t)in + 1) * (size_t)y->out;
        in = y->out;
    }
    p->nparam = c->m->programs.weights.n;
    return 0;
}

static int compile_net(struct compiler *c, const struct term *t, struct val *v, struct val *out)
{
    const struct net *net = &c->m->ir.networks.a[t->net];
    int rc;
    if (v->o.m != net->in) {
        diag_error(&c->m->source.diags, t->all, NULL, "network %s takes %d numbers, not %d",
                   net->name, net->in, v->o.m);
        return IS_WRONG;
    }
    if ((rc = operand_rows(c, v))) return rc;
    struct operand in;
    if (operand_flat(c, &v->o, net->in, &in)) return NAMI_ENOMEM;
    if (!prog_emit_units(c->p, c->n * net->in, in, c->p->nunit, 0)) return NAMI_ENOMEM;
    c->p->nunit += c->n * net->in;
    if ((rc = compile_layers(c, net))) return rc;
    int n = c->n * net->out, row = new_rows(c, (size_t)n);
    if (!prog_emit_rows(c->p, n, c->p->nunit - n, row)) return NAMI_ENOMEM;
    val_of_rows(out, row, (int[SHAPE]){1, net->out});
    return 0;
}

int compile_term(struct compiler *c, const struct term *t, struct val *out)
{
    if (!is_random(c, t)) return compile_const(c, t, out);
    if (t->kind == T_REF) return compile_ref(c, t, out);
    if (t->kind == T_RANGE) {
        diag_error(&c->m->source.diags, t->all, NULL, "the ends of a range must be constants");
        return IS_WRONG;
    }
    if (t->kind == T_ELEMENT) return compile_element(c, t, out);
    struct val *v = new_array(struct val, t->narg);
    int rc = v ? 0 : NAMI_ENOMEM, times = 0;
    int narg = t->kind == T_REP ? 1 : t->narg;
    for (int i = 0; i < narg && !rc; i++) rc = compile_term(c, t->arg[i], &v[i]);
    if (!rc && t->kind == T_REP && !(rc = eval_times(c->m, t, counter_of(c, 0), v->o.m, &times)))
        rc = compile_rep(c, v, times, out);
    else if (!rc && t->kind == T_NET)
        rc = compile_net(c, t, v, out);
    else if (!rc && t->kind == T_OP)
        rc = t->op->map ? compile_map(c, t, v, out) : compile_block(c, t, v, out);
    free(v);
    return rc;
}
