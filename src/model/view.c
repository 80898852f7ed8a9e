/* view.c: accessors of a model for other modules. */
#include "model/view.h"

#include <string.h>

#include "model/lang/lang.h"
#include "model/model.h"

/* ---- where it comes from ---------------------------------------------------------------- */

const char *model_file_name(const struct model *m) { return m->source.file; }

int model_set_file_name(struct model *model, const char *file)
{
    const char *copy = file ? arena_strndup(&model->mem, file, strlen(file)) : NULL;
    if (file && !copy) return NAMI_ENOMEM;
    model->source.file = copy;
    return 0;
}

const char *model_text(const struct model *m) { return m->source.text.s ? m->source.text.s : ""; }

enum dialect model_dialect(const struct model *m) { return m->source.syntax.dialect; }

const struct data *model_data(const struct model *model) { return &model->source.data; }

const struct dataset *model_first_data(const struct model *m)
{
    return m->source.data.set.n ? &m->source.data.set.a[0] : NULL;
}

const char *model_simulator_command(const struct model *m) { return m->source.simulator; }

int model_simulated(const struct model *m)
{
    for (size_t i = 0; i < m->ir.statements.n; i++)
        if (m->ir.statements.a[i].rel->stochastic && !m->ir.statements.a[i].dist) return (int)i;
    return -1;
}

/* ---- its structure and its programs ------------------------------------------------------- */

const struct bn *model_bn(const struct model *m) { return m->ir.bn; }

int model_num_rows(const struct model *m) { return m->ir.num_rows; }

const struct prog *model_sample_program(const struct model *m) { return &m->programs.sample; }

const struct prog *model_training_program(const struct model *m)
{
    return m->source.training ? &m->programs.training : &m->programs.sample;
}

int element_is_trained(const struct model *m, int e)
{
    int k = m->ir.defined_by[e];
    return m->ir.train_prior && k >= 0 && m->ir.train_prior[k].kind != 0;
}

void model_open_ranges(const struct model *m, struct str *out)
{
    const struct syntax *s = &m->source.syntax;
    for (size_t i = 0; i < s->decl.n; i++) {
        if (!s->decl.a[i].range) continue;
        str_printf(out, "%s%s=", out->n ? "," : "", syntax_name(s, s->decl.a[i].ref->name));
        syntax_put_expr(s, s->decl.a[i].range, out);
    }
}

int model_has_train_priors(const struct model *m) { return m->source.training != NULL; }

void model_train_priors(const struct model *m, struct str *out)
{
    const struct syntax *s = &m->source.syntax;
    for (size_t i = 0; i < s->train.n; i++) {
        if (i) str_put(out, "; ");
        syntax_put_rel(s, &s->train.a[i], out);
    }
}

const struct prog *model_density_program(const struct model *m) { return &m->programs.density; }

int model_program(const struct model *m, struct prog *p, int by_density, const unsigned char *only)
{
    struct model copy = working_copy(m);
    int rc = model_compile(&copy, p, by_density, only);
    working_copy_fini(&copy);
    return rc;
}

/* ---- networks ----------------------------------------------------------------------------- */

int model_num_networks(const struct model *m) { return (int)m->ir.networks.n; }

const struct net *model_network(const struct model *m, int network)
{
    return &m->ir.networks.a[network];
}

size_t model_num_weights(const struct model *m) { return m->programs.weights.n; }

const double *model_weights(const struct model *m) { return m->programs.weights.a; }

void model_set_weights(struct model *m, size_t n, const float *weights)
{
    for (size_t i = 0; i < n; i++) m->programs.weights.a[i] = weights[i];
}

int model_num_embeddings(const struct model *m) { return (int)m->ir.embeddings.n; }

const struct embed *model_embedding(const struct model *m, int embedding)
{
    return &m->ir.embeddings.a[embedding];
}

/* ---- arrays ------------------------------------------------------------------------------- */

int model_num_arrays(const struct model *m) { return (int)m->ir.arrays.n; }

int model_find_array(const struct model *m, const char *name, size_t len)
{
    for (size_t i = 0; i < m->ir.arrays.n; i++) {
        const char *s = m->ir.arrays.a[i].name;
        if (strncmp(s, name, len) == 0 && !s[len]) return (int)i;
    }
    return -1;
}

const char *array_name(const struct model *m, int array) { return m->ir.arrays.a[array].name; }

int array_size(const struct model *m, int array) { return m->ir.arrays.a[array].n; }

int array_shape(const struct model *m, int array, int *dim)
{
    const struct array *a = &m->ir.arrays.a[array];
    memcpy(dim, a->dim, sizeof a->dim);
    return a->ndim;
}

int array_first(const struct model *m, int array) { return m->ir.arrays.a[array].first; }

/* ---- elements ----------------------------------------------------------------------------- */

int model_num_elements(const struct model *m) { return m->ir.num_elements; }

int element_array(const struct model *m, int e) { return m->ir.array_of[e]; }

int element_row(const struct model *m, int e) { return m->ir.row[e]; }

int element_instance(const struct model *m, int e) { return m->ir.defined_by[e]; }

int element_node(const struct model *m, int e)
{
    return m->ir.defined_by[e] < 0 ? -1 : m->ir.node[m->ir.defined_by[e]];
}

int element_is_observed(const struct model *m, int e) { return m->ir.observed[e]; }

int element_is_random(const struct model *m, int e) { return m->ir.state[e] == E_RANDOM; }

const struct dist *element_dist(const struct model *m, int e)
{
    return m->ir.defined_by[e] < 0 ? NULL : instance_stmt(m, m->ir.defined_by[e])->dist;
}

/* ---- statements and instances -------------------------------------------------------------- */

int model_num_statements(const struct model *m) { return (int)m->ir.statements.n; }

struct statement model_statement(const struct model *m, int statement)
{
    const struct stmt *s = &m->ir.statements.a[statement];
    return (struct statement){.stochastic = s->rel->stochastic,
                              .dist = s->dist,
                              .dist_name = s->name,
                              .truncated = s->rel->trunc,
                              .num_instances = s->n,
                              .line = s->lhs->at.line,
                              .col = s->lhs->at.col};
}

void statement_name(const struct model *m, int statement, struct str *out)
{
    syntax_put_expr(&m->source.syntax, m->ir.statements.a[statement].rel->lhs, out);
}

int model_num_instances(const struct model *m) { return m->ir.num_instances; }

int instance_statement(const struct model *m, int instance) { return m->ir.statement_of[instance]; }

int instance_node(const struct model *m, int instance) { return m->ir.node[instance]; }

int instance_size(const struct model *m, int instance)
{
    return m->ir.first_defined[instance + 1] - m->ir.first_defined[instance];
}

const int *instance_elements(const struct model *m, int instance)
{
    return m->ir.defined + m->ir.first_defined[instance];
}
