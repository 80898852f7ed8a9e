/* help.c: prints help texts from the tables of commands and options. */
#include "help.h"

#include <stdarg.h>
#include <string.h>

enum { WIDTH = 80, INDENT = 24 };

const char help_about[] =
    "NaMI compiles a Bayesian model into an amortized inference network: after training, posterior "
    "draws for a new data set take milliseconds. The network's structure is the faithful inverse "
    "of the model's graph: it can represent the exact posterior, has no needless edge, and comes "
    "with a certificate.";

size_t help_paragraph(const char **text, const char **start)
{
    *text += strspn(*text, "\n");
    const char *end = strstr(*text, "\n\n");
    size_t n = end ? (size_t)(end - *text) : strlen(*text);
    *start = *text;
    *text += n;
    return n;
}

/* Wraps words to lines of WIDTH columns. `indent` is the width already used in the first line, and
   the indentation of the following ones. */
static void put_words(const char *text, size_t n, int indent, FILE *out)
{
    int col = indent;
    for (size_t at = 0, len; at < n; at += len) {
        at += strspn(text + at, " ");
        len = strcspn(text + at, " ");
        if (at + len > n) len = n - at;
        if (!len) break;
        if (col > indent && col + 1 + (int)len > WIDTH)
            fprintf(out, "\n%*s", indent, ""), col = indent;
        else if (col > indent)
            fputc(' ', out), col++;
        fwrite(text + at, 1, len, out);
        col += (int)len;
    }
    fputc('\n', out);
}

static void put_about(const char *about, FILE *out)
{
    const char *p;
    for (size_t n; (n = help_paragraph(&about, &p));) {
        fputc('\n', out);
        put_words(p, n, 0, out);
    }
}

static void append(char *text, size_t size, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
static void append(char *text, size_t size, const char *fmt, ...)
{
    size_t n = strlen(text);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text + n, size - n, fmt, ap);
    va_end(ap);
}

/* Does the description contain all words of the option, or refer to their list? */
static int names_words(const struct option *o)
{
    const char *w;
    if (strstr(o->what, "nami list")) return 1;
    for (int i = 0; (w = opt_word(o, i)); i++)
        if (!strstr(o->what, w)) return 0;
    return 1;
}

void help_option(const struct option *o, char *text, size_t size)
{
    const char *w;
    snprintf(text, size, "%s", o->what);
    if ((o->kind == OPT_WORD || o->kind == OPT_WORDS) && !names_words(o)) {
        for (int i = 0; (w = opt_word(o, i)); i++) append(text, size, "%s%s", i ? ", " : " (", w);
        append(text, size, ")");
    }
    if (o->def) append(text, size, " [%s]", o->def);
}

static void put_option(const struct option *o, FILE *out)
{
    char head[128], text[HELP_OPTION];
    if (o->key)
        snprintf(head, sizeof head, "  -%c, --%s", o->key, o->name);
    else
        snprintf(head, sizeof head, "      --%s", o->name);
    if (o->arg) append(head, sizeof head, " %s", o->arg);
    help_option(o, text, sizeof text);
    if (strlen(head) >= INDENT - 1)
        fprintf(out, "%s\n%*s", head, INDENT, "");
    else
        fprintf(out, "%-*s", INDENT, head);
    put_words(text, strlen(text), INDENT, out);
}

static void put_command(const struct cmd *c, FILE *out)
{
    struct option o;
    fprintf(out, "usage: nami %s %s\n", c->name, c->usage);
    put_about(c->about, out);
    fputs("\noptions:\n", out);
    for (int i = 0; opt_at(c, i, &o); i++)
        if (!o.hidden) put_option(&o, out);
    if (c->example) fputs("\nexamples:\n", out);
    for (const struct example *e = c->example; e && e->line; e++)
        fprintf(out, "  %s\n      %s\n", e->line, e->what);
}

void help_text(const struct cmd *c, FILE *out)
{
    if (c) {
        put_command(c, out);
        return;
    }
    fputs("usage: nami COMMAND [OPTION]... [ARGUMENT]...\n", out);
    put_about(help_about, out);
    fputs("\ncommands:\n", out);
    for (int i = 0; cmds[i]; i++) fprintf(out, "  %-12s%s\n", cmds[i]->name, cmds[i]->summary);
    fputs("\nexit codes:\n", out);
    for (int i = 0; exit_codes[i].what; i++)
        fprintf(out, "  %-12d%s\n", exit_codes[i].code, exit_codes[i].what);
    fputs("\n'nami help COMMAND' describes a command; 'nami --version' shows the version.\n", out);
}
