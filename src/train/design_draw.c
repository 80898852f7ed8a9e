/* design_draw.c: draws sizes, constants and patterns of missing observations. */
#include "train/design_draw.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

enum { SIZE_MOST = 1 << 24, OTHERS_MOST = 8, TRIES_MOST = 1000 };

/* ---- ranges ------------------------------------------------------------------------- */

static int bad_range(const char *text, nami_err *err)
{
    return err_set(err, NAMI_EUSAGE,
                   "'%.60s' is no range: write sizes as J=1:100, separated by commas, and index "
                   "vectors as group=1:J",
                   text);
}

static const struct open_range *find(const struct open_ranges *x, const char *name, size_t len)
{
    for (size_t i = 0; i < x->range.n; i++)
        if (strlen(x->range.a[i].name) == len && !strncmp(x->range.a[i].name, name, len))
            return &x->range.a[i];
    return NULL;
}

/* The value of a size: in the data, or among "name=value"; NaN: it has none. */
static double value_now(const char *name, const struct dataset *data, const struct plan *p)
{
    size_t len = strlen(name);
    const struct value *v = data ? dataset_find(data, name, len) : NULL;
    for (int i = 0; i < p->nset && !v; i++)
        if (!strncmp(p->set[i], name, len) && p->set[i][len] == '=')
            return strtod(p->set[i] + len + 1, NULL);
    return v && v->n == 1 ? v->x[0] : NAN;
}

/* One "name=low:high" of n characters. */
static int take_range(struct open_ranges *x, const char *text, size_t n, const struct dataset *data,
                      const struct plan *p, struct arena *mem, nami_err *err)
{
    char *s = arena_strndup(mem, text, n), *equal = s ? strchr(s, '=') : NULL,
         *colon = equal ? strchr(equal, ':') : NULL, *end;
    if (!s) return err_nomem(err);
    if (!colon || equal == s) return bad_range(s, err);
    *equal = *colon = '\0';
    struct open_range r = {.name = s, .low = strtod(equal + 1, &end)};
    if (end == equal + 1 || *end) return bad_range(arena_strndup(mem, text, n), err);
    r.high = strtod(colon + 1, &end);
    if (end == colon + 1 && find(x, end, strlen(end))) {
        r.high_is = end;
        r.high = find(x, end, strlen(end))->high;
    } else if (end == colon + 1 || *end) {
        return bad_range(arena_strndup(mem, text, n), err);
    }
    if (r.low != floor(r.low) || r.high != floor(r.high) || r.low > r.high || r.high > SIZE_MOST ||
        r.low < -SIZE_MOST)
        return bad_range(arena_strndup(mem, text, n), err);
    const struct value *v = data ? dataset_find(data, s, strlen(s)) : NULL;
    r.is_size = !v || !v->ndim;
    double now = r.is_size ? value_now(s, data, p) : 0;
    if (isnan(now))
        return err_set(err, NAMI_EUSAGE,
                       "%.60s is open, but has no value: give data of one size, from which others "
                       "are made",
                       s);
    r.now = (int)now;
    return vec_push(&x->range, r) ? err_nomem(err) : 0;
}

int open_ranges_make(struct open_ranges *x, const char *text, const struct dataset *data,
                     const struct plan *p, struct arena *mem, nami_err *err)
{
    int rc = 0;
    *x = (struct open_ranges){0};
    while (text && *text && !rc) {
        size_t n = strcspn(text, ",;");
        while (n && (*text == ' ' || *text == '\n')) text++, n--;
        size_t full = n;
        while (n && text[n - 1] == ' ') n--;
        if (n) rc = take_range(x, text, n, data, p, mem, err);
        text += full;
        text += *text != '\0';
    }
    return rc;
}

void open_ranges_free(struct open_ranges *x) { vec_free(&x->range); }

/* ---- data --------------------------------------------------------------------------- */

/* A design in the making: the sizes that it has, and from where rows of the data are taken. */
struct drawing {
    const struct open_ranges *open;
    const struct dataset *data;
    struct data *out;
    struct rng rng;
    int which;
    int *size;  /* by range */
    int **from; /* by range: row i of the design is row from[i] of the data */
};

static int draw_sizes(struct drawing *d, nami_err *err)
{
    for (size_t i = 0; i < d->open->range.n; i++) {
        const struct open_range *r = &d->open->range.a[i];
        if (!r->is_size) continue;
        int low = (int)r->low, high = (int)r->high;
        for (size_t k = 0; k < i && r->high_is; k++)
            if (!strcmp(d->open->range.a[k].name, r->high_is)) high = d->size[k];
        d->size[i] = d->which == 0   ? r->now
                     : d->which == 1 ? low
                     : d->which == 2 ? high
                                     : low + (int)rng_below(&d->rng, (uint32_t)(high - low + 1));
        if (!(d->from[i] = arena_array(&d->out->mem, int, d->size[i] > 0 ? d->size[i] : 1)))
            return err_nomem(err);
        for (int k = 0; k < d->size[i]; k++)
            d->from[i][k] = r->now > 0 ? (int)rng_below(&d->rng, (uint32_t)r->now) : 0;
    }
    return 0;
}

/* Which size a dimension follows: its range, or -1; NAMI_EUSAGE if that is not clear. */
static int follows(const struct drawing *d, const struct value *v, int k, int *range, nami_err *err)
{
    *range = -1;
    for (size_t i = 0; i < d->open->range.n; i++) {
        const struct open_range *r = &d->open->range.a[i];
        if (!r->is_size || r->now != v->dim[k]) continue;
        if (*range >= 0)
            return err_set(err, NAMI_EUSAGE,
                           "%.60s and %.60s are both %d in the data, so it is not clear which of "
                           "them %.60s depends on: give data in which they differ",
                           d->open->range.a[*range].name, r->name, r->now, v->name);
        *range = (int)i;
    }
    return 0;
}

/* Index vectors that are different everywhere in the data, such as the members of pairs, stay
   different: other[] are those drawn before v, and their number is returned. */
static size_t find_others(const struct drawing *d, const struct value *v,
                          const struct value **other)
{
    const struct value *drawn = d->out->set.a[0].value.a;
    size_t n = 0;
    for (size_t k = 0; k < d->out->set.a[0].value.n && n < OTHERS_MOST; k++) {
        const struct open_range *r = find(d->open, drawn[k].name, strlen(drawn[k].name));
        const struct value *a = dataset_find(d->data, v->name, strlen(v->name)),
                           *b = dataset_find(d->data, drawn[k].name, strlen(drawn[k].name));
        int differ = r && !r->is_size && drawn[k].n == v->n && a && b && a->n == b->n;
        for (size_t i = 0; differ && i < a->n; i++) differ = a->x[i] != b->x[i];
        if (differ) other[n++] = &drawn[k];
    }
    return n;
}

/* Uniform integers in place of the values of an index vector. */
static void draw_indices(struct drawing *d, const struct open_range *r, struct value *v)
{
    const struct value *other[OTHERS_MOST];
    size_t n = find_others(d, v, other);
    double high = r->high;
    for (size_t k = 0; r->high_is && k < d->open->range.n; k++)
        if (!strcmp(d->open->range.a[k].name, r->high_is)) high = d->size[k];
    for (size_t i = 0; i < v->n; i++)
        for (int tries = 0, again = 1; again && tries < TRIES_MOST; tries++) {
            v->x[i] = r->low + (double)rng_below(&d->rng, (uint32_t)(high - r->low + 1));
            again = 0;
            for (size_t k = 0; k < n; k++) again |= other[k]->x[i] == v->x[i];
        }
}

/* One array of the data, with other dimensions. */
static int draw_value(struct drawing *d, const struct value *v, nami_err *err)
{
    struct value new = *v;
    int range[MAX_DIM], rc = 0;
    size_t n = 1;
    for (int k = 0; k < v->ndim && !rc; k++) {
        rc = follows(d, v, k, &range[k], err);
        if (!rc && range[k] >= 0) new.dim[k] = d->size[range[k]];
        n *= rc ? 1 : (size_t) new.dim[k];
    }
    if (rc) return rc;
    new.n = n;
    if (!(new.x = arena_array(&d->out->mem, double, n + 1))) return err_nomem(err);
    for (size_t i = 0; i < n; i++) {
        size_t left = i, at = 0, stride = 1;
        for (int k = v->ndim - 1; k >= 0; k--) {
            size_t j = left % (size_t) new.dim[k];
            left /= (size_t) new.dim[k];
            at += (range[k] >= 0 ? (size_t)d->from[range[k]][j] : j) * stride;
            stride *= (size_t)v->dim[k];
        }
        new.x[i] = v->x[at];
    }
    const struct open_range *r = find(d->open, v->name, strlen(v->name));
    if (r && r->is_size) new.x[0] = d->size[r - d->open->range.a];
    if (r && !r->is_size) draw_indices(d, r, &new);
    return vec_push(&d->out->set.a[0].value, new) ? err_nomem(err) : 0;
}

/* Sizes that the data do not have. */
static int add_sizes(struct drawing *d, nami_err *err)
{
    for (size_t i = 0; i < d->open->range.n; i++) {
        const struct open_range *r = &d->open->range.a[i];
        if (!r->is_size || (d->data && dataset_find(d->data, r->name, strlen(r->name)))) continue;
        struct value v = {.name = r->name, .n = 1, .x = arena_array(&d->out->mem, double, 1)};
        if (!v.x) return err_nomem(err);
        v.x[0] = d->size[i];
        if (vec_push(&d->out->set.a[0].value, v)) return err_nomem(err);
    }
    return 0;
}

int design_data(const struct open_ranges *x, const struct dataset *data, int i, uint64_t seed,
                struct data *out, nami_err *err)
{
    struct drawing d = {.open = x, .data = data, .out = out, .which = i};
    int rc = 0;
    *out = (struct data){0};
    rng_init(&d.rng, seed ^ 0x64657369676e, (uint64_t)i);
    d.size = arena_array(&out->mem, int, x->range.n + 1);
    d.from = arena_array(&out->mem, int *, x->range.n + 1);
    if (!d.size || !d.from || vec_push(&out->set, ((struct dataset){0}))) return err_nomem(err);
    rc = draw_sizes(&d, err);
    for (size_t k = 0; data && k < data->value.n && !rc; k++)
        rc = i ? draw_value(&d, &data->value.a[k], err)
             : vec_push(&out->set.a[0].value, data->value.a[k]) ? err_nomem(err)
                                                                : 0;
    return rc ? rc : add_sizes(&d, err);
}

/* ---- missing observations ----------------------------------------------------------- */

static int is_sink(const struct bn *bn, int v) { return bn->dag.cp[v] == bn->dag.cp[v + 1]; }

int design_observe(const struct model *m, double missing, struct rng *rng, struct str *out,
                   nami_err *err)
{
    const struct bn *bn = model_bn(m);
    int sinks = 0;
    for (int v = 0; v < bn_n(bn); v++) sinks += bn->node.a[v].observed && is_sink(bn, v);
    double rate = missing * rng_unit(rng);
    int spare = sinks ? (int)rng_below(rng, (uint32_t)sinks) : 0;
    for (int v = 0, i = 0; v < bn_n(bn); v++) {
        if (!bn->node.a[v].observed) continue;
        int keep = !is_sink(bn, v) || rng_unit(rng) >= rate || i == spare;
        i += is_sink(bn, v);
        if (keep) str_printf(out, "%s%s", out->n ? "," : "", bn_name(bn, v));
    }
    return out->oom ? err_nomem(err) : 0;
}
