/* noncentered.c: log p(x, z) in noncentered coordinates.

   For z_i ~ normal(l_i, s_i), or another location-scale family, where l_i and s_i depend on other
   latents, the coordinate e_i = (z_i - l_i) / s_i is independent of these a priori.  Where the data
   say little of z_i, the posterior is a funnel in z and nearly spherical in e; where they say much,
   it is the other way round (Papaspiliopoulos, Roberts, Skold 2007, Statistical Science 22).

   The program is that of joint.c, with the instructions z = l + s e and log-Jacobian log s in front
   of the density of z.  They are found in the program itself, and its instructions are sorted so
   that rows are written before they are read.  Where that is impossible, as in a random walk, whose
   locations are values of the same instruction, latents stay centered. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "dist/dist.h"
#include "net/joint.h"

enum { PASSES = 100 };

/* ---- latents with a location-scale density ----------------------------------------------------
 */

/* `self` is a record of dist/ only if it is one of the table: forms have records of their own. */
static const struct dist *location_scale(const struct instr *c)
{
    for (int k = 0; dists[k] && c->sum && c->map; k++)
        if (c->self == dists[k])
            return c->map == dists[k]->logp && dists[k]->location && dists[k]->scale ? dists[k]
                                                                                     : NULL;
    return NULL;
}

static int moves(const struct prog *p, int row)
{
    for (size_t k = 0; k < p->moving.n; k++)
        if (row >= p->moving.a[k].from && row < p->moving.a[k].to) return 1;
    return 0;
}

static struct row_or_constant at(const struct operand *o, int i)
{
    return (struct row_or_constant){o->is_const, operand_at(o, i, 0)};
}

/* node_of[row]: the latent of this row, if it is an unbounded scalar; else -1. */
static int *unbounded(const struct joint *j)
{
    int *node_of = raw_array(int, j->coord + 1);
    for (int r = 0; r < j->coord && node_of; r++) node_of[r] = -1;
    for (int i = 0; i < j->q->inverse->nlatent && node_of; i++) {
        int v = j->q->inverse->perm[i];
        const struct encoding *e = &j->encoding[v];
        if (isinf(e->lo) && isinf(e->hi) && e->domain == REAL && e->num_elements == 1)
            node_of[e->row[0]] = v;
    }
    return node_of;
}

/* All of them, to j->scaled. */
static int find_scaled(struct joint *j)
{
    const struct prog *p = &j->prog;
    int *node_of = unbounded(j);
    j->scaled = arena_array(&j->prog.mem, struct scaled_latent, j->num_coordinates + 1);
    for (size_t k = 0; k < p->code.n && node_of && j->scaled; k++) {
        const struct instr *c = &p->code.a[k];
        const struct dist *d = location_scale(c);
        for (int i = 0; d && i < c->n && !c->arg[0].is_const; i++) {
            int r = operand_at(&c->arg[0], i, 0), v = r < j->coord ? node_of[r] : -1;
            struct row_or_constant scale = at(&c->arg[d->scale], i);
            if (v < 0 || scale.is_const || !moves(p, scale.at)) continue;
            const struct encoding *e = &j->encoding[v];
            j->scaled[j->num_scaled++] =
                (struct scaled_latent){.node = v,
                                       .row = r,
                                       .coordinate = e->coord - j->coord,
                                       .mean = e->mean[0],
                                       .unit = e->sd[0],
                                       .location = at(&c->arg[d->location], i),
                                       .scale = scale};
            node_of[r] = -1;
        }
    }
    int rc = node_of && j->scaled ? 0 : NAMI_ENOMEM;
    free(node_of);
    return rc;
}

/* ---- their instructions ------------------------------------------------------------------------
 */

static struct instr *emit(struct prog *p, const struct op *op, int n, struct operand a,
                          struct operand b)
{
    struct instr *c = prog_emit(p, I_MAP, n, 1);
    if (!c) return NULL;
    c->self = op;
    c->map = op->map;
    c->map_grad = op->map_grad;
    c->narg = op->min_arg;
    c->arg[0] = a;
    c->arg[1] = b;
    return c;
}

/* The results of the instruction c, n of them, in new rows. */
static struct operand results(struct prog *p, struct instr *c)
{
    c->out = p->nrow;
    p->nrow += c->n;
    return (struct operand){.m = 1, .base = c->out, .si = 1};
}

/* Argument k of the instances member[0] ..  of c. */
static int pick(struct prog *p, const struct instr *c, int k, int n, const int *member,
                struct operand *out)
{
    int *idx = arena_array(&p->mem, int, n);
    if (!idx) return NAMI_ENOMEM;
    for (int i = 0; i < n; i++) idx[i] = operand_at(&c->arg[k], member[i], 0);
    *out = (struct operand){.is_const = c->arg[k].is_const, .m = 1, .idx = idx};
    return 0;
}

/* latent = location + scale * coordinate for the instances of the density c that are noncentered.
 */
static int scale_latents(struct joint *j, struct instr c, const struct dist *d,
                         const int *coordinate)
{
    struct prog *p = &j->prog;
    struct operand location, scale, latent, product, sum;
    struct instr *x;
    int n = 0, *member = raw_array(int, c.n), *from = arena_array(&p->mem, int, c.n);
    int rc = member && from ? 0 : NAMI_ENOMEM;
    for (int i = 0; i < c.n && !rc; i++) {
        int r = operand_at(&c.arg[0], i, 0);
        if (r >= j->coord || coordinate[r] < 0) continue;
        from[n] = j->coord + coordinate[r];
        member[n++] = i;
    }
    if (!rc && n)
        rc = pick(p, &c, d->location, n, member, &location) ||
                     pick(p, &c, d->scale, n, member, &scale) || pick(p, &c, 0, n, member, &latent)
                 ? NAMI_ENOMEM
                 : 0;
    free(member);
    if (rc || !n) return rc;
    struct operand e = {.m = 1, .idx = from}, none = {0};
    if (!(x = emit(p, &op_mul, n, scale, e))) return NAMI_ENOMEM;
    product = results(p, x);
    if (!(x = emit(p, &op_add, n, location, product))) return NAMI_ENOMEM;
    sum = results(p, x);
    if (!prog_emit_copy(p, n, sum, latent)) return NAMI_ENOMEM;
    if (!(x = emit(p, &op_log, n, scale, none))) return NAMI_ENOMEM;
    x->blind = x->sum = 1;
    x->gradient_group = x->tag = GRADIENT_JACOBIAN;
    return 0;
}

static int scale_all(struct joint *j, const struct joint *centered)
{
    struct prog *p = &j->prog;
    int rc = 0, *coordinate = raw_array(int, j->coord + 1);
    vec(struct instr) code = {0};
    if (!coordinate) return NAMI_ENOMEM;
    for (int r = 0; r < j->coord; r++) coordinate[r] = -1;
    for (int i = 0; i < centered->num_scaled; i++)
        coordinate[centered->scaled[i].row] = centered->scaled[i].coordinate;
    for (size_t k = 0; k < p->code.n && !rc; k++) rc = vec_push(&code, p->code.a[k]);
    p->code.n = 0;
    for (size_t k = 0; k < code.n && !rc; k++) {
        const struct dist *d = location_scale(&code.a[k]);
        if (d && !code.a[k].arg[0].is_const) rc = scale_latents(j, code.a[k], d, coordinate);
        if (!rc) rc = vec_push(&p->code, code.a[k]);
    }
    vec_free(&code);
    free(coordinate);
    return rc ? NAMI_ENOMEM : 0;
}

/* ---- the order of instructions ----------------------------------------------------------------
 */

struct sorting {
    int *left; /* by row: instructions that write it, and are not in place yet */
    int wait;
};

static void add_writer(void *arg, enum instr_place place, int row)
{
    struct sorting *s = arg;
    if (place == PLACE_ROW) s->left[row]++;
}

static void remove_writer(void *arg, enum instr_place place, int row)
{
    struct sorting *s = arg;
    if (place == PLACE_ROW) s->left[row]--;
}

static void need(void *arg, enum instr_place place, int row)
{
    struct sorting *s = arg;
    if (place == PLACE_ROW && s->left[row]) s->wait = 1;
}

/* Passes over the instructions, which take those that are ready, in their order.  -> *kept: those
   in place; the others wait for each other. */
static int sort(struct prog *p, size_t *kept)
{
    struct sorting s = {.left = new_array(int, p->nrow + 1)};
    size_t n = p->code.n, had;
    struct instr *to = raw_array(struct instr, n + 1);
    unsigned char *done = new_array(unsigned char, n + 1);
    int rc = s.left && to && done ? 0 : NAMI_ENOMEM, pass = 0;
    *kept = 0;
    for (size_t k = 0; k < n && !rc; k++) instr_writes(&p->code.a[k], add_writer, &s);
    do {
        had = *kept;
        for (size_t k = 0; k < n && !rc; k++) {
            if (done[k]) continue;
            s.wait = 0;
            instr_reads(&p->code.a[k], need, &s);
            if (s.wait) continue;
            done[k] = 1;
            to[(*kept)++] = p->code.a[k];
            instr_writes(&p->code.a[k], remove_writer, &s);
        }
    } while (!rc && *kept > had && *kept < n && ++pass < PASSES);
    for (size_t k = 0, at = *kept; k < n && !rc; k++)
        if (!done[k]) to[at++] = p->code.a[k];
    if (!rc) memcpy(p->code.a, to, sizeof *to * n);
    free(s.left);
    free(to);
    free(done);
    return rc;
}

/* Latents whose instructions wait stay centered. */
static int drop(struct joint *j, const struct prog *p, size_t kept)
{
    unsigned char *placed = new_array(unsigned char, j->coord + 1);
    int n = 0;
    if (!placed) return NAMI_ENOMEM;
    for (size_t k = 0; k < kept; k++)
        for (int i = 0; instr_copies(&p->code.a[k]) && i < p->code.a[k].n; i++)
            if (operand_at(&p->code.a[k].outs, i, 0) < j->coord)
                placed[operand_at(&p->code.a[k].outs, i, 0)] = 1;
    for (int i = 0; i < j->num_scaled; i++)
        if (placed[j->scaled[i].row]) j->scaled[n++] = j->scaled[i];
    j->num_scaled = n < j->num_scaled ? n : 0;
    free(placed);
    return 0;
}

/* -> *kept: instructions that are in place. */
static int make(struct joint *to, const struct joint *j, size_t *kept)
{
    *to = (struct joint){.q = j->q};
    unsigned char *noncentered = new_array(unsigned char, bn_n(model_bn(j->q->model)) + 1);
    if (!noncentered) return NAMI_ENOMEM;
    for (int i = 0; i < j->num_scaled; i++) noncentered[j->scaled[i].node] = 1;
    int rc = joint_compile(to, noncentered);
    free(noncentered);
    if (!rc) rc = scale_all(to, j);
    return rc ? rc : sort(&to->prog, kept);
}

int joint_noncenter(struct joint *to, struct joint *j)
{
    *to = (struct joint){.q = j->q};
    j->num_scaled = 0;
    int rc = j->prog.nunit ? 0 : find_scaled(j), open = !rc;
    while (!rc && open && j->num_scaled) {
        size_t kept = 0;
        joint_free(to);
        rc = make(to, j, &kept);
        open = !rc && kept < to->prog.code.n;
        if (open) rc = drop(j, &to->prog, kept);
    }
    if (!rc && j->num_scaled) rc = prog_finish(&to->prog);
    return rc || !j->num_scaled ? rc : prog_trim(&to->prog);
}
