/* cmd_completion.c: `nami completion`: completion scripts for shells. */
#include <stdio.h>
#include <string.h>

#include "cmd.h"

static void put_words(opt_words *words, FILE *out)
{
    const char *w;
    for (int i = 0; (w = words(i)); i++) fprintf(out, "%s%s", i ? " " : "", w);
}

static void put_option_words(const struct option *o, FILE *out)
{
    const char *w;
    for (int i = 0; (w = opt_word(o, i)); i++) fprintf(out, "%s%s", i ? " " : "", w);
}

/* ---- bash --------------------------------------------------------------------------- */

static const char bash_head[] =
    "# bash completion for nami:  source <(nami completion bash)\n"
    "_nami() {\n"
    "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words=\n"
    "    COMPREPLY=()\n"
    "    # bash cuts --mode=x into three words\n"
    "    if [[ $cur == = ]]; then cur=\n"
    "    elif [[ $prev == = ]]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
    "    if ((COMP_CWORD == 1)); then\n"
    "        words=\"";
static const char bash_tail[] = "        esac\n"
                                "    fi\n"
                                "    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
                                "}\n"
                                "complete -o default -F _nami nami\n";

/* The values of an option: its words, or file names (no words at all). */
static void bash_values(const struct cmd *c, const struct option *o, FILE *out)
{
    fputs("        ", out);
    if (o->key) fprintf(out, "%s:-%c | ", c->name, o->key);
    fprintf(out, "%s:--%s) words=\"", c->name, o->name);
    put_option_words(o, out);
    fputs("\" ;;\n", out);
}

static void bash_command(const struct cmd *c, FILE *out)
{
    struct option o;
    for (int i = 0; opt_at(c, i, &o); i++)
        if (!o.hidden && opt_takes_value(&o)) bash_values(c, &o, out);
    fprintf(out, "        %s:*)\n            if [[ $cur == -* ]]; then words=\"", c->name);
    for (int i = 0; opt_at(c, i, &o); i++)
        if (!o.hidden) fprintf(out, "%s--%s", i ? " " : "", o.name);
    fputs("\"", out);
    if (c->arg_words) {
        fputs("\n            else words=\"", out);
        put_words(c->arg_words, out);
        fputs("\"", out);
    }
    fputs("; fi ;;\n", out);
}

static void bash(FILE *out)
{
    fputs(bash_head, out);
    put_words(cmd_words, out);
    fputs(" --help --version\"\n    else\n        case ${COMP_WORDS[1]}:$prev in\n", out);
    for (int i = 0; cmds[i]; i++) bash_command(cmds[i], out);
    fputs(bash_tail, out);
}

/* ---- zsh ---------------------------------------------------------------------------- */

static const char zsh_head[] =
    "#compdef nami\n"
    "# zsh completion for nami: put this into a file _nami in a folder of $fpath\n"
    "_nami() {\n"
    "    local -a commands\n"
    "    commands=(\n";
static const char zsh_tail[] =
    "    esac\n"
    "}\n"
    "if [[ $funcstack[1] == _nami ]]; then _nami \"$@\"; else compdef _nami nami; fi\n";

/* Inside single quotes and the brackets of _arguments. */
static void zsh_text(const char *s, FILE *out)
{
    for (; *s; s++) {
        if (*s == '\'')
            fputs("'\\''", out);
        else if (strchr("[]:\\", *s))
            fprintf(out, "\\%c", *s);
        else
            fputc(*s, out);
    }
}

/* The values of an option: words, arbitrary text, or files. */
static void zsh_values(const struct option *o, FILE *out)
{
    int is_number = o->kind == OPT_COUNT || o->kind == OPT_SEED || o->kind == OPT_REAL;
    if (!opt_word(o, 0)) {
        fputs(is_number ? " " : "_files", out);
        return;
    }
    fputs("(", out);
    put_option_words(o, out);
    fputs(")", out);
}

static void zsh_option(const struct option *o, FILE *out)
{
    int value = opt_takes_value(o);
    fputs(" \\\n            '", out);
    if (o->kind == OPT_MANY)
        fputs("*", out);
    else if (o->key)
        fprintf(out, "(-%c --%s)", o->key, o->name);
    if (o->key)
        fprintf(out, "'{-%c%s,--%s%s}'[", o->key, value ? "+" : "", o->name, value ? "=" : "");
    else
        fprintf(out, "--%s%s[", o->name, value ? "=" : "");
    zsh_text(o->what, out);
    fputs("]", out);
    if (value) {
        fputs(":", out);
        zsh_text(o->arg, out);
        fputs(":", out);
        zsh_values(o, out);
    }
    fputs("'", out);
}

static void zsh(FILE *out)
{
    struct option o;
    fputs(zsh_head, out);
    for (int i = 0; cmds[i]; i++) {
        fprintf(out, "        '%s:", cmds[i]->name);
        zsh_text(cmds[i]->summary, out);
        fputs("'\n", out);
    }
    fputs("    )\n    if (( CURRENT == 2 )); then _describe command commands; return; fi\n"
          "    shift words; (( CURRENT-- ))\n    case $words[1] in\n",
          out);
    for (int i = 0; cmds[i]; i++) {
        fprintf(out, "    %s)\n        _arguments -s", cmds[i]->name);
        for (int k = 0; opt_at(cmds[i], k, &o); k++)
            if (!o.hidden) zsh_option(&o, out);
        fputs(" \\\n            '*:argument:", out);
        fputs(cmds[i]->arg_words ? "(" : "_files", out);
        if (cmds[i]->arg_words) put_words(cmds[i]->arg_words, out), fputs(")", out);
        fputs("' ;;\n", out);
    }
    fputs(zsh_tail, out);
}

/* ---- the command -------------------------------------------------------------------- */

static const struct {
    const char *name;
    void (*put)(FILE *out);
} shells[] = {{"bash", bash}, {"zsh", zsh}, {NULL, NULL}};

static const char *shell_words(int i) { return shells[i].name; }

struct options {
    struct opt_common common;
};

static int run(const void *options_, int narg, char **arg)
{
    nami_err err;
    (void)options_, (void)narg;
    for (int i = 0; shells[i].name; i++)
        if (strcmp(shells[i].name, arg[0]) == 0) {
            shells[i].put(stdout);
            return finish_output(EXIT_YES);
        }
    opt_unknown("shell", arg[0], shell_words, &err);
    return fail(RUNNING, NULL, &err);
}

static const struct example examples[] = {
    {"source <(nami completion bash)", "complete in this shell; put it into ~/.bashrc to keep it"},
    {"nami completion zsh > ~/.zfunc/_nami", "for zsh, with ~/.zfunc in $fpath"},
    {NULL, NULL},
};

const struct cmd cmd_completion = {
    .name = "completion",
    .summary = "print a shell completion script",
    .usage = "bash|zsh",
    .about = "The script completes commands, options and the words that options accept.",
    .example = examples,
    .min_arg = 1,
    .max_arg = 1,
    .arg_words = shell_words,
    .size = sizeof(struct options),
    .run = run,
};
