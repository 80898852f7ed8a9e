#include <stdlib.h>
#include "base/err.h"
#include "net/share.h"
int share_find(const struct model *m, const struct inverse *h, int on, struct share *s, nami_err *err)
{
    int64_t at = 0; (void)m; (void)on;
    s->rep = new_array(int, h->nlatent); s->off = new_array(int64_t, h->nlatent + 1); s->parent = new_array(int, h->edges + 1);
    if (!s->rep || !s->off || !s->parent) return err_nomem(err);
    for (int i = 0; i < h->nlatent; i++) { s->rep[i] = i; s->off[i] = at;
        for (struct inverse_it it = inverse_it(h, i); inverse_next(&it);) s->parent[at++] = it.node; }
    s->off[h->nlatent] = at;
    return 0;
}
void share_free(struct share *s) { free(s->rep); free(s->off); free(s->parent); }
