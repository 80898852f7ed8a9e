/* comparison.c: nami_comparison_*: models of the same data, compared by their evidence and by
   leave-one-out cross-validation. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/posterior.h"
#include "base/err.h"
#include "report/names.h"
#include "report/table.h"

struct compared {
    nami_compared is;
    struct loo_point *point; /* of all data sets, in the order of the first model */
};

struct nami_comparison {
    struct arena mem;
    int num;
    size_t sets, observations; /* of a data set */
    struct compared *of;
};

static int differ(const char *name, const char *first, const char *why, const char *what,
                  nami_err *err)
{
    return err_set(err, NAMI_EINPUT,
                   "%.80s and %.80s cannot be compared: %s%.60s; models must observe the same "
                   "variables and be asked for the same data",
                   first, name, why, what);
}

/* The value of observation k in data set s. */
static double value_of(const nami_posterior *p, size_t k, size_t s)
{
    const struct model *m = p->net->net.model;
    return p->asked.x[(size_t)element_row(m, p->likelihood.of.elem[k]) * p->q.nset + s];
}

/* Log densities of observations that have the same names and values as those of the first. */
static int take_points(struct compared *c, const nami_posterior *p, const nami_posterior *first,
                       const char *name, const char *first_name, nami_err *err)
{
    size_t n = (size_t)first->likelihood.of.n;
    struct dict names = {0};
    int rc = 0, fresh;
    if ((size_t)p->likelihood.of.n != n || p->q.nset != first->q.nset)
        return differ(name, first_name, "their numbers of observations or data sets differ", "",
                      err);
    if (!(c->point = raw_array(struct loo_point, n * p->q.nset))) return err_nomem(err);
    for (size_t k = 0; k < n && !rc; k++)
        if (dict_add(&names, p->likelihood.name[k], strlen(p->likelihood.name[k]), &fresh) < 0)
            rc = err_nomem(err);
    for (size_t k = 0; k < n && !rc; k++) {
        const char *want = first->likelihood.name[k];
        int at = dict_find(&names, want, strlen(want));
        if (at < 0) rc = differ(name, first_name, "only the first observes ", want, err);
        for (size_t s = 0; s < p->q.nset && !rc; s++) {
            if (value_of(p, (size_t)at, s) != value_of(first, k, s))
                rc = differ(name, first_name, "their data have other values of ", want, err);
            c->point[s * n + k] = p->likelihood.point[s * n + (size_t)at];
        }
    }
    dict_free(&names);
    return rc;
}

/* Sums over data sets. */
static int take_evidence(struct compared *c, const nami_posterior *p, nami_err *err)
{
    double square = 0;
    for (size_t s = 0; s < p->q.nset; s++) {
        nami_verdict v;
        int rc = nami_posterior_verdict(p, s, &v, err);
        if (rc) return rc;
        c->is.log_evidence += v.log_evidence;
        square += v.log_evidence_se * v.log_evidence_se;
        if (v.verdict > c->is.verdict) c->is.verdict = v.verdict;
    }
    c->is.log_evidence_se = sqrt(square);
    return 0;
}

static int conclude(nami_comparison *x, size_t draws, nami_err *err)
{
    size_t n = x->sets * x->observations;
    const struct loo_point **point = new_array(const struct loo_point *, x->num);
    double *weight = raw_array(double, x->num), max = -INFINITY, sum = 0;
    int best = 0, known = 1, rc = point && weight ? 0 : err_nomem(err);
    for (int k = 0; k < x->num && !rc; k++) {
        nami_compared *c = &x->of[k].is;
        struct loo all = loo_of(n, point[k] = x->of[k].point, draws);
        c->elpd = all.elpd, c->elpd_se = all.se, c->p_loo = all.p, c->num_bad = all.bad;
        if (c->elpd > x->of[best].is.elpd) best = k;
        known &= !isnan(c->log_evidence);
        max = fmax(max, c->log_evidence);
    }
    if (!rc) rc = loo_stack(n, (size_t)x->num, point, weight, err);
    for (int k = 0; k < x->num && !rc; k++) sum += exp(x->of[k].is.log_evidence - max);
    for (int k = 0; k < x->num && !rc; k++) {
        nami_compared *c = &x->of[k].is;
        c->probability = known && max > -INFINITY ? exp(c->log_evidence - max) / sum : NAN;
        c->stacking = weight[k];
        c->difference = loo_difference(n, point[k], point[best], &c->difference_se);
    }
    free(point);
    free(weight);
    return rc;
}

int nami_comparison_new(int num, const nami_posterior *const *posts, const char *const *names,
                        nami_comparison **out, nami_err *err)
{
    err_clear(err);
    *out = NULL;
    if (num < 1) return err_set(err, NAMI_EUSAGE, "there are no models to compare");
    nami_comparison *x = new_array(nami_comparison, 1);
    if (!x) return err_nomem(err);
    x->of = new_array(struct compared, num);
    x->num = x->of ? num : 0;
    int rc = x->of ? 0 : err_nomem(err);
    for (int k = 0; k < num && !rc; k++) {
        const nami_posterior *p = posts[k];
        rc = is_done(p, err);
        if (!rc) rc = has_loo(p, err);
        if (!rc) rc = take_points(&x->of[k], p, posts[0], names[k], names[0], err);
        if (!rc) rc = take_evidence(&x->of[k], p, err);
        if (!rc && !(x->of[k].is.name = arena_strndup(&x->mem, names[k], strlen(names[k]))))
            rc = err_nomem(err);
    }
    x->sets = posts[0]->q.nset;
    x->observations = (size_t)posts[0]->likelihood.of.n;
    if (!rc) rc = conclude(x, posts[0]->q.per, err);
    if (rc)
        nami_comparison_free(x);
    else
        *out = x;
    return rc;
}

void nami_comparison_free(nami_comparison *x)
{
    if (!x) return;
    for (int k = 0; k < x->num; k++) free(x->of[k].point);
    free(x->of);
    arena_free(&x->mem);
    free(x);
}

int nami_comparison_model(const nami_comparison *x, int i, nami_compared *out, nami_err *err)
{
    err_clear(err);
    if (i < 0 || i >= x->num)
        return err_set(err, NAMI_EUSAGE, "there is no model %d: there are %d", i + 1, x->num);
    *out = x->of[i].is;
    return 0;
}

static void put_pair(struct table *t, double value, double se)
{
    if (isnan(value))
        str_put(&t->cells, "-");
    else if (value == 0 && se == 0)
        str_put(&t->cells, "0");
    else
        str_printf(&t->cells, "%.2f +- %.2f", value, se);
    table_end(t);
}

static void put_text(const nami_comparison *x, struct str *out)
{
    static const char *const head[] = {"model",      "log p(x)",   "probability",
                                       "elpd (loo)", "difference", "stacking"};
    struct table t = {.align = "lrrrrr"};
    size_t bad = 0;
    int known = 1;
    for (int i = 0; i < 6; i++) table_cell(&t, head[i]);
    for (int k = 0; k < x->num; k++) {
        const nami_compared *c = &x->of[k].is;
        table_cell(&t, c->name);
        put_pair(&t, c->log_evidence, c->log_evidence_se);
        if (isnan(c->probability))
            str_put(&t.cells, "-");
        else
            str_printf(&t.cells, "%.3g", c->probability);
        table_end(&t);
        put_pair(&t, c->elpd, c->elpd_se), put_pair(&t, c->difference, c->difference_se);
        str_printf(&t.cells, "%.2f", c->stacking), table_end(&t);
        bad += c->num_bad;
        known &= !isnan(c->log_evidence);
    }
    table_put(&t, 2, out);
    if (!known)
        str_put(out, "note         Markov chains give no evidence: ask for another method\n");
    if (bad)
        str_printf(
            out, "loo          k-hat is too large for %zu of %zu observations: elpd may be wrong\n",
            bad, (size_t)x->num * x->sets * x->observations);
    for (int k = 0; k < x->num; k++)
        if (x->of[k].is.verdict == NAMI_NOT_TRUSTED)
            str_printf(out, "verdict      the posterior of %s is not trusted\n", x->of[k].is.name);
}

static void put_json(const nami_comparison *x, struct str *out)
{
    str_printf(out, "{\"sets\":%zu,\"observations\":%zu,\"models\":[", x->sets, x->observations);
    for (int k = 0; k < x->num; k++) {
        const nami_compared *c = &x->of[k].is;
        str_put(out, k ? ",\n {\"model\":" : "\n {\"model\":");
        str_quote(out, c->name);
        str_printf(out, ",\"verdict\":\"%s\",\"khat_bad\":%zu", verdict_names[c->verdict],
                   c->num_bad);
        put_json_number(out, "log_evidence", c->log_evidence);
        put_json_number(out, "log_evidence_se", c->log_evidence_se);
        put_json_number(out, "probability", c->probability);
        put_json_number(out, "elpd", c->elpd), put_json_number(out, "elpd_se", c->elpd_se);
        put_json_number(out, "p_loo", c->p_loo);
        put_json_number(out, "difference", c->difference);
        put_json_number(out, "difference_se", c->difference_se);
        put_json_number(out, "stacking", c->stacking);
        str_put(out, "}");
    }
    str_put(out, "]}\n");
}

int nami_comparison_describe(const nami_comparison *x, const char *as, char **text, nami_err *err)
{
    struct str out = {0};
    err_clear(err);
    *text = NULL;
    if (strcmp(as, "json") == 0)
        put_json(x, &out);
    else if (strcmp(as, "text") == 0)
        put_text(x, &out);
    else
        return no_such_form(as, "text, json", err);
    return give_text(&out, text, NULL, err);
}
