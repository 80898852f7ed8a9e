/* integral_enumerated.c: sums over discrete variables by elimination, in logarithms.

   With the table f_i of step i (tables.h), v its variable and s its separator,

       m_i(s) = log sum_v exp f_i(v, s),     added to the table of the parent,
       p_i(v | s) = exp(f_i(v, s) - m_i(s)), which takes the place of f_i,

   and the result is the sum of the messages without a parent.  Draws and marginals go the other
   way: p_i(v, s) = p_i(v | s) p(s), where the parent's table has all variables of s.  The
   derivative of the result by an entry of a term is the probability of that entry.  Tables are
   (entry, lane). */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/err.h"
#include "base/simd.h"
#include "exact/tables.h"

enum {
    MOST_DOUBLES = 1 << 18,     /* of tables: more lanes than 8 only up to that */
    MOST_DOUBLES_OF_8 = 1 << 23 /* and more than one only up to that */
};

static int plan(struct integral *g, nami_err *err)
{
    struct tables *t;
    if (g->normal) return err_set(err, NAMI_EINPUT, "is continuous");
    int rc = tables_plan(g, &t, err);
    if (rc) return rc;
    if (t->entries * (size_t)g->lanes > MOST_DOUBLES && g->lanes > 8) g->lanes = 8;
    if (t->entries * 8 > MOST_DOUBLES_OF_8 && !g->body.nunit) g->lanes = 1; /* units: groups of 8 */
    g->own = t;
    g->extra = (t->entries + 2 * t->max_message + (size_t)g->num_comps) * (size_t)g->lanes;
    g->runs = t->num_runs;
    return 0;
}

/* A slab of lanes. */
struct slab {
    struct visit v;
    const struct tables *t;
    int width;       /* lanes of the tables */
    double *table;   /* (entries, width) */
    double *message; /* (max_message, width), and */
    double *sum;     /* the same */
    double *result;  /* (num_comps, width) */
};

static void slab_begin(struct slab *s, const struct integral *g, int with_back, double *work)
{
    s->t = g->own;
    visit_begin(&s->v, g, with_back, work);
    size_t lanes = (size_t)g->lanes;
    s->table = s->v.extra;
    s->message = s->table + s->t->entries * lanes;
    s->sum = s->message + s->t->max_message * lanes;
    s->result = s->sum + s->t->max_message * lanes;
}

static double *table_of(const struct slab *s, const struct cluster *c)
{
    return s->table + c->first * (size_t)s->width;
}

static double *result_of(const struct slab *s, int component)
{
    return s->result + (size_t)component * (size_t)s->width;
}

/* ---- filling tables ----------------------------------------------------------------- */

INLINE void add(int n, double *restrict to, const double *restrict from)
{
    EACH(b, n) to[b] += from[b];
}

static void set_states(struct slab *s, int run)
{
    const struct integral *g = s->v.g;
    const int *state = s->t->state + (size_t)run * (size_t)s->t->num_colors;
    for (int k = 0; k < g->num_vars; k++) {
        int last = g->var[k].states - 1, is = state[s->t->color[k]];
        visit_set(&s->v, k, g->var[k].low + (is < last ? is : last));
    }
}

WIDE static void add_term(const struct slab *s, const struct table_term *x, int run)
{
    const double *value = visit_term(&s->v, x->term);
    struct walk w;
    if (x->cluster < 0) {
        add(s->width, result_of(s, ~x->cluster), value);
    } else if (walk_term(s->t, x, run, &w)) {
        double *table = table_of(s, &s->t->cluster[x->cluster]);
        do add(s->width, table + w.place * (size_t)s->width, value);
        while (walk_next(&w));
    }
}

static void fill(struct slab *s)
{
    const struct tables *t = s->t;
    size_t width = (size_t)s->width;
    memset(s->table, 0, t->entries * width * sizeof *s->table);
    memset(s->result, 0, (size_t)s->v.g->num_comps * width * sizeof *s->result);
    for (int run = 0; run < t->num_runs; run++) {
        set_states(s, run);
        visit_run(&s->v);
        for (int r = t->read_start[run]; r < t->read_start[run + 1]; r++)
            for (int k = t->set_start[t->read[r]]; k < t->set_start[t->read[r] + 1]; k++)
                add_term(s, &t->term[k], run);
    }
}

/* ---- up the tree -------------------------------------------------------------------- */

/* Sums over the states of a table (states, n): the logarithms of the sums; the table becomes that
   of probabilities. Where the sum is 0, infinite or NaN, these are 0. */
WIDE static void sum_out(int states, int n, double *restrict table, double *restrict message,
                         double *restrict sum)
{
    EACH(i, n) message[i] = -INFINITY, sum[i] = 0;
    for (int k = 0; k < states; k++) {
        const double *f = table + (size_t)k * (size_t)n;
        EACH(i, n) message[i] = f[i] > message[i] ? f[i] : message[i];
    }
    EACH(i, n) message[i] = message[i] - message[i] == 0 ? message[i] : 0;
    for (int k = 0; k < states; k++) {
        double *f = table + (size_t)k * (size_t)n;
        EACH(i, n)
        {
            double e = exp(f[i] - message[i]);
            f[i] = e;
            sum[i] += e;
        }
    }
    EACH(i, n)
    {
        double all = sum[i];
        message[i] += log(all);
        sum[i] = all > 0 ? 1 / all : 0;
    }
    for (int k = 0; k < states; k++) {
        double *f = table + (size_t)k * (size_t)n;
        EACH(i, n)
        {
            double p = f[i] * sum[i];
            f[i] = p >= 0 ? p : 0;
        }
    }
}

WIDE static void send(const struct slab *s, int i)
{
    const struct cluster *c = &s->t->cluster[i];
    if (c->parent < 0) {
        add(s->width, result_of(s, c->component), s->message);
        return;
    }
    double *to = table_of(s, &s->t->cluster[c->parent]);
    struct walk w;
    walk_message(s->t, i, &w);
    do {
        add(s->width, to, s->message + w.place * (size_t)s->width);
        to += s->width;
    } while (walk_next(&w));
}

static void eliminate(struct slab *s, const struct lanes *in, int from, int n)
{
    visit_inputs(&s->v, in, from, n);
    s->width = visit_width(&s->v);
    fill(s);
    for (int i = 0; i < s->t->num_clusters; i++) {
        const struct cluster *c = &s->t->cluster[i];
        sum_out(c->states, (int)c->sep_size * s->width, table_of(s, c), s->message, s->sum);
        send(s, i);
    }
}

static int slab_lanes(const struct integral *g, int from, int L)
{
    return L - from < g->lanes ? L - from : g->lanes;
}

static void run(const void *self, const int *dim, int L, double *const *out, const struct lanes *in,
                double *work)
{
    const struct integral *g = self;
    struct slab s;
    (void)dim;
    slab_begin(&s, g, 0, work);
    for (int from = 0, n; from < L; from += n) {
        n = slab_lanes(g, from, L);
        eliminate(&s, in, from, n);
        for (int c = 0; c < g->num_comps; c++)
            memcpy(out[c] + from, result_of(&s, c), (size_t)n * sizeof *out[c]);
    }
}

/* ---- down the tree ------------------------------------------------------------------ */

/* The probabilities of the separator of cluster i. */
WIDE static void receive(const struct slab *s, int i)
{
    const struct cluster *c = &s->t->cluster[i];
    size_t width = (size_t)s->width;
    if (c->parent < 0) {
        memcpy(s->message, result_of(s, c->component), width * sizeof *s->message);
        return;
    }
    const double *from = table_of(s, &s->t->cluster[c->parent]);
    struct walk w;
    memset(s->message, 0, c->sep_size * width * sizeof *s->message);
    walk_message(s->t, i, &w);
    do {
        add(s->width, s->message + w.place * width, from);
        from += width;
    } while (walk_next(&w));
}

WIDE static void multiply(int states, int n, double *restrict table, const double *restrict by)
{
    for (int k = 0; k < states; k++) {
        double *f = table + (size_t)k * (size_t)n;
        EACH(i, n) f[i] *= by[i];
    }
}

/* All tables become those of joint probabilities, times the weights of the components that are
   in `result`. */
static void marginals(struct slab *s)
{
    for (int i = s->t->num_clusters; i-- > 0;) {
        const struct cluster *c = &s->t->cluster[i];
        receive(s, i);
        multiply(c->states, (int)c->sep_size * s->width, table_of(s, c), s->message);
    }
}

/* Adds the probabilities of the entry of a term that run r computes to the derivatives of its row;
   are any not 0? */
WIDE static int seed_term(const struct slab *s, const struct table_term *x, int run)
{
    double *adj = visit_adj(&s->v, s->v.g->term[x->term]);
    struct walk w;
    int any = 0;
    if (x->cluster < 0) {
        add(s->width, adj, result_of(s, ~x->cluster));
    } else {
        if (!walk_term(s->t, x, run, &w)) return 0;
        const double *table = table_of(s, &s->t->cluster[x->cluster]);
        do add(s->width, adj, table + w.place * (size_t)s->width);
        while (walk_next(&w));
    }
    EACH(b, s->width) any |= adj[b] != 0;
    return any;
}

/* Derivatives are seeded before the body is run: it need not be if all of them are 0. */
static void back_run(struct slab *s, int run, double *const *din, int from)
{
    const struct tables *t = s->t;
    int any = 0;
    visit_back_begin(&s->v);
    for (int r = t->read_start[run]; r < t->read_start[run + 1]; r++)
        for (int k = t->set_start[t->read[r]]; k < t->set_start[t->read[r] + 1]; k++)
            any |= seed_term(s, &t->term[k], run);
    if (!any) return;
    set_states(s, run);
    visit_run(&s->v);
    visit_back(&s->v, din, from);
}

static void back(const void *self, const int *dim, int L, const double *const *out,
                 const double *const *dout, const struct lanes *in, double *const *din,
                 double *work)
{
    const struct integral *g = self;
    struct slab s;
    (void)dim, (void)out;
    slab_begin(&s, g, 1, work);
    for (int from = 0, n; from < L; from += n) {
        n = slab_lanes(g, from, L);
        eliminate(&s, in, from, n);
        for (int c = 0; c < g->num_comps; c++) {
            double *weight = result_of(&s, c);
            for (int b = 0; b < s.width; b++)
                weight[b] = b < n && isfinite(weight[b]) ? dout[c][from + b] : 0;
        }
        marginals(&s);
        for (int k = 0; k < s.t->num_runs; k++) back_run(&s, k, din, from);
    }
}

/* ---- draws and moments -------------------------------------------------------------- */

/* The state whose probability interval contains u; rounding may leave u behind the last. */
static int state_at(int states, size_t step, const double *p, double u)
{
    int last = 0;
    for (int k = 0; k < states; k++, p += step) {
        if (*p > 0) last = k;
        if ((u -= *p) < 0) return k;
    }
    return last;
}

/* The states of the variable of cluster i for n lanes, given those of its separator. */
static void draw_cluster(const struct slab *s, int i, const struct stream *stream,
                         double *const *out, int from, int n)
{
    const struct variable *var = s->v.g->var;
    const struct cluster *c = &s->t->cluster[i];
    const double *table = table_of(s, c);
    double *uniform = s->message;
    size_t width = (size_t)s->width;
    struct stream own = {stream->seed, (uint32_t)var[c->var].row, stream->first + (uint64_t)from};
    stream_uniform(&own, n, uniform);
    for (int b = 0; b < n; b++) {
        size_t entry = 0;
        for (int k = 0; k < c->num_sep; k++) {
            const struct cluster *given = &s->t->cluster[c->sep[k]];
            double state = out[given->var][from + b] - var[given->var].low;
            entry = entry * (size_t)given->states + (size_t)state;
        }
        const double *p = table + entry * width + b;
        out[c->var][from + b] =
            var[c->var].low + state_at(c->states, c->sep_size * width, p, uniform[b]);
    }
}

/* Where nothing is possible, there are no draws. */
static void leave_out(const struct slab *s, double *const *out, int from, int n)
{
    const struct integral *g = s->v.g;
    for (int c = 0; c < g->num_comps; c++)
        for (int b = 0; b < n; b++)
            for (int v = g->var_start[c]; v < g->var_start[c + 1]; v++)
                if (!isfinite(result_of(s, c)[b])) out[v][from + b] = NAN;
}

static void draw(const void *self, const struct stream *stream, const int *dim, int L,
                 double *const *out, const struct lanes *in, double *work)
{
    const struct integral *g = self;
    struct slab s;
    (void)dim;
    slab_begin(&s, g, 0, work);
    for (int from = 0, n; from < L; from += n) {
        n = slab_lanes(g, from, L);
        eliminate(&s, in, from, n);
        for (int i = s.t->num_clusters; i-- > 0;) draw_cluster(&s, i, stream, out, from, n);
        leave_out(&s, out, from, n);
    }
}

/* to = sum over states k of f(k) p(k); f: k, or its squared distance from the mean */
WIDE static void moment(const struct slab *s, const struct cluster *c, const double *mean,
                        double *restrict to)
{
    int width = s->width;
    const double *p = table_of(s, c);
    EACH(b, width) to[b] = 0;
    for (int k = 0; k < c->states; k++)
        for (size_t e = 0; e < c->sep_size; e++, p += width)
            if (mean)
                EACH(b, width) to[b] += (k - mean[b]) * (k - mean[b]) * p[b];
            else
                EACH(b, width) to[b] += k * p[b];
}

static void moments(const void *self, const int *dim, int L, double *const *out,
                    const struct lanes *in, double *work)
{
    const struct integral *g = self;
    struct slab s;
    (void)dim;
    slab_begin(&s, g, 0, work);
    for (int from = 0, n; from < L; from += n) {
        n = slab_lanes(g, from, L);
        eliminate(&s, in, from, n);
        for (int k = 0; k < g->num_comps * s.width; k++)
            s.result[k] = isfinite(s.result[k]) ? 1 : NAN;
        marginals(&s);
        for (int i = 0; i < s.t->num_clusters; i++) {
            const struct cluster *c = &s.t->cluster[i];
            double *mean = s.message, *variance = s.sum;
            moment(&s, c, NULL, mean);
            moment(&s, c, mean, variance);
            for (int b = 0; b < n; b++) {
                out[c->var][from + b] = g->var[c->var].low + mean[b];
                out[g->num_vars + c->var][from + b] = variance[b];
            }
        }
    }
}

const struct integral_kind integral_enumerated = {
    .name = "enumerated",
    .what = "discrete variables with few states: sums along an elimination tree",
    .plan = plan,
    .run = run,
    .back = back,
    .draw = draw,
    .moments = moments,
    .discrete = 1,
};
