/* elbo.c: builds the ELBO as a program: reparameterized draws of q, then log p - log q; discrete
   latents and the weights of the model's own networks. */
#include "net/elbo.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "net/sampler.h"

void elbo_free(struct elbo *e)
{
    prog_free(&e->prog);
    vec_free(&e->block);
    vec_free(&e->choice);
    arena_free(&e->mem);
}

/* ---- loss terms -------------------------------------------------------------------------- */

static int make_parts(struct elbo *e)
{
    const struct qnet *q = e->q;
    e->num_loss_terms = q->num_loss_terms + 2;
    e->loss_term = arena_array(&e->mem, struct loss_term, e->num_loss_terms);
    if (!e->loss_term) return NAMI_ENOMEM;
    memcpy(e->loss_term, q->loss_term, sizeof *q->loss_term * (size_t)q->num_loss_terms);
    e->loss_term[q->num_loss_terms] = (struct loss_term){"prior", q->inverse->nlatent};
    e->loss_term[q->num_loss_terms + 1] = (struct loss_term){
        "data", bn_n(model_bn(q->model)) - q->inverse->nlatent - q->inverse->nmodel};
    return 0;
}

/* ---- discrete latents --------------------------------------------------------------- */

static int make_choices(struct elbo *e, const int *fix)
{
    const struct qnet *q = e->q;
    e->configs = 1;
    for (int f = 0; f < q->nfactor; f++) {
        const struct factor *x = &q->factor[f];
        const struct encoding *c = &q->encoding[x->node];
        if (c->kind == ENCODING_REAL) continue;
        int states = c->kind == ENCODING_STATES ? c->states : 0;
        struct choice y = {x->node, q->group[x->group].tag, fix[x->node], states, c->low};
        if (vec_push(&e->choice, y)) return NAMI_ENOMEM;
        e->configs = e->configs * states <= ELBO_CONFIGS ? e->configs * states : 0;
    }
    return 0;
}

int elbo_state(const struct elbo *e, int c, int k)
{
    for (int i = 0; i < k; i++) c /= e->choice.a[i].states;
    return c % e->choice.a[k].states;
}

/* ---- layers ------------------------------------------------------------------------- */

/* "dec/1": the layer of a network that has its weights here; NULL: it is not learnt. */
static const char *layer_name(struct elbo *e, size_t w)
{
    const struct model *m = e->q->model;
    for (int i = 0; i < model_num_networks(m); i++) {
        const struct net *net = model_network(m, i);
        size_t at = net->w;
        for (int l = 0, in = net->in; l < net->nlayer; in = net->layer[l++].out) {
            if (at == w && net->learn) {
                struct str s = {0};
                str_printf(&s, "model/%s/%d", net->name, l);
                const char *name = s.oom ? NULL : arena_strndup(&e->mem, s.s, s.n);
                str_free(&s);
                return name ? name : "";
            }
            at += ((size_t)in + 1) * (size_t)net->layer[l].out;
        }
    }
    return NULL;
}

/* Those of the model that are learnt; a network that is used twice has its layers twice. */
static int make_blocks(struct elbo *e, size_t first)
{
    const struct qnet *q = e->q;
    for (size_t i = 0; i < q->block.n; i++)
        if (vec_push(&e->block, q->block.a[i])) return NAMI_ENOMEM;
    for (size_t k = first; k < e->prog.code.n; k++) {
        struct block b = {.layer = prog_layer(&e->prog, k)};
        if (!b.layer) continue;
        b.name = layer_name(e, b.layer->w - q->prog.nparam);
        if (!b.name) continue;
        if (!*b.name || vec_push(&e->block, b)) return NAMI_ENOMEM;
    }
    return 0;
}

/* Layers of q that read signs in this program. */
static int mark_signs(struct elbo *e)
{
    for (size_t i = 0; i < e->block.n; i++) {
        struct block *b = &e->block.a[i];
        if (!prog_signs(&e->prog, b->layer)) continue;
        struct dense *d = arena_array(&e->mem, struct dense, 1);
        if (!d) return NAMI_ENOMEM;
        *d = *b->layer;
        d->signs = 1;
        b->layer = d;
    }
    return 0;
}

/* ---- all ---------------------------------------------------------------------------- */

static int make(struct elbo *e)
{
    struct qnet *q = e->q;
    int tag[2], *fix = new_array(int, bn_n(model_bn(q->model)) + 1),
                *logit = joint_logits(q->model);
    int rc = fix && logit ? 0 : NAMI_ENOMEM;
    if (!rc) rc = sampler_prog(q, &e->prog, fix, logit);
    size_t first = e->prog.code.n;
    if (!rc) rc = make_parts(e);
    if (!rc) rc = make_choices(e, fix);
    tag[GRADIENT_DATA] = e->num_loss_terms - 1, tag[GRADIENT_LATENT] = e->num_loss_terms - 2;
    if (!rc) rc = joint_terms(q, &e->prog, tag, logit);
    if (!rc) rc = make_blocks(e, first);
    if (!rc) rc = prog_finish(&e->prog);
    if (!rc) rc = prog_trim(&e->prog);
    if (!rc) rc = mark_signs(e);
    free(fix);
    free(logit);
    return rc;
}

int elbo_make(struct elbo *e, struct qnet *q, nami_err *err)
{
    *e = (struct elbo){.q = q};
    int rc = joint_known(q, "", err);
    return rc ? rc : make(e) ? err_nomem(err) : 0;
}

void elbo_start(const struct elbo *e, uint64_t seed, float *param)
{
    size_t first = e->q->prog.nparam;
    const double *weights = model_weights(e->q->model);
    qnet_start(e->q, seed, param);
    for (size_t i = first; i < e->prog.nparam; i++) param[i] = (float)weights[i - first];
}

void elbo_model(const struct elbo *e, const float *param)
{
    size_t first = e->q->prog.nparam;
    if (e->prog.nparam > first)
        model_set_weights(e->q->model, e->prog.nparam - first, param + first);
}
