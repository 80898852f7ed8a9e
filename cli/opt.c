/* opt.c: parses command lines by the tables of options, and suggests the option or word that was
   meant. */
#include "opt.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"

/* ---- the tables of a command ---------------------------------------------------------- */

static const struct opt common[] = {
    {"help", 'h', OPT_FLAG, offsetof(struct opt_common, help), NULL, NULL, NULL, "show this help",
     0},
    {"version", 0, OPT_FLAG, offsetof(struct opt_common, version), NULL, NULL, NULL,
     "show the version", 0},
    {NULL, 0, 0, 0, NULL, NULL, NULL, NULL, 0},
};

static void from_row(const struct opt *row, struct option *out)
{
    *out = (struct option){.key = row->key,
                           .kind = row->kind,
                           .at = row->at,
                           .arg = row->arg,
                           .def = row->def,
                           .what = row->what,
                           .hidden = row->hidden,
                           .words = row->words};
    snprintf(out->name, sizeof out->name, "%s", row->name);
}

static void from_library(const nami_option *row, size_t at, struct option *out)
{
    static const enum opt_kind kinds[] = {
        [NAMI_OPTION_FLAG] = OPT_FLAG, [NAMI_OPTION_COUNT] = OPT_COUNT,
        [NAMI_OPTION_REAL] = OPT_REAL, [NAMI_OPTION_LIMIT] = OPT_REAL,
        [NAMI_OPTION_SEED] = OPT_SEED, [NAMI_OPTION_WORD] = OPT_WORD,
        [NAMI_OPTION_TEXT] = OPT_TEXT};
    *out = (struct option){.key = row->key,
                           .kind = kinds[row->kind],
                           .at = at,
                           .arg = *row->arg ? row->arg : NULL,
                           .def = *row->def ? row->def : NULL,
                           .what = row->help,
                           .library = row};
    snprintf(out->name, sizeof out->name, "%s", row->name);
    for (char *s = out->name; *s; s++)
        if (*s == '_') *s = '-';
}

/* Is a name in the comma-separated list? */
static int is_listed(const char *list, const char *name)
{
    size_t n = strlen(name);
    for (size_t len; list && *list; list += len + (list[len] == ',')) {
        len = strcspn(list, ",");
        if (len == n && memcmp(list, name, n) == 0) return 1;
    }
    return 0;
}

/* If two options have the same short form, the first one gets it. */
static int key_is_taken(const struct cmd *c, int before, char key)
{
    struct option o;
    for (int i = 0; i < before && opt_at(c, i, &o); i++)
        if (o.key == key) return 1;
    return 0;
}

int opt_at(const struct cmd *c, int i, struct option *out)
{
    int number = i;
    for (const struct opt *row = c->opt; row && row->name; row++)
        if (i-- == 0) return from_row(row, out), 1;
    for (const struct opt_group *g = c->groups; g->name; g++) {
        const nami_option *row;
        for (int k = 0; (row = nami_option_at(g->name, k)); k++)
            if (!is_listed(g->without, row->name) && i-- == 0) {
                from_library(row, g->at, out);
                if (out->key && key_is_taken(c, number, out->key)) out->key = 0;
                return 1;
            }
    }
    for (const struct opt *row = common; row->name; row++)
        if (i-- == 0) return from_row(row, out), 1;
    return 0;
}

int opt_takes_value(const struct option *o) { return o->kind != OPT_FLAG; }

const char *opt_word(const struct option *o, int i)
{
    if (o->library) return nami_option_word(o->library, i);
    return o->words ? o->words(i) : NULL;
}

/* ---- words that were meant ---------------------------------------------------------- */

int opt_unknown(const char *what, const char *s, opt_words *words, nami_err *err)
{
    const char *near = NULL, **word;
    char all[sizeof err->msg] = "";
    int n = 0;
    while (words(n)) n++;
    if ((word = calloc((size_t)n + 1, sizeof *word))) {
        for (int i = 0; i < n; i++) word[i] = words(i);
        near = nami_nearest(s, word);
        free(word);
    }
    for (int i = 0; i < n; i++) { /* as many as a message has room for */
        int full = strlen(all) > sizeof all / 2;
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", i ? ", " : "",
                 full ? "..." : words(i));
        if (full) break;
    }
    if (near)
        return usage_error(err, "no %s is called '%.100s'; did you mean '%s'?", what, s, near);
    return usage_error(err, "no %s is called '%.100s'; choose from %s", what, s, all);
}

/* ---- values ------------------------------------------------------------------------- */

static int set_flag(const struct option *o, void *at, const char *s, nami_err *err)
{
    (void)o, (void)s, (void)err;
    *(int *)at = 1;
    return 0;
}

static int set_text(const struct option *o, void *at, const char *s, nami_err *err)
{
    (void)o, (void)err;
    *(const char **)at = s;
    return 0;
}

static const char *find_word(const struct option *o, const char *s, size_t n)
{
    const char *w;
    for (int i = 0; (w = opt_word(o, i)); i++)
        if (strlen(w) == n && memcmp(w, s, n) == 0) return w;
    return NULL;
}

static int set_word(const struct option *o, void *at, const char *s, nami_err *err)
{
    const char *w = find_word(o, s, strlen(s));
    if (!w) return opt_unknown(o->name, s, o->words, err);
    *(const char **)at = w;
    return 0;
}

static int set_words(const struct option *o, void *at, const char *s, nami_err *err)
{
    const char *list = s;
    for (size_t n; *s; s += n + (s[n] == ',')) {
        n = strcspn(s, ",");
        if (!find_word(o, s, n)) {
            char word[64];
            snprintf(word, sizeof word, "%.*s", (int)n, s);
            return opt_unknown(o->name, word, o->words, err);
        }
    }
    *(const char **)at = list;
    return 0;
}

static int number(const struct option *o, const char *s, uint64_t most, uint64_t *out,
                  nami_err *err)
{
    char *end;
    errno = 0;
    *out = strtoull(s, &end, 10);
    if (*s < '0' || *s > '9' || *end || errno || *out > most)
        return usage_error(err, "--%s must be a whole number from 0 to %llu, not '%.100s'", o->name,
                           (unsigned long long)most, s);
    return 0;
}

static int set_count(const struct option *o, void *at, const char *s, nami_err *err)
{
    uint64_t x;
    int rc = number(o, s, INT_MAX, &x, err);
    if (!rc) *(int *)at = (int)x;
    return rc;
}

static int set_seed(const struct option *o, void *at, const char *s, nami_err *err)
{
    return number(o, s, UINT64_MAX, at, err);
}

static int set_real(const struct option *o, void *at, const char *s, nami_err *err)
{
    char *end;
    double x = strtod(s, &end);
    if (!*s || *end || !(x >= 0 && x <= 1e300))
        return usage_error(err, "--%s must be a number, 0 or more, not '%.100s'", o->name, s);
    *(double *)at = x;
    return 0;
}

static int set_many(const struct option *o, void *at, const char *s, nami_err *err)
{
    struct opt_many *m = at;
    if (m->n == OPT_MANY_MAX)
        return usage_error(err, "--%s can be given at most %d times", o->name, OPT_MANY_MAX);
    m->a[m->n++] = s;
    return 0;
}

static int (*const set_kind[])(const struct option *, void *, const char *, nami_err *) = {
    [OPT_FLAG] = set_flag,   [OPT_TEXT] = set_text, [OPT_WORD] = set_word, [OPT_WORDS] = set_words,
    [OPT_COUNT] = set_count, [OPT_SEED] = set_seed, [OPT_MANY] = set_many, [OPT_REAL] = set_real,
};

/* Messages of the library use the option name that they are given: that of the command line, except
   in "no mode is called 'x'". */
static int set_library(const struct option *o, void *at, const char *s, nami_err *err)
{
    nami_option named = *o->library;
    char name[sizeof o->name + 2];
    snprintf(name, sizeof name, "%s%s", o->kind == OPT_WORD ? "" : "--", o->name);
    named.name = name;
    return nami_option_set(&named, at, o->kind == OPT_FLAG ? "1" : s, err);
}

static int set(const struct option *o, void *into, const char *s, nami_err *err)
{
    return (o->library ? set_library : set_kind[o->kind])(o, (char *)into + o->at, s, err);
}

/* ---- parsing ------------------------------------------------------------------------ */

struct parser {
    const struct cmd *cmd;
    void *into;
    char **arg, **end; /* what is left */
    nami_err *err;
};

static int unknown(struct parser *p, const char *name)
{
    struct option *all;
    const char **word, *near = NULL;
    struct option o;
    int n = 0, k = 0;
    while (opt_at(p->cmd, n, &o)) n++;
    all = calloc((size_t)n + 1, sizeof *all);
    word = calloc((size_t)n + 1, sizeof *word);
    for (int i = 0; all && word && i < n; i++) {
        opt_at(p->cmd, i, &all[i]);
        if (!all[i].hidden) word[k++] = all[i].name;
    }
    if (k) near = nami_nearest(name, word);
    int rc = near ? usage_error(p->err, "unknown option --%s; did you mean --%s?", name, near)
                  : usage_error(p->err, "unknown option --%s; --help lists the options", name);
    free(all);
    free(word);
    return rc;
}

/* An option with its value, if it takes one: `value`, or the next argument. */
static int take(struct parser *p, const struct option *o, const char *value)
{
    if (opt_takes_value(o) && !value) {
        if (p->arg == p->end)
            return usage_error(p->err, "--%s needs a value: --%s %s", o->name, o->name, o->arg);
        value = *p->arg++;
    }
    return set(o, p->into, value, p->err);
}

static int long_option(struct parser *p, const char *s)
{
    size_t n = strcspn(s, "=");
    struct option o;
    for (int i = 0; opt_at(p->cmd, i, &o); i++) {
        if (strlen(o.name) != n || memcmp(o.name, s, n) != 0) continue;
        if (s[n] && !opt_takes_value(&o)) return usage_error(p->err, "--%s takes no value", o.name);
        return take(p, &o, s[n] ? s + n + 1 : NULL);
    }
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)(n < 60 ? n : 60), s);
    return unknown(p, name);
}

/* -q, -o FILE, -oFILE, and several flags at once */
static int short_options(struct parser *p, const char *s)
{
    for (int rc = 0; *s; s++) {
        struct option o;
        int i = 0, found;
        while ((found = opt_at(p->cmd, i, &o)) && o.key != *s) i++;
        if (!found) return usage_error(p->err, "unknown option -%c; --help lists the options", *s);
        if (opt_takes_value(&o)) return take(p, &o, s[1] ? s + 1 : NULL);
        if ((rc = take(p, &o, NULL))) return rc;
    }
    return 0;
}

int opt_parse(const struct cmd *c, void *into, int argc, char **argv, int *narg, nami_err *err)
{
    struct parser p = {c, into, argv, argv + argc, err};
    const struct opt_common *shown = into;
    struct option o;
    int rc = 0, only_args = 0;
    *narg = 0;
    for (int i = 0; opt_at(c, i, &o) && !rc; i++)
        if (o.def && !o.library) rc = set(&o, into, o.def, err);
    while (!rc && p.arg < p.end && !shown->help && !shown->version) {
        char *s = *p.arg++;
        if (only_args || s[0] != '-' || !s[1])
            argv[(*narg)++] = s;
        else if (strcmp(s, "--") == 0)
            only_args = 1;
        else
            rc = s[1] == '-' ? long_option(&p, s + 2) : short_options(&p, s + 1);
    }
    return rc;
}
