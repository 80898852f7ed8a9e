/* exact_axes.c: joint iteration over a clique table and a smaller table: sums, maxima and
   log-sum-exp over the remaining variables. */
#include "infer/exact_axes.h"

#include <math.h>

#include "base/simd.h"

void axes_init(struct axes *a, const struct dnet *d, const struct dclique *c, const int *var,
               int nvar, const size_t *stride)
{
    a->n = 0;
    for (int i = 0; i < c->n; i++) {
        size_t size = (size_t)d->card[c->var[i]], step = 0;
        if (size == 1) continue;
        for (int k = 0; k < nvar; k++)
            if (var[k] == c->var[i]) step = stride[k];
        if (a->n && a->stride[a->n - 1] == step * size) {
            a->size[a->n - 1] *= size;
            a->stride[a->n - 1] = step;
        } else { /* at most 2^AXES entries: ensured by ctree_new */
            a->size[a->n] = size;
            a->stride[a->n++] = step;
        }
    }
    if (!a->n) a->size[0] = 1, a->stride[0] = 0, a->n = 1;
}

void axes_sub(struct axes *a, const struct dnet *d, const struct dclique *c, const int *var,
              int nvar)
{
    size_t step = 1;
    a->n = 0;
    for (int i = c->n - 1, k = nvar - 1; i >= 0; i--) { /* fastest axis first, reversed below */
        size_t size = (size_t)d->card[c->var[i]], own = 0;
        if (k >= 0 && var[k] == c->var[i]) {
            own = step;
            step *= size;
            k--;
        }
        if (size == 1) continue;
        if (a->n && own == a->stride[a->n - 1] * a->size[a->n - 1]) {
            a->size[a->n - 1] *= size;
        } else {
            a->size[a->n] = size;
            a->stride[a->n++] = own;
        }
    }
    if (!a->n) a->size[0] = 1, a->stride[0] = 0, a->n = 1;
    for (int i = 0, j = a->n - 1; i < j; i++, j--) {
        size_t size = a->size[i], stride = a->stride[i];
        a->size[i] = a->size[j], a->stride[i] = a->stride[j];
        a->size[j] = size, a->stride[j] = stride;
    }
}

void axes_each(const struct axes *a, axes_run *run, double *t, double *s, size_t half)
{
    size_t at[AXES] = {0};
    int last = a->n - 1;
    for (;;) {
        run(a->size[last], a->stride[last], t, s, half);
        t += a->size[last];
        int k = last - 1;
        for (; k >= 0 && ++at[k] == a->size[k]; k--) {
            at[k] = 0;
            s -= (a->size[k] - 1) * a->stride[k];
        }
        if (k < 0) return;
        s += a->stride[k];
    }
}

WIDE void run_add(size_t n, size_t stride, double *t, double *s, size_t half)
{
    (void)half;
    if (stride == 1)
        EACH(i, (int)n) t[i] += s[i];
    else if (stride == 0)
        EACH(i, (int)n) t[i] += s[0];
    else
        for (size_t i = 0; i < n; i++) t[i] += s[i * stride];
}

WIDE void run_max(size_t n, size_t stride, double *t, double *s, size_t half)
{
    (void)half;
    if (stride == 1)
        EACH(i, (int)n) s[i] = t[i] > s[i] ? t[i] : s[i];
    else
        for (size_t i = 0; i < n; i++)
            if (t[i] > s[i * stride]) s[i * stride] = t[i];
}

WIDE void run_exp(size_t n, size_t stride, double *t, double *s, size_t half)
{
    double sum[8] = {0}, *to = s + half, m = s[0];
    size_t i = 0;
    if (stride == 1) {
        EACH(k, (int)n) to[k] += exp(t[k] - s[k]);
        return;
    }
    if (stride == 0) {
        for (; i + 8 <= n; i += 8) EACH(k, 8) sum[k] += exp(t[i + (size_t)k] - m);
        for (; i < n; i++) sum[0] += exp(t[i] - m);
        to[0] += ((sum[0] + sum[4]) + (sum[1] + sum[5])) + ((sum[2] + sum[6]) + (sum[3] + sum[7]));
        return;
    }
    for (; i < n; i++) to[i * stride] += exp(t[i] - s[i * stride]);
}

void run_collect(size_t n, size_t stride, double *t, double *s, size_t half)
{
    (void)half;
    for (size_t i = 0; i < n; i++) s[i * stride] += exp(t[i]);
}

void axes_log_sum(const struct axes *a, double *t, double *s, size_t size)
{
    for (size_t i = 0; i < size; i++) s[i] = -INFINITY, s[size + i] = 0;
    axes_each(a, run_max, t, s, size);
    for (size_t i = 0; i < size; i++)
        if (isinf(s[i])) s[i] = 0; /* no -inf - -inf */
    axes_each(a, run_exp, t, s, size);
    for (size_t i = 0; i < size; i++) s[i] += log(s[size + i]);
}
