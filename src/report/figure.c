/* figure.c: the table of figures, and which scalars they show. */
#include "report/figure.h"

#include <string.h>

const struct figure *const figures[] = {
#define FIGURE(id) &figure_##id,
#include "report/figure.def"
#undef FIGURE
    NULL};

const struct figure *figure_find(const char *name)
{
    for (int i = 0; figures[i]; i++)
        if (strcmp(figures[i]->name, name) == 0) return figures[i];
    return NULL;
}

int figure_can(const struct figure *f, const struct figure_input *in)
{
    int predicted = 0, prior = 0;
    for (int i = 0; i < in->num_observed; i++) {
        predicted |= in->observed[i].predicted != NULL;
        prior |= in->observed[i].prior != NULL;
    }
    switch (f->needs) {
    case FIGURE_DRAWS: return in->num_scalars && in->num_draws;
    case FIGURE_CHAINS: return in->num_scalars && in->chains > 1;
    case FIGURE_PREDICTED: return predicted;
    case FIGURE_PRIOR_PREDICTED: return prior;
    case FIGURE_HISTORY: return in->history.num_rows > 1;
    case FIGURE_CALIBRATION: return in->calibration != NULL;
    default: return 0;
    }
}

int figure_choose(const struct figure_input *in, int most, int *which)
{
    int n = in->num_scalars, chosen = 0, limit = 0;
    if (n <= most) {
        for (int i = 0; i < n; i++) which[i] = i;
        return n;
    }
    /* the largest size of variables that all fit */
    for (int size = 1; chosen <= most && size <= n; size *= 2) {
        chosen = 0;
        for (int a = 0; a < in->num_arrays; a++)
            if (in->array[a].num <= size) chosen += in->array[a].num;
        if (chosen && chosen <= most) limit = size;
    }
    chosen = 0;
    for (int i = 0; i < n; i++)
        if (in->array[in->scalar[i].array].num <= limit) which[chosen++] = i;
    if (chosen) return chosen;
    for (int i = 0; i < most; i++) which[i] = i; /* the first of large ones */
    return most;
}

void figure_say_shown(struct str *out, int shown, int all)
{
    if (shown < all) str_printf(out, "; %d of %d are shown", shown, all);
}
