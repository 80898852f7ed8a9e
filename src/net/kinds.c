/* kinds.c: the table of kinds of an open network: gathered from designs, to and from its file. */
#include "net/kinds.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/json.h"
#include "graph/inverse.h"
#include "net/saved.h"
#include "net/tree.h"

void kinds_free(struct kinds *x)
{
    for (size_t i = 0; i < x->kind.n; i++) {
        vec_free(&x->kind.a[i].set);
        vec_free(&x->kind.a[i].reading);
    }
    vec_free(&x->kind);
    vec_free(&x->crossed);
    vec_free(&x->scale);
    vec_free(&x->stage);
    arena_free(&x->mem);
    *x = (struct kinds){0};
}

struct kind *kinds_find(const struct kinds *x, uint64_t key, int is_step)
{
    for (size_t i = 0; i < x->kind.n; i++)
        if (x->kind.a[i].key == key && x->kind.a[i].is_step == is_step) return &x->kind.a[i];
    return NULL;
}

/* "theta[j]"; the second kind of this statement is "theta[j]#2". */
static const char *name_kind(struct kinds *x, int is_step, const struct model *m, int inst)
{
    struct str name = {0};
    int again = 0;
    statement_name(m, instance_statement(m, inst), &name);
    for (size_t i = 0; i < x->kind.n && !name.oom; i++) {
        const char *other = x->kind.a[i].name;
        again += x->kind.a[i].is_step == is_step && !strncmp(other, name.s, name.n) &&
                 (!other[name.n] || other[name.n] == '#');
    }
    if (again) str_printf(&name, "#%d", again + 1);
    const char *kept = name.oom ? NULL : arena_strndup(&x->mem, name.s, name.n);
    str_free(&name);
    return kept;
}

struct kind *kinds_add(struct kinds *x, uint64_t key, int is_step, const struct model *m, int inst,
                       int *fresh)
{
    struct kind *k = kinds_find(x, key, is_step);
    *fresh = !k;
    if (k) return k;
    struct kind new = {.key = key, .is_step = is_step, .name = name_kind(x, is_step, m, inst)};
    return new.name && !vec_push(&x->kind, new) ? &x->kind.a[x->kind.n - 1] : NULL;
}

/* ---- stages ------------------------------------------------------------------------- */

/* Positions of an array's latents in the order of elimination; `rank` orders the arrays among which
   crossed ones are spread. */
struct span {
    int array, first, last;
    int rank; /* 0, or: 1 not crossed, of several latents; 2 crossed; 3 single latents */
};

static int by_first(const void *x, const void *y)
{
    return ((const struct span *)x)->first - ((const struct span *)y)->first;
}

static int by_rank(const void *x, const void *y)
{
    const struct span *a = x, *b = y;
    return a->rank != b->rank ? a->rank - b->rank : by_first(x, y);
}

/* Latents of crossed arrays that take turns with others would be of many kinds, and factors of all
   that follow would read terms again (messages.h).  So they go together: after the arrays of
   several latents, which are independent given them, and before single ones. */
static void gather_crossed(struct span *span, int n, const unsigned char *crossed)
{
    for (int i = 0, j, end; i < n; i = j) {
        int any = 0;
        for (j = i, end = span[i].last; j < n && span[j].first <= end; j++) {
            if (span[j].last > end) end = span[j].last;
            any |= crossed[span[j].array];
        }
        if (!any || j == i + 1) continue;
        for (int k = i; k < j; k++)
            span[k].rank = crossed[span[k].array] ? 2 : span[k].first < span[k].last ? 1 : 3;
        qsort(span + i, (size_t)(j - i), sizeof *span, by_rank);
    }
}

int kinds_add_stages(struct kinds *x, const struct model *m, const struct inverse *h,
                     const unsigned char *crossed)
{
    struct span *span = raw_array(struct span, model_num_arrays(m) + 1);
    int n = 0, stage = 0, end = -1, rc = span ? 0 : NAMI_ENOMEM;
    for (int a = 0; a < model_num_arrays(m) && !rc; a++) {
        struct span s = {a, h->nlatent, -1, 0};
        for (int e = array_first(m, a); e < array_first(m, a) + array_size(m, a); e++) {
            int pos = element_node(m, e) < 0 ? -1 : h->pos[element_node(m, e)];
            if (pos < 0 || pos >= h->nlatent) continue;
            if (pos < s.first) s.first = pos;
            if (pos > s.last) s.last = pos;
        }
        if (s.last >= 0) span[n++] = s;
    }
    if (!rc) {
        qsort(span, (size_t)n, sizeof *span, by_first);
        gather_crossed(span, n, crossed);
    }
    for (int i = 0; i < n && !rc; i++) {
        const char *name = array_name(m, span[i].array);
        int apart = span[i].rank && i && span[i - 1].rank &&
                    (span[i].rank != span[i - 1].rank || span[i].rank == 2);
        stage += i && (span[i].first > end || apart) && span[i].first >= h->nexact;
        if (span[i].last > end) end = span[i].last;
        struct kind_stage s = {arena_strndup(&x->mem, name, strlen(name)), stage};
        if (!s.array || vec_push(&x->stage, s)) rc = NAMI_ENOMEM;
    }
    free(span);
    return rc;
}

void kinds_take_stages(const struct kinds *x, const struct model *m, int *stage)
{
    int last = x->stage.n ? x->stage.a[x->stage.n - 1].stage + 1 : 0;
    for (int a = 0; a < model_num_arrays(m); a++) {
        int now = last;
        for (size_t i = 0; i < x->stage.n; i++)
            if (!strcmp(x->stage.a[i].array, array_name(m, a))) now = x->stage.a[i].stage;
        for (int e = array_first(m, a); e < array_first(m, a) + array_size(m, a); e++)
            if (element_node(m, e) >= 0) stage[element_node(m, e)] = now;
    }
}

/* ---- crossed arrays ----------------------------------------------------------------- */

void kinds_take_crossed(const struct kinds *x, const struct model *m, unsigned char *crossed)
{
    for (size_t i = 0; i < x->crossed.n; i++) {
        int a = model_find_array(m, x->crossed.a[i], strlen(x->crossed.a[i]));
        if (a >= 0) crossed[a] = 1;
    }
}

int kinds_add_crossed(struct kinds *x, const struct model *m, const struct inverse *h,
                      nami_err *err)
{
    unsigned char *is = new_array(unsigned char, model_num_arrays(m) + 1),
                  *was = new_array(unsigned char, model_num_arrays(m) + 1);
    int rc = is && was ? tree_find_crossed(m, h, is, err) : err_nomem(err);
    if (!rc) kinds_take_crossed(x, m, was);
    for (int a = 0; a < model_num_arrays(m) && !rc; a++) {
        if (!is[a] || was[a]) continue;
        const char *name = arena_strndup(&x->mem, array_name(m, a), strlen(array_name(m, a)));
        if (!name || vec_push(&x->crossed, name)) rc = err_nomem(err);
    }
    free(is);
    free(was);
    return rc;
}

/* ---- scales ------------------------------------------------------------------------- */

static const char *array_of(const struct model *m, const struct encoding *c)
{
    return array_name(m, element_array(m, instance_elements(m, c->inst)[0]));
}

static struct kind_scale *find_scale(const struct kinds *x, const char *array,
                                     const struct encoding *c)
{
    for (size_t i = 0; i < x->scale.n; i++) {
        struct kind_scale *s = &x->scale.a[i];
        if (s->kind == c->kind && s->num_coords == c->ncoord && !strcmp(s->array, array)) return s;
    }
    return NULL;
}

static struct kind_scale *add_scale(struct kinds *x, const char *array, const struct encoding *c)
{
    struct kind_scale s = {.array = arena_strndup(&x->mem, array, strlen(array)),
                           .kind = c->kind,
                           .num_coords = c->ncoord,
                           .mean = arena_array(&x->mem, double, c->ncoord + 1),
                           .sd = arena_array(&x->mem, double, c->ncoord + 1)};
    return s.array && s.mean && s.sd && !vec_push(&x->scale, s) ? &x->scale.a[x->scale.n - 1]
                                                                : NULL;
}

int kinds_add_scales(struct kinds *x, const struct model *m, const struct encoding *encoding)
{
    for (int v = 0; v < bn_n(model_bn(m)); v++) {
        const struct encoding *c = &encoding[v];
        const char *array = array_of(m, c);
        struct kind_scale *s = find_scale(x, array, c);
        if (!s && !(s = add_scale(x, array, c))) return NAMI_ENOMEM;
        for (int k = 0; k < c->ncoord; k++) {
            s->mean[k] += c->mean[k];
            s->sd[k] += c->sd[k] * c->sd[k] + c->mean[k] * c->mean[k];
        }
        s->count++;
    }
    return 0;
}

int kinds_take_scales(const struct kinds *x, const struct model *m, struct encoding *encoding,
                      nami_err *err)
{
    for (int v = 0; v < bn_n(model_bn(m)); v++) {
        struct encoding *c = &encoding[v];
        const char *array = array_of(m, c);
        const struct kind_scale *s = find_scale(x, array, c);
        if (!s)
            return err_set(err, NAMI_EINPUT,
                           "%.60s is of another form than in all data sets that the network was "
                           "trained for",
                           array);
        memcpy(c->mean, s->mean, sizeof *c->mean * (size_t)c->ncoord);
        memcpy(c->sd, s->sd, sizeof *c->sd * (size_t)c->ncoord);
    }
    return 0;
}

/* Sums of values and of squares to mean and standard deviation. */
static void fix(int n, double count, double *mean, double *sd)
{
    for (int k = 0; k < n; k++) {
        mean[k] /= count;
        double var = sd[k] / count - mean[k] * mean[k];
        sd[k] = var > 1e-14 * (1e-300 + mean[k] * mean[k]) ? sqrt(var) : 0;
    }
}

/* Terms of a kind tell nothing if they have no observed variables, and equal constants in all
   designs. */
static int tells_nothing(const struct kinds *x, const struct kind_set *s)
{
    const struct kind *k = s->terms ? kinds_find(x, s->key, 0) : NULL;
    if (!k || k->num_nodes) return 0;
    for (int i = 0; i < k->num_constants; i++)
        if (k->sd[i] > 0) return 0;
    return 1;
}

static void drop_sets(const struct kinds *x, struct kind *k)
{
    size_t n = 0;
    for (size_t i = 0; i < k->set.n; i++)
        if (!tells_nothing(x, &k->set.a[i])) k->set.a[n++] = k->set.a[i];
    k->set.n = n;
    k->speaks = k->speaks && n;
}

void kinds_fix(struct kinds *x)
{
    for (size_t i = 0; i < x->kind.n; i++) {
        struct kind *k = &x->kind.a[i];
        if (!k->is_step) fix(k->num_constants, k->count, k->mean, k->sd);
    }
    for (size_t i = 0; i < x->kind.n; i++)
        if (x->kind.a[i].is_step) drop_sets(x, &x->kind.a[i]);
    for (size_t i = 0; i < x->scale.n; i++) {
        struct kind_scale *s = &x->scale.a[i];
        fix(s->num_coords, s->count, s->mean, s->sd);
        for (int k = 0; k < s->num_coords; k++)
            if (!(s->sd[k] > 0)) s->sd[k] = 1;
    }
    x->fixed = 1;
}

/* ---- out ---------------------------------------------------------------------------- */

static void print_kind(const struct kind *k, struct str *out)
{
    str_printf(out, "{\"%s\":", k->is_step ? "step" : "term");
    str_quote(out, k->name);
    str_printf(out, ",\"key\":\"%016" PRIx64 "\"", k->key);
    if (!k->is_step) {
        str_printf(out, ",\"variables\":%d", k->num_nodes);
        saved_put_numbers(out, "mean", k->num_constants, k->mean);
        saved_put_numbers(out, "sd", k->num_constants, k->sd);
    } else {
        str_printf(out, ",\"message\":%s,\"sets\":[", k->speaks ? "true" : "false");
        for (size_t i = 0; i < k->set.n; i++) {
            const struct kind_set *s = &k->set.a[i];
            str_printf(out, "%s{\"of\":\"%s\",\"key\":\"%016" PRIx64 "\",\"pool\":\"%s\"}",
                       i ? "," : "", s->terms ? "terms" : "steps", s->key,
                       s->direct   ? "one"
                       : s->spread ? "mean, variance, count"
                                   : "mean, count");
        }
        str_printf(out, "],\"context\":%s,\"readings\":[", k->context ? "true" : "false");
        for (size_t i = 0; i < k->reading.n; i++)
            str_printf(out, "%s\"%016" PRIx64 "\"", i ? "," : "", k->reading.a[i]);
        str_put(out, "],\"outputs\":[");
        for (int i = 0; i < k->num_outputs; i++) {
            if (i) str_put(out, ",");
            saved_put_output(out, &k->output[i]);
        }
        str_put(out, "]");
    }
    str_put(out, "}");
}

void kinds_print(const struct kinds *x, struct str *out)
{
    str_put(out, "{\"stages\":[");
    for (size_t i = 0; i < x->stage.n; i++) {
        str_put(out, i ? ",{\"array\":" : "{\"array\":");
        str_quote(out, x->stage.a[i].array);
        str_printf(out, ",\"stage\":%d}", x->stage.a[i].stage);
    }
    str_put(out, "],\n\"crossed\":[");
    for (size_t i = 0; i < x->crossed.n; i++) {
        if (i) str_put(out, ",");
        str_quote(out, x->crossed.a[i]);
    }
    str_put(out, "],\n\"kinds\":[");
    for (size_t i = 0; i < x->kind.n; i++) {
        str_put(out, i ? ",\n" : "\n");
        print_kind(&x->kind.a[i], out);
    }
    str_put(out, "],\n\"scales\":[");
    for (size_t i = 0; i < x->scale.n; i++) {
        const struct kind_scale *s = &x->scale.a[i];
        str_put(out, i ? ",\n{\"array\":" : "\n{\"array\":");
        str_quote(out, s->array);
        str_printf(out, ",\"kind\":\"%s\"", saved_kind_name(s->kind));
        saved_put_numbers(out, "mean", s->num_coords, s->mean);
        saved_put_numbers(out, "sd", s->num_coords, s->sd);
        str_put(out, "}");
    }
    str_put(out, "]}");
}

/* ---- in ----------------------------------------------------------------------------- */

enum { MOST = 1 << 16 }; /* of anything */

/* What these functions return: 1, 0 if the text is wrong, or: */
enum { NO_MEMORY = -1 };

static int take_key(const json_t *o, uint64_t *key)
{
    const char *text = json_string_value(o);
    char *end;
    if (!text || strlen(text) != 16) return 0;
    *key = strtoull(text, &end, 16);
    return !*end;
}

/* The numbers of a list, and how many. */
static int take_list(struct arena *mem, const json_t *o, const char *name, double **out, int *n)
{
    size_t size = json_array_size(json_object_get(o, name));
    if (size >= MOST) return 0;
    *n = (int)size;
    if (!(*out = arena_array(mem, double, size + 1))) return NO_MEMORY;
    return saved_take_numbers(o, name, *n, *out) != 0;
}

/* mean and sd, of equal length */
static int take_both(struct arena *mem, const json_t *o, double **mean, double **sd, int *n)
{
    int k, rc = take_list(mem, o, "mean", mean, n);
    if (rc > 0) rc = take_list(mem, o, "sd", sd, &k);
    return rc > 0 ? k == *n : rc;
}

static int take_sets(struct kind *k, const json_t *list)
{
    const json_t *o;
    size_t i;
    json_array_foreach(list, i, o)
    {
        const char *of = json_string_value(json_object_get(o, "of")),
                   *pool = json_string_value(json_object_get(o, "pool"));
        struct kind_set s = {0};
        if (!of || !pool || !take_key(json_object_get(o, "key"), &s.key)) return 0;
        s.terms = !strcmp(of, "terms");
        s.direct = !strcmp(pool, "one");
        s.spread = !strcmp(pool, "mean, variance, count");
        if ((!s.terms && strcmp(of, "steps") != 0) ||
            (!s.direct && !s.spread && strcmp(pool, "mean, count") != 0))
            return 0;
        if (vec_push(&k->set, s)) return NO_MEMORY;
    }
    return 1;
}

static int take_step(struct kinds *x, struct kind *k, const json_t *o)
{
    const json_t *key, *sets = json_object_get(o, "sets"), *outputs = json_object_get(o, "outputs");
    size_t n = json_array_size(outputs), i;
    if (!json_is_array(sets) || !json_is_array(outputs) || n >= MOST) return 0;
    k->speaks = json_is_true(json_object_get(o, "message"));
    k->context = json_is_true(json_object_get(o, "context"));
    json_array_foreach(json_object_get(o, "readings"), i, key)
    {
        uint64_t read;
        if (!take_key(key, &read)) return 0;
        if (vec_push(&k->reading, read)) return NO_MEMORY;
    }
    k->num_outputs = (int)n;
    if (!(k->output = arena_array(&x->mem, struct output_dist, n + 1))) return NO_MEMORY;
    for (i = 0; i < n; i++)
        if (!saved_take_output(json_array_get(outputs, i), &k->output[i])) return 0;
    return take_sets(k, sets);
}

static int take_kind(struct kinds *x, const json_t *o)
{
    const char *step = json_string_value(json_object_get(o, "step")),
               *name = step ? step : json_string_value(json_object_get(o, "term"));
    struct kind new = {.is_step = step != NULL};
    if (!name || !take_key(json_object_get(o, "key"), &new.key) ||
        kinds_find(x, new.key, new.is_step))
        return 0;
    if (!(new.name = arena_strndup(&x->mem, name, strlen(name))) || vec_push(&x->kind, new))
        return NO_MEMORY;
    struct kind *k = &x->kind.a[x->kind.n - 1];
    if (step) return take_step(x, k, o);
    json_int_t nodes = json_integer_value(json_object_get(o, "variables"));
    int rc = take_both(&x->mem, o, &k->mean, &k->sd, &k->num_constants);
    if (rc <= 0) return rc;
    if (nodes < 0 || nodes > MOST) return 0;
    for (int i = 0; i < k->num_constants; i++)
        if (k->sd[i] < 0) return 0;
    k->num_nodes = (int)nodes;
    return 1;
}

static int take_scale(struct kinds *x, const json_t *o)
{
    const char *array = json_string_value(json_object_get(o, "array")),
               *kind = json_string_value(json_object_get(o, "kind"));
    struct kind_scale s = {0};
    while (kind && s.kind <= ENCODING_COUNTS && strcmp(saved_kind_name(s.kind), kind) != 0)
        s.kind++;
    if (!array || !kind || s.kind > ENCODING_COUNTS) return 0;
    int rc = take_both(&x->mem, o, &s.mean, &s.sd, &s.num_coords);
    if (rc <= 0) return rc;
    for (int i = 0; i < s.num_coords; i++)
        if (!(s.sd[i] > 0)) return 0;
    s.array = arena_strndup(&x->mem, array, strlen(array));
    return s.array && !vec_push(&x->scale, s) ? 1 : NO_MEMORY;
}

static int take_stage(struct kinds *x, const json_t *o)
{
    const char *array = json_string_value(json_object_get(o, "array"));
    json_int_t stage = json_integer_value(json_object_get(o, "stage")),
               before = x->stage.n ? x->stage.a[x->stage.n - 1].stage : 0;
    if (!array || stage < before || stage > MOST) return 0;
    struct kind_stage s = {arena_strndup(&x->mem, array, strlen(array)), (int)stage};
    return s.array && !vec_push(&x->stage, s) ? 1 : NO_MEMORY;
}

static int take_crossed(struct kinds *x, const json_t *o)
{
    const char *name = json_string_value(o);
    if (!name) return 0;
    name = arena_strndup(&x->mem, name, strlen(name));
    return name && !vec_push(&x->crossed, name) ? 1 : NO_MEMORY;
}

int kinds_parse(struct kinds *x, const char *text, nami_err *err)
{
    struct json_why why = {0};
    json_t *root = text ? json_read(text, strlen(text), 0, &why) : NULL;
    const json_t *kinds = json_object_get(root, "kinds"), *scales = json_object_get(root, "scales"),
                 *stages = json_object_get(root, "stages"), *o;
    size_t i;
    int ok = json_is_array(kinds) && json_is_array(scales) && json_is_array(stages);
    *x = (struct kinds){.fixed = 1};
    json_array_foreach(stages, i, o) ok = ok > 0 ? take_stage(x, o) : ok;
    json_array_foreach(json_object_get(root, "crossed"), i, o) ok =
        ok > 0 ? take_crossed(x, o) : ok;
    json_array_foreach(kinds, i, o) ok = ok > 0 ? take_kind(x, o) : ok;
    json_array_foreach(scales, i, o) ok = ok > 0 ? take_scale(x, o) : ok;
    json_decref(root);
    if (why.code == json_error_out_of_memory || ok == NO_MEMORY) return err_nomem(err);
    return ok ? 0 : err_set(err, NAMI_EINPUT, "the file does not say which kinds its network has");
}
