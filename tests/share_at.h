/* share_at.h: a model, an inverse and what is shared, for tests. */
#ifndef TESTS_SHARE_AT_H
#define TESTS_SHARE_AT_H

#include "model/model.h"
#include "model/problem.h"
#include "model_at.h"
#include "net/share.h"

struct shared {
    struct model m;
    struct inverse *h;
    struct share s;
};

/* What must hold in any case. */
static inline void sane(const struct shared *x)
{
    const struct share *s = &x->s;
    int *count = new_array(int, x->h->n);
    for (int i = 0; i < x->h->nlatent; i++) {
        int r = s->rep[i];
        int64_t n = s->off[i + 1] - s->off[i];
        assert_true(r <= i && s->rep[r] == r);
        assert_true(n == inverse_count(x->h, i) && n == s->off[r + 1] - s->off[r]);
        assert_int_equal(x->m.ir.bn->node.a[x->h->perm[i]].cls,
                         x->m.ir.bn->node.a[x->h->perm[r]].cls);
        for (int64_t k = 0; k < n; k++) {
            int p = s->parent[s->off[i] + k], q = s->parent[s->off[r] + k];
            count[p]++;
            assert_int_equal(x->m.ir.bn->node.a[p].cls, x->m.ir.bn->node.a[q].cls);
            assert_int_equal(x->m.ir.bn->node.a[p].observed, x->m.ir.bn->node.a[q].observed);
        }
        int64_t k = s->off[i];
        for (struct inverse_it it = inverse_it(x->h, i); inverse_next(&it); k++) {
            assert_int_equal(count[it.node], 1);
            count[it.node] = 0;
            if (r == i) assert_int_equal(s->parent[k], it.node);
        }
    }
    free(count);
}

static inline void share(struct shared *x, const char *method, const char *mode, int on)
{
    nami_options opt = {.method = method, .mode = mode, .verify = "none"};
    struct inversion v;
    nami_err err = {0};
    if (inversion_init(&v, x->m.ir.bn, &opt, &err) || inversion_run(&v, &x->h, &err))
        fail_msg("%s", err.msg);
    inversion_fini(&v);
    if (share_find(&x->m, x->h, on, &x->s, &err)) fail_msg("%s", err.msg);
    sane(x);
}

static inline void drop(struct shared *x)
{
    share_free(&x->s);
    inverse_free(x->h);
}

#endif
