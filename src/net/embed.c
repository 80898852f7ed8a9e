/* embed.c: builds summary networks (embeddings) of observed arrays: those that the model
   declares, and whitening layers. */
#include "net/embed.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "net/white.h"

/* The feature of an element, as a unit; -1 if it is not one number. */
static int unit_of(const struct qnet *q, int e)
{
    const struct model *m = q->model;
    const int *element = instance_elements(m, element_instance(m, e));
    const struct encoding *c = &q->encoding[element_node(m, e)];
    int j = 0;
    if (c->nfeature != c->num_elements) return -1;
    while (element[j] != e) j++;
    return c->feature + j;
}

/* All nodes of an array; how many. */
static int mark(const struct qnet *q, int array, int number, int *of)
{
    int n = 0, first = array_first(q->model, array);
    for (int e = first; e < first + array_size(q->model, array); e++) {
        int v = element_node(q->model, e);
        n += of[v] != number;
        of[v] = number;
    }
    return n;
}

/* What a layer's output positions read: (positions, inputs of one).  in: units of what it sees,
   (height, width, channels). */
static int *fields(const struct layer *l, const int *seen, const int *in, int *n, int *each)
{
    int h = seen[0], w = seen[1], c = seen[2], conv = l->kind == LAYER_CONV;
    int sh = conv ? l->size : h, sw = conv && w > 1 ? l->size : w;
    int nh = conv ? l->dim[0] : 1, nw = conv ? l->dim[1] : 1, step = conv ? l->stride : 1;
    *n = nh * nw;
    *each = sh * sw * c;
    int *from = raw_array(int, (size_t)*n *(size_t)*each), *to = from;
    if (!from) return NULL;
    for (int y = 0; y < nh; y++)
        for (int x = 0; x < nw; x++)
            for (int i = 0; i < sh; i++)
                for (int j = 0; j < sw; j++)
                    for (int k = 0; k < c; k++)
                        *to++ = in[((y * step + i) * w + x * step + j) * c + k];
    return from;
}

static int compile(struct qnet *q, const struct embed *x, int *in, struct net_embedding *out,
                   nami_err *err)
{
    const struct model *m = q->model;
    const char *array = array_name(m, x->array);
    const int *seen = x->dim;
    int data = 1, unit = -1, first = array_first(m, x->array);
    for (int k = 0; k < array_size(m, x->array); k++)
        if ((in[k] = unit_of(q, first + k)) < 0)
            return err_set(err, NAMI_EINPUT,
                           "%s cannot be embedded: its elements are not single numbers", array);
    for (int l = 0; l < x->nlayer; l++) {
        const struct layer *y = &x->layer[l];
        int n, each, total = y->dim[0] * y->dim[1] * y->dim[2];
        int *from = fields(y, seen, in, &n, &each);
        struct str name = {0};
        str_printf(&name, "embed/%s/%d", array, l);
        if (y->kind == LAYER_WHITEN)
            unit = !from || name.oom ? -1 : net_white(q, 1, each, from, name.s);
        else
            unit = !from || name.oom
                       ? -1
                       : net_layer(q, n, each, data ? 0 : each, from, y->out, y->act, name.s);
        free(from);
        str_free(&name);
        if (unit < 0) return err_nomem(err);
        if (!(in = arena_array(&q->mem, int, total))) return err_nomem(err);
        for (int k = 0; k < total; k++) in[k] = unit + k;
        seen = y->dim;
        data = 0;
    }
    out->unit = unit;
    out->num_units = x->out;
    return 0;
}

/* ---- arrays that are whitened ----------------------------------------------------------- */

enum { WHITE_FEWEST = 2, WHITE_MOST = 256 };

/* An array all of which is observed, number by number, and which has no embedding: its nodes; 0 if
   it is not like that. */
static int nodes_of(const struct qnet *q, int array, int number, int *of)
{
    const struct model *m = q->model;
    int first = array_first(m, array), size = array_size(m, array);
    for (int i = 0; i < model_num_embeddings(m); i++)
        if (model_embedding(m, i)->array == array) return 0;
    if (size < WHITE_FEWEST || size > WHITE_MOST) return 0;
    for (int e = first; e < first + size; e++) {
        int v = element_node(m, e);
        if (v < 0 || !model_bn(m)->node.a[v].observed ||
            q->encoding[v].nfeature != q->encoding[v].num_elements)
            return 0;
    }
    return mark(q, array, number, of);
}

int is_alone(const struct qnet *q, const struct share *s, int i)
{
    int n = 0;
    for (int k = 0; k < q->inverse->nlatent; k++) n += s->rep[k] == s->rep[i];
    return n == 1;
}

/* Is all of it among the parents of one latent? */
static int is_seen(const struct qnet *q, const struct share *s, int number, int n, const int *of)
{
    for (int i = 0; i < q->inverse->nlatent; i++) {
        int seen = 0;
        for (int64_t j = s->off[i]; j < s->off[i + 1]; j++) seen += of[s->parent[j]] == number;
        if (seen == n && is_alone(q, s, i)) return 1;
    }
    return 0;
}

static int white_embed(struct qnet *q, int array, struct embed *out)
{
    int n = array_size(q->model, array);
    struct layer *l = arena_array(&q->mem, struct layer, 1);
    if (!l) return NAMI_ENOMEM;
    *l = (struct layer){.kind = LAYER_WHITEN, .out = n, .dim = {n, 1, 1}};
    *out = (struct embed){.array = array, .dim = {n, 1, 1}, .nlayer = 1, .layer = l, .out = n};
    return 0;
}

int net_embeds(struct qnet *q, const struct share *s)
{
    const struct model *m = q->model;
    int declared = model_num_embeddings(m), narray = q->opt.whiten ? model_num_arrays(m) : 0,
        rc = 0;
    int *of = new_array(int, bn_n(model_bn(m)) + 1);
    q->embed = arena_array(&q->mem, struct embed, declared + narray + 1);
    if (!of || !q->embed) rc = NAMI_ENOMEM;
    for (int i = 0; i < declared && !rc; i++) q->embed[q->nembed++] = *model_embedding(m, i);
    for (int a = 0; a < narray && !rc; a++) {
        int n = nodes_of(q, a, a + 1, of);
        if (n && is_seen(q, s, a + 1, n, of)) rc = white_embed(q, a, &q->embed[q->nembed++]);
    }
    free(of);
    return rc;
}

/* ------------------------------------------------------------------------------------- */

int net_embed(struct qnet *q, int *of, nami_err *err)
{
    const struct model *m = q->model;
    int rc = 0;
    for (int v = 0; v < bn_n(model_bn(m)); v++) of[v] = -1;
    q->embedding = arena_array(&q->mem, struct net_embedding, q->nembed + 1);
    if (!q->embedding) return err_nomem(err);
    for (int i = 0; i < q->nembed && !rc; i++) {
        const struct embed *x = &q->embed[i];
        int *in = arena_array(&q->mem, int, array_size(m, x->array));
        if (!in) return err_nomem(err);
        q->embedding[i].nnode = mark(q, x->array, i, of);
        rc = compile(q, x, in, &q->embedding[i], err);
    }
    return rc;
}
