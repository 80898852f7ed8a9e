/* page.c: the frame of a report: its template filled in, the table of contents, how it was made,
   and what its parts share. */
#include "report/page.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report_page.h" /* the files, by the build */

#include "base/err.h"
#include "base/json.h"
#include "report/names.h"
#include "report/show.h"

void page_tag(struct str *out, const char *tag, const char *text)
{
    str_printf(out, "<%s>", tag);
    put_xml(out, text);
    str_printf(out, "</%.*s>", (int)strcspn(tag, " "), tag);
}

void page_number(struct str *out, int digits, double x)
{
    if (isnan(x))
        str_put(out, "<td>-</td>");
    else
        str_printf(out, "<td>%.*g</td>", digits, x);
}

int page_figure(const struct page *p, const struct figure *f, int most, struct str *out)
{
    struct figure_input in = p->figures;
    if (!figure_can(f, &in)) return 0;
    in.most = most;
    return f->put(&in, plot_html, out);
}

static void put_bytes(struct str *out, const char *s, size_t n)
{
    struct str copy = {0};
    str_putn(&copy, s, n);
    if (copy.s) put_xml(out, copy.s);
    out->oom |= copy.oom;
    str_free(&copy);
}

void page_labeled(const char *text, struct str *out)
{
    while (*text) {
        size_t line = strcspn(text, "\n"), label = 0;
        while (label < line && label < SHOW_INDENT && text[label] != ' ') label++;
        if (label) {
            str_put(out, "<dt>");
            put_bytes(out, text, label);
            str_put(out, "</dt>");
        }
        while (label < line && text[label] == ' ') label++;
        str_put(out, "<dd>");
        put_bytes(out, text + label, line - label);
        str_put(out, "</dd>\n");
        text += line + (text[line] == '\n');
    }
}

/* ---- how it was made --------------------------------------------------------------------------
 */

static void put_entry(struct str *out, const char *name, const char *value)
{
    page_tag(out, "dt", name);
    page_tag(out, "dd", value);
    str_put(out, "\n");
}

/* The last part of a path: where it was on somebody's machine is nobody's business. */
static const char *last_part(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path;
}

static void put_settings(const char *settings, struct str *out)
{
    struct json_why why;
    json_t *all = json_read(settings, strlen(settings), 0, &why);
    struct str text = {0};
    json_print(all, JSON_INDENT(2) | JSON_PRESERVE_ORDER, &text);
    if (text.oom) {
        out->oom = 1;
    } else {
        str_put(out,
                "<details><summary>All settings of the network</summary>\n<pre tabindex=\"0\">");
        put_xml(out, text.s);
        str_put(out, "</pre></details>\n");
    }
    str_free(&text);
    json_decref(all);
}

static void put_made(const struct page *p, struct str *out)
{
    const struct network *n = p->net;
    const char *settings = st_get(&n->file, "settings"), *by = st_get(&n->file, "version");
    struct str sizes = {0}, seed = {0}, weights = {0};
    str_put(out, "<section id=\"made\"><h2>How it was made</h2>\n<dl>\n");
    if (p->command) put_entry(out, "Command", p->command);
    const char *file = last_part(model_file_name(n->model));
    if (file) put_entry(out, "Model file", file);
    put_count(&sizes, bn_n(p->view.bn), "node", "nodes");
    str_put(&sizes, ", ");
    put_count(&sizes, p->view.bn->dag.m, "edge", "edges");
    str_printf(&sizes, "; %s observed, ", count_text(p->view.h->nobserved).s);
    str_printf(&sizes, "%s to infer, ", count_text(p->view.h->nlatent).s);
    str_printf(&sizes, "%s of these exactly", count_text(p->view.h->nexact).s);
    put_count(&weights, (int64_t)network_nparam(n), "parameter", "parameters");
    if (!sizes.oom) put_entry(out, "Model", sizes.s);
    if (!weights.oom) put_entry(out, "Network", n->q.nfactor ? weights.s : "none is needed");
    if (p->answer) {
        str_printf(&seed, "%zu, seed %llu, data set %zu of %zu", p->answer->draws,
                   (unsigned long long)p->answer->seed, p->answer->set + 1, p->answer->num_sets);
        if (!seed.oom) put_entry(out, "Draws", seed.s);
    }
    if (p->notes) page_labeled(p->notes, out);
    if (by) put_entry(out, "Network made by", by);
    put_entry(out, "Page made by", p->version);
    str_put(out, "</dl>\n");
    if (settings) put_settings(settings, out);
    str_put(out, "</section>\n");
    out->oom |= sizes.oom | seed.oom | weights.oom;
    str_free(&sizes);
    str_free(&seed);
    str_free(&weights);
}

/* ---- the frame ------------------------------------------------------------------------------- */

/* The sections that there are. */
static void put_contents(const char *body, struct str *out)
{
    static const char *const section[][2] = {{"verdict", "Verdict"},
                                             {"posterior", "Posterior"},
                                             {"predictive", "Predictive checks"},
                                             {"model", "Model and inverse"},
                                             {"steps", "Elimination"},
                                             {"calibration", "Calibration"},
                                             {"training", "Training"},
                                             {"made", "How it was made"}};
    for (size_t i = 0; i < sizeof section / sizeof *section; i++) {
        char id[40];
        snprintf(id, sizeof id, "<section id=\"%s\"", section[i][0]);
        if (strstr(body, id))
            str_printf(out, "<li><a href=\"#%s\">%s</a></li>\n", section[i][0], section[i][1]);
    }
}

static void put_css(struct str *out)
{
    static const char dark[] =
        "--ink:#e6e6e6;--soft:#a4abb3;--paper:#17181a;--panel:#212327;--line:#3a3e44;--link:#"
        "7ab7f5;"
        "--good:#5fce7d;--care:#e6b450;--bad:#ff8a80;--now:#6b5900;--observed:#4a5058;"
        "--added:#86b7f5;";
    str_put(out, file_page_css);
    plot_css(out);
    str_printf(out,
               "@media screen and (prefers-color-scheme: dark) { :root:not([data-theme=light]) "
               "{%s",
               dark);
    plot_css_dark(out);
    str_printf(out,
               "} }\n@media screen { :root[data-theme=light] { color-scheme: light; } "
               ":root[data-theme=dark] {color-scheme: dark;%s",
               dark);
    plot_css_dark(out);
    str_put(out, "} }\n");
}

/* The template with {{name}} replaced; what is put in is not looked at again. */
static void fill(const struct page *p, const char *body, struct str *out)
{
    for (const char *at = file_page_html, *open; *at;) {
        open = strstr(at, "{{");
        str_putn(out, at, open ? (size_t)(open - at) : strlen(at));
        if (!open) break;
        const char *name = open + 2, *close = strstr(name, "}}");
        size_t n = (size_t)(close - name);
        if (n == 5 && memcmp(name, "title", n) == 0)
            put_xml(out, p->title);
        else if (n == 7 && memcmp(name, "version", n) == 0)
            put_xml(out, p->version);
        else if (n == 3 && memcmp(name, "css", n) == 0)
            put_css(out);
        else if (n == 3 && memcmp(name, "nav", n) == 0)
            put_contents(body, out);
        else if (n == 4 && memcmp(name, "body", n) == 0)
            str_put(out, body);
        else
            str_put(out, file_page_js);
        at = close + 2;
    }
}

int page_put(const struct page *p, struct str *out, nami_err *err)
{
    struct str body = {0};
    int rc = p->answer ? page_answer(p, &body, err) : 0;
    if (!rc) rc = page_structure(p, &body, err);
    if (!rc) rc = page_quality(p, &body, err);
    if (!rc) put_made(p, &body);
    if (!rc && body.oom) rc = err_nomem(err);
    if (!rc) fill(p, body.s, out);
    str_free(&body);
    return rc ? rc : out->oom ? err_nomem(err) : 0;
}
