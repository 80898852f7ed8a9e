/* study_vae.c: section 3.1 and Appendix D.1: relaxed Bernoulli VAEs, mean field against a faithful
   inverse, at ten sizes of the inference network. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/rng.h"
#include "infer/ais.h"
#include "study/study_fit.h"

enum {
    LATENTS = 30,
    OUTPUTS = 2
}; /* outputs of a factor: a relaxed Bernoulli distribution has two parameters */

static const struct measure epoch_measures[] = {{"train", "-ELBO in nats, of the epoch's images"},
                                                {"test", "-ELBO of test images"},
                                                {NULL, NULL}};
enum { E_TRAIN, E_TEST, E_N };

static const struct measure end_measures[] = {
    {"parameters", "parameters of the inference network"},
    {"elbo", "-ELBO of the test images that are annealed"},
    {"ais", "-log p(x) of them, by annealed importance sampling"},
    {"ais_se", "standard error of its mean, from the chains being finitely many"},
    {"gap", "elbo - ais: the variational gap"},
    {"accept", "share of AIS's moves that were accepted"},
    {NULL, NULL}};

/* ---- images -------------------------------------------------------------------------------- */

enum { SIDE = 8, PIXELS = SIDE * SIDE };

/* Bars: each row and each column of 8 x 8 pixels is on or off; some pixels are flipped. */
static int draw_bars(struct records *r, size_t n, uint64_t seed, nami_err *err)
{
    unsigned char *x = raw_array(unsigned char, n *PIXELS);
    *r = (struct records){.ndim = 1, .dim = {PIXELS}, .n = n, .k = PIXELS, .x = x};
    if (!x) return err_nomem(err);
    for (int b = 0; b < 256; b++) r->byte[b] = b;
    for (size_t i = 0; i < n; i++) {
        struct rng g;
        int bar[2 * SIDE];
        rng_init(&g, seed, i);
        for (int k = 0; k < 2 * SIDE; k++) bar[k] = rng_unit(&g) < 0.15;
        for (int k = 0; k < PIXELS; k++) {
            int on = bar[k / SIDE] | bar[SIDE + k % SIDE];
            *x++ = (unsigned char)(rng_unit(&g) < 0.02 ? !on : on);
        }
    }
    return 0;
}

/* FILE.npz with binary images `train` and `test`, or a folder with MNIST's files, which are
   binarized at random once; none: bars. */
static int read_images(const struct job *j, int test, struct records *r, nami_err *err)
{
    struct str path = {0};
    const char *data = j->data;
    const struct settings *t = j->s;
    int most = t->judge > t->sets ? t->judge : t->sets;
    size_t want = (size_t)(test ? most : t->steps * t->batch);
    if (!data) return draw_bars(r, want, test ? 2 : 1, err);
    int npz = str_ends(data, strlen(data), ".npz");
    if (npz)
        str_printf(&path, "%s:%s", data, test ? "test" : "train");
    else
        str_printf(&path, "%s/%s-images-idx3-ubyte", data, test ? "t10k" : "train");
    nami_err why = {0};
    int rc = path.oom ? err_nomem(&why) : records_read(r, path.s, "x", &why);
    if (!rc) rc = records_binarise(r, 0, &why);
    if (!rc && r->n < want)
        rc = err_set(&why, NAMI_EINPUT, "%zu images are there, but %zu are wanted", r->n, want);
    if (rc) {
        err_in_file(err, path.oom ? data : path.s, &why);
        records_free(r);
    } else {
        r->n = want;
    }
    str_free(&path);
    return rc;
}

/* ---- a job ---------------------------------------------------------------------------------- */

struct vae {
    struct fit f;
    struct feeds test;
    int *index; /* of images, in the order of an epoch; then 0, 1, ... of test images */
    int pixels;
};

/* The approximate fraction of the time of a job spent in training: a training gradient involves two
   networks, one of AIS only that of the model. */
static double training(const struct settings *s)
{
    double train = 2.0 * s->epochs * s->steps * s->batch;
    return train / (train + (double)s->sets * s->chains * s->temps * s->leapfrog);
}

/* Width of the mean-field network that a variant is compared with. */
static int size(const struct job *j) { return (int)j->v->at * j->s->percent / 100; }

static int vae_text(const struct job *j, int pixels, struct str *out)
{
    int hidden = j->s->percent * 2; /* 200 */
    str_printf(
        out,
        "network dec : real[%d] -> real[%d] { dense(%d, tanh); dense(%d, tanh); dense(%d) }\n"
        "model {\n  for (l in 1:%d) { h[l] ~ relaxed_bernoulli(0.5, 0.5) }\n"
        "  a[1:%d] <- dec(h[1:%d])\n  for (p in 1:%d) { x[p] ~ bernoulli_logit(a[p]) }\n}\n"
        "observe x\nlearn dec\n",
        LATENTS, pixels, hidden, hidden, pixels, LATENTS, pixels, LATENTS, pixels);
    if (j->v->encoder)
        str_printf(out, "embed x { dense(%d, tanh); dense(%d, tanh) }\n", size(j), size(j));
    return out->oom ? NAMI_ENOMEM : 0;
}

static int feed(struct feeds *f, const struct model *m, struct records *r, nami_err *err)
{
    int array = model_find_array(m, "x", 1);
    return array < 0 ? err_set(err, NAMI_EBUG, "the model has no x")
                     : feeds_add(f, m, array, r, err);
}

/* The number of parameters of a mean-field network with two hidden layers of h units, which other
   networks are sized to match. */
static int wanted(const struct vae *v, int h)
{
    return (v->pixels + 1) * h + (h + 1) * h + (h + 1) * LATENTS * OUTPUTS;
}

static int vae_make(struct vae *v, const struct job *j, nami_err *err)
{
    struct records train = {0}, test = {0};
    struct fit *f = &v->f;
    struct str text = {0};
    int rc = read_images(j, 0, &train, err);
    if (!rc) rc = read_images(j, 1, &test, err);
    v->pixels = (int)train.k;
    if (!rc) rc = vae_text(j, v->pixels, &text) ? err_nomem(err) : fit_model(f, text.s, err);
    str_free(&text);
    if (!rc) rc = feed(&f->r.feeds, f->r.net.model, &train, err);
    if (!rc) rc = feed(&v->test, f->r.net.model, &test, err);
    if (!rc) rc = split_make(&f->r.split, f->r.feeds.n, "rest", 0, 0, err);
    f->r.net.plan.elbo = 1;
    if (!rc) rc = fit_invert(f, j, err);
    if (!rc) rc = fit_network(f, j, j->v->fit ? wanted(v, size(j)) : 0, err);
    records_free(&train);
    records_free(&test);
    size_t n = f->r.feeds.n > v->test.n ? f->r.feeds.n : v->test.n;
    v->index = raw_array(int, n + 1);
    return !rc && !v->index ? err_nomem(err) : rc;
}

static void vae_free(struct vae *v)
{
    fit_free(&v->f);
    feeds_free(&v->test);
    free(v->index);
}

/* Minus the ELBO of the first n test images, with one draw each. */
static double bound(struct vae *v, const struct job *j, int n, uint64_t number)
{
    double sum = 0;
    for (int i = 0; i < n; i++) v->index[i] = i;
    for (int i = 0; i < n; i += j->s->batch) {
        int count = n - i < j->s->batch ? n - i : j->s->batch;
        struct batch b = {.feeds = &v->test, .index = v->index + i, .count = count};
        b.seed = fit_seed(j, FIT_TEST) + (number << 32);
        b.first = (uint64_t)(i / j->s->batch) * trainer_stride(&v->f.t);
        trainer_loss(&v->f.t, &b);
        sum += v->f.t.total * count;
    }
    return sum / n;
}

static void epoch(struct vae *v, const struct job *j, int at, double *value)
{
    struct rng r;
    int n = (int)v->f.r.feeds.n, steps = n / j->s->batch, used = 0;
    double sum = 0;
    rng_init(&r, fit_seed(j, FIT_DRAWS), (uint64_t)at);
    for (int i = 0; i < n; i++) v->index[i] = i;
    rng_shuffle(&r, v->index, n);
    for (int k = 0; k < steps; k++) {
        uint64_t step = (uint64_t)at * (uint64_t)steps + (uint64_t)k;
        struct batch b = {.feeds = &v->f.r.feeds,
                          .index = v->index + (size_t)k * (size_t)j->s->batch};
        b.seed = fit_seed(j, FIT_TRAIN);
        b.first = step * trainer_stride(&v->f.t);
        fit_step(&v->f, &b, fit_rate(j->s, at));
        if (isfinite(v->f.t.total)) sum += v->f.t.total, used++;
    }
    value[E_TRAIN] = used ? sum / used : NAN;
    value[E_TEST] = bound(v, j, j->s->judge, (uint64_t)at);
}

/* ---- at the end -------------------------------------------------------------------------------
 */

struct annealed {
    double mean, var, accept; /* of log p(x) over images */
};

/* In blocks of images: it takes long. */
static int anneal(struct vae *v, struct job *j, const struct ais *s, struct annealed *a,
                  nami_err *err)
{
    enum { BLOCK = 8 };
    size_t n = (size_t)j->s->sets, per = (size_t)j->s->chains,
           rows = (size_t)model_num_rows(v->f.r.net.model);
    struct diagnostics found[BLOCK];
    double accept[BLOCK] = {0}, *x = raw_array(double, rows *n),
           *logw = raw_array(double, BLOCK *per);
    struct query q = {.x = x, .nset = n, .per = per, .seed = fit_seed(j, FIT_JUDGE)};
    int rc = x && logw ? 0 : err_nomem(err);
    *a = (struct annealed){0};
    for (size_t i = 0; i < n && !rc; i++) feeds_copy(&v->test, i, x + i, n);
    for (size_t i = 0; i < n && !rc; i += BLOCK) {
        size_t k = n - i < BLOCK ? n - i : BLOCK;
        struct ais_out out = {logw, found, accept};
        rc = ais_sets(s, &q, i, k, 1, &out, err);
        for (size_t b = 0; b < k && !rc; b++) {
            a->mean += found[b].log_z / (double)n;
            a->var += found[b].log_se * found[b].log_se / (double)(n * n);
            a->accept += accept[b] / (double)n;
        }
        if (!rc) rc = job_part(j, 1 - (1 - training(j->s)) * (double)(n - i - k) / (double)n);
    }
    free(x);
    free(logw);
    return rc;
}

static int ends(struct vae *v, struct job *j, nami_err *err)
{
    enum { PASSES = 20 };
    struct ais s;
    struct ais_options o = {AIS_PRIOR, j->s->temps, j->s->leapfrog};
    struct annealed a;
    double elbo = 0;
    for (int k = 0; k < PASSES; k++)
        elbo += bound(v, j, j->s->sets, (uint64_t)(1 << 20) + (uint64_t)k) / PASSES;
    elbo_model(&v->f.r.net.elbo, v->f.t.param);
    int rc = ais_init(&s, &v->f.a, &o, err);
    if (!rc) rc = anneal(v, j, &s, &a, err);
    ais_fini(&s);
    if (rc) return rc;
    job_end(j, "parameters", (double)v->f.r.net.q.prog.nparam);
    job_end(j, "elbo", elbo);
    job_end(j, "ais", -a.mean);
    job_end(j, "ais_se", sqrt(a.var));
    job_end(j, "gap", elbo + a.mean);
    job_end(j, "accept", a.accept);
    return 0;
}

static int vae_run(struct job *j, nami_err *err)
{
    struct vae v = {0};
    double value[E_N], saved = clock_now();
    int first = 0;
    int rc =
        !j->data && j->s->percent == 100
            ? err_set(err, NAMI_EUSAGE,
                      "it learns from MNIST: the data must be a directory with its files "
                      "(scripts/mnist.sh fetches them), or a .npz file with binary images 'train' "
                      "and 'test'")
            : vae_make(&v, j, err);
    if (!rc) rc = fit_load(&v.f, j, &first, err);
    for (int i = first; i < j->s->epochs && !rc; i++) {
        epoch(&v, j, i, value);
        rc = job_epoch(j, value, err);
        job_part(j, training(j->s) * (i + 1) / j->s->epochs);
        if (rc < 0 || (!rc && clock_now() - saved < j->in->opt.save && i + 1 < j->s->epochs))
            continue;
        int bad = fit_save(&v.f, j, err);
        if (bad) rc = bad;
        saved = clock_now();
    }
    if (!rc) rc = ends(&v, j, err);
    vae_free(&v);
    return rc;
}

/* ---- what is compared ------------------------------------------------------------------------ */

#define NETWORK(family_, skip_)                                                                    \
    {                                                                                              \
        .family = family_, .arch = &arch_made, .nhidden = 2, .hidden = {1, 1}, .act = ACT_TANH,    \
        .skip = skip_                                                                              \
    }
#define MEAN_FIELD(n)                                                                              \
    {                                                                                              \
        .name = "mean-field-" #n, .what = "mean field", .method = "mean-field",                    \
        .net = NETWORK(&family_match, 0), .at = n, .cost = 300 + n, .fit = 1                       \
    }
#define FAITHFUL(n)                                                                                \
    {                                                                                              \
        .name = "faithful-" #n, .what = "faithful: fully connected, masked network",               \
        .method = "nami", .net = NETWORK(&family_match, 1), .at = n, .cost = 300 + n, .fit = 1     \
    }
#define BOTH(n) MEAN_FIELD(n), FAITHFUL(n)

static const struct variant variants[] = {BOTH(100),
                                          BOTH(200),
                                          BOTH(300),
                                          BOTH(400),
                                          BOTH(500),
                                          BOTH(600),
                                          BOTH(700),
                                          BOTH(800),
                                          BOTH(900),
                                          BOTH(1000),
                                          {.name = "spline-500",
                                           .what = "faithful, splines",
                                           .ours = 1,
                                           .method = "nami",
                                           .net = NETWORK(&family_spline, 0),
                                           .at = 500,
                                           .cost = 1100,
                                           .fit = 1},
                                          {.name = "encoder-500",
                                           .what = "faithful, behind an encoder of two layers",
                                           .ours = 1,
                                           .method = "nami",
                                           .net = {.family = &family_match,
                                                   .arch = &arch_made,
                                                   .nhidden = 1,
                                                   .hidden = {4 * LATENTS},
                                                   .act = ACT_TANH,
                                                   .skip = 1},
                                           .at = 500,
                                           .cost = 800,
                                           .encoder = 1},
                                          {0}};

static const struct claim claims[] = {
    {"At every size the faithful network has a lower -ELBO", CLAIM_LESS, "elbo", "faithful-*",
     "mean-field-*"},
    {"... and a lower -AIS: a better model", CLAIM_LESS, "ais", "faithful-*", "mean-field-*"},
    {"The gap of the faithful network falls with its size", CLAIM_FALLS, "gap", "faithful-*", NULL},
    {"The gap of the mean-field network rises with its size", CLAIM_RISES, "gap", "mean-field-*",
     NULL},
    {"Ours: its gap is smaller at every size", CLAIM_LESS, "gap", "faithful-*", "mean-field-*"},
    {"Ours: splines close more of the gap than relaxed Bernoulli factors", CLAIM_LESS, "gap",
     "spline-500", "faithful-500"},
    {"Ours: an encoder that all factors have in common, instead of masks: a lower -ELBO",
     CLAIM_LESS, "elbo", "encoder-500", "faithful-500"},
    {"Ours: ... and lower than that of mean field", CLAIM_LESS, "elbo", "encoder-500",
     "mean-field-500"},
    {0}};

static const struct study_figure figures[] = {
    {"elbo", "-ELBO of test images, nats", "elbo", 1, 1, 0, "parameters"},
    {"ais", "-log p(x) of test images by AIS, nats", "ais", 1, 1, 0, "parameters"},
    {"gap", "Variational gap, nats", "gap", 1, 1, 0, "parameters"},
    {0}};

const struct experiment study_vae = {
    .name = "vae",
    .what = "relaxed Bernoulli VAEs (section 3.1)",
    .epoch = epoch_measures,
    .end = end_measures,
    .variant = variants,
    .quick = {.epochs = 40,
              .steps = 10,
              .batch = 100,
              .rate = 2e-3,
              .sets = 16,
              .judge = 200,
              .temps = 100,
              .chains = 5,
              .leapfrog = 10,
              .percent = 50},
    .full = {.epochs = 1000,
             .steps = 500,
             .batch = 100,
             .rate = 1e-4,
             .sets = 500,
             .judge = 1000,
             .temps = 5000,
             .chains = 5,
             .leapfrog = 10,
             .percent = 100},
    .run = vae_run,
    .claim = claims,
    .figure = figures,
    .remarks =
        "With quick settings, images are bars of 8 x 8 pixels, and all networks half their size. "
        "The "
        "temperature of q's relaxed Bernoulli factors is learnt (the paper fixes 2/3). Masked "
        "networks have as many units as give the parameters of the mean-field network of that "
        "size; those of `faithful` have skips. With one run, pairs are the ten sizes."};
