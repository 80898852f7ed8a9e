#include "with_net.h"

#include <math.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/num.h"

int open_net(struct trained *n, const char *path, int threads)
{
    nami_err err = {0};
    *n = (struct trained){0};
    int rc = training_read(&n->r, path, threads, &err);
    if (!rc && !(n->param = raw_array(float, training_nparam(&n->r) + 1))) rc = err_nomem(&err);
    if (!rc) rc = training_weights(&n->r, n->param, &err);
    if (!rc) rc = infer_init(&n->a, &n->r.q, n->param, &err);
    return rc ? fail(READING, path, &err) : EXIT_YES;
}

int open_data(struct trained *n, const char *const *file, int nfile)
{
    const struct model *m = n->r.m;
    const struct data *d = nfile ? &n->data : &m->data;
    nami_err err = {0};
    for (int i = 0; i < nfile; i++)
        if (data_read(&n->data, file[i], &err)) return fail(READING, file_name(file[i]), &err);
    n->nset = nfile ? d->set.n : d->set.n > 0;
    if (!n->nset) {
        err_set(&err, NAMI_EUSAGE, "what was observed? give --data FILE");
        return fail(RUNNING, NULL, &err);
    }
    n->x = new_array(double, (size_t)m->nrow * n->nset + 1);
    if (!n->x) return err_nomem(&err), fail(RUNNING, NULL, &err);
    for (size_t s = 0; s < n->nset; s++)
        if (infer_data(m, &d->set.a[s], n->nset, s, n->x, &err))
            return fail(READING, nfile == 1 ? file_name(file[0]) : NULL, &err);
    return EXIT_YES;
}

void close_net(struct trained *n)
{
    if (n->a.q) infer_fini(&n->a);
    data_free(&n->data);
    free(n->x);
    free(n->param);
    training_free(&n->r);
}

int latent_names(const struct model *m, int all, struct str *out)
{
    for (size_t i = 0; i < m->array.n; i++) {
        const struct array *a = &m->array.a[i];
        int want = 0;
        for (int e = a->first; e < a->first + a->n && !want; e++) {
            if (m->state[e] != E_RANDOM || a->free) continue;
            want = m->node[m->owner[e]] < 0 ? all : !m->observed[e];
        }
        if (want) str_printf(out, "%s%s", out->n ? "," : "", a->name);
    }
    return out->oom || !out->n ? NAMI_ENOMEM : 0;
}

void put_json_number(struct str *out, const char *name, double x)
{
    char buf[NUM_MAX];
    str_printf(out, ",\"%s\":", name);
    if (isfinite(x))
        str_putn(out, buf, (size_t)num_print(buf, x));
    else
        str_put(out, "null");
}
