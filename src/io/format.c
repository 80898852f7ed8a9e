/* format.c: reads and writes structures in the format that a name, a file ending or the content
   selects. */
#include "io/format.h"

#include <string.h>

#include "base/err.h"
#include "base/file.h"

const struct format *const formats[] = {
#define FORMAT(id) &format_##id,
#include "io/format.def"
#undef FORMAT
    NULL};

const struct format *format_by_name(const char *name)
{
    for (int i = 0; formats[i]; i++)
        if (strcmp(formats[i]->name, name) == 0) return formats[i];
    return NULL;
}

/* Endings that any text may have say nothing: then the content decides. */
static int vague(const char *path) { return str_ends(path, strlen(path), ".txt .csv .tsv"); }

static const struct format *by_ending(const char *path)
{
    for (int i = 0; formats[i]; i++)
        if (str_ends(path, strlen(path), formats[i]->ends)) return formats[i];
    return NULL;
}

static const struct format *by_content(const char *text, size_t len)
{
    const struct format *best = NULL;
    int sure = 0;
    for (int i = 0; formats[i]; i++) {
        int s = formats[i]->sniff(text, len);
        if (s > sure) {
            sure = s;
            best = formats[i];
        }
    }
    return best;
}

static int named(const char *name, const struct format **out, nami_err *err)
{
    *out = format_by_name(name);
    if (*out) return 0;
    return err_set(err, NAMI_EUSAGE, "no format is called '%s'; see 'nami list formats'", name);
}

static int parse(const char *text, size_t len, const struct format *f, nami_bn **out, nami_err *err)
{
    *out = NULL;
    if (!f) f = by_content(text, len);
    if (!f)
        return err_set(err, NAMI_EINPUT,
                       len ? "not a structure in any format that NaMI recognizes; see "
                             "'nami list formats', and name the format"
                           : "the file is empty");
    struct bn *bn = bn_new();
    if (!bn) return err_nomem(err);
    int rc = f->read(bn, text, len, err);
    if (!rc) rc = bn_finish(bn, err);
    if (rc)
        bn_free(bn);
    else
        *out = bn;
    return rc;
}

int nami_bn_parse(const char *text, size_t len, const char *format, nami_bn **out, nami_err *err)
{
    const struct format *f = NULL;
    err_clear(err);
    *out = NULL;
    int rc = format ? named(format, &f, err) : 0;
    return rc ? rc : parse(text, len, f, out, err);
}

int nami_bn_read(const char *path, const char *format, nami_bn **out, nami_err *err)
{
    struct str text = {0};
    const struct format *f = by_ending(path);
    err_clear(err);
    *out = NULL;
    int rc = format ? named(format, &f, err) : 0;
    if (!rc) rc = file_read(path, &text, err);
    if (!rc) rc = parse(text.s, text.n, format || !vague(path) ? f : NULL, out, err);
    str_free(&text);
    return rc;
}

static int print(const nami_bn *bn, const struct format *f, struct str *out, nami_err *err)
{
    if (!f->write) return err_set(err, NAMI_EUSAGE, "NaMI cannot write %s", f->name);
    int rc = f->write(bn, out, err);
    return !rc && out->oom ? err_nomem(err) : rc;
}

int nami_bn_print(const nami_bn *bn, const char *format, char **text, nami_err *err)
{
    const struct format *f;
    struct str out = {0};
    err_clear(err);
    *text = NULL;
    int rc = named(format, &f, err);
    if (!rc) rc = print(bn, f, &out, err);
    if (rc)
        str_free(&out);
    else
        *text = out.s;
    return rc;
}

int nami_bn_write(const nami_bn *bn, const char *path, const char *format, nami_err *err)
{
    const struct format *f = by_ending(path);
    struct str text = {0};
    err_clear(err);
    int rc = format ? named(format, &f, err) : 0;
    if (!rc && !f)
        rc = err_set(err, NAMI_EUSAGE,
                     "the ending of '%s' names no format; see 'nami list formats'", path);
    if (!rc) rc = print(bn, f, &text, err);
    if (!rc) rc = file_write(path, text.s, text.n, err);
    str_free(&text);
    return rc;
}
