/* network.c: describes an inference network as text and JSON: factors, layers, masks,
   parameters. */
#include "report/network.h"

#include <string.h>

#include "report/names.h"
#include "report/table.h"

static size_t params_of(const struct dense *d) { return ((size_t)d->in + 1) * (size_t)d->out; }

static void put_output(const struct qnet *q, const struct group *g, struct str *out)
{
    const struct output_dist *h = &g->output;
    const struct factor *f = &q->factor[q->member[g->first]];
    if (h->dist)
        str_printf(out, "%s (%s)", h->family->name, h->dist->name);
    else if (h->size)
        str_printf(out, "%s %d", h->family->name, h->size);
    else
        str_put(out, h->family->name);
    if (h->family->own_scale || h->family->discrete) return;
    const struct encoding *c = &q->encoding[f->node];
    if (c->domain != REAL && c->domain != VECTOR)
        str_printf(out, " of %s", domains[c->domain].name);
}

static void put_factors(const struct qnet *q, struct str *out)
{
    struct table t = {.align = "lrrll"};
    table_cell(&t, "factor");
    table_cell(&t, "times");
    table_cell(&t, "inputs");
    table_cell(&t, "network");
    table_cell(&t, "family");
    for (int i = 0; i < q->ngroup; i++) {
        const struct group *g = &q->group[i];
        const struct factor *f = &q->factor[q->member[g->first]];
        qnet_factor_name(q, f, &t.cells), table_end(&t);
        str_printf(&t.cells, "%d", g->num_factors), table_end(&t);
        str_printf(&t.cells, "%d", f->nin), table_end(&t);
        str_printf(&t.cells, "%s%s", g->arch->name, g->num_factors > 1 ? ", shared" : ""),
            table_end(&t);
        put_output(q, g, &t.cells), table_end(&t);
    }
    table_put(&t, 2, out);
}

static void put_layers(const struct qnet *q, struct str *out)
{
    struct table t = {.align = "lrrrlr"};
    static const char *const head[] = {"layer", "times", "inputs", "outputs", "", "parameters"};
    for (int i = 0; i < 6; i++) table_cell(&t, head[i]);
    for (size_t i = 0; i < q->block.n; i++) {
        const struct dense *d = q->block.a[i].layer;
        table_cell(&t, q->block.a[i].name);
        str_printf(&t.cells, "%d", d->n), table_end(&t);
        str_printf(&t.cells, "%d", d->in), table_end(&t);
        str_printf(&t.cells, "%d", d->out), table_end(&t);
        table_cell(&t, act_names[d->act]);
        table_cell(&t, count_text((int64_t)params_of(d)).s);
    }
    table_put(&t, 2, out);
}

/* Weights that the layers of the masked network would have without masks. */
static void put_masks(const struct qnet *q, struct str *out)
{
    double live = 0, full = 0, last = 0, first = q->nfeature;
    char layer[16] = "";
    double width = 0;
    for (size_t i = 0; i < q->block.n; i++) {
        const char *name = q->block.a[i].name;
        size_t n = strlen("made/");
        if (strncmp(name, "made/", n) != 0) continue;
        size_t len = strcspn(name + n, "/");
        if (len >= sizeof layer) continue;
        if (strlen(layer) != len || strncmp(layer, name + n, len) != 0) {
            last = width, width = 0;
            memcpy(layer, name + n, len), layer[len] = 0;
        }
        const struct dense *d = q->block.a[i].layer;
        width += d->out;
        live += (double)d->in * d->out;
        full +=
            (double)d->out * (strcmp(layer, "0") == 0     ? first
                              : strcmp(layer, "out") == 0 ? last + (q->opt.skip != 0 ? first : 0)
                                                          : last);
    }
    if (full > 0)
        str_printf(out,
                   "masks        %d labels; %.1f %% of the weights of a full network are there\n",
                   q->nlabel, 100 * live / full);
}

void network_show(const struct qnet *q, struct str *out)
{
    str_put(out, "network      ");
    put_count(out, q->nfactor, "factor of ", "factors of ");
    put_count(out, q->inverse->nlatent, "latent", "latents");
    str_printf(out, ", %s inverse, %s edges\n",
               q->inverse->mode ? q->inverse->mode : q->inverse->method,
               count_text(q->inverse->edges).s);
    put_factors(q, out);
    str_put(out, "\nlayers\n");
    put_layers(q, out);
    str_put(out, "\n");
    put_masks(q, out);
    str_printf(out, "parameters   %s\n", count_text((int64_t)q->prog.nparam).s);
}

void network_json(const struct qnet *q, struct str *out)
{
    str_printf(out, "{\"parameters\":%zu,\"latents\":%d,\"edges\":%lld,\"mode\":", q->prog.nparam,
               q->inverse->nlatent, (long long)q->inverse->edges);
    str_quote(out, q->inverse->mode ? q->inverse->mode : "");
    str_put(out, ",\"method\":");
    str_quote(out, q->inverse->method);
    str_printf(out, ",\"labels\":%d,\"factors\":[", q->nlabel);
    for (int i = 0; i < q->ngroup; i++) {
        const struct group *g = &q->group[i];
        const struct factor *f = &q->factor[q->member[g->first]];
        str_put(out, i ? ",{\"name\":" : "{\"name\":");
        str_quote(out, q->loss_term[g->tag].name);
        str_printf(
            out,
            ",\"coordinate\":%d,\"times\":%d,\"inputs\":%d,\"outputs\":%d,\"network\":\"%s\","
            "\"family\":\"%s\",\"size\":%d}",
            f->coordinate + 1, g->num_factors, f->nin, g->nout, g->arch->name,
            g->output.family->name, g->output.size);
    }
    str_put(out, "],\"layers\":[");
    for (size_t i = 0; i < q->block.n; i++) {
        const struct dense *d = q->block.a[i].layer;
        str_put(out, i ? ",{\"name\":" : "{\"name\":");
        str_quote(out, q->block.a[i].name);
        str_printf(out,
                   ",\"times\":%d,\"inputs\":%d,\"outputs\":%d,\"activation\":\"%s\","
                   "\"parameters\":%zu}",
                   d->n, d->in, d->out, act_names[d->act], params_of(d));
    }
    str_put(out, "]}\n");
}
