/* cmd_invert.c: `nami invert`: the inverse factorization of a model or structure, with its
   certificate, as text, JSON or pictures. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "structure.h"

struct options {
    struct opt_common common;
    nami_options invert;
    const char *observe, *infer, *stages, *format, *show;
    int threads, json, compact, trace, quiet;
    struct opt_many out, data, set;
};

static const char *observe_words(int i)
{
    static const char *const words[] = {"sinks", "none", NULL};
    return words[i];
}

static const char *section_words(int i) { return nami_word("sections", i); }

#define AT(field) offsetof(struct options, field)
static const struct opt options[] = {
    {"observe", 0, OPT_TEXT, AT(observe), "LIST", NULL, observe_words,
     "observed nodes, instead of those of the file: names 'a,b[1:3]', @FILE with one name per "
     "line, "
     "sinks (nodes without children) or none",
     0},
    {"infer", 0, OPT_TEXT, AT(infer), "LIST", NULL, NULL,
     "latents of interest; the others are nuisance variables: marginalized out first, without a "
     "factor",
     0},
    {"stages", 0, OPT_TEXT, AT(stages), "LISTS", NULL, NULL,
     "groups of latents that are eliminated one after the other, as 'a,b;c'", 0},
    {"data", 'd', OPT_MANY, AT(data), "FILE", NULL, NULL,
     "model files: values of constants and observations, JSON or R dump; may be repeated", 0},
    {"set", 0, OPT_MANY, AT(set), "NAME=VALUE", NULL, NULL,
     "model files: value of a constant, instead of the file's; may be repeated", 0},
    {"format", 0, OPT_WORD, AT(format), "NAME", NULL, format_words,
     "format of FILE, if not determined by extension or content: 'nami list formats'", 0},
    {"show", 0, OPT_WORDS, AT(show), "LIST", "model,inverse,order,certificate,exact,modes", section_words,
     "sections to print, a comma-separated list", 0},
    {"trace", 0, OPT_FLAG, AT(trace), NULL, NULL, NULL,
     "also the steps of the elimination: frontier, choice, edges added", 0},
    {"json", 0, OPT_FLAG, AT(json), NULL, NULL, NULL, "print the inverse as JSON", 0},
    {"compact", 0, OPT_FLAG, AT(compact), NULL, NULL, NULL,
     "JSON: write parents as runs of one permutation, which is small for long chains", 0},
    {"output", 'o', OPT_MANY, AT(out), "FILE", NULL, NULL,
     "write the inverse (.json) or a picture (.svg, .png, .dot); may be repeated, or a "
     "comma-separated list",
     0},
    {"quiet", 'q', OPT_FLAG, AT(quiet), NULL, NULL, NULL,
     "no text and no notes: only files, --json and the exit code", 0},
    {"threads", 0, OPT_COUNT, AT(threads), "N", "1", NULL,
     "accepted as by all commands; inversion uses one thread", 0},
    {NULL, 0, 0, 0, NULL, NULL, NULL, NULL, 0},
};

/* ---- outputs ------------------------------------------------------------------------ */

static const char *const forms[] = {"json", "svg", "png", "dot", NULL};

struct file {
    char *path;
    const char *as;
    char *bytes;
    size_t len;
};
enum { MAX_FILES = 64 };
struct files {
    int n;
    struct file file[MAX_FILES];
};

/* The output form given by the extension of a path of n bytes; or NULL. */
static const char *form_of(const char *path, size_t n)
{
    for (int i = 0; forms[i]; i++) {
        size_t k = strlen(forms[i]);
        if (n > k + 1 && path[n - k - 1] == '.' && memcmp(path + n - k, forms[i], k) == 0)
            return forms[i];
    }
    return NULL;
}

/* The length of the next path in s. A comma ends it only after a known extension, since names may
   contain commas. */
static size_t next_path(const char *s)
{
    for (size_t n = 0;; n++) {
        n += strcspn(s + n, ",");
        if (!s[n] || form_of(s, n)) return n;
    }
}

static int add_file(struct files *f, const char *path, size_t n)
{
    if (f->n == MAX_FILES) return bad_usage("more than %d files to write", MAX_FILES);
    struct file *x = &f->file[f->n++];
    *x = (struct file){.path = strndup(path, n), .as = form_of(path, n)};
    if (!x->path) return no_memory();
    if (x->as) return EXIT_YES;
    return bad_usage("cannot tell what to write to '%s'; end it in .json, .svg, .png or .dot",
                     x->path);
}

/* Rejects output files that cannot be written before any work is done. */
static int files_init(struct files *f, const struct opt_many *names)
{
    int rc = EXIT_YES;
    for (int i = 0; i < names->n && !rc; i++)
        for (const char *s = names->a[i], *end = s; !rc; s = end + 1) {
            end = s + next_path(s);
            rc = add_file(f, s, (size_t)(end - s));
            if (!*end) break;
        }
    return rc;
}

static void files_fini(struct files *f)
{
    for (int i = 0; i < f->n; i++) {
        free(f->file[i].path);
        nami_free(f->file[i].bytes);
    }
}

static int columns(void)
{
    struct winsize ws;
    if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws)) return 88;
    return ws.ws_col < 60 ? 60 : ws.ws_col > 100 ? 100 : ws.ws_col;
}

/* Mode free does not request a natural inverse. */
static int says_no(const nami_inverse *inv, const nami_options *opt)
{
    int is_free = opt->mode && strcmp(opt->mode, "free") == 0;
    return nami_inverse_faithful(inv) == 0 || nami_inverse_minimal(inv) == 0 ||
           (nami_inverse_natural(inv) == 0 && !is_free);
}

/* `file`: the file named in messages. */
static int describe(const nami_inverse *inv, const char *as, const nami_inverse_view *view,
                    const char *file, char **text, size_t *len)
{
    nami_err err;
    if (!nami_inverse_describe(inv, as, view, text, len, &err)) return EXIT_YES;
    size_t n = strlen(err.msg);
    if (err.code == NAMI_ELIMIT && strcmp(as, "json") == 0 && !view->runs)
        snprintf(err.msg + n, sizeof err.msg - n, " (--compact)");
    return fail(RUNNING, file, &err);
}

/* Computes all output before writing, so that a failure leaves no files. */
static int report(const nami_inverse *inv, const char *name, const struct options *o,
                  struct files *f)
{
    nami_inverse_view view = {
        .file = name, .show = o->show, .width = columns(), .runs = o->compact, .trace = o->trace};
    char *text = NULL;
    nami_err err;
    int rc = EXIT_YES;
    for (struct file *x = f->file; x < f->file + f->n && !rc; x++)
        rc = describe(inv, x->as, &view, x->path, &x->bytes, &x->len);
    if (!rc && (o->json || !o->quiet))
        rc = describe(inv, o->json ? "json" : "text", &view, name, &text, NULL);
    for (struct file *x = f->file; x < f->file + f->n && !rc; x++)
        if (nami_file_write(x->path, x->bytes, x->len, &err)) rc = fail(WRITING, x->path, &err);
    if (!rc && text) fputs(text, stdout);
    nami_free(text);
    return rc ? rc : finish_output(says_no(inv, &o->invert) ? EXIT_NO : EXIT_YES);
}

/* ---- the command -------------------------------------------------------------------- */

/* A list from the command line. */
static int apply(int (*what)(nami_bn *, const char *, nami_err *), nami_bn *bn, const char *list,
                 const char *file)
{
    nami_err err = {0};
    if (!list || !what(bn, list, &err)) return EXIT_YES;
    return fail(READING, file, &err);
}

static int anything_observed(const nami_bn *bn)
{
    for (int v = 0; v < nami_bn_size(bn); v++)
        if (nami_bn_observed(bn, v)) return 1;
    return 0;
}

/* model: or NULL, of a structure. */
static int run_on(const nami_model *model, nami_bn *bn, const char *file, const struct options *o,
                  struct files *f)
{
    nami_inverse *inv = NULL;
    nami_err err;
    int rc;
    if ((rc = apply(nami_bn_observe, bn, o->observe, file)) ||
        (rc = apply(nami_bn_infer, bn, o->infer, file)) ||
        (rc = apply(nami_bn_stages, bn, o->stages, file)))
        return rc;
    if (!o->observe && !o->quiet && !anything_observed(bn))
        note("nothing is observed, so the model itself is the answer; try --observe sinks");
    if (model ? nami_model_invert(model, bn, &o->invert, &inv, &err)
              : nami_invert(bn, &o->invert, &inv, &err))
        rc = fail(RUNNING, file, &err);
    else
        rc = report(inv, file, o, f);
    nami_inverse_free(inv);
    return rc;
}

/* A model and its structure, which the options change. */
static int open_model_structure(nami_model **model, nami_bn **bn, const char *path,
                                const struct options *o)
{
    nami_model_options opt = {.set = o->set.a, .num_set = o->set.n, .observe = o->observe};
    nami_err err;
    int rc = read_model(model, path, &o->data, &opt, o->quiet);
    if (!rc && nami_bn_copy(nami_model_structure(*model), bn, &err)) rc = fail(RUNNING, NULL, &err);
    return rc;
}

static int run(const void *options_, int narg, char **arg)
{
    const struct options *o = options_;
    int is_model = !o->format && (nami_model_is(arg[0]) || o->data.n || o->set.n);
    struct files f = {0};
    nami_model *model = NULL;
    nami_bn *bn = NULL;
    (void)narg;
    int rc = files_init(&f, &o->out);
    if (!rc)
        rc = is_model ? open_model_structure(&model, &bn, arg[0], o)
                      : open_structure(&bn, arg[0], o->format);
    if (!rc) rc = run_on(model, bn, file_name(arg[0]), o, &f);
    nami_bn_free(bn);
    nami_model_free(model);
    files_fini(&f);
    return rc;
}

static const struct example examples[] = {
    {"nami invert student.json", "the factorization, its elimination order and its certificate"},
    {"nami invert alarm.bif --observe sinks --json", "observe nodes without children; print JSON"},
    {"nami invert tree.dot --mode reverse -o tree.svg", "draw the model and its inverse"},
    {"nami invert student.json --trace", "the elimination steps, as in the paper's Table 1"},
    {NULL, NULL},
};

const struct cmd cmd_invert = {
    .name = "invert",
    .summary = "compute the faithful inverse of a Bayesian network, with a certificate",
    .usage = "[OPTION]... FILE",
    .about =
        "Reads a structure or a model ('-': standard input) and prints the factorization of an "
        "inference network q(z|x) for its latents, in sampling order.\n\n"
        "The inverse is faithful (it encodes no independence that the model does not have: it is "
        "an I-map), minimal (no edge can be removed) and, except in mode free, natural (the order "
        "follows the model's, or its reverse). A certificate checks these properties by "
        "d-separation in the model alone; if one fails, it names a witness and the exit code is 1 "
        "(in mode free, an order that is not natural is no failure).\n\n"
        "A latent without observed descendants is barren: its factor is the model's own "
        "conditional p(v|...). Latents of a model that can be integrated out (discrete, linear "
        "Gaussian, conjugate, or one-dimensional in a plate) have exact factors p(v|...) and come "
        "first in the order; '--show exact' prints which, and why others do not. --exact changes "
        "the choice.",
    .opt = options,
    .groups = {{"invert", AT(invert), NULL}},
    .example = examples,
    .min_arg = 1,
    .max_arg = 1,
    .size = sizeof(struct options),
    .run = run,
};
