/* export.c: the programs of an inference network as tapes: one row for each kind of instruction. */
#include "net/export.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "net/export_impl.h"

/* While a program is walked. */
struct walk {
    const struct qnet *q;
    const struct prog *p;
    struct tape *t;
    int *value, *result, *work; /* of an instruction: arguments, results, scratch */
    nami_err *err;
};

static int cannot(struct walk *w, const char *what, const char *name, int discrete)
{
    return err_set(w->err, NAMI_EINPUT,
                   "the factor of %s is a %s distribution, which cannot be exported; %sobserve %s, "
                   "or leave it out of 'infer'",
                   name, what,
                   discrete ? "" : "train the network with --family mixture or spline, ", name);
}

/* Not a program of a network as it is made: prog_trim has changed it, or it is a model's. */
static int strange(struct walk *w, const struct instr *c)
{
    (void)c;
    return err_set(w->err, NAMI_EBUG, "an instruction of the network cannot be exported");
}

static int operand(struct walk *w, const struct operand *o, int n, int j)
{
    struct tape *t = w->t;
    const int *at = tape_rows(t, o, n, j);
    if (!at) return 0;
    if (!o->is_const) return tape_load(t, o->unit ? PLACE_UNIT : PLACE_ROW, at);
    double *x = arena_array(&t->mem, double, n + 1);
    if (!x) return t->oom = 1, 0;
    for (int i = 0; i < n; i++) x[i] = w->p->constant.a[at[i]];
    return tape_table(t, x);
}

static void arguments(struct walk *w, const struct instr *c)
{
    int at = 0;
    for (int k = 0; k < c->narg; k++)
        for (int j = 0; j < c->arg[k].m; j++) w->value[at++] = operand(w, &c->arg[k], c->n, j);
}

static void run_of(struct walk *w, int place, int first, int step, int n, int value)
{
    struct operand o = {.m = 1, .base = first, .si = step};
    tape_store(w->t, place, tape_rows(w->t, &o, n, 0), value);
}

/* Results to rows, and to log q. */
static void results(struct walk *w, const struct instr *c)
{
    for (int k = 0; k < c->width && c->out >= 0; k++)
        run_of(w, PLACE_ROW, c->out + k, c->width, c->n, w->result[k]);
    if (c->sum) tape_total(w->t, w->result[0], c->sum);
}

static const struct output_dist *output_of(const struct instr *c)
{
    for (int k = 0; net_families[k]; k++)
        if ((c->block && c->block == net_families[k]->logq) ||
            (c->bdraw && c->bdraw == net_families[k]->sample))
            return c->self;
    return NULL;
}

/* The name of the factors with this output distribution. */
static const char *name_of(const struct qnet *q, const struct output_dist *h)
{
    for (int g = 0; g < q->ngroup; g++)
        if (&q->group[g].output == h) return q->loss_term[q->group[g].tag].name;
    return "a latent";
}

static int is_discrete(const struct output_dist *h)
{
    return h->family->discrete || (h->dist && domains[h->dist->domain].discrete);
}

/* ---- kinds of instructions ---- */

static int walk_map(struct walk *w, const struct instr *c)
{
    if (c->to_units) return strange(w, c);
    tape_begin(w->t, c->n, NULL);
    arguments(w, c);
    if (formula_encoding(w->t, encoding_kernel_of(c), NULL, w->value, w->result, w->work))
        return strange(w, c);
    results(w, c);
    tape_end(w->t);
    return 0;
}

static int walk_block(struct walk *w, const struct instr *c)
{
    const struct output_dist *h = output_of(c);
    enum encoding_kernel kernel = encoding_kernel_of(c);
    const char *what;
    if (!h && kernel == KERNEL_NONE) return strange(w, c);
    const struct encoding *e = h ? NULL : c->self;
    const char *name = h ? name_of(w->q, h) : bn_name(model_bn(w->q->model), e->node);
    tape_begin(w->t, c->n, name);
    arguments(w, c);
    if (h)
        w->result[0] = formula_log_q(w->t, h, w->value[0], w->value + 1, &what);
    else if (formula_encoding(w->t, kernel, e, w->value, w->result, w->work))
        return cannot(w, domains[e->domain].name, name, 0);
    if (w->result[0] < 0) return cannot(w, what, name, is_discrete(h));
    results(w, c);
    tape_end(w->t);
    return 0;
}

static int walk_draw(struct walk *w, const struct instr *c)
{
    const struct output_dist *h = output_of(c);
    const char *what;
    if (!h) return strange(w, c);
    tape_begin(w->t, c->n, name_of(w->q, h));
    arguments(w, c);
    if (!(w->t->to = tape_rows(w->t, &c->outs, c->n, 0))) return err_nomem(w->err);
    int x = formula_draw(w->t, h, w->value, &what);
    if (x < 0) return cannot(w, what, name_of(w->q, h), is_discrete(h));
    tape_store(w->t, PLACE_ROW, w->t->to, x);
    tape_end(w->t);
    return 0;
}

static int walk_copy(struct walk *w, const struct instr *c)
{
    tape_begin(w->t, c->n, NULL);
    int x = operand(w, &c->arg[0], c->n, 0);
    tape_store(w->t, PLACE_ROW, tape_rows(w->t, &c->outs, c->n, 0), x);
    tape_end(w->t);
    return 0;
}

static int walk_units(struct walk *w, const struct instr *c)
{
    tape_begin(w->t, c->n, NULL);
    run_of(w, PLACE_UNIT, c->dim[0], 1, c->n, operand(w, &c->arg[0], c->n, 0));
    tape_end(w->t);
    return 0;
}

static int walk_rows(struct walk *w, const struct instr *c)
{
    struct operand from = {.m = 1, .unit = 1, .base = c->dim[0], .si = 1};
    tape_begin(w->t, c->n, NULL);
    run_of(w, PLACE_ROW, c->out, 1, c->n, operand(w, &from, c->n, 0));
    tape_end(w->t);
    return 0;
}

static int walk_scaled(struct walk *w, const struct instr *c)
{
    const struct scaled *s = c->self;
    struct tape *t = w->t;
    tape_begin(t, s->n, NULL);
    int x = MUL(tape_table(t, s->by), tape_load(t, PLACE_UNIT, s->from));
    run_of(w, PLACE_UNIT, s->to, 1, s->n, x);
    tape_end(t);
    return 0;
}

static int walk_times(struct walk *w, const struct instr *c)
{
    const struct times *s = c->self;
    struct tape *t = w->t;
    tape_begin(t, s->n, NULL);
    int x = MUL(tape_load(t, PLACE_UNIT, s->a), tape_load(t, PLACE_UNIT, s->b));
    run_of(w, PLACE_UNIT, s->to, 1, s->n, x);
    tape_end(t);
    return 0;
}

static int walk_layer(struct walk *w, const struct instr *c)
{
    const struct dense *d = c->self;
    tape_step(w->t, &(struct step){.kind = STEP_LAYER, .n = d->n, .layer = d});
    return 0;
}

static int walk_pool(struct walk *w, const struct instr *c)
{
    const struct pooling *p = c->self;
    tape_step(w->t, &(struct step){.kind = STEP_POOL, .n = p->n, .pool = p});
    return 0;
}

static int (*const kinds[INSTR_KINDS])(struct walk *w, const struct instr *c) = {
    [I_MAP] = walk_map,   [I_BLOCK] = walk_block,   [I_DRAW] = strange,     [I_BDRAW] = walk_draw,
    [I_COPY] = walk_copy, [I_UNITS] = walk_units,   [I_DENSE] = walk_layer, [I_ROWS] = walk_rows,
    [I_POOL] = walk_pool, [I_SCALED] = walk_scaled, [I_TIMES] = walk_times,
};

/* Room for the arguments, results and scratch of any instruction. */
static int start(struct walk *w)
{
    int most = 1, work = 1;
    for (size_t k = 0; k < w->p->code.n; k++) {
        const struct instr *c = &w->p->code.a[k];
        int all = c->width;
        for (int j = 0; j < c->narg; j++) all += c->arg[j].m;
        if (all > most) most = all;
        if (c->block && !output_of(c) && encoding_kernel_of(c) != KERNEL_NONE &&
            formula_encoding_work(c->self) > work)
            work = formula_encoding_work(c->self);
    }
    w->value = arena_array(&w->t->mem, int, most);
    w->result = arena_array(&w->t->mem, int, most);
    w->work = arena_array(&w->t->mem, int, work);
    return w->value && w->result && w->work ? 0 : err_nomem(w->err);
}

static int walk(const struct qnet *q, const struct prog *p, struct tape *t, nami_err *err)
{
    struct walk w = {.q = q, .p = p, .t = t, .err = err};
    int rc = start(&w);
    for (size_t k = 0; k < p->code.n && !rc; k++) {
        const struct instr *c = &p->code.a[k];
        if (c->n > 0) rc = kinds[c->kind](&w, c);
        if (t->oom) rc = err_nomem(err);
    }
    return rc;
}

/* ---- what goes in and out ------------------------------------------------------------- */

static int add_name(struct arena *mem, const struct model *m, int element, const char **name)
{
    struct str s = {0};
    elem_name(m, element, &s);
    *name = s.oom ? NULL : arena_strndup(mem, s.s, s.n);
    str_free(&s);
    return *name ? 0 : NAMI_ENOMEM;
}

/* Of nodes: 1 if the network has a factor of it. */
static void mark_own(const struct qnet *q, unsigned char *own)
{
    for (int f = 0; f < q->nfactor; f++) own[q->factor[f].node] = 1;
}

static void list(struct str *out, const struct qnet *q, int n, const int *node,
                 const unsigned char *own, const char *why)
{
    int first = 1;
    for (int i = 0; i < n; i++) {
        if (own[node[i]]) continue;
        str_put(out, first ? (out->n ? "; " : "") : ", ");
        str_put(out, bn_name(model_bn(q->model), node[i]));
        first = 0;
    }
    if (!first) str_put(out, why);
}

static int find_variables(struct exported *e, struct arena *mem)
{
    const struct model *m = e->q->model;
    int n = model_num_elements(m), nodes = bn_n(model_bn(m));
    unsigned char *own = arena_array(mem, unsigned char, nodes + 1);
    e->data = arena_array(mem, int, n + 1);
    e->latent = arena_array(mem, int, n + 1);
    e->data_name = arena_array(mem, const char *, n + 1);
    e->latent_name = arena_array(mem, const char *, n + 1);
    if (!own || !e->data || !e->latent || !e->data_name || !e->latent_name) return NAMI_ENOMEM;
    mark_own(e->q, own);
    for (int k = 0, rc = 0; k < n; k++) {
        int node = element_node(m, k), row = element_row(m, k);
        if (node < 0 || row < 0) continue;
        if (element_is_observed(m, k)) {
            rc = add_name(mem, m, k, &e->data_name[e->num_data]);
            e->data[e->num_data++] = row;
        } else if (own[node]) {
            rc = add_name(mem, m, k, &e->latent_name[e->num_latents]);
            e->latent[e->num_latents++] = row;
        }
        if (rc) return rc;
    }
    const struct inverse *h = e->q->inverse, *whole = e->q->whole;
    list(&e->others, e->q, whole->nlatent, whole->perm, own, " (integrated out)");
    list(&e->others, e->q, h->nmodel, h->model, own, " (no data depend on it)");
    return e->others.oom ? NAMI_ENOMEM : 0;
}

/* An identifier: that of the caller, or from the name of a file. */
static const char *identifier(struct arena *mem, const char *name, const char *file)
{
    const char *from = name ? name : file ? file : "network";
    for (const char *s = from; *s && !name; s++)
        if (*s == '/') from = s + 1;
    size_t n = name ? strlen(from) : strcspn(from, ".");
    char *out = arena_alloc(mem, n + 3);
    if (!out) return NULL;
    if (!n || !isalpha((unsigned char)from[0])) out[0] = 'n', out[1] = '_';
    for (size_t i = 0, at = strlen(out); i < n; i++)
        out[at++] = isalnum((unsigned char)from[i]) ? from[i] : '_';
    return out;
}

static const struct form {
    const char *name;
    export_fn *write;
} forms[] = {
    {"c", export_c}, {"onnx", export_onnx}, {"onnx-density", export_onnx_density}, {NULL, NULL}};

static int write_down(struct exported *e, const struct form *form, struct str *out, nami_err *err)
{
    if (!e->q->nfactor)
        return err_set(err, NAMI_EINPUT,
                       "all latents are integrated out, so the network draws nothing; train it "
                       "with --exact none to export it");
    int rc = walk(e->q, e->draw_prog, &e->draw, err);
    if (!rc) rc = walk(e->q, &e->q->prog, &e->density, err);
    if (!rc) rc = form->write(e, out, err);
    return !rc && out->oom ? err_nomem(err) : rc;
}

int network_export(const struct qnet *q, const struct prog *draw, const float *param,
                   const char *as, const char *name, struct str *out, struct str *note,
                   nami_err *err)
{
    const struct form *form = forms;
    struct arena mem = {0};
    struct exported e = {
        .q = q, .param = param, .draw_prog = draw, .from = model_file_name(q->model)};
    while (form->name && strcmp(form->name, as) != 0) form++;
    if (!form->name)
        return err_set(err, NAMI_EUSAGE,
                       "networks are exported as c, onnx or onnx-density, not '%s'", as);
    int rc =
        (e.name = identifier(&mem, name, e.from)) && !find_variables(&e, &mem) ? 0 : err_nomem(err);
    if (!rc) rc = write_down(&e, form, out, err);
    if (!rc && e.others.n) str_put(note, e.others.s);
    str_free(&e.others);
    tape_free(&e.draw);
    tape_free(&e.density);
    arena_free(&mem);
    return rc;
}
