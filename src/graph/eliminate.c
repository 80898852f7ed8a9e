/* eliminate.c: Algorithm 1 of the paper, with the frontier of frontier.h. */

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "graph/elim.h"
#include "graph/frontier.h"
#include "graph/invert.h"

/* Eliminates enabled vertices until none is left; f may be NULL (no waiting). */
static int drain(const struct problem *p, struct elim *e, struct frontier *f, nami_err *err)
{
    int v, rc;
    while ((v = elim_pick(e)) >= 0) {
        if (p->max_edges && elim_edges(e) + elim_growth(e, v) > p->max_edges)
            return err_set(err, NAMI_ELIMIT, "the inverse has more than %lld edges",
                           (long long)p->max_edges);
        if ((rc = elim_vertex(e, v)) == NAMI_ELIMIT)
            return err_set(err, rc,
                           "the graph gets too dense to be inverted this way; try another mode");
        if (rc == NAMI_EBUG)
            return err_set(err, rc,
                           "the fill was miscounted: this is a fault of NaMI's, please "
                           "report the graph");
        if (rc || (f && frontier_pass(f, v))) return err_nomem(err);
        for (size_t i = 0; f && i < f->ready.n; i++) elim_enable(e, f->ready.a[i]);
    }
    return 0;
}

/* Exact latents are eliminated before the stages of the user. */
static int stage_of(const struct problem *p, int v)
{
    if (p->exact && p->exact[v]) return 0;
    return p->stage ? p->stage[v] + 1 : 1;
}

/* The wanted latents, stage by stage: a list and its length. */
static int *by_stage(const struct problem *p, const unsigned char *role, int *count)
{
    int n = p->g->n, k = 0, *list = raw_array(int, n), *start = NULL, last = 0;
    *count = 0;
    if (!list) return NULL;
    for (int v = 0; v < n; v++)
        if (role[v] == ROLE_WANTED) {
            list[k++] = v;
            if (stage_of(p, v) > last) last = stage_of(p, v);
        }
    *count = k;
    if (!p->stage && !p->exact) return list;
    int *sorted = raw_array(int, n);
    start = new_array(int, last + 2);
    if (sorted && start) {
        for (int i = 0; i < k; i++) start[stage_of(p, list[i]) + 1]++;
        for (int s = 0; s <= last; s++) start[s + 1] += start[s];
        for (int i = 0; i < k; i++) sorted[start[stage_of(p, list[i])]++] = list[i];
    } else {
        free(sorted);
        sorted = NULL;
    }
    free(list);
    free(start);
    return sorted;
}

int eliminate(const struct problem *p, const unsigned char *role, int direct, struct elim **out,
              nami_err *err)
{
    int n = p->g->n, rc, count = 0, nuisance = 0;
    struct ugraph j = {0};
    struct frontier f = {0};
    unsigned char *gone = new_array(unsigned char, n), *fixed = new_array(unsigned char, n);
    int *list = by_stage(p, role, &count);
    *out = NULL;
    if (!gone || !fixed || !list) {
        rc = err_nomem(err);
        goto out;
    }
    for (int v = 0; v < n; v++) {
        gone[v] = role[v] == ROLE_MODEL || role[v] == ROLE_DROPPED;
        fixed[v] = role[v] == ROLE_OBSERVED;
        nuisance |= role[v] == ROLE_NUISANCE;
    }
    if ((rc = moral_init(&j, p->g, gone, err))) goto out;
    if (!(*out = elim_new(&j, fixed, direct, gone, p->criterion, p->size, p->rank))) {
        rc = err_nomem(err);
        goto out;
    }
    ugraph_fini(&j);
    if (nuisance) {
        struct problem unbounded = *p; /* edges of nuisances are not edges of the inverse */
        unbounded.max_edges = 0;
        for (int v = 0; v < n; v++)
            if (role[v] == ROLE_NUISANCE) elim_enable(*out, v);
        if ((rc = drain(&unbounded, *out, NULL, err))) goto out;
        if (elim_forget(*out)) {
            rc = err_nomem(err);
            goto out;
        }
    }
    int staged = count && stage_of(p, list[0]) != stage_of(p, list[count - 1]);
    int free_order = p->mode == MODE_FREE;
    if (!free_order && (rc = frontier_init(&f, p->g, p->mode == MODE_REVERSE, direct, staged, err)))
        goto out;
    for (int i = 0, end; i < count; i = end) {
        end = i + 1;
        while (end < count && stage_of(p, list[end]) == stage_of(p, list[i])) end++;
        if (!free_order && frontier_open(&f, list + i, end - i)) {
            rc = err_nomem(err);
            goto out;
        }
        const int *ready = free_order ? list + i : f.ready.a;
        int nready = free_order ? end - i : (int)f.ready.n;
        for (int k = 0; k < nready; k++) elim_enable(*out, ready[k]);
        if ((rc = drain(p, *out, free_order ? NULL : &f, err))) goto out;
    }
out:
    if (rc) {
        elim_free(*out);
        *out = NULL;
    }
    frontier_fini(&f);
    ugraph_fini(&j);
    free(gone);
    free(fixed);
    free(list);
    return rc;
}

int elim_all(const struct ugraph *j, const struct criterion *criterion, const int *size,
             int64_t max_edges, int *order, nami_err *err)
{
    struct elim *e = elim_new(j, NULL, 0, NULL, criterion, size, NULL);
    int rc = e ? 0 : NAMI_ENOMEM, v;
    for (int i = 0; i < j->n && !rc; i++) elim_enable(e, i);
    for (int k = 0; !rc && (v = elim_pick(e)) >= 0; order[k++] = v)
        rc = elim_edges(e) > max_edges ? NAMI_ELIMIT : elim_vertex(e, v);
    elim_free(e);
    if (rc == NAMI_EBUG) return err_set(err, rc, "the fill was miscounted");
    return rc == NAMI_ENOMEM ? err_nomem(err) : rc;
}

int elim_order(const struct elim *e, const unsigned char *role, int *order)
{
    struct elim_step st;
    int k = 0;
    for (int64_t at = 0; elim_next_step(e, &at, &st);)
        if (role[st.vertex] == ROLE_WANTED) order[k++] = st.vertex;
    return k;
}

int inverse_from_elim(const struct problem *p, const unsigned char *role, const struct elim *e,
                      struct inverse **out, nami_err *err)
{
    int rc, *order = raw_array(int, p->g->n), *obs = raw_array(int, p->g->n);
    struct inverse *h = NULL;
    *out = NULL;
    if (!order || !obs) {
        rc = err_nomem(err);
        goto out;
    }
    elim_fixed_order(e, obs);
    if ((rc = inverse_start(p, role, order, elim_order(e, role, order), obs, &h, err))) goto out;
    /* the inverse has a copy of the order: from here on that array is work space */
    struct elim_step st;
    int i = 0;
    for (int64_t at = 0; elim_next_step(e, &at, &st);) {
        if (role[st.vertex] != ROLE_WANTED) continue;
        int nfree = 0; /* movable ones are sorted together, fixed ones are runs already */
        for (struct elim_chain c; elim_next_chain(&st, &c);) {
            if (elim_is_fixed(e, c.head)) {
                if (inverse_add(h, h->pos[c.head], c.count)) goto nomem;
            } else {
                elim_expand(e, st.vertex, c, order + nfree);
                nfree += c.count;
            }
        }
        if (inverse_add_vars(h, order, nfree)) goto nomem;
        inverse_close(h, i++);
    }
    *out = h;
    goto out;
nomem:
    rc = err_nomem(err);
    inverse_free(h);
out:
    free(order);
    free(obs);
    return rc;
}

int natural_order(const struct problem *p, const unsigned char *role, int *order, int *norder,
                  nami_err *err)
{
    struct problem q = *p;
    struct elim *e;
    q.max_edges = 0; /* the bound is for the inverse, not for the order */
    int rc = eliminate(&q, role, 0, &e, err);
    if (!rc) *norder = elim_order(e, role, order);
    elim_free(e);
    return rc;
}
