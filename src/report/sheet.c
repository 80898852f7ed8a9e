/* sheet.c: memory of a plot while it is put together. */
#include "report/sheet.h"

#include "nami.h"

double *sheet_numbers(struct sheet *s, size_t n)
{
    double *x = arena_array(&s->mem, double, n ? n : 1);
    if (!x) s->oom = 1;
    return x;
}

const char *sheet_text(struct sheet *s, struct str *text)
{
    char *t = text->oom ? NULL : arena_strndup(&s->mem, text->s ? text->s : "", text->n);
    str_free(text);
    if (!t) s->oom = 1;
    return t;
}

int sheet_panels(struct sheet *s, int num_panels, int most_layers)
{
    struct plot_layer *layer =
        arena_array(&s->mem, struct plot_layer, (size_t)num_panels * (size_t)most_layers + 1);
    s->panel = arena_array(&s->mem, struct plot_panel, (size_t)num_panels + 1);
    s->most_layers = most_layers;
    if (!s->panel || !layer) return s->oom = 1, -1;
    for (int i = 0; i < num_panels; i++)
        s->panel[i] = (struct plot_panel){.layer = layer + i * most_layers};
    s->plot.panel = s->panel;
    s->plot.npanel = num_panels;
    return 0;
}

void sheet_add(struct plot_panel *panel, struct plot_layer layer)
{
    ((struct plot_layer *)panel->layer)[panel->nlayer++] = layer;
}

int sheet_end(struct sheet *s, int rc, plot_put *put, struct str *out)
{
    if (!rc && !s->oom)
        put(&s->plot, out);
    else
        rc = NAMI_ENOMEM;
    arena_free(&s->mem);
    return rc ? rc : out->oom ? NAMI_ENOMEM : 0;
}
