/* help.c: --help, from the tables. */
#include "help.h"

#include <stdlib.h>
#include <string.h>

#include "report/wrap.h"

enum { WIDTH = 80, INDENT = 24 };

const char help_about[] =
    "NaMI inverts Bayesian networks faithfully: from the graph of a generative model and what is "
    "observed of it, it makes the graph of an inference network that can represent the posterior "
    "exactly, with no needless edge, and proves it.";

size_t help_paragraph(const char **text, const char **start)
{
    *text += strspn(*text, "\n");
    const char *end = strstr(*text, "\n\n");
    size_t n = end ? (size_t)(end - *text) : strlen(*text);
    *start = *text;
    *text += n;
    return n;
}

static void put_about(const char *about, struct str *out)
{
    const char *p;
    for (size_t n; (n = help_paragraph(&about, &p));) {
        struct str text = {0};
        struct wrap line = {.out = out, .width = WIDTH};
        str_putn(&text, p, n);
        str_put(out, "\n");
        wrap_text(&line, text.s ? text.s : "");
        wrap_end(&line);
        str_free(&text);
    }
}

void help_option(const struct opt *o, struct str *out)
{
    const char *w;
    str_put(out, o->what);
    if (o->kind == OPT_WORD || o->kind == OPT_WORDS)
        for (int i = 0; (w = o->words(i)); i++) str_printf(out, "%s%s", i ? ", " : ": ", w);
    if (o->def) str_printf(out, " [%s]", o->def);
}

static void put_option(const struct opt *o, struct str *out)
{
    struct str head = {0}, text = {0};
    if (o->key)
        str_printf(&head, "  -%c, --%s", o->key, o->name);
    else
        str_printf(&head, "      --%s", o->name);
    if (o->arg) str_printf(&head, " %s", o->arg);
    help_option(o, &text);
    if (head.oom || text.oom) {
        out->oom = 1;
    } else {
        struct wrap line = wrap_head(out, head.s, INDENT, WIDTH);
        if (str_width(head.s) >= INDENT - 1) str_printf(out, "\n%*s", INDENT, "");
        wrap_text(&line, text.s);
        wrap_end(&line);
    }
    str_free(&head);
    str_free(&text);
}

static void put_command(const struct cmd *c, struct str *out)
{
    const struct opt *o;
    str_printf(out, "usage: nami %s %s\n", c->name, c->usage);
    put_about(c->about, out);
    str_put(out, "\noptions:\n");
    for (int i = 0; (o = opt_at(c->opt, i)); i++)
        if (!o->hidden) put_option(o, out);
    if (c->example) str_put(out, "\nexamples:\n");
    for (const struct example *e = c->example; e && e->line; e++)
        str_printf(out, "  %s\n      %s\n", e->line, e->what);
}

void help_text(const struct cmd *c, struct str *out)
{
    if (c) {
        put_command(c, out);
        return;
    }
    str_put(out, "usage: nami COMMAND [OPTION]... [ARGUMENT]...\n");
    put_about(help_about, out);
    str_put(out, "\ncommands:\n");
    for (int i = 0; cmds[i]; i++) str_printf(out, "  %-12s%s\n", cmds[i]->name, cmds[i]->summary);
    str_put(out, "\nexit codes:\n");
    for (int i = 0; exit_codes[i].what; i++)
        str_printf(out, "  %-12d%s\n", exit_codes[i].code, exit_codes[i].what);
    str_put(out, "\n'nami help COMMAND' says more; 'nami --version' says which version this is.\n");
}
