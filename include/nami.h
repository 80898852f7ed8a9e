/* nami.h: the public interface of NaMI.

   A structure is read (nami_bn_read), inverted (nami_invert), and asked
   (nami_inverse_*).  A model is read (nami_model_read), drawn from, and
   evaluated; its structure can be inverted too; a network for its inverse is
   trained (nami_trainer_*).  Every call that can fail returns 0 or a negative
   code and fills `err` (which may be NULL).  Objects come from _read/_new calls
   and go back through _free, which accepts NULL.  No call prints, exits or keeps
   global state; one object must not be used by two threads at once. */

#ifndef NAMI_H
#define NAMI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__ /* the libraries show these functions and hide all others */
#pragma GCC visibility push(default)
#endif

#define NAMI_VERSION "0.1.0"

/* ---- errors ------------------------------------------------------------ */

#define NAMI_ERRORS(X)                                                                             \
    X(NAMI_ENOMEM, -1, "out of memory")                                                            \
    X(NAMI_EINPUT, -2, "bad input")                                                                \
    X(NAMI_EFILE, -3, "cannot read or write a file")                                               \
    X(NAMI_EUSAGE, -4, "bad option or argument")                                                   \
    X(NAMI_ELIMIT, -5, "too large for this operation")                                             \
    X(NAMI_EBUG, -6, "internal error")

#define NAMI_X(name, code, text) name = code,
enum { NAMI_ERRORS(NAMI_X) NAMI_OK = 0 };
#undef NAMI_X

typedef struct {
    int code;      /* 0 or one of the codes above */
    int line, col; /* place in the input, from 1; 0 if there is none */
    char msg[512]; /* one sentence: what is wrong, then what to do */
} nami_err;

const char *nami_strerror(int code);
const char *nami_version(void);

/* ---- structures --------------------------------------------------------- */

/* A Bayesian-network structure: named nodes, edges, which nodes are observed,
   and the probability tables where the file had them. */
typedef struct bn nami_bn;

/* Reads `path` ("-": standard input).  `format` is a name of `nami list
   formats`, or NULL to choose by the file's ending and content. */
int nami_bn_read(const char *path, const char *format, nami_bn **out, nami_err *err);
int nami_bn_parse(const char *text, size_t len, const char *format, nami_bn **out, nami_err *err);
int nami_bn_write(const nami_bn *bn, const char *path, const char *format, nami_err *err);
void nami_bn_free(nami_bn *bn);

int nami_bn_size(const nami_bn *bn);
const char *nami_bn_name(const nami_bn *bn, int node);
int nami_bn_find(const nami_bn *bn, const char *name); /* a node, or -1 */
int nami_bn_parents(const nami_bn *bn, int node, const int **parents);
int nami_bn_observed(const nami_bn *bn, int node);
/* `what` is "a,b[1:3]", "@FILE" with one name a line, "sinks", or "none". */
int nami_bn_observe(nami_bn *bn, const char *what, nami_err *err);
/* Latents that are wanted; the others become nuisances: summed out, no factor. */
int nami_bn_infer(nami_bn *bn, const char *what, nami_err *err);
/* "z1,z2;y": all of z1, z2 are eliminated before any of y. */
int nami_bn_stages(nami_bn *bn, const char *what, nami_err *err);
/* 1 if a and b encode the same independencies, 0 if not (why: a sentence). */
int nami_bn_equivalent(const nami_bn *a, const nami_bn *b, char *why, size_t len, nami_err *err);

/* ---- inversion ---------------------------------------------------------- */

typedef struct {
    const char *method;    /* NULL: "nami"; see `nami list methods` */
    const char *mode;      /* NULL: "best"; forward, reverse, best, free */
    const char *criterion; /* NULL: "min-fill"; see `nami list criteria` */
    const char *verify;    /* NULL: "auto"; full, sample, none */
    int keep_barren;       /* treat barren latents as ordinary ones */
    int restarts;          /* extra runs with ties broken at random */
    uint64_t seed;
} nami_options; /* all zero is a good default */

typedef struct inverse nami_inverse;

int nami_invert(const nami_bn *bn, const nami_options *opt, nami_inverse **out, nami_err *err);
void nami_inverse_free(nami_inverse *inv);

const char *nami_inverse_mode(const nami_inverse *inv);
int64_t nami_inverse_edges(const nami_inverse *inv); /* into network factors */
int64_t nami_inverse_width(const nami_inverse *inv); /* largest parent set */
/* The order of elimination: the factors to sample are its reverse. */
int nami_inverse_order(const nami_inverse *inv, const int **nodes);
/* Parents of a latent: how many; writes at most `cap` of them to out. */
int64_t nami_inverse_parents(const nami_inverse *inv, int node, int *out, int64_t cap);
/* 1 if the node's factor is the model's own conditional, 0 for a network, -1 for none. */
int nami_inverse_is_model(const nami_inverse *inv, int node);
/* What was proved: 1 yes, 0 no, -1 not checked. */
int nami_inverse_faithful(const nami_inverse *inv);
int nami_inverse_minimal(const nami_inverse *inv);
int nami_inverse_natural(const nami_inverse *inv);

/* ---- models -------------------------------------------------------------- */

/* A model in the model language (docs/language.md), with its data. */
typedef struct nami_model nami_model;

typedef struct {
    const char *const *data; /* data files: JSON or R dump; the first data set counts */
    int ndata;
    const char *const *set; /* "name=number": constants, instead of the file's values */
    int nset;
    const char *observe; /* as of nami_bn_observe, instead of what the file says; or NULL */
} nami_model_options;    /* all zero: the model alone */

/* Reads a model file (.bug .bugs .jags .txt: as JAGS; else NaMI's own).  `opt` may be NULL.
   *out is set even if the file is wrong (NAMI_EINPUT), so that nami_model_messages can tell
   all there is to say; such a model knows nothing else: the calls below then give 0, -1, NULL
   or NAMI_EUSAGE.  Free it in any case; *out is NULL only if memory ran out.  err holds the
   first of the errors; if it is not in the model's text (a file that is not there, broken data),
   there are no messages, and err->msg begins with the file's name. */
int nami_model_read(const char *path, const nami_model_options *opt, nami_model **out,
                    nami_err *err);
void nami_model_free(nami_model *model);

/* All errors and warnings as text for people, with places and advice; "" if there is none.
   The text is the model's. */
const char *nami_model_messages(const nami_model *model);

/* The graph over the random variables, for nami_invert and the nami_bn_* questions. It is
   the model's: do not free it. */
const nami_bn *nami_model_structure(const nami_model *model);

/* The program or plug-in that the model file names after `simulator`, which every call that draws
   from the model runs; NULL if it names none. */
const char *nami_model_simulator(const nami_model *model);

/* Scalars: every element of every variable that is not constant, random (~) or computed from
   random ones (<-).  They are numbered 0 ... size - 1: variables in a fixed order, each with
   its elements in row-major order (the last subscript runs fastest). */
int nami_model_size(const nami_model *model);
const char *nami_model_scalar_name(const nami_model *model, int scalar); /* "mu", "y[2,3]" */
int nami_model_scalar_find(const nami_model *model, const char *name);   /* or -1 */
/* The node of the structure that a scalar belongs to; -1 if it is computed. */
int nami_model_scalar_node(const nami_model *model, int scalar);

/* Points.  n points are an array double x[size * n] with scalar s of point i at
   x[s * n + i]: all points of one scalar lie side by side. */

/* Draws points 0 ... n - 1 from the joint distribution of all random variables; observed ones
   are drawn too.  Point i depends on (seed, i) alone, for any n and any number of threads (if
   the model has a simulator: as far as the simulator keeps to that).
   threads 0: as many as there are processors. */
int nami_model_simulate(const nami_model *model, uint64_t seed, size_t n, int threads, double *x,
                        nami_err *err);

/* logp[i] = log p(point i), with all normalising constants: -INFINITY outside the support,
   NaN where a distribution's parameters are outside of theirs.  Computed scalars are not read.
   grad, if not NULL: derivatives, in the layout of x; 0 for computed and discrete scalars.
   Not for one model in two threads at once. */
int nami_model_logp(nami_model *model, size_t n, const double *x, int threads, double *logp,
                    double *grad, nami_err *err);

/* Puts what the first data set of a file gives for random variables into point i of n, and
   leaves the other scalars as they are.  Returns how many scalars it has set, or an error: also
   if the file gives a constant another value than the model has. */
int nami_model_set_point(const nami_model *model, const char *path, size_t n, size_t i, double *x,
                         nami_err *err);

/* ---- training -------------------------------------------------------------- */

/* An inference network q(z | x) for a model, with the structure of its inverse, and the state of
   its training.  Gradients and steps are apart, so that the loop can be the caller's: with an
   optimiser, data or machines of its own.

       while (...) {
           nami_trainer_gradient(t, 0, NULL, &loss, &err);   draws of the model, or points
           ...                                               nami_trainer_grads: sum over machines
           nami_trainer_apply(t, 1e-3, &err);                or change nami_trainer_params
       }

   Or the loop is that of `nami train`: while (nami_trainer_step(t, &err) > 0) continue; */
typedef struct nami_trainer nami_trainer;

enum { NAMI_LAYERS = 8 };

typedef struct {
    /* the network */
    const char *family;      /* NULL: "match"; see `nami list families` */
    int components;          /* of a mixture; bins of a spline; 0: as the family likes it */
    const char *net;         /* NULL: "auto"; mlp: one for each factor, made: one, masked */
    int hidden[NAMI_LAYERS]; /* units of the hidden layers; all 0: by the size of the model */
    const char *activation;  /* NULL: "relu"; linear, tanh, sigmoid, softplus */
    const char *skip;        /* NULL: "auto"; yes, no: inputs feed outputs directly, too */
    const char *whiten;      /* NULL: "auto"; yes, no: layers that take correlations away */
    int no_share;            /* a network of its own for each latent of a plate */
    /* what is minimised */
    const char *objective; /* NULL or "ic": E[-log q(z | x)]; "elbo": minus a bound of log p(x) of
                              given points or samples, by which the model's networks after `learn`
                              are learnt, too */
    int particles; /* elbo: draws for each point; 0: 1; more: the importance-weighted bound */
    int warmup;    /* elbo: nami_trainer_step's until log p(z) - log q has its full weight */
    /* the draws */
    int batch;       /* points of a gradient; 0: 250 */
    int threads;     /* 0: as many as there are processors */
    uint64_t seed;   /* of weights and draws */
    uint64_t stream; /* other draws with the same weights to start from: for each machine its own */
    const char *samples; /* a file of draws, .npz or .json as `nami simulate` writes them; or NULL:
                            fresh draws of the model */
    int allow_simulator; /* nami_trainer_read: draws may be made by the program or plug-in that the
                            file names; otherwise NAMI_EUSAGE says which, when they are wanted */
    /* steps: of nami_trainer_step; clip also of nami_trainer_apply, valid of nami_trainer_loss */
    double clip;      /* longer gradients are shortened to this norm; 0: 100; < 0: never */
    int valid;        /* draws to validate on; 0: 10000 */
    int steps;        /* at most; 0: 20000 */
    double rate;      /* 0: 0.001 */
    double cooldown;  /* over this last part of the steps the rate falls to 0; 0: 0.3; < 0: never */
    int check;        /* steps between validations; 0: 500 */
    int patience;     /* validations without a better loss until the rate is cut; 0: 6 */
} nami_train_options; /* all zero is a good default */

/* Inverts the model's structure and makes the network.  The options may be NULL.  The model must
   outlive the trainer. */
int nami_trainer_new(nami_model *model, const nami_options *invert, const nami_train_options *opt,
                     nami_trainer **out, nami_err *err);
/* Goes on where a file of nami_trainer_save or `nami train` has stopped, bit for bit.  The model
   and the options are the file's; of opt (or NULL), threads, stream, samples, allow_simulator and
   steps count.  A network that was trained on samples wants them again.  Nothing that the file
   names is opened or run, unless allow_simulator says so. */
int nami_trainer_read(const char *path, const nami_train_options *opt, nami_trainer **out,
                      nami_err *err);
void nami_trainer_free(nami_trainer *t);

/* Parameters and the last gradient: size numbers each, the caller's to read and write.  They stay
   where they are. */
size_t nami_trainer_size(const nami_trainer *t);
float *nami_trainer_params(nami_trainer *t);
float *nami_trainer_grads(nami_trainer *t);
/* The name of a layer, or NULL if there are not so many.  Its weights (outputs, inputs) begin at
   params[*first], the last subscript running fastest; its biases (outputs) follow them. */
const char *nami_trainer_layer(const nami_trainer *t, int layer, size_t *first, size_t *outputs,
                               size_t *inputs);

/* The loss is E[-log q(z | x)], in nats; its smallest possible value is the entropy of the
   posterior.  It is a sum of parts: one for each latent, or for each plate of them that shares a
   network.  Of "elbo" it is minus the bound; "prior" and "data" are parts, too (with several
   draws of a point, the bound is not their sum), latents are drawn, not read, and layers of the
   model are called model/NAME/0 ... */

int nami_trainer_batch(const nami_trainer *t); /* points of a gradient */
/* The gradient of the mean loss of n points (at most a batch), laid out as above; computed
   scalars are not read.  x NULL: of the next batch of draws from the model; n does not count.
   loss may be NULL. */
int nami_trainer_gradient(nami_trainer *t, size_t n, const double *x, double *loss, nami_err *err);
/* The mean loss of any number of points.  x NULL: of draws that are kept for validation. */
int nami_trainer_loss(nami_trainer *t, size_t n, const double *x, double *loss, nami_err *err);
/* A step of Adam along the gradient, as the caller has left it.  If that is not finite:
   NAMI_EINPUT, and all stays as it is; go on with another batch. */
int nami_trainer_apply(nami_trainer *t, double rate, nami_err *err);

/* One step of `nami train`: gradient, Adam, and, if it is time, a validation.  Returns 1; 0 when
   all steps were made, or the loss no longer falls; or an error. */
int nami_trainer_step(nami_trainer *t, nami_err *err);
uint64_t nami_trainer_steps(const nami_trainer *t); /* batches drawn so far; elbo: and given */
double nami_trainer_valid(const nami_trainer *t);   /* the last validation's loss; NaN: none yet */

int nami_trainer_parts(const nami_trainer *t);
const char *nami_trainer_part_name(const nami_trainer *t, int part); /* or NULL */
/* Its share of the loss that was computed last. */
double nami_trainer_part_loss(const nami_trainer *t, int part);

/* Writes the network, the model and the state of the training to a file for `nami train --resume`
   and all commands that read networks.  After nami_trainer_step the network is that of the best
   validation, else the present one.  The file is replaced at once, if at all. */
int nami_trainer_save(nami_trainer *t, const char *path, nami_err *err);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
