/* notes.c: remarks to the caller's watch: what data sets give that is not used, and what runs. */
#include <string.h>

#include "api/api.h"
#include "base/dict.h"

/* Does a data set give a value for an element that is random, and not observed? */
static int gives_latent(const struct model *m, int array, const struct value *v)
{
    int first = array_first(m, array);
    for (int k = 0; k < array_size(m, array) && (size_t)k < v->n; k++)
        if (element_is_random(m, first + k) && !element_is_observed(m, first + k) &&
            !value_is_missing(v->x[k]))
            return 1;
    return 0;
}

/* Each name once.  `who` NULL: names that the model does not know; else those of latents. */
static int tell_names(const struct model *m, const struct data *d, const char *who,
                      const nami_watch *watch)
{
    struct dict said = {0};
    int oom = 0;
    for (size_t s = 0; s < d->set.n; s++)
        for (size_t i = 0; i < d->set.a[s].value.n; i++) {
            const struct value *v = &d->set.a[s].value.a[i];
            int array = model_find_array(m, v->name, strlen(v->name)), fresh = 0;
            if (who ? array < 0 || !gives_latent(m, array, v) : array >= 0) continue;
            oom |= dict_add(&said, v->name, strlen(v->name), &fresh) < 0;
            if (!fresh) continue;
            if (!who)
                tell(watch, NAMI_WARNING, "the data give %s, which the model does not know",
                     v->name);
            else
                tell(watch, NAMI_NOTE,
                     "the data give values of %s, which %s infers: they are not used", v->name,
                     who);
        }
    dict_free(&said);
    return oom ? NAMI_ENOMEM : 0;
}

int tell_unknown(const struct model *m, const struct data *d, const nami_watch *watch)
{
    return tell_names(m, d, NULL, watch);
}

int tell_latents(const struct model *m, const struct data *d, const char *who,
                 const nami_watch *watch)
{
    return tell_names(m, d, who, watch);
}

int tell_unused(const struct model *m, const struct data *d, const char *who,
                const nami_watch *watch)
{
    int rc = tell_unknown(m, d, watch);
    return rc ? rc : tell_latents(m, d, who, watch);
}

void tell_program(const nami_model *w, const nami_watch *watch)
{
    if (w->simulator) tell(watch, NAMI_NOTE, "this runs the simulator %s", w->simulator);
}
