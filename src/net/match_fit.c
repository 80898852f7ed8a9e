/* match_fit.c: maximum likelihood for any distribution of numbers by numbers.

   The parameters t of the fit are the outputs of an output distribution with shift `centre` and
   scale `unit`.  From the best point of a coarse grid, BFGS with backtracking (Nocedal and Wright
   2006, algorithm 6.1) climbs the mean log density of the draws, less a little of t^2: the evidence
   of a hundredth of a draw, which keeps t finite where all draws are equal. */
#include "base/vec.h"
#include "net/family_impl.h"

enum { TILE = 256, STEPS = 100, FAR = 40 };

struct fit {
    struct output_dist *h;
    const double *draw;
    int n, nt, arg[RECORD_ARGS];                 /* t[j] is argument arg[j] */
    double centre[RECORD_ARGS], unit[RECORD_ARGS]; /* of t */
    double square[RECORD_ARGS];                  /* the mean squared derivatives of the last call */
};

/* The draws that the distribution could have made, from draw[*i] on, to x; *i moves. */
static int valid(const struct fit *f, int *i, double *x)
{
    int c = 0;
    for (; *i < f->n && c < TILE; ++*i)
        if (domain_holds(f->h->dist->domain, &f->draw[*i], 1)) x[c++] = f->draw[*i];
    return c;
}

/* The sum of log densities of x[c]; their derivatives, and the squares of these, are added. */
static double tile(struct fit *f, int c, const double *x, double *g)
{
    const double zero = 0;
    double lq[TILE], one[TILE], d[RECORD_ARGS][TILE] = {{0}}, *da[1 + RECORD_ARGS] = {NULL}, sum = 0;
    struct lanes a[1 + RECORD_ARGS] = {{x, 1}};
    int dim[] = {1, f->nt};
    for (int j = 0; j < f->nt; j++) {
        a[1 + j] = (struct lanes){&zero, 0};
        da[1 + j] = d[j];
    }
    family_match.logq(f->h, dim, c, (double *[]){lq}, a, NULL);
    for (int b = 0; b < c; b++) sum += lq[b];
    if (!g) return sum;
    for (int b = 0; b < c; b++) one[b] = 1;
    family_match.grad(f->h, dim, c, (const double *[]){lq}, (const double *[]){one}, a, da, NULL);
    for (int j = 0; j < f->nt; j++)
        for (int b = 0; b < c; b++) {
            g[j] += d[j][b];
            f->square[j] += d[j][b] * d[j][b];
        }
    return sum;
}

/* What BFGS makes small: minus the mean log density at t, with the ridge, and its gradient unless g
   is NULL; INFINITY where either is no number, or t is far out. */
static double loss(struct fit *f, const double *t, double *g)
{
    double x[TILE], sum = 0, total = 0, ridge = 0;
    for (int j = 0; j < f->nt; j++) {
        if (!(fabs(t[j]) <= FAR)) return INFINITY;
        f->h->shift[f->arg[j]] = f->centre[j] + f->unit[j] * t[j];
        f->h->scale[f->arg[j]] = f->unit[j];
        f->square[j] = 0;
        if (g) g[j] = 0;
    }
    for (int i = 0, c; (c = valid(f, &i, x)) > 0; total += c) sum += tile(f, c, x, g);
    for (int j = 0; j < f->nt; j++) {
        ridge += 0.005 * t[j] * t[j];
        f->square[j] /= total;
        if (g) g[j] = (0.01 * t[j] - g[j]) / total;
        if (g && !is_real(g[j])) sum = NAN;
    }
    return is_real(sum) ? (ridge - sum) / total : INFINITY;
}

static double dot(int n, const double *x, const double *y)
{
    double s = 0;
    for (int j = 0; j < n; j++) s += x[j] * y[j];
    return s;
}

/* H <- (1 - r s y') H (1 - r y s') + r s s',  r = 1 / s'y */
static void update(int n, double H[][RECORD_ARGS], const double *s, const double *y)
{
    double Hy[RECORD_ARGS], r = 1 / dot(n, s, y), yHy;
    for (int i = 0; i < n; i++) Hy[i] = dot(n, H[i], y);
    yHy = dot(n, y, Hy);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            H[i][j] += r * ((1 + r * yHy) * s[i] * s[j] - Hy[i] * s[j] - s[i] * Hy[j]);
}

/* From t to a minimum nearby; the loss there. */
static double bfgs(struct fit *f, double *t)
{
    int n = f->nt;
    double g[RECORD_ARGS], H[RECORD_ARGS][RECORD_ARGS], now = loss(f, t, g);
    bool fresh = true; /* H is diagonal: the inverse of the draws' squared derivatives */
    for (int step = 0; step < STEPS && is_real(now); step++) {
        double p[RECORD_ARGS], s[RECORD_ARGS], y[RECORD_ARGS], t2[RECORD_ARGS], g2[RECORD_ARGS];
        double next = INFINITY, by = 1;
        for (int i = 0; i < n && fresh; i++)
            for (int j = 0; j < n; j++) H[i][j] = i == j ? 1 / (f->square[j] + 1e-6) : 0;
        for (int i = 0; i < n; i++) p[i] = -dot(n, H[i], g);
        double slope = dot(n, g, p), most = sqrt(dot(n, p, p));
        if (-slope < 1e-9) break; /* about twice what there is to win */
        if (most > 4) by = 4 / most;
        for (int half = 0; half < 40; half++, by *= 0.5) {
            for (int i = 0; i < n; i++) t2[i] = t[i] + by * p[i];
            next = loss(f, t2, g2);
            if (next <= now + 1e-4 * by * slope) break;
        }
        if (!(next < now)) {
            if (fresh) break;
            loss(f, t, g); /* for the squares */
            fresh = true;
            continue;
        }
        for (int i = 0; i < n; i++) {
            s[i] = t2[i] - t[i];
            y[i] = g2[i] - g[i];
            t[i] = t2[i];
            g[i] = g2[i];
        }
        now = next;
        if (dot(n, s, y) > 1e-12 * sqrt(dot(n, s, s) * dot(n, y, y))) {
            update(n, H, s, y);
            fresh = false;
        }
    }
    return now;
}

/* Median and spread (that of a Gaussian with the same quartiles) of some of the draws, or of their
   logarithms. */
static int quartiles(const struct fit *f, int logs, double *median, double *spread)
{
    double x[TILE];
    int i = 0, c = valid(f, &i, x);
    if (c < 2) return -1;
    for (int b = 0; b < c && logs; b++) x[b] = log(x[b]);
    sort_doubles(x, (size_t)c);
    *median = x[c / 2];
    *spread = (x[3 * c / 4] - x[c / 4]) / 1.349;
    if (!(*spread > 0)) *spread = (x[c - 1] - x[0]) / 4;
    if (!(*spread > 0)) *spread = 1;
    return 0;
}

/* Is argument k a location of real values?  Its scale follows it; a real argument at the end is a
   shape, as of skew_normal. */
static bool is_location(const struct dist *d, int k)
{
    return !domains[d->domain].discrete && d->arg[k].domain == REAL && k + 1 < d->narg;
}

static bool is_varied(const struct fit *f, int j)
{
    const struct dist *d = f->h->dist;
    return d->arg[f->arg[j]].domain != REAL ||
           (!domains[d->domain].discrete && !is_location(d, f->arg[j]));
}

/* t <- the best of the points whose arguments are such powers of e, or the draws' spread or its
   inverse.  Locations stay at their centre. */
static void start(struct fit *f, double spread, double *t)
{
    const double try[] = {-3, -1, 1, 3, 6, log(spread), -log(spread)};
    enum { TRIES = sizeof try / sizeof *try };
    struct fit some = *f;
    double best = INFINITY;
    int points = 1;
    if (some.n > TILE) some.n = TILE;
    for (int j = 0; j < f->nt; j++)
        if (is_varied(f, j)) points *= TRIES;
    for (int i = 0; i < points; i++) {
        double at[RECORD_ARGS] = {0}, here;
        for (int j = 0, r = i; j < f->nt; j++)
            if (is_varied(f, j)) {
                at[j] = fmax(-FAR, fmin(FAR, try[r % TRIES]));
                r /= TRIES;
            }
        here = loss(&some, at, NULL);
        if (here < best || i == 0) {
            best = here;
            memcpy(t, at, sizeof at);
        }
    }
}

int match_fit(struct output_dist *h, const struct dist *d, int n, const double *draw)
{
    struct fit f = {.h = h, .draw = draw, .n = n};
    double fixed = h->fixed, median = 0, spread = 1, t[RECORD_ARGS] = {0};
    int real_value = !domains[d->domain].discrete, logs = real_value && domains[d->domain].lo == 0;
    *h = (struct output_dist){.family = &family_match, .dist = d, .fixed = fixed};
    if (!d->logp) return 1;
    for (int k = 0; k < d->narg; k++)
        if (!domains[d->arg[k].domain].discrete) f.arg[f.nt++] = k;
    /* at most one integer; and what it does not explain about the support is up to the outputs */
    if (f.nt == 0 || d->narg - f.nt > 1 || (d->bounds && f.nt == d->narg)) return 1;
    if (quartiles(&f, logs, &median, &spread)) return 1;
    for (int j = 0; j < f.nt; j++) {
        bool place = is_location(d, f.arg[j]);
        f.centre[j] = place ? median : 0;
        f.unit[j] = place ? spread : isinf(domains[d->arg[f.arg[j]].domain].hi) ? 1 : 10. / FAR;
    }
    quartiles(&f, 0, &median, &spread);
    start(&f, spread, t);
    if (!is_real(bfgs(&f, t))) return 1;
    double g[RECORD_ARGS];
    loss(&f, t, g);
    for (int j = 0; j < f.nt; j++) { /* a real argument moves by what the draws vary by */
        bool place = is_location(d, f.arg[j]) && f.square[j] > 0;
        h->scale[f.arg[j]] = place ? f.unit[j] / sqrt(f.square[j]) : 1;
    }
    return 0;
}
