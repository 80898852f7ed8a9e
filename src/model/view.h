/* view.h: accessors of a model.  Outside of src/model, struct model is opaque.  A model has arrays;
   an element is one scalar of an array.  A statement of the file has an instance for each iteration
   of the enclosing loops, and an instance defines elements.  Elements that are not constant have
   rows of the model's programs; stochastic instances are the nodes of its graph.  Arrays, elements,
   statements, instances and nodes are numbers from 0. */
#ifndef MODEL_VIEW_H
#define MODEL_VIEW_H

#include "base/str.h"
#include "data/data.h"
#include "dist/dist.h"
#include "model/bn.h"
#include "model/lang/dialect.h"
#include "model/network.h"
#include "tensor/tensor.h"

struct model;

/* ---- where it comes from ---------------------------------------------------------------- */

const char *model_file_name(const struct model *model);         /* or NULL */
int model_set_file_name(struct model *model, const char *file); /* 0 or NAMI_ENOMEM */
const char *model_text(const struct model *model);
enum dialect model_dialect(const struct model *model);
const struct data *model_data(const struct model *model);
const struct dataset *model_first_data(const struct model *model); /* or NULL: there are none */
/* Ranges of constants, const J in 1:100, as "J=1:100,..."; empty if there are none. */
void model_open_ranges(const struct model *model, struct str *out);
const char *model_simulator_command(const struct model *model);    /* or NULL */
int model_simulated(const struct model *model); /* the first statement without a density, or -1 */

/* ---- its structure and its programs ------------------------------------------------------- */

const struct bn *model_bn(const struct model *model);
int model_num_rows(const struct model *model); /* of draws and points */
/* The program that draws all rows; the program that sums the log densities of all stochastic rows,
   with one tag for each statement, and computes the others. */
const struct prog *model_sample_program(const struct model *model);
/* The same with the latents of train statements drawn from their training distributions: what a
   network learns from. */
const struct prog *model_training_program(const struct model *model);
/* The train statements as text, "mu ~ normal(0, 10); ..."; empty if there are none. */
int model_has_train_priors(const struct model *model);
void model_train_priors(const struct model *model, struct str *out);
const struct prog *model_density_program(const struct model *model);
/* Appends a program for some instances to p. by_density: all stochastic nodes are given, and the
   log densities of those marked in `only` are summed. Otherwise the marked nodes are drawn given
   the others. Deterministic instances are computed unless marked COMPILE_NOT.  0 or NAMI_ENOMEM. */
enum { COMPILE_NOT = 2 };
int model_program(const struct model *model, struct prog *p, int by_density,
                  const unsigned char *only);

/* ---- networks ----------------------------------------------------------------------------- */

int model_num_networks(const struct model *model);
int model_learns(const struct model *model); /* does it have networks to learn? */
const struct net *model_network(const struct model *model, int network);
size_t model_num_weights(const struct model *model); /* of all networks, one after another */
const double *model_weights(const struct model *model);
void model_set_weights(struct model *model, size_t n, const float *weights); /* the first n */
int model_num_embeddings(const struct model *model);
const struct embed *model_embedding(const struct model *model, int embedding);

/* ---- arrays ------------------------------------------------------------------------------- */

int model_num_arrays(const struct model *model);
int model_find_array(const struct model *model, const char *name, size_t len); /* or -1 */
const char *array_name(const struct model *model, int array);
int array_size(const struct model *model, int array);
int array_shape(const struct model *model, int array, int *dim); /* the number of dimensions */
int array_first(const struct model *model, int array); /* its first element; the others follow */

/* ---- elements ----------------------------------------------------------------------------- */

int model_num_elements(const struct model *model);
void elem_name(const struct model *model, int element, struct str *out); /* "x[2,3]" */
int element_array(const struct model *model, int element);
int element_row(const struct model *model, int element);      /* or -1 */
int element_instance(const struct model *model, int element); /* the defining instance, or -1 */
int element_node(const struct model *model, int element);     /* or -1: it is not stochastic */
int element_is_observed(const struct model *model, int element);
int element_is_random(const struct model *model, int element); /* or a function of random ones */
int element_is_trained(const struct model *model, int element); /* has a training distribution */
/* Its distribution; NULL: none, or of unknown density. */
const struct dist *element_dist(const struct model *model, int element);
/* Bounds of its values, as far as the text of the model implies them. */
void model_support(const struct model *model, int element, double *lo, double *hi);

/* ---- statements and instances -------------------------------------------------------------- */

struct statement {
    int stochastic;          /* ~, not <- */
    const struct dist *dist; /* for ~; NULL: of unknown density (simulated) */
    const char *dist_name;   /* as written */
    int truncated;
    int num_instances;
    int line, col; /* of its left side */
};
int model_num_statements(const struct model *model);
struct statement model_statement(const struct model *model, int statement);
void statement_name(const struct model *model, int statement, struct str *out); /* "x[i,1:3]" */

int model_num_instances(const struct model *model);
void inst_name(const struct model *model, int instance, struct str *out); /* "mu[2,1:2]" */
int instance_statement(const struct model *model, int instance);
int instance_node(const struct model *model, int instance); /* or -1: it is not stochastic */
int instance_size(const struct model *model, int instance); /* number of elements that it defines */
const int *instance_elements(const struct model *model, int instance);

#endif
