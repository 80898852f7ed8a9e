/* cmd_completion.c: scripts with which shells complete nami's command lines. */
#include <string.h>

#include "base/err.h"
#include "cmd.h"

static void put_words(opt_words *words, struct str *out)
{
    const char *w;
    for (int i = 0; (w = words(i)); i++) str_printf(out, "%s%s", i ? " " : "", w);
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
static void bash_values(const struct cmd *c, const struct opt *o, struct str *out)
{
    str_put(out, "        ");
    if (o->key) str_printf(out, "%s:-%c | ", c->name, o->key);
    str_printf(out, "%s:--%s) words=\"", c->name, o->name);
    if (o->words) put_words(o->words, out);
    str_put(out, "\" ;;\n");
}

static void bash_command(const struct cmd *c, struct str *out)
{
    const struct opt *o;
    for (int i = 0; (o = opt_at(c->opt, i)); i++)
        if (!o->hidden && opt_takes_value(o)) bash_values(c, o, out);
    str_printf(out, "        %s:*)\n            if [[ $cur == -* ]]; then words=\"", c->name);
    for (int i = 0; (o = opt_at(c->opt, i)); i++)
        if (!o->hidden) str_printf(out, "%s--%s", i ? " " : "", o->name);
    str_put(out, "\"");
    if (c->arg_words) {
        str_put(out, "\n            else words=\"");
        put_words(c->arg_words, out);
        str_put(out, "\"");
    }
    str_put(out, "; fi ;;\n");
}

static void bash(struct str *out)
{
    str_put(out, bash_head);
    put_words(cmd_words, out);
    str_put(out, " --help --version\"\n    else\n        case ${COMP_WORDS[1]}:$prev in\n");
    for (int i = 0; cmds[i]; i++) bash_command(cmds[i], out);
    str_put(out, bash_tail);
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
static void zsh_text(const char *s, struct str *out)
{
    for (; *s; s++) {
        if (*s == '\'')
            str_put(out, "'\\''");
        else if (strchr("[]:\\", *s))
            str_printf(out, "\\%c", *s);
        else
            str_putn(out, s, 1);
    }
}

/* What can follow: words, nothing that we know, or files. */
static void zsh_values(opt_words *words, int is_number, struct str *out)
{
    str_put(out, words ? "(" : is_number ? " " : "_files");
    if (words) put_words(words, out);
    if (words) str_put(out, ")");
}

static void zsh_option(const struct opt *o, struct str *out)
{
    int value = opt_takes_value(o);
    str_put(out, " \\\n            '");
    if (o->kind == OPT_MANY)
        str_put(out, "*");
    else if (o->key)
        str_printf(out, "(-%c --%s)", o->key, o->name);
    if (o->key)
        str_printf(out, "'{-%c%s,--%s%s}'[", o->key, value ? "+" : "", o->name, value ? "=" : "");
    else
        str_printf(out, "--%s%s[", o->name, value ? "=" : "");
    zsh_text(o->what, out);
    str_put(out, "]");
    if (value) {
        str_put(out, ":");
        zsh_text(o->arg, out);
        str_put(out, ":");
        zsh_values(o->words, o->kind == OPT_COUNT || o->kind == OPT_SEED || o->kind == OPT_REAL,
                   out);
    }
    str_put(out, "'");
}

static void zsh(struct str *out)
{
    const struct opt *o;
    str_put(out, zsh_head);
    for (int i = 0; cmds[i]; i++) {
        str_printf(out, "        '%s:", cmds[i]->name);
        zsh_text(cmds[i]->summary, out);
        str_put(out, "'\n");
    }
    str_put(out, "    )\n    if (( CURRENT == 2 )); then _describe command commands; return; fi\n"
                 "    shift words; (( CURRENT-- ))\n    case $words[1] in\n");
    for (int i = 0; cmds[i]; i++) {
        str_printf(out, "    %s)\n        _arguments -s", cmds[i]->name);
        for (int k = 0; (o = opt_at(cmds[i]->opt, k)); k++)
            if (!o->hidden) zsh_option(o, out);
        str_put(out, " \\\n            '*:argument:");
        zsh_values(cmds[i]->arg_words, 0, out);
        str_put(out, "' ;;\n");
    }
    str_put(out, zsh_tail);
}

/* ---- the command -------------------------------------------------------------------- */

static const struct {
    const char *name;
    void (*put)(struct str *out);
} shells[] = {{"bash", bash}, {"zsh", zsh}, {NULL, NULL}};

static const char *shell_words(int i) { return shells[i].name; }

struct options {
    struct opt_common common;
};

static int run(const void *options_, int narg, char **arg)
{
    struct str out = {0};
    nami_err err;
    (void)options_, (void)narg;
    for (int i = 0; shells[i].name; i++)
        if (strcmp(shells[i].name, arg[0]) == 0) {
            shells[i].put(&out);
            return finish(&out, EXIT_YES);
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
    .summary = "print a script with which the shell completes nami",
    .usage = "bash|zsh",
    .about = "The script completes commands, options and the words that options accept.",
    .example = examples,
    .min_arg = 1,
    .max_arg = 1,
    .arg_words = shell_words,
    .size = sizeof(struct options),
    .run = run,
};
