/* list.c: lists of what NaMI knows (distributions, functions, formats, methods, ...), from the
   tables of the modules: the words of options, and `nami list`. */
#include <string.h>

#include "api/api.h"
#include "base/err.h"
#include "data/posterior.h"
#include "exact/integral.h"
#include "graph/invert.h"
#include "infer/method.h"
#include "io/format.h"
#include "model/lang/functions.h"
#include "net/arch.h"
#include "net/family.h"
#include "report/figure.h"
#include "report/show.h"
#include "report/table.h"
#include "study/study.h"
#include "train/training.h"

/* ---- what can be listed ------------------------------------------------------------- */

enum { CELLS = 5 };

struct list {
    const char *name, *what;
    const char *cell[CELLS]; /* names of the columns */
    /* Fills the i-th row; 0 behind the last.  `text` is empty: room for one cell. */
    int (*row)(int i, const char **cell, struct str *text);
};

static int format_row(int i, const char **cell, struct str *text)
{
    (void)text;
    const struct format *f = formats[i];
    if (!f) return 0;
    cell[0] = f->name;
    cell[1] = f->write ? "read, write" : "read";
    cell[2] = f->ends;
    cell[3] = f->what;
    return 1;
}

static int method_row(int i, const char **cell, struct str *text)
{
    (void)text;
    if (!methods[i]) return 0;
    cell[0] = methods[i]->name;
    cell[1] = methods[i]->what;
    return 1;
}

static int mode_row(int i, const char **cell, struct str *text)
{
    (void)text;
    if (!mode_names[i]) return 0;
    cell[0] = mode_names[i];
    cell[1] = mode_whats[i];
    return 1;
}

static int criterion_row(int i, const char **cell, struct str *text)
{
    (void)text;
    if (!criteria[i].name) return 0;
    cell[0] = criteria[i].name;
    cell[1] = criteria[i].what;
    return 1;
}

/* The i-th method that has draws, or estimates of the evidence. */
static int method_with(int i, int draws, const char **cell)
{
    for (int k = 0; infer_methods[k]; k++) {
        const struct infer_method *m = infer_methods[k];
        if (!(draws ? m->fill != NULL : m->evidence != NULL) || i-- > 0) continue;
        cell[0] = m->name;
        cell[1] = m->what;
        return 1;
    }
    return 0;
}

static int sampler_row(int i, const char **cell, struct str *text)
{
    (void)text;
    return method_with(i, 1, cell);
}

static int evidence_row(int i, const char **cell, struct str *text)
{
    (void)text;
    return method_with(i, 0, cell);
}

static int family_row(int i, const char **cell, struct str *text)
{
    const struct family *f = net_families[i];
    if (!f) return 0;
    cell[0] = f->name;
    if (f->size && f->size_what)
        str_printf(text, "%d %s", f->size, f->size_what), cell[1] = text->s ? text->s : "";
    else
        cell[1] = "";
    cell[2] = f->what;
    return 1;
}

/* auto, then net_archs[] */
static int architecture_row(int i, const char **cell, struct str *text)
{
    (void)text;
    const struct arch *a = i ? net_archs[i - 1] : NULL;
    if (i && !a) return 0;
    cell[0] = arch_name(a);
    cell[1] = a ? a->what : "chosen for each factor by the structure of the model";
    return 1;
}

/* What an alias means begins with the name of the record: "normal(mu, ...". */
static const struct dist *alias_dist(const struct dist_alias *a)
{
    return dist_find(a->meaning, strcspn(a->meaning, "("));
}

static int form_row(const struct dist_form *f, const char **cell, struct str *text)
{
    for (int k = 0; k < f->narg; k++)
        str_printf(text, "%s%s %s", k ? ", " : "", f->arg[k].name,
                   f->arg[k].domain == A_DIST ? "distribution" : domains[f->arg[k].domain].name);
    cell[0] = f->name;
    cell[1] = text->s ? text->s : "";
    cell[2] = f->value;
    cell[3] = "NaMI";
    cell[4] = f->what;
    return 1;
}

/* dists[], behind them dist_forms[], and dist_aliases[] */
static int dist_row(int i, const char **cell, struct str *text)
{
    int n = 0, nforms = 0;
    while (n < i && dists[n]) n++;
    while (dist_forms[nforms]) nforms++;
    if (!dists[n] && i - n < nforms) return form_row(dist_forms[i - n], cell, text);
    if (!dists[n]) i -= nforms;
    const struct dist *d = dists[n];
    const struct dist_alias *a = d ? NULL : &dist_aliases[i - n];
    if (a && !a->name) return 0;
    if (a)
        for (const char *s = a->args; *s; s++) str_putn(text, *s == ':' ? " " : s, 1);
    else
        for (int k = 0; k < d->narg; k++)
            str_printf(text, "%s%s %s", k ? ", " : "", d->arg[k].name,
                       domains[d->arg[k].domain].name);
    cell[0] = a ? a->name : d->name;
    cell[1] = text->n ? text->s : "";
    cell[2] = domains[(a ? alias_dist(a) : d)->domain].name;
    cell[3] = a ? a->whose : d->own ? "NaMI" : "Stan";
    cell[4] = a ? a->meaning : d->what;
    return 1;
}

/* ops[], what is built in, other names of ops, and functions of distributions by their pattern */
static int function_row(int i, const char **cell, struct str *text)
{
    int n = 0, k = 0, naliases = 0;
    while (n < i && ops[n]) n++;
    while (n + k < i && builtins[k].name) k++;
    while (op_aliases[naliases].alias) naliases++;
    const struct op *op = ops[n];
    const struct builtin *own = &builtins[k];
    const struct density_form *form =
        &density_forms[i - n - k < naliases ? 0 : i - n - k - naliases];
    if (op) {
        cell[0] = op->name, cell[1] = op->args, cell[2] = op->what;
    } else if (own->name) {
        cell[0] = own->name, cell[1] = own->args, cell[2] = own->what;
    } else if (i - n - k >= naliases) {
        cell[0] = form->name, cell[1] = form->args, cell[2] = form->what;
        return form->name != NULL;
    } else {
        k = i - n - k;
        str_printf(text, "another name of %s", op_aliases[k].name);
        cell[0] = op_aliases[k].alias;
        cell[1] = op_find(cell[0], strlen(cell[0]))->args;
        cell[2] = text->s ? text->s : "";
    }
    return 1;
}

/* Tables of names alone. */
#define NAMES(row, table)                                                                          \
    static int row(int i, const char **cell, struct str *text)                                     \
    {                                                                                              \
        (void)text;                                                                                \
        return (cell[0] = (table)[i]) != NULL;                                                     \
    }
NAMES(activation_row, act_names)
NAMES(objective_row, objective_names)
NAMES(start_row, ais_starts)
NAMES(pixel_row, brightness_words)

/* Tables of pointers to records with a name and what it is. */
#define RECORDS_OF(row, table)                                                                     \
    static int row(int i, const char **cell, struct str *text)                                     \
    {                                                                                              \
        (void)text;                                                                                \
        if (!(table)[i]) return 0;                                                                 \
        cell[0] = (table)[i]->name;                                                                \
        cell[1] = (table)[i]->what;                                                                \
        return 1;                                                                                  \
    }
RECORDS_OF(study_row, experiments)
RECORDS_OF(posterior_row, posterior_formats)
RECORDS_OF(integral_row, integral_kinds)

/* Tables of such records, whose last name is NULL. */
#define RECORDS(row, table)                                                                        \
    static int row(int i, const char **cell, struct str *text)                                     \
    {                                                                                              \
        (void)text;                                                                                \
        cell[0] = (table)[i].name;                                                                 \
        cell[1] = (table)[i].what;                                                                 \
        return cell[0] != NULL;                                                                    \
    }
RECORDS(section_row, sections)
RECORDS_OF(figure_row, figures)

/* Those of a calibration. */
static int plot_row(int i, const char **cell, struct str *text)
{
    (void)text;
    for (int k = 0; figures[k]; k++)
        if (figures[k]->needs == FIGURE_CALIBRATION && i-- == 0) {
            cell[0] = figures[k]->name;
            cell[1] = figures[k]->what;
            return 1;
        }
    return 0;
}

static int list_row(int i, const char **cell, struct str *text);

static const struct list lists[] = {
    {"dists",
     "distributions of the model language",
     {"name", "arguments", "value", "standard", "what"},
     dist_row},
    {"functions", "functions of the model language", {"name", "arguments", "what"}, function_row},
    {"formats", "file formats of structures", {"name", "access", "endings", "what"}, format_row},
    {"methods", "inversion methods", {"name", "what"}, method_row},
    {"modes", "inversion modes", {"name", "what"}, mode_row},
    {"criteria", "elimination heuristics", {"name", "what"}, criterion_row},
    {"integrals", "integrals that exact elimination knows", {"name", "what"}, integral_row},
    {"families",
     "output distributions of inference networks",
     {"name", "size", "what"},
     family_row},
    {"architectures", "network architectures", {"name", "what"}, architecture_row},
    {"activations", "activation functions", {"name"}, activation_row},
    {"objectives", "training objectives", {"name"}, objective_row},
    {"samplers", "inference methods: posterior draws", {"name", "what"}, sampler_row},
    {"evidence", "estimators of the evidence p(x)", {"name", "what"}, evidence_row},
    {"starts", "starting distributions of annealed importance sampling", {"name"}, start_row},
    {"pixels", "preprocessing of images", {"name"}, pixel_row},
    {"posteriors", "file formats of posterior draws", {"name", "what"}, posterior_row},
    {"sections", "sections of the description of an inverse", {"name", "what"}, section_row},
    {"figures", "figures of posteriors, training and calibration", {"name", "what"}, figure_row},
    {"plots", "plots of the calibration of a network", {"name", "what"}, plot_row},
    {"studies", "the paper's experiments", {"name", "what"}, study_row},
    {"lists", "these lists", {"name", "what"}, list_row},
    {NULL, NULL, {NULL}, NULL},
};

static int list_row(int i, const char **cell, struct str *text)
{
    (void)text;
    cell[0] = lists[i].name;
    cell[1] = lists[i].what;
    return cell[0] != NULL;
}

static const struct list *list_find(const char *name)
{
    const struct list *t = lists;
    while (t->name && strcmp(t->name, name) != 0) t++;
    return t->name ? t : NULL;
}

const char *nami_word(const char *list, int i)
{
    const struct list *t = list_find(list);
    const char *cell[CELLS];
    struct str text = {0};
    int there = t && t->row(i, cell, &text);
    str_free(&text); /* the first cell is never in it */
    return there ? cell[0] : NULL;
}

static void put_text(const struct list *t, struct str *out)
{
    static const char align[] = "lllll";
    const char *cell[CELLS];
    struct str text = {0};
    int n = 0;
    while (n < CELLS && t->cell[n]) n++;
    struct table table = {.align = align + CELLS - n};
    for (int i = 0; t->row(i, cell, &text); i++, text.n = 0)
        for (int k = 0; k < n; k++) table_cell(&table, cell[k]);
    table_put(&table, 0, out);
    out->oom |= text.oom;
    str_free(&text);
}

static void put_json(const struct list *t, struct str *out)
{
    const char *cell[CELLS];
    struct str text = {0};
    str_put(out, "[");
    for (int i = 0; t->row(i, cell, &text); i++, text.n = 0) {
        str_put(out, i ? ",\n" : "");
        for (int k = 0; k < CELLS && t->cell[k]; k++) {
            str_printf(out, "%s\"%s\":", k ? "," : "{", t->cell[k]);
            str_quote(out, cell[k]);
        }
        str_put(out, "}");
    }
    str_put(out, "]\n");
    out->oom |= text.oom;
    str_free(&text);
}

int nami_list(const char *list, const char *as, char **text, nami_err *err)
{
    const struct list *t = list_find(list);
    struct str out = {0};
    err_clear(err);
    *text = NULL;
    if (!t) return err_set(err, NAMI_EUSAGE, "no list is called '%.60s'", list);
    if (strcmp(as, "text") == 0)
        put_text(t, &out);
    else if (strcmp(as, "json") == 0)
        put_json(t, &out);
    else
        return no_such_form(as, "text, json", err);
    return give_text(&out, text, NULL, err);
}
