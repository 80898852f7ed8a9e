/* options.c: the rows of nami_options.def as tables; option values from text, and to and from the
   settings in files. */
#include "base/options.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/near.h"
#include "base/str.h"

/* ---- the rows --------------------------------------------------------------------------- */

#define ROW(type, kind, member, key, arg, words, def, help)                                        \
    {#member, NAMI_OPTION_##kind, offsetof(type, member), key, arg, words, def, help},
#define END                                                                                        \
    {                                                                                              \
        NULL, 0, 0, 0, NULL, NULL, NULL, NULL                                                      \
    }

#define NAMI_INVERT(...) ROW(nami_options, __VA_ARGS__)
static const nami_option invert_rows[] = {
#include "nami_options.def"
    END};
#undef NAMI_INVERT

#define NAMI_TRAIN(...) ROW(nami_train_options, __VA_ARGS__)
static const nami_option train_rows[] = {
#include "nami_options.def"
    END};
#undef NAMI_TRAIN

#define NAMI_QUERY(...) ROW(nami_query, __VA_ARGS__)
static const nami_option query_rows[] = {
#include "nami_options.def"
    END};
#undef NAMI_QUERY

#define NAMI_CHECK(...) ROW(nami_check_options, __VA_ARGS__)
static const nami_option check_rows[] = {
#include "nami_options.def"
    END};
#undef NAMI_CHECK

#define NAMI_SIMULATE(...) ROW(nami_simulate_options, __VA_ARGS__)
static const nami_option simulate_rows[] = {
#include "nami_options.def"
    END};
#undef NAMI_SIMULATE

#define NAMI_EXACT(...) ROW(nami_exact_options, __VA_ARGS__)
static const nami_option exact_rows[] = {
#include "nami_options.def"
    END};
#undef NAMI_EXACT

#define NAMI_EVIDENCE(...) ROW(nami_evidence_options, __VA_ARGS__)
static const nami_option evidence_rows[] = {
#include "nami_options.def"
    END};
#undef NAMI_EVIDENCE

#define NAMI_MODES(...) ROW(nami_modes_options, __VA_ARGS__)
static const nami_option modes_rows[] = {
#include "nami_options.def"
    END};
#undef NAMI_MODES

#define NAMI_CALIBRATE(...) ROW(nami_calibrate_options, __VA_ARGS__)
static const nami_option calibrate_rows[] = {
#include "nami_options.def"
    END};
#undef NAMI_CALIBRATE

#define NAMI_STUDY(...) ROW(nami_study_options, __VA_ARGS__)
static const nami_option study_rows[] = {
#include "nami_options.def"
    END};
#undef NAMI_STUDY

static const struct group {
    const char *name;
    const nami_option *row;
} groups[] = {{"invert", invert_rows},       {"train", train_rows},
              {"query", query_rows},         {"check", check_rows},
              {"simulate", simulate_rows},   {"exact", exact_rows},
              {"evidence", evidence_rows},   {"modes", modes_rows},
              {"calibrate", calibrate_rows}, {"study", study_rows}};

static const nami_option *rows_of(const char *group)
{
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        if (strcmp(groups[i].name, group) == 0) return groups[i].row;
    return NULL;
}

const nami_option *nami_option_at(const char *group, int i)
{
    const nami_option *o = rows_of(group);
    while (o && o->name && i-- > 0) o++;
    return o && o->name ? o : NULL;
}

/* ---- words ------------------------------------------------------------------------------ */

const char *nami_option_word(const nami_option *option, int i)
{
    const char *w = option->words;
    if (*w == '@') return nami_word(w + 1, i);
    while (*w && i-- > 0) w += strlen(w) + 1;
    return *w ? w : NULL;
}

static int refuse_word(const nami_option *o, const char *text, nami_err *err)
{
    struct near best = NEAR_NONE;
    struct str all = {0};
    const char *w;
    for (int i = 0; (w = nami_option_word(o, i)); i++) {
        near_try(&best, text, strlen(text), w, i);
        str_printf(&all, i ? ", %s" : "%s", w);
    }
    if (best.word)
        err_set(err, NAMI_EUSAGE, "no %s is called '%.100s'; did you mean '%s'?", o->name, text,
                best.word);
    else
        err_set(err, NAMI_EUSAGE, "no %s is called '%.100s'; choose from %s", o->name, text,
                all.s ? all.s : "?");
    str_free(&all);
    return NAMI_EUSAGE;
}

/* Finds the static copy of a word in the table. */
static int find_word(const nami_option *o, const char *text, const char **out, nami_err *err)
{
    const char *w;
    for (int i = 0; (w = nami_option_word(o, i)); i++)
        if (strcmp(w, text) == 0) return *out = w, 0;
    return refuse_word(o, text, err);
}

/* ---- values from text ------------------------------------------------------------------- */

static int read_whole(const nami_option *o, const char *text, uint64_t most, uint64_t *out,
                      nami_err *err)
{
    char *end;
    errno = 0;
    *out = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno || *out > most)
        return err_set(err, NAMI_EUSAGE, "%s must be a whole number from 0 to %llu, not '%.100s'",
                       o->name, (unsigned long long)most, text);
    return 0;
}

static int read_real(const nami_option *o, const char *text, double *out, nami_err *err)
{
    char *end;
    *out = strtod(text, &end);
    if (!*text || *end || !(*out >= 0 && *out <= 1e300))
        return err_set(err, NAMI_EUSAGE, "%s must be a number, 0 or more, not '%.100s'", o->name,
                       text);
    if (o->kind == NAMI_OPTION_LIMIT && *out == 0) *out = -1;
    return 0;
}

/* In a struct, 0 means the default: if that is not 0, an explicit 0 is rejected. */
static int refuse_zero(const nami_option *o, double x, nami_err *err)
{
    if (x != 0 || !*o->def || strcmp(o->def, "0") == 0) return 0;
    return err_set(err, NAMI_EUSAGE, "%s must be %s", o->name,
                   o->kind == NAMI_OPTION_COUNT ? "at least 1" : "more than 0");
}

int nami_option_set(const nami_option *option, void *options, const char *text, nami_err *err)
{
    void *at = (char *)options + option->offset;
    uint64_t whole = 0;
    double real = 0;
    int rc = 0;
    switch (option->kind) {
    case NAMI_OPTION_FLAG:
        rc = read_whole(option, text, 1, &whole, err);
        if (!rc) *(int *)at = (int)whole;
        break;
    case NAMI_OPTION_COUNT:
        rc = read_whole(option, text, INT_MAX, &whole, err);
        if (!rc) rc = refuse_zero(option, (double)whole, err);
        if (!rc) *(int *)at = (int)whole;
        break;
    case NAMI_OPTION_REAL:
        rc = read_real(option, text, &real, err);
        if (!rc) rc = refuse_zero(option, real, err);
        if (!rc) *(double *)at = real;
        break;
    case NAMI_OPTION_LIMIT:
        rc = read_real(option, text, &real, err);
        if (!rc) *(double *)at = real;
        break;
    case NAMI_OPTION_SEED:
        rc = read_whole(option, text, UINT64_MAX, &whole, err);
        if (!rc) *(uint64_t *)at = whole;
        break;
    case NAMI_OPTION_WORD: rc = find_word(option, text, at, err); break;
    case NAMI_OPTION_TEXT: *(const char **)at = text; break;
    }
    return rc;
}

/* ---- structs ---------------------------------------------------------------------------- */

static int is_left_out(const nami_option *o, const void *at)
{
    switch (o->kind) {
    case NAMI_OPTION_FLAG:
    case NAMI_OPTION_COUNT: return *(const int *)at == 0;
    case NAMI_OPTION_REAL:
    case NAMI_OPTION_LIMIT: return *(const double *)at == 0;
    case NAMI_OPTION_SEED: return *(const uint64_t *)at == 0;
    default: return *(const char *const *)at == NULL;
    }
}

static int complete(const nami_option *o, void *options, nami_err *err)
{
    void *at = (char *)options + o->offset;
    const char *const *word = at;
    if (is_left_out(o, at)) return *o->def ? nami_option_set(o, options, o->def, err) : 0;
    switch (o->kind) {
    case NAMI_OPTION_COUNT:
        if (*(int *)at < 0) return err_set(err, NAMI_EUSAGE, "%s must not be negative", o->name);
        break;
    case NAMI_OPTION_REAL:
        if (!(*(double *)at >= 0 && *(double *)at < INFINITY))
            return err_set(err, NAMI_EUSAGE, "%s must be a number, 0 or more", o->name);
        break;
    case NAMI_OPTION_LIMIT:
        if (!(*(double *)at < INFINITY)) /* files could not hold it */
            return err_set(err, NAMI_EUSAGE, "%s must be a finite number; negative: none", o->name);
        break;
    case NAMI_OPTION_WORD: return find_word(o, *word, at, err);
    default: break;
    }
    return 0;
}

int options_complete(const char *group, const void *given, size_t size, void *out, nami_err *err)
{
    size_t known = given ? *(const size_t *)given : 0;
    int rc = 0;
    memset(out, 0, size);
    if (given) memcpy(out, given, known && known < size ? known : size);
    *(size_t *)out = size;
    for (const nami_option *o = rows_of(group); o->name && !rc; o++) {
        double *limit = (double *)((char *)out + o->offset);
        rc = complete(o, out, err);
        if (!rc && o->kind == NAMI_OPTION_LIMIT && *limit < 0) *limit = 0;
    }
    return rc;
}

/* ---- settings in files ------------------------------------------------------------------ */

static json_t *value_of(const nami_option *o, const void *at)
{
    const char *text = o->kind >= NAMI_OPTION_WORD ? *(const char *const *)at : NULL;
    switch (o->kind) {
    case NAMI_OPTION_FLAG: return json_boolean(*(const int *)at);
    case NAMI_OPTION_COUNT: return json_integer(*(const int *)at);
    case NAMI_OPTION_REAL:
    case NAMI_OPTION_LIMIT: return json_real(*(const double *)at);
    case NAMI_OPTION_SEED: return json_integer((json_int_t) * (const uint64_t *)at);
    default: return text ? json_string(text) : json_null();
    }
}

int options_to_json(const char *group, const void *options, json_t *object)
{
    for (const nami_option *o = rows_of(group); o->name; o++)
        if (json_object_set_new(object, o->name, value_of(o, (const char *)options + o->offset)))
            return NAMI_ENOMEM;
    return 0;
}

static int unusable(const nami_option *o, nami_err *err)
{
    return err_set(err, NAMI_EINPUT, "the setting '%s' has no usable value", o->name);
}

static int take_word(const nami_option *o, const char *word, const char **out, nami_err *err)
{
    if (find_word(o, word, out, NULL) == 0) return 0;
    return err_set(err, NAMI_EINPUT,
                   "the setting '%s' is '%.60s', which this version of NaMI does not know; a newer "
                   "version may know it",
                   o->name, word);
}

/* A completed struct has no 0 where 0 would have meant the default. */
static int least(const nami_option *o) { return *o->def && strcmp(o->def, "0") != 0; }

static int take(const nami_option *o, const json_t *x, void *at, struct arena *mem, nami_err *err)
{
    json_int_t i = json_integer_value(x);
    double real = json_number_value(x);
    const char *s = json_string_value(x);
    int ok = 1;
    switch (o->kind) {
    case NAMI_OPTION_FLAG: ok = json_is_boolean(x), *(int *)at = json_is_true(x); break;
    case NAMI_OPTION_COUNT:
        ok = json_is_integer(x) && i >= least(o) && i <= INT_MAX;
        if (ok) *(int *)at = (int)i;
        break;
    case NAMI_OPTION_REAL:
    case NAMI_OPTION_LIMIT:
        ok = json_is_number(x) &&
             (real > 0 || (real == 0 && (o->kind == NAMI_OPTION_LIMIT || !least(o))));
        if (ok) *(double *)at = real;
        break;
    case NAMI_OPTION_SEED: ok = json_is_integer(x), *(uint64_t *)at = (uint64_t)i; break;
    case NAMI_OPTION_WORD:
    case NAMI_OPTION_TEXT:
        if (json_is_null(x) && !*o->def) return *(const char **)at = NULL, 0;
        if (!s) return unusable(o, err);
        if (o->kind == NAMI_OPTION_WORD) return take_word(o, s, at, err);
        return (*(const char **)at = arena_strndup(mem, s, strlen(s))) ? 0 : err_nomem(err);
    }
    return ok ? 0 : unusable(o, err);
}

int options_from_json(const char *group, const json_t *object, void *options, struct arena *mem,
                      nami_err *err)
{
    const nami_option *row = rows_of(group);
    const char *name;
    json_t *x;
    int rc = 0;
    json_object_foreach((json_t *)object, name, x)
    {
        const nami_option *o = row;
        while (o->name && strcmp(o->name, name) != 0) o++;
        if (!o->name)
            return err_set(err, NAMI_EINPUT,
                           "the setting '%.60s' is not known; a newer version of NaMI may know it",
                           name);
        if ((rc = take(o, x, (char *)options + o->offset, mem, err))) return rc;
    }
    return 0;
}
