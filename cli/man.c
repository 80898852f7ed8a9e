/* man.c: the manual pages, from the tables. */
#include <ctype.h>
#include <string.h>

#include "help.h"

/* Text as roff: hyphens that can be copied, nothing taken for a request. */
static void put_roff(const char *s, size_t n, struct str *out)
{
    for (size_t i = 0; i < n; i++) {
        int starts_line = i == 0 || s[i - 1] == '\n';
        if (starts_line && (s[i] == '.' || s[i] == '\'')) str_put(out, "\\&");
        if (s[i] == '-')
            str_put(out, "\\-");
        else if (s[i] == '\\')
            str_put(out, "\\e");
        else
            str_putn(out, s + i, 1);
    }
}

static void put_line(const char *s, struct str *out)
{
    put_roff(s, strlen(s), out);
    str_put(out, "\n");
}

static void put_about(const char *about, struct str *out)
{
    const char *p;
    for (size_t n; (n = help_paragraph(&about, &p));) {
        str_put(out, ".PP\n");
        put_roff(p, n, out);
        str_put(out, "\n");
    }
}

static void put_option(const struct opt *o, struct str *out)
{
    struct str text = {0};
    str_put(out, ".TP\n");
    if (o->key) str_printf(out, "\\fB\\-%c\\fR, ", o->key);
    str_put(out, "\\fB\\-\\-");
    put_roff(o->name, strlen(o->name), out);
    str_put(out, "\\fR");
    if (o->arg) {
        str_put(out, " \\fI");
        put_roff(o->arg, strlen(o->arg), out);
        str_put(out, "\\fR");
    }
    str_put(out, "\n");
    help_option(o, &text);
    if (text.oom)
        out->oom = 1;
    else
        put_line(text.s, out);
    str_free(&text);
}

static void put_title(const struct cmd *c, struct str *out)
{
    str_put(out, ".TH NAMI");
    if (c) str_put(out, "\\-");
    for (const char *s = c ? c->name : ""; *s; s++) {
        char up = (char)toupper((unsigned char)*s);
        str_putn(out, &up, 1);
    }
    str_printf(out, " 1 \"\" \"NaMI %s\" \"NaMI manual\"\n", nami_version());
    str_put(out, ".SH NAME\nnami");
    if (c) str_printf(out, "\\-%s", c->name);
    str_put(out, " \\- ");
    put_line(c ? c->summary : "faithful inversion of Bayesian networks", out);
}

static void put_exit(struct str *out)
{
    str_put(out, ".SH EXIT STATUS\n");
    for (int i = 0; exit_codes[i].what; i++) {
        str_printf(out, ".TP\n.B %d\n", exit_codes[i].code);
        put_line(exit_codes[i].what, out);
    }
}

static void put_command(const struct cmd *c, struct str *out)
{
    const struct opt *o;
    str_printf(out, ".SH SYNOPSIS\n.B nami %s\n", c->name);
    put_line(c->usage, out);
    str_put(out, ".SH DESCRIPTION\n");
    put_about(c->about, out);
    str_put(out, ".SH OPTIONS\n");
    for (int i = 0; (o = opt_at(c->opt, i)); i++)
        if (!o->hidden) put_option(o, out);
    if (c->example) str_put(out, ".SH EXAMPLES\n");
    for (const struct example *e = c->example; e && e->line; e++) {
        str_put(out, ".TP\n.EX\n");
        put_line(e->line, out);
        str_put(out, ".EE\n");
        put_line(e->what, out);
    }
    put_exit(out);
    str_put(out, ".SH SEE ALSO\n.BR nami (1)\n");
}

static void put_all(struct str *out)
{
    str_put(out, ".SH SYNOPSIS\n.B nami\n.I COMMAND\n[\\fIOPTION\\fR]... [\\fIARGUMENT\\fR]...\n");
    str_put(out, ".SH DESCRIPTION\n");
    put_about(help_about, out);
    str_put(out, ".SH COMMANDS\n");
    for (int i = 0; cmds[i]; i++) {
        str_printf(out, ".TP\n.BR nami\\-%s (1)\n", cmds[i]->name);
        put_line(cmds[i]->summary, out);
    }
    put_exit(out);
}

void help_man(const struct cmd *c, struct str *out)
{
    put_title(c, out);
    if (c)
        put_command(c, out);
    else
        put_all(out);
}
