/* invert.c: the inverse of a model with exact factors, in the mode that leaves the smaller network.
 */
#include "exact/invert.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"

/* The exact latents of c, for the inversion. */
static int give(struct inversion *v, const struct collapse *c)
{
    int n = v->p.g->n;
    free(v->exact);
    free(v->exact_kind);
    v->exact = new_array(unsigned char, n);
    v->exact_kind = new_array(const char *, n);
    if (!v->exact || !v->exact_kind) return NAMI_ENOMEM;
    for (int k = 0; k < n; k++) {
        v->exact_kind[k] = c->kind[k];
        v->exact[k] = c->kind[k] != NULL;
    }
    if (c->step.n) return 0;
    free(v->exact);
    free(v->exact_kind);
    v->exact = NULL;
    v->exact_kind = NULL;
    return 0;
}

static int run(struct inversion *v, enum mode mode, const struct collapse *c, struct inverse **out,
               nami_err *err)
{
    enum mode had = v->p.mode;
    if (give(v, c)) return err_nomem(err);
    v->p.mode = mode;
    int rc = inversion_run(v, out, err);
    v->p.mode = had;
    return rc;
}

static int choose(const struct model *m, const struct inversion *v, enum mode mode,
                  const char *which, struct collapse *c, nami_err *err)
{
    struct problem p = v->p;
    p.mode = mode;
    return collapse_make(c, m, &p, v->method->uses_mode ? which : "none", err);
}

/* Scalars without a closed form. */
static int num_costly(const struct collapse *c)
{
    int n = 0;
    for (size_t k = 0; k < c->step.n; k++)
        if (c->step.a[k]->kind->plates) n += c->step.a[k]->integral.num_vars;
    return n;
}

/* Does c leave fewer scalars than `other`, or as many, of which fewer have no closed form? 0:
 * equal.
 */
static int compare(const struct collapse *c, const struct collapse *other)
{
    int left = other->num_left - c->num_left;
    return left ? left : num_costly(other) - num_costly(c);
}

/* The mode of c[0] or of c[1], whichever is better; of both, if they are equal. */
static int better(struct inversion *v, struct collapse c[2], int *best, struct inverse **out,
                  nami_err *err)
{
    static const enum mode mode[] = {MODE_FORWARD, MODE_REVERSE};
    struct inverse *h[2] = {0};
    int rc = 0;
    for (int i = 0; i < 2 && !rc; i++)
        if (compare(&c[i], &c[!i]) >= 0) rc = run(v, mode[i], &c[i], &h[i], err);
    if (!rc) {
        *best = !h[0] || (h[1] && (h[1]->edges < h[0]->edges ||
                                   (h[1]->edges == h[0]->edges && h[1]->width < h[0]->width)));
        *out = h[*best];
        h[*best] = NULL;
        if (give(v, &c[*best])) rc = err_nomem(err);
    }
    inverse_free(h[0]);
    inverse_free(h[1]);
    return rc;
}

int exact_invert(const struct model *m, struct inversion *v, const char *which, struct collapse *c,
                 struct inverse **out, nami_err *err)
{
    struct collapse both[2];
    int best = 0, rc;
    *out = NULL;
    *c = both[0] = both[1] = (struct collapse){0};
    if (v->p.mode != MODE_BEST) {
        rc = choose(m, v, v->p.mode, which, c, err);
        return rc ? rc : run(v, v->p.mode, c, out, err);
    }
    rc = choose(m, v, MODE_FORWARD, which, &both[0], err);
    if (!rc) rc = choose(m, v, MODE_REVERSE, which, &both[1], err);
    if (!rc && !both[0].step.n && !both[1].step.n)
        rc = run(v, MODE_BEST, &both[0], out, err);
    else if (!rc)
        rc = better(v, both, &best, out, err);
    *c = both[best];
    collapse_free(&both[!best]);
    return rc;
}

int exact_again(const struct model *m, const struct inversion *v, const struct inverse *h,
                struct collapse *c, nami_err *err)
{
    struct problem p = v->p;
    const char **kind = new_array(const char *, p.g->n);
    int mode = h->mode ? mode_by_name(h->mode) : -1, rc;
    if (!kind) return err_nomem(err);
    for (int i = 0; i < h->nexact; i++) kind[h->perm[i]] = h->exact[i];
    p.mode = mode < 0 ? MODE_FREE : (enum mode)mode;
    rc = collapse_again(c, m, &p, kind, err);
    free(kind);
    return rc;
}
