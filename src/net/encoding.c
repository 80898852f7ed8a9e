/* encoding.c: encodings of variables: standardized coordinates, features, states; kernels that
   compute them and their log-Jacobians. */
#include "net/encoding.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/simd.h"
#include "dist/bijector.h"

/* ---- from draws to moments ---------------------------------------------------------- */

/* Location and scale of draws: median and half of the middle 68 %, which is mean and sd of a
   normal, and minds no tails.  Where that is 0 (nearly always the same), mean and sd. */
static int moments(size_t n, double *u, double *mean, double *sd)
{
    size_t k = 0;
    for (size_t i = 0; i < n; i++)
        if (isfinite(u[i])) u[k++] = u[i];
    *mean = 0, *sd = 1;
    if (k < n - n / 100) return -1;
    sort_doubles(u, k);
    double s = (u[(size_t)(0.841345 * (double)k)] - u[(size_t)(0.158655 * (double)k)]) / 2;
    *mean = u[k / 2];
    if (!(s > 0)) {
        double m = 0, v = 0;
        for (size_t i = 0; i < k; i++) m += u[i] / (double)k;
        for (size_t i = 0; i < k; i++) v += (u[i] - m) * (u[i] - m) / (double)k;
        *mean = m, s = sqrt(v);
    }
    if (s > 1e-12 * fabs(*mean) && s > 0) *sd = s;
    return 0;
}

/* Coordinates, not standardised: u[ncoord] of x[n] in the order of c->row. */
static void coordinates(const struct encoding *c, const double *x, double *u)
{
    if (c->kind == ENCODING_STATES)
        u[0] = x[0] - c->low;
    else if (c->kind == ENCODING_COUNTS)
        for (int j = 0; j < c->num_elements; j++) u[j] = log1p(x[j]);
    else
        unconstrain(c->domain, c->lo, c->hi, c->num_elements, x, u);
}

/* Is an element 0 in all draws? */
static int never(const struct encoding *c, size_t n, const double *x)
{
    int found = 0;
    for (int j = 0; j < c->num_elements && !found; j++) {
        found = 1;
        for (size_t i = 0; i < n && found; i++) found = x[(size_t)c->row[j] * n + i] == 0;
    }
    return found;
}

static int standardise(const struct model *m, struct encoding *c, size_t n, const double *x,
                       struct arena *mem, nami_err *err)
{
    double *at = raw_array(double, c->num_elements), *u = raw_array(double, c->ncoord + 1);
    double *all = raw_array(double, (size_t)c->ncoord *n + 1);
    int rc = 0;
    c->mean = arena_array(mem, double, c->ncoord);
    c->sd = arena_array(mem, double, c->ncoord);
    if (!at || !u || !all || !c->mean || !c->sd) rc = err_nomem(err);
    for (int k = 0; k < c->ncoord && !rc; k++) c->sd[k] = 1;
    for (size_t i = 0; i < n && !rc; i++) {
        for (int j = 0; j < c->num_elements; j++) at[j] = x[(size_t)c->row[j] * n + i];
        coordinates(c, at, u);
        for (int k = 0; k < c->ncoord; k++) all[(size_t)k * n + i] = u[k];
    }
    for (int k = 0; k < c->ncoord && !rc && n; k++)
        if (moments(n, all + (size_t)k * n, &c->mean[k], &c->sd[k])) {
            struct str name = {0};
            inst_name(m, c->inst, &name);
            rc =
                c->domain == SIMPLEX && never(c, n, x)
                    ? err_set(err, NAMI_EINPUT,
                              "an element of %s is 0 in all draws, since its Dirichlet prior has a "
                              "0 there; an inference network cannot represent that: leave the "
                              "element out of the vector",
                              name.s ? name.s : "a variable")
                    : err_set(
                          err, NAMI_EINPUT,
                          "draws of %s from the prior leave its support or are not finite; 'nami "
                          "check' says which prior to change",
                          name.s ? name.s : "a variable");
            str_free(&name);
        }
    if (c->kind == ENCODING_STATES && !rc) c->mean[0] = 0, c->sd[0] = 1;
    free(at);
    free(u);
    free(all);
    return rc;
}

/* ---- what a node is ----------------------------------------------------------------- */

/* The distribution that family match makes a factor of.  A negative binomial serves for counts that
   are truncated, mixed, or have a random number of trials: it reaches all values, and importance
   weights do the rest. */
static const struct dist *to_match(const struct statement *s, const struct encoding *c)
{
    int count = s->dist && domains[c->domain].rank == 0 && domains[c->domain].discrete;
    if (s->truncated || (s->dist && s->dist->part[0])) return count ? &dist_neg_binomial : NULL;
    for (int k = 0; count && isinf(c->hi) && k < s->dist->narg; k++)
        if (domains[s->dist->arg[k].domain].discrete) return &dist_neg_binomial;
    return s->dist;
}

static int describe(const struct model *m, int inst, struct encoding *c, struct arena *mem,
                    nami_err *err)
{
    struct statement s = model_statement(m, instance_statement(m, inst));
    const int *element = instance_elements(m, inst);
    *c =
        (struct encoding){.node = instance_node(m, inst), .inst = inst, .coord = -1, .feature = -1};
    c->num_elements = instance_size(m, inst);
    c->row = arena_array(mem, int, c->num_elements);
    if (!c->row) return err_nomem(err);
    for (int j = 0; j < c->num_elements; j++) c->row[j] = element_row(m, element[j]);
    c->atoms = s.dist && s.dist->atoms;
    c->domain = s.dist ? s.dist->domain : c->num_elements == 1 ? REAL : VECTOR;
    c->lo = -INFINITY, c->hi = INFINITY;
    if (s.dist && domains[c->domain].rank == 0) model_support(m, element[0], &c->lo, &c->hi);
    c->dist = to_match(&s, c);
    if (!domains[c->domain].discrete) {
        c->kind = ENCODING_REAL;
        c->ncoord = c->nfeature = unconstrained_size(c->domain, c->num_elements);
    } else if (c->num_elements == 1 && c->hi - c->lo < ENCODING_STATES_MOST) {
        c->kind = ENCODING_STATES;
        c->low = (int)c->lo;
        c->states = (int)(c->hi - c->lo) + 1;
        c->ncoord = 1;
        c->nfeature = c->states == 2 ? 1 : c->states;
    } else {
        c->kind = ENCODING_COUNTS;
        c->ncoord = c->nfeature = c->num_elements;
    }
    return 0;
}

int encodings_make(const struct model *m, size_t n, const double *x, struct arena *mem,
                   struct encoding *encoding, nami_err *err)
{
    int rc = 0;
    for (int k = 0; k < model_num_instances(m) && !rc; k++) {
        if (instance_node(m, k) < 0) continue;
        struct encoding *c = &encoding[instance_node(m, k)];
        if (!(rc = describe(m, k, c, mem, err))) rc = standardise(m, c, n, x, mem, err);
    }
    return rc;
}

const enum encoding_kernel encoding_kernels[NKERNEL] = {
    KERNEL_NONE,        KERNEL_STANDARD, KERNEL_FEATURE,  KERNEL_STATE,       KERNEL_TWO,
    KERNEL_COORDINATES, KERNEL_ELEMENTS, KERNEL_JACOBIAN, KERNEL_LINE,        KERNEL_HALF,
    KERNEL_INTERVAL,    KERNEL_LINE_LOG, KERNEL_HALF_LOG, KERNEL_INTERVAL_LOG};

/* ---- kernels ----------------------------------------------------------------------------------
 */

/* (x - mean) / sd, kept finite */
WIDE static void standard_map(const void *self, int n, double *out, const double *const *a)
{
    const double *x = a[0], *mean = a[1], *sd = a[2];
    (void)self;
    EACH(i, n)
    {
        double u = (x[i] - mean[i]) / sd[i];
        u = u < ENCODING_FARTHEST ? u : ENCODING_FARTHEST;
        out[i] = u > -ENCODING_FARTHEST ? u : -ENCODING_FARTHEST;
    }
}

/* What a network reads: beyond ENCODING_FAR, distances grow as logarithms. */
WIDE static void feature_map(const void *self, int n, double *out, const double *const *a)
{
    const double *u = a[0];
    int any = 0;
    (void)self;
    for (int i = 0; i < n; i++) any |= fabs(u[i]) > ENCODING_FAR;
    if (!any) { /* mostly; and log1p is slow at 0 */
        memcpy(out, u, (size_t)n * sizeof *u);
        return;
    }
    EACH(i, n)
    {
        double near = fabs(u[i]), far = near > ENCODING_FAR ? near - ENCODING_FAR : 0,
               d = near - far + log1p(far);
        out[i] = u[i] < 0 ? -d : d;
    }
}

WIDE static void feature_grad(const void *self, int n, const double *out, const double *dout,
                              const double *const *a, double *const *da)
{
    (void)self, (void)out;
    if (!da[0]) return;
    EACH(i, n)
    {
        double near = fabs(a[0][i]), far = near > ENCODING_FAR ? near - ENCODING_FAR : 0;
        da[0][i] = dout[i] / (1 + far);
    }
}

/* 1 if the variable is in a state, centred for two states: -1 and 1 */
WIDE static void state_map(const void *self, int n, double *out, const double *const *a)
{
    (void)self;
    EACH(i, n) out[i] = a[0][i] == a[1][i] ? 1 : 0;
}

WIDE static void two_map(const void *self, int n, double *out, const double *const *a)
{
    (void)self;
    EACH(i, n) out[i] = 2 * a[0][i] - 1;
}

static double clamp(double u)
{
    if (!(u < ENCODING_FARTHEST)) return ENCODING_FARTHEST; /* NaN, too */
    return u > -ENCODING_FARTHEST ? u : -ENCODING_FARTHEST;
}

void encoding_features(const struct encoding *c, const double *x, double *out)
{
    double *u = out + c->nfeature;
    coordinates(c, x, u);
    if (c->kind == ENCODING_STATES) {
        for (int s = 0; s < c->nfeature; s++) out[s] = c->states == 2 ? 2 * u[0] - 1 : u[0] == s;
        return;
    }
    for (int k = 0; k < c->ncoord; k++) {
        double at = clamp((u[k] - c->mean[k]) / c->sd[k]);
        const double *arg = &at;
        feature_map(NULL, 1, &out[k], &arg);
    }
}

/* All coordinates of an instance; work: n + ncoord doubles */
static void encoding_block(const void *self, const int *dim, int L, double *const *out,
                           const struct lanes *a, double *work)
{
    const struct encoding *c = self;
    double *x = work, *u = work + c->num_elements;
    (void)dim;
    for (int b = 0; b < L; b++) {
        for (int j = 0; j < c->num_elements; j++) x[j] = a[j].p[(size_t)b * (size_t)a[j].step];
        coordinates(c, x, u);
        for (int k = 0; k < c->ncoord; k++) out[k][b] = clamp((u[k] - c->mean[k]) / c->sd[k]);
    }
}

/* Of a number, or of a vector of numbers: what has been clamped does not move */
static void encoding_grad(const void *self, const int *dim, int L, const double *const *out,
                          const double *const *dout, const struct lanes *a, double *const *da,
                          double *work)
{
    const struct encoding *c = self;
    (void)dim, (void)work;
    for (int j = 0; j < c->num_elements; j++)
        for (int b = 0; b < L && da[j]; b++) {
            double x = a[j].p[(size_t)b * (size_t)a[j].step];
            if (dout[j][b] == 0 || !(fabs(out[j][b]) < ENCODING_FARTHEST)) continue;
            da[j][b] += dout[j][b] * unconstrain_slope(c->domain, c->lo, c->hi, x) / c->sd[j];
        }
}

/* The scratch of the gradients below: x, dx and 2 n doubles, then u and du */
static int back_work(const struct encoding *c) { return 4 * c->num_elements + 2 * c->ncoord; }

/* Lane b of: da += derivatives by the coordinates, given those by x (or NULL), and jac
   times that of log |dx/du| */
static void coordinates_grad(const struct encoding *c, const struct lanes *a, int b,
                             const double *dx, double jac, double *const *da, double *work)
{
    double *u = work + 4 * c->num_elements, *du = u + c->ncoord;
    for (int k = 0; k < c->ncoord; k++) {
        u[k] = c->mean[k] + c->sd[k] * a[k].p[(size_t)b * (size_t)a[k].step];
        du[k] = 0;
    }
    constrain_grad(c->domain, c->lo, c->hi, c->num_elements, u, work, dx, jac, du,
                   work + 2 * c->num_elements);
    for (int k = 0; k < c->ncoord; k++)
        if (da[k]) da[k][b] += c->sd[k] * du[k];
}

/* log |d coordinates / d x| from the coordinates */
static void jacobian_block(const void *self, const int *dim, int L, double *const *out,
                           const struct lanes *a, double *work)
{
    const struct encoding *c = self;
    double *x = work, *u = work + c->num_elements, scale = 0;
    (void)dim;
    for (int k = 0; k < c->ncoord; k++) scale += log(c->sd[k]);
    for (int b = 0; b < L; b++) {
        for (int k = 0; k < c->ncoord; k++)
            u[k] = c->mean[k] + c->sd[k] * a[k].p[(size_t)b * (size_t)a[k].step];
        out[0][b] = -scale - constrain(c->domain, c->lo, c->hi, c->num_elements, u, x);
    }
}

static void jacobian_grad(const void *self, const int *dim, int L, const double *const *out,
                          const double *const *dout, const struct lanes *a, double *const *da,
                          double *work)
{
    (void)dim, (void)out;
    for (int b = 0; b < L && da[0]; b++) coordinates_grad(self, a, b, NULL, -dout[0][b], da, work);
}

/* ---- instructions ------------------------------------------------------------------- */

static int is_plain(const struct encoding *c)
{
    if (c->kind == ENCODING_STATES) return 1;
    return c->kind == ENCODING_REAL && isinf(c->lo) && isinf(c->hi) &&
           (c->domain == REAL || c->domain == VECTOR);
}

static int is_two(const struct encoding *c) { return c->kind == ENCODING_STATES && c->states == 2; }

/* Has it coordinates, of those that compile_plain sees to?  Features of what has two states come
   from its element. */
static int wants_plain(const struct encoding *c, const unsigned char *want)
{
    return is_plain(c) && want[c->node] && (want[c->node] != 2 || !is_two(c));
}

/* All variables on the whole line, and all states, at once. */
static int compile_plain(struct encoding *encoding, int num_encodings, const unsigned char *want,
                         struct prog *p)
{
    int n = 0, at = (int)p->constant.n;
    for (int v = 0; v < num_encodings; v++)
        if (wants_plain(&encoding[v], want)) n += encoding[v].num_elements;
    int *row = arena_array(&p->mem, int, n + 1);
    if (!row) return NAMI_ENOMEM;
    if (!n) return 0;
    struct instr *x = prog_emit(p, I_MAP, n, 1);
    if (!x) return NAMI_ENOMEM;
    x->out = p->nrow;
    n = 0;
    for (int v = 0; v < num_encodings; v++) {
        struct encoding *c = &encoding[v];
        if (!wants_plain(c, want)) continue;
        c->coord = p->nrow;
        p->nrow += c->num_elements;
        for (int j = 0; j < c->num_elements; j++, n++) {
            row[n] = c->row[j];
            double mean = c->kind == ENCODING_STATES ? c->low : c->mean[j];
            if (vec_push(&p->constant, mean) || vec_push(&p->constant, c->sd[j]))
                return NAMI_ENOMEM;
        }
    }
    x->map = standard_map;
    x->self = &encoding_kernels[KERNEL_STANDARD];
    x->narg = 3;
    x->arg[0] = (struct operand){.m = 1, .idx = row};
    x->arg[1] = (struct operand){.is_const = 1, .m = 1, .base = at, .si = 2};
    x->arg[2] = (struct operand){.is_const = 1, .m = 1, .base = at + 1, .si = 2};
    return 0;
}

int encoding_encode(const struct encoding *c, struct prog *p)
{
    struct instr *x = prog_emit(p, I_BLOCK, 1, c->ncoord);
    if (!x) return NAMI_ENOMEM;
    x->out = c->coord;
    x->self = c;
    x->block = encoding_block;
    if (c->kind == ENCODING_REAL && !domains[c->domain].tied) x->block_grad = encoding_grad;
    x->nwork = c->num_elements + c->ncoord;
    x->narg = 1;
    x->arg[0] = (struct operand){.m = c->num_elements, .idx = c->row};
    return 0;
}

/* One row for each state of many; -1 and 1 for two. */
static int compile_states(const struct encoding *c, struct prog *p)
{
    struct instr *x = prog_emit(p, I_MAP, c->nfeature, 1);
    if (!x) return NAMI_ENOMEM;
    x->out = p->nrow;
    p->nrow += c->nfeature;
    x->narg = c->states == 2 ? 1 : 2;
    x->arg[0] = (struct operand){.m = 1, .base = c->coord};
    x->arg[1] = (struct operand){.is_const = 1, .m = 1, .base = (int)p->constant.n, .si = 1};
    x->map = c->states == 2 ? two_map : state_map;
    x->self = &encoding_kernels[c->states == 2 ? KERNEL_TWO : KERNEL_STATE];
    for (int s = 0; s < c->nfeature; s++)
        if (vec_push(&p->constant, s)) return NAMI_ENOMEM;
    return 0;
}

/* Which features are computed together: coordinates of numbers, and of what has two states. */
static int feature_group(const struct encoding *c, const unsigned char *want)
{
    if (!(want[c->node] & 2)) return -1;
    return c->kind != ENCODING_STATES ? 0 : is_two(c) ? 1 : 2;
}

/* One instruction for a group; features lie in rows of their own, from `first` on, and go to units
   in this order. */
static int compile_feature_group(struct encoding *encoding, int num_encodings,
                                 const unsigned char *want, int group, int first, struct prog *p)
{
    int n = 0;
    for (int v = 0; v < num_encodings; v++)
        if (feature_group(&encoding[v], want) == group) n += encoding[v].nfeature;
    int *row = arena_array(&p->mem, int, n + 1);
    struct instr *x = row && n ? prog_emit(p, I_MAP, n, 1) : NULL;
    if (!row || (n && !x)) return NAMI_ENOMEM;
    if (!n) return 0;
    int at = (int)p->constant.n;
    x->out = p->nrow;
    x->map = group ? standard_map : feature_map;
    x->self = &encoding_kernels[group ? KERNEL_STANDARD : KERNEL_FEATURE];
    x->signs = group;
    x->narg = group ? 3 : 1;
    x->arg[0] = (struct operand){.m = 1, .idx = row};
    x->arg[1] = (struct operand){.is_const = 1, .m = 1, .base = at, .si = 2};
    x->arg[2] = (struct operand){.is_const = 1, .m = 1, .base = at + 1, .si = 2};
    n = 0;
    for (int v = 0; v < num_encodings; v++) {
        struct encoding *c = &encoding[v];
        if (feature_group(c, want) != group) continue;
        c->feature = p->nunit + p->nrow - first;
        p->nrow += c->nfeature;
        for (int k = 0; k < c->nfeature; k++) row[n++] = group ? c->row[k] : c->coord + k;
        if (group && (vec_push(&p->constant, c->low + 0.5) || vec_push(&p->constant, 0.5)))
            return NAMI_ENOMEM; /* -1 and 1 */
    }
    return 0;
}

static int compile_features(struct encoding *encoding, int num_encodings, const unsigned char *want,
                            struct prog *p)
{
    int first = p->nrow, n;
    for (int group = 0; group < 2; group++)
        if (compile_feature_group(encoding, num_encodings, want, group, first, p))
            return NAMI_ENOMEM;
    for (int v = 0; v < num_encodings; v++) {
        struct encoding *c = &encoding[v];
        if (feature_group(c, want) != 2) continue;
        c->feature = p->nunit + p->nrow - first;
        if (compile_states(c, p)) return NAMI_ENOMEM;
    }
    n = p->nrow - first;
    if (!n) return 0;
    struct operand from = {.m = 1, .base = first, .si = 1};
    if (!prog_emit_units(p, n, from, p->nunit, 1)) return NAMI_ENOMEM;
    p->nunit += n;
    return 0;
}

int encodings_compile(struct encoding *encoding, int num_encodings, const unsigned char *want,
                      struct prog *p)
{
    int rc = compile_plain(encoding, num_encodings, want, p);
    for (int v = 0; v < num_encodings && !rc; v++)
        if (want[encoding[v].node] && !is_plain(&encoding[v])) {
            encoding[v].coord = p->nrow;
            p->nrow += encoding[v].ncoord;
            rc = encoding_encode(&encoding[v], p);
        }
    return rc ? rc : compile_features(encoding, num_encodings, want, p);
}

/* The elements of an instance from its coordinates */
static void decode_block(const void *self, const int *dim, int L, double *const *out,
                         const struct lanes *a, double *work)
{
    const struct encoding *c = self;
    double *x = work, *u = work + c->num_elements;
    (void)dim;
    for (int b = 0; b < L; b++) {
        for (int k = 0; k < c->ncoord; k++)
            u[k] = c->mean[k] + c->sd[k] * a[k].p[(size_t)b * (size_t)a[k].step];
        if (c->kind == ENCODING_STATES)
            x[0] = u[0] + c->low;
        else
            constrain(c->domain, c->lo, c->hi, c->num_elements, u, x);
        for (int j = 0; j < c->num_elements; j++) out[j][b] = x[j];
    }
}

static void decode_grad(const void *self, const int *dim, int L, const double *const *out,
                        const double *const *dout, const struct lanes *a, double *const *da,
                        double *work)
{
    const struct encoding *c = self;
    double *dx = work + c->num_elements;
    (void)dim, (void)out;
    for (int b = 0; b < L; b++) {
        int moves = 0; /* where no derivative comes in, none goes out: exp(u) may be infinite */
        for (int j = 0; j < c->num_elements; j++) moves |= (dx[j] = dout[j][b]) != 0;
        if (moves) coordinates_grad(c, a, b, dx, 0, da, work);
    }
}

int encoding_decode(const struct encoding *c, struct prog *p)
{
    struct instr *x = prog_emit(p, I_BLOCK, 1, c->num_elements);
    if (!x) return NAMI_ENOMEM;
    x->out = p->nrow;
    p->nrow += c->num_elements;
    x->self = c;
    x->block = decode_block;
    if (c->kind == ENCODING_REAL) x->block_grad = decode_grad;
    x->nwork = back_work(c);
    x->narg = 1;
    x->arg[0] = (struct operand){.m = c->ncoord, .base = c->coord, .sj = 1};
    struct operand from = {.m = 1, .base = p->nrow - c->num_elements, .si = 1},
                   to = {.m = 1, .idx = c->row};
    return prog_emit_copy(p, c->num_elements, from, to) ? 0 : NAMI_ENOMEM;
}

int encoding_feature(const struct encoding *c, int k, struct prog *p)
{
    int first = p->nrow, n = 1;
    struct instr *x;
    if (c->kind == ENCODING_STATES) {
        n = c->nfeature;
        if (compile_states(c, p)) return NAMI_ENOMEM;
    } else {
        if (!(x = prog_emit(p, I_MAP, 1, 1))) return NAMI_ENOMEM;
        x->out = p->nrow++;
        x->map = feature_map;
        x->self = &encoding_kernels[KERNEL_FEATURE];
        x->map_grad = feature_grad;
        x->narg = 1;
        x->arg[0] = (struct operand){.m = 1, .base = c->coord + k};
    }
    struct operand from = {.m = 1, .base = first, .si = 1};
    return prog_emit_units(p, n, from, c->feature + k, 1) ? 0 : NAMI_ENOMEM;
}

int encoding_jacobian(const struct encoding *c, struct prog *p, int tag)
{
    struct instr *x = prog_emit(p, I_BLOCK, 1, 1);
    if (!x) return NAMI_ENOMEM;
    x->self = c;
    x->block = jacobian_block;
    x->block_grad = jacobian_grad;
    x->blind = 1;
    x->nwork = back_work(c);
    x->narg = 1;
    x->arg[0] = (struct operand){.m = c->ncoord, .base = c->coord, .sj = 1};
    x->sum = 1;
    x->tag = tag;
    return 0;
}

void encoding_coordinates(const struct encoding *c, size_t n, const double *z, double *u,
                          double *work)
{
    double *x = work, *y = work + c->num_elements;
    for (size_t i = 0; i < n; i++) {
        for (int j = 0; j < c->num_elements; j++) x[j] = z[(size_t)c->row[j] * n + i];
        coordinates(c, x, y);
        for (int k = 0; k < c->ncoord; k++)
            u[(size_t)k * n + i] = clamp((y[k] - c->mean[k]) / c->sd[k]);
    }
}

enum encoding_kernel encoding_kernel_of(const struct instr *c)
{
    if (c->block == encoding_block) return KERNEL_COORDINATES;
    if (c->block == decode_block) return KERNEL_ELEMENTS;
    if (c->block == jacobian_block) return KERNEL_JACOBIAN;
    for (int k = 0; k < NKERNEL; k++)
        if (c->self == &encoding_kernels[k]) return encoding_kernels[k];
    return KERNEL_NONE;
}
