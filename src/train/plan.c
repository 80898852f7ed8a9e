/* plan.c: from the options of nami.h to the settings of a training run. */
#include "train/plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/options.h"

const char *const brightness_words[] = {"as-is", "scale", "binarise", "threshold", NULL};
const char *const objective_names[] = {"ic", "elbo", NULL};

enum { UNITS_MOST = 1 << 20 };

static int index_of(const char *const *names, const char *name)
{
    int i = 0;
    while (names[i] && strcmp(names[i], name) != 0) i++;
    return i;
}

/* -1: auto */
static int whether(const char *word)
{
    return strcmp(word, "yes") == 0 ? 1 : strcmp(word, "no") == 0 ? 0 : -1;
}

/* "100,100" */
static int read_hidden(const char *s, struct net_options *n, nami_err *err)
{
    for (char *end; s && *s; s = *end ? end + 1 : end) {
        long units = strtol(s, &end, 10);
        if (end == s || (*end && *end != ',') || units < 1 || units > UNITS_MOST ||
            n->nhidden == NET_LAYERS)
            return err_set(err, NAMI_EUSAGE,
                           "hidden must be up to %d numbers of units, from 1 to %d each, such as "
                           "100,100; not '%.60s'",
                           NET_LAYERS, UNITS_MOST, s);
        n->hidden[n->nhidden++] = (int)units;
    }
    return 0;
}

static int net_plan(const nami_train_options *o, struct net_options *n, nami_err *err)
{
    *n = (struct net_options){.family = family_find(o->family, strlen(o->family)),
                              .size = o->components,
                              .kind = (enum net_kind)index_of(net_kinds, o->net),
                              .shared = o->hidden_shared,
                              .act = index_of(act_names, o->activation),
                              .skip = whether(o->skip),
                              .no_share = o->no_share,
                              .whiten = whether(o->whiten),
                              .seed = o->seed};
    if (o->hidden_shared > UNITS_MOST)
        return err_set(err, NAMI_EUSAGE, "hidden_shared is %d; 1 to %d are possible",
                       o->hidden_shared, UNITS_MOST);
    return read_hidden(o->hidden, n, err);
}

static int loop_plan(const nami_train_options *o, struct train_options *t, nami_err *err)
{
    *t = (struct train_options){.steps = o->steps,
                                .batch = o->batch,
                                .rate = o->rate,
                                .clip = o->clip,
                                .check = o->check,
                                .valid = o->valid,
                                .patience = o->patience,
                                .cooldown = o->cooldown,
                                .seed = o->seed,
                                .particles = o->particles,
                                .warmup = o->warmup,
                                .labels = o->labels};
    return o->cooldown <= 1 ? 0
                            : err_set(err, NAMI_EUSAGE, "cooldown must be between 0 and 1, not %g",
                                      o->cooldown);
}

/* The texts of a completed struct that may be the caller's. */
static int keep_texts(const char *group, void *options, struct arena *mem)
{
    const nami_option *o;
    for (int i = 0; (o = nami_option_at(group, i)); i++) {
        const char **at = (const char **)((char *)options + o->offset);
        if (o->kind == NAMI_OPTION_TEXT && *at && !(*at = arena_strndup(mem, *at, strlen(*at))))
            return NAMI_ENOMEM;
    }
    return 0;
}

int plan_derive(struct plan *p, int learns, nami_err *err)
{
    const nami_train_options *o = &p->options;
    p->elbo = o->objective ? index_of(objective_names, o->objective) : learns;
    p->brightness = index_of(brightness_words, o->pixels);
    p->split = o->split;
    int rc = net_plan(o, &p->net, err);
    return rc ? rc : loop_plan(o, &p->train, err);
}

int plan_make(struct plan *p, const nami_options *invert, const nami_train_options *opt, int learns,
              struct arena *mem, nami_err *err)
{
    int rc = options_complete("invert", invert, sizeof p->invert, &p->invert, err);
    if (!rc) rc = options_complete("train", opt, sizeof p->options, &p->options, err);
    if (rc) return rc;
    if (keep_texts("invert", &p->invert, mem) || keep_texts("train", &p->options, mem))
        return err_nomem(err);
    return plan_derive(p, learns, err);
}
