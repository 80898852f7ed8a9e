/* figure.c: figures of nami.h: what they are drawn from, the SVG, and PNG of it. */
#include "api/figure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/near.h"
#include "report/raster.h"
#include "train/train.h"

enum { NUMBERS = 1 << 22, MOST_PRIOR = 2000, FEWEST_PRIOR = 64 };
static const uint64_t PRIOR_SEED = 0x6669677072696f72;

/* ---- which scalars ------------------------------------------------------------------------ */

/* The length of the first name of a list, "a,b[1,2]". */
static size_t name_length(const char *list)
{
    int depth = 0;
    size_t n = 0;
    for (; list[n] && (depth || list[n] != ','); n++) depth += (list[n] == '[') - (list[n] == ']');
    return n;
}

static int is_named(const char *list, const char *array, const char *scalar)
{
    for (size_t n; *list; list += n + (list[n] == ',')) {
        n = name_length(list);
        if ((strlen(array) == n && memcmp(array, list, n) == 0) ||
            (strlen(scalar) == n && memcmp(scalar, list, n) == 0))
            return 1;
    }
    return 0;
}

/* Each of the names must be that of a variable, or of a scalar. */
static int check_names(const nami_posterior *p, const char *list, nami_err *err)
{
    for (size_t n; *list; list += n + (list[n] == ',')) {
        struct near best = NEAR_NONE;
        int found = 0, id = 0;
        n = name_length(list);
        for (int v = 0; v < p->layout.nvar && !found; v++) {
            const char *name = p->layout.var[v].name;
            found = strlen(name) == n && memcmp(name, list, n) == 0;
            near_try(&best, list, n, name, id++);
        }
        for (size_t i = 0; i < p->names.name.n && !found; i++) {
            found = strlen(p->names.name.a[i]) == n && memcmp(p->names.name.a[i], list, n) == 0;
            near_try(&best, list, n, p->names.name.a[i], id++);
        }
        if (!found)
            return err_set(err, NAMI_EUSAGE, "'%.*s' is no variable of this posterior%s%.60s%s",
                           (int)(n < 60 ? n : 60), list, best.word ? "; did you mean '" : "",
                           best.word ? best.word : "", best.word ? "'?" : "");
    }
    return 0;
}

static int is_discrete(const struct model *m, int element)
{
    const struct dist *d = element_dist(m, element);
    return d && domains[d->domain].discrete;
}

static struct figure_scalar scalar_of(const nami_posterior *p, int element, const char *name,
                                      size_t row)
{
    const struct model *m = p->net->net.model;
    struct figure_scalar s = {.name = name,
                              .discrete = is_discrete(m, element),
                              .draws = p->kept.z + (size_t)element_row(m, element) * p->kept.room,
                              .summary = p->summary[p->kept.set * p->stride + row]};
    model_support(m, element, &s.lo, &s.hi);
    if (!(s.lo <= s.hi)) s.lo = -INFINITY, s.hi = INFINITY;
    return s;
}

static int add_scalars(const nami_posterior *p, const char *only, struct figure_made *out,
                       int *element, nami_err *err)
{
    struct figure_scalar *scalar = arena_array(&out->mem, struct figure_scalar, p->num_rows + 1);
    struct figure_array *array = arena_array(&out->mem, struct figure_array, p->layout.nvar + 1);
    struct figure_input *in = &out->in;
    size_t k = 0;
    if (!scalar || !array) return err_nomem(err);
    in->scalar = scalar, in->array = array;
    in->num_draws = p->kept.num;
    in->chains = p->kept.chains;
    for (int v = 0; v < p->layout.nvar; v++) {
        const struct draws_var *var = &p->layout.var[v];
        int first = in->num_scalars;
        for (size_t e = 0; e < draws_var_size(var); e++, k++) {
            int at = variable_element(p, var, e);
            const char *name = p->names.name.a[k];
            if (!variable_is_asked(p, var, e) || element_row(p->net->net.model, at) < 0) continue;
            if (only && !is_named(only, var->name, name)) continue;
            element[in->num_scalars] = at;
            scalar[in->num_scalars] = scalar_of(p, at, name, var->base + e);
            scalar[in->num_scalars++].array = in->num_arrays;
        }
        if (in->num_scalars > first)
            array[in->num_arrays++] =
                (struct figure_array){var->name, first, in->num_scalars - first};
    }
    return 0;
}

/* ---- observed variables, and draws of them -------------------------------------------------- */

/* Elements of observed variables: their number in the model, or -1: not observed. */
static int observed_element(const nami_posterior *p, const struct draws_var *v, size_t e)
{
    const struct model *m = p->net->net.model;
    int at = variable_element(p, v, e);
    return at >= 0 && element_is_observed(m, at) && element_row(m, at) >= 0 ? at : -1;
}

/* (elements, n) from rows x[row * n + i] of the model. */
static double *rows_of(const nami_posterior *p, const struct draws_var *v, size_t n,
                       const double *x, struct arena *mem)
{
    const struct model *m = p->net->net.model;
    size_t size = draws_var_size(v);
    double *out = arena_array(mem, double, size *n + 1);
    for (size_t e = 0; out && e < size; e++) {
        int at = observed_element(p, v, e);
        if (at >= 0)
            memcpy(out + e * n, x + (size_t)element_row(m, at) * n, n * sizeof *x);
        else
            for (size_t i = 0; i < n; i++) out[e * n + i] = NAN;
    }
    return out;
}

static int add_observed(const nami_posterior *p, const double *predicted, const double *prior,
                        struct figure_made *out, nami_err *err)
{
    const struct model *m = p->net->net.model;
    struct figure_input *in = &out->in;
    struct figure_observed *o = arena_array(&out->mem, struct figure_observed, p->seen.nvar + 1);
    if (!o) return err_nomem(err);
    in->observed = o;
    for (int v = 0; v < p->seen.nvar; v++, in->num_observed++) {
        const struct draws_var *var = &p->seen.var[v];
        size_t size = draws_var_size(var);
        double *data = arena_array(&out->mem, double, size + 1);
        if (!data) return err_nomem(err);
        o[v] = (struct figure_observed){.name = var->name, .num = (int)size, .data = data};
        for (size_t e = 0; e < size; e++) {
            int at = observed_element(p, var, e);
            data[e] =
                at < 0 ? NAN : p->asked.x[(size_t)element_row(m, at) * p->q.nset + p->kept.set];
            if (at >= 0) o[v].discrete = is_discrete(m, at);
        }
        if (predicted &&
            !(o[v].predicted = rows_of(p, var, in->num_predicted, predicted, &out->mem)))
            return err_nomem(err);
        if (prior && !(o[v].prior = rows_of(p, var, in->num_prior, prior, &out->mem)))
            return err_nomem(err);
    }
    return 0;
}

/* Has every variable a density of its own, so that it can be drawn here? */
static int can_draw(const struct model *m)
{
    return !model_simulator_command(m) && model_simulated(m) < 0;
}

static int predict(const nami_posterior *p, struct figure_made *out, double **x, nami_err *err)
{
    const struct model *m = p->net->net.model;
    size_t rows = (size_t)model_num_rows(m), n = p->kept.num;
    *x = NULL;
    if (!can_draw(m) || !p->seen.nvar || !n) return 0;
    if (!(*x = raw_array(double, rows *n + 1))) return err_nomem(err);
    for (size_t r = 0; r < rows; r++)
        memcpy(*x + r * n, p->kept.z + r * p->kept.room, n * sizeof **x);
    out->in.num_predicted = n;
    return model_predict(m, p->opt.seed, 0, n, p->threads, *x, err);
}

/* The prior; none if it cannot be drawn from. */
static int simulate(const nami_posterior *p, struct figure_made *out, double **x, nami_err *err)
{
    const struct model *m = p->net->net.model;
    size_t rows = (size_t)model_num_rows(m), n = NUMBERS / (rows + !rows);
    nami_err why;
    *x = NULL;
    if (!can_draw(m)) return 0;
    n = n > MOST_PRIOR ? MOST_PRIOR : n < FEWEST_PRIOR ? FEWEST_PRIOR : n;
    if (!(*x = raw_array(double, rows *n + 1))) return err_nomem(err);
    int rc = model_simulate(m, PRIOR_SEED, 0, n, p->threads, *x, &why);
    if (!rc) out->in.num_prior = n;
    if (!rc) return 0;
    free(*x);
    *x = NULL;
    return rc == NAMI_ENOMEM ? err_nomem(err) : 0;
}

static int add_prior(const nami_posterior *p, const int *element, const double *x,
                     struct figure_made *out, nami_err *err)
{
    struct figure_scalar *scalar = (struct figure_scalar *)out->in.scalar;
    size_t n = out->in.num_prior;
    for (int i = 0; x && i < out->in.num_scalars; i++) {
        double *to = arena_array(&out->mem, double, n + 1);
        if (!to) return err_nomem(err);
        memcpy(to, x + (size_t)element_row(p->net->net.model, element[i]) * n, n * sizeof *to);
        scalar[i].prior = to;
    }
    return 0;
}

static int add_posterior(const nami_posterior *p, const char *only, struct figure_made *out,
                         nami_err *err)
{
    double *predicted = NULL, *prior = NULL;
    int *element = arena_array(&out->mem, int, p->num_rows + 1);
    int rc = is_done(p, err);
    if (!rc && !p->kept.num)
        rc = err_set(err, NAMI_EUSAGE,
                     "no draws were kept: figures need those of a data set (nami_posterior_keep)");
    if (!rc && !element) rc = err_nomem(err);
    if (!rc && only) rc = check_names(p, only, err);
    out->set = p->kept.set;
    if (!rc) rc = add_scalars(p, only, out, element, err);
    if (!rc) rc = predict(p, out, &predicted, err);
    if (!rc) rc = simulate(p, out, &prior, err);
    if (!rc) rc = add_prior(p, element, prior, out, err);
    if (!rc) rc = add_observed(p, predicted, prior, out, err);
    free(predicted);
    free(prior);
    return rc;
}

/* ---- the history of training ---------------------------------------------------------------- */

/* What the file holds; nothing, if its shape is not that of this network. */
static int add_history(const struct network *n, struct figure_made *out, nami_err *err)
{
    const struct st_tensor *t = st_find(&n->file, "nami.history");
    const struct loss_term *term = n->plan.elbo ? n->elbo.loss_term : n->q.loss_term;
    size_t terms = (size_t)(n->plan.elbo ? n->elbo.num_loss_terms : n->q.num_loss_terms),
           width = HIST_PARTS + terms;
    struct figure_history *h = &out->in.history;
    if (!t || t->type != ST_F64 || !t->n || t->n % width) return 0;
    size_t rows = t->n / width;
    const char **name = arena_array(&out->mem, const char *, terms + 1);
    double *x = arena_array(&out->mem, double, (3 + terms) * rows + 1);
    if (!name || !x) return err_nomem(err);
    for (size_t i = 0; i < rows; i++) {
        double row[HIST_PARTS];
        memcpy(row, (const char *)t->x + i * width * sizeof *row, sizeof row);
        x[i] = row[HIST_STEP], x[rows + i] = row[HIST_TRAIN], x[2 * rows + i] = row[HIST_VALID];
        for (size_t k = 0; k < terms; k++)
            memcpy(&x[(3 + k) * rows + i],
                   (const char *)t->x + (i * width + HIST_PARTS + k) * sizeof *row, sizeof *row);
    }
    for (size_t k = 0; k < terms; k++) name[k] = term[k].name;
    *h = (struct figure_history){.num_rows = (int)rows,
                                 .num_terms = (int)terms,
                                 .step = x,
                                 .train = x + rows,
                                 .valid = x + 2 * rows,
                                 .term = x + 3 * rows,
                                 .name = name};
    return 0;
}

/* ---- all --------------------------------------------------------------------------------------
 */

int figure_make(const nami_network *net, const nami_posterior *post,
                const nami_calibration *calibration, const char *only, struct figure_made *out,
                nami_err *err)
{
    *out = (struct figure_made){0};
    int rc = post ? add_posterior(post, only, out, err) : 0;
    if (!rc) rc = add_history(&net->net, out, err);
    if (calibration) out->in.calibration = calibration_found(calibration);
    return rc;
}

void figure_made_free(struct figure_made *m) { arena_free(&m->mem); }

static int is_of_posterior(const struct figure *f)
{
    return f->needs & (FIGURE_DRAWS | FIGURE_CHAINS | FIGURE_PREDICTED | FIGURE_PRIOR_PREDICTED);
}

const char *nami_figure_of(const char *name)
{
    const struct figure *f = figure_find(name);
    return !f                               ? NULL
           : is_of_posterior(f)             ? "posterior"
           : f->needs == FIGURE_CALIBRATION ? "calibration"
                                            : "network";
}

static int no_such_figure(const char *name, nami_err *err)
{
    struct str all = {0};
    struct near best = NEAR_NONE;
    for (int i = 0; figures[i]; i++) {
        str_printf(&all, "%s%s", i ? ", " : "", figures[i]->name);
        near_try(&best, name, strlen(name), figures[i]->name, i);
    }
    int rc = best.word ? err_set(err, NAMI_EUSAGE,
                                 "no figure is called '%.60s'; did you mean '%s'?", name, best.word)
                       : err_set(err, NAMI_EUSAGE, "no figure is called '%.60s'; there are %s",
                                 name, all.s ? all.s : "");
    str_free(&all);
    return rc;
}

/* Why a figure cannot be drawn of this input. */
static int cannot(const struct figure *f, nami_err *err)
{
    const char *why =
        f->needs == FIGURE_CHAINS
            ? "the draws are not of Markov chains: the method 'mcmc' makes chains"
        : f->needs == FIGURE_PREDICTED
            ? "the data cannot be predicted: nothing is observed, or a simulator draws it"
        : f->needs == FIGURE_PRIOR_PREDICTED
            ? "the prior cannot be drawn from, or nothing is observed"
        : f->needs == FIGURE_HISTORY     ? "the file of the network has no history of its training"
        : f->needs == FIGURE_CALIBRATION ? "it is of a calibration, which must be made first"
                                         : "there is nothing to infer, or no draws";
    return err_set(err, NAMI_EUSAGE, "the figure '%s' cannot be drawn: %s", f->name, why);
}

static int put_figure(const nami_network *net, const nami_posterior *post, const char *name,
                      const nami_figure_options *opt, char **svg, nami_err *err)
{
    nami_figure_options o = {0};
    const struct figure *f = figure_find(name);
    struct figure_made made;
    struct str out = {0};
    err_clear(err);
    *svg = NULL;
    if (!f) return no_such_figure(name, err);
    if (opt) memcpy(&o, opt, opt->size && opt->size < sizeof o ? opt->size : sizeof o);
    if (o.most < 0) return err_set(err, NAMI_EUSAGE, "a figure cannot have %d panels", o.most);
    int rc = !post && is_of_posterior(f) ? cannot(f, err) : 0;
    if (rc) return rc;
    rc = figure_make(net, is_of_posterior(f) ? post : NULL, NULL, o.only, &made, err);
    made.in.most = o.most;
    if (!rc && !figure_can(f, &made.in)) rc = cannot(f, err);
    if (!rc && f->put(&made.in, plot_svg, &out)) rc = err_nomem(err);
    figure_made_free(&made);
    if (!rc) return give_text(&out, svg, NULL, err);
    str_free(&out);
    return rc;
}

int nami_posterior_figure(const nami_posterior *p, const char *name, const nami_figure_options *opt,
                          char **svg, nami_err *err)
{
    return put_figure(p->net, p, name, opt, svg, err);
}

int nami_network_figure(const nami_network *net, const char *name, const nami_figure_options *opt,
                        char **svg, nami_err *err)
{
    return put_figure(net, NULL, name, opt, svg, err);
}

int nami_figure_png(const char *svg, const nami_png_options *opt, char **png, size_t *len,
                    nami_err *err)
{
    nami_png_options o = {0};
    struct str dark = {0}, out = {0};
    err_clear(err);
    *png = NULL;
    *len = 0;
    if (opt) memcpy(&o, opt, opt->size && opt->size < sizeof o ? opt->size : sizeof o);
    if (o.zoom == 0) o.zoom = 2;
    if (!(o.zoom >= 0.1 && o.zoom <= 20))
        return err_set(err, NAMI_EUSAGE, "the zoom of a figure must be between 0.1 and 20, not %g",
                       o.zoom);
    if (o.dark) plot_css_only_dark(&dark);
    int rc = dark.oom ? err_nomem(err) : raster_png(svg, dark.s, o.zoom, &out, err);
    str_free(&dark);
    if (!rc) return give_text(&out, png, len, err);
    str_free(&out);
    return rc;
}
