/* notes.c: what data sets give that a query does not use, told to the caller's watch. */
#include <string.h>

#include "api/api.h"
#include "base/dict.h"

/* Does a data set give a value for an element that is random, and not observed? */
static int gives_latent(const struct model *m, const struct array *a, const struct value *v)
{
    for (int k = 0; k < a->n && (size_t)k < v->n; k++)
        if (m->state[a->first + k] == E_RANDOM && !m->observed[a->first + k] &&
            !value_is_missing(v->x[k]))
            return 1;
    return 0;
}

static const struct array *array_called(const struct model *m, const char *name)
{
    int k = dict_find(&m->syntax.names, name, strlen(name)), a = k < 0 ? -1 : m->array_of[k];
    return a < 0 ? NULL : &m->array.a[a];
}

void tell_unused(const struct model *m, const struct data *d, const char *who,
                 const nami_watch *watch)
{
    struct dict said = {0}; /* each name once */
    for (size_t s = 0; s < d->set.n; s++)
        for (size_t i = 0; i < d->set.a[s].value.n; i++) {
            const struct value *v = &d->set.a[s].value.a[i];
            const struct array *a = array_called(m, v->name);
            int fresh = 0;
            if (a && !gives_latent(m, a, v)) continue;
            if (dict_add(&said, v->name, strlen(v->name), &fresh) < 0 || !fresh) continue;
            if (!a)
                tell(watch, NAMI_WARNING, "the data give %s, which the model does not know",
                     v->name);
            else
                tell(watch, NAMI_NOTE,
                     "the data give values of %s, which %s infers: they are not used", v->name,
                     who);
        }
    dict_free(&said);
}
