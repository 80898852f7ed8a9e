/* network.c: declarations of networks: network dec : real[30] -> real[784] { dense(200, tanh);
   dense(784) } */
#include "model/lang/lang.h"

#include "base/rng.h"

/* Names are resolved before sizes are known: see model_resolve. */
int name_networks(struct model *m)
{
    for (size_t i = 0; i < m->source.syntax.decl.n; i++) {
        const struct decl *d = &m->source.syntax.decl.a[i];
        if (d->kind != D_NETWORK) continue;
        struct net net = {.name = syntax_name(&m->source.syntax, d->name), .decl = d};
        for (size_t j = 0; j < m->ir.networks.n; j++)
            if (strcmp(m->ir.networks.a[j].name, net.name) == 0)
                diag_error(&m->source.diags, d->at, NULL, "network %s is declared twice", net.name);
        if (op_find(net.name, strlen(net.name)))
            diag_error(&m->source.diags, d->at, "choose another name",
                       "%s is the name of a function", net.name);
        if (vec_push(&m->ir.networks, net)) return NAMI_ENOMEM;
    }
    for (size_t i = 0; i < m->source.syntax.decl.n; i++) {
        const struct decl *d = &m->source.syntax.decl.a[i];
        int found = 0;
        if (d->kind != D_LEARN) continue;
        for (size_t j = 0; j < m->ir.networks.n; j++)
            if (m->ir.networks.a[j].decl->name == d->ref->name)
                found = m->ir.networks.a[j].learn = 1;
        if (!found)
            diag_error(&m->source.diags, d->ref->all,
                       "networks are declared: network name : real[n] -> real[m] { ... }",
                       "no network is called %s", syntax_name(&m->source.syntax, d->ref->name));
    }
    return 0;
}

/* Weights uniform in +-sqrt(6 / (in + out)) (Glorot), biases zero. */
static void first_weights(const struct net *net, double *w, uint64_t seed)
{
    struct rng r;
    int in = net->in;
    rng_init(&r, seed, 0x6e657477);
    for (int l = 0; l < net->nlayer; l++) {
        int out = net->layer[l].out;
        double a = sqrt(6.0 / (in + out));
        size_t n = (size_t)in * (size_t)out;
        for (size_t i = 0; i < n; i++) *w++ = a * (2 * rng_unit(&r) - 1);
        for (int i = 0; i < out; i++) *w++ = 0;
        in = out;
    }
}

int declare_network(struct model *m, const struct decl *d)
{
    struct net *net = NULL;
    int rc, in = 1, out = 1, size[2];
    for (size_t i = 0; i < m->ir.networks.n; i++)
        if (m->ir.networks.a[i].decl == d) net = &m->ir.networks.a[i];
    if (!net) return 0;
    if (d->nin > 1 || d->nout > 1) {
        diag_error(&m->source.diags, d->at, NULL, "networks map vectors to vectors");
        return 0;
    }
    if ((rc = eval_sizes(m, d->in, d->nin, &size[0])) ||
        (rc = eval_sizes(m, d->out, d->nout, &size[1])) ||
        (d->nin && (rc = check_width(m, d->in[0], size[0]))) ||
        (d->nout && (rc = check_width(m, d->out[0], size[1]))))
        return rc < 0 ? rc : 0;
    if (d->nin) in = size[0];
    if (d->nout) out = size[1];
    net->layer = arena_array(&m->mem, struct layer, d->nlayer + 1);
    if (!net->layer) return NAMI_ENOMEM;
    net->in = in;
    for (int l = 0; l < d->nlayer; l++) {
        if ((rc = read_layer(m, d->layer[l], 0, &net->layer[l]))) return rc < 0 ? rc : 0;
        net->nw += ((size_t)in + 1) * (size_t)net->layer[l].out;
        in = net->layer[l].out;
    }
    net->nlayer = d->nlayer;
    net->out = out;
    if (in != out)
        diag_error(&m->source.diags, d->nlayer ? d->layer[d->nlayer - 1]->all : d->at, NULL,
                   "the last layer of %s gives %d numbers, but %d are declared", net->name, in,
                   out);
    if (net->nw > 5 * (size_t)m->ir.limit) {
        diag_error(&m->source.diags, d->at, NULL, "%s has %zu weights: too many", net->name,
                   net->nw);
        return 0;
    }
    net->w = m->programs.weights.n;
    if (vec_reserve(&m->programs.weights, net->w + net->nw)) return NAMI_ENOMEM;
    first_weights(net, m->programs.weights.a + net->w, 0);
    m->programs.weights.n += net->nw;
    return 0;
}
