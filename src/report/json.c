/* json.c: an inverse as JSON, written straight into a text: a million factors
   take a second, and fifty million parents as long as copying their names. */
#include "report/json.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "report/names.h"
#include "report/trace.h"

enum { MAX_PARENTS = 50000000 };

/* Every name in quotes, once: name v is text[at[v]] .. text[at[v+1]-1]. */
struct writer {
    const struct view *w;
    struct str *out, text;
    size_t *at;
};

static int writer_init(struct writer *x, const struct view *w, struct str *out, nami_err *err)
{
    int n = bn_n(w->bn);
    *x = (struct writer){.w = w, .out = out, .at = raw_array(size_t, n + 1)};
    if (!x->at) return err_nomem(err);
    for (int v = 0; v < n; v++) {
        x->at[v] = x->text.n;
        str_quote(&x->text, bn_name(w->bn, v));
        if (!str_is_utf8(bn_name(w->bn, v))) /* some formats carry any bytes */
            return err_set(err, NAMI_EINPUT, "'%s' is not UTF-8, so JSON cannot hold it; rename it",
                           bn_name(w->bn, v));
    }
    x->at[n] = x->text.n;
    return x->text.oom ? err_nomem(err) : 0;
}

static void writer_fini(struct writer *x)
{
    str_free(&x->text);
    free(x->at);
}

static void put_node(struct writer *x, int v)
{
    str_putn(x->out, x->text.s + x->at[v], x->at[v + 1] - x->at[v]);
}

static void put_list(struct writer *x, const int *v, int n)
{
    str_putn(x->out, "[", 1);
    for (int i = 0; i < n; i++) {
        if (i) str_putn(x->out, ",", 1);
        put_node(x, v[i]);
    }
    str_putn(x->out, "]", 1);
}

static void put_parents(struct writer *x, int i)
{
    const char *sep = "";
    str_putn(x->out, "[", 1);
    for (struct inverse_it it = inverse_it(x->w->h, i); inverse_next(&it); sep = ",") {
        str_put(x->out, sep);
        put_node(x, it.node);
    }
    str_putn(x->out, "]", 1);
}

static void put_model_parents(struct writer *x, int v)
{
    const struct dag *g = &x->w->bn->dag;
    put_list(x, g->p + g->pp[v], g->pp[v + 1] - g->pp[v]);
}

static void put_runs(struct writer *x, int i)
{
    const struct inverse *h = x->w->h;
    str_put(x->out, "[");
    for (int64_t r = h->ptr[i]; r < h->ptr[i + 1]; r++)
        str_printf(x->out, "%s[%d,%d]", r > h->ptr[i] ? "," : "", h->run.a[r].start,
                   h->run.a[r].count);
    str_put(x->out, "]");
}

static void put_size(struct writer *x, int v)
{
    int size = x->w->bn->node.a[v].size;
    if (size != 1) str_printf(x->out, ",\"size\":%d", size);
}

static void put_factors(struct writer *x, int compact)
{
    const struct inverse *h = x->w->h;
    const char *sep = "\n";
    str_put(x->out, ",\n\"factors\":[");
    for (int i = 0; i < h->nlatent; i++, sep = ",\n") {
        str_put(x->out, sep);
        str_put(x->out, "{\"node\":");
        put_node(x, h->perm[i]);
        str_put(x->out, compact ? ",\"runs\":" : ",\"parents\":");
        if (compact)
            put_runs(x, i);
        else
            put_parents(x, i);
        if (i < h->nexact)
            str_printf(x->out, ",\"kind\":\"exact\",\"exact\":\"%s\"", h->exact[i]);
        else
            str_put(x->out, ",\"kind\":\"network\"");
        put_size(x, h->perm[i]);
        str_put(x->out, "}");
    }
    for (int i = 0; i < h->nmodel; i++, sep = ",\n") {
        str_put(x->out, sep);
        str_put(x->out, "{\"node\":");
        put_node(x, h->model[i]);
        str_put(x->out, ",\"parents\":");
        put_model_parents(x, h->model[i]);
        str_put(x->out, ",\"kind\":\"model\"");
        put_size(x, h->model[i]);
        str_put(x->out, "}");
    }
    str_put(x->out, "]");
}

/* ---- the certificate ---------------------------------------------------------------- */

static void put_witness(struct writer *x, enum property p, int compact)
{
    const struct inverse *h = x->w->h;
    const struct witness *y = &h->cert.why[p];
    str_printf(x->out, "{\"property\":\"%s\",\"node\":", property_names[p]);
    put_node(x, y->node);
    str_put(x->out, ",\"other\":");
    put_node(x, y->other);
    if (p == FAITHFUL) {
        if (!compact) {
            int i = h->pos[y->node];
            str_put(x->out, ",\"given\":");
            if (i >= 0 && i < h->nlatent)
                put_parents(x, i);
            else
                put_model_parents(x, y->node);
        }
        str_put(x->out, ",\"trail\":");
        put_list(x, y->trail, y->ntrail);
    } else {
        str_put(x->out, ",\"edge\":");
        put_list(x, (int[]){y->other, y->node}, 2);
    }
    str_put(x->out, "}");
}

static void put_certificate(struct writer *x, int compact)
{
    static const char *const answer[] = {"null", "false", "true"};
    const struct certificate *c = &x->w->h->cert;
    const char *sep = "";
    int first = -1;
    str_put(x->out, ",\n\"certificate\":{");
    for (int p = 0; p < NPROPERTY; p++) {
        str_printf(x->out, "\"%s\":%s,", property_names[p], answer[c->is[p] + 1]);
        if (first < 0 && c->is[p] == 0) first = p;
    }
    str_printf(x->out, "\"checked\":%lld,\"total\":%lld,\"witness\":", (long long)c->checked,
               (long long)c->total);
    if (first < 0)
        str_put(x->out, "null");
    else
        put_witness(x, (enum property)first, compact);
    str_put(x->out, ",\"witnesses\":[");
    for (int p = 0; p < NPROPERTY; p++) {
        if (c->is[p] != 0) continue;
        str_put(x->out, sep);
        put_witness(x, (enum property)p, compact);
        sep = ",";
    }
    str_put(x->out, "]}");
}

/* ---- the trace ---------------------------------------------------------------------- */

static void put_step(struct writer *x, const struct trace_step *s)
{
    str_put(x->out, "{\"node\":");
    put_node(x, s->node);
    str_printf(x->out, ",\"fill\":%lld,\"nuisance\":%s,\"frontier\":[", (long long)trace_fill(s),
               s->nuisance ? "true" : "false");
    for (int i = 0; i < s->nfrontier; i++) {
        str_put(x->out, i ? ",[" : "[");
        put_node(x, s->frontier[i]);
        str_printf(x->out, ",%lld]", (long long)s->fill[i]);
    }
    str_put(x->out, "],\"added\":[");
    for (int i = 0; i < s->nadded; i++) {
        if (i) str_put(x->out, ",");
        put_list(x, (int[]){s->added[i].from, s->added[i].to}, 2);
    }
    str_put(x->out, "],\"parents\":");
    put_list(x, s->parent, s->nuisance ? 0 : s->nparent);
    str_put(x->out, "}");
}

static int put_trace(struct writer *x, nami_err *err)
{
    struct trace t = {0};
    int rc = trace_of(x->w, &t, err);
    if (rc) return rc;
    str_put(x->out, ",\n\"trace\":[");
    for (int i = 0; i < t.nstep; i++) {
        str_put(x->out, i ? ",\n" : "\n");
        put_step(x, &t.step[i]);
    }
    str_put(x->out, "]");
    trace_free(&t);
    return 0;
}

/* ---- all ---------------------------------------------------------------------------- */

static void put_key(struct writer *x, const char *key, const int *v, int n)
{
    str_printf(x->out, ",\n\"%s\":", key);
    put_list(x, v, n);
}

int inverse_json(const struct view *w, int flags, struct str *out, nami_err *err)
{
    const struct inverse *h = w->h;
    int compact = flags & INVERSE_RUNS, rc = 0;
    struct writer x;
    if (!compact && h->edges > MAX_PARENTS)
        return err_set(err, NAMI_ELIMIT,
                       "the factors have %s parents, too many to list; ask for runs instead",
                       count_text(h->edges).s);
    if ((rc = writer_init(&x, w, out, err))) {
        writer_fini(&x);
        return rc;
    }
    str_put(out, "{");
    if (compact) str_put(out, "\"form\":\"runs\",");
    str_printf(out, "\"mode\":\"%s\",\"method\":\"%s\",\"criterion\":\"%s\",\"seed\":", h->mode,
               h->method, w->v->p.criterion->name);
    if (compact) /* it is read again, by a parser of signed integers: from 2^63 on, negative */
        str_printf(out, "%lld", (long long)w->v->seed);
    else
        str_printf(out, "%llu", (unsigned long long)w->v->seed);
    if (compact) {
        str_printf(out, ",\n\"latents\":%d", h->nlatent);
        put_key(&x, "perm", h->perm, h->nlatent + h->nobserved);
    }
    put_key(&x, "order", h->perm, h->nlatent);
    put_factors(&x, compact);
    str_printf(out, ",\n\"edges\":%lld,\"width\":%lld", (long long)h->edges, (long long)h->width);
    put_key(&x, "barren", h->model, h->nmodel);
    put_key(&x, "nuisance", h->nuisance, h->nnuisance);
    put_certificate(&x, compact);
    if (flags & INVERSE_TRACE) rc = put_trace(&x, err);
    str_put(out, "}\n");
    writer_fini(&x);
    return rc || !out->oom ? rc : err_nomem(err);
}
