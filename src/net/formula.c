/* formula.c: builds tapes. */
#include "net/formula.h"

#include <stdlib.h>
#include <string.h>

const struct formula_info formula_ops[FORMULA_OPS] = {
#define FORMULA(id, narg, c, onnx) {narg, c, onnx},
#include "net/formula.def"
#undef FORMULA
};

int formula_is_test(enum formula_op op)
{
    return op == F_LESS || op == F_LESS_EQUAL || op == F_EQUAL || op == F_AND;
}

void tape_free(struct tape *t)
{
    vec_free(&t->value);
    vec_free(&t->step);
    for (int k = 0; k < NOISE_KINDS; k++) vec_free(&t->noise[k]);
    arena_free(&t->mem);
}

void tape_step(struct tape *t, const struct step *s)
{
    if (vec_push(&t->step, *s)) t->oom = 1;
}

void tape_begin(struct tape *t, int n, const char *what)
{
    struct step s = {.kind = STEP_FORMULA, .n = n, .first = (int)t->value.n, .what = what};
    t->n = n;
    t->to = NULL;
    tape_step(t, &s);
}

void tape_end(struct tape *t)
{
    if (t->oom) return;
    struct step *s = &t->step.a[t->step.n - 1];
    s->end = (int)t->value.n;
    for (int v = s->end - 1; v >= s->first; v--) {
        struct formula_value *x = &t->value.a[v];
        int narg = x->kind == VALUE_OP ? formula_ops[x->op].narg : 1;
        if (x->kind == VALUE_STORE || x->kind == VALUE_TOTAL)
            x->used = 1;
        else if (x->kind != VALUE_OP)
            continue;
        for (int k = 0; k < narg && x->used; k++) t->value.a[x->arg[k]].used = 1;
    }
}

static int push(struct tape *t, const struct formula_value *x)
{
    if (t->oom || vec_push(&t->value, *x)) return t->oom = 1, 0;
    return (int)t->value.n - 1;
}

static const int *copy(struct tape *t, const int *at)
{
    int *to = at ? arena_array(&t->mem, int, t->n + 1) : NULL;
    if (!to) return t->oom = 1, NULL;
    memcpy(to, at, sizeof *to * (size_t)t->n);
    return to;
}

int tape_number(struct tape *t, double x)
{
    return push(t, &(struct formula_value){.kind = VALUE_NUMBER, .number = x});
}

int tape_table(struct tape *t, const double *x)
{
    int same = 1;
    for (int i = 1; i < t->n; i++) same &= x[i] == x[0];
    if (same) return tape_number(t, x[0]);
    double *to = arena_array(&t->mem, double, t->n);
    if (!to) return t->oom = 1, 0;
    memcpy(to, x, sizeof *to * (size_t)t->n);
    return push(t, &(struct formula_value){.kind = VALUE_TABLE, .table = to});
}

int tape_load(struct tape *t, int place, const int *at)
{
    return push(t, &(struct formula_value){.kind = VALUE_LOAD, .place = place, .at = copy(t, at)});
}

int tape_noise(struct tape *t, enum noise_kind kind, int part, int use)
{
    int *at = arena_array(&t->mem, int, t->n + 1);
    if (!at) return t->oom = 1, 0;
    for (int i = 0; i < t->n; i++) {
        at[i] = (int)t->noise[kind].n;
        if (vec_push(&t->noise[kind], ((struct noise){t->to[i], part, use}))) t->oom = 1;
    }
    return push(t, &(struct formula_value){.kind = VALUE_NOISE, .place = (int)kind, .at = at});
}

int tape_op(struct tape *t, enum formula_op op, int a, int b, int c)
{
    return push(t, &(struct formula_value){.kind = VALUE_OP, .op = op, .arg = {a, b, c}});
}

void tape_store(struct tape *t, int place, const int *at, int value)
{
    push(t, &(struct formula_value){
                .kind = VALUE_STORE, .place = place, .at = copy(t, at), .arg = {value}});
}

void tape_total(struct tape *t, int value, int sign)
{
    push(t, &(struct formula_value){.kind = VALUE_TOTAL, .sign = sign, .arg = {value}});
}

const int *tape_rows(struct tape *t, const struct operand *o, int n, int j)
{
    int *at = arena_array(&t->mem, int, n + 1);
    if (!at) return t->oom = 1, NULL;
    for (int i = 0; i < n; i++) at[i] = operand_at(o, i, j);
    return at;
}
