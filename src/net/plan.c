/* plan.c: from the options of nami.h to the settings of a training run; the settings in files. */
#include "net/plan.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/json.h"
#include "base/options.h"

const char *const brightness_words[] = {"as-is", "scale", "binarise", "threshold", NULL};
const char *const objective_names[] = {"ic", "elbo", NULL};

enum { UNITS_MOST = 1 << 20, STEPS_MOST = 60000, STEPS_ELBO = 20000 };

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
                              .arch = arch_find(o->net),
                              .shared = o->hidden_shared,
                              .message = o->message,
                              .act = index_of(act_names, o->activation),
                              .skip = whether(o->skip),
                              .no_share = o->no_share,
                              .whiten = whether(o->whiten),
                              .seed = o->seed};
    if (o->message < 1 || o->message > UNITS_MOST)
        return err_set(err, NAMI_EUSAGE, "message is %d; 1 to %d are possible", o->message,
                       UNITS_MOST);
    if (o->hidden_shared > UNITS_MOST)
        return err_set(err, NAMI_EUSAGE, "hidden_shared is %d; 1 to %d are possible",
                       o->hidden_shared, UNITS_MOST);
    return read_hidden(o->hidden, n, err);
}

/* Without a number of steps: until the loss has converged.  A bound has noise of its own. */
static int loop_plan(const nami_train_options *o, int elbo, struct train_options *t, nami_err *err)
{
    int any = o->minutes > 0 ? INT_MAX : elbo ? STEPS_ELBO : STEPS_MOST;
    *t = (struct train_options){.steps = o->steps ? o->steps : any,
                                .converge = !o->steps && !elbo,
                                .seconds = 60 * o->minutes,
                                .batch = o->batch,
                                .parts = o->parts,
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
    return o->cooldown <= 1
               ? 0
               : err_set(err, NAMI_EUSAGE, "cooldown must be between 0 and 1, not %g", o->cooldown);
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
    p->options.objective = objective_names[p->elbo];
    p->brightness = index_of(brightness_words, o->pixels);
    p->split = o->split;
    int rc = net_plan(o, &p->net, err);
    return rc ? rc : loop_plan(o, p->elbo, &p->train, err);
}

int plan_open(struct plan *p, const struct model *model, struct arena *mem)
{
    const char **open = &p->options.open;
    struct str text = {0};
    if (*open && strcmp(*open, "none") == 0) *open = NULL;
    else if (!*open || !**open) {
        model_open_ranges(model, &text);
        if (text.n) *open = arena_strndup(mem, text.s, text.n);
    }
    int bad = text.oom || (text.n && !*open);
    str_free(&text);
    return bad ? NAMI_ENOMEM : 0;
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

/* ---- in files ------------------------------------------------------------------------------- */

/* Paths and threads are of one machine, and of no use to a reader. */
static nami_train_options portable(const nami_train_options *o)
{
    nami_train_options p = *o;
    p.samples = NULL;
    p.threads = 0;
    return p;
}

/* What is stored: the objective by name, whether it was asked for or follows from the model; the
   steps that a resumed run was asked for. */
static nami_train_options stored(const struct plan *p)
{
    nami_train_options o = portable(&p->options);
    o.objective = objective_names[p->elbo];
    o.steps = p->train.converge || p->train.steps == INT_MAX ? 0 : p->train.steps;
    o.minutes = p->train.seconds / 60;
    return o;
}

static int set_new(json_t *o, const char *name, json_t *value)
{
    return json_object_set_new(o, name, value);
}

int plan_print(const struct plan *p, const char *observe, struct str *out)
{
    nami_train_options train = stored(p);
    json_t *o = json_object(), *set = json_array(), *invert = json_object(), *loop = json_object();
    int bad = !o || !set || !invert || !loop;
    for (int i = 0; i < p->nset && !bad; i++)
        bad = json_array_append_new(set, json_string(p->set[i]));
    if (!bad)
        bad =
            options_to_json("invert", &p->invert, invert) || options_to_json("train", &train, loop);
    bad |= set_new(o, "set", set);
    if (observe) bad |= set_new(o, "observe", json_string(observe));
    bad |= set_new(o, "invert", invert) | set_new(o, "train", loop);
    bad |= set_new(o, "samples", json_integer((json_int_t)p->samples));
    bad |= set_new(o, "observations", json_integer((json_int_t)p->observations));
    json_print(bad ? NULL : o, JSON_REAL_PRECISION(17), out);
    json_decref(o);
    return out->oom ? NAMI_ENOMEM : 0;
}

static int bad_setting(const char *name, nami_err *err)
{
    return err_set(err, NAMI_EINPUT, "the setting '%.60s' has no usable value", name);
}

/* "name=value" of constants. */
static int take_set(struct plan *p, const json_t *set, struct arena *mem, nami_err *err)
{
    size_t n = json_array_size(set);
    const char **name = arena_array(mem, const char *, n + 1);
    if (!name) return err_nomem(err);
    for (size_t i = 0; i < n; i++) {
        const char *s = json_string_value(json_array_get(set, i));
        if (!s) return bad_setting("set", err);
        if (!(name[i] = arena_strndup(mem, s, strlen(s)))) return err_nomem(err);
    }
    p->set = name;
    p->nset = (int)n;
    return 0;
}

static int take_count(const json_t *o, const char *name, uint64_t *out, nami_err *err)
{
    const json_t *x = json_object_get(o, name);
    if (x && (!json_is_integer(x) || json_integer_value(x) < 0)) return bad_setting(name, err);
    *out = (uint64_t)json_integer_value(x);
    return 0;
}

/* Names alone: a file must not make its reader open others. */
static int take_observe(struct plan *p, const json_t *o, struct arena *mem, nami_err *err)
{
    const char *s = json_string_value(o);
    if (!s) return o ? bad_setting("observe", err) : 0;
    if (strchr(s, '@'))
        return err_set(err, NAMI_EINPUT,
                       "it takes what is observed from another file, '%.100s', which a network may "
                       "not; train it again",
                       s);
    return (p->observe = arena_strndup(mem, s, strlen(s))) ? 0 : err_nomem(err);
}

/* A member that is not known might change the meaning of those that are. */
static int check_members(const json_t *o, nami_err *err)
{
    static const char *const known[] = {"set",     "observe",      "invert", "train",
                                        "samples", "observations", NULL};
    const char *name;
    json_t *x;
    json_object_foreach((json_t *)o, name, x)
    {
        if (!known[index_of(known, name)])
            return err_set(err, NAMI_EINPUT,
                           "the setting '%.60s' is not known; a newer version of NaMI may know it",
                           name);
    }
    return 0;
}

static int parse(struct plan *p, const json_t *o, struct arena *mem, nami_err *err)
{
    const json_t *set = json_object_get(o, "set"), *invert = json_object_get(o, "invert"),
                 *train = json_object_get(o, "train");
    if (!json_is_object(o) || !json_is_array(set) || !json_is_object(invert) ||
        !json_is_object(train))
        return bad_setting("settings", err);
    int rc = check_members(o, err);
    if (!rc) rc = options_complete("invert", NULL, sizeof p->invert, &p->invert, err);
    if (!rc) rc = options_complete("train", NULL, sizeof p->options, &p->options, err);
    if (!rc) rc = options_from_json("invert", invert, &p->invert, mem, err);
    if (!rc) rc = options_from_json("train", train, &p->options, mem, err);
    if (!rc) rc = take_set(p, set, mem, err);
    if (!rc) rc = take_observe(p, json_object_get(o, "observe"), mem, err);
    if (!rc) rc = take_count(o, "samples", &p->samples, err);
    if (!rc) rc = take_count(o, "observations", &p->observations, err);
    if (!rc) p->options = portable(&p->options);
    return rc;
}

int plan_parse(struct plan *p, const char *text, struct arena *mem, nami_err *err)
{
    struct json_why why;
    json_t *o = json_read(text, strlen(text), 0, &why);
    if (!o && why.code == json_error_out_of_memory) return err_nomem(err);
    int rc = parse(p, o, mem, err);
    json_decref(o);
    return rc;
}
