/* smc_plan.c: compiles the plan of sequential Monte Carlo: which terms of log p and log q each
   sampling stage completes, and which rows a resampled particle copies. */
#include "infer/smc_plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "exact/reach.h"
#include "model/reads.h"

/* ---- when --------------------------------------------------------------------------------- */

/* By node: the stages that add its term of p(x, z), and log q; -1: none. */
struct when {
    int *p, *q;
};

/* Maximum number of open latents for which log q and terms of observed variables are added
   immediately. */
enum { FEW = 4 };

/* Latents are open from the stage that draws them to the one that adds their term. */
static void count_open(const struct sampler *s, const struct when *x, int *open)
{
    memset(open, 0, sizeof *open * s->wave.n);
    for (int v = 0; v < bn_n(model_bn(s->q->model)); v++)
        for (int w = s->known[v]; w >= 0 && w < x->p[v]; w++) open[w]++;
}

static int is_brief(int from, int to, const int *open)
{
    for (int w = from; w < to; w++)
        if (open[w] > FEW) return 0;
    return 1;
}

static void find_waves(const struct sampler *s, int *open, struct when *x)
{
    const struct bn *bn = model_bn(s->q->model);
    for (int v = 0; v < bn_n(bn); v++) {
        x->p[v] = s->known[v];
        for_parents (&bn->dag, v, u)
            if (x->p[v] >= 0 && s->known[u] > x->p[v]) x->p[v] = s->known[u];
    }
    count_open(s, x, open);
    for (int v = 0; v < bn_n(bn); v++)
        x->q[v] = is_brief(s->known[v], x->p[v], open) ? s->known[v] : x->p[v];
    for (int v = 0; v < bn_n(bn); v++) {
        if (!bn->node.a[v].observed) continue;
        x->p[v] = 0;
        for_parents (&bn->dag, v, u)
            if (x->q[u] > x->p[v]) x->p[v] = x->q[u];
    }
}

/* Terms that integrals contain, those of exact latents and of their children, are not added one by
   one. */
static void leave_integrals(const struct qnet *q, struct when *x)
{
    const struct bn *bn = model_bn(q->model);
    for (int v = 0; v < bn_n(bn) && q->collapse; v++) {
        int inside = q->collapse->kind[v] != NULL;
        for_parents (&bn->dag, v, u) inside |= q->collapse->kind[u] != NULL;
        if (inside) x->p[v] = -1;
    }
}

/* ---- draws: log q later -------------------------------------------------------------------- */

/* Instances i .. i+n-1 of an instruction. */
static struct instr part_of(const struct instr *c, int i, int n)
{
    struct instr x = *c;
    x.n = n;
    for (int a = 0; a < x.narg; a++) {
        struct operand *o = &x.arg[a];
        if (!o->idx)
            o->base += i * o->si;
        else if (!o->shared)
            o->idx += (size_t)i * (size_t)o->m;
    }
    return x;
}

struct later {
    int wave;
    struct instr x;
};

/* Instructions that add log q or a Jacobian read the value, or the first coordinate, of a latent:
   owner[row]. Instances of one stage stay together. */
static int put_draws(struct smc_plan *p, const struct sampler *s, const int *wave)
{
    const struct qnet *q = s->q;
    vec(struct later) later = {0};
    int *owner = new_array(int, s->prog.nrow + 1), rc = owner ? 0 : -1;
    for (int f = 0; f < q->nfactor && !rc; f++)
        owner[qnet_value(q, &q->factor[f])] = q->factor[f].node;
    for (size_t c = 0, w = 0; w < (size_t)p->n && !rc; w++) {
        for (; c < p->step[w].draw && !rc; c++) {
            const struct instr *x = &s->prog.code.a[c];
            if (!x->sum) rc = vec_push(&p->draw.code, *x);
            for (int i = 0, n; x->sum && i < x->n && !rc; i += n) {
                int when = wave[owner[operand_at(&x->arg[0], i, 0)]];
                for (n = 1; i + n < x->n; n++)
                    if (wave[owner[operand_at(&x->arg[0], i + n, 0)]] != when) break;
                rc = vec_push(&later, ((struct later){when, part_of(x, i, n)}));
            }
        }
        for (size_t i = 0; i < later.n && !rc; i++)
            if (later.a[i].wave == (int)w) rc = vec_push(&p->draw.code, later.a[i].x);
        p->step[w].draw = p->draw.code.n;
    }
    vec_free(&later);
    free(owner);
    return rc;
}

/* ---- terms ----------------------------------------------------------------------------------- */

/* Marks the deterministic instances that instance k depends on. */
static int mark_computed(const struct model *m, const struct reads *g, int k, unsigned char *only)
{
    vec(int) todo = {0};
    int rc = vec_push(&todo, k);
    while (todo.n && !rc) {
        k = todo.a[--todo.n];
        for (size_t i = g->off[k]; i < g->off[k + 1] && !rc; i++) {
            int from = g->read[i].from;
            if (instance_node(m, from) >= 0 || only[from] != COMPILE_NOT) continue;
            only[from] = 0;
            rc = vec_push(&todo, from);
        }
    }
    vec_free(&todo);
    return rc;
}

/* The integrals and what they read; their units and weights are those of the model. */
static int put_integrals(struct smc_plan *p, const struct collapse *c)
{
    const struct prog *from = collapse_density(c);
    struct prog part = *from, *to = &p->term;
    size_t params = to->nparam;
    int rc = 0;
    memset(&part.code, 0, sizeof part.code);
    for (size_t k = 0; k < from->code.n && !rc; k++)
        if (!from->code.a[k].sum || instr_integral(&from->code.a[k]))
            rc = vec_push(&part.code, from->code.a[k]);
    to->nrow = from->nnode;
    to->nparam = 0;
    if (!rc) rc = prog_append(to, &part);
    if (to->nparam < params) to->nparam = params;
    p->step[p->n - 1].term = to->code.n;
    vec_free(&part.code);
    return rc;
}

/* One program, stage by stage; all stages use the same temporaries. */
static int put_terms(struct smc_plan *p, const struct qnet *q, const struct reads *g,
                     const int *wave)
{
    struct model *m = q->model;
    int rows = 0;
    unsigned char *only = raw_array(unsigned char, model_num_instances(m) + 1);
    int rc = only ? 0 : NAMI_ENOMEM;
    for (int w = 0; w < p->n && !rc; w++) {
        for (int k = 0; k < model_num_instances(m); k++)
            only[k] = instance_node(m, k) < 0 ? COMPILE_NOT : wave[instance_node(m, k)] == w;
        for (int k = 0; k < model_num_instances(m) && !rc; k++)
            if (only[k] == 1) rc = mark_computed(m, g, k, only);
        if (!rc) rc = model_program(m, &p->term, 1, only);
        p->step[w].term = p->term.code.n;
        if (p->term.nrow > rows) rows = p->term.nrow;
    }
    if (!rc && q->collapse) rc = put_integrals(p, q->collapse);
    if (p->term.nrow > rows) rows = p->term.nrow;
    p->term.nrow = rows;
    free(only);
    return rc;
}

/* ---- what lanes take along -------------------------------------------------------------- */

/* By row or unit: the stage from which lanes differ in it (-1: they do not), and the last stage
   that reads it. */
struct life {
    int *since, *last;
};

struct walk {
    struct life row, unit;
    int wave;
    int differs; /* lanes differ in an input of the instruction */
};

static int life_init(struct life *x, int n)
{
    x->since = raw_array(int, n + 1);
    x->last = raw_array(int, n + 1);
    for (int i = 0; x->since && x->last && i < n; i++) x->since[i] = x->last[i] = -1;
    return x->since && x->last ? 0 : -1;
}

static void see_read(void *arg, enum instr_place place, int i)
{
    struct walk *k = arg;
    struct life *x = place == PLACE_UNIT ? &k->unit : &k->row;
    x->last[i] = k->wave;
    k->differs |= x->since[i] >= 0;
}

static void see_write(void *arg, enum instr_place place, int i)
{
    struct walk *k = arg;
    struct life *x = place == PLACE_UNIT ? &k->unit : &k->row;
    if (x->since[i] < 0) x->since[i] = k->wave;
}

/* If lanes differ in an input of an instruction, they differ in all its outputs. */
static void see_instr(struct walk *k, const struct instr *c)
{
    k->differs = instr_draws(c);
    instr_reads(c, see_read, k);
    if (k->differs) instr_writes(c, see_write, k);
}

/* Rows or units in which lanes differ and that are read after stage w; always includes the first
   `keep`. */
static int *list(struct smc_plan *p, const struct life *x, int n, int keep, int w, int *count)
{
    *count = 0;
    for (int pass = 0, *to = NULL;; pass++) {
        int k = 0;
        for (int i = 0; i < n; i++) {
            if (x->since[i] < 0 || x->since[i] > w || (i >= keep && x->last[i] <= w)) continue;
            if (pass) to[k] = i;
            k++;
        }
        if (pass) return *count = k, to;
        if (!(to = arena_array(&p->mem, int, k + 1))) return NULL;
    }
}

static int put_lists(struct smc_plan *p, int keep)
{
    const struct prog *g = &p->draw;
    struct walk k = {0};
    int rc = life_init(&k.row, g->nrow) | life_init(&k.unit, g->nunit);
    for (size_t c = 0; k.wave < p->n && !rc; k.wave++)
        for (; c < p->step[k.wave].draw; c++) see_instr(&k, &g->code.a[c]);
    for (int w = 0; w + 1 < p->n && !rc; w++) {
        struct smc_step *x = &p->step[w];
        x->row = list(p, &k.row, g->nrow, keep, w, &x->nrow);
        x->unit = list(p, &k.unit, g->nunit, 0, w, &x->nunit);
        if (!x->row || !x->unit) rc = -1;
    }
    free(k.row.since), free(k.row.last);
    free(k.unit.since), free(k.unit.last);
    return rc;
}

/* ---- all -------------------------------------------------------------------------------- */

int smc_plan_make(struct smc_plan *p, const struct sampler *s, nami_err *err)
{
    struct model *m = s->q->model;
    struct reads g;
    int waves = (int)s->wave.n;
    *p = (struct smc_plan){.n = waves ? waves : 1, .draw = s->prog};
    memset(&p->draw.code, 0, sizeof p->draw.code);
    int rc = reads_make(m, s->q->inverse, &g, err), nodes = bn_n(model_bn(m));
    int *open = raw_array(int, p->n);
    struct when x = {raw_array(int, nodes + 1), raw_array(int, nodes + 1)};
    p->step = arena_array(&p->mem, struct smc_step, p->n + 1);
    if (!rc && (!open || !x.p || !x.q || !p->step)) rc = err_nomem(err);
    if (!rc) {
        find_waves(s, open, &x);
        leave_integrals(s->q, &x);
        for (int w = 0; w < p->n; w++)
            p->step[w].draw = waves ? s->wave.a[w] : s->prog.code.n; /* nothing to draw */
        if (put_draws(p, s, x.q) || put_terms(p, s->q, &g, x.p) || put_lists(p, model_num_rows(m)))
            rc = err_nomem(err);
    }
    reads_free(&g);
    free(open);
    free(x.p);
    free(x.q);
    return rc;
}

void smc_plan_free(struct smc_plan *p)
{
    vec_free(&p->draw.code);
    prog_free(&p->term);
    arena_free(&p->mem);
    *p = (struct smc_plan){0};
}
