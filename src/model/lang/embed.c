/* embed.c: declarations of summary networks: embed x : real[28, 28] { conv(8, 5, 2, relu);
   dense(64) } */
#include "model/lang/lang.h"

/* ---- what is seen ----------------------------------------------------------------- */

static int is_random(const struct model *m, int e)
{
    return m->ir.defined_by[e] >= 0 && m->ir.node[m->ir.defined_by[e]] >= 0;
}

/* Reports an error unless all elements are random. */
static int check_random(struct model *m, const struct decl *d, const struct array *a)
{
    const char *why = "is not defined", *advice = "define all elements from the first on";
    struct str name = {0};
    int n = 0, other = -1, computed = -1; /* the first ones that are not random, or by <- */
    for (int e = a->first + a->n - 1; e >= a->first; e--) {
        n += is_random(m, e);
        if (!is_random(m, e)) other = e;
        if (!is_random(m, e) && m->ir.defined_by[e] >= 0) computed = e;
    }
    if (other < 0) return 0;
    if (computed >= 0) other = computed;
    if (n)
        elem_name(m, other, &name);
    else
        str_put(&name, a->name);
    if (m->ir.defined_by[other] >= 0)
        why = "is not a random variable", advice = "an embedding sees what has a distribution (~)";
    else if (m->ir.state[other] == E_CONST)
        why = "is a constant", advice = "an embedding sees observed variables";
    diag_error(&m->source.diags, d->at, advice, "%s %s", name.s ? name.s : "", why);
    m->source.diags.oom |= name.oom;
    str_free(&name);
    return IS_WRONG;
}

/* Which array? */
static int find_array(struct model *m, const struct decl *d, int *out)
{
    const char *name = syntax_name(&m->source.syntax, d->name);
    const struct array *a = NULL;
    *out = m->ir.array_of_name[d->name];
    if (*out >= 0) a = &m->ir.arrays.a[*out];
    if (!a || (!a->ready && !a->defined)) return unknown_variable(m, d->at, name);
    for (size_t i = 0; i < m->ir.embeddings.n; i++)
        if (m->ir.embeddings.a[i].array == *out) {
            diag_error(&m->source.diags, d->at, "drop one of them", "embed %s is declared twice",
                       name);
            return IS_WRONG;
        }
    if (a->ready && a->n) return check_random(m, d, a);
    diag_error(&m->source.diags, d->at, NULL, "%s has no elements", name);
    return IS_WRONG;
}

/* The input shape: arrays of more than three dimensions are flattened, which is equivalent for
   dense layers. */
static int find_dims(struct model *m, struct embed *e)
{
    const struct decl *d = e->decl;
    int rc = eval_sizes(m, d->in, d->nin, e->dim);
    if (rc) return rc;
    const struct array *a = &m->ir.arrays.a[e->array]; /* not before: evaluation may add some */
    int n = d->nin;
    if (!n && a->ndim > 3)
        e->dim[n++] = a->n;
    else if (!n)
        for (; n < a->ndim; n++) e->dim[n] = a->dim[n];
    while (n < 3) e->dim[n++] = 1;
    double seen = (double)e->dim[0] * e->dim[1] * e->dim[2];
    if (seen == a->n) return 0;
    diag_error(&m->source.diags, d->in[0]->all, NULL,
               "%s has %d element%s, but this shape has %.10g", a->name, a->n, a->n == 1 ? "" : "s",
               seen);
    return IS_WRONG;
}

/* ---- layers ------------------------------------------------------------------------- */

/* The number of windows: 0 if none fits. */
static int windows(int n, int size, int stride) { return n < size ? 0 : (n - size) / stride + 1; }

static int conv_dims(struct model *m, const struct embed *e, const struct expr *x, const int *in,
                     struct layer *l)
{
    const struct array *a = &m->ir.arrays.a[e->array];
    int width = in[1] == 1 ? 1 : l->size;
    if (l > e->layer && l[-1].kind == LAYER_DENSE) {
        diag_error(&m->source.diags, x->all, "put convolutions first: dense() gives no image",
                   "conv() cannot follow dense()");
        return IS_WRONG;
    }
    if (!e->decl->nin && a->ndim > 3) {
        diag_error(&m->source.diags, x->all,
                   diag_text(&m->source.diags,
                             "say as what: embed %s : real[height, width, channels]", a->name),
                   "%s has %d dimensions, but an image has at most 3", a->name, a->ndim);
        return IS_WRONG;
    }
    l->dim[0] = windows(in[0], l->size, l->stride);
    l->dim[1] = windows(in[1], width, l->stride);
    l->dim[2] = l->out;
    if (l->dim[0] && l->dim[1]) return 0;
    const char *advice = "take a smaller size, or smaller strides before";
    if (in[1] == 1)
        diag_error(&m->source.diags, x->all, advice, "a window of %d does not fit into %d", l->size,
                   in[0]);
    else
        diag_error(&m->source.diags, x->all, advice,
                   "a window of %d x %d does not fit into %d x %d", l->size, l->size, in[0], in[1]);
    return IS_WRONG;
}

/* Only as the first layer, which reads the array itself. */
static int whiten_dims(struct model *m, const struct expr *x, const int *in, int i, struct layer *l)
{
    double n = (double)in[0] * in[1] * in[2];
    memcpy(l->dim, in, sizeof l->dim);
    l->out = (int)n;
    if (i == 0 && n <= WHITEN_MOST) return 0;
    if (i)
        diag_error(&m->source.diags, x->all, "put it first", "whiten() sees an array as it is");
    else
        diag_error(&m->source.diags, x->all, "leave it out",
                   "whiten() takes up to %d numbers, not %.10g", WHITEN_MOST, n);
    return IS_WRONG;
}

/* The i-th layer, and its weights. */
static int add_layer(struct model *m, struct embed *e, int i, double *nw)
{
    const struct expr *x = e->decl->layer[i];
    const int *in = i ? e->layer[i - 1].dim : e->dim;
    struct layer *l = &e->layer[i];
    int rc = read_layer(m, x, 1, l);
    if (rc) return rc;
    double inputs = (double)in[0] * in[1] * in[2];
    if (l->kind == LAYER_WHITEN) {
        if ((rc = whiten_dims(m, x, in, i, l))) return rc;
    } else if (l->kind == LAYER_CONV) {
        if ((rc = conv_dims(m, e, x, in, l))) return rc;
        inputs = (double)l->size * (in[1] == 1 ? 1 : l->size) * in[2];
    } else {
        l->dim[0] = l->out;
        l->dim[1] = l->dim[2] = 1;
    }
    *nw += (inputs + 1) * l->out;
    e->nlayer = i + 1;
    return check_width(m, x, (double)l->dim[0] * l->dim[1] * l->dim[2]);
}

static int add_layers(struct model *m, struct embed *e)
{
    const struct decl *d = e->decl;
    double nw = 0;
    int rc = 0;
    e->layer = arena_array(&m->mem, struct layer, d->nlayer);
    if (!e->layer) return NAMI_ENOMEM;
    for (int i = 0; i < d->nlayer && !rc; i++) rc = add_layer(m, e, i, &nw);
    if (rc) return rc;
    const int *dim = e->layer[e->nlayer - 1].dim;
    e->out = dim[0] * dim[1] * dim[2];
    if (nw > 5.0 * m->ir.limit)
        diag_error(&m->source.diags, d->at, "make its layers smaller, or begin with convolutions",
                   "this embedding has %.10g weights: too many", nw);
    return 0;
}

int declare_embeds(struct model *m)
{
    for (size_t i = 0; i < m->source.syntax.decl.n; i++) {
        struct embed e = {.decl = &m->source.syntax.decl.a[i]};
        int rc;
        if (e.decl->kind != D_EMBED) continue;
        rc = find_array(m, e.decl, &e.array);
        if (!rc && vec_push(&m->ir.embeddings, e)) rc = NAMI_ENOMEM;
        if (!rc) rc = find_dims(m, &m->ir.embeddings.a[m->ir.embeddings.n - 1]);
        if (!rc) rc = add_layers(m, &m->ir.embeddings.a[m->ir.embeddings.n - 1]);
        if (rc < 0) return rc;
    }
    return 0;
}

/* ---- observed? ------------------------------------------------------------------------ */

static const char *not_observed(struct model *m, const struct model_options *opt, const char *name)
{
    struct diags *d = &m->source.diags;
    if (opt && opt->observe) return diag_text(d, "add %s to the observed variables, or drop this line", name);
    if (m->source.observe_declared) return diag_text(d, "write observe %s", name);
    return diag_text(d, "write observe %s, or give all of it in the data", name);
}

int embeds_observed(struct model *m, const struct model_options *opt)
{
    for (size_t i = 0; i < m->ir.embeddings.n; i++) {
        const struct array *a = &m->ir.arrays.a[m->ir.embeddings.a[i].array];
        struct place at = m->ir.embeddings.a[i].decl->at;
        int n = 0;
        for (int e = a->first; e < a->first + a->n; e++)
            n += m->ir.bn->node.a[m->ir.node[m->ir.defined_by[e]]].observed;
        if (n == a->n) continue;
        const char *advice = not_observed(m, opt, a->name);
        if (n)
            diag_error(&m->source.diags, at, advice, "%s is observed in part: %d of %d elements",
                       a->name, n, a->n);
        else
            diag_error(&m->source.diags, at, advice, "%s is not observed", a->name);
    }
    return 0;
}
