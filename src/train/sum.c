/* sum.c: sums over the parts of a batch in a fixed binary tree, by one process or many. */
#include "train/sum.h"

#include <stdlib.h>
#include <string.h>

#include "base/exchange.h"
#include "base/simd.h"
#include "base/vec.h"

enum { TOTAL, INCOMING, LEVELS };
enum { DOWN = 1 << 13, SEGMENT_FLOATS = 1 << 14 };

/* A node of the tree: parts first .. end-1. number: 1 for the root, then 2k and 2k + 1. */
struct node {
    int first, end, depth, number;
};

static struct node child(const struct node *x, int right)
{
    int middle = x->first + (x->end - x->first) / 2;
    return (struct node){right ? middle : x->first, right ? x->end : middle, x->depth + 1,
                         2 * x->number + right};
}

void sum_part(int parts, int n, int part, int *from, int *to)
{
    int64_t groups = (n + 7) / 8;
    *from = (int)(groups * part / parts * 8);
    *to = (int)(groups * (part + 1) / parts * 8);
    if (*from > n) *from = n;
    if (*to > n) *to = n;
}

void sum_free(struct sum *s)
{
    free(s->block);
    *s = (struct sum){0};
}

/* ---- who has what -------------------------------------------------------------------------- */

static int owner(const struct sum *s, int part)
{
    return (int)(((int64_t)(part + 1) * exchange_size(s->with) - 1) / s->parts);
}

static int is_mine(const struct sum *s, const struct node *x)
{
    int me = exchange_rank(s->with);
    return owner(s, x->first) == me && owner(s, x->end - 1) == me;
}

static int has_mine(const struct sum *s, const struct node *x)
{
    int me = exchange_rank(s->with);
    return owner(s, x->first) <= me && owner(s, x->end - 1) >= me;
}

/* The process that holds a segment of a node. */
static int holder(const struct sum *s, struct node x, int segment)
{
    while (owner(s, x.first) != owner(s, x.end - 1))
        x = child(&x, s->bits ? segment >> (x.depth % s->bits) & 1 : 0);
    return owner(s, x.first);
}

void sum_own(const struct sum *s, int *first, int *end)
{
    int rank = exchange_rank(s->with), all = exchange_size(s->with);
    *first = (int)((int64_t)s->parts * rank / all);
    *end = (int)((int64_t)s->parts * (rank + 1) / all);
}

/* The largest subtrees of this process. */
static int count_roots(const struct sum *s, const struct node *x)
{
    struct node left = child(x, 0), right = child(x, 1);
    if (!has_mine(s, x)) return 0;
    return is_mine(s, x) ? 1 : count_roots(s, &left) + count_roots(s, &right);
}

int sum_init(struct sum *s, int parts, const nami_exchange *with, nami_err *err)
{
    struct node root = {0, parts, 0, 1};
    *s = (struct sum){.parts = parts, .with = with};
    while (1 << s->levels < parts) s->levels++;
    s->num_vectors = LEVELS + s->levels + count_roots(s, &root);
    if (exchange_size(with) <= parts) return 0;
    return err_set(err, NAMI_EUSAGE,
                   "%d processes are too many for a batch of %d part%s; start fewer, or train with "
                   "more parts or a larger batch (parts have at least 8 points, and a training "
                   "keeps the number that it began with)",
                   exchange_size(with), parts, parts == 1 ? "" : "s");
}

/* ---- vectors --------------------------------------------------------------------------------- */

static char *vector(const struct sum *s, int i) { return s->memory + (size_t)i * s->room; }
static float *floats_of(char *v) { return (float *)v; }
static double *doubles_of(const struct sum *s, char *v) { return (double *)(v + s->stride * 4); }

/* The doubles are in the last segment. */
static size_t at(const struct sum *s, int segment) { return (size_t)segment * s->segment * 4; }

static size_t size(const struct sum *s, int segment)
{
    size_t end = segment + 1 < s->segments ? at(s, segment + 1) : s->stride * 4 + s->doubles * 8;
    return end - at(s, segment);
}

WIDE static void add_floats(int n, float *restrict to, const float *restrict from)
{
    EACH(i, n) to[i] += from[i];
}

static void add_segment(const struct sum *s, int segment, char *to, const char *from)
{
    size_t n = (segment + 1 < s->segments ? s->segment : s->stride - (size_t)segment * s->segment),
           start = at(s, segment) / 4;
    enum { MOST = 1 << 30 };
    for (size_t i = 0; i < n; i += MOST)
        add_floats(n - i < MOST ? (int)(n - i) : MOST, (float *)to + start + i,
                   (const float *)from + start + i);
    if (segment + 1 < s->segments) return;
    double *sum = doubles_of(s, to);
    const double *more = (const double *)(from + s->stride * 4);
    for (size_t i = 0; i < s->doubles; i++) sum[i] += more[i];
}

/* Room for vectors of this length, and how they are cut. */
static int lay_out(struct sum *s, size_t floats, size_t doubles)
{
    enum { LINE = 64 };
    int ranks = exchange_size(s->with);
    s->floats = floats;
    s->doubles = doubles;
    s->stride =
        (floats + LINE - 1) / LINE * LINE + (floats ? LINE : 0); /* kernels need some more */
    s->segments = 1;
    s->bits = 0;
    while (s->segments < ranks && s->segments < SUM_MOST_SEGMENTS &&
           s->stride / (size_t)s->segments > SEGMENT_FLOATS)
        s->segments *= 2, s->bits++;
    s->segment = (s->stride / (size_t)s->segments + LINE - 1) / LINE * LINE;
    size_t need = (s->stride * 4 + doubles * 8 + LINE - 1) / LINE * LINE;
    if (need <= s->room) return 0;
    free(s->block);
    s->memory = line_array(char, need *(size_t)s->num_vectors, &s->block);
    if (!s->memory) {
        s->block = NULL;
        s->room = 0;
        return NAMI_ENOMEM;
    }
    memset(s->memory, 0, need * (size_t)s->num_vectors);
    s->room = need;
    return 0;
}

/* ---- the sum -----------------------------------------------------------------------------------
 */

static void send(struct sum *s, int to, int tag, int segment, char *v)
{
    if (!s->failed)
        s->failed = exchange_send(s->with, to, tag, v + at(s, segment), size(s, segment));
}

static void receive(struct sum *s, int from, int tag, int segment, char *v)
{
    if (!s->failed)
        s->failed = exchange_receive(s->with, from, tag, v + at(s, segment), size(s, segment));
}

/* A subtree of this process. */
static void add_own(struct sum *s, const struct node *x, sum_leaf *leaf, void *arg, int level,
                    char *to)
{
    if (x->end - x->first == 1) {
        leaf(arg, x->first, floats_of(to), doubles_of(s, to));
        return;
    }
    struct node left = child(x, 0), right = child(x, 1);
    char *more = vector(s, LEVELS + level);
    add_own(s, &left, leaf, arg, level + 1, to);
    add_own(s, &right, leaf, arg, level + 1, more);
    for (int k = 0; k < s->segments; k++) add_segment(s, k, to, more);
}

/* Computes the subtrees of this process.  What others hold is sent at once, while the next subtree
   is computed. */
static void compute(struct sum *s, const struct node *x, const struct node *parent, sum_leaf *leaf,
                    void *arg)
{
    if (!has_mine(s, x) || s->failed) return;
    if (!is_mine(s, x)) {
        for (int right = 0; right < 2; right++) {
            struct node c = child(x, right);
            compute(s, &c, x, leaf, arg);
        }
        return;
    }
    char *v = vector(s, LEVELS + s->levels + s->roots++);
    add_own(s, x, leaf, arg, 0, v);
    for (int k = 0; parent && k < s->segments; k++) {
        int to = holder(s, *parent, k);
        if (to != exchange_rank(s->with)) send(s, to, parent->number, k, v);
    }
}

/* Adds what others have; part[k]: where this process has segment k of the node, if it holds it. */
static void collect(struct sum *s, const struct node *x, char **part)
{
    int me = exchange_rank(s->with);
    memset(part, 0, sizeof *part * SUM_MOST_SEGMENTS);
    if (!has_mine(s, x) || s->failed) return;
    if (is_mine(s, x)) {
        char *v = vector(s, LEVELS + s->levels + s->roots++);
        for (int k = 0; k < s->segments; k++) part[k] = v;
        return;
    }
    char *of[2][SUM_MOST_SEGMENTS];
    struct node side[2] = {child(x, 0), child(x, 1)};
    for (int right = 0; right < 2; right++) collect(s, &side[right], of[right]);
    for (int k = 0; k < s->segments && !s->failed; k++) {
        int by[2] = {holder(s, side[0], k), holder(s, side[1], k)}, to = holder(s, *x, k);
        int win = by[1] == to && by[0] != to; /* the side whose holder goes on */
        if (to == me) {
            part[k] = of[win][k];
            if (by[0] != by[1]) receive(s, by[!win], x->number, k, vector(s, INCOMING));
            if (!s->failed)
                add_segment(s, k, part[k], by[0] == by[1] ? of[1][k] : vector(s, INCOMING));
        } else if (by[!win] == me && !is_mine(s, &side[!win])) { /* its own went before */
            send(s, to, x->number, k, of[!win][k]);
        }
    }
}

/* Passes the total on.  Where parts of a process are on both sides, a segment may come twice. */
static void spread(struct sum *s, const struct node *x)
{
    int me = exchange_rank(s->with);
    if (!has_mine(s, x) || is_mine(s, x) || s->failed) return;
    struct node side[2] = {child(x, 0), child(x, 1)};
    for (int k = 0; k < s->segments; k++) {
        int by[2] = {holder(s, side[0], k), holder(s, side[1], k)}, from = holder(s, *x, k);
        int to = by[by[0] == from];
        if (to == from) continue;
        if (from == me) send(s, to, DOWN + x->number, k, vector(s, TOTAL));
        if (to != me) continue;
        receive(s, from, DOWN + x->number, k, vector(s, s->have >> k & 1 ? INCOMING : TOTAL));
        s->have |= 1 << k;
    }
    for (int right = 0; right < 2; right++) spread(s, &side[right]);
}

int sum_run(struct sum *s, size_t num_floats, size_t num_doubles, sum_leaf *leaf, void *arg,
            float *floats, double *doubles)
{
    struct node root = {0, s->parts, 0, 1};
    char *part[SUM_MOST_SEGMENTS];
    if (lay_out(s, num_floats, num_doubles)) return NAMI_ENOMEM;
    s->roots = s->have = s->failed = 0;
    compute(s, &root, NULL, leaf, arg);
    s->roots = 0;
    collect(s, &root, part);
    for (int k = 0; k < s->segments && !s->failed; k++)
        if (part[k]) {
            memcpy(vector(s, TOTAL) + at(s, k), part[k] + at(s, k), size(s, k));
            s->have |= 1 << k;
        }
    spread(s, &root);
    if (s->with && !s->failed) s->failed = exchange_wait(s->with);
    if (s->failed) return s->failed;
    if (num_floats) memcpy(floats, vector(s, TOTAL), sizeof *floats * num_floats);
    memcpy(doubles, doubles_of(s, vector(s, TOTAL)), sizeof *doubles * num_doubles);
    return 0;
}
