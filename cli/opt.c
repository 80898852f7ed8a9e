/* opt.c: parses command lines by the tables of options, and suggests the option or word that was
   meant. */
#include "opt.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/near.h"
#include "base/str.h"

static const struct opt common[] = {
    {"help", 'h', OPT_FLAG, offsetof(struct opt_common, help), NULL, NULL, NULL, "show this help",
     0},
    {"version", 0, OPT_FLAG, offsetof(struct opt_common, version), NULL, NULL, NULL,
     "show the version", 0},
    {NULL, 0, 0, 0, NULL, NULL, NULL, NULL, 0},
};

const struct opt *opt_at(const struct opt *own, int i)
{
    int n = 0;
    while (own && own[n].name) n++;
    const struct opt *o = i < n ? &own[i] : &common[i - n];
    return o->name ? o : NULL;
}

int opt_takes_value(const struct opt *o) { return o->kind != OPT_FLAG; }

/* ---- words that were meant ---------------------------------------------------------- */

const char *opt_nearest(const char *s, opt_words *words)
{
    struct near best = NEAR_NONE;
    const char *w;
    for (int i = 0; (w = words(i)); i++) near_try(&best, s, strlen(s), w, i);
    return best.word;
}

int opt_unknown(const char *what, const char *s, opt_words *words, nami_err *err)
{
    const char *near = opt_nearest(s, words), *w;
    struct str all = {0};
    for (int i = 0; (w = words(i)); i++) str_printf(&all, "%s%s", i ? ", " : "", w);
    if (near)
        err_set(err, NAMI_EUSAGE, "no %s is called '%s'; did you mean '%s'?", what, s, near);
    else
        err_set(err, NAMI_EUSAGE, "no %s is called '%s'; choose from %s", what, s,
                all.s ? all.s : "?");
    str_free(&all);
    return NAMI_EUSAGE;
}

/* ---- values ------------------------------------------------------------------------- */

static int set_flag(const struct opt *o, void *at, const char *s, nami_err *err)
{
    (void)o, (void)s, (void)err;
    *(int *)at = 1;
    return 0;
}

static int set_text(const struct opt *o, void *at, const char *s, nami_err *err)
{
    (void)o, (void)err;
    *(const char **)at = s;
    return 0;
}

static int word_index(const struct opt *o, const char *s, size_t n)
{
    const char *w;
    for (int i = 0; (w = o->words(i)); i++)
        if (strlen(w) == n && memcmp(w, s, n) == 0) return i;
    return -1;
}

static int set_word(const struct opt *o, void *at, const char *s, nami_err *err)
{
    int i = word_index(o, s, strlen(s));
    if (i < 0) return opt_unknown(o->name, s, o->words, err);
    *(const char **)at = o->words(i);
    return 0;
}

static int set_words(const struct opt *o, void *at, const char *s, nami_err *err)
{
    unsigned bits = 0;
    for (size_t n; *s; s += n + (s[n] == ',')) {
        n = strcspn(s, ",");
        int i = word_index(o, s, n);
        if (i < 0) {
            char word[64];
            snprintf(word, sizeof word, "%.*s", (int)n, s);
            return opt_unknown(o->name, word, o->words, err);
        }
        bits |= 1u << i;
    }
    *(unsigned *)at = bits;
    return 0;
}

static int number(const struct opt *o, const char *s, uint64_t most, uint64_t *out, nami_err *err)
{
    char *end;
    errno = 0;
    *out = strtoull(s, &end, 10);
    if (*s < '0' || *s > '9' || *end || errno || *out > most)
        return err_set(err, NAMI_EUSAGE, "--%s wants a whole number from 0 to %llu, not '%s'",
                       o->name, (unsigned long long)most, s);
    return 0;
}

static int set_count(const struct opt *o, void *at, const char *s, nami_err *err)
{
    uint64_t x;
    int rc = number(o, s, INT_MAX, &x, err);
    if (!rc) *(int *)at = (int)x;
    return rc;
}

static int set_seed(const struct opt *o, void *at, const char *s, nami_err *err)
{
    return number(o, s, UINT64_MAX, at, err);
}

static int set_real(const struct opt *o, void *at, const char *s, nami_err *err)
{
    char *end;
    double x = strtod(s, &end);
    if (!*s || *end || !(x >= 0 && x <= 1e300))
        return err_set(err, NAMI_EUSAGE, "--%s wants a number, 0 or more, not '%s'", o->name, s);
    *(double *)at = x;
    return 0;
}

static int set_many(const struct opt *o, void *at, const char *s, nami_err *err)
{
    struct opt_many *m = at;
    if (m->n == OPT_MANY_MAX)
        return err_set(err, NAMI_EUSAGE, "--%s can be given at most %d times", o->name,
                       OPT_MANY_MAX);
    m->a[m->n++] = s;
    return 0;
}

static int (*const set_kind[])(const struct opt *, void *, const char *, nami_err *) = {
    [OPT_FLAG] = set_flag,   [OPT_TEXT] = set_text, [OPT_WORD] = set_word, [OPT_WORDS] = set_words,
    [OPT_COUNT] = set_count, [OPT_SEED] = set_seed, [OPT_MANY] = set_many, [OPT_REAL] = set_real,
};

static int set(const struct opt *o, void *into, const char *s, nami_err *err)
{
    return set_kind[o->kind](o, (char *)into + o->at, s, err);
}

/* ---- parsing ------------------------------------------------------------------------ */

struct parser {
    const struct opt *own;
    void *into;
    char **arg, **end; /* what is left */
    nami_err *err;
};

static int unknown(struct parser *p, const char *name)
{
    struct near best = NEAR_NONE;
    const struct opt *o;
    for (int i = 0; (o = opt_at(p->own, i)); i++)
        if (!o->hidden) near_try(&best, name, strlen(name), o->name, i);
    if (best.word)
        return err_set(p->err, NAMI_EUSAGE, "unknown option --%s; did you mean --%s?", name,
                       best.word);
    return err_set(p->err, NAMI_EUSAGE, "unknown option --%s; --help lists the options", name);
}

/* An option with its value, if it takes one: `value`, or the next argument. */
static int take(struct parser *p, const struct opt *o, const char *value)
{
    if (opt_takes_value(o) && !value) {
        if (p->arg == p->end)
            return err_set(p->err, NAMI_EUSAGE, "--%s needs a value: --%s %s", o->name, o->name,
                           o->arg);
        value = *p->arg++;
    }
    return set(o, p->into, value, p->err);
}

static int long_option(struct parser *p, const char *s)
{
    size_t n = strcspn(s, "=");
    const struct opt *o;
    for (int i = 0; (o = opt_at(p->own, i)); i++) {
        if (strlen(o->name) != n || memcmp(o->name, s, n) != 0) continue;
        if (s[n] && !opt_takes_value(o))
            return err_set(p->err, NAMI_EUSAGE, "--%s takes no value", o->name);
        return take(p, o, s[n] ? s + n + 1 : NULL);
    }
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)(n < 60 ? n : 60), s);
    return unknown(p, name);
}

/* -q, -o FILE, -oFILE, and several flags at once */
static int short_options(struct parser *p, const char *s)
{
    for (int rc = 0; *s; s++) {
        const struct opt *o;
        int i = 0;
        while ((o = opt_at(p->own, i)) && o->key != *s) i++;
        if (!o)
            return err_set(p->err, NAMI_EUSAGE, "unknown option -%c; --help lists the options", *s);
        if (opt_takes_value(o)) return take(p, o, s[1] ? s + 1 : NULL);
        if ((rc = take(p, o, NULL))) return rc;
    }
    return 0;
}

int opt_parse(const struct opt *own, void *into, int argc, char **argv, int *narg, nami_err *err)
{
    struct parser p = {own, into, argv, argv + argc, err};
    const struct opt_common *c = into;
    const struct opt *o;
    int rc = 0, only_args = 0;
    *narg = 0;
    for (int i = 0; (o = opt_at(own, i)) && !rc; i++)
        if (o->def) rc = set(o, into, o->def, err);
    while (!rc && p.arg < p.end && !c->help && !c->version) {
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
