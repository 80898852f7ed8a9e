/* view.c: what other modules may ask of a model. */
#include "model/view.h"

#include <string.h>

#include "model/lang/lang.h"
#include "model/model.h"

/* ---- where it comes from ---------------------------------------------------------------- */

const char *model_file_name(const struct model *m) { return m->file; }

const char *model_text(const struct model *m) { return m->text.s ? m->text.s : ""; }

enum dialect model_dialect(const struct model *m) { return m->syntax.dialect; }

const struct dataset *model_first_data(const struct model *m)
{
    return m->data.set.n ? &m->data.set.a[0] : NULL;
}

const char *model_simulator_command(const struct model *m) { return m->simulator; }

/* ---- its structure and its programs ------------------------------------------------------- */

const struct bn *model_bn(const struct model *m) { return m->bn; }

int model_num_rows(const struct model *m) { return m->nrow; }

const struct prog *model_sample_program(const struct model *m) { return &m->sample; }

const struct prog *model_density_program(const struct model *m) { return &m->density; }

int model_program(const struct model *m, struct prog *p, int by_density, const unsigned char *only)
{
    struct model copy = working_copy(m);
    int rc = model_compile(&copy, p, by_density, only);
    working_copy_fini(&copy);
    return rc;
}

/* ---- networks ----------------------------------------------------------------------------- */

int model_num_networks(const struct model *m) { return (int)m->net.n; }

const struct net *model_network(const struct model *m, int network) { return &m->net.a[network]; }

size_t model_num_weights(const struct model *m) { return m->weight.n; }

const double *model_weights(const struct model *m) { return m->weight.a; }

void model_set_weights(struct model *m, size_t n, const float *weights)
{
    for (size_t i = 0; i < n; i++) m->weight.a[i] = weights[i];
}

int model_num_embeddings(const struct model *m) { return (int)m->embed.n; }

const struct embed *model_embedding(const struct model *m, int embedding)
{
    return &m->embed.a[embedding];
}

/* ---- arrays ------------------------------------------------------------------------------- */

int model_num_arrays(const struct model *m) { return (int)m->array.n; }

int model_find_array(const struct model *m, const char *name, size_t len)
{
    for (size_t i = 0; i < m->array.n; i++) {
        const char *s = m->array.a[i].name;
        if (strncmp(s, name, len) == 0 && !s[len]) return (int)i;
    }
    return -1;
}

const char *array_name(const struct model *m, int array) { return m->array.a[array].name; }

int array_size(const struct model *m, int array) { return m->array.a[array].n; }

int array_first(const struct model *m, int array) { return m->array.a[array].first; }

/* ---- elements ----------------------------------------------------------------------------- */

int model_num_elements(const struct model *m) { return m->nelem; }

int element_array(const struct model *m, int e) { return m->elem_array[e]; }

int element_row(const struct model *m, int e) { return m->row[e]; }

int element_instance(const struct model *m, int e) { return m->owner[e]; }

int element_node(const struct model *m, int e)
{
    return m->owner[e] < 0 ? -1 : m->node[m->owner[e]];
}

int element_is_observed(const struct model *m, int e) { return m->observed[e]; }

int element_is_random(const struct model *m, int e) { return m->state[e] == E_RANDOM; }

const struct dist *element_dist(const struct model *m, int e)
{
    return m->owner[e] < 0 ? NULL : m->stmt.a[m->inst_stmt[m->owner[e]]].dist;
}

/* ---- statements and instances -------------------------------------------------------------- */

int model_num_statements(const struct model *m) { return (int)m->stmt.n; }

struct statement model_statement(const struct model *m, int statement)
{
    const struct stmt *s = &m->stmt.a[statement];
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
    syntax_put_expr(&m->syntax, m->stmt.a[statement].rel->lhs, out);
}

int model_num_instances(const struct model *m) { return m->ninst; }

int instance_statement(const struct model *m, int instance) { return m->inst_stmt[instance]; }

int instance_node(const struct model *m, int instance) { return m->node[instance]; }

int instance_size(const struct model *m, int instance)
{
    return m->lhs_off[instance + 1] - m->lhs_off[instance];
}

const int *instance_elements(const struct model *m, int instance)
{
    return m->lhs + m->lhs_off[instance];
}
