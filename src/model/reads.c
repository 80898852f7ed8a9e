/* reads.c: the dependency graph of a model's instances, and a hash of each instance by itself. */
#include "model/reads.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "model/model.h"

/* Iterator over the random elements that instance k reads, reference by reference. */
struct walk {
    const struct model *m;
    const struct stmt *s;
    int i, r, j;
};

static struct walk walk(const struct model *m, int k)
{
    const struct stmt *s = instance_stmt(m, k);
    return (struct walk){m, s, k - s->first, 0, 0};
}

static int walk_next(struct walk *w) /* an element, or -1 */
{
    for (; w->r < w->s->nref; w->r++, w->j = 0) {
        const struct foot *f = &w->s->foot[w->r];
        while (f->random[w->i] && w->j < f->off[w->i + 1] - f->off[w->i]) {
            int e = f->elem[f->off[w->i] + w->j++];
            if (w->m->ir.state[e] == E_RANDOM) return e;
        }
    }
    return -1;
}

/* Marks the nodes of the inverse and their ancestors. */
static int find_alive(const struct model *m, const struct inverse *h, unsigned char *alive)
{
    vec(int) todo = {0};
    int rc = 0, e;
    for (int k = 0; k < m->ir.num_instances && !rc; k++)
        if (!h || (m->ir.node[k] >= 0 && h->pos[m->ir.node[k]] >= 0)) {
            alive[k] = 1;
            rc = vec_push(&todo, k);
        }
    while (todo.n && !rc)
        for (struct walk w = walk(m, todo.a[--todo.n]); !rc && (e = walk_next(&w)) >= 0;)
            if (!alive[m->ir.defined_by[e]]) {
                alive[m->ir.defined_by[e]] = 1;
                rc = vec_push(&todo, m->ir.defined_by[e]);
            }
    vec_free(&todo);
    return rc;
}

static int put_reads(const struct model *m, const unsigned char *alive, struct reads *g)
{
    int e, *at = raw_array(int, m->ir.num_elements); /* index of each element within its instance */
    size_t n = 0, *fill;
    for (int k = 0; k < g->n && at; k++) {
        for (int j = m->ir.first_defined[k]; j < m->ir.first_defined[k + 1]; j++)
            at[m->ir.defined[j]] = j - m->ir.first_defined[k];
        for (struct walk w = walk(m, k); alive[k] && (e = walk_next(&w)) >= 0; n++)
            g->out[m->ir.defined_by[e] + 1]++;
        g->off[k + 1] = n;
    }
    g->read = raw_array(struct read, n);
    g->reader = raw_array(struct reader, n);
    fill = raw_array(size_t, g->n + 1);
    int rc = at && fill && g->read && g->reader ? 0 : -1;
    for (int k = 0; k < g->n && !rc; k++) fill[k + 1] = g->out[k + 1] += g->out[k];
    if (!rc) fill[0] = 0;
    for (int k = 0; k < g->n && !rc; k++) {
        int slot = 0;
        for (struct walk w = walk(m, k); alive[k] && (e = walk_next(&w)) >= 0; slot++) {
            int from = m->ir.defined_by[e];
            g->read[g->off[k] + (size_t)slot] = (struct read){from, at[e]};
            g->reader[fill[from]++] = (struct reader){k, slot};
        }
    }
    free(at);
    free(fill);
    return rc;
}

/* ---- what an instance is by itself -------------------------------------------------- */

static int is_random(const struct stmt *s, const struct term *t, int i)
{
    if (t->kind == T_NET || (t->kind == T_REF && s->foot[t->ref].random[i])) return 1;
    for (int a = 0; a < t->narg; a++)
        if (t->arg[a] && is_random(s, t->arg[a], i)) return 1;
    return 0;
}

static uint64_t bits_of(double x)
{
    uint64_t b;
    memcpy(&b, &x, sizeof b);
    return b;
}

static uint64_t mix_foot(uint64_t h, const struct model *m, const struct foot *f, int i)
{
    for (int d = 0; d <= f->shape[i][0]; d++) h = mix(h, (uint64_t)f->shape[i][d]);
    h = mix(mix(h, (uint64_t)f->pick[i]), f->pick[i] ? f->low[i] : 0);
    for (int j = f->off[i]; j < f->off[i + 1]; j++) {
        int e = f->elem[j];
        if (m->ir.state[e] == E_RANDOM)
            h = mix(h, 1);
        else if (m->ir.arrays.a[m->ir.array_of[e]].free || isnan(m->ir.value[e])) /* not known */
            h = mix(mix(h, 2), (uint64_t)e);
        else
            h = mix(mix(h, 3), bits_of(m->ir.value[e]));
    }
    return h;
}

/* Hashes constants by value; constant subscripts matter only through the elements that they
   select. */
static uint64_t mix_term(uint64_t h, const struct model *m, const struct stmt *s,
                         const struct term *t, int i)
{
    if (t->kind == T_COUNTER)
        return mix(h, (uint64_t)s->counter[(size_t)i * (size_t)s->depth + (size_t)t->depth]);
    if (t->kind == T_REF) h = mix_foot(h, m, &s->foot[t->ref], i);
    for (int a = 0; a < t->narg; a++)
        if (t->arg[a] && (t->kind != T_REF || is_random(s, t->arg[a], i)))
            h = mix_term(h, m, s, t->arg[a], i);
    return h;
}

/* The terms of an instance: t[INSTANCE_TERMS], some NULL. */
enum { INSTANCE_TERMS = DIST_ARGS + 3 };
static void terms_of(const struct stmt *s, const struct term **t)
{
    t[0] = s->rhs, t[1] = s->lower, t[2] = s->upper;
    memcpy(t + 3, s->arg, sizeof s->arg);
}

static void put_hashes(const struct model *m, int k, struct reads *g)
{
    const struct stmt *s = instance_stmt(m, k);
    const int *lhs = m->ir.defined + m->ir.first_defined[k];
    uint64_t h = mix(1, (uint64_t)m->ir.statement_of[k]);
    for (int j = 0; j < m->ir.first_defined[k + 1] - m->ir.first_defined[k]; j++)
        h = mix(h, (uint64_t)(lhs[j] - lhs[0])); /* its shape */
    g->kind[k] = mix(h, m->ir.node[k] >= 0 ? m->ir.bn->node.a[m->ir.node[k]].observed : 2);
    const struct train_prior *train = m->ir.train_prior ? &m->ir.train_prior[k] : NULL;
    if (train && train->kind) { /* different posteriors under the training distribution */
        g->kind[k] = mix(g->kind[k], train->kind);
        h = mix(h, train->kind);
        for (int i = 0; i < train->num_parameters; i++) h = mix(h, bits_of(train->parameter[i]));
    }
    if (m->ir.node[k] >= 0 && !s->dist) h = mix(h, (uint64_t)k); /* of unknown density: unique */
    const struct term *t[INSTANCE_TERMS];
    terms_of(s, t);
    for (int a = 0; a < INSTANCE_TERMS; a++)
        if (t[a]) h = mix_term(mix(h, (uint64_t)a), m, s, t[a], k - s->first);
    g->own[k] = h;
}

/* ---- constants ---------------------------------------------------------------------- */

static int put_constants(const struct model *m, const struct stmt *s, const struct term *t, int i,
                         struct numbers *out)
{
    const struct foot *f = t->kind == T_REF ? &s->foot[t->ref] : NULL;
    int rc = 0;
    if (t->kind == T_COUNTER)
        return vec_push(out, s->counter[(size_t)i * (size_t)s->depth + (size_t)t->depth]);
    for (int j = f ? f->off[i] : 0; f && j < f->off[i + 1] && !rc; j++) {
        int e = f->elem[j];
        if (m->ir.state[e] != E_RANDOM && !m->ir.arrays.a[m->ir.array_of[e]].free &&
            !isnan(m->ir.value[e]))
            rc = vec_push(out, m->ir.value[e]);
    }
    for (int a = 0; a < t->narg && !rc; a++)
        if (t->arg[a] && (!f || is_random(s, t->arg[a], i)))
            rc = put_constants(m, s, t->arg[a], i, out);
    return rc;
}

int reads_constants(const struct model *m, int k, struct numbers *out)
{
    const struct stmt *s = instance_stmt(m, k);
    const struct term *t[INSTANCE_TERMS];
    int rc = 0;
    terms_of(s, t);
    for (int a = 0; a < INSTANCE_TERMS && !rc; a++)
        if (t[a]) rc = put_constants(m, s, t[a], k - s->first, out);
    const struct train_prior *train = m->ir.train_prior ? &m->ir.train_prior[k] : NULL;
    for (int i = 0; train && i < train->num_parameters && !rc; i++)
        rc = vec_push(out, train->parameter[i]);
    return rc;
}

/* ------------------------------------------------------------------------------------- */

int reads_make(const struct model *m, const struct inverse *h, struct reads *out, nami_err *err)
{
    unsigned char *alive = new_array(unsigned char, m->ir.num_instances);
    *out = (struct reads){.n = m->ir.num_instances};
    out->off = new_array(size_t, m->ir.num_instances + 1);
    out->out = new_array(size_t, m->ir.num_instances + 1);
    out->kind = new_array(uint64_t, m->ir.num_instances);
    out->own = new_array(uint64_t, m->ir.num_instances);
    int rc = alive && out->off && out->out && out->kind && out->own ? 0 : -1;
    if (!rc) rc = find_alive(m, h, alive);
    if (!rc) rc = put_reads(m, alive, out);
    for (int k = 0; k < m->ir.num_instances && !rc; k++)
        if (alive[k]) put_hashes(m, k, out);
    free(alive);
    if (!rc) return 0;
    reads_free(out);
    return err_nomem(err);
}

void reads_free(struct reads *g)
{
    free(g->off);
    free(g->read);
    free(g->out);
    free(g->reader);
    free(g->kind);
    free(g->own);
    *g = (struct reads){0};
}
