/* man.c: prints manual pages from the tables of commands and options. */
#include <ctype.h>
#include <string.h>

#include "help.h"

/* Escapes text for roff: copyable hyphens, no accidental requests. */
static void put_roff(const char *s, size_t n, FILE *out)
{
    for (size_t i = 0; i < n; i++) {
        int starts_line = i == 0 || s[i - 1] == '\n';
        if (starts_line && (s[i] == '.' || s[i] == '\'')) fputs("\\&", out);
        if (s[i] == '-')
            fputs("\\-", out);
        else if (s[i] == '\\')
            fputs("\\e", out);
        else
            fputc(s[i], out);
    }
}

static void put_line(const char *s, FILE *out)
{
    put_roff(s, strlen(s), out);
    fputs("\n", out);
}

static void put_about(const char *about, FILE *out)
{
    const char *p;
    for (size_t n; (n = help_paragraph(&about, &p));) {
        fputs(".PP\n", out);
        put_roff(p, n, out);
        fputs("\n", out);
    }
}

static void put_option(const struct option *o, FILE *out)
{
    char text[HELP_OPTION];
    fputs(".TP\n", out);
    if (o->key) fprintf(out, "\\fB\\-%c\\fR, ", o->key);
    fputs("\\fB\\-\\-", out);
    put_roff(o->name, strlen(o->name), out);
    fputs("\\fR", out);
    if (o->arg) {
        fputs(" \\fI", out);
        put_roff(o->arg, strlen(o->arg), out);
        fputs("\\fR", out);
    }
    fputs("\n", out);
    help_option(o, text, sizeof text);
    put_line(text, out);
}

static void put_title(const struct cmd *c, FILE *out)
{
    fputs(".TH NAMI", out);
    if (c) fputs("\\-", out);
    for (const char *s = c ? c->name : ""; *s; s++) fputc(toupper((unsigned char)*s), out);
    fprintf(out, " 1 \"\" \"NaMI %s\" \"NaMI manual\"\n", nami_version());
    fputs(".SH NAME\nnami", out);
    if (c) fprintf(out, "\\-%s", c->name);
    fputs(" \\- ", out);
    put_line(c ? c->summary : "amortized Bayesian inference by faithful inversion", out);
}

static void put_exit(FILE *out)
{
    fputs(".SH EXIT STATUS\n", out);
    for (int i = 0; exit_codes[i].what; i++) {
        fprintf(out, ".TP\n.B %d\n", exit_codes[i].code);
        put_line(exit_codes[i].what, out);
    }
}

static void put_command(const struct cmd *c, FILE *out)
{
    struct option o;
    fprintf(out, ".SH SYNOPSIS\n.B nami %s\n", c->name);
    put_line(c->usage, out);
    fputs(".SH DESCRIPTION\n", out);
    put_about(c->about, out);
    fputs(".SH OPTIONS\n", out);
    for (int i = 0; opt_at(c, i, &o); i++)
        if (!o.hidden) put_option(&o, out);
    if (c->example) fputs(".SH EXAMPLES\n", out);
    for (const struct example *e = c->example; e && e->line; e++) {
        fputs(".TP\n.EX\n", out);
        put_line(e->line, out);
        fputs(".EE\n", out);
        put_line(e->what, out);
    }
    put_exit(out);
    fputs(".SH SEE ALSO\n.BR nami (1)\n", out);
}

static void put_all(FILE *out)
{
    fputs(".SH SYNOPSIS\n.B nami\n.I COMMAND\n[\\fIOPTION\\fR]... [\\fIARGUMENT\\fR]...\n", out);
    fputs(".SH DESCRIPTION\n", out);
    put_about(help_about, out);
    fputs(".SH COMMANDS\n", out);
    for (int i = 0; cmds[i]; i++) {
        fprintf(out, ".TP\n.BR nami\\-%s (1)\n", cmds[i]->name);
        put_line(cmds[i]->summary, out);
    }
    put_exit(out);
}

void help_man(const struct cmd *c, FILE *out)
{
    put_title(c, out);
    if (c)
        put_command(c, out);
    else
        put_all(out);
}
