/* layer.c: parses layers: dense(200, tanh), conv(8, 5, 2, relu). */
#include "model/lang/lang.h"

#include "tensor/product.h"

enum { MAX_ARG = 4 };

static const struct form {
    const char *name;
    int least, most;          /* how many arguments */
    const char *arg[MAX_ARG]; /* their names; the last one is the activation */
    const char *advice;
} forms[] = {
    [LAYER_DENSE] = {"dense", 1, 2, {"size", "act"}, "write dense(size) or dense(size, tanh)"},
    [LAYER_CONV] = {"conv",
                    2,
                    4,
                    {"channels", "size", "stride", "act"},
                    "write conv(channels, size, stride, tanh); the last two may be missing"},
    [LAYER_WHITEN] = {"whiten", 0, 0, {0}, "write whiten()"},
};

int check_width(struct model *m, const struct expr *x, double n)
{
    if (n >= 1 && n <= m->ir.limit) return 0;
    diag_error(&m->source.diags, x->all, NULL, "a layer cannot have %.10g numbers", n);
    return IS_WRONG;
}

/* conv(8, 5, relu): a name where a stride could stand, but not that of a constant */
static int is_act(const struct model *m, const struct expr *x)
{
    if (x->kind != X_REF || x->narg) return 0;
    const char *name = syntax_name(&m->source.syntax, x->name);
    return act_find(name, strlen(name)) >= 0 || m->ir.array_of_name[x->name] < 0;
}

/* The place of the i-th argument; -1 if its name is unknown. */
static int place_of(const struct model *m, const struct expr *x, const struct form *f, int i)
{
    if (!x->argname || x->argname[i] < 0)
        return f == &forms[LAYER_CONV] && i == 2 && is_act(m, x->arg[2]) ? 3 : i;
    for (int k = 0; k < f->most; k++)
        if (strcmp(f->arg[k], syntax_name(&m->source.syntax, x->argname[i])) == 0) return k;
    return -1;
}

/* The arguments in the order of the form; NULL where none is given. */
static int match(struct model *m, const struct expr *x, const struct form *f, struct expr **arg)
{
    int missing = 0;
    if (x->narg < f->least || x->narg > f->most) {
        if (!f->most)
            diag_error(&m->source.diags, x->all, f->advice, "%s() takes no arguments, not %d",
                       f->name, x->narg);
        else
            diag_error(&m->source.diags, x->all, f->advice, "%s() takes %d %s %d arguments, not %d",
                       f->name, f->least, f->most - f->least == 1 ? "or" : "to", f->most, x->narg);
        return IS_WRONG;
    }
    for (int i = 0; i < x->narg; i++) {
        int k = place_of(m, x, f, i);
        if (k >= 0 && !arg[k]) {
            arg[k] = x->arg[i];
            continue;
        }
        if (k < 0)
            diag_error(&m->source.diags, x->arg[i]->all, f->advice,
                       "%s() has no argument called %s", f->name,
                       syntax_name(&m->source.syntax, x->argname[i]));
        else
            diag_error(&m->source.diags, x->arg[i]->all, f->advice, "%s is given twice",
                       k == f->most - 1 ? "the activation" : f->arg[k]);
        return IS_WRONG;
    }
    while (missing < f->least && arg[missing]) missing++;
    if (missing == f->least) return 0;
    diag_error(&m->source.diags, x->all, f->advice, "%s is missing", f->arg[missing]);
    return IS_WRONG;
}

static int read_number(struct model *m, struct expr *x, const char *what, int *out)
{
    int rc = eval_sizes(m, &x, 1, out);
    if (rc || *out) return rc;
    diag_error(&m->source.diags, x->all, NULL, "the %s cannot be 0", what);
    return IS_WRONG;
}

static int read_act(struct model *m, const struct expr *x, int *out)
{
    const char *act = x->kind == X_REF && !x->narg ? syntax_name(&m->source.syntax, x->name) : "";
    struct str all = {0};
    *out = act_find(act, strlen(act));
    if (*out >= 0) return 0;
    for (int i = 0; act_names[i]; i++)
        str_printf(&all, "%s%s", !i ? "" : act_names[i + 1] ? ", " : " and ", act_names[i]);
    const char *advice = diag_text(&m->source.diags, "there are %s", all.s ? all.s : "");
    if (*act)
        diag_error(&m->source.diags, x->all, advice, "no activation is called %s", act);
    else
        diag_error(&m->source.diags, x->all, advice, "an activation is a name");
    str_free(&all);
    return IS_WRONG;
}

static int find_kind(struct model *m, const struct expr *x, int conv)
{
    const char *name = x->kind == X_CALL ? syntax_name(&m->source.syntax, x->name) : "";
    if (strcmp(name, "dense") == 0) return LAYER_DENSE;
    for (int k = LAYER_CONV; k <= LAYER_WHITEN; k++) {
        if (strcmp(name, forms[k].name) != 0) continue;
        if (conv) return k;
        diag_error(&m->source.diags, x->all,
                   "layers of a network are dense(size) or dense(size, tanh)", "%s is for embed",
                   name);
        return -1;
    }
    if (conv)
        diag_error(&m->source.diags, x->all,
                   "layers are whiten(), dense(size, tanh) and conv(channels, size, stride, tanh)",
                   "this is no layer of an embedding");
    else
        diag_error(&m->source.diags, x->all, "layers are dense(size) or dense(size, tanh)",
                   "this is no layer of a network");
    return -1;
}

int read_layer(struct model *m, const struct expr *x, int conv, struct layer *l)
{
    struct expr *arg[MAX_ARG] = {0}, *act;
    int kind = find_kind(m, x, conv), rc;
    if (kind < 0) return IS_WRONG;
    *l = (struct layer){.kind = (enum layer_kind)kind, .act = ACT_LINEAR};
    if ((rc = match(m, x, &forms[kind], arg)) || kind == LAYER_WHITEN) return rc;
    if ((rc = eval_sizes(m, arg, 1, &l->out)) || (rc = check_width(m, arg[0], l->out))) return rc;
    if (kind == LAYER_CONV) {
        l->stride = 1;
        if ((rc = read_number(m, arg[1], "size", &l->size)) ||
            (arg[2] && (rc = read_number(m, arg[2], "stride", &l->stride))))
            return rc;
    }
    act = arg[forms[kind].most - 1];
    return act ? read_act(m, act, &l->act) : 0;
}
