/* cmd_export.c: `nami export`: writes a model as a JAGS program with its data, as JSON or as a
   Graphviz graph. */
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "model/export.h"
#include "report/draw.h"
#include "with_model.h"

struct options {
    struct opt_common common;
    struct model_opts model;
    const char *to, *out, *data_out;
};

/* ---- what a model can be written as ------------------------------------------------- */

typedef int export_fn(struct model *m, const struct model_options *opt, struct str *out,
                      nami_err *err);

static int as_json(struct model *m, const struct model_options *opt, struct str *out, nami_err *err)
{
    (void)opt;
    return model_json(m, out, err);
}

static int as_dot(struct model *m, const struct model_options *opt, struct str *out, nami_err *err)
{
    struct view w = {.file = m->source.file, .bn = m->ir.bn};
    (void)opt;
    return draw(&w, "dot", out, err);
}

/* What JAGS cannot say is printed. */
static int as_jags(struct model *m, const struct model_options *opt, struct str *out, nami_err *err)
{
    struct diags diags;
    int rc = model_jags(m, opt, out, &diags, err);
    struct model shown = *m;
    shown.source.diags = diags;
    if (rc && diags.nerror) show_messages(&shown, 0);
    diags_free(&diags);
    return rc;
}

static const struct target {
    const char *name, *ends;
    export_fn *write;
} targets[] = {
    {"jags", ".bug .bugs .jags", as_jags},
    {"json", ".json", as_json},
    {"dot", ".dot .gv", as_dot},
    {NULL, NULL, NULL},
};

static const char *target_words(int i) { return targets[i].name; }

/* By --to, else by the ending of the output. */
static const struct target *target_of(const struct options *o)
{
    const char *dot = o->out ? strrchr(o->out, '.') : NULL;
    for (const struct target *t = targets; t->name; t++) {
        if (o->to && strcmp(o->to, t->name) == 0) return t;
        for (const char *s = t->ends; !o->to && dot && *s; s += strspn(s, " ")) {
            size_t n = strcspn(s, " ");
            if (strlen(dot) == n && memcmp(dot, s, n) == 0) return t;
            s += n;
        }
    }
    return NULL;
}

/* ---- the command -------------------------------------------------------------------- */

#define AT(field) offsetof(struct options, field)
static const struct opt options[] = {
    {"to", 0, OPT_WORD, AT(to), "NAME", NULL, target_words,
     "as what, if the ending of the output does not tell", 0},
    {"output", 'o', OPT_TEXT, AT(out), "FILE", NULL, NULL,
     "write to a file instead of standard output", 0},
    {"data-out", 0, OPT_TEXT, AT(data_out), "FILE", NULL, NULL,
     "with --to jags: write the constants and observations too, as an R dump", 0},
    MODEL_OPTIONS(struct options, model),
    {NULL, 0, 0, 0, NULL, NULL, NULL, NULL, 0},
};

static int check(const struct options *o, const struct target *t)
{
    nami_err err;
    if (!t)
        err_set(&err, NAMI_EUSAGE, "as what? name it with --to jags, json or dot");
    else if (o->data_out && t->write != as_jags)
        err_set(&err, NAMI_EUSAGE, "--data-out goes with --to jags");
    else
        return EXIT_YES;
    return fail(RUNNING, NULL, &err);
}

static int put(const char *path, struct str *text)
{
    nami_err err;
    int rc;
    if (!path || strcmp(path, "-") == 0) return finish(text, EXIT_YES);
    rc = file_write(path, text->s ? text->s : "", text->n, &err) ? fail(WRITING, path, &err)
                                                                 : EXIT_YES;
    str_free(text);
    return rc;
}

/* Makes everything first and writes it then, so that a failure leaves nothing. */
static int export(struct model *m, const struct options *o, const struct target *t)
{
    struct model_options opt = {
        .set = o->model.set.a, .nset = o->model.set.n, .observe = o->model.observe};
    struct str text = {0}, data = {0};
    nami_err err;
    int rc = t->write(m, &opt, &text, &err);
    if (!rc && o->data_out) rc = model_rdump(m, &opt, &data, &err);
    if (rc == NAMI_EINPUT && t->write == as_jags) {
        rc = EXIT_BAD; /* it was said */
    } else if (rc) {
        rc = fail(RUNNING, m->source.file, &err);
    } else {
        if (o->data_out) rc = put(o->data_out, &data);
        if (!rc) return put(o->out, &text);
    }
    str_free(&text);
    str_free(&data);
    return rc;
}

static int run(const void *options_, int narg, char **arg)
{
    const struct options *o = options_;
    const struct target *t = target_of(o);
    struct model m = {0};
    int rc = check(o, t);
    (void)narg;
    if (!rc) rc = open_model(&m, arg[0], &o->model);
    if (!rc) rc = export(&m, o, t);
    model_fini(&m);
    return rc;
}

static const struct example examples[] = {
    {"nami export rats.nami --data rats.json --to jags -o rats.bug --data-out rats-data.R",
     "to run it in JAGS"},
    {"nami export hmm.nami --to json", "nodes, edges and statements, for programs"},
    {"nami export gmm.nami -o gmm.dot", "the model with its plates, for Graphviz"},
    {NULL, NULL},
};

const struct cmd cmd_export = {
    .name = "export",
    .summary = "write a model for JAGS, for programs or for Graphviz",
    .usage = "[OPTION]... FILE",
    .about = "jags: the model in JAGS's language. Distributions and functions get JAGS's names and "
             "arguments; "
             "constants that have a value in the file, or by --set, go to a data block, all others "
             "to the file "
             "of --data-out. What JAGS cannot express is refused, with its place.\n\n"
             "json: what NaMI makes of the model: every node with its size, distribution and "
             "statement, every "
             "edge. 'nami invert' reads it as a structure.\n\n"
             "dot: the picture of the model, a node for each statement and a box for each loop.",
    .opt = options,
    .example = examples,
    .min_arg = 1,
    .max_arg = 1,
    .size = sizeof(struct options),
    .run = run,
};
