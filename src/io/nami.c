/* nami.c: models in the model language, as structures; see docs/language.md. */
#include <string.h>

#include "base/str.h"
#include "io/format.h"
#include "model/read.h"

/* A model block, or a declaration. */
static int sniff(const char *text, size_t len)
{
    struct str t = {0};
    int sure = 0;
    str_putn(&t, text, len < 4096 ? len : 4096);
    if (t.s && (strstr(t.s, "model {") || strstr(t.s, "model{")) && strchr(t.s, '~')) sure = 90;
    str_free(&t);
    return sure;
}

static int read_native(struct bn *bn, const char *text, size_t len, nami_err *err)
{
    return model_structure(text, len, NATIVE, bn, err);
}

static int read_bugs(struct bn *bn, const char *text, size_t len, nami_err *err)
{
    return model_structure(text, len, BUGS, bn, err);
}

const struct format format_nami = {
    "nami", "models in the model language", NATIVE_ENDS, sniff, read_native, NULL,
};

const struct format format_bugs = {
    "bugs", "models in the language of BUGS and JAGS, without data", BUGS_ENDS, sniff, read_bugs,
    NULL,
};
