/* nami.h: the public interface of NaMI: amortized Bayesian inference by faithful inversion.

   The nouns, in the order of use:

       nami_bn           a Bayesian-network structure
       nami_inverse      its inverse factorization, with a certificate
       nami_data         data sets: named arrays of numbers
       nami_model        a generative model p(x, z): its graph, draws and densities
       nami_check        its prior predictive check
       nami_exact        its exact posterior, if it is linear Gaussian or discrete
       nami_draws        draws of variables, for files
       nami_trainer      an inference network q(z | x) in training
       nami_network      a trained network, from a file or a trainer
       nami_posterior    a query: posterior draws, weights, summaries, verdicts
       nami_comparison, nami_evidence, nami_modes, nami_calibration: other questions
       nami_posterior_figure, nami_report_html: what was found, to look at
       nami_study        an experiment of the paper

   Conventions.  A call that can fail returns 0 (or a count) or a negative code, and fills `err`,
   which may be NULL.  Objects come from _new, _read and _parse calls and go back through _free,
   which accepts NULL.  Parameters: the object first, then inputs, options, outputs, `err`.
   Arguments are borrowed, and need not outlive the call unless it says so.  Options may be NULL;
   all zero is the default.  Texts that come out as char ** belong to the caller: nami_free.
   Texts that come out as const char * belong to the object.  _describe calls give a result as
   text for people ("text"), as JSON ("json"), or in other forms that they name.

   Threads.  Structures, models, data, networks and all results are immutable once they are made,
   and may be used by any number of threads at once: a network answers the queries of all of them.
   Trainers, posteriors and studies belong to one thread at a time, as does what is still being
   built or changed: data (nami_data_set, _read, _parse) and structures (nami_bn_observe, ...).  An
   object is freed when no other thread uses it, and after those that it must outlive.
   No call prints, exits or keeps global state. */

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
    X(NAMI_EBUG, -6, "internal error")                                                             \
    X(NAMI_ECANCEL, -7, "canceled")

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
void nami_free(void *text); /* texts and bytes that a call has given to the caller */

/* ---- what happens meanwhile ------------------------------------------------------------- */

typedef struct {
    const char *phase;        /* "train", "sample", ... */
    double done, total;       /* steps, draws, data sets; total 0: not known */
    double loss, valid, rate; /* training: minibatch loss since the last validation, validation
                                 loss, learning rate; NaN: not known */
} nami_progress;

enum { NAMI_NOTE, NAMI_WARNING };

/* Passed in options.  All members may be NULL.  The functions are called by the thread that has
   called NaMI, while that call lasts: the watch need not outlive it, unless the options say so;
   what `user` points to must outlive the object if the watch is copied.  They must not use the
   object that calls them. */
typedef struct {
    int (*progress)(const nami_progress *progress, void *user); /* nonzero cancels: NAMI_ECANCEL */
    void (*message)(int level, const char *text, void *user);   /* one sentence, without newline */
    void *user;
} nami_watch;

/* ---- several processes --------------------------------------------------------------------- */

/* Several processes, each with the same program, files and options, work on one training, query,
   calibration, simulation or study: in options, this is how they exchange bytes (docs/mpi.md; MPI
   or any other transport).  Results do not depend on the number of processes, bit for bit.  Each
   process makes the same calls; files and results are those of process 0.  The struct is copied;
   what `user` points to must outlive the object.  The functions are called by the thread that has
   called NaMI; nonzero: the exchange has failed, and so does the call. */
typedef struct {
    int rank, num_ranks; /* number of this process, from 0, and of all */
    /* Begins to send bytes, which stay as they are until `wait`.  Messages to the same process with
       the same tag (0 ... 32767) arrive in order. */
    int (*send)(int to, int tag, const void *bytes, size_t size, void *user);
    int (*receive)(int from, int tag, void *bytes, size_t size, void *user);
    int (*wait)(void *user); /* until all is sent */
    void *user;
} nami_exchange;

/* ---- options ---------------------------------------------------------------------------- */

/* Each option is a row of nami_options.def, which says its name, default and help.  The structs of
   options below begin with their size, which may be left 0 by programs that are compiled anew with
   each version of NaMI. */
enum nami_option_kind {
    NAMI_OPTION_FLAG,
    NAMI_OPTION_COUNT,
    NAMI_OPTION_REAL,
    NAMI_OPTION_LIMIT,
    NAMI_OPTION_SEED,
    NAMI_OPTION_WORD,
    NAMI_OPTION_TEXT
};

typedef struct {
    const char *name;
    enum nami_option_kind kind;
    size_t offset; /* of the member in its struct */
    char key;      /* of the short form on the command line; 0: none */
    const char *arg, *words, *def, *help;
} nami_option;

/* Option number i of a group ("invert", "train", "query", "evidence", "modes", "calibrate",
   "check", "simulate", "exact", "study"); NULL behind the last, and for unknown groups. */
const nami_option *nami_option_at(const char *group, int i);
/* Sets the member of `options` from text, as a user would write it; the text must outlive it.  If
   the text is refused, the member stays as it is.  Messages call the option `name`: a copy of the
   row with another name changes what they say. */
int nami_option_set(const nami_option *option, void *options, const char *text, nami_err *err);
/* Word number i that the option accepts, NULL behind the last. */
const char *nami_option_word(const nami_option *option, int i);

#define NAMI_MEMBER_FLAG               int
#define NAMI_MEMBER_COUNT              int
#define NAMI_MEMBER_REAL               double
#define NAMI_MEMBER_LIMIT              double
#define NAMI_MEMBER_SEED               uint64_t
#define NAMI_MEMBER_WORD               const char *
#define NAMI_MEMBER_TEXT               const char *
#define NAMI_MEMBER(kind, member, ...) NAMI_MEMBER_##kind member;

/* Word number i of a list: "dists", "functions", "formats", "methods", "modes", "criteria",
   "families", "architectures", "activations", "objectives", "samplers", "evidence", ... ("lists"
   has them all); NULL behind the last.  nami_list describes a whole list: "text", "json". */
const char *nami_word(const char *list, int i);
int nami_list(const char *list, const char *as, char **text, nami_err *err);
/* The word of `words` (NULL at the end) that was probably meant; NULL if none is similar. */
const char *nami_nearest(const char *word, const char *const *words);

/* ---- files -------------------------------------------------------------------------------- */

/* Writes a file under a temporary name and renames it: all or nothing. */
int nami_file_write(const char *path, const void *bytes, size_t size, nami_err *err);
/* Could it be written?  Leaves no trace. */
int nami_file_check(const char *path, nami_err *err);

/* ---- structures --------------------------------------------------------- */

/* A Bayesian-network structure: named nodes, edges, which nodes are observed,
   and the probability tables where the file had them. */
typedef struct bn nami_bn;

/* Reads `path` ("-": standard input).  `format` is a name of `nami list
   formats`, or NULL to choose by the file's ending and content. */
int nami_bn_read(const char *path, const char *format, nami_bn **out, nami_err *err);
int nami_bn_parse(const char *text, size_t len, const char *format, nami_bn **out, nami_err *err);
/* `format` NULL: by the ending of `path`.  What the format cannot say (tables, what is observed) is
   left out. */
int nami_bn_write(const nami_bn *bn, const char *path, const char *format, nami_err *err);
/* The same to memory; the format must be named. */
int nami_bn_print(const nami_bn *bn, const char *format, char **text, nami_err *err);
/* A copy to change with the calls below: of a model's structure, which is the model's. */
int nami_bn_copy(const nami_bn *bn, nami_bn **out, nami_err *err);
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
    size_t size;
#define NAMI_INVERT NAMI_MEMBER
#include "nami_options.def"
#undef NAMI_INVERT
} nami_options;

typedef struct nami_inverse nami_inverse;

/* The structure must outlive the inverse. */
int nami_invert(const nami_bn *bn, const nami_options *opt, nami_inverse **out, nami_err *err);
void nami_inverse_free(nami_inverse *inv);

const char *nami_inverse_mode(const nami_inverse *inv);
int64_t nami_inverse_edges(const nami_inverse *inv); /* into network and exact factors */
int64_t nami_inverse_width(const nami_inverse *inv); /* largest parent set */
/* The order of elimination: the factors to sample are its reverse. */
int nami_inverse_order(const nami_inverse *inv, const int **nodes);
/* Parents of a latent: how many; writes at most `cap` of them to out. */
int64_t nami_inverse_parents(const nami_inverse *inv, int node, int *out, int64_t cap);
/* 1 if the node's factor is the model's own conditional, 0 for a network or an exact factor, -1 for
   none. */
int nami_inverse_is_model(const nami_inverse *inv, int node);
/* The kind of the node's exact factor ("normal", "enumerated", ...); NULL if it has none. */
const char *nami_inverse_exact(const nami_inverse *inv, int node);
/* What was proved: 1 yes, 0 no, -1 not checked. */
int nami_inverse_faithful(const nami_inverse *inv);
int nami_inverse_minimal(const nami_inverse *inv);
int nami_inverse_natural(const nami_inverse *inv);

typedef struct {
    size_t size;
    const char *file; /* "text": what to call the structure; or NULL */
    const char
        *show; /* "text": sections, a comma list ("sections" of nami_word); NULL: the usual */
    int width; /* "text": columns; 0: 80 */
    int runs;  /* "json": parents as runs of one permutation: small for long chains */
    int trace; /* the steps of the elimination too */
} nami_inverse_view;
/* As "text", "json" (docs/formats.md), "dot", "svg" or "png"; `len`, or NULL: how many bytes.  The
   view may be NULL.  NAMI_ELIMIT: too large to draw, or to list all parents in JSON without runs.
   Graphviz, which draws dot, svg and png, runs in a child process (fork): its crash is an error. */
int nami_inverse_describe(const nami_inverse *inv, const char *as, const nami_inverse_view *view,
                          char **text, size_t *len, nami_err *err);

/* ---- data ------------------------------------------------------------------------------------ */

/* Data sets: each gives values to constants, observed variables, or points.  Built up by the calls
   below, in any order; then used by reference, and not changed any more.  After a failed _read or
   _parse they may be incomplete: free them; a failed nami_data_set changes nothing. */
typedef struct nami_data nami_data;

int nami_data_new(nami_data **out, nami_err *err);
/* Adds a file ("-": standard input): JSON or R dump with one data set or many; or "x=FILE", an
   observation of x for each data set (IDX, NPY, NPZ, CSV, JSON).  A file that repeats no name
   extends the data sets that are there; else it adds more of them. */
int nami_data_read(nami_data *data, const char *path, nami_err *err);
/* The same from JSON text. */
int nami_data_parse(nami_data *data, const char *text, size_t len, nami_err *err);
/* Gives `name` a value in data set number `set`, from 0 (the number of sets: one more): an array of
   shape dim[num_dims], row-major; num_dims 0: a number, and dim may be NULL; at most 8 dimensions.
   NaN: missing.  Names and values are copied; a name has one value in a data set.  Which names and
   shapes fit is known when a model or network is given the data. */
int nami_data_set(nami_data *data, size_t set, const char *name, int num_dims, const size_t *dim,
                  const double *values, nami_err *err);
/* Adds copies of all data sets of `more` behind those of `data`, as more data sets whatever their
   names; files of observations ("x=FILE") are not added.  After an error: as after _parse. */
int nami_data_append(nami_data *data, const nami_data *more, nami_err *err);
/* A copy of one data set. */
int nami_data_one(const nami_data *data, size_t set, nami_data **out, nami_err *err);
size_t nami_data_size(const nami_data *data); /* data sets; observations of "x=FILE" not counted */
/* File number i of observations ("x=FILE"), which are for training and queries, not for reading a
   model; NULL behind the last. */
const char *nami_data_records(const nami_data *data, int i);
void nami_data_free(nami_data *data);

/* ---- draws ----------------------------------------------------------------------------------- */

/* A variable: an array of shape dim[num_dims], whose elements in row-major order are rows
   first_row ... of what it is a variable of. */
typedef struct {
    const char *name;
    int num_dims;
    int dim[8];
    size_t first_row, num_elements;
} nami_variable;

/* Draws of variables, from a model (nami_model_draws) or an exact posterior (nami_exact_draws). */
typedef struct nami_draws nami_draws;

void nami_draws_free(nami_draws *draws);
size_t nami_draws_size(const nami_draws *draws); /* the number of draws */
int nami_draws_variables(const nami_draws *draws);
int nami_draws_variable(const nami_draws *draws, int i, nami_variable *out); /* or NAMI_EUSAGE */
/* Draw i of a row: [row * size + i].  NaN: the model does not define this element. */
const double *nami_draws_values(const nami_draws *draws);
/* Writes a file: .json (an array of data sets, which nami_data_read reads), .csv, .npz (NumPy);
   .png: images of the first variable that is one, if possible an observed one. */
int nami_draws_write(const nami_draws *draws, const char *path, nami_err *err);
/* Is the ending of a file's name one of these?  NAMI_EUSAGE says which there are. */
int nami_draws_check(const char *path, nami_err *err);
/* As "json", "csv" or "npz"; `len`, or NULL: how many bytes. */
int nami_draws_describe(const nami_draws *draws, const char *as, char **text, size_t *len,
                        nami_err *err);

/* ---- models -------------------------------------------------------------- */

/* A model in the model language (docs/language.md), with its data. */
typedef struct nami_model nami_model;

typedef struct {
    size_t size;
    const nami_data *data;  /* constants and observations: the first data set counts; or NULL */
    const char *const *set; /* "name=number": constants, instead of the file's values */
    int num_set;
    const char *observe;     /* as of nami_bn_observe, instead of what the file says; or NULL */
    const char *const *free; /* constants that nami_model_logp differentiates by, too */
    int num_free;
    const char *dialect; /* "nami" or "bugs"; NULL: by the file's ending, nami for texts */
    /* Training distributions of top-level latents, "mu ~ normal(0, 10); tau ~ gamma(2, 1)": networks
       are trained on draws from them; the model's density is unchanged.  As train { } at the end of
       the model's text, and kept with it in the files of networks; or NULL. */
    const char *train_priors;
} nami_model_options;

/* Does the path end like that of a model file (.nami .bug .bugs .jags)? */
int nami_model_is(const char *path);
/* Reads a model file (.bug .bugs .jags .txt: as JAGS; else NaMI's own; "-": standard input).
   *out is set even if the model is wrong (NAMI_EINPUT), so that nami_model_messages can tell
   all there is to say; such a model knows nothing else: the calls below then give 0, -1, NULL
   or NAMI_EUSAGE.  Free it in any case; *out is NULL only if memory ran out.  err holds the
   first of the errors; if it is not in the model's text (a file that is not there, broken data),
   there are no messages, and err->msg begins with the file's name. */
int nami_model_read(const char *path, const nami_model_options *opt, nami_model **out,
                    nami_err *err);
/* The same from text; `name` is what messages call it, NULL: "model". */
int nami_model_parse(const char *text, size_t len, const char *name, const nami_model_options *opt,
                     nami_model **out, nami_err *err);
void nami_model_free(nami_model *model);

/* All errors and warnings as text for people, with places and advice; "" if there is none.
   The text is the model's. */
const char *nami_model_messages(const nami_model *model);

/* The graph over the random variables, for nami_invert and the nami_bn_* questions. It is
   the model's: do not free it. */
const nami_bn *nami_model_structure(const nami_model *model);
/* nami_invert for a model: latents are integrated out exactly where that is possible (option exact).
   bn: NULL, or a copy of the model's structure with other roles.  Both must outlive the inverse. */
int nami_model_invert(const nami_model *model, const nami_bn *bn, const nami_options *opt,
                      nami_inverse **out, nami_err *err);

/* The program or plug-in that the model file names after `simulator`, which every call that draws
   from the model runs, and where it is: "'./x.so' (/home/me/x.so)"; NULL if it names none. */
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
*/
int nami_model_logp(const nami_model *model, size_t n, const double *x, int threads, double *logp,
                    double *grad, nami_err *err);

/* Puts what data set number `set` gives for random variables into point i of n, and leaves the
   other scalars as they are.  Returns how many scalars it has set, or an error: also if the data
   give a constant another value than the model has. */
int nami_model_set_point(const nami_model *model, const nami_data *data, size_t set, size_t n,
                         size_t i, double *x, nami_err *err);

typedef struct {
    size_t size;
    int gradient; /* "json": derivatives, too */
    int threads;
    const nami_watch *watch;
} nami_logp_options;
/* log p at each data set, which must give values to all random variables, as "text" (one number per
   line) or "json": {"logp": [...], "grad": [{"x": [...]}, ...]}.  data NULL: those that the model
   was read with. */
int nami_model_describe_logp(const nami_model *model, const nami_data *data,
                             const nami_logp_options *opt, const char *as, char **text,
                             nami_err *err);

typedef struct {
    size_t size;
#define NAMI_SIMULATE NAMI_MEMBER
#include "nami_options.def"
#undef NAMI_SIMULATE
    int image_mean; /* images of an observed variable: the mean of so many draws of it given the
                       same latents; 0: the draws themselves */
    const nami_watch *watch;
    const nami_exchange *exchange; /* processes that share the draws, which are process 0's; the
                                      others get NULL.  NULL: one */
} nami_simulate_options;
/* Draws of chosen variables: those of nami_model_simulate.  The model must outlive them. */
int nami_model_draws(const nami_model *model, const nami_simulate_options *opt, nami_draws **out,
                     nami_err *err);

/* The model as "json" (nodes, edges, statements), "dot" (for Graphviz), "jags" (a program for
   JAGS), "rdump" (the data of that: constants that the text does not hold, and observations);
   `len`, or NULL: how many bytes.  What JAGS cannot express is NAMI_EINPUT; "jags-messages" tells
   all of it, with places and advice, "" if there is nothing. */
int nami_model_describe(const nami_model *model, const char *as, char **text, size_t *len,
                        nami_err *err);

/* ---- the prior predictive check ----------------------------------------------------------- */

/* Draws from the prior predictive distribution, and what makes it hard or impossible to learn an
   inference network from such draws.  The model must outlive the check. */
typedef struct nami_check nami_check;

typedef struct {
    size_t size;
#define NAMI_CHECK NAMI_MEMBER
#include "nami_options.def"
#undef NAMI_CHECK
    const nami_watch *watch;
} nami_check_options;

int nami_check_new(const nami_model *model, const nami_check_options *opt, nami_check **out,
                   nami_err *err);
void nami_check_free(nami_check *check);
int nami_check_problems(const nami_check *check); /* how many were found */
/* The problems, behind the messages of the model, as text for people with places and advice. */
const char *nami_check_messages(const nami_check *check);
/* What draws of each statement look like, as "text"; with the problems, as "json". */
int nami_check_describe(const nami_check *check, const char *as, char **text, nami_err *err);

/* ---- exact posteriors --------------------------------------------------------------------- */

/* The exact posterior of a linear Gaussian model, or of a discrete model or structure by a junction
   tree. */
typedef struct nami_exact nami_exact;

typedef struct {
    size_t size;
#define NAMI_EXACT NAMI_MEMBER
#include "nami_options.def"
#undef NAMI_EXACT
    const char *const
        *given; /* more observations: "node=value", a number or the name of a state; or
                   "@FILE" with a JSON object of nodes and values */
    int num_given;
    const nami_watch *watch;
} nami_exact_options;

/* Given data set number `set`; data NULL: what the model was read with.  Observed variables without
   a value are latent.  The model must outlive the posterior, the data need not. */
int nami_exact_new(const nami_model *model, const nami_data *data, size_t set,
                   const nami_exact_options *opt, nami_exact **out, nami_err *err);
/* Of a structure all of whose nodes have tables.  It must outlive the posterior. */
int nami_exact_tables(const nami_bn *bn, const nami_exact_options *opt, nami_exact **out,
                      nami_err *err);
void nami_exact_free(nami_exact *exact);

const char *nami_exact_kind(const nami_exact *exact);    /* "gaussian" or "discrete" */
double nami_exact_log_evidence(const nami_exact *exact); /* log p(x) */
double nami_exact_entropy(const nami_exact *exact);      /* E[-log p(z|x)] */
/* Posterior mean and standard deviation of "x[2]": a scalar (gaussian) or a node (discrete; states
   count as the model's values, or from 1). */
int nami_exact_moments(const nami_exact *exact, const char *name, double *mean, double *sd,
                       nami_err *err);
/* discrete: the number of states of a node; writes at most `cap` of their probabilities to p. */
int nami_exact_states(const nami_exact *exact, const char *node, int cap, double *p, nami_err *err);
/* The name of a state, from 0, or its value; NULL if there is no such state. */
const char *nami_exact_state_name(const nami_exact *exact, const char *node, int state);
/* With the option mpe: the state of a node in the most probable joint state of all variables, and
   its log p(z, x). */
int nami_exact_mpe_state(const nami_exact *exact, const char *node, nami_err *err);
double nami_exact_mpe_logp(const nami_exact *exact); /* NaN without the option */
/* Independent draws from the posterior, of all variables: as many as the options say. */
int nami_exact_draws(const nami_exact *exact, nami_draws **out, nami_err *err);
/* Of the variables of the option `only`, as "text" or "json". */
int nami_exact_describe(const nami_exact *exact, const char *as, char **text, nami_err *err);

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

typedef struct {
    size_t size;
#define NAMI_TRAIN NAMI_MEMBER
#include "nami_options.def"
#undef NAMI_TRAIN
    uint64_t stream; /* other draws with the same weights to start from: for each machine its own */
    const nami_data *data; /* objective elbo: the data sets to learn from */
    int allow_simulator; /* nami_trainer_read: draws may be made by the program or plug-in that the
                            file names; otherwise NAMI_EUSAGE says which, when they are wanted */
    const nami_watch *watch; /* messages of nami_trainer_new; nami_train: progress, too */
    /* Processes that compute the gradients of the parts of each batch (option parts), and of the
       validation; all of them hold the same weights.  Only process 0 need save.  NULL: one. */
    const nami_exchange *exchange;
} nami_train_options;

/* Inverts the model's structure and makes the network.  The options may be NULL.  The model must
   outlive the trainer. */
int nami_trainer_new(const nami_model *model, const nami_options *invert,
                     const nami_train_options *opt, nami_trainer **out, nami_err *err);
/* Goes on where a file of nami_trainer_save or `nami train` has stopped, bit for bit.  The model
   and the options are the file's; of opt (or NULL), threads, stream, samples, allow_simulator and
   steps count.  A network that was trained on samples wants them again.  Nothing that the file
   names is opened or run, unless allow_simulator says so. */
int nami_trainer_read(const char *path, const nami_train_options *opt, nami_trainer **out,
                      nami_err *err);
/* The same for a model that is at hand: NAMI_EUSAGE, and what differs, if the file is of another
   model, or of other constants.  Its simulator may run. */
int nami_trainer_resume(const char *path, const nami_model *model, const nami_train_options *opt,
                        nami_trainer **out, nami_err *err);
void nami_trainer_free(nami_trainer *trainer);

/* Parameters and the last gradient: size numbers each, the caller's to read and write.  They stay
   where they are. */
size_t nami_trainer_size(const nami_trainer *trainer);
float *nami_trainer_params(nami_trainer *trainer);
float *nami_trainer_grads(nami_trainer *trainer);
/* The name of a layer, or NULL if there are not so many.  Its weights (outputs, inputs) begin at
   params[*first], the last subscript running fastest; its biases (outputs) follow them. */
const char *nami_trainer_layer(const nami_trainer *trainer, int layer, size_t *first,
                               size_t *outputs, size_t *inputs);

/* The loss is E[-log q(z | x)], in nats; its smallest possible value is the entropy of the
   posterior.  It is a sum of parts: one for each latent, or for each plate of them that shares a
   network.  Of "elbo" it is minus the bound; "prior" and "data" are parts, too (with several
   draws of a point, the bound is not their sum), latents are drawn, not read, and layers of the
   model are called model/NAME/0 ... */

const char *nami_trainer_objective(const nami_trainer *trainer); /* "ic", "elbo" */
int nami_trainer_batch(const nami_trainer *trainer);             /* points of a gradient */
/* The gradient of the mean loss of n points (at most a batch), laid out as above; computed
   scalars are not read.  x NULL: of the next batch of draws from the model; n does not count.
   loss may be NULL. */
int nami_trainer_gradient(nami_trainer *trainer, size_t n, const double *x, double *loss,
                          nami_err *err);
/* The mean loss of any number of points.  x NULL: of draws that are kept for validation. */
int nami_trainer_loss(nami_trainer *trainer, size_t n, const double *x, double *loss,
                      nami_err *err);
/* A step of Adam along the gradient, as the caller has left it.  If that is not finite:
   NAMI_EINPUT, and all stays as it is; go on with another batch. */
int nami_trainer_apply(nami_trainer *trainer, double rate, nami_err *err);

/* One step of `nami train`: gradient, Adam, and, if it is time, a validation.  Returns 1; 0 when
   all steps were made, or the loss no longer falls; or an error. */
int nami_trainer_step(nami_trainer *trainer, nami_err *err);
uint64_t
nami_trainer_steps(const nami_trainer *trainer); /* batches drawn so far; elbo: and given */
double
nami_trainer_valid(const nami_trainer *trainer); /* the last validation's loss; NaN: none yet */

int nami_trainer_parts(const nami_trainer *trainer);
const char *nami_trainer_part_name(const nami_trainer *trainer, int part); /* or NULL */
/* Its share of the loss that was computed last. */
double nami_trainer_part_loss(const nami_trainer *trainer, int part);

/* Writes the network, the model and the state of the training to a file for `nami train --resume`
   and all commands that read networks.  After nami_trainer_step the network is that of the best
   validation, else the present one.  The file is replaced at once, if at all. */
int nami_trainer_save(nami_trainer *trainer, const char *path, nami_err *err);

/* The same to memory, for a caller who keeps checkpoints elsewhere. */
int nami_trainer_print(nami_trainer *trainer, char **bytes, size_t *len, nami_err *err);
/* The losses, in all and of each part, one row for each validation: .csv or .json. */
int nami_trainer_log(const nami_trainer *trainer, const char *path, nami_err *err);
/* Where training is: of nami_trainer_step. */
void nami_trainer_progress(const nami_trainer *trainer, nami_progress *out);
/* How it has ended, as "text" or "json"; as "network": the layers and parameters, "network-json".
 */
int nami_trainer_describe(const nami_trainer *trainer, const char *as, char **text, nami_err *err);

/* ---- networks -------------------------------------------------------------------------------- */

/* A trained inference network with its model and inverse.  A file of one is a safetensors file
   (docs/formats.md); it is verified when it is read, and nothing that it names is opened or run. */
typedef struct nami_network nami_network;

typedef struct {
    size_t size;
    int allow_simulator; /* nami_network_model may be drawn from, though the file says by what
                            program */
    int threads;         /* 0: one per processor */
} nami_network_options;

int nami_network_read(const char *path, const nami_network_options *opt, nami_network **out,
                      nami_err *err);
int nami_network_parse(const void *bytes, size_t len, const nami_network_options *opt,
                       nami_network **out, nami_err *err);
/* A network that was not trained, for the method "mcmc", which needs only the model's density: any
   prior will do, also one that cannot be drawn from.  invert: NULL, or which latents are integrated
   out; "auto", the default, leaves quadrature out here, since chains draw such latents sooner. */
int nami_network_untrained(const nami_model *model, const nami_options *invert, nami_network **out,
                           nami_err *err);
/* The network of a training so far: that of the best validation, with the history of losses. */
int nami_trainer_network(nami_trainer *trainer, nami_network **out, nami_err *err);
/* Trains as `nami train` does, from beginning to end.  Progress is told after each step; if it
   cancels, there is no network: NAMI_ECANCEL.  The model need not outlive the network. */
int nami_train(const nami_model *model, const nami_options *invert, const nami_train_options *opt,
               nami_network **out, nami_err *err);
/* The network for another model, with another prior or likelihood: latents and observations must
   have the names and shapes of those of its own model, or NAMI_EINPUT says which differ.  Draws are
   the network's, and weights use the density of `model`; both must outlive the result.  It cannot
   be written. */
int nami_network_with_model(const nami_network *net, const nami_model *model, nami_network **out,
                            nami_err *err);
/* Writes the file; state of the training that it was read with, if any, is kept. */
int nami_network_write(const nami_network *net, const char *path, nami_err *err);
int nami_network_print(const nami_network *net, char **bytes, size_t *len, nami_err *err);
void nami_network_free(nami_network *net);
/* Does the file begin like one of these? */
int nami_network_is(const char *path);

/* An open network (options `open` and `missing` of training) for the design of a data set: its
   sizes, constants and missing observations, the values null or NaN.  Queries do this by themselves;
   the result is for all other functions.  `net` must outlive it.  watch: NULL, or who is told of
   sizes and patterns that the network was not trained for. */
int nami_network_for(const nami_network *net, const nami_data *data, size_t set,
                     const nami_watch *watch, nami_network **out, nami_err *err);

int nami_network_is_open(const nami_network *net);

/* Its model, with the weights that were learnt.  It is the network's: do not free it. */
const nami_model *nami_network_model(const nami_network *net);
const nami_inverse *nami_network_inverse(const nami_network *net);
/* The data that the model was read with; they are the network's. */
const nami_data *nami_network_data(const nami_network *net);
/* Factors, families, layers and parameters as "text" or "json"; as "settings": how it was trained,
   JSON. */
int nami_network_describe(const nami_network *net, const char *as, char **text, nami_err *err);
/* NAMI_EINPUT if data sets do not fit the network: an observed value is missing, or a constant has
   another value than it was trained with.  Queries say so, too. */
int nami_network_check_data(const nami_network *net, const nami_data *data, nami_err *err);
/* log_q[i] = log q(z | x) of points x[scalar * n + i], laid out as those of nami_network_model,
   with all observed and latent variables; computed scalars are not read.  It is the density of all
   latents that are inferred: latents that no data depend on count with the model's own factors,
   but for those that a simulator draws, which have no density. */
int nami_network_log_q(const nami_network *net, size_t n, const double *x, int threads,
                       double *log_q, nami_err *err);
/* The network for other programs (docs/export.md): as "c", one file of C99 that needs only libm; as
   "onnx", an ONNX model from noise and data to draws and log q; as "onnx-density", one from data and
   latents to log q.  name: of its functions; NULL: by the model's file.  Latents that are integrated
   out, or that no data depend on, are not part of it: a warning to `watch` lists them.  The bytes are
   the caller's: nami_free. */
int nami_network_export(const nami_network *net, const char *as, const char *name,
                        const nami_watch *watch, char **bytes, size_t *len, nami_err *err);

/* ---- posteriors ------------------------------------------------------------------------------ */

/* A query: posterior draws of data sets, one block at a time.

       nami_posterior_new(net, data, &query, &post, &err);
       nami_posterior_write(post, "draws.nc", &err);                 while they are made
       while ((rc = nami_posterior_next(post, &block, &err)) > 0) use(&block);
       nami_posterior_verdict(post, 0, &verdict);                    when all are made

   The network must outlive it, the data and the query need not.  The same seed gives the same draws
   for any number of threads.  The first query of a network, or nami_evidence_new, also draws a few
   thousand data sets from its model, to which data are compared (ood_p); later ones use these. */
typedef struct nami_posterior nami_posterior;

typedef struct {
    size_t size;
#define NAMI_QUERY NAMI_MEMBER
#include "nami_options.def"
#undef NAMI_QUERY
    const nami_watch *watch; /* is copied: progress comes from nami_posterior_next */
    /* Processes that share the data sets.  All blocks, files and results come to process 0; the
       others have none. */
    const nami_exchange *exchange;
    /* A seed for each data set, which is then answered as if it were the only one of a query with
       this seed, whatever the others are.  NULL: all share `seed`, and each set has random numbers
       of its own.  num_seeds must be the number of data sets; they are copied. */
    const uint64_t *seeds;
    size_t num_seeds;
} nami_query;

/* data NULL: the data set that the network was trained with. */
int nami_posterior_new(const nami_network *net, const nami_data *data, const nami_query *query,
                       nami_posterior **out, nami_err *err);
void nami_posterior_free(nami_posterior *post);

size_t nami_posterior_sets(const nami_posterior *post);
size_t nami_posterior_draws(const nami_posterior *post); /* of each set */
const char *nami_posterior_method(const nami_posterior *post);

/* The variables of the answer, whose rows are those of blocks; NAMI_EUSAGE behind the last.  Names
   belong to the posterior. */
int nami_posterior_variables(const nami_posterior *post);
int nami_posterior_variable(const nami_posterior *post, int i, nami_variable *out);
/* The observed variables, whose rows are those of `predicted`; NAMI_EUSAGE behind the last. */
int nami_posterior_observed(const nami_posterior *post, int i, nami_variable *out);

/* num_draws draws, of which number i is draw (first + i) % draws of set (first + i) / draws. */
typedef struct {
    size_t first, num_draws;
    const double *values;        /* [row * num_draws + i] */
    const double *predicted;     /* the same of posterior predictive draws; NULL: not asked for */
    const double *log_q, *log_p; /* log q(z | x), log p(x, z); log_q of "direct" lacks the factors
                                    of latents that no data depend on */
    const double *log_weight; /* normalized in each set; log_p and log_weight: NULL for "direct" */
} nami_block;

/* The next block: 1; 0 when there are no more, and all files are written; or an error, also if
   progress cancels: then all later calls give the same error, and no file is left.  The numbers
   stay valid until the next call. */
int nami_posterior_next(nami_posterior *post, nami_block *out, nami_err *err);
/* How often each draw of the present block is among the equally weighted draws that files and
   summaries are of (systematic resampling): num_draws numbers, valid as long as the block; NULL if
   draws are not resampled (option weighted, or the method "direct"). */
const unsigned *nami_posterior_copies(const nami_posterior *post);
/* Could data (NULL: those that the model was read with) be asked of networks of this model, with
   this query, and the draws be written to this file (or NULL)?  For those who want to know before
   they train. */
int nami_posterior_check(const nami_model *model, const nami_data *data, const nami_query *query,
                         const char *path, nami_err *err);
/* All that is left. */
int nami_posterior_run(nami_posterior *post, nami_err *err);
/* Draws go to this file, too: .nc (ArviZ), .npz (NumPy), .csv (R), .json (summaries), .png
   (images). To be called before the first block, for each file.  The file has its name when all
   draws are made; a posterior that is freed before leaves none. */
int nami_posterior_write(nami_posterior *post, const char *path, nami_err *err);

/* When all draws are made: */
typedef struct {
    double mean, sd, q5, q25, q50, q75, q95;
    double mcse; /* Monte Carlo standard error of the mean */
    double ess;  /* effective sample size */
    /* Of latents that are integrated out exactly: mean, sd and error by their conditional moments
       given the draws of the others (Rao-Blackwell), without the noise of drawing them.  NaN: none. */
    double exact_mean, exact_sd, exact_mcse;
} nami_summary;
/* Of data set number `set`, from 0, and a scalar, "theta[3]". */
int nami_posterior_summary(const nami_posterior *post, size_t set, const char *name,
                           nami_summary *out, nami_err *err);

/* The probability that a discrete scalar with at most 12 states in these draws has this value. */
int nami_posterior_probability(const nami_posterior *post, size_t set, const char *name,
                               double state, double *out, nami_err *err);

/* Leave-one-out cross-validation by Pareto-smoothed importance sampling (option loo), from the
   draws that files have: how well does the model predict an observation from the others? */
typedef struct {
    double elpd, se; /* sum of log p(y_i | all others), and its standard error */
    double p_loo;    /* effective number of parameters */
    double khat;     /* the largest of all observations */
    size_t num_observations;
    size_t num_bad; /* observations whose k-hat is too large for a reliable answer */
} nami_loo;
int nami_posterior_loo(const nami_posterior *post, size_t set, nami_loo *out, nami_err *err);
typedef struct {
    const char *name; /* the observation: a scalar, or the first one of a vector */
    double elpd;      /* log p(y_i | all others) */
    double lpd;       /* log p(y_i | all) */
    double khat;
} nami_loo_point;
int nami_posterior_loo_point(const nami_posterior *post, size_t set, size_t i, nami_loo_point *out,
                             nami_err *err);

/* Posterior predictive check number i (option ppc); NAMI_EUSAGE behind the last. */
typedef struct {
    const char *variable, *statistic; /* "y", "mean" */
    double observed;                  /* of the data */
    double predicted;                 /* mean of its posterior predictive distribution */
    double p; /* probability that a predicted value is larger (an equal one counts half) */
} nami_predictive;
int nami_posterior_predictive(const nami_posterior *post, size_t set, size_t i,
                              nami_predictive *out, nami_err *err);

enum { NAMI_TRUSTED, NAMI_CARE, NAMI_NOT_TRUSTED };
typedef struct {
    int verdict;
    double khat;                          /* of the importance weights; NaN: none */
    double ess;                           /* of the weights */
    double log_evidence, log_evidence_se; /* log p(x) and its standard error; NaN: not known */
    double ood_p; /* p-value of the data among data sets simulated from the model; NaN: not known */
    char reason[160]; /* one sentence */
} nami_verdict;
int nami_posterior_verdict(const nami_posterior *post, size_t set, nami_verdict *out,
                           nami_err *err);
/* Training distributions (nami_model_options.train_priors) around this answer, for top-level latents
   whose priors are more than 20 times as wide: normal, or lognormal if they are positive, 5 times as wide
   as the posterior.  *priors is NULL if no prior is that vague; free it with nami_free. */
int nami_posterior_focus(const nami_posterior *post, size_t set, char **priors, nami_err *err);
/* All of this as "text" (of several data sets: how many are trusted) or "json": {"sets":
   [{"verdict": "trusted" | "care" | "no", "khat", ..., "variables": {"theta[3]": {"mean", ...}}}]}
 */
int nami_posterior_describe(const nami_posterior *post, const char *as, char **text, nami_err *err);

/* ---- comparison of models ---------------------------------------------------------------------
 */

/* Models of the same data, from a posterior of each that has been run to its end with the option
   loo.  Data sets count as one sample of all their observations. */
typedef struct nami_comparison nami_comparison;

typedef struct {
    const char *name;
    int verdict;                          /* on its posterior: the worst of all data sets */
    double log_evidence, log_evidence_se; /* NaN: not known (Markov chains) */
    double probability;   /* of the model, if all are equally probable a priori; NaN: not known */
    double elpd, elpd_se; /* leave-one-out cross-validation: nami_loo */
    double p_loo;
    double difference, difference_se; /* elpd minus that of the best model */
    double stacking; /* weight in the mixture of predictive distributions that predicts best */
    size_t num_bad;  /* observations whose elpd is unreliable */
} nami_compared;

/* names: of the models, in messages and descriptions.  NAMI_EINPUT if data differ.  The posteriors
   need not outlive the comparison. */
int nami_comparison_new(int num, const nami_posterior *const *posts, const char *const *names,
                        nami_comparison **out, nami_err *err);
void nami_comparison_free(nami_comparison *comparison);
int nami_comparison_model(const nami_comparison *comparison, int i, nami_compared *out,
                          nami_err *err);
/* As "text" or "json". */
int nami_comparison_describe(const nami_comparison *comparison, const char *as, char **text,
                             nami_err *err);

/* ---- the evidence ---------------------------------------------------------------------------- */

/* Estimates of the evidence (marginal likelihood) p(x) of data sets, by which models of the same
   data are compared.  The network must outlive them, the data need not. */
typedef struct nami_evidence nami_evidence;

typedef struct {
    size_t size;
#define NAMI_EVIDENCE NAMI_MEMBER
#include "nami_options.def"
#undef NAMI_EVIDENCE
    const nami_watch *watch;
} nami_evidence_options;

/* data NULL: the data set that the network was trained with. */
int nami_evidence_new(const nami_network *net, const nami_data *data,
                      const nami_evidence_options *opt, nami_evidence **out, nami_err *err);
void nami_evidence_free(nami_evidence *evidence);

size_t nami_evidence_sets(const nami_evidence *evidence);
/* log p(x) of a data set, its standard error, and how far to trust it. */
int nami_evidence_verdict(const nami_evidence *evidence, size_t set, nami_verdict *out,
                          nami_err *err);
/* All data sets as "text" or "json". */
int nami_evidence_describe(const nami_evidence *evidence, const char *as, char **text,
                           nami_err *err);

/* ---- modes ------------------------------------------------------------------------------------
 */

/* Maximum a posteriori (MAP) estimates of continuous latents.  The network must outlive them, the
   data need not. */
typedef struct nami_modes nami_modes;

typedef struct {
    size_t size;
#define NAMI_MODES NAMI_MEMBER
#include "nami_options.def"
#undef NAMI_MODES
    const nami_watch *watch;
} nami_modes_options;

/* data NULL: the data set that the network was trained with. */
int nami_modes_new(const nami_network *net, const nami_data *data, const nami_modes_options *opt,
                   nami_modes **out, nami_err *err);
void nami_modes_free(nami_modes *modes);

size_t nami_modes_sets(const nami_modes *modes);
typedef struct {
    const char *state;  /* "maximum"; or there is none, or none was found: "edge" of the support,
                           "unbounded" density, "none" */
    const char *reason; /* why there is no maximum, one sentence; NULL if there is one */
    double log_p;       /* log p(x, z) there, without latents that no data depend on, or that are
                           integrated out */
    double derivative;  /* the largest one by a coordinate */
    int steps;          /* of the best search */
    int agree;          /* searches that ended at the same density */
} nami_mode;
int nami_modes_get(const nami_modes *modes, size_t set, nami_mode *out, nami_err *err);
/* The estimate of a scalar, "theta[3]".  sd, or NULL: its standard deviation by the Laplace
   approximation, if the options asked for it; NaN where there is no maximum.  Of a latent that is
   integrated out, the estimate is its mean given the mode of the others, and sd is NaN. */
int nami_modes_value(const nami_modes *modes, size_t set, const char *name, double *value,
                     double *sd, nami_err *err);
/* All data sets as "text" or "json". */
int nami_modes_describe(const nami_modes *modes, const char *as, char **text, nami_err *err);

/* ---- calibration ------------------------------------------------------------------------------
 */

/* Is a network right about its uncertainty?  Simulation-based calibration, coverage, TARP and
   parameter recovery, on data sets that its model simulates.  The network must outlive it. */
typedef struct nami_calibration nami_calibration;

typedef struct {
    size_t size;
#define NAMI_CALIBRATE NAMI_MEMBER
#include "nami_options.def"
#undef NAMI_CALIBRATE
    const nami_watch *watch;
    const nami_exchange *exchange; /* processes that share the data sets; the calibration is process
                                      0's, the others get NULL.  NULL: one */
} nami_calibrate_options;

/* NAMI_EUSAGE if the file of the network names a simulator that nobody has allowed to run
   (nami_network_options). */
int nami_calibration_new(const nami_network *net, const nami_calibrate_options *opt,
                         nami_calibration **out, nami_err *err);
void nami_calibration_free(nami_calibration *calibration);

/* 1: calibrated; 0: not; -1: there are too few effective draws to tell. */
int nami_calibration_verdict(const nami_calibration *calibration);
int nami_calibration_scalars(const nami_calibration *calibration);
typedef struct {
    const char *name;
    const char *verdict; /* "ok", "too narrow", "too wide", "too low", "too high", "misshapen" */
    int inside;          /* its tests of ranks and coverage are passed */
    double p;            /* of these tests, to be compared with the option alpha */
    double coverage50, coverage80, coverage90, coverage95; /* how often central intervals of these
                                                              levels contain the true value */
    double correlation;                                    /* of true values and posterior means */
    double rmse;         /* of the means, in units of the prior's standard deviation */
    double contraction;  /* 1 - posterior variance / prior variance */
    double z_mean, z_sd; /* (mean - true value) / posterior sd: 0 and 1 if all is right */
} nami_calibrated;
int nami_calibration_scalar(const nami_calibration *calibration, int i, nami_calibrated *out,
                            nami_err *err);
/* As "text" or "json"; or as a figure, an SVG: "ecdf", "ranks", "coverage", "tarp", "recovery"
   ("plots" of nami_word). */
int nami_calibration_describe(const nami_calibration *calibration, const char *as, char **text,
                              nami_err *err);

/* ---- figures and reports ---------------------------------------------------------------------
 */

/* A figure ("figures" of nami_word) is an SVG, light or dark as its reader prefers; the same input
   gives the same bytes.  What it is of: "posterior", "network" or "calibration"; NULL: there is no
   such figure. */
const char *nami_figure_of(const char *figure);

typedef struct {
    size_t size;
    const char *only; /* variables or elements, "mu,theta[3]"; NULL: those worth a look */
    int most;         /* panels, or rows of a forest plot, at most; 0: the usual number */
} nami_figure_options;

/* Keeps draws of this data set for figures and reports: at most 4000, resampled to equal weights, and
   32 MB.  To be called before the first block; the last call counts. */
int nami_posterior_keep(nami_posterior *post, size_t set, nami_err *err);
/* When all draws are made: a figure of the data set that was kept. */
int nami_posterior_figure(const nami_posterior *post, const char *figure,
                          const nami_figure_options *opt, char **svg, nami_err *err);
/* "loss": the training run in the network's file; NAMI_EUSAGE if it is not there.  Figures of a
   calibration: nami_calibration_describe. */
int nami_network_figure(const nami_network *net, const char *figure, const nami_figure_options *opt,
                        char **svg, nami_err *err);

typedef struct {
    size_t size;
    double zoom; /* pixels for each of the SVG's, 0.1 to 20, fewer if it would be huge; 0: 2 */
    int dark;    /* the dark colors of figures */
} nami_png_options;
/* Such an SVG, or that of a calibration or an inverse, as PNG of len bytes: nami_free.  librsvg paints
   it, loaded in a process of its own; NAMI_EFILE if it is not installed.  No file is opened because
   an SVG says so. */
int nami_figure_png(const char *svg, const nami_png_options *opt, char **png, size_t *len,
                    nami_err *err);

typedef struct {
    size_t size;
    const nami_posterior *posterior;     /* of this network, with draws kept, all made; or NULL */
    const nami_calibration *calibration; /* of this network; or NULL */
    const char *title;                   /* NULL: the name of the model's file */
    const char *command;                 /* how the page was made, for the reader; or NULL */
    const char *notes; /* more of that: lines of a word and, from column 14 on, a text; or NULL */
} nami_report_options;
/* A page about a network and the posterior of a data set, as one HTML file that needs nothing else: the
   verdict, the model, its inverse and the steps of the elimination, priors and posteriors, predictive
   checks, calibration, training, and how all was made.  `len`, or NULL: how many bytes. */
int nami_report_html(const nami_network *net, const nami_report_options *opt, char **html,
                     size_t *len, nami_err *err);

/* ---- the paper's experiments ------------------------------------------------------------------
 */

/* An experiment ("studies" of nami_word): variants of an inference network, trained and measured in
   several runs.  Each run of a variant is a job, whose result is a file of the directory: a study
   that was stopped goes on where it was, when it is made anew with the same options. */
typedef struct nami_study nami_study;

typedef struct {
    size_t size;
#define NAMI_STUDY NAMI_MEMBER
#include "nami_options.def"
#undef NAMI_STUDY
    const char *const *set; /* "name=number": epochs, steps, ... instead of the usual settings */
    int num_set;
    const nami_watch *watch; /* must outlive the study */
    const nami_exchange *exchange; /* processes that share the jobs, all with the same directory;
                                      process 0 writes.  NULL: one */
} nami_study_options;

/* The directory is made if it is not there; one with results of other settings is refused. */
int nami_study_new(const char *name, const char *directory, const nami_study_options *opt,
                   nami_study **out, nami_err *err);
void nami_study_free(nami_study *study); /* stops it first */

/* Waits a moment for the jobs, which run in the background: 1; 0 when all are done; or an error.
   A progress call that cancels makes jobs end within seconds, unfinished. */
int nami_study_step(nami_study *study, nami_err *err);
/* Until all are done. */
int nami_study_run(nami_study *study, nami_err *err);
/* Jobs that are done, and all that there are. */
void nami_study_jobs(const nami_study *study, int *done, int *all);

/* While no jobs run, of those that are done: writes tables (CSV), figures (SVG) and the summary
   (Markdown) to the directory. */
int nami_study_write(const nami_study *study, nami_err *err);
/* The summary as "text"; as CSV, "epochs": a row for each run, variant and epoch, and "ends": for
   each run and variant. */
int nami_study_describe(const nami_study *study, const char *as, char **text, nami_err *err);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
