/* cmd_invert.c: `nami invert`: the inverse factorization of a model or structure, with its
   certificate, as text, JSON or pictures. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "cmd.h"
#include "model/problem.h"
#include "report/draw.h"
#include "report/json.h"
#include "report/show.h"
#include "with_model.h"

struct options {
    struct opt_common common;
    const char *observe, *infer, *stages, *method, *mode, *criterion, *barren, *verify, *format, *show;
    uint64_t seed;
    int restarts, threads, json, compact, trace, quiet;
    struct opt_many out, data, set;
};

/* ---- words -------------------------------------------------------------------------- */

#define WORDS(name, ...)                                                                           \
    static const char *name(int i)                                                                 \
    {                                                                                              \
        static const char *const w[] = {__VA_ARGS__};                                              \
        return w[i];                                                                               \
    }
WORDS(observe_words, "sinks", "none", NULL)
WORDS(barren_words, "aside", "keep", NULL)
WORDS(verify_words, "auto", "full", "sample", "none", NULL)

static const char *section_words(int i) { return sections[i].name; }

#define AT(field) offsetof(struct options, field)
static const struct opt options[] = {
    {"observe", 0, OPT_TEXT, AT(observe), "LIST", NULL, observe_words,
     "what is observed, instead of what the file says: names 'a,b[1:3]', @FILE with a name on each "
     "line, sinks (nodes without children) or none",
     0},
    {"infer", 0, OPT_TEXT, AT(infer), "LIST", NULL, NULL,
     "the latents that are wanted; the others are nuisances: summed out first, with no factor", 0},
    {"stages", 0, OPT_TEXT, AT(stages), "LISTS", NULL, NULL,
     "groups that are eliminated one after the other, as 'a,b;c'", 0},
    {"mode", 0, OPT_WORD, AT(mode), "MODE", "best", mode_words, "the order of elimination", 0},
    {"method", 0, OPT_WORD, AT(method), "METHOD", "nami", method_words, "how to invert", 0},
    {"criterion", 0, OPT_WORD, AT(criterion), "NAME", "min-fill", criterion_words,
     "what is eliminated first", 0},
    {"barren", 0, OPT_WORD, AT(barren), "WORD", "aside", barren_words,
     "latents without observed descendants keep the model's own factor (aside) or are treated as "
     "all others (keep)",
     0},
    {"restarts", 0, OPT_COUNT, AT(restarts), "N", "0", NULL,
     "extra runs that break ties by depth, then at random; the best is kept", 0},
    {"seed", 0, OPT_SEED, AT(seed), "N", "0", NULL, "of all that is random", 0},
    {"verify", 0, OPT_WORD, AT(verify), "HOW", "auto", verify_words,
     "which factors the certificate checks", 0},
    {"format", 0, OPT_WORD, AT(format), "NAME", NULL, format_words,
     "the format of FILE, if its ending and content do not tell", 0},
    {"json", 0, OPT_FLAG, AT(json), NULL, NULL, NULL, "print the inverse as JSON", 0},
    {"compact", 0, OPT_FLAG, AT(compact), NULL, NULL, NULL,
     "in JSON, write parents as runs of one permutation: small for long chains", 0},
    {"output", 'o', OPT_MANY, AT(out), "FILE", NULL, NULL,
     "write the inverse (.json) or a picture (.svg, .png, .dot); may be repeated, or a comma list",
     0},
    {"trace", 0, OPT_FLAG, AT(trace), NULL, NULL, NULL,
     "show the steps too: frontier, choice, edges added", 0},
    {"show", 0, OPT_WORDS, AT(show), "LIST", "model,inverse,order,certificate,modes", section_words,
     "what to print, a comma list of", 0},
    {"quiet", 'q', OPT_FLAG, AT(quiet), NULL, NULL, NULL,
     "no text and no notes: only files, --json and the exit code", 0},
    {"data", 'd', OPT_MANY, AT(data), "FILE", NULL, NULL,
     "of a model file: values of constants and observations, JSON or R dump", 0},
    {"set", 0, OPT_MANY, AT(set), "NAME=VALUE", NULL, NULL,
     "of a model file: the value of a constant, instead of the file's", 0},
    {"threads", 0, OPT_COUNT, AT(threads), "N", "1", NULL,
     "accepted as everywhere; inversion uses one", 0},
    {NULL, 0, 0, 0, NULL, NULL, NULL, NULL, 0},
};

/* ---- outputs ------------------------------------------------------------------------ */

static int as_json(const struct view *w, const struct options *o, struct str *out, nami_err *err)
{
    int flags = (o->compact ? INVERSE_RUNS : 0) | (o->trace ? INVERSE_TRACE : 0);
    return inverse_json(w, flags, out, err);
}

#define DRAW(format)                                                                               \
    static int as_##format(const struct view *w, const struct options *o, struct str *out,         \
                           nami_err *err)                                                          \
    {                                                                                              \
        (void)o;                                                                                   \
        return draw(w, #format, out, err);                                                         \
    }
DRAW(svg)
DRAW(png)
DRAW(dot)

static const struct output {
    const char *ending;
    int (*put)(const struct view *w, const struct options *o, struct str *out, nami_err *err);
} outputs[] = {{".json", as_json}, {".svg", as_svg}, {".png", as_png}, {".dot", as_dot}};
enum { NOUTPUT = sizeof outputs / sizeof *outputs };

struct file {
    char *path;
    const struct output *as;
    struct str data;
};
enum { MAX_FILES = 64 };
struct files {
    int n;
    struct file file[MAX_FILES];
};

static const struct output *output_of(const char *path, size_t n)
{
    for (int i = 0; i < NOUTPUT; i++)
        if (str_ends(path, n, outputs[i].ending)) return &outputs[i];
    return NULL;
}

/* How much of s is the next path?  A comma ends it only behind a known ending,
   since names may have commas. */
static size_t next_path(const char *s)
{
    for (size_t n = 0;; n++) {
        n += strcspn(s + n, ",");
        if (!s[n] || output_of(s, n)) return n;
    }
}

/* Refuses what cannot be written before any work is done. */
static int files_init(struct files *f, const struct opt_many *names, nami_err *err)
{
    for (int i = 0; i < names->n; i++)
        for (const char *s = names->a[i], *end;; s = end + 1) {
            struct str path = {0};
            end = s + next_path(s);
            str_putn(&path, s, (size_t)(end - s));
            if (path.oom) return err_nomem(err);
            if (f->n == MAX_FILES) {
                str_free(&path);
                return err_set(err, NAMI_EUSAGE, "more than %d files to write", MAX_FILES);
            }
            struct file *x = &f->file[f->n++];
            *x = (struct file){.path = path.s, .as = output_of(path.s, path.n)};
            if (!x->as)
                return err_set(err, NAMI_EUSAGE,
                               "cannot tell what to write to '%s'; end it in .json, .svg, .png or "
                               ".dot",
                               path.s);
            if (!*end) break;
        }
    return 0;
}

static void files_fini(struct files *f)
{
    for (int i = 0; i < f->n; i++) {
        free(f->file[i].path);
        str_free(&f->file[i].data);
    }
}

static int columns(void)
{
    struct winsize ws;
    if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws)) return 88;
    return ws.ws_col < 60 ? 60 : ws.ws_col > 100 ? 100 : ws.ws_col;
}

/* Mode free is asked for in order not to be natural. */
static int says_no(const struct view *w)
{
    for (int p = 0; p < NPROPERTY; p++)
        if (w->h->cert.is[p] == 0 && !(p == NATURAL && w->v->p.mode == MODE_FREE)) return 1;
    return 0;
}

/* Makes everything first and writes it then, so that a failure leaves nothing. */
static int report(const struct view *w, const struct options *o, struct files *f)
{
    struct str out = {0};
    nami_err err;
    unsigned which = 0;
    int rc = 0;
    for (int i = 0; sections[i].name; i++)
        if (strstr(o->show, sections[i].name)) which |= 1u << i;
    for (int i = 0; sections[i].name; i++)
        if (o->trace && strcmp(sections[i].name, "trace") == 0) which |= 1u << i;
    for (int i = 0; i < f->n && !rc; i++)
        if (f->file[i].as->put(w, o, &f->file[i].data, &err))
            rc = fail(RUNNING, f->file[i].path, &err);
    if (!rc && o->json && as_json(w, o, &out, &err)) rc = fail(RUNNING, w->file, &err);
    if (!rc && !o->json && !o->quiet && show(w, which, &out, &err))
        rc = fail(RUNNING, w->file, &err);
    for (int i = 0; i < f->n && !rc; i++)
        if (file_write(f->file[i].path, f->file[i].data.s, f->file[i].data.n, &err))
            rc = fail(WRITING, f->file[i].path, &err);
    if (!rc) return finish(&out, says_no(w) ? EXIT_NO : EXIT_YES);
    str_free(&out);
    return rc;
}

/* ---- the command -------------------------------------------------------------------- */

/* A list from the command line. */
static int apply(int (*what)(nami_bn *, const char *, nami_err *), nami_bn *bn, const char *list,
                 const char *file)
{
    nami_err err = {0};
    if (!list || !what(bn, list, &err)) return 0;
    return fail(READING, file, &err);
}

static int anything_observed(const nami_bn *bn)
{
    for (int v = 0; v < bn_n(bn); v++)
        if (bn->node.a[v].observed) return 1;
    return 0;
}

static int run_on(nami_bn *bn, const char *file, const struct options *o, struct files *f)
{
    nami_options opt = {
        .method = o->method,
        .mode = o->mode,
        .criterion = o->criterion,
        .verify = o->verify,
        .barren = o->barren,
        .restarts = o->restarts,
        .seed = o->seed,
    };
    struct inversion v = {0};
    struct inverse *h = NULL;
    nami_err err;
    int rc;
    if ((rc = apply(nami_bn_observe, bn, o->observe, file)) ||
        (rc = apply(nami_bn_infer, bn, o->infer, file)) ||
        (rc = apply(nami_bn_stages, bn, o->stages, file)))
        return rc;
    if (!o->observe && !o->quiet && !anything_observed(bn))
        note("nothing is observed, so the model itself is the answer; try --observe sinks");
    if (inversion_init(&v, bn, &opt, &err) || inversion_run(&v, &h, &err)) {
        rc = fail(RUNNING, file, &err);
    } else {
        struct view w = {file, bn, &v, h, columns()};
        rc = report(&w, o, f);
    }
    inverse_free(h);
    inversion_fini(&v);
    return rc;
}

static int run(const void *options_, int narg, char **arg)
{
    const struct options *o = options_;
    const char *file = file_name(arg[0]);
    struct files f = {0};
    nami_bn *bn = NULL;
    struct model m = {0};
    nami_err err;
    int rc;
    (void)narg;
    if (files_init(&f, &o->out, &err)) {
        rc = fail(RUNNING, NULL, &err);
    } else if (!o->format && (model_file(arg[0]) || o->data.n || o->set.n)) {
        struct model_opts mo = {
            .data = o->data, .set = o->set, .observe = o->observe, .quiet = o->quiet};
        rc = open_model(&m, arg[0], &mo);
        if (!rc) rc = run_on(m.bn, file, o, &f);
    } else if (!(rc = open_structure(&bn, arg[0], o->format))) {
        rc = run_on(bn, file, o, &f);
    }
    nami_bn_free(bn);
    model_free(&m);
    files_fini(&f);
    return rc;
}

static const struct example examples[] = {
    {"nami invert student.json", "the factorisation, its order and its certificate"},
    {"nami invert alarm.bif --observe sinks --json", "observe what has no children; print JSON"},
    {"nami invert tree.dot --mode reverse -o tree.svg", "draw the model and its inverse"},
    {"nami invert student.json --trace", "the steps, as in the paper's Table 1"},
    {NULL, NULL},
};

const struct cmd cmd_invert = {
    .name = "invert",
    .summary = "the faithful inverse of a Bayesian network, with a certificate",
    .usage = "[OPTION]... FILE",
    .about =
        "Reads a structure ('-': standard input) and prints how an inference network q(z|x) for "
        "its latents factorises, in the order in which they are sampled.\n\n"
        "The inverse is faithful (it claims no independence that the model does not have), minimal "
        "(no edge can go) and, but for mode free, natural (edges follow the model's order, or the "
        "reverse of it). A certificate checks this by d-separation in the model alone; if it says "
        "no, it names a witness and the exit code is 1 (in mode free, not being natural is no "
        "failure).\n\n"
        "A latent without observed descendants is barren: its factor is the model's own, p(v|...).",
    .opt = options,
    .example = examples,
    .min_arg = 1,
    .max_arg = 1,
    .size = sizeof(struct options),
    .run = run,
};
